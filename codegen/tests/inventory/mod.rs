//! Compares the specification with the inventory of the manuals: every enumeration, command and
//! structure, with the same size, with the same fields in the same bits, and every printed default.
//!
//! Oracle: `../shared/inventory`, which others made from the manuals' text and checked, and
//! `../shared/facts`, which comes from drivers. If that folder is missing, the tests print this and
//! pass. Names are compared by their letters and digits. The tables of `codegen/tests/data` have
//! the differences, each with its reason:
//!
//! * `inventory_names.tsv`: rows whose item has another name in the specification, or another
//!   number of values or bits;
//! * `field_explanations.tsv`: fields that differ in name or bits;
//! * `fact_explanations.tsv`: fields of the facts that differ in name or bits;
//! * `default_explanations.tsv`: printed defaults that differ from the field's default.

mod explanations;
mod facts;
mod heads;
mod layout;
mod names;
mod tsv;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use genxml_codegen::load_dir;
use genxml_codegen::model::{Container, Enum, Kind, Spec};

use explanations::Explanations;
use layout::Match;
use names::{Item, Names};
use tsv::{Row, number};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder of tables, beside the workspace.
fn shared() -> Option<PathBuf> {
    let found =
        Some(here("../../shared")).filter(|dir| dir.join("inventory/structs.tsv").is_file());
    if found.is_none() {
        println!("skipped: ../shared/inventory is not there");
    }
    found
}

fn spec() -> Spec {
    load_dir(&here("../spec-xml/gen8")).unwrap_or_else(|report| panic!("{report}"))
}

fn finish(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

/// The specification has every enumeration, with as many values as the manual names.
#[test]
fn enumerations() {
    let Some(shared) = shared() else { return };
    let (spec, mut problems) = (spec(), Vec::new());
    let names = Names::new(&spec, &here("tests/data"));
    let rows = tsv::read(&shared.join("inventory/enums.tsv"));
    for row in &rows {
        let name = row.get("name");
        if let Some(item) = names.find("enums", &[name], &mut problems) {
            let (values, bits) = match item {
                Item::Enum(list) => (list.values.len(), list.bits),
                Item::Field(field) => (0, field.end - field.start + 1),
                Item::Container(container) => (container.fields.len(), container.bits),
            };
            let (other_values, other_bits) = names.other("enums", name);
            let wanted = other_values.unwrap_or_else(|| named_values(row));
            if values != wanted {
                problems.push(format!("enums: {name} has {values} values, the manual {wanted}"));
            }
            let wanted = other_bits.or(number(row.get("size_bits")).map(|bits| bits as u32));
            if Some(bits) != wanted && names.is_used(item) {
                problems.push(format!("enums: {name} has {bits} bits, the manual {wanted:?}"));
            }
        }
    }
    problems.extend(names.leftovers("enums"));
    println!("{} enumerations", rows.len());
    finish(problems);
}

/// Number of values in a row of `enums.tsv`, without values that are printed as reserved.
fn named_values(row: &Row) -> usize {
    let all = number(row.get("num_values")).unwrap_or(0) as usize;
    let reserved =
        row.get("remarks").split("; ").find_map(|part| part.strip_suffix(" Reserved row(s)"));
    all - reserved.and_then(|count| count.parse::<usize>().ok()).unwrap_or(0)
}

/// The specification has every command, with its length, length bias and opcode, and every EU
/// instruction with its number.
#[test]
fn commands() {
    let Some(shared) = shared() else { return };
    let (spec, mut problems) = (spec(), Vec::new());
    let names = Names::new(&spec, &here("tests/data"));
    let rows = tsv::read(&shared.join("inventory/commands.tsv"));
    for row in &rows {
        let name = row.get("name");
        if row.get("kind") == "eu-instruction" {
            let code = row.get("opcode").split(' ').next().and_then(number);
            if code.is_none() || opcode(&spec, name) != code {
                problems.push(format!(
                    "commands: EU_OPCODE says {:?} for {name}, the manual {code:?}",
                    opcode(&spec, name)
                ));
            }
            continue;
        }
        let Some(Item::Container(container)) = names.find("commands", &[name], &mut problems)
        else {
            continue;
        };
        for problem in command(row, container, names.other("commands", name).1) {
            problems.push(format!("commands: {name}: {problem}"));
        }
    }
    problems.extend(names.leftovers("commands"));
    println!("{} commands", rows.len());
    finish(problems);
}

fn opcode(spec: &Spec, name: &str) -> Option<u64> {
    let list = spec.enums.iter().find(|list| list.name == "EU_OPCODE")?;
    list.values.iter().find(|value| value.name == name).map(|value| value.value)
}

/// Differences between a command and its row.
fn command(row: &Row, container: &Container, other_bits: Option<u32>) -> Vec<String> {
    let mut problems = Vec::new();
    let Kind::Instruction { bias, .. } = container.kind else {
        // Message descriptors are one dword.
        let wanted =
            if row.get("kind").starts_with("send-message") { Some(32) } else { other_bits };
        if wanted != Some(container.bits) {
            problems.push("is not an instruction".to_owned());
        }
        return problems;
    };
    let variable = container.groups.iter().any(|group| group.count == 0);
    let dwords = number(row.get("dword_length"));
    if variable != dwords.is_none() {
        problems.push(format!(
            "length {} in the manual, variable: {variable} here",
            row.get("dword_length")
        ));
    }
    match dwords {
        Some(dwords) if !variable && u64::from(container.bits / 32) != dwords => {
            problems.push(format!("{} dwords, the manual has {dwords}", container.bits / 32));
        }
        _ => {}
    }
    if container.fields.iter().any(|field| field.length)
        && number(row.get("length_bias")) != Some(bias.into())
    {
        problems.push(format!("bias {bias}, the manual has {}", row.get("length_bias")));
    }
    let video = row.get("kind") == "mfx-video-command";
    let mut wanted = vec![
        (29, 31, row.get("command_type")),
        (27, 28, row.get("sub_type")),
        (24, 26, row.get("opcode")),
    ];
    match row.get("sub_opcode").split_once(' ') {
        Some((a, b)) if video => wanted
            .extend([(21, 23, a.trim_start_matches("A=")), (16, 20, b.trim_start_matches("B="))]),
        _ => wanted.push((16, 23, row.get("sub_opcode"))),
    }
    for (start, end, printed) in wanted {
        let mask = (u32::MAX >> (31 - (end - start))) << start;
        let (known, bits) = header(container);
        if known & mask != mask || number(printed) != Some(u64::from((bits & mask) >> start)) {
            problems.push(format!(
                "opcode bits {end}:{start} are {:#x}, the manual has {printed}",
                (bits & mask) >> start
            ));
        }
    }
    problems
}

/// Mask and value of the opcode bits of dword 0.
fn header(container: &Container) -> (u32, u32) {
    let fields = container.fields.iter().filter(|field| field.opcode && field.end < 32);
    fields.fold((0, 0), |(known, bits), field| {
        let mask = u32::MAX >> (31 - (field.end - field.start));
        (known | mask << field.start, bits | (field.default.unwrap_or(0) as u32) << field.start)
    })
}

/// The specification has every structure, with the same size.
#[test]
fn structures() {
    let Some(shared) = shared() else { return };
    let (spec, mut problems) = (spec(), Vec::new());
    let names = Names::new(&spec, &here("tests/data"));
    let rows = tsv::read(&shared.join("inventory/structs.tsv"));
    for row in &rows {
        let name = row.get("name");
        let found = names.find("structs", &[name, row.get("mnemonic")], &mut problems);
        let Some(item) = found.filter(|&item| names.is_used(item)) else { continue };
        let bits = match item {
            Item::Container(container) => container.bits,
            Item::Enum(list) => list.bits,
            Item::Field(field) => field.end - field.start + 1,
        };
        let wanted = number(row.get("size_bits").trim_end_matches('*')).map(|bits| bits as u32);
        let (_, other) = names.other("structs", name);
        if wanted.is_some() && other.or(wanted) != Some(bits) {
            problems.push(format!(
                "structs: {name} has {bits} bits, the manual {}",
                row.get("size_bits")
            ));
        }
    }
    problems.extend(names.leftovers("structs"));
    println!("{} structures", rows.len());
    finish(problems);
}

/// The specification has every field, with its bits, name and default, and no field that the manual
/// does not have.
#[test]
fn fields_and_defaults() {
    let Some(shared) = shared() else { return };
    let (spec, mut problems) = (spec(), Vec::new());
    let names = Names::new(&spec, &here("tests/data"));
    let explanations = Explanations::read("field_explanations.tsv");
    let other_defaults = Explanations::read("default_explanations.tsv");
    let structures = tsv::read(&shared.join("inventory/structs.tsv"));
    let rows = tsv::read(&shared.join("inventory/structs_fields.tsv"));
    let rows = layout::by_structure(&rows);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for structure in structures.iter().filter(|structure| done.insert(structure.get("name"))) {
        let name = structure.get("name");
        let found = names.find("structs", &[name, structure.get("mnemonic")], &mut Vec::new());
        let container = match found {
            Some(Item::Container(container)) => container,
            Some(Item::Enum(list)) => {
                let rows = rows.get(name).into_iter().flatten().copied();
                enum_defaults(name, rows, list, &other_defaults, &mut counts, &mut problems);
                continue;
            }
            _ => continue,
        };
        let places = layout::places(container, 1);
        let mut seen: Vec<(u32, u32)> = Vec::new();
        for row in rows.get(name).into_iter().flatten() {
            let text = format!("{name}\t{}\t{}", row.get("line"), row.get("name"));
            *counts.entry("fields").or_default() += 1;
            let (how, mut found) = layout::find(row, &places);
            if how == Match::None {
                match explanations
                    .get(name, row.get("line"))
                    .map(|here| layout::explained(row, here, &places))
                {
                    Some(Ok(explained)) => {
                        *counts.entry("explained").or_default() += 1;
                        found = explained;
                    }
                    Some(Err(problem)) => {
                        problems.push(format!("field_explanations.tsv: {text}: {problem}"))
                    }
                    None => {
                        let (start, end) = layout::bits(row).unwrap_or_default();
                        let overlap =
                            places.iter().filter(|place| place.start <= end && place.end >= start);
                        let overlap: Vec<&str> = overlap.map(|place| place.name).collect();
                        problems.push(format!(
                            "fields: {text}\t{}\tdw{} {}",
                            overlap.join("; "),
                            row.get("dword_resolved"),
                            row.get("bits")
                        ));
                    }
                }
            }
            seen.extend(found.iter().map(|place| (place.start, place.end)));
            let printed = row.get("default");
            if printed.is_empty() {
                continue;
            }
            *counts.entry("defaults").or_default() += 1;
            let field = found.iter().find_map(|place| place.field.filter(|_| !place.is_reserved()));
            let same = field.is_some_and(|field| {
                let default = layout::default(&spec, field);
                default.is_some_and(|default| layout::defaults(field, printed).contains(&default))
            });
            match (same, other_defaults.get(name, row.get("line"))) {
                (true, Some(_)) => {
                    problems.push(format!("default_explanations.tsv: {text} needs none"))
                }
                (false, None) => {
                    let here = field.and_then(|field| field.default);
                    problems.push(format!("defaults: {text}\t{here:?}\t{printed}"));
                }
                (true, None) => *counts.entry("equal defaults").or_default() += 1,
                (false, Some(_)) => *counts.entry("explained defaults").or_default() += 1,
            }
        }
        problems.extend(without_row(name, &places, &seen, &explanations));
    }
    problems.extend(explanations.leftovers());
    problems.extend(other_defaults.leftovers());
    println!("{counts:?}");
    finish(problems);
}

/// Compares the defaults of fields whose type in the specification is an enumeration: each must be
/// a value of this enumeration.
fn enum_defaults<'a>(
    name: &str,
    rows: impl Iterator<Item = &'a Row>,
    list: &Enum,
    explanations: &Explanations,
    counts: &mut BTreeMap<&'static str, usize>,
    problems: &mut Vec<String>,
) {
    for row in rows.filter(|row| !row.get("default").is_empty()) {
        *counts.entry("defaults").or_default() += 1;
        let value = number(row.get("default"));
        let known = list.values.iter().any(|known| Some(known.value) == value);
        match (known, explanations.get(name, row.get("line"))) {
            (true, None) => *counts.entry("equal defaults").or_default() += 1,
            (false, Some(_)) => *counts.entry("explained defaults").or_default() += 1,
            (known, _) => problems.push(format!(
                "defaults: {name}\t{}\t{}\tvalue: {known}",
                row.get("line"),
                row.get("name")
            )),
        }
    }
}

/// Fields that no row of the manual describes. A field that is marked as derived or doubtful needs
/// no row.
fn without_row(
    name: &str,
    places: &[layout::Place],
    seen: &[(u32, u32)],
    explanations: &Explanations,
) -> Vec<String> {
    let known = |place: &&layout::Place| place.field.is_some_and(|field| field.doubt.is_empty());
    let mut problems = Vec::new();
    for place in places.iter().filter(known).filter(|place| !place.is_reserved()) {
        let row = seen.iter().any(|&(start, end)| start <= place.start && end >= place.end);
        if !row && explanations.get(name, &format!("- {}", place.name)).is_none() {
            problems.push(format!(
                "fields: {name}\t- {}\tdw{} {}:{} is in no row",
                place.name,
                place.start / 32,
                place.end % 32,
                place.start % 32
            ));
        }
    }
    problems
}

/// Compares the default dwords that the manual prints before the table of each structure.
///
/// Oracle: the text of volume 2d itself.
#[test]
fn heads() {
    let Some(shared) = shared() else { return };
    let Some(volume) = heads::volume(&shared) else {
        return println!("skipped: ../shared/seeds is not there");
    };
    let (spec, mut problems, mut count) = (spec(), Vec::new(), 0);
    let names = Names::new(&spec, &here("tests/data"));
    for row in &tsv::read(&shared.join("inventory/structs.tsv")) {
        let name = row.get("name");
        let words = number(row.get("first_line")).map(|line| heads::words(&volume, line as usize));
        let found = names.find("structs", &[name, row.get("mnemonic")], &mut Vec::new());
        if let (Some(words), Some(Item::Container(container))) = (words, found) {
            count += usize::from(!words.is_empty());
            let different = heads::compare(&spec, container, &words);
            problems
                .extend(different.into_iter().map(|problem| format!("heads: {name}\t{problem}")));
        }
    }
    println!("{count} heads");
    finish(problems);
}

/// The index of the folder has everything that the inventory lists, with its bits. So
/// `genx spec check` proves without the inventory that no row is missing.
#[test]
fn index() {
    let Some(shared) = shared() else { return };
    let path = here("../spec-xml/gen8/index.tsv");
    if !path.is_file() {
        return println!("skipped: spec-xml/gen8 has no index");
    }
    let index: BTreeSet<(String, Option<u64>)> = tsv::read(&path)
        .iter()
        .map(|row| (row.get("name").to_owned(), number(row.get("bits"))))
        .collect();
    let (spec, mut problems, mut count) = (spec(), Vec::new(), 0);
    let names = Names::new(&spec, &here("tests/data"));
    for table in ["enums", "commands", "structs"] {
        for row in &tsv::read(&shared.join(format!("inventory/{table}.tsv"))) {
            let mnemonic = if table == "structs" { row.get("mnemonic") } else { "" };
            let found = names.find(table, &[row.get("name"), mnemonic], &mut Vec::new());
            let Some(Item::Container(Container { name, bits, .. })) = found else { continue };
            count += 1;
            if !index.contains(&(name.clone(), Some(u64::from(*bits)))) {
                problems.push(format!("index: {name} of {bits} bits is not in it"));
            }
        }
    }
    println!("{count} containers");
    finish(problems);
}
