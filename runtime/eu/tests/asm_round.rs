//! The text of our disassemblers, assembled again: real kernels, and random instructions.

use genxml_eu::asm::{Options, assemble};
use genxml_eu::disasm::listing;
use genxml_eu::instruction::*;
use genxml_eu::ops::Format::{
    self, Bare, BranchOne, BranchTwo, Call, JumpIndexed, Return, ThreeSource, Wait,
};
use genxml_eu::ops::OPS;
use genxml_eu::syntax::Syntax::{self, Iga, Mesa};
use genxml_eu::{Instruction, Opcode, decode, instructions};
use genxml_testkit::{Random, corpus};

/// The register, changed to one that the text can show, with its byte offset aligned to elements of
/// `size` bytes, or to 16 bytes if `align16` is set.
fn existing(register: Register, size: u8, align16: bool) -> Register {
    let aligned = |byte: u8| byte & if align16 { 16 } else { 0u8.wrapping_sub(size) };
    match register {
        Register::Grf { number, byte } => {
            Register::Grf { number: number % 128, byte: aligned(byte) }
        }
        // Neither text shows a subregister of these two registers.
        Register::Arf { file: Arf::Null | Arf::InstructionPointer, .. } => Register::NULL,
        // Mesa's text shows no subregister of the thread dependency register.
        Register::Arf { file: Arf::ThreadDependency, .. } => Register::NULL,
        Register::Arf { file, number, byte } => Register::Arf { file, number, byte: aligned(byte) },
        indirect => indirect,
    }
}

/// Changes a random instruction to a similar one whose text in `syntax` shows all of it; `None` if
/// that is not possible.
fn printable(mut i: Instruction, syntax: Syntax) -> Option<Instruction> {
    let mesa = syntax == Mesa;
    simplify_controls(&mut i, mesa)?;
    let text = TextForm::new(&i, mesa);
    if text.extended && !text.can_print_extended(&i) {
        return None;
    }
    // Mesa prints a second source even for functions that have only one.
    if mesa
        && i.math.is_some_and(|function| function.sources() == 1)
        && matches!(i.sources[0], Operand::Immediate(_))
    {
        return None;
    }
    if let Some(Send { descriptor: Descriptor::Address(byte), .. }) = &mut i.send {
        *byte = *byte / 4 * 4;
    }
    if mesa && i.send.is_some_and(|send| matches!(send.function, SharedFunction::Reserved(_))) {
        return None;
    }
    if let Some(branch) = &mut i.branch {
        *branch = Branch { jip: 0, uip: branch.uip.map(|_| 0) };
    }
    if let Some(destination) = &mut i.destination {
        text.simplify_destination(destination)?;
    }
    for operand in &mut i.sources {
        match operand {
            Operand::Register(source) => text.simplify_source(source)?,
            // A jump has an immediate only as its distance. Mesa cannot print half floats.
            Operand::Immediate(immediate) => {
                if text.jump || (mesa && immediate.ty == DataType::Hf) {
                    return None;
                }
            }
            Operand::None => {}
        }
    }
    if mesa {
        return text.mesa_prints(&mut i).then_some(i);
    }
    // IGA's disassembler prints no option Align16: an operand must show it.
    let register = i.operands().any(|operand| matches!(operand, Operand::Register(_)));
    let visible = !text.align16 || text.three || text.extended || register;
    visible.then_some(i)
}

/// Changes access mode, size, predicate and flag to what the text can show.
fn simplify_controls(i: &mut Instruction, mesa: bool) -> Option<()> {
    let format = i.opcode.op().format;
    if format == ThreeSource {
        i.access_mode = AccessMode::Align16;
        // Smaller sizes are not tested: one channel in the text assembles to four.
        i.exec_size = i.exec_size.max(8);
        // IGA has one type for three sources on Broadwell; only Mesa mixes half and single floats.
        if let ([Operand::Register(a), Operand::Register(b), Operand::Register(c)], false) =
            (i.sources, mesa)
            && (a.ty != b.ty || a.ty != c.ty)
        {
            return None;
        }
    }
    if is_jump(format) || matches!(format, Format::Send | Wait) {
        i.access_mode = AccessMode::Align1;
        i.saturate = false;
        i.condition = None;
    }
    if matches!(format, JumpIndexed | Wait) {
        (i.exec_size, i.channel_offset) = (1, 0);
    }
    if let Some(predicate) = &mut i.predicate {
        use PredicateControl::*;
        let align16 = i.access_mode == AccessMode::Align16;
        predicate.control = match (predicate.control, align16) {
            (Sequential, _) => Sequential,
            (Any(_), true) => Any(4),
            (All(_), true) => All(4),
            (_, true) => Replicate(2),
            (Replicate(_), false) => AnyV,
            (control, false) => control,
        };
    } else if i.condition.is_none() || mesa {
        // Mesa prints no flag with the condition of sel and csel.
        i.flag = Flag::default();
    }
    Some(())
}

fn is_jump(format: Format) -> bool {
    matches!(format, BranchOne | BranchTwo | JumpIndexed | Call | Return)
}

/// Properties that determine how the operands of an instruction are printed.
#[derive(Clone, Copy)]
struct TextForm {
    mesa: bool,
    format: Format,
    exec_size: u8,
    three: bool,
    jump: bool,
    align16: bool,
    /// The operands have extended accumulators.
    extended: bool,
    math: bool,
}

impl TextForm {
    fn new(i: &Instruction, mesa: bool) -> Self {
        let format = i.opcode.op().format;
        TextForm {
            mesa,
            format,
            exec_size: i.exec_size,
            three: format == ThreeSource,
            jump: is_jump(format),
            align16: i.access_mode == AccessMode::Align16,
            extended: i.opcode == Opcode::Madm || i.math.is_some_and(MathFunction::is_macro),
            math: i.math.is_some(),
        }
    }

    /// True if the text can show extended accumulators: only in IGA's syntax, in Align16, and with
    /// general registers.
    fn can_print_extended(self, i: &Instruction) -> bool {
        let general = |register: Register| matches!(register, Register::Grf { .. });
        self.align16
            && !self.mesa
            && i.destination.is_some_and(|destination| general(destination.register))
            && i.operands().all(
                |operand| matches!(operand, Operand::Register(source) if general(source.register)),
            )
    }

    fn simplify_destination(self, destination: &mut Destination) -> Option<()> {
        let size = destination.ty.size();
        destination.register = existing(destination.register, size, self.align16 && !self.three);
        if matches!(self.format, Format::Send | Call) || self.extended || self.align16 {
            destination.stride = 1;
        }
        if let Register::Indirect { address, .. } = &mut destination.register
            && self.mesa
        {
            if self.align16 {
                return None;
            }
            *address = *address / size * size;
        }
        if destination.register.is_null() && size == 1 && self.mesa {
            destination.stride = 2;
        }
        if self.format == Format::Send || self.extended {
            destination.register = whole(destination.register);
        }
        if self.extended {
            destination.macro_accumulator = destination.macro_accumulator.map(at_most_nomme);
        }
        Some(())
    }

    fn simplify_source(self, source: &mut Source) -> Option<()> {
        source.register = existing(source.register, source.ty.size(), self.align16 && !self.three);
        let indirect = matches!(source.register, Register::Indirect { .. });
        if source.region.vertical == Vertical::Addresses && (self.align16 || !indirect) {
            source.region.vertical = Vertical::Stride(4);
        }
        // In Align16, Mesa's text and assembler have no rows of eight channels.
        if self.align16 && source.region.vertical == Vertical::Stride(8) {
            source.region.vertical = Vertical::Stride(4);
        }
        if indirect && self.align16 && self.mesa {
            return None;
        }
        if source.replicate {
            source.swizzle = if self.mesa { [0; 4] } else { Source::IDENTITY };
        }
        match self.format {
            Format::Send => {
                source.region = Region::packed(self.exec_size.min(8));
                source.register = whole(source.register);
                (source.negate, source.absolute) = (false, false);
            }
            Return if !self.mesa => source.region = Region::new(2, 2, 1),
            JumpIndexed | Wait => {
                source.region = Region::SCALAR;
                source.ty = if self.format == Wait { source.ty } else { DataType::D };
                source.register = existing(source.register, 8, false);
                (source.negate, source.absolute) = (false, false);
            }
            _ => {}
        }
        if self.extended {
            source.register = whole(source.register);
            source.replicate = false;
            source.region = Region::new(4, 4, 1);
            if self.math && source.ty == DataType::Df {
                source.region = Region::new(2, 4, 1);
            }
            source.macro_accumulator = source.macro_accumulator.map(at_most_nomme);
        }
        Some(())
    }

    /// Whether Mesa prints the instruction with all its operands. Changes the first channel to one
    /// that Mesa can print: a multiple of 16 for 16 channels, and 0 for 32 channels.
    fn mesa_prints(self, i: &mut Instruction) -> bool {
        i.channel_offset = match i.exec_size {
            32 => 0,
            16 => i.channel_offset / 16 * 16,
            _ => i.channel_offset,
        };
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
        !(hidden || matches!(self.format, Call | Wait | Bare) || self.math && self.align16)
    }
}

/// Numbers above `nomme` do not exist.
fn at_most_nomme(accumulator: MacroAccumulator) -> MacroAccumulator {
    MacroAccumulator(accumulator.0.min(8))
}

/// The register from its first byte.
fn whole(register: Register) -> Register {
    match register {
        Register::Grf { number, .. } => Register::grf(number),
        Register::Arf { file, number, .. } => Register::Arf { file, number, byte: 0 },
        indirect => indirect,
    }
}

fn random_instructions(syntax: Syntax) -> impl Iterator<Item = Instruction> {
    let mut random = Random::new(7);
    std::iter::repeat_with(move || {
        let op = &OPS[random.index(OPS.len())];
        let mut dwords: [u32; 4] = std::array::from_fn(|_| random.bits() as u32);
        // Clear the bit of the compact form.
        dwords[0] = dwords[0] & !0x2000_00ff | u32::from(op.code);
        decode(&dwords)
    })
    .filter_map(move |read| {
        let native = printable(read.ok()?, syntax)?.encode().ok()?;
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
        // Compared as text, so that equal NaNs compare equal.
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

/// The text of real kernels assembles to instructions at the original positions; more than 99.4 %
/// have the original operation and destination. Kernels whose text in Mesa's syntax does not
/// assemble are skipped.
#[test]
fn kernels_come_back() {
    let Some(corpus) = corpus::folder() else { return };
    for syntax in [Iga, Mesa] {
        let (mut kernels, mut total, mut equal) = (0, 0, 0);
        for (path, bytes) in corpus::kernels(&corpus) {
            let text = listing(&bytes, syntax);
            let Ok(kernel) = assemble(&text, syntax, &Options::default()) else {
                // Mesa's text of some branches and operands is incomplete.
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
