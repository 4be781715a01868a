//! Any bad input gives a report and never a panic.

use std::path::Path;
use std::sync::LazyLock;

use genxml_codegen::{list, load, show};
use proptest::prelude::*;

/// A specification that uses every element and attribute.
static GOOD: LazyLock<String> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/good/input.xml");
    std::fs::read_to_string(path).unwrap()
});

/// Loads, checks, lists and shows everything that could be read.
fn exercise(text: &str) {
    let loaded = load::read_texts(&[("input.xml", text)]);
    let report = loaded.report();
    assert!(!report.to_string().is_empty());
    let _ = report.render(true);
    let listed = list(&loaded.spec);
    let _ = list::table(&listed.iter().collect::<Vec<_>>());
    for item in &listed {
        assert!(show(&loaded.spec, &item.name).is_ok(), "{} is listed", item.name);
    }
}

#[test]
fn the_good_one_is_good() {
    let loaded = load::read_texts(&[("input.xml", &GOOD)]);
    assert_eq!(
        (loaded.report().errors(), loaded.report().warnings()),
        (0, 0),
        "{}",
        loaded.report()
    );
    let spec = loaded.spec;
    assert_eq!((spec.enums.len(), spec.containers.len()), (2, 5));
    exercise(&GOOD);
}

/// Tests every prefix of the good specification, so the text ends inside every element and
/// attribute.
#[test]
fn prefixes() {
    for end in (0..GOOD.len()).filter(|end| GOOD.is_char_boundary(*end)) {
        exercise(&GOOD[..end]);
    }
}

/// Each attribute value is replaced by several values that are wrong for most attributes.
#[test]
fn values() {
    let values = [
        "",
        "0",
        "-1",
        "18446744073709551615",
        "99999999999999999999",
        "31:0",
        "0:31",
        "9999999:0",
        "x",
        "u0.0",
        "s64.64",
        "é",
        "shifted:63",
        "shifted:64",
        "0..18446744073709551615",
        "1e300..-1e300",
        "[Kind",
        "!!",
        "STATE",
        "HALF",
        "a/b",
        "0.1",
    ];
    let quotes: Vec<usize> = GOOD.match_indices("=\"").map(|(at, _)| at + 2).collect();
    for start in quotes {
        let end = start + GOOD[start..].find('"').unwrap();
        for value in values {
            exercise(&format!("{}{value}{}", &GOOD[..start], &GOOD[end..]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random characters are overwritten.
    #[test]
    fn flips(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..6)) {
        let mut characters: Vec<char> = GOOD.chars().collect();
        for (index, character) in edits {
            let at = index.index(characters.len());
            characters[at] = character;
        }
        exercise(&characters.into_iter().collect::<String>());
    }

    /// Random characters are overwritten by characters of XML, numbers and conditions.
    #[test]
    fn likely_flips(edits in prop::collection::vec((any::<prop::sample::Index>(), "[<>/\"'&;=0-9a-z\\[\\]!|:. -]"), 1..4)) {
        let mut characters: Vec<char> = GOOD.chars().collect();
        for (index, text) in edits {
            let at = index.index(characters.len());
            characters[at] = text.chars().next().unwrap_or(' ');
        }
        exercise(&characters.into_iter().collect::<String>());
    }

    /// Lines are removed, doubled and moved.
    #[test]
    fn lines(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3), 1..4)) {
        let mut lines: Vec<&str> = GOOD.lines().collect();
        for (from, to, what) in edits {
            let (from, to) = (from.index(lines.len()), to.index(lines.len()));
            match what {
                0 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from]),
                _ => lines.swap(from, to),
            }
        }
        exercise(&lines.join("\n"));
    }

    /// Random text.
    #[test]
    fn noise(text in ".{0,200}") {
        exercise(&text);
    }
}
