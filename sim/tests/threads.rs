//! Captures that run threads. Oracle: the memory that the captures expect: intel-gpu-tools' own assertion for
//! gem_gpgpu_fill, another model's result for the same programs with other sizes, positions and tilings.

use genxml::capture::Capture;
use genxml_sim::replay;
use std::path::PathBuf;

fn corpus() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    let path = std::env::var_os("GENXML_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    assert!(std::env::var_os("GENXML_CORPUS").is_none(), "GENXML_CORPUS: nothing at {}", path.display());
    eprintln!("skipped: no corpus at {} (set GENXML_CORPUS)", path.display());
    None
}

fn run(prefix: &str, least: usize) {
    let Some(corpus) = corpus() else { return };
    let mut entries: Vec<_> =
        std::fs::read_dir(corpus.join("images")).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut count = 0;
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with(prefix) {
            let report = replay::run(&Capture::open(&path).unwrap());
            if let Some((seq, fault)) = report.fault {
                panic!("{name}: submission {seq}: {fault}");
            }
            assert!(report.mismatches.is_empty(), "{name}: {}", report.mismatches[0]);
            assert!(report.stats.threads > 0, "{name}: {:?}", report.stats);
            count += 1;
        }
    }
    assert!(count >= least, "{prefix}: {count} captures");
}

#[test]
fn gpgpu_fill() {
    run("igt_gpgpu_fill", 1);
    run("syn_gpgpufill_", 2);
}

#[test]
fn media_fill() {
    run("syn_mediafill_", 1);
}

#[test]
fn media_spin() {
    run("syn_mediaspin_", 3);
}
