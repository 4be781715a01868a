//! The capture format: real captures load, damaged ones are refused with file, line, field and
//! value.

use genxml::capture::*;
use genxml::engine::EngineId;
use genxml_testkit::corpus;
use std::fs;
use std::path::Path;

fn small(dir: &Path) {
    let mut writer = CaptureWriter::new("small");
    let batch = 0x0500_0000u32.to_le_bytes();
    let objects = [
        WriteObject::new("dst", 0x10000, 8192, &[]),
        WriteObject::new("batch", 0x1000, 4096, &batch),
    ];
    writer.exec(3, EngineId::Render, 0x1000, 0, &objects);
    writer.expect("batch", "batch", 0, &batch, &[], Compare::Exact);
    let frame = Frame {
        index: 0,
        after_exec: 0,
        object: ObjectId(0),
        offset: 0,
        width: 16,
        height: 16,
        pitch: 64,
        fourcc: "XR24".to_owned(),
        tiling: Tiling::Linear,
    };
    writer.frame("dst", &frame);
    writer.free("batch");
    writer.finish(dir).unwrap();
}

/// While a capture is written again, the directory keeps the files of the previous one until the
/// new manifest replaces the old one. Oracle: rename(2).
#[test]
fn rewritten_captures_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = CaptureWriter::new("again");
    for value in 1..=4u8 {
        let object = WriteObject::new("batch", 0x1000, 4096, &[]);
        let bytes = [value; 8];
        writer.exec(
            0,
            EngineId::Render,
            0x1000,
            0,
            &[WriteObject { writes: vec![(0, &bytes)], ..object }],
        );
        let before = fs::read(dir.path().join("manifest.json")).ok();
        let data = |manifest: &[u8]| {
            let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
            dir.path().join(manifest["data"].as_str().unwrap())
        };
        let old = before.as_deref().map(|before| (data(before), fs::read(data(before)).unwrap()));
        // The manifest cannot be written: the old capture stays.
        let blocked = dir.path().join("manifest.json.new");
        fs::create_dir(&blocked).unwrap();
        assert!(writer.write(dir.path()).is_err());
        fs::remove_dir(&blocked).unwrap();
        assert_eq!(fs::read(dir.path().join("manifest.json")).ok(), before);
        if let Some((file, bytes)) = old {
            assert_eq!(fs::read(file).unwrap(), bytes);
        }
        writer.write(dir.path()).unwrap();
        assert_eq!(Capture::open(dir.path()).unwrap().execs().count(), usize::from(value));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}

#[test]
fn written_captures_load() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let capture = Capture::open(dir.path()).unwrap();
    assert_eq!(capture.name(), "small");
    assert_eq!(*capture.device(), Device { pci_id: 0x1616, generation: 8 });
    let exec = capture.execs().next().unwrap();
    assert_eq!((exec.context, exec.engine, exec.batch_address), (3, EngineId::Render, 0x1000));
    assert_eq!(capture.object_name(exec.objects[0].object), "dst");
    let expectation = capture.expectations().next().unwrap();
    assert_eq!(expectation.address, 0x1000);

    let mut playback = Playback::new(&capture);
    let Some(Event::Exec(exec)) = playback.step() else { panic!("the first event is the exec") };
    let memory = playback.memory(exec);
    assert_eq!(memory.tail(0x1002).len(), 4094);
    assert_eq!(memory.tail(0x1000)[..4], [0, 0, 0, 5]);
    assert!(memory.tail(0x2000).is_empty() && memory.tail(0xfff).is_empty());
    assert_eq!(memory.object(0x11fff).unwrap().0, 0x10000);
    let batch = exec.objects[1].object;
    assert_eq!(expectation.compare(playback.bytes(batch), &capture), Ok(()));
    assert!(matches!(playback.step(), Some(Event::Expect(_))));
    assert!(matches!(playback.step(), Some(Event::Frame(_))));
    assert!(matches!(playback.step(), Some(Event::Free(_))));
    assert!(playback.bytes(batch).is_empty());
    assert!(playback.step().is_none());
}

/// Changes the text of the manifest and expects an error that contains the file's name and then
/// `message`.
fn refused(change: impl Fn(String) -> String, message: &str) {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let path = dir.path().join("manifest.json");
    let before = fs::read_to_string(&path).unwrap();
    let after = change(before.clone());
    assert_ne!(before, after, "the change for {message:?} changes nothing");
    fs::write(&path, after).unwrap();
    let error = Capture::open(dir.path()).expect_err(message).to_string();
    let error = error.replace(&format!("{}/", dir.path().display()), "");
    assert!(error.contains(message), "{error:?} does not contain {message:?}");
}

/// For each text of the manifest, its replacement and a message: expects an error with this message
/// for a manifest in which the first such text is replaced.
fn each_refused(cases: &[(&str, &str, &str)]) {
    for &(from, to, message) in cases {
        refused(|text| text.replacen(from, to, 1), message);
    }
}

/// Top-level fields and the device; a file that is cut short or empty.
#[test]
fn wrong_fields_of_the_manifest_are_named() {
    each_refused(&[
        (
            "genx-capture-1",
            "genx-capture-2",
            "manifest.json:1: format = \"genx-capture-2\": this reader supports",
        ),
        (
            "\"data.bin.zst\"",
            "\"../data.bin.zst\"",
            "manifest.json:1: data = \"../data.bin.zst\": must be the name",
        ),
        ("\"name\": \"small\",", "", "name = nothing: the field is missing"),
        ("\"0x1616\"", "\"0x11616\"", "device.pci_id = \"0x11616\": PCI"),
        ("\"data_size\": 4", "\"data_size\": 5", "data.bin.zst: holds 4 bytes, data_size says 5"),
        (
            "\"data_size\": 4",
            "\"data_size\": 99999999999",
            "data_size = 99999999999: more than the limit",
        ),
        ("\"events\": [", "\"events\": 3, \"x\": [", "manifest.json:10:"),
    ]);
    refused(|text| text[..text.len() / 2].to_owned(), "manifest.json:");
    refused(|_| String::new(), "manifest.json:1:0: EOF");
}

/// Type, engine, order and batch of an exec.
#[test]
fn wrong_fields_of_execs_are_named() {
    each_refused(&[
        (
            "\"type\": \"exec\"",
            "\"type\": \"exek\"",
            "manifest.json:11: events[0].type = \"exek\": there are exec",
        ),
        ("\"render\"", "\"3d\"", "events[0].engine = \"3d\": there are render"),
        ("\"seq\": 0", "\"seq\": -1", "manifest.json:13:"),
        ("\"seq\": 0", "\"seq\": 7", "after_exec = 0: no exec has this seq"),
        (
            "\"batch_address\": \"0x1000\"",
            "\"batch_address\": \"0x1002\"",
            "batch_address = \"0x1002\": batches start",
        ),
        (
            "\"batch_address\": \"0x1000\"",
            "\"batch_address\": \"0x8000\"",
            "is in none of the objects",
        ),
        ("\"batch_address\": \"0x1000\"", "\"batch_address\": \"+0x1\"", "not a number"),
        (
            "\"batch_address\": \"0x1000\",",
            "",
            "events[0].batch_address = nothing: the field is missing",
        ),
        (
            "\"batch_length\": 0",
            "\"batch_length\": 4100",
            "batch_length = 0x1004: the object with the batch ends 4096",
        ),
        ("\"batch_length\": 0", "\"batch_length\": 3", "batches consist of whole dwords"),
    ]);
}

/// Address, size, tiling and writes of the objects of an exec.
#[test]
fn wrong_fields_of_objects_are_named() {
    each_refused(&[
        (
            "\"0x10000\"",
            "\"0x10010\"",
            "events[0].objects[0].address = \"0x10010\": objects start on a page",
        ),
        (
            "\"0x10000\"",
            "\"0x1000000000000\"",
            "objects[0].address = \"0x1000000000000\": neither a 48-bit",
        ),
        (
            "\"0x10000\"",
            "\"0x0\"",
            "events[0].objects[1].address = 0x1000: overlaps the pages of objects[0]",
        ),
        (
            "\"0x10000\"",
            "\"0x1000\"",
            "events[0].objects[1].address = \"0x1000\": objects[0] starts there too",
        ),
        (
            "\"object\": \"dst\"",
            "\"object\": \"batch\"",
            "objects[1].object = batch: the object is listed twice",
        ),
        ("\"size\": 8192", "\"size\": 0", "events[0].objects[0].size = 0: an object has"),
        (
            "\"size\": 8192",
            "\"size\": 5000000000",
            "events[0].objects[0].size = 5000000000: more than the limit",
        ),
        ("\"size\": 8192", "\"size\": 18446744073709551615", "more than the limit"),
        (
            "\"size\": 8192",
            "\"size\": 512",
            "events[2].pitch = 64 * height 16 from 0 on: the object has 512",
        ),
        ("\"tiling\": 0", "\"tiling\": 3", "events[0].objects[0].tiling = 3: 0 is linear"),
        (
            "              0,\n              4,\n              0\n",
            "4095,4,0",
            "objects[1].writes[0] = [4095, 4, 0]: reaches beyond",
        ),
        (
            "              0,\n              4,\n              0\n",
            "0,4,1",
            "objects[1].writes[0] = [0, 4, 1]: reads beyond",
        ),
        (
            "              0,\n              4,\n              0\n",
            "18446744073709551615,4,1",
            "reaches beyond",
        ),
    ]);
}

/// Comparison, bytes and name of an expectation; format and pitch of a frame.
#[test]
fn wrong_fields_of_expectations_and_frames_are_named() {
    each_refused(&[
        (
            "\"kind\": \"exact\"",
            "\"kind\": \"rgb\"",
            "events[1].compare.kind = \"rgb\": there are exact",
        ),
        ("\"kind\": \"exact\"", "\"kind\": \"rgba8\"", "events[1].compare.max_abs_diff = nothing"),
        (
            "\"kind\": \"exact\"",
            "\"kind\": \"rgba8\", \"max_abs_diff\": 1, \"outlier_fraction\": 1.5",
            "outlier_fraction = 1.5",
        ),
        ("\"ignore\": []", "\"ignore\": [[0, 5]]", "events[1].ignore[0] = [0, 5]: reaches beyond"),
        ("\"size\": 4,", "\"size\": 4100,", "events[1].size = 4100 from 0 on: the object has 4096"),
        (
            "\"name\": \"batch\"",
            "\"name\": \"a/b\"",
            "events[1].name = \"a/b\": must be fit for a file name",
        ),
        ("\"fourcc\": \"XR24\"", "\"fourcc\": \"XR2\"", "events[2].fourcc"),
        ("\"pitch\": 64", "\"pitch\": 4294967295", "events[2].pitch"),
    ]);
}

#[test]
fn an_object_keeps_its_size_until_it_is_freed() {
    let write = |free: bool| {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = CaptureWriter::new("sizes");
        for size in [4096, 8192] {
            writer.exec(0, EngineId::Video, 0, 0, &[WriteObject::new("a", 0, size, &[1])]);
            if free {
                writer.free("a");
            }
        }
        writer.finish(dir.path()).unwrap();
        Capture::open(dir.path())
    };
    let error = write(false).unwrap_err().to_string();
    assert!(
        error.contains("events[1].objects[0].size = 8192: an earlier exec gave the object 4096"),
        "{error}"
    );
    assert_eq!(write(true).unwrap().execs().count(), 2);
}

/// Memory that is never written is not allocated, but the sum of the objects' sizes is limited.
#[test]
fn objects_have_a_limit_in_sum() {
    let write = |free: bool| {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = CaptureWriter::new("large");
        for number in 0..=MAX_OBJECTS / MAX_BYTES {
            let name = number.to_string();
            let object = WriteObject::new(&name, number * MAX_BYTES, MAX_BYTES, &[]);
            writer.exec(0, EngineId::Render, number * MAX_BYTES, 0, &[object]);
            if free {
                writer.free(&name);
            }
        }
        writer.finish(dir.path()).unwrap();
        Capture::open(dir.path())
    };
    let error = write(false).unwrap_err().to_string();
    assert!(
        error.contains("events[16].objects[0].size = 4294967296: objects are larger"),
        "{error}"
    );
    assert!(error.contains("limit of 68719476736 bytes in sum"), "{error}");
    assert_eq!(write(true).unwrap().execs().count(), 17);
}

#[test]
fn damaged_data_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let path = dir.path().join("data.bin.zst");
    let good = fs::read(&path).unwrap();
    let try_with = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Capture::open(dir.path()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(try_with(&good), Ok(()));
    assert!(try_with(b"").unwrap_err().contains("data.bin.zst: not a zstd file"));
    assert!(try_with(b"no zstd at all").unwrap_err().contains("data.bin.zst: not a zstd file"));
    assert!(try_with(&good[..good.len() - 1]).is_err());
    // Every cut names the file, its length, and what to do.
    for cut in 0..good.len() - 4 {
        let error = try_with(&good[..cut]).unwrap_err();
        assert!(!error.contains("fill whole buffer"), "{cut}: {error}");
        assert!(error.contains(&format!("ends after {cut} bytes")), "{cut}: {error}");
        assert!(error.contains("data.bin.zst: ") && error.contains("again"), "{error}");
    }
    assert!(try_with(&[&good[..], b"x"].concat()).unwrap_err().contains("more bytes follow"));
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            // A meaningless header bit may or may not be accepted, but must not cause a panic.
            let _ = try_with(&bytes);
        }
    }
    fs::remove_file(&path).unwrap();
    let error = Capture::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("data.bin.zst: No such file"), "{error}");
}

#[test]
fn comparing_says_where_and_how_much() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = CaptureWriter::new("compare");
    writer.exec(0, EngineId::Render, 0x7000, 0, &[WriteObject::new("a", 0x7000, 4096, &[])]);
    let expected: Vec<u8> = (0..64).collect();
    writer.expect("all", "a", 32, &expected, &[], Compare::Exact);
    writer.expect("some", "a", 32, &expected, &[(8, 4), (4, 4), (20, 0)], Compare::Exact);
    writer.expect(
        "image",
        "a",
        32,
        &expected,
        &[],
        Compare::Rgba8 { max_abs_diff: 2, outlier_fraction: 0.0625 },
    );
    writer.finish(dir.path()).unwrap();
    let capture = Capture::open(dir.path()).unwrap();
    let [all, some, image] = capture.expectations().collect::<Vec<_>>()[..] else {
        panic!("three")
    };

    let mut actual = expected.clone();
    assert_eq!(all.compare(&actual, &capture), Ok(()));
    (actual[5], actual[11]) = (0, 0);
    let error = all.compare(&actual, &capture).unwrap_err();
    assert_eq!(
        (error.offset, error.address, error.expected, error.found),
        (37, 0x7025, 5, Found::Byte(0))
    );
    assert_eq!((error.count, error.total), (2, 64));
    assert_eq!(
        error.to_string(),
        "expectation all: object a at 0x7025 (+0x25) should hold 0x05, holds 0x00; 2 of 64 bytes differ"
    );
    assert_eq!(some.compare(&actual, &capture), Ok(()));
    actual[12] = 0;
    assert_eq!(some.compare(&actual, &capture).unwrap_err().offset, 44);

    let mut actual = expected.clone();
    (actual[0], actual[9], actual[10]) = (2, 200, 201);
    assert_eq!(
        image.compare(&actual, &capture),
        Ok(()),
        "one of sixteen pixels is off, as allowed"
    );
    actual[63] = 0;
    let error = image.compare(&actual, &capture).unwrap_err();
    assert_eq!((error.offset, error.count, error.total), (41, 2, 16));
    assert_eq!(all.compare(&expected[..10], &capture).unwrap_err().found, Found::End);
    assert_eq!(all.compare(&[], &capture).unwrap_err().address, 0x7020);
}

#[test]
fn padding_of_frames_is_not_compared() {
    let dir = tempfile::tempdir().unwrap();
    let expected: Vec<u8> = (0..64).collect();
    for (fourcc, same) in [("XR24", true), ("AR24", false)] {
        let mut writer = CaptureWriter::new("padding");
        writer.exec(0, EngineId::Render, 0x7000, 0, &[WriteObject::new("a", 0x7000, 4096, &[])]);
        let compare = Compare::Rgba8 { max_abs_diff: 0, outlier_fraction: 0.0 };
        writer.expect("image", "a", 32, &expected, &[], compare);
        let frame = Frame {
            index: 0,
            after_exec: 0,
            object: ObjectId(0),
            offset: 32,
            width: 4,
            height: 4,
            pitch: 16,
            fourcc: fourcc.to_owned(),
            tiling: Tiling::Linear,
        };
        writer.frame("a", &frame);
        let path = dir.path().join(fourcc);
        writer.finish(&path).unwrap();
        let capture = Capture::open(&path).unwrap();
        let image = capture.expectations().next().unwrap();
        let mut actual = expected.clone();
        actual[7] = 99;
        assert_eq!(image.compare(&actual, &capture).is_ok(), same, "{fourcc}");
        actual[6] = 99;
        assert!(image.compare(&actual, &capture).is_err(), "{fourcc}");
    }
}

/// Oracle: the corpus, written by another program.
#[test]
fn real_captures_load_and_play() {
    for path in corpus::captures() {
        let capture = Capture::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let mut playback = Playback::new(&capture);
        let mut execs = 0;
        while let Some(event) = playback.step() {
            if let Event::Exec(exec) = event {
                execs += 1;
                assert!(!playback.memory(exec).tail(exec.batch_address).is_empty());
            }
        }
        assert!(execs > 0, "{}", path.display());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 500, ..Default::default() })]

    /// Any manifest gives an error, or a capture that plays and decodes.
    #[test]
    fn mutated_manifests_never_panic(
        changes in proptest::collection::vec((0usize..4000, proptest::prelude::any::<u8>(), 0usize..4), 1..6),
    ) {
        let dir = tempfile::tempdir().unwrap();
        small(dir.path());
        let path = dir.path().join("manifest.json");
        let mut text = fs::read(&path).unwrap();
        for (at, byte, how) in changes {
            let at = at % text.len();
            match how {
                0 => text[at] = byte,
                1 => text[at] = b'0' + byte % 10,
                2 => text.insert(at, b'0' + byte % 10),
                _ => _ = text.remove(at),
            }
        }
        fs::write(&path, &text).unwrap();
        if let Ok(capture) = Capture::open(dir.path()) {
            genxml::decode::dump(&mut &capture, &Default::default(), std::io::sink()).unwrap();
        }
    }
}

/// A buffer that becomes zero in parts between two submissions is zero there in the second one too,
/// also if the GPU wrote it between them. Oracle: the bytes of the buffer.
#[test]
fn a_buffer_written_twice_has_its_new_bytes() {
    use genxml::batch::{Batch, Buffer};
    use genxml::engine::Render;
    let mut contents = vec![0xa5; 4096];
    let mut writer = CaptureWriter::new("twice");
    for round in 0..2 {
        let mut buffer = Buffer::new("data", 0x10000, 4096).unwrap();
        if round == 1 {
            contents[64..1024].fill(0);
            contents[4032..].fill(0);
        }
        buffer.bytes_mut().copy_from_slice(&contents);
        let batch = Batch::<Render>::new("batch", 0x20000, 4096).unwrap();
        batch.finish().unwrap().submit([buffer]).unwrap().write(1, &mut writer);
    }
    let dir = tempfile::tempdir().unwrap();
    writer.finish(dir.path()).unwrap();
    let capture = Capture::open(dir.path()).unwrap();
    let mut playback = Playback::new(&capture);
    let mut last = Vec::new();
    while let Some(event) = playback.step() {
        let Event::Exec(exec) = event else { continue };
        let data = exec.objects.iter().find(|object| capture.object_name(object.object) == "data");
        last = playback.bytes(data.unwrap().object).to_vec();
    }
    assert!(last == contents);
}

/// The data of a capture of 34 MiB are in a temporary file, not in memory. Oracle: arrays to which
/// the same writes are applied.
#[test]
fn a_large_capture_plays_from_a_file() {
    const SIZE: usize = 2 << 20;
    const OBJECTS: u8 = 17;
    let dir = tempfile::tempdir().unwrap();
    let mut writer = CaptureWriter::new("large");
    let contents = |number: u8| -> Vec<u8> {
        (0..SIZE).map(|at| number.wrapping_mul(3).wrapping_add((at >> 12) as u8)).collect()
    };
    let names: Vec<String> = (0..OBJECTS).map(|number| format!("object {number}")).collect();
    let all: Vec<Vec<u8>> = (0..OBJECTS).map(contents).collect();
    let object = |number: usize, writes| WriteObject {
        writes,
        ..WriteObject::new(&names[number], (number as u64 + 1) << 24, SIZE as u64, &[])
    };
    let every: Vec<_> = (0..all.len()).map(|n| object(n, vec![(0, &all[n][..])])).collect();
    writer.exec(0, EngineId::Render, 1 << 24, 0, &every);
    // Two writes that overlap, to an object that is used before and to one that is not.
    let twice = |number| object(number, vec![(100, &[1; 50][..]), (120, &[2; 5_000][..])]);
    writer.exec(0, EngineId::Render, 1 << 24, 0, &[twice(0), twice(1)]);
    writer.free(&names[2]);
    writer.exec(0, EngineId::Render, 1 << 24, 0, &[twice(0), object(2, vec![(7, &[9])])]);
    writer.finish(dir.path()).unwrap();

    let capture = Capture::open(dir.path()).unwrap();
    assert!(!capture.data().is_in_memory() && capture.data().size() > (34 << 20));
    let mut playback = Playback::new(&capture);
    let mut expected = all.clone();
    let Some(Event::Exec(exec)) = playback.step() else { panic!("a submission") };
    let ids: Vec<ObjectId> = exec.objects.iter().map(|object| object.object).collect();
    assert!(playback.bytes(ids[0]) == expected[0] && playback.bytes(ids[2]) == expected[2]);
    assert!(playback.memory(exec).tail((17 << 24) + 5) == &expected[16][5..]);
    for bytes in &mut expected[..2] {
        bytes[100..150].fill(1);
        bytes[120..5_120].fill(2);
    }
    playback.step();
    assert!(playback.bytes(ids[0]) == expected[0] && playback.bytes(ids[1]) == expected[1]);
    playback.step();
    assert!(playback.bytes(ids[2]).is_empty());
    let Some(Event::Exec(exec)) = playback.step() else { panic!("a submission") };
    expected[2].fill(0);
    expected[2][7] = 9;
    assert!(playback.memory(exec).ranges().map(|range| range.1).eq([&expected[0], &expected[2]]));
    let writes: Vec<_> = capture.execs().next().unwrap().objects[3].writes.clone();
    assert!(*capture.bytes(&writes[0]) == all[3]);
}
