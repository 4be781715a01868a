//! Traits and errors of packing and unpacking.

use crate::bits;
use crate::reflect::{Container, Kind};
use core::fmt;

/// A generated container: a structure, an instruction or a register.
pub trait Packed: Sized {
    /// The manual's name, `XY_COLOR_BLT`.
    const NAME: &'static str;
    /// The container's description at run time.
    const INFO: &'static Container;
}

/// A generated instruction. The marker traits of the runtime crate say which engines accept it.
pub trait Instruction: Packed {
    /// Packed length in dwords, header included.
    fn dwords(&self) -> usize;

    /// Writes the packet to the start of `out` and returns its length in dwords.
    ///
    /// # Errors
    /// [`PackError::Space`] if `out` is too short, [`PackError::Length`] if the tail does not fit
    /// the length field.
    fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError>;
}

/// An array of dwords, the packed form of a [`Fixed`] container.
pub trait Dwords: Copy {
    /// Number of dwords.
    const LENGTH: usize;
    /// The first `LENGTH` of `dwords`, if there are enough.
    fn first(dwords: &[u32]) -> Option<&Self>;
    /// The first `LENGTH` of `dwords`, mutable, if there are enough.
    fn first_mut(dwords: &mut [u32]) -> Option<&mut Self>;
    /// The first `LENGTH` of `dwords`; missing ones are zero.
    fn padded(dwords: &[u32]) -> Self;
}

impl<const N: usize> Dwords for [u32; N] {
    const LENGTH: usize = N;
    #[inline(always)]
    fn first(dwords: &[u32]) -> Option<&Self> {
        dwords.first_chunk()
    }
    #[inline(always)]
    fn first_mut(dwords: &mut [u32]) -> Option<&mut Self> {
        dwords.first_chunk_mut()
    }
    #[inline]
    fn padded(dwords: &[u32]) -> Self {
        array(dwords)
    }
}

/// A container without a variable tail. Code that is generic over containers uses this trait, for
/// example code that reads state structures from memory.
pub trait Fixed: Packed + Copy + fmt::Debug {
    /// The packed form.
    type Dwords: Dwords;
    /// Size in dwords, rounded up.
    const DWORDS: usize = Self::Dwords::LENGTH;

    /// Does the same as the type's own `pack`.
    fn to_dwords(&self) -> Self::Dwords;

    /// Writes the packed form to `dwords`.
    #[inline(always)]
    fn put(&self, dwords: &mut Self::Dwords) {
        *dwords = self.to_dwords();
    }

    /// Does the same as the type's own `unpack`.
    ///
    /// # Errors
    /// The first check that fails.
    fn from_dwords(dwords: &Self::Dwords) -> Result<Self, UnpackError>;

    /// Does the same as the type's own `unpack_lossy`.
    fn from_dwords_lossy(dwords: &Self::Dwords) -> Self;

    /// Reads the container at the start of `dwords` strictly: opcode, length, must-be-zero, gaps
    /// and ranges are checked. If the manual gives a range for the length, trailing dwords that the
    /// length field leaves out read as zero.
    ///
    /// # Errors
    /// [`UnpackError::Truncated`] if there are too few dwords, else the first check that fails.
    #[inline]
    fn read(dwords: &[u32]) -> Result<Self, UnpackError> {
        let available = dwords.len();
        let mut needed = Self::DWORDS;
        if let Some((end, bias)) = const { shortened(Self::INFO) } {
            let length = bits::get(dwords, 0, end) as usize + bias as usize;
            if length < needed {
                needed = length;
                if let Some(dwords) = dwords.get(..length) {
                    return Self::from_dwords(&Self::Dwords::padded(dwords));
                }
            }
        }
        match Self::Dwords::first(dwords) {
            Some(dwords) => Self::from_dwords(dwords),
            None => Err(UnpackError::Truncated { container: Self::NAME, needed, available }),
        }
    }

    /// Reads the container at the start of `dwords` as hardware does: it checks nothing, and
    /// missing dwords are zero.
    #[inline]
    fn read_lossy(dwords: &[u32]) -> Self {
        let padded;
        let dwords = match Self::Dwords::first(dwords) {
            Some(dwords) => dwords,
            None => {
                padded = Self::Dwords::padded(dwords);
                &padded
            }
        };
        Self::from_dwords_lossy(dwords)
    }

    /// Writes the container to the start of `out` and returns its length in dwords.
    ///
    /// # Errors
    /// [`PackError::Space`] if `out` is too short.
    #[inline(always)]
    fn write(&self, out: &mut [u32]) -> Result<usize, PackError> {
        let (needed, available) = (Self::DWORDS, out.len());
        let Some(out) = Self::Dwords::first_mut(out) else {
            return Err(PackError::Space { packet: Self::NAME, needed, available });
        };
        self.put(out);
        Ok(needed)
    }
}

/// Last bit of the length field and the bias of an instruction whose length has a range.
const fn shortened(info: &Container) -> Option<(u32, u32)> {
    let Kind::Instruction { length_field: Some((0, end)), bias, variable: false, .. } = info.kind
    else {
        return None;
    };
    let mut index = 0;
    while index < info.fields.len() {
        let field = &info.fields[index];
        index += 1;
        if field.start == 0 && field.end == end {
            return if field.range.is_some() { Some((end, bias)) } else { None };
        }
    }
    None
}

/// Why a packet could not be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PackError {
    /// The output is too short.
    Space {
        /// The packet's name.
        packet: &'static str,
        /// Dwords that the packet needs.
        needed: usize,
        /// Dwords that were available.
        available: usize,
    },
    /// The length field cannot express the packet's length: the variable tail is too long, or it is
    /// empty and the length field cannot express an empty one.
    Length {
        /// The packet's name.
        packet: &'static str,
        /// Dwords that the packet would have.
        dwords: usize,
        /// The greatest length that the field can express.
        max: usize,
    },
}

crate::debug_as_display!(PackError);

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PackError::Space { packet, needed, available } => {
                write!(f, "{packet} takes {needed} dwords, {available} are left")
            }
            PackError::Length { packet, dwords, max } => {
                write!(
                    f,
                    "{packet} of {dwords} dwords cannot be expressed by its length field (at most {max})"
                )
            }
        }
    }
}

impl core::error::Error for PackError {}

/// Why dwords are not a well-formed packet; the error of strict readers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum UnpackError {
    /// Fewer dwords than the container needs.
    Truncated {
        /// The container's name.
        container: &'static str,
        /// Dwords that the container needs.
        needed: usize,
        /// Dwords that were available.
        available: usize,
    },
    /// A field with one legal value holds another (opcode, length, must-be-zero, must-be-one).
    Fixed {
        /// The container's name.
        container: &'static str,
        /// The field's name.
        field: &'static str,
        /// First bit of the field in the container.
        start: u32,
        /// The value that the field must hold.
        expected: u64,
        /// The value that the field holds.
        found: u64,
    },
    /// Bits that belong to no field are set.
    Reserved {
        /// The container's name.
        container: &'static str,
        /// Index of the dword that has these bits.
        dword: u32,
        /// Mask of the set bits.
        bits: u32,
    },
    /// A field's value lies outside the range that the manual allows.
    Range {
        /// The container's name.
        container: &'static str,
        /// The field's name.
        field: &'static str,
        /// First bit of the field in the container.
        start: u32,
        /// The value that the field holds.
        found: u64,
    },
}

crate::debug_as_display!(UnpackError);

impl fmt::Display for UnpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            UnpackError::Truncated { container, needed, available } => {
                write!(f, "{container} takes {needed} dwords, {available} are there")
            }
            UnpackError::Fixed { container, field, start, expected, found } => write!(
                f,
                "{container}: {field} (dw{} bit {}) must be {expected:#x}, is {found:#x}",
                start / 32,
                start % 32
            ),
            UnpackError::Reserved { container, dword, bits } => {
                write!(f, "{container}: reserved bits {bits:#010x} of dw{dword} are set")
            }
            UnpackError::Range { container, field, start, found } => write!(
                f,
                "{container}: {field} (dw{} bit {}) holds {found:#x}, which the manual does not allow",
                start / 32,
                start % 32
            ),
        }
    }
}

impl core::error::Error for UnpackError {}

/// Why dwords are not a packet of an engine; the error of parsers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// No instruction of the engine starts with this dword.
    Unknown {
        /// The first dword.
        header: u32,
    },
    /// The instruction is known, but it is truncated or has an illegal length.
    Unpack(UnpackError),
}

crate::debug_as_display!(ParseError);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Unknown { header } => {
                write!(f, "no instruction of this engine starts with {header:#010x}")
            }
            ParseError::Unpack(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ParseError {}

impl From<UnpackError> for ParseError {
    fn from(error: UnpackError) -> Self {
        ParseError::Unpack(error)
    }
}

/// The first `N` of `dwords`; missing ones are zero.
#[cold]
fn array<const N: usize>(dwords: &[u32]) -> [u32; N] {
    let mut out = [0; N];
    let length = if dwords.len() < N { dwords.len() } else { N };
    out[..length].copy_from_slice(&dwords[..length]);
    out
}

/// An element of a variable tail.
pub trait Entry: Copy {
    /// Size of one element in bits; a divisor or a multiple of 32.
    const BITS: u32;
    /// Writes the element at bit `start`. The bits there must be zero.
    fn put(&self, dwords: &mut [u32], start: u32);
    /// Reads the element at bit `start`; bits that the type cannot express are dropped.
    fn get(dwords: &[u32], start: u32) -> Self;
}

macro_rules! entry {
    ($($type:ident)*) => {$(
        impl<const N: u32> Entry for crate::$type<N> {
            const BITS: u32 = N;
            #[inline(always)]
            fn put(&self, dwords: &mut [u32], start: u32) {
                bits::put(dwords, start, start + N - 1, self.bits());
            }
            #[inline(always)]
            fn get(dwords: &[u32], start: u32) -> Self {
                Self::from_bits(bits::get(dwords, start, start + N - 1))
            }
        }
    )*};
}
entry! { U U64 }

/// The variable tail of a packet: elements to write, or dwords that were read.
#[derive(Clone, Copy)]
pub enum Entries<'a, T: Entry> {
    /// Elements given by the program.
    Values(&'a [T]),
    /// Dwords of a packet that was read; an element is decoded when it is requested.
    Dwords(&'a [u32]),
}

impl<'a, T: Entry> Entries<'a, T> {
    /// No elements.
    pub const EMPTY: Self = Entries::Values(&[]);

    /// Number of elements; an incomplete element at the end does not count.
    pub const fn len(&self) -> usize {
        match self {
            Entries::Values(values) => values.len(),
            Entries::Dwords(dwords) => dwords.len() * 32 / T::BITS as usize,
        }
    }

    /// True if there is no element.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Length in dwords of the elements, rounded up.
    pub const fn dwords(&self) -> usize {
        (self.len() * T::BITS as usize).div_ceil(32)
    }

    /// Element `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<T> {
        match *self {
            Entries::Values(values) => values.get(index).copied(),
            Entries::Dwords(dwords) => {
                (index < self.len()).then(|| T::get(dwords, index as u32 * T::BITS))
            }
        }
    }

    /// All elements in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = T> + 'a {
        (0..self.len()).map(move |index| match self {
            Entries::Values(values) => values[index],
            Entries::Dwords(dwords) => T::get(dwords, index as u32 * T::BITS),
        })
    }

    /// Writes the elements to `out`, which is [`dwords`](Self::dwords) long. The old content of
    /// `out` is overwritten.
    #[inline]
    pub fn put(&self, out: &mut [u32]) {
        match *self {
            // Elements of whole dwords, the usual case: each one writes only its own dwords.
            Entries::Values(values) if T::BITS.is_multiple_of(32) => {
                for (value, out) in values.iter().zip(out.chunks_exact_mut(T::BITS as usize / 32)) {
                    out.fill(0);
                    value.put(out, 0);
                }
            }
            Entries::Values(values) => {
                out.fill(0);
                for (index, value) in values.iter().enumerate() {
                    value.put(out, index as u32 * T::BITS);
                }
            }
            Entries::Dwords(dwords) => {
                out.fill(0);
                for index in 0..self.len() as u32 {
                    T::get(dwords, index * T::BITS).put(out, index * T::BITS);
                }
            }
        }
    }
}

impl<T: Entry> Default for Entries<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<'a, T: Entry> From<&'a [T]> for Entries<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Entries::Values(values)
    }
}

impl<'a, T: Entry, const N: usize> From<&'a [T; N]> for Entries<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        Entries::Values(values)
    }
}

impl<T: Entry + PartialEq> PartialEq for Entries<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: Entry + Eq> Eq for Entries<'_, T> {}

impl<T: Entry + fmt::Debug> fmt::Debug for Entries<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
