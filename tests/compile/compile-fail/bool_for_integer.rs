//! A number is not a switch, and a switch is not a number.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn main() {
    let noop = packet! {
        MiNoop { identification_number: true, identification_number_register_write_enable: 1, .. }
    };
    println!("{noop:?}");
}
