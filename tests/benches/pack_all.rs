//! Packs one of every container of a known size out of structs in memory: bytes per second over the
//! whole specification. `cargo bench -p genxml-tests --bench pack_all`
//!
//! `once` runs straight through some 80 KiB of code, more than the instruction cache holds: it is
//! bound by fetching it. `again` packs each container several times before the next, as a program
//! does that fills arrays of state.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use genxml_core::Fixed;
use genxml_testkit::Random;

fn main() {
    println!("{} bytes out of structs of {}", 4 * DWORDS, size_of::<OneOfEach>());
    divan::main();
}

macro_rules! one_of_each {
    ($($name:ident $type:ty,)*) => {
        /// One of each.
        struct OneOfEach { $($name: $type,)* }

        /// Dwords of all.
        const DWORDS: usize = 0 $(+ <$type as Fixed>::DWORDS)*;

        impl OneOfEach {
            /// Values of all fields, made by the readers out of dwords.
            fn read(mut dwords: impl FnMut() -> Vec<u32>) -> Box<Self> {
                Box::new(OneOfEach { $($name: <$type>::read_lossy(&dwords()),)* })
            }

            /// Each container `TIMES` times.
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

/// How often `again` packs each.
const TIMES: usize = 16;

/// Values with every field varied.
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
