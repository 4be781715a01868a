//! Tables and worked examples of the manuals, row by row.

use crate::eu::support::{grf, immediate, read, run_with, write};
use crate::float_tables::{
    ALT_FACTORS, ALT_PRODUCTS, ALT_SINGLES, CMP, CMPN, Comparison, FACTORS, PRODUCTS, SINGLES,
    SUMS, check_cell,
};
use DataType::{B, D, Df, F, Ub, Ud, Uw, W};
use genxml_eu::instruction::{
    AccessMode, Arf, Condition, DataType, Destination, Instruction, MathFunction, Operand, Region,
    Register, Source,
};
use genxml_eu::ops::Opcode;
use genxml_sim::eu::Thread;

/// `cr0.0` that keeps subnormal numbers of all types.
const KEEP: u32 = 1 << 6 | 1 << 7 | 1 << 10;
const ALT: u32 = 1;

/// The result and the flag of an instruction on one channel. Its sources begin at r10, r20 and r30,
/// its destination is r50.
fn one(instruction: Instruction, control: u32, values: &[(DataType, u64)]) -> (u64, bool) {
    let size = usize::from(instruction.destination.unwrap().ty.size());
    let thread = run_with(&[instruction], 1, control, |thread| {
        for (n, (ty, value)) in values.iter().enumerate() {
            write(thread, 10 + 10 * n, 0, ty.size().into(), *value);
        }
    })
    .unwrap();
    (read(&thread, 50, 0, size), thread.regs.flags() & 1 == 1)
}

fn plain(opcode: Opcode, to: DataType, types: &[DataType]) -> Instruction {
    let mut i = Instruction::new(opcode, 1);
    i.destination = Some(Destination::new(Register::grf(50), to));
    for (n, ty) in types.iter().enumerate() {
        i.sources[n] = grf(10 + 10 * n as u8, *ty, 1);
    }
    i
}

fn float(opcode: Opcode, control: u32, values: &[f32]) -> f32 {
    let values: Vec<_> = values.iter().map(|value| (F, u64::from(value.to_bits()))).collect();
    let types: Vec<DataType> = values.iter().map(|value| value.0).collect();
    f32::from_bits(one(plain(opcode, F, &types), control, &values).0 as u32)
}

const DOUBLES: [f64; 9] =
    [f64::NEG_INFINITY, -2.5, -1e-310, -0.0, 0.0, 1e-310, 2.5, f64::INFINITY, f64::NAN];

fn compares(
    opcode: Opcode,
    condition: Condition,
    ty: DataType,
    control: u32,
    a: u64,
    b: u64,
) -> bool {
    let i = Instruction { condition: Some(condition), ..plain(opcode, ty, &[ty, ty]) };
    let (result, flag) = one(i, control, &[(ty, a), (ty, b)]);
    let ones = u64::MAX >> (64 - 8 * u32::from(ty.size()));
    assert_eq!(result, if flag { ones } else { 0 });
    flag
}

/// 004:1378-1518. Cells with a star depend on whether subnormal numbers are kept. The first table
/// of the manual has errors: its row of +finite is one cell too long, and +inf is greater than
/// itself. Both are corrected here as in the older manual.
const KEPT: [(Condition, Comparison); 6] = [
    (
        Condition::Greater,
        [
            "FFFFFFFFF",
            "T?FFFFFFF",
            "TT*FFFFFF",
            "TT*FFFFFF",
            "TT*FFFFFF",
            "TT****FFF",
            "TTTTTT?FF",
            "TTTTTTTFF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::Less,
        [
            "FTTTTTTTF",
            "F?TTTTTTF",
            "FF****TTF",
            "FFFFF*TTF",
            "FFFFF*TTF",
            "FFFFF*TTF",
            "FFFFFF?TF",
            "FFFFFFFFF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::Equal,
        [
            "TFFFFFFFF",
            "F?FFFFFFF",
            "FF****FFF",
            "FF*TT*FFF",
            "FF*TT*FFF",
            "FF****FFF",
            "FFFFFF?FF",
            "FFFFFFFTF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::NotEqual,
        [
            "FTTTTTTTT",
            "T?TTTTTTT",
            "TT****TTT",
            "TT*FF*TTT",
            "TT*FF*TTT",
            "TT****TTT",
            "TTTTTT?TT",
            "TTTTTTTFT",
            "TTTTTTTTT",
        ],
    ),
    (
        Condition::LessEqual,
        [
            "TTTTTTTTF",
            "F?TTTTTTF",
            "FF****TTF",
            "FF*TT*TTF",
            "FF*TT*TTF",
            "FF****TTF",
            "FFFFFF?TF",
            "FFFFFFFTF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::GreaterEqual,
        [
            "TFFFFFFFF",
            "T?FFFFFFF",
            "TT****FFF",
            "TT*TT*FFF",
            "TT*TT*FFF",
            "TT****FFF",
            "TTTTTT?FF",
            "TTTTTTTTF",
            "FFFFFFFFF",
        ],
    ),
];

fn check(what: &str, cell: u8, actual: bool) {
    match cell {
        b'T' => assert!(actual, "{what}"),
        b'F' => assert!(!actual, "{what}"),
        _ => {}
    }
}

/// Broadwell has `cmpn` with l and ge only.
#[test]
fn comparisons() {
    for (opcode, tables) in [(Opcode::Cmp, &CMP), (Opcode::Cmpn, &CMPN)] {
        for (condition, table) in tables {
            let exists = matches!(condition, Condition::Less | Condition::GreaterEqual);
            if opcode == Opcode::Cmpn && !exists {
                continue;
            }
            for (row, a) in table.iter().zip(SINGLES) {
                for (cell, b) in row.bytes().zip(SINGLES) {
                    let actual =
                        compares(opcode, *condition, F, 0, a.to_bits().into(), b.to_bits().into());
                    check(&format!("{opcode} {condition:?} {a} {b}"), cell, actual);
                }
            }
        }
    }
    for (condition, table) in KEPT {
        for (row, a) in table.iter().zip(DOUBLES) {
            for (cell, b) in row.bytes().zip(DOUBLES) {
                let actual = compares(Opcode::Cmp, condition, Df, KEEP, a.to_bits(), b.to_bits());
                check(&format!("{condition:?} {a} {b}"), cell, actual);
            }
        }
    }
}

/// Oracle: 003:9151-9165 and 004:1520-1537: minimum and maximum by the macro (cmpn, then sel), and
/// by a sel with a condition, which replaces both instructions.
#[test]
fn minimum_and_maximum() {
    for a in SINGLES {
        for b in SINGLES {
            for condition in [Condition::Less, Condition::GreaterEqual] {
                let flag = compares(
                    Opcode::Cmpn,
                    condition,
                    F,
                    KEEP,
                    a.to_bits().into(),
                    b.to_bits().into(),
                );
                let by_macro = if flag { a } else { b };
                let i =
                    Instruction { condition: Some(condition), ..plain(Opcode::Sel, F, &[F, F]) };
                let values = [(F, a.to_bits().into()), (F, b.to_bits().into())];
                let by_sel = f32::from_bits(one(i, KEEP, &values).0 as u32);
                assert!(
                    by_macro == by_sel || by_macro.is_nan() && by_sel.is_nan(),
                    "{condition:?} {a} {b}"
                );
                let expected = match (a.is_nan(), b.is_nan()) {
                    (false, true) => a,
                    (_, true) | (true, false) => b,
                    _ if condition == Condition::Less => a.min(b),
                    _ => a.max(b),
                };
                assert!(
                    by_sel == expected || by_sel.is_nan() && expected.is_nan(),
                    "{condition:?} {a} {b}"
                );
            }
        }
    }
}

/// Oracle: 003:10840 and 10859, addition, with rows and columns as in [`SUMS`]. The manual prints
/// "-finite" for the sum of -fmax and a finite number, which cannot change fmax: any number is
/// accepted.
#[test]
fn additions() {
    for (row, b) in SUMS.iter().zip(SINGLES) {
        for (cell, a) in row.bytes().zip(SINGLES) {
            check_cell(&format!("{a} + {b}"), cell, b, a, float(Opcode::Add, 0, &[a, b]));
        }
    }
    let alt = [
        "mmmmmm?Z", "m?AAAA?M", "mBzzZZBM", "mBzzZZBM", "mBZZZZBM", "mBZZZZBM", "??AAAA?M",
        "ZMMMMMMM",
    ];
    for (row, b) in alt.iter().zip(ALT_SINGLES) {
        for (cell, a) in row.bytes().zip(ALT_SINGLES) {
            check_cell(
                &format!("{a} + {b} in ALT mode"),
                cell,
                b,
                a,
                float(Opcode::Add, ALT | KEEP, &[a, b]),
            );
        }
    }
}

/// Oracle: 003:12460 and 12479, multiplication.
#[test]
fn multiplications() {
    for (row, b) in PRODUCTS.iter().zip(FACTORS) {
        for (cell, a) in row.bytes().zip(FACTORS) {
            check_cell(&format!("{a} * {b}"), cell, b, a, float(Opcode::Mul, 0, &[a, b]));
        }
    }
    for (row, b) in ALT_PRODUCTS.iter().zip(ALT_FACTORS) {
        for (cell, a) in row.bytes().zip(ALT_FACTORS) {
            check_cell(
                &format!("{a} * {b} in ALT mode"),
                cell,
                b,
                a,
                float(Opcode::Mul, ALT, &[a, b]),
            );
        }
    }
}

/// Oracle: 003:11730-11760 (frc) and 12868-13135 (rnd*): zeros, subnormal numbers, infinities, and
/// that fractions are in [0, 1). The older rounding instructions return an integer and an
/// increment; the sum of the two is the result of the instructions tested here.
#[test]
fn fractions_and_integral_values() {
    for (cell, a) in "n?ZZZZ?nn".bytes().zip(SINGLES) {
        for rounding in 0..4 {
            let actual = float(Opcode::Frc, rounding << 4, &[a]);
            check_cell(&format!("frc {a}"), cell, a, a, actual);
            assert!(actual.is_nan() || (0.0..1.0).contains(&actual), "frc {a} is {actual}");
        }
    }
    assert!(float(Opcode::Frc, 0, &[-1e-20]) < 1.0);
    for opcode in [Opcode::Rndd, Opcode::Rndu, Opcode::Rnde, Opcode::Rndz] {
        for (cell, a) in "i?zzZZ?In".bytes().zip(SINGLES) {
            check_cell(&format!("{opcode} {a}"), cell, a, a, float(opcode, 0, &[a]));
        }
    }
    for (a, down, up, even, zero) in [
        (2.5, 2.0, 3.0, 2.0, 2.0),
        (-2.5, -3.0, -2.0, -2.0, -2.0),
        (3.5, 3.0, 4.0, 4.0, 3.0),
        (-0.25, -1.0, -0.0, -0.0, -0.0),
    ] {
        let all = [Opcode::Rndd, Opcode::Rndu, Opcode::Rnde, Opcode::Rndz]
            .map(|op| float(op, 0, &[a]).to_bits());
        assert_eq!(all, [down, up, even, zero].map(f32::to_bits), "{a}");
    }
}

/// Oracle: 004:1640-1681, conversions of single floats to integers.
#[test]
fn floats_to_integers() {
    let types = [Ud, D, Uw, W, Ub, B];
    let above = [0xffff_ffff, 0x7fff_ffff, 0xffff, 0x7fff, 0xff, 0x7f];
    let below = [0, 0x8000_0000, 0, 0x8000, 0, 0x80];
    for (value, row) in [
        (0.0, [0; 6]),
        (-0.0, [0; 6]),
        (1e-40, [0; 6]),
        (-1e-40, [0; 6]),
        (f32::NAN, [0; 6]),
        (-f32::NAN, [0; 6]),
        (f32::INFINITY, above),
        (f32::NEG_INFINITY, below),
        (4294967296.0, above),
        (-4294967808.0, below),
    ] {
        for (ty, expected) in types.into_iter().zip(row) {
            for saturate in [false, true] {
                let i = Instruction { saturate, ..plain(Opcode::Mov, ty, &[F]) };
                let (result, _) = one(i, 0, &[(F, value.to_bits().into())]);
                assert_eq!(result, expected, "{value} as {ty:?}");
            }
        }
    }
}

/// Oracle: 004:1731-1776: conversions of each class of doubles to singles, and of singles to
/// doubles. Subnormal numbers are kept in every mode (004:1329).
#[test]
fn doubles_and_singles() {
    for (a, expected) in DOUBLES.into_iter().zip("i?zzZZ?In".bytes()) {
        let (result, _) = one(plain(Opcode::Mov, F, &[Df]), 0, &[(Df, a.to_bits())]);
        check_cell(&format!("{a} as single"), expected, 0.0, 0.0, f32::from_bits(result as u32));
    }
    let (result, _) = one(plain(Opcode::Mov, F, &[Df]), 0, &[(Df, 1e-40f64.to_bits())]);
    assert_eq!(f32::from_bits(result as u32), 1e-40, "the result must be subnormal");
    for a in SINGLES {
        let (result, _) = one(plain(Opcode::Mov, Df, &[F]), 0, &[(F, a.to_bits().into())]);
        let wide = f64::from_bits(result);
        assert!(wide.to_bits() == f64::from(a).to_bits() || a.is_nan() && wide.is_nan(), "{a}");
    }
}

fn math(function: MathFunction, control: u32, a: f32, b: f32) -> f32 {
    let two = function.sources() == 2;
    let types = if two { &[F, F][..] } else { &[F] };
    let i = Instruction { math: Some(function), ..plain(Opcode::Math, F, types) };
    let values = [(F, u64::from(a.to_bits())), (F, u64::from(b.to_bits()))];
    f32::from_bits(one(i, control, &values[..types.len()]).0 as u32)
}

/// Oracle: 003:6017-6316, special values of each function. Columns: +inf, +0, +subnormal, -0,
/// -subnormal, -inf, -2.5, NaN. Cells with ! are not checked: the table does not have them, or, for
/// the cosine of zeros in IEEE mode, has a misprint (the row of ALT mode has 1).
#[test]
fn math_functions() {
    use MathFunction::{Cos, Exp, Inverse, InverseSquareRoot, Log, Sin, SquareRoot};
    let values = [f32::INFINITY, 0.0, 1e-40, -0.0, -1e-40, f32::NEG_INFINITY, -2.5, f32::NAN];
    for (function, ieee, alt) in [
        (Inverse, "ZIIiiz!n", "!MMmm!!n"),
        (Log, "Iiiiinnn", "!mmmm!?n"),
        (Exp, "IOOOOZ?n", "!OOOO!?n"),
        (SquareRoot, "IZZzznnn", "!ZZZZ!?n"),
        (InverseSquareRoot, "ZIIiinnn", "!MMMM!?n"),
        (Sin, "nZZzzn?n", "!ZZzz!?n"),
        (Cos, "n!!!!n?n", "!OOOO!?n"),
    ] {
        for (control, row) in [(0, ieee), (ALT, alt)] {
            for (cell, a) in row.bytes().zip(values) {
                let what = format!("{} {a}, control {control}", function.name());
                check_cell(&what, cell, a, a, math(function, control, a, 0.0));
            }
        }
    }
    assert_eq!(math(Cos, 0, 0.0, 0.0), 1.0);
}

/// Oracle: 003:6160-6183. Rows: the exponent; columns: |x| > 1, |x| < 1, |x| = 1, +inf, +0,
/// +subnormal, -subnormal, -0, -inf, NaN. The manual prints NaN for minus infinity to a positive
/// power, see assumptions::POWER_OF_MINUS_INFINITY_IS_NAN.
#[test]
fn powers() {
    let bases =
        [3.0, 0.5, 1.0, f32::INFINITY, 0.0, 1e-40, -1e-40, -0.0, f32::NEG_INFINITY, f32::NAN];
    for (y, row) in [
        (f32::INFINITY, "IZnIZZZZIn"),
        (0.0, "OOOnnnnnnn"),
        (1e-40, "OOOnnnnnnn"),
        (-0.0, "OOOnnnnnnn"),
        (f32::NEG_INFINITY, "ZInZIIIIZn"),
        (-2.5, "???ZIIIIZn"),
        (f32::NAN, "nnnnnnnnnn"),
        (2.5, "???IZZZZ!n"),
    ] {
        for (cell, x) in row.bytes().zip(bases) {
            check_cell(&format!("{x} ^ {y}"), cell, x, y, math(MathFunction::Power, 0, x, y));
        }
    }
    let minus = math(MathFunction::Power, 0, f32::NEG_INFINITY, 2.5);
    assert_eq!(minus.is_nan(), genxml_sim::assumptions::POWER_OF_MINUS_INFINITY_IS_NAN);
    let bases = [2.0, 0.0, 1e-40, -0.0, -1e-40, -2.0, f32::NAN];
    for (y, row) in [
        (0.0, "OOOOOOn"),
        (-0.0, "OOOOOOn"),
        (-2.0, "?MMMM?n"),
        (f32::NAN, "!nnnn!n"),
        (2.0, "?ZZZZ?n"),
    ] {
        for (cell, x) in row.bytes().zip(bases) {
            check_cell(
                &format!("{x} ^ {y} in ALT mode"),
                cell,
                x,
                y,
                math(MathFunction::Power, ALT, x, y),
            );
        }
    }
}

/// Oracle: 003:6295-6316: the signs of quotient and remainder, which one instruction computes, and
/// division by zero.
#[test]
fn integer_division() {
    let i = Instruction {
        math: Some(MathFunction::IntQuotientRemainder),
        ..plain(Opcode::Math, D, &[D, D])
    };
    for (a, b, quotient, remainder) in [
        (7, 2, 3, 1),
        (7, -2, -3, 1),
        (-7, 2, -3, -1),
        (-7, -2, 3, -1),
        (0, 5, 0, 0),
        (5, 0, i32::MAX, i32::MAX),
        (-5, 0, i32::MIN, i32::MIN),
        (0, 0, i32::MAX, i32::MAX),
    ] {
        let thread = run_with(&[i], 1, 0, |thread| {
            write(thread, 10, 0, 4, a as u32 as u64);
            write(thread, 20, 0, 4, b as u32 as u64);
        })
        .unwrap();
        let both = (read(&thread, 50, 0, 4) as i32, read(&thread, 51, 0, 4) as i32);
        assert_eq!(both, (quotient, remainder), "{a} / {b}");
    }
}

/// Oracle: corpus/eu/vf_float.tsv, all 256 restricted floats, made by Mesa.
#[test]
fn restricted_floats() {
    let Some(corpus) = genxml_testkit::corpus::folder() else { return };
    let text = std::fs::read_to_string(corpus.join("eu/vf_float.tsv")).unwrap();
    let mut count = 0;
    for line in text.lines().skip(1) {
        let hex = |column: usize| {
            let cell = line.split('\t').nth(column).unwrap().trim_start_matches("0x");
            u64::from_str_radix(cell, 16).unwrap()
        };
        let i = Instruction {
            sources: [immediate(DataType::Vf, hex(0)), Operand::None, Operand::None],
            ..plain(Opcode::Mov, F, &[])
        };
        assert_eq!(one(i, 0, &[]).0, hex(1), "{line}");
        count += 1;
    }
    assert_eq!(count, 256);
}

fn accumulator(ty: DataType, number: u8, size: u8) -> Operand {
    let register = Register::Arf { file: Arf::Accumulator, number, byte: 0 };
    Operand::Register(Source::new(register, ty, Region::packed(size)))
}

/// Oracle: 004:2754-2760: a sum of dwords that does not fit a dword stays whole in the accumulator.
#[test]
fn sums_stay_whole_in_the_accumulator() {
    let register = Register::Arf { file: Arf::Accumulator, number: 0, byte: 0 };
    let body = [
        Instruction {
            destination: Some(Destination::new(register, Ud)),
            sources: [grf(10, Ud, 8), grf(20, Ud, 8), Operand::None],
            ..Instruction::new(Opcode::Add, 8)
        },
        Instruction {
            destination: Some(Destination::new(Register::grf(50), Ud)),
            sources: [accumulator(Ud, 0, 8), immediate(Ud, 1), Operand::None],
            ..Instruction::new(Opcode::Asr, 8)
        },
    ];
    let thread = run_with(&body, u32::MAX, 0, |thread| {
        write(thread, 10, 0, 4, 0xffff_ffff);
        write(thread, 20, 0, 4, 0xffff_ffff);
    })
    .unwrap();
    assert_eq!(thread.acc.integer(0, genxml_sim::eu::uop::Type::Ud), 0x1_ffff_fffe);
    assert_eq!(read(&thread, 50, 0, 4), 0xffff_ffff);
}

/// Oracle: 004:2697-2709: which of the two accumulators an instruction with AccWrEn updates.
#[test]
fn accumulators_of_halves() {
    let add = |size: u8, first: u8, ty: DataType| Instruction {
        acc_write: true,
        channel_offset: first,
        destination: Some(Destination::new(Register::grf(50), ty)),
        sources: [grf(10, ty, size), grf(12, ty, size), Operand::None],
        ..Instruction::new(Opcode::Add, size)
    };
    let half = DataType::Hf;
    for (i, first, count) in [
        (add(16, 0, F), 0, 64),
        (add(8, 0, F), 0, 32),
        (add(8, 8, F), 32, 32),
        (add(16, 16, half), 32, 32),
    ] {
        let thread = run_with(&[i], u32::MAX, 0, |thread| {
            for n in 0..64 {
                write(thread, 10, n, 1, 0x3c);
                write(thread, 12, n, 1, 0);
                thread.acc.set_bits(n / 2 * 2, 2, 0xabcd);
            }
        })
        .unwrap();
        for at in (0..64).step_by(2) {
            let expected = if (first..first + count).contains(&at) { 0x3c3c } else { 0xabcd };
            assert_eq!(thread.acc.bits(at, 2), expected, "byte {at} after {i}");
        }
    }
}

fn swizzled(register: u8, byte: u8, vertical: u8, swizzle: [u8; 4]) -> Operand {
    Operand::Register(Source {
        swizzle,
        ..Source::new(Register::Grf { number: register, byte }, F, Region::new(vertical, 4, 1))
    })
}

fn tuples(thread: &mut Thread) {
    for (register, base) in [(2, 1.0f32), (3, 100.0), (4, -1.0)] {
        for n in 0..8 {
            write(thread, register, 4 * n, 4, (base * (n as f32 + 1.0)).to_bits().into());
        }
    }
}

fn row(thread: &Thread, register: usize) -> Vec<f32> {
    (0..8).map(|n| f32::from_bits(read(thread, register, 4 * n, 4) as u32)).collect()
}

/// Oracle: 004:1992-2072, the examples of four channels and of two times four with their masks.
#[test]
fn tuples_of_four() {
    let add = |size: u8, to: u8, no_mask: bool, a: Operand, b: Operand| Instruction {
        access_mode: AccessMode::Align16,
        no_mask,
        destination: Some(Destination { write_mask: 7, ..Destination::new(Register::grf(to), F) }),
        sources: [a, b, Operand::None],
        ..Instruction::new(Opcode::Add, size)
    };
    // add (4) r3<4>.xyz:f r2<4>.yzwx:f r2.4<4>.zwxy:f {NoMask}
    let i = add(4, 3, true, swizzled(2, 0, 4, [1, 2, 3, 0]), swizzled(2, 16, 4, [2, 3, 0, 1]));
    let thread = run_with(&[i], 0x8000_0000, 0, tuples).unwrap();
    assert_eq!(row(&thread, 3), [9.0, 11.0, 9.0, 400.0, 500.0, 600.0, 700.0, 800.0]);
    // add (8) r4<4>.xyz:f r2<4>.yxzw:f r3<4>.zwxy:f with both vectors enabled, then with one
    let i = add(8, 4, false, swizzled(2, 0, 4, [1, 0, 2, 3]), swizzled(3, 0, 4, [2, 3, 0, 1]));
    let thread = run_with(&[i], 0xff, 0, tuples).unwrap();
    assert_eq!(row(&thread, 4), [302.0, 401.0, 103.0, -4.0, 706.0, 805.0, 507.0, -8.0]);
    let thread = run_with(&[i], 0x0f, 0, tuples).unwrap();
    assert_eq!(row(&thread, 4), [302.0, 401.0, 103.0, -4.0, -5.0, -6.0, -7.0, -8.0]);
    // add (8) r4<4>.xyz:f r2<0>.yzwx:f r3<4>.zwxy:f: one vector for both
    let i = add(8, 4, false, swizzled(2, 0, 0, [1, 2, 3, 0]), swizzled(3, 0, 4, [2, 3, 0, 1]));
    let thread = run_with(&[i], 0xff, 0, tuples).unwrap();
    assert_eq!(row(&thread, 4), [302.0, 403.0, 104.0, -4.0, 702.0, 803.0, 504.0, -8.0]);
}

/// Oracle: 000:305, r0.0<4>.zywz:f.
#[test]
fn example_of_a_swizzle() {
    let i = Instruction {
        access_mode: AccessMode::Align16,
        destination: Some(Destination::new(Register::grf(50), F)),
        sources: [swizzled(2, 0, 4, [2, 1, 3, 2]), Operand::None, Operand::None],
        ..Instruction::new(Opcode::Mov, 8)
    };
    let thread = run_with(&[i], 0xff, 0, tuples).unwrap();
    assert_eq!(row(&thread, 50), [3.0, 2.0, 4.0, 3.0, 7.0, 6.0, 8.0, 7.0]);
}

/// Oracle: Intel's OpenCL compiler (driver 22.43) keeps a double in the upper half of the register
/// whose lower half this instruction writes, `mad (2) r1.0.xy:df r34.0 + r4.1 * r121.0`, and adds
/// it afterwards (`cospi` of a constant).
#[test]
fn a_pair_of_channel_enables_is_for_a_double() {
    let dwords = [0x0020_015b, 0x0106_d804, 0x3b82_2088, 0x1e42_2008];
    let mad = genxml_eu::decode::decode(&dwords).unwrap();
    let thread = run_with(&[mad], u32::MAX, 0, |thread| {
        for (register, offset, value) in
            [(1, 0, 0.5f64), (1, 8, 8.0), (34, 0, 1.0), (4, 8, 2.0), (121, 0, 3.0)]
        {
            write(thread, register, offset, 8, value.to_bits());
        }
    })
    .unwrap();
    let found = [0, 8].map(|offset| f64::from_bits(read(&thread, 1, offset, 8)));
    assert_eq!(found, [7.0, 8.0]);
}
