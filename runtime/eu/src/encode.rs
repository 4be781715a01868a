//! Encoding: from an [`Instruction`] to the 16-byte form.

use crate::decode::has_branch_ctrl;
use crate::encoding as enc;
use crate::gen8::eu_gen4::{MrfNumberGen4, RegFileGen4};
use crate::gen8::{eu as gen8, eu_gen9};
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use core::fmt;
use genxml_core::{U, U64};

mod align1_ternary;
mod gen12;
mod gen4;
mod split_send;

/// An instruction that cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{operation}: {field} {value}")]
pub struct EncodeError {
    /// The operation.
    pub operation: Opcode,
    /// The manual's name of the field.
    pub field: &'static str,
    /// The value that the field cannot hold.
    pub value: Refused,
}

genxml_core::debug_as_display!(EncodeError);

/// A value that a field of an instruction cannot hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A number.
    Number(i64),
    /// A data type.
    Type(DataType),
    /// The instruction has no operand or setting for the field, or one without an encoding.
    Missing,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Number(value) => write!(f, "cannot hold {value}"),
            Refused::Type(ty) => write!(f, "cannot hold the type {}", ty.name()),
            Refused::Missing => f.write_str(
                "has no value: the instruction lacks the operand or setting for it, or has one \
                 without an encoding",
            ),
        }
    }
}

impl From<i64> for Refused {
    fn from(value: i64) -> Refused {
        Refused::Number(value)
    }
}

impl From<DataType> for Refused {
    fn from(ty: DataType) -> Refused {
        Refused::Type(ty)
    }
}

type Result<T, E = EncodeError> = core::result::Result<T, E>;

impl Instruction {
    /// The 16-byte form. [`compacted`](Self::compacted) is ignored, also for the distance of
    /// `jmpi`, which hardware counts from the end of the instruction.
    ///
    /// Returns an error if a field cannot hold its value: for example an execution size that is not
    /// a power of two, an immediate where registers are needed, a stride that does not exist.
    pub fn encode(&self) -> Result<[u32; 4]> {
        self.encode_with(Unused::Mesa)
    }

    /// The 16-byte form with unused bits set as in the compaction tables.
    pub(crate) fn encode_for_tables(&self) -> Result<[u32; 4]> {
        self.encode_with(Unused::Tables)
    }

    fn encode_with(&self, unused: Unused) -> Result<[u32; 4]> {
        let types = enc::Types::of(self.generation);
        let changed = self.with_macro_subregisters();
        let encoder = Encoder { instruction: changed.as_ref().unwrap_or(self), types, unused };
        if self.generation >= Generation::Gen12 {
            return encoder.gen12();
        }
        if self.generation.has_message_registers() {
            return encoder.gen4();
        }
        match self.opcode.op().format {
            Format::Bare => encoder.bare(),
            Format::ThreeSource if self.generation >= Generation::Gen11 => {
                encoder.three_source_align1()
            }
            Format::ThreeSource => encoder.three_source(),
            Format::BranchOne | Format::BranchTwo if self.branch.is_some() => encoder.branch(),
            Format::JumpIndexed | Format::Call if self.branch.is_some() => encoder.branch(),
            Format::Send => encoder.send(),
            Format::SplitSend => encoder.split_send(),
            _ => encoder.basic(),
        }
    }

    /// The steps of the macros of Gen11 with their extended accumulators as subregisters; `None`
    /// for any other instruction.
    fn with_macro_subregisters(&self) -> Option<Instruction> {
        let macro_of_gen11 =
            self.generation >= Generation::Gen11 && self.math.is_some_and(MathFunction::is_macro);
        if !macro_of_gen11 {
            return None;
        }
        let place = |register: &mut Register, accumulator: Option<MacroAccumulator>| {
            if let (Register::Grf { byte, .. } | Register::Arf { byte, .. }, Some(accumulator)) =
                (register, accumulator)
            {
                *byte = accumulator.0;
            }
        };
        let mut changed = *self;
        if let Some(destination) = &mut changed.destination {
            place(&mut destination.register, destination.macro_accumulator);
        }
        for operand in &mut changed.sources {
            if let Operand::Register(source) = operand {
                place(&mut source.register, source.macro_accumulator);
            }
        }
        Some(changed)
    }
}

/// The values of unused bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unused {
    /// Unused bits have the values that Mesa's assembler writes.
    Mesa,
    /// Unused bits have the values of the compaction tables.
    Tables,
}

struct Encoder<'a> {
    instruction: &'a Instruction,
    types: &'static enc::Types,
    unused: Unused,
}

impl Encoder<'_> {
    fn error(&self, field: &'static str, value: impl Into<Refused>) -> EncodeError {
        EncodeError { operation: self.instruction.opcode, field, value: value.into() }
    }

    /// The error for a vertical stride without an encoding.
    fn vertical_stride(&self, vertical: Vertical) -> EncodeError {
        match vertical {
            Vertical::Stride(stride) => self.error("VertStride", i64::from(stride)),
            Vertical::Addresses => self.error("VertStride", Refused::Missing),
        }
    }

    fn number<const N: u32>(&self, field: &'static str, value: u64) -> Result<U<N>> {
        U::new(value).map_err(|_| self.error(field, value as i64))
    }

    /// Type of the instruction pointer as an operand of `jmpi`.
    fn pointer_type(&self) -> DataType {
        match self.unused {
            Unused::Mesa => DataType::Ud,
            Unused::Tables => DataType::D,
        }
    }

    fn align16(&self) -> bool {
        self.instruction.access_mode == AccessMode::Align16
    }

    fn opcode(&self) -> gen8::EuOpcode {
        gen8::EuOpcode::from_bits(u64::from(self.instruction.opcode.code()))
    }

    fn controls_a(&self) -> Result<gen8::EuInstructionControlsA> {
        let i = self.instruction;
        let exec_size = enc::EXEC_SIZE.encode(i.exec_size);
        let exec_size = exec_size.ok_or_else(|| self.error("ExecSize", i64::from(i.exec_size)))?;
        if !i.channel_offset.is_multiple_of(4) || i.channel_offset >= 32 {
            return Err(self.error("QtrCtrl", i64::from(i.channel_offset)));
        }
        let control = i.predicate.map(|predicate| predicate.control);
        let predicate_control = if self.align16() {
            enc::PREDICATE_ALIGN16.encode(control).map(|pred_ctrl_align16| {
                gen8::EuInstructionControlsAPredicateControl::Align16 { pred_ctrl_align16 }
            })
        } else {
            enc::PREDICATE_ALIGN1
                .encode(control)
                .map(|pred_ctrl| gen8::EuInstructionControlsAPredicateControl::Align1 { pred_ctrl })
        };
        let dependency = enc::DEPENDENCY.encode((i.no_dd_clear, i.no_dd_check));
        let thread = enc::THREAD.encode(i.thread_control).or_else(|| match i.generation {
            generation if generation <= Generation::Gen9 => None,
            _ => enc::THREAD_GEN11.encode(i.thread_control),
        });
        Ok(gen8::EuInstructionControlsA {
            access_mode: if self.align16() {
                gen8::AccessMode::ALIGN16
            } else {
                gen8::AccessMode::ALIGN1
            },
            dep_ctrl: dependency.ok_or_else(|| self.error("DepCtrl", Refused::Missing))?,
            nib_ctrl: U::from_bits(u64::from(i.channel_offset % 8 / 4)),
            qtr_ctrl: U::from_bits(u64::from(i.channel_offset / 8)),
            thread_control: thread.ok_or_else(|| self.error("ThreadCtrl", Refused::Missing))?,
            predicate_control: predicate_control
                .ok_or_else(|| self.error("PredCtrl", Refused::Missing))?,
            pred_inv: i.predicate.is_some_and(|predicate| predicate.inverse),
            exec_size,
        })
    }

    fn controls_b(&self) -> gen8::EuInstructionControlsB {
        let i = self.instruction;
        gen8::EuInstructionControlsB {
            acc_wr_ctrl: if has_branch_ctrl(i.opcode) { i.branch_ctrl } else { i.acc_write },
            cmpt_ctrl: false,
            debug_ctrl: i.breakpoint,
            saturate: i.saturate,
        }
    }

    fn header(&self) -> Result<gen8::EuInstructionHeader> {
        let i = self.instruction;
        let condition = enc::encode_condition(i.generation, i.condition);
        Ok(gen8::EuInstructionHeader {
            opcode: self.opcode(),
            undefined_operation: false,
            control: gen8::EuInstructionControls {
                controls_a: self.controls_a()?,
                cond_modifier: condition
                    .ok_or_else(|| self.error("CondModifier", Refused::Missing))?,
                controls_b: self.controls_b(),
            },
        })
    }

    fn bare(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        if i.opcode != Opcode::Illegal {
            let (opcode, debug_ctrl) = (self.opcode(), i.breakpoint);
            return Ok(gen8::EuInstructionNop { opcode, debug_ctrl }.pack());
        }
        if i.illegal_code == 0 {
            // Mesa's assembler writes the controls of `illegal`, although they have no meaning.
            let controls = gen8::EuInstructionOperandControls {
                mask_ctrl: i.no_mask,
                ..gen8::EuInstructionOperandControls::new()
            };
            let [first] = self.header()?.pack();
            return Ok([first, self.packed(&controls), 0, 0]);
        }
        let header = gen8::EuInstructionHeader {
            opcode: gen8::EuOpcode::from_bits(u64::from(i.illegal_code % 128)),
            undefined_operation: i.illegal_code >= 128,
            control: gen8::EuInstructionControls::new(),
        };
        let [first] = header.pack();
        Ok([first, 0, 0, 0])
    }

    /// The second dword, without the register file and type of source 0.
    fn operand_controls(&self) -> Result<gen8::EuInstructionOperandControls> {
        let i = self.instruction;
        let mut controls = gen8::EuInstructionOperandControls::new();
        controls.flag_register_number =
            self.number("Flag Register Number", u64::from(i.flag.register))?;
        controls.flag_subregister_number =
            self.number("Flag Subregister Number", u64::from(i.flag.subregister))?;
        controls.mask_ctrl = i.no_mask;
        let destination = match (i.destination, i.opcode.op().format) {
            (Some(destination), _) => destination,
            // `jmpi` writes the instruction pointer; so does `cont` in Mesa's encoding. `wait`
            // writes its own source.
            (None, _) if i.opcode == Opcode::Cont => {
                Destination::new(INSTRUCTION_POINTER, DataType::Ud)
            }
            (None, Format::JumpIndexed) => {
                Destination::new(INSTRUCTION_POINTER, self.pointer_type())
            }
            (None, Format::Wait) => match i.sources[0] {
                Operand::Register(source) => Destination::new(source.register, source.ty),
                _ => return Err(self.error("Src0.RegFile", Refused::Missing)),
            },
            (None, Format::Basic | Format::Math | Format::Send | Format::Call) => {
                return Err(self.error("Destination Register File", Refused::Missing));
            }
            (None, _) => Destination::new(Register::NULL, DataType::D),
        };
        // In `endif` all bits of the destination are zero, not the null register.
        if i.opcode != Opcode::Endif {
            self.destination(&mut controls, &destination)?;
        }
        Ok(controls)
    }

    fn destination(
        &self,
        controls: &mut gen8::EuInstructionOperandControls,
        destination: &Destination,
    ) -> Result<()> {
        let ty = self.types.encode_destination(destination.ty);
        controls.destination_data_type = ty.ok_or_else(|| self.error("DstType", destination.ty))?;
        let fields = self.register_fields(&destination.register)?;
        controls.destination_register_file = fields.file;
        controls.destination_address_immediate_9_9 = fields.sign;
        let region = if self.align16() {
            use gen8::EuInstructionOperandDstAlign16Address::{Direct, Indirect};
            let mut region = gen8::EuInstructionOperandDstAlign16::new();
            let mask = destination
                .macro_accumulator
                .map_or(destination.write_mask, |accumulator| accumulator.0);
            region.destination_channel_enable =
                self.number("Destination Channel Enable", u64::from(mask))?;
            region.destination_addressing_mode = fields.mode();
            let low = genxml_core::Shifted::new(fields.low)
                .map_err(|_| self.error("Destination Address Immediate", fields.offset()));
            region.address = match fields.word {
                None => Direct {
                    destination_subregister_number: genxml_core::Shifted::new(fields.low).map_err(
                        |_| self.error("Destination Subregister Number", fields.low as i64),
                    )?,
                    destination_register_number: fields.number,
                },
                Some(word) => Indirect {
                    destination_address_immediate_8_4: low?,
                    destination_address_subregister_number: word,
                },
            };
            region.pack()
        } else {
            use gen8::EuInstructionOperandDstAlign1Address::{Direct, Indirect};
            let stride = enc::HORZ_STRIDE.encode(destination.stride);
            gen8::EuInstructionOperandDstAlign1 {
                address: match fields.word {
                    None => Direct {
                        destination_subregister_number: self
                            .number("Destination Subregister Number", fields.low)?,
                        destination_register_number: fields.number,
                    },
                    Some(word) => Indirect {
                        destination_address_immediate: self
                            .number("Destination Address Immediate", fields.low)?,
                        destination_address_subregister_number: word,
                    },
                },
                destination_horizontal_stride: stride.ok_or_else(|| {
                    self.error("Destination Horizontal Stride", i64::from(destination.stride))
                })?,
                destination_addressing_mode: fields.mode(),
            }
            .pack()
        };
        controls.destination_register_region = U::from_bits(u64::from(region[0]));
        Ok(())
    }

    /// A register, split into the values of the fields.
    fn register_fields(&self, register: &Register) -> Result<RegisterFields> {
        let file = |file, number: u8, byte: u8| {
            let number = U::from_bits(u64::from(number));
            RegisterFields { file, number, low: u64::from(byte), word: None, sign: false }
        };
        match *register {
            Register::Grf { number, byte } => Ok(file(gen8::RegFile::GRF, number, byte)),
            Register::Mrf { number, byte } => {
                let i = self.instruction;
                if !i.generation.has_message_registers() {
                    return Err(self.error("Register File", Refused::Missing));
                }
                let number = self.number("Register Number", u64::from(number))?;
                let compr4 = i.gen4.compression == Compression::Compr4;
                let [packed] = MrfNumberGen4 { number, compr4 }.pack();
                let mrf = gen8::RegFile::from_bits(RegFileGen4::MRF.bits());
                Ok(file(mrf, packed as u8, byte))
            }
            Register::Arf { file: arf, number, byte } => {
                let register = match arf {
                    Arf::Reserved(kind) => gen8::Arf::new(u64::from(kind))
                        .map_err(|_| self.error("Register Number", i64::from(kind))),
                    arf => enc::ARF
                        .encode(arf)
                        .ok_or_else(|| self.error("Register Number", Refused::Missing)),
                }?;
                let number = self.number("Register Number", u64::from(number))?;
                let [packed] = gen8::ArfRegisterNumber { number, register }.pack();
                Ok(file(gen8::RegFile::ARF, packed as u8, byte))
            }
            Register::Indirect { address, offset } => {
                if !(-512..512).contains(&offset) {
                    return Err(self.error("Address Immediate", i64::from(offset)));
                }
                Ok(RegisterFields {
                    file: gen8::RegFile::GRF,
                    number: U::ZERO,
                    low: u64::from(offset.rem_euclid(512) as u16),
                    word: Some(self.number("Address Subregister Number", u64::from(address))?),
                    sign: offset < 0,
                })
            }
        }
    }

    /// The 25 bits of a register source.
    fn source(&self, source: &Source, fields: &RegisterFields) -> Result<u64> {
        let vertical = enc::VERT_STRIDE.encode(source.region.vertical);
        let vertical = vertical.ok_or_else(|| self.vertical_stride(source.region.vertical))?;
        if !self.align16() {
            return self.source_align1(source, fields);
        }
        use gen8::EuInstructionOperandSrcRegAlign16Address::{Direct, Indirect};
        let swizzle = match source.macro_accumulator {
            Some(MacroAccumulator(number)) => [number % 4, number / 4, 0, 0],
            None => source.swizzle,
        };
        if let Some(select) = swizzle.iter().find(|select| **select > 3) {
            return Err(self.error("ChanSel", i64::from(*select)));
        }
        let [x, y, z, w] = swizzle.map(|select| gen8::ChanSel::from_bits(u64::from(select)));
        let [bits] = gen8::EuInstructionOperandSrcRegAlign16 {
            channel_select_x: x,
            channel_select_y: y,
            address: match fields.word {
                None => Direct {
                    source_subregister_number_4_4: genxml_core::Shifted::new(fields.low)
                        .map_err(|_| self.error("Source Subregister Number", fields.low as i64))?,
                    source_register_number: fields.number,
                },
                Some(word) => Indirect {
                    source_address_immediate_8_4: genxml_core::Shifted::new(fields.low)
                        .map_err(|_| self.error("Source Address Immediate", fields.offset()))?,
                    source_address_subregister_number: word,
                },
            },
            source_modifier_absolute: source.absolute,
            source_modifier_negate: source.negate,
            source_addressing_mode: fields.mode(),
            channel_select_z: z,
            channel_select_w: w,
            source_vertical_stride: vertical,
        }
        .pack();
        Ok(u64::from(bits))
    }

    /// The 25 bits of a register source in Align1.
    fn source_align1(&self, source: &Source, fields: &RegisterFields) -> Result<u64> {
        let vertical = enc::VERT_STRIDE.encode(source.region.vertical);
        let vertical = vertical.ok_or_else(|| self.vertical_stride(source.region.vertical))?;
        use gen8::EuInstructionOperandSrcRegAlign1Address::{Direct, Indirect};
        let (width, horizontal) = (source.region.width, source.region.horizontal);
        let [bits] = gen8::EuInstructionOperandSrcRegAlign1 {
            address: match fields.word {
                None => Direct {
                    source_subregister_number: self
                        .number("Source Subregister Number", fields.low)?,
                    source_register_number: fields.number,
                },
                Some(word) => Indirect {
                    source_address_immediate_8_0: self
                        .number("Source Address Immediate", fields.low)?,
                    source_address_subregister_number: word,
                },
            },
            source_modifier_absolute: source.absolute,
            source_modifier_negate: source.negate,
            source_addressing_mode: fields.mode(),
            source_horizontal_stride: enc::HORZ_STRIDE
                .encode(horizontal)
                .ok_or_else(|| self.error("HorzStride", i64::from(horizontal)))?,
            source_width: enc::WIDTH
                .encode(width)
                .ok_or_else(|| self.error("Width", i64::from(width)))?,
            source_vertical_stride: vertical,
        }
        .pack();
        Ok(u64::from(bits))
    }

    fn source_type(&self, ty: DataType) -> Result<gen8::SrcType> {
        self.types.encode_source(ty).ok_or_else(|| self.error("SrcType", ty))
    }

    fn immediate_type(&self, ty: DataType) -> Result<gen8::SrcImmType> {
        self.types.encode_immediate(ty).ok_or_else(|| self.error("SrcImmType", ty))
    }

    /// The dword of an immediate of up to 32 bits. A word is repeated in both halves.
    fn immediate(&self, immediate: &Immediate) -> Result<U<32>> {
        let bits = match immediate.ty {
            DataType::W | DataType::Uw | DataType::Hf => immediate.bits.wrapping_mul(0x1_0001),
            _ => immediate.bits,
        };
        self.number("Immediate", bits)
    }

    /// One or two sources in the second half: all formats except `nop`, `illegal`, three-source
    /// instructions, sends and branches with immediate distances.
    fn basic(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let mut controls = self.operand_controls()?;
        let mut operands = [i.sources[0], i.sources[1]];
        let register_jump = matches!(i.opcode.op().format, Format::JumpIndexed | Format::Call);
        if register_jump {
            // Source 0 is the instruction pointer, source 1 the distance.
            let ty = if i.opcode == Opcode::Jmpi { self.pointer_type() } else { DataType::D };
            let pointer = Source::new(INSTRUCTION_POINTER, ty, Region::SCALAR);
            operands = [Operand::Register(pointer), i.sources[0]];
        }
        let half = match operands {
            [Operand::Immediate(immediate), Operand::None] => {
                controls.src0_reg_file = gen8::RegFile::IMM;
                let src0_src_imm_type = self.immediate_type(immediate.ty)?;
                controls.src0_type =
                    gen8::EuInstructionOperandControlsSrc0Type::Immediate { src0_src_imm_type };
                if immediate.ty.size() == 8 {
                    let source_0_immediate = U64::from_bits(immediate.bits);
                    gen8::EuInstructionSourcesImm64 { source_0_immediate }.pack()
                } else {
                    // The type of the missing source 1: Mesa writes that of the immediate, the
                    // tables have `ud`.
                    let src1_src_type = match self.unused {
                        Unused::Mesa => src0_src_imm_type,
                        Unused::Tables => gen8::SrcImmType::UD,
                    };
                    gen8::EuInstructionSourcesRegImm {
                        source_0: U::ZERO,
                        src1_reg_file: gen8::RegFile::ARF,
                        src1_src_type,
                        source_0_address_immediate_9_9: false,
                        source_1_immediate: self.immediate(&immediate)?,
                    }
                    .pack()
                }
            }
            [Operand::Register(first), second] => {
                let fields = self.register_fields(&first.register)?;
                controls.src0_reg_file = fields.file;
                let src0_src_type = self.source_type(first.ty)?;
                controls.src0_type =
                    gen8::EuInstructionOperandControlsSrc0Type::Register { src0_src_type };
                let source_0 = U::from_bits(self.source(&first, &fields)?);
                match second {
                    Operand::Immediate(immediate) => gen8::EuInstructionSourcesRegImm {
                        source_0,
                        src1_reg_file: gen8::RegFile::IMM,
                        src1_src_type: self.immediate_type(immediate.ty)?,
                        source_0_address_immediate_9_9: fields.sign,
                        source_1_immediate: self.immediate(&immediate)?,
                    }
                    .pack(),
                    Operand::Register(second) => {
                        let fields_1 = self.register_fields(&second.register)?;
                        gen8::EuInstructionSourcesRegReg {
                            source_0,
                            src1_reg_file: fields_1.file,
                            src1_src_type: self.source_type(second.ty)?,
                            source_0_address_immediate_9_9: fields.sign,
                            source_1: U::from_bits(self.source(&second, &fields_1)?),
                            source_1_address_immediate_9_9: fields_1.sign,
                        }
                        .pack()
                    }
                    Operand::None => gen8::EuInstructionSourcesReg {
                        source_0,
                        source_0_address_immediate_9_9: fields.sign,
                    }
                    .pack(),
                }
            }
            _ => return Err(self.error("Src0.RegFile", Refused::Missing)),
        };
        let mut dwords = [0, self.packed(&controls), half[0], half[1]];
        dwords[0] = match i.math {
            _ if i.opcode.op().format == Format::Sync => self.sync()?,
            Some(function) => {
                let fc = enc::MATH
                    .encode(function)
                    .ok_or_else(|| self.error("Function Control (FC)", Refused::Missing))?;
                gen8::EuInstructionMath {
                    opcode: self.opcode(),
                    controls_a: self.controls_a()?,
                    function_control_fc: fc,
                    controls_b: self.controls_b(),
                    operand_control: controls,
                    reg_source: U64::ZERO,
                }
                .pack()[0]
            }
            None if i.opcode == Opcode::Math => {
                return Err(self.error("Function Control (FC)", Refused::Missing));
            }
            None => self.header()?.pack()[0],
        };
        Ok(dwords)
    }

    /// The first dword of `sync`, with the function at the condition.
    fn sync(&self) -> Result<u32> {
        let function = self.instruction.sync.and_then(|function| enc::SYNC.encode(function));
        let function = function.ok_or_else(|| self.error("SyncFunction", Refused::Missing))?;
        let mut header = self.header()?;
        header.control.cond_modifier = gen8::CondModifier::from_bits(function.bits());
        Ok(header.pack()[0])
    }

    fn no_operation(&self) -> EncodeError {
        self.error("Opcode", i64::from(self.instruction.opcode.code()))
    }

    fn packed(&self, controls: &gen8::EuInstructionOperandControls) -> u32 {
        let [dword] = controls.pack();
        dword
    }

    fn send(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let message = i.send.ok_or_else(|| self.error("Message", Refused::Missing))?;
        let Operand::Register(source) = i.sources[0] else {
            return Err(self.error("Src0.RegFile", Refused::Missing));
        };
        let mut controls = self.operand_controls()?;
        let fields = self.register_fields(&source.register)?;
        controls.src0_reg_file = fields.file;
        let src0_src_type = self.source_type(source.ty)?;
        controls.src0_type = gen8::EuInstructionOperandControlsSrc0Type::Register { src0_src_type };
        let function = self.shared_function(message.function)?;
        let (src1_reg_file, dword) = match message.descriptor {
            Descriptor::Immediate(descriptor) => (gen8::RegFile::IMM, descriptor),
            Descriptor::Address(byte) => {
                let address = Register::Arf { file: Arf::Address, number: 0, byte };
                let fields = self.register_fields(&address)?;
                // The address register is encoded as in Align1, also in Align16.
                let source = Source::new(address, DataType::Ud, Region::SCALAR);
                let source = self.source_align1(&source, &fields)?;
                (gen8::RegFile::ARF, source as u32)
            }
        };
        let message = gen8::EuInstructionOperandSendMsg {
            eot: message.end_of_thread,
            ..gen8::EuInstructionOperandSendMsg::unpack_lossy(&[dword])
        };
        let native = gen8::EuInstructionSend {
            opcode: self.opcode(),
            controls_a: self.controls_a()?,
            shared_function_id_sfid: function,
            controls_b: self.controls_b(),
            operand_control: controls,
            source_0: U::from_bits(self.source(&source, &fields)?),
            src1_reg_file,
            src1_src_type: self.send_source_1_type(),
            source_0_address_immediate_9_9: fields.sign,
            message,
        }
        .pack();
        Ok(self.with_descriptor(native, dword, message.eot))
    }

    /// The type of source 1 of a message. From Gen9 on, its bits are part of the extended
    /// descriptor.
    fn send_source_1_type(&self) -> gen8::SrcType {
        match self.instruction.extended {
            Some(Descriptor::Immediate(extended))
                if self.instruction.generation >= Generation::Gen9 =>
            {
                let parts = eu_gen9::EuExtendedDescriptorParts::unpack_lossy(&[extended]);
                gen8::SrcType::from_bits(parts.extended_descriptor_31_28.get())
            }
            _ => gen8::SrcType::UD,
        }
    }

    /// The instruction with all 31 bits of the descriptor, which Gen8 does not have.
    fn with_descriptor(&self, mut native: [u32; 4], descriptor: u32, eot: bool) -> [u32; 4] {
        if self.instruction.generation >= Generation::Gen9 {
            let descriptor = U::from_bits(u64::from(descriptor));
            [native[3]] = eu_gen9::EuSendDescriptorGen9 { descriptor, eot }.pack();
        }
        native
    }

    fn shared_function(&self, function: SharedFunction) -> Result<gen8::Sfid> {
        match function {
            SharedFunction::Reserved(function) => gen8::Sfid::new(u64::from(function))
                .map_err(|_| self.error("SFID", i64::from(function))),
            function => enc::SHARED_FUNCTION
                .encode(function)
                .ok_or_else(|| self.error("SFID", Refused::Missing)),
        }
    }

    /// Encodes branches with immediate distances.
    fn branch(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let branch = i.branch.unwrap_or(Branch { jip: 0, uip: None });
        let mut operand_controls = self.operand_controls()?;
        let header = self.header()?;
        let immediate = gen8::EuInstructionOperandControlsSrc0Type::Immediate {
            src0_src_imm_type: gen8::SrcImmType::D,
        };
        if i.opcode.op().format == Format::BranchTwo {
            // Source 0 is encoded as an immediate: the 64 bits of UIP and JIP.
            operand_controls.src0_reg_file = gen8::RegFile::IMM;
            operand_controls.src0_type = immediate;
            let uip = branch.uip.ok_or_else(|| self.error("UIP", Refused::Missing))?;
            return Ok(gen8::EuInstructionBranchTwoSrc {
                header,
                operand_controls,
                uip: genxml_core::S::from_bits(uip as u64),
                jip: genxml_core::S::from_bits(branch.jip as u64),
            }
            .pack());
        }
        let jump = i.opcode == Opcode::Jmpi;
        let mut source_0 = U::ZERO;
        let mut src1_reg_file = gen8::RegFile::IMM;
        if jump {
            // The distance is relative to the next instruction, and source 0 is the instruction
            // pointer.
            let pointer = Source::new(INSTRUCTION_POINTER, self.pointer_type(), Region::SCALAR);
            source_0 =
                U::from_bits(self.source(&pointer, &self.register_fields(&pointer.register)?)?);
            let src0_src_type = self.source_type(pointer.ty)?;
            operand_controls.src0_type =
                gen8::EuInstructionOperandControlsSrc0Type::Register { src0_src_type };
        } else if matches!(i.opcode, Opcode::While | Opcode::Endif) {
            // As in Mesa: the distance is an immediate source 0.
            operand_controls.src0_reg_file = gen8::RegFile::IMM;
            operand_controls.src0_type = immediate;
            src1_reg_file = gen8::RegFile::ARF;
        }
        Ok(gen8::EuInstructionBranchOneSrc {
            header,
            operand_controls,
            source_0,
            src1_reg_file,
            src1_src_type: gen8::SrcType::D,
            source_0_address_immediate_9_9: false,
            jip: genxml_core::S::from_bits(
                branch.jip.wrapping_sub(if jump { 16 } else { 0 }) as u64
            ),
        }
        .pack())
    }

    fn three_source(&self) -> Result<[u32; 4]> {
        let i = self.instruction;
        let ty = |field, ty: DataType| {
            enc::THREE_SOURCE_TYPE.encode(ty).ok_or_else(|| self.error(field, ty))
        };
        let Some(destination @ Destination { register: Register::Grf { number, byte }, .. }) =
            i.destination
        else {
            return Err(self.error("Destination Register Number", Refused::Missing));
        };
        let [Operand::Register(a), Operand::Register(b), Operand::Register(c)] = &i.sources else {
            return Err(self.error("Source Register Number", Refused::Missing));
        };
        let [src1_type, src2_type] = three_source_halves([a.ty, b.ty, c.ty])
            .ok_or_else(|| self.error("Source Data Type", b.ty))?;
        let mask = destination
            .macro_accumulator
            .map_or(destination.write_mask, |accumulator| accumulator.0);
        let native = gen8::EuInstructionBasicThreeSrc {
            header: self.header()?,
            flag_subregister_number: self
                .number("Flag Subregister Number", u64::from(i.flag.subregister))?,
            flag_register_number: self
                .number("Flag Register Number", u64::from(i.flag.register))?,
            mask_ctrl: i.no_mask,
            src2_type,
            src1_type,
            source_0_modifier_absolute: a.absolute,
            source_0_modifier_negate: a.negate,
            source_1_modifier_absolute: b.absolute,
            source_1_modifier_negate: b.negate,
            source_2_modifier_absolute: c.absolute,
            source_2_modifier_negate: c.negate,
            source_data_type: ty("Source Data Type", a.ty)?,
            destination_data_type: ty("Destination Data Type", destination.ty)?,
            destination_channel_enable: self
                .number("Destination Channel Enable", u64::from(mask))?,
            destination_subregister_number: genxml_core::Shifted::new(u64::from(byte))
                .map_err(|_| self.error("Destination Subregister Number", i64::from(byte)))?,
            destination_register_number: U::from_bits(u64::from(number)),
            source_0: self.three_source_operand(a)?,
            source_1: self.three_source_operand(b)?,
            source_2: self.three_source_operand(c)?,
        }
        .pack();
        if i.generation <= Generation::Gen8 {
            return Ok(native);
        }
        let half = |source: &Source| match source.register {
            Register::Grf { byte, .. } => genxml_core::Shifted::new(u64::from(byte % 4))
                .map_err(|_| self.error("Source Subregister Number", i64::from(byte))),
            _ => Err(self.error("Source Register Number", Refused::Missing)),
        };
        let halves = eu_gen9::EuThreeSrcSubregisters {
            source_0_subregister_1_1: half(a)?,
            source_1_subregister_1_1: half(b)?,
            source_2_subregister_1_1: half(c)?,
        }
        .pack();
        Ok(core::array::from_fn(|dword| native[dword] | halves[dword]))
    }

    fn three_source_operand(
        &self,
        source: &Source,
    ) -> Result<gen8::EuInstructionOperandSrcRegThreeSrc> {
        let Register::Grf { number, byte } = source.register else {
            return Err(self.error("Source Register Number", Refused::Missing));
        };
        // From Gen9 on, the bit of the upper half of a dword stands apart.
        let dword = match self.instruction.generation {
            generation if generation <= Generation::Gen8 => byte,
            _ => byte / 4 * 4,
        };
        let swizzle = match source.macro_accumulator {
            Some(MacroAccumulator(number)) => [number % 4, number / 4, 0, 0],
            None if source.replicate && self.unused == Unused::Tables => Source::IDENTITY,
            None => source.swizzle,
        };
        if let Some(select) = swizzle.iter().find(|select| **select > 3) {
            return Err(self.error("ChanSel", i64::from(*select)));
        }
        let [x, y, z, w] = swizzle.map(|select| gen8::ChanSel::from_bits(u64::from(select)));
        Ok(gen8::EuInstructionOperandSrcRegThreeSrc {
            source_replicate_control: if source.replicate {
                gen8::RepCtrl::REPLICATE
            } else {
                gen8::RepCtrl::NO_REPLICATION
            },
            channel_select_x: x,
            channel_select_y: y,
            channel_select_z: z,
            channel_select_w: w,
            source_subregister_number_4_2: genxml_core::Shifted::new(u64::from(dword))
                .map_err(|_| self.error("Source Subregister Number", i64::from(byte)))?,
            source_register_number: U::from_bits(u64::from(number)),
        })
    }
}

/// The half-float marks of sources 1 and 2 of a three-source instruction; `None` if the three types
/// cannot be encoded together. They must be equal, or a mix of half and single floats. Without a
/// mark, a half-float source 0 makes all three half floats.
fn three_source_halves([a, b, c]: [DataType; 3]) -> Option<[bool; 2]> {
    let half = |ty| ty == DataType::Hf;
    let float = |ty| half(ty) || ty == DataType::F;
    let marks = [half(b), half(c)];
    let one = a == b && a == c;
    let mixed = float(a) && float(b) && float(c) && (!half(a) || marks.contains(&true));
    (one || mixed).then_some(marks)
}

/// The instruction pointer as an operand.
const INSTRUCTION_POINTER: Register =
    Register::Arf { file: Arf::InstructionPointer, number: 0, byte: 0 };

/// A register, split into the values of the fields.
struct RegisterFields {
    file: gen8::RegFile,
    number: U<8>,
    /// Byte offset in the register, or the low nine bits of the address immediate.
    low: u64,
    /// Word of a0 for indirect addressing.
    word: Option<U<4>>,
    /// Sign of the address immediate.
    sign: bool,
}

impl RegisterFields {
    /// The byte offset in the register, or the whole address immediate.
    fn offset(&self) -> i64 {
        self.low as i64 - if self.sign { 512 } else { 0 }
    }

    fn mode(&self) -> gen8::AddrMode {
        if self.word.is_some() { gen8::AddrMode::INDIRECT } else { gen8::AddrMode::DIRECT }
    }
}
