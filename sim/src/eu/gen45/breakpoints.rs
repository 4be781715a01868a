//! Breakpoints of the first instruction cache: before an instruction at an address, and before
//! instructions with an opcode (003:2226-2305). Like the bit of an instruction, they need
//! Breakpoint Enable of `cr0.1`.

use crate::assumptions::G45_OPCODE_BREAKPOINT_WITH_EOT_NEEDS_EOT;
use crate::eu::decode::Fetched;
use crate::eu::uop::Opcode;
use genxml_eu::instruction::Instruction;

/// Instructions with this opcode have a breakpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtOpcode {
    /// The opcode, 7 bits.
    pub code: u8,
    /// Only instructions that end the thread have it.
    pub eot: bool,
}

/// The breakpoints of the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Breakpoints {
    /// Addresses of instructions.
    pub addresses: [Option<u64>; 2],
    /// Opcodes.
    pub opcodes: [Option<AtOpcode>; 2],
}

impl Breakpoints {
    /// True if there is no breakpoint.
    pub fn is_empty(&self) -> bool {
        *self == Breakpoints::default()
    }

    /// The instruction that was fetched from `address`, with its breakpoint if there is one for it.
    pub fn mark(&self, fetched: Fetched, address: u64) -> Fetched {
        match fetched {
            Fetched::Instruction(mut instruction) => {
                instruction.breakpoint |= self.match_any(&instruction, address);
                Fetched::Instruction(instruction)
            }
            garbage => garbage,
        }
    }

    fn match_any(&self, instruction: &Instruction, address: u64) -> bool {
        let code = match instruction.opcode {
            Opcode::Illegal => Some(instruction.illegal_code),
            opcode => opcode.code_on(instruction.generation),
        };
        let ends = instruction.ends_thread();
        let at_opcode = |it: &AtOpcode| {
            Some(it.code) == code && (ends || !(it.eot && G45_OPCODE_BREAKPOINT_WITH_EOT_NEEDS_EOT))
        };
        // The lowest four bits of addresses are not compared.
        self.addresses.iter().flatten().any(|it| it & !15 == address & !15)
            || self.opcodes.iter().flatten().any(at_opcode)
    }
}
