//! Commands that move data between packets, registers and memory.

use crate::mi::*;
use genxml::core::U64;
use genxml_cases::packets;

/// MI_NOOP writes its number to NOPID if the packet says so.
#[test]
fn noop() {
    for engine in EngineId::ALL {
        let mut model = model();
        let number = |write, number| MiNoop {
            identification_number_register_write_enable: write,
            identification_number: u(number),
        };
        model.submit(engine, &packets![number(true, 0x12_3456), number(false, 7)]).unwrap();
        assert_eq!(value(&model, base(engine) + 0x94), 0x12_3456, "{engine}");
    }
}

/// MI_STORE_DATA_IMM of 1 to 64 consecutive dwords, and of four dwords as qwords. Qwords are
/// aligned.
#[test]
fn store_data_imm() {
    for engine in EngineId::ALL {
        let mut model = model();
        let data: Vec<_> = (0..64).map(|index| u(index * 0x0101_0101)).collect();
        for count in [1, 2, 3, 17, 64] {
            let packet = MiStoreDataImm {
                data_dword: data[..count].into(),
                ..MiStoreDataImm::new(at(DATA + 4))
            };
            model.write(DATA, &[0xee; 512]);
            model.submit(engine, &packets![packet]).unwrap();
            let mut expected = vec![0xeeee_eeee; 128];
            for index in 0..count {
                expected[1 + index] = index as u32 * 0x0101_0101;
            }
            assert_eq!(model.get(DATA, 128), expected, "{engine} {count}");
        }
        let qwords = MiStoreDataImm {
            store_qword: MiStoreDataImmStoreQword::STORE_QWORD,
            data_dword: data[..4].into(),
            ..MiStoreDataImm::new(at(DATA + 0x1000))
        };
        model.submit(engine, &packets![qwords]).unwrap();
        assert_eq!(model.get(DATA + 0x1000, 5), [0, 0x0101_0101, 0x0202_0202, 0x0303_0303, 0]);
        let askew = MiStoreDataImm { address: at(DATA + 4), ..qwords };
        assert!(model.submit(engine, &packets![askew]).is_err());
    }
}

/// Registers loaded from packets with byte disables, loaded from and stored to memory, and copied
/// to other registers.
#[test]
fn registers() {
    for engine in EngineId::ALL {
        let mut model = model();
        let one = gpr(engine, 1);
        model.put(DATA, &[0x1122_3344, 0x5566_7788]);
        for disabled in 0..16u64 {
            let [first, second] = [[register(one, 0x1111_1111)], [register(one, 0xaabb_ccdd)]];
            let partial = MiLoadRegisterImm { byte_write_disables: u(disabled), ..load(&second) };
            model.submit(engine, &packets![load(&first), partial, save(one, 4)]).unwrap();
            let mut expected = 0xaabb_ccddu32.to_le_bytes();
            for (byte, expected) in expected.iter_mut().enumerate() {
                if disabled >> byte & 1 == 1 {
                    *expected = 0x11;
                }
            }
            assert_eq!(
                model.get(DATA + 16, 1),
                [u32::from_le_bytes(expected)],
                "{engine} {disabled}"
            );
        }
        let memory = |offset: u32, address| MiLoadRegisterMem {
            register_address: at(offset.into()),
            memory_address: at(address),
            ..MiLoadRegisterMem::new()
        };
        let copy = |from: u32, to: u32| MiLoadRegisterReg {
            source_register_address: at(from.into()),
            destination_register_address: at(to.into()),
        };
        model
            .submit(
                engine,
                &packets![
                    memory(one, DATA),
                    memory(one + 4, DATA + 4),
                    copy(one, one + 12),
                    copy(one + 4, one + 8),
                    save(one + 8, 6),
                    save(one + 12, 7)
                ],
            )
            .unwrap();
        assert_eq!(model.get(DATA + 24, 2), [0x5566_7788, 0x1122_3344], "{engine}");
    }
}

/// A masked register changes the bits of 15:0 that bits 31:16 enable, for writes from packets,
/// memory and registers. Read-only registers keep their value.
#[test]
fn masks() {
    // INSTPM of each engine (base + 0xC0) is masked.
    for engine in EngineId::ALL {
        let mut model = model();
        let (instpm, one) = (base(engine) + 0xc0, gpr(engine, 1));
        model.put(DATA, &[0x00ff_0042]);
        let [first, second] = [[register(instpm, 0xffff_1234)], [register(one, 0xf000_9000)]];
        let from_memory = MiLoadRegisterMem {
            register_address: at(instpm.into()),
            memory_address: at(DATA),
            ..MiLoadRegisterMem::new()
        };
        let from_register = MiLoadRegisterReg {
            source_register_address: at(one.into()),
            destination_register_address: at(instpm.into()),
        };
        let batch = packets![
            load(&first),
            save(instpm, 1),
            from_memory,
            save(instpm, 2),
            load(&second),
            from_register,
            save(instpm, 3)
        ];
        model.submit(engine, &batch).unwrap();
        assert_eq!(model.get(DATA + 4, 3), [0x1234, 0x1242, 0x9242], "{engine}");

        let timestamp = base(engine) + 0x358;
        let write = [register(timestamp, 0xffff_ffff)];
        model
            .submit(engine, &packets![save(timestamp, 1), load(&write), save(timestamp, 2)])
            .unwrap();
        let [before, after] = model.get(DATA + 4, 2)[..] else { unreachable!() };
        assert!(before <= after && after < 0x1000_0000);
    }
}

#[test]
fn copy_memory() {
    for engine in EngineId::ALL {
        let mut model = model();
        model.put(DATA, &[1, 2, 3]);
        let copy = MiCopyMemMem {
            source_memory_address: at(DATA + 4),
            destination_memory_address: at(DATA + 0xffc),
            ..MiCopyMemMem::new()
        };
        model.submit(engine, &packets![copy]).unwrap();
        assert_eq!(model.get(DATA + 0xff8, 3), [0, 2, 0], "{engine}");
    }
}

/// MI_FLUSH_DW on the engines that have it: no write, a dword, a qword or the timestamp.
#[test]
fn flush_dw() {
    for engine in [EngineId::Blitter, EngineId::Video, EngineId::VideoEnhance] {
        let mut model = model();
        let data = [u(0x11), u(0x22)];
        let flush = |operation, data| MiFlushDw {
            post_sync_operation: operation,
            address: at(DATA),
            immediate_data: data,
            ..MiFlushDw::new()
        };
        use MiFlushDwPostSyncOperation as Operation;
        for (packet, expected) in [
            (flush(Operation::NO_WRITE, (&data).into()), [9, 9]),
            (flush(Operation::WRITE_IMMEDIATE_DATA, data[..1].into()), [0x11, 9]),
            (flush(Operation::WRITE_IMMEDIATE_DATA, (&data).into()), [0x11, 0x22]),
        ] {
            model.put(DATA, &[9, 9]);
            model.submit(engine, &packets![packet]).unwrap();
            assert_eq!(model.get(DATA, 2), expected, "{engine}");
        }
        let time = flush(Operation::WRITE_TIMESTAMP, (&data).into());
        model
            .submit(
                engine,
                &packets![save(base(engine) + 0x358, 2), time, save(base(engine) + 0x358, 3)],
            )
            .unwrap();
        let times = model.get(DATA, 4);
        assert!(times[2] <= times[0] && times[0] <= times[3] && times[1] == 0, "{times:?}");
        let notify =
            MiFlushDw { notify_enable: true, ..flush(Operation::NO_WRITE, (&data).into()) };
        assert_eq!(model.submit(engine, &packets![notify]).unwrap().interrupts, 1);
    }
    assert!(model().render(&packets![MiFlushDw::new()]).is_err());
}

/// PIPE_CONTROL: each post-sync operation, the write to a register, notification.
#[test]
fn pipe_control() {
    let mut model = model();
    let write = |operation| PipeControl {
        post_sync_operation: operation,
        address: at(DATA),
        immediate_data: U64::from_bits(0x1234_5678_9abc_def0),
        ..PipeControl::new()
    };
    use PipeControlPostSyncOperation as Operation;
    let depth = [register(0x2350, 5), register(0x2354, 6)];
    for (operation, expected) in [
        (Operation::NO_WRITE, [9, 9]),
        (Operation::WRITE_IMMEDIATE_DATA, [0x9abc_def0, 0x1234_5678]),
        (Operation::WRITE_PS_DEPTH_COUNT, [5, 6]),
    ] {
        model.put(DATA, &[9, 9]);
        model.render(&packets![load(&depth), write(operation)]).unwrap();
        assert_eq!(model.get(DATA, 2), expected, "{operation:?}");
    }
    model
        .render(&packets![save(0x2358, 2), write(Operation::WRITE_TIMESTAMP), save(0x2358, 3)])
        .unwrap();
    let times = model.get(DATA, 4);
    assert!(times[2] <= times[0] && times[0] <= times[3] && times[1] == 0, "{times:?}");
    let register = PipeControl {
        lri_post_sync_operation: PipeControlLriPostSyncOperation::MMIO_WRITE_IMMEDIATE_DATA,
        address: at(gpr(EngineId::Render, 3).into()),
        notify_enable: true,
        ..write(Operation::NO_WRITE)
    };
    let stats = model.render(&packets![register]).unwrap();
    assert_eq!(value(&model, gpr(EngineId::Render, 3)), 0x9abc_def0);
    assert_eq!(stats.interrupts, 1);
}

/// A report has its id, the timestamp, the context and the clock, then the counters (gen8_facts
/// 2.7). A0 counts the clocks of the engine. The batch causes no other events, so the other
/// counters are 0.
#[test]
fn report_perf_count() {
    let mut model = model();
    model.select_report(5);
    model.write(DATA, &[0xee; 512]);
    let report = MiReportPerfCount {
        memory_address: at(DATA + 64),
        report_id: u(0xdead_beef),
        ..MiReportPerfCount::new()
    };
    model.render(&packets![save(0x2358, 0), report, save(0x2358, 1)]).unwrap();
    let memory = model.get(DATA, 128);
    assert_eq!(memory[16], 0xdead_beef);
    assert!(memory[0] <= memory[17] && memory[17] <= memory[1]);
    assert!(memory[20] > 0 && memory[20] <= memory[19]);
    assert_eq!(memory[21..80], [0; 59]);
    assert_eq!((memory[15], memory[80]), (0xeeee_eeee, 0xeeee_eeee));
}
