//! Values of channels. Oracle: the definitions in exact arithmetic. A result is right if no other
//! one is closer.

use genxml_cases::Random;
use genxml_sim::surface::format::Encoding;
use genxml_sim::surface::format::convert::{
    decode, encode, from_linear, linear, shared_exponent, to_shared_exponent,
};

/// 2^-SCALE is less than half the difference of any two possible results.
const SCALE: i32 = 60;

/// `value` in units of 2^-SCALE.
fn steps(value: f32) -> i128 {
    let scaled = f64::from(value) * f64::from(SCALE).exp2();
    assert_eq!(scaled.fract(), 0.0);
    scaled as i128
}

/// True if `found` is the single float nearest to numerator / denominator, ties to even.
fn nearest(found: f32, numerator: i128, denominator: i128) -> bool {
    if numerator == 0 {
        return found == 0.0;
    }
    let error = |value: f32| (steps(value) * denominator - (numerator << SCALE)).abs();
    let even = found.to_bits() & 1 == 0;
    [found.next_down(), found.next_up()]
        .into_iter()
        .all(|other| error(found) < error(other) || error(found) == error(other) && even)
}

/// Values of a channel of `bits` bits: all values up to 16 bits, otherwise the powers of two, the
/// values next to them, and random values.
fn raws(bits: u32) -> Vec<u64> {
    if bits <= 16 {
        return (0..1 << bits).collect();
    }
    let mask = u64::MAX >> (64 - bits);
    let mut random = Random::new(bits.into());
    let edges = (0..bits).flat_map(|bit| [1 << bit, (1u64 << bit).wrapping_sub(1), !(1 << bit)]);
    edges.chain((0..20_000).map(|_| random.bits())).map(|raw| raw & mask).collect()
}

fn signed(raw: u64, bits: u32) -> i128 {
    let raw = i128::from(raw);
    if raw >> (bits - 1) & 1 == 1 { raw - (1 << bits) } else { raw }
}

/// UNORM: c / (2^n - 1). SNORM: c / (2^(n-1) - 1), and the lowest c means -1 like the next one.
/// SCALED: c. SFIXED: c / 2^16.
#[test]
fn decoded_numbers_are_the_nearest_floats() {
    for bits in [1, 2, 4, 5, 6, 8, 10, 16, 24, 32] {
        for raw in raws(bits) {
            let value = |encoding| f32::from_bits(decode(encoding, bits, raw));
            let (plain, number) = (i128::from(raw), signed(raw, bits));
            assert!(
                nearest(value(Encoding::Unorm), plain, (1 << bits) - 1),
                "unorm{bits} {raw:#x}"
            );
            assert!(nearest(value(Encoding::Uscaled), plain, 1), "uscaled{bits} {raw:#x}");
            assert_eq!(decode(Encoding::Uint, bits, raw), raw as u32);
            if bits > 1 {
                let most = (1 << (bits - 1)) - 1;
                assert!(
                    nearest(value(Encoding::Snorm), number.max(-most), most),
                    "snorm{bits} {raw:#x}"
                );
                assert!(nearest(value(Encoding::Sscaled), number, 1), "sscaled{bits} {raw:#x}");
                assert_eq!(decode(Encoding::Sint, bits, raw) as i32, number as i32);
            }
            if bits == 32 {
                assert!(nearest(value(Encoding::Sfixed), number, 1 << 16), "sfixed {raw:#x}");
            }
        }
    }
}

/// Floats of both signs without NaN: many up to 1.25, many of any size, and ties between two steps.
fn floats() -> Vec<f32> {
    let mut random = Random::new(1);
    let mut floats =
        vec![0.0, 1.0, 0.5, 0.25, 2.0, 65504.0, 1e30, f32::MIN_POSITIVE, f32::INFINITY, 1e-30];
    floats.extend((0..4_000).map(|_| (random.bits() as u32) as f32 / 4_294_967_296.0 * 1.25));
    floats.extend((0..2_000).map(|_| f32::from_bits(random.bits() as u32 & 0x7fff_ffff)));
    // The midpoints between two steps of n bits.
    for bits in [2u32, 4, 5, 6, 8, 10] {
        let most = f64::from((1u32 << bits) - 1);
        floats.extend((0..1u32 << bits).map(|step| ((f64::from(step) + 0.5) / most) as f32));
    }
    floats.retain(|float| !float.is_nan());
    floats.iter().flat_map(|&float| [float, -float]).collect()
}

/// The nearest of the steps from 0 to `most` for `value` * `most`, ties to even. `value` is not
/// negative.
fn nearest_step(value: f32, most: i128) -> u64 {
    if value >= 1.0 {
        return most as u64;
    }
    if value < (-35f32).exp2() {
        return 0; // Less than an eighth of a step.
    }
    let product = steps(value) * most;
    let (whole, rest, half) = (product >> SCALE, product & ((1 << SCALE) - 1), 1 << (SCALE - 1));
    (whole + i128::from(rest > half || rest == half && whole & 1 == 1)) as u64
}

/// gen8_facts 9.1: UNORM is v * (2^n - 1), rounded to nearest even with saturation; SNORM is the
/// same with 2^(n-1) - 1 on both sides of 0. NaN becomes 0.
#[test]
fn encoded_numbers_are_the_nearest_steps() {
    for value in floats() {
        for bits in [1, 2, 4, 5, 6, 8, 10, 16, 24, 32] {
            let mask = u64::MAX >> (64 - bits);
            let (unorm, most) =
                (nearest_step(value.max(0.0), (1 << bits) - 1), (1 << (bits - 1)) - 1);
            assert_eq!(
                encode(Encoding::Unorm, bits, value.to_bits()),
                unorm,
                "unorm{bits} {value:e}"
            );
            if bits > 1 {
                let step = nearest_step(value.abs(), most);
                let step = if value < 0.0 { step.wrapping_neg() & mask } else { step };
                assert_eq!(
                    encode(Encoding::Snorm, bits, value.to_bits()),
                    step,
                    "snorm{bits} {value:e}"
                );
            }
        }
    }
    for encoding in [Encoding::Unorm, Encoding::Snorm, Encoding::Uscaled, Encoding::Sscaled] {
        for nan in [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001] {
            assert_eq!(encode(encoding, 8, nan), 0);
        }
    }
}

/// An integer that does not fit its channel becomes the nearest one that fits
/// (assumptions::INTEGERS_CLAMP_TO_THEIR_CHANNEL).
#[test]
fn encoded_integers_clamp() {
    for value in Random::new(2)
        .dwords(1000)
        .into_iter()
        .flat_map(|value| [value, value >> 20, !(value >> 20)])
    {
        for bits in [2, 8, 10, 16, 32] {
            let most = u64::MAX >> (64 - bits);
            assert_eq!(encode(Encoding::Uint, bits, value), u64::from(value).min(most));
            let half = 1i64 << (bits - 1);
            let clamped = i64::from(value as i32).max(-half).min(half - 1);
            assert_eq!(encode(Encoding::Sint, bits, value), clamped as u64 & most);
        }
    }
}

/// The value of a small float: sign, five bits of exponent with bias 15, a mantissa of `mantissa`
/// bits (gen8_facts 9.2).
fn small_float(raw: u64, mantissa: u32) -> f64 {
    let sign = if raw >> (mantissa + 5) & 1 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) =
        ((raw >> mantissa & 31) as i32, (raw & ((1 << mantissa) - 1)) as f64);
    let unit = f64::from(mantissa).exp2();
    sign * match exponent {
        0 => fraction / unit * (-14f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / unit) * f64::from(exponent - 15).exp2(),
    }
}

#[test]
fn small_floats() {
    let mut random = Random::new(3);
    for (bits, mantissa, has_sign) in [(16, 10, true), (11, 6, false), (10, 5, false)] {
        for raw in 0..1u64 << bits {
            let (expected, found) =
                (small_float(raw, mantissa), f32::from_bits(decode(Encoding::Float, bits, raw)));
            if expected.is_nan() {
                assert!(found.is_nan());
                let back = encode(Encoding::Float, bits, found.to_bits());
                assert!(small_float(back, mantissa).is_nan(), "{bits} bits, {raw:#x}");
            } else {
                assert_eq!(f64::from(found), expected);
                assert_eq!(encode(Encoding::Float, bits, found.to_bits()), raw, "{bits} bits");
            }
        }
        // Round to nearest, ties to even. Infinity is the step after the greatest value.
        let positive: Vec<f64> = (0..=31u64 << mantissa)
            .map(|raw| if raw == 31 << mantissa { 65536.0 } else { small_float(raw, mantissa) })
            .collect();
        for index in 0..20_000 {
            let mut value = f32::from_bits(random.bits() as u32 & 0x7fff_ffff);
            if index % 2 == 0 {
                // Most random bits are a float far outside the format's range. These floats are
                // from 2^-27 to 2^18, which is little more than the range.
                value =
                    f32::from_bits((random.bits() as u32 & 0x7f_ffff) + ((100 + index % 45) << 23));
            }
            if value.is_nan() {
                continue;
            }
            let exact = f64::from(value);
            let above = positive.partition_point(|&step| step < exact);
            let expected = match above {
                0 => 0,
                above if above == positive.len() => above - 1,
                above => {
                    let (down, up) = (exact - positive[above - 1], positive[above] - exact);
                    if down < up || down == up && (above - 1) % 2 == 0 { above - 1 } else { above }
                }
            } as u64;
            assert_eq!(
                encode(Encoding::Float, bits, value.to_bits()),
                expected,
                "{bits} bits, {value:e}"
            );
            let negative = if has_sign { expected | 1 << 15 } else { 0 };
            assert_eq!(
                encode(Encoding::Float, bits, (-value).to_bits()),
                negative,
                "{bits} bits, -{value:e}"
            );
        }
    }
}

/// Both parts of the sRGB curve of gen8_facts 9.1. The tolerance that it gives is not used: results
/// are rounded once, apart from the error of the power function.
#[test]
fn srgb() {
    for bits in [4, 5, 6, 8, 10] {
        let most = ((1u32 << bits) - 1) as f64;
        for raw in 0..1u64 << bits {
            let coded = raw as f64 / most;
            let exact =
                if coded <= 0.04045 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) };
            let found = linear(raw, bits);
            assert!(
                (f64::from(found) - exact).abs() <= exact * 1e-7,
                "{bits} bits {raw}: {found} {exact}"
            );
            assert_eq!(from_linear(found, bits), raw);
        }
        for value in floats() {
            let value = f64::from(value).clamp(0.0, 1.0);
            let exact = most
                * if value <= 0.0031308 {
                    12.92 * value
                } else {
                    1.055 * value.powf(1.0 / 2.4) - 0.055
                };
            let found = from_linear(value as f32, bits) as f64;
            assert!((found - exact).abs() <= 0.5 + 1e-6, "{bits} bits {value}: {found} {exact}");
        }
        assert_eq!(from_linear(f32::NAN, bits), 0);
        assert_eq!(from_linear(-1.0, bits), 0);
        assert_eq!(from_linear(f32::INFINITY, bits), most as u64);
    }
}

/// gen8_facts 9.2: mantissa * 2^(exponent - 15 - 9). Encoding uses the smallest exponent for which
/// the greatest mantissa is below 512, and the nearest mantissas.
#[test]
fn shared_exponents() {
    let mut random = Random::new(4);
    for _ in 0..20_000 {
        let word = random.bits() as u32;
        let (mantissas, exponent) = ([word & 511, word >> 9 & 511, word >> 18 & 511], word >> 27);
        let values = shared_exponent(mantissas, exponent).map(f32::from_bits);
        let unit = f64::from(exponent as i32 - 24).exp2();
        for (value, mantissa) in values.into_iter().zip(mantissas) {
            assert_eq!(f64::from(value), f64::from(mantissa) * unit);
        }
        let (again, exponent) = to_shared_exponent(values.map(f32::to_bits));
        assert_eq!(shared_exponent(again, exponent).map(f32::from_bits), values);

        let any = [0; 3]
            .map(|_| f32::from_bits((random.bits() as u32 & 0x7f_ffff) + ((95 + word % 50) << 23)));
        let any = any.map(|value| value.min(65408.0));
        let (found, exponent) = to_shared_exponent(any.map(f32::to_bits));
        let round = |value: f32, exponent: u32| {
            let exact = f64::from(value) / f64::from(exponent as i32 - 24).exp2();
            exact.round_ties_even() as u32
        };
        let least = (0..32)
            .find(|&exponent| any.iter().all(|&value| round(value, exponent) < 512))
            .unwrap();
        assert_eq!((found, exponent), (any.map(|value| round(value, least)), least), "{any:?}");
    }
    let odd = [f32::NAN, -1.0, f32::INFINITY].map(f32::to_bits);
    assert_eq!(to_shared_exponent(odd), ([0, 0, 511], 31));
}
