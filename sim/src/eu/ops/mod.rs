//! The operations: one table for each family, one row for each operation.
//!
//! A row gives the general body, which follows the manual, and the bodies of the fast path, whose
//! results agree with it bit for bit ([`family`] has the form). The bodies are about values only:
//! regions, masks, saturation and flags are handled once for all of them ([`super::general`],
//! [`super::fast`]). Control flow is in [`super::branch`], messages are in [`super::run`].
//!
//! [`moves`], [`logic`], [`arithmetic`], [`float`] and [`dot`] are the families, [`number`] and
//! [`rounding`] what they compute with.

pub mod arithmetic;
pub mod dot;
pub mod family;
pub mod float;
pub mod logic;
pub mod moves;
pub mod number;
pub mod rounding;

use super::fast::around::{Handler, SIZES, aside};
use super::fast::plan::Operation;
use super::uop::Opcode;
use family::{Fast, Row};

/// Opcodes and the numbers of fast operations are below this limit.
const NUMBERS: usize = 128;

/// Expands `$body` once for each family, with `$family` as the name of its module. The order of the
/// families gives the order of the operations' numbers.
macro_rules! each_family {
    ($family:ident => $body:block) => {
        each_family!(@ $family $body moves logic arithmetic float dot);
    };
    (@ $family:ident $body:block $($name:ident)*) => {
        $({
            use $name as $family;
            $body
        })*
    };
}

/// General bodies, by opcode.
static GENERAL: [Option<Row>; NUMBERS] = {
    let mut table = [const { None }; NUMBERS];
    each_family!(rows => {
        let mut n = 0;
        while n < rows::ROWS.len() {
            let row = rows::ROWS[n];
            assert!(table[row.opcode as usize].is_none(), "an operation has two rows");
            table[row.opcode as usize] = Some(row);
            n += 1;
        }
    });
    table
};

/// Number of bodies of the fast path.
const FAST_COUNT: usize = {
    let mut count = 0;
    each_family!(rows => {
        count += rows::FAST.len();
    });
    assert!(count < NUMBERS, "more fast operations than numbers for them");
    count
};

/// All bodies of the fast path; `FAST[n]` is [`Operation`] n + 1.
static FAST: [Fast; FAST_COUNT] = {
    let mut table = [moves::FAST[0]; FAST_COUNT];
    let mut next = 0;
    each_family!(rows => {
        let mut n = 0;
        while n < rows::FAST.len() {
            table[next] = rows::FAST[n];
            next += 1;
            n += 1;
        }
    });
    table
};

/// For each opcode, the index in [`FAST`] of its first body. The bodies of one opcode are adjacent.
static FIRST_FAST: [Option<u8>; NUMBERS] = {
    let mut table = [None; NUMBERS];
    let mut n = FAST_COUNT;
    while n > 0 {
        n -= 1;
        table[FAST[n].opcode as usize] = Some(n as u8);
    }
    table
};

/// The general bodies of an operation; none for control flow and messages.
pub fn general(opcode: Opcode) -> Option<&'static Row> {
    GENERAL[opcode as usize % NUMBERS].as_ref()
}

/// The bodies of an operation on the fast path.
pub fn fast(opcode: Opcode) -> impl Iterator<Item = (Operation, &'static Fast)> {
    let first = FIRST_FAST[opcode as usize % NUMBERS].map_or(FAST_COUNT, usize::from);
    let rows = FAST.iter().enumerate().skip(first);
    rows.take_while(move |(_, row)| row.opcode == opcode)
        .map(|(n, row)| (Operation::from_index(n + 1), row))
}

/// Every body of the fast path.
pub fn all_fast() -> impl Iterator<Item = (Operation, &'static Fast)> {
    FAST.iter().enumerate().map(|(n, row)| (Operation::from_index(n + 1), row))
}

/// The code of all operations of the fast path, by number and by the base-2 logarithm of the number
/// of channels.
///
/// A static, so that the code is compiled in this crate only.
pub static OPERATIONS: [[Handler; SIZES]; NUMBERS] = {
    let mut table = [[aside as Handler; SIZES]; NUMBERS];
    let mut next = 1;
    each_family!(rows => {
        let mut n = 0;
        while n < rows::HANDLERS.len() {
            table[next] = rows::HANDLERS[n];
            next += 1;
            n += 1;
        }
    });
    table
};
