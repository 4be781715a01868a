//! The twelve tables of comparisons, cell by cell.

use super::support::read;
use super::tables::{SINGLES, pairs};
use genxml_eu::instruction::Condition;

/// 003 tables 10-3 to 10-8: rows are source 0, columns source 1; ? is true or false.
const CMP: [(Condition, [&str; 9]); 6] = [
    (
        Condition::Greater,
        [
            "FFFFFFFFF",
            "T?FFFFFFF",
            "TTFFFFFFF",
            "TTFFFFFFF",
            "TTFFFFFFF",
            "TTFFFFFFF",
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
            "FFFFFFTTF",
            "FFFFFFTTF",
            "FFFFFFTTF",
            "FFFFFFTTF",
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
            "FFTTTTFFF",
            "FFTTTTFFF",
            "FFTTTTFFF",
            "FFTTTTFFF",
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
            "TTFFFFTTT",
            "TTFFFFTTT",
            "TTFFFFTTT",
            "TTFFFFTTT",
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
            "FFTTTTTTF",
            "FFTTTTTTF",
            "FFTTTTTTF",
            "FFTTTTTTF",
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
            "TTTTTTFFF",
            "TTTTTTFFF",
            "TTTTTTFFF",
            "TTTTTTFFF",
            "TTTTTT?FF",
            "TTTTTTTTF",
            "FFFFFFFFF",
        ],
    ),
];

/// 003 tables 10-9 to 10-14, in the same form.
const CMPN: [(Condition, [&str; 9]); 6] = [
    (
        Condition::Greater,
        [
            "FFFFFFFFT",
            "T?FFFFFFT",
            "TTFFFFFFT",
            "TTFFFFFFT",
            "TTFFFFFFT",
            "TTFFFFFFT",
            "TTTTTT?FT",
            "TTTTTTTFT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::Less,
        [
            "FTTTTTTTT",
            "F?TTTTTTT",
            "FFFFFFTTT",
            "FFFFFFTTT",
            "FFFFFFTTT",
            "FFFFFFTTT",
            "FFFFFF?TT",
            "FFFFFFFFT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::Equal,
        [
            "TFFFFFFFT",
            "F?FFFFFFT",
            "FFTTTTFFT",
            "FFTTTTFFT",
            "FFTTTTFFT",
            "FFTTTTFFT",
            "FFFFFF?FT",
            "FFFFFFFTT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::NotEqual,
        [
            "FTTTTTTTF",
            "T?TTTTTTF",
            "TTFFFFTTF",
            "TTFFFFTTF",
            "TTFFFFTTF",
            "TTFFFFTTF",
            "TTTTTT?TF",
            "TTTTTTTFF",
            "TTTTTTTTF",
        ],
    ),
    (
        Condition::LessEqual,
        [
            "TTTTTTTTT",
            "F?TTTTTTT",
            "FFTTTTTTT",
            "FFTTTTTTT",
            "FFTTTTTTT",
            "FFTTTTTTT",
            "FFFFFF?TT",
            "FFFFFFFTT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::GreaterEqual,
        [
            "TFFFFFFFT",
            "T?FFFFFFT",
            "TTTTTTFFT",
            "TTTTTTFFT",
            "TTTTTTFFT",
            "TTTTTTFFT",
            "TTTTTT?FT",
            "TTTTTTTTT",
            "FFFFFFFFT",
        ],
    ),
];

/// All 972 cells of the twelve tables.
#[test]
fn comparisons() {
    let mut cells = 0;
    for (opcode, tables) in [("cmp", &CMP), ("cmpn", &CMPN)] {
        for (condition, table) in tables {
            let suffix = match condition {
                Condition::Greater => "g",
                Condition::Less => "l",
                Condition::Equal => "z",
                Condition::NotEqual => "nz",
                Condition::LessEqual => "le",
                _ => "ge",
            };
            for (row, a) in table.iter().zip(SINGLES) {
                let values = SINGLES.map(|b| (a, b));
                let text = format!(
                    "{opcode}.{suffix}.f0.0(16) g20<1>F g10<8,8,1>F g12<8,8,1>F {{ align1 compr }};"
                );
                let thread = pairs(&text, 0, &values);
                for (n, (cell, b)) in row.bytes().zip(SINGLES).enumerate() {
                    let flag = thread.regs.flags() >> n & 1 == 1;
                    let what = format!("{opcode}.{suffix} {a} {b}");
                    assert_eq!(read(&thread, 20, n, 4) & 1 == 1, flag, "{what}");
                    assert!(cell == b'?' || flag == (cell == b'T'), "{what}");
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 972);
}
