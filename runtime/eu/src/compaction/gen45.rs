//! The 8-byte form of G45's instructions, in both directions, with the tables of G45.

use super::row::{index, row};
use crate::gen8::eu::RegFile;
use crate::gen8::eu_gen4::EuOperandControlsGen4;
use crate::gen8::eu_gen45::*;
use genxml_core::{S, U};

/// The 16-byte form; `None` if an index has no row. All indices have rows.
pub(super) fn expand(compact: &[u32; 2]) -> Option<[u32; 4]> {
    let compact = EuCompactGen45::unpack_lossy(compact);
    let [control, _] = row(compact.control_index.expansion())?;
    let control = EuCompactionControlGen45::unpack_lossy(&[control]);
    let [types, _] = row(compact.data_type_index.expansion())?;
    let types = EuCompactionDataTypeGen45::unpack_lossy(&[types]);
    let [subregisters, _] = row(compact.sub_reg_index.expansion())?;
    let subregisters = EuCompactionSubRegGen45::unpack_lossy(&[subregisters]);
    let region = |index: SrcIndexGen45| index.expansion().map(U::from_bits);
    let mut native = EuCompactionNativeGen45 {
        opcode: compact.opcode,
        controls: control.controls,
        conditional_modifier: compact.conditional_modifier,
        mask_ctrl_ex: compact.mask_ctrl_ex,
        debug_ctrl: compact.debug_ctrl,
        saturate: control.saturate,
        operand_types: types.operand_types,
        destination_subregister: subregisters.destination,
        dst_reg_num: compact.dst_reg_num,
        destination_mode: types.destination_mode,
        source_0_subregister: subregisters.source_0,
        src0_reg_num: compact.src0_reg_num,
        source_0_region: region(compact.src0index)?,
        flag_subregister_number: compact.flag_subregister_number,
        source_1_half: U::ZERO,
    };
    let source_1 = if immediate(&native.pack()) {
        let [bits] = EuCompactImmediateGen45 {
            src1_reg_num: compact.src1_reg_num,
            src1index: compact.src1index,
        }
        .pack();
        S::<13>::from_bits(u64::from(bits)).get() as u32
    } else {
        let [bits] = EuCompactionSrc1Gen45 {
            subregister: subregisters.source_1,
            reg_num: compact.src1_reg_num,
            region: region(compact.src1index)?,
        }
        .pack();
        bits
    };
    native.source_1_half = U::from_bits(u64::from(source_1));
    Some(native.pack())
}

/// The 8-byte form that expands to these 16 bytes, or `None` if no such form exists.
pub(super) fn compact(native: &[u32; 4]) -> Option<[u32; 2]> {
    let form = EuCompactionNativeGen45::unpack_lossy(native);
    if form.pack() != *native {
        // A bit is set that the compact form cannot express.
        return None;
    }
    let (subregister, src1_reg_num, src1index) = if immediate(native) {
        let bits = S::<13>::new(i64::from(native[3] as i32)).ok()?.bits();
        let parts = EuCompactImmediateGen45::unpack_lossy(&[bits as u32]);
        (U::ZERO, parts.src1_reg_num, parts.src1index)
    } else {
        let parts = EuCompactionSrc1Gen45::unpack_lossy(&[native[3]]);
        if parts.pack() != [native[3]] {
            return None;
        }
        (parts.subregister, parts.reg_num, source_index(parts.region)?)
    };
    let [control] =
        EuCompactionControlGen45 { controls: form.controls, saturate: form.saturate }.pack();
    let [types] = EuCompactionDataTypeGen45 {
        operand_types: form.operand_types,
        destination_mode: form.destination_mode,
    }
    .pack();
    let [subregisters] = EuCompactionSubRegGen45 {
        destination: form.destination_subregister,
        source_0: form.source_0_subregister,
        source_1: subregister,
    }
    .pack();
    Some(
        EuCompactGen45 {
            opcode: form.opcode,
            debug_ctrl: form.debug_ctrl,
            control_index: index(
                ControlIndexGen45::INFO,
                ControlIndexGen45::from_bits,
                ControlIndexGen45::expansion,
                u64::from(control),
            )?,
            data_type_index: index(
                DataTypeIndexGen45::INFO,
                DataTypeIndexGen45::from_bits,
                DataTypeIndexGen45::expansion,
                u64::from(types),
            )?,
            sub_reg_index: index(
                SubRegIndexGen45::INFO,
                SubRegIndexGen45::from_bits,
                SubRegIndexGen45::expansion,
                u64::from(subregisters),
            )?,
            mask_ctrl_ex: form.mask_ctrl_ex,
            conditional_modifier: form.conditional_modifier,
            flag_subregister_number: form.flag_subregister_number,
            compaction_control: true,
            src0index: source_index(form.source_0_region)?,
            src1index,
            dst_reg_num: form.dst_reg_num,
            src0_reg_num: form.src0_reg_num,
            src1_reg_num,
        }
        .pack(),
    )
}

fn source_index(region: U<12>) -> Option<SrcIndexGen45> {
    index(SrcIndexGen45::INFO, SrcIndexGen45::from_bits, SrcIndexGen45::expansion, region.bits())
}

fn immediate(native: &[u32; 4]) -> bool {
    let operands = EuOperandControlsGen4::unpack_lossy(&[native[1]]);
    operands.src0_reg_file == RegFile::IMM || operands.src1_reg_file == RegFile::IMM
}
