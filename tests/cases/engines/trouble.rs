//! Deadlocks, hangs, page faults and missing privilege. Each fault names its cause, and registers
//! show it.

use crate::engines::machine::*;
use crate::engines::*;
use genxml::core::U64;
use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::engine_registers::*;
use genxml::gen8::memory::ContextDescriptorFormatAddressingModeLegacyContext as Addressing;
use genxml::gen8::registers::{
    FaultReg, FaultRegEngineId, FaultRegGttsel, Gen8FaultTlbData0, Gen8FaultTlbData1,
};
use genxml_cases::{BATCH as MODEL_BATCH, Compute, KERNELS, Model, packets};
use genxml_sim::{Fault, InKernel};

const WIDE: Addressing = Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT;

/// Four engines take turns several times: each waits for its value of one semaphore and writes the
/// next value. All batches end.
#[test]
fn semaphores_between_engines() {
    let mut machine = Machine::new();
    let contexts = EngineId::ALL.map(|engine| machine.context(engine, 1, WIDE));
    const ROUNDS: u64 = 20;
    for (index, mut context) in contexts.into_iter().enumerate() {
        let mut commands = Vec::new();
        for round in 0..ROUNDS {
            let turn = 4 * round + index as u64;
            let next = [u(turn + 1)];
            commands.extend(packets![wait(0, turn), store(1 + turn, &[u(turn)]), store(0, &next)]);
        }
        machine.ring(&mut context, &commands);
        machine.submit(&[&context]).unwrap();
    }
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(0), 4 * ROUNDS as u32);
    for turn in 0..4 * ROUNDS {
        assert_eq!(machine.data(1 + turn as usize), turn as u32);
    }
}

/// In signal mode, memory is read only when MI_SEMAPHORE_SIGNAL names the context. A signal to
/// another context, or a wrong value in memory, does not end the wait.
#[test]
fn signals() {
    for (value, number, passes) in [(1, 0, true), (1, 7, false), (2, 0, false)] {
        let mut machine = Machine::new();
        let mut waiting = machine.context(EngineId::Render, 1, WIDE);
        let mut other = machine.context(EngineId::Blitter, 1, WIDE);
        let semaphore =
            MiSemaphoreWait { wait_mode: MiSemaphoreWaitWaitMode::SIGNAL_MODE, ..wait(0, 1) };
        machine.ring(&mut waiting, &packets![semaphore, store(1, &[u(1)])]);
        let signal = MiSemaphoreSignal {
            target_engine_select: MiSemaphoreSignalTargetEngineSelect::RCS,
            target_context_id: u(u64::from(waiting.number) + number),
            ..MiSemaphoreSignal::new()
        };
        machine.ring(&mut other, &packets![store(0, &[u(value)]), signal]);
        machine.submit(&[&waiting]).unwrap();
        assert_eq!(machine.gpu.advance().unwrap(), genxml_sim::gpu::Progress::Waiting);
        machine.submit(&[&other]).unwrap();
        let result = machine.gpu.run();
        assert_eq!(machine.data(1), u32::from(passes), "{value} {number}");
        match result {
            Ok(_) => assert!(passes),
            Err(Fault::Deadlock { waits }) => {
                assert!(!passes);
                assert_eq!((waits.len(), waits[0].polls, waits[0].data), (1, false, 1));
            }
            Err(fault) => panic!("{fault}"),
        }
    }
}

/// A deadlock fault names each waiting engine, its position and its semaphore. Registers show the
/// same.
#[test]
fn deadlock() {
    let mut machine = Machine::new();
    let mut one = machine.context(EngineId::Render, 1, WIDE);
    let mut two = machine.context(EngineId::Video, 1, WIDE);
    machine.batch(&one, 0x40, &packets![MiNoop::new(), wait(0, 1), store(4, &[u(1)])]);
    machine.ring(&mut one, &packets![start(0x40)]);
    machine.ring(&mut two, &packets![wait(4, 1), store(0, &[u(1)])]);
    machine.submit(&[&one]).unwrap();
    machine.submit(&[&two]).unwrap();
    let fault = machine.gpu.run().unwrap_err();
    let Fault::Deadlock { waits } = &fault else { panic!("{fault}") };
    let [first, second] = &waits[..] else { panic!("{fault}") };
    assert_eq!(
        (first.at.engine, first.at.address, first.at.batch),
        (EngineId::Render, BATCH + 0x44, BATCH + 0x40)
    );
    assert_eq!((first.address, first.memory, first.data, first.operator()), (DATA, 0, 1, "=="));
    assert_eq!(
        (second.at.engine, second.at.address, second.address),
        (EngineId::Video, two.ring, DATA + 16)
    );
    assert!(
        fault.to_string().contains("render batch +0x4")
            && fault.to_string().contains("MI_SEMAPHORE_WAIT")
    );
    let read = |offset| machine.read(EngineId::Render, offset);
    assert_eq!(u64::from(read(RingActhd::OFFSET)), BATCH + 0x44);
    assert_eq!(read(RingIpehr::OFFSET), wait(0, 1).pack()[0]);
    assert_eq!(u64::from(read(RingBbaddr::OFFSET)), BATCH + 0x54);
    assert!(RingBbstate::unpack_lossy(&[read(RingBbstate::OFFSET)]).ring_bb_ppgtt);
    // The engines are usable again.
    let mut three = machine.context(EngineId::Render, 1, WIDE);
    machine.ring(&mut three, &packets![store(5, &[u(5)])]);
    machine.submit(&[&three]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(5), 5);
}

/// On each engine, a batch that jumps to itself hangs. The fault and ACTHD name the position.
#[test]
fn endless_batch() {
    for engine in EngineId::ALL {
        let mut machine = Machine::new();
        let mut context = machine.context(engine, 1, WIDE);
        machine.batch(&context, 0x100, &packets![MiNoop::new(), start(0x100)]);
        machine.ring(&mut context, &packets![start(0x100)]);
        machine.submit(&[&context]).unwrap();
        let fault = machine.gpu.run().unwrap_err();
        let Fault::Hang { at, .. } = fault else { panic!("{fault}") };
        assert_eq!((at.engine, at.batch), (engine, BATCH + 0x100));
        assert!((BATCH + 0x100..=BATCH + 0x104).contains(&at.address));
        assert!(
            (BATCH + 0x100..=BATCH + 0x104)
                .contains(&machine.read(engine, RingActhd::OFFSET).into())
        );
    }
}

/// A kernel that jumps to itself hangs; the fault names the packet, the kernel and the instruction.
#[test]
fn endless_kernel() {
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)  r1.0<1>:ud  0:ud
    again:
        (W) jmpi again
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let mut model = Model::new();
    model.gpu.set_work_limit(1 << 16);
    let fault = Compute::new(KERNEL).run(&mut model).unwrap_err();
    let Fault::Hang { at, .. } = &fault else { panic!("{fault}") };
    assert_eq!((at.engine, at.packet), (EngineId::Render, "GPGPU_WALKER"));
    assert_eq!(at.batch, MODEL_BATCH);
    assert!(matches!(at.thread, Some(InKernel { kernel: KERNELS, ip: 16 })), "{fault}");
}

/// A batch that runs into unmapped memory, and a command that writes to unmapped memory. The fault
/// and the fault registers name the address.
#[test]
fn page_faults() {
    let mut machine = Machine::new();
    let mut context = machine.context(EngineId::Blitter, 1, WIDE);
    let data = [u(1)];
    let nowhere = 0x1234_5678_9000;
    let lost = MiStoreDataImm { data_dword: (&data).into(), ..MiStoreDataImm::new(at(nowhere)) };
    machine.batch(&context, 0, &packets![MiNoop::new(), MiNoop::new(), lost]);
    machine.ring(&mut context, &packets![start(0)]);
    machine.submit(&[&context]).unwrap();
    let fault = machine.gpu.run().unwrap_err();
    let Fault::Page { fault, at: place, .. } = &fault else { panic!("{fault}") };
    assert_eq!((fault.address, fault.write), (nowhere, true));
    assert_eq!(
        (place.engine, place.packet, place.address),
        (EngineId::Blitter, "MI_STORE_DATA_IMM", BATCH + 8)
    );
    let register = FaultReg::unpack_lossy(&[machine.gpu.mmio_read(FaultReg::OFFSET)]);
    assert!(register.valid_bit);
    assert_eq!(
        (register.engine_id, register.gttsel),
        (FaultRegEngineId::BLT, FaultRegGttsel::PPGTT)
    );
    let low = Gen8FaultTlbData0::unpack_lossy(&[machine.gpu.mmio_read(Gen8FaultTlbData0::OFFSET)]);
    let high = Gen8FaultTlbData1::unpack_lossy(&[machine.gpu.mmio_read(Gen8FaultTlbData1::OFFSET)]);
    assert_eq!(low.fault_va.get() | high.fault_va_high_bits.get() << 44, nowhere);
    assert!(!high.fault_gtt_sel);

    machine.ring(&mut context, &packets![start(0x7fff_0000)]);
    machine.gpu.global().write_u32(context.lrca() + 4096 + 20, context.tail as u32 - 16).unwrap();
    machine.submit(&[&context]).unwrap();
    let fault = machine.gpu.run().unwrap_err();
    assert!(
        matches!(&fault, Fault::Page { fault, .. } if fault.address == BATCH + 0x7fff_0000),
        "{fault}"
    );

    // A context image at an address that the global table does not map.
    let descriptor = genxml::gen8::memory::ContextDescriptorFormat {
        logical_ring_context_address_lrca: at(0x7f00_0000),
        ..context.descriptor()
    };
    machine.submit_descriptors(EngineId::Blitter, &[descriptor]).unwrap();
    assert!(matches!(machine.gpu.run(), Err(Fault::Page { .. })));
    let register = FaultReg::unpack_lossy(&[machine.gpu.mmio_read(FaultReg::OFFSET)]);
    assert_eq!(register.gttsel, FaultRegGttsel::GGTT);
}

/// Only rings, and batches in the global table, may access the global table and the registers of
/// the GPU. Elsewhere such a command does nothing, sets a bit of EIR, and parsing continues (2d
/// p.198).
#[test]
fn privilege() {
    use genxml::gen8::structures::HardwareDetectedErrorBitDefinitions as Errors;
    for engine in EngineId::ALL {
        let mut machine = Machine::new();
        let mut context = machine.context(engine, 1, WIDE);
        machine.map_global(0x90_0000, 0x2000);
        let data = [u(9)];
        let global = |dword: u64| MiStoreDataImm {
            use_global_gtt: true,
            data_dword: (&data).into(),
            ..MiStoreDataImm::new(at(0x90_0000 + 4 * dword))
        };
        let errors = |machine: &Machine| {
            Errors::unpack_lossy(&[machine.read(engine, RingEir::OFFSET)])
                .command_privilege_violation_error
        };
        // A batch of the first level in the global table, started by the ring.
        let batch = packets![
            global(1),
            load(&[register(base(engine) + RingImr::OFFSET, 0x55)]),
            MiBatchBufferEnd::new()
        ];
        machine.gpu.global().write(0x90_1000, bytemuck::cast_slice(&batch)).unwrap();
        let privileged = MiBatchBufferStart {
            address_space_indicator: MiBatchBufferStartAddressSpaceIndicator::GGTT,
            ..MiBatchBufferStart::new(at(0x90_1000))
        };
        machine.ring(&mut context, &packets![global(0), privileged]);
        machine.submit(&[&context]).unwrap();
        let stats = machine.gpu.run().unwrap();
        let dword = |machine: &mut Machine, index: u64| {
            machine.gpu.global().read_u32(0x90_0000 + 4 * index).unwrap()
        };
        assert_eq!((dword(&mut machine, 0), dword(&mut machine, 1), stats.violations), (9, 9, 0));
        assert_eq!(machine.read(engine, RingImr::OFFSET), 0x55);
        assert!(!errors(&machine));

        // A batch in the context's address space, and a batch that it starts there, although the
        // start names the global table.
        let inner = MiBatchBufferStart {
            address_space_indicator: MiBatchBufferStartAddressSpaceIndicator::GGTT,
            ..MiBatchBufferStart::new(at(BATCH + 0x100))
        };
        machine.batch(&context, 0, &packets![global(2), store(2, &[u(2)]), inner]);
        machine.batch(
            &context,
            0x100,
            &packets![
                global(3),
                load(&[register(base(engine) + RingImr::OFFSET, 0x66)]),
                store(3, &[u(3)])
            ],
        );
        machine.ring(&mut context, &packets![start(0)]);
        machine.submit(&[&context]).unwrap();
        let stats = machine.gpu.run().unwrap();
        assert_eq!(
            (dword(&mut machine, 2), dword(&mut machine, 3), stats.violations),
            (0, 0, 3),
            "{engine}"
        );
        assert_eq!((machine.data(2), machine.data(3)), (2, 3));
        assert_eq!(machine.read(engine, RingImr::OFFSET), 0x55);
        assert!(errors(&machine));
        machine.write(engine, RingEir::OFFSET, machine.read(engine, RingEir::OFFSET));
        assert!(!errors(&machine), "writing ones clears");
    }
}

/// Memory Type of MI_ATOMIC and MI_SEMAPHORE_WAIT selects the global table only in a ring. A batch
/// without privilege ignores it and uses its own address space (media-driver
/// mhw_mi_hwcmd_g8_X.h, MEMORY_TYPE).
#[test]
fn memory_types_that_are_ignored() {
    for engine in EngineId::ALL {
        let mut machine = Machine::new();
        let mut context = machine.context(engine, 1, WIDE);
        // The same address is mapped in both tables.
        machine.map_global(DATA, 0x1000);
        let count = MiAtomic {
            memory_type: MiAtomicMemoryType::GLOBAL_GRAPHICS_ADDRESS,
            data_size: MiAtomicDataSize::DWORD,
            atomic_opcode: MiAtomicAtomicOpcode::ATOMIC_4B_INCREMENT,
            memory_address: at(DATA),
            ..MiAtomic::new()
        };
        let wait = |value| MiSemaphoreWait {
            memory_type: MiSemaphoreWaitMemoryType::GLOBAL_GRAPHICS_ADDRESS,
            ..wait(0, value)
        };
        machine.set_data(0, 40);
        machine.gpu.global().write_u32(DATA, 7).unwrap();
        machine.batch(&context, 0, &packets![count, wait(41), store(1, &[u(1)])]);
        machine.ring(&mut context, &packets![count, wait(8), start(0)]);
        machine.submit(&[&context]).unwrap();
        let stats = machine.gpu.run().unwrap();
        let global = machine.gpu.global().read_u32(DATA).unwrap();
        assert_eq!(
            (global, machine.data(0), machine.data(1), stats.violations),
            (8, 41, 1, 0),
            "{engine}"
        );
    }
}

/// A ring whose last packet extends beyond the tail, and a ring that contains a batch end.
#[test]
fn broken_rings() {
    let mut machine = Machine::new();
    let mut context = machine.context(EngineId::Render, 1, WIDE);
    machine.ring(&mut context, &packets![store(0, &[u(1)])][..2]);
    machine.submit(&[&context]).unwrap();
    assert!(matches!(machine.gpu.run(), Err(Fault::Truncated { needed: 4, available: 2, .. })));
    let mut context = machine.context(EngineId::Render, 1, WIDE);
    machine.ring(&mut context, &packets![MiBatchBufferEnd::new()]);
    machine.submit(&[&context]).unwrap();
    assert!(matches!(machine.gpu.run(), Err(Fault::BadPacket { .. })));
    // MI_CONDITIONAL_BATCH_BUFFER_END in a ring may compare, but must not end anything.
    for (value, ends) in [(0, true), (1, false)] {
        let mut context = machine.context(EngineId::Render, 1, WIDE);
        let end = MiConditionalBatchBufferEnd {
            compare_semaphore: true,
            compare_address: at(DATA),
            ..MiConditionalBatchBufferEnd::new()
        };
        machine.set_data(0, value);
        machine.ring(&mut context, &packets![end, store(1, &[u(1)])]);
        machine.submit(&[&context]).unwrap();
        let fault = machine.gpu.run().err();
        assert_eq!(matches!(fault, Some(Fault::BadPacket { value: 54, .. })), ends, "{fault:?}");
        assert_eq!(machine.data(1), u32::from(!ends));
    }
}

/// Store Data Index counts from the start of a status page of 4096 bytes. A batch without privilege
/// cannot write beyond it.
#[test]
fn behind_the_status_page() {
    for engine in EngineId::ALL {
        for (offset, lies_within) in
            [(4088, true), (4096, false), (0x20_0000, false), (1 << 32, false)]
        {
            let mut machine = Machine::new();
            let mut context = machine.context(engine, 1, WIDE);
            let data = [u(0x11), u(0x22)];
            let batch = match engine {
                EngineId::Render => packets![PipeControl {
                    store_data_index: true,
                    post_sync_operation: PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA,
                    address: at(offset),
                    immediate_data: U64::from_bits(0x22_0000_0011),
                    ..PipeControl::new()
                }],
                _ => packets![MiFlushDw {
                    store_data_index: true,
                    post_sync_operation: MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA,
                    address: at(offset),
                    immediate_data: (&data).into(),
                    ..MiFlushDw::new()
                }],
            };
            machine.batch(&context, 0, &batch);
            machine.ring(&mut context, &packets![start(0)]);
            let behind = machine.image(&context, 1);
            machine.submit(&[&context]).unwrap();
            let fault = machine.gpu.run().err();
            let refused = matches!(fault, Some(Fault::BadPacket { field: "Address", .. }));
            assert_eq!(
                (fault.is_none(), refused),
                (lies_within, !lies_within),
                "{engine} {fault:?}"
            );
            let end =
                [4088, 4092].map(|at| machine.gpu.global().read_u32(context.lrca() + at).unwrap());
            assert_eq!(end, if lies_within { [0x11, 0x22] } else { [0; 2] });
            assert_eq!(machine.image(&context, 1), behind);
        }
    }
}

/// Commands cannot submit lists: in a ring they cause a fault, in a batch without privilege they do
/// nothing. The clocks are read-only, and writing them needs no privilege.
#[test]
fn ports_and_clocks() {
    let engine = EngineId::Blitter;
    let mut machine = Machine::new();
    let mut context = machine.context(engine, 1, WIDE);
    machine.batch(&context, 0, &packets![load(&[register(base(engine) + RingElsp::OFFSET, 1)])]);
    machine.ring(&mut context, &packets![start(0)]);
    machine.submit(&[&context]).unwrap();
    assert_eq!(machine.gpu.run().unwrap().violations, 1);
    machine.batch(
        &context,
        0,
        &packets![load(&[register(base(engine) + RingTimestamp::OFFSET, 1)])],
    );
    machine.ring(&mut context, &packets![start(0)]);
    machine.submit(&[&context]).unwrap();
    let before = machine.read(engine, RingTimestamp::OFFSET);
    assert_eq!(machine.gpu.run().unwrap().violations, 0);
    assert!(machine.read(engine, RingTimestamp::OFFSET) >= before);
    machine.ring(&mut context, &packets![load(&[register(base(engine) + RingElsp::OFFSET, 1)])]);
    machine.submit(&[&context]).unwrap();
    let fault = machine.gpu.run().unwrap_err();
    assert!(matches!(fault, Fault::Unimplemented { .. }), "{fault}");
    assert!(fault.to_string().contains("0x22230"), "{fault}");
}

/// RING_FORCE_TO_NONPRIV lets batches without privilege access a register of the GPU.
#[test]
fn given_registers() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let mut context = machine.context(engine, 1, WIDE);
    let mask = base(engine) + RingImr::OFFSET;
    machine.batch(&context, 0, &packets![load(&[register(mask, 0x77)])]);
    let slot = base(engine) + RingForceToNonpriv::OFFSET + 4 * 3;
    for (deny, expected, violations) in [(true, 0, 1), (false, 0x77, 0)] {
        let [given] = RingForceToNonpriv {
            ring_force_to_nonpriv_address: at(mask.into()),
            ring_force_to_nonpriv_deny: deny,
        }
        .pack();
        machine.ring(&mut context, &packets![load(&[register(slot, given)]), start(0)]);
        machine.submit(&[&context]).unwrap();
        assert_eq!(machine.gpu.run().unwrap().violations, violations);
        assert_eq!(machine.read(engine, RingImr::OFFSET), expected);
    }
}
