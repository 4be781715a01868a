//! Faults before the rasteriser that are found with the slice of a pixel: in the vertex shader, in
//! vertex and index buffers, in vertex elements, in the swizzles of 3DSTATE_SBE_SWIZ, in a triangle
//! that is clipped, in the geometry shader. Each fault changes one thing. Then the slice of a pixel
//! must differ from that of the good draw only in what was changed.

use crate::screen::scene::{FLOATS, Scene, TARGETS, VERTICES, Vertex};
use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_constants::ThreeDStateConstantVs;
use genxml::gen8::render3d_fetch::{
    SgvComponentNumber, ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as VertexAccess,
    ThreeDStateIndexBuffer, ThreeDStateIndexBufferIndexFormat as IndexFormat,
    ThreeDStateVertexElements, ThreeDStateVfSgvs, VertexElementState,
};
use genxml::gen8::render3d_raster::{
    SfOutputAttributeDetailConstantSource as Constant,
    SfOutputAttributeDetailSwizzleSelect as Swizzle, ThreeDStateSbeSwiz,
};
use genxml::gen8::render3d_stages::{
    SoDecl, SoDeclEntry, ThreeDStateGs, ThreeDStateGsDispatchMode as Mode, ThreeDStateSoBuffer,
    ThreeDStateSoDeclList, ThreeDStateStreamout, ThreeDStateVs,
};
use genxml::gen8::state::SurfaceFormat;
use genxml_cases::{DYNAMIC_STATE, KERNELS, Model, at, draw, minus_one, packets, push, u};
use genxml_sim::inspect::history::{Finder, History};
use genxml_sim::inspect::slice::Fetched;
use genxml_sim::pixel_history::{Answer, Stop, WhyError};
use genxml_sim::runs::Pass;
use genxml_sim::value_slice::{
    GeometrySlice, How, Runs, VertexSlice, changes, find, of_memory, of_pixel,
};
use std::collections::BTreeMap;

/// Offsets of kernels from the instruction base. The scene's pixel shader is at 0.
const VERTEX: u64 = 0x1000;
const GEOMETRY: u64 = 0x2000;
/// Address of the index buffer.
const INDICES: u64 = VERTICES + 0x8000;
/// Offset of the vertex shader's constants from the dynamic state base.
const CONSTANTS: u64 = 0x2000;
/// Address of the stream output buffer.
const OUT: u64 = 0x70_0000;
/// Side of the screen in pixels.
const SIDE: u32 = 16;
/// The pixel whose slice is compared.
const PIXEL: [u32; 2] = [4, 5];

/// Red and green are x and y of attribute 0, blue and alpha those of attribute 1.
const PIXELS: &[u32] = &eu! {
    pln (8|M0)       r112.0<1>:f   r4.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (8|M0)       r113.0<1>:f   r4.4<0;1,0>:f  r2.0<8;8,1>:f
    pln (8|M0)       r114.0<1>:f   r6.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (8|M0)       r115.0<1>:f   r6.4<0;1,0>:f  r2.0<8;8,1>:f
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// A vertex shader: x of the position times constant 0; attribute 0 x plus constant 1; attribute 1
/// y is constant 3 where attribute 1 x is less than constant 2. The instruction at +0xc0 is the
/// parameter.
macro_rules! shader {
    ($($change:tt)*) => {
        &eu! {
            mov (8|M0)       r112.0<1>:ud  r1.0<8;8,1>:ud;
            mov (8|M0)       r113.0<1>:ud  0:ud;
            mov (8|M0)       r114.0<1>:ud  0:ud;
            mov (8|M0)       r115.0<1>:ud  0:ud;
            mov (8|M0)       r116.0<1>:ud  0:ud;
            send (8|M0)      null  r112  0x6  0x0A080007;
            mul (8|M0)       r113.0<1>:f   r7.0<8;8,1>:f  r2.0<0;1,0>:f;
            mov (8|M0)       r114.0<1>:ud  r8.0<8;8,1>:ud;
            mov (8|M0)       r115.0<1>:ud  r9.0<8;8,1>:ud;
            mov (8|M0)       r116.0<1>:ud  r10.0<8;8,1>:ud;
            send (8|M0)      null  r112  0x6  0x0A080017;
            mov (8|M0)       r114.0<1>:ud  r12.0<8;8,1>:ud;
            $($change)*
            mov (8|M0)       r115.0<1>:ud  r13.0<8;8,1>:ud;
            mov (8|M0)       r116.0<1>:ud  r14.0<8;8,1>:ud;
            send (8|M0)      null  r112  0x6  0x0A080027;
            cmp (8|M0) (lt)f0.0  null<1>:f  r15.0<8;8,1>:f  r2.2<0;1,0>:f;
            mov (8|M0)       r113.0<1>:ud  r15.0<8;8,1>:ud;
            mov (8|M0)       r114.0<1>:ud  r16.0<8;8,1>:ud;
            (f0.0) mov (8|M0)       r114.0<1>:f  r2.3<0;1,0>:f;
            mov (8|M0)       r115.0<1>:ud  r17.0<8;8,1>:ud;
            mov (8|M0)       r116.0<1>:ud  r18.0<8;8,1>:ud;
            send (8|M0)      null  r112  0x26  0x0A080037  {EOT};
        }
    };
}

const SHADER: &[u32] = shader! {
    add (8|M0)       r113.0<1>:f   r11.0<8;8,1>:f  r2.1<0;1,0>:f;
};
const WRONG_SHADER: &[u32] = shader! {
    mul (8|M0)       r113.0<1>:f   r11.0<8;8,1>:f  r2.1<0;1,0>:f;
};

/// A vertex shader for two vertices per thread, one in each half of the registers: r1 has the
/// constants, r2 to r5 the slots of the vertices. It adds constant 1 to attribute 0.
const PAIRS: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    mov (8|M0)       r113.0<1>:ud  0:ud
    mov (8|M0)       r114.0<1>:ud  r3.0<8;8,1>:ud
    add (8|M0)       r115.0<1>:f   r4.0<8;8,1>:f  r1.1<0;1,0>:f
    mov (8|M0)       r116.0<1>:ud  r5.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x0A088000  {EOT}
};

/// A geometry shader that makes a triangle from a triangle: it writes slots 1 to 3 of each vertex.
/// The parameter is the instruction that makes x of attribute 0 of vertex 1.
macro_rules! geometry {
    ($($change:tt)*) => {
        &eu! {
            mov (8|M0)       r112.0<1>:ud  r1.0<8;8,1>:ud;
            mov (8|M0)       r113.0<1>:ud  0:ud;
            mov (8|M0)       r114.0<1>:ud  0:ud;
            mov (8|M0)       r115.0<1>:ud  0:ud;
            mov (8|M0)       r116.0<1>:ud  0:ud;
            send (8|M0)      null  r112  0x6  0x0A080007;
            send (8|M0)      null  r112  0x6  0x0A080047;
            send (8|M0)      null  r112  0x6  0x0A080087;
            mov (8|M0)       r120.0<1>:ud  r1.0<8;8,1>:ud;
            mov (8|M0)       r121.0<1>:ud  r6.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r7.0<8;8,1>:ud;
            mov (8|M0)       r123.0<1>:ud  r8.0<8;8,1>:ud;
            mov (8|M0)       r124.0<1>:ud  r9.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A080017;
            mov (8|M0)       r121.0<1>:ud  r10.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r11.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A080027;
            mov (8|M0)       r121.0<1>:ud  r14.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r15.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A080037;
            mov (8|M0)       r121.0<1>:ud  r22.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r23.0<8;8,1>:ud;
            mov (8|M0)       r123.0<1>:ud  r24.0<8;8,1>:ud;
            mov (8|M0)       r124.0<1>:ud  r25.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A080057;
            $($change)*
            mov (8|M0)       r122.0<1>:ud  r27.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A080067;
            mov (8|M0)       r121.0<1>:ud  r30.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r31.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A080077;
            mov (8|M0)       r121.0<1>:ud  r38.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r39.0<8;8,1>:ud;
            mov (8|M0)       r123.0<1>:ud  r40.0<8;8,1>:ud;
            mov (8|M0)       r124.0<1>:ud  r41.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A080097;
            mov (8|M0)       r121.0<1>:ud  r42.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r43.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x6  0x0A0800A7;
            mov (8|M0)       r121.0<1>:ud  r46.0<8;8,1>:ud;
            mov (8|M0)       r122.0<1>:ud  r47.0<8;8,1>:ud;
            send (8|M0)      null  r120  0x26  0x0A0800B7  {EOT};
        }
    };
}

const SHAPER: &[u32] = geometry! { mov (8|M0) r121.0<1>:f r26.0<8;8,1>:f; };
const WRONG_SHAPER: &[u32] = geometry! { add (8|M0) r121.0<1>:f r26.0<8;8,1>:f 0.25:f; };

/// A draw with a vertex shader and an index buffer.
#[derive(Clone)]
struct Setup {
    scene: Scene,
    shader: &'static [u32],
    /// Threads of the vertex shader have eight vertices; otherwise two.
    wide: bool,
    geometry: Option<&'static [u32]>,
    indices: Vec<u16>,
    elements: Vec<VertexElementState>,
    constants: [f32; 4],
    swizzles: ThreeDStateSbeSwiz,
    sgvs: ThreeDStateVfSgvs,
    /// Stream output writes slots 1 and 2 of each vertex to [`OUT`].
    streams: bool,
}

fn setup() -> Setup {
    // Vertices 1, 3 and 4 are drawn. The others show whether a wrong index is found.
    let corner = |x: f32, y: f32, a: f32| Vertex {
        header: [0; 4],
        position: [x, y, 0.5, 1.0],
        attributes: vec![
            [a, a + 0.125, 0.25, 1.0].map(f32::to_bits),
            [1.0 - a, 0.5 * a, 0.75, 0.5].map(f32::to_bits),
        ],
    };
    let vertices = vec![
        corner(-0.8, 0.8, 0.0625),
        corner(-0.9, 0.9, 0.25),
        corner(0.1, -0.9, 0.375),
        corner(0.9, 0.9, 0.5),
        corner(-0.9, -0.9, 0.75),
        corner(-0.7, -0.6, 0.875),
    ];
    let mut scene = Scene::new([SIDE, SIDE], Code::_3DPRIM_TRILIST, vertices).clipped();
    scene.kernel = PIXELS;
    scene.sbe.constant_interpolation_enable = u(0);
    scene.targets = vec![FLOATS];
    let mut swizzles = ThreeDStateSbeSwiz::new();
    swizzles.attribute[1].source_attribute = u(1);
    Setup {
        scene,
        shader: SHADER,
        wide: true,
        geometry: None,
        indices: vec![2, 0, 5, 1, 3, 4],
        elements: draw::elements(4),
        constants: [1.0, 0.0625, 0.5, 0.375],
        swizzles,
        sgvs: ThreeDStateVfSgvs::new(),
        streams: false,
    }
}

impl Setup {
    fn with_geometry(mut self) -> Setup {
        self.geometry = Some(SHAPER);
        self
    }

    fn make(&self) -> (Model, Vec<u32>) {
        let mut scene = self.scene.clone();
        let mut more = draw::urb(4);
        let elements = &self.elements[..];
        push(&mut more, &ThreeDStateVertexElements { element: elements.into() });
        push(&mut more, &self.sgvs);
        let mut constants = ThreeDStateConstantVs::new();
        constants.constant_body.constant_buffer_0_read_length = u(1);
        constants.constant_body.pointer_to_constant_buffer_0 = at(CONSTANTS);
        push(&mut more, &constants);
        push(
            &mut more,
            &ThreeDStateVs {
                function_enable: true,
                simd8_dispatch_enable: self.wide,
                kernel_start_pointer: at(VERTEX),
                dispatch_grf_start_register_for_urb_data: u(if self.wide { 2 } else { 1 }),
                vertex_urb_entry_read_length: u(2),
                maximum_number_of_threads: minus_one(8),
                ..ThreeDStateVs::new()
            },
        );
        if self.geometry.is_some() {
            push(
                &mut more,
                &ThreeDStateGs {
                    enable: true,
                    kernel_start_pointer: at(GEOMETRY),
                    dispatch_mode: Mode::SIMD8,
                    expected_vertex_count: u(3),
                    vertex_urb_entry_read_length: u(2),
                    dispatch_grf_start_register_for_urb_data: u(2),
                    maximum_number_of_threads: u(7),
                    output_topology: Code::_3DPRIM_TRISTRIP,
                    output_vertex_size: minus_one(4),
                    static_output: true,
                    static_output_vertex_count: u(3),
                    ..ThreeDStateGs::new()
                },
            );
        }
        push(
            &mut more,
            &ThreeDStateIndexBuffer {
                index_format: IndexFormat::WORD,
                buffer_starting_address: at(INDICES),
                buffer_size: u(2 * self.indices.len() as u64),
                ..ThreeDStateIndexBuffer::new()
            },
        );
        push(&mut more, &self.swizzles);
        if self.streams {
            more.extend(stream_output());
        }
        scene.more.extend(more);
        scene.sbe.attribute_swizzle_enable = true;
        let mut model = scene.model();
        model.map(OUT, 4096);
        let mut batch = scene.batch(&mut model);
        batch.truncate(batch.len() - ThreeDPrimitive::DWORDS);
        push(
            &mut batch,
            &ThreeDPrimitive {
                vertex_access_type: VertexAccess::RANDOM,
                vertex_count_per_instance: u(self.indices.len() as u64),
                instance_count: u(1),
                ..ThreeDPrimitive::new()
            },
        );
        model.put(KERNELS + VERTEX, self.shader);
        model.put(KERNELS + GEOMETRY, self.geometry.unwrap_or_default());
        model.put(DYNAMIC_STATE + CONSTANTS, &self.constants.map(f32::to_bits));
        let bytes: Vec<u8> = self.indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        model.write(INDICES, &bytes);
        (model, batch)
    }

    fn run(&self, pass: &mut dyn Pass) {
        let (mut model, batch) = self.make();
        model.submit_observed(EngineId::Render, &batch, &mut *pass).unwrap();
    }

    /// The slice of the vertices at a pixel.
    fn geometry_at(&self, pixel: [u32; 2]) -> Box<GeometrySlice> {
        let (mut model, batch) = self.make();
        let mut finder = Finder::new(pixel, 0, Some(TARGETS), None);
        model.submit_observed(EngineId::Render, &batch, &mut finder).unwrap();
        let found = finder.found().unwrap();
        let mut history = History::new(found.probe, None);
        self.run(&mut history);
        let answer = Answer {
            probe: history.probe().clone(),
            draw: found.draw,
            entries: history.entries().to_vec(),
            value: history.value().cloned(),
            stop: None,
        };
        of_pixel(&mut SetupRuns(self), &answer, None, 1).unwrap().geometry.unwrap()
    }
}

/// Stream output of slots 1 and 2, 32 bytes for each vertex.
fn stream_output() -> Vec<u32> {
    let slot = |index: u64| SoDeclEntry {
        stream_0_decl: SoDecl { component_mask: u(15), register_index: u(index), ..SoDecl::new() },
        ..SoDeclEntry::new()
    };
    let entries = [slot(1), slot(2)];
    packets![
        ThreeDStateSoBuffer {
            so_buffer_enable: true,
            stream_offset_write_enable: true,
            surface_base_address: at(OUT),
            surface_size: minus_one(1024),
            ..ThreeDStateSoBuffer::new()
        },
        ThreeDStateSoDeclList {
            stream_to_buffer_selects_0: u(1),
            num_entries_0: u(2),
            entry: entries[..].into(),
            ..ThreeDStateSoDeclList::new()
        },
        ThreeDStateStreamout {
            so_function_enable: true,
            buffer_0_surface_pitch: u(32),
            stream_0_vertex_read_length: minus_one(2),
            ..ThreeDStateStreamout::new()
        },
    ]
}

struct SetupRuns<'s>(&'s Setup);

impl Runs for SetupRuns<'_> {
    fn run(&mut self, pass: &mut dyn Pass) -> Result<Option<Stop>, WhyError> {
        self.0.run(pass);
        Ok(None)
    }
}

/// What a slice names, with its value. Values that follow from others, as those of dwords in the
/// URB, are not here.
fn named(slice: &GeometrySlice) -> BTreeMap<String, String> {
    let mut named = BTreeMap::new();
    for (n, corner) in slice.corners.iter().enumerate() {
        named.insert(format!("corner {n}"), format!("{corner:?}"));
    }
    for attribute in &slice.attributes {
        let name = format!("attribute {} {}", attribute.number, attribute.component);
        named.insert(name, format!("{:?}", attribute.source));
    }
    let lists = [("vertex", &slice.vertices), ("input", &slice.inputs)];
    for (list, vertex) in
        lists.iter().flat_map(|(name, list)| list.iter().map(move |it| (name, it)))
    {
        let n = vertex.number;
        if let Some(shader) = &vertex.shader {
            code(&mut named, shader.as_ref().map_err(Clone::clone).unwrap());
        }
        if let Some(index) = &vertex.index {
            let bytes = &index.writer.as_ref().unwrap().new;
            named.insert(format!("index {n}"), format!("{bytes:?} at {:#x}", index.address));
        }
        if vertex.vertex.is_some() {
            data(&mut named, &format!("{list} {n}"), vertex);
        }
    }
    named
}

/// The instructions and constants of a thread.
fn code(named: &mut BTreeMap<String, String>, shader: &genxml_sim::value_slice::StageSlice) {
    let stage = shader.stage;
    for node in &shader.slice.nodes {
        let text = shader.traced.text(node.offset).to_owned();
        named.insert(format!("{stage} +{:#x}", node.offset), text);
    }
    for read in &shader.reads {
        let bytes = &read.writer.as_ref().unwrap().new;
        named.insert(format!("constant {:#x}", read.address), format!("{bytes:?}"));
    }
}

/// The fetched dwords of a vertex.
fn data(named: &mut BTreeMap<String, String>, name: &str, vertex: &VertexSlice) {
    for value in &vertex.fetched {
        let from = match &value.from {
            Fetched::Buffer { address, bytes, format, .. } => {
                let read = value.read.as_ref().unwrap();
                assert_eq!((read.address, read.bytes), (*address, *bytes));
                format!("{:?} at {address:#x} {format}", read.writer.as_ref().unwrap().new)
            }
            other => format!("{other:?}"),
        };
        named.insert(format!("{name} dword {}", value.dword), from);
    }
}

/// A fault: its name, the beginning of the only names whose values may differ, and the change.
struct Fault(&'static str, &'static [&'static str], fn(&mut Setup));

const FAULTS: &[Fault] = &[
    Fault("instruction of the vertex shader", &["vertex shader +0xc0"], |it| {
        it.shader = WRONG_SHADER;
    }),
    Fault("constant of a position", &["constant 0x"], |it| it.constants[0] = 0.75),
    Fault("constant of an attribute", &["constant 0x"], |it| it.constants[1] = 0.5),
    Fault("constant of a predicate", &["constant 0x"], |it| it.constants[2] = 0.875),
    Fault("constant after a predicate", &["constant 0x"], |it| it.constants[3] = 0.125),
    Fault("position in the vertex buffer", &["vertex 1 dword 5"], |it| {
        it.scene.vertices[3].position[1] = 0.875;
    }),
    Fault("attribute in the vertex buffer", &["vertex 2 dword 9"], |it| {
        it.scene.vertices[4].attributes[0][1] = 0.9f32.to_bits();
    }),
    Fault("attribute that a predicate tests", &["vertex 0 dword 12"], |it| {
        it.scene.vertices[1].attributes[1][0] = 0.1f32.to_bits();
    }),
    Fault("index", &["index 0", "vertex 0 dword"], |it| it.indices[3] = 0),
    Fault(
        "offset of a vertex element",
        &[
            "vertex 0 dword 8",
            "vertex 0 dword 9",
            "vertex 1 dword 8",
            "vertex 1 dword 9",
            "vertex 2 dword 8",
            "vertex 2 dword 9",
        ],
        |it| {
            it.elements[2].source_element_offset = u(48);
        },
    ),
    Fault(
        "format of a vertex element",
        &[
            "vertex 0 dword 12",
            "vertex 0 dword 13",
            "vertex 1 dword 12",
            "vertex 1 dword 13",
            "vertex 2 dword 12",
            "vertex 2 dword 13",
        ],
        |it| {
            it.elements[3].source_element_format = SurfaceFormat::R16G16B16A16_FLOAT;
        },
    ),
    Fault(
        "vertex ID in an attribute",
        &["vertex 0 dword 9", "vertex 1 dword 9", "vertex 2 dword 9"],
        |it| {
            it.sgvs.vertex_id_enable = true;
            it.sgvs.vertex_id_element_offset = u(2);
            it.sgvs.vertex_id_component_number = SgvComponentNumber::COMP_1;
        },
    ),
    Fault("source of an attribute", &["attribute 1 "], |it| {
        it.swizzles.attribute[1].source_attribute = u(0);
    }),
    Fault("swizzle of an attribute", &["attribute 0 "], |it| {
        it.swizzles.attribute[0].swizzle_select = Swizzle::INPUTATTR_W;
    }),
    Fault("override of a component", &["attribute 0 1"], |it| {
        it.swizzles.attribute[0].component_override_y = true;
        it.swizzles.attribute[0].constant_source = Constant::CONST_1111_FLOAT;
    }),
    Fault("constant interpolation", &["attribute 0 "], |it| {
        it.scene.sbe.constant_interpolation_enable = u(1);
    }),
];

/// Faults of a draw with a geometry shader.
const GEOMETRY_FAULTS: &[Fault] =
    &[Fault("instruction of the geometry shader", &["geometry shader +0x190"], |it| {
        it.geometry = Some(WRONG_SHAPER);
    })];

/// The names whose values differ.
fn differences(good: &BTreeMap<String, String>, bad: &BTreeMap<String, String>) -> Vec<String> {
    let differs =
        |(name, value): &(&String, &String)| bad.get(*name).is_some_and(|it| it != *value);
    good.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}

/// Injects faults. `rename` changes the names that are expected.
fn inject(good: &Setup, faults: &[Fault], rename: fn(&str) -> String) {
    let expected = named(&good.geometry_at(PIXEL));
    let mut failed = Vec::new();
    for Fault(name, only, change) in faults {
        let mut bad = good.clone();
        change(&mut bad);
        let found = differences(&expected, &named(&bad.geometry_at(PIXEL)));
        let only: Vec<String> = only.iter().map(|name| rename(name)).collect();
        let is_only = |it: &String| only.iter().any(|own| it.starts_with(own.as_str()));
        if found.is_empty() || !found.iter().all(is_only) {
            failed.push(format!("{name}: {only:?}, but {found:?}"));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), faults.len(), failed.join("\n"));
}

/// Oracle: the change of each fault.
#[test]
fn faults_before_the_rasteriser_are_named() {
    inject(&setup(), FAULTS, str::to_owned);
}

/// Threads of two vertices, whose messages have a header with handles. Oracle: the change of each
/// fault.
#[test]
fn faults_are_named_for_threads_of_two_vertices() {
    let mut good = setup();
    (good.shader, good.wide) = (PAIRS, false);
    let names = [
        "constant of an attribute",
        "position in the vertex buffer",
        "attribute in the vertex buffer",
        "index",
        "offset of a vertex element",
    ];
    for Fault(name, only, change) in FAULTS.iter().filter(|fault| names.contains(&fault.0)) {
        inject(&good, &[Fault(name, only, *change)], str::to_owned);
    }
    let slice = good.geometry_at(PIXEL);
    assert!(slice.vertices.iter().all(|vertex| vertex.needs.iter().all(|it| it.node.is_some())));
}

/// The same faults are found through a geometry shader that copies its vertices. Oracle: the change
/// of each fault.
#[test]
fn faults_before_the_geometry_shader_are_named() {
    let good = setup().with_geometry();
    inject(&good, FAULTS, |name| {
        name.replace("vertex 0", "input 0")
            .replace("vertex 1", "input 1")
            .replace("vertex 2", "input 2")
    });
    inject(&good, GEOMETRY_FAULTS, str::to_owned);
}

/// A triangle that reaches beyond the guard band, which is 8 times the viewport. Oracle: a corner
/// is the sum of the vertices with the weights; plain arithmetic.
#[test]
fn a_cut_triangle() {
    let mut good = setup();
    good.scene.vertices[3].position = [36.0, 0.9, 0.5, 1.0];
    let slice = good.geometry_at(PIXEL);
    assert!(slice.corners.len() == 4, "{:?}", slice.corners);
    let positions = [1, 3, 4].map(|n| good.scene.vertices[n].position);
    let made =
        |it: &&genxml_sim::machine::origins::ClippedCorner| it.weights.iter().all(|w| *w != 1.0);
    assert_eq!(slice.corners.iter().filter(made).count(), 2);
    for corner in &slice.corners {
        for (axis, position) in corner.position.iter().enumerate() {
            let sum: f32 = (0..3).map(|n| corner.weights[n] * positions[n][axis]).sum();
            assert!((sum - position).abs() < 1e-4, "{corner:?}");
        }
    }
    let fault =
        Fault("position of a vertex that is cut off", &["vertex 1 dword 4", "corner"], |it| {
            it.scene.vertices[3].position[0] = 30.0;
        });
    inject(&good, &[fault], str::to_owned);
}

/// A vertex that no index names, and dwords that no attribute uses, are not in the slice. Oracle:
/// the draw.
#[test]
fn other_vertices_are_not_named() {
    for good in [setup(), setup().with_geometry()] {
        let expected = named(&good.geometry_at(PIXEL));
        let mut other = good.clone();
        for unused in [0, 2, 5] {
            other.scene.vertices[unused].position[0] += 0.25;
            other.scene.vertices[unused].attributes[0][0] ^= 0xff;
        }
        for used in [1, 3, 4] {
            other.scene.vertices[used].attributes[1][3] ^= 0xff;
            other.scene.vertices[used].header[3] ^= 0xff;
        }
        (other.indices[0], other.indices[1]) = (0, 2);
        let found = named(&other.geometry_at(PIXEL));
        assert_eq!(found, expected);
        assert!(expected.len() > 20);
    }
}

/// Stream output of the second triangle, vertex 1, attribute 0 x: it has the value of vertex 3 of
/// the vertex buffer plus constant 1. Oracle: the draw, and the change of each fault.
#[test]
fn memory_that_stream_output_wrote() {
    for mut good in [setup(), setup().with_geometry()] {
        good.streams = true;
        // Six vertices of 32 bytes; the attribute is in the second half.
        let range = (OUT + 32 * 4 + 16, 4);
        let slice = |setup: &Setup| {
            let runs = &mut SetupRuns(setup);
            let span = find(runs, range.0, range.1).unwrap().0.unwrap();
            let (list, _) = changes(runs, span.clone()).unwrap();
            let made = of_memory(runs, range, span, &list, 1).unwrap();
            assert!(matches!(made.how, How::Streamed), "{:?}", made.how);
            (made.geometry.unwrap(), list.last().unwrap().new.clone())
        };
        let (expected, bytes) = slice(&good);
        assert_eq!(bytes, (0.5f32 + 0.0625).to_le_bytes());
        let needs: Vec<(usize, usize)> = (expected.vertices.iter())
            .flat_map(|vertex| vertex.needs.iter().map(|need| (vertex.number, need.dword)))
            .collect();
        assert_eq!(needs, [(1, 8)]);
        let fetched = expected.vertices.iter().chain(&expected.inputs).find_map(|vertex| {
            let number = vertex.vertex.as_ref()?.number;
            Some((number, vertex.fetched.iter().map(|value| value.dword).collect::<Vec<_>>()))
        });
        assert_eq!(fetched, Some((3, vec![8])));
        let mut bad = good.clone();
        bad.scene.vertices[3].attributes[0][0] = 0.625f32.to_bits();
        let found = differences(&named(&expected), &named(&slice(&bad).0));
        let name = if good.geometry.is_some() { "input 1 dword 8" } else { "vertex 1 dword 8" };
        assert_eq!(found, [name]);
        bad.scene.vertices[3].attributes[0][0] = 0.5f32.to_bits();
        bad.constants[1] = 0.125;
        let found = differences(&named(&expected), &named(&slice(&bad).0));
        assert!(found.len() == 1 && found[0].starts_with("constant"), "{found:?}");
    }
}
