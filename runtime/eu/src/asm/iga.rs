//! Parser for Intel's syntax, one instruction per line: `(W&f0.0) add (8|M0) (eq)f0.0
//! (sat)r4.0<1>:f r2.0<8;8,1>:f 1:f {Compacted}`.

use super::error::Fault;
use super::lex::Kind;
use super::number::{self, Number};
use super::parse::{Item, Parse, Parser, Span, SpannedTarget, Statement, Target};
use super::{literal, send};
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use crate::syntax::{self, Keyword, Syntax};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// Parses the next statement, a label or an instruction. A line may have both.
pub fn statement(p: &mut Parser<'_>) -> Parse<Statement> {
    if p.peek().kind == Kind::Word && p.peek_at(1).kind == Kind::Mark(':') {
        let token = p.next();
        p.next();
        return Ok(Statement::Label(p.text(token).to_owned(), token.span()));
    }
    let start = p.peek().start;
    let mut item = instruction(p)?;
    if !p.eat(';') && p.peek().kind != Kind::End {
        return Err(p.unexpected("the end of the line"));
    }
    item.span = start..p.last_end();
    item.spans = core::mem::take(&mut p.spans);
    Ok(Statement::Instruction(Box::new(item)))
}

fn instruction(p: &mut Parser<'_>) -> Parse<Item> {
    let start = p.peek().start;
    let mut i = Instruction::new(Opcode::Nop, 1);
    predicate(p, &mut i)?;
    i.opcode = p.opcode()?;
    let format = i.opcode.op().format;
    if format == Format::ThreeSource {
        i.access_mode = AccessMode::Align16;
    }
    suffixes(p, &mut i)?;
    execution(p, &mut i)?;
    condition(p, &mut i)?;
    let mut item = Item::new(i, start..start);
    let i = &mut item.instruction;
    match format {
        // Gen8 has no split sends, no `sync` and no `do`.
        Format::Bare | Format::SplitSend | Format::Sync | Format::Loop => {}
        Format::Basic | Format::ThreeSource | Format::Math => {
            destination(p, i)?;
            let count = i.math.map_or(i.opcode.op().sources, MathFunction::sources);
            for index in 0..usize::from(count) {
                let start = p.peek().start;
                i.sources[index] = operand(p, i, index + 1 == usize::from(count))?;
                p.spans.sources[index] = start..p.last_end();
            }
        }
        Format::Send => {
            destination(p, i)?;
            i.sources[0] = Operand::Register(source(p, i)?);
            i.send = Some(message(p)?);
        }
        Format::BranchOne | Format::BranchTwo => {
            let register = matches!(i.opcode, Opcode::Brd | Opcode::Brc) && !at_target(p);
            if register {
                i.sources[0] = Operand::Register(source(p, i)?);
            } else {
                item.jip = Some(target(p)?);
                if format == Format::BranchTwo {
                    item.uip = Some(target(p)?);
                }
            }
        }
        Format::JumpIndexed | Format::Call => {
            if format == Format::Call {
                destination(p, i)?;
            }
            if at_target(p) {
                item.jip = Some(target(p)?);
            } else {
                i.sources[0] = Operand::Register(source(p, i)?);
            }
        }
        Format::Return | Format::Wait => i.sources[0] = Operand::Register(source(p, i)?),
    }
    options(p, &mut item)?;
    scalar_three_source(&mut item.instruction);
    Ok(item)
}

/// Parses the optional predicate: `(W)`, `(f0.0)`, `(W&~f0.1.any8h)`.
fn predicate(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<()> {
    if !p.eat('(') {
        return Ok(());
    }
    if p.peek_word() == Some("W") {
        p.next();
        i.no_mask = true;
        if p.eat(')') {
            return Ok(());
        }
        if !p.eat('&') {
            return Err(p.unexpected("`)` or `&` and a flag"));
        }
    }
    let inverse = p.eat('~');
    i.flag = p.flag()?;
    let control = p.predicate_control()?;
    if matches!(control, PredicateControl::Replicate(_)) {
        i.access_mode = AccessMode::Align16;
    }
    i.predicate = Some(Predicate { control, inverse });
    p.expect(')')?;
    Ok(())
}

/// Parses the suffix of the mnemonic: `.sqt` of `math`, `.b` of branches.
fn suffixes(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<()> {
    if i.opcode == Opcode::Math {
        p.expect('.').map_err(|fault| fault.expected("`.` and a function, as in math.inv"))?;
        let function = p.name(&syntax::MATH)?;
        i.math = Some(function);
        if function.is_macro() {
            i.access_mode = AccessMode::Align16;
        }
    } else if p.eat('.') {
        let (word, span) = p.word("`b`")?;
        if word != "b" || !crate::decode::has_branch_ctrl(i.opcode) {
            let fault = Fault::new(span, format!("`{}` has no suffix `{word}`", i.opcode));
            return Err(match syntax::CONDITIONS.find(word, Syntax::Mesa) {
                Some(_) => fault.hint("write the condition after the size: (eq)f0.0"),
                None if word == "sat" => {
                    fault.hint("write the saturation before the destination: (sat)r1.0")
                }
                None => fault,
            });
        }
        i.branch_ctrl = true;
    }
    Ok(())
}

/// Parses the size and the first channel, `(16|M16)`. Some operations may omit them.
fn execution(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<()> {
    use Format::{Bare, JumpIndexed, Wait};
    let sized = p.is('(') && p.peek_at(1).kind == Kind::Number;
    if !sized {
        return match i.opcode.op().format {
            Bare | JumpIndexed | Wait => Ok(()),
            _ => Err(p.unexpected("the size and the first channel, as in (8|M0)")),
        };
    }
    p.next();
    i.exec_size = p.choice("execution size", &[1, 2, 4, 8, 16, 32])?;
    if p.eat('|') {
        let (word, span) = p.word("the first channel, M0 to M28")?;
        let offset = word.strip_prefix('M').and_then(|digits| digits.parse::<u8>().ok());
        i.channel_offset =
            offset.filter(|offset| *offset < 32 && offset % 4 == 0).ok_or_else(|| {
                Fault::new(span, format!("`{word}` is not a first channel"))
                    .expected("M0, M4, M8 to M28")
            })?;
    }
    p.expect(')')?;
    Ok(())
}

/// Parses the optional condition, `(eq)f0.0`.
fn condition(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<()> {
    let word = if p.is('(') { p.peek_at(1) } else { return Ok(()) };
    let name = p.text(word);
    if word.kind != Kind::Word || matches!(name, "sat" | "abs") {
        return Ok(());
    }
    p.next();
    p.next();
    let early_out = i.math.is_some_and(MathFunction::is_macro);
    match syntax::CONDITIONS.find(name, Syntax::Iga) {
        _ if early_out && name == "eo" => {}
        Some(condition) if i.math.is_none() => i.condition = Some(condition),
        Some(_) => return Err(Fault::new(word.span(), "math has no condition")),
        None => return Err(p.unknown_name(&syntax::CONDITIONS, name, word.span())),
    }
    p.expect(')')?;
    let span = p.peek().span();
    let flag = p.flag()?;
    p.condition_flag(i, flag, span)
}

/// Parses a type, `:ud`. Messages may omit it; the type is then `ud`.
fn data_type(p: &mut Parser<'_>, i: &Instruction) -> Parse<DataType> {
    if i.send.is_none() && i.opcode.op().format != Format::Send && !p.is(':') {
        return Err(p.unexpected("`:` and a type"));
    }
    if p.eat(':') { p.name(&syntax::TYPES) } else { Ok(DataType::Ud) }
}

/// Parses an optional extended accumulator: `.mme3` or `.nomme`.
fn macro_accumulator(p: &mut Parser<'_>) -> Option<MacroAccumulator> {
    let token = p.peek_at(1);
    if !p.is('.') || token.kind != Kind::Word {
        return None;
    }
    let accumulator = match p.text(token) {
        "nomme" => MacroAccumulator::NONE,
        word => {
            MacroAccumulator(word.strip_prefix("mme")?.parse().ok().filter(|number| *number < 8)?)
        }
    };
    p.next();
    p.next();
    Some(accumulator)
}

/// Parses an optional word after a dot: a write mask or a swizzle. A dot before a colon is an empty
/// word.
fn selection(p: &mut Parser<'_>) -> Option<(String, Span)> {
    let token = p.peek_at(1);
    if p.is('.') && token.kind == Kind::Mark(':') {
        return Some((String::new(), p.next().span()));
    }
    if !p.is('.') || token.kind != Kind::Word {
        return None;
    }
    p.next();
    p.next();
    Some((p.text(token).to_owned(), token.span()))
}

/// Parses a destination with its saturation: `(sat)r4.0<1>.xy:f`.
fn destination(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<()> {
    if p.is('(') && p.text(p.peek_at(1)) == "sat" {
        p.next();
        p.next();
        p.expect(')')?;
        i.saturate = true;
    }
    let start = p.peek().start;
    let base = p.base()?;
    let macro_accumulator = macro_accumulator(p);
    let index = p.subregister_index()?;
    let mut stride = 1;
    if p.eat('<') {
        stride = p.choice("destination stride", &[0, 1, 2, 4])?;
        p.expect('>')?;
    }
    let mut write_mask = 15;
    if let Some((word, span)) = selection(p) {
        write_mask = if word == "none" { 0 } else { p.write_mask(&word, span)? };
        i.access_mode = AccessMode::Align16;
    }
    let ty = destination_type(p, i)?;
    let register = p.subregister(&base, index, ty)?;
    p.general_only(i, &base)?;
    p.spans.destination = start..p.last_end();
    i.destination = Some(Destination { register, ty, stride, write_mask, macro_accumulator });
    Ok(())
}

fn destination_type(p: &mut Parser<'_>, i: &Instruction) -> Parse<DataType> {
    let token = p.peek_at(1);
    let ty = data_type(p, i)?;
    if matches!(ty, DataType::V | DataType::Uv | DataType::Vf) {
        return Err(Fault::new(token.span(), format!("registers have no type {}", ty.name()))
            .hint("packed vectors are immediates"));
    }
    Ok(ty)
}

fn operand(p: &mut Parser<'_>, i: &mut Instruction, last: bool) -> Parse<Operand> {
    let start = p.peek().start;
    let value = p.peek_after_sign();
    let special = ["inf", "nan", "qnan", "snan"].contains(&p.text(value));
    if value.kind != Kind::Number && !special && value.kind != Kind::Mark('[') {
        return register_source(p, i).map(Operand::Register);
    }
    let immediate = immediate(p)?;
    p.allow_immediate(i, last, start..p.last_end(), "<0;0>")?;
    Ok(Operand::Immediate(immediate))
}

/// Parses an immediate: `-0.5:f`, `0xFF:uw`, `qnan(0x0):f`, `[1.0, 2, -4, 0]:vf`.
fn immediate(p: &mut Parser<'_>) -> Parse<Immediate> {
    let start = p.peek().start;
    let negative = p.eat_sign();
    if !negative && p.is('[') {
        return packed(p);
    }
    let token = p.next();
    let text = p.text(token);
    let number = match text {
        "inf" => Number::Infinite,
        "nan" => Number::Nan(true, 0),
        "qnan" | "snan" => {
            let quiet = text == "qnan";
            let mut payload = u64::from(!quiet);
            if p.eat('(') {
                payload = p.integer("a NaN's payload", u64::MAX)?;
                p.expect(')')?;
            }
            Number::Nan(quiet, payload)
        }
        text => number::number(text)
            .ok_or_else(|| Fault::new(token.span(), format!("`{text}` is not a number")))?,
    };
    if !p.is(':') {
        return Err(p.unexpected("`:` and the immediate's type"));
    }
    p.next();
    let ty = p.name(&syntax::TYPES)?;
    p.immediate(negative, number, text, ty, start..token.end)
}

/// Parses four restricted floats in brackets. The first goes into the lowest byte.
pub fn packed(p: &mut Parser<'_>) -> Parse<Immediate> {
    p.expect('[')?;
    let mut bits = 0u64;
    for index in 0..4 {
        if index > 0 {
            p.expect(',')?;
        }
        let start = p.peek().start;
        let negative = p.eat_sign();
        let token = p.peek();
        let text = p.text(token).trim_end_matches('F');
        let value = number::number(text).filter(|_| token.kind == Kind::Number);
        let value = match value {
            Some(Number::Decimal(value)) => value as f64,
            Some(Number::Real(value)) => value,
            _ => return Err(p.unexpected("a number")),
        };
        p.next();
        let code = number::restricted(negative, value).ok_or_else(|| {
            let message = format!(
                "`{}` is not a restricted float",
                p.source.get(start..token.end).unwrap_or(text)
            );
            Fault::new(start..token.end, message).expected("0, or ±1 to 31/16 times 1/8 to 16")
        })?;
        bits |= u64::from(code) << (8 * index);
    }
    p.expect(']')?;
    p.eat(':');
    let span = p.peek().span();
    match p.name(&syntax::TYPES)? {
        DataType::Vf => Ok(Immediate { ty: DataType::Vf, bits }),
        _ => Err(Fault::new(span, "four packed floats are of type vf")),
    }
}

/// Parses the register source of an instruction that has only one: `-(abs)r2.0<8;8,1>:f`.
fn source(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<Source> {
    let start = p.peek().start;
    let source = register_source(p, i)?;
    // With several sources, the caller records the positions.
    p.spans.sources[0] = start..p.last_end();
    Ok(source)
}

fn register_source(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<Source> {
    let logic = matches!(i.opcode, Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not);
    let sign = p.peek();
    let negate = p.eat('-') || p.eat('~');
    if negate && logic != (sign.kind == Kind::Mark('~')) {
        let (found, other) = if logic { ("-", "~") } else { ("~", "-") };
        return Err(Fault::new(
            sign.span(),
            format!("sources of `{}` have no modifier {found}", i.opcode),
        )
        .expected(format!("`{other}`")));
    }
    let mut absolute = false;
    if p.is('(') {
        p.next();
        let (word, span) = p.word("abs")?;
        if word != "abs" {
            return Err(
                Fault::new(span, format!("`{word}` is not a source modifier")).expected("abs")
            );
        }
        p.expect(')')?;
        absolute = true;
    }
    let base = p.base()?;
    let macro_accumulator = macro_accumulator(p);
    let index = p.subregister_index()?;
    let format = i.opcode.op().format;
    let (region, replicate) = region(p, i, macro_accumulator.is_some())?;
    let mut swizzle = Source::IDENTITY;
    let selection = selection(p);
    if let Some((word, span)) = &selection {
        swizzle = p.swizzle(word, span.clone())?;
        i.access_mode = AccessMode::Align16;
    }
    let type_span = p.peek_at(1).span();
    let ty = match format {
        // The register of a jump holds a distance.
        Format::JumpIndexed if !p.is(':') => DataType::D,
        _ => destination_type(p, i)?,
    };
    let mut register = p.subregister(&base, index, ty)?;
    p.general_only(i, &base)?;
    if let (Format::ThreeSource, Operand::Register(first)) = (format, i.sources[0])
        && first.ty != ty
    {
        let message = format!("the sources of `{}` must have the same type", i.opcode);
        return Err(Fault::new(type_span, message).expected(first.ty.name()));
    }
    if let (true, DataType::Df, None, Register::Grf { byte, .. }) =
        (replicate, ty, &selection, &mut register)
    {
        // Hardware cannot replicate a double. A swizzle makes both pairs of channels read the same
        // double.
        let odd = *byte % 16 != 0;
        *byte -= if odd { 8 } else { 0 };
        let swizzle = if odd { [2, 3, 2, 3] } else { [0, 1, 0, 1] };
        return Ok(Source {
            negate,
            absolute,
            swizzle,
            macro_accumulator,
            ..Source::new(register, ty, Region::new(4, 4, 1))
        });
    }
    let region = region.unwrap_or_else(|| default_region(i, ty, macro_accumulator.is_some()));
    Ok(Source {
        negate,
        absolute,
        swizzle,
        replicate,
        macro_accumulator,
        ..Source::new(register, ty, region)
    })
}

/// The region of a source that is written without a region. It depends on the format; for most
/// operations it means consecutive elements.
fn default_region(i: &Instruction, ty: DataType, extended: bool) -> Region {
    match i.opcode.op().format {
        Format::JumpIndexed | Format::Wait => Region::SCALAR,
        Format::Return | Format::Call | Format::BranchTwo => Region::new(2, 2, 1),
        Format::BranchOne => Region::SCALAR,
        // Rows of 16 bytes: extended accumulators need Align16.
        _ if extended && ty == DataType::Df => Region::new(2, 4, 1),
        _ if extended => Region::new(4, 4, 1),
        _ => Region::packed(i.exec_size.min(8)),
    }
}

/// Parses an optional region: `<8;8,1>`, `<1,0>` (one address per row), `<4>` in Align16. In
/// three-source instructions: `<2;1>` (1, 4 or 8 mean the same as 2), `<0;0>`, `<1>`, `<0>`. Also
/// returns whether all channels of a three-source instruction read one element.
fn region(
    p: &mut Parser<'_>,
    i: &mut Instruction,
    extended: bool,
) -> Parse<(Option<Region>, bool)> {
    let three = i.opcode.op().format == Format::ThreeSource;
    if !p.eat('<') {
        return Ok((three.then_some(Region::new(4, 4, 1)), false));
    }
    const STRIDES: [u8; 7] = [0, 1, 2, 4, 8, 16, 32];
    const WIDTHS: [u8; 5] = [1, 2, 4, 8, 16];
    const STEPS: [u8; 4] = [0, 1, 2, 4];
    let start = p.peek();
    let first = p.choice("stride", &STRIDES)?;
    if three {
        let horizontal = if p.eat(';') { p.choice("horizontal stride", &STRIDES)? } else { first };
        // Also parse `<V;W,H>`, the form of other instructions, so the error marks all of it.
        let width = p.eat(',');
        if width {
            p.choice("horizontal stride", &STRIDES)?;
        }
        let end = p.expect('>')?;
        return match (first, horizontal) {
            (0, 0) if !width => Ok((Some(Region::SCALAR), true)),
            (1 | 2 | 4 | 8, 1) if !width => Ok((Some(Region::new(4, 4, 1)), false)),
            _ => Err(Fault::new(
                start.start..end.start,
                "three-source instructions do not have this region",
            )
            .expected("<2;1> or <0;0>, for the last source <1> or <0>")),
        };
    }
    let region = if p.eat(';') {
        let width = p.choice("width", &WIDTHS)?;
        p.expect(',')?;
        Region::new(first, width, p.choice("horizontal stride", &STEPS)?)
    } else if p.eat(',') {
        if !WIDTHS.contains(&first) {
            let message = format!("{first} is not a width");
            return Err(Fault::new(start.span(), message).expected("1, 2, 4, 8 or 16"));
        }
        let horizontal = p.choice("horizontal stride", &STEPS)?;
        Region { vertical: Vertical::Addresses, width: first, horizontal }
    } else if p.is('>') {
        if !extended {
            i.access_mode = AccessMode::Align16;
        }
        Region::new(first, 4, 1)
    } else {
        return Err(p.unexpected("`;` and the width, as in <8;8,1>"));
    };
    p.expect('>')?;
    Ok((Some(region), false))
}

/// Parses the shared function and the descriptor of a message: `0x2 0x0C847000`, `0xC a0.0`. Bit 5
/// of the first number is the end of thread. Or parses a message by name.
fn message(p: &mut Parser<'_>) -> Parse<Send> {
    if p.peek_word().is_some() {
        return literal::message(p);
    }
    let function = p.integer("the shared function's number", 0x3f)? as u8;
    let descriptor = if p.peek_word() == Some("a0") {
        p.next();
        let index = if p.eat('.') { p.integer("a dword of a0", 7)? } else { 0 };
        Descriptor::Address(index as u8 * 4)
    } else {
        Descriptor::Immediate(
            p.integer("the message descriptor or a0.0", u64::from(u32::MAX))? as u32
        )
    };
    Ok(send::message(function & 15, descriptor, function & 32 != 0))
}

fn at_target(p: &Parser<'_>) -> bool {
    let token = p.peek();
    match token.kind {
        Kind::Number => true,
        Kind::Mark('-' | '+') => p.peek_at(1).kind == Kind::Number,
        // Registers and labels are both words; the name of a register is never a label.
        Kind::Word => !is_register(p.text(token)),
        _ => false,
    }
}

fn is_register(word: &str) -> bool {
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = letters == "r" || syntax::ARFS.rows.iter().any(|row| row.iga == letters);
    (known || letters == "arf")
        && (letters.len() < word.len() || matches!(word, "null" | "ip" | "r"))
}

/// Parses a jump target: a label, or a distance in bytes from the branch.
pub fn target(p: &mut Parser<'_>) -> Parse<SpannedTarget> {
    let start = p.peek().start;
    if let Some(label) = p.peek_word() {
        let span = p.next().span();
        return Ok((Target::Label(label.to_owned()), span));
    }
    let negative = p.eat_sign();
    let distance = p.integer("a label or a distance in bytes", 1 << 31)? as i64;
    let end = p.last_end();
    Ok((Target::Distance(if negative { -distance } else { distance }), start..end))
}

/// Parses the optional options: `{Compacted,EOT}`.
fn options(p: &mut Parser<'_>, item: &mut Item) -> Parse<()> {
    if !p.eat('{') {
        return if p.peek().kind == Kind::End || p.is(';') {
            Ok(())
        } else {
            Err(p.unexpected("options in braces or the end of the line"))
        };
    }
    while !p.is('}') {
        let token = p.peek();
        let option = p.name(&syntax::OPTIONS)?;
        apply(item, option, token.span())?;
        if !p.eat(',') && !p.is('}') {
            return Err(p.unexpected("`,` or `}`"));
        }
    }
    p.next();
    Ok(())
}

/// Applies an option in braces.
pub fn apply(item: &mut Item, option: Keyword, span: Span) -> Parse<()> {
    let i = &mut item.instruction;
    match option {
        Keyword::AccWrite if crate::decode::has_branch_ctrl(i.opcode) => i.branch_ctrl = true,
        Keyword::AccWrite => i.acc_write = true,
        Keyword::Access(mode) => i.access_mode = mode,
        Keyword::BranchControl => i.branch_ctrl = true,
        Keyword::Breakpoint => i.breakpoint = true,
        Keyword::Compacted => item.compacted = Some(span),
        Keyword::EndOfThread => match &mut i.send {
            Some(send) => send.end_of_thread = true,
            None => return Err(Fault::new(span, "only messages end a thread")),
        },
        Keyword::NoDdCheck => i.no_dd_check = true,
        Keyword::NoDdClear => i.no_dd_clear = true,
        Keyword::NoMask => i.no_mask = true,
        Keyword::Channels { offset, .. } => i.channel_offset = offset,
        Keyword::Thread(control) => i.thread_control = control,
    }
    Ok(())
}

/// Replaces execution size 1 of a three-source instruction, which hardware does not have. The
/// instruction gets four channels, of which the write mask enables one; for doubles it gets two
/// channels, and a double covers two bits of the mask. The destination then starts at the first
/// element of this aligned group.
fn scalar_three_source(i: &mut Instruction) {
    if i.opcode.op().format != Format::ThreeSource || i.exec_size != 1 {
        return;
    }
    let Some(destination) = &mut i.destination else { return };
    let double = destination.ty == DataType::Df;
    i.exec_size = if double { 2 } else { 4 };
    if let (None, 15, Register::Grf { byte, .. }) =
        (destination.macro_accumulator, destination.write_mask, &mut destination.register)
    {
        let size = destination.ty.size();
        let element = *byte / size % i.exec_size;
        *byte -= element * size;
        destination.write_mask = if double { 0b0011 << (2 * element) } else { 1 << element };
    }
}
