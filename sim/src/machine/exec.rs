//! `Exec`: the parts of the machine that a unit uses while it executes a packet, such as memory,
//! state and budget.

use super::blitting::Blitting;
use super::device::Device;
use super::drawing::{Drawing, Primitive};
use super::events::{Event, Listener, Now};
use super::fault::{Fault, Place, Waiting};
use super::origins::OriginEvent;
use super::registers::{Home, mmio_base, rule};
use super::state::State;
use super::stats::Stats;
use super::view::PacketView;
use super::watchdog::{Budget, Exhausted};
use super::watched::PixelEvent;
use crate::assumptions::GLOBAL_ACCESS_NEEDS_PRIVILEGE;
use crate::mem::{AccessLog, AddressSpace, PageFault, Vm};
use genxml::engine::EngineId;
use genxml::gen8::structures::HardwareDetectedErrorBitDefinitions as Errors;
use std::borrow::Cow;

/// How an engine runs a context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mode {
    /// True if the packet comes from a ring or from a batch in the global table.
    pub privileged: bool,
    /// True if the context has no page tables of its own: all its addresses go through the global
    /// table.
    pub global_only: bool,
    /// Address of the context's image in the global table, if it has one.
    pub image: Option<u32>,
    /// Number of the context in the model: unlike `number`, it is unique.
    pub context: u32,
    /// The context's number, the Target Context ID of MI_SEMAPHORE_SIGNAL.
    pub number: u32,
    /// True if commands come from the ring that the engine's registers describe, without execution
    /// lists.
    pub ring: bool,
    /// True if another context waits to run on the engine.
    pub preempt: bool,
    /// True if the resource streamer follows the batch that contains the packet.
    pub resource_streamer: bool,
}

/// The parts of the machine that a unit uses while it executes a packet. Functions that execute
/// packets take it as a parameter.
pub struct Exec<'a> {
    /// The engine.
    pub engine: EngineId,
    /// Memory as the context sees it.
    pub vm: Vm<'a>,
    /// The global table.
    pub ggtt: &'a mut AddressSpace,
    /// Latched packets and registers.
    pub state: &'a mut State,
    /// Counts of this submission.
    pub stats: &'a mut Stats,
    /// Work left, and the clock.
    pub budget: &'a mut Budget,
    /// The observer, if there is one.
    pub listener: Listener<'a>,
    /// The packet being executed.
    pub at: Place,
    /// State of the GPU itself: registers, interrupts.
    pub device: &'a mut Device,
    /// How the engine runs the context.
    pub mode: Mode,
}

impl Exec<'_> {
    /// Passes an event to the observer, with the engine and the time.
    #[inline(always)]
    pub fn emit(&mut self, event: &Event<'_>) {
        if self.listener.is_some() {
            self.observed(event);
        }
    }

    #[cold]
    fn observed(&mut self, event: &Event<'_>) {
        let changes_caches =
            matches!(event, Event::Flush { .. } | Event::Submission { .. } | Event::SubmissionEnd);
        let log = self.vm.log();
        if changes_caches && let Some(log) = log {
            log.report_joined();
        }
        self.emit_accesses(None, None);
        let _own = self.vm.unrecorded();
        self.listener.event(Now { engine: self.engine, clock: self.budget.clock() }, event);
        if changes_caches && let Some(log) = log {
            self.listener.update_lines(log.lines());
        }
    }

    /// Emits [`Event::Accesses`] if memory was accessed since the latest event. `thread` is the
    /// number of the thread whose message made the accesses, `channel` the only channel of the
    /// message.
    #[inline(always)]
    pub(crate) fn emit_accesses(&mut self, thread: Option<u32>, channel: Option<u8>) {
        if let Some(log) = self.vm.log() {
            self.report_accesses(log, thread, channel);
        }
    }

    /// Emits the accesses of a message of the thread: [`Event::Accesses`],
    /// [`Event::LocalAccesses`] and [`Event::Outside`], each if there are some.
    #[cold]
    pub(crate) fn emit_message_accesses(&mut self, log: &AccessLog, thread: u32) {
        self.report_accesses(log, Some(thread), None);
        let list = log.take_local();
        if !list.is_empty() {
            let now = Now { engine: self.engine, clock: self.budget.clock() };
            let at = self.at;
            self.listener.event(now, &Event::LocalAccesses { at, thread, list: &list });
        }
        let list = log.take_outside();
        if !list.is_empty() {
            let now = Now { engine: self.engine, clock: self.budget.clock() };
            self.listener.event(now, &Event::Outside { at: self.at, thread, list: &list });
        }
    }

    #[cold]
    fn report_accesses(&mut self, log: &AccessLog, thread: Option<u32>, channel: Option<u8>) {
        let mut list = Vec::new();
        if log.drain(&mut list) {
            let now = Now { engine: self.engine, clock: self.budget.clock() };
            self.listener
                .event(now, &Event::Accesses { at: self.at, thread, channel, list: &list });
            log.reuse(list);
        }
    }

    /// Emits [`Event::Packet`] for the packet at `at`.
    ///
    /// # Errors
    /// [`Fault::Cancelled`] if the observer ends the run here.
    #[inline(always)]
    pub(crate) fn emit_packet(&mut self, dwords: &[u32]) -> Result<(), Fault> {
        if self.listener.is_some() { self.observed_packet(dwords) } else { Ok(()) }
    }

    #[cold]
    fn observed_packet(&mut self, dwords: &[u32]) -> Result<(), Fault> {
        self.emit_accesses(None, None);
        let Exec { vm, state, budget, listener, engine, at, mode, .. } = self;
        let _own = vm.unrecorded();
        if !listener.cancels() {
            let now = Now { engine: *engine, clock: budget.clock() };
            let view = PacketView { vm, state };
            let context = mode.context;
            listener.event(now, &Event::Packet { at: *at, context, dwords, view: &view });
            if let Some(log) = vm.log() {
                listener.update_lines(log.lines());
            }
        }
        if listener.cancels() { Err(Fault::Cancelled { at: *at }) } else { Ok(()) }
    }

    /// Emits the event that a draw begins, or with `over` that it has ended.
    #[inline(always)]
    pub(crate) fn emit_draw(&mut self, packet: Primitive<'_>, over: bool) {
        if !self.listener.is_some() {
            return;
        }
        self.emit_accesses(None, None);
        let _own = self.vm.unrecorded();
        let Exec { vm, state, stats, budget, listener, engine, at, .. } = self;
        let read = |address: u64, out: &mut [u8]| vm.read(address, out).is_ok();
        let translate = |address: u64| vm.physical(address);
        let drawing =
            Drawing { at: *at, packet, state, stats: **stats, read: &read, translate: &translate };
        let now = Now { engine: *engine, clock: budget.clock() };
        listener.event(now, &if over { Event::DrawEnd(&drawing) } else { Event::Draw(&drawing) });
    }

    /// Emits [`Event::Memory`]: no packet is being executed now. `after` is the packet that has
    /// just ended.
    #[inline(always)]
    pub(crate) fn emit_memory(&mut self, after: Option<Place>) {
        if !self.listener.is_some() {
            return;
        }
        if let Some(log) = self.vm.log() {
            log.report_joined();
        }
        self.emit_accesses(None, None);
        let now = Now { engine: self.engine, clock: self.budget.clock() };
        if let Some((memory, _)) = self.vm.memory() {
            self.listener.event(now, &Event::Memory { after, memory });
        }
    }

    /// Emits the event of a blit.
    #[cold]
    pub(crate) fn emit_blit(&mut self, blit: &Blitting<'_>) {
        self.emit_accesses(None, None);
        let _own = self.vm.unrecorded();
        let Exec { vm, budget, listener, engine, .. } = self;
        let read = |address: u64, out: &mut [u8]| vm.read(address, out).is_ok();
        let translate = |address: u64| vm.physical(address);
        let now = Now { engine: *engine, clock: budget.clock() };
        let blit = Blitting { translate: &translate, read: &read, ..*blit };
        listener.event(now, &Event::Blit(&blit));
    }

    /// Emits an event of the watched pixel.
    pub(crate) fn emit_pixel(&mut self, event: &PixelEvent<'_>) {
        if let Some(log) = self.vm.log() {
            log.report_joined();
        }
        self.emit_accesses(None, None);
        let now = Now { engine: self.engine, clock: self.budget.clock() };
        if let Some((memory, _)) = self.vm.memory() {
            self.listener.event(now, &Event::Pixel { event, memory });
        }
    }

    /// Emits an event of vertices and primitives if the observer asks for it. `event` is called
    /// only then.
    #[inline]
    pub(crate) fn emit_origin<'e>(&mut self, event: impl FnOnce() -> OriginEvent<'e>) {
        if self.listener.follows() {
            self.observed(&Event::Origin(&event()));
        }
    }

    /// Memory through the global table if `global`, else as the context sees it.
    pub fn view(&mut self, global: bool) -> Vm<'_> {
        if global && !self.mode.global_only {
            self.vm.through(self.ggtt)
        } else {
            self.vm.reborrow()
        }
    }

    /// Offset of the first of the engine's registers.
    pub fn base(&self) -> u32 {
        mmio_base(self.engine)
    }

    /// Subtracts `units` (see [`crate::machine::watchdog`]) from the budget.
    ///
    /// # Errors
    /// [`Fault::Hang`] if the budget is used up.
    #[inline(always)]
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        match self.budget.spend(units) {
            Ok(()) => Ok(()),
            Err(Exhausted) => Err(self.hang()),
        }
    }

    /// Reads a register as a command does: one of the context's, one of the GPU's, or a clock (see
    /// [`crate::machine::registers`]).
    pub fn read_register(&self, offset: u32) -> u32 {
        match rule(offset).home {
            Home::Context => self.state.registers.read(offset),
            Home::Device => self.device.read(offset),
            Home::Clock if offset & 4 != 0 => (self.budget.timestamp() >> 32) as u32,
            Home::Clock => self.budget.timestamp() as u32,
        }
    }

    /// Writes a register as a command does. Bits outside `enable` keep their value. Registers of
    /// the GPU need privilege, unless RING_FORCE_TO_NONPRIV lists them. Without privilege nothing
    /// is written and a violation is counted. Clocks are read-only: a write has no effect and is
    /// not a violation.
    ///
    /// # Errors
    /// [`Fault::Unimplemented`] for a write-only register of the GPU: a write to such a port would
    /// start something.
    pub fn write_register(&mut self, offset: u32, value: u32, enable: u32) -> Result<(), Fault> {
        let rule = rule(offset);
        match rule.home {
            Home::Context => {
                let registers = &mut self.state.registers;
                registers.write(offset, rule.merge(registers.read(offset), value, enable));
            }
            Home::Clock => {}
            Home::Device => {
                if self.mode.privileged
                    || self.device.is_given(self.engine, offset)
                    || self.allowed(true)
                {
                    if rule.write_only {
                        let what =
                            format!("a command that writes to the port at register {offset:#x}");
                        return Err(
                            self.unimplemented(what, "2d p.107-111: the host submits lists")
                        );
                    }
                    self.device.write(offset, value, enable);
                }
            }
        }
        Ok(())
    }

    /// True if the command, or one of its accesses, may be executed: it needs no privilege, or its
    /// batch has the privilege. Otherwise records a violation. Hardware treats a command without
    /// the needed privilege as a no-op and continues (2d p.198, Command Privilege Violation Error).
    pub fn allowed(&mut self, needs_privilege: bool) -> bool {
        let allowed = self.mode.privileged || !(needs_privilege && GLOBAL_ACCESS_NEEDS_PRIVILEGE);
        if !allowed {
            self.stats.violations += 1;
            let errors = Errors { command_privilege_violation_error: true, ..Errors::new() };
            self.device.error(self.engine, errors);
            self.emit(&Event::Violation { at: self.at });
        }
        allowed
    }

    /// The fault for a budget that is used up.
    #[cold]
    pub fn hang(&self) -> Fault {
        Fault::Hang { limit: self.budget.limit(), at: self.at }
    }

    /// The fault for threads of the packet being executed that would wait forever.
    #[cold]
    pub fn stuck(&self, group: impl Into<Cow<'static, str>>, threads: Vec<Waiting>) -> Fault {
        Fault::Stuck { group: group.into(), threads, at: self.at }
    }

    /// A page fault at the packet being executed; `what` says what was being read or written.
    #[cold]
    pub fn page(&self, fault: PageFault, what: impl Into<Cow<'static, str>>) -> Fault {
        let near =
            (self.vm.space.tables() == fault.tables).then(|| self.vm.nearby(&fault)).flatten();
        Fault::Page { fault, near: near.map(Box::new), what: what.into(), at: self.at }
    }

    /// The fault for something that the packet being executed needs and the model lacks; `page`
    /// says where it is described.
    #[cold]
    pub fn unimplemented(
        &self,
        what: impl Into<Cow<'static, str>>,
        page: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault::Unimplemented { what: what.into(), at: self.at, page: page.into() }
    }

    /// The fault for an invalid value in a field of the packet being executed.
    #[cold]
    pub fn bad_field(
        &self,
        field: &'static str,
        value: u64,
        why: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault::BadPacket { field, value, why: why.into(), at: self.at }
    }
}

/// What tests of units need.
#[cfg(test)]
pub mod tests {
    use super::*;

    /// Runs `work` with the state at the start of a context, in memory `vm`, for a packet of the
    /// render engine. Returns its result and the statistics.
    pub fn with_exec<R>(vm: Vm<'_>, work: impl FnOnce(&mut Exec<'_>) -> R) -> (R, Stats) {
        let (mut state, mut ggtt, mut stats) =
            (State::default(), AddressSpace::global(), Stats::default());
        let mut exec = Exec {
            engine: EngineId::Render,
            ggtt: &mut ggtt,
            vm,
            state: &mut state,
            stats: &mut stats,
            budget: &mut Budget::new(1 << 20, 0),
            listener: Default::default(),
            at: Place::new(EngineId::Render, "3DPRIMITIVE", 0, 0),
            device: &mut Device::default(),
            mode: Mode::default(),
        };
        let result = work(&mut exec);
        (result, stats)
    }
}
