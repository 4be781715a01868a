//! Tiled objects through the aperture: hardware shows them row by row there. Clients map a picture
//! of the object instead, which is brought up to date when they ask for the domain of the aperture
//! and after each submission, and whose changes go back before the object is used.

use super::gem::{Object, ObjectId};
use super::host::{FilePages, Pages};
use super::{Device, File, Outcome};
use crate::uapi::i915;
use genxml_sim::surface::tiling::TileMode;
use rustix::io::Errno;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the aperture shows of a tiled object.
#[derive(Debug)]
struct View {
    /// As it was shown: what differs was written by the client.
    shown: Vec<u8>,
    mode: TileMode,
    stride: u32,
}

/// The same for those who work on the object; copies are of one.
#[derive(Clone, Debug)]
pub struct SharedView {
    pages: Arc<dyn FilePages>,
    view: Arc<Mutex<View>>,
}

/// Zeros, as many as a client's object has bytes: more than there is memory.
fn zeros(length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Errno::NOMEM)?;
    bytes.resize(length, 0);
    Ok(bytes)
}

impl View {
    /// Offset in the object of each run of bytes of the picture: offset there, offset here, length.
    fn runs(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (mode, stride) = (self.mode, self.stride as usize);
        let run = mode.run() as usize;
        let rows = (self.shown.len() / stride / mode.height() as usize) * mode.height() as usize;
        (0..rows).flat_map(move |y| {
            (0..stride).step_by(run).map(move |x| {
                let there = mode.offset(x as i64, y as i64, stride as i64);
                (there as usize, y * stride + x, run)
            })
        })
    }
}

impl SharedView {
    /// What clients map.
    pub fn pages(&self) -> &dyn FilePages {
        &*self.pages
    }

    fn lock(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Paints the picture anew.
    pub fn show(&self, object: &dyn Pages) {
        let mut view = self.lock();
        let Ok(mut bytes) = zeros(view.shown.len()) else { return };
        if object.read(0, &mut bytes).is_err() {
            return;
        }
        for (there, here, length) in view.runs() {
            view.shown[here..here + length].copy_from_slice(&bytes[there..there + length]);
        }
        // It is as long as the object.
        let _ = self.pages.write(0, &view.shown);
    }

    /// Brings back what the client changed in the picture.
    pub fn store(&self, object: &dyn Pages) {
        let mut view = self.lock();
        let Ok(mut now) = zeros(view.shown.len()) else { return };
        if self.pages.read(0, &mut now).is_err() || now == view.shown {
            return;
        }
        for (there, here, length) in view.runs() {
            for index in (0..length).filter(|index| now[here + index] != view.shown[here + index]) {
                // It lies in the object, as the picture does.
                let _ = object.write((there + index) as u64, &now[here + index..][..1]);
            }
        }
        view.shown = now;
    }
}

impl Object {
    /// Paints the picture anew, if there is one.
    pub(super) fn show_view(&self) {
        if let Some(view) = &self.view {
            view.show(self.storage.pages());
        }
    }

    /// Brings back what the client changed in the picture.
    pub(super) fn store_view(&self) {
        if let Some(view) = &self.view {
            view.store(self.storage.pages());
        }
    }
}

/// The layout behind the kernel's number.
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
        // A fence's pitch has 11 bits of 128 bytes. (Linux i915_gem_tiling.c)
        let fits = !tiled
            || (arg.stride > 0
                && arg.stride.is_multiple_of(mode.width())
                && arg.stride / 128 <= 1 << 11);
        if !fits {
            return Err(Errno::INVAL.into());
        }
        let object = self.object_mut(id)?;
        object.store_view();
        object.view = None;
        object.tiling = arg.tiling_mode;
        object.stride = if tiled { arg.stride } else { 0 };
        // Bit 6 is never swizzled on Broadwell.
        (arg.stride, arg.swizzle_mode) = (object.stride, 0);
        Ok(())
    }

    /// GEM_GET_TILING.
    pub(super) fn get_tiling(&mut self, file: &mut File, arg: &mut i915::GemGetTiling) -> Outcome {
        let object = self.object(*file.objects.get(arg.handle)?)?;
        (arg.tiling_mode, arg.swizzle_mode, arg.phys_swizzle_mode) = (object.tiling, 0, 0);
        Ok(())
    }

    /// GEM_SET_DOMAIN: the client is about to read or write.
    pub(super) fn set_domain(&mut self, file: &mut File, arg: &mut i915::GemSetDomain) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        // Domains of the GPU are not the client's to ask for.
        const CPU_SIDE: u32 = 0x1 | i915::DOMAIN_GTT | 0x80;
        if (arg.read_domains | arg.write_domain) & !CPU_SIDE != 0
            || (arg.write_domain != 0 && arg.read_domains != arg.write_domain)
        {
            return Err(Errno::INVAL.into());
        }
        let object = self.object_mut(id)?;
        object.wait(arg.write_domain != 0)?;
        object.store_view();
        object.show_view();
        Ok(())
    }

    /// GEM_SW_FINISH: the client has written.
    pub(super) fn sw_finish(&mut self, file: &mut File, arg: &mut i915::GemSwFinish) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        self.object(id)?.store_view();
        Ok(())
    }

    /// Makes the picture that clients map.
    pub(super) fn make_view(&mut self, id: ObjectId) -> Result<(), Errno> {
        let object = self.object(id)?;
        if object.view.is_some() {
            return Ok(());
        }
        let (size, stride) = (object.size, object.stride);
        let mode = tile_mode(object.tiling).ok_or(Errno::INVAL)?;
        let pages = self.allocate(size)?;
        let view = View { shown: zeros(size as usize)?, mode, stride };
        let object = self.object_mut(id)?;
        object.view = Some(SharedView { pages, view: Arc::new(Mutex::new(view)) });
        object.show_view();
        Ok(())
    }
}
