//! The scheduler. The engines take turns. Each engine runs its submitted batches first, then its
//! execution lists, then its ring.

use crate::cs::streamer::{Ring, Streamer, tail};
use crate::gpu::Gpu;
use crate::gpu::context::Context;
use crate::gpu::context::ContextId;
use crate::gpu::engine;
use crate::gpu::engine::{Active, Job, Source, Turn};
use crate::machine::device::{Interrupt, Signal};
use crate::machine::events::{Event, Listener, Now, Observer};
use crate::machine::exec::{Exec, Mode};
use crate::machine::fault::{Fault, Place};
use crate::machine::observation::Counter;
use crate::machine::registers::mmio_base;
use crate::machine::state::State;
use crate::machine::stats::Stats;
use crate::machine::wait::Wait;
use crate::machine::watchdog::{Budget, ticks};
use crate::mem::{AddressSpace, Vm};
use genxml::core::Address;
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::{
    Ccid, RingActhd, RingActhdUdw, RingContextControl, RingCtl, RingCtxTimestamp, RingMiMode,
    RingModeGen7, RingPdp,
};
use genxml::gen8::mi::MiSetContext;
use genxml::gen8::structures::ContextStatus;

/// MI_SET_CONTEXT creates no new context on an engine that has this many contexts with images.
/// Drivers use some dozens.
pub const IMAGES: usize = 4096;

/// Where [`Gpu::advance`] stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// No engine has anything to do.
    Idle,
    /// All engines that have something to do wait for semaphores.
    Waiting,
    /// The work that the caller allowed is done, and an engine can continue.
    Working,
}

/// A batch that [`Gpu::suspend`] took from its engine. It continues after [`Gpu::resume`].
#[derive(Clone, Debug)]
pub struct Suspended(Active);

impl Suspended {
    /// The semaphore that the batch waits for, if it waits.
    pub fn wait(&self) -> Option<&Wait> {
        self.0.streamer.wait()
    }
}

impl Gpu {
    /// Appends a batch to the queue of an engine; [`run`](Self::run) executes it. `length` is in
    /// bytes; 0 means that only MI_BATCH_BUFFER_END ends the batch.
    pub fn enqueue(&mut self, context: ContextId, engine: EngineId, address: u64, length: u64) {
        self.engines[engine as usize].queue.push_back(Job { context, address, length });
    }

    /// Runs all engines until none has anything to do. The engines take turns, always in the same
    /// order.
    ///
    /// # Errors
    /// The first [`Fault`]. The effects of earlier work remain. The batch, list or ring with the
    /// fault is abandoned; a deadlock abandons everything that waits. Call this function again to
    /// run the remaining work.
    pub fn run(&mut self) -> Result<Stats, Fault> {
        self.run_with(Listener::default())
    }

    /// Like [`run`](Self::run), and passes events to `observer`.
    ///
    /// # Errors
    /// The errors of `run`.
    pub fn run_observed(&mut self, observer: &mut dyn Observer) -> Result<Stats, Fault> {
        self.run_with(Listener::new(Some(observer)))
    }

    pub(crate) fn run_with(&mut self, listener: Listener<'_>) -> Result<Stats, Fault> {
        match self.advance_with(listener, u64::MAX)? {
            Progress::Waiting => Err(self.deadlock()),
            Progress::Idle | Progress::Working => Ok(self.stats),
        }
    }

    /// Runs all engines until none has anything to do, or until all engines with work wait for
    /// semaphores. Waiting work is not abandoned: the caller can signal the semaphores and call
    /// this function again.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), except for deadlocks.
    pub fn advance(&mut self) -> Result<Progress, Fault> {
        self.advance_with(Listener::default(), u64::MAX)
    }

    /// Like [`advance`](Self::advance), and passes events to `observer`.
    ///
    /// # Errors
    /// The errors of `advance`.
    pub fn advance_observed(&mut self, observer: &mut dyn Observer) -> Result<Progress, Fault> {
        self.advance_with(Listener::new(Some(observer)), u64::MAX)
    }

    /// Like [`advance`](Self::advance), but ends with [`Progress::Working`] after about `units`
    /// units of work (see [`crate::machine::watchdog`]). A draw or dispatch is not interrupted.
    /// Events go to `observer`.
    ///
    /// # Errors
    /// The errors of `advance`.
    pub fn advance_for(
        &mut self,
        units: u64,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Progress, Fault> {
        self.advance_with(Listener::new(observer), units)
    }

    pub(crate) fn advance_with(
        &mut self,
        mut listener: Listener<'_>,
        units: u64,
    ) -> Result<Progress, Fault> {
        let started = self.clock;
        let mut stats = Stats::default();
        let result = loop {
            match self.round(&mut stats, &mut listener) {
                Ok(Turn::Idle) => break Ok(Progress::Idle),
                Ok(Turn::Waits) => break Ok(Progress::Waiting),
                Ok(_) if self.clock.wrapping_sub(started) >= units => break Ok(Progress::Working),
                Ok(_) => {}
                Err(fault) => break Err(fault),
            }
        };
        // Somebody else can run the rest of the work, or change memory before it runs.
        self.end_lines(&mut listener);
        self.stats = stats;
        result
    }

    /// Runs the batch at `address` to its end, and all other work of the engines. `length` is in
    /// bytes; 0 means that only MI_BATCH_BUFFER_END ends the batch.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn submit(
        &mut self,
        id: ContextId,
        engine: EngineId,
        address: u64,
        length: u64,
    ) -> Result<Stats, Fault> {
        self.enqueue(id, engine, address, length);
        self.run()
    }

    /// Like [`submit`](Self::submit), and passes events to `observer`.
    ///
    /// # Errors
    /// The errors of `submit`.
    pub fn submit_observed(
        &mut self,
        id: ContextId,
        engine: EngineId,
        address: u64,
        length: u64,
        observer: &mut dyn Observer,
    ) -> Result<Stats, Fault> {
        self.enqueue(id, engine, address, length);
        self.run_observed(observer)
    }

    /// Takes the batch that runs on an engine, if [`enqueue`](Self::enqueue) submitted it. Its
    /// context keeps the state. Until [`resume`](Self::resume), the engine can run other batches,
    /// but not of this context.
    pub fn suspend(&mut self, engine: EngineId) -> Option<Suspended> {
        let active = &mut self.engines[engine as usize].active;
        active.take_if(|active| active.source == Source::Job).map(Suspended)
    }

    /// Returns a suspended batch to its engine, which must not run another one.
    pub fn resume(&mut self, engine: EngineId, batch: Suspended) {
        debug_assert!(self.engines[engine as usize].active.is_none(), "the engine runs a batch");
        self.engines[engine as usize].active = Some(batch.0);
    }

    /// Runs a turn of each engine. Returns [`Turn::Idle`] if none has work, [`Turn::Waits`] if all
    /// engines with work wait, and otherwise `Turn::Worked`.
    fn round(&mut self, stats: &mut Stats, listener: &mut Listener<'_>) -> Result<Turn, Fault> {
        let mut all = Turn::Idle;
        for engine in EngineId::ALL {
            match self.turn(engine, stats, listener)? {
                Turn::Idle => {}
                Turn::Waits if all == Turn::Idle => all = Turn::Waits,
                Turn::Waits => {}
                _ => all = Turn::Worked,
            }
        }
        Ok(all)
    }

    /// Runs a turn of one engine.
    fn turn(
        &mut self,
        id: EngineId,
        stats: &mut Stats,
        listener: &mut Listener<'_>,
    ) -> Result<Turn, Fault> {
        let active = match self.engines[id as usize].active.take() {
            Some(active) => Some(active),
            None => self.next(id)?,
        };
        let Some(mut active) = active else { return Ok(Turn::Idle) };
        if active.source == Source::Ring
            && let Some(ring) = active.streamer.ring_mut()
        {
            ring.tail = tail(&self.device, id) % ring.size;
        }
        self.end_lines(listener);
        let source = active.source;
        let result = self.run_active(id, &mut active, stats, listener);
        for signal in std::mem::take(&mut self.device.signals) {
            self.deliver(signal);
        }
        let result = result.and_then(|turn| self.after(id, active, turn));
        if let Err(fault) = &result {
            self.device.fault(fault);
            self.abandon(id, source);
        }
        result
    }

    /// Reports the accesses that the logs of other engines have left out, because the engine that
    /// runs next can access the same lines. The other engines continue with new logs, which leave
    /// out nothing.
    fn end_lines(&mut self, listener: &mut Listener<'_>) {
        for engine in EngineId::ALL {
            let active = self.engines[engine as usize].active.as_mut();
            let Some(log) = active.and_then(|active| active.log.take()) else { continue };
            let (now, at) = (Now { engine, clock: self.clock }, Place::new(engine, "batch", 0, 0));
            let mut list = Vec::new();
            log.end_lines();
            if log.drain(&mut list) {
                let event = Event::Accesses { at, thread: None, channel: None, list: &list };
                listener.event(now, &event);
            }
        }
    }

    /// Handles the result of a turn: saves, switches or keeps the active work.
    fn after(&mut self, id: EngineId, mut active: Active, turn: Turn) -> Result<Turn, Fault> {
        let element = active.source == Source::Element;
        match turn {
            Turn::Ended if element => {
                self.save(id, active)?;
                let complete = ContextStatus { context_complete: true, ..ContextStatus::new() };
                self.element_done(id, complete)?;
            }
            Turn::Ended if active.source == Source::Ring => {
                self.engines[id as usize].ring_budget = Some(active.budget);
            }
            Turn::Ended => {}
            Turn::Preempted => self.preempted(id, active)?,
            Turn::Context { address, inhibit } => {
                active.context = self.switch_ring(id, active.context, address, inhibit)?;
                self.engines[id as usize].active = Some(active);
            }
            turn if element && active.streamer.wait().is_some() => {
                let arbitrates = !self.contexts[active.context.index()].state.arbitration_off;
                let control = self.device.engine(id, RingContextControl::OFFSET);
                let stays =
                    RingContextControl::unpack_lossy(&[control]).ctx_ctrl_inhibit_syn_ctx_switch;
                if arbitrates && self.engines[id as usize].lists.pending.is_some() {
                    self.preempted(id, active)?;
                    return Ok(Turn::Worked);
                }
                if !stays {
                    self.waits(id, active)?;
                    return Ok(Turn::Worked);
                }
                if turn == Turn::Worked {
                    self.device.interrupt(id, Interrupt::SemaphoreWait);
                }
                self.engines[id as usize].active = Some(active);
            }
            _ => self.engines[id as usize].active = Some(active),
        }
        Ok(turn)
    }

    /// Executes packets of the active work.
    fn run_active(
        &mut self,
        id: EngineId,
        active: &mut Active,
        stats: &mut Stats,
        listener: &mut Listener<'_>,
    ) -> Result<Turn, Fault> {
        let engine = &mut self.engines[id as usize];
        engine.last = Some(active.context);
        let started = self.clock;
        active.budget.resume(started);
        if id == EngineId::Render {
            self.device.render_since = started;
        }
        let context = &mut self.contexts[active.context.index()];
        let (space, ggtt) = match context.global_only {
            true => (&mut self.ggtt, &mut self.nothing),
            false => (&mut context.space, &mut self.ggtt),
        };
        let log = active.log.take();
        let log = listener.wants_accesses().then(|| log.unwrap_or_default());
        let mut exec = Exec {
            engine: id,
            ggtt,
            vm: match &log {
                Some(log) => Vm::logged(&mut self.memory, log, space),
                None => Vm::new(&mut self.memory, space),
            },
            state: &mut context.state,
            stats,
            budget: &mut active.budget,
            listener: listener.reborrow(),
            at: Place::new(id, "batch", 0, 0),
            device: &mut self.device,
            mode: Mode {
                global_only: context.global_only,
                image: active.image,
                context: active.context.number(),
                number: active.number,
                preempt: active.source == Source::Element && engine.lists.pending.is_some(),
                ring: active.source == Source::Ring,
                ..Mode::default()
            },
        };
        exec.emit_memory(None);
        let result = engine::turn(&mut active.streamer, &mut exec);
        // Work of execution lists and rings can be switched at the end of a turn.
        let goes_on = matches!(result, Ok(Turn::Worked | Turn::Waits));
        let keeps_log = active.source == Source::Job && goes_on;
        if let (false, Some(log)) = (keeps_log, &log) {
            log.end_lines();
        }
        // Media threads can outlive their packets.
        exec.emit_memory(Some(exec.at));
        if result.is_err() {
            exec.emit(&Event::SubmissionEnd);
        }
        active.log = log.filter(|_| keeps_log);
        self.clock = active.budget.clock();
        if id == EngineId::Render {
            let busy = self.clock.wrapping_sub(started);
            self.device.observed.add(Counter::RenderBusy, busy);
        }
        active.streamer.publish(&mut self.device, id);
        let ran = ticks(self.clock).wrapping_sub(ticks(started)) as u32;
        let timestamp = self.device.engine(id, RingCtxTimestamp::OFFSET);
        self.device.set_engine(id, RingCtxTimestamp::OFFSET, timestamp.wrapping_add(ran));
        result
    }

    /// The next work of an engine.
    fn next(&mut self, id: EngineId) -> Result<Option<Active>, Fault> {
        if let Some(job) = self.engines[id as usize].queue.pop_front() {
            return Ok(Some(Active {
                source: Source::Job,
                image: None,
                number: job.context.number(),
                unsaved: None,
                loaded: Vec::new(),
                context: job.context,
                streamer: Streamer::batch(job.address, job.length)
                    .with_commands(self.generation.commands()),
                budget: Budget::new(self.work_limit, self.clock),
                log: None,
            }));
        }
        match self.load_element(id) {
            Ok(None) => Ok(self.load_ring(id)),
            Ok(active) => Ok(active),
            Err(fault) => {
                self.device.fault(&fault);
                self.abandon(id, Source::Element);
                Err(fault)
            }
        }
    }

    /// The ring that the engine's registers describe; `None` if it is empty, stopped or disabled,
    /// or if the engine uses execution lists.
    fn load_ring(&mut self, id: EngineId) -> Option<Active> {
        let register = |offset| [self.device.engine(id, offset)];
        let mode = RingModeGen7::unpack_lossy(&register(RingModeGen7::OFFSET));
        let control = RingCtl::unpack_lossy(&register(RingCtl::OFFSET));
        let stopped = RingMiMode::unpack_lossy(&register(RingMiMode::OFFSET)).stop_ring;
        if mode.gfx_run_list_enable
            || !control.ring_valid
            || stopped
            || self.engines[id as usize].hung
        {
            return None;
        }
        let ring = Ring::of(&self.device, id);
        if ring.head == ring.tail {
            return None;
        }
        let context = self.ring_context(id);
        let roots: [u64; 4] = std::array::from_fn(|index| {
            self.device.registers.read_u64(mmio_base(id) + RingPdp::OFFSET + 8 * index as u32)
        });
        let budget = Budget::new(self.work_limit, self.clock);
        let kept = &mut self.contexts[context.index()];
        kept.global_only = !mode.gfx_ppgtt_enable;
        if mode.gfx_ppgtt_enable {
            kept.space = match mode.gen8_gfx_ppgtt_48b {
                true => AddressSpace::with_root4(roots[0]),
                false => AddressSpace::with_roots3(roots),
            };
        }
        Some(Active {
            source: Source::Ring,
            image: None,
            number: context.number(),
            unsaved: None,
            loaded: Vec::new(),
            context,
            streamer: Streamer::ring(ring).with_commands(self.generation.commands()),
            budget: self.engines[id as usize].ring_budget.take().unwrap_or(budget),
            log: None,
        })
    }

    /// Called when the host writes a register of an engine's ring. The ring gets a full budget, and
    /// continues if a fault had stopped it.
    pub(super) fn ring_written(&mut self, id: EngineId) {
        let engine = &mut self.engines[id as usize];
        (engine.hung, engine.ring_budget) = (false, None);
        if let Some(active) = engine.active.as_mut().filter(|active| active.source == Source::Ring)
        {
            active.budget = Budget::new(self.work_limit, self.clock);
        }
    }

    /// MI_SET_CONTEXT: the ring of an engine continues with the state that belongs to an image. The
    /// page tables belong to the ring and do not change.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a new context if the engine already has [`IMAGES`] contexts. The
    /// model keeps every context that was loaded, so the limit protects the host's memory.
    fn switch_ring(
        &mut self,
        id: EngineId,
        from: ContextId,
        address: u32,
        inhibit: bool,
    ) -> Result<ContextId, Fault> {
        let known = self.images.contains_key(&(id, address));
        if !known && self.images.range((id, 0)..=(id, u32::MAX)).count() >= IMAGES {
            let half = |offset| u64::from(self.device.engine(id, offset));
            let command = half(RingActhd::OFFSET) | half(RingActhdUdw::OFFSET) << 32;
            return Err(Fault::BadPacket {
                field: "Logical Context Address",
                value: address.into(),
                why: format!("the model supports at most {IMAGES} contexts of an engine").into(),
                at: Place::new(id, MiSetContext::NAME, command, command),
            });
        }
        let to = self.context_of_image(id, address);
        if to != from {
            let none = AddressSpace::with_root4(0);
            let space = std::mem::replace(&mut self.contexts[from.index()].space, none);
            let global_only = self.contexts[from.index()].global_only;
            let context = &mut self.contexts[to.index()];
            (context.space, context.global_only) = (space, global_only);
        }
        if inhibit {
            self.contexts[to.index()].state = State::default();
        } else if !known {
            self.contexts[to.index()].state.restored = true;
        }
        self.engines[id as usize].ring = Some(to);
        let [ccid] = Ccid {
            logical_context_address: Address::from_bits(address.into()),
            ccid_en: true,
            ..Ccid::new()
        }
        .pack();
        self.device.set_engine(id, Ccid::OFFSET, ccid);
        Ok(to)
    }

    /// The context of an engine's ring; created at the first call.
    pub(super) fn ring_context(&mut self, id: EngineId) -> ContextId {
        let contexts = &mut self.contexts;
        *self.engines[id as usize].ring.get_or_insert_with(|| {
            contexts
                .push(Context { global_only: true, ..Context::new(AddressSpace::with_root4(0)) });
            ContextId::of(contexts.len() - 1)
        })
    }

    /// Makes the target context of a signal compare its semaphore again. If that context is not
    /// active on the target engine, the signal has no effect.
    fn deliver(&mut self, signal: Signal) {
        if let Some(active) = &mut self.engines[signal.engine as usize].active
            && active.number == signal.context
        {
            active.streamer.signal();
        }
    }

    /// Abandons the work that ran on an engine: a batch, a list with both elements, or a ring. A
    /// pending list becomes the running one.
    fn abandon(&mut self, id: EngineId, source: Source) {
        let engine = &mut self.engines[id as usize];
        match source {
            Source::Job => {}
            Source::Element => {
                engine.lists.give_up();
                if engine.lists.running.is_some() {
                    // `post` fails only if the status page is not mapped. Then this is the fault
                    // being handled, or the next `post` reports it.
                    let _ = self
                        .post(id, ContextStatus { idle_to_active: true, ..ContextStatus::new() });
                }
                self.show_status(id);
            }
            Source::Ring => engine.hung = true,
        }
    }

    /// Abandons all active work and returns the fault that lists the semaphore waits of that work.
    fn deadlock(&mut self) -> Fault {
        let mut waits: Vec<Wait> = Vec::new();
        for id in EngineId::ALL {
            if let Some(active) = self.engines[id as usize].active.take() {
                waits.extend(active.streamer.wait());
                self.abandon(id, active.source);
            }
        }
        Fault::Deadlock { waits }
    }
}
