//! Literals in `batch!` are checked by the compiler.
use genxml::batch;
use genxml::batch::{Batch, BatchError};
use genxml::engine::Render;
use genxml::gen8::mi::MiNoop;

fn main() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    batch! { batch =>
        MiNoop { identification_number: 0x40_0000, .. };
    }
}
