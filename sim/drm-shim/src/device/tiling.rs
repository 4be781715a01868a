//! Tiled objects through the aperture: hardware shows them row by row there. Clients map a picture of the object instead,
//! which is brought up to date when they ask for the domain of the aperture and after each submission, and whose changes go
//! back before the object is used.

use super::gem::{ObjectId, PAGE};
use super::{Device, File, Outcome};
use crate::uapi::i915;
use genxml_sim::mem::Frames;
use genxml_sim::surface::tiling::TileMode;
use rustix::io::Errno;

/// What the aperture shows of a tiled object.
#[derive(Debug)]
pub struct View {
    /// Where its memory lies, for clients to map.
    pub arena: usize,
    /// The offset there.
    pub offset: u64,
    /// The same memory in the model's list.
    frames: Frames,
    /// As it was shown: what differs was written by the client.
    shown: Vec<u8>,
    mode: TileMode,
    stride: u32,
}

impl View {
    /// Bytes.
    pub fn size(&self) -> u64 {
        self.frames.bytes()
    }

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
            || (arg.stride > 0 && arg.stride.is_multiple_of(mode.width()) && arg.stride / 128 <= 1 << 11);
        if !fits {
            return Err(Errno::INVAL.into());
        }
        self.drop_view(id);
        let object = self.object_mut(id)?;
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
        self.store_view(id);
        self.show_view(id);
        Ok(())
    }

    /// GEM_SW_FINISH: the client has written.
    pub(super) fn sw_finish(&mut self, file: &mut File, arg: &mut i915::GemSwFinish) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        self.store_view(id);
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
        let (arena, offset, pages) = self.allocate(size)?;
        let frames = self.gpu.memory.adopt(Box::new(pages)).map_err(|_| Errno::NOMEM)?;
        let shown = vec![0; size.next_multiple_of(PAGE) as usize];
        self.object_mut(id)?.view = Some(View { arena, offset, frames, shown, mode, stride });
        self.show_view(id);
        Ok(())
    }

    fn drop_view(&mut self, id: ObjectId) {
        self.store_view(id);
        let Some(view) = self.objects.get_mut(&id).and_then(|object| object.view.take()) else { return };
        self.gpu.memory.free(view.frames);
        self.give_back(view.arena, view.offset, view.size());
    }

    /// Paints the picture anew.
    pub(super) fn show_view(&mut self, id: ObjectId) {
        let Some(object) = self.objects.get_mut(&id) else { return };
        let Some(view) = &mut object.view else { return };
        let bytes = self.gpu.memory.bytes(object.frames);
        for (there, here, length) in view.runs() {
            view.shown[here..here + length].copy_from_slice(&bytes[there..there + length]);
        }
        self.gpu.memory.bytes_mut(view.frames).copy_from_slice(&view.shown);
    }

    /// Brings back what the client changed in the picture.
    pub(super) fn store_view(&mut self, id: ObjectId) {
        let Some(object) = self.objects.get_mut(&id) else { return };
        let Some(view) = &mut object.view else { return };
        let now = self.gpu.memory.bytes(view.frames).to_vec();
        if now == view.shown {
            return;
        }
        let bytes = self.gpu.memory.bytes_mut(object.frames);
        for (there, here, length) in view.runs() {
            for index in 0..length {
                if now[here + index] != view.shown[here + index] {
                    bytes[there + index] = now[here + index];
                }
            }
        }
        view.shown = now;
    }
}
