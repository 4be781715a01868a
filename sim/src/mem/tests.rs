use super::*;
use crate::mem::ppgtt::AddressSpace;
use proptest::prelude::*;
use std::collections::HashMap;

/// A walk as the manual's picture shows it, on a copy of physical memory, sharing nothing with the model's own.
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

/// Addresses near the borders of every level, so that tables are shared and split.
fn addresses() -> impl Strategy<Value = u64> {
    let border = prop_oneof![Just(0u64), Just(1 << 21), Just(1 << 30), Just(1 << 39), Just(1 << 47), Just(0)];
    (border, -6i64..6).prop_map(|(border, page)| border.wrapping_add((page * 4096) as u64) & ADDRESS_MASK)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Oracles: a map of pages for what is mapped, an independent walk for where.
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
            // Frames in reverse order: neighbours in the space are not neighbours in memory.
            let frames = mem.alloc(1).unwrap();
            space.map(&mut mem, base + (2 - page) * PAGE, frames, true).unwrap();
        }
        let mut vm = Vm { mem: &mut mem, space: &mut space };
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
        // Bits above 47 are not looked at: the canonical form means the same.
        vm.read(base | 0xffff << 48, &mut all).unwrap();
        prop_assert_eq!(all, bytes);
    }
}

#[test]
fn faults_name_address_and_level() {
    let (mut mem, mut space) = setup();
    let frames = mem.alloc(1).unwrap();
    space.map(&mut mem, 0x20_0000, frames, false).unwrap();
    let mut vm = Vm { mem: &mut mem, space: &mut space };
    assert_eq!(vm.read_u32(0x20_0ffc), Ok(0));
    let cause = |fault: Result<u32, PageFault>| fault.unwrap_err().cause;
    assert_eq!(cause(vm.read_u32(0x20_1000)), Cause::NotPresent(1));
    assert_eq!(cause(vm.read_u32(0x40_0000)), Cause::NotPresent(2));
    assert_eq!(cause(vm.read_u32(0x4000_0000)), Cause::NotPresent(3));
    assert_eq!(cause(vm.read_u32(0x80_0000_0000)), Cause::NotPresent(4));
    let fault = vm.write_u8(0x20_0008, 1).unwrap_err();
    assert_eq!(fault, PageFault { address: 0x20_0008, write: true, cause: Cause::ReadOnly(1) });
    assert_eq!(
        fault.to_string(),
        "page fault: write to 0x0000_0020_0008, the page is read-only (level 1 entry)"
    );
    assert_eq!(vm.probe(0x20_0ff0, 17, false).unwrap_err().address, 0x20_1000);
}

/// A table that software wrote: the entry leads out of memory, then to a page of 2 MiB.
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
