//! Rules that a program adds: the same language, the same findings, and errors with positions.

use super::packet;
use genxml::check::{self, Finding, Level, NewRule, RuleError, RulePart, Rules};
use genxml::core::Packed;
use genxml::core::reflect::{Container, Kind, Type};
use genxml::core::rule::{Cond, FieldRef, GroupRef, Severity};
use genxml::engine::EngineId;
use genxml::eu::asm::{Options, assemble};
use genxml::eu::syntax::Syntax;
use genxml_testkit::Random;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn add(rules: &mut Rules, container: &str, id: &str, require: &str) -> Result<(), RuleError> {
    rules.add(&NewRule::new(container, id, require, "the rule is broken")).map(|_| ())
}

/// Rules of Broadwell with one more, `OURS`.
fn with(container: &str, require: &str) -> Rules {
    let mut rules = Rules::gen8();
    add(&mut rules, container, "OURS", require).unwrap_or_else(|error| panic!("{error}"));
    rules
}

fn findings(rules: &Rules, packets: &[Vec<u32>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let dwords = packets.concat();
    check::raw(EngineId::Render, 0x1000, &dwords, rules, &mut |finding| {
        found.push(finding.clone())
    });
    found
}

/// The addresses at which `OURS` is broken.
fn broken(rules: &Rules, packets: &[Vec<u32>]) -> Vec<u64> {
    let found = findings(rules, packets);
    found
        .iter()
        .filter(|finding| finding.rule.id == "OURS")
        .map(|finding| finding.address)
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// The rules of the specification a second time, with `AGAIN-` before each id.
fn all_again(rules: &Rules) -> String {
    let mut text = String::from("<rules>\n");
    let specified = |container: &Container, id: &str| container.rules.iter().any(|r| r.id == id);
    for (container, rule) in rules.all().filter(|(container, rule)| specified(container, rule.id)) {
        let (require, message) = (escaped(rule.text), escaped(rule.message));
        let (name, id, severity) = (container.name, rule.id, rule.severity.name());
        _ = writeln!(
            text,
            "<container name=\"{name}\"><rule id=\"AGAIN-{id}\" severity=\"{severity}\" \
             require=\"{require}\" message=\"{message}\"/></container>"
        );
    }
    text + "</rules>"
}

fn same_field(one: &FieldRef, two: &FieldRef) -> bool {
    let lists = match (one.list, two.list) {
        (Some(one), Some(two)) => std::ptr::eq(one, two),
        (one, two) => one.is_none() && two.is_none(),
    };
    one.base == two.base
        && (one.name, one.start, one.end) == (two.name, two.start, two.end)
        && lists
}

fn same_group(one: &GroupRef, two: &GroupRef) -> bool {
    one.base == two.base
        && (one.name, one.start, one.bits, one.count) == (two.name, two.start, two.bits, two.count)
}

/// True if the conditions are equal, apart from the indices of their searches.
fn same(one: &Cond, two: &Cond) -> bool {
    match (one, two) {
        (Cond::Number(one), Cond::Number(two)) => one == two,
        (Cond::Field(one), Cond::Field(two)) => same_field(one, two),
        (Cond::Not(one), Cond::Not(two)) => same(one, two),
        (Cond::Binary(op, left, right), Cond::Binary(other, first, second)) => {
            op == other && same(left, first) && same(right, second)
        }
        (Cond::In(one, ranges), Cond::In(two, others)) => ranges == others && same(one, two),
        (Cond::Bits(one, list), Cond::Bits(two, other)) => {
            std::ptr::eq(*list, *other) && same(one, two)
        }
        (Cond::Last(_), Cond::Last(_)) | (Cond::Index, Cond::Index) => true,
        (Cond::Over(what, group, body), Cond::Over(other, array, inner)) => {
            what == other && same_group(group, array) && same(body, inner)
        }
        (Cond::Role(one), Cond::Role(two)) => one == two,
        _ => false,
    }
}

/// Oracle: the conditions that the code generator made of the same text.
#[test]
fn every_rule_of_the_specification_can_be_added() {
    let mut rules = Rules::gen8();
    let text = all_again(&rules);
    let added = rules.read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert!(added.len() > 500, "{}", added.len());
    let twins = rules.added().map(|(container, rule)| {
        let id = rule.id.strip_prefix("AGAIN-").unwrap();
        (container, rule, container.rules.iter().find(|other| other.id == id).unwrap())
    });
    for (container, rule, twin) in twins {
        let about = || format!("{}: {}", container.name, rule.text);
        assert!(same(&rule.require, &twin.require), "{}", about());
        assert_eq!(
            (rule.text, rule.message, rule.severity),
            (twin.text, twin.message, twin.severity),
            "{}",
            about()
        );
    }
}

/// Oracle: the findings of the same rules of the specification.
#[test]
fn added_rules_find_what_those_of_the_specification_find() {
    let mut rules = Rules::gen8();
    let text = all_again(&rules);
    rules.read(&text).unwrap_or_else(|error| panic!("{error}"));
    let instructions: Vec<&Container> = genxml::gen8::CONTAINERS
        .iter()
        .filter(|container| match container.kind {
            Kind::Instruction { bias, .. } => container.dwords() >= bias as usize,
            _ => false,
        })
        .copied()
        // A jump ends the batch, because the dump has no other memory.
        .filter(|container| !container.name.starts_with("MI_BATCH_BUFFER"))
        .collect();
    let mut random = Random::new(7);
    let mut fired = BTreeMap::new();
    for _ in 0..20 {
        let packets: Vec<Vec<u32>> = (0..200)
            .map(|_| {
                let container = instructions[random.below(instructions.len() as u64) as usize];
                let mut packet = packet(container.name, &[]);
                // Sparse bits: more rules read values that they know.
                for dword in packet.iter_mut().skip(1) {
                    let bits = [(); 3].map(|()| random.below(1 << 32) as u32);
                    *dword = bits[0] & bits[1] & bits[2];
                }
                packet
            })
            .collect();
        let mut counts: BTreeMap<(&str, u64), [usize; 2]> = BTreeMap::new();
        for finding in findings(&rules, &packets) {
            let (id, which) = match finding.rule.id.strip_prefix("AGAIN-") {
                Some(id) => (id, 1),
                None if finding.container.rules.contains(finding.rule) => (finding.rule.id, 0),
                None => continue,
            };
            counts.entry((id, finding.address)).or_default()[which] += 1;
        }
        for ((id, address), [first, second]) in counts {
            assert_eq!(first, second, "{id} at {address:#x}");
            *fired.entry(id).or_insert(0) += first;
        }
    }
    assert!(fired.len() > 100, "{}", fired.len());
}

/// Oracle: the condition, evaluated by hand.
#[test]
fn a_rule_is_checked_listed_and_found() {
    let mut rules = Rules::gen8();
    let rule = NewRule {
        severity: Severity::Warning,
        source: "our style guide",
        ..NewRule::new("MI_NOOP", "OURS", "[Identification Number] < 3", "the number is too large")
    };
    let added = rules.add(&rule).unwrap();
    assert_eq!(
        (added.id, added.severity, added.text, added.message, added.source),
        (rule.id, rule.severity, rule.require, rule.message, rule.source)
    );
    let noops: Vec<Vec<u32>> =
        [2, 3, 1, 9].map(|n| packet("MI_NOOP", &[("Identification Number", n)])).into();
    assert_eq!(broken(&rules, &noops), [0x1004, 0x100c]);
    let found = findings(&rules, &noops);
    assert_eq!(found[0].severity, Severity::Warning);
    assert_eq!(found[0].to_string(), "warning OURS: MI_NOOP at 0x1004: the number is too large");
    assert_eq!(found[0].operands[0].to_string(), "[Identification Number] = 3");
    assert_eq!(found[0].source(), "our style guide");

    assert_eq!(rules.find("OURS").map(|(container, _)| container.name), Some("MI_NOOP"));
    assert_eq!(rules.all().filter(|(_, rule)| rule.id == "OURS").count(), 1);
    assert_eq!(rules.added().count(), 1);
    rules.set("OURS", Level::Deny).unwrap();
    assert_eq!(findings(&rules, &noops)[0].severity, Severity::Error);
    rules.set("OUR*", Level::Allow).unwrap();
    assert!(broken(&rules, &noops).is_empty());
}

/// Oracle: the sequence of packets. No rule of the manual reads MI_NOOP or MI_USER_INTERRUPT, so
/// their state is recorded only for this rule.
#[test]
fn rules_read_earlier_packets() {
    let noop = |n| packet("MI_NOOP", &[("Identification Number", n)]);
    let (arb, interrupt) = (packet("MI_ARB_CHECK", &[]), packet("MI_USER_INTERRUPT", &[]));

    let rules = with("MI_ARB_CHECK", "[MI_NOOP.Identification Number] == 3");
    let packets = [arb.clone(), noop(3), arb.clone(), noop(2), arb.clone()];
    assert_eq!(broken(&rules, &packets), [0x1010], "unknown state is no violation");

    let rules = with("MI_ARB_CHECK", "last(MI_USER_INTERRUPT) > last(MI_NOOP)");
    let packets = [noop(0), arb.clone(), interrupt.clone(), arb.clone(), noop(0), arb.clone()];
    assert_eq!(broken(&rules, &packets), [0x1004, 0x1014]);

    let rules = with("MI_ARB_CHECK", "last(MI_NOOP, [Identification Number] == 5) > 0");
    let packets = [noop(4), arb.clone(), noop(5), arb.clone()];
    assert_eq!(broken(&rules, &packets), [0x1004]);
    let found = findings(&rules, &packets);
    assert_eq!(found[0].operands[0].to_string(), "last(MI_NOOP, ...) = 0 (never)");
}

/// Structures without rules are not visited until a rule is added to one of them.
#[test]
fn rules_of_nested_structures() {
    let inner = |container: &'static Container| {
        container.fields.iter().find_map(|field| match field.ty {
            Type::Struct(inner) if inner.rules.is_empty() && field.exists_if.is_none() => {
                let leaf = inner.views.is_empty()
                    && inner.fields.iter().all(|field| !matches!(field.ty, Type::Struct(_)));
                leaf.then_some(inner)
            }
            _ => None,
        })
    };
    let instructions = genxml::gen8::CONTAINERS.iter().filter(|container| {
        matches!(container.kind, Kind::Instruction { engines, .. }
            if engines.intersects(genxml::core::reflect::Engines::RENDER))
    });
    let mut seen = 0;
    for container in instructions {
        let Some(inner) = inner(container) else { continue };
        let rules = with(inner.name, "0");
        let found = findings(&rules, &[packet(container.name, &[])]);
        let found: Vec<_> = found.iter().filter(|finding| finding.rule.id == "OURS").collect();
        assert!(!found.is_empty(), "{} in {}", inner.name, container.name);
        assert!(found.iter().all(|finding| finding.container == inner));
        seen += 1;
        if seen == 5 {
            break;
        }
    }
    assert!(seen > 0);
}

/// Oracle: the instruction.
#[test]
fn rules_of_instructions() {
    let code =
        assemble("(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud", Syntax::Iga, &Options::default())
            .unwrap();
    let bytes: Vec<u8> = code.dwords().iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let header = genxml::eu::gen8::eu::EuInstructionHeader::INFO;
    let container = genxml::eu::native::natives(&bytes).next().unwrap().container().unwrap();
    for (require, expected) in [("0", 1), ("1", 0)] {
        let rules = with(container.name, require);
        let mut count = 0;
        check::kernel(0x4000, &bytes, &rules, &mut |finding| {
            count += usize::from(finding.rule.id == "OURS");
        });
        assert_eq!(count, expected);
    }
    let error = add(&mut Rules::gen8(), container.name, "OURS", "last(MI_NOOP) > 0").unwrap_err();
    assert!(error.problem.contains("an instruction or message"), "{error}");
    assert!(add(&mut Rules::gen8(), header.name, "OURS", "1").is_ok());
}

/// Oracle: the mistakes.
#[test]
fn errors_say_where_what_and_what_to_do() {
    let long = format!("{}1{}", "(".repeat(70), ")".repeat(70));
    let cases = [
        (
            "MI_NOOP",
            "A B",
            "1",
            "`A B` is no id of a rule: it is empty, or has a space or `*`; write a word, such as OURS-STALL",
        ),
        ("MI_NOOP", "RSS-MS-2D", "1", "there is a rule `RSS-MS-2D` already; choose another id"),
        ("MI_NOOP", "FIELD-RANGE", "1", "there is a rule `FIELD-RANGE` already; choose another id"),
        (
            "MI_NOP",
            "OURS",
            "1",
            "there is no packet, structure, register or message `MI_NOP`; did you mean `MI_NOOP`?",
        ),
        (
            "MI_NOOP",
            "OURS",
            "[Number] == 1",
            "no field `Number` here (character 1 of `[Number] == 1`); genx spec show MI_NOOP lists fields and values; the documentation of genxml::check::Rules::add has the grammar",
        ),
        ("MI_NOOP", "OURS", "1 == 0x", "malformed number `0x` (character 6 of `1 == 0x`)"),
        (
            "PIPE_CONTROL",
            "OURS",
            "[Post Sync Operation] != 'No Wrote'",
            "`PIPE_CONTROL Post Sync Operation` has no value `No Wrote` (character 26 of",
        ),
        (
            "MI_NOOP",
            "OURS",
            "last(MI_NOP)",
            "no instruction `MI_NOP` (character 6 of `last(MI_NOP)`); did you mean `MI_NOOP`?",
        ),
        (
            "MI_NOOP",
            "OURS",
            "1 = 2",
            "unexpected `=` (character 3 of `1 = 2`); equality is written ==",
        ),
        ("MI_NOOP", "OURS", "", "the condition ends where a value is expected (character 1 of ``)"),
        ("MI_NOOP", "OURS", &long, "more than 64 operators deep (character 33 of"),
    ];
    let mut rules = Rules::gen8();
    for (container, id, require, expected) in cases {
        let error = add(&mut rules, container, id, require).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(!error.hint.is_empty());
    }
    let error = rules.add(&NewRule::new("MI_NOOP", "OURS", "1", " ")).unwrap_err();
    assert_eq!(error.part, RulePart::Message);
    assert_eq!(rules.added().count(), 0);
}

const FILE: &str = r#"<?xml version="1.0"?>
<!-- our rules -->
<rules>
  <container name="MI_NOOP">
    <rule id="OURS-1" require="[Identification Number] &lt; 8 &amp;&amp; 1" message="one">
      <doc>Why.</doc>
    </rule>
    <rule id="OURS-2" severity="workaround" require="1" message="two" source="page 2"/>
  </container>
  <container name="PIPE_CONTROL">
    <rule id="OURS-3" severity="warning" require="0" message="three"/>
  </container>
</rules>
"#;

#[test]
fn files_of_rules() {
    let mut rules = Rules::gen8();
    let added = rules.read(FILE).unwrap();
    let severities: Vec<_> = added.iter().map(|rule| (rule.id, rule.severity)).collect();
    assert_eq!(
        severities,
        [
            ("OURS-1", Severity::Error),
            ("OURS-2", Severity::Workaround),
            ("OURS-3", Severity::Warning)
        ]
    );
    assert_eq!(added[0].text, "[Identification Number] < 8 && 1");
    assert_eq!(added[1].source, "page 2");
    let again = rules.read(FILE).unwrap_err();
    assert_eq!(
        again.problems[0].to_string(),
        "5:15: there is a rule `OURS-1` already; choose another id"
    );
}

/// Oracle: the positions of the mistakes, counted by hand.
#[test]
fn problems_of_files_have_positions() {
    let cases = [
        // The wrong name comes after `&amp;&amp;`, which is longer in the file than in the value.
        ("[Identification Number] &lt; 8", "1 &amp;&amp; [Numbr]", "5:45: no field `Numbr` here"),
        ("id=\"OURS-2\"", "id=\"OURS-1\"", "8:15: two rules of the file have the id `OURS-1`"),
        ("\"workaround\"", "\"fatal\"", "8:33: there is no severity `fatal`"),
        ("source=", "page=", "8:71: <rule> has no attribute `page`"),
        (
            "<container name=\"PIPE_CONTROL\">",
            "<container>",
            "10:3: <container> needs the attribute `name`",
        ),
        (
            "\"PIPE_CONTROL\"",
            "\"PIPE_CONTRL\"",
            "10:20: there is no packet, structure, register or message `PIPE_CONTRL`; did you mean `PIPE_CONTROL`?",
        ),
        ("<doc>Why.</doc>", "<dok/>", "6:8: <dok> cannot stand inside <rule>"),
        ("<doc>Why.</doc>", "Why.", "6:7: text inside <rule>"),
        ("</rules>", "", "3:1: malformed XML: the element `rules` is never closed"),
        (FILE, "<genxml/>", "1:2: <genxml> is not a file of rules"),
        (FILE, "", "1:1: malformed XML: the file has no element"),
    ];
    for (from, to, expected) in cases {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE);
        let mut rules = Rules::gen8();
        let error = rules.read(&text).unwrap_err();
        let found = error.to_string();
        assert!(found.lines().any(|line| line.starts_with(expected)), "{expected}\n{found}");
        assert_eq!(rules.added().count(), 0, "all or none");
    }
}

/// Pieces of conditions, so that random texts get past the first token.
const PIECES: [&str; 34] = [
    "[Identification Number]",
    "[MI_NOOP.Identification Number]",
    "[Post Sync Operation]",
    "[",
    "]",
    "'",
    "\"",
    "(",
    ")",
    "{",
    "}",
    ",",
    "..",
    "in",
    "==",
    "<=",
    "&&",
    "||",
    "!",
    "-",
    "%",
    "0x",
    "0x1f",
    "18446744073709551615",
    "99999999999999999999",
    "true",
    "last(",
    "bits(",
    "all(",
    "role(render-target)",
    "index()",
    "Element",
    "é",
    " ",
];

proptest! {
    /// Oracle: the parser ends, and its errors point into the text.
    #[test]
    fn no_text_of_a_condition_panics(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..24),
        noise in ".{0,12}",
        container in 0..genxml::gen8::CONTAINERS.len(),
    ) {
        let mut text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        text.push_str(&noise);
        let name = genxml::gen8::CONTAINERS[container].name;
        let mut rules = Rules::gen8();
        match add(&mut rules, name, "OURS", &text) {
            Ok(()) => {
                _ = findings(&rules, &[packet("MI_NOOP", &[])]);
            }
            Err(error) => {
                let text = &error.text;
                prop_assert!(text.get(error.range.clone()).is_some(), "{error:?}");
                prop_assert!(error.character() <= 1 + text.chars().count());
            }
        }
    }

    /// Oracle: the reader ends, and its errors have lines of the text.
    #[test]
    fn no_damage_to_a_file_panics(at in 0..FILE.len(), cut in 0..8usize, piece in 0..PIECES.len()) {
        let mut text = FILE.to_owned();
        let end = (at + cut).min(text.len());
        text.replace_range(at..end, PIECES[piece]);
        if let Err(error) = Rules::gen8().read(&text) {
            prop_assert!(!error.problems.is_empty());
            for problem in &error.problems {
                prop_assert!((1..=1 + text.lines().count()).contains(&problem.line));
            }
        }
    }
}
