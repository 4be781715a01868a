//! The sampler in plain doubles, from the text of 003 chapter 4. Coordinates in the tests have few
//! significant bits, so that only the last sum is rounded.

use crate::sampler::texture::{Kind, Texture};
use genxml::gen8::state::{SamplerState, TextureCoordinateMode as Wrap};

/// A colour.
pub type Color = [f64; 4];

/// How to sample one level.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// True if two texels in each direction contribute, not only one.
    pub linear: bool,
    /// True if coordinates U, V and R are rounded rather than truncated to 1/256 texel.
    pub round: [bool; 3],
    pub wrap: [Wrap; 3],
    pub normalized: bool,
    pub offset: [i32; 3],
    pub border: Color,
}

impl Filter {
    /// The filter of a sampler for magnification, without filtering between levels.
    pub fn of(state: &SamplerState, border: Color) -> Filter {
        Filter {
            linear: state.mag_mode_filter.bits() == 1,
            round: [
                state.u_address_mag_filter_rounding_enable,
                state.v_address_mag_filter_rounding_enable,
                state.r_address_mag_filter_rounding_enable,
            ],
            wrap: [
                state.tcx_address_control_mode,
                state.tcy_address_control_mode,
                state.tcz_address_control_mode,
            ],
            normalized: !state.non_normalized_coordinate_enable,
            offset: [0; 3],
            border,
        }
    }

    /// The texels in one direction that contribute, with their weights. `None` stands for the
    /// border colour.
    fn texels(&self, direction: usize, coordinate: f64, size: u32) -> Vec<(Option<u32>, f64)> {
        let (size, wrap) = (f64::from(size), self.wrap[direction]);
        let mut place = if self.normalized { coordinate * size } else { coordinate };
        // "the absolute value of the texture coordinate component is first taken"
        if wrap == Wrap::MIRROR_ONCE {
            place = (place + f64::from(self.offset[direction])).abs();
        } else {
            place += f64::from(self.offset[direction]);
        }
        if self.round[direction] {
            place += 0.5 / 256.0;
        }
        place = (place * 256.0).floor() / 256.0;
        if wrap == Wrap::HALF_BORDER {
            place = place.clamp(0.0, size);
        }
        let inside = |texel: f64| {
            let texel = match wrap {
                Wrap::WRAP => texel - size * (texel / size).floor(),
                Wrap::MIRROR => {
                    let turn = (texel / size).floor();
                    let within = texel - size * turn;
                    if turn.rem_euclid(2.0) == 0.0 { within } else { size - 1.0 - within }
                }
                Wrap::CLAMP | Wrap::MIRROR_ONCE | Wrap::CUBE => texel.clamp(0.0, size - 1.0),
                // OpenGL's CLAMP uses the texel at the edge for NEAREST.
                Wrap::HALF_BORDER if !self.linear => texel.clamp(0.0, size - 1.0),
                _ => texel,
            };
            (texel >= 0.0 && texel < size).then_some(texel as u32)
        };
        if !self.linear {
            return vec![(inside(place.floor()), 1.0)];
        }
        let place = place - 0.5;
        let share = place - place.floor();
        vec![(inside(place.floor()), 1.0 - share), (inside(place.floor() + 1.0), share)]
    }

    /// A sample of a level; `layer` is the array layer. Not for cube maps.
    pub fn sample(&self, texture: &Texture, level: u32, [u, v, r]: [f64; 3], layer: u32) -> Color {
        let [width, height, depth] = texture.size(level);
        let line = vec![(Some(0), 1.0)];
        let xs = self.texels(0, u, width);
        let ys = match texture.kind {
            Kind::One | Kind::OneArray => line.clone(),
            _ => self.texels(1, v, height),
        };
        let zs = if texture.kind == Kind::Three { self.texels(2, r, depth) } else { line };
        let mut sum = [0.0; 4];
        for &(z, wz) in &zs {
            for &(y, wy) in &ys {
                for &(x, wx) in &xs {
                    let color = match (x, y, z) {
                        (Some(x), Some(y), Some(z)) => texture.texel(level, layer + z, x, y),
                        _ => self.border,
                    };
                    (0..4).for_each(|n| sum[n] += wx * wy * wz * color[n]);
                }
            }
        }
        sum
    }
}

/// True if each channel of a result is close to the expected value: the error is at most 3e-7, or
/// 3e-7 times the value if that is larger.
pub fn near(found: [u32; 4], expected: Color) -> bool {
    found.iter().zip(expected).all(|(found, expected)| {
        let error = (f64::from(f32::from_bits(*found)) - expected).abs();
        error <= 3e-7 * expected.abs().max(1.0)
    })
}
