//! One field does not exist, and one belongs to another packet.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn main() {
    let number = 3u32;
    let noop = packet! { MiNoop { identification_nr: 3, destination_pitch: number?, .. } };
    println!("{noop:?}");
}
