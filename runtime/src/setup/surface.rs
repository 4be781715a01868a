//! Surface states of images and buffers.

use crate::batch::{BatchError, Buffer};
use crate::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateExtent as Extent, SurfaceFormat, SurfaceType, TileMode,
};
use alloc::format;
use alloc::string::String;
use genxml_core::address::Graphics;
use genxml_core::{Address, U, fit};

/// Bits of the width, height and depth in which the number of entries of a buffer is stored (2d
/// p.326-348).
const SPLIT: [u32; 3] = [7, 14, 11];

/// An image or a buffer that kernels access through a binding table.
///
/// ```
/// use genxml::batch::Buffer;
/// use genxml::core::Address;
/// use genxml::gen8::state::{SurfaceFormat, TileMode};
/// use genxml::setup::Surface;
///
/// let image = Surface::image(SurfaceFormat::R8G8B8A8_UNORM, 640, 480);
/// assert_eq!(image.state(Address::ZERO)?.surface_pitch.get(), 2560);
///
/// let small = Buffer::new("small", 0x10000, 4096)?;
/// assert_eq!(
///     image.fits(&small).unwrap_err().to_string(),
///     "the surface of small does not fit: it takes 1228800 bytes, the buffer has 4096"
/// );
/// let tiled = Surface { tiling: TileMode::YMAJOR, pitch: 1000, ..image };
/// assert_eq!(
///     tiled.fits(&small).unwrap_err().to_string(),
///     "the surface of small does not fit: the pitch is 1000 bytes, but must be a multiple of 128"
/// );
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// SURFTYPE_1D, 2D, 3D, CUBE, BUFFER or STRBUF.
    pub kind: SurfaceType,
    /// Format of a pixel or entry.
    pub format: SurfaceFormat,
    /// Width in pixels; for a buffer the number of entries, for a raw buffer that of bytes.
    pub width: u32,
    /// Height in rows; 1 for buffers.
    pub height: u32,
    /// Number of slices: array elements, or the depth of a 3D image.
    pub depth: u32,
    /// Number of mip levels.
    pub levels: u32,
    /// Bytes from one row to the next; for a buffer the size of an entry.
    pub pitch: u32,
    /// Tiling.
    pub tiling: TileMode,
}

impl Surface {
    /// A linear 2D image with one level. The pitch is that of rows without gaps.
    pub const fn image(format: SurfaceFormat, width: u32, height: u32) -> Surface {
        Surface {
            kind: SurfaceType::SURFTYPE_2D,
            format,
            width,
            height,
            depth: 1,
            levels: 1,
            pitch: width.saturating_mul(bytes(format)),
            tiling: TileMode::LINEAR,
        }
    }

    /// A buffer of `entries` entries of a format, for typed messages and the sampler.
    pub const fn buffer(format: SurfaceFormat, entries: u32) -> Surface {
        Surface::entries(SurfaceType::SURFTYPE_BUFFER, format, entries, bytes(format))
    }

    /// A buffer of `size` bytes, for untyped messages and blocks.
    pub const fn raw(size: u32) -> Surface {
        Surface::entries(SurfaceType::SURFTYPE_BUFFER, SurfaceFormat::RAW, size, 1)
    }

    /// A buffer of `entries` structures of `stride` bytes, for untyped messages.
    pub const fn structured(stride: u32, entries: u32) -> Surface {
        Surface::entries(SurfaceType::SURFTYPE_STRBUF, SurfaceFormat::RAW, entries, stride)
    }

    const fn entries(kind: SurfaceType, format: SurfaceFormat, width: u32, pitch: u32) -> Surface {
        let tiling = TileMode::LINEAR;
        Surface { kind, format, width, height: 1, depth: 1, levels: 1, pitch, tiling }
    }

    fn is_buffer(&self) -> bool {
        matches!(self.kind, SurfaceType::SURFTYPE_BUFFER | SurfaceType::SURFTYPE_STRBUF)
    }

    /// Checks the pitch, and that a surface of one level lies inside `buffer`. Images of compressed
    /// formats are refused.
    ///
    /// # Errors
    /// [`BatchError::Surface`].
    pub fn fits(&self, buffer: &Buffer) -> Result<(), BatchError> {
        let wrong = |problem: String| BatchError::Surface {
            buffer: buffer.name().into(),
            problem: problem.into(),
        };
        if !self.is_buffer() && is_compressed(self.format) {
            return Err(wrong(String::from(
                "its format has blocks of texels, which `Surface` does not count: make a \
                 RenderSurfaceState",
            )));
        }
        let (unit, rows) = match self.tiling {
            TileMode::XMAJOR => (512, 8),
            TileMode::YMAJOR => (128, 32),
            TileMode::WMAJOR => (128, 64),
            _ => (1, 1),
        };
        let pitch = self.pitch;
        if !self.is_buffer() && !pitch.is_multiple_of(unit) {
            return Err(wrong(format!(
                "the pitch is {pitch} bytes, but must be a multiple of {unit}"
            )));
        }
        let row = u64::from(self.width) * u64::from(bytes(self.format));
        if !self.is_buffer() && u64::from(pitch) < row {
            return Err(wrong(format!("the pitch is {pitch} bytes, but a row has {row}")));
        }
        let rest = |count: u32| u64::from(count).saturating_sub(1);
        let size = match (self.is_buffer(), self.tiling) {
            (true, _) => u64::from(self.width) * u64::from(pitch),
            // The last row ends with its last pixel.
            (false, TileMode::LINEAR) => rest(self.height) * u64::from(pitch) + row,
            _ => u64::from(self.height).next_multiple_of(rows) * u64::from(pitch),
        };
        let available = buffer.bytes().len() as u64;
        if self.levels <= 1 && self.depth <= 1 && size > available {
            return Err(wrong(format!("it takes {size} bytes, the buffer has {available}")));
        }
        Ok(())
    }

    /// The surface state with the first byte at `address`. Read and write channels are those of the
    /// format.
    ///
    /// # Errors
    /// [`BatchError::Field`] if a number does not fit its field.
    pub fn state(
        &self,
        address: Address<Graphics, 1, 64>,
    ) -> Result<RenderSurfaceState, BatchError> {
        let extent = if self.is_buffer() {
            let [width, height, depth] = split(self.width);
            Extent::Buffer {
                width: U::from_bits(width.into()),
                height: U::from_bits(height.into()),
                depth: U::from_bits(depth.into()),
            }
        } else {
            Extent::Image {
                width: fit!(RenderSurfaceState.extent.Image.width, self.width)?,
                height: fit!(RenderSurfaceState.extent.Image.height, self.height)?,
                depth: fit!(RenderSurfaceState.extent.Image.depth, self.depth)?,
            }
        };
        Ok(RenderSurfaceState {
            surface_type: self.kind,
            surface_array: self.depth > 1 && self.kind != SurfaceType::SURFTYPE_3D,
            surface_format: self.format,
            tile_mode: self.tiling,
            extent,
            surface_pitch: fit!(RenderSurfaceState.surface_pitch, self.pitch)?,
            mip_count_lod: fit!(RenderSurfaceState.mip_count_lod, self.levels.saturating_sub(1))?,
            surface_base_address: address,
            ..RenderSurfaceState::new()
        })
    }
}

/// The number of entries minus one, divided among width, height and depth, lowest bits first.
fn split(entries: u32) -> [u32; 3] {
    let mut rest = entries.saturating_sub(1);
    SPLIT.map(|bits| {
        let part = rest % (1 << bits);
        rest >>= bits;
        part
    })
}

/// Bytes of a pixel, from the table of formats; 1 if the format has no size.
const fn bytes(format: SurfaceFormat) -> u32 {
    let list = SurfaceFormat::INFO.bits;
    let mut at = 0;
    while at < list.len() {
        if list[at].0 == format.bits() {
            return list[at].1 as u32 / 8;
        }
        at += 1;
    }
    1
}

/// True for formats whose elements are blocks of texels.
fn is_compressed(format: SurfaceFormat) -> bool {
    let sets = SurfaceFormat::INFO.sets.iter();
    let within = |(first, last): &(u64, u64)| (*first..=*last).contains(&format.bits());
    sets.filter(|(name, _)| *name == "COMPRESSED").any(|(_, ranges)| ranges.iter().any(within))
}
