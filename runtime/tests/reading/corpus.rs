//! Real captures: no packet is unknown, and only fields in `REAL` have values that the manual does
//! not allow.

use genxml::decode::{Decoder, Kind, Options, Record, Tables};
use genxml::dump::{Dump, How};
use genxml_testkit::corpus;
use std::collections::BTreeSet;

/// Fields to which real programs write values that the manual does not allow: packet or structure,
/// and field. The comments give the reasons.
const REAL: [(&str, &str); 2] = [
    // intel-gpu-tools set the modify bit in a dword that has none (stateless data port, dword 3).
    ("STATE_BASE_ADDRESS", "Reserved"),
    // NEO sets bit 8 of the L3 configuration, which is reserved in the manual.
    ("L3CNTLREG", "Reserved"),
];

/// Oracle: the drivers and tests of intel-gpu-tools, which ran unchanged on hardware or on a model
/// of it.
#[test]
fn captures_have_nothing_that_is_unknown_or_wrongly_called_wrong() {
    let mut found = BTreeSet::new();
    let mut rows = 0;
    for path in corpus::captures() {
        let mut dump = Dump::open(&path, &How::default()).unwrap();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut sink = |record: &Record| {
            for item in record.items.iter().filter(|item| item.issue.is_some()) {
                found.insert((record.name, item.name, format!("{name}: {:?}", item.issue)));
            }
            let missing = ["not followed", "mapped", "cut short", "in memory", "no memory"];
            assert!(
                !missing.iter().any(|word| record.note.contains(word)),
                "{name}: {}",
                record.note
            );
            rows += u64::from(record.kind == Kind::Row);
            Ok(())
        };
        let decoder = Decoder::new(Tables::gen8(), Options::default());
        let summary = decoder.submissions(&mut dump, &mut sink).unwrap();
        assert_eq!((summary.unknown, summary.limited), (0, false), "{name}");
    }
    for (record, field, place) in &found {
        println!("{record}, {field}: {place}");
        assert!(REAL.contains(&(record, field)), "{record}, {field}: {place}");
    }
    assert!(rows > 0 || corpus::captures().is_empty());
}
