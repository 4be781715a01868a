//! What our disassemblers print, assembled again: real kernels as a whole, and random instructions.

mod common;

use genxml_eu::asm::{Options, assemble};
use genxml_eu::disasm::listing;
use genxml_eu::instruction::*;
use genxml_eu::ops::{Format, OPS};
use genxml_eu::syntax::Syntax::{self, Iga, Mesa};
use genxml_eu::{Instruction, Opcode, decode, instructions};

/// Registers that exist, at elements of the type.
fn place(register: Register, size: u8, align16: bool) -> Register {
    let whole = |byte: u8| byte & if align16 { 16 } else { 0u8.wrapping_sub(size) };
    match register {
        Register::Grf { number, byte } => Register::Grf { number: number % 128, byte: whole(byte) },
        // These have no subregister in either text.
        Register::Arf { file: Arf::Null | Arf::InstructionPointer, .. } => Register::NULL,
        // Nor has this in Mesa's.
        Register::Arf { file: Arf::ThreadDependency, .. } => Register::NULL,
        Register::Arf { file, number, byte } => Register::Arf { file, number, byte: whole(byte) },
        indirect => indirect,
    }
}

/// Makes of random fields an instruction of which `syntax` shows everything; nothing if that is too
/// far.
fn shown(mut i: Instruction, syntax: Syntax) -> Option<Instruction> {
    use Format::*;
    let format = i.opcode.op().format;
    let three = format == ThreeSource;
    let mesa = syntax == Mesa;
    let jump = matches!(format, BranchOne | BranchTwo | JumpIndexed | Call | Return);
    if three {
        i.access_mode = AccessMode::Align16;
        // One channel is written as four.
        i.exec_size = i.exec_size.max(8);
        // IGA has one type for three sources on Broadwell; halves and singles together are Mesa's.
        if let ([Operand::Register(a), Operand::Register(b), Operand::Register(c)], false) =
            (i.sources, mesa)
            && (a.ty != b.ty || a.ty != c.ty)
        {
            return None;
        }
    }
    if jump || matches!(format, Send | Wait) {
        i.access_mode = AccessMode::Align1;
        i.saturate = false;
        i.condition = None;
    }
    if matches!(format, JumpIndexed | Wait) {
        (i.exec_size, i.channel_offset) = (1, 0);
    }
    let align16 = i.access_mode == AccessMode::Align16;
    if let Some(predicate) = &mut i.predicate {
        use PredicateControl::*;
        predicate.control = match (predicate.control, align16) {
            (Sequential, _) => Sequential,
            (Any(_), true) => Any(4),
            (All(_), true) => All(4),
            (_, true) => Replicate(2),
            (Replicate(_), false) => AnyV,
            (control, false) => control,
        };
    } else if i.condition.is_none() || mesa {
        // Mesa shows no flag with the condition of sel and csel.
        i.flag = Flag::default();
    }
    let extended = i.opcode == Opcode::Madm || i.math.is_some_and(MathFunction::is_macro);
    // Extended accumulators belong to general registers.
    let general = |register: Register| matches!(register, Register::Grf { .. });
    let plain = i
        .operands()
        .all(|operand| matches!(operand, Operand::Register(source) if general(source.register)));
    if extended
        && (!align16
            || mesa
            || !plain
            || !i.destination.is_some_and(|place| general(place.register)))
    {
        return None;
    }
    // Mesa prints the source that a function does not have, whatever stands there.
    if mesa
        && i.math.is_some_and(|function| function.sources() == 1)
        && matches!(i.sources[0], Operand::Immediate(_))
    {
        return None;
    }
    if let Some(genxml_eu::instruction::Send { descriptor: Descriptor::Address(byte), .. }) =
        &mut i.send
    {
        *byte = *byte / 4 * 4;
    }
    if mesa && i.send.is_some_and(|send| matches!(send.function, SharedFunction::Reserved(_))) {
        return None;
    }
    if let Some(branch) = &mut i.branch {
        *branch = Branch { jip: 0, uip: branch.uip.map(|_| 0) };
    }
    if let Some(destination) = &mut i.destination {
        let size = destination.ty.size();
        destination.register = place(destination.register, size, align16 && !three);
        if matches!(format, Send | Call) || extended || align16 {
            destination.stride = 1;
        }
        if let Register::Indirect { address, .. } = &mut destination.register
            && mesa
        {
            *address = *address / size * size;
        }
        if destination.register.is_null() && size == 1 && mesa {
            destination.stride = 2;
        }
        if matches!(format, Send) || extended {
            destination.register = whole(destination.register);
        }
        if let (Register::Indirect { .. }, true, true) = (destination.register, align16, mesa) {
            return None;
        }
    }
    let mut visible = !align16 || three || extended;
    for operand in &mut i.sources {
        match operand {
            Operand::Register(source) => {
                visible = true;
                source.register = place(source.register, source.ty.size(), align16 && !three);
                let indirect = matches!(source.register, Register::Indirect { .. });
                if source.region.vertical == Vertical::Addresses && (align16 || !indirect) {
                    source.region.vertical = Vertical::Stride(4);
                }
                // Mesa's assembler knows no rows of eight channels here, nor does its text.
                if align16 && source.region.vertical == Vertical::Stride(8) {
                    source.region.vertical = Vertical::Stride(4);
                }
                if indirect && align16 && mesa {
                    return None;
                }
                if source.replicate {
                    source.swizzle = if mesa { [0; 4] } else { Source::IDENTITY };
                }
                match format {
                    Send => {
                        source.region = Region::packed(i.exec_size.min(8));
                        source.register = whole(source.register);
                        (source.negate, source.absolute) = (false, false);
                    }
                    Return if !mesa => source.region = Region::new(2, 2, 1),
                    JumpIndexed | Wait => {
                        source.region = Region::SCALAR;
                        source.ty = if format == Wait { source.ty } else { DataType::D };
                        source.register = place(source.register, 8, false);
                        (source.negate, source.absolute) = (false, false);
                    }
                    _ => {}
                }
                if extended {
                    source.register = whole(source.register);
                    source.replicate = false;
                    source.region = Region::new(4, 4, 1);
                    if i.math.is_some() && source.ty == DataType::Df {
                        source.region = Region::new(2, 4, 1);
                    }
                    source.macro_accumulator =
                        source.macro_accumulator.map(|number| MacroAccumulator(number.0.min(8)));
                }
            }
            Operand::Immediate(immediate) => {
                // Nothing jumps to a constant but what says so, and Mesa cannot write halves.
                if jump || (mesa && immediate.ty == DataType::Hf) {
                    return None;
                }
            }
            Operand::None => {}
        }
    }
    if extended && let Some(destination) = &mut i.destination {
        destination.macro_accumulator =
            destination.macro_accumulator.map(|number| MacroAccumulator(number.0.min(8)));
    }
    if !mesa {
        // IGA has no word for Align16: an operand must show it.
        return visible.then_some(i);
    }
    // Mesa shows the first channel in units of the size, and no first channel of 32.
    i.channel_offset = match i.exec_size {
        32 => 0,
        16 => i.channel_offset / 16 * 16,
        _ => i.channel_offset,
    };
    // What it does not show at all, or not the operands of.
    let hidden = matches!(
        i.opcode,
        Opcode::Goto
            | Opcode::Join
            | Opcode::Brd
            | Opcode::Brc
            | Opcode::Ret
            | Opcode::Movi
            | Opcode::Smov
    );
    let hidden = hidden || matches!(format, Call | Wait | Bare) || (i.math.is_some() && align16);
    (!hidden).then_some(i)
}

/// From the first byte of the register on.
fn whole(register: Register) -> Register {
    match register {
        Register::Grf { number, .. } => Register::grf(number),
        Register::Arf { file, number, .. } => Register::Arf { file, number, byte: 0 },
        indirect => indirect,
    }
}

fn random_instructions(syntax: Syntax) -> impl Iterator<Item = Instruction> {
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) as u32
    };
    std::iter::repeat_with(move || {
        let op = &OPS[random() as usize % OPS.len()];
        // Not compact.
        decode(&[random() & !0x2000_00ff | u32::from(op.code), random(), random(), random()])
    })
    .filter_map(move |read| {
        let native = shown(read.ok()?, syntax)?.encode().ok()?;
        decode(&native).ok()
    })
}

fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

fn random_text_comes_back(syntax: Syntax) {
    let mut seen = std::collections::BTreeSet::new();
    for first in random_instructions(syntax).take(20_000) {
        let text = listing(&bytes(&first.encode().unwrap()), syntax);
        let kernel = match assemble(&text, syntax, &Options::default()) {
            Ok(kernel) => kernel,
            Err(errors) => panic!("{text}\n{}\n{first:?}", errors[0]),
        };
        let again = kernel.lines[0].located.instruction;
        // NaNs are equal if they are written so.
        assert_eq!(format!("{again:?}"), format!("{first:?}"), "{text}");
        seen.insert(first.opcode);
    }
    println!("{syntax:?}: {} operations", seen.len());
    assert!(seen.len() > 45, "{seen:?}");
}

#[test]
fn iga_text_of_random_instructions() {
    random_text_comes_back(Iga);
}

#[test]
fn mesa_text_of_random_instructions() {
    random_text_comes_back(Mesa);
}

/// Our texts of real kernels assemble to the instructions that they were made of.
#[test]
fn kernels_come_back() {
    let Some(corpus) = common::corpus() else { return };
    for syntax in [Iga, Mesa] {
        let (mut kernels, mut total, mut equal) = (0, 0, 0);
        for (path, bytes) in common::kernels(&corpus) {
            let text = listing(&bytes, syntax);
            let Ok(kernel) = assemble(&text, syntax, &Options::default()) else {
                // Mesa's text of some branches and of some operands tells too little.
                assert_eq!(syntax, Mesa, "{}", path.display());
                continue;
            };
            kernels += 1;
            for (line, theirs) in kernel.lines.iter().zip(instructions(&bytes)) {
                let theirs = theirs.unwrap();
                assert_eq!(line.located.position, theirs.position, "{}", path.display());
                total += 1;
                let (mine, theirs) = (line.located.instruction, theirs.instruction);
                equal += usize::from(
                    mine.opcode == theirs.opcode && mine.destination == theirs.destination,
                );
            }
        }
        println!("{syntax:?}: {kernels} kernels, {equal} of {total} instructions");
        assert!(equal * 1000 > total * 994 && total > 50_000, "{equal} of {total}");
    }
}
