//! Gen8 instructions as uops: regions become byte offsets, jump distances become indices, modifiers
//! their meaning.
//!
//! Decoding never fails: what cannot be executed becomes a uop that says so when a thread reaches
//! it. Kernels are followed along their control flow from the first instruction, so that what
//! stands behind them does not matter.

use super::control::belongs_to_machine;
use super::convert::restricted_float;
use super::fast::Plan;
use super::kernel::{Kernel, MAX_INSTRUCTIONS};
use super::regions::{
    A0, ACC_FILE, CE0, CR0, DBG0, FLAGS, GRF_BYTES, IP, N0, REGISTER, SP, SR0, TDR0, TM0,
};
use super::uop::{
    Branch, Condition, Dst, ExecType, Indirect, MAX_CHANNELS, Math, NOWHERE, Op, Predicate,
    Response, SendInfo, Shape, Src, Target, Type, Uop, in_accumulators, region, shape,
};
use crate::assumptions::{
    CHANNEL_ENABLES_HOLD_WITH_NO_MASK, QWORD_ROWS_OF_ALIGN16_ARE_ADJACENT,
    SMOV_MOVES_THE_CHANNELS_OF_A_MASK,
};
use genxml_eu::instruction::{
    self as isa, AccessMode, Arf, DataType, Descriptor, Instruction, MathFunction, Operand,
    PredicateControl, Register, Vertical,
};
use genxml_eu::ops::Opcode;
use std::collections::BTreeMap;

/// What stands at an instruction address.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// An instruction.
    Instruction(Box<Instruction>),
    /// Bytes that no instruction has, and why.
    Garbage(String),
}

/// Decodes what can be reached from offset 0; `fetch` reads the instruction at a byte offset.
pub fn kernel(address: u64, ip_base: u32, fetch: impl FnMut(i32) -> Fetched) -> Kernel {
    let mut kernel = Kernel::new(address, ip_base);
    extend(&mut kernel, 0, fetch);
    kernel
}

/// Decodes what else can be reached from `start`, for a thread that gets there by a computed jump.
pub fn extend(kernel: &mut Kernel, start: i32, mut fetch: impl FnMut(i32) -> Fetched) {
    let mut found: BTreeMap<i32, Uop> = BTreeMap::new();
    let mut distances: BTreeMap<i32, isa::Branch> = BTreeMap::new();
    let mut breakpoints = Vec::new();
    let mut open = vec![start];
    while let Some(mut offset) = open.pop() {
        loop {
            if found.contains_key(&offset) || kernel.index(offset as u32).is_some() {
                break;
            }
            if kernel.uops.len() + found.len() >= MAX_INSTRUCTIONS {
                found.insert(
                    offset,
                    Uop::missing(offset as u32, "a kernel of so many instructions", "-"),
                );
                break;
            }
            let instruction = match fetch(offset) {
                Fetched::Instruction(instruction) => instruction,
                Fetched::Garbage(why) => {
                    found.insert(offset, Uop::illegal(offset as u32, why));
                    break;
                }
            };
            let decoded = uop(&instruction, offset as u32);
            let ends =
                matches!(decoded.op, Op::Illegal | Op::IllegalOpcode) || instruction.ends_thread();
            found.insert(offset, decoded);
            if instruction.breakpoint {
                breakpoints.push(offset);
            }
            if let Some(mut branch) = instruction.branch {
                if instruction.opcode == Opcode::Calla {
                    // An absolute address, brought to a distance.
                    branch.jip =
                        branch.jip.wrapping_sub(kernel.ip_base as i32).wrapping_sub(offset);
                }
                open.push(offset.wrapping_add(branch.jip));
                open.extend(branch.uip.map(|uip| offset.wrapping_add(uip)));
                distances.insert(offset, branch);
            }
            if ends {
                break;
            }
            offset = offset.wrapping_add(instruction.length() as i32);
        }
    }
    let first = kernel.uops.len();
    kernel.append(found.into_values());
    let mut uops = std::mem::take(&mut kernel.uops);
    let index = |offset: i32| kernel.index(offset as u32).unwrap_or(NOWHERE);
    for u in &mut uops[first..] {
        let offset = u.offset as i32;
        u.next = index(offset.wrapping_add(i32::from(u.length)));
        if let Some(branch) = distances.get(&offset) {
            u.branch.jip = index(offset.wrapping_add(branch.jip));
            u.branch.uip = branch.uip.map_or(u.branch.jip, |uip| index(offset.wrapping_add(uip)));
        }
    }
    kernel.uops = uops;
    for offset in breakpoints {
        if let Some(index) = kernel.index(offset as u32) {
            kernel.set_breakpoint(index);
        }
    }
}

/// The instruction at byte `offset` of `bytes`, for [`kernel`] and [`extend`].
pub fn fetch_from(bytes: &[u8], offset: i32) -> Fetched {
    let rest =
        usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
    let mut dwords = [0u32; 4];
    let mut count = 0;
    for (dword, chunk) in dwords.iter_mut().zip(rest.chunks_exact(4)) {
        *dword = bytemuck::pod_read_unaligned(chunk);
        count += 1;
    }
    match genxml_eu::decode(&dwords[..count]) {
        _ if count == 0 => Fetched::Garbage("no instruction is there".into()),
        Ok(instruction) => Fetched::Instruction(Box::new(instruction)),
        Err(error) => Fetched::Garbage(error.problem.to_string()),
    }
}

/// Why an instruction cannot be executed.
enum Refused {
    Missing(String),
    Illegal(String),
    Opcode(String),
}

type Decoded<T> = Result<T, Refused>;

/// One instruction as a uop, without the indices of other uops.
pub fn uop(instruction: &Instruction, offset: u32) -> Uop {
    let length = instruction.length() as u8;
    let mut uop = match try_uop(instruction, offset) {
        Ok(uop) => uop,
        Err(Refused::Missing(what)) => Uop::missing(
            offset,
            format!("{} {what}", instruction.opcode),
            instruction.opcode.op().page,
        ),
        Err(Refused::Illegal(what)) => {
            Uop::illegal(offset, format!("{}: {what}", instruction.opcode))
        }
        Err(Refused::Opcode(what)) => Uop::illegal_opcode(offset, what),
    };
    uop.length = length;
    uop
}

fn try_uop(i: &Instruction, offset: u32) -> Decoded<Uop> {
    let op = operation(i)?;
    let n = usize::from(i.exec_size).clamp(1, MAX_CHANNELS);
    let mut u = Uop {
        op,
        size: n as u8,
        first: i.channel_offset,
        lanes: u32::MAX >> (32 - n),
        no_mask: i.no_mask,
        flag: flag(i),
        saturate: i.saturate,
        // These write the accumulator in their own way.
        acc_write: i.acc_write && !matches!(op, Op::Addc | Op::Subb | Op::Mach),
        ..Uop::nop(offset)
    };
    if let Some(predicate) = i.predicate {
        u.predicate = predicate_kind(predicate.control);
        u.invert = predicate.inverse;
    }
    if let Some(condition) = i.condition {
        match op {
            Op::Sel | Op::Csel => u.select = condition_kind(condition),
            _ => u.condition = condition_kind(condition),
        }
    }
    u.branch = Branch { jip: NOWHERE, uip: NOWHERE, control: i.branch_ctrl };
    match op {
        Op::Send => {
            u.send = Some(send(i)?);
            return Ok(u);
        }
        Op::Nop
        | Op::If
        | Op::Else
        | Op::Endif
        | Op::While
        | Op::Break
        | Op::Cont
        | Op::Halt
        | Op::Goto
        | Op::Join => {
            return Ok(u);
        }
        _ => {}
    }
    if let Some(destination) = &i.destination {
        // Of the destination of a call only the first two elements are written, whatever the size
        // (2a call).
        let written = if matches!(op, Op::Call | Op::Calla) { 1 } else { n };
        u.dst = target(i, destination, written, &mut u.lanes)?;
        u.accumulator = accumulator_start(&u.dst);
    }
    let mut sources: Vec<&Operand> = i.operands().collect();
    for (slot, operand) in u.src.iter_mut().zip(&sources) {
        *slot = source(i, operand, n)?;
        if slot.abs && matches!(op, Op::Not | Op::And | Op::Or | Op::Xor) {
            // In logic neither the absolute value nor both modifiers together do anything (2b
            // SrcMod).
            (slot.abs, slot.negate) = (false, false);
        }
    }
    if i.opcode == Opcode::Smov {
        let Shape::Immediate(mask) = u.src[1].shape else {
            return Err(Refused::Missing("with a mask that is no immediate".into()));
        };
        u.lanes &= mask as u32;
        u.src[1] = Uop::nop(offset).src[1].clone();
        sources.truncate(1);
    }
    for operand in &sources {
        let Operand::Register(source) = operand else { continue };
        let Register::Arf { file, .. } = source.register else { continue };
        u.volatile |= matches!(file, Arf::InstructionPointer | Arf::Timestamp | Arf::ChannelEnable);
        u.clock |= file == Arf::Timestamp;
    }
    u.exec = ExecType::of(u.src[..sources.len()].iter().map(|src| src.ty));
    if u.exec == ExecType::Half && u.dst.ty == Type::F {
        // Halves that make singles are singles while they are computed with (Mesa's validator,
        // execution type).
        u.exec = ExecType::Single;
    }
    u.extended = extended(i);
    // A product into the accumulator is another thing with a word than with a dword.
    let partial = op == Op::Mul && matches!(u.dst.target, Target::Accumulator(_));
    if u.exec == ExecType::Dword && !partial {
        widen_immediates(&mut u.src[..sources.len()]);
    }
    if matches!(op, Op::Cmp | Op::Cmpn) && u.condition == Condition::None {
        return Err(Refused::Illegal("a comparison needs a condition".into()));
    }
    let compares = if matches!(op, Op::Cmp | Op::Cmpn) { u.condition } else { u.select };
    if matches!(op, Op::Cmp | Op::Cmpn | Op::Sel | Op::Csel)
        && matches!(compares, Condition::O | Condition::U)
    {
        // 2a cmp; G45 vol 4 section 11.8.
        return Err(Refused::Illegal("overflow and unordered are no comparisons".into()));
    }
    if matches!(op, Op::Line | Op::Pln | Op::Dp2 | Op::Dp3 | Op::Dp4 | Op::Dph) && n < 4 {
        return Err(Refused::Illegal(format!("fewer than four channels ({n})")));
    }
    if matches!(op, Op::Sad2 | Op::Sada2) && n < 2 {
        return Err(Refused::Illegal("fewer than two channels".into()));
    }
    check_jump(i, &u)?;
    u.plan = Plan::of(&u);
    Ok(u)
}

/// The extended accumulators of the destination and the sources.
fn extended(i: &Instruction) -> [u8; 4] {
    let none = isa::MacroAccumulator::NONE;
    let of = |operand: &Operand| match operand {
        Operand::Register(source) => source.macro_accumulator.unwrap_or(none).0,
        _ => none.0,
    };
    let [a, b, c] = &i.sources;
    [
        i.destination.and_then(|destination| destination.macro_accumulator).unwrap_or(none).0,
        of(a),
        of(b),
        of(c),
    ]
}

/// Word immediates beside dword operands become dwords, which is what the instruction would make of
/// them anyway.
fn widen_immediates(sources: &mut [Src]) {
    for src in sources {
        if let Shape::Immediate(bits) = src.shape {
            match src.ty {
                Type::W => {
                    *src = Src {
                        ty: Type::D,
                        shape: Shape::Immediate(bits as i16 as u32 as u64),
                        ..src.clone()
                    }
                }
                Type::Uw => {
                    *src =
                        Src { ty: Type::D, shape: Shape::Immediate(bits & 0xffff), ..src.clone() }
                }
                _ => {}
            }
        }
    }
}

fn operation(i: &Instruction) -> Decoded<Op> {
    Ok(match i.opcode {
        Opcode::Illegal => {
            return Err(Refused::Opcode(format!(
                "no operation of this generation has the opcode {:#04x}",
                i.illegal_code
            )));
        }
        Opcode::Mov => Op::Mov,
        Opcode::Sel => Op::Sel,
        Opcode::Not => Op::Not,
        Opcode::And => Op::And,
        Opcode::Or => Op::Or,
        Opcode::Xor => Op::Xor,
        Opcode::Shr => Op::Shr,
        Opcode::Shl => Op::Shl,
        Opcode::Asr => Op::Asr,
        Opcode::Cmp => Op::Cmp,
        Opcode::Cmpn => Op::Cmpn,
        Opcode::Csel => Op::Csel,
        Opcode::Bfrev => Op::Bfrev,
        Opcode::Bfe => Op::Bfe,
        Opcode::Bfi1 => Op::Bfi1,
        Opcode::Bfi2 => Op::Bfi2,
        Opcode::Jmpi => Op::Jmpi,
        Opcode::Brd => Op::Brd,
        Opcode::If => Op::If,
        Opcode::Brc => Op::Brc,
        Opcode::Else => Op::Else,
        Opcode::Endif => Op::Endif,
        Opcode::While => Op::While,
        Opcode::Break => Op::Break,
        Opcode::Cont => Op::Cont,
        Opcode::Halt => Op::Halt,
        Opcode::Calla => Op::Calla,
        Opcode::Call => Op::Call,
        Opcode::Ret => Op::Ret,
        Opcode::Goto => Op::Goto,
        Opcode::Join => Op::Join,
        Opcode::Wait => Op::Wait,
        Opcode::Send | Opcode::Sendc => Op::Send,
        Opcode::Math => Op::Math(function(i)?),
        Opcode::Add => Op::Add,
        Opcode::Mul => Op::Mul,
        Opcode::Avg => Op::Avg,
        Opcode::Frc => Op::Frc,
        Opcode::Rndu => Op::Rndu,
        Opcode::Rndd => Op::Rndd,
        Opcode::Rnde => Op::Rnde,
        Opcode::Rndz => Op::Rndz,
        Opcode::Mac => Op::Mac,
        Opcode::Mach => Op::Mach,
        Opcode::Lzd => Op::Lzd,
        Opcode::Fbh => Op::Fbh,
        Opcode::Fbl => Op::Fbl,
        Opcode::Cbit => Op::Cbit,
        Opcode::Addc => Op::Addc,
        Opcode::Subb => Op::Subb,
        Opcode::Sad2 => Op::Sad2,
        Opcode::Sada2 => Op::Sada2,
        Opcode::Dp4 => Op::Dp4,
        Opcode::Dph => Op::Dph,
        Opcode::Dp3 => Op::Dp3,
        Opcode::Dp2 => Op::Dp2,
        Opcode::Line => Op::Line,
        Opcode::Pln => Op::Pln,
        Opcode::Mad => Op::Mad,
        Opcode::Lrp => Op::Lrp,
        Opcode::Nop => Op::Nop,
        Opcode::Movi => Op::Movi,
        Opcode::Madm => Op::Madm,
        // The channels are those of its mask.
        Opcode::Smov if SMOV_MOVES_THE_CHANNELS_OF_A_MASK => Op::Mov,
        Opcode::Smov => return Err(Refused::Missing("(no source says what it does)".into())),
    })
}

fn function(i: &Instruction) -> Decoded<Math> {
    Ok(match i.math {
        Some(MathFunction::Inverse) => Math::Inv,
        Some(MathFunction::Log) => Math::Log,
        Some(MathFunction::Exp) => Math::Exp,
        Some(MathFunction::SquareRoot) => Math::Sqrt,
        Some(MathFunction::InverseSquareRoot) => Math::Rsq,
        Some(MathFunction::Sin) => Math::Sin,
        Some(MathFunction::Cos) => Math::Cos,
        Some(MathFunction::Divide) => Math::Fdiv,
        Some(MathFunction::Power) => Math::Pow,
        Some(MathFunction::IntQuotientRemainder) => Math::IntDivBoth,
        Some(MathFunction::IntQuotient) => Math::IntDivQuotient,
        Some(MathFunction::IntRemainder) => Math::IntDivRemainder,
        Some(MathFunction::InverseMacro) => Math::InvMacro,
        Some(MathFunction::InverseSquareRootMacro) => Math::RsqMacro,
        None => return Err(Refused::Illegal("no function".into())),
    })
}

fn condition_kind(condition: isa::Condition) -> Condition {
    match condition {
        isa::Condition::Equal => Condition::Z,
        isa::Condition::NotEqual => Condition::Nz,
        isa::Condition::Greater => Condition::G,
        isa::Condition::GreaterEqual => Condition::Ge,
        isa::Condition::Less => Condition::L,
        isa::Condition::LessEqual => Condition::Le,
        isa::Condition::Overflow => Condition::O,
        isa::Condition::Unordered => Condition::U,
    }
}

fn predicate_kind(control: PredicateControl) -> Predicate {
    match control {
        PredicateControl::Sequential => Predicate::Sequential,
        PredicateControl::AnyV => Predicate::AnyV,
        PredicateControl::AllV => Predicate::AllV,
        PredicateControl::Any(group) => Predicate::Any(group),
        PredicateControl::All(group) => Predicate::All(group),
        PredicateControl::Replicate(component) => Predicate::Replicate(component & 3),
    }
}

/// First flag bit of the instruction: 32 channels take a whole flag register, fewer the bits that
/// the channel group names. 2b p.26 speaks of halves of a subregister, as if channels 16 to 31
/// needed subregister 1; compilers' kernels write f1.0 by two instructions of 16 channels each and
/// read it as 32. Either way the upper channels have the upper bits.
fn flag(i: &Instruction) -> u8 {
    let register = 32 * (i.flag.register & 1);
    if i.exec_size >= 32 {
        register
    } else {
        register + ((16 * (i.flag.subregister & 1)) | i.channel_offset)
    }
}

/// The element of the accumulator that belongs to channel 0 where the instruction does not name
/// one: that which lies where the destination's first element lies in its register (004, region of
/// the accumulator).
fn accumulator_start(dst: &Dst) -> u8 {
    let (offset, pitch) = match &dst.target {
        Target::File { offset, stride } => (usize::from(*offset) % REGISTER, usize::from(*stride)),
        Target::Accumulator(table) => (usize::from(table[0]) % REGISTER, dst.ty.size()),
        _ => (0, 1),
    };
    (offset / pitch.max(dst.ty.size()).max(2)) as u8
}

fn scalar_type(ty: DataType) -> Type {
    match ty {
        DataType::Ub => Type::Ub,
        DataType::B => Type::B,
        DataType::Uw | DataType::Uv => Type::Uw,
        DataType::W | DataType::V => Type::W,
        DataType::Ud => Type::Ud,
        DataType::D => Type::D,
        DataType::Uq => Type::Uq,
        DataType::Q => Type::Q,
        DataType::Hf => Type::Hf,
        DataType::F | DataType::Vf => Type::F,
        DataType::Df => Type::Df,
    }
}

/// Where an architecture register lies in the file, and how many bytes from there on belong to it.
fn architecture(file: Arf, number: u8, byte: u8) -> Decoded<(usize, usize)> {
    let (start, bytes) = match file {
        Arf::Address => (A0, REGISTER),
        Arf::Flag => (FLAGS, 8),
        Arf::ChannelEnable => (CE0, 4),
        Arf::State => (SR0, 16),
        Arf::Control => (CR0, 16),
        Arf::Notification => (N0, 12),
        Arf::InstructionPointer => (IP, 4),
        Arf::ThreadDependency => (TDR0, 16),
        // Of the eight dwords that are read together the upper five say nothing.
        Arf::Timestamp => (TM0, REGISTER),
        Arf::StackPointer => (SP, 16),
        Arf::Debug => (DBG0, 8),
        _ => return Err(Refused::Missing(format!("with the register {file:?}"))),
    };
    let number =
        if file == Arf::Flag { 4 * usize::from(number) } else { usize::from(number) * REGISTER };
    let at = number + usize::from(byte);
    if at >= bytes {
        return Err(Refused::Missing(format!("with byte {at} of the register {file:?}")));
    }
    Ok((start + at, start + bytes))
}

fn target(
    i: &Instruction,
    destination: &isa::Destination,
    n: usize,
    lanes: &mut u32,
) -> Decoded<Dst> {
    let ty = scalar_type(destination.ty);
    let size = ty.size();
    if i.access_mode == AccessMode::Align16 && (CHANNEL_ENABLES_HOLD_WITH_NO_MASK || !i.no_mask) {
        let tuple = u32::from(destination.write_mask & 15);
        *lanes &= tuple * 0x1111_1111;
    }
    let stride = usize::from(destination.stride);
    if stride == 0 && n > 1 {
        return Err(Refused::Illegal("destination stride 0".into()));
    }
    let mut control = false;
    let target = match destination.register {
        Register::Grf { number, byte } => {
            if number > 127 {
                return Err(Refused::Illegal(format!("destination r{number}")));
            }
            let first = usize::from(number) * REGISTER + usize::from(byte);
            if first + (n - 1) * stride * size + size <= GRF_BYTES {
                Target::File { offset: first as u16, stride: (stride * size) as u8 }
            } else {
                let table = region(first, size, stride, 1, 0, GRF_BYTES);
                if table[..n].iter().any(|&offset| usize::from(offset) + size > GRF_BYTES) {
                    return Err(Refused::Illegal(
                        "an element across the end of the register file".into(),
                    ));
                }
                Target::Table(Box::new(table))
            }
        }
        Register::Arf { file: Arf::Null, .. } => Target::Null,
        Register::Arf { file: Arf::InstructionPointer, .. } => Target::Ip,
        Register::Arf { file: Arf::Accumulator, number, byte } => {
            let first = usize::from(number) * REGISTER + usize::from(byte);
            Target::Accumulator(accumulator(
                number,
                region(first, size, stride, 1, 0, usize::from(u16::MAX)),
                n,
                size,
            )?)
        }
        Register::Arf { file, number, byte } => {
            let (first, end) = architecture(file, number, byte)?;
            control = belongs_to_machine(first);
            if first + (n - 1) * stride * size + size > end {
                return Err(Refused::Missing(format!("to more than the register {file:?}")));
            }
            Target::File { offset: first as u16, stride: (stride * size) as u8 }
        }
        Register::Indirect { address, offset } => Target::Indirect {
            address: address & 15,
            immediate: offset,
            stride: (stride * size) as u8,
        },
    };
    Ok(Dst { ty, target, control })
}

fn accumulator(
    number: u8,
    table: [u16; MAX_CHANNELS],
    n: usize,
    size: usize,
) -> Decoded<Box<[u16; MAX_CHANNELS]>> {
    if number > 1 {
        return Err(Refused::Missing(format!("with the extended accumulator acc{number}")));
    }
    // What lies behind the second accumulator comes round to the first (SIMD16 of dwords in Align1
    // stops before).
    let table = table.map(|offset| offset % ACC_FILE as u16);
    if !in_accumulators(&table[..n], size) {
        return Err(Refused::Illegal("an element across the end of the accumulators".into()));
    }
    Ok(Box::new(table))
}

fn source(i: &Instruction, operand: &Operand, n: usize) -> Decoded<Src> {
    let source = match operand {
        Operand::None => return Ok(Src::immediate(Type::Ud, 0)),
        Operand::Immediate(immediate) => return Ok(constant(immediate)),
        Operand::Register(source) => source,
    };
    let ty = scalar_type(source.ty);
    let size = ty.size();
    let shape = match source.register {
        Register::Grf { number, byte } => {
            if number > 127 {
                return Err(Refused::Illegal(format!("source r{number}")));
            }
            let first = usize::from(number) * REGISTER + usize::from(byte);
            let table = table(i, source, first, size, GRF_BYTES)?;
            if table[..n].iter().any(|&offset| usize::from(offset) + size > GRF_BYTES) {
                return Err(Refused::Illegal(
                    "an element across the end of the register file".into(),
                ));
            }
            shape(table, n, size)
        }
        Register::Arf { file: Arf::Null, .. } => Shape::Immediate(0),
        Register::Arf { file: Arf::Accumulator, number, byte } => {
            let first = usize::from(number) * REGISTER + usize::from(byte);
            Shape::Accumulator(accumulator(
                number,
                table(i, source, first, size, 1 << 16)?,
                n,
                size,
            )?)
        }
        Register::Arf { file, number, byte } => {
            let (first, end) = architecture(file, number, byte)?;
            let table = table(i, source, first, size, 1 << 16)?;
            if table[..n].iter().any(|&offset| usize::from(offset) + size > end) {
                return Err(Refused::Missing(format!("with more than the register {file:?}")));
            }
            shape(table, n, size)
        }
        Register::Indirect { address, offset } => {
            Shape::Indirect(Box::new(indirect(i, source, address, offset, size)?))
        }
    };
    Ok(Src { ty, shape, negate: source.negate, abs: source.absolute })
}

/// Byte offset of each channel's element.
fn table(
    i: &Instruction,
    source: &isa::Source,
    first: usize,
    size: usize,
    limit: usize,
) -> Decoded<[u16; MAX_CHANNELS]> {
    if source.replicate {
        return Ok(region(first, size, 0, 1, 0, limit));
    }
    let Vertical::Stride(vertical) = source.region.vertical else {
        return Err(Refused::Illegal("a region of addresses without an address register".into()));
    };
    let (vertical, width) = (usize::from(vertical), usize::from(source.region.width).max(1));
    if i.access_mode == AccessMode::Align1 {
        return Ok(region(
            first,
            size,
            vertical,
            width,
            usize::from(source.region.horizontal),
            limit,
        ));
    }
    Ok(std::array::from_fn(|c| ((first + swizzled(source, c, vertical, size)) % limit) as u16))
}

/// Byte offset of the element that channel `c` of an Align16 region reads. A row has 16 bytes or
/// four elements, and the swizzle picks among them; for 64-bit elements a pair of selects, `xy` or
/// `zw`, picks one of two (2b p.9).
fn swizzled(source: &isa::Source, c: usize, vertical: usize, size: usize) -> usize {
    if size == 8 {
        let select = usize::from(source.swizzle[c % 2 * 2] & 3) / 2;
        let row = if vertical == 0 && QWORD_ROWS_OF_ALIGN16_ARE_ADJACENT { 0 } else { c / 2 };
        let rows = if QWORD_ROWS_OF_ALIGN16_ARE_ADJACENT { 2 } else { vertical };
        return (row * rows + select) * size;
    }
    (c / 4 * vertical + usize::from(source.swizzle[c % 4] & 3)) * size
}

fn indirect(
    i: &Instruction,
    source: &isa::Source,
    address: u8,
    offset: i16,
    size: usize,
) -> Decoded<Indirect> {
    let (width, horizontal) =
        (usize::from(source.region.width).max(1), usize::from(source.region.horizontal));
    let (share, lanes) = match source.region.vertical {
        // One address for all (2b p.46).
        Vertical::Stride(vertical) if i.access_mode == AccessMode::Align16 => {
            let lanes =
                std::array::from_fn(|c| swizzled(source, c, usize::from(vertical), size) as u16);
            (MAX_CHANNELS, lanes)
        }
        Vertical::Addresses if i.access_mode == AccessMode::Align16 => {
            return Err(Refused::Illegal("an address for each row in Align16".into()));
        }
        Vertical::Stride(vertical) => {
            (MAX_CHANNELS, region(0, size, usize::from(vertical), width, horizontal, 1 << 16))
        }
        Vertical::Addresses => (width, region(0, size, 0, width, horizontal, 1 << 16)),
    };
    Ok(Indirect { address: address & 15, immediate: offset, share: share as u8, lanes })
}

fn constant(immediate: &isa::Immediate) -> Src {
    let bits = immediate.bits;
    let nibbles = |sign: bool| -> Box<[u64]> {
        (0..8)
            .map(|n| {
                let nibble = bits >> (4 * n) & 15;
                if sign && nibble > 7 { nibble | 0xfff0 } else { nibble }
            })
            .collect()
    };
    let shape = match immediate.ty {
        DataType::V => Shape::Vector(nibbles(true)),
        DataType::Uv => Shape::Vector(nibbles(false)),
        DataType::Vf => Shape::Vector(
            (0..4)
                .map(|n| u64::from(restricted_float((bits >> (8 * n)) as u8).to_bits()))
                .collect(),
        ),
        DataType::Ub | DataType::B => Shape::Immediate(bits & 0xff),
        DataType::Uw | DataType::W | DataType::Hf => Shape::Immediate(bits & 0xffff),
        DataType::Ud | DataType::D | DataType::F => Shape::Immediate(bits & 0xffff_ffff),
        DataType::Uq | DataType::Q | DataType::Df => Shape::Immediate(bits),
    };
    Src { ty: scalar_type(immediate.ty), shape, negate: false, abs: false }
}

fn send(i: &Instruction) -> Decoded<SendInfo> {
    let Some(send) = i.send else { return Err(Refused::Illegal("no message".into())) };
    let Operand::Register(isa::Source { register: Register::Grf { number, .. }, .. }) =
        i.sources[0]
    else {
        return Err(Refused::Illegal("a payload that is not in general registers".into()));
    };
    if number > 127 {
        return Err(Refused::Illegal(format!("payload r{number}")));
    }
    let response = match i.destination.map(|destination| destination.register) {
        Some(Register::Grf { number, .. }) if number > 127 => {
            return Err(Refused::Illegal(format!("response r{number}")));
        }
        Some(Register::Grf { number, .. }) => {
            Response::Register(u16::from(number) * REGISTER as u16)
        }
        Some(Register::Indirect { address, offset }) => {
            Response::Indirect { address: address & 15, immediate: offset }
        }
        // Kernels name null, or any architecture register, where nothing comes back.
        Some(Register::Arf { .. }) | None => Response::None,
    };
    if let Descriptor::Address(byte) = send.descriptor
        && (byte % 4 != 0 || byte > 28)
    {
        return Err(Refused::Illegal(format!("a descriptor at byte {byte} of a0")));
    }
    Ok(SendInfo {
        function: send.function,
        eot: send.end_of_thread,
        descriptor: send.descriptor,
        payload: u16::from(number) * REGISTER as u16,
        response,
        dependent: i.opcode == Opcode::Sendc,
    })
}

/// Checks the operands of branches that take their target from a register, and of `wait`.
fn check_jump(i: &Instruction, u: &Uop) -> Decoded<()> {
    match u.op {
        Op::Wait => match i.sources[0] {
            Operand::Register(isa::Source {
                register: Register::Arf { file: Arf::Notification, number: 0, byte: 0 | 4 | 8 },
                ..
            }) => return Ok(()),
            _ => return Err(Refused::Illegal("only n0.0, n0.1 and n0.2 can be waited for".into())),
        },
        Op::Call | Op::Calla => match u.dst.target {
            Target::File { offset, .. } if usize::from(offset) < GRF_BYTES && offset % 8 == 0 => {}
            Target::Null => {}
            _ => {
                let why = "the return address needs a general register, at a multiple of 8 bytes";
                return Err(Refused::Illegal(why.into()));
            }
        },
        Op::Jmpi | Op::Brd | Op::Brc | Op::Ret => {}
        _ => return Ok(()),
    }
    match i.sources[0] {
        Operand::None => Ok(()),
        Operand::Register(source)
            if source.ty.size() == 4 && !source.negate && !source.absolute =>
        {
            match u.src[0].shape {
                Shape::Scalar(_) | Shape::Contiguous(_) | Shape::Table(_) => Ok(()),
                _ => Err(Refused::Illegal(
                    "a target that is not in a directly addressed register".into(),
                )),
            }
        }
        _ => Err(Refused::Illegal("a target needs dwords without modifiers".into())),
    }
}
