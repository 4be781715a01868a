//! Tests of the rules of the specification, and of the table that has the rule or field for each
//! restriction of the manuals (`spec-xml/rules.tsv`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use genxml_codegen::load_dir;
use genxml_codegen::model::{Field, Group, Rule, Spec};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn spec() -> Spec {
    load_dir(&root("spec-xml/gen8")).unwrap_or_else(|report| panic!("{report}"))
}

/// The rows of a table below its header line.
fn rows(path: &Path) -> Option<Vec<Vec<String>>> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

fn rules(spec: &Spec) -> impl Iterator<Item = &Rule> {
    spec.containers.iter().flat_map(|container| &container.rules)
}

/// Every rule has an id, a source and a message that a finding can print. Checks of the
/// specification test that ids are unique.
#[test]
fn every_rule_is_complete() {
    let spec = spec();
    let mut wrong = Vec::new();
    for rule in rules(&spec) {
        let plain = rule.id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !plain || !rule.id.contains('-') {
            wrong.push(format!("{}: an id is words in capitals joined by hyphens", rule.id));
        }
        if rule.source.is_empty() {
            wrong.push(format!("{}: no source", rule.id));
        }
        if rule.message.len() < 10 {
            wrong.push(format!("{}: the message is too short: {}", rule.id, rule.message));
        }
    }
    println!("{} rules", rules(&spec).count());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Minimum number of restrictions of the manuals that are a rule, a rule of kernels, or an
/// attribute of a field.
const EXECUTABLE: usize = 300;

#[test]
fn every_restriction_of_the_manuals_has_its_place() {
    let spec = spec();
    let path = root("spec-xml/rules.tsv");
    let table = rows(&path).unwrap_or_else(|| panic!("{} is missing", path.display()));
    let known: BTreeSet<&str> = rules(&spec).map(|rule| rule.id.as_str()).collect();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ids: Vec<&str> = Vec::new();
    for row in &table {
        let [id, how, what] = &row[..] else {
            wrong.push(format!("{}: a row has three columns", row.join(" ")));
            continue;
        };
        ids.push(id);
        *counts.entry(how).or_default() += 1;
        match how.as_str() {
            "rule" => {
                for rule in what.split_whitespace().filter(|rule| !known.contains(rule)) {
                    wrong.push(format!("{id}: no rule {rule}"));
                }
            }
            "field" => {
                for field in what.split("; ").filter(|field| !has_field(&spec, field.trim())) {
                    wrong.push(format!("{id}: no field {field}"));
                }
            }
            // Rules of kernels are code. Tests of genxml-eu check that they exist.
            "kernel" | "none" => {}
            other => wrong.push(format!("{id}: `{other}` is neither rule, kernel, field nor none")),
        }
        if what.trim().is_empty() {
            wrong.push(format!("{id}: the explanation is empty"));
        }
    }
    let key = |id: &str| (id.starts_with('C'), id[1..].parse::<u32>().unwrap_or(0));
    for pair in ids.windows(2).filter(|pair| key(pair[0]) >= key(pair[1])) {
        wrong.push(format!("{} stands before {}", pair[0], pair[1]));
    }
    let executable: usize =
        ["rule", "kernel", "field"].iter().filter_map(|how| counts.get(how)).sum();
    println!(
        "{counts:?}: {executable} of {} restrictions are rules or attributes of fields",
        ids.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(executable >= EXECUTABLE, "{executable} of at least {EXECUTABLE}");

    let inventory = ["rules.tsv", "structs_constraints.tsv"]
        .map(|name| rows(&root("../shared/inventory").join(name)));
    let [Some(first), Some(second)] = inventory else {
        println!("../shared/inventory is not there: whether the table is complete is not tested");
        return;
    };
    let listed: BTreeSet<&str> = first.iter().chain(&second).map(|row| row[0].as_str()).collect();
    let have: BTreeSet<&str> = ids.iter().copied().collect();
    let unknown: Vec<_> = have.difference(&listed).collect();
    assert!(unknown.is_empty(), "not in the inventory: {unknown:?}");
    let missing: Vec<_> = listed.difference(&have).collect();
    println!("{} of {} are missing: {missing:?}", missing.len(), listed.len());
    assert!(missing.is_empty(), "no row for {missing:?}");
}

/// True if the field `CONTAINER.Field name` exists, also in an element of a group, or if the
/// enumeration value `ENUM.value` exists.
fn has_field(spec: &Spec, path: &str) -> bool {
    path.match_indices('.').any(|(at, _)| {
        let (container, field) = (&path[..at], &path[at + 1..]);
        let found = spec.containers.iter().find(|other| other.name == container);
        found.is_some_and(|found| named(&found.fields, &found.groups, field))
            || spec
                .enums
                .iter()
                .any(|list| list.name == container && list.values.iter().any(|v| v.name == field))
    })
}

fn named(fields: &[Field], groups: &[Group], name: &str) -> bool {
    fields.iter().any(|field| field.name == name)
        || groups.iter().any(|group| {
            group.name == name
                || named(&group.fields, &group.groups, name)
                || name
                    .strip_prefix(&format!("{}.", group.name))
                    .is_some_and(|name| named(&group.fields, &group.groups, name))
        })
}
