//! Tests of EU operations. Oracle: the same operations in Rust's own arithmetic, written for one
//! value, and worked examples of the manuals where named.

use crate::eu::support::{alu, grf, immediate, read, run, write};
use DataType::{B, D, Df, F, Hf, Q, Ub, Ud, Uq, Uw, W};
use genxml_eu::instruction::{
    Arf, Condition, DataType, Destination, Flag, Instruction, MathFunction, Operand, Region,
    Register, Source,
};
use genxml_eu::ops::Opcode;
use proptest::prelude::*;

/// The result of an operation on eight channels whose sources have the same values in each channel.
/// Checks that all channels have the same result.
fn one(instruction: impl Fn(&[Operand]) -> Instruction, types: &[DataType], values: &[u64]) -> u64 {
    let operands: Vec<Operand> =
        types.iter().enumerate().map(|(n, ty)| grf(10 + 10 * n as u8, *ty, 8)).collect();
    let instruction = instruction(&operands);
    let size = usize::from(instruction.destination.unwrap().ty.size());
    let thread = run(&[instruction], u32::MAX, |thread| {
        for (n, (ty, value)) in types.iter().zip(values).enumerate() {
            for channel in 0..8 {
                let size = usize::from(ty.size());
                write(thread, 10 + 10 * n, channel * size, size, *value);
            }
        }
    })
    .unwrap();
    let first = read(&thread, 50, 0, size);
    for channel in 1..8 {
        assert_eq!(
            read(&thread, 50, channel * size, size),
            first,
            "channel {channel} of {instruction:?}"
        );
    }
    first
}

fn plain(opcode: Opcode, dst: DataType, types: &[DataType], values: &[u64]) -> u64 {
    one(|operands| alu(opcode, 8, dst, 50, operands), types, values)
}

fn saturated(opcode: Opcode, dst: DataType, types: &[DataType], values: &[u64]) -> u64 {
    one(
        |operands| Instruction { saturate: true, ..alu(opcode, 8, dst, 50, operands) },
        types,
        values,
    )
}

fn float(opcode: Opcode, values: &[f32]) -> f32 {
    let bits: Vec<u64> = values.iter().map(|value| u64::from(value.to_bits())).collect();
    f32::from_bits(plain(opcode, F, &vec![F; values.len()], &bits) as u32)
}

/// A number after the flush of subnormals, which hardware does before and after arithmetic.
fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

fn floats() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<f32>(),
        -100f32..100f32,
        prop::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            0.5,
            2.5,
            -1.5,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            1e-40
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn dwords(a: i32, b: i32, c: i32) {
        let (ua, ub, uc) = (a as u32, b as u32, c as u32);
        let of = |opcode, ty, values: &[u32]| {
            let values: Vec<u64> = values.iter().map(|&value| value.into()).collect();
            plain(opcode, ty, &vec![ty; values.len()], &values) as u32
        };
        let (sum, product) = (i64::from(a) + i64::from(b), i64::from(a) * i64::from(b));
        prop_assert_eq!(of(Opcode::Add, D, &[ua, ub]), sum as u32);
        prop_assert_eq!(of(Opcode::Mul, D, &[ua, ub]), product as u32);
        prop_assert_eq!(plain(Opcode::Mul, Q, &[D, D], &[ua.into(), ub.into()]), product as u64);
        prop_assert_eq!(saturated(Opcode::Add, D, &[D, D], &[ua.into(), ub.into()]) as i32, a.saturating_add(b));
        prop_assert_eq!(saturated(Opcode::Add, Ud, &[Ud, Ud], &[ua.into(), ub.into()]) as u32, ua.saturating_add(ub));
        prop_assert_eq!(of(Opcode::Avg, D, &[ua, ub]), ((sum + 1) >> 1) as u32);
        prop_assert_eq!(of(Opcode::And, Ud, &[ua, ub]), ua & ub);
        prop_assert_eq!(of(Opcode::Or, Ud, &[ua, ub]), ua | ub);
        prop_assert_eq!(of(Opcode::Xor, Ud, &[ua, ub]), ua ^ ub);
        prop_assert_eq!(of(Opcode::Not, Ud, &[ua]), !ua);
        prop_assert_eq!(of(Opcode::Shl, Ud, &[ua, ub]), ua.wrapping_shl(ub));
        prop_assert_eq!(of(Opcode::Shr, Ud, &[ua, ub]), ua.wrapping_shr(ub));
        prop_assert_eq!(of(Opcode::Asr, D, &[ua, ub]), a.wrapping_shr(ub) as u32);
        prop_assert_eq!(of(Opcode::Lzd, Ud, &[ua]), ua.leading_zeros());
        prop_assert_eq!(of(Opcode::Cbit, Ud, &[ua]), ua.count_ones());
        prop_assert_eq!(of(Opcode::Bfrev, Ud, &[ua]), ua.reverse_bits());
        prop_assert_eq!(of(Opcode::Fbl, Ud, &[ua]), (0..32).find(|n| ua >> n & 1 == 1).unwrap_or(u32::MAX));
        let from_above = |bit: u32| (0..32).find(|n| ua >> (31 - n) & 1 == bit).unwrap_or(u32::MAX);
        prop_assert_eq!(of(Opcode::Fbh, Ud, &[ua]), from_above(1));
        prop_assert_eq!(of(Opcode::Fbh, D, &[ua]), from_above(1 - (ua >> 31)));
        let (width, offset) = (ua & 31, ub & 31);
        let ones = (1u64 << width) - 1;
        prop_assert_eq!(of(Opcode::Bfi1, Ud, &[ua, ub]), (ones << offset) as u32);
        prop_assert_eq!(of(Opcode::Bfe, Ud, &[ua, ub, uc]), ((u64::from(uc) >> offset) & ones) as u32);
        let wide = i64::from(c) >> offset & ones as i64;
        let top = (width + offset).min(32) - offset.min(32);
        let signed = if width == 0 || top == 0 { 0 } else { (wide << (64 - top)) >> (64 - top) };
        prop_assert_eq!(of(Opcode::Bfe, D, &[ua, ub, uc]), signed as u32);
        let shift = if ua == 0 { 0 } else { ua.trailing_zeros() };
        prop_assert_eq!(of(Opcode::Bfi2, Ud, &[ua, ub, uc]), (ub << shift) & ua | uc & !ua);
    }

    #[test]
    fn words_bytes_and_qwords(a: u64, b: u64) {
        prop_assert_eq!(plain(Opcode::Add, Q, &[Q, Q], &[a, b]), a.wrapping_add(b));
        prop_assert_eq!(plain(Opcode::And, Uq, &[Uq, Uq], &[a, b]), a & b);
        prop_assert_eq!(plain(Opcode::Shl, Uq, &[Uq, Uq], &[a, b & 63]), a << (b & 63));
        prop_assert_eq!(plain(Opcode::Shr, Uq, &[Uq, Uq], &[a, b & 63]), a >> (b & 63));
        let (w, v) = (a as i16, b as i16);
        prop_assert_eq!(plain(Opcode::Add, W, &[W, W], &[a, b]) as i16, w.wrapping_add(v));
        prop_assert_eq!(saturated(Opcode::Add, W, &[W, W], &[a, b]) as i16, w.saturating_add(v));
        prop_assert_eq!(plain(Opcode::Add, D, &[W, W], &[a, b]) as i32, i32::from(w) + i32::from(v));
        prop_assert_eq!(plain(Opcode::Mul, D, &[W, W], &[a, b]) as i32, i32::from(w) * i32::from(v));
        prop_assert_eq!(saturated(Opcode::Mov, Ub, &[W], &[a]) as u8, w.clamp(0, 255) as u8);
        prop_assert_eq!(plain(Opcode::Mov, D, &[B], &[a]) as i32, i32::from(a as i8));
        prop_assert_eq!(plain(Opcode::Mov, Ud, &[Ub], &[a]) as u32, u32::from(a as u8));
        prop_assert_eq!(plain(Opcode::Mov, F, &[Q], &[a]) as u32, (a as i64 as f32).to_bits());
        prop_assert_eq!(plain(Opcode::Mov, F, &[Ud], &[a]) as u32, (a as u32 as f32).to_bits());
    }

    #[test]
    fn single_floats(a in floats(), b in floats(), c in floats()) {
        let (x, y, z) = (flushed(a), flushed(b), flushed(c));
        prop_assert!(same(float(Opcode::Add, &[a, b]), flushed(x + y)));
        prop_assert!(same(float(Opcode::Mul, &[a, b]), flushed(x * y)));
        // Oracle: the C library's fma.
        let fused = flushed(y.mul_add(z, x));
        prop_assert!(same(float(Opcode::Mad, &[a, b, c]), fused), "{a} + {b} * {c} is {fused}");
        prop_assert!(same(float(Opcode::Rndd, &[a]), x.floor()));
        prop_assert!(same(float(Opcode::Rndu, &[a]), x.ceil()));
        prop_assert!(same(float(Opcode::Rndz, &[a]), x.trunc()));
        prop_assert!(same(float(Opcode::Rnde, &[a]), x.round_ties_even()));
        let fraction = float(Opcode::Frc, &[a]);
        prop_assert!(!x.is_finite() || (0.0..1.0).contains(&fraction) && (fraction - (x - x.floor())).abs() < 1e-6);
        let pick = |condition| f32::from_bits(one(
            |operands| Instruction { condition: Some(condition), ..alu(Opcode::Sel, 8, F, 50, operands) },
            &[F, F],
            &[a.to_bits().into(), b.to_bits().into()],
        ) as u32);
        // Rust's minimum and maximum prefer the number to the NaN as well.
        let (least, most) = (pick(Condition::Less), pick(Condition::GreaterEqual));
        prop_assert!(least == x.min(y) || least.is_nan() && x.is_nan() && y.is_nan(), "{x} {y} {least}");
        prop_assert!(most == x.max(y) || most.is_nan() && x.is_nan() && y.is_nan(), "{x} {y} {most}");
    }

    #[test]
    fn conversions(a in floats(), d: f64, h: u16) {
        let bits = u64::from(a.to_bits());
        prop_assert_eq!(plain(Opcode::Mov, D, &[F], &[bits]) as i32, a as i32);
        prop_assert_eq!(plain(Opcode::Mov, Ud, &[F], &[bits]) as u32, a as u32);
        prop_assert_eq!(plain(Opcode::Mov, W, &[F], &[bits]) as i16, a as i16);
        prop_assert_eq!(plain(Opcode::Mov, F, &[F], &[bits]), bits, "a raw copy keeps every bit");
        let wide = f64::from_bits(plain(Opcode::Mov, Df, &[F], &[bits]));
        prop_assert!(wide == f64::from(a) || a.is_nan() && wide.is_nan());
        let narrow = f32::from_bits(plain(Opcode::Mov, F, &[Df], &[d.to_bits()]) as u32);
        prop_assert!(same(narrow, d as f32));
        prop_assert_eq!(plain(Opcode::Mov, Hf, &[Hf], &[h.into()]) as u16, h);
        let clamped = f32::from_bits(saturated(Opcode::Mov, F, &[F], &[bits]) as u32);
        let expected = if a.is_nan() { 0.0 } else { flushed(a).clamp(0.0, 1.0) };
        prop_assert_eq!(clamped, expected);
    }

    #[test]
    fn comparisons(a in floats(), b in floats(), x: i32, y: i32) {
        let (u, v) = (flushed(a), flushed(b));
        for (condition, float, int) in [
            (Condition::Equal, u == v, x == y),
            (Condition::NotEqual, u != v, x != y),
            (Condition::Greater, u > v, x > y),
            (Condition::GreaterEqual, u >= v, x >= y),
            (Condition::Less, u < v, x < y),
            (Condition::LessEqual, u <= v, x <= y),
        ] {
            let compare = |ty: DataType, values: [u32; 2]| {
                one(
                    |operands| Instruction { condition: Some(condition), ..alu(Opcode::Cmp, 8, ty, 50, operands) },
                    &[ty, ty],
                    &values.map(u64::from),
                ) as u32
            };
            prop_assert_eq!(compare(F, [a.to_bits(), b.to_bits()]), if float { u32::MAX } else { 0 });
            prop_assert_eq!(compare(D, [x as u32, y as u32]), if int { u32::MAX } else { 0 });
        }
    }

    #[test]
    fn division(a: i32, b: i32) {
        let divide = |ty: DataType, function| {
            one(
                |operands| Instruction { math: Some(function), ..alu(Opcode::Math, 8, ty, 50, operands) },
                &[ty, ty],
                &[a as u32 as u64, b as u32 as u64],
            ) as u32
        };
        if b != 0 {
            prop_assert_eq!(divide(D, MathFunction::IntQuotient) as i32, a.wrapping_div(b));
            prop_assert_eq!(divide(D, MathFunction::IntRemainder) as i32, a.wrapping_rem(b));
            prop_assert_eq!(divide(Ud, MathFunction::IntQuotient), a as u32 / b as u32);
        }
    }

    /// Oracle: 003:12168-12174: the sequence mul, mach, mov gives all 64 bits of a product of
    /// dwords.
    #[test]
    fn long_products(a: i32, b: i32) {
        let acc = Register::Arf { file: Arf::Accumulator, number: 0, byte: 0 };
        let low_words = Operand::Register(Source::new(
            Register::grf(20),
            Uw,
            Region::new(16, 8, 2),
        ));
        let acc_source = Operand::Register(Source::new(acc, D, Region::packed(8)));
        let body = [
            Instruction {
                destination: Some(Destination::new(acc, D)),
                ..alu(Opcode::Mul, 8, D, 0, &[grf(10, D, 8), low_words])
            },
            Instruction { acc_write: true, ..alu(Opcode::Mach, 8, D, 50, &[grf(10, D, 8), grf(20, D, 8)]) },
            alu(Opcode::Mov, 8, D, 51, &[acc_source]),
        ];
        let thread = run(&body, u32::MAX, |thread| {
            write(thread, 10, 0, 4, a as u32 as u64);
            write(thread, 20, 0, 4, b as u32 as u64);
        })
        .unwrap();
        let product = (i64::from(a) * i64::from(b)) as u64;
        prop_assert_eq!(read(&thread, 50, 0, 4) << 32 | read(&thread, 51, 0, 4), product);
    }
}

/// Oracle: 001:16960, an arithmetic shift of -1 is -1 whatever the count.
#[test]
fn shift_of_minus_one() {
    for count in [0, 1, 31] {
        assert_eq!(plain(Opcode::Asr, D, &[D, D], &[u32::MAX.into(), count]) as u32, u32::MAX);
    }
}

/// Oracle: 003:6295-6316, division by zero.
#[test]
fn division_by_zero() {
    let divide = |ty: DataType, function, a: u32| {
        one(
            |operands| Instruction {
                math: Some(function),
                ..alu(Opcode::Math, 8, ty, 50, operands)
            },
            &[ty, ty],
            &[a.into(), 0],
        ) as u32
    };
    for function in [MathFunction::IntQuotient, MathFunction::IntRemainder] {
        assert_eq!(divide(D, function, 5), 0x7fff_ffff);
        assert_eq!(divide(D, function, -5i32 as u32), 0x8000_0000);
        assert_eq!(divide(Ud, function, 5), 0xffff_ffff);
    }
}

/// Oracle: 003:6017-6183, special values of the math functions.
#[test]
fn special_values() {
    let math = |function, a: f32, b: f32| {
        f32::from_bits(one(
            |operands| Instruction {
                math: Some(function),
                ..alu(Opcode::Math, 8, F, 50, operands)
            },
            &[F, F],
            &[a.to_bits().into(), b.to_bits().into()],
        ) as u32)
    };
    use MathFunction::{Cos, Exp, Inverse, InverseSquareRoot, Log, Power, SquareRoot};
    assert_eq!(math(Inverse, -0.0, 0.0), f32::NEG_INFINITY);
    assert_eq!(math(Inverse, f32::NEG_INFINITY, 0.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(math(Log, 0.0, 0.0), f32::NEG_INFINITY);
    assert!(math(Log, -1.0, 0.0).is_nan());
    assert_eq!(math(Log, 8.0, 0.0), 3.0);
    assert_eq!(math(Exp, f32::NEG_INFINITY, 0.0), 0.0);
    assert_eq!(math(Exp, 5.0, 0.0), 32.0);
    assert_eq!(math(SquareRoot, -0.0, 0.0).to_bits(), (-0.0f32).to_bits());
    assert!(math(InverseSquareRoot, -4.0, 0.0).is_nan());
    assert_eq!(math(InverseSquareRoot, 4.0, 0.0), 0.5);
    assert_eq!(math(Cos, 0.0, 0.0), 1.0);
    assert_eq!(math(Power, -2.0, 3.0), 8.0);
    assert_eq!(math(Power, 0.0, 2.0), 0.0);
    assert!(math(Power, 0.0, 0.0).is_nan());
}

/// Oracle: 004:1092-1222, packed vectors of 4-bit integers and of 8-bit floats.
#[test]
fn packed_vectors() {
    let body = [
        alu(Opcode::Mov, 8, W, 50, &[immediate(DataType::V, 0xfedc_7654)]),
        alu(Opcode::Mov, 8, Uw, 51, &[immediate(DataType::Uv, 0xfedc_7654)]),
        alu(Opcode::Mov, 4, F, 52, &[immediate(DataType::Vf, 0xb040_3000)]),
    ];
    let thread = run(&body, u32::MAX, |_| {}).unwrap();
    let words: Vec<i16> = (0..8).map(|n| read(&thread, 50, 2 * n, 2) as i16).collect();
    assert_eq!(words, [4, 5, 6, 7, -4, -3, -2, -1]);
    let words: Vec<u16> = (0..8).map(|n| read(&thread, 51, 2 * n, 2) as u16).collect();
    assert_eq!(words, [4, 5, 6, 7, 12, 13, 14, 15]);
    let floats: Vec<f32> =
        (0..4).map(|n| f32::from_bits(read(&thread, 52, 4 * n, 4) as u32)).collect();
    assert_eq!(floats, [0.0, 1.0, 2.0, -1.0]);
}

/// Oracle: a kernel of a media driver (vp_krn_364) sets acc0.3 and adds to it by a `mac` of one
/// channel whose destination is r23.3. So the implied accumulator element has the same offset in
/// its register as the destination.
#[test]
fn implied_accumulators_lie_where_the_destination_does() {
    let at = |number, element: u8| Register::Grf { number, byte: 4 * element };
    let scalar = |register| Operand::Register(Source::new(register, F, Region::SCALAR));
    let accumulator = Register::Arf { file: Arf::Accumulator, number: 0, byte: 12 };
    let set = Instruction {
        destination: Some(Destination::new(accumulator, F)),
        ..alu(Opcode::Mov, 1, F, 0, &[scalar(at(26, 0))])
    };
    let add = Instruction {
        destination: Some(Destination::new(at(23, 3), F)),
        ..alu(Opcode::Mac, 1, F, 0, &[scalar(at(24, 0)), immediate(F, u64::from(1f32.to_bits()))])
    };
    let thread = run(&[set, add], 1, |thread| {
        write(thread, 26, 0, 4, u64::from(5f32.to_bits()));
        write(thread, 24, 0, 4, u64::from(2f32.to_bits()));
    })
    .unwrap();
    assert_eq!(f32::from_bits(read(&thread, 23, 12, 4) as u32), 7.0);
}

/// Oracle: Mesa's two instructions for `subtractSaturate` of GL_INTEL_shader_integer_functions2,
/// whose definition is the difference, or 0 if it is negative. The region of the accumulator is one
/// element.
#[test]
fn accumulator_sources_follow_the_destination() {
    let register = Register::Arf { file: Arf::Accumulator, number: 0, byte: 0 };
    let set = Instruction {
        destination: Some(Destination::new(register, Ud)),
        ..alu(Opcode::Mov, 8, Ud, 0, &[grf(18, Ud, 8)])
    };
    let subtrahend = Source { negate: true, ..Source::new(register, Ud, Region::SCALAR) };
    let add = Instruction {
        saturate: true,
        ..alu(Opcode::Add, 8, Ud, 19, &[Operand::Register(subtrahend), grf(14, Ud, 8)])
    };
    let values = [0u32, 1, 0xf0f0_f0f0, 7, 0x7fff_ffff, 0x8000_0000, u32::MAX, 48];
    for shift in 0..8 {
        let other = |n: usize| values[(n + shift) % 8];
        let thread = run(&[set, add], 0xff, |thread| {
            for (n, value) in values.into_iter().enumerate() {
                write(thread, 14, 4 * n, 4, value.into());
                write(thread, 18, 4 * n, 4, other(n).into());
            }
        })
        .unwrap();
        let found: Vec<u32> = (0..8).map(|n| read(&thread, 19, 4 * n, 4) as u32).collect();
        let wanted: Vec<u32> = (0..8).map(|n| values[n].saturating_sub(other(n))).collect();
        assert_eq!(found, wanted, "shift {shift}");
    }
}

/// Oracle: Mesa's four instructions for `subtractSaturate` of 16 signed numbers, whose definition is
/// the difference, or the nearest number of the type. They use `shr` on signed numbers.
#[test]
fn shr_extends_the_sign_of_signed_numbers() {
    let minus = |number| {
        let Operand::Register(source) = grf(number, D, 16) else { unreachable!() };
        Operand::Register(Source { negate: true, ..source })
    };
    let saturated = |instruction| Instruction { saturate: true, ..instruction };
    let body = [
        alu(Opcode::Shr, 16, D, 68, &[grf(31, D, 16), immediate(D, 1)]),
        alu(Opcode::Add, 16, D, 70, &[grf(31, D, 16), minus(68)]),
        saturated(alu(Opcode::Add, 16, D, 72, &[grf(23, D, 16), minus(68)])),
        saturated(alu(Opcode::Add, 16, D, 32, &[grf(72, D, 16), minus(70)])),
    ];
    let values = [0, 1, -1, i32::MIN, i32::MIN + 1, i32::MAX, 7, 58, -6, -40, 0x3124, -0x5000];
    for shift in 0..values.len() {
        let value = |n: usize| values[n % values.len()];
        let thread = run(&body, 0xffff, |thread| {
            for n in 0..16 {
                write(thread, 23, 4 * n, 4, value(n) as u32 as u64);
                write(thread, 31, 4 * n, 4, value(n + shift) as u32 as u64);
            }
        })
        .unwrap();
        let found: Vec<i32> = (0..16).map(|n| read(&thread, 32, 4 * n, 4) as i32).collect();
        let wanted: Vec<i32> = (0..16).map(|n| value(n).saturating_sub(value(n + shift))).collect();
        assert_eq!(found, wanted, "shift {shift}");
    }
}

/// Oracle: kernels of Intel's compiler (compiler_double_div) compare channels 0 to 15 and 16 to 31
/// into f1.0 with two instructions and branch on all 32. The upper half writes the upper 16 bits.
#[test]
fn upper_channels_have_flags_of_their_own() {
    let compare = |offset, register| Instruction {
        channel_offset: offset,
        condition: Some(Condition::Equal),
        flag: Flag { register: 1, subregister: 0 },
        destination: Some(Destination::new(Register::NULL, D)),
        ..alu(Opcode::Cmp, 16, D, 0, &[grf(register, D, 16), immediate(D, 0)])
    };
    let thread = run(&[compare(0, 10), compare(16, 12)], u32::MAX, |thread| {
        write(thread, 10, 4, 4, 1);
        write(thread, 12, 8, 4, 1);
    })
    .unwrap();
    assert_eq!((thread.regs.flags() >> 32) as u32, !(1 << 1 | 1 << 18));
}

/// Oracle: 2b SrcMod, logic: negation is the complement. The absolute value has no effect, with or
/// without negation.
#[test]
fn modifiers_of_logic() {
    for (negate, absolute, expected) in [
        (false, false, 0x8000_0001u32),
        (true, false, 0x7fff_fffe),
        (false, true, 0x8000_0001),
        (true, true, 0x8000_0001),
    ] {
        let result = one(
            |operands| {
                let mut not = alu(Opcode::And, 8, Ud, 50, operands);
                if let Operand::Register(source) = &mut not.sources[0] {
                    (source.negate, source.absolute) = (negate, absolute);
                }
                not
            },
            &[Ud, Ud],
            &[0x8000_0001, u64::from(u32::MAX)],
        );
        assert_eq!(result as u32, expected, "{negate} {absolute}");
    }
}

/// Oracle: eu.md 3.5: only a product of two dwords uses the low word of source 1 without its sign.
/// A source that is a word keeps its sign.
#[test]
fn words_keep_their_sign_in_the_accumulator() {
    let accumulator = Register::Arf { file: Arf::Accumulator, number: 0, byte: 0 };
    let product = Instruction {
        destination: Some(Destination::new(accumulator, D)),
        ..alu(Opcode::Mul, 8, D, 0, &[grf(10, D, 8), immediate(W, 0xfffb)])
    };
    let back = alu(
        Opcode::Mov,
        8,
        D,
        50,
        &[Operand::Register(Source::new(accumulator, D, Region::packed(8)))],
    );
    let thread = run(&[product, back], u32::MAX, |thread| write(thread, 10, 0, 4, 7)).unwrap();
    assert_eq!(read(&thread, 50, 0, 4) as i32, -35);
}
