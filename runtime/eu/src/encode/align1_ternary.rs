//! Three-source instructions in Align1, of Gen11 and later.

use super::{Encoder, Refused, Result};
use crate::encoding as enc;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen11::{
    EuInstructionThreeSrcAlign1, EuThreeSrcAlign1Dst, EuThreeSrcAlign1Macro,
    EuThreeSrcAlign1Source, ThreeSrcFamily, ThreeSrcFile, ThreeSrcVertStride,
};
use crate::instruction::*;
use genxml_core::U;

impl Encoder<'_> {
    pub(super) fn three_source_align1(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let missing = || self.error("Destination Register Number", Refused::Missing);
        let destination = i.destination.ok_or_else(missing)?;
        let float = destination.ty.is_float();
        let (destination_file, destination_number, byte) =
            self.ternary_register(&destination.register)?;
        let destination_macro = match destination.macro_accumulator {
            Some(MacroAccumulator(number)) => {
                self.number("Destination Macro", u64::from(number))?
            }
            None => {
                let start = EuThreeSrcAlign1Dst {
                    subregister_number_4_3: genxml_core::Shifted::new(u64::from(byte)).map_err(
                        |_| self.error("Destination Subregister Number", i64::from(byte)),
                    )?,
                };
                U::from_bits(u64::from(start.pack()[0]))
            }
        };
        let [first, second, third] = &i.sources;
        let first = self.ternary_source(0, first, float)?;
        let second = self.ternary_source(1, second, float)?;
        let third = self.ternary_source(2, third, float)?;
        let stride = destination.stride;
        Ok(EuInstructionThreeSrcAlign1 {
            header: self.header()?,
            flag_subregister_number: self
                .number("Flag Subregister Number", u64::from(i.flag.subregister))?,
            flag_register_number: self
                .number("Flag Register Number", u64::from(i.flag.register))?,
            mask_ctrl: i.no_mask,
            family: if float { ThreeSrcFamily::FLOAT } else { ThreeSrcFamily::INTEGER },
            destination_register_file: destination_file,
            source_0_modifier_absolute: first.absolute,
            source_0_modifier_negate: first.negate,
            source_1_modifier_absolute: second.absolute,
            source_1_modifier_negate: second.negate,
            source_2_modifier_absolute: third.absolute,
            source_2_modifier_negate: third.negate,
            source_0_register_file: first.file,
            source_1_register_file: second.file,
            source_2_register_file: third.file,
            destination_type: self.ternary_type("Destination Type", destination.ty, float)?,
            destination_horizontal_stride: genxml_core::MinusOne::new(u64::from(stride))
                .map_err(|_| self.error("Destination Horizontal Stride", i64::from(stride)))?,
            destination_macro,
            destination_register_number: destination_number,
            source_0_type: first.ty,
            source_0: first.bits,
            source_1_type: second.ty,
            source_1: second.bits,
            source_2_type: third.ty,
            source_2: third.bits,
        }
        .pack())
    }

    fn ternary_type(&self, field: &'static str, ty: DataType, float: bool) -> Result<U<3>> {
        let bits = match float {
            true => enc::THREE_SOURCE_FLOAT.encode(ty).map(|ty| ty.bits()),
            false => enc::THREE_SOURCE_INTEGER.encode(ty).map(|ty| ty.bits()),
        };
        bits.map(U::from_bits).ok_or_else(|| self.error(field, ty))
    }

    /// The file of a register, its number, and the byte that it starts at.
    fn ternary_register(&self, register: &Register) -> Result<(ThreeSrcFile, U<8>, u8)> {
        let fields = self.register_fields(register)?;
        let file = match (fields.word, fields.file) {
            (None, gen8::RegFile::GRF) => ThreeSrcFile::GRF,
            (None, gen8::RegFile::ARF) => ThreeSrcFile::OTHER,
            _ => return Err(self.error("Register Number", Refused::Missing)),
        };
        Ok((file, fields.number, fields.low as u8))
    }

    fn ternary_source(&self, index: usize, operand: &Operand, float: bool) -> Result<Ternary> {
        let source = match operand {
            Operand::Immediate(immediate) if index != 1 => {
                return Ok(Ternary {
                    file: ThreeSrcFile::OTHER,
                    negate: false,
                    absolute: false,
                    ty: self.ternary_type("Source Data Type", immediate.ty, float)?,
                    bits: self.number("Immediate", immediate.bits)?,
                });
            }
            Operand::Register(source) => source,
            _ => return Err(self.error("Source Register Number", Refused::Missing)),
        };
        let (file, register_number, byte) = self.ternary_register(&source.register)?;
        let horizontal = source.region.horizontal;
        let horizontal_stride = enc::HORZ_STRIDE
            .encode(horizontal)
            .ok_or_else(|| self.error("HorzStride", i64::from(horizontal)))?;
        // Source 2 has no vertical stride.
        let vertical_stride = match source.region.vertical {
            _ if index == 2 => ThreeSrcVertStride::_0,
            Vertical::Stride(stride) => enc::THREE_SOURCE_VERTICAL
                .encode(stride)
                .ok_or_else(|| self.vertical_stride(source.region.vertical))?,
            vertical => return Err(self.vertical_stride(vertical)),
        };
        let subregister_number = self.number("Source Subregister Number", u64::from(byte))?;
        let region = EuThreeSrcAlign1Source {
            vertical_stride,
            horizontal_stride,
            subregister_number,
            register_number,
        };
        let [mut bits] = region.pack();
        if let Some(MacroAccumulator(number)) = source.macro_accumulator {
            let accumulator = self.number("Source Macro", u64::from(number))?;
            let [number] = EuThreeSrcAlign1Macro { accumulator, register_number }.pack();
            bits |= number;
        }
        Ok(Ternary {
            file,
            negate: source.negate,
            absolute: source.absolute,
            ty: self.ternary_type("Source Data Type", source.ty, float)?,
            bits: U::from_bits(u64::from(bits)),
        })
    }
}

/// The fields of a source.
struct Ternary {
    file: ThreeSrcFile,
    negate: bool,
    absolute: bool,
    ty: U<3>,
    bits: U<17>,
}
