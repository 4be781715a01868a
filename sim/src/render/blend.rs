//! Blending: combines source and destination colours of sixteen pixels at once (2d p.35-40).
//!
//! Colours are floats, a row of sixteen for each channel, so that every step is a loop over a row.

use super::logic_op::LogicOp;
use crate::assumptions::{
    BLEND_FACTOR_ZERO_DROPS_ITS_OPERAND, CLAMP_TO_A_FLOAT_FORMAT_KEEPS_INFINITY,
    LOGIC_OPERATIONS_SKIP_FLOATS_AND_SRGB,
};
use crate::surface::format::{Channel, Encoding, Format, Letter, Numeric};
use crate::unit::render_cache::SLOTS;
use genxml::gen8::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction as Function,
};
use genxml::gen8::render3d_pixel::{
    BlendState, BlendStateEntry, BlendStateEntryColorClampRange as ClampRange, ColorCalcState,
};

/// One channel of all sixteen slots: each slot is a pixel of a message.
pub type Lanes = [f32; SLOTS];

/// Red, green, blue and alpha of all sixteen slots.
pub type Colors = [Lanes; 4];

/// How source and destination are combined, for colour or for alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Equation {
    /// The factor of the source colour.
    pub source: Factor,
    /// The factor of the destination colour.
    pub destination: Factor,
    /// How the products are combined.
    pub function: Function,
}

impl Equation {
    /// True if the result can depend on the destination.
    pub fn reads_destination(&self) -> bool {
        let looks = |factor| {
            matches!(
                factor,
                Factor::BLENDFACTOR_DST_ALPHA
                    | Factor::BLENDFACTOR_DST_COLOR
                    | Factor::BLENDFACTOR_SRC_ALPHA_SATURATE
                    | Factor::BLENDFACTOR_INV_DST_ALPHA
                    | Factor::BLENDFACTOR_INV_DST_COLOR
            )
        };
        ignores_factors(self.function)
            || self.destination != Factor::BLENDFACTOR_ZERO
            || looks(self.source)
    }

    /// True if the second colour of the shader is used.
    fn reads_second(&self) -> bool {
        let second = |factor| {
            matches!(
                factor,
                Factor::BLENDFACTOR_SRC1_COLOR
                    | Factor::BLENDFACTOR_SRC1_ALPHA
                    | Factor::BLENDFACTOR_INV_SRC1_COLOR
                    | Factor::BLENDFACTOR_INV_SRC1_ALPHA
            )
        };
        second(self.source) || second(self.destination)
    }
}

/// Least and greatest value of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    /// The least value.
    pub least: f32,
    /// The greatest value.
    pub greatest: f32,
    /// True if NaN becomes 0.
    pub numbers: bool,
}

impl Range {
    const UNORM: Range = Range { least: 0.0, greatest: 1.0, numbers: true };
    const SNORM: Range = Range { least: -1.0, greatest: 1.0, numbers: true };
    const FLOAT: Range =
        Range { least: f32::NEG_INFINITY, greatest: f32::INFINITY, numbers: false };
    const POSITIVE: Range = Range { least: 0.0, ..Range::FLOAT };

    /// The range of a channel of a format. Float channels with a sign hold all floats, those
    /// without a sign only floats from 0 on.
    fn of(format: &Format, channel: usize) -> Range {
        let letters: &[Letter] = match channel {
            0 => &[Letter::R, Letter::L, Letter::I],
            1 => &[Letter::G, Letter::L, Letter::I],
            2 => &[Letter::B, Letter::L, Letter::I],
            _ => &[Letter::A, Letter::I],
        };
        let found = format.channels().iter().find(|channel| letters.contains(&channel.letter));
        match found.or(format.channels().first()).map(|channel| (channel.encoding, channel.bits)) {
            Some((Encoding::Unorm, _)) => Range::UNORM,
            Some((Encoding::Snorm, _)) => Range::SNORM,
            // R11G11B10_FLOAT has no alpha. It counts as a 16-bit float (2d p.38), with a sign.
            Some((Encoding::Float, 10 | 11)) if channel < 3 => Range::POSITIVE,
            Some((Encoding::Float, 10 | 11)) if !CLAMP_TO_A_FLOAT_FORMAT_KEEPS_INFINITY => {
                Range { least: -65504.0, greatest: 65504.0, numbers: false }
            }
            _ => Range::FLOAT,
        }
    }

    #[inline(always)]
    fn clamp(self, lanes: &mut Lanes) {
        if self == Range::FLOAT {
            return;
        }
        for value in lanes {
            let number = if self.numbers && value.is_nan() { 0.0 } else { *value };
            let number = if number < self.least { self.least } else { number };
            *value = if number > self.greatest { self.greatest } else { number };
        }
    }
}

/// Blending of one render target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Blend {
    /// The blending of colour and of alpha, if enabled.
    equations: Option<[Equation; 2]>,
    /// Clamp the source before blending.
    clamps_sources: bool,
    /// Clamp the destination before blending.
    clamps_destination: bool,
    /// Clamp the result.
    clamps_result: bool,
    ranges: [Range; 4],
    alpha_to_one: bool,
    constant: [f32; 4],
    /// The logic operation on elements, if there is one.
    pub logic: Option<LogicOp>,
    /// Channels that are written: red, green, blue and alpha from the lowest bit up.
    pub channels: u8,
    /// Colours are dithered, with these offsets of columns and rows.
    pub dither: Option<[u32; 2]>,
}

/// Blending of a render target as state describes it, whatever the target's format is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Blending {
    /// The blending of colour and of alpha, if enabled.
    pub equations: Option<[Equation; 2]>,
    /// The range of clamps.
    pub range: ClampRange,
    /// Clamp source, destination and constant before blending.
    pub clamps_all: bool,
    /// Clamp the source before blending.
    pub clamps_source: bool,
    /// Clamp the result of blending.
    pub clamps_result: bool,
    /// Alpha of the source counts as 1.
    pub alpha_to_one: bool,
    /// Red, green, blue and alpha of the blend constant.
    pub constant: [f32; 4],
    /// The logic operation, if there is one. Then nothing is blended.
    pub logic: Option<LogicOp>,
    /// Channels that are written: red, green, blue and alpha from the lowest bit up.
    pub channels: u8,
    /// Colours are dithered, with these offsets of columns and rows.
    pub dither: Option<[u32; 2]>,
}

impl Blending {
    /// Blending of the render target of entry `index` (0 to 7) of BLEND_STATE.
    pub fn of(state: &BlendState, index: usize, constants: &ColorCalcState) -> Blending {
        let entry = &state.entry[index & 7];
        let offsets = [state.x_dither_offset.get() as u32, state.y_dither_offset.get() as u32];
        Blending {
            equations: (entry.color_buffer_blend_enable && !entry.logic_op_enable)
                .then(|| equations(state, entry)),
            range: entry.color_clamp_range,
            clamps_all: entry.pre_blend_color_clamp_enable,
            clamps_source: entry.pre_blend_source_only_clamp_enable,
            clamps_result: entry.post_blend_color_clamp_enable,
            alpha_to_one: state.alpha_to_one_enable,
            constant: [
                constants.blend_constant_color_red,
                constants.blend_constant_color_green,
                constants.blend_constant_color_blue,
                constants.blend_constant_color_alpha,
            ],
            logic: entry.logic_op_enable.then(|| LogicOp::of(entry.logic_op_function)),
            channels: u8::from(!entry.write_disable_red)
                | u8::from(!entry.write_disable_green) << 1
                | u8::from(!entry.write_disable_blue) << 2
                | u8::from(!entry.write_disable_alpha) << 3,
            dither: state.color_dither_enable.then_some(offsets),
        }
    }
}

impl Blend {
    /// Blending of a render target whose elements have `format`.
    ///
    /// Integer formats are not blended and not clamped here (2d p.37-39). Logic operations work on
    /// integer and normalized formats, except sRGB.
    pub fn new(blending: &Blending, format: &Format) -> Blend {
        let integers = format.numeric != Numeric::Float;
        let whole = |encoding| {
            matches!(encoding, Encoding::Unorm | Encoding::Snorm | Encoding::Uint | Encoding::Sint)
        };
        let logical = !format.srgb
            && format
                .channels()
                .iter()
                .all(|channel| whole(channel.encoding) || channel.letter == Letter::X);
        let ranges = match blending.range {
            ClampRange::COLORCLAMP_UNORM => [Range::UNORM; 4],
            ClampRange::COLORCLAMP_SNORM => [Range::SNORM; 4],
            _ => [0, 1, 2, 3].map(|channel| Range::of(format, channel)),
        };
        let logical = logical || !LOGIC_OPERATIONS_SKIP_FLOATS_AND_SRGB;
        let equations = blending.equations.filter(|_| !integers);
        let blends = equations.is_some();
        let everything = blending.clamps_all && !integers;
        let sources = everything || blending.clamps_source && !integers;
        // UNORM elements hold only values from 0 to 1. So a value needs no clamp to this range if
        // it was decoded from an element, or if it is encoded next.
        let spare = normalized(format) && ranges == [Range::UNORM; 4];
        let constant = blending.constant;
        let clamped = [0, 1, 2, 3].map(|channel| {
            let mut lanes = [constant[channel]; SLOTS];
            ranges[channel].clamp(&mut lanes);
            lanes[0]
        });
        Blend {
            equations,
            clamps_sources: sources && (blends || !spare),
            clamps_destination: everything && blends && !spare,
            clamps_result: blends && blending.clamps_result && !spare,
            ranges,
            alpha_to_one: blending.alpha_to_one && !integers,
            constant: if everything { clamped } else { constant },
            logic: blending.logic.filter(|_| logical),
            channels: blending.channels,
            dither: blending.dither.filter(|_| !integers),
        }
    }

    /// Blending of the render target of entry `index` (0 to 7) of BLEND_STATE, with elements of
    /// `format`.
    pub fn resolve(
        state: &BlendState,
        index: usize,
        constants: &ColorCalcState,
        format: &Format,
    ) -> Blend {
        Blend::new(&Blending::of(state, index, constants), format)
    }

    /// The blending of colour and of alpha, if enabled.
    pub fn equations(&self) -> Option<[Equation; 2]> {
        self.equations
    }

    /// True if colours are blended.
    pub fn blends(&self) -> bool {
        self.equations.is_some()
    }

    /// True if blending uses the destination.
    pub fn reads_destination(&self) -> bool {
        self.equations.is_some_and(|equations| equations.iter().any(Equation::reads_destination))
    }

    /// True if colours are blended.
    pub fn is_enabled(&self) -> bool {
        self.equations.is_some()
    }

    /// True if blending uses the shader's second colour.
    pub fn reads_second(&self) -> bool {
        self.equations.is_some_and(|equations| equations.iter().any(Equation::reads_second))
    }

    /// Replaces the source colours by the colours to encode. `second` are the second source
    /// colours, if the shader has them.
    ///
    /// Code for vector instructions should inline this function.
    #[inline(always)]
    pub fn apply(&self, source: &mut Colors, second: Option<&Colors>, destination: &Colors) {
        if self.alpha_to_one {
            source[3] = [1.0; SLOTS];
        }
        if self.clamps_sources {
            self.clamp(source);
        }
        let Some(equations) = &self.equations else { return };
        match second {
            Some(second) if self.clamps_sources => {
                let mut second = *second;
                self.clamp(&mut second);
                self.blend(equations, source, &second, destination);
            }
            _ => self.blend(equations, source, second.unwrap_or(&NOTHING), destination),
        }
        if self.clamps_result {
            self.clamp(source);
        }
    }

    #[inline(always)]
    fn clamp(&self, colors: &mut Colors) {
        for (lanes, range) in colors.iter_mut().zip(self.ranges) {
            range.clamp(lanes);
        }
    }

    #[inline(always)]
    fn blend(
        &self,
        [color, alpha]: &[Equation; 2],
        source: &mut Colors,
        second: &Colors,
        destination: &Colors,
    ) {
        let mut clamped;
        let destination = if self.clamps_destination {
            clamped = *destination;
            self.clamp(&mut clamped);
            &clamped
        } else {
            destination
        };
        for channel in 0..4 {
            // The result of a channel depends on this channel and on alpha, so alpha comes last.
            let inputs = Inputs { source, second, destination, constant: &self.constant };
            source[channel] = inputs.combine(if channel < 3 { color } else { alpha }, channel);
        }
    }
}

const NOTHING: Colors = [[0.0; SLOTS]; 4];

/// True if all channels are UNORM or unused (X).
fn normalized(format: &Format) -> bool {
    let unorm =
        |channel: &Channel| channel.encoding == Encoding::Unorm || channel.letter == Letter::X;
    format.channels().iter().all(unorm)
}

fn equations(state: &BlendState, entry: &BlendStateEntry) -> [Equation; 2] {
    let color = Equation {
        source: entry.source_blend_factor,
        destination: entry.destination_blend_factor,
        function: entry.color_blend_function,
    };
    let alpha = Equation {
        source: entry.source_alpha_blend_factor,
        destination: entry.destination_alpha_blend_factor,
        function: entry.alpha_blend_function,
    };
    [color, if state.independent_alpha_blend_enable { alpha } else { color }]
}

/// True for minimum and maximum, which ignore the factors (gen8_facts 9.1).
fn ignores_factors(function: Function) -> bool {
    matches!(function, Function::BLENDFUNCTION_MIN | Function::BLENDFUNCTION_MAX)
}

struct Inputs<'c> {
    source: &'c Colors,
    second: &'c Colors,
    destination: &'c Colors,
    constant: &'c [f32; 4],
}

impl Inputs<'_> {
    #[inline(always)]
    fn combine(&self, equation: &Equation, channel: usize) -> Lanes {
        let (source, destination) = (&self.source[channel], &self.destination[channel]);
        match equation.function {
            Function::BLENDFUNCTION_MIN => each(|n| source[n].min(destination[n])),
            Function::BLENDFUNCTION_MAX => each(|n| source[n].max(destination[n])),
            function => {
                let new = self.product(equation.source, channel, source);
                let old = self.product(equation.destination, channel, destination);
                match function {
                    Function::BLENDFUNCTION_SUBTRACT => each(|n| new[n] - old[n]),
                    Function::BLENDFUNCTION_REVERSE_SUBTRACT => each(|n| old[n] - new[n]),
                    _ => each(|n| new[n] + old[n]),
                }
            }
        }
    }

    /// A colour times a factor.
    #[inline(always)]
    fn product(&self, factor: Factor, channel: usize, color: &Lanes) -> Lanes {
        let times = |by: &Lanes| each(|n| color[n] * by[n]);
        let times_rest = |by: &Lanes| each(|n| color[n] * (1.0 - by[n]));
        match factor {
            Factor::BLENDFACTOR_ONE => *color,
            Factor::BLENDFACTOR_SRC_COLOR => times(&self.source[channel]),
            Factor::BLENDFACTOR_SRC_ALPHA => times(&self.source[3]),
            Factor::BLENDFACTOR_DST_ALPHA => times(&self.destination[3]),
            Factor::BLENDFACTOR_DST_COLOR => times(&self.destination[channel]),
            Factor::BLENDFACTOR_SRC_ALPHA_SATURATE if channel == 3 => *color,
            Factor::BLENDFACTOR_SRC_ALPHA_SATURATE => {
                let (source, destination) = (&self.source[3], &self.destination[3]);
                each(|n| color[n] * source[n].min(1.0 - destination[n]))
            }
            Factor::BLENDFACTOR_CONST_COLOR => times(&[self.constant[channel]; SLOTS]),
            Factor::BLENDFACTOR_CONST_ALPHA => times(&[self.constant[3]; SLOTS]),
            Factor::BLENDFACTOR_SRC1_COLOR => times(&self.second[channel]),
            Factor::BLENDFACTOR_SRC1_ALPHA => times(&self.second[3]),
            Factor::BLENDFACTOR_INV_SRC_COLOR => times_rest(&self.source[channel]),
            Factor::BLENDFACTOR_INV_SRC_ALPHA => times_rest(&self.source[3]),
            Factor::BLENDFACTOR_INV_DST_ALPHA => times_rest(&self.destination[3]),
            Factor::BLENDFACTOR_INV_DST_COLOR => times_rest(&self.destination[channel]),
            Factor::BLENDFACTOR_INV_CONST_COLOR => times_rest(&[self.constant[channel]; SLOTS]),
            Factor::BLENDFACTOR_INV_CONST_ALPHA => times_rest(&[self.constant[3]; SLOTS]),
            Factor::BLENDFACTOR_INV_SRC1_COLOR => times_rest(&self.second[channel]),
            Factor::BLENDFACTOR_INV_SRC1_ALPHA => times_rest(&self.second[3]),
            // BLENDFACTOR_ZERO, and reserved codes.
            _ if BLEND_FACTOR_ZERO_DROPS_ITS_OPERAND => [0.0; SLOTS],
            _ => times(&[0.0; SLOTS]),
        }
    }
}

/// A row whose lane n is `value(n)`. The loop is plain, so that it compiles to vector instructions.
#[inline(always)]
fn each(value: impl Fn(usize) -> f32) -> Lanes {
    let mut lanes = [0.0; SLOTS];
    let mut n = 0;
    while n < SLOTS {
        lanes[n] = value(n);
        n += 1;
    }
    lanes
}

#[cfg(test)]
mod tests;
