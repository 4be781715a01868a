//! A text is not a number.
use genxml::core::FieldError;
use genxml::gen8::mi::MiNoop;
use genxml::packet;

fn noop(number: &str) -> Result<MiNoop, FieldError> {
    Ok(packet! { MiNoop { identification_number: number?, .. } })
}

fn main() {
    println!("{:?}", noop("3"));
}
