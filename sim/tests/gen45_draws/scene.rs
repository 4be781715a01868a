//! A draw without a vertex shader, whose vertices are whole vertex URB entries. Its kernels compute
//! planes and write the interpolated attribute. A test changes only what it checks.

use genxml::core::{Address, MinusOne, U};
use genxml::engine::EngineId;
use genxml::gen45::commands_3d::*;
use genxml::gen45::commands_common::{StateBaseAddress, UrbFence};
use genxml::gen45::commands_mi::MiBatchBufferEnd;
use genxml::gen45::enums::{SurfaceType, ThreeDPrimTopoType as Topology};
use genxml::gen45::enums::{ThreeDVertexComponentControl as Control, TileWalk};
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{BindingTableState, SurfaceState, SurfaceStateExtent};
use genxml::gen45::state_units::*;
use genxml_eu::Generation as Eu;
use genxml_eu::asm::{Options, assemble};
use genxml_eu::syntax::Syntax;
use genxml_sim::gpu::Generation;
use genxml_sim::mem::{Frames, Memory};
use genxml_sim::{ContextId, Fault, Gpu, Observer, Stats};

/// First mapped address.
pub const BASE: u64 = 0x10_0000;
/// Mapped bytes.
pub const BYTES: u64 = 0x10_0000;
/// Side of target and depth buffer in pixels.
pub const SIDE: u32 = 32;

pub const BATCH: u64 = BASE;
pub const STATE: u64 = BASE + 0x1_0000;
pub const TABLE: u64 = BASE + 0x2_0000;
pub const KERNELS: u64 = BASE + 0x3_0000;
pub const VERTICES: u64 = BASE + 0x4_0000;
pub const INDICES: u64 = BASE + 0x5_0000;
pub const TARGET: u64 = BASE + 0x6_0000;
pub const DEPTH: u64 = BASE + 0x7_0000;

/// Setup of a triangle with one attribute: computes the planes of position and attribute from the
/// vertex differences in the payload (gen45_facts 9.2).
pub const SETUP: &str = "
send(1) 0 g6<1>F g1.2<0,1,0>F 0x01110081
    math MsgDesc: inv scalar mlen 1 rlen 1 { align1 };
mov(2) g3.2<1>F g2<2,2,1>F { align1 };
add(8) g7<1>F g4<8,8,1>F -g3<8,8,1>F { align1 };
add(8) g8<1>F g5<8,8,1>F -g3<8,8,1>F { align1 };
mul(8) null<1>F g7<8,8,1>F g1.6<0,1,0>F { align1 };
mac(8) g9<1>F g8<8,8,1>F -g1.5<0,1,0>F { align1 };
mul(8) m1<1>F g9<8,8,1>F g6<0,1,0>F { align1 };
mul(8) null<1>F g8<8,8,1>F g1.3<0,1,0>F { align1 };
mac(8) g9<1>F g7<8,8,1>F -g1.4<0,1,0>F { align1 };
mul(8) m2<1>F g9<8,8,1>F g6<0,1,0>F { align1 };
mov(8) m3<1>F g3<8,8,1>F { align1 };
send(8) 0 null<1>F g0<8,8,1>F 0x8640c800
    urb MsgDesc: 0 urb_write transpose used complete mlen 4 rlen 0 { align1 EOT };
";

/// Setup that gives the attribute of the provoking vertex to all pixels, and the depth of vertex 0.
pub const FLAT_SETUP: &str = "
mul(1) g1.1<1>D g1.1<0,1,0>D 2D { align1 };
mov(2) g3.2<1>F g2<2,2,1>F { align1 };
mov(8) m1<1>F 0x00000000UD { align1 };
mov(8) m2<1>F 0x00000000UD { align1 };
jmpi(1) g1.1<0,1,0>D { align1 nomask };
mov(4) g3.4<1>F g3.4<4,4,1>F { align1 };
jmpi(1) 4D { align1 nomask };
mov(4) g3.4<1>F g4.4<4,4,1>F { align1 };
jmpi(1) 2D { align1 nomask };
mov(4) g3.4<1>F g5.4<4,4,1>F { align1 };
mov(4) g3.4<1>F g3.4<4,4,1>F { align1 };
mov(8) m3<1>F g3<8,8,1>F { align1 };
send(8) 0 null<1>F g0<8,8,1>F 0x8640c800
    urb MsgDesc: 0 urb_write transpose used complete mlen 4 rlen 0 { align1 EOT };
";

/// Writes the attribute, interpolated linearly on the screen.
pub const PIXELS: &str = "
add(16) g6<1>UW g1.4<2,4,0>UW 0x10101010V { align1 };
add(16) g8<1>UW g1.5<2,4,0>UW 0x11001100V { align1 };
add(8) g10<1>F g6<8,8,1>UW -g1<0,1,0>F { align1 };
add(8) g11<1>F g8<8,8,1>UW -g1.1<0,1,0>F { align1 };
add(8) g12<1>F g6.8<8,8,1>UW -g1<0,1,0>F { align1 sechalf };
add(8) g13<1>F g8.8<8,8,1>UW -g1.1<0,1,0>F { align1 sechalf };
pln(16) m2<1>F g4<0,1,0>F g10<8,8,1>F { align1 compr4 };
pln(16) m3<1>F g4.4<0,1,0>F g10<8,8,1>F { align1 compr4 };
pln(16) m4<1>F g5<0,1,0>F g10<8,8,1>F { align1 compr4 };
pln(16) m5<1>F g5.4<0,1,0>F g10<8,8,1>F { align1 compr4 };
mov(8) m1<1>UD g1<8,8,1>UD { align1 nomask };
send(16) 0 null<1>UW g0<8,8,1>UW 0x85a04800
    write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0 { align1 EOT };
";

/// A vertex: position on the screen, depth, and its attribute.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    pub at: [f32; 2],
    pub z: f32,
    pub attribute: [f32; 4],
    /// Point width in pixels.
    pub width: f32,
}

impl Vertex {
    pub fn new(at: [f32; 2], z: f32, attribute: [f32; 4]) -> Vertex {
        Vertex { at, z, attribute, width: 1.0 }
    }
}

/// The corners of a rectangle as two triangles.
pub fn rectangle([x0, y0]: [f32; 2], [x1, y1]: [f32; 2], z: f32, color: [f32; 4]) -> Vec<Vertex> {
    [[x0, y0], [x1, y0], [x0, y1], [x1, y0], [x1, y1], [x0, y1]]
        .map(|at| Vertex::new(at, z, color))
        .to_vec()
}

/// The draw.
pub struct Scene {
    pub gpu: Gpu,
    context: ContextId,
    frames: Frames,
    pub topology: Topology,
    pub sf: SfState,
    pub wm: WmState,
    pub cc: ColorCalcState,
    pub depth: ThreeDStateDepthBuffer,
    pub target: SurfaceState,
    pub drawing: ThreeDStateDrawingRectangle,
    pub viewport: SfViewport,
    pub attribute: VertexElementState,
    pub buffer: VertexBufferState,
    pub indices: Option<ThreeDStateIndexBuffer>,
    pub instances: u64,
    pub setup: &'static str,
    pub vs: VsState,
    pub pixels: &'static str,
    /// Packets before 3DPRIMITIVE.
    pub more: Vec<u32>,
    pub after: Vec<u32>,
}

pub fn u<const N: u32>(value: u64) -> U<N> {
    U::from_bits(value)
}

pub fn less<const N: u32>(value: u64) -> MinusOne<N> {
    MinusOne::new(value).unwrap()
}

fn element(to: u64, offset: u64, control: Control) -> VertexElementState {
    VertexElementState {
        valid: true,
        source_element_format: SurfaceFormat::R32G32B32A32_FLOAT,
        source_element_offset: u(offset),
        destination_element_offset: u(to),
        component_0_control: control,
        component_1_control: control,
        component_2_control: control,
        component_3_control: control,
        ..VertexElementState::new()
    }
}

/// Bytes of a kernel in Mesa's language.
pub fn kernel(text: &str) -> Vec<u8> {
    let options = Options { generation: Eu::Gen45, ..Options::default() };
    match assemble(text, Syntax::Mesa, &options) {
        Ok(assembly) => assembly.bytes,
        Err(errors) => panic!("{}", errors[0]),
    }
}

impl Scene {
    pub fn new() -> Scene {
        let mut gpu = Gpu::of(Generation::G45, Memory::with_limit(64 << 20));
        let context = gpu.create_context().unwrap();
        let frames = gpu.alloc(BYTES).unwrap();
        gpu.map(context, BASE, frames).unwrap();
        let sf = SfState {
            kernel_start_pointer: Address::from_bits(KERNELS),
            number_of_urb_entries: u(8),
            urb_entry_allocation_size: less(2),
            vertex_urb_entry_read_offset: u(1),
            vertex_urb_entry_read_length: u(1),
            dispatch_grf_start_register_for_urb_data: u(3),
            setup_viewport_state_offset: Address::from_bits(STATE + 0x300),
            cull_mode: SfStateCullMode::NONE,
            destination_origin_horizontal_bias: genxml::core::UFix::from_bits(8),
            destination_origin_vertical_bias: genxml::core::UFix::from_bits(8),
            ..SfState::new()
        };
        let wm = WmState {
            kernel_start_pointer_0: Address::from_bits(KERNELS + 0x1000),
            setup_urb_entry_read_length: u(4),
            dispatch_grf_start_register_for_constant_setup_data_0: u(2),
            depth_coefficient_urb_read_offset: u(1),
            thread_dispatch_enable: true,
            _16_pixel_dispatch_enable: true,
            ..WmState::new()
        };
        let target = SurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: SurfaceFormat::R8G8B8A8_UNORM,
            surface_base_address: Address::from_bits(TARGET),
            surface_pitch: less(u64::from(SIDE) * 4),
            extent: SurfaceStateExtent::Image {
                height: less(SIDE.into()),
                width: less(SIDE.into()),
                depth: less(1),
            },
            ..SurfaceState::new()
        };
        Scene {
            gpu,
            context,
            frames,
            topology: Topology::_3DPRIM_TRILIST,
            sf,
            wm,
            cc: ColorCalcState {
                cc_viewport_state_pointer: Address::from_bits(STATE + 0x340),
                ..ColorCalcState::new()
            },
            depth: ThreeDStateDepthBuffer {
                surface_type: SurfaceType::SURFTYPE_NULL,
                ..ThreeDStateDepthBuffer::new()
            },
            target,
            drawing: ThreeDStateDrawingRectangle {
                clipped_drawing_rectangle_x_max: u((SIDE - 1).into()),
                clipped_drawing_rectangle_y_max: u((SIDE - 1).into()),
                ..ThreeDStateDrawingRectangle::new()
            },
            viewport: SfViewport::new(),
            attribute: element(12, 48, Control::VFCOMP_STORE_SRC),
            buffer: VertexBufferState {
                buffer_pitch: u(64),
                buffer_starting_address: Address::from_bits(VERTICES),
                ..VertexBufferState::new()
            },
            indices: None,
            instances: 1,
            setup: SETUP,
            vs: VsState::new(),
            pixels: PIXELS,
            more: Vec::new(),
            after: Vec::new(),
        }
    }

    /// A depth buffer of this format.
    pub fn with_depth(mut self, format: ThreeDStateDepthBufferSurfaceFormat) -> Scene {
        self.depth = ThreeDStateDepthBuffer {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: format,
            surface_pitch: less(256),
            tiled_surface: true,
            tile_walk: TileWalk::TILEWALK_YMAJOR,
            surface_base_address: Address::from_bits(DEPTH),
            width: less(SIDE.into()),
            height: less(SIDE.into()),
            depth: less(1),
            render_target_view_extent: less(1),
            ..ThreeDStateDepthBuffer::new()
        };
        self
    }

    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        let at = (address - BASE) as usize;
        self.gpu.memory.bytes_mut(self.frames)[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn put_dwords(&mut self, address: u64, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.put(address, &bytes);
    }

    pub fn bytes(&self, address: u64, length: usize) -> &[u8] {
        let at = (address - BASE) as usize;
        &self.gpu.memory.bytes(self.frames)[at..at + length]
    }

    /// The pixel of the target.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        self.bytes(TARGET + u64::from(4 * (y * SIDE + x)), 4).try_into().unwrap()
    }

    /// Writes states, kernels, vertices and batch. Returns the bytes of the batch.
    pub fn prepare(&mut self, vertices: &[Vertex], count: usize) -> u64 {
        let (sf, wm, cc) = (self.sf.pack(), self.wm.pack(), self.cc.pack());
        let vs = self.vs.pack();
        self.put_dwords(STATE, &vs);
        self.put_dwords(STATE + 0x80, &sf);
        self.put_dwords(STATE + 0x100, &wm);
        self.put_dwords(STATE + 0x180, &cc);
        let viewport = self.viewport.pack();
        self.put_dwords(STATE + 0x300, &viewport);
        let range = CcViewport { minimum_depth: 0.0, maximum_depth: 1.0 };
        self.put_dwords(STATE + 0x340, &range.pack());
        let entry = BindingTableState { surface_state_pointer: Address::from_bits(TABLE + 0x40) };
        self.put_dwords(TABLE, &entry.pack());
        let target = self.target.pack();
        self.put_dwords(TABLE + 0x40, &target);
        self.put(KERNELS, &kernel(self.setup));
        self.put(KERNELS + 0x1000, &kernel(self.pixels));
        for (n, vertex) in vertices.iter().enumerate() {
            let Vertex { at: [x, y], z, attribute, width } = *vertex;
            let header = (width * 8.0) as u32;
            let header = genxml::gen45::thread_payloads::VertexUrbEntry {
                point_width: genxml::core::UFix::from_bits(header.into()),
                ndc_x: x,
                ndc_y: y,
                ndc_z: z,
                inverse_w: 1.0,
                position_x: x,
                position_y: y,
                position_z: z,
                position_w: 1.0,
                ..genxml::gen45::thread_payloads::VertexUrbEntry::new()
            };
            let mut dwords = header.pack().to_vec();
            dwords.extend(attribute.map(f32::to_bits));
            self.put_dwords(VERTICES + 64 * n as u64, &dwords);
        }
        let mut batch = Vec::new();
        batch.extend(StateBaseAddress::new().pack());
        let fences = UrbFence {
            vs_unit_urb_reallocation_request: true,
            gs_unit_urb_reallocation_request: true,
            clip_unit_urb_reallocation_request: true,
            sf_unit_urb_reallocation_request: true,
            vfe_unit_urb_reallocation_request: true,
            cs_unit_urb_reallocation_request: true,
            vs_fence: u(64),
            gs_fence: u(72),
            clip_fence: u(82),
            sf_fence: u(98),
            cs_fence: u(384),
            ..UrbFence::new()
        };
        batch.extend(fences.pack());
        let pointers = ThreeDStatePipelinedPointers {
            pointer_to_vs_state: Address::from_bits(STATE),
            pointer_to_sf_state: Address::from_bits(STATE + 0x80),
            pointer_to_wm_state: Address::from_bits(STATE + 0x100),
            pointer_to_color_calc_state: Address::from_bits(STATE + 0x180),
            ..ThreeDStatePipelinedPointers::new()
        };
        batch.extend(pointers.pack());
        let tables = ThreeDStateBindingTablePointers {
            pointer_to_ps_binding_table: Address::from_bits(TABLE),
            ..ThreeDStateBindingTablePointers::new()
        };
        batch.extend(tables.pack());
        batch.extend(self.drawing.pack());
        batch.extend(self.depth.pack());
        let source = Control::VFCOMP_STORE_SRC;
        let elements =
            [element(0, 0, source), element(4, 16, source), element(8, 32, source), self.attribute];
        let mut dwords: Vec<u32> = elements.iter().flat_map(|it| it.pack()).collect();
        dwords.insert(0, 0x7809_0000 | (dwords.len() as u32 - 1));
        batch.extend(dwords);
        let mut dwords = self.buffer.pack().to_vec();
        dwords.insert(0, 0x7808_0000 | (dwords.len() as u32 - 1));
        batch.extend(dwords);
        batch.extend(self.indices.map(|it| it.pack()).into_iter().flatten());
        batch.extend(&self.more);
        let primitive = ThreeDPrimitive {
            primitive_topology_type: self.topology,
            vertex_access_type: match self.indices {
                Some(_) => ThreeDPrimitiveVertexAccessType::RANDOM,
                None => ThreeDPrimitiveVertexAccessType::SEQUENTIAL,
            },
            vertex_count_per_instance: u(count as u64),
            instance_count: u(self.instances),
            ..ThreeDPrimitive::new()
        };
        batch.extend(primitive.pack());
        batch.extend(&self.after);
        batch.extend(MiBatchBufferEnd::new().pack());
        if batch.len() % 2 == 1 {
            batch.push(0);
        }
        self.put_dwords(BATCH, &batch);
        4 * batch.len() as u64
    }

    /// Runs the batch in memory.
    pub fn submit(&mut self, bytes: u64) -> Result<Stats, Fault> {
        self.gpu.submit(self.context, EngineId::Render, BATCH, bytes)
    }

    /// As [`submit`](Self::submit), with an observer.
    pub fn observe(&mut self, bytes: u64, observer: &mut dyn Observer) -> Result<Stats, Fault> {
        self.gpu.submit_observed(self.context, EngineId::Render, BATCH, bytes, observer)
    }

    /// Draws all vertices, or as many indices.
    pub fn draw(&mut self, vertices: &[Vertex], count: usize) -> Result<Stats, Fault> {
        let bytes = self.prepare(vertices, count);
        self.submit(bytes)
    }
}
