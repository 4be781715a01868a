//! The parts of the registers that an instruction reads and writes, channel by channel.
//!
//! The description comes from the uop and from the register file before the instruction, which
//! gives the addresses of register-indirect operands. A test executes random instructions and
//! compares: bytes outside the reads do not change the result, and nothing outside the writes
//! changes.
//!
//! Payloads and responses of messages are not described here: they depend on the message
//! ([`Packet`] gives their registers). The modes in `cr0` are read by almost every instruction and
//! are not listed.

use super::extended::remainder_target;
use super::operands::implicit_element;
use super::regions::{A0, ACC_FILE, CR0, FILE_BYTES, FLAGS, GRF_BYTES, Indirect, REGISTER, wrap};
use super::uop::{
    MathFunction, Op, Opcode, PredicateControl, Response, Shape, Src, Target, Type, Uop,
};
use crate::assumptions::{MACH_UPDATES_ALL_CHANNELS, VERTICAL_PREDICATE_COMBINES_REGISTERS};
use genxml_eu::gen8::eu_registers::ControlRegister;
use genxml_eu::instruction::Descriptor;
use genxml_eu::ops::Traits;

/// Number of flag bits.
const FLAG_BITS: usize = 64;
/// Bytes of the flags.
const FLAG_BYTES: usize = FLAG_BITS / 8;
/// First cell of the accumulators.
const ACCUMULATORS: usize = FILE_BYTES;
/// First cell of the flag bits.
const FLAG_CELLS: usize = ACCUMULATORS + ACC_FILE;
/// First cell of the extensions of the division macros.
const EXTENSIONS: usize = FLAG_CELLS + FLAG_BITS;
/// Number of extended accumulators.
const EXTENDED: usize = 8;
/// Number of channels of an extended accumulator.
const EXTENDED_CHANNELS: usize = 32;
/// Number of cells: one for each byte of the register file and of the accumulators, one for each
/// flag bit, and one for each channel of `mme0` to `mme7`.
pub const CELLS: usize = EXTENSIONS + EXTENDED * EXTENDED_CHANNELS;

/// A part of the registers of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Bytes of the register file: the first one, and their number.
    File(u16, u8),
    /// Bytes of the accumulators: the first one, and their number.
    Accumulator(u16, u8),
    /// A flag bit: f0.0 has the bits from 0 on, f1.0 those from 32 on.
    Flag(u8),
    /// The extension in an `mme` register, 0 to 7, of a channel.
    Extension(u8, u8),
}

impl Part {
    /// The cells of the part. Bytes of the flag registers are the cells of their bits.
    pub fn cells(self) -> std::ops::Range<usize> {
        match self {
            Part::File(at, size) => {
                let (at, size) = (usize::from(at), usize::from(size));
                match at.checked_sub(FLAGS).filter(|byte| *byte < FLAG_BYTES) {
                    Some(byte) => {
                        let end = (byte + size).min(FLAG_BYTES);
                        FLAG_CELLS + 8 * byte..FLAG_CELLS + 8 * end
                    }
                    None => at..(at + size).min(FILE_BYTES),
                }
            }
            Part::Accumulator(at, size) => {
                let at = ACCUMULATORS + usize::from(at);
                at..(at + usize::from(size)).min(FLAG_CELLS)
            }
            Part::Flag(bit) => {
                let at = FLAG_CELLS + usize::from(bit) % FLAG_BITS;
                at..at + 1
            }
            Part::Extension(selector, channel) => {
                let channel = usize::from(channel) % EXTENDED_CHANNELS;
                let at =
                    EXTENSIONS + usize::from(selector) % EXTENDED * EXTENDED_CHANNELS + channel;
                at..at + 1
            }
        }
    }
}

/// The register of a cell, as a byte offset in the register file: flag bits give their byte. `None`
/// for cells of accumulators.
pub fn file_byte(cell: usize) -> Option<usize> {
    match cell {
        _ if cell < FILE_BYTES => Some(cell),
        FLAG_CELLS..EXTENSIONS => Some(FLAGS + (cell - FLAG_CELLS) / 8),
        _ => None,
    }
}

/// The part of the accumulators or extensions that has a cell: a dword, or an extension.
pub fn part_of(cell: usize) -> Part {
    match cell {
        ACCUMULATORS..FLAG_CELLS => Part::Accumulator((cell - ACCUMULATORS) as u16 & !3, 4),
        EXTENSIONS..CELLS => {
            let number = cell - EXTENSIONS;
            Part::Extension((number / EXTENDED_CHANNELS) as u8, (number % EXTENDED_CHANNELS) as u8)
        }
        FLAG_CELLS..EXTENSIONS => Part::Flag((cell - FLAG_CELLS) as u8),
        _ => Part::File(cell as u16 & !3, 4),
    }
}

/// What an instruction reads a part for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Source operand 0, 1 or 2.
    Source(u8),
    /// The accumulator, which the instruction does not name.
    Accumulator,
    /// The address of a register-indirect operand.
    Address,
    /// The flag that selects a source (`sel`).
    Choice,
    /// The descriptor of a message.
    Descriptor,
}

/// A part that an instruction reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// What it is read for.
    pub purpose: Use,
    /// The part.
    pub part: Part,
    /// The type of the value.
    pub ty: Type,
}

/// The parts that a channel of an instruction reads and writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// The parts that the values of the writes depend on.
    pub reads: Vec<Read>,
    /// The parts that are written.
    pub writes: Vec<Part>,
}

/// The registers of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The descriptor.
    pub descriptor: u32,
    /// Byte offset of the first payload register.
    pub payload: usize,
    /// Byte offset of the first register of the response, if it has a destination.
    pub response: Option<usize>,
}

fn word(file: &[u8], at: usize) -> u16 {
    file.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

fn dword(file: &[u8], at: usize) -> u32 {
    file.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The descriptor and the registers of a message; `None` for other instructions. `file` is the
/// register file before the instruction.
pub fn packet(u: &Uop, file: &[u8]) -> Option<Packet> {
    let send = u.send?;
    let descriptor = match send.descriptor {
        Descriptor::Immediate(bits) => bits,
        Descriptor::Address(byte) => dword(file, A0 + usize::from(byte)),
    };
    let response = match send.response {
        Response::None => None,
        Response::Register(at) => Some(usize::from(at)),
        Response::Indirect { address, immediate } => {
            let at = i32::from(word(file, A0 + 2 * usize::from(address))) + i32::from(immediate);
            usize::try_from(at).ok().filter(|at| *at < GRF_BYTES)
        }
    };
    Some(Packet { descriptor, payload: usize::from(send.payload), response })
}

/// The flag bits that enable a channel of an instruction.
pub fn predicate(u: &Uop, channel: usize) -> Vec<Part> {
    let Some(control) = u.predicate else { return Vec::new() };
    let bit = usize::from(u.flag) + channel;
    // Groups are aligned blocks of the 32 bits of a flag register.
    let register = usize::from(u.flag & 32);
    let in_register = |bit: usize| register + bit % 32;
    let bits: Vec<usize> = match control {
        PredicateControl::Sequential => vec![bit],
        PredicateControl::Any(group) | PredicateControl::All(group) => {
            let group = usize::from(group).clamp(1, 32);
            let first = (bit - register) / group * group;
            (first..first + group).map(in_register).collect()
        }
        // One bit of f0 and one of f1, whichever register the instruction names.
        PredicateControl::AnyV | PredicateControl::AllV => {
            let partner = if VERTICAL_PREDICATE_COMBINES_REGISTERS { 32 } else { 16 };
            match bit - register {
                first @ 0..32 => vec![first, first + partner],
                _ => Vec::new(),
            }
        }
        PredicateControl::Replicate(component) => {
            vec![in_register((bit - register) / 4 * 4 + usize::from(component))]
        }
    };
    bits.into_iter().filter(|bit| *bit < FLAG_BITS).map(|bit| Part::Flag(bit as u8)).collect()
}

/// Adds what channel `channel` of an instruction reads and writes, if it is enabled. Bit 0 of the
/// channels is the first one of the instruction. `file` is the register file before the
/// instruction.
pub fn channel(u: &Uop, channel: usize, file: &[u8], access: &mut Access) {
    let Op::Isa(opcode) = u.op else { return };
    reads(u, opcode, channel, file, &mut access.reads);
    writes(u, opcode, channel, file, &mut access.writes);
}

/// What an instruction writes for channels that are not enabled: `mach` updates all accumulators.
pub fn always(u: &Uop, file: &[u8], access: &mut Access) {
    if MACH_UPDATES_ALL_CHANNELS && u.op == Op::Isa(Opcode::Mach) && accumulates(file) {
        for c in 0..usize::from(u.size) {
            reads(u, Opcode::Mach, c, file, &mut access.reads);
            access.writes.push(implicit(u, c));
        }
    }
}

/// True if instructions may write the accumulator implicitly.
fn accumulates(file: &[u8]) -> bool {
    !ControlRegister::unpack_lossy(&[dword(file, CR0), 0, 0, 0]).accumulator_disable
}

fn implicit(u: &Uop, channel: usize) -> Part {
    let (at, ty) = implicit_element(u, channel);
    Part::Accumulator(at as u16, ty.size() as u8)
}

fn reads(u: &Uop, opcode: Opcode, c: usize, file: &[u8], reads: &mut Vec<Read>) {
    let mut push = |purpose, part, ty| reads.push(Read { purpose, part, ty });
    let mut source = |number: u8, channel: usize| {
        element(&u.src[usize::from(number)], number, channel, file, &mut push);
    };
    match opcode {
        Opcode::Dp4 | Opcode::Dph | Opcode::Dp3 | Opcode::Dp2 => {
            for channel in (c & !3)..(c & !3) + 4 {
                source(0, channel);
                source(1, channel);
            }
        }
        Opcode::Sad2 | Opcode::Sada2 => {
            for channel in [c & !1, c | 1] {
                source(0, channel);
                source(1, channel);
            }
        }
        Opcode::Line | Opcode::Pln => {
            // The coefficients p, q and r are elements 0, 1 and 3 of a tuple; `line` has no q.
            if let Shape::Scalar(at) = u.src[0].shape {
                let tuple = at & !15;
                let elements: &[u16] = if opcode == Opcode::Pln { &[0, 1, 3] } else { &[0, 3] };
                for n in elements {
                    push(Use::Source(0), Part::File(tuple + 4 * n, 4), u.src[0].ty);
                }
            }
            match u.src[1].shape {
                Shape::Contiguous(at) if opcode == Opcode::Pln => {
                    for coordinate in 0..2 {
                        let byte = (c / 8 * 2 + coordinate) * REGISTER + c % 8 * 4;
                        let at = wrap(i32::from(at) + byte as i32);
                        push(Use::Source(1), Part::File(at, 4), u.src[1].ty);
                    }
                }
                _ => element(&u.src[1], 1, c, file, &mut push),
            }
        }
        Opcode::Movi => shuffled(u, c, file, &mut push),
        Opcode::Sel if u.select.is_none() => {
            for part in predicate(u, c) {
                push(Use::Choice, part, Type::Ud);
            }
            let chosen = chosen(u, c, file);
            element(&u.src[usize::from(!chosen)], u8::from(!chosen), c, file, &mut push);
        }
        Opcode::Send => {
            if let Some(send) = &u.send {
                if let Descriptor::Address(byte) = send.descriptor {
                    let part = Part::File(A0 as u16 + u16::from(byte), 4);
                    push(Use::Descriptor, part, Type::Ud);
                }
                if let Response::Indirect { address, .. } = send.response {
                    push(Use::Address, Part::File(A0 as u16 + 2 * u16::from(address), 2), Type::Uw);
                }
            }
        }
        // A call stores a constant.
        Opcode::Call | Opcode::Calla => {}
        _ => (0..3).for_each(|number| source(number, c)),
    }
    match opcode {
        Opcode::Mac | Opcode::Mach | Opcode::Sada2 => {
            let (at, ty) = implicit_element(u, c);
            push(Use::Accumulator, Part::Accumulator(at as u16, ty.size() as u8), ty);
        }
        Opcode::Madm => {
            for selector in &u.extended[1..] {
                if usize::from(*selector) < EXTENDED {
                    push(Use::Accumulator, Part::Extension(*selector, c as u8), Type::Ud);
                }
            }
        }
        _ => {}
    }
    if let Target::Indirect { address, .. } = u.dst.target {
        push(Use::Address, Part::File(A0 as u16 + 2 * u16::from(address), 2), Type::Uw);
    }
}

/// True if `sel` selects source 0 for a channel.
fn chosen(u: &Uop, channel: usize, file: &[u8]) -> bool {
    let flags = u64::from(dword(file, FLAGS)) | u64::from(dword(file, FLAGS + 4)) << 32;
    let set = |part: Part| match part {
        Part::Flag(bit) => flags >> bit & 1 == 1,
        _ => false,
    };
    let parts = predicate(u, channel);
    let holds = match u.predicate {
        None => return true,
        Some(PredicateControl::All(_) | PredicateControl::AllV) => {
            parts.iter().all(|part| set(*part))
        }
        Some(_) => parts.iter().any(|part| set(*part)),
    };
    holds != u.invert
}

/// The element of a source that a channel reads.
fn element(
    src: &Src,
    number: u8,
    channel: usize,
    file: &[u8],
    push: &mut impl FnMut(Use, Part, Type),
) {
    let size = src.ty.size() as u8;
    let at = match &src.shape {
        Shape::Immediate(_) | Shape::Vector(_) => return,
        Shape::Scalar(at) => *at,
        Shape::Contiguous(at) => at + channel as u16 * u16::from(size),
        Shape::Table(table) => table[channel % table.len()],
        Shape::Accumulator(table) => {
            let part = Part::Accumulator(table[channel % table.len()], size);
            return push(Use::Source(number), part, src.ty);
        }
        Shape::Indirect(region) => {
            let (address, at) = indirect(region, channel, file);
            push(Use::Address, Part::File(address, 2), Type::Uw);
            at
        }
    };
    push_wrapped(Use::Source(number), at, src.ty, push);
}

/// An element of the register file. An element of an indirect operand can wrap from the end of the
/// general registers to `r0`.
fn push_wrapped(purpose: Use, at: u16, ty: Type, push: &mut impl FnMut(Use, Part, Type)) {
    for part in wrapped(at, ty.size()) {
        push(purpose, part, ty);
    }
}

fn wrapped(at: u16, size: usize) -> impl Iterator<Item = Part> {
    let first = usize::from(at);
    let inside = if first < GRF_BYTES { size.min(GRF_BYTES - first) } else { size };
    let rest = size - inside;
    let more = (rest > 0).then_some(Part::File(0, rest as u8));
    std::iter::once(Part::File(at, inside as u8)).chain(more)
}

/// The address word of a channel and its element, as byte offsets in the register file.
fn indirect(region: &Indirect, channel: usize, file: &[u8]) -> (u16, u16) {
    let share = usize::from(region.share).max(1);
    let number = (usize::from(region.address) + channel / share) % 16;
    let address = A0 + 2 * number;
    let lane = region.lanes[channel % region.lanes.len()];
    let base = i32::from(word(file, address)) + i32::from(region.immediate);
    (address as u16, wrap(base + i32::from(lane)))
}

/// The element that `movi` copies to a channel, and the address words that select it.
fn shuffled(u: &Uop, c: usize, file: &[u8], push: &mut impl FnMut(Use, Part, Type)) {
    let (Shape::Indirect(region), Target::File { offset, .. }) = (&u.src[0].shape, &u.dst.target)
    else {
        return;
    };
    let size = u.src[0].ty.size();
    let first = usize::from(*offset) % REGISTER / size;
    let word_at = |number: usize| A0 + 2 * ((usize::from(region.address) + number) % 16);
    let base = i32::from(word(file, word_at(0))) + i32::from(region.immediate);
    let register = base & !(REGISTER as i32 - 1);
    let select = i32::from(word(file, word_at(first + c))) & (REGISTER - size) as i32;
    for number in [0, first + c] {
        push(Use::Address, Part::File(word_at(number) as u16, 2), Type::Uw);
    }
    push_wrapped(Use::Source(0), wrap(register + select), u.src[0].ty, push);
}

fn writes(u: &Uop, opcode: Opcode, c: usize, file: &[u8], writes: &mut Vec<Part>) {
    match opcode {
        // Messages write their response.
        Opcode::Send => return,
        Opcode::Call | Opcode::Calla => {
            if let Target::File { offset, .. } = u.dst.target {
                writes.push(Part::File(offset, 8));
            }
            return;
        }
        Opcode::Wait => {
            if let Shape::Scalar(at) = u.src[0].shape {
                writes.push(Part::File(at, 4));
            }
            return;
        }
        _ => {}
    }
    target(&u.dst.target, u.dst.ty.size(), c, file, writes);
    match u.function {
        Some(MathFunction::IntQuotientRemainder) => {
            if let Target::File { offset, stride } = u.dst.target {
                let remainders = remainder_target(offset, stride, usize::from(u.size));
                target(&remainders, u.dst.ty.size(), c, file, writes);
            }
        }
        Some(MathFunction::InverseMacro | MathFunction::InverseSquareRootMacro) => {
            writes.push(Part::Flag((usize::from(u.flag) + c) as u8));
        }
        _ => {}
    }
    if u.condition.is_some() {
        writes.push(Part::Flag((usize::from(u.flag) + c) as u8));
    }
    let accumulator = u.acc_write || opcode.op().traits.contains(Traits::WRITES_ACCUMULATOR);
    if accumulator && accumulates(file) {
        writes.push(implicit(u, c));
    }
    if usize::from(u.extended[0]) < EXTENDED {
        writes.push(Part::Extension(u.extended[0], c as u8));
    }
}

fn target(target: &Target, size: usize, c: usize, file: &[u8], writes: &mut Vec<Part>) {
    let at = match target {
        Target::Null | Target::Ip => return,
        Target::File { offset, stride } => offset + c as u16 * u16::from(*stride),
        Target::Table(table) => table[c % table.len()],
        Target::Accumulator(table) => {
            return writes.push(Part::Accumulator(table[c % table.len()], size as u8));
        }
        Target::Indirect { address, immediate, stride } => {
            let base = i32::from(word(file, A0 + 2 * usize::from(*address)));
            wrap(base + i32::from(*immediate) + c as i32 * i32::from(*stride))
        }
    };
    writes.extend(wrapped(at, size));
}

/// The value of a part of the register file; `None` for accumulators and extensions.
pub fn value(part: Part, file: &[u8; FILE_BYTES]) -> Option<u64> {
    match part {
        Part::File(at, size) => {
            let bytes = file.get(usize::from(at)..usize::from(at) + usize::from(size))?;
            Some(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
        }
        Part::Flag(bit) => {
            let byte = file.get(FLAGS + usize::from(bit) / 8)?;
            Some(u64::from(byte >> (bit % 8) & 1))
        }
        Part::Accumulator(..) | Part::Extension(..) => None,
    }
}
