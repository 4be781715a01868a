//! Rules about dwords that cannot be decoded, and about unused bits that are set.

use super::place::Place;
use super::rule::{Check, Report, Rule, error, warning};
use super::slots::Slots;
use super::view::View;
use crate::gen8::{eu, eu_gen9};
use crate::native::Native;
use crate::ops::{Format, Opcode};
use genxml_core::UnpackError;

pub(super) static RULES: &[Rule] = &[
    error(
        "EU-DECODE",
        "2b, enumerations of the execution unit",
        "the dwords must be an instruction",
        "encode the instruction again: a used field holds a reserved value, or the kernel ends too early",
        Check::Kernel(decodes),
    ),
    error(
        "EU-ILLEGAL",
        "2a illegal",
        "the operation must exist on Broadwell",
        "hardware raises the illegal opcode exception",
        Check::Instruction(illegal),
    ),
    warning(
        "EU-BREAKPOINT",
        "IVB vol 4 part 3, exceptions",
        "a kernel should have no breakpoint",
        "clear DebugCtrl",
        Check::Instruction(breakpoint),
    ),
    warning(
        "EU-RESERVED-BITS",
        "2d p.140-182",
        "unused bits should be zero",
        "clear them: a later generation may use them",
        Check::Native(reserved),
    ),
    warning(
        "EU-WORD-HALVES",
        "IVB vol 4 part 3, immediates",
        "both halves of the dword of an immediate word should be equal",
        "repeat the word in the upper half",
        Check::Native(halves),
    ),
];

fn decodes(slots: &Slots, report: &mut Report<'_>) {
    for (index, slot) in slots.all().iter().enumerate() {
        // Unreachable dwords may be data, but a cut-off instruction at the end is always reported.
        if let Err(error) = &slot.instruction
            && (slots.reached[index] || Slots::cut_off(slot))
        {
            report.at(slot.position, None, Place::Instruction, format_args!("{}", error.problem));
        }
    }
}

fn illegal(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Illegal) {
        report.add(Place::Instruction, format_args!("opcode {:#04x}", view.i.illegal_code));
    }
}

fn breakpoint(view: &View<'_>, report: &mut Report<'_>) {
    if view.i.breakpoint {
        report.add(Place::Instruction, format_args!("DebugCtrl is 1"));
    }
}

fn reserved(native: &Native, report: &mut Report<'_>) {
    let Some(opcode) = native.opcode else { return };
    let dwords = &native.dwords;
    let half = &[dwords[2], dwords[3]];
    let mut check = |found: Option<UnpackError>| {
        if let Some(error @ (UnpackError::Fixed { .. } | UnpackError::Reserved { .. })) = found {
            report.add(Place::Instruction, format_args!("{error}"));
        }
    };
    match opcode.op().format {
        // Gen8 has no such operation.
        Format::Loop => {}
        Format::Bare if opcode == Opcode::Nop => check(eu::EuInstructionNop::unpack(dwords).err()),
        Format::Bare => check(eu::EuInstructionIllegal::unpack(dwords).err()),
        Format::ThreeSource => check(eu::EuInstructionBasicThreeSrc::unpack(dwords).err()),
        Format::Math => check(eu::EuInstructionMath::unpack(dwords).err()),
        Format::Send => check(eu::EuInstructionSend::unpack(dwords).err()),
        Format::SplitSend => check(eu_gen9::EuInstructionSplitSend::unpack(dwords).err()),
        Format::BranchTwo => check(eu::EuInstructionBranchTwoSrc::unpack(dwords).err()),
        Format::BranchOne | Format::JumpIndexed | Format::Call => {
            check(eu::EuInstructionBranchOneSrc::unpack(dwords).err());
        }
        Format::Basic if opcode.op().sources == 2 => {
            check(eu::EuInstructionBasicTwoSrc::unpack(dwords).err());
            if eu::EuInstructionSourcesRegReg::unpack_lossy(half).src1_reg_file != eu::RegFile::IMM
            {
                check(eu::EuInstructionSourcesRegReg::unpack(half).err());
            }
        }
        Format::Basic | Format::Return | Format::Wait | Format::Sync => {
            check(eu::EuInstructionBasicOneSrc::unpack(dwords).err());
            let controls = eu::EuInstructionOperandControls::unpack_lossy(&[dwords[1]]);
            if controls.src0_reg_file != eu::RegFile::IMM {
                check(eu::EuInstructionSourcesReg::unpack(half).err());
            }
        }
    }
}

fn halves(native: &Native, report: &mut Report<'_>) {
    use eu::SrcImmType as Type;
    let Some(op) = native.opcode.map(Opcode::op) else { return };
    let half = &[native.dwords[2], native.dwords[3]];
    let controls = eu::EuInstructionOperandControls::unpack_lossy(&[native.dwords[1]]);
    let two = eu::EuInstructionSourcesRegImm::unpack_lossy(half);
    let (ty, bits) = match (op.format, controls.src0_type) {
        (
            Format::Basic,
            eu::EuInstructionOperandControlsSrc0Type::Immediate { src0_src_imm_type },
        ) if op.sources == 1 => {
            let one = eu::EuInstructionSourcesImm32::unpack_lossy(half);
            (src0_src_imm_type, one.source_0_immediate.get())
        }
        (Format::Basic | Format::Math, _)
            if op.sources == 2 && two.src1_reg_file == eu::RegFile::IMM =>
        {
            (two.src1_src_type, two.source_1_immediate.get())
        }
        _ => return,
    };
    let word = matches!(ty, Type::W | Type::UW | Type::HF);
    let [low, high] = [bits as u16, (bits as u32).rotate_left(16) as u16];
    if word && low != high {
        report.add(Place::Instruction, format_args!("{low:#06x} and {high:#06x}"));
    }
}
