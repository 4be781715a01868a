//! Frame buffers: creation, removal and drawing by the client.

use crate::device::descriptor::Id;
use crate::device::kms::{DEPTHS, FORMATS, FrameBuffer, MAX_EXTENT, MODIFIERS, WITH_ALPHA, fourcc};
use crate::device::outcome::Outcome;
use crate::device::{Device, File};
use crate::uapi::mode;
use rustix::io::Errno;

impl Device {
    fn insert_fb(&mut self, fb: FrameBuffer) -> Result<u32, Errno> {
        let pixel = if fb.format == fourcc(b"RG16") { 2 } else { 4 };
        let rows = u64::from(fb.height.max(1));
        let end =
            u64::from(fb.offset) + u64::from(fb.pitch) * (rows - 1) + u64::from(fb.width) * pixel;
        let object = self.object_mut(fb.object)?;
        let bad =
            fb.width == 0 || fb.height == 0 || fb.width > MAX_EXTENT || fb.height > MAX_EXTENT;
        // A row must have room for its pixels. The plane supports no Y tiling.
        if bad
            || u64::from(fb.pitch) < u64::from(fb.width) * pixel
            || end > object.size
            || fb.tiling > 1
        {
            return Err(Errno::INVAL);
        }
        object.users += 1;
        object.is_shared = true;
        let id = self.kms.number();
        self.kms.frame_buffers.insert(id, fb);
        Ok(id)
    }

    /// Executes the ioctl ADDFB.
    pub(super) fn add_fb(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd) -> Outcome {
        let asked = (arg.bpp, arg.depth);
        let format = DEPTHS.iter().find(|(_, bpp, depth)| (*bpp, *depth) == asked);
        let format = format.ok_or(Errno::INVAL)?.0;
        let object = *file.objects.get(arg.handle)?;
        let tiling = self.object(object)?.tiling;
        let (width, height, pitch) = (arg.width, arg.height, arg.pitch);
        let fb = FrameBuffer { object, width, height, pitch, offset: 0, format, tiling, owner: id };
        arg.fb_id = self.insert_fb(fb)?;
        Ok(())
    }

    /// ADDFB2, for formats with one plane of memory.
    pub(super) fn add_fb2(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd2) -> Outcome {
        let object = *file.objects.get(arg.handles[0])?;
        let tiling = match arg.flags & mode::FB_MODIFIERS {
            0 => self.object(object)?.tiling,
            _ => {
                MODIFIERS
                    .iter()
                    .find(|(modifier, _)| *modifier == arg.modifier[0])
                    .ok_or(Errno::INVAL)?
                    .1
            }
        };
        // A Broadwell's display supports no format with several planes of memory, such as NV12.
        if !FORMATS.contains(&arg.pixel_format) && !WITH_ALPHA.contains(&arg.pixel_format) {
            return Err(Errno::INVAL.into());
        }
        let fb = FrameBuffer {
            object,
            width: arg.width,
            height: arg.height,
            pitch: arg.pitches[0],
            offset: arg.offsets[0],
            format: arg.pixel_format,
            tiling,
            owner: id,
        };
        arg.fb_id = self.insert_fb(fb)?;
        Ok(())
    }

    /// Executes the ioctl GETFB.
    pub(super) fn get_fb(&mut self, file: &mut File, arg: &mut mode::FbCmd) -> Outcome {
        let fb = *self.kms.frame_buffers.get(&arg.fb_id).ok_or(Errno::NOENT)?;
        (arg.width, arg.height, arg.pitch) = (fb.width, fb.height, fb.pitch);
        let numbers = DEPTHS.iter().find(|(format, ..)| *format == fb.format);
        (arg.bpp, arg.depth) = numbers.map_or((0, 0), |(_, bpp, depth)| (*bpp, *depth));
        self.object_mut(fb.object)?.users += 1;
        arg.handle = file.objects.add(fb.object);
        Ok(())
    }

    /// Executes the ioctl RMFB.
    pub(in crate::device) fn remove_fb(&mut self, id: u32) -> Outcome {
        let fb = self.kms.frame_buffers.remove(&id).ok_or(Errno::NOENT)?;
        let state = &mut self.kms.state;
        if state.fb == id {
            (state.fb, state.plane) = (0, false);
        }
        self.release(fb.object);
        Ok(())
    }

    /// DIRTYFB: the client has drawn into a frame buffer.
    pub(super) fn dirty_fb(&mut self, arg: &mut mode::FbDirty) -> Outcome {
        self.kms.has(arg.fb_id)?;
        if self.kms.state.fb == arg.fb_id {
            self.report_image();
        }
        Ok(())
    }
}
