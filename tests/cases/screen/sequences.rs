//! Sequences of draws. Between two draws there is at most one packet. The next draw reuses the
//! resolved state that this packet cannot change. Oracle: the same batch with an MI_NOOP before
//! each packet and draw. After an MI_NOOP, a draw reuses nothing.

use crate::screen::scene::{Scene, TARGETS, on_screen};
use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::RenderPacket;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::mi::MiNoop;
use genxml::gen8::registers::{
    ClInvocationCount, ClPrimitivesCount, IaPrimitivesCount, IaVerticesCount, PsDepthCount,
    PsInvocationCount, VsInvocationCount,
};
use genxml::gen8::render3d_constants::{ThreeDStateConstantBody, ThreeDStateConstantVs};
use genxml::gen8::render3d_fetch::{
    ThreeDStateIndexBuffer, ThreeDStateVfInstancing, ThreeDStateVfSgvs, ThreeDStateVfStatistics,
};
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml_cases::{BATCH, DYNAMIC_STATE, KERNELS, Random, at, draw, minus_one, packets, push, u};
use std::collections::BTreeMap;

/// Copies a vertex of four slots, and adds the first push constant to X of the position.
const SHIFTED: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r3.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r115.0<1>:ud  r5.0<8;8,1>:ud
    mov (8|M0)       r116.0<1>:ud  r6.0<8;8,1>:ud
    add (8|M0)       r117.0<1>:f   r7.0<8;8,1>:f  r2.0<0;1,0>:f
    mov (8|M0)       r118.0<1>:ud  r8.0<8;8,1>:ud
    mov (8|M0)       r119.0<1>:ud  r9.0<8;8,1>:ud
    mov (8|M0)       r120.0<1>:ud  r10.0<8;8,1>:ud
    send (8|M0)      null  r112  0x6  0x12080007
    mov (8|M0)       r113.0<1>:ud  r11.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  r12.0<8;8,1>:ud
    mov (8|M0)       r115.0<1>:ud  r13.0<8;8,1>:ud
    mov (8|M0)       r116.0<1>:ud  r14.0<8;8,1>:ud
    mov (8|M0)       r117.0<1>:ud  r15.0<8;8,1>:ud
    mov (8|M0)       r118.0<1>:ud  r16.0<8;8,1>:ud
    mov (8|M0)       r119.0<1>:ud  r17.0<8;8,1>:ud
    mov (8|M0)       r120.0<1>:ud  r18.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x12080027  {EOT}
};
/// Offset of the kernel of the vertex shader from the other kernel.
const VERTEX_KERNEL: u64 = 0x1000;
/// Offset of the constants of the vertex shader from the dynamic state base.
const VERTEX_CONSTANTS: u64 = 0x2000;
const SIZE: u32 = 16;
const STATISTICS: [u32; 7] = [
    IaVerticesCount::OFFSET,
    IaPrimitivesCount::OFFSET,
    VsInvocationCount::OFFSET,
    ClInvocationCount::OFFSET,
    ClPrimitivesCount::OFFSET,
    PsInvocationCount::OFFSET,
    PsDepthCount::OFFSET,
];
/// Number of tests for each dword after the header of a packet. Each test changes one random bit.
/// Packets of vertices have more tests, because the model keeps state after them.
fn tests_of_a_dword(packet: &str) -> u32 {
    let of_vertices = packet.starts_with("3DSTATE_V") || packet == "3DSTATE_CONSTANT_VS";
    if of_vertices { 24 } else { 6 }
}

/// Two triangles, with a vertex shader or without one.
fn scene(shaded: bool) -> Scene {
    let corners = [(1.0, 1.0), (9.0, 2.0), (3.0, 9.0), (5.0, 6.0), (13.0, 7.0), (6.0, 14.0)];
    let vertex = |(n, (x, y))| {
        let mut vertex = on_screen(x, y, n as u32 + 1);
        vertex.attributes.push([0; 4]);
        vertex
    };
    let vertices = corners.into_iter().enumerate().map(vertex).collect();
    let mut scene = Scene::new([SIZE, SIZE], Code::_3DPRIM_TRILIST, vertices);
    let constants = ThreeDStateConstantBody {
        constant_buffer_0_read_length: u(1),
        pointer_to_constant_buffer_0: at(VERTEX_CONSTANTS),
        ..ThreeDStateConstantVs::new().constant_body
    };
    scene.clip.clipper_statistics_enable = true;
    scene.sf.statistics_enable = true;
    scene.wm.statistics_enable = true;
    // The scene's batch does not have these packets. Add them, so that the test changes them too.
    scene.more = draw::urb(4);
    scene.more.extend(packets![
        ThreeDStateVs {
            function_enable: shaded,
            statistics_enable: true,
            kernel_start_pointer: at(VERTEX_KERNEL),
            simd8_dispatch_enable: true,
            vertex_urb_entry_read_length: u(2),
            dispatch_grf_start_register_for_urb_data: u(2),
            maximum_number_of_threads: minus_one(64),
            ..ThreeDStateVs::new()
        },
        ThreeDStateConstantVs { constant_body: constants, ..ThreeDStateConstantVs::new() },
        ThreeDStateIndexBuffer::new(),
        ThreeDStateVfInstancing::new(),
        ThreeDStateVfSgvs::new(),
        ThreeDStateVfStatistics { statistics_enable: true },
    ]);
    scene
}

/// What a batch leaves.
#[derive(PartialEq, Debug)]
struct Drawn {
    target: Vec<u32>,
    /// The registers of [`STATISTICS`].
    statistics: [u64; 7],
    /// Aggregating counters A1 to A35 of a performance report.
    counters: [u64; 35],
    /// Aggregating counter A0.
    clock: u64,
}

/// Calls `batch` with the scene's batch, and runs the batch that it returns. Returns the results of
/// that run; `None` if it has a fault.
fn run(scene: &Scene, batch: impl FnOnce(&[u32]) -> Vec<u32>) -> Option<Drawn> {
    let mut model = scene.model();
    let first = scene.batch(&mut model);
    model.put(KERNELS + VERTEX_KERNEL, SHIFTED);
    model.put(DYNAMIC_STATE + VERTEX_CONSTANTS, &[1.5f32.to_bits(); 64]);
    model.render(&batch(&first)).ok()?;
    let [clock, counters @ ..] = model.counters();
    let registers = &model.gpu.context(model.context).state.registers;
    let statistics = STATISTICS.map(|register| registers.read_u64(register));
    let target = model.get(TARGETS, (SIZE * SIZE) as usize);
    Some(Drawn { target, statistics, counters, clock })
}

/// The packets of a batch, each with its dwords.
fn split(mut batch: &[u32]) -> Vec<(&'static str, Vec<u32>)> {
    let mut packets = Vec::new();
    while let [header, ..] = *batch {
        let length = RenderPacket::length(header).expect("a packet");
        let name = RenderPacket::find(header).expect("a packet").name;
        let (packet, rest) = batch.split_at(length);
        packets.push((name, packet.to_vec()));
        batch = rest;
    }
    packets
}

#[test]
fn state_that_changes_between_draws() {
    let mut differ = BTreeMap::<&str, usize>::new();
    for shaded in [false, true] {
        let scene = scene(shaded);
        let mut all = Vec::new();
        let unchanged = run(&scene, |batch| {
            all = split(batch);
            batch.to_vec()
        });
        let unchanged = unchanged.expect("a draw without fault");
        assert!(unchanged.target.iter().any(|&pixel| pixel != 0));
        let [vertex, others @ ..] = [2, 0, 1, 3, 4, 5, 6].map(|n| unchanged.statistics[n]);
        assert!((vertex > 0) == shaded && !others.contains(&0), "{:?}", unchanged.statistics);
        let primitive = all.pop().expect("a draw").1;
        let with_noop = run(&scene, |batch| [batch, &MiNoop::new().pack()].concat());
        let noop = with_noop.expect("a draw without fault").clock - unchanged.clock;
        let mut random = Random::new(17);
        for (name, packet) in &all {
            for changed in 1..packet.len().max(2) {
                for _ in 0..tests_of_a_dword(name) {
                    let mut other = packet.clone();
                    if let Some(dword) = other.get_mut(changed) {
                        *dword ^= 1 << random.below(32);
                    }
                    let sequence = |noop: bool| {
                        run(&scene, |first| {
                            let mut batch = first.to_vec();
                            for packet in [&other, &primitive, &primitive, packet, &primitive] {
                                if noop {
                                    push(&mut batch, &MiNoop::new());
                                }
                                batch.extend(packet);
                            }
                            batch
                        })
                    };
                    let (kept, mut resolved) = (sequence(false), sequence(true));
                    if let Some(resolved) = &mut resolved {
                        resolved.clock -= 5 * noop;
                    }
                    assert_eq!(kept, resolved, "{name}: {other:x?}");
                    if kept.is_some_and(|kept| kept.target != unchanged.target) {
                        *differ.entry(name).or_default() += 1;
                    }
                }
            }
        }
    }
    // The changes must be visible, otherwise the test shows nothing.
    for name in [
        "3DSTATE_VERTEX_BUFFERS",
        "3DSTATE_VERTEX_ELEMENTS",
        "3DSTATE_VF_TOPOLOGY",
        "3DSTATE_CONSTANT_VS",
        "3DSTATE_DRAWING_RECTANGLE",
    ] {
        assert!(differ.contains_key(name), "{name} is not among {differ:?}");
    }
}

/// The host changes a constant between two submissions. The first one ends after its length,
/// without MI_BATCH_BUFFER_END, and the second one begins with a draw.
#[test]
fn memory_that_changes_between_submissions() {
    let scene = scene(true);
    let drawn = |noop: bool, shift: f32| {
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        model.put(KERNELS + VERTEX_KERNEL, SHIFTED);
        let mut submit = |batch: &[u32], shift: f32| {
            model.put(DYNAMIC_STATE + VERTEX_CONSTANTS, &[shift.to_bits(); 64]);
            model.put(BATCH, batch);
            let length = size_of_val(batch) as u64;
            model.gpu.submit(model.context, EngineId::Render, BATCH, length).unwrap();
        };
        submit(&batch, 0.0);
        let (_, primitive) = split(&batch).pop().expect("a draw");
        let before = if noop { MiNoop::new().pack().to_vec() } else { Vec::new() };
        submit(&[before, primitive].concat(), shift);
        model.get(TARGETS, (SIZE * SIZE) as usize)
    };
    assert_eq!(drawn(false, 2.0), drawn(true, 2.0));
    assert_ne!(drawn(true, 2.0), drawn(true, 0.0));
}
