//! `?` needs a function that returns a `Result`, as in all Rust code.
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn main() {
    let number = 3u32;
    let noop = packet! { MiNoop { identification_number: number?, .. } };
    println!("{noop:?}");
}
