//! Files in base64, as `base64 FILE` and mail programs write them.
//!
//! Source: RFC 4648.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Least number of characters: shorter texts may be words.
const LEAST: usize = 64;

/// Bits after the last whole byte are ignored, because a text may be cut anywhere.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes of a text that consists of base64; `None` if it does not.
pub(super) fn read(text: &str) -> Option<Vec<u8>> {
    let mut characters = Vec::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        let frame =
            line.starts_with("begin-base64 ") || line == "====" || line.starts_with("-----");
        if !frame {
            characters.extend(line.bytes().map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => byte,
            }));
        }
    }
    let length = characters.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    // A single character after the last group of four holds no whole byte.
    let whole = if length % 4 == 1 { length - 1 } else { length };
    (length >= LEAST).then(|| ENGINE.decode(&characters[..whole]).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: coreutils `base64`.
    #[test]
    fn known_bytes() {
        let text = "KioqKiBYZSBEZXZpY2UgQ29yZWR1bXAgKioqKgpSZWFzb246IFRpbWVkb3V0IGpvYgprZXJu\n\
                    ZWw6IDYuMTQuMAo=\n";
        let bytes = read(text).unwrap();
        assert_eq!(bytes, b"**** Xe Device Coredump ****\nReason: Timedout job\nkernel: 6.14.0\n");
        assert_eq!(read("GPU HANG: ecode"), None);
        assert_eq!(read("c2hvcnQ="), None, "too short");
        let cut = read(&text[..text.len() - 8]).unwrap();
        assert_eq!(cut, &bytes[..bytes.len() - 5]);
        assert_eq!(read(&text.replace('k', "=")), None, "padding inside");
    }
}
