//! Integer search (IME): the best positions of all partitions in a window of a reference.
//!
//! A window is searched in units of 4x4 positions. The search path lists the units; the adaptive
//! search continues with units next to the best one (IVB vol 4 part 2; digests/video.md 10.7).

use super::costs::Costs;
use super::distortion::{Transform, distortions};
use super::geometry::{Luma, PARTITIONS, Vector};
use crate::assumptions::ADAPTIVE_SEARCH_CONTINUES_WITH_FIRST_NEIGHBOUR;

/// Largest width and height of a window in pixels.
pub const WINDOW: usize = 64;
/// Width and height of a search unit in positions.
const UNIT: usize = 4;
/// Lanes of the loop over partitions: a whole number of vector registers.
const LANES: usize = 48;

/// Pixels of a reference around a macroblock.
#[derive(Clone, Debug)]
pub struct Window {
    /// Rows of [`WINDOW`] pixels.
    pub pixels: [u8; WINDOW * WINDOW],
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Left edge relative to the macroblock, in pixels.
    pub x: i32,
    /// Upper edge relative to the macroblock, in pixels.
    pub y: i32,
}

/// The best vector of each partition so far, and its distortion with the cost of the vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Best {
    /// Distortion plus vector cost, by the partitions of [`ALL`](super::geometry::ALL).
    pub distortion: [u16; PARTITIONS],
    /// Vectors.
    pub vector: [Vector; PARTITIONS],
}

/// Distortion of a partition that has no vector.
pub const NONE: u16 = u16::MAX;

impl Default for Best {
    fn default() -> Best {
        Best { distortion: [NONE; PARTITIONS], vector: [Vector::default(); PARTITIONS] }
    }
}

/// Where a search goes.
#[derive(Clone, Debug)]
pub struct Path<'p> {
    /// First units. The search follows the path from each of them.
    pub starts: &'p [[u8; 2]],
    /// Steps from unit to unit. A step of zero ends the path.
    pub steps: &'p [[i8; 2]],
    /// Largest number of units of the path, including the first one.
    pub length: usize,
    /// Largest number of units of the whole search, if it is adaptive.
    pub adaptive: Option<usize>,
    /// The search stops at a distortion of the macroblock that is not larger.
    pub stop: Option<u16>,
}

/// How a search went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Number of units that were searched.
    pub units: usize,
    /// The search stopped early, because the distortion was small enough.
    pub early: bool,
    /// The adaptive search reached its largest number of units.
    pub truncated: bool,
    /// Edges of the window that the best position of the macroblock touches: left, right, top,
    /// bottom.
    pub border: u8,
}

/// A search in progress. Lanes after the partitions are not used.
struct Search<'s> {
    source: &'s Luma,
    window: &'s Window,
    transform: Transform,
    /// Costs of columns and rows of positions, for the cost centre of each 8x8 block.
    across: [[u16; WINDOW]; 4],
    down: [[u16; WINDOW]; 4],
    distortion: [u16; LANES],
    /// Positions: row times [`WINDOW`] plus column; [`WINDOW`]² if the vector is from elsewhere.
    place: [u16; LANES],
    /// Units that were searched: a bit per column, for each row of units.
    seen: [u16; WINDOW / UNIT],
    outcome: Outcome,
}

/// Position of a vector that this search did not find.
const ELSEWHERE: u16 = (WINDOW * WINDOW) as u16;

/// Searches a window for the partitions of a macroblock. Improves `best`, which may contain the
/// results of an earlier search. Of equal distortions, the first one stays.
pub fn search(
    source: &Luma,
    window: &Window,
    transform: Transform,
    costs: &Costs,
    reference: usize,
    path: &Path<'_>,
    best: &mut Best,
) -> Outcome {
    let cost = |first: i32, centre: fn(&Vector) -> i16| -> [[u16; WINDOW]; 4] {
        std::array::from_fn(|quad| {
            let centre = centre(&costs.centres[quad][reference]);
            std::array::from_fn(|n| {
                let at = Vector::pixels(first + n as i32, 0).x;
                costs.component(u32::from(at.abs_diff(centre))).min(0x3fff) as u16
            })
        })
    };
    let mut search = Search {
        source,
        window,
        transform,
        across: cost(window.x, |centre| centre.x),
        down: cost(window.y, |centre| centre.y),
        distortion: [NONE; LANES],
        place: [ELSEWHERE; LANES],
        seen: [0; WINDOW / UNIT],
        outcome: Outcome::default(),
    };
    search.distortion[..PARTITIONS].copy_from_slice(&best.distortion);
    search.follow(path);
    search.finish(best)
}

impl Search<'_> {
    /// Number of columns and rows of units.
    fn units(&self) -> [i32; 2] {
        [self.window.width, self.window.height].map(|size| (size.saturating_sub(16) / UNIT) as i32)
    }

    fn follow(&mut self, path: &Path<'_>) {
        for &[x, y] in path.starts {
            let (mut x, mut y) = (i32::from(x), i32::from(y));
            let mut steps = path.steps.iter();
            for _ in 0..path.length {
                if self.visit(x, y) && self.stops(path) {
                    return;
                }
                match steps.next() {
                    Some([0, 0]) | None => break,
                    Some(step) => (x, y) = (x + i32::from(step[0]), y + i32::from(step[1])),
                }
            }
        }
        let Some(most) = path.adaptive else { return };
        while let Some([x, y]) = self.neighbour() {
            if self.outcome.units >= most {
                self.outcome.truncated = true;
                return;
            }
            self.visit(x, y);
            if self.stops(path) {
                return;
            }
        }
    }

    fn stops(&mut self, path: &Path<'_>) -> bool {
        self.outcome.early = path.stop.is_some_and(|stop| self.distortion[0] <= stop);
        self.outcome.early
    }

    /// The first unit next to the unit of the best position of the macroblock that was not
    /// searched: left, right, above, below.
    fn neighbour(&self) -> Option<[i32; 2]> {
        const _: () = assert!(ADAPTIVE_SEARCH_CONTINUES_WITH_FIRST_NEIGHBOUR);
        let place = usize::from(self.place[0]);
        if self.place[0] == ELSEWHERE {
            return None;
        }
        let (x, y) = ((place % WINDOW / UNIT) as i32, (place / WINDOW / UNIT) as i32);
        let [columns, rows] = self.units();
        [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]].into_iter().find(|&[x, y]| {
            (0..columns).contains(&x)
                && (0..rows).contains(&y)
                && self.seen[y as usize] >> x & 1 == 0
        })
    }

    /// Searches a unit, unless it is outside of the window or was searched before.
    fn visit(&mut self, x: i32, y: i32) -> bool {
        let [columns, rows] = self.units();
        if !(0..columns).contains(&x) || !(0..rows).contains(&y) {
            return false;
        }
        let (x, y) = (x as usize, y as usize);
        if self.seen[y] >> x & 1 == 1 {
            return false;
        }
        self.seen[y] |= 1 << x;
        self.outcome.units += 1;
        for row in UNIT * y..UNIT * (y + 1) {
            for column in UNIT * x..UNIT * (x + 1) {
                self.position(column, row);
            }
        }
        true
    }

    /// Compares a position with the best one of each partition. The 4x4 blocks are compared once,
    /// and added for larger partitions.
    #[inline(always)]
    fn position(&mut self, column: usize, row: usize) {
        let at = row * WINDOW + column;
        let blocks = distortions(self.transform, self.source, &self.window.pixels[at..], WINDOW);
        let costs: [u16; 4] =
            std::array::from_fn(|quad| self.across[quad][column] + self.down[quad][row]);
        let mut total = [NONE; LANES];
        let mut whole = [0u16; 4];
        for quad in 0..4 {
            let [a, b, c, d] = *blocks[4 * quad..].first_chunk().unwrap();
            let (top, bottom, cost) = (a + b, c + d, costs[quad]);
            let sums = [top, bottom, a + c, b + d, a, b, c, d].map(|sum| sum.saturating_add(cost));
            whole[quad] = top + bottom;
            total[5 + quad] = whole[quad].saturating_add(cost);
            total[9 + 2 * quad..][..2].copy_from_slice(&sums[..2]);
            total[17 + 2 * quad..][..2].copy_from_slice(&sums[2..4]);
            total[25 + 4 * quad..][..4].copy_from_slice(&sums[4..]);
        }
        let [a, b, c, d] = whole;
        total[0] = (a + b + c + d).saturating_add(costs[0]);
        total[1] = (a + b).saturating_add(costs[0]);
        total[2] = (c + d).saturating_add(costs[2]);
        total[3] = (a + c).saturating_add(costs[0]);
        total[4] = (b + d).saturating_add(costs[1]);
        let place = at as u16;
        for (total, (best, at)) in
            total.into_iter().zip(self.distortion.iter_mut().zip(&mut self.place))
        {
            let better = total < *best;
            *best = if better { total } else { *best };
            *at = if better { place } else { *at };
        }
    }

    fn finish(self, best: &mut Best) -> Outcome {
        for n in 0..PARTITIONS {
            if self.place[n] != ELSEWHERE {
                let place = i32::from(self.place[n]);
                let (x, y) = (place % WINDOW as i32, place / WINDOW as i32);
                best.distortion[n] = self.distortion[n];
                best.vector[n] = Vector::pixels(self.window.x + x, self.window.y + y);
            }
        }
        let mut outcome = self.outcome;
        if self.place[0] != ELSEWHERE {
            let place = usize::from(self.place[0]);
            let [columns, rows] = self.units().map(|units| UNIT * units as usize);
            let (x, y) = (place % WINDOW, place / WINDOW);
            let edges = [x == 0, x + 1 == columns, y == 0, y + 1 == rows];
            outcome.border = (0..4).map(|n| u8::from(edges[n]) << n).sum();
        }
        outcome
    }
}
