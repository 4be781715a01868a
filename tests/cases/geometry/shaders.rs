//! Geometry shaders in each dispatch mode: payloads of threads, and the vertices that threads leave
//! in their URB entries. Oracle: 2a p.113-124, gen8_facts 3.5.

use crate::geometry::harness::{Draw, buffer, damage, firsts, model, register, written};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_stages::{
    ReorderMode, ThreeDStateGs, ThreeDStateGsControlDataFormat as Format,
    ThreeDStateGsDispatchMode as Mode,
};
use genxml::gen8::thread_payloads::{GsSIMD4x2ThreadPayload, GsSimd8ThreadPayload};
use genxml_cases::{KERNELS, Model, minus_one, push, u};
use genxml_sim::Fault;

const GS_INVOCATIONS: u32 = 0x2328;
const GS_PRIMITIVES: u32 = 0x2330;

/// Writes one vertex without control data: primitive ID, instance, first dword of the first input
/// vertex (r9: it follows three registers of header and six of handles), a constant.
const ONE_EACH: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r2.0<8;8,1>:ud
    shr (8|M0)       r114.0<1>:ud  r1.0<8;8,1>:ud  27:ud
    mov (8|M0)       r115.0<1>:ud  r9.0<8;8,1>:ud
    mov (8|M0)       r116.0<1>:ud  4711:ud
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT}
};

/// Writes seven vertices after a vertex count and 32 bytes of control data. The first dword of each
/// vertex is its number. r9 has the control data, r10 the count.
const SEVEN: &[u32] = &eu! {
    (W) mov (8|M0)   r20.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r22.0<1>:ud  0:ud
    mov (8|M0)       r23.0<1>:ud  0:ud
    mov (8|M0)       r24.0<1>:ud  0:ud
    mov (8|M0)       r21.0<1>:ud  0:ud
    send (8|M0)      null  r20  0x6  0x0A080047
    mov (8|M0)       r21.0<1>:ud  1:ud
    send (8|M0)      null  r20  0x6  0x0A080057
    mov (8|M0)       r21.0<1>:ud  2:ud
    send (8|M0)      null  r20  0x6  0x0A080067
    mov (8|M0)       r21.0<1>:ud  3:ud
    send (8|M0)      null  r20  0x6  0x0A080077
    mov (8|M0)       r21.0<1>:ud  4:ud
    send (8|M0)      null  r20  0x6  0x0A080087
    mov (8|M0)       r21.0<1>:ud  5:ud
    send (8|M0)      null  r20  0x6  0x0A080097
    mov (8|M0)       r21.0<1>:ud  6:ud
    send (8|M0)      null  r20  0x6  0x0A0800A7
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r9.0<8;8,1>:ud
    send (8|M0)      null  r112  0x6  0x04080027
    mov (8|M0)       r113.0<1>:ud  r10.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x04080007  {EOT}
};

/// Writes one vertex of four slots: slot n has the numbers from 10 n on.
const FOUR_SLOTS: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  0:ud
    mov (8|M0)       r114.0<1>:ud  1:ud
    mov (8|M0)       r115.0<1>:ud  2:ud
    mov (8|M0)       r116.0<1>:ud  3:ud
    send (8|M0)      null  r112  0x6  0x0A080007
    mov (8|M0)       r113.0<1>:ud  10:ud
    mov (8|M0)       r114.0<1>:ud  11:ud
    mov (8|M0)       r115.0<1>:ud  12:ud
    mov (8|M0)       r116.0<1>:ud  13:ud
    send (8|M0)      null  r112  0x6  0x0A080017
    mov (8|M0)       r113.0<1>:ud  20:ud
    mov (8|M0)       r114.0<1>:ud  21:ud
    mov (8|M0)       r115.0<1>:ud  22:ud
    mov (8|M0)       r116.0<1>:ud  23:ud
    send (8|M0)      null  r112  0x6  0x0A080027
    mov (8|M0)       r113.0<1>:ud  30:ud
    mov (8|M0)       r114.0<1>:ud  31:ud
    mov (8|M0)       r115.0<1>:ud  32:ud
    mov (8|M0)       r116.0<1>:ud  33:ud
    send (8|M0)      null  r112  0x26  0x0A080037  {EOT}
};

/// SIMD4x2: writes the first data register as the only vertex. The last dwords of the halves are
/// the instance numbers.
const TWO_HALVES: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    mov (8|M0)       r113.0<1>:ud  r8.0<8;8,1>:ud
    (W) shr (1|M0)   r113.3<1>:ud  r0.0<0;1,0>:ud  27:ud
    (W) shr (1|M0)   r113.7<1>:ud  r0.1<0;1,0>:ud  27:ud
    send (8|M0)      null  r112  0x26  0x04088001  {EOT}
};

/// A shader for objects of `vertices` vertices. It emits one point for each object.
fn gs(mode: Mode, vertices: u64) -> ThreeDStateGs {
    ThreeDStateGs {
        enable: true,
        statistics_enable: true,
        dispatch_mode: mode,
        expected_vertex_count: u(vertices),
        include_vertex_handles: true,
        include_primitive_id: true,
        vertex_urb_entry_read_length: u(1),
        dispatch_grf_start_register_for_urb_data: u(9),
        maximum_number_of_threads: u(7),
        output_topology: Code::_3DPRIM_POINTLIST,
        static_output: true,
        static_output_vertex_count: u(1),
        ..ThreeDStateGs::new()
    }
}

fn shaded(model: &mut Model, kernel: &[u32], gs: &ThreeDStateGs, code: Code, count: u32) -> Draw {
    model.put(KERNELS, kernel);
    let mut draw = Draw::new(code, count);
    push(&mut draw.stages, gs);
    draw
}

/// Eight objects per thread, the last thread with three. Then eleven instances of each of two
/// objects.
#[test]
fn eight_objects_or_instances() {
    let mut model = model();
    let mut state = gs(Mode::SIMD8, 3);
    let draw = shaded(&mut model, ONE_EACH, &state, Code::_3DPRIM_TRILIST, 33);
    let threads = model.counters()[5];
    let vertices = draw.run(&mut model).unwrap();
    assert_eq!(model.counters()[5] - threads, 2);
    assert_eq!(vertices, (0..11).map(|n| [n, 0, 3 * n, 4711]).collect::<Vec<_>>());
    assert_eq!(
        [register(&mut model, GS_INVOCATIONS), register(&mut model, GS_PRIMITIVES)],
        [11, 11]
    );
    state.instance_control = minus_one(11);
    state.invocations_increment_value = minus_one(2);
    let draw = shaded(&mut model, ONE_EACH, &state, Code::_3DPRIM_TRISTRIP, 4);
    let vertices = draw.run(&mut model).unwrap();
    let want: Vec<[u32; 4]> = (0..2).flat_map(|n| (0..11).map(move |i| [n, i, n, 4711])).collect();
    assert_eq!(vertices, want);
    assert_eq!(
        [register(&mut model, GS_INVOCATIONS), register(&mut model, GS_PRIMITIVES)],
        [11 + 44, 33]
    );
}

/// Payload of a thread of eight objects: handles by vertex, components of pushed slots.
#[test]
fn payload_of_eight() {
    let mut model = model();
    let state = gs(Mode::SIMD8, 3);
    let entry = |n: u64| (4 * 8192 + 256 * n) as u32 / 32;
    let batch = shaded(&mut model, ONE_EACH, &state, Code::_3DPRIM_TRILIST, 9).batch(&mut model);
    let payload = &model.payloads(&batch).unwrap()[0];
    let first = GsSimd8ThreadPayload::unpack_lossy(payload[..16].try_into().unwrap());
    let out = |n: u64| (24 * 8192 + 256 * n) / 32;
    assert_eq!(
        first.output.map(|output| output.urb_handle.get()),
        [out(0), out(1), out(2), 0, 0, 0, 0, 0]
    );
    assert_eq!(payload[16..24], [0, 1, 2, 0, 0, 0, 0, 0]);
    for vertex in 0..3 {
        let handles = [0, 1, 2].map(|object| entry(3 * object + vertex));
        assert_eq!(payload[24 + 8 * vertex as usize..][..3], handles);
    }
    // 3 vertices, each with 2 slots of 4 components.
    assert_eq!(payload.len(), 8 * (9 + 3 * 8));
    for vertex in 0..3_u32 {
        for component in 0..8_u32 {
            let row = &payload[8 * (9 + 8 * vertex + component) as usize..][..8];
            let want = |object: u32| {
                if component < 4 { 1000 * component + 3 * object + vertex } else { 0 }
            };
            assert_eq!(row, [want(0), want(1), want(2), 0, 0, 0, 0, 0]);
        }
    }
    // With one object all lanes are instances, and the handles of the object are side by side.
    let state = ThreeDStateGs { instance_control: minus_one(3), ..state };
    let batch = shaded(&mut model, ONE_EACH, &state, Code::_3DPRIM_TRILIST, 6).batch(&mut model);
    let payloads = model.payloads(&batch).unwrap();
    assert_eq!(payloads.len(), 2);
    assert_eq!(payloads[1][24..32], [entry(0), entry(1), entry(2), 0, 0, 0, 0, 0]);
    assert_eq!(payloads[1][72..80], [3, 3, 3, 0, 0, 0, 0, 0]);
    let first = GsSimd8ThreadPayload::unpack_lossy(payloads[1][..16].try_into().unwrap());
    assert_eq!(first.output.map(|output| output.instance_id.get()), [0, 1, 2, 0, 0, 0, 0, 0]);
}

/// The hint is in the payload of every dispatch mode, and has no other effect (2a p.113-124;
/// assumptions::GS_HINT_IS_IN_R0_2).
#[test]
fn hint() {
    let mut model = model();
    for mode in [Mode::SINGLE, Mode::DUAL_INSTANCE, Mode::DUAL_OBJECT, Mode::SIMD8] {
        let mut payload = |hint: u64| {
            let state = ThreeDStateGs { hint: u(hint), ..gs(mode, 3) };
            let kernel = if mode == Mode::SIMD8 { ONE_EACH } else { TWO_HALVES };
            let draw = shaded(&mut model, kernel, &state, Code::_3DPRIM_TRILIST, 3);
            let batch = draw.batch(&mut model);
            model.payloads(&batch).unwrap().remove(0)
        };
        let (without, mut with) = (payload(0), payload(1));
        assert_eq!([without[2], with[2]], [0, 1 << 22], "{mode:?}");
        with[2] = 0;
        assert_eq!(with, without, "{mode:?}");
    }
}

/// Threads with two objects, with two instances of one object, and with one instance. Slots of two
/// objects are side by side. Slots of one object have the order of its URB entry.
#[test]
fn threads_of_halves() {
    let mut model = model();
    let place = |state: ThreeDStateGs| ThreeDStateGs {
        dispatch_grf_start_register_for_urb_data: u(8),
        ..state
    };
    let state = place(gs(Mode::DUAL_OBJECT, 2));
    let draw = shaded(&mut model, TWO_HALVES, &state, Code::_3DPRIM_LINELIST, 6);
    let vertices = draw.run(&mut model).unwrap();
    assert_eq!(vertices, [0, 2, 4].map(|n| [n, 1000 + n, 2000 + n, 0]));
    let batch = draw.batch(&mut model);
    let payloads = model.payloads(&batch).unwrap();
    assert_eq!(payloads.len(), 2);
    let payload = &payloads[0];
    assert_eq!(payload[8..16], [0, 0, 0, 0, 1, 0, 0, 0]);
    let entry = |n: u64| (4 * 8192 + 256 * n) as u32 / 32;
    assert_eq!(payload[16..24], [entry(0), entry(1), 0, 0, entry(2), entry(3), 0, 0]);
    // Slots 0 and 1 of the first vertices, then of the second vertices.
    assert_eq!(payload.len(), 8 * (8 + 4));
    assert_eq!(payload[64..72], [0, 1000, 2000, 3000, 2, 1002, 2002, 3002]);
    assert_eq!(payload[72..80], [0; 8]);
    assert_eq!(payload[80..88], [1, 1001, 2001, 3001, 3, 1003, 2003, 3003]);

    let instances =
        ThreeDStateGs { instance_control: minus_one(3), ..place(gs(Mode::DUAL_INSTANCE, 2)) };
    let draw = shaded(&mut model, TWO_HALVES, &instances, Code::_3DPRIM_LINELIST, 4);
    // One object has two slots in a register: the halves are the first and the second slot.
    let mut draw =
        Draw { vertices: (0..4).map(|n| vec![n, 1, 2, 3, 50 + n, 4, 5, 6]).collect(), ..draw };
    let vertices = draw.run(&mut model).unwrap();
    let want =
        [[0, 1, 2, 0], [50, 4, 5, 1], [0, 1, 2, 2], [2, 1, 2, 0], [52, 4, 5, 1], [2, 1, 2, 2]];
    assert_eq!(vertices, want);
    let batch = draw.batch(&mut model);
    let payloads = model.payloads(&batch).unwrap();
    assert_eq!(payloads.len(), 4);
    let first = GsSIMD4x2ThreadPayload::unpack_lossy(payloads[0][..8].try_into().unwrap());
    assert_eq!([first.instance_id_0.get(), first.instance_id_1.get()], [0, 1]);
    assert_eq!(payloads[0][16..24], [entry(0), entry(1), 0, 0, 0, 0, 0, 0]);
    assert_eq!(payloads[0].len(), 8 * (8 + 2));

    let single = place(gs(Mode::SINGLE, 2));
    draw.stages.clear();
    push(&mut draw.stages, &single);
    assert_eq!(firsts(&draw.run(&mut model).unwrap()), [0, 2]);
}

/// The number of vertices of each object, and cut bits that end strips after a vertex.
#[test]
fn cuts_and_counts() {
    let mut model = model();
    let state = ThreeDStateGs {
        static_output: false,
        control_data_header_size: u(1),
        control_data_format: Format::CUT,
        output_topology: Code::_3DPRIM_LINESTRIP,
        ..gs(Mode::SIMD8, 1)
    };
    let mut draw = shaded(&mut model, SEVEN, &state, Code::_3DPRIM_POINTLIST, 0);
    // The control data and the vertex count of each object.
    draw.vertices = vec![
        vec![0, 7, 0, 0],
        vec![0b100, 6, 0, 0],
        vec![0b11, 2, 0, 0],
        vec![0, 0, 0, 0],
        vec![0b1, 3, 0, 0],
    ];
    let strips: [&[u32]; 5] =
        [&[0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6], &[0, 1, 1, 2, 3, 4, 4, 5], &[], &[], &[1, 2]];
    assert_eq!(firsts(&draw.run(&mut model).unwrap()), strips.concat());
    // An object with more vertices than fit in its URB entry.
    draw.vertices = vec![vec![0, 13, 0, 0]];
    assert!(matches!(
        draw.run(&mut model),
        Err(Fault::BadPacket { field: "Vertex Count", value: 13, .. })
    ));
    // Objects with another number of vertices than the shader expects are dropped.
    draw.topology = Code::_3DPRIM_LINELIST;
    draw.vertices = vec![vec![0; 4]; 4];
    assert!(draw.run(&mut model).unwrap().is_empty());
}

/// Two control bits for each point select its stream. Each stream has its own counters.
#[test]
fn streams() {
    let mut model = model();
    let state = ThreeDStateGs {
        static_output: false,
        control_data_header_size: u(1),
        control_data_format: Format::SID,
        ..gs(Mode::SIMD8, 1)
    };
    let mut draw = shaded(&mut model, SEVEN, &state, Code::_3DPRIM_POINTLIST, 0);
    draw.vertices = vec![vec![0b01_00_11_10_01_00_01, 7, 0, 0]];
    draw.buffers = (0..4).map(buffer).collect();
    draw.streams = 4;
    assert_eq!(firsts(&draw.run(&mut model).unwrap()), [1, 5]);
    assert_eq!(firsts(&written(&mut model, 1)), [0, 2, 6]);
    assert_eq!(firsts(&written(&mut model, 2)), [3]);
    assert_eq!(firsts(&written(&mut model, 3)), [4]);
    for (stream, count) in [2, 3, 1, 1].into_iter().enumerate() {
        assert_eq!(register(&mut model, 0x5200 + 8 * stream as u32), count);
        assert_eq!(register(&mut model, 0x5240 + 8 * stream as u32), count);
    }
    // Without a control header all vertices belong to the default stream.
    let state = ThreeDStateGs { default_stream_id: u(2), ..gs(Mode::SIMD8, 1) };
    draw.stages.clear();
    push(&mut draw.stages, &state);
    model.put(KERNELS, ONE_EACH);
    draw.run(&mut model).unwrap();
    assert_eq!(written(&mut model, 2).len(), 1);
    assert!(written(&mut model, 0).is_empty());
}

/// Each stream reads its vertices from an offset on, and as much as its length says. The register
/// index counts from the offset (2d SO_DECL).
#[test]
fn read_ranges_of_streams() {
    let mut model = model();
    let point = |stream: u64| ThreeDStateGs {
        default_stream_id: u(stream),
        output_vertex_size: minus_one(4),
        ..gs(Mode::SIMD8, 1)
    };
    for stream in 0..4 {
        let mut draw = shaded(&mut model, FOUR_SLOTS, &point(stream), Code::_3DPRIM_POINTLIST, 1);
        draw.buffers = (0..4).map(buffer).collect();
        draw.streams = 4;
        let all = |draw: &mut Draw, offset: u64, length: u64, slot: u64| {
            draw.slots[0].register_index = u(slot);
            let packet = &mut draw.streamout;
            [
                packet.stream_0_vertex_read_offset,
                packet.stream_1_vertex_read_offset,
                packet.stream_2_vertex_read_offset,
                packet.stream_3_vertex_read_offset,
            ] = [u(offset); 4];
            [
                packet.stream_0_vertex_read_length,
                packet.stream_1_vertex_read_length,
                packet.stream_2_vertex_read_length,
                packet.stream_3_vertex_read_length,
            ] = [minus_one(length); 4];
        };
        // Two slots in a unit of offset and length. Slot n has the numbers from 10 n on.
        for (offset, length, slot) in [(0, 2, 3), (0, 2, 2), (0, 1, 1), (1, 1, 1), (1, 1, 0)] {
            all(&mut draw, offset, length, slot);
            draw.run(&mut model).unwrap();
            let first = 10 * (2 * offset + slot) as u32;
            let want = [first, first + 1, first + 2, first + 3];
            assert_eq!(written(&mut model, stream), [want], "stream {stream}, slot {slot}");
        }
    }
}

/// Reorder Mode determines the order of strips. Adjacent vertices are passed unless they are
/// discarded.
#[test]
fn order_of_input() {
    let mut model = model();
    let inputs = |model: &mut Model, state: &ThreeDStateGs, code, count| {
        let draw = shaded(model, ONE_EACH, state, code, count);
        let batch = draw.batch(model);
        let payload = &model.payloads(&batch).unwrap()[0];
        let objects = payload.len();
        let vertices = state.expected_vertex_count.get() as usize;
        let start = state.dispatch_grf_start_register_for_urb_data.get() as usize;
        assert_eq!(objects, 8 * (start + 8 * vertices));
        // First component of each vertex of the second object.
        (0..vertices).map(|vertex| payload[8 * (start + 8 * vertex) + 1]).collect::<Vec<u32>>()
    };
    for (reorder_mode, want) in
        [(ReorderMode::LEADING, [1, 3, 2]), (ReorderMode::TRAILING, [2, 1, 3])]
    {
        let state = ThreeDStateGs { reorder_mode, ..gs(Mode::SIMD8, 3) };
        assert_eq!(inputs(&mut model, &state, Code::_3DPRIM_TRISTRIP, 5), want);
    }
    let state = ThreeDStateGs { discard_adjacency: true, ..gs(Mode::SIMD8, 2) };
    assert_eq!(inputs(&mut model, &state, Code::_3DPRIM_LINELIST_ADJ, 8), [5, 6]);
    let state = gs(Mode::SIMD8, 4);
    assert_eq!(inputs(&mut model, &state, Code::_3DPRIM_LINELIST_ADJ, 8), [4, 5, 6, 7]);
    let state = gs(Mode::SIMD8, 6);
    assert_eq!(inputs(&mut model, &state, Code::_3DPRIM_TRISTRIP_ADJ, 10), [2, 5, 6, 8, 4, 0]);
}

/// Invalid state, with which no thread can run.
#[test]
fn what_is_refused() {
    let mut model = model();
    let mut refused =
        |state: &ThreeDStateGs| match shaded(&mut model, ONE_EACH, state, Code::_3DPRIM_TRILIST, 3)
            .run(&mut model)
        {
            Err(Fault::BadPacket { field, .. }) => field,
            other => panic!("{other:?}"),
        };
    assert_eq!(refused(&gs(Mode::SIMD8, 7)), "Expected Vertex Count");
    let instances = ThreeDStateGs { instance_control: minus_one(2), ..gs(Mode::DUAL_OBJECT, 3) };
    assert_eq!(refused(&instances), "Instance Control");
    let patches =
        ThreeDStateGs { output_topology: Code::_3DPRIM_PATCHLIST_3, ..gs(Mode::SIMD8, 3) };
    assert_eq!(refused(&patches), "Output Topology");
}

/// Damaged packets cause a fault or wrong vertices, but no panic.
#[test]
fn damaged_state() {
    let mut model = model();
    let state = ThreeDStateGs {
        static_output: false,
        control_data_header_size: u(1),
        output_topology: Code::_3DPRIM_LINESTRIP,
        ..gs(Mode::SIMD8, 1)
    };
    let mut draw = shaded(&mut model, SEVEN, &state, Code::_3DPRIM_POINTLIST, 0);
    draw.vertices = (0..20).map(|n| vec![n, n % 8, 0, 0]).collect();
    damage(&mut model, &draw, 150, 13);
}
