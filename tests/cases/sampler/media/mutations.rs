//! Messages and states with random changes: each ends with a result or a fault.
//!
//! `GENXML_MUTATIONS` sets the number of changed messages.

use super::analytics::{Ask, Gray};
use super::picture::{FORMATS, Picture};
use super::scaler::Scaler;
use super::{Send, header};
use crate::sampler::filters::sampler;
use crate::sampler::texture::Texture;
use crate::sampler::{SAMPLERS, SURFACE, model};
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayload, Sample8x8MessagePayloadFunction as Function, SamplerMessageHeader,
};
use genxml::gen8::media::MediaSurfaceStateSurfaceFormat as Surface;
use genxml::gen8::state::{SamplerState, SamplerStateMipModeFilter, SurfaceFormat};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of changed messages.
const MESSAGES: u64 = 3000;

/// A good message with its states.
struct Good {
    send: Send,
    surface: Vec<u32>,
    samplers: Vec<u32>,
}

impl Good {
    fn random(random: &mut Random, number: u64) -> Good {
        match number % 9 {
            0 => Good::scaler(random),
            8 => Good::unorm(random),
            number => Good::analytics(random, Function::from_bits(number)),
        }
    }

    fn scaler(random: &mut Random) -> Good {
        let format = random.pick(&FORMATS);
        let picture = Picture::random(random, format);
        let header = header(random, 64);
        let (_, back) = super::response(&header, 64, |_, _| 0);
        let payload = Sample8x8MessagePayload {
            delta_u: 0.01,
            delta_v: 0.02,
            ief_bypass: random.below(2) == 0,
            ..Sample8x8MessagePayload::new()
        };
        Good {
            send: Send {
                kind: 0x0b,
                header: Some(header),
                sampler: 0,
                payload: payload.pack(),
                back,
            },
            surface: picture.state.pack().to_vec(),
            samplers: Scaler::random(random).pack(),
        }
    }

    fn unorm(random: &mut Random) -> Good {
        let format = SurfaceFormat::R8G8B8A8_UNORM;
        let texture = Texture::plain(random, format, 4, Tiling::Linear, [20, 10], 1);
        let state =
            SamplerState { mip_mode_filter: SamplerStateMipModeFilter::NONE, ..sampler(true) };
        let header = SamplerMessageHeader {
            sampler_state_pointer: at(SAMPLERS),
            ..SamplerMessageHeader::new()
        };
        let payload = [0.1f32, 0.2, 0.01, 0.02].map(f32::to_bits);
        let payload = std::array::from_fn(|n| payload.get(n).copied().unwrap_or(0));
        Good {
            send: Send { kind: 0x0c, header: Some(header), sampler: 0, payload, back: 8 },
            surface: texture.state().pack().to_vec(),
            samplers: state.pack().to_vec(),
        }
    }

    fn analytics(random: &mut Random, function: Function) -> Good {
        use super::analytics::{KERNELS, MASKS, NUMBERS, pack};
        let (format, back) = match function {
            Function::ERODE | Function::DILATE => (Surface::Y1_UNORM, 1),
            Function::BOOL_CENTROID => (Surface::Y1_UNORM, 2),
            Function::CONVOLVE | Function::CENTROID => (NUMBERS[random.index(3)], 4),
            Function::MIN_MAX_FILTER => (NUMBERS[random.index(3)], 8),
            _ => (NUMBERS[random.index(3)], 1),
        };
        let sequence = match function {
            Function::MIN_MAX | Function::CENTROID | Function::BOOL_CENTROID => 2,
            _ => 0,
        };
        let ask = Ask { sequence, ..Ask::new(function, [0.4, 0.7], back) };
        Good {
            send: ask.send(),
            surface: Gray::random(random, format).state.pack().to_vec(),
            samplers: match function {
                Function::CONVOLVE => KERNELS[random.index(KERNELS.len())].pack(),
                _ => pack(MASKS[random.index(MASKS.len())]),
            },
        }
    }

    /// Changes some bits.
    fn change(&mut self, random: &mut Random) {
        for _ in 0..=random.index(3) {
            let mut header = self.send.header.map(|header| header.pack()).unwrap_or_default();
            let dword = match random.below(6) {
                0 | 1 => &mut self.send.payload[random.index(8)],
                2 => &mut header[2],
                3 => &mut self.surface[random.index(8)],
                4 => {
                    // The first dword of states has most fields.
                    let length = if random.below(2) == 0 { 1 } else { self.samplers.len() };
                    &mut self.samplers[random.index(length)]
                }
                _ => {
                    match random.below(4) {
                        0 => self.send.kind = random.below(32),
                        1 => self.send.sampler = random.below(16),
                        2 => self.send.back = random.index(17),
                        _ => self.send.header = None,
                    }
                    continue;
                }
            };
            *dword = match random.below(4) {
                0 => random.pick(&[0, 1, u32::MAX, 0x7f80_0000, 0x8000_0000]),
                1 => random.bits() as u32,
                _ => *dword ^ 1 << random.below(32),
            };
            if self.send.header.is_some() {
                self.send.header = Some(SamplerMessageHeader::unpack_lossy(&header));
            }
        }
    }
}

#[test]
fn changed_messages_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(MESSAGES, |count| count.parse().unwrap());
    let mut model = model();
    let mut random = Random::new(111);
    let memory = random.bytes(1 << 17);
    model.write(SURFACE, &memory);
    let mut ends = [[0; 2]; 9];
    for number in 0..count {
        let mut random = Random::new(number << 8 | 7);
        let mut good = Good::random(&mut random, number);
        good.change(&mut random);
        let Good { send, surface, samplers } = &good;
        let ended = catch_unwind(AssertUnwindSafe(|| send.run(&mut model, surface, samplers)));
        let ended = ended.unwrap_or_else(|_| panic!("change {number} panics: {send:?}"));
        ends[number as usize % 9][usize::from(ended.is_ok())] += 1;
    }
    // Both must be frequent for each message, so that the changes reach all parts.
    for [faults, results] in ends {
        let all = count / 9;
        assert!(faults > all / 20 && results > all / 20, "{ends:?}");
    }
}

/// Messages without changes have results.
#[test]
fn good_messages_end() {
    let mut model = model();
    for number in 0..90 {
        let Good { send, surface, samplers } = Good::random(&mut Random::new(number), number);
        if let Err(fault) = send.run(&mut model, &surface, &samplers) {
            panic!("message {number}: {fault}");
        }
    }
}
