//! The display: one connector with a monitor, one CRTC, frame buffers and page flips, as much as programs on gbm need. What is
//! shown goes to captures; a flip is done at once, and its event says so.

use super::gem::ObjectId;
use super::{Device, File, Outcome};
use crate::edge::client::put_list;
use crate::edge::token::{self, Id};
use crate::uapi::{drm, mode};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

const CRTC: u32 = 31;
const ENCODER: u32 = 32;
const CONNECTOR: u32 = 33;
const DPMS: u32 = 34;
/// Frame buffers have numbers from here on.
const FIRST_FB: u32 = 64;

/// Object types of properties.
const ANY_OBJECT: u32 = 0;
const CONNECTOR_OBJECT: u32 = 0xc0c0_c0c0;

/// Sizes of the modes, the preferred one first; all have 60 pictures a second.
const MODES: [(u16, u16); 8] =
    [(1024, 768), (1920, 1080), (1600, 900), (1280, 1024), (1280, 720), (800, 600), (640, 480), (320, 240)];

/// Largest picture.
const MAX_EXTENT: u32 = 8192;

/// Picture that can be shown.
#[derive(Clone, Copy, Debug)]
pub struct FrameBuffer {
    /// Its memory.
    pub object: ObjectId,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// First byte in the object.
    pub offset: u32,
    /// Format by DRM's four characters.
    pub format: u32,
    /// The kernel's number of the layout.
    pub tiling: u32,
    owner: Id,
}

/// State of the display.
#[derive(Debug)]
pub struct Kms {
    frame_buffers: BTreeMap<u32, FrameBuffer>,
    next: u32,
    /// What the CRTC shows.
    shows: u32,
    mode: Option<mode::ModeInfo>,
    position: (u32, u32),
    /// Pictures so far.
    sequence: u32,
}

impl Default for Kms {
    fn default() -> Self {
        Kms {
            frame_buffers: BTreeMap::new(),
            next: FIRST_FB,
            shows: 0,
            mode: None,
            position: (0, 0),
            sequence: 0,
        }
    }
}

/// The mode of a size, with blanking as in the reduced timing of CVT.
fn mode_info((width, height): (u16, u16), preferred: bool) -> mode::ModeInfo {
    let (htotal, vtotal) = (width + 160, height + 35);
    let text = format!("{width}x{height}");
    let mut name = [0; 32];
    name[..text.len()].copy_from_slice(text.as_bytes());
    mode::ModeInfo {
        clock: u32::from(htotal) * u32::from(vtotal) * 60 / 1000,
        hdisplay: width,
        hsync_start: width + 48,
        hsync_end: width + 80,
        htotal,
        hskew: 0,
        vdisplay: height,
        vsync_start: height + 3,
        vsync_end: height + 9,
        vtotal,
        vscan: 0,
        vrefresh: 60,
        // Positive and negative synchronisation.
        flags: 1 | 8,
        // Made by the driver; the preferred one says so.
        kind: 1 << 6 | if preferred { 1 << 3 } else { 0 },
        name,
    }
}

fn no_such_object<T>() -> Result<T, super::Stop> {
    Err(Errno::NOENT.into())
}

impl Kms {
    /// SET_CLIENT_CAP: neither planes nor atomic commits are offered.
    pub(super) fn set_client_cap(&mut self, arg: &mut drm::Cap) -> Outcome {
        const STEREO_3D: u64 = 1;
        const ASPECT_RATIO: u64 = 4;
        match arg.capability {
            STEREO_3D | ASPECT_RATIO => Ok(()),
            2 | 3 => Err(Errno::OPNOTSUPP.into()),
            _ => Err(Errno::INVAL.into()),
        }
    }

    /// GETRESOURCES.
    pub(super) fn resources(&self, arg: &mut mode::CardRes) -> Outcome {
        let fbs: Vec<u32> = self.frame_buffers.keys().copied().collect();
        put_list(arg.fb_id_ptr, &mut arg.count_fbs, &fbs)?;
        put_list(arg.crtc_id_ptr, &mut arg.count_crtcs, &[CRTC])?;
        put_list(arg.connector_id_ptr, &mut arg.count_connectors, &[CONNECTOR])?;
        put_list(arg.encoder_id_ptr, &mut arg.count_encoders, &[ENCODER])?;
        (arg.min_width, arg.max_width, arg.min_height, arg.max_height) = (0, MAX_EXTENT, 0, MAX_EXTENT);
        Ok(())
    }

    /// GETCRTC.
    pub(super) fn crtc(&self, arg: &mut mode::Crtc) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        (arg.x, arg.y) = self.position;
        (arg.fb_id, arg.gamma_size) = (self.shows, 256);
        arg.mode_valid = self.mode.is_some().into();
        arg.mode = self.mode.unwrap_or_default();
        Ok(())
    }

    /// SETCRTC, but for the telling of it.
    pub(super) fn set_crtc(&mut self, arg: &mode::Crtc) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        if arg.mode_valid == 0 {
            (self.mode, self.shows) = (None, 0);
            return Ok(());
        }
        // All ones keep the picture that is shown.
        if arg.fb_id != u32::MAX {
            let fb = self.frame_buffers.get(&arg.fb_id).ok_or(Errno::NOENT)?;
            let right = arg.x.checked_add(arg.mode.hdisplay.into());
            let bottom = arg.y.checked_add(arg.mode.vdisplay.into());
            if right.is_none_or(|right| right > fb.width) || bottom.is_none_or(|bottom| bottom > fb.height) {
                return Err(Errno::NOSPC.into());
            }
            self.shows = arg.fb_id;
        }
        self.mode = Some(arg.mode);
        self.position = (arg.x, arg.y);
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }

    /// GETENCODER.
    pub(super) fn encoder(&self, arg: &mut mode::GetEncoder) -> Outcome {
        if arg.encoder_id != ENCODER {
            return no_such_object();
        }
        // TMDS.
        arg.encoder_type = 2;
        arg.crtc_id = if self.mode.is_some() { CRTC } else { 0 };
        (arg.possible_crtcs, arg.possible_clones) = (1, 0);
        Ok(())
    }

    /// GETCONNECTOR.
    pub(super) fn connector(&self, arg: &mut mode::GetConnector) -> Outcome {
        if arg.connector_id != CONNECTOR {
            return no_such_object();
        }
        let modes: Vec<mode::ModeInfo> =
            MODES.iter().enumerate().map(|(index, size)| mode_info(*size, index == 0)).collect();
        put_list(arg.modes_ptr, &mut arg.count_modes, &modes)?;
        let room = arg.count_props;
        put_list(arg.props_ptr, &mut arg.count_props, &[DPMS])?;
        put_list(arg.prop_values_ptr, &mut { room }, &[0u64])?;
        put_list(arg.encoders_ptr, &mut arg.count_encoders, &[ENCODER])?;
        arg.encoder_id = if self.mode.is_some() { ENCODER } else { 0 };
        // HDMI-A 1, connected, 34 by 19 cm, subpixels unknown.
        (arg.connector_type, arg.connector_type_id, arg.connection) = (11, 1, 1);
        (arg.mm_width, arg.mm_height, arg.subpixel) = (340, 190, 1);
        Ok(())
    }

    /// GETPROPERTY.
    pub(super) fn property(&self, arg: &mut mode::GetProperty) -> Outcome {
        if arg.prop_id != DPMS {
            return no_such_object();
        }
        arg.name = [0; 32];
        arg.name[..4].copy_from_slice(b"DPMS");
        // An enumeration, of which the names are not told.
        arg.flags = 1 << 3;
        let values = [0u64, 1, 2, 3];
        put_list(arg.values_ptr, &mut arg.count_values, &values)?;
        arg.count_enum_blobs = 0;
        Ok(())
    }

    /// OBJ_GETPROPERTIES.
    pub(super) fn properties(&self, arg: &mut mode::ObjGetProperties) -> Outcome {
        match (arg.obj_id, arg.obj_type) {
            (CONNECTOR, CONNECTOR_OBJECT | ANY_OBJECT) => {
                let room = arg.count_props;
                put_list(arg.props_ptr, &mut arg.count_props, &[DPMS])?;
                put_list(arg.prop_values_ptr, &mut { room }, &[0u64])?;
                Ok(())
            }
            (CRTC | ENCODER, _) => {
                arg.count_props = 0;
                Ok(())
            }
            _ => no_such_object(),
        }
    }

    /// GETPLANERESOURCES: none, since no client may ask for them.
    pub(super) fn planes(&self, arg: &mut mode::PlaneRes) -> Outcome {
        arg.count_planes = 0;
        Ok(())
    }

    /// WAIT_VBLANK: the next one is now.
    pub(super) fn wait_vblank(&mut self, channel: Option<&OwnedFd>, arg: &mut drm::WaitVblank) -> Outcome {
        const EVENT: u32 = 0x0400_0000;
        self.sequence = self.sequence.wrapping_add(1);
        let event = self.event(drm::EVENT_VBLANK, arg.signal);
        if arg.kind & EVENT != 0
            && let Some(channel) = channel
        {
            token::tell(channel, bytemuck::bytes_of(&event));
        }
        arg.sequence = self.sequence;
        (arg.signal, arg.microseconds) = (event.tv_sec.into(), event.tv_usec.into());
        Ok(())
    }

    /// CRTC_GET_SEQUENCE.
    pub(super) fn get_sequence(&self, arg: &mut drm::CrtcGetSequence) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        arg.active = self.mode.is_some().into();
        arg.sequence = self.sequence.into();
        arg.sequence_ns = super::fence::now() as i64;
        Ok(())
    }

    /// What a client reads from the device.
    fn event(&self, kind: u32, user_data: u64) -> drm::EventVblank {
        let now = super::fence::now() / 1000;
        drm::EventVblank {
            kind,
            length: size_of::<drm::EventVblank>() as u32,
            user_data,
            tv_sec: (now / 1_000_000) as u32,
            tv_usec: (now % 1_000_000) as u32,
            sequence: self.sequence,
            crtc_id: CRTC,
        }
    }

    /// Frame buffers of a file.
    pub(super) fn owned(&self, id: Id) -> Vec<u32> {
        self.frame_buffers.iter().filter(|(_, fb)| fb.owner == id).map(|(number, _)| *number).collect()
    }
}

/// DRM's code of four characters.
const fn fourcc(code: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*code)
}

impl Device {
    fn insert_fb(&mut self, fb: FrameBuffer) -> Result<u32, Errno> {
        let rows = u64::from(fb.height.max(1));
        let end = u64::from(fb.offset) + u64::from(fb.pitch) * (rows - 1) + u64::from(fb.width);
        let object = self.object_mut(fb.object)?;
        let bad = fb.width == 0 || fb.height == 0 || fb.width > MAX_EXTENT || fb.height > MAX_EXTENT;
        if bad || end > object.size {
            return Err(Errno::INVAL);
        }
        object.users += 1;
        object.is_shared = true;
        let id = self.kms.next;
        self.kms.next += 1;
        self.kms.frame_buffers.insert(id, fb);
        Ok(id)
    }

    /// ADDFB.
    pub(super) fn add_fb(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd) -> Outcome {
        let format = match (arg.bpp, arg.depth) {
            (32, 24) => fourcc(b"XR24"),
            (32, 32) => fourcc(b"AR24"),
            (32, 30) => fourcc(b"XR30"),
            (16, 16) => fourcc(b"RG16"),
            _ => return Err(Errno::INVAL.into()),
        };
        let object = *file.objects.get(arg.handle)?;
        let tiling = self.object(object)?.tiling;
        let (width, height, pitch) = (arg.width, arg.height, arg.pitch);
        let fb = FrameBuffer { object, width, height, pitch, offset: 0, format, tiling, owner: id };
        arg.fb_id = self.insert_fb(fb)?;
        Ok(())
    }

    /// ADDFB2, of formats with one plane.
    pub(super) fn add_fb2(&mut self, id: Id, file: &mut File, arg: &mut mode::FbCmd2) -> Outcome {
        const X_TILED: u64 = 1 << 56 | 1;
        const Y_TILED: u64 = 1 << 56 | 2;
        let object = *file.objects.get(arg.handles[0])?;
        let tiling = match arg.modifier[0] {
            _ if arg.flags & mode::FB_MODIFIERS == 0 => self.object(object)?.tiling,
            0 => 0,
            X_TILED => 1,
            // The display of a Broadwell shows no other.
            Y_TILED => return Err(Errno::INVAL.into()),
            _ => return Err(Errno::INVAL.into()),
        };
        if arg.handles[1..] != [0; 3] {
            self.reporter.missing("a frame buffer with several planes");
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

    /// GETFB.
    pub(super) fn get_fb(&mut self, file: &mut File, arg: &mut mode::FbCmd) -> Outcome {
        let fb = *self.kms.frame_buffers.get(&arg.fb_id).ok_or(Errno::NOENT)?;
        (arg.width, arg.height, arg.pitch, arg.bpp, arg.depth) = (fb.width, fb.height, fb.pitch, 32, 24);
        self.object_mut(fb.object)?.users += 1;
        arg.handle = file.objects.add(fb.object);
        Ok(())
    }

    /// RMFB.
    pub(super) fn remove_fb(&mut self, id: u32) -> Outcome {
        let fb = self.kms.frame_buffers.remove(&id).ok_or(Errno::NOENT)?;
        if self.kms.shows == id {
            self.kms.shows = 0;
        }
        self.release(fb.object);
        Ok(())
    }

    /// PAGE_FLIP.
    pub(super) fn page_flip(&mut self, file: &mut File, arg: &mut mode::PageFlip) -> Outcome {
        if arg.crtc_id != CRTC || !self.kms.frame_buffers.contains_key(&arg.fb_id) {
            return no_such_object();
        }
        if arg.flags & !(mode::PAGE_FLIP_EVENT | mode::PAGE_FLIP_ASYNC) != 0 || arg.reserved != 0 {
            return Err(Errno::INVAL.into());
        }
        if self.kms.mode.is_none() {
            return Err(Errno::BUSY.into());
        }
        self.kms.shows = arg.fb_id;
        self.kms.sequence = self.kms.sequence.wrapping_add(1);
        self.shown();
        if arg.flags & mode::PAGE_FLIP_EVENT != 0
            && let Some(channel) = &file.channel
        {
            let event = self.kms.event(drm::EVENT_FLIP_COMPLETE, arg.user_data);
            token::tell(channel, bytemuck::bytes_of(&event));
        }
        Ok(())
    }

    /// A picture is on the screen: captures keep it.
    pub(super) fn shown(&mut self) {
        if let Some(&fb) = self.kms.frame_buffers.get(&self.kms.shows) {
            let bytes = self.bytes(fb.object);
            self.queue.tell(move |machine| machine.reporter.shown(&fb, &bytes));
        }
    }
}
