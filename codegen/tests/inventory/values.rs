//! Compares values of enumerations with the text of volume 2b.

use std::collections::BTreeSet;

use genxml_codegen::model::Enum;

use crate::inventory::names::{Item, Names};
use crate::inventory::tsv::{self, number, plain};
use crate::inventory::{finish, here, shared, spec};

/// Names that we chose, because the manual's name is a misprint (jmpj), a sentence, or lost.
const OURS: [(&str, &str); 4] = [
    ("EU_OPCODE", "jmpi"),
    ("PredCtrl", "None"),
    ("Performance Counter Report Formats", "Performance Counter Report Format 010b"),
    ("Performance Counter Report Formats", "Performance Counter Report Format 111b"),
];

/// The numbers and names of every enumeration of volume 2b are those that the manual prints.
///
/// Oracle: the text itself.
#[test]
fn values() {
    let Some(shared) = shared() else { return };
    let seeds = std::fs::read_dir(shared.join("seeds")).into_iter().flatten().flatten();
    let Some(path) =
        seeds.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("/000_"))
    else {
        return println!("skipped: ../shared/seeds is not there");
    };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.split('\n').collect();
    let (spec, mut problems, mut count) = (spec(), Vec::new(), 0);
    let names = Names::new(&spec, &here("tests/data"));
    for row in &tsv::read(&shared.join("inventory/enums.tsv")) {
        let line = |column: &str| number(row.get(column)).unwrap_or(0) as usize;
        let name = row.get("name");
        if row.get("doc") != "000" {
            continue;
        }
        let Some(Item::Enum(list)) = names.find("enums", &[name], &mut problems) else { continue };
        let printed: Vec<_> = lines[line("first_line") - 1..line("last_line")]
            .iter()
            .filter_map(|line| value(line))
            .collect();
        count += printed.len();
        let numbers: BTreeSet<u64> = printed.iter().map(|(number, _)| *number).collect();
        let ours: BTreeSet<u64> = list.values.iter().map(|value| value.value).collect();
        if numbers != ours {
            problems.push(format!("{name} has the values {ours:?}, the manual {numbers:?}"));
        }
        for value in &list.values {
            let named = printed.iter().any(|(number, name)| {
                *number == value.value && is_named(list, &value.name, value.expansion, name)
            });
            if !named && !OURS.contains(&(name, value.name.as_str())) {
                problems
                    .push(format!("{name}: the manual has no {} = {}", value.name, value.value));
            }
        }
    }
    println!("{count} printed values");
    finish(problems);
}

/// Parses `0101b <tab> name <tab> description`.
fn value(line: &str) -> Option<(u64, String)> {
    let (first, rest) = line.split_once('\t')?;
    let name = rest.split('\t').next()?.replace("<b>[Default]</b>", "");
    let reserved = plain(&name).starts_with("RESERVED") || name.trim() == "-";
    number(first).filter(|_| !reserved).map(|number| (number, name))
}

/// True if our name is that of the manual, or a part of it: `8` for `8 elements`, `all4h` for
/// `.all4h`. In compaction tables, the manual's name is the bit pattern.
fn is_named(list: &Enum, ours: &str, expansion: Option<u64>, manual: &str) -> bool {
    let manual = plain(manual);
    manual.contains(&plain(ours))
        || manual == plain(&format!("{}{ours}", list.prefix))
        || expansion.is_some() && expansion == u64::from_str_radix(&manual, 2).ok()
}
