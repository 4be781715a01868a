//! Draws with parameters in registers, as drivers use them for indirect draws, draw counts and
//! draws from stream output. Oracle: the vertices that a draw with the same numbers in its packet
//! covers; gen8_facts 2.4 and 2.7.

use crate::pixels::harness::{Draw, VERTEX, Vertex, WHITE, model, pixel};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::mi::{
    MiLoadRegisterImm, MiLoadRegisterImmRegister, MiLoadRegisterMem, MiPredicate,
    MiPredicateCombineOperation as Combine, MiPredicateCompareOperation as Compare,
    MiPredicateLoadOperation as Load,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat,
};
use genxml_cases::{Model, SCRATCH, at, push, u};

/// Address of the indices.
const INDICES: u64 = SCRATCH + 0x1000;
/// Registers of the parameters: vertices, instances, first vertex, first instance, base vertex.
const PARAMETERS: [u64; 5] = [0x2434, 0x2438, 0x2430, 0x243c, 0x2440];

/// State for eight points, without the draw.
fn state(model: &mut Model) -> Vec<u32> {
    let vertices = (0..8).map(|n| Vertex::at(4.5 + 7.0 * n as f32, 6.5)).collect();
    let mut batch = Draw::new(Code::_3DPRIM_POINTLIST, vertices, WHITE).batch(model);
    batch.truncate(batch.len() - ThreeDPrimitive::DWORDS);
    batch
}

/// Runs a batch. Returns the numbers of the points that were drawn.
fn lit(model: &mut Model, batch: &[u32]) -> Vec<u32> {
    model.write(crate::pixels::harness::TARGET, &[0; 64 * 64 * 16]);
    model.render(batch).unwrap();
    (0..8).filter(|n| pixel(model, 4 + 7 * n, 6) != [0.0; 4]).collect()
}

fn load_immediate(batch: &mut Vec<u32>, register: u64, value: u64) {
    let registers =
        [MiLoadRegisterImmRegister { register_offset: at(register), data_dword: u(value) }];
    push(batch, &MiLoadRegisterImm { register: registers[..].into(), ..MiLoadRegisterImm::new() });
}

fn load(batch: &mut Vec<u32>, register: u64, from: u64) {
    push(
        batch,
        &MiLoadRegisterMem {
            register_address: at(register),
            memory_address: at(from),
            ..MiLoadRegisterMem::new()
        },
    );
}

#[test]
fn indirect() {
    let mut model = model();
    let start = state(&mut model);
    for [count, instances, first] in [[3, 1, 2], [8, 2, 0], [0, 1, 0], [5, 0, 1], [1, 1, 7]] {
        model.put(SCRATCH, &[count, instances, first, 0, 0]);
        let mut batch = start.clone();
        for (n, register) in PARAMETERS.into_iter().enumerate() {
            load(&mut batch, register, SCRATCH + 4 * n as u64);
        }
        let primitive = ThreeDPrimitive {
            indirect_parameter_enable: true,
            // The packet's own values are ignored.
            vertex_count_per_instance: u(8),
            instance_count: u(9),
            start_vertex_location: u(100),
            ..ThreeDPrimitive::new()
        };
        push(&mut batch, &primitive);
        let expected: Vec<u32> =
            if instances == 0 { Vec::new() } else { (first..first + count).collect() };
        assert_eq!(lit(&mut model, &batch), expected);
    }
    // Draw from the second of the indices 4, 3, 2, 1 on, with a base vertex of -1.
    model.put(INDICES, &[4, 3, 2, 1]);
    let mut batch = start;
    push(
        &mut batch,
        &ThreeDStateIndexBuffer {
            index_format: IndexFormat::DWORD,
            buffer_starting_address: at(INDICES),
            buffer_size: u(16),
            ..ThreeDStateIndexBuffer::new()
        },
    );
    for (register, value) in PARAMETERS.into_iter().zip([2, 1, 1, 0, u64::from(u32::MAX)]) {
        load_immediate(&mut batch, register, value);
    }
    let primitive = ThreeDPrimitive {
        indirect_parameter_enable: true,
        vertex_access_type: Access::RANDOM,
        ..ThreeDPrimitive::new()
    };
    push(&mut batch, &primitive);
    assert_eq!(lit(&mut model, &batch), [1, 2]);
}

/// Draws the vertices before the end offset, which a register holds (2a p.9).
#[test]
fn end_offset() {
    let mut model = model();
    for (bytes, expected) in [(0, 0), (3 * VERTEX, 3), (5 * VERTEX + 1, 5)] {
        let mut batch = state(&mut model);
        load_immediate(&mut batch, 0x2420, bytes);
        let primitive = ThreeDPrimitive {
            end_offset_enable: true,
            vertex_count_per_instance: u(8),
            instance_count: u(1),
            ..ThreeDPrimitive::new()
        };
        push(&mut batch, &primitive);
        assert_eq!(lit(&mut model, &batch), (0..expected).collect::<Vec<_>>());
    }
}

/// The number of draws is in memory. Each draw is predicated. The predicate becomes false at the
/// draw whose number equals the count.
#[test]
fn counts_of_draws() {
    let mut model = model();
    for count in 0..6 {
        model.put(SCRATCH, &[count, 0]);
        let mut batch = state(&mut model);
        load(&mut batch, 0x2400, SCRATCH);
        load(&mut batch, 0x2404, SCRATCH + 4);
        for draw in 0..4 {
            load_immediate(&mut batch, 0x2408, draw);
            load_immediate(&mut batch, 0x240c, 0);
            let (load_operation, combine_operation) =
                if draw == 0 { (Load::LOADINV, Combine::SET) } else { (Load::LOAD, Combine::XOR) };
            push(
                &mut batch,
                &MiPredicate {
                    compare_operation: Compare::SRCS_EQUAL,
                    combine_operation,
                    load_operation,
                },
            );
            let primitive = ThreeDPrimitive {
                predicate_enable: true,
                vertex_count_per_instance: u(1),
                start_vertex_location: u(draw),
                instance_count: u(1),
                ..ThreeDPrimitive::new()
            };
            push(&mut batch, &primitive);
        }
        assert_eq!(lit(&mut model, &batch), (0..count.min(4)).collect::<Vec<_>>(), "{count} draws");
    }
}
