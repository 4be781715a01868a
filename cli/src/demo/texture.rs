//! A tiled floor in perspective: one quad without a vertex shader, and a texture whose mip levels
//! the sampler blends. Each level has its own colour and shows its number, so that the picture
//! shows which level the sampler uses where.

use super::initial::{self, BUFFERS, HEAPS};
use genxml::batch::{Buffer, Submission};
use genxml::gen8::enums::ThreeDPrimTopoType;
use genxml::gen8::render3d_binding::*;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::render3d_stages::{SamplerCount, VectorMaskEnable};
use genxml::gen8::state::{SurfaceFormat, TextureCoordinateMode};
use genxml::setup::{self, Draw, Filter, Heaps, Surface, element};
use genxml::{batch, eu};
use std::error::Error;

/// Width and height of the picture in pixels.
pub const SIZE: u32 = 256;

const BACKGROUND: [u8; 4] = [120, 170, 220, 255];

/// The corners of the floor: x, y, z and w in clip space, then the texture coordinates. The floor
/// starts at the lower edge of the picture, 1 away from the eye, and ends 40 away. At the lower
/// edge, a tile is as wide as the picture.
const VERTICES: [[f32; 6]; 4] = [
    [-24.0, -1.0, 0.0, 1.0, -11.5, 0.0],
    [24.0, -1.0, 0.0, 1.0, 12.5, 0.0],
    [-24.0, 22.4, 39.0, 40.0, -11.5, 31.2],
    [24.0, 22.4, 39.0, 40.0, 12.5, 31.2],
];

/// The pixel shader, for sixteen pixels at a time. r2 to r5 have the barycentric coordinates of the
/// pixels, and r6 has the planes of the texture coordinates u and v. The sampler gets u in r10 and
/// r11, and v in r12 and r13. Its response, two registers for each channel, goes to the render
/// target.
const PIXEL: &[u32] = &eu! {
    pln (16|M0)      r10.0<1>:f  r6.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (16|M0)      r12.0<1>:f  r6.4<0;1,0>:f  r2.0<8;8,1>:f
    send (16|M0)     r112  r10  MessageDescriptorSamplingEngine {
        message_type: SAMPLE, simd_mode_1_0: SIMD16, binding_table_index: 1, message_length: 4,
        response_length: 8,
    }
    sendc (16|M0)    null  r112  MsdRtw {
        message_type: MT_RTW, message_subtype: SIMD16, last_render_target_select: true,
        message_length: 8,
    } {EOT}
};

/// Width and height of level 0 in texels.
const TEXTURE: usize = 128;
/// Number of levels, down to one texel.
const LEVELS: usize = 8;
const TEXEL: usize = 4;
const PITCH: usize = TEXTURE * TEXEL;
/// Number of rows of all levels together.
const ROWS: usize = 196;

/// A colour for each level.
const COLORS: [[u8; 3]; LEVELS] = [
    [220, 70, 60],
    [235, 150, 50],
    [225, 215, 70],
    [90, 190, 80],
    [60, 180, 190],
    [70, 110, 220],
    [150, 90, 210],
    [215, 100, 170],
];

/// Digits of 3 x 5 dots. Each three bits are a row, from the top row down.
const DIGITS: [u16; LEVELS] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b111_001_111_100_111,
    0b111_001_111_001_111,
    0b101_101_111_001_001,
    0b111_100_111_001_111,
    0b111_100_111_101_111,
    0b111_001_010_010_010,
];

/// The texel of a level: the level's colour in two shades and, if there is room, a black frame and
/// the level's number in white. `v` increases upward.
fn texel(level: usize, u: usize, v: usize) -> [u8; 4] {
    let size = TEXTURE >> level;
    let (x, y) = (16 * u / size, 16 * (size - 1 - v) / size);
    let dot = |x: usize, y: usize| DIGITS[level] >> (14 - 3 * y - x) & 1 == 1;
    let [red, green, blue] = match (x, y) {
        (5..11, 3..13) if size >= 16 && dot((x - 5) / 2, (y - 3) / 2) => [255; 3],
        _ if size >= 16 && (x == 0 || y == 0) => [20; 3],
        _ if size < 16 || (x / 8 + y / 8) % 2 == 0 => COLORS[level],
        _ => COLORS[level].map(|value| value / 4 * 3),
    };
    [red, green, blue, 255]
}

/// Start of a level, in texels. Level 1 is below level 0. The other levels are to the right of
/// level 1, one below the other, each aligned to four rows.
fn origin(level: usize) -> (usize, usize) {
    match level {
        0 => (0, 0),
        1 => (0, TEXTURE),
        _ => {
            let above = (2..level).map(|level| (TEXTURE >> level).next_multiple_of(4));
            (TEXTURE / 2, TEXTURE + above.sum::<usize>())
        }
    }
}

fn texture() -> Vec<u8> {
    let mut bytes = vec![0; PITCH * ROWS];
    for level in 0..LEVELS {
        let (size, (left, top)) = (TEXTURE >> level, origin(level));
        for (v, u) in (0..size).flat_map(|v| (0..size).map(move |u| (v, u))) {
            let at = (top + v) * PITCH + (left + u) * TEXEL;
            bytes[at..at + TEXEL].copy_from_slice(&texel(level, u, v));
        }
    }
    bytes
}

/// The batch with everything that it points to.
///
/// # Errors
/// None in practice: all values fit.
pub fn submission() -> Result<Submission, Box<dyn Error>> {
    let mut heaps = Heaps::new(HEAPS)?;
    let (picture, target) = initial::target(&mut heaps, SIZE, BACKGROUND)?;
    let vertices = Buffer::with_values("vertices", BUFFERS, VERTICES.as_flattened())?;
    let texture = Buffer::with_values("texture", BUFFERS + 0x10_0000, &texture())?;
    let size = TEXTURE as u32;
    let map = Surface {
        levels: LEVELS as u32,
        ..Surface::image(SurfaceFormat::R8G8B8A8_UNORM, size, size)
    };
    let map = heaps.surface(&texture, &map)?;
    // The sampler filters linearly within a level and between two levels, and repeats the texture.
    let sampler = setup::sampler(Filter::Trilinear, TextureCoordinateMode::WRAP);
    let draw = Draw {
        // Without a vertex shader, the elements are its output: header (0, 0, 0 and 1, the width
        // of points), position, attribute.
        elements: vec![
            element(SurfaceFormat::R32G32B32A32_FLOAT, 0, 0)?,
            element(SurfaceFormat::R32G32B32A32_FLOAT, 4, 0)?,
            element(SurfaceFormat::R32G32_FLOAT, 2, 16)?,
        ],
        attributes: 1,
        ..Draw::new(ThreeDPrimTopoType::_3DPRIM_TRISTRIP, &vertices, 24, 4, PIXEL)
    };

    let mut batch = initial::begin(&mut heaps, SIZE)?;
    draw.fetch(&mut batch)?;
    draw.interpolation(&mut batch)?;
    // `Draw` is for shaders of eight pixels; this one has sixteen.
    let table = heaps.surfaces.binding_table(&[target, map])?;
    let samplers = heaps.dynamic.samplers(&[sampler])?;
    let pixel = heaps.instructions.kernel(PIXEL)?;
    batch! { batch =>
        ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table };
        ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: samplers };
        ThreeDStatePs {
            kernel_start_pointer_0: pixel,
            _16_pixel_dispatch_enable: true,
            // Pixels outside of the floor also compute coordinates, because the level of detail is
            // computed from the differences between neighbours.
            vector_mask_enable: VectorMaskEnable::VMASK,
            maximum_number_of_threads_per_psd: 62,
            binding_table_entry_count: 2,
            sampler_count: SamplerCount::_1_4_SAMPLERS,
            dispatch_grf_start_register_for_constant_setup_data_0: 6,
            ..
        };
        draw.primitive();
    }?;
    initial::finish(heaps, batch, [picture, vertices, texture])
}
