//! Compares compiled kernels with the general path and the fast path. Oracle: the general path,
//! which other tests check against Rust's own arithmetic. All run the same random programs, whose
//! registers overlap.

use crate::eu::fast_path::SPECIAL;
use crate::eu::support::{LOCAL_BYTES, World, alu, decode, end, grf, immediate, run_from};
use genxml_eu::instruction::{
    Arf, Condition, DataType, Descriptor, Destination, Flag, Immediate, Instruction, MathFunction,
    Operand, Predicate, PredicateControl, Region, Register, Send, SharedFunction, Source,
};
use genxml_eu::ops::Opcode;
use genxml_sim::Fault;
use genxml_sim::eu::compile::Compilation;
use genxml_sim::eu::ops::all_fast;
use genxml_sim::eu::regions::{FLAGS, Registers};
use genxml_sim::eu::transfer::Tally;
use genxml_sim::eu::{Environment, Launch, Message, Thread, Trap};
use genxml_testkit::Random;
use std::collections::BTreeMap;

fn register(random: &mut Random, bytes: u8) -> Register {
    // Few registers, so that an instruction uses what others computed. Some operands begin inside a
    // register and overlap two.
    let byte = if random.one_in(8) { bytes * random.below(32 / u64::from(bytes)) as u8 } else { 0 };
    Register::Grf { number: 16 + random.below(10) as u8, byte }
}

fn source(random: &mut Random, ty: DataType, size: u8, constant: bool) -> Operand {
    if constant && random.one_in(4) {
        let bits = if ty == DataType::F { random.pick(&SPECIAL) } else { random.bits() as u32 };
        let ty = match ty {
            DataType::Ub => DataType::Uw,
            DataType::B => DataType::W,
            ty => ty,
        };
        let bits = u64::from(bits) & (u64::MAX >> (64 - 8 * ty.size()));
        return Operand::Immediate(Immediate { ty, bits });
    }
    let scalar = size == 1 || random.one_in(4);
    let region = match scalar {
        true => Region::new(0, 1, 0),
        false if random.one_in(3) => {
            let step = random.pick(&[2, 4]);
            let width = size.min(8);
            Region::new(width * step, width, step)
        }
        false => Region::packed(size),
    };
    let mut source = Source::new(register(random, ty.size()), ty, region);
    source.negate = random.one_in(6);
    source.absolute = ty == DataType::F && random.one_in(6);
    Operand::Register(source)
}

/// An instruction that may be compiled.
fn instruction(random: &mut Random) -> Instruction {
    use DataType::{B, D, F, Ub, Ud, Uw, W};
    use Opcode::*;
    let opcode = random.pick(&[
        Mov, Not, And, Or, Xor, Shl, Shr, Asr, Add, Add, Mul, Mul, Mad, Mad, Sel, Sel, Cmp, Cmp,
        Rndd, Rndu, Rnde, Rndz, Frc, Math, Math, Line, Pln, Pln,
    ]);
    let function = random.pick(&[
        MathFunction::Inverse,
        MathFunction::Divide,
        MathFunction::SquareRoot,
        MathFunction::InverseSquareRoot,
    ]);
    let divides = opcode == Math && function == MathFunction::Divide;
    let plane = matches!(opcode, Line | Pln);
    let size = random.pick(if plane { &[8, 16] } else { &[1, 2, 4, 8, 8, 16, 16][..] });
    let floats = match opcode {
        Mad | Rndd | Rndu | Rnde | Rndz | Frc | Math | Line | Pln => true,
        Not | And | Or | Xor | Shl | Shr | Asr => false,
        _ => random.one_in(2),
    };
    let count = match opcode {
        Math => 1 + usize::from(divides),
        _ => usize::from(opcode.op().sources),
    };
    let of =
        |random: &mut Random| if floats { F } else { random.pick(&[D, D, Ud, Ud, W, Uw, B, Ub]) };
    let mut sources = [Operand::None; 3];
    for (n, slot) in sources.iter_mut().enumerate().take(count) {
        let ty = of(random);
        *slot = source(random, ty, size, n + 1 == count && count < 3);
    }
    if plane {
        let mut operand = |bytes: &[u8], region| {
            let number = 16 + random.below(10) as u8;
            let register = Register::Grf { number, byte: random.pick(bytes) };
            let mut source = Source::new(register, F, region);
            source.negate = random.one_in(4);
            source.absolute = random.one_in(6);
            Operand::Register(source)
        };
        let packed = Region::packed(if opcode == Pln { 8 } else { size });
        sources = [operand(&[0, 16], Region::new(0, 1, 0)), operand(&[0], packed), Operand::None];
    }
    let ty = match opcode {
        Mov if random.one_in(3) => random.pick(&[D, Ud, F]),
        Cmp if random.one_in(2) => D,
        _ => of(random),
    };
    let null = opcode == Cmp && random.one_in(2);
    let to = if null { Register::NULL } else { register(random, ty.size()) };
    let mut destination = Destination::new(to, ty);
    destination.stride = random.pick(&[1, 1, 1, 2, 4]);
    let chooses = opcode == Sel && random.one_in(2);
    let conditions = [
        Condition::Equal,
        Condition::NotEqual,
        Condition::Greater,
        Condition::GreaterEqual,
        Condition::Less,
        Condition::LessEqual,
    ];
    // `math` has no condition.
    let can_compare = !matches!(opcode, Sel | Math);
    let compares = opcode == Cmp || opcode == Sel && !chooses || can_compare && random.one_in(6);
    Instruction {
        destination: Some(destination),
        sources,
        condition: compares.then(|| random.pick(&conditions)),
        predicate: (chooses || opcode != Sel && random.one_in(5)).then(|| Predicate {
            control: PredicateControl::Sequential,
            inverse: random.one_in(2),
        }),
        saturate: opcode != Cmp && random.one_in(5),
        no_mask: random.one_in(4),
        channel_offset: if size <= 8 {
            8 * random.below(4) as u8
        } else {
            16 * random.below(2) as u8
        },
        flag: Flag { register: random.below(2) as u8, subregister: random.below(2) as u8 },
        math: (opcode == Math).then_some(function),
        ..Instruction::new(opcode, size)
    }
}

/// An instruction with integers of 64 bits.
fn long(random: &mut Random) -> Instruction {
    use DataType::{D, Q, Ud, Uq};
    use Opcode::{Add, And, Mov, Or, Shl};
    let opcode = random.pick(&[Mov, And, Or, Shl, Add]);
    let size = random.pick(&[4, 8]);
    let mut sources = [Operand::None; 3];
    let count = usize::from(opcode.op().sources);
    for (n, slot) in sources.iter_mut().enumerate().take(count) {
        let constant = n == 1 && (opcode == Shl || random.one_in(4));
        let ty = random.pick(&[D, Ud, Q, Uq]);
        *slot = match constant {
            true => immediate(D, random.pick(&[2, 35, 0x7fff_ffff, 0xffff_fff0])),
            false => {
                let scalar = random.one_in(4);
                let region = if scalar { Region::new(0, 1, 0) } else { Region::packed(size) };
                Operand::Register(Source::new(register(random, ty.size()), ty, region))
            }
        };
    }
    let ty = random.pick(&[Q, Uq]);
    Instruction {
        destination: Some(Destination::new(register(random, 8), ty)),
        sources,
        no_mask: random.one_in(4),
        channel_offset: 8 * random.below(4) as u8,
        ..Instruction::new(opcode, size)
    }
}

/// An instruction that changes whether subnormal floats are kept.
fn change_of_mode() -> Instruction {
    let control = Register::Arf { file: Arf::Control, number: 0, byte: 0 };
    let source = Source::new(control, DataType::Ud, Region::new(0, 1, 0));
    Instruction {
        destination: Some(Destination::new(control, DataType::Ud)),
        sources: [Operand::Register(source), immediate(DataType::Ud, 1 << 7), Operand::None],
        no_mask: true,
        ..Instruction::new(Opcode::Xor, 1)
    }
}

/// First registers of the payloads of [`local_message`]: offsets in two registers, then data in two
/// registers.
const PAYLOADS: [u8; 6] = [40, 44, 48, 52, 56, 16];

/// A message to shared local memory.
fn local_message(random: &mut Random) -> Instruction {
    // Descriptors: reads of one dword or of four, writes of one dword, for 8 or 16 slots.
    let (size, descriptor) = random.pick(&[
        (16, 0x0420_5efe),
        (16, 0x0480_50fe),
        (16, 0x0802_5efe),
        (8, 0x0210_6efe),
        (8, 0x0240_60fe),
        (8, 0x0402_6efe),
    ]);
    let to = Register::grf(16 + random.below(10) as u8);
    Instruction {
        destination: Some(Destination::new(to, DataType::Uw)),
        sources: [grf(random.pick(&PAYLOADS), DataType::F, 8), Operand::None, Operand::None],
        send: Some(Send {
            function: SharedFunction::DataPort1,
            descriptor: Descriptor::Immediate(descriptor),
            end_of_thread: false,
        }),
        no_mask: random.one_in(4),
        channel_offset: if size == 8 { 8 * random.below(4) as u8 } else { 0 },
        ..Instruction::new(Opcode::Send, size)
    }
}

/// Sets the offsets of all but the last of the [`PAYLOADS`]: of adjacent dwords, of the same dword,
/// of dwords of which one is elsewhere, of dwords at the end of the memory, and of two registers
/// that are adjacent each, but not to each other.
fn set_offsets(random: &mut Random, thread: &mut Thread) {
    let starts = [0; 5].map(|_| random.below(LOCAL_BYTES as u64 - 128) as u32);
    let odd = random.index(16);
    for slot in 0..16 {
        let step = 4 * slot as u32;
        let offsets = [
            starts[0] + step,
            starts[1],
            if slot == odd { starts[2] } else { starts[3] + step },
            LOCAL_BYTES as u32 - 64 + 4 * (odd as u32 / 8) + step,
            if slot < 8 { starts[4] } else { starts[0] } + step,
        ];
        for (register, offset) in PAYLOADS.into_iter().zip(offsets) {
            thread.regs.set_u32(32 * usize::from(register) + 4 * slot, offset);
        }
    }
}

/// Programs with messages to shared local memory. Oracle: the general path, whose messages the test
/// itself executes.
#[test]
fn messages_to_local_memory_agree_with_the_general_path() {
    let mut random = Random::new(11);
    let mut messages = 0;
    for _ in 0..4_000 {
        let count = 1 + random.index(24);
        let any = |_| match random.below(8) {
            0 => long(&mut random),
            1..5 => local_message(&mut random),
            _ => instruction(&mut random),
        };
        let mut body: Vec<_> = (0..count).map(any).collect();
        body.push(end());
        let mask = if random.one_in(4) { random.bits() as u32 } else { u32::MAX };
        let control = if random.one_in(2) { 1 << 7 } else { 0 };
        let launch =
            Launch { dispatch_mask: mask, vector_mask: mask, control, ..Launch::default() };
        let mut thread = Thread::new(&launch);
        fill(&mut random, &mut thread);
        set_offsets(&mut random, &mut thread);
        run_from(&body, &thread).unwrap();
        messages += compiled_messages(&body, &thread);
    }
    println!("{messages} messages in compiled code");
    assert!(!supported() || messages > 2_000, "only {messages} messages were in compiled code");
}

/// True if the host can run compiled code.
fn supported() -> bool {
    let mut kernel = decode(&[alu(Opcode::Not, 8, DataType::Ud, 16, &[grf(17, DataType::Ud, 8)])]);
    kernel.compilation = Compilation::at_once();
    let modes = Thread::new(&Launch::default()).modes;
    kernel.compilation.get(&kernel.uops, &modes).is_some()
}

/// Number of messages that compiled code executes by itself.
fn compiled_messages(body: &[Instruction], start: &Thread) -> u64 {
    /// Counts the messages that are reported.
    struct Tallied(World, u64);
    impl Environment for Tallied {
        fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault> {
            self.0.step(offset, mask)
        }
        fn steps(&mut self, count: u32) -> bool {
            self.0.steps(count)
        }
        fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
            self.0.send(registers, message)
        }
        fn local(&mut self) -> Option<&mut [u8]> {
            self.0.local()
        }
        fn tally(&mut self, tally: &Tally) {
            self.1 += tally.local_reads + tally.local_writes;
        }
        fn timestamp(&self) -> u64 {
            self.0.timestamp()
        }
        fn trap(&self, trap: Trap, offset: u32) -> Fault {
            self.0.trap(trap, offset)
        }
    }
    let mut kernel = decode(body);
    kernel.compilation = Compilation::at_once();
    let mut world = Tallied(World::new(), 0);
    start.clone().run(&kernel, &mut world).unwrap();
    world.1
}

fn fill(random: &mut Random, thread: &mut Thread) {
    for dword in thread.regs.grf_mut().chunks_exact_mut(4) {
        let bits = match random.below(3) {
            0 => random.pick(&SPECIAL),
            1 => (random.below(2000) as f32 / 16.0 - 60.0).to_bits(),
            _ => random.bits() as u32,
        };
        dword.copy_from_slice(&bits.to_le_bytes());
    }
    let flags = random.bits();
    thread.regs.set_u64(FLAGS, flags);
}

#[test]
fn programs_agree_with_the_general_path() {
    let mut random = Random::new(7);
    let mut reached: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..4_000 {
        let count = 1 + random.index(24);
        let any = |_| match random.below(24) {
            0 => change_of_mode(),
            1..4 => long(&mut random),
            _ => instruction(&mut random),
        };
        let mut body: Vec<_> = (0..count).map(any).collect();
        body.push(end());
        let mask = if random.one_in(2) { u32::MAX } else { random.bits() as u32 };
        let control = if random.one_in(2) { 1 << 7 } else { 0 };
        let launch =
            Launch { dispatch_mask: mask, vector_mask: mask, control, ..Launch::default() };
        let mut thread = Thread::new(&launch);
        fill(&mut random, &mut thread);
        run_from(&body, &thread).unwrap();
        for name in compiled(&body) {
            *reached.entry(name).or_default() += 1;
        }
    }
    println!("{reached:?}");
    let missed: Vec<_> = all_fast()
        .filter_map(|(_, row)| row.vector)
        .map(|vector| format!("{vector:?}"))
        .filter(|name| !reached.contains_key(name))
        .collect();
    assert!(missed.is_empty(), "no compiled block began with {missed:?}");
}

/// Names of the operations that begin a compiled block. If the host cannot run compiled code: of
/// all operations, so that the test passes there.
fn compiled(body: &[Instruction]) -> Vec<String> {
    let mut kernel = decode(body);
    kernel.compilation = Compilation::at_once();
    let modes = Thread::new(&Launch::default()).modes;
    let supported = kernel.compilation.get(&kernel.uops, &modes).is_some();
    let name = |n: usize| Some(format!("{:?}", kernel.uops[n].plan.vector?));
    (0..kernel.uops.len())
        .filter(|&n| !supported || kernel.compilation.begins(n as u32))
        .filter_map(name)
        .collect()
}

/// Without this, an operand that is refused by mistake would only make kernels slower.
#[test]
fn frequent_operands_are_compiled() {
    use DataType::{B, D, F, Ub, Ud, Uw, W};
    let grf = |number, ty, region| {
        Operand::Register(Source::new(Register::Grf { number, byte: 0 }, ty, region))
    };
    for size in [1, 2, 4, 8, 16] {
        for ty in [D, Ud, W, Uw, F, B, Ub] {
            let constant = match ty {
                F => Immediate { ty, bits: 0x3f80_0000 },
                B | W => Immediate { ty: W, bits: 3 },
                Ub | Uw => Immediate { ty: Uw, bits: 3 },
                ty => Immediate { ty, bits: 3 },
            };
            let regions = [
                Region::new(0, 1, 0),
                Region::packed(size),
                Region::new(2 * size.min(8), size.min(8), 2),
            ];
            for (region, second) in regions.into_iter().flat_map(|region| {
                let register = grf(20, ty, region);
                [(region, register), (region, Operand::Immediate(constant))]
            }) {
                let add = Instruction {
                    destination: Some(Destination::new(Register::Grf { number: 24, byte: 0 }, ty)),
                    sources: [grf(16, ty, region), second, Operand::None],
                    ..Instruction::new(Opcode::Add, size)
                };
                let names = compiled(&[add, end()]);
                assert_eq!(names.len(), 1, "{size} channels of {ty:?}, {region:?}, {second:?}");
            }
        }
    }
}
