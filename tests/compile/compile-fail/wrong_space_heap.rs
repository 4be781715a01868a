//! A heap of dynamic state returns no offsets of surface state.
use genxml::batch::{BatchError, Heap};
use genxml::core::address::DynamicState;
use genxml::gen8::state::{InterfaceDescriptorData, SamplerState};

fn main() -> Result<(), BatchError> {
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x1000, 4096)?;
    let descriptor = InterfaceDescriptorData {
        binding_table_pointer: dynamic.put(&SamplerState::new())?,
        ..InterfaceDescriptorData::new()
    };
    println!("{descriptor:?}");
    Ok(())
}
