//! The twelve tables of comparisons, cell by cell.

use super::float_tables::{CMP, CMPN, SINGLES};
use super::support::read;
use super::tables::pairs;
use genxml_eu::instruction::Condition;

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
