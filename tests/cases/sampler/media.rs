//! The media messages: sample_8x8 with the adaptive video scaler, and sample_unorm.
//!
//! Oracle: the formulas of video.md 11 and 2d p.374-389 in [`Scaler`], which filters each channel
//! of each pixel on its own, and counts bytes of pictures by hand. What these sources leave open
//! is in the list of assumptions, area sampler.

use crate::sampler::filters::sampler;
use crate::sampler::reference::Filter;
use crate::sampler::texture::Texture;
use crate::sampler::{ANSWERS, SAMPLERS, SURFACE, before, model};
use genxml::eu;
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayload, Sample8x8MessagePayloadFunction as Function,
    SampleUnormMessagePayload, SamplerMessageHeader,
    SamplerMessageHeaderOutputFormatControl as Format,
};
use genxml::gen8::media::{
    GpgpuWalkerSimdSize, MediaSurfaceState, MediaSurfaceStateAddressControl as Address,
    MediaSurfaceStatePictureStructure as Structure, MediaSurfaceStateSurfaceFormat as Surface,
    MediaSurfaceStateTileMode as Tiles,
};
use genxml::gen8::media_states::{
    SamplerState8x8Avs, SamplerState8x8AvsAdaptiveFilterForAllChannels as AdaptAll,
    SamplerState8x8AvsBypassXAdaptiveFiltering as BypassX,
    SamplerState8x8AvsBypassYAdaptiveFiltering as BypassY, SamplerState8x8AvsCoefficients,
    SamplerState8x8AvsEnable8TapFilter as Taps, SamplerState8x8AvsRgbAdaptive as RgbAdaptive,
};
use genxml::gen8::messages::{
    MdcDbOw, MessageDescriptorSamplingEngine, MessageDescriptorSamplingEngineMessageType as Type,
    MessageDescriptorSamplingEngineSimdMode10 as Mode, MhBtsGo, Msd0wOwb,
};
use genxml::gen8::render3d_pixel::ThreeDStateChromaKey;
use genxml::gen8::state::{
    InterfaceDescriptorData, RenderSurfaceState, SamplerState, SamplerStateChromaKeyMode,
    SamplerStateMipModeFilter, SurfaceFormat, TextureCoordinateMode as Wrap,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{
    Compute, DYNAMIC_STATE, Model, Random, SURFACE_STATE, at, packets, raw_buffer, u,
};
use genxml_core::{MinusOne, SFix, UFix};
use genxml_sim::Fault;

/// Largest number of response registers.
const ANSWER: usize = 16;
/// Bytes of the memory of pictures.
const BYTES: usize = 1 << 17;

/// r1: descriptor, descriptor of the stores. r2 and r3: the message. r20 to r35: the response,
/// which is stored in four parts with the headers r19 and r4 to r6.
const KERNEL: &[u32] = &eu! {
    (W) mov (1|M0)    a0.0<1>:ud  r1.0<0;1,0>:ud
    (W) send (16|M0)  r20  r2  0x2  a0.0
    (W) mov (1|M0)    a0.0<1>:ud  r1.1<0;1,0>:ud
    (W) send (8|M0)   null   r19    0xA  a0.0
    (W) mov (8|M0)    r23.0<1>:ud  r4.0<8;8,1>:ud
    (W) send (8|M0)   null   r23    0xA  a0.0
    (W) mov (8|M0)    r27.0<1>:ud  r5.0<8;8,1>:ud
    (W) send (8|M0)   null   r27    0xA  a0.0
    (W) mov (8|M0)    r31.0<1>:ud  r6.0<8;8,1>:ud
    (W) send (8|M0)   null   r31    0xA  a0.0
    (W) mov (8|M0)    r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)   null   r127   0x27  0x02000010  {EOT}
};

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
            message_length: u(message.len() as u64),
            ..MessageDescriptorSamplingEngine::new()
        };
        let store = Msd0wOwb {
            binding_table_index: u(1),
            data_blocks: MdcDbOw::OW8,
            header_present: true,
            message_length: u(5),
            ..Msd0wOwb::new()
        };
        let mut registers = [[0; 8]; 36];
        registers[1][..2].copy_from_slice(&[descriptor.pack()[0], store.pack()[0]]);
        registers[2..2 + message.len()].copy_from_slice(&message);
        for (n, register) in [19, 4, 5, 6].into_iter().enumerate() {
            registers[register] = MhBtsGo { global_offset: u(8 * n as u64) }.pack();
        }
        (0..ANSWER).for_each(|n| registers[20 + n] = before(n));
        model.put(DYNAMIC_STATE + SAMPLERS, samplers);
        let compute = Compute {
            surfaces: vec![RenderSurfaceState::new(), raw_buffer(ANSWERS, 32 * ANSWER as u64)],
            curbe: bytemuck::cast_slice(registers[1..].as_flattened()).to_vec(),
            shared: 35,
            simd: GpgpuWalkerSimdSize::SIMD16,
            descriptor: InterfaceDescriptorData {
                sampler_state_pointer: at(SAMPLERS),
                binding_table_entry_count: u(2),
                ..InterfaceDescriptorData::new()
            },
            ..Compute::new(KERNEL)
        };
        let batch = compute.batch(model);
        model.put(SURFACE_STATE, surface);
        model.render(&batch)?;
        Ok(model.read(ANSWERS, 32 * ANSWER))
    }
}

/// The bytes of registers before the message.
fn untouched() -> Vec<u8> {
    let registers: Vec<[u32; 8]> = (0..ANSWER).map(before).collect();
    bytemuck::cast_slice(registers.as_flattened()).to_vec()
}

/// Columns and rows of the block of each Sequence.
const SHAPES: [[usize; 2]; 4] = [[16, 4], [8, 4], [16, 8], [4, 4]];

/// A picture in memory. Channels are numbered red (Cr), green (Y), blue (Cb), alpha.
struct Picture {
    memory: Vec<u8>,
    state: MediaSurfaceState,
    tiling: Tiling,
}

impl Picture {
    fn random(random: &mut Random, format: Surface) -> Picture {
        let (tiling, tile_mode) = [
            (Tiling::Linear, Tiles::TILEMODE_LINEAR),
            (Tiling::X, Tiles::TILEMODE_XMAJOR),
            (Tiling::Y, Tiles::TILEMODE_YMAJOR),
        ][random.below(3) as usize];
        // Smooth pictures with noise, so that adaptive filters meet all cases.
        let noise = [2, 12, 256][random.below(3) as usize];
        let memory = (0..BYTES).map(|n| (n / 700 + random.below(noise) as usize) as u8).collect();
        let stride = random.below(2);
        let planar = format == Surface::PLANAR_420_8;
        let state = MediaSurfaceState {
            surface_format: format,
            width: MinusOne::new(2 * (1 + random.below(20))).unwrap(),
            height: MinusOne::new(2 * (1 + random.below(12))).unwrap(),
            tile_mode,
            surface_pitch: MinusOne::new(512).unwrap(),
            address_control: Address::from_bits(random.below(2)),
            interleave_chroma: random.below(2) == 0,
            x_offset_for_u_cb: u(2 * random.below(4)),
            y_offset_for_u_cb: u(if planar { 64 + random.below(8) } else { random.below(8) }),
            x_offset_for_v_cr: u(2 * random.below(4)),
            y_offset_for_v_cr: u(4 * (30 + random.below(4))),
            cr_v_cb_u_pixel_offset_v_direction: UFix::new(random.below(4) as f64 / 4.0).unwrap(),
            vertical_line_stride: u(stride),
            vertical_line_stride_offset: u(stride * random.below(2)),
            surface_base_address: at(SURFACE),
            ..MediaSurfaceState::new()
        };
        Picture { memory, state, tiling }
    }

    /// True if the format has luma.
    fn has_luma(&self) -> bool {
        let format = self.state.surface_format;
        format.bits() <= 4 || [Surface::Y8_UNORM, Surface::A8Y8U8V8_UNORM].contains(&format)
    }

    /// Pixels of the picture for each pixel of a channel.
    fn every(&self, channel: usize) -> [i64; 2] {
        match self.state.surface_format.bits() {
            0..=3 if channel != 1 => [2, 1],
            4 if channel != 1 => [2, 2],
            _ => [1, 1],
        }
    }

    /// A channel of a pixel in 1/65536, where `x` and `y` count the channel's own pixels; `None` if
    /// the format lacks the channel.
    fn value(&self, channel: usize, x: i64, y: i64) -> Option<i64> {
        let state = &self.state;
        let every = self.every(channel);
        let size = [state.width.get() as i64 / every[0], state.height.get() as i64 / every[1]];
        let inside = |at: i64, size: i64| match state.address_control {
            Address::MIRROR => {
                let at = at.rem_euclid(2 * size);
                if at < size { at } else { 2 * size - 1 - at }
            }
            _ => at.max(0).min(size - 1),
        };
        let (x, y) = (inside(x, size[0]) as u64, inside(y, size[1]) as u64);
        let line = |y: u64| {
            y * (1 + state.vertical_line_stride.get()) + state.vertical_line_stride_offset.get()
        };
        let byte = |left: u64, top: u64, byte: u64| {
            i64::from(self.memory[self.tiling.offset(left + byte, top + line(y), 512) as usize])
        };
        let [left, top] = [state.x_offset_for_u_cb.get(), state.y_offset_for_u_cb.get()];
        // The byte of each channel among the bytes of a pixel.
        let plain = |bytes: u64, places: [Option<u64>; 4]| {
            places[channel].map(|place| byte(left * bytes, top, x * bytes + place) << 8)
        };
        let packed = |luma: u64, cb: u64, cr: u64| {
            let place = match channel {
                0 => 4 * x + cr,
                1 => 2 * x + luma,
                2 => 4 * x + cb,
                _ => return None,
            };
            Some(byte(2 * left, top, place) << 8)
        };
        match state.surface_format {
            Surface::YCRCB_NORMAL => packed(0, 1, 3),
            Surface::YCRCB_SWAPUVY => packed(1, 2, 0),
            Surface::YCRCB_SWAPUV => packed(0, 3, 1),
            Surface::YCRCB_SWAPY => packed(1, 0, 2),
            Surface::PLANAR_420_8 => Some(
                match (channel, state.interleave_chroma) {
                    (1, _) => byte(0, 0, x),
                    (0, true) => byte(left, top, 2 * x + 1),
                    (2, true) => byte(left, top, 2 * x),
                    (2, false) => byte(left, top, x),
                    (0, false) => {
                        byte(state.x_offset_for_v_cr.get(), state.y_offset_for_v_cr.get(), x)
                    }
                    _ => return None,
                } << 8,
            ),
            Surface::R10G10B10A2_UNORM => {
                let dword =
                    (0..4).fold(0, |all, n| all | byte(4 * left, top, 4 * x + n) << (8 * n));
                Some(match channel {
                    3 => dword / (1 << 30) * 0x5540,
                    _ => (dword >> (10 * channel)) % 1024 * 64,
                })
            }
            Surface::R8G8B8A8_UNORM => plain(4, [Some(0), Some(1), Some(2), Some(3)]),
            Surface::B8G8R8A8_UNORM => plain(4, [Some(2), Some(1), Some(0), Some(3)]),
            Surface::A8Y8U8V8_UNORM => plain(4, [Some(0), Some(2), Some(1), Some(3)]),
            Surface::R8B8_UNORM_CR_CB => plain(2, [Some(0), None, Some(1), None]),
            Surface::R8_UNORM_CR_CB => plain(1, [Some(0), None, None, None]),
            Surface::Y8_UNORM => plain(1, [None, Some(0), None, None]),
            Surface::R16G16B16A16 => {
                let place = 8 * x + 2 * channel as u64;
                Some(byte(8 * left, top, place) + 256 * byte(8 * left, top, place + 1))
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Formats of the scaler.
const FORMATS: [Surface; 13] = [
    Surface::YCRCB_NORMAL,
    Surface::YCRCB_SWAPUVY,
    Surface::YCRCB_SWAPUV,
    Surface::YCRCB_SWAPY,
    Surface::PLANAR_420_8,
    Surface::R10G10B10A2_UNORM,
    Surface::R8G8B8A8_UNORM,
    Surface::R8B8_UNORM_CR_CB,
    Surface::R8_UNORM_CR_CB,
    Surface::Y8_UNORM,
    Surface::A8Y8U8V8_UNORM,
    Surface::B8G8R8A8_UNORM,
    Surface::R16G16B16A16,
];

/// The scaler's state, with coefficients in 1/64: phase, direction, tap.
#[derive(Clone, Debug)]
struct Scaler {
    state: SamplerState8x8Avs,
    eight: [[[i64; 8]; 2]; 17],
    four: [[[i64; 4]; 2]; 17],
}

impl Scaler {
    fn random(random: &mut Random) -> Scaler {
        // Sums of about 64, with negative taps outside.
        let mut tap = |n: usize, taps: usize| {
            let middle = n == taps / 2 - 1 || n == taps / 2;
            if middle { 24 + random.below(24) as i64 } else { random.below(13) as i64 - 8 }
        };
        let mut eight = [[[0; 8]; 2]; 17];
        let mut four = [[[0; 4]; 2]; 17];
        for phase in 0..17 {
            for direction in 0..2 {
                eight[phase][direction] = std::array::from_fn(|n| tap(n, 8));
                four[phase][direction] = std::array::from_fn(|n| tap(n, 4));
            }
        }
        let level = [0, 255, random.below(256)][random.below(3) as usize];
        let state = SamplerState8x8Avs {
            enable_8_tap_filter: Taps::from_bits(random.below(4)),
            default_sharpness_level: u(level),
            max_derivative_4_pixels: u(random.below(40)),
            max_derivative_8_pixels: u(random.below(40)),
            transition_area_with_4_pixels: u(random.below(8)),
            transition_area_with_8_pixels: u(random.below(8)),
            bypass_x_adaptive_filtering: BypassX::from_bits(random.below(2)),
            bypass_y_adaptive_filtering: BypassY::from_bits(random.below(2)),
            adaptive_filter_for_all_channels: AdaptAll::from_bits(random.below(2)),
            rgb_adaptive: RgbAdaptive::from_bits(random.below(2)),
            ..SamplerState8x8Avs::new()
        };
        Scaler { state, eight, four }
    }

    /// The bilinear filter of drivers: the taps of a phase move from tap 3 to tap 4.
    fn bilinear() -> Scaler {
        let mut scaler = Scaler {
            state: SamplerState8x8Avs {
                enable_8_tap_filter: Taps::_8_TAP_ADAPTIVE_ON_ALL_CHANNELS,
                bypass_x_adaptive_filtering: BypassX::DISBLE,
                bypass_y_adaptive_filtering: BypassY::DISBLE,
                adaptive_filter_for_all_channels: AdaptAll::ENABLE,
                ..SamplerState8x8Avs::new()
            },
            eight: [[[0; 8]; 2]; 17],
            four: [[[0; 4]; 2]; 17],
        };
        for phase in 0..17 {
            for direction in 0..2 {
                let second = 2 * phase as i64;
                scaler.eight[phase][direction][3..5].copy_from_slice(&[64 - second, second]);
                scaler.four[phase][direction][1..3].copy_from_slice(&[64 - second, second]);
            }
        }
        scaler
    }

    /// The dwords of the state.
    fn pack(&self) -> Vec<u32> {
        let fixed = |value: i64| SFix::new(value as f64 / 64.0).unwrap();
        let mut state = self.state;
        for (n, phase) in state.filter_coefficient.iter_mut().enumerate() {
            let [x, y] = self.eight[n].map(|taps| taps.map(fixed));
            let [a, b] = self.four[n].map(|taps| taps.map(fixed));
            *phase = SamplerState8x8AvsCoefficients {
                table_0x_filter_coefficient_n_0: x[0],
                table_0x_filter_coefficient_n_1: x[1],
                table_0x_filter_coefficient_n_2: x[2],
                table_0x_filter_coefficient_n_3: x[3],
                table_0x_filter_coefficient_n_4: x[4],
                table_0x_filter_coefficient_n_5: x[5],
                table_0x_filter_coefficient_n_6: x[6],
                table_0x_filter_coefficient_n_7: x[7],
                table_0y_filter_coefficient_n_0: y[0],
                table_0y_filter_coefficient_n_1: y[1],
                table_0y_filter_coefficient_n_2: y[2],
                table_0y_filter_coefficient_n_3: y[3],
                table_0y_filter_coefficient_n_4: y[4],
                table_0y_filter_coefficient_n_5: y[5],
                table_0y_filter_coefficient_n_6: y[6],
                table_0y_filter_coefficient_n_7: y[7],
                table_1x_filter_coefficient_n_2: a[0],
                table_1x_filter_coefficient_n_3: a[1],
                table_1x_filter_coefficient_n_4: a[2],
                table_1x_filter_coefficient_n_5: a[3],
                table_1y_filter_coefficient_n_2: b[0],
                table_1y_filter_coefficient_n_3: b[1],
                table_1y_filter_coefficient_n_4: b[2],
                table_1y_filter_coefficient_n_5: b[3],
            };
        }
        state.pack().to_vec()
    }

    /// The sharp filter of a channel at a phase from 0 to 31.
    fn sharp(&self, luma: bool, channel: usize, direction: usize, phase: i64) -> [i64; 8] {
        let (stored, mirrored) =
            if phase <= 16 { (phase as usize, false) } else { ((32 - phase) as usize, true) };
        let wide = match self.state.enable_8_tap_filter.bits() {
            0 => luma && channel == 1,
            1 => channel == 1,
            _ => true,
        };
        let mut taps = self.eight[stored][direction];
        if channel == 1 && !wide {
            for n in [0, 1, 6, 7] {
                taps[n] = 0;
            }
        } else if !wide {
            taps = [0; 8];
            taps[2..6].copy_from_slice(&self.four[stored][direction]);
        }
        if mirrored {
            taps.reverse();
        }
        taps
    }

    /// The share of the sharp filter in 1/255, from the values that it adapts to.
    fn share(&self, luma: bool, channel: usize, direction: usize, guide: &[i64; 8]) -> i64 {
        let state = &self.state;
        let adaptive = match state.enable_8_tap_filter.bits() {
            0 | 2 => luma,
            _ => true,
        };
        let bypass =
            [state.bypass_x_adaptive_filtering.bits(), state.bypass_y_adaptive_filtering.bits()]
                [direction];
        if channel != 1 && state.adaptive_filter_for_all_channels == AdaptAll::DISBLE {
            return 255;
        }
        if bypass == 1 || !adaptive {
            return state.default_sharpness_level.get() as i64;
        }
        let w = guide.map(|value| value.div_euclid(256));
        let apart = |a: usize, b: usize| (w[a] - w[b]).abs();
        let most8 = (0..7).map(|n| apart(n, n + 1)).max().unwrap();
        let most4 = apart(3, 4).max(apart(2, 3)).min(apart(3, 4).max(apart(4, 5)));
        let (d1, d2, d3) = (w[3] - w[2], w[4] - w[3], w[5] - w[4]);
        let d4 = (((d1 - d2).abs() + (d3 - d2).abs()) / 2).min(most4);
        let ramp = |difference: i64, point: u64, slope: u64| {
            ((difference - point as i64) * (1 << (8 - slope))).clamp(0, 255)
        };
        let four = ramp(
            d4,
            state.max_derivative_4_pixels.get(),
            state.transition_area_with_4_pixels.get(),
        );
        let eight = ramp(
            most8,
            state.max_derivative_8_pixels.get(),
            state.transition_area_with_8_pixels.get(),
        );
        four.max(255 - eight)
    }

    /// One direction of the filter: eight values to one.
    fn pass(
        &self,
        picture: &Picture,
        channel: usize,
        direction: usize,
        phase: i64,
        values: &[[Option<i64>; 4]; 8],
    ) -> i64 {
        let luma = picture.has_luma();
        let own = values.map(|value| value[channel].unwrap());
        let sum = |taps: [i64; 8]| {
            let sum: i64 = taps.iter().zip(own).map(|(tap, value)| tap * value).sum();
            (sum + 32).div_euclid(64)
        };
        let smooth = sum([0, 0, 0, 64 - 2 * phase, 2 * phase, 0, 0, 0]);
        if channel == 3 {
            return smooth;
        }
        let sharp = sum(self.sharp(luma, channel, direction, phase));
        let together = picture.every(channel) == [1, 1] && values[0][1].is_some();
        let guide = values.map(|value| match value {
            _ if !together => value[channel].unwrap(),
            [Some(red), Some(green), Some(blue), _]
                if !luma && self.state.rgb_adaptive == RgbAdaptive::ENABLE =>
            {
                (red + 2 * green + blue).div_euclid(4)
            }
            _ => value[1].unwrap(),
        });
        let share = self.share(luma, channel, direction, &guide);
        (2 * (share * sharp + (255 - share) * smooth) + 255).div_euclid(2 * 255)
    }

    /// A channel of a pixel, in 1/65536.
    fn pixel(&self, picture: &Picture, channel: usize, place: [f64; 2]) -> u16 {
        if picture.value(channel, 0, 0).is_none() {
            return if channel == 3 { 0xff00 } else { 0 };
        }
        let every = picture.every(channel);
        let down = match every[1] {
            2 => picture.state.cr_v_cb_u_pixel_offset_v_direction.get(),
            _ => 0.0,
        };
        let [x, y] = [place[0] / every[0] as f64, (place[1] - down) / every[1] as f64]
            .map(|at| (at * 256.0 + 0.5).floor() as i64);
        let phase = |at: i64| at.rem_euclid(256) / 8;
        let corner = [x, y].map(|at| at.div_euclid(256) - 3);
        let rows: [[Option<i64>; 4]; 8] = std::array::from_fn(|j| {
            let row: [[Option<i64>; 4]; 8] = std::array::from_fn(|i| {
                std::array::from_fn(|n| {
                    let same = picture.every(n) == every;
                    let at = [corner[0] + i as i64, corner[1] + j as i64];
                    if same { picture.value(n, at[0], at[1]) } else { None }
                })
            });
            std::array::from_fn(|n| row[0][n].map(|_| self.pass(picture, n, 0, phase(x), &row)))
        });
        self.pass(picture, channel, 1, phase(y), &rows).clamp(0, 0xffff) as u16
    }
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

/// Random pictures, filters, blocks and responses.
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
        let block = random.below(4);
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
            ief_bypass: true,
            group_id: u(random.below(1 << 23)),
            ..Sample8x8MessagePayload::new()
        };
        let value = |channel: usize, pixel: usize| {
            let n = [pixel % columns, 4 * block as usize + pixel / columns].map(|n| n as f64);
            let place = [0, 1].map(|d| {
                let (delta, bend) = (step[d] + bend[d] * n[d], bend[d]);
                let left = start[d] + step[d] * n[d] + bend * n[d] * (n[d] - 1.0) / 2.0;
                left + delta / 2.0 - 0.5
            });
            scaler.pixel(&picture, channel, place)
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

/// Messages and states that do not exist, and functions that no source describes.
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
    let scaler = Scaler::bilinear().pack();
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
    for function in 1..8 {
        let payload =
            Sample8x8MessagePayload { function: Function::from_bits(function), ..payload };
        assert_eq!(fault(0x0b, payload, 4, good), "missing");
    }
    let detailed = Sample8x8MessagePayload { ief_bypass: false, ..payload };
    assert_eq!(fault(0x0b, detailed, 4, good), "missing");
    assert_eq!(fault(0x08, payload, 4, good), "missing");
    assert_eq!(fault(0x0b, payload, 3, good), "illegal");
    for format in [Surface::Y8_UNORM_VA, Surface::Y16_SNORM, Surface::Y1_UNORM] {
        let state = MediaSurfaceState { surface_format: format, ..good };
        assert_eq!(fault(0x0b, payload, 4, state), "Surface Format");
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
        let format = FORMATS[random.below(13) as usize];
        let picture = Picture::random(&mut random, format);
        let any = |random: &mut Random| random.bits() as u32;
        let payload: [u32; 8] = std::array::from_fn(|_| any(&mut random));
        let payload = Sample8x8MessagePayload {
            function: Function::AVS,
            sequence: u([0, 1, 3][random.below(3) as usize]),
            ief_bypass: true,
            ..Sample8x8MessagePayload::unpack_lossy(&payload)
        };
        let back = [16, 8, 0, 4][payload.sequence.get() as usize];
        let mut state = picture.state.pack();
        if random.below(2) == 0 {
            state[1 + random.below(5) as usize] = any(&mut random);
        }
        let scaler: Vec<u32> = (0..SamplerState8x8Avs::DWORDS).map(|_| any(&mut random)).collect();
        let send =
            Send { kind: 0x0b, header: Some(header), sampler: 0, payload: payload.pack(), back };
        ends += u32::from(send.run(&mut model, &state, &scaler).is_ok());
    }
    assert!(ends > 150, "{ends}");
}

/// The sampler of sample_unorm: no levels.
fn plain(linear: bool, wrap: Wrap) -> SamplerState {
    SamplerState {
        mip_mode_filter: SamplerStateMipModeFilter::NONE,
        tcx_address_control_mode: wrap,
        tcy_address_control_mode: wrap,
        ..sampler(linear)
    }
}

/// The dwords of sample_unorm's payload. The one of pixel shaders is in 003:4161-4181.
fn unorm_payload(media: bool, start: [f32; 2], step: [f32; 2]) -> [u32; 8] {
    if media {
        return SampleUnormMessagePayload {
            u: start[0],
            v: start[1],
            delta_u: step[0],
            delta_v: step[1],
        }
        .pack();
    }
    let [delta_u, delta_v] = step.map(f32::to_bits);
    [delta_u, 0, start[0].to_bits(), 0, 0, delta_v, start[1].to_bits(), 0]
}

/// sample_unorm: 8 x 4 pixels at U + x * Delta U, V + y * Delta V (003:4065). Oracle for a pixel:
/// the reference of the other sample messages.
#[test]
fn unorm() {
    let (mut model, mut random) = (model(), Random::new(85));
    for round in 0..80 {
        let tiling = [Tiling::Linear, Tiling::X, Tiling::Y][round % 3];
        let format = [SurfaceFormat::R8G8B8A8_UNORM, SurfaceFormat::B8G8R8A8_UNORM][round % 2];
        let extent = [0; 2].map(|_| 1 + random.below(40) as u32);
        let texture = Texture::plain(&mut random, format, 4, tiling, extent, 1);
        texture.put(&mut model);
        let wrap = [Wrap::WRAP, Wrap::CLAMP][random.below(2) as usize];
        let state = plain(random.below(2) == 0, wrap);
        let reference = Filter::of(&state, [0.0; 4]);
        let mut part = |reach: f64| (random.below(1 << 10) as f64 / 1024.0 * reach) as f32;
        let (start, step) = ([part(1.0), part(1.0)], [part(0.1), part(0.1)]);
        let header = header(&mut random, 32);
        let (expected, back) = response(&header, 32, |channel, pixel| {
            let at = [(pixel % 8) as f64, (pixel / 8) as f64];
            let [u, v] = [0, 1].map(|n| f64::from(start[n]) + f64::from(step[n]) * at[n]);
            let color = reference.sample(&texture, 0, [u, v, 0.0], 0);
            (color[channel] * f64::from(0xff00) + 0.5) as u16
        });
        let media = random.below(2) == 0;
        let send = Send {
            kind: if media { 0x0c } else { 0x00 },
            header: Some(header),
            sampler: 0,
            payload: unorm_payload(media, start, step),
            back,
        };
        let found = send.run(&mut model, &texture.state().pack(), &state.pack()).unwrap();
        // The reference and the model round sums of other precision.
        let small = header.output_format_control.bits() >= 2;
        let values = |bytes: &[u8]| -> Vec<i32> {
            match small {
                true => bytes.iter().map(|&byte| byte.into()).collect(),
                false => bytes
                    .chunks_exact(2)
                    .map(|word| u16::from_le_bytes([word[0], word[1]]).into())
                    .collect(),
            }
        };
        let (found, expected) = (values(&found), values(&expected));
        let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1);
        assert!(near, "round {round} {header:?}: {found:?} for {expected:?}");
    }
}

/// sample_unorm+killpix returns the mask of pixels that the chroma key did not kill.
#[test]
fn kills() {
    let (mut model, mut random) = (model(), Random::new(86));
    let texture =
        Texture::plain(&mut random, SurfaceFormat::R8G8B8A8_UNORM, 4, Tiling::Linear, [8, 4], 1);
    texture.put(&mut model);
    let key = ThreeDStateChromaKey {
        chroma_key_table_index: u(1),
        chroma_key_low_value: u(0),
        chroma_key_high_value: u(0xff7f_ffff),
    };
    model.render(&packets![key]).unwrap();
    let state = SamplerState {
        chroma_key_enable: true,
        chroma_key_index: u(1),
        chroma_key_mode: SamplerStateChromaKeyMode::KEYFILTER_KILL_ON_ANY_MATCH,
        ..plain(false, Wrap::CLAMP)
    };
    let header = SamplerMessageHeader {
        red_write_channel_mask: true,
        alpha_write_channel_mask: true,
        sampler_state_pointer: at(SAMPLERS),
        ..SamplerMessageHeader::new()
    };
    for media in [false, true] {
        let send = Send {
            kind: if media { 0x0a } else { 0x02 },
            header: Some(header),
            sampler: 0,
            payload: unorm_payload(media, [1.0 / 16.0, 1.0 / 8.0], [1.0 / 8.0, 1.0 / 4.0]),
            back: 5,
        };
        let found = send.run(&mut model, &texture.state().pack(), &state.pack()).unwrap();
        let mask = u32::from_le_bytes(found[4 * 32..4 * 32 + 4].try_into().unwrap());
        for pixel in 0..32 {
            let red = texture.texel(0, 0, pixel % 8, pixel / 8)[0];
            assert_eq!(mask >> pixel & 1 == 1, red * 255.0 > 127.5, "{pixel} {red}");
        }
        assert_eq!(found[4 * 32 + 4..], untouched()[4 * 32 + 4..]);
    }
}

/// Surfaces and samplers that sample_unorm does not support (003:4065).
#[test]
fn unorm_refusals() {
    let (mut model, mut random) = (model(), Random::new(87));
    let mut illegal = |format, bytes, state: SamplerState| {
        let texture = Texture::plain(&mut random, format, bytes, Tiling::Linear, [8, 4], 1);
        let send = Send {
            kind: 0x0c,
            header: None,
            sampler: 0,
            payload: unorm_payload(true, [0.0; 2], [0.0; 2]),
            back: 8,
        };
        match send.run(&mut model, &texture.state().pack(), &state.pack()) {
            Ok(_) => false,
            Err(Fault::IllegalInstruction { .. }) => true,
            Err(other) => panic!("{other}"),
        }
    };
    let good = plain(true, Wrap::WRAP);
    assert!(!illegal(SurfaceFormat::R8G8B8A8_UNORM, 4, good));
    assert!(illegal(SurfaceFormat::R16G16_UNORM, 4, good));
    assert!(illegal(SurfaceFormat::R8G8B8A8_UINT, 4, good));
    assert!(illegal(SurfaceFormat::R8G8B8A8_UNORM, 4, plain(true, Wrap::CLAMP_BORDER)));
    assert!(illegal(SurfaceFormat::R8G8B8A8_UNORM, 4, sampler(true)));
}
