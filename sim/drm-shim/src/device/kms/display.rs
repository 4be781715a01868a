//! The display: its state, frame buffers and blobs.

use super::buffers::{FrameBuffer, MAX_EXTENT};
use super::held::Lease;
use super::state::{CRTC, ONE, State};
use crate::device::config::Mode;
use crate::device::descriptor::Id;
use crate::device::fence::now;
use crate::device::outcome::{Outcome, Stop};
use crate::uapi::{drm, mode};
use rustix::io::Errno;
use std::collections::BTreeMap;

/// First id of clients' frame buffers and blobs. Ids of properties are smaller.
const FIRST: u32 = 64;

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

/// A blob of a client.
#[derive(Debug)]
pub(super) struct Blob {
    pub(super) bytes: Vec<u8>,
    /// The file that created the blob.
    pub(super) owner: Id,
}

/// The display.
#[derive(Debug)]
pub struct Kms {
    /// Modes of the monitor, the preferred one first.
    pub(super) modes: Vec<mode::ModeInfo>,
    pub(crate) frame_buffers: BTreeMap<u32, FrameBuffer>,
    pub(super) blobs: BTreeMap<u32, Blob>,
    /// Leases by client.
    pub(super) leases: BTreeMap<Id, Lease>,
    next: u32,
    pub(crate) state: State,
    /// Number of vertical blanks so far. Each modeset, flip, atomic commit and WAIT_VBLANK counts
    /// as one.
    pub(super) sequence: u32,
}

impl Kms {
    /// A display that is off, with a monitor that prefers `mode`.
    pub fn new(mode: Option<Mode>) -> Kms {
        Kms {
            modes: modes(mode),
            frame_buffers: BTreeMap::new(),
            blobs: BTreeMap::new(),
            leases: BTreeMap::new(),
            next: FIRST,
            state: State::default(),
            sequence: 0,
        }
    }

    /// The id for a new frame buffer or blob.
    pub(crate) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Returns ENOENT if the frame buffer does not exist.
    pub(crate) fn has(&self, fb: u32) -> Outcome {
        if self.frame_buffers.contains_key(&fb) { Ok(()) } else { no_such_object() }
    }

    /// Checks a state against a Broadwell's display: the plane must cover the CRTC and must not be
    /// scaled. (Linux drm_atomic.c, drm_atomic_helper.c, i9xx_plane.c)
    pub(crate) fn check(&self, state: &State) -> Result<(), Errno> {
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

    /// Changes to a checked state at a vertical blank.
    pub(crate) fn commit(&mut self, state: State) {
        self.state = state;
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// A vertical blank or flip event, as a client reads it.
    pub(crate) fn event(&self, kind: u32, user_data: u64) -> drm::EventVblank {
        let now = now() / 1000;
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
    pub(crate) fn owned(&self, id: Id) -> Vec<u32> {
        self.frame_buffers
            .iter()
            .filter(|(_, fb)| fb.owner == id)
            .map(|(number, _)| *number)
            .collect()
    }

    /// Removes the blobs and leases of a file that is closed.
    pub(crate) fn forget(&mut self, owner: Id) {
        self.forget_leases(owner);
        self.blobs.retain(|_, blob| blob.owner != owner);
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

/// The error for an id that no display object has.
pub(super) fn no_such_object<T>() -> Result<T, Stop> {
    Err(Errno::NOENT.into())
}
