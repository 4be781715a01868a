//! Parsers for operands and messages in Mesa's syntax.

use super::super::error::Fault;
use super::super::iga;
use super::super::lex::Kind;
use super::super::number::{self, Number};
use super::super::parse::{Base, Parse, Parser, Span};
use super::super::send;
use crate::instruction::*;
use crate::ops::Opcode;
use crate::syntax;
use alloc::format;
use alloc::string::String;

/// Splits a type from the letters before it: `xyDF` is `xy` and `DF`.
fn split_at_capital(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| c.is_ascii_uppercase()).unwrap_or(text.len()))
}

/// Parses a type. `suffix` is its text if it directly follows the word before it. If `suffix` is
/// empty, the type is the next word, after an optional colon.
fn data_type(p: &mut Parser<'_>, suffix: &str, span: Span) -> Parse<DataType> {
    if !suffix.is_empty() {
        let found = syntax::TYPES.find(suffix, p.syntax);
        return found.ok_or_else(|| p.unknown_name(&syntax::TYPES, suffix, span));
    }
    p.eat(':');
    p.name(&syntax::TYPES)
}

fn register_type(p: &mut Parser<'_>, base: &Base, suffix: &str, span: Span) -> Parse<DataType> {
    // The disassembler prints these two registers without a type.
    let default = match base.register {
        Register::Arf { file: Arf::InstructionPointer, .. } => Some(DataType::Ud),
        Register::Arf { file: Arf::ThreadDependency, .. } => Some(DataType::Uw),
        _ => None,
    };
    let typed = !suffix.is_empty()
        || p.is(':')
        || p.peek_word().is_some_and(|word| syntax::TYPES.find(word, p.syntax).is_some());
    let place = p.peek().span();
    let ty = match default {
        Some(ty) if !typed => ty,
        _ => data_type(p, suffix, span)?,
    };
    if matches!(ty, DataType::V | DataType::Uv | DataType::Vf) {
        let fault = Fault::new(place, format!("registers have no type {}", ty.name()));
        return Err(fault.hint("packed vectors are immediates"));
    }
    Ok(ty)
}

/// Parses an optional word after a dot. Returns the channels, and the text of a type that follows
/// them directly.
fn selection<'a>(p: &mut Parser<'a>) -> (Option<&'a str>, &'a str, Span) {
    let token = p.peek_at(1);
    if !p.is('.') || token.kind != Kind::Word {
        let span = p.peek().span();
        return (None, "", span);
    }
    p.next();
    p.next();
    let (channels, ty) = split_at_capital(p.text(token));
    (Some(channels), ty, token.span())
}

fn base(p: &mut Parser<'_>) -> Parse<Base> {
    if p.peek_word() == Some("Indirect") {
        let fault = Fault::new(p.peek().span(), "the operand is missing");
        return Err(fault.hint("Mesa's disassembler does not print indirect operands of Align16"));
    }
    p.base()
}

/// Parses a destination: `g4.1<2>.xyUD`.
pub(super) fn destination(p: &mut Parser<'_>, i: &Instruction) -> Parse<Destination> {
    let (start, start_of_text) = (p.at, p.peek().start);
    let base = base(p)?;
    // Whether the text has a word number of a0.
    let named = p
        .tokens
        .get(start..p.at)
        .is_some_and(|tokens| tokens.iter().any(|t| t.kind == Kind::Mark('.')));
    let index = p.subregister_index()?;
    let mut stride = 1;
    if p.eat('<') {
        stride = p.choice("destination stride", &[0, 1, 2, 4])?;
        p.expect('>')?;
    }
    let (channels, suffix, span) = selection(p);
    let write_mask = match channels {
        Some(channels) => p.write_mask(channels, span.clone())?,
        None => 15,
    };
    let ty = register_type(p, &base, suffix, span)?;
    let mut register = p.subregister(&base, index, ty)?;
    p.general_only(i, &base)?;
    if let Register::Indirect { address, offset } = register {
        // Mesa's disassembler prints the word number of a0 divided by the size of the type. It
        // omits the number only for word 0, so a printed 0 is read as word 1.
        let word = match address {
            0 if named && ty.size() > 1 => 1,
            word => u32::from(word) * u32::from(ty.size()),
        };
        if word > 15 {
            let message = format!("there is no word {word} in a0");
            return Err(Fault::new(base.span, message).hint(format!(
                "for destinations Mesa prints the word of a0 divided by the size of the type, {}",
                ty.size()
            )));
        }
        register = Register::Indirect { address: word as u8, offset };
    }
    p.spans.destination = start_of_text..p.last_end();
    // A packed byte destination is legal only in byte moves. Mesa's assembler gives the null
    // register stride 2 too.
    let spread = register.is_null() && ty.size() == 1 && stride == 1;
    Ok(Destination {
        stride: if spread { 2 } else { stride },
        write_mask,
        ..Destination::new(register, ty)
    })
}

pub(super) fn operand(p: &mut Parser<'_>, i: &Instruction, last: bool) -> Parse<Operand> {
    let start = p.peek().start;
    let value = p.peek_after_sign();
    if value.kind != Kind::Number && value.kind != Kind::Mark('[') {
        return register_source(p, i).map(Operand::Register);
    }
    let immediate = immediate(p)?;
    p.allow_immediate(i, last, start..p.last_end(), "<0,1,0>")?;
    Ok(Operand::Immediate(immediate))
}

/// Parses an immediate: `-1023D`, `0x3f800000F`, `0x07ffUW`, `[0F, 1F, 2F, 3F]VF`. An integer
/// before a float type is the bits of the float.
fn immediate(p: &mut Parser<'_>) -> Parse<Immediate> {
    let start = p.peek().start;
    let negative = p.eat_sign();
    if !negative && p.is('[') {
        return if whole_numbers(p) { packed_bytes(p) } else { iga::packed(p) };
    }
    let token = p.next();
    let text = p.text(token);
    let (digits, suffix) = split_at_capital(text);
    let no_number = || {
        let fault = Fault::new(token.span(), format!("`{text}` is not a number"));
        match text.starts_with("0x") {
            true => {
                fault.hint("write hexadecimal digits in lower case; the type starts with a capital")
            }
            false => fault.hint("write a type in capitals after the digits: 1D, 0x00ffUW"),
        }
    };
    let number = number::number(digits).ok_or_else(no_number)?;
    let span = token.start + digits.len()..token.end;
    let ty = data_type(p, suffix, span)?;
    let (negative, number) = match number {
        Number::Decimal(bits) if ty.is_float() => (negative, Number::Bits(bits)),
        Number::Decimal(value) => wrapped(negative, value, ty),
        number => (negative, number),
    };
    p.immediate(negative, number, digits, ty, start..token.end)
}

/// Decimal integers may be signed or unsigned bits: 65535W is -1W, -1UD is 4294967295UD.
fn wrapped(negative: bool, value: u64, ty: DataType) -> (bool, Number) {
    let bits = u32::from(ty.size()) * 8;
    let all = u64::MAX >> (64 - bits.min(64));
    let integer = matches!(
        ty,
        DataType::Uw | DataType::W | DataType::Ud | DataType::D | DataType::Uq | DataType::Q
    );
    match negative {
        true if integer && !ty.is_signed() && value <= all / 2 + 1 => {
            (false, Number::Bits(value.wrapping_neg() & all))
        }
        false if integer && value <= all => (false, Number::Bits(value)),
        _ => (negative, Number::Decimal(value)),
    }
}

/// True if the vector at the cursor has only integers without a type: each is the byte of a
/// restricted float. Numbers such as `0F` and `1.5F` are values of floats.
fn whole_numbers(p: &Parser<'_>) -> bool {
    (1..12).map(|ahead| p.peek_at(ahead)).take_while(|token| token.kind != Kind::Mark(']')).all(
        |token| {
            token.kind != Kind::Number
                || matches!(
                    number::number(p.text(token)),
                    Some(Number::Decimal(_) | Number::Bits(_))
                )
        },
    )
}

/// Parses a vector of restricted floats that are given as bytes: `[0x0, 0x30, 0x40, 0x48]VF`.
fn packed_bytes(p: &mut Parser<'_>) -> Parse<Immediate> {
    p.expect('[')?;
    let mut bytes = [0; 4];
    for (index, byte) in bytes.iter_mut().enumerate() {
        if index > 0 {
            p.expect(',')?;
        }
        *byte = p.integer("the byte of a restricted float", 255)? as u8;
    }
    p.expect(']')?;
    p.eat(':');
    let span = p.peek().span();
    match p.name(&syntax::TYPES)? {
        DataType::Vf => Ok(Immediate { ty: DataType::Vf, bits: u32::from_le_bytes(bytes).into() }),
        _ => Err(Fault::new(span, "four packed floats are of type VF")),
    }
}

/// Parses the register source of an instruction that has only one: `-(abs)g2.4<0,1,0>F`,
/// `g[a0.2 16]<VxH,1,0>UB`, `g2<4>.xyzwF`.
pub(super) fn source(p: &mut Parser<'_>, i: &Instruction) -> Parse<Source> {
    let start = p.peek().start;
    let source = register_source(p, i)?;
    // With several sources, the caller records the positions.
    p.spans.sources[0] = start..p.last_end();
    Ok(source)
}

pub(super) fn register_source(p: &mut Parser<'_>, i: &Instruction) -> Parse<Source> {
    let logic = matches!(i.opcode, Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not);
    let sign = p.peek();
    let complement = p.eat('~');
    let negate = complement || p.eat('-');
    if complement && !logic {
        let message = format!("sources of `{}` have no modifier ~", i.opcode);
        return Err(Fault::new(sign.span(), message).expected("`-`"));
    }
    let mut absolute = false;
    if p.eat('(') {
        let (word, span) = p.word("abs")?;
        if word != "abs" {
            return Err(
                Fault::new(span, format!("`{word}` is not a source modifier")).expected("abs")
            );
        }
        p.expect(')')?;
        absolute = true;
    }
    let base = base(p)?;
    let index = p.subregister_index()?;
    let region = region(p)?;
    let (channels, suffix, span) = selection(p);
    let swizzle = match channels {
        Some(channels) => p.swizzle(channels, span.clone())?,
        None => Source::IDENTITY,
    };
    let ty = register_type(p, &base, suffix, span)?;
    let register = p.subregister(&base, index, ty)?;
    p.general_only(i, &base)?;
    let region = region.unwrap_or(match base.register {
        // Mesa prints the thread dependency register without a region.
        Register::Arf { file: Arf::ThreadDependency, .. } => Region::packed(i.exec_size.min(8)),
        _ => Region::SCALAR,
    });
    Ok(Source { negate, absolute, swizzle, ..Source::new(register, ty, region) })
}

/// Parses an optional region: `<8,8,1>`, `<8;8,1>`, `<VxH,1,0>`, `<1,0>` (one address per row),
/// `<4>`.
fn region(p: &mut Parser<'_>) -> Parse<Option<Region>> {
    const STRIDES: [u8; 7] = [0, 1, 2, 4, 8, 16, 32];
    const WIDTHS: [u8; 5] = [1, 2, 4, 8, 16];
    const STEPS: [u8; 4] = [0, 1, 2, 4];
    if !p.eat('<') {
        return Ok(None);
    }
    let first = p.peek();
    let vertical = if p.peek_word() == Some("VxH") {
        p.next();
        Vertical::Addresses
    } else {
        Vertical::Stride(p.choice("vertical stride", &STRIDES)?)
    };
    if p.eat('>') {
        return Ok(Some(Region { vertical, width: 1, horizontal: 0 }));
    }
    if !p.eat(',') && !p.eat(';') {
        return Err(p.unexpected("`,` and the width, as in <8,8,1>"));
    }
    let region = if p.peek_at(1).kind == Kind::Mark('>') {
        // The first number is the width.
        let width = p.text(first).parse().ok().filter(|width| WIDTHS.contains(width));
        let width = width.ok_or_else(|| {
            let message = format!("{} is not a width", p.text(first));
            Fault::new(first.span(), message).expected("1, 2, 4, 8 or 16")
        })?;
        let horizontal = p.choice("horizontal stride", &STEPS)?;
        Region { vertical: Vertical::Addresses, width, horizontal }
    } else {
        let width = p.choice("width", &WIDTHS)?;
        p.expect(',')?;
        Region { vertical, width, horizontal: p.choice("horizontal stride", &STEPS)? }
    };
    p.expect('>')?;
    Ok(Some(region))
}

/// Parses the descriptor and the shared function of a message: `0x0c847000 sampler`,
/// `a0<0,1,0>UD 0x00000200 dp data 1`.
pub(super) fn message(p: &mut Parser<'_>, i: &Instruction) -> Parse<Send> {
    let mut address = None;
    if p.peek_word() == Some("a0") {
        match register_source(p, i)?.register {
            Register::Arf { byte, .. } => address = Some(Descriptor::Address(byte)),
            _ => return Err(p.unexpected("the address register a0")),
        }
    }
    // After an address register, this number repeats the bits of the register operand.
    let descriptor = p.integer("the message descriptor", u64::from(u32::MAX))? as u32;
    let start = p.peek();
    let (mut words, mut end) = (String::new(), start.end);
    while matches!(p.peek().kind, Kind::Word | Kind::Number) {
        let token = p.next();
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(p.text(token));
        end = token.end;
    }
    if words.is_empty() {
        return Err(p.unexpected("a shared function"));
    }
    let functions = match p.generation.has_message_registers() {
        true => &syntax::FUNCTIONS_GEN4,
        false => &syntax::FUNCTIONS,
    };
    let function = functions.find(&words, p.syntax);
    let function = function.ok_or_else(|| p.unknown_name(functions, &words, start.start..end))?;
    let send = send::message(0, Descriptor::Immediate(descriptor), false);
    Ok(Send { function, descriptor: address.unwrap_or(send.descriptor), ..send })
}
