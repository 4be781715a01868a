//! What a draw uses: the binding tables and samplers of every stage that runs kernels, as far as the kernels name them.
//!
//! Stages, binding tables and samplers come in packets of their own and in any order, so they are kept until the draw.

use super::kernel::Used;
use super::record::Record;
use super::walk::Walker;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, Type};
use std::io;

/// Stages that run kernels, in the order of the pipeline.
pub(super) const STAGES: [&str; 5] = ["VS", "HS", "DS", "GS", "PS"];

/// What packets said of one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Stage {
    /// Offsets from the instruction base; none if the stage is off.
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
        let pixels = ["8 Pixel Dispatch Enable", "16 Pixel Dispatch Enable", "32 Pixel Dispatch Enable"];
        let enabled = ["Enable", "Function Enable"].into_iter().chain(pixels).any(on);
        let several = pixels.into_iter().filter(|name| on(name)).count() > 1;
        self.kernels =
            ["Kernel Start Pointer", "Kernel Start Pointer 1", "Kernel Start Pointer 2"].map(|name| {
                let offset = match name {
                    "Kernel Start Pointer" => record
                        .address_of(container, name)
                        .or_else(|| record.address_of(container, "Kernel Start Pointer 0")),
                    // Further kernels are for further widths; zero where there is none.
                    _ => record.address_of(container, name).filter(|offset| several && *offset != 0),
                };
                offset.filter(|_| enabled)
            });
        self.surfaces = record.stored(container, "Binding Table Entry Count").unwrap_or(0) as u32;
        // The count is in units of four.
        self.samplers = 4 * record.stored(container, "Sampler Count").unwrap_or(0).min(4) as u32;
    }

    /// 3DSTATE_BINDING_TABLE_POINTERS_VS and so on.
    pub fn latch_binding_table(&mut self, record: &Record, container: &Container) {
        self.binding_table = pointer(record, container);
    }

    /// 3DSTATE_SAMPLER_STATE_POINTERS_VS and so on.
    pub fn latch_sampler_table(&mut self, record: &Record, container: &Container) {
        self.sampler_table = pointer(record, container);
    }
}

/// The only address in a packet.
fn pointer(record: &Record, container: &Container) -> Option<u64> {
    let field = container.fields.iter().find(|field| matches!(field.ty, Type::Address { .. }))?;
    record.address_of(container, field.name)
}

impl Walker<'_> {
    /// Shows what the stages of a draw use, each table once for the same kernels.
    pub fn draw(&mut self, depth: u32) -> io::Result<()> {
        for (index, name) in STAGES.into_iter().enumerate() {
            let stage = self.state.stages[index].clone();
            if stage.kernels.iter().all(Option::is_none) || !self.draws.insert((index, stage.clone())) {
                continue;
            }
            let mut used = Used { complete: true, ..Used::default() };
            for kernel in stage.kernels.iter().flatten() {
                match self.state.bases.absolute(SpaceKind::Instruction, *kernel) {
                    Some(at) => {
                        let kernel = self.kernel_used(at, depth)?;
                        used.add(&kernel);
                    }
                    None => used.complete = false,
                }
            }
            if let Some(offset) = stage.binding_table {
                match self.state.bases.absolute(SpaceKind::SurfaceState, offset) {
                    Some(at) if stage.surfaces > 0 || used.surfaces_end() > 0 => {
                        self.note(depth, at, format_args!("{name}: binding table"))?;
                        self.binding_table(at, stage.surfaces, &used, depth + 1, 1)?;
                    }
                    Some(_) => {}
                    None => self.no_base(depth, SpaceKind::SurfaceState)?,
                }
            }
            let samplers = used.samplers_or(stage.samplers);
            if let (Some(offset), true) = (stage.sampler_table, samplers != 0) {
                let at = self.state.bases.absolute(SpaceKind::DynamicState, offset);
                self.note(depth, at.unwrap_or(0), format_args!("{name}: samplers"))?;
                self.sampler_table(at, samplers, depth + 1, 1)?;
            }
        }
        Ok(())
    }
}
