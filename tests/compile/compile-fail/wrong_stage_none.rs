//! Until a pipeline is selected, only commands that all pipelines accept compile.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::media::GpgpuWalker;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    batch.emit(&GpgpuWalker::new())?;
    Ok(())
}
