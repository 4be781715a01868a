//! Tables of the manual, row by row.

use super::float_tables::{
    ALT_FACTORS, ALT_PRODUCTS, ALT_SINGLES, FACTORS, PRODUCTS, SINGLES, SUMS, check_cell,
};
use super::support::{launch, read, run, write};
use genxml_sim::eu::{Launch, Thread};

/// `cr0.0` of ALT mode.
const ALT: u32 = 1;

/// Runs instructions on 16 channels: `a` is in g10 and g11, `b` in g12 and g13.
pub fn pairs(text: &str, control: u32, pairs: &[(f32, f32)]) -> Thread {
    let start = Launch { control, ..launch(0xffff) };
    run(text, &start, |thread| {
        for (n, (a, b)) in pairs.iter().enumerate() {
            write_at(thread, 10, n, *a);
            write_at(thread, 12, n, *b);
        }
    })
    .unwrap()
}

fn write_at(thread: &mut Thread, register: usize, n: usize, value: f32) {
    thread.regs.set_u32(32 * register + 4 * n, value.to_bits());
}

fn check_table(opcode: &str, control: u32, table: &[&str], values: &[f32]) {
    for (row, b) in table.iter().zip(values) {
        let operands: Vec<_> = values.iter().map(|a| (*a, *b)).collect();
        let text = format!("{opcode}(16) g20<1>F g10<8,8,1>F g12<8,8,1>F {{ align1 compr }};");
        let thread = pairs(&text, control, &operands);
        for (n, (cell, a)) in row.bytes().zip(values).enumerate() {
            let actual = f32::from_bits(read(&thread, 20, n, 4));
            check_cell(&format!("{opcode} {a} {b} ({control})"), cell, *b, *a, actual);
        }
    }
}

/// Tables 14-1 and 14-2, with rows and columns as in [`SUMS`]. For sums of fmax and a small number
/// of the other sign, some cells have fmax and some "finite"; any number is accepted.
#[test]
fn additions() {
    check_table("add", 0, &SUMS, &SINGLES);
    let alt = [
        "mmmmmm?Z", "m?AAAA??", "mBzzZZBM", "mBzzZZBM", "mBZZZZBM", "mBZZZZBM", "??AAAA?M",
        "Z?MMMMMM",
    ];
    check_table("add", ALT, &alt, &ALT_SINGLES);
}

/// Tables 14-5 and 14-6.
#[test]
fn multiplications() {
    check_table("mul", 0, &PRODUCTS, &FACTORS);
    check_table("mul", ALT, &ALT_PRODUCTS, &ALT_FACTORS);
}

/// Tables 14-3, 14-4 and 14-7 to 14-14: the destination and the increment of the rounding
/// instructions, and fractions.
#[test]
fn fractions_and_rounding() {
    let values = SINGLES.map(|a| (a, 0.0));
    let thread = pairs("frc(16) g20<1>F g10<8,8,1>F { align1 compr };", 0, &values);
    for (n, cell) in "n?ZZZZ?nn".bytes().enumerate() {
        let actual = f32::from_bits(read(&thread, 20, n, 4));
        check_cell(&format!("frc {}", SINGLES[n]), cell, 0.0, 0.0, actual);
    }
    // Finite numbers with floor, and with the increments that up, even and zero need.
    let finite = [
        (2.5, 2.0, [1, 0, 0]),
        (3.5, 3.0, [1, 1, 0]),
        (-2.5, -3.0, [1, 1, 1]),
        (-0.25, -1.0, [1, 1, 1]),
        (0.75, 0.0, [1, 1, 0]),
        (4.0, 4.0, [0, 0, 0]),
        (-7.0, -7.0, [0, 0, 0]),
    ];
    let special = SINGLES.iter().zip("i?zzZZ?In".bytes());
    let mut operands: Vec<_> = special.clone().map(|(a, _)| (*a, 0.0)).collect();
    operands.extend(finite.map(|(a, ..)| (a, 0.0)));
    for (which, opcode) in ["rndd", "rndu", "rnde", "rndz"].into_iter().enumerate() {
        // `rndd.r` clears the flag.
        let text = format!(
            "mov(1) f0<1>UD 0xffffffffUD {{ align1 nomask }};
             {opcode}.r.f0.0(16) g20<1>F g10<8,8,1>F {{ align1 compr }};"
        );
        let thread = pairs(&text, 0, &operands);
        for (n, (a, cell)) in special.clone().enumerate() {
            let actual = f32::from_bits(read(&thread, 20, n, 4));
            check_cell(&format!("{opcode} {a}"), cell, 0.0, 0.0, actual);
            if cell != b'?' {
                assert_eq!(thread.regs.flags() >> n & 1, 0, "{opcode} {a}");
            }
        }
        for (n, (a, floor, more)) in finite.into_iter().enumerate() {
            let actual = f32::from_bits(read(&thread, 20, 9 + n, 4));
            assert_eq!(actual, floor, "{opcode} {a}");
            let expected = if which == 0 { 0 } else { more[which - 1] };
            assert_eq!(thread.regs.flags() >> (9 + n) & 1, expected, "{opcode} {a}");
        }
    }
}

/// 003:7257-7265, conversions of floats to integers, and 003:7284, of integers to floats.
#[test]
fn conversions() {
    let values = [
        0.0,
        -0.0,
        1e-40,
        -1e-40,
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        4294967296.0,
        -4294967808.0,
        2.75,
    ]
    .map(|a| (a, 0.0));
    let types = ["UD", "D", "UW", "W", "UB", "B"];
    let above = [0xffff_ffff, 0x7fff_ffff, 0xffff, 0x7fff, 0xff, 0x7f];
    let below = [0, 0x8000_0000, 0, 0x8000, 0, 0x80];
    for (t, ty) in types.into_iter().enumerate() {
        let (size, stride) = match ty.trim_start_matches('U') {
            "D" => (4, 1),
            "W" => (2, 2),
            _ => (1, 4),
        };
        let text = format!("mov(16) g20<{stride}>{ty} g10<8,8,1>F {{ align1 compr }};");
        let thread = pairs(&text, 0, &values);
        let result = |n: usize| read(&thread, 20, n * stride, size);
        for (n, (value, _)) in values.iter().enumerate().take(6) {
            assert_eq!(result(n), 0, "{value} as {ty}");
        }
        assert_eq!([6, 8].map(result), [above[t]; 2], "{ty}");
        assert_eq!([7, 9].map(result), [below[t]; 2], "{ty}");
        assert_eq!(result(10), 2, "{ty}");
    }
    let thread = run("mov(8) g20<1>F g10<8,8,1>D { align1 };", &launch(0xff), |thread| {
        write(thread, 10, &[0x7fff_ffff, 0x0100_0001, 0x01ff_ffff, (-0x0100_0001i32) as u32, 7]);
    })
    .unwrap();
    let expected = [2147483520.0, 16777216.0, 33554430.0, -16777216.0, 7.0];
    for (n, expected) in expected.into_iter().enumerate() {
        assert_eq!(f32::from_bits(read(&thread, 20, n, 4)), expected);
    }
}
