//! Levels of detail. Oracle: the formulas of 003:2741-2827 in doubles. Each level has its own
//! colour, so the result shows the levels that were used and their weights.

use crate::sampler::filters::sampler;
use crate::sampler::reference::Filter;
use crate::sampler::texture::{Kind, Texture};
use crate::sampler::{Mode, Send, Type, model};
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateEwaDisableForCube as ForCube, SamplerState,
    SamplerStateAnisotropicAlgorithm as Algorithm, SamplerStateLodPreClampMode,
    SamplerStateMagModeFilter, SamplerStateMaximumAnisotropy, SamplerStateMinModeFilter,
    SamplerStateMipModeFilter, SurfaceFormat, TextureCoordinateMode as Wrap,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Model, Random, u};
use genxml_core::{SFix, UFix};

/// A map whose level n has the colour n, with seven levels.
pub fn levels(model: &mut Model, kind: Kind, size: [u32; 2]) -> Texture {
    let mut texture = Texture::plain(
        &mut Random::new(0),
        SurfaceFormat::R32G32B32A32_FLOAT,
        16,
        Tiling::Y,
        size,
        7,
    );
    texture.kind = kind;
    (0..7).for_each(|level| texture.fill(level, [level as f32; 4]));
    texture.put(model);
    texture
}

/// A sampler with the linear filter within levels and between them.
pub fn trilinear() -> SamplerState {
    SamplerState { mip_mode_filter: SamplerStateMipModeFilter::LINEAR, ..sampler(true) }
}

/// The coordinates of two subspans: the corner, then one step to the right and one below. The lower
/// right pixel of each is not used; its coordinate is far away.
fn subspans(corner: f64, steps: [[f64; 2]; 2]) -> [u32; 16] {
    let mut lanes = [0; 16];
    for (n, lane) in lanes.iter_mut().enumerate() {
        let [right, below] = steps[n / 4 % 2];
        let value = match n % 4 {
            0 => corner,
            1 => corner + right,
            2 => corner + below,
            _ => corner + 7.3,
        };
        *lane = (value as f32).to_bits();
    }
    lanes
}

/// A derivative with few significant bits, so that differences of coordinates are exact.
fn step(random: &mut Random, magnitudes: u64) -> f64 {
    let value =
        (random.below(1000) as f64 / 500.0 - 1.0) * (-(random.below(magnitudes) as f64)).exp2();
    (value * f64::from(1 << 20)).round() / f64::from(1 << 20)
}

/// The level of detail before bias and clamps: log2 of the longer one of two derivatives in texels.
fn ideal(width: f64, height: f64, u: [f64; 2], v: [f64; 2]) -> f64 {
    let length = |n: usize| (u[n] * width).hypot(v[n] * height);
    length(0).max(length(1)).log2()
}

/// Levels from the differences between neighbouring pixels, with biases from sampler and message,
/// clamps, and the first level of the surface.
#[test]
fn neighbours() {
    let (mut model, mut random) = (model(), Random::new(31));
    let texture = levels(&mut model, Kind::Two, [64, 48]);
    for round in 0..150 {
        let mut step = || step(&mut random, 9);
        let (u, v) = ([[step(), step()], [step(), step()]], [[step(), step()], [step(), step()]]);
        let bias = random.below(16 * 256) as f64 / 256.0 - 8.0;
        let [low, high] = [0; 2].map(|_| random.below(8 * 256) as f64 / 256.0);
        let first = random.below(3) as u32;
        let (bias, low, high) = match round % 3 {
            0 => (0.0, 0.0, 14.0),
            1 => (bias, 0.0, 14.0),
            _ => (bias, low, high),
        };
        let nearest = round % 2 == 0;
        let state = SamplerState {
            mip_mode_filter: [
                SamplerStateMipModeFilter::LINEAR,
                SamplerStateMipModeFilter::NEAREST,
            ][usize::from(nearest)],
            texture_lod_bias: SFix::new(bias).unwrap(),
            min_lod: UFix::new(low).unwrap(),
            max_lod: UFix::new(high).unwrap(),
            lod_pre_clamp_mode: SamplerStateLodPreClampMode::from_bits(if round % 5 == 0 {
                2
            } else {
                0
            }),
            ..trilinear()
        };
        let surface = RenderSurfaceState {
            surface_min_lod: u_(first),
            mip_count_lod: u_(6 - first),
            ..texture.state()
        };
        let own = if round % 4 == 0 { 1.5 } else { 0.0 };
        let coordinates = [subspans(0.25, u), subspans(-0.25, v)];
        let send = match round % 4 {
            0 => Send::new(
                Type::SAMPLE_B,
                Mode::SIMD16,
                vec![[(own as f32).to_bits(); 16], coordinates[0], coordinates[1]],
            ),
            _ => Send::new(Type::SAMPLE, Mode::SIMD16, coordinates.to_vec()),
        };
        for (lane, found) in send.colors(&mut model, &surface, &state).into_iter().enumerate() {
            let span = lane / 4 % 2;
            let unclamped = ideal(64.0, 48.0, u[span], v[span]) - f64::from(first) + bias + own;
            let last = f64::from(6 - first);
            let (low, high) = (f64::min(low, last), f64::min(high, last));
            let clamp = |lod: f64| lod.min(high).max(low);
            let mut lod = unclamped;
            if round % 5 == 0 {
                lod = clamp(lod);
            }
            let expected = if lod <= 0.0 {
                low.floor()
            } else if nearest {
                (clamp(lod) + 0.5).floor()
            } else {
                clamp(lod)
            } + f64::from(first);
            let found = f64::from(f32::from_bits(found[0]));
            // Levels of detail have 8 fraction bits, so results are compared with this precision.
            // Near the limit between two levels or filters, both results are right.
            let close = |distance: f64| distance.abs() < 1.0 / 128.0;
            let edge = close(unclamped)
                || nearest && close((clamp(lod) + 0.5).fract())
                || nearest && close(1.0 - (clamp(lod) + 0.5).fract());
            assert!(
                (found - expected).abs() <= 1.0 / 256.0 + 1e-6 || edge,
                "round {round} lane {lane}: level {found}, expected {expected} ({unclamped})"
            );
        }
    }
}

fn u_<const N: u32>(value: u32) -> genxml_core::U<N> {
    u(value.into())
}

/// Derivatives from the message, with and without a comparison, in both modes.
#[test]
fn derivatives() {
    let (mut model, mut random) = (model(), Random::new(32));
    let texture = levels(&mut model, Kind::Two, [64, 32]);
    for round in 0..40 {
        let mut step = || step(&mut random, 7);
        let given: [[f64; 4]; 16] = [0; 16].map(|_| [step(), step(), step(), step()]);
        let column = |n: usize| given.map(|lane| (lane[n] as f32).to_bits());
        let zero = [0; 16];
        let pair = round % 2 == 1;
        let send = if pair {
            // Register 0 has u, v, r and ai; register 1 has dudx, dudy, dvdx and dvdy.
            let mut registers = vec![zero; 2];
            for lane in 0..2 {
                for n in 0..4 {
                    registers[1][4 * lane + n] = (given[lane][n] as f32).to_bits();
                }
            }
            Send::new(Type::SAMPLE_D, Mode::SIMD4X2, registers)
        } else {
            Send::new(
                Type::SAMPLE_D,
                Mode::SIMD8,
                vec![zero, column(0), column(1), zero, column(2), column(3)],
            )
        };
        for (lane, found) in
            send.colors(&mut model, &texture.state(), &trilinear()).into_iter().enumerate()
        {
            let [dudx, dudy, dvdx, dvdy] = given[lane];
            let expected = ideal(64.0, 32.0, [dudx, dudy], [dvdx, dvdy]).clamp(0.0, 6.0);
            let found = f64::from(f32::from_bits(found[0]));
            assert!((found - expected).abs() <= 1.0 / 256.0 + 1e-6, "{found} {expected}");
        }
    }
}

/// Levels from the message, and the results of the message LOD.
#[test]
fn explicit_and_asked() {
    let mut model = model();
    let texture = levels(&mut model, Kind::Two, [64, 64]);
    let lods: [f32; 16] = std::array::from_fn(|n| n as f32 * 0.4375 - 1.0);
    let send = Send::new(Type::SAMPLE_L, Mode::SIMD16, vec![lods.map(f32::to_bits)]);
    for (found, lod) in
        send.colors(&mut model, &texture.state(), &trilinear()).into_iter().zip(lods)
    {
        assert_eq!(f32::from_bits(found[0]), lod.clamp(0.0, 6.0));
    }
    // 4 texels from pixel to pixel is level 2; half a texel is magnification.
    let steps = [[4.0 / 64.0, 0.0], [0.5 / 64.0, 0.0]];
    let send = Send::new(Type::LOD, Mode::SIMD8, vec![subspans(0.0, steps)]);
    let found = send.colors(&mut model, &texture.state(), &trilinear());
    let answer = |lane: usize| [found[lane][0], found[lane][1]].map(f32::from_bits);
    assert_eq!((answer(0), answer(3)), ([2.0, 2.0], [2.0, 2.0]));
    assert_eq!(answer(5), [0.0, -1.0]);
}

/// Volumes and cube maps. The coordinates of a cube map's face range from -1 to 1.
#[test]
fn volumes_and_cubes() {
    let (mut model, mut random) = (model(), Random::new(33));
    let mut volume = levels(&mut model, Kind::Two, [32, 32]);
    volume.kind = Kind::Three;
    volume.depth = 8;
    volume.levels = 4;
    volume.memory.resize(1 << 20, 0);
    (0..4).for_each(|level| volume.fill(level, [level as f32; 4]));
    volume.put(&mut model);
    for _ in 0..20 {
        let mut step = || step(&mut random, 6);
        let given = [0; 3].map(|_| [[step(), step()], [step(), step()]]);
        let coordinates: Vec<[u32; 16]> =
            given.iter().map(|steps| subspans(0.125, *steps)).collect();
        let send = Send::new(Type::SAMPLE, Mode::SIMD16, coordinates);
        for (lane, found) in
            send.colors(&mut model, &volume.state(), &trilinear()).into_iter().enumerate()
        {
            let span = lane / 4 % 2;
            let length = |n: usize| {
                let [u, v, r] = [0, 1, 2].map(|axis: usize| given[axis][span][n]);
                (u * 32.0).hypot(v * 32.0).hypot(r * 8.0)
            };
            let expected = length(0).max(length(1)).log2().clamp(0.0, 3.0);
            let found = f64::from(f32::from_bits(found[0]));
            assert!((found - expected).abs() <= 1.0 / 256.0 + 1e-6, "{found} {expected}");
        }
    }
    let mut cube = levels(&mut model, Kind::Two, [64, 64]);
    cube.kind = Kind::Cube;
    cube.depth = 6;
    cube.qpitch = 96;
    cube.memory.resize(2 << 20, 0);
    cube.levels = 5;
    (0..5).for_each(|level| cube.fill(level, [level as f32; 4]));
    cube.put(&mut model);
    // On +Z, a step of 0.25 from pixel to pixel. A face has 64 texels for a range of 2, so the step
    // is 8 texels.
    let steps = [[0.25, 0.0], [0.0, 0.0625]];
    let send = Send::new(
        Type::SAMPLE,
        Mode::SIMD8,
        vec![subspans(0.0, steps), subspans(0.0, [[0.0; 2]; 2]), [1.0f32.to_bits(); 16]],
    );
    let wrap = Wrap::CUBE;
    let state = SamplerState {
        tcx_address_control_mode: wrap,
        tcy_address_control_mode: wrap,
        tcz_address_control_mode: wrap,
        ..trilinear()
    };
    let found = send.colors(&mut model, &cube.state(), &state);
    assert_eq!([0, 4].map(|lane: usize| f32::from_bits(found[lane][0])), [3.0, 1.0]);
}

/// The anisotropic filter uses the level of the shorter axis, as far as the ratio permits. Its
/// samples lie around the point, so on a linear ramp the result is the value at the point.
#[test]
fn anisotropic() {
    let mut model = model();
    let texture = levels(&mut model, Kind::Two, [64, 64]);
    let state = |ratio: u64| SamplerState {
        min_mode_filter: SamplerStateMinModeFilter::ANISOTROPIC,
        mag_mode_filter: SamplerStateMagModeFilter::ANISOTROPIC,
        maximum_anisotropy: SamplerStateMaximumAnisotropy::from_bits(ratio),
        ..trilinear()
    };
    for (major, minor) in
        [(16.0, 4.0), (32.0, 4.0), (9.0, 6.0), (64.0, 2.0), (8.0, 8.0), (12.0, 0.0)]
    {
        for ratio in 0..8 {
            let steps = [[major / 64.0, 0.0]; 2];
            let across = [[0.0, minor / 64.0]; 2];
            let send = Send::new(
                Type::SAMPLE,
                Mode::SIMD8,
                vec![subspans(0.375, steps), subspans(0.375, across)],
            );
            let found = f64::from(f32::from_bits(
                send.colors(&mut model, &texture.state(), &state(ratio))[0][0],
            ));
            let most = 2.0 * (ratio as f64 + 1.0);
            let expected = (major / (major / minor).min(most)).log2().clamp(0.0, 6.0);
            assert!(
                (found - expected).abs() <= 1.0 / 256.0 + 1e-5,
                "{major} {minor} {ratio}: {found} {expected}"
            );
        }
    }
    // A linear ramp along U.
    let mut ramp = texture.clone();
    for level in 0..7 {
        let [width, height, _] = ramp.size(level);
        for y in 0..height {
            for x in 0..width {
                let value = (f64::from(2 * x + 1) / f64::from(2 * width)) as f32;
                let offset = ramp.offset(level, 0, x, y);
                ramp.memory[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
            }
        }
    }
    ramp.put(&mut model);
    for ways in 1..8 {
        let steps = [[2.0 * f64::from(ways) / 64.0 * 0.9, 0.0]; 2];
        let across = [[0.0, 1.0 / 64.0]; 2];
        let send =
            Send::new(Type::SAMPLE, Mode::SIMD8, vec![subspans(0.5, steps), subspans(0.5, across)]);
        let found =
            f64::from(f32::from_bits(send.colors(&mut model, &ramp.state(), &state(7))[0][0]));
        assert!((found - 0.5).abs() < 2.0 / 256.0 / 64.0, "{ways}: {found}");
    }
    // A map that is undistorted on the screen has one sample (EXT_texture_filter_anisotropic: N is
    // 1).
    let noise = Texture::plain(
        &mut Random::new(34),
        SurfaceFormat::R32G32B32A32_FLOAT,
        16,
        Tiling::Y,
        [64, 64],
        7,
    );
    noise.put(&mut model);
    for texels in [0.75, 1.0, 3.0] {
        let along = subspans(0.375 + 1.0 / 256.0, [[texels / 64.0, 0.0]; 2]);
        let down = subspans(0.4375 + 1.0 / 512.0, [[0.0, texels / 64.0]; 2]);
        let send = Send::new(Type::SAMPLE, Mode::SIMD8, vec![along, down]);
        let found = send.colors(&mut model, &noise.state(), &state(7))[0];
        assert_eq!(found, send.colors(&mut model, &noise.state(), &trilinear())[0], "{texels}");
    }
}

/// The longest radius of the ellipse that a circle of one pixel becomes on the map, in texels, and
/// the length of the shortest radius. Found by trying angles.
fn radii(right: [f64; 2], below: [f64; 2]) -> ([f64; 2], f64) {
    let radius = |n: u32| {
        let (sin, cos) = (f64::from(n) * 1e-5).sin_cos();
        [0, 1].map(|part| right[part] * cos + below[part] * sin)
    };
    let length = |radius: &[f64; 2]| radius[0].hypot(radius[1]);
    let all = (0..314_160).map(radius);
    let least = all.clone().map(|radius| length(&radius)).fold(f64::MAX, f64::min);
    (all.max_by(|a, b| length(a).total_cmp(&length(b))).unwrap(), least)
}

/// The longer derivative in texels, and the length of the other one.
fn derivatives_as_axes(right: [f64; 2], below: [f64; 2]) -> ([f64; 2], f64) {
    let length = |axis: [f64; 2]| axis[0].hypot(axis[1]);
    match length(below) > length(right) {
        true => (below, length(right)),
        false => (right, length(below)),
    }
}

/// A sampler with an algorithm of the anisotropic filter and the greatest ratio.
fn algorithm(algorithm: Algorithm, levels: SamplerState) -> SamplerState {
    SamplerState {
        min_mode_filter: SamplerStateMinModeFilter::ANISOTROPIC,
        mag_mode_filter: SamplerStateMagModeFilter::ANISOTROPIC,
        maximum_anisotropy: SamplerStateMaximumAnisotropy::from_bits(7),
        anisotropic_algorithm: algorithm,
        ..levels
    }
}

/// Derivatives in texels, to the right and below: skewed, turned, mirrored, and parallel.
const SKEWED: [[[f64; 2]; 2]; 5] = [
    [[8.0, 0.0], [8.0, 8.0]],
    [[3.0, 4.0], [6.0, 3.0]],
    [[-10.0, 6.0], [-4.0, 5.0]],
    [[0.0, 9.0], [2.0, 7.0]],
    [[5.0, 5.0], [5.0, 5.0]],
];

/// The level of the algorithms: that of the shorter radius of the ellipse for EWA, that of the
/// shorter derivative for LEGACY (assumptions::EWA_TAKES_THE_AXES_OF_THE_ELLIPSE). On a cube map
/// EWA Disable For Cube selects LEGACY (2d p.332).
#[test]
fn levels_of_the_algorithms() {
    let mut model = model();
    let texture = levels(&mut model, Kind::Two, [64, 64]);
    let level = |axes: ([f64; 2], f64)| {
        let ([u, v], minor) = axes;
        let major = u.hypot(v);
        (major / (major / minor).min(16.0)).log2().clamp(0.0, 4.0)
    };
    let check = |model: &mut Model, send: &Send, surface: &_, state: &_, expected: f64| {
        let found = f64::from(f32::from_bits(send.colors(model, surface, state)[0][0]));
        assert!((found - expected).abs() <= 1.0 / 256.0 + 1e-5, "{found} {expected}");
    };
    for [right, below] in SKEWED {
        let steps = |part: usize| [[right[part] / 64.0, below[part] / 64.0]; 2];
        let send = Send::new(
            Type::SAMPLE,
            Mode::SIMD8,
            vec![subspans(0.375, steps(0)), subspans(0.375, steps(1))],
        );
        let (ellipse, legacy) =
            (level(radii(right, below)), level(derivatives_as_axes(right, below)));
        let state = |kind| SamplerState {
            max_lod: UFix::new(4.0).unwrap(),
            ..algorithm(kind, trilinear())
        };
        let surface = texture.state();
        check(&mut model, &send, &surface, &state(Algorithm::EWA_APPROXIMATION), ellipse);
        check(&mut model, &send, &surface, &state(Algorithm::LEGACY), legacy);
    }
    let mut cube = levels(&mut model, Kind::Two, [64, 64]);
    (cube.kind, cube.depth, cube.qpitch, cube.levels) = (Kind::Cube, 6, 96, 5);
    cube.memory.resize(2 << 20, 0);
    (0..5).for_each(|level| cube.fill(level, [level as f32; 4]));
    cube.put(&mut model);
    for [right, below] in SKEWED {
        // The points are on face +Z. A face has 64 texels for a range of 2.
        let steps = |part: usize| [[right[part] / 32.0, below[part] / 32.0]; 2];
        let send = Send::new(
            Type::SAMPLE,
            Mode::SIMD8,
            vec![subspans(0.0, steps(0)), subspans(0.0, steps(1)), [1.0f32.to_bits(); 16]],
        );
        let (ellipse, legacy) =
            (level(radii(right, below)), level(derivatives_as_axes(right, below)));
        for (kind, disabled, expected) in [
            (Algorithm::EWA_APPROXIMATION, ForCube::ENABLE, ellipse),
            (Algorithm::EWA_APPROXIMATION, ForCube::DISABLE, legacy),
            (Algorithm::LEGACY, ForCube::ENABLE, legacy),
        ] {
            let surface = RenderSurfaceState { ewa_disable_for_cube: disabled, ..cube.state() };
            let state = SamplerState {
                tcx_address_control_mode: Wrap::CUBE,
                tcy_address_control_mode: Wrap::CUBE,
                tcz_address_control_mode: Wrap::CUBE,
                ..algorithm(kind, trilinear())
            };
            check(&mut model, &send, &surface, &state, expected);
        }
    }
}

/// The samples of the algorithms, on a map of noise without further levels. Oracle: 003:2881-2885
/// with the axes of the algorithm: an even number of linear samples along the longer axis, whose
/// middle is the point. The weights of the first and the last one fade.
#[test]
fn samples_of_the_algorithms() {
    let (mut model, mut random) = (model(), Random::new(35));
    let format = SurfaceFormat::R32G32B32A32_FLOAT;
    let mut noise = Texture::plain(&mut Random::new(0), format, 16, Tiling::Y, [64, 64], 1);
    (noise.depth, noise.layers, noise.qpitch) = (6, 6, 64);
    noise.memory.resize(1 << 20, 0);
    for face in 0..6 {
        for (x, y) in (0..64).flat_map(|y| (0..64).map(move |x| (x, y))) {
            let value = random.below(256) as f32 / 256.0;
            let offset = noise.offset(0, face, x, y);
            noise.memory[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        }
    }
    noise.put(&mut model);
    let flat = SamplerState { mip_mode_filter: SamplerStateMipModeFilter::NONE, ..trilinear() };
    let filter = Filter::of(&sampler(true), [0.0; 4]);
    // The weighted mean of the samples around the point `at` of a layer. `at` is in texels.
    let expected = |([u, v], minor): ([f64; 2], f64), at: [f64; 2], layer: u32| -> f64 {
        let ratio = (u.hypot(v) / minor).min(16.0);
        let ways = 2.0 * (ratio / 2.0).ceil();
        let apart = if ways == 2.0 { ratio - 1.0 } else { 1.0 };
        let sample = |n: f64| {
            let weight = if n == 0.0 || n == ways - 1.0 { 1.0 - (ways - ratio) / 2.0 } else { 1.0 };
            let along = (n - (ways - 1.0) / 2.0) * apart / ratio;
            let place = [(at[0] + along * u) / 64.0, (at[1] + along * v) / 64.0, 0.0];
            weight * filter.sample(&noise, 0, place, layer)[0]
        };
        (0..ways as u32).map(|n| sample(f64::from(n))).sum::<f64>() / ratio
    };
    let flat_map = Texture { layers: 1, ..noise.clone() };
    let cube = Texture { kind: Kind::Cube, ..flat_map.clone() };
    let mut apart = 0.0f64;
    for [right, below] in SKEWED {
        let (ellipse, legacy) = (radii(right, below), derivatives_as_axes(right, below));
        for (kind, axes) in [(Algorithm::EWA_APPROXIMATION, ellipse), (Algorithm::LEGACY, legacy)] {
            let state = SamplerState {
                tcx_address_control_mode: Wrap::CLAMP,
                tcy_address_control_mode: Wrap::CLAMP,
                ..algorithm(kind, flat)
            };
            let map = |part: usize| [[right[part] / 64.0, below[part] / 64.0]; 2];
            let send = Send::new(
                Type::SAMPLE,
                Mode::SIMD8,
                vec![subspans(0.5, map(0)), subspans(0.53125, map(1))],
            );
            let found = send.colors(&mut model, &flat_map.state(), &state)[0][0];
            let found = f64::from(f32::from_bits(found));
            let wanted = expected(axes, [32.0, 34.0], 0);
            assert!((found - wanted).abs() < 4.0 / 256.0, "{right:?} {kind:?}: {found} {wanted}");
            apart = apart.max((wanted - expected(legacy, [32.0, 34.0], 0)).abs());
            // On the face +Z, V runs against Y.
            let face = |part: usize, sign: f64| {
                [[sign * right[part] / 32.0, sign * below[part] / 32.0]; 2]
            };
            let send = Send::new(
                Type::SAMPLE,
                Mode::SIMD8,
                vec![
                    subspans(0.0, face(0, 1.0)),
                    subspans(-0.0625, face(1, -1.0)),
                    [1.0f32.to_bits(); 16],
                ],
            );
            let state = SamplerState {
                tcx_address_control_mode: Wrap::CUBE,
                tcy_address_control_mode: Wrap::CUBE,
                tcz_address_control_mode: Wrap::CUBE,
                ..state
            };
            let found = send.colors(&mut model, &cube.state(), &state)[0][0];
            let found = f64::from(f32::from_bits(found));
            let wanted = expected(axes, [32.0, 34.0], 4);
            assert!((found - wanted).abs() < 4.0 / 256.0, "{right:?} {kind:?}: {found} {wanted}");
        }
    }
    assert!(apart > 16.0 / 256.0, "the algorithms look the same: {apart}");
}

/// Different filters for magnification and minification, and the level of detail that separates
/// them.
#[test]
fn enlarged_or_shrunk() {
    let mut model = model();
    let mut texture = levels(&mut model, Kind::Two, [8, 8]);
    texture.levels = 1;
    for x in 0..8 {
        for y in 0..8 {
            let offset = texture.offset(0, 0, x, y);
            texture.memory[offset..offset + 4].copy_from_slice(&(x as f32).to_le_bytes());
        }
    }
    texture.put(&mut model);
    let lods: [f32; 16] = std::array::from_fn(|n| n as f32 / 4.0 - 2.0);
    // Between two texels: nearest returns the second, linear the mean.
    let u = [(3.0f32 / 8.0).to_bits(); 16];
    // OpenGL's clamp does not depend on the number of levels (4.6, 8.14.3).
    for (base, clamp) in [(0.0, 0), (0.5, 0), (0.0, 2)] {
        let state = SamplerState {
            min_mode_filter: SamplerStateMinModeFilter::LINEAR,
            mag_mode_filter: SamplerStateMagModeFilter::NEAREST,
            base_mip_level: UFix::new(base).unwrap(),
            max_lod: UFix::new(14.0).unwrap(),
            lod_pre_clamp_mode: SamplerStateLodPreClampMode::from_bits(clamp),
            ..sampler(true)
        };
        let send = Send::new(Type::SAMPLE_L, Mode::SIMD16, vec![lods.map(f32::to_bits), u, u]);
        for (found, lod) in send.colors(&mut model, &texture.state(), &state).into_iter().zip(lods)
        {
            let expected = if f64::from(lod) - base <= 0.0 { 3.0 } else { 2.5 };
            assert_eq!(f32::from_bits(found[0]), expected, "{lod} {base} {clamp}");
        }
    }
}
