//! The state that a draw uses: the binding tables and samplers of every stage that runs kernels, as
//! far as the kernels use them.
//!
//! Separate packets set the stages, binding tables and samplers, in any order. So the decoder
//! stores them until the draw.

use super::effects::ARRAYS;
use super::effects::STAGES;
use super::follow::{BLEND_STATE, Follower};
use super::kernel::Used;
use super::record::Record;
use crate::memory::VA_MASK;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::Container;
use std::io;

/// The first generation, times ten, with a pool of binding tables for software.
const FIRST_POOL: u32 = 110;

/// Number of viewports that are emitted with option `unused`, as by Mesa's decoder.
const SHOWN_VIEWPORTS: u32 = 4;

impl Follower<'_> {
    /// Emits the state that the stages of a draw use. Tables that an earlier draw of the batch used
    /// with the same state of the stage are emitted again only with option `every_draw`.
    pub fn draw(&mut self, record: &Record, container: &Container, depth: u32) -> io::Result<()> {
        if self.options.data {
            self.vertices(record, container, depth)?;
        }
        self.viewports(depth)?;
        for (index, name) in STAGES.into_iter().enumerate() {
            let stage = self.state.stages[index].clone();
            let streamer = self.streamer_tables();
            let binding_table = match (streamer, stage.binding_table) {
                // The field has bits 16:6 of the offset in bits 15:5 (2a p.26-27).
                (Some(pool), Some(pointer)) => Some(pool.wrapping_add(2 * pointer)),
                (None, Some(pointer)) => self.table_at(pointer),
                (_, None) => None,
            };
            let resolved = stage.resolved(&self.state.bases, binding_table);
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
                    Some(at) if streamer.is_some() => {
                        let text = "binding table of the resource streamer";
                        self.note(depth, at, format_args!("{name}: {text}"))?;
                        self.hardware_table(at, stage.surfaces, &used, depth + 1)?;
                    }
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

    /// With option `unused`, emits the binding table of a stage. Call it after the packet that sets
    /// the pointer to the table. Perhaps no draw uses this table. The number of entries is not
    /// known here, so this stops at the first dword that does not look like an entry.
    pub fn unused_surfaces(&mut self, stage: usize, depth: u32) -> io::Result<()> {
        if !self.options.unused || self.streamer_tables().is_some() {
            return Ok(());
        }
        let pointer = self.state.stages[stage].binding_table;
        let Some(at) = pointer.and_then(|pointer| self.table_at(pointer)) else { return Ok(()) };
        self.binding_table(at, 0, &Used::default(), depth, 1)
    }

    /// With option `unused`, emits sampler 0 of a stage. Call it after the packet that sets the pointer. Drivers
    /// of Gen11 do not say how many samplers there are: they set Sampler Count to 0 to stop the
    /// prefetch.
    pub fn unused_sampler(&mut self, stage: usize, depth: u32) -> io::Result<()> {
        let Some(pointer) = self.state.stages[stage].sampler_table.filter(|_| self.options.unused)
        else {
            return Ok(());
        };
        match self.state.bases.absolute(SpaceKind::DynamicState, pointer) {
            Some(at) if !self.memory.tail(at).is_empty() => {
                self.sampler_table(Some(at), 1, &Used::default(), depth, 1)
            }
            _ => Ok(()),
        }
    }

    /// The base of the binding tables that the resource streamer makes, if it is in use. Gen11 and
    /// later have no resource streamer.
    fn streamer_tables(&self) -> Option<u64> {
        self.state.draw.table_pool.filter(|_| self.tables.generation() < FIRST_POOL)
    }

    /// The address of the binding table with a pointer, `None` if its base is unknown.
    ///
    /// From Gen11 on, the base is the pool, if there is one. The register GT_MODE says whether the
    /// pointer counts bytes, or units of eight bytes for tables of 256-byte alignment. (Mesa
    /// src/intel/common/intel_batch_decoder.c, dump_binding_table)
    pub fn table_at(&self, pointer: u64) -> Option<u64> {
        let generation = self.tables.generation();
        let coarse = generation >= FIRST_POOL
            && self.state.registers.field(self.tables, "GT_MODE", "Binding Table Alignment")
                == Some(1);
        let offset = if coarse { 8 * pointer } else { pointer };
        match self.state.draw.table_pool.filter(|_| generation >= FIRST_POOL) {
            Some(pool) => Some(pool.wrapping_add(offset) & VA_MASK),
            None => self.state.bases.absolute(SpaceKind::SurfaceState, offset),
        }
    }

    /// Emits the blend state for as many targets as the pixel shader writes, because drivers
    /// allocate no more. It emits nothing for a single target, which was emitted after the pointer.
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

    /// Emits the viewports and scissors from index 1 on, as many as the clipper uses. With option
    /// `unused`, it emits at least indices 1 to 3. Index 0 is not emitted here: it was emitted
    /// after the packet with the pointer.
    fn viewports(&mut self, depth: u32) -> io::Result<()> {
        let used = self.state.draw.viewports;
        let count = if self.options.unused { used.max(SHOWN_VIEWPORTS) } else { used };
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
            let which = format_args!("{name} of viewports 1 to {}", count - 1);
            match used < count {
                false => self.note(depth, at, which)?,
                true => self.note(depth, at, format_args!("{which}; the draw uses {used}"))?,
            }
            let size = u64::from(self.tables.plan(id).container.bits / 8);
            for index in 1..count {
                self.structure(id, at + u64::from(index) * size, Some(index), depth + 1, 1)?;
            }
        }
        Ok(())
    }
}
