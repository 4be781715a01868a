//! A draw without a vertex shader, so the slots of a vertex (header, position, attributes) are its
//! elements. It has a small pixel shader and otherwise default state. A test changes only what it
//! checks.

use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_binding::ThreeDStateBindingTablePointersPs;
use genxml::gen8::render3d_constants::ThreeDStateConstantPs;
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat as DepthFormat,
    ThreeDStateStencilBuffer, ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDStateVertexBuffers, ThreeDStateVertexElements, ThreeDStateVfTopology,
};
use genxml::gen8::render3d_pixel::{
    BlendState, ColorCalcState, ThreeDStateBlendStatePointers, ThreeDStateCcStatePointers,
    ThreeDStatePs, ThreeDStatePsBlend, ThreeDStatePsExtra, ThreeDStateWm,
};
use genxml::gen8::render3d_raster::{
    CcViewport, ScissorRect, SfClipViewport, ThreeDStateClip, ThreeDStateDrawingRectangle,
    ThreeDStateMultisample, ThreeDStateRaster, ThreeDStateRasterCullMode as Cull,
    ThreeDStateRasterFrontWinding as Winding, ThreeDStateSampleMask, ThreeDStateSbe,
    ThreeDStateScissorStatePointers, ThreeDStateSf, ThreeDStateSfPointWidthSource as PointWidth,
    ThreeDStateViewportStatePointersCc, ThreeDStateViewportStatePointersSfClip,
};
use genxml::gen8::state::{
    ClearColor, NumberOfMultisamples, RenderSurfaceState, RenderSurfaceStateAuxiliary,
    RenderSurfaceStateAuxiliarySurfaceMode as AuxiliaryMode, RenderSurfaceStateExtent,
    RenderSurfaceStateMultisampledSurfaceStorageFormat as Storage,
    RenderSurfaceStateRenderTargetAndSampleUnormRotation as Rotation, RenderSurfaceStateView,
    ShaderChannelSelect, SurfaceFormat, SurfaceType, TileMode,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{
    DYNAMIC_STATE, KERNELS, Model, at, draw, minus_one, packets, push, put_surfaces, u,
};
use genxml_core::Shifted;
use genxml_sim::{Fault, Stats};

/// Address of the vertices.
pub const VERTICES: u64 = 0x40_0000;
/// Address of the render targets, 256 KiB each.
pub const TARGETS: u64 = 0x60_0000;
/// Address of the depth buffer.
pub const DEPTH: u64 = 0x80_0000;
/// Address of the stencil buffer.
pub const STENCIL: u64 = 0x84_0000;
/// Address of the auxiliary surface.
pub const AUXILIARY: u64 = 0x88_0000;
/// Offset of push constants from the dynamic state base.
pub const CONSTANTS: u64 = 0x1000;
/// Size in bytes of the memory for each target or buffer.
pub const ROOM: u64 = 256 << 10;

// Offsets from the dynamic state base.
const SF_VIEWPORTS: u64 = 0;
const CC_VIEWPORTS: u64 = 0x400;
const SCISSORS: u64 = 0x500;
const BLEND: u64 = 0x600;
const COLOR: u64 = 0x700;

/// A vertex.
#[derive(Clone, Debug)]
pub struct Vertex {
    /// Unused, render target array index, viewport index, point width.
    pub header: [u32; 4],
    /// Position in pixels on the screen; in clip space if the scene is [`clipped`](Scene::clipped).
    pub position: [f32; 4],
    /// Attributes: raw dwords.
    pub attributes: Vec<[u32; 4]>,
}

/// A vertex in screen coordinates with one attribute. All components of the attribute are `value`.
pub fn on_screen(x: f32, y: f32, value: u32) -> Vertex {
    Vertex { header: [0; 4], position: [x, y, 0.0, 1.0], attributes: vec![[value; 4]] }
}

/// A render target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Format of a pixel.
    pub format: SurfaceFormat,
    /// Bytes of a pixel.
    pub bytes: u32,
    /// Samples of a pixel.
    pub samples: u32,
    /// Number of layers.
    pub layers: u32,
    /// True for Y tiles. Surfaces of several samples always have them.
    pub tiled: bool,
    /// Initial contents of its memory: these four dwords, repeated.
    pub before: [u32; 4],
}

impl Target {
    /// A target of zeros with one sample and one layer.
    pub const fn new(format: SurfaceFormat, bytes: u32) -> Target {
        Target { format, bytes, samples: 1, layers: 1, tiled: false, before: [0; 4] }
    }

    fn is_tiled(&self) -> bool {
        self.tiled || self.samples > 1
    }
}

/// One dword per pixel.
pub const DWORDS: Target = Target::new(SurfaceFormat::R32_UINT, 4);
/// Four floats per pixel.
pub const FLOATS: Target = Target::new(SurfaceFormat::R32G32B32A32_FLOAT, 16);

/// A draw with all its state.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Width and height of the screen and of all targets in pixels.
    pub size: [u32; 2],
    /// How vertices make up objects.
    pub topology: Code,
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// The pixel shader.
    pub kernel: &'static [u32],
    /// Registers of push constants.
    pub constants: Vec<[u32; 8]>,
    pub targets: Vec<Target>,
    pub clip: ThreeDStateClip,
    pub sf: ThreeDStateSf,
    pub raster: ThreeDStateRaster,
    pub wm: ThreeDStateWm,
    pub sbe: ThreeDStateSbe,
    pub ps: ThreeDStatePs,
    pub extra: ThreeDStatePsExtra,
    pub samples: NumberOfMultisamples,
    pub sample_mask: u64,
    pub viewports: Vec<(SfClipViewport, CcViewport)>,
    pub scissors: Vec<ScissorRect>,
    pub blend: BlendState,
    pub color: ColorCalcState,
    /// Format of the depth buffer, if there is one, and the initial dword (or word) of its pixels.
    pub depth: Option<(DepthFormat, u32)>,
    /// Initial value of the bytes of the stencil buffer, if there is one.
    pub stencil: Option<u8>,
    pub tests: ThreeDStateWmDepthStencil,
    /// Mode of the auxiliary surface of target 0, which lies at [`AUXILIARY`].
    pub auxiliary: AuxiliaryMode,
    /// Packets after all others, before the draw.
    pub more: Vec<u32>,
    pub instances: u64,
}

/// The viewport for a rectangle of the screen: clip space from -1 to 1 becomes its width and
/// height, with Y up as in OpenGL.
pub fn viewport([x0, y0, x1, y1]: [f32; 4]) -> SfClipViewport {
    let half = [(x1 - x0) / 2.0, (y1 - y0) / 2.0];
    SfClipViewport {
        viewport_matrix_element_m00: half[0],
        viewport_matrix_element_m11: -half[1],
        viewport_matrix_element_m22: 1.0,
        viewport_matrix_element_m30: x0 + half[0],
        viewport_matrix_element_m31: y0 + half[1],
        viewport_matrix_element_m32: 0.0,
        x_min_clip_guardband: -8.0,
        x_max_clip_guardband: 8.0,
        y_min_clip_guardband: -8.0,
        y_max_clip_guardband: 8.0,
        x_min_view_port: x0,
        x_max_view_port: x1 - 1.0,
        y_min_view_port: y0,
        y_max_view_port: y1 - 1.0,
    }
}

const WHOLE_DEPTH: CcViewport = CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 };

impl Scene {
    /// A scene on a screen of `size` pixels, with positions in pixels.
    /// [`crate::screen::kernels::FLAT`] writes the attribute of the provoking vertex to a target of
    /// dwords.
    pub fn new(size: [u32; 2], topology: Code, vertices: Vec<Vertex>) -> Scene {
        let widest = genxml_core::UFix::from_bits(0x7ff);
        Scene {
            size,
            topology,
            vertices,
            kernel: crate::screen::kernels::FLAT,
            constants: Vec::new(),
            targets: vec![DWORDS],
            clip: ThreeDStateClip {
                perspective_divide_disable: true,
                minimum_point_width: genxml_core::UFix::from_bits(1),
                maximum_point_width: widest,
                ..ThreeDStateClip::new()
            },
            sf: ThreeDStateSf {
                point_width_source: PointWidth::STATE,
                point_width: genxml_core::UFix::from_bits(1 << 3),
                ..ThreeDStateSf::new()
            },
            raster: ThreeDStateRaster {
                cull_mode: Cull::CULLMODE_NONE,
                front_winding: Winding::CLOCKWISE,
                ..ThreeDStateRaster::new()
            },
            wm: ThreeDStateWm { barycentric_interpolation_mode: u(1), ..ThreeDStateWm::new() },
            sbe: ThreeDStateSbe {
                force_vertex_urb_entry_read_offset: true,
                vertex_urb_entry_read_offset: u(1),
                force_vertex_urb_entry_read_length: true,
                constant_interpolation_enable: u(u32::MAX.into()),
                ..ThreeDStateSbe::new()
            },
            ps: ThreeDStatePs {
                _8_pixel_dispatch_enable: true,
                maximum_number_of_threads_per_psd: u(62),
                ..ThreeDStatePs::new()
            },
            extra: ThreeDStatePsExtra {
                pixel_shader_valid: true,
                attribute_enable: true,
                ..ThreeDStatePsExtra::new()
            },
            samples: NumberOfMultisamples::_1,
            sample_mask: 0xff,
            viewports: vec![(viewport([0.0, 0.0, size[0] as f32, size[1] as f32]), WHOLE_DEPTH)],
            scissors: Vec::new(),
            blend: BlendState::unpack_lossy(&[0; BlendState::DWORDS]),
            color: ColorCalcState::unpack_lossy(&[0; ColorCalcState::DWORDS]),
            depth: None,
            stencil: None,
            tests: ThreeDStateWmDepthStencil::new(),
            auxiliary: AuxiliaryMode::AUX_NONE,
            more: Vec::new(),
            instances: 1,
        }
    }

    /// Makes positions count as clip space: the draw clips them, divides them by w, and transforms
    /// them to the viewport.
    #[must_use]
    pub fn clipped(mut self) -> Scene {
        self.clip = ThreeDStateClip {
            clip_enable: true,
            guardband_clip_test_enable: true,
            viewport_xy_clip_test_enable: true,
            perspective_divide_disable: false,
            ..self.clip
        };
        self.sf.viewport_transform_enable = true;
        self.raster.viewport_z_clip_test_enable = true;
        self
    }

    /// The surface state of a target.
    pub fn surface(&self, index: usize) -> RenderSurfaceState {
        let target = &self.targets[index];
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_array: target.layers > 1,
            surface_format: target.format,
            tile_mode: if target.is_tiled() { TileMode::YMAJOR } else { TileMode::LINEAR },
            surface_qpitch: Shifted::new(self.rows().into()).expect("a multiple of four"),
            extent: RenderSurfaceStateExtent::Image {
                width: minus_one(self.size[0].into()),
                height: minus_one(self.size[1].into()),
                depth: minus_one(target.layers.into()),
            },
            surface_pitch: minus_one(self.pitch(target).into()),
            view: RenderSurfaceStateView::Image {
                multisample_position_palette_index: u(0),
                number_of_multisamples: NumberOfMultisamples::from_bits(
                    target.samples.ilog2().into(),
                ),
                multisampled_surface_storage_format: Storage::MSS,
                render_target_view_extent: minus_one(target.layers.into()),
                minimum_array_element: u(0),
                render_target_and_sample_unorm_rotation: Rotation::_0DEG,
            },
            shader_channel_select_red: ShaderChannelSelect::RED,
            shader_channel_select_green: ShaderChannelSelect::GREEN,
            shader_channel_select_blue: ShaderChannelSelect::BLUE,
            shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
            auxiliary: match (index, self.auxiliary) {
                (0, mode) if mode != AuxiliaryMode::AUX_NONE => {
                    RenderSurfaceStateAuxiliary::Surface {
                        auxiliary_surface_mode: mode,
                        auxiliary_surface_pitch: minus_one(1),
                        auxiliary_surface_qpitch: Shifted::new(32).expect("a multiple of four"),
                        auxiliary_surface_base_address: at(AUXILIARY),
                    }
                }
                _ => RenderSurfaceState::new().auxiliary,
            },
            red_clear_color: ClearColor::CC_ONE,
            alpha_clear_color: ClearColor::CC_ONE,
            surface_base_address: at(TARGETS + index as u64 * ROOM),
            ..RenderSurfaceState::new()
        }
    }

    /// Number of rows from one layer or sample to the next.
    fn rows(&self) -> u32 {
        self.size[1].next_multiple_of(4)
    }

    /// Pitch of a target in bytes.
    fn pitch(&self, target: &Target) -> u32 {
        (self.size[0] * target.bytes).next_multiple_of(if target.is_tiled() { 128 } else { 64 })
    }

    /// First register after the payload that the fixed functions enable, for threads of 8 pixels.
    fn start(&self) -> u64 {
        let modes = self.wm.barycentric_interpolation_mode.get().count_ones();
        let offsets = self.ps.position_xy_offset_select.bits() > 1;
        let singles = [
            self.extra.pixel_shader_uses_source_depth,
            self.extra.pixel_shader_uses_source_w,
            offsets,
            self.extra.pixel_shader_uses_input_coverage_mask,
        ];
        2 + 2 * u64::from(modes) + singles.iter().filter(|&&on| on).count() as u64
    }

    /// A model whose memory has the initial contents.
    pub fn model(&self) -> Model {
        let mut model = Model::new();
        model.map(VERTICES, 64 << 10);
        for (index, target) in self.targets.iter().enumerate() {
            let address = TARGETS + index as u64 * ROOM;
            model.map(address, ROOM);
            model.put(address, &target.before.repeat(ROOM as usize / 16));
        }
        model.map(AUXILIARY, ROOM);
        if let Some((format, before)) = self.depth {
            model.map(DEPTH, ROOM);
            let before =
                if format == DepthFormat::D16_UNORM { before << 16 | before } else { before };
            model.put(DEPTH, &vec![before; ROOM as usize / 4]);
        }
        if let Some(before) = self.stencil {
            model.map(STENCIL, ROOM);
            model.write(STENCIL, &vec![before; ROOM as usize]);
        }
        model
    }

    /// Changes the target to four floats per pixel and the shader to `kernels::PLANES`, which
    /// writes the interpolated attribute.
    #[must_use]
    pub fn floats(mut self) -> Scene {
        self.kernel = crate::screen::kernels::PLANES;
        self.sbe.constant_interpolation_enable = u(0);
        self.targets = vec![FLOATS];
        self
    }

    /// Writes viewports, scissor rectangles, blend and colour state, and push constants to memory.
    fn put_state(&self, model: &mut Model) {
        for (index, (sf, cc)) in self.viewports.iter().enumerate() {
            model.put(DYNAMIC_STATE + SF_VIEWPORTS + 64 * index as u64, &sf.pack());
            model.put(DYNAMIC_STATE + CC_VIEWPORTS + 8 * index as u64, &cc.pack());
        }
        for (index, scissor) in self.scissors.iter().enumerate() {
            model.put(DYNAMIC_STATE + SCISSORS + 8 * index as u64, &scissor.pack());
        }
        model.put(DYNAMIC_STATE + BLEND, &self.blend.pack());
        model.put(DYNAMIC_STATE + COLOR, &self.color.pack());
        model.put(DYNAMIC_STATE + CONSTANTS, self.constants.as_flattened());
    }

    /// Writes the vertices to memory. Returns their size in bytes.
    fn put_vertices(&self, model: &mut Model) -> u64 {
        let mut data = Vec::new();
        for vertex in &self.vertices {
            data.extend(vertex.header);
            data.extend(vertex.position.map(f32::to_bits));
            data.extend(vertex.attributes.as_flattened());
        }
        model.put(VERTICES, &data);
        4 * data.len() as u64
    }

    /// Writes state and vertices to memory, and returns the batch.
    pub fn batch(&self, model: &mut Model) -> Vec<u32> {
        model.put(KERNELS, self.kernel);
        let surfaces: Vec<_> = (0..self.targets.len()).map(|index| self.surface(index)).collect();
        let table = put_surfaces(model, &surfaces);
        self.put_state(model);
        let bytes = self.put_vertices(model);
        let attributes = self.vertices.first().map_or(0, |vertex| vertex.attributes.len()) as u64;
        let elements = draw::elements(2 + attributes);
        let buffers = [draw::vertex_buffer(VERTICES, 16 * (2 + attributes), bytes)];
        let constants = ThreeDStateConstantPs {
            constant_body: genxml::gen8::render3d_constants::ThreeDStateConstantBody {
                constant_buffer_0_read_length: u(self.constants.len() as u64),
                pointer_to_constant_buffer_0: at(CONSTANTS),
                ..constant_body()
            },
            ..ThreeDStateConstantPs::new()
        };
        let mut batch = draw::pipeline();
        batch.extend(packets![
            ThreeDStateVfTopology { primitive_topology_type: self.topology },
            ThreeDStateVertexBuffers { vertex_buffer_state: buffers[..].into() },
            ThreeDStateVertexElements { element: elements[..].into() },
            ThreeDStateClip { maximum_vp_index: u(self.viewports.len() as u64 - 1), ..self.clip },
            self.sf,
            ThreeDStateRaster {
                scissor_rectangle_enable: !self.scissors.is_empty(),
                dx_multisample_rasterization_enable: self.samples != NumberOfMultisamples::_1,
                ..self.raster
            },
            self.wm,
            ThreeDStateSbe {
                number_of_sf_output_attributes: u(self
                    .sbe
                    .number_of_sf_output_attributes
                    .get()
                    .max(attributes)),
                vertex_urb_entry_read_length: u(attributes.div_ceil(2).max(1)),
                ..self.sbe
            },
            ThreeDStateViewportStatePointersSfClip { sf_clip_viewport_pointer: at(SF_VIEWPORTS) },
            ThreeDStateViewportStatePointersCc { cc_viewport_pointer: at(CC_VIEWPORTS) },
            ThreeDStateScissorStatePointers { scissor_rect_pointer: at(SCISSORS) },
            ThreeDStateBlendStatePointers {
                blend_state_pointer: at(BLEND),
                blend_state_pointer_valid: true
            },
            ThreeDStateCcStatePointers {
                color_calc_state_pointer: at(COLOR),
                color_calc_state_pointer_valid: true,
            },
            ThreeDStateMultisample {
                number_of_multisamples: self.samples,
                ..ThreeDStateMultisample::new()
            },
            ThreeDStateSampleMask { sample_mask: u(self.sample_mask) },
            ThreeDStateDrawingRectangle {
                clipped_drawing_rectangle_x_max: u(u64::from(self.size[0]) - 1),
                clipped_drawing_rectangle_y_max: u(u64::from(self.size[1]) - 1),
                ..ThreeDStateDrawingRectangle::new()
            },
            self.depth_buffer(),
            self.stencil_buffer(),
            self.tests,
            constants,
            ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: at(table) },
            ThreeDStatePs {
                push_constant_enable: !self.constants.is_empty(),
                dispatch_grf_start_register_for_constant_setup_data_0: match self
                    .ps
                    .dispatch_grf_start_register_for_constant_setup_data_0
                    .get()
                {
                    0 => u(self.start()),
                    start => u(start),
                },
                ..self.ps
            },
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

    /// 3DSTATE_DEPTH_BUFFER.
    pub fn depth_buffer(&self) -> ThreeDStateDepthBuffer {
        // A stencil buffer alone takes its extent from a depth buffer at address 0, as drivers set
        // it.
        let (surface_type, format, address) = match (self.depth, self.stencil) {
            (Some((format, _)), _) => (SurfaceType::SURFTYPE_2D, format, DEPTH),
            (None, Some(_)) => (SurfaceType::SURFTYPE_2D, DepthFormat::D32_FLOAT, 0),
            (None, None) => (SurfaceType::SURFTYPE_NULL, DepthFormat::D32_FLOAT, 0),
        };
        ThreeDStateDepthBuffer {
            surface_type,
            surface_format: format,
            depth_write_enable: self.depth.is_some(),
            stencil_write_enable: self.stencil.is_some(),
            surface_pitch: minus_one(self.depth_pitch().into()),
            surface_base_address: at(address),
            width: minus_one(self.size[0].into()),
            height: minus_one(self.size[1].into()),
            depth: minus_one(1),
            render_target_view_extent: minus_one(1),
            surface_qpitch: Shifted::new(64).expect("a multiple of four"),
            ..ThreeDStateDepthBuffer::new()
        }
    }

    fn depth_pitch(&self) -> u32 {
        (self.size[0] * 4).next_multiple_of(128)
    }

    /// 3DSTATE_STENCIL_BUFFER.
    pub fn stencil_buffer(&self) -> ThreeDStateStencilBuffer {
        ThreeDStateStencilBuffer {
            stencil_buffer_enable: self.stencil.is_some(),
            surface_pitch: minus_one(256),
            surface_base_address: at(STENCIL),
            surface_qpitch: Shifted::new(64).expect("a multiple of four"),
            ..ThreeDStateStencilBuffer::new()
        }
    }

    /// Draws.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn run(&self) -> Result<Drawn<'_>, Fault> {
        let mut model = self.model();
        let batch = self.batch(&mut model);
        let stats = model.render(&batch)?;
        Ok(self.drawn(&mut model, stats))
    }

    /// The contents of memory after a draw.
    pub fn drawn(&self, model: &mut Model, stats: Stats) -> Drawn<'_> {
        Drawn {
            scene: self,
            targets: (0..self.targets.len() as u64)
                .map(|n| model.read(TARGETS + n * ROOM, ROOM as usize))
                .collect(),
            depth: self.depth.map_or(Vec::new(), |_| model.read(DEPTH, ROOM as usize)),
            stencil: self.stencil.map_or(Vec::new(), |_| model.read(STENCIL, ROOM as usize)),
            stats,
        }
    }

    /// Draws to a target of dwords and returns its rows, with a character per pixel: `.` for 0,
    /// digits and then letters for values from 1 on.
    pub fn art(&self) -> Vec<String> {
        let drawn = self.run().expect("a draw without fault");
        drawn.art(0)
    }
}

fn letter(value: u32) -> char {
    match value {
        0 => '.',
        _ => char::from_digit(value.min(35), 36).unwrap_or('?'),
    }
}

fn constant_body() -> genxml::gen8::render3d_constants::ThreeDStateConstantBody {
    ThreeDStateConstantPs::new().constant_body
}

/// Memory after a draw.
pub struct Drawn<'a> {
    scene: &'a Scene,
    targets: Vec<Vec<u8>>,
    depth: Vec<u8>,
    stencil: Vec<u8>,
    /// Statistics of the draw.
    pub stats: Stats,
}

impl Drawn<'_> {
    /// Like [`Scene::art`], for one layer.
    pub fn art(&self, layer: u32) -> Vec<String> {
        let width = self.scene.size[0] as usize;
        self.dwords(0, layer, 0)
            .chunks(width)
            .map(|row| row.iter().map(|&v| letter(v)).collect())
            .collect()
    }

    /// Bytes of a layer and sample of a target, row by row without padding.
    pub fn bytes(&self, target: usize, layer: u32, sample: u32) -> Vec<u8> {
        let Scene { size: [width, height], targets, .. } = self.scene;
        let state = &targets[target];
        let memory = &self.targets[target];
        let tiling = if state.is_tiled() { Tiling::Y } else { Tiling::Linear };
        let top = self.scene.rows() * (layer * state.samples + sample);
        let mut bytes = Vec::new();
        for y in top..top + height {
            for x in 0..width * state.bytes {
                let offset = tiling.offset(x.into(), y.into(), self.scene.pitch(state).into());
                bytes.push(memory[offset as usize]);
            }
        }
        bytes
    }

    /// The dwords of a layer and sample of a target, row by row.
    pub fn dwords(&self, target: usize, layer: u32, sample: u32) -> Vec<u32> {
        let bytes = self.bytes(target, layer, sample);
        bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    /// Four floats per pixel of a layer and sample of a target.
    pub fn floats(&self, target: usize, layer: u32, sample: u32) -> Vec<[f32; 4]> {
        self.dwords(target, layer, sample)
            .as_chunks()
            .0
            .iter()
            .map(|v| v.map(f32::from_bits))
            .collect()
    }

    /// Contents of the depth buffer, one value per pixel.
    pub fn depths(&self) -> Vec<u32> {
        let Scene { size: [width, height], depth, .. } = self.scene;
        let bytes =
            if depth.is_some_and(|(format, _)| format == DepthFormat::D16_UNORM) { 2 } else { 4 };
        let memory = &self.depth;
        let mut values = Vec::new();
        for y in 0..*height {
            for x in 0..*width {
                let byte = |n: u32| {
                    let pitch = self.scene.depth_pitch().into();
                    let offset = Tiling::Y.offset((x * bytes + n).into(), y.into(), pitch);
                    u32::from(memory[offset as usize]) << (8 * n)
                };
                values.push((0..bytes).map(byte).sum());
            }
        }
        values
    }

    /// Contents of the stencil buffer, one value per pixel.
    pub fn stencils(&self) -> Vec<u8> {
        let [width, height] = self.scene.size;
        let at = |x: u32, y: u32| self.stencil[Tiling::W.offset(x.into(), y.into(), 256) as usize];
        (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| at(x, y)).collect()
    }
}
