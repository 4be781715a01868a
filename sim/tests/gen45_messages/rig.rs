//! A machine with some memory that executes one message at a time.

use genxml::engine::EngineId;
use genxml::eu::instruction::SharedFunction;
use genxml_sim::Fault;
use genxml_sim::eu::regions::{CR0, MRF, Registers};
use genxml_sim::eu::thread::{Environment, Message};
use genxml_sim::gen45::message::{Bindings, Local, Port};
use genxml_sim::gen45::urb::Urb;
use genxml_sim::machine::device::Device;
use genxml_sim::machine::exec::{Exec, Mode};
use genxml_sim::machine::fault::Place;
use genxml_sim::machine::state::State;
use genxml_sim::machine::stats::Stats;
use genxml_sim::machine::watchdog::Budget;
use genxml_sim::mem::{AddressSpace, Memory, PAGE, Vm};

/// First mapped address.
pub const BASE: u64 = 0x10_0000;
/// Mapped bytes.
pub const BYTES: u64 = 1 << 20;
/// Surface State Base Address.
pub const SURFACES: u64 = BASE;
/// Offset of the binding table from [`SURFACES`].
pub const TABLE: u64 = 0x1000;
/// Offset of the sampler states from general state, which starts at [`BASE`].
pub const SAMPLERS: u64 = 0x2000;
/// Address of surfaces.
pub const DATA: u64 = BASE + 0x1_0000;
/// The first register of responses.
pub const ANSWER: usize = 40;

/// Memory and what a thread needs to send messages.
pub struct Rig {
    memory: Memory,
    space: AddressSpace,
    pub state: State,
    pub bindings: Bindings,
    pub local: Local,
    pub registers: Registers,
}

/// A message to be sent.
#[derive(Clone, Debug)]
pub struct Send {
    pub function: SharedFunction,
    /// The descriptor without message length.
    pub descriptor: u32,
    pub mask: u32,
    pub channels: u8,
    pub payload: Vec<[u32; 8]>,
    pub response: bool,
    pub eot: bool,
}

impl Send {
    pub fn new(function: SharedFunction, descriptor: u32, payload: Vec<[u32; 8]>) -> Send {
        Send {
            function,
            descriptor,
            mask: 0xffff,
            channels: 16,
            payload,
            response: true,
            eot: false,
        }
    }

    /// The descriptor with the message length.
    pub fn whole_descriptor(&self) -> u32 {
        self.descriptor & !0x00f0_0000 | (self.payload.len() as u32) << 20
    }
}

/// A value that no message leaves in register `register` by chance.
pub fn before(register: usize, dword: usize) -> u32 {
    0xdead_0000 | (register << 4 | dword) as u32
}

impl Rig {
    pub fn new() -> Rig {
        let mut memory = Memory::with_limit(64 << 20);
        let mut space = AddressSpace::new(&mut memory).unwrap();
        let frames = memory.alloc(BYTES / PAGE).unwrap();
        space.map(&mut memory, BASE, frames, true).unwrap();
        let mut registers = Registers::default();
        for register in 0..128 {
            for dword in 0..8 {
                registers.set_u32(32 * register + 4 * dword, before(register, dword));
            }
        }
        Rig {
            memory,
            space,
            state: State::default(),
            bindings: Bindings::new(SURFACES, TABLE, BASE, 0),
            local: Local::default(),
            registers,
        }
    }

    /// Writes dwords to memory. Later messages read states again.
    pub fn put(&mut self, address: u64, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.put_bytes(address, &bytes);
    }

    pub fn put_bytes(&mut self, address: u64, bytes: &[u8]) {
        Vm::new(&mut self.memory, &mut self.space).write(address, bytes).unwrap();
        self.bindings = Bindings::new(SURFACES, TABLE, BASE, self.bindings.general_bound);
    }

    pub fn get_bytes(&mut self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        Vm::new(&mut self.memory, &mut self.space).read(address, &mut bytes).unwrap();
        bytes
    }

    pub fn get(&mut self, address: u64, dwords: usize) -> Vec<u32> {
        let bytes = self.get_bytes(address, 4 * dwords);
        bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect()
    }

    /// Writes a surface state and its entry in the binding table.
    pub fn bind(&mut self, index: u64, state: &[u32]) {
        let at = 0x4000 + 64 * index;
        self.put(SURFACES + at, state);
        self.put(SURFACES + TABLE + 4 * index, &[at as u32]);
    }

    pub fn urb(&mut self) -> &mut Urb {
        self.state.slots.get_mut()
    }

    /// Sets the floating-point mode ALT.
    pub fn alternative(&mut self, on: bool) {
        self.registers.set_u32(CR0, u32::from(on));
    }

    /// Dwords of register [`ANSWER`] + `n`.
    pub fn answer(&self, n: usize) -> [u32; 8] {
        self.registers.dwords(32 * (ANSWER + n))
    }

    /// Sends a message from m1 on.
    pub fn send(&mut self, send: &Send) -> Result<(), Fault> {
        for (n, register) in send.payload.iter().enumerate() {
            self.registers.set_dwords(MRF + 32 * (1 + n), *register);
        }
        for register in 0..16 {
            for dword in 0..8 {
                let at = 32 * (ANSWER + register) + 4 * dword;
                self.registers.set_u32(at, before(ANSWER + register, dword));
            }
        }
        let message = Message {
            function: send.function,
            eot: send.eot,
            descriptor: send.whole_descriptor(),
            mask: send.mask,
            no_mask: false,
            channels: send.channels,
            first: 0,
            payload: MRF + 32,
            response: send.response.then_some(32 * ANSWER),
            ip: 0,
        };
        let Rig { memory, space, state, bindings, local, registers } = self;
        let mut ggtt = AddressSpace::global();
        let mut exec = Exec {
            engine: EngineId::Render,
            ggtt: &mut ggtt,
            vm: Vm::new(memory, space),
            state,
            stats: &mut Stats::default(),
            budget: &mut Budget::new(100_000, 0),
            listener: Default::default(),
            at: Place::new(EngineId::Render, "3DPRIMITIVE", 0, 0),
            device: &mut Device::default(),
            mode: Mode::default(),
        };
        Port { exec: &mut exec, bindings, local, kernel: BASE, thread: 0 }.send(registers, &message)
    }

    /// Sends a message that must be refused, and returns the text of the fault.
    pub fn refusal(&mut self, send: &Send) -> String {
        self.send(send).expect_err("the message breaks a rule").to_string()
    }
}

/// A number that is known to fit its field.
pub fn u<const N: u32>(value: u64) -> genxml::core::U<N> {
    genxml::core::U::new(value).unwrap()
}
