//! Draws whose last stage is a geometry or domain shader: the masks of user clip and cull distances
//! and the offset of the attributes are those of that stage. Oracle: 2a 3DSTATE_GS, 3DSTATE_DS
//! (User Clip Distance Test Enable Bitmasks, Vertex URB Entry Output Read Offset); OpenGL 4.6,
//! 13.7.

use crate::screen::scene::{Scene, on_screen};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_stages::{
    ThreeDStateDs, ThreeDStateGs, ThreeDStateGsDispatchMode as Mode, ThreeDStateHs, ThreeDStateTe,
    ThreeDStateTeTeDomain as Domain, ThreeDStateVs,
};
use genxml_cases::{KERNELS, at, draw, minus_one, packets, push, u};

/// Offsets of the kernels from the instruction base. The scene's pixel shader is at 0.
const SHADER: u64 = 0x1000;
const HULL_SHADER: u64 = 0x2000;

/// Writes a vertex in the middle of the screen. Its slots are the header, the position, and the
/// floats 1, -1, -1, -1. Register `$handles` has the URB handles of the vertices.
macro_rules! kernel {
    ($handles:ident) => {
        &eu! {
            mov (8|M0)       r112.0<1>:ud  $handles.0<8;8,1>:ud;
            mov (8|M0)       r113.0<1>:ud  0:ud;
            mov (8|M0)       r114.0<1>:ud  0:ud;
            mov (8|M0)       r115.0<1>:ud  0:ud;
            mov (8|M0)       r116.0<1>:ud  0:ud;
            send (8|M0)      null  r112  0x6  0x0A080007;
            mov (8|M0)       r116.0<1>:f  1.0:f;
            send (8|M0)      null  r112  0x6  0x0A080017;
            mov (8|M0)       r113.0<1>:f  1.0:f;
            mov (8|M0)       r114.0<1>:f  -1.0:f;
            mov (8|M0)       r115.0<1>:f  -1.0:f;
            mov (8|M0)       r116.0<1>:f  -1.0:f;
            send (8|M0)      null  r112  0x26  0x0A080027  {EOT};
        }
    };
}

const GEOMETRY: &[u32] = kernel!(r1);
const DOMAIN: &[u32] = kernel!(r4);

/// Writes a patch header in which all tessellation factors are 1.
const HULL: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    (W) mov (8|M0)   r113.0<1>:f  1.0:f
    (W) send (8|M0)  null  r112  0x26  0x04080000  {EOT}
};

#[derive(Clone, Copy, Debug)]
enum Last {
    Geometry,
    Domain,
}

/// The packets of the last stage and of those that it needs.
fn stages(last: Last, clips: u64, culls: u64, offset: u64) -> Vec<u32> {
    let mut batch = draw::urb(4);
    batch.extend(match last {
        Last::Geometry => packets![ThreeDStateGs {
            enable: true,
            kernel_start_pointer: at(SHADER),
            dispatch_mode: Mode::SIMD8,
            expected_vertex_count: u(1),
            vertex_urb_entry_read_length: u(1),
            dispatch_grf_start_register_for_urb_data: u(2),
            maximum_number_of_threads: u(7),
            output_topology: Code::_3DPRIM_POINTLIST,
            output_vertex_size: minus_one(3),
            static_output: true,
            static_output_vertex_count: u(1),
            user_clip_distance_clip_test_enable_bitmask: u(clips),
            user_clip_distance_cull_test_enable_bitmask: u(culls),
            vertex_urb_entry_output_read_offset: u(offset),
            ..ThreeDStateGs::new()
        }],
        Last::Domain => packets![
            ThreeDStateHs {
                enable: true,
                kernel_start_pointer: at(HULL_SHADER),
                dispatch_grf_start_register_for_urb_data: u(1),
                maximum_number_of_threads: minus_one(8),
                ..ThreeDStateHs::new()
            },
            ThreeDStateTe { te_enable: true, te_domain: Domain::QUAD, ..ThreeDStateTe::new() },
            ThreeDStateDs {
                function_enable: true,
                simd8_dispatch_enable: true,
                kernel_start_pointer: at(SHADER),
                dispatch_grf_start_register_for_urb_data: u(5),
                maximum_number_of_threads: minus_one(8),
                user_clip_distance_clip_test_enable_bitmask: u(clips),
                user_clip_distance_cull_test_enable_bitmask: u(culls),
                vertex_urb_entry_output_read_offset: u(offset),
                ..ThreeDStateDs::new()
            },
        ],
    });
    batch
}

/// The pixels of a screen of 4x4 after a draw. They were 7 before.
fn draw(last: Last, clips: u64, culls: u64, offset: u64) -> Vec<u32> {
    let (topology, kernel) = match last {
        Last::Geometry => (Code::_3DPRIM_POINTLIST, GEOMETRY),
        Last::Domain => (Code::_3DPRIM_PATCHLIST_1, DOMAIN),
    };
    let mut scene = Scene::new([4, 4], topology, vec![on_screen(0.0, 0.0, 0)]).clipped();
    scene.targets[0].before = [7; 4];
    scene.sbe.force_vertex_urb_entry_read_offset = false;
    scene.more = stages(last, clips, culls, offset);
    let mut model = scene.model();
    let batch = scene.batch(&mut model);
    model.put(KERNELS + SHADER, kernel);
    model.put(KERNELS + HULL_SHADER, HULL);
    let stats = model.render(&batch).unwrap();
    scene.drawn(&mut model, stats).dwords(0, 0, 0)
}

#[test]
fn masks_and_offset_of_the_last_stage() {
    let one = 1_f32.to_bits();
    for last in [Last::Geometry, Last::Domain] {
        for (clips, culls, offset, want) in [
            (0, 0, 1, one),
            // The attribute is the header, which is 0.
            (0, 0, 0, 0),
            (1, 0, 1, one),
            (2, 0, 1, 7),
            (0, 1, 1, one),
            (0, 2, 1, 7),
        ] {
            // A point of one pixel has its centre on the corner of four pixels. The rule for ties
            // gives it to one of them.
            let found = draw(last, clips, culls, offset);
            let changed = found.iter().filter(|pixel| **pixel != 7).count();
            assert_eq!(changed, usize::from(want != 7), "{last:?} {clips} {culls}: {found:?}");
            assert!(want == 7 || found.contains(&want), "{last:?} {offset}: {found:?}");
        }
    }
}

/// Without other stages, the offset is that of 3DSTATE_VS. It counts pairs of slots; slot n of the
/// vertices has the value n.
#[test]
fn offset_of_the_vertex_shader() {
    for offset in [1, 2, 3] {
        let vertices = [(0.0, 0.0), (8.0, 0.0), (0.0, 8.0)].map(|(x, y)| {
            let mut vertex = on_screen(x, y, 0);
            vertex.attributes = (2..8).map(|slot| [slot; 4]).collect();
            vertex
        });
        let mut scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices.to_vec());
        scene.sbe.force_vertex_urb_entry_read_offset = false;
        let vs = ThreeDStateVs {
            vertex_urb_entry_output_read_offset: u(offset),
            ..ThreeDStateVs::new()
        };
        push(&mut scene.more, &vs);
        let drawn = scene.run().unwrap().dwords(0, 0, 0);
        assert_eq!(drawn, [2 * offset as u32; 16], "offset {offset}");
    }
}
