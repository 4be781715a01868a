//! The payload of pixel shader threads (gen45_facts 10.3).

use super::depth::DepthStencil;
use super::depth_buffer::Quad;
use super::early::Early;
use super::sf::Primitive;
use super::unit::Unit;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::render_cache::SLOTS;
use genxml::gen45::message_payloads::RenderTargetStencilAndAntialiasAlphaPayload;
use genxml::gen45::thread_payloads::{
    PsDestinationDepthPayload, PsSourceDepthPayload, PsStencilAndAntialiasAlphaPayload,
    PsThreadPayload, PsThreadPayloadFrontBackFacingPolygon as Facing, PsThreadPayloadSubspan,
};
use genxml_core::{Address, U, UFix};

/// Maximum number of subspans of a thread.
pub const MAX_SPANS: usize = 4;
/// Dwords of the payload before the constants, at most.
const HEAD: usize = PsThreadPayload::DWORDS
    + PsSourceDepthPayload::DWORDS
    + PsStencilAndAntialiasAlphaPayload::DWORDS
    + PsDestinationDepthPayload::DWORDS;

/// A subspan that waits for a thread.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Span {
    /// Its position and depths.
    pub quad: Quad,
    /// Its pixels that are drawn, a bit each.
    pub lanes: u8,
}

/// What the payloads of a draw contain.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// When depth and stencil are tested.
    pub early: Early,
    /// Offset of COLOR_CALC_STATE from General State Base Address.
    pub color_calc: u64,
    /// There is a register of antialias alpha, also for primitives without it.
    pub antialias: bool,
}

impl Layout {
    /// Makes the payload of a thread of `unit` for the pixels `mask` of `spans`. `entry` is the
    /// setup entry.
    ///
    /// # Errors
    /// A page fault of the depth buffer.
    #[expect(clippy::too_many_arguments, reason = "each is a part of the payload")]
    pub fn payload(
        &self,
        exec: &Exec<'_>,
        depth: &DepthStencil,
        unit: &mut Unit,
        primitive: &Primitive,
        entry: &[u32],
        spans: &[Span; MAX_SPANS],
        mask: u32,
    ) -> Result<(), Fault> {
        let Layout { early, .. } = self;
        let smooth = primitive.setup.smooth.as_ref();
        let header = unit.header();
        let [start_x, start_y] = primitive.start;
        let start = PsThreadPayload {
            pixel_enables: U::from_bits(mask.into()),
            dispatched_pixel_enables: U::from_bits(mask.into()),
            color_calculator_state_pointer: Address::from_bits(self.color_calc),
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_base_pointer: header.scratch,
            start_x,
            start_y,
            subspan: spans.map(|span| PsThreadPayloadSubspan {
                x: U::from_bits(span.quad.x.into()),
                y: U::from_bits(span.quad.y.into()),
            }),
            antialias_alpha_present_to_render_target: smooth.is_some(),
            destination_stencil_present_to_render_target: early.destination_stencil,
            destination_depth_present_to_render_target: early.destination_depth,
            source_depth_present_to_render_target: early.source_depth_sent,
            primitive_topology_type: U::from_bits(primitive.code.bits()),
            front_back_facing_polygon: match primitive.setup.back {
                true => Facing::BACK_FACING,
                false => Facing::FRONT_FACING,
            },
            ..PsThreadPayload::new()
        };
        let mut head = [0; HEAD];
        let mut length = 0;
        let mut push = |dwords: &[u32]| {
            head[length..length + dwords.len()].copy_from_slice(dwords);
            length += dwords.len();
        };
        push(&start.pack());
        if early.source_depth {
            let source_depth = std::array::from_fn(|slot| spans[slot / 4].quad.z[slot % 4]);
            push(&PsSourceDepthPayload { source_depth }.pack());
        }
        let (mut depths, mut stencils) = ([0; SLOTS], [0; SLOTS]);
        if early.destination_depth || early.destination_stencil {
            for (n, span) in spans.iter().enumerate().filter(|(_, span)| span.lanes != 0) {
                let (depth, stencil) = depth.stored(exec, &span.quad)?;
                depths[4 * n..4 * n + 4].copy_from_slice(&depth);
                stencils[4 * n..4 * n + 4].copy_from_slice(&stencil);
            }
        }
        if early.destination_stencil || self.antialias {
            let covered = |slot: usize| {
                let Some(smooth) = smooth else { return WHOLE };
                let Quad { x, y, .. } = spans[slot / 4].quad;
                let (x, y) = (x + (slot as u32 & 1), y + (slot as u32 >> 1 & 1));
                let covered = smooth.coverage(x as f32 + 0.5, y as f32 + 0.5);
                (covered * 255.0).round() as u64
            };
            let register = RenderTargetStencilAndAntialiasAlphaPayload {
                destination_stencil: stencils.map(|it| U::from_bits(u64::from(it))),
                antialias_alpha: std::array::from_fn(|slot| UFix::from_bits(covered(slot))),
            };
            push(&register.pack());
        }
        if early.destination_depth {
            let destination_depth = depths.map(|it| U::from_bits(u64::from(it)));
            push(&PsDestinationDepthPayload { destination_depth }.pack());
        }
        unit.begin(&head[..length]);
        unit.push_entry(entry);
        Ok(())
    }
}

/// Alpha of a pixel that is covered as a whole.
const WHOLE: u64 = 255;
