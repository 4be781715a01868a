//! The units that run threads: the fields of their states under one name, and the code that starts
//! and runs a thread (gen45_facts 4.4, 6 to 10, 12.1).

use crate::eu::cache;
use crate::eu::gen45::breakpoints::Breakpoints;
use crate::eu::written::Start;
use crate::eu::{Kernel, Launch, Stop, Thread};
use crate::gen45::debug::dispatch::Mark;
use crate::gen45::debug::{self, attention};
use crate::gen45::message::{Bindings, Local, Port};
use crate::gen45::modes;
use crate::gen45::state::State;
use crate::gen45::urb::{self, Urb};
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, InKernel, Waiting};
use genxml::gen45::enums::FloatingPointMode;
use genxml::gen45::state_units::{ClipState, GsState, SfState, VsState, WmState};
use genxml_core::address::{GeneralState, SurfaceState};
use genxml_core::{Address, U};
use genxml_eu::Generation;
use std::sync::Arc;

/// Bytes of a register.
pub const REGISTER: usize = 32;
/// Dwords in a unit of URB read offsets and lengths: 256 bits.
pub const UNIT: usize = 8;
/// Dwords of a row of the URB.
pub const ROW: usize = urb::ROW / 4;
/// Registers of a thread.
const REGISTERS: usize = 128;

/// The fields of a unit state that all units with threads have.
#[derive(Clone, Copy, Debug)]
pub struct UnitState {
    /// Name of the unit.
    pub name: &'static str,
    /// Offset of the kernel from General State Base Address.
    pub kernel: u64,
    /// Single Program Flow.
    pub single_flow: bool,
    /// Floating Point Mode is ALTERNATE.
    pub alternate: bool,
    /// Enables of the exceptions software, mask stack and illegal opcode.
    pub exceptions: [bool; 3],
    /// Per-Thread Scratch Space: 0 is 1 KiB, and each step doubles it.
    pub scratch_code: u64,
    /// Offset of the scratch space of all threads from General State Base Address.
    pub scratch: u64,
    /// First constant in the CURBE entry, in units of 256 bits.
    pub constant_offset: usize,
    /// Constants in the payload, in units of 256 bits.
    pub constant_length: usize,
    /// First data of a URB entry in the payload, in units of 256 bits.
    pub read_offset: usize,
    /// Data of a URB entry in the payload, in units of 256 bits.
    pub read_length: usize,
    /// First register of constants.
    pub start: usize,
    /// Number of URB entries.
    pub entries: usize,
    /// Rows of a URB entry.
    pub rows: usize,
    /// Maximum number of threads.
    pub threads: u64,
    /// Offset of the sampler states from General State Base Address.
    pub samplers: u64,
}

/// Implements the conversion to [`UnitState`] for the state of VS, GS, CLIP or SF.
macro_rules! unit_state {
    ($name:literal, $state:ident, |$it:ident| $samplers:expr) => {
        impl From<&$state> for UnitState {
            fn from($it: &$state) -> UnitState {
                UnitState {
                    name: $name,
                    kernel: $it.kernel_start_pointer.get(),
                    single_flow: $it.single_program_flow,
                    alternate: $it.floating_point_mode == FloatingPointMode::ALTERNATE,
                    exceptions: [
                        $it.software_exception_enable,
                        $it.mask_stack_exception_enable,
                        $it.illegal_opcode_exception_enable,
                    ],
                    scratch_code: $it.per_thread_scratch_space.get(),
                    scratch: $it.scratch_space_base_pointer.get(),
                    constant_offset: $it.constant_urb_entry_read_offset.get() as usize,
                    constant_length: $it.constant_urb_entry_read_length.get() as usize,
                    read_offset: $it.vertex_urb_entry_read_offset.get() as usize,
                    read_length: $it.vertex_urb_entry_read_length.get() as usize,
                    start: $it.dispatch_grf_start_register_for_urb_data.get() as usize,
                    entries: $it.number_of_urb_entries.get() as usize,
                    rows: $it.urb_entry_allocation_size.get() as usize,
                    threads: $it.maximum_number_of_threads.get(),
                    samplers: $samplers,
                }
            }
        }
    };
}

unit_state!("vertex shader", VsState, |it| it.sampler_state_pointer.get());
unit_state!("geometry shader", GsState, |it| it.sampler_state_pointer.get());
unit_state!("clipper", ClipState, |it| 0);
unit_state!("strips and fans", SfState, |it| 0);

impl From<&WmState> for UnitState {
    fn from(it: &WmState) -> UnitState {
        UnitState {
            name: "pixel shader",
            kernel: it.kernel_start_pointer_0.get(),
            single_flow: it.single_program_flow,
            alternate: it.floating_point_mode == FloatingPointMode::ALTERNATE,
            exceptions: [
                it.software_exception_enable,
                it.mask_stack_exception_enable,
                it.illegal_opcode_exception_enable,
            ],
            scratch_code: it.per_thread_scratch_space.get(),
            scratch: it.scratch_space_base_pointer.get(),
            constant_offset: it.constant_urb_entry_read_offset.get() as usize,
            constant_length: it.constant_urb_entry_read_length.get() as usize,
            read_offset: it.setup_urb_entry_read_offset.get() as usize,
            read_length: it.setup_urb_entry_read_length.get() as usize,
            start: it.dispatch_grf_start_register_for_constant_setup_data_0.get() as usize,
            entries: 0,
            rows: 0,
            threads: it.maximum_number_of_threads.get(),
            samplers: it.sampler_state_pointer.get(),
        }
    }
}

/// The fields of r0 that the payloads of all units have.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Per Thread Scratch Space.
    pub scratch_code: U<4>,
    /// Offset of the sampler states from General State Base Address.
    pub samplers: Address<GeneralState, 32, 32>,
    /// Offset of the binding table from Surface State Base Address.
    pub binding_table: Address<SurfaceState, 32, 32>,
    /// Number of the thread within its unit.
    pub fftid: U<8>,
    /// Offset of the thread's scratch space from General State Base Address.
    pub scratch: Address<GeneralState, 1024, 32>,
}

/// A unit that runs one thread at a time, with what its threads share.
pub struct Unit {
    /// Fields of its state.
    pub state: UnitState,
    /// Surfaces of its threads.
    pub bindings: Bindings,
    /// What a thread produced.
    pub local: Local,
    /// Payload of the next thread. [`Unit::run`] starts a thread with it.
    pub launch: Launch,
    /// The debug ID of the next thread, if debugging is enabled.
    pub mark: Option<Mark>,
    /// Debugging, if it is enabled.
    debug: Option<Debugged>,
    /// Offset of the binding table.
    table: u64,
    kernel: Arc<Kernel>,
    /// The constants of the payload.
    constants: Vec<u8>,
    thread: Option<Box<Thread>>,
    /// Number of the next thread.
    number: u64,
}

/// What debugging needs for all threads of a unit.
#[derive(Clone, Copy, Debug)]
struct Debugged {
    /// `cr0.1` from the state of the unit.
    exceptions: u32,
    /// Breakpoints of the instruction cache.
    breakpoints: Option<Breakpoints>,
}

impl std::fmt::Debug for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unit").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Unit {
    /// The unit with this state; `table` is the offset of its binding table.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for more constants than a thread has registers.
    pub fn resolve(exec: &mut Exec<'_>, state: UnitState, table: u64) -> Result<Unit, Fault> {
        let base = exec.state.slots.with(|it: &State| it.base);
        let address = base.general.wrapping_add(state.kernel);
        let debugs = debug::enabled(&exec.state.registers);
        let breakpoints =
            if debugs { debug::kernel::breakpoints(&exec.state.registers) } else { None };
        let ip_base = state.kernel as u32;
        let kernel = match &breakpoints {
            Some(breakpoints) => debug::kernel::marked(exec, address, ip_base, breakpoints),
            None => cache::decode_on(Generation::Gen45, exec, address, ip_base),
        };
        if state.start + state.constant_length > REGISTERS {
            let why = format!("a thread has {REGISTERS} registers");
            return Err(exec.bad_field(
                "Constant URB Entry Read Length",
                state.constant_length as u64,
                why,
            ));
        }
        let (offset, length) = (state.constant_offset, state.constant_length);
        let constants = exec.state.slots.with(|urb: &Urb| urb.constants(offset, length));
        let launch = modes::launch(exec, state.single_flow, state.alternate, state.exceptions);
        let exceptions = launch.exceptions;
        Ok(Unit {
            bindings: Bindings::new(base.surface, table, base.general, base.general_bound),
            local: Local::default(),
            launch,
            mark: None,
            debug: debugs.then_some(Debugged { exceptions, breakpoints }),
            table,
            kernel,
            constants,
            thread: None,
            number: 0,
            state,
        })
    }

    /// The unit for another worker, with the caches of this one and no thread.
    pub fn fork(&self) -> Unit {
        Unit {
            state: self.state,
            bindings: self.bindings.clone(),
            local: Local { writes: Vec::new(), ..self.local.clone() },
            launch: Launch { payload: Vec::new(), ..self.launch.clone() },
            mark: None,
            debug: self.debug,
            table: self.table,
            kernel: self.kernel.clone(),
            constants: self.constants.clone(),
            thread: None,
            number: 0,
        }
    }

    /// Replaces the cached surfaces and the kernel by those of another unit of the same draw.
    pub fn inherit(&mut self, other: &Unit) {
        self.bindings.clone_from(&other.bindings);
        self.kernel.clone_from(&other.kernel);
        self.local.writes.clear();
    }

    /// True if debugging is enabled: each thread needs a [`mark`](Self::mark).
    pub fn debugged(&self) -> bool {
        self.debug.is_some()
    }

    /// Numbers threads from 0 again.
    pub fn renumber(&mut self) {
        self.number = 0;
    }

    /// The fields of r0 for the next thread.
    pub fn header(&self) -> Header {
        let UnitState { threads, scratch_code, scratch, samplers, .. } = self.state;
        let slot = self.number % threads.clamp(1, 128);
        let scratch = scratch.wrapping_add(slot << (10 + scratch_code.min(11)));
        Header {
            scratch_code: U::from_bits(scratch_code),
            samplers: Address::from_bits(samplers),
            binding_table: Address::from_bits(self.table),
            fftid: U::from_bits(slot),
            scratch: Address::from_bits(scratch & u64::from(u32::MAX)),
        }
    }

    /// Replaces the payload by a header and the constants.
    pub fn begin(&mut self, header: &[u32]) {
        let payload = &mut self.launch.payload;
        payload.clear();
        payload.extend_from_slice(bytemuck::cast_slice(header));
        payload.resize(payload.len().max(self.state.start * REGISTER), 0);
        payload.truncate(self.state.start.max(1) * REGISTER);
        payload.extend_from_slice(&self.constants);
    }

    /// Appends the data of a URB entry that the state selects. Data beyond `entry` are 0.
    pub fn push_entry(&mut self, entry: &[u32]) {
        let from = (self.state.read_offset * UNIT).min(entry.len());
        let length = self.state.read_length * UNIT;
        let there = &entry[from..entry.len().min(from + length)];
        let payload = &mut self.launch.payload;
        let end = payload.len() + 4 * length;
        payload.extend_from_slice(bytemuck::cast_slice(there));
        payload.resize(end, 0);
    }

    /// Runs a thread with the payload in `launch` to its end.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a payload that is longer than the registers; any [`Fault`] of the
    /// thread.
    pub fn run(&mut self, exec: &mut Exec<'_>, mask: u32) -> Result<(), Fault> {
        let Unit { bindings, local, launch, mark, debug, kernel, thread, number, .. } = self;
        let registers = launch.payload.len() / REGISTER;
        if registers > REGISTERS {
            let why = format!("a thread has {REGISTERS} registers");
            return Err(exec.bad_field("thread payload", registers as u64, why));
        }
        (launch.dispatch_mask, launch.vector_mask) = (mask, mask);
        if let Some(debug) = debug {
            debug::dispatch::dispatch(exec, &mark.unwrap_or_default(), debug.exceptions, launch)?;
        }
        // One thread runs at a time.
        let this = 0;
        exec.emit(&Event::Thread {
            kernel: kernel.address,
            thread: this,
            payload: &launch.payload,
        });
        *number += 1;
        let thread = match thread {
            Some(thread) => {
                thread.restart(launch, Start::default());
                thread
            }
            None => thread.insert(Box::new(Thread::new(launch))),
        };
        let at = exec.at;
        let stop = loop {
            let address = kernel.address;
            let mut port = Port { exec, bindings, local, kernel: address, thread: this };
            match port.resume(thread, kernel)? {
                Stop::Decode(offset) => match debug.and_then(|it| it.breakpoints) {
                    Some(breakpoints) => {
                        debug::kernel::extend(exec, kernel, offset, &breakpoints);
                    }
                    None => cache::extend(exec, kernel, offset),
                },
                Stop::Notification(1)
                    if attention::answered(exec, thread, address, thread.position(kernel)) => {}
                other => break other,
            }
        };
        exec.at = at;
        exec.stats.threads += 1;
        exec.stats.instructions += thread.executed();
        match stop {
            Stop::End => {
                let instructions = thread.executed();
                exec.emit(&Event::ThreadEnd { kernel: kernel.address, thread: this, instructions });
                Ok(())
            }
            stop => {
                let eu = InKernel { kernel: kernel.address, ip: thread.position(kernel) };
                let reason = match stop {
                    Stop::Notification(1) => "the host's answer (wait n1; EU_ATT_CLR)".into(),
                    _ => "a notification that no thread sends".into(),
                };
                Err(exec.stuck(self.state.name, vec![Waiting { thread: 0, eu, reason }]))
            }
        }
    }
}
