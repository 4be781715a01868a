//! A colour depth is not a raster operation, nor a number.
use genxml::gen8::blitter::{BlitColorDepth, XyColorBlt};
use genxml::packet;

fn main() {
    let fill = packet! {
        XyColorBlt {
            raster_operation: BlitColorDepth::_32BPP,
            color_depth: 3,
            ..
        }
    };
    println!("{:?}", fill.pack());
}
