//! Reports about broken specifications: one folder of `cases/` for each kind of problem.
//!
//! `input.xml` is loaded together with the other XML files and the index of its folder.
//! `expected.txt` is the whole report. After a deliberate change,
//! `GENXML_BLESS=1 cargo test -p genxml-codegen` writes the expected texts again: read the
//! difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use genxml_codegen::diagnostic::{Code, Report};
use genxml_codegen::{index, load};

fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// The files of a case by name, `input.xml` first.
fn texts(case: &Path) -> Vec<(String, String)> {
    let index = Some(case.join(index::FILE)).filter(|path| path.is_file());
    let mut texts: Vec<(String, String)> = load::xml_files(case)
        .unwrap()
        .into_iter()
        .chain(index)
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    texts.sort_by_key(|(name, _)| (name != "input.xml", name.clone()));
    texts
}

/// The report of a case. In a folder without `input.xml`, the case is that the file cannot be read.
fn report(case: &Path) -> Report {
    let texts = texts(case);
    match texts.is_empty() {
        true => load::read_files(&[PathBuf::from("input.xml")]).report(),
        false => {
            let texts: Vec<(&str, &str)> =
                texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            load::read_texts(&texts).report()
        }
    }
}

#[test]
fn reports_are_as_expected() {
    let bless = std::env::var_os("GENXML_BLESS").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let report = format!("{}\n", report(&case));
        let expected = case.join("expected.txt");
        if bless {
            fs::write(&expected, &report).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != report {
            wrong.push(format!("{}:\n{report}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "reports differ from expected.txt:\n{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_case() {
    let mut shown = BTreeSet::new();
    for case in cases() {
        shown.extend(report(&case).diagnostics.iter().map(|d| d.code));
    }
    let missing: Vec<&str> =
        Code::ALL.iter().filter(|code| !shown.contains(code)).map(|code| code.text()).collect();
    assert!(missing.is_empty(), "no case reports {missing:?}");
}

#[test]
fn every_code_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-xml/SCHEMA.md");
    let schema = fs::read_to_string(path).unwrap();
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.text())
        .filter(|text| !schema.contains(&format!("`{text}`")))
        .collect();
    assert!(missing.is_empty(), "SCHEMA.md does not name {missing:?}");
}
