//! The error of another conversion needs parentheses: `?` is then Rust's own.
use genxml::core::U;
use genxml::gen8::mi::MiNoop;
use genxml::packet;
use std::error::Error;

fn read() -> Result<U<22>, std::io::Error> {
    Ok(U::ZERO)
}

fn noop() -> Result<MiNoop, Box<dyn Error>> {
    Ok(packet! { MiNoop { identification_number: read()?, .. } })
}

fn main() {
    println!("{:?}", noop());
}
