//! The state that a draw uses: the binding tables and samplers of every stage that runs kernels, as
//! far as the kernels use them.
//!
//! Stages, binding tables and samplers come in packets of their own and in any order, so they are
//! stored until the draw.

use super::draw_state::ARRAYS;
use super::fields::Bases;
use super::follow::{BLEND_STATE, Follower};
use super::kernel::Used;
use super::record::Record;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, Type};
use std::io;

/// Stages that run kernels, in the order of the pipeline.
pub(super) const STAGES: [&str; 5] = ["VS", "HS", "DS", "GS", "PS"];

/// The fields with the addresses of kernels, in the order of [`Stage::kernels`].
const KERNELS: [[&str; 2]; 3] = [
    ["Kernel Start Pointer", "Kernel Start Pointer 0"],
    ["Kernel Start Pointer 1", "Kernel Start Pointer 1"],
    ["Kernel Start Pointer 2", "Kernel Start Pointer 2"],
];

/// The state of one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Stage {
    /// Offsets from the instruction base; `None` where the stage has no kernel.
    kernels: [Option<u64>; 3],
    /// Counts for prefetching, in entries.
    surfaces: u32,
    samplers: u32,
    /// Offset from the surface state base.
    binding_table: Option<u64>,
    /// Offset from the dynamic state base.
    sampler_table: Option<u64>,
}

impl Stage {
    /// 3DSTATE_VS and so on.
    pub fn latch(&mut self, record: &Record, container: &Container) {
        let on = |name| record.stored(container, name) == Some(1);
        let [eight, sixteen, wide] =
            ["8 Pixel Dispatch Enable", "16 Pixel Dispatch Enable", "32 Pixel Dispatch Enable"]
                .map(on);
        let one = !sixteen || !wide;
        // For pixel shaders, the first kernel is the one for 8 pixels or for the only width; with
        // several widths the others are those for 32 and for 16 pixels (2a p.154, p.157-158).
        let uses = [
            on("Enable") || on("Function Enable") || eight || (sixteen || wide) && one,
            wide && (eight || sixteen),
            sixteen && (eight || wide),
        ];
        self.kernels = std::array::from_fn(|slot| {
            let offset = KERNELS[slot].iter().find_map(|name| record.address_of(container, name));
            offset.filter(|_| uses[slot])
        });
        self.surfaces = record.stored(container, "Binding Table Entry Count").unwrap_or(0) as u32;
        // The count is in units of four.
        self.samplers = 4 * record.stored(container, "Sampler Count").unwrap_or(0).min(4) as u32;
    }

    /// True if the kernel in this field is one that the stage runs.
    pub fn runs(&self, field: &str) -> bool {
        let slot = KERNELS.iter().position(|names| names.contains(&field));
        slot.is_some_and(|slot| self.kernels[slot].is_some())
    }

    /// 3DSTATE_BINDING_TABLE_POINTERS_VS and so on.
    pub fn latch_binding_table(&mut self, record: &Record, container: &Container) {
        self.binding_table = pointer(record, container);
    }

    /// 3DSTATE_SAMPLER_STATE_POINTERS_VS and so on.
    pub fn latch_sampler_table(&mut self, record: &Record, container: &Container) {
        self.sampler_table = pointer(record, container);
    }

    /// The stage with absolute addresses; those without a base are `None`.
    fn resolved(&self, bases: &Bases) -> Stage {
        let at =
            |space, offset: Option<u64>| offset.and_then(|offset| bases.absolute(space, offset));
        Stage {
            kernels: self.kernels.map(|kernel| at(SpaceKind::Instruction, kernel)),
            binding_table: at(SpaceKind::SurfaceState, self.binding_table),
            sampler_table: at(SpaceKind::DynamicState, self.sampler_table),
            ..*self
        }
    }
}

/// The only address in a packet.
pub(super) fn pointer(record: &Record, container: &Container) -> Option<u64> {
    let field = container.fields.iter().find(|field| matches!(field.ty, Type::Address { .. }))?;
    record.address_of(container, field.name)
}

impl Follower<'_> {
    /// Emits what the stages of a draw use, each table once for the same kernels.
    pub fn draw(&mut self, record: &Record, container: &Container, depth: u32) -> io::Result<()> {
        if self.options.data {
            self.vertices(record, container, depth)?;
        }
        self.viewports(depth)?;
        for (index, name) in STAGES.into_iter().enumerate() {
            let stage = self.state.stages[index].clone();
            let resolved = stage.resolved(&self.state.bases);
            self.seen.limit_stages();
            if stage.kernels.iter().all(Option::is_none) || !self.seen.new_stage(index, &resolved) {
                continue;
            }
            let mut used = Used { complete: true, ..Used::default() };
            for (kernel, at) in stage.kernels.iter().zip(resolved.kernels) {
                match (kernel, at) {
                    (Some(_), Some(at)) => {
                        let kernel = self.kernel_used(at, depth)?;
                        used.add(&kernel);
                    }
                    (Some(_), None) => used.complete = false,
                    (None, _) => {}
                }
            }
            if name == "PS" {
                self.blend_state(&used, depth)?;
            }
            self.begin_surfaces();
            if stage.binding_table.is_some() {
                match resolved.binding_table {
                    Some(at) if stage.surfaces > 0 || used.surfaces_end() > 0 => {
                        self.note(depth, at, format_args!("{name}: binding table"))?;
                        self.binding_table(at, stage.surfaces, &used, depth + 1, 1)?;
                    }
                    Some(_) => {}
                    None => self.no_base(depth, SpaceKind::SurfaceState)?,
                }
            }
            let samplers = used.samplers_or(stage.samplers);
            if stage.sampler_table.is_some() && samplers != 0 {
                let at = resolved.sampler_table;
                self.note(depth, at.unwrap_or(0), format_args!("{name}: samplers"))?;
                self.sampler_table(at, samplers, &used, depth + 1, 1)?;
            }
        }
        Ok(())
    }

    /// Emits the blend state for as many targets as the pixel shader writes, because drivers
    /// allocate no more. The first target was emitted at the pointer.
    fn blend_state(&mut self, used: &Used, depth: u32) -> io::Result<()> {
        let targets = used.render_targets().count() as u32;
        let Some(offset) = self.state.blend.filter(|_| targets > 1) else { return Ok(()) };
        let Some(at) = self.state.bases.absolute(SpaceKind::DynamicState, offset) else {
            return Ok(());
        };
        let Some(id) = self.tables.named(BLEND_STATE) else { return Ok(()) };
        if !self.seen.new_array(at, targets) {
            return Ok(());
        }
        self.note(depth, at, format_args!("PS: blend state of {targets} targets"))?;
        self.part(id, at, targets, depth + 1)
    }

    /// Emits viewports and scissors after the first, which was emitted at the pointer: as many as
    /// the clipper uses.
    fn viewports(&mut self, depth: u32) -> io::Result<()> {
        let count = self.state.draw.viewports;
        if count <= 1 {
            return Ok(());
        }
        for (offset, (_, name)) in self.state.draw.arrays.into_iter().zip(ARRAYS) {
            let Some(offset) = offset else { continue };
            let Some(at) = self.state.bases.absolute(SpaceKind::DynamicState, offset) else {
                continue;
            };
            let Some(id) = self.tables.named(name) else { continue };
            if !self.seen.new_array(at, count) {
                continue;
            }
            self.note(depth, at, format_args!("{name} of viewports 1 to {}", count - 1))?;
            let size = u64::from(self.tables.plan(id).container.bits / 8);
            for index in 1..count {
                self.structure(id, at + u64::from(index) * size, Some(index), depth + 1, 1)?;
            }
        }
        Ok(())
    }
}
