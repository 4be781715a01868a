//! Commands without an effect in the model, commands with an effect outside of it, and commands
//! that the model refuses by name.

use crate::mi::*;
use genxml::core::Instruction;
use genxml::gen8::mi::MiRsControlResourceStreamerControl as Control;
use genxml_cases::packets;
use genxml_sim::machine::device::Interrupt;
use genxml_sim::{Event, Now};

fn run(
    model: &mut Model,
    engine: EngineId,
    batch: &[u32],
) -> Result<genxml_sim::Stats, genxml_sim::Fault> {
    model.submit(engine, batch)
}

fn without_effect<I: Instruction>(engines: &[EngineId], packet: &I) {
    for engine in EngineId::ALL {
        let mut model = model();
        let mut batch = Vec::new();
        genxml_cases::push(&mut batch, packet);
        match run(&mut model, engine, &batch) {
            Ok(stats) => {
                assert!(engines.contains(&engine), "{engine} has no {}", I::NAME);
                assert_eq!(stats.without_effect, 1, "{engine} {}", I::NAME);
            }
            Err(fault) => assert!(!engines.contains(&engine), "{fault}"),
        }
        assert_eq!(model.get(DATA, 16), [0; 16]);
    }
}

#[test]
fn commands_without_effect() {
    let all = &EngineId::ALL;
    let render = &[EngineId::Render];
    without_effect(all, &MiSuspendFlush { suspend_flush: true });
    without_effect(all, &MiSetAppid { protected_memory_application_id: u(3) });
    without_effect(all, &MiFlush::new());
    without_effect(&[EngineId::Render, EngineId::Blitter], &MiWaitForEvent::new());
    without_effect(render, &MiLoadScanLinesIncl::new());
    without_effect(render, &MiLoadScanLinesExcl::new());
    let lines = [u(1)];
    let flush = MiClflush {
        page_base_address: at(DATA),
        dw_representing_a_half_cache_line: (&lines).into(),
        ..MiClflush::new()
    };
    without_effect(render, &flush);
}

/// Arbitration points have no effect. Interrupts are reported and counted.
#[test]
fn interrupts() {
    for engine in EngineId::ALL {
        let mut model = model();
        let batch = packets![
            MiArbOnOff { arbitration_enable: false },
            MiArbCheck::new(),
            MiArbOnOff { arbitration_enable: true },
            MiUserInterrupt::new()
        ];
        let mut told = Vec::new();
        let mut observer = |_: Now, event: &Event<'_>| {
            if let Event::Interrupt { engine, why } = event {
                told.push((*engine, *why));
            }
        };
        let stats = model.submit_observed(engine, &batch, &mut observer).unwrap();
        assert_eq!(stats.interrupts, 1);
        assert_eq!(told, [(engine, Interrupt::User)]);
    }
}

/// MI_DISPLAY_FLIP: the listener gets the address of the displayed buffer.
#[test]
fn display_flip() {
    for engine in [EngineId::Render, EngineId::Blitter] {
        let mut model = model();
        let flip = MiDisplayFlip {
            display_plane_select: MiDisplayFlipDisplayPlaneSelect::PIPE_B_PRIMARY,
            display_buffer_pitch_64b_units: u(100),
            display_buffer_base_address: at(0x12_3000),
            ..MiDisplayFlip::new()
        };
        let mut told = Vec::new();
        let mut observer = |_: Now, event: &Event<'_>| {
            if let Event::Flip { plane, address, pitch } = event {
                told.push((*plane, *address, *pitch));
            }
        };
        model.submit_observed(engine, &packets![flip], &mut observer).unwrap();
        assert_eq!(told, [(MiDisplayFlipDisplayPlaneSelect::PIPE_B_PRIMARY, 0x12_3000, 6400)]);
    }
}

/// Core Mode Enable offsets addresses by the number of the core, which is 0 with one slice: the
/// same memory with and without the bit.
#[test]
fn core_mode() {
    let data = [u(0x1234)];
    let run = |enable: bool| {
        let mut model = model();
        let store = MiStoreDataImm {
            core_mode_enable: enable,
            data_dword: data[..].into(),
            ..MiStoreDataImm::new(at(DATA + 8))
        };
        let streamer = MiRsStoreDataImm {
            core_mode_enable: enable,
            destination_address: at(DATA + 16),
            data_dword_0: u(7),
        };
        let report = MiReportPerfCount {
            core_mode_enable: enable,
            memory_address: at(DATA + 64),
            report_id: u(0xdead_beef),
            ..MiReportPerfCount::new()
        };
        let start = MiRsControl { resource_streamer_control: Control::START };
        model.render(&packets![start, store, streamer, report]).unwrap();
        model.get(DATA, 128)
    };
    let memory = run(true);
    assert_eq!((memory[2], memory[4], memory[16]), (0x1234, 7, 0xdead_beef));
    assert_eq!(memory, run(false));
}

/// Commands that the model does not implement cause a fault with their name.
#[test]
fn left_out() {
    fn refused<I: Instruction>(packet: &I) {
        let mut model = model();
        let mut batch = Vec::new();
        genxml_cases::push(&mut batch, packet);
        let fault = model.render(&batch).unwrap_err();
        assert!(fault.to_string().contains(I::NAME), "{fault}");
        assert!(matches!(fault, genxml_sim::Fault::Unimplemented { .. }), "{fault}");
    }
    refused(&MiSemaphoreSignal {
        target_engine_select: MiSemaphoreSignalTargetEngineSelect::VCS1,
        ..MiSemaphoreSignal::new()
    });
    // MI_SET_CONTEXT is only valid in a ring.
    assert!(model().render(&packets![MiSetContext::new()]).is_err());
}

/// State for later draws is latched unchanged.
#[test]
fn kept_for_draws() {
    let mut model = model();
    let filter = MiTopologyFilter::new();
    let alloc = MiUrbAtomicAlloc { urb_atomic_storage_offset: u(3), urb_atomic_storage_size: u(4) };
    model.render(&packets![filter, alloc]).unwrap();
    let latched = &model.gpu.context(model.context).state.latched;
    assert_eq!(latched.get::<MiTopologyFilter>(0), Some(&filter.pack()[..]));
    assert_eq!(latched.get::<MiUrbAtomicAlloc>(0), Some(&alloc.pack()[..]));
}
