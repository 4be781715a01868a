//! Runs the checks of tests/random.rs on bytes that libFuzzer chooses: the first sixteen as an
//! instruction, all of them as a kernel.
#![no_main]

use genxml_testkit::instructions::{exercise, exercise_kernel};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut text = String::new();
    let mut dwords = [0; 4];
    for (dword, four) in dwords.iter_mut().zip(bytes.chunks_exact(4)) {
        *dword = four.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    }
    exercise(dwords, &mut text);
    exercise_kernel(bytes, &mut text);
});
