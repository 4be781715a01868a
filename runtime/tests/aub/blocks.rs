//! Blocks of every kind and address space, packed with the types of the specification. Oracle:
//! Intel's compute-runtime, aub_services.h and aub_header.h (names, numbers, lengths).

use super::{Owned, read};
use genxml::aub::Space;
use genxml::core::{Address, U, U64};
use genxml::gen8::aub::{
    AubCaptureBinaryDump, AubDumpBitmapFull, AubPpgttContextCreate, MemTraceComment, MemTraceDelay,
    MemTraceDumpCompress, MemTraceFrameBegin, MemTraceMemoryCompare,
    MemTraceMemoryCompareAddressSpace, MemTraceMemoryCompareCompareOperation,
    MemTraceMemoryContinuousRegion, MemTraceMemoryDump, MemTraceMemoryPoll,
    MemTraceMemoryPollAddressSpace, MemTraceMemoryPollSizeOfData, MemTraceMemoryWrite,
    MemTraceMemoryWriteAddressSpace, MemTraceMemoryWriteDiscontiguous,
    MemTraceMemoryWriteDiscontiguousAddressSpace, MemTraceMemoryWriteTiling, MemTracePredicate,
    MemTraceRegisterCompare, MemTraceRegisterCompareRegisterSize, MemTraceRegisterPoll,
    MemTraceRegisterPollOperationType, MemTraceRegisterPollRegisterSize, MemTraceRegisterWrite,
    MemTraceRegisterWriteRegisterSize, MemTraceRegisterWriteRegisterSpace, MemTraceTestPhaseMarker,
    MemTraceVersion, MemTraceVersionDevice, MemTraceVersionOld,
};
use genxml_testkit::aub::AubFile;

/// The length field of a block: the dwords of its header and `more` dwords of data, less `bias`.
fn length(dwords: usize, more: usize, bias: usize) -> U<16> {
    U::new((dwords + more - bias) as u64).unwrap()
}

/// A block: its packed head, and data. The length is set.
macro_rules! block {
    ($type:ident { $($field:ident: $value:expr),* $(,)? }, $bias:expr, $data:expr) => {{
        let data: &[u32] = $data;
        let length = length($type::DWORDS, data.len(), $bias);
        let head = $type { length, $($field: $value,)* ..$type::new() };
        [&head.pack()[..], data].concat()
    }};
}

/// A file with these blocks after its head.
fn file(blocks: &[Vec<u32>]) -> Vec<u8> {
    let mut file = AubFile::default();
    let head = block!(
        MemTraceVersion { file_version: U::new(0).unwrap(), device: MemTraceVersionDevice::BDW },
        1,
        &[u32::from_le_bytes(*b"NEO\0")]
    );
    file.dwords(&head);
    blocks.iter().for_each(|block| _ = file.dwords(block));
    file.0
}

/// The events of these blocks, without that of the head.
fn events(blocks: &[Vec<u32>]) -> Vec<Owned> {
    let (events, error) = read(&file(blocks));
    assert!(error.is_none(), "{error:?}");
    let mut events: Vec<Owned> = events.into_iter().map(|(_, event)| event).collect();
    let head = events.remove(0);
    assert!(matches!(&head, Owned::Header(_, None, name, Some(true)) if name == "NEO"), "{head:?}");
    events
}

fn write(space: u64, data: &[u32]) -> Vec<u32> {
    block!(
        MemTraceMemoryWrite {
            address: U64::from_bits(0x12_3456_7000),
            address_space: MemTraceMemoryWriteAddressSpace::new(space).unwrap(),
            size_bytes: U::new(4 * data.len() as u64).unwrap(),
        },
        1,
        data
    )
}

/// Tables of contexts (6, 8, 9, 10) are plain physical memory. Spaces whose addresses no source
/// explains, and numbers without a name, are named and do not end the file.
#[test]
fn address_spaces() {
    let data = [0x400a_c007, 0];
    let bytes = [7, 0xc0, 0x0a, 0x40, 0, 0, 0, 0];
    for space in 0..16 {
        let found = events(&[write(space, &data), write(2, &data)]);
        let memory = |space| Owned::Memory(space, 0x12_3456_7000, bytes.to_vec());
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], memory(Space::Physical));
        match space {
            0 => assert_eq!(found[0], memory(Space::Global)),
            1 => assert_eq!(found[0], memory(Space::Local)),
            2 | 6 | 8 | 9 | 10 => assert_eq!(found[0], memory(Space::Physical)),
            4 => assert_eq!(found[0], Owned::Entries(0x12_3456_7000 / 8, vec![0x400a_c007])),
            _ => {
                let Owned::Named("MEM_TRACE_MEMORY_WRITE", Some(why)) = found[0] else {
                    panic!("{space}: {found:?}")
                };
                let number = if space < 12 { space.to_string() } else { "12 to 15".into() };
                assert!(why.contains("address space") && why.contains(&number), "{why}");
            }
        }
    }
}

fn pairs(list: &[(u64, u64)]) -> Vec<u32> {
    let mut block = MemTraceMemoryWriteDiscontiguous {
        number_of_writes: U::new(list.len() as u64).unwrap(),
        address_space: MemTraceMemoryWriteDiscontiguousAddressSpace::PHYSICAL,
        ..MemTraceMemoryWriteDiscontiguous::new()
    };
    for (pair, (address, size)) in block.write.iter_mut().zip(list) {
        pair.address = U64::from_bits(*address);
        pair.size_bytes = U::new(*size).unwrap();
    }
    let dwords = list.iter().map(|(_, size)| size.div_ceil(4)).sum::<u64>() as usize;
    block.length = length(MemTraceMemoryWriteDiscontiguous::DWORDS, dwords, 1);
    let data: Vec<u32> = (1..=dwords as u32).collect();
    [&block.pack()[..], &data].concat()
}

/// The data of all writes of a block follow its header without gaps (aub_stream,
/// writeDiscontiguousPages).
#[test]
fn several_writes_in_a_block() {
    let found = events(&[pairs(&[(0x5000, 8), (0x9000, 4), (0x1000, 0), (0x2_0000, 4)])]);
    let expected = [
        Owned::Memory(Space::Physical, 0x5000, vec![1, 0, 0, 0, 2, 0, 0, 0]),
        Owned::Memory(Space::Physical, 0x9000, vec![3, 0, 0, 0]),
        Owned::Memory(Space::Physical, 0x2_0000, vec![4, 0, 0, 0]),
    ];
    assert_eq!(found, expected);
    assert_eq!(events(&[pairs(&[(0, 4); 63])]).len(), 63);
    assert_eq!(events(&[pairs(&[])]), []);

    // Sizes beyond the end of the block: the writes before it are returned.
    let mut block = pairs(&[(0x5000, 4), (0x9000, 4)]);
    block.pop();
    block[0] -= 1;
    let (events, error) = read(&file(&[block]));
    assert_eq!(events.len(), 2);
    let text = error.expect("an error").to_string();
    assert!(text.contains("DISCONTIGUOUS: Size bytes = 0x4"), "{text}");
}

fn compare(equal: bool) -> Vec<u32> {
    block!(
        MemTraceMemoryCompare {
            address: U64::from_bits(0x9000),
            address_space: MemTraceMemoryCompareAddressSpace::PHYSICAL,
            compare_operation: match equal {
                true => MemTraceMemoryCompareCompareOperation::EQUAL,
                false => MemTraceMemoryCompareCompareOperation::NOT_EQUAL,
            },
            size_bytes: U::new(3).unwrap(),
        },
        1,
        &[0x0403_0201]
    )
}

fn memory_poll(size: MemTraceMemoryPollSizeOfData, equal: bool, data: &[u32]) -> Vec<u32> {
    block!(
        MemTraceMemoryPoll {
            address: U64::from_bits(0x9000),
            address_space: MemTraceMemoryPollAddressSpace::GGTT,
            size_of_data: size,
            poll_not_equal: !equal,
            mask: U64::from_bits(0xff_0000_00ff),
        },
        1,
        data
    )
}

#[test]
fn polls_and_comparisons() {
    let value = U::new(0x10).unwrap();
    let register_compare = block!(
        MemTraceRegisterCompare {
            register_offset: Address::new(0x2358).unwrap(),
            register_size: MemTraceRegisterCompareRegisterSize::DWORD,
            value: value,
        },
        1,
        &[]
    );
    let poll = |operation| {
        block!(
            MemTraceRegisterPoll {
                register_offset: Address::new(0x2234).unwrap(),
                register_size: MemTraceRegisterPollRegisterSize::DWORD,
                operation_type: operation,
                value: value,
            },
            1,
            &[]
        )
    };
    let mut not_equal = poll(MemTraceRegisterPollOperationType::NORMAL);
    not_equal[2] |= 4;
    let mut unread = compare(true);
    unread[3] |= 1;
    let mut deferred = compare(false);
    deferred[3] |= 1 << 8;
    let dword = MemTraceMemoryPollSizeOfData::DWORD;
    let found = events(&[
        compare(true),
        compare(false),
        unread,
        deferred,
        register_compare,
        poll(MemTraceRegisterPollOperationType::NORMAL),
        poll(MemTraceRegisterPollOperationType::INTERLACED_CRC),
        not_equal,
        memory_poll(dword, true, &[5]),
        memory_poll(MemTraceMemoryPollSizeOfData::QWORD, false, &[5, 6]),
    ]);
    let poll = |size, value, equal| {
        Owned::MemoryPoll(Space::Global, 0x9000, size, [0xff_0000_00ff, value], equal)
    };
    assert_eq!(found.len(), 10);
    assert_eq!(found[0], Owned::Compare(Space::Physical, 0x9000, vec![1, 2, 3], true));
    assert_eq!(found[1], Owned::Compare(Space::Physical, 0x9000, vec![1, 2, 3], false));
    assert_eq!(found[2], Owned::Named("MEM_TRACE_MEMORY_COMPARE", None));
    assert!(matches!(found[3], Owned::Named("MEM_TRACE_MEMORY_COMPARE", Some(_))));
    assert_eq!(found[4], Owned::RegisterCompare(0x2358, u32::MAX, 0x10));
    assert_eq!(found[5], Owned::Poll(0x2234, u32::MAX, 0x10));
    assert!(matches!(found[6], Owned::Named("MEM_TRACE_REGISTER_POLL", Some(_))));
    assert_eq!(found[7], Owned::Other("poll for another value"));
    assert_eq!(found[8], poll(4, 5, true));
    assert_eq!(found[9], poll(8, 0x6_0000_0005, false));
}

fn comment(text: &[u8; 8]) -> Vec<u32> {
    let dwords: Vec<u32> = text.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    block!(MemTraceComment {}, 1, &dwords)
}

/// Blocks that change neither memory nor registers, each with its name.
fn harmless() -> Vec<(&'static str, Vec<u32>)> {
    vec![
        ("MEM_TRACE_FRAME_BEGIN", block!(MemTraceFrameBegin {}, 1, &[])),
        ("MEM_TRACE_DELAY", block!(MemTraceDelay {}, 1, &[])),
        ("MEM_TRACE_MEMORY_DUMP", block!(MemTraceMemoryDump {}, 1, &[0x61])),
        ("MEM_TRACE_TEST_PHASE_MARKER", block!(MemTraceTestPhaseMarker {}, 1, &[])),
        ("MEM_TRACE_MEMORY_CONTINUOUS_REGION", block!(MemTraceMemoryContinuousRegion {}, 1, &[])),
        ("MEM_TRACE_DUMP_COMPRESS", block!(MemTraceDumpCompress {}, 1, &[0; 22])),
        ("AUB_PPGTT_CONTEXT_CREATE", block!(AubPpgttContextCreate {}, 2, &[])),
        ("AUB_CAPTURE_BINARY_DUMP", block!(AubCaptureBinaryDump {}, 2, &[0; 11])),
        ("AUB_DUMP_BITMAP_FULL", block!(AubDumpBitmapFull {}, 2, &[0; 8])),
    ]
}

/// Blocks whose effect no source describes, each with its name.
fn unclear() -> Vec<(&'static str, Vec<u32>)> {
    let tiled = block!(
        MemTraceMemoryWrite {
            address_space: MemTraceMemoryWriteAddressSpace::PHYSICAL,
            tiling: MemTraceMemoryWriteTiling::Y,
        },
        1,
        &[]
    );
    let repeated = block!(MemTraceMemoryWrite { repeat_memory: true }, 1, &[]);
    let register = |space, size| {
        block!(MemTraceRegisterWrite { register_space: space, register_size: size }, 1, &[])
    };
    vec![
        ("MEM_TRACE_VERSION_OLD", block!(MemTraceVersionOld {}, 1, &[1, 2])),
        ("MEM_TRACE_PREDICATE", block!(MemTracePredicate { enabled: true }, 1, &[])),
        ("MEM_TRACE_MEMORY_WRITE", tiled),
        ("MEM_TRACE_MEMORY_WRITE", repeated),
        (
            "MEM_TRACE_REGISTER_WRITE",
            register(
                MemTraceRegisterWriteRegisterSpace::PCI_CONFIG,
                MemTraceRegisterWriteRegisterSize::DWORD,
            ),
        ),
        (
            "MEM_TRACE_REGISTER_WRITE",
            register(
                MemTraceRegisterWriteRegisterSpace::MMIO,
                MemTraceRegisterWriteRegisterSize::QWORD,
            ),
        ),
    ]
}

#[test]
fn other_blocks_are_skipped_by_their_length() {
    for (name, block) in harmless() {
        let found = events(&[block, comment(b"after\0\0\0")]);
        assert_eq!(found, [Owned::Named(name, None), Owned::Comment("after".into())]);
    }
    for (name, block) in unclear() {
        let found = events(&[block, comment(b"after\0\0\0")]);
        assert!(
            matches!(found[0], Owned::Named(found, Some(_)) if found == name),
            "{name}: {found:?}"
        );
        assert_eq!(found[1], Owned::Comment("after".into()));
    }
}

/// A file with a block of every kind, for mutations.
pub(super) fn every_kind() -> Vec<u8> {
    let mut blocks: Vec<Vec<u32>> = (0..12).map(|space| write(space, &[1, 2, 3, 4])).collect();
    blocks.push(pairs(&[(0x5000, 8), (0x9000, 6)]));
    blocks.extend([compare(true), compare(false), comment(b"ggtt: 6\0")]);
    blocks.push(memory_poll(MemTraceMemoryPollSizeOfData::QWORD, true, &[5, 6]));
    blocks.extend(harmless().into_iter().chain(unclear()).map(|(_, block)| block));
    file(&blocks)
}
