//! A value of the field's type needs no `?`; an enumeration is not a number.
use genxml::core::{FieldError, U};
use genxml::gen8::blitter::XyColorBlt;
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn noop(number: U<22>) -> Result<MiNoop, FieldError> {
    Ok(packet! { MiNoop { identification_number: number?, .. } })
}

fn fill(depth: u32) -> Result<XyColorBlt, FieldError> {
    Ok(packet! { XyColorBlt { color_depth: depth?, .. } })
}

fn main() {
    println!("{:?}", (noop(U::ZERO), fill(3)));
}
