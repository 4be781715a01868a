//! What instructions of later generations have and those of Gen8 do not: split sends,
//! three-source instructions in Align1, and messages and scoreboards of Gen12.

use super::super::iga::token_suffix;
use super::super::mesa_messages;
use super::Printer;
use crate::decode::{self, DecodeError, Problem, decode_on};
use crate::gen8::eu_gen12::{EuSendGen12, RegFileGen12};
use crate::gen8::{eu as gen8, eu_gen9};
use crate::instruction::{Arf, DataType, Immediate, Operand, Region, Register, Vertical};
use crate::syntax::{self, Syntax};
use core::fmt::{self, Write};

impl<W: Write + ?Sized> Printer<'_, W> {
    /// Prints the operands of a three-source instruction in Align1 from the typed instruction: its
    /// formats have few unused bits.
    pub(super) fn three_sources_align1(&mut self) -> fmt::Result {
        self.line.pad(16);
        let instruction = match decode_on(self.generation, self.native) {
            Ok(instruction) => instruction,
            Err(DecodeError { problem: Problem::Reserved { field, value, .. }, .. }) => {
                return self.invalid(field, value);
            }
            Err(_) => return Ok(()),
        };
        if let Some(destination) = instruction.destination {
            let extended = destination.macro_accumulator.map(|number| number.0 / 4 * 8);
            let register = starting_at(destination.register, extended);
            self.ternary_register(&register, destination.ty, false)?;
            // Mesa prints the stride 1 for all destinations.
            self.line.text("<")?;
            self.line.unsigned(u64::from(destination.stride))?;
            self.line.text(">")?;
            self.ty(Some(destination.ty))?;
        }
        for (operand, column) in instruction.operands().zip([32, 48, 64]) {
            self.line.pad(column);
            let source = match operand {
                Operand::Register(source) => source,
                Operand::Immediate(immediate) => {
                    self.ternary_immediate(immediate)?;
                    continue;
                }
                Operand::None => continue,
            };
            self.negation(source.negate, source.absolute)?;
            let scalar = source.region == Region::SCALAR;
            let extended = source.macro_accumulator.map(|number| number.0 * 2);
            let register = starting_at(source.register, extended);
            self.ternary_register(&register, source.ty, scalar)?;
            let Region { vertical, width, horizontal } = source.region;
            let Vertical::Stride(vertical) = vertical else { continue };
            for (before, number) in [("<", vertical), (",", width), (",", horizontal)] {
                self.line.text(before)?;
                self.line.unsigned(u64::from(number))?;
            }
            self.line.text(">")?;
            self.ty(Some(source.ty))?;
        }
        Ok(())
    }

    /// Prints a register, with its subregister in elements.
    fn ternary_register(
        &mut self,
        register: &Register,
        ty: DataType,
        subregister: bool,
    ) -> fmt::Result {
        let byte = match *register {
            Register::Grf { number, byte } => {
                self.register(gen8::RegFile::GRF, u64::from(number))?;
                byte
            }
            Register::Arf { file, number, byte } => {
                self.line.text(syntax::ARFS.name(file, Syntax::Mesa).unwrap_or("ARF"))?;
                if file != Arf::Null {
                    self.line.unsigned(u64::from(number))?;
                }
                byte
            }
            Register::Mrf { .. } | Register::Indirect { .. } => 0,
        };
        self.element(u64::from(byte), Some(ty), subregister)
    }

    /// Prints an immediate of 16 bits. Mesa prints `w` as an unsigned number.
    fn ternary_immediate(&mut self, immediate: &Immediate) -> fmt::Result {
        if immediate.ty == DataType::W {
            self.line.signed(i64::from(immediate.bits as i16))?;
        } else {
            self.line.text("0x")?;
            self.line.hex(immediate.bits, 4)?;
        }
        self.ty(Some(immediate.ty))
    }

    /// Prints the scoreboard of an instruction of Gen12.
    pub(super) fn scoreboard(&mut self) -> fmt::Result {
        if !self.scoreboard.is_valid() {
            return self.invalid("SWSB", u64::from(self.scoreboard.0));
        }
        if let Some(distance) = self.scoreboard.distance() {
            self.line.text(" @")?;
            self.line.unsigned(u64::from(distance))?;
        }
        if let Some((token, number)) = self.scoreboard.token(self.opcode) {
            self.line.text(" $")?;
            self.line.unsigned(u64::from(number))?;
            self.line.text(token_suffix(token))?;
        }
        Ok(())
    }

    /// Prints the registers of a message of Gen12.
    pub(super) fn send_operands_gen12(&mut self) -> fmt::Result {
        let send = EuSendGen12::unpack_lossy(self.native);
        let registers = [
            (send.destination_register_file, send.destination_register_number),
            (send.source_0_register_file, send.source_0_register_number),
            (send.source_1_register_file, send.source_1_register_number),
        ];
        for ((file, number), column) in registers.into_iter().zip([16, 32, 48]) {
            self.line.pad(column);
            let file =
                if file == RegFileGen12::GRF { gen8::RegFile::GRF } else { gen8::RegFile::ARF };
            if self.register(file, number.get())? {
                self.ty(Some(DataType::Ud))?;
            }
        }
        Ok(())
    }

    /// Prints the two descriptors of a message of Gen12, and the message in a line of its own.
    pub(super) fn message_gen12(&mut self) -> fmt::Result {
        let send = EuSendGen12::unpack_lossy(self.native);
        let descriptor = (!send.descriptor_from_register).then(|| decode::gen12::descriptor(&send));
        self.line.pad(64);
        match descriptor {
            Some(descriptor) => {
                self.line.text("0x")?;
                self.line.hex(u64::from(descriptor), 8)?;
            }
            None => self.line.text("a0<0>UD")?,
        }
        self.line.pad(80);
        let length = if send.extended_descriptor_from_register {
            self.line.text("a0")?;
            self.subregister(u64::from(decode::gen12::extended_register(&send)), None)?;
            self.line.text("<0>UD")?;
            None
        } else {
            self.line.text("0x")?;
            self.line.hex(u64::from(decode::gen12::extended_descriptor(&send)), 8)?;
            Some(send.extended_descriptor_10_6.get())
        };
        self.line.end()?;
        self.line.pad(28);
        let function = send.shared_function_id_sfid;
        mesa_messages::write(&mut self.line, self.generation, function, descriptor, length)
    }

    /// Prints the registers of a split send, without regions.
    pub(super) fn split_operands(&mut self) -> fmt::Result {
        use eu_gen9::EuInstructionSplitSendDestination as To;
        use eu_gen9::EuInstructionSplitSendSource0 as From;
        let send = eu_gen9::EuInstructionSplitSend::unpack_lossy(self.dwords);
        let ud = Some(DataType::Ud);
        let file = |file| match file {
            eu_gen9::SplitFile::GRF => gen8::RegFile::GRF,
            _ => gen8::RegFile::ARF,
        };
        self.line.pad(16);
        match send.destination {
            To::Direct {
                destination_subregister_number_4_4: byte,
                destination_register_number: number,
            } => {
                self.register(file(send.destination_register_file), number.get())?;
                self.subregister(byte.get(), ud)?;
            }
            To::Indirect {
                destination_address_immediate_8_4: low,
                destination_address_subregister_number: word,
            } => {
                let sign = send.destination_address_immediate_9_9;
                self.indirect(word.get(), word.get(), low.get(), sign)?;
            }
        }
        self.ty(ud)?;
        self.line.pad(32);
        match send.source_0 {
            From::Direct {
                source_0_subregister_number_4_4: byte,
                source_0_register_number: number,
            } => {
                self.register(gen8::RegFile::GRF, number.get())?;
                self.subregister(byte.get(), ud)?;
            }
            From::Indirect {
                source_0_address_immediate_8_4: low,
                source_0_address_subregister_number: word,
            } => {
                let sign = send.source_0_address_immediate_9_9;
                self.indirect(word.get(), word.get(), low.get(), sign)?;
            }
        }
        self.ty(ud)?;
        self.line.pad(48);
        self.register(file(send.source_1_register_file), send.source_1_register_number.get())?;
        self.ty(ud)
    }

    /// Prints the two descriptors of a split send, and the message in a line of its own.
    pub(super) fn split_message(&mut self) -> fmt::Result {
        let send = eu_gen9::EuInstructionSplitSend::unpack_lossy(self.dwords);
        self.line.pad(64);
        let descriptor = (!send.descriptor_from_register).then(|| {
            let last = eu_gen9::EuSendDescriptorGen9::unpack_lossy(&[self.dwords[3]]);
            last.descriptor.get() as u32
        });
        match descriptor {
            Some(descriptor) => {
                self.line.text("0x")?;
                self.line.hex(u64::from(descriptor), 8)?;
            }
            None => self.line.text("a0<0>UD")?,
        }
        self.line.pad(80);
        let length = if send.extended_descriptor_from_register {
            let register = [send.extended_function_control.get() as u32];
            let register = eu_gen9::ExtendedDescriptorRegister::unpack_lossy(&register);
            self.line.text("a0")?;
            self.subregister(register.address_subregister_number.get(), None)?;
            self.line.text("<0>UD")?;
            None
        } else {
            let [extended] = eu_gen9::ExtendedMessageDescriptor {
                extended_message_length: send.extended_message_length,
                extended_function_control: send.extended_function_control,
            }
            .pack();
            self.line.text("0x")?;
            self.line.hex(u64::from(extended), 8)?;
            Some(send.extended_message_length.get())
        };
        self.line.end()?;
        self.line.pad(28);
        let function = send.shared_function_id_sfid;
        mesa_messages::write(&mut self.line, self.generation, function, descriptor, length)
    }
}

/// The register from `byte` on. Mesa prints the extended accumulators of `madm` as subregisters.
fn starting_at(register: Register, byte: Option<u8>) -> Register {
    match (register, byte) {
        (Register::Grf { number, .. }, Some(byte)) => Register::Grf { number, byte },
        (register, _) => register,
    }
}
