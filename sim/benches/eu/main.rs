//! EU instructions per second, without memory: run with `cargo bench -p genxml-sim --bench eu`.
//! Items are instructions. Lane operations per second are items per second times the channels of an
//! instruction, which the lines before the results give for real kernels.

mod corpus;

use divan::Bencher;
use divan::counter::ItemsCount;
use genxml_eu::instruction::{
    Branch, Condition, DataType, Descriptor, Destination, Immediate, Instruction, Operand,
    Predicate, PredicateControl, Region, Register, Send, SharedFunction, Source,
};
use genxml_eu::ops::Opcode;
use genxml_sim::Fault;
use genxml_sim::eu::decode::{Fetched, kernel};
use genxml_sim::eu::regions::Registers;
use genxml_sim::eu::{Environment, Kernel, Launch, Message, Thread, Trap};

fn main() {
    corpus::describe();
    divan::main();
}

/// An environment that does nothing.
struct Nowhere;

impl Environment for Nowhere {
    #[inline(always)]
    fn step(&mut self, _: u32, _: u32) -> Result<(), Fault> {
        Ok(())
    }
    #[inline(always)]
    fn steps(&mut self, _: u32) -> bool {
        true
    }
    fn send(&mut self, _: &mut Registers, _: &Message) -> Result<(), Fault> {
        Ok(())
    }
    fn timestamp(&self) -> u64 {
        0
    }
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        panic!("{trap:?} at {offset:#x}")
    }
}

fn grf(number: u8, ty: DataType, size: u8) -> Operand {
    Operand::Register(Source::new(Register::grf(number), ty, Region::packed(size)))
}

fn immediate(ty: DataType, bits: u64) -> Operand {
    Operand::Immediate(Immediate { ty, bits })
}

fn alu(opcode: Opcode, size: u8, ty: DataType, dst: u8, sources: [Operand; 3]) -> Instruction {
    Instruction {
        destination: Some(Destination::new(Register::grf(dst), ty)),
        sources,
        ..Instruction::new(opcode, size)
    }
}

/// A kernel that repeats `body` `count` times, for `size` channels.
fn spin(size: u8, mut body: Vec<Instruction>, count: u64) -> Kernel {
    use DataType::{D, Ud};
    body.push(alu(Opcode::Add, 1, D, 100, [grf(100, D, 1), immediate(D, 1), Operand::None]));
    body.push(Instruction {
        condition: Some(Condition::Equal),
        destination: Some(Destination::new(Register::NULL, D)),
        sources: [
            Operand::Register(Source::new(Register::grf(100), D, Region::new(0, 1, 0))),
            immediate(D, count),
            Operand::None,
        ],
        ..Instruction::new(Opcode::Cmp, size)
    });
    let back = -16 * body.len() as i32;
    body.push(Instruction {
        predicate: Some(Predicate { control: PredicateControl::Sequential, inverse: true }),
        branch: Some(Branch { jip: back, uip: None }),
        ..Instruction::new(Opcode::While, size)
    });
    body.push(Instruction {
        send: Some(Send {
            function: SharedFunction::ThreadSpawner,
            descriptor: Descriptor::Immediate(0x0200_0010),
            end_of_thread: true,
        }),
        sources: [grf(112, Ud, 8), Operand::None, Operand::None],
        ..Instruction::new(Opcode::Send, 8)
    });
    kernel(0, 0, |offset| match body.get(offset as usize / 16) {
        Some(instruction) => Fetched::Instruction(Box::new(*instruction)),
        None => Fetched::Garbage("end".into()),
    })
}

fn bench(bencher: Bencher<'_, '_>, size: u8, kernel: &Kernel) {
    let mask = u32::MAX >> (32 - size);
    let launch = Launch { dispatch_mask: mask, vector_mask: mask, ..Launch::default() };
    let count = Thread::new(&launch).run(kernel, &mut Nowhere).unwrap();
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| Thread::new(&launch).run(kernel, &mut Nowhere));
}

/// The loop of media_spin: add, cmp, while on one channel.
#[divan::bench]
fn scalar_loop(bencher: Bencher<'_, '_>) {
    bench(bencher, 1, &spin(1, Vec::new(), 100_000));
}

/// Multiply, add, mad and compare on `SIZE` single floats, in a loop.
#[divan::bench(consts = [8, 16])]
fn floats<const SIZE: u8>(bencher: Bencher<'_, '_>) {
    use DataType::F;
    let one = immediate(F, u64::from(1.5f32.to_bits()));
    let body = vec![
        alu(Opcode::Mul, SIZE, F, 10, [grf(20, F, SIZE), one, Operand::None]),
        alu(Opcode::Add, SIZE, F, 12, [grf(10, F, SIZE), grf(22, F, SIZE), Operand::None]),
        alu(Opcode::Mad, SIZE, F, 14, [grf(12, F, SIZE), grf(10, F, SIZE), grf(22, F, SIZE)]),
        Instruction {
            condition: Some(Condition::Less),
            ..alu(Opcode::Cmp, SIZE, F, 16, [grf(14, F, SIZE), grf(22, F, SIZE), Operand::None])
        },
    ];
    bench(bencher, SIZE, &spin(SIZE, body, 10_000));
}

/// Multiply-add on `SIZE` single floats.
#[divan::bench(consts = [8, 16])]
fn multiply_add<const SIZE: u8>(bencher: Bencher<'_, '_>) {
    use DataType::F;
    let mad = |dst: u8| {
        alu(Opcode::Mad, SIZE, F, dst, [grf(dst, F, SIZE), grf(40, F, SIZE), grf(42, F, SIZE)])
    };
    bench(bencher, SIZE, &spin(SIZE, (10..40).step_by(2).map(mad).collect(), 10_000));
}

/// Conversion, sum, shift and mean of words and bytes.
#[divan::bench(consts = [8, 16])]
fn words<const SIZE: u8>(bencher: Bencher<'_, '_>) {
    use DataType::{Ub, Uw, W};
    let body = vec![
        alu(Opcode::Mov, SIZE, Uw, 10, [grf(20, Ub, SIZE), Operand::None, Operand::None]),
        alu(Opcode::Add, SIZE, W, 12, [grf(10, W, SIZE), grf(22, W, SIZE), Operand::None]),
        alu(Opcode::Shr, SIZE, Uw, 14, [grf(12, Uw, SIZE), immediate(Uw, 2), Operand::None]),
        alu(Opcode::Avg, SIZE, Uw, 16, [grf(14, Uw, SIZE), grf(10, Uw, SIZE), Operand::None]),
    ];
    bench(bencher, SIZE, &spin(SIZE, body, 10_000));
}

/// Real kernels of mixed integer code, each until its end, but at most 20,000 instructions.
#[divan::bench(args = corpus::INTEGERS)]
fn integer_kernels(bencher: Bencher<'_, '_>, name: &str) {
    let Some(bytes) = corpus::bytes(name) else { return };
    let kernel = corpus::decoded(&bytes);
    bencher.counter(ItemsCount::new(corpus::run(&kernel))).bench(|| corpus::run(&kernel));
}

/// Real kernels that compute with floats.
#[divan::bench(args = corpus::FLOATS)]
fn float_kernels(bencher: Bencher<'_, '_>, name: &str) {
    integer_kernels(bencher, name);
}

/// The kernels of `integer_kernels`, with every instruction on the general path.
#[divan::bench(args = corpus::INTEGERS)]
fn general_path(bencher: Bencher<'_, '_>, name: &str) {
    let Some(bytes) = corpus::bytes(name) else { return };
    let mut kernel = corpus::decoded(&bytes);
    for u in &mut kernel.uops {
        u.plan = genxml_sim::eu::fast::Plan::NONE;
    }
    bencher.counter(ItemsCount::new(corpus::run(&kernel))).bench(|| corpus::run(&kernel));
}

/// Decodes instructions to uops.
#[divan::bench(args = corpus::INTEGERS)]
fn decode(bencher: Bencher<'_, '_>, name: &str) {
    let Some(bytes) = corpus::bytes(name) else { return };
    let count = corpus::decoded(&bytes).uops.len();
    bencher.counter(ItemsCount::new(count)).bench(|| corpus::decoded(&bytes));
}
