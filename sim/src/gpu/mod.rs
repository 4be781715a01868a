//! The GPU: physical memory, contexts, engines. How it runs what it is given:
//! [`crate::gpu::schedule`]; its registers: [`crate::gpu::mmio`].

pub mod context;
pub mod engine;
pub mod execlist;
pub mod image;
pub mod mmio;
pub mod schedule;
pub mod submission_port;

pub use context::ContextId;
pub use schedule::Progress;

use crate::gpu::context::Context;
use crate::gpu::engine::Engine;
use crate::machine::device::Device;
use crate::machine::stats::Stats;
use crate::machine::watchdog::DEFAULT_LIMIT;
use crate::mem::{AddressSpace, Coherence, Frames, Memory, OutOfMemory, PAGE, Vm};
use genxml::engine::EngineId;
use std::collections::BTreeMap;

/// The model.
#[derive(Debug)]
pub struct Gpu {
    /// Physical memory.
    pub memory: Memory,
    /// The global table: rings, status pages and context images.
    pub ggtt: AddressSpace,
    pub(crate) contexts: Vec<Context>,
    /// The context of each image that was loaded, by engine and address.
    pub(crate) images: BTreeMap<(EngineId, u32), ContextId>,
    pub(crate) engines: [Engine; 4],
    pub(crate) device: Device,
    /// Stands for the global table where a context has no other.
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

    /// A GPU with the given memory.
    pub fn with_memory(memory: Memory) -> Self {
        Gpu {
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

    /// Units of work (see [`crate::machine::watchdog`]) after which a submission counts as hanging.
    pub fn set_work_limit(&mut self, units: u64) {
        self.work_limit = units;
    }

    /// A new context: nothing mapped, nothing latched, all registers 0.
    ///
    /// # Errors
    /// [`OutOfMemory`] if its page tables do not fit.
    pub fn create_context(&mut self) -> Result<ContextId, OutOfMemory> {
        let space = AddressSpace::new(&mut self.memory)?;
        self.contexts.push(Context::new(space));
        Ok(ContextId::of(self.contexts.len() - 1))
    }

    /// The context's page tables, latched packets and registers.
    pub fn context(&self, id: ContextId) -> &Context {
        &self.contexts[id.index()]
    }

    /// The context, to be changed.
    pub fn context_mut(&mut self, id: ContextId) -> &mut Context {
        &mut self.contexts[id.index()]
    }

    /// A zeroed buffer of at least `bytes` bytes: whole pages.
    ///
    /// # Errors
    /// [`OutOfMemory`].
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

    /// [`map`](Self::map), read-only unless `writable`.
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
        self.contexts[id.index()].space.map(&mut self.memory, address, buffer, writable)
    }

    /// Unmaps `pages` pages of a context from `address` on.
    pub fn unmap(&mut self, id: ContextId, address: u64, pages: u64) {
        self.contexts[id.index()].space.unmap(&mut self.memory, address, pages);
    }

    /// Memory as the context sees it.
    pub fn vm(&mut self, id: ContextId) -> Vm<'_> {
        Vm::new(&mut self.memory, &mut self.contexts[id.index()].space)
    }

    /// Memory through the global table.
    pub fn global(&mut self) -> Vm<'_> {
        Vm::new(&mut self.memory, &mut self.ggtt)
    }

    /// A new buffer with `contents`, mapped at `address` (a multiple of 4 KiB).
    ///
    /// # Errors
    /// [`OutOfMemory`].
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

    /// What commands flushed and invalidated.
    pub fn coherence(&self) -> &Coherence {
        &self.device.coherence
    }

    /// Threads of the host that thread groups and tiles of the screen may run on, this one
    /// included, 1 to 256; at first 1. Results do not depend on it: memory, counts, clock and
    /// faults are those of one thread, which runs them in order ([`crate::machine::parallel`]).
    pub fn set_threads(&mut self, threads: usize) {
        self.device.threads = threads.clamp(1, 256);
    }

    /// Counts of the last submission, also of one that faulted.
    pub fn last_stats(&self) -> Stats {
        self.stats
    }
}
