//! `batch!` in braces, without `?` or `;` after it.
use genxml::batch;
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::mi::MiNoop;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    batch! { batch => MiNoop { identification_number: 3, .. }; }
    batch.finish()?;
    Ok(())
}
