//! The laws of packing, for property tests over every generated container.
//!
//! For any dwords `d` and `x = unpack_lossy(d)`:
//! * `unpack_lossy(pack(x)) == x`: packing loses nothing that a field holds;
//! * `unpack(pack(x)) == x`: packed dwords are well formed (unless a value is outside the manual's
//!   range);
//! * `pack(unpack(d')) == d'` for the well-formed `d' = pack(x)`: unpacking loses no bit.
//!
//! The code generator lists the containers: `genxml_codegen::emit::round_trips`.

use crate::check::Check;
use crate::packet::{Fixed, PackError, UnpackError};
use crate::reflect::{Container, Kind};
use core::fmt::{self, Write};

/// The laws of one container.
#[derive(Debug)]
pub struct RoundTrip {
    /// The container's description.
    pub info: &'static Container,
    /// Checks the laws for the container in `dwords`. Opcode and length there may be illegal:
    /// packing writes legal ones.
    pub check: fn(dwords: &[u32]) -> Result<Outcome, Broken>,
    /// The checks of strict readers.
    pub checks: &'static [Check],
    /// Reads strictly, like `unpack`.
    pub strict: fn(dwords: &[u32]) -> Result<(), UnpackError>,
    /// Reads as hardware does and packs again. In a container with a variable tail, the length
    /// field is first set to the number of `dwords`.
    pub repack: fn(dwords: &[u32], out: &mut [u32]) -> Result<usize, PackError>,
    /// Packs the default value, if the type has one.
    pub default: Option<Pack>,
}

/// Packs a value and returns the number of dwords.
pub type Pack = fn(out: &mut [u32]) -> Result<usize, PackError>;

/// Result of a check that found no broken law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All laws hold.
    Holds,
    /// All laws hold that can be checked. The random value of a field is outside its range, so
    /// strict readers reject it.
    OutOfRange(UnpackError),
    /// The random tail has no complete element, and the length field cannot express an empty tail.
    NoTail(PackError),
}

/// A broken law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Packing and then unpacking gives another value.
    Changed,
    /// Unpacking and then packing gives other dwords.
    Repacked {
        /// Index of the first dword that differs.
        dword: usize,
    },
    /// `unpack` rejects the dwords that `pack` wrote.
    Refused(UnpackError),
    /// `pack` rejects the value that `unpack_lossy` read.
    Unpackable(PackError),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Changed => f.write_str("unpack_lossy(pack(x)) is not x"),
            Broken::Repacked { dword } => write!(f, "pack(unpack(d)) differs from d in dw{dword}"),
            Broken::Refused(error) => write!(f, "unpack refuses what pack wrote: {error}"),
            Broken::Unpackable(error) => write!(f, "pack refuses what unpack_lossy read: {error}"),
        }
    }
}

impl core::error::Error for Broken {}

/// Buffer size of a check in dwords; longer packets are cut.
pub const ROOM: usize = 2048;

/// Checks the laws for a container of fixed size.
///
/// # Errors
/// The first broken law.
pub fn fixed<T: Fixed + PartialEq>(dwords: &[u32]) -> Result<Outcome, Broken> {
    // The second buffer is filled with ones, so a dword that packing does not write is noticed.
    let (mut first, mut second) = ([0; ROOM], [u32::MAX; ROOM]);
    let x = T::read_lossy(dwords);
    let length = x.write(&mut first).map_err(Broken::Unpackable)?;
    let y = T::read_lossy(&first[..length]);
    same(&x, &y)?;
    let outcome = match T::read(&first[..length]) {
        Ok(z) => same(&x, &z).map(|()| Outcome::Holds)?,
        Err(error @ UnpackError::Range { .. }) => Outcome::OutOfRange(error),
        Err(error) => return Err(Broken::Refused(error)),
    };
    y.write(&mut second).map_err(Broken::Unpackable)?;
    repacked(&first[..length], &second[..length])?;
    Ok(outcome)
}

/// `unpack` of a container of fixed size.
///
/// # Errors
/// The first check that fails.
pub fn strict<T: Fixed>(dwords: &[u32]) -> Result<(), UnpackError> {
    T::read(dwords).map(drop)
}

/// `unpack_lossy` and `pack` of a container of fixed size.
///
/// # Errors
/// As [`Fixed::write`].
pub fn repack<T: Fixed>(dwords: &[u32], out: &mut [u32]) -> Result<usize, PackError> {
    T::read_lossy(dwords).write(out)
}

/// `pack` of a container of fixed size with everything at its default.
///
/// # Errors
/// As [`Fixed::write`].
pub fn default<T: Fixed + Default>(out: &mut [u32]) -> Result<usize, PackError> {
    T::default().write(out)
}

/// A copy of `dwords` with the length field set to their number; the rest of the buffer is zero.
pub fn with_length(info: &Container, dwords: &[u32]) -> [u32; ROOM] {
    let mut out = [0; ROOM];
    let length = dwords.len().min(ROOM);
    out[..length].copy_from_slice(&dwords[..length]);
    if let Kind::Instruction { bias, length_field: Some((start, end)), .. } = info.kind {
        let mask = (crate::bits::ones(end - start + 1) << start) as u32;
        out[0] = out[0] & !mask | ((length as u32).saturating_sub(bias) << start) & mask;
    }
    out
}

/// Compares values. Values with a NaN are equal if they print the same; their bits are compared in
/// packed form.
pub fn same<T: PartialEq + fmt::Debug>(x: &T, y: &T) -> Result<(), Broken> {
    if x == y || text_hash(x) == text_hash(y) { Ok(()) } else { Err(Broken::Changed) }
}

/// Compares dwords.
pub fn repacked(first: &[u32], second: &[u32]) -> Result<(), Broken> {
    match first.iter().zip(second).position(|(a, b)| a != b) {
        Some(dword) => Err(Broken::Repacked { dword }),
        None => Ok(()),
    }
}

/// FNV-1a of the `Debug` text; it needs no allocation.
fn text_hash(value: &impl fmt::Debug) -> u64 {
    struct Hash(u64);
    impl Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    let _ = write!(hash, "{value:?}");
    hash.0
}

/// The [`RoundTrip`] of a generated type: `round_trip!(fixed path)`, or `round_trip!(variable
/// path)` if it has a variable tail. Write `default` before the path if the type implements
/// `Default`.
#[macro_export]
macro_rules! round_trip {
    (fixed default $($path:ident)::+) => {
        $crate::round_trip::RoundTrip {
            default: Some($crate::round_trip::default::<$($path)::+>),
            ..$crate::round_trip!(fixed $($path)::+)
        }
    };
    (fixed $($path:ident)::+) => {
        $crate::round_trip::RoundTrip {
            info: <$($path)::+ as $crate::Packed>::INFO,
            check: $crate::round_trip::fixed::<$($path)::+>,
            checks: <$($path)::+>::CHECKS,
            strict: $crate::round_trip::strict::<$($path)::+>,
            repack: $crate::round_trip::repack::<$($path)::+>,
            default: None,
        }
    };
    (variable default $($path:ident)::+) => {
        $crate::round_trip::RoundTrip {
            default: Some(|out| $($path)::+::default().pack_into(out)),
            ..$crate::round_trip!(variable $($path)::+)
        }
    };
    (variable $($path:ident)::+) => {
        $crate::round_trip::RoundTrip {
            info: <$($path)::+ as $crate::Packed>::INFO,
            check: |dwords| {
                use $crate::round_trip::{Broken, Outcome, repacked, same, with_length, ROOM};
                let source = with_length(<$($path)::+ as $crate::Packed>::INFO, dwords);
                let (mut first, mut second) = ([0; ROOM], [0; ROOM]);
                let x = $($path)::+::unpack_lossy(&source[..dwords.len().min(ROOM)]);
                let length = match x.pack_into(&mut first) {
                    Ok(length) => length,
                    Err(error @ $crate::PackError::Length { .. }) => return Ok(Outcome::NoTail(error)),
                    Err(error) => return Err(Broken::Unpackable(error)),
                };
                let y = $($path)::+::unpack_lossy(&first[..length]);
                same(&x, &y)?;
                let outcome = match $($path)::+::unpack(&first[..length]) {
                    Ok(z) => same(&x, &z).map(|()| Outcome::Holds)?,
                    Err(error @ $crate::UnpackError::Range { .. }) => Outcome::OutOfRange(error),
                    Err(error) => return Err(Broken::Refused(error)),
                };
                y.pack_into(&mut second).map_err(Broken::Unpackable)?;
                repacked(&first[..length], &second[..length])?;
                Ok(outcome)
            },
            checks: <$($path)::+>::CHECKS,
            strict: |dwords| $($path)::+::unpack(dwords).map(drop),
            repack: |dwords, out| {
                use $crate::round_trip::{with_length, ROOM};
                let source = with_length(<$($path)::+ as $crate::Packed>::INFO, dwords);
                $($path)::+::unpack_lossy(&source[..dwords.len().min(ROOM)]).pack_into(out)
            },
            default: None,
        }
    };
}
