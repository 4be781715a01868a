//! Commands in a ring whose operands go through the global table. A ring may access that table.
//! Oracle: gen8_facts 1.1 (the bit of each command that selects the table); two lists of dwords,
//! one for each table.

use crate::engines::machine::*;
use crate::engines::*;
use genxml::core::{Shifted, U64};
use genxml::engine::EngineId;
use genxml::gen8::memory::{
    ContextDescriptorFormatAddressingModeLegacyContext as Addressing, GlobalGttPageTableEntry,
};
use genxml_cases::packets;

const WIDE: Addressing = Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT;

/// Global address of memory that only the global table maps.
const GLOBAL: u64 = 0x90_0000;
/// Global address at which the context's data is mapped as well.
const ALIAS: u64 = 0x91_0000;

fn machine(engine: EngineId) -> (Machine, Logical) {
    let mut machine = Machine::new();
    let context = machine.context(engine, 1, WIDE);
    machine.map_global(GLOBAL, 0x1000);
    let entry = GlobalGttPageTableEntry {
        present: true,
        address: Shifted::new(machine.data.address()).unwrap(),
    };
    let [low, high] = entry.pack();
    machine
        .gpu
        .ggtt
        .write_global_entry(ALIAS / 4096, u64::from(low) | u64::from(high) << 32)
        .unwrap();
    (machine, context)
}

fn run(machine: &mut Machine, context: &mut Logical, commands: &[u32]) {
    machine.ring(context, commands);
    machine.submit(&[&*context]).unwrap();
    let stats = machine.gpu.run().unwrap();
    assert_eq!(stats.violations, 0);
}

fn global(machine: &mut Machine, dword: u64) -> u32 {
    machine.gpu.global().read_u32(GLOBAL + 4 * dword).unwrap()
}

/// Copies dwords between packets, registers and memory, in every combination of the two tables.
#[test]
fn moves() {
    for engine in EngineId::ALL {
        let (mut machine, mut context) = machine(engine);
        for dword in 0..16 {
            machine.set_data(dword, 100 + dword as u32);
            machine.gpu.global().write_u32(GLOBAL + 4 * dword as u64, 200 + dword as u32).unwrap();
        }
        let place =
            |is_global: bool, dword: u64| at(if is_global { GLOBAL } else { DATA } + 4 * dword);
        let (one, two) = (base(engine) + 0x600, base(engine) + 0x608);
        let mut commands = Vec::new();
        for (n, (from, to)) in
            [(false, false), (false, true), (true, false), (true, true)].into_iter().enumerate()
        {
            // Dword n of the source goes to dword 4 + n of the destination.
            commands.extend(packets![MiCopyMemMem {
                use_global_gtt_source: from,
                use_global_gtt_destination: to,
                source_memory_address: at(if from { GLOBAL } else { DATA } + 4 * n as u64),
                destination_memory_address: at(if to { GLOBAL } else { DATA } + 16 + 4 * n as u64),
            }]);
        }
        for (is_global, register) in [(false, one), (true, two)] {
            commands.extend(packets![MiLoadRegisterMem {
                use_global_gtt: is_global,
                register_address: at(register.into()),
                memory_address: at(if is_global { GLOBAL } else { DATA }),
                ..MiLoadRegisterMem::new()
            }]);
        }
        // A value read through one table is written through the other.
        for (is_global, register) in [(true, one), (false, two)] {
            commands.extend(packets![MiStoreRegisterMem {
                use_global_gtt: is_global,
                register_address: at(register.into()),
                memory_address: at(if is_global { GLOBAL } else { DATA } + 32),
                ..MiStoreRegisterMem::new()
            }]);
        }
        let data = [u(0x55)];
        commands.extend(packets![MiStoreDataImm {
            use_global_gtt: true,
            data_dword: (&data).into(),
            ..MiStoreDataImm::new(place(true, 9))
        }]);
        run(&mut machine, &mut context, &commands);
        let mut own: Vec<u32> = (100..116).collect();
        let mut other: Vec<u32> = (200..216).collect();
        (own[4], other[5], own[6], other[7]) = (100, 101, 202, 203);
        (other[8], own[8], other[9]) = (100, 200, 0x55);
        assert_eq!((0..16).map(|dword| machine.data(dword)).collect::<Vec<_>>(), own, "{engine}");
        assert_eq!(
            (0..16).map(|dword| global(&mut machine, dword)).collect::<Vec<_>>(),
            other,
            "{engine}"
        );
    }
}

/// Post-sync writes of flushes.
#[test]
fn flushes() {
    for engine in EngineId::ALL {
        let (mut machine, mut context) = machine(engine);
        let data = [u(0x1234), u(0x5678)];
        let commands = match engine {
            EngineId::Render => packets![PipeControl {
                destination_address_type: PipeControlDestinationAddressType::GGTT,
                post_sync_operation: PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA,
                address: at(GLOBAL + 8),
                immediate_data: U64::from_bits(0x5678_0000_1234),
                ..PipeControl::new()
            }],
            _ => packets![MiFlushDw {
                destination_address_type: MiFlushDwDestinationAddressType::GGTT,
                post_sync_operation: MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA,
                address: at(GLOBAL + 8),
                immediate_data: (&data).into(),
                ..MiFlushDw::new()
            }],
        };
        run(&mut machine, &mut context, &commands);
        let found: Vec<_> = (1..5).map(|dword| global(&mut machine, dword)).collect();
        assert_eq!(found, [0, 0x1234, 0x5678, 0], "{engine}");
    }
}

/// The context's data, mapped in both tables: a write through one table is visible through the
/// other at once, also for a semaphore and for a command that reads through the first table again.
#[test]
fn one_page_in_both_tables() {
    for engine in EngineId::ALL {
        let (mut machine, mut context) = machine(engine);
        let data = [u(7)];
        let through = |dword: u64, value| MiStoreDataImm {
            use_global_gtt: true,
            data_dword: value,
            ..MiStoreDataImm::new(at(ALIAS + 4 * dword))
        };
        let copy = |from: u64, to: u64| MiCopyMemMem {
            use_global_gtt_source: true,
            source_memory_address: at(ALIAS + 4 * from),
            destination_memory_address: at(DATA + 4 * to),
            ..MiCopyMemMem::new()
        };
        let nine = [u(9)];
        let commands = packets![
            store(0, &nine),
            copy(0, 1),
            through(0, (&data).into()),
            wait(0, 7),
            copy(0, 2),
            store(0, &nine),
            copy(0, 3)
        ];
        run(&mut machine, &mut context, &commands);
        let found: Vec<_> = (0..4).map(|dword| machine.data(dword)).collect();
        assert_eq!(found, [9, 9, 7, 9], "{engine}");
    }
}

/// A ring command writes table entries, in the layout that Linux uses (gt/intel_ggtt.c): the page's
/// address, then 64 bits for each entry. Format of entries: gen8_facts 1.1.
#[test]
fn entries_of_the_table() {
    const PLACE: u64 = 0xa0_3000;
    for engine in EngineId::ALL {
        let (mut machine, mut context) = machine(engine);
        let data = machine.data.address();
        let update = |entries: &[u64]| {
            let mut dwords = vec![(0x23 << 23) | (2 * entries.len() as u32), PLACE as u32];
            dwords.extend(entries.iter().flat_map(|entry| [*entry as u32, (entry >> 32) as u32]));
            dwords
        };
        // Both entries map a page to the context's data.
        let seven = [u(7)];
        let through = |page: u64, dword: u64| MiStoreDataImm {
            use_global_gtt: true,
            data_dword: (&seven).into(),
            ..MiStoreDataImm::new(at(PLACE + 4096 * page + 4 * dword))
        };
        let mut commands = update(&[data | 1, data | 1]);
        commands.extend(packets![through(0, 3), through(1, 5)]);
        run(&mut machine, &mut context, &commands);
        let found: Vec<_> = (2..7).map(|dword| machine.data(dword)).collect();
        assert_eq!(found, [0, 7, 0, 7, 0], "{engine}");
        let entry = |machine: &Machine, page| machine.gpu.ggtt.global_entry(PLACE / 4096 + page);
        assert_eq!(
            [0, 1, 2].map(|page| entry(&machine, page)),
            [data | 1, data | 1, 0],
            "{engine}"
        );

        // The entry is removed, although it was used before.
        let mut commands = update(&[0]);
        commands.extend(packets![through(1, 6), through(0, 4)]);
        machine.ring(&mut context, &commands);
        machine.submit(&[&context]).unwrap();
        let fault = machine.gpu.run().unwrap_err();
        assert!(
            matches!(&fault, genxml_sim::Fault::Page { fault, .. } if fault.address == PLACE + 16),
            "{fault}"
        );
        assert_eq!((machine.data(4), machine.data(6)), (0, 7), "{engine}");
    }
}

/// A batch in the context's address space cannot write entries. Commands are refused if their
/// length is odd or their entries lie beyond the table.
#[test]
fn entries_that_are_not_written() {
    let update = |page: u32, dwords: u32| {
        let mut commands = vec![(0x23 << 23) | dwords, page << 12];
        commands.extend((0..dwords).map(|_| 3));
        commands
    };
    for engine in EngineId::ALL {
        let mut model = genxml_cases::Model::new();
        let stats = model.submit(engine, &update(5, 2)).unwrap();
        assert_eq!((stats.violations, model.gpu.ggtt.global_entry(5)), (1, 0), "{engine}");
        let odd = model.submit(engine, &update(5, 3)).unwrap_err();
        assert!(odd.to_string().contains("DWord Length"), "{odd}");
        let beyond = model.submit(engine, &update(0xf_ffff, 4)).unwrap_err();
        assert!(beyond.to_string().contains("Entry Address"), "{beyond}");
    }
}
