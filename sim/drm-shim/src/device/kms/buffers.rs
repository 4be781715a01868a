//! Frame buffers: objects used as displayed images.

use crate::device::config::Mode;
use crate::device::descriptor::Id;
use crate::device::gem::ObjectId;

/// Largest width and height of a frame buffer.
pub(crate) const MAX_EXTENT: u32 = Mode::MAX_EXTENT as u32;

/// Formats of the primary plane, without the kernel's indexed and floating-point formats. (Linux
/// i9xx_plane.c)
pub(crate) const FORMATS: [u32; 5] =
    [fourcc(b"RG16"), fourcc(b"XR24"), fourcc(b"XB24"), fourcc(b"XR30"), fourcc(b"XB30")];

/// Formats with alpha. The primary plane of a Broadwell does not support them. They are accepted
/// because some programs use them.
pub(crate) const WITH_ALPHA: [u32; 2] = [fourcc(b"AR24"), fourcc(b"AB24")];

/// Bits per pixel and depth of each format, for ADDFB and GETFB. ADDFB takes the first format with
/// the numbers that the client passes. (Linux drm_fourcc.c)
pub(crate) const DEPTHS: [(u32, u32, u32); 7] = [
    (fourcc(b"RG16"), 16, 16),
    (fourcc(b"XR24"), 32, 24),
    (fourcc(b"XB24"), 32, 24),
    (fourcc(b"AR24"), 32, 32),
    (fourcc(b"AB24"), 32, 32),
    (fourcc(b"XR30"), 32, 30),
    (fourcc(b"XB30"), 32, 30),
];

/// Modifiers of the primary plane, linear and X-tiled, each with the kernel's number of the tiling.
pub(crate) const MODIFIERS: [(u64, u32); 2] = [(0, 0), (1 << 56 | 1, 1)];

/// A frame buffer.
#[derive(Clone, Copy, Debug)]
pub struct FrameBuffer {
    /// The object that holds the image.
    pub object: ObjectId,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Stride in bytes.
    pub pitch: u32,
    /// Byte offset of the first pixel in the object.
    pub offset: u32,
    /// Format (fourcc).
    pub format: u32,
    /// Tiling: the kernel's number for linear, X or Y.
    pub tiling: u32,
    /// The file that created the frame buffer.
    pub(crate) owner: Id,
}

/// The code of a format (fourcc).
pub(crate) const fn fourcc(code: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*code)
}
