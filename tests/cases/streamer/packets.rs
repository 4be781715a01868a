//! The packets of the streamer. `stage` selects the packet of a stage.

use genxml::gen8::render3d_binding::*;
use genxml::gen8::render3d_constants::*;
use genxml::gen8::structures::GatherConstantEntry;
use genxml_cases::{at, packets, u};
use genxml_core::Shifted;

use crate::streamer::{DX9, DX9_BYTES, GATHERED, GATHERED_BYTES, TABLES, TABLES_BYTES};

/// The stages, in the order of the functions below.
pub const STAGES: usize = 5;
/// Number of the vertex shader.
pub const VS: usize = 0;
/// Number of the hull shader.
pub const HS: usize = 1;
/// Number of the domain shader.
pub const DS: usize = 2;
/// Number of the geometry shader.
pub const GS: usize = 3;
/// Number of the pixel shader.
pub const PS: usize = 4;

/// 3DSTATE_BINDING_TABLE_EDIT_* of all cores. An entry is an index and an offset in bytes.
pub fn edit(stage: usize, clear: u64, entries: &[(u64, u64)]) -> Vec<u32> {
    edit_on(stage, BindingTableEditTarget::ALL_CORES, clear, entries)
}

/// 3DSTATE_BINDING_TABLE_EDIT_* with a target.
pub fn edit_on(
    stage: usize,
    target: BindingTableEditTarget,
    clear: u64,
    entries: &[(u64, u64)],
) -> Vec<u32> {
    let entries: Vec<BindingTableEditEntry> = entries
        .iter()
        .map(|&(index, offset)| BindingTableEditEntry {
            binding_table_index: u(index),
            surface_state_pointer: Shifted::new(offset).expect("a multiple of 64"),
        })
        .collect();
    macro_rules! packet {
        ($name:ident) => {
            packets![$name {
                binding_table_edit_target: target,
                binding_table_block_clear: u(clear),
                entry: entries[..].into(),
            }]
        };
    }
    match stage {
        VS => packet!(ThreeDStateBindingTableEditVs),
        HS => packet!(ThreeDStateBindingTableEditHs),
        DS => packet!(ThreeDStateBindingTableEditDs),
        GS => packet!(ThreeDStateBindingTableEditGs),
        _ => packet!(ThreeDStateBindingTableEditPs),
    }
}

/// 3DSTATE_BINDING_TABLE_POINTERS_* with bits 15:5 of dword 1, as bytes.
pub fn pointers(stage: usize, field: u64) -> Vec<u32> {
    match stage {
        VS => {
            packets![ThreeDStateBindingTablePointersVs { pointer_to_vs_binding_table: at(field) }]
        }
        HS => {
            packets![ThreeDStateBindingTablePointersHs { pointer_to_hs_binding_table: at(field) }]
        }
        DS => {
            packets![ThreeDStateBindingTablePointersDs { pointer_to_ds_binding_table: at(field) }]
        }
        GS => {
            packets![ThreeDStateBindingTablePointersGs { pointer_to_gs_binding_table: at(field) }]
        }
        _ => packets![ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: at(field) }],
    }
}

/// 3DSTATE_CONSTANT_*.
pub fn constants(stage: usize, constant_body: ThreeDStateConstantBody) -> Vec<u32> {
    macro_rules! packet {
        ($name:ident) => {
            packets![$name { constant_body, ..$name::new() }]
        };
    }
    match stage {
        VS => packet!(ThreeDStateConstantVs),
        HS => packet!(ThreeDStateConstantHs),
        DS => packet!(ThreeDStateConstantDs),
        GS => packet!(ThreeDStateConstantGs),
        _ => packet!(ThreeDStateConstantPs),
    }
}

/// An entry of a gather table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Constant buffer, from the start of the block.
    pub buffer: u64,
    /// Offset of a vector of four dwords in the buffer, in units of 16 bytes.
    pub vector: u64,
    /// Dwords of the vector, a bit for each.
    pub mask: u64,
}

/// The fields of 3DSTATE_GATHER_CONSTANT_*.
#[derive(Clone, Debug)]
pub struct Gather {
    /// Buffers that are used.
    pub valid: u64,
    /// Block of binding table entries.
    pub block: u64,
    /// Byte offset in the pool.
    pub offset: u64,
    /// The buffer is one of DX9; only for the vertex and the pixel shader.
    pub dx9: bool,
    /// The entries of the gather table.
    pub picks: Vec<Pick>,
}

/// 3DSTATE_GATHER_CONSTANT_*. A dword has two entries. If the number of entries is odd, the second
/// entry of the last dword selects no channels.
pub fn gather(stage: usize, gather: &Gather) -> Vec<u32> {
    let entry = |pick: Option<&Pick>| {
        pick.map_or(GatherConstantEntry::new(), |pick| GatherConstantEntry {
            binding_table_index_offset: u(pick.buffer),
            channel_mask: u(pick.mask),
            constant_buffer_offset: u(pick.vector),
        })
    };
    macro_rules! packet {
        ($name:ident, $pair:ident $(, $dx9:ident)?) => {{
            let pairs: Vec<$pair> = gather
                .picks
                .chunks(2)
                .map(|pair| $pair { entry_0: entry(pair.first()), entry_1: entry(pair.get(1)) })
                .collect();
            packets![$name {
                constant_buffer_valid: u(gather.valid),
                constant_buffer_binding_table_block: u(gather.block),
                gather_buffer_offset: Shifted::new(gather.offset).expect("a multiple of 64"),
                $($dx9: gather.dx9,)?
                entries: pairs[..].into(),
                ..$name::new()
            }]
        }};
    }
    match stage {
        VS => packet!(
            ThreeDStateGatherConstantVs,
            ThreeDStateGatherConstantVsEntries,
            constant_buffer_dx9_enable
        ),
        HS => packet!(ThreeDStateGatherConstantHs, ThreeDStateGatherConstantHsEntries),
        DS => packet!(ThreeDStateGatherConstantDs, ThreeDStateGatherConstantDsEntries),
        GS => packet!(ThreeDStateGatherConstantGs, ThreeDStateGatherConstantGsEntries),
        _ => packet!(
            ThreeDStateGatherConstantPs,
            ThreeDStateGatherConstantPsEntries,
            constant_buffer_dx9_enable
        ),
    }
}

/// 3DSTATE_BINDING_TABLE_POOL_ALLOC of [`TABLES`].
pub fn table_pool() -> ThreeDStateBindingTablePoolAlloc {
    ThreeDStateBindingTablePoolAlloc {
        binding_table_pool_enable: true,
        binding_table_pool_base_address: at(TABLES),
        binding_table_pool_buffer_size: u(TABLES_BYTES / 4096),
        ..ThreeDStateBindingTablePoolAlloc::new()
    }
}

/// 3DSTATE_GATHER_POOL_ALLOC of [`GATHERED`].
pub fn gather_pool() -> ThreeDStateGatherPoolAlloc {
    ThreeDStateGatherPoolAlloc {
        gather_pool_enable: true,
        gather_pool_base_address: at(GATHERED),
        gather_pool_buffer_size: u(GATHERED_BYTES / 4096),
        ..ThreeDStateGatherPoolAlloc::new()
    }
}

/// 3DSTATE_DX9_CONSTANT_BUFFER_POOL_ALLOC of [`DX9`].
pub fn dx9_pool() -> ThreeDStateDx9ConstantBufferPoolAlloc {
    ThreeDStateDx9ConstantBufferPoolAlloc {
        dx9_constant_buffer_pool_enable: true,
        dx9_constant_buffer_pool_base_address: at(DX9),
        dx9_constant_buffer_pool_buffer_size: u(DX9_BYTES / 8192),
        ..ThreeDStateDx9ConstantBufferPoolAlloc::new()
    }
}
