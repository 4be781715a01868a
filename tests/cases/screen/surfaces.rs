//! Formats of render targets. Oracle: the bits that the formats' names describe (G45 vol 4, surface
//! formats), computed here; exact rationals for conversions; the formula of sRGB in f64.

use crate::screen::kernels;
use crate::screen::scene::{Scene, Target, Vertex, on_screen};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::state::SurfaceFormat as Format;
use genxml_cases::u;

/// How a channel is stored.
#[derive(Clone, Copy, Debug)]
enum As {
    Unorm,
    Snorm,
    Float,
    Int,
}

/// A format, and its channels from bit 0 on: red, green, blue or alpha (0 to 3) with a number of
/// bits.
type Layout = (Format, As, &'static [(usize, u32)]);

/// Bits of a stored value. The float values are exact in all formats here.
fn stored(value: f32, bits: u32, kind: As) -> u64 {
    match kind {
        As::Unorm => (f64::from(value.clamp(0.0, 1.0)) * ((1_u64 << bits) - 1) as f64)
            .round_ties_even() as u64,
        As::Snorm => {
            let most = ((1_u64 << (bits - 1)) - 1) as f64;
            (f64::from(value.clamp(-1.0, 1.0)) * most).round_ties_even() as i64 as u64
                & ((1 << bits) - 1)
        }
        // Small floats have the same fields as 32-bit floats with fewer bits.
        As::Float if bits == 32 => value.to_bits().into(),
        As::Float => {
            let raw = value.to_bits();
            let exponent = if raw == 0 { 0 } else { u64::from(raw >> 23 & 0xff) + 15 - 127 };
            let mantissa = if bits == 16 { 10 } else { bits - 5 };
            exponent << mantissa | u64::from(raw & 0x7f_ffff) >> (23 - mantissa)
        }
        As::Int => value as i64 as u64 & (u64::MAX >> (64 - bits)),
    }
}

/// One colour in many formats.
#[test]
fn channels() {
    use As::{Float, Int, Snorm, Unorm};
    let list: &[Layout] = &[
        (Format::R8G8B8A8_UNORM, Unorm, &[(0, 8), (1, 8), (2, 8), (3, 8)]),
        (Format::B8G8R8A8_UNORM, Unorm, &[(2, 8), (1, 8), (0, 8), (3, 8)]),
        (Format::R8G8B8A8_SNORM, Snorm, &[(0, 8), (1, 8), (2, 8), (3, 8)]),
        (Format::R10G10B10A2_UNORM, Unorm, &[(0, 10), (1, 10), (2, 10), (3, 2)]),
        (Format::B5G6R5_UNORM, Unorm, &[(2, 5), (1, 6), (0, 5)]),
        (Format::B5G5R5A1_UNORM, Unorm, &[(2, 5), (1, 5), (0, 5), (3, 1)]),
        (Format::B4G4R4A4_UNORM, Unorm, &[(2, 4), (1, 4), (0, 4), (3, 4)]),
        (Format::R8_UNORM, Unorm, &[(0, 8)]),
        (Format::A8_UNORM, Unorm, &[(3, 8)]),
        (Format::R8G8_UNORM, Unorm, &[(0, 8), (1, 8)]),
        (Format::R16_UNORM, Unorm, &[(0, 16)]),
        (Format::R16G16_SNORM, Snorm, &[(0, 16), (1, 16)]),
        (Format::R16G16B16A16_UNORM, Unorm, &[(0, 16), (1, 16), (2, 16), (3, 16)]),
        (Format::R16_FLOAT, Float, &[(0, 16)]),
        (Format::R16G16B16A16_FLOAT, Float, &[(0, 16), (1, 16), (2, 16), (3, 16)]),
        (Format::R11G11B10_FLOAT, Float, &[(0, 11), (1, 11), (2, 10)]),
        (Format::R32_FLOAT, Float, &[(0, 32)]),
        (Format::R32G32_FLOAT, Float, &[(0, 32), (1, 32)]),
        (Format::R8G8B8A8_UINT, Int, &[(0, 8), (1, 8), (2, 8), (3, 8)]),
        (Format::R16G16_SINT, Int, &[(0, 16), (1, 16)]),
        (Format::R32_SINT, Int, &[(0, 32)]),
        (Format::R10G10B10A2_UINT, Int, &[(0, 10), (1, 10), (2, 10), (3, 2)]),
    ];
    for &(format, kind, channels) in list {
        let color: [f32; 4] = match kind {
            Unorm => [0.3, 1.0, 0.0, 0.75],
            Snorm => [-0.3, 1.0, -1.0, 0.5],
            Float => [0.25, 1.5, 6.0, 0.0],
            Int => [5.0, 100.0, 0.0, 2.0],
        };
        let bits: u32 = channels.iter().map(|channel| channel.1).sum();
        let vertices = [(0.0, 0.0), (64.0, 0.0), (0.0, 64.0)].map(|(x, y)| Vertex {
            attributes: vec![match kind {
                Int => color.map(|v| v as u32),
                _ => color.map(f32::to_bits),
            }],
            ..on_screen(x, y, 0)
        });
        let mut scene = Scene::new([5, 3], Code::_3DPRIM_TRILIST, vertices.to_vec());
        scene.targets = vec![Target::new(format, bits / 8)];
        let (mut want, mut at) = (0, 0);
        for &(channel, bits) in channels {
            want |= u128::from(stored(color[channel], bits, kind)) << at;
            at += bits;
        }
        let want = want.to_le_bytes()[..bits as usize / 8].repeat(15);
        assert_eq!(scene.run().unwrap().bytes(0, 0, 0), want, "{format:?}");
    }
}

/// Colours are sRGB-encoded, alpha is not. Oracle: the formula in f64. Half a step of error is
/// permitted, and a little more, as in Direct3D 11 3.2.3.8.
#[test]
fn srgb() {
    let vertices =
        [(0.0, 0.0, 0.0_f32), (128.0, 0.0, 2.0), (0.0, 128.0, 0.0)].map(|(x, y, value)| Vertex {
            attributes: vec![[value.to_bits(); 4]],
            ..on_screen(x, y, 0)
        });
    let mut scene = Scene::new([64, 1], Code::_3DPRIM_TRILIST, vertices.to_vec());
    scene.kernel = kernels::PLANES;
    scene.sbe.constant_interpolation_enable = u(0);
    scene.targets = vec![Target::new(Format::R8G8B8A8_UNORM_SRGB, 4)];
    for (x, pixel) in scene.run().unwrap().dwords(0, 0, 0).into_iter().enumerate() {
        let linear = (x as f64 + 0.5) / 64.0;
        let curved = if linear <= 0.003_130_8 {
            12.92 * linear
        } else {
            1.055 * linear.powf(1.0 / 2.4) - 0.055
        };
        let [red, green, blue, alpha] = pixel.to_le_bytes();
        assert!(
            (f64::from(red) - 255.0 * curved).abs() <= 0.6,
            "{x}: {red} instead of {}",
            255.0 * curved
        );
        assert_eq!([red, red], [green, blue]);
        assert!((f64::from(alpha) - 255.0 * linear).abs() <= 0.5 + 1e-3, "{x}: {alpha}");
    }
}
