//! Prints Mesa's text field by field from the 16 bytes, like Mesa's disassembler. Stray bits are
//! printed too.

use super::mesa_messages;
use super::text::{Line, general, invalid, restricted_float};
use crate::compaction;
use crate::decode::{
    DecodeError, Problem, Raw, length, operation, three_source_halves, three_source_types,
};
use crate::encoding as enc;
use crate::gen4;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen12::{EuSendGen12, SyncFunction};
use crate::gen12;
use crate::generation::Generation;
use crate::instruction::{Arf, DataType, Scoreboard, Vertical};
use crate::kernel::Code;
use crate::ops::{Format, Opcode, Traits};
use crate::syntax::{self, Syntax};
use alloc::collections::BTreeMap;
use core::fmt::{self, Write};

mod later;
mod older;

/// How jump targets are printed.
pub(super) enum Targets<'a> {
    /// As distances in bytes from the jump.
    Numbers,
    /// As labels.
    Labels {
        /// Label numbers by byte offset.
        labels: &'a BTreeMap<i64, usize>,
        /// Byte offset of the jump.
        position: i64,
    },
}

/// Prints a whole kernel.
pub(super) fn listing(
    generation: Generation,
    out: &mut impl Write,
    mut code: impl Code,
) -> fmt::Result {
    let labels = labels(generation, &mut code);
    for (position, native) in natives(generation, &mut code) {
        if let Some(number) = labels.get(&position) {
            write!(out, "\nLABEL{number}:\n")?;
        }
        match native {
            Ok((dwords, compacted)) => {
                let targets = Targets::Labels { labels: &labels, position };
                write(out, generation, &dwords, compacted, &targets)?;
                out.write_str("\n")?;
            }
            Err(error) => writeln!(out, "// {}: {}", error.raw, error.problem)?,
        }
    }
    // A jump may have the end of the kernel as its target.
    if let Some(number) = labels.get(&(code.length() as i64)) {
        write!(out, "\nLABEL{number}:\n")?;
    }
    Ok(())
}

/// A byte offset, and the 16-byte form with a flag for a compacted instruction, or the error.
type Item = (i64, Result<([u32; 4], bool), DecodeError>);

fn natives(generation: Generation, code: &mut impl Code) -> impl Iterator<Item = Item> {
    let mut position = 0;
    core::iter::from_fn(move || {
        let (found, count) = code.dwords(position);
        let first = *found[..count].first()?;
        let (at, needed) = (position, length(first));
        position += u64::from(needed);
        let fail = |problem| DecodeError { position: at, raw: Raw::new(&found[..count]), problem };
        let native = if count * 4 < needed as usize {
            Err(fail(Problem::Truncated { needed, available: count as u32 * 4 }))
        } else if needed == 8 {
            compaction::expand_dwords(generation, [found[0], found[1]])
                .map(|native| (native, true))
                .map_err(fail)
        } else {
            Ok((found, false))
        };
        Some((at as i64, native))
    })
}

/// Numbers the labels in the order in which jumps name them. For each jump, the UIP comes first.
fn labels(generation: Generation, code: &mut impl Code) -> BTreeMap<i64, usize> {
    let mut labels = BTreeMap::new();
    if generation.has_message_registers() {
        // Mesa prints the counts of jumps.
        return labels;
    }
    let mut name = |target: i64| {
        let number = labels.len();
        labels.entry(target).or_insert(number);
    };
    for (position, native) in natives(generation, code) {
        let Ok((dwords, _)) = native else { continue };
        let Some(opcode) = operation(generation, dwords[0]) else { continue };
        let branch = gen8::EuInstructionBranchTwoSrc::unpack_lossy(&dwords);
        if has_uip(opcode) {
            name(position + branch.uip.get());
        }
        if has_jip(opcode) {
            name(position + branch.jip.get());
        }
    }
    labels
}

/// Operations for which Mesa prints both distances.
fn has_uip(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::If | Opcode::Else | Opcode::Break | Opcode::Cont | Opcode::Halt)
}

/// Operations for which Mesa prints JIP.
fn has_jip(opcode: Opcode) -> bool {
    has_uip(opcode) || matches!(opcode, Opcode::Endif | Opcode::While)
}

/// Whether Mesa prints a destination, and the number of sources that it prints.
fn operands(opcode: Opcode) -> (bool, u8) {
    let op = opcode.op();
    match (opcode, op.format) {
        (Opcode::Smov | Opcode::Msave | Opcode::Mrest | Opcode::Push, _) => (false, 0),
        (Opcode::Pop, _) => (false, 2),
        (Opcode::Movi, _) | (_, Format::Math) => (true, 2),
        (_, Format::Basic | Format::Send) => (true, op.sources),
        (_, Format::Wait) => (true, 0),
        (_, Format::Sync) => (false, 1),
        _ => (false, 0),
    }
}

/// Prints the 16 bytes `dwords`.
pub(super) fn write<W: Write + ?Sized>(
    out: &mut W,
    generation: Generation,
    dwords: &[u32; 4],
    compacted: bool,
    targets: &Targets<'_>,
) -> fmt::Result {
    // Mesa has no `join`, and prints unknown operations as illegal.
    let opcode = operation(generation, dwords[0])
        .filter(|opcode| *opcode != Opcode::Join)
        .unwrap_or(Opcode::Illegal);
    let (native, older);
    let mut scoreboard = Scoreboard::default();
    let dwords = if generation >= Generation::Gen12 {
        (native, older) = (dwords, gen12::older(dwords, opcode));
        scoreboard = gen12::scoreboard(native);
        &older
    } else if generation.has_message_registers() {
        (native, older) = (dwords, gen4::newer(dwords));
        &older
    } else {
        native = dwords;
        dwords
    };
    Printer {
        line: Line::new(out),
        dwords,
        native,
        scoreboard,
        header: gen8::EuInstructionHeader::unpack_lossy(&[dwords[0]]),
        controls: gen8::EuInstructionOperandControls::unpack_lossy(&[dwords[1]]),
        generation,
        types: enc::Types::of(generation),
        opcode,
    }
    .instruction(compacted, targets)
}

struct Printer<'a, W: ?Sized> {
    line: Line<'a, W>,
    /// The instruction; one of Gen12 is moved to the positions of Gen11, and one of Gen4 to Gen5 to
    /// those of Gen8.
    dwords: &'a [u32; 4],
    /// The instruction as it is in memory.
    native: &'a [u32; 4],
    scoreboard: Scoreboard,
    header: gen8::EuInstructionHeader,
    controls: gen8::EuInstructionOperandControls,
    generation: Generation,
    types: &'static enc::Types,
    opcode: Opcode,
}

/// True if the region and type must be printed too; some registers are printed without them.
type More = Result<bool, fmt::Error>;

impl<W: Write + ?Sized> Printer<'_, W> {
    fn instruction(&mut self, compacted: bool, targets: &Targets<'_>) -> fmt::Result {
        let opcode = self.opcode;
        self.predicate()?;
        self.line.text(opcode.name())?;
        self.modifiers()?;
        let bare = matches!(opcode, Opcode::Nop | Opcode::Nenop);
        if !bare {
            self.line.text("(")?;
            let size = self.header.control.controls_a.exec_size;
            match enc::EXEC_SIZE.decode(size) {
                Some(channels) => self.line.unsigned(u64::from(channels))?,
                None => self.invalid("execution size", size.bits())?,
            }
            self.line.text(")")?;
        }
        if opcode == Opcode::Send && self.generation.has_message_registers() {
            self.message_register()?;
        }
        self.operands(targets)?;
        match opcode.op().format {
            Format::Send if self.generation >= Generation::Gen12 => self.message_gen12()?,
            Format::Send => self.message()?,
            Format::SplitSend => self.split_message()?,
            _ => {}
        }
        self.line.pad(64);
        if !bare {
            self.options(compacted)?;
        }
        self.line.text(";")
    }

    fn invalid(&mut self, what: &str, value: u64) -> fmt::Result {
        invalid(&mut self.line, what, value)
    }

    fn flag(&mut self) -> fmt::Result {
        self.line.text("f")?;
        self.line.unsigned(self.controls.flag_register_number.get())?;
        self.line.text(".")?;
        self.line.unsigned(self.controls.flag_subregister_number.get())
    }

    fn predicate(&mut self) -> fmt::Result {
        use gen8::EuInstructionControlsAPredicateControl::{Align1, Align16};
        let controls = self.header.control.controls_a;
        let (what, value, meaning) = match controls.predicate_control {
            Align1 { pred_ctrl } => {
                let meaning = enc::PREDICATE_ALIGN1.decode(pred_ctrl);
                ("predicate control align1", pred_ctrl.bits(), meaning)
            }
            Align16 { pred_ctrl_align16: pred_ctrl } => {
                let meaning = enc::PREDICATE_ALIGN16.decode(pred_ctrl);
                ("predicate control align16", pred_ctrl.bits(), meaning)
            }
        };
        if value == 0 {
            return Ok(());
        }
        self.line.text(if controls.pred_inv { "(-" } else { "(+" })?;
        self.flag()?;
        match meaning.flatten() {
            None => self.invalid(what, value)?,
            Some(control) => {
                if let Some(word) = syntax::PREDICATES.name(control, Syntax::Mesa) {
                    self.line.text(".")?;
                    self.line.text(word)?;
                }
            }
        }
        self.line.text(")")?;
        self.line.space();
        Ok(())
    }

    /// Prints everything between the mnemonic and the execution size.
    fn modifiers(&mut self) -> fmt::Result {
        let format = self.opcode.op().format;
        let controls = self.header.control.controls_b;
        if controls.saturate && !format.is_send() {
            self.line.text(".sat")?;
        }
        if controls.debug_ctrl {
            self.line.text(".breakpoint")?;
        }
        if format == Format::Math {
            self.line.space();
            let function = gen8::EuInstructionMath::unpack_lossy(self.dwords).function_control_fc;
            let name = enc::MATH.decode(function).and_then(|f| syntax::MATH.name(f, Syntax::Mesa));
            return match name {
                Some(name) => self.line.text(name),
                // A math function of earlier generations.
                None if function.bits() == 8 => self.line.text("sincos"),
                None => self.invalid("function", function.bits()),
            };
        }
        if format == Format::Sync {
            self.line.space();
            let function = self.header.control.cond_modifier.bits();
            return match enc::SYNC.decode(SyncFunction::from_bits(function)) {
                Some(function) => self.line.text(function.name()),
                None => self.invalid("function", function),
            };
        }
        let condition = self.header.control.cond_modifier;
        if format.is_send() || condition == gen8::CondModifier::NONE {
            return Ok(());
        }
        match enc::CONDITION.decode(condition) {
            Some(meaning) => {
                self.line.text(".")?;
                let name =
                    meaning.and_then(|meaning| syntax::CONDITIONS.name(meaning, Syntax::Mesa));
                self.line.text(name.unwrap_or_default())?;
            }
            // A condition of earlier generations, reserved since Sandy Bridge.
            None if condition.bits() == 7 => self.line.text(".r")?,
            None => self.invalid("conditional modifier", condition.bits())?,
        }
        let no_flag =
            matches!(self.opcode, Opcode::Sel | Opcode::Csel | Opcode::If | Opcode::While);
        if !no_flag || self.generation.has_message_registers() {
            self.line.text(".")?;
            self.flag()?;
        }
        Ok(())
    }

    fn operands(&mut self, targets: &Targets<'_>) -> fmt::Result {
        let opcode = self.opcode;
        if self.generation.has_message_registers() && self.exit_code()? {
            return Ok(());
        }
        if has_jip(opcode) {
            let branch = gen8::EuInstructionBranchTwoSrc::unpack_lossy(self.dwords);
            self.line.pad(16);
            self.target("JIP: ", branch.jip.get(), targets)?;
            if has_uip(opcode) {
                self.line.pad(38);
                self.target("UIP: ", branch.uip.get(), targets)?;
            }
            return Ok(());
        }
        if opcode == Opcode::Jmpi {
            self.line.pad(16);
            // The distance of Gen12 is source 0; Mesa prints source 1.
            return match self.generation {
                Generation::Gen12 => self.source_0(),
                _ => self.source_1(),
            };
        }
        if opcode.op().format == Format::ThreeSource {
            return match self.generation {
                Generation::Gen11 | Generation::Gen12 => self.three_sources_align1(),
                _ => self.three_sources(),
            };
        }
        if opcode.op().format == Format::SplitSend {
            return self.split_operands();
        }
        if opcode.op().format == Format::Send && self.generation >= Generation::Gen12 {
            return self.send_operands_gen12();
        }
        let (destination, sources) = operands(opcode);
        if destination {
            self.line.pad(16);
            self.destination()?;
        }
        if sources > 0 {
            self.line.pad(32);
            self.source_0()?;
        }
        if sources > 1 {
            self.line.pad(48);
            self.source_1()?;
        }
        Ok(())
    }

    fn target(&mut self, name: &str, distance: i64, targets: &Targets<'_>) -> fmt::Result {
        self.line.text(name)?;
        match targets {
            Targets::Numbers => {
                self.line.space();
                self.line.signed(distance)
            }
            Targets::Labels { labels, position } => match labels.get(&(position + distance)) {
                Some(number) => {
                    self.line.text(" LABEL")?;
                    self.line.unsigned(*number as u64)
                }
                None => Ok(()),
            },
        }
    }

    /// Prints a register; `number` is the whole eight-bit field.
    fn register(&mut self, file: gen8::RegFile, number: u64) -> More {
        let (prefix, number) = match file {
            gen8::RegFile::ARF => {
                let register = gen8::ArfRegisterNumber::unpack_lossy(&[number as u32]);
                let arf = enc::ARF.decode(register.register);
                let name = arf.and_then(|arf| syntax::ARFS.name(arf, Syntax::Mesa));
                self.line.text(name.unwrap_or("ARF"))?;
                match arf {
                    Some(Arf::Null) => {}
                    Some(Arf::InstructionPointer) => return Ok(false),
                    Some(Arf::ThreadDependency) => {
                        self.line.text("0")?;
                        return Ok(false);
                    }
                    _ if name.is_some() => self.line.unsigned(register.number.get())?,
                    _ => self.line.unsigned(number)?,
                }
                return Ok(true);
            }
            gen8::RegFile::GRF => ("g", number),
            gen8::RegFile::IMM => ("imm", number),
            // Message registers of earlier generations; the highest bit is not part of the number.
            _ => ("m", number % 128),
        };
        self.line.text(prefix)?;
        self.line.unsigned(number)?;
        Ok(true)
    }

    fn subregister(&mut self, byte: u64, ty: Option<DataType>) -> fmt::Result {
        if byte == 0 {
            return Ok(());
        }
        self.line.text(".")?;
        self.line.unsigned(byte / size(ty))
    }

    /// Prints a subregister of a three-source instruction, in elements.
    fn element(&mut self, byte: u64, ty: Option<DataType>, always: bool) -> fmt::Result {
        let element = byte / size(ty);
        if element == 0 && !always {
            return Ok(());
        }
        self.line.text(".")?;
        self.line.unsigned(element)
    }

    fn ty(&mut self, ty: Option<DataType>) -> fmt::Result {
        // The assembler knows Gen8 only, and so the type of Gen11 is not in its table.
        let name = match ty {
            Some(DataType::Nf) => Some("NF"),
            ty => ty.and_then(|ty| syntax::TYPES.name(ty, Syntax::Mesa)),
        };
        self.line.text(name.unwrap_or("INVALID"))
    }

    fn stride(&mut self, stride: gen8::HorzStride) -> fmt::Result {
        self.line.unsigned(u64::from(enc::HORZ_STRIDE.decode(stride).unwrap_or_default()))
    }

    fn mask(&mut self, mask: u64) -> fmt::Result {
        if mask == 15 {
            return Ok(());
        }
        self.line.text(".")?;
        for (channel, name) in CHANNELS.iter().enumerate() {
            if mask >> channel & 1 == 1 {
                self.line.text(name)?;
            }
        }
        Ok(())
    }

    fn destination(&mut self) -> fmt::Result {
        let controls = self.controls;
        let ty = self.types.destination(controls.destination_data_type);
        let file = controls.destination_register_file;
        let region = [controls.destination_register_region.get() as u32];
        if self.align16() {
            use gen8::EuInstructionOperandDstAlign16Address::{Direct, Indirect};
            let destination = gen8::EuInstructionOperandDstAlign16::unpack_lossy(&region);
            return match destination.address {
                Direct {
                    destination_subregister_number: byte,
                    destination_register_number: number,
                } => {
                    if !self.register(file, number.get())? {
                        return Ok(());
                    }
                    self.subregister(byte.get(), ty)?;
                    self.line.text("<1>")?;
                    self.mask(destination.destination_channel_enable.get())?;
                    self.ty(ty)
                }
                Indirect { .. } => self.line.text(INDIRECT_ALIGN16),
            };
        }
        use gen8::EuInstructionOperandDstAlign1Address::{Direct, Indirect};
        let destination = gen8::EuInstructionOperandDstAlign1::unpack_lossy(&region);
        match destination.address {
            Direct {
                destination_subregister_number: byte,
                destination_register_number: number,
            } => {
                if !self.register(file, number.get())? {
                    return Ok(());
                }
                self.subregister(byte.get(), ty)?;
            }
            Indirect {
                destination_address_immediate: low,
                destination_address_subregister_number: word,
            } => {
                // Mesa divides the word number of a0 by the size of the destination type, as if it
                // were a byte offset.
                let sign = controls.destination_address_immediate_9_9;
                self.indirect(word.get(), word.get() / size(ty), low.get(), sign)?;
            }
        }
        self.line.text("<")?;
        self.stride(destination.destination_horizontal_stride)?;
        self.line.text(">")?;
        self.ty(ty)
    }

    /// Prints an indirect register: `g[a0.2 32]`. Word 0 of a0 is left out; for any other `word`,
    /// the number `printed` is printed.
    fn indirect(&mut self, word: u64, printed: u64, low: u64, sign: bool) -> fmt::Result {
        self.line.text("g[a0")?;
        if word != 0 {
            self.line.text(".")?;
            self.line.unsigned(printed)?;
        }
        // Mesa prints the ten bits of the offset as an unsigned number.
        let offset = low + if sign { 512 } else { 0 };
        if offset != 0 {
            self.line.text(" ")?;
            self.line.unsigned(offset)?;
        }
        self.line.text("]")
    }

    fn align16(&self) -> bool {
        self.header.control.controls_a.access_mode == gen8::AccessMode::ALIGN16
    }

    fn source_0(&mut self) -> fmt::Result {
        let sources =
            gen8::EuInstructionSourcesRegReg::unpack_lossy(&[self.dwords[2], self.dwords[3]]);
        match self.controls.src0_type {
            gen8::EuInstructionOperandControlsSrc0Type::Immediate { src0_src_imm_type } => {
                self.immediate(src0_src_imm_type)
            }
            gen8::EuInstructionOperandControlsSrc0Type::Register { src0_src_type } => {
                let sign = sources.source_0_address_immediate_9_9;
                self.source(
                    sources.source_0.get(),
                    self.controls.src0_reg_file,
                    src0_src_type,
                    sign,
                )
            }
        }
    }

    fn source_1(&mut self) -> fmt::Result {
        let half = [self.dwords[2], self.dwords[3]];
        let sources = gen8::EuInstructionSourcesRegReg::unpack_lossy(&half);
        if sources.src1_reg_file == gen8::RegFile::IMM {
            let sources = gen8::EuInstructionSourcesRegImm::unpack_lossy(&half);
            return self.immediate(sources.src1_src_type);
        }
        let sign = sources.source_1_address_immediate_9_9;
        self.source(sources.source_1.get(), sources.src1_reg_file, sources.src1_src_type, sign)
    }

    fn negation(&mut self, negate: bool, absolute: bool) -> fmt::Result {
        if negate {
            let logic = self.opcode.op().traits.contains(Traits::LOGIC)
                && !self.generation.has_message_registers();
            self.line.text(if logic { "~" } else { "-" })?;
        }
        self.line.text(if absolute { "(abs)" } else { "" })
    }

    fn vertical(&mut self, stride: gen8::VertStride) -> fmt::Result {
        match enc::VERT_STRIDE.decode(stride) {
            Some(Vertical::Stride(stride)) => self.line.unsigned(u64::from(stride)),
            Some(Vertical::Addresses) => self.line.text("VxH"),
            None => self.invalid("vert stride", stride.bits()),
        }
    }

    /// Prints a register source from its 25 bits.
    fn source(
        &mut self,
        bits: u64,
        file: gen8::RegFile,
        ty: gen8::SrcType,
        sign: bool,
    ) -> fmt::Result {
        let ty = self.types.source(ty);
        if self.align16() {
            use gen8::EuInstructionOperandSrcRegAlign16Address::{Direct, Indirect};
            let source = gen8::EuInstructionOperandSrcRegAlign16::unpack_lossy(&[bits as u32]);
            return match source.address {
                Direct { source_subregister_number_4_4: byte, source_register_number: number } => {
                    self.negation(source.source_modifier_negate, source.source_modifier_absolute)?;
                    if !self.register(file, number.get())? {
                        return Ok(());
                    }
                    self.subregister(byte.get(), ty)?;
                    self.line.text("<")?;
                    self.vertical(source.source_vertical_stride)?;
                    self.line.text(">")?;
                    self.swizzle([
                        source.channel_select_x,
                        source.channel_select_y,
                        source.channel_select_z,
                        source.channel_select_w,
                    ])?;
                    self.ty(ty)
                }
                Indirect { .. } => self.line.text(INDIRECT_ALIGN16),
            };
        }
        use gen8::EuInstructionOperandSrcRegAlign1Address::{Direct, Indirect};
        let source = gen8::EuInstructionOperandSrcRegAlign1::unpack_lossy(&[bits as u32]);
        self.negation(source.source_modifier_negate, source.source_modifier_absolute)?;
        match source.address {
            Direct { source_subregister_number: byte, source_register_number: number } => {
                if !self.register(file, number.get())? {
                    return Ok(());
                }
                self.subregister(byte.get(), ty)?;
            }
            Indirect {
                source_address_immediate_8_0: low,
                source_address_subregister_number: word,
            } => {
                self.indirect(word.get(), word.get(), low.get(), sign)?;
            }
        }
        self.line.text("<")?;
        self.vertical(source.source_vertical_stride)?;
        self.line.text(",")?;
        match enc::WIDTH.decode(source.source_width) {
            Some(width) => self.line.unsigned(u64::from(width))?,
            None => self.invalid("width", source.source_width.bits())?,
        }
        self.line.text(",")?;
        self.stride(source.source_horizontal_stride)?;
        self.line.text(">")?;
        self.ty(ty)
    }

    fn swizzle(&mut self, selects: [gen8::ChanSel; 4]) -> fmt::Result {
        let selects = selects.map(|select| select.bits() as usize);
        if selects == [0, 1, 2, 3] {
            return Ok(());
        }
        self.line.text(".")?;
        let all = selects.iter().all(|select| *select == selects[0]);
        for select in &selects[..if all { 1 } else { 4 }] {
            self.line.text(CHANNELS.get(*select).copied().unwrap_or("?"))?;
        }
        Ok(())
    }

    fn three_sources(&mut self) -> fmt::Result {
        let three = gen8::EuInstructionBasicThreeSrc::unpack_lossy(self.dwords);
        self.line.pad(16);
        // In Align1 Mesa prints no operands: that encoding does not exist before Gen10.
        if self.align16() {
            let ty = enc::THREE_SOURCE_TYPE.decode(three.destination_data_type);
            self.register(gen8::RegFile::GRF, three.destination_register_number.get())?;
            self.element(three.destination_subregister_number.get(), ty, false)?;
            self.line.text("<1>")?;
            self.mask(three.destination_channel_enable.get())?;
            self.ty(ty)?;
        }
        let sources = [
            (&three.source_0, three.source_0_modifier_negate, three.source_0_modifier_absolute),
            (&three.source_1, three.source_1_modifier_negate, three.source_1_modifier_absolute),
            (&three.source_2, three.source_2_modifier_negate, three.source_2_modifier_absolute),
        ];
        // For a mix of half and single floats Mesa prints the type of source 0 for all three. Here
        // each source has its own type.
        let types = match enc::THREE_SOURCE_TYPE.decode(three.source_data_type) {
            Some(ty) => three_source_types(ty, three.src1_type, three.src2_type).map(Some),
            None => [None; 3],
        };
        let halves = three_source_halves(self.generation, self.dwords);
        for ((((source, negate, absolute), ty), half), column) in
            sources.into_iter().zip(types).zip(halves).zip([32, 48, 64])
        {
            self.line.pad(column);
            if !self.align16() {
                continue;
            }
            self.negation(negate, absolute)?;
            self.register(gen8::RegFile::GRF, source.source_register_number.get())?;
            let scalar = source.source_replicate_control == gen8::RepCtrl::REPLICATE;
            let byte = source.source_subregister_number_4_2.get() + u64::from(half);
            self.element(byte, ty, scalar)?;
            self.line.text(if scalar { "<0,1,0>" } else { "<4,4,1>" })?;
            if !scalar {
                self.swizzle([
                    source.channel_select_x,
                    source.channel_select_y,
                    source.channel_select_z,
                    source.channel_select_w,
                ])?;
            }
            self.ty(ty)?;
        }
        Ok(())
    }

    fn immediate(&mut self, ty: gen8::SrcImmType) -> fmt::Result {
        let half = [self.dwords[2], self.dwords[3]];
        let dword = gen8::EuInstructionSourcesImm32::unpack_lossy(&half).source_0_immediate.get();
        let qword = gen8::EuInstructionSourcesImm64::unpack_lossy(&half).source_0_immediate.get();
        let Some(ty) = self.types.immediate(ty) else { return Ok(()) };
        let (bits, width) = match ty {
            DataType::D => {
                self.line.signed(i64::from(dword as u32 as i32))?;
                return self.ty(Some(ty));
            }
            DataType::W => {
                self.line.signed(i64::from(dword as u16 as i16))?;
                return self.ty(Some(ty));
            }
            DataType::Hf => return self.line.text("Half Float IMM"),
            DataType::Uq | DataType::Q | DataType::Df => (qword, 16),
            DataType::Uw => (u64::from(dword as u16), 4),
            DataType::F | DataType::Vf => (dword, 1),
            _ => (dword, 8),
        };
        self.line.text("0x")?;
        self.line.hex(bits, width)?;
        self.ty(Some(ty))?;
        match ty {
            DataType::F => {
                self.comment(general(f64::from(f32::from_bits(bits as u32))).as_str(), "F")?;
            }
            DataType::Df => self.comment(general(f64::from_bits(bits)).as_str(), "DF")?,
            DataType::Vf => {
                self.line.pad(48);
                self.line.text("/*")?;
                for (index, byte) in (bits as u32).to_le_bytes().into_iter().enumerate() {
                    self.line.text(if index == 0 { " [" } else { ", " })?;
                    self.line.text(general(restricted_float(byte)).as_str())?;
                    self.line.text("F")?;
                }
                self.line.text("]VF */")?;
            }
            _ => {}
        }
        Ok(())
    }

    fn comment(&mut self, number: &str, ty: &str) -> fmt::Result {
        self.line.pad(48);
        self.line.text("/* ")?;
        self.line.text(number)?;
        self.line.text(ty)?;
        self.line.text(" */")
    }

    /// Prints the descriptor, and the message in a line of its own.
    fn message(&mut self) -> fmt::Result {
        let send = gen8::EuInstructionSend::unpack_lossy(self.dwords);
        let immediate = send.src1_reg_file == gen8::RegFile::IMM;
        self.line.pad(48);
        if !immediate {
            self.source_1()?;
            self.line.pad(64);
        }
        self.line.text("0x")?;
        self.line.hex(u64::from(self.native[3]), 8)?;
        self.line.end()?;
        self.line.pad(28);
        if self.generation.has_message_registers() {
            return self.message_gen4(immediate.then_some(self.dwords[3]));
        }
        mesa_messages::write(
            &mut self.line,
            self.generation,
            send.shared_function_id_sfid,
            immediate.then_some(self.dwords[3]),
            None,
        )
    }

    fn options(&mut self, compacted: bool) -> fmt::Result {
        let gen8::EuInstructionControls { controls_a, controls_b, .. } = self.header.control;
        self.line.text(if self.align16() { "{ align16" } else { "{ align1" })?;
        let flag = |line: &mut Line<'_, W>, on: bool, word: &str| {
            if on { line.text(word) } else { Ok(()) }
        };
        let older = self.generation.has_message_registers();
        let no_mask = if older { " nomask" } else { " WE_all" };
        flag(&mut self.line, self.controls.mask_ctrl, no_mask)?;
        let (no_clear, no_check) = enc::DEPENDENCY.decode(controls_a.dep_ctrl).unwrap_or_default();
        match (no_clear, no_check) {
            (true, true) => self.line.text(" NoDDClr,NoDDChk")?,
            _ => {
                flag(&mut self.line, no_clear, " NoDDClr")?;
                flag(&mut self.line, no_check, " NoDDChk")?;
            }
        }
        let (quarter, nibble) = (controls_a.qtr_ctrl.get(), controls_a.nib_ctrl.get());
        let (number, unit) = match enc::EXEC_SIZE.decode(controls_a.exec_size) {
            _ if older => (0, ""),
            Some(size) if size < 8 => (quarter * 2 + nibble + 1, "N"),
            _ if nibble != 0 => (quarter * 2 + nibble + 1, "N"),
            Some(8) => (quarter + 1, "Q"),
            Some(16) => (quarter / 2 + 1, "H"),
            _ => (0, ""),
        };
        if number > 0 {
            self.line.text(" ")?;
            self.line.unsigned(number)?;
            self.line.text(unit)?;
        }
        if older {
            self.compression()?;
        }
        self.scoreboard()?;
        let flag = |line: &mut Line<'_, W>, on: bool, word: &str| {
            if on { line.text(word) } else { Ok(()) }
        };
        flag(&mut self.line, compacted, " compacted")?;
        match controls_a.thread_control {
            gen8::ThreadCtrl::NORMAL => {}
            gen8::ThreadCtrl::ATOMIC => self.line.text(" atomic")?,
            gen8::ThreadCtrl::SWITCH => self.line.text(" switch")?,
            control => self.invalid("thread control", control.bits())?,
        }
        let branch = matches!(self.opcode, Opcode::If | Opcode::Else);
        flag(
            &mut self.line,
            controls_b.acc_wr_ctrl && !older,
            if branch { " BranchCtrl" } else { " AccWrEnable" },
        )?;
        if self.opcode.op().format.is_send() {
            // Both formats have the bit in the same field.
            let end = match self.generation {
                Generation::Gen12 => EuSendGen12::unpack_lossy(self.native).eot,
                _ => gen8::EuInstructionSend::unpack_lossy(self.dwords).message.eot,
            };
            flag(&mut self.line, end, " EOT")?;
        }
        self.line.text(" }")
    }
}

const CHANNELS: [&str; 4] = ["x", "y", "z", "w"];
const INDIRECT_ALIGN16: &str = "Indirect align16 address mode not supported";

/// Size of an element in bytes; 1 for a type that does not exist.
fn size(ty: Option<DataType>) -> u64 {
    ty.map_or(1, |ty| u64::from(ty.size()))
}
