//! Packs one of every container of a fixed size from structs in memory. Reports bytes per second
//! over the whole specification. `cargo bench -p genxml-tests --bench pack_all`
//!
//! `once` runs through some 80 KiB of code, more than the instruction cache holds, so the speed of
//! instruction fetch limits it. `again` packs each container several times before the next one, as
//! a program does that fills arrays of state.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use genxml_core::Fixed;
use genxml_testkit::Random;

fn main() {
    println!("{} bytes from structs of {}", 4 * DWORDS, size_of::<OneOfEach>());
    divan::main();
}

macro_rules! one_of_each {
    ($($name:ident $type:ty,)*) => {
        /// One of each container.
        struct OneOfEach { $($name: $type,)* }

        /// Number of dwords of all containers.
        const DWORDS: usize = 0 $(+ <$type as Fixed>::DWORDS)*;

        impl OneOfEach {
            /// Unpacks all containers from dwords.
            fn read(mut dwords: impl FnMut() -> Vec<u32>) -> Box<Self> {
                Box::new(OneOfEach { $($name: <$type>::read_lossy(&dwords()),)* })
            }

            /// Packs each container `TIMES` times.
            #[inline(never)]
            fn again(&self, out: &mut [u32; DWORDS]) {
                let mut end = 0;
                $(for _ in 0..TIMES {
                    put(black_box(&mut *out), end, black_box(&self.$name));
                }
                end += <$type as Fixed>::DWORDS;)*
                let _ = end;
            }

            #[inline(never)]
            fn pack(&self, out: &mut [u32; DWORDS]) {
                let mut end = 0;
                $(end = put(out, end, &self.$name);)*
                let _ = end;
            }
        }
    };
}
include!(concat!(env!("OUT_DIR"), "/one_of_each.rs"));

/// Writes a container to `start` and returns its end.
#[inline(always)]
fn put<T: Fixed>(out: &mut [u32; DWORDS], start: usize, container: &T) -> usize {
    start + container.write(&mut out[start..]).unwrap_or(0)
}

/// Number of times that `again` packs each container.
const TIMES: usize = 16;

/// Containers whose fields have varied values.
fn varied() -> Box<OneOfEach> {
    let mut random = Random::new(1);
    OneOfEach::read(|| random.dwords(1024))
}

#[divan::bench(sample_size = 50)]
fn once(bencher: Bencher) {
    let (all, mut out) = (varied(), Box::new([0; DWORDS]));
    bencher
        .counter(BytesCount::new(4 * DWORDS))
        .bench_local(|| black_box(&all).pack(black_box(&mut out)));
}

#[divan::bench]
fn again(bencher: Bencher) {
    let (all, mut out) = (varied(), Box::new([0; DWORDS]));
    let bytes = BytesCount::new(4 * DWORDS * TIMES);
    bencher.counter(bytes).bench_local(|| black_box(&all).again(black_box(&mut out)));
}
