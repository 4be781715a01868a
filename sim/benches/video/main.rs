//! Measures video by packets: pixels per second of video enhancement, macroblocks per second of the
//! encoders. `cargo bench -p genxml-codecs -p genxml-sim --bench video` also measures the decoders.

mod encode;
mod enhance;

use genxml::core::U;

/// Address of the batches.
const BATCH: u64 = 0x10_0000;

fn main() {
    divan::main();
}

fn number<const N: u32>(value: u64) -> U<N> {
    U::new(value).unwrap()
}
