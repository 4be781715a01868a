//! Whole NV12 pictures through the adaptive video scaler. Oracle: a polyphase filter in real
//! numbers, which does not round between the directions.

use super::scaler::Scaler;
use super::{Send, untouched};
use crate::sampler::{SAMPLERS, SURFACE, model};
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayload, SamplerMessageHeader,
    SamplerMessageHeaderOutputFormatControl as Format,
};
use genxml::gen8::media::{
    MediaSurfaceState, MediaSurfaceStateSurfaceFormat as Surface,
    MediaSurfaceStateTileMode as Tiles,
};
use genxml::gen8::media_states::SamplerState8x8AvsEnable8TapFilter as Taps;
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at, u};
use genxml_core::{MinusOne, UFix};
use std::f64::consts::PI;

/// Bytes of a row in memory.
const PITCH: u64 = 256;
/// Row of the first chroma.
const CHROMA: u64 = 96;

/// A windowed sinc function with `taps` taps that passes `band` of the frequencies.
fn weight(at: f64, band: f64, taps: f64) -> f64 {
    let sinc = |x: f64| if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) };
    sinc(at * band) * sinc(at / (taps / 2.0))
}

/// The taps of a phase in 1/64, with a sum of 64.
fn taps<const N: usize>(phase: usize, band: f64) -> [i64; N] {
    let middle = (N / 2 - 1) as f64;
    let exact: [f64; N] =
        std::array::from_fn(|n| weight(n as f64 - middle - phase as f64 / 32.0, band, N as f64));
    let sum: f64 = exact.iter().sum();
    let mut taps = exact.map(|tap| (64.0 * tap / sum).round() as i64);
    taps[N / 2 - 1] += 64 - taps.iter().sum::<i64>();
    taps
}

/// The taps of a phase from 0 to 31.
fn all<const N: usize>(phase: usize, band: f64) -> [f64; N] {
    let mut taps = if phase > 16 { taps(32 - phase, band) } else { taps::<N>(phase, band) };
    if phase > 16 {
        taps.reverse();
    }
    taps.map(|tap| tap as f64 / 64.0)
}

/// A picture in memory.
struct Nv12 {
    memory: Vec<u8>,
    tiling: Tiling,
    state: MediaSurfaceState,
    size: [u64; 2],
}

impl Nv12 {
    /// A ramp with noise, so that sharp filters overshoot at some pixels.
    fn random(random: &mut Random, size: [u64; 2], tiled: bool) -> Nv12 {
        let (tiling, tile_mode) = match tiled {
            false => (Tiling::Linear, Tiles::TILEMODE_LINEAR),
            true => (Tiling::Y, Tiles::TILEMODE_YMAJOR),
        };
        let mut memory = vec![0; 1 << 16];
        for y in 0..CHROMA + 64 {
            for x in 0..PITCH {
                let value = (3 * x + 2 * y) % 256 + random.below(40);
                memory[tiling.offset(x, y, PITCH) as usize] = value.min(255) as u8;
            }
        }
        let state = MediaSurfaceState {
            surface_format: Surface::PLANAR_420_8,
            width: MinusOne::new(size[0]).unwrap(),
            height: MinusOne::new(size[1]).unwrap(),
            tile_mode,
            surface_pitch: MinusOne::new(PITCH).unwrap(),
            interleave_chroma: true,
            y_offset_for_u_cb: u(CHROMA),
            cr_v_cb_u_pixel_offset_v_direction: UFix::new(0.5).unwrap(),
            surface_base_address: at(SURFACE),
            ..MediaSurfaceState::new()
        };
        Nv12 { memory, tiling, state, size }
    }

    /// A channel of a pixel. For chroma, `x` and `y` count samples of chroma.
    fn pixel(&self, channel: usize, x: i64, y: i64) -> f64 {
        let halves = if channel == 1 { 1 } else { 2 };
        let inside = |at: i64, size: u64| at.clamp(0, (size / halves) as i64 - 1) as u64;
        let [x, y] = [inside(x, self.size[0]), inside(y, self.size[1])];
        let (x, y) = match channel {
            0 => (2 * x + 1, CHROMA + y),
            1 => (x, y),
            _ => (2 * x, CHROMA + y),
        };
        self.memory[self.tiling.offset(x, y, PITCH) as usize].into()
    }

    /// The filtered value of a channel at a position. `band` is that of both directions.
    fn filtered<const N: usize>(&self, channel: usize, place: [f64; 2], band: [f64; 2]) -> f64 {
        let [(left, across), (top, down)] = [0, 1].map(|n| {
            let steps = (place[n] * 256.0 + 0.5).floor();
            let whole = (steps / 256.0).floor();
            let phase = ((steps - 256.0 * whole) / 8.0).floor() as usize;
            (whole as i64 - (N as i64 / 2 - 1), all::<N>(phase, band[n]))
        });
        let mut sum = 0.0;
        for (j, down) in down.into_iter().enumerate() {
            for (i, across) in across.into_iter().enumerate() {
                sum += down * across * self.pixel(channel, left + i as i64, top + j as i64);
            }
        }
        sum.clamp(0.0, 255.996)
    }

    /// A channel of a pixel of the scaled picture.
    fn scaled(&self, target: [u64; 2], wide: bool, channel: usize, at: [u64; 2]) -> f64 {
        let size = self.size.map(|size| size as f64);
        let place = [0, 1].map(|n| (at[n] as f64 + 0.5) * size[n] / target[n] as f64 - 0.5);
        let band = self.band(target);
        if channel == 1 {
            return self.filtered::<8>(channel, place, band);
        }
        let shared = [place[0] / 2.0, (place[1] - 0.5) / 2.0];
        match wide {
            true => self.filtered::<8>(channel, shared, band),
            false => self.filtered::<4>(channel, shared, band),
        }
    }

    /// The frequencies that the scaled picture can have, relative to this one.
    fn band(&self, target: [u64; 2]) -> [f64; 2] {
        [0, 1].map(|n| (target[n] as f64 / self.size[n] as f64).min(1.0))
    }
}

/// The message for the block at column `left` of row `top` of a scaled picture: 16 x 4 pixels with
/// 16 bits, or 16 x 8 with 8 bits.
fn send(target: [u64; 2], left: u64, top: u64, small: bool) -> Send {
    let header = SamplerMessageHeader {
        output_format_control: if small { Format::_8_BIT_FULL } else { Format::_16_BIT_FULL },
        alpha_write_channel_mask: true,
        sampler_state_pointer: at(SAMPLERS),
        ..SamplerMessageHeader::new()
    };
    // Blocks of a group count from the group's first row.
    let group = top / 16 * 16;
    let payload = Sample8x8MessagePayload {
        u: left as f32 / target[0] as f32,
        v: group as f32 / target[1] as f32,
        delta_u: 1.0 / target[0] as f32,
        delta_v: 1.0 / target[1] as f32,
        vertical_block_number: u((top - group) / 4),
        sequence: u(if small { 2 } else { 0 }),
        ief_bypass: true,
        ..Sample8x8MessagePayload::new()
    };
    Send { kind: 0x0b, header: Some(header), sampler: 0, payload: payload.pack(), back: 12 }
}

/// Enlarged, reduced, and stretched pictures, with 8 and with 4 taps for chroma.
#[test]
fn nv12_pictures() {
    let (mut model, mut random) = (model(), Random::new(112));
    // Targets have sizes whose steps floats can hold.
    let cases: [([u64; 2], [u64; 2], bool); 6] = [
        ([96, 64], [64, 32], true),
        ([48, 32], [128, 64], true),
        ([64, 48], [64, 64], false),
        ([40, 24], [32, 32], false),
        ([130, 66], [64, 64], true),
        ([30, 22], [128, 32], false),
    ];
    for (round, (source, target, wide)) in cases.into_iter().enumerate() {
        let picture = Nv12::random(&mut random, source, round % 2 == 1);
        model.write(SURFACE, &picture.memory);
        let band = picture.band(target);
        let mode = match wide {
            true => Taps::_8_TAP_ADAPTIVE_ON_ALL_CHANNELS,
            false => Taps::_8_TAP_ADAPTIVE_ON_G_4_TAP_ON_OTHERS,
        };
        let scaler = Scaler::only_sharp(
            mode,
            std::array::from_fn(|phase| band.map(|band| taps(phase, band))),
            std::array::from_fn(|phase| band.map(|band| taps(phase, band))),
        );
        for (small, block) in [false, true].into_iter().flat_map(|small| {
            let rows = if small { 8 } else { 4 };
            (0..target[0] / 16 * target[1] / rows).map(move |block| (small, block))
        }) {
            let (rows, columns) = (if small { 8 } else { 4 }, target[0] / 16);
            let (left, top) = (block % columns * 16, block / columns * rows);
            let send = send(target, left, top, small);
            let found = send.run(&mut model, &picture.state.pack(), &scaler.pack()).unwrap();
            assert_eq!(found[384..], untouched()[384..]);
            for n in 0..(3 * 16 * rows) as usize {
                // Parts of 64 pixels, in each part one channel after the other.
                let (part, channel, pixel) = (n / 192, n / 64 % 3, n as u64 % 64);
                let at = [left + pixel % 16, top + 4 * part as u64 + pixel / 16];
                let exact = picture.scaled(target, wide, channel, at);
                // A response with 8 bits is at most 255.
                let (found, exact, near) = match small {
                    true => (f64::from(found[n]), exact.min(255.0), 0.51),
                    false => {
                        let word = u16::from_le_bytes([found[2 * n], found[2 * n + 1]]);
                        (f64::from(word) / 256.0, exact, 0.01)
                    }
                };
                assert!(
                    (found - exact).abs() <= near,
                    "{source:?} to {target:?}, channel {channel} at {at:?}: {found} {exact}",
                );
            }
        }
    }
}
