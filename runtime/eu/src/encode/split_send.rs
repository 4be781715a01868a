//! Split sends, of Gen9 and Gen11.

use super::{Encoder, Refused, RegisterFields, Result};
use crate::gen8::{eu as gen8, eu_gen9};
use crate::instruction::*;
use genxml_core::U;

impl Encoder<'_> {
    /// Encodes `sends` or `sendsc` of Gen9 or Gen11.
    pub(super) fn split_send(&self) -> Result<[u32; 4]> {
        use eu_gen9::EuInstructionSplitSendDestination as To;
        use eu_gen9::EuInstructionSplitSendSource0 as From;
        let i = self.instruction;
        if i.generation <= Generation::Gen8 {
            return Err(self.no_operation());
        }
        let send = i.send.ok_or_else(|| self.error("Message", Refused::Missing))?;
        let (Some(destination), [Operand::Register(first), Operand::Register(second), _]) =
            (&i.destination, &i.sources)
        else {
            return Err(self.error("Source 1 Register Number", Refused::Missing));
        };
        let to = self.register_fields(&destination.register)?;
        let from = self.register_fields(&first.register)?;
        let with = self.register_fields(&second.register)?;
        if (from.word.is_none() && from.file != gen8::RegFile::GRF) || with.offset() != 0 {
            return Err(self.error("Source 0 Register Number", Refused::Missing));
        }
        let (dword, function_control, length) = self.split_send_extended()?;
        let (indirect, message) = match send.descriptor {
            Descriptor::Immediate(message) => (false, message),
            Descriptor::Address(0) => (true, 0),
            Descriptor::Address(byte) => return Err(self.error("Descriptor", i64::from(byte))),
        };
        let file = |fields: &RegisterFields| match fields.file {
            gen8::RegFile::ARF if fields.word.is_none() => eu_gen9::SplitFile::ARF,
            _ => eu_gen9::SplitFile::GRF,
        };
        let sixteen = |fields: &RegisterFields| {
            let low = genxml_core::Shifted::new(fields.low);
            low.map_err(|_| self.error("Address Immediate[8:4]", fields.offset()))
        };
        let byte = |fields: &RegisterFields| {
            let low = genxml_core::Shifted::new(fields.low);
            low.map_err(|_| self.error("Subregister Number[4:4]", fields.offset()))
        };
        let native = eu_gen9::EuInstructionSplitSend {
            opcode: self.opcode(),
            controls_a: self.controls_a()?,
            shared_function_id_sfid: self.shared_function(send.function)?,
            controls_b: self.controls_b(),
            flag_subregister_number: self
                .number("Flag Subregister Number", u64::from(i.flag.subregister))?,
            flag_register_number: self
                .number("Flag Register Number", u64::from(i.flag.register))?,
            mask_ctrl: i.no_mask,
            destination_register_file: file(&to),
            source_1_register_file: file(&with),
            destination_data_type: self
                .types
                .encode_destination(destination.ty)
                .ok_or_else(|| self.error("DstType", destination.ty))?,
            source_1_register_number: with.number,
            destination: match to.word {
                None => To::Direct {
                    destination_subregister_number_4_4: byte(&to)?,
                    destination_register_number: to.number,
                },
                Some(word) => To::Indirect {
                    destination_address_immediate_8_4: sixteen(&to)?,
                    destination_address_subregister_number: word,
                },
            },
            extended_descriptor_from_register: dword,
            destination_address_immediate_9_9: to.sign,
            destination_addressing_mode: to.mode(),
            extended_message_length: length,
            source_0: match from.word {
                None => From::Direct {
                    source_0_subregister_number_4_4: byte(&from)?,
                    source_0_register_number: from.number,
                },
                Some(word) => From::Indirect {
                    source_0_address_immediate_8_4: sixteen(&from)?,
                    source_0_address_subregister_number: word,
                },
            },
            descriptor_from_register: indirect,
            source_0_address_immediate_9_9: from.sign,
            source_0_addressing_mode: from.mode(),
            extended_function_control: function_control,
            message: gen8::EuInstructionOperandSendMsg {
                eot: send.end_of_thread,
                ..gen8::EuInstructionOperandSendMsg::unpack_lossy(&[message])
            },
        }
        .pack();
        Ok(self.with_descriptor(native, message, send.end_of_thread))
    }

    /// The extended descriptor of a split send: whether it is in the address register, its upper
    /// half, and its length.
    fn split_send_extended(&self) -> Result<(bool, U<16>, U<4>)> {
        Ok(match self.instruction.extended {
            Some(Descriptor::Immediate(extended)) => {
                let extended = [extended];
                let extended = eu_gen9::ExtendedMessageDescriptor::unpack_lossy(&extended);
                (false, extended.extended_function_control, extended.extended_message_length)
            }
            Some(Descriptor::Address(byte)) => {
                let number = self.number("Address Subregister Number", u64::from(byte / 4))?;
                let [register] =
                    eu_gen9::ExtendedDescriptorRegister { address_subregister_number: number }
                        .pack();
                (true, U::from_bits(u64::from(register)), U::ZERO)
            }
            None => return Err(self.error("Extended Descriptor", Refused::Missing)),
        })
    }
}
