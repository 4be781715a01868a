//! Clipping, viewports, scissors, layers: where primitives are drawn. Oracle: OpenGL 4.6 13.7
//! (clipping) and 13.8 (viewports), at positions where all edges lie at whole pixels; the sign of
//! user clip distances at each pixel.

use crate::screen::exact::covers;
use crate::screen::scene::{Scene, Vertex, on_screen, viewport};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::registers::{ClInvocationCount, ClPrimitivesCount};
use genxml::gen8::render3d_raster::{
    ScissorRect, ThreeDStateClip, ThreeDStateClipApiMode as Api, ThreeDStateClipClipMode as Mode,
    ThreeDStateClipForceUserClipDistanceClipTestEnableBitmask as ForceClip,
    ThreeDStateClipForceUserClipDistanceCullTestEnableBitmask as ForceCull,
    ThreeDStateDrawingRectangle,
};
use genxml_cases::{push, u};
use genxml_core::S;

/// A triangle in clip space that covers the whole screen.
fn whole(value: u32, z: f32) -> [Vertex; 3] {
    [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]
        .map(|[x, y]| Vertex { position: [x, y, z, 1.0], ..on_screen(0.0, 0.0, value) })
}

fn triangles(vertices: Vec<Vertex>) -> Scene {
    Scene::new([8, 8], Code::_3DPRIM_TRILIST, vertices)
}

fn filled(
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
    value: char,
) -> Vec<String> {
    let pixel =
        |x: usize, y: usize| if rows.contains(&y) && columns.contains(&x) { value } else { '.' };
    (0..8).map(|y| (0..8).map(|x| pixel(x, y)).collect()).collect()
}

/// Drawing ends at the edges of the viewport, whether the rasteriser or the clipper (because of the
/// guard band) cuts the triangle.
#[test]
fn viewport_and_guard_band() {
    for guard in [1.0, 2.0, 8.0] {
        let mut scene = triangles(whole(1, 0.0).to_vec()).clipped();
        let mut part = viewport([2.0, 1.0, 6.0, 4.0]);
        (part.x_min_clip_guardband, part.x_max_clip_guardband) = (-guard, guard);
        (part.y_min_clip_guardband, part.y_max_clip_guardband) = (-guard, guard);
        scene.viewports[0].0 = part;
        assert_eq!(scene.art(), filled(1..4, 2..6, '1'), "{guard}");
    }
}

/// Depths outside of the API's range are clipped: -w to w in OpenGL, 0 to w in Direct3D.
#[test]
fn near_and_far() {
    // z grows from -2 to 2 from left to right.
    let plane = |x: f32| 2.0 * x;
    let vertices: Vec<Vertex> = whole(1, 0.0)
        .into_iter()
        .map(|mut v| {
            v.position[2] = plane(v.position[0]);
            v
        })
        .collect();
    let mut scene = triangles(vertices).clipped();
    scene.viewports[0].0.viewport_matrix_element_m22 = 0.5;
    scene.viewports[0].0.viewport_matrix_element_m32 = 0.5;
    for (api, clip, columns) in [
        (Api::OGL, true, 2..6),
        (Api::D3D, true, 4..6),
        (Api::OGL, false, 0..8),
        (Api::D3D, false, 0..8),
    ] {
        scene.clip.api_mode = api;
        scene.raster.viewport_z_clip_test_enable = clip;
        assert_eq!(scene.art(), filled(0..8, columns, '1'), "{api:?} {clip}");
    }
}

/// A triangle with one vertex behind the eye: only the part in front is drawn. Oracle: the sign of
/// w and of the edges at each pixel, in f64 (homogeneous edge functions). Pixels at which one of
/// these functions is below 1/64 are skipped.
#[test]
fn behind_the_eye() {
    let corners = [[-0.5, -1.0, 0.0, 1.0], [0.5, -1.0, 0.0, 1.0], [0.25, 1.0, 0.0, -0.5_f32]];
    let vertices = corners.map(|position| Vertex { position, ..on_screen(0.0, 0.0, 1) }).to_vec();
    let mut scene = triangles(vertices).clipped();
    scene.raster.viewport_z_clip_test_enable = false;
    let drawn = scene.run().unwrap().dwords(0, 0, 0);
    let [a, b, c] = corners.map(|p| [f64::from(p[0]), f64::from(p[1]), f64::from(p[3])]);
    let cross = |p: [f64; 3], q: [f64; 3]| {
        [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
    };
    let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let (mut lit, determinant) = (0, dot(cross(a, b), c));
    for (n, &value) in drawn.iter().enumerate() {
        let at = [(n % 8) as f64 / 4.0 + 0.125 - 1.0, 1.0 - 0.125 - (n / 8) as f64 / 4.0, 1.0];
        // Weights of the corners, times w: all are positive for the part in front of the eye.
        let weights =
            [cross(b, c), cross(c, a), cross(a, b)].map(|edge| dot(edge, at) / determinant);
        if weights.iter().any(|w| w.abs() < 1.0 / 64.0) {
            continue;
        }
        let want = weights.iter().all(|&w| w > 0.0);
        lit += u32::from(want);
        assert_eq!(value == 1, want, "pixel {n}: {weights:?}");
    }
    assert!(lit > 8, "{lit}");
}

#[test]
fn clip_modes() {
    let mut scene = triangles(whole(1, 0.0).to_vec()).clipped();
    scene.clip.clip_mode = Mode::REJECT_ALL;
    assert_eq!(scene.art(), filled(0..0, 0..0, '1'));
    scene.clip.clip_mode = Mode::ACCEPT_ALL;
    assert_eq!(scene.art(), filled(0..8, 0..8, '1'));
}

/// Two user distances, along x and along y. A clip distance cuts triangles where it is negative. A
/// cull distance drops the triangles that have no vertex inside.
#[test]
fn user_distances() {
    // The distances are in the slots between the position and the attributes.
    let with_distances = |v: Vertex, distances: [f32; 2]| {
        let mut slots = vec![[distances[0].to_bits(), distances[1].to_bits(), 0, 0], [0; 4]];
        slots.extend(&v.attributes);
        Vertex { attributes: slots, ..v }
    };
    let draw = |clips: u64, culls: u64, distance: &dyn Fn(f32, f32) -> [f32; 2]| {
        let vertices = whole(1, 0.0).map(|v| {
            let distances = distance(v.position[0], v.position[1]);
            with_distances(v, distances)
        });
        let mut scene = triangles(vertices.to_vec()).clipped();
        scene.sbe.vertex_urb_entry_read_offset = u(2);
        scene.clip = ThreeDStateClip {
            force_user_clip_distance_clip_test_enable_bitmask: ForceClip::FORCE,
            force_user_clip_distance_cull_test_enable_bitmask: ForceCull::FORCE,
            user_clip_distance_clip_test_enable_bitmask: u(clips),
            user_clip_distance_cull_test_enable_bitmask: u(culls),
            ..scene.clip
        };
        scene.art()
    };
    // Distance 0 is positive on the right half, distance 1 on the upper half.
    let axes = |x: f32, y: f32| [x, y];
    assert_eq!(draw(0, 0, &axes), filled(0..8, 0..8, '1'));
    assert_eq!(draw(1, 0, &axes), filled(0..8, 4..8, '1'));
    assert_eq!(draw(2, 0, &axes), filled(0..4, 0..8, '1'));
    assert_eq!(draw(3, 0, &axes), filled(0..4, 4..8, '1'));
    // A triangle is culled only if all its vertices are outside.
    assert_eq!(draw(0, 3, &axes), filled(0..8, 0..8, '1'));
    assert_eq!(draw(0, 1, &|_, _| [-1.0, 0.0]), filled(0..0, 0..0, '1'));
    assert_eq!(
        draw(0, 1, &|x, _| [if x > 1.0 { 1.0 } else { -1.0 }, 0.0]),
        filled(0..8, 0..8, '1')
    );
    // NaN counts as outside.
    assert_eq!(draw(0, 1, &|_, _| [f32::NAN, 0.0]), filled(0..0, 0..0, '1'));
}

/// Each vertex has a viewport index, and each viewport has a scissor rectangle. The provoking
/// vertex selects the viewport.
#[test]
fn viewport_arrays_and_scissors() {
    let mut vertices = Vec::new();
    for index in 0..3 {
        vertices.extend(whole(index + 1, 0.0).map(|v| Vertex { header: [0, 0, index, 0], ..v }));
    }
    // An index outside the range selects viewport 0.
    vertices.extend(whole(4, 0.0).map(|v| Vertex { header: [0, 0, 9, 0], ..v }));
    let mut scene = triangles(vertices).clipped();
    let depth = scene.viewports[0].1;
    scene.viewports = [[0.0, 0.0, 2.0, 8.0], [2.0, 0.0, 5.0, 8.0], [5.0, 0.0, 8.0, 8.0]]
        .map(|r| (viewport(r), depth))
        .to_vec();
    assert_eq!(scene.art(), vec!["44222333"; 8]);
    let scissor = |x0: u64, y0: u64, x1: u64, y1: u64| ScissorRect {
        scissor_rectangle_x_min: u(x0),
        scissor_rectangle_y_min: u(y0),
        scissor_rectangle_x_max: u(x1),
        scissor_rectangle_y_max: u(y1),
    };
    // The last rectangle is empty: it ends before it starts.
    scene.scissors = vec![scissor(0, 0, 0, 3), scissor(3, 2, 60, 7), scissor(6, 6, 5, 7)];
    let want = [
        "4.......", "4.......", "4..22...", "4..22...", "...22...", "...22...", "...22...",
        "...22...",
    ];
    assert_eq!(scene.art(), want);
}

/// The drawing rectangle clips; its origin moves all primitives.
#[test]
fn drawing_rectangle() {
    let corners = [(0.0, 0.0, 1), (4.0, 0.0, 1), (0.0, 4.0, 1)];
    let mut scene = triangles(corners.map(|(x, y, value)| on_screen(x, y, value)).to_vec());
    let rectangle = ThreeDStateDrawingRectangle {
        clipped_drawing_rectangle_x_min: u(1),
        clipped_drawing_rectangle_y_min: u(2),
        clipped_drawing_rectangle_x_max: u(3),
        clipped_drawing_rectangle_y_max: u(4),
        drawing_rectangle_origin_x: S::new(1).unwrap(),
        drawing_rectangle_origin_y: S::new(2).unwrap(),
        ..ThreeDStateDrawingRectangle::new()
    };
    push(&mut scene.more, &rectangle);
    let moved = [[256, 512], [5 * 256, 512], [256, 6 * 256]];
    let pixel = |x: i64, y: i64| {
        let inside = (1..=3).contains(&x) && (2..=4).contains(&y);
        if inside && covers(&moved, [256 * x + 128, 256 * y + 128]) { '1' } else { '.' }
    };
    let want: Vec<String> = (0..8).map(|y| (0..8).map(|x| pixel(x, y)).collect()).collect();
    assert_eq!(scene.art(), want);
    assert!(want.concat().contains('1'));
}

/// The header of a vertex selects the layer. 3DSTATE_CLIP can force layer 0.
#[test]
fn layers() {
    let mut vertices = Vec::new();
    for layer in [1, 2, 0, 7] {
        vertices.extend(whole(layer + 1, 0.0).map(|v| Vertex { header: [0, layer, 0, 0], ..v }));
    }
    let mut scene = triangles(vertices).clipped();
    scene.targets[0].layers = 3;
    let drawn = scene.run().unwrap();
    assert_eq!([1, 2].map(|layer| drawn.art(layer)[3].clone()), ["22222222", "33333333"]);
    // 2d p.412 leaves open what happens with layers that do not exist: layer 0 is drawn, or
    // nothing.
    assert!(["11111111", "88888888"].contains(&drawn.art(0)[3].as_str()));
    scene.clip.force_zero_rta_index_enable = true;
    let drawn = scene.run().unwrap();
    assert_eq!(
        [0, 1, 2].map(|layer| drawn.art(layer)[3].clone()),
        ["88888888", "........", "........"]
    );
}

/// 3DSTATE_CLIP enables the count of primitives that reach the clipper, 3DSTATE_SF the count of
/// those that it keeps (2a p.211-215).
#[test]
fn counts_of_the_clipper() {
    for (clip, setup) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut vertices = [whole(1, 0.5), whole(2, 0.5), whole(3, 0.5)].concat();
        // The last triangle is beyond the far plane.
        vertices[6..].iter_mut().for_each(|vertex| vertex.position[2] = 2.0);
        let mut scene = triangles(vertices).clipped();
        scene.clip.clipper_statistics_enable = clip;
        scene.sf.statistics_enable = setup;
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        model.render(&batch).unwrap();
        let registers = &model.gpu.context_mut(model.context).state.registers;
        let [reach, kept] =
            [ClInvocationCount::OFFSET, ClPrimitivesCount::OFFSET].map(|at| registers.read(at));
        assert_eq!([reach, kept], [3 * u32::from(clip), 2 * u32::from(setup)]);
    }
}
