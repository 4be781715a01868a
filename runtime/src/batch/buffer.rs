//! Memory at a GPU address.

use super::error::BatchError;
use super::object::Object;
use super::reloc::Relocation;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use bytemuck::{AnyBitPattern, NoUninit};
use core::fmt;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::Container;

/// Size of a page of GPU memory in bytes. Buffers start at a page boundary.
pub const PAGE: u64 = 4096;

/// A structure, an array of structures or other data in a heap, recorded so that offsets can be
/// checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Size in bytes; 0 for an empty array. Any structure may follow at the offset of an empty
    /// array.
    pub bytes: u64,
    /// Name of the structure, or a name for the data.
    pub what: &'static str,
    /// The description of the structure; `None` for other data.
    pub container: Option<&'static Container>,
}

/// Memory at a GPU address; the kernel calls it a buffer object.
///
/// ```
/// use genxml::batch::Buffer;
///
/// let mut target = Buffer::new("target", 0x10000, 4096)?;
/// target.bytes_mut()[0] = 0xff;
/// assert_eq!(target.address(), 0x10000);
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Buffer {
    pub(super) name: Arc<str>,
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) handle: u32,
    pub(super) low: bool,
    pub(super) relocations: Vec<Relocation>,
    /// The contents of the buffer if it is a heap; `None` for other buffers.
    pub(super) contents: Option<Vec<Content>>,
    /// Bases that the context has when the batch that starts in this buffer begins, given by the
    /// program.
    pub(super) assumed: Vec<(SpaceKind, u64)>,
}

impl Buffer {
    /// `size` zero bytes at `address`, a multiple of 4096. With softpin this is the final address
    /// of the buffer; with relocations it is the presumed one.
    ///
    /// # Errors
    /// [`BatchError::BadAddress`] if the address is not a multiple of 4096, the size is 0, or the
    /// buffer ends beyond 2^48.
    pub fn new(name: impl Into<Arc<str>>, address: u64, size: usize) -> Result<Self, BatchError> {
        let name = name.into();
        let end = address.checked_add(size as u64);
        if !address.is_multiple_of(PAGE) || size == 0 || end.is_none_or(|end| end > 1 << 48) {
            return Err(BatchError::BadAddress { buffer: name, address, size: size as u64 });
        }
        Ok(Buffer {
            name,
            address,
            bytes: vec![0; size],
            handle: 0,
            low: false,
            relocations: Vec::new(),
            contents: None,
            assumed: Vec::new(),
        })
    }

    /// A buffer with these values, rounded up to whole pages.
    ///
    /// ```
    /// use genxml::batch::Buffer;
    ///
    /// let vertices = Buffer::with_values("vertices", 0x10000, &[0.0f32, 0.5, 1.0])?;
    /// assert_eq!(vertices.bytes().len(), 4096);
    /// assert_eq!(vertices.values::<f32>(3), [0.0, 0.5, 1.0]);
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); without values the size is 0.
    pub fn with_values<T: NoUninit>(
        name: impl Into<Arc<str>>,
        address: u64,
        values: &[T],
    ) -> Result<Self, BatchError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut buffer = Buffer::new(name, address, bytes.len().next_multiple_of(PAGE as usize))?;
        buffer.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The first `count` values of the buffer; fewer if it is shorter.
    pub fn values<T: AnyBitPattern>(&self, count: usize) -> Vec<T> {
        let values = self.bytes.chunks_exact(size_of::<T>().max(1)).take(count);
        values.map(bytemuck::pod_read_unaligned).collect()
    }

    /// Name of the buffer, for people and captures.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Address of the first byte, 48 bits.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// The kernel's handle (GEM) of the buffer, for [`Submission::exec`](super::Submission::exec);
    /// 0 unless set.
    pub const fn handle(&self) -> u32 {
        self.handle
    }

    /// The same buffer with the kernel's handle.
    #[must_use]
    pub fn with_handle(mut self, handle: u32) -> Self {
        self.handle = handle;
        self
    }

    /// The contents of the buffer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents of the buffer, for changes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The addresses in this buffer that were taken with `reads` or `writes`, or that jumps use, in
    /// the order in which they were written.
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations
    }

    pub(super) fn put_dwords(&mut self, at: usize, dwords: &[u32]) {
        for (bytes, dword) in self.bytes[at..].as_chunks_mut().0.iter_mut().zip(dwords) {
            *bytes = dword.to_le_bytes();
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("name", &self.name)
            .field("address", &format_args!("{:#x}", self.address))
            .field("size", &self.bytes.len())
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

impl Object for Buffer {
    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}
