//! Encodes instructions of Gen4, G45 and Gen5. They are encoded in Gen8's form, and then moved to
//! the positions of Gen4 ([`gen4`](crate::gen4)).

use super::{Encoder, INSTRUCTION_POINTER, Refused, Result};
use crate::encoding as enc;
use crate::gen4;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen4::*;
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use genxml_core::{S, U};

impl Encoder<'_> {
    pub(super) fn gen4(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let code = match i.illegal_code {
            0 => i.opcode.code_on(i.generation).ok_or_else(|| self.no_operation())?,
            code => code % 128,
        };
        let offset = match (i.channel_offset, i.gen4.compression) {
            (0, Compression::None) => ComprCtrlGen4::NONE,
            (8, Compression::None) => ComprCtrlGen4::SEC_HALF,
            (0, _) => ComprCtrlGen4::COMPR,
            (offset, _) => return Err(self.error("ComprCtrl", i64::from(offset))),
        };
        let message_register =
            matches!(i.destination, Some(Destination { register: Register::Mrf { .. }, .. }));
        if i.gen4.compression == Compression::Compr4 && !message_register {
            return Err(self.error("Compr4", Refused::Missing));
        }
        let changed = Instruction { channel_offset: 0, acc_write: i.gen4.no_continue_mask, ..*i };
        let encoder = Encoder { instruction: &changed, ..*self };
        let dwords = match i.opcode.op().format {
            Format::Bare => encoder.bare()?,
            Format::Send => encoder.send_gen4()?,
            Format::Loop => {
                let null = encoder.unused(Register::NULL, DataType::F);
                encoder.moved(Destination::new(Register::NULL, DataType::F), [null, null])?
            }
            Format::JumpIndexed => encoder.jump_gen4()?,
            Format::BranchOne | Format::BranchTwo => encoder.exit_gen4()?,
            _ => encoder.basic()?,
        };
        let mut native = gen4::older(&dwords, code);
        if i.opcode.op().format != Format::Bare {
            let controls = EuControlsGen4::unpack_lossy(&[native[0]]);
            [native[0]] = EuControlsGen4 { compr_ctrl: offset, ..controls }.pack();
        }
        if let (Format::Send, Some(message)) = (i.opcode.op().format, i.send) {
            self.receiver_gen4(&mut native, message)?;
        }
        Ok(native)
    }

    /// The instruction with other operands, as a `mov` in Gen8's form.
    fn moved(&self, destination: Destination, [first, second]: [Operand; 2]) -> Result<[u32; 4]> {
        let moved = Instruction {
            opcode: Opcode::Mov,
            destination: Some(destination),
            sources: [first, second, Operand::None],
            branch: None,
            ..*self.instruction
        };
        Encoder { instruction: &moved, ..*self }.basic()
    }

    /// A source that has no meaning, with the region that compilers write.
    fn unused(&self, register: Register, ty: DataType) -> Operand {
        let region = match register {
            _ if self.align16() => Region::new(4, 4, 1),
            Register::Arf { file: Arf::Null, .. } => Region::new(8, 8, 1),
            _ if self.instruction.exec_size < 8 => Region::SCALAR,
            _ => Region::new(4, 1, 0),
        };
        Operand::Register(Source::new(register, ty, region))
    }

    /// A message in Gen8's form, with the message register as the receiver.
    fn send_gen4(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let send = i.send.map(|send| Send { function: SharedFunction::Null, ..send });
        let changed = Instruction { send, ..*i };
        let dwords = Encoder { instruction: &changed, ..*self }.send()?;
        let register = u64::from(i.gen4.message_register);
        let number = gen8::Sfid::new(register)
            .map_err(|_| self.error("Current Destination Register Number", register as i64))?;
        Ok(gen8::EuInstructionSend {
            shared_function_id_sfid: number,
            ..gen8::EuInstructionSend::unpack_lossy(&dwords)
        }
        .pack())
    }

    /// Writes the receiver of a message: Gen4 and G45 have it in an immediate descriptor.
    fn receiver_gen4(&self, native: &mut [u32; 4], message: Send) -> Result<()> {
        let number = match message.function {
            SharedFunction::Reserved(number) => u64::from(number),
            function => enc::SHARED_FUNCTION_GEN4
                .encode(function)
                .ok_or_else(|| self.error("SFID", Refused::Missing))?
                .bits(),
        };
        let number = self.number("SFID", number)?;
        match (self.instruction.generation, message.descriptor) {
            (Generation::Gen5, _) => {
                let sources = EuSourcesGen4::unpack_lossy(&[native[2], 0]);
                [native[2], _] = EuSourcesGen4 { shared_function_id: number, ..sources }.pack();
            }
            (_, Descriptor::Immediate(_)) => {
                let descriptor = EuSendDescriptorGen4::unpack_lossy(&[native[3]]);
                [native[3]] =
                    EuSendDescriptorGen4 { target_function_id: number, ..descriptor }.pack();
            }
            (_, Descriptor::Address(_)) if number == U::ZERO => {}
            (_, Descriptor::Address(_)) => {
                return Err(self.error("Target Function ID", number.get() as i64));
            }
        }
        Ok(())
    }

    /// The number of units in a distance.
    fn units(&self, distance: i32) -> Result<i32> {
        let unit = self.instruction.generation.jump_unit();
        match distance % unit {
            0 => Ok(distance / unit),
            _ => Err(self.error("Jump Count", i64::from(distance))),
        }
    }

    fn jump_gen4(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let distance = match i.branch {
            Some(branch) => {
                let count = self.units(branch.jip.wrapping_sub(16))?;
                Operand::Immediate(Immediate { ty: DataType::D, bits: u64::from(count as u32) })
            }
            None => i.sources[0],
        };
        let pointer = self.unused(INSTRUCTION_POINTER, DataType::Ud);
        let destination = Destination::new(INSTRUCTION_POINTER, DataType::Ud);
        self.moved(destination, [pointer, distance])
    }

    /// A branch with an exit code.
    fn exit_gen4(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let count = match i.branch {
            Some(branch) => i64::from(self.units(branch.jip)?),
            None if i.opcode == Opcode::Endif => 0,
            None => return Err(self.error("Jump Count", Refused::Missing)),
        };
        let [bits] = EuExitCodeGen4 {
            jump_count: S::new(count).map_err(|_| self.error("Jump Count", count))?,
            pop_count: self.number("Pop Count", u64::from(i.gen4.pop_count))?,
        }
        .pack();
        let exit = Operand::Immediate(Immediate { ty: DataType::D, bits: u64::from(bits) });
        // As in Mesa: `endif` has null registers, all others the instruction pointer.
        let (register, ty) = match i.opcode {
            Opcode::Endif => (Register::NULL, DataType::D),
            _ => (INSTRUCTION_POINTER, DataType::Ud),
        };
        let source = self.unused(register, ty);
        self.moved(Destination::new(register, ty), [source, exit])
    }
}
