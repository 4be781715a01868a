//! Converts Gen8 instructions to uops: regions become byte offsets, jump distances become indices.
//!
//! Decoding never fails. An instruction that cannot be executed becomes a uop that stops the thread
//! when it is reached. [`super::decode`] finds the instructions of a kernel.

use super::control::belongs_to_machine;
use super::convert::restricted_float;
use super::fast::choose;
use super::ops;
use super::regions::{
    A0, ACC_FILE, CE0, CR0, DBG0, FLAGS, GRF_BYTES, IP, MASK0, MRF, MRF_BYTES, MS0, MSD0, N0,
    REGISTER, SP, SR0, TDR0, TM0,
};
use super::transfer::Transfer;
use super::uop::{
    Branch, Condition, Dst, ExecType, Indirect, MAX_CHANNELS, NOWHERE, Op, Response, SendInfo,
    Shape, Src, Target, Type, Uop, in_accumulators, region, shape,
};
use crate::assumptions::{
    ACCUMULATOR_SOURCES_FOLLOW_THE_DESTINATION, CHANNEL_ENABLES_HOLD_WITH_NO_MASK,
    CHANNEL_ENABLES_OF_QWORDS_ARE_PAIRS, QWORD_ROWS_OF_ALIGN16_ARE_ADJACENT,
    SHR_OF_SIGNED_IS_ARITHMETIC, SMOV_MOVES_THE_CHANNELS_OF_A_MASK,
};
use crate::machine::fault::Refusal;
use genxml_eu::gen8::eu::EuOpcode;
use genxml_eu::instruction::{
    self as isa, AccessMode, Arf, DataType, Descriptor, Instruction, Operand, Region, Register,
    Vertical,
};
use genxml_eu::ops::{Format, Opcode, Traits};
use std::borrow::Cow;

pub(super) type Decoded<T> = Result<T, Refusal>;

/// The error for something that the model does not implement. [`uop`] adds the operation and its
/// page.
#[cold]
pub(super) fn missing(what: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::missing(what, "")
}

/// The error for something that the manual forbids. [`uop`] adds the operation.
#[cold]
pub(super) fn illegal(why: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::illegal(why)
}

/// Converts one instruction to a uop. The indices of other uops are not set.
pub fn uop(instruction: &Instruction, offset: u32) -> Uop {
    let opcode = instruction.opcode;
    let uop = if opcode == Opcode::Illegal {
        illegal_opcode(instruction.illegal_code, offset)
    } else {
        try_uop(instruction, offset).unwrap_or_else(|refusal| refused(opcode, offset, refusal))
    };
    Uop { length: instruction.length() as u8, ..uop }
}

/// The uop of an instruction that cannot be executed.
#[cold]
pub(super) fn refused(opcode: Opcode, offset: u32, refusal: Refusal) -> Uop {
    let refusal = match refusal {
        Refusal::Missing { what, .. } => {
            Refusal::missing(format!("{opcode} {what}"), opcode.op().page)
        }
        Refusal::Illegal { why } => Refusal::illegal(format!("{opcode}: {why}")),
    };
    Uop::refused(offset, refusal)
}

/// The uop of an opcode that has no operation. If the manual's list of opcodes names it, the thread
/// stops at it with an error. Any other is an illegal opcode. The list has 7-bit opcodes; with bit
/// 7 set, every opcode is illegal (001:21683).
fn illegal_opcode(code: u8, offset: u32) -> Uop {
    match EuOpcode::from_bits(code.into()).name() {
        Some(name) if (1..128).contains(&code) => {
            let why = format!("{name} (opcode {code:#04x}) is not an operation of this generation");
            Uop::refused(offset, Refusal::illegal(why))
        }
        _ => Uop { op: Op::Isa(Opcode::Illegal), ..Uop::nop(offset) },
    }
}

fn try_uop(i: &Instruction, offset: u32) -> Decoded<Uop> {
    let opcode = operation(i)?;
    let mut u = controls(i, opcode, offset);
    if opcode == Opcode::Send {
        u.send = Some(send(i)?);
        return Ok(u);
    }
    let op = opcode.op();
    let bare = matches!(op.format, Format::Bare | Format::BranchOne | Format::BranchTwo);
    if bare && op.signatures.is_empty() {
        return Ok(u);
    }
    if opcode == Opcode::Math {
        u.function = Some(i.math.ok_or_else(|| illegal("no function"))?);
    }
    let count = operands(i, opcode, &mut u)?;
    u.exec = ExecType::of(u.src[..count].iter().map(|src| src.ty));
    if u.exec == ExecType::Half && u.dst.ty == Type::F {
        // If the destination has singles, the instruction converts halves to singles and computes
        // with these (Mesa's validator, execution type).
        u.exec = ExecType::Single;
    }
    // A product into the accumulator depends on whether source 1 is a word or a dword.
    let partial = opcode == Opcode::Mul && matches!(u.dst.target, Target::Accumulator(_));
    if u.exec == ExecType::Dword && !partial {
        widen_immediates(&mut u.src[..count]);
    }
    check_condition(opcode, &u)?;
    let least = ops::general(opcode).map_or(1, |row| row.least_channels);
    if u.size < least {
        return Err(illegal(format!("{} channels, fewer than {least}", u.size)));
    }
    check_jump(i, opcode, &u)?;
    u.plan = choose::plan(&u);
    Ok(u)
}

/// The uop of an instruction without its operands.
pub(super) fn controls(i: &Instruction, opcode: Opcode, offset: u32) -> Uop {
    let n = usize::from(i.exec_size).clamp(1, MAX_CHANNELS);
    let (condition, select) = match opcode {
        Opcode::Sel | Opcode::Csel => (None, i.condition),
        _ => (i.condition, None),
    };
    Uop {
        op: Op::Isa(opcode),
        size: n as u8,
        first: i.channel_offset,
        lanes: u32::MAX >> (32 - n),
        no_mask: i.no_mask,
        predicate: i.predicate.map(|predicate| predicate.control),
        invert: i.predicate.is_some_and(|predicate| predicate.inverse),
        condition,
        select,
        flag: flag(i),
        saturate: i.saturate,
        // Operations that always write the accumulator do it themselves.
        acc_write: i.acc_write && !opcode.op().traits.contains(Traits::WRITES_ACCUMULATOR),
        branch: Branch { jip: NOWHERE, uip: NOWHERE, control: i.branch_ctrl, pops: 0 },
        ..Uop::nop(offset)
    }
}

/// Sets the destination and the sources. Returns the number of sources.
pub(super) fn operands(i: &Instruction, opcode: Opcode, u: &mut Uop) -> Decoded<usize> {
    let n = usize::from(u.size);
    if let Some(destination) = &i.destination {
        // A call writes only the first two elements of its destination, whatever its size (2a
        // call). `check_jump` checks that they fit.
        let written = if matches!(opcode, Opcode::Call | Opcode::Calla) { 1 } else { n };
        u.dst = target(i, destination, written, &mut u.lanes)?;
        u.accumulator = accumulator_start(&u.dst);
    }
    let logic = opcode.op().traits.contains(Traits::LOGIC);
    let mut sources: Vec<&Operand> = i.operands().collect();
    for (slot, operand) in u.src.iter_mut().zip(&sources) {
        *slot = source(i, operand, n)?;
        if slot.abs && logic && !i.generation.has_message_registers() {
            // In logic operations, `abs` has no effect and cancels `negate` (2b SrcMod).
            (slot.abs, slot.negate) = (false, false);
        }
    }
    if i.opcode == Opcode::Smov {
        let Shape::Immediate(mask) = u.src[1].shape else {
            return Err(missing("with a mask that is not an immediate"));
        };
        u.lanes &= mask as u32;
        u.src[1] = Src::immediate(Type::Ud, 0);
        sources.truncate(1);
    }
    for operand in &sources {
        let Operand::Register(source) = operand else { continue };
        let Register::Arf { file, .. } = source.register else { continue };
        u.volatile |= matches!(file, Arf::InstructionPointer | Arf::Timestamp | Arf::ChannelEnable);
        u.clock |= file == Arf::Timestamp;
    }
    u.extended = extended(i);
    Ok(sources.len())
}

/// Checks the condition of comparisons and selections.
pub(super) fn check_condition(opcode: Opcode, u: &Uop) -> Decoded<()> {
    let condition = match opcode {
        Opcode::Cmp | Opcode::Cmpn if u.condition.is_none() => {
            return Err(illegal("a comparison needs a condition"));
        }
        Opcode::Cmp | Opcode::Cmpn => u.condition,
        Opcode::Sel | Opcode::Csel => u.select,
        _ => return Ok(()),
    };
    if matches!(condition, Some(Condition::Overflow | Condition::Unordered)) {
        // 2a cmp; G45 vol 4 section 11.8.
        return Err(illegal("overflow and unordered are not comparisons"));
    }
    Ok(())
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

/// Converts word immediates to dwords where another source is a dword. This does not change the
/// result.
pub(super) fn widen_immediates(sources: &mut [Src]) {
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

/// The operation that executes an instruction: `sendc` becomes `send`, `smov` becomes `mov`, and
/// `shr` of a signed number becomes `asr`.
fn operation(i: &Instruction) -> Decoded<Opcode> {
    Ok(match i.opcode {
        Opcode::Sendc => Opcode::Send,
        Opcode::Shr if SHR_OF_SIGNED_IS_ARITHMETIC && is_signed(&i.sources[0]) => Opcode::Asr,
        // The immediate mask of `smov` enables the channels.
        Opcode::Smov if SMOV_MOVES_THE_CHANNELS_OF_A_MASK => Opcode::Mov,
        Opcode::Smov => return Err(missing("(no source says what it does)")),
        opcode => opcode,
    })
}

pub(super) fn is_signed(operand: &Operand) -> bool {
    match operand {
        Operand::None => false,
        Operand::Immediate(immediate) => immediate.ty.is_signed(),
        Operand::Register(source) => source.ty.is_signed(),
    }
}

/// First flag bit of the instruction. 32 channels use a whole flag register; fewer channels use the
/// bits that the channel group selects. 2b p.26 describes halves of a subregister, as if channels
/// 16 to 31 needed subregister 1. Compiled kernels write f1.0 with two instructions of 16 channels
/// each and read it as 32 channels. In both cases channels 16 to 31 have bits 16 to 31 of the flag
/// register.
fn flag(i: &Instruction) -> u8 {
    let register = 32 * (i.flag.register & 1);
    if i.exec_size >= 32 {
        register
    } else {
        register + ((16 * (i.flag.subregister & 1)) | i.channel_offset)
    }
}

/// Index of the accumulator element of channel 0, for instructions that use the accumulator without
/// naming it. This element has the same offset in the accumulator as the destination's first
/// element in its register (004, region of the accumulator).
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
        // Gen8 has no native floats.
        DataType::Df | DataType::Nf => Type::Df,
    }
}

/// The offset of byte `byte` of an architecture register in the file, and the offset of the
/// register's end.
fn architecture(i: &Instruction, file: Arf, number: u8, byte: u8) -> Decoded<(usize, usize)> {
    let gen45 = cfg!(feature = "gen45") && i.generation.has_message_registers();
    let (start, bytes) = match file {
        // G45 has its own registers under some numbers (003:7560), and smaller ones.
        Arf::ChannelEnable if gen45 => (MASK0, 8),
        Arf::MessageControl if gen45 => (MS0, 32),
        Arf::StackPointer if gen45 => (MSD0, 4),
        Arf::Address if gen45 => (A0, 16),
        Arf::Flag if gen45 => (FLAGS, 4),
        Arf::State if gen45 => (SR0, 8),
        Arf::ThreadDependency | Arf::Timestamp | Arf::Debug if gen45 => {
            return Err(missing(format!("with the register {file:?}")));
        }
        Arf::Address => (A0, REGISTER),
        Arf::Flag => (FLAGS, 8),
        Arf::ChannelEnable => (CE0, 4),
        Arf::State => (SR0, 16),
        Arf::Control => (CR0, 16),
        Arf::Notification => (N0, 12),
        Arf::InstructionPointer => (IP, 4),
        Arf::ThreadDependency => (TDR0, 16),
        // Kernels read eight dwords of `tm0` at once. The upper five have no meaning.
        Arf::Timestamp => (TM0, REGISTER),
        Arf::StackPointer => (SP, 16),
        Arf::Debug => (DBG0, 8),
        _ => return Err(missing(format!("with the register {file:?}"))),
    };
    let number = match file {
        Arf::Flag => 4 * usize::from(number),
        // `n1` of G45 is `n0.1` of Gen8.
        Arf::Notification if gen45 => 4 * usize::from(number),
        _ => usize::from(number) * REGISTER,
    };
    let at = number + usize::from(byte);
    if at >= bytes {
        return Err(missing(format!("with byte {at} of the register {file:?}")));
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
        let enables = u32::from(destination.write_mask & 15);
        *lanes &= if size == 8 && CHANNEL_ENABLES_OF_QWORDS_ARE_PAIRS {
            (u32::from(enables & 3 != 0) | u32::from(enables & 12 != 0) << 1) * 0x5555_5555
        } else {
            enables * 0x1111_1111
        };
    }
    let stride = usize::from(destination.stride);
    if stride == 0 && n > 1 {
        return Err(illegal("destination stride 0"));
    }
    let mut control = false;
    let target = match destination.register {
        Register::Grf { number, byte } => {
            if number > 127 {
                return Err(illegal(format!("destination r{number}")));
            }
            let first = usize::from(number) * REGISTER + usize::from(byte);
            if first + (n - 1) * stride * size + size <= GRF_BYTES {
                Target::File { offset: first as u16, stride: (stride * size) as u8 }
            } else {
                let table = region(first, size, stride, 1, 0, GRF_BYTES);
                if table[..n].iter().any(|&offset| usize::from(offset) + size > GRF_BYTES) {
                    return Err(illegal("an element across the end of the register file"));
                }
                Target::Table(Box::new(table))
            }
        }
        Register::Mrf { number, byte } if i.generation.has_message_registers() => {
            let first = MRF + usize::from(number) * REGISTER + usize::from(byte);
            if first + (n - 1) * stride * size + size > MRF + MRF_BYTES {
                return Err(illegal(format!("bytes past m15 in destination m{number}")));
            }
            Target::File { offset: first as u16, stride: (stride * size) as u8 }
        }
        // Gen8 has no message registers, so its decoder returns none.
        Register::Mrf { .. } => return Err(illegal("a message register")),
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
            let (first, end) = architecture(i, file, number, byte)?;
            control = belongs_to_machine(first)
                || file == Arf::Address && i.generation.has_message_registers();
            if first + (n - 1) * stride * size + size > end {
                return Err(missing(format!("to bytes past the end of the register {file:?}")));
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
        return Err(missing(format!("with the extended accumulator acc{number}")));
    }
    // Offsets after the second accumulator wrap to the first. (16 dwords in Align1 fill both
    // accumulators and do not wrap.)
    let table = table.map(|offset| offset % ACC_FILE as u16);
    if !in_accumulators(&table[..n], size) {
        return Err(illegal("an element across the end of the accumulators"));
    }
    Ok(Box::new(table))
}

fn source(i: &Instruction, operand: &Operand, n: usize) -> Decoded<Src> {
    let source = match operand {
        Operand::None => return Ok(Src::immediate(Type::Ud, 0)),
        Operand::Immediate(immediate) => return Ok(constant(i, immediate, n)),
        Operand::Register(source) => source,
    };
    let ty = scalar_type(source.ty);
    let size = ty.size();
    let shape = match source.register {
        Register::Grf { number, byte } => {
            if number > 127 {
                return Err(illegal(format!("source r{number}")));
            }
            let first = usize::from(number) * REGISTER + usize::from(byte);
            let table = table(i, source, first, size, GRF_BYTES)?;
            if table[..n].iter().any(|&offset| usize::from(offset) + size > GRF_BYTES) {
                return Err(illegal("an element across the end of the register file"));
            }
            shape(table, n, size)
        }
        Register::Mrf { .. } => return Err(illegal("a message register")),
        Register::Arf { file: Arf::Null, .. } => Shape::Immediate(0),
        Register::Arf { file: Arf::Accumulator, number, byte } => {
            let first = usize::from(number) * REGISTER + usize::from(byte);
            let one = source.region == Region::SCALAR && !source.replicate;
            let table = if one && ACCUMULATOR_SOURCES_FOLLOW_THE_DESTINATION {
                let stride = i.destination.map_or(1, |it| usize::from(it.stride));
                region(first, size, stride, 1, 0, 1 << 16)
            } else {
                table(i, source, first, size, 1 << 16)?
            };
            Shape::Accumulator(accumulator(number, table, n, size)?)
        }
        Register::Arf { file, number, byte } => {
            let (first, end) = architecture(i, file, number, byte)?;
            let table = table(i, source, first, size, 1 << 16)?;
            if table[..n].iter().any(|&offset| usize::from(offset) + size > end) {
                return Err(missing(format!("with bytes past the end of the register {file:?}")));
            }
            shape(table, n, size)
        }
        Register::Indirect { address, offset } => {
            Shape::Indirect(Box::new(indirect(i, source, address, offset, size)?))
        }
    };
    Ok(Src { ty, shape, negate: source.negate, abs: source.absolute })
}

/// Byte offset of each channel's element in its register storage, which wraps at `limit` bytes.
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
        return Err(illegal("a region of addresses without an address register"));
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

/// Byte offset, from the start of an Align16 region, of the element that channel `c` reads. A row
/// has four elements, and the swizzle picks one of them. A row of 64-bit elements has two elements,
/// and a pair of selects, `xy` or `zw`, picks one of them (2b p.9).
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
        // In Align16, all channels use one address (2b p.46).
        Vertical::Stride(vertical) if i.access_mode == AccessMode::Align16 => {
            let lanes =
                std::array::from_fn(|c| swizzled(source, c, usize::from(vertical), size) as u16);
            (MAX_CHANNELS, lanes)
        }
        Vertical::Addresses if i.access_mode == AccessMode::Align16 => {
            return Err(illegal("an address for each row in Align16"));
        }
        Vertical::Stride(vertical) => {
            (MAX_CHANNELS, region(0, size, usize::from(vertical), width, horizontal, 1 << 16))
        }
        Vertical::Addresses => (width, region(0, size, 0, width, horizontal, 1 << 16)),
    };
    Ok(Indirect { address: address & 15, immediate: offset, share: share as u8, lanes })
}

/// The values that the `n` channels read from a packed vector. Hardware expands the vector to 16
/// bytes, in elements of `size` bytes. Channel c reads the element at byte c * stride, where stride
/// is the destination's, in bytes. If the stride is `size`, the channels read successive elements.
/// Intel's compiler relies on other strides (`0x400:uv` is 0 and 4 for two dwords).
fn packed(i: &Instruction, elements: &[u64], size: usize, n: usize) -> Shape {
    let stride = i.destination.map_or(size, |destination| {
        usize::from(destination.stride) * scalar_type(destination.ty).size()
    });
    Shape::Vector((0..n).map(|c| elements[c * stride / size % elements.len()]).collect())
}

fn constant(i: &Instruction, immediate: &isa::Immediate, n: usize) -> Src {
    let bits = immediate.bits;
    let nibbles = |sign: bool| -> [u64; 8] {
        std::array::from_fn(|n| {
            let nibble = bits >> (4 * n) & 15;
            if sign && nibble > 7 { nibble | 0xfff0 } else { nibble }
        })
    };
    let shape = match immediate.ty {
        DataType::V => packed(i, &nibbles(true), 2, n),
        DataType::Uv => packed(i, &nibbles(false), 2, n),
        DataType::Vf => {
            let floats: [u64; 4] = std::array::from_fn(|n| {
                u64::from(restricted_float((bits >> (8 * n)) as u8).to_bits())
            });
            packed(i, &floats, 4, n)
        }
        DataType::Ub | DataType::B => Shape::Immediate(bits & 0xff),
        DataType::Uw | DataType::W | DataType::Hf => Shape::Immediate(bits & 0xffff),
        DataType::Ud | DataType::D | DataType::F => Shape::Immediate(bits & 0xffff_ffff),
        DataType::Uq | DataType::Q | DataType::Df | DataType::Nf => Shape::Immediate(bits),
    };
    Src { ty: scalar_type(immediate.ty), shape, negate: false, abs: false }
}

fn send(i: &Instruction) -> Decoded<SendInfo> {
    let Some(send) = i.send else { return Err(illegal("no message")) };
    let Operand::Register(isa::Source { register: Register::Grf { number, .. }, .. }) =
        i.sources[0]
    else {
        return Err(illegal("a payload that is not in general registers"));
    };
    if number > 127 {
        return Err(illegal(format!("payload r{number}")));
    }
    let response = match i.destination.map(|destination| destination.register) {
        Some(Register::Grf { number, .. }) if number > 127 => {
            return Err(illegal(format!("response r{number}")));
        }
        Some(Register::Grf { number, .. }) => {
            Response::Register(u16::from(number) * REGISTER as u16)
        }
        Some(Register::Indirect { address, offset }) => {
            Response::Indirect { address: address & 15, immediate: offset }
        }
        // Kernels that expect no response name null or any other architecture register.
        Some(Register::Arf { .. } | Register::Mrf { .. }) | None => Response::None,
    };
    if let Descriptor::Address(byte) = send.descriptor
        && (byte % 4 != 0 || byte > 28)
    {
        return Err(illegal(format!("a descriptor at byte {byte} of a0")));
    }
    let payload = u16::from(number) * REGISTER as u16;
    let dependent = i.opcode == Opcode::Sendc;
    let transfer = match (send.descriptor, response) {
        (Descriptor::Immediate(bits), Response::Register(at)) if !dependent => {
            Transfer::new(send.function, bits, payload.into(), Some(at.into()))
        }
        (Descriptor::Immediate(bits), Response::None) if !dependent => {
            Transfer::new(send.function, bits, payload.into(), None)
        }
        _ => None,
    };
    Ok(SendInfo {
        function: send.function,
        eot: send.end_of_thread,
        descriptor: send.descriptor,
        payload,
        response,
        dependent,
        position: 0,
        transfer: transfer.filter(|_| !send.end_of_thread),
    })
}

/// Checks the operands of `wait` and of branches that read their target from a register.
pub(super) fn check_jump(i: &Instruction, opcode: Opcode, u: &Uop) -> Decoded<()> {
    match opcode {
        Opcode::Wait => match i.sources[0] {
            Operand::Register(isa::Source {
                register: Register::Arf { file: Arf::Notification, number: 0, byte: 0 | 4 | 8 },
                ..
            }) => return Ok(()),
            _ => return Err(illegal("only n0.0, n0.1 and n0.2 can be waited for")),
        },
        Opcode::Call | Opcode::Calla => match u.dst.target {
            Target::File { offset, .. } if usize::from(offset) < GRF_BYTES && offset % 8 == 0 => {}
            Target::Null => {}
            _ => {
                let why = "the return address needs a general register, at a multiple of 8 bytes";
                return Err(illegal(why));
            }
        },
        Opcode::Jmpi | Opcode::Brd | Opcode::Brc | Opcode::Ret => {}
        _ => return Ok(()),
    }
    match i.sources[0] {
        Operand::None => Ok(()),
        Operand::Register(source)
            if source.ty.size() == 4 && !source.negate && !source.absolute =>
        {
            match u.src[0].shape {
                Shape::Scalar(_) | Shape::Contiguous(_) | Shape::Table(_) => Ok(()),
                _ => Err(illegal("a target that is not in a directly addressed register")),
            }
        }
        _ => Err(illegal("a target needs dwords without modifiers")),
    }
}
