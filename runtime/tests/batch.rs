//! Batches and heaps: what is put in comes out where it was said to be.

use genxml::batch::{Batch, BatchError, Buffer, Heap, Submission};
use genxml::capture::{Capture, CaptureWriter};
use genxml::core::address::{DynamicState, SurfaceState};
use genxml::core::{Address, U};
use genxml::engine::{Blitter, EngineId, Render};
use genxml::gen8::{blitter::XyColorBlt, media, mi, state};

#[test]
fn packets_stand_one_after_the_other_and_the_end_is_padded() {
    let mut batch = Batch::<Blitter>::new("batch", 0x3000, 64).unwrap();
    let first = batch.emit(&mi::MiNoop::default()).unwrap();
    let blit = XyColorBlt { destination_base_address: Address::new(0x10000).unwrap(), ..Default::default() };
    let second = batch.emit(&blit).unwrap();
    assert_eq!((first.offset(), second.offset(), batch.address()), (0, 4, 0x3020));
    assert_eq!(batch.dwords()[1..8], blit.pack());
    let batch = batch.finish();
    // Eight dwords, the end, a filler.
    assert_eq!(batch.length, 40);
    assert_eq!(batch.buffer.bytes()[32..40], [0, 0, 0, 5, 0, 0, 0, 0]);
    assert_eq!(batch.buffer.address(), 0x3000);
}

#[test]
fn a_full_batch_says_so_and_still_ends() {
    let mut batch = Batch::<Render>::new("small", 0, 32).unwrap();
    for _ in 0..6 {
        batch.emit(&mi::MiNoop::default()).unwrap();
    }
    let error = batch.emit(&mi::MiNoop::default()).unwrap_err();
    assert_eq!(error.to_string(), "MI_NOOP takes 4 bytes, 0 of 32 are left in small: give it a larger size");
    assert_eq!(batch.finish().length, 32);
    assert!(matches!(Buffer::new("a", 0x10, 4096), Err(BatchError::Place { .. })));
    assert!(matches!(Buffer::new("a", 0xffff_ffff_f000, 8192), Err(BatchError::Place { .. })));
    assert!(matches!(Buffer::new("a", u64::MAX - 4095, 4096), Err(BatchError::Place { .. })));
}

#[test]
fn packets_are_patched_in_place() {
    let mut batch = Batch::<Render>::new("batch", 0, 4096).unwrap();
    let start = |target: u64| mi::MiBatchBufferStart::new(Address::new(target).unwrap());
    let jump = batch.emit(&start(0)).unwrap();
    let noop = batch.emit(&mi::MiNoop::default()).unwrap();
    batch.patch(jump, &start(0x8000)).unwrap();
    assert_eq!(batch.dwords()[..3], start(0x8000).pack());
    let error = batch.patch(noop, &start(0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot patch MI_BATCH_BUFFER_START of 3 dwords over 0x00000000 of 1 dwords at +0xc"
    );
}

#[test]
fn heaps_give_offsets_of_their_space() {
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x4000, 4096).unwrap();
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 192).unwrap();
    let surface = surfaces.put(&state::RenderSurfaceState::default()).unwrap();
    let second = surfaces.put(&state::RenderSurfaceState::default()).unwrap();
    let table =
        [surface, second].map(|surface_state_pointer| state::BindingTableState { surface_state_pointer });
    let table = surfaces.put_all(&table).unwrap();
    assert_eq!((surface.get(), second.get(), table.get()), (0, 64, 128));

    let descriptor = state::InterfaceDescriptorData { binding_table_pointer: table, ..Default::default() };
    let constants: Address<DynamicState, 1, 32> = dynamic.put_dwords("constants", &[1, 2, 3]).unwrap();
    let load = media::MediaInterfaceDescriptorLoad {
        interface_descriptor_data_start_address: dynamic.put(&descriptor).unwrap(),
        interface_descriptor_total_length: U::new(32).unwrap(),
    };
    assert_eq!((constants.get(), load.interface_descriptor_data_start_address.get()), (0, 64));
    assert_eq!(dynamic.base(), 0x8000);
    let error = dynamic.put_all::<_, 32, 32>(&[descriptor; 9]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "INTERFACE_DESCRIPTOR_DATA takes 320 bytes, 96 of 192 are left in dynamic: give it a larger size"
    );
    let bytes = surfaces.finish();
    assert_eq!(bytes.bytes()[128..136], [0, 0, 0, 0, 64, 0, 0, 0]);
}

#[test]
fn submissions_become_captures() {
    let mut batch = Batch::<Blitter>::new("batch", 0x3000, 4096).unwrap();
    batch.emit(&XyColorBlt::default()).unwrap();
    let target = Buffer::new("target", 0x10000, 8192).unwrap();
    let submission = Submission::new(batch.finish(), [target]);
    assert_eq!(submission.tail(0x3000 + 7 * 4)[..4], [0, 0, 0, 5]);
    assert!(submission.tail(0x4000).is_empty());

    let dir = tempfile::tempdir().unwrap();
    let mut writer = CaptureWriter::new("from a submission");
    submission.write(1, &mut writer);
    writer.finish(dir.path()).unwrap();
    let capture = Capture::open(dir.path()).unwrap();
    let exec = capture.execs().next().unwrap();
    assert_eq!((exec.engine, exec.batch_address, exec.batch_length), (EngineId::Blitter, 0x3000, 32));
    assert_eq!(exec.objects.len(), 2);
}
