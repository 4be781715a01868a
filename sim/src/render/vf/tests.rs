//! Oracle: [`Fetch::vertex`], vertex by vertex.

use super::*;
use crate::gpu::Gpu;
use crate::machine::exec::tests::with_exec;
use crate::mem::{AccessLog, PAGE};
use crate::render::vue::Vertices;
use genxml_testkit::Random;

/// Start of the vertex buffers. The page after the last one is not mapped.
const BUFFER: u64 = 0x100_0000;
const PAGES: u64 = 3;

const FORMATS: [SurfaceFormat; 8] = [
    SurfaceFormat::R32_FLOAT,
    SurfaceFormat::R32G32_SINT,
    SurfaceFormat::R32G32B32_FLOAT,
    SurfaceFormat::R32G32B32A32_UINT,
    SurfaceFormat::R8G8B8A8_UNORM,
    SurfaceFormat::R16G16_SNORM,
    SurfaceFormat::R64G64_PASSTHRU,
    SurfaceFormat::R64G64B64A64_PASSTHRU,
];
const CONTROLS: [Control; 6] = [
    Control::VFCOMP_STORE_SRC,
    Control::VFCOMP_STORE_SRC,
    Control::VFCOMP_NOSTORE,
    Control::VFCOMP_STORE_0,
    Control::VFCOMP_STORE_1_FP,
    Control::VFCOMP_STORE_1_INT,
];

fn element(random: &mut Random) -> Element {
    let mut below = |end: u64| random.below(end);
    let codec = Codec::of(FORMATS[below(8) as usize]).unwrap();
    let components = [(); 4].map(|()| CONTROLS[below(6) as usize]);
    let dword_channels = dword_channels(codec.format());
    // Half of the buffers are aligned. Some reach into the page that is not mapped.
    let unit = if below(2) == 0 { 4 } else { 1 };
    let size = if below(8) == 0 { 4 * PAGE } else { below(PAGES * PAGE + 1) };
    Element {
        buffer: (below(8) != 0).then(|| Buffer {
            address: BUFFER + below(64) * unit,
            size: size.min(PAGES * PAGE - 64 * unit + PAGE * u64::from(size > PAGES * PAGE)),
            pitch: below(64) * unit,
        }),
        offset: below(16) * unit,
        codec,
        wide: codec.format().channels()[0].encoding == Encoding::Passthru,
        components,
        step: (below(6) == 0).then(|| below(3) as u32),
        dword_channels,
        missing: match dword_channels {
            Some(count) => codec.decode_one(&[0; 4 * SLOT][..4 * count]),
            None => [0; 4],
        },
    }
}

/// Fetching all vertices at once gives the same dwords, and the same count of bytes, as fetching
/// them one by one. If a page cannot be read, the fault and the vertices up to it are the same.
#[test]
fn vertices_at_once() {
    let mut random = Random::new(11);
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    let bytes: Vec<u8> = (0..PAGES * PAGE).map(|_| random.below(256) as u8).collect();
    gpu.load(context, BUFFER, &bytes).unwrap();
    let mut faults = 0;
    for _ in 0..4000 {
        let elements: Vec<Element> = (0..random.below(4)).map(|_| element(&mut random)).collect();
        let dwords: usize = elements.iter().map(Element::dwords).sum();
        let generated = (dwords > 0).then(|| random.below(dwords as u64) as usize);
        let indexed = random.below(2) == 0;
        let fetch = Fetch {
            range: Range {
                vertices: 0,
                start: random.below(20) as u32,
                instances: 1,
                start_instance: random.below(3) as u32,
                base_vertex: random.below(40) as i32 - 20,
            },
            elements,
            indices: indexed.then_some(Indices { address: 0, size: 0, bytes: 4 }),
            cut: None,
            vertex_id: generated.filter(|_| random.below(4) == 0),
            instance_id: generated.filter(|_| random.below(4) == 0),
            edge_flags: None,
            dwords,
        };
        let most = if random.below(4) == 0 { 400 } else { 60 };
        let (count, first) = (random.below(40) as u32, 20 + random.below(most) as u32);
        let consecutive = random.below(2) == 0;
        let numbers: Vec<u32> = (0..count)
            .map(|n| if consecutive { first + n } else { 20 + random.below(most) as u32 })
            .collect();
        let instance = random.below(5) as u32;
        let mut expected = Vertices::new(dwords);
        let (one, stats) = with_exec(gpu.vm(context), |exec| {
            numbers.iter().try_for_each(|&number| {
                fetch.vertex(exec, number, instance, expected.push()).map_err(|f| f.to_string())
            })
        });
        let mut all = Vertices::new(3);
        all.replace(&[9; 90]);
        let (result, own) = with_exec(gpu.vm(context), |exec| {
            fetch.vertices(exec, &numbers, instance, &mut all).map_err(|f| f.to_string())
        });
        if result.is_ok() {
            let [vertex, column] = [AccessLog::default(), AccessLog::default()];
            let mut vertices = Vertices::new(dwords);
            with_exec(gpu.vm(context).with_log(&vertex), |exec| {
                for &number in &numbers {
                    fetch.vertex(exec, number, instance, vertices.push()).unwrap();
                }
            });
            with_exec(gpu.vm(context).with_log(&column), |exec| {
                fetch.vertices(exec, &numbers, instance, &mut vertices).unwrap();
            });
            // A read over the end of a page may be recorded twice.
            let [one, other] = [&vertex, &column].map(|log| {
                let mut list = Vec::new();
                log.drain(&mut list);
                list.dedup_by_key(|access| access.address);
                list.iter().map(|access| access.address).collect::<Vec<_>>()
            });
            assert_eq!(one, other, "{fetch:?} {numbers:?}");
        }
        faults += usize::from(result.is_err());
        assert_eq!((result, own.bytes_read), (one, stats.bytes_read), "{fetch:?} {numbers:?}");
        assert_eq!((all.count(), all.data), (expected.count(), expected.data), "{fetch:?}");
    }
    assert!((10..2000).contains(&faults), "{faults} faults");
}
