//! Tests of memory: addresses through page tables of every kind, page faults, and the memory that
//! commands and kernels access.
//!
//! Oracle: gen8_facts 1.1 (indices of the levels, bits of entries, canonical addresses), counted by
//! hand.

use genxml::eu;
use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt};
use genxml::gen8::mi::{MiCopyMemMem, MiStoreDataImm, PipeControl};
use genxml_cases::{BATCH, Compute, Model, at, packets, raw_buffer, u};
use genxml_core::{S, U};
use genxml_sim::mem::{AddressSpace, Cause, Frames, PAGE, Page, PageFault, Tables};
use genxml_sim::{Fault, Stats};
use std::sync::Arc;

const DATA: u64 = 0x40_0000;

fn store(address: u64, value: u32) -> Vec<u32> {
    let data: [U<32>; 1] = [u(value.into())];
    packets![MiStoreDataImm { data_dword: (&data).into(), ..MiStoreDataImm::new(at(address)) }]
}

fn copy(to: u64, from: u64) -> Vec<u32> {
    packets![MiCopyMemMem {
        destination_memory_address: at(to),
        source_memory_address: at(from),
        ..MiCopyMemMem::new()
    }]
}

fn page_fault(result: Result<Stats, Fault>) -> (PageFault, String) {
    match result {
        Err(Fault::Page { fault, ref what, at, .. }) => {
            let text = format!("{} {what}", at.packet);
            (fault, text)
        }
        other => panic!("{other:?}"),
    }
}

fn fault(address: u64, write: bool, cause: Cause) -> PageFault {
    PageFault { address, write, tables: Tables::FourLevels, cause }
}

/// Physical address of the entry of `level` (1 to 4) for an address.
fn entry(model: &Model, address: u64, level: u8) -> u64 {
    let mut table = model.gpu.context(model.context).space.root();
    for step in (level..=4).rev() {
        let place = table + 8 * (address >> (12 + 9 * (step - 1)) & 511);
        if step == level {
            return place;
        }
        table = model.gpu.memory.read_u64(place).unwrap() & !0xfff;
    }
    unreachable!()
}

/// Each unit reports the first byte that it cannot access, the level of the missing entry, and the
/// kind of access.
#[test]
fn faults_of_every_unit() {
    let mut model = Model::new();
    model.map(DATA, PAGE);
    let hole = DATA + PAGE;
    let missing = |address, write| fault(address, write, Cause::NotPresent(1));

    let (found, text) = page_fault(model.render(&store(hole + 8, 1)));
    assert_eq!((found, &*text), (missing(hole + 8, true), "MI_STORE_DATA_IMM Address"));
    let (found, _) = page_fault(model.render(&copy(DATA, hole + 4)));
    assert_eq!(found, missing(hole + 4, false));

    let fill = XyColorBlt {
        _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
        destination_pitch: S::new(1024).unwrap(),
        raster_operation: BlitRasterOperation::PATTERN_COPY,
        color_depth: BlitColorDepth::_32BPP,
        destination_x2_coordinate_right: S::new(256).unwrap(),
        destination_y2_coordinate_bottom: S::new(5).unwrap(),
        destination_base_address: at(DATA),
        solid_pattern_color: u(0x1234_5678),
        ..XyColorBlt::new()
    };
    let (found, text) = page_fault(model.blit(&packets![fill]));
    assert_eq!((found, &*text), (missing(hole, true), "XY_COLOR_BLT destination"));
    assert_eq!(model.get(DATA, 1024), [0x1234_5678; 1024], "the first page is written");

    // A batch whose page is missing in a table, and a batch for which no table exists.
    let (found, _) =
        page_fault(model.gpu.submit(model.context, genxml::engine::EngineId::Render, hole, 0));
    assert_eq!(found, missing(hole, false));
    let far = 0x7fff_0000_0000;
    let (found, _) =
        page_fault(model.gpu.submit(model.context, genxml::engine::EngineId::Blitter, far, 0));
    assert_eq!(found, fault(far, false, Cause::NotPresent(4)));
}

const THREAD: &[u32] = &eu! {
    (W) mov (8|M0)   r126.0<1>:ud  0:ud
    (W) mov (1|M0)   r126.2<1>:ud  r1.0<0;1,0>:ud
    (W) send (8|M0)  r20  r126  0xA  0x02180200      // two owords of binding table entry 0
    (W) mov (1|M0)   r126.2<1>:ud  r1.1<0;1,0>:ud
    (W) add (8|M0)   r127.0<1>:ud  r20.0<8;8,1>:ud  1:ud
    (W) send (8|M0)  null  r126  0xA  0x040a0200
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// A thread reads one slot of 32 bytes and writes another one. The slots are given in owords.
fn thread(read: u32, write: u32) -> Compute<'static> {
    let constants: Vec<u8> =
        [read, write, 0, 0, 0, 0, 0, 0].iter().flat_map(|dword| dword.to_le_bytes()).collect();
    Compute {
        surfaces: vec![raw_buffer(DATA, 1 << 30)],
        curbe: constants,
        shared: 1,
        ..Compute::new(THREAD)
    }
}

#[test]
fn faults_of_threads() {
    let mut model = Model::new();
    model.map(DATA, PAGE);
    model.map(DATA + 2 * PAGE, PAGE);
    let owords = |address: u64| ((address - DATA) / 16) as u32;
    thread(0, owords(DATA + 2 * PAGE)).run(&mut model).unwrap();
    assert_eq!(model.get(DATA + 2 * PAGE, 8), [1; 8]);
    for (read, write, wrong) in [(DATA + PAGE, DATA, false), (DATA, DATA + PAGE + 32, true)] {
        let result = thread(owords(read), owords(write)).run(&mut model);
        let Err(Fault::Page { fault: found, at, near, .. }) = result else { panic!("{result:?}") };
        let address = if wrong { write } else { read };
        assert_eq!(found, fault(address, wrong, Cause::NotPresent(1)));
        assert_eq!((at.packet, at.thread.is_some()), ("GPGPU_WALKER", true));
        let near = near.unwrap();
        assert_eq!((near.below, near.above), (Some(DATA + PAGE), Some(DATA + 2 * PAGE)));
    }
}

/// A cleared Read/Write bit forbids writes at every level, but not reads. If the page was written
/// before, a TLB invalidation is needed, as PIPE_CONTROL does it.
#[test]
fn read_only_pages() {
    for level in 1..=4 {
        let mut model = Model::new();
        let address = 0x2a55_5000_0000 + 5 * PAGE;
        model.map(address, PAGE);
        model.render(&store(address, 7)).unwrap();
        let place = entry(&model, address, level);
        let bits = model.gpu.memory.read_u64(place).unwrap();
        model.gpu.memory.write_u64(place, bits & !2).unwrap();
        // The old entry is cached: the page can still be written.
        model.render(&store(address, 8)).unwrap();
        let invalidate = packets![PipeControl { tlb_invalidate: true, ..PipeControl::new() }];
        let batch = [invalidate, store(address, 9)].concat();
        let (found, _) = page_fault(model.render(&batch));
        assert_eq!(found, fault(address, true, Cause::ReadOnly(level)));
        model.map(DATA, PAGE);
        model.render(&copy(DATA, address)).unwrap();
        assert_eq!(model.get(DATA, 1), [8]);
    }
}

/// Entries that point outside physical memory.
#[test]
fn frames_that_are_not_there() {
    for level in 1..=4 {
        let mut model = Model::new();
        model.map(DATA, PAGE);
        let address = 0x2a55_5000_0000;
        model.map(address, PAGE);
        let place = entry(&model, address, level);
        model.gpu.memory.write_u64(place, 0x7_7777_7000 | 3).unwrap();
        let (found, _) = page_fault(model.render(&copy(DATA, address + 12)));
        assert_eq!(found, fault(address + 12, false, Cause::BadFrame(level)));
        assert!(found.to_string().contains("outside physical memory"), "{found}");
    }
}

/// A page of 2 MiB (bit 7 of a directory entry): all of it is accessible, whatever is mapped next
/// to it.
#[test]
fn large_pages() {
    let mut model = Model::new();
    let address = 0x4000_0000u64;
    model.map(address, PAGE);
    let block = model.gpu.alloc(4 << 20).unwrap();
    let physical = block.address().next_multiple_of(2 << 20);
    let place = entry(&model, address, 2);
    model.gpu.memory.write_u64(place, physical | 0x83).unwrap();
    model.gpu.context_mut(model.context).space.forget();
    let last = address + (2 << 20) - 4;
    let batch =
        [store(address, 1), store(address + 0x12_3450, 2), store(last, 3), copy(address + 4, last)];
    model.render(&batch.concat()).unwrap();
    for (offset, value) in [(0, 1), (4, 3), (0x12_3450, 2), ((2 << 20) - 4, 3)] {
        let mut bytes = [0; 4];
        model.gpu.memory.read_physical(physical + offset, &mut bytes).unwrap();
        assert_eq!(u32::from_le_bytes(bytes), value, "{offset:#x}");
    }
    let (found, _) = page_fault(model.render(&store(last + 4, 4)));
    assert_eq!(found, fault(last + 4, true, Cause::NotPresent(2)));
}

/// Bits 63:48 of an address repeat bit 47, and hardware ignores them.
#[test]
fn canonical_addresses() {
    let mut model = Model::new();
    let upper = 0x8000_0000_0000u64;
    model.map(upper, PAGE);
    model.map(0, PAGE);
    model.gpu.vm(model.context).write_u32(upper | 0xffff << 48, 5).unwrap();
    assert_eq!(model.get(upper, 1), [5]);
    model.render(&copy(8, upper)).unwrap();
    assert_eq!(model.get(8, 1), [5]);
    let (found, _) = page_fault(model.render(&store(upper - 4, 5)));
    assert_eq!(found, fault(upper - 4, true, Cause::NotPresent(4)));
}

/// Accesses across pages whose frames are not adjacent, by commands and by threads.
#[test]
fn accesses_across_pages() {
    let mut model = Model::new();
    let frames = model.gpu.alloc(3 * PAGE).unwrap();
    for page in 0..3u64 {
        let frame = Frames { first: frames.first + (2 - page), count: 1 };
        model.gpu.map(model.context, DATA + page * PAGE, frame).unwrap();
    }
    let pattern: Vec<u8> = (0..3 * PAGE).map(|n| (n * 7 % 251) as u8).collect();
    model.write(DATA, &pattern);
    assert_eq!(model.read(DATA + PAGE - 3, 7), pattern[PAGE as usize - 3..][..7]);
    let mut first = [0; 16];
    model.gpu.memory.read_physical(frames.address(), &mut first).unwrap();
    assert_eq!(first, pattern[2 * PAGE as usize..][..16]);
    for distance in 1..8u64 {
        let vm = model.gpu.vm(model.context);
        let at = DATA + PAGE - distance;
        let bytes: [u8; 8] = pattern[(PAGE - distance) as usize..][..8].try_into().unwrap();
        assert_eq!(vm.read_u64(at), Ok(u64::from_le_bytes(bytes)));
    }
    // Each oword of a message is aligned, not the whole block.
    thread((PAGE / 16 - 1) as u32, (2 * PAGE / 16 - 1) as u32).run(&mut model).unwrap();
    let dwords = |bytes: &[u8]| -> Vec<u32> {
        bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    };
    let from = dwords(&pattern[PAGE as usize - 16..][..32]);
    let to = dwords(&model.read(DATA + 2 * PAGE - 16, 32));
    assert!(
        to.iter().zip(&from).all(|(to, from)| *to == from.wrapping_add(1)),
        "{to:x?} {from:x?}"
    );
}

/// A context with 32-bit addresses: four page directories. Batch, data and faults use them.
#[test]
fn three_levels() {
    let mut model = Model::new();
    let space = AddressSpace::new3(&mut model.gpu.memory).unwrap();
    model.gpu.context_mut(model.context).space = space;
    model.map(BATCH, 64 << 10);
    for gib in 0..4u64 {
        model.map(gib << 30 | 0x3fff_f000, PAGE);
        model.render(&store(gib << 30 | 0x3fff_fff0, gib as u32 + 1)).unwrap();
    }
    for gib in 0..4u64 {
        assert_eq!(model.get(gib << 30 | 0x3fff_fff0, 1), [gib as u32 + 1]);
    }
    let (found, _) = page_fault(model.render(&store(0x1_0000_0000, 1)));
    assert_eq!((found.tables, found.cause), (Tables::ThreeLevels, Cause::Outside));
    let (found, _) = page_fault(model.render(&store(0x8000_0000, 1)));
    assert_eq!((found.tables, found.cause), (Tables::ThreeLevels, Cause::NotPresent(2)));
}

/// Host memory as GPU memory: a driver that has it mapped sees the GPU's writes.
#[test]
fn memory_of_the_host() {
    let mut model = Model::new();
    let host: Arc<[Page]> = (0..8).map(|n| Page::from([n; PAGE as usize])).collect();
    let all = model.gpu.memory.adopt(Box::new(Arc::clone(&host))).unwrap();
    model.gpu.map(model.context, DATA, all.part(5, 2).unwrap()).unwrap();
    model.gpu.map(model.context, DATA + 2 * PAGE, all.part(0, 1).unwrap()).unwrap();
    model
        .render(&[store(DATA + PAGE + 4, 0xaabb_ccdd), copy(DATA + 2 * PAGE, DATA)].concat())
        .unwrap();
    assert_eq!(host[6].load(0), Some([6, 6, 6, 6, 0xdd, 0xcc, 0xbb, 0xaa, 6]));
    assert_eq!(host[0].load(0), Some([5, 5, 5, 5, 0]));
    let (found, _) = page_fault(model.render(&store(DATA + 3 * PAGE, 1)));
    assert_eq!(found.cause, Cause::NotPresent(1));
}
