//! Faults that are found with the history and the slice of a pixel. Each fault changes one thing:
//! a field of a packet, state or a value in memory, an instruction, a blit. Then a pixel of the
//! target differs, and the history or slice of this pixel must name the changed thing: the only
//! difference between what is named for the good and for the bad draw is the packet, the address or
//! the instruction that was changed.

use crate::screen::scene::{CONSTANTS, FLOATS, Scene, TARGETS, VERTICES, Vertex, viewport};
use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt};
use genxml::gen8::enums::{
    ThreeDColorBufferBlendFactor as Factor, ThreeDColorBufferBlendFunction as Function,
    ThreeDCompareFunction as Compare, ThreeDPrimTopoType as Code,
};
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersPs, ThreeDStateSamplerStatePointersPs,
};
use genxml::gen8::render3d_constants::ThreeDStateConstantPs;
use genxml::gen8::render3d_depth::ThreeDStateDepthBufferSurfaceFormat as DepthFormat;
use genxml::gen8::render3d_fetch::{
    ThreeDStateVertexBuffers, ThreeDStateVertexElements, ThreeDStateVfTopology,
};
use genxml::gen8::render3d_pixel::ThreeDStatePsExtra;
use genxml::gen8::render3d_raster::{
    CcViewport, ScissorRect, ThreeDStateDrawingRectangle, ThreeDStateRasterCullMode as Cull,
    ThreeDStateRasterFrontWinding as Winding,
};
use genxml::gen8::state::{
    BindingTableState, RenderSurfaceState, RenderSurfaceStateExtent, SamplerState,
    SamplerStateMagModeFilter as Mag, SamplerStateMinModeFilter as Min,
    ShaderChannelSelect as Select, SurfaceFormat, SurfaceType, TextureCoordinateMode as Wrap,
};
use genxml_cases::{DYNAMIC_STATE, Model, SURFACE_STATE, at, draw, minus_one, push, u};
use genxml_sim::inspect::history::{Finder, History};
use genxml_sim::mem::Client;
use genxml_sim::pixel_history::{Answer, Stop, WhyError};
use genxml_sim::runs::Pass;
use genxml_sim::value_slice::{How, Made, Runs, of_pixel};
use std::collections::BTreeMap;

/// Address of the texture, 4 x 4 texels.
const TEXTURE: u64 = 0x0600_0000;
/// Offset of the surface state of the texture from the surface state base.
const SURFACE: u64 = 0x1000;
/// Offset of a surface state without texels.
const NOTHING: u64 = 0x1040;
/// Offset of the binding table of the scene. It follows the surface state of the target.
const TABLE: u64 = 64;
/// Offset of the sampler state from the dynamic state base.
const SAMPLER: u64 = 0xf000;
/// Offset of another sampler state, with another filter.
const OTHER_SAMPLER: u64 = 0xf040;
/// Side of the screen in pixels.
const SIDE: u32 = 16;

/// Samples a texture at the attribute times constant 0, adds constant 2 as often as constant 1
/// says, and multiplies red by constant 3.
const SHADER: [u32; 17 * 4] = eu! {
    mov (8|M0)       r60.0<1>:f   0.0:f
    pln (8|M0)       r61.0<1>:f   r5.0<0;1,0>:f  r2.0<8;8,1>:f
    pln (8|M0)       r62.0<1>:f   r5.4<0;1,0>:f  r2.0<8;8,1>:f
    mul (8|M0)       r61.0<1>:f   r61.0<8;8,1>:f  r4.0<0;1,0>:f
    mul (8|M0)       r62.0<1>:f   r62.0<8;8,1>:f  r4.0<0;1,0>:f
    send (8|M0)      r70  r60  0x2  0x06422001
    mov (8|M0)       r80.0<1>:f   0.0:f
    mov (8|M0)       r81.0<1>:f   0.0:f
    again:
    add (8|M0)       r80.0<1>:f   r80.0<8;8,1>:f  r4.2<0;1,0>:f
    add (8|M0)       r81.0<1>:f   r81.0<8;8,1>:f  1.0:f
    cmp (8|M0) (lt)f0.0  null<1>:f  r81.0<8;8,1>:f  r4.1<0;1,0>:f
    (f0.0) while (8|M0) again
    mul (8|M0)       r112.0<1>:f  r70.0<8;8,1>:f  r4.3<0;1,0>:f
    add (8|M0)       r113.0<1>:f  r71.0<8;8,1>:f  r80.0<8;8,1>:f
    mov (8|M0)       r114.0<1>:f  r72.0<8;8,1>:f
    mov (8|M0)       r115.0<1>:f  r73.0<8;8,1>:f
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// [`SHADER`] with an `add` in place of its last `mul`, instruction 12.
const WRONG_SHADER: [u32; 17 * 4] = {
    const ADD: [u32; 4] = eu! { add (8|M0) r112.0<1>:f r70.0<8;8,1>:f r4.3<0;1,0>:f };
    let mut words = SHADER;
    [words[48], words[49], words[50], words[51]] = ADD;
    words
};

/// A draw, a texture, and a blit after the draw.
#[derive(Clone)]
struct Setup {
    scene: Scene,
    texture: [[f32; 4]; 16],
    surface: RenderSurfaceState,
    sampler: SamplerState,
    /// Offset of the surface state in entry 1 of the binding table.
    entry: u64,
    blit: XyColorBlt,
    draws: bool,
}

/// A triangle that covers most of the screen, in clip space.
fn setup() -> Setup {
    let corner = |x: f32, y: f32, z: f32| Vertex {
        header: [0; 4],
        position: [x, y, z, 1.0],
        attributes: vec![[x, y, z, 1.0].map(|value| (value * 0.4 + 0.6).to_bits())],
    };
    let vertices = vec![corner(-0.9, 0.9, 0.2), corner(0.9, 0.9, 0.3), corner(-0.9, -0.9, 0.4)];
    let mut scene = Scene::new([SIDE, SIDE], Code::_3DPRIM_TRILIST, vertices).clipped();
    scene.kernel = &SHADER;
    scene.sbe.constant_interpolation_enable = u(0);
    scene.targets = vec![FLOATS];
    scene.targets[0].before = [0.125f32, 0.25, 0.5, 1.0].map(f32::to_bits);
    let mut constants = [0; 8];
    constants[..4].copy_from_slice(&[1.5f32, 3.0, 0.0625, 0.75].map(f32::to_bits));
    scene.constants = vec![constants];
    scene.raster.cull_mode = Cull::CULLMODE_BACK;
    scene.depth = Some((DepthFormat::D32_FLOAT, 0.5f32.to_bits()));
    scene.tests.depth_test_enable = true;
    scene.tests.depth_test_function = Compare::COMPAREFUNCTION_LESS;
    scene.stencil = Some(3);
    scene.tests.stencil_test_enable = true;
    scene.tests.stencil_test_mask = u(0xff);
    scene.tests.stencil_test_function = Compare::COMPAREFUNCTION_EQUAL;
    scene.color.stencil_reference_value = u(3);
    scene.color.blend_constant_color_red = 0.25;
    scene.color.blend_constant_color_green = 0.25;
    scene.color.blend_constant_color_blue = 0.25;
    let entry = &mut scene.blend.entry[0];
    entry.color_buffer_blend_enable = true;
    entry.source_blend_factor = Factor::BLENDFACTOR_ONE;
    entry.destination_blend_factor = Factor::BLENDFACTOR_CONST_COLOR;
    entry.color_blend_function = Function::BLENDFUNCTION_ADD;
    entry.source_alpha_blend_factor = Factor::BLENDFACTOR_ONE;
    entry.destination_alpha_blend_factor = Factor::BLENDFACTOR_ZERO;
    entry.alpha_blend_function = Function::BLENDFUNCTION_ADD;
    scene.scissors = vec![ScissorRect {
        scissor_rectangle_x_max: u(15),
        scissor_rectangle_y_max: u(15),
        ..ScissorRect::unpack_lossy(&[0; ScissorRect::DWORDS])
    }];
    push(
        &mut scene.more,
        &ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: at(SAMPLER) },
    );
    Setup {
        scene,
        texture: std::array::from_fn(|n| [0.05, 0.1, 0.2, 0.0].map(|step| step * n as f32 / 4.0)),
        surface: RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: SurfaceFormat::R32G32B32A32_FLOAT,
            surface_base_address: at(TEXTURE),
            surface_pitch: minus_one(64),
            extent: RenderSurfaceStateExtent::Image {
                width: minus_one(4),
                height: minus_one(4),
                depth: minus_one(1),
            },
            shader_channel_select_red: Select::RED,
            shader_channel_select_green: Select::GREEN,
            shader_channel_select_blue: Select::BLUE,
            shader_channel_select_alpha: Select::ALPHA,
            ..RenderSurfaceState::new()
        },
        sampler: SamplerState {
            min_mode_filter: Min::NEAREST,
            mag_mode_filter: Mag::NEAREST,
            tcx_address_control_mode: Wrap::WRAP,
            tcy_address_control_mode: Wrap::WRAP,
            ..SamplerState::new()
        },
        entry: SURFACE,
        // Two columns of pixels of four dwords, outside of the triangle.
        blit: XyColorBlt {
            color_depth: BlitColorDepth::_32BPP,
            _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
            raster_operation: BlitRasterOperation::PATTERN_COPY,
            destination_pitch: genxml_core::S::new(256).unwrap(),
            destination_x1_coordinate_left: genxml_core::S::new(56).unwrap(),
            destination_y1_coordinate_top: genxml_core::S::new(8).unwrap(),
            destination_x2_coordinate_right: genxml_core::S::new(64).unwrap(),
            destination_y2_coordinate_bottom: genxml_core::S::new(16).unwrap(),
            destination_base_address: at(TARGETS),
            solid_pattern_color: u(0x3f00_0000),
            ..XyColorBlt::new()
        },
        draws: true,
    }
}

impl Setup {
    /// A model, and the batches in order.
    fn make(&self) -> (Model, Vec<(EngineId, Vec<u32>)>) {
        let mut model = self.scene.model();
        model.map(TEXTURE, 4096);
        model.put(
            TEXTURE,
            self.texture.as_flattened().iter().map(|v| v.to_bits()).collect::<Vec<_>>().as_slice(),
        );
        let batch = self.scene.batch(&mut model);
        model.put(SURFACE_STATE + SURFACE, &self.surface.pack());
        let nothing = RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_NULL,
            surface_format: SurfaceFormat::R32G32B32A32_FLOAT,
            ..RenderSurfaceState::new()
        };
        model.put(SURFACE_STATE + NOTHING, &nothing.pack());
        let entry = BindingTableState { surface_state_pointer: at(self.entry) };
        model.put(SURFACE_STATE + TABLE + 4, &entry.pack());
        model.put(DYNAMIC_STATE + SAMPLER, &self.sampler.pack());
        let other = SamplerState {
            min_mode_filter: Min::LINEAR,
            mag_mode_filter: Mag::LINEAR,
            ..self.sampler
        };
        model.put(DYNAMIC_STATE + OTHER_SAMPLER, &other.pack());
        let mut batches = Vec::new();
        if self.draws {
            batches.push((EngineId::Render, batch));
        }
        let mut blit = Vec::new();
        push(&mut blit, &self.blit);
        batches.push((EngineId::Blitter, blit));
        (model, batches)
    }

    /// The pixels of the target.
    fn image(&self) -> Vec<Vec<u8>> {
        let (mut model, batches) = self.make();
        for (engine, batch) in batches {
            model.submit(engine, &batch).unwrap();
        }
        let bytes = model.read(TARGETS, (SIDE * SIDE * 16) as usize);
        bytes.chunks(16).map(<[u8]>::to_vec).collect()
    }

    /// Everything that the history and the slice of a pixel name.
    fn names(&self, at: [u32; 2]) -> Named {
        let mut finder = Finder::new(at, 0, Some(TARGETS), None);
        let (mut model, batches) = self.make();
        for (engine, batch) in &batches {
            model.submit_observed(*engine, batch, &mut finder).unwrap();
        }
        let found = match finder.found() {
            Ok(found) => found,
            Err(_) => return Named::default(),
        };
        let mut history = History::new(found.probe, None);
        self.run(&mut history);
        let answer = Answer {
            probe: history.probe().clone(),
            draw: found.draw,
            entries: history.entries().to_vec(),
            value: history.value().cloned(),
            stop: None,
        };
        let bytes = answer.value.as_ref().unwrap().bytes.clone();
        let newest = answer.entries.iter().rfind(|entry| entry.old != entry.new);
        if let Some(entry) = newest {
            assert_eq!(entry.new.as_ref().unwrap().bytes, bytes, "the last new value");
        }
        let made = of_pixel(&mut SetupRuns(self), &answer, None, 1).unwrap();
        Named::new(&answer, &made)
    }

    fn run(&self, pass: &mut dyn Pass) {
        let (mut model, batches) = self.make();
        for (engine, batch) in batches {
            model.submit_observed(engine, &batch, &mut *pass).unwrap();
        }
    }
}

struct SetupRuns<'s>(&'s Setup);

impl Runs for SetupRuns<'_> {
    fn run(&mut self, pass: &mut dyn Pass) -> Result<Option<Stop>, WhyError> {
        self.0.run(pass);
        Ok(None)
    }
}

/// A thing that a fault changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Thing {
    /// A packet that sets state, or 3DPRIMITIVE.
    Packet(&'static str),
    /// State, vertices or indices in memory: address and bytes.
    Memory(u64, u64),
    /// Memory that the shader reads: constants and texels.
    Read(u64, u64),
    /// The instruction at this offset of the kernel.
    Code(u32),
    /// A packet that wrote the pixel.
    Writer(&'static str),
}

/// What is named, with its values.
#[derive(Default)]
struct Named {
    things: BTreeMap<Thing, String>,
    /// A draw touched the pixel.
    drawn: bool,
}

impl Named {
    fn new(answer: &Answer, made: &Made) -> Named {
        let mut named = Named::default();
        for entry in &answer.entries {
            named.drawn |= entry.draw.is_some();
            if let Some(at) = entry.at {
                let thing = Thing::Writer(at.packet);
                named.things.insert(thing, format!("{:?}", entry.blit));
            }
        }
        let state = made.state.iter();
        for packet in state.clone().flat_map(|state| &state.packets) {
            let thing = Thing::Packet(packet.at.packet);
            named.things.insert(thing, format!("{:08x?}", packet.dwords));
        }
        for memory in state.flat_map(|state| &state.memory) {
            assert!(matches!(memory.client, Client::State | Client::Vertices));
            let thing = Thing::Memory(memory.address, memory.bytes);
            named.things.insert(thing, format!("{:x?}", memory.writer.as_ref().map(|it| &it.new)));
        }
        if let How::Thread(slice) = &made.how {
            for node in &slice.slice.nodes {
                let text = slice.traced.text(node.offset).to_owned();
                named.things.insert(Thing::Code(node.offset), text);
            }
            for read in &slice.reads {
                let thing = Thing::Read(read.address, read.bytes);
                let bytes = read.writer.as_ref().map(|it| &it.new);
                named.things.insert(thing, format!("{bytes:x?}"));
            }
        }
        named
    }

    /// The things that are named in both with different values; writers also if only one has them.
    fn differences(&self, other: &Named) -> Vec<Thing> {
        let mut things = Vec::new();
        for (thing, value) in &self.things {
            match other.things.get(thing) {
                Some(theirs) if theirs == value => {}
                Some(_) => things.push(*thing),
                None if matches!(thing, Thing::Writer(_)) => things.push(*thing),
                None => {}
            }
        }
        let only =
            |thing: &&Thing| matches!(thing, Thing::Writer(_)) && !self.things.contains_key(thing);
        things.extend(other.things.keys().filter(only));
        things
    }
}

impl Thing {
    /// True if this thing, which the fault changes, is what was found.
    fn is(self, found: Thing) -> bool {
        match (self, found) {
            (Thing::Memory(address, bytes), Thing::Memory(first, length))
            | (Thing::Read(address, bytes), Thing::Read(first, length)) => {
                first < address + bytes && address < first + length
            }
            _ => self == found,
        }
    }
}

/// The good setup is `setup()`.
struct Fault(&'static str, Thing, fn(&mut Setup));

// Offsets of the scene from the dynamic state base.
const SF_VIEWPORT: u64 = DYNAMIC_STATE;
const CC_VIEWPORT: u64 = DYNAMIC_STATE + 0x400;
const SCISSOR: u64 = DYNAMIC_STATE + 0x500;
const BLEND: u64 = DYNAMIC_STATE + 0x600;
const COLOR: u64 = DYNAMIC_STATE + 0x700;
const CONSTANT: u64 = DYNAMIC_STATE + CONSTANTS;

const DEPTH_STENCIL: Thing = Thing::Packet("3DSTATE_WM_DEPTH_STENCIL");
const RASTER: Thing = Thing::Packet("3DSTATE_RASTER");

fn more(setup: &mut Setup, packet: &impl genxml_core::Instruction) {
    push(&mut setup.scene.more, packet);
}

const FAULTS: &[Fault] = &[
    Fault("flipped depth test", DEPTH_STENCIL, |it| {
        it.scene.tests.depth_test_function = Compare::COMPAREFUNCTION_GREATER;
    }),
    Fault("flipped stencil test", DEPTH_STENCIL, |it| {
        it.scene.tests.stencil_test_function = Compare::COMPAREFUNCTION_NOTEQUAL;
    }),
    Fault("stencil reference", Thing::Memory(COLOR, 24), |it| {
        it.scene.color.stencil_reference_value = u(4);
    }),
    Fault("blend constant", Thing::Memory(COLOR, 24), |it| {
        it.scene.color.blend_constant_color_green = 0.5;
    }),
    Fault("source blend factor", Thing::Memory(BLEND, 12), |it| {
        it.scene.blend.entry[0].source_blend_factor = Factor::BLENDFACTOR_ZERO;
    }),
    Fault("destination blend factor", Thing::Memory(BLEND, 12), |it| {
        it.scene.blend.entry[0].destination_blend_factor = Factor::BLENDFACTOR_ONE;
    }),
    Fault("blend function", Thing::Memory(BLEND, 12), |it| {
        it.scene.blend.entry[0].color_blend_function = Function::BLENDFUNCTION_SUBTRACT;
    }),
    Fault("colour mask", Thing::Memory(BLEND, 12), |it| {
        it.scene.blend.entry[0].write_disable_green = true;
    }),
    Fault("alpha test", Thing::Memory(BLEND, 12), |it| {
        it.scene.blend.alpha_test_enable = true;
        it.scene.blend.alpha_test_function = Compare::COMPAREFUNCTION_NEVER;
    }),
    Fault("viewport", Thing::Memory(SF_VIEWPORT, 64), |it| {
        it.scene.viewports[0].0 = viewport([0.0, 0.0, 15.0, 16.0]);
    }),
    Fault("depth range", Thing::Memory(CC_VIEWPORT, 8), |it| {
        it.scene.viewports[0].1 = CcViewport { minimum_depth: 0.75, maximum_depth: 1.0 };
    }),
    Fault("scissor", Thing::Memory(SCISSOR, 8), |it| {
        it.scene.scissors[0].scissor_rectangle_x_min = u(6);
    }),
    Fault("drawing rectangle", Thing::Packet("3DSTATE_DRAWING_RECTANGLE"), |it| {
        let packet = ThreeDStateDrawingRectangle {
            clipped_drawing_rectangle_x_max: u(3),
            clipped_drawing_rectangle_y_max: u(15),
            ..ThreeDStateDrawingRectangle::new()
        };
        more(it, &packet);
    }),
    Fault("sample mask", Thing::Packet("3DSTATE_SAMPLE_MASK"), |it| it.scene.sample_mask = 0xfe),
    Fault("cull mode", RASTER, |it| it.scene.raster.cull_mode = Cull::CULLMODE_FRONT),
    Fault("winding", RASTER, |it| it.scene.raster.front_winding = Winding::COUNTER_CLOCKWISE),
    Fault("topology", Thing::Packet("3DSTATE_VF_TOPOLOGY"), |it| {
        more(it, &ThreeDStateVfTopology { primitive_topology_type: Code::_3DPRIM_RECTLIST });
    }),
    Fault("vertex attribute", Thing::Memory(VERTICES, 144), |it| {
        it.scene.vertices[1].attributes[0][1] = 0.1f32.to_bits();
    }),
    Fault("vertex position", Thing::Memory(VERTICES, 144), |it| {
        it.scene.vertices[0].position[0] = -0.7;
    }),
    Fault("vertex element", Thing::Packet("3DSTATE_VERTEX_ELEMENTS"), |it| {
        let mut elements = draw::elements(3);
        elements[2].source_element_offset = u(16);
        more(it, &ThreeDStateVertexElements { element: elements[..].into() });
    }),
    Fault("vertex buffer", Thing::Packet("3DSTATE_VERTEX_BUFFERS"), |it| {
        // The attribute of the third vertex is after the end, so it is zero.
        let buffers = [draw::vertex_buffer(VERTICES, 48, 128)];
        more(it, &ThreeDStateVertexBuffers { vertex_buffer_state: buffers[..].into() });
    }),
    Fault("texture coordinate constant", Thing::Read(CONSTANT, 4), |it| {
        it.scene.constants[0][0] = 2.0f32.to_bits();
    }),
    Fault("loop count", Thing::Read(CONSTANT + 4, 4), |it| {
        it.scene.constants[0][1] = 5.0f32.to_bits();
    }),
    Fault("added constant", Thing::Read(CONSTANT + 8, 4), |it| {
        it.scene.constants[0][2] = 0.5f32.to_bits();
    }),
    Fault("factor of red", Thing::Read(CONSTANT + 12, 4), |it| {
        it.scene.constants[0][3] = 0.5f32.to_bits();
    }),
    Fault("constant buffer", Thing::Packet("3DSTATE_CONSTANT_PS"), |it| {
        let mut packet = ThreeDStateConstantPs::new();
        packet.constant_body.constant_buffer_0_read_length = u(1);
        packet.constant_body.pointer_to_constant_buffer_0 = at(CONSTANTS + 32);
        more(it, &packet);
    }),
    Fault("instruction", Thing::Code(12 * 16), |it| it.scene.kernel = &WRONG_SHADER),
    Fault("sampler filter", Thing::Memory(DYNAMIC_STATE + SAMPLER, 16), |it| {
        it.sampler.min_mode_filter = Min::LINEAR;
        it.sampler.mag_mode_filter = Mag::LINEAR;
    }),
    Fault("address mode", Thing::Memory(DYNAMIC_STATE + SAMPLER, 16), |it| {
        it.sampler.tcx_address_control_mode = Wrap::CLAMP;
    }),
    Fault("sampler pointer", Thing::Packet("3DSTATE_SAMPLER_STATE_POINTERS_PS"), |it| {
        let pointer =
            ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: at(OTHER_SAMPLER) };
        more(it, &pointer);
    }),
    Fault("binding table entry", Thing::Memory(SURFACE_STATE + TABLE + 4, 4), |it| {
        it.entry = NOTHING;
    }),
    Fault("binding table", Thing::Packet("3DSTATE_BINDING_TABLE_POINTERS_PS"), |it| {
        // Entry 1 of this table is zero: the surface state of the target.
        more(
            it,
            &ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: at(TABLE + 32) },
        );
    }),
    Fault("texture format", Thing::Memory(SURFACE_STATE + SURFACE, 64), |it| {
        it.surface.surface_format = SurfaceFormat::R32G32_FLOAT;
    }),
    Fault("swapped channels", Thing::Memory(SURFACE_STATE + SURFACE, 64), |it| {
        it.surface.shader_channel_select_red = Select::BLUE;
    }),
    Fault("texture size", Thing::Memory(SURFACE_STATE + SURFACE, 64), |it| {
        it.surface.extent = RenderSurfaceStateExtent::Image {
            width: minus_one(2),
            height: minus_one(4),
            depth: minus_one(1),
        };
    }),
    Fault("texel", Thing::Read(TEXTURE + 16 * 5, 16), |it| it.texture[5] = [0.9; 4]),
    Fault("flat attributes", Thing::Packet("3DSTATE_SBE"), |it| {
        it.scene.sbe.constant_interpolation_enable = u(1);
    }),
    Fault("no attributes", Thing::Packet("3DSTATE_PS_EXTRA"), |it| {
        it.scene.extra = ThreeDStatePsExtra { attribute_enable: false, ..it.scene.extra };
    }),
    Fault("blit one column too wide", Thing::Writer("XY_COLOR_BLT"), |it| {
        it.blit.destination_x1_coordinate_left = genxml_core::S::new(52).unwrap();
    }),
    Fault("blit one row too low", Thing::Writer("XY_COLOR_BLT"), |it| {
        it.blit.destination_y1_coordinate_top = genxml_core::S::new(9).unwrap();
    }),
    Fault("missing draw", Thing::Writer("3DPRIMITIVE"), |it| it.draws = false),
];

/// Maximum number of pixels that are looked at for a fault.
const CANDIDATES: usize = 24;
/// A pixel that the good draw touches.
const DRAWN: [u32; 2] = [4, 4];

/// Oracle: the change of each fault.
#[test]
fn injected_faults_are_named() {
    let good = setup();
    let before = good.image();
    assert!(FAULTS.len() >= 30);
    let mut failed = Vec::new();
    for Fault(name, thing, change) in FAULTS {
        let mut bad = setup();
        change(&mut bad);
        let after = bad.image();
        let differ: Vec<[u32; 2]> = (0..SIDE * SIDE)
            .filter(|n| before[*n as usize] != after[*n as usize])
            .map(|n| [n % SIDE, n / SIDE])
            .collect();
        // A pixel in the middle of those that differ: one that both draws touch, if there is one;
        // else one that the wrong draw touches.
        let middle = differ.len() / 2;
        let order: Vec<[u32; 2]> =
            differ[middle..].iter().chain(&differ[..middle]).copied().take(CANDIDATES).collect();
        let rank = |at: &[u32; 2]| (good.names(*at).drawn, bad.names(*at).drawn);
        let best = order.iter().find(|at| rank(at) == (true, true));
        let best = best.or_else(|| order.iter().find(|at| rank(at).1)).or(order.first());
        let Some(at) = best.copied() else {
            failed.push(format!("{name}: no pixel differs"));
            continue;
        };
        let (expected, named) = (good.names(at), bad.names(at));
        let differences = match expected.drawn || !named.drawn {
            true => expected.differences(&named),
            // The good draw does not touch the pixel: compare with another pixel of it.
            false => {
                let mut differences = good.names(DRAWN).differences(&named);
                differences.retain(|thing| matches!(thing, Thing::Packet(_) | Thing::Memory(..)));
                differences
            }
        };
        let right = differences.iter().any(|found| thing.is(*found))
            && differences.iter().all(|found| thing.is(*found));
        if !right {
            failed.push(format!("{name}, pixel {at:?}: {thing:x?}, but {differences:x?}"));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), FAULTS.len(), failed.join("\n"));
}
