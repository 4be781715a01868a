//! Compares the specification with the commands, registers and structures that drivers and tools
//! use: `../shared/facts`. Other rows of those tables (trace blocks, engine bases, observed
//! lengths, rules of opcodes) are not containers.

use std::collections::BTreeSet;

use genxml_codegen::model::{Container, Kind, Spec, Type};

use crate::inventory::explanations::Explanations;
use crate::inventory::layout::{self, Place};
use crate::inventory::names::{Item, Names};
use crate::inventory::tsv::{self, Row, number};
use crate::inventory::{finish, here, shared, spec};

/// Maximum number of elements of a variable tail that the tables list one by one.
const ELEMENTS: u32 = 32;

/// The specification has every command, structure and register, with the same length, bias and
/// offset, and with the same fields in the same bits.
#[test]
fn facts() {
    let Some(shared) = shared() else { return };
    let (spec, mut problems) = (spec(), Vec::new());
    let names = Names::new(&spec, &here("tests/data"));
    let explanations = Explanations::read("fact_explanations.tsv");
    let (mut containers, mut fields, mut explained) = (BTreeSet::new(), 0, 0);
    for file in ["gen8_blitter_video_context", "gen8_commands_and_registers", "gen8_vendor"] {
        let rows = tsv::read(&shared.join(format!("facts/{file}.tsv")));
        // For some commands, the facts have only the header.
        let bodies = rows.iter().filter(|row| {
            number(row.get("end_bit"))
                .is_some_and(|end| end > 31 || end < 16 && row.get("field") != "DWord Length")
        });
        let bodies: BTreeSet<&str> = bodies.map(|row| row.get("container")).collect();
        for row in &rows {
            let (name, field) = (row.get("container"), row.get("field"));
            if !["instruction", "struct", "register"].contains(&row.get("kind")) {
                continue;
            }
            let mut seen = Vec::new();
            let first = containers.insert((file, name.to_owned()));
            let item = names.find_with(
                "facts",
                &[name],
                !bodies.contains(name),
                if first { &mut problems } else { &mut seen },
            );
            let Some(Item::Container(container)) = item else { continue };
            if first {
                let found = container_problems(row, container, names.other("facts", name).1);
                problems.extend(found.iter().map(|problem| format!("facts: {name}: {problem}")));
            }
            let offset = offset_problem(row, &spec, container)
                .filter(|_| explanations.get(name, "offset").is_none());
            problems.extend(offset.map(|problem| format!("facts: {name}: {problem}")));
            let Some((start, end)) = number(row.get("start_bit")).zip(number(row.get("end_bit")))
            else {
                continue;
            };
            fields += 1;
            let places = layout::places(container, ELEMENTS);
            if is_there(container, &places, start as u32, end as u32) {
                continue;
            }
            let key = format!("{start} {field}");
            match explanations
                .get(name, &key)
                .map(|here| layout::cover(start as u32, end as u32, here, &places))
            {
                Some(Ok(_)) => explained += 1,
                Some(Err(problem)) => {
                    problems.push(format!("fact_explanations.tsv: {name} {key}: {problem}"))
                }
                None => {
                    let overlap = places.iter().filter(|place| {
                        u64::from(place.start) <= end && u64::from(place.end) >= start
                    });
                    let overlap: BTreeSet<&str> = overlap.map(|place| place.name).collect();
                    let overlap: Vec<&str> = overlap.into_iter().collect();
                    problems.push(format!(
                        "facts: {name}\t{key}\t{}\tbits {end}:{start}",
                        overlap.join("; ")
                    ));
                }
            }
        }
    }
    problems.extend(names.leftovers("facts"));
    problems.extend(explanations.leftovers());
    println!("{} containers, {fields} fields, {explained} explained", containers.len());
    finish(problems);
}

/// Differences in length and bias between a row and a container. The length of a packet with a tail
/// is not compared, because the facts have only an observed length.
fn container_problems(row: &Row, container: &Container, other_bits: Option<u32>) -> Vec<String> {
    let mut problems = Vec::new();
    let variable = container.groups.iter().any(|group| group.count == 0);
    let printed = row.either("length_dw", "length_dw_gen8");
    if let Some(dwords) = number(printed).filter(|_| !variable) {
        let wanted = other_bits.map_or(dwords as u32, |bits| bits / 32);
        if container.bits.div_ceil(32) != wanted {
            problems
                .push(format!("{} dwords, the facts have {printed}", container.bits.div_ceil(32)));
        }
    }
    if let Kind::Instruction { bias, .. } = container.kind {
        let has_length = container.fields.iter().any(|field| field.length);
        if has_length && number(row.get("bias")).is_some_and(|wanted| wanted != u64::from(bias)) {
            problems.push(format!("bias {bias}, the facts have {}", row.get("bias")));
        }
    }
    problems
}

/// A difference in a register's offset. The row has either the absolute offset of any element on
/// any engine, or an offset from the base of each engine, such as `base+0x270 + n * 8 + 4`.
fn offset_problem(row: &Row, spec: &Spec, container: &Container) -> Option<String> {
    let Kind::Register { offset, per_engine, count, stride, .. } = container.kind else {
        return None;
    };
    let printed = match row.get("field") {
        "(register)" => row.get("values"),
        _ => row.either("register_num", "group"),
    };
    let relative = printed.starts_with("base+");
    // Terms with a factor select an element of an array. The first element is compared.
    let terms = printed.trim_start_matches("base+").split(" + ").filter(|term| !term.contains('*'));
    let wanted = terms.map(number).sum::<Option<u64>>()?;
    let first: Vec<u32> = match (relative, per_engine) {
        (true, true) => (0..count).map(|index| offset + index * stride).collect(),
        // Tables for all chips use an offset from a base for every register. In the specification,
        // the register may belong to the render engine only.
        (true, false) => {
            spec.engines.iter().map(|engine| offset.wrapping_sub(engine.base)).collect()
        }
        (false, _) => container.register_places(&spec.engines).collect(),
    };
    let size = container.bits.div_ceil(32);
    let found = first
        .iter()
        .any(|at| (0..size).any(|dword| u64::from(*at) + u64::from(4 * dword) == wanted));
    (!found).then(|| format!("offset {offset:#x}, the facts have {printed}"))
}

/// True if the container has a field in the same bits, or differs by a convention of the project:
/// * a whole address instead of its halves, and an address up to bit 63 instead of a shorter one;
/// * a structure instead of its fields, an array instead of its first dword;
/// * in the upper half of a masked register, the write enables of its fields.
///
/// Names are not compared, because drivers choose them freely.
fn is_there(container: &Container, places: &[Place], start: u32, end: u32) -> bool {
    let masked = matches!(container.kind, Kind::Register { masked: true, .. });
    masked && start > 15
        || places.iter().any(|place| {
            let inside = place.start <= start && place.end >= end;
            match place.field.map(|field| &field.ty) {
                Some(Type::Address { .. }) => {
                    place.start.max(start) <= end && (inside || place.start >= start)
                }
                Some(Type::Struct(_)) => inside,
                // An array; the facts have its first element or first dword.
                None => inside && place.start == start,
                _ => (place.start, place.end) == (start, end),
            }
        })
}
