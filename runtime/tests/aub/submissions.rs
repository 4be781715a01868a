//! Submissions of AUB files. Oracles: the files of Mesa's writer and the captures of the same
//! programs in the corpus; files written dword by dword.

use genxml::aub;
use genxml::capture::Capture;
use genxml::decode::{Decoder, Options, Record, State, Summary, Tables};
use genxml::dump::{Dump, How, Note, Submission};
use genxml::engine::EngineId;
use genxml_testkit::aub::{AubFile, space};
use genxml_testkit::corpus;
use proptest::prelude::*;
use std::collections::HashMap;
use std::io::Read;

/// A packet or structure: its name, and its dwords.
type Found = (String, Vec<u32>);

/// The commands of a submission, read dword by dword. A ring is read from its head on, across its
/// end.
fn commands(submission: &Submission<'_>) -> Vec<u32> {
    let global = submission.memory.global().expect("AUB files have global memory");
    let Some(ring) = submission.ring else {
        let mut dwords = Vec::new();
        global.dwords(submission.address, submission.length as usize / 4, &mut dwords);
        return dwords;
    };
    assert_eq!(submission.address, ring.start + ring.head);
    let dword = |index| {
        let mut dword = Vec::new();
        assert_eq!(
            global.dwords(ring.start + (ring.head + 4 * index) % ring.size, 1, &mut dword),
            1
        );
        dword[0]
    };
    (0..submission.length / 4).map(dword).collect()
}

/// Decodes a batch with the public decoder.
fn decode(
    states: &mut HashMap<u32, State>,
    submission: &Submission<'_>,
    address: u64,
    out: &mut Vec<Found>,
) -> Summary {
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let mut sink = |record: &Record| {
        let name = format!("{} {} {}", record.kind.name(), record.name, record.note);
        out.push((name, record.dwords.clone()));
        Ok(())
    };
    let state = states.entry(submission.context).or_default();
    decoder.batch(state, submission.engine, submission.memory, address, 0, &mut sink).unwrap()
}

#[test]
fn corpus() {
    let Some(corpus) = corpus::folder() else { return };
    for name in ["vk_saxpy", "vk_triangle"] {
        let (mut of_capture, mut of_aub) = (Vec::new(), Vec::new());
        let mut states = HashMap::new();
        let capture = Capture::open(corpus.join("drivers").join(name)).unwrap();
        capture
            .submissions(&mut |submission| {
                let mut found = Vec::new();
                decode(&mut states, submission, submission.address, &mut found);
                of_capture.push(found);
                Ok(())
            })
            .unwrap();

        let mut states = HashMap::new();
        let mut dump =
            Dump::open(&corpus.join(format!("aub/{name}.aub.xz")), &How::default()).unwrap();
        dump.submissions(&mut |submission| {
            let commands = commands(submission);
            let [0x1880_0101, low, high, 0] = commands[..] else { panic!("{commands:x?}") };
            let address = (u64::from(high) << 32 | u64::from(low)) & 0xffff_ffff_ffff;
            let mut found = Vec::new();
            let summary = decode(&mut states, submission, address, &mut found);
            assert_eq!(summary.unknown, 0);
            of_aub.push(found);
            Ok(())
        })
        .unwrap();
        assert_eq!(dump.notes(), []);
        // Decode from the ring on, as `genx decode` does.
        let mut text = Vec::new();
        let summary =
            Decoder::new(Tables::gen8(), Options::default()).dump(&mut dump, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!((summary.unknown, summary.limited), (0, false), "{name}");
        for problem in ["no memory here", "not there", "cut short"] {
            assert!(!text.contains(problem), "{name}: {problem}:\n{text}");
        }
        assert_eq!(of_aub.len(), of_capture.len(), "{name}");
        // The first submission sets up the context. In the capture it also loads INSTPM. The driver
        // does that only if the kernel isolates contexts, and the recording tool reported that it
        // does not. All other dwords are the same.
        let (aub, capture) = (&of_aub[0], &of_capture[0]);
        let end = aub.len() - 1;
        assert_eq!(aub[..end], capture[..end], "{name}");
        assert_eq!(aub[end], capture[capture.len() - 1], "{name}");
        let only: Vec<&str> =
            capture[end..capture.len() - 1].iter().map(|found| found.0.trim()).collect();
        assert_eq!(only, ["packet MI_LOAD_REGISTER_IMM", "register INSTPM"], "{name}");
        assert!(of_aub[1].len() > 30);
        assert!(of_aub[1..] == of_capture[1..], "{name}");
    }
}

/// A submission: context, engine, global address, and commands.
type Seen = (u32, EngineId, u64, Vec<u32>);

/// The submissions of a file. For each one, also the dwords of its memory at `addresses`.
fn submitted(file: &[u8], addresses: &[u64]) -> (Vec<Seen>, Vec<Vec<Option<u32>>>, Vec<Note>) {
    let (mut seen, mut memory, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let reader = aub::Reader::new(file).unwrap();
    let result = aub::submissions(reader, "file", &mut notes, &mut |submission| {
        assert!(submission.global);
        assert_eq!(submission.number, seen.len() as u64);
        let Submission { context, engine, address, .. } = *submission;
        seen.push((context, engine, address, commands(submission)));
        let read = |address: &u64| {
            let mut dwords = Vec::new();
            submission.memory.dwords(*address, 1, &mut dwords);
            dwords.first().copied()
        };
        memory.push(addresses.iter().map(read).collect());
        Ok(())
    });
    result.unwrap();
    (seen, memory, notes)
}

/// The page of registers of a context (gen8_facts 1.4).
fn image(start: u32, size: u32, head: u32, tail: u32, roots: [u64; 4]) -> Vec<u32> {
    let mut image = vec![0; 70];
    (image[5], image[7], image[9], image[11]) = (head, tail, start, (size - 4096) | 1);
    for (index, root) in roots.into_iter().enumerate() {
        (image[49 - 4 * index], image[51 - 4 * index]) = ((root >> 32) as u32, root as u32);
    }
    image
}

/// A file with a ring of two pages at 0x1000 of global memory, whose second page is physically
/// before the first one, and with a context at 0x4000.
fn with_ring(roots: [u64; 4], head: u32, tail: u32) -> AubFile {
    let mut file = AubFile::memory_trace();
    file.map_global(0x1000, 0x9000, 1).map_global(0x2000, 0x8000, 1).map_global(0x4000, 0xa000, 2);
    let ring: Vec<u32> = (0..2048).collect();
    file.memory_u32(space::GGTT, 0x1000, &ring);
    file.memory_u32(space::GGTT, 0x5000, &image(0x1000, 0x2000, head, tail, roots));
    file
}

fn submit(file: &mut AubFile, base: u32, elements: [u32; 4]) {
    elements.into_iter().for_each(|value| _ = file.register(base + 0x230, value));
}

const WIDE: u32 = 0x4000 | 0x339;
const NARROW: u32 = 0x4000 | 0x329 & !0x10;

#[test]
fn contexts() {
    // The commands wrap at the end of the ring. In the page tables, one address range is mapped by
    // 4 KiB pages, the next one by a 2 MiB page.
    let mut file = with_ring([0x10_0000, 0, 0, 0], 0x1ff8, 0x10);
    let far = 0x8080_8060_1000; // entries 257, 2, 3, 1
    file.memory_u64(space::PHYSICAL, 0x10_0000 + 8 * 257, &[0x10_1003])
        .memory_u64(space::PHYSICAL, 0x10_1000 + 8 * 2, &[0x10_2003])
        .memory_u64(space::PHYSICAL, 0x10_2000 + 8 * 3, &[0x10_3003, 0x40_0083])
        .memory_u64(space::PHYSICAL, 0x10_3000 + 8, &[0x1_2345_6003, 0x20_0003])
        .memory_u32(space::PHYSICAL, 0x1_2345_6ffc, &[0x1111])
        .memory_u32(space::PHYSICAL, 0x40_0004, &[0x2222]);
    submit(&mut file, 0x2000, [0, 0, 0, WIDE]);
    // A second execlist: its commands start where those of the first execlist ended.
    file.memory_u32(space::GGTT, 0x501c, &[0x18]);
    submit(&mut file, 0x2000, [0, 0, 0, WIDE]);
    // An execlist without new commands, and one of another engine, which also has an element
    // that is not valid.
    submit(&mut file, 0x2000, [0, 0, 0, WIDE]);
    file.memory_u32(space::GGTT, 0x5014, &[0]);
    submit(&mut file, 0x1_c000, [0, WIDE, 0, 0x7000]);
    let addresses = [far + 0xffc, far + 0x1000, far + 0x1f_f004, 0, far ^ 1 << 47, far + 0x40_0000];
    let (seen, memory, notes) = submitted(&file.0, &addresses);
    assert_eq!(
        seen,
        [
            (4, EngineId::Render, 0x2ff8, vec![2046, 2047, 0, 1, 2, 3]),
            (4, EngineId::Render, 0x1010, vec![4, 5]),
            (4, EngineId::Video, 0x1000, vec![0, 1, 2, 3, 4, 5]),
        ]
    );
    // Mapped memory that was never written reads 0.
    assert_eq!(memory[0], [Some(0x1111), Some(0), Some(0x2222), None, None, None]);
    let notes: Vec<String> = notes.iter().map(Note::to_string).collect();
    assert!(matches!(&notes[..], [note] if note.contains("not valid")), "{notes:?}");

    // With 32-bit addresses, each of the four roots is the page directory of 1 GiB.
    let mut file = with_ring([0x10_0000, 0, 0, 0x11_0000], 0, 8);
    file.memory_u64(space::PHYSICAL, 0x11_0000 + 8 * 511, &[0x11_1003])
        .memory_u64(space::PHYSICAL, 0x11_1000 + 8 * 511, &[0x6003])
        .memory_u32(space::PHYSICAL, 0x6000, &[0x3333]);
    submit(&mut file, 0x2_2000, [0, 0, 0, NARROW]);
    let (seen, memory, notes) = submitted(&file.0, &[0xffff_f000, 0x1_ffff_f000, 0x3fff_f000]);
    assert_eq!(seen, [(4, EngineId::Blitter, 0x1000, vec![0, 1])]);
    assert_eq!((&memory[0][..], notes), (&[Some(0x3333), None, None][..], vec![]));
}

/// The page tables of a context are written in the address spaces for them (Intel compute-runtime:
/// 10 PML4, 8 PDP, 9 PD, 6 PT), as its writer does: every table is at its own base.
#[test]
fn spaces_of_page_tables() {
    let mut file = with_ring([0x2000_0000, 0, 0, 0], 0, 8);
    let far = 0x5654_0829_a000; // entries 0xac, 0x150, 0x41, 0x9a
    file.memory_u64(10, 0x2000_0000 + 8 * 0xac, &[0x400a_c007])
        .memory_u64(8, 0x400a_c000 + 8 * 0x150, &[0x9595_0007])
        .memory_u64(9, 0x9595_0000 + 8 * 0x41, &[0x2c_2a04_1007])
        .memory_u64(6, 0x2c_2a04_1000 + 8 * 0x9a, &[0x1_7007])
        .memory_u32(space::PHYSICAL, 0x1_7000, &[0x3f80_0000]);
    submit(&mut file, 0x2000, [0, 0, 0, WIDE]);
    let (seen, memory, notes) = submitted(&file.0, &[far, far + 0x1000]);
    assert_eq!(seen, [(4, EngineId::Render, 0x1000, vec![0, 1])]);
    assert_eq!((&memory[0][..], notes), (&[Some(0x3f80_0000), None][..], vec![]));
}

/// A GPU with local memory: page tables are in local memory; bit 11 of a page's entry (bit 1 in the
/// global table) selects local memory; other pages are in the system's memory.
#[test]
fn local_memory() {
    let mut file = AubFile::default();
    file.version(30, "a test")
        .memory_u64(space::GGTT_ENTRY, 8, &[0x9003])
        .memory_u64(space::GGTT_ENTRY, 8 * 4, &[0xa003, 0xb003])
        .memory_u32(space::LOCAL, 0x9000, &[7, 8])
        .memory_u32(space::LOCAL, 0xb000, &image(0x1000, 0x1000, 0, 8, [0x10_0000, 0, 0, 0]))
        // The same physical addresses in the system's memory are other pages.
        .memory_u32(space::PHYSICAL, 0x9000, &[99; 4])
        .memory_u32(space::PHYSICAL, 0xb000, &[99; 64]);
    file.memory_u64(space::LOCAL, 0x10_0000, &[0x10_1003])
        .memory_u64(space::LOCAL, 0x10_1000, &[0x10_2003])
        .memory_u64(space::LOCAL, 0x10_2000, &[0x10_3003])
        .memory_u64(space::LOCAL, 0x10_3008, &[0x2_0803, 0x2_0003])
        .memory_u32(space::LOCAL, 0x2_0000, &[0x1111])
        .memory_u32(space::PHYSICAL, 0x2_0000, &[0x2222]);
    file.register(0x2510, WIDE).register(0x2514, 0).register(0x2550, 1);
    let (seen, memory, notes) = submitted(&file.0, &[0x1000, 0x2000, 0x3000]);
    assert_eq!(seen, [(4, EngineId::Render, 0x1000, vec![7, 8])]);
    assert_eq!(memory[0], [Some(0x1111), Some(0x2222), None]);
    assert_eq!(notes, []);

    // Intel's compute-runtime writes pages of contexts to the addresses that it also gives to the
    // global table. It writes the entry before each page.
    file.memory_u64(space::LOCAL, 0x10_3018, &[0x9803, 0xb803])
        .memory_u32(space::LOCAL, 0xb000, &[0x3333; 1024])
        .memory_u64(space::LOCAL, 0x10_3018, &[0x9803])
        .memory_u32(space::LOCAL, 0x9000, &[0x4444; 1024])
        .memory_u64(space::LOCAL, 0x10_3020, &[0xb803])
        .memory_u32(space::LOCAL, 0xb000, &[0x5555; 1024])
        // The next commands: ring and tail.
        .memory_u32(space::LOCAL, 0x9008, &[9, 10])
        .memory_u32(space::LOCAL, 0xb000, &image(0x1000, 0x1000, 8, 16, [0x10_0000, 0, 0, 0]));
    file.register(0x2510, WIDE).register(0x2514, 0).register(0x2550, 1);
    let (seen, memory, notes) = submitted(&file.0, &[0x3000, 0x4000]);
    assert_eq!(seen[1], (4, EngineId::Render, 0x1008, vec![9, 10]));
    assert_eq!(memory[1], [Some(0x4444), Some(0x5555)]);
    assert!(notes.iter().any(|note| note.to_string().contains("kept apart")), "{notes:?}");
}

/// What a file without work has is counted, and said.
#[test]
fn files_without_work() {
    let mut file = AubFile::memory_trace();
    file.map_global(0x1000, 0x9000, 2)
        .memory(space::PHYSICAL, 0x9000, &[1; 12])
        .memory(space::PHYSICAL, 0x9000, &[1; 4])
        .register(0x2080, 0x1000);
    let text = |file: AubFile| {
        let mut dump = Dump::read("f.aub", std::io::Cursor::new(file.0), &How::default()).unwrap();
        dump.submissions(&mut |_| Ok(())).unwrap();
        dump.unreadable()
    };
    let text_of_memory = text(file).expect("nothing can be decoded");
    for part in [
        "2 writes of memory (16 bytes)",
        "2 entries of the global page table",
        "1 register write",
        "starts no work",
        "record it until",
    ] {
        assert!(text_of_memory.contains(part), "{part} not in: {text_of_memory}");
    }
    assert_eq!(text(with_work()), None);
    // A ring whose memory the file does not have.
    let mut file = AubFile::memory_trace();
    file.register(0x2038, 0x7000).register(0x2030, 8).register(0x203c, 1);
    let text = text(file).expect("nothing can be decoded");
    assert!(text.contains("1 submission, but no memory") && text.contains("0x7000"), "{text}");
}

fn with_work() -> AubFile {
    let mut file = with_ring([0; 4], 0, 8);
    submit(&mut file, 0x2000, [0, 0, 0, WIDE]);
    file
}

/// Submissions of later generations: eight elements, and a register that submits them.
#[test]
fn submission_queue() {
    let mut file = with_ring([0; 4], 0, 8);
    file.register(0x2510, WIDE).register(0x2514, 7).register(0x2550, 1).register(0x2550, 1);
    assert_eq!(submitted(&file.0, &[]).0, [(4, EngineId::Render, 0x1000, vec![0, 1])]);
}

/// Submissions by writes to the ring registers. Page tables are used if the mode register enables
/// them.
#[test]
fn rings() {
    let mut file = with_ring([0; 4], 0, 0);
    let ring = |file: &mut AubFile, tail| {
        file.register(0x2_2038, 0x1000).register(0x2_203c, 0x1001).register(0x2_2030, tail);
    };
    ring(&mut file, 8);
    file.memory_u64(space::PHYSICAL, 0x20_0000, &[0x20_1003])
        .memory_u64(space::PHYSICAL, 0x20_1000 + 8 * 3, &[0xd003])
        .memory_u32(space::PHYSICAL, 0xd000, &[0x4444])
        .register(0x2_2270, 0x20_0000)
        .register(0x2_229c, 0x0200_0200);
    ring(&mut file, 0x10);
    let (seen, memory, notes) = submitted(&file.0, &[0x1004, 0x3000]);
    let expected = [(0x1000, vec![0, 1]), (0x1008, vec![2, 3])];
    assert_eq!(seen, expected.map(|(address, commands)| (0, EngineId::Blitter, address, commands)));
    assert_eq!(memory, [[Some(1), None], [None, Some(0x4444)]]);
    assert_eq!(notes, []);
}

#[test]
fn classic() {
    let mut file = AubFile::classic("PCI-ID=0x1616");
    // The table has an entry for the first page, but none for the second.
    file.trace([1, 0, 4], 8 * 0x10, &[1, 0x50, 0, 0, 0, 0, 0, 0])
        .trace([1, 0, 0], 0x1_0ffc, b"1234abcd")
        .trace([2, 2, 0], 0x1_2000, &[1, 0, 0, 0, 2, 0, 0, 0])
        .trace([1, 0, 3], 0x40, b"pci ");
    let (seen, memory, notes) = submitted(&file.0, &[0x1_0ffc, 0x1_1000, 0x1_2004, 0x1_3000]);
    assert_eq!(seen, [(0, EngineId::Render, 0x1_2000, vec![1, 2])]);
    let text = |text: &[u8; 4]| Some(u32::from_le_bytes(*text));
    assert_eq!(memory[0], [text(b"1234"), text(b"abcd"), Some(2), None]);
    assert!(matches!(&notes[..], [note] if note.to_string().contains("PCI bus")), "{notes:?}");
}

#[test]
fn what_cannot_be_used_is_noted() {
    let notes = |build: &dyn Fn(&mut AubFile)| {
        let mut file = AubFile::memory_trace();
        build(&mut file);
        let (seen, _, notes) = submitted(&file.0, &[]);
        assert_eq!(seen, []);
        notes.iter().map(Note::to_string).collect::<Vec<_>>().join("; ")
    };
    let has = |text: String, words: &[&str]| {
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} not in: {text}");
    };
    has(notes(&|file| submit(file, 0x2000, [0, 0, 0, WIDE])), &["byte 0x70", "0x5000", "left out"]);
    let local = |file: &mut AubFile| {
        *file = AubFile::classic("");
        file.trace([1, 0, 1], 0, &[1; 4]).trace([1, 0, 1], 8, &[1; 8]);
    };
    has(notes(&local), &["byte 0x34", "12 bytes", "local memory", "2 blocks"]);
    has(notes(&|file| _ = file.memory(5, 0, &[1; 4])), &["byte 0x28", "MEMORY_WRITE", "space 5"]);
    has(notes(&|file| _ = file.memory(space::GGTT, 0x1000, &[1; 4])), &["without an entry"]);
    has(notes(&|file| _ = file.memory(space::PHYSICAL, u64::MAX - 1, &[1; 4])), &["4 bytes"]);
    has(notes(&|file| _ = file.map_global(1 << 32, 0x1000, 1)), &["beyond 4 GiB"]);
    has(notes(&|file| _ = file.dwords(&[0xf733_0000])), &["number 0x33"]);
    has(notes(&|file| _ = file.dwords(&[0xf706_0044, 1])), &["ends inside"]);
}

/// A stream of more than 4 GiB: memory that is written repeatedly is stored once.
#[test]
fn large() {
    const BYTES: usize = 0xfffb * 4;
    let mut block = AubFile::default();
    block.memory(space::PHYSICAL, 0x20_0000, &[0x55; BYTES]);
    let mut start = with_ring([0x10_0000, 0, 0, 0], 0, 8);
    start.memory_u64(space::PHYSICAL, 0x10_0000, &[0x10_1003]);
    start.memory_u64(space::PHYSICAL, 0x10_1000, &[0x10_2003]).memory_u64(
        space::PHYSICAL,
        0x10_2000,
        &[0x20_0083],
    );
    let mut end = AubFile::default();
    submit(&mut end, 0x2000, [0, 0, 0, WIDE]);

    /// The blocks, repeated this many times.
    struct Again<'a>(&'a [u8], usize, u32);
    impl Read for Again<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            if self.2 == 0 {
                return Ok(0);
            }
            let here = (self.0.len() - self.1).min(out.len());
            out[..here].copy_from_slice(&self.0[self.1..][..here]);
            self.1 = (self.1 + here) % self.0.len();
            self.2 -= u32::from(self.1 == 0);
            Ok(here)
        }
    }
    let times = (1u64 << 32).div_ceil(block.0.len() as u64) as u32;
    let input = start.0[..].chain(Again(&block.0, 0, times)).chain(&end.0[..]);
    let mut seen = 0;
    let mut notes = Vec::new();
    aub::submissions(aub::Reader::new(input).unwrap(), "large", &mut notes, &mut |submission| {
        seen += 1;
        assert!(
            submission.name.ends_with(&format!(
                "{:#x}",
                (times as usize * block.0.len() + start.0.len()) + 72
            ))
        );
        assert_eq!(
            submission.memory.tail(0x1000).iter().filter(|byte| **byte == 0x55).count(),
            BYTES - 0x1000
        );
        Ok(())
    })
    .unwrap();
    assert_eq!((seen, notes), (1, vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damaged files are read in limited time without a panic, and their memory can be read.
    #[test]
    fn damaged(changes in prop::collection::vec((0usize..4096, any::<u8>()), 1..12), cut in 0usize..6000) {
        let mut file = with_ring([0x10_0000, 0, 0, 0], 0x1ff8, 0x10);
        file.memory_u64(space::PHYSICAL, 0x10_0000, &[0x10_0003, 0x10_0003]);
        submit(&mut file, 0x2000, [0, 0, 0, WIDE]);
        let mut bytes = file.0;
        // Mostly change bytes that are not data.
        let length = bytes.len();
        for (at, value) in changes {
            let at = if at < 400 { at } else { length - 1 - at % 500 };
            bytes[at] = value;
        }
        let keep = if cut < 3000 { length } else { length - (cut - 3000) };
        let mut notes = Vec::new();
        let reader = aub::Reader::new(&bytes[..keep]).unwrap();
        aub::submissions(reader, "file", &mut notes, &mut |submission| {
            let mut all = vec![0; 1 << 14];
            submission.memory.bytes(0, &mut all);
            Ok(())
        }).unwrap();
    }
}
