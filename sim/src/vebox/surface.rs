//! Surfaces that VEBOX_SURFACE_STATE describes, read and written.

use super::camera::pattern::Pattern;
use super::pack::{Bytes, Format};
use super::picture::Picture;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use crate::mem::PageFault;
use crate::surface::rows::Rows;
use crate::surface::tiling::TileMode;
use genxml::gen8::vebox::{
    VeboxSurfaceState, VeboxSurfaceStateBayerPatternFormat as Samples,
    VeboxSurfaceStateSurfaceFormat as F, VeboxSurfaceStateTileWalk as Walk,
};
use genxml_codecs::Frame;
use std::ops::Range;

/// The surfaces that a VEBOX_SURFACE_STATE describes: all of them have the same size and format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The arrangement of samples.
    pub format: Format,
    /// Surface Format.
    pub number: u64,
    /// Pixels in a row.
    pub width: usize,
    /// Rows of pixels.
    pub height: usize,
    rows: Rows,
    /// Pitch of planes 1 and 2.
    chroma_pitch: usize,
    /// Byte and row of the start of planes 1 and 2.
    chroma: [(usize, usize); 2],
}

/// Which surfaces a state describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The inputs and the denoised output.
    Input = 0,
    /// All other outputs.
    Output = 1,
}

impl Surface {
    /// The surface that the newest VEBOX_SURFACE_STATE for `role` describes.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if there was no such packet, or if its fields contradict each other.
    pub fn resolve(exec: &Exec<'_>, role: Role) -> Result<Surface, Fault> {
        let Some(dwords) = exec.state.latched.get::<VeboxSurfaceState<'_>>(role as usize) else {
            let why = "no VEBOX_SURFACE_STATE describes these surfaces";
            return Err(exec.bad_field("Surface Identification", role as u64, why));
        };
        let state = VeboxSurfaceState::unpack_lossy(dwords);
        let (width, height) = (state.width.get() as usize, state.height.get() as usize);
        let format = format(exec, &state, role)?;
        if matches!(format, Format::Pairs { .. }) && width % 2 == 1 {
            let why = "two pixels share a sample of chroma, so it must be even";
            return Err(exec.bad_field("Width", width as u64, why));
        }
        let tiling = match (state.tiled_surface, state.tile_walk) {
            (false, _) => TileMode::Linear,
            (true, Walk::TILEWALK_YMAJOR) => TileMode::Y,
            (true, _) => TileMode::X,
        };
        let pitch = state.surface_pitch.get() as usize;
        let bad = |why: String| exec.bad_field("Surface Pitch", pitch as u64, why);
        if !pitch.is_multiple_of(tiling.pitch_unit() as usize) {
            let unit = tiling.pitch_unit();
            return Err(bad(format!("it is not a multiple of the tile's width, {unit}")));
        }
        let half = state.half_pitch_for_chroma;
        if half && tiling != TileMode::Linear {
            let why = "tiles have one pitch for all planes";
            return Err(exec.bad_field("Half Pitch for Chroma", 1, why));
        }
        let chroma_pitch = if half { pitch / 2 } else { pitch };
        let widths = format.planes(width, height).map(|(bytes, _)| bytes);
        if widths[0] > pitch {
            return Err(bad(format!("a row of {width} pixels needs {} bytes", widths[0])));
        }
        let needed = widths[1].max(widths[2]);
        if needed > chroma_pitch {
            let why = format!("a row of chroma needs {needed} bytes, its pitch is {chroma_pitch}");
            return Err(bad(why));
        }
        let place = |x: u64, y: u64| (x as usize, y as usize);
        let chroma = [
            place(state.x_offset_for_u.get(), state.y_offset_for_u.get()),
            place(state.x_offset_for_v.get(), state.y_offset_for_v.get()),
        ];
        let rows = Rows { tiling, pitch };
        let number = state.surface_format.bits();
        Ok(Surface { format, number, width, height, rows, chroma_pitch, chroma })
    }

    /// The part of the surface that has the size of `input`.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the surface is smaller.
    pub fn sized(self, exec: &Exec<'_>, input: &Surface) -> Result<Surface, Fault> {
        let Surface { width, height, .. } = *input;
        if self.width < width || self.height < height {
            let (field, value) = match self.width < width {
                true => ("Width", self.width),
                false => ("Height", self.height),
            };
            let why = format!("the input has {width}x{height} pixels, which do not fit");
            return Err(exec.bad_field(field, value as u64, why));
        }
        if matches!(self.format, Format::Pairs { .. }) && width % 2 == 1 {
            let why = "pixels of the output share chroma in pairs, so it must be even";
            return Err(exec.bad_field("Width", width as u64, why));
        }
        Ok(Surface { width, height, ..self })
    }

    /// Reads the bytes of the surface at `address`; `name` is that of the surface.
    fn bytes(&self, exec: &mut Exec<'_>, address: u64, name: &'static str) -> Result<Bytes, Fault> {
        exec.spend(watchdog::PIXEL * (self.width * self.height) as u64)?;
        let sizes = self.format.planes(self.width, self.height);
        let mut bytes = Bytes::default();
        for (plane, size) in sizes.into_iter().enumerate().filter(|(_, size)| size.0 > 0) {
            let (rows, address, at) = self.plane(address, plane);
            let read = rows.read(&exec.vm, address, at, size);
            bytes[plane] = read.map_err(|fault| exec.page(fault, name))?;
            exec.stats.bytes_read += bytes[plane].len() as u64;
        }
        Ok(bytes)
    }

    /// Reads a surface of a format of video ([`Format::is_video`]).
    ///
    /// # Errors
    /// [`Fault::Page`] if it is not mapped; [`Fault::Hang`] if the budget is used up.
    pub fn read_frame(
        &self,
        exec: &mut Exec<'_>,
        address: u64,
        name: &'static str,
    ) -> Result<Frame, Fault> {
        let bytes = self.bytes(exec, address, name)?;
        Ok(self.format.frame(bytes, self.width, self.height))
    }

    /// Reads a surface.
    ///
    /// # Errors
    /// [`Fault::Page`] if it is not mapped; [`Fault::Hang`] if the budget is used up.
    pub fn read_picture(
        &self,
        exec: &mut Exec<'_>,
        address: u64,
        name: &'static str,
    ) -> Result<Picture, Fault> {
        let bytes = self.bytes(exec, address, name)?;
        Ok(self.format.picture(bytes, self.width, self.height))
    }

    /// Writes the pixels in `columns`. `bytes` holds the whole surface.
    ///
    /// # Errors
    /// [`Fault::Page`] if it is not mapped.
    pub fn write(
        &self,
        exec: &mut Exec<'_>,
        address: u64,
        bytes: &Bytes,
        columns: &Range<usize>,
        name: &'static str,
    ) -> Result<(), Fault> {
        let sizes = self.format.planes(self.width, self.height);
        for (plane, (width, height)) in sizes.into_iter().enumerate().filter(|(_, size)| size.0 > 0)
        {
            let start = self.format.column(plane, columns.start);
            let range = start..self.format.column(plane, columns.end);
            let whole = range.start == 0 && range.end == width;
            let cut;
            let data = if whole {
                &bytes[plane]
            } else {
                cut = bytes[plane]
                    .chunks_exact(width)
                    .flat_map(|row| row[range.clone()].iter().copied())
                    .collect();
                &cut
            };
            let (rows, address, (left, top)) = self.plane(address, plane);
            let size = (range.len(), height);
            let written: Result<(), PageFault> =
                rows.write(&mut exec.vm, address, (left + range.start, top), size, data);
            written.map_err(|fault| exec.page(fault, name))?;
            exec.stats.bytes_written += data.len() as u64;
        }
        exec.stats.pixels += (columns.len() * self.height) as u64;
        Ok(())
    }

    /// Rows, address and position of the first byte of a plane.
    fn plane(&self, address: u64, plane: usize) -> (Rows, u64, (usize, usize)) {
        let Some(index) = plane.checked_sub(1) else { return (self.rows, address, (0, 0)) };
        let (left, top) = self.chroma[index];
        if self.chroma_pitch == self.rows.pitch {
            return (self.rows, address, (left, top));
        }
        let rows = Rows { pitch: self.chroma_pitch, ..self.rows };
        let start = address.wrapping_add((top * self.rows.pitch) as u64);
        (rows, start, (left, 0))
    }
}

/// The format of a surface.
fn format(exec: &Exec<'_>, state: &VeboxSurfaceState<'_>, role: Role) -> Result<Format, Fault> {
    let interleaved = state.interleave_chroma;
    let planar = |down, bytes| Format::Planar { down, interleaved, bytes };
    Ok(match state.surface_format {
        F::YCRCB_NORMAL => Format::Pairs { luma: [0, 2], u: 1, v: 3, bytes: 1 },
        F::YCRCB_SWAPUVY => Format::Pairs { luma: [1, 3], u: 2, v: 0, bytes: 1 },
        F::YCRCB_SWAPUV => Format::Pairs { luma: [0, 2], u: 3, v: 1, bytes: 1 },
        F::YCRCB_SWAPY => Format::Pairs { luma: [1, 3], u: 0, v: 2, bytes: 1 },
        F::PLANAR_420_8 => planar(2, 1),
        F::PLANAR_420_16 => planar(2, 2),
        F::PLANAR_422_16 => planar(1, 2),
        F::PACKED_422_16 => Format::Pairs { luma: [0, 2], u: 1, v: 3, bytes: 2 },
        F::PACKED_444A_8 => Format::Pixels { order: [2, 1, 0, 3], bytes: 1 },
        F::PACKED_444_16 => Format::Pixels { order: [1, 0, 2, 3], bytes: 2 },
        F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB => Format::Pixels { order: [0, 1, 2, 3], bytes: 1 },
        F::R16G16B16A16 => Format::Pixels { order: [0, 1, 2, 3], bytes: 2 },
        F::Y8_UNORM => Format::Luma,
        F::R10G10B10A2_UNORM_R10G10B10A2_UNORM_SRGB if role == Role::Output => Format::Tens,
        F::BAYER_PATTERN if role == Role::Input => Format::Bayer {
            pattern: Pattern::new(state.bayer_pattern_offset),
            bytes: match state.bayer_pattern_format {
                Samples::_8_BIT_INPUT_AT_A_8_BIT_STRIDE => 1,
                _ => 2,
            },
        },
        other => {
            let why = match role {
                Role::Input => "no input has this format",
                Role::Output => "no output has this format",
            };
            return Err(exec.bad_field("Surface Format", other.bits(), why));
        }
    })
}
