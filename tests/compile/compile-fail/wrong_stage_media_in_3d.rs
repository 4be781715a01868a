//! Media commands do not work in the 3D pipeline.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::media::MediaVfeState;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_3d()?;
    batch.emit(&MediaVfeState::new())?;
    Ok(())
}
