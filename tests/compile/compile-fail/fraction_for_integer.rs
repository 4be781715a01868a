//! An integer field accepts no fraction.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn main() {
    let noop = packet! { MiNoop { identification_number: 0.5, .. } };
    println!("{:?}", noop.pack());
}
