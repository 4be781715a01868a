//! Slices of depth and stencil buffers: each render target array index has its own. Oracle: slice n
//! of an array begins n times QPitch rows below the first (gen8_facts 10.2); slice n of level 0 of
//! a 3D surface begins n times its height below it; bytes by tiles filled on paper.

use crate::screen::scene::{DEPTH, STENCIL, Scene, Vertex, on_screen};
use genxml::gen8::enums::{ThreeDPrimTopoType as Code, ThreeDStencilOperation as Operation};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat as DepthFormat,
    ThreeDStateStencilBuffer, ThreeDStateWmDepthStencil,
};
use genxml::gen8::state::SurfaceType;
use genxml_cases::paper::Tiling;
use genxml_cases::{Model, minus_one, push, u};
use genxml_core::Shifted;

const SLICES: u32 = 4;
/// Width and height in pixels.
const SIDE: u32 = 8;
/// Bytes of a row of the depth buffer, and of the stencil buffer.
const PITCHES: [u64; 2] = [128, 256];
const BEFORE: (u32, u8) = (0x3f00_0000, 0x40);

fn depth_of(slice: u32) -> f32 {
    0.125 * (slice + 1) as f32
}

/// Draws slice n with its own depth n + 1 times, last slice first. Each draw increments stencil.
fn scene() -> Scene {
    let mut vertices = Vec::new();
    for slice in (0..SLICES).rev() {
        for _ in 0..=slice {
            vertices.extend([[0.0, 0.0], [32.0, 0.0], [0.0, 32.0]].map(|[x, y]| Vertex {
                header: [0, slice, 0, 0],
                position: [x, y, depth_of(slice), 1.0],
                ..on_screen(0.0, 0.0, slice + 1)
            }));
        }
    }
    let mut scene = Scene::new([SIDE; 2], Code::_3DPRIM_TRILIST, vertices);
    scene.targets[0].layers = SLICES;
    scene.depth = Some((DepthFormat::D32_FLOAT, BEFORE.0));
    scene.stencil = Some(BEFORE.1);
    scene.tests = ThreeDStateWmDepthStencil {
        depth_test_enable: true,
        depth_buffer_write_enable: true,
        stencil_test_enable: true,
        stencil_buffer_write_enable: true,
        stencil_test_mask: u(0xff),
        stencil_write_mask: u(0xff),
        stencil_pass_depth_pass_op: Operation::STENCILOP_INCR,
        ..scene.tests
    };
    scene
}

/// Compares the first rows of both buffers. Slices are `distances` rows apart.
fn check(model: &mut Model, distances: [u32; 2]) {
    let depths = model.read(DEPTH, 64 << 10);
    let stencils = model.read(STENCIL, 64 << 10);
    let slice = |y: u32, distance: u32| {
        (y % distance < SIDE && y / distance < SLICES).then_some(y / distance)
    };
    for y in 0..SLICES * distances[0].max(distances[1]) + SIDE {
        for x in 0..SIDE {
            let at = Tiling::Y.offset(4 * u64::from(x), y.into(), PITCHES[0]) as usize;
            let found = u32::from_le_bytes(depths[at..at + 4].try_into().unwrap());
            let want = slice(y, distances[0]).map_or(BEFORE.0, |n| depth_of(n).to_bits());
            assert_eq!(found, want, "depth of column {x}, row {y}");
            let at = Tiling::W.offset(x.into(), y.into(), PITCHES[1]) as usize;
            let want = slice(y, distances[1]).map_or(BEFORE.1, |n| BEFORE.1 + n as u8 + 1);
            assert_eq!(stencils[at], want, "stencil of column {x}, row {y}");
        }
    }
}

#[test]
fn slices_of_arrays() {
    for distances in [[16, 24], [12, 8], [8, 40]] {
        let mut scene = scene();
        let [depth_rows, stencil_rows] =
            distances.map(|rows| Shifted::new(rows.into()).expect("a multiple of four"));
        let depth = ThreeDStateDepthBuffer {
            depth: minus_one(SLICES.into()),
            render_target_view_extent: minus_one(SLICES.into()),
            surface_qpitch: depth_rows,
            ..scene.depth_buffer()
        };
        let stencil =
            ThreeDStateStencilBuffer { surface_qpitch: stencil_rows, ..scene.stencil_buffer() };
        push(&mut scene.more, &depth);
        push(&mut scene.more, &stencil);
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        model.render(&batch).unwrap();
        check(&mut model, distances);
    }
}

/// Render Target View Extent is the number of slices of a 3D buffer that can be drawn.
#[test]
fn slices_of_volumes() {
    let mut scene = scene();
    let depth = ThreeDStateDepthBuffer {
        surface_type: SurfaceType::SURFTYPE_3D,
        depth: minus_one(SLICES.into()),
        render_target_view_extent: minus_one(SLICES.into()),
        ..scene.depth_buffer()
    };
    push(&mut scene.more, &depth);
    let mut model = scene.model();
    let batch = scene.batch(&mut model);
    model.render(&batch).unwrap();
    check(&mut model, [SIDE; 2]);
}
