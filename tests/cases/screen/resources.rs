//! A pixel shader has surfaces, samplers, four constant buffers and modes of its own. Its kernel
//! samples a texture, adds the constants, and writes the texel, the sum and two dwords of `cr0` to
//! a buffer. Oracle: the texel and the sum; 2a 3DSTATE_PS, 3DSTATE_SAMPLER_STATE_POINTERS_PS and
//! 3DSTATE_CONSTANT_PS; 004:3081-3250 for `cr0`.

use crate::screen::scene::{Scene, on_screen};
use genxml::eu;
use genxml::eu::gen8::eu_registers::{ControlRegister, ControlRegisterRoundingMode as Rounding};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_binding::ThreeDStateSamplerStatePointersPs;
use genxml::gen8::render3d_constants::{ThreeDStateConstantBody, ThreeDStateConstantPs};
use genxml::gen8::render3d_pixel::{
    ThreeDStatePs, ThreeDStatePsRoundingMode as RoundingMode,
    ThreeDStatePsSinglePrecisionDenormalMode as Denormals, ThreeDStatePsSingleProgramFlow as Flow,
};
use genxml::gen8::render3d_stages::{FloatingPointMode, VectorMaskEnable};
use genxml::gen8::state::{
    BindingTableState, RenderSurfaceState, RenderSurfaceStateExtent, SamplerState,
    ShaderChannelSelect, SurfaceFormat, SurfaceType, TextureCoordinateMode as Wrap,
};
use genxml_cases::{DYNAMIC_STATE, SURFACE_STATE, at, minus_one, packets, raw_buffer, u};

/// Address of the texture.
const TEXTURE: u64 = 0x0600_0000;
/// Address of the buffer that the kernel writes.
const RESULT: u64 = 0x0600_1000;
/// Address of the constant buffers, 64 bytes for each.
const CONSTANTS: u64 = 0x0600_2000;
/// Offset of the surface states from the surface state base.
const SURFACES: u64 = 0x1000;
/// Offset of the samplers from the dynamic state base.
const SAMPLERS: u64 = 0xf000;

/// r4 to r7 have the constants. Binding table entry 1 is the texture, entry 2 the buffer.
const KERNEL: &[u32] = &eu! {
    // Parameters of sample_l: level and U.
    (W) mov (8|M0)   r60.0<1>:f  0.0:f
    (W) mov (8|M0)   r61.0<1>:f  1.25:f
    (W) send (8|M0)  r62  r60  0x2  0x04422001
    (W) mov (8|M0)   r70.0<1>:ud  0:ud
    (W) mov (8|M0)   r71.0<1>:ud  r62.0<8;8,1>:ud
    (W) send (8|M0)  null  r70  0xC  0x04026E02
    (W) add (8|M0)   r71.0<1>:ud  r4.0<0;1,0>:ud  r5.0<0;1,0>:ud
    (W) add (8|M0)   r71.0<1>:ud  r71.0<8;8,1>:ud  r6.0<0;1,0>:ud
    (W) add (8|M0)   r71.0<1>:ud  r71.0<8;8,1>:ud  r7.0<0;1,0>:ud
    (W) mov (8|M0)   r70.0<1>:ud  4:ud
    (W) send (8|M0)  null  r70  0xC  0x04026E02
    (W) mov (1|M0)   r72.0<1>:ud  cr0.0<0;1,0>:ud
    (W) mov (1|M0)   r73.0<1>:ud  cr0.1<0;1,0>:ud
    (W) mov (8|M0)   r70.0<1>:ud  8:ud
    (W) mov (8|M0)   r71.0<1>:ud  r72.0<0;1,0>:ud
    (W) send (8|M0)  null  r70  0xC  0x04026E02
    (W) mov (8|M0)   r70.0<1>:ud  12:ud
    (W) mov (8|M0)   r71.0<1>:ud  r73.0<0;1,0>:ud
    (W) send (8|M0)  null  r70  0xC  0x04026E02
    mov (8|M0)       r112.0<1>:ud  0:ud
    mov (8|M0)       r113.0<1>:ud  0:ud
    mov (8|M0)       r114.0<1>:ud  0:ud
    mov (8|M0)       r115.0<1>:ud  0:ud
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// A row of four texels.
fn texture() -> RenderSurfaceState {
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R32_UINT,
        surface_base_address: at(TEXTURE),
        surface_pitch: minus_one(64),
        extent: RenderSurfaceStateExtent::Image {
            width: minus_one(4),
            height: minus_one(1),
            depth: minus_one(1),
        },
        shader_channel_select_red: ShaderChannelSelect::RED,
        ..RenderSurfaceState::new()
    }
}

/// The four dwords that a draw with this shader state writes.
fn draw(ps: ThreeDStatePs) -> Vec<u32> {
    let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)];
    let vertices = corners.map(|(x, y)| on_screen(x, y, 0)).to_vec();
    let mut scene = Scene::new([4, 4], Code::_3DPRIM_TRILIST, vertices);
    scene.kernel = KERNEL;
    scene.constants = vec![[0; 8]];
    scene.ps = ThreeDStatePs {
        _8_pixel_dispatch_enable: true,
        maximum_number_of_threads_per_psd: u(62),
        ..ps
    };
    let buffer = |index: u64| CONSTANTS + 64 * index;
    let constant_body = ThreeDStateConstantBody {
        constant_buffer_0_read_length: u(1),
        constant_buffer_1_read_length: u(1),
        constant_buffer_2_read_length: u(1),
        constant_buffer_3_read_length: u(1),
        pointer_to_constant_buffer_0: at(buffer(0) - DYNAMIC_STATE),
        pointer_to_constant_buffer_1: at(buffer(1)),
        pointer_to_constant_buffer_2: at(buffer(2)),
        pointer_to_constant_buffer_3: at(buffer(3)),
    };
    scene.more = packets![
        ThreeDStateConstantPs { constant_body, ..ThreeDStateConstantPs::new() },
        ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: at(SAMPLERS) },
    ];
    let mut model = scene.model();
    for address in [TEXTURE, RESULT, CONSTANTS] {
        model.map(address, 4096);
    }
    model.put(TEXTURE, &[1, 2, 3, 44]);
    for index in 0..4 {
        model.put(buffer(index), &[10_u32.pow(2 * index as u32)]);
    }
    // A sampler state of zeros has the address mode wrap, and would return texel 1.
    let sampler = SamplerState { tcx_address_control_mode: Wrap::CLAMP, ..SamplerState::new() };
    model.put(DYNAMIC_STATE + SAMPLERS, &sampler.pack());
    let batch = scene.batch(&mut model);
    // The scene's table follows its only surface state and has one entry.
    for (index, surface) in (1_u64..).zip([texture(), raw_buffer(RESULT, 4096)]) {
        let state = SURFACES + 64 * index;
        model.put(SURFACE_STATE + state, &surface.pack());
        let entry = BindingTableState { surface_state_pointer: at(state) };
        model.put(SURFACE_STATE + 64 + 4 * index, &entry.pack());
    }
    model.render(&batch).unwrap();
    model.get(RESULT, 4)
}

#[test]
fn surfaces_samplers_constants_and_modes() {
    let new = ThreeDStatePs::new();
    let exceptions = ThreeDStatePs {
        software_exception_enable: true,
        illegal_opcode_exception_enable: true,
        ..new
    };
    for ps in [
        new,
        exceptions,
        ThreeDStatePs { mask_stack_exception_enable: true, ..new },
        ThreeDStatePs { floating_point_mode: FloatingPointMode::ALTERNATE, ..new },
        ThreeDStatePs { single_program_flow: Flow::SINGLE, ..new },
        ThreeDStatePs { vector_mask_enable: VectorMaskEnable::VMASK, ..new },
        ThreeDStatePs { single_precision_denormal_mode: Denormals::RETAINED, ..new },
        ThreeDStatePs { rounding_mode: RoundingMode::RTZ, ..new },
    ] {
        let found = draw(ps);
        assert_eq!(found[..2], [44, 1_010_101]);
        let control = ControlRegister::unpack_lossy(&[found[2], found[3], 0, 0]);
        let to_zero = ps.rounding_mode == RoundingMode::RTZ;
        let want = ControlRegister {
            alternative_float_mode: ps.floating_point_mode == FloatingPointMode::ALTERNATE,
            single_program_flow: ps.single_program_flow == Flow::SINGLE,
            vector_mask_enable: ps.vector_mask_enable == VectorMaskEnable::VMASK,
            single_precision_denorms: ps.single_precision_denormal_mode == Denormals::RETAINED,
            rounding_mode: if to_zero { Rounding::TO_ZERO } else { Rounding::TO_NEAREST_EVEN },
            software_exception_enable: ps.software_exception_enable,
            illegal_opcode_enable: ps.illegal_opcode_exception_enable,
            mask_stack_enable: ps.mask_stack_exception_enable,
            // Subnormal halves and doubles are kept, as in other threads (2d
            // INTERFACE_DESCRIPTOR_DATA, Denorm Mode).
            half_precision_denorms: true,
            double_precision_denorms: true,
            ..ControlRegister::new()
        };
        assert_eq!(control, want);
    }
}
