//! Draws with a vertex shader and a pixel shader.

use super::Heaps;
use crate::batch::{Batch, BatchError, Buffer};
use crate::engine::Render;
use crate::gen8::enums::{ThreeDPrimTopoType, ThreeDVertexComponentControl as Component};
use crate::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersPs, ThreeDStateSamplerStatePointersPs,
};
use crate::gen8::render3d_fetch::*;
use crate::gen8::render3d_pixel::*;
use crate::gen8::render3d_raster::ThreeDStateSbe;
use crate::gen8::render3d_stages::ThreeDStateVs;
use crate::gen8::state::{SamplerState, SurfaceFormat};
use crate::packet;
use crate::pipeline::ThreeD;
use alloc::vec::Vec;
use genxml_core::address::SurfaceState;
use genxml_core::{Address, U};

/// A vertex element: `components` values of `format` from byte `offset` of the vertex on. Missing
/// components are 0; a missing fourth component is 1.
///
/// # Errors
/// [`BatchError::Field`] if the offset does not fit its field.
pub fn element(
    format: SurfaceFormat,
    components: usize,
    offset: usize,
) -> Result<VertexElementState, BatchError> {
    let control = |component| match component {
        _ if component < components => Component::VFCOMP_STORE_SRC,
        3 => Component::VFCOMP_STORE_1_FP,
        _ => Component::VFCOMP_STORE_0,
    };
    Ok(packet! {
        VertexElementState {
            valid: true,
            source_element_format: format,
            source_element_offset: offset?,
            component_0_control: control(0),
            component_1_control: control(1),
            component_2_control: control(2),
            component_3_control: control(3),
            ..
        }
    })
}

/// A draw: vertices, shaders of SIMD8, surfaces and samplers of the pixel shader. State that it does
/// not set is that of [`initial`](super::initial) or of other packets before it.
///
/// The vertex shader gets the vertex elements from register 2 on, a register for each component. It
/// writes header, position and attributes to the URB. Without a vertex shader, the elements must be
/// header (0, 0, 0, and the width of points), position and attributes.
///
/// The pixel shader of a draw without attributes gets r0 and r1. With attributes it gets the
/// barycentric coordinates in r2 and r3, and from r4 on the planes of the attributes, two registers
/// for each.
///
/// ```
/// use genxml::batch::{Batch, Buffer};
/// use genxml::engine::Render;
/// use genxml::gen8::enums::ThreeDPrimTopoType;
/// use genxml::gen8::state::SurfaceFormat;
/// use genxml::setup::{Draw, Heaps, Surface, element, initial};
///
/// # let kernel = [0x0780_0031, 0x2000_0a40, 0x0e00_0e00, 0x8200_0010];
/// let target = Buffer::new("target", 0x100_0000, 64 * 64 * 4)?;
/// let vertices = Buffer::new("vertices", 0x200_0000, 4096)?;
/// let mut heaps = Heaps::new(0x20_0000)?;
/// let image = heaps.surface(&target, &Surface::image(SurfaceFormat::R8G8B8A8_UNORM, 64, 64))?;
/// let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_3d()?;
/// initial(&mut batch, &mut heaps, 64, 64)?;
/// let draw = Draw {
///     surfaces: vec![image],
///     elements: vec![
///         element(SurfaceFormat::R32G32B32A32_FLOAT, 0, 0)?,
///         element(SurfaceFormat::R32G32_FLOAT, 2, 0)?,
///     ],
///     ..Draw::new(ThreeDPrimTopoType::_3DPRIM_TRILIST, &vertices, 8, 3, &kernel)
/// };
/// draw.emit(&mut batch, &mut heaps)?;
/// let submission = batch.finish()?.submit(heaps.finish().into_iter().chain([target, vertices]))?;
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw<'a> {
    /// How vertices form primitives.
    pub topology: ThreeDPrimTopoType,
    /// The vertices.
    pub vertices: &'a Buffer,
    /// Bytes from one vertex to the next.
    pub pitch: u32,
    /// The vertex elements ([`element`]).
    pub elements: Vec<VertexElementState>,
    /// Number of vertices of an instance.
    pub count: u32,
    /// Number of instances.
    pub instances: u32,
    /// The vertex shader, as dwords.
    pub vertex: Option<&'a [u32]>,
    /// The pixel shader, as dwords.
    pub pixel: &'a [u32],
    /// Number of attributes of four components that are interpolated with perspective, 0 to 31.
    pub attributes: u32,
    /// The surfaces that the pixel shader names by index, from 0 on: render targets first.
    pub surfaces: Vec<Address<SurfaceState, 64, 32>>,
    /// The samplers that the pixel shader names by index, from 0 on.
    pub samplers: Vec<SamplerState>,
}

impl<'a> Draw<'a> {
    /// One instance of `count` vertices of `pitch` bytes, without elements, vertex shader,
    /// attributes, surfaces and samplers.
    pub const fn new(
        topology: ThreeDPrimTopoType,
        vertices: &'a Buffer,
        pitch: u32,
        count: u32,
        pixel: &'a [u32],
    ) -> Draw<'a> {
        Draw {
            topology,
            vertices,
            pitch,
            elements: Vec::new(),
            count,
            instances: 1,
            vertex: None,
            pixel,
            attributes: 0,
            surfaces: Vec::new(),
            samplers: Vec::new(),
        }
    }

    /// Emits the state of vertex fetch: the buffer, the elements, and the topology.
    ///
    /// # Errors
    /// As [`Batch::emit`]; [`BatchError::Field`] if a number does not fit its field.
    pub fn fetch(&self, batch: &mut Batch<Render, ThreeD>) -> Result<(), BatchError> {
        let buffers = [packet! {
            VertexBufferState {
                buffer_pitch: (self.pitch)?,
                address_modify_enable: true,
                buffer_starting_address: batch.reads(self.vertices, 0)?,
                buffer_size: (self.vertices.bytes().len())?,
                ..
            }
        }];
        crate::batch! { batch =>
            ThreeDStateVertexBuffers { vertex_buffer_state: (&buffers).into() };
            ThreeDStateVertexElements { element: self.elements.as_slice().into() };
            // No element stays the same for all vertices of an instance.
            for index in 0..self.elements.len() {
                ThreeDStateVfInstancing { vertex_element_index: index?, .. };
            }
            ThreeDStateVfStatistics { statistics_enable: true };
            ThreeDStateVf::new(); // no index cuts a strip
            ThreeDStateVfSgvs::new(); // shaders do not use the numbers of vertices and instances
            ThreeDStateVfTopology { primitive_topology_type: self.topology };
        }
    }

    /// Puts the vertex shader into a heap and emits its state; without one, emits nothing.
    ///
    /// # Errors
    /// As [`Heap::kernel`](crate::batch::Heap::kernel) and [`Batch::emit`].
    pub fn vertex_shader(
        &self,
        batch: &mut Batch<Render, ThreeD>,
        heaps: &mut Heaps,
    ) -> Result<(), BatchError> {
        let Some(kernel) = self.vertex else { return Ok(()) };
        let kernel = heaps.instructions.kernel(kernel)?;
        crate::batch! { batch =>
            ThreeDStateVs {
                function_enable: true,
                statistics_enable: true,
                kernel_start_pointer: kernel,
                simd8_dispatch_enable: true,
                maximum_number_of_threads: 64,
                dispatch_grf_start_register_for_urb_data: 2,
                // In pairs of elements.
                vertex_urb_entry_read_length: (self.elements.len().div_ceil(2))?,
                vertex_urb_entry_output_read_offset: 1, // header and position are the first pair
                vertex_urb_entry_output_length: (self.attributes.div_ceil(2).max(1))?,
                ..
            };
        }
    }

    /// Emits the way of the attributes from the vertices to the pixel shader.
    ///
    /// # Errors
    /// As [`Batch::emit`]; [`BatchError::Field`] if there are too many attributes.
    pub fn interpolation(&self, batch: &mut Batch<Render, ThreeD>) -> Result<(), BatchError> {
        let any = self.attributes > 0;
        crate::batch! { batch =>
            ThreeDStateSbe {
                number_of_sf_output_attributes: (self.attributes)?,
                force_vertex_urb_entry_read_offset: true,
                vertex_urb_entry_read_offset: 1, // in pairs of slots, after header and position
                force_vertex_urb_entry_read_length: true,
                vertex_urb_entry_read_length: (self.attributes.div_ceil(2).max(1))?,
                ..
            };
            ThreeDStateWm {
                barycentric_interpolation_mode: (u32::from(any))?,
                statistics_enable: true,
                ..
            };
            ThreeDStatePsExtra { pixel_shader_valid: true, attribute_enable: any, .. };
        }
    }

    /// Puts the pixel shader, its surfaces and its samplers into the heaps, and emits their state.
    ///
    /// # Errors
    /// As [`Heap::put`](crate::batch::Heap::put) and [`Batch::emit`].
    pub fn pixel_shader(
        &self,
        batch: &mut Batch<Render, ThreeD>,
        heaps: &mut Heaps,
    ) -> Result<(), BatchError> {
        let kernel = heaps.instructions.kernel(self.pixel)?;
        let table = heaps.surfaces.binding_table(&self.surfaces)?;
        let samplers = match self.samplers.as_slice() {
            [] => None,
            samplers => Some(heaps.dynamic.samplers(samplers)?),
        };
        crate::batch! { batch =>
            ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table };
            if let Some(samplers) = samplers {
                ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: samplers };
            }
            ThreeDStatePs {
                kernel_start_pointer_0: kernel,
                _8_pixel_dispatch_enable: true,
                maximum_number_of_threads_per_psd: 62,
                // Hints for prefetching.
                binding_table_entry_count: (self.surfaces.len().min(31))?,
                dispatch_grf_start_register_for_constant_setup_data_0:
                    (if self.attributes > 0 { 4 } else { 2 })?,
                ..
            };
        }
    }

    /// The command that draws.
    pub fn primitive(&self) -> ThreeDPrimitive {
        ThreeDPrimitive {
            vertex_count_per_instance: U::from_bits(self.count.into()),
            instance_count: U::from_bits(self.instances.into()),
            ..ThreeDPrimitive::new()
        }
    }

    /// Emits everything: vertex fetch, shaders, and the command.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch), [`vertex_shader`](Self::vertex_shader),
    /// [`interpolation`](Self::interpolation), [`pixel_shader`](Self::pixel_shader) and
    /// [`Batch::emit`].
    pub fn emit(
        &self,
        batch: &mut Batch<Render, ThreeD>,
        heaps: &mut Heaps,
    ) -> Result<(), BatchError> {
        self.fetch(batch)?;
        self.vertex_shader(batch, heaps)?;
        self.interpolation(batch)?;
        self.pixel_shader(batch, heaps)?;
        batch.emit(&self.primitive())?;
        Ok(())
    }
}
