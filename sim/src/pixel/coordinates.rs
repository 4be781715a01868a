//! Positions and rectangles on the screen.

/// Fraction bits of positions in pixels.
pub const SUBPIXEL_BITS: u32 = 8;

/// Largest absolute coordinate of edges, in 1/256 pixels: 65536 pixels. The screen space of
/// hardware ends at 16384 pixels from the drawing rectangle's origin, which is itself within 16384
/// pixels (2d p.412, 2a p.64).
pub const MAX_COORDINATE: i32 = 1 << (16 + SUBPIXEL_BITS);

/// A position on the screen in 1/256 pixels, right and down from the upper-left corner of pixel (0,
/// 0).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Point {
    /// To the right.
    pub x: i32,
    /// Downwards.
    pub y: i32,
}

impl Point {
    /// A position in 1/256 pixels, clamped to [`MAX_COORDINATE`].
    #[must_use]
    pub fn new(x: i32, y: i32) -> Point {
        let held = |c: i32| c.clamp(-MAX_COORDINATE, MAX_COORDINATE);
        Point { x: held(x), y: held(y) }
    }

    /// The position in pixels.
    #[must_use]
    pub fn pixels(self) -> [f64; 2] {
        let unit = f64::from(1 << SUBPIXEL_BITS);
        [f64::from(self.x) / unit, f64::from(self.y) / unit]
    }
}

/// Twice the area of the triangle in 1/65536 square pixels: positive when `a`, `b`, `c` go
/// clockwise as seen on the screen.
#[must_use]
pub fn doubled_area(a: Point, b: Point, c: Point) -> i64 {
    let (x1, y1) = (i64::from(b.x) - i64::from(a.x), i64::from(b.y) - i64::from(a.y));
    let (x2, y2) = (i64::from(c.x) - i64::from(a.x), i64::from(c.y) - i64::from(a.y));
    x1 * y2 - x2 * y1
}

/// A rectangle of pixels: from `x0`, `y0` up to but not including `x1`, `y1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rect {
    /// First column.
    pub x0: i32,
    /// First row.
    pub y0: i32,
    /// Column after the last one.
    pub x1: i32,
    /// Row after the last one.
    pub y1: i32,
}

impl Rect {
    /// All possible pixels: surfaces have at most 16384 columns and rows.
    pub const SCREEN: Rect = Rect { x0: 0, y0: 0, x1: 16384, y1: 16384 };

    /// The rectangle whose last column and row are `x1` and `y1`, as in packets. It is empty if the
    /// last column or row is before the first.
    #[must_use]
    pub const fn inclusive(x0: i32, y0: i32, x1: i32, y1: i32) -> Rect {
        Rect { x0, y0, x1: x1.saturating_add(1), y1: y1.saturating_add(1) }
    }

    /// The pixels that are in both rectangles.
    #[inline]
    #[must_use]
    pub fn intersection(self, other: Rect) -> Rect {
        Rect {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// The rectangle moved right by `x` and down by `y` pixels.
    #[must_use]
    pub fn moved(self, x: i32, y: i32) -> Rect {
        Rect {
            x0: self.x0.saturating_add(x),
            y0: self.y0.saturating_add(y),
            x1: self.x1.saturating_add(x),
            y1: self.y1.saturating_add(y),
        }
    }

    /// Number of aligned blocks of 8x8 pixels that the rectangle touches. The rectangle must not be
    /// empty.
    #[must_use]
    pub fn blocks(self) -> u64 {
        let along = |from: i32, to: i32| (((to + 7) >> 3) - (from >> 3)).max(0) as u64;
        along(self.x0, self.x1) * along(self.y0, self.y1)
    }

    /// Number of pixels. The rectangle must not be empty.
    #[must_use]
    pub fn area(self) -> u64 {
        let along = |from: i32, to: i32| i64::from(to) - i64::from(from);
        (along(self.x0, self.x1) * along(self.y0, self.y1)).max(0) as u64
    }

    /// True if the rectangle has no pixels.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// True if the pixel is in the rectangle.
    #[inline]
    #[must_use]
    pub fn contains(self, x: i32, y: i32) -> bool {
        x >= self.x0 && x < self.x1 && y >= self.y0 && y < self.y1
    }
}
