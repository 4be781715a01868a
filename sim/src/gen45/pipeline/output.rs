//! Colour calculator: executes render target writes on depth, stencil and render targets
//! (gen45_facts 11).
//!
//! The pixels of a write pass alpha test and, if the tests were not done before the shader, stencil
//! and depth test. The remaining ones are blended and written.

use super::common::refuse;
use super::depth::{DepthStencil, compare};
use super::depth_buffer::Quad;
use crate::assumptions::{
    G45_ALPHA_IS_TESTED_AS_IT_IS_STORED, G45_ANTIALIAS_ALPHA_COMES_BEFORE_THE_ALPHA_TEST,
};
use crate::gen45::message::Bindings;
use crate::gen45::message::write::Write;
use crate::gen45::state::latched;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::render::aux_surface::AuxCache;
use crate::render::blend::{Blending, Equation};
use crate::render::coverage::{Coverage, Reference};
use crate::render::logic_op::LogicOp;
use crate::render::render_target::{Pixels, Purpose, RenderTarget};
use crate::surface::format::{Channel, Codec, Encoding, convert};
use crate::unit::render_cache::SLOTS;
use genxml::gen8::enums as gen8;
use genxml::gen8::render3d_pixel::BlendStateEntryColorClampRange as ClampRange;
use genxml::gen45::commands_3d::ThreeDStateConstantColor;
use genxml::gen45::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction as Function,
};
use genxml::gen45::state_surface::SurfaceState;
use genxml::gen45::state_units::{ColorCalcState, ColorCalcStateAlphaReference as AlphaReference};

/// A render target that a message used.
#[derive(Debug)]
struct Target {
    binding: u8,
    /// For debugging: all pixels get a constant colour.
    constant: bool,
    codec: Option<&'static Codec>,
    target: RenderTarget,
    /// Alpha is compared as the target stores it.
    coverage: Coverage,
    cache: AuxCache,
}

/// The colour calculator of a draw.
#[derive(Clone, Debug)]
pub struct Output {
    /// Blending without what the surface state of a target adds.
    blending: Blending,
    /// The alpha test with the reference of the state, and with the reference rounded to 8 bits for
    /// targets that store 8 bits.
    coverage: [Coverage; 2],
    /// Depth and stencil.
    pub depth: DepthStencil,
}

/// The pixels of a thread, from its dispatch to its last message.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Slots {
    /// The quads of the thread.
    pub quads: [Quad; 4],
    /// Pixels that were dispatched and passed early tests.
    pub live: u16,
    /// Depth and stencil were tested and written before the shader.
    pub tested: bool,
    /// Pixels that passed the alpha test of at least one message so far. The last message tests
    /// their depth and stencil.
    waiting: u16,
}

impl Slots {
    /// The pixels of a thread at its dispatch.
    pub fn new(quads: [Quad; 4], live: u16, tested: bool) -> Slots {
        Slots { quads, live, tested, waiting: 0 }
    }
}

/// The render targets of a worker.
#[derive(Debug, Default)]
pub struct Targets(Vec<Target>);

impl Output {
    /// Resolves the state.
    ///
    /// # Errors
    /// As [`DepthStencil::resolve`]; [`Fault::Unimplemented`] for Round Disable Function Disable.
    pub fn resolve(exec: &Exec<'_>, state: &ColorCalcState) -> Result<Output, Fault> {
        let rounds = state.round_disable_function_disable;
        refuse(exec, rounds, "Round Disable Function Disable of COLOR_CALC_STATE")?;
        let constant: ThreeDStateConstantColor = latched(exec);
        let reference = match state.alpha_reference {
            AlphaReference::Float { alpha_reference_value_as_float32: value } => {
                Reference::Float(value)
            }
            AlphaReference::Unorm { alpha_reference_value_as_unorm8: value } => {
                Reference::Unorm8(value.get().min(255) as u32)
            }
        };
        let stored = match reference {
            Reference::Float(value) => Reference::Unorm8(convert::to_unorm(value, 8) as u32),
            unorm => unorm,
        };
        let function = compare(state.alpha_test_function);
        let coverage = [reference, stored].map(|reference| {
            Coverage::alpha_test(state.alpha_test_enable.then_some((function, reference)))
        });
        Ok(Output {
            blending: blending(state, &constant),
            coverage,
            depth: DepthStencil::resolve(exec, state)?,
        })
    }

    /// Executes a render target write. Returns the number of pixels that passed the tests, which
    /// PS_DEPTH_COUNT counts; 0 if they were tested before the shader, and for messages that are
    /// not the last.
    ///
    /// # Errors
    /// Page faults of the surfaces, and [`Fault::BadPacket`] for targets that cannot be written.
    pub fn write(
        &self,
        exec: &mut Exec<'_>,
        bindings: &mut Bindings,
        targets: &mut Targets,
        slots: &mut Slots,
        write: &mut Write,
    ) -> Result<u32, Fault> {
        if G45_ANTIALIAS_ALPHA_COMES_BEFORE_THE_ALPHA_TEST {
            soften(write);
        }
        let base = &write.base;
        let mut pixels = base.mask & slots.live;
        let constant = write.constant.is_some();
        let same = |it: &Target| it.binding == base.binding && it.constant == constant;
        let place = match targets.0.iter().position(same) {
            Some(place) => place,
            None => self.bind(exec, bindings, targets, base.binding, constant)?,
        };
        let coverage = &targets.0[place].coverage;
        if coverage.removes() {
            let mut samples = std::array::from_fn(|slot| (pixels >> slot & 1) as u8);
            let alpha = base.alpha.as_ref().unwrap_or(&base.color[3]);
            coverage.apply(&base.subspans, alpha, &mut samples);
            pixels = gather(&samples);
        }
        let mut passed = 0;
        if !slots.tested {
            passed = self.late(exec, slots, write, &mut pixels)?;
        }
        if !G45_ANTIALIAS_ALPHA_COMES_BEFORE_THE_ALPHA_TEST {
            soften(write);
        }
        let base = &write.base;
        if pixels == 0 {
            return Ok(passed);
        }
        let Target { target, cache, codec, .. } = &mut targets.0[place];
        let pixels = Pixels {
            subspans: base.subspans,
            samples: std::array::from_fn(|slot| (pixels >> slot & 1) as u8),
            slice: base.slice,
        };
        match write.constant.zip(*codec) {
            None => target.write(exec, cache, &pixels, &base.color, base.second.as_ref())?,
            Some((bits, codec)) => {
                target.write(exec, cache, &pixels, &constant_color(codec, bits), None)?;
            }
        }
        Ok(passed)
    }

    /// Tests the pixels of a message. Only the last message writes depth and stencil, for the
    /// pixels of all messages: alpha can remove different pixels for different targets.
    fn late(
        &self,
        exec: &mut Exec<'_>,
        slots: &mut Slots,
        write: &Write,
        pixels: &mut u16,
    ) -> Result<u32, Fault> {
        let base = &write.base;
        slots.waiting |= *pixels;
        let tested = match base.last {
            // Each message with two colours is the last for its own eight slots.
            true => *pixels & !base.slots | slots.waiting & base.slots,
            false => *pixels,
        };
        let mut passed = 0;
        for (n, quad) in slots.quads.iter().enumerate() {
            let lanes = (tested >> (4 * n) & 0xf) as u8;
            if lanes == 0 {
                continue;
            }
            let mut quad = Quad { back: base.back, ..*quad };
            if let Some(depth) = &base.depth {
                quad.z.copy_from_slice(&depth[4 * n..4 * n + 4]);
            }
            passed |= u16::from(self.depth.test(exec, &quad, lanes, base.last)?) << (4 * n);
        }
        *pixels &= passed;
        Ok(if base.last { passed.count_ones() } else { 0 })
    }

    /// Resolves a render target when a message uses it for the first time; returns its position.
    #[cold]
    fn bind(
        &self,
        exec: &mut Exec<'_>,
        bindings: &mut Bindings,
        targets: &mut Targets,
        binding: u8,
        constant: bool,
    ) -> Result<usize, Fault> {
        let state = bindings.state(exec, binding)?;
        let surface = bindings.surface(exec, binding)?.surface;
        let blending = with_surface(&self.blending, &state);
        let blending = if constant { unchanged(&blending) } else { blending };
        let target = RenderTarget::new(&surface, &blending, Purpose::Draw);
        let target = target.map_err(|bad| {
            let why = format!("render target, binding table entry {binding}: {}", bad.why);
            exec.bad_field(bad.field, bad.value, why)
        })?;
        let narrow = |channel: &Channel| channel.encoding == Encoding::Unorm && channel.bits <= 8;
        let bytes = G45_ALPHA_IS_TESTED_AS_IT_IS_STORED
            && surface.codec.is_some_and(|it| it.format().channels().first().is_some_and(narrow));
        let coverage = self.coverage[usize::from(bytes)];
        let (codec, cache) = (surface.codec, AuxCache::default());
        targets.0.push(Target { binding, constant, codec, target, coverage, cache });
        Ok(targets.0.len() - 1)
    }
}

/// Blending that leaves colours as they are.
fn unchanged(blending: &Blending) -> Blending {
    Blending {
        equations: None,
        clamps_all: false,
        clamps_result: false,
        logic: None,
        dither: None,
        ..*blending
    }
}

/// The colour of the pixels whose bits are `bits`, from the highest bit of the format on
/// (003:2451).
#[cold]
fn constant_color(codec: &Codec, bits: u32) -> [[u32; SLOTS]; 4] {
    let length = codec.format().bytes() as usize;
    let mut bytes = [0; 16];
    bytes[12..].copy_from_slice(&bits.to_le_bytes());
    codec.decode_one(&bytes[16 - length.min(16)..]).map(|channel| [channel; SLOTS])
}

/// Multiplies alpha by the covered part of each pixel, for antialiased lines.
fn soften(write: &mut Write) {
    if let Some(covered) = &write.antialias {
        for (alpha, covered) in write.base.color[3].iter_mut().zip(covered) {
            *alpha = (f32::from_bits(*alpha) * (f32::from(*covered) / 255.0)).to_bits();
        }
    }
}

/// A bit for each slot with a sample.
fn gather(samples: &[u8; SLOTS]) -> u16 {
    samples.iter().enumerate().fold(0, |mask, (slot, &it)| mask | u16::from(it & 1) << slot)
}

/// Blending of all targets. Codes of factors, functions and operations are those of Gen8.
fn blending(state: &ColorCalcState, constant: &ThreeDStateConstantColor) -> Blending {
    let equation = |source: Factor, destination: Factor, function: Function| Equation {
        source: gen8::ThreeDColorBufferBlendFactor::from_bits(source.bits()),
        destination: gen8::ThreeDColorBufferBlendFactor::from_bits(destination.bits()),
        function: gen8::ThreeDColorBufferBlendFunction::from_bits(function.bits()),
    };
    let color = equation(
        state.source_blend_factor,
        state.destination_blend_factor,
        state.color_blend_function,
    );
    let alpha = match state.independent_alpha_blend_enable {
        true => equation(
            state.source_alpha_blend_factor,
            state.destination_alpha_blend_factor,
            state.alpha_blend_function,
        ),
        false => color,
    };
    let logic = gen8::ThreeDLogicOpFunction::from_bits(state.logic_op_function.bits());
    let offsets = [state.x_dither_offset.get() as u32, state.y_dither_offset.get() as u32];
    Blending {
        equations: (state.color_buffer_blend_enable && !state.logic_op_enable)
            .then_some([color, alpha]),
        range: ClampRange::from_bits(state.color_clamp_range.bits()),
        clamps_all: state.pre_blend_color_clamp_enable,
        clamps_source: false,
        clamps_result: state.post_blend_color_clamp_enable,
        alpha_to_one: false,
        constant: [
            constant.blend_constant_color_red,
            constant.blend_constant_color_green,
            constant.blend_constant_color_blue,
            constant.blend_constant_color_alpha,
        ],
        logic: state.logic_op_enable.then(|| LogicOp::of(logic)),
        channels: 0xf,
        dither: state.color_dither_enable.then_some(offsets),
    }
}

/// Blending of a render target: its surface state enables it, and disables channels.
fn with_surface(blending: &Blending, surface: &SurfaceState) -> Blending {
    let disabled = [
        surface.color_buffer_component_write_disable_red,
        surface.color_buffer_component_write_disable_green,
        surface.color_buffer_component_write_disable_blue,
        surface.color_buffer_component_write_disable_alpha,
    ];
    let channels = disabled.iter().enumerate().fold(0, |mask, (n, it)| mask | u8::from(!it) << n);
    let equations = blending.equations.filter(|_| surface.color_blend_enable);
    Blending { equations, channels, ..*blending }
}
