//! Only the render engine has pipelines.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Blitter;

fn main() -> Result<(), BatchError> {
    Batch::<Blitter>::new("batch", 0x1000, 4096)?.select_3d()?;
    Ok(())
}
