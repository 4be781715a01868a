//! Maps a coordinate to texels along one axis (003:2845-2969): rounding, the two texels of the
//! linear filter and their weights, and texels outside of the map.

use super::state::Wrap;
use crate::eu::fast::lanes::map;

/// 1.5 * 2^52. If it is added to an integer of 32 bits, the low 32 bits of the sum are the integer
/// in two's complement.
pub(super) const INTEGER_IN_LOW_BITS: f64 = (3u64 << 51) as f64;

/// Fraction bits of a texel coordinate, and so of the weights of the linear filter (gen8_facts 11:
/// drivers report subTexelPrecisionBits 8).
pub const FRACTION_BITS: u32 = 8;
/// One texel in fixed point.
pub const TEXEL: i64 = 1 << FRACTION_BITS;

/// The texels that a coordinate selects along one axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Axis {
    /// The texels; [`BORDER`] for the border colour. Both are the same without a linear filter.
    pub texels: [i32; 2],
    /// Weight of the second texel, in 1/256.
    pub share: u32,
}

/// Texel number that stands for the border colour.
pub const BORDER: i32 = -1;

/// How coordinates along one axis of a level are mapped to texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Size of the level in texels.
    pub size: i32,
    /// Treatment of coordinates outside of the map.
    pub wrap: Wrap,
    /// True if coordinates are rounded to 1/256 texel, false if they are truncated.
    pub round: bool,
    /// True for the linear filter, which reads two texels.
    pub linear: bool,
    /// True if the unit of coordinates is the size of the map, false if it is a texel.
    pub normalized: bool,
    /// Offset in the message, in texels.
    pub offset: i32,
}

/// The largest integer that is not greater than `value`; 0 for a NaN. The result is clamped to
/// plus or minus 2^60, so that sums do not overflow.
#[inline(always)]
fn floor(value: f64) -> i64 {
    const FAR: f64 = (1u64 << 60) as f64;
    let value = value.clamp(-FAR, FAR);
    let whole = value as i64;
    whole - i64::from(value < whole as f64)
}

/// The texels that the coordinates of several lanes select along one axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axes<const N: usize> {
    /// The first and the second texel of each lane.
    pub texels: [[i32; N]; 2],
    /// Weight of the second texel of each lane, in 1/256.
    pub shares: [i32; N],
}

impl Rule {
    /// As [`axis`](Self::axis), for several lanes. `None` if `wrap` is one of the two border modes,
    /// or if a coordinate is a NaN or far outside of the map.
    #[inline(always)]
    pub fn axes<const N: usize>(&self, coordinates: [f32; N]) -> Option<Axes<N>> {
        // Limit of a position, in 1/256 texel. Below it, no sum overflows 32 bits.
        const FAR: f64 = (1 << 30) as f64;
        if matches!(self.wrap, Wrap::Border | Wrap::HalfBorder) {
            return None;
        }
        const UNIT: i32 = TEXEL as i32;
        let scale = f64::from(if self.normalized { self.size * UNIT } else { UNIT });
        let offset = self.offset * UNIT;
        let rounded = if self.round { 0.5 } else { 0.0 };
        let scaled = map(coordinates, |coordinate| f64::from(coordinate) * scale);
        let (moved, offset) = match self.wrap {
            Wrap::MirrorOnce => {
                let offset = f64::from(offset);
                (map(scaled, |scaled| (scaled + offset).abs()), 0)
            }
            _ => (scaled, offset),
        };
        let whole = map(moved, |moved| (moved + rounded).floor());
        // The comparison is false for a NaN. The loop starts at the last lane, because then the
        // compiler combines whole rows and does not permute them.
        if !whole.iter().rev().fold(true, |near, whole| near & (whole.abs() < FAR)) {
            return None;
        }
        let places = map(whole, |whole| (whole + INTEGER_IN_LOW_BITS).to_bits() as i32);
        if !self.linear {
            let texels = self.inside(map(places, |place| (place + offset) >> FRACTION_BITS));
            return Some(Axes { texels: [texels; 2], shares: [0; N] });
        }
        let places = map(places, |place| place + (offset - UNIT / 2));
        let first = map(places, |place| place >> FRACTION_BITS);
        Some(Axes {
            texels: [self.inside(first), self.inside(map(first, |first| first + 1))],
            shares: map(places, |place| place & (UNIT - 1)),
        })
    }

    /// As [`wrapped`](Self::wrapped), for several lanes and maps without a border colour.
    #[inline(always)]
    fn inside<const N: usize>(&self, at: [i32; N]) -> [i32; N] {
        let size = self.size;
        match self.wrap {
            Wrap::Wrap if size.is_positive() && size.count_ones() == 1 => {
                map(at, |at| at & (size - 1))
            }
            Wrap::Wrap => map(at, |at| remainder(at, size)),
            Wrap::Mirror => map(at, |at| {
                let at = remainder(at, 2 * size);
                if at < size { at } else { 2 * size - 1 - at }
            }),
            _ => map(at, |at| at.max(0).min(size - 1)),
        }
    }

    /// The texels at a coordinate. The result is exact, because a double can hold the product of a
    /// float and a size.
    #[inline(always)]
    pub fn axis(&self, coordinate: f64) -> Axis {
        let size = i64::from(self.size);
        let scale = (if self.normalized { size * TEXEL } else { TEXEL }) as f64;
        let offset = i64::from(self.offset) * TEXEL;
        let rounded = if self.round { 0.5 } else { 0.0 };
        let mut place = match self.wrap {
            // The absolute value is taken before rounding (003:2954).
            Wrap::MirrorOnce => floor((coordinate * scale + offset as f64).abs() + rounded),
            _ => floor(coordinate * scale + rounded) + offset,
        };
        if self.wrap == Wrap::HalfBorder {
            place = place.clamp(0, size * TEXEL);
        }
        if !self.linear {
            let texel = self.wrapped(place >> FRACTION_BITS);
            return Axis { texels: [texel; 2], share: 0 };
        }
        let place = place - TEXEL / 2;
        let first = place >> FRACTION_BITS;
        Axis {
            texels: [self.wrapped(first), self.wrapped(first + 1)],
            share: (place & (TEXEL - 1)) as u32,
        }
    }

    /// Maps texel number `at`, which may be outside of the map, to a texel of the map.
    #[inline(always)]
    fn wrapped(&self, at: i64) -> i32 {
        let size = i64::from(self.size);
        if (0..size).contains(&at) {
            return at as i32;
        }
        self.outside(at, size)
    }

    fn outside(&self, at: i64, size: i64) -> i32 {
        (match self.wrap {
            Wrap::Wrap => at.rem_euclid(size),
            Wrap::Mirror => mirrored(at, size),
            Wrap::Clamp | Wrap::Cube | Wrap::MirrorOnce => clamped(at, size),
            // The coordinate is clamped to the map, so only `at == size` is possible here. It gives
            // the texel at the edge (GL_CLAMP).
            Wrap::HalfBorder if !self.linear => size - 1,
            Wrap::Border | Wrap::HalfBorder => return BORDER,
        }) as i32
    }
}

/// `at` modulo `size`, from 0 to `size` - 1. Divides doubles, because no vector instruction divides
/// integers. The result is exact: the quotient of two integers of 32 bits is never
/// rounded up to an integer.
#[inline(always)]
fn remainder(at: i32, size: i32) -> i32 {
    let turns = (f64::from(at) / f64::from(size)).floor();
    at.wrapping_sub(((turns + INTEGER_IN_LOW_BITS).to_bits() as i32).wrapping_mul(size))
}

/// The texel for number `at` in a map of `size` texels that repeats, every second time in reverse
/// order.
#[inline(always)]
pub fn mirrored(at: i64, size: i64) -> i64 {
    let at = at.rem_euclid(2 * size);
    if at < size { at } else { 2 * size - 1 - at }
}

/// The texel that is nearest to number `at` in a map of `size` texels.
#[inline(always)]
pub fn clamped(at: i64, size: i64) -> i64 {
    at.clamp(0, size - 1)
}

/// The layer that a float selects from `count` layers: rounded to the nearest, ties to even, and
/// clamped to the layers that exist (gen8_facts 4.2).
#[inline(always)]
pub fn layer(index: f32, count: u32) -> u32 {
    // Adding 2^23 leaves the nearest integer in the low bits of the float.
    const INTEGERS: f32 = (1u32 << 23) as f32;
    let last = count.saturating_sub(1) as f32;
    // The comparison is false for a NaN, which so selects layer 0.
    let inside = if index > 0.0 { index.min(last) } else { 0.0 };
    (inside + INTEGERS).to_bits() - INTEGERS.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WRAPS: [Wrap; 7] = [
        Wrap::Wrap,
        Wrap::Mirror,
        Wrap::Clamp,
        Wrap::Cube,
        Wrap::Border,
        Wrap::MirrorOnce,
        Wrap::HalfBorder,
    ];

    /// The texel for a texel number, computed in exact integers from the text of 003:2915-2969.
    /// HALF_BORDER follows GL_CLAMP.
    fn outside(wrap: Wrap, at: i128, size: i128, linear: bool) -> i32 {
        let clamp = at.max(0).min(size - 1);
        (match wrap {
            Wrap::Wrap => (at % size + size) % size,
            Wrap::Mirror => {
                let turn = at.div_euclid(size);
                let within = at - turn * size;
                if turn % 2 == 0 { within } else { size - 1 - within }
            }
            Wrap::Clamp | Wrap::Cube | Wrap::MirrorOnce => clamp,
            Wrap::HalfBorder if !linear => clamp,
            Wrap::Border | Wrap::HalfBorder => {
                if at == clamp {
                    at
                } else {
                    -1
                }
            }
        }) as i32
    }

    /// A float as an exact multiple of 2^-70. The floats of the test have no smaller bits.
    fn exact(value: f32) -> i128 {
        let bits = value.to_bits();
        let (exponent, mantissa) =
            ((bits >> 23 & 0xff) as i32, i128::from(bits & 0x7f_ffff | 0x80_0000));
        let shift = exponent - 150 + 70;
        let magnitude = if exponent == 0 || shift < 0 { 0 } else { mantissa << shift };
        if bits >> 31 == 1 { -magnitude } else { magnitude }
    }

    proptest! {
        /// Oracle: the same computation in exact integers.
        #[test]
        fn texels(
            wrap in prop::sample::select(WRAPS.to_vec()), size in 1i32..16385, steps in -0x10_0000i32..0x10_0000,
            shift in 8u32..24, round: bool, linear: bool, offset in -8i32..8, normalized: bool,
        ) {
            let coordinate = (f64::from(steps) / f64::from(1 << shift)) as f32;
            let rule = Rule { size, wrap, round, linear, normalized, offset };
            let axis = rule.axis(coordinate.into());
            let big = i128::from(size);
            let unit = 1i128 << 70;
            let scaled = exact(coordinate) * if normalized { big } else { 1 } * 256;
            let half = if round { unit / 2 } else { 0 };
            let moved = i128::from(offset) * 256;
            let mut place = match wrap {
                Wrap::MirrorOnce => ((scaled + moved * unit).abs() + half).div_euclid(unit),
                _ => (scaled + half).div_euclid(unit) + moved,
            };
            if wrap == Wrap::HalfBorder {
                place = place.max(0).min(256 * big);
            }
            if linear {
                place -= 128;
            }
            let first = place.div_euclid(256);
            prop_assert_eq!(axis.texels[0], outside(wrap, first, big, linear));
            let second = if linear { first + 1 } else { first };
            prop_assert_eq!(axis.texels[1], outside(wrap, second, big, linear));
            prop_assert_eq!(i128::from(axis.share), if linear { place.rem_euclid(256) } else { 0 });
        }

        /// Oracle: [`Rule::axis`] for each lane.
        #[test]
        fn several_lanes(
            wrap in prop::sample::select(WRAPS.to_vec()),
            size in prop_oneof![1i32..16385, (0u32..14).prop_map(|shift| 1 << shift)],
            bits: [u32; 4], near in prop::array::uniform4(-9.0f32..9.0), round: bool, linear: bool,
            offset in -8i32..8, normalized: bool,
        ) {
            let rule = Rule { size, wrap, round, linear, normalized, offset };
            let scale = if normalized { 1.0 } else { size as f32 };
            for coordinates in [bits.map(f32::from_bits), near.map(|near| near * scale)] {
                let lanes = coordinates.map(|coordinate| rule.axis(coordinate.into()));
                let Some(axes) = rule.axes(coordinates) else {
                    let borders = matches!(wrap, Wrap::Border | Wrap::HalfBorder);
                    prop_assert!(borders || coordinates != near.map(|near| near * scale));
                    continue;
                };
                for (n, lane) in lanes.into_iter().enumerate() {
                    prop_assert_eq!(axes.texels.map(|texels| texels[n]), lane.texels);
                    prop_assert_eq!(axes.shares[n], lane.share as i32);
                }
            }
        }

        /// All coordinates, NaN and infinity included, give texels of the map or `BORDER`.
        #[test]
        fn any_bits(wrap in prop::sample::select(WRAPS.to_vec()), bits: u32, size in 1i32..16385, linear: bool) {
            let rule = Rule { size, wrap, round: true, linear, normalized: true, offset: -8 };
            let axis = rule.axis(f32::from_bits(bits).into());
            prop_assert!(axis.texels.into_iter().all(|texel| (-1..size).contains(&texel)));
        }
    }

    #[test]
    fn layers() {
        let found =
            [-3.0, 0.5, 1.5, 2.4999, 7.0, f32::NAN, f32::INFINITY].map(|index| layer(index, 5));
        assert_eq!(found, [0, 0, 2, 2, 4, 0, 4]);
    }
}
