//! Numbers as text, appended to a buffer: the formatting machinery of the standard library takes most of the time of
//! decoding otherwise.

/// Decimal digits.
pub(super) fn decimal(buffer: &mut Vec<u8>, value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    buffer.extend_from_slice(&digits[at..]);
}

/// Hexadecimal digits, at least `width` of them and at least one.
pub(super) fn hex(buffer: &mut Vec<u8>, value: u64, width: usize) {
    let digits = (64 - value.leading_zeros() as usize).div_ceil(4).max(width).max(1);
    for place in (0..digits).rev() {
        let digit = (value >> (4 * place) & 15) as usize;
        buffer.push(b"0123456789abcdef"[digit]);
    }
}

/// `0x` and hexadecimal digits.
pub(super) fn hex0x(buffer: &mut Vec<u8>, value: u64, width: usize) {
    buffer.extend_from_slice(b"0x");
    hex(buffer, value, width);
}
