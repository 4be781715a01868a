//! A colour depth is no raster operation, and no number either.
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
