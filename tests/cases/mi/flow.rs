//! Batches, predicates, semaphores: which packets are executed.

use crate::mi::*;
use genxml::core::U;
use genxml_cases::{BATCH, packets};
use genxml_sim::Fault;

fn store(dword: u64, data: &[U<32>; 1]) -> MiStoreDataImm<'_> {
    MiStoreDataImm { data_dword: data.into(), ..MiStoreDataImm::new(at(DATA + 4 * dword)) }
}

fn start(offset: u64, second: bool) -> MiBatchBufferStart {
    MiBatchBufferStart {
        second_level_batch_buffer: MiBatchBufferStartSecondLevelBatchBuffer::from_bits(
            second.into(),
        ),
        ..MiBatchBufferStart::new(at(BATCH + offset))
    }
}

/// Nested batches. A counter in memory records the order of the stores.
#[test]
fn levels() {
    const END: MiBatchBufferEnd = MiBatchBufferEnd::new();
    for engine in EngineId::ALL {
        let mut model = model();
        let step = |place: u64| MiCopyMemMem {
            source_memory_address: at(DATA),
            destination_memory_address: at(DATA + 4 * place),
            ..MiCopyMemMem::new()
        };
        let count = MiAtomic {
            data_size: MiAtomicDataSize::DWORD,
            atomic_opcode: MiAtomicAtomicOpcode::ATOMIC_4B_INCREMENT,
            memory_address: at(DATA),
            ..MiAtomic::new()
        };
        // The numbers are the order of the stores. First level: store 1, call A, store 4, chain to
        // C. A: store 2, go to B. B: store 3, return to the first level. C: store 5.
        model.put(
            BATCH + 0x1000,
            &packets![count, step(2), start(0x2000, true), count, step(9), END],
        );
        model.put(BATCH + 0x2000, &packets![count, step(3), END]);
        model.put(BATCH + 0x3000, &packets![count, step(5), END]);
        let batch = packets![
            count,
            step(1),
            start(0x1000, true),
            count,
            step(4),
            start(0x3000, false),
            step(9)
        ];
        let stats = model.submit(engine, &batch).unwrap();
        assert_eq!(model.get(DATA, 10), [5, 1, 2, 3, 4, 5, 0, 0, 0, 0], "{engine}");
        assert_eq!(stats.batches, 4);
    }
}

/// A second-level batch starts a first-level batch, which replaces the earlier first-level batch.
/// Its end returns to the ring (gen8_facts 2.1: one address per level, no stack).
#[test]
fn first_level_from_the_second() {
    const END: MiBatchBufferEnd = MiBatchBufferEnd::new();
    for engine in EngineId::ALL {
        let mut model = model();
        // The second-level batch starts a first-level batch at 0x2000. That one calls a
        // second-level batch at 0x3000, which returns.
        model.put(
            BATCH + 0x1000,
            &packets![store(0, &[u(1)]), start(0x2000, false), store(4, &[u(9)]), END],
        );
        model.put(
            BATCH + 0x2000,
            &packets![start(0x3000, true), store(2, &[u(3)]), END, store(4, &[u(9)])],
        );
        model.put(BATCH + 0x3000, &packets![store(1, &[u(2)]), END]);
        let stats =
            model.submit(engine, &packets![start(0x1000, true), store(3, &[u(9)])]).unwrap();
        assert_eq!(model.get(DATA, 5), [1, 2, 3, 0, 0], "{engine}");
        assert_eq!(stats.batches, 4);
    }
}

/// MI_BATCH_BUFFER_START with Predication Enable, and with Add Offset Enable.
#[test]
fn batch_start_options() {
    for engine in EngineId::ALL {
        let mut model = model();
        model.put(BATCH + 0x1000, &packets![store(0, &[u(1)]), MiBatchBufferEnd::new()]);
        model.put(BATCH + 0x1400, &packets![store(0, &[u(2)]), MiBatchBufferEnd::new()]);
        let (result, offset) = (base(engine) + 0x418, base(engine) + 0x158);
        for (predicated, predicate, add, expected) in [
            (false, 0, false, 1),
            (true, 0, false, 0),
            (true, 1, false, 1),
            (false, 0, true, 2),
            (true, 1, true, 2),
        ] {
            model.put(DATA, &[0]);
            let packet = MiBatchBufferStart {
                predication_enable: predicated,
                add_offset_enable: add,
                resource_streamer_enable: true,
                ..start(0x1000, true)
            };
            let registers = [register(result, predicate), register(offset, 0x400)];
            model.submit(engine, &packets![load(&registers), packet]).unwrap();
            assert_eq!(model.get(DATA, 1), [expected], "{engine}");
        }
    }
}

/// MI_CONDITIONAL_BATCH_BUFFER_END ends the batch and its callers unless the memory value is
/// greater (unsigned).
#[test]
fn conditional_end() {
    for engine in EngineId::ALL {
        let mut model = model();
        for (memory, data) in [
            (0u32, 0u64),
            (1, 0),
            (0, 1),
            (0x8000_0000, 1),
            (1, 0x8000_0000),
            (u32::MAX, 0xffff_fffe),
        ] {
            let end = MiConditionalBatchBufferEnd {
                compare_semaphore: true,
                compare_data_dword: u(data),
                compare_address: at(DATA + 8),
                ..MiConditionalBatchBufferEnd::new()
            };
            model.put(DATA, &[0, 0, memory]);
            model.put(BATCH + 0x1000, &packets![end, store(0, &[u(1)]), MiBatchBufferEnd::new()]);
            model.submit(engine, &packets![start(0x1000, true), store(1, &[u(1)])]).unwrap();
            let goes_on = u32::from(u64::from(memory) > data);
            assert_eq!(model.get(DATA, 2), [goes_on; 2], "{engine} {memory:#x} {data:#x}");
            // Without Compare Semaphore the memory value is not read.
            let end = MiConditionalBatchBufferEnd {
                compare_semaphore: false,
                compare_address: at(0x7000_0000),
                ..end
            };
            model.put(DATA, &[0, 0, memory]);
            model.submit(engine, &packets![end, store(1, &[u(1)])]).unwrap();
            assert_eq!(model.get(DATA, 2), [0, 1], "{engine}");
        }
    }
}

/// All comparisons, combinations and loads of MI_PREDICATE.
#[test]
fn predicate() {
    for engine in EngineId::ALL {
        let mut model = model();
        let at_offset = |offset| base(engine) + offset;
        for (source0, source1, data) in
            [(5u64, 5u64, 0u64), (5, 6, u64::MAX), (1 << 40, 0, 1 << 40), (7, 6, 2)]
        {
            for compare in 0..4 {
                for combine in 0..4 {
                    for load_operation in [0, 2, 3] {
                        for old in [false, true] {
                            let compared = match compare {
                                0 => true,
                                1 => false,
                                2 => source0 == source1,
                                _ => source0.wrapping_sub(source1) == data,
                            };
                            let combined = match combine {
                                0 => compared,
                                1 => old && compared,
                                2 => old || compared,
                                _ => old != compared,
                            };
                            let expected = match load_operation {
                                0 => old,
                                2 => combined,
                                _ => !combined,
                            };
                            let pair = |offset, value: u64| {
                                let offset = at_offset(offset);
                                [
                                    register(offset, value as u32),
                                    register(offset + 4, (value >> 32) as u32),
                                ]
                            };
                            let [a, b, c] =
                                [pair(0x400, source0), pair(0x408, source1), pair(0x410, data)];
                            let state = [register(at_offset(0x418), old.into())];
                            let packet = MiPredicate {
                                compare_operation: MiPredicateCompareOperation::from_bits(compare),
                                combine_operation: MiPredicateCombineOperation::from_bits(combine),
                                load_operation: MiPredicateLoadOperation::from_bits(load_operation),
                            };
                            let result = save(at_offset(0x418), 0);
                            model
                                .submit(
                                    engine,
                                    &packets![
                                        load(&a),
                                        load(&b),
                                        load(&c),
                                        load(&state),
                                        packet,
                                        result
                                    ],
                                )
                                .unwrap();
                            assert_eq!(
                                model.get(DATA, 1),
                                [u32::from(expected)],
                                "{engine} {packet:?} {old}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// MI_STORE_REGISTER_MEM with Predicate Enable.
#[test]
fn predicated_store() {
    for engine in EngineId::ALL {
        let mut model = model();
        for predicate in [0, 1] {
            model.put(DATA, &[9]);
            let registers =
                [register(base(engine) + 0x418, predicate), register(gpr(engine, 0), 5)];
            let store = MiStoreRegisterMem { predicate_enable: true, ..save(gpr(engine, 0), 0) };
            model.submit(engine, &packets![load(&registers), store]).unwrap();
            assert_eq!(model.get(DATA, 1), [if predicate == 1 { 5 } else { 9 }]);
        }
    }
}

/// MI_SET_PREDICATE: its condition decides whether the commands up to the next MI_SET_PREDICATE
/// are skipped. The model has one slice.
#[test]
fn set_predicate() {
    for engine in EngineId::ALL {
        let mut model = model();
        for condition in (0..8).chain([15]) {
            for (result, second) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let skipped = match condition {
                    0 => false,
                    1 => second == 0,
                    2 => second == 1,
                    3 => result == 0,
                    4 => result == 1,
                    5 => false,
                    _ => true,
                };
                model.put(DATA, &[0, 0]);
                let registers = [
                    register(base(engine) + 0x418, result),
                    register(base(engine) + 0x3bc, second),
                ];
                let set = |condition| MiSetPredicate {
                    predicate_enable: MiSetPredicatePredicateEnable::from_bits(condition),
                };
                let stats = model
                    .submit(
                        engine,
                        &packets![
                            load(&registers),
                            set(condition),
                            store(0, &[u(1)]),
                            set(0),
                            store(1, &[u(1)])
                        ],
                    )
                    .unwrap();
                assert_eq!(
                    model.get(DATA, 2),
                    [u32::from(!skipped), 1],
                    "{engine} {condition} {result} {second}"
                );
                assert_eq!(stats.skipped, u64::from(skipped));
            }
        }
        let never =
            MiSetPredicate { predicate_enable: MiSetPredicatePredicateEnable::from_bits(9) };
        assert!(model.submit(engine, &packets![never]).is_err());
    }
}

/// MI_SEMAPHORE_WAIT: the six comparisons (unsigned) in both modes. A comparison that never passes
/// is a deadlock.
#[test]
fn semaphore_wait() {
    for engine in EngineId::ALL {
        let mut model = model();
        for (memory, data) in [(5u32, 5u64), (5, 6), (6, 5), (0x8000_0000, 1), (1, 0x8000_0000)] {
            for comparison in 0..6 {
                let wide = u64::from(memory);
                let passes = [
                    wide > data,
                    wide >= data,
                    wide < data,
                    wide <= data,
                    wide == data,
                    wide != data,
                ][comparison];
                for mode in [0, 1] {
                    let wait = MiSemaphoreWait {
                        wait_mode: MiSemaphoreWaitWaitMode::from_bits(mode),
                        compare_operation: MiSemaphoreWaitCompareOperation::from_bits(
                            comparison as u64,
                        ),
                        semaphore_data_dword: u(data),
                        semaphore_address: at(DATA + 4),
                        ..MiSemaphoreWait::new()
                    };
                    model.put(DATA, &[0, memory]);
                    match model.submit(engine, &packets![wait, store(0, &[u(1)])]) {
                        Ok(_) => assert!(passes, "{engine} {memory} {comparison} {data}"),
                        Err(Fault::Deadlock { waits }) => {
                            assert!(!passes, "{engine} {memory} {comparison} {data}");
                            assert_eq!((waits[0].at.engine, waits[0].memory), (engine, memory));
                        }
                        Err(fault) => panic!("{fault}"),
                    }
                    assert_eq!(model.get(DATA, 1), [u32::from(passes)]);
                }
            }
        }
    }
}

/// A loop with a counter in memory, as drivers write it: atomic decrement, conditional end, jump
/// back.
#[test]
fn a_loop() {
    for engine in EngineId::ALL {
        let mut model = model();
        let count = MiAtomic {
            data_size: MiAtomicDataSize::QWORD,
            atomic_opcode: MiAtomicAtomicOpcode::ATOMIC_8B_DECREMENT,
            memory_address: at(DATA),
            ..MiAtomic::new()
        };
        let end = MiConditionalBatchBufferEnd {
            compare_semaphore: true,
            compare_address: at(DATA),
            ..MiConditionalBatchBufferEnd::new()
        };
        model.put(DATA, &[1000, 0]);
        let stats = model.submit(engine, &packets![count, end, start(0, false)]).unwrap();
        assert_eq!(model.get(DATA, 2), [0, 0]);
        assert_eq!((stats.packets, stats.batches), (2 * 1000 + 999, 1000));
    }
}
