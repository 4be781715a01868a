//! The address of a buffer is not an offset from a base.
use genxml::batch::{Batch, BatchError, Buffer};
use genxml::engine::Render;
use genxml::gen8::state::InterfaceDescriptorData;

fn main() -> Result<(), BatchError> {
    let kernel = Buffer::new("kernel", 0x2000, 4096)?;
    let batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    let descriptor = InterfaceDescriptorData {
        kernel_start_pointer: batch.reads(&kernel, 0)?,
        ..InterfaceDescriptorData::new()
    };
    println!("{descriptor:?}");
    Ok(())
}
