//! Builds the kernel of `genx demo fill` from the typed instructions of `genxml::eu`.

use genxml::eu::instruction::{
    DataType, Descriptor, Destination, Immediate, Operand, Region, Register, Send, SharedFunction,
    Source,
};
use genxml::eu::{EncodeError, Instruction, Opcode};

/// A kernel that is being built. `dwords`, `channel_numbers` and `send` each append one instruction
/// with NoMask.
#[derive(Default)]
pub struct Kernel {
    instructions: Vec<Instruction>,
}

/// Dword `index` of general register `number`.
pub const fn dword(number: u8, index: u8) -> Register {
    Register::Grf { number, byte: index * 4 }
}

/// One dword for all channels.
pub const fn scalar(register: Register) -> Operand {
    Operand::Register(Source::new(register, DataType::Ud, Region::SCALAR))
}

/// Eight dwords, one per channel.
pub const fn packed(register: Register) -> Operand {
    Operand::Register(Source::new(register, DataType::Ud, Region::packed(8)))
}

/// Eight words, one per channel.
pub const fn words(register: Register) -> Operand {
    Operand::Register(Source::new(register, DataType::Uw, Region::packed(8)))
}

/// The same number for all channels.
pub const fn number(value: u32) -> Operand {
    Operand::Immediate(Immediate { ty: DataType::Ud, bits: value as u64 })
}

impl Kernel {
    /// Appends `operation` on `channels` dwords, from `sources` to `to`.
    pub fn dwords<const N: usize>(
        &mut self,
        operation: Opcode,
        channels: u8,
        to: Register,
        sources: [Operand; N],
    ) {
        let mut instruction = Instruction::new(operation, channels);
        instruction.no_mask = true;
        instruction.destination = Some(Destination::new(to, DataType::Ud));
        instruction.sources[..N].copy_from_slice(&sources);
        self.instructions.push(instruction);
    }

    /// Appends an instruction that writes 0, 1, .. 7 to the first eight words of `to`. The elements
    /// of an immediate vector become words.
    pub fn channel_numbers(&mut self, to: Register) {
        const ZERO_TO_SEVEN: Immediate = Immediate { ty: DataType::Uv, bits: 0x7654_3210 };
        let mut instruction = Instruction::new(Opcode::Mov, 8);
        instruction.no_mask = true;
        instruction.destination = Some(Destination::new(to, DataType::Uw));
        instruction.sources[0] = Operand::Immediate(ZERO_TO_SEVEN);
        self.instructions.push(instruction);
    }

    /// Appends a `send` whose message is in the registers from `payload` on. The descriptor has the
    /// number of registers.
    pub fn send(
        &mut self,
        function: SharedFunction,
        descriptor: u32,
        payload: Register,
        end_of_thread: bool,
    ) {
        let mut instruction = Instruction::new(Opcode::Send, 8);
        instruction.no_mask = true;
        instruction.destination = Some(Destination::new(Register::NULL, DataType::Ud));
        instruction.sources[0] = packed(payload);
        instruction.send =
            Some(Send { function, descriptor: Descriptor::Immediate(descriptor), end_of_thread });
        self.instructions.push(instruction);
    }

    /// The kernel as dwords.
    ///
    /// # Errors
    /// The first instruction that has no encoding.
    pub fn assemble(&self) -> Result<Vec<u32>, EncodeError> {
        let encoded: Result<Vec<[u32; 4]>, EncodeError> =
            self.instructions.iter().map(Instruction::encode).collect();
        Ok(encoded?.concat())
    }
}
