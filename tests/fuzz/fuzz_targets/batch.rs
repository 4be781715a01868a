#![no_main]

#[path = "../targets/mod.rs"]
#[allow(dead_code, reason = "the other targets")]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::batch(data));
