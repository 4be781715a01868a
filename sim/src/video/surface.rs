//! Pictures in memory: the surface that MFX_SURFACE_STATE describes, read and written as planes.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::surface::rows::Rows;
use crate::surface::tiling::TileMode;
use genxml::gen8::mfx_common::{
    MfxSurfaceState, MfxSurfaceStateSurfaceFormat as Format, MfxSurfaceStateTileWalk as Walk,
};
use genxml_codecs::jpeg::{InputFormat, OutputFormat};
use genxml_codecs::{Frame, Plane};

/// Number of the surface state that describes the decoded picture and all its references.
const DECODED: usize = 0;
/// Number of the surface state that describes the picture to encode.
pub const SOURCE: usize = 4;

/// Where the samples of pictures are, from the picture's address on. All pictures of a decoder have
/// the same layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The rows of all planes.
    rows: Rows,
    chroma: Chroma,
}

/// Where the chroma samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chroma {
    /// The picture has no chroma samples.
    None,
    /// Cb and Cr alternate in the rows from this row on.
    Interleaved { row: usize },
    /// Each has a plane: byte and row of its first sample.
    Planar([(usize, usize); 2]),
    /// Chroma samples alternate with luma samples in each row. A chroma sample covers two columns.
    Packed {
        /// The first byte is a luma sample (YUY2), otherwise Cb (UYVY).
        luma_first: bool,
    },
}

/// How samples are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// As Surface Format states.
    Surface,
    /// As the state of a JPEG picture states.
    Jpeg(OutputFormat, InputFormat),
}

/// Width and height in samples of the planes of a picture: Y, Cb, Cr.
pub type Sizes = [(usize, usize); 3];

/// The sizes of a 4:2:0 picture of `width` x `height` macroblocks.
pub fn sizes_420(width: usize, height: usize) -> Sizes {
    [(16 * width, 16 * height), (8 * width, 8 * height), (8 * width, 8 * height)]
}

impl Layout {
    /// The layout that the newest MFX_SURFACE_STATE of the decoded picture describes.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if there was none, or if the pitch is not a multiple of the tile's
    /// width; [`Fault::Unimplemented`] for formats that decoders do not write.
    pub fn resolve(exec: &Exec<'_>, arrangement: Arrangement) -> Result<Layout, Fault> {
        Layout::of(exec, DECODED, arrangement)
    }

    /// As [`Layout::resolve`], of the picture that has number `id`.
    ///
    /// # Errors
    /// Those of [`Layout::resolve`].
    pub fn of(exec: &Exec<'_>, id: usize, arrangement: Arrangement) -> Result<Layout, Fault> {
        let latched = &exec.state.latched;
        if latched.get::<MfxSurfaceState>(id).is_none() {
            let why = "no MFX_SURFACE_STATE describes the decoded picture";
            return Err(exec.bad_field("Surface ID", id as u64, why));
        }
        let state: MfxSurfaceState = latched.read(id);
        let tiling = match (state.tiled_surface, state.tile_walk) {
            (false, _) => TileMode::Linear,
            (true, Walk::YMAJOR) => TileMode::Y,
            (true, _) => TileMode::X,
        };
        let pitch = state.surface_pitch.get() as usize;
        if !pitch.is_multiple_of(tiling.pitch_unit() as usize) {
            let why = format!("it is not a multiple of the tile's width, {}", tiling.pitch_unit());
            return Err(exec.bad_field("Surface Pitch", pitch as u64, why));
        }
        let place = |x: u64, y: u64| (x as usize, y as usize);
        let first = place(state.x_offset_for_u_cb.get(), state.y_offset_for_u_cb.get());
        let second = place(state.x_offset_for_v_cr.get(), state.y_offset_for_v_cr.get());
        let interleaved = Chroma::Interleaved { row: first.1 };
        let chroma = match (arrangement, state.surface_format) {
            (Arrangement::Jpeg(OutputFormat::Planar, InputFormat::Yuv400), _) => Chroma::None,
            (Arrangement::Jpeg(OutputFormat::Planar, _), _) => Chroma::Planar([first, second]),
            (Arrangement::Jpeg(OutputFormat::Nv12, _), _) => interleaved,
            (Arrangement::Jpeg(format, _), _) => {
                Chroma::Packed { luma_first: format == OutputFormat::Yuy2 }
            }
            (Arrangement::Surface, Format::Y8_UNORM) => Chroma::None,
            (Arrangement::Surface, Format::PLANAR_420_8) if state.interleave_chroma => interleaved,
            (Arrangement::Surface, format) => {
                let what = format!("decoder output of Surface Format {format:?}");
                return Err(exec.unimplemented(what, "MFX_SURFACE_STATE dw3 31:28"));
            }
        };
        Ok(Layout { rows: Rows { tiling, pitch }, chroma })
    }

    /// Rows that luma has room for before the chroma samples; `None` without chroma.
    pub fn luma_rows(&self) -> Option<usize> {
        match self.chroma {
            Chroma::None => None,
            Chroma::Interleaved { row } => Some(row),
            Chroma::Planar([(_, first), (_, second)]) => Some(first.min(second)),
            Chroma::Packed { .. } => None,
        }
    }

    /// Reads a picture at `address`. Planes that the surface lacks are filled with 128.
    ///
    /// # Errors
    /// The [`PageFault`] of the first byte that cannot be read.
    pub fn read(&self, vm: &Vm<'_>, address: u64, sizes: Sizes) -> Result<Frame, PageFault> {
        if let Chroma::Packed { luma_first } = self.chroma {
            let (width, height) = sizes[0];
            let packed = self.read_rows(vm, address, (0, 0), (2 * width, height))?;
            return Ok(unpack(&packed, luma_first));
        }
        let luma = self.read_rows(vm, address, (0, 0), sizes[0])?;
        let chroma = match self.chroma {
            Chroma::None | Chroma::Packed { .. } => [1, 2].map(|plane| {
                let (width, height) = sizes[plane];
                Plane::new(width, height, 128)
            }),
            Chroma::Planar([first, second]) => [
                self.read_rows(vm, address, first, sizes[1])?,
                self.read_rows(vm, address, second, sizes[2])?,
            ],
            Chroma::Interleaved { row } => {
                let (width, height) = sizes[1];
                let pairs = self.read_rows(vm, address, (0, row), (2 * width, height))?;
                let half = |part: usize| Plane {
                    width,
                    height,
                    data: pairs.data.chunks_exact(2).map(|pair| pair[part]).collect(),
                };
                [half(0), half(1)]
            }
        };
        let [first, second] = chroma;
        Ok(Frame { planes: [luma, first, second] })
    }

    /// Writes a picture to `address`. Planes that the surface lacks are dropped.
    ///
    /// # Errors
    /// The [`PageFault`] of the first byte that cannot be written.
    pub fn write(&self, vm: &mut Vm<'_>, address: u64, frame: &Frame) -> Result<(), PageFault> {
        let [luma, first, second] = &frame.planes;
        if let Chroma::Packed { luma_first } = self.chroma {
            return self.write_rows(vm, address, (0, 0), &pack(frame, luma_first));
        }
        self.write_rows(vm, address, (0, 0), luma)?;
        match self.chroma {
            Chroma::None | Chroma::Packed { .. } => Ok(()),
            Chroma::Planar([at_first, at_second]) => {
                self.write_rows(vm, address, at_first, first)?;
                self.write_rows(vm, address, at_second, second)
            }
            Chroma::Interleaved { row } => {
                let pairs = first.data.iter().zip(&second.data).flat_map(|(cb, cr)| [*cb, *cr]);
                let plane =
                    Plane { width: 2 * first.width, height: first.height, data: pairs.collect() };
                self.write_rows(vm, address, (0, row), &plane)
            }
        }
    }

    /// Reads `width` bytes of each of `height` rows, from byte and row `at` on.
    fn read_rows(
        &self,
        vm: &Vm<'_>,
        address: u64,
        at: (usize, usize),
        (width, height): (usize, usize),
    ) -> Result<Plane, PageFault> {
        let data = self.rows.read(vm, address, at, (width, height))?;
        Ok(Plane { width, height, data })
    }

    /// Writes a plane to the rows from byte and row `at` on.
    fn write_rows(
        &self,
        vm: &mut Vm<'_>,
        address: u64,
        at: (usize, usize),
        plane: &Plane,
    ) -> Result<(), PageFault> {
        self.rows.write(vm, address, at, (plane.width, plane.height), &plane.data)
    }
}

/// The bytes of two columns of a packed row: which are luma samples, Cb and Cr.
fn order(luma_first: bool) -> ([usize; 2], [usize; 2]) {
    if luma_first { ([0, 2], [1, 3]) } else { ([1, 3], [0, 2]) }
}

/// The planes of packed rows.
fn unpack(packed: &Plane, luma_first: bool) -> Frame {
    let width = packed.width / 2;
    let mut frame = Frame::new(width, packed.height, (2, 1), 0);
    let (luma, chroma) = order(luma_first);
    for (index, pair) in packed.data.chunks_exact(4).enumerate() {
        frame.planes[0].data[2 * index..][..2].copy_from_slice(&luma.map(|at| pair[at]));
        for (plane, at) in chroma.into_iter().enumerate() {
            frame.planes[1 + plane].data[index] = pair[at];
        }
    }
    frame
}

/// Packs 4:2:2 planes into rows of interleaved luma and chroma. The luma width must be even.
fn pack(frame: &Frame, luma_first: bool) -> Plane {
    let [samples, first, second] = &frame.planes;
    let mut packed = Plane::new(2 * samples.width, samples.height, 0);
    let (luma, chroma) = order(luma_first);
    for (index, pair) in packed.data.chunks_exact_mut(4).enumerate() {
        for (part, at) in luma.into_iter().enumerate() {
            pair[at] = samples.data[2 * index + part];
        }
        for (plane, at) in [first, second].into_iter().zip(chroma) {
            pair[at] = plane.data.get(index).copied().unwrap_or(128);
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};
    use genxml_codecs::Plane;

    #[test]
    fn packed_rows_come_back() {
        let packed = Plane { width: 8, height: 2, data: (0..16).collect() };
        for luma_first in [false, true] {
            let frame = unpack(&packed, luma_first);
            let luma: Vec<u8> = (u8::from(!luma_first)..16).step_by(2).collect();
            assert_eq!(frame.planes[0].data, luma);
            assert_eq!(
                frame.planes[2].data[..2],
                [3 - u8::from(!luma_first), 7 - u8::from(!luma_first)]
            );
            assert_eq!(pack(&frame, luma_first), packed);
        }
    }
}
