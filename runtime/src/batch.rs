//! Building batches: packets of one engine, and the state in memory that they point to.
//!
//! Every buffer has its GPU address from the start (softpin), so addresses go into packets as numbers and nothing is
//! relocated later. A [`Batch`] takes packets of its engine only; a [`Heap`] takes state and gives back offsets of its
//! space, which fit just the fields that count from the same base. A [`Submission`] is what an engine runs: buffers
//! and where the batch starts.
//!
//! ```
//! use genxml::batch::{Batch, Buffer, Submission};
//! use genxml::core::{Address, U};
//! use genxml::engine::Render;
//! use genxml::gen8::mi::MiStoreDataImm;
//!
//! let target = Buffer::new("target", 0x10000, 4096)?;
//! let mut batch = Batch::<Render>::new("batch", 0x20000, 4096)?;
//! let value = [U::new(42)?];
//! batch.emit(&MiStoreDataImm { data_dword: (&value).into(), ..MiStoreDataImm::new(Address::new(target.address())?) })?;
//! let submission = Submission::new(batch.finish(), [target]);
//! assert_eq!(submission.batch_address, 0x20000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::capture::{CaptureWriter, PAGE, WriteObject};
use crate::engine::{Command, Engine, EngineId};
use crate::gen8::mi::MiBatchBufferEnd;
use genxml_core::address::Space;
use genxml_core::reflect::Kind;
use genxml_core::{Address, FieldError, Fixed, OutOfRange, PackError};
use std::marker::PhantomData;

/// Dwords that stay free for MI_BATCH_BUFFER_END and the padding to a qword.
const END: usize = 2;

/// Least alignment in a heap: a cache line, which is also what most state needs.
const LINE: u64 = 64;

/// Why something cannot be put into a batch or heap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The address of a buffer is not a page's, or the buffer ends beyond 48 bits.
    #[error("buffer {buffer}: {size} bytes at {address:#x} do not start on a page of 4096 bytes below 2^48")]
    Place {
        /// The buffer's name.
        buffer: String,
        /// The address.
        address: u64,
        /// Its size.
        size: u64,
    },
    /// The buffer is full.
    #[error("{what} takes {needed} bytes, {available} of {size} are left in {buffer}: give it a larger size")]
    Full {
        /// The buffer's name.
        buffer: String,
        /// What should go there.
        what: &'static str,
        /// Bytes that it takes, alignment included.
        needed: usize,
        /// Bytes that are left.
        available: usize,
        /// The buffer's size.
        size: usize,
    },
    /// The packet has no encoding.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A run-time value does not fit its field.
    #[error(transparent)]
    Field(Box<FieldError>),
    /// The offset does not fit the field that it is meant for.
    #[error("{what} at +{offset:#x} of {buffer}: the offset does not fit its field: {source}")]
    Offset {
        /// The buffer's name.
        buffer: String,
        /// What lies there.
        what: &'static str,
        /// Its offset.
        offset: u64,
        /// Why.
        source: OutOfRange,
    },
    /// A packet can only be replaced by one of the same kind and length.
    #[error(
        "cannot patch {new} of {new_dwords} dwords over {old:#010x} of {old_dwords} dwords at +{offset:#x}"
    )]
    Patch {
        /// Name of the new packet.
        new: &'static str,
        /// Its length.
        new_dwords: usize,
        /// Header of the packet that is there.
        old: u32,
        /// Its length.
        old_dwords: usize,
        /// Where, in bytes from the start of the batch.
        offset: usize,
    },
}

impl From<FieldError> for BatchError {
    fn from(error: FieldError) -> Self {
        BatchError::Field(Box::new(error))
    }
}

/// `?` in a field of `packet!` passes it on.
impl genxml_core::fit::Named for BatchError {
    type Error = BatchError;
    fn named(self, _: &'static genxml_core::At) -> BatchError {
        self
    }
}

/// Memory at a GPU address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    name: String,
    address: u64,
    bytes: Vec<u8>,
}

impl Buffer {
    /// `size` zero bytes at `address`, which is a page's.
    ///
    /// # Errors
    /// [`BatchError::Place`] if the address is not a multiple of 4096 or the buffer ends beyond 2^48.
    pub fn new(name: impl Into<String>, address: u64, size: usize) -> Result<Self, BatchError> {
        let name = name.into();
        let end = address.checked_add(size as u64);
        if !address.is_multiple_of(PAGE) || size == 0 || end.is_none_or(|end| end > 1 << 48) {
            return Err(BatchError::Place { buffer: name, address, size: size as u64 });
        }
        Ok(Buffer { name, address, bytes: vec![0; size] })
    }

    /// Its name, for people and captures.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Address of the first byte, 48 bits.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn put_dwords(&mut self, at: usize, dwords: &[u32]) {
        for (bytes, dword) in self.bytes[at..].as_chunks_mut().0.iter_mut().zip(dwords) {
            *bytes = dword.to_le_bytes();
        }
    }
}

/// Place of a packet in its batch, for [`Batch::patch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    dword: usize,
    dwords: usize,
}

impl Position {
    /// Bytes from the start of the batch.
    pub const fn offset(self) -> usize {
        4 * self.dword
    }
}

/// A batch for engine `E`, in a buffer of its own.
#[derive(Debug, Clone)]
pub struct Batch<E: Engine> {
    buffer: Buffer,
    dwords: Vec<u32>,
    engine: PhantomData<E>,
}

impl<E: Engine> Batch<E> {
    /// An empty batch at `address` of at most `size` bytes.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn new(name: impl Into<String>, address: u64, size: usize) -> Result<Self, BatchError> {
        Ok(Batch { buffer: Buffer::new(name, address, size)?, dwords: Vec::new(), engine: PhantomData })
    }

    /// Appends a packet.
    ///
    /// # Errors
    /// [`BatchError::Full`] if the buffer is too small, with room for the end of the batch; [`BatchError::Pack`] if
    /// the packet is longer than its length field can say.
    #[inline]
    pub fn emit<C: Command<E>>(&mut self, packet: &C) -> Result<Position, BatchError> {
        let (dword, dwords) = (self.dwords.len(), packet.dwords());
        let available = (self.buffer.bytes.len() / 4).saturating_sub(END + dword);
        if dwords > available {
            return Err(self.full(C::NAME, dwords, available));
        }
        self.dwords.resize(dword + dwords, 0);
        if let Err(error) = packet.pack_into(&mut self.dwords[dword..]) {
            self.dwords.truncate(dword);
            return Err(error.into());
        }
        Ok(Position { dword, dwords })
    }

    #[cold]
    fn full(&self, what: &'static str, dwords: usize, available: usize) -> BatchError {
        BatchError::Full {
            buffer: self.buffer.name.clone(),
            what,
            needed: 4 * dwords,
            available: 4 * available,
            size: self.buffer.bytes.len(),
        }
    }

    /// Replaces the packet at `position` by another of the same kind and length.
    ///
    /// # Errors
    /// [`BatchError::Patch`] if there is another packet or it has another length.
    pub fn patch<C: Command<E>>(&mut self, position: Position, packet: &C) -> Result<(), BatchError> {
        let Position { dword, dwords } = position;
        let old = self.dwords.get(dword).copied().unwrap_or(0);
        let same = match C::INFO.kind {
            Kind::Instruction { opcode_mask, opcode, .. } => old & opcode_mask == opcode,
            _ => false,
        };
        let new_dwords = packet.dwords();
        match self.dwords.get_mut(dword..dword + dwords) {
            Some(place) if same && new_dwords == dwords => {
                place.fill(0);
                packet.pack_into(place)?;
                Ok(())
            }
            _ => Err(BatchError::Patch {
                new: C::NAME,
                new_dwords,
                old,
                old_dwords: dwords,
                offset: position.offset(),
            }),
        }
    }

    /// GPU address of the next packet.
    pub fn address(&self) -> u64 {
        self.buffer.address + 4 * self.dwords.len() as u64
    }

    /// The packets so far.
    pub fn dwords(&self) -> &[u32] {
        &self.dwords
    }

    /// Ends the batch with MI_BATCH_BUFFER_END, padded to a qword as the kernel wants it.
    pub fn finish(mut self) -> FinishedBatch<E> {
        // `emit` left the room.
        self.dwords.extend(MiBatchBufferEnd::default().pack());
        if !self.dwords.len().is_multiple_of(2) {
            self.dwords.push(0);
        }
        self.buffer.put_dwords(0, &self.dwords);
        FinishedBatch { length: 4 * self.dwords.len(), buffer: self.buffer, engine: PhantomData }
    }
}

/// A batch that has its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedBatch<E: Engine> {
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes that the batch takes of it.
    pub length: usize,
    engine: PhantomData<E>,
}

/// State in memory that is found by offsets from one base address: surface states and binding tables from Surface
/// State Base Address, and so on. The buffer's address is that base.
#[derive(Debug, Clone)]
pub struct Heap<S: Space> {
    buffer: Buffer,
    used: usize,
    space: PhantomData<S>,
}

impl<S: Space> Heap<S> {
    /// An empty heap.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn new(name: impl Into<String>, address: u64, size: usize) -> Result<Self, BatchError> {
        Ok(Heap { buffer: Buffer::new(name, address, size)?, used: 0, space: PhantomData })
    }

    /// What STATE_BASE_ADDRESS has to say for this space.
    pub const fn base(&self) -> u64 {
        self.buffer.address
    }

    /// Copies a structure into the heap and returns its offset, for the field that takes it.
    ///
    /// # Errors
    /// [`BatchError::Full`]; [`BatchError::Offset`] if the field cannot hold the offset.
    pub fn put<T: Fixed, const A: u64, const N: u32>(
        &mut self,
        value: &T,
    ) -> Result<Address<S, A, N>, BatchError> {
        self.put_all(std::slice::from_ref(value))
    }

    /// Copies structures one behind the other (a binding table, interface descriptors) and returns the offset of the
    /// first.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_all<T: Fixed, const A: u64, const N: u32>(
        &mut self,
        values: &[T],
    ) -> Result<Address<S, A, N>, BatchError> {
        let mut dwords = vec![0; T::DWORDS * values.len()];
        for (place, value) in dwords.chunks_exact_mut(T::DWORDS.max(1)).zip(values) {
            value.write(place)?;
        }
        let align = match T::INFO.kind {
            Kind::Struct { align } => align.into(),
            _ => 1,
        };
        self.place(T::NAME, &dwords, align)
    }

    /// Copies dwords, a kernel or constants, and returns their offset.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_dwords<const A: u64, const N: u32>(
        &mut self,
        what: &'static str,
        dwords: &[u32],
    ) -> Result<Address<S, A, N>, BatchError> {
        self.place(what, dwords, 1)
    }

    fn place<const A: u64, const N: u32>(
        &mut self,
        what: &'static str,
        dwords: &[u32],
        align: u64,
    ) -> Result<Address<S, A, N>, BatchError> {
        let start = self.used.next_multiple_of(LINE.max(align).max(A) as usize);
        let size = self.buffer.bytes.len();
        let end = start + 4 * dwords.len();
        if end > size {
            return Err(BatchError::Full {
                buffer: self.buffer.name.clone(),
                what,
                needed: end - self.used,
                available: size - self.used,
                size,
            });
        }
        let offset = start as u64;
        let address = Address::new(offset).map_err(|source| {
            let buffer = self.buffer.name.clone();
            BatchError::Offset { buffer, what, offset, source }
        })?;
        self.buffer.put_dwords(start, dwords);
        self.used = end;
        Ok(address)
    }

    /// The buffer with all that was put there.
    pub fn finish(self) -> Buffer {
        self.buffer
    }
}

/// A batch with everything that is mapped when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The engine that it is for.
    pub engine: EngineId,
    /// Address of the first packet.
    pub batch_address: u64,
    /// Length of the batch in bytes.
    pub batch_length: u64,
    /// The batch's buffer, then the others.
    pub buffers: Vec<Buffer>,
}

impl Submission {
    /// The batch and all that it points to.
    pub fn new<E: Engine>(batch: FinishedBatch<E>, others: impl IntoIterator<Item = Buffer>) -> Self {
        let (batch_address, batch_length) = (batch.buffer.address, batch.length as u64);
        let buffers = std::iter::once(batch.buffer).chain(others).collect();
        Submission { engine: E::ID, batch_address, batch_length, buffers }
    }

    /// The bytes from `address` to the end of its buffer; empty if there is none.
    pub fn tail(&self, address: u64) -> &[u8] {
        let inside = |buffer: &&Buffer| {
            address.checked_sub(buffer.address).is_some_and(|offset| offset < buffer.bytes.len() as u64)
        };
        let found = self.buffers.iter().find(inside);
        found.map_or(&[], |buffer| &buffer.bytes[(address - buffer.address) as usize..])
    }

    /// Adds the submission to a capture and returns its sequence number.
    pub fn write(&self, context: u32, writer: &mut CaptureWriter) -> u64 {
        let objects: Vec<WriteObject<'_>> = self
            .buffers
            .iter()
            .map(|buffer| {
                WriteObject::new(&buffer.name, buffer.address, buffer.bytes.len() as u64, &buffer.bytes)
            })
            .collect();
        writer.exec(context, self.engine, self.batch_address, self.batch_length, &objects)
    }
}

impl crate::decode::Memory for Submission {
    fn tail(&self, address: u64) -> &[u8] {
        Submission::tail(self, address)
    }
}
