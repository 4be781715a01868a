//! Tests of `text`.

use super::*;
use std::string::String;

/// Oracle: glibc's printf.
#[test]
fn numbers_as_printf_writes_them() {
    let examples = [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (100000.0, "100000"),
        (1e6, "1e+06"),
        (999999.5, "1e+06"),
        (65280.0, "65280"),
        (0.0001, "0.0001"),
        (0.00001234567, "1.23457e-05"),
        (-1.2582912e7, "-1.25829e+07"),
        (1e300, "1e+300"),
        (f64::INFINITY, "inf"),
        (-f64::NAN.abs(), "-nan"),
        (5e-324, "4.94066e-324"),
    ];
    for (value, text) in examples {
        assert_eq!(general(value).as_str(), text);
    }
    assert_eq!(scientific(1.5, 6, false).as_str(), "1.500000e+00");
}

#[test]
fn columns() {
    let mut text = String::new();
    let mut line = Line::new(&mut text);
    line.text("ab").unwrap();
    line.reach(1);
    line.pad(4);
    line.hex(0x1f, 4).unwrap();
    line.pad(6);
    line.signed(-12).unwrap();
    line.pad(80);
    line.end().unwrap();
    assert_eq!(text, "ab  001f -12\n");
    let mut text = String::new();
    let mut line = Line::new(&mut text);
    line.reach(70);
    line.unsigned(u64::MAX).unwrap();
    assert_eq!((text.len(), text.trim_start()), (90, "18446744073709551615"));
}

/// Oracle: IEEE 754: the least and greatest subnormal, the least normal, the float below one, one,
/// the greatest, -2, and 1/3 rounded.
#[test]
fn half_floats() {
    let examples = [
        (0x0001, 5.960_464_5e-8),
        (0x03ff, 6.097_555e-5),
        (0x0400, 6.103_515_6e-5),
        (0x3bff, 0.999_511_7),
        (0x3c00, 1.0),
        (0x7bff, 65504.0),
        (0xc000, -2.0),
        (0x3555, 0.333_251_95),
    ];
    for (bits, value) in examples {
        assert_eq!(half_float(bits), value, "{bits:#x}");
    }
    assert!(half_float(0x8000).is_sign_negative() && half_float(0x8000) == 0.0);
    assert!(half_float(0xfc00) == f32::NEG_INFINITY && half_float(0xfe01).is_nan());
}

/// Oracle: rows of the manual's table, 004:1171-1213.
#[test]
fn restricted_floats() {
    for (byte, value) in [(0x30, 1.0), (0x38, 1.5), (0xb0, -1.0), (0x70, 16.0), (0x01, 0.1328125)] {
        assert_eq!(restricted_float(byte), value, "{byte:#x}");
    }
    assert!(restricted_float(0x80).is_sign_negative() && restricted_float(0x80) == 0.0);
}
