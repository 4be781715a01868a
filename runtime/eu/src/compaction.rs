//! From the 8-byte form of an instruction to the 16-byte one (2d p.148-156).
//!
//! A compact instruction holds indices into tables; what stands there is cut into the fields of the native form.

use crate::decode::{Problem, operation};
use crate::gen8::eu as gen8;
use crate::ops::{Format, Opcode};

/// The 16-byte form of a compact instruction, or `None` if the operation has no compact form.
pub fn expand(compact: u64) -> Option<[u32; 4]> {
    expand_dwords([compact as u32, (compact >> 32) as u32]).ok()
}

pub(crate) fn expand_dwords(compact: [u32; 2]) -> Result<[u32; 4], Problem> {
    let Some(opcode) = operation(compact[0]) else {
        // Not an operation of Gen8: hardware does not look further.
        return Ok([compact[0], 0, 0, 0]);
    };
    let expanded = match opcode.op().format {
        Format::ThreeSource => three_sources(&compact),
        Format::Bare => Some([compact[0], 0, 0, 0]),
        _ => two_sources(&compact),
    };
    expanded.ok_or(Problem::NotCompactable { operation: opcode })
}

/// Bits of a table's row as the dwords of a structure.
fn row(expansion: Option<u64>) -> Option<[u32; 2]> {
    expansion.map(|bits| [bits as u32, (bits >> 32) as u32])
}

fn two_sources(compact: &[u32; 2]) -> Option<[u32; 4]> {
    let compact = gen8::EuInstructionCompactTwoSrc::unpack_lossy(compact);
    let [control, _] = row(compact.control_index.expansion())?;
    let control = gen8::EuCompactionControl::unpack_lossy(&[control]);
    let [types, _] = row(compact.data_type_index.expansion())?;
    let types = gen8::EuCompactionDataType::unpack_lossy(&[types]);
    let [subregisters, _] = row(compact.sub_reg_index.expansion())?;
    let subregisters = gen8::EuCompactionSubReg::unpack_lossy(&[subregisters]);
    let region = |index: gen8::SrcIndex| index.expansion().map(genxml_core::U::from_bits);

    let mut native = gen8::EuCompactionNativeTwoSrc {
        opcode: compact.opcode,
        access_mode: control.access_mode,
        dep_ctrl: control.dep_ctrl,
        controls: control.controls,
        conditional_modifier: compact.conditional_modifier,
        accumulator_write_control: compact.accumulator_write_control,
        debug_ctrl: compact.debug_ctrl,
        saturate: control.saturate,
        flag: control.flag,
        mask_ctrl: control.mask_ctrl,
        operand_types: types.operand_types,
        destination_subregister: subregisters.destination,
        dst_reg_num: compact.dst_reg_num,
        destination_mode: types.destination_mode,
        source_0_subregister: subregisters.source_0,
        src0_reg_num: compact.src0_reg_num,
        source_0_region: region(compact.src0index)?,
        src1_type: types.src1_type,
        source_1_half: genxml_core::U::ZERO,
    };
    let operands = gen8::EuInstructionOperandControls::unpack_lossy(&[native.pack()[1]]);
    let second_half = gen8::EuInstructionSourcesRegReg::unpack_lossy(&[native.pack()[2], 0]);
    let immediate =
        operands.src0_reg_file == gen8::RegFile::IMM || second_half.src1_reg_file == gen8::RegFile::IMM;
    let source_1 = if immediate {
        let parts =
            gen8::EuCompactionImmediate { src1_reg_num: compact.src1_reg_num, src1index: compact.src1index };
        // 13 bits; the highest is extended over the dword.
        let [bits] = parts.pack();
        genxml_core::S::<13>::from_bits(u64::from(bits)).get() as u32
    } else {
        let parts = gen8::EuCompactionNativeSrc1 {
            subregister: subregisters.source_1,
            reg_num: compact.src1_reg_num,
            region: region(compact.src1index)?,
        };
        let [bits] = parts.pack();
        bits
    };
    native.source_1_half = genxml_core::U::from_bits(u64::from(source_1));
    Some(native.pack())
}

fn three_sources(compact: &[u32; 2]) -> Option<[u32; 4]> {
    let compact = gen8::EuInstructionCompactThreeSrc::unpack_lossy(compact);
    let [control, _] = row(compact.control_index.expansion())?;
    let control = gen8::EuCompactionThreeSrcControl::unpack_lossy(&[control]);
    let source = gen8::EuCompactionThreeSrcSource::unpack_lossy(&row(compact.source_index.expansion())?);
    let native = gen8::EuCompactionNativeThreeSrc {
        opcode: compact.opcode,
        controls: control.controls,
        debug_ctrl: compact.debug_ctrl,
        saturate: compact.saturate,
        flag: control.flag,
        mask_ctrl: control.mask_ctrl,
        modifiers: source.modifiers,
        types: source.types,
        destination: source.destination,
        dst_reg_num_6_0: compact.dst_reg_num_6_0,
        src0_rep_ctrl: compact.src0_rep_ctrl,
        src0_swizzle: source.source_0_swizzle,
        src0_sub_reg_num: compact.src0_sub_reg_num,
        src0_reg_num_6_0: compact.src0_reg_num_6_0,
        src0_reg_num_7: source.source_0_reg_num_7,
        src1_rep_ctrl: compact.src1_rep_ctrl,
        src1_swizzle: source.source_1_swizzle,
        src1_sub_reg_num: compact.src1_sub_reg_num,
        src1_reg_num_6_0: compact.src1_reg_num_6_0,
        src1_reg_num_7: source.source_1_reg_num_7,
        src2_rep_ctrl: compact.src2_rep_ctrl,
        src2_swizzle: source.source_2_swizzle,
        src2_sub_reg_num: compact.src2_sub_reg_num,
        src2_reg_num_6_0: compact.src2_reg_num_6_0,
        src2_reg_num_7: source.source_2_reg_num_7,
    };
    Some(native.pack())
}

/// True if the operation can be written in 8 bytes at all.
pub fn has_compact_form(opcode: Opcode) -> bool {
    !matches!(opcode.op().format, Format::BranchTwo)
}
