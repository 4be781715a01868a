//! The render engine does not accept commands of the blitter.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::blitter::XyColorBlt;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    batch.emit(&XyColorBlt::new())?;
    Ok(())
}
