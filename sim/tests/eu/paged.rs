//! Compares messages to buffers and to addresses in machine code with the same messages, executed
//! slot by slot.

use crate::eu::support::{World, decode, end, grf};
use genxml_eu::instruction::{
    DataType, Descriptor, Destination, Instruction, Operand, Register, Send, SharedFunction,
};
use genxml_eu::ops::Opcode;
use genxml_jit::{BOUNDS, Bounds, Reach};
use genxml_sim::eu::compile::Compilation;
use genxml_sim::eu::regions::Registers;
use genxml_sim::eu::transfer::{Space, Tally, Transfer};
use genxml_sim::eu::{Environment, Kernel, Launch, Message, Thread, Trap};
use genxml_sim::mem::overlay::Overlay;
use genxml_sim::mem::{AddressSpace, PAGE};
use genxml_sim::{Fault, Memory, Vm};
use genxml_testkit::Random;

/// First byte of the memory.
const BASE: u64 = 0x8001_2345_6000;
/// Pages of the memory. The last one is only read.
const MAPPED: u64 = 4;
/// Binding table index of the buffer.
const INDEX: u8 = 3;
/// The buffer. It begins and ends inside pages.
const BUFFER: Bounds = Bounds { base: BASE + 0x20, bytes: 2 * PAGE + 0x7f0 };

/// First registers of payloads with offsets in two registers, and with addresses in four. Data
/// follows.
const OFFSETS: [u8; 5] = [16, 20, 24, 28, 32];
const ADDRESSES: [u8; 5] = [40, 46, 52, 58, 64];

/// An environment with memory, which counts the messages in machine code.
struct Paged<'m> {
    world: World,
    vm: Vm<'m>,
    bounds: Box<[Bounds; BOUNDS]>,
    direct: u64,
}

/// Calls `run` with a new environment: its memory, or an overlay of it if `over`. Returns the
/// result, the contents of the memory after it, and the reads and writes that the overlay recorded.
fn with_memory<R>(over: bool, run: impl FnOnce(&mut Paged<'_>) -> R) -> (R, Vec<u8>, String) {
    let mut memory = Memory::new();
    let mut space = AddressSpace::new(&mut memory).unwrap();
    let frames = memory.alloc(MAPPED).unwrap();
    for (n, byte) in memory.bytes_mut(frames).iter_mut().enumerate() {
        *byte = (n * 7 + n / 256) as u8;
    }
    let writable = frames.part(0, MAPPED - 1).unwrap();
    space.map(&mut memory, BASE, writable, true).unwrap();
    let last = frames.part(MAPPED - 1, 1).unwrap();
    space.map(&mut memory, BASE + (MAPPED - 1) * PAGE, last, false).unwrap();
    let mut bounds = Box::new([Bounds::default(); BOUNDS]);
    bounds[usize::from(INDEX)] = BUFFER;
    let mut overlay = Overlay::default();
    let vm = match over {
        true => Vm::over(&memory, &mut overlay, &mut space),
        false => Vm::new(&mut memory, &mut space),
    };
    let mut paged = Paged { world: World::new(), vm, bounds, direct: 0 };
    let result = run(&mut paged);
    // Before the next read, which is recorded too.
    let recorded = format!("{overlay:?}");
    let mut bytes = vec![0; (MAPPED * PAGE) as usize];
    match over {
        true => Vm::over(&memory, &mut overlay, &mut space).read(BASE, &mut bytes),
        false => Vm::new(&mut memory, &mut space).read(BASE, &mut bytes),
    }
    .unwrap();
    (result, bytes, recorded)
}

impl Environment for Paged<'_> {
    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault> {
        self.world.step(offset, mask)
    }
    fn steps(&mut self, count: u32) -> bool {
        self.world.steps(count)
    }
    fn take_back(&mut self, count: u32) {
        self.world.take_back(count);
    }
    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let Message { function, descriptor, payload, response, mask, .. } = *message;
        let transfer = Transfer::new(function, descriptor, payload, response);
        let Some(transfer) = transfer else { return Ok(()) };
        let vm = &mut self.vm;
        let (rows, elements) = (usize::from(transfer.rows), usize::from(transfer.elements));
        let before = registers.clone();
        for slot in (0..8 * rows).filter(|slot| mask >> slot & 1 == 1) {
            let from = usize::from(transfer.offsets);
            let offset = match transfer.space {
                Space::Addresses => before.u64(from + 8 * slot) & 0xffff_ffff_fffc,
                _ => u64::from(before.u32(from + 4 * slot)) & !3,
            };
            for element in 0..elements {
                let offset = offset + 4 * element as u64;
                let address = match transfer.space {
                    Space::Addresses => Some(offset),
                    _ => (offset < BUFFER.bytes).then_some(BUFFER.base + offset),
                };
                let register = usize::from(transfer.data) + 4 * (element * 8 * rows + slot);
                match (transfer.write, address) {
                    // Writes to the last page have no effect.
                    (true, Some(at)) => drop(vm.write_u32(at, before.u32(register))),
                    (true, None) => {}
                    (false, at) => {
                        registers.set_u32(register, at.map_or(0, |at| vm.read_u32(at).unwrap()));
                    }
                }
                if let Some(address) = address {
                    vm.lend(address, transfer.write);
                }
            }
        }
        self.world.tally.add(&transfer);
        Ok(())
    }
    fn local(&mut self) -> Option<&mut [u8]> {
        self.world.local()
    }
    fn reach(&mut self) -> Reach<'_> {
        self.vm.reach(&mut self.world.local, Some(&self.bounds))
    }
    fn tally(&mut self, tally: &Tally) {
        self.direct += tally.global;
        self.world.tally(tally);
    }
    fn timestamp(&self) -> u64 {
        self.world.timestamp()
    }
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        self.world.trap(trap, offset)
    }
}

/// A message, or an addition.
fn instruction(random: &mut Random) -> Instruction {
    if random.one_in(3) {
        let ty = DataType::Ud;
        let register = |random: &mut Random| random.pick(&[18, 19, 36, 37, 44, 45]);
        let to = Register::Grf { number: register(random), byte: 0 };
        return Instruction {
            destination: Some(Destination::new(to, ty)),
            sources: [grf(register(random), ty, 8), grf(register(random), ty, 8), Operand::None],
            ..Instruction::new(Opcode::Add, 8)
        };
    }
    // Reads of one dword or of four, writes of one dword, for 8 or 16 slots: of buffer INDEX, then
    // of addresses.
    let (size, descriptor, payloads) = random.pick(&[
        (16, 0x0420_5e03, OFFSETS),
        (16, 0x0480_5003, OFFSETS),
        (16, 0x0802_5e03, OFFSETS),
        (8, 0x0210_6e03, OFFSETS),
        (8, 0x0402_6e03, OFFSETS),
        (16, 0x0824_5eff, ADDRESSES),
        (16, 0x0c06_5eff, ADDRESSES),
        (8, 0x0414_6eff, ADDRESSES),
        (8, 0x0606_6eff, ADDRESSES),
    ]);
    let to = Register::Grf { number: 80 + random.below(8) as u8, byte: 0 };
    Instruction {
        destination: Some(Destination::new(to, DataType::Uw)),
        sources: [grf(random.pick(&payloads), DataType::F, 8), Operand::None, Operand::None],
        send: Some(Send {
            function: SharedFunction::DataPort1,
            descriptor: Descriptor::Immediate(descriptor),
            end_of_thread: false,
        }),
        channel_offset: if size == 8 { 8 * random.below(2) as u8 } else { 0 },
        ..Instruction::new(Opcode::Send, size)
    }
}

/// Sets the offsets and the addresses of five payloads:
/// - adjacent dwords;
/// - the same dword for all slots;
/// - adjacent dwords, except for one slot;
/// - adjacent dwords near the end of a page, of the buffer or of 32 bits;
/// - two groups of eight adjacent dwords, usually far from each other.
///
/// Not all are multiples of 4.
fn set_offsets(random: &mut Random, thread: &mut Thread) {
    let starts = [0; 5].map(|_| random.below(BUFFER.bytes - 128) as u32);
    let odd = random.index(16);
    let edge = random.pick(&[PAGE, BUFFER.bytes, 0x1_0000_0000 - 32]) as u32;
    for slot in 0..16 {
        let step = 4 * slot as u32;
        let offsets = [
            starts[0] + step,
            starts[1],
            if slot == odd { starts[2] } else { starts[3] + step },
            edge.wrapping_sub(64 + 4 * (odd as u32 / 2)).wrapping_add(step),
            if slot < 8 { starts[4] } else { starts[0] } + step,
        ];
        for ((register, wide), offset) in OFFSETS.into_iter().zip(ADDRESSES).zip(offsets) {
            thread.regs.set_u32(32 * usize::from(register) + 4 * slot, offset);
            // Bits 63:48 of addresses are ignored.
            let address = BASE + u64::from(offset) % (MAPPED * PAGE - 64);
            thread.regs.set_u64(32 * usize::from(wide) + 8 * slot, address | 0xffff << 48);
        }
    }
}

/// Programs with messages to buffers and to addresses. Oracle: the test itself, which executes
/// messages slot by slot.
#[test]
fn messages_to_pages_agree_with_single_slots() {
    let mut random = Random::new(23);
    let mut direct = [0; 2];
    for _ in 0..4_000 {
        let count = 1 + random.index(24);
        let mut body: Vec<_> = (0..count).map(|_| instruction(&mut random)).collect();
        body.push(end());
        let mask = if random.one_in(8) { random.bits() as u32 } else { u32::MAX };
        let launch = Launch { dispatch_mask: mask, vector_mask: mask, ..Launch::default() };
        let mut start = Thread::new(&launch);
        for dword in start.regs.grf_mut().chunks_exact_mut(4) {
            dword.copy_from_slice(&(random.bits() as u32).to_le_bytes());
        }
        set_offsets(&mut random, &mut start);
        let over = random.one_in(2);
        let run = |kernel: &Kernel| {
            with_memory(over, |paged| {
                // The second thread finds pages that the first one has used.
                let threads = [0; 2].map(|_| {
                    let mut thread = start.clone();
                    thread.run(kernel, paged).unwrap();
                    thread.regs.bytes().to_vec()
                });
                (threads, paged.world.tally, paged.direct)
            })
        };
        let (single, memory, recorded) = run(&decode(&body));
        let mut kernel = decode(&body);
        kernel.compilation = Compilation::at_once();
        let (compiled, compiled_memory, compiled_recorded) = run(&kernel);
        assert!(single.0 == compiled.0, "registers differ: {body:#?}");
        assert!(memory == compiled_memory, "memory differs: {body:#?}");
        assert!(recorded == compiled_recorded, "the overlay recorded other accesses: {body:#?}");
        assert_eq!(single.1, compiled.1, "{body:#?}");
        assert_eq!(single.2, 0);
        direct[usize::from(over)] += compiled.2;
    }
    println!("{direct:?} messages in machine code");
    let supported = genxml_jit::Code::supported();
    let enough = direct.iter().all(|direct| *direct > 500);
    assert!(!supported || enough, "only {direct:?} messages were in machine code");
}
