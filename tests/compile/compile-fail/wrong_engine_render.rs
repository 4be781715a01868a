//! The blitter does not accept a vertex shader, and the video engine no blitter command.
use genxml::batch::{Batch, BatchError};
use genxml::engine::{Blitter, Video};
use genxml::gen8::blitter::XyColorBlt;
use genxml::gen8::render3d_stages::ThreeDStateVs;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Blitter>::new("batch", 0x1000, 4096)?;
    batch.emit(&ThreeDStateVs::new())?;
    let mut batch = Batch::<Video>::new("batch", 0x1000, 4096)?;
    batch.emit(&XyColorBlt::new())?;
    Ok(())
}
