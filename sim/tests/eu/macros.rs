//! The division and square root macros that Intel's compiler makes (sequences of
//! intel-graphics-compiler, vISA's TranslationFE; the quotient of doubles is in corpus/eu too,
//! compiler_double_div). Oracle for quotients: LLVM's software floats, with the last step in each
//! rounding mode. Oracle for square roots: the processor's IEEE 754 instruction, in nearest mode.

use crate::eu::case::Values;
use crate::eu::support::run_with;
use DataType::{Df, F};
use genxml_eu::instruction::{
    AccessMode, DataType, Destination, Flag, Instruction, MacroAccumulator, MathFunction, Operand,
    Region, Register, Source,
};
use genxml_eu::ops::Opcode;
use genxml_sim::eu::Thread;
use genxml_testkit::Random;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round};

/// Channels of a macro: as many as a register holds.
fn channels(ty: DataType) -> usize {
    32 / usize::from(ty.size())
}

const NONE: u8 = 8;

/// A source: its register, its extended accumulator, and true if it is negated.
fn operand(ty: DataType, (register, accumulator, negate): (u8, u8, bool)) -> Operand {
    Operand::Register(Source {
        negate,
        macro_accumulator: Some(MacroAccumulator(accumulator)),
        ..Source::new(Register::grf(register), ty, Region::new(4, 4, 1))
    })
}

fn destination(ty: DataType, register: u8, accumulator: u8) -> Option<Destination> {
    Some(Destination {
        macro_accumulator: Some(MacroAccumulator(accumulator)),
        ..Destination::new(Register::grf(register), ty)
    })
}

fn begin(ty: DataType, function: MathFunction, to: (u8, u8), sources: &[u8]) -> Instruction {
    let mut i = Instruction {
        math: Some(function),
        access_mode: AccessMode::Align16,
        flag: Flag { register: 1, subregister: 0 },
        destination: destination(ty, to.0, to.1),
        ..Instruction::new(Opcode::Math, channels(ty) as u8)
    };
    for (slot, register) in i.sources.iter_mut().zip(sources) {
        *slot = operand(ty, (*register, NONE, false));
    }
    i
}

type Step = (u8, u8, [(u8, u8, bool); 3]);

/// `madm` for the channels that the first step has not finished.
fn step(ty: DataType, (register, accumulator, sources): Step) -> Instruction {
    Instruction {
        access_mode: AccessMode::Align16,
        flag: Flag { register: 1, subregister: 0 },
        predicate: Some(genxml_eu::instruction::Predicate {
            control: genxml_eu::instruction::PredicateControl::Sequential,
            inverse: true,
        }),
        destination: destination(ty, register, accumulator),
        sources: sources.map(|source| operand(ty, source)),
        ..Instruction::new(Opcode::Madm, channels(ty) as u8)
    }
}

// Registers of the macros: r2 zero, r3 one, r4 the denominator, r5 one half, r6 the numerator or
// radicand, r7 one and a half, r8 the result. `p` makes an operand with its sign, `m` a negated
// one.
const fn p(register: u8, accumulator: u8) -> (u8, u8, bool) {
    (register, accumulator, false)
}
const fn m(register: u8, accumulator: u8) -> (u8, u8, bool) {
    (register, accumulator, true)
}

/// Steps of a quotient of single floats. The compiler restores the rounding mode before the last
/// step.
const SINGLE_QUOTIENT: [Step; 7] = [
    (9, 1, [p(2, NONE), p(6, NONE), p(8, 0)]),
    (10, 2, [p(3, NONE), m(4, NONE), p(8, 0)]),
    (1, 3, [p(8, 0), p(10, 2), p(8, 0)]),
    (11, 4, [p(6, NONE), m(4, NONE), p(9, 1)]),
    (9, 5, [p(9, 1), p(11, 4), p(1, 3)]),
    (12, 6, [p(6, NONE), m(4, NONE), p(9, 5)]),
    (8, NONE, [p(9, 5), p(12, 6), p(1, 3)]),
];

/// Steps of a quotient of doubles, as in the corpus.
const DOUBLE_QUOTIENT: [Step; 10] = [
    (54, 1, [p(2, NONE), p(6, NONE), p(8, 0)]),
    (20, 2, [p(3, NONE), m(4, NONE), p(8, 0)]),
    (24, 3, [p(6, NONE), m(4, NONE), p(54, 1)]),
    (50, 4, [p(8, 0), p(20, 2), p(8, 0)]),
    (86, 5, [p(3, NONE), m(4, NONE), p(50, 4)]),
    (8, 6, [p(8, 0), p(20, 2), p(50, 4)]),
    (54, 7, [p(54, 1), p(24, 3), p(50, 4)]),
    (50, 0, [p(50, 4), p(8, 6), p(86, 5)]),
    (24, 1, [p(6, NONE), m(4, NONE), p(54, 7)]),
    (8, NONE, [p(54, 7), p(24, 1), p(50, 0)]),
];

const SINGLE_ROOT: [Step; 7] = [
    (9, 1, [p(2, NONE), p(5, NONE), p(8, 0)]),
    (11, 2, [p(2, NONE), p(6, NONE), p(8, 0)]),
    (10, 3, [p(5, NONE), m(11, 2), p(9, 1)]),
    (9, 4, [p(9, 1), p(10, 3), p(9, 1)]),
    (8, 5, [p(11, 2), p(10, 3), p(11, 2)]),
    (10, 6, [p(6, NONE), m(8, 5), p(8, 5)]),
    (8, NONE, [p(8, 5), p(9, 4), p(10, 6)]),
];

const DOUBLE_ROOT: [Step; 10] = [
    (9, 1, [p(2, NONE), p(5, NONE), p(8, 0)]),
    (11, 2, [p(2, NONE), p(6, NONE), p(8, 0)]),
    (10, 3, [p(5, NONE), m(11, 2), p(9, 1)]),
    (12, 5, [p(3, NONE), p(7, NONE), p(10, 3)]),
    (8, 6, [p(2, NONE), p(10, 3), p(11, 2)]),
    (10, 7, [p(2, NONE), p(10, 3), p(9, 1)]),
    (8, 6, [p(11, 2), p(12, 5), p(8, 6)]),
    (12, 5, [p(9, 1), p(12, 5), p(10, 7)]),
    (9, 1, [p(6, NONE), m(8, 6), p(8, 6)]),
    (8, NONE, [p(8, 6), p(9, 1), p(12, 5)]),
];

fn bits(ty: DataType, value: f64) -> u64 {
    if ty == Df { value.to_bits() } else { u64::from((value as f32).to_bits()) }
}

fn put(thread: &mut Thread, ty: DataType, register: usize, values: &[u64]) {
    let size = usize::from(ty.size());
    for (c, value) in values.iter().enumerate() {
        let at = 32 * register + c * size;
        thread.regs.grf_mut()[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

/// Runs a macro on the operands of each channel and returns the results. Subnormal numbers are
/// kept, as in compiled code. The rounding mode is for the last step only.
fn evaluate(
    ty: DataType,
    function: MathFunction,
    steps: &[Step],
    a: &[u64],
    b: &[u64],
    rounding: u32,
) -> Vec<u64> {
    let keep = 1 << 6 | 1 << 7 | 1 << 10;
    let two = function == MathFunction::InverseMacro;
    let mut body = vec![begin(ty, function, (8, 0), if two { &[6, 4] } else { &[6] })];
    body.extend(steps.iter().map(|s| step(ty, *s)));
    // Set the rounding mode of the last step, as the compiler does.
    let last = body.pop().unwrap();
    body.push(Instruction {
        no_mask: true,
        destination: Some(Destination::new(
            Register::Arf { file: genxml_eu::instruction::Arf::Control, number: 0, byte: 0 },
            DataType::Ud,
        )),
        sources: [
            crate::eu::support::immediate(DataType::Ud, u64::from(keep | rounding << 4)),
            Operand::None,
            Operand::None,
        ],
        ..Instruction::new(Opcode::Mov, 1)
    });
    body.push(last);
    let n = channels(ty);
    let thread = run_with(&body, u32::MAX, keep, |thread| {
        let constant = |value: f64| vec![bits(ty, value); n];
        put(thread, ty, 2, &constant(0.0));
        put(thread, ty, 3, &constant(1.0));
        put(thread, ty, 4, b);
        put(thread, ty, 5, &constant(0.5));
        put(thread, ty, 6, a);
        put(thread, ty, 7, &constant(1.5));
    })
    .unwrap();
    let size = usize::from(ty.size());
    (0..n).map(|c| crate::eu::support::read(&thread, 8, c * size, size)).collect()
}

fn divide(ty: DataType, a: u64, b: u64, round: Round) -> u64 {
    match ty {
        Df => Double::from_bits(a.into()).div_r(Double::from_bits(b.into()), round).value.to_bits()
            as u64,
        _ => Single::from_bits(a.into()).div_r(Single::from_bits(b.into()), round).value.to_bits()
            as u64,
    }
}

fn root(ty: DataType, a: u64) -> u64 {
    match ty {
        Df => f64::from_bits(a).sqrt().to_bits(),
        _ => f32::from_bits(a as u32).sqrt().to_bits().into(),
    }
}

fn nan(ty: DataType, bits: u64) -> bool {
    if ty == Df { f64::from_bits(bits).is_nan() } else { f32::from_bits(bits as u32).is_nan() }
}

const ROUNDS: [Round; 4] =
    [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero];

fn operands(random: &mut Random, ty: DataType) -> Vec<u64> {
    (0..channels(ty)).map(|_| random.value(ty)).collect()
}

#[test]
fn quotients() {
    let mut random = Random::new(1);
    for (ty, steps, rounds) in [(F, &SINGLE_QUOTIENT[..], 6000), (Df, &DOUBLE_QUOTIENT[..], 6000)] {
        for n in 0..rounds {
            let (a, b) = (operands(&mut random, ty), operands(&mut random, ty));
            let mode = n % 4;
            let results = evaluate(ty, MathFunction::InverseMacro, steps, &a, &b, mode as u32);
            for c in 0..channels(ty) {
                let expected = divide(ty, a[c], b[c], ROUNDS[mode]);
                let same = results[c] == expected || nan(ty, results[c]) && nan(ty, expected);
                assert!(
                    same,
                    "{ty:?} {:#x} / {:#x} = {:#x}, not {expected:#x}, mode {mode}",
                    a[c], b[c], results[c]
                );
            }
        }
    }
}

#[test]
fn square_roots() {
    let mut random = Random::new(2);
    for (ty, steps, rounds) in [(F, &SINGLE_ROOT[..], 4000), (Df, &DOUBLE_ROOT[..], 4000)] {
        for _ in 0..rounds {
            let a = operands(&mut random, ty);
            let results = evaluate(ty, MathFunction::InverseSquareRootMacro, steps, &a, &a, 0);
            for c in 0..channels(ty) {
                let expected = root(ty, a[c]);
                let same = results[c] == expected || nan(ty, results[c]) && nan(ty, expected);
                assert!(same, "{ty:?} root of {:#x} = {:#x}, not {expected:#x}", a[c], results[c]);
            }
        }
    }
}

/// Oracle: IGC's documentation of INVM and RSQTM: the first step sets the flag if the final result
/// is a NaN, an infinity or a zero.
#[test]
fn special_values_end_early() {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for ty in [F, Df] {
        for a in [1.0, -3.0].into_iter().chain(special) {
            for b in [2.0, -0.5].into_iter().chain(special) {
                let n = channels(ty);
                let early = |function, sources: &[u8]| {
                    let body = [begin(ty, function, (8, 0), sources)];
                    let thread = run_with(&body, u32::MAX, 0, |thread| {
                        put(thread, ty, 6, &vec![bits(ty, a); n]);
                        put(thread, ty, 4, &vec![bits(ty, b); n]);
                    })
                    .unwrap();
                    let flags = (thread.regs.flags() >> 32) as u32;
                    assert!(flags == 0 || flags == (1 << n) - 1, "{flags:#x}");
                    (flags != 0, crate::eu::support::read(&thread, 8, 0, ty.size().into()))
                };
                let is_special = |value: f64| value == 0.0 || !value.is_finite();
                let (ended, value) = early(MathFunction::InverseMacro, &[6, 4]);
                assert_eq!(ended, is_special(a) || is_special(b), "{a} / {b}");
                let quotient = divide(ty, bits(ty, a), bits(ty, b), Round::NearestTiesToEven);
                assert!(
                    !ended || value == quotient || nan(ty, value) && nan(ty, quotient),
                    "{a} / {b}"
                );
                let (ended, value) = early(MathFunction::InverseSquareRootMacro, &[6]);
                assert_eq!(ended, is_special(a) || a < 0.0, "root of {a}");
                let expected = root(ty, bits(ty, a));
                assert!(
                    !ended || value == expected || nan(ty, value) && nan(ty, expected),
                    "root of {a}"
                );
            }
        }
    }
}
