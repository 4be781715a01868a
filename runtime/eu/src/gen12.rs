//! The positions of fields on Gen12. Gen12 has the fields of Gen11 at other positions, so this
//! module moves the bits of an instruction to their positions on Gen11, and back. What reads and
//! prints Gen11's form then also works for Gen12.
//!
//! Messages and three-source instructions are not moved, except for their controls: their operands
//! have other fields.

use crate::encoding as enc;
use crate::gen8::eu::{self as gen8, EuInstructionOperandControlsSrc0Type as Type};
use crate::gen8::eu_gen12::{
    EuControlsGen12, EuOperandsGen12, EuOperandsGen12Destination as To,
    EuOperandsGen12Source0 as From0, EuOperandsGen12Source1 as From1, RegFileGen12,
};
use crate::generation::Generation;
use crate::ops::{Format, Opcode};
use crate::scoreboard::Scoreboard;
use genxml_core::U;

/// Moves the bits of an instruction of Gen12 to the places that its fields have on Gen11. `opcode`
/// is its operation.
pub(crate) fn older(dwords: &[u32; 4], opcode: Opcode) -> [u32; 4] {
    let format = opcode.op().format;
    let operands = EuOperandsGen12::unpack_lossy(dwords);
    // These bits are part of the second distance of a branch, or of an immediate of 64 bits.
    let no_condition = format == Format::BranchTwo || has_qword(&operands);
    let [first, second] = older_controls(dwords, format, no_condition);
    match format {
        Format::Bare | Format::Send | Format::ThreeSource => [first, second, 0, 0],
        Format::BranchTwo if operands.source_0_immediate => [first, second, dwords[2], dwords[3]],
        _ => {
            let (controls, half) = older_operands(&operands, dwords);
            [first, second | controls, half[0], half[1]]
        }
    }
}

/// The scoreboard of an instruction of Gen12.
pub(crate) fn scoreboard(dwords: &[u32; 4]) -> Scoreboard {
    Scoreboard(EuControlsGen12::unpack_lossy(dwords).swsb.get() as u8)
}

fn has_qword(operands: &EuOperandsGen12) -> bool {
    let ty = gen8::SrcImmType::from_bits(operands.src0_type.get());
    let ty = enc::Types::of(Generation::Gen12).immediate(ty);
    operands.source_0_immediate && ty.is_some_and(|ty| ty.size() == 8)
}

/// Dwords 0 and 1 in Gen11's layout, without the bits of operands.
fn older_controls(dwords: &[u32; 4], format: Format, no_condition: bool) -> [u32; 2] {
    let controls = EuControlsGen12::unpack_lossy(dwords);
    let condition = if no_condition { 0 } else { controls.cond_modifier.get() };
    let header = gen8::EuInstructionHeader {
        opcode: gen8::EuOpcode::from_bits(controls.opcode.bits()),
        undefined_operation: controls.undefined_operation,
        control: gen8::EuInstructionControls {
            controls_a: gen8::EuInstructionControlsA {
                access_mode: gen8::AccessMode::ALIGN1,
                dep_ctrl: gen8::DepCtrl::NONE,
                nib_ctrl: controls.nib_ctrl,
                qtr_ctrl: controls.qtr_ctrl,
                thread_control: match controls.atomic {
                    true => gen8::ThreadCtrl::ATOMIC,
                    false => gen8::ThreadCtrl::NORMAL,
                },
                predicate_control: gen8::EuInstructionControlsAPredicateControl::Align1 {
                    pred_ctrl: controls.pred_ctrl,
                },
                pred_inv: controls.pred_inv,
                exec_size: controls.exec_size,
            },
            cond_modifier: gen8::CondModifier::from_bits(condition),
            controls_b: gen8::EuInstructionControlsB {
                acc_wr_ctrl: controls.acc_wr_ctrl,
                cmpt_ctrl: controls.cmpt_ctrl,
                debug_ctrl: controls.debug_ctrl,
                // In messages, this bit means end of thread.
                saturate: controls.saturate && format != Format::Send,
            },
        },
    };
    let second = gen8::EuInstructionOperandControls {
        flag_subregister_number: controls.flag_subregister_number,
        flag_register_number: controls.flag_register_number,
        mask_ctrl: controls.mask_ctrl,
        destination_register_file: gen8::RegFile::ARF,
        ..gen8::EuInstructionOperandControls::unpack_lossy(&[0])
    };
    [header.pack()[0], second.pack()[0]]
}

/// Splits an address immediate into its low nine bits and its sign bit.
fn split(immediate: u64) -> (U<9>, bool) {
    (U::from_bits(immediate % 512), immediate >= 512)
}

/// The inverse of [`split`].
fn joined(low: u64, sign: bool) -> U<10> {
    U::from_bits(low + if sign { 512 } else { 0 })
}

fn older_file(file: RegFileGen12) -> gen8::RegFile {
    if file == RegFileGen12::GRF { gen8::RegFile::GRF } else { gen8::RegFile::ARF }
}

/// The operand bits of dword 1, and all bits of dwords 2 and 3.
fn older_operands(operands: &EuOperandsGen12, dwords: &[u32; 4]) -> (u32, [u32; 2]) {
    use gen8::EuInstructionOperandDstAlign1Address as Address;
    let (address, file, sign) = match operands.destination {
        To::Direct {
            destination_register_file,
            destination_subregister_number,
            destination_register_number,
        } => (
            Address::Direct { destination_subregister_number, destination_register_number },
            older_file(destination_register_file),
            false,
        ),
        To::Indirect {
            destination_address_immediate: immediate,
            destination_address_subregister_number,
        } => {
            let (destination_address_immediate, sign) = split(immediate.get());
            let address = Address::Indirect {
                destination_address_immediate,
                destination_address_subregister_number,
            };
            (address, gen8::RegFile::GRF, sign)
        }
    };
    let [region] = gen8::EuInstructionOperandDstAlign1 {
        address,
        destination_horizontal_stride: operands.destination_horizontal_stride,
        destination_addressing_mode: operands.destination_addressing_mode,
    }
    .pack();
    let (source_0, file_0, sign_0) = older_source_0(operands);
    let bits = operands.src0_type.get();
    let controls = gen8::EuInstructionOperandControls {
        destination_register_file: file,
        destination_data_type: gen8::DstType::from_bits(operands.destination_data_type.get()),
        src0_reg_file: file_0,
        src0_type: match operands.source_0_immediate {
            true => Type::Immediate { src0_src_imm_type: gen8::SrcImmType::from_bits(bits) },
            false => Type::Register { src0_src_type: gen8::SrcType::from_bits(bits) },
        },
        destination_address_immediate_9_9: sign,
        destination_register_region: U::from_bits(u64::from(region)),
        ..gen8::EuInstructionOperandControls::unpack_lossy(&[0])
    };
    let half = if has_qword(operands) {
        [dwords[3], dwords[2]]
    } else {
        let (source_1, file_1, sign_1) = older_source_1(operands);
        let half = gen8::EuInstructionSourcesRegReg {
            source_0,
            src1_reg_file: file_1,
            src1_src_type: gen8::SrcType::from_bits(operands.src1_type.get()),
            source_0_address_immediate_9_9: sign_0,
            source_1,
            source_1_address_immediate_9_9: sign_1,
        }
        .pack();
        let immediate = operands.source_0_immediate || operands.source_1_immediate;
        [half[0], if immediate { dwords[3] } else { half[1] }]
    };
    (controls.pack()[0], half)
}

fn older_source_0(operands: &EuOperandsGen12) -> (U<25>, gen8::RegFile, bool) {
    use gen8::EuInstructionOperandSrcRegAlign1Address as Address;
    if operands.source_0_immediate {
        return (U::ZERO, gen8::RegFile::IMM, false);
    }
    let (address, file, sign) = match operands.source_0 {
        From0::Direct {
            source_0_register_file: file,
            source_0_subregister_number: source_subregister_number,
            source_0_register_number: source_register_number,
        } => {
            let address = Address::Direct { source_subregister_number, source_register_number };
            (address, older_file(file), false)
        }
        From0::Indirect {
            source_0_address_immediate: immediate,
            source_0_address_subregister_number: source_address_subregister_number,
        } => {
            let (source_address_immediate_8_0, sign) = split(immediate.get());
            let address = Address::Indirect {
                source_address_immediate_8_0,
                source_address_subregister_number,
            };
            (address, gen8::RegFile::GRF, sign)
        }
    };
    let [bits] = gen8::EuInstructionOperandSrcRegAlign1 {
        address,
        source_modifier_absolute: operands.source_0_modifier_absolute,
        source_modifier_negate: operands.source_0_modifier_negate,
        source_addressing_mode: operands.source_0_addressing_mode,
        source_horizontal_stride: operands.source_0_horizontal_stride,
        source_width: operands.source_0_width,
        source_vertical_stride: operands.source_0_vertical_stride,
    }
    .pack();
    (U::from_bits(u64::from(bits)), file, sign)
}

fn older_source_1(operands: &EuOperandsGen12) -> (U<25>, gen8::RegFile, bool) {
    use gen8::EuInstructionOperandSrcRegAlign1Address as Address;
    if operands.source_1_immediate {
        return (U::ZERO, gen8::RegFile::IMM, false);
    }
    let (address, file, sign) = match operands.source_1 {
        From1::Direct {
            source_1_register_file: file,
            source_1_subregister_number: source_subregister_number,
            source_1_register_number: source_register_number,
        } => {
            let address = Address::Direct { source_subregister_number, source_register_number };
            (address, older_file(file), false)
        }
        From1::Indirect {
            source_1_address_immediate: immediate,
            source_1_address_subregister_number: source_address_subregister_number,
        } => {
            let (source_address_immediate_8_0, sign) = split(immediate.get());
            let address = Address::Indirect {
                source_address_immediate_8_0,
                source_address_subregister_number,
            };
            (address, gen8::RegFile::GRF, sign)
        }
    };
    let [bits] = gen8::EuInstructionOperandSrcRegAlign1 {
        address,
        source_modifier_absolute: operands.source_1_modifier_absolute,
        source_modifier_negate: operands.source_1_modifier_negate,
        source_addressing_mode: operands.source_1_addressing_mode,
        source_horizontal_stride: operands.source_1_horizontal_stride,
        source_width: operands.source_1_width,
        source_vertical_stride: operands.source_1_vertical_stride,
    }
    .pack();
    (U::from_bits(u64::from(bits)), file, sign)
}

/// The inverse of [`older`]: moves the bits of an instruction back to their places in Gen12. `code`
/// is the opcode.
pub(crate) fn newer(older: &[u32; 4], code: u8, format: Format, board: Scoreboard) -> [u32; 4] {
    let controls = newer_controls(older, code, board);
    let rest = match format {
        Format::Bare | Format::Send | Format::ThreeSource => [0; 4],
        Format::BranchOne | Format::BranchTwo => {
            let two = format == Format::BranchTwo;
            let mut operands = EuOperandsGen12::unpack_lossy(&[0; 4]);
            operands.source_0_immediate = true;
            operands.source_1_immediate = two;
            let [first, second, ..] = operands.pack();
            [first, second, if two { older[2] } else { 0 }, older[3]]
        }
        _ => newer_operands(older),
    };
    core::array::from_fn(|dword| controls[dword] | rest[dword])
}

fn newer_controls(older: &[u32; 4], code: u8, Scoreboard(board): Scoreboard) -> [u32; 4] {
    let header = gen8::EuInstructionHeader::unpack_lossy(&[older[0]]);
    let second = gen8::EuInstructionOperandControls::unpack_lossy(&[older[1]]);
    let gen8::EuInstructionControls { controls_a: a, cond_modifier, controls_b: b } =
        header.control;
    EuControlsGen12 {
        opcode: crate::gen8::eu_gen12::EuOpcodeGen12::from_bits(u64::from(code)),
        undefined_operation: header.undefined_operation,
        swsb: U::from_bits(u64::from(board)),
        exec_size: a.exec_size,
        nib_ctrl: a.nib_ctrl,
        qtr_ctrl: a.qtr_ctrl,
        flag_subregister_number: second.flag_subregister_number,
        flag_register_number: second.flag_register_number,
        pred_ctrl: match a.predicate_control {
            gen8::EuInstructionControlsAPredicateControl::Align1 { pred_ctrl } => pred_ctrl,
            _ => gen8::PredCtrl::NONE,
        },
        pred_inv: a.pred_inv,
        cmpt_ctrl: b.cmpt_ctrl,
        debug_ctrl: b.debug_ctrl,
        mask_ctrl: second.mask_ctrl,
        atomic: a.thread_control == gen8::ThreadCtrl::ATOMIC,
        acc_wr_ctrl: b.acc_wr_ctrl,
        saturate: b.saturate,
        cond_modifier: U::from_bits(cond_modifier.bits()),
    }
    .pack()
}

fn newer_file(file: gen8::RegFile) -> RegFileGen12 {
    if file == gen8::RegFile::GRF { RegFileGen12::GRF } else { RegFileGen12::ARF }
}

fn newer_operands(older: &[u32; 4]) -> [u32; 4] {
    use gen8::EuInstructionOperandDstAlign1Address as Address;
    let controls = gen8::EuInstructionOperandControls::unpack_lossy(&[older[1]]);
    let half = [older[2], older[3]];
    let sources = gen8::EuInstructionSourcesRegReg::unpack_lossy(&half);
    let mut operands = EuOperandsGen12::unpack_lossy(&[0; 4]);
    let region = [controls.destination_register_region.get() as u32];
    let region = gen8::EuInstructionOperandDstAlign1::unpack_lossy(&region);
    operands.destination = match region.address {
        Address::Direct { destination_subregister_number, destination_register_number } => {
            To::Direct {
                destination_register_file: newer_file(controls.destination_register_file),
                destination_subregister_number,
                destination_register_number,
            }
        }
        Address::Indirect {
            destination_address_immediate: low,
            destination_address_subregister_number,
        } => To::Indirect {
            destination_address_immediate: joined(
                low.get(),
                controls.destination_address_immediate_9_9,
            ),
            destination_address_subregister_number,
        },
    };
    operands.destination_addressing_mode = region.destination_addressing_mode;
    operands.destination_horizontal_stride = region.destination_horizontal_stride;
    operands.destination_data_type = U::from_bits(controls.destination_data_type.bits());
    operands.src0_type = match controls.src0_type {
        Type::Immediate { src0_src_imm_type } => {
            operands.source_0_immediate = true;
            U::from_bits(src0_src_imm_type.bits())
        }
        Type::Register { src0_src_type } => U::from_bits(src0_src_type.bits()),
    };
    if has_qword(&operands) {
        let [first, second, ..] = operands.pack();
        return [first, second, half[1], half[0]];
    }
    if !operands.source_0_immediate {
        newer_source_0(&mut operands, &sources, controls.src0_reg_file);
    }
    operands.src1_type = U::from_bits(sources.src1_src_type.bits());
    operands.source_1_immediate = sources.src1_reg_file == gen8::RegFile::IMM;
    if operands.source_0_immediate || operands.source_1_immediate {
        let [first, second, third, _] = operands.pack();
        return [first, second, third, half[1]];
    }
    newer_source_1(&mut operands, &sources);
    operands.pack()
}

fn newer_source_0(
    operands: &mut EuOperandsGen12,
    sources: &gen8::EuInstructionSourcesRegReg,
    file: gen8::RegFile,
) {
    use gen8::EuInstructionOperandSrcRegAlign1Address as Address;
    let bits = [sources.source_0.get() as u32];
    let source = gen8::EuInstructionOperandSrcRegAlign1::unpack_lossy(&bits);
    operands.source_0 = match source.address {
        Address::Direct { source_subregister_number, source_register_number } => From0::Direct {
            source_0_register_file: newer_file(file),
            source_0_subregister_number: source_subregister_number,
            source_0_register_number: source_register_number,
        },
        Address::Indirect {
            source_address_immediate_8_0: low,
            source_address_subregister_number,
        } => From0::Indirect {
            source_0_address_immediate: joined(low.get(), sources.source_0_address_immediate_9_9),
            source_0_address_subregister_number: source_address_subregister_number,
        },
    };
    operands.source_0_modifier_absolute = source.source_modifier_absolute;
    operands.source_0_modifier_negate = source.source_modifier_negate;
    operands.source_0_addressing_mode = source.source_addressing_mode;
    operands.source_0_horizontal_stride = source.source_horizontal_stride;
    operands.source_0_width = source.source_width;
    operands.source_0_vertical_stride = source.source_vertical_stride;
}

fn newer_source_1(operands: &mut EuOperandsGen12, sources: &gen8::EuInstructionSourcesRegReg) {
    use gen8::EuInstructionOperandSrcRegAlign1Address as Address;
    let bits = [sources.source_1.get() as u32];
    let source = gen8::EuInstructionOperandSrcRegAlign1::unpack_lossy(&bits);
    operands.source_1 = match source.address {
        Address::Direct { source_subregister_number, source_register_number } => From1::Direct {
            source_1_register_file: newer_file(sources.src1_reg_file),
            source_1_subregister_number: source_subregister_number,
            source_1_register_number: source_register_number,
        },
        Address::Indirect {
            source_address_immediate_8_0: low,
            source_address_subregister_number,
        } => From1::Indirect {
            source_1_address_immediate: joined(low.get(), sources.source_1_address_immediate_9_9),
            source_1_address_subregister_number: source_address_subregister_number,
        },
    };
    operands.source_1_modifier_absolute = source.source_modifier_absolute;
    operands.source_1_modifier_negate = source.source_modifier_negate;
    operands.source_1_addressing_mode = source.source_addressing_mode;
    operands.source_1_horizontal_stride = source.source_horizontal_stride;
    operands.source_1_width = source.source_width;
    operands.source_1_vertical_stride = source.source_vertical_stride;
}
