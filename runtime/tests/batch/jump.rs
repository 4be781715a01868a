//! Labels, jumps between batches, second-level batches.

use genxml::batch::{Arena, Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::mi::{
    MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator as Table,
    MiBatchBufferStartSecondLevelBatchBuffer as Level, MiNoop,
};

fn batch(name: &str, address: u64) -> Batch<Render> {
    Batch::new(name, address, 4096).unwrap()
}

fn start(dwords: &[u32], at: usize) -> MiBatchBufferStart {
    MiBatchBufferStart::unpack(dwords[at / 4..][..3].try_into().unwrap()).unwrap()
}

#[test]
fn jumps_lead_forward_and_back() {
    let mut batch = batch("batch", 0x1000);
    let back = batch.here();
    batch.emit(&MiNoop::new()).unwrap();
    let forward = batch.label();
    let first = batch.jump(forward).unwrap();
    let second = batch.jump_if(back).unwrap();
    batch.bind(forward).unwrap();
    let third = batch.jump(forward).unwrap();
    let buffer = batch.finish().unwrap().buffer;
    let dwords = super::dwords(&buffer);
    let target = |position: genxml::batch::Position| start(&dwords, position.offset());
    assert_eq!(target(first).batch_buffer_start_address.get(), 0x1000 + 4 + 12 + 12);
    assert_eq!(target(second).batch_buffer_start_address.get(), 0x1000);
    assert_eq!(target(third).batch_buffer_start_address.get(), 0x1000 + 4 + 12 + 12);
    assert!(!target(first).predication_enable && target(second).predication_enable);
    for jump in [first, second, third].map(target) {
        assert_eq!(jump.address_space_indicator, Table::PPGTT);
        assert_eq!(jump.second_level_batch_buffer, Level::FIRST_LEVEL_BATCH);
    }
    // Each jump is a reference to the batch itself.
    assert_eq!(buffer.relocations().iter().map(|one| one.target).collect::<Vec<_>>(), [0x1000; 3]);
}

#[test]
fn a_label_of_a_growing_batch_may_be_in_a_later_buffer() {
    let mut batch =
        Batch::<Render>::growing(Arena::new("batch", 0x10_0000, 0x10_0000, 4096)).unwrap();
    let end = batch.label();
    let jump = batch.jump(end).unwrap();
    for _ in 0..1500 {
        batch.emit(&MiNoop::new()).unwrap();
    }
    batch.bind(end).unwrap();
    let address = batch.address();
    let buffer = batch.finish().unwrap().buffer;
    assert_eq!(
        start(&super::dwords(&buffer), jump.offset()).batch_buffer_start_address.get(),
        address
    );
    assert!((0x10_1000..0x10_2000).contains(&address));
}

#[test]
fn labels_are_checked() {
    let (mut one, mut two) = (batch("one", 0x1000), batch("two", 0x2000));
    let label = one.here();
    assert_eq!(
        two.jump(label).unwrap_err().to_string(),
        "the label belongs to another batch, not to two: call `target` of that batch, then `jump_to`"
    );
    assert_eq!(one.bind(label).unwrap_err().to_string(), "label 0 of one is at 0x1000 already");
    let open = one.label();
    assert_eq!(
        one.target(open).unwrap_err().to_string(),
        "label 1 of one is not bound yet: `bind` it before others jump to it"
    );
    one.emit(&MiNoop::new()).unwrap();
    one.jump(open).unwrap();
    assert_eq!(
        one.finish().unwrap_err().to_string(),
        "label 1 of one is not bound, but the MI_BATCH_BUFFER_START at +0x4 of one jumps to it: `bind` it"
    );
    // A label without jumps to it may stay unbound.
    two.label();
    two.finish().unwrap();
    // Batches at one address are still distinct.
    let (mut three, mut four) = (batch("three", 0x1000), batch("four", 0x1000));
    let label = three.here();
    four.label();
    assert!(matches!(four.jump(label), Err(BatchError::ForeignLabel { .. })));
}

#[test]
fn batches_jump_to_others() {
    let mut loop_ = batch("loop", 0x2000);
    loop_.emit(&MiNoop::new()).unwrap();
    let here = loop_.here();
    let target = loop_.target(here).unwrap();
    let mut batch = batch("batch", 0x1000);
    let jump = batch.jump_to(&target).unwrap();
    assert_eq!(start(batch.dwords(), jump.offset()).batch_buffer_start_address.get(), 0x2004);
    let others = [loop_.finish().unwrap().buffer];
    batch.finish().unwrap().submit(others).unwrap();
}

#[test]
fn second_level_batches_are_called() {
    let inner = batch("inner", 0x3000).routine(|_| Ok(())).unwrap();
    let routine = batch("routine", 0x2000)
        .routine(|routine| {
            let end = routine.label();
            routine.jump_if(end)?;
            routine.emit(&MiNoop::new())?;
            routine.bind(end)?;
            let error = routine.call(&inner).unwrap_err();
            assert_eq!(
                error.to_string(),
                "routine is a second-level batch and cannot call inner: there is no third level"
            );
            Ok(())
        })
        .unwrap();
    let mut gpgpu = batch("batch", 0x1000).select_gpgpu().unwrap();
    let call = gpgpu.call(&routine).unwrap();
    let packet = start(gpgpu.dwords(), call.offset());
    assert_eq!(packet.batch_buffer_start_address.get(), routine.address());
    assert_eq!(packet.second_level_batch_buffer, Level::SECOND_LEVEL_BATCH);
    let buffers: Vec<_> = routine.into_buffers().collect();
    // A jump in a second-level batch stays at the second level.
    let jump = start(&super::dwords(&buffers[0]), 0);
    assert_eq!(jump.second_level_batch_buffer, Level::SECOND_LEVEL_BATCH);
    let error = gpgpu.finish().unwrap().submit([]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "MI_BATCH_BUFFER_START at +0x40 of batch refers to routine at 0x2000, which is not in the submission"
    );
    let mut late = batch("late", 0x1000);
    late.emit(&MiNoop::new()).unwrap();
    assert_eq!(
        late.routine(|_| Ok(())).unwrap_err().to_string(),
        "late has packets already: only an empty batch can become a second-level batch"
    );
}

/// The error names the buffer of a grown batch that contains the jump.
#[test]
fn an_open_jump_is_where_it_is_said_to_be() {
    let mut batch =
        Batch::<Render>::growing(Arena::new("batch", 0x10_0000, 0x10_0000, 4096)).unwrap();
    for _ in 0..1500 {
        batch.emit(&MiNoop::new()).unwrap();
    }
    let open = batch.label();
    let jump = batch.jump(open).unwrap();
    assert_eq!(
        batch.finish().unwrap_err().to_string(),
        format!(
            "label 0 of batch is not bound, but the MI_BATCH_BUFFER_START at +{:#x} of batch 2 jumps to it: `bind` it",
            jump.offset()
        )
    );
}
