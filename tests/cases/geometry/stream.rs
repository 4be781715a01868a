//! Stream output of fetched vertices. Oracle: 2a p.216-230; the tables of OpenGL 4.6, 10.1, for the
//! order of vertices; gen8_facts 5.4 for the registers.

use crate::geometry::harness::{Draw, OUT, buffer, damage, firsts, model, register, written};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::mi::MiTopologyFilter;
use genxml::gen8::render3d_fetch::ThreeDStateVfStatistics;
use genxml::gen8::render3d_stages::{
    ReorderMode, SoDecl, ThreeDStateSoBuffer, ThreeDStateStreamout,
};
use genxml_cases::{at, packets, push, u};
use genxml_core::MinusOne;
use genxml_sim::Fault;

const WRITTEN: u32 = 0x5200;
const NEEDED: u32 = 0x5240;
const IA_VERTICES: u32 = 0x2310;
const IA_PRIMITIVES: u32 = 0x2318;
const CUT: u32 = u32::MAX;

/// Strips are written as lists, in the order that the packet selects.
#[test]
fn topologies() {
    let leading: &[(Code, u32, &[u32])] = &[
        (Code::_3DPRIM_POINTLIST, 3, &[0, 1, 2]),
        (Code::_3DPRIM_LINELIST, 5, &[0, 1, 2, 3]),
        (Code::_3DPRIM_LINESTRIP, 4, &[0, 1, 1, 2, 2, 3]),
        (Code::_3DPRIM_LINELOOP, 3, &[0, 1, 1, 2, 2, 0]),
        (Code::_3DPRIM_TRILIST, 7, &[0, 1, 2, 3, 4, 5]),
        (Code::_3DPRIM_TRISTRIP, 5, &[0, 1, 2, 1, 3, 2, 2, 3, 4]),
        (Code::_3DPRIM_TRISTRIP_REVERSE, 4, &[0, 2, 1, 1, 2, 3]),
        (Code::_3DPRIM_TRIFAN, 5, &[0, 1, 2, 0, 2, 3, 0, 3, 4]),
        (Code::_3DPRIM_LINELIST_ADJ, 8, &[1, 2, 5, 6]),
        (Code::_3DPRIM_LINESTRIP_ADJ, 5, &[1, 2, 2, 3]),
        (Code::_3DPRIM_TRILIST_ADJ, 6, &[0, 2, 4]),
        (Code::_3DPRIM_TRISTRIP_ADJ, 8, &[0, 2, 4, 2, 6, 4]),
    ];
    let mut model = model();
    for &(code, count, want) in leading {
        let draw = Draw::new(code, count);
        let vertices = draw.run(&mut model).unwrap();
        assert_eq!(firsts(&vertices), want, "{code:?}");
        assert!(vertices.iter().all(|&[n, y, z, w]| [y, z, w] == [1000 + n, 2000 + n, 3000 + n]));
    }
    let streamout = |draw: &Draw| ThreeDStateStreamout {
        reorder_mode: ReorderMode::TRAILING,
        ..draw.streamout
    };
    for (code, count, want) in [
        (Code::_3DPRIM_TRISTRIP, 5, vec![0, 1, 2, 2, 1, 3, 2, 3, 4]),
        (Code::_3DPRIM_TRISTRIP_REVERSE, 4, vec![1, 0, 2, 1, 2, 3]),
        (Code::_3DPRIM_TRISTRIP_ADJ, 8, vec![0, 2, 4, 4, 2, 6]),
        (Code::_3DPRIM_TRIFAN, 4, vec![0, 1, 2, 0, 2, 3]),
    ] {
        let mut draw = Draw::new(code, count);
        draw.streamout = streamout(&draw);
        assert_eq!(firsts(&draw.run(&mut model).unwrap()), want, "{code:?}");
    }
}

#[test]
fn cuts_and_instances() {
    let mut model = model();
    let draw = Draw {
        indices: Some(vec![3, 2, 1, 0, CUT, 7, CUT, 4, 5, 6]),
        instances: 2,
        stages: packets![ThreeDStateVfStatistics { statistics_enable: true }],
        ..Draw::new(Code::_3DPRIM_TRISTRIP, 8)
    };
    let once = [3, 2, 1, 2, 0, 1, 4, 5, 6];
    assert_eq!(firsts(&draw.run(&mut model).unwrap()), [once, once].concat());
    assert_eq!([register(&mut model, WRITTEN), register(&mut model, NEEDED)], [6, 6]);
    // Eight vertices and three triangles per instance: the cut index does not count as a vertex.
    assert_eq!([register(&mut model, IA_VERTICES), register(&mut model, IA_PRIMITIVES)], [16, 6]);
}

/// A draw continues where the last one ended. A primitive that does not fit completely is counted
/// but not written. The following triangle does not fit either; smaller primitives do.
#[test]
fn overflow_and_offsets() {
    let mut model = model();
    // The buffer has room for two triangles and two vertices.
    let small = ThreeDStateSoBuffer { surface_size: MinusOne::new(4 * 8).unwrap(), ..buffer(0) };
    let draw = Draw { buffers: vec![small], ..Draw::new(Code::_3DPRIM_TRILIST, 9) };
    assert_eq!(firsts(&draw.run(&mut model).unwrap()), [0, 1, 2, 3, 4, 5]);
    assert_eq!([register(&mut model, WRITTEN), register(&mut model, NEEDED)], [2, 3]);
    let more = Draw { buffers: Vec::new(), ..Draw::new(Code::_3DPRIM_POINTLIST, 4) };
    assert_eq!(firsts(&more.run(&mut model).unwrap()), [0, 1, 2, 3, 4, 5, 0, 1]);
    assert_eq!([register(&mut model, WRITTEN), register(&mut model, NEEDED)], [4, 7]);
    // The bytes beyond the end are unchanged.
    assert_eq!(model.get(OUT + 128, 4), [0; 4]);
    // Counters do not change without statistics or with the function disabled.
    let quiet = ThreeDStateStreamout { so_statistics_enable: false, ..more.streamout };
    Draw { streamout: quiet, ..more.clone() }.run(&mut model).unwrap();
    let off = ThreeDStateStreamout { so_function_enable: false, ..more.streamout };
    Draw { streamout: off, buffers: vec![buffer(0)], ..more }.run(&mut model).unwrap();
    assert_eq!([register(&mut model, WRITTEN), register(&mut model, NEEDED)], [4, 7]);
    assert_eq!(register(&mut model, 0x5280), 0);
}

/// 3DSTATE_SO_BUFFER sets the offset, leaves it unchanged, or loads it from memory, where draws
/// store it (2a p.217).
#[test]
fn offsets_in_memory() {
    const KEPT: u64 = OUT + 0x8_0000;
    let mut model = model();
    let kept = ThreeDStateSoBuffer {
        stream_output_buffer_offset_address_enable: true,
        stream_output_buffer_offset_address: at(KEPT),
        stream_offset: u(32),
        ..buffer(0)
    };
    let draw = |buffers| Draw { buffers, ..Draw::new(Code::_3DPRIM_POINTLIST, 3) };
    draw(vec![kept]).run(&mut model).unwrap();
    assert_eq!(model.get(OUT + 32, 4)[0], 0);
    assert_eq!(model.get(KEPT, 1), [32 + 3 * 16]);
    // All ones: load the offset from memory, whatever the register holds.
    model.put(KEPT, &[160]);
    let load = ThreeDStateSoBuffer { stream_offset: u(0xffff_ffff), ..kept };
    draw(vec![load]).run(&mut model).unwrap();
    assert_eq!(model.get(OUT + 176, 1), [1]);
    assert_eq!(model.get(KEPT, 1), [160 + 48]);
    // Without Stream Offset Write Enable the register is unchanged. Without the address enable,
    // memory is unchanged.
    let stay = ThreeDStateSoBuffer {
        stream_offset_write_enable: false,
        stream_output_buffer_offset_address_enable: false,
        ..load
    };
    draw(vec![stay]).run(&mut model).unwrap();
    assert_eq!(register(&mut model, 0x5280), 208 + 48);
    assert_eq!(model.get(KEPT, 1), [208]);
    // The address of the offset or of the buffer is in unmapped memory.
    let nowhere =
        ThreeDStateSoBuffer { stream_output_buffer_offset_address: at(0x7000_0000), ..load };
    assert!(matches!(draw(vec![nowhere]).run(&mut model), Err(Fault::Page { .. })));
    let gone = ThreeDStateSoBuffer { surface_base_address: at(0x7000_0000), ..buffer(0) };
    assert!(matches!(draw(vec![gone]).run(&mut model), Err(Fault::Page { .. })));
}

/// Two buffers, a hole, and components from the middle of a slot.
#[test]
fn declarations() {
    let mut model = model();
    let mut draw = Draw::new(Code::_3DPRIM_LINELIST, 4);
    let declare = |buffer, mask| SoDecl {
        output_buffer_slot: u(buffer),
        component_mask: u(mask),
        ..SoDecl::new()
    };
    let hole = SoDecl { hole_flag: true, ..declare(0, 3) };
    draw.slots = vec![declare(0, 1), hole, declare(1, 8), declare(0, 4)];
    draw.buffers = vec![buffer(0), buffer(1)];
    draw.streamout.buffer_1_surface_pitch = u(4);
    model.put(OUT, &[0x55; 16]);
    let first = draw.run(&mut model).unwrap();
    assert_eq!(first, [0, 1, 2, 3].map(|n| [n, 0x55, 0x55, 2000 + n]));
    assert_eq!(written(&mut model, 1), [[3000, 3001, 3002, 3003]]);
}

/// MI_TOPOLOGY_FILTER passes draws of one topology, or of all.
#[test]
fn topology_filter() {
    let mut model = model();
    for (filter, drawn) in
        [(Code::_3DPRIM_POINTLIST, 4), (Code::_3DPRIM_LINELIST, 0), (Code::from_bits(0), 4)]
    {
        let mut draw = Draw::new(Code::_3DPRIM_POINTLIST, 4);
        push(&mut draw.stages, &MiTopologyFilter { topology_filter_value: filter });
        assert_eq!(draw.run(&mut model).unwrap().len(), drawn, "{filter:?}");
    }
}

/// Damaged packets cause a fault or a wrong stream, but no panic.
#[test]
fn damaged_state() {
    let draw = Draw {
        indices: Some(vec![0, 1, 2, 3, CUT, 4, 5, 6]),
        ..Draw::new(Code::_3DPRIM_TRISTRIP, 7)
    };
    damage(&mut model(), &draw, 500, 11);
}
