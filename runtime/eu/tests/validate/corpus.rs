//! Instruction sequences with the verdict of Mesa's validator, and kernels that drivers run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use genxml_eu::validate::{self, Severity};

/// The corpus: `GENXML_CORPUS`, or beside the project.
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let path = std::env::var_os("GENXML_CORPUS").map_or(beside, PathBuf::from);
    let found = path.join("eu/kernels").is_dir();
    if !found {
        assert!(
            std::env::var_os("GENXML_CORPUS").is_none(),
            "GENXML_CORPUS: nothing at {}",
            path.display()
        );
        eprintln!("skipped: no corpus at {}", path.display());
    }
    found.then_some(path)
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[i * 2..i * 2 + 2], 16).unwrap()).collect()
}

/// Rows whose verdict differs from Mesa's, with the reason from the manual.
const DIFFERENT: &[(&str, &str)] = &[];

/// Oracle: the verdict of Mesa's validator on Broadwell.
#[test]
fn verdicts_are_those_of_mesa() {
    let Some(corpus) = corpus() else { return };
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

/// Oracle: kernels that ran on hardware have no undefined behaviour.
#[test]
fn real_kernels_have_no_errors() {
    let Some(corpus) = corpus() else { return };
    let mut counts: BTreeMap<(Severity, &str), (usize, String)> = BTreeMap::new();
    let mut kernels = 0;
    for folder in std::fs::read_dir(corpus.join("eu/kernels")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "bin") {
                continue;
            }
            kernels += 1;
            for found in validate::kernel(&std::fs::read(&path).unwrap()) {
                let entry = counts.entry((found.rule.severity, found.rule.id)).or_default();
                entry.0 += 1;
                entry.1 = format!("{}: {found}", path.display());
            }
        }
    }
    println!("{kernels} kernels");
    for ((severity, id), (count, example)) in &counts {
        println!("{count:6} {} {id}, as in {example}", severity.name());
    }
    assert!(kernels > 300);
    assert!(counts.keys().all(|(severity, _)| *severity != Severity::Error));
}
