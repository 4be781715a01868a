//! The 8-byte form of G45's instructions, in both directions, with the tables of G45.

use super::row::{index, row};
use crate::gen45::eu_compaction::*;
use genxml_core::U;

/// The 16-byte form; `None` if an index has no row. All indices have rows.
pub(super) fn expand(compact: &[u32; 2]) -> Option<[u32; 4]> {
    let compact = EuInstructionCompactTwoSrc::unpack_lossy(compact);
    let [control, _] = row(compact.control_index.expansion())?;
    let control = EuCompactionControl::unpack_lossy(&[control]);
    let [types, _] = row(compact.data_type_index.expansion())?;
    let types = EuCompactionDataType::unpack_lossy(&[types]);
    let [subregisters, _] = row(compact.sub_reg_index.expansion())?;
    let subregisters = EuCompactionSubReg::unpack_lossy(&[subregisters]);
    let region = |index: SrcIndex| index.expansion().map(U::from_bits);
    let native = EuCompactionNativeTwoSrc {
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
        source_1_subregister: subregisters.source_1,
        src1_reg_num: compact.src1_reg_num,
        source_1_region: region(compact.src1index)?,
    };
    Some(native.pack())
}

/// The 8-byte form that expands to these 16 bytes, or `None` if no such form exists. Instructions
/// with an immediate have none: no row of the types has one.
pub(super) fn compact(native: &[u32; 4]) -> Option<[u32; 2]> {
    let form = EuCompactionNativeTwoSrc::unpack_lossy(native);
    if form.pack() != *native {
        // A bit is set that the compact form cannot express.
        return None;
    }
    let [control] = EuCompactionControl { controls: form.controls, saturate: form.saturate }.pack();
    let [types] = EuCompactionDataType {
        operand_types: form.operand_types,
        destination_mode: form.destination_mode,
    }
    .pack();
    let [subregisters] = EuCompactionSubReg {
        destination: form.destination_subregister,
        source_0: form.source_0_subregister,
        source_1: form.source_1_subregister,
    }
    .pack();
    Some(
        EuInstructionCompactTwoSrc {
            opcode: form.opcode,
            debug_ctrl: form.debug_ctrl,
            control_index: index(
                ControlIndex::INFO,
                ControlIndex::from_bits,
                ControlIndex::expansion,
                u64::from(control),
            )?,
            data_type_index: index(
                DataTypeIndex::INFO,
                DataTypeIndex::from_bits,
                DataTypeIndex::expansion,
                u64::from(types),
            )?,
            sub_reg_index: index(
                SubRegIndex::INFO,
                SubRegIndex::from_bits,
                SubRegIndex::expansion,
                u64::from(subregisters),
            )?,
            mask_ctrl_ex: form.mask_ctrl_ex,
            conditional_modifier: form.conditional_modifier,
            flag_subregister_number: form.flag_subregister_number,
            compaction_control: true,
            src0index: source_index(form.source_0_region)?,
            src1index: source_index(form.source_1_region)?,
            dst_reg_num: form.dst_reg_num,
            src0_reg_num: form.src0_reg_num,
            src1_reg_num: form.src1_reg_num,
        }
        .pack(),
    )
}

fn source_index(region: U<12>) -> Option<SrcIndex> {
    index(SrcIndex::INFO, SrcIndex::from_bits, SrcIndex::expansion, region.bits())
}
