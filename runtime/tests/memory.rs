//! Memory that decoding uses in addition to its input, as the system reports it.
//!
//! This is a separate test binary with one test, because allocations of other threads would count
//! too.

use genxml::check::{self, Rules};
use genxml::decode::{self, Format, Options};
use genxml::engine::EngineId;
use genxml_testkit::draws;

/// Peak memory of the process so far in bytes, if the system reports it.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}

/// Decodes a batch of 24 MiB with all references followed (although their memory is missing), and
/// checks it. The limit also covers the tables and the program's own pages. It is less than the
/// input, so a copy of the input would exceed it.
#[test]
fn a_long_batch_takes_little_memory() {
    const INPUT: usize = 24 << 20;
    const LIMIT: usize = 24_000_000;
    let part = draws::batch(INPUT / 16);
    let Some(empty) = peak() else {
        return eprintln!("skipped: the system does not report peak memory");
    };
    let dwords = part.repeat(16);
    let before = peak().unwrap_or(0);
    assert!(before - empty > INPUT / 2, "the peak counts what is allocated");

    let decoded = |options: Options| {
        let options = Options { max_dwords: u64::MAX, ..options };
        let out = std::io::sink();
        let summary =
            decode::raw(EngineId::Render, draws::ADDRESS, &dwords, &options, out).expect("a sink");
        assert!(!summary.limited && summary.packets > 1_100_000, "{summary:?}");
    };
    let check = |what: &str| {
        let taken = peak().unwrap_or(0) - before;
        println!("{what}: {taken} bytes");
        assert!(taken < LIMIT, "{what}: {taken} bytes beside the input");
    };
    decoded(Options { headers: true, ..Options::default() });
    check("headers");
    decoded(Options::default());
    check("text");
    decoded(Options { format: Format::Json, ..Options::default() });
    check("JSON");
    let rules = Rules::gen8();
    check::raw(EngineId::Render, draws::ADDRESS, &dwords, &rules, &mut |finding| {
        panic!("{finding}")
    });
    check("rules");
}
