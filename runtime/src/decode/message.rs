//! Describes the messages of send instructions with the descriptors of the specification.

use super::record::Value;
use genxml_core::Packed as _;
use genxml_core::bits;
use genxml_core::reflect::{Container, Field, Type};
use genxml_core::rule::Frame;
use genxml_eu::Generation;
use genxml_eu::gen8::messages::MessageDescriptor;
use genxml_eu::instruction::{Descriptor, Send};
use genxml_eu::message::{describe, is_described};
use genxml_eu::native::Native;
use std::fmt::Write as _;

/// Largest number of steps from the general description of a message to a more specific one.
const MAX_VIEWS: usize = 4;

/// The message of a send whose descriptor is in the instruction, as text: the name of the
/// descriptor and its fields. Messages of a later generation that Gen8 does not have, or has with
/// another meaning, are described by the fields that all messages have. `send` is the message of
/// the instruction if it can be decoded.
pub(super) fn message(
    generation: Generation,
    native: &Native,
    send: Option<Send>,
) -> Option<String> {
    let container = native.container()?;
    let field = container.fields.iter().find(|field| field.name == "Message");
    if generation == Generation::Gen8 {
        let (field, dwords) = (field?, &native.dwords);
        let (start, end) = (field.start, field.end);
        let mut found = view(container, dwords, 0, (start, end))?;
        for _ in 0..MAX_VIEWS {
            let Some(closer) = view(found, dwords, start, (0, end - start)) else { break };
            found = closer;
        }
        return Some(description(found, dwords, start));
    }
    let Send { function, descriptor: Descriptor::Immediate(descriptor), .. } = send? else {
        return None;
    };
    let found = match is_described(generation, function, descriptor) {
        true => describe(function, descriptor).container?,
        false => MessageDescriptor::INFO,
    };
    // The parts of a descriptor of Gen12 are not together.
    Some(match field {
        Some(field) => description(found, &native.dwords, field.start),
        None => description(found, &[descriptor], 0),
    })
}

/// The name and the fields of a container that starts at bit `base` of `dwords`.
fn description(found: &Container, dwords: &[u32], base: u32) -> String {
    let mut text = format!("{}:", found.name);
    let mut first = true;
    fields(found, dwords, base, &mut text, &mut first);
    text
}

/// The most specific description of bits `start` to `end` of a container: the last view whose
/// condition holds. The container starts at bit `base` of `dwords`.
fn view(
    container: &'static Container,
    dwords: &[u32],
    base: u32,
    (start, end): (u32, u32),
) -> Option<&'static Container> {
    let frame = Frame::inside(dwords, base);
    let same = container.views.iter().filter(|view| (view.start, view.end) == (start, end));
    let mut structures = same.rev().filter_map(|view| match view.ty {
        Type::Struct(inner) if view.exists(&frame) => Some(inner),
        _ => None,
    });
    structures.next()
}

/// Writes the fields, without reserved bits and without switches that are off.
fn fields(container: &Container, dwords: &[u32], base: u32, text: &mut String, first: &mut bool) {
    // Lowest bits first: they are the fields of the message itself.
    let mut sorted: Vec<_> = container.fields.iter().collect();
    sorted.sort_by_key(|field| field.start);
    for field in sorted {
        let stored = bits::get(dwords, base + field.start, base + field.end);
        // If fields share bits, the one whose condition holds is written, otherwise the one without
        // a condition.
        let other = |other: &Field| {
            other.start <= field.end
                && other.end >= field.start
                && other.exists_if.is_some_and(|condition| condition.holds(dwords, base))
        };
        match field.exists_if {
            Some(condition) if !condition.holds(dwords, base) => continue,
            None if container.fields.iter().any(other) => continue,
            _ => {}
        }
        let value = match field.ty {
            Type::Struct(inner) => {
                fields(inner, dwords, base + field.start, text, first);
                continue;
            }
            Type::Reserved | Type::MustBeZero | Type::MustBeOne => continue,
            Type::Bool if stored == 0 => continue,
            Type::Bool => Value::Bool(true),
            Type::Enum(list) => Value::Enum { name: list.name_of(stored) },
            Type::Int => Value::Int(bits::sign_extend(stored, field.end - field.start + 1)),
            _ => Value::Uint(field.stored.decode(stored)),
        };
        text.push_str(if *first { " " } else { ", " });
        *first = false;
        text.push_str(field.name);
        // Writing to a string cannot fail.
        _ = match value {
            Value::Bool(_) => Ok(()),
            Value::Enum { name: Some(name) } => write!(text, " {name}"),
            Value::Int(value) => write!(text, " {value}"),
            Value::Uint(value) => write!(text, " {value}"),
            _ => write!(text, " {stored}"),
        };
    }
}
