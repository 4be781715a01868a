//! The reason why an instruction cannot be decoded, and the operation of a first dword.

use crate::gen8::eu as gen8;
use crate::ops::Opcode;

/// The reason why an instruction cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The kernel ends inside the instruction.
    #[error("it takes {needed} bytes, {available} are left")]
    Truncated {
        /// Its length.
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
        /// Its value.
        value: u64,
    },
    /// The 8-byte form does not exist for the operation.
    #[error("{operation} has no compact form")]
    NotCompactable {
        /// The operation.
        operation: Opcode,
    },
}

/// The operation of the first dword. Hardware also reads bit 7, which is clear in every operation.
/// In the 8-byte form bit 7 is the breakpoint.
pub(crate) fn operation(first: u32) -> Option<Opcode> {
    let header = gen8::EuInstructionHeader::unpack_lossy(&[first]);
    let undefined = header.undefined_operation && !header.control.controls_b.cmpt_ctrl;
    Opcode::from_code(header.opcode.bits() as u8).filter(|_| !undefined)
}
