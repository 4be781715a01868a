//! What the packets state of a picture and of a scan.

use crate::{Frame, Plane};
use std::fmt;

/// Largest size of a picture, in blocks: the fields of `MFX_JPEG_PIC_STATE` have 13 bits.
const MAX_BLOCKS: u32 = 1 << 13;

/// Sampling factors of the components (T.81 A.1.1), by the values of the field Input Format YUV of
/// `MFX_JPEG_PIC_STATE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InputFormat {
    /// One component.
    #[default]
    Yuv400,
    /// Chroma has half the columns and half the rows.
    Yuv420,
    /// Chroma has half the columns; a coded unit has 2 x 1 blocks of luma.
    Yuv422H2Y,
    /// All components have the same size.
    Yuv444,
    /// Chroma has a quarter of the columns.
    Yuv411,
    /// Chroma has half the rows; a coded unit has 1 x 2 blocks of luma.
    Yuv422V2Y,
    /// Chroma has half the columns; a coded unit has 2 x 2 blocks of luma and 1 x 2 of chroma.
    Yuv422H4Y,
    /// Chroma has half the rows; a coded unit has 2 x 2 blocks of luma and 2 x 1 of chroma.
    Yuv422V4Y,
}

impl InputFormat {
    /// The format of a value of the field, of which the three low bits count.
    pub fn from_bits(bits: u8) -> Self {
        match bits & 7 {
            0 => InputFormat::Yuv400,
            1 => InputFormat::Yuv420,
            2 => InputFormat::Yuv422H2Y,
            3 => InputFormat::Yuv444,
            4 => InputFormat::Yuv411,
            5 => InputFormat::Yuv422V2Y,
            6 => InputFormat::Yuv422H4Y,
            _ => InputFormat::Yuv422V4Y,
        }
    }

    /// The number of components: 1 or 3.
    pub fn components(self) -> usize {
        if self == InputFormat::Yuv400 { 1 } else { 3 }
    }

    /// Columns and rows of blocks of `component` in a coded unit of an interleaved scan.
    pub fn sampling(self, component: usize) -> (u32, u32) {
        let (luma, chroma) = match self {
            InputFormat::Yuv400 | InputFormat::Yuv444 => ((1, 1), (1, 1)),
            InputFormat::Yuv420 => ((2, 2), (1, 1)),
            InputFormat::Yuv422H2Y => ((2, 1), (1, 1)),
            InputFormat::Yuv411 => ((4, 1), (1, 1)),
            InputFormat::Yuv422V2Y => ((1, 2), (1, 1)),
            InputFormat::Yuv422H4Y => ((2, 2), (1, 2)),
            InputFormat::Yuv422V4Y => ((2, 2), (2, 1)),
        };
        if component == 0 { luma } else { chroma }
    }

    /// Columns and rows of luma samples for a sample of chroma.
    pub fn subsampling(self) -> (u32, u32) {
        let (luma, chroma) = (self.sampling(0), self.sampling(1));
        (luma.0 / chroma.0, luma.1 / chroma.1)
    }
}

/// How the decoded picture is turned, by the values of the field Rotation of `MFX_JPEG_PIC_STATE`.
/// Only with [`OutputFormat::Planar`].
///
/// The whole picture is turned, with the samples that pad it to whole blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rotation {
    /// As coded.
    #[default]
    None,
    /// By 90 degrees clockwise.
    Clockwise90,
    /// By 270 degrees clockwise, which is 90 degrees counter-clockwise.
    Clockwise270,
    /// By 180 degrees.
    Half,
}

impl Rotation {
    /// The rotation of a value of the field, of which the two low bits count.
    pub fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Rotation::None,
            1 => Rotation::Clockwise90,
            2 => Rotation::Clockwise270,
            _ => Rotation::Half,
        }
    }

    /// True if rows of the coded picture become columns.
    pub fn transposes(self) -> bool {
        matches!(self, Rotation::Clockwise90 | Rotation::Clockwise270)
    }
}

/// Layout of the surface, by the values of the field Output Format YUV of `MFX_JPEG_PIC_STATE`. The
/// decoder writes planes whatever the layout; the engine packs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// Three planes.
    #[default]
    Planar,
    /// A plane of luma, and a plane of Cb and Cr in turns; chroma 4:2:0.
    Nv12,
    /// Cb, Y, Cr, Y; chroma 4:2:2.
    Uyvy,
    /// Y, Cb, Y, Cr; chroma 4:2:2.
    Yuy2,
}

impl OutputFormat {
    /// The layout of a value of the field. `None` if the value is reserved.
    pub fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => OutputFormat::Planar,
            1 => OutputFormat::Nv12,
            2 => OutputFormat::Uyvy,
            3 => OutputFormat::Yuy2,
            _ => return None,
        })
    }
}

/// A table of DC codes and a table of AC codes (T.81 B.2.4.2), as `MFX_JPEG_HUFF_TABLE_STATE` has
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HuffmanTables {
    /// Number of DC codes of each length, from one bit on.
    pub dc_counts: [u8; 12],
    /// Values of the DC codes, shortest code first: sizes of differences in bits.
    pub dc_values: [u8; 12],
    /// Number of AC codes of each length, from one bit on.
    pub ac_counts: [u8; 16],
    /// Values of the AC codes, shortest code first: a run of zeros in the four high bits, and the
    /// size of a coefficient in bits.
    pub ac_values: [u8; 162],
}

/// What the packets state of a picture.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Sampling factors.
    pub format: InputFormat,
    /// Width of the coded picture in blocks of 8 luma samples, 1 to 8192.
    pub width_in_blocks: u32,
    /// Height of the coded picture in blocks of 8 luma samples, 1 to 8192.
    pub height_in_blocks: u32,
    /// Width and height of the coded picture in luma samples, if the packets state them. They
    /// matter for scans of one component only: such a scan has no blocks for padding to whole coded
    /// units of the picture (T.81 A.2.2), but a driver may include the padding in the size in
    /// blocks.
    pub picture: Option<(u32, u32)>,
    /// How the picture is turned.
    pub rotation: Rotation,
    /// Huffman tables: the first for component 0, the second for the others. A component whose
    /// tables are missing uses the other ones.
    pub huffman: [Option<HuffmanTables>; 2],
    /// Quantiser matrix of each component in raster order, as in the packets: if the rotation is
    /// by 90 or 270 degrees, drivers send the matrix with rows and columns exchanged.
    pub quantisers: [[u8; 64]; 3],
}

impl Parameters {
    /// Checks the size.
    pub fn check(&self) -> Result<(), Error> {
        let (width, height) = (self.width_in_blocks, self.height_in_blocks);
        if [width, height].iter().all(|size| (1..=MAX_BLOCKS).contains(size)) {
            Ok(())
        } else {
            Err(Error::Size { width, height })
        }
    }

    /// Columns and rows of coded units of an interleaved scan.
    pub fn units(&self) -> (u32, u32) {
        let (across, down) = self.format.sampling(0);
        (self.width_in_blocks.div_ceil(across), self.height_in_blocks.div_ceil(down))
    }

    /// Columns and rows of blocks of `component` in the coded picture.
    pub fn blocks(&self, component: usize) -> (u32, u32) {
        let (luma, own) = (self.format.sampling(0), self.format.sampling(component));
        (
            (self.width_in_blocks * own.0).div_ceil(luma.0),
            (self.height_in_blocks * own.1).div_ceil(luma.1),
        )
    }

    /// Width and height in samples of the planes, after the rotation. The planes of components that
    /// the picture lacks are empty.
    pub fn sizes(&self) -> Result<[(usize, usize); 3], Error> {
        self.check()?;
        let mut sizes = [(0, 0); 3];
        for (component, size) in sizes.iter_mut().enumerate().take(self.format.components()) {
            let (width, height) = self.blocks(component);
            let samples = (8 * width as usize, 8 * height as usize);
            *size = if self.rotation.transposes() { (samples.1, samples.0) } else { samples };
        }
        Ok(sizes)
    }

    /// A frame of these sizes. All samples are `value`.
    pub fn frame(&self, value: u8) -> Result<Frame, Error> {
        let planes = self.sizes()?.map(|(width, height)| Plane::new(width, height, value));
        Ok(Frame { planes })
    }
}

/// What `MFD_JPEG_BSD_OBJECT` states of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Number of coded units; the field has 26 bits.
    pub mcu_count: u32,
    /// Coded units between restart markers; 0 if there are no markers.
    pub restart_interval: u16,
    /// A coded unit has blocks of several components. Otherwise, it is a block of one component.
    pub interleaved: bool,
    /// The components, a bit each: Y is bit 0.
    pub components: u8,
    /// Column of the first coded unit, in coded units.
    pub horizontal: u32,
    /// Row of the first coded unit, in coded units.
    pub vertical: u32,
}

/// Why parameters cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The size of the picture is out of its range.
    Size {
        /// Width in blocks.
        width: u32,
        /// Height in blocks.
        height: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Size { width, height } => write!(
                f,
                "the size of the picture is {width} x {height} blocks; both must be 1 to \
                 {MAX_BLOCKS}"
            ),
        }
    }
}

impl std::error::Error for Error {}
