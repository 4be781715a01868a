//! Each element of an array is checked.
use genxml::gen8::render3d_raster::ThreeDStatePolyStipplePattern;
use genxml::packet;

fn main() {
    let pattern = packet! { ThreeDStatePolyStipplePattern { pattern_row: [0x1_0000_0000; 32], .. } };
    println!("{pattern:?}");
}
