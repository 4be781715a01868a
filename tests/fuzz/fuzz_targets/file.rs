#![no_main]

use genxml_testkit::readers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| readers::file(data));
