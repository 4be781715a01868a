//! Runs kernels in test environments, on the fast path and on the general path.

use genxml_eu::asm::{Assembly, Options};
use genxml_eu::instruction::{
    DataType, Descriptor, Destination, Immediate, Instruction, Operand, Region, Register, Send,
    SharedFunction, Source,
};
use genxml_eu::ops::Opcode;
use genxml_eu::syntax::Syntax;
use genxml_sim::eu::Stop;
use genxml_sim::eu::compile::Compilation;
use genxml_sim::eu::debug::{Alone, Executed, Halt, Session};
use genxml_sim::eu::decode::{Fetched, fetch_from, kernel};
use genxml_sim::eu::fast::Plan;
use genxml_sim::eu::regions::Registers;
use genxml_sim::eu::transfer::{Tally, Transfer};
use genxml_sim::eu::{Environment, Kernel, Launch, Message, Thread, Trap};
use genxml_sim::{EngineId, Fault, Place};

/// An environment with a budget of instructions and with shared local memory. It ignores all other
/// messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct World {
    pub steps: u64,
    pub local: Vec<u8>,
    /// The messages to shared local memory.
    pub tally: Tally,
}

/// Bytes of shared local memory.
pub const LOCAL_BYTES: usize = 4096;

impl World {
    pub fn new() -> World {
        let local = (0..LOCAL_BYTES).map(|n| (n * 7 + n / 256) as u8).collect();
        World { steps: STEPS, local, tally: Tally::default() }
    }
}

/// Maximum number of instructions of a test.
const STEPS: u64 = 200_000;

pub const PLACE: Place = Place::new(EngineId::Render, "test", 0, 0);

impl Environment for World {
    fn step(&mut self, _: u32, _: u32) -> Result<(), Fault> {
        self.steps = self.steps.checked_sub(1).ok_or(Fault::Hang { limit: 0, at: PLACE })?;
        Ok(())
    }
    fn steps(&mut self, count: u32) -> bool {
        let left = self.steps.checked_sub(count.into());
        self.steps = left.unwrap_or(self.steps);
        left.is_some()
    }
    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let Message { function, descriptor, payload, response, mask, .. } = *message;
        let Some(transfer) = Transfer::new(function, descriptor, payload, response) else {
            return Ok(());
        };
        let (rows, elements) = (usize::from(transfer.rows), usize::from(transfer.elements));
        let before = registers.clone();
        for slot in (0..8 * rows).filter(|slot| mask >> slot & 1 == 1) {
            let offset = before.u32(usize::from(transfer.offsets) + 4 * slot) & 0xfffc;
            for element in 0..elements {
                let memory = offset as usize + 4 * element;
                let register = usize::from(transfer.data) + 4 * (element * 8 * rows + slot);
                match (transfer.write, self.local.get_mut(memory..memory + 4)) {
                    (true, Some(to)) => to.copy_from_slice(&before.bytes()[register..register + 4]),
                    (true, None) => {}
                    (false, from) => {
                        let bytes =
                            from.map_or([0; 4], |from| [from[0], from[1], from[2], from[3]]);
                        registers.set_u32(register, u32::from_le_bytes(bytes));
                    }
                }
            }
        }
        self.tally.add(&transfer);
        Ok(())
    }
    fn take_back(&mut self, count: u32) {
        self.steps += u64::from(count);
    }
    fn local(&mut self) -> Option<&mut [u8]> {
        Some(&mut self.local)
    }
    fn tally(&mut self, tally: &Tally) {
        self.tally.local_reads += tally.local_reads;
        self.tally.local_writes += tally.local_writes;
        self.tally.global += tally.global;
        self.tally.bytes_read += tally.bytes_read;
        self.tally.bytes_written += tally.bytes_written;
    }
    fn timestamp(&self) -> u64 {
        7
    }
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        trap.fault(PLACE.in_kernel(0, offset))
    }
}

/// The end of a thread.
pub fn end() -> Instruction {
    Instruction {
        no_mask: true,
        send: Some(Send {
            function: SharedFunction::ThreadSpawner,
            descriptor: Descriptor::Immediate(0x0200_0010),
            end_of_thread: true,
        }),
        sources: [grf(112, DataType::Ud, 8), Operand::None, Operand::None],
        ..Instruction::new(Opcode::Send, 8)
    }
}

pub fn decode(body: &[Instruction]) -> Kernel {
    kernel(0, 0, |offset| {
        match usize::try_from(offset).ok().and_then(|offset| body.get(offset / 16)) {
            Some(instruction) => Fetched::Instruction(Box::new(*instruction)),
            None => Fetched::Garbage("after the end".into()),
        }
    })
}

/// Appends the end of the thread to the instructions and runs them, see [`run_from`].
pub fn run(body: &[Instruction], mask: u32, setup: impl Fn(&mut Thread)) -> Result<Thread, Fault> {
    run_with(body, mask, 0, setup)
}

/// Does the same as [`run`], with `control` as the initial value of `cr0.0`.
pub fn run_with(
    body: &[Instruction],
    mask: u32,
    control: u32,
    setup: impl Fn(&mut Thread),
) -> Result<Thread, Fault> {
    let mut body = body.to_vec();
    body.push(end());
    let launch = Launch { dispatch_mask: mask, vector_mask: mask, control, ..Launch::default() };
    let mut thread = Thread::new(&launch);
    setup(&mut thread);
    run_from(&body, &thread)
}

/// Runs the instructions in four ways: compiled, in one run on the fast path, one instruction at a
/// time on the fast path, and one instruction at a time on the general path. All must give the same
/// registers and accumulators, or the same fault.
pub fn run_from(body: &[Instruction], start: &Thread) -> Result<Thread, Fault> {
    let mut kernel = decode(body);
    let whole = |kernel: &Kernel| {
        let (mut thread, mut world) = (start.clone(), World::new());
        thread.run(kernel, &mut world).map(|_| (thread, world))
    };
    let fast = whole(&kernel);
    let compiled = {
        let mut kernel = kernel.clone();
        kernel.compilation = Compilation::at_once();
        whole(&kernel)
    };
    let slow = |kernel: &Kernel| {
        let (mut thread, mut world) = (start.clone(), World::new());
        loop {
            match thread.step(kernel, &mut world) {
                Err(fault) => return Err(fault),
                Ok(Some(Stop::End)) => return Ok((thread, world)),
                Ok(Some(stop)) => return Err(thread.stuck(stop, kernel, &world)),
                Ok(None) => {}
            }
        }
    };
    let stepped = slow(&kernel);
    for uop in &mut kernel.uops {
        uop.plan = Plan::NONE;
    }
    let general = slow(&kernel);
    for (what, other) in
        [("machine code", &compiled), ("fast path", &fast), ("fast path in single steps", &stepped)]
    {
        match (other, &general) {
            (Ok((other, world)), Ok((general, expected))) => {
                let same = other.regs.bytes()[..] == general.regs.bytes()[..];
                let accumulators = |thread: &Thread| {
                    [0, 1].map(|n| {
                        (0..8)
                            .map(move |c| 32 * n + 4 * c)
                            .map(|at| thread.acc.bits(at, 4))
                            .collect::<Vec<_>>()
                    })
                };
                assert!(
                    same && accumulators(other) == accumulators(general),
                    "{what} and general path differ: {body:?}"
                );
                assert!(
                    other.executed() == general.executed() && world == expected,
                    "{what}: {body:?}"
                );
            }
            (other, general) => {
                assert_eq!(other.as_ref().err(), general.as_ref().err(), "{what}: {body:?}")
            }
        }
    }
    fast.map(|(thread, _)| thread)
}

pub fn grf(number: u8, ty: DataType, size: u8) -> Operand {
    Operand::Register(Source::new(Register::grf(number), ty, Region::packed(size)))
}

pub fn immediate(ty: DataType, bits: u64) -> Operand {
    Operand::Immediate(Immediate { ty, bits })
}

pub fn alu(opcode: Opcode, size: u8, ty: DataType, dst: u8, sources: &[Operand]) -> Instruction {
    let mut all = [Operand::None; 3];
    all[..sources.len()].copy_from_slice(sources);
    Instruction {
        destination: Some(Destination::new(Register::grf(dst), ty)),
        sources: all,
        ..Instruction::new(opcode, size)
    }
}

/// The `size` bytes at byte `offset` of register `number`, as a number.
pub fn read(thread: &Thread, number: usize, offset: usize, size: usize) -> u64 {
    let at = 32 * number + offset;
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&thread.regs.grf()[at..at + size]);
    u64::from_le_bytes(bytes)
}

/// Writes the low `size` bytes of `value` at byte `offset` of register `number`.
pub fn write(thread: &mut Thread, number: usize, offset: usize, size: usize, value: u64) {
    let at = 32 * number + offset;
    thread.regs.grf_mut()[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// Assembles a kernel in IGA's syntax.
#[track_caller]
pub fn assemble(text: &str) -> Assembly {
    genxml_eu::asm::assemble(text, Syntax::Iga, &Options::default()).unwrap_or_else(|errors| {
        panic!("{text}\n{}", errors.iter().map(|e| e.to_string() + "\n").collect::<String>())
    })
}

/// A session with a thread of the kernel, which begins at `ip` [`IP_BASE`].
pub fn session<'a>(bytes: &'a [u8], launch: &Launch) -> Session<impl FnMut(i32) -> Fetched + 'a> {
    Session::new(launch, IP_BASE, |offset| fetch_from(bytes, offset))
}

/// The value of `ip` at the first instruction of a [`session`].
pub const IP_BASE: u32 = 0x1000;

/// Runs the kernel whose code is `bytes`, once at full speed and once instruction by instruction
/// with a watcher. Both runs must agree. Returns the thread and the reason why it stopped.
pub fn play(
    bytes: &[u8],
    launch: &Launch,
    setup: impl Fn(&mut Thread),
) -> Result<(Thread, Halt), Fault> {
    let once = |watched: bool| {
        let mut session = session(bytes, launch);
        setup(&mut session.thread);
        let mut world = Alone::default();
        let mut count = 0u64;
        let halt = match watched {
            true => session.run(&mut world, LIMIT, &mut |_: &Executed<'_>| count += 1)?,
            false => session.run(&mut world, LIMIT, &mut ())?,
        };
        assert!(!watched || count == session.thread.executed(), "the watcher saw {count}, not all");
        Ok((session.thread, halt))
    };
    let (free, stepped) = (once(false), once(true));
    match (&free, &stepped) {
        (Ok((a, halted)), Ok((b, stopped))) => {
            assert_eq!(halted, stopped);
            assert_eq!(a.executed(), b.executed());
            assert!(a.regs.bytes()[..] == b.regs.bytes()[..], "a watcher changes the result");
        }
        (a, b) => assert_eq!(a.as_ref().err(), b.as_ref().err()),
    }
    free
}

/// Maximum number of instructions of [`play`].
pub const LIMIT: u64 = 400_000;

/// The end of a thread, in IGA's syntax.
pub const END: &str = "(W) send (8|M0) null r112:ud 0x27 0x02000010 {EOT}\n";
