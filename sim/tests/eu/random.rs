//! Kernels of random bits: they end, in order or with a fault, and never panic.

use crate::support::{World, decode};
use genxml_eu::decode::decode as decode_instruction;
use genxml_eu::ops::Opcode;
use genxml_sim::eu::{Launch, Thread};
use proptest::prelude::*;

/// Random dwords with a real opcode and a plausible size, since nearly all others are refused at once.
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
        let _ = Thread::new(&launch).run(&kernel, &mut World { steps: 500 });
        // Once more instruction by instruction: a fault of the first would hide the others.
        for instruction in &instructions {
            let kernel = decode(&[*instruction, crate::support::end()]);
            let _ = Thread::new(&launch).run(&kernel, &mut World { steps: 4 });
        }
    }
}
