//! User clip and cull distances, which are the first slots after the position of a vertex. Oracle:
//! OpenGL 4.6, 13.7: a half-space keeps what has a distance of at least 0, and a primitive whose
//! cull distances are all negative is discarded.

use crate::screen::scene::{Scene, Vertex, on_screen};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_raster::{
    ThreeDStateClipForceUserClipDistanceClipTestEnableBitmask as ForceClips,
    ThreeDStateClipForceUserClipDistanceCullTestEnableBitmask as ForceCulls,
};
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml_cases::{push, u};

/// A triangle that covers the screen of 4x4 pixels. Distance 0 is X - 2 in pixels, distance 1 is
/// always 1, and distance 2 is always -1.
fn scene() -> Scene {
    let corners = [(-1.0_f32, 1.0_f32, -2.0_f32), (3.0, 1.0, 6.0), (-1.0, -3.0, -2.0)];
    let vertices = corners.map(|(x, y, distance)| Vertex {
        attributes: vec![[distance, 1.0, -1.0, 1.0].map(f32::to_bits)],
        ..on_screen(x, y, 0)
    });
    Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices.to_vec()).clipped()
}

const ALL: [bool; 4] = [true; 4];
const RIGHT: [bool; 4] = [false, false, true, true];
const NONE: [bool; 4] = [false; 4];

/// The columns that the draw covers.
fn columns(scene: &Scene) -> [bool; 4] {
    let drawn = scene.run().unwrap().dwords(0, 0, 0);
    let column = |x: usize| drawn.iter().skip(x).step_by(4).all(|pixel| *pixel != 0);
    std::array::from_fn(column)
}

/// If 3DSTATE_CLIP forces the masks of clip and cull distances, its masks apply.
#[test]
fn forced_masks() {
    for (clips, culls, want) in [
        (0, 0, ALL),
        (1, 0, RIGHT),
        (2, 0, ALL),
        (4, 0, NONE),
        (0, 1, ALL),
        (0, 2, ALL),
        (0, 4, NONE),
        (3, 3, RIGHT),
    ] {
        let mut scene = scene();
        scene.clip.force_user_clip_distance_clip_test_enable_bitmask = ForceClips::FORCE;
        scene.clip.user_clip_distance_clip_test_enable_bitmask = u(clips);
        scene.clip.force_user_clip_distance_cull_test_enable_bitmask = ForceCulls::FORCE;
        scene.clip.user_clip_distance_cull_test_enable_bitmask = u(culls);
        assert_eq!(columns(&scene), want, "{clips} {culls}");
    }
}

/// If 3DSTATE_CLIP does not force the masks of clip and cull distances, those of the last stage
/// apply.
#[test]
fn masks_of_the_vertex_shader() {
    for (clips, culls, want) in [(0, 0, ALL), (1, 0, RIGHT), (4, 0, NONE), (0, 4, NONE)] {
        let mut scene = scene();
        scene.clip.user_clip_distance_clip_test_enable_bitmask = u(4);
        scene.clip.user_clip_distance_cull_test_enable_bitmask = u(4);
        push(
            &mut scene.more,
            &ThreeDStateVs {
                user_clip_distance_clip_test_enable_bitmask: u(clips),
                user_clip_distance_cull_test_enable_bitmask: u(culls),
                ..ThreeDStateVs::new()
            },
        );
        assert_eq!(columns(&scene), want, "{clips} {culls}");
    }
}
