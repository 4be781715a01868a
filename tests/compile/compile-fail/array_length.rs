//! An array must have as many elements as its field: a stipple pattern has 32 rows.
use genxml::gen8::render3d_raster::ThreeDStatePolyStipplePattern;
use genxml::packet;

fn main() {
    let pattern = packet! { ThreeDStatePolyStipplePattern { pattern_row: [0x5555_5555; 16], .. } };
    println!("{pattern:?}");
}
