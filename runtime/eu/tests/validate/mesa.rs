//! Test cases of Mesa's validator on Broadwell (test_eu_validate.cpp) that the corpus does not
//! have, written again from what those tests vary. Oracle: Mesa's verdicts.

use genxml_eu::instruction::DataType::{B, D, Df, F, Hf, Q, Ub, Ud, Uq, Uw, V, Vf, W};
use genxml_eu::instruction::*;
use genxml_eu::validate::{self, Severity};
use genxml_eu::{Instruction, Opcode};

/// An instruction with eight channels; destination and sources are r0 with regions <8;8,1>.
fn of(opcode: Opcode, destination: DataType, sources: &[DataType]) -> Instruction {
    let mut i = Instruction::new(opcode, 8);
    i.destination = Some(Destination::new(Register::grf(0), destination));
    for (operand, ty) in i.sources.iter_mut().zip(sources) {
        *operand = Operand::Register(Source::new(Register::grf(0), *ty, Region::packed(8)));
    }
    i
}

fn mov(destination: DataType, source: DataType) -> Instruction {
    of(Opcode::Mov, destination, &[source])
}

fn change(mut i: Instruction, edit: impl Fn(&mut Instruction)) -> Instruction {
    edit(&mut i);
    i
}

fn destination(i: &mut Instruction) -> &mut Destination {
    i.destination.as_mut().unwrap()
}

fn source(i: &mut Instruction, number: usize) -> &mut Source {
    match &mut i.sources[number] {
        Operand::Register(source) => source,
        other => panic!("{other:?}"),
    }
}

/// An instruction with the given size, destination (type, byte, stride) and source (type, byte,
/// region).
fn regioned(
    opcode: Opcode,
    size: u8,
    (ty, byte, stride): (DataType, u8, u8),
    (from, first, region): (DataType, u8, [u8; 3]),
) -> Instruction {
    change(of(opcode, ty, &[from]), |i| {
        i.exec_size = size;
        *destination(i) =
            Destination { stride, ..Destination::new(Register::Grf { number: 0, byte }, ty) };
        source(i, 0).register = Register::Grf { number: 0, byte: first };
        source(i, 0).region = Region::new(region[0], region[1], region[2]);
        if opcode == Opcode::Mul {
            i.sources[1] = Operand::Immediate(Immediate { ty: from, bits: 0 });
        }
    })
}

fn align16(i: Instruction) -> Instruction {
    change(i, |i| {
        i.access_mode = AccessMode::Align16;
        for operand in &mut i.sources {
            if let Operand::Register(source) = operand {
                source.region = Region::new(4, 4, 1);
            }
        }
    })
}

const ACC0: Register = Register::Arf { file: Arf::Accumulator, number: 0, byte: 0 };

/// What a case varies, its instruction, and true if Mesa accepts it.
type Case = (&'static str, Instruction, bool);

/// All cases.
fn cases() -> Vec<Case> {
    [
        packed_bytes(),
        mixed_floats(),
        mixed_float_destinations(),
        immediate_vectors(),
        regions_of_64_bits(),
        conversions_in_align16(),
        three_sources(),
        other_moves_and_sums(),
    ]
    .concat()
}

/// Bytes: moves that keep, change or convert the value, selections, and conversions from 64 bits.
fn packed_bytes() -> Vec<Case> {
    let mut all = Vec::new();
    for (to, from) in [(Ub, Ub), (B, B), (Ub, B), (B, Ub)] {
        all.push(("packed byte", mov(to, from), true));
        all.push((
            "packed byte, negated",
            change(mov(to, from), |i| source(i, 0).negate = true),
            false,
        ));
        all.push((
            "packed byte, absolute",
            change(mov(to, from), |i| source(i, 0).absolute = true),
            false,
        ));
        all.push(("packed byte, saturated", change(mov(to, from), |i| i.saturate = true), false));
    }
    for (to, from) in [(Ub, Uw), (B, W), (Ub, Ud), (B, D)] {
        all.push(("packed byte, converted", mov(to, from), false));
    }
    let predicate = Some(Predicate { control: PredicateControl::Sequential, inverse: false });
    for ty in [B, Ub] {
        let sel = change(of(Opcode::Sel, ty, &[ty, ty]), |i| i.predicate = predicate);
        all.push(("packed byte, selected", sel, false));
    }
    for byte in [0, 1] {
        let sel = change(of(Opcode::Sel, B, &[W, W]), |i| {
            i.predicate = predicate;
            destination(i).stride = 2;
            destination(i).register = Register::Grf { number: 0, byte };
        });
        all.push(("relaxed byte", sel, true));
    }
    for stride in [1, 2, 4] {
        for (to, from) in [(B, Q), (B, Uq), (B, Df), (Ub, Q), (Ub, Uq), (Ub, Df)] {
            all.push((
                "byte of 64 bits",
                change(mov(to, from), |i| destination(i).stride = stride),
                false,
            ));
        }
    }
    all
}

/// Half and single floats in one instruction, with indirect operands and with an accumulator as the
/// source.
fn mixed_floats() -> Vec<Case> {
    let mut all = Vec::new();
    let indirect = Register::Indirect { address: 0, offset: 0 };
    for (to, from, stride) in [(Hf, [F, F], 2), (F, [Hf, F], 1), (Hf, [Hf, F], 2), (F, [F, Hf], 1)]
    {
        let add = change(of(Opcode::Add, to, &from), |i| destination(i).stride = stride);
        let to_indirect = change(add, |i| destination(i).register = indirect);
        all.push(("mixed", add, true));
        all.push(("mixed, indirect destination", to_indirect, true));
        for i in [add, to_indirect] {
            all.push((
                "mixed, indirect source",
                change(i, |i| source(i, 0).register = indirect),
                false,
            ));
        }
    }
    for byte in [0, 2, 4, 8, 16] {
        for (stride, valid) in [(2, true), (1, false)] {
            let add = change(of(Opcode::Add, Hf, &[Hf, F]), |i| {
                destination(i).stride = stride;
                source(i, 0).register = Register::Arf { file: Arf::Accumulator, number: 0, byte };
            });
            all.push(("mixed, accumulator", add, valid));
        }
    }
    all
}

/// Half and single floats in one instruction: destinations of `mac` and `add`, and Align16.
fn mixed_float_destinations() -> Vec<Case> {
    let mut all = Vec::new();
    for (opcode, to, from, stride, valid) in [
        (Opcode::Mac, Hf, [Hf, F], 1, false),
        (Opcode::Mac, Hf, [Hf, F], 2, true),
        (Opcode::Mac, Hf, [F, Hf], 1, false),
        (Opcode::Mac, Hf, [F, Hf], 2, true),
        (Opcode::Mac, F, [Hf, F], 1, true),
        (Opcode::Mac, F, [Hf, F], 2, true),
        (Opcode::Add, Hf, [Hf, F], 1, false),
        (Opcode::Add, Hf, [Hf, F], 2, true),
        (Opcode::Add, F, [Hf, F], 2, true),
    ] {
        let i = change(of(opcode, to, &from), |i| destination(i).stride = stride);
        all.push(("mixed, half destination", i, valid));
    }
    for (number, types) in [(0, [F, Hf]), (0, [Hf, F])] {
        let add = align16(of(Opcode::Add, F, &types));
        all.push(("Align16 mixed", add, true));
        let acc = change(add, |i| source(i, number).register = ACC0);
        all.push(("Align16 mixed, accumulator", acc, false));
    }
    all
}

/// Immediate vectors with different types, offsets and strides of the destination.
fn immediate_vectors() -> Vec<Case> {
    let mut all = Vec::new();
    for (ty, from, bits, byte, stride, size, valid) in [
        (F, Vf, 0, 0, 1, 4, true),
        (F, Vf, 0, 16, 1, 4, true),
        (F, Vf, 0, 1, 1, 4, false),
        (W, V, 0, 16, 1, 8, true),
        (W, V, 0, 1, 1, 8, false),
        (F, Vf, 0, 0, 2, 8, false),
        (D, Vf, 0, 0, 1, 8, true),
        (D, Vf, 0, 0, 2, 8, false),
        (W, Vf, 0, 0, 2, 8, true),
        (B, Vf, 0, 0, 4, 8, true),
        (W, V, 0, 0, 2, 8, false),
        (W, V, 0, 0, 4, 8, false),
        (B, V, 0, 0, 2, 8, true),
        (D, V, 0, 0, 1, 8, false),
        (F, V, 0, 0, 1, 8, false),
        (F, Vf, 0, 0, 2, 1, false),
    ] {
        let i = change(mov(ty, ty), |i| {
            i.exec_size = size;
            i.sources[0] = Operand::Immediate(Immediate { ty: from, bits });
            destination(i).stride = stride;
            destination(i).register = Register::Grf { number: 0, byte };
        });
        all.push(("immediate vector", i, valid));
    }
    all
}

/// Regions and types of 64-bit instructions. Cases that are illegal on Cherryview are legal on
/// Broadwell.
fn regions_of_64_bits() -> Vec<Case> {
    let mut all = Vec::new();
    let (mov_of, mul_of) = (Opcode::Mov, Opcode::Mul);
    for (opcode, size, to, from) in [
        (mov_of, 4, (Df, 0, 1), (Df, 0, [4, 4, 1])),
        (mov_of, 4, (Q, 0, 1), (D, 0, [8, 4, 2])),
        (mov_of, 4, (F, 0, 2), (Df, 0, [4, 4, 1])),
        (mov_of, 4, (Ud, 0, 2), (Uq, 0, [4, 4, 1])),
        (mul_of, 8, (D, 0, 2), (D, 0, [8, 4, 2])),
        (mul_of, 2, (Ud, 4, 2), (Ud, 4, [4, 2, 2])),
        (mov_of, 4, (Df, 0, 2), (Df, 0, [4, 4, 1])),
        (mov_of, 4, (Uq, 0, 2), (Ud, 0, [4, 4, 1])),
        (mul_of, 4, (D, 0, 1), (D, 0, [8, 4, 2])),
        (mov_of, 4, (Df, 0, 1), (F, 0, [0, 2, 2])),
        (mov_of, 8, (F, 0, 2), (Df, 0, [0, 2, 1])),
        (mul_of, 8, (D, 0, 2), (D, 0, [0, 4, 2])),
        (mov_of, 2, (Df, 8, 1), (Df, 0, [2, 2, 1])),
        (mul_of, 4, (D, 4, 2), (D, 0, [4, 2, 2])),
        (mov_of, 2, (Q, 8, 1), (D, 4, [0, 1, 0])),
        (mul_of, 4, (Ud, 4, 1), (Ud, 0, [0, 1, 0])),
    ] {
        let i = regioned(opcode, size, to, from);
        all.push(("64 bits", i, true));
        all.push((
            "64 bits, dependencies",
            change(i, |i| (i.no_dd_check, i.no_dd_clear) = (true, false)),
            true,
        ));
        let acc = |i: &mut Instruction| destination(i).register = ACC0;
        all.push(("64 bits to an accumulator", change(i, acc), true));
    }
    let mac = change(of(Opcode::Mac, Df, &[Df, Df]), |i| {
        (0..2).for_each(|number| source(i, number).region = Region::new(4, 4, 1));
    });
    all.push(("mac of doubles", mac, true));
    all
}

/// Moves and sums in Align16: destinations narrower than the execution type, and 64 bits.
fn conversions_in_align16() -> Vec<Case> {
    let mut all = Vec::new();
    for (to, from, valid) in
        [(W, D, false), (Hf, F, false), (Uw, F, false), (D, D, true), (D, W, true)]
    {
        all.push(("Align16, narrower than the execution type", align16(mov(to, from)), valid));
    }
    for (size, valid) in [(2, true), (4, false)] {
        for (to, from) in [(Q, D), (Uq, Ud), (Df, F)] {
            let i = change(align16(mov(to, from)), |i| i.exec_size = size);
            all.push(("Align16 to 64 bits", i, valid));
        }
        for (to, from) in [(Q, D), (Uq, Ud)] {
            let i = change(align16(of(Opcode::Add, to, &[from, from])), |i| i.exec_size = size);
            all.push(("Align16 to 64 bits", i, valid));
        }
    }
    all
}

/// Instructions with three sources, which exist only in Align16.
fn three_sources() -> Vec<Case> {
    let mut all = Vec::new();
    for (opcode, ty) in [
        (Opcode::Mad, Df),
        (Opcode::Mad, F),
        (Opcode::Mad, Hf),
        (Opcode::Bfe, D),
        (Opcode::Bfe, Ud),
    ] {
        let three = change(align16(of(opcode, ty, &[ty, ty, ty])), |i| i.exec_size = 4);
        all.push(("three sources", three, true));
        all.push((
            "three sources, Align1",
            change(three, |i| i.access_mode = AccessMode::Align1),
            false,
        ));
    }
    all
}

/// Moves of every type, moves from indirect operands, and sums with one scalar source.
fn other_moves_and_sums() -> Vec<Case> {
    let mut all = Vec::new();
    let indirect =
        |i: &mut Instruction| source(i, 0).register = Register::Indirect { address: 0, offset: 0 };
    all.push(("indirect mov of halves", change(mov(F, Hf), indirect), false));
    all.push(("indirect mov of singles", change(mov(F, F), indirect), true));
    for ty in [Df, F, Hf, Q, Uq, D, Ud, W, Uw, B, Ub] {
        let i = regioned(Opcode::Mov, 4, (ty, 0, 1), (ty, 0, [4, 4, 1]));
        all.push(("every type", i, true));
    }
    for (number, from, valid) in [(0, W, true), (1, W, true), (0, D, false)] {
        let i = change(of(Opcode::Add, W, &[from, from]), |i| {
            i.exec_size = 16;
            destination(i).stride = if valid { 2 } else { 1 };
            source(i, number).region = Region::SCALAR;
        });
        all.push(("one source, two destinations", i, valid));
    }
    all
}

#[test]
fn unit_tests_of_mesa() {
    let mut wrong = Vec::new();
    let cases = cases();
    for (name, i, valid) in &cases {
        let found = validate::instruction(i);
        if found.iter().all(|finding| finding.rule.severity != Severity::Error) != *valid {
            wrong.push(format!("{name}: {i} should be {valid}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} cases", cases.len());
}

/// Mesa does not check the types of arithmetic and accepts these. The tables of `add` (2a) and
/// `mul` (G45 vol 4, IGA) allow double destinations only with double sources.
#[test]
fn types_that_mesa_does_not_check() {
    for opcode in [Opcode::Add, Opcode::Mul] {
        let i = change(align16(of(opcode, Df, &[F, F])), |i| i.exec_size = 2);
        let found: Vec<&str> =
            validate::instruction(&i).iter().map(|finding| finding.rule.id).collect();
        assert_eq!(found, ["EU-TYPES"]);
    }
}
