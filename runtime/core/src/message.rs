//! Error messages that can be built at compile time, for `panic!` in a constant.

use crate::int::OutOfRange;

/// A text of at most 320 bytes; the rest is cut off.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    bytes: [u8; 320],
    length: usize,
}

impl Text {
    pub const fn new() -> Self {
        Text { bytes: [0; 320], length: 0 }
    }

    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "the value does not fit the field",
        }
    }

    pub const fn text(mut self, text: &str) -> Self {
        let mut i = 0;
        while i < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text.as_bytes()[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    pub const fn number(self, value: i128) -> Self {
        self.digits(value, 10)
    }

    pub const fn hex(self, value: i128) -> Self {
        let this = if value < 0 { self.text("-0x") } else { self.text("0x") };
        this.digits(value.unsigned_abs() as i128, 16)
    }

    /// Adds `value` / 2^`fraction` as a decimal number with all its digits.
    pub const fn fixed(self, value: i128, fraction: u32) -> Self {
        let whole = (value.unsigned_abs() >> fraction) as i128;
        let mut this = if value < 0 { self.text("-") } else { self }.number(whole);
        let ones = (1u128 << fraction) - 1;
        let mut rest = value.unsigned_abs() & ones;
        if rest != 0 {
            this = this.text(".");
        }
        while rest != 0 {
            rest *= 10;
            this = this.number((rest >> fraction) as i128);
            rest &= ones;
        }
        this
    }

    const fn digits(self, value: i128, base: u128) -> Self {
        let mut this = if value < 0 { self.text("-") } else { self };
        let mut digits = [0u8; 40];
        let (mut rest, mut count) = (value.unsigned_abs(), 0);
        loop {
            digits[count] = b"0123456789abcdef"[(rest % base) as usize];
            count += 1;
            rest /= base;
            if rest == 0 {
                break;
            }
        }
        while count > 0 && this.length < this.bytes.len() {
            count -= 1;
            this.bytes[this.length] = digits[count];
            this.length += 1;
        }
        this
    }

    /// Adds value and range: `600 does not fit 1..=512`.
    pub const fn integer(self, error: OutOfRange) -> Self {
        let OutOfRange { value, min, max, multiple_of } = error;
        let this = self.number(value).text(" does not fit ").number(min).text("..=").number(max);
        if multiple_of > 1 { this.text(" in steps of ").number(multiple_of as i128) } else { this }
    }

    /// Adds value and limit: `3 is not a power of two up to 128`.
    pub const fn power_of_two(self, error: OutOfRange) -> Self {
        self.number(error.value).text(" is not a power of two up to ").number(error.max)
    }

    /// Adds `0x41 is not a multiple of 0x40` for a misaligned address; else value and range as
    /// [`integer`](Self::integer) does, in hexadecimal.
    pub const fn address(self, error: OutOfRange) -> Self {
        let OutOfRange { value, min, max, multiple_of } = error;
        if value % multiple_of as i128 != 0 {
            return self.hex(value).text(" is not a multiple of ").hex(multiple_of as i128);
        }
        let this = self.hex(value).text(" does not fit ");
        let this = if min == 0 { this.text("0") } else { this.hex(min) };
        this.text("..=").hex(max)
    }
}
