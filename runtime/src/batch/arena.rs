//! Sources of buffers for growing batches.

use super::buffer::{Buffer, PAGE};
use super::error::BatchError;
use alloc::format;
use alloc::sync::Arc;

/// A source of buffers for a growing batch: an [`Arena`], or a closure that calls the driver's own
/// allocator.
///
/// ```
/// use genxml::batch::{Batch, Buffer};
/// use genxml::engine::Render;
///
/// let mut next = 0x10_0000;
/// let batch = Batch::<Render>::growing(move |bytes: usize| {
///     let buffer = Buffer::new("batch", next, bytes.next_multiple_of(4096))?;
///     next += 0x1_0000;
///     Ok(buffer)
/// })?;
/// assert_eq!(batch.address(), 0x10_0000);
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
pub trait Allocate {
    /// Returns an unused buffer of at least `bytes` bytes, all zero.
    ///
    /// # Errors
    /// [`BatchError::Arena`] if an [`Arena`] has no room, or an error of `Buffer::new`; any error
    /// from a closure.
    fn allocate(&mut self, bytes: usize) -> Result<Buffer, BatchError>;
}

impl<F: FnMut(usize) -> Result<Buffer, BatchError>> Allocate for F {
    fn allocate(&mut self, bytes: usize) -> Result<Buffer, BatchError> {
        self(bytes)
    }
}

/// A range of addresses that is allocated in chunks, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arena {
    name: Arc<str>,
    next: u64,
    end: u64,
    chunk: usize,
    count: usize,
}

impl Arena {
    /// `size` bytes of addresses from `address` on, in buffers of `chunk` bytes (more if a larger
    /// buffer is requested), rounded up to pages. The buffers are called `name`, `name 2`, `name
    /// 3`...
    pub fn new(name: impl Into<Arc<str>>, address: u64, size: u64, chunk: usize) -> Self {
        Arena {
            name: name.into(),
            next: address,
            end: address.saturating_add(size),
            chunk,
            count: 0,
        }
    }
}

impl Allocate for Arena {
    fn allocate(&mut self, bytes: usize) -> Result<Buffer, BatchError> {
        let needed = bytes.max(self.chunk).max(1).next_multiple_of(PAGE as usize);
        let available = self.end.saturating_sub(self.next);
        if needed as u64 > available {
            return Err(BatchError::Arena { arena: self.name.clone(), needed, available });
        }
        self.count += 1;
        let name = match self.count {
            1 => self.name.clone(),
            count => format!("{} {count}", self.name).into(),
        };
        let buffer = Buffer::new(name, self.next, needed)?;
        self.next += needed as u64;
        Ok(buffer)
    }
}
