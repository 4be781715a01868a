//! A jump cannot skip PIPELINE_SELECT: a label belongs to the pipeline that it was made in.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_3d()?;
    let start = batch.here();
    let mut batch = batch.select_media()?;
    batch.jump(start)?;
    Ok(())
}
