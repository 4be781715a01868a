//! Execution lists: events, images, switches.

use crate::engines::machine::*;
use crate::engines::*;
use genxml::core::{MinusOne, U64};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::gen8::engine_registers::*;
use genxml::gen8::media::GpgpuWalker;
use genxml::gen8::memory::ContextDescriptorFormatAddressingModeLegacyContext as Addressing;
use genxml::gen8::structures::ContextStatus;
use genxml_cases::packets;
use genxml_sim::gpu::Progress;
use genxml_sim::inspect::sanitize::Sanitizers;

const WIDE: Addressing = Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT;
const NARROW: Addressing = Addressing::LEGACY_CONTEXT_WITH_NO_64_BIT_VA_SUPPORT;

fn started() -> ContextStatus {
    ContextStatus { idle_to_active: true, ..ContextStatus::new() }
}

/// Returns `status` with the number of the context.
fn of(context: &Logical, status: ContextStatus) -> ContextStatus {
    ContextStatus { context_id: U::new(context.number.into()).unwrap(), ..status }
}

fn complete() -> ContextStatus {
    ContextStatus { context_complete: true, ..ContextStatus::new() }
}

/// Each engine, with both kinds of page tables. The ring starts a batch, which writes memory. At
/// the end the head in the image equals the tail, the engine is idle, and two events were reported:
/// the list started; the context is complete and the engine became idle.
#[test]
fn one_context() {
    for engine in EngineId::ALL {
        for addressing in [WIDE, NARROW] {
            let mut machine = Machine::new();
            let mut read = 5;
            machine.write(engine, RingContextStatusPtr::OFFSET, 0x0007_0005);
            let mut context = machine.context(engine, 1, addressing);
            machine.batch(&context, 0x80, &packets![store(1, &[u(7)])]);
            machine.ring(&mut context, &packets![start(0x80), store(2, &[u(8)])]);
            machine.submit(&[&context]).unwrap();
            let status = |machine: &Machine| {
                RingExeclistStatusLo::unpack_lossy(&[
                    machine.read(engine, RingExeclistStatusLo::OFFSET)
                ])
            };
            assert!(status(&machine).execlist_0_valid);
            assert_eq!(machine.read(engine, RingExeclistStatusHi::OFFSET), context.number);
            let stats = machine.gpu.run().unwrap();
            assert_eq!((machine.data(1), machine.data(2)), (7, 8), "{engine} {addressing:?}");
            // At least four packets: START, the SDI and END of the batch, and the SDI of the ring.
            assert!(stats.packets >= 4);
            assert_eq!(machine.image(&context, 5), context.tail as u32, "RING_HEAD");
            assert!(!status(&machine).execlist_0_valid && machine.gpu.is_idle(engine));
            let done = ContextStatus { active_to_idle: true, ..of(&context, complete()) };
            assert_eq!(machine.events(engine, &mut read), [started(), done]);
            // Submit a second request in the same ring.
            machine.ring(&mut context, &packets![store(3, &[u(9)])]);
            machine.submit(&[&context]).unwrap();
            machine.gpu.run().unwrap();
            assert_eq!(machine.data(3), 9);
            assert_eq!(machine.events(engine, &mut read), [started(), done]);
        }
    }
}

/// The status buffer has six entries. After reset the first event goes to entry 0.
#[test]
fn events_go_round() {
    let mut machine = Machine::new();
    let mut context = machine.context(EngineId::Blitter, 1, WIDE);
    for round in 0..7 {
        machine.ring(&mut context, &packets![store(0, &[u(round)])]);
        machine.submit(&[&context]).unwrap();
        machine.gpu.run().unwrap();
        let pointer = machine.read(EngineId::Blitter, RingContextStatusPtr::OFFSET);
        let pointer = RingContextStatusPtr::unpack_lossy(&[pointer]);
        assert_eq!(pointer.write_pointer.get(), (2 * round + 1) % 6);
    }
}

/// Both elements of a list run in order, with an element switch between them. Each context has its
/// own registers.
#[test]
fn two_contexts() {
    let mut machine = Machine::new();
    let mut read = 5;
    machine.write(EngineId::Render, RingContextStatusPtr::OFFSET, 0x0007_0005);
    let gpr = base(EngineId::Render) + CsGpr::OFFSET;
    let mut one = machine.context(EngineId::Render, 1, WIDE);
    let mut two = machine.context(EngineId::Render, 1, WIDE);
    machine.ring(&mut one, &packets![load(&[register(gpr, 11)])]);
    machine.ring(&mut two, &packets![save(gpr, 0), load(&[register(gpr, 22)])]);
    machine.submit(&[&one, &two]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(0), 0, "the first context's register is not the second one's");
    let switched = ContextStatus { element_switch: true, ..of(&one, complete()) };
    let done = ContextStatus { active_to_idle: true, ..of(&two, complete()) };
    assert_eq!(machine.events(EngineId::Render, &mut read), [started(), switched, done]);
    // After a restore, each context has its own value.
    machine.ring(&mut one, &packets![save(gpr, 1)]);
    machine.ring(&mut two, &packets![save(gpr, 2)]);
    machine.submit(&[&two, &one]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!((machine.data(1), machine.data(2)), (11, 22));
}

/// Restore Inhibit: the context starts without state. After the first save there is state to
/// restore.
#[test]
fn restore_inhibit() {
    let mut machine = Machine::new();
    let gpr = base(EngineId::Video) + CsGpr::OFFSET;
    let mut context = machine.context(EngineId::Video, 1, WIDE);
    machine.ring(&mut context, &packets![load(&[register(gpr, 5)])]);
    machine.submit(&[&context]).unwrap();
    machine.gpu.run().unwrap();
    let control = machine.image(&context, 3);
    assert_eq!(control, 0x0009_0008, "the image has state to restore now");
    machine.ring(&mut context, &packets![save(gpr, 0)]);
    machine.submit(&[&context]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(0), 5);
    machine.gpu.global().write_u32(context.lrca() + 4096 + 12, 0x0009_0009).unwrap();
    machine.set_data(0, 99);
    machine.ring(&mut context, &packets![save(gpr, 0)]);
    machine.submit(&[&context]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(0), 0);
}

/// The sanitizer `state`: a context that starts without state has not set what a walker uses. A
/// context that is restored from an image has state of the hardware.
#[test]
fn restored_state_counts_as_set() {
    for (control, reported) in [(0x0009_0009, true), (0x0009_0008, false)] {
        let mut machine = Machine::new();
        let mut context = machine.context(EngineId::Render, 1, WIDE);
        machine.gpu.global().write_u32(context.lrca() + 4096 + 12, control).unwrap();
        machine.ring(&mut context, &packets![GpgpuWalker::new()]);
        machine.submit(&[&context]).unwrap();
        let mut sanitizers = Sanitizers::new(["state"], Generation::Gen8).unwrap();
        machine.gpu.run_observed(&mut sanitizers).unwrap_err();
        assert_eq!(sanitizers.findings().next().is_some(), reported, "{control:#x}");
    }
}

/// Save Inhibit: the context's changes to its state are lost at the switch.
#[test]
fn save_inhibit() {
    let mut machine = Machine::new();
    let gpr = base(EngineId::Render) + CsGpr::OFFSET;
    let mut context = machine.context(EngineId::Render, 1, WIDE);
    for (control, value) in [(0x0009_0009, 5), (0x000d_000c, 6)] {
        machine.gpu.global().write_u32(context.lrca() + 4096 + 12, control).unwrap();
        machine.ring(&mut context, &packets![load(&[register(gpr, value)])]);
        machine.submit(&[&context]).unwrap();
        machine.gpu.run().unwrap();
    }
    machine.ring(&mut context, &packets![save(gpr, 0)]);
    machine.submit(&[&context]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(0), 5);
}

/// Submitting a running context again with a new tail does not switch contexts. It adds one event
/// (lite restore), and the context continues.
#[test]
fn lite_restore() {
    let mut machine = Machine::new();
    let mut read = 5;
    let engine = EngineId::Blitter;
    machine.write(engine, RingContextStatusPtr::OFFSET, 0x0007_0005);
    let mut context = machine.context(engine, 1, WIDE);
    machine.ring(&mut context, &packets![wait(0, 1), store(1, &[u(1)])]);
    machine.submit(&[&context]).unwrap();
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    machine.ring(&mut context, &packets![store(2, &[u(2)])]);
    machine.submit(&[&context]).unwrap();
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    machine.set_data(0, 1);
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Idle);
    assert_eq!((machine.data(1), machine.data(2)), (1, 2));
    let lite = ContextStatus { preempted: true, lite_restore: true, ..ContextStatus::new() };
    let done = ContextStatus { active_to_idle: true, ..complete() };
    assert_eq!(
        machine.events(engine, &mut read),
        [started(), of(&context, lite), of(&context, done)]
    );
}

/// A context that waits within a batch is preempted by another list. When it is submitted again, it
/// continues at the same position. With arbitration disabled it is not preempted.
#[test]
fn preemption() {
    for arbitration in [true, false] {
        let mut machine = Machine::new();
        let mut read = 5;
        let engine = EngineId::Render;
        machine.write(engine, RingContextStatusPtr::OFFSET, 0x0007_0005);
        let gpr = base(engine) + CsGpr::OFFSET;
        let mut one = machine.context(engine, 1, WIDE);
        let mut two = machine.context(engine, 1, WIDE);
        let off = MiArbOnOff { arbitration_enable: arbitration };
        machine.batch(&one, 0, &packets![load(&[register(gpr, 3)]), off, wait(0, 1), save(gpr, 1)]);
        machine.ring(&mut one, &packets![start(0), store(2, &[u(2)])]);
        machine.ring(&mut two, &packets![load(&[register(gpr, 4)]), store(0, &[u(1)])]);
        machine.submit(&[&one]).unwrap();
        assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
        machine.submit(&[&two]).unwrap();
        if !arbitration {
            assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
            assert_eq!(machine.events(engine, &mut read), [started()]);
            continue;
        }
        machine.gpu.run().unwrap();
        assert_eq!((machine.data(0), machine.data(1), machine.data(2)), (1, 0, 0));
        let preempted = ContextStatus { preempted: true, ..ContextStatus::new() };
        let done = ContextStatus { active_to_idle: true, ..complete() };
        assert_eq!(
            machine.events(engine, &mut read),
            [started(), of(&one, preempted), of(&two, done)]
        );
        machine.submit(&[&one]).unwrap();
        machine.gpu.run().unwrap();
        assert_eq!((machine.data(1), machine.data(2)), (3, 2), "its own register and position");
        assert_eq!(machine.events(engine, &mut read), [started(), of(&one, done)]);
    }
}

/// MI_ARB_CHECK in a ring is a point at which a context can be preempted.
#[test]
fn preemption_at_arb_check() {
    let mut machine = Machine::new();
    let engine = EngineId::VideoEnhance;
    let mut one = machine.context(engine, 1, WIDE);
    let mut two = machine.context(engine, 1, WIDE);
    machine.ring(&mut one, &packets![wait(0, 1), MiArbCheck::new(), save(base(engine) + 0x358, 1)]);
    machine.ring(&mut two, &packets![store(2, &[u(2)])]);
    machine.submit(&[&one]).unwrap();
    machine.gpu.advance().unwrap();
    machine.submit(&[&two]).unwrap();
    machine.set_data(0, 1);
    machine.gpu.run().unwrap();
    assert_eq!((machine.data(1), machine.data(2)), (0, 2), "the first context has made room");
    machine.submit(&[&one]).unwrap();
    machine.gpu.run().unwrap();
    assert_ne!(machine.data(1), 0);
}

/// Without Inhibit Synchronous Context Switch, a semaphore that does not pass ends the turn of the
/// list element. The second element runs. The status page of the first context holds the command
/// (2d p.305), and after a resubmission this context continues at it.
#[test]
fn semaphores_switch_contexts() {
    let mut machine = Machine::new();
    let mut read = 5;
    let engine = EngineId::Render;
    machine.write(engine, RingContextStatusPtr::OFFSET, 0x0007_0005);
    let mut one = machine.context(engine, 1, WIDE);
    let mut two = machine.context(engine, 1, WIDE);
    machine.gpu.global().write_u32(one.lrca() + 4096 + 12, 0x0009_0001).unwrap();
    let semaphore = wait(0, 1);
    machine.ring(&mut one, &packets![semaphore, store(1, &[u(1)])]);
    machine.ring(&mut two, &packets![store(0, &[u(1)])]);
    machine.submit(&[&one, &two]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!((machine.data(0), machine.data(1)), (1, 0));
    let waiting = ContextStatus {
        wait_on_semaphore: true,
        semaphore_wait_mode: genxml::gen8::structures::ContextStatusSemaphoreWaitMode::POLL_MODE,
        element_switch: true,
        ..ContextStatus::new()
    };
    let done = ContextStatus { active_to_idle: true, ..complete() };
    assert_eq!(machine.events(engine, &mut read), [started(), of(&one, waiting), of(&two, done)]);
    let command: [u32; 4] = std::array::from_fn(|dword| {
        machine.gpu.global().read_u32(one.lrca() + 96 + 4 * dword as u64).unwrap()
    });
    assert_eq!(command, semaphore.pack());
    machine.submit(&[&one]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(1), 1);
}

/// Invalid lists: an empty first element, a third list while two are valid, and an addressing mode
/// that the model does not support.
#[test]
fn impossible_lists() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    assert!(machine.submit_descriptors(engine, &[]).is_err());
    let contexts: Vec<_> = (0..3)
        .map(|_| {
            let mut context = machine.context(engine, 1, WIDE);
            machine.ring(&mut context, &packets![store(0, &[u(1)])]);
            context
        })
        .collect();
    machine.submit(&[&contexts[0]]).unwrap();
    machine.submit(&[&contexts[1]]).unwrap();
    assert!(machine.submit(&[&contexts[2]]).unwrap_err().to_string().contains("both lists"));
    let advanced = genxml::gen8::memory::ContextDescriptorFormat {
        addressing_mode_legacy_context: Addressing::ADVANCED_CONTEXT_WITH_NO_A_D_SUPPORT,
        ..contexts[2].descriptor()
    };
    machine.gpu.run().unwrap();
    machine.submit_descriptors(engine, &[advanced]).unwrap();
    assert!(machine.gpu.run().unwrap_err().to_string().contains("shared virtual memory"));
}

/// Without Privilege Access a legacy context has no page tables: all accesses go through the global
/// table.
#[test]
fn contexts_without_page_tables() {
    let mut machine = Machine::new();
    let mut context = machine.context(EngineId::Blitter, 1, WIDE);
    machine.map_global(DATA, 4096);
    machine.ring(&mut context, &packets![store(3, &[u(4)])]);
    let descriptor = genxml::gen8::memory::ContextDescriptorFormat {
        privilege_access: false,
        ..context.descriptor()
    };
    machine.submit_descriptors(EngineId::Blitter, &[descriptor]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(3), 0);
    assert_eq!(machine.gpu.global().read_u32(DATA + 12).unwrap(), 4);
}

/// Properties of the files of Mesa's AUB writer (gen8_facts 1.5): the ring control holds an
/// address, the low bits of the descriptor contain an engine number, and images of the first video
/// engine name registers of the second one.
#[test]
fn quirks_of_aub_files() {
    for (engine, number, registers) in [
        (EngineId::Render, 1, 0x2000),
        (EngineId::Blitter, 2, 0x22000),
        (EngineId::Video, 3, 0x1c000),
    ] {
        let mut machine = Machine::new();
        let mut context = machine.context(engine, 1, WIDE);
        machine.batch(&context, 0, &packets![store(1, &[u(7)])]);
        let roots = {
            let read = |machine: &mut Machine, index| u64::from(machine.image(&context, index));
            [read(&mut machine, 49) << 32 | read(&mut machine, 51), 0, 0, 0]
        };
        let first = machine.first_image(&context, roots);
        let image = Image { ring_control: (context.ring as u32 - 4096) | 1, ..first };
        machine.put_image(&context, &image, registers);
        machine.ring(&mut context, &packets![start(0)]);
        let [low, high] = context.descriptor().pack();
        let descriptor = [(low & !0xfff) | 0x339 | number, high];
        for value in [0, 0, descriptor[1], descriptor[0]] {
            machine.write(engine, RingElsp::OFFSET, value);
        }
        machine.gpu.run().unwrap();
        assert_eq!(machine.data(1), 7, "{engine}");
        assert_eq!(machine.read(engine, RingExeclistStatusLo::OFFSET) & 0x10, 0);
    }
}

/// The commands that Linux i915 puts around a batch (gen8_facts 1.4): they write progress to the
/// status pages through global addresses, and send an interrupt.
#[test]
fn a_request_of_the_kernel() {
    use genxml::gen8::display_registers::{Gen8GtIir0, GtInterrupts0};
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let mut context = machine.context(engine, 1, WIDE);
    machine.batch(&context, 0, &packets![store(1, &[u(7)])]);
    let number = [u(0x1234)];
    let sequence = MiStoreDataImm {
        use_global_gtt: true,
        data_dword: (&number).into(),
        ..MiStoreDataImm::new(at(context.lrca() + 0x100))
    };
    let scratch = PipeControl {
        command_streamer_stall_enable: true,
        tlb_invalidate: true,
        store_data_index: true,
        post_sync_operation: PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA,
        address: at(0xd0),
        immediate_data: U64::from_bits(0x55),
        ..PipeControl::new()
    };
    let done = PipeControl {
        command_streamer_stall_enable: true,
        destination_address_type: PipeControlDestinationAddressType::GGTT,
        post_sync_operation: PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA,
        address: at(context.lrca() + 0x108),
        immediate_data: U64::from_bits(0x1235),
        ..PipeControl::new()
    };
    machine.ring(
        &mut context,
        &packets![
            scratch,
            sequence,
            MiNoop::new(),
            MiArbCheck::new(),
            MiArbOnOff { arbitration_enable: true },
            start(0),
            MiArbOnOff { arbitration_enable: false },
            done,
            MiUserInterrupt::new(),
            MiArbOnOff { arbitration_enable: true },
        ],
    );
    machine.submit(&[&context]).unwrap();
    let stats = machine.gpu.run().unwrap();
    assert_eq!((stats.interrupts, stats.violations), (1, 0));
    let page = context.lrca();
    let dword = |machine: &mut Machine, at| machine.gpu.global().read_u32(page + at).unwrap();
    assert_eq!(dword(&mut machine, 0xd0), 0x55);
    assert_eq!((dword(&mut machine, 0x100), dword(&mut machine, 0x108)), (0x1234, 0x1235));
    assert_eq!(machine.data(1), 7);
    let interrupts = GtInterrupts0::unpack_lossy(&[machine.gpu.mmio_read(Gen8GtIir0::OFFSET)]);
    assert!(
        interrupts.render_command_parser_user_interrupt
            && interrupts.render_context_switch_interrupt
    );
    assert!(!interrupts.blitter_context_switch_interrupt);
    // Writing ones clears the bits.
    machine.gpu.mmio_write(Gen8GtIir0::OFFSET, 1).unwrap();
    let interrupts = GtInterrupts0::unpack_lossy(&[machine.gpu.mmio_read(Gen8GtIir0::OFFSET)]);
    assert!(
        !interrupts.render_command_parser_user_interrupt
            && interrupts.render_context_switch_interrupt
    );
}

/// Batches that run at each restore: first the commands of INDIRECT_CTX, whose size counts cache
/// lines, then the batch of BB_PER_CTX_PTR. Both are read through the global table.
#[test]
fn batches_of_a_restore() {
    let mut machine = Machine::new();
    let mut context = machine.context(EngineId::Render, 1, WIDE);
    machine.map_global(0x80_0000, 0x2000);
    let add = |dword: u64| MiAtomic {
        data_size: MiAtomicDataSize::DWORD,
        atomic_opcode: MiAtomicAtomicOpcode::ATOMIC_4B_INCREMENT,
        memory_address: at(DATA + 4 * dword),
        ..MiAtomic::new()
    };
    let mut indirect = packets![add(0), save(0x2034, 4)];
    indirect.resize(16, 0);
    let per_context = packets![add(1), MiBatchBufferEnd::new()];
    machine.gpu.global().write(0x80_0000, bytemuck::cast_slice(&indirect)).unwrap();
    machine.gpu.global().write(0x80_1000, bytemuck::cast_slice(&per_context)).unwrap();
    let [pointer] = RingBbPerCtxPtr {
        per_ctx_bb_valid: true,
        batch_address: at(0x80_1000),
        ..RingBbPerCtxPtr::new()
    }
    .pack();
    let [commands] =
        RingIndirectCtx { indirect_context_size: u(1), indirect_context_address: at(0x80_0000) }
            .pack();
    for (index, value) in [(25, pointer), (27, commands)] {
        machine.gpu.global().write_u32(context.lrca() + 4096 + 4 * index, value).unwrap();
    }
    for round in 1..=2 {
        machine.ring(&mut context, &packets![store(2, &[u(round)])]);
        machine.submit(&[&context]).unwrap();
        machine.gpu.run().unwrap();
        assert_eq!(
            (machine.data(0), machine.data(1), machine.data(2)),
            (round as u32, round as u32, round as u32)
        );
    }
}

/// A packet crosses the end of a ring of two pages. It continues at the start, and the wrap is
/// counted.
#[test]
fn rings_wrap() {
    let mut machine = Machine::new();
    let engine = EngineId::Video;
    let mut context = machine.context(engine, 2, WIDE);
    assert_eq!(MinusOne::<9>::new(2).unwrap().get(), 2);
    let mut executed = 0;
    while executed < 5000 {
        let commands: Vec<u32> = std::iter::repeat_n(
            packets![MiNoop::new(), store(0, &[u(executed)]), MiNoop::new()],
            30,
        )
        .flatten()
        .collect();
        machine.ring(&mut context, &commands);
        machine.submit(&[&context]).unwrap();
        machine.gpu.run().unwrap();
        assert_eq!(machine.data(0), executed as u32);
        executed += 90;
    }
    let head = RingHead::unpack_lossy(&[machine.image(&context, 5)]);
    assert_eq!(head.head_addr.get(), context.tail);
    let bytes = 56 * 30 * 24;
    assert_eq!(head.head_wrap_count.get(), bytes / 8192);
    assert_eq!(context.tail, bytes % 8192);
}

/// Each submission may do as much work as the limit permits, even if its context is already
/// running.
#[test]
fn lite_restores_have_budgets() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let mut context = machine.context(engine, 2, WIDE);
    // 500 packets are about 16,500 units (sim/src/watchdog.rs).
    machine.gpu.set_work_limit(40_000);
    for round in 1..=10 {
        let mut commands = vec![0; 500];
        commands.extend(packets![wait(0, round)]);
        machine.ring(&mut context, &commands);
        machine.submit(&[&context]).unwrap();
        machine.set_data(0, round as u32 - 1);
        assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    }
    machine.set_data(0, 10);
    machine.gpu.run().unwrap();
    let lrca = context.lrca() as u32;
    assert_eq!(machine.gpu.context_at(engine, lrca), machine.gpu.context_on(engine));
}
