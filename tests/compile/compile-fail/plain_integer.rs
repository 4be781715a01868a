//! A run-time integer needs `?` for the conversion.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn noop(number: u32) -> MiNoop {
    packet! { MiNoop { identification_number: number, .. } }
}

fn main() {
    println!("{:?}", noop(3));
}
