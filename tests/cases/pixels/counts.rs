//! Statistics of pixels. Oracle: the area of a rectangle; gen8_facts 2.7 (drivers divide
//! PS_INVOCATION_COUNT by 4).

use crate::pixels::edges::WHITE;
use crate::pixels::harness::{Draw, SIZE, TARGET, Vertex, model};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_pixel::{
    ForceOverride, ThreeDStatePsBlend, ThreeDStatePsExtra, ThreeDStateWm,
};
use genxml_cases::packets;

const PS_INVOCATION_COUNT: u32 = 0x2348;
const PS_DEPTH_COUNT: u32 = 0x2350;

/// A rectangle of 50 pixels.
fn rectangle() -> Draw {
    let corners = [(20.0, 15.0), (10.0, 15.0), (10.0, 10.0)];
    let vertices = corners.map(|(x, y)| Vertex::at(x, y)).to_vec();
    Draw::new(Code::_3DPRIM_RECTLIST, vertices, WHITE)
}

/// Runs a draw. Returns PS_INVOCATION_COUNT, PS_DEPTH_COUNT, and whether the target has changed.
fn run(draw: &Draw) -> (u64, u64, bool) {
    let mut model = model();
    draw.run(&mut model).unwrap();
    let changed = model.read(TARGET, 16 * (SIZE * SIZE) as usize).iter().any(|byte| *byte != 0);
    let registers = &model.gpu.context_mut(model.context).state.registers;
    let [invocations, passed] =
        [PS_INVOCATION_COUNT, PS_DEPTH_COUNT].map(|at| registers.read_u64(at));
    (invocations, passed, changed)
}

#[test]
fn pixels_of_a_rectangle() {
    assert_eq!(run(&rectangle()), (4 * 50, 50, true));
}

/// Without a writeable target, threads run only for another output of the shader. Pixels pass the
/// depth test in any case. (2a p.148, p.160, p.277; iris_state.c)
#[test]
fn threads_run_only_for_an_output() {
    let blends = |blend: ThreeDStatePsBlend| Draw { more: packets![blend], ..rectangle() };
    let none = ThreeDStatePsBlend::new();
    let (shaded, unshaded) = ((4 * 50, 50, true), (0, 50, false));
    assert_eq!(run(&blends(none)), unshaded);
    assert_eq!(run(&blends(ThreeDStatePsBlend { alpha_test_enable: true, ..none })), shaded);
    let more = ThreeDStatePsBlend { alpha_to_coverage_enable: true, ..none };
    assert_eq!(run(&blends(more)), shaded);

    let valid = rectangle().extra;
    let without_write = ThreeDStatePsExtra { pixel_shader_does_not_write_to_rt: true, ..valid };
    assert_eq!(run(&Draw { extra: without_write, ..rectangle() }), unshaded);
    for extra in [
        ThreeDStatePsExtra { pixel_shader_has_uav: true, ..valid },
        ThreeDStatePsExtra { pixel_shader_kills_pixel: true, ..valid },
    ] {
        assert_eq!(run(&Draw { extra, ..blends(none) }), shaded);
    }

    let force = |force_thread_dispatch_enable, blend| Draw {
        wm: ThreeDStateWm { force_thread_dispatch_enable, ..rectangle().wm },
        ..blends(blend)
    };
    assert_eq!(run(&force(ForceOverride::FORCE_ON, none)), shaded);
    let writeable = ThreeDStatePsBlend { has_writeable_rt: true, ..none };
    assert_eq!(run(&force(ForceOverride::FORCE_OFF, writeable)), unshaded);
}
