//! `fit!` must name a field of the packet.
use genxml::core::{FieldError, U, fit};
use genxml::gen8::mi::MiNoop;

fn main() -> Result<(), FieldError> {
    let number: U<22> = fit!(MiNoop.number, 3)?;
    println!("{number}");
    Ok(())
}
