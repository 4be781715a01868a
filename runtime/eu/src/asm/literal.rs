//! Messages by name. A text may name a message and its fields, `Msd0rOwb { binding_table_index: 1,
//! data_blocks: OW2, header_present: true }`, instead of two numbers, the shared function and the
//! descriptor.
//!
//! Names of messages, fields and values are those of the generated types or of the manual; case and
//! punctuation are ignored. Fields that are not given have their defaults. How many registers are
//! sent and returned is worked out from the other fields, where only one count is possible.

use super::error::Fault;
use super::lex::Kind;
use super::parse::{Parse, Parser, Span};
use super::send;
use crate::encoding;
use crate::gen8::eu::{EuInstructionSend, RegFile};
use crate::instruction::{Descriptor, Send, SharedFunction};
use crate::message;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use genxml_core::reflect::{Container, Field, Stored, Type};
use genxml_core::{Packed, bits};

/// The shared functions that messages of containers go to, in the order in which they are tried.
const FUNCTIONS: [SharedFunction; 12] = [
    SharedFunction::Sampler,
    SharedFunction::Gateway,
    SharedFunction::DataPortSampler,
    SharedFunction::DataPortRender,
    SharedFunction::Urb,
    SharedFunction::ThreadSpawner,
    SharedFunction::DataPortConstant,
    SharedFunction::DataPort0,
    SharedFunction::PixelInterpolator,
    SharedFunction::DataPort1,
    SharedFunction::MotionEstimation,
    SharedFunction::CheckAndRefinement,
];

/// A message description and the function that it is sent to.
type Named = (&'static Container, SharedFunction);

/// Parses a message by name, at its first word.
pub(super) fn message(p: &mut Parser<'_>) -> Parse<Send> {
    let (word, span) = p.word("the shared function's number, or the name of a message")?;
    let all = all();
    let found = all.iter().find(|(container, _)| named(container, word)).copied();
    let Some((container, function)) = found else {
        let fault = Fault::new(span, format!("`{word}` is not a message"));
        return Err(fault.like(word, all.iter().map(|(container, _)| container.rust_name)));
    };
    let mut dwords = [0];
    defaults(container, 0, &mut dwords);
    let mut given = Vec::new();
    // Options in braces may follow a message without fields: `TsEot {EOT}`.
    let (first, second) = (p.peek_at(1).kind, p.peek_at(2).kind);
    let fields = matches!(first, Kind::Mark('}' | '.')) || second == Kind::Mark(':');
    if p.is('{') && fields {
        members(p, container, 0, &mut dwords, &mut given)?;
    }
    selected(container, function, &given, &mut dwords, &span)?;
    lengths(container, function, &given, &mut dwords, span)?;
    let number = encoding::SHARED_FUNCTION.encode(function).map_or(0, |sfid| sfid.bits());
    Ok(send::message(number as u8, Descriptor::Immediate(dwords[0]), false))
}

/// All messages that the descriptor of `send` may hold.
fn all() -> Vec<Named> {
    let mut all = Vec::new();
    for function in FUNCTIONS {
        let Some(sfid) = encoding::SHARED_FUNCTION.encode(function) else { continue };
        let send = EuInstructionSend {
            shared_function_id_sfid: sfid,
            src1_reg_file: RegFile::IMM,
            ..EuInstructionSend::new()
        };
        let dwords = send.pack();
        let frame = genxml_core::rule::Frame::new(&dwords);
        for view in EuInstructionSend::INFO.views {
            // The descriptor is the last dword (2d p.177).
            if (view.start, view.end) == (96, 127) && view.exists(&frame) {
                collect(view.ty, function, &mut all);
            }
        }
    }
    all
}

fn collect(ty: Type, function: SharedFunction, all: &mut Vec<Named>) {
    let Type::Struct(container) = ty else { return };
    all.push((container, function));
    for view in container.views.iter().filter(|view| (view.start, view.end) == (0, 31)) {
        collect(view.ty, function, all);
    }
}

/// True if `word` is a name of the container.
fn named(container: &Container, word: &str) -> bool {
    same(container.rust_name, word) || same(container.name, word)
}

/// Compares names without case and punctuation.
fn same(name: &str, word: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())
    }
    letters(name).eq(letters(word))
}

/// Sets the bits that a new value of the container has.
fn defaults(container: &Container, base: u32, dwords: &mut [u32; 1]) {
    for field in container.fields {
        let (start, end) = (base + field.start, base + field.end);
        match (field.ty, field.default) {
            (Type::Struct(inner), None) => defaults(inner, start, dwords),
            (Type::MustBeOne, _) => set(dwords, start, end, u64::MAX),
            (_, Some(value)) => set(dwords, start, end, value),
            _ => {}
        }
    }
}

fn set(dwords: &mut [u32; 1], start: u32, end: u32, value: u64) {
    let mask = !(bits::ones(end - start + 1) << start) as u32;
    dwords[0] &= mask;
    bits::put(dwords, start, end, value & bits::ones(end - start + 1));
}

/// Parses `{ field: value, ... }`. Adds the names of the fields to `given`.
fn members(
    p: &mut Parser<'_>,
    container: &'static Container,
    base: u32,
    dwords: &mut [u32; 1],
    given: &mut Vec<&'static str>,
) -> Parse<()> {
    p.expect('{')?;
    while !p.is('}') {
        if p.is('.') {
            // `..`: the rest has its defaults, as without it.
            p.next();
            p.expect('.')?;
            break;
        }
        let (word, span) = p.word("a field of the message")?;
        let fields = || container.fields.iter().filter(|field| is_member(field));
        let Some(field) = fields().find(|field| same(field.name, word)) else {
            let fault = Fault::new(span, format!("{} has no field `{word}`", container.rust_name));
            let names: Vec<String> = fields().map(|field| snake(field.name)).collect();
            return Err(fault.expected(names.join(", ")));
        };
        p.expect(':')?;
        let (start, end) = (base + field.start, base + field.end);
        match field.ty {
            Type::Struct(inner) if p.is('{') => members(p, inner, start, dwords, given)?,
            _ => {
                let value = value(p, field)?;
                set(dwords, start, end, value);
            }
        }
        given.push(field.name);
        if !p.eat(',') {
            break;
        }
    }
    p.expect('}')?;
    Ok(())
}

fn is_member(field: &Field) -> bool {
    !matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
}

/// A field's name as a member of a Rust type.
fn snake(name: &str) -> String {
    let lower = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(lower).collect()
}

/// Parses a value and returns it as it is stored.
fn value(p: &mut Parser<'_>, field: &'static Field) -> Parse<u64> {
    let width = field.end - field.start + 1;
    let most = bits::ones(width);
    if let (Kind::Word, Some(word)) = (p.peek().kind, p.peek_word()) {
        let span = p.peek().span();
        let found = match field.ty {
            Type::Bool => [("false", 0), ("true", 1)]
                .into_iter()
                .find(|(name, _)| *name == word)
                .map(|(_, value)| value),
            Type::Enum(list) => {
                list.values.iter().find(|(_, name)| same(name, word)).map(|(value, _)| *value)
            }
            _ => None,
        };
        return match found {
            Some(value) => {
                p.next();
                Ok(value)
            }
            None => {
                let fault = Fault::new(span, format!("`{word}` is not a value of {}", field.name));
                Err(match field.ty {
                    Type::Enum(list) => fault.like(word, list.values.iter().map(|value| value.1)),
                    Type::Bool => fault.expected("true or false"),
                    _ => fault.expected("a number"),
                })
            }
        };
    }
    let span = p.peek().span();
    let meant = p.integer("a value", u64::MAX)?;
    let stored = match field.stored {
        Stored::Plain => Some(meant),
        Stored::MinusOne => meant.checked_sub(1),
        Stored::Shifted(by) => Some(meant >> by).filter(|stored| stored << by == meant),
        Stored::Log2 => meant.is_power_of_two().then(|| u64::from(meant.trailing_zeros())),
    };
    stored.filter(|stored| *stored <= most).ok_or_else(|| {
        let (least, most) = (field.stored.decode(0), field.stored.decode(most));
        Fault::new(span, format!("{meant} does not fit {}", field.name))
            .expected(format!("{least} to {most}"))
    })
}

/// Sets the type of the message, unless it is given. If several types have this description, the
/// text must say which.
fn selected(
    container: &'static Container,
    function: SharedFunction,
    given: &[&str],
    dwords: &mut [u32; 1],
    span: &Span,
) -> Parse<()> {
    const TYPE: &str = "Message Type";
    let field = container.fields.iter().find(|field| field.name == TYPE);
    let Some((field, Type::Enum(list))) = field.map(|field| (field, field.ty)) else {
        return Ok(());
    };
    let is = |dwords: &[u32; 1]| {
        message::describe(function, dwords[0])
            .container
            .is_some_and(|found| core::ptr::eq(found, container))
    };
    if given.contains(&TYPE) {
        return Ok(());
    }
    let mut fitting = Vec::new();
    for (value, name) in list.values {
        let mut other = *dwords;
        set(&mut other, field.start, field.end, *value);
        if is(&other) {
            fitting.push((other, *name));
        }
    }
    match fitting.as_slice() {
        [(only, _)] => *dwords = *only,
        // A description of all types together, or of none.
        [] => {}
        _ => {
            let names: Vec<&str> = fitting.iter().map(|(_, name)| *name).collect();
            let message = format!("{} needs `{}`", container.rust_name, snake(TYPE));
            return Err(Fault::new(span.clone(), message).expected(names.join(", ")));
        }
    }
    Ok(())
}

/// Fills in the numbers of registers that are sent and returned, unless they are given.
fn lengths(
    container: &'static Container,
    function: SharedFunction,
    given: &[&str],
    dwords: &mut [u32; 1],
    span: Span,
) -> Parse<()> {
    let known = message::describe(function, dwords[0]).lengths();
    for (name, counts) in [
        ("Message Length", known.map(|lengths| lengths.sent)),
        ("Response Length", known.map(|lengths| lengths.returned)),
    ] {
        if given.contains(&name) {
            continue;
        }
        let Some(field) = container.fields.iter().find(|field| field.name == name) else {
            continue;
        };
        match counts {
            Some(counts) if counts.min == counts.max => {
                set(dwords, field.start, field.end, counts.min.into());
            }
            counts => {
                let counts = counts.map_or_else(|| String::from("a number"), |it| format!("{it}"));
                let message = format!("{} needs `{}`", container.rust_name, snake(name));
                return Err(Fault::new(span, message).expected(counts));
            }
        }
    }
    Ok(())
}
