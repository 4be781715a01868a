//! Function 1, convolve: the sum of pixels times weights in real numbers.

use super::{Ask, Gray, NUMBERS, compare, first, word};
use crate::sampler::{SURFACE, model};
use genxml::eu::gen8::eu_payloads::Sample8x8MessagePayloadFunction as Function;
use genxml::gen8::media_states::{
    SamplerState8x8Convolve, SamplerState8x8ConvolveSizeOfTheCoefficient as CoefficientSize,
};
use genxml_cases::{Random, u};
use genxml_core::SFix;

/// A kernel.
pub struct Kernel {
    name: &'static str,
    size: [usize; 2],
    wide: bool,
    scale: u64,
    /// Coefficient in 1/4096 by column and row.
    weight: fn(usize, usize) -> i64,
}

impl Kernel {
    /// The state has other coefficients beyond the kernel, which do not count.
    pub fn pack(&self) -> Vec<u32> {
        let mut state = SamplerState8x8Convolve {
            width: u(self.size[0] as u64),
            height: u(self.size[1] as u64),
            scale_down_value: u(self.scale),
            size_of_the_coefficient: match self.wide {
                true => CoefficientSize::_16BIT,
                false => CoefficientSize::_8BIT,
            },
            ..SamplerState8x8Convolve::new()
        };
        for (n, coefficient) in state.filter_coefficient.iter_mut().enumerate() {
            let (x, y) = (n % 16, n / 16);
            let inside = x < self.size[0] && y < self.size[1];
            let weight = if inside { (self.weight)(x, y) } else { 1234 };
            *coefficient = SFix::new(weight as f64 / 4096.0).unwrap();
        }
        state.pack()[..144].to_vec()
    }
}

/// Weights without a pattern.
fn mixed(x: usize, y: usize) -> i64 {
    (x as i64 * 7919 + y as i64 * 104_729) % 5003 - 2500
}

pub const KERNELS: [Kernel; 14] = [
    Kernel {
        name: "copy",
        size: [3, 3],
        wide: true,
        scale: 0,
        weight: |x, y| if (x, y) == (1, 1) { 4096 } else { 0 },
    },
    Kernel {
        name: "copy, 8 bits",
        size: [15, 15],
        wide: false,
        scale: 0,
        weight: |x, y| if (x, y) == (7, 7) { 4096 } else { 0 },
    },
    Kernel { name: "mean", size: [15, 15], wide: true, scale: 0, weight: |_, _| 4096 / 225 },
    Kernel { name: "mean of 4", size: [2, 2], wide: true, scale: 2, weight: |_, _| 4096 },
    Kernel { name: "row", size: [15, 2], wide: true, scale: 1, weight: |x, _| 100 * x as i64 },
    Kernel { name: "column", size: [2, 15], wide: true, scale: 1, weight: |_, y| 99 * y as i64 },
    Kernel {
        name: "horizontal gradient",
        size: [3, 3],
        wide: false,
        scale: 0,
        weight: |x, y| (x as i64 - 1) * (2 - (y as i64 - 1).abs()) * 4096,
    },
    Kernel {
        name: "vertical gradient",
        size: [3, 3],
        wide: true,
        scale: 3,
        weight: |x, y| (y as i64 - 1) * (2 - (x as i64 - 1).abs()) * 4096,
    },
    Kernel {
        name: "difference from the mean",
        size: [5, 5],
        wide: true,
        scale: 0,
        weight: |x, y| if (x, y) == (2, 2) { 24 * 1000 } else { -1000 },
    },
    Kernel { name: "mixed", size: [7, 4], wide: true, scale: 0, weight: mixed },
    Kernel { name: "mixed, 8 bits", size: [4, 9], wide: false, scale: 0, weight: mixed },
    Kernel { name: "largest", size: [15, 15], wide: true, scale: 0, weight: |_, _| 32767 },
    Kernel { name: "smallest", size: [15, 15], wide: true, scale: 1, weight: |_, _| -32768 },
    Kernel { name: "most scaled", size: [15, 15], wide: true, scale: 10, weight: |_, _| 30000 },
];

/// All kernels for all formats, in blocks of 16 x 4 and 16 x 1 pixels near all edges.
#[test]
fn kernels() {
    let (mut model, mut random) = (model(), Random::new(101));
    for kernel in &KERNELS {
        for round in 0..12 {
            let gray = Gray::random(&mut random, NUMBERS[round % 3]);
            model.write(SURFACE, &gray.memory);
            let (at, place) = gray.place(&mut random);
            let rows = if round % 2 == 0 { 4 } else { 1 };
            let sampler = 2 * random.below(2);
            let ask = Ask {
                sequence: if rows == 4 { 0 } else { 2 },
                sampler,
                ..Ask::new(Function::CONVOLVE, place, rows)
            };
            let mut samplers = vec![0; 128 * sampler as usize];
            samplers.extend(kernel.pack());
            let found = ask.run(&mut model, &gray, &samplers).unwrap();
            let [left, top] = first(kernel.size);
            let result = |x: i64, y: i64| {
                let mut sum = 0.0;
                for i in 0..kernel.size[0] {
                    for j in 0..kernel.size[1] {
                        let weight = (kernel.weight)(i, j) as f64;
                        let weight =
                            if kernel.wide { weight } else { (weight / 256.0).floor() * 256.0 };
                        let pixel = gray.at(x + left + i as i64, y + top + j as i64);
                        sum += weight / 4096.0 * pixel as f64;
                    }
                }
                (sum / f64::from(1 << kernel.scale)).floor().clamp(-32768.0, 32767.0) as i64
            };
            let parts: Vec<(usize, Vec<u8>)> = (0..16 * rows)
                .map(|n| (2 * n, word(result(at[0] + n as i64 % 16, at[1] + n as i64 / 16))))
                .collect();
            compare(&found, &parts, &(kernel.name, ask, gray.state));
        }
    }
}

/// Positions that are not numbers, or far away.
#[test]
fn positions() {
    let (mut model, mut random) = (model(), Random::new(102));
    for (place, corner) in [
        ([f32::NAN, f32::NAN], Some([0, 0])),
        ([f32::INFINITY, f32::NEG_INFINITY], None),
        ([-1e30, 1e30], None),
        ([0.0, 1.0 - 1e-7], Some([0, 1])),
    ] {
        let mut gray = Gray::random(&mut random, NUMBERS[0]);
        gray.state.address_control = genxml::gen8::media::MediaSurfaceStateAddressControl::CLAMP;
        model.write(SURFACE, &gray.memory);
        let [width, height] = gray.size();
        let far = |relative: f32, size: i64| if relative > 0.0 { size + 100 } else { -100 };
        let at = match corner {
            Some([x, y]) => [x * width, y * height],
            None => [far(place[0], width), far(place[1], height)],
        };
        let ask = Ask::new(Function::CONVOLVE, place, 4);
        let found = ask.run(&mut model, &gray, &KERNELS[0].pack()).unwrap();
        let parts: Vec<(usize, Vec<u8>)> = (0..64)
            .map(|n| (2 * n, word(gray.at(at[0] + n as i64 % 16, at[1] + n as i64 / 16))))
            .collect();
        compare(&found, &parts, &(ask, gray.state));
    }
}
