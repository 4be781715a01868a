//! A heap of dynamic state returns offsets that a field for surface state does not accept.
use genxml::batch::{BatchError, Heap};
use genxml::core::address::DynamicState;
use genxml::gen8::state::{BindingTableState, SamplerState};
use genxml::packet;

fn main() -> Result<(), BatchError> {
    let mut heap = Heap::<DynamicState>::new("dynamic", 0x1000, 4096)?;
    let sampler = SamplerState::new();
    let entry = packet! { BindingTableState { surface_state_pointer: heap.put(&sampler)?, .. } };
    println!("{entry:?}");
    Ok(())
}
