//! Binding tables inside the streamer, and their copies in the pool.

use crate::streamer::packets::{PS, STAGES, VS, edit, edit_on, pointers, table_pool};
use crate::streamer::{TABLES, TABLES_BYTES, model, refused, run};
use genxml::gen8::render3d_binding::{BindingTableEditTarget, ThreeDStateBindingTablePoolAlloc};
use genxml_cases::{Model, Random, packets, u};

/// The entries of the table at an offset in the pool: bits 21:6 of offsets, two bytes each (2d
/// p.207).
fn table(model: &mut Model, offset: u64) -> Vec<u64> {
    let bytes = model.read(TABLES + offset, 512);
    bytes.chunks(2).map(|entry| 64 * (u64::from(entry[0]) + 256 * u64::from(entry[1]))).collect()
}

/// Random edits of all stages. Each stage has its own table. Blocks are cleared before entries are
/// set, a later entry of a packet replaces an earlier one, and the pointer's bits 15:5 are bits
/// 16:6 of the offset in the pool. The bytes around the table stay as they are.
#[test]
fn random_edits() {
    let mut model = model();
    let mut random = Random::new(0x51);
    run(&mut model, &packets![table_pool()]).unwrap();
    let mut tables = [[0; 256]; STAGES];
    for round in 0..1000 {
        let stage = random.index(STAGES);
        // A new batch begins without the streamer, but with its state.
        let mut batch = Vec::new();
        for _ in 0..1 + random.below(3) {
            let clear = if random.one_in(2) { random.below(1 << 16) } else { 0 };
            let count = if random.one_in(20) { 256 } else { random.below(24) };
            let entries: Vec<(u64, u64)> =
                (0..count).map(|_| (random.below(256), 64 * random.below(1 << 16))).collect();
            batch.extend(edit(stage, clear, &entries));
            for (index, entry) in tables[stage].iter_mut().enumerate() {
                if clear & 1 << (index / 16) != 0 {
                    *entry = 0;
                }
            }
            for (index, offset) in entries {
                tables[stage][index as usize] = offset;
            }
        }
        let offset = 64 * random.below((TABLES_BYTES - 512) / 64 + 1);
        batch.extend(pointers(stage, offset / 2));
        let mut before = model.read(TABLES, TABLES_BYTES as usize);
        let stats = run(&mut model, &batch).unwrap();
        assert_eq!(table(&mut model, offset), tables[stage], "round {round}, stage {stage}");
        assert_eq!(stats.bytes_written, 512);
        let after = model.read(TABLES, TABLES_BYTES as usize);
        let range = offset as usize..offset as usize + 512;
        before[range.clone()].copy_from_slice(&after[range]);
        assert!(before == after, "round {round}: bytes outside of the table");
    }
}

/// A table at the end of the pool is written up to the end.
#[test]
fn end_of_the_pool() {
    let mut model = model();
    let entries: Vec<(u64, u64)> = (0..256).map(|index| (index, 64 * (index + 1))).collect();
    model.write(TABLES, &[0xee; 8192]);
    let pool =
        ThreeDStateBindingTablePoolAlloc { binding_table_pool_buffer_size: u(1), ..table_pool() };
    let batch = [packets![pool], edit(PS, 0, &entries), pointers(PS, (4096 - 64) / 2)].concat();
    run(&mut model, &batch).unwrap();
    let expected: Vec<u8> = (1..=32_u16).flat_map(u16::to_le_bytes).collect();
    assert_eq!(model.read(TABLES + 4096 - 64, 64), expected);
    assert_eq!(model.read(TABLES + 4096, 4096), [0xee; 4096]);
    assert_eq!(model.read(TABLES, 4096 - 64), [0xee; 4096 - 64]);
    // After the end of the pool nothing is written.
    run(&mut model, &pointers(PS, 4096 / 2)).unwrap();
    assert_eq!(model.read(TABLES + 4096, 4096), [0xee; 4096]);
}

/// Without a pool a table is edited but not written.
#[test]
fn disabled_pool() {
    let mut model = model();
    let off = ThreeDStateBindingTablePoolAlloc { binding_table_pool_enable: false, ..table_pool() };
    run(&mut model, &[packets![off], edit(VS, 0, &[(3, 640)]), pointers(VS, 0)].concat()).unwrap();
    assert_eq!(table(&mut model, 0), [0; 256]);
    run(&mut model, &[packets![table_pool()], pointers(VS, 0)].concat()).unwrap();
    let mut expected = [0; 256];
    expected[3] = 640;
    assert_eq!(table(&mut model, 0), expected);
}

/// Edits reach core 0 only with targets that name it.
#[test]
fn targets() {
    let mut model = model();
    let core_0 = edit_on(PS, BindingTableEditTarget::CORE_0, 0, &[(0, 64)]);
    run(&mut model, &[packets![table_pool()], core_0, pointers(PS, 0)].concat()).unwrap();
    assert_eq!(table(&mut model, 0)[0], 64);
    let text = refused(&mut model, &edit_on(PS, BindingTableEditTarget::CORE_1, 0, &[]));
    assert!(text.contains("does not implement Binding Table Edit Target = Core 1"), "{text}");
    let text = refused(&mut model, &edit_on(PS, BindingTableEditTarget::from_bits(0), 0, &[]));
    assert!(text.contains("Binding Table Edit Target = 0"), "{text}");
}

/// Values that the manual forbids.
#[test]
fn forbidden() {
    let mut model = model();
    let entries = vec![(0, 0); 257];
    let text = refused(&mut model, &edit(PS, 0, &entries));
    assert!(text.contains("at most 256 entries"), "{text}");
    let empty =
        ThreeDStateBindingTablePoolAlloc { binding_table_pool_buffer_size: u(0), ..table_pool() };
    let text = refused(&mut model, &packets![empty]);
    assert!(text.contains(ThreeDStateBindingTablePoolAlloc::NAME), "{text}");
    assert!(text.contains("Binding Table Pool Buffer Size"), "{text}");
    // A pool that is not mapped.
    let far = ThreeDStateBindingTablePoolAlloc {
        binding_table_pool_base_address: genxml_cases::at(0x7000_0000),
        ..table_pool()
    };
    let text = refused(&mut model, &[packets![far], pointers(PS, 0)].concat());
    assert!(text.contains("binding table pool"), "{text}");
}
