//! Syntax errors in `batch!`.
use genxml::batch;
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    batch! {}?;
    batch! { MiNoop { .. }; }?;
    batch! { batch => }?;
    batch! { batch => MiNoop { .. } MiNoop { .. } }?;
    batch! { batch => while true { MiNoop { .. }; } }?;
    batch! { batch => MiNoop { identification_number 3, .. }; }?;
    Ok(())
}
