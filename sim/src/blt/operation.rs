//! A resolved blit: each pixel of a rectangle is set to a function of source, pattern and
//! destination ([`Operation::run`]).

use super::bitmap::Bitmap;
use super::depth::Depth;
use super::key::Key;
use super::pattern::Pattern;
use super::plane::Plane;
use super::rop::Rop;

/// Columns and rows of a surface, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rectangle {
    /// First column.
    pub left: i64,
    /// First row.
    pub top: i64,
    /// Column after the last.
    pub right: i64,
    /// Row after the last.
    pub bottom: i64,
}

impl Rectangle {
    /// Number of columns; zero or negative if the rectangle is empty.
    pub const fn width(&self) -> i64 {
        self.right - self.left
    }

    /// Number of rows; zero or negative if the rectangle is empty.
    pub const fn height(&self) -> i64 {
        self.bottom - self.top
    }

    /// True if the rectangle contains no pixel.
    pub const fn is_empty(&self) -> bool {
        self.width() <= 0 || self.height() <= 0
    }

    /// The part that lies in both rectangles.
    #[must_use]
    pub fn intersection(&self, other: &Rectangle) -> Rectangle {
        Rectangle {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }
}

/// The source operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The operation has no source.
    None,
    /// Pixels of a surface, from column `x` of row `y` on.
    Color {
        /// The surface.
        plane: Plane,
        /// Column of the surface for the rectangle's first column.
        x: i64,
        /// Row of the surface for the rectangle's first row.
        y: i64,
    },
    /// Bits that become pixels. The first bit is for the rectangle's upper left corner.
    Mono(Bitmap),
}

/// A blit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Layout of pixels.
    pub depth: Depth,
    /// The raster operation.
    pub rop: Rop,
    /// Mask of the bits of a pixel that are written. If a pixel has fewer than 32 bits, all bits of
    /// the mask are set.
    pub write_mask: u32,
    /// The destination surface.
    pub destination: Plane,
    /// The rectangle of the destination that is drawn, before clipping.
    pub rectangle: Rectangle,
    /// The clip rectangle, if clipping is enabled. Pixels outside this rectangle are not written.
    pub clip: Option<Rectangle>,
    /// The source.
    pub source: Source,
    /// The pattern, if there is one.
    pub pattern: Option<Pattern>,
    /// Colour transparency.
    pub key: Option<Key>,
}

/// The operands that an operation uses.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    pub(super) source: bool,
    pub(super) pattern: bool,
    pub(super) destination: bool,
    /// True if some bits of the destination may have to stay unchanged.
    pub(super) mask: bool,
}

impl Operation {
    /// True if there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.part().is_empty()
    }

    /// The part of the rectangle that lies inside the clip rectangle.
    pub(super) fn part(&self) -> Rectangle {
        self.clip.map_or(self.rectangle, |clip| self.rectangle.intersection(&clip))
    }

    /// Number of bytes of a row of `part`.
    pub(super) fn bytes(&self, part: &Rectangle) -> usize {
        part.width() as usize * self.depth.bytes()
    }

    /// The operands that the operation uses.
    pub(super) fn needs(&self) -> Needs {
        let bitmap = matches!(&self.source, Source::Mono(bitmap) if bitmap.expansion.transparent);
        let pattern = self.pattern.is_some_and(|pattern| pattern.is_transparent());
        let keyed =
            |by_destination| self.key.is_some_and(|key| key.by_destination == by_destination);
        let mask = self.write_mask != !0 || bitmap || pattern || self.key.is_some();
        Needs {
            source: self.rop.uses_source() || bitmap || keyed(false) && self.source != Source::None,
            pattern: self.rop.uses_pattern()
                || pattern
                || keyed(false) && self.source == Source::None,
            destination: self.rop.uses_destination() || mask,
            mask,
        }
    }
}
