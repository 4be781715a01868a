//! The general registers that a kernel can write, and those that it can read before it writes them.
//! Before a thread starts, a register has to be cleared only if an earlier thread wrote it and the
//! kernel can read its value at the start.

use super::modes::masks_control;
use super::regions::{GRF_BYTES, REGISTER};
use super::uop::{Dst, Op, Opcode, Response, SendInfo, Shape, Src, Target, Uop};
use genxml_eu::gen8::messages::MessageDescriptor;
use genxml_eu::instruction::Descriptor;

/// Maximum number of registers of a response.
const MOST_OF_A_RESPONSE: usize = 32;

/// Maximum number of registers that the response of a message can write. The result is not used on
/// G45, where descriptors have other fields: threads of G45 clear all registers.
fn responds(send: &SendInfo) -> usize {
    match (send.transfer, send.descriptor) {
        (Some(transfer), _) => transfer.responds(),
        // A barrier may write a register although its response has none.
        (None, Descriptor::Immediate(bits)) => {
            let descriptor = MessageDescriptor::unpack_lossy(&[bits]);
            (descriptor.response_length.get() as usize).max(1)
        }
        (None, Descriptor::Address(_)) => MOST_OF_A_RESPONSE,
    }
}

/// The registers, a bit each, that contain the bytes from `from` up to but not including `end`.
pub fn registers(from: usize, end: usize) -> u128 {
    let (first, end) = (from / REGISTER, end.min(GRF_BYTES).div_ceil(REGISTER));
    if first >= end { 0 } else { u128::MAX >> (128 - (end - first)) << first }
}

/// The general registers, a bit each, that an instruction can write, whatever its operands are.
pub fn by(u: &Uop) -> u128 {
    let response = match u.send.map(|send| (send.response, responds(&send))) {
        None | Some((Response::None, _)) => 0,
        Some((Response::Register(at), most)) => {
            registers(at.into(), usize::from(at) + most * REGISTER)
        }
        Some((Response::Indirect { .. }, _)) => u128::MAX,
    };
    response | destination(&u.dst, u.size.into())
}

fn destination(dst: &Dst, channels: usize) -> u128 {
    // A call writes two dwords.
    let element = |at: usize| registers(at, at + dst.ty.size().max(8));
    match &dst.target {
        Target::File { offset, stride } => {
            let first = usize::from(*offset);
            let last = first + channels.saturating_sub(1) * usize::from(*stride);
            registers(first, last + dst.ty.size().max(8))
        }
        Target::Table(table) => {
            table[..channels].iter().fold(0, |all, &at| all | element(at.into()))
        }
        Target::Indirect { .. } => u128::MAX,
        Target::Null | Target::Accumulator(_) | Target::Ip => 0,
    }
}

/// The registers whose values at the start of a thread a kernel can read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// The general registers, a bit each. They do not include registers that the kernel first
    /// overwrites completely.
    pub registers: u128,
    /// The channels that have to be enabled. Otherwise the kernel can read any register.
    pub channels: u32,
}

impl Default for Start {
    fn default() -> Start {
        Start { registers: u128::MAX, channels: 0 }
    }
}

/// The registers whose values at the start of a thread a kernel can read. They are known only for
/// kernels that execute their instructions in order, up to the one that ends the thread. For other
/// kernels the result is all registers.
pub fn start(uops: &[Uop]) -> Start {
    let (mut read, mut written, mut channels) = (0, 0, 0);
    for (u, index) in uops.iter().zip(1..) {
        let Some(reads) = reads(u) else { return Start::default() };
        read |= reads & !written;
        if u.send.is_some_and(|send| send.eot) {
            return Start { registers: read, channels };
        }
        if u.next != index {
            break;
        }
        if !u.no_mask {
            channels |= u.lanes << u.first;
        }
        written |= overwrites(u);
    }
    Start::default()
}

/// The general registers that an instruction can read. `None` if they are not known: only common
/// kinds of instructions are handled.
fn reads(u: &Uop) -> Option<u128> {
    use Opcode::*;
    let Op::Isa(opcode) = u.op else { return None };
    if u.dst.control && masks_control(u).is_none() {
        return None;
    }
    match opcode {
        Nop => Some(0),
        Send => {
            let send = u.send?;
            let Descriptor::Immediate(bits) = send.descriptor else { return None };
            let sent = MessageDescriptor::unpack_lossy(&[bits]).message_length.get() as usize;
            let first = usize::from(send.payload);
            Some(registers(first, first + sent * REGISTER))
        }
        Line | Pln => {
            let (Shape::Scalar(tuple), Shape::Contiguous(at)) = (&u.src[0].shape, &u.src[1].shape)
            else {
                return None;
            };
            let (tuple, at) = (usize::from(*tuple & !15), usize::from(*at));
            // X and Y of all channels.
            let coordinates = 8 * usize::from(u.size).max(8);
            Some(registers(tuple, tuple + 16) | registers(at, at + coordinates))
        }
        Mov | Not | And | Or | Xor | Shl | Shr | Asr | Add | Mul | Mad | Sel | Cmp | Rndd
        | Rndu | Rnde | Rndz | Frc | Math | Lrp => u
            .src
            .iter()
            .map(|src| source(src, u.size.into()))
            .try_fold(0, |all, source| Some(all | source?)),
        _ => None,
    }
}

/// The general registers of a source; `None` if they depend on an address register.
fn source(src: &Src, channels: usize) -> Option<u128> {
    let element = |at: usize| registers(at, at + src.ty.size());
    Some(match &src.shape {
        Shape::Scalar(at) => element(usize::from(*at)),
        Shape::Contiguous(at) => {
            let at = usize::from(*at);
            registers(at, at + channels * src.ty.size())
        }
        Shape::Table(table) => {
            table[..channels].iter().fold(0, |all, &at| all | element(at.into()))
        }
        Shape::Immediate(_) | Shape::Vector(_) | Shape::Accumulator(_) => 0,
        Shape::Indirect(_) => return None,
    })
}

/// The general registers that an instruction overwrites completely if all its channels are enabled.
fn overwrites(u: &Uop) -> u128 {
    if u.predicate.is_some() && u.op != Op::Isa(Opcode::Sel) {
        return 0;
    }
    let (first, bytes) = match (&u.send, &u.dst.target) {
        (Some(send), _) => match (send.transfer, send.response) {
            (Some(transfer), Response::Register(at)) if transfer.slots() & !u.lanes == 0 => {
                (usize::from(at), transfer.responds() * REGISTER)
            }
            _ => return 0,
        },
        (None, Target::File { offset, stride })
            if usize::from(*stride) == u.dst.ty.size()
                && u.lanes == u32::MAX >> (32 - u32::from(u.size)) =>
        {
            (usize::from(*offset), usize::from(u.size) * u.dst.ty.size())
        }
        _ => return 0,
    };
    // Whole registers only.
    registers(first.next_multiple_of(REGISTER), (first + bytes) / REGISTER * REGISTER)
}
