//! Errors in `batch!` are reported at the packet, the field or the value.
use genxml::batch;
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::blitter::XyColorBlt;
use genxml::gen8::mi::MiNoop;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    let text = "3";
    batch! { batch =>
        MiNoop { identification_number: 3, .. };
        XyColorBlt { destination_pitch: 3, .. };
        MiNoop { identification_numbr: 3, .. };
        MiNoop { identification_number: text?, .. };
    }?;
    Ok(())
}
