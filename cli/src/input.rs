//! What subcommands read in the same way: addresses and plain dwords.

use crate::output::{Error, bad_input};
use std::io::{self, Read};
use std::path::Path;

/// A number as people write addresses: decimal, or hexadecimal after 0x.
pub fn address(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let parsed = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    parsed.map_err(|_| "not a number; write 4096 or 0x1000".to_owned())
}

/// The bytes of a file or of standard input.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |error: io::Error| bad_input(format!("{}: {error}", path.display()));
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(fail)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(fail)
}

/// Little-endian dwords of a file or of standard input.
pub fn read_dwords(path: &Path) -> Result<Vec<u32>, Error> {
    let bytes = read_bytes(path)?;
    let (dwords, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        eprintln!(
            "genx: {}: the last {} bytes are no whole dword and are left out",
            path.display(),
            rest.len()
        );
    }
    Ok(dwords.iter().map(|dword| u32::from_le_bytes(*dword)).collect())
}
