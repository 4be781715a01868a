//! 65536 does not fit the signed 16 bits of the pitch. The largest colour does fit its 32 bits.
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
