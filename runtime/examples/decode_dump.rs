//! Decodes a dump of dwords, given as text. The first line has the engine and the address, the
//! other lines have dwords in hexadecimal, and `#` starts a comment.
//!
//! `cargo run -p genxml --example decode_dump -- FILE`

use genxml::decode::{self, Options};
use genxml::engine::EngineId;
use std::error::Error;

/// Returns the decoded dump as text.
///
/// # Errors
/// If the text is not a dump.
pub fn decoded(dump: &str) -> Result<String, Box<dyn Error>> {
    let mut words =
        dump.lines().flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace());
    let mut word = || words.next().ok_or("a dump starts with the engine and the address");
    let engine: EngineId = word()?.parse()?;
    let address = u64::from_str_radix(word()?.trim_start_matches("0x"), 16)?;
    let dwords: Vec<u32> =
        words.map(|word| u32::from_str_radix(word, 16)).collect::<Result<_, _>>()?;
    let mut text = Vec::new();
    decode::raw(engine, address, &dwords, &Options::default(), &mut text)?;
    Ok(String::from_utf8(text)?)
}

/// Decodes the file of the first argument, or a batch of the repository.
///
/// # Errors
/// If the file cannot be read or is not a dump.
pub fn main() -> Result<(), Box<dyn Error>> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/decode/media_object.hex");
    let path = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    print!("{}", decoded(&std::fs::read_to_string(path.as_deref().unwrap_or(default))?)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the comments beside the dwords of the dump.
    #[test]
    fn packets_and_state_are_named() {
        let dump = include_str!("../../tests/cases/decode/media_object.hex");
        let text = decoded(dump).unwrap();
        for name in [
            "MEDIA_OBJECT",
            "STATE_BASE_ADDRESS",
            "INTERFACE_DESCRIPTOR_DATA",
            "RENDER_SURFACE_STATE",
        ] {
            assert!(text.contains(name), "{name}");
        }
        assert!(decoded("").is_err());
        assert!(decoded("render 0x1000 zzz").is_err());
    }
}
