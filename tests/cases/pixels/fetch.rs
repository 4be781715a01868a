//! How vertex fetch uses vertex buffers and elements. Oracle: 2d VERTEX_BUFFER_STATE and
//! VERTEX_ELEMENT_STATE, 2a p.441.

use crate::pixels::harness::pixel;
use crate::pixels::harness::{Draw, VERTEX, Vertex, model};
use genxml::eu;
use genxml::gen8::enums::{ThreeDPrimTopoType as Code, ThreeDVertexComponentControl as Component};
use genxml::gen8::render3d_fetch::{
    SgvComponentNumber as Place, ThreeDStateVertexBuffers, ThreeDStateVertexElements,
    ThreeDStateVfSgvs, VertexBufferState, VertexElementState,
};
use genxml::gen8::render3d_raster::ThreeDStateSbe;
use genxml::gen8::state::SurfaceFormat;
use genxml_cases::draw::{element as vertex_element, vertex_buffer};
use genxml_cases::{at, push, u};

/// Writes attribute 0 of the provoking vertex: the last dwords of its setup data, which follows two
/// registers of payload.
const ATTRIBUTE: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:f  r8.3<0;1,0>:f
    mov (8|M0)       r113.0<1>:f  r8.7<0;1,0>:f
    mov (8|M0)       r114.0<1>:f  r9.3<0;1,0>:f
    mov (8|M0)       r115.0<1>:f  r9.7<0;1,0>:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

fn points() -> Draw {
    let vertex = |n: u32| Vertex {
        attribute: [0.25, 0.5, 0.75, n as f32],
        ..Vertex::at(4.5 + 8.0 * n as f32, 6.5)
    };
    let mut draw = Draw::new(Code::_3DPRIM_POINTLIST, (0..4).map(vertex).collect(), ATTRIBUTE);
    draw.extra.attribute_enable = true;
    draw
}

/// A packet without Address Modify Enable changes pitch and size of a buffer, but not its address.
#[test]
fn address_modify_enable() {
    let mut model = model();
    let mut draw = points();
    draw.run(&mut model).unwrap();
    for n in 0..4 {
        assert_eq!(pixel(&mut model, 4 + 8 * n, 6), [0.25, 0.5, 0.75, n as f32]);
    }
    let states = [VertexBufferState {
        buffer_pitch: u(2 * VERTEX),
        buffer_starting_address: at(0xdead_0000),
        buffer_size: u(4 * VERTEX),
        ..VertexBufferState::new()
    }];
    push(&mut draw.more, &ThreeDStateVertexBuffers { vertex_buffer_state: states[..].into() });
    draw.run(&mut model).unwrap();
    for (n, expected) in
        [[0.25, 0.5, 0.75, 0.0], [0.0; 4], [0.25, 0.5, 0.75, 2.0], [0.0; 4]].into_iter().enumerate()
    {
        assert_eq!(pixel(&mut model, 4 + 8 * n as u32, 6), expected, "{n}");
    }
    // A buffer whose address was never set is at 0.
    let states = [VertexBufferState { vertex_buffer_index: u(5), ..states[0] }];
    push(&mut draw.more, &ThreeDStateVertexBuffers { vertex_buffer_state: states[..].into() });
    draw.run(&mut model).unwrap();
}

/// Generated values replace components of slots of 128 bits, also after the last element. The slots
/// between contain zeros.
#[test]
fn generated_values() {
    let mut model = model();
    for (element, behind) in [(2, false), (3, true), (5, true), (33, true)] {
        let mut draw = Draw { instances: 2, ..points() };
        push(
            &mut draw.more,
            &ThreeDStateVfSgvs {
                vertex_id_enable: true,
                vertex_id_element_offset: u(element),
                vertex_id_component_number: Place::COMP_1,
                instance_id_enable: true,
                instance_id_element_offset: u(element),
                instance_id_component_number: Place::COMP_2,
            },
        );
        // Attribute 0 reads the slot with the generated values.
        push(
            &mut draw.more,
            &ThreeDStateSbe {
                number_of_sf_output_attributes: u(1 + element % 2),
                vertex_urb_entry_read_offset: u(element / 2),
                force_vertex_urb_entry_read_offset: true,
                vertex_urb_entry_read_length: u(1),
                force_vertex_urb_entry_read_length: true,
                ..ThreeDStateSbe::new()
            },
        );
        // Reads start at an even slot, so an odd slot is the second one.
        draw.kernel = odd_slot(&draw.kernel, element % 2 == 1);
        draw.run(&mut model).unwrap();
        for n in 0..4 {
            let id = [n, 1].map(f32::from_bits);
            let expected = match behind {
                false => [0.25, id[0], id[1], n as f32],
                true => [0.0, id[0], id[1], 0.0],
            };
            let found = pixel(&mut model, 4 + 8 * n, 6);
            assert_eq!(
                found.map(f32::to_bits),
                expected.map(f32::to_bits),
                "element {element}, vertex {n}"
            );
        }
    }
    let mut draw = points();
    push(
        &mut draw.more,
        &ThreeDStateVfSgvs {
            vertex_id_enable: true,
            vertex_id_element_offset: u(40),
            ..ThreeDStateVfSgvs::new()
        },
    );
    let fault = draw.run(&mut model).unwrap_err().to_string();
    assert!(fault.contains("VertexID Element Offset = 0x28"), "{fault}");
}

/// A kernel that copies attribute 0 as integers; if `odd`, from two registers further.
fn odd_slot(kernel: &[u32], odd: bool) -> Vec<u32> {
    let further: &[u32] = &eu! {
        mov (8|M0)       r112.0<1>:ud  r10.3<0;1,0>:ud
        mov (8|M0)       r113.0<1>:ud  r10.7<0;1,0>:ud
        mov (8|M0)       r114.0<1>:ud  r11.3<0;1,0>:ud
        mov (8|M0)       r115.0<1>:ud  r11.7<0;1,0>:ud
        send (8|M0)      null  r112  0x25  0x08031400  {EOT}
    };
    if odd { further.to_vec() } else { as_integers(kernel) }
}

/// A kernel that copies attribute 0 as integers.
fn as_integers(_: &[u32]) -> Vec<u32> {
    let integers: &[u32] = &eu! {
        mov (8|M0)       r112.0<1>:ud  r8.3<0;1,0>:ud
        mov (8|M0)       r113.0<1>:ud  r8.7<0;1,0>:ud
        mov (8|M0)       r114.0<1>:ud  r9.3<0;1,0>:ud
        mov (8|M0)       r115.0<1>:ud  r9.7<0;1,0>:ud
        send (8|M0)      null  r112  0x25  0x08031400  {EOT}
    };
    integers.to_vec()
}

/// Component controls that store constants. Those that Broadwell lacks are refused by name.
#[test]
fn component_controls() {
    let mut model = model();
    let element = |controls: [Component; 4]| {
        let element = |offset: u64, controls: [Component; 4]| VertexElementState {
            valid: true,
            source_element_format: SurfaceFormat::R32G32B32A32_FLOAT,
            source_element_offset: u(offset),
            component_0_control: controls[0],
            component_1_control: controls[1],
            component_2_control: controls[2],
            component_3_control: controls[3],
            ..VertexElementState::new()
        };
        let all = [
            element(0, [Component::VFCOMP_STORE_0; 4]),
            element(0, [Component::VFCOMP_STORE_SRC; 4]),
            element(16, controls),
        ];
        let mut draw = points();
        draw.kernel = as_integers(&[]);
        push(&mut draw.more, &ThreeDStateVertexElements { element: all[..].into() });
        draw
    };
    let (src, zero) = (Component::VFCOMP_STORE_SRC, Component::VFCOMP_STORE_0);
    let (float, int) = (Component::VFCOMP_STORE_1_FP, Component::VFCOMP_STORE_1_INT);
    for (controls, expected) in [
        ([src, src, zero, float], [0.25f32.to_bits(), 0.5f32.to_bits(), 0, 1.0f32.to_bits()]),
        ([src, int, float, zero], [0.25f32.to_bits(), 1, 1.0f32.to_bits(), 0]),
        (
            [
                float,
                Component::VFCOMP_NOSTORE,
                Component::VFCOMP_NOSTORE,
                Component::VFCOMP_NOSTORE,
            ],
            [1.0f32.to_bits(), 0, 0, 0],
        ),
    ] {
        element(controls).run(&mut model).unwrap();
        assert_eq!(pixel(&mut model, 12, 6).map(f32::to_bits), expected, "{controls:?}");
    }
    // If no component comes from memory, the memory is not read and its format is ignored.
    let nowhere = [VertexBufferState {
        vertex_buffer_index: u(1),
        ..vertex_buffer(0x7000_0000, VERTEX, 4096)
    }];
    for (control, fine) in [(zero, true), (src, false)] {
        let mut draw = points();
        push(&mut draw.more, &ThreeDStateVertexBuffers { vertex_buffer_state: nowhere[..].into() });
        let format = SurfaceFormat::R32G32B32A32_FLOAT;
        let unused = if fine { SurfaceFormat::BC1_UNORM } else { format };
        let absent =
            VertexElementState { vertex_buffer_index: u(1), ..vertex_element(0, unused, control) };
        let all = [vertex_element(0, format, zero), vertex_element(0, format, src), absent];
        push(&mut draw.more, &ThreeDStateVertexElements { element: all[..].into() });
        match draw.run(&mut model) {
            Ok(_) => assert!(fine),
            Err(fault) => {
                assert!(!fine && fault.to_string().contains("(vertex buffer)"), "{fault}")
            }
        }
    }
    for gone in [Component::VFCOMP_STORE_PID, Component::from_bits(5), Component::from_bits(6)] {
        let fault = element([src, gone, zero, zero]).run(&mut model).unwrap_err().to_string();
        assert!(fault.contains("Component 1 Control"), "{fault}");
    }
}
