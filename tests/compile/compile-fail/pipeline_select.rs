//! PIPELINE_SELECT emitted directly would not change the type of the batch.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::mi::{PipelineSelect, PipelineSelectPipelineSelection};
use genxml::pipeline::ThreeD;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_3d()?;
    batch.emit(&PipelineSelect { pipeline_selection: PipelineSelectPipelineSelection::GPGPU })?;
    let _still: Batch<Render, ThreeD> = batch;
    Ok(())
}
