//! The instruction table against the manual's pages. Oracle: the text of volume 2a and the
//! inventory of its pages, in `../shared`. If that folder is missing, the test prints that it is
//! skipped.

use std::path::Path;

use genxml_eu::ops::{Modifiers, OPS};

/// Operations whose property table says that they have no condition, but whose syntax has one. They
/// accept a condition here.
const CONDITION_BY_SYNTAX: [&str; 4] = ["not", "or", "lrp", "subb"];

/// Every instruction with a page has the opcode number of that page, and accepts exactly the
/// modifiers of the page's property table, except for the conditions of `CONDITION_BY_SYNTAX`.
#[test]
fn numbers_and_modifiers() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let Ok(inventory) = std::fs::read_to_string(shared.join("inventory/commands.tsv")) else {
        println!("skipped: ../shared/inventory is not there");
        return;
    };
    let seeds = std::fs::read_dir(shared.join("seeds")).unwrap().flatten();
    let manual = seeds
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().contains("/001_"))
        .unwrap();
    let manual = std::fs::read_to_string(manual).unwrap();
    let lines: Vec<&str> = manual.split('\n').collect();
    let (mut instructions, mut tables) = (0, 0);
    for row in inventory.lines().map(|line| line.split('\t').collect::<Vec<_>>()) {
        let ["eu-instruction", name, opcode, first, last] =
            [row[1], row[0], row[6], row[10], row[11]]
        else {
            continue;
        };
        instructions += 1;
        let op =
            OPS.iter().find(|op| op.name == name).unwrap_or_else(|| panic!("{name} is missing"));
        let code = opcode.split('h').next().map(|digits| u8::from_str_radix(digits, 16));
        assert_eq!(code, Some(Ok(op.code)), "{name}");
        let page = &lines[first.parse::<usize>().unwrap() - 1..last.parse().unwrap()];
        let Some(flags) = page.iter().find_map(|line| flags(line)) else { continue };
        tables += 1;
        let by_syntax = CONDITION_BY_SYNTAX.contains(&name);
        assert!(!by_syntax || !flags[1], "{name} needs no exception");
        let taken =
            [Modifiers::PREDICATE, Modifiers::CONDITION, Modifiers::SATURATE, Modifiers::SOURCE];
        let taken = taken.map(|modifier| op.modifiers.contains(modifier));
        assert_eq!(taken, [flags[0], flags[1] || by_syntax, flags[2], flags[3]], "{name}");
    }
    println!("{instructions} instructions, {tables} property tables");
    assert_eq!((instructions, tables), (43, 43));
}

/// Reads a line such as `Y N Y Y`: predication, conditional modifier, saturation, source modifier.
fn flags(line: &str) -> Option<[bool; 4]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let words: [&str; 4] = words.try_into().ok()?;
    words.iter().all(|word| ["Y", "N"].contains(word)).then(|| words.map(|word| word == "Y"))
}
