//! Tests of the type tables.

use super::*;
use crate::instruction::{DataType, MathFunction};
use crate::ops::{Format, Opcode};
use alloc::collections::BTreeSet;
use alloc::format;

#[test]
fn every_combination_is_listed_once() {
    let all: alloc::vec::Vec<_> = combinations().map(|c| format!("{c}")).collect();
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    for c in combinations() {
        let sources: alloc::vec::Vec<_> = c.sources.iter().flatten().copied().collect();
        assert!(
            rows_of(c.opcode, c.math).iter().any(|row| row.allows(c.destination, &sources)),
            "{c}"
        );
        let count = c.math.map_or(c.opcode.op().sources, MathFunction::sources);
        let branch = matches!(c.opcode.op().format, Format::BranchOne | Format::BranchTwo);
        assert!(branch || sources.len() == usize::from(count), "{c}");
    }
}

/// The tables of add and cmpn as 2a prints them (2a add, cmpn).
#[test]
fn rows_of_the_manual() {
    let allows = |opcode: Opcode, destination, sources: &[DataType]| {
        opcode.signatures().iter().any(|row| row.allows(Some(destination), sources))
    };
    use DataType::*;
    assert!(allows(Opcode::Add, F, &[D, Uw]));
    assert!(!allows(Opcode::Add, D, &[F, F]), "only mov makes integers of floats");
    assert!(!allows(Opcode::Add, F, &[D, F]), "integers and floats do not mix");
    assert!(allows(Opcode::Add, Q, &[W, D]));
    assert!(!allows(Opcode::Add, Q, &[B, D]), "no bytes with qwords");
    assert!(!allows(Opcode::Cmpn, Q, &[Q, Q]));
    assert!(allows(Opcode::Add, W, &[W, V]), "v is read as w");
    assert!(!allows(Opcode::Mov, Df, &[Hf]));
    assert!(!allows(Opcode::Mad, F, &[F, Hf, F]), "one type for three sources");
}
