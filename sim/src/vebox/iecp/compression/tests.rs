//! The oracle for the gamut is the RGB cube of BT.601 and BT.709, in floating point.

use super::{Color, Compression, HUES, WHITE, is_inside};
use genxml::gen8::vebox_states::*;
use genxml_core::{U, UFix};
use std::f64::consts::PI;

/// Weights of red and blue in luma.
const STANDARDS: [[f64; 2]; 2] = [[0.299, 0.114], [0.2126, 0.0722]];

/// Luma, U and V of a colour: 0 to 1, and -0.5 to 0.5.
fn to_yuv([kr, kb]: [f64; 2], [r, g, b]: [f64; 3]) -> [f64; 3] {
    let y = kr * r + (1.0 - kr - kb) * g + kb * b;
    [y, (b - y) / (2.0 - 2.0 * kb), (r - y) / (2.0 - 2.0 * kr)]
}

fn to_rgb([kr, kb]: [f64; 2], [y, u, v]: [f64; 3]) -> [f64; 3] {
    let (r, b) = (y + v * (2.0 - 2.0 * kr), y + u * (2.0 - 2.0 * kb));
    [r, (y - kr * r - kb * b) / (1.0 - kr - kb), b]
}

/// How far a colour is outside the RGB cube.
fn excess(standard: [f64; 2], yuv: [f64; 3]) -> f64 {
    to_rgb(standard, yuv).into_iter().map(|c| (-c).max(c - 1.0)).fold(f64::MIN, f64::max)
}

/// The vertex of a hue: the outermost colour of the cube, by a search along its six edges.
fn vertex(standard: [f64; 2], hue: f64) -> [f64; 2] {
    let corners = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]]
        .map(|corner| corner.map(f64::from));
    let mut best = [0.0; 2];
    for edge in 0..6 {
        let at = |way: f64| {
            let mix = |n: usize| corners[edge][n] * (1.0 - way) + corners[(edge + 1) % 6][n] * way;
            to_yuv(standard, [mix(0), mix(1), mix(2)])
        };
        // The sine of the angle between the colour and the hue changes its sign once at most.
        let side = |[_, u, v]: [f64; 3]| v * hue.cos() - u * hue.sin();
        let (mut low, mut high) = (0.0, 1.0);
        if side(at(0.0)) * side(at(1.0)) > 0.0 {
            continue;
        }
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            if side(at(low)) * side(at(middle)) <= 0.0 { high = middle } else { low = middle }
        }
        let [y, u, v] = at(low);
        if u * hue.cos() + v * hue.sin() > 0.0 {
            best = [y, u.hypot(v)];
        }
    }
    best
}

fn table(standard: [f64; 2]) -> VeboxVertexTable {
    let mut table = VeboxVertexTable::new();
    for (hue, entry) in table.vertex_table_entry.iter_mut().enumerate() {
        let [luma, chroma] = vertex(standard, hue as f64 * PI / HUES as f64);
        let number = |value: f64| U::new((value * WHITE + 0.5) as u64).unwrap();
        (entry.lv, entry.cv) = (number(luma), number(chroma));
    }
    table
}

fn number(seed: &mut u32) -> f64 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    f64::from(*seed >> 8) / f64::from(1 << 24)
}

/// Samples of 12 bits in the range of video.
fn samples([y, u, v]: [f64; 3]) -> [u16; 3] {
    let sample = |value: f64| (value + 0.5).clamp(0.0, 4095.0) as u16;
    [sample(256.0 + 3504.0 * y), sample(2048.0 + 3584.0 * u), sample(2048.0 + 3584.0 * v)]
}

fn values([y, u, v]: [u16; 3]) -> [f64; 3] {
    let chroma = |sample: u16| (f64::from(sample) - 2048.0) / 3584.0;
    [(f64::from(y) - 256.0) / 3504.0, chroma(u), chroma(v)]
}

/// Basic states whose factor is 1.
fn basic_states() -> Vec<VeboxGamutState> {
    let one = UFix::new(1.0).unwrap();
    let mut states = Vec::new();
    for mode in 0..4 {
        for axis in 0..2 {
            for shift in 0..5 {
                states.push(VeboxGamutState {
                    gcc_basic_mode_selection: VeboxGamutStateGccBasicModeSelection::from_bits(mode),
                    luma_chorma_only_correction: VeboxGamutStateLumaChormaOnlyCorrection::from_bits(
                        axis,
                    ),
                    compression_line_shift: U::new(shift).unwrap(),
                    basic_mode_scaling_factor: one,
                    ..VeboxGamutState::new()
                });
            }
        }
    }
    states
}

/// Oracle: entries of the tables of intel/media-driver (mhw_vebox_generic.h), chroma first. They
/// show the unit, the first hue, the direction and the half circle.
#[test]
fn vertices_of_the_driver() {
    let known = [
        (0, [1936, 666], [2005, 375]),
        (128, [2047, 1532], [2307, 1069]),
        (256, [1936, 1382], [2005, 939]),
        (384, [1825, 2287], [1689, 2216]),
    ];
    for (standard, table) in STANDARDS.map(table).iter().enumerate() {
        for (hue, first, second) in known {
            let [chroma, luma] = [first, second][standard];
            let entry = table.vertex_table_entry[hue];
            assert!(entry.cv.get().abs_diff(chroma) <= 1, "{standard} {hue} {}", entry.cv.get());
            assert!(entry.lv.get().abs_diff(luma) <= 1, "{standard} {hue} {}", entry.lv.get());
        }
    }
}

/// Colours inside the cube stay, and are not counted.
#[test]
fn the_inside_stays() {
    for standard in STANDARDS {
        let table = table(standard);
        for state in basic_states() {
            let compression = Compression::new(&state, &table);
            let mut seed = 5;
            for _ in 0..500 {
                // Not at the border, where samples are rounded.
                let rgb = [0; 3].map(|_| 0.003 + 0.994 * number(&mut seed));
                let pixel = samples(to_yuv(standard, rgb));
                assert_eq!(compression.pixel(pixel), (pixel, None), "{rgb:?}");
            }
        }
    }
}

/// All results are in the cube, but for rounding, and have the hue of their colour. Pixels are
/// counted if they are outside.
#[test]
fn the_outside_comes_inside() {
    for standard in STANDARDS {
        let table = table(standard);
        let mut states = basic_states();
        let advanced = VeboxGamutStateFullRangeMappingEnable::ADVANCE_MODE;
        states.push(VeboxGamutState {
            full_range_mapping_enable: advanced,
            ..VeboxGamutState::new()
        });
        for state in states {
            let compression = Compression::new(&state, &table);
            let mut seed = 9;
            for _ in 0..500 {
                let pixel = [0; 3].map(|_| (number(&mut seed) * 4096.0) as u16);
                let (result, outside) = compression.pixel(pixel);
                let far = excess(standard, values(result));
                assert!(far < 0.003, "{pixel:?} becomes {result:?}: {far}");
                let before = excess(standard, values(pixel));
                if before.abs() > 0.003 {
                    assert_eq!(outside.is_some(), before > 0.0, "{pixel:?}");
                }
                let [_, u, v] = values(pixel);
                let [_, new_u, new_v] = values(result);
                let aside = (u * new_v - v * new_u) / u.hypot(v).max(1e-9);
                assert!(aside.abs() < 1.0 / 3584.0, "{pixel:?} becomes {result:?}");
                assert!(u * new_u + v * new_v > -1e-6);
            }
        }
    }
}

/// With more chroma at the same hue and luma, the result never has less chroma. In the advanced
/// mode this holds within the two halves of the triangle.
#[test]
fn chroma_grows_with_chroma() {
    let standard = STANDARDS[0];
    let table = table(standard);
    let mut states = basic_states();
    states.retain(|state| {
        state.gcc_basic_mode_selection
            != VeboxGamutStateGccBasicModeSelection::SINGLE_AXIS_GAMMA_CORRECTION
    });
    let advanced = VeboxGamutStateFullRangeMappingEnable::ADVANCE_MODE;
    states.push(VeboxGamutState { full_range_mapping_enable: advanced, ..VeboxGamutState::new() });
    for state in states {
        let compression = Compression::new(&state, &table);
        for vertex in [[700.0, 1900.0], [1500.0, 2100.0], [3500.0, 2000.0]] {
            let vertex = Color { luma: vertex[0], chroma: vertex[1] };
            for luma in (0..=16).map(|n| f64::from(n) * 256.0) {
                let mut last = 0.0;
                for chroma in (0..=300).map(|n| f64::from(n) * 10.0) {
                    let result = compression.color(Color { luma, chroma }, vertex);
                    assert!(result.chroma >= last - 1e-6, "{luma} {chroma} {vertex:?}");
                    last = result.chroma;
                }
            }
        }
    }
}

/// Oracle: the line by definition, with its end in the RGB cube found by halving.
#[test]
fn lines_end_at_the_cube() {
    for standard in STANDARDS {
        let table = table(standard);
        for (shift, advanced) in (0..5).flat_map(|shift| [(shift, false), (shift, true)]) {
            let mut state = VeboxGamutState {
                compression_line_shift: U::new(shift).unwrap(),
                ..VeboxGamutState::new()
            };
            if advanced {
                state.full_range_mapping_enable =
                    VeboxGamutStateFullRangeMappingEnable::ADVANCE_MODE;
            }
            let compression = Compression::new(&state, &table);
            let mut seed = 77;
            for _ in 0..300 {
                let hue = 2.0 * PI * number(&mut seed);
                let [lv, cv] = vertex(standard, hue);
                let (luma, chroma) = (number(&mut seed), 0.2 + 0.36 * number(&mut seed));
                let anchor = luma + (lv - luma) * (chroma / cv).min(1.0) / f64::from(1 << shift);
                let at = |way: f64| {
                    let chroma = chroma * way;
                    [anchor + (luma - anchor) * way, chroma * hue.cos(), chroma * hue.sin()]
                };
                let (mut low, mut high) = (0.0, 8.0);
                for _ in 0..60 {
                    let middle = (low + high) / 2.0;
                    let inside = excess(standard, at(middle)) <= 0.0;
                    if inside { low = middle } else { high = middle }
                }
                let border = low;
                // Which border is it? Below, a colour is 0.
                let end = to_rgb(standard, at(border));
                let below = end.iter().copied().fold(1.0, f64::min) < 1e-6;
                let (inside, outside) = match below {
                    true => (820.0 / 1024.0, 287.0 / 1024.0),
                    false => (205.0 / 1024.0, 164.0 / 1024.0),
                };
                let way = match advanced {
                    false => border.min(1.0),
                    true => {
                        let (inner, outer) = (border * (1.0 - inside), border * (1.0 + outside));
                        let part = ((1.0 - inner) / (outer - inner)).min(1.0);
                        if inner >= 1.0 { 1.0 } else { inner + part * (border - inner) }
                    }
                };
                let (got, _) = compression.pixel(samples(at(1.0)));
                let want = samples(at(way));
                let differences = got.iter().zip(want).map(|(got, want)| got.abs_diff(want));
                // Samples are rounded, and the table is.
                let near = differences.max().unwrap();
                assert!(near <= 8, "{hue} {luma} {chroma}: {got:?} for {want:?}");
            }
        }
    }
}

/// Factors scale colours that stay inside: luma from black and chroma, or chroma alone.
#[test]
fn factors() {
    let table = table(STANDARDS[0]);
    for (mode, with_luma) in [(1, true), (3, false)] {
        let state = VeboxGamutState {
            gcc_basic_mode_selection: VeboxGamutStateGccBasicModeSelection::from_bits(mode),
            basic_mode_scaling_factor: UFix::new(0.5).unwrap(),
            ..VeboxGamutState::new()
        };
        let compression = Compression::new(&state, &table);
        let (result, _) = compression.pixel([1256, 2148, 1848]);
        let luma = if with_luma { 756 } else { 1256 };
        assert_eq!(result, [luma, 2098, 1948]);
    }
}

/// Only luma or only chroma changes, if that is enough.
#[test]
fn single_axis() {
    let table = table(STANDARDS[1]);
    for chroma_only in [false, true] {
        let state = VeboxGamutState {
            gcc_basic_mode_selection:
                VeboxGamutStateGccBasicModeSelection::SINGLE_AXIS_GAMMA_CORRECTION,
            luma_chorma_only_correction: VeboxGamutStateLumaChormaOnlyCorrection::from_bits(
                chroma_only.into(),
            ),
            ..VeboxGamutState::new()
        };
        let compression = Compression::new(&state, &table);
        // Dark, with chroma that needs more luma.
        let pixel = [300, 2048, 2748];
        let ([y, u, v], outside) = compression.pixel(pixel);
        assert!(outside.is_some());
        assert_eq!((y == 300, u, v == 2748), (chroma_only, 2048, !chroma_only));
    }
}

/// Without decoding, samples have the full range: white is 4096 and black is 0.
#[test]
fn the_full_range() {
    let table = table(STANDARDS[0]);
    for decodes in [false, true] {
        let state = VeboxGamutState {
            xv_ycc_dec_enc_enable: VeboxGamutStateXvYccDecEncEnable::from_bits(decodes.into()),
            ..VeboxGamutState::new()
        };
        let compression = Compression::new(&state, &table);
        for (pixel, limited) in
            [([100, 2048, 2048], [256, 2048, 2048]), ([4000, 2048, 2048], [3760, 2048, 2048])]
        {
            let want = if decodes { limited } else { pixel };
            assert_eq!(compression.pixel(pixel).0, want);
        }
    }
}

/// A triangle without chroma leaves grey only; nothing divides by 0.
#[test]
fn tables_of_zeros() {
    for state in basic_states() {
        let compression = Compression::new(&state, &VeboxVertexTable::new());
        let (result, _) = compression.pixel([2000, 3000, 1000]);
        assert_eq!(result[1..], [2048, 2048]);
    }
    let empty = Color { luma: 0.0, chroma: 0.0 };
    assert!(is_inside(Color { luma: 0.0, chroma: 0.0 }, empty));
}
