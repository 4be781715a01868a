//! Draws whose rows of tiles are drawn by several host threads, which write the targets directly.
//! Memory, counters, clock and faults must equal those of one host thread.

use crate::screen::scene::{ROOM, Scene, TARGETS, on_screen};
use genxml::gen8::enums::{ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBufferSurfaceFormat as DepthFormat, ThreeDStateWmDepthStencil,
};
use genxml::gen8::state::RenderSurfaceState;
use genxml_cases::{at, put_surfaces};
use genxml_sim::machine::stats::Speculation;

/// What a draw leaves.
#[derive(PartialEq, Debug)]
struct Outcome {
    result: Result<u64, String>,
    target: Vec<u32>,
    depth: Vec<u8>,
    counters: [u64; 36],
}

/// Draws on `threads` host threads to a target at `offset` from its usual address.
fn run(scene: &Scene, offset: u64, threads: usize) -> (Outcome, Speculation) {
    let mut model = scene.model();
    model.gpu.set_threads(threads);
    let batch = scene.batch(&mut model);
    let surface =
        RenderSurfaceState { surface_base_address: at(TARGETS + offset), ..scene.surface(0) };
    // It replaces the state that the scene has written.
    put_surfaces(&mut model, &[surface]);
    let result = model.render(&batch);
    let speculation = model.gpu.context(model.context).state.speculation;
    let outcome = Outcome {
        result: result.map(|stats| stats.pixels).map_err(|fault| fault.to_string()),
        target: model.get(TARGETS, ROOM as usize / 4),
        depth: scene.depth.map_or(Vec::new(), |_| model.read(crate::screen::scene::DEPTH, 1 << 18)),
        counters: model.counters(),
    };
    (outcome, speculation)
}

/// Two triangles. The first covers the whole screen. The second covers its lower right half. Each
/// corner has another depth.
fn scene(size: [u32; 2]) -> Scene {
    let [w, h] = size.map(|side| side as f32);
    let corners = [(0.0, 0.0), (2.0 * w, 0.0), (0.0, 2.0 * h), (w, h), (0.0, h), (w, 0.0)];
    let vertex = |(n, (x, y))| {
        let mut vertex = on_screen(x, y, n as u32 + 1);
        vertex.position[2] = 0.5 - 0.05 * n as f32;
        vertex
    };
    let mut scene = Scene::new(
        size,
        Code::_3DPRIM_TRILIST,
        corners.into_iter().enumerate().map(vertex).collect(),
    );
    scene.depth = Some((DepthFormat::D32_FLOAT, 0.6f32.to_bits()));
    scene.tests = ThreeDStateWmDepthStencil {
        depth_test_enable: true,
        depth_buffer_write_enable: true,
        depth_test_function: Compare::COMPAREFUNCTION_LESS,
        ..ThreeDStateWmDepthStencil::new()
    };
    scene
}

/// Four rows of four tiles. In a linear target, each row has its own pages; in a target with Y
/// tiles, each tile.
#[test]
fn areas_have_their_own_pages() {
    for (tiled, areas) in [(false, 4), (true, 16)] {
        let mut scene = scene([240, 256]);
        scene.targets[0].tiled = tiled;
        let (one, speculation) = run(&scene, 0, 1);
        assert_eq!(speculation.committed + speculation.aborted, 0);
        assert!(one.result.is_ok(), "{:?}", one.result);
        assert!(one.target.contains(&1) && one.target.contains(&4));
        for threads in [2, 3, 4, 2, 2] {
            let (many, speculation) = run(&scene, 0, threads);
            assert!(many == one, "{threads} threads: {:?}", many.result);
            assert_eq!([speculation.committed, speculation.aborted], [areas, 0]);
        }
    }
}

/// The target does not start at a page boundary. So two neighbouring rows of tiles share the page
/// at their border. A claim is refused, and the draw runs again in order.
#[test]
fn rows_of_tiles_share_pages() {
    let scene = scene([240, 250]);
    let (one, _) = run(&scene, 0x400, 1);
    assert!(one.result.is_ok(), "{:?}", one.result);
    for threads in [2, 3, 4, 2, 2] {
        let (many, speculation) = run(&scene, 0x400, threads);
        assert!(many == one, "{threads} threads: {:?}", many.result);
        assert_eq!([speculation.committed, speculation.aborted], [0, 1], "{threads} threads");
    }
}

/// The memory of the target ends before its last rows.
#[test]
fn fault_in_the_last_row_of_tiles() {
    let scene = scene([240, 300]);
    let (one, _) = run(&scene, 0, 1);
    assert!(one.result.is_err());
    for threads in [2, 3, 4, 2, 2] {
        let (many, speculation) = run(&scene, 0, threads);
        assert!(many == one, "{threads} threads: {:?} {:?}", many.result, one.result);
        assert_eq!([speculation.committed, speculation.aborted], [0, 1], "{threads} threads");
    }
}
