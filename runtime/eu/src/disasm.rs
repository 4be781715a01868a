//! Text of instructions in the syntax of Intel's assembler IGA.
//!
//! `Display` of an [`Instruction`] prints jump distances as numbers of bytes; [`Located`] knows its position and prints
//! targets as labels `L<byte>`. What IGA has no syntax for (swizzles and write masks of Align16) is printed as Mesa
//! does, `.xyzw` behind the region.

use crate::instruction::*;
use crate::kernel::Located;
use crate::ops::{Format, Opcode};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self, None)
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, &self.instruction, Some(self.position))
    }
}

/// A whole kernel: labels, and an instruction a line. What cannot be decoded is shown as its dwords and the reason.
pub fn listing(bytes: &[u8]) -> String {
    let lines: Vec<_> = crate::kernel::instructions(bytes).collect();
    let mut targets: Vec<u64> = lines.iter().flatten().flat_map(Located::targets).collect();
    targets.extend([0, bytes.len() as u64]);
    targets.sort_unstable();
    targets.dedup();
    let mut text = String::new();
    let mut targets = targets.into_iter().peekable();
    for line in &lines {
        let position = line.as_ref().map_or_else(|error| error.position, |located| located.position);
        while let Some(target) = targets.next_if(|target| *target <= position) {
            // A target inside of an instruction is named before it.
            text.push_str(&format!("L{target}:\n"));
        }
        match line {
            Ok(located) => text.push_str(&format!("{located}\n")),
            Err(error) => text.push_str(&format!("        // {}: {}\n", error.raw, error.problem)),
        }
    }
    for target in targets {
        text.push_str(&format!("L{target}:\n"));
    }
    text
}

impl Located {
    /// Byte positions that the instruction can jump to, as far as it holds them; those before the kernel are left out.
    pub fn targets(&self) -> impl Iterator<Item = u64> {
        let position = self.position;
        let distances = self.instruction.branch.map(|branch| [Some(branch.jip), branch.uip]);
        let distances = distances.filter(|_| self.instruction.opcode != Opcode::Calla);
        distances
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(move |d| position.checked_add_signed(i64::from(d)))
    }
}

fn write(f: &mut fmt::Formatter<'_>, i: &Instruction, position: Option<u64>) -> fmt::Result {
    write!(f, "{:<8}", predicate(i))?;
    let format = i.opcode.op().format;
    let mut name = i.opcode.name().to_string();
    if let Some(function) = i.math {
        name.push('.');
        name.push_str(function.name());
    }
    if i.branch_ctrl {
        name.push_str(".b");
    }
    if !matches!(format, Format::Bare | Format::JumpIndexed | Format::Wait) {
        name.push_str(&format!(" ({}|M{})", shown_size(i), i.channel_offset));
    }
    let mut operands: Vec<String> = Vec::new();
    let condition = condition(i);
    if !condition.is_empty() {
        name = format!("{name:<13} {condition}");
    }
    if let Some(destination) = &i.destination {
        let saturate = if i.saturate { "(sat)" } else { "" };
        operands.push(format!("{saturate}{}", self::destination(i, destination)));
    }
    for (index, operand) in i.operands().enumerate() {
        operands.push(self::operand(i, operand, index));
    }
    if let Some(send) = &i.send {
        let function = u32::from(function_number(send.function)) + if send.end_of_thread { 32 } else { 0 };
        operands.push(format!("{function:#X}").replace("0X", "0x"));
        operands.push(match send.descriptor {
            Descriptor::Immediate(descriptor) => format!("0x{descriptor:08X}"),
            Descriptor::Address(byte) => format!("a0.{}", byte / 4),
        });
    }
    if let Some(branch) = &i.branch {
        for distance in [Some(branch.jip), branch.uip].into_iter().flatten() {
            let position = position.filter(|_| i.opcode != Opcode::Calla);
            operands.push(match position.and_then(|p| p.checked_add_signed(i64::from(distance))) {
                Some(target) => format!("L{target}"),
                None => distance.to_string(),
            });
        }
    }
    let mut options = Vec::new();
    let flags = [
        (i.acc_write, "AccWrEn"),
        (i.thread_control == ThreadControl::Atomic, "Atomic"),
        (i.breakpoint, "Breakpoint"),
        (i.compacted, "Compacted"),
        (i.ends_thread(), "EOT"),
        (i.no_dd_check, "NoDDChk"),
        (i.no_dd_clear, "NoDDClr"),
        (i.thread_control == ThreadControl::Switch, "Switch"),
    ];
    options.extend(flags.into_iter().filter(|(on, _)| *on).map(|(_, name)| name));
    let mut text = format!("{name:<24} ");
    for (index, operand) in operands.iter().enumerate() {
        let width = if index == 0 { 14 } else { 18 };
        text.push_str(&format!("{operand:<width$} "));
    }
    if !options.is_empty() {
        text.push_str(&format!("{{{}}}", options.join(",")));
    }
    if let Some(comment) = crate::message::comment(i) {
        text.push_str(&format!(" // {comment}"));
    }
    if i.illegal_code != 0 {
        text.push_str(&format!("// operation {:#04x} does not exist", i.illegal_code));
    }
    f.write_str(text.trim_end())
}

/// Channels as IGA shows them: a three-source instruction cannot have one channel, so four of which only x is written
/// stand for one.
fn shown_size(i: &Instruction) -> u8 {
    let x_only = i.destination.is_some_and(|destination| destination.write_mask == 1);
    let scalar = i.opcode.op().format == Format::ThreeSource && i.exec_size == 4 && x_only;
    if scalar { 1 } else { i.exec_size }
}

/// `(W&~f0.1.any8h)`
fn predicate(i: &Instruction) -> String {
    let mut text = String::new();
    if let Some(predicate) = &i.predicate {
        let group = match predicate.control {
            PredicateControl::Sequential => String::new(),
            PredicateControl::AnyV => ".anyv".into(),
            PredicateControl::AllV => ".allv".into(),
            PredicateControl::Any(channels) => format!(".any{channels}h"),
            PredicateControl::All(channels) => format!(".all{channels}h"),
            PredicateControl::Replicate(channel) => format!(".{}", channel_name(channel)),
        };
        let inverse = if predicate.inverse { "~" } else { "" };
        text = format!("{inverse}{}{group}", flag(i.flag));
    }
    match (i.no_mask, text.is_empty()) {
        (false, true) => String::new(),
        (false, false) => format!("({text}) "),
        (true, true) => "(W) ".into(),
        (true, false) => format!("(W&{text}) "),
    }
}

fn flag(flag: Flag) -> String {
    format!("f{}.{}", flag.register, flag.subregister)
}

/// `(ge)f0.1`; the steps of the macros report an early out in the flag.
fn condition(i: &Instruction) -> String {
    let name = match i.condition {
        _ if i.math.is_some_and(MathFunction::is_macro) => "eo",
        None => return String::new(),
        Some(Condition::Equal) => "eq",
        Some(Condition::NotEqual) => "ne",
        Some(Condition::Greater) => "gt",
        Some(Condition::GreaterEqual) => "ge",
        Some(Condition::Less) => "lt",
        Some(Condition::LessEqual) => "le",
        Some(Condition::Overflow) => "ov",
        Some(Condition::Unordered) => "un",
    };
    format!("({name}){}", flag(i.flag))
}

fn channel_name(channel: u8) -> char {
    match channel {
        0 => 'x',
        1 => 'y',
        2 => 'z',
        _ => 'w',
    }
}

/// The register, subregister in elements of `size` bytes.
fn register(register: &Register, size: u8, accumulator: Option<MacroAccumulator>) -> String {
    let subregister = |byte: u8| match accumulator {
        Some(MacroAccumulator(number @ 0..8)) => format!(".mme{number}"),
        Some(_) => ".nomme".into(),
        None => format!(".{}", byte / size),
    };
    match *register {
        Register::Grf { number, byte } => format!("r{number}{}", subregister(byte)),
        Register::Indirect { address, offset: 0 } => format!("r[a0.{address}]"),
        Register::Indirect { address, offset } => format!("r[a0.{address},{offset}]"),
        Register::Arf { file, number, byte } => {
            let name = match file {
                Arf::Null => return "null".into(),
                Arf::InstructionPointer => return "ip".into(),
                Arf::Address => "a",
                Arf::Accumulator => "acc",
                Arf::Flag => "f",
                Arf::ChannelEnable => "ce",
                Arf::MessageControl => "msg",
                Arf::StackPointer => "sp",
                Arf::State => "sr",
                Arf::Control => "cr",
                Arf::Notification => "n",
                Arf::ThreadDependency => "tdr",
                Arf::Timestamp => "tm",
                Arf::FlowControl => "fc",
                Arf::Debug => "dbg",
                Arf::Reserved(kind) => return format!("arf{kind}.{number}{}", subregister(byte)),
            };
            format!("{name}{number}{}", subregister(byte))
        }
    }
}

/// `:ud`, which sends leave out.
fn type_suffix(i: &Instruction, ty: DataType) -> String {
    let silent = i.send.is_some() && ty == DataType::Ud;
    if silent { String::new() } else { format!(":{}", ty.name()) }
}

fn destination(i: &Instruction, destination: &Destination) -> String {
    let suffix = type_suffix(i, destination.ty);
    let size = destination.ty.size();
    if i.send.is_some() {
        return format!("{}{suffix}", whole(&destination.register));
    }
    let name = register(&destination.register, size, destination.macro_accumulator);
    if i.opcode.op().format == Format::Call || destination.macro_accumulator.is_some() {
        return format!("{name}{suffix}");
    }
    let mut mask = String::new();
    if destination.write_mask != 15 && shown_size(i) == i.exec_size {
        mask.push('.');
        mask.extend((0..4).filter(|channel| destination.write_mask >> channel & 1 == 1).map(channel_name));
    }
    format!("{name}<{}>{mask}{suffix}", destination.stride)
}

/// Registers of messages have no subregister.
fn whole(register: &Register) -> String {
    let mut name = self::register(register, 1, None);
    if !matches!(register, Register::Indirect { .. })
        && let Some(dot) = name.find('.')
    {
        name.truncate(dot);
    }
    name
}

fn operand(i: &Instruction, operand: &Operand, index: usize) -> String {
    match operand {
        Operand::None => String::new(),
        Operand::Immediate(immediate) => self::immediate(immediate),
        Operand::Register(source) => self::source(i, source, index),
    }
}

fn source(i: &Instruction, source: &Source, index: usize) -> String {
    let suffix = type_suffix(i, source.ty);
    let logic = matches!(i.opcode, Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not);
    let negate = match (source.negate, logic) {
        (false, _) => "",
        (true, false) => "-",
        (true, true) => "~",
    };
    let absolute = if source.absolute { "(abs)" } else { "" };
    if i.send.is_some() {
        return format!("{negate}{absolute}{}{suffix}", whole(&source.register));
    }
    let name = register(&source.register, source.ty.size(), source.macro_accumulator);
    let mut text = format!("{negate}{absolute}{name}");
    if i.opcode.op().format == Format::JumpIndexed {
        return text;
    }
    if source.macro_accumulator.is_none() && i.opcode.op().format != Format::Return {
        text.push_str(&region(i, source, index));
    }
    if source.swizzle != Source::IDENTITY {
        let _ = text.write_char('.');
        text.extend(source.swizzle.map(channel_name));
    }
    text + &suffix
}

fn region(i: &Instruction, source: &Source, index: usize) -> String {
    let Region { vertical, width, horizontal } = source.region;
    // Three-source regions are written in the short form of later generations: no width, and no vertical stride for
    // the last source.
    if i.opcode.op().format == Format::ThreeSource {
        return match (source.replicate, index) {
            (true, 2) => "<0>".into(),
            (true, _) => "<0;0>".into(),
            (false, 2) => "<1>".into(),
            (false, _) => "<2;1>".into(),
        };
    }
    match (i.access_mode, vertical) {
        (AccessMode::Align16, Vertical::Stride(vertical)) => format!("<{vertical}>"),
        (_, Vertical::Stride(vertical)) => format!("<{vertical};{width},{horizontal}>"),
        (_, Vertical::Addresses) => format!("<{width},{horizontal}>"),
    }
}

/// Signed integers decimal, unsigned and packed ones hexadecimal, floats decimal if that is exact.
fn immediate(immediate: &Immediate) -> String {
    let bits = immediate.bits;
    let number = match immediate.ty {
        DataType::B => (bits as i8).to_string(),
        DataType::W => (bits as i16).to_string(),
        DataType::D => (bits as i32).to_string(),
        DataType::Q => (bits as i64).to_string(),
        DataType::F => {
            let value = f32::from_bits(bits as u32);
            let same = |text: &str| text.parse().is_ok_and(|parsed: f32| parsed.to_bits() == value.to_bits());
            special(f64::from(value), bits, 22)
                .or_else(|| decimal(f64::from(value), &same))
                .unwrap_or_else(|| format!("0x{bits:X}"))
        }
        DataType::Df => {
            let value = f64::from_bits(bits);
            let same = |text: &str| text.parse().is_ok_and(|parsed: f64| parsed.to_bits() == bits);
            special(value, bits, 51)
                .or_else(|| decimal(value, &same))
                .unwrap_or_else(|| format!("0x{bits:X}"))
        }
        _ => format!("0x{bits:X}"),
    };
    format!("{number}:{}", immediate.ty.name())
}

/// Infinities and NaNs; bit `quiet` of a NaN tells quiet ones, the bits below are its payload.
fn special(value: f64, bits: u64, quiet: u32) -> Option<String> {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return Some(format!("{sign}inf"));
    }
    let kind = if bits >> quiet & 1 == 1 { "qnan" } else { "snan" };
    value.is_nan().then(|| format!("{sign}{kind}(0x{:X})", bits & ((1 << quiet) - 1)))
}

/// Six significant digits as C's `%g`, else seven as `%e`, whichever is exact first.
fn decimal(value: f64, same: &dyn Fn(&str) -> bool) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    let scientific = |digits: usize, trim: bool| -> String {
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = if trim && mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            mantissa
        };
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        format!("{mantissa}e{sign}{exponent:0>2}")
    };
    // The exponent after rounding to six digits.
    let rounded = format!("{value:.5e}");
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let general = if (-4..6).contains(&exponent) {
        let places = (5 - exponent) as usize;
        let mut text = format!("{value:.places$}");
        if text.contains('.') {
            text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        }
        if text.contains('.') { text } else { text + ".0" }
    } else {
        scientific(5, true)
    };
    [general, scientific(6, false)].into_iter().find(|text| same(text))
}

/// The number of a shared function.
fn function_number(function: SharedFunction) -> u8 {
    match function {
        SharedFunction::Reserved(number) => number,
        function => crate::encoding::SHARED_FUNCTION.encode(function).map_or(0, |sfid| sfid.bits() as u8),
    }
}
