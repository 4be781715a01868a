//! Random programs with nested control flow, against a second interpreter that runs the program of
//! each channel alone, from its syntax tree.

use super::support::{World, launch};
use genxml_eu::Generation;
use genxml_eu::instruction::{
    Arf, Branch, Compression, Condition, DataType, Descriptor, Destination, Immediate, Instruction,
    Operand, Predicate, PredicateControl, Region, Register, Send, SharedFunction, Source,
};
use genxml_eu::ops::Opcode;
use genxml_sim::eu::decode::{Fetched, kernel_on};
use genxml_sim::eu::{Launch, Thread};
use genxml_testkit::Random;

/// Number of variables of a channel. The last ones count loops.
const VARIABLES: usize = 10;
const COUNTERS: usize = 4;

/// A condition: a comparison of two variables, or its opposite.
#[derive(Clone, Copy, Debug)]
struct Test {
    a: usize,
    b: usize,
    condition: Condition,
    inverse: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Add(usize, usize, i32),
    Xor(usize, usize),
    If(Test, Vec<Step>, Option<Vec<Step>>),
    Iff(Test, Vec<Step>),
    /// A loop with its counter. It ends when the counter is used up, or at its end by the test.
    Loop(usize, Vec<Step>, Option<Test>),
    Break(Test),
    Continue(Test),
    Halt(Test),
}

// ---- random programs ----

fn test(random: &mut Random) -> Test {
    let conditions = [Condition::Less, Condition::Greater, Condition::Equal, Condition::NotEqual];
    Test {
        a: random.index(VARIABLES - COUNTERS),
        b: random.index(VARIABLES - COUNTERS),
        condition: random.pick(&conditions),
        inverse: random.one_in(2),
    }
}

fn steps(random: &mut Random, depth: usize, loops: usize) -> Vec<Step> {
    let count = 1 + random.index(5);
    (0..count)
        .map(|_| match random.index(if depth < 4 { 14 } else { 7 }) {
            4 if loops > 0 => Step::Break(test(random)),
            5 if loops > 0 => Step::Continue(test(random)),
            6 if random.one_in(3) => Step::Halt(test(random)),
            7..=9 => {
                let then = steps(random, depth + 1, loops);
                let other = random.one_in(2).then(|| steps(random, depth + 1, loops));
                Step::If(test(random), then, other)
            }
            10 => Step::Iff(test(random), steps(random, depth + 1, loops)),
            11.. if loops < COUNTERS => {
                let body = steps(random, depth + 1, loops + 1);
                Step::Loop(loops, body, random.one_in(3).then(|| test(random)))
            }
            n if n % 2 == 0 => Step::Add(
                random.index(VARIABLES - COUNTERS),
                random.index(VARIABLES - COUNTERS),
                random.index(9) as i32 - 4,
            ),
            _ => Step::Xor(random.index(VARIABLES - COUNTERS), random.index(VARIABLES - COUNTERS)),
        })
        .collect()
}

// ---- the second interpreter ----

#[derive(PartialEq)]
enum Then {
    Next,
    Break,
    Continue,
    Halt,
}

type Channel = [i32; VARIABLES];

fn holds(test: &Test, v: &Channel) -> bool {
    let (a, b) = (v[test.a], v[test.b]);
    let found = match test.condition {
        Condition::Less => a < b,
        Condition::Greater => a > b,
        Condition::Equal => a == b,
        _ => a != b,
    };
    found != test.inverse
}

fn interpret(steps: &[Step], v: &mut Channel) -> Then {
    for step in steps {
        let then = match step {
            Step::Add(to, a, b) => {
                v[*to] = v[*a].wrapping_add(*b);
                Then::Next
            }
            Step::Xor(to, a) => {
                v[*to] ^= v[*a];
                Then::Next
            }
            Step::If(test, then, _) if holds(test, v) => interpret(then, v),
            Step::If(_, _, Some(other)) => interpret(other, v),
            Step::If(..) => Then::Next,
            Step::Iff(test, then) if holds(test, v) => interpret(then, v),
            Step::Iff(..) => Then::Next,
            Step::Loop(counter, body, test) => loop {
                let counter = VARIABLES - COUNTERS + counter;
                v[counter] -= 1;
                if v[counter] <= 0 {
                    v[counter] = 5;
                    break Then::Next;
                }
                match interpret(body, v) {
                    Then::Halt => break Then::Halt,
                    Then::Break => break Then::Next,
                    Then::Next if test.is_some_and(|test| !holds(&test, v)) => break Then::Next,
                    _ => {}
                }
            },
            Step::Break(test) if holds(test, v) => Then::Break,
            Step::Continue(test) if holds(test, v) => Then::Continue,
            Step::Halt(test) if holds(test, v) => Then::Halt,
            _ => Then::Next,
        };
        if then != Then::Next {
            return then;
        }
    }
    Then::Next
}

// ---- the program as instructions ----

struct Code {
    instructions: Vec<Instruction>,
    size: u8,
    /// The halts, whose target is the end.
    halts: Vec<usize>,
    /// For each open loop: its breaks, its continues, and the number of open ifs.
    loops: Vec<(Vec<usize>, Vec<usize>, u8)>,
}

impl Code {
    fn variable(&self, n: usize) -> u8 {
        10 + 2 * n as u8
    }

    fn source(&self, n: usize) -> Operand {
        let region = Region::new(8, 8, 1);
        Operand::Register(Source::new(Register::grf(self.variable(n)), DataType::D, region))
    }

    fn number(&self, value: i32) -> Operand {
        Operand::Immediate(Immediate { ty: DataType::D, bits: value as u32 as u64 })
    }

    fn base(&self, opcode: Opcode) -> Instruction {
        Instruction { generation: Generation::Gen45, ..Instruction::new(opcode, self.size) }
    }

    fn operation(&mut self, opcode: Opcode, to: Option<usize>, a: Operand, b: Operand) {
        let register = to.map_or(Register::NULL, |to| Register::grf(self.variable(to)));
        let mut i = Instruction {
            destination: Some(Destination::new(register, DataType::D)),
            sources: [a, b, Operand::None],
            ..self.base(opcode)
        };
        if self.size == 16 {
            i.gen4.compression = Compression::Compr;
        }
        self.instructions.push(i);
    }

    fn compare(&mut self, test: &Test) -> Option<Predicate> {
        self.operation(Opcode::Cmp, None, self.source(test.a), self.source(test.b));
        self.instructions.last_mut().unwrap().condition = Some(test.condition);
        Some(Predicate { control: PredicateControl::Sequential, inverse: test.inverse })
    }

    /// Appends a branch without a target; returns its index.
    fn branch(&mut self, opcode: Opcode, predicate: Option<Predicate>, pops: u8) -> usize {
        let mut i = Instruction { predicate, ..self.base(opcode) };
        i.gen4.pop_count = pops;
        self.instructions.push(i);
        self.instructions.len() - 1
    }

    fn target(&mut self, at: usize, to: usize) {
        let jip = (to as i32 - at as i32) * 16;
        self.instructions[at].branch = Some(Branch { jip, uip: None });
    }

    fn open(&mut self, change: i8) {
        if let Some((_, _, ifs)) = self.loops.last_mut() {
            *ifs = ifs.wrapping_add_signed(change);
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Add(to, a, b) => {
                self.operation(Opcode::Add, Some(*to), self.source(*a), self.number(*b));
            }
            Step::Xor(to, a) => {
                self.operation(Opcode::Xor, Some(*to), self.source(*to), self.source(*a));
            }
            Step::If(test, then, other) => {
                let predicate = self.compare(test);
                let start = self.branch(Opcode::If, predicate, 0);
                self.open(1);
                self.steps(then);
                let middle = other.as_ref().map(|other| {
                    let at = self.branch(Opcode::Else, None, 1);
                    self.steps(other);
                    at
                });
                self.open(-1);
                let end = self.branch(Opcode::Endif, None, 1);
                self.target(start, middle.unwrap_or(end));
                if let Some(middle) = middle {
                    self.target(middle, end + 1);
                }
            }
            Step::Iff(test, then) => {
                let predicate = self.compare(test);
                let start = self.branch(Opcode::Iff, predicate, 0);
                self.open(1);
                self.steps(then);
                self.open(-1);
                let end = self.branch(Opcode::Endif, None, 1);
                self.target(start, end + 1);
            }
            Step::Loop(counter, body, test) => {
                let counter = VARIABLES - COUNTERS + counter;
                self.branch(Opcode::Do, None, 0);
                let start = self.instructions.len();
                self.loops.push((Vec::new(), Vec::new(), 0));
                self.operation(Opcode::Add, Some(counter), self.source(counter), self.number(-1));
                // The last turn sets the counter for the next time, and leaves the loop.
                self.operation(Opcode::Cmp, None, self.source(counter), self.number(0));
                self.instructions.last_mut().unwrap().condition = Some(Condition::LessEqual);
                let predicate =
                    Some(Predicate { control: PredicateControl::Sequential, inverse: false });
                self.operation(Opcode::Mov, Some(counter), self.number(5), Operand::None);
                self.instructions.last_mut().unwrap().predicate = predicate;
                let out = self.branch(Opcode::Break, predicate, 0);
                self.steps(body);
                if let Some(test) = test {
                    // A break, because channels that continue must not be tested.
                    let predicate = self.compare(&Test { inverse: !test.inverse, ..*test });
                    let at = self.branch(Opcode::Break, predicate, 0);
                    self.loops.last_mut().unwrap().0.push(at);
                }
                let (breaks, continues, _) = self.loops.pop().unwrap();
                let end = self.branch(Opcode::While, None, 0);
                self.target(end, start);
                for at in breaks.into_iter().chain([out]) {
                    self.target(at, end + 1);
                }
                for at in continues {
                    self.target(at, end);
                }
            }
            Step::Break(test) | Step::Continue(test) => {
                let predicate = self.compare(test);
                let breaks = matches!(step, Step::Break(_));
                let ifs = self.loops.last().unwrap().2;
                let opcode = if breaks { Opcode::Break } else { Opcode::Cont };
                let at = self.branch(opcode, predicate, ifs);
                let (list, others, _) = self.loops.last_mut().unwrap();
                if breaks { list.push(at) } else { others.push(at) }
            }
            Step::Halt(test) => {
                let predicate = self.compare(test);
                let at = self.branch(Opcode::Halt, predicate, 0);
                self.halts.push(at);
            }
        }
    }

    /// Restores the active mask as kernels of Mesa do, counts the channels, and ends.
    fn finish(&mut self) {
        let end = self.instructions.len();
        for at in self.halts.clone() {
            self.target(at, end);
        }
        let arf = |file, byte| Register::Arf { file, number: 0, byte };
        let restore = Instruction {
            exec_size: 1,
            no_mask: true,
            destination: Some(Destination::new(arf(Arf::ChannelEnable, 0), DataType::Uw)),
            sources: [
                Operand::Register(Source::new(arf(Arf::State, 4), DataType::Uw, Region::SCALAR)),
                Operand::None,
                Operand::None,
            ],
            ..self.base(Opcode::Mov)
        };
        self.instructions.push(restore);
        let send = Send {
            function: SharedFunction::Urb,
            descriptor: Descriptor::Immediate(0x0610_8000),
            end_of_thread: true,
        };
        self.instructions.push(Instruction {
            exec_size: 8,
            no_mask: true,
            send: Some(send),
            destination: Some(Destination::new(Register::NULL, DataType::Ud)),
            ..self.base(Opcode::Send)
        });
    }
}

#[test]
fn nested_control_flow() {
    let count = std::env::var("GENXML_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let mut random = Random::new(7);
    let mut halted = 0;
    for _ in 0..count.unwrap_or(3000) {
        let size = if random.one_in(2) { 8 } else { 16 };
        let program = steps(&mut random, 0, 0);
        let mut code =
            Code { instructions: Vec::new(), size, halts: Vec::new(), loops: Vec::new() };
        code.steps(&program);
        code.finish();
        let kernel = kernel_on(Generation::Gen45, 0, 0, |offset| {
            match usize::try_from(offset / 16).ok().and_then(|at| code.instructions.get(at)) {
                Some(instruction) => Fetched::Instruction(Box::new(*instruction)),
                None => Fetched::Garbage("after the end".into()),
            }
        });
        let mask =
            random.bits() as u32 & if size == 8 { 0xff } else { 0xffff } | 1 << random.index(8);
        let mut thread = Thread::new(&Launch { ..launch(mask) });
        let mut channels = [[0; VARIABLES]; 16];
        for (c, channel) in channels.iter_mut().enumerate() {
            for (n, value) in channel.iter_mut().enumerate() {
                *value = if n < VARIABLES - COUNTERS { random.index(9) as i32 - 4 } else { 5 };
                thread.regs.set_u32(32 * (10 + 2 * n) + 4 * c, *value as u32);
            }
        }
        thread
            .run(&kernel, &mut World::new(1_000_000))
            .unwrap_or_else(|fault| panic!("{fault}: {program:?}"));
        for (c, channel) in channels.iter_mut().enumerate().filter(|(c, _)| *c < size.into()) {
            if mask >> c & 1 == 1 && interpret(&program, channel) == Then::Halt {
                halted += 1;
            }
            let found: Channel =
                std::array::from_fn(|n| thread.regs.u32(32 * (10 + 2 * n) + 4 * c) as i32);
            assert_eq!(found, *channel, "channel {c} of {size}, mask {mask:#x}: {program:#?}");
        }
        // A halt may leave stale masks (003:11784).
        assert!(!code.halts.is_empty() || thread.active() == mask, "{program:#?}");
    }
    assert!(halted > 0);
}
