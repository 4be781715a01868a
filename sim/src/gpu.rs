//! The GPU: physical memory, contexts, engines.

use crate::context::{Context, Exec, State};
use crate::cs::engine::{self, Active, Engine, Job, Turn};
use crate::cs::{Streamer, Wait};
use crate::fault::{Fault, Place};
use crate::mem::{AddressSpace, Frames, Memory, OutOfMemory, PAGE, Vm};
use crate::observe::{Observer, Stats};
use crate::watchdog::{Budget, DEFAULT_LIMIT};
use genxml::engine::EngineId;

/// A context of a [`Gpu`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct ContextId(usize);

/// The model.
#[derive(Debug)]
pub struct Gpu {
    /// Physical memory.
    pub memory: Memory,
    /// The global table: rings, status pages and context images.
    pub ggtt: AddressSpace,
    contexts: Vec<Context>,
    engines: [Engine; 4],
    work_limit: u64,
    clock: u64,
    stats: Stats,
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
            engines: Default::default(),
            work_limit: DEFAULT_LIMIT,
            clock: 0,
            stats: Stats::default(),
        }
    }

    /// Units of work (see [`crate::watchdog`]) after which a submission counts as hanging.
    pub fn set_work_limit(&mut self, units: u64) {
        self.work_limit = units;
    }

    /// A new context: nothing mapped, nothing latched, all registers 0.
    ///
    /// # Errors
    /// [`OutOfMemory`] if its page tables do not fit.
    pub fn create_context(&mut self) -> Result<ContextId, OutOfMemory> {
        let space = AddressSpace::new(&mut self.memory)?;
        self.contexts.push(Context { space, state: State::default() });
        Ok(ContextId(self.contexts.len() - 1))
    }

    /// The context's page tables, latched packets and registers.
    pub fn context(&self, id: ContextId) -> &Context {
        &self.contexts[id.0]
    }

    /// The context, to be changed.
    pub fn context_mut(&mut self, id: ContextId) -> &mut Context {
        &mut self.contexts[id.0]
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
        self.contexts[id.0].space.map(&mut self.memory, address, buffer, true)
    }

    /// Unmaps `pages` pages of a context from `address` on.
    pub fn unmap(&mut self, id: ContextId, address: u64, pages: u64) {
        self.contexts[id.0].space.unmap(&mut self.memory, address, pages);
    }

    /// Memory as the context sees it.
    pub fn vm(&mut self, id: ContextId) -> Vm<'_> {
        Vm::new(&mut self.memory, &mut self.contexts[id.0].space)
    }

    /// Memory through the global table.
    pub fn global(&mut self) -> Vm<'_> {
        Vm::new(&mut self.memory, &mut self.ggtt)
    }

    /// A new buffer with `contents`, mapped at `address` (a multiple of 4 KiB).
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn load(&mut self, id: ContextId, address: u64, contents: &[u8]) -> Result<Frames, OutOfMemory> {
        let buffer = self.alloc(contents.len() as u64)?;
        self.memory.bytes_mut(buffer)[..contents.len()].copy_from_slice(contents);
        self.map(id, address, buffer)?;
        Ok(buffer)
    }

    /// Counts of the last submission, also of one that faulted.
    pub fn last_stats(&self) -> Stats {
        self.stats
    }

    /// Gives a batch to an engine, behind what it has: [`run`](Self::run) executes it. `length` in bytes; 0 means that
    /// MI_BATCH_BUFFER_END says where it ends.
    pub fn enqueue(&mut self, context: ContextId, engine: EngineId, address: u64, length: u64) {
        self.engines[engine as usize].queue.push_back(Job { context, address, length });
    }

    /// Runs all engines until none has anything to do. They take turns, always in the same order.
    ///
    /// # Errors
    /// The first [`Fault`]; whatever was done before it stays done. The batch that it happened in is abandoned, and all
    /// that wait when there is a deadlock. Everything else stays: calling this again goes on with it.
    pub fn run(&mut self) -> Result<Stats, Fault> {
        self.run_observed(&mut ())
    }

    /// [`run`](Self::run) with a listener.
    ///
    /// # Errors
    /// As there.
    pub fn run_observed<O: Observer>(&mut self, observer: &mut O) -> Result<Stats, Fault> {
        let mut stats = Stats::default();
        let result = loop {
            match self.round(&mut stats, observer) {
                Ok(Turn::Idle) => break Ok(stats),
                Ok(Turn::Waits) => break Err(self.deadlock()),
                Ok(_) => {}
                Err(fault) => break Err(fault),
            }
        };
        self.stats = stats;
        result
    }

    /// Runs the batch at `address` to its end, and whatever else engines have to do. `length` in bytes; 0 means that
    /// MI_BATCH_BUFFER_END says where it ends.
    ///
    /// # Errors
    /// The first [`Fault`]; whatever was done before it stays done.
    pub fn submit(
        &mut self,
        id: ContextId,
        engine: EngineId,
        address: u64,
        length: u64,
    ) -> Result<Stats, Fault> {
        self.submit_observed(id, engine, address, length, &mut ())
    }

    /// [`submit`](Self::submit) with a listener.
    ///
    /// # Errors
    /// As there.
    pub fn submit_observed<O: Observer>(
        &mut self,
        id: ContextId,
        engine: EngineId,
        address: u64,
        length: u64,
        observer: &mut O,
    ) -> Result<Stats, Fault> {
        self.enqueue(id, engine, address, length);
        self.run_observed(observer)
    }

    /// A turn for each engine. Idle if none has work, waiting if all that have some wait.
    fn round<O: Observer>(&mut self, stats: &mut Stats, observer: &mut O) -> Result<Turn, Fault> {
        let mut all = Turn::Idle;
        for engine in EngineId::ALL {
            match self.turn(engine, stats, observer)? {
                Turn::Idle => {}
                Turn::Waits if all == Turn::Idle => all = Turn::Waits,
                Turn::Waits => {}
                Turn::Worked | Turn::Ended => all = Turn::Worked,
            }
        }
        Ok(all)
    }

    /// A turn for one engine.
    fn turn<O: Observer>(
        &mut self,
        id: EngineId,
        stats: &mut Stats,
        observer: &mut O,
    ) -> Result<Turn, Fault> {
        let engine = &mut self.engines[id as usize];
        let active = match &mut engine.active {
            Some(active) => active,
            none => {
                let Some(job) = engine.queue.pop_front() else { return Ok(Turn::Idle) };
                stats.batches += 1;
                none.insert(Active {
                    context: job.context,
                    streamer: Streamer::batch(job.address, job.length),
                    budget: Budget::new(self.work_limit, self.clock),
                })
            }
        };
        active.budget.resume(self.clock);
        let context = &mut self.contexts[active.context.0];
        let mut exec = Exec {
            engine: id,
            ggtt: &mut self.ggtt,
            vm: Vm::new(&mut self.memory, &mut context.space),
            state: &mut context.state,
            stats,
            budget: &mut active.budget,
            observer,
            at: Place::new(id, "batch", 0, 0),
            privileged: false,
        };
        let result = engine::turn(&mut active.streamer, &mut exec);
        self.clock = active.budget.clock();
        if !matches!(result, Ok(Turn::Worked | Turn::Waits)) {
            engine.active = None;
        }
        result
    }

    /// What all engines wait for; it is abandoned.
    fn deadlock(&mut self) -> Fault {
        let waiting = self.engines.iter_mut().filter_map(|engine| engine.active.take());
        let waits: Vec<Wait> = waiting.filter_map(|active| active.streamer.wait().copied()).collect();
        Fault::Deadlock { waits }
    }
}

/// First byte of an engine's registers (gen8_facts 1.2, i915 intel_engine_cs.c).
pub const fn mmio_base(engine: EngineId) -> u32 {
    match engine {
        EngineId::Render => 0x02000,
        EngineId::Blitter => 0x22000,
        EngineId::Video => 0x12000,
        EngineId::VideoEnhance => 0x1a000,
    }
}
