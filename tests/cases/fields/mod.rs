//! The field list: effects that the model accepts but does not have are found here.
//!
//! `fields.tsv` has a row for every field of every packet that the model executes and of every
//! state structure. The row names a case, a field of its batch and another value, and the
//! difference that this value makes:
//!
//! * `honoured`: memory, registers, events or counts change, or the batch ends with a fault about
//!   memory or time;
//! * `faulted`: the batch ends with a fault that names the value or the missing feature;
//! * `unused`: no value in any case makes a difference.
//!
//! `reasons.tsv` has the reason of each unused field. In its patterns of containers and fields, `*`
//! stands for any text. The kinds of reasons are:
//!
//! * `void`: the field has no effect on results by its nature;
//! * `refused`: everything that reads the field ends with a fault;
//! * `case`: the effect needs several batches, a long batch or the work of a kernel driver; the
//!   reason is the name of the case that shows it;
//! * `codec`: the effect needs a coded picture that no case has. Tests of `genxml-codecs` show it.
//!
//! The test runs the cases of all rows again, with the unchanged and the changed batch. It fails
//! if a difference is not seen any more, if an unused field makes a difference, and if a field has
//! no row or an unused field no reason. So a new packet or field needs a case, or a reason.
//!
//!     cargo test -p genxml-cases fields
//!
//! This command probes all batches of all cases for fields that have no row or are unused, and
//! writes `fields.tsv` again. It takes some minutes:
//!
//!     GENXML_FIELDS_UPDATE=1 cargo test -p genxml-cases fields -- --nocapture
//!
//! It also tries random changes of other fields first, which the row then lists. A number other
//! than 0 selects a third of the cases; another number selects others and makes other changes. With `GENXML_FIELDS_CASES=video::`, it only probes cases with such names.
//!
//! The oracle is the specification: it lists the fields. The list says that a field has an effect,
//! not that the effect is right; the cases themselves test that.

use genxml::decode::Tables;
use genxml::engine::EngineId;
use genxml_cases::Model;
use genxml_cases::fields::list::{Class, Key, Row};
use genxml_cases::fields::{JOB, UPDATE, places};
use genxml_core::bits;
use genxml_core::reflect::{Container, Kind};
use genxml_sim::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fields");

/// A row of `reasons.tsv`.
struct Reason {
    kind: String,
    container: String,
    field: String,
    why: String,
}

/// Reads a table of the folder without its comments, which begin with `#`.
fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(FOLDER).join(name)).unwrap_or_default();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

fn rows() -> BTreeMap<Key, Row> {
    let rows = lines("fields.tsv");
    let rows = rows.iter().map(|line| Row::parse(line).unwrap_or_else(|why| panic!("{why}")));
    rows.map(|row| (row.key.clone(), row)).collect()
}

fn reasons() -> Vec<Reason> {
    let reason = |line: &String| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [kind, container, field, why] = columns[..] else {
            panic!("reasons.tsv: {} columns instead of 4: {line}", columns.len());
        };
        let kinds = ["void", "refused", "case", "codec"];
        assert!(kinds.contains(&kind), "reasons.tsv: {kind} is not one of {kinds:?}: {line}");
        assert!(!why.is_empty(), "reasons.tsv: no reason: {line}");
        let [kind, container, field, why] = [kind, container, field, why].map(str::to_owned);
        Reason { kind, container, field, why }
    };
    lines("reasons.tsv").iter().map(reason).collect()
}

/// True if `text` has the form of `pattern`, where `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len()).any(|n| text.is_char_boundary(n) && fits(rest, &text[n..]))
        }),
    }
}

#[test]
fn patterns() {
    assert!(fits("a*", "a") && fits("a*c*", "abcd") && fits("*", "") && fits("*b", "bab"));
    assert!(!fits("a*", "ba") && !fits("a", "ab") && !fits("a*b", "abc"));
}

impl Reason {
    fn fits(&self, key: &str) -> bool {
        let [container, _, path] = key.split('\t').collect::<Vec<_>>()[..] else { return false };
        fits(&self.container, container) && fits(&self.field, path)
    }
}

/// True if the model executes the packet on one of its engines: it has no fault that names the
/// packet as missing.
fn executed(packet: &Container) -> bool {
    let Kind::Instruction { opcode, length_field, bias, .. } = packet.kind else {
        return false;
    };
    let mut dwords = vec![0; packet.dwords().max(1)];
    dwords[0] = opcode;
    if let Some((start, end)) = length_field {
        let length = (dwords.len() as u64).saturating_sub(u64::from(bias));
        bits::put(&mut dwords, start, end, length);
    }
    let has = |engine: &EngineId| {
        Tables::gen8().instruction(*engine, dwords[0]).is_some_and(|found| found == packet)
    };
    EngineId::ALL.into_iter().filter(has).any(|engine| {
        let refused = |fault: &Fault| {
            matches!(fault, Fault::Unimplemented { what, .. } if *what == packet.name)
        };
        !Model::new().submit(engine, &dwords).is_err_and(|fault| refused(&fault))
    })
}

/// All fields that need a row.
fn fields() -> BTreeSet<Key> {
    let packets = places::packets().filter(|packet| executed(packet));
    let containers = packets.chain(places::structures());
    containers.flat_map(places::places).map(|place| place.to_string()).collect()
}

/// Names of all cases.
fn cases() -> BTreeSet<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--list", "--format", "terse"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// Runs cases in a process of their own, which probes their batches. Returns its results.
fn run(rows: &[&Row], update: bool) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let list: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(folder.path().join("list.tsv"), list).unwrap();
    let reasons = reasons();
    let is_void = |key: &&Key| reasons.iter().any(|reason| reason.fits(key));
    let void: String = fields().iter().filter(is_void).map(|key| format!("{key}\n")).collect();
    std::fs::write(folder.path().join("void.tsv"), void).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    // With one thread, the cases would run on the main thread, which has no name.
    command.env(JOB, folder.path()).args(["--test-threads", "2"]);
    // The tests of this module would start further processes.
    command.args(["--skip", "fields::"]);
    if let (true, Ok(names)) = (update, std::env::var("GENXML_FIELDS_CASES")) {
        command.arg(names);
    }
    if !update {
        let cases: BTreeSet<&str> =
            rows.iter().filter_map(|row| row.subject.split('#').next()).collect();
        if cases.is_empty() {
            return Vec::new();
        }
        command.env_remove(UPDATE).arg("--exact").args(cases);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "a case failed:\n{text}");
    let results = std::fs::read_to_string(folder.path().join("results.tsv")).unwrap_or_default();
    results.lines().map(|line| Row::parse(line).unwrap()).collect()
}

/// Runs the batches of the rows again. Returns the rows that do not hold, with the reason.
fn wrong(rows: &BTreeMap<Key, Row>) -> BTreeMap<Key, String> {
    let with_case: Vec<&Row> = rows.values().filter(|row| !row.subject.is_empty()).collect();
    let mut results: BTreeMap<Key, Row> = BTreeMap::new();
    for row in run(&with_case, false) {
        results.insert(row.key.clone(), row);
    }
    let mut wrong = BTreeMap::new();
    for row in with_case {
        let why = match results.get(&row.key) {
            None => format!("{} has no such field any more", row.subject),
            Some(new) if (new.class, &new.difference) != (row.class, &row.difference) => {
                let difference = &new.difference;
                format!("is {} with {:#x} now: {difference}", new.class, new.value)
            }
            Some(_) => continue,
        };
        wrong.insert(row.key.clone(), why);
    }
    wrong
}

/// Finds rows for fields without one, and better rows for unused fields.
fn update() {
    let fields = fields();
    let mut rows = rows();
    rows.retain(|key, _| fields.contains(key));
    for key in wrong(&rows).into_keys() {
        rows.remove(&key);
    }
    let old: Vec<&Row> = rows.values().collect();
    for row in run(&old, true) {
        let known = rows.get(&row.key);
        if fields.contains(&row.key) && known.is_none_or(|known| known.class < row.class) {
            rows.insert(row.key.clone(), row);
        }
    }
    // Results of a case may differ from run to run. Such rows are dropped.
    for (key, why) in wrong(&rows) {
        println!("{key}: dropped: {why}");
        rows.remove(&key);
    }
    for key in &fields {
        rows.entry(key.clone()).or_insert_with(|| Row::none(key));
    }
    let mut text = String::from(
        "# Written by GENXML_FIELDS_UPDATE=1 cargo test -p genxml-cases fields; see mod.rs.\n\
         # container, bits, field, class, case and batch, instance, with, value, difference\n",
    );
    for row in rows.values() {
        writeln!(text, "{row}").unwrap();
    }
    std::fs::write(Path::new(FOLDER).join("fields.tsv"), text).unwrap();
}

#[test]
fn every_field_has_an_effect_or_a_reason() {
    if std::env::var_os(UPDATE).is_some() {
        update();
    }
    let (fields, rows, reasons) = (fields(), rows(), reasons());
    let mut problems = Vec::new();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut fitting = vec![false; reasons.len()];
    for key in &fields {
        let Some(row) = rows.get(key) else {
            problems.push(format!("{key}: no row; run with {UPDATE}=1"));
            continue;
        };
        let reason = reasons.iter().position(|reason| reason.fits(key));
        let class = match (row.class, reason) {
            (Class::Unused, None) => {
                let seen = if row.subject.is_empty() { "in no case" } else { "no difference" };
                problems.push(format!("{key}: unused and without a reason: {seen}"));
                "unclassified"
            }
            (Class::Unused, Some(reason)) => {
                fitting[reason] = true;
                &reasons[reason].kind
            }
            (class, Some(reason)) => {
                let Reason { kind, why, .. } = &reasons[reason];
                problems.push(format!("{key}: {class}, but also {kind}: {why}"));
                &class.to_string()
            }
            (class, None) => &class.to_string(),
        };
        *counts.entry(class.to_owned()).or_default() += 1;
    }
    for key in rows.keys().filter(|key| !fields.contains(*key)) {
        problems.push(format!("{key}: the specification has no such field"));
    }
    for (reason, _) in reasons.iter().zip(fitting).filter(|(_, fitting)| !fitting) {
        problems.push(format!("{}, {}: the reason fits no field", reason.container, reason.field));
    }
    let cases = cases();
    for reason in reasons.iter().filter(|reason| reason.kind == "case") {
        if !cases.contains(&reason.why) {
            problems.push(format!("{}: there is no case {}", reason.container, reason.why));
        }
    }
    problems.extend(wrong(&rows).into_iter().map(|(key, why)| format!("{key}: {why}")));
    println!("{} fields: {counts:?}", fields.len());
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
