//! Packets for draws: selection of the 3D pipeline, and vertices without a vertex shader.

use crate::{KERNELS, at, minus_one, packets, select, u};
use genxml::gen8::enums::ThreeDVertexComponentControl as Component;
use genxml::gen8::mi::PipelineSelectPipelineSelection;
use genxml::gen8::render3d_fetch::{VertexBufferState, VertexElementState};
use genxml::gen8::render3d_stages::{
    ThreeDStateUrbDs, ThreeDStateUrbGs, ThreeDStateUrbHs, ThreeDStateUrbVs,
};
use genxml::gen8::state::{StateBaseAddress, SurfaceFormat};

/// Selects the 3D pipeline and the bases of this crate, with kernels at [`KERNELS`].
pub fn pipeline() -> Vec<u32> {
    let bases =
        StateBaseAddress { instruction_base_address: at(KERNELS), ..StateBaseAddress::new() };
    select(PipelineSelectPipelineSelection::_3D, bases)
}

/// Space in the URB for entries of `size` units of 64 bytes: 64 of the vertex shader, 8 of the hull
/// shader, 40 of the domain shader, 16 of the geometry shader.
pub fn urb(size: u64) -> Vec<u32> {
    let size = minus_one(size);
    packets![
        ThreeDStateUrbVs {
            vs_urb_starting_address: u(4),
            vs_urb_entry_allocation_size: size,
            vs_number_of_urb_entries: u(64),
        },
        ThreeDStateUrbHs {
            hs_urb_starting_address: u(12),
            hs_urb_entry_allocation_size: size,
            hs_number_of_urb_entries: u(8),
        },
        ThreeDStateUrbDs {
            ds_urb_starting_address: u(16),
            ds_urb_entry_allocation_size: size,
            ds_number_of_urb_entries: u(40),
        },
        ThreeDStateUrbGs {
            gs_urb_starting_address: u(24),
            gs_urb_entry_allocation_size: size,
            gs_number_of_urb_entries: u(16),
        },
    ]
}

/// An element whose components all have the same control.
pub fn element(offset: u64, format: SurfaceFormat, control: Component) -> VertexElementState {
    VertexElementState {
        valid: true,
        source_element_format: format,
        source_element_offset: u(offset),
        component_0_control: control,
        component_1_control: control,
        component_2_control: control,
        component_3_control: control,
        ..VertexElementState::new()
    }
}

/// `count` elements of four dwords, at consecutive offsets.
pub fn elements(count: u64) -> Vec<VertexElementState> {
    let element =
        |n| element(16 * n, SurfaceFormat::R32G32B32A32_UINT, Component::VFCOMP_STORE_SRC);
    (0..count).map(element).collect()
}

/// The state of buffer 0. `pitch` is the size of a vertex, `size` the size of the buffer, in bytes.
pub fn vertex_buffer(address: u64, pitch: u64, size: u64) -> VertexBufferState {
    VertexBufferState {
        buffer_pitch: u(pitch),
        address_modify_enable: true,
        buffer_starting_address: at(address),
        buffer_size: u(size),
        ..VertexBufferState::new()
    }
}
