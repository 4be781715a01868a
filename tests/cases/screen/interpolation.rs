//! Interpolated values. Oracle: f64 with the error bound of single precision, or exact values where
//! single precision is exact.

use crate::screen::kernels;
use crate::screen::scene::{FLOATS, Scene, Vertex, on_screen};
use genxml::gen8::enums::{ThreeDPrimTopoType as Code, WrapShortestEnable};
use genxml::gen8::render3d_raster::{
    SfOutputAttributeDetail, SfOutputAttributeDetailConstantSource as Constant,
    SfOutputAttributeDetailSwizzleSelect as Swizzle, ThreeDStateSbeSwiz,
};
use genxml_cases::{push, u};

type Corner = ([f32; 4], [f32; 4]);

fn scene(corners: &[Corner; 3]) -> Scene {
    let vertex = |(position, value): &Corner| Vertex {
        position: *position,
        attributes: vec![value.map(f32::to_bits)],
        ..on_screen(0.0, 0.0, 0)
    };
    Scene::new([16, 16], Code::_3DPRIM_TRILIST, corners.iter().map(vertex).collect()).floats()
}

/// A triangle over the whole screen whose corners have different w.
const CORNERS: [Corner; 3] = [
    ([-1.0, -1.0, 0.0, 1.0], [0.0, 1.0, -3.0, 8.0]),
    ([12.0, -4.0, 0.0, 4.0], [4.0, 1.0, 5.0, 0.0]),
    ([-2.0, 6.0, 0.0, 2.0], [1.0, 1.0, 2.0, 0.5]),
];

/// Weights of the corners at pixel `n`: with perspective or linear on the screen.
fn weights(n: usize, perspective: bool) -> [f64; 3] {
    let at = [(n % 16) as f64 + 0.5, (n / 16) as f64 + 0.5];
    let screen = CORNERS.map(|(p, _)| {
        let [x, y, _, w] = p.map(f64::from);
        ([8.0 + 8.0 * x / w, 8.0 - 8.0 * y / w], w)
    });
    let area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let [(a, wa), (b, wb), (c, wc)] = screen;
    let mut weights = [area(b, c, at), area(c, a, at), area(a, b, at)];
    if perspective {
        weights = [weights[0] / wa, weights[1] / wb, weights[2] / wc];
    }
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// The triangle [`CORNERS`].
pub fn triangle() -> Scene {
    scene(&CORNERS).clipped()
}

/// Compares all pixels with values computed in f64.
pub fn compare(scene: &Scene, perspective: bool) {
    let pixels = scene.run().unwrap().floats(0, 0, 0);
    for (n, pixel) in pixels.iter().enumerate() {
        let weights = weights(n, perspective);
        for (component, &found) in pixel.iter().enumerate() {
            let want: f64 = (0..3).map(|v| weights[v] * f64::from(CORNERS[v].1[component])).sum();
            let off = (f64::from(found) - want).abs();
            assert!(off < 1e-5, "pixel {n} component {component}: {found} instead of {want}");
        }
    }
}

#[test]
fn with_and_without_perspective() {
    let mut scene = scene(&CORNERS).clipped();
    compare(&scene, true);
    // Bit 3 selects linear barycentrics, which are in the same registers.
    scene.wm.barycentric_interpolation_mode = u(8);
    scene.clip.non_perspective_barycentric_enable = true;
    compare(&scene, false);
}

/// Depth and w in the payload. Oracle: f64; 1/w is linear on the screen.
#[test]
fn depth_and_w_of_pixels() {
    let mut scene = scene(&CORNERS.map(|(p, v)| ([p[0], p[1], 0.25 * p[3], p[3]], v))).clipped();
    scene.kernel = kernels::PAYLOAD;
    scene.extra.pixel_shader_uses_source_depth = true;
    scene.extra.pixel_shader_uses_source_w = true;
    let pixels = scene.run().unwrap().floats(0, 0, 0);
    for (n, pixel) in pixels.iter().enumerate() {
        let linear = weights(n, false);
        let inverse: f64 = (0..3).map(|v| linear[v] / f64::from(CORNERS[v].0[3])).sum();
        let space = weights(n, true);
        let want = [space[1], space[2], 0.25, 1.0 / inverse];
        for (found, want) in pixel.iter().zip(want) {
            assert!(
                (f64::from(*found) - want).abs() < 1e-5 * want.abs().max(1.0),
                "pixel {n}: {pixel:?} {want}"
            );
        }
    }
}

/// The attribute has the value of the provoking vertex everywhere.
#[test]
fn flat_attributes() {
    let mut scene = scene(&CORNERS).clipped();
    scene.sbe.constant_interpolation_enable = u(1);
    let provoking = CORNERS[0].1;
    assert!(scene.run().unwrap().floats(0, 0, 0).iter().all(|pixel| *pixel == provoking));
}

fn swizzle(scene: &mut Scene, detail: SfOutputAttributeDetail) {
    scene.sbe.attribute_swizzle_enable = true;
    let mut packet = ThreeDStateSbeSwiz::new();
    packet.attribute[0] = detail;
    push(&mut scene.more, &packet);
}

/// Attributes from other slots, constants, and the back-face colour.
#[test]
fn swizzles() {
    let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
    let vertices = corners.map(|(x, y)| Vertex {
        attributes: [1.0_f32, 2.0, 3.0]
            .map(|n| [n, 10.0 * n, 100.0 * n, 1000.0 * n].map(f32::to_bits))
            .to_vec(),
        ..on_screen(x, y, 0)
    });
    let mut plain = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices.to_vec()).floats();
    plain.sbe.number_of_sf_output_attributes = u(3);
    let new = SfOutputAttributeDetail::unpack_lossy;
    let none = new(&[0]);
    let from = |source: u64| SfOutputAttributeDetail { source_attribute: u(source), ..none };
    let over = |x, y, z, w, constant_source| SfOutputAttributeDetail {
        component_override_x: x,
        component_override_y: y,
        component_override_z: z,
        component_override_w: w,
        constant_source,
        ..none
    };
    let value = |n: f32| [n, 10.0 * n, 100.0 * n, 1000.0 * n];
    for (detail, turned, want) in [
        (from(0), false, value(1.0)),
        (from(2), false, value(3.0)),
        (over(true, false, true, false, Constant::CONST_0000), false, [0.0, 10.0, 0.0, 1000.0]),
        (over(true, true, true, true, Constant::CONST_0001_FLOAT), false, [0.0, 0.0, 0.0, 1.0]),
        (
            over(false, true, false, false, Constant::CONST_1111_FLOAT),
            false,
            [1.0, 1.0, 100.0, 1000.0],
        ),
        (
            SfOutputAttributeDetail { swizzle_select: Swizzle::INPUTATTR_W, ..none },
            false,
            [1000.0; 4],
        ),
        (
            SfOutputAttributeDetail { swizzle_select: Swizzle::INPUTATTR_FACING, ..none },
            false,
            value(1.0),
        ),
        (
            SfOutputAttributeDetail { swizzle_select: Swizzle::INPUTATTR_FACING, ..from(1) },
            true,
            value(3.0),
        ),
        (
            SfOutputAttributeDetail { swizzle_select: Swizzle::INPUTATTR_FACING_W, ..none },
            true,
            [2000.0; 4],
        ),
    ] {
        let mut scene = plain.clone();
        if turned {
            scene.vertices.swap(1, 2);
        }
        swizzle(&mut scene, detail);
        assert!(
            scene.run().unwrap().floats(0, 0, 0).iter().all(|pixel| *pixel == want),
            "{detail:?} {turned}"
        );
    }
}

/// With Swizzle Control Mode, the first control is that of attribute 16, and attribute 0 has none
/// (2d p.415).
#[test]
fn swizzles_of_the_upper_attributes() {
    let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
    let vertices = corners.map(|(x, y)| Vertex {
        attributes: (0..17_u8).map(|n| [f32::from(n).to_bits(); 4]).collect(),
        ..on_screen(x, y, 0)
    });
    let detail = |upper: bool| SfOutputAttributeDetail {
        swizzle_control_mode: u(upper.into()),
        source_attribute: u(5),
        ..SfOutputAttributeDetail::unpack_lossy(&[0])
    };
    for (kernel, upper, want) in [
        (kernels::FLAT, false, 5.0),
        (kernels::FLAT, true, 0.0),
        (kernels::FLAT_16, false, 16.0),
        (kernels::FLAT_16, true, 5.0),
    ] {
        let mut scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices.to_vec()).floats();
        scene.kernel = kernel;
        swizzle(&mut scene, detail(upper));
        let pixels = scene.run().unwrap().floats(0, 0, 0);
        assert!(pixels.iter().all(|pixel| *pixel == [want; 4]), "{upper} {want}: {pixels:?}");
    }
}

/// The primitive ID replaces components of an attribute.
#[test]
fn primitive_ids() {
    let corners = [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, 1f32.to_bits())).to_vec();
    let mut scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices).floats();
    scene.kernel = kernels::FLAT;
    scene.sbe.primitive_id_override_attribute_select = u(0);
    scene.sbe.primitive_id_override_component_y = true;
    let pixels = scene.run().unwrap().floats(0, 0, 0);
    assert_eq!((pixels[0], pixels[15]), ([1.0, 0.0, 1.0, 1.0], [1.0, f32::from_bits(1), 1.0, 1.0]));
}

/// Texture coordinates of a cylinder: components with wrap enabled take the short way from 0.875 to
/// 0.125, through 1 (Direct3D 9, wrap mode).
#[test]
fn the_short_way() {
    let packet = ThreeDStateSbeSwiz {
        attribute_00_wrap_shortest_enables: WrapShortestEnable::XZ,
        ..ThreeDStateSbeSwiz::new()
    };
    wraps_x_and_z(|s| [s; 4], false, &packet);
}

/// A swizzle can take all components of an attribute from component W of its source. The enables
/// name the components of the attribute (000:1125), so two of the four are wrapped.
#[test]
fn the_short_way_of_swizzled_components() {
    let mut packet = ThreeDStateSbeSwiz {
        attribute_00_wrap_shortest_enables: WrapShortestEnable::XZ,
        ..ThreeDStateSbeSwiz::new()
    };
    packet.attribute[0].swizzle_select = Swizzle::INPUTATTR_W;
    wraps_x_and_z(|s| [0, 0, 0, s], true, &packet);
}

/// Draws a triangle from 0.875 to 0.125 with this packet. X and Z of its attribute go 0.25 forward,
/// Y and W go 0.75 back. `attribute` makes an attribute of the value's bits.
fn wraps_x_and_z(attribute: fn(u32) -> [u32; 4], swizzles: bool, packet: &ThreeDStateSbeSwiz) {
    let corners = [((0.0, 0.0), 0.875), ((16.0, 0.0), 0.125), ((0.0, 16.0), 0.875)];
    let vertices = corners.map(|((x, y), s): ((f32, f32), f32)| Vertex {
        attributes: vec![attribute(s.to_bits())],
        ..on_screen(x, y, 0)
    });
    let mut scene = Scene::new([8, 8], Code::_3DPRIM_TRILIST, vertices.to_vec()).floats();
    scene.sbe.attribute_swizzle_enable = swizzles;
    push(&mut scene.more, packet);
    for (n, pixel) in scene.run().unwrap().floats(0, 0, 0).into_iter().enumerate() {
        let along = ((n % 8) as f32 + 0.5) / 16.0;
        let (short, long) = (0.875 + 0.25 * along, 0.875 - 0.75 * along);
        let same_turn = |a: f32, b: f32| (a - b - (a - b).round()).abs() < 1e-6;
        assert!(same_turn(pixel[0], short) && same_turn(pixel[2], short), "{n}: {pixel:?}");
        assert_eq!([pixel[1], pixel[3]], [long; 2]);
    }
}

/// Each of the first 16 attributes has enables of its own. Oracle: the setup of an attribute in the
/// payload begins with the difference between the vertices (see [`kernels`]): 0.25 forward, or 0.75
/// back.
#[test]
fn the_short_way_of_each_attribute() {
    let corners = [((0.0, 0.0), 0.875), ((16.0, 0.0), 0.125), ((0.0, 16.0), 0.875)];
    let vertices = corners.map(|((x, y), s): ((f32, f32), f32)| Vertex {
        attributes: vec![[s.to_bits(); 4]; 16],
        ..on_screen(x, y, 0)
    });
    for wrapped in 0..16 {
        let mut scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices.to_vec()).floats();
        let mut packet = ThreeDStateSbeSwiz::new();
        let enables = match wrapped {
            0 => &mut packet.attribute_00_wrap_shortest_enables,
            1 => &mut packet.attribute_01_wrap_shortest_enables,
            2 => &mut packet.attribute_02_wrap_shortest_enables,
            3 => &mut packet.attribute_03_wrap_shortest_enables,
            4 => &mut packet.attribute_04_wrap_shortest_enables,
            5 => &mut packet.attribute_05_wrap_shortest_enables,
            6 => &mut packet.attribute_06_wrap_shortest_enables,
            7 => &mut packet.attribute_07_wrap_shortest_enables,
            8 => &mut packet.attribute_08_wrap_shortest_enables,
            9 => &mut packet.attribute_09_wrap_shortest_enables,
            10 => &mut packet.attribute_10_wrap_shortest_enables,
            11 => &mut packet.attribute_11_wrap_shortest_enables,
            12 => &mut packet.attribute_12_wrap_shortest_enables,
            13 => &mut packet.attribute_13_wrap_shortest_enables,
            14 => &mut packet.attribute_14_wrap_shortest_enables,
            _ => &mut packet.attribute_15_wrap_shortest_enables,
        };
        *enables = WrapShortestEnable::XZ;
        push(&mut scene.more, &packet);
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        let payload = &model.payloads(&batch).unwrap()[0];
        for n in 0..16 {
            let setup = &payload[8 * (4 + 2 * n)..][..16];
            let differences = [0, 4, 8, 12].map(|component| f32::from_bits(setup[component]));
            let short = if n == wrapped { 0.25 } else { -0.75 };
            assert_eq!(differences, [short, -0.75, short, -0.75], "{n} of {wrapped}");
        }
    }
}

/// Along a line the value is interpolated; a point has the value of its vertex.
#[test]
fn lines_and_points() {
    let ends = [(0.5, 1.5, 0.0_f32), (8.5, 1.5, 8.0)];
    let vertices = ends.map(|(x, y, value)| on_screen(x, y, value.to_bits())).to_vec();
    let mut scene = Scene::new([8, 4], Code::_3DPRIM_LINELIST, vertices).floats();
    let row = &scene.run().unwrap().floats(0, 0, 0)[8..16];
    assert_eq!(row, (0..8).map(|n| [n as f32; 4]).collect::<Vec<_>>());
    scene.topology = Code::_3DPRIM_POINTLIST;
    scene.targets = vec![FLOATS];
    assert_eq!(scene.run().unwrap().floats(0, 0, 0)[8], [0.0; 4]);
    scene.vertices[0].attributes[0] = [5.0, 6.0, 7.0, 8.0].map(f32::to_bits);
    assert_eq!(scene.run().unwrap().floats(0, 0, 0)[8], [5.0, 6.0, 7.0, 8.0]);
}
