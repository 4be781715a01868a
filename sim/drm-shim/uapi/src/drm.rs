//! Interface of all DRM drivers (`drm.h`).

use super::structures;

/// Numbers of the ioctls.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod nr {
    pub const VERSION: u32 = 0x00;
    pub const GET_UNIQUE: u32 = 0x01;
    pub const GET_MAGIC: u32 = 0x02;
    pub const GET_CLIENT: u32 = 0x05;
    pub const GET_STATS: u32 = 0x06;
    pub const SET_VERSION: u32 = 0x07;
    pub const GEM_CLOSE: u32 = 0x09;
    pub const GEM_FLINK: u32 = 0x0a;
    pub const GEM_OPEN: u32 = 0x0b;
    pub const GET_CAP: u32 = 0x0c;
    pub const SET_CLIENT_CAP: u32 = 0x0d;
    pub const AUTH_MAGIC: u32 = 0x11;
    pub const SET_MASTER: u32 = 0x1e;
    pub const DROP_MASTER: u32 = 0x1f;
    pub const PRIME_HANDLE_TO_FD: u32 = 0x2d;
    pub const PRIME_FD_TO_HANDLE: u32 = 0x2e;
    pub const WAIT_VBLANK: u32 = 0x3a;
    pub const CRTC_GET_SEQUENCE: u32 = 0x3b;
    pub const SYNCOBJ_CREATE: u32 = 0xbf;
    pub const SYNCOBJ_DESTROY: u32 = 0xc0;
    pub const SYNCOBJ_HANDLE_TO_FD: u32 = 0xc1;
    pub const SYNCOBJ_FD_TO_HANDLE: u32 = 0xc2;
    pub const SYNCOBJ_WAIT: u32 = 0xc3;
    pub const SYNCOBJ_RESET: u32 = 0xc4;
    pub const SYNCOBJ_SIGNAL: u32 = 0xc5;
    pub const SYNCOBJ_TIMELINE_WAIT: u32 = 0xca;
    pub const SYNCOBJ_QUERY: u32 = 0xcb;
    pub const SYNCOBJ_TRANSFER: u32 = 0xcc;
    pub const SYNCOBJ_TIMELINE_SIGNAL: u32 = 0xcd;
    pub const SYNCOBJ_EVENTFD: u32 = 0xcf;
}

/// Capabilities for GET_CAP.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod cap {
    pub const DUMB_BUFFER: u64 = 0x1;
    pub const VBLANK_HIGH_CRTC: u64 = 0x2;
    pub const DUMB_PREFERRED_DEPTH: u64 = 0x3;
    pub const DUMB_PREFER_SHADOW: u64 = 0x4;
    pub const PRIME: u64 = 0x5;
    pub const TIMESTAMP_MONOTONIC: u64 = 0x6;
    pub const ASYNC_PAGE_FLIP: u64 = 0x7;
    pub const CURSOR_WIDTH: u64 = 0x8;
    pub const CURSOR_HEIGHT: u64 = 0x9;
    pub const ADDFB2_MODIFIERS: u64 = 0x10;
    pub const PAGE_FLIP_TARGET: u64 = 0x11;
    pub const CRTC_IN_VBLANK_EVENT: u64 = 0x12;
    pub const SYNCOBJ: u64 = 0x13;
    pub const SYNCOBJ_TIMELINE: u64 = 0x14;
}

/// SYNCOBJ_CREATE: the syncobj has signaled from the start.
pub const SYNCOBJ_CREATE_SIGNALED: u32 = 1;
/// SYNCOBJ_WAIT: wait until all syncobjs have signaled, not only until one has.
pub const SYNCOBJ_WAIT_ALL: u32 = 1;
/// SYNCOBJ_WAIT: if a syncobj has no fence, wait until it has one.
pub const SYNCOBJ_WAIT_FOR_SUBMIT: u32 = 2;
/// SYNCOBJ_TIMELINE_WAIT, SYNCOBJ_EVENTFD: wait until the syncobj has a fence, not until the fence
/// signals.
pub const SYNCOBJ_WAIT_AVAILABLE: u32 = 4;
/// SYNCOBJ_QUERY: report the last point that has a fence, signaled or not.
pub const SYNCOBJ_QUERY_LAST_SUBMITTED: u32 = 1;
/// SYNCOBJ_FD_TO_HANDLE, SYNCOBJ_HANDLE_TO_FD: the descriptor is a sync file.
pub const SYNCOBJ_SYNC_FILE: u32 = 1;
/// PRIME_HANDLE_TO_FD: exec closes the descriptor.
pub const CLOEXEC: u32 = 0o2000000;
/// PRIME_HANDLE_TO_FD: the descriptor permits mappings that can be written.
pub const RDWR: u32 = 2;

structures! {
    /// Argument of VERSION.
    Version {
        major: i32, minor: i32, patch: i32, pad: u32,
        name_len: u64, name: u64, date_len: u64, date: u64, desc_len: u64, desc: u64,
    }
    /// Argument of GET_UNIQUE.
    Unique { unique_len: u64, unique: u64 }
    /// Argument of GET_MAGIC and AUTH_MAGIC.
    Auth { magic: u32 }
    /// Argument of GET_CLIENT.
    Client { idx: i32, auth: i32, pid: u64, uid: u64, magic: u64, iocs: u64 }
    /// Argument of GET_STATS.
    Stats { count: u64, data: [u64; 30] }
    /// Argument of SET_VERSION.
    SetVersion { di_major: i32, di_minor: i32, dd_major: i32, dd_minor: i32 }
    /// Argument of GEM_CLOSE.
    GemClose { handle: u32, pad: u32 }
    /// Argument of GEM_FLINK.
    GemFlink { handle: u32, name: u32 }
    /// Argument of GEM_OPEN.
    GemOpen { name: u32, handle: u32, size: u64 }
    /// Argument of GET_CAP and SET_CLIENT_CAP.
    Cap { capability: u64, value: u64 }
    /// Argument of PRIME_HANDLE_TO_FD and PRIME_FD_TO_HANDLE.
    PrimeHandle { handle: u32, flags: u32, fd: i32 }
    /// Argument of WAIT_VBLANK: request and reply in one structure. The reply has seconds in
    /// `signal` and microseconds in `microseconds`.
    WaitVblank { kind: u32, sequence: u32, signal: u64, microseconds: u64 }
    /// Argument of CRTC_GET_SEQUENCE.
    CrtcGetSequence { crtc_id: u32, active: u32, sequence: u64, sequence_ns: i64 }
    /// Argument of SYNCOBJ_CREATE and SYNCOBJ_DESTROY (without flags).
    Syncobj { handle: u32, flags: u32 }
    /// Argument of SYNCOBJ_HANDLE_TO_FD and SYNCOBJ_FD_TO_HANDLE.
    SyncobjHandle { handle: u32, flags: u32, fd: i32, pad: u32 }
    /// Argument of SYNCOBJ_TRANSFER.
    SyncobjTransfer {
        src_handle: u32, dst_handle: u32, src_point: u64, dst_point: u64, flags: u32, pad: u32,
    }
    /// Argument of SYNCOBJ_WAIT.
    SyncobjWait {
        handles: u64, timeout_nsec: i64, count_handles: u32, flags: u32, first_signaled: u32,
        pad: u32,
    }
    /// Argument of SYNCOBJ_TIMELINE_WAIT.
    SyncobjTimelineWait {
        handles: u64, points: u64, timeout_nsec: i64, count_handles: u32, flags: u32,
        first_signaled: u32, pad: u32,
    }
    /// Argument of SYNCOBJ_RESET and SYNCOBJ_SIGNAL.
    SyncobjArray { handles: u64, count_handles: u32, pad: u32 }
    /// Argument of SYNCOBJ_QUERY and SYNCOBJ_TIMELINE_SIGNAL.
    SyncobjTimelineArray { handles: u64, points: u64, count_handles: u32, flags: u32 }
    /// Argument of SYNCOBJ_EVENTFD.
    SyncobjEventfd { handle: u32, flags: u32, point: u64, fd: i32, pad: u32 }
    /// An event that the client reads from the descriptor of the device.
    EventVblank {
        kind: u32, length: u32, user_data: u64, tv_sec: u32, tv_usec: u32, sequence: u32,
        crtc_id: u32,
    }
}

/// [`EventVblank::kind`] of WAIT_VBLANK.
pub const EVENT_VBLANK: u32 = 1;
/// [`EventVblank::kind`] of a completed page flip.
pub const EVENT_FLIP_COMPLETE: u32 = 2;
