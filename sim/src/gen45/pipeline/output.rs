//! Colour calculator: executes render target writes on depth, stencil and render targets
//! (gen45_facts 11).
//!
//! The pixels of a write pass alpha test and, if the tests were not done before the shader, stencil
//! and depth test. The remaining ones are blended and written.

use super::common::latched;
use super::depth::DepthStencil;
use super::depth_buffer::Quad;
use crate::assumptions::{
    G45_ALPHA_IS_TESTED_AS_IT_IS_STORED, G45_ANTIALIAS_ALPHA_COMES_BEFORE_THE_ALPHA_TEST,
};
use crate::gen45::message::Bindings;
use crate::gen45::message::write::Write;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::render::aux_surface::AuxCache;
use crate::render::coverage::Coverage;
use crate::render::render_target::{Pixels, Purpose, RenderTarget};
use crate::surface::format::{Channel, Encoding, convert};
use crate::unit::render_cache::SLOTS;
use genxml::gen8::enums as gen8;
use genxml::gen8::render3d_pixel::{
    BlendState, BlendStateEntry, BlendStateEntryColorClampRange as ClampRange,
    ColorCalcState as References, ColorCalcStateReference as Reference, ThreeDStatePsExtra,
};
use genxml::gen45::commands_3d::ThreeDStateConstantColor;
use genxml::gen45::state_surface::SurfaceState;
use genxml::gen45::state_units::{ColorCalcState, ColorCalcStateAlphaReference as AlphaReference};
use genxml_core::U;

/// A render target that a message used.
#[derive(Debug)]
struct Target {
    binding: u8,
    target: RenderTarget,
    /// Alpha is compared as the target stores it.
    coverage: Coverage,
    cache: AuxCache,
}

/// The colour calculator of a draw.
#[derive(Clone, Debug)]
pub struct Output {
    state: ColorCalcState,
    /// Blend constant, and reference of the alpha test.
    references: References,
    /// The alpha test, and the same for targets that store 8 bits.
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
    /// Pixels of `live` that alpha did not remove in at least one message so far. The last message
    /// tests them.
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
    /// As [`DepthStencil::resolve`].
    pub fn resolve(exec: &Exec<'_>, state: &ColorCalcState) -> Result<Output, Fault> {
        let constant: ThreeDStateConstantColor = latched(exec);
        let references = References {
            reference: match state.alpha_reference {
                AlphaReference::Float { alpha_reference_value_as_float32 } => {
                    Reference::Float { alpha_reference_value_as_float32 }
                }
                AlphaReference::Unorm { alpha_reference_value_as_unorm8: value } => {
                    Reference::Unorm {
                        alpha_reference_value_as_unorm8: U::from_bits(value.get().min(255)),
                    }
                }
            },
            blend_constant_color_red: constant.blend_constant_color_red,
            blend_constant_color_green: constant.blend_constant_color_green,
            blend_constant_color_blue: constant.blend_constant_color_blue,
            blend_constant_color_alpha: constant.blend_constant_color_alpha,
            ..References::new()
        };
        let blend = blend_state(state, None);
        let extra = ThreeDStatePsExtra::new();
        Ok(Output {
            coverage: [references, in_bytes(references)]
                .map(|references| Coverage::resolve(&blend, &references, &extra, 1)),
            depth: DepthStencil::resolve(exec, state)?,
            state: *state,
            references,
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
        let place = match targets.0.iter().position(|target| target.binding == base.binding) {
            Some(place) => place,
            None => self.bind(exec, bindings, targets, base.binding)?,
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
        let Target { target, cache, .. } = &mut targets.0[place];
        let pixels = Pixels {
            subspans: base.subspans,
            samples: std::array::from_fn(|slot| (pixels >> slot & 1) as u8),
            slice: base.slice,
        };
        target.write(exec, cache, &pixels, &base.color, base.second.as_ref())?;
        Ok(passed)
    }

    /// Tests the pixels of a message. Only the last message writes depth and stencil, for the pixels
    /// of all messages: alpha can remove different pixels for different targets.
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
    ) -> Result<usize, Fault> {
        let state = bindings.state(exec, binding)?;
        let surface = bindings.surface(exec, binding)?.surface;
        let blend = blend_state(&self.state, Some(&state));
        let target = RenderTarget::resolve(&surface, &blend, 0, &self.references, Purpose::Draw);
        let target = target.map_err(|bad| {
            let why = format!("render target, binding table entry {binding}: {}", bad.why);
            exec.bad_field(bad.field, bad.value, why)
        })?;
        let narrow = |channel: &Channel| channel.encoding == Encoding::Unorm && channel.bits <= 8;
        let bytes = G45_ALPHA_IS_TESTED_AS_IT_IS_STORED
            && surface.codec.is_some_and(|it| it.format().channels().first().is_some_and(narrow));
        let coverage = self.coverage[usize::from(bytes)];
        targets.0.push(Target { binding, target, coverage, cache: AuxCache::default() });
        Ok(targets.0.len() - 1)
    }
}

/// The references with that of the alpha test in 8 bits.
fn in_bytes(references: References) -> References {
    let value = match references.reference {
        Reference::Float { alpha_reference_value_as_float32: value } => {
            U::from_bits(convert::to_unorm(value, 8))
        }
        Reference::Unorm { alpha_reference_value_as_unorm8: value } => value,
    };
    let reference = Reference::Unorm { alpha_reference_value_as_unorm8: value };
    References { reference, ..references }
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

/// The state of blending for a render target: that of all targets, and what its surface state adds.
/// Codes of factors, functions and operations are those of Gen8.
fn blend_state(state: &ColorCalcState, surface: Option<&SurfaceState>) -> BlendState {
    let factor = |it: genxml::gen45::enums::ThreeDColorBufferBlendFactor| {
        gen8::ThreeDColorBufferBlendFactor::from_bits(it.bits())
    };
    let function = |it: genxml::gen45::enums::ThreeDColorBufferBlendFunction| {
        gen8::ThreeDColorBufferBlendFunction::from_bits(it.bits())
    };
    let own = |of: fn(&SurfaceState) -> bool| surface.is_some_and(of);
    let entry = BlendStateEntry {
        write_disable_blue: own(|it| it.color_buffer_component_write_disable_blue),
        write_disable_green: own(|it| it.color_buffer_component_write_disable_green),
        write_disable_red: own(|it| it.color_buffer_component_write_disable_red),
        write_disable_alpha: own(|it| it.color_buffer_component_write_disable_alpha),
        alpha_blend_function: function(state.alpha_blend_function),
        destination_alpha_blend_factor: factor(state.destination_alpha_blend_factor),
        source_alpha_blend_factor: factor(state.source_alpha_blend_factor),
        color_blend_function: function(state.color_blend_function),
        destination_blend_factor: factor(state.destination_blend_factor),
        source_blend_factor: factor(state.source_blend_factor),
        color_buffer_blend_enable: state.color_buffer_blend_enable
            && own(|it| it.color_blend_enable),
        post_blend_color_clamp_enable: state.post_blend_color_clamp_enable,
        pre_blend_color_clamp_enable: state.pre_blend_color_clamp_enable,
        color_clamp_range: ClampRange::from_bits(state.color_clamp_range.bits()),
        pre_blend_source_only_clamp_enable: false,
        logic_op_function: gen8::ThreeDLogicOpFunction::from_bits(state.logic_op_function.bits()),
        logic_op_enable: state.logic_op_enable,
    };
    BlendState {
        y_dither_offset: state.y_dither_offset,
        x_dither_offset: state.x_dither_offset,
        color_dither_enable: state.color_dither_enable,
        alpha_test_function: gen8::ThreeDCompareFunction::from_bits(
            state.alpha_test_function.bits(),
        ),
        alpha_test_enable: state.alpha_test_enable,
        independent_alpha_blend_enable: state.independent_alpha_blend_enable,
        entry: [entry; 8],
        ..BlendState::new()
    }
}
