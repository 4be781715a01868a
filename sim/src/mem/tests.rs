use super::*;
use crate::mem::overlay::Overlay;
use crate::mem::space::AddressSpace;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A page walk written from the picture in the manual. It shares no code with the model's walk.
fn walk(mem: &Memory, root: u64, address: u64) -> Option<u64> {
    let read = |table: u64, index: u64| mem.read_u64(table + 8 * index);
    let pml4e = read(root, address >> 39 & 0x1ff)?;
    let pdpe = (pml4e & 1 != 0).then(|| read(pml4e & !0xfff, address >> 30 & 0x1ff))??;
    let pde = (pdpe & 1 != 0).then(|| read(pdpe & !0xfff, address >> 21 & 0x1ff))??;
    let pte = (pde & 1 != 0).then(|| read(pde & !0xfff, address >> 12 & 0x1ff))??;
    (pte & 1 != 0).then_some((pte & !0xfff) + (address & 0xfff))
}

fn setup() -> (Memory, AddressSpace) {
    let mut mem = Memory::with_limit(64 << 20);
    let space = AddressSpace::new(&mut mem).unwrap();
    (mem, space)
}

/// Addresses near the borders between tables of every level, so that some ranges lie in two tables.
fn addresses() -> impl Strategy<Value = u64> {
    let border = prop_oneof![
        Just(0u64),
        Just(1 << 21),
        Just(1 << 30),
        Just(1 << 39),
        Just(1 << 47),
        Just(0)
    ];
    (border, -6i64..6)
        .prop_map(|(border, page)| border.wrapping_add((page * 4096) as u64) & ADDRESS_MASK)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Oracles: a map of the mapped pages, and an independent page walk for their addresses.
    #[test]
    fn map_and_unmap(steps in prop::collection::vec((addresses(), 0u64..5, any::<bool>()), 1..40)) {
        let (mut mem, mut space) = setup();
        let mut expected: HashMap<u64, u64> = HashMap::new();
        for (address, pages, map) in steps {
            let page = |index: u64| address.wrapping_add(index * PAGE) & ADDRESS_MASK;
            if map {
                let frames = mem.alloc(pages).unwrap();
                space.map(&mut mem, address, frames, true).unwrap();
                expected.extend((0..pages).map(|i| (page(i), frames.address() + i * PAGE)));
            } else {
                space.unmap(&mut mem, address, pages);
                expected.retain(|&at, _| !(0..pages).any(|i| page(i) == at));
            }
            for at in (0..12).map(|i| address.wrapping_add(i * PAGE).wrapping_sub(3 * PAGE) & ADDRESS_MASK) {
                let want = expected.get(&at).map(|physical| physical + 0x123);
                prop_assert_eq!(space.translate(&mem, at + 0x123, true).ok(), want);
                prop_assert_eq!(walk(&mem, space.root(), at + 0x123), want);
                prop_assert_eq!(space.read(&mem, at).is_ok(), want.is_some());
            }
        }
    }

    /// Oracle: an array of bytes.
    #[test]
    fn scalars_and_ranges(accesses in prop::collection::vec((0u64..3 * PAGE + 40, any::<u64>(), 0usize..5), 1..60)) {
        let (mut mem, mut space) = setup();
        let base = (1 << 47) - PAGE;
        for page in 0..3 {
            // Frames in reverse order: bytes that cross a page are not consecutive in memory.
            let frames = mem.alloc(1).unwrap();
            space.map(&mut mem, base + (2 - page) * PAGE, frames, true).unwrap();
        }
        let mut vm = Vm::new(&mut mem, &mut space);
        let mut bytes = vec![0u8; 3 * PAGE as usize];
        for (offset, value, kind) in accesses {
            let size = [1, 2, 4, 8, 100][kind];
            let data = value.to_le_bytes().repeat(13);
            let at = base + offset;
            let written = match kind {
                0 => vm.write_u8(at, value as u8),
                1 => vm.write_u16(at, value as u16),
                2 => vm.write_u32(at, value as u32),
                3 => vm.write_u64(at, value),
                _ => vm.write(at, &data[..size]),
            };
            let room = bytes.len().saturating_sub(offset as usize);
            prop_assert_eq!(written.is_ok(), size <= room);
            if let Err(fault) = written {
                prop_assert_eq!(fault.address, (base + 3 * PAGE).max(at));
                prop_assert!(fault.write);
            }
            let fits = size.min(room);
            if fits > 0 {
                bytes[offset as usize..offset as usize + fits].copy_from_slice(&data[..fits]);
            }
            if fits == size {
                let read = match kind {
                    0 => u64::from(vm.read_u8(at).unwrap()) == value & 0xff,
                    1 => u64::from(vm.read_u16(at).unwrap()) == value & 0xffff,
                    2 => u64::from(vm.read_u32(at).unwrap()) == value & 0xffff_ffff,
                    3 => vm.read_u64(at).unwrap() == value,
                    _ => true,
                };
                prop_assert!(read);
            }
        }
        let mut all = vec![0; bytes.len()];
        // Bits above 47 are ignored: the canonical form of the address is the same address.
        vm.read(base | 0xffff << 48, &mut all).unwrap();
        prop_assert_eq!(all, bytes);
    }
}

#[test]
fn faults_name_address_and_level() {
    let (mut mem, mut space) = setup();
    let frames = mem.alloc(1).unwrap();
    space.map(&mut mem, 0x20_0000, frames, false).unwrap();
    let mut vm = Vm::new(&mut mem, &mut space);
    assert_eq!(vm.read_u32(0x20_0ffc), Ok(0));
    let cause = |fault: Result<u32, PageFault>| fault.unwrap_err().cause;
    assert_eq!(cause(vm.read_u32(0x20_1000)), Cause::NotPresent(1));
    assert_eq!(cause(vm.read_u32(0x40_0000)), Cause::NotPresent(2));
    assert_eq!(cause(vm.read_u32(0x4000_0000)), Cause::NotPresent(3));
    assert_eq!(cause(vm.read_u32(0x80_0000_0000)), Cause::NotPresent(4));
    let fault = vm.write_u8(0x20_0008, 1).unwrap_err();
    let tables = Tables::FourLevels;
    assert_eq!(
        fault,
        PageFault { address: 0x20_0008, write: true, tables, cause: Cause::ReadOnly(1) }
    );
    assert_eq!(
        fault.to_string(),
        "page fault: write to 0x0000_0020_0008, the page is read-only (level 1 entry)"
    );
    assert_eq!(vm.probe(0x20_0ff0, 17, false).unwrap_err().address, 0x20_1000);
}

/// A directory that software wrote: one entry maps 2 MiB, another points outside physical memory.
#[test]
fn foreign_tables() {
    let (mut mem, mut space) = setup();
    let block = mem.alloc(1024).unwrap();
    space.map(&mut mem, 0, Frames { first: block.first, count: 1 }, true).unwrap();
    let level3 = mem.read_u64(space.root()).unwrap() & !0xfff;
    let level2 = mem.read_u64(level3).unwrap() & !0xfff;
    let aligned = block.address().next_multiple_of(2 << 20);
    mem.write_u64(level2 + 8, aligned | 0x83);
    mem.write_u64(level2 + 16, 0x7f_ffff_f003);
    space.forget();
    assert_eq!(space.translate(&mem, 0x20_1234, true), Ok(aligned + 0x1234));
    assert_eq!(space.translate(&mem, 0x40_0000, false).unwrap_err().cause, Cause::BadFrame(2));
}

/// Two pages of 2 MiB: one outside of the installed memory, and one with a frame that cannot be
/// allocated because the memory limit is reached. The faults name the entry of level 2, with and
/// without an overlay.
#[test]
fn faults_of_large_pages_name_their_level() {
    let mut mem = Memory::with_limit(3 * PAGE);
    mem.install(2 << 20);
    // A directory at 0x1000 (bit 7: a page of 2 MiB).
    mem.write_physical(0x1000, &0x83u64.to_le_bytes()).unwrap();
    mem.write_physical(0x1008, &0x20_0083u64.to_le_bytes()).unwrap();
    let mut space = AddressSpace::with_roots3([0x1000, 0, 0, 0]);
    let expected = |address, write| PageFault {
        address,
        write,
        tables: Tables::ThreeLevels,
        cause: Cause::BadFrame(2),
    };
    for address in [0x20_0000, 0x3f_fffc] {
        let mut overlay = Overlay::default();
        let mut vm = Vm::over(&mem, &mut overlay, &mut space);
        assert_eq!(vm.read_u32(address), Err(expected(address, false)));
        assert_eq!(vm.write_u32(address, 1), Err(expected(address, true)));
        let mut vm = Vm::new(&mut mem, &mut space);
        assert_eq!(vm.read_u32(address), Err(expected(address, false)));
        assert_eq!(vm.write_u32(address, 1), Err(expected(address, true)));
    }
    mem.alloc(2).unwrap();
    let mut vm = Vm::new(&mut mem, &mut space);
    assert_eq!(vm.write_u32(0x1f_f004, 1), Err(expected(0x1f_f004, true)));
}

#[test]
fn memory_is_limited_and_reused() {
    let mut mem = Memory::with_limit(10 * PAGE);
    let a = mem.alloc(6).unwrap();
    assert_eq!(mem.alloc(5), Err(OutOfMemory { asked: 5, used: 6, limit: 10 }));
    mem.bytes_mut(a).fill(7);
    mem.free(a);
    let b = mem.alloc(10).unwrap();
    assert!(mem.bytes(b).iter().all(|&byte| byte == 0));
    assert!(mem.alloc(u64::MAX).is_err());
}

/// The host allocates pages of a buffer only when they are touched: after one byte of a 6 GiB
/// buffer was written, the resident memory of the process, as Linux reports it, grew by less than 3
/// GiB.
#[cfg(target_os = "linux")]
#[test]
fn untouched_memory_costs_nothing() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    };
    let before = resident();
    let mut mem = Memory::new();
    let frames = mem.alloc((6 << 30) / PAGE).unwrap();
    mem.bytes_mut(frames)[1 << 29] = 1;
    assert!(resident() < before + (3 << 30) / PAGE, "{before} {}", resident());
    assert_eq!(mem.bytes(frames)[1 << 29], 1);
}

/// Oracle: a map of bytes. Frames at any 48-bit address, including page 0, are allocated when they
/// are written.
#[test]
fn physical_memory_is_sparse() {
    let mut mem = Memory::with_limit(64 * PAGE);
    let own = mem.alloc(1).unwrap();
    assert_eq!(own.first, physical::FIRST_OWN_FRAME);
    let mut expected: HashMap<u64, u8> = HashMap::new();
    for (n, base) in [0, 0x1000, 0x7ff0, 1 << 21, (1 << 30) - 3, 1 << 38, (1 << 48) - 9000]
        .into_iter()
        .enumerate()
    {
        let bytes: Vec<u8> = (0..5000).map(|i| (i as u8).wrapping_mul(n as u8 + 1)).collect();
        mem.write_physical(base, &bytes).unwrap();
        expected.extend((base..).zip(bytes));
    }
    for (&at, &byte) in &expected {
        let mut read = [0xee];
        mem.read_physical(at, &mut read).unwrap();
        assert_eq!(read, [byte], "{at:#x}");
    }
    assert_eq!(mem.read_physical(0x20_0000 + 2 * PAGE - 1, &mut [0; 2]), None);
    assert_eq!(mem.read_u64(0x10_0000), None);
    let past = 1 << 48;
    assert_eq!(mem.write_physical(past - 1, &[1, 2]), Err(PhysicalError::Address(past - 1)));
    assert_eq!(mem.write_physical(u64::MAX, &[1, 2]), Err(PhysicalError::Address(u64::MAX)));
    let full = mem.write_physical(0x4000_0000, &[1; 64 * PAGE as usize]);
    assert!(matches!(
        full,
        Err(PhysicalError::OutOfMemory(OutOfMemory { asked: 1, used: 64, limit: 64 }))
    ));
    assert!(mem.bytes(own).iter().all(|&byte| byte == 0));
}

#[test]
fn installed_memory_reads_zeros_until_written() {
    let mut mem = Memory::with_limit(8 * PAGE);
    mem.install(1 << 30);
    let mut space = AddressSpace::global();
    space.write_global_entry(0, 0x5001).unwrap();
    space.write_global_entry(1, 0x5001).unwrap();
    space.write_global_entry(2, 0x4000_0001).unwrap();
    let mut vm = Vm::new(&mut mem, &mut space);
    assert_eq!(vm.read_u32(0x10), Ok(0));
    vm.probe(0, 2 * PAGE, true).unwrap();
    vm.write_u32(0x1010, 7).unwrap();
    assert_eq!(vm.read_u32(0x10), Ok(7));
    assert_eq!(vm.read_u32(0x2000).unwrap_err().cause, Cause::BadFrame(1));
    assert_eq!(vm.probe(0x2000, 1, true).unwrap_err().cause, Cause::BadFrame(1));
    assert_eq!(mem.read_u64(0x5010), Some(7));
    assert_eq!(mem.read_u64(0x6000), Some(0));
    // The limit holds for frames that are allocated on a write.
    mem.alloc(7).unwrap();
    assert_eq!(mem.write_u64(0x6000, 1), None);
}

/// Memory of the host, of which two parts are mapped as buffers. The host sees the writes.
#[test]
fn adopted_memory() {
    let (mut mem, mut space) = setup();
    let host: Arc<[Page]> = (1..=3).map(|n| Page::from([n; PAGE as usize])).collect();
    let all = mem.adopt(Box::new(Arc::clone(&host))).unwrap();
    assert_eq!(all.count, 3);
    assert_eq!((all.part(3, 0).map(|part| part.count), all.part(2, 2)), (Some(0), None));
    space.map(&mut mem, 0x1000, all.part(2, 1).unwrap(), true).unwrap();
    space.map(&mut mem, 0x8000, all.part(0, 2).unwrap(), false).unwrap();
    let mut vm = Vm::new(&mut mem, &mut space);
    assert_eq!(
        (vm.read_u8(0x1fff), vm.read_u8(0x8fff), vm.read_u16(0x8fff)),
        (Ok(3), Ok(1), Ok(0x201))
    );
    vm.write_u32(0x1ffc, 0x0808_0808).unwrap();
    assert_eq!(host[2].load(PAGE as usize - 5), Some([3, 8, 8, 8, 8]));
    mem.free(all.part(0, 2).unwrap());
    assert_eq!(Arc::strong_count(&host), 2, "freeing a part must be ignored");
    mem.free(all);
    assert_eq!(Arc::strong_count(&host), 1);
    // Page tables and remembered translations that still lead to the freed frames do no harm.
    let mut vm = Vm::new(&mut mem, &mut space);
    assert_eq!(vm.read_u8(0x1fff), Ok(0));
    vm.write_u8(0x1fff, 1).unwrap();
    vm.space.forget();
    assert_eq!(vm.read_u8(0x9000).unwrap_err().cause, Cause::BadFrame(1));
}

/// Oracle: gen8_facts 1.1, tables written by hand: PDPn holds the page directory of GiB n.
#[test]
fn three_levels() {
    let mut mem = Memory::with_limit(1 << 20);
    for n in 0..4u64 {
        // The page directory of PDP n lies at 0x1000 * n. Its entry 511 leads to the page table at
        // 0x8000 + 0x1000 * n, whose entry 1 leads to the page at 0x10000 + 0x1000 * n.
        mem.write_physical(0x1000 * n + 511 * 8, &(0x8003 + 0x1000 * n).to_le_bytes()).unwrap();
        mem.write_physical(0x8008 + 0x1000 * n, &(0x1_0003 + 0x1000 * n).to_le_bytes()).unwrap();
        mem.write_physical(0x1_0000 + 0x1000 * n, &[n as u8 + 1; 4096]).unwrap();
    }
    let mut space = AddressSpace::with_roots3([0, 0x1000, 0x2000, 0x3000]);
    for n in 0..4u64 {
        let address = n << 30 | 511 << 21 | 0x1234;
        assert_eq!(space.translate(&mem, address, true), Ok(0x1_0234 + 0x1000 * n));
        let vm = Vm::new(&mut mem, &mut space);
        assert_eq!(vm.read_u8(address), Ok(n as u8 + 1));
        assert_eq!(vm.read_u8(n << 30).unwrap_err().cause, Cause::NotPresent(2));
        assert_eq!(vm.read_u8(address & !0xfff & !0x1000).unwrap_err().cause, Cause::NotPresent(1));
    }
    let fault = space.translate(&mem, 1 << 32, false).unwrap_err();
    assert_eq!((fault.cause, fault.tables), (Cause::Outside, Tables::ThreeLevels));
    let bad = AddressSpace::with_roots3([0, 0, 0, 0x40_0000]);
    let fault = bad.translate(&mem, 0xffff_0000, false).unwrap_err();
    assert_eq!(fault.cause, Cause::BadFrame(3));
    assert!(fault.to_string().ends_with("PDP3 points outside physical memory"), "{fault}");

    let mut own = AddressSpace::new3(&mut mem).unwrap();
    let frames = mem.alloc(2).unwrap();
    own.map(&mut mem, 0x7fff_f000, frames, true).unwrap();
    assert_eq!(own.translate(&mem, 0x7fff_f010, true), Ok(frames.address() + 0x10));
    assert_eq!(own.translate(&mem, 0x8000_0010, true), Ok(frames.address() + 0x1010));
    own.unmap(&mut mem, 0x8000_0000, 1);
    assert_eq!(own.translate(&mem, 0x8000_0010, true).unwrap_err().cause, Cause::NotPresent(1));
}

#[test]
fn global_table() {
    let mut mem = Memory::with_limit(1 << 20);
    let mut space = AddressSpace::global();
    let frames = mem.alloc(1).unwrap();
    assert_eq!(space.translate(&mem, 0, false).unwrap_err().cause, Cause::NotPresent(1));
    space.write_global_entry(space::GLOBAL_ENTRIES - 1, frames.address() | 1).unwrap();
    let last = (space::GLOBAL_ENTRIES - 1) * PAGE;
    let mut vm = Vm::new(&mut mem, &mut space);
    vm.write_u32(last + 8, 0x1234_5678).unwrap();
    let fault = vm.write_u32(last + PAGE - 2, 1).unwrap_err();
    assert_eq!((fault.address, fault.cause), (1 << 32, Cause::Outside));
    assert_eq!(mem.bytes(frames)[8..12], 0x1234_5678u32.to_le_bytes());
    assert_eq!(space.global_entry(space::GLOBAL_ENTRIES - 1), frames.address() | 1);
    // A written entry takes effect at once, because the write goes through the GPU.
    space.write_global_entry(space::GLOBAL_ENTRIES - 1, 0).unwrap();
    assert_eq!(Vm::new(&mut mem, &mut space).read_u8(last).unwrap_err().tables, Tables::Global);
    assert!(space.write_global_entry(space::GLOBAL_ENTRIES, 1).is_err());
    let mut other = AddressSpace::new(&mut mem).unwrap();
    assert!(other.write_global_entry(0, 1).is_err());
    space.map(&mut mem, 0x5000, frames, true).unwrap();
    assert_eq!(space.translate(&mem, 0x5008, true), Ok(frames.address() + 8));
    space.unmap(&mut mem, 0x5000, 1);
    assert!(space.translate(&mem, 0x5008, true).is_err());
}

/// Mapping a small page into a page of 2 MiB does not change the rest of the large page. Unmapping
/// 4 KiB of a large page unmaps the whole large page. Oracle: addresses counted by hand.
#[test]
fn large_pages_are_taken_apart() {
    let (mut mem, mut space) = setup();
    let block = mem.alloc(1024).unwrap();
    let other = mem.alloc(1).unwrap();
    space.map(&mut mem, 0, other, true).unwrap();
    let level3 = mem.read_u64(space.root()).unwrap() & !0xfff;
    let level2 = mem.read_u64(level3).unwrap() & !0xfff;
    let aligned = block.address().next_multiple_of(2 << 20);
    // Present, not writable, large.
    mem.write_u64(level2 + 8, aligned | 0x81);
    space.forget();
    let mapping = space.mapping(&mem, 0x20_1234).unwrap();
    assert_eq!((mapping.page, mapping.read_only), (2 << 20, Some(2)));
    space.map(&mut mem, 0x20_5000, other, true).unwrap();
    assert_eq!(space.translate(&mem, 0x20_5123, true), Ok(other.address() + 0x123));
    assert_eq!(space.translate(&mem, 0x20_4fff, false), Ok(aligned + 0x4fff));
    assert_eq!(space.translate(&mem, 0x3f_ffff, false), Ok(aligned + 0x1f_ffff));
    let fault = space.translate(&mem, 0x20_6000, true).unwrap_err();
    assert_eq!(fault.cause, Cause::ReadOnly(1));
    mem.write_u64(level2 + 16, aligned | 0x83);
    let vm = Vm::new(&mut mem, &mut space);
    assert_eq!((vm.read_u8(0x40_0000), vm.read_u8(0x5f_f000)), (Ok(0), Ok(0)));
    space.unmap(&mut mem, 0x40_0000, 1);
    let vm = Vm::new(&mut mem, &mut space);
    assert!(vm.read_u8(0x5f_f000).is_err(), "the rest of the large page is still mapped");
}

/// A write to the page tables does not change a remembered translation before it is forgotten.
#[test]
fn translations_are_remembered() {
    let (mut mem, mut space) = setup();
    let frames = mem.alloc(3).unwrap();
    mem.bytes_mut(frames)[2 * PAGE as usize] = 9;
    space.map(&mut mem, 0x1000, frames, true).unwrap();
    let mut table = space.root();
    for _ in 0..3 {
        table = mem.read_u64(table).unwrap() & !0xfff;
    }
    let redirect = |mem: &mut Memory, entry: u64| {
        mem.write_u64(table + 8 * entry, frames.address() + 2 * PAGE + 3)
    };
    assert_eq!(Vm::new(&mut mem, &mut space).read_u8(0x1000), Ok(0));
    redirect(&mut mem, 1);
    redirect(&mut mem, 2);
    let vm = Vm::new(&mut mem, &mut space);
    assert_eq!((vm.read_u8(0x1000), vm.read_u8(0x2000)), (Ok(0), Ok(9)));
    space.forget_range(0x2000, 0x1000);
    assert_eq!(Vm::new(&mut mem, &mut space).read_u8(0x1000), Ok(0));
    space.forget_range(0x1fff, 1);
    assert_eq!(Vm::new(&mut mem, &mut space).read_u8(0x1000), Ok(9));
}

#[test]
fn neighbours_are_found() {
    let (mut mem, mut space) = setup();
    for (address, pages) in [(0x1_0000, 2), (0x7f_f000, 1), (1 << 47, 1)] {
        let frames = mem.alloc(pages).unwrap();
        space.map(&mut mem, address, frames, true).unwrap();
    }
    let near = |address| {
        let near = space.nearby(&mem, address);
        (near.below, near.above)
    };
    assert_eq!(near(0x1_2004), (Some(0x1_2000), Some(0x7f_f000)));
    assert_eq!(near(0x80_0000), (Some(0x80_0000), None));
    assert_eq!(near((1 << 47) - 1), (None, Some(1 << 47)));
    assert_eq!(near(0xfff), (None, Some(0x1_0000)));
    assert_eq!(near(u64::MAX), (None, None));
    assert_eq!(near((1 << 47) + PAGE + 5), (Some((1 << 47) + PAGE), None));
    assert_eq!(
        space.nearby(&mem, 0x1_2004).to_string(),
        "0x4 bytes after the end of memory at 0x0000_0001_2000, 0x7ecffc bytes before memory at 0x0000_007f_f000"
    );
    let mut global = AddressSpace::global();
    assert_eq!(global.nearby(&mem, 0x5000), Nearby { address: 0x5000, below: None, above: None });
    global.write_global_entry(3, 1).unwrap();
    assert_eq!(global.nearby(&mem, 0x5000).below, Some(0x4000));
    global.write_global_entry(space::GLOBAL_ENTRIES - 1, 1).unwrap();
    assert_eq!(global.nearby(&mem, 1 << 32).below, Some(1 << 32));
}

/// Contents with a different byte at each position, which records the positions that are read.
#[derive(Default)]
struct Pattern(Mutex<Vec<u64>>);

impl Pattern {
    fn byte(position: u64) -> u8 {
        (position.wrapping_mul(0x9e37_79b9) >> 13) as u8
    }
}

impl Contents for Pattern {
    fn read(&self, position: u64, out: &mut [u8]) {
        self.0.lock().unwrap().push(position);
        out.iter_mut().zip(position..).for_each(|(byte, at)| *byte = Self::byte(at));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Oracle: an array to which every write is applied at once. Bytes that are loaded later, in
    /// any order with accesses through page tables, at physical addresses, as slices and by copies
    /// of the memory, give the same.
    #[test]
    fn contents_that_are_loaded_later(steps in prop::collection::vec((0usize..6, 0usize..40 * 4096, 1usize..150_000), 1..30)) {
        const ADDRESS: u64 = 0x40_0000;
        const SIZE: usize = 40 * PAGE as usize;
        let (mut mem, mut space) = setup();
        let frames = mem.alloc(40).unwrap();
        mem.load_from(frames, Arc::new(Pattern::default()));
        space.map(&mut mem, ADDRESS, frames, true).unwrap();
        let mut expected = vec![0; SIZE];
        for (number, (kind, at, length)) in steps.into_iter().enumerate() {
            let run = at..(at + length).min(SIZE);
            let mut out = vec![0; run.len()];
            match kind {
                0 | 1 => {
                    let position = 1000 * number as u64;
                    prop_assert!(mem.write_later(frames, at as u64, run.len() as u64, position));
                    expected[run].iter_mut().zip(position..).for_each(|(byte, at)| *byte = Pattern::byte(at));
                }
                2 => {
                    Vm::new(&mut mem, &mut space).read(ADDRESS + at as u64, &mut out).unwrap();
                    prop_assert_eq!(&out, &expected[run]);
                }
                3 => {
                    out.truncate(100);
                    out.fill(number as u8);
                    Vm::new(&mut mem, &mut space).write(ADDRESS + at as u64, &out).unwrap();
                    expected[at..at + out.len()].fill(number as u8);
                }
                4 => {
                    mem.write_physical(frames.address() + at as u64, &[number as u8]).unwrap();
                    expected[at] = number as u8;
                    mem.read_physical(frames.address() + at as u64, &mut out).unwrap();
                    prop_assert_eq!(&out, &expected[run]);
                }
                _ => mem = mem.duplicate().unwrap(),
            }
        }
        prop_assert!(mem.bytes(frames) == expected);
        prop_assert!(mem.bytes_mut(frames) == expected);
    }
}

/// Only what is accessed is read. Frames that are freed and allocated again are ordinary ones.
#[test]
fn contents_are_read_on_the_first_access() {
    let (mut mem, mut space) = setup();
    let source = Arc::new(Pattern::default());
    let frames = mem.alloc(64).unwrap();
    mem.load_from(frames, Arc::clone(&source) as Arc<dyn Contents>);
    assert!(mem.write_later(frames, 0, frames.bytes(), 0));
    space.map(&mut mem, 0, frames, true).unwrap();
    let read = || source.0.lock().unwrap().clone();
    assert!(read().is_empty());
    let vm = Vm::new(&mut mem, &mut space);
    assert_eq!(vm.read_u8(0x2_0123).unwrap(), Pattern::byte(0x2_0123));
    assert_eq!(vm.read_u8(0x2_f123).unwrap(), Pattern::byte(0x2_f123));
    assert_eq!(read(), [0x2_0000]);
    space.unmap(&mut mem, 0, 64);
    mem.free(frames);
    let again = mem.alloc(64).unwrap();
    assert!(!mem.write_later(again, 0, 8, 0), "nothing is to be loaded");
    assert!(mem.bytes(again).iter().all(|byte| *byte == 0));
    assert_eq!(read(), [0x2_0000]);
}
