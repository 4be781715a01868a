//! A draw needs the 3D pipeline.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_gpgpu()?;
    batch.emit(&ThreeDPrimitive::new())?;
    Ok(())
}
