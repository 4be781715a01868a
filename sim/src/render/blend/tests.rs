//! Oracle: the equations of Direct3D 11 and OpenGL in f64, for all factors and functions.

use super::*;
use crate::surface::Codec;
use genxml::gen8::state::SurfaceFormat;

const FACTORS: [u64; 20] = [
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x11, 0x12, 0x13, 0x14, 0x15, 0x17,
    0x18, 0x19, 0x1a, 0x10,
];

fn format(code: SurfaceFormat) -> &'static Format {
    Codec::of(code).unwrap().format()
}

/// Pseudo-random colours from -0.2 to 1.2.
fn colors(seed: u32) -> Colors {
    let mut state = seed;
    std::array::from_fn(|_| {
        std::array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 12_000_000.0 - 0.2
        })
    })
}

/// The blend factor with this code, for channel `c`. The colours are the source, the second source,
/// the destination and the constant.
fn factor(code: u64, c: usize, [s, s1, d, k]: [[f64; 4]; 4]) -> f64 {
    match code {
        0x01 => 1.0,
        0x02 => s[c],
        0x03 => s[3],
        0x04 => d[3],
        0x05 => d[c],
        0x06 if c == 3 => 1.0,
        0x06 => s[3].min(1.0 - d[3]),
        0x07 => k[c],
        0x08 => k[3],
        0x09 => s1[c],
        0x0a => s1[3],
        0x12 => 1.0 - s[c],
        0x13 => 1.0 - s[3],
        0x14 => 1.0 - d[3],
        0x15 => 1.0 - d[c],
        0x17 => 1.0 - k[c],
        0x18 => 1.0 - k[3],
        0x19 => 1.0 - s1[c],
        0x1a => 1.0 - s1[3],
        _ => 0.0,
    }
}

fn clamp(colors: [f64; 4], range: Option<[f64; 2]>) -> [f64; 4] {
    colors.map(|value| range.map_or(value, |[least, greatest]| value.clamp(least, greatest)))
}

#[test]
fn factors_functions_and_clamps() {
    let constant = [0.3f32, -0.1, 1.4, 0.6];
    let constants = ColorCalcState {
        blend_constant_color_red: constant[0],
        blend_constant_color_green: constant[1],
        blend_constant_color_blue: constant[2],
        blend_constant_color_alpha: constant[3],
        ..ColorCalcState::new()
    };
    let formats = [
        (SurfaceFormat::R8G8B8A8_UNORM, Some([0.0, 1.0])),
        (SurfaceFormat::R8G8B8A8_SNORM, Some([-1.0, 1.0])),
        (SurfaceFormat::R16G16B16A16_FLOAT, None),
    ];
    let mut seed = 1u32;
    for source_code in FACTORS {
        for (n, destination_code) in FACTORS.into_iter().enumerate() {
            for function in 0..5 {
                seed += 1;
                let (code, of_format) = formats[seed as usize % 3];
                let range = [Some([0.0, 1.0]), Some([-1.0, 1.0]), of_format][n % 3];
                let clamps = seed % 4;
                let mut state = BlendState::new();
                let entry = &mut state.entry[5];
                entry.color_buffer_blend_enable = true;
                entry.source_blend_factor = Factor::from_bits(source_code);
                entry.destination_blend_factor = Factor::from_bits(destination_code);
                entry.color_blend_function = Function::from_bits(function);
                // For alpha, the factors are swapped and the functions are in reverse order.
                entry.source_alpha_blend_factor = Factor::from_bits(destination_code);
                entry.destination_alpha_blend_factor = Factor::from_bits(source_code);
                entry.alpha_blend_function = Function::from_bits(4 - function);
                entry.color_clamp_range = ClampRange::from_bits(n as u64 % 3);
                entry.pre_blend_color_clamp_enable = clamps == 1;
                entry.pre_blend_source_only_clamp_enable = clamps == 2;
                entry.post_blend_color_clamp_enable = clamps == 3 || clamps == 1;
                state.independent_alpha_blend_enable = seed.is_multiple_of(2);
                let blend = Blend::resolve(&state, 5, &constants, format(code));
                let (source, second, mut destination) =
                    (colors(seed), colors(seed + 1000), colors(seed + 2000));
                // UNORM elements hold only values from 0 to 1, so they are not clamped again.
                let held =
                    if code == SurfaceFormat::R8G8B8A8_UNORM { Some([0.0, 1.0]) } else { None };
                if held.is_some() {
                    destination = destination.map(|lanes| lanes.map(|value| value.clamp(0.0, 1.0)));
                }
                let mut found = source;
                blend.apply(&mut found, Some(&second), &destination);
                for lane in 0..SLOTS {
                    let get = |colors: &Colors| colors.map(|lanes| f64::from(lanes[lane]));
                    let before = if clamps == 1 || clamps == 2 { range } else { None };
                    let all = if clamps == 1 { range } else { None };
                    let inputs = [
                        clamp(get(&source), before),
                        clamp(get(&second), before),
                        clamp(get(&destination), all),
                        clamp(constant.map(f64::from), all),
                    ];
                    for c in 0..4 {
                        let own = c == 3 && state.independent_alpha_blend_enable;
                        let codes = if own {
                            [destination_code, source_code]
                        } else {
                            [source_code, destination_code]
                        };
                        let (s, d) = (inputs[0][c], inputs[2][c]);
                        let (fs, fd) =
                            (s * factor(codes[0], c, inputs), d * factor(codes[1], c, inputs));
                        let exact = match if own { 4 - function } else { function } {
                            0 => fs + fd,
                            1 => fs - fd,
                            2 => fd - fs,
                            3 => s.min(d),
                            _ => s.max(d),
                        };
                        let exact = clamp(
                            [exact; 4],
                            if clamps == 1 || clamps == 3 { range } else { None },
                        )[0];
                        let stored = |value: f64| clamp([value; 4], held)[0];
                        let error = (stored(f64::from(found[c][lane])) - stored(exact)).abs();
                        // Maximum error of three roundings of numbers below 4.
                        assert!(error < 1e-6, "{codes:x?} {function} channel {c}: {error}");
                    }
                }
            }
        }
    }
}

/// If the state does not read the destination, the destination must not change the result. If it
/// does not read the second colour, the second colour must not change the result.
#[test]
fn what_counts() {
    let (source, second) = (colors(7), colors(8));
    for source_code in FACTORS {
        for destination_code in FACTORS {
            for function in 0..5 {
                let mut state = BlendState::new();
                let entry = &mut state.entry[0];
                entry.color_buffer_blend_enable = true;
                entry.source_blend_factor = Factor::from_bits(source_code);
                entry.destination_blend_factor = Factor::from_bits(destination_code);
                entry.color_blend_function = Function::from_bits(function);
                let codec = format(SurfaceFormat::R32G32B32A32_FLOAT);
                let blend = Blend::resolve(&state, 0, &ColorCalcState::new(), codec);
                let run = |second: &Colors, destination: &Colors| {
                    let mut found = source;
                    blend.apply(&mut found, Some(second), destination);
                    found
                };
                if !blend.reads_destination() {
                    assert_eq!(
                        run(&second, &colors(9)),
                        run(&second, &[[f32::INFINITY; SLOTS]; 4])
                    );
                }
                if !blend.reads_second() {
                    assert_eq!(run(&second, &colors(9)), run(&colors(10), &colors(9)));
                }
            }
        }
    }
}

/// Oracle: D3D11 output merger: NaN becomes 0 in a normalized target. The range of R11G11B10_FLOAT
/// begins at 0, and infinity stays.
#[test]
fn special_values() {
    let mut state = BlendState::new();
    state.entry[0].pre_blend_color_clamp_enable = true;
    state.entry[0].color_clamp_range = ClampRange::COLORCLAMP_RTFORMAT;
    let clamped = |code: SurfaceFormat, value: f32| {
        let blend = Blend::resolve(&state, 0, &ColorCalcState::new(), format(code));
        let mut colors = [[value; SLOTS]; 4];
        blend.apply(&mut colors, None, &[[0.0; SLOTS]; 4]);
        [colors[0][3], colors[3][3]]
    };
    assert_eq!(clamped(SurfaceFormat::R8G8_SNORM, f32::NAN), [0.0, 0.0]);
    assert_eq!(clamped(SurfaceFormat::R8G8B8A8_SNORM, f32::NAN), [0.0, 0.0]);
    assert_eq!(clamped(SurfaceFormat::R8G8B8A8_SNORM, -7.0), [-1.0, -1.0]);
    assert_eq!(clamped(SurfaceFormat::R11G11B10_FLOAT, -2.0), [0.0, -2.0]);
    assert_eq!(clamped(SurfaceFormat::R11G11B10_FLOAT, f32::INFINITY), [f32::INFINITY; 2]);
    assert!(clamped(SurfaceFormat::R16G16B16A16_FLOAT, f32::NAN)[0].is_nan());
}
