//! Points, lines, stipples and fill modes. Oracle: images drawn by hand from the rules (squares and
//! half-open edges, OpenGL 4.6 14.4; diamonds of lines, Direct3D 11 3.4.3; stipples, OpenGL 2.1
//! 3.4.2 and 3.5.2).

use crate::screen::scene::{Scene, Vertex, on_screen};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_pixel::ThreeDStateWmPointRasterizationRule as PointRule;
use genxml::gen8::render3d_raster::{
    FillMode, RegionWidth, ThreeDStateAaLineParameters, ThreeDStateLineStipple,
    ThreeDStatePolyStippleOffset, ThreeDStatePolyStipplePattern,
    ThreeDStateSbePointSpriteTextureCoordinateOrigin as Origin,
    ThreeDStateSfAaLineDistanceMode as DistanceMode, ThreeDStateSfPointWidthSource as PointWidth,
};
use genxml_cases::{push, u};
use genxml_core::UFix;

fn scene(size: [u32; 2], topology: Code, places: &[(f32, f32, u32)]) -> Scene {
    Scene::new(size, topology, places.iter().map(|&(x, y, value)| on_screen(x, y, value)).collect())
}

#[test]
fn points() {
    let mut scene = scene([8, 4], Code::_3DPRIM_POINTLIST, &[(1.5, 1.5, 1), (4.0, 2.0, 2)]);
    scene.sf.point_width = UFix::from_bits(2 << 3);
    // A square from 0.5 to 2.5: pixel centres on its left and upper edges belong to it.
    assert_eq!(scene.art(), ["11......", "11.22...", "...22...", "........"]);
    scene.wm.point_rasterization_rule = PointRule::RASTRULE_UPPER_RIGHT;
    assert_eq!(scene.art(), [".11.....", ".1122...", "...22...", "........"]);
}

#[test]
fn widths_of_vertices() {
    let mut scene = scene([8, 4], Code::_3DPRIM_POINTLIST, &[(1.5, 1.5, 1), (5.5, 1.5, 2)]);
    scene.sf.point_width_source = PointWidth::VERTEX;
    scene.vertices[0].header[3] = 1f32.to_bits();
    scene.vertices[1].header[3] = 3f32.to_bits();
    assert_eq!(scene.art(), ["....222.", ".1..222.", "....222.", "........"]);
    scene.clip.maximum_point_width = UFix::from_bits(2 << 3);
    assert_eq!(scene.art(), ["....22..", ".1..22..", "........", "........"]);
    // Widths are clamped to the permitted range; a NaN draws nothing.
    scene.clip.minimum_point_width = UFix::from_bits(2 << 3);
    scene.vertices[1].header[3] = f32::NAN.to_bits();
    assert_eq!(scene.art(), ["11......", "11......", "........", "........"]);
}

/// Point sprite coordinates run from 0 to 1 over the square, also for triangles in fill mode POINT
/// (OpenGL 4.6, 14.4.1 and 14.6.4, and Mesa). Other attributes are those of the vertex, flat ones
/// those of the provoking vertex.
#[test]
fn sprites() {
    let bits = f32::to_bits;
    let centres = [(4.0, 4.0, bits(7.0)), (12.0, 4.0, bits(8.0)), (4.0, 12.0, bits(9.0))];
    for (topology, points) in [(Code::_3DPRIM_POINTLIST, 1), (Code::_3DPRIM_TRILIST, 3)] {
        let mut scene = scene([16, 16], topology, &centres[..points]).floats();
        scene.raster.front_face_fill_mode = FillMode::POINT;
        scene.raster.back_face_fill_mode = FillMode::POINT;
        scene.sf.point_width = UFix::from_bits(4 << 3);
        let near = |x: usize, y: usize| {
            let within = |at: usize, centre: f32| (at as f32 + 0.5 - centre).abs() < 2.0;
            centres[..points].iter().find(|&&(cx, cy, _)| within(x, cx) && within(y, cy))
        };
        for (origin, flat) in [
            (None, false),
            (None, true),
            (Some(Origin::UPPERLEFT), false),
            (Some(Origin::LOWERLEFT), true),
        ] {
            scene.sbe.point_sprite_texture_coordinate_enable = u(origin.is_some().into());
            scene.sbe.point_sprite_texture_coordinate_origin = origin.unwrap_or(Origin::UPPERLEFT);
            scene.sbe.constant_interpolation_enable = u(flat.into());
            let pixels = scene.run().unwrap().floats(0, 0, 0);
            for (n, pixel) in pixels.iter().enumerate() {
                let (x, y) = (n % 16, n / 16);
                let along = |at: usize, centre: f32| (at as f32 + 0.5 - (centre - 2.0)) / 4.0;
                let want = near(x, y).map_or([0.0; 4], |&(cx, cy, value)| match origin {
                    None => [f32::from_bits(if flat { centres[0].2 } else { value }); 4],
                    Some(Origin::LOWERLEFT) => [along(x, cx), 1.0 - along(y, cy), 0.0, 1.0],
                    Some(_) => [along(x, cx), along(y, cy), 0.0, 1.0],
                });
                assert_eq!(*pixel, want, "({x}, {y}) {topology:?} {origin:?} {flat}");
            }
        }
    }
}

/// A line covers the pixels whose diamonds it exits. The last pixel is covered only if that is
/// enabled.
#[test]
fn thin_lines() {
    let lines = [
        ((0.5, 0.5), (4.5, 0.5)),
        ((0.5, 1.5), (3.5, 4.5)),
        ((6.5, 0.5), (6.5, 3.5)),
        // Slope 1/2: the line ends in the diamond of its last pixel.
        ((0.5, 5.25), (4.5, 7.25)),
    ];
    let places: Vec<(f32, f32, u32)> =
        lines.iter().flat_map(|&(a, b)| [(a.0, a.1, 1), (b.0, b.1, 1)]).collect();
    let mut scene = scene([8, 8], Code::_3DPRIM_LINELIST, &places);
    let want = [
        "1111..1.", "1.....1.", ".1....1.", "..1.....", "........", "11......", "..11....",
        "........",
    ];
    assert_eq!(scene.art(), want);
    scene.sf.last_pixel_enable = true;
    let want = [
        "11111.1.", "1.....1.", ".1....1.", "..1...1.", "...1....", "11......", "..11....",
        "....1...",
    ];
    assert_eq!(scene.art(), want);
}

#[test]
fn wide_lines() {
    let mut scene = scene([8, 6], Code::_3DPRIM_LINELIST, &[(1.0, 3.0, 1), (6.0, 3.0, 1)]);
    scene.sf.line_width = UFix::from_bits(3 << 7);
    // Rows from 1.5 to 4.5, columns from 1 to 6.
    assert_eq!(
        scene.art(),
        ["........", ".11111..", ".11111..", ".11111..", "........", "........"]
    );
}

/// Alpha of antialiased lines. Oracle: Sandy Bridge vol 2 part 1 p.243-245 and p.292-294, in plain
/// floats: coverage by the distances from the pixel to the sides and ends of the line.
#[test]
fn antialiased_lines() {
    let ([ax, ay], [bx, by]) = ([4.0f64, 4.0], [20.0f64, 16.0]);
    let ends = [ax as f32, ay as f32, bx as f32, by as f32];
    let places = [(ends[0], ends[1], 1f32.to_bits()), (ends[2], ends[3], 1f32.to_bits())];
    // The line has the length 20 and the direction (0.8, 0.6).
    let distances = |x: f64, y: f64| {
        let (dx, dy) = (x - ax, y - ay);
        (dx * 0.8 + dy * 0.6, (dx * 0.6 - dy * 0.8).abs())
    };
    let (width, region, cap) = (5.0, 4.0, 2.0);
    let mut shown = Vec::new();
    for (manhattan, slopes) in [(false, false), (true, false), (false, true)] {
        let mut scene = scene([24, 20], Code::_3DPRIM_LINELIST, &places).floats();
        scene.sf.line_width = UFix::from_bits(5 << 7);
        scene.sf.line_end_cap_antialiasing_region_width = RegionWidth::_2_0_PIXELS;
        scene.wm.line_antialiasing_region_width = RegionWidth::_4_0_PIXELS;
        scene.raster.antialiasing_enable = true;
        scene.sf.aa_line_distance_mode = match manhattan {
            true => DistanceMode::AALINEDISTANCE_MANHATTAN,
            false => DistanceMode::AALINEDISTANCE_TRUE,
        };
        // The slopes are 0.5 and 0.75, the biases 0.25 and 0.125.
        let parameters = ThreeDStateAaLineParameters {
            aa_coverage_slope: UFix::from_bits(128),
            aa_coverage_bias: UFix::from_bits(64),
            aa_coverage_end_cap_slope: UFix::from_bits(192),
            aa_coverage_end_cap_bias: UFix::from_bits(32),
            ..ThreeDStateAaLineParameters::new()
        };
        if slopes {
            push(&mut scene.more, &parameters);
        }
        let pixels = scene.run().unwrap().floats(0, 0, 0);
        for (n, pixel) in pixels.iter().enumerate() {
            let (x, y) = ((n % 24) as f64 + 0.5, (n / 24) as f64 + 0.5);
            let (along, across) = distances(x, y);
            let inside = across < width / 2.0 && along > -cap && along < 20.0 + cap;
            let stretch = if manhattan { 1.4 } else { 1.0 };
            let beyond = f64::max(-along, along - 20.0) * stretch;
            let ramp = |value: f64| value.clamp(0.0, 1.0);
            let coverage = if slopes {
                let side = |across: f64| ramp(0.5 * (width / 2.0 - across) - 0.25);
                let end = |beyond: f64| ramp(0.75 * (cap - beyond) - 0.125);
                side(across) * side(-across) * end(-along) * end(along - 20.0)
            } else {
                ramp((width / 2.0 - across * stretch) / (region / 2.0)) * ramp(1.0 - beyond / cap)
            };
            let want = if inside { coverage as f32 } else { 0.0 };
            assert!(
                (pixel[3] - want).abs() < 1e-5,
                "({x}, {y}) {manhattan} {slopes}: {}, expected {want}",
                pixel[3]
            );
        }
        shown.push(pixels);
    }
    assert!(shown[0] != shown[1] && shown[0] != shown[2]);
}

/// Alpha of smooth points. Oracle: without a slope, a disc whose border is one pixel wide
/// (assumptions::SMOOTH_POINT_REGION); with slopes, the formula of antialiased lines for the four
/// edges of the square (assumptions::SMOOTH_POINTS_WITH_SLOPES_ARE_SQUARES).
#[test]
fn smooth_points() {
    let (x0, y0, radius) = (8.25f64, 7.5f64, 5.0f64);
    for slopes in [false, true] {
        let place = (x0 as f32, y0 as f32, 1f32.to_bits());
        let mut scene = scene([16, 16], Code::_3DPRIM_POINTLIST, &[place]).floats();
        scene.sf.point_width = UFix::from_bits(10 << 3);
        scene.raster.smooth_point_enable = true;
        // Slopes 0.5 and 0.75, biases 0.25 and 0.125. Those of lines have no effect.
        let parameters = ThreeDStateAaLineParameters {
            aa_coverage_slope: UFix::from_bits(255),
            aa_point_coverage_slope: UFix::from_bits(if slopes { 128 } else { 0 }),
            aa_point_coverage_bias: UFix::from_bits(64),
            aa_point_coverage_end_cap_slope: UFix::from_bits(192),
            aa_point_coverage_end_cap_bias: UFix::from_bits(32),
            ..ThreeDStateAaLineParameters::new()
        };
        push(&mut scene.more, &parameters);
        for (n, pixel) in scene.run().unwrap().floats(0, 0, 0).iter().enumerate() {
            let (x, y) = ((n % 16) as f64 + 0.5 - x0, (n / 16) as f64 + 0.5 - y0);
            let ramp = |value: f64| value.clamp(0.0, 1.0);
            let want = if slopes {
                let side = |distance: f64| ramp(0.5 * distance - 0.25);
                let end = |distance: f64| ramp(0.75 * distance - 0.125);
                side(radius - y) * side(radius + y) * end(radius - x) * end(radius + x)
            } else {
                ramp(radius - x.hypot(y) + 0.5)
            };
            let found = f64::from(pixel[3]);
            assert!((found - want).abs() < 1e-5, "({x}, {y}) {slopes}: {found}, expected {want}");
        }
    }
}

/// Bit 0 of the pattern is at the start of the line (OpenGL 2.1, 3.4.2; drivers pass OpenGL's
/// pattern unchanged). The pattern continues from line to line within a strip. It restarts at each
/// line of a list.
#[test]
fn line_stipple() {
    let packet = |pattern: u64, repeat: u64| ThreeDStateLineStipple {
        line_stipple_pattern: u(pattern),
        line_stipple_repeat_count: u(repeat),
        line_stipple_inverse_repeat_count: UFix::from_bits((1 << 16) / repeat),
        ..ThreeDStateLineStipple::new()
    };
    let draw = |code, places: &[(f32, f32, u32)], stipple: ThreeDStateLineStipple| {
        let mut scene = scene([40, 24], code, places);
        scene.wm.line_stipple_enable = true;
        push(&mut scene.more, &stipple);
        scene.art()
    };
    // OpenGL's rule: pixel s of a line is drawn if bit (s / repeat) % 16 is set.
    let drawn =
        |s: u32, pattern: u64, repeat: u64| pattern >> (u64::from(s) / repeat % 16) & 1 == 1;
    let text = |all: &mut dyn Iterator<Item = bool>| -> String {
        all.map(|one| if one { '1' } else { '.' }).collect()
    };
    // No pattern is symmetric.
    for (pattern, repeat) in [(0xbbbb, 1), (0x000b, 1), (0x000b, 3), (0x8016, 1), (0x8016, 2)] {
        let packet = packet(pattern, repeat);
        // Draw lines to the right and downwards that are longer than the pattern.
        let whole = [(0.5, 0.5, 1), (40.5, 0.5, 1)];
        let found = draw(Code::_3DPRIM_LINELIST, &whole, packet);
        let expected = text(&mut (0..40).map(|s| drawn(s, pattern, repeat)));
        assert_eq!(found[0], expected, "{pattern:#x} {repeat}");
        assert!(found[1..].iter().all(|row| !row.contains('1')));
        let down = [(3.5, 0.5, 1), (3.5, 24.5, 1)];
        let found = draw(Code::_3DPRIM_LINELIST, &down, packet);
        let column = text(&mut found.iter().map(|row| row.as_bytes()[3] == b'1'));
        assert_eq!(column, text(&mut (0..24).map(|s| drawn(s, pattern, repeat))));
        // Three lines of 3, 18 and 19 pixels, as a strip and as a list.
        let [a, b, c, d] = [0.5, 3.5, 21.5, 40.5].map(|x| (x, 0.5, 1));
        assert_eq!(draw(Code::_3DPRIM_LINESTRIP, &[a, b, c, d], packet)[0], expected);
        let starts = (0..40).map(|x| {
            x - if x < 3 {
                0
            } else if x < 21 {
                3
            } else {
                21
            }
        });
        let list = text(&mut starts.map(|s| drawn(s, pattern, repeat)));
        assert_eq!(draw(Code::_3DPRIM_LINELIST, &[a, b, b, c, c, d], packet)[0], list);
    }
    // The counters of a restored context: the second pixel of bit 2 comes first (2a p.139).
    let restored = ThreeDStateLineStipple {
        modify_enable_current_repeat_counter_current_stipple_index: true,
        current_stipple_index: u(2),
        current_repeat_counter: u(2),
        ..packet(0x8016, 3)
    };
    let found = draw(Code::_3DPRIM_LINESTRIP, &[(0.5, 0.5, 1), (40.5, 0.5, 1)], restored);
    assert_eq!(found[0], text(&mut (7..47).map(|s| drawn(s, 0x8016, 3))));
}

#[test]
fn polygon_stipple() {
    // A triangle over the whole screen.
    let mut scene =
        scene([8, 4], Code::_3DPRIM_TRILIST, &[(0.0, 0.0, 1), (64.0, 0.0, 1), (0.0, 64.0, 1)]);
    scene.wm.polygon_stipple_enable = true;
    let mut rows = [u(0); 32];
    rows[0] = u(0xf000_0000);
    rows[1] = u(0x0f00_0001);
    rows[3] = u(0xaa00_0000);
    rows[31] = u(0xffff_ffff);
    let plain = scene.clone();
    push(&mut scene.more, &ThreeDStatePolyStipplePattern { pattern_row: rows });
    push(&mut scene.more, &ThreeDStatePolyStippleOffset::new());
    assert_eq!(scene.art(), ["1111....", "....1111", "........", "1.1.1.1."]);
    let offset = ThreeDStatePolyStippleOffset {
        polygon_stipple_x_offset: u(31),
        polygon_stipple_y_offset: u(31),
    };
    push(&mut scene.more, &offset);
    assert_eq!(scene.art(), ["11111111", ".1111...", "1....111", "........"]);
    // Polygon stipple does not apply to lines.
    let mut line = Scene { topology: Code::_3DPRIM_LINELIST, ..plain };
    line.vertices = vec![on_screen(0.5, 2.5, 1), on_screen(8.5, 2.5, 1)];
    push(&mut line.more, &ThreeDStatePolyStipplePattern { pattern_row: rows });
    assert_eq!(line.art()[2], "11111111");
}

#[test]
fn fill_modes() {
    let mut scene =
        scene([8, 8], Code::_3DPRIM_TRILIST, &[(1.5, 1.5, 1), (6.5, 1.5, 1), (1.5, 6.5, 1)]);
    scene.raster.front_face_fill_mode = FillMode::WIREFRAME;
    scene.raster.back_face_fill_mode = FillMode::WIREFRAME;
    let wires = [
        "........", ".111111.", ".1...1..", ".1..1...", ".1.1....", ".11.....", ".1......",
        "........",
    ];
    assert_eq!(scene.art(), wires);
    scene.raster.front_face_fill_mode = FillMode::POINT;
    scene.raster.back_face_fill_mode = FillMode::POINT;
    let points = [
        "........", ".1....1.", "........", "........", "........", "........", ".1......",
        "........",
    ];
    assert_eq!(scene.art(), points);
    // Clockwise is front-facing by default: each face has its own mode.
    scene.raster.back_face_fill_mode = FillMode::WIREFRAME;
    assert_eq!(scene.art(), points);
    scene.vertices.swap(1, 2);
    assert_eq!(scene.art(), wires);
}

/// Wireframes of quads and polygons show their own edges, without those of the triangles inside.
#[test]
fn wireframes_of_polygons() {
    let corners = [(1.5, 1.5, 1), (5.5, 1.5, 1), (5.5, 5.5, 1), (1.5, 5.5, 1)];
    for code in [Code::_3DPRIM_QUADLIST, Code::_3DPRIM_POLYGON] {
        let mut scene = scene([8, 8], code, &corners);
        scene.raster.front_face_fill_mode = FillMode::WIREFRAME;
        scene.raster.back_face_fill_mode = FillMode::WIREFRAME;
        let want = [
            "........", ".11111..", ".1...1..", ".1...1..", ".1...1..", ".11111..", "........",
            "........",
        ];
        assert_eq!(scene.art(), want, "{code:?}");
    }
}

/// The part of a point inside the target is drawn, also if its vertex lies on the border.
#[test]
fn points_at_the_border() {
    let mut scene = scene([4, 4], Code::_3DPRIM_POINTLIST, &[(0.0, 0.0, 1), (4.0, 4.0, 2)]);
    scene.sf.point_width = UFix::from_bits(4 << 3);
    assert_eq!(scene.art(), ["11..", "11..", "..22", "..22"]);
    let far = Vertex { position: [f32::INFINITY, 0.0, 0.0, 1.0], ..scene.vertices[0].clone() };
    scene.vertices.push(far);
    assert_eq!(scene.art(), ["11..", "11..", "..22", "..22"]);
}
