//! The video analytics functions of sample_8x8.
//!
//! Oracle: the definitions of the functions for a single pixel, with pixels that are addressed by
//! hand. The layouts of responses are those of intel/cm-compiler's language specification, 4.9.
//! What these sources leave open is in the list of assumptions, area analytics.

mod blocks;
mod filters;
mod masks;
mod refusals;

use crate::sampler::media::{Send, untouched};
use crate::sampler::{SAMPLERS, SURFACE};
use genxml::eu::gen8::eu_payloads::{
    Sample8x8CentroidSizes, Sample8x8MessagePayload, Sample8x8MessagePayloadFunction as Function,
    Sample8x8MessagePayloadMmfMode as Extremes, SamplerMessageHeader,
    SamplerMessageHeaderOutputFormatControl as Format,
};
use genxml::gen8::media::{
    MediaSurfaceState, MediaSurfaceStateAddressControl as Address,
    MediaSurfaceStateSurfaceFormat as Surface, MediaSurfaceStateTileMode as Tiles,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Model, Random, at, u};
use genxml_core::MinusOne;
use genxml_sim::Fault;

pub use filters::KERNELS;
pub use masks::{MASKS, pack};

/// Bytes of the memory of pictures.
const BYTES: usize = 1 << 16;
/// Formats with numbers.
pub const NUMBERS: [Surface; 3] = [Surface::Y8_UNORM_VA, Surface::Y16_SNORM, Surface::Y16_UNORM_VA];

/// A picture with one channel in memory.
pub struct Gray {
    pub memory: Vec<u8>,
    pub state: MediaSurfaceState,
    tiling: Tiling,
}

impl Gray {
    pub fn random(random: &mut Random, format: Surface) -> Gray {
        let (tiling, tile_mode) = random.pick(&[
            (Tiling::Linear, Tiles::TILEMODE_LINEAR),
            (Tiling::X, Tiles::TILEMODE_XMAJOR),
            (Tiling::Y, Tiles::TILEMODE_YMAJOR),
        ]);
        let stride = random.below(2);
        let width = match format {
            Surface::Y1_UNORM => 32 * (1 + random.below(4)),
            _ => 4 * (1 + random.below(12)),
        };
        let state = MediaSurfaceState {
            surface_format: format,
            width: MinusOne::new(width).unwrap(),
            height: MinusOne::new(1 + random.below(24)).unwrap(),
            tile_mode,
            surface_pitch: MinusOne::new(512).unwrap(),
            address_control: Address::from_bits(random.below(2)),
            x_offset_for_u_cb: u(random.below(40)),
            y_offset_for_u_cb: u(random.below(12)),
            vertical_line_stride: u(stride),
            vertical_line_stride_offset: u(stride * random.below(2)),
            surface_base_address: at(SURFACE),
            ..MediaSurfaceState::new()
        };
        // Some pictures have few dark or few bright parts, so that erosion leaves some.
        let memory = match random.below(3) {
            0 => random.bytes(BYTES),
            1 => random.bytes(BYTES).iter().map(|&byte| byte & (byte << 3) & (byte >> 1)).collect(),
            _ => random.bytes(BYTES).iter().map(|&byte| byte | byte << 2 | byte >> 3).collect(),
        };
        Gray { memory, state, tiling }
    }

    pub fn size(&self) -> [i64; 2] {
        [self.state.width.get() as i64, self.state.height.get() as i64]
    }

    /// The pixel in column `x` of row `y`, also beyond the edges.
    pub fn at(&self, x: i64, y: i64) -> i64 {
        let fold = |mut at: i64, size: i64| {
            if self.state.address_control == Address::CLAMP {
                return at.clamp(0, size - 1) as u64;
            }
            while !(0..size).contains(&at) {
                at = if at < 0 { -1 - at } else { 2 * size - 1 - at };
            }
            at as u64
        };
        let [x, y] = [fold(x, self.size()[0]), fold(y, self.size()[1])];
        let state = &self.state;
        let column = state.x_offset_for_u_cb.get() + x;
        let line = state.y_offset_for_u_cb.get()
            + if state.vertical_line_stride.get() == 1 {
                2 * y + state.vertical_line_stride_offset.get()
            } else {
                y
            };
        let byte = |byte: u64| self.memory[self.tiling.offset(byte, line, 512) as usize];
        let word = || [byte(2 * column), byte(2 * column + 1)];
        match state.surface_format {
            Surface::Y1_UNORM => i64::from(byte(column / 8)) / (1 << (column % 8)) % 2,
            Surface::Y8_UNORM_VA => byte(column).into(),
            Surface::Y16_SNORM => i16::from_le_bytes(word()).into(),
            Surface::Y16_UNORM_VA => u16::from_le_bytes(word()).into(),
            other => panic!("{other:?}"),
        }
    }

    /// A position near the picture: the pixel, and its U and V.
    pub fn place(&self, random: &mut Random) -> ([i64; 2], [f32; 2]) {
        let place = self.size().map(|size| random.below(size as u64 + 60) as i64 - 30);
        // Drivers name the start or the middle of a pixel.
        let part = random.pick(&[0.0, 0.25, 0.5]);
        let relative = [0, 1].map(|n| (place[n] as f32 + part) / self.size()[n] as f32);
        (place, relative)
    }
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub function: Function,
    pub place: [f32; 2],
    pub sequence: u64,
    pub extremes: Extremes,
    pub output: Format,
    /// Width and height in the first dword.
    pub sizes: [u64; 2],
    pub sampler: u64,
    /// Number of response registers.
    pub back: usize,
}

impl Ask {
    pub fn new(function: Function, place: [f32; 2], back: usize) -> Ask {
        Ask {
            function,
            place,
            sequence: 0,
            extremes: Extremes::BOTH,
            output: Format::_16_BIT_FULL,
            sizes: [0, 0],
            sampler: 0,
            back,
        }
    }

    pub fn payload(&self) -> Sample8x8MessagePayload {
        let sizes = Sample8x8CentroidSizes {
            horizontal_size: u(self.sizes[0]),
            vertical_size: u(self.sizes[1]),
        };
        Sample8x8MessagePayload {
            function: self.function,
            sequence: u(self.sequence),
            mmf_mode: self.extremes,
            u: self.place[0],
            v: self.place[1],
            second_derivative_v: f32::from_bits(sizes.pack()[0]),
            ..Sample8x8MessagePayload::new()
        }
    }

    pub fn header(&self) -> SamplerMessageHeader {
        SamplerMessageHeader {
            output_format_control: self.output,
            red_write_channel_mask: true,
            blue_write_channel_mask: true,
            alpha_write_channel_mask: true,
            sampler_state_pointer: at(SAMPLERS),
            ..SamplerMessageHeader::new()
        }
    }

    pub fn send(&self) -> Send {
        Send {
            kind: 0x0b,
            header: Some(self.header()),
            sampler: self.sampler,
            payload: self.payload().pack(),
            back: self.back,
        }
    }

    /// Sends the message for a picture whose pixels are in memory.
    pub fn run(&self, model: &mut Model, gray: &Gray, samplers: &[u32]) -> Result<Vec<u8>, Fault> {
        self.send().run(model, &gray.state.pack(), samplers)
    }
}

/// The offsets of a kernel's first pixel from the pixel of the result.
pub fn first(size: [usize; 2]) -> [i64; 2] {
    size.map(|size| -((size as i64 - 1) / 2))
}

/// Compares the bytes of all registers after the message: those of `parts` at their offsets, and
/// what was there before elsewhere.
#[track_caller]
pub fn compare(found: &[u8], parts: &[(usize, Vec<u8>)], what: &dyn std::fmt::Debug) {
    let mut expected = untouched();
    for (at, bytes) in parts {
        expected[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    let wrong: Vec<usize> = (0..found.len()).filter(|&n| found[n] != expected[n]).collect();
    assert!(wrong.is_empty(), "bytes {wrong:?} of {what:?}: {found:?} for {expected:?}");
}

/// The bytes of a word.
pub fn word(value: i64) -> Vec<u8> {
    (value as u16).to_le_bytes().to_vec()
}
