//! Pixel shaders that kill pixels. Oracle: 2a 3DSTATE_PS_EXTRA, 3DSTATE_WM; gen8_facts 8.1: depth
//! is written after such a shader, and only for pixels that live; before any other shader.

use crate::screen::scene::{Scene, on_screen};
use genxml::eu;
use genxml::gen8::enums::{ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBufferSurfaceFormat as DepthFormat, ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_pixel::{ForceOverride as Force, ThreeDStateWmChromakey};
use genxml_cases::push;

/// Writes the attribute of the provoking vertex, in the upper pixels of each subspan only.
pub const UPPER: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:ud  r4.3<0;1,0>:ud
    mov (8|M0)       r113.0<1>:ud  r4.7<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r5.3<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r5.7<0;1,0>:ud
    (W) mov (1|M0)   f0.0<1>:uw  0x3333:uw
    (f0.0) sendc (8|M0)  null  r112  0x25  0x08031400  {EOT}
};

#[test]
fn depth_of_killed_pixels() {
    let one = 1_f32.to_bits();
    for (kills, chroma_keys, force, keeps) in [
        (false, false, Force::NORMAL, false),
        (true, false, Force::NORMAL, true),
        (false, false, Force::FORCE_ON, true),
        (true, false, Force::FORCE_OFF, false),
        // Samplers with chroma keys kill pixels (2a p.268).
        (false, true, Force::NORMAL, true),
    ] {
        let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
        let vertices = corners.map(|(x, y)| on_screen(x, y, 5)).to_vec();
        let mut scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices);
        scene.kernel = UPPER;
        scene.depth = Some((DepthFormat::D32_FLOAT, one));
        scene.tests = ThreeDStateWmDepthStencil {
            depth_test_enable: true,
            depth_buffer_write_enable: true,
            depth_test_function: Compare::COMPAREFUNCTION_LESS,
            ..scene.tests
        };
        scene.extra.pixel_shader_kills_pixel = kills;
        scene.wm.force_kill_pixel_enable = force;
        push(&mut scene.more, &ThreeDStateWmChromakey { chroma_key_kill_enable: chroma_keys });
        let drawn = scene.run().unwrap();
        let (colors, depths) = (drawn.dwords(0, 0, 0), drawn.depths());
        for row in 0..4 {
            let lives = row % 2 == 0;
            let color = if lives { 5 } else { 0 };
            assert_eq!(
                colors[4 * row..][..4],
                [color; 4],
                "{kills} {chroma_keys} {force:?} row {row}"
            );
            let depth = if lives || !keeps { 0 } else { one };
            assert_eq!(
                depths[4 * row..][..4],
                [depth; 4],
                "{kills} {chroma_keys} {force:?} row {row}"
            );
        }
    }
}
