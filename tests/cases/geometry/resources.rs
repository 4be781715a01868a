//! Each shader stage has a binding table, samplers and four constant buffers of its own. Its kernel
//! samples a texture, adds the constants, and writes the texel and the sum to a buffer. Oracle: the
//! texel and the sum; 2a 3DSTATE_BINDING_TABLE_POINTERS_VS, 3DSTATE_SAMPLER_STATE_POINTERS_VS and
//! 3DSTATE_CONSTANT_VS, and those of the other stages.
//!
//! The kernels also write `cr0`, in which threads find the modes and exceptions of their stage
//! (004:3081-3250).

use crate::geometry::harness::{Draw, model};
use genxml::eu;
use genxml::eu::gen8::eu_registers::ControlRegister;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersDs, ThreeDStateBindingTablePointersGs,
    ThreeDStateBindingTablePointersHs, ThreeDStateBindingTablePointersVs,
    ThreeDStateSamplerStatePointersDs, ThreeDStateSamplerStatePointersGs,
    ThreeDStateSamplerStatePointersHs, ThreeDStateSamplerStatePointersVs,
};
use genxml::gen8::render3d_constants::{
    ThreeDStateConstantBody, ThreeDStateConstantDs, ThreeDStateConstantGs, ThreeDStateConstantHs,
    ThreeDStateConstantVs,
};
use genxml::gen8::render3d_stages::{
    FloatingPointMode, ThreeDStateDs, ThreeDStateGs, ThreeDStateGsDispatchMode as Mode,
    ThreeDStateGsSingleProgramFlow as GsFlow, ThreeDStateHs, ThreeDStateTe,
    ThreeDStateTeOutputTopology as Topology, ThreeDStateTeTeDomain as Domain, ThreeDStateVs,
    VectorMaskEnable,
};
use genxml::gen8::state::{
    BindingTableState, RenderSurfaceState, RenderSurfaceStateExtent, SamplerState,
    ShaderChannelSelect, SurfaceFormat, SurfaceType, TextureCoordinateMode as Wrap,
};
use genxml_cases::{
    DYNAMIC_STATE, KERNELS, Model, SURFACE_STATE, at, minus_one, packets, push, raw_buffer, u,
};

/// Address of the textures of the stages, 256 bytes for each.
const TEXTURES: u64 = 0x60_0000;
/// Address of the buffers that the kernels write, 256 bytes for each.
const RESULTS: u64 = 0x61_0000;
/// Address of the constant buffers, 256 bytes for each stage, 64 for each buffer.
const CONSTANTS: u64 = 0x62_0000;

/// A kernel that samples the texture at 1.25, adds the constants in four registers, and writes the
/// texel, the sum and two dwords of `cr0` to the buffer. The instructions of the stage follow.
macro_rules! kernel {
    ($a:ident $b:ident $c:ident $d:ident $($stage:tt)*) => {
        &eu! {
            // Parameters of sample_l: level and U.
            (W) mov (8|M0)   r60.0<1>:f  0.0:f;
            (W) mov (8|M0)   r61.0<1>:f  1.25:f;
            (W) send (8|M0)  r62  r60  0x2  0x04422000;
            (W) mov (8|M0)   r70.0<1>:ud  0:ud;
            (W) mov (8|M0)   r71.0<1>:ud  r62.0<8;8,1>:ud;
            (W) send (8|M0)  null  r70  0xC  0x04026E01;
            (W) add (8|M0)   r71.0<1>:ud  $a.0<0;1,0>:ud  $b.0<0;1,0>:ud;
            (W) add (8|M0)   r71.0<1>:ud  r71.0<8;8,1>:ud  $c.0<0;1,0>:ud;
            (W) add (8|M0)   r71.0<1>:ud  r71.0<8;8,1>:ud  $d.0<0;1,0>:ud;
            (W) mov (8|M0)   r70.0<1>:ud  4:ud;
            (W) send (8|M0)  null  r70  0xC  0x04026E01;
            (W) mov (1|M0)   r72.0<1>:ud  cr0.0<0;1,0>:ud;
            (W) mov (1|M0)   r73.0<1>:ud  cr0.1<0;1,0>:ud;
            (W) mov (8|M0)   r70.0<1>:ud  8:ud;
            (W) mov (8|M0)   r71.0<1>:ud  r72.0<0;1,0>:ud;
            (W) send (8|M0)  null  r70  0xC  0x04026E01;
            (W) mov (8|M0)   r70.0<1>:ud  12:ud;
            (W) mov (8|M0)   r71.0<1>:ud  r73.0<0;1,0>:ud;
            (W) send (8|M0)  null  r70  0xC  0x04026E01;
            $($stage)*
        }
    };
}

/// Eight vertices, which pass unchanged: r6 to r9 have their first slot.
const VERTEX: &[u32] = kernel! { r2 r3 r4 r5
    mov (8|M0)       r112.0<1>:ud  r1.0<8;8,1>:ud;
    mov (8|M0)       r113.0<1>:ud  r6.0<8;8,1>:ud;
    mov (8|M0)       r114.0<1>:ud  r7.0<8;8,1>:ud;
    mov (8|M0)       r115.0<1>:ud  r8.0<8;8,1>:ud;
    mov (8|M0)       r116.0<1>:ud  r9.0<8;8,1>:ud;
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT};
};

/// Writes a patch header in which all tessellation factors are 1.
const HULL: &[u32] = kernel! { r1 r2 r3 r4
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud;
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud;
    (W) mov (8|M0)   r113.0<1>:f  1.0:f;
    (W) send (8|M0)  null  r112  0x26  0x04080000  {EOT};
};

/// Writes the coordinates of eight points.
const DOMAIN: &[u32] = kernel! { r5 r6 r7 r8
    (W) mov (8|M0)   r112.0<1>:ud  r4.0<8;8,1>:ud;
    mov (8|M0)       r113.0<1>:ud  r1.0<8;8,1>:ud;
    mov (8|M0)       r114.0<1>:ud  r2.0<8;8,1>:ud;
    mov (8|M0)       r115.0<1>:ud  r3.0<8;8,1>:ud;
    mov (8|M0)       r116.0<1>:ud  0:ud;
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT};
};

/// Writes one vertex of zeros for each of eight objects.
const GEOMETRY: &[u32] = kernel! { r2 r3 r4 r5
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud;
    mov (8|M0)       r113.0<1>:ud  0:ud;
    mov (8|M0)       r114.0<1>:ud  0:ud;
    mov (8|M0)       r115.0<1>:ud  0:ud;
    mov (8|M0)       r116.0<1>:ud  0:ud;
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT};
};

/// A row of four texels.
fn texture(address: u64) -> RenderSurfaceState {
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R32_UINT,
        surface_base_address: at(address),
        surface_pitch: minus_one(64),
        extent: RenderSurfaceStateExtent::Image {
            width: minus_one(4),
            height: minus_one(1),
            depth: minus_one(1),
        },
        shader_channel_select_red: ShaderChannelSelect::RED,
        shader_channel_select_green: ShaderChannelSelect::GREEN,
        shader_channel_select_blue: ShaderChannelSelect::BLUE,
        shader_channel_select_alpha: ShaderChannelSelect::ALPHA,
        ..RenderSurfaceState::new()
    }
}

/// The last texel and the constants of stage `n`.
fn values(n: u32) -> [u32; 5] {
    [100 + n, 1000 * (n + 1), 100_000 * (n + 1), 10_000_000 * (n + 1), 1 << (28 + n)]
}

/// Writes the surfaces, the samplers and the constants of stage `n`. Returns the offsets of binding
/// table and samplers, and the constant buffers.
fn resources(model: &mut Model, n: u32) -> (u64, u64, ThreeDStateConstantBody) {
    let [texel, constants @ ..] = values(n);
    let at_stage = |base: u64, bytes: u64| base + bytes * u64::from(n);
    model.put(at_stage(TEXTURES, 256), &[1, 2, 3, texel]);
    let table = at_stage(0x1000, 0x200);
    let surfaces = [texture(at_stage(TEXTURES, 256)), raw_buffer(at_stage(RESULTS, 256), 256)];
    for (index, surface) in (0_u64..).zip(surfaces) {
        let state = table + 64 + 64 * index;
        model.put(SURFACE_STATE + state, &surface.pack());
        let entry = BindingTableState { surface_state_pointer: at(state) };
        model.put(SURFACE_STATE + table + 4 * index, &entry.pack());
    }
    // A sampler state of zeros has the address mode wrap, and would return texel 1.
    let samplers = at_stage(0x2000, 0x40);
    let sampler = SamplerState { tcx_address_control_mode: Wrap::CLAMP, ..SamplerState::new() };
    model.put(DYNAMIC_STATE + samplers, &sampler.pack());
    let buffer = |index: u64| at_stage(CONSTANTS, 256) + 64 * index;
    for (index, constant) in (0..).zip(constants) {
        model.put(buffer(index), &[constant]);
    }
    let body = ThreeDStateConstantBody {
        constant_buffer_0_read_length: u(1),
        constant_buffer_1_read_length: u(1),
        constant_buffer_2_read_length: u(1),
        constant_buffer_3_read_length: u(1),
        // The pointer to buffer 0 is an offset from the dynamic state base.
        pointer_to_constant_buffer_0: at(buffer(0) - DYNAMIC_STATE),
        pointer_to_constant_buffer_1: at(buffer(1)),
        pointer_to_constant_buffer_2: at(buffer(2)),
        pointer_to_constant_buffer_3: at(buffer(3)),
    };
    (table, samplers, body)
}

/// Adds the packets with the resources of a stage to a draw.
macro_rules! bind {
    ($model:ident $draw:ident $n:literal
     $tables:ident.$table:ident $samplers:ident.$sampler:ident $constants:ident) => {{
        let (table, samplers, constant_body) = resources(&mut $model, $n);
        $draw.stages.extend(packets![
            $tables { $table: at(table) },
            $samplers { $sampler: at(samplers) },
            $constants { constant_body, ..$constants::new() },
        ]);
    }};
}

/// All stages at once: each vertex is a patch, each patch two triangles, each triangle a point.
#[test]
fn every_stage_has_its_own() {
    for switch in 0..5 {
        stages(switch);
    }
}

/// The packets of the stages, with these switches.
fn shaders([alternate, single, vector, exceptions, mask_stack]: [bool; 5]) -> Vec<u32> {
    let floating_point_mode = FloatingPointMode::from_bits(alternate.into());
    let vector_mask_enable = VectorMaskEnable::from_bits(vector.into());
    let mut batch = Vec::new();
    push(
        &mut batch,
        &ThreeDStateVs {
            function_enable: true,
            simd8_dispatch_enable: true,
            vertex_urb_entry_read_length: u(1),
            dispatch_grf_start_register_for_urb_data: u(2),
            maximum_number_of_threads: minus_one(8),
            floating_point_mode,
            vector_mask_enable,
            software_exception_enable: exceptions,
            illegal_opcode_exception_enable: exceptions,
            ..ThreeDStateVs::new()
        },
    );
    push(
        &mut batch,
        &ThreeDStateHs {
            enable: true,
            kernel_start_pointer: at(0x1000),
            dispatch_grf_start_register_for_urb_data: u(1),
            maximum_number_of_threads: minus_one(8),
            floating_point_mode,
            vector_mask_enable,
            software_exception_enable: exceptions,
            illegal_opcode_exception_enable: exceptions,
            single_program_flow: single,
            ..ThreeDStateHs::new()
        },
    );
    let te = ThreeDStateTe {
        te_enable: true,
        te_domain: Domain::QUAD,
        output_topology: Topology::TRI_CW,
        ..ThreeDStateTe::new()
    };
    push(&mut batch, &te);
    push(
        &mut batch,
        &ThreeDStateDs {
            function_enable: true,
            simd8_dispatch_enable: true,
            kernel_start_pointer: at(0x2000),
            dispatch_grf_start_register_for_urb_data: u(5),
            maximum_number_of_threads: minus_one(8),
            floating_point_mode,
            vector_mask_enable,
            software_exception_enable: exceptions,
            illegal_opcode_exception_enable: exceptions,
            ..ThreeDStateDs::new()
        },
    );
    push(
        &mut batch,
        &ThreeDStateGs {
            enable: true,
            kernel_start_pointer: at(0x3000),
            dispatch_mode: Mode::SIMD8,
            expected_vertex_count: u(3),
            vertex_urb_entry_read_length: u(1),
            dispatch_grf_start_register_for_urb_data: u(2),
            maximum_number_of_threads: u(7),
            output_topology: Code::_3DPRIM_POINTLIST,
            static_output: true,
            static_output_vertex_count: u(1),
            floating_point_mode,
            vector_mask_enable,
            software_exception_enable: exceptions,
            illegal_opcode_exception_enable: exceptions,
            single_program_flow: GsFlow::from_bits(single.into()),
            mask_stack_exception_enable: mask_stack,
            ..ThreeDStateGs::new()
        },
    );
    batch
}

/// A draw in which one switch is on in all stages: Floating Point Mode, Single Program Flow, Vector
/// Mask Enable, the exceptions of software and illegal opcodes, and that of the mask stack.
fn stages(switch: u32) {
    let on = [0, 1, 2, 3, 4].map(|n| n == switch);
    let [alternate, single, vector, exceptions, mask_stack] = on;
    let mut model = model();
    for address in [TEXTURES, RESULTS, CONSTANTS] {
        model.map(address, 4096);
    }
    for (n, kernel) in (0..).zip([VERTEX, HULL, DOMAIN, GEOMETRY]) {
        model.put(KERNELS + 0x1000 * n, kernel);
    }
    let mut draw = Draw::new(Code::_3DPRIM_PATCHLIST_1, 1);
    bind!(model draw 0 ThreeDStateBindingTablePointersVs.pointer_to_vs_binding_table
        ThreeDStateSamplerStatePointersVs.pointer_to_vs_sampler_state ThreeDStateConstantVs);
    bind!(model draw 1 ThreeDStateBindingTablePointersHs.pointer_to_hs_binding_table
        ThreeDStateSamplerStatePointersHs.pointer_to_hs_sampler_state ThreeDStateConstantHs);
    bind!(model draw 2 ThreeDStateBindingTablePointersDs.pointer_to_ds_binding_table
        ThreeDStateSamplerStatePointersDs.pointer_to_ds_sampler_state ThreeDStateConstantDs);
    bind!(model draw 3 ThreeDStateBindingTablePointersGs.pointer_to_gs_binding_table
        ThreeDStateSamplerStatePointersGs.pointer_to_gs_sampler_state ThreeDStateConstantGs);
    draw.stages.extend(shaders(on));
    draw.run(&mut model).unwrap();
    for n in 0..4 {
        let [texel, constants @ ..] = values(n);
        let sum = constants.iter().fold(0_u32, |sum, constant| sum.wrapping_add(*constant));
        let found = model.get(RESULTS + 256 * u64::from(n), 4);
        assert_eq!(found[..2], [texel, sum], "stage {n}");
        let control = ControlRegister::unpack_lossy(&[found[2], found[3], 0, 0]);
        assert_eq!(
            (control.alternative_float_mode, control.vector_mask_enable),
            (alternate, vector),
            "stage {n}"
        );
        // Vertex and domain shaders have no Single Program Flow, and only the geometry shader has a
        // mask stack.
        assert_eq!(control.single_program_flow, single && matches!(n, 1 | 3), "stage {n}");
        assert_eq!(control.mask_stack_enable, mask_stack && n == 3, "stage {n}");
        assert_eq!(
            (control.software_exception_enable, control.illegal_opcode_enable),
            (exceptions, exceptions),
            "stage {n}"
        );
    }
}
