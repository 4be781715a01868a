//! Scenes for the bench and for a test. When a scene is made, it runs on one host thread, and its
//! picture is compared with scalar Rust.

use genxml::core::{Address, Instruction, MinusOne, U, UFix};
use genxml::engine::EngineId;
use genxml::gen8::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction as Function,
    ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Topology,
    ThreeDVertexComponentControl as Component,
};
use genxml::gen8::mi::{MiBatchBufferEnd, PipelineSelect, PipelineSelectPipelineSelection};
use genxml::gen8::registers::PsDepthCount;
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersPs, ThreeDStateSamplerStatePointersPs,
};
use genxml::gen8::render3d_constants::{ThreeDStateConstantBody, ThreeDStateConstantVs};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat as DepthFormat,
    ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateVertexBuffers,
    ThreeDStateVertexElements, ThreeDStateVfTopology, VertexBufferState, VertexElementState,
};
use genxml::gen8::render3d_pixel::{
    BlendState, BlendStateEntry, ThreeDStateBlendStatePointers, ThreeDStatePs, ThreeDStatePsBlend,
    ThreeDStatePsExtra, ThreeDStateWm,
};
use genxml::gen8::render3d_raster::{
    CcViewport, SfClipViewport, ThreeDStateClip, ThreeDStateDrawingRectangle, ThreeDStateRaster,
    ThreeDStateRasterCullMode as CullMode, ThreeDStateSampleMask, ThreeDStateSbe, ThreeDStateSf,
    ThreeDStateViewportStatePointersCc, ThreeDStateViewportStatePointersSfClip,
};
use genxml::gen8::render3d_stages::{ThreeDStateUrbVs, ThreeDStateVs};
use genxml::gen8::state::{
    BindingTableState, RenderSurfaceState, RenderSurfaceStateExtent,
    RenderSurfaceStateSurfaceHorizontalAlignment, RenderSurfaceStateSurfaceVerticalAlignment,
    SamplerState, SamplerStateMagModeFilter, SamplerStateMinModeFilter, ShaderChannelSelect,
    StateBaseAddress, SurfaceFormat, SurfaceType, TextureCoordinateMode, TileMode,
};
use genxml_eu::asm::{Options, assemble};
use genxml_eu::syntax::Syntax;
use genxml_sim::machine::stats::Speculation;
use genxml_sim::{ContextId, Gpu, Stats};

const BATCH: u64 = 0x10_0000;
const STATE: u64 = 0x20_0000;
const KERNELS: u64 = 0x21_0000;
const PIXEL_KERNEL: u64 = 0x1000;
const VERTICES: u64 = 0x100_0000;
const INDICES: u64 = 0x200_0000;
const TARGET: u64 = 0x1000_0000;
const DEPTH: u64 = 0x2000_0000;
const TEXTURE: u64 = 0x3000_0000;

/// Offset of the binding table from [`STATE`]. The constants below are offsets from [`STATE`] too.
const TABLE: u64 = 0;
const SURFACES: u64 = 0x100;
const SAMPLER: u64 = 0x200;
const VIEWPORT: u64 = 0x240;
const RANGE: u64 = 0x280;
const BLEND: u64 = 0x2c0;
const CONSTANTS: u64 = 0x340;

/// Vertex shader: multiplies the position (r4 to r7) by a matrix (r2, r3, column by column), and
/// copies the attribute (r8 to r11).
const VERTEX: &str = "
    mul (8|M0) r124.0<1>:f r4.0<8;8,1>:f r2.0<0;1,0>:f
    mul (8|M0) r125.0<1>:f r4.0<8;8,1>:f r2.1<0;1,0>:f
    mul (8|M0) r126.0<1>:f r4.0<8;8,1>:f r2.2<0;1,0>:f
    mul (8|M0) r127.0<1>:f r4.0<8;8,1>:f r2.3<0;1,0>:f
    mad (8|M0) r124.0<1>:f r124.0<2;1>:f r5.0<2;1>:f r2.4<0>:f
    mad (8|M0) r125.0<1>:f r125.0<2;1>:f r5.0<2;1>:f r2.5<0>:f
    mad (8|M0) r126.0<1>:f r126.0<2;1>:f r5.0<2;1>:f r2.6<0>:f
    mad (8|M0) r127.0<1>:f r127.0<2;1>:f r5.0<2;1>:f r2.7<0>:f
    mad (8|M0) r124.0<1>:f r124.0<2;1>:f r6.0<2;1>:f r3.0<0>:f
    mad (8|M0) r125.0<1>:f r125.0<2;1>:f r6.0<2;1>:f r3.1<0>:f
    mad (8|M0) r126.0<1>:f r126.0<2;1>:f r6.0<2;1>:f r3.2<0>:f
    mad (8|M0) r127.0<1>:f r127.0<2;1>:f r6.0<2;1>:f r3.3<0>:f
    mad (8|M0) r124.0<1>:f r124.0<2;1>:f r7.0<2;1>:f r3.4<0>:f
    mad (8|M0) r125.0<1>:f r125.0<2;1>:f r7.0<2;1>:f r3.5<0>:f
    mad (8|M0) r126.0<1>:f r126.0<2;1>:f r7.0<2;1>:f r3.6<0>:f
    mad (8|M0) r127.0<1>:f r127.0<2;1>:f r7.0<2;1>:f r3.7<0>:f
    (W) mov (8|M0) r119.0<1>:ud r1.0<8;8,1>:ud
    mov (8|M0) r120.0<1>:ud 0:ud
    mov (8|M0) r121.0<1>:ud 0:ud
    mov (8|M0) r122.0<1>:ud 0:ud
    mov (8|M0) r123.0<1>:ud 0:ud
    send (8|M0) null r119 0x6 0x12080007            // header and position
    (W) mov (8|M0) r112.0<1>:ud r1.0<8;8,1>:ud
    mov (8|M0) r113.0<1>:ud r8.0<8;8,1>:ud
    mov (8|M0) r114.0<1>:ud r9.0<8;8,1>:ud
    mov (8|M0) r115.0<1>:ud r10.0<8;8,1>:ud
    mov (8|M0) r116.0<1>:ud r11.0<8;8,1>:ud
    send (8|M0) null r112 0x26 0x0A080027 {EOT}     // the attribute
";

/// Pixel shader: the attribute is a position in the texture.
const TEXTURED: &str = "
    pln (16|M0) r16.0<1>:f r6.0<0;1,0>:f r2.0<8;8,1>:f
    pln (16|M0) r18.0<1>:f r6.4<0;1,0>:f r2.0<8;8,1>:f
    send (16|M0) r119 r16 0x2 0x08840001
    sendc (16|M0) null r119 0x25 0x10031000 {EOT}
";

/// Pixel shader: the attribute is the colour.
const COLOURED: &str = "
    pln (16|M0) r119.0<1>:f r6.0<0;1,0>:f r2.0<8;8,1>:f
    pln (16|M0) r121.0<1>:f r6.4<0;1,0>:f r2.0<8;8,1>:f
    pln (16|M0) r123.0<1>:f r7.0<0;1,0>:f r2.0<8;8,1>:f
    pln (16|M0) r125.0<1>:f r7.4<0;1,0>:f r2.0<8;8,1>:f
    sendc (16|M0) null r119 0x25 0x10031000 {EOT}
";

/// Pixel shader: keeps the pixel at column 5 of row 3 and discards all others, as OpenGL's discard
/// is compiled: f0.1 starts with the dispatch mask (r1.7) and predicates the render target write.
const DISCARDING: &str = "
    (W) mov (1|M0) f0.1<1>:uw r1.14<0;1,0>:uw
    add (16|M0) r10.0<1>:uw r1.4<2;4,0>:uw 0x10101010:v
    add (16|M0) r11.0<1>:uw r1.5<2;4,0>:uw 0x11001100:v
    mov (16|M0) r12.0<1>:f r10.0<8;8,1>:uw
    mov (16|M0) r14.0<1>:f r11.0<8;8,1>:uw
    (f0.1) cmp (16|M0) (eq)f0.1 null<1>:f r12.0<8;8,1>:f 5.0:f
    (f0.1) cmp (16|M0) (eq)f0.1 null<1>:f r14.0<8;8,1>:f 3.0:f
    mov (16|M0) r119.0<1>:f 1.0:f
    mov (16|M0) r121.0<1>:f 0.5:f
    mov (16|M0) r123.0<1>:f 0.25:f
    mov (16|M0) r125.0<1>:f 1.0:f
    (f0.1) sendc (16|M0) null r119 0x25 0x10031000 {EOT}
";

const IDENTITY: [[f32; 4]; 4] =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

fn u<const N: u32>(value: u64) -> U<N> {
    U::new(value).unwrap()
}

fn minus_one<const N: u32>(value: u64) -> MinusOne<N> {
    MinusOne::new(value).unwrap()
}

/// Number of pixels of a buffer that has whole tiles.
fn buffer([width, height]: [u64; 2]) -> usize {
    (width * height.next_multiple_of(32)) as usize
}

/// Byte offset of a pixel of 4 bytes in a Y-tiled surface: tiles of 32 x 32 pixels, columns of 4
/// (gen8_facts 10.1).
fn tiled(pitch: u64, x: usize, y: usize) -> usize {
    let tile = y / 32 * (pitch as usize / 128) + x / 32;
    4096 * tile + 512 * (x % 32 / 4) + 16 * (y % 32) + 4 * (x % 4)
}

/// A draw, ready to be submitted.
pub struct Scene {
    gpu: Gpu,
    context: ContextId,
    size: [u64; 2],
    /// Number of pixels that the pixel shader shades.
    pub pixels: u64,
    /// Number of triangles.
    pub triangles: u64,
}

/// The parts of a scene that differ between scenes.
struct Parts<'a> {
    size: [u64; 2],
    topology: Topology,
    /// Positions and attributes.
    vertices: &'a [[[f32; 4]; 2]],
    indices: &'a [u32],
    matrix: [[f32; 4]; 4],
    kernel: &'a str,
    depth: bool,
    blend: bool,
    /// True if the shader discards pixels and the render target is null.
    discards: bool,
    /// Side in texels, and the texels.
    texture: Option<(u64, Vec<u8>)>,
    pixels: u64,
    triangles: u64,
}

fn image(address: u64, width: u64, height: u64) -> RenderSurfaceState {
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8G8B8A8_UNORM,
        tile_mode: TileMode::YMAJOR,
        surface_base_address: Address::new(address).unwrap(),
        surface_pitch: minus_one(4 * width),
        extent: RenderSurfaceStateExtent::Image {
            width: minus_one(width),
            height: minus_one(height),
            depth: minus_one(1),
        },
        surface_horizontal_alignment: RenderSurfaceStateSurfaceHorizontalAlignment::HALIGN_4,
        surface_vertical_alignment: RenderSurfaceStateSurfaceVerticalAlignment::VALIGN_4,
        shader_channel_select_red: ShaderChannelSelect::RED,
        shader_channel_select_green: ShaderChannelSelect::GREEN,
        shader_channel_select_blue: ShaderChannelSelect::BLUE,
        shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
        ..RenderSurfaceState::new()
    }
}

impl Scene {
    fn new(parts: &Parts<'_>) -> Scene {
        let mut gpu = Gpu::new();
        let context = gpu.create_context().unwrap();
        let mut kernels = vec![0u8; 0x2000];
        for (at, text) in [(0, VERTEX), (PIXEL_KERNEL as usize, parts.kernel)] {
            let code = assemble(text, Syntax::Iga, &Options::default()).unwrap().bytes;
            kernels[at..at + code.len()].copy_from_slice(&code);
        }
        gpu.load(context, KERNELS, &kernels).unwrap();
        gpu.load(context, VERTICES, bytemuck::cast_slice(parts.vertices.as_flattened())).unwrap();
        gpu.load(context, INDICES, bytemuck::cast_slice(parts.indices)).unwrap();
        let pixels = buffer(parts.size);
        gpu.load(context, TARGET, &vec![0; 4 * pixels]).unwrap();
        gpu.load(context, DEPTH, bytemuck::cast_slice(&vec![1.0f32; pixels])).unwrap();
        if let Some((_, texels)) = &parts.texture {
            gpu.load(context, TEXTURE, texels).unwrap();
        }
        gpu.load(context, STATE, &state(parts)).unwrap();
        let batch = batch(parts);
        gpu.load(context, BATCH, bytemuck::cast_slice(&batch)).unwrap();
        let Parts { size, pixels, triangles, .. } = *parts;
        let mut scene = Scene { gpu, context, size, pixels, triangles };
        scene.run(1);
        scene
    }

    /// Draws on `threads` host threads.
    pub fn run(&mut self, threads: usize) -> Stats {
        self.gpu.set_threads(threads);
        match self.gpu.submit(self.context, EngineId::Render, BATCH, 0) {
            Ok(stats) => stats,
            Err(fault) => panic!("{fault}"),
        }
    }

    /// The bytes of the render target, then those of the depth buffer.
    pub fn memory(&mut self) -> Vec<u8> {
        let bytes = 4 * buffer(self.size);
        let mut memory = vec![0; 2 * bytes];
        for (part, address) in memory.chunks_mut(bytes).zip([TARGET, DEPTH]) {
            self.gpu.vm(self.context).read(address, part).unwrap();
        }
        memory
    }

    /// The 64-bit counter of the pipeline at register `offset`.
    pub fn register(&self, offset: u32) -> u64 {
        self.gpu.context(self.context).state.registers.read_u64(offset)
    }

    /// Counts of speculative execution of tiles.
    pub fn speculation(&self) -> Speculation {
        self.gpu.context(self.context).state.speculation
    }

    /// Compares every pixel for which `expected` returns a colour (red to alpha, 0 to 255). Each
    /// channel may differ by up to `within`.
    fn check(&mut self, within: f64, expected: impl Fn(usize, usize) -> Option<[f64; 4]>) {
        let [width, height] = self.size;
        let mut bytes = vec![0; 4 * buffer(self.size)];
        self.gpu.vm(self.context).read(TARGET, &mut bytes).unwrap();
        for y in 0..height as usize {
            for x in 0..width as usize {
                let at = tiled(4 * width, x, y);
                let Some(expected) = expected(x, y) else { continue };
                for (found, expected) in bytes[at..at + 4].iter().zip(expected) {
                    let difference = (f64::from(*found) - expected).abs();
                    assert!(difference <= within, "({x}, {y}): {found} is not {expected}");
                }
            }
        }
    }
}

/// Memory with surface states, sampler, viewports, blend state and constants.
fn state(parts: &Parts<'_>) -> Vec<u8> {
    let [width, height] = parts.size;
    let mut state = vec![0u8; 0x1000];
    let mut put = |at: u64, dwords: &[u32]| {
        let bytes = bytemuck::cast_slice::<u32, u8>(dwords);
        state[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    };
    let side = parts.texture.as_ref().map_or(32, |(side, _)| *side);
    let mut target = image(TARGET, width, height);
    if parts.discards {
        target.surface_type = SurfaceType::SURFTYPE_NULL;
    }
    for (n, surface) in [target, image(TEXTURE, side, side)].iter().enumerate() {
        let place = SURFACES + 64 * n as u64;
        put(place, &surface.pack());
        let entry = BindingTableState { surface_state_pointer: Address::new(place).unwrap() };
        put(TABLE + 4 * n as u64, &entry.pack());
    }
    let sampler = SamplerState {
        mag_mode_filter: SamplerStateMagModeFilter::LINEAR,
        min_mode_filter: SamplerStateMinModeFilter::LINEAR,
        tcx_address_control_mode: TextureCoordinateMode::CLAMP,
        tcy_address_control_mode: TextureCoordinateMode::CLAMP,
        ..SamplerState::new()
    };
    put(SAMPLER, &sampler.pack());
    let (half_width, half_height) = (width as f32 / 2.0, height as f32 / 2.0);
    let viewport = SfClipViewport {
        viewport_matrix_element_m00: half_width,
        viewport_matrix_element_m11: -half_height,
        viewport_matrix_element_m22: 1.0,
        viewport_matrix_element_m30: half_width,
        viewport_matrix_element_m31: half_height,
        x_min_clip_guardband: -8.0,
        x_max_clip_guardband: 8.0,
        y_min_clip_guardband: -8.0,
        y_max_clip_guardband: 8.0,
        x_max_view_port: width as f32 - 1.0,
        y_max_view_port: height as f32 - 1.0,
        ..SfClipViewport::new()
    };
    put(VIEWPORT, &viewport.pack());
    put(RANGE, &CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 }.pack());
    let entry = BlendStateEntry {
        color_buffer_blend_enable: parts.blend,
        source_blend_factor: Factor::BLENDFACTOR_SRC_ALPHA,
        destination_blend_factor: Factor::BLENDFACTOR_INV_SRC_ALPHA,
        color_blend_function: Function::BLENDFUNCTION_ADD,
        source_alpha_blend_factor: Factor::BLENDFACTOR_ONE,
        destination_alpha_blend_factor: Factor::BLENDFACTOR_INV_SRC_ALPHA,
        alpha_blend_function: Function::BLENDFUNCTION_ADD,
        ..BlendStateEntry::new()
    };
    put(
        BLEND,
        &BlendState {
            independent_alpha_blend_enable: true,
            entry: [entry; 8],
            ..BlendState::new()
        }
        .pack(),
    );
    put(CONSTANTS, bytemuck::cast_slice(parts.matrix.as_flattened()));
    state
}

/// Appends a packet to a batch.
fn push(batch: &mut Vec<u32>, packet: &impl Instruction) {
    let end = batch.len();
    batch.resize(end + packet.dwords(), 0);
    packet.pack_into(&mut batch[end..]).unwrap();
}

/// The dwords of packets, one after the other.
macro_rules! packets {
    ($($packet:expr),* $(,)?) => {{
        let mut batch = Vec::new();
        $(push(&mut batch, &$packet);)*
        batch
    }};
}

/// The batch of a scene: its state and its draw.
fn batch(parts: &Parts<'_>) -> Vec<u32> {
    [base(), vertices(parts), objects(), tests(parts), pixels(parts), draw(parts)].concat()
}

/// Pipeline and base addresses.
fn base() -> Vec<u32> {
    packets![
        PipelineSelect { pipeline_selection: PipelineSelectPipelineSelection::_3D },
        StateBaseAddress {
            general_state_base_address_modify_enable: true,
            surface_state_base_address_modify_enable: true,
            surface_state_base_address: at(STATE),
            dynamic_state_base_address_modify_enable: true,
            dynamic_state_base_address: at(STATE),
            instruction_base_address_modify_enable: true,
            instruction_base_address: at(KERNELS),
            ..StateBaseAddress::new()
        },
    ]
}

/// Vertex buffers, indices and the vertex shader.
fn vertices(parts: &Parts<'_>) -> Vec<u32> {
    let element = |offset| VertexElementState {
        valid: true,
        source_element_format: SurfaceFormat::R32G32B32A32_FLOAT,
        source_element_offset: u(offset),
        component_0_control: Component::VFCOMP_STORE_SRC,
        component_1_control: Component::VFCOMP_STORE_SRC,
        component_2_control: Component::VFCOMP_STORE_SRC,
        component_3_control: Component::VFCOMP_STORE_SRC,
        ..VertexElementState::new()
    };
    let elements = [element(0), element(16)];
    let vertices = [VertexBufferState {
        buffer_pitch: u(32),
        address_modify_enable: true,
        buffer_starting_address: at(VERTICES),
        buffer_size: u(32 * parts.vertices.len() as u64),
        ..VertexBufferState::new()
    }];
    packets![
        ThreeDStateUrbVs {
            vs_urb_starting_address: u(4),
            vs_urb_entry_allocation_size: minus_one(1),
            vs_number_of_urb_entries: u(64),
        },
        ThreeDStateConstantVs {
            constant_body: ThreeDStateConstantBody {
                constant_buffer_0_read_length: u(2),
                pointer_to_constant_buffer_0: at(CONSTANTS),
                ..ThreeDStateConstantBody::new()
            },
            ..ThreeDStateConstantVs::new()
        },
        ThreeDStateVs {
            function_enable: true,
            simd8_dispatch_enable: true,
            vertex_urb_entry_read_length: u(1),
            dispatch_grf_start_register_for_urb_data: u(2),
            maximum_number_of_threads: minus_one(504),
            vertex_urb_entry_output_length: u(1),
            vertex_urb_entry_output_read_offset: u(1),
            ..ThreeDStateVs::new()
        },
        ThreeDStateVertexBuffers { vertex_buffer_state: vertices[..].into() },
        ThreeDStateVertexElements { element: elements[..].into() },
        ThreeDStateIndexBuffer {
            index_format: IndexFormat::DWORD,
            buffer_starting_address: at(INDICES),
            buffer_size: u(4 * parts.indices.len() as u64),
            ..ThreeDStateIndexBuffer::new()
        },
        ThreeDStateVfTopology { primitive_topology_type: parts.topology },
    ]
}

/// Clip, setup and rasterisation of triangles.
fn objects() -> Vec<u32> {
    packets![
        ThreeDStateClip {
            clip_enable: true,
            clipper_statistics_enable: true,
            guardband_clip_test_enable: true,
            viewport_xy_clip_test_enable: true,
            ..ThreeDStateClip::new()
        },
        ThreeDStateSf {
            viewport_transform_enable: true,
            statistics_enable: true,
            point_width: UFix::from_bits(8),
            ..ThreeDStateSf::new()
        },
        ThreeDStateRaster { cull_mode: CullMode::CULLMODE_NONE, ..ThreeDStateRaster::new() },
        ThreeDStateViewportStatePointersSfClip { sf_clip_viewport_pointer: at(VIEWPORT) },
        ThreeDStateViewportStatePointersCc { cc_viewport_pointer: at(RANGE) },
    ]
}

/// Blending, sample mask and depth test.
fn tests(parts: &Parts<'_>) -> Vec<u32> {
    let [width, height] = parts.size;
    let depth_type =
        if parts.depth { SurfaceType::SURFTYPE_2D } else { SurfaceType::SURFTYPE_NULL };
    packets![
        ThreeDStateBlendStatePointers {
            blend_state_pointer_valid: true,
            blend_state_pointer: at(BLEND)
        },
        ThreeDStateSampleMask { sample_mask: u(1) },
        ThreeDStateWmDepthStencil {
            depth_test_enable: parts.depth,
            depth_buffer_write_enable: parts.depth,
            depth_test_function: Compare::COMPAREFUNCTION_LEQUAL,
            ..ThreeDStateWmDepthStencil::new()
        },
        ThreeDStateDepthBuffer {
            surface_type: depth_type,
            surface_format: DepthFormat::D32_FLOAT,
            surface_pitch: minus_one(4 * width),
            depth_write_enable: parts.depth,
            surface_base_address: at(DEPTH),
            width: minus_one(width),
            height: minus_one(height),
            depth: minus_one(1),
            render_target_view_extent: minus_one(1),
            ..ThreeDStateDepthBuffer::new()
        },
    ]
}

/// The pixel shader, its inputs, and the rectangle to draw in.
fn pixels(parts: &Parts<'_>) -> Vec<u32> {
    let [width, height] = parts.size;
    packets![
        ThreeDStateSbe {
            force_vertex_urb_entry_read_offset: true,
            vertex_urb_entry_read_offset: u(1),
            force_vertex_urb_entry_read_length: true,
            vertex_urb_entry_read_length: u(1),
            number_of_sf_output_attributes: u(1),
            ..ThreeDStateSbe::new()
        },
        ThreeDStateWm {
            barycentric_interpolation_mode: u(1),
            statistics_enable: true,
            ..ThreeDStateWm::new()
        },
        ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: at(TABLE) },
        ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: at(SAMPLER) },
        ThreeDStatePs {
            kernel_start_pointer_0: Address::new(PIXEL_KERNEL).unwrap(),
            _16_pixel_dispatch_enable: true,
            binding_table_entry_count: u(2),
            maximum_number_of_threads_per_psd: u(62),
            dispatch_grf_start_register_for_constant_setup_data_0: u(6),
            ..ThreeDStatePs::new()
        },
        ThreeDStatePsExtra {
            pixel_shader_valid: true,
            pixel_shader_kills_pixel: parts.discards,
            attribute_enable: true,
            ..ThreeDStatePsExtra::new()
        },
        ThreeDStatePsBlend { has_writeable_rt: true, ..ThreeDStatePsBlend::new() },
        ThreeDStateDrawingRectangle {
            clipped_drawing_rectangle_x_max: u(width - 1),
            clipped_drawing_rectangle_y_max: u(height - 1),
            ..ThreeDStateDrawingRectangle::new()
        },
    ]
}

/// The draw, and the end of the batch.
fn draw(parts: &Parts<'_>) -> Vec<u32> {
    packets![
        ThreeDPrimitive {
            vertex_access_type: Access::RANDOM,
            vertex_count_per_instance: u(parts.indices.len() as u64),
            instance_count: u(1),
            ..ThreeDPrimitive::new()
        },
        MiBatchBufferEnd::new(),
    ]
}

/// An address, or an offset from a base.
fn at<S: genxml::core::Space, const ALIGN: u64, const BITS: u32>(
    offset: u64,
) -> Address<S, ALIGN, BITS> {
    Address::new(offset).unwrap()
}

/// A quad over the whole screen of `size` x `size` pixels. Its upper edge is twice as far away as
/// its lower edge.
pub fn textured(size: u64) -> Scene {
    const SIDE: u64 = 512;
    let texel = |x: usize, y: usize| {
        let check = if (x / 32 + y / 32).is_multiple_of(2) { 255 } else { 64 };
        [(x / 2) as u8, (y / 2) as u8, check, 255]
    };
    let mut texels = vec![0u8; (4 * SIDE * SIDE) as usize];
    for y in 0..SIDE as usize {
        for x in 0..SIDE as usize {
            let at = tiled(4 * SIDE, x, y);
            texels[at..at + 4].copy_from_slice(&texel(x, y));
        }
    }
    let corner = |x: f32, y: f32, w: f32| {
        [[x * w, y * w, 0.5 * w, w], [0.5 + x * w / 4.0, 2.0 - w, 0.0, 0.0]]
    };
    let mut scene = Scene::new(&Parts {
        size: [size, size],
        topology: Topology::_3DPRIM_TRISTRIP,
        vertices: &[
            corner(-1.0, -1.0, 1.0),
            corner(1.0, -1.0, 1.0),
            corner(-1.0, 1.0, 2.0),
            corner(1.0, 1.0, 2.0),
        ],
        indices: &[0, 1, 2, 3],
        matrix: IDENTITY,
        kernel: TEXTURED,
        depth: false,
        blend: false,
        discards: false,
        texture: Some((SIDE, texels)),
        pixels: size * size,
        triangles: 2,
    });
    // Filter weights have 8 fraction bits, and blue differs by 191 between neighbouring texels. So
    // the difference may be up to 3.
    scene.check(3.0, |x, y| {
        let up = 1.0 - (y as f64 + 0.5) / size as f64;
        // 1/w is linear on the screen; positions in the texture are linear in the plane.
        let w = 1.0 / (1.0 - up / 2.0);
        let across = 0.5 + ((2 * x + 1) as f64 / size as f64 - 1.0) * w / 4.0;
        let at = |place: f64| {
            let place = (place * SIDE as f64 - 0.5).clamp(0.0, SIDE as f64 - 1.0);
            let first = place.floor().min(SIDE as f64 - 2.0);
            (first as usize, place - first)
        };
        let ((x0, part_x), (y0, part_y)) = (at(across), at(2.0 - w));
        Some(std::array::from_fn(|n| {
            let row = |y: usize| {
                let texel = |x: usize| f64::from(texel(x, y)[n]);
                texel(x0) * (1.0 - part_x) + texel(x0 + 1) * part_x
            };
            row(y0) * (1.0 - part_y) + row(y0 + 1) * part_y
        }))
    });
    scene
}

/// A landscape of `squares` x `squares` squares, viewed from above, on a screen of `size` pixels.
pub fn mesh(size: [u64; 2], squares: u32) -> Scene {
    let side = squares + 1;
    let mut vertices = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let (u, v) = (x as f32 / squares as f32, y as f32 / squares as f32);
            let height = 0.05 * ((9.0 * u).sin() + (7.0 * v).cos());
            vertices
                .push([[2.0 * u - 1.0, 2.0 * v - 1.0, 0.5 + height, 1.0], [u, v, 1.0 - u, 1.0]]);
        }
    }
    let mut indices = Vec::new();
    for y in 0..squares {
        for x in 0..squares {
            let at = y * side + x;
            indices.extend([at, at + 1, at + side, at + side, at + 1, at + side + 1]);
        }
    }
    let mut scene = Scene::new(&Parts {
        size,
        topology: Topology::_3DPRIM_TRILIST,
        vertices: &vertices,
        indices: &indices,
        matrix: IDENTITY,
        kernel: COLOURED,
        depth: true,
        blend: false,
        discards: false,
        texture: None,
        pixels: size[0] * size[1],
        triangles: u64::from(2 * squares * squares),
    });
    // Positions snap to 1/256 of a pixel, and a square of the scene `mesh` is 14 pixels wide. So
    // the difference may be up to 1.
    scene.check(1.0, |x, y| {
        let u = (x as f64 + 0.5) / size[0] as f64;
        let v = 1.0 - (y as f64 + 0.5) / size[1] as f64;
        Some([255.0 * u, 255.0 * v, 255.0 * (1.0 - u), 255.0])
    });
    scene
}

/// 16 layers of `size` x `size` pixels, one quad each, blended with half of their colour.
pub fn overdraw(size: u64) -> Scene {
    const LAYERS: u32 = 16;
    let colour =
        |layer: u32| [layer as f32 / LAYERS as f32, 1.0 - layer as f32 / LAYERS as f32, 0.25, 0.5];
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for layer in 0..LAYERS {
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
            vertices.push([[x, y, 0.5, 1.0], colour(layer)]);
        }
        indices.extend([0, 1, 2, 2, 1, 3].map(|n| 4 * layer + n));
    }
    let mut scene = Scene::new(&Parts {
        size: [size, size],
        topology: Topology::_3DPRIM_TRILIST,
        vertices: &vertices,
        indices: &indices,
        matrix: IDENTITY,
        kernel: COLOURED,
        depth: false,
        blend: true,
        discards: false,
        texture: None,
        pixels: u64::from(LAYERS) * size * size,
        triangles: u64::from(2 * LAYERS),
    });
    let mut expected = [0.0; 4];
    for layer in 0..LAYERS {
        let [.., alpha] = colour(layer);
        for (n, (value, new)) in expected.iter_mut().zip(colour(layer)).enumerate() {
            let weight = if n == 3 { 1.0 } else { f64::from(alpha) };
            *value = f64::from(new) * weight + *value * (1.0 - f64::from(alpha));
        }
    }
    // Each layer is rounded to 8 bits, and the next layer halves its error.
    let expected = expected.map(|value| 255.0 * value);
    scene.check(1.5, |_, _| Some(expected));
    scene
}

/// A quad over the whole screen of `size` x `size` pixels, without a target. The shader discards
/// all pixels except one, which PS_DEPTH_COUNT counts.
pub fn discards(size: u64) -> Scene {
    let corner = |x: f32, y: f32| [[x, y, 0.5, 1.0], [0.0; 4]];
    let scene = Scene::new(&Parts {
        size: [size, size],
        topology: Topology::_3DPRIM_TRISTRIP,
        vertices: &[corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0)],
        indices: &[0, 1, 2, 3],
        matrix: IDENTITY,
        kernel: DISCARDING,
        depth: false,
        blend: false,
        discards: true,
        texture: None,
        pixels: size * size,
        triangles: 2,
    });
    assert_eq!(scene.register(PsDepthCount::OFFSET), 1, "one pixel is kept");
    scene
}
