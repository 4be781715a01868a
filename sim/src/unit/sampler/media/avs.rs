//! The adaptive video scaler: function 0 of sample_8x8 (2d p.374-389, video.md 11.2-11.4).
//!
//! Each pixel of a block is filtered from 8 x 8 pixels of the picture, first in rows and then in
//! the column of the results. In each direction a sharp filter with coefficients of the state and
//! a bilinear filter are blended.

use super::super::texels::Pages;
use super::detail::{AREA, Detail, REACH};
use super::picture::{BLUE, GREEN, Picture, Pixel, Plane, RED};
use super::response::{Block, COLUMNS, ROWS, Shape};
use super::scaler::{Blend, COEFFICIENT_BITS, Filter, Guide, PHASES, Scaler, TAPS, Thresholds};
use crate::assumptions::{
    AVS_ADDS_HALF_A_STEP, AVS_POSITION_BITS, AVS_ROUNDS_AFTER_EACH_DIRECTION,
};
use crate::eu::operands::Channels as Ones;
use crate::mem::{PageFault, Vm};
use genxml::eu::gen8::eu_payloads::Sample8x8MessagePayload;
use std::ops::Range;

/// The largest result.
const MOST: i32 = 0xffff;

/// Largest width of a block and of the pixels around it that the detail filter uses.
const WIDE: usize = COLUMNS + 2 * REACH;
/// Largest height of a block and of the pixels around it.
const HIGH: usize = ROWS + 2 * REACH;
/// Bits of luma below the unit of the detail filter, which has 10 bits.
const BELOW_DETAIL: u32 = 6;

/// Luma of a block and of the pixels around it.
type Luma = [[i32; WIDE]; HIGH];

/// A position in one direction: the first pixel of the filter, and the phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Position {
    first: i32,
    phase: usize,
}

impl Position {
    /// The position of a coordinate, which is in pixels of a plane. Integers are the middles of
    /// pixels.
    fn new(coordinate: f64) -> Position {
        /// Far outside of all pictures. The limit keeps sums from overflowing.
        const FAR: f64 = (1 << 20) as f64;
        let unit = f64::from(1u32 << AVS_POSITION_BITS);
        // A NaN becomes 0.
        let place = libm::floor(coordinate.clamp(-FAR, FAR) * unit + 0.5) as i32;
        let fraction = place & ((1 << AVS_POSITION_BITS) - 1);
        Position {
            first: (place >> AVS_POSITION_BITS) - 3,
            phase: (fraction as usize * PHASES) >> AVS_POSITION_BITS,
        }
    }
}

/// The first `count` positions in one direction. Blocks without a margin use few of them.
fn positions<const N: usize>(count: usize, at: impl Fn(usize) -> Position) -> [Position; N] {
    std::array::from_fn(|n| if n < count { at(n) } else { Position::default() })
}

/// Coordinate `n` of a row or column of pixels, relative to the size of the picture: the middle
/// of the pixel, if that is half a step after its start.
fn coordinate(first: f32, delta: f32, second: f32, n: i64) -> f64 {
    let n = n as f64;
    let steps = n * (n - 1.0) / 2.0;
    let start = f64::from(first) + f64::from(delta) * n + f64::from(second) * steps;
    match AVS_ADDS_HALF_A_STEP {
        true => start + (f64::from(delta) + f64::from(second) * n) / 2.0,
        false => start,
    }
}

/// Filters a block of pixels, and then its luma with the detail filter if there is one. Only the
/// channels of the mask `wanted` are valid in the result, which has the number of bytes that were
/// read too.
///
/// # Errors
/// A page fault.
pub fn block(
    scaler: &Scaler,
    detail: Option<Detail>,
    picture: &Picture,
    vm: &Vm<'_>,
    payload: &Sample8x8MessagePayload,
    shape: Shape,
    wanted: u8,
) -> Result<(Block, u64), PageFault> {
    let mut block = Block::default();
    let mut present = 0;
    let mut bytes = 0;
    let mut pages = Pages::new(vm);
    for plane in picture.planes() {
        present |= plane.channels;
        if plane.channels & wanted == 0 {
            continue;
        }
        let place = |direction: usize, relative: f64| {
            let half = if AVS_ADDS_HALF_A_STEP { 0.5 } else { 0.0 };
            let pixels = relative * f64::from(picture.size[direction]) - half;
            Position::new((pixels - plane.start[direction]) / plane.every[direction])
        };
        let below = 4 * payload.vertical_block_number.get() as i64;
        // THE_DETAIL_FILTER_CHANGES_LUMA_ONLY, DETAIL_NEEDS_PIXELS_AROUND_THE_BLOCK
        let has_luma = picture.has_luma && plane.channels & wanted & 1 << GREEN != 0;
        let detail = if has_luma { detail } else { None };
        let margin = if detail.is_some() { REACH } else { 0 };
        let number = |n: usize| n as i64 - margin as i64;
        let work = Work {
            scaler,
            picture,
            plane,
            shape,
            margin,
            wanted: plane.channels & wanted,
            columns: positions(shape.columns + 2 * margin, |n| {
                let (delta, second) = (payload.delta_u, payload.second_derivative_u);
                place(0, coordinate(payload.u, delta, second, number(n)))
            }),
            rows: positions(shape.rows + 2 * margin, |n| {
                let (delta, second) = (payload.delta_v, payload.second_derivative_v);
                place(1, coordinate(payload.v, delta, second, below + number(n)))
            }),
            filters: [0, 1].map(|direction| {
                let with_green = plane.channels >> GREEN & 1 == 1;
                std::array::from_fn(|n| scaler.filter(picture, n, direction, with_green))
            }),
        };
        let mut luma = [[0; WIDE]; HIGH];
        let luma_of = detail.is_some().then_some(&mut luma);
        bytes += work.run(&mut pages, &mut block, luma_of)? * plane.bytes();
        if let Some(detail) = detail {
            enhance(&detail, &luma, shape, &mut block);
        }
    }
    for channel in 0..4 {
        if present >> channel & 1 == 0 {
            block.fill(channel, Picture::absent(channel) as u16);
        }
    }
    Ok((block, bytes))
}

/// The work for one plane.
struct Work<'w> {
    scaler: &'w Scaler,
    picture: &'w Picture,
    plane: &'w Plane,
    shape: Shape,
    /// Number of pixels on each side of the block that are filtered too.
    margin: usize,
    /// Mask of the channels that are returned.
    wanted: u8,
    columns: [Position; WIDE],
    rows: [Position; HIGH],
    /// Horizontal and vertical filters of the channels.
    filters: [[Filter<'w>; 4]; 2],
}

impl Work<'_> {
    /// Filters the block, and returns the number of pixels that were read. If `luma` is given, it
    /// receives luma with the pixels of the margin.
    fn run(
        &self,
        pages: &mut Pages<'_, '_>,
        block: &mut Block,
        mut luma: Option<&mut Luma>,
    ) -> Result<u64, PageFault> {
        let mut read = 0;
        // Channels that are filtered in rows: the wanted ones, and those that others adapt to.
        let across = self.sources(1, self.wanted);
        // The results of rows of the plane. Row n is in element n modulo 8, so the rows of a
        // filter have elements of their own.
        let mut lines = [[[0; 4]; WIDE]; TAPS];
        let mut cached = [i32::MIN; TAPS];
        let (inner_columns, inner_rows) =
            (self.inside(self.shape.columns), self.inside(self.shape.rows));
        for (j, row) in self.rows[..inner_rows.end + self.margin].iter().enumerate() {
            let needed = self.needed(1, self.wanted, row.phase);
            for tap in Ones(needed) {
                let y = row.first + tap as i32;
                let element = element(y);
                if cached[element] != y {
                    read += self.line(pages, y, across, &mut lines[element])?;
                    cached[element] = y;
                }
            }
            for i in 0..inner_columns.end + self.margin {
                let column = column(&lines, row.first, needed, i);
                if let Some(luma) = &mut luma {
                    luma[j][i] = self.pass(1, GREEN, row.phase, &column).clamp(0, MOST);
                }
                if !inner_columns.contains(&i) || !inner_rows.contains(&j) {
                    continue;
                }
                let pixel = self.shape.pixel(i - self.margin, j - self.margin);
                for channel in Ones(self.wanted.into()) {
                    let value = self.pass(1, channel, row.phase, &column);
                    block.set(channel, pixel, value.clamp(0, MOST) as u16);
                }
            }
        }
        Ok(read)
    }

    /// The numbers of `count` columns or rows of the block, after those of the margin.
    fn inside(&self, count: usize) -> Range<usize> {
        self.margin..self.margin + count
    }

    /// Filters row `y` of the plane at all columns. Returns the number of pixels that were read.
    fn line(
        &self,
        pages: &mut Pages<'_, '_>,
        y: i32,
        channels: u8,
        line: &mut [Pixel; WIDE],
    ) -> Result<u64, PageFault> {
        let mut read = 0;
        let count = self.shape.columns + 2 * self.margin;
        for (result, column) in line[..count].iter_mut().zip(&self.columns) {
            let needed = self.needed(0, channels, column.phase);
            let mut pixels = [[0; 4]; TAPS];
            for tap in Ones(needed) {
                let x = column.first + tap as i32;
                pixels[tap] = self.picture.pixel(pages, self.plane, x, y)?;
            }
            read += u64::from(needed.count_ones());
            for channel in Ones(channels.into()) {
                result[channel] = self.pass(0, channel, column.phase, &pixels);
            }
        }
        Ok(read)
    }

    /// The channels of the plane whose values the filters of `channels` use.
    fn sources(&self, direction: usize, channels: u8) -> u8 {
        Ones(channels.into()).fold(channels, |all, channel| {
            let Filter { blend, guide, .. } = self.filters[direction][channel];
            match (blend, guide) {
                (Blend::Adaptive(_), Guide::Green) => all | 1 << GREEN,
                (Blend::Adaptive(_), Guide::Luminance) => all | 1 << RED | 1 << GREEN | 1 << BLUE,
                _ => all,
            }
        })
    }

    /// Mask of the taps that a phase of the filters of `channels` uses.
    fn needed(&self, direction: usize, channels: u8, phase: usize) -> u32 {
        let used = |taps: &[i32; TAPS]| {
            (0..TAPS).fold(0, |mask, tap| mask | u32::from(taps[tap] != 0) << tap)
        };
        Ones(channels.into()).fold(0, |mask, channel| {
            let filter = &self.filters[direction][channel];
            mask | match filter.blend {
                Blend::Level(255) => used(&filter.sharp[phase]),
                Blend::Level(0) => used(self.scaler.smooth(phase)),
                Blend::Level(_) => used(&filter.sharp[phase]) | used(self.scaler.smooth(phase)),
                Blend::Adaptive(_) => 0xff,
            }
        })
    }

    /// The result of a filter for a channel of eight pixels.
    #[inline(always)]
    fn pass(&self, direction: usize, channel: usize, phase: usize, pixels: &[Pixel; TAPS]) -> i32 {
        let filter = &self.filters[direction][channel];
        let share = match filter.blend {
            Blend::Level(level) => level,
            Blend::Adaptive(thresholds) => {
                share(&thresholds, &guide(filter.guide, channel, pixels))
            }
        };
        let sum = |taps: &[i32; TAPS]| {
            let sum: i32 = taps.iter().zip(pixels).map(|(tap, pixel)| tap * pixel[channel]).sum();
            let half =
                if AVS_ROUNDS_AFTER_EACH_DIRECTION { 1 << (COEFFICIENT_BITS - 1) } else { 0 };
            (sum + half) >> COEFFICIENT_BITS
        };
        match share {
            255 => sum(&filter.sharp[phase]),
            0 => sum(self.scaler.smooth(phase)),
            share => {
                let (sharp, smooth) = (sum(&filter.sharp[phase]), sum(self.scaler.smooth(phase)));
                let sharp = i64::from(share) * i64::from(sharp);
                let both = sharp + i64::from(255 - share) * i64::from(smooth);
                (both + 127).div_euclid(255) as i32
            }
        }
    }
}

/// Applies the detail filter to the luma of a block.
fn enhance(detail: &Detail, luma: &Luma, shape: Shape, block: &mut Block) {
    for j in 0..shape.rows {
        for i in 0..shape.columns {
            let around: [[i32; AREA]; AREA] = std::array::from_fn(|y| {
                std::array::from_fn(|x| luma[j + y][i + x] >> BELOW_DETAIL)
            });
            let change = detail.delta(&around) << BELOW_DETAIL;
            let value = (luma[j + REACH][i + REACH] + change).clamp(0, MOST);
            block.set(GREEN, shape.pixel(i, j), value as u16);
        }
    }
}

/// The results of eight rows from row `first` on, in column `i`. Rows that are not in the mask
/// `needed` are 0.
#[inline(always)]
fn column(lines: &[[Pixel; WIDE]; TAPS], first: i32, needed: u32, i: usize) -> [Pixel; TAPS] {
    let mut column = [[0; 4]; TAPS];
    for tap in Ones(needed) {
        column[tap] = lines[element(first + tap as i32)][i];
    }
    column
}

/// The element of the cache of rows in which row `y` is.
#[inline(always)]
fn element(y: i32) -> usize {
    y.rem_euclid(TAPS as i32) as usize
}

/// The values that an adaptive filter adapts to.
fn guide(guide: Guide, channel: usize, pixels: &[Pixel; TAPS]) -> [i32; TAPS] {
    pixels.map(|pixel| match guide {
        Guide::Own => pixel[channel],
        Guide::Green => pixel[GREEN],
        Guide::Luminance => (pixel[RED] + 2 * pixel[GREEN] + pixel[BLUE]) >> 2,
    })
}

/// The share of the sharp filter from 0 to 255 (video.md 11.4). It is large where all eight pixels
/// are similar, and where the four pixels in the middle differ: the smooth filter serves near
/// edges, where the sharp one would ring.
fn share(thresholds: &Thresholds, values: &[i32; TAPS]) -> i32 {
    // In the unit of channels of 8 bits.
    let w = values.map(|value| value >> 8);
    let step = |n: usize| w[n + 1] - w[n];
    let [d1, d2, d3] = [step(2), step(3), step(4)];
    let middle = d2.abs();
    let bound = middle.max(d1.abs()).min(middle.max(d3.abs()));
    let four = (((d1 - d2).abs() + (d3 - d2).abs()) / 2).min(bound);
    let eight = (0..TAPS - 1).map(|n| step(n).abs()).max().unwrap_or(0);
    let ramp =
        |value: i32, [point, slope]: [i32; 2]| ((value - point) << (8 - slope)).clamp(0, 255);
    ramp(four, thresholds.four).max(255 - ramp(eight, thresholds.eight))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: video.md 11.2. The filter begins three pixels before the pixel at the coordinate;
    /// the phase is the fraction in 1/32, cut off.
    #[test]
    fn positions() {
        let at = |coordinate| {
            let Position { first, phase } = Position::new(coordinate);
            (first, phase)
        };
        assert_eq!(at(5.0), (2, 0));
        assert_eq!(at(5.0 - 1e-4), (2, 0));
        assert_eq!(at(5.5), (2, 16));
        assert_eq!(at(5.0 + 63.0 / 64.0), (2, 31));
        assert_eq!(at(-0.25), (-4, 24));
        assert_eq!(at(f64::NAN), (-3, 0));
        assert_eq!(at(f64::INFINITY).0, (1 << 20) - 3);
    }
}
