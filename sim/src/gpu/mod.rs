//! The GPU: physical memory, contexts, engines. [`crate::gpu::schedule`] runs the submitted work;
//! [`crate::gpu::mmio`] is the host's access to registers.

pub mod context;
pub mod engine;
pub mod execlist;
pub mod execute;
pub mod generation;
pub mod image;
pub mod mmio;
pub mod schedule;
pub mod submission_port;

pub use context::ContextId;
pub use execute::ExecuteError;
pub use generation::Generation;
pub use schedule::{Progress, Suspended};

use crate::gpu::context::Context;
use crate::gpu::engine::Engine;
use crate::machine::device::Device;
use crate::machine::stats::Stats;
use crate::machine::watchdog::DEFAULT_LIMIT;
use crate::mem::{AddressSpace, Coherence, Frames, Memory, OutOfMemory, PAGE, Vm};
use genxml::engine::EngineId;
use std::collections::BTreeMap;

/// The model of the GPU.
#[derive(Debug)]
pub struct Gpu {
    pub(crate) generation: Generation,
    /// Physical memory.
    pub memory: Memory,
    /// The global table: rings, status pages and context images.
    pub ggtt: AddressSpace,
    pub(crate) contexts: Vec<Context>,
    /// The context of each image, by engine and image address.
    pub(crate) images: BTreeMap<(EngineId, u32), ContextId>,
    pub(crate) engines: [Engine; 4],
    pub(crate) device: Device,
    /// An empty table. [`Exec::ggtt`](crate::Exec) refers to it while a context without page tables
    /// runs, because the real global table is then the address space of the context.
    pub(crate) nothing: AddressSpace,
    pub(crate) work_limit: u64,
    pub(crate) clock: u64,
    pub(crate) stats: Stats,
}

impl Default for Gpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Gpu {
    /// A GPU with [`Memory::new`] and no contexts.
    pub fn new() -> Self {
        Self::with_memory(Memory::new())
    }

    /// A Gen8 GPU with the given memory.
    pub fn with_memory(memory: Memory) -> Self {
        Self::of(Generation::default(), memory)
    }

    /// A GPU of a generation, with the given memory.
    pub fn of(generation: Generation, memory: Memory) -> Self {
        Gpu {
            generation,
            memory,
            ggtt: AddressSpace::global(),
            contexts: Vec::new(),
            images: BTreeMap::new(),
            engines: Default::default(),
            device: Device::default(),
            nothing: AddressSpace::global(),
            work_limit: DEFAULT_LIMIT,
            clock: 0,
            stats: Stats::default(),
        }
    }

    /// A copy of the GPU: what runs on the copy does not change this one.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has no memory for the copy.
    pub fn duplicate(&self) -> Result<Gpu, OutOfMemory> {
        Ok(Gpu {
            generation: self.generation,
            memory: self.memory.duplicate()?,
            ggtt: self.ggtt.clone(),
            contexts: self.contexts.clone(),
            images: self.images.clone(),
            engines: self.engines.clone(),
            device: self.device.clone(),
            nothing: self.nothing.clone(),
            work_limit: self.work_limit,
            clock: self.clock,
            stats: self.stats,
        })
    }

    /// The generation of the GPU.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Sets the units of work (see [`crate::machine::watchdog`]) after which a submission counts as
    /// a hang.
    pub fn set_work_limit(&mut self, units: u64) {
        self.work_limit = units;
    }

    /// Moves the clock (see [`crate::machine::watchdog`]) forward to `units`, as if the GPU had
    /// been idle: a unit is a nanosecond of TIMESTAMP. Does nothing if the clock is later already.
    pub fn advance_clock(&mut self, units: u64) {
        self.clock = self.clock.max(units);
    }

    /// Creates a context: nothing mapped, nothing latched, all registers 0.
    ///
    /// # Errors
    /// [`OutOfMemory`] if its page tables do not fit.
    pub fn create_context(&mut self) -> Result<ContextId, OutOfMemory> {
        let context = self.new_context()?;
        self.contexts.push(context);
        Ok(ContextId::of(self.contexts.len() - 1))
    }

    /// Makes a context as it was after [`create_context`](Self::create_context). Frees its page
    /// tables.
    ///
    /// # Errors
    /// [`OutOfMemory`] if new page tables do not fit. The context is unchanged.
    pub fn renew_context(&mut self, id: ContextId) -> Result<(), OutOfMemory> {
        let new = self.new_context()?;
        let old = std::mem::replace(&mut self.contexts[id.index()], new);
        old.space.destroy(&mut self.memory);
        Ok(())
    }

    fn new_context(&mut self) -> Result<Context, OutOfMemory> {
        let global_only = self.generation.is_global_only();
        let space = match global_only {
            true => AddressSpace::with_root4(0),
            false => AddressSpace::new(&mut self.memory)?,
        };
        Ok(Context { global_only, ..Context::new(space) })
    }

    /// The context's page tables, latched packets and registers.
    pub fn context(&self, id: ContextId) -> &Context {
        &self.contexts[id.index()]
    }

    /// Like `context`, but mutable.
    pub fn context_mut(&mut self, id: ContextId) -> &mut Context {
        &mut self.contexts[id.index()]
    }

    /// Allocates a zeroed buffer of at least `bytes` bytes, in whole pages.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the buffer does not fit.
    pub fn alloc(&mut self, bytes: u64) -> Result<Frames, OutOfMemory> {
        self.memory.alloc(bytes.div_ceil(PAGE))
    }

    /// Maps a buffer into a context at `address`, a multiple of 4 KiB.
    ///
    /// # Errors
    /// [`OutOfMemory`] if page tables do not fit.
    pub fn map(&mut self, id: ContextId, address: u64, buffer: Frames) -> Result<(), OutOfMemory> {
        self.map_as(id, address, buffer, true)
    }

    /// Like [`map`](Self::map), but read-only unless `writable`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if page tables do not fit.
    pub fn map_as(
        &mut self,
        id: ContextId,
        address: u64,
        buffer: Frames,
        writable: bool,
    ) -> Result<(), OutOfMemory> {
        let (memory, space) = self.space(id);
        space.map(memory, address, buffer, writable)
    }

    /// Unmaps `pages` pages of a context from `address` on.
    pub fn unmap(&mut self, id: ContextId, address: u64, pages: u64) {
        let (memory, space) = self.space(id);
        space.unmap(memory, address, pages);
    }

    /// The address space of a context: its own, or the global table if it has none.
    fn space(&mut self, id: ContextId) -> (&mut Memory, &mut AddressSpace) {
        let context = &mut self.contexts[id.index()];
        let space = match context.global_only {
            true => &mut self.ggtt,
            false => &mut context.space,
        };
        (&mut self.memory, space)
    }

    /// Memory as the context sees it.
    pub fn vm(&mut self, id: ContextId) -> Vm<'_> {
        let (memory, space) = self.space(id);
        Vm::new(memory, space)
    }

    /// Memory through the global table.
    pub fn global(&mut self) -> Vm<'_> {
        Vm::new(&mut self.memory, &mut self.ggtt)
    }

    /// Allocates a buffer with `contents` and maps it at `address` (a multiple of 4 KiB).
    ///
    /// # Errors
    /// [`OutOfMemory`] if the buffer or page tables do not fit.
    pub fn load(
        &mut self,
        id: ContextId,
        address: u64,
        contents: &[u8],
    ) -> Result<Frames, OutOfMemory> {
        let buffer = self.alloc(contents.len() as u64)?;
        self.memory.bytes_mut(buffer)[..contents.len()].copy_from_slice(contents);
        self.map(id, address, buffer)?;
        Ok(buffer)
    }

    /// The record of caches that commands flushed and invalidated.
    pub fn coherence(&self) -> &Coherence {
        &self.device.coherence
    }

    /// Sets the number of host threads that run thread groups and screen tiles: 1 to 256, including
    /// the calling thread; initially 1. Memory, counts, clock and faults do not depend on the
    /// number: they are those of one thread that does the work in order
    /// ([`crate::machine::parallel`]).
    pub fn set_threads(&mut self, threads: usize) {
        self.device.threads = threads.clamp(1, 256);
    }

    /// Counts of the last call that ran work, for example [`run`](Self::run), even if it failed.
    pub fn last_stats(&self) -> Stats {
        self.stats
    }
}
