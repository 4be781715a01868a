//! The pitch has 16 bits, with sign: -32768 is the least.
use genxml::gen8::blitter::XyColorBlt;
use genxml::packet;

fn main() {
    let fill = packet! { XyColorBlt { destination_pitch: -32769, .. } };
    println!("{:?}", fill.pack());
}
