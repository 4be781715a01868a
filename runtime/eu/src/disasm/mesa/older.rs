//! Prints what Gen4, G45 and Gen5 have and later generations do not.

use super::super::mesa_gen4;
use super::Printer;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen4::*;
use crate::generation::Generation;
use crate::ops::Opcode;
use core::fmt::{self, Write};

impl<W: Write + ?Sized> Printer<'_, W> {
    /// Prints the first message register, after the execution size.
    pub(super) fn message_register(&mut self) -> fmt::Result {
        self.line.text(" ")?;
        let send = gen8::EuInstructionSend::unpack_lossy(self.dwords);
        self.line.unsigned(send.shared_function_id_sfid.bits())
    }

    /// Prints the exit code of a branch, with counts as they are. Returns false for any other
    /// instruction.
    pub(super) fn exit_code(&mut self) -> Result<bool, fmt::Error> {
        let (jump, pop) = match self.opcode {
            Opcode::Break | Opcode::Cont | Opcode::Else => (true, true),
            Opcode::If | Opcode::Iff | Opcode::Halt | Opcode::While => (true, false),
            Opcode::Endif => (false, true),
            _ => return Ok(false),
        };
        let code = EuExitCodeGen4::unpack_lossy(&[self.dwords[3]]);
        if jump {
            self.line.pad(16);
            self.line.text("Jump: ")?;
            self.line.signed(code.jump_count.get())?;
        }
        if pop {
            self.line.pad(if jump { 32 } else { 16 });
            self.line.text("Pop: ")?;
            self.line.unsigned(code.pop_count.get())?;
        }
        Ok(true)
    }

    /// Prints a message in a line of its own.
    pub(super) fn message_gen4(&mut self, descriptor: Option<u32>) -> fmt::Result {
        let native = self.native;
        let function = match self.generation {
            Generation::Gen5 => {
                EuSourcesGen4::unpack_lossy(&[native[2], native[3]]).shared_function_id.get()
            }
            _ => EuSendDescriptorGen4::unpack_lossy(&[native[3]]).target_function_id.get(),
        };
        let function = SfidGen4::from_bits(function);
        mesa_gen4::write(&mut self.line, self.generation, function, descriptor)
    }

    /// Prints the compression among the options.
    pub(super) fn compression(&mut self) -> fmt::Result {
        let controls = EuControlsGen4::unpack_lossy(&[self.native[0]]);
        match controls.compr_ctrl {
            ComprCtrlGen4::NONE => Ok(()),
            ComprCtrlGen4::SEC_HALF => self.line.text(" sechalf"),
            ComprCtrlGen4::COMPR if self.apart() => self.line.text(" compr4"),
            ComprCtrlGen4::COMPR => self.line.text(" compr"),
            // Mesa has this word for the reserved value.
            _ => self.line.text(" compr4"),
        }
    }

    /// True if the destination is a message register with Compr4.
    fn apart(&self) -> bool {
        let (destination, _) = super::operands(self.opcode);
        let region = [self.controls.destination_register_region.get() as u32];
        let number =
            gen8::EuInstructionOperandDst::unpack_lossy(&region).destination_register_number;
        destination
            && self.controls.destination_register_file.bits() == RegFileGen4::MRF.bits()
            && MrfNumberGen4::unpack_lossy(&[number.get() as u32]).compr4
    }
}
