//! Commands without an effect in the model, commands with an effect outside of it, and commands
//! that the model refuses by name.

use crate::mi::*;
use genxml::core::Instruction;
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
    without_effect(render, &MiUrbClear::new());
    without_effect(render, &MiLoadUrbMem { memory_address: at(DATA), ..MiLoadUrbMem::new() });
    without_effect(render, &MiStoreUrbMem { memory_address: at(DATA), ..MiStoreUrbMem::new() });
    without_effect(render, &MiRsControl::new());
    without_effect(render, &MiRsContext::new());
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

/// MI_RS_STORE_DATA_IMM of the resource streamer is executed in order.
#[test]
fn resource_streamer() {
    let mut model = model();
    let store = MiRsStoreDataImm {
        destination_address: at(DATA + 4),
        data_dword_0: u(7),
        ..MiRsStoreDataImm::new()
    };
    model.render(&packets![store]).unwrap();
    assert_eq!(model.get(DATA, 3), [0, 7, 0]);
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
