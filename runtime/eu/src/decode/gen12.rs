//! Decodes instructions of Gen12. Most formats are moved to the positions of Gen11 first
//! ([`gen12`](crate::gen12)). Messages, three-source instructions and branches are decoded here.

use super::align1_ternary::ternary_region;
use super::fields::{Decoder, Result, shared_function};
use crate::encoding as enc;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen11::ThreeSrcFamily;
use crate::gen8::eu_gen12::{
    EuControlsGen12, EuDescriptorPartsGen12, EuExtendedDescriptorPartsGen12, EuOperandsGen12,
    EuSendGen12, EuTernaryGen12, EuThreeSrcSourceGen12, ExtendedDescriptorRegisterGen12,
    RegFileGen12, ThreeSrcFloatTypeGen12, ThreeSrcIntegerTypeGen12,
};
use crate::gen12;
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use crate::problem::operation;
use genxml_core::U;

/// Decodes the 16-byte form.
pub(super) fn native_form(dwords: &[u32; 4], length: i32) -> Result<Instruction> {
    let generation = Generation::Gen12;
    let Some(opcode) = operation(generation, dwords[0]) else {
        let controls = EuControlsGen12::unpack_lossy(dwords);
        let mut illegal = Instruction { generation, ..Instruction::new(Opcode::Illegal, 1) };
        illegal.illegal_code =
            controls.opcode.bits() as u8 + if controls.undefined_operation { 128 } else { 0 };
        return Ok(illegal);
    };
    let older = &gen12::older(dwords, opcode);
    let header = gen8::EuInstructionHeader::unpack_lossy(&[older[0]]);
    let types = enc::Types::of(generation);
    let decoder = Decoder { generation, types, opcode, dwords: older, length, header };
    let mut instruction = match opcode.op().format {
        Format::Bare | Format::Loop => Ok(decoder.bare()),
        Format::Basic => decoder.basic(),
        Format::ThreeSource => decoder.ternary_gen12(dwords),
        Format::Math => decoder.math(),
        Format::Send | Format::SplitSend => decoder.send_gen12(dwords),
        Format::Sync => decoder.sync(),
        Format::BranchOne | Format::BranchTwo => decoder.branch_gen12(dwords),
        Format::JumpIndexed | Format::Call => decoder.jump_gen12(dwords),
        Format::Return | Format::Wait => decoder.one_source().map(with_dwords),
    }?;
    if opcode != Opcode::Illegal {
        instruction.scoreboard = gen12::scoreboard(dwords);
        if !instruction.scoreboard.is_valid() {
            return Err(decoder.reserved("SWSB", u64::from(instruction.scoreboard.0)));
        }
    }
    Ok(instruction)
}

impl Decoder<'_> {
    fn sync(&self) -> Result<Instruction> {
        let mut instruction = self.one_source()?;
        let function = self.header.control.cond_modifier.bits();
        let decoded = enc::SYNC.decode(crate::gen8::eu_gen12::SyncFunction::from_bits(function));
        instruction.sync = Some(decoded.ok_or_else(|| self.reserved("SyncFunction", function))?);
        Ok(instruction)
    }

    /// The distances of a branch. They are immediates; `brd` and `brc` may also read them from a
    /// register.
    fn branch_gen12(&self, dwords: &[u32; 4]) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        let operands = EuOperandsGen12::unpack_lossy(dwords);
        if !operands.source_0_immediate {
            if !matches!(self.opcode, Opcode::Brd | Opcode::Brc) {
                return Err(self.reserved("Source 0 Immediate", 0));
            }
            self.sources(&mut instruction, &controls, 1)?;
            return Ok(with_dwords(instruction));
        }
        let distances = gen8::EuInstructionBranchTwoSrc::unpack_lossy(dwords);
        let uip = match self.opcode.op().format {
            Format::BranchTwo if !operands.source_1_immediate => {
                return Err(self.reserved("Source 1 Immediate", 0));
            }
            Format::BranchTwo => Some(distances.uip.get() as i32),
            _ => None,
        };
        instruction.branch = Some(Branch { jip: distances.jip.get() as i32, uip });
        Ok(instruction)
    }

    /// `jmpi`, `call` and `calla`. Source 0 is the distance, which counts from the jump itself,
    /// also in `jmpi`.
    fn jump_gen12(&self, dwords: &[u32; 4]) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        if self.opcode.op().format == Format::Call {
            instruction.destination = Some(self.destination(&controls)?);
        }
        if EuOperandsGen12::unpack_lossy(dwords).source_0_immediate {
            let distances = gen8::EuInstructionBranchTwoSrc::unpack_lossy(dwords);
            instruction.branch = Some(Branch { jip: distances.jip.get() as i32, uip: None });
        } else {
            self.sources(&mut instruction, &controls, 1)?;
        }
        Ok(with_dwords(instruction))
    }

    /// Registers of messages have no type on Gen12. They get the type ud here.
    fn send_gen12(&self, dwords: &[u32; 4]) -> Result<Instruction> {
        let (mut instruction, _) = self.start()?;
        let send = EuSendGen12::unpack_lossy(dwords);
        let function = send.shared_function_id_sfid;
        if function.name().is_none() {
            return Err(self.reserved("SFID", function.bits()));
        }
        let register = |file, number: U<8>| self.register(file_of(file), number.get(), 0);
        let to = register(send.destination_register_file, send.destination_register_number)?;
        instruction.destination = Some(Destination::new(to, DataType::Ud));
        let payload =
            |register| Operand::Register(Source::new(register, DataType::Ud, Region::new(8, 8, 1)));
        instruction.sources = [
            payload(register(send.source_0_register_file, send.source_0_register_number)?),
            payload(register(send.source_1_register_file, send.source_1_register_number)?),
            Operand::None,
        ];
        instruction.send = Some(Send {
            function: shared_function(function),
            descriptor: match send.descriptor_from_register {
                true => Descriptor::Address(0),
                false => Descriptor::Immediate(descriptor(&send)),
            },
            end_of_thread: send.eot,
        });
        instruction.extended = Some(match send.extended_descriptor_from_register {
            true => Descriptor::Address(extended_register(&send) * 4),
            false => Descriptor::Immediate(extended_descriptor(&send)),
        });
        Ok(instruction)
    }

    fn ternary_gen12(&self, dwords: &[u32; 4]) -> Result<Instruction> {
        let (mut instruction, _) = self.start()?;
        let three = EuTernaryGen12::unpack_lossy(dwords);
        let ty = |field, bits: U<3>| {
            let bits = bits.get();
            let ty = match three.family {
                ThreeSrcFamily::FLOAT => {
                    enc::THREE_SOURCE_FLOAT_GEN12.decode(ThreeSrcFloatTypeGen12::from_bits(bits))
                }
                _ => enc::THREE_SOURCE_INTEGER_GEN12
                    .decode(ThreeSrcIntegerTypeGen12::from_bits(bits)),
            };
            ty.ok_or_else(|| self.reserved(field, bits))
        };
        let to = self.register(
            file_of(three.destination_register_file),
            three.destination_register_number.get(),
            three.destination_subregister_number_4_3.get(),
        )?;
        instruction.destination = Some(Destination {
            stride: three.destination_horizontal_stride.get() as u8,
            ..Destination::new(to, ty("Destination Type", three.destination_type)?)
        });
        let strides = [
            Some([three.vertical_stride_0_0_0, three.vertical_stride_0_1_1]),
            Some([three.vertical_stride_1_0_0, three.vertical_stride_1_1_1]),
            None,
        ];
        let parts = [
            (three.source_0_immediate, three.source_0, three.source_0_type),
            (false, three.source_1, three.source_1_type),
            (three.source_2_immediate, three.source_2, three.source_2_type),
        ];
        let modifiers = [
            (three.source_0_modifier_negate, three.source_0_modifier_absolute),
            (three.source_1_modifier_negate, three.source_1_modifier_absolute),
            (three.source_2_modifier_negate, three.source_2_modifier_absolute),
        ];
        for (index, (immediate, bits, number)) in parts.into_iter().enumerate() {
            let ty = ty("Source Type", number)?;
            instruction.sources[index] = if immediate {
                if !matches!(ty, DataType::W | DataType::Uw | DataType::Hf) {
                    return Err(self.reserved("Source Immediate", 1));
                }
                Operand::Immediate(Immediate { ty, bits: bits.get() })
            } else {
                let (negate, absolute) = modifiers[index];
                let source = self.ternary_source_gen12(bits, strides[index], ty)?;
                Operand::Register(Source { negate, absolute, ..source })
            };
        }
        Ok(instruction)
    }

    fn ternary_source_gen12(
        &self,
        bits: U<16>,
        vertical: Option<[U<1>; 2]>,
        ty: DataType,
    ) -> Result<Source> {
        let source = EuThreeSrcSourceGen12::unpack_lossy(&[bits.get() as u32]);
        let register = self.register(
            file_of(source.register_file),
            source.register_number.get(),
            source.subregister_number.get(),
        )?;
        let horizontal = enc::HORZ_STRIDE.decode(source.horizontal_stride).unwrap_or_default();
        let vertical = vertical.map_or(horizontal, |[low, high]| {
            TERNARY_VERTICAL[low.get() as usize][high.get() as usize]
        });
        Ok(Source::new(register, ty, ternary_region(vertical, horizontal)))
    }
}

/// Gives the registers of a branch the type d. They hold distances and return addresses, and their
/// type fields have no meaning.
fn with_dwords(mut branch: Instruction) -> Instruction {
    if let Some(destination) = &mut branch.destination {
        destination.ty = DataType::D;
    }
    for operand in &mut branch.sources {
        if let Operand::Register(source) = operand {
            source.ty = DataType::D;
        }
    }
    branch
}

/// The vertical stride of a source of a three-source instruction, from the low and the high bit of
/// its number.
pub(crate) const TERNARY_VERTICAL: [[u8; 2]; 2] = [[0, 4], [1, 8]];

fn file_of(file: RegFileGen12) -> gen8::RegFile {
    if file == RegFileGen12::GRF { gen8::RegFile::GRF } else { gen8::RegFile::ARF }
}

/// The descriptor of a message, which is in five parts.
pub(crate) fn descriptor(send: &EuSendGen12) -> u32 {
    let [descriptor] = EuDescriptorPartsGen12 {
        descriptor_10_0: send.descriptor_10_0,
        descriptor_19_11: send.descriptor_19_11,
        descriptor_24_20: send.descriptor_24_20,
        descriptor_29_25: send.descriptor_29_25,
        descriptor_31_30: send.descriptor_31_30,
    }
    .pack();
    descriptor
}

/// The extended descriptor of a message, which is in five parts.
pub(crate) fn extended_descriptor(send: &EuSendGen12) -> u32 {
    let [extended] = EuExtendedDescriptorPartsGen12 {
        extended_descriptor_10_6: send.extended_descriptor_10_6,
        extended_descriptor_23_11: send.extended_descriptor_23_11,
        extended_descriptor_25_24: send.extended_descriptor_25_24,
        extended_descriptor_27_26: send.extended_descriptor_27_26,
        extended_descriptor_31_28: send.extended_descriptor_31_28,
    }
    .pack();
    extended
}

/// The subregister of a0 that holds the extended descriptor.
pub(crate) fn extended_register(send: &EuSendGen12) -> u8 {
    let bits = [send.extended_descriptor_23_11.get() as u32];
    ExtendedDescriptorRegisterGen12::unpack_lossy(&bits).address_subregister_number.get() as u8
}
