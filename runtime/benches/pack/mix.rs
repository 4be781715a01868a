//! Packing the mix from structs in memory, with generated and with hand-written code.

use crate::data::{COUNT, typed};
use crate::hand;
use divan::{Bencher, black_box, counter::ItemsCount};
use genxml::core::Entries;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDStateVertexElements, VertexElementState,
};
use genxml::gen8::render3d_pixel::{BlendState, ThreeDStatePs};
use genxml::gen8::render3d_raster::ThreeDStateSbe;
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::state::{RenderSurfaceState, SamplerState};
use std::time::{Duration, Instant};

/// Packs every item into its own element of `out`.
#[inline(always)]
fn each<T, const N: usize>(items: &[T], out: &mut [[u32; N]], pack: impl Fn(&T) -> [u32; N]) {
    each_in_place(items, out, |item, out| *out = pack(item));
}

/// As [`each`], but `pack` writes to the element. It writes several packets, as a driver writes
/// them to its batch.
#[inline(always)]
fn each_in_place<T, const N: usize>(
    items: &[T],
    out: &mut [[u32; N]],
    pack: impl Fn(&T, &mut [u32; N]),
) {
    for (item, out) in items.iter().zip(out) {
        pack(item, out);
    }
}

/// Defines the benchmarks of the packets of fixed length, generated and by hand, and of the mix.
macro_rules! packets {
    ($($name:ident $generated:ident $hand:ident;)*) => {
        mod generated {
            use super::*;
            $(#[divan::bench]
            fn $name(bencher: Bencher) {
                let (items, mut out) = (typed::<$generated>(1), [[0; $generated::DWORDS]; COUNT]);
                bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
                    each(black_box(&items), black_box(&mut out), $generated::pack);
                });
            })*
        }
        mod by_hand {
            use super::*;
            $(#[divan::bench]
            fn $name(bencher: Bencher) {
                let items: Vec<_> = typed::<$generated>(1).iter().map(hand::$hand::from).collect();
                let mut out = [[0; $generated::DWORDS]; COUNT];
                bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
                    each(black_box(&items), black_box(&mut out), hand::$hand::pack);
                });
            })*
        }

        /// One packet of each kind.
        struct Generated { $($name: $generated,)* elements: [VertexElementState; 4] }
        struct ByHand { $($name: hand::$hand,)* elements: [hand::Element; 4] }

        impl Generated {
            fn all() -> Vec<Generated> {
                $(let mut $name = typed::<$generated>(1).into_iter();)*
                let mut elements = quads().into_iter();
                std::iter::from_fn(|| Some(Generated { $($name: $name.next()?,)* elements: elements.next()? })).collect()
            }

            #[inline(always)]
            fn pack(&self, out: &mut [u32; DWORDS]) {
                let mut end = 0;
                $(end = put(out, end, self.$name.pack());)*
                let _ = ThreeDStateVertexElements { element: Entries::from(&self.elements) }.pack_into(&mut out[end..]);
            }
        }

        impl ByHand {
            #[inline(always)]
            fn pack(&self, out: &mut [u32; DWORDS]) {
                let mut end = 0;
                $(end = put(out, end, self.$name.pack());)*
                put(out, end, hand::vertex_elements(&self.elements));
            }
        }

        impl From<&Generated> for ByHand {
            fn from(from: &Generated) -> Self {
                ByHand {
                    $($name: (&from.$name).into(),)*
                    elements: from.elements.each_ref().map(hand::Element::from),
                }
            }
        }

        /// Prints the time of every packet, generated and by hand, and their ratio. Both are
        /// measured in turns, and the best of many rounds counts, so that other work of the
        /// machine affects neither.
        pub fn table() {
            println!("{:<24} {:>6} {:>10} {:>10} {:>7}", "", "dwords", "generated", "by hand", "ratio");
            let row = |name: &str, dwords: usize, (generated, hand): (f64, f64)| {
                println!("{name:<24} {dwords:>6} {generated:>7.2} ns {hand:>7.2} ns {:>7.2}", generated / hand);
            };
            $({
                let items = typed::<$generated>(1);
                let by_hand: Vec<_> = items.iter().map(hand::$hand::from).collect();
                let (mut one, mut two) = ([[0; $generated::DWORDS]; COUNT], [[0; $generated::DWORDS]; COUNT]);
                let times = compare(
                    || each(black_box(&items), black_box(&mut one), $generated::pack),
                    || each(black_box(&by_hand), black_box(&mut two), hand::$hand::pack),
                );
                assert_eq!(one, two, "{}: the hand-written packer gives other dwords", stringify!($generated));
                row(<$generated as genxml::core::Packed>::NAME, $generated::DWORDS, times);
            })*
            {
                let items = quads();
                let by_hand: Vec<_> = items.iter().map(|quad| quad.each_ref().map(hand::Element::from)).collect();
                let (mut one, mut two) = ([[0; 9]; COUNT], [[0; 9]; COUNT]);
                let times = compare(
                    || each(black_box(&items), black_box(&mut one), vertex_elements),
                    || each(black_box(&by_hand), black_box(&mut two), hand::vertex_elements),
                );
                assert_eq!(one, two, "3DSTATE_VERTEX_ELEMENTS: the hand-written packer gives other dwords");
                row("3DSTATE_VERTEX_ELEMENTS", 9, times);
            }
            let items = Generated::all();
            let by_hand: Vec<_> = items.iter().map(ByHand::from).collect();
            println!("{:<24} {:>15} bytes {:>7} bytes", "in memory", size_of::<Generated>(), size_of::<ByHand>());
            let (mut one, mut two) = ([[0; DWORDS]; COUNT], [[0; DWORDS]; COUNT]);
            let times = compare(
                || each_in_place(black_box(&items), black_box(&mut one), Generated::pack),
                || each_in_place(black_box(&by_hand), black_box(&mut two), ByHand::pack),
            );
            assert_eq!(one, two, "the mix: the hand-written packers give other dwords");
            row("the mix", DWORDS, times);
            println!();
        }
    };
}

packets! {
    vs ThreeDStateVs Vs;
    ps ThreeDStatePs Ps;
    sbe ThreeDStateSbe Sbe;
    surface RenderSurfaceState Surface;
    sampler SamplerState Sampler;
    blend BlendState Blend;
    primitive ThreeDPrimitive Primitive;
    pipe_control PipeControl Flush;
}

/// Copies a packet to `start` and returns its end.
#[inline(always)]
fn put<const N: usize>(out: &mut [u32; DWORDS], start: usize, packet: [u32; N]) -> usize {
    out[start..start + N].copy_from_slice(&packet);
    start + N
}

/// Dwords of the mix.
const DWORDS: usize = 84;

fn quads() -> Vec<[VertexElementState; 4]> {
    let [a, b, c, d] = [2, 3, 4, 5].map(typed::<VertexElementState>);
    (0..COUNT).map(|i| [a[i], b[i], c[i], d[i]]).collect()
}

#[inline(always)]
fn vertex_elements(elements: &[VertexElementState; 4]) -> [u32; 9] {
    let mut out = [0; 9];
    let _ = ThreeDStateVertexElements { element: Entries::from(elements) }.pack_into(&mut out);
    out
}

#[divan::bench(name = "mix_generated")]
fn generated_mix(bencher: Bencher) {
    let (items, mut out) = (Generated::all(), [[0; DWORDS]; COUNT]);
    bencher
        .counter(ItemsCount::new(COUNT))
        .bench_local(|| each_in_place(black_box(&items), black_box(&mut out), Generated::pack));
}

#[divan::bench(name = "mix_by_hand")]
fn hand_mix(bencher: Bencher) {
    let items: Vec<_> = Generated::all().iter().map(ByHand::from).collect();
    let mut out = [[0; DWORDS]; COUNT];
    bencher
        .counter(ItemsCount::new(COUNT))
        .bench_local(|| each_in_place(black_box(&items), black_box(&mut out), ByHand::pack));
}

/// Measures two functions that process `COUNT` items, in turns. Returns the nanoseconds per item of
/// each, the best of many rounds.
fn compare(mut one: impl FnMut(), mut two: impl FnMut()) -> (f64, f64) {
    const ROUNDS: usize = 2000;
    const REPEAT: u32 = 16;
    let time = |way: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..REPEAT).for_each(|_| way());
        start.elapsed()
    };
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        best = [best[0].min(time(&mut one)), best[1].min(time(&mut two))];
    }
    let [one, two] = best.map(|time| time.as_nanos() as f64 / f64::from(REPEAT) / COUNT as f64);
    (one, two)
}
