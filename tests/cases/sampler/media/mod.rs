//! The media messages: sample_8x8 with the adaptive video scaler and with the video analytics
//! functions ([`analytics`]), and sample_unorm ([`unorm`]).
//!
//! Oracle for the scaler: the formulas of video.md 11 and 2d p.374-389 in [`scaler`],
//! [`picture`], and [`detail`] for the detail filter. What these sources leave open is in the list
//! of assumptions, area sampler.

mod analytics;
mod detail;
mod mutations;
mod picture;
mod polyphase;
mod scaler;
mod unorm;

use crate::sampler::{ANSWER, SAMPLERS, SURFACE, before, exchange, model};
use detail::enhanced;
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayload, Sample8x8MessagePayloadFunction as Function, SamplerMessageHeader,
    SamplerMessageHeaderOutputFormatControl as Format,
};
use genxml::gen8::media::{
    MediaSurfaceState, MediaSurfaceStateAddressControl as Address,
    MediaSurfaceStatePictureStructure as Structure, MediaSurfaceStateSurfaceFormat as Surface,
    MediaSurfaceStateTileMode as Tiles,
};
use genxml::gen8::media_states::{
    SamplerState8x8Avs, SamplerState8x8AvsIEF4SmoothEnable as Operation,
};
use genxml::gen8::messages::{
    MessageDescriptorSamplingEngine, MessageDescriptorSamplingEngineMessageType as Type,
    MessageDescriptorSamplingEngineSimdMode10 as Mode,
};
use genxml_cases::{Model, Random, at, u};
use genxml_core::MinusOne;
use genxml_sim::Fault;
use picture::{BYTES, FORMATS, Picture};
use scaler::Scaler;

/// A media message.
#[derive(Clone, Debug)]
struct Send {
    kind: u64,
    header: Option<SamplerMessageHeader>,
    sampler: u64,
    payload: [u32; 8],
    /// Number of response registers.
    back: usize,
}

impl Send {
    /// Sends the message for the surface whose state has these dwords. Returns the bytes of the
    /// response registers.
    fn run(&self, model: &mut Model, surface: &[u32], samplers: &[u32]) -> Result<Vec<u8>, Fault> {
        let mut message: Vec<[u32; 8]> = self.header.iter().map(|header| header.pack()).collect();
        message.push(self.payload);
        let descriptor = MessageDescriptorSamplingEngine {
            sampler_index: u(self.sampler),
            message_type: Type::from_bits(self.kind),
            simd_mode_1_0: Mode::SIMD32_64,
            header_present: self.header.is_some(),
            response_length: u(self.back as u64),
            ..MessageDescriptorSamplingEngine::new()
        };
        let answer = exchange(model, descriptor, 0xffff, &message, surface, samplers)?;
        Ok(bytemuck::cast_slice(answer.as_flattened()).to_vec())
    }
}

/// The bytes of registers before the message.
fn untouched() -> Vec<u8> {
    let registers: Vec<[u32; 8]> = (0..ANSWER).map(before).collect();
    bytemuck::cast_slice(registers.as_flattened()).to_vec()
}

/// The response of a block: `value` gives a channel of a pixel. Also returns the number of
/// registers.
fn response(
    header: &SamplerMessageHeader,
    pixels: usize,
    value: impl Fn(usize, usize) -> u16,
) -> (Vec<u8>, usize) {
    let present = [
        !header.red_write_channel_mask,
        !header.green_write_channel_mask,
        !header.blue_write_channel_mask,
        !header.alpha_write_channel_mask,
    ];
    let format = header.output_format_control.bits();
    let (small, halves) = (format >= 2, format % 2 == 1);
    let mut expected = untouched();
    // Headers can ask for more registers than a response can have.
    expected.resize(32 * 4 * ANSWER, 0);
    let mut at = 0;
    for part in 0..pixels.div_ceil(64) {
        for channel in 0..4 {
            let half = halves && channel % 2 == 0;
            let room = half && small && (present[0] || present[2]);
            for pixel in (part * 64..pixels.min(64 * (part + 1))).step_by(1 + usize::from(half)) {
                if present[channel] {
                    let value = value(channel, pixel);
                    if small {
                        expected[at] = ((f64::from(value) / 256.0 + 0.5) as u32).min(255) as u8;
                    } else {
                        expected[at..at + 2].copy_from_slice(&value.to_le_bytes());
                    }
                }
                if present[channel] || room {
                    at += if small { 1 } else { 2 };
                }
            }
        }
    }
    expected.truncate(32 * ANSWER);
    (expected, at.div_ceil(32))
}

/// A header with a random mask and format, whose block of `pixels` pixels fits the response.
fn header(random: &mut Random, pixels: usize) -> SamplerMessageHeader {
    loop {
        let header = SamplerMessageHeader {
            output_format_control: Format::from_bits(random.below(4)),
            red_write_channel_mask: random.below(2) == 0,
            green_write_channel_mask: random.below(2) == 0,
            blue_write_channel_mask: random.below(2) == 0,
            alpha_write_channel_mask: random.below(2) == 0,
            sampler_state_pointer: at(SAMPLERS),
            ..SamplerMessageHeader::new()
        };
        let (_, registers) = response(&header, pixels, |_, _| 0);
        if (1..=ANSWER).contains(&registers) {
            return header;
        }
    }
}

/// Columns and rows of the block of each Sequence.
const SHAPES: [[usize; 2]; 4] = [[16, 4], [8, 4], [16, 8], [4, 4]];

/// Random pictures, filters, blocks and responses, half of them with the detail filter.
#[test]
fn scalers() {
    let (mut model, mut random) = (model(), Random::new(81));
    for round in 0..260 {
        let picture = Picture::random(&mut random, FORMATS[round % FORMATS.len()]);
        model.write(SURFACE, &picture.memory);
        let scaler = Scaler::random(&mut random);
        let sequence = random.below(4);
        let [columns, rows] = SHAPES[sequence as usize];
        let header = header(&mut random, columns * rows);
        let size = [picture.state.width.get(), picture.state.height.get()].map(|n| n as f64);
        // Steps in pixels, as multiples of 1/64, so that floats are exact enough.
        let mut part = |reach: u64| (random.below(64 * reach) as f64 - 64.0) / 64.0;
        let (start, step) = ([part(30), part(20)], [part(4).abs(), part(4).abs()]);
        let bend = [0, 1].map(|_| if random.below(2) == 0 { 0.0 } else { 1.0 / 64.0 });
        let (block, detailed) = (random.below(4), random.below(2) == 0);
        let float = |n: usize, value: f64| (value / size[n]) as f32;
        let payload = Sample8x8MessagePayload {
            u: float(0, start[0]),
            v: float(1, start[1]),
            delta_u: float(0, step[0]),
            delta_v: float(1, step[1]),
            second_derivative_u: float(0, bend[0]),
            second_derivative_v: float(1, bend[1]),
            vertical_block_number: u(block),
            sequence: u(sequence),
            ief_bypass: !detailed,
            group_id: u(random.below(1 << 23)),
            ..Sample8x8MessagePayload::new()
        };
        let pixel = |channel: usize, x: i64, y: i64| {
            let n = [x, 4 * block as i64 + y].map(|n| n as f64);
            let place = [0, 1].map(|d| {
                let (delta, bend) = (step[d] + bend[d] * n[d], bend[d]);
                let left = start[d] + step[d] * n[d] + bend * n[d] * (n[d] - 1.0) / 2.0;
                left + delta / 2.0 - 0.5
            });
            scaler.pixel(&picture, channel, place)
        };
        // Luma of the block and of two pixels on each side.
        let detailed = detailed && picture.has_luma();
        let luma: Vec<Vec<u16>> = (-2..if detailed { rows as i64 + 2 } else { -2 })
            .map(|y| (-2..columns as i64 + 2).map(|x| pixel(1, x, y)).collect())
            .collect();
        let value = |channel: usize, number: usize| {
            let (x, y) = (number % columns, number / columns);
            if channel != 1 || !detailed {
                return pixel(channel, x as i64, y as i64);
            }
            let around = std::array::from_fn(|j| std::array::from_fn(|i| luma[y + j][x + i]));
            enhanced(&scaler.state, around)
        };
        let (expected, back) = response(&header, columns * rows, value);
        let index = 2 * random.below(2);
        let send = Send {
            kind: 0x0b,
            header: Some(header),
            sampler: index,
            payload: payload.pack(),
            back,
        };
        let mut samplers = vec![0; 128 * index as usize];
        samplers.extend(scaler.pack());
        let found = send.run(&mut model, &picture.state.pack(), &samplers).unwrap();
        let wrong: Vec<usize> = (0..found.len()).filter(|&n| found[n] != expected[n]).collect();
        assert!(
            wrong.is_empty(),
            "round {round}: {} bytes from {} on of {:?} {:?} {header:?} {payload:?}",
            wrong.len(),
            wrong[0],
            picture.state,
            scaler.state,
        );
    }
}

/// A step of 1 / width, as drivers program it in single precision, copies the picture, in every
/// part of pictures of all sizes. Oracle: the conversion kernels of the VA driver i965 have no
/// offset.
#[test]
fn copies() {
    let (mut model, mut random) = (model(), Random::new(82));
    for round in 0..200 {
        let format = [Surface::Y8_UNORM, Surface::R8_UNORM_CR_CB, Surface::R8B8_UNORM_CR_CB];
        let mut picture = Picture::random(&mut random, format[round % 3]);
        let [width, height] = [1 + random.below(500), 1 + random.below(100)];
        picture.state = MediaSurfaceState {
            width: MinusOne::new(width).unwrap(),
            height: MinusOne::new(height).unwrap(),
            x_offset_for_u_cb: u(0),
            surface_pitch: MinusOne::new(1024).unwrap(),
            ..picture.state
        };
        picture.memory = random.bytes(BYTES * 2);
        model.write(SURFACE, &picture.memory);
        // As kernels compute it: the origin of a block of 16 x 16 pixels is a product.
        let [x, y] = [random.below(width) / 16 * 16, random.below(height) / 16 * 16];
        let (step_u, step_v) = (1.0 / width as f32, 1.0 / height as f32);
        let block = random.below(4);
        let payload = Sample8x8MessagePayload {
            u: x as f32 * step_u,
            v: y as f32 * step_v,
            delta_u: step_u,
            delta_v: step_v,
            vertical_block_number: u(block),
            ief_bypass: true,
            ..Sample8x8MessagePayload::new()
        };
        let header = SamplerMessageHeader {
            sampler_state_pointer: at(SAMPLERS),
            red_write_channel_mask: round % 3 == 0,
            green_write_channel_mask: round % 3 != 0,
            blue_write_channel_mask: true,
            alpha_write_channel_mask: true,
            ..SamplerMessageHeader::new()
        };
        let line = |y: u64| {
            let state = &picture.state;
            y * (1 + state.vertical_line_stride.get())
                + state.vertical_line_stride_offset.get()
                + state.y_offset_for_u_cb.get()
        };
        let bytes = if round % 3 == 2 { 2 } else { 1 };
        let (expected, back) = response(&header, 64, |_, pixel| {
            let at = [x + pixel as u64 % 16, y + 4 * block + pixel as u64 / 16];
            let (x, y) = (at[0].min(width - 1), at[1].min(height - 1));
            let offset = picture.tiling.offset(bytes * x, line(y), 1024);
            u16::from(picture.memory[offset as usize]) << 8
        });
        let mut state = picture.state;
        state.address_control = Address::CLAMP;
        let send =
            Send { kind: 0x0b, header: Some(header), sampler: 0, payload: payload.pack(), back };
        let found = send.run(&mut model, &state.pack(), &Scaler::bilinear().pack()).unwrap();
        assert_eq!(found, expected, "{width} x {height}, block at {x}, {y} + {block}");
    }
}

/// Without a header, the response has all channels of 16 bits, and the sampler of the thread is
/// used.
#[test]
fn no_header() {
    let (mut model, mut random) = (model(), Random::new(83));
    let mut picture = Picture::random(&mut random, Surface::R8G8B8A8_UNORM);
    picture.state.address_control = Address::CLAMP;
    model.write(SURFACE, &picture.memory);
    let scaler = Scaler::random(&mut random);
    let payload = Sample8x8MessagePayload { ief_bypass: true, ..Sample8x8MessagePayload::new() };
    let (expected, back) = response(&SamplerMessageHeader::new(), 64, |channel, _| {
        scaler.pixel(&picture, channel, [-0.5; 2])
    });
    assert_eq!(back, 16);
    let send = Send { kind: 0x0b, header: None, sampler: 0, payload: payload.pack(), back };
    let found = send.run(&mut model, &picture.state.pack(), &scaler.pack()).unwrap();
    assert_eq!(found, expected);
}

/// Messages and states that do not exist, and functions of later devices.
#[test]
fn refusals() {
    let (mut model, mut random) = (model(), Random::new(84));
    let picture = Picture::random(&mut random, Surface::Y8_UNORM);
    let good = picture.state;
    let payload = Sample8x8MessagePayload { ief_bypass: true, ..Sample8x8MessagePayload::new() };
    let header = SamplerMessageHeader {
        red_write_channel_mask: true,
        blue_write_channel_mask: true,
        alpha_write_channel_mask: true,
        sampler_state_pointer: at(SAMPLERS),
        ..SamplerMessageHeader::new()
    };
    let mut scaler = Scaler::bilinear();
    scaler.state.ief4smooth_enable = Operation::SMOOTH_FILTER_OF_3X3;
    let scaler = scaler.pack();
    let mut fault =
        |kind: u64, payload: Sample8x8MessagePayload, back, state: MediaSurfaceState| {
            let send =
                Send { kind, header: Some(header), sampler: 0, payload: payload.pack(), back };
            send.run(&mut model, &state.pack(), &scaler).map(|_| "none").unwrap_or_else(|fault| {
                match fault {
                    Fault::Unimplemented { .. } => "missing",
                    Fault::IllegalInstruction { .. } => "illegal",
                    Fault::BadPacket { field, .. } => field,
                    other => panic!("{other}"),
                }
            })
        };
    assert_eq!(fault(0x0b, payload, 4, good), "none");
    for function in 8..16 {
        let payload =
            Sample8x8MessagePayload { function: Function::from_bits(function), ..payload };
        assert_eq!(fault(0x0b, payload, 4, good), "missing");
    }
    let smooth = Sample8x8MessagePayload { ief_bypass: false, ..payload };
    assert_eq!(fault(0x0b, smooth, 4, good), "missing");
    assert_eq!(fault(0x08, payload, 4, good), "missing");
    assert_eq!(fault(0x0b, payload, 3, good), "illegal");
    for number in 0..32 {
        let format = Surface::from_bits(number);
        let state = MediaSurfaceState { surface_format: format, ..good };
        let expected = if FORMATS.contains(&format) { "none" } else { "Surface Format" };
        assert_eq!(fault(0x0b, payload, 4, state), expected, "{number}");
    }
    let state = MediaSurfaceState { tile_mode: Tiles::from_bits(1), ..good };
    assert_eq!(fault(0x0b, payload, 4, state), "Tile Mode");
    let state = MediaSurfaceState { picture_structure: Structure::from_bits(3), ..good };
    assert_eq!(fault(0x0b, payload, 4, state), "Picture Structure");
    let state = MediaSurfaceState {
        tile_mode: Tiles::TILEMODE_XMAJOR,
        surface_pitch: MinusOne::new(640).unwrap(),
        ..good
    };
    assert_eq!(fault(0x0b, payload, 4, state), "Surface Pitch");
    let state =
        MediaSurfaceState { vertical_line_stride: u(0), vertical_line_stride_offset: u(1), ..good };
    assert_eq!(fault(0x0b, payload, 4, state), "Vertical Line Stride Offset");
}

/// Random states and payloads cause a fault or a result, but no panic.
#[test]
fn any_bits() {
    let (mut model, mut random) = (model(), Random::new(88));
    let header =
        SamplerMessageHeader { sampler_state_pointer: at(SAMPLERS), ..SamplerMessageHeader::new() };
    let mut ends = 0;
    for _ in 0..400 {
        let format = FORMATS[random.below(FORMATS.len() as u64) as usize];
        let picture = Picture::random(&mut random, format);
        let any = |random: &mut Random| random.bits() as u32;
        let payload: [u32; 8] = std::array::from_fn(|_| any(&mut random));
        let payload = Sample8x8MessagePayload {
            function: Function::AVS,
            sequence: u([0, 1, 3][random.below(3) as usize]),
            ief_bypass: random.below(2) == 0,
            ..Sample8x8MessagePayload::unpack_lossy(&payload)
        };
        let back = [16, 8, 0, 4][payload.sequence.get() as usize];
        let mut state = picture.state.pack();
        if random.below(2) == 0 {
            state[1 + random.below(5) as usize] = any(&mut random);
        }
        let scaler: [u32; SamplerState8x8Avs::DWORDS] = std::array::from_fn(|_| any(&mut random));
        let scaler = SamplerState8x8Avs {
            ief4smooth_enable: Operation::DETAIL_FILTER_OF_5X5,
            ..SamplerState8x8Avs::unpack_lossy(&scaler)
        };
        let send =
            Send { kind: 0x0b, header: Some(header), sampler: 0, payload: payload.pack(), back };
        ends += u32::from(send.run(&mut model, &state, &scaler.pack()).is_ok());
    }
    assert!(ends > 150, "{ends}");
}
