//! Linear views of tiled objects. Hardware makes a tiled object look linear through the aperture.
//! Here, clients map a linear copy instead. The copy is refreshed by GEM_SET_DOMAIN and GEM_PWRITE
//! and after each submission that uses the object. The client's changes are written back before the
//! object is used.

use super::gem::{Object, ObjectId};
use super::host::{FilePages, Pages};
use super::{Device, File, Outcome};
use crate::uapi::i915;
use genxml_sim::surface::tiling::TileMode;
use rustix::io::Errno;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The linear copy of a tiled object.
#[derive(Debug)]
struct View {
    /// Contents at the last refresh or write-back. The client wrote the bytes of the copy that
    /// differ from these contents.
    contents: Vec<u8>,
    mode: TileMode,
    stride: u32,
}

/// A view, shared by the object and the submissions that use it.
#[derive(Clone, Debug)]
pub struct SharedView {
    pages: Arc<dyn FilePages>,
    view: Arc<Mutex<View>>,
}

/// A vector of zeros. The length comes from a client; ENOMEM if it exceeds the host's memory.
fn zeros(length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Errno::NOMEM)?;
    bytes.resize(length, 0);
    Ok(bytes)
}

impl View {
    /// Runs of bytes that are contiguous both in the object and in the view: offset in the object,
    /// offset in the view, length. Covers only whole rows of tiles.
    fn runs(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (mode, stride) = (self.mode, self.stride as usize);
        let run = mode.run() as usize;
        let rows = (self.contents.len() / stride / mode.height() as usize) * mode.height() as usize;
        (0..rows).flat_map(move |y| {
            (0..stride).step_by(run).map(move |x| {
                let there = mode.offset(x as i64, y as i64, stride as i64);
                (there as usize, y * stride + x, run)
            })
        })
    }
}

impl SharedView {
    /// The memory that clients map.
    pub fn pages(&self) -> &dyn FilePages {
        &*self.pages
    }

    fn lock(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the object into the view. Does nothing if the object cannot be read.
    pub fn refresh(&self, object: &dyn Pages) {
        let mut view = self.lock();
        let Ok(mut bytes) = zeros(view.contents.len()) else { return };
        if object.read(0, &mut bytes).is_err() {
            return;
        }
        for (there, here, length) in view.runs() {
            view.contents[here..here + length].copy_from_slice(&bytes[there..there + length]);
        }
        // The view is as long as the object, so the range is valid.
        let _ = self.pages.write(0, &view.contents);
    }

    /// Copies what the client changed in the view into the object.
    pub fn write_back(&self, object: &dyn Pages) {
        let mut view = self.lock();
        let Ok(mut now) = zeros(view.contents.len()) else { return };
        if self.pages.read(0, &mut now).is_err() || now == view.contents {
            return;
        }
        for (there, here, length) in view.runs() {
            for index in
                (0..length).filter(|index| now[here + index] != view.contents[here + index])
            {
                // The view is as long as the object, so the range is valid.
                let _ = object.write((there + index) as u64, &now[here + index..][..1]);
            }
        }
        view.contents = now;
    }
}

impl Object {
    /// Copies the object into its view, if it has one.
    pub(super) fn refresh_view(&self) {
        if let Some(view) = &self.view {
            view.refresh(self.storage.pages());
        }
    }

    /// Copies what the client changed in the view into the object.
    pub(super) fn write_back_view(&self) {
        if let Some(view) = &self.view {
            view.write_back(self.storage.pages());
        }
    }
}

/// The tiling with the kernel's number `tiling`; `None` if there is no such tiling.
pub(super) fn tile_mode(tiling: u32) -> Option<TileMode> {
    match tiling {
        0 => Some(TileMode::Linear),
        1 => Some(TileMode::X),
        2 => Some(TileMode::Y),
        _ => None,
    }
}

impl Device {
    /// GEM_SET_TILING.
    pub(super) fn set_tiling(&mut self, file: &mut File, arg: &mut i915::GemSetTiling) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        let mode = tile_mode(arg.tiling_mode).ok_or(Errno::INVAL)?;
        let tiled = mode != TileMode::Linear;
        // The pitch field of a fence register has 11 bits, in units of 128 bytes. (Linux
        // i915_gem_tiling.c)
        let fits = !tiled
            || (arg.stride > 0
                && arg.stride.is_multiple_of(mode.width())
                && arg.stride / 128 <= 1 << 11);
        if !fits {
            return Err(Errno::INVAL.into());
        }
        let object = self.object_mut(id)?;
        object.write_back_view();
        object.view = None;
        object.tiling = arg.tiling_mode;
        object.stride = if tiled { arg.stride } else { 0 };
        // A Broadwell does not swizzle address bit 6.
        (arg.stride, arg.swizzle_mode) = (object.stride, 0);
        Ok(())
    }

    /// GEM_GET_TILING.
    pub(super) fn get_tiling(&mut self, file: &mut File, arg: &mut i915::GemGetTiling) -> Outcome {
        let object = self.object(*file.objects.get(arg.handle)?)?;
        (arg.tiling_mode, arg.swizzle_mode, arg.phys_swizzle_mode) = (object.tiling, 0, 0);
        Ok(())
    }

    /// GEM_SET_DOMAIN: the client is about to read or write the object.
    pub(super) fn set_domain(&mut self, file: &mut File, arg: &mut i915::GemSetDomain) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        // Clients may only ask for domains of the CPU.
        const CPU_SIDE: u32 = 0x1 | i915::DOMAIN_GTT | 0x80;
        if (arg.read_domains | arg.write_domain) & !CPU_SIDE != 0
            || (arg.write_domain != 0 && arg.read_domains != arg.write_domain)
        {
            return Err(Errno::INVAL.into());
        }
        let object = self.object_mut(id)?;
        object.wait(arg.write_domain != 0)?;
        object.write_back_view();
        object.refresh_view();
        Ok(())
    }

    /// GEM_SW_FINISH: the client has finished writing.
    pub(super) fn sw_finish(&mut self, file: &mut File, arg: &mut i915::GemSwFinish) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        self.object(id)?.write_back_view();
        Ok(())
    }

    /// Creates the view of a tiled object, if it has none.
    pub(super) fn make_view(&mut self, id: ObjectId) -> Result<(), Errno> {
        let object = self.object(id)?;
        if object.view.is_some() {
            return Ok(());
        }
        let (size, stride) = (object.size, object.stride);
        let mode = tile_mode(object.tiling).ok_or(Errno::INVAL)?;
        let pages = self.allocate(size)?;
        let view = View { contents: zeros(size as usize)?, mode, stride };
        let object = self.object_mut(id)?;
        object.view = Some(SharedView { pages, view: Arc::new(Mutex::new(view)) });
        object.refresh_view();
        Ok(())
    }
}
