//! The pitch has 16 bits with a sign: the least value is -32768.
use genxml::gen8::blitter::XyColorBlt;
use genxml::packet;

fn main() {
    let fill = packet! { XyColorBlt { destination_pitch: -32769, .. } };
    println!("{:?}", fill.pack());
}
