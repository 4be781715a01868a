//! Tiled objects, and when their linear views are copied.

use crate::device::gem::ObjectId;
use crate::device::outcome::Outcome;
use crate::device::tiling::{SharedView, tile_mode};
use crate::device::{Device, File};
use crate::uapi::i915;
use genxml_sim::surface::tiling::TileMode;
use rustix::io::Errno;

impl Device {
    /// GEM_SET_TILING. EBUSY if that changes an object with a frame buffer.
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
        let stride = if tiled { arg.stride } else { 0 };
        let object = self.object(id)?;
        let changes = (object.tiling, object.stride) != (arg.tiling_mode, stride);
        if changes && self.kms.frame_buffers.values().any(|fb| fb.object == id) {
            return Err(Errno::BUSY.into());
        }
        let object = self.object_mut(id)?;
        object.write_back_view();
        object.view = None;
        object.tiling = arg.tiling_mode;
        object.stride = stride;
        // A Broadwell does not swizzle address bit 6.
        (arg.stride, arg.swizzle_mode) = (object.stride, 0);
        Ok(())
    }

    /// Executes the ioctl GEM_GET_TILING.
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
        object.check_contents()?;
        // Linux looks for the pages of GEM_USERPTR here.
        if !object.storage.is_accessible() {
            return Err(Errno::FAULT.into());
        }
        object.wait(arg.write_domain != 0)?;
        object.request_view(arg.read_domains & i915::DOMAIN_GTT != 0);
        Ok(())
    }

    /// GEM_SW_FINISH: the client has finished writing.
    pub(super) fn sw_finish(&mut self, file: &mut File, arg: &mut i915::GemSwFinish) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        self.object(id)?.write_back_view();
        Ok(())
    }

    /// Creates the view of a tiled object, if it has none.
    pub(super) fn make_view(&mut self, id: ObjectId) -> Outcome {
        let object = self.object(id)?;
        if object.view.is_some() {
            return Ok(());
        }
        let (size, stride) = (object.size, object.stride);
        let mode = tile_mode(object.tiling).ok_or(Errno::INVAL)?;
        let pages = self.allocate(size)?;
        let view = SharedView::new(pages, size, mode, stride)?;
        let object = self.object_mut(id)?;
        object.view = Some(view);
        object.refresh_view();
        Ok(())
    }
}
