//! The display: one connector with a monitor, one CRTC with its primary plane. A flip waits for
//! rendering to the frame buffer, then completes and sends its event at once. Displayed images go
//! to captures and image files.
//!
//! * this file: [`Kms`], its resources, SETCRTC and page flips;
//! * `buffers`: frame buffers; `properties`: properties of display objects; `atomic`: atomic
//!   commits.

mod atomic;
mod buffers;
mod properties;

pub use buffers::FrameBuffer;
pub use properties::ClientCaps;

use super::config::Mode;
use super::descriptor::{self, Id};
use super::host::Host;
use super::{Device, File, Outcome};
use crate::uapi::{drm, mode};
use buffers::MAX_EXTENT;
use properties::Blob;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

/// Id of the one CRTC.
pub const CRTC: u32 = 31;
const ENCODER: u32 = 32;
const CONNECTOR: u32 = 33;
const PLANE: u32 = 34;
/// First id of clients' frame buffers and blobs. Ids of properties are smaller.
const FIRST: u32 = 64;

/// 1 in the 16.16 fixed-point format of source rectangles.
const ONE: u32 = 1 << 16;

/// Sizes of the default monitor's modes, the preferred one first. All have 60 Hz.
const MODES: [(u16, u16); 8] = [
    (1024, 768),
    (1920, 1080),
    (1600, 900),
    (1280, 1024),
    (1280, 720),
    (800, 600),
    (640, 480),
    (320, 240),
];

/// The state of the display.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Mode of the CRTC.
    mode: Option<mode::ModeInfo>,
    /// True if the CRTC is active.
    active: bool,
    /// True if the connector is attached to the CRTC.
    connector: bool,
    /// True if the plane is attached to the CRTC.
    plane: bool,
    /// Frame buffer of the plane, or 0.
    fb: u32,
    /// Source rectangle in the frame buffer: x, y, width and height, 16.16 fixed point.
    source: [u32; 4],
    /// Destination rectangle on the CRTC: x, y, width and height.
    destination: [i32; 4],
}

impl State {
    /// True if changing from `before` to this state is a modeset.
    fn sets_mode(&self, before: &State) -> bool {
        let timing = |state: &State| state.mode.map(|mode| bytemuck::bytes_of(&mode).to_vec());
        (self.active, self.connector) != (before.active, before.connector)
            || timing(self) != timing(before)
    }
}

/// The display.
#[derive(Debug)]
pub struct Kms {
    /// Modes of the monitor, the preferred one first.
    modes: Vec<mode::ModeInfo>,
    frame_buffers: BTreeMap<u32, FrameBuffer>,
    blobs: BTreeMap<u32, Blob>,
    next: u32,
    state: State,
    /// Number of vertical blanks so far. Each modeset, flip, atomic commit and WAIT_VBLANK counts
    /// as one.
    sequence: u32,
}

impl Kms {
    /// A display that is off, with a monitor that prefers `mode`.
    pub fn new(mode: Option<Mode>) -> Kms {
        Kms {
            modes: modes(mode),
            frame_buffers: BTreeMap::new(),
            blobs: BTreeMap::new(),
            next: FIRST,
            state: State::default(),
            sequence: 0,
        }
    }
}

/// The modes of a monitor. If a mode `own` is configured, it comes first, and usual modes that are
/// wider or higher are left out, because many programs choose the largest mode.
fn modes(own: Option<Mode>) -> Vec<mode::ModeInfo> {
    let usual = MODES.map(|(width, height)| Mode { width, height, hz: 60 });
    let smaller = |mode: &Mode| {
        own.is_none_or(|own| *mode != own && mode.width <= own.width && mode.height <= own.height)
    };
    let all = own.into_iter().chain(usual.into_iter().filter(smaller));
    all.enumerate().map(|(index, mode)| mode_info(mode, index == 0)).collect()
}

/// The timing of a mode. Blanking has fixed sizes, similar to CVT reduced blanking.
fn mode_info(mode: Mode, preferred: bool) -> mode::ModeInfo {
    let Mode { width, height, hz } = mode;
    let (htotal, vtotal) = (width + 160, height + 35);
    let text = format!("{width}x{height}");
    let mut name = [0; 32];
    name[..text.len()].copy_from_slice(text.as_bytes());
    mode::ModeInfo {
        clock: (u64::from(htotal) * u64::from(vtotal) * u64::from(hz) / 1000) as u32,
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
        vrefresh: hz.into(),
        // Positive horizontal and negative vertical sync.
        flags: 1 | 8,
        // A mode from the driver; the first one is also marked as preferred.
        kind: 1 << 6 | if preferred { 1 << 3 } else { 0 },
        name,
    }
}

fn no_such_object<T>() -> Result<T, super::Stop> {
    Err(Errno::NOENT.into())
}

impl Kms {
    /// GETRESOURCES.
    pub(super) fn resources(&self, host: &dyn Host, arg: &mut mode::CardRes) -> Outcome {
        let fbs: Vec<u32> = self.frame_buffers.keys().copied().collect();
        host.put_list(arg.fb_id_ptr, &mut arg.count_fbs, &fbs)?;
        host.put_list(arg.crtc_id_ptr, &mut arg.count_crtcs, &[CRTC])?;
        host.put_list(arg.connector_id_ptr, &mut arg.count_connectors, &[CONNECTOR])?;
        host.put_list(arg.encoder_id_ptr, &mut arg.count_encoders, &[ENCODER])?;
        (arg.min_width, arg.max_width, arg.min_height, arg.max_height) =
            (0, MAX_EXTENT, 0, MAX_EXTENT);
        Ok(())
    }

    /// The id for a new frame buffer or blob.
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Returns ENOENT if the frame buffer does not exist.
    fn has(&self, fb: u32) -> Outcome {
        if self.frame_buffers.contains_key(&fb) { Ok(()) } else { no_such_object() }
    }

    /// Checks a state against a Broadwell's display: the plane must cover the CRTC and must not be
    /// scaled. (Linux drm_atomic.c, drm_atomic_helper.c, i9xx_plane.c)
    fn check(&self, state: &State) -> Result<(), Errno> {
        if state.plane != (state.fb != 0) || state.connector != state.mode.is_some() {
            return Err(Errno::INVAL);
        }
        let Some(mode) = state.mode else {
            return if state.active || state.plane { Err(Errno::INVAL) } else { Ok(()) };
        };
        let (width, height) = (u32::from(mode.hdisplay), u32::from(mode.vdisplay));
        if !(1..=MAX_EXTENT).contains(&width) || !(1..=MAX_EXTENT).contains(&height) {
            return Err(Errno::INVAL);
        }
        let Some(fb) = self.frame_buffers.get(&state.fb) else { return Ok(()) };
        let [x, y, across, down] = state.source;
        let inside = |start: u32, length: u32, most: u32| {
            u64::from(start) + u64::from(length) <= u64::from(most) * u64::from(ONE)
        };
        if !inside(x, across, fb.width) || !inside(y, down, fb.height) {
            return Err(Errno::NOSPC);
        }
        if state.destination != [0, 0, width as i32, height as i32] {
            return Err(Errno::INVAL);
        }
        if [across / ONE, down / ONE] != [width, height] {
            return Err(Errno::RANGE);
        }
        Ok(())
    }

    /// GETCRTC.
    pub(super) fn crtc(&self, arg: &mut mode::Crtc) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        let State { mode, fb, source, .. } = self.state;
        (arg.x, arg.y) = (source[0] / ONE, source[1] / ONE);
        (arg.fb_id, arg.gamma_size) = (fb, 256);
        arg.mode_valid = mode.is_some().into();
        arg.mode = mode.unwrap_or_default();
        Ok(())
    }

    /// The frame buffer that SETCRTC selects: -1 keeps the current one.
    fn selected(&self, fb: u32) -> u32 {
        if fb == u32::MAX { self.state.fb } else { fb }
    }

    /// SETCRTC, without reporting the image to captures and image files.
    pub(super) fn set_crtc(&mut self, arg: &mode::Crtc) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        if arg.mode_valid == 0 {
            self.state = State::default();
            return Ok(());
        }
        let fb = self.selected(arg.fb_id);
        self.has(fb)?;
        let fixed = |value: u32| value.checked_mul(ONE).ok_or(Errno::NOSPC);
        let (width, height) = (arg.mode.hdisplay, arg.mode.vdisplay);
        let state = State {
            mode: Some(arg.mode),
            active: true,
            connector: true,
            plane: true,
            fb,
            source: [fixed(arg.x)?, fixed(arg.y)?, fixed(width.into())?, fixed(height.into())?],
            destination: [0, 0, width.into(), height.into()],
        };
        self.check(&state)?;
        self.state = state;
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
        arg.crtc_id = if self.state.connector { CRTC } else { 0 };
        (arg.possible_crtcs, arg.possible_clones) = (1, 0);
        Ok(())
    }

    /// GETCONNECTOR.
    pub(super) fn connector(
        &self,
        host: &dyn Host,
        client: ClientCaps,
        arg: &mut mode::GetConnector,
    ) -> Outcome {
        if arg.connector_id != CONNECTOR {
            return no_such_object();
        }
        host.put_list(arg.modes_ptr, &mut arg.count_modes, &self.modes)?;
        let (ids, values) = self.list(CONNECTOR, client).unwrap_or_default();
        let mut room = arg.count_props;
        host.put_list(arg.props_ptr, &mut arg.count_props, &ids)?;
        host.put_list(arg.prop_values_ptr, &mut room, &values)?;
        host.put_list(arg.encoders_ptr, &mut arg.count_encoders, &[ENCODER])?;
        arg.encoder_id = if self.state.connector { ENCODER } else { 0 };
        // HDMI-A-1, connected, 340 by 190 mm, subpixel order unknown.
        (arg.connector_type, arg.connector_type_id, arg.connection) = (11, 1, 1);
        (arg.mm_width, arg.mm_height, arg.subpixel) = (340, 190, 1);
        Ok(())
    }

    /// WAIT_VBLANK. Does not wait: the next vertical blank counts as reached.
    pub(super) fn wait_vblank(
        &mut self,
        channel: Option<&OwnedFd>,
        arg: &mut drm::WaitVblank,
    ) -> Outcome {
        const EVENT: u32 = 0x0400_0000;
        self.sequence = self.sequence.wrapping_add(1);
        let event = self.event(drm::EVENT_VBLANK, arg.signal);
        if arg.kind & EVENT != 0
            && let Some(channel) = channel
        {
            descriptor::send_event(channel, bytemuck::bytes_of(&event));
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
        arg.active = self.state.active.into();
        arg.sequence = self.sequence.into();
        arg.sequence_ns = super::fence::now() as i64;
        Ok(())
    }

    /// A vertical blank or flip event, as a client reads it.
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

    /// Ids of the frame buffers that a file created.
    pub(super) fn owned(&self, id: Id) -> Vec<u32> {
        self.frame_buffers
            .iter()
            .filter(|(_, fb)| fb.owner == id)
            .map(|(number, _)| *number)
            .collect()
    }
}

impl Device {
    /// PAGE_FLIP.
    pub(super) fn page_flip(&mut self, file: &mut File, arg: &mut mode::PageFlip) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        self.kms.has(arg.fb_id)?;
        if arg.flags & !(mode::PAGE_FLIP_EVENT | mode::PAGE_FLIP_ASYNC) != 0 || arg.reserved != 0 {
            return Err(Errno::INVAL.into());
        }
        if !self.kms.state.plane {
            return Err(Errno::BUSY.into());
        }
        let state = State { fb: arg.fb_id, ..self.kms.state };
        self.kms.check(&state)?;
        self.wait_for_rendering(arg.fb_id)?;
        self.kms.state = state;
        self.kms.sequence = self.kms.sequence.wrapping_add(1);
        self.report_image();
        if arg.flags & mode::PAGE_FLIP_EVENT != 0
            && let Some(channel) = &file.channel
        {
            let event = self.kms.event(drm::EVENT_FLIP_COMPLETE, arg.user_data);
            descriptor::send_event(channel, bytemuck::bytes_of(&event));
        }
        Ok(())
    }

    /// Reports the displayed image to captures and image files.
    pub(super) fn report_image(&mut self) {
        let Some(&fb) = self.kms.frame_buffers.get(&self.kms.state.fb) else { return };
        if let Ok(object) = self.object(fb.object) {
            object.write_back_view();
        }
        let bytes = self.bytes(fb.object);
        self.queue.when_idle(move |machine| machine.reporter.displayed(&fb, &bytes));
    }

    /// Makes the ioctl wait for pending work that writes a frame buffer.
    ///
    /// # Errors
    /// [`Stop::Wait`](super::Stop::Wait) while there is such work.
    fn wait_for_rendering(&mut self, fb: u32) -> Outcome {
        match self.kms.frame_buffers.get(&fb).map(|fb| fb.object) {
            Some(object) => self.object_mut(object)?.wait(false),
            None => Ok(()),
        }
    }

    /// SETCRTC.
    pub(super) fn set_crtc(&mut self, arg: &mut mode::Crtc) -> Outcome {
        self.wait_for_rendering(self.kms.selected(arg.fb_id))?;
        self.kms.set_crtc(arg)?;
        self.report_image();
        Ok(())
    }
}
