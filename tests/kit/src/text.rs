//! Bytes and text of test data.

/// Replaces each run of white space by one space.
pub fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Bytes as little-endian dwords. Remaining bytes are dropped.
pub fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect()
}

/// The bytes of a text of hexadecimal digits, two for each byte. A single last digit is ignored.
///
/// # Panics
/// If two characters of a byte are not hexadecimal digits.
pub fn hex(text: &str) -> Vec<u8> {
    let digits = |at| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes = (0..text.len() / 2).map(|n| digits(2 * n));
    bytes.map(|byte| byte.unwrap_or_else(|| panic!("`{text}` is not hexadecimal"))).collect()
}
