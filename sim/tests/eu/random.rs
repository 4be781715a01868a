//! Kernels of random bits: they end, with or without a fault, and never panic.

use crate::eu::support::{World, decode, session};
use genxml_eu::decode::decode as decode_instruction;
use genxml_eu::ops::{OPS, Opcode};
use genxml_sim::eu::debug::{Alone, Executed, Halt};
use genxml_sim::eu::{Launch, Thread};
use genxml_testkit::Random;
use proptest::prelude::*;

/// Random instructions, about half of them with a real opcode and without compaction. Nearly all
/// others are refused at once.
fn dwords() -> impl Strategy<Value = Vec<[u32; 4]>> {
    let instruction = (any::<[u32; 4]>(), 0x01u8..0x7f).prop_map(|(mut dwords, code)| {
        if Opcode::from_code(code).is_some() {
            dwords[0] = dwords[0] & !0x2000_00ff | u32::from(code);
        }
        dwords
    });
    prop::collection::vec(instruction, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn never_panics(code in dwords(), mask: u32, control: u32, payload in prop::collection::vec(any::<u8>(), 4096)) {
        let instructions: Vec<_> = code.iter().filter_map(|dwords| decode_instruction(dwords).ok()).collect();
        let kernel = decode(&instructions);
        let launch = Launch { dispatch_mask: mask, vector_mask: mask, control, payload, ..Launch::default() };
        let _ = Thread::new(&launch).run(&kernel, &mut World { steps: 500, ..World::new() });
        // Run each instruction again on its own: a fault of the first one hides the others.
        for instruction in &instructions {
            let kernel = decode(&[*instruction, crate::eu::support::end()]);
            let _ = Thread::new(&launch).run(&kernel, &mut World { steps: 4, ..World::new() });
        }
    }
}

/// Random instructions. They do not use proptest, so that ten million of them cost little more than
/// their execution.
trait Instructions {
    /// An instruction of random bits, mostly with a real operation, and often one that can be
    /// executed.
    fn instruction(&mut self) -> [u8; 16];
}

impl Instructions for Random {
    fn instruction(&mut self) -> [u8; 16] {
        let (low, high) = (self.bits(), self.bits());
        let mut bits = u128::from(low) | u128::from(high) << 64;
        let choice = self.bits();
        if !choice.is_multiple_of(16) {
            let code = OPS[(choice >> 8) as usize % OPS.len()].code;
            bits = bits & !0xff | u128::from(code);
        }
        if choice >> 32 & 3 != 0 {
            // Leave out reserved values, indirect operands and operands outside the general
            // registers. The instruction is not compacted, in Align1, has at most eight channels,
            // and its sizes, types, conditions, predicates and regions exist.
            const LEFT_OUT: [u32; 22] = [
                8, 15, 19, 23, 27, 29, 36, 40, 42, 46, 60, 63, 76, 79, 84, 87, 88, 108, 111, 116,
                119, 120,
            ];
            bits = LEFT_OUT.iter().fold(bits, |bits, bit| bits & !(1 << bit));
            bits |= 1 << 35 | 1 << 41 | 1 << 61 | 1 << 89;
        }
        if choice >> 48 & 3 == 0 {
            // Give jumps distances that lead to another instruction.
            let distance = |bits: u64| ((bits % 17) as i32 - 8) * 8;
            let (jip, uip) = (distance(choice >> 50) as u32, distance(choice >> 56) as u32);
            bits = bits & u128::from(u64::MAX) | u128::from(uip) << 64 | u128::from(jip) << 96;
        }
        bits.to_le_bytes()
    }
}

/// Each random instruction is the first one of a thread, which then executes at most 200
/// instructions. `EU_RANDOM_INSTRUCTIONS` sets the number of threads; 10 million were run.
#[test]
fn random_instructions_end_in_order() {
    let wanted = std::env::var("EU_RANDOM_INSTRUCTIONS").ok().and_then(|count| count.parse().ok());
    let wanted: u64 = wanted.unwrap_or(40_000);
    const BLOCK: usize = 8;
    let mut random = Random::new(wanted);
    let (mut started, mut executed, mut faults, mut endless) = (0u64, 0u64, 0u64, 0u64);
    while started < wanted {
        let code: Vec<u8> = (0..BLOCK).flat_map(|_| random.instruction()).collect();
        let payload: Vec<u8> = (0..512).flat_map(|_| random.bits().to_le_bytes()).collect();
        let launch = Launch {
            dispatch_mask: random.bits() as u32,
            vector_mask: random.bits() as u32,
            control: random.bits() as u32 & 0x84ff,
            exceptions: random.bits() as u32 & 0xffff,
            system_routine: (random.bits() & 1 == 0)
                .then(|| crate::eu::support::IP_BASE + 8 * (random.bits() as u32 % 16)),
            payload,
            ..Launch::default()
        };
        for first in 0..BLOCK {
            let mut session = session(&code[16 * first..], &launch);
            let mut world = Alone::default();
            let halt = match started % 4 {
                0 => session.run(&mut world, 200, &mut |executed: &Executed<'_>| {
                    for write in executed.writes {
                        assert!(!write.location.name(write.ty.size()).is_empty());
                    }
                }),
                _ => session.run(&mut world, 200, &mut ()),
            };
            started += 1;
            executed += session.thread.executed();
            faults += u64::from(halt.is_err());
            endless += u64::from(matches!(halt, Ok(Halt::Limit)));
        }
    }
    println!(
        "{started} threads, {executed} instructions; {faults} faults, {endless} stopped by the watchdog"
    );
    assert!(faults < started && endless > 0 && executed > started / 4);
}
