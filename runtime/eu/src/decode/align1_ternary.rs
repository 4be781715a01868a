//! Three-source instructions in Align1, of Gen11 and later.

use super::fields::{Decoder, Result};
use crate::encoding as enc;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen11::{
    EuInstructionThreeSrcAlign1, EuThreeSrcAlign1Dst, EuThreeSrcAlign1Macro,
    EuThreeSrcAlign1Source, ThreeSrcFamily, ThreeSrcFile, ThreeSrcFloatType, ThreeSrcIntegerType,
};
use crate::instruction::*;
use crate::ops::Opcode;

impl Decoder<'_> {
    pub(super) fn three_source_align1(&self) -> Result<Instruction> {
        let mut instruction = self.controls()?;
        let three = EuInstructionThreeSrcAlign1::unpack_lossy(self.dwords);
        instruction.flag = Flag {
            register: three.flag_register_number.get() as u8,
            subregister: three.flag_subregister_number.get() as u8,
        };
        instruction.no_mask = three.mask_ctrl;
        let ty = |field, bits: u64| {
            let ty = match three.family {
                ThreeSrcFamily::FLOAT => ThreeSrcFloatType::new(bits)
                    .ok()
                    .and_then(|ty| enc::THREE_SOURCE_FLOAT.decode(ty)),
                _ => enc::THREE_SOURCE_INTEGER.decode(ThreeSrcIntegerType::from_bits(bits)),
            };
            ty.ok_or_else(|| self.reserved(field, bits))
        };
        instruction.destination =
            Some(self.ternary_destination(
                &three,
                ty("Destination Type", three.destination_type.get())?,
            )?);
        let types = [
            ty("Source 0 Type", three.source_0_type.get())?,
            ty("Source 1 Type", three.source_1_type.get())?,
            ty("Source 2 Type", three.source_2_type.get())?,
        ];
        let other = |file| file == ThreeSrcFile::OTHER;
        let files = [
            file_of_source_0(other(three.source_0_register_file), types[0]),
            if other(three.source_1_register_file) { File::Accumulator } else { File::General },
            if other(three.source_2_register_file) { File::Immediate } else { File::General },
        ];
        let parts = [three.source_0.get(), three.source_1.get(), three.source_2.get()];
        let modifiers = [
            (three.source_0_modifier_negate, three.source_0_modifier_absolute),
            (three.source_1_modifier_negate, three.source_1_modifier_absolute),
            (three.source_2_modifier_negate, three.source_2_modifier_absolute),
        ];
        for (index, (negate, absolute)) in modifiers.into_iter().enumerate() {
            let operand =
                self.ternary_source(index, parts[index] as u32, files[index], types[index])?;
            instruction.sources[index] = match operand {
                Operand::Register(source) => {
                    Operand::Register(Source { negate, absolute, ..source })
                }
                operand => operand,
            };
        }
        Ok(instruction)
    }

    pub(super) fn ternary_destination(
        &self,
        three: &EuInstructionThreeSrcAlign1,
        ty: DataType,
    ) -> Result<Destination> {
        let number = three.destination_register_number.get();
        let file = match three.destination_register_file {
            ThreeSrcFile::OTHER => gen8::RegFile::ARF,
            _ => gen8::RegFile::GRF,
        };
        let bits = three.destination_macro.get();
        let accumulator = (self.opcode == Opcode::Madm).then_some(MacroAccumulator(bits as u8));
        let byte = match accumulator {
            Some(_) => 0,
            None => EuThreeSrcAlign1Dst::unpack_lossy(&[bits as u32]).subregister_number_4_3.get(),
        };
        Ok(Destination {
            stride: three.destination_horizontal_stride.get() as u8,
            macro_accumulator: accumulator,
            ..Destination::new(self.register(file, number, byte)?, ty)
        })
    }

    /// Decodes source `index` from its 17 bits, without its modifiers.
    fn ternary_source(&self, index: usize, bits: u32, file: File, ty: DataType) -> Result<Operand> {
        let file = match file {
            File::Immediate if matches!(ty, DataType::W | DataType::Uw | DataType::Hf) => {
                let immediate = Immediate { ty, bits: u64::from(bits as u16) };
                return Ok(Operand::Immediate(immediate));
            }
            File::Immediate => return Err(self.reserved("Source Register File", 1)),
            File::Accumulator => gen8::RegFile::ARF,
            File::General => gen8::RegFile::GRF,
        };
        let source = EuThreeSrcAlign1Source::unpack_lossy(&[bits]);
        let mut byte = source.subregister_number.get();
        let accumulator = EuThreeSrcAlign1Macro::unpack_lossy(&[bits]).accumulator.get();
        let accumulator =
            (self.opcode == Opcode::Madm).then_some(MacroAccumulator(accumulator as u8));
        if accumulator.is_some() {
            byte = 0;
        }
        let register = self.register(file, source.register_number.get(), byte)?;
        let horizontal = enc::HORZ_STRIDE.decode(source.horizontal_stride).unwrap_or_default();
        let vertical = match index {
            2 => horizontal,
            _ => enc::THREE_SOURCE_VERTICAL.decode(source.vertical_stride).unwrap_or_default(),
        };
        Ok(Operand::Register(Source {
            macro_accumulator: accumulator,
            ..Source::new(register, ty, ternary_region(vertical, horizontal))
        }))
    }
}

/// One value of the file of source 0 means an immediate or an accumulator. It is an accumulator if
/// the type is `nf`.
fn file_of_source_0(other: bool, ty: DataType) -> File {
    match (other, ty) {
        (false, _) => File::General,
        (true, DataType::Nf) => File::Accumulator,
        (true, _) => File::Immediate,
    }
}

/// Where a source is.
#[derive(Clone, Copy)]
enum File {
    General,
    Accumulator,
    Immediate,
}

/// The region of a source of a three-source instruction in Align1. The instruction has no field for
/// the width, so it follows from the strides: it is the number of elements before the next row
/// begins. It is 1 for a scalar, and for the last source, whose strides are equal (facts: Mesa
/// brw_disasm.c).
pub(super) fn ternary_region(vertical: u8, horizontal: u8) -> Region {
    let width = match (vertical, horizontal) {
        (0, _) => 1,
        (vertical, 0) => vertical,
        (vertical, horizontal) => (vertical / horizontal).max(1),
    };
    Region::new(vertical, width, horizontal)
}
