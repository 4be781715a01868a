//! Steps and their state as JSON.

use super::work::Entry;
use crate::run::draws::Draw;
use genxml::core::members::{Element, Level, Member, Value as FieldValue};
use genxml::decode::Tables;
use genxml_sim::inspect::frame::{Kind, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of fields of a packet in the answer.
const MOST_FIELDS: usize = 400;

/// An address as text.
pub fn hex(address: u64) -> String {
    format!("{address:#x}")
}

/// The draw of a step, as `genx run --observe draw` prints it.
pub fn draw(step: &Step) -> Option<Draw> {
    let Kind::Draw { number, summary, before, done } = &step.kind else { return None };
    Some(Draw {
        number: *number as usize,
        submission: step.submission,
        at: step.at,
        summary: (**summary).clone(),
        before: *before,
        done: *done,
        pictures: Vec::new(),
    })
}

/// A row of the list of steps.
pub fn row(entry: &Entry) -> Value {
    let step = &entry.step;
    let (kind, number, title, words) = match &step.kind {
        Kind::Draw { number, .. } => {
            let draw = draw(step);
            let title = draw.as_ref().map(Draw::range).unwrap_or_default();
            ("draw", Some(*number), title, draw.map(|draw| words(&draw)).unwrap_or_default())
        }
        Kind::Dispatch { kernel } => {
            ("dispatch", None, format!("kernel {}", hex(*kernel)), String::new())
        }
        Kind::Blit { format, destination, rectangle: [left, top, right, bottom] } => {
            let to = hex(*destination);
            (
                "blit",
                None,
                format!("{left},{top} to {right},{bottom} of {to}, {format}"),
                String::new(),
            )
        }
    };
    json!({
        "number": step.number,
        "kind": kind,
        "draw": number,
        "title": title,
        "words": words,
        "submission": step.submission,
        "exec": step.label,
        "engine": step.at.engine.name(),
        "packet": step.at.packet,
        "address": hex(step.at.address),
        "batch": hex(step.at.batch),
        "threads": step.threads,
        "instructions": step.instructions,
        "pixels": step.pixels,
        "changed": step.changes.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        "thumbnail": entry.thumbnail.is_some(),
        "complete": step.is_complete,
    })
}

/// Text of a draw that the search finds besides its title.
fn words(draw: &Draw) -> String {
    let mut text = Vec::new();
    // A failed write to a vector is impossible.
    let _ = draw.text(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Everything about the state of step `number`, which must exist.
pub fn state(entries: &[Arc<Entry>], number: usize, tables: &Tables) -> Value {
    let Some(entry) = number.checked_sub(1).and_then(|index| entries.get(index)) else {
        return Value::Null;
    };
    let mut packets: BTreeMap<&'static str, [Option<&[u32]>; 2]> = BTreeMap::new();
    for entry in &entries[..number - 1] {
        for (name, dwords) in &entry.step.changes {
            packets.insert(name, [Some(dwords); 2]);
        }
    }
    for (name, dwords) in &entry.step.changes {
        packets.entry(name).or_insert([None; 2])[1] = Some(dwords);
    }
    let changed: Vec<&str> = entry.step.changes.iter().map(|(name, _)| *name).collect();
    let packets: Vec<Value> = packets
        .into_iter()
        .map(|(name, [old, new])| {
            let is_changed = changed.contains(&name);
            let old = old.filter(|_| is_changed);
            json!({
                "name": name,
                "changed": is_changed,
                "new": is_changed && old.is_none(),
                "fields": fields(tables, name, old, new.unwrap_or_default()),
            })
        })
        .collect();
    let mut value = row(entry);
    let draw = draw(&entry.step);
    value["state"] = draw.as_ref().map_or(Value::Null, Draw::json);
    value["text"] = draw.as_ref().map(words).into();
    value["packets"] = packets.into();
    value
}

/// The fields of a packet, each with its old value if that differs.
fn fields(tables: &Tables, name: &str, old: Option<&[u32]>, new: &[u32]) -> Value {
    let Some(container) = tables.container(name) else { return json!([]) };
    let values = |dwords| {
        let mut out = Vec::new();
        level(Level::of(container, dwords), "", &mut out);
        out
    };
    let before: BTreeMap<String, String> = old
        .map(values)
        .unwrap_or_default()
        .into_iter()
        .map(|(path, _, text)| (path, text))
        .collect();
    let list: Vec<Value> = values(new)
        .into_iter()
        .map(|(path, bits, text)| {
            let old = match before.get(&path) {
                Some(old) if *old != text => Value::from(old.as_str()),
                None if old.is_some() => "absent".into(),
                _ => Value::Null,
            };
            json!({ "path": path, "bits": bits, "value": text, "old": old })
        })
        .collect();
    list.into()
}

/// Path, bits and value of a field.
type Leaf = (String, String, String);

fn level(level: Level<'_>, path: &str, out: &mut Vec<Leaf>) {
    for member in level.fields() {
        self::member(member, join(path, member.field.name), out);
    }
    for array in level.arrays() {
        for (index, element) in array.iter().enumerate() {
            let path = format!("{}[{index}]", join(path, array.name()));
            match element {
                Element::Field(member) => self::member(member, path, out),
                Element::Level(inner) => self::level(inner, &path, out),
            }
        }
    }
}

fn member(member: Member<'_>, path: String, out: &mut Vec<Leaf>) {
    if out.len() >= MOST_FIELDS {
        return;
    }
    if let Some(inner) = member.level() {
        return level(inner, &path, out);
    }
    let (start, end) = member.bits();
    let bits = match (start % 32, end % 32) {
        (low, _) if start == end => format!("dw{} {low}", start / 32),
        (low, high) if start / 32 == end / 32 => format!("dw{} {high}:{low}", start / 32),
        (low, high) => format!("dw{} {low} to dw{} {high}", start / 32, end / 32),
    };
    let text = match member.value() {
        FieldValue::Wide => {
            member.words().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(" ")
        }
        value => value.to_string(),
    };
    out.push((path, bits, text));
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
