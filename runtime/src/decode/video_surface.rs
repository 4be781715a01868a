//! Where the samples of a picture of the video engines are in memory.

use std::fmt;

/// The samples of a picture of the video engines, in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoSurface {
    /// GPU address of the first luma sample.
    pub address: u64,
    /// Width in luma samples.
    pub width: u32,
    /// Height in luma samples.
    pub height: u32,
    /// Bytes from one row to the next, of all planes.
    pub pitch: u32,
    /// The tiles.
    pub tiles: Tiles,
    /// Where the chroma samples are.
    pub chroma: Chroma,
    /// True if the samples have the full range of JPEG; otherwise black is 16, white is 235.
    pub full_range: bool,
}

/// Where the chroma samples of a picture are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chroma {
    /// The picture has no chroma samples.
    None,
    /// Cb and Cr alternate in the rows from this row on. There is a pair for 2 x 2 luma samples.
    Interleaved {
        /// The first row.
        row: u32,
    },
    /// Each has a plane.
    Planar {
        /// Column and row of the first sample of Cb and of Cr.
        planes: [(u32, u32); 2],
        /// Luma samples for each chroma sample, horizontally.
        across: u32,
        /// Luma samples for each chroma sample, vertically.
        down: u32,
    },
}

/// The tiles of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tiles {
    /// None: row after row.
    Linear,
    /// X-major tiles.
    X,
    /// Y-major tiles.
    Y,
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tiles::Linear => "linear",
            Tiles::X => "X-tiled",
            Tiles::Y => "Y-tiled",
        })
    }
}
