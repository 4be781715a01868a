//! Draws without a vertex shader to a target of floats. A vertex consists of its position in clip
//! space, one attribute, and the elements that a test adds.

use genxml::eu;
use genxml::gen8::enums::{ThreeDPrimTopoType as Code, ThreeDVertexComponentControl as Component};
use genxml::gen8::render3d_binding::ThreeDStateBindingTablePointersPs;
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDStateVertexBuffers, ThreeDStateVertexElements, ThreeDStateVfTopology,
    VertexElementState,
};
use genxml::gen8::render3d_pixel::{
    ThreeDStatePs, ThreeDStatePsBlend, ThreeDStatePsExtra, ThreeDStateWm,
};
use genxml::gen8::render3d_raster::{
    SfClipViewport, ThreeDStateClip, ThreeDStateDrawingRectangle, ThreeDStateMultisample,
    ThreeDStateRaster, ThreeDStateRasterCullMode, ThreeDStateSampleMask, ThreeDStateSbe,
    ThreeDStateSf, ThreeDStateSfPointWidthSource, ThreeDStateViewportStatePointersSfClip,
};
use genxml::gen8::state::{RenderSurfaceState, ShaderChannelSelect, SurfaceFormat, SurfaceType};
use genxml_cases::{
    DYNAMIC_STATE, KERNELS, Model, at, draw, minus_one, packets, push, put_surfaces, u,
};
use genxml_core::UFix;
use genxml_sim::{Fault, Stats};

/// Address of the vertices.
pub const VERTICES: u64 = 0x40_0000;
/// Address of the render target.
pub const TARGET: u64 = 0x80_0000;
/// Width and height of the render target in pixels.
pub const SIZE: u32 = 64;
/// Bytes of a vertex.
pub const VERTEX: u64 = 36;

/// A model with memory for vertices and the render target.
pub fn model() -> Model {
    let mut model = Model::new();
    model.map(VERTICES, 64 << 10);
    model.map(TARGET, 1 << 20);
    model
}

/// A vertex: position in pixels, depth, w, an attribute, and its edge flag.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// X and Y on the screen, depth.
    pub at: [f32; 3],
    /// w of clip space.
    pub w: f32,
    /// Attribute 0.
    pub attribute: [f32; 4],
    /// Not 0 if the edge that starts here is drawn.
    pub flag: u32,
}

impl Vertex {
    /// A vertex at a position on the screen, with w = 1.
    pub fn at(x: f32, y: f32) -> Vertex {
        Vertex { at: [x, y, 0.0], w: 1.0, attribute: [0.0; 4], flag: 1 }
    }
}

/// The parts of a draw that differ from test to test.
#[derive(Clone, Debug)]
pub struct Draw {
    /// How vertices make up objects.
    pub topology: Code,
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// True if the vertices have edge flags.
    pub flags: bool,
    /// The pixel shader.
    pub kernel: Vec<u32>,
    /// 3DSTATE_PS: kernel, binding table, dispatch widths.
    pub ps: ThreeDStatePs,
    /// Properties of the pixel shader.
    pub extra: ThreeDStatePsExtra,
    /// Windower state.
    pub wm: ThreeDStateWm,
    /// Rasteriser state.
    pub raster: ThreeDStateRaster,
    /// The render target.
    pub target: RenderSurfaceState,
    /// Further packets, before the draw.
    pub more: Vec<u32>,
    /// Number of instances.
    pub instances: u64,
}

/// A pixel shader that writes white, for eight pixels.
pub const WHITE: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:f  1.0:f
    mov (8|M0)       r113.0<1>:f  1.0:f
    mov (8|M0)       r114.0<1>:f  1.0:f
    mov (8|M0)       r115.0<1>:f  1.0:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

/// Descriptor of the render target write of eight channels, the last message.
pub const WRITE_8: u32 = 0x0803_1400;

impl Draw {
    /// A draw with eight pixels per thread, no depth test, no blending, no culling, and points one
    /// pixel wide.
    pub fn new(topology: Code, vertices: Vec<Vertex>, kernel: &[u32]) -> Draw {
        Draw {
            topology,
            vertices,
            flags: false,
            kernel: kernel.to_vec(),
            ps: ThreeDStatePs {
                _8_pixel_dispatch_enable: true,
                dispatch_grf_start_register_for_constant_setup_data_0: u(8),
                maximum_number_of_threads_per_psd: u(62),
                ..ThreeDStatePs::new()
            },
            extra: ThreeDStatePsExtra { pixel_shader_valid: true, ..ThreeDStatePsExtra::new() },
            wm: ThreeDStateWm { statistics_enable: true, ..ThreeDStateWm::new() },
            raster: ThreeDStateRaster {
                cull_mode: ThreeDStateRasterCullMode::CULLMODE_NONE,
                ..ThreeDStateRaster::new()
            },
            target: target(SurfaceFormat::R32G32B32A32_FLOAT, 16),
            more: Vec::new(),
            instances: 1,
        }
    }

    /// Writes the vertices and state to memory and returns the batch.
    pub fn batch(&self, model: &mut Model) -> Vec<u32> {
        model.put(KERNELS, &self.kernel);
        let dwords: Vec<u32> = self
            .vertices
            .iter()
            .flat_map(|v| {
                let [x, y, z] = v.at.map(|c| (c * v.w).to_bits());
                let position = [x, y, z, v.w.to_bits()];
                [&position[..], &v.attribute.map(f32::to_bits), &[v.flag]].concat()
            })
            .collect();
        model.put(VERTICES, &dwords);
        let table = put_surfaces(model, &[self.target]);
        let viewport = SfClipViewport {
            viewport_matrix_element_m00: 1.0,
            viewport_matrix_element_m11: 1.0,
            viewport_matrix_element_m22: 1.0,
            x_max_view_port: SIZE as f32 - 1.0,
            y_max_view_port: SIZE as f32 - 1.0,
            ..SfClipViewport::new()
        };
        model.put(DYNAMIC_STATE, &viewport.pack());
        let (float, stored) = (SurfaceFormat::R32G32B32A32_FLOAT, Component::VFCOMP_STORE_SRC);
        let mut elements = vec![
            draw::element(0, float, Component::VFCOMP_STORE_0),
            draw::element(0, float, stored),
            draw::element(16, float, stored),
        ];
        if self.flags {
            elements.push(VertexElementState {
                edge_flag_enable: true,
                component_0_control: stored,
                ..draw::element(32, SurfaceFormat::R32_UINT, Component::VFCOMP_NOSTORE)
            });
        }
        let vertices = [draw::vertex_buffer(VERTICES, VERTEX, VERTEX * self.vertices.len() as u64)];
        let mut batch = draw::pipeline();
        batch.extend(packets![
            ThreeDStateVfTopology { primitive_topology_type: self.topology },
            ThreeDStateVertexBuffers { vertex_buffer_state: vertices[..].into() },
            ThreeDStateVertexElements { element: elements[..].into() },
            ThreeDStateViewportStatePointersSfClip { sf_clip_viewport_pointer: at(0) },
            ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: at(table) },
            ThreeDStateDrawingRectangle {
                clipped_drawing_rectangle_x_max: u(SIZE as u64 - 1),
                clipped_drawing_rectangle_y_max: u(SIZE as u64 - 1),
                ..ThreeDStateDrawingRectangle::new()
            },
            ThreeDStateMultisample::new(),
            ThreeDStateSampleMask { sample_mask: u(0xffff) },
            ThreeDStateClip { clipper_statistics_enable: true, ..ThreeDStateClip::new() },
            ThreeDStateSf {
                viewport_transform_enable: true,
                statistics_enable: true,
                point_width_source: ThreeDStateSfPointWidthSource::STATE,
                point_width: UFix::from_bits(8),
                ..ThreeDStateSf::new()
            },
            ThreeDStateSbe {
                number_of_sf_output_attributes: u(1),
                vertex_urb_entry_read_offset: u(1),
                force_vertex_urb_entry_read_offset: true,
                vertex_urb_entry_read_length: u(1),
                force_vertex_urb_entry_read_length: true,
                ..ThreeDStateSbe::new()
            },
            self.raster,
            self.wm,
            self.ps,
            self.extra,
            ThreeDStatePsBlend { has_writeable_rt: true, ..ThreeDStatePsBlend::new() },
        ]);
        batch.extend(&self.more);
        push(
            &mut batch,
            &ThreeDPrimitive {
                vertex_count_per_instance: u(self.vertices.len() as u64),
                instance_count: u(self.instances),
                ..ThreeDPrimitive::new()
            },
        );
        batch
    }

    /// Draws to a target of zeros.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn run(&self, model: &mut Model) -> Result<Stats, Fault> {
        model.write(TARGET, &[0; 16 * (SIZE * SIZE) as usize]);
        let batch = self.batch(model);
        model.render(&batch)
    }
}

/// A linear render target whose pixels have `bytes` bytes.
pub fn target(format: SurfaceFormat, bytes: u64) -> RenderSurfaceState {
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: format,
        surface_base_address: at(TARGET),
        extent: genxml::gen8::state::RenderSurfaceStateExtent::Image {
            width: minus_one(SIZE.into()),
            height: minus_one(SIZE.into()),
            depth: minus_one(1),
        },
        surface_pitch: minus_one(bytes * u64::from(SIZE)),
        shader_channel_select_red: ShaderChannelSelect::RED,
        shader_channel_select_green: ShaderChannelSelect::GREEN,
        shader_channel_select_blue: ShaderChannelSelect::BLUE,
        shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
        ..RenderSurfaceState::new()
    }
}

/// The four floats of a pixel.
pub fn pixel(model: &mut Model, x: u32, y: u32) -> [f32; 4] {
    let dwords = model.get(TARGET + 16 * u64::from(y * SIZE + x), 4);
    [0, 1, 2, 3].map(|n: usize| f32::from_bits(dwords[n]))
}
