//! What draws share: the 3D pipeline selected, vertices without a vertex shader.

use crate::{KERNELS, at, select, u};
use genxml::gen8::enums::ThreeDVertexComponentControl as Component;
use genxml::gen8::mi::PipelineSelectPipelineSelection;
use genxml::gen8::render3d_fetch::{VertexBufferState, VertexElementState};
use genxml::gen8::state::{StateBaseAddress, SurfaceFormat};

/// The 3D pipeline with the bases of this crate, kernels from [`KERNELS`] on.
pub fn pipeline() -> Vec<u32> {
    let bases =
        StateBaseAddress { instruction_base_address: at(KERNELS), ..StateBaseAddress::new() };
    select(PipelineSelectPipelineSelection::_3D, bases)
}

/// All components of an element by one rule.
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

/// So many elements of four dwords, one behind the other.
pub fn elements(count: u64) -> Vec<VertexElementState> {
    let element =
        |n| element(16 * n, SurfaceFormat::R32G32B32A32_UINT, Component::VFCOMP_STORE_SRC);
    (0..count).map(element).collect()
}

/// Buffer 0: bytes of a vertex, bytes of all.
pub fn vertex_buffer(address: u64, pitch: u64, size: u64) -> VertexBufferState {
    VertexBufferState {
        buffer_pitch: u(pitch),
        address_modify_enable: true,
        buffer_starting_address: at(address),
        buffer_size: u(size),
        ..VertexBufferState::new()
    }
}
