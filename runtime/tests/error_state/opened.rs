//! Error states opened as dumps: compressed or plain, also from other GPUs.

use crate::error_state::spellings::{linux_3_10, linux_6_1};
use genxml::decode::Tables;
use genxml::dump::{Dump, How, Kind};
use std::io::{Cursor, Write as _};

fn open(bytes: Vec<u8>) -> Dump {
    Dump::read("hang", Cursor::new(bytes), &How::default()).unwrap()
}

/// Names and addresses of the submissions.
fn names(dump: &mut Dump) -> Vec<(String, u64)> {
    let mut names = Vec::new();
    dump.submissions(&mut |submission| {
        names.push((submission.name.to_owned(), submission.address));
        Ok(())
    })
    .unwrap();
    names
}

#[test]
fn compressed_or_not() {
    let text = linux_6_1().into_bytes();
    let plain = names(&mut open(text.clone()));
    assert_eq!(plain[0], ("rcs0 ring".to_owned(), 0x1ff0));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&text).unwrap();
    let mut xz =
        lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(6)).unwrap();
    xz.write_all(&text).unwrap();
    for bytes in [gzip.finish().unwrap(), xz.finish().unwrap()] {
        let mut dump = open(bytes.clone());
        assert_eq!(dump.kind(), Kind::ErrorState);
        assert_eq!(dump.notes(), []);
        assert_eq!(names(&mut dump), plain);
        assert!(dump.hang(Tables::gen8()).is_some());
        // A truncated file is read up to the cut. One note reports the cut.
        let cut = open(bytes[..bytes.len() - 20].to_vec());
        assert_eq!(cut.kind(), Kind::ErrorState);
        assert_eq!(cut.notes().iter().filter(|note| note.cut).count(), 1, "{:?}", cut.notes());
    }
}

#[test]
fn another_gpu_is_named() {
    let dump = open(linux_3_10().into_bytes());
    let platform = dump.platform().unwrap();
    assert_eq!((platform.name, platform.generation), ("Haswell", 75));
    // The summary says that the tables are those of another GPU.
    let summary = dump.hang(Tables::gen8()).unwrap().to_string();
    assert!(summary.contains("Haswell (Gen7.5) is not Broadwell"), "{summary}");
    assert_eq!(dump.error_state().unwrap().pci_id(), Some(0x0a16));
}
