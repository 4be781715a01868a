//! The 8-byte form of Gen12's instructions, with the tables of Gen12.

use super::row::row;
use crate::encoding as enc;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen12::*;
use crate::generation::Generation;
use crate::instruction::DataType;
use crate::ops::{Format, Opcode};
use genxml_core::U;

/// The 16-byte form; `None` if the operation has no 8-byte form.
pub(super) fn expand(compact: [u32; 2], opcode: Opcode) -> Option<[u32; 4]> {
    match opcode.op().format {
        Format::ThreeSource => three_sources(&compact),
        Format::Send | Format::SplitSend => None,
        _ => two_sources(&compact),
    }
}

fn two_sources(compact: &[u32; 2]) -> Option<[u32; 4]> {
    let form = EuCompactTwoSrcGen12::unpack_lossy(compact);
    let [control, _] = row(form.control_index.expansion())?;
    let control = EuCompactionControlGen12::unpack_lossy(&[control]);
    let [types, _] = row(form.data_type_index.expansion())?;
    let types = EuCompactionDataTypeGen12::unpack_lossy(&[types]);
    let [subregisters, _] = row(form.sub_reg_index.expansion())?;
    let subregisters = EuCompactionSubRegGen12::unpack_lossy(&[subregisters]);
    let [region_0, _] = row(form.src0index.expansion())?;
    let region_0 = EuCompactionSrc0Gen12::unpack_lossy(&[region_0]);
    let mut native = EuCompactionNativeTwoSrcGen12 {
        opcode: form.opcode,
        swsb: form.swsb,
        controls: control.controls,
        debug_ctrl: form.debug_ctrl,
        modes: control.modes,
        types: types.types,
        source_0_modifiers: region_0.modifiers,
        operand_modes: types.modes,
        destination_subregister: subregisters.destination,
        dst_reg_num: form.dst_reg_num,
        source_0_horizontal_stride: region_0.horizontal_stride,
        src0_reg_file: types.src0_reg_file,
        source_0_subregister: subregisters.source_0,
        src0_reg_num: form.src0_reg_num,
        source_0_region: region_0.region,
        src1_type: types.src1_type,
        cond_modifier: control.cond_modifier,
        source_1_half: U::ZERO,
    };
    let half = match immediate_type(&EuOperandsGen12::unpack_lossy(&native.pack())) {
        Some(ty) => {
            let bits = EuCompactImmediateGen12::unpack_lossy(compact).immediate.get() as u32;
            immediate(ty?, bits)?
        }
        None => {
            let [region, _] = row(form.src1index.expansion())?;
            let region = EuCompactionSrc1Gen12::unpack_lossy(&[region]);
            let [half] = EuCompactionNativeSrc1Gen12 {
                horizontal_stride: region.horizontal_stride,
                reg_file: types.src1_reg_file,
                subregister: subregisters.source_1,
                reg_num: form.src1_reg_num,
                region: region.region,
            }
            .pack();
            half
        }
    };
    native.source_1_half = U::from_bits(u64::from(half));
    Some(native.pack())
}

/// The type of an instruction's immediate: `Some(None)` if the number of the type is reserved,
/// `None` if no source is an immediate.
fn immediate_type(operands: &EuOperandsGen12) -> Option<Option<DataType>> {
    let bits = match (operands.source_0_immediate, operands.source_1_immediate) {
        (true, _) => operands.src0_type,
        (false, true) => operands.src1_type,
        (false, false) => return None,
    };
    let ty = gen8::SrcImmType::from_bits(bits.get());
    Some(enc::Types::of(Generation::Gen12).immediate(ty))
}

/// Expands the 12 bits of a compacted immediate to a dword. They are the upper bits of a float, and
/// the lower bits of any other type. Signed integers are sign-extended. A word fills both halves.
fn immediate(ty: DataType, bits: u32) -> Option<u32> {
    let signed = genxml_core::S::<12>::from_bits(u64::from(bits)).get();
    let twice = |word: u16| u32::from(word) * 0x1_0001;
    Some(match ty {
        DataType::F => bits << 20,
        DataType::Hf => twice((bits << 4) as u16),
        DataType::Ud | DataType::Vf | DataType::Uv | DataType::V => bits,
        DataType::Uw => twice(bits as u16),
        DataType::D => signed as u32,
        DataType::W => twice(signed as u16),
        _ => return None,
    })
}

fn three_sources(compact: &[u32; 2]) -> Option<[u32; 4]> {
    let form = EuCompactThreeSrcGen12::unpack_lossy(compact);
    let control = row(form.control_index.expansion())?;
    let control = EuCompactionThreeSrcControlGen12::unpack_lossy(&control);
    let [source, _] = row(form.source_index.expansion())?;
    let source = EuCompactionThreeSrcSourceGen12::unpack_lossy(&[source]);
    let [subregisters, _] = row(form.sub_reg_index.expansion())?;
    let subregisters = EuCompactionThreeSrcSubRegGen12::unpack_lossy(&[subregisters]);
    let native = EuCompactionNativeThreeSrcGen12 {
        opcode: form.opcode,
        swsb: form.swsb,
        controls: control.controls,
        debug_ctrl: form.debug_ctrl,
        modes: control.modes,
        stride_0: source.stride_0,
        destination_type: control.destination_type,
        source_0_type: control.source_0_type,
        source_0_modes: source.source_0_modes,
        destination_stride: control.destination_stride,
        destination_file: control.destination_file,
        destination_subregister: subregisters.destination,
        dst_reg_num: form.dst_reg_num,
        source_0_region: source.source_0_region,
        source_0_subregister: subregisters.source_0,
        src0_reg_num: form.src0_reg_num,
        source_2_type: control.source_2_type,
        modifiers: source.modifiers,
        source_1_type: control.source_1_type,
        stride_1: source.stride_1,
        cond_modifier: control.cond_modifier,
        source_1_region: source.source_1_region,
        source_1_subregister: subregisters.source_1,
        src1_reg_num: form.src1_reg_num,
        source_2_region: source.source_2_region,
        source_2_subregister: subregisters.source_2,
        src2_reg_num: form.src2_reg_num,
    };
    Some(native.pack())
}
