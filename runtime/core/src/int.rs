//! Integers that always fit the bits that store them.
//!
//! A literal is made with [`lit!`](crate::lit) and checked by the compiler. A run-time value is
//! made with `new`, which returns an error if the value does not fit. Only `from_bits`, for
//! decoders, drops bits.

use crate::bits::{ones, sign_extend};
use core::fmt;

/// A value that its field cannot hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OutOfRange {
    /// The rejected value.
    pub value: i128,
    /// The least value that fits.
    pub min: i128,
    /// The greatest value that fits.
    pub max: i128,
    /// The value must be a multiple of this; 1 if every value is allowed.
    pub multiple_of: u64,
}

crate::debug_as_display!(OutOfRange);

impl OutOfRange {
    /// The error, if `value` is greater than `max`; for generated code.
    #[doc(hidden)]
    pub const fn check(value: u64, max: u64) -> Option<OutOfRange> {
        if value <= max {
            return None;
        }
        Some(OutOfRange { value: value as i128, min: 0, max: max as i128, multiple_of: 1 })
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not fit {}..={}", self.value, self.min, self.max)?;
        if self.multiple_of > 1 {
            write!(f, " in steps of {}", self.multiple_of)?;
        }
        Ok(())
    }
}

impl core::error::Error for OutOfRange {}

/// Defines unsigned bounded integers. A row gives the doc, the type, the integer that stores it and
/// the greatest width.
macro_rules! unsigned {
    ($($(#[$doc:meta])* $type:ident($stored:ident), at most $most:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $type<const N: u32>($stored);

        impl<const N: u32> $type<N> {
            /// Zero.
            pub const ZERO: Self = $type(0);
            /// The greatest value, all bits set.
            pub const MAX: Self = $type(Self::ONES as $stored);
            const ONES: u64 = {
                assert!(N >= 1 && N <= $most, concat!("an integer of 1 to ", $most, " bits"));
                ones(N)
            };

            /// `value` if it fits `N` bits.
            #[inline(always)]
            pub const fn new(value: u64) -> Result<Self, OutOfRange> {
                if value <= Self::ONES {
                    Ok($type(value as $stored))
                } else {
                    Err(OutOfRange { value: value as i128, min: 0, max: Self::ONES as i128, multiple_of: 1 })
                }
            }

            /// The low `N` bits of a stored pattern, for decoders.
            #[inline(always)]
            pub const fn from_bits(bits: u64) -> Self {
                $type((bits & Self::ONES) as $stored)
            }

            /// The stored pattern.
            #[inline(always)]
            pub const fn bits(self) -> u64 {
                self.0 as u64
            }

            /// The value.
            #[inline(always)]
            pub const fn get(self) -> u64 {
                self.0 as u64
            }
        }
    )*};
}
unsigned! {
    /// An unsigned integer of `N` bits, 1 to 32: 0..=2^N-1.
    U(u32), at most 32;
    /// An unsigned integer of `N` bits, 33 to 64 (fewer are allowed): 0..=2^N-1.
    U64(u64), at most 64;
}

/// Defines signed bounded integers; rows as in `unsigned!`.
macro_rules! signed {
    ($($(#[$doc:meta])* $type:ident($stored:ident), at most $most:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $type<const N: u32>($stored);

        impl<const N: u32> $type<N> {
            /// Zero.
            pub const ZERO: Self = $type(0);
            const MIN_VALUE: i64 = -Self::MAX_VALUE - 1;
            const MAX_VALUE: i64 = {
                assert!(N >= 1 && N <= $most, concat!("an integer of 1 to ", $most, " bits"));
                (ones(N) >> 1) as i64
            };

            /// `value` if it fits `N` bits.
            #[inline(always)]
            pub const fn new(value: i64) -> Result<Self, OutOfRange> {
                if value >= Self::MIN_VALUE && value <= Self::MAX_VALUE {
                    Ok($type(value as $stored))
                } else {
                    Err(OutOfRange {
                        value: value as i128,
                        min: Self::MIN_VALUE as i128,
                        max: Self::MAX_VALUE as i128,
                        multiple_of: 1,
                    })
                }
            }

            /// The low `N` bits of a stored pattern, sign-extended, for decoders.
            #[inline(always)]
            pub const fn from_bits(bits: u64) -> Self {
                $type(sign_extend(bits & ones(N), N) as $stored)
            }

            /// The stored pattern.
            #[inline(always)]
            pub const fn bits(self) -> u64 {
                self.0 as u64 & ones(N)
            }

            /// The value.
            #[inline(always)]
            pub const fn get(self) -> i64 {
                self.0 as i64
            }
        }
    )*};
}
signed! {
    /// A two's complement integer of `N` bits, 1 to 32: -2^(N-1)..=2^(N-1)-1.
    S(i32), at most 32;
    /// A two's complement integer of `N` bits, 33 to 64 (fewer are allowed): -2^(N-1)..=2^(N-1)-1.
    S64(i64), at most 64;
}

/// A count that hardware stores minus one in `N` bits, 1 to 32: 1..=2^N.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct MinusOne<const N: u32>(u32);

impl<const N: u32> MinusOne<N> {
    /// One, stored as zero.
    pub const ONE: Self = MinusOne(0);

    /// `value` if it lies in 1..=2^N.
    #[inline(always)]
    pub const fn new(value: u64) -> Result<Self, OutOfRange> {
        if value >= 1 && value - 1 <= ones(N) {
            Ok(MinusOne((value - 1) as u32))
        } else {
            Err(OutOfRange {
                value: value as i128,
                min: 1,
                max: ones(N) as i128 + 1,
                multiple_of: 1,
            })
        }
    }

    /// From a stored pattern, for decoders.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        MinusOne((bits & ones(N)) as u32)
    }

    /// The stored pattern, one less than the value.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0 as u64
    }

    /// The value, at least 1.
    #[inline(always)]
    pub const fn get(self) -> u64 {
        self.0 as u64 + 1
    }
}

impl<const N: u32> Default for MinusOne<N> {
    fn default() -> Self {
        Self::ONE
    }
}

/// A multiple of 2^SHIFT that hardware stores shifted right in `N` bits; N + SHIFT is at most 64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Shifted<const N: u32, const SHIFT: u32>(u64);

impl<const N: u32, const SHIFT: u32> Shifted<N, SHIFT> {
    /// Zero.
    pub const ZERO: Self = Shifted(0);

    /// `value` if it is a multiple of 2^SHIFT and fits.
    #[inline(always)]
    pub const fn new(value: u64) -> Result<Self, OutOfRange> {
        if value >> SHIFT << SHIFT == value && value >> SHIFT <= ones(N) {
            Ok(Shifted(value >> SHIFT))
        } else {
            Err(OutOfRange {
                value: value as i128,
                min: 0,
                max: (ones(N) as i128) << SHIFT,
                multiple_of: 1 << SHIFT,
            })
        }
    }

    /// From a stored pattern, for decoders.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        Shifted(bits & ones(N))
    }

    /// The stored pattern.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The value.
    #[inline(always)]
    pub const fn get(self) -> u64 {
        self.0 << SHIFT
    }
}

/// A power of two that hardware stores as its logarithm in `N` bits, 1 to 6: 1, 2, 4 ... 2^(2^N-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct PowerOfTwo<const N: u32>(u64);

impl<const N: u32> PowerOfTwo<N> {
    /// One, stored as zero.
    pub const ONE: Self = PowerOfTwo(0);

    /// `value` if it is a power of two whose logarithm fits.
    #[inline(always)]
    pub const fn new(value: u64) -> Result<Self, OutOfRange> {
        if value.is_power_of_two() && value.trailing_zeros() as u64 <= ones(N) {
            Ok(PowerOfTwo(value.trailing_zeros() as u64))
        } else {
            Err(OutOfRange { value: value as i128, min: 1, max: 1i128 << ones(N), multiple_of: 1 })
        }
    }

    /// From a stored pattern, for decoders.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        PowerOfTwo(bits & ones(N))
    }

    /// The stored pattern: the logarithm.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The value.
    #[inline(always)]
    pub const fn get(self) -> u64 {
        1 << self.0
    }
}

macro_rules! text {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.get(), f)
            }
        }
        impl<$($generics)*> fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.get(), f)
            }
        }
    )*};
}
text! {
    [const N: u32] U<N>;
    [const N: u32] U64<N>;
    [const N: u32] S<N>;
    [const N: u32] S64<N>;
    [const N: u32] MinusOne<N>;
    [const N: u32, const SHIFT: u32] Shifted<N, SHIFT>;
    [const N: u32] PowerOfTwo<N>;
}

macro_rules! try_from {
    ($($from:ident)*: $wide:ident, $([$($generics:tt)*] $type:ty;)*) => {
        try_from! { @types [$($from)*] $wide $([[$($generics)*] $type])* }
    };
    (@types $from:tt $wide:ident $($row:tt)*) => {
        $(try_from! { @row $from $wide $row })*
    };
    (@row [$($from:ident)*] $wide:ident $row:tt) => {
        $(try_from! { @one $from $wide $row })*
    };
    (@one $from:ident $wide:ident [[$($generics:tt)*] $type:ty]) => {
        impl<$($generics)*> TryFrom<$from> for $type {
            type Error = OutOfRange;
            #[inline(always)]
            fn try_from(value: $from) -> Result<Self, OutOfRange> {
                Self::new($wide::from(value))
            }
        }
    };
}
try_from! {
    u8 u16 u32 u64: u64,
    [const N: u32] U<N>;
    [const N: u32] U64<N>;
    [const N: u32] MinusOne<N>;
    [const N: u32, const SHIFT: u32] Shifted<N, SHIFT>;
    [const N: u32] PowerOfTwo<N>;
}
try_from! {
    i8 i16 i32 i64: i64,
    [const N: u32] S<N>;
    [const N: u32] S64<N>;
}
