//! Pictures for sample_8x8. Bytes of channels are counted by hand.

use crate::sampler::SURFACE;
use genxml::gen8::media::{
    MediaSurfaceState, MediaSurfaceStateAddressControl as Address,
    MediaSurfaceStateSurfaceFormat as Surface, MediaSurfaceStateTileMode as Tiles,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{Random, at, u};
use genxml_core::{MinusOne, UFix};

/// Bytes of the memory of pictures.
pub const BYTES: usize = 1 << 17;

/// A picture in memory. Channels are numbered red (Cr), green (Y), blue (Cb), alpha.
pub struct Picture {
    pub memory: Vec<u8>,
    pub state: MediaSurfaceState,
    pub tiling: Tiling,
}

impl Picture {
    pub fn random(random: &mut Random, format: Surface) -> Picture {
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
    pub fn has_luma(&self) -> bool {
        let format = self.state.surface_format;
        format.bits() <= 4 || [Surface::Y8_UNORM, Surface::A8Y8U8V8_UNORM].contains(&format)
    }

    /// Pixels of the picture for each pixel of a channel.
    pub fn every(&self, channel: usize) -> [i64; 2] {
        match self.state.surface_format.bits() {
            0..=3 if channel != 1 => [2, 1],
            4 if channel != 1 => [2, 2],
            _ => [1, 1],
        }
    }

    /// A channel of a pixel in 1/65536, where `x` and `y` count the channel's own pixels; `None` if
    /// the format lacks the channel.
    pub fn value(&self, channel: usize, x: i64, y: i64) -> Option<i64> {
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
pub const FORMATS: [Surface; 13] = [
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
