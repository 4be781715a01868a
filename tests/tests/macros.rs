//! Evaluation of `packet!` and `batch!`, and the lifetime of temporaries. Oracle: dwords by hand,
//! and Rust's rules for struct literals and method calls.

use genxml::batch::{Batch, BatchError};
use genxml::core::U;
use genxml::engine::Render;
use genxml::gen8::mi::{MiNoop, MiStoreDataIndex};
use genxml::{batch, packet};

/// Several batches, used one after the other.
struct Frames {
    batches: Vec<Batch<Render>>,
    next: usize,
}

impl Frames {
    fn new(count: u64) -> Result<Self, BatchError> {
        let batches = (0..count).map(|at| Batch::new("frame", 0x1_0000 * (at + 1), 4096));
        Ok(Frames { batches: batches.collect::<Result<_, _>>()?, next: 0 })
    }

    fn next(&mut self) -> &mut Batch<Render> {
        self.next += 1;
        &mut self.batches[self.next - 1]
    }

    fn turn(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

/// The expression for the batch is evaluated once, so both packets go to the same batch.
#[test]
fn the_batch_is_evaluated_once() -> Result<(), BatchError> {
    let mut frames = Frames::new(3)?;
    batch! { frames.next() => MiNoop { identification_number: 1, .. }; MiNoop { identification_number: 2, .. }; }?;
    let mut turns = Frames::new(0)?;
    batch! { frames.batches[turns.turn() + 1] => MiNoop { identification_number: 3, .. }; MiNoop { .. }; }?;
    batch! { *frames.next() => MiNoop { identification_number: 4, .. }; }?;
    let dwords: Vec<&[u32]> = frames.batches.iter().map(Batch::dwords).collect();
    assert_eq!(dwords, [&[1, 2][..], &[3, 0, 4], &[]]);
    Ok(())
}

/// A variable may be a batch or a reference to one, and stays usable between packets.
#[test]
fn places_are_batches_and_references() -> Result<(), BatchError> {
    fn through(batch: &mut Batch<Render>) -> Result<(), BatchError> {
        batch! { batch => MiNoop { identification_number: 1, .. }; }?;
        batch! { *batch => MiNoop { identification_number: 2, .. }; }?;
        batch! { (batch) => MiNoop { identification_number: 3, .. }; }
    }
    let mut own = Batch::new("own", 0x1000, 4096)?;
    through(&mut own)?;
    batch! {
        own =>
        let length = own.dwords().len() as u32;
        MiNoop { identification_number: length?, .. };
        { assert_eq!(own.dwords().len(), 4); }
    }?;
    batch! { &mut own => MiNoop { identification_number: 5, .. }; MiNoop { .. }; }?;
    assert_eq!(own.dwords(), [1, 2, 3, 3, 5, 0]);
    Ok(())
}

/// A value that a literal borrows lives as long as the statement, with or without `..`.
#[test]
fn borrowed_values_live_long_enough() -> Result<(), BatchError> {
    let words = || vec![U::from_bits(7); 3];
    let mut render = Batch::<Render>::new("render", 0x8000, 4096)?;
    render.emit(&packet! { MiStoreDataIndex { data_dword: words()[..].into(), .. } })?;
    batch! { render => MiStoreDataIndex { data_dword: words()[..].into(), .. }; }?;
    assert_eq!((render.dwords().len(), render.dwords()[2], render.dwords()[9]), (10, 7, 7));
    Ok(())
}

/// `..` causes no lint if every field is given: this file is linted like all others.
#[test]
fn rest_of_nothing() {
    let noop = packet! {
        MiNoop { identification_number: 1, identification_number_register_write_enable: true, .. }
    };
    assert_eq!(noop.pack(), [1 << 22 | 1]);
}
