//! Encodes messages, branches and three-source instructions of Gen12. Other formats are encoded as
//! on Gen11, and then moved to the positions of Gen12 ([`gen12`](crate::gen12)).

use super::{Encoder, Refused, Result};
use crate::decode::gen12::TERNARY_VERTICAL;
use crate::encoding as enc;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen11::ThreeSrcFamily;
use crate::gen8::eu_gen12::{
    EuDescriptorPartsGen12, EuExtendedDescriptorPartsGen12, EuSendGen12, EuTernaryGen12,
    EuThreeSrcSourceGen12, ExtendedDescriptorRegisterGen12, RegFileGen12,
};
use crate::gen12;
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use genxml_core::U;

impl Encoder<'_> {
    pub(super) fn gen12(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let format = i.opcode.op().format;
        let jump = matches!(format, Format::JumpIndexed | Format::Call);
        let older = match format {
            Format::Bare => self.bare()?,
            Format::ThreeSource | Format::Send => self.controls_gen12()?,
            Format::BranchOne | Format::BranchTwo if i.branch.is_some() => self.branch_gen12()?,
            _ if jump => self.jump_gen12()?,
            _ => self.basic()?,
        };
        let code = match i.illegal_code {
            0 => i.opcode.code_on(i.generation).ok_or_else(|| self.no_operation())?,
            code => code % 128,
        };
        let format = match format {
            // The distance is in a register.
            Format::BranchOne | Format::BranchTwo if i.branch.is_none() => Format::Basic,
            format => format,
        };
        let native = gen12::newer(&older, code, format, i.scoreboard);
        let rest = match format {
            Format::ThreeSource => self.ternary_gen12()?,
            Format::Send => self.send_gen12()?,
            _ => return Ok(native),
        };
        Ok(core::array::from_fn(|dword| native[dword] | rest[dword]))
    }

    fn controls_gen12(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let mut controls = gen8::EuInstructionOperandControls::unpack_lossy(&[0]);
        controls.flag_register_number =
            self.number("Flag Register Number", u64::from(i.flag.register))?;
        controls.flag_subregister_number =
            self.number("Flag Subregister Number", u64::from(i.flag.subregister))?;
        controls.mask_ctrl = i.no_mask;
        let [first] = self.header()?.pack();
        Ok([first, self.packed(&controls), 0, 0])
    }

    fn branch_gen12(&self) -> Result<[u32; 4]> {
        let [first, second, ..] = self.controls_gen12()?;
        let branch = self.instruction.branch.unwrap_or(Branch { jip: 0, uip: None });
        let uip = match self.instruction.opcode.op().format {
            Format::BranchTwo => branch.uip.ok_or_else(|| self.error("UIP", Refused::Missing))?,
            _ => 0,
        };
        Ok([first, second, uip as u32, branch.jip as u32])
    }

    /// `jmpi`, `call` and `calla`: the distance is source 0.
    fn jump_gen12(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let distance = match (i.branch, i.sources[0]) {
            (Some(branch), _) => Operand::Immediate(Immediate {
                ty: DataType::D,
                bits: u64::from(branch.jip as u32),
            }),
            (None, source) => source,
        };
        let opcode = if i.opcode == Opcode::Jmpi { Opcode::Ret } else { Opcode::Mov };
        let moved = Instruction {
            opcode,
            sources: [distance, Operand::None, Operand::None],
            branch: None,
            ..*i
        };
        Encoder { instruction: &moved, ..*self }.basic()
    }

    fn register_gen12(&self, register: &Register) -> Result<(RegFileGen12, U<8>, u8)> {
        let fields = self.register_fields(register)?;
        let file = match (fields.word, fields.file) {
            (None, gen8::RegFile::GRF) => RegFileGen12::GRF,
            (None, gen8::RegFile::ARF) => RegFileGen12::ARF,
            _ => return Err(self.error("Register Number", Refused::Missing)),
        };
        Ok((file, fields.number, fields.low as u8))
    }

    fn send_gen12(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let send = i.send.ok_or_else(|| self.error("Message", Refused::Missing))?;
        let (Some(destination), [Operand::Register(first), Operand::Register(second), _]) =
            (&i.destination, &i.sources)
        else {
            return Err(self.error("Source 1 Register Number", Refused::Missing));
        };
        let to = self.register_gen12(&destination.register)?;
        let from = self.register_gen12(&first.register)?;
        let with = self.register_gen12(&second.register)?;
        let (descriptor_from_register, descriptor) = match send.descriptor {
            Descriptor::Immediate(descriptor) => (false, descriptor),
            Descriptor::Address(0) => (true, 0),
            Descriptor::Address(byte) => return Err(self.error("Descriptor", i64::from(byte))),
        };
        let (extended_descriptor_from_register, extended) = match i.extended {
            Some(Descriptor::Immediate(extended)) => (false, extended),
            Some(Descriptor::Address(byte)) => {
                let number = self.number("Address Subregister Number", u64::from(byte / 4))?;
                let register =
                    ExtendedDescriptorRegisterGen12 { address_subregister_number: number };
                let part = U::from_bits(u64::from(register.pack()[0]));
                let mut parts = EuExtendedDescriptorPartsGen12::unpack_lossy(&[0]);
                parts.extended_descriptor_23_11 = part;
                (true, parts.pack()[0])
            }
            None => return Err(self.error("Extended Descriptor", Refused::Missing)),
        };
        let descriptor = EuDescriptorPartsGen12::unpack_lossy(&[descriptor]);
        let extended = EuExtendedDescriptorPartsGen12::unpack_lossy(&[extended]);
        Ok(EuSendGen12 {
            eot: send.end_of_thread,
            extended_descriptor_23_11: extended.extended_descriptor_23_11,
            descriptor_from_register,
            extended_descriptor_from_register,
            destination_register_file: to.0,
            descriptor_24_20: descriptor.descriptor_24_20,
            destination_register_number: to.1,
            extended_descriptor_25_24: extended.extended_descriptor_25_24,
            source_0_register_file: from.0,
            descriptor_29_25: descriptor.descriptor_29_25,
            source_0_register_number: from.1,
            descriptor_10_0: descriptor.descriptor_10_0,
            shared_function_id_sfid: self.shared_function(send.function)?,
            extended_descriptor_27_26: extended.extended_descriptor_27_26,
            source_1_register_file: with.0,
            extended_descriptor_10_6: extended.extended_descriptor_10_6,
            source_1_register_number: with.1,
            descriptor_19_11: descriptor.descriptor_19_11,
            descriptor_31_30: descriptor.descriptor_31_30,
            extended_descriptor_31_28: extended.extended_descriptor_31_28,
        }
        .pack())
    }

    fn ternary_gen12(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let missing = || self.error("Destination Register Number", Refused::Missing);
        let destination = i.destination.ok_or_else(missing)?;
        let float = destination.ty.is_float();
        let ty = |ty: DataType| {
            let bits = match float {
                true => enc::THREE_SOURCE_FLOAT_GEN12.encode(ty).map(|ty| ty.bits()),
                false => enc::THREE_SOURCE_INTEGER_GEN12.encode(ty).map(|ty| ty.bits()),
            };
            bits.map(U::from_bits).ok_or_else(|| self.error("Source Data Type", ty))
        };
        let (file, number, byte) = self.register_gen12(&destination.register)?;
        let stride = destination.stride;
        let [a, b, c] = &i.sources;
        let (a, b, c) =
            (self.source_gen12(0, a)?, self.source_gen12(1, b)?, self.source_gen12(2, c)?);
        Ok(EuTernaryGen12 {
            vertical_stride_0_0_0: a.vertical[0],
            destination_type: ty(destination.ty)?,
            family: if float { ThreeSrcFamily::FLOAT } else { ThreeSrcFamily::INTEGER },
            source_0_type: ty(a.ty)?,
            vertical_stride_0_1_1: a.vertical[1],
            source_0_modifier_absolute: a.absolute,
            source_0_modifier_negate: a.negate,
            source_0_immediate: a.immediate,
            source_2_immediate: c.immediate,
            destination_horizontal_stride: genxml_core::MinusOne::new(u64::from(stride))
                .map_err(|_| self.error("Destination Horizontal Stride", i64::from(stride)))?,
            destination_register_file: file,
            destination_subregister_number_4_3: genxml_core::Shifted::new(u64::from(byte))
                .map_err(|_| self.error("Destination Subregister Number", i64::from(byte)))?,
            destination_register_number: number,
            source_0: a.bits,
            source_2_type: ty(c.ty)?,
            vertical_stride_1_0_0: b.vertical[0],
            source_2_modifier_absolute: c.absolute,
            source_2_modifier_negate: c.negate,
            source_1_modifier_absolute: b.absolute,
            source_1_modifier_negate: b.negate,
            source_1_type: ty(b.ty)?,
            vertical_stride_1_1_1: b.vertical[1],
            source_1: b.bits,
            source_2: c.bits,
        }
        .pack())
    }

    fn source_gen12(&self, index: usize, operand: &Operand) -> Result<Ternary> {
        let source = match operand {
            Operand::Immediate(immediate) if index != 1 => {
                return Ok(Ternary {
                    bits: self.number("Immediate", immediate.bits)?,
                    ty: immediate.ty,
                    vertical: [U::ZERO; 2],
                    negate: false,
                    absolute: false,
                    immediate: true,
                });
            }
            Operand::Register(source) => source,
            _ => return Err(self.error("Source Register Number", Refused::Missing)),
        };
        let (register_file, register_number, byte) = self.register_gen12(&source.register)?;
        let horizontal = source.region.horizontal;
        let [bits] = EuThreeSrcSourceGen12 {
            horizontal_stride: enc::HORZ_STRIDE
                .encode(horizontal)
                .ok_or_else(|| self.error("HorzStride", i64::from(horizontal)))?,
            register_file,
            subregister_number: self.number("Source Subregister Number", u64::from(byte))?,
            register_number,
        }
        .pack();
        let number = (0..4).map(|number| [number % 2, number / 2]).find(|[low, high]| {
            Vertical::Stride(TERNARY_VERTICAL[*low][*high]) == source.region.vertical
        });
        let vertical = match number {
            _ if index == 2 => [U::ZERO; 2],
            Some(bits) => bits.map(|bit| U::from_bits(bit as u64)),
            None => return Err(self.vertical_stride(source.region.vertical)),
        };
        Ok(Ternary {
            bits: U::from_bits(u64::from(bits)),
            ty: source.ty,
            vertical,
            negate: source.negate,
            absolute: source.absolute,
            immediate: false,
        })
    }
}

/// The fields of a source of a three-source instruction.
struct Ternary {
    bits: U<16>,
    ty: DataType,
    /// The two bits of the vertical stride, the low one first.
    vertical: [U<1>; 2],
    negate: bool,
    absolute: bool,
    immediate: bool,
}
