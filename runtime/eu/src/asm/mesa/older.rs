//! Mesa's syntax of Gen4, G45 and Gen5: the first message register of a message, counts of jumps,
//! and compression.

use super::super::error::Fault;
use super::super::lex::Kind;
use super::super::number::{self, Number};
use super::super::parse::{Item, Parse, Parser, Span, Target};
use super::operand::{destination, message, operand, source};
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use alloc::format;

/// Parses the operands that these generations write differently. Returns false if the instruction
/// has none.
pub(super) fn operands(p: &mut Parser<'_>, item: &mut Item) -> Parse<bool> {
    if !p.generation.has_message_registers() {
        return Ok(false);
    }
    let i = &mut item.instruction;
    match (i.opcode, i.opcode.op().format) {
        (_, Format::Send) => {
            i.gen4.message_register = p.integer("the first message register", 15)? as u8;
            i.destination = Some(destination(p, i)?);
            i.sources[0] = Operand::Register(source(p, i)?);
            i.send = Some(message(p, i)?);
        }
        (Opcode::Break | Opcode::Cont | Opcode::Else, _) => {
            jump(p, item)?;
            item.instruction.gen4.pop_count = pop(p)?;
        }
        (Opcode::If | Opcode::Iff | Opcode::Halt | Opcode::While, _) => jump(p, item)?,
        (Opcode::Endif, _) => i.gen4.pop_count = pop(p)?,
        (Opcode::Jmpi, _) => {
            let start = p.peek().start;
            match operand(p, i, true)? {
                Operand::Immediate(immediate) => {
                    let count = i64::from(immediate.bits as u32 as i32);
                    let unit = i64::from(p.generation.jump_unit());
                    item.jip = Some((Target::Distance(count * unit), start..p.last_end()));
                    item.from_next = true;
                }
                register => i.sources[0] = register,
            }
        }
        (Opcode::Msave | Opcode::Mrest | Opcode::Push | Opcode::Pop, _) => {
            if p.is('{') || p.is(';') {
                let message = format!("`{}` lacks its operands", i.opcode);
                let fault = Fault::new(p.peek().span(), message).expected(match i.opcode {
                    Opcode::Mrest => "`mask0.1<1>UW ms0<0,1,0>UD`",
                    Opcode::Pop => "`ms0<1>UD 1UD`",
                    _ => "`ms0<1>UD mask0.1<0,1,0>UW`",
                });
                return Err(fault.hint("Mesa's disassembler leaves them out"));
            }
            i.destination = Some(destination(p, i)?);
            i.sources[0] = operand(p, i, true)?;
        }
        // It fills up 16 bytes after an instruction of 8 bytes, so it has 8 bytes itself.
        (Opcode::Nenop, _) => item.compacted = Some(item.span.clone()),
        (Opcode::Movi, _) => {
            i.destination = Some(destination(p, i)?);
            i.sources[0] = operand(p, i, false)?;
            i.sources[1] = operand(p, i, true)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Parses a count after its name: `Jump: -10`.
fn count(p: &mut Parser<'_>, name: &str) -> Parse<(i64, Span)> {
    if p.peek_word() != Some(name) {
        return Err(p.unexpected(format!("`{name}:` and a count")));
    }
    p.next();
    p.expect(':')?;
    let start = p.peek().start;
    let negative = p.eat_sign();
    let token = p.peek();
    let value = match (token.kind, number::number(p.text(token))) {
        (Kind::Number, Some(Number::Decimal(value) | Number::Bits(value))) => value,
        _ => return Err(p.unexpected("a count")),
    };
    p.next();
    let span = start..token.end;
    let value = i64::try_from(value).ok().filter(|value| *value < 1 << 15);
    let value = value.ok_or_else(|| {
        Fault::new(span.clone(), "the count is too large").expected("-32767 to 32767")
    })?;
    Ok((if negative { -value } else { value }, span))
}

fn jump(p: &mut Parser<'_>, item: &mut Item) -> Parse<()> {
    let (count, span) = count(p, "Jump")?;
    let unit = i64::from(p.generation.jump_unit());
    item.jip = Some((Target::Distance(count * unit), span));
    Ok(())
}

fn pop(p: &mut Parser<'_>) -> Parse<u8> {
    let (count, span) = count(p, "Pop")?;
    u8::try_from(count).ok().filter(|count| *count < 16).ok_or_else(|| {
        Fault::new(span, format!("{count} does not fit four bits")).expected("0 to 15")
    })
}

/// The first channel and the compression that an option stands for.
pub(super) fn compression(p: &Parser<'_>, word: &str) -> Option<(u8, Compression)> {
    let known = match word {
        "sechalf" => (8, Compression::None),
        "compr" => (0, Compression::Compr),
        "compr4" => (0, Compression::Compr4),
        _ => return None,
    };
    p.generation.has_message_registers().then_some(known)
}
