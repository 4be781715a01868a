//! Extended math: the tables of special values of 003:6034-6316, ordinary values in doubles, and
//! the layout of messages.

use crate::rig::{ANSWER, Rig, Send, before};
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::messages::{
    ExtendedMathMessageDescriptor, ExtendedMathMessageDescriptorIntegerType as IntegerType,
    ExtendedMathMessageDescriptorPrecision as Precision,
    ExtendedMathMessageDescriptorSourceStructure as Structure, Fc,
};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const DENORM: f32 = 1e-40;

/// A function in doubles.
type Exact = fn(f64) -> f64;

fn descriptor(function: Fc, responses: u64) -> ExtendedMathMessageDescriptor {
    ExtendedMathMessageDescriptor {
        math_function: function,
        response_length: crate::rig::u(responses),
        ..ExtendedMathMessageDescriptor::new()
    }
}

fn send(descriptor: ExtendedMathMessageDescriptor, payload: Vec<[u32; 8]>) -> Send {
    Send {
        mask: 0xff,
        channels: 8,
        ..Send::new(SharedFunction::Math, descriptor.pack()[0], payload)
    }
}

/// The results of a function for up to eight values of each operand.
fn floats(rig: &mut Rig, function: Fc, a: &[f32], b: Option<&[f32]>) -> Vec<f32> {
    let row = |values: &[f32]| {
        let mut row = [0; 8];
        row.iter_mut().zip(values).for_each(|(to, from)| *to = from.to_bits());
        row
    };
    let mut payload = vec![row(a)];
    payload.extend(b.map(row));
    rig.send(&send(descriptor(function, 1), payload)).unwrap();
    rig.answer(0)[..a.len()].iter().map(|bits| f32::from_bits(*bits)).collect()
}

fn same(found: f32, expected: f32) -> bool {
    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
}

/// Oracle: the tables of the manual. Columns that it leaves empty in ALT mode are left out.
#[test]
fn special_values() {
    let mut rig = Rig::new();
    let max = f32::MAX;
    let all = [INF, 0.0, DENORM, -0.0, -DENORM, -INF, NAN];
    let ieee: [(Fc, [f32; 7]); 7] = [
        (Fc::INV, [0.0, INF, INF, -INF, -INF, -0.0, NAN]),
        (Fc::LOG, [INF, -INF, -INF, -INF, -INF, NAN, NAN]),
        (Fc::EXP, [INF, 1.0, 1.0, 1.0, 1.0, 0.0, NAN]),
        (Fc::SQRT, [INF, 0.0, 0.0, -0.0, -0.0, NAN, NAN]),
        (Fc::RSQ, [0.0, INF, INF, -INF, -INF, NAN, NAN]),
        (Fc::SIN, [NAN, 0.0, 0.0, -0.0, -0.0, NAN, NAN]),
        // assumptions::G45_COSINE_OF_ZERO_IS_ONE
        (Fc::COS, [NAN, 1.0, 1.0, 1.0, 1.0, NAN, NAN]),
    ];
    for (function, expected) in ieee {
        let found = floats(&mut rig, function, &all, None);
        for ((input, found), expected) in all.iter().zip(&found).zip(expected) {
            assert!(same(*found, expected), "{function:?}({input}) = {found}, not {expected}");
        }
    }
    rig.alternative(true);
    let finite = [0.0, DENORM, -0.0, -DENORM, NAN];
    let alternative: [(Fc, [f32; 5]); 7] = [
        (Fc::INV, [max, max, -max, -max, NAN]),
        (Fc::LOG, [-max, -max, -max, -max, NAN]),
        (Fc::EXP, [1.0, 1.0, 1.0, 1.0, NAN]),
        (Fc::SQRT, [0.0, 0.0, 0.0, 0.0, NAN]),
        (Fc::RSQ, [max, max, max, max, NAN]),
        (Fc::SIN, [0.0, 0.0, -0.0, -0.0, NAN]),
        (Fc::COS, [1.0, 1.0, 1.0, 1.0, NAN]),
    ];
    for (function, expected) in alternative {
        let found = floats(&mut rig, function, &finite, None);
        for ((input, found), expected) in finite.iter().zip(&found).zip(expected) {
            assert!(same(*found, expected), "ALT {function:?}({input}) = {found}, not {expected}");
        }
    }
    // Negative numbers count with their magnitude in ALT mode.
    assert_eq!(floats(&mut rig, Fc::LOG, &[-8.0], None), [3.0]);
    assert_eq!(floats(&mut rig, Fc::SQRT, &[-16.0], None), [4.0]);
    assert_eq!(floats(&mut rig, Fc::RSQ, &[-16.0], None), [0.25]);
    rig.alternative(false);
    assert!(floats(&mut rig, Fc::LOG, &[-8.0], None)[0].is_nan());
    assert!(floats(&mut rig, Fc::SQRT, &[-16.0], None)[0].is_nan());
    assert!(floats(&mut rig, Fc::RSQ, &[-16.0], None)[0].is_nan());
}

/// Oracle: the tables of POW (003:6163-6181). The entry for a positive power of minus infinity
/// follows the formula (assumptions::POWER_OF_MINUS_INFINITY_IS_NAN).
#[test]
fn powers() {
    let mut rig = Rig::new();
    let bases = [4.0, 0.25, -1.0, INF, 0.0, -0.0, -INF, NAN];
    let table: [(f32, [f32; 8]); 7] = [
        (INF, [INF, 0.0, NAN, INF, 0.0, 0.0, INF, NAN]),
        (0.0, [1.0, 1.0, 1.0, NAN, NAN, NAN, NAN, NAN]),
        (-DENORM, [1.0, 1.0, 1.0, NAN, NAN, NAN, NAN, NAN]),
        (-INF, [0.0, INF, NAN, 0.0, INF, INF, 0.0, NAN]),
        (-0.5, [0.5, 2.0, 1.0, 0.0, INF, INF, 0.0, NAN]),
        (NAN, [NAN; 8]),
        (0.5, [2.0, 0.5, 1.0, INF, 0.0, 0.0, INF, NAN]),
    ];
    for (power, expected) in table {
        let found = floats(&mut rig, Fc::POW, &bases, Some(&[power; 8]));
        for ((base, found), expected) in bases.iter().zip(&found).zip(expected) {
            assert!(same(*found, expected), "{base} ^ {power} = {found}, not {expected}");
        }
    }
    rig.alternative(true);
    let bases = [4.0, 0.0, -DENORM, -4.0, NAN];
    let table: [(f32, [f32; 5]); 4] = [
        (0.0, [1.0, 1.0, 1.0, 1.0, NAN]),
        (-0.5, [0.5, f32::MAX, f32::MAX, 0.5, NAN]),
        (0.5, [2.0, 0.0, 0.0, 2.0, NAN]),
        (DENORM, [1.0, 1.0, 1.0, 1.0, NAN]),
    ];
    for (power, expected) in table {
        let found = floats(&mut rig, Fc::POW, &bases, Some(&[power; 5]));
        for ((base, found), expected) in bases.iter().zip(&found).zip(expected) {
            assert!(same(*found, expected), "ALT {base} ^ {power} = {found}, not {expected}");
        }
    }
}

/// Oracle: doubles of the standard library; the errors that the manual allows (003:6017-6240).
#[test]
fn ordinary_values() {
    let mut rig = Rig::new();
    let values = [0.001f32, 0.5, 0.9, 1.0, 1.7, 3.0, 12.5, 100.0];
    let relative: [(Fc, Exact, f64); 5] = [
        (Fc::INV, |x| 1.0 / x, 1.2e-7),
        (Fc::LOG, f64::log2, 5e-7),
        (Fc::EXP, f64::exp2, 5e-7),
        (Fc::SQRT, f64::sqrt, 1.2e-7),
        (Fc::RSQ, |x| 1.0 / x.sqrt(), 1.2e-7),
    ];
    for (function, exact, most) in relative {
        for (x, found) in values.iter().zip(floats(&mut rig, function, &values, None)) {
            let exact = exact(f64::from(*x));
            let error = (f64::from(found) - exact).abs();
            assert!(error <= most * exact.abs(), "{function:?}({x}) = {found}, exact {exact}");
        }
    }
    let absolute: [(Fc, Exact); 2] = [(Fc::SIN, f64::sin), (Fc::COS, f64::cos)];
    let angles = [-300.0f32, -3.1, -1.0, -0.1, 0.7, 2.0, 31.0, 310.0];
    for (function, exact) in absolute {
        for (x, found) in angles.iter().zip(floats(&mut rig, function, &angles, None)) {
            let error = (f64::from(found) - exact(f64::from(*x))).abs();
            assert!(error <= 0.0008 && found.abs() <= 1.0, "{function:?}({x}) = {found}");
        }
    }
    let powers = [0.3f32, -1.5, 2.0, 7.0, 0.01, -0.7, 3.3, 1.0];
    let found = floats(&mut rig, Fc::POW, &values, Some(&powers));
    for ((x, y), found) in values.iter().zip(powers).zip(found) {
        let exact = f64::from(*x).abs().powf(f64::from(y));
        assert!((f64::from(found) - exact).abs() <= exact / 32768.0, "{x} ^ {y} = {found}");
    }
    // A result that would be subnormal is zero.
    assert_eq!(floats(&mut rig, Fc::INV, &[f32::MAX], None)[0].to_bits(), 0);
    assert_eq!(floats(&mut rig, Fc::EXP, &[-140.0], None)[0].to_bits(), 0);
}

/// Oracle: the operators of the language, and the table of 003:6306-6316.
#[test]
fn integers() {
    let mut rig = Rig::new();
    let numerators = [7i32, -7, 7, -7, 5, -5, 0, i32::MIN];
    let denominators = [2i32, 2, -2, -2, 0, 0, 0, 3];
    let row = |values: [i32; 8]| values.map(|value| value as u32);
    let payload = vec![row(denominators), row(numerators)];
    let both = ExtendedMathMessageDescriptor {
        integer_type: IntegerType::SIGNED,
        ..descriptor(Fc::INT_DIV_BOTH, 2)
    };
    rig.send(&send(both, payload.clone())).unwrap();
    let max = i32::MAX;
    let quotients = row([3, -3, -3, 3, max, i32::MIN, max, i32::MIN / 3]);
    let remainders = row([1, -1, 1, -1, max, i32::MIN, max, i32::MIN % 3]);
    assert_eq!((rig.answer(0), rig.answer(1)), (quotients, remainders));
    for (function, expected) in
        [(Fc::INT_DIV_QUOTIENT, quotients), (Fc::INT_DIV_REMAINDER, remainders)]
    {
        let one = ExtendedMathMessageDescriptor {
            integer_type: IntegerType::SIGNED,
            ..descriptor(function, 1)
        };
        rig.send(&send(one, payload.clone())).unwrap();
        assert_eq!(rig.answer(0), expected);
        assert_eq!(rig.answer(1), std::array::from_fn(|n| before(ANSWER + 1, n)));
    }
    let numerators = [7u32, u32::MAX, 5, 0, 1 << 31, 9, 10, 11];
    let denominators = [2u32, 10, 0, 0, 3, 10, 10, 10];
    let unsigned = send(descriptor(Fc::INT_DIV_BOTH, 2), vec![denominators, numerators]);
    rig.send(&unsigned).unwrap();
    for (n, (numerator, denominator)) in numerators.into_iter().zip(denominators).enumerate() {
        let (quotient, remainder) = match denominator {
            0 => (u32::MAX, u32::MAX),
            d => (numerator / d, numerator % d),
        };
        assert_eq!((rig.answer(0)[n], rig.answer(1)[n]), (quotient, remainder));
    }
}

/// Vector and scalar structure, masks, 16 channels, saturation, two results, partial precision.
/// Oracle: the pseudocode of 003:6020 (srcCh) and the layouts of 003:5900-5978.
#[test]
fn layouts() {
    let mut rig = Rig::new();
    let a: [u32; 8] = std::array::from_fn(|n| f32::to_bits(1.0 + n as f32));
    let inverse = |n: usize| (1.0 / (1.0 + n as f32)).to_bits();
    for (mask, scalar) in
        [(0xffu32, false), (0x5a, false), (0x01, true), (0xf2, true), (0xff, true)]
    {
        let structure = if scalar { Structure::SCALAR } else { Structure::VECTOR };
        let descriptor = ExtendedMathMessageDescriptor {
            source_structure: structure,
            precision: Precision::PARTIAL,
            ..descriptor(Fc::INV, 1)
        };
        rig.send(&Send { mask, ..send(descriptor, vec![a]) }).unwrap();
        for n in 0..8 {
            let from = if scalar { if n < 4 { 0 } else { 4 } } else { n };
            let expected = if mask >> n & 1 == 1 { inverse(from) } else { before(ANSWER, n) };
            assert_eq!(rig.answer(0)[n], expected, "channel {n} of {mask:#x}");
        }
    }
    // Sixteen channels: two registers, each with its own enables.
    let b: [u32; 8] = std::array::from_fn(|n| f32::to_bits(9.0 + n as f32));
    let wide = Send { mask: 0xaaff, ..send(descriptor(Fc::INV, 2), vec![a, b]) };
    rig.send(&wide).unwrap();
    for n in 0..16 {
        let expected = match 0xaaff >> n & 1 {
            1 => inverse(n),
            _ => before(ANSWER + n / 8, n % 8),
        };
        assert_eq!(rig.answer(n / 8)[n % 8], expected);
    }
    // Sine, then cosine.
    let angles = [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
    rig.send(&send(descriptor(Fc::SINCOS, 2), vec![angles.map(f32::to_bits)])).unwrap();
    for (n, angle) in angles.into_iter().enumerate() {
        let [sine, cosine] = [rig.answer(0)[n], rig.answer(1)[n]].map(f32::from_bits);
        assert!((sine - angle.sin()).abs() < 1e-6 && (cosine - angle.cos()).abs() < 1e-6);
    }
    // Saturation clamps to [0, 1]; a NaN becomes 0.
    let saturated = ExtendedMathMessageDescriptor { saturate: true, ..descriptor(Fc::INV, 1) };
    let values = [2.0f32, 0.5, -1.0, NAN, INF, -0.0, 1.0, 0.0].map(f32::to_bits);
    rig.send(&send(saturated, vec![values])).unwrap();
    assert_eq!(rig.answer(0).map(f32::from_bits), [0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
}

/// Rules of 003:5863-5978.
#[test]
fn refused() {
    let mut rig = Rig::new();
    let one = vec![[0; 8]];
    let text = rig.refusal(&Send { eot: true, ..send(descriptor(Fc::INV, 0), one.clone()) });
    assert!(text.contains("cannot end"), "{text}");
    for number in [0, 9, 14, 15] {
        let text = rig.refusal(&send(descriptor(Fc::from_bits(number), 1), one.clone()));
        assert!(text.contains("reserved"), "{text}");
    }
    let text = rig.refusal(&send(descriptor(Fc::POW, 1), one.clone()));
    assert!(text.contains("needs 2 registers"), "{text}");
    let text = rig.refusal(&send(descriptor(Fc::SINCOS, 1), one));
    assert!(text.contains("answers with 2"), "{text}");
    let saturated =
        ExtendedMathMessageDescriptor { saturate: true, ..descriptor(Fc::INT_DIV_QUOTIENT, 1) };
    let text = rig.refusal(&send(saturated, vec![[1; 8]; 2]));
    assert!(text.contains("saturated"), "{text}");
}
