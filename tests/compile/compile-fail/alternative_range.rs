//! Alternatives may give one name to fields with different ranges.
use genxml::gen8::state::{RenderSurfaceState, RenderSurfaceStateExtent};
use genxml::packet;

fn main() {
    let _ = |state: RenderSurfaceState| packet! {
        RenderSurfaceState {
            extent: RenderSurfaceStateExtent::Buffer { width: 16383, height: 0, depth: 0 },
            ..state
        }
    };
}
