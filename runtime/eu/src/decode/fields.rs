//! Decodes the parts of instructions that generations share: controls, operands and messages.

use crate::encoding as enc;
use crate::gen8::eu_gen4::{MrfNumberGen4, RegFileGen4};
use crate::gen8::{eu as gen8, eu_gen9, eu_gen11};
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use crate::problem::Problem;

/// The dwords of an instruction, with the properties that the first dword gives.
pub(super) struct Decoder<'a> {
    pub(super) generation: Generation,
    pub(super) types: &'static enc::Types,
    pub(super) opcode: Opcode,
    pub(super) dwords: &'a [u32; 4],
    pub(super) length: i32,
    pub(super) header: gen8::EuInstructionHeader,
}

pub(super) type Result<T, E = Problem> = core::result::Result<T, E>;

impl Decoder<'_> {
    pub(super) fn reserved(&self, field: &'static str, value: u64) -> Problem {
        Problem::Reserved { operation: self.opcode, field, value }
    }

    /// The controls of all formats except the three-source one.
    pub(super) fn start(&self) -> Result<(Instruction, gen8::EuInstructionOperandControls)> {
        let mut instruction = self.controls()?;
        let controls = gen8::EuInstructionOperandControls::unpack_lossy(&[self.dwords[1]]);
        instruction.flag = Flag {
            register: controls.flag_register_number.get() as u8,
            subregister: controls.flag_subregister_number.get() as u8,
        };
        instruction.no_mask = controls.mask_ctrl;
        Ok((instruction, controls))
    }

    /// Decodes the controls in the first dword.
    pub(super) fn controls(&self) -> Result<Instruction> {
        let (a, b) = (&self.header.control.controls_a, &self.header.control.controls_b);
        let exec_size = enc::EXEC_SIZE.decode(a.exec_size);
        let exec_size = exec_size.ok_or_else(|| self.reserved("ExecSize", a.exec_size.bits()))?;
        let mut instruction =
            Instruction { generation: self.generation, ..Instruction::new(self.opcode, exec_size) };
        instruction.channel_offset = (a.qtr_ctrl.get() * 8 + a.nib_ctrl.get() * 4) as u8;
        instruction.access_mode = match a.access_mode {
            gen8::AccessMode::ALIGN16 if self.generation >= Generation::Gen11 => {
                return Err(self.reserved("AccessMode", a.access_mode.bits()));
            }
            gen8::AccessMode::ALIGN16 => AccessMode::Align16,
            _ => AccessMode::Align1,
        };
        let control = match a.predicate_control {
            gen8::EuInstructionControlsAPredicateControl::Align1 { pred_ctrl } => {
                enc::PREDICATE_ALIGN1
                    .decode(pred_ctrl)
                    .ok_or_else(|| self.reserved("PredCtrl", pred_ctrl.bits()))?
            }
            gen8::EuInstructionControlsAPredicateControl::Align16 {
                pred_ctrl_align16: pred_ctrl,
            } => enc::PREDICATE_ALIGN16
                .decode(pred_ctrl)
                .ok_or_else(|| self.reserved("PredCtrl", pred_ctrl.bits()))?,
        };
        instruction.predicate = control.map(|control| Predicate { control, inverse: a.pred_inv });
        let thread = enc::THREAD.decode(a.thread_control).or_else(|| match self.generation {
            generation if generation <= Generation::Gen9 => None,
            _ => enc::THREAD_GEN11.decode(a.thread_control),
        });
        instruction.thread_control =
            thread.ok_or_else(|| self.reserved("ThreadCtrl", a.thread_control.bits()))?;
        (instruction.no_dd_clear, instruction.no_dd_check) =
            enc::DEPENDENCY.decode(a.dep_ctrl).unwrap_or_default();
        if has_branch_ctrl(self.opcode) {
            instruction.branch_ctrl = b.acc_wr_ctrl;
        } else if !jumps(self.opcode) {
            instruction.acc_write = b.acc_wr_ctrl;
        }
        instruction.breakpoint = b.debug_ctrl;
        instruction.saturate = b.saturate;
        let format = self.opcode.op().format;
        if !matches!(format, Format::Math | Format::Sync) && !format.is_send() {
            let condition = self.header.control.cond_modifier;
            let decoded = enc::condition(self.generation, condition);
            instruction.condition =
                decoded.ok_or_else(|| self.reserved("CondModifier", condition.bits()))?;
        }
        Ok(instruction)
    }

    /// `nop` and `illegal`. The controls of `illegal` have no meaning and are not read.
    pub(super) fn bare(&self) -> Instruction {
        let mut instruction =
            Instruction { generation: self.generation, ..Instruction::new(self.opcode, 1) };
        instruction.breakpoint =
            self.opcode == Opcode::Nop && self.header.control.controls_b.debug_ctrl;
        instruction
    }

    /// Decodes an instruction with one or two sources.
    pub(super) fn basic(&self) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        instruction.destination = Some(self.destination(&controls)?);
        self.sources(&mut instruction, &controls, self.opcode.op().sources)?;
        Ok(instruction)
    }

    /// Decodes `wait` or `ret`: one source and no destination.
    pub(super) fn one_source(&self) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        self.sources(&mut instruction, &controls, 1)?;
        Ok(instruction)
    }

    pub(super) fn math(&self) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        let function = gen8::EuInstructionMath::unpack_lossy(self.dwords).function_control_fc;
        let function = enc::MATH
            .decode(function)
            .ok_or_else(|| self.reserved("Function Control", function.bits()))?;
        instruction.math = Some(function);
        instruction.destination = Some(self.destination(&controls)?);
        self.sources(&mut instruction, &controls, function.sources())?;
        // In the basic format, only Align16 has bits for extended accumulators before Gen11.
        if function.is_macro() && instruction.access_mode == AccessMode::Align16 {
            instruction.extract_macro_accumulators();
        } else if function.is_macro() && self.generation >= Generation::Gen11 {
            let numbers = eu_gen11::EuMathMacroGen11::unpack_lossy(self.dwords);
            instruction.replace_subregisters([
                numbers.destination_accumulator.get() as u8,
                numbers.source_0_accumulator.get() as u8,
                numbers.source_1_accumulator.get() as u8,
            ]);
        }
        Ok(instruction)
    }

    pub(super) fn send(&self) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        let send = gen8::EuInstructionSend::unpack_lossy(self.dwords);
        let function = send.shared_function_id_sfid;
        let descriptor = match send.src1_reg_file {
            gen8::RegFile::IMM => Descriptor::Immediate(self.descriptor(send.message)),
            gen8::RegFile::ARF => {
                let sources = gen8::EuInstructionSourcesRegReg::unpack_lossy(&[
                    self.dwords[2],
                    self.dwords[3],
                ]);
                let source = gen8::EuInstructionOperandSrcRegAlign1::unpack_lossy(&[sources
                    .source_1
                    .get()
                    as u32]);
                match source.address {
                    gen8::EuInstructionOperandSrcRegAlign1Address::Direct {
                        source_subregister_number,
                        ..
                    } => Descriptor::Address(source_subregister_number.get() as u8),
                    _ => return Err(self.reserved("Source Addressing Mode", 1)),
                }
            }
            file => return Err(self.reserved("Src1.RegFile", file.bits())),
        };
        instruction.send = Some(Send {
            function: shared_function(function),
            descriptor,
            end_of_thread: send.message.eot,
        });
        instruction.destination = Some(self.destination(&controls)?);
        let file = controls.src0_reg_file;
        let address_sign = send.source_0_address_immediate_9_9;
        let gen8::EuInstructionOperandControlsSrc0Type::Register { src0_src_type } =
            controls.src0_type
        else {
            return Err(self.reserved("Src0.RegFile", file.bits()));
        };
        let source = self.source(send.source_0.get(), file, src0_src_type, address_sign)?;
        instruction.sources[0] = Operand::Register(source);
        if self.generation >= Generation::Gen9 {
            instruction.extended = Some(self.extended_descriptor());
        }
        Ok(instruction)
    }

    /// The descriptor in the instruction, without the end of thread.
    pub(super) fn descriptor(&self, message: gen8::EuInstructionOperandSendMsg) -> u32 {
        match self.generation {
            generation if generation <= Generation::Gen8 => {
                let [descriptor] =
                    gen8::EuInstructionOperandSendMsg { eot: false, ..message }.pack();
                descriptor
            }
            _ => {
                let last = eu_gen9::EuSendDescriptorGen9::unpack_lossy(&[self.dwords[3]]);
                last.descriptor.get() as u32
            }
        }
    }

    /// The extended descriptor of `send` and `sendc` of Gen9 and later.
    pub(super) fn extended_descriptor(&self) -> Descriptor {
        let parts = eu_gen9::EuSendExtendedGen9::unpack_lossy(self.dwords);
        let [extended] = eu_gen9::EuExtendedDescriptorParts {
            extended_descriptor_19_16: parts.extended_descriptor_19_16,
            extended_descriptor_23_20: parts.extended_descriptor_23_20,
            extended_descriptor_27_24: parts.extended_descriptor_27_24,
            extended_descriptor_31_28: parts.extended_descriptor_31_28,
        }
        .pack();
        Descriptor::Immediate(extended)
    }

    /// Decodes `sends` or `sendsc`. Sources have the type ud, as they have no type of their own.
    /// The type of the destination has no meaning.
    pub(super) fn split_send(&self) -> Result<Instruction> {
        use eu_gen9::EuInstructionSplitSendDestination as To;
        use eu_gen9::EuInstructionSplitSendSource0 as From;
        let mut instruction = self.controls()?;
        let send = eu_gen9::EuInstructionSplitSend::unpack_lossy(self.dwords);
        instruction.flag = Flag {
            register: send.flag_register_number.get() as u8,
            subregister: send.flag_subregister_number.get() as u8,
        };
        instruction.no_mask = send.mask_ctrl;
        let file = |file| match file {
            eu_gen9::SplitFile::GRF => gen8::RegFile::GRF,
            _ => gen8::RegFile::ARF,
        };
        let destination = match send.destination {
            To::Direct {
                destination_subregister_number_4_4: byte,
                destination_register_number: number,
            } => self.register(file(send.destination_register_file), number.get(), byte.get())?,
            To::Indirect {
                destination_address_immediate_8_4: low,
                destination_address_subregister_number: word,
            } => indirect(word.get(), low.get(), send.destination_address_immediate_9_9),
        };
        let ty = self.types.destination(send.destination_data_type).unwrap_or(DataType::Ud);
        instruction.destination = Some(Destination::new(destination, ty));
        let first = match send.source_0 {
            From::Direct {
                source_0_subregister_number_4_4: byte,
                source_0_register_number: number,
            } => self.register(gen8::RegFile::GRF, number.get(), byte.get())?,
            From::Indirect {
                source_0_address_immediate_8_4: low,
                source_0_address_subregister_number: word,
            } => indirect(word.get(), low.get(), send.source_0_address_immediate_9_9),
        };
        let number = send.source_1_register_number.get();
        let second = self.register(file(send.source_1_register_file), number, 0)?;
        let payload =
            |register| Operand::Register(Source::new(register, DataType::Ud, Region::new(8, 8, 1)));
        instruction.sources = [payload(first), payload(second), Operand::None];
        let message = self.descriptor(send.message);
        instruction.send = Some(Send {
            function: shared_function(send.shared_function_id_sfid),
            descriptor: match send.descriptor_from_register {
                true => Descriptor::Address(0),
                false => Descriptor::Immediate(message),
            },
            end_of_thread: send.message.eot,
        });
        instruction.extended = Some(if send.extended_descriptor_from_register {
            let register = [send.extended_function_control.get() as u32];
            let register = eu_gen9::ExtendedDescriptorRegister::unpack_lossy(&register);
            Descriptor::Address(register.address_subregister_number.get() as u8 * 4)
        } else {
            let [extended] = eu_gen9::ExtendedMessageDescriptor {
                extended_message_length: send.extended_message_length,
                extended_function_control: send.extended_function_control,
            }
            .pack();
            Descriptor::Immediate(extended)
        });
        Ok(instruction)
    }

    /// Structured branches with immediate distances; `brd` and `brc` may read them from a register.
    pub(super) fn branch(&self) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        let register = matches!(self.opcode, Opcode::Brd | Opcode::Brc);
        if self.opcode.op().format == Format::BranchTwo {
            if register && controls.src0_reg_file != gen8::RegFile::IMM {
                self.sources(&mut instruction, &controls, 1)?;
                return Ok(instruction);
            }
            let branch = gen8::EuInstructionBranchTwoSrc::unpack_lossy(self.dwords);
            instruction.branch =
                Some(Branch { jip: branch.jip.get() as i32, uip: Some(branch.uip.get() as i32) });
        } else {
            let branch = gen8::EuInstructionBranchOneSrc::unpack_lossy(self.dwords);
            if register && branch.src1_reg_file != gen8::RegFile::IMM {
                self.sources(&mut instruction, &controls, 1)?;
                return Ok(instruction);
            }
            instruction.branch = Some(Branch { jip: branch.jip.get() as i32, uip: None });
        }
        Ok(instruction)
    }

    /// `jmpi`, `call`, `calla`: the distance is the second source.
    pub(super) fn jump(&self) -> Result<Instruction> {
        let (mut instruction, controls) = self.start()?;
        if self.opcode.op().format == Format::Call {
            instruction.destination = Some(self.destination(&controls)?);
        }
        let branch = gen8::EuInstructionBranchOneSrc::unpack_lossy(self.dwords);
        if branch.src1_reg_file == gen8::RegFile::IMM {
            // The distance of `jmpi` is relative to the next instruction (2a jmpi).
            let next = if self.opcode == Opcode::Jmpi { self.length } else { 0 };
            instruction.branch =
                Some(Branch { jip: (branch.jip.get() as i32).wrapping_add(next), uip: None });
        } else {
            self.sources(&mut instruction, &controls, 2)?;
            instruction.sources = [instruction.sources[1], Operand::None, Operand::None];
        }
        Ok(instruction)
    }

    /// The first `count` (1 or 2) sources of the second half.
    pub(super) fn sources(
        &self,
        instruction: &mut Instruction,
        controls: &gen8::EuInstructionOperandControls,
        count: u8,
    ) -> Result<()> {
        let half = [self.dwords[2], self.dwords[3]];
        let registers = gen8::EuInstructionSourcesRegReg::unpack_lossy(&half);
        instruction.sources[0] = match controls.src0_type {
            gen8::EuInstructionOperandControlsSrc0Type::Register { src0_src_type } => {
                let sign = registers.source_0_address_immediate_9_9;
                let file = controls.src0_reg_file;
                Operand::Register(self.source(
                    registers.source_0.get(),
                    file,
                    src0_src_type,
                    sign,
                )?)
            }
            gen8::EuInstructionOperandControlsSrc0Type::Immediate { src0_src_imm_type }
                if count == 1 =>
            {
                let ty = self.immediate_type("Src0.SrcType", src0_src_imm_type)?;
                let bits = if ty.size() == 8 {
                    gen8::EuInstructionSourcesImm64::unpack_lossy(&half).source_0_immediate.get()
                } else {
                    gen8::EuInstructionSourcesImm32::unpack_lossy(&half).source_0_immediate.get()
                };
                Operand::Immediate(immediate(ty, bits))
            }
            _ => return Err(self.reserved("Src0.RegFile", controls.src0_reg_file.bits())),
        };
        if count == 2 {
            instruction.sources[1] = if registers.src1_reg_file == gen8::RegFile::IMM {
                let sources = gen8::EuInstructionSourcesRegImm::unpack_lossy(&half);
                let ty = self.immediate_type("Src1.SrcType", sources.src1_src_type)?;
                if ty.size() == 8 {
                    return Err(self.reserved("Src1.SrcType", sources.src1_src_type.bits()));
                }
                Operand::Immediate(immediate(ty, sources.source_1_immediate.get()))
            } else {
                let (file, ty) = (registers.src1_reg_file, registers.src1_src_type);
                let sign = registers.source_1_address_immediate_9_9;
                Operand::Register(self.source(registers.source_1.get(), file, ty, sign)?)
            };
        }
        Ok(())
    }

    pub(super) fn immediate_type(
        &self,
        field: &'static str,
        ty: gen8::SrcImmType,
    ) -> Result<DataType> {
        self.types.immediate(ty).ok_or_else(|| self.reserved(field, ty.bits()))
    }

    /// Decodes a register source from its 25 bits.
    pub(super) fn source(
        &self,
        bits: u64,
        file: gen8::RegFile,
        ty: gen8::SrcType,
        sign: bool,
    ) -> Result<Source> {
        let ty = self.types.source(ty).ok_or_else(|| self.reserved("SrcType", ty.bits()))?;
        let dwords = [bits as u32];
        if self.header.control.controls_a.access_mode == gen8::AccessMode::ALIGN16 {
            use gen8::EuInstructionOperandSrcRegAlign16Address::{Direct, Indirect};
            let source = gen8::EuInstructionOperandSrcRegAlign16::unpack_lossy(&dwords);
            let register = match source.address {
                Direct { source_subregister_number_4_4: byte, source_register_number: number } => {
                    self.register(file, number.get(), byte.get())?
                }
                Indirect {
                    source_address_immediate_8_4: low,
                    source_address_subregister_number: word,
                } => indirect(word.get(), low.get(), sign),
            };
            let vertical = enc::VERT_STRIDE.decode(source.source_vertical_stride);
            let vertical = vertical
                .ok_or_else(|| self.reserved("VertStride", source.source_vertical_stride.bits()))?;
            let selects = [
                source.channel_select_x,
                source.channel_select_y,
                source.channel_select_z,
                source.channel_select_w,
            ];
            return Ok(Source {
                region: Region { vertical, width: 4, horizontal: 1 },
                negate: source.source_modifier_negate,
                absolute: source.source_modifier_absolute,
                swizzle: selects.map(|select| select.bits() as u8),
                ..Source::new(register, ty, Region::SCALAR)
            });
        }
        use gen8::EuInstructionOperandSrcRegAlign1Address::{Direct, Indirect};
        let source = gen8::EuInstructionOperandSrcRegAlign1::unpack_lossy(&dwords);
        let register = match source.address {
            Direct { source_subregister_number: byte, source_register_number: number } => {
                self.register(file, number.get(), byte.get())?
            }
            Indirect {
                source_address_immediate_8_0: low,
                source_address_subregister_number: word,
            } => indirect(word.get(), low.get(), sign),
        };
        let (vertical, width) = (source.source_vertical_stride, source.source_width);
        let region = Region {
            vertical: enc::VERT_STRIDE
                .decode(vertical)
                .ok_or_else(|| self.reserved("VertStride", vertical.bits()))?,
            width: enc::WIDTH.decode(width).ok_or_else(|| self.reserved("Width", width.bits()))?,
            horizontal: enc::HORZ_STRIDE
                .decode(source.source_horizontal_stride)
                .unwrap_or_default(),
        };
        Ok(Source {
            negate: source.source_modifier_negate,
            absolute: source.source_modifier_absolute,
            ..Source::new(register, ty, region)
        })
    }

    pub(super) fn register(&self, file: gen8::RegFile, number: u64, byte: u64) -> Result<Register> {
        let byte = byte as u8;
        match file {
            gen8::RegFile::GRF => Ok(Register::Grf { number: number as u8, byte }),
            gen8::RegFile::ARF => {
                let arf = gen8::ArfRegisterNumber::unpack_lossy(&[number as u32]);
                let unknown = Arf::Reserved(arf.register.bits() as u8);
                let file = enc::ARF.decode(arf.register).unwrap_or(unknown);
                Ok(Register::Arf { file, number: arf.number.get() as u8, byte })
            }
            file if file.bits() == RegFileGen4::MRF.bits()
                && self.generation.has_message_registers() =>
            {
                let mrf = MrfNumberGen4::unpack_lossy(&[number as u32]);
                Ok(Register::Mrf { number: mrf.number.get() as u8, byte })
            }
            file => Err(self.reserved("RegFile", file.bits())),
        }
    }

    pub(super) fn destination(
        &self,
        controls: &gen8::EuInstructionOperandControls,
    ) -> Result<Destination> {
        let ty = controls.destination_data_type;
        let ty = self.types.destination(ty).ok_or_else(|| self.reserved("DstType", ty.bits()))?;
        let file = controls.destination_register_file;
        let sign = controls.destination_address_immediate_9_9;
        let dwords = [controls.destination_register_region.get() as u32];
        if self.header.control.controls_a.access_mode == gen8::AccessMode::ALIGN16 {
            use gen8::EuInstructionOperandDstAlign16Address::{Direct, Indirect};
            let destination = gen8::EuInstructionOperandDstAlign16::unpack_lossy(&dwords);
            let register = match destination.address {
                Direct {
                    destination_subregister_number: byte,
                    destination_register_number: number,
                } => self.register(file, number.get(), byte.get())?,
                Indirect {
                    destination_address_immediate_8_4: low,
                    destination_address_subregister_number: word,
                } => indirect(word.get(), low.get(), sign),
            };
            let write_mask = destination.destination_channel_enable.get() as u8;
            return Ok(Destination { write_mask, ..Destination::new(register, ty) });
        }
        use gen8::EuInstructionOperandDstAlign1Address::{Direct, Indirect};
        let destination = gen8::EuInstructionOperandDstAlign1::unpack_lossy(&dwords);
        let register = match destination.address {
            Direct {
                destination_subregister_number: byte,
                destination_register_number: number,
            } => self.register(file, number.get(), byte.get())?,
            Indirect {
                destination_address_immediate: low,
                destination_address_subregister_number: word,
            } => indirect(word.get(), low.get(), sign),
        };
        let stride =
            enc::HORZ_STRIDE.decode(destination.destination_horizontal_stride).unwrap_or_default();
        Ok(Destination { stride, ..Destination::new(register, ty) })
    }

    pub(super) fn three_source(&self) -> Result<Instruction> {
        let mut instruction = self.controls()?;
        let three = gen8::EuInstructionBasicThreeSrc::unpack_lossy(self.dwords);
        instruction.flag = Flag {
            register: three.flag_register_number.get() as u8,
            subregister: three.flag_subregister_number.get() as u8,
        };
        instruction.no_mask = three.mask_ctrl;
        let ty = |field, ty: gen8::ThreeSrcType| {
            enc::THREE_SOURCE_TYPE.decode(ty).ok_or_else(|| self.reserved(field, ty.bits()))
        };
        let source_type = ty("Source Data Type", three.source_data_type)?;
        let source_types = three_source_types(source_type, three.src1_type, three.src2_type);
        let destination_type = ty("Destination Data Type", three.destination_data_type)?;
        let register = Register::Grf {
            number: three.destination_register_number.get() as u8,
            byte: three.destination_subregister_number.get() as u8,
        };
        let write_mask = three.destination_channel_enable.get() as u8;
        instruction.destination =
            Some(Destination { write_mask, ..Destination::new(register, destination_type) });
        let sources = [
            (&three.source_0, three.source_0_modifier_absolute, three.source_0_modifier_negate),
            (&three.source_1, three.source_1_modifier_absolute, three.source_1_modifier_negate),
            (&three.source_2, three.source_2_modifier_absolute, three.source_2_modifier_negate),
        ];
        let halves = three_source_halves(self.generation, self.dwords);
        let operands = instruction.sources.iter_mut().zip(source_types).zip(halves);
        for (((operand, source_type), half), (source, absolute, negate)) in operands.zip(sources) {
            let register = Register::Grf {
                number: source.source_register_number.get() as u8,
                byte: source.source_subregister_number_4_2.get() as u8 + half,
            };
            let replicate = source.source_replicate_control == gen8::RepCtrl::REPLICATE;
            let region = if replicate { Region::SCALAR } else { Region::new(4, 4, 1) };
            let selects = [
                source.channel_select_x,
                source.channel_select_y,
                source.channel_select_z,
                source.channel_select_w,
            ];
            *operand = Operand::Register(Source {
                absolute,
                negate,
                replicate,
                swizzle: selects.map(|select| select.bits() as u8),
                ..Source::new(register, source_type, region)
            });
        }
        if self.opcode == Opcode::Madm {
            instruction.extract_macro_accumulators();
        }
        Ok(instruction)
    }
}

impl Instruction {
    /// Moves the numbers of extended accumulators out of the write mask and the swizzles. The
    /// macros use the bits of the write mask and of the x and y channel selects only for these
    /// numbers.
    pub(crate) fn extract_macro_accumulators(&mut self) {
        if let Some(destination) = &mut self.destination {
            destination.macro_accumulator = Some(MacroAccumulator(destination.write_mask));
            destination.write_mask = 15;
        }
        for operand in &mut self.sources {
            if let Operand::Register(source) = operand {
                let [x, y, ..] = source.swizzle;
                source.macro_accumulator = Some(MacroAccumulator(x + y * 4));
                source.swizzle = Source::IDENTITY;
            }
        }
    }
}

impl Instruction {
    /// Replaces the bytes of the registers, which the macros of Gen11 do not have, by the extended
    /// accumulators of destination and sources.
    fn replace_subregisters(&mut self, [to, first, second]: [u8; 3]) {
        let whole = |register: Register| match register {
            Register::Grf { number, .. } => Register::grf(number),
            Register::Arf { file, number, .. } => Register::Arf { file, number, byte: 0 },
            indirect => indirect,
        };
        if let Some(destination) = &mut self.destination {
            destination.macro_accumulator = Some(MacroAccumulator(to));
            destination.register = whole(destination.register);
        }
        for (operand, number) in self.sources.iter_mut().zip([first, second]) {
            if let Operand::Register(source) = operand {
                source.macro_accumulator = Some(MacroAccumulator(number));
                source.register = whole(source.register);
            }
        }
    }
}

/// True if bit 28 is BranchCtrl, not AccWrCtrl.
pub(crate) fn has_branch_ctrl(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::If | Opcode::Else | Opcode::Goto)
}

/// True for operations that only change the instruction pointer. Compilers leave stray bits in
/// their other controls.
pub(super) fn jumps(opcode: Opcode) -> bool {
    use Format::{BranchOne, BranchTwo, Call, JumpIndexed, Return};
    matches!(opcode.op().format, BranchOne | BranchTwo | JumpIndexed | Call | Return)
}

/// Types of three sources: all `ty`, unless source 1 or 2 is marked as half float. Broadwell's
/// table has no such marks, so `Hf` without marks means that all three are half floats.
pub(crate) fn three_source_types(ty: DataType, src1_half: bool, src2_half: bool) -> [DataType; 3] {
    let marked = src1_half || src2_half;
    match ty {
        DataType::F | DataType::Hf if marked => {
            let float = |half| if half { DataType::Hf } else { DataType::F };
            [ty, float(src1_half), float(src2_half)]
        }
        _ => [ty; 3],
    }
}

/// For each source of a three-source instruction, the bytes to add to its subregister number: 0 or
/// 2. Gen8 addresses dwords only.
pub(crate) fn three_source_halves(generation: Generation, dwords: &[u32; 4]) -> [u8; 3] {
    if generation <= Generation::Gen8 {
        return [0; 3];
    }
    let halves = eu_gen9::EuThreeSrcSubregisters::unpack_lossy(dwords);
    [
        halves.source_0_subregister_1_1.get() as u8,
        halves.source_1_subregister_1_1.get() as u8,
        halves.source_2_subregister_1_1.get() as u8,
    ]
}

/// The receiver of a message.
pub(super) fn shared_function(function: gen8::Sfid) -> SharedFunction {
    let reserved = SharedFunction::Reserved(function.bits() as u8);
    enc::SHARED_FUNCTION.decode(function).unwrap_or(reserved)
}

/// The address immediate is a two's complement number of ten bits. Its sign bit is in another
/// field.
pub(super) fn indirect(word: u64, low: u64, sign: bool) -> Register {
    let offset = low as i16 - if sign { 512 } else { 0 };
    Register::Indirect { address: word as u8, offset }
}

pub(super) fn immediate(ty: DataType, bits: u64) -> Immediate {
    // A word is repeated in both halves of the dword.
    let word = matches!(ty, DataType::W | DataType::Uw | DataType::Hf);
    Immediate { ty, bits: if word { u64::from(bits as u16) } else { bits } }
}

/// An instruction whose opcode the generation does not have, from its first dword.
pub(super) fn illegal(generation: Generation, first: u32) -> Instruction {
    let header = gen8::EuInstructionHeader::unpack_lossy(&[first]);
    let code = header.opcode.bits() as u8;
    let illegal_code = if header.undefined_operation { code + 128 } else { code };
    Instruction { generation, illegal_code, ..Instruction::new(Opcode::Illegal, 1) }
}
