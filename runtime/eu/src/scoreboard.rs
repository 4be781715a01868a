//! The software scoreboard of Gen12: which earlier instructions an instruction waits for.

use crate::gen8::eu_gen12::{Swsb, SwsbBoth, SwsbKind};
use crate::table::Opcode;

/// The software scoreboard (SWSB) of an instruction of Gen12: eight bits, zero if it waits for
/// nothing and sets no token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Scoreboard(pub u8);

/// The use of a token: one of 16 numbers for instructions that finish out of order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Token {
    /// The instruction gets the token (`$3`).
    Set,
    /// The instruction waits until the result of the token is written (`$3.dst`).
    Written,
    /// The instruction waits until the sources of the token are read (`$3.src`).
    Read,
}

impl Scoreboard {
    /// How many instructions back the one is that this instruction waits for (`@2`).
    pub fn distance(self) -> Option<u8> {
        let bits = [u32::from(self.0)];
        let one = Swsb::unpack_lossy(&bits);
        let distance = match (one.both, one.kind) {
            (true, _) => SwsbBoth::unpack_lossy(&bits).distance.get(),
            (false, SwsbKind::DISTANCE) => one.number.get(),
            _ => 0,
        };
        (distance != 0).then_some(distance as u8)
    }

    /// The token and its use by an instruction with this operation.
    pub fn token(self, opcode: Opcode) -> Option<(Token, u8)> {
        let bits = [u32::from(self.0)];
        let one = Swsb::unpack_lossy(&bits);
        if one.both {
            let sets = matches!(opcode, Opcode::Send | Opcode::Sendc | Opcode::Math);
            let token = SwsbBoth::unpack_lossy(&bits).token.get() as u8;
            return Some((if sets { Token::Set } else { Token::Written }, token));
        }
        let token = match one.kind {
            SwsbKind::WRITTEN => Token::Written,
            SwsbKind::READ => Token::Read,
            SwsbKind::SET => Token::Set,
            _ => return None,
        };
        Some((token, one.number.get() as u8))
    }

    /// True if the bits have a meaning on Gen12.0.
    pub(crate) fn is_valid(self) -> bool {
        let one = Swsb::unpack_lossy(&[u32::from(self.0)]);
        one.both || one.kind.name().is_some()
    }
}
