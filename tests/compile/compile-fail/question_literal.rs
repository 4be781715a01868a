//! A literal is checked by the compiler.
use genxml::core::FieldError;
use genxml::packet;

fn main() -> Result<(), FieldError> {
    let noop = packet! { MiNoop { identification_number: 3?, .. } };
    println!("{noop:?}");
    Ok(())
}
