//! Time to unpack packets, strictly and as hardware does, and speed of typed iteration in bytes of
//! batch per second. `cargo bench -p genxml --bench unpack`
//!
//! Each benchmark reads 64 packets of each kind in turn. They hold random values that strict
//! readers accept.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use genxml::core::bits::{ones, put};
use genxml::core::packet::Fixed;
use genxml::core::reflect::Container;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDStateVertexElements, VertexElementState,
};
use genxml::gen8::render3d_pixel::{BlendState, ThreeDStatePs};
use genxml::gen8::render3d_raster::ThreeDStateSbe;
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::state::{RenderSurfaceState, SamplerState};
use genxml_testkit::Random;

fn main() {
    divan::main();
}

/// Reads per sample: many, so that the time to read the clock does not matter.
const SAMPLE: u32 = 1000;

/// Number of packets of each kind; a power of two.
const KINDS: usize = 64;

/// Well-formed packets of random values.
trait Packets {
    fn packet<T: Fixed>(&mut self) -> T::Dwords;
    fn restrict(&mut self, info: &Container, dwords: &mut [u32]);
}

impl Packets for Random {
    /// A well-formed container: random dwords that are read and packed again. Before that, each
    /// field with a range gets a value in its range.
    fn packet<T: Fixed>(&mut self) -> T::Dwords {
        loop {
            let mut dwords = vec![0u32; T::DWORDS];
            dwords.iter_mut().for_each(|dword| *dword = self.bits() as u32);
            self.restrict(T::INFO, &mut dwords);
            let packed = T::read_lossy(&dwords).to_dwords();
            if T::from_dwords(&packed).is_ok() {
                return packed;
            }
        }
    }

    fn restrict(&mut self, info: &Container, dwords: &mut [u32]) {
        for field in info.fields {
            let Some((min, max)) = field.range else { continue };
            for bit in field.start..=field.end {
                dwords[(bit / 32) as usize] &= !(1 << (bit % 32));
            }
            let span = max.wrapping_sub(min) & ones(field.end - field.start + 1);
            let value = min.wrapping_add(self.bits() % span.saturating_add(1));
            put(dwords, field.start, field.end, value & ones(field.end - field.start + 1));
        }
    }
}

/// 64 packets of one type.
struct Samples<T: Fixed>(Vec<T::Dwords>);

impl<T: Fixed> Samples<T> {
    fn new(random: &mut Random) -> Self {
        Samples((0..KINDS).map(|_| random.packet::<T>()).collect())
    }

    #[inline(always)]
    fn read<const STRICT: bool>(&self, index: usize) {
        let dwords = black_box(&self.0[index % KINDS]);
        if STRICT {
            _ = black_box(&T::from_dwords(dwords));
        } else {
            black_box(&T::from_dwords_lossy(dwords));
        }
    }
}

/// The mix of packets: 336 bytes.
struct Mix {
    vs: Samples<ThreeDStateVs>,
    ps: Samples<ThreeDStatePs>,
    sbe: Samples<ThreeDStateSbe>,
    surface: Samples<RenderSurfaceState>,
    sampler: Samples<SamplerState>,
    blend: Samples<BlendState>,
    primitive: Samples<ThreeDPrimitive>,
    pipe_control: Samples<PipeControl>,
    elements: Vec<[u32; 9]>,
}

const MIX_BYTES: usize = 4 * (9 + 12 + 4 + 16 + 4 + 17 + 7 + 6 + 9);

impl Mix {
    fn new() -> Self {
        let random = &mut Random::new(1);
        let elements = (0..KINDS).map(|_| {
            let element = [(); 4]
                .map(|()| VertexElementState::read_lossy(&random.packet::<VertexElementState>()));
            let mut dwords = [0; 9];
            let packet = ThreeDStateVertexElements { element: (&element).into() };
            assert_eq!(packet.pack_into(&mut dwords), Ok(9));
            dwords
        });
        let elements = elements.collect();
        Mix {
            vs: Samples::new(random),
            ps: Samples::new(random),
            sbe: Samples::new(random),
            surface: Samples::new(random),
            sampler: Samples::new(random),
            blend: Samples::new(random),
            primitive: Samples::new(random),
            pipe_control: Samples::new(random),
            elements,
        }
    }

    #[inline(always)]
    fn read<const STRICT: bool>(&self, index: usize) {
        self.vs.read::<STRICT>(index);
        self.ps.read::<STRICT>(index);
        self.sbe.read::<STRICT>(index);
        self.surface.read::<STRICT>(index);
        self.sampler.read::<STRICT>(index);
        self.blend.read::<STRICT>(index);
        self.primitive.read::<STRICT>(index);
        self.pipe_control.read::<STRICT>(index);
        self.read_elements::<STRICT>(index);
    }

    /// Reads all four elements. The packet decodes an element when `get` is called.
    #[inline(always)]
    fn read_elements<const STRICT: bool>(&self, index: usize) {
        let dwords = black_box(&self.elements[index % KINDS][..]);
        let packet = match STRICT {
            true => ThreeDStateVertexElements::unpack(dwords),
            false => Ok(ThreeDStateVertexElements::unpack_lossy(dwords)),
        };
        if let Ok(packet) = packet {
            for index in 0..4 {
                black_box(&packet.element.get(index));
            }
        }
    }
}

/// Measures `read`. Its argument is the number of earlier calls.
fn counted(bencher: Bencher, bytes: usize, mut read: impl FnMut(usize)) {
    let mut index = 0usize;
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        read(index);
        index = index.wrapping_add(1);
    });
}

#[divan::bench(sample_size = SAMPLE)]
fn mix_lossy(bencher: Bencher) {
    let mix = Mix::new();
    counted(bencher, MIX_BYTES, |index| mix.read::<false>(index));
}

#[divan::bench(sample_size = SAMPLE)]
fn mix_strict(bencher: Bencher) {
    let mix = Mix::new();
    counted(bencher, MIX_BYTES, |index| mix.read::<true>(index));
}

/// Each kind of packet in the mix by itself.
mod alone {
    use super::*;

    macro_rules! alone {
        ($($name:ident: $field:ident, $dwords:literal;)*) => {$(
            mod $name {
                use super::*;

                #[divan::bench(sample_size = SAMPLE)]
                fn lossy(bencher: Bencher) {
                    let mix = Mix::new();
                    counted(bencher, 4 * $dwords, |index| mix.$field.read::<false>(index));
                }

                #[divan::bench(sample_size = SAMPLE)]
                fn strict(bencher: Bencher) {
                    let mix = Mix::new();
                    counted(bencher, 4 * $dwords, |index| mix.$field.read::<true>(index));
                }
            }
        )*};
    }
    alone! {
        threed_state_vs: vs, 9;
        threed_state_ps: ps, 12;
        threed_state_sbe: sbe, 4;
        render_surface_state: surface, 16;
        sampler_state: sampler, 4;
        blend_state: blend, 17;
        threed_primitive: primitive, 7;
        pipe_control: pipe_control, 6;
    }

    mod threed_state_vertex_elements {
        use super::*;

        #[divan::bench(sample_size = SAMPLE)]
        fn lossy(bencher: Bencher) {
            let mix = Mix::new();
            counted(bencher, 36, |index| mix.read_elements::<false>(index));
        }

        #[divan::bench(sample_size = SAMPLE)]
        fn strict(bencher: Bencher) {
            let mix = Mix::new();
            counted(bencher, 36, |index| mix.read_elements::<true>(index));
        }
    }
}

/// A batch of 4 MiB: packets of the mix, and others that drivers emit between them, in random
/// order.
fn batch() -> Vec<u32> {
    use genxml::gen8::mi::{MiLoadRegisterImm, MiLoadRegisterImmRegister, MiNoop, MiStoreDataImm};
    use genxml::gen8::render3d_binding::ThreeDStateBindingTablePointersVs;
    use genxml::gen8::render3d_constants::ThreeDStateConstantVs;
    use genxml::gen8::state::StateBaseAddress;
    let mut out = Vec::new();
    let random = &mut Random::new(2);
    let mut buffer = [0; 64];
    while out.len() < 1 << 20 {
        macro_rules! one {
            ($type:ty) => {
                out.extend_from_slice(&random.packet::<$type>())
            };
        }
        match random.bits() % 14 {
            0 => one!(ThreeDStateVs),
            1 => one!(ThreeDStatePs),
            2 => one!(ThreeDStateSbe),
            3 => one!(ThreeDPrimitive),
            4 | 5 => one!(PipeControl),
            6 => one!(StateBaseAddress),
            7 | 8 => one!(ThreeDStateBindingTablePointersVs),
            9 => one!(ThreeDStateConstantVs),
            10 => one!(MiNoop),
            11 => {
                let pairs = [(); 3].map(|()| MiLoadRegisterImmRegister {
                    register_offset: genxml::core::Address::from_bits(random.bits() & 0x7f_fffc),
                    data_dword: genxml::core::U::from_bits(random.bits()),
                });
                let count = random.bits() as usize % 3 + 1;
                let packet =
                    MiLoadRegisterImm { register: (&pairs[..count]).into(), ..Default::default() };
                let length = packet.pack_into(&mut buffer).expect("the buffer is large enough");
                out.extend_from_slice(&buffer[..length]);
            }
            12 => {
                let address = genxml::core::Address::from_bits(random.bits());
                let values = [genxml::core::U::from_bits(7)];
                let packet =
                    MiStoreDataImm { data_dword: (&values).into(), ..MiStoreDataImm::new(address) };
                let length = packet.pack_into(&mut buffer).expect("the buffer is large enough");
                out.extend_from_slice(&buffer[..length]);
            }
            _ => {
                let element = [(); 4].map(|()| {
                    VertexElementState::read_lossy(&random.packet::<VertexElementState>())
                });
                let packet = ThreeDStateVertexElements { element: (&element).into() };
                let length = packet.pack_into(&mut buffer).expect("the buffer is large enough");
                out.extend_from_slice(&buffer[..length]);
            }
        }
    }
    out
}

/// Typed iteration over a large batch.
mod iterate {
    use super::*;
    use divan::counter::ItemsCount;
    use genxml::gen8::RenderPacket;

    fn over(bencher: Bencher, dwords: &[u32], read: impl Fn(&[u32]) -> u64) {
        let packets = RenderPacket::iter(dwords).count();
        bencher
            .counter(BytesCount::new(4 * dwords.len()))
            .counter(ItemsCount::new(packets))
            .bench_local(|| read(black_box(dwords)));
    }

    /// Finds each packet, and matches on its type.
    #[divan::bench]
    fn matching(bencher: Bencher) {
        over(bencher, &batch(), |dwords| {
            let mut sum = 0;
            for item in RenderPacket::iter(dwords) {
                sum += match item {
                    Ok(item) => match item.packet {
                        RenderPacket::ThreeDPrimitive(packet) => packet.dwords().len() as u64,
                        RenderPacket::PipeControl(_) => 2,
                        RenderPacket::ThreeDStateVs(_) => 3,
                        _ => 4,
                    },
                    Err(error) => error.skipped as u64,
                };
            }
            sum
        });
    }

    /// Finds each packet, and unpacks those of three types.
    #[divan::bench]
    fn unpacking_three_kinds(bencher: Bencher) {
        over(bencher, &batch(), |dwords| {
            let mut sum = 0;
            for item in RenderPacket::iter(dwords).flatten() {
                sum += match item.packet {
                    RenderPacket::ThreeDPrimitive(packet) => {
                        packet.unpack_lossy().vertex_count_per_instance.get()
                    }
                    RenderPacket::PipeControl(packet) => packet.unpack_lossy().address.get(),
                    RenderPacket::ThreeDStateVs(packet) => {
                        packet.unpack_lossy().scratch_space_base_pointer.get()
                    }
                    _ => 0,
                };
            }
            sum
        });
    }

    /// Checks every bit of each packet.
    #[divan::bench]
    fn strict(bencher: Bencher) {
        over(bencher, &batch(), |dwords| {
            RenderPacket::iter(dwords).strict().flatten().count() as u64
        });
    }
}
