//! Captures of a real OpenGL driver on the G45. Oracle: the pictures of another renderer
//! (llvmpipe), with the tolerance that the captures name.
//!
//! Without the corpus the tests do nothing.

use genxml::capture::Capture;
use genxml_sim::replay::{self, Replay, Step};
use genxml_testkit::corpus;

/// Number of captures.
const CAPTURES: usize = 26;

/// Every capture of the G45 gives its pictures. `GENXML_G45` selects captures by a part of their
/// names.
#[test]
fn captures() {
    let Some(corpus) = corpus::folder() else { return };
    let filter = std::env::var("GENXML_G45").unwrap_or_default();
    let mut entries: Vec<_> = std::fs::read_dir(corpus.join("gen45/captures"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(&filter))
        .collect();
    entries.sort();
    let mut wrong = vec![];
    for path in &entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let report = replay::run(&Capture::open(path).unwrap());
        if let Some((seq, fault)) = report.fault {
            wrong.push(format!("{name}: submission {seq}: {fault}"));
        } else if let Some(mismatch) = report.mismatches.first() {
            wrong.push(format!("{name}: {mismatch}"));
        } else {
            assert!(report.expectations > 0 && report.stats.threads > 0, "{name}: {report:?}");
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
    assert!(!filter.is_empty() || entries.len() == CAPTURES);
}

/// Several host threads give the same pictures and counts as one.
#[test]
fn host_threads_change_nothing() {
    let Some(corpus) = corpus::folder() else { return };
    let path = corpus.join("gen45/captures/pg_glsl_link_unnamed_types");
    let capture = Capture::open(&path).unwrap();
    let [one, four] = [1, 4].map(|threads| {
        let mut replay = Replay::new(&capture);
        replay.gpu().set_threads(threads);
        let (mut stats, mut picture) = (vec![], vec![]);
        while let Some(step) = replay.step() {
            match step {
                Step::Exec { result, .. } => stats.push(result.unwrap()),
                Step::Expectation { expectation, .. } => {
                    picture.extend_from_slice(replay.bytes(expectation.object));
                }
                _ => {}
            }
        }
        (stats, picture)
    });
    assert!(one.0 == four.0, "{:?} and {:?}", one.0, four.0);
    assert!(one.1 == four.1);
}
