//! State is put into a heap, not emitted.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::state::RenderSurfaceState;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    batch.emit(&RenderSurfaceState::new())?;
    Ok(())
}
