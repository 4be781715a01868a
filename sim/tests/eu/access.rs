//! What instructions read and write ([`access`]). Oracle: execution. A random instruction runs
//! twice. Before the second run, everything that a channel does not read, by its description, gets
//! other contents. The channel must write the same values in both runs, and nothing outside of the
//! described writes may change.

use crate::eu::case::{self, Case};
use crate::eu::support::{PLACE, decode, end};
use genxml_eu::ops::{Format, Opcode};
use genxml_eu::signature::{Combination, combinations};
use genxml_sim::Fault;
use genxml_sim::eu::access::{self, Access, CELLS, Part};
use genxml_sim::eu::regions::{
    A0, ACC_FILE, CE0, FILE_BYTES, FLAGS, GRF_BYTES, IP, REGISTER, Registers, TM0,
};
use genxml_sim::eu::uop::Uop;
use genxml_sim::eu::{Environment, Kernel, Launch, Message, Thread, Trap};
use genxml_testkit::Random;

/// Cases of each pair of operation and types.
const CASES: usize = 4;

/// An environment that records the mask of the first instruction.
#[derive(Default)]
struct First(Option<u32>);

impl Environment for First {
    fn step(&mut self, _: u32, mask: u32) -> Result<(), Fault> {
        self.0.get_or_insert(mask);
        Ok(())
    }
    fn send(&mut self, _: &mut Registers, _: &Message) -> Result<(), Fault> {
        Ok(())
    }
    fn timestamp(&self) -> u64 {
        7
    }
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        trap.fault(PLACE.in_kernel(0, offset))
    }
}

/// Runs the instruction; returns the thread after it, and the enabled channels.
fn run(kernel: &Kernel, start: &Thread) -> (Thread, u32) {
    let (mut thread, mut world) = (start.clone(), First::default());
    thread.run(kernel, &mut world).unwrap();
    (thread, world.0.unwrap_or_default())
}

/// The thread of a case, and the elements of its accumulators: size, and whether they are floats.
fn start(combination: &Combination, case: &Case) -> (Thread, (usize, bool)) {
    let launch = Launch {
        dispatch_mask: case.dispatch,
        control: case.control,
        payload: case.registers.clone(),
        ..Launch::default()
    };
    let mut thread = Thread::new(&launch);
    for (n, address) in case.addresses.iter().enumerate() {
        thread.regs.set_u16(A0 + 2 * n, *address);
    }
    thread.regs.set_flags(u64::MAX, case.flags);
    let types: Vec<_> = combination.sources.iter().flatten().copied().collect();
    let exec = case::execution(&types, combination.destination.unwrap());
    let size = usize::from(exec.size());
    for (n, value) in case.accumulators.iter().enumerate().take(ACC_FILE / size) {
        match exec.is_float() {
            true => thread.acc.set_bits(n * size, size, *value),
            false => thread.acc.set_integer(n * size, size, i128::from(*value as i64)),
        }
    }
    (thread, (size, exec.is_float()))
}

/// Other contents for everything outside of `kept`.
fn disturbed(
    thread: &Thread,
    kept: &[bool; CELLS],
    (size, float): (usize, bool),
    random: &mut Random,
) -> Thread {
    let mut other = thread.clone();
    for byte in (0..GRF_BYTES).chain(A0..A0 + REGISTER) {
        if !kept[byte] {
            other.regs.set_u8(byte, random.bits() as u8);
        }
    }
    for bit in 0..64 {
        if !Part::Flag(bit).cells().all(|cell| kept[cell]) {
            other.regs.set_flags(1 << bit, random.bits() & 1 << bit);
        }
    }
    for at in (0..ACC_FILE).step_by(size) {
        if !Part::Accumulator(at as u16, size as u8).cells().any(|cell| kept[cell]) {
            match float {
                true => other.acc.set_bits(at, size, random.bits()),
                false => other.acc.set_integer(at, size, i128::from(random.bits() as i64)),
            }
        }
    }
    other
}

/// The bits of a part after an instruction.
fn after(thread: &Thread, part: Part) -> u64 {
    match part {
        Part::Accumulator(at, size) => thread.acc.bits(at.into(), size.into()),
        _ => access::value(part, thread.regs.bytes()).unwrap_or_default(),
    }
}

/// Compares a case; returns the number of channels that were compared.
fn check(combination: &Combination, case: &Case, random: &mut Random) -> usize {
    let kernel = decode(&[case.instruction, end()]);
    let u: &Uop = &kernel.uops[0];
    let (thread, elements) = start(combination, case);
    let (result, mask) = run(&kernel, &thread);
    let file = thread.regs.bytes();

    let mut all = Access::default();
    let enabled = (0..usize::from(u.size)).filter(|channel| mask >> channel & 1 == 1);
    let enabled: Vec<usize> = enabled.collect();
    enabled.iter().for_each(|channel| access::channel(u, *channel, file, &mut all));
    access::always(u, file, &mut all);
    let mut written = [false; CELLS];
    all.writes.iter().flat_map(|part| part.cells()).for_each(|cell| written[cell] = true);
    for byte in 0..FILE_BYTES {
        let own = [IP, TM0, CE0].iter().any(|it| (*it..it + REGISTER).contains(&byte));
        if own || (FLAGS..FLAGS + 8).contains(&byte) {
            continue;
        }
        let same = file[byte] == result.regs.bytes()[byte];
        assert!(same || written[byte], "{combination}: byte {byte} changes: {}", case.instruction);
    }
    for bit in 0..64 {
        let same = (thread.regs.flags() ^ result.regs.flags()) >> bit & 1 == 0;
        let known = Part::Flag(bit).cells().all(|cell| written[cell]);
        assert!(same || known, "{combination}: flag bit {bit} changes: {}", case.instruction);
    }

    for &channel in &enabled {
        let mut own = Access::default();
        access::channel(u, channel, file, &mut own);
        let mut kept = [false; CELLS];
        let reads = own.reads.iter().map(|read| read.part).chain(access::predicate(u, channel));
        reads.flat_map(|part| part.cells()).for_each(|cell| kept[cell] = true);
        let (other, _) = run(&kernel, &disturbed(&thread, &kept, elements, random));
        for part in own.writes {
            assert_eq!(
                after(&result, part),
                after(&other, part),
                "{combination}, channel {channel}: {part:?} depends on more: {}",
                case.instruction
            );
        }
    }
    enabled.len()
}

#[test]
fn results_depend_on_the_reads_only() {
    let mut random = Random::new(11);
    let mut channels = 0;
    for combination in combinations() {
        let format = combination.opcode.op().format;
        let computes = matches!(format, Format::Basic | Format::ThreeSource | Format::Math);
        if !computes || combination.opcode == Opcode::Smov {
            continue;
        }
        for _ in 0..CASES {
            let case = case::random(&combination, &mut random);
            channels += check(&combination, &case, &mut random);
        }
    }
    println!("{channels} channels");
    assert!(channels > 15_000, "{channels} channels");
}
