//! A jump does not go around PIPELINE_SELECT: labels belong to the pipeline in which they were made.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_3d()?;
    let start = batch.here();
    let mut batch = batch.select_media()?;
    batch.jump(start)?;
    Ok(())
}
