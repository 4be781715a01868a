//! The reader of AUB files. Oracles: the description of the format, from which [`AubFile`] is
//! written independently; files of Mesa's writer in the corpus; data compressed by other programs.

mod blocks;
mod neo;
mod submissions;
mod writer;

use genxml::aub::{
    AubError, CHUNK, Compression, DecompressError, Event, Kind, MAX_COMMANDS, Reader, Space,
};
use genxml::dump::{Dump, How};
use genxml::engine::EngineId;
use genxml_testkit::aub::{AubFile, space};
use genxml_testkit::corpus;
use proptest::prelude::*;
use std::io::{self, Read, Write};

/// An event that owns its data.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Header(Kind, Option<u32>, String, Option<bool>),
    Memory(Space, u64, Vec<u8>),
    Entries(u64, Vec<u64>),
    Write(u32, u32, u32),
    Poll(u32, u32, u32),
    Commands(EngineId, u64, Vec<u8>),
    Comment(String),
    MemoryPoll(Space, u64, u8, [u64; 2], bool),
    Compare(Space, u64, Vec<u8>, bool),
    RegisterCompare(u32, u32, u32),
    Named(&'static str, Option<&'static str>),
    Other(&'static str),
}

fn owned(event: Event<'_>) -> Owned {
    match event {
        Event::Header(header) => {
            let gen8 = header.is_gen8();
            Owned::Header(header.kind, header.pci_id, header.application, gen8)
        }
        Event::Memory { space, address, bytes } => Owned::Memory(space, address, bytes.to_vec()),
        Event::GlobalEntries { first, entries } => Owned::Entries(first, entries.to_vec()),
        Event::RegisterWrite { offset, mask, value } => Owned::Write(offset, mask, value),
        Event::RegisterPoll { offset, mask, value, equal: true } => {
            Owned::Poll(offset, mask, value)
        }
        Event::Commands { engine, address, bytes } => {
            Owned::Commands(engine, address, bytes.to_vec())
        }
        Event::Comment(text) => Owned::Comment(text.to_owned()),
        Event::Bitmap(_) => Owned::Other("bitmap"),
        Event::RegisterPoll { .. } => Owned::Other("poll for another value"),
        Event::MemoryPoll { space, address, size, mask, value, equal } => {
            Owned::MemoryPoll(space, address, size, [mask, value], equal)
        }
        Event::MemoryCompare { space, address, bytes, equal } => {
            Owned::Compare(space, address, bytes.to_vec(), equal)
        }
        Event::RegisterCompare { offset, mask, value } => {
            Owned::RegisterCompare(offset, mask, value)
        }
        Event::Named { block, why, .. } => Owned::Named(block, why),
        _ => Owned::Other("unknown"),
    }
}

/// All events of a file, each with the position of its block, and the error that ends it.
fn read(bytes: &[u8]) -> (Vec<(u64, Owned)>, Option<AubError>) {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut events = Vec::new();
    loop {
        match reader.next_block() {
            Ok(Some(block)) => events.push((block.position, owned(block.event))),
            Ok(None) => return (events, None),
            Err(error) => {
                assert!(matches!(reader.next_block(), Ok(None)), "nothing comes after an error");
                return (events, Some(error));
            }
        }
    }
}

fn events(file: &AubFile) -> Vec<Owned> {
    let (events, error) = read(&file.0);
    assert!(error.is_none(), "{error:?}");
    events.into_iter().map(|(_, event)| event).collect()
}

/// A memory trace with a block of each kind.
fn trace() -> AubFile {
    let mut file = AubFile::memory_trace();
    file.map_global(0x5000, 0x1_2345_6000, 2)
        .memory(space::PHYSICAL, 0x12_3456_7890, b"12345")
        .memory(space::GGTT, 0xffff_8000_0000_5000, &[7; 8])
        .memory(space::LOCAL, 0x40, b"")
        .register(0x229c, 0x8000_8000)
        .poll(0x2234, 0x10, 0)
        .dwords(&[0xf705_0006, 0x99, 0, 2 << 28 | 2 << 4, 0xff, 0, 7]);
    file
}

fn classic() -> AubFile {
    let mut file = AubFile::classic("PCI-ID=0x1616");
    file.trace([1, 0, 4], 8, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])
        .trace([1, 1, 0], 0x1_0000_1000, b"batch...")
        .trace([0, 0, 0], 0, b"remark\0\0")
        .trace([3, 0, 0], 0x2080, &[0, 0x90, 1, 0, 5, 0, 0, 0])
        .trace([2, 2, 0], 0x3000, &[1, 2, 3, 4])
        .trace([2, 3, 0], 0x4000, &[5, 6, 7, 8])
        .trace([2, 4, 0], 0x5000, &[9, 10, 11, 12])
        .dwords(&[0xe09e_0004, 0, 0, 0, 0, 0]);
    file
}

#[test]
fn memory_trace() {
    assert_eq!(
        events(&trace()),
        [
            Owned::Header(Kind::MemoryTrace, Some(0x1616), "a test".into(), Some(true)),
            Owned::Entries(5, vec![0x1_2345_6001, 0x1_2345_7001]),
            Owned::Memory(Space::Physical, 0x12_3456_7890, b"12345".to_vec()),
            // Bits above bit 47 of sign-extended global addresses are dropped.
            Owned::Memory(Space::Global, 0x8000_0000_5000, vec![7; 8]),
            Owned::Memory(Space::Local, 0x40, vec![]),
            Owned::Write(0x229c, u32::MAX, 0x8000_8000),
            Owned::Poll(0x2234, 0x10, 0),
            Owned::MemoryPoll(Space::Physical, 0x99, 4, [0xff, 7], true),
        ]
    );
    let mut skylake = AubFile::default();
    skylake.version(12, "no id");
    assert_eq!(
        events(&skylake),
        [Owned::Header(Kind::MemoryTrace, None, "no id".into(), Some(false))]
    );
}

#[test]
fn classic_file() {
    assert_eq!(
        events(&classic()),
        [
            Owned::Header(Kind::Classic, Some(0x1616), "a test".into(), Some(true)),
            Owned::Entries(1, vec![0x2_0000_0001, 0x4_0000_0003]),
            Owned::Memory(Space::Global, 0x1_0000_1000, b"batch...".to_vec()),
            Owned::Comment("remark".into()),
            Owned::Write(0x2080, u32::MAX, 0x1_9000),
            Owned::Write(0x2084, u32::MAX, 5),
            Owned::Commands(EngineId::Render, 0x3000, vec![1, 2, 3, 4]),
            Owned::Commands(EngineId::Video, 0x4000, vec![5, 6, 7, 8]),
            Owned::Commands(EngineId::Blitter, 0x5000, vec![9, 10, 11, 12]),
            Owned::Other("bitmap"),
        ]
    );
    // Before Gen8 the head has one dword less, and entries are dwords.
    let mut old = AubFile::classic("");
    old.dwords(&[0xe0c1_0003, 1 | 4 << 16, 0, 8, 8, 0x1003, 0x2003]);
    assert_eq!(
        events(&old),
        [
            Owned::Header(Kind::Classic, None, "a test".into(), None),
            Owned::Entries(2, vec![0x1003, 0x2003]),
        ]
    );
}

/// A block of megabytes is returned in pieces, which together equal the block. The reader never
/// allocates the size that the block claims.
#[test]
fn large_blocks_come_in_pieces() {
    let bytes: Vec<u8> = (0..3 * CHUNK as u32 / 4 + 5).flat_map(u32::to_le_bytes).collect();
    let mut file = AubFile::classic("");
    file.trace([1, 0, 0], 0x1000, &bytes).trace([1, 0, 4], 0, &bytes[..2 * CHUNK + 8]);
    let (mut memory, mut entries) = (Vec::new(), Vec::new());
    for event in events(&file) {
        match event {
            Owned::Memory(Space::Global, address, piece) => {
                assert_eq!(address, 0x1000 + memory.len() as u64);
                assert!(piece.len() <= CHUNK);
                memory.extend(piece);
            }
            Owned::Entries(first, piece) => {
                assert_eq!(first, entries.len() as u64);
                entries.extend(piece);
            }
            _ => {}
        }
    }
    assert!(memory == bytes);
    let expected: Vec<u64> =
        (0..CHUNK as u64 / 4 + 1).map(|index| (2 * index) | (2 * index + 1) << 32).collect();
    assert!(entries == expected);

    // The block claims four gigabytes, but only eight bytes follow: the reader reports that, and
    // does not allocate memory for them.
    let mut file = AubFile::classic("");
    let start = file.0.len() as u64;
    file.dwords(&[0xe0c1_0004, 1, 0, 0, 0xffff_fffc, 0, 1, 2]);
    let (events, error) = read(&file.0);
    assert_eq!(events.len(), 1);
    match error {
        Some(AubError::Cut { position, block: "AUB_TRACE_BLOCK", needed, available }) => {
            assert_eq!((position, needed, available), (start, 24 + 0xffff_fffc, 32));
        }
        other => panic!("{other:?}"),
    }
    let mut file = AubFile::classic("");
    file.dwords(&[0xe0c1_0004, 2 | 2 << 8, 0, 0, MAX_COMMANDS as u32 + 4, 0]);
    let error = read(&file.0).1.unwrap().to_string();
    assert!(error.contains("Size bytes = 0x200004") && error.contains("2 MiB"), "{error}");
}

/// Oracle: a file cut within a block has the events of the whole blocks before it.
#[test]
fn cut_at_every_byte() {
    for file in [trace(), classic()] {
        let (whole, _) = read(&file.0);
        for cut in 0..file.0.len() {
            let (events, error) = read(&file.0[..cut]);
            assert_eq!(events, whole[..events.len()], "cut at {cut}");
            let position = match &error {
                None => {
                    // Only between two blocks.
                    assert!(
                        whole.iter().any(|(position, _)| *position == cut as u64),
                        "cut at {cut}"
                    );
                    cut as u64
                }
                Some(AubError::Cut { position, needed, available, .. }) => {
                    assert!(
                        available < needed && position + available == cut as u64,
                        "cut at {cut}: {error:?}"
                    );
                    *position
                }
                Some(AubError::NotAub { start }) => {
                    assert!(cut < 4 && *start == file.0[..cut]);
                    0
                }
                Some(other) => panic!("cut at {cut}: {other:?}"),
            };
            // All blocks before the truncated one are returned. Blocks with several registers are
            // returned register by register.
            let complete = whole.iter().filter(|(at, _)| *at < position).count();
            assert!(events.len() >= complete, "cut at {cut}");
            assert!(events.iter().all(|(at, _)| *at <= position));
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    let head = trace().0.len();
    let error = |dwords: &[u32]| {
        let mut file = trace();
        file.dwords(dwords);
        let (events, error) = read(&file.0);
        assert_eq!(events.len(), 8);
        let text = error.expect("an error").to_string();
        assert!(text.contains(&format!("byte {head:#x}")), "{text}");
        text
    };
    let has = |text: String, words: &[&str]| {
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} not in: {text}");
    };
    has(error(&[0x7a00_0004, 0, 0]), &["0x7a000004", "does not start an AUB block"]);
    has(
        error(&[0xf706_0005, 0, 0, 2 << 28, 5, 1]),
        &["MEM_TRACE_MEMORY_WRITE", "Size bytes = 0x5"],
    );
    has(error(&[0xf706_0002, 0, 0]), &["MEM_TRACE_MEMORY_WRITE", "Length = 0x3"]);
    has(error(&[0xf706_0005, 4, 0, 4 << 28, 4, 1]), &["Address = 0x4", "whole"]);
    has(error(&[0xf706_0005, 8, 0, 4 << 28, 4, 1]), &["Size bytes = 0x4", "whole"]);
    has(error(&[0xe0c1_0004, 9, 0, 0, 0, 0]), &["AUB_TRACE_BLOCK", "Operation = 0x9"]);
    has(error(&[0xe0c1_0004, 1 | 9 << 16, 0, 0, 0, 0]), &["Address Space = 0x9"]);
    has(error(&[0xe0c1_0004, 2 | 1 << 8, 0, 0, 0, 0]), &["Type of Data = 0x1"]);
    has(error(&[0xe0c1_0004, 1, 0, 0, 6, 0]), &["Size bytes = 0x6"]);
    has(
        error(&[0xf703_0005, 0, 0]),
        &["ends inside a MEM_TRACE_REGISTER_WRITE block", "24 bytes", "has 12"],
    );

    for start in [&b""[..], b"ab", b"\x7fELF.....", b"PK\x03\x04"] {
        let error = read(start).1.unwrap();
        assert!(matches!(error, AubError::NotAub { .. }), "{error:?}");
        has(error.to_string(), &["not an AUB file"]);
    }
    let error = Reader::open("no/such.aub").unwrap_err();
    has(error.to_string(), &["no/such.aub"]);
}

/// Blocks with an unknown number are passed on, not dropped.
#[test]
fn unknown_blocks_are_passed_on() {
    let mut file = AubFile::memory_trace();
    file.dwords(&[0xf711_0001, 5]).dwords(&[0xe082_0000, 6]);
    let bytes = file.0;
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let mut found = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        if let Event::Other { opcode, sub_opcode, dwords } = block.event {
            found.push((opcode, sub_opcode, dwords.to_vec()));
        }
    }
    assert_eq!(found, [(0x2e, 0x11, vec![0xf711_0001, 5]), (1, 2, vec![0xe082_0000, 6])]);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder =
        lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A reader that returns one byte at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = out.len().min(1);
        self.0.read(&mut out[..count])
    }
}

#[test]
fn compressed_files() {
    let mut file = trace();
    for page in 0..40 {
        file.memory(space::PHYSICAL, page << 12, &[page as u8; 4096]);
    }
    let (plain, _) = read(&file.0);
    let halves = file.0.split_at(file.0.len() / 2);
    for (compression, compress) in [
        (Compression::Gzip, gzip as fn(&[u8]) -> Vec<u8>),
        (Compression::Xz, xz),
        (Compression::Zstd, zstd),
    ] {
        let packed = compress(&file.0);
        assert_eq!(Reader::new(&packed[..]).unwrap().compression(), compression);
        let (events, error) = read(&packed);
        assert!(events == plain && error.is_none(), "{compression:?}: {error:?}");
        // Concatenated compressed files are one file, as in the programs of these formats.
        let (events, error) = read(&[compress(halves.0), compress(halves.1)].concat());
        assert!(events == plain && error.is_none(), "{compression:?}: {error:?}");
        let mut reader = Reader::new(Trickle(&packed)).unwrap();
        let mut count = 0;
        while reader.next_block().unwrap().is_some() {
            count += 1;
        }
        assert_eq!((count, reader.position()), (plain.len(), file.0.len() as u64));
        // A truncated file ends with an error, and the events before the error are right.
        for cut in 0..packed.len() {
            let (events, error) = read(&packed[..cut]);
            assert!(error.is_some(), "{compression:?} cut at {cut}");
            assert!(events == plain[..events.len()], "{compression:?} cut at {cut}");
        }
        let error = read(&packed[..packed.len() - 1]).1.unwrap().to_string();
        assert!(
            error.contains("of AUB data") && error.contains("again"),
            "{compression:?}: {error}"
        );
        truncated_in_the_middle(compression, &packed);
    }
}

/// Reads the first half of a compressed file. The reader's error names the compression and the
/// positions. [`Dump`] gives an error or a note that names the compression and the file's length.
fn truncated_in_the_middle(compression: Compression, packed: &[u8]) {
    let half = &packed[..packed.len() / 2];
    let error = read(half).1.unwrap();
    let AubError::Read { position, source, .. } = &error else { panic!("{error:?}") };
    let inner = source.get_ref().and_then(|inner| inner.downcast_ref::<DecompressError>());
    let Some(&DecompressError::Truncated { compression: found, compressed, contents }) = inner
    else {
        panic!("{error:?}")
    };
    assert_eq!((found, compressed), (compression, half.len() as u64));
    assert!(contents >= *position, "{error}");
    let name = compression.to_string();
    let dump = Dump::read("half.aub", io::Cursor::new(half.to_vec()), &How::default());
    let text = match dump {
        Err(error) => error.to_string(),
        Ok(mut dump) => {
            assert!(!dump.is_cut() || contents < 4096);
            dump.submissions(&mut |_| Ok(())).unwrap();
            assert!(dump.is_cut());
            dump.notes().last().unwrap().to_string()
        }
    };
    let file = format!("the file ends after {} bytes", half.len());
    for word in ["truncated", &name, &file, "copy or record the file again"] {
        assert!(text.contains(word), "{word} not in: {text}");
    }
}

/// A byte changed in the middle is damage, not a truncation.
#[test]
fn damaged_compressed_files_are_named() {
    let mut file = trace();
    for page in 0..40 {
        file.memory(space::PHYSICAL, page << 12, &[page as u8; 4096]);
    }
    let mut packed = xz(&file.0);
    let middle = packed.len() / 2;
    packed[middle] ^= 0x55;
    let error = read(&packed).1.unwrap().to_string();
    assert!(error.contains("the xz data cannot be decompressed at byte "), "{error}");
    assert!(!error.contains("truncated"), "{error}");
}

/// Oracle: Mesa's writer, and the xz program. Two Vulkan programs with two submissions each. A
/// submission writes ELSP four times and polls the status register once.
#[test]
fn files_of_mesa() {
    for name in ["vk_saxpy.aub.xz", "vk_triangle.aub.xz"] {
        let Some(corpus) = corpus::folder() else { return };
        let mut reader = Reader::open(corpus.join("aub").join(name)).unwrap();
        assert_eq!(reader.compression(), Compression::Xz);
        let (mut submissions, mut polls) = (Vec::new(), 0);
        while let Some(block) = reader.next_block().unwrap() {
            match block.event {
                Event::Header(header) => {
                    assert_eq!((header.pci_id, header.is_gen8()), (Some(0x1616), Some(true)));
                }
                Event::RegisterWrite { offset: 0x2230, value, .. } => submissions.push(value),
                Event::RegisterPoll { offset, mask, value, equal } => {
                    assert_eq!((offset, mask, value, equal), (0x2234, 0x10, 0, true));
                    polls += 1;
                }
                Event::Other { .. } | Event::Commands { .. } => panic!("{block:?}"),
                _ => {}
            }
        }
        assert_eq!((submissions, polls), ([0, 0, 0, 0x2339].repeat(2), 2));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A file with changed bytes, compressed or not, is read up to an end or an error. If no byte
    /// was changed after the compression, every block position is inside the uncompressed file.
    #[test]
    fn changed_bytes(
        which in 0..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        packing in 0..4,
        packed_changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut bytes = match which {
            0 => trace().0,
            1 => classic().0,
            _ => blocks::every_kind(),
        };
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let length = bytes.len() as u64;
        let mut bytes = match packing { 0 => bytes, 1 => gzip(&bytes), 2 => xz(&bytes), _ => zstd(&bytes) };
        let intact = packed_changes.is_empty();
        for (at, value) in packed_changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let (events, error) = read(&bytes);
        if intact {
            prop_assert!(events.iter().all(|(position, _)| *position < length));
        }
        if let Some(error) = error {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    /// Random bytes after the first bytes of a valid file, or alone, cause no panic.
    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..300), head in 0..3usize) {
        let head = [&[][..], &[0xff, 0, 0x0e, 0xf7], &[8, 0, 0x85, 0xe0]][head];
        read(&[head, &bytes].concat());
    }
}
