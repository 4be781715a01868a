//! `?` needs a function that returns a result, as always.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn main() {
    let number = 3u32;
    let noop = packet! { MiNoop { identification_number: number?, .. } };
    println!("{noop:?}");
}
