//! Prints IGA's text from the typed instruction.

use super::text::{Line, general, half_float, scientific};
use crate::decode::{decode_on, length, operation};
use crate::instruction::*;
use crate::kernel::{Code, Instructions, Located};
use crate::message;
use crate::ops::{Format, Opcode, Traits};
use crate::syntax::{self, Syntax};
use core::fmt::{self, Write};

/// Prints a whole kernel. A label is printed where a basic block begins: at the start, at jump
/// targets, and after an instruction that ends a block.
pub(super) fn listing(
    generation: Generation,
    out: &mut impl Write,
    mut code: impl Code,
) -> fmt::Result {
    let mut targets = alloc::vec![0];
    let mut position = 0;
    while let (found @ [first, ..], count @ 1..) = code.dwords(position) {
        let at = position;
        position += u64::from(length(first));
        // Other operations have no targets, so they are not decoded here.
        if operation(generation, first).is_some_and(ends_blocks)
            && let Ok(instruction) = decode_on(generation, &found[..count])
        {
            let line = Located { position: at, instruction };
            targets.extend(line.targets());
            if line.instruction.send.is_none() || line.instruction.ends_thread() {
                targets.push(at + u64::from(line.instruction.length()));
            }
            // Duplicates are removed when the list is full. So they need little memory.
            if targets.len() == targets.capacity() {
                targets.sort_unstable();
                targets.dedup();
                targets.reserve(targets.len());
            }
        }
    }
    targets.sort_unstable();
    targets.dedup();
    let mut targets = targets.into_iter().peekable();
    for line in Instructions::of(code).on(generation) {
        let position =
            line.as_ref().map_or_else(|error| error.position, |located| located.position);
        while let Some(target) = targets.next_if(|target| *target <= position) {
            // The label of a target inside an instruction is printed before the next instruction.
            writeln!(out, "L{target}:")?;
        }
        match line {
            Ok(Located { position, instruction }) => {
                write(out, &instruction, Some(position))?;
                out.write_str("\n")?;
            }
            Err(error) => writeln!(out, "        // {}: {}", error.raw, error.problem)?,
        }
    }
    for target in targets {
        writeln!(out, "L{target}:")?;
    }
    Ok(())
}

/// True for jumps, and for messages, which may end the thread.
fn ends_blocks(opcode: Opcode) -> bool {
    use Format::{BranchOne, BranchTwo, Call, JumpIndexed, Return};
    let format = opcode.op().format;
    format.is_send() || matches!(format, BranchOne | BranchTwo | Call | JumpIndexed | Return)
}

/// Prints one instruction; jump targets are labels if its position is known.
pub(super) fn write<W: Write + ?Sized>(
    out: &mut W,
    i: &Instruction,
    position: Option<u64>,
) -> fmt::Result {
    Printer { line: Line::new(out), i }.instruction(position)
}

struct Printer<'a, W: ?Sized> {
    line: Line<'a, W>,
    i: &'a Instruction,
}

/// Column of the mnemonic.
const NAME: usize = 8;

impl<W: Write + ?Sized> Printer<'_, W> {
    fn instruction(&mut self, position: Option<u64>) -> fmt::Result {
        let i = self.i;
        self.predicate()?;
        self.line.reach(NAME);
        let start = self.line.column();
        self.line.text(i.opcode.name())?;
        let function = i.math.map(MathFunction::name).or(i.sync.map(SyncFunction::name));
        let receiver = i.send.filter(|_| i.generation >= Generation::Gen12);
        if let Some(name) = function.or(receiver.map(|send| receiver_name(send.function))) {
            self.line.text(".")?;
            self.line.text(name)?;
        }
        if i.branch_ctrl {
            self.line.text(".b")?;
        }
        use Format::{Bare, JumpIndexed, Sync, Wait};
        if !matches!(i.opcode.op().format, Bare | JumpIndexed | Wait | Sync) {
            self.line.text(" (")?;
            self.line.unsigned(u64::from(printed_size(i)))?;
            self.line.text("|M")?;
            self.line.unsigned(u64::from(i.channel_offset))?;
            self.line.text(")")?;
        }
        self.condition(start + 13)?;
        self.line.reach(start + 24);
        self.operands(position)?;
        self.options()?;
        if let Some(send) = &i.send {
            self.line.pad(0);
            self.line.text("// ")?;
            message::comment(&mut self.line, i, send)?;
        }
        if i.illegal_code != 0 {
            self.line.pad(0);
            self.line.text("// operation 0x")?;
            self.line.hex(u64::from(i.illegal_code), 2)?;
            self.line.text(" does not exist")?;
        }
        Ok(())
    }

    /// Prints NoMask and the predicate: `(W&~f0.1.any8h)`.
    fn predicate(&mut self) -> fmt::Result {
        let i = self.i;
        if !i.no_mask && i.predicate.is_none() {
            return Ok(());
        }
        self.line.text(match (i.no_mask, i.predicate) {
            (false, _) => "(",
            (true, None) => "(W",
            (true, Some(_)) => "(W&",
        })?;
        if let Some(predicate) = i.predicate {
            self.line.text(if predicate.inverse { "~" } else { "" })?;
            self.flag()?;
            if let Some(word) = syntax::PREDICATES.name(predicate.control, Syntax::Iga) {
                self.line.text(".")?;
                self.line.text(word)?;
            }
        }
        self.line.text(")")?;
        self.line.space();
        Ok(())
    }

    fn flag(&mut self) -> fmt::Result {
        self.line.text("f")?;
        self.line.unsigned(u64::from(self.i.flag.register))?;
        self.line.text(".")?;
        self.line.unsigned(u64::from(self.i.flag.subregister))
    }

    /// Prints the condition and its flag: `(ge)f0.1`. The macro steps of `math` report an early out
    /// in the flag, `(eo)`.
    fn condition(&mut self, column: usize) -> fmt::Result {
        let name = match self.i.condition {
            _ if self.i.math.is_some_and(MathFunction::is_macro) => "eo",
            None => return Ok(()),
            Some(condition) => syntax::CONDITIONS.name(condition, Syntax::Iga).unwrap_or_default(),
        };
        self.line.pad(column);
        self.line.text("(")?;
        self.line.text(name)?;
        self.line.text(")")?;
        self.flag()
    }

    /// White space before operand `index`; each operand has its column.
    fn align(&mut self, column: &mut usize, index: usize) {
        self.line.reach(*column);
        self.line.space();
        *column = self.line.column() + if index == 0 { 14 } else { 18 };
    }

    fn operands(&mut self, position: Option<u64>) -> fmt::Result {
        let i = self.i;
        let (mut column, mut count) = (0, 0);
        let mut align = |printer: &mut Self| {
            printer.align(&mut column, count);
            count += 1;
        };
        if let Some(destination) = &i.destination {
            align(self);
            self.line.text(if i.saturate { "(sat)" } else { "" })?;
            self.destination(destination)?;
        }
        for (index, operand) in i.operands().enumerate() {
            align(self);
            match operand {
                Operand::None => {}
                Operand::Immediate(immediate) if i.sync.is_some() => self.tokens(immediate.bits)?,
                Operand::Register(source) if i.sync.is_some() => {
                    self.register(&source.register, source.ty.size(), None)?;
                }
                Operand::Immediate(immediate) => self.immediate(immediate)?,
                Operand::Register(source) => self.source(source, index)?,
            }
        }
        if let Some(send) = &i.send {
            align(self);
            // From Gen12 on, the receiver is in the name and the end of thread in the options.
            let function = match i.generation {
                Generation::Gen12 => 0,
                _ => {
                    function_number(i.generation, send.function)
                        + if send.end_of_thread { 32 } else { 0 }
                }
            };
            match i.extended {
                Some(Descriptor::Address(byte)) => {
                    self.line.text("a0.")?;
                    self.line.unsigned(u64::from(byte / 4))?;
                }
                extended => {
                    let extended = match extended {
                        Some(Descriptor::Immediate(extended)) => extended,
                        _ => 0,
                    };
                    self.line.text("0x")?;
                    self.line.hex_capital(u64::from(extended | u32::from(function)), 1)?;
                }
            }
            align(self);
            match send.descriptor {
                Descriptor::Immediate(descriptor) => {
                    self.line.text("0x")?;
                    self.line.hex_capital(u64::from(descriptor), 8)?;
                }
                Descriptor::Address(byte) => {
                    self.line.text("a0.")?;
                    self.line.unsigned(u64::from(byte / 4))?;
                }
            }
        }
        if let Some(branch) = &i.branch {
            for distance in [Some(branch.jip), branch.uip].into_iter().flatten() {
                align(self);
                let position = position.filter(|_| i.opcode != Opcode::Calla);
                match position.and_then(|position| position.checked_add_signed(i64::from(distance)))
                {
                    Some(target) => {
                        self.line.text("L")?;
                        self.line.unsigned(target)?;
                    }
                    None => self.line.signed(i64::from(distance))?,
                }
            }
        }
        self.line.reach(column);
        Ok(())
    }

    fn options(&mut self) -> fmt::Result {
        let i = self.i;
        let no_dependency = i.send.is_some() && i.generation >= Generation::Gen9;
        let serialize = i.send.is_some() && i.generation >= Generation::Gen12;
        let compression = match i.gen4.compression {
            Compression::None => "",
            Compression::Compr => "Compr",
            Compression::Compr4 => "Compr4",
        };
        let options = [
            (i.acc_write && !no_dependency, "AccWrEn"),
            (i.thread_control == ThreadControl::Atomic, "Atomic"),
            (i.breakpoint, "Breakpoint"),
            (i.compacted, "Compacted"),
            (i.gen4.compression != Compression::None, compression),
            (i.ends_thread(), "EOT"),
            (i.no_dd_check, "NoDDChk"),
            (i.no_dd_clear, "NoDDClr"),
            (i.thread_control == ThreadControl::NoPreempt, "NoPreempt"),
            (i.acc_write && no_dependency && !serialize, "NoSrcDepSet"),
            (i.acc_write && serialize, "Serialize"),
            (i.thread_control == ThreadControl::Switch, "Switch"),
        ];
        let mut before = "{";
        for (_, name) in options.into_iter().filter(|(on, _)| *on) {
            self.option(&mut before)?;
            self.line.text(name)?;
        }
        if let Some(distance) = i.scoreboard.distance() {
            self.option(&mut before)?;
            self.line.text("@")?;
            self.line.unsigned(u64::from(distance))?;
        }
        if let Some((token, number)) = i.scoreboard.token(i.opcode) {
            self.option(&mut before)?;
            self.line.text("$")?;
            self.line.unsigned(u64::from(number))?;
            self.line.text(token_suffix(token))?;
        }
        if before == "," { self.line.text("}") } else { Ok(()) }
    }

    /// Prints what is before an option, and sets what is before the next one.
    fn option(&mut self, before: &mut &str) -> fmt::Result {
        if *before == "{" {
            self.line.space();
        }
        self.line.text(before)?;
        *before = ",";
        Ok(())
    }

    /// Prints the tokens of a mask: `($0,$2)`.
    fn tokens(&mut self, mask: u64) -> fmt::Result {
        let mut before = "($";
        for token in (0..32).filter(|token| mask >> token & 1 == 1) {
            self.line.text(before)?;
            self.line.unsigned(token)?;
            before = ",$";
        }
        self.line.text(if mask == 0 { "()" } else { ")" })
    }

    /// Prints the register, with the subregister in elements of `size` bytes. A `size` of zero
    /// leaves the subregister out.
    fn register(
        &mut self,
        register: &Register,
        size: u8,
        accumulator: Option<MacroAccumulator>,
    ) -> fmt::Result {
        let byte = match *register {
            Register::Grf { number, byte } => {
                self.line.text("r")?;
                self.line.unsigned(u64::from(number))?;
                byte
            }
            Register::Mrf { number, byte } => {
                self.line.text("m")?;
                self.line.unsigned(u64::from(number))?;
                byte
            }
            Register::Indirect { address, offset } => {
                self.line.text("r[a0.")?;
                self.line.unsigned(u64::from(address))?;
                if offset != 0 {
                    self.line.text(",")?;
                    self.line.signed(i64::from(offset))?;
                }
                return self.line.text("]");
            }
            Register::Arf { file, number, byte } => {
                match file {
                    Arf::Reserved(kind) => {
                        self.line.text("arf")?;
                        self.line.unsigned(u64::from(kind))?;
                        self.line.text(".")?;
                    }
                    file => {
                        self.line.text(syntax::ARFS.name(file, Syntax::Iga).unwrap_or_default())?
                    }
                }
                if matches!(file, Arf::Null | Arf::InstructionPointer) {
                    return Ok(());
                }
                self.line.unsigned(u64::from(number))?;
                byte
            }
        };
        match accumulator {
            Some(MacroAccumulator(number @ 0..8)) => {
                self.line.text(".mme")?;
                self.line.unsigned(u64::from(number))
            }
            Some(_) => self.line.text(".nomme"),
            None if size == 0 => Ok(()),
            None => {
                self.line.text(".")?;
                self.line.unsigned(u64::from(byte / size))
            }
        }
    }

    /// Prints a type, `:ud`. In sends, `:ud` is left out.
    fn ty(&mut self, ty: DataType) -> fmt::Result {
        if self.i.send.is_some() && ty == DataType::Ud {
            return Ok(());
        }
        self.any_ty(ty)
    }

    fn destination(&mut self, destination: &Destination) -> fmt::Result {
        let i = self.i;
        if i.send.is_some() {
            // Registers of messages are printed without subregister.
            self.register(&destination.register, 0, None)?;
            return match i.opcode.op().format {
                Format::SplitSend => self.any_ty(destination.ty),
                _ => self.ty(destination.ty),
            };
        }
        let scalar = scalar_three_source(i);
        let register = advanced(destination.register, scalar.unwrap_or(0) * destination.ty.size());
        self.register(&register, destination.ty.size(), destination.macro_accumulator)?;
        if i.opcode.op().format != Format::Call && destination.macro_accumulator.is_none() {
            self.line.text("<")?;
            self.line.unsigned(u64::from(destination.stride))?;
            self.line.text(">")?;
            if destination.write_mask != 15 && scalar.is_none() {
                self.line.text(if destination.write_mask == 0 { ".none" } else { "." })?;
                for channel in (0..4u8).filter(|channel| destination.write_mask >> channel & 1 == 1)
                {
                    self.line.text(channel_name(channel))?;
                }
            }
        }
        if i.opcode.op().format == Format::Call && i.generation >= Generation::Gen12 {
            return Ok(());
        }
        self.ty(destination.ty)
    }

    fn source(&mut self, source: &Source, index: usize) -> fmt::Result {
        let i = self.i;
        if source.negate {
            let older = i.generation.has_message_registers();
            let logic = i.opcode.op().traits.contains(Traits::LOGIC) && !older;
            self.line.text(if logic { "~" } else { "-" })?;
        }
        self.line.text(if source.absolute { "(abs)" } else { "" })?;
        if i.send.is_some() {
            self.register(&source.register, 0, None)?;
            return self.ty(source.ty);
        }
        let format = i.opcode.op().format;
        let pair = scalar_double(source).filter(|_| format == Format::ThreeSource);
        let register = advanced(source.register, pair.unwrap_or(0) * source.ty.size());
        self.register(&register, source.ty.size(), source.macro_accumulator)?;
        use Format::{BranchOne, BranchTwo, Call, JumpIndexed, Return};
        let branch = matches!(format, BranchOne | BranchTwo | Call | Return);
        if format == JumpIndexed || branch && i.generation >= Generation::Gen12 {
            return Ok(());
        }
        if source.macro_accumulator.is_none() && format != Return {
            self.region(source, index, pair.is_some())?;
        }
        // A replicated element has no swizzle. A replicated double, which is not allowed, is
        // printed with one, to distinguish it from a pair.
        let double = source.replicate && source.ty == DataType::Df;
        if double || source.swizzle != Source::IDENTITY && !source.replicate && pair.is_none() {
            self.line.text(".")?;
            for channel in source.swizzle {
                self.line.text(channel_name(channel))?;
            }
        }
        self.ty(source.ty)
    }

    /// Prints a region. With `one`, a pair of channels selects one double for all channels.
    fn region(&mut self, source: &Source, index: usize, one: bool) -> fmt::Result {
        let Region { vertical, width, horizontal } = source.region;
        // Three-source regions have the short form of later generations: no width, and no vertical
        // stride for the last source.
        let ternary = self.i.opcode.op().format == Format::ThreeSource;
        if let (true, AccessMode::Align1, Vertical::Stride(vertical)) =
            (ternary, self.i.access_mode, vertical)
        {
            self.line.text("<")?;
            if index < 2 {
                self.line.unsigned(u64::from(vertical))?;
                self.line.text(";")?;
            }
            self.line.unsigned(u64::from(horizontal))?;
            return self.line.text(">");
        }
        if ternary {
            return self.line.text(match (source.replicate || one, index) {
                (true, 2) => "<0>",
                (true, _) => "<0;0>",
                (false, 2) => "<1>",
                (false, _) => "<2;1>",
            });
        }
        self.line.text("<")?;
        if let Vertical::Stride(vertical) = vertical {
            self.line.unsigned(u64::from(vertical))?;
            if self.i.access_mode == AccessMode::Align16 {
                return self.line.text(">");
            }
            self.line.text(";")?;
        }
        self.line.unsigned(u64::from(width))?;
        self.line.text(",")?;
        self.line.unsigned(u64::from(horizontal))?;
        self.line.text(">")
    }

    /// Prints signed integers in decimal, unsigned and packed ones in hexadecimal, and floats in
    /// decimal if that is exact.
    fn immediate(&mut self, immediate: &Immediate) -> fmt::Result {
        let bits = immediate.bits;
        match immediate.ty {
            DataType::B => self.line.signed(i64::from(bits as i8))?,
            DataType::W => self.line.signed(i64::from(bits as i16))?,
            DataType::D => self.line.signed(i64::from(bits as i32))?,
            DataType::Q => self.line.signed(bits as i64)?,
            DataType::F | DataType::Hf => {
                let (value, quiet) = match immediate.ty {
                    DataType::F => (f32::from_bits(bits as u32), 22),
                    _ => (half_float(bits as u16), 9),
                };
                let same = |text: &str| {
                    text.parse().is_ok_and(|parsed: f32| parsed.to_bits() == value.to_bits())
                };
                self.float(f64::from(value), bits, quiet, &same)?;
            }
            DataType::Df => {
                let same =
                    |text: &str| text.parse().is_ok_and(|parsed: f64| parsed.to_bits() == bits);
                self.float(f64::from_bits(bits), bits, 51, &same)?;
            }
            _ => self.hexadecimal(bits)?,
        }
        self.any_ty(immediate.ty)
    }

    fn any_ty(&mut self, ty: DataType) -> fmt::Result {
        self.line.text(":")?;
        self.line.text(ty.name())
    }

    fn hexadecimal(&mut self, bits: u64) -> fmt::Result {
        self.line.text("0x")?;
        self.line.hex_capital(bits, 1)
    }

    /// Prints infinities and NaNs by name; bit `quiet` is set in quiet NaNs, and the bits below it
    /// are the payload. Other values are printed with six digits if that is exact, else with seven,
    /// else as bits.
    fn float(
        &mut self,
        value: f64,
        bits: u64,
        quiet: u32,
        same: &dyn Fn(&str) -> bool,
    ) -> fmt::Result {
        if !value.is_finite() {
            self.line.text(if value.is_sign_negative() { "-" } else { "" })?;
            if value.is_infinite() {
                return self.line.text("inf");
            }
            self.line.text(if bits >> quiet & 1 == 1 { "qnan(0x" } else { "snan(0x" })?;
            self.line.hex_capital(bits & ((1 << quiet) - 1), 1)?;
            return self.line.text(")");
        }
        let short = general(value);
        if same(short.as_str()) {
            self.line.text(short.as_str())?;
            let whole = !short.as_str().contains(['.', 'e']);
            return self.line.text(if whole { ".0" } else { "" });
        }
        let long = scientific(value, 6, false);
        if same(long.as_str()) { self.line.text(long.as_str()) } else { self.hexadecimal(bits) }
    }
}

/// The execution size that IGA prints. A three-source instruction cannot have one channel; if it
/// writes one channel per group, IGA prints 1.
fn printed_size(i: &Instruction) -> u8 {
    if scalar_three_source(i).is_some() { 1 } else { i.exec_size }
}

/// The single element that a three-source instruction writes, counted from its subregister: one of
/// four channels, or for doubles one of two (a double covers two bits of the write mask).
fn scalar_three_source(i: &Instruction) -> Option<u8> {
    let destination =
        i.destination.filter(|destination| destination.macro_accumulator.is_none())?;
    let Register::Grf { byte, .. } = destination.register else { return None };
    let (size, masks): (u8, &[u8]) = match destination.ty {
        DataType::Df => (2, &[0b0011, 0b1100]),
        _ => (4, &[0b0001, 0b0010, 0b0100, 0b1000]),
    };
    let aligned = byte % (size * destination.ty.size()) == 0;
    let scalar = i.opcode.op().format == Format::ThreeSource && i.exec_size == size && aligned;
    let element = masks.iter().position(|mask| *mask == destination.write_mask)?;
    scalar.then_some(element as u8)
}

/// The number of the double, 0 or 1, that all channels read, if the swizzle selects the same pair
/// twice.
fn scalar_double(source: &Source) -> Option<u8> {
    let Register::Grf { byte, .. } = source.register else { return None };
    let whole = source.ty == DataType::Df && byte % 16 == 0 && !source.replicate;
    match source.swizzle {
        [0, 1, 0, 1] if whole => Some(0),
        [2, 3, 2, 3] if whole => Some(1),
        _ => None,
    }
}

/// A general register operand that starts `bytes` later; other registers are unchanged.
fn advanced(register: Register, bytes: u8) -> Register {
    match register {
        Register::Grf { number, byte } => {
            Register::Grf { number, byte: byte.saturating_add(bytes) }
        }
        other => other,
    }
}

fn channel_name(channel: u8) -> &'static str {
    match channel {
        0 => "x",
        1 => "y",
        2 => "z",
        _ => "w",
    }
}

/// What follows the number of a token.
pub(super) fn token_suffix(token: Token) -> &'static str {
    match token {
        Token::Set => "",
        Token::Written => ".dst",
        Token::Read => ".src",
    }
}

/// The name of a shared function in the name of a message of Gen12.
fn receiver_name(function: SharedFunction) -> &'static str {
    match function {
        SharedFunction::Null => "null",
        SharedFunction::Sampler => "smpl",
        SharedFunction::Gateway => "gtwy",
        SharedFunction::DataPortSampler => "dc2",
        SharedFunction::DataPortRender => "rc",
        SharedFunction::Urb => "urb",
        SharedFunction::ThreadSpawner => "ts",
        SharedFunction::MotionEstimation => "vme",
        SharedFunction::DataPortConstant => "dcro",
        SharedFunction::DataPort0 => "dc0",
        SharedFunction::PixelInterpolator => "pixi",
        SharedFunction::DataPort1 => "dc1",
        SharedFunction::CheckAndRefinement => "cre",
        // Gen12 has none of these.
        SharedFunction::Math
        | SharedFunction::DataPortRead
        | SharedFunction::DataPortWrite
        | SharedFunction::Reserved(_) => "reserved",
    }
}

/// The number of a shared function.
fn function_number(generation: Generation, function: SharedFunction) -> u8 {
    match function {
        SharedFunction::Reserved(number) => number,
        function if generation.has_message_registers() => {
            let number = crate::encoding::SHARED_FUNCTION_GEN4.encode(function);
            number.map_or(0, |number| number.bits() as u8)
        }
        function => {
            crate::encoding::SHARED_FUNCTION.encode(function).map_or(0, |sfid| sfid.bits() as u8)
        }
    }
}
