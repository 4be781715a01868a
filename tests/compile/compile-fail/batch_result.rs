//! `batch!` gives a result, which the program has to use.
#![deny(unused_must_use)]
use genxml::batch;
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::mi::MiNoop;

fn unused(batch: &mut Batch<Render>) {
    batch! { batch => MiNoop { identification_number: 3, .. }; };
}

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    unused(&mut batch);
    Ok(())
}
