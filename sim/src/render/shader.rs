//! Shaders: the kernel and state that the threads of a stage share, and the code that runs these
//! threads.

use super::constant_buffers::{ConstantBuffer, constant_buffers};
use super::stage::{StagePacket, StageState};
use crate::assumptions::{FIXED_FUNCTION_IDS, MAX_FFTID, SUBNORMAL_BITS_AT_START};
use crate::eu::Launch;
use crate::eu::cache;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::unit::local::place;
use crate::unit::resource_streamer::gather::Buffer1;
use crate::unit::resource_streamer::tables::Table;
use crate::unit::slots::Slots;
use crate::unit::stage::Stage;
use crate::unit::{Bindings, Program, Samplers};
use genxml::eu::gen8::eu_registers::{ControlRegister, StateRegister};
use genxml::gen8::render3d_constants::ThreeDStateConstantBody;
use genxml_core::address::{DynamicState, GeneralState, SurfaceState};
use genxml_core::{Address, U};

/// Bytes of a register.
pub const REGISTER: usize = 32;
/// Registers of a thread.
pub const REGISTERS: usize = 128;

/// The kernel and state that the threads of a stage share.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Kernel and binding table.
    pub program: Program,
    /// Push constants, whole registers.
    pub constants: Vec<u8>,
    /// First register of the constants.
    pub start: usize,
    state: StageState,
    system_routine: Option<u32>,
    /// The values of `cr0.0` and `cr0.1` with which threads start.
    control: [u32; 2],
}

/// The fields of r0 that are the same in all stages (gen8_facts 3.1).
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Per-Thread Scratch Space, encoded as in the packet.
    pub scratch_code: U<4>,
    /// Offset of the sampler states from Dynamic State Base Address.
    pub samplers: Address<DynamicState, 32, 32>,
    /// Offset of the binding table from Surface State Base Address.
    pub binding_table: Address<SurfaceState, 32, 32>,
    /// FFTID: the number of the thread among those of the stage that can run at once.
    pub fftid: U<10>,
    /// Offset of the thread's scratch space from General State Base Address.
    pub scratch: Address<GeneralState, 1024, 32>,
}

impl Shader {
    /// Resolves a stage that has one kernel.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for more constants than a thread has registers; a page fault when the
    /// constants are read.
    pub fn of<P: StagePacket>(exec: &mut Exec<'_>, packet: &P) -> Result<Shader, Fault> {
        let state = packet.state(exec);
        let constants = P::constants(exec);
        Shader::resolve(exec, state, Some(&constants))
    }

    /// Resolves a kernel of a stage, with its constants.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for more constants than a thread has registers; a page fault when the
    /// constants are read.
    pub fn resolve(
        exec: &mut Exec<'_>,
        state: StageState,
        constants: Option<&ThreeDStateConstantBody>,
    ) -> Result<Shader, Fault> {
        let base = exec.state.base;
        let address = base.instruction.wrapping_add(state.kernel);
        let kernel = cache::decode(exec, address, state.kernel as u32);
        let table = Table::of(exec, state.binding_table);
        let samplers = Samplers::new(base.dynamic, base.dynamic.wrapping_add(state.samplers));
        Ok(Shader {
            program: Program {
                kernel,
                bindings: Bindings::with(base.surface, table).with_samplers(samplers),
            },
            constants: match constants {
                Some(body) => push_constants(exec, body)?,
                None => Vec::new(),
            },
            start: state.start as usize,
            system_routine: exec.state.sip.map(|sip| sip.system_instruction_pointer.get() as u32),
            control: control(&state),
            state,
        })
    }

    /// Starts another draw, which has the same constants. They count as read again.
    pub fn restart(&self, exec: &mut Exec<'_>) {
        exec.stats.bytes_read += self.constants.len() as u64;
    }

    /// The fields of r0 for a thread. `slot` numbers the threads that run at once; it is taken
    /// modulo the number of threads that the stage may have.
    pub fn header(&self, slot: u64) -> Header {
        let slot = slot % self.state.threads.clamp(1, MAX_FFTID);
        let scratch = self.state.scratch.wrapping_add(slot << (10 + self.state.scratch_code));
        Header {
            scratch_code: U::from_bits(self.state.scratch_code),
            samplers: Address::from_bits(self.state.samplers & u64::from(u32::MAX)),
            binding_table: Address::from_bits(self.state.binding_table & u64::from(u32::MAX)),
            fftid: U::from_bits(slot),
            scratch: Address::from_bits(scratch & u64::from(u32::MAX)),
        }
    }

    /// The counter of the stage's threads.
    fn counter(&self) -> Counter {
        match self.state.stage {
            Stage::Vertex => Counter::VertexThreads,
            Stage::Hull => Counter::HullThreads,
            Stage::Domain => Counter::DomainThreads,
            Stage::Geometry => Counter::GeometryThreads,
            Stage::Pixel => Counter::PixelThreads,
        }
    }

    /// Resizes the payload to the registers before the constants, then appends the constants.
    pub fn push_constants(&self, payload: &mut Vec<u8>) {
        payload.resize(self.start * REGISTER, 0);
        payload.extend_from_slice(&self.constants);
    }

    /// Sets the start state of a thread, except its payload. The thread's number gives the position
    /// in the GPU that `sr0` contains.
    pub fn launch(&self, launch: &mut Launch, mask: u32, vector_mask: u32, number: u32) {
        launch.dispatch_mask = mask;
        launch.vector_mask = vector_mask;
        [launch.control, launch.exceptions] = self.control;
        launch.system_routine = self.system_routine;
        let register = StateRegister {
            fixed_function_identifier: U::from_bits(FIXED_FUNCTION_IDS[self.state.stage as usize]),
            ..place(number)
        };
        let [word, ids, ..] = register.pack();
        launch.state = [word, ids];
    }
}

/// The values of `cr0.0` and `cr0.1` with which the threads of a stage start.
fn control(state: &StageState) -> [u32; 2] {
    let modes = ControlRegister {
        alternative_float_mode: state.alternative,
        single_program_flow: state.single_flow,
        vector_mask_enable: state.vector_mask,
        single_precision_denorms: state.keep_subnormal,
        ..ControlRegister::unpack_lossy(&[
            (state.rounding << 4) as u32 | SUBNORMAL_BITS_AT_START,
            0,
            0,
            0,
        ])
    };
    let exceptions = ControlRegister {
        illegal_opcode_enable: state.illegal_opcode,
        software_exception_enable: state.software,
        mask_stack_enable: state.mask_stack,
        ..ControlRegister::new()
    };
    [modes.pack()[0], exceptions.pack()[1]]
}

/// Reads the push constants of a stage: its four buffers in order, each with its Read Length in
/// registers (gen8_facts 3.2). With a gather pool, buffer 1 is in the pool.
fn push_constants(exec: &mut Exec<'_>, body: &ThreeDStateConstantBody) -> Result<Vec<u8>, Fault> {
    let gathered = Buffer1::of(exec.state, body.pointer_to_constant_buffer_1.va48());
    let buffers = constant_buffers(exec.state, body);
    let mut constants = Vec::new();
    for (number, ConstantBuffer { registers, address }) in buffers.into_iter().enumerate() {
        let from = constants.len();
        let length = registers as usize;
        if from / REGISTER + length > REGISTERS {
            let why = format!(
                "with the buffers before it, more than the {REGISTERS} registers of a thread"
            );
            return Err(exec.bad_field("Constant Buffer Read Length", length as u64, why));
        }
        constants.resize(from + length * REGISTER, 0);
        // Constants after the end of the gather pool stay 0.
        let end = match number {
            1 => from + gathered.readable(length * REGISTER),
            _ => constants.len(),
        };
        exec.vm
            .read(address, &mut constants[from..end])
            .map_err(|fault| exec.page(fault, "push constants"))?;
    }
    exec.stats.bytes_read += constants.len() as u64;
    Ok(constants)
}

/// The running threads of a shader, and the start state of the next one.
#[derive(Debug)]
pub struct Threads {
    /// The running threads.
    pub slots: Slots,
    /// Start state of the next thread. The caller fills in the payload.
    pub launch: Launch,
    number: u32,
    /// Threads start with the channels of the vector mask, even if Vector Mask Enable is not set.
    pub whole: bool,
}

impl Threads {
    /// The threads of `shader`; none has started.
    pub fn new(shader: &Shader) -> Threads {
        Threads {
            slots: Slots::new(shader.program.clone()),
            launch: Launch::default(),
            number: 0,
            whole: false,
        }
    }

    /// Threads for another worker, with empty caches.
    pub(super) fn fork(&self) -> Threads {
        let mut slots: Slots = Slots::default();
        slots.local.dispatched = self.slots.local.dispatched;
        Threads { slots, launch: Launch::default(), number: 0, whole: self.whole }
    }

    /// Numbers threads from 0 again.
    pub(super) fn renumber(&mut self) {
        self.number = 0;
    }

    /// Numbers the next thread as if `threads` more threads had started.
    pub(super) fn skip(&mut self, threads: u64) {
        let places = u64::from(crate::unit::local::PLACES);
        self.number = ((u64::from(self.number) + threads) % places) as u32;
    }

    /// Starts a thread with the payload in `launch`, and runs it for one turn, a limited number of
    /// instructions.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for a payload that is longer than the registers; any [`Fault`] of the
    /// thread.
    pub fn start(
        &mut self,
        exec: &mut Exec<'_>,
        shader: &Shader,
        mask: u32,
        vector_mask: u32,
    ) -> Result<(), Fault> {
        let registers = self.launch.payload.len() / REGISTER;
        if registers > REGISTERS {
            let why = format!("a thread has {REGISTERS} registers");
            return Err(exec.bad_field("thread payload", registers as u64, why));
        }
        shader.launch(&mut self.launch, mask, vector_mask, self.number);
        exec.device.observed.add(shader.counter(), 1);
        self.slots.local.covered = self.whole.then_some(mask);
        let number = self.number;
        self.number = (number + 1) % crate::unit::local::PLACES;
        self.slots.run(exec, 0, number, &self.launch, self.whole.then_some(vector_mask))
    }

    /// Runs all threads to their end.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread; [`Fault::Stuck`] if all threads wait.
    pub fn finish(&mut self, exec: &mut Exec<'_>, what: &'static str) -> Result<(), Fault> {
        while !self.slots.is_empty() {
            if !self.slots.round(exec)? {
                let waiting = self.slots.waiting(|_| self.slots.local.barrier.as_ref());
                return Err(exec.stuck(what, waiting));
            }
        }
        Ok(())
    }

    /// Runs one thread from start to end.
    ///
    /// # Errors
    /// As [`start`](Self::start) and [`finish`](Self::finish).
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        shader: &Shader,
        mask: u32,
        vector_mask: u32,
        what: &'static str,
    ) -> Result<(), Fault> {
        self.start(exec, shader, mask, vector_mask)?;
        self.finish(exec, what)
    }
}
