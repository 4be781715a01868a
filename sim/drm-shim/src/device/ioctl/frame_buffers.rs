//! Frame buffers: creation, removal and drawing by the client.

use crate::device::descriptor::Id;
use crate::device::gem::Object;
use crate::device::kms::{DEPTHS, FORMATS, FrameBuffer, MAX_EXTENT, MODIFIERS, WITH_ALPHA, fourcc};
use crate::device::outcome::Outcome;
use crate::device::{Device, File};
use crate::uapi::mode;
use rustix::io::Errno;

/// Largest pitch in bytes. (Linux intel_fb.c, intel_fb_max_stride)
const MAX_PITCH: u32 = 256 << 10;

/// Alignment of the pitch in bytes of a linear image. (Linux intel_fb.c,
/// intel_fb_stride_alignment)
const LINEAR_ALIGNMENT: u32 = 64;

/// Width in bytes and height in rows of an X tile. (Linux intel_fb.c)
const X_TILE: (u32, u32) = (512, 8);

/// Checks an image without its object. Returns the bytes of a pixel. (Linux drm_framebuffer.c,
/// framebuffer_check)
///
/// # Errors
/// ERANGE if the image ends above 4 GiB; EINVAL for any other wrong value.
fn check(arg: &mode::FbCmd2) -> Result<u32, Errno> {
    let with_modifiers = arg.flags & mode::FB_MODIFIERS != 0;
    let extent = 1..=MAX_EXTENT;
    if arg.flags & !(mode::FB_INTERLACED | mode::FB_MODIFIERS) != 0
        || !extent.contains(&arg.width)
        || !extent.contains(&arg.height)
        // The display of a Broadwell supports no format with several planes of memory, such as
        // NV12.
        || !(FORMATS.contains(&arg.pixel_format) || WITH_ALPHA.contains(&arg.pixel_format))
        || arg.handles[0] == 0
    {
        return Err(Errno::INVAL);
    }
    let pixel = if arg.pixel_format == fourcc(b"RG16") { 2 } else { 4 };
    let bytes = u64::from(arg.height) * u64::from(arg.pitches[0]);
    if bytes + u64::from(arg.offsets[0]) > u32::MAX.into() {
        return Err(Errno::RANGE);
    }
    // Old clients do not clear the fields of unused planes. So these fields count only in requests
    // with modifiers.
    let is_set = |values: &[u32; 4]| values[1..] != [0; 3];
    let unused =
        with_modifiers && (is_set(&arg.handles) || is_set(&arg.pitches) || is_set(&arg.offsets));
    if arg.pitches[0] < arg.width * pixel
        || (arg.modifier[0] != 0 && !with_modifiers)
        || arg.modifier[1..] != [0; 3]
        || unused
    {
        return Err(Errno::INVAL);
    }
    Ok(pixel)
}

/// Checks an image with `pixel` bytes in each pixel in its object. Returns the image's tiling.
/// (Linux intel_fb.c, intel_fb_bo.c)
///
/// # Errors
/// EINVAL if the tiling or the pitch is not the object's, if the display does not support them, or
/// if the object is too small.
fn check_object(arg: &mode::FbCmd2, object: &Object, pixel: u32) -> Result<u32, Errno> {
    let tiling = match arg.flags & mode::FB_MODIFIERS {
        0 => Some(object.tiling),
        _ => MODIFIERS.iter().find(|row| row.0 == arg.modifier[0]).map(|row| row.1),
    };
    // The plane supports no Y tiling.
    let tiling = tiling.filter(|tiling| *tiling <= 1).ok_or(Errno::INVAL)?;
    let pitch = arg.pitches[0];
    if object.tiling != 0 && (tiling, pitch) != (object.tiling, object.stride) {
        return Err(Errno::INVAL);
    }
    // The longest pitch of the plane. With longer ones the kernel maps parts of the image, which
    // needs whole pages. (Linux i9xx_plane.c)
    let longest = (8192 * pixel).min(32 << 10);
    let (alignment, rows) = match tiling {
        0 if pitch > longest => (4096, 1),
        0 => (LINEAR_ALIGNMENT, 1),
        _ => X_TILE,
    };
    let size = u64::from(arg.height.next_multiple_of(rows)) * u64::from(pitch);
    let fits = pitch <= MAX_PITCH && pitch.is_multiple_of(alignment) && size <= object.size;
    (fits && arg.offsets[0] == 0).then_some(tiling).ok_or(Errno::INVAL)
}

impl Device {
    /// Executes the ioctl ADDFB.
    pub(super) fn add_fb(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd) -> Outcome {
        let asked = (arg.bpp, arg.depth);
        let format = DEPTHS.iter().find(|(_, bpp, depth)| (*bpp, *depth) == asked);
        let mut full = mode::FbCmd2 {
            width: arg.width,
            height: arg.height,
            pixel_format: format.ok_or(Errno::INVAL)?.0,
            handles: [arg.handle, 0, 0, 0],
            pitches: [arg.pitch, 0, 0, 0],
            ..Default::default()
        };
        self.add_fb2(id, file, &mut full)?;
        arg.fb_id = full.fb_id;
        Ok(())
    }

    /// ADDFB2, for formats with one plane of memory.
    pub(super) fn add_fb2(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd2) -> Outcome {
        let pixel = check(arg)?;
        let object = *file.objects.get(arg.handles[0])?;
        let memory = self.object_mut(object)?;
        let tiling = check_object(arg, memory, pixel)?;
        memory.users += 1;
        memory.is_shared = true;
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
        arg.fb_id = self.kms.number();
        self.kms.frame_buffers.insert(arg.fb_id, fb);
        Ok(())
    }

    /// A new handle for the object of a frame buffer. Clients that are neither the master nor
    /// privileged get 0: another client's image is not theirs. (Linux drm_framebuffer.c)
    fn fb_handle(&mut self, id: Id, file: &mut File, fb: &FrameBuffer) -> Result<u32, Errno> {
        if !self.is_master(id) && !self.host.is_admin() {
            return Ok(0);
        }
        self.object_mut(fb.object)?.users += 1;
        Ok(file.objects.add(fb.object))
    }

    /// Executes the ioctl GETFB.
    pub(super) fn get_fb(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd) -> Outcome {
        let fb = *self.kms.frame_buffers.get(&arg.fb_id).ok_or(Errno::NOENT)?;
        (arg.width, arg.height, arg.pitch) = (fb.width, fb.height, fb.pitch);
        let numbers = DEPTHS.iter().find(|(format, ..)| *format == fb.format);
        (arg.bpp, arg.depth) = numbers.map_or((0, 0), |(_, bpp, depth)| (*bpp, *depth));
        arg.handle = self.fb_handle(id, file, &fb)?;
        Ok(())
    }

    /// GETFB2: a frame buffer as ADDFB2 takes it, with its modifier.
    pub(super) fn get_fb2(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd2) -> Outcome {
        let fb = *self.kms.frame_buffers.get(&arg.fb_id).ok_or(Errno::NOENT)?;
        let modifier = MODIFIERS.iter().find(|row| row.1 == fb.tiling).map_or(0, |row| row.0);
        *arg = mode::FbCmd2 {
            fb_id: arg.fb_id,
            width: fb.width,
            height: fb.height,
            pixel_format: fb.format,
            flags: mode::FB_MODIFIERS,
            handles: [self.fb_handle(id, file, &fb)?, 0, 0, 0],
            pitches: [fb.pitch, 0, 0, 0],
            offsets: [fb.offset, 0, 0, 0],
            modifier: [modifier, 0, 0, 0],
            ..Default::default()
        };
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
