//! An unsigned field accepts no negative number.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn main() {
    let noop = packet! { MiNoop { identification_number: -1, .. } };
    println!("{:?}", noop.pack());
}
