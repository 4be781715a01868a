//! A second-level batch for one pipeline cannot be called in another.
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::media::MediaStateFlush;
use genxml::pipeline::Media;

fn main() -> Result<(), BatchError> {
    let routine = Batch::<Render>::new("routine", 0x2000, 4096)?.assume::<Media>().routine(|routine| {
        routine.emit(&MediaStateFlush::new())?;
        Ok(())
    })?;
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_gpgpu()?;
    batch.call(&routine)?;
    Ok(())
}
