//! Removal of emulation prevention bytes: the 3 of 0, 0, 3 (H.264 7.3.1; SMPTE 421M annex E).

/// The bytes of `data` without the emulation prevention bytes.
pub fn remove(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut zeros = 0;
    for &byte in data {
        if zeros >= 2 && byte == 3 {
            zeros = 0;
            continue;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        out.push(byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::remove;

    #[test]
    fn a_three_after_two_zeros_is_removed() {
        assert_eq!(remove(&[0, 0, 3, 1, 0, 0, 0, 3, 0, 0, 3]), [0, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(remove(&[3, 0, 3, 0, 0, 3, 3]), [3, 0, 3, 0, 0, 3]);
    }
}
