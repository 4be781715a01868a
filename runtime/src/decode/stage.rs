//! The state of a stage of the 3D pipeline.

use super::bases::Bases;
use super::record::Record;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, Type};

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
    pub kernels: [Option<u64>; 3],
    /// Numbers of binding table entries and of samplers that hardware prefetches.
    pub surfaces: u32,
    pub samplers: u32,
    /// Offset from the surface state base.
    pub binding_table: Option<u64>,
    /// Offset from the dynamic state base.
    pub sampler_table: Option<u64>,
}

impl Stage {
    /// Stores the state that 3DSTATE_VS, or the same packet of another stage, sets.
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

    /// Stores the offset that 3DSTATE_BINDING_TABLE_POINTERS_VS, or the same packet of another
    /// stage, sets.
    pub fn latch_binding_table(&mut self, record: &Record, container: &Container) {
        self.binding_table = pointer(record, container);
    }

    /// Stores the offset that 3DSTATE_SAMPLER_STATE_POINTERS_VS, or the same packet of another
    /// stage, sets.
    pub fn latch_sampler_table(&mut self, record: &Record, container: &Container) {
        self.sampler_table = pointer(record, container);
    }

    /// The stage with absolute addresses instead of offsets. An address is `None` if its base is
    /// unknown. `binding_table` is the address of the binding table.
    pub fn resolved(&self, bases: &Bases, binding_table: Option<u64>) -> Stage {
        let at =
            |space, offset: Option<u64>| offset.and_then(|offset| bases.absolute(space, offset));
        Stage {
            kernels: self.kernels.map(|kernel| at(SpaceKind::Instruction, kernel)),
            binding_table,
            sampler_table: at(SpaceKind::DynamicState, self.sampler_table),
            ..*self
        }
    }
}

/// The first address in a packet; these packets have only one.
pub(super) fn pointer(record: &Record, container: &Container) -> Option<u64> {
    let field = container.fields.iter().find(|field| matches!(field.ty, Type::Address { .. }))?;
    record.address_of(container, field.name)
}
