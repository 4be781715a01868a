//! Gamut compression: colours outside the gamut move into it, with their hue.
//!
//! In the plane of a hue, with chroma across and luma upwards, the gamut is a triangle of black,
//! white and a vertex (assumptions `VEBOX_VERTICES_COVER_HALF_A_CIRCLE` and
//! `VEBOX_GAMUT_COMPRESSION_FOLLOWS_LINES`).

use super::number::clip;
use genxml::gen8::vebox_states::{
    VeboxGamutState, VeboxGamutStateFullRangeMappingEnable as Mapping,
    VeboxGamutStateGccBasicModeSelection as Basic, VeboxGamutStateLumaChormaOnlyCorrection as Axis,
    VeboxGamutStateXvYccDecEncEnable as Decode, VeboxVertexTable,
};

/// Vertices of half a circle.
const HUES: usize = 512;
/// Luma of white.
const WHITE: f64 = 4096.0;
/// Grey of chroma in samples of 12 bits.
const GREY: f64 = 2048.0;

/// Luma and chroma of a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// Luma: 0 is black, 4096 is white.
    pub luma: f64,
    /// The distance from grey, in the same unit.
    pub chroma: f64,
}

/// What happens to colours.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Luma and chroma are scaled; colours that are outside then go to the border along lines.
    Lines {
        /// Factor of luma.
        luma: f64,
        /// Factor of chroma.
        chroma: f64,
    },
    /// Colours outside go to the border: their luma changes.
    Luma,
    /// Colours outside go to the border: their chroma changes.
    Chroma,
    /// Colours near the border are compressed into the gamut. Each entry has two lengths, as parts
    /// of the line inside the gamut: what is mapped inside the border, and outside of it. The first
    /// entry is for lines that end at the upper border, the second for the lower border.
    Range([[f64; 2]; 2]),
}

/// The settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Compression {
    /// The vertices of half a circle, and the one that follows.
    vertices: Box<[Color; HUES + 1]>,
    mode: Mode,
    /// How much lines lean: 1 is towards luma of the vertex.
    lean: f64,
    /// Black, and the size of luma and of chroma, in samples of 12 bits.
    range: [f64; 3],
}

impl Compression {
    /// The settings of a state and its vertices.
    pub fn new(s: &VeboxGamutState, table: &VeboxVertexTable) -> Compression {
        let entries = &table.vertex_table_entry;
        let vertices = Box::new(std::array::from_fn(|hue| {
            let entry = &entries[hue % HUES];
            let (luma, chroma) = (entry.lv.get() as f64, entry.cv.get() as f64);
            Color { luma: if hue < HUES { luma } else { WHITE - luma }, chroma }
        }));
        let part = |value: u64| value as f64 / 1024.0;
        let factor = s.basic_mode_scaling_factor.get();
        let mode = match (s.full_range_mapping_enable, s.gcc_basic_mode_selection) {
            (Mapping::ADVANCE_MODE, _) => Mode::Range([
                [part(s.d_in_default.get()), part(s.d_out_default.get())],
                [part(s.d1_in.get()), part(s.d1_out.get())],
            ]),
            (_, Basic::SCALING_FACTOR) => Mode::Lines { luma: factor, chroma: factor },
            (_, Basic::SCALING_FACTOR_WITH_FIXED_LUMA) => Mode::Lines { luma: 1.0, chroma: factor },
            (_, Basic::SINGLE_AXIS_GAMMA_CORRECTION) => {
                match s.luma_chorma_only_correction == Axis::CHORMA_ONLY_CORRECTION {
                    true => Mode::Chroma,
                    false => Mode::Luma,
                }
            }
            _ => Mode::Lines { luma: 1.0, chroma: 1.0 },
        };
        let decodes =
            s.xv_ycc_dec_enc_enable == Decode::BOTH_XV_YCC_DECODE_AND_XV_YCC_ENCODE_ARE_ENABLED;
        Compression {
            vertices,
            mode,
            lean: 1.0 / f64::from(1_u32 << s.compression_line_shift.get()),
            range: if decodes { [256.0, 3504.0, 3584.0] } else { [0.0, WHITE, WHITE] },
        }
    }

    /// The vertex of the hue of U and V.
    fn vertex(&self, u: f64, v: f64) -> Color {
        let turn = libm::atan2(v, u) * (HUES as f64 / std::f64::consts::PI);
        // The other half is opposite: the same chroma, and luma seen from white.
        let (at, opposite) = if turn < 0.0 { (turn + HUES as f64, true) } else { (turn, false) };
        let hue = (at as usize).min(HUES - 1);
        let [first, second] = [self.vertices[hue], self.vertices[hue + 1]];
        let way = at - hue as f64;
        let mix = |first: f64, second: f64| first + (second - first) * way;
        let luma = mix(first.luma, second.luma);
        Color {
            luma: if opposite { WHITE - luma } else { luma },
            chroma: mix(first.chroma, second.chroma),
        }
    }

    /// The result for a pixel, and its distance from the gamut in units of 12 bits if it is
    /// outside.
    pub fn pixel(&self, pixel: [u16; 3]) -> ([u16; 3], Option<u32>) {
        let [black, luma_size, chroma_size] = self.range;
        let [y, u, v] = pixel.map(f64::from);
        let (u, v) = ((u - GREY) * (WHITE / chroma_size), (v - GREY) * (WHITE / chroma_size));
        let color =
            Color { luma: (y - black) * (WHITE / luma_size), chroma: libm::sqrt(u * u + v * v) };
        let vertex = self.vertex(u, v);
        let result = self.color(color, vertex);
        let outside = (!is_inside(color, vertex)).then(|| {
            let border = to_border(color, vertex, self.lean);
            let (luma, chroma) = (color.luma - border.luma, color.chroma - border.chroma);
            libm::round(libm::sqrt(luma * luma + chroma * chroma)) as u32
        });
        if result == color {
            return (pixel, outside);
        }
        let scale = if color.chroma > 0.0 { result.chroma / color.chroma } else { 0.0 };
        let sample = |value: f64| clip(libm::floor(value + 0.5) as i32);
        let chroma = |value: f64| sample(value * scale * (chroma_size / WHITE) + GREY);
        let result = [sample(result.luma * (luma_size / WHITE) + black), chroma(u), chroma(v)];
        (result, outside)
    }

    /// The result for a colour of a hue with a vertex.
    pub fn color(&self, color: Color, vertex: Color) -> Color {
        match self.mode {
            Mode::Lines { luma, chroma } => {
                let scaled = Color { luma: color.luma * luma, chroma: color.chroma * chroma };
                match is_inside(scaled, vertex) {
                    true => scaled,
                    false => to_border(scaled, vertex, self.lean),
                }
            }
            _ if matches!(self.mode, Mode::Luma | Mode::Chroma) && is_inside(color, vertex) => {
                color
            }
            Mode::Luma => {
                // The part of the vertex's chroma gives the range of luma.
                let chroma = color.chroma.min(vertex.chroma);
                let part = if vertex.chroma > 0.0 { chroma / vertex.chroma } else { 0.0 };
                let (least, most) = (vertex.luma * part, WHITE - (WHITE - vertex.luma) * part);
                Color { luma: color.luma.max(least).min(most), chroma }
            }
            Mode::Chroma => to_border(color, vertex, 0.0),
            Mode::Range(parts) => {
                let Line { anchor, border, lower } = line(color, vertex, self.lean);
                let [inside, outside] = parts[usize::from(lower)];
                let (inner, outer) = (border * (1.0 - inside), border * (1.0 + outside));
                let way = match () {
                    () if inner >= 1.0 => return color,
                    () if outer <= 1.0 => border,
                    () => inner + (1.0 - inner) * (border - inner) / (outer - inner),
                };
                along(color, anchor, way)
            }
        }
    }
}

/// True if a colour is in the triangle.
fn is_inside(color: Color, vertex: Color) -> bool {
    let Color { luma, chroma } = color;
    (0.0..=WHITE).contains(&luma)
        && chroma * vertex.luma <= luma * vertex.chroma
        && chroma * (WHITE - vertex.luma) <= (WHITE - luma) * vertex.chroma
}

/// A line from a grey to a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    /// Luma of the grey.
    anchor: f64,
    /// Where the line leaves the triangle. The grey is at 0 and the colour is at 1.
    border: f64,
    /// It leaves at the lower border.
    lower: bool,
}

/// The line of a colour. It leans towards luma of the vertex.
fn line(color: Color, vertex: Color, lean: f64) -> Line {
    let Color { luma, chroma } = color;
    let part = if chroma < vertex.chroma { chroma / vertex.chroma } else { 1.0 };
    let part = if chroma > 0.0 { part } else { 0.0 };
    let anchor = (luma + (vertex.luma - luma) * part * lean).clamp(0.0, WHITE);
    let rise = (luma - anchor) * vertex.chroma;
    let cut = |room: f64, speed: f64| match speed > 0.0 {
        true => room * vertex.chroma / speed,
        false => f64::INFINITY,
    };
    let lower = cut(anchor, chroma * vertex.luma - rise);
    let upper = cut(WHITE - anchor, chroma * (WHITE - vertex.luma) + rise);
    Line { anchor, border: lower.min(upper), lower: lower < upper }
}

/// The point of the line of a colour where it leaves the triangle.
fn to_border(color: Color, vertex: Color, lean: f64) -> Color {
    let line = line(color, vertex, lean);
    along(color, line.anchor, line.border.min(1.0))
}

/// A point between a grey and a colour.
fn along(color: Color, anchor: f64, way: f64) -> Color {
    Color { luma: anchor + (color.luma - anchor) * way, chroma: color.chroma * way }
}

#[cfg(test)]
mod tests;
