//! Draws with damaged memory: they end, with or without a fault, and nothing panics.

use crate::debug_support::{ENABLE, load};
use crate::scene::{BASE, BYTES, Scene, Vertex, rectangle};
use genxml::capture::Capture;
use genxml::gen45::commands_3d::ThreeDStateDepthBufferSurfaceFormat as Format;
use genxml::gen45::enums::{ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Topology};
use genxml_sim::replay::{Replay, Step};
use genxml_testkit::{Random, corpus};

/// Values that are likely to break something.
const EXTREMES: [u32; 10] =
    [0, 1, 0x7f, 0xffff, 0x7fff_ffff, 0x8000_0000, !0, 0x7fc0_0000, 0x7f80_0000, 0x4f00_0000];

/// Offsets of what a draw reads: batch, states, table, kernels, vertices, with their bytes.
const PARTS: [(u64, u64); 6] = [
    (0, 0x200),
    (0x1_0000, 0x360),
    (0x2_0000, 0x60),
    (0x3_0000, 0x100),
    (0x3_1000, 0x100),
    (0x4_0000, 0x180),
];

#[test]
fn damaged_draws_end() {
    let mut random = Random::new(4545);
    let (mut faults, mut done) = (0, 0);
    for round in 0..1500u64 {
        let mut scene = Scene::new().with_depth(Format::D24_UNORM_S8_UINT);
        scene.gpu.set_work_limit(1 << 20);
        scene.cc.depth_test_enable = true;
        scene.cc.depth_test_function = Compare::COMPAREFUNCTION_ALWAYS;
        scene.topology = Topology::from_bits(1 + round % 22);
        let vertices: Vec<Vertex> = rectangle([0.0, 0.0], [20.0, 20.0], 0.5, [0.5; 4]);
        let bytes = scene.prepare(&vertices, 6);
        for _ in 0..1 + random.below(3) {
            let (start, length) = PARTS[random.below(PARTS.len() as u64) as usize];
            let at = BASE + start + random.below(length / 4) * 4;
            let value = match random.below(3) {
                0 => EXTREMES[random.below(EXTREMES.len() as u64) as usize],
                1 => random.below(1 << 32) as u32,
                _ => {
                    let old = u32::from_le_bytes(scene.bytes(at, 4).try_into().unwrap());
                    old ^ 1 << random.below(32)
                }
            };
            assert!(at + 4 <= BASE + BYTES);
            scene.put(at, &value.to_le_bytes());
        }
        match scene.submit(bytes) {
            Ok(_) => done += 1,
            Err(_) => faults += 1,
        }
    }
    assert!(faults > 100 && done > 100, "{faults} faults, {done} draws without");
}

/// The same with random values of debug registers.
#[test]
fn debugged_draws_end() {
    let mut random = Random::new(345);
    let registers: Vec<u32> = genxml::core::reflect::registers(genxml::gen45::CONTAINERS, &[])
        .map(|(offset, _)| offset)
        .filter(|offset| genxml_sim::gen45::debug::registers::covers(*offset))
        .collect();
    let (mut faults, mut done) = (0, 0);
    for round in 0..500u64 {
        let mut scene = Scene::new().with_depth(Format::D24_UNORM_S8_UINT);
        scene.gpu.set_work_limit(1 << 20);
        scene.topology = Topology::from_bits(1 + round % 22);
        let mut values = vec![ENABLE];
        for _ in 0..1 + random.below(12) {
            let register = registers[random.below(registers.len() as u64) as usize];
            let value = match random.below(3) {
                0 => EXTREMES[random.below(EXTREMES.len() as u64) as usize],
                1 => 1 << random.below(32),
                _ => random.below(1 << 32) as u32,
            };
            values.push((register, value));
        }
        scene.more = load(&values);
        let vertices: Vec<Vertex> = rectangle([0.0, 0.0], [20.0, 20.0], 0.5, [0.5; 4]);
        match scene.draw(&vertices, 6) {
            Ok(_) => done += 1,
            Err(_) => faults += 1,
        }
        registers.iter().for_each(|register| _ = scene.gpu.mmio_read(*register));
    }
    assert!(faults > 50 && done > 50, "{faults} faults, {done} draws without");
}

/// The same with the batches, states, kernels and vertices of a real driver, which use all units.
#[test]
fn damaged_captures_end() {
    let Some(corpus) = corpus::folder() else { return };
    let mut random = Random::new(454_545);
    let (mut faults, mut done) = (0, 0);
    for name in
        ["gl_quads_poly", "gl_clip_near", "gl_depth", "gl_tex_lod_vs", "gl_instanced", "gl_blend"]
    {
        let capture = Capture::open(corpus.join("gen45/captures").join(name)).unwrap();
        let mut replay = Replay::new(&capture);
        let Some(Step::Exec { exec, result }) = replay.step() else { panic!("{name}: no batch") };
        result.unwrap();
        let context = replay.context(exec.context).unwrap();
        let ranges = exec.objects.iter().flat_map(|object| {
            object.writes.iter().map(|write| (object.address + write.offset, write.length))
        });
        let ranges: Vec<(u64, u64)> = ranges.filter(|(_, length)| *length >= 4).collect();
        let gpu = replay.gpu();
        gpu.set_work_limit(1 << 24);
        for _ in 0..150 {
            let (start, length) = ranges[random.index(ranges.len())];
            let at = start + random.below(length / 4) * 4;
            let old = gpu.vm(context).read_u32(at).unwrap();
            let value = match random.below(3) {
                0 => EXTREMES[random.index(EXTREMES.len())],
                1 => random.below(1 << 32) as u32,
                _ => old ^ 1 << random.below(32),
            };
            gpu.vm(context).write_u32(at, value).unwrap();
            match gpu.submit(context, exec.engine, exec.batch_address, exec.batch_length) {
                Ok(_) => done += 1,
                Err(_) => faults += 1,
            }
            gpu.vm(context).write_u32(at, old).unwrap();
        }
    }
    assert!(faults > 50 && done > 50, "{faults} faults, {done} batches without");
}
