//! Written AUB files, read back. Oracles: the input of the writer; captures, which must convert
//! back unchanged; Mesa's file of the same program.

use crate::aub::{Owned, read};
use genxml::aub::{self, Kind, Reader, Recorder, Space, Writer};
use genxml::capture::{Capture, CaptureWriter, Event, Playback, Tiling, WriteObject};
use genxml::decode::Memory;
use genxml::engine::EngineId;
use genxml_testkit::corpus;
use std::collections::BTreeMap;

/// All events of a file. Reading must not cause an error.
fn events(file: &[u8]) -> Vec<Owned> {
    let (events, error) = read(file);
    assert!(error.is_none(), "{error:?}");
    events.into_iter().map(|event| event.1).collect()
}

#[test]
fn blocks() {
    let mut writer = Writer::new(Vec::new(), 0x1616, "a test with a name that is long").unwrap();
    writer.global_entries(5, &[0x1_2345_6001, 0x1_2345_7001]).unwrap();
    writer.global_entries(0, &[7; 513]).unwrap();
    writer.memory(Space::Physical, 0x12_3456_7890, b"12345").unwrap();
    writer.memory(Space::Global, 0x5ffc, &[7; 8]).unwrap();
    writer.memory(Space::Physical, 0x1000, &[]).unwrap();
    writer.register_write(0x229c, 0x8000_8000).unwrap();
    writer.register_poll(0x2234, 0x10, 0).unwrap();
    assert!(writer.memory(Space::Local, 0, &[1]).is_err());
    let position = writer.position();
    let file = writer.finish().unwrap();
    assert_eq!(position, file.len() as u64);
    assert_eq!(
        events(&file),
        [
            // The name is cut: it has 32 bytes, including the PCI id and a final zero.
            Owned::Header(Kind::MemoryTrace, Some(0x1616), "a test with a nam".into(), Some(true)),
            Owned::Entries(5, vec![0x1_2345_6001, 0x1_2345_7001]),
            Owned::Entries(0, vec![7; 512]),
            Owned::Entries(512, vec![7]),
            Owned::Memory(Space::Physical, 0x12_3456_7890, b"12345".to_vec()),
            // A block ends at the end of its page.
            Owned::Memory(Space::Global, 0x5ffc, vec![7; 4]),
            Owned::Memory(Space::Global, 0x6000, vec![7; 4]),
            Owned::Write(0x229c, u32::MAX, 0x8000_8000),
            Owned::Poll(0x2234, 0x10, 0),
        ]
    );
}

/// A submission: its engine, the address of its batch, and the pages of its objects by address.
type Seen = (EngineId, u64, BTreeMap<u64, Vec<u8>>);

/// The pages of the objects (address and size) in `memory`. Checks that no byte directly before an
/// object is mapped, unless another object ends there.
fn pages(memory: &dyn Memory, objects: &[(u64, u64)]) -> BTreeMap<u64, Vec<u8>> {
    let mut pages = BTreeMap::new();
    for &(address, size) in objects {
        for page in (address..address + size).step_by(4096) {
            let mut bytes = vec![0; 4096];
            // An object may end inside its last page. The rest of that page is 0.
            let there = memory.bytes(page, &mut bytes);
            assert!(there as u64 >= (address + size - page).min(4096), "{page:#x}");
            pages.insert(page, bytes);
        }
        assert!(
            memory.tail(address - 1).is_empty()
                || objects.iter().any(|o| (o.0 + o.1).next_multiple_of(4096) == address)
        );
    }
    pages
}

/// The submissions of a capture with their memory.
fn of_capture(capture: &Capture) -> Vec<Seen> {
    let mut playback = Playback::new(capture);
    let mut seen = Vec::new();
    while let Some(event) = playback.step() {
        let Event::Exec(exec) = event else { continue };
        let objects: Vec<(u64, u64)> = exec.objects.iter().map(|o| (o.address, o.size)).collect();
        seen.push((exec.engine, exec.batch_address, pages(&playback.memory(exec), &objects)));
    }
    seen
}

fn record(capture: &Capture) -> Vec<u8> {
    let mut recorder = Recorder::new(Vec::new(), capture.device().pci_id, capture.name()).unwrap();
    aub::from_capture(capture, &mut recorder, &|_| true, &mut |_| ()).unwrap();
    recorder.finish().unwrap()
}

/// Compares the submissions of a file with those of the capture that it was made from.
fn compare(capture: &Capture, file: &[u8]) {
    let expected = of_capture(capture);
    let mut execs = capture.execs();
    let mut count = 0;
    let mut notes = Vec::new();
    aub::submissions(Reader::new(file).unwrap(), capture.name(), &mut notes, &mut |submission| {
        let exec = execs.next().expect("as many submissions as in the capture");
        let (engine, address, memory) = &expected[count];
        count += 1;
        assert_eq!(submission.engine, *engine);
        let global = submission.memory.global().unwrap();
        let mut commands = Vec::new();
        global.dwords(submission.address, submission.length as usize / 4, &mut commands);
        let [0x1880_0101, low, high, 0] = commands[..] else { panic!("{commands:x?}") };
        assert_eq!((u64::from(high) << 32 | u64::from(low)) & 0xffff_ffff_ffff, *address);
        let objects: Vec<(u64, u64)> = exec.objects.iter().map(|o| (o.address, o.size)).collect();
        assert!(
            pages(submission.memory, &objects) == *memory,
            "{} exec {}",
            capture.name(),
            exec.seq
        );
        Ok(())
    })
    .unwrap();
    assert_eq!((count, notes), (expected.len(), vec![]), "{}", capture.name());
}

/// Every capture of the corpus, converted to a file and back.
#[test]
fn captures() {
    for path in corpus::captures() {
        let capture = Capture::open(&path).unwrap();
        let file = record(&capture);
        compare(&capture, &file);

        let place = tempfile::tempdir().unwrap();
        let mut writer = CaptureWriter::new(capture.name());
        let mut notes = Vec::new();
        aub::to_capture(
            Reader::new(&file[..]).unwrap(),
            &mut writer,
            &mut notes,
            &|_| true,
            &mut |_| (),
        )
        .unwrap();
        writer.finish(place.path()).unwrap();
        assert_eq!(notes, [], "{}", capture.name());
        let back = Capture::open(place.path()).unwrap();
        let seen = of_capture(&capture);
        let again = of_capture(&back);
        assert_eq!(seen.len(), again.len());
        for (seen, again) in seen.iter().zip(&again) {
            assert!(seen == again, "{}", capture.name());
        }
    }
}

/// Mesa's file, converted to a capture, has as many submissions as the drivers' capture of the same
/// program. The object with the last batch has the same contents.
#[test]
fn files_of_mesa() {
    let Some(corpus) = corpus::folder() else { return };
    for name in ["vk_saxpy", "vk_triangle"] {
        let place = tempfile::tempdir().unwrap();
        let mut writer = CaptureWriter::new(name);
        let mut notes = Vec::new();
        let reader = Reader::open(corpus.join(format!("aub/{name}.aub.xz"))).unwrap();
        aub::to_capture(reader, &mut writer, &mut notes, &|_| true, &mut |_| ()).unwrap();
        writer.finish(place.path()).unwrap();
        assert_eq!(notes, []);
        let capture = Capture::open(corpus.join("drivers").join(name)).unwrap();
        let back = Capture::open(place.path()).unwrap();
        assert_eq!(back.execs().count(), capture.execs().count());
        let (mut ours, mut theirs) = (Playback::new(&back), Playback::new(&capture));
        let last = capture.execs().last().unwrap();
        while !matches!(theirs.step(), Some(Event::Exec(exec)) if exec == last) {}
        let mut execs = back.execs().count();
        let exec = loop {
            if let Event::Exec(exec) = ours.step().unwrap() {
                execs -= 1;
                if execs == 0 {
                    break exec;
                }
            }
        };
        assert_eq!((exec.batch_address, exec.engine), (last.batch_address, last.engine));
        let (ours, theirs) = (ours.memory(exec), theirs.memory(last));
        // Compare from the batch's address to the end of its object in the drivers' capture.
        let (ours, theirs) = (ours.tail(last.batch_address), theirs.tail(last.batch_address));
        assert!(theirs.len() >= 4096 && ours[..theirs.len()] == *theirs, "{name}");
    }
}

/// Objects that are created, freed and mapped at other addresses; two contexts, and engines that
/// share one.
#[test]
fn objects_move() {
    let batch = [0, 0, 0, 5u8];
    let exec = |recorder: &mut Recorder<Vec<u8>>, context, engine, objects: &[WriteObject<'_>]| {
        recorder.exec(context, engine, 0x10_0000, objects).unwrap();
    };
    let object = |object, address, size, writes| WriteObject {
        object,
        address,
        size,
        tiling: Tiling::Linear,
        stride: 0,
        writes,
    };
    let mut recorder = Recorder::new(Vec::new(), 0x1616, "a test").unwrap();
    let at = 0x7fff_ffff_f000; // The last page below the canonical hole; the next one is above.
    let first = [
        object("batch", 0x10_0000, 0x1000, vec![(0, &batch[..])]),
        object("a", at, 0x3000, vec![(0x1ffc, b"12345678")]),
        object("b", 0x1f_f000, 0x2001, vec![(0x2000, b"x")]),
    ];
    exec(&mut recorder, 1, EngineId::Render, &first);
    let second = [
        object("batch", 0x10_0000, 0x1000, vec![]),
        object("a", 0x20_0000, 0x3000, vec![(0, b"new!")]),
    ];
    exec(&mut recorder, 1, EngineId::Render, &second);
    exec(&mut recorder, 2, EngineId::VideoEnhance, &second[..1]);
    recorder.free("a");
    let third =
        [object("batch", 0x10_0000, 0x1000, vec![]), object("a", 0x20_0000, 0x1000, vec![])];
    exec(&mut recorder, 1, EngineId::Video, &third);
    assert_ne!(recorder.physical("a"), None);
    let file = recorder.finish().unwrap();

    let mut seen = Vec::new();
    let reads = [at + 0x1ffc, at + 0x2000, 0x20_0000, 0x20_1000, 0x20_2000, 0x1f_f000, 0x10_0000];
    let mut notes = Vec::new();
    aub::submissions(Reader::new(&file[..]).unwrap(), "test", &mut notes, &mut |submission| {
        let read = |address: &u64| {
            let mut bytes = [0; 4];
            (submission.memory.bytes(*address, &mut bytes) == 4)
                .then(|| String::from_utf8_lossy(&bytes).into_owned())
        };
        seen.push((
            submission.context,
            submission.engine,
            reads.iter().map(read).collect::<Vec<_>>(),
        ));
        Ok(())
    })
    .unwrap();
    let text = |text: &str| Some(text.to_owned());
    let (zero, end) = (text("\0\0\0\0"), text("\0\0\0\u{5}"));
    let none = None::<String>;
    let contents: Vec<_> = seen.iter().map(|seen| seen.2.clone()).collect();
    let expected = [
        [
            text("1234"),
            text("5678"),
            zero.clone(),
            text("x\0\0\0"),
            none.clone(),
            zero.clone(),
            end.clone(),
        ],
        [
            none.clone(),
            none.clone(),
            text("new!"),
            text("1234").and(zero.clone()),
            text("5678"),
            none.clone(),
            end.clone(),
        ],
        [
            none.clone(),
            none.clone(),
            none.clone(),
            none.clone(),
            none.clone(),
            none.clone(),
            end.clone(),
        ],
        [
            none.clone(),
            none.clone(),
            zero.clone(),
            none.clone(),
            none.clone(),
            none.clone(),
            end.clone(),
        ],
    ];
    assert_eq!(contents, expected);
    let engines: Vec<EngineId> = seen.iter().map(|seen| seen.1).collect();
    assert_eq!(
        engines,
        [EngineId::Render, EngineId::Render, EngineId::VideoEnhance, EngineId::Video]
    );
    assert_eq!(seen[0].0, seen[1].0, "a context keeps its image");
    assert_eq!(notes, []);
}
