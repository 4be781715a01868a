//! Operations on colours before they are written to targets. Oracle: the formulas of OpenGL 4.6
//! 17.3 in f64; tables for logic operations and comparisons.

use crate::screen::kernels;
use crate::screen::scene::{FLOATS, Scene, Target, on_screen};
use genxml::gen8::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction as Function,
    ThreeDCompareFunction as Compare, ThreeDLogicOpFunction, ThreeDPrimTopoType as Code,
};
use genxml::gen8::render3d_pixel::{
    ColorCalcStateAlphaTestFormat as AlphaFormat, ColorCalcStateReference as Reference,
};
use genxml::gen8::state::SurfaceFormat;
use genxml_cases::u;

/// A triangle over the whole screen whose attributes are constant.
fn filled(size: [u32; 2], attributes: &[[f32; 4]]) -> Scene {
    let vertices = [(0.0, 0.0), (64.0, 0.0), (0.0, 64.0)].map(|(x, y)| {
        let mut vertex = on_screen(x, y, 0);
        vertex.attributes = attributes.iter().map(|value| value.map(f32::to_bits)).collect();
        vertex
    });
    Scene::new(size, Code::_3DPRIM_TRILIST, vertices.to_vec())
}

const SOURCE: [f64; 4] = [0.25, 0.5, 0.75, 0.375];
const SECOND: [f64; 4] = [0.125, 1.0, 0.5, 0.625];
const OLD: [f64; 4] = [1.0, 0.25, 0.0, 0.75];
const CONSTANT: [f64; 4] = [0.5, 0.75, 0.25, 0.875];

/// The value of the blend factor with number `code`, for component `c`.
fn factor(code: u64, c: usize) -> f64 {
    let inverse = code & 0x10 != 0;
    let value = match code & 0xf {
        // Zero is coded as the inverse of one.
        1 => 1.0,
        2 => SOURCE[c],
        3 => SOURCE[3],
        4 => OLD[3],
        5 => OLD[c],
        6 if c == 3 => 1.0,
        6 => SOURCE[3].min(1.0 - OLD[3]),
        7 => CONSTANT[c],
        8 => CONSTANT[3],
        9 => SECOND[c],
        _ => SECOND[3],
    };
    if inverse { 1.0 - value } else { value }
}

const FACTORS: [u64; 19] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x17, 0x18, 0x19, 0x1a];

#[test]
fn factors_and_functions() {
    let pairs = FACTORS.iter().flat_map(|&code| [(code, 1), (1, code), (code, code)]);
    let mut cases: Vec<(u64, u64, u64)> = pairs.map(|(source, old)| (source, old, 0)).collect();
    cases.extend((1..5).flat_map(|function| [(3, 0x13, function), (5, 1, function)]));
    for (source, old, function) in cases {
        let mut scene = filled([2, 2], &[SOURCE.map(|v| v as f32), SECOND.map(|v| v as f32)]);
        scene.kernel = kernels::TWO_COLORS;
        scene.targets = vec![Target { before: OLD.map(|v| (v as f32).to_bits()), ..FLOATS }];
        [
            scene.color.blend_constant_color_red,
            scene.color.blend_constant_color_green,
            scene.color.blend_constant_color_blue,
            scene.color.blend_constant_color_alpha,
        ] = CONSTANT.map(|v| v as f32);
        let entry = &mut scene.blend.entry[0];
        entry.color_buffer_blend_enable = true;
        entry.source_blend_factor = Factor::from_bits(source);
        entry.destination_blend_factor = Factor::from_bits(old);
        entry.color_blend_function = Function::from_bits(function);
        for (c, found) in scene.run().unwrap().floats(0, 0, 0)[3].into_iter().enumerate() {
            let (s, d) = (SOURCE[c] * factor(source, c), OLD[c] * factor(old, c));
            let want = match function {
                0 => s + d,
                1 => s - d,
                2 => d - s,
                3 => SOURCE[c].min(OLD[c]),
                _ => SOURCE[c].max(OLD[c]),
            };
            let off = (f64::from(found) - want).abs();
            assert!(
                off < 1e-6,
                "factors {source:#x} {old:#x} function {function} component {c}: {found}, not {want}"
            );
        }
    }
}

/// Alpha may have blend factors and a function of its own.
#[test]
fn independent_alpha() {
    let mut scene = filled([2, 2], &[[0.5, 0.5, 0.5, 0.5]]);
    scene.targets = vec![Target { before: [0.25f32.to_bits(); 4], ..FLOATS }];
    scene.blend.independent_alpha_blend_enable = true;
    let entry = &mut scene.blend.entry[0];
    entry.color_buffer_blend_enable = true;
    entry.source_blend_factor = Factor::BLENDFACTOR_ONE;
    entry.destination_blend_factor = Factor::BLENDFACTOR_ONE;
    entry.source_alpha_blend_factor = Factor::BLENDFACTOR_ZERO;
    entry.destination_alpha_blend_factor = Factor::BLENDFACTOR_ONE;
    entry.alpha_blend_function = Function::BLENDFUNCTION_REVERSE_SUBTRACT;
    assert_eq!(scene.run().unwrap().floats(0, 0, 0)[0], [0.75, 0.75, 0.75, 0.25]);
}

/// All sixteen logic operations, on bits with each combination of operands. An operation's number
/// is its truth table: bit 3 is for source 1, destination 1; bit 2 for source 1, destination 0; bit
/// 1 for source 0, destination 1; bit 0 for source 0, destination 0.
#[test]
fn logic_operations() {
    for code in 0..16_u64 {
        let mut scene = filled([2, 2], &[[204.0 / 255.0; 4]]);
        scene.targets = vec![Target {
            before: [0xaaaa_aaaa; 4],
            ..Target::new(SurfaceFormat::R8G8B8A8_UNORM, 4)
        }];
        scene.blend.entry[0].logic_op_enable = true;
        scene.blend.entry[0].logic_op_function = ThreeDLogicOpFunction::from_bits(code);
        let bit = |n: u32| {
            let (source, old) = (0xcc_u64 >> (n % 8) & 1, 0xaa >> (n % 8) & 1);
            (code >> (2 * source + old) & 1) << n
        };
        let want = (0..32).map(bit).sum::<u64>() as u32;
        assert_eq!(scene.run().unwrap().dwords(0, 0, 0), [want; 4], "{code:#x}");
    }
}

#[test]
fn write_masks() {
    for mask in 0..16_u32 {
        let mut scene = filled([2, 2], &[[1.0; 4]]);
        scene.targets = vec![Target {
            before: [0x4030_2010; 4],
            ..Target::new(SurfaceFormat::R8G8B8A8_UNORM, 4)
        }];
        let entry = &mut scene.blend.entry[0];
        entry.write_disable_red = mask & 1 != 0;
        entry.write_disable_green = mask & 2 != 0;
        entry.write_disable_blue = mask & 4 != 0;
        entry.write_disable_alpha = mask & 8 != 0;
        let want = (0..4).map(|c| {
            if mask >> c & 1 == 1 { 0x4030_2010 & 0xff << (8 * c) } else { 0xff << (8 * c) }
        });
        assert_eq!(scene.run().unwrap().dwords(0, 0, 0), [want.sum::<u32>(); 4], "{mask:#06b}");
    }
}

/// The alpha test with all eight comparison functions, and with alpha below, at and above the
/// reference.
#[test]
fn alpha_tests() {
    for float in [false, true] {
        for code in 0..8 {
            for alpha in [63, 64, 65_u32] {
                let value = alpha as f32 / 255.0;
                let mut scene = filled([2, 2], &[[1.0, 1.0, 1.0, value]]);
                scene.targets = vec![FLOATS];
                scene.blend.alpha_test_enable = true;
                scene.blend.alpha_test_function = Compare::from_bits(code);
                scene.color.alpha_test_format = if float {
                    AlphaFormat::ALPHATEST_FLOAT32
                } else {
                    AlphaFormat::ALPHATEST_UNORM8
                };
                scene.color.reference = match float {
                    true => Reference::Float { alpha_reference_value_as_float32: 64.0 / 255.0 },
                    false => Reference::Unorm { alpha_reference_value_as_unorm8: u(64) },
                };
                let order = alpha.cmp(&64);
                let pass = match code {
                    1 => false,
                    2 => order.is_lt(),
                    3 => order.is_eq(),
                    4 => order.is_le(),
                    5 => order.is_gt(),
                    6 => order.is_ne(),
                    7 => order.is_ge(),
                    _ => true,
                };
                let drawn = scene.run().unwrap().floats(0, 0, 0)[0][0] == 1.0;
                assert_eq!(drawn, pass, "function {code} alpha {alpha} {float}");
            }
        }
    }
}

/// Eight targets. The header of each message selects the target's entry of the blend state. The
/// entries have different channel masks.
#[test]
fn eight_targets() {
    let mut scene = filled([4, 4], &[[0.0; 4]]);
    scene.kernel = kernels::EIGHT_TARGETS;
    scene.vertices.iter_mut().for_each(|v| v.attributes[0] = [100, 7, 8, 9]);
    scene.targets =
        vec![
            Target { before: [1, 2, 3, 4], ..Target::new(SurfaceFormat::R32G32B32A32_UINT, 16) };
            8
        ];
    for (n, entry) in scene.blend.entry.iter_mut().enumerate() {
        entry.write_disable_red = n == 3;
        entry.write_disable_green = n & 1 == 1;
        entry.write_disable_alpha = n >= 4;
    }
    let drawn = scene.run().unwrap();
    for n in 0..8 {
        let want = [
            if n == 3 { 1 } else { 100 + n as u32 },
            if n & 1 == 1 { 2 } else { 7 },
            8,
            if n >= 4 { 4 } else { 9 },
        ];
        assert_eq!(drawn.dwords(n, 0, 0), want.repeat(16), "target {n}");
    }
}
