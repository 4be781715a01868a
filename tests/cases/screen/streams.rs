//! What goes on to the clipper after stream output (2a 3DSTATE_STREAMOUT: API Rendering Disable,
//! Force Rendering, Render Stream Select).

use crate::screen::scene::{Scene, on_screen};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_stages::{
    ThreeDStateStreamout, ThreeDStateStreamoutForceRendering as Force,
};
use genxml_cases::{push, u};

#[test]
fn rendered_streams() {
    let corners = [(0.0, 0.0), (8.0, 0.0), (0.0, 8.0)];
    // Without a geometry shader, all vertices are in stream 0.
    for (enabled, stream, disabled, force, want) in [
        (false, 0, false, Force::NORMAL, true),
        (false, 0, true, Force::NORMAL, false),
        (false, 0, false, Force::FORCE_OFF, false),
        (false, 0, true, Force::FORCE_ON, true),
        (true, 0, false, Force::NORMAL, true),
        (true, 1, false, Force::NORMAL, false),
    ] {
        let vertices = corners.map(|(x, y)| on_screen(x, y, 5)).to_vec();
        let mut scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices);
        push(
            &mut scene.more,
            &ThreeDStateStreamout {
                so_function_enable: enabled,
                render_stream_select: u(stream),
                api_rendering_disable: disabled,
                force_rendering: force,
                ..ThreeDStateStreamout::new()
            },
        );
        let drawn = scene.run().unwrap().dwords(0, 0, 0);
        assert_eq!(
            drawn,
            [if want { 5 } else { 0 }; 16],
            "{enabled} {stream} {disabled} {force:?}"
        );
    }
}
