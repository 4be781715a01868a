//! Decodes and encodes rows of elements: formats with specialised code, and one format with the
//! general code.

use divan::Bencher;
use divan::counter::ItemsCount;
use genxml::gen8::state::SurfaceFormat;
use genxml_sim::surface::Codec;

fn main() {
    divan::main();
}

const ELEMENTS: usize = 4096;

const FORMATS: [SurfaceFormat; 7] = [
    SurfaceFormat::R8G8B8A8_UNORM,
    SurfaceFormat::B8G8R8A8_UNORM_SRGB,
    SurfaceFormat::B5G6R5_UNORM,
    SurfaceFormat::R10G10B10A2_UNORM,
    SurfaceFormat::R16G16B16A16_FLOAT,
    SurfaceFormat::R32G32B32A32_FLOAT,
    // Uses the general code, which reads the description of the format.
    SurfaceFormat::R16G16B16A16_SNORM,
];

fn bytes(codec: &Codec) -> Vec<u8> {
    (0..ELEMENTS * codec.format().bytes() as usize).map(|n| ((n * 37) >> 3) as u8).collect()
}

#[divan::bench(args = FORMATS)]
fn decode(bencher: Bencher, format: SurfaceFormat) {
    let codec = Codec::of(format).expect("a format");
    let (bytes, mut values) = (bytes(codec), vec![[0; 4]; ELEMENTS]);
    bencher.counter(ItemsCount::new(ELEMENTS)).bench_local(|| {
        codec.decode(divan::black_box(&bytes), &mut values);
    });
}

#[divan::bench(args = FORMATS)]
fn encode(bencher: Bencher, format: SurfaceFormat) {
    let codec = Codec::of(format).expect("a format");
    let (mut bytes, mut values) = (bytes(codec), vec![[0; 4]; ELEMENTS]);
    codec.decode(&bytes, &mut values);
    bencher.counter(ItemsCount::new(ELEMENTS)).bench_local(|| {
        codec.encode(divan::black_box(&values), 0xf, &mut bytes);
    });
}
