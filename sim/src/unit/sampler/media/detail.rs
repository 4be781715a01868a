//! The detail filter: it sharpens luma after the adaptive video scaler (2d p.378-380,
//! video.md 11.5). Luma has 10 bits here.

use crate::assumptions::{
    DETAIL_DIVISORS_END_AT, DETAIL_EDGES_END_AT, DETAIL_SIGMA_ENDS_AT, DETAIL_USES_THE_OUTER_RING,
};
use genxml::gen8::media_states::{
    SamplerState8x8Avs, SamplerState8x8AvsIEF4SmoothEnable as Operation,
};

/// Number of pixels on each side of a pixel that its filter uses.
pub const REACH: usize = 2;
/// Width and height of the pixels that a filter uses.
pub const AREA: usize = 2 * REACH + 1;

/// Luma of the pixels around a pixel, in rows.
pub type Around = [[i32; AREA]; AREA];

/// The resolved fields of the detail filter in a SAMPLER_STATE_8x8_AVS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detail {
    /// Gain Factor.
    pub gain: i32,
    /// Strong Edge Threshold and Weak Edge Threshold.
    pub thresholds: [i32; 2],
    /// Strong Edge Weight, Regular Weight and Non Edge Weight.
    pub weights: [i32; 3],
}

impl Detail {
    /// Resolves the fields. The result is `None` for the smooth filter of 3 x 3 pixels, which has
    /// the same state.
    pub fn resolve(state: &SamplerState8x8Avs) -> Option<Detail> {
        if state.ief4smooth_enable == Operation::SMOOTH_FILTER_OF_3X3 {
            return None;
        }
        Some(Detail {
            gain: state.gain_factor.get() as i32,
            thresholds: [
                state.strong_edge_threshold.get() as i32,
                state.weak_edge_threshold.get() as i32,
            ],
            weights: [
                state.strong_edge_weight.get() as i32,
                state.regular_weight.get() as i32,
                state.non_edge_weight.get() as i32,
            ],
        })
    }

    /// What is added to the pixel in the middle.
    #[inline(always)]
    pub fn delta(&self, around: &Around) -> i32 {
        let [strong, weak] = self.thresholds;
        let weight = match edge(around) {
            edge if edge > strong => self.weights[0],
            edge if edge > weak => self.weights[1],
            _ => self.weights[2],
        };
        // The quotient is cut towards 0: half a divisor of 128 is added, not half of all.
        (sigma(around) * self.gain * weight + 64) / (128 * divisor(around))
    }
}

/// How strong the edge through a pixel is, from 0 on: the sizes of both Sobel gradients.
#[inline(always)]
fn edge(around: &Around) -> i32 {
    let [_, [_, a, b, c, _], [_, d, _, e, _], [_, f, g, h, _], _] = around;
    let across = (c + 2 * e + h) - (a + 2 * d + f);
    let down = (f + 2 * g + h) - (a + 2 * b + c);
    ((across.abs() + down.abs() + 4) >> 3).min(DETAIL_EDGES_END_AT)
}

/// Eight times the difference of a pixel from the mean of a ring of eight pixels.
#[inline(always)]
fn sigma(around: &Around) -> i32 {
    let apart = if DETAIL_USES_THE_OUTER_RING { REACH } else { 1 };
    let [first, last] = [REACH - apart, REACH + apart];
    let sum = |row: usize| around[row][first] + around[row][REACH] + around[row][last];
    let nine = sum(first) + sum(REACH) + sum(last);
    (9 * around[REACH][REACH] - nine).clamp(-DETAIL_SIGMA_ENDS_AT, DETAIL_SIGMA_ENDS_AT)
}

/// What the change is divided by: it is large where the 3 x 3 pixels differ much already.
#[inline(always)]
fn divisor(around: &Around) -> i32 {
    let (mut least, mut most) = (i32::MAX, i32::MIN);
    for row in &around[1..4] {
        for &luma in &row[1..4] {
            least = least.min(luma);
            most = most.max(luma);
        }
    }
    (8 + most - least).min(DETAIL_DIVISORS_END_AT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVERS: Detail = Detail { gain: 44, thresholds: [8, 1], weights: [7, 2, 1] };

    /// Random areas: some with small differences, some with an edge.
    fn areas() -> impl Iterator<Item = Around> {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut random = move |below: i32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            ((state >> 33) % below as u64) as i32
        };
        (0..20_000).map(move |n| {
            let reach = [3, 20, 100, 1024][n % 4];
            let base = random(1025 - reach);
            std::array::from_fn(|_| std::array::from_fn(|_| base + random(reach)))
        })
    }

    /// Oracle: the formula of video.md 11.5 in real numbers, with masks as tables.
    #[test]
    fn formula() {
        let sum = |around: &Around, mask: [[f64; 5]; 5]| -> f64 {
            around.iter().flatten().zip(mask.iter().flatten()).map(|(&y, m)| f64::from(y) * m).sum()
        };
        let upright = [
            [0.0; 5],
            [0.0, -1.0, 0.0, 1.0, 0.0],
            [0.0, -2.0, 0.0, 2.0, 0.0],
            [0.0, -1.0, 0.0, 1.0, 0.0],
            [0.0; 5],
        ];
        let level: [[f64; 5]; 5] = std::array::from_fn(|y| std::array::from_fn(|x| upright[x][y]));
        let ring = [
            [-1.0, 0.0, -1.0, 0.0, -1.0],
            [0.0; 5],
            [-1.0, 0.0, 8.0, 0.0, -1.0],
            [0.0; 5],
            [-1.0, 0.0, -1.0, 0.0, -1.0],
        ];
        let mut kinds = [0; 3];
        for (n, around) in areas().enumerate() {
            let filter = Detail {
                gain: (n % 64) as i32,
                thresholds: [[8, 1], [12, 5], [60, 3]][n % 3],
                weights: [[7, 2, 1], [3, 6, 0], [1, 1, 7]][n / 3 % 3],
            };
            let gradient = sum(&around, upright).abs() + sum(&around, level).abs();
            let edge = ((gradient + 4.0) / 8.0).floor().min(15.0);
            let kind = if edge > f64::from(filter.thresholds[0]) {
                0
            } else if edge > f64::from(filter.thresholds[1]) {
                1
            } else {
                2
            };
            kinds[kind] += 1;
            let sigma = sum(&around, ring).clamp(-128.0, 128.0);
            let near = || around[1..4].iter().flat_map(|row| &row[1..4]);
            let range = f64::from(near().max().unwrap() - near().min().unwrap());
            let weighted = sigma * f64::from(filter.gain) * f64::from(filter.weights[kind]);
            let expected = (weighted + 64.0) / (128.0 * (8.0 + range).min(255.0));
            let found = f64::from(filter.delta(&around));
            assert!((found - expected).abs() < 1.0, "{found} {expected} {filter:?} {around:?}");
        }
        assert!(kinds.iter().all(|&count| count > 1000), "{kinds:?}");
    }

    /// Flat areas stay as they are.
    #[test]
    fn flat() {
        for luma in 0..1024 {
            assert_eq!(DRIVERS.delta(&[[luma; AREA]; AREA]), 0);
        }
    }

    /// Without gain, or with weights of 0, nothing changes.
    #[test]
    fn no_gain() {
        for around in areas() {
            assert_eq!(Detail { gain: 0, ..DRIVERS }.delta(&around), 0);
            assert_eq!(Detail { weights: [0; 3], ..DRIVERS }.delta(&around), 0);
        }
    }

    /// An edge becomes steeper: its lower side is lowered and its upper side raised. More gain does
    /// not do less.
    #[test]
    fn edges() {
        for height in [16, 40, 100, 400] {
            let line = |x: i32| if x < 0 { 300 } else { 300 + height };
            let at = |middle: i32| -> Around {
                std::array::from_fn(|_| std::array::from_fn(|x| line(middle + x as i32 - 2)))
            };
            // The same edge from above.
            let turned = |around: Around| -> Around {
                std::array::from_fn(|y| std::array::from_fn(|x| around[x][y]))
            };
            let mut before = 0;
            for gain in 0..64 {
                let filter = Detail { gain, ..DRIVERS };
                let (low, high) = (filter.delta(&at(-1)), filter.delta(&at(0)));
                assert_eq!((low, high), {
                    (filter.delta(&turned(at(-1))), filter.delta(&turned(at(0))))
                });
                assert!(high - low >= before, "{height} {gain}");
                before = high - low;
                // Far from the edge nothing changes.
                assert_eq!((filter.delta(&at(-3)), filter.delta(&at(2))), (0, 0));
            }
            let (low, high) = (DRIVERS.delta(&at(-1)), DRIVERS.delta(&at(0)));
            assert!(height > 200 || (low < 0 && high > 0), "{height} {low} {high}");
        }
    }
}
