//! Tables of volume 4 of the G45 manual (003) for floats. They are valid for Gen8 too.

use genxml_eu::instruction::Condition;

/// One value for each row and column of the tables: -inf, -finite, -subnormal, -0, +0, +subnormal,
/// +finite, +inf, NaN.
pub const SINGLES: [f32; 9] =
    [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 2.5, f32::INFINITY, f32::NAN];

/// Products have columns for 1 and -1, too.
pub const FACTORS: [f32; 11] =
    [f32::NEG_INFINITY, -2.5, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, 2.5, f32::INFINITY, f32::NAN];

/// Numbers of the tables of sums in ALT mode: the largest numbers replace infinities.
pub const ALT_SINGLES: [f32; 8] = [f32::MIN, -2.5, -1e-40, -0.0, 0.0, 1e-40, 2.5, f32::MAX];

/// Numbers of the tables of products in ALT mode.
pub const ALT_FACTORS: [f32; 10] =
    [f32::MIN, -2.5, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, 2.5, f32::MAX];

/// A table of comparisons: T true, F false, ? either. Rows are source 0, columns source 1.
pub type Comparison = [&'static str; 9];

/// Tables 10-3 to 10-8, `cmp`.
pub const CMP: [(Condition, Comparison); 6] = [
    (
        Condition::Greater,
        [
            "FFFFFFFFF",
            "T?FFFFFFF",
            "TTFFFFFFF",
            "TTFFFFFFF",
            "TTFFFFFFF",
            "TTFFFFFFF",
            "TTTTTT?FF",
            "TTTTTTTFF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::Less,
        [
            "FTTTTTTTF",
            "F?TTTTTTF",
            "FFFFFFTTF",
            "FFFFFFTTF",
            "FFFFFFTTF",
            "FFFFFFTTF",
            "FFFFFF?TF",
            "FFFFFFFFF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::Equal,
        [
            "TFFFFFFFF",
            "F?FFFFFFF",
            "FFTTTTFFF",
            "FFTTTTFFF",
            "FFTTTTFFF",
            "FFTTTTFFF",
            "FFFFFF?FF",
            "FFFFFFFTF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::NotEqual,
        [
            "FTTTTTTTT",
            "T?TTTTTTT",
            "TTFFFFTTT",
            "TTFFFFTTT",
            "TTFFFFTTT",
            "TTFFFFTTT",
            "TTTTTT?TT",
            "TTTTTTTFT",
            "TTTTTTTTT",
        ],
    ),
    (
        Condition::LessEqual,
        [
            "TTTTTTTTF",
            "F?TTTTTTF",
            "FFTTTTTTF",
            "FFTTTTTTF",
            "FFTTTTTTF",
            "FFTTTTTTF",
            "FFFFFF?TF",
            "FFFFFFFTF",
            "FFFFFFFFF",
        ],
    ),
    (
        Condition::GreaterEqual,
        [
            "TFFFFFFFF",
            "T?FFFFFFF",
            "TTTTTTFFF",
            "TTTTTTFFF",
            "TTTTTTFFF",
            "TTTTTTFFF",
            "TTTTTT?FF",
            "TTTTTTTTF",
            "FFFFFFFFF",
        ],
    ),
];

/// Tables 10-9 to 10-14, `cmpn`.
pub const CMPN: [(Condition, Comparison); 6] = [
    (
        Condition::Greater,
        [
            "FFFFFFFFT",
            "T?FFFFFFT",
            "TTFFFFFFT",
            "TTFFFFFFT",
            "TTFFFFFFT",
            "TTFFFFFFT",
            "TTTTTT?FT",
            "TTTTTTTFT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::Less,
        [
            "FTTTTTTTT",
            "F?TTTTTTT",
            "FFFFFFTTT",
            "FFFFFFTTT",
            "FFFFFFTTT",
            "FFFFFFTTT",
            "FFFFFF?TT",
            "FFFFFFFFT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::Equal,
        [
            "TFFFFFFFT",
            "F?FFFFFFT",
            "FFTTTTFFT",
            "FFTTTTFFT",
            "FFTTTTFFT",
            "FFTTTTFFT",
            "FFFFFF?FT",
            "FFFFFFFTT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::NotEqual,
        [
            "FTTTTTTTF",
            "T?TTTTTTF",
            "TTFFFFTTF",
            "TTFFFFTTF",
            "TTFFFFTTF",
            "TTFFFFTTF",
            "TTTTTT?TF",
            "TTTTTTTFF",
            "TTTTTTTTF",
        ],
    ),
    (
        Condition::LessEqual,
        [
            "TTTTTTTTT",
            "F?TTTTTTT",
            "FFTTTTTTT",
            "FFTTTTTTT",
            "FFTTTTTTT",
            "FFTTTTTTT",
            "FFFFFF?TT",
            "FFFFFFFTT",
            "FFFFFFFFT",
        ],
    ),
    (
        Condition::GreaterEqual,
        [
            "TFFFFFFFT",
            "T?FFFFFFT",
            "TTTTTTFFT",
            "TTTTTTFFT",
            "TTTTTTFFT",
            "TTTTTTFFT",
            "TTTTTT?FT",
            "TTTTTTTTT",
            "FFFFFFFFT",
        ],
    ),
];

/// Table 14-1, sums in IEEE mode. Rows are A, columns B: the captions are the other way round, but
/// the cells of zeros and finite numbers are not.
pub const SUMS: [&str; 9] = [
    "iiiiiiinn",
    "i?AAAA?In",
    "iBzzZZBIn",
    "iBzzZZBIn",
    "iBZZZZBIn",
    "iBZZZZBIn",
    "i?AAAA?In",
    "nIIIIIIIn",
    "nnnnnnnnn",
];

/// Table 14-5, products in IEEE mode.
pub const PRODUCTS: [&str; 11] = [
    "IIInnnniiin",
    "I?aZZzzA?in",
    "IbOZZzzobin",
    "nZZZZzzzznn",
    "nZZZZzzzznn",
    "nzzzzZZZZnn",
    "nzzzzZZZZnn",
    "iBozzZZOBIn",
    "i?azzZZA?In",
    "iiinnnnIIIn",
    "nnnnnnnnnnn",
];

/// Table 14-6, products in ALT mode. The row of -fmax prints NaN for products with zero. Its column
/// does not, and the mode excludes NaN: these cells are not checked.
pub const ALT_PRODUCTS: [&str; 10] = [
    "MMM!!!!mmm",
    "M?aZZzzA?m",
    "MbOZZzzobm",
    "ZZZZZzzzzz",
    "ZZZZZzzzzz",
    "zzzzzZZZZZ",
    "zzzzzZZZZZ",
    "mBozzZZOBM",
    "m?azzZZA?M",
    "mmmzzZZMMM",
];

/// Cells of an arithmetic table: n NaN, i and I infinities, z and Z zeros, o and O ones (small
/// letters negative), m and M the greatest finite numbers, A and B the operands, a and b the same
/// negated, ? any number, ! not checked.
pub fn check_cell(what: &str, cell: u8, a: f32, b: f32, actual: f32) {
    let expected = match cell {
        b'n' => return assert!(actual.is_nan(), "{what} is {actual}"),
        b'?' => return assert!(!actual.is_nan(), "{what} is {actual}"),
        b'!' => return,
        b'i' => f32::NEG_INFINITY,
        b'I' => f32::INFINITY,
        b'z' => -0.0,
        b'Z' => 0.0,
        b'o' => -1.0,
        b'O' => 1.0,
        b'm' => f32::MIN,
        b'M' => f32::MAX,
        b'A' => a,
        b'B' => b,
        b'a' => -a,
        b'b' => -b,
        _ => panic!("no such cell"),
    };
    assert_eq!(actual.to_bits(), expected.to_bits(), "{what} is {actual}");
}
