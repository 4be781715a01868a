//! Instruction sequences with the verdict of Mesa's validator, and kernels that drivers run.

use genxml_eu::validate::{self, Severity};
use genxml_testkit::corpus;
use genxml_testkit::text::hex;
use std::collections::BTreeMap;

/// Rows whose verdict differs from Mesa's, with the reason from the manual.
const DIFFERENT: &[(&str, &str)] = &[];

/// Oracle: the verdict of Mesa's validator on Broadwell.
#[test]
fn verdicts_are_those_of_mesa() {
    let Some(corpus) = corpus::folder() else { return };
    let text = std::fs::read_to_string(corpus.join("eu/validate.tsv")).unwrap();
    let (mut rows, mut equal) = (0, 0);
    let mut wrong = Vec::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [test, _, expected, bytes, ..] = columns[..] else { panic!("{line}") };
        let bytes = hex(bytes);
        rows += 1;
        if validate::is_valid(&bytes) == (expected == "valid") {
            equal += 1;
            assert!(
                DIFFERENT.iter().all(|(row, _)| *row != columns[3]),
                "{test}: no longer different"
            );
        } else if DIFFERENT.iter().all(|(row, _)| *row != columns[3]) {
            let ours: Vec<String> =
                validate::kernel(&bytes).iter().map(|found| found.to_string()).collect();
            wrong.push(format!("{line}\n    ours: {}", ours.join("\n    ")));
        }
    }
    println!("{equal} of {rows} verdicts are Mesa's, {} differ by the manual", DIFFERENT.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(equal * 100 >= rows * 97);
}

/// Oracle: drivers run these kernels on hardware, so no rule of severity `Error` may reject one.
#[test]
fn real_kernels_have_no_errors() {
    let Some(corpus) = corpus::folder() else { return };
    let mut counts: BTreeMap<(Severity, &str), (usize, String)> = BTreeMap::new();
    let kernels = corpus::kernels(&corpus);
    for (path, bytes) in &kernels {
        for found in validate::kernel(bytes) {
            let entry = counts.entry((found.rule.severity, found.rule.id)).or_default();
            entry.0 += 1;
            entry.1 = format!("{}: {found}", path.display());
        }
    }
    println!("{} kernels", kernels.len());
    for ((severity, id), (count, example)) in &counts {
        println!("{count:6} {} {id}, as in {example}", severity.name());
    }
    assert!(kernels.len() > 300);
    assert!(counts.keys().all(|(severity, _)| *severity != Severity::Error));
}
