//! Floats as exact numbers, for every format and every rounding mode, with exponents beyond those
//! of the formats.
//!
//! Used for the rounding modes that need a mode switch of the host processor, for half floats where
//! singles would round twice, and for the division macros. Singles and doubles that are rounded to
//! nearest even are computed by the host processor instead.

/// How a result that lies between two floats is rounded (`cr0.0` bits 5:4, 004:3251).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rounding {
    /// To the nearest; of two that are equally near, to the even one.
    #[default]
    Nearest,
    /// Toward plus infinity.
    Up,
    /// Toward minus infinity.
    Down,
    /// Toward zero.
    Zero,
}

impl Rounding {
    /// The rounding mode of bits 5:4 of `cr0.0`, given in the low bits of `bits`.
    pub const fn from_control(bits: u8) -> Rounding {
        match bits & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::Zero,
        }
    }
}

/// A binary interchange format of IEEE 754.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of a significand, the implied one included.
    pub precision: u32,
    /// Bits of the exponent.
    pub exponent: u32,
}

impl Format {
    /// Half precision: 16 bits.
    pub const HALF: Format = Format { precision: 11, exponent: 5 };
    /// Single precision: 32 bits.
    pub const SINGLE: Format = Format { precision: 24, exponent: 8 };
    /// Double precision: 64 bits.
    pub const DOUBLE: Format = Format { precision: 53, exponent: 11 };

    /// Exponent of the least normal number, and of all subnormal ones.
    const fn least(self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }

    /// Bits of the fraction as stored.
    const fn fraction(self) -> u32 {
        self.precision - 1
    }

    /// The pattern of plus infinity.
    pub const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction()
    }

    /// The pattern of the NaN that arithmetic makes: quiet, positive, no payload.
    pub const fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction() - 1)
    }

    /// The sign bit.
    pub const fn sign(self) -> u64 {
        1 << (self.precision + self.exponent - 1)
    }

    /// Bias that makes exponents fit a register: added if they are too small, subtracted if they
    /// are too great (as IEEE 754 does for trapped overflows).
    const fn wrap(self) -> i32 {
        3 << (self.exponent - 2)
    }
}

/// A float value. If it is inexact, the lowest bit of its significand is set, so that it rounds as
/// the exact value does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exact {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinite {
        /// True for minus infinity.
        negative: bool,
    },
    /// `significand * 2^exponent`; zeros have a sign too.
    Finite {
        /// True if the value is below zero or minus zero.
        negative: bool,
        /// The exponent of 2.
        exponent: i32,
        /// The significand, less than 2^126.
        significand: u128,
    },
}
use Exact::{Finite, Infinite, Nan};

/// A value that was packed in a float format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed {
    /// Bit pattern of the value.
    pub bits: u64,
    /// True if the value was too great for the format.
    pub overflow: bool,
}

/// `value` shifted right by `shift` bits. The lowest bit of the result is also set if one of the
/// bits that were shifted out was set.
const fn shift_sticky(value: u128, shift: u32) -> u128 {
    match shift {
        0 => value,
        1..128 => value >> shift | (value << (128 - shift) != 0) as u128,
        _ => (value != 0) as u128,
    }
}

impl Exact {
    /// The value of the pattern `bits`.
    pub const fn unpack(format: Format, bits: u64) -> Exact {
        let negative = bits & format.sign() != 0;
        let biased = (bits & format.infinity()) >> format.fraction();
        let fraction = bits & ((1 << format.fraction()) - 1);
        if biased == format.infinity() >> format.fraction() {
            return if fraction == 0 { Infinite { negative } } else { Nan };
        }
        let implied = if biased == 0 { 0 } else { 1 << format.fraction() };
        let exponent = format.least() - format.fraction() as i32
            + if biased == 0 { 0 } else { biased as i32 - 1 };
        Finite { negative, exponent, significand: (fraction | implied) as u128 }
    }

    /// The value of an integer.
    pub const fn integer(value: i128) -> Exact {
        let magnitude = value.unsigned_abs();
        // The lowest bits of an integer that is too wide for a significand are shifted out: for
        // rounding, only whether one of them is set matters.
        let shift = 2u32.saturating_sub(magnitude.leading_zeros());
        Finite {
            negative: value < 0,
            exponent: shift as i32,
            significand: shift_sticky(magnitude, shift),
        }
    }

    /// The value times a power of two.
    #[must_use]
    pub const fn scaled(self, by: i32) -> Exact {
        match self {
            Finite { negative, exponent, significand } => {
                Finite { negative, exponent: exponent + by, significand }
            }
            other => other,
        }
    }

    /// The sum; `rounding` gives the sign of a sum of zero.
    #[must_use]
    pub fn plus(self, other: Exact, rounding: Rounding) -> Exact {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { negative }, Infinite { negative: second }) => {
                if negative == second {
                    self
                } else {
                    Nan
                }
            }
            (Infinite { .. }, _) => self,
            (_, Infinite { .. }) => other,
            (
                Finite { negative, significand: 0, .. },
                Finite { negative: second, significand: 0, .. },
            ) => {
                let negative =
                    if negative == second { negative } else { rounding == Rounding::Down };
                Finite { negative, exponent: 0, significand: 0 }
            }
            (Finite { significand: 0, .. }, _) => other,
            (_, Finite { significand: 0, .. }) => self,
            (Finite { .. }, Finite { .. }) => add_numbers(self, other, rounding),
        }
    }

    /// The product; the significands together must have less than 126 bits.
    #[must_use]
    pub fn times(self, other: Exact) -> Exact {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { negative }, Infinite { negative: second }) => {
                Infinite { negative: negative != second }
            }
            (Infinite { negative }, Finite { negative: second, significand, .. })
            | (Finite { negative, significand, .. }, Infinite { negative: second }) => {
                if significand == 0 {
                    Nan
                } else {
                    Infinite { negative: negative != second }
                }
            }
            (
                Finite { negative, exponent, significand },
                Finite { negative: second, exponent: plus, significand: times },
            ) => Finite {
                negative: negative != second,
                exponent: exponent + plus,
                significand: significand * times,
            },
        }
    }

    /// The value as a pattern of the format, rounded. A value that is too great becomes an
    /// infinity, or the greatest finite number if the mode rounds it toward zero. Subnormal results
    /// stay subnormal.
    pub fn pack(self, format: Format, rounding: Rounding) -> Packed {
        let exact = |bits| Packed { bits, overflow: false };
        match self {
            Nan => exact(format.nan()),
            Infinite { negative } => exact(sign(format, negative) | format.infinity()),
            Finite { negative, significand: 0, .. } => exact(sign(format, negative)),
            Finite { negative, exponent, significand } => {
                let top = exponent + significand.ilog2() as i32;
                let step = top.max(format.least()) - format.fraction() as i32;
                let kept = round(significand, step - exponent, negative, rounding);
                // The implied bit of a normal number is added to the exponent, and so is the carry
                // of a significand that was rounded up to the next power of two.
                let biased = (top - format.least()).max(0) as u64;
                let bits = if biased as i64 > 1 << format.exponent {
                    u64::MAX >> 1
                } else {
                    (biased << format.fraction()) + kept as u64
                };
                if bits < format.infinity() {
                    return exact(sign(format, negative) | bits);
                }
                let stays = match rounding {
                    Rounding::Nearest => false,
                    Rounding::Up => negative,
                    Rounding::Down => !negative,
                    Rounding::Zero => true,
                };
                let bits = sign(format, negative) | (format.infinity() - u64::from(stays));
                Packed { bits, overflow: true }
            }
        }
    }

    /// As [`pack`](Self::pack), with [`EXTRA_BITS`] more bits and an exponent without limits:
    /// returns the nearest pattern, and the extension that completes it.
    pub fn pack_extended(self, format: Format, rounding: Rounding) -> (u64, Extension) {
        let Finite { negative, exponent, significand: significand @ 1.. } = self else {
            return (self.pack(format, rounding).bits, Extension::default());
        };
        let top = exponent + significand.ilog2() as i32;
        let greatest = 1 - format.least();
        let mut scale = 0;
        // Rounding may increase the value to the next power of two, which must fit too.
        while top - scale >= greatest {
            scale += format.wrap();
        }
        while top - scale < format.least() {
            scale -= format.wrap();
        }
        let step = top - format.fraction() as i32 - EXTRA_BITS as i32;
        let kept = round(significand, step - exponent, negative, rounding);
        let inside = Finite { negative, exponent: step - scale, significand: kept };
        let bits = inside.pack(format, Rounding::Nearest).bits;
        let tail = match Exact::unpack(format, bits) {
            // The unit in the last place of the pattern is that of the value, or twice that if the
            // value was rounded up to a power of two.
            Finite { exponent: nearest, significand, .. } => {
                let shift = (nearest - (step - scale)) as u32;
                (kept as i128 - ((significand as i128) << shift)) << (EXTRA_BITS + 1 - shift)
            }
            _ => 0,
        };
        (bits, Extension { scale: scale as i16, tail: tail as i16 })
    }

    /// The value that [`pack_extended`](Self::pack_extended) packed.
    pub const fn unpack_extended(format: Format, bits: u64, extension: Extension) -> Exact {
        match Exact::unpack(format, bits) {
            Finite { negative, exponent, significand: significand @ 1.. } => {
                let whole = (significand << (EXTRA_BITS + 1)) as i128 + extension.tail as i128;
                let exponent = exponent - (EXTRA_BITS as i32 + 1) + extension.scale as i32;
                Finite { negative, exponent, significand: whole.unsigned_abs() }
            }
            other => other,
        }
    }
}

/// Extra bits of precision that intermediate values of a division macro have. No source states the
/// number. With 8, the sequences of compilers give correctly rounded quotients and roots, which is
/// their purpose, and products of two doubles still fit 128 bits.
pub const EXTRA_BITS: u32 = 8;

/// The part of a value of a division macro that its register cannot hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extension {
    /// The register holds the value divided by 2^scale.
    pub scale: i16,
    /// Added to the register's significand, in units of 2^-9 of its last place.
    pub tail: i16,
}

const fn sign(format: Format, negative: bool) -> u64 {
    if negative { format.sign() } else { 0 }
}

/// Returns `significand / 2^shift`, rounded to an integer.
fn round(significand: u128, shift: i32, negative: bool, rounding: Rounding) -> u128 {
    if shift <= 0 {
        return significand << -shift;
    }
    // Two bits below the last one that is kept are enough to round.
    let guarded =
        if shift == 1 { significand << 1 } else { shift_sticky(significand, shift as u32 - 2) };
    let (kept, rest) = (guarded >> 2, guarded & 3);
    let up = match rounding {
        Rounding::Nearest => rest > 2 || rest == 2 && kept & 1 == 1,
        Rounding::Up => rest != 0 && !negative,
        Rounding::Down => rest != 0 && negative,
        Rounding::Zero => false,
    };
    kept + u128::from(up)
}

/// Sum of two finite numbers that are not zero.
fn add_numbers(a: Exact, b: Exact, rounding: Rounding) -> Exact {
    // Both significands are shifted so that their highest bits are at the same position. Then the
    // exponents show which number is greater, and the smaller one has room to be shifted right.
    // Bits are lost only if the numbers differ so much that their leading bits cannot cancel.
    let normal = |value: Exact| match value {
        Finite { negative, exponent, significand } => {
            let shift = significand.leading_zeros() - 2;
            (negative, exponent - shift as i32, significand << shift)
        }
        _ => (false, 0, 0),
    };
    let (a, b) = (normal(a), normal(b));
    let (great, small) = if (a.1, a.2) >= (b.1, b.2) { (a, b) } else { (b, a) };
    let moved = shift_sticky(small.2, (great.1 - small.1) as u32);
    let (negative, exponent) = (great.0, great.1);
    if great.0 == small.0 {
        // The sum may have one bit more than a significand may have.
        return Finite {
            negative,
            exponent: exponent + 1,
            significand: shift_sticky(great.2 + moved, 1),
        };
    }
    match great.2 - moved {
        0 => Finite { negative: rounding == Rounding::Down, exponent: 0, significand: 0 },
        significand => Finite { negative, exponent, significand },
    }
}
