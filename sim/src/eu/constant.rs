//! Finds kernels whose only message has contents that are the same in all threads of a primitive,
//! for example the kernels that clear a render target.

use super::ending::{DWORDS, Dword, Ending};
use super::kernel::Kernel;
use super::regions::REGISTER;
use super::uop::{Op, Opcode, Response, SendInfo, Shape, Src, Target, Type, Uop};
use genxml_eu::instruction::Descriptor;

/// Maximum number of instructions of such a kernel.
const MOST: u32 = 64;

/// The ending of a kernel whose registers from `first` on are the same in all threads. Returns
/// `None` if the kernel sends more than one message, or has an instruction or a branch that this
/// function does not follow. Follows a kernel only at the first call with `first`.
pub fn ending(kernel: &Kernel, first: usize) -> Option<Ending> {
    let (known, ending) =
        kernel.ending.get_or_init(|| (first, follow_all(kernel, first).map(Box::new)));
    match *known == first {
        true => ending.as_deref().cloned(),
        false => follow_all(kernel, first),
    }
}

fn follow_all(kernel: &Kernel, first: usize) -> Option<Ending> {
    let mut dwords = [Dword::Varies; DWORDS];
    dwords.get_mut(first * REGISTER / 4..)?.fill(Dword::Same);
    let mut index = kernel.index(0)?;
    for instructions in 1..=MOST {
        let u = kernel.uops.get(index as usize)?;
        if let Op::Isa(Opcode::Send) = u.op {
            return message(u, instructions, dwords);
        }
        follow(u, &mut dwords)?;
        index = u.next;
    }
    None
}

fn message(u: &Uop, instructions: u32, dwords: [Dword; DWORDS]) -> Option<Ending> {
    let SendInfo { function, eot, descriptor, payload, response, .. } = u.send?;
    let Descriptor::Immediate(descriptor) = descriptor else { return None };
    let whole = u.predicate.is_none() && u.first == 0 && u.lanes == all(u.size) && !u.no_mask;
    (eot && whole && response == Response::None).then(|| Ending {
        function,
        descriptor,
        channels: u.size,
        instructions,
        payload: usize::from(payload) / 4,
        dwords: Box::new(dwords),
    })
}

/// Records in `dwords` what an instruction writes. Returns `None` if the results are not known to
/// be the same in all threads.
fn follow(u: &Uop, dwords: &mut [Dword; DWORDS]) -> Option<()> {
    use Opcode::*;
    let Op::Isa(Mov | Add | Mul | Mad | And | Or | Xor | Not | Shl | Shr | Asr) = u.op else {
        return None;
    };
    let effects = u.predicate.is_some() || u.condition.is_some() || u.acc_write || u.volatile;
    if effects || u.dst.control || u.lanes != all(u.size) {
        return None;
    }
    if !u.src.iter().all(|source| same(source, u.size, dwords)) {
        return None;
    }
    let Target::File { offset, stride: 4 } = u.dst.target else { return None };
    if !matches!(u.dst.ty, Type::F | Type::D | Type::Ud) || !offset.is_multiple_of(4) {
        return None;
    }
    for n in 0..u.size {
        let to = dwords.get_mut(usize::from(offset) / 4 + usize::from(n))?;
        *to = if u.no_mask { Dword::Same } else { Dword::Channel(u.first + n) };
    }
    Some(())
}

/// A mask of `size` channels.
fn all(size: u8) -> u32 {
    u32::MAX >> (32 - u32::from(size.clamp(1, 32)))
}

/// True if all elements of a source are the same in all threads.
fn same(source: &Src, channels: u8, dwords: &[Dword; DWORDS]) -> bool {
    let size = source.ty.size();
    let element = |at: usize| {
        (at..at + size).all(|byte| dwords.get(byte / 4).is_some_and(|&dword| dword == Dword::Same))
    };
    let channels = usize::from(channels);
    match &source.shape {
        Shape::Immediate(_) | Shape::Vector(_) => true,
        Shape::Scalar(at) => element((*at).into()),
        Shape::Contiguous(at) => (0..channels).all(|n| element(usize::from(*at) + n * size)),
        Shape::Table(table) => table[..channels].iter().all(|&at| element(at.into())),
        Shape::Accumulator(_) | Shape::Indirect(_) => false,
    }
}
