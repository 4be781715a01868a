//! A context: page tables, latched packets and registers. Nothing else survives from one submission
//! to the next.

use crate::cs::device::Device;
use crate::cs::memory;
pub use crate::cs::registers::Registers;
use crate::cs::registers::{Home, rule};
use crate::cs::streamer::Streamer;
use crate::fault::{Fault, Place, Waiting};
use crate::kernels::KernelCache;
use crate::media::pool::Pool;
use crate::mem::{AddressSpace, PageFault, Vm};
use crate::observe::{Event, Listener, Now, Stats};
use crate::parallel::Trials;
use crate::unit::sampler::Palettes;
use crate::unit::urb::Urb;
use crate::watchdog::{Budget, Exhausted};
use genxml::engine::EngineId;
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::mi::PipelineSelectPipelineSelection;
use genxml::gen8::state::{InterfaceDescriptorData, StateSip};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A hardware context.
#[derive(Debug)]
pub struct Context {
    /// Its page tables.
    pub space: AddressSpace,
    /// Latched packets and registers.
    pub state: State,
    /// It has no page tables: all its addresses go through the global table.
    pub global_only: bool,
    /// Where it was when it was switched out within a batch.
    pub suspended: Option<Streamer>,
}

impl Context {
    /// A context with page tables, and nothing else.
    pub fn new(space: AddressSpace) -> Self {
        Context { space, state: State::default(), global_only: false, suspended: None }
    }
}

/// What packets leave behind for later packets.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The pipeline that PIPELINE_SELECT chose.
    pub pipeline: PipelineSelectPipelineSelection,
    /// What state offsets count from, by STATE_BASE_ADDRESS.
    pub base: BaseAddresses,
    /// The newest STATE_SIP.
    pub sip: Option<StateSip>,
    /// What setup packets of the blitter set.
    pub blitter: crate::blt::SetupState,
    /// The newest MEDIA_VFE_STATE.
    pub vfe: Option<MediaVfeState>,
    /// Constants that MEDIA_CURBE_LOAD read, from CURBE offset 0 on.
    pub curbe: Vec<u8>,
    /// Descriptors that MEDIA_INTERFACE_DESCRIPTOR_LOAD read.
    pub interface_descriptors: InterfaceDescriptors,
    /// Registers that were written; all others read 0.
    pub registers: Registers,
    /// The newest of each 3DSTATE packet, for draws.
    pub latched: Latched,
    /// Palettes of the sampler.
    pub palettes: Palettes,
    /// MI_SET_PREDICATE has packets skipped.
    pub skips: bool,
    /// MI_ARB_ON_OFF forbids other contexts to take over.
    pub arbitration_off: bool,
    /// How walkers ran on several threads of the host, no state of its own.
    pub trials: Trials,
    /// The unified return buffer.
    pub urb: Urb,
    /// The clock when the gateway's timer was reset.
    pub gateway_epoch: u64,
    /// Media threads that have not ended.
    pub media: Pool,
    /// Kernels decoded before, no state of its own.
    pub kernels: KernelCache,
}

impl State {
    /// Forgets media state, as PIPE_CONTROL can ask for.
    pub fn clear_media(&mut self) {
        self.vfe = None;
        self.curbe.clear();
        self.interface_descriptors = InterfaceDescriptors::default();
        self.media.reset();
    }
}

/// State packets as they came: the newest of each kind, and of each entry if the packet sets one
/// entry of a table (streamout buffers, instancing, chroma keys; of 3DSTATE_VERTEX_BUFFERS the
/// VERTEX_BUFFER_STATEs).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latched(BTreeMap<(&'static str, u8), Box<[u32]>>);

impl Latched {
    /// Keeps a packet in the place of the one of the same name and index.
    pub fn keep(&mut self, name: &'static str, index: u8, dwords: &[u32]) {
        match self.0.get_mut(&(name, index)) {
            Some(old) if old.len() == dwords.len() => old.copy_from_slice(dwords),
            _ => _ = self.0.insert((name, index), dwords.into()),
        }
    }

    /// The newest packet of a name, as the manual has it (`3DSTATE_VS`), and index (0 if it has
    /// none).
    pub fn get(&self, name: &'static str, index: u8) -> Option<&[u32]> {
        self.0.get(&(name, index)).map(|dwords| &dwords[..])
    }

    /// All of them by name and index.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u8, &[u32])> {
        self.0.iter().map(|((name, index), dwords)| (*name, *index, &dwords[..]))
    }
}

/// Base addresses, 48 bits each. Offsets beyond a buffer's size are read through, but for General
/// State: what hardware does is undefined (gen8_facts 12.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseAddresses {
    /// General State: scratch space.
    pub general: u64,
    /// Bytes of General State that stateless messages may reach; 0 is no bound
    /// (assumptions::GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND).
    pub general_size: u64,
    /// Surface State: binding tables and surface states.
    pub surface: u64,
    /// Dynamic State: samplers, viewports, interface descriptors, constants.
    pub dynamic: u64,
    /// Indirect Object: indirect data of media objects and walkers.
    pub indirect: u64,
    /// Instruction: kernels.
    pub instruction: u64,
}

/// Interface descriptors, read when the load command is executed (hardware keeps them in a
/// temporary storage).
#[derive(Clone, Debug, Default)]
pub struct InterfaceDescriptors {
    /// Graphics address of the first.
    pub address: u64,
    /// All of them in order.
    pub entries: Vec<InterfaceDescriptorData>,
}

/// How an engine runs a context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mode {
    /// The packet comes from a ring or from a batch in the global table.
    pub privileged: bool,
    /// The context has no page tables of its own: all addresses go through the global table.
    pub global_only: bool,
    /// Address of the context's image in the global table, if it has one.
    pub image: Option<u32>,
    /// The context's number, as signals name it.
    pub number: u32,
    /// Commands come from the ring that the engine's registers describe, without execution lists.
    pub ring: bool,
    /// Another context wants to run.
    pub preempt: bool,
}

/// All that a unit gets to execute a packet.
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
    /// What belongs to the GPU: registers, interrupts.
    pub device: &'a mut Device,
    /// How the context runs.
    pub mode: Mode,
}

impl Exec<'_> {
    /// Passes an event to the observer, with the engine and the time.
    #[inline(always)]
    pub fn emit(&mut self, event: &Event<'_>) {
        if self.listener.is_some() {
            self.listener.event(Now { engine: self.engine, clock: self.budget.clock() }, event);
        }
    }

    /// Memory through the global table, or as the context sees it.
    pub fn view(&mut self, global: bool) -> Vm<'_> {
        if global && !self.mode.global_only {
            self.vm.through(self.ggtt)
        } else {
            self.vm.reborrow()
        }
    }

    /// First byte of the engine's registers.
    pub fn base(&self) -> u32 {
        crate::gpu::mmio_base(self.engine)
    }

    /// Takes `units` (see [`crate::watchdog`]) off the budget.
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

    /// Reads a register as a command does: a clock, the GPU's or the context's (see
    /// [`crate::cs::registers`]).
    pub fn read_register(&self, offset: u32) -> u32 {
        match rule(offset).home {
            Home::Context => self.state.registers.read(offset),
            Home::Device => self.device.read(offset),
            Home::Clock if offset & 4 != 0 => (self.budget.timestamp() >> 32) as u32,
            Home::Clock => self.budget.timestamp() as u32,
        }
    }

    /// Writes a register as a command does: bits outside `enable` keep their value. Registers of
    /// the GPU need privilege; without it nothing is written, and a violation is noted. Clocks are
    /// read-only and nobody's: writing one is neither.
    ///
    /// # Errors
    /// [`Fault::Unimplemented`] for a register that can only be written: a port, which would do
    /// something.
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
                    || memory::allowed(self, true)
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

    /// The fault of a used-up budget.
    #[cold]
    pub fn hang(&self) -> Fault {
        Fault::Hang { limit: self.budget.limit(), at: self.at }
    }

    /// Threads that the packet being executed started, and that wait for ever.
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

    /// Something that the model lacks, met at the packet being executed; `page` says where it is
    /// described.
    #[cold]
    pub fn unimplemented(
        &self,
        what: impl Into<Cow<'static, str>>,
        page: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault::Unimplemented { what: what.into(), at: self.at, page: page.into() }
    }

    /// A field of the packet being executed holds something wrong.
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
