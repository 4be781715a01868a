//! Unusual state of the output merger and the windower: it is refused by name or ignored.

use crate::pixels::harness::{Draw, TARGET, Vertex, model, target};
use genxml::eu;
use genxml::gen8::enums::{ThreeDLogicOpFunction as LogicOp, ThreeDPrimTopoType as Code};
use genxml::gen8::render3d_pixel::{BlendState, BlendStateEntry, ThreeDStateBlendStatePointers};
use genxml::gen8::state::SurfaceFormat;
use genxml_cases::{DYNAMIC_STATE, SCRATCH, at, push};
use genxml_sim::Fault;

/// Writes 0.25, 0.5, 0.75, 1.
const COLOR: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:f  0.25:f
    mov (8|M0)       r113.0<1>:f  0.5:f
    mov (8|M0)       r114.0<1>:f  0.75:f
    mov (8|M0)       r115.0<1>:f  1.0:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

fn point(kernel: &[u32]) -> Draw {
    Draw::new(Code::_3DPRIM_POINTLIST, vec![Vertex::at(4.5, 6.5)], kernel)
}

/// Oracle: OpenGL 4.6, 17.3.9: logic operations combine the bits of normalized numbers and
/// integers. Floats and sRGB are written as without a logic operation.
#[test]
fn logic_operations() {
    let mut model = model();
    let at_point = |bytes: u64| TARGET + bytes * (64 * 6 + 4);
    let entry = BlendStateEntry {
        logic_op_enable: true,
        logic_op_function: LogicOp::LOGICOP_INVERT,
        ..BlendStateEntry::new()
    };
    for (format, bytes, expected) in [
        // The target is 0 before, so the inverse is all ones.
        (SurfaceFormat::R8G8B8A8_UNORM, 4, vec![0xff; 4]),
        (SurfaceFormat::R8G8B8A8_SNORM, 4, vec![0xff; 4]),
        // 255 times the sRGB encoding of 0.25, 0.5 and 0.75 (IEC 61966-2-1): 136.96, 187.52,
        // 224.61.
        (SurfaceFormat::R8G8B8A8_UNORM_SRGB, 4, vec![137, 188, 225, 255]),
        (SurfaceFormat::R16G16B16A16_FLOAT, 8, vec![0, 0x34, 0, 0x38, 0, 0x3a, 0, 0x3c]),
    ] {
        let mut draw = point(COLOR);
        draw.target = target(format, bytes);
        push(
            &mut draw.more,
            &ThreeDStateBlendStatePointers {
                blend_state_pointer: at(0x100),
                blend_state_pointer_valid: true,
            },
        );
        let mut state = BlendState::new();
        state.entry[0] = entry;
        model.put(DYNAMIC_STATE + 0x100, &state.pack());
        draw.run(&mut model).unwrap();
        assert_eq!(model.read(at_point(bytes), bytes as usize), expected, "{format:?}");
    }
}

#[test]
fn what_the_model_lacks_has_a_name() {
    let mut model = model();
    let mut refused = |draw: &Draw, text: &str| match draw.run(&mut model) {
        Err(fault @ Fault::Unimplemented { .. }) => {
            assert!(fault.to_string().contains(text), "{fault}");
        }
        other => panic!("{text}: {other:?}"),
    };
    // With bit 14 of the descriptor flipped, the message is a render target read.
    let with = |bits: u32| {
        let mut kernel = COLOR.to_vec();
        *kernel.last_mut().unwrap() ^= bits;
        point(&kernel)
    };
    refused(&with(1 << 14), "render target reads");
}

/// Blocks of memory with NoMask are read and written whole, whatever pixels the thread has: kernels
/// spill values that all pixels share.
#[test]
fn blocks_do_not_depend_on_pixels() {
    const SPILL: &[u32] = &eu! {
        (W) mov (8|M0)   r30.0<1>:ud  0:ud
        (W) mov (1|M0)   r30.5<1>:ud  0x300000:ud             // SCRATCH
        (W) mov (8|M0)   r31.0<1>:uw  0x76543210:v
        (W) mov (8|M0)   r32.0<1>:ud  r31.0<8;8,1>:uw
        (W) mov (8|M0)   r31.0<1>:ud  r32.0<8;8,1>:ud
        (W) send (8|M0)  null  r30  0xA  0x040a02ff           // write 2 owords
        (W) send (8|M0)  r40  r30  0xA  0x021802ff            // read them
        (W) mov (1|M0)   r30.2<1>:ud  2:ud                    // in owords
        (W) add (8|M0)   r31.0<1>:ud  r40.0<8;8,1>:ud  8:ud
        (W) send (8|M0)  null  r30  0xA  0x040a02ff
        mov (8|M0)       r112.0<1>:f  1.0:f
        mov (8|M0)       r113.0<1>:f  1.0:f
        mov (8|M0)       r114.0<1>:f  1.0:f
        mov (8|M0)       r115.0<1>:f  1.0:f
        send (8|M0)      null  r112  0x25  0x08031400  {EOT}
    };
    let mut model = model();
    point(SPILL).run(&mut model).unwrap();
    assert_eq!(model.get(SCRATCH, 16), (0..16).collect::<Vec<u32>>());
}
