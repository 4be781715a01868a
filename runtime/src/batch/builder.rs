//! The batch builder: consecutive packets in one buffer or in a chain of buffers.

use super::arena::Allocate;
use super::buffer::Buffer;
use super::error::BatchError;
use super::label::{BufferExtent, LabelState};
use super::object::Object;
use super::position::Position;
use super::reloc::{Access, References};
use crate::engine::{Command, Engine};
use crate::gen8::mi::{
    MiBatchBufferEnd, MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator as Table,
    MiBatchBufferStartSecondLevelBatchBuffer as Level,
};
use crate::pipeline::{InPipeline, Neutral, Pipeline};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};
use genxml_core::address::{Graphics, Space, SpaceKind};
use genxml_core::reflect::{Container, Kind};
use genxml_core::{Address, Fixed, Instruction, Packed};

/// Dwords that stay free in the buffer of a batch that does not grow, for MI_BATCH_BUFFER_END and
/// the padding to a qword.
const END: usize = 2;

/// Dwords that stay free in each buffer of a growing batch, for the jump to the next buffer and the
/// padding to a qword.
const CHAIN: usize = MiBatchBufferStart::DWORDS + 1;

/// The packets of one buffer.
pub(super) struct Segment {
    buffer: Buffer,
    /// As long as the buffer; zero from `used` on.
    pub dwords: Vec<u32>,
    pub used: usize,
    pub references: References,
}

impl Segment {
    fn new(buffer: Buffer) -> Segment {
        let dwords = vec![0; buffer.bytes.len() / 4];
        Segment { buffer, dwords, used: 0, references: References::default() }
    }

    /// Writes the packets into the buffer and returns it.
    fn finish(mut self) -> Buffer {
        self.buffer.put_dwords(0, &self.dwords[..self.used]);
        Buffer { relocations: self.references.placed, ..self.buffer }
    }
}

/// The part of a batch that does not depend on engine and pipeline.
pub(super) struct Core {
    pub current: Segment,
    /// Dwords of the current segment that packets may take.
    limit: usize,
    /// The earlier segments, each of which jumps to the next.
    pub full: Vec<Segment>,
    grow: Option<Box<dyn Allocate>>,
    pub level: Level,
    pub labels: Vec<LabelState>,
    pub assumed: Vec<(SpaceKind, u64)>,
    /// Unique number of the batch.
    pub id: usize,
    /// The rules that packets are checked against.
    #[cfg(feature = "std")]
    watching: Option<Box<Watching>>,
}

/// Rules for the packets of a batch. While they are set, `limit` is so low that every packet seems
/// to need another buffer. So the fast path of [`Core::emit`] needs no test for rules.
#[cfg(feature = "std")]
struct Watching {
    watch: crate::check::Watch,
    /// Dwords of the current segment that were checked.
    seen: usize,
    /// The value that `limit` has without rules.
    limit: usize,
}

#[cfg(feature = "std")]
impl Watching {
    /// Checks the packets emitted since the last check.
    fn look(&mut self, segment: &Segment) {
        if self.seen < segment.used {
            let address = segment.buffer.address + 4 * self.seen as u64;
            self.watch.packets(address, &segment.dwords[self.seen..segment.used]);
            self.seen = segment.used;
        }
    }
}

/// The number of the next batch.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A batch for engine `E`, with packets for its pipeline `P`.
///
/// [`Batch::new`] uses one buffer. [`Batch::growing`] adds another buffer when one is full, and a
/// jump to the new buffer. A batch is [`Neutral`] at first: `select_3d`, `select_media` and
/// `select_gpgpu` return a batch that takes the commands of that pipeline.
///
/// ```
/// use genxml::batch::Batch;
/// use genxml::engine::Render;
/// use genxml::gen8::media::MediaStateFlush;
/// use genxml::gen8::mi::MiNoop;
///
/// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
/// batch.emit(&MiNoop::new())?;
/// let mut batch = batch.select_gpgpu()?;
/// batch.emit(&MediaStateFlush::new())?;
/// let finished = batch.finish()?;
/// assert_eq!(finished.length % 8, 0);
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
///
/// A command of another pipeline does not compile:
///
/// ```compile_fail
/// # use genxml::batch::Batch;
/// # use genxml::engine::Render;
/// # use genxml::gen8::media::GpgpuWalker;
/// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_3d()?;
/// batch.emit(&GpgpuWalker::new())?;
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
pub struct Batch<E: Engine, P: Pipeline = Neutral> {
    pub(super) core: Core,
    marker: PhantomData<(E, P)>,
}

impl<E: Engine> Batch<E> {
    /// An empty batch at `address` of at most `size` bytes.
    ///
    /// # Errors
    /// As [`Buffer::new`]; [`BatchError::Full`] if there is no room for the end of the batch, 8
    /// bytes.
    pub fn new(name: impl Into<Arc<str>>, address: u64, size: usize) -> Result<Self, BatchError> {
        Self::in_buffer(Buffer::new(name, address, size)?)
    }

    /// An empty batch in the driver's buffer. The packets replace the first bytes of the buffer;
    /// the bytes after the end of the batch are unchanged.
    ///
    /// # Errors
    /// [`BatchError::Full`] if there is no room for the end of the batch, 8 bytes.
    pub fn in_buffer(buffer: Buffer) -> Result<Self, BatchError> {
        Self::with(buffer, None)
    }

    /// An empty batch that gets buffers from `allocator`: the first now, another when one is full.
    /// Each buffer jumps to the next with MI_BATCH_BUFFER_START.
    ///
    /// ```
    /// use genxml::batch::{Arena, Batch};
    /// use genxml::engine::Blitter;
    /// use genxml::gen8::mi::MiNoop;
    ///
    /// let mut batch = Batch::<Blitter>::growing(Arena::new("batch", 0x10_0000, 0x10_0000, 4096))?;
    /// for _ in 0..2000 {
    ///     batch.emit(&MiNoop::new())?;
    /// }
    /// assert_eq!(batch.finish()?.chained.len(), 1);
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// Those returned by the allocator; [`BatchError::Full`] if its buffer has no room for the jump
    /// to the next, 16 bytes.
    pub fn growing(mut allocator: impl Allocate + 'static) -> Result<Self, BatchError> {
        let buffer = allocator.allocate(4 * CHAIN)?;
        Self::with(buffer, Some(Box::new(allocator)))
    }

    fn with(buffer: Buffer, grow: Option<Box<dyn Allocate>>) -> Result<Self, BatchError> {
        let (what, reserve) = match grow {
            Some(_) => (MiBatchBufferStart::NAME, CHAIN),
            None => (MiBatchBufferEnd::NAME, END),
        };
        let current = Segment::new(buffer);
        let Some(limit) = current.dwords.len().checked_sub(reserve) else {
            let size = current.buffer.bytes.len();
            let buffer = current.buffer.name;
            return Err(BatchError::Full {
                buffer,
                what,
                needed: 4 * reserve,
                available: size,
                size,
            });
        };
        let core = Core {
            limit,
            current,
            full: Vec::new(),
            grow,
            level: Level::FIRST_LEVEL_BATCH,
            labels: Vec::new(),
            assumed: Vec::new(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            #[cfg(feature = "std")]
            watching: None,
        };
        Ok(Batch { core, marker: PhantomData })
    }
}

impl<E: Engine, P: Pipeline> Batch<E, P> {
    /// Appends a packet.
    ///
    /// # Errors
    /// [`BatchError::Full`] if the buffer has no room for the packet and the end of the batch, or
    /// an error of the allocator of a growing batch; [`BatchError::Pack`] if the packet is longer
    /// than its length field allows; [`BatchError::Unplaced`] if the packet does not hold an
    /// address that was taken with [`reads`](Self::reads); `BatchError::Ambiguous` if it holds one
    /// more often than it was taken.
    #[inline]
    pub fn emit<C: Command<E> + InPipeline<P>>(
        &mut self,
        packet: &C,
    ) -> Result<Position, BatchError> {
        self.core.emit(packet)
    }

    /// As [`emit`](Self::emit), for code that is generic over the pipeline: every pipeline accepts
    /// neutral packets. Each reference is the address of an object, the address that the packet
    /// holds, and the GPU's access.
    #[cfg(all(feature = "std", feature = "registers"))]
    pub(crate) fn emit_neutral<C: Command<E> + InPipeline<Neutral>>(
        &mut self,
        packet: &C,
        references: impl Iterator<Item = (u64, u64, Access)>,
    ) -> Result<(), BatchError> {
        let waiting = &mut self.core.current.references;
        if waiting.waiting() {
            // The caller took addresses for a packet of its own, and this is another packet.
            return Err(waiting.unplaced(C::NAME));
        }
        references.for_each(|(object, address, access)| waiting.add(object, address, access));
        self.core.emit(packet).map(drop)
    }

    /// The address of `object` + `delta`, which the GPU will read, for the packet that is emitted
    /// next. The batch records the position of the address in the packet, and
    /// [`Submission::exec`](super::Submission::exec) passes this position to the kernel.
    ///
    /// ```
    /// use genxml::batch::{Batch, Buffer};
    /// use genxml::engine::Render;
    /// use genxml::gen8::mi::MiCopyMemMem;
    ///
    /// let (from, to) = (Buffer::new("from", 0x10000, 4096)?, Buffer::new("to", 0x20000, 4096)?);
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    /// let (source, destination) = (batch.reads(&from, 0)?, batch.writes(&to, 16)?);
    /// batch.emit(&MiCopyMemMem {
    ///     source_memory_address: source,
    ///     destination_memory_address: destination,
    ///     ..MiCopyMemMem::new()
    /// })?;
    /// let submission = batch.finish()?.submit([from, to])?;
    /// assert_eq!(submission.buffers[0].relocations().len(), 2);
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError::Outside`] if `delta` is not inside the object; [`BatchError::Offset`] if the
    /// address does not fit its field; `BatchError::AtZero` if the address is 0.
    pub fn reads<const A: u64, const N: u32>(
        &self,
        object: &(impl Object + ?Sized),
        delta: u64,
    ) -> Result<Address<Graphics, A, N>, BatchError> {
        self.core.current.references.take(object, delta, Access::Read)
    }

    /// As [`reads`](Self::reads), for an object that the GPU will write.
    ///
    /// # Errors
    /// As [`reads`](Self::reads).
    pub fn writes<const A: u64, const N: u32>(
        &self,
        object: &(impl Object + ?Sized),
        delta: u64,
    ) -> Result<Address<Graphics, A, N>, BatchError> {
        self.core.current.references.take(object, delta, Access::Write)
    }

    /// Replaces the packet at `position` by another of the same kind and length.
    ///
    /// # Errors
    /// [`BatchError::Patch`] if the packet at `position` is of another kind or length; as `emit` if
    /// the new packet is wrong.
    pub fn patch<C: Command<E> + InPipeline<P>>(
        &mut self,
        position: Position,
        packet: &C,
    ) -> Result<(), BatchError> {
        self.core.patch(position, packet)
    }

    /// Changes fields of the packet at `position`. The closure gets the present packet.
    ///
    /// ```
    /// use genxml::batch::Batch;
    /// use genxml::engine::Render;
    /// use genxml::gen8::mi::PipeControl;
    ///
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    /// let position = batch.emit(&PipeControl::new())?;
    /// batch.edit(position, |flush: &mut PipeControl| flush.depth_cache_flush_enable = true)?;
    /// assert_eq!(batch.dwords()[1], 1);
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// As `patch`.
    pub fn edit<C: Command<E> + InPipeline<P> + Fixed>(
        &mut self,
        position: Position,
        change: impl FnOnce(&mut C),
    ) -> Result<(), BatchError> {
        let mut packet = self.core.read::<C>(position)?;
        change(&mut packet);
        self.core.patch(position, &packet)
    }

    /// Checks the packets of this batch against the rules, in the context of the packets before
    /// them; [`findings`](Self::findings) returns the violations. A packet is checked when the next
    /// one is emitted or `findings` is called. If the batch has grown before this call, the packets
    /// in its earlier buffers are not checked. What packets point to, and later patches, are
    /// checked when the batch is complete, by
    /// [`Submission::findings`](super::Submission::findings).
    ///
    /// ```
    /// use genxml::batch::Batch;
    /// use genxml::check::Rules;
    /// use genxml::engine::Render;
    /// use genxml::gen8::mi::{MiNoop, PipeControl};
    ///
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.checked(Rules::gen8());
    /// batch.emit(&MiNoop::new())?;
    /// assert!(batch.findings().is_empty());
    /// batch.emit(&PipeControl { command_streamer_stall_enable: true, ..PipeControl::new() })?;
    /// assert_eq!(batch.findings()[0].packet, ("PIPE_CONTROL", 0x1004));
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn checked(mut self, rules: crate::check::Rules) -> Self {
        let core = &mut self.core;
        let limit = core.watching.as_ref().map_or(core.limit, |watching| watching.limit);
        let watch = crate::check::Watch::new(E::ID, rules);
        core.watching = Some(Box::new(Watching { watch, seen: 0, limit }));
        core.limit = core.current.used;
        self
    }

    /// Violations in the packets so far of the rules set by [`checked`](Self::checked); empty
    /// without rules.
    #[cfg(feature = "std")]
    pub fn findings(&mut self) -> &[crate::check::Finding] {
        let Core { watching, current, .. } = &mut self.core;
        watching.as_mut().map_or(&[], |watching| {
            watching.look(current);
            watching.watch.found()
        })
    }

    /// GPU address of the next packet.
    pub fn address(&self) -> u64 {
        self.core.current.buffer.address + 4 * self.core.current.used as u64
    }

    /// The packets so far; in a growing batch those in the newest buffer.
    pub fn dwords(&self) -> &[u32] {
        &self.core.current.dwords[..self.core.current.used]
    }

    /// Declares that `base` is the base of space `S` when the batch starts, because an earlier
    /// batch or the caller of this second-level batch has set it. Offsets of that space are then
    /// accepted without a STATE_BASE_ADDRESS before them.
    #[must_use]
    pub fn assume_base<S: Space>(mut self, base: u64) -> Self {
        self.core.assumed.push((S::KIND, base));
        self
    }

    /// The same batch with another pipeline.
    pub(super) fn retyped<Q: Pipeline>(self) -> Batch<E, Q> {
        Batch { core: self.core, marker: PhantomData }
    }

    /// Ends the batch with MI_BATCH_BUFFER_END, padded to a qword, as the kernel requires.
    ///
    /// # Errors
    /// [`BatchError::Unbound`] if a jump has a label that is not bound.
    pub fn finish(mut self) -> Result<FinishedBatch<E>, BatchError> {
        self.core.resolved()?;
        // `emit` always leaves space for MI_BATCH_BUFFER_END.
        let current = &mut self.core.current;
        let end = MiBatchBufferEnd::new().pack();
        current.dwords[current.used..][..end.len()].copy_from_slice(&end);
        current.used = (current.used + end.len()).next_multiple_of(2);
        let mut lengths = self.core.full.iter().map(|segment| segment.used);
        let length = 4 * lengths.next().unwrap_or(self.core.current.used);
        let (full, last) = (self.core.full, self.core.current.finish());
        let mut buffers: Vec<Buffer> = full.into_iter().map(Segment::finish).collect();
        buffers.push(last);
        let buffer = Buffer { assumed: self.core.assumed, ..buffers.remove(0) };
        Ok(FinishedBatch { buffer, length, chained: buffers, engine: PhantomData })
    }
}

impl Core {
    #[inline(always)]
    pub fn emit<C: Instruction>(&mut self, packet: &C) -> Result<Position, BatchError> {
        let dwords = packet.dwords();
        if dwords > self.limit - self.current.used
            && let Err(error) = self.next_buffer(C::NAME, dwords)
        {
            return Err(self.undo(error));
        }
        let dword = self.current.used;
        let end = dword + dwords;
        if let Err(error) = packet.pack_into(&mut self.current.dwords[dword..end]) {
            return Err(self.undo(error.into()));
        }
        if self.current.references.waiting()
            && let Err(error) = self.place(C::INFO, dword, end)
        {
            return Err(self.undo(error));
        }
        self.current.used = end;
        Ok(Position { segment: self.full.len() as u32, dword: dword as u32, dwords: dwords as u32 })
    }

    /// Undoes the changes of a packet that failed: clears its dwords and its addresses.
    #[cold]
    fn undo(&mut self, error: BatchError) -> BatchError {
        self.current.dwords[self.current.used..].fill(0);
        self.current.references.forget();
        error
    }

    #[cold]
    fn place(
        &mut self,
        container: &'static Container,
        dword: usize,
        end: usize,
    ) -> Result<(), BatchError> {
        let Segment { dwords, references, .. } = &mut self.current;
        references.place(container, &dwords[dword..end], 4 * dword as u64)
    }

    /// Makes room for a packet of `dwords` dwords. If the batch has rules, this first checks the
    /// packets emitted since the last check, and continues in the same buffer if the packet fits.
    #[cold]
    fn next_buffer(&mut self, what: &'static str, dwords: usize) -> Result<(), BatchError> {
        #[cfg(feature = "std")]
        if let Some(watching) = &mut self.watching {
            watching.look(&self.current);
            self.limit = watching.limit;
            if dwords <= self.limit - self.current.used {
                self.limit = self.current.used + dwords;
                return Ok(());
            }
        }
        let full = |buffer: &Buffer, available: usize| BatchError::Full {
            buffer: buffer.name.clone(),
            what,
            needed: 4 * dwords,
            available: 4 * available,
            size: buffer.bytes.len(),
        };
        let Some(allocator) = &mut self.grow else {
            return Err(full(&self.current.buffer, self.limit - self.current.used));
        };
        let next = Segment::new(allocator.allocate(4 * (dwords + CHAIN))?);
        let limit = next.dwords.len().saturating_sub(CHAIN);
        if dwords > limit {
            return Err(full(&next.buffer, limit));
        }
        // `limit` reserved the space for the jump; the waiting addresses are for the packet after
        // it.
        let waiting = self.current.references.take_waiting();
        let jump = MiBatchBufferStart {
            address_space_indicator: Table::PPGTT,
            second_level_batch_buffer: self.level,
            ..MiBatchBufferStart::new(self.current.references.take(
                &next.buffer,
                0,
                Access::Read,
            )?)
        };
        let at = self.current.used;
        let end = at + MiBatchBufferStart::DWORDS;
        self.current.dwords[at..end].copy_from_slice(&jump.pack());
        self.current.references.place(
            MiBatchBufferStart::INFO,
            &self.current.dwords[at..end],
            4 * at as u64,
        )?;
        self.current.used = end.next_multiple_of(2);
        self.limit = limit;
        #[cfg(feature = "std")]
        if let Some(watching) = &mut self.watching {
            watching.look(&self.current);
            (watching.seen, watching.limit) = (0, limit);
            self.limit = dwords;
        }
        self.full.push(mem::replace(&mut self.current, next));
        self.current.references = References::of(waiting);
        Ok(())
    }

    pub fn segment(&mut self, index: usize) -> Option<&mut Segment> {
        match self.full.len() {
            current if index == current => Some(&mut self.current),
            _ => self.full.get_mut(index),
        }
    }

    /// Name, address and size of a segment's buffer, for references to it.
    pub fn extent_of(&self, segment: usize) -> BufferExtent {
        BufferExtent::of(&self.full.get(segment).unwrap_or(&self.current).buffer)
    }

    /// The dwords at `position`, if they are a packet `C` of `new_dwords` dwords.
    fn packet<C: Packed>(
        &mut self,
        position: Position,
        new_dwords: usize,
    ) -> Result<&mut [u32], BatchError> {
        let Position { segment, dword, dwords } = position;
        let (dword, dwords) = (dword as usize, dwords as usize);
        let found = self.segment(segment as usize).and_then(|segment| {
            let used = segment.used;
            segment.dwords[..used].get_mut(dword..dword + dwords)
        });
        let old = found.as_ref().and_then(|found| found.first().copied()).unwrap_or(0);
        let same = match C::INFO.kind {
            Kind::Instruction { opcode_mask, opcode, .. } => old & opcode_mask == opcode,
            _ => false,
        };
        match found {
            Some(found) if same && new_dwords == dwords => Ok(found),
            _ => Err(BatchError::Patch {
                new: C::NAME,
                new_dwords,
                old,
                old_dwords: dwords,
                offset: position.offset(),
            }),
        }
    }

    pub fn read<C: Fixed>(&mut self, position: Position) -> Result<C, BatchError> {
        Ok(C::read_lossy(self.packet::<C>(position, C::DWORDS)?))
    }

    pub fn patch<C: Instruction>(
        &mut self,
        position: Position,
        packet: &C,
    ) -> Result<(), BatchError> {
        // Waiting addresses were taken in the newest segment, whatever segment the packet is in.
        let waiting = self.current.references.take_waiting();
        let slot = self.packet::<C>(position, packet.dwords())?;
        let old = slot.to_vec();
        slot.fill(0);
        let packed = packet.pack_into(slot);
        let Some(Segment { dwords, references, .. }) = self.segment(position.segment()) else {
            return Ok(());
        };
        let slot = &mut dwords[position.dword as usize..][..old.len()];
        let at = position.offset() as u64;
        let placed = packed.map_err(BatchError::from).and_then(|_| match waiting.is_empty() {
            true => Ok(()),
            false => references.replace(&waiting, C::INFO, slot, at),
        });
        match &placed {
            Ok(()) => references.changed(C::INFO, slot, at),
            Err(_) => slot.copy_from_slice(&old),
        }
        placed
    }
}

impl<E: Engine, P: Pipeline> fmt::Debug for Batch<E, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("name", &self.core.current.buffer.name)
            .field("address", &format_args!("{:#x}", self.core.current.buffer.address))
            .field("dwords", &self.core.current.used)
            .field("full", &self.core.full.len())
            .finish_non_exhaustive()
    }
}

/// A batch with its MI_BATCH_BUFFER_END.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedBatch<E: Engine> {
    /// The buffer; the first one of a batch that grew.
    pub buffer: Buffer,
    /// Number of bytes of `buffer` that the batch uses.
    pub length: usize,
    /// The further buffers of a growing batch.
    pub chained: Vec<Buffer>,
    pub(super) engine: PhantomData<E>,
}
