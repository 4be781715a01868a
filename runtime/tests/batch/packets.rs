//! Packets in one buffer.

use genxml::batch::{Batch, BatchError, Buffer, Submission};
use genxml::capture::{Capture, CaptureWriter};
use genxml::core::{Address, U};
use genxml::engine::{Blitter, EngineId, Render};
use genxml::gen8::{blitter::XyColorBlt, mi};

#[test]
fn packets_stand_one_after_the_other_and_the_end_is_padded() {
    let mut batch = Batch::<Blitter>::new("batch", 0x3000, 64).unwrap();
    let first = batch.emit(&mi::MiNoop::default()).unwrap();
    let blit = XyColorBlt {
        destination_base_address: Address::new(0x10000).unwrap(),
        ..Default::default()
    };
    let second = batch.emit(&blit).unwrap();
    assert_eq!((first.offset(), second.offset(), batch.address()), (0, 4, 0x3020));
    assert_eq!(batch.dwords()[1..8], blit.pack());
    let batch = batch.finish().unwrap();
    // Eight dwords, the batch end, and padding.
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
    assert_eq!(
        error.to_string(),
        "MI_NOOP takes 4 bytes, 0 of 32 are left in small: give it a larger size"
    );
    assert_eq!(batch.finish().unwrap().length, 32);
    assert!(matches!(Buffer::new("a", 0x10, 4096), Err(BatchError::BadAddress { .. })));
    assert!(matches!(Buffer::new("a", 0xffff_ffff_f000, 8192), Err(BatchError::BadAddress { .. })));
    assert!(matches!(Buffer::new("a", u64::MAX - 4095, 4096), Err(BatchError::BadAddress { .. })));
    let error = Buffer::new("a", 0x10, 4096).unwrap_err();
    assert_eq!(
        error.to_string(),
        "buffer a: 4096 bytes at 0x10 do not start on a page of 4096 bytes below 2^48"
    );
}

/// A tail that is too long for its length field is refused and leaves nothing in the batch.
#[test]
fn a_packet_that_is_too_long_leaves_nothing_behind() {
    let mut batch = Batch::<Render>::new("batch", 0, 1 << 20).unwrap();
    let registers = [mi::MiLoadRegisterImmRegister {
        register_offset: Address::new(0x2000).unwrap(),
        data_dword: U::new(u64::from(u32::MAX)).unwrap(),
    }; 200];
    let long = mi::MiLoadRegisterImm { register: (&registers).into(), ..Default::default() };
    let error = batch.emit(&long).unwrap_err();
    assert_eq!(
        error.to_string(),
        "MI_LOAD_REGISTER_IMM of 401 dwords cannot be expressed by its length field (at most 257)"
    );
    batch.emit(&mi::MiNoop::new()).unwrap();
    let finished = batch.finish().unwrap();
    assert_eq!(finished.length, 8);
    assert_eq!(super::dwords(&finished.buffer)[..4], [0, 0x0500_0000, 0, 0]);
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
fn fields_of_packets_are_changed_in_place() {
    let mut batch = Batch::<Render>::new("batch", 0, 4096).unwrap();
    let flush = mi::PipeControl { depth_stall_enable: true, ..mi::PipeControl::new() };
    let position = batch.emit(&flush).unwrap();
    let noop = batch.emit(&mi::MiNoop::new()).unwrap();
    batch.edit(position, |flush: &mut mi::PipeControl| flush.dc_flush_enable = true).unwrap();
    assert_eq!(batch.dwords()[..6], mi::PipeControl { dc_flush_enable: true, ..flush }.pack());
    let error =
        batch.edit(noop, |flush: &mut mi::PipeControl| flush.dc_flush_enable = true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot patch PIPE_CONTROL of 6 dwords over 0x00000000 of 1 dwords at +0x18"
    );
}

#[test]
fn submissions_become_captures() {
    let mut batch = Batch::<Blitter>::new("batch", 0x3000, 4096).unwrap();
    batch.emit(&XyColorBlt::default()).unwrap();
    let target = Buffer::new("target", 0x10000, 8192).unwrap();
    let submission = Submission::new(batch.finish().unwrap(), [target]);
    assert_eq!(submission.tail(0x3000 + 7 * 4)[..4], [0, 0, 0, 5]);
    assert!(submission.tail(0x4000).is_empty());

    let dir = tempfile::tempdir().unwrap();
    let mut writer = CaptureWriter::new("from a submission");
    submission.write(1, &mut writer);
    writer.finish(dir.path()).unwrap();
    let capture = Capture::open(dir.path()).unwrap();
    let exec = capture.execs().next().unwrap();
    assert_eq!(
        (exec.engine, exec.batch_address, exec.batch_length),
        (EngineId::Blitter, 0x3000, 32)
    );
    assert_eq!(exec.objects.len(), 2);
}

/// MI_BATCH_BUFFER_END and its filler take 8 bytes, the jump of a growing batch 16.
#[test]
fn a_buffer_too_small_for_the_end_is_refused() {
    for size in [1, 3, 4, 7] {
        let error = Batch::<Render>::new("tiny", 0x1000, size).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "MI_BATCH_BUFFER_END takes 8 bytes, {size} of {size} are left in tiny: give it a larger size"
            )
        );
    }
    for size in 8..16 {
        let batch = Batch::<Render>::new("tiny", 0x1000, size).unwrap();
        assert_eq!(batch.finish().unwrap().length, 8);
    }
    let error = Batch::<Render>::growing(|_: usize| Buffer::new("tiny", 0x1000, 12)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "MI_BATCH_BUFFER_START takes 16 bytes, 12 of 12 are left in tiny: give it a larger size"
    );
    let mut next = 0x1000;
    let mut batch = Batch::<Render>::growing(move |_: usize| {
        next += 0x1000;
        Buffer::new("small", next, 20)
    })
    .unwrap();
    for _ in 0..3 {
        batch.emit(&mi::MiNoop::new()).unwrap();
    }
    assert_eq!(batch.finish().unwrap().chained.len(), 2);
}

/// A failed call leaves neither a packet nor a pending address in the batch.
#[test]
fn packets_that_fail_leave_nothing() {
    let target = Buffer::new("target", 0x10000, 4096).unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x1000, 64).unwrap();
    let noop = batch.emit(&mi::MiNoop::new()).unwrap();
    let before = batch.dwords().to_vec();
    // An address that is not in the packet.
    batch.writes::<4, 64>(&target, 8).unwrap();
    let error = batch.emit(&mi::PipeControl::new()).unwrap_err();
    assert!(matches!(error, BatchError::Unplaced { .. }), "{error}");
    assert_eq!(batch.dwords(), before);
    // A packet that is too long.
    let values = [U::new(7).unwrap(); 20];
    let address = batch.writes(&target, 0).unwrap();
    let long =
        mi::MiStoreDataImm { data_dword: (&values).into(), ..mi::MiStoreDataImm::new(address) };
    assert!(matches!(batch.emit(&long), Err(BatchError::Full { .. })));
    batch.emit(&mi::MiNoop::new()).unwrap();
    // A patch over another packet, and a patch that does not contain the address.
    batch.writes::<4, 64>(&target, 8).unwrap();
    assert!(matches!(batch.patch(noop, &mi::PipeControl::new()), Err(BatchError::Patch { .. })));
    let position = batch.emit(&mi::PipeControl::new()).unwrap();
    let before = batch.dwords().to_vec();
    batch.writes::<4, 64>(&target, 8).unwrap();
    let error =
        batch.patch(position, &mi::PipeControl { notify_enable: true, ..mi::PipeControl::new() });
    assert!(matches!(error, Err(BatchError::Unplaced { .. })), "{error:?}");
    assert_eq!(batch.dwords(), before);
    assert!(batch.finish().unwrap().buffer.relocations().is_empty());
}
