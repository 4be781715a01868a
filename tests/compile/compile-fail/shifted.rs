//! The distance of slices is stored in units of four rows.
use genxml::gen8::state::RenderSurfaceState;
use genxml::packet;

fn main() {
    let surface = packet! { RenderSurfaceState { surface_qpitch: 66, .. } };
    println!("{:?}", surface.pack());
}
