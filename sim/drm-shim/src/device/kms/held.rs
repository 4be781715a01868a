//! The objects of the display that a client may use.

use super::state::{CONNECTOR, CRTC, PLANE};
use crate::device::descriptor::Id;
use rustix::io::Errno;

/// The objects that a client may use, of those that can be leased. All clients may use encoders,
/// frame buffers, blobs and properties. (Linux drm_mode_object.c, drm_mode_object_lease_required)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    crtc: bool,
    connector: bool,
    plane: bool,
}

impl Held {
    /// The objects of a client without lease: all.
    pub(crate) const ALL: Held = Held { crtc: true, connector: true, plane: true };
    /// The objects of a revoked lease: none.
    pub(super) const NONE: Held = Held { crtc: false, connector: false, plane: false };

    /// Whether an object may be used, if it can be leased.
    pub(super) fn of(&mut self, object: u32) -> Option<&mut bool> {
        match object {
            CRTC => Some(&mut self.crtc),
            CONNECTOR => Some(&mut self.connector),
            PLANE => Some(&mut self.plane),
            _ => None,
        }
    }

    /// True if the client may use an object.
    pub(crate) fn has(mut self, object: u32) -> bool {
        self.of(object).is_none_or(|held| *held)
    }

    /// Returns ENOENT for an object that the client may not use.
    pub(crate) fn find(self, object: u32) -> Result<(), Errno> {
        if self.has(object) { Ok(()) } else { Err(Errno::NOENT) }
    }

    /// Returns EACCES for a client that may use the CRTC but not its plane. (Linux drm_crtc.c,
    /// drm_plane.c)
    pub(crate) fn find_plane(self) -> Result<(), Errno> {
        if self.plane { Ok(()) } else { Err(Errno::ACCESS) }
    }

    /// Those of `objects` that the client may use.
    pub(crate) fn filter(self, objects: &[u32]) -> Vec<u32> {
        objects.iter().copied().filter(|object| self.has(*object)).collect()
    }

    /// The CRTC, or 0 if it is not `on` or the client may not use it.
    pub(super) fn crtc_if(self, on: bool) -> u32 {
        if on && self.crtc { CRTC } else { 0 }
    }

    /// True if the same object is in both.
    pub(super) fn overlaps(self, other: Held) -> bool {
        [CRTC, CONNECTOR, PLANE].iter().any(|object| self.has(*object) && other.has(*object))
    }
}

/// A lease. It ends when the client that got it closes its file. A revoked lease has no objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    /// The client that gave the lease.
    pub(super) lessor: Id,
    /// Number of the lease among those of the lessor.
    pub(super) number: u32,
    pub(super) held: Held,
}
