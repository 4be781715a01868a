//! Thin lines: the pixels that a line one pixel wide covers.

use crate::pixel::coordinates::{Point, Rect, SUBPIXEL_BITS};
use crate::pixel::multisample::{PixelLocation, Samples};
use crate::pixel::raster::Quad;

/// A line one pixel wide. It covers the pixels whose diamond it leaves between `a` and `b`
/// (Direct3D 10's rule).
///
/// The corners of the diamond are half a pixel from the pixel's location. The lower edges and the
/// lower corner of the diamond belong to it. For lines steeper than 45 degrees, the right corner
/// belongs to it too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThinLine {
    pub(super) a: Point,
    pub(super) b: Point,
    pub(super) location: PixelLocation,
    /// True if the line covers the pixel in which it ends.
    pub(super) covers_last: bool,
}

/// Half a pixel.
const HALF: i64 = 1 << (SUBPIXEL_BITS - 1);

impl ThinLine {
    /// The pixels that the line can cover.
    #[must_use]
    pub fn pixels(&self) -> Rect {
        let (a, b) = (self.a, self.b);
        let pixel = |p: i32| p >> SUBPIXEL_BITS;
        Rect {
            x0: pixel(a.x.min(b.x)) - 1,
            y0: pixel(a.y.min(b.y)) - 1,
            x1: pixel(a.x.max(b.x)) + 2,
            y1: pixel(a.y.max(b.y)) + 2,
        }
    }

    fn is_y_major(&self) -> bool {
        self.a.x.abs_diff(self.b.x) < self.a.y.abs_diff(self.b.y)
    }

    /// True if the line covers the pixel. Computed without rounding.
    #[must_use]
    pub fn covers(&self, x: i32, y: i32) -> bool {
        let [lx, ly] = self.location.position().map(|c| i64::from(c) << (SUBPIXEL_BITS - 4));
        let (cx, cy) = ((i64::from(x) << SUBPIXEL_BITS) + lx, (i64::from(y) << SUBPIXEL_BITS) + ly);
        // Turned by 45 degrees, the diamond is a square. Its left and upper sides are outside, its
        // other sides inside.
        let turned = |p: Point| {
            let (x, y) = (i64::from(p.x) - cx, i64::from(p.y) - cy);
            [x + y, y - x]
        };
        let (a, b) = (turned(self.a), turned(self.b));
        let right_corner = [HALF, -HALF];
        let within = |p: [i64; 2]| {
            p.iter().all(|&c| c > -HALF && c <= HALF) || (self.is_y_major() && p == right_corner)
        };
        if within(b) {
            return self.covers_last;
        }
        within(a) || crosses(a, b) || (self.is_y_major() && passes(a, b, right_corner))
    }

    /// Calls `each` for the quads with covered pixels in `window`, in the order of rows or columns
    /// along the line's major axis. All samples of a covered pixel are covered.
    pub fn rasterise(&self, samples: &Samples, window: Rect, each: &mut impl FnMut(Quad)) {
        let area = self.pixels().intersection(window).intersection(Rect::SCREEN);
        if area.is_empty() {
            return;
        }
        let (all, steep) = (samples.all(), self.is_y_major());
        // Go along the major axis, two pixels at a time. At each step, the line is near one
        // position on the other axis.
        let (along, across) = if steep {
            ((area.y0, area.y1), (area.x0, area.x1))
        } else {
            ((area.x0, area.x1), (area.y0, area.y1))
        };
        let (a, b) = if steep {
            ([self.a.y, self.a.x], [self.b.y, self.b.x])
        } else {
            ([self.a.x, self.a.y], [self.b.x, self.b.y])
        };
        let across_at = |along: i32| -> i32 {
            let (from, to) = (i64::from(a[0].min(b[0])), i64::from(a[0].max(b[0])));
            let at = (i64::from(along) << SUBPIXEL_BITS).clamp(from, to) - i64::from(a[0]);
            let way = i64::from(b[0]) - i64::from(a[0]);
            let steps = if way == 0 { 0 } else { at * (i64::from(b[1]) - i64::from(a[1])) / way };
            ((i64::from(a[1]) + steps) >> SUBPIXEL_BITS) as i32
        };
        let mut m = along.0 & !1;
        while m < along.1 {
            let (p, q) = (across_at(m), across_at(m + 2));
            let first = (p.min(q) - 1).max(across.0) & !1;
            let behind = (p.max(q) + 2).min(across.1);
            let mut n = first;
            while n < behind {
                let (x, y) = if steep { (n, m) } else { (m, n) };
                let covered = |dx: i32, dy: i32| {
                    let covered = area.contains(x + dx, y + dy) && self.covers(x + dx, y + dy);
                    if covered { all } else { 0 }
                };
                let mask = [covered(0, 0), covered(1, 0), covered(0, 1), covered(1, 1)];
                if mask != [0; 4] {
                    each(Quad { x: x as u32, y: y as u32, mask });
                }
                n += 2;
            }
            m += 2;
        }
    }
}

/// True if the line from `a` to `b` has a point in the square from -HALF (open) to HALF (closed).
fn crosses(a: [i64; 2], b: [i64; 2]) -> bool {
    // The part of the line inside goes from `low` to `high`. Each is a fraction of the line with a
    // positive denominator, and a flag: true if the endpoint itself is inside.
    let (mut low, mut high) = (((0, 1), true), ((1, 1), true));
    for i in 0..2 {
        let d = b[i] - a[i];
        if d == 0 {
            if a[i] <= -HALF || a[i] > HALF {
                return false;
            }
            continue;
        }
        // Positions where the line crosses the open side and the closed side.
        let at = |side: i64| if d > 0 { (side - a[i], d) } else { (a[i] - side, -d) };
        let (open, closed) = ((at(-HALF), false), (at(HALF), true));
        let (enter, leave) = if d > 0 { (open, closed) } else { (closed, open) };
        low = later(low, enter);
        high = earlier(high, leave);
    }
    match compare(low.0, high.0) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => low.1 && high.1,
        std::cmp::Ordering::Greater => false,
    }
}

/// An endpoint of a part of a line: its position as a fraction of the line, and a flag: true if the
/// endpoint itself is inside.
type End = ((i64, i64), bool);

fn compare(a: (i64, i64), b: (i64, i64)) -> std::cmp::Ordering {
    (i128::from(a.0) * i128::from(b.1)).cmp(&(i128::from(b.0) * i128::from(a.1)))
}

fn later(a: End, b: End) -> End {
    match compare(a.0, b.0) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Equal => (a.0, a.1 && b.1),
    }
}

fn earlier(a: End, b: End) -> End {
    match compare(a.0, b.0) {
        std::cmp::Ordering::Greater => b,
        std::cmp::Ordering::Less => a,
        std::cmp::Ordering::Equal => (a.0, a.1 && b.1),
    }
}

/// True if the line from `a` to `b` goes through `p`.
fn passes(a: [i64; 2], b: [i64; 2], p: [i64; 2]) -> bool {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let (px, py) = (p[0] - a[0], p[1] - a[1]);
    let along = px * dx + py * dy;
    px * dy == py * dx && along >= 0 && along <= dx * dx + dy * dy
}
