//! Parser for Mesa's syntax: `(+f0.0) add.sat.z.f0.0(8) g4<1>F g2<8,8,1>F 0x3f800000F { align1 1Q
//! };`, over any number of lines.
//!
//! The parser reads the output of Mesa's disassembler. The disassembler prints some branches
//! (`goto`, `call`) without targets. Here they need targets after `JIP:` and `UIP:`, like other
//! branches.

use super::error::Fault;
use super::iga;
use super::lex::Kind;
use super::parse::{Item, Parse, Parser, Span, SpannedTarget, Statement, Target};
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use crate::syntax;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;

mod older;
mod operand;

use operand::{destination, message, operand, register_source, source};

/// Parses the next statement.
pub fn statement(p: &mut Parser<'_>) -> Parse<Statement> {
    if p.peek().kind == Kind::Word && p.peek_at(1).kind == Kind::Mark(':') {
        let token = p.next();
        p.next();
        return Ok(Statement::Label(p.text(token).to_owned(), token.span()));
    }
    let start = p.peek().start;
    let mut item = instruction(p)?;
    item.span = start..p.expect(';')?.end;
    item.spans = core::mem::take(&mut p.spans);
    Ok(Statement::Instruction(Box::new(item)))
}

fn instruction(p: &mut Parser<'_>) -> Parse<Item> {
    let mut i = Instruction::new(Opcode::Nop, 1);
    i.generation = p.generation;
    predicate(p, &mut i)?;
    let head = p.peek().start;
    i.opcode = p.opcode()?;
    suffixes(p, &mut i)?;
    if i.opcode == Opcode::Math {
        i.math = Some(p.name(&syntax::MATH)?);
    }
    if p.eat('(') {
        i.exec_size = p.choice("execution size", &[1, 2, 4, 8, 16, 32])?;
        p.expect(')')?;
    }
    let head = head..p.peek().start;
    let mut item = Item::new(i, head.clone());
    operands(p, &mut item)?;
    options(p, &mut item)?;
    finish(&mut item.instruction, head)?;
    Ok(item)
}

fn operands(p: &mut Parser<'_>, item: &mut Item) -> Parse<()> {
    if older::operands(p, item)? {
        return Ok(());
    }
    let i = &mut item.instruction;
    match i.opcode.op().format {
        // Gen8 has no split sends and no `sync`.
        Format::Bare | Format::SplitSend | Format::Sync | Format::Loop => {}
        Format::Basic | Format::ThreeSource | Format::Math => {
            i.destination = Some(destination(p, i)?);
            let count = usize::from(i.math.map_or(i.opcode.op().sources, MathFunction::sources));
            for index in 0..count {
                let start = p.peek().start;
                i.sources[index] = operand(p, i, index + 1 == count)?;
                p.spans.sources[index] = start..p.last_end();
            }
            // Math functions with one source, and `movi`, are printed with a second source, `null`.
            let second = i.math.is_some() || i.opcode == Opcode::Movi;
            if second && count == 1 && p.peek_word() == Some("null") {
                i.sources[1] = Operand::Register(register_source(p, i)?);
            }
        }
        Format::Send => {
            i.destination = Some(destination(p, i)?);
            i.sources[0] = Operand::Register(source(p, i)?);
            i.send = Some(message(p, i)?);
        }
        Format::Wait => {
            let place = destination(p, i)?;
            let source = Source::new(place.register, place.ty, Region::SCALAR);
            i.sources[0] = Operand::Register(source);
            // Mesa's encoding of the missing source.
            let null = Source::new(Register::NULL, DataType::F, Region::new(8, 8, 1));
            i.sources[1] = Operand::Register(null);
            i.no_mask = true;
        }
        Format::Return => {
            require_operands(p, i)?;
            i.sources[0] = Operand::Register(source(p, i)?);
        }
        Format::JumpIndexed if p.peek_word() != Some("JIP") => {
            let start = p.peek().start;
            match operand(p, i, true)? {
                Operand::Immediate(immediate) => {
                    let end = p.last_end();
                    let distance = i64::from(immediate.bits as u32 as i32);
                    item.jip = Some((Target::Distance(distance), start..end));
                    item.from_next = true;
                }
                register => i.sources[0] = register,
            }
        }
        Format::BranchOne | Format::BranchTwo | Format::JumpIndexed | Format::Call => {
            require_operands(p, i)?;
            if i.opcode.op().format == Format::Call {
                i.destination = Some(destination(p, i)?);
            }
            if matches!(i.opcode, Opcode::Brd | Opcode::Brc | Opcode::Call | Opcode::Calla)
                && p.peek_word() != Some("JIP")
            {
                i.sources[0] = Operand::Register(source(p, i)?);
                return Ok(());
            }
            item.jip = Some(named_target(p, "JIP")?);
            if i.opcode.op().format == Format::BranchTwo {
                item.uip = Some(named_target(p, "UIP")?);
            }
        }
    }
    Ok(())
}

/// Returns an error for a branch without operands, such as `goto(16) { align1 1H };`. Mesa's
/// disassembler prints some branches without them.
fn require_operands(p: &Parser<'_>, i: &Instruction) -> Parse<()> {
    if !p.is('{') && !p.is(';') {
        return Ok(());
    }
    let (what, how) = match i.opcode.op().format {
        Format::Return => ("a source", "g125<2,2,1>UD"),
        Format::Call => ("a destination and a target", "g125<1>UD JIP: LABEL0"),
        Format::BranchTwo => ("its targets", "JIP: LABEL0 UIP: LABEL1"),
        _ => ("its target", "JIP: LABEL0"),
    };
    let message = format!("`{}` lacks {what}", i.opcode);
    let fault = Fault::new(p.peek().span(), message).expected(format!("`{how}`"));
    Err(fault.hint("Mesa's disassembler leaves that out of some branches"))
}

/// Parses the optional predicate: `(+f0.0)`, `(-f0.1.any8h)`.
fn predicate(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<()> {
    if !p.eat('(') {
        return Ok(());
    }
    let inverse = !p.eat('+') && (p.eat('-') || p.eat('~'));
    i.flag = p.flag()?;
    let control = p.predicate_control()?;
    i.predicate = Some(Predicate { control, inverse });
    p.expect(')')?;
    Ok(())
}

/// Parses the suffixes of the mnemonic: `.sat.z.f0.0`.
fn suffixes(p: &mut Parser<'_>, i: &mut Instruction) -> Parse<()> {
    while p.eat('.') {
        let (word, span) = p.word("`sat` or a condition")?;
        match word {
            "sat" => i.saturate = true,
            "breakpoint" => i.breakpoint = true,
            word => {
                // Mesa's assembler uses `.ne` for the disassembler's `.nz`.
                let found = match word {
                    "ne" => Some(Condition::NotEqual),
                    word => syntax::CONDITIONS.find(word, p.syntax),
                };
                i.condition = Some(
                    found.ok_or_else(|| p.unknown_name(&syntax::CONDITIONS, word, span.clone()))?,
                );
                if matches!(i.opcode.op().format, Format::Math | Format::Send) {
                    return Err(Fault::new(span, format!("`{}` has no condition", i.opcode)));
                }
                let flag = p.peek_at(1);
                if p.is('.') && p.text(flag).starts_with('f') {
                    p.next();
                    let flag = p.flag()?;
                    p.condition_flag(i, flag, span)?;
                }
            }
        }
    }
    Ok(())
}

/// Parses a target after its name: `JIP: LABEL0`.
fn named_target(p: &mut Parser<'_>, name: &str) -> Parse<SpannedTarget> {
    if p.peek_word() != Some(name) {
        return Err(p.unexpected(format!("`{name}:` and a target")));
    }
    p.next();
    p.expect(':')?;
    iga::target(p)
}

/// Parses the optional options: `{ align1 WE_all 1Q }`.
fn options(p: &mut Parser<'_>, item: &mut Item) -> Parse<()> {
    if !p.eat('{') {
        return if p.is(';') { Ok(()) } else { Err(p.unexpected("options in braces or `;`")) };
    }
    while !p.eat('}') {
        let token = p.peek();
        let word = p.text(token);
        if !matches!(token.kind, Kind::Word | Kind::Number) {
            return Err(p.unexpected("an option or `}`"));
        }
        if let Some(compression) = older::compression(p, word) {
            p.next();
            (item.instruction.channel_offset, item.instruction.gen4.compression) = compression;
            p.eat(',');
            continue;
        }
        let Some(option) = syntax::OPTIONS.find(word, p.syntax) else {
            let fault = p.unknown_name(&syntax::OPTIONS, word, token.span());
            let older = ["compr", "compr4", "sechalf"].contains(&word);
            return Err(if older {
                fault.hint("Gen6 and later name the channels: 1Q, 2Q, 1H, 2H")
            } else {
                fault
            });
        };
        p.next();
        iga::apply(item, option, token.span())?;
        p.eat(',');
    }
    Ok(())
}

/// Completes the instruction after its options, because operands depend on the access mode.
fn finish(i: &mut Instruction, head: Span) -> Parse<()> {
    let three = i.opcode.op().format == Format::ThreeSource;
    let align16 = i.access_mode == AccessMode::Align16;
    if three && !align16 {
        let fault = Fault::new(head, format!("`{}` needs Align16", i.opcode));
        return Err(fault.expected("`align16` among the options"));
    }
    if three {
        same_type(i);
    }
    for operand in &mut i.sources {
        let Operand::Register(source) = operand else { continue };
        if three {
            source.replicate = source.region.vertical == Vertical::Stride(0);
            source.region = Region::new(4, 4, 1);
            if source.replicate {
                // The swizzle has no effect on a replicated element; Mesa writes x.
                source.region = Region::SCALAR;
                source.swizzle = [0; 4];
            }
        } else if align16 {
            let vertical = match source.region.vertical {
                // In Align16 a row has four channels, so a stride of 8 is read as 4.
                Vertical::Stride(8) => Vertical::Stride(4),
                vertical => vertical,
            };
            source.region = Region { vertical, width: 4, horizontal: 1 };
        }
    }
    let extended = i.opcode == Opcode::Madm || i.math.is_some_and(|f| f.is_macro() && align16);
    if extended {
        // Mesa prints extended accumulators as the write masks and swizzles that encode them.
        i.extract_macro_accumulators();
    }
    Ok(())
}

/// If the three sources have different types, sets their types to that of the destination. A mix
/// of half and single floats is unchanged.
fn same_type(i: &mut Instruction) {
    let types = i.sources.map(|operand| match operand {
        Operand::Register(source) => Some(source.ty),
        _ => None,
    });
    let Some(destination) = i.destination else { return };
    let float = |ty: &Option<DataType>| matches!(ty, Some(DataType::F | DataType::Hf));
    if types.iter().all(|ty| *ty == types[0]) || types.iter().all(float) {
        return;
    }
    for operand in &mut i.sources {
        if let Operand::Register(source) = operand {
            source.ty = destination.ty;
        }
    }
}
