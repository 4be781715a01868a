//! Patches. The hull shader writes the first register of its first control point as the patch
//! header; the domain shader writes the coordinates of its points. Oracle: gen8_facts 3.3, 3.4 and
//! 6; OpenGL 4.6, 11.2.3, for the points that the tessellator generates.

use crate::geometry::harness::{Draw, damage, model, register};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_constants::{
    ThreeDStateConstantBody, ThreeDStateConstantDs, ThreeDStateConstantHs,
};
use genxml::gen8::render3d_stages::{
    ThreeDStateDs, ThreeDStateHs, ThreeDStateTe, ThreeDStateTeOutputTopology as Topology,
    ThreeDStateTePartitioning as Partitioning, ThreeDStateTeTeDomain as Domain,
};
use genxml::gen8::thread_payloads::{
    DsSIMD4x2ThreadPayload, DsSimd8ThreadPayload, HsThreadPayload,
};
use genxml_cases::{DYNAMIC_STATE, KERNELS, Model, at, minus_one, push, u};
use genxml_sim::Fault;

const HS_INVOCATIONS: u32 = 0x2300;
const DS_INVOCATIONS: u32 = 0x2308;

/// Writes r5 to the patch header.
const HULL: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    (W) mov (8|M0)   r113.0<1>:ud  r5.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  0x26  0x04080000  {EOT}
};

/// All threads of the patch wait at a barrier, then write the header.
const MEETING: &[u32] = &eu! {
    (W) mov (8|M0)   r20.0<1>:ud  0:ud
    (W) and (1|M0)   r20.2<1>:ud  r0.2<0;1,0>:ud  0x1e000:ud
    (W) shl (1|M0)   r20.2<1>:ud  r20.2<0;1,0>:ud  11:ud
    (W) send (8|M0)  null  r20  0x3  0x02000004
    (W) wait  n0.0<0;1,0>:ud
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    (W) mov (8|M0)   r113.0<1>:ud  r5.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  0x26  0x04080000  {EOT}
};

/// Writes U, V, W and the primitive ID of eight points.
const DOMAIN: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  r2.0<8;8,1>:ud
    mov (8|M0)       r115.0<1>:ud  r3.0<8;8,1>:ud
    mov (8|M0)       r116.0<1>:ud  r0.1<0;1,0>:ud
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT}
};

/// Writes r1. Each half has the coordinates of a point. The last dword of the first half is the
/// patch's URB handle, that of the second half is the primitive ID.
const DOMAIN_OF_TWO: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    mov (8|M0)       r113.0<1>:ud  r1.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x04088001  {EOT}
};

/// The packets of a hull shader, which reads 32 bytes of each control point, and of a domain
/// shader.
#[derive(Clone, Copy)]
struct Stages {
    hull: &'static [u32],
    domain: &'static [u32],
    hs: ThreeDStateHs,
    te: ThreeDStateTe,
    ds: ThreeDStateDs,
}

impl Stages {
    fn new(te: ThreeDStateTe) -> Stages {
        Stages {
            hull: HULL,
            domain: DOMAIN,
            hs: ThreeDStateHs {
                enable: true,
                statistics_enable: true,
                include_vertex_handles: true,
                vertex_urb_entry_read_length: u(1),
                dispatch_grf_start_register_for_urb_data: u(5),
                maximum_number_of_threads: minus_one(16),
                ..ThreeDStateHs::new()
            },
            te: ThreeDStateTe { te_enable: true, ..te },
            ds: ThreeDStateDs {
                function_enable: true,
                statistics_enable: true,
                simd8_dispatch_enable: true,
                kernel_start_pointer: at(0x1000),
                dispatch_grf_start_register_for_urb_data: u(5),
                maximum_number_of_threads: minus_one(16),
                ..ThreeDStateDs::new()
            },
        }
    }

    /// Patches of `points` control points. The first point of each patch holds its header.
    fn draw(&self, model: &mut Model, points: u64, headers: &[[f32; 8]]) -> Draw {
        model.put(KERNELS, self.hull);
        model.put(KERNELS + 0x1000, self.domain);
        let mut draw = Draw::new(Code::from_bits(0x1f + points), 0);
        for header in headers {
            draw.vertices.push(header.map(f32::to_bits).to_vec());
            draw.vertices
                .extend((1..points as u32).map(|n| (0..8).map(|dword| 100 * n + dword).collect()));
        }
        push(&mut draw.stages, &self.hs);
        push(&mut draw.stages, &self.te);
        push(&mut draw.stages, &self.ds);
        draw
    }
}

fn te(domain: Domain, output: Topology, partitioning: Partitioning) -> ThreeDStateTe {
    ThreeDStateTe {
        te_domain: domain,
        output_topology: output,
        partitioning,
        ..ThreeDStateTe::new()
    }
}

/// Tessellation factors in the layout of the patch header (gen8_facts 6).
fn quad(outer: [f32; 4], inner: [f32; 2]) -> [f32; 8] {
    [0.0, 0.0, inner[1], inner[0], outer[3], outer[2], outer[1], outer[0]]
}

fn triangle(outer: [f32; 3], inner: f32) -> [f32; 8] {
    [0.0, 0.0, 0.0, 0.0, inner, outer[2], outer[1], outer[0]]
}

fn isoline(density: f32, detail: f32) -> [f32; 8] {
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, density, detail]
}

fn floats(vertex: &[u32; 4]) -> [f32; 4] {
    vertex.map(f32::from_bits)
}

/// Twice the signed area of each triangle, in order.
fn areas(vertices: &[[u32; 4]]) -> Vec<f32> {
    let area =
        |[a, b, c]: [[f32; 4]; 3]| (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    vertices.chunks(3).map(|t| area([floats(&t[0]), floats(&t[1]), floats(&t[2])])).collect()
}

/// A square becomes 4 by 4 squares: 32 triangles of the same winding and size, 25 points.
#[test]
fn a_quad() {
    let mut model = model();
    for (output, sign) in [(Topology::TRI_CW, 1.0), (Topology::TRI_CCW, -1.0)] {
        let mut stages = Stages::new(te(Domain::QUAD, output, Partitioning::INTEGER));
        for (domain, wide) in [(DOMAIN, true), (DOMAIN_OF_TWO, false)] {
            stages.domain = domain;
            stages.ds.simd8_dispatch_enable = wide;
            let draw = stages.draw(&mut model, 3, &[quad([4.0; 4], [4.0; 2])]);
            let before = register(&mut model, DS_INVOCATIONS);
            let threads = model.counters();
            let vertices = draw.run(&mut model).unwrap();
            assert_eq!(register(&mut model, DS_INVOCATIONS) - before, 25);
            // One thread for the patch. Threads of the domain shader have eight or two points each.
            let all = model.counters();
            let more: Vec<u64> = (1..7).map(|n| all[n] - threads[n]).collect();
            assert_eq!(more, [0, 1, if wide { 4 } else { 13 }, 0, 0, 0]);
            assert_eq!(areas(&vertices), [sign / 16.0; 32]);
            let mut points: Vec<[u32; 2]> = vertices
                .iter()
                .map(floats)
                .map(|v| [v[0] * 4.0, v[1] * 4.0].map(|t| t as u32))
                .collect();
            points.sort_unstable();
            points.dedup();
            assert_eq!(points.len(), 25);
        }
    }
    assert_eq!(register(&mut model, HS_INVOCATIONS), 4);
}

/// W is 1 - U - V if it is enabled. A patch with an edge factor of 0 is dropped; the next patch has
/// its own number.
#[test]
fn triangles() {
    let mut model = model();
    let mut stages = Stages::new(te(Domain::TRI, Topology::TRI_CW, Partitioning::INTEGER));
    stages.ds.compute_w_coordinate_enable = true;
    let headers =
        [triangle([2.0; 3], 2.0), triangle([2.0, 0.0, 2.0], 2.0), triangle([1.0, 1.0, 3.0], 1.0)];
    let draw = stages.draw(&mut model, 1, &headers);
    let vertices = draw.run(&mut model).unwrap();
    let (first, last): (Vec<[u32; 4]>, Vec<[u32; 4]>) =
        vertices.iter().partition(|vertex| vertex[3] == 0);
    assert_eq!((first.len(), last.len()), (3 * 6, 3 * 5));
    assert!(last.iter().all(|vertex| vertex[3] == 2));
    for vertex in vertices.iter().map(floats) {
        assert_eq!(vertex[2], 1.0 - (vertex[0] + vertex[1]));
    }
    for half in [first, last] {
        assert!((areas(&half).iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }
    stages.ds.compute_w_coordinate_enable = false;
    let vertices = stages.draw(&mut model, 1, &headers[..1]).run(&mut model).unwrap();
    assert!(vertices.iter().all(|vertex| vertex[2] == 0));
}

/// Two isolines of two segments each, none at V = 1. Then the points of the same isolines.
#[test]
fn isolines_and_points() {
    let mut model = model();
    let stages = Stages::new(te(Domain::ISOLINE, Topology::LINE, Partitioning::EVEN_FRACTIONAL));
    let vertices = stages.draw(&mut model, 2, &[isoline(2.0, 2.0)]).run(&mut model).unwrap();
    let places: Vec<[f32; 2]> = vertices.iter().map(floats).map(|v| [v[0], v[1]]).collect();
    let line = |v| [[0.0, v], [0.5, v], [0.5, v], [1.0, v]];
    assert_eq!(places, [line(0.0), line(0.5)].concat());
    let stages = Stages::new(te(Domain::ISOLINE, Topology::POINT, Partitioning::EVEN_FRACTIONAL));
    let vertices = stages.draw(&mut model, 2, &[isoline(2.0, 2.0)]).run(&mut model).unwrap();
    let places: Vec<[f32; 2]> = vertices.iter().map(floats).map(|v| [v[0], v[1]]).collect();
    let line = |v| [[0.0, v], [0.5, v], [1.0, v]];
    assert_eq!(places, [line(0.0), line(0.5)].concat());
}

/// Payloads of the threads of a patch, for several numbers of control points and of threads. The
/// threads wait at their barrier.
#[test]
fn payloads_of_hull_shaders() {
    let mut model = model();
    let mut stages = Stages::new(te(Domain::QUAD, Topology::POINT, Partitioning::INTEGER));
    stages.hull = MEETING;
    for (points, instances, handles) in
        [(1, 1, true), (3, 2, true), (9, 3, true), (32, 4, true), (4, 1, false)]
    {
        stages.hs.instance_count = minus_one(instances);
        stages.hs.include_vertex_handles = handles;
        // Two registers of constants between the handles and the data. If they were used as
        // tessellation factors, they would be negative, so no point is generated.
        let constants = [0x8000_0007_u32; 16];
        model.put(DYNAMIC_STATE + 0x800, &constants);
        let mut draw = stages.draw(&mut model, points, &[[0.0; 8], [0.0; 8]]);
        push(
            &mut draw.stages,
            &ThreeDStateConstantHs {
                constant_body: ThreeDStateConstantBody {
                    constant_buffer_0_read_length: u(2),
                    pointer_to_constant_buffer_0: at(0x800),
                    ..ThreeDStateConstantBody::new()
                },
                ..ThreeDStateConstantHs::new()
            },
        );
        let batch = draw.batch(&mut model);
        let payloads = model.payloads(&batch).unwrap();
        assert_eq!(payloads.len() as u64, 2 * instances);
        for (n, payload) in payloads.iter().enumerate() {
            let (patch, instance) = (n as u64 / instances, n as u64 % instances);
            let mut first = payload.clone();
            first.resize(first.len().max(40), 0);
            let header = HsThreadPayload::unpack_lossy(first[..40].try_into().unwrap());
            assert_eq!(header.primitive_id.get(), patch);
            assert_eq!(header.instance_number.get(), instance);
            assert_eq!(header.patch_urb_handle.get(), 12 * 8192 / 32);
            let used = if handles { points as usize } else { 0 };
            let entries: Vec<u64> =
                header.input_control_point[..used].iter().map(|handle| handle.get()).collect();
            let want: Vec<u64> =
                (0..used as u64).map(|entry| (4 * 8192 + 256 * entry) / 32).collect();
            assert_eq!(entries, want);
            assert_eq!(&payload[40..56], &constants);
            assert_eq!(payload.len() as u64, 8 * (5 + 2 + points));
            for (point, data) in payload[56..].chunks(8).enumerate().skip(1) {
                assert_eq!(
                    data,
                    (0..8).map(|dword| 100 * point as u32 + dword).collect::<Vec<_>>()
                );
            }
        }
        stages.hs.include_vertex_handles = true;
    }
}

/// Payloads of domain shaders: eight points or two for each thread, and the patch data as it lies
/// in the URB entry.
#[test]
fn payloads_of_domain_shaders() {
    let mut model = model();
    let mut stages = Stages::new(te(Domain::QUAD, Topology::POINT, Partitioning::INTEGER));
    stages.ds.patch_urb_entry_read_length = u(1);
    let header = quad([3.0; 4], [3.0; 2]);
    let patch = 12 * 8192 / 32;
    let entry = |n: u64| (16 * 8192 + 256 * n) / 32;
    let batch = stages.draw(&mut model, 1, &[header]).batch(&mut model);
    let payloads = model.payloads(&batch).unwrap();
    assert_eq!(payloads.len(), 1 + 2);
    for payload in &payloads[1..] {
        let first = DsSimd8ThreadPayload::unpack_lossy(payload[..40].try_into().unwrap());
        assert_eq!((first.patch_urb_handle.get(), first.primitive_id.get()), (patch, 0));
        assert_eq!(first.output.map(|handle| handle.get()), [0, 1, 2, 3, 4, 5, 6, 7].map(entry));
        assert_eq!(payload[40..], header.map(f32::to_bits));
    }
    let first = DsSimd8ThreadPayload::unpack_lossy(payloads[1][..40].try_into().unwrap());
    let third = 21845.0 / 65536.0;
    assert_eq!(first.u, [0.0, 0.0, 0.0, 0.0, third, 1.0 - third, 1.0, 1.0]);
    assert_eq!(first.v, [1.0, 1.0 - third, third, 0.0, 0.0, 0.0, 0.0, third]);
    assert_eq!(first.w, [0.0; 8]);

    stages.domain = DOMAIN_OF_TWO;
    stages.ds.simd8_dispatch_enable = false;
    stages.ds.dispatch_grf_start_register_for_urb_data = u(2);
    let constants = ThreeDStateConstantDs {
        constant_body: ThreeDStateConstantBody {
            constant_buffer_0_read_length: u(1),
            pointer_to_constant_buffer_0: at(0x800),
            ..ThreeDStateConstantBody::new()
        },
        ..ThreeDStateConstantDs::new()
    };
    model.put(DYNAMIC_STATE + 0x800, &[9; 8]);
    let mut draw = stages.draw(&mut model, 1, &[header]);
    push(&mut draw.stages, &constants);
    let batch = draw.batch(&mut model);
    let payloads = model.payloads(&batch).unwrap();
    assert_eq!(payloads.len(), 1 + 8);
    let first = DsSIMD4x2ThreadPayload::unpack_lossy(payloads[1][..16].try_into().unwrap());
    assert_eq!(
        [first.urb_handle_0, first.urb_handle_1].map(|handle| handle.get()),
        [entry(0), entry(1)]
    );
    assert_eq!(
        [first.u0, first.v0, first.w0, first.u1, first.v1],
        [0.0, 1.0, 0.0, 0.0, 1.0 - third]
    );
    assert_eq!((first.patch_urb_handle.get(), first.primitive_id.get()), (patch, 0));
    assert_eq!(payloads[1][16..24], [9; 8]);
    assert_eq!(payloads[1][24..], header.map(f32::to_bits));
}

/// Invalid state, which the model refuses.
#[test]
fn what_is_refused() {
    let mut model = model();
    let stages = Stages::new(te(Domain::QUAD, Topology::LINE, Partitioning::INTEGER));
    let refused = |model: &mut Model, draw: &Draw| match draw.run(model) {
        Err(Fault::BadPacket { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    let header = [quad([1.0; 4], [1.0; 2])];
    let draw = stages.draw(&mut model, 1, &header);
    assert_eq!(refused(&mut model, &draw), "Output Topology");
    let good = te(Domain::QUAD, Topology::POINT, Partitioning::INTEGER);
    let lone = Stages { hs: ThreeDStateHs::new(), ..Stages::new(good) };
    let draw = lone.draw(&mut model, 1, &header);
    assert_eq!(refused(&mut model, &draw), "TE Enable");
    let mut draw = Stages::new(good).draw(&mut model, 1, &header);
    draw.topology = Code::_3DPRIM_POINTLIST;
    assert_eq!(refused(&mut model, &draw), "Primitive Topology Type");
    // Patches without a hull shader go to stream output and are not rendered.
    let mut model = crate::geometry::harness::model();
    let mut draw = Draw::new(Code::_3DPRIM_PATCHLIST_3, 7);
    draw.streamout.api_rendering_disable = false;
    assert_eq!(draw.run(&mut model).unwrap().len(), 6);
}

/// Damaged packets cause a fault or a wrong result, but no panic.
#[test]
fn damaged_state() {
    let mut model = model();
    let mut stages = Stages::new(te(Domain::TRI, Topology::TRI_CW, Partitioning::ODD_FRACTIONAL));
    stages.hs.instance_count = minus_one(2);
    let draw = stages.draw(&mut model, 3, &[triangle([3.0; 3], 2.5), triangle([1.0; 3], 1.0)]);
    damage(&mut model, &draw, 300, 12);
}
