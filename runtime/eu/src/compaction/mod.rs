//! The 8-byte form of instructions (2d p.148-156), in both directions.
//!
//! A compact instruction has indices into tables. The rows of these tables have bits of fields of
//! the 16-byte form (native form). [`expand`] and [`compact`] preserve every bit:
//! `expand(compact(x)) == x` for each `x` that has a compact form.
//! [`Instruction::compact`] may choose other types with the same result, as compilers do.
//! [`compact_kernel`] converts a whole kernel and corrects its jumps.

mod gen12;
mod gen45;
mod kernel;
mod row;

use crate::gen8::{eu as gen8, eu_gen11};
use crate::generation::Generation;
use crate::instruction::{DataType, Immediate, Instruction, Operand};
use crate::ops::{Format, Opcode};
use crate::problem::{Problem, operation};
use row::{index, row};

pub use kernel::{CompactError, compact_kernel, expand_kernel};

/// The 16-byte form of a compact instruction. `None` if an index has no row in its table; Gen8's
/// tables have a row for every index.
pub fn expand(compact: u64) -> Option<[u32; 4]> {
    expand_dwords(Generation::Gen8, [compact as u32, (compact >> 32) as u32]).ok()
}

/// As [`expand`]. Gen9 has the same tables as Gen8. Gen11 has another table of types. It has no
/// three-source instructions of 8 bytes, because those of Gen8 are in Align16.
pub(crate) fn expand_dwords(
    generation: Generation,
    compact: [u32; 2],
) -> Result<[u32; 4], Problem> {
    let Some(opcode) = operation(generation, compact[0]) else {
        // Not an operation of the generation: hardware ignores the rest.
        let mut header = gen8::EuInstructionHeader::unpack_lossy(&[compact[0]]);
        header.control.controls_b.cmpt_ctrl = false;
        let [first] = header.pack();
        return Ok([first, 0, 0, 0]);
    };
    let expanded = match opcode.op().format {
        Format::Bare => Some(bare(compact[0])),
        // Gen4 has no 8-byte forms, and those of Gen5 have no tables here.
        _ if generation == Generation::Gen45 => gen45::expand(&compact),
        _ if generation < Generation::Gen45 || generation == Generation::Gen5 => None,
        _ if generation >= Generation::Gen12 => gen12::expand(compact, opcode),
        Format::ThreeSource if generation < Generation::Gen11 => three_sources(&compact),
        Format::SplitSend | Format::ThreeSource => None,
        _ => two_sources(generation, &compact),
    };
    expanded.ok_or(Problem::NotCompactable { operation: opcode })
}

/// The 8-byte form that expands to exactly these 16 bytes, or `None` if there is none. Of equal
/// table rows the first would be used; Gen8's tables have no equal rows.
///
/// A send that ends the thread has no compact form: the descriptor is sign-extended from 13 bits,
/// so bit 31 (end of thread) would also set bits 30:12.
pub fn compact(native: &[u32; 4]) -> Option<[u32; 2]> {
    compact_on(Generation::Gen8, native)
}

/// As [`compact`], for an instruction of Gen8 or G45; `None` for other generations. On G45, `nop`,
/// `nenop` and `illegal` have 8-byte forms, too; they keep only the first dword, as the rest has no
/// meaning.
pub fn compact_on(generation: Generation, native: &[u32; 4]) -> Option<[u32; 2]> {
    let format = operation(generation, native[0])?.op().format;
    match (generation, format) {
        (Generation::Gen45, Format::Bare) => Some(compact_bare(native[0])),
        (Generation::Gen45, _) => gen45::compact(native),
        (Generation::Gen8, _) => compact_gen8(native),
        _ => None,
    }
}

fn compact_gen8(native: &[u32; 4]) -> Option<[u32; 2]> {
    match operation(Generation::Gen8, native[0])?.op().format {
        Format::ThreeSource => compact_three_sources(native),
        Format::Bare | Format::SplitSend => None,
        Format::Send if gen8::EuInstructionSend::unpack_lossy(native).message.eot => None,
        _ => compact_two_sources(native),
    }
}

impl Instruction {
    /// The 8-byte form of the instruction, or of one with other types and the same result
    /// ([`for_compaction`](Self::for_compaction)); `None` if neither exists.
    /// [`compacted`](Self::compacted) is ignored, and jump distances are unchanged.
    pub fn compact(&self) -> Option<[u32; 2]> {
        self.compact_exactly().or_else(|| self.for_compaction().compact_exactly())
    }

    /// The 8-byte form that decodes to exactly this instruction, or `None` if there is none. Unused
    /// bits may differ from those of [`encode`](Self::encode).
    pub fn compact_exactly(&self) -> Option<[u32; 2]> {
        let mut instruction = *self;
        if let (Opcode::Jmpi, Some(branch)) = (self.opcode, &mut instruction.branch) {
            // The encoded distance counts from the end of the instruction. The 8-byte form ends 8
            // bytes earlier than the 16-byte form that is encoded here.
            branch.jip = branch.jip.wrapping_add(8);
        }
        let generation = self.generation;
        if generation.has_message_registers() {
            // The tables have the bits that compilers write, and jumps count in other units.
            return self.encode().ok().and_then(|native| compact_on(generation, &native));
        }
        instruction.encode_for_tables().ok().and_then(|native| compact(&native))
    }

    /// The same computation with types that are in the compaction tables. A move of the immediate
    /// 0.0 to floats with stride 1 becomes a move of the zero vector `:vf`. A move of a signed
    /// immediate dword to signed dwords becomes unsigned. Moves with a condition or saturation and
    /// all other instructions are unchanged.
    pub fn for_compaction(&self) -> Instruction {
        let mut changed = *self;
        let (Some(destination), Operand::Immediate(immediate)) =
            (&mut changed.destination, self.sources[0])
        else {
            return changed;
        };
        if self.opcode != Opcode::Mov || self.condition.is_some() || self.saturate {
            return changed;
        }
        match (destination.ty, immediate.ty) {
            (DataType::F, DataType::F) if immediate.bits == 0 && destination.stride == 1 => {
                changed.sources[0] = Operand::Immediate(Immediate { ty: DataType::Vf, bits: 0 });
            }
            (DataType::D, DataType::D) => {
                destination.ty = DataType::Ud;
                changed.sources[0] =
                    Operand::Immediate(Immediate { ty: DataType::Ud, ..immediate });
            }
            _ => {}
        }
        changed
    }
}

/// Expands `nop` or `illegal`. They have no operands, so only their first dword matters.
fn bare(first: u32) -> [u32; 4] {
    let mut header = gen8::EuInstructionHeader::unpack_lossy(&[first]);
    header.control.controls_b.cmpt_ctrl = false;
    // In the 8-byte form, bit 7 is the breakpoint.
    header.control.controls_b.debug_ctrl = header.undefined_operation;
    header.undefined_operation = false;
    let [first] = header.pack();
    [first, 0, 0, 0]
}

/// The inverse of [`bare`].
fn compact_bare(first: u32) -> [u32; 2] {
    let mut header = gen8::EuInstructionHeader::unpack_lossy(&[first]);
    header.control.controls_b.cmpt_ctrl = true;
    header.undefined_operation = header.control.controls_b.debug_ctrl;
    header.control.controls_b.debug_ctrl = false;
    let [first] = header.pack();
    [first, 0]
}

fn source_index(region: genxml_core::U<12>) -> Option<gen8::SrcIndex> {
    let table = gen8::SrcIndex::INFO;
    index(table, gen8::SrcIndex::from_bits, gen8::SrcIndex::expansion, region.bits())
}

fn two_sources(generation: Generation, compact: &[u32; 2]) -> Option<[u32; 4]> {
    let compact = gen8::EuInstructionCompactTwoSrc::unpack_lossy(compact);
    let [control, _] = row(compact.control_index.expansion())?;
    let control = gen8::EuCompactionControl::unpack_lossy(&[control]);
    let types = match generation {
        Generation::Gen8 | Generation::Gen9 => compact.data_type_index.expansion(),
        _ => {
            let index = compact.data_type_index.bits();
            eu_gen11::DataTypeIndexGen11::from_bits(index).expansion()
        }
    };
    let [types, _] = row(types)?;
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
    let immediate = operands.src0_reg_file == gen8::RegFile::IMM
        || second_half.src1_reg_file == gen8::RegFile::IMM;
    let source_1 = if immediate {
        let parts = gen8::EuCompactionImmediate {
            src1_reg_num: compact.src1_reg_num,
            src1index: compact.src1index,
        };
        // A compact immediate has 13 bits and is sign-extended.
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

fn compact_two_sources(native: &[u32; 4]) -> Option<[u32; 2]> {
    let form = gen8::EuCompactionNativeTwoSrc::unpack_lossy(native);
    if form.pack() != *native {
        // A bit is set that the compact form cannot express.
        return None;
    }
    let operands = gen8::EuInstructionOperandControls::unpack_lossy(&[native[1]]);
    let second_half = gen8::EuInstructionSourcesRegReg::unpack_lossy(&[native[2], native[3]]);
    let immediate = operands.src0_reg_file == gen8::RegFile::IMM
        || second_half.src1_reg_file == gen8::RegFile::IMM;
    let (src1_subregister, src1_reg_num, src1index) = if immediate {
        let bits = genxml_core::S::<13>::new(i64::from(native[3] as i32)).ok()?.bits();
        let parts = gen8::EuCompactionImmediate::unpack_lossy(&[bits as u32]);
        (genxml_core::U::ZERO, parts.src1_reg_num, parts.src1index)
    } else {
        let parts = gen8::EuCompactionNativeSrc1::unpack_lossy(&[native[3]]);
        if parts.pack() != [native[3]] {
            return None;
        }
        (parts.subregister, parts.reg_num, source_index(parts.region)?)
    };
    let [control] = gen8::EuCompactionControl {
        access_mode: form.access_mode,
        mask_ctrl: form.mask_ctrl,
        dep_ctrl: form.dep_ctrl,
        controls: form.controls,
        saturate: form.saturate,
        flag: form.flag,
    }
    .pack();
    let [types] = gen8::EuCompactionDataType {
        operand_types: form.operand_types,
        src1_type: form.src1_type,
        destination_mode: form.destination_mode,
    }
    .pack();
    let [subregisters] = gen8::EuCompactionSubReg {
        destination: form.destination_subregister,
        source_0: form.source_0_subregister,
        source_1: src1_subregister,
    }
    .pack();
    use gen8::{ControlIndex, DataTypeIndex, SubRegIndex};
    let compact = gen8::EuInstructionCompactTwoSrc {
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
        accumulator_write_control: form.accumulator_write_control,
        conditional_modifier: form.conditional_modifier,
        compaction_control: true,
        src0index: source_index(form.source_0_region)?,
        src1index,
        dst_reg_num: form.dst_reg_num,
        src0_reg_num: form.src0_reg_num,
        src1_reg_num,
    };
    Some(compact.pack())
}

fn three_sources(compact: &[u32; 2]) -> Option<[u32; 4]> {
    let compact = gen8::EuInstructionCompactThreeSrc::unpack_lossy(compact);
    let [control, _] = row(compact.control_index.expansion())?;
    let control = gen8::EuCompactionThreeSrcControl::unpack_lossy(&[control]);
    let source =
        gen8::EuCompactionThreeSrcSource::unpack_lossy(&row(compact.source_index.expansion())?);
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

fn compact_three_sources(native: &[u32; 4]) -> Option<[u32; 2]> {
    let form = gen8::EuCompactionNativeThreeSrc::unpack_lossy(native);
    if form.pack() != *native {
        return None;
    }
    let [control] = gen8::EuCompactionThreeSrcControl {
        controls: form.controls,
        flag: form.flag,
        mask_ctrl: form.mask_ctrl,
    }
    .pack();
    let [low, high] = gen8::EuCompactionThreeSrcSource {
        modifiers: form.modifiers,
        types: form.types,
        destination: form.destination,
        source_0_swizzle: form.src0_swizzle,
        source_1_swizzle: form.src1_swizzle,
        source_2_swizzle: form.src2_swizzle,
        source_0_reg_num_7: form.src0_reg_num_7,
        source_1_reg_num_7: form.src1_reg_num_7,
        source_2_reg_num_7: form.src2_reg_num_7,
    }
    .pack();
    use gen8::{ThreeSrcControlIndex, ThreeSrcSourceIndex};
    let compact = gen8::EuInstructionCompactThreeSrc {
        opcode: form.opcode,
        debug_ctrl: form.debug_ctrl,
        control_index: index(
            ThreeSrcControlIndex::INFO,
            ThreeSrcControlIndex::from_bits,
            ThreeSrcControlIndex::expansion,
            u64::from(control),
        )?,
        source_index: index(
            ThreeSrcSourceIndex::INFO,
            ThreeSrcSourceIndex::from_bits,
            ThreeSrcSourceIndex::expansion,
            u64::from(low) | u64::from(high) << 32,
        )?,
        dst_reg_num_6_0: form.dst_reg_num_6_0,
        src0_rep_ctrl: form.src0_rep_ctrl,
        compaction_control: true,
        saturate: form.saturate,
        src1_rep_ctrl: form.src1_rep_ctrl,
        src2_rep_ctrl: form.src2_rep_ctrl,
        src0_sub_reg_num: form.src0_sub_reg_num,
        src1_sub_reg_num: form.src1_sub_reg_num,
        src2_sub_reg_num: form.src2_sub_reg_num,
        src0_reg_num_6_0: form.src0_reg_num_6_0,
        src1_reg_num_6_0: form.src1_reg_num_6_0,
        src2_reg_num_6_0: form.src2_reg_num_6_0,
    };
    Some(compact.pack())
}
