//! The reason why an instruction cannot be decoded, and the operation of a first dword.

use crate::gen8::eu as gen8;
use crate::generation::Generation;
use crate::ops::Opcode;

/// The reason why an instruction cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The kernel ends inside the instruction.
    #[error("it takes {needed} bytes, {available} are left")]
    Truncated {
        /// Length of the instruction in bytes.
        needed: u32,
        /// Bytes that are available.
        available: u32,
    },
    /// A field holds a value that the manual reserves.
    #[error("{operation}: {field} holds {value:#x}, which is reserved")]
    Reserved {
        /// The operation.
        operation: Opcode,
        /// The manual's name of the field.
        field: &'static str,
        /// The value of the field.
        value: u64,
    },
    /// The operation has no 8-byte form: a split send, a message of Gen12, or an instruction of
    /// Gen11 with three sources. Or an index of the form has no row in its table, which cannot
    /// happen with the present tables.
    #[error("{operation}: it has no such 8-byte form")]
    NotCompactable {
        /// The operation.
        operation: Opcode,
    },
}

/// The operation that the first dword of an instruction names; `None` if the generation has no
/// such operation. In the 16-byte form, bit 7 belongs to the number: it is clear in every
/// operation. In the 8-byte form, bit 7 is the breakpoint and is ignored here.
#[inline]
pub(crate) fn operation(generation: Generation, first: u32) -> Option<Opcode> {
    let header = gen8::EuInstructionHeader::unpack_lossy(&[first]);
    let undefined = header.undefined_operation && !header.control.controls_b.cmpt_ctrl;
    Opcode::on(generation, header.opcode.bits() as u8).filter(|_| !undefined)
}
