//! State in memory that is addressed by offsets from a base address.

use super::buffer::{Buffer, Content};
use super::error::BatchError;
use super::object::Object;
use super::reloc::{Access, References};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::slice;
use genxml_core::address::{DynamicState, Graphics, Instruction, Space, SpaceKind, SurfaceState};
use genxml_core::reflect::{Container, Kind};
use genxml_core::{Address, Fixed};

use crate::gen8::state::{BindingTableState, SamplerState};

/// Smallest alignment in a heap: a cache line, which is also what most state needs.
const LINE: u64 = 64;

/// What the contents of a heap call a kernel.
pub(super) const KERNEL: &str = "kernel";

/// Zero bytes after a kernel: the instruction fetch reads ahead of the thread. Compilers for Gen8
/// pad with eight instructions of 16 bytes.
const PREFETCH: usize = 8 * 16;

/// State in memory that is addressed by offsets from one base address: surface states and binding
/// tables from Surface State Base Address, and so on. The buffer's address is that base.
///
/// Structures are aligned as the structure and the field of its offset require, and at least to 64
/// bytes. The offset has the type of that field: an offset of dynamic state cannot be used for
/// surface state. The first 64 bytes stay free, because an unused pointer holds offset 0.
///
/// ```
/// use genxml::batch::Heap;
/// use genxml::core::address::SurfaceState;
/// use genxml::gen8::state::{InterfaceDescriptorData, RenderSurfaceState};
///
/// let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x4000, 4096)?;
/// let color = surfaces.put(&RenderSurfaceState::new())?;
/// let table = surfaces.binding_table(&[color])?;
/// let descriptor = InterfaceDescriptorData { binding_table_pointer: table, ..InterfaceDescriptorData::new() };
/// assert_eq!(descriptor.binding_table_pointer.get(), 128);
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Heap<S: Space> {
    buffer: Buffer,
    used: usize,
    references: References,
    space: PhantomData<S>,
}

impl<S: Space> Heap<S> {
    /// An empty heap.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn new(name: impl Into<Arc<str>>, address: u64, size: usize) -> Result<Self, BatchError> {
        let mut buffer = Buffer::new(name, address, size)?;
        buffer.contents = Some(Vec::new());
        // These heaps must lie below 4 GiB: Wa32bitGeneralStateOffset and
        // Wa32bitInstructionBaseOffset (facts: i915's uAPI).
        buffer.low = matches!(S::KIND, SpaceKind::GeneralState | SpaceKind::Instruction);
        Ok(Heap {
            buffer,
            used: LINE as usize,
            references: References::default(),
            space: PhantomData,
        })
    }

    /// The base address for STATE_BASE_ADDRESS, as a number. [`Batch::reads`](super::Batch::reads)
    /// returns it as an address that is relocated with the heap.
    pub const fn base(&self) -> u64 {
        self.buffer.address
    }

    /// Bytes in use, including the 64 that stay free at the start.
    pub const fn used(&self) -> usize {
        self.used
    }

    /// The address of `object` + `delta`, which the GPU will read, for the structure that is put
    /// next.
    ///
    /// # Errors
    /// As [`Batch::reads`](super::Batch::reads).
    pub fn reads<const A: u64, const N: u32>(
        &self,
        object: &(impl Object + ?Sized),
        delta: u64,
    ) -> Result<Address<Graphics, A, N>, BatchError> {
        self.references.take(object, delta, Access::Read)
    }

    /// The address of `object` + `delta`, which the GPU will write, for the structure that is put
    /// next, for example the address of a render target.
    ///
    /// # Errors
    /// As [`Batch::reads`](super::Batch::reads).
    pub fn writes<const A: u64, const N: u32>(
        &self,
        object: &(impl Object + ?Sized),
        delta: u64,
    ) -> Result<Address<Graphics, A, N>, BatchError> {
        self.references.take(object, delta, Access::Write)
    }

    /// Copies a structure into the heap and returns its offset for a field.
    ///
    /// # Errors
    /// [`BatchError::Full`]; [`BatchError::Offset`] if the field cannot hold the offset;
    /// [`BatchError::Unplaced`] if the structure does not hold an address that was taken with
    /// `reads` or `writes`; `BatchError::Ambiguous` if it holds one more often than it was taken.
    pub fn put<T: Fixed, const A: u64, const N: u32>(
        &mut self,
        value: &T,
    ) -> Result<Address<S, A, N>, BatchError> {
        self.put_all(slice::from_ref(value))
    }

    /// Copies consecutive structures (viewports, interface descriptors) and returns the offset of
    /// the first.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_all<T: Fixed, const A: u64, const N: u32>(
        &mut self,
        values: &[T],
    ) -> Result<Address<S, A, N>, BatchError> {
        let mut dwords = vec![0; T::DWORDS * values.len()];
        for (slot, value) in dwords.chunks_exact_mut(T::DWORDS.max(1)).zip(values) {
            if let Err(error) = value.write(slot) {
                self.references.forget();
                return Err(error.into());
            }
        }
        let align = match T::INFO.kind {
            Kind::Struct { align } => align.into(),
            _ => 1,
        };
        self.place(T::NAME, &dwords, align, 0, Some(T::INFO))
    }

    /// Copies dwords, for example constants, and returns their offset.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_dwords<const A: u64, const N: u32>(
        &mut self,
        what: &'static str,
        dwords: &[u32],
    ) -> Result<Address<S, A, N>, BatchError> {
        self.place(what, dwords, 1, 0, None)
    }

    /// Copies dwords; `padding` bytes after them stay zero. On an error, the contents of the heap
    /// are unchanged, but waiting addresses are dropped.
    fn place<const A: u64, const N: u32>(
        &mut self,
        what: &'static str,
        dwords: &[u32],
        align: u64,
        padding: usize,
        container: Option<&'static Container>,
    ) -> Result<Address<S, A, N>, BatchError> {
        let start = self.used.next_multiple_of(LINE.max(align).max(A) as usize);
        let size = self.buffer.bytes.len();
        let end = start + 4 * dwords.len() + padding;
        if end > size {
            self.references.forget();
            return Err(BatchError::Full {
                buffer: self.buffer.name.clone(),
                what,
                needed: end - self.used,
                available: size.saturating_sub(self.used),
                size,
            });
        }
        let offset = start as u64;
        let address = Address::new(offset).map_err(|source| {
            self.references.forget();
            let buffer = self.buffer.name.clone();
            BatchError::Offset { buffer, what, offset, source: Box::new(source) }
        })?;
        if let Some(container) = container
            && self.references.waiting()
        {
            self.references.place(container, dwords, offset)?;
        }
        self.buffer.put_dwords(start, dwords);
        let content = Content { offset, bytes: 4 * dwords.len() as u64, what, container };
        self.buffer.contents.get_or_insert_default().push(content);
        self.used = end;
        Ok(address)
    }

    /// The buffer with everything that was put into it.
    pub fn finish(self) -> Buffer {
        Buffer { relocations: self.references.placed, ..self.buffer }
    }
}

impl Heap<SurfaceState> {
    /// Copies a binding table into the heap and returns its offset: the surfaces for binding table
    /// indices 0, 1, ... of a kernel.
    ///
    /// # Errors
    /// As [`put`](Self::put). The offset of a table has 16 bits: in a heap larger than 64 KiB, put
    /// the tables in first.
    pub fn binding_table<const A: u64, const N: u32>(
        &mut self,
        surfaces: &[Address<SurfaceState, 64, 32>],
    ) -> Result<Address<SurfaceState, A, N>, BatchError> {
        let entry = |surface: &_| BindingTableState { surface_state_pointer: *surface };
        let table: Vec<BindingTableState> = surfaces.iter().map(entry).collect();
        self.put_all(&table)
    }
}

impl Heap<DynamicState> {
    /// Copies an array of sampler states into the heap and returns its offset: the samplers for
    /// sampler indices 0, 1, ... of a kernel.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn samplers<const A: u64, const N: u32>(
        &mut self,
        samplers: &[SamplerState],
    ) -> Result<Address<DynamicState, A, N>, BatchError> {
        self.put_all(samplers)
    }

    /// Copies constants of kernels into the heap, padded with zeros to whole registers of 32 bytes.
    /// Returns their offset.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn constants<const A: u64, const N: u32>(
        &mut self,
        dwords: &[u32],
    ) -> Result<Address<DynamicState, A, N>, BatchError> {
        self.padded(dwords, 8)
    }

    /// Copies constants, padded with zeros to a multiple of `unit` dwords.
    fn padded<const A: u64, const N: u32>(
        &mut self,
        dwords: &[u32],
        unit: usize,
    ) -> Result<Address<DynamicState, A, N>, BatchError> {
        let padding = 4 * (dwords.len().next_multiple_of(unit) - dwords.len());
        self.place("constants", dwords, 1, padding, None)
    }

    /// Copies interface descriptors into the heap and returns the command that loads them.
    ///
    /// # Errors
    /// As [`put`](Self::put); [`BatchError::Offset`] if there are more than the command can load.
    #[cfg(feature = "media")]
    pub fn interface_descriptors(
        &mut self,
        descriptors: &[crate::gen8::state::InterfaceDescriptorData],
    ) -> Result<crate::gen8::media::MediaInterfaceDescriptorLoad, BatchError> {
        let start = self.put_all(descriptors)?;
        let bytes = 4 * crate::gen8::state::InterfaceDescriptorData::DWORDS * descriptors.len();
        Ok(crate::gen8::media::MediaInterfaceDescriptorLoad {
            interface_descriptor_data_start_address: start,
            interface_descriptor_total_length: self.length(
                "interface descriptors",
                start.get(),
                bytes,
            )?,
        })
    }

    /// Copies constants for the kernels of media objects and thread groups into the heap, padded to
    /// 64 bytes as the command requires. Returns the command that loads them (MEDIA_CURBE_LOAD).
    ///
    /// # Errors
    /// As [`put`](Self::put); [`BatchError::Offset`] if there is more than the command can load.
    #[cfg(feature = "media")]
    pub fn curbe(
        &mut self,
        dwords: &[u32],
    ) -> Result<crate::gen8::media::MediaCurbeLoad, BatchError> {
        let start = self.padded(dwords, 16)?;
        let bytes = 4 * dwords.len().next_multiple_of(16);
        Ok(crate::gen8::media::MediaCurbeLoad {
            curbe_data_start_address: start,
            curbe_total_data_length: self.length("constants", start.get(), bytes)?,
        })
    }

    /// Converts a length in bytes to the type of its field.
    #[cfg(feature = "media")]
    fn length<T: TryFrom<u64, Error = genxml_core::OutOfRange>>(
        &self,
        what: &'static str,
        offset: u64,
        bytes: usize,
    ) -> Result<T, BatchError> {
        T::try_from(bytes as u64).map_err(|source| BatchError::Offset {
            buffer: self.buffer.name.clone(),
            what,
            offset,
            source: Box::new(source),
        })
    }
}

impl Heap<Instruction> {
    /// Copies a kernel to a cache line of the heap and returns its offset. Zeros follow the kernel,
    /// because the instruction fetch reads ahead.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn kernel<const A: u64, const N: u32>(
        &mut self,
        instructions: &[u32],
    ) -> Result<Address<Instruction, A, N>, BatchError> {
        self.place(KERNEL, instructions, LINE, PREFETCH, None)
    }
}

impl<S: Space> Object for Heap<S> {
    fn name(&self) -> &Arc<str> {
        &self.buffer.name
    }

    fn address(&self) -> u64 {
        self.buffer.address
    }

    fn size(&self) -> u64 {
        self.buffer.bytes.len() as u64
    }
}
