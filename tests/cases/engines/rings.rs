//! Rings without execution lists, and the registers as the host sees them.

use crate::engines::machine::*;
use crate::engines::*;
use genxml::core::{MinusOne, Shifted};
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::*;
use genxml::gen8::memory::ContextDescriptorFormatAddressingModeLegacyContext as Addressing;
use genxml::gen8::registers::{CsInvocationCount, Instpm, VsInvocationCount};
use genxml_cases::packets;

const RING: u64 = 0x70_0000;

/// Disables execution lists and enables per-process page tables, with a ring of one page.
fn ring(machine: &mut Machine, engine: EngineId) -> Logical {
    let context = machine.context(engine, 1, Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT);
    machine.map_global(RING, 4096);
    let root =
        u64::from(machine.image(&context, 49)) << 32 | u64::from(machine.image(&context, 51));
    machine.write(engine, RingPdp::OFFSET, root as u32);
    machine.write(engine, RingPdp::OFFSET + 4, (root >> 32) as u32);
    let mode = RingModeGen7 {
        mask: u(1 << 15 | 1 << 9 | 1 << 7),
        gfx_run_list_enable: false,
        gfx_ppgtt_enable: true,
        gen8_gfx_ppgtt_48b: true,
        ..RingModeGen7::new()
    };
    machine.write(engine, RingModeGen7::OFFSET, mode.pack()[0]);
    let control =
        RingCtl { ring_valid: true, ring_nr_pages: MinusOne::new(1).unwrap(), ..RingCtl::new() };
    machine.write(engine, RingStart::OFFSET, RING as u32);
    machine.write(engine, RingHead::OFFSET, 0);
    machine.write(engine, RingTail::OFFSET, 0);
    machine.write(engine, RingCtl::OFFSET, control.pack()[0]);
    context
}

/// Appends commands and moves the tail.
fn append(machine: &mut Machine, engine: EngineId, tail: &mut u64, commands: &[u32]) {
    for dword in commands {
        machine.gpu.global().write_u32(RING + *tail, *dword).unwrap();
        *tail = (*tail + 4) % 4096;
    }
    machine.write(
        engine,
        RingTail::OFFSET,
        RingTail { tail_addr: Shifted::new(*tail).unwrap() }.pack()[0],
    );
}

/// Each engine: commands run when the tail moves, the ring wraps at its end, and the head follows.
#[test]
fn tail_moves() {
    for engine in EngineId::ALL {
        let mut machine = Machine::new();
        let context = ring(&mut machine, engine);
        machine.batch(&context, 0, &packets![store(2, &[u(5)])]);
        let mut tail = 0;
        for round in 0..300 {
            append(
                &mut machine,
                engine,
                &mut tail,
                &packets![store(1, &[u(round)]), start(0), MiNoop::new()],
            );
            assert!(!machine.gpu.is_idle(engine));
            machine.gpu.run().unwrap();
            assert_eq!((machine.data(1), machine.data(2)), (round as u32, 5), "{engine}");
            let head = RingHead::unpack_lossy(&[machine.read(engine, RingHead::OFFSET)]);
            assert_eq!(
                (head.head_addr.get(), head.head_wrap_count.get()),
                (tail, 32 * (round + 1) / 4096)
            );
        }
        let mode = RingMiMode::unpack_lossy(&[machine.read(engine, RingMiMode::OFFSET)]);
        assert!(mode.mode_idle);
    }
}

/// A stopped ring executes nothing until it is started again.
#[test]
fn stopped_rings() {
    let mut machine = Machine::new();
    let engine = EngineId::Blitter;
    ring(&mut machine, engine);
    let mut tail = 0;
    machine.write(engine, RingMiMode::OFFSET, 0x0100_0100);
    append(&mut machine, engine, &mut tail, &packets![store(1, &[u(5)])]);
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(1), 0);
    machine.write(engine, RingMiMode::OFFSET, 0x0100_0000);
    machine.gpu.run().unwrap();
    assert_eq!(machine.data(1), 5);
}

/// MI_REPORT_HEAD, MI_STORE_DATA_INDEX and the automatic report write to the engine's status page.
#[test]
fn status_page() {
    let mut machine = Machine::new();
    let engine = EngineId::VideoEnhance;
    ring(&mut machine, engine);
    let mut tail = 0;
    let data = [u(1), u(2)];
    let index = MiStoreDataIndex {
        offset: Shifted::new(0xc0).unwrap(),
        data_dword: (&data).into(),
        ..MiStoreDataIndex::new()
    };
    append(&mut machine, engine, &mut tail, &packets![MiNoop::new(), MiReportHead::new(), index]);
    machine.gpu.run().unwrap();
    let page = machine.status(engine);
    let dword = |machine: &mut Machine, at| machine.gpu.global().read_u32(page + at).unwrap();
    assert_eq!((dword(&mut machine, 0xc0), dword(&mut machine, 0xc4)), (1, 2));
    // The head at the time when the command was executed: the address of the command itself.
    assert_eq!(dword(&mut machine, 16), 4);
    let control = RingCtl {
        ring_valid: true,
        ring_nr_pages: MinusOne::new(1).unwrap(),
        ring_report: RingCtlRingReport::_4KB,
        ..RingCtl::new()
    };
    machine.write(engine, RingCtl::OFFSET, control.pack()[0]);
    append(&mut machine, engine, &mut tail, &[0; 1022]);
    machine.gpu.run().unwrap();
    let head = RingHead::unpack_lossy(&[dword(&mut machine, 16)]);
    assert_eq!((head.head_addr.get(), head.head_wrap_count.get()), (0, 1));
}

/// MI_SET_CONTEXT: each context of the ring has its own registers. With Restore Inhibit it starts
/// without state.
#[test]
fn contexts_of_a_ring() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    ring(&mut machine, engine);
    let gpr = base(engine) + CsGpr::OFFSET;
    let mut tail = 0;
    let context = |address: u64, inhibit: bool| MiSetContext {
        logical_context_address: at(address),
        restore_inhibit: inhibit,
        ..MiSetContext::new()
    };
    append(
        &mut machine,
        engine,
        &mut tail,
        &packets![
            context(0x1000, true),
            load(&[register(gpr, 1)]),
            context(0x2000, true),
            save(gpr, 0),
            load(&[register(gpr, 2)]),
            context(0x1000, false),
            save(gpr, 1),
            context(0x2000, false),
            save(gpr, 2),
            context(0x2000, true),
            save(gpr, 3),
        ],
    );
    machine.set_data(0, 99);
    machine.set_data(3, 99);
    machine.gpu.run().unwrap();
    assert_eq!([0, 1, 2, 3].map(|dword| machine.data(dword)), [0, 1, 2, 0]);
    let ccid = Ccid::unpack_lossy(&[machine.read(engine, Ccid::OFFSET)]);
    assert_eq!((ccid.logical_context_address.get(), ccid.ccid_en), (0x2000, true));
}

/// The model keeps the state of each context that MI_SET_CONTEXT names, up to a limit: a batch must
/// not fill the host's memory.
#[test]
fn too_many_contexts() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let context = ring(&mut machine, engine);
    let name = |index: u64| MiSetContext {
        logical_context_address: at(4096 * index),
        restore_inhibit: true,
        ..MiSetContext::new()
    };
    let batch: Vec<u32> = (1..=4097).flat_map(|index| packets![name(index)]).collect();
    machine.batch(&context, 0, &batch);
    append(&mut machine, engine, &mut 0, &packets![start(0), MiNoop::new()]);
    let fault = machine.gpu.run().unwrap_err();
    assert!(matches!(fault, genxml_sim::Fault::BadPacket { value: 0x100_1000, .. }), "{fault}");
    assert!(machine.gpu.is_idle(engine));
}

/// A ring that moves its own tail does not extend its work limit. Only writes by the host do.
#[test]
fn budgets_of_rings() {
    let mut machine = Machine::new();
    let engine = EngineId::VideoEnhance;
    ring(&mut machine, engine);
    machine.gpu.set_work_limit(100_000);
    let tail_to =
        |tail| packets![load(&[register(base(engine) + RingTail::OFFSET, tail)]), MiNoop::new()];
    // Two positions in the ring; the commands at each move the tail past the other one.
    let far = tail_to(16);
    machine.gpu.global().write(RING + 2048, bytemuck::cast_slice(&far)).unwrap();
    append(&mut machine, engine, &mut 0, &tail_to(2064));
    let fault = machine.gpu.run().unwrap_err();
    assert!(matches!(fault, genxml_sim::Fault::Hang { limit: 100_000, .. }), "{fault}");
    assert!(machine.gpu.is_idle(engine));
    machine.write(engine, RingHead::OFFSET, 16);
    let mut tail = 16;
    for round in 0..20 {
        // 500 packets are about 16,500 units (sim/src/watchdog.rs).
        let mut commands = vec![0; 500];
        commands.extend(packets![store(1, &[u(round)])]);
        append(&mut machine, engine, &mut tail, &commands);
        machine.gpu.run().unwrap();
        assert_eq!(machine.data(1), round as u32);
    }
}

/// Writes by the host: a register stores the value, only the bits that a mask enables, or nothing,
/// as the specification says.
#[test]
fn registers_of_the_host() {
    let mut machine = Machine::new();
    let engine = EngineId::Blitter;
    let gpu = &mut machine.gpu;
    for (offset, value, expected) in [
        (base(engine) + CsGpr::OFFSET + 4, 0xffff_ffff, 0xffff_ffff),
        // Masked registers: bits 31:16 of the value enable bits 15:0.
        (Instpm::OFFSET, 0x0040_0040, 0x40),
        (Instpm::OFFSET, 0x0000_0080, 0x40),
        (base(engine) + RingMiMode::OFFSET, 0x4000_4000, 0x4200),
        // Read-only registers, and a write-only register.
        (base(engine) + RingActhd::OFFSET, 7, 0),
        (base(engine) + RingExeclistStatusHi::OFFSET, 7, 0),
        (base(engine) + RingElsp::OFFSET, 7, 0),
        // The upper half of a 64-bit register.
        (VsInvocationCount::OFFSET + 4, 3, 3),
        // A register that is not in the specification.
        (0x2248, 5, 5),
    ] {
        gpu.mmio_write(offset, value).unwrap();
        assert_eq!(gpu.mmio_read(offset), expected, "{offset:#x}");
    }
    assert_eq!(gpu.mmio_read(0x3f_fffc), 0);
    assert!(gpu.mmio_write(0x1c230, 0).unwrap_err().to_string().contains("VCS2"));
}

/// TIMESTAMP advances only with work, and is the same for commands and the host. CTX_TIMESTAMP
/// counts the work of one context.
#[test]
fn clocks() {
    let mut machine = Machine::new();
    let engine = EngineId::Render;
    let wide = Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT;
    let mut one = machine.context(engine, 1, wide);
    let mut two = machine.context(engine, 1, wide);
    machine.ring(&mut one, &[0; 800]);
    machine.ring(&mut two, &packets![save(0x2358, 0)]);
    let before = machine.read(engine, RingTimestamp::OFFSET);
    assert_eq!(machine.read(engine, RingTimestamp::OFFSET), before);
    machine.submit(&[&one, &two]).unwrap();
    machine.gpu.run().unwrap();
    let after = machine.read(engine, RingTimestamp::OFFSET);
    assert!(before < machine.data(0) && machine.data(0) <= after);
    // CTX_TIMESTAMP in the images, and the run time in the status page (2d p.305).
    let (long, short) = (machine.image(&one, 35), machine.image(&two, 35));
    assert!(
        long > 100 * (short + 1) / 2 && long + short <= after - before + 2,
        "{long} {short} {before} {after}"
    );
    assert_eq!(machine.gpu.global().read_u32(one.lrca() + 64).unwrap(), long);
}

/// Global Snapshot Count Reset sets the statistics to 0.
#[test]
fn statistics_reset() {
    let mut machine = Machine::new();
    let context =
        machine.context(EngineId::Render, 1, Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT);
    let mut context = context;
    let reset = PipeControl {
        global_snapshot_count_reset: true,
        command_streamer_stall_enable: true,
        ..PipeControl::new()
    };
    machine.ring(
        &mut context,
        &packets![
            load(&[
                register(CsInvocationCount::OFFSET, 5),
                register(VsInvocationCount::OFFSET + 4, 6)
            ]),
            save(CsInvocationCount::OFFSET, 0),
            reset,
            save(CsInvocationCount::OFFSET, 1),
            save(VsInvocationCount::OFFSET + 4, 2),
        ],
    );
    machine.set_data(1, 9);
    machine.set_data(2, 9);
    machine.submit(&[&context]).unwrap();
    machine.gpu.run().unwrap();
    assert_eq!([0, 1, 2].map(|dword| machine.data(dword)), [5, 0, 0]);
}

/// The model records the flushes and invalidations of commands.
#[test]
fn coherence() {
    use genxml_sim::mem::coherence::Cache;
    let mut machine = Machine::new();
    let wide = Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT;
    let mut render = machine.context(EngineId::Render, 1, wide);
    let mut video = machine.context(EngineId::Video, 1, wide);
    let flush = PipeControl {
        render_target_cache_flush_enable: true,
        texture_cache_invalidation_enable: true,
        command_streamer_stall_enable: true,
        ..PipeControl::new()
    };
    let data = [u(0), u(0)];
    let video_flush = MiFlushDw {
        video_pipeline_cache_invalidate: true,
        immediate_data: (&data).into(),
        ..MiFlushDw::new()
    };
    machine.ring(&mut render, &packets![flush, flush]);
    machine.ring(&mut video, &packets![video_flush]);
    machine.submit(&[&render]).unwrap();
    machine.submit(&[&video]).unwrap();
    machine.gpu.run().unwrap();
    let record = machine.gpu.coherence();
    for cache in Cache::ALL {
        let render = (
            record.flushes(EngineId::Render, cache),
            record.invalidations(EngineId::Render, cache),
        );
        let video =
            (record.flushes(EngineId::Video, cache), record.invalidations(EngineId::Video, cache));
        let expected = match cache {
            Cache::RenderTarget => ((2, 0), (0, 0)),
            Cache::Texture => ((0, 2), (0, 0)),
            Cache::Pipeline => ((0, 0), (1, 0)),
            Cache::Video => ((0, 0), (0, 1)),
            _ => ((0, 0), (0, 0)),
        };
        assert_eq!((render, video), expected, "{cache:?}");
    }
}
