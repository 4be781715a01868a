//! Numbers in the text of a specification.

/// A number as the specification writes it: decimal, `0x`, `0b` or `0o`, with `_` anywhere after
/// the first digit.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        Some("0o" | "0O") => (&text[2..], 8),
        _ => (text, 10),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None; // `u64::from_str_radix` would take a `+`
    }
    u64::from_str_radix(&digits.replace('_', ""), radix).ok()
}
