//! Batches that grow into several buffers.

use genxml::batch::{Arena, Batch, BatchError, Buffer, Position};
use genxml::core::U;
use genxml::decode::{Decoder, Options, Record, State, Tables};
use genxml::engine::Render;
use genxml::gen8::mi::{MiBatchBufferStart, MiNoop, MiStoreDataImm, PipeControl};

fn growing(size: u64) -> Batch<Render> {
    Batch::growing(Arena::new("batch", 0x10_0000, size, 4096)).unwrap()
}

#[test]
fn a_full_buffer_jumps_to_the_next() {
    let mut batch = growing(0x10_0000);
    let positions: Vec<Position> =
        (0..700).map(|_| batch.emit(&PipeControl::new()).unwrap()).collect();
    let finished = batch.finish().unwrap();
    // 4096 bytes less 16 for the jump hold 170 packets of 24 bytes.
    assert_eq!((finished.length, finished.chained.len()), (170 * 24 + 16, 4));
    assert_eq!((positions[169].segment(), positions[169].offset()), (0, 169 * 24));
    assert_eq!((positions[170].segment(), positions[170].offset()), (1, 0));
    let names: Vec<&str> = finished.chained.iter().map(Buffer::name).collect();
    assert_eq!(names, ["batch 2", "batch 3", "batch 4", "batch 5"]);
    let jump = &super::dwords(&finished.buffer)[170 * 6..][..3];
    let jump = MiBatchBufferStart::unpack(jump.try_into().unwrap()).unwrap();
    assert_eq!(jump.batch_buffer_start_address.get(), finished.chained[0].address());

    // The decoder finds all packets and the jumps.
    let submission = finished.submit([]).unwrap();
    let mut names = Vec::new();
    Decoder::new(Tables::gen8(), Options::default())
        .batch(
            &mut State::default(),
            submission.engine,
            &submission,
            submission.batch_address,
            submission.batch_length,
            &mut |record: &Record| {
                names.push(record.name);
                Ok(())
            },
        )
        .unwrap();
    let count = |name: &str| names.iter().filter(|one| **one == name).count();
    assert_eq!((count("PIPE_CONTROL"), count("MI_BATCH_BUFFER_START")), (700, 4));
    assert_eq!((count("MI_BATCH_BUFFER_END"), names.len()), (1, 705));
}

#[test]
fn packets_in_earlier_buffers_are_changed_too() {
    let mut batch = growing(0x10_0000);
    let first = batch.emit(&PipeControl::new()).unwrap();
    for _ in 0..2000 {
        batch.emit(&MiNoop::new()).unwrap();
    }
    batch.edit(first, |flush: &mut PipeControl| flush.notify_enable = true).unwrap();
    let finished = batch.finish().unwrap();
    assert_eq!(
        super::dwords(&finished.buffer)[..6],
        PipeControl { notify_enable: true, ..PipeControl::new() }.pack()
    );
}

#[test]
fn a_packet_longer_than_a_chunk_gets_a_longer_buffer() {
    let mut batch = growing(0x10_0000);
    let values = [U::new(7).unwrap(); 1000];
    let address = genxml::core::Address::new(0x5000).unwrap();
    let store = MiStoreDataImm { data_dword: (&values).into(), ..MiStoreDataImm::new(address) };
    batch.emit(&MiNoop::new()).unwrap();
    for _ in 0..2 {
        batch.emit(&store).unwrap();
    }
    assert_eq!(batch.finish().unwrap().chained.len(), 1);
    let small = |_: usize| Buffer::new("small", 0x8000, 32);
    let mut batch = Batch::<Render>::growing(small).unwrap();
    let error = batch.emit(&store).unwrap_err();
    assert_eq!(
        error.to_string(),
        "MI_STORE_DATA_IMM takes 4012 bytes, 16 of 32 are left in small: give it a larger size"
    );
}

#[test]
fn an_empty_arena_says_so_and_the_batch_still_ends() {
    let mut batch = growing(8192);
    let error = (0..3000).find_map(|_| batch.emit(&MiNoop::new()).err()).unwrap();
    assert_eq!(
        error.to_string(),
        "arena batch has no room for 4096 bytes more, 0 are left: give it a larger range"
    );
    assert!(matches!(error, BatchError::Arena { .. }));
    let finished = batch.finish().unwrap();
    assert_eq!(finished.chained.len(), 1);
    let last = super::dwords(&finished.chained[0]);
    assert_eq!(last.iter().rposition(|dword| *dword != 0), Some(1020));
}
