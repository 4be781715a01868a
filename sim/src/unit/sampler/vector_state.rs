//! State of the vector path of the sampler ([`super::vector`]) that a view keeps.

use super::lod::Choice;
use crate::eu::fast::Level;
use crate::surface::TileMode;

/// The values that the vector path computes once for a view.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// The vector instructions of this processor.
    pub(super) level: Level,
    /// The levels that all lanes read, if they do not depend on the level of detail.
    pub(super) fixed: Option<Choice>,
    /// Bytes of an element.
    pub(super) size: i32,
    /// Address of the page of the surface's first byte.
    pub(super) page: u64,
    /// Offset of the surface's first byte in the page.
    pub(super) within: i32,
    /// The state of [`super::plain`]; `None` if the view needs the general vector path.
    pub(super) plain: Option<Plain>,
}

/// State of [`super::plain`].
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// Along U and along V.
    pub(super) axes: [PlainAxis; 2],
    pub(super) mode: TileMode,
    pub(super) pitch: i32,
    /// Offset in bytes of the level's first texel from the start of a row.
    pub(super) left: i32,
    /// First row of the level.
    pub(super) top: i32,
    /// True for the linear filter, false for the nearest texel.
    pub(super) linear: bool,
}

/// How coordinates along one axis are mapped to texels.
#[derive(Clone, Copy, Debug)]
pub struct PlainAxis {
    /// Factor from coordinates to positions. The unit of positions is 1/256 texel.
    pub(super) scale: f64,
    /// Number that is added to a position before the position is rounded down.
    pub(super) rounded: f64,
    /// Number that is added to a position after it is rounded down.
    pub(super) offset: i32,
    /// Mask for texel numbers: all bits, or the size minus 1 if the map repeats.
    pub(super) repeats: i32,
    /// Number of the last texel.
    pub(super) last: i32,
}
