//! A constant packet is checked like any other, with nested structures and alternatives.
use genxml::gen8::state::{MemoryObjectControlState, RenderSurfaceState, RenderSurfaceStateExtent};
use genxml::packet;

const SURFACE: RenderSurfaceState = packet! {
    RenderSurfaceState {
        memory_object_control_state: MemoryObjectControlState { age_for_quadlru: 4, .. },
        extent: RenderSurfaceStateExtent::Image { width: 1, height: 16385, depth: 1 },
        ..
    }
};

fn main() {
    println!("{:?}", SURFACE.pack());
}
