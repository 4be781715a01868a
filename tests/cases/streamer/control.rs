//! When the streamer follows a batch, and its state in a context.

use crate::streamer::packets::{
    Gather, PS, Pick, VS, dx9_pool, edit, gather, gather_pool, pointers, table_pool,
};
use crate::streamer::{BUFFERS, GATHERED, TABLES, map, model, refused, run};
use genxml::gen8::mi::{
    MiBatchBufferEnd, MiBatchBufferStart, MiBatchBufferStartSecondLevelBatchBuffer as Level,
    MiRsContext, MiRsContextResourceStreamerSave as Save, MiRsControl,
    MiRsControlResourceStreamerControl as Control, MiRsStoreDataImm,
};
use genxml::gen8::render3d_binding::ThreeDStateBindingTablePoolAlloc;
use genxml::gen8::render3d_constants::{
    ThreeDStateDx9ConstantBufferPoolAlloc, ThreeDStateDx9ConstantfVs,
    ThreeDStateDx9GenerateActivePs, ThreeDStateDx9LocalValidPs, ThreeDStateGatherPoolAlloc,
};
use genxml_cases::{BATCH, Model, at, packets, u};
use genxml_sim::{ContextId, Fault};

/// The first entry of the table at the start of the pool.
fn first(model: &mut Model) -> u32 {
    (model.get(TABLES, 1)[0] & 0xffff) * 64
}

fn store() -> MiRsStoreDataImm {
    MiRsStoreDataImm {
        destination_address: at(BUFFERS + 4),
        data_dword_0: u(7),
        ..MiRsStoreDataImm::new()
    }
}

/// Packets that only the streamer executes are refused while it is off.
#[test]
fn off() {
    let mut model = model();
    let pick = Pick { buffer: 0, vector: 0, mask: 1 };
    let used = Gather { valid: 1, block: 0, offset: 0, dx9: false, picks: vec![pick] };
    for batch in [
        edit(VS, 1, &[]),
        gather(VS, &used),
        packets![store()],
        packets![gather_pool()],
        packets![dx9_pool()],
        packets![ThreeDStateDx9ConstantfVs::new()],
        packets![ThreeDStateDx9LocalValidPs::new()],
        packets![ThreeDStateDx9GenerateActivePs::new()],
    ] {
        let fault = model.render(&batch).unwrap_err();
        assert!(matches!(fault, Fault::BadPacket { .. }), "{fault}");
        assert!(fault.to_string().contains("send MI_RS_CONTROL with Start"), "{fault}");
        let stop = packets![MiRsControl { resource_streamer_control: Control::STOP }];
        assert!(refused(&mut model, &[stop, batch].concat()).contains("MI_RS_CONTROL"));
    }
    // Linux disables the pools without the streamer. Nothing is gathered.
    let unused = Gather { valid: 0, ..used };
    let pools = packets![
        ThreeDStateBindingTablePoolAlloc::new(),
        ThreeDStateGatherPoolAlloc::new(),
        ThreeDStateDx9ConstantBufferPoolAlloc::new(),
    ];
    model.render(&[pools, gather(VS, &unused), pointers(VS, 0)].concat()).unwrap();
    assert_eq!((model.get(TABLES, 4), model.get(GATHERED, 4)), (vec![0; 4], vec![0; 4]));
}

/// MI_RS_STORE_DATA_IMM writes a dword.
#[test]
fn store_data() {
    let mut model = model();
    run(&mut model, &packets![store()]).unwrap();
    assert_eq!(model.get(BUFFERS, 3), [0, 7, 0]);
}

/// MI_BATCH_BUFFER_START sets the state of the batch that it starts. The end of a second-level
/// batch returns to the state of the batch that called it, whatever MI_RS_CONTROL did.
#[test]
fn follows_batches() {
    const SECOND: u64 = BATCH + 0x8000;
    let edits = edit(PS, 0, &[(0, 640)]);
    let control = |control| packets![MiRsControl { resource_streamer_control: control }];
    let begin = |streamer, level| MiBatchBufferStart {
        resource_streamer_enable: streamer,
        second_level_batch_buffer: level,
        ..MiBatchBufferStart::new(at(SECOND))
    };
    let (chain, call) = (Level::FIRST_LEVEL_BATCH, Level::SECOND_LEVEL_BATCH);
    // The start of the other batch, its first packets, the packets after the call; true if the
    // edit is executed.
    for (before, start, other, after, runs) in [
        (vec![], begin(true, chain), edits.clone(), vec![], true),
        (control(Control::START), begin(false, chain), edits.clone(), vec![], false),
        (vec![], begin(true, call), edits.clone(), vec![], true),
        (vec![], begin(true, call), vec![], edits.clone(), false),
        (vec![], begin(false, call), control(Control::START), edits.clone(), false),
        (control(Control::START), begin(false, call), edits.clone(), vec![], false),
        (control(Control::START), begin(false, call), vec![], edits.clone(), true),
        (control(Control::START), begin(true, call), control(Control::STOP), edits.clone(), true),
        (
            vec![],
            begin(true, chain),
            [control(Control::STOP), edits.clone()].concat(),
            vec![],
            false,
        ),
    ] {
        let mut model = model();
        model.put(SECOND, &[other, packets![MiBatchBufferEnd::new()]].concat());
        let result = model.render(&[before, packets![start], after].concat());
        assert_eq!(result.is_ok(), runs, "{start:?}: {result:?}");
        if runs {
            run(&mut model, &[packets![table_pool()], pointers(PS, 0)].concat()).unwrap();
            assert_eq!(first(&mut model), 640);
        }
    }
}

/// A pool that is enabled while the streamer is off belongs to the pipeline only: the streamer does
/// not write tables to it (2a p.28).
#[test]
fn pool_of_the_pipeline() {
    let mut model = model();
    model.render(&packets![table_pool()]).unwrap();
    run(&mut model, &[edit(PS, 0, &[(0, 640)]), pointers(PS, 0)].concat()).unwrap();
    assert_eq!(first(&mut model), 0);
    // Now the streamer gets the pool too. It keeps the pool when only the pipeline disables it.
    run(&mut model, &[packets![table_pool()], pointers(PS, 0)].concat()).unwrap();
    assert_eq!(first(&mut model), 640);
    model.render(&packets![ThreeDStateBindingTablePoolAlloc::new()]).unwrap();
    run(&mut model, &[edit(PS, 0, &[(0, 128)]), pointers(PS, 0)].concat()).unwrap();
    assert_eq!(first(&mut model), 128);
}

/// Each context has its own streamer, and batches of the context share its state.
#[test]
fn contexts() {
    let mut model = model();
    let (one, other): (ContextId, _) = (model.context, model.gpu.create_context().unwrap());
    run(&mut model, &[packets![table_pool()], edit(PS, 0, &[(0, 64)])].concat()).unwrap();
    model.context = other;
    model.map(BATCH, 64 << 10);
    map(&mut model);
    run(&mut model, &[packets![table_pool()], pointers(PS, 0)].concat()).unwrap();
    assert_eq!(first(&mut model), 0);
    model.context = one;
    run(&mut model, &pointers(PS, 0)).unwrap();
    assert_eq!(first(&mut model), 64);
}

/// MI_RS_CONTEXT saves the state and restores it.
#[test]
fn save_and_restore() {
    let mut model = model();
    let context = |resource_streamer_save| packets![MiRsContext { resource_streamer_save }];
    let text = refused(&mut model, &context(Save::RESTORE));
    assert!(text.contains("no MI_RS_CONTEXT saved a state"), "{text}");
    let batch = [
        packets![table_pool()],
        edit(PS, 0, &[(0, 640)]),
        context(Save::SAVE),
        edit(PS, 0, &[(0, 64)]),
        pointers(PS, 0),
    ];
    run(&mut model, &batch.concat()).unwrap();
    assert_eq!(first(&mut model), 64);
    run(&mut model, &[context(Save::RESTORE), pointers(PS, 0)].concat()).unwrap();
    assert_eq!(first(&mut model), 640);
}
