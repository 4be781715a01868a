//! A sampler is not a memory object control state.
use genxml::gen8::state::{RenderSurfaceState, SamplerState};
use genxml::packet;

fn main() {
    let surface = packet! {
        RenderSurfaceState { memory_object_control_state: SamplerState { .. }, .. }
    };
    println!("{surface:?}");
}
