//! The general registers that a kernel can write. Those that its threads leave at zero need not be
//! cleared for the next thread.

use super::regions::{GRF_BYTES, REGISTER};
use super::uop::{Dst, Response, SendInfo, Target, Uop};
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
