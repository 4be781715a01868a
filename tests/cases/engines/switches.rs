//! State that a switch of contexts saves, restores and leaves unchanged.

use crate::engines::machine::*;
use crate::engines::*;
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::*;
use genxml::gen8::memory::ContextDescriptorFormatAddressingModeLegacyContext as Addressing;
use genxml::gen8::structures::ContextStatus;
use genxml_cases::packets;
use genxml_sim::Fault;
use genxml_sim::gpu::Progress;

const WIDE: Addressing = Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT;
const ARBITRATION_OFF: MiArbOnOff = MiArbOnOff { arbitration_enable: false };

fn set_image(machine: &mut Machine, context: &Logical, dword: u64, value: u32) {
    machine.gpu.global().write_u32(context.lrca() + 4096 + 4 * dword, value).unwrap();
}

/// With Save Inhibit, the engine state is not saved to the image. The registers before it in the
/// image, which every context has (gen8_facts 1.4), are saved.
#[test]
fn save_inhibit_leaves_the_image_alone() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let gpr = base(engine) + CsGpr::OFFSET;
    let power = base(engine) + Gen8RPwrClkState::OFFSET;
    let mut context = machine.context(engine, 1, WIDE);
    for (index, dword) in packets![load(&[register(gpr, 77)])].into_iter().enumerate() {
        set_image(&mut machine, &context, 68 + index as u64, dword);
    }
    for (control, value, saved) in [(0x0009_0009, 5, 5), (0x000d_000c, 6, 5), (0x000d_0008, 7, 7)] {
        set_image(&mut machine, &context, 3, control);
        machine.ring(
            &mut context,
            &packets![
                save(gpr, 0),
                load(&[register(gpr, value), register(power, 0x8000_0000 | value)])
            ],
        );
        machine.submit(&[&context]).unwrap();
        machine.gpu.run().unwrap();
        assert_eq!(machine.image(&context, 70), saved, "{control:#x}");
        assert_eq!(machine.image(&context, 67), 0x8000_0000 | value, "{control:#x}");
        // The first run has Restore Inhibit. Later runs restore what was saved.
        assert_eq!(machine.data(0), if control & 1 != 0 { 0 } else { 5 }, "{control:#x}");
    }
}

/// A driver adds commands to a running context that is not the last of its list. It writes the new
/// tail into the image and submits another list. The switch does not overwrite the tail.
#[test]
fn a_tail_that_the_driver_moved() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let mut one = machine.context(engine, 1, WIDE);
    let mut two = machine.context(engine, 1, WIDE);
    machine.ring(&mut one, &packets![ARBITRATION_OFF, wait(0, 1), store(1, &[u(1)])]);
    machine.ring(&mut two, &packets![store(2, &[u(2)])]);
    machine.submit(&[&one, &two]).unwrap();
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    machine.ring(&mut one, &packets![store(3, &[u(3)])]);
    machine.submit(&[&one]).unwrap();
    machine.set_data(0, 1);
    machine.gpu.run().unwrap();
    assert_eq!([1, 2, 3].map(|dword| machine.data(dword)), [1, 2, 3]);
    assert_eq!(machine.image(&one, 7), one.tail as u32);
    assert_eq!(machine.image(&one, 5), one.tail as u32);
}

/// Page table roots that a command loads are saved with the context: no other copy exists.
#[test]
fn registers_that_commands_changed() {
    let mut machine = Machine::new();
    let engine = EngineId::Video;
    let mut context = machine.context(engine, 1, WIDE);
    let pdp = base(engine) + RingPdp::OFFSET + 8;
    machine.ring(&mut context, &packets![load(&[register(pdp, 0x5000)])]);
    machine.submit(&[&context]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.image(&context, 47), 0x5000);
}

/// A fault ends only the list in which it happened. The next list runs, and earlier writes to the
/// submission port remain valid.
#[test]
fn a_fault_costs_one_list() {
    let mut machine = Machine::new();
    let mut read = 5;
    let engine = EngineId::Blitter;
    machine.write(engine, RingContextStatusPtr::OFFSET, 0x0007_0005);
    let mut contexts = [(); 4].map(|()| machine.context(engine, 1, WIDE));
    let data = [u(1)];
    let lost =
        MiStoreDataImm { data_dword: (&data).into(), ..MiStoreDataImm::new(at(0x1234_5678_9000)) };
    machine.ring(&mut contexts[0], &packets![ARBITRATION_OFF, wait(0, 1), lost]);
    for (index, context) in contexts.iter_mut().enumerate().skip(1) {
        machine.ring(context, &packets![store(index as u64, &[u(index as u64)])]);
    }
    let [faulty, partner, next, last] = contexts;
    machine.submit(&[&faulty, &partner]).unwrap();
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    machine.submit(&[&next]).unwrap();
    let port = |machine: &mut Machine, value| machine.write(engine, RingElsp::OFFSET, value);
    port(&mut machine, 0);
    port(&mut machine, 0);
    machine.set_data(0, 1);
    assert!(matches!(machine.gpu.run(), Err(Fault::Page { .. })));
    assert_eq!(machine.read(engine, RingExeclistStatusHi::OFFSET), next.number);
    let [low, high] = last.descriptor().pack();
    port(&mut machine, high);
    port(&mut machine, low);
    machine.gpu.run().unwrap();
    assert_eq!([1, 2, 3].map(|dword| machine.data(dword)), [0, 2, 3]);
    let started = ContextStatus { idle_to_active: true, ..ContextStatus::new() };
    let done = |context: &Logical| ContextStatus {
        context_complete: true,
        active_to_idle: true,
        context_id: u(context.number.into()),
        ..ContextStatus::new()
    };
    assert_eq!(
        machine.events(engine, &mut read),
        [started, started, done(&next), started, done(&last)]
    );
}

/// The batches of a restore run at each restore, also if the context then continues within a batch.
/// If the context was switched out in one of them, all of them run again.
#[test]
fn batches_of_each_restore() {
    for within in [false, true] {
        let mut machine = Machine::new();
        let engine = EngineId::Render;
        let mut one = machine.context(engine, 1, WIDE);
        let mut two = machine.context(engine, 1, WIDE);
        machine.map_global(0x80_0000, 0x2000);
        let add = |dword: u64| MiAtomic {
            data_size: MiAtomicDataSize::DWORD,
            atomic_opcode: MiAtomicAtomicOpcode::ATOMIC_4B_INCREMENT,
            memory_address: at(DATA + 4 * dword),
            ..MiAtomic::new()
        };
        let mut indirect = packets![add(0)];
        indirect.resize(16, 0);
        let value = u64::from(!within);
        // The wait passes at once, or only after the other context has run.
        let per_context = packets![add(1), wait(9, 1 - value), add(2), MiBatchBufferEnd::new()];
        machine.gpu.global().write(0x80_0000, bytemuck::cast_slice(&indirect)).unwrap();
        machine.gpu.global().write(0x80_1000, bytemuck::cast_slice(&per_context)).unwrap();
        let pointer = RingBbPerCtxPtr {
            per_ctx_bb_valid: true,
            batch_address: at(0x80_1000),
            ..RingBbPerCtxPtr::new()
        };
        let commands = RingIndirectCtx {
            indirect_context_size: u(1),
            indirect_context_address: at(0x80_0000),
        };
        set_image(&mut machine, &one, 25, pointer.pack()[0]);
        set_image(&mut machine, &one, 27, commands.pack()[0]);
        // Permit switches at semaphores.
        set_image(&mut machine, &one, 3, 0x0009_0001);
        machine.batch(&one, 0, &packets![add(3), wait(8, 1), store(5, &[u(5)])]);
        machine.ring(&mut one, &packets![start(0), store(6, &[u(6)])]);
        machine.ring(&mut two, &packets![store(8, &[u(1)]), store(9, &[u(1 - value)])]);
        machine.submit(&[&one, &two]).unwrap();
        machine.gpu.run().unwrap();
        let counts = |machine: &Machine| [0, 1, 2, 3, 5, 6].map(|dword| machine.data(dword));
        let behind = u32::from(!within);
        assert_eq!(counts(&machine), [1, 1, behind, behind, 0, 0], "{within}");
        machine.submit(&[&one]).unwrap();
        machine.gpu.run().unwrap();
        assert_eq!(counts(&machine), [2, 2, 1 + behind, 1, 5, 6], "{within}");
    }
}

/// A failed resubmission of a running context changes nothing: the context continues. A descriptor
/// with another kind of page tables is not a resubmission.
#[test]
fn lite_restores_that_fail() {
    let mut machine = Machine::new();
    let engine = EngineId::Video;
    let mut context = machine.context(engine, 1, WIDE);
    machine.ring(&mut context, &packets![ARBITRATION_OFF, wait(0, 1), store(1, &[u(1)])]);
    machine.submit(&[&context]).unwrap();
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    let page = context.lrca() / 4096 + 1;
    let entry = machine.gpu.ggtt.global_entry(page);
    machine.gpu.ggtt.write_global_entry(page, 0).unwrap();
    assert!(matches!(machine.submit(&[&context]), Err(Fault::Page { .. })));
    machine.gpu.ggtt.write_global_entry(page, entry).unwrap();
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    let advanced = genxml::gen8::memory::ContextDescriptorFormat {
        addressing_mode_legacy_context: Addressing::ADVANCED_CONTEXT_WITH_NO_A_D_SUPPORT,
        ..context.descriptor()
    };
    machine.submit_descriptors(engine, &[advanced]).unwrap();
    machine.set_data(0, 1);
    let fault = machine.gpu.run().unwrap_err();
    assert_eq!(machine.data(1), 1);
    assert!(fault.to_string().contains("shared virtual memory"), "{fault}");
}

/// A batch that the host enqueued is not an element of a list. Lists wait for it, also at
/// MI_ARB_CHECK, and it uses its own page tables.
#[test]
fn batches_before_lists() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let id = machine.gpu.create_context().unwrap();
    let batch = packets![wait(0, 1), MiArbCheck::new(), store(1, &[u(1)]), MiBatchBufferEnd::new()];
    machine.gpu.load(id, BATCH, bytemuck::cast_slice(&batch)).unwrap();
    machine.gpu.load(id, DATA, &[0; 4096]).unwrap();
    machine.gpu.enqueue(id, engine, BATCH, 0);
    assert_eq!(machine.gpu.advance().unwrap(), Progress::Waiting);
    let mut one = machine.context(engine, 1, WIDE);
    let mut two = machine.context(engine, 1, WIDE);
    machine.ring(&mut one, &packets![store(2, &[u(2)])]);
    machine.submit(&[&one]).unwrap();
    machine.ring(&mut one, &packets![store(3, &[u(3)])]);
    machine.submit(&[&one]).unwrap();
    machine.ring(&mut two, &packets![store(4, &[u(4)])]);
    machine.submit(&[&two]).unwrap();
    machine.gpu.vm(id).write_u32(DATA, 1).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!(machine.gpu.vm(id).read_u32(DATA + 4).unwrap(), 1);
    assert_eq!([1, 2, 3, 4].map(|dword| machine.data(dword)), [0, 2, 3, 4]);
}
