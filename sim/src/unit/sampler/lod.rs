//! Selects the levels that a sample reads (003:2731-2827): level of detail from derivatives, bias,
//! clamps, and the filter between levels. Levels of detail are integers in 1/256 level (2d
//! p.399-400: U4.8, S4.8), relative to the first level of the surface.

use super::state::{MipFilter, Sampler};
use crate::assumptions::LOD_IS_ROUNDED;
use std::sync::LazyLock;

/// One level, in 1/256 level.
pub const LEVEL: i32 = 256;
/// A level of detail beyond all levels. Arithmetic with it does not overflow.
const FAR: i32 = 1 << 20;

/// Tables for base-2 logarithms: 2^(n/256) for each `n`, and the `n` at which the search for a
/// mantissa starts, by the mantissa's first 8 fraction bits.
struct Powers {
    powers: [f64; 257],
    first: [u8; 256],
}

static POWERS: LazyLock<Powers> = LazyLock::new(|| {
    let powers: [f64; 257] = std::array::from_fn(|n| libm::exp2(n as f64 / 256.0));
    let first = std::array::from_fn(|n| {
        let begins = 1.0 + n as f64 / 256.0;
        (powers.partition_point(|&power| power <= begins) - 1) as u8
    });
    Powers { powers, first }
});

/// The level of detail for the squared length of a derivative, in texels of the first level: half
/// its base-2 logarithm, to the nearest 1/256 (assumptions::LOD_IS_ROUNDED). A NaN counts as 0.
pub fn of_square(square: f64) -> i32 {
    let bits = square.to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    // Negative numbers, which are not squares, have large exponents here because of their sign bit.
    // NaN and infinity have large exponents too.
    if exponent <= -200 {
        return -FAR;
    }
    if exponent > 1023 {
        return if square == f64::INFINITY { FAR } else { -FAR };
    }
    let powers = &*POWERS;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let mut step = usize::from(powers.first[(bits >> 44 & 0xff) as usize]);
    while powers.powers[step + 1] <= mantissa {
        step += 1;
    }
    // floor(256 log2(square)). The result is half of it, rounded.
    let double = 256 * exponent + step as i32;
    (double + i32::from(LOD_IS_ROUNDED)) >> 1
}

/// Converts a level of detail or a bias from a message to 1/256 level
/// (assumptions::LOD_IS_ROUNDED). A NaN becomes 0.
pub fn of_parameter(lod: f32) -> i32 {
    let scaled = f64::from(lod) * 256.0 + if LOD_IS_ROUNDED { 0.5 } else { 0.0 };
    let scaled = scaled.clamp(-f64::from(FAR), f64::from(FAR));
    let whole = scaled as i32;
    whole - i32::from(f64::from(whole) > scaled)
}

/// The one or two levels that a sample reads, relative to the first level of the surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// The more detailed level.
    pub level: u8,
    /// The less detailed level; the same level if only one is read.
    pub next: u8,
    /// Weight of `next`, in 1/256.
    pub share: u16,
    /// True if the map is magnified. Then the filter is Mag Mode Filter, else Min Mode Filter.
    pub magnified: bool,
}

/// Details of the selection of levels in which generations differ. The default is Gen8.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// True if the level of detail that selects between minification and magnification is clamped
    /// to the levels of the surface too; false if it is clamped to Min LOD and Max LOD of the
    /// sampler state only (2d p.397).
    pub preclamps_to_levels: bool,
    /// True if the nearest level is clamped to the whole levels around the range of Min LOD and Max
    /// LOD. It can be one level too large then (erratum 003:3730). False if the level of detail is
    /// clamped to the range first.
    pub nearest_has_whole_bounds: bool,
}

/// Selects levels of a surface for a sampler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chooser {
    bias: i32,
    min: i32,
    max: i32,
    /// Bounds of the level of detail plus one half, for the nearest level.
    nearest: [i32; 2],
    base: i32,
    mip: MipFilter,
    /// Bounds of the level of detail that selects between minification and magnification, if it is
    /// clamped.
    before: Option<[i32; 2]>,
    mag_has_levels: bool,
    least_share: u32,
    last: i32,
}

impl Chooser {
    /// The selection for a surface of `last` + 1 levels. Levels from `resource` (in 1/256) on are
    /// present. `base` is the surface's Base Mip Level in 1/256. It counts only if the Base Mip
    /// Level of the sampler is 0 (2d p.332).
    pub fn new(sampler: &Sampler, rules: Rules, last: u32, resource: i32, base: i32) -> Chooser {
        let last = last as i32;
        let count = last * LEVEL;
        let min = sampler.min_lod.min(count).max(resource);
        let max = sampler.max_lod.min(count);
        let before = match rules.preclamps_to_levels {
            true => [min, max],
            false => [sampler.min_lod, sampler.max_lod],
        };
        let nearest = match rules.nearest_has_whole_bounds {
            true => [min / LEVEL * LEVEL, (max + LEVEL - 1) / LEVEL * LEVEL],
            false => [min + LEVEL / 2, max + LEVEL / 2],
        };
        Chooser {
            bias: sampler.bias,
            min,
            max,
            nearest,
            base: if sampler.base == 0 { base } else { sampler.base },
            mip: sampler.mip,
            before: sampler.preclamp.then_some(before),
            mag_has_levels: sampler.mag_has_levels,
            least_share: sampler.least_share,
            last,
        }
    }

    /// The level of detail with the sampler's bias.
    pub fn biased(&self, lod: i32) -> i32 {
        lod.clamp(-FAR, FAR) + self.bias
    }

    /// The level of detail, clamped to Max LOD and Min LOD. Min LOD has priority.
    fn clamped(&self, lod: i32) -> i32 {
        lod.min(self.max).max(self.min)
    }

    /// True if there is no filter between levels, or only one level. Then all levels of detail
    /// select the same level, but they may select different filters (minified or magnified).
    pub fn is_fixed(&self) -> bool {
        self.mip == MipFilter::None || self.last == 0
    }

    /// The levels for a level of detail that includes the bias.
    #[inline]
    pub fn choose(&self, lod: i32) -> Choice {
        let lod = self.before.map_or(lod, |[min, max]| lod.min(max).max(min));
        let magnified = lod - self.base <= 0;
        if self.mip == MipFilter::None || magnified && !self.mag_has_levels {
            return self.one(self.min / LEVEL, magnified);
        }
        if self.mip == MipFilter::Nearest {
            let [least, most] = self.nearest;
            return self.one((lod + LEVEL / 2).min(most).max(least) / LEVEL, magnified);
        }
        let lod = self.clamped(lod);
        let (level, share) = (lod / LEVEL, (lod % LEVEL) as u32);
        if share < self.least_share || share == 0 {
            return self.one(level, magnified);
        }
        if LEVEL as u32 - share < self.least_share {
            return self.one(level + 1, magnified);
        }
        let next = (level + 1).min(self.last) as u8;
        Choice { level: level.min(self.last) as u8, next, share: share as u16, magnified }
    }

    /// The most detailed level that is allowed.
    pub fn first(&self) -> u8 {
        self.one(self.min / LEVEL, true).level
    }

    fn one(&self, level: i32, magnified: bool) -> Choice {
        let level = level.clamp(0, self.last) as u8;
        Choice { level, next: level, share: 0, magnified }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::gen8::state::SamplerState;
    use proptest::prelude::*;

    proptest! {
        /// Oracle: libm's logarithm.
        #[test]
        fn logarithms(bits in any::<u32>()) {
            let length = f64::from(f32::from_bits(bits & 0x7fff_ffff));
            prop_assume!(length.is_finite() && length > 1e-25);
            let exact = libm::log2(length) * 256.0;
            let found = f64::from(of_square(length * length));
            prop_assert!((found - exact).abs() <= 0.5 + 1e-9, "{length} {found} {exact}");
        }

        /// Oracle: f64 arithmetic.
        #[test]
        fn parameters(lod in -100f32..100.0) {
            prop_assert_eq!(f64::from(of_parameter(lod)), libm::floor(f64::from(lod) * 256.0 + 0.5));
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(
            (of_square(0.0), of_square(f64::NAN), of_square(f64::INFINITY)),
            (-FAR, -FAR, FAR)
        );
        assert_eq!((of_square(1.0), of_square(4.0), of_square(0.25)), (0, 256, -256));
        assert_eq!((of_parameter(f32::NAN), of_parameter(f32::INFINITY)), (0, FAR));
        assert_eq!(of_parameter(f32::NEG_INFINITY), -FAR);
    }

    fn sampler(mip: MipFilter, min: f64, max: f64) -> Sampler {
        let sampler = Sampler::resolve(&SamplerState::new()).unwrap();
        Sampler { mip, min_lod: (min * 256.0) as i32, max_lod: (max * 256.0) as i32, ..sampler }
    }

    /// Oracle: the pseudocode of 003:2787-2827, in floats, without the erratum of 003:3730. The
    /// first clamp uses only Min LOD and Max LOD of the sampler state (2d p.397).
    #[test]
    fn pseudocode() {
        for mip in [MipFilter::None, MipFilter::Nearest, MipFilter::Linear] {
            for (min, max) in [(0.0, 14.0), (1.5, 3.25), (0.0, 0.25), (2.75, 1.0), (0.5, 0.5)] {
                for last in [0u32, 1, 5] {
                    for preclamp in [false, true] {
                        for base in [0.0, 1.5] {
                            let sampler = Sampler { preclamp, ..sampler(mip, min, max) };
                            let chooser = Chooser::new(
                                &sampler,
                                Rules::default(),
                                last,
                                0,
                                (base * 256.0) as i32,
                            );
                            for step in -600..2000 {
                                let given = f64::from(step) / 256.0;
                                let lod = if preclamp { given.min(max).max(min) } else { given };
                                let (max, min) =
                                    (f64::min(max, last.into()), f64::min(min, last.into()));
                                let clamp = |lod: f64| lod.min(max).max(min);
                                let magnified = lod - base <= 0.0;
                                let (mut share, level);
                                share = 0.0;
                                if magnified || mip == MipFilter::None {
                                    level = f64::max(f64::min(0.0, max.ceil()), min.floor());
                                } else if mip == MipFilter::Nearest {
                                    level = (clamp(lod) + 0.5).floor();
                                } else {
                                    level = clamp(lod).floor();
                                    share = clamp(lod).fract();
                                }
                                let choice = chooser.choose(step);
                                let level = level.min(last.into());
                                assert_eq!(
                                    (choice.level, choice.magnified),
                                    (level as u8, magnified)
                                );
                                assert_eq!(f64::from(choice.share), share * 256.0);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Oracle: the pseudocode of 003:2787-2827, in floats.
    #[test]
    fn pseudocode_of_g45() {
        let rules = Rules { preclamps_to_levels: true, nearest_has_whole_bounds: true };
        for mip in [MipFilter::None, MipFilter::Nearest, MipFilter::Linear] {
            for (min, max) in [(0.0, 14.0), (1.5, 3.25), (0.0, 0.25), (2.75, 1.0), (0.5, 0.5)] {
                for (last, preclamp) in [(0u32, false), (0, true), (1, true), (5, false), (5, true)]
                {
                    let sampler = Sampler { preclamp, base: 128, ..sampler(mip, min, max) };
                    let chooser = Chooser::new(&sampler, rules, last, 0, 0);
                    let (max, min) = (f64::min(max, last.into()), f64::min(min, last.into()));
                    for step in -600..2000 {
                        let mut lod = f64::from(step) / 256.0;
                        if preclamp {
                            lod = lod.min(max).max(min);
                        }
                        let magnified = lod - 0.5 <= 0.0;
                        let mut share = 0.0;
                        if magnified || mip == MipFilter::None {
                            lod = f64::min(0.0, max.ceil()).max(min.floor());
                        } else if mip == MipFilter::Nearest {
                            lod = (lod + 0.5).min(max.ceil()).max(min.floor()).floor();
                        } else {
                            lod = lod.min(max).max(min);
                            share = lod.fract();
                            lod = lod.floor();
                        }
                        let choice = chooser.choose(step);
                        assert_eq!((choice.level, choice.magnified), (lod as u8, magnified));
                        assert_eq!(f64::from(choice.share), share * 256.0);
                    }
                }
            }
        }
    }

    /// OpenGL 4.6, 8.14.3 and 8.15: a map of one level is also minified where a pixel covers
    /// several texels.
    #[test]
    fn a_map_of_one_level_is_minified_too() {
        let sampler = Sampler { preclamp: true, ..sampler(MipFilter::None, 0.0, 14.0) };
        let chooser = Chooser::new(&sampler, Rules::default(), 0, 0, 0);
        assert_eq!(
            [-1, 0, 1, 700].map(|lod| chooser.choose(lod).magnified),
            [true, true, false, false]
        );
    }

    /// 2d p.405: with Trilinear Filter Quality MED, a level with a weight of less than 25% is left
    /// out.
    #[test]
    fn trilinear_quality() {
        let sampler = Sampler { least_share: 64, ..sampler(MipFilter::Linear, 0.0, 14.0) };
        let chooser = Chooser::new(&sampler, Rules::default(), 4, 0, 0);
        assert_eq!(
            chooser.choose(256 + 63),
            Choice { level: 1, next: 1, share: 0, magnified: false }
        );
        assert_eq!(
            chooser.choose(256 + 64),
            Choice { level: 1, next: 2, share: 64, magnified: false }
        );
        assert_eq!(
            chooser.choose(256 + 192),
            Choice { level: 1, next: 2, share: 192, magnified: false }
        );
        assert_eq!(
            chooser.choose(256 + 193),
            Choice { level: 2, next: 2, share: 0, magnified: false }
        );
    }
}
