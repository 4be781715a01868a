//! Files of Intel's OpenCL runtime (compute-runtime 22.43, its own writer), one for each of four
//! GPUs: an addition of vectors. Oracles: the runtime's source (`flushBatchBuffer` puts
//! MI_LOAD_REGISTER_IMM of 0x2244 and MI_BATCH_BUFFER_START into the ring), and the program.

use genxml::decode::{Decoder, Kind, Options, Record, Tables};
use genxml::dump::{Dump, How};
use genxml::engine::EngineId;
use genxml_testkit::corpus;
use std::path::PathBuf;

/// A file of the corpus; `None`, with a line on standard error, if it is not there.
fn file(gpu: &str) -> Option<PathBuf> {
    let path = corpus::folder()?.join(format!("dumps/neo_aub/{gpu}_vadd.aub.xz"));
    if !path.is_file() {
        eprintln!("skipped: no file {}", path.display());
        return None;
    }
    Some(path)
}

/// Names and headers of all packets.
fn packets(dump: &mut Dump) -> Vec<(String, u32)> {
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let mut all = Vec::new();
    let mut sink = |record: &Record| {
        if record.kind.is_packet() {
            all.push((record.name.to_owned(), record.dwords.first().copied().unwrap_or(0)));
        }
        Ok(())
    };
    decoder.submissions(dump, &mut sink).unwrap();
    all
}

/// Number of GPGPU_WALKER packets.
fn dispatches(packets: &[(String, u32)]) -> usize {
    packets.iter().filter(|(_, header)| header >> 16 == 0x7105).count()
}

/// One dispatch. Every packet has a name in the tables of this GPU.
#[test]
fn broadwell() {
    let Some(path) = file("bdw") else { return };
    let mut dump = Dump::open(&path, &How::default()).unwrap();
    let mut seen = Vec::new();
    dump.submissions(&mut |submission| {
        let mut commands = Vec::new();
        let global = submission.memory.global().expect("global memory");
        global.dwords(submission.address, submission.length as usize / 4, &mut commands);
        seen.push((submission.engine, commands));
        Ok(())
    })
    .unwrap();
    let [(EngineId::Render, ring)] = &seen[..] else { panic!("{seen:x?}") };
    assert_eq!(ring[..4], [0x1100_0001, 0x2244, 0x1_0000, 0x1880_0101]);
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let summary = decoder.submissions(&mut dump, &mut |_: &Record| Ok(())).unwrap();
    assert_eq!((summary.packets, summary.unknown), (17, 0));
    let packets = packets(&mut dump);
    assert_eq!(dispatches(&packets), 1);
    assert_eq!(dump.notes(), []);
    assert_eq!(dump.unreadable(), None);
}

/// The ring, its batch and the second-level batch are found. On DG1, page tables, ring and context
/// image are in local memory, and so are the buffers; a second submission copies the result with
/// three dispatches.
#[test]
fn later_generations() {
    for (gpu, generation, submissions, expected) in
        [("skl", 90, 1, 1), ("icllp", 110, 1, 1), ("dg1", 120, 2, 4)]
    {
        let Some(path) = file(gpu) else { return };
        let mut dump = Dump::open(&path, &How::default()).unwrap();
        let mut count = 0;
        dump.submissions(&mut |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(count, submissions, "{gpu}");
        let packets = packets(&mut dump);
        assert_eq!(dispatches(&packets), expected, "{gpu}: {packets:x?}");
        // MI_BATCH_BUFFER_END of the last batch of each submission is reached.
        let ends = packets.iter().filter(|(_, header)| *header == 0x0500_0000);
        assert_eq!(ends.count(), submissions, "{gpu}");
        assert!(!dump.is_cut(), "{gpu}: {:?}", dump.notes());
        let platform = dump.platform().map(|platform| platform.generation);
        assert_eq!(platform, Some(generation), "{gpu}");
    }
}

/// The kernels of Ice Lake and DG1 are read up to their end of thread, and each of their
/// instructions has a text. Gen11 and Gen12 have the packets of Gen8 that lead to a kernel. Oracle:
/// the program adds two floats with a factor in each of two halves of 16 channels.
#[test]
fn kernels_of_later_generations() {
    for (gpu, generation) in [("icllp", 110), ("dg1", 120)] {
        let Some(path) = file(gpu) else { return };
        let mut dump = Dump::open(&path, &How::default()).unwrap();
        let tables = Tables::new(genxml::gen8::CONTAINERS, genxml::gen8::ENGINES, 80);
        let tables = tables.with_kernels_of(generation);
        let decoder = Decoder::new(&tables, Options::default());
        let mut kernels = Vec::new();
        let collect = &mut |record: &Record| {
            if record.kind == Kind::Kernel {
                kernels.push(record.lines.clone());
            }
            Ok(())
        };
        decoder.submissions(&mut dump, collect).unwrap();
        let count = |lines: &[(u32, String)], word: &str| {
            lines.iter().filter(|(_, text)| text.contains(word)).count()
        };
        assert!(!kernels.is_empty(), "{gpu}");
        for lines in &kernels {
            assert_eq!(count(lines, "reserved"), 0, "{gpu}: {lines:?}");
            assert_eq!(count(lines, "does not exist"), 0, "{gpu}: {lines:?}");
            assert_eq!(count(lines, "{EOT"), 1, "{gpu}: {lines:?}");
        }
        let adds = kernels.iter().filter(|lines| count(lines, "mad (16|M") == 2);
        assert_eq!(adds.count(), 1, "{gpu}: {kernels:?}");
    }
}
