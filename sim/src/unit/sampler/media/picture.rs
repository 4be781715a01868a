//! Pictures for the media messages: resolved MEDIA_SURFACE_STATEs (2d p.240-247).

use super::super::texels::Pages;
use super::rows::{Origin, Rows};
use crate::assumptions::CHROMA_OF_PICTURES_IS_COSITED;
use crate::mem::{PageFault, Vm};
use crate::surface::BadSurface;
use genxml::gen8::media::{MediaSurfaceState, MediaSurfaceStateSurfaceFormat as Format};

/// Red, green, blue and alpha of a pixel, or Cr, Y, Cb and alpha. The unit is 1/65536: a channel of
/// 8 bits is stored in the upper byte, so that 0xFF00 is its largest value (video.md 11.3).
pub type Pixel = [i32; 4];

/// Number of red or Cr in masks of channels and in pixels.
pub const RED: usize = 0;
/// Number of green or Y.
pub const GREEN: usize = 1;
/// Number of blue or Cb.
pub const BLUE: usize = 2;
/// Number of alpha.
pub const ALPHA: usize = 3;

/// Alpha of formats without alpha.
const OPAQUE: i32 = 0xff00;

/// How pixels of a plane are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stored {
    /// Bytes: number of bytes from pixel to pixel, and the byte of each channel that is present.
    Bytes(u8, [Option<u8>; 4]),
    /// One byte per channel, each in a plane of its own: Cr and Cb.
    Apart([Origin; 2]),
    /// R10G10B10A2.
    Tens,
    /// Four channels of 16 bits.
    Words,
}

/// Pixels of which all channels are stored at the same positions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plane {
    /// Width and height in pixels.
    pub size: [i32; 2],
    /// Number of pixels of the picture for each pixel of the plane, in each direction.
    pub every: [f64; 2],
    /// Position of the plane's first pixel, in pixels of the picture.
    pub start: [f64; 2],
    /// Mask of the channels of the plane.
    pub channels: u8,
    stored: Stored,
    origin: Origin,
}

impl Plane {
    /// Number of bytes of a pixel.
    pub fn bytes(&self) -> u64 {
        match self.stored {
            Stored::Bytes(..) => self.channels.count_ones().into(),
            Stored::Apart(_) => 2,
            Stored::Tens => 4,
            Stored::Words => 8,
        }
    }
}

/// A resolved MEDIA_SURFACE_STATE.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Picture {
    /// Width and height in pixels. If lines are skipped, the height of the field.
    pub size: [i32; 2],
    /// True if a channel is luma.
    pub has_luma: bool,
    rows: Rows,
    planes: [Option<Plane>; 2],
}

impl Picture {
    /// Resolves the fields of a MEDIA_SURFACE_STATE for the adaptive video scaler.
    ///
    /// # Errors
    /// [`BadSurface`] with the first field that has an invalid value.
    pub fn resolve(state: &MediaSurfaceState) -> Result<Picture, BadSurface> {
        let rows = Rows::resolve(state)?;
        let size = [state.width.get() as i32, state.height.get() as i32];
        let format = state.surface_format;
        let Some(planes) = planes(state, size) else {
            let why = "the adaptive video scaler does not support the format";
            return Err(BadSurface { field: "Surface Format", value: format.bits(), why });
        };
        let has_luma = !matches!(
            format,
            Format::R8G8B8A8_UNORM
                | Format::B8G8R8A8_UNORM
                | Format::R10G10B10A2_UNORM
                | Format::R16G16B16A16
                | Format::R8_UNORM_CR_CB
                | Format::R8B8_UNORM_CR_CB
        );
        Ok(Picture { size, has_luma, rows, planes })
    }

    /// The planes.
    pub fn planes(&self) -> impl Iterator<Item = &Plane> {
        self.planes.iter().flatten()
    }

    /// The pixel in column `x` of row `y` of a plane. Positions outside of the plane are clamped or
    /// mirrored. Channels that the plane lacks are 0.
    ///
    /// # Errors
    /// A page fault.
    #[inline(always)]
    pub fn pixel(
        &self,
        pages: &mut Pages<'_, '_>,
        plane: &Plane,
        x: i32,
        y: i32,
    ) -> Result<Pixel, PageFault> {
        let rows = &self.rows;
        let (x, y) = (rows.inside(x, plane.size[0]), rows.inside(y, plane.size[1]));
        let mut pixel = [0; 4];
        match plane.stored {
            Stored::Bytes(size, places) => {
                let first = i64::from(x) * i64::from(size);
                for (channel, place) in pixel.iter_mut().zip(places) {
                    if let Some(place) = place {
                        let at = rows.address(plane.origin, first + i64::from(place), y);
                        let [byte] = pages.bytes(at)?;
                        *channel = i32::from(byte) << 8;
                    }
                }
            }
            Stored::Apart(origins) => {
                for (channel, origin) in [RED, BLUE].into_iter().zip(origins) {
                    let [byte] = pages.bytes(rows.address(origin, x.into(), y))?;
                    pixel[channel] = i32::from(byte) << 8;
                }
            }
            Stored::Tens => {
                let at = rows.address(plane.origin, 4 * i64::from(x), y);
                let dword = u32::from_le_bytes(pages.bytes(at)?);
                pixel = std::array::from_fn(|n| (dword >> (10 * n) & 0x3ff) as i32 * 64);
                // 0 to 3 become 0 to 0xFFC0, in the steps of a channel of 10 bits.
                pixel[ALPHA] = (dword >> 30) as i32 * 341 * 64;
            }
            Stored::Words => {
                let at = rows.address(plane.origin, 8 * i64::from(x), y);
                let words = u64::from_le_bytes(pages.bytes(at)?);
                pixel = std::array::from_fn(|n| (words >> (16 * n) & 0xffff) as i32);
            }
        }
        Ok(pixel)
    }

    /// Copies pixels of a plane whose pixels have whole bytes: a row of pixels from column `x` of
    /// row `y` on. Positions outside of the plane repeat the nearest pixel. Returns `false` if the
    /// channels of the plane are not stored together.
    ///
    /// # Errors
    /// A page fault.
    pub fn copy(
        &self,
        vm: &Vm<'_>,
        plane: &Plane,
        [x, y]: [i32; 2],
        out: &mut [u8],
    ) -> Result<bool, PageFault> {
        let Stored::Bytes(size, _) = plane.stored else { return Ok(false) };
        let size = usize::from(size);
        let row = y.clamp(0, plane.size[1] - 1);
        let count = (out.len() / size) as i32;
        let first = x.saturating_neg().clamp(0, count);
        let end = plane.size[0].saturating_sub(x).clamp(first, count);
        let at = i64::from(x.saturating_add(first)) * size as i64;
        let inside = first as usize * size..end as usize * size;
        self.rows.read(vm, plane.origin, at, row, &mut out[inside.clone()])?;
        // Outside of the plane, each byte repeats that of the nearest pixel.
        let nearest = |right: bool| if right { plane.size[0] - 1 } else { 0 };
        for (outside, right) in [(0..inside.start, false), (inside.end..out.len(), true)] {
            if outside.is_empty() {
                continue;
            }
            let mut pixel = [0; 8];
            let pixel = &mut pixel[..size];
            let at = i64::from(nearest(right)) * size as i64;
            vm.read(self.rows.address(plane.origin, at, row), pixel)?;
            for bytes in out[outside].chunks_mut(size) {
                bytes.copy_from_slice(&pixel[..bytes.len()]);
            }
        }
        Ok(true)
    }

    /// The value of a channel that no plane has (003:3550-3640).
    pub fn absent(channel: usize) -> i32 {
        if channel == ALPHA { OPAQUE } else { 0 }
    }
}

/// Position of the first pixel of chroma, in pixels of luma: `down` rows below the first row.
fn cosited(down: f64) -> [f64; 2] {
    [if CHROMA_OF_PICTURES_IS_COSITED { 0.0 } else { 0.5 }, down]
}

/// Mask of the channels that are stored.
fn channels(stored: Stored) -> u8 {
    match stored {
        Stored::Bytes(_, places) => {
            (0..4).fold(0, |mask, n| mask | u8::from(places[n].is_some()) << n)
        }
        Stored::Apart(_) => 1 << RED | 1 << BLUE,
        Stored::Tens | Stored::Words => 0xf,
    }
}

/// The planes of a format; `None` if the scaler does not support it.
fn planes(state: &MediaSurfaceState, size: [i32; 2]) -> Option<[Option<Plane>; 2]> {
    let offset = [state.x_offset_for_u_cb.get() as i64, state.y_offset_for_u_cb.get() as i64];
    let full = |stored, bytes: i64| Plane {
        size,
        every: [1.0; 2],
        start: [0.0; 2],
        channels: channels(stored),
        stored,
        // For formats without chroma planes, these fields are the offset of the surface.
        origin: Origin { left: offset[0] * bytes, top: offset[1] },
    };
    let bytes = |size: u8, places| [Some(full(Stored::Bytes(size, places), size.into())), None];
    // Two pixels share their chroma. Bytes of luma, Cb and Cr (003:3634).
    let packed = |luma: u8, cb: u8, cr: u8| {
        let luma = full(Stored::Bytes(2, [None, Some(luma), None, None]), 2);
        let stored = Stored::Bytes(4, [Some(cr), None, Some(cb), None]);
        let chroma = Plane {
            size: [(size[0] / 2).max(1), size[1]],
            every: [2.0, 1.0],
            start: cosited(0.0),
            ..full(stored, 2)
        };
        [Some(luma), Some(chroma)]
    };
    Some(match state.surface_format {
        Format::YCRCB_NORMAL => packed(0, 1, 3),
        Format::YCRCB_SWAPUVY => packed(1, 2, 0),
        Format::YCRCB_SWAPUV => packed(0, 3, 1),
        Format::YCRCB_SWAPY => packed(1, 0, 2),
        Format::PLANAR_420_8 => {
            let luma = Plane {
                origin: Origin::default(),
                ..full(Stored::Bytes(1, [None, Some(0), None, None]), 1)
            };
            let cb = Origin { left: offset[0], top: offset[1] };
            let cr = Origin {
                left: state.x_offset_for_v_cr.get() as i64,
                top: state.y_offset_for_v_cr.get() as i64,
            };
            let stored = match state.interleave_chroma {
                true => Stored::Bytes(2, [Some(1), None, Some(0), None]),
                false => Stored::Apart([cr, cb]),
            };
            let chroma = Plane {
                size: size.map(|extent| (extent / 2).max(1)),
                every: [2.0; 2],
                start: cosited(state.cr_v_cb_u_pixel_offset_v_direction.get()),
                channels: channels(stored),
                stored,
                origin: if state.interleave_chroma { cb } else { Origin::default() },
            };
            [Some(luma), Some(chroma)]
        }
        Format::R10G10B10A2_UNORM => [Some(full(Stored::Tens, 4)), None],
        Format::R8G8B8A8_UNORM => bytes(4, [Some(0), Some(1), Some(2), Some(3)]),
        Format::R8B8_UNORM_CR_CB => bytes(2, [Some(0), None, Some(1), None]),
        Format::R8_UNORM_CR_CB => bytes(1, [Some(0), None, None, None]),
        Format::Y8_UNORM => bytes(1, [None, Some(0), None, None]),
        // The name begins with the highest byte: V is the lowest one.
        Format::A8Y8U8V8_UNORM => bytes(4, [Some(0), Some(2), Some(1), Some(3)]),
        Format::B8G8R8A8_UNORM => bytes(4, [Some(2), Some(1), Some(0), Some(3)]),
        Format::R16G16B16A16 => [Some(full(Stored::Words, 8)), None],
        _ => return None,
    })
}
