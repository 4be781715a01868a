//! Output with column tracking, and numbers in the format of C's `printf`. Nothing here allocates.

use core::fmt::{self, Write};

/// Writes text to a writer and tracks the column. White space is written only together with the
/// text after it, so lines have no trailing white space.
pub(super) struct Line<'w, W: ?Sized> {
    out: &'w mut W,
    column: usize,
    spaces: usize,
}

impl<'w, W: Write + ?Sized> Line<'w, W> {
    pub fn new(out: &'w mut W) -> Self {
        Line { out, column: 0, spaces: 0 }
    }

    /// Writes `text`, which must have no line end.
    pub fn text(&mut self, text: &str) -> fmt::Result {
        const BLANK: &str = "                                                                ";
        if text.is_empty() {
            return Ok(());
        }
        while self.spaces > 0 {
            let count = self.spaces.min(BLANK.len());
            self.out.write_str(&BLANK[..count])?;
            self.spaces -= count;
            self.column += count;
        }
        self.column += text.len();
        self.out.write_str(text)
    }

    /// The current column, including pending white space.
    pub fn column(&self) -> usize {
        self.column + self.spaces
    }

    /// Adds one space.
    pub fn space(&mut self) {
        self.spaces += 1;
    }

    /// Adds white space up to `column`, if it is not reached yet.
    pub fn reach(&mut self, column: usize) {
        self.spaces += column.saturating_sub(self.column());
    }

    /// Adds white space up to `column`, at least one space.
    pub fn pad(&mut self, column: usize) {
        self.space();
        self.reach(column);
    }

    /// Starts a new line.
    pub fn end(&mut self) -> fmt::Result {
        self.column = 0;
        self.spaces = 0;
        self.out.write_str("\n")
    }

    /// Writes a decimal number.
    pub fn unsigned(&mut self, number: u64) -> fmt::Result {
        self.digits::<10>(number, 1, b'a')
    }

    /// Writes a decimal number with its sign.
    pub fn signed(&mut self, number: i64) -> fmt::Result {
        if number < 0 {
            self.text("-")?;
        }
        self.unsigned(number.unsigned_abs())
    }

    /// Writes at least `width` hexadecimal digits, lower case.
    pub fn hex(&mut self, number: u64, width: usize) -> fmt::Result {
        self.digits::<16>(number, width, b'a')
    }

    /// Writes at least `width` hexadecimal digits, upper case.
    pub fn hex_capital(&mut self, number: u64, width: usize) -> fmt::Result {
        self.digits::<16>(number, width, b'A')
    }

    fn digits<const BASE: u64>(&mut self, mut number: u64, width: usize, ten: u8) -> fmt::Result {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        while number > 0 {
            start -= 1;
            let digit = (number % BASE) as u8;
            digits[start] = if digit < 10 { b'0' + digit } else { ten + digit - 10 };
            number /= BASE;
        }
        start = start.min(digits.len() - width.clamp(1, digits.len()));
        // The digits are ASCII.
        self.text(core::str::from_utf8(&digits[start..]).unwrap_or_default())
    }
}

impl<W: Write + ?Sized> Write for Line<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text)
    }
}

/// A text of at most 40 bytes.
pub(super) struct Short {
    bytes: [u8; 40],
    length: usize,
}

impl Short {
    fn of(arguments: fmt::Arguments<'_>) -> Self {
        let mut short = Short { bytes: [0; 40], length: 0 };
        // Text that does not fit is dropped; all numbers written here fit.
        let _ = short.write_fmt(arguments);
        short
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Removes trailing zeros after a point, and the point if nothing follows it.
    fn without_zeros(mut self) -> Self {
        let text = self.as_str();
        if text.contains('.') {
            self.length = text.trim_end_matches('0').trim_end_matches('.').len();
        }
        self
    }
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

/// Formats like `%g`: six significant digits, without trailing zeros.
pub(super) fn general(value: f64) -> Short {
    if value.is_nan() {
        return Short::of(format_args!("{}nan", sign(value)));
    }
    if value.is_infinite() {
        return Short::of(format_args!("{}inf", sign(value)));
    }
    // The exponent after rounding to six digits.
    let rounded = Short::of(format_args!("{value:.5e}"));
    let (_, exponent) = rounded.as_str().split_once('e').unwrap_or(("", "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return Short::of(format_args!("{value:.*}", (5 - exponent) as usize)).without_zeros();
    }
    scientific(value, 5, true)
}

/// Formats like `%e` with `digits` digits after the point; `trim` removes trailing zeros.
pub(super) fn scientific(value: f64, digits: usize, trim: bool) -> Short {
    let text = Short::of(format_args!("{value:.digits$e}"));
    let (mantissa, exponent) = text.as_str().split_once('e').unwrap_or((text.as_str(), "0"));
    let mantissa = Short::of(format_args!("{mantissa}"));
    let mantissa = if trim { mantissa.without_zeros() } else { mantissa };
    let (sign, exponent) =
        exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    Short::of(format_args!("{}e{sign}{exponent:0>2}", mantissa.as_str()))
}

fn sign(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "" }
}

/// Converts a half float: sign, five bits of exponent with bias 15, ten bits of fraction.
pub(super) fn half_float(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits / 0x8000, bits / 1024 % 32, bits % 1024);
    let magnitude = match exponent {
        0 => f32::from(fraction) / 16_777_216.0,
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        // The fraction with its hidden bit, times two to the power of the exponent - 25.
        _ => {
            f32::from(1024 + fraction)
                * f32::from(1u16 << (exponent / 2))
                * f32::from(1u16 << exponent.div_ceil(2))
                / 33_554_432.0
        }
    };
    if sign == 0 { magnitude } else { -magnitude }
}

/// Converts a byte of a vector of floats: sign, three bits of exponent with bias 3, four bits of
/// fraction. All values except the two zeros are normalised (004:1123-1222).
pub(super) fn restricted_float(byte: u8) -> f64 {
    let magnitude = byte % 128;
    let sign = if byte < 128 { 1.0 } else { -1.0 };
    if magnitude == 0 {
        return sign * 0.0;
    }
    let (exponent, fraction) = (magnitude / 16, magnitude % 16);
    sign * (1.0 + f64::from(fraction) / 16.0) * f64::from(1u16 << exponent) / 8.0
}

/// Mesa's text for a value without a name.
pub(super) fn invalid<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    what: &str,
    value: u64,
) -> fmt::Result {
    line.text("*** invalid ")?;
    line.text(what)?;
    line.text(" value ")?;
    line.unsigned(value)?;
    line.space();
    Ok(())
}

#[cfg(test)]
mod tests;
