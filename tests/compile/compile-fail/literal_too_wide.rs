//! 65536 does not fit the 16 bits, with sign, of the pitch; nor 2^32 the colour.
use genxml::gen8::blitter::XyColorBlt;
use genxml::packet;

fn main() {
    let fill = packet! {
        XyColorBlt {
            clipping_enable: true,
            destination_pitch: 65536,
            solid_pattern_color: 0xffff_ffff,
            ..
        }
    };
    println!("{:?}", fill.pack());
}
