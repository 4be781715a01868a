//! Reading a batch packet by packet. Each packet is a variant of its engine's enum.
//!
//! ```text
//! for item in RenderPacket::iter(&dwords) {
//!     match item?.packet {
//!         RenderPacket::ThreeDStateVs(vs) => println!("{:?}", vs.unpack()?),
//!         RenderPacket::MiBatchBufferEnd(_) => break,
//!         _ => {}
//!     }
//! }
//! ```
//!
//! * [`Packets`]: the iterator, created by `iter` of the generated enums; [`Packets::strict`]
//!   checks every bit
//! * [`Lazy`]: the content of the enums' variants: the packet's dwords, with the type that reads
//!   them
//! * [`ReadError`]: dwords that are not a packet, their position, and how many were skipped
//! * [`Codec`]: packs and unpacks any container, for generic code
//! * [`EnginePacket`]: what the generated enums have in common
//!
//! A packet is decoded only when the program asks for it. Iterating costs a few nanoseconds per
//! packet.

use crate::debug::debug_dwords;
use crate::opcodes::{self, Found};
use crate::packet::{Fixed, PackError, Packed, ParseError, UnpackError};
use crate::reflect::{Container, Engines, Kind};
use core::fmt;
use core::marker::PhantomData;

/// Packing and unpacking of any container, of fixed size or with a variable tail.
///
/// Programs that know the type call its own `pack`, `unpack` and `unpack_lossy`.
pub trait Codec<'a>: Packed + fmt::Debug {
    /// Reads the container at the start of `dwords`. Checks every bit that has one legal value, and
    /// the ranges.
    ///
    /// # Errors
    /// [`UnpackError::Truncated`] if there are too few dwords, else the first check that fails.
    fn decode(dwords: &'a [u32]) -> Result<Self, UnpackError>;

    /// Reads the container at the start of `dwords` as hardware does: it checks nothing, and
    /// missing dwords are zero.
    fn decode_lossy(dwords: &'a [u32]) -> Self;

    /// Length of the packed form in dwords.
    fn encoded_dwords(&self) -> usize;

    /// Writes the container to the start of `out` and returns its length in dwords.
    ///
    /// # Errors
    /// [`PackError::Space`] if `out` is too short, [`PackError::Length`] if a tail does not fit the
    /// length field.
    fn encode(&self, out: &mut [u32]) -> Result<usize, PackError>;
}

impl<'a, T: Fixed> Codec<'a> for T {
    #[inline(always)]
    fn decode(dwords: &'a [u32]) -> Result<Self, UnpackError> {
        Self::read(dwords)
    }

    #[inline(always)]
    fn decode_lossy(dwords: &'a [u32]) -> Self {
        Self::read_lossy(dwords)
    }

    #[inline(always)]
    fn encoded_dwords(&self) -> usize {
        Self::DWORDS
    }

    #[inline(always)]
    fn encode(&self, out: &mut [u32]) -> Result<usize, PackError> {
        self.write(out)
    }
}

/// A packet in the batch that it was found in: dwords to be read as a `T`.
///
/// Opcode and length were checked when it was found; everything else is checked when it is
/// unpacked.
pub struct Lazy<'a, T> {
    #[doc(hidden)]
    pub dwords: &'a [u32],
    #[doc(hidden)]
    pub of: PhantomData<T>,
}

impl<T> Clone for Lazy<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Lazy<'_, T> {}

impl<'a, T> Lazy<'a, T> {
    /// Wraps `dwords`. It is not checked that they are a `T`.
    #[inline(always)]
    pub const fn new(dwords: &'a [u32]) -> Self {
        Lazy { dwords, of: PhantomData }
    }

    /// The packet's dwords, header included.
    #[inline(always)]
    pub const fn dwords(self) -> &'a [u32] {
        self.dwords
    }
}

/// The type parameter of a [`Lazy`] whose instruction has no Rust type, because only its header is
/// described or the feature of its unit is off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Untyped {}

impl Untyped {
    /// The description of an instruction that is in no table.
    pub const INFO: &'static Container = {
        static INFO: Container = Container {
            name: "an instruction without a description",
            rust_name: "",
            unit: "",
            kind: Kind::Struct { align: 4 },
            bits: 32,
            fields: &[],
            groups: &[],
            rules: &[],
            views: &[],
            partial: true,
            doc: "",
            source: "",
        };
        &INFO
    };
}

impl Lazy<'_, Untyped> {
    /// The first dword.
    pub fn header(self) -> Option<u32> {
        self.dwords.first().copied()
    }
}

impl<'a, T: Codec<'a>> Lazy<'a, T> {
    /// The packet, if every bit with one legal value holds that value and all values are in their
    /// ranges.
    ///
    /// # Errors
    /// The first check that fails, with the field and its value.
    #[inline(always)]
    pub fn unpack(self) -> Result<T, UnpackError> {
        T::decode(self.dwords)
    }

    /// The packet as hardware reads it: reserved bits are ignored, and dwords beyond its length are
    /// zero.
    #[inline(always)]
    pub fn unpack_lossy(self) -> T {
        T::decode_lossy(self.dwords)
    }
}

/// Compares the dwords, reserved bits included.
impl<T> PartialEq for Lazy<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.dwords == other.dwords
    }
}

impl<T> Eq for Lazy<'_, T> {}

impl<T: Packed> fmt::Debug for Lazy<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_dwords(T::INFO, self.dwords, f)
    }
}

/// The packets of an engine; implemented by the generated enums.
pub trait EnginePacket<'a>: Copy + fmt::Debug {
    /// The engine that accepts the packets.
    const ENGINE: Engines;

    /// The instruction that starts with `header`.
    fn lookup(header: u32) -> Option<Found>;

    /// All instructions of the engine; [`Found::position`] is an index into this list.
    fn instructions() -> &'static [&'static Container];

    /// The variant of the instruction at `position`. `dwords` are those of the packet, at least
    /// one.
    fn view(position: usize, dwords: &'a [u32]) -> Self;

    /// The packet's dwords, header included.
    fn dwords(&self) -> &'a [u32];

    /// Checks every bit that has one legal value, and the ranges. A packet without a type passes
    /// unchecked.
    ///
    /// # Errors
    /// The first check that fails.
    fn check(&self) -> Result<(), UnpackError>;

    /// The packet at the start of `dwords` and its length in dwords. Only opcode and length are
    /// checked.
    ///
    /// # Errors
    /// [`ParseError::Unknown`] for an opcode that the engine does not have. [`ParseError::Unpack`]
    /// for a packet that is longer than `dwords` or has a length that is illegal for its
    /// instruction.
    #[inline(always)]
    fn read(dwords: &'a [u32]) -> Result<(Self, usize), ParseError> {
        let Some(&header) = dwords.first() else {
            let error = UnpackError::Truncated { container: "a packet", needed: 1, available: 0 };
            return Err(ParseError::Unpack(error));
        };
        let Some(found) = Self::lookup(header) else {
            return Err(ParseError::Unknown { header });
        };
        let (min, max) = found.lengths;
        match dwords.get(..found.length) {
            Some(body) if found.length >= min && found.length <= max => {
                Ok((Self::view(found.position, body), found.length))
            }
            _ => Err(opcodes::length_error(
                Self::instructions()[found.position],
                found,
                dwords.len(),
            )),
        }
    }
}

/// A packet and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item<'a, P> {
    /// Index of the packet's first dword in the batch.
    pub at: usize,
    /// The packet's dwords, header included.
    pub dwords: &'a [u32],
    /// The packet.
    pub packet: P,
}

impl<P> Item<'_, P> {
    /// The packet's offset in bytes from the start of the batch.
    pub const fn offset(&self) -> usize {
        4 * self.at
    }
}

/// Dwords of a batch that are not a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReadError {
    /// Index of the first dword in the batch.
    pub at: usize,
    /// Number of dwords that were skipped: the length of the packet, or what is left of the batch
    /// if that is shorter. For an unknown header, the length follows from its command type.
    pub skipped: usize,
    /// The reason why the dwords are not a packet.
    pub error: ParseError,
}

crate::debug_as_display!(ReadError);

impl ReadError {
    /// Offset in bytes of the first dword from the start of the batch.
    pub const fn offset(&self) -> usize {
        4 * self.at
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.skipped == 1 { "" } else { "s" };
        write!(f, "batch +{:#x}: {}; {} dword{s} skipped", self.offset(), self.error, self.skipped)
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Iterates over the packets of a batch in order, to the end of the dwords. Dwords that are not a
/// packet are returned as an error; the iteration continues after them.
///
/// A batch may end before its dwords do: stop at `MiBatchBufferEnd`. Jumps are not followed (the
/// decoder follows them).
#[derive(Clone, Debug)]
pub struct Packets<'a, P> {
    dwords: &'a [u32],
    at: usize,
    strict: bool,
    of: PhantomData<P>,
}

impl<'a, P: EnginePacket<'a>> Packets<'a, P> {
    /// The packets in `dwords`. Only opcodes and lengths are checked.
    pub const fn new(dwords: &'a [u32]) -> Self {
        Packets { dwords, at: 0, strict: false, of: PhantomData }
    }

    /// Also checks every packet as its `unpack` does: reserved bits, must-be-zero, ranges. A packet
    /// that fails is returned as an error.
    pub const fn strict(self) -> Self {
        Packets { strict: true, ..self }
    }

    /// Index of the dword that is read next.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The dwords that have not been read yet.
    pub fn rest(&self) -> &'a [u32] {
        self.dwords.get(self.at..).unwrap_or(&[])
    }

    /// Checks the packet. If a check fails, skips the packet and returns the error.
    #[inline(never)]
    fn checked(&mut self, packet: &P) -> Option<ReadError> {
        let error = packet.check().err()?;
        Some(self.skip(error.into()))
    }

    #[cold]
    #[inline(never)]
    fn skip(&mut self, error: ParseError) -> ReadError {
        let (at, rest) = (self.at, self.rest());
        let header = rest.first().copied().unwrap_or(0);
        let length = match P::lookup(header) {
            Some(found) => found.length,
            None => opcodes::unknown_length(P::ENGINE, header),
        };
        let skipped = length.min(rest.len());
        self.at += skipped;
        ReadError { at, skipped, error }
    }
}

impl<'a, P: EnginePacket<'a>> Iterator for Packets<'a, P> {
    type Item = Result<Item<'a, P>, ReadError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (at, rest) = (self.at, self.dwords.get(self.at..)?);
        if rest.is_empty() {
            return None;
        }
        match P::read(rest) {
            Ok((packet, length)) => {
                if self.strict
                    && let Some(error) = self.checked(&packet)
                {
                    return Some(Err(error));
                }
                self.at += length;
                Some(Ok(Item { at, dwords: &rest[..length], packet }))
            }
            Err(error) => Some(Err(self.skip(error))),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = self.rest().len();
        (usize::from(rest > 0), Some(rest))
    }
}

impl<'a, P: EnginePacket<'a>> core::iter::FusedIterator for Packets<'a, P> {}
