//! A value of the field's type needs no `?`; an enumeration is not a number.
use genxml::core::{FieldError, U};
use genxml::gen8::mi::{MiNoop, MiPredicate};
use genxml::packet;

fn noop(number: U<22>) -> Result<MiNoop, FieldError> {
    Ok(packet! { MiNoop { identification_number: number?, .. } })
}

fn compare(how: u32) -> Result<MiPredicate, FieldError> {
    Ok(packet! { MiPredicate { compare_operation: how?, .. } })
}

fn main() {
    println!("{:?}", (noop(U::ZERO), compare(3)));
}
