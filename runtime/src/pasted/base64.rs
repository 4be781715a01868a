//! Files in base64, as `base64 FILE` and mail programs write them.
//!
//! Source: RFC 4648.

/// Least number of characters: shorter texts may be words.
const LEAST: usize = 64;

/// The bytes of a text that consists of base64; `None` if it does not.
pub(super) fn read(text: &str) -> Option<Vec<u8>> {
    let mut bits = 0u32;
    let mut count = 0;
    let mut characters = 0;
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut padding = false;
    for line in text.lines().map(str::trim) {
        let frame =
            line.starts_with("begin-base64 ") || line == "====" || line.starts_with("-----");
        if frame {
            continue;
        }
        for byte in line.bytes() {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                b'=' => {
                    padding = true;
                    continue;
                }
                _ => return None,
            };
            if padding {
                return None;
            }
            characters += 1;
            bits = bits << 6 | u32::from(value);
            count += 6;
            if count >= 8 {
                count -= 8;
                out.push((bits >> count) as u8);
            }
        }
    }
    (characters >= LEAST).then_some(out)
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
    }
}
