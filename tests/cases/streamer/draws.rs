//! Draws with the streamer's binding tables and gathered constants, and their twins: the same draw
//! with a binding table and constants that the test wrote to memory. Both write the same bytes.
//!
//! Oracle: the twin, whose binding table and constants come from the formulas in this test, and the
//! constants themselves, which the kernels write out.

use crate::geometry::harness as geometry;
use crate::pixels::harness as pixels;
use crate::streamer::gather::{buffers, gathered, picks};
use crate::streamer::packets::{
    DS, GS, Gather, HS, PS, Pick, VS, constants, edit, gather, gather_pool, pointers, table_pool,
};
use crate::streamer::{
    BUFFERS, GATHERED, GATHERED_BYTES, TABLES, TABLES_BYTES, map, put_buffer, start,
};
use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::mi::MiRsStoreDataImm;
use genxml::gen8::render3d_constants::ThreeDStateConstantBody;
use genxml::gen8::render3d_stages::{
    ThreeDStateDs, ThreeDStateGs, ThreeDStateGsDispatchMode, ThreeDStateHs, ThreeDStateTe,
    ThreeDStateTeOutputTopology, ThreeDStateTeTeDomain, ThreeDStateVs,
};
use genxml::gen8::state::{RenderSurfaceState, RenderSurfaceStateExtent, SurfaceFormat};
use genxml_cases::{
    BATCH, DYNAMIC_STATE, KERNELS, Model, Random, SURFACE_STATE, at, minus_one, packets, u,
};
use genxml_sim::{Event, Now};

/// Offset of the twin's binding table from the surface state base.
const TWIN_TABLE: u64 = 0x8000;
/// Address of the constants of the twin.
const TWIN_CONSTANTS: u64 = BUFFERS + 0x1_0000;
/// Address of memory that MI_RS_STORE_DATA_IMM writes.
const SCRATCH: u64 = BUFFERS + 0x1_f000;
/// Offset of constants of buffer 0 from the dynamic state base.
const PLAIN: u64 = 0x4000;
/// Address of the buffers that kernels read through the binding table.
const READ: u64 = BUFFERS + 0x1_8000;
/// Number of buffers that kernels read, and number of render targets.
const SURFACES: u64 = 16;
/// Offset of the surface states of the buffers that kernels read.
const READ_STATES: u64 = 0x5000;
/// Offset of the surface states of the render targets.
const TARGET_STATES: u64 = 0x6000;
/// Bytes of a small render target of 8x8 pixels.
const TARGET_BYTES: u64 = 16 * 64;

/// What the streamer does for a stage: the binding table, and the constants of buffer 1.
struct Made {
    stage: usize,
    /// Index and value of each entry that is set.
    edits: Vec<(u64, u64)>,
    /// Blocks that are cleared.
    clear: u64,
    gather: Gather,
    /// Read lengths of constant buffers 0 and 1, in registers.
    lengths: [u64; 2],
    /// Offset of the table in the pool.
    table: u64,
    /// Packets that bind the constant buffers.
    bind: Vec<u32>,
}

impl Made {
    /// The packets of the streamer, with the synchronisation that the manual asks for (2a p.108).
    fn streamer(&self) -> Vec<u32> {
        let body = constants(self.stage, body(self.lengths, self.gather.offset));
        let idle = MiRsStoreDataImm { destination_address: at(SCRATCH), ..MiRsStoreDataImm::new() };
        let none = Gather {
            valid: 0,
            picks: vec![Pick { buffer: 0, vector: 0, mask: 0 }],
            ..self.gather.clone()
        };
        [
            start(),
            packets![table_pool(), gather_pool()],
            edit(self.stage, self.clear, &self.edits),
            self.bind.clone(),
            gather(self.stage, &self.gather),
            body.clone(),
            packets![idle, idle, idle, idle],
            gather(self.stage, &none),
            body,
            pointers(self.stage, self.table / 2),
        ]
        .concat()
    }

    /// The packets of the twin, whose table and constants are `table` and `dwords`.
    fn twin(&self, model: &mut Model, table: &[u64], dwords: &[u32]) -> Vec<u32> {
        let table: Vec<u32> = table.iter().map(|&offset| offset as u32).collect();
        model.put(SURFACE_STATE + TWIN_TABLE, &table);
        model.put(TWIN_CONSTANTS, dwords);
        [
            constants(self.stage, body(self.lengths, TWIN_CONSTANTS)),
            pointers(self.stage, TWIN_TABLE),
        ]
        .concat()
    }
}

/// Constants from buffer 0, in dynamic state, and from buffer 1.
fn body([first, second]: [u64; 2], pointer: u64) -> ThreeDStateConstantBody {
    ThreeDStateConstantBody {
        constant_buffer_0_read_length: u(first),
        pointer_to_constant_buffer_0: at(if first == 0 { 0 } else { PLAIN }),
        constant_buffer_1_read_length: u(second),
        pointer_to_constant_buffer_1: at(if second == 0 { 0 } else { pointer }),
        ..ThreeDStateConstantBody::new()
    }
}

/// The streamer's work for a stage, at random. `registers` is the number of registers of constants.
/// `table` is the test's copy of the streamer's table. Its entry `used` gets `state`, the offset of
/// a surface state. Returns the work, and the dwords of buffer 1.
fn random_work(
    model: &mut Model,
    random: &mut Random,
    (stage, table): (usize, &mut [u64; 256]),
    (used, state): (u64, u64),
    registers: u64,
) -> (Made, Vec<u32>) {
    // A block of 16 binding table entries for constant buffers, without the entry that the kernel
    // uses.
    let block = (used / 16 + 1 + random.below(15)) % 16;
    let (bind, data) = buffers(model, random, stage, block);
    let clear = if random.one_in(2) { random.below(1 << 16) } else { 0 };
    let mut edits: Vec<(u64, u64)> =
        (0..random.below(40)).map(|_| (random.below(256), 64 * random.below(1 << 16))).collect();
    edits.push((used, state));
    for (index, entry) in table.iter_mut().enumerate() {
        if clear & 1 << (index / 16) != 0 {
            *entry = 0;
        }
    }
    edits.iter().for_each(|&(index, offset)| table[index as usize] = offset);
    for buffer in 0..16 {
        table[(16 * block + buffer) as usize] = 0x4000 + 64 * buffer;
    }
    let valid = 1 + random.below(0xffff);
    // Enough entries, each with all dwords, to fill the registers; the first ones are random.
    let count = random.below(8);
    let mut table_of_picks = picks(random, valid, count);
    while gathered(&data, &table_of_picks).len() < 8 * registers as usize {
        let mut more = picks(random, valid, 1);
        more[0].mask |= 1;
        table_of_picks.extend(more);
    }
    let dwords = gathered(&data, &table_of_picks);
    let first = random.below(registers);
    let gather = Gather {
        valid,
        block,
        offset: 64 * random.below((GATHERED_BYTES - 4096) / 64),
        dx9: false,
        picks: table_of_picks,
    };
    let pool = 64 * random.below((TABLES_BYTES - 512) / 64 + 1);
    let lengths = [first, registers - first];
    (Made { stage, edits, clear, gather, lengths, table: pool, bind }, dwords)
}

/// The constants of a thread: buffer 0, then buffer 1.
fn pushed(made: &Made, plain: &[u32], dwords: &[u32]) -> Vec<u32> {
    let [first, second] = made.lengths.map(|registers| 8 * registers as usize);
    [&plain[..first], &dwords[..second]].concat()
}

/// Writes the surface states and the data of the buffers that kernels read. Returns the data, eight
/// dwords for each buffer.
fn put_read_buffers(model: &mut Model, random: &mut Random) -> Vec<[u32; 8]> {
    (0..SURFACES)
        .map(|buffer| {
            let data: [u32; 8] = random.dwords(8).try_into().expect("eight dwords");
            model.put(READ + 32 * buffer, &data);
            put_buffer(model, READ_STATES + 64 * buffer, READ + 32 * buffer, 32);
            data
        })
        .collect()
}

/// Writes two dwords of constants, and two dwords of the buffer that the first descriptor selects,
/// to the render target that the last descriptor selects.
const PIXEL: &[u32] = &eu! {
    (W) mov (8|M0)   r60.0<1>:ud  0:ud
    (W) send (8|M0)  r61  r60  0x9  0x02180200
    mov (8|M0)       r112.0<1>:ud  r8.0<0;1,0>:ud
    mov (8|M0)       r113.0<1>:ud  r10.7<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r61.0<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r61.7<0;1,0>:ud
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

/// `kernel` with these binding table indices in the descriptors of these instructions. The indices
/// in `kernel` are 0.
fn with_indices(kernel: &[u32], indices: &[(usize, u64)]) -> Vec<u32> {
    let mut kernel = kernel.to_vec();
    for &(instruction, index) in indices {
        kernel[4 * instruction + 3] |= index as u32;
    }
    kernel
}

/// 1,000 random tables of pixel shaders: the binding table selects the render target and a buffer,
/// and the constants come from buffer 0 and from gathered dwords.
#[test]
fn pixel_shaders() {
    let mut model = pixels::model();
    map(&mut model);
    let mut random = Random::new(0x56);
    let small = RenderSurfaceState {
        extent: RenderSurfaceStateExtent::Image {
            width: minus_one(8),
            height: minus_one(8),
            depth: minus_one(1),
        },
        surface_pitch: minus_one(128),
        ..pixels::target(SurfaceFormat::R32G32B32A32_UINT, 16)
    };
    for target in 0..SURFACES {
        let base = pixels::TARGET + TARGET_BYTES * target;
        let state = RenderSurfaceState { surface_base_address: at(base), ..small };
        model.put(SURFACE_STATE + TARGET_STATES + 64 * target, &state.pack());
    }
    let mut table = [0; 256];
    for round in 0..1000 {
        let data = put_read_buffers(&mut model, &mut random);
        let plain = random.dwords(8 * 3);
        model.put(DYNAMIC_STATE + PLAIN, &plain);
        let (target, buffer) = (random.below(SURFACES), random.below(SURFACES));
        let (to, from) = (random.below(120), 120 + random.below(120));
        let (made, dwords) = random_work(
            &mut model,
            &mut random,
            (PS, &mut table),
            (to, TARGET_STATES + 64 * target),
            3,
        );
        // The entry of the buffer is edited last, so no block of constant buffers hides it.
        let last =
            edit(PS, 0, &[(to, TARGET_STATES + 64 * target), (from, READ_STATES + 64 * buffer)]);
        table[to as usize] = TARGET_STATES + 64 * target;
        table[from as usize] = READ_STATES + 64 * buffer;
        let [x, y] = [random.below(8), random.below(8)];
        let kernel = with_indices(PIXEL, &[(1, from), (6, to)]);
        let vertex = pixels::Vertex::at(x as f32 + 0.5, y as f32 + 0.5);
        let mut draw = pixels::Draw::new(Code::_3DPRIM_POINTLIST, vec![vertex], &kernel);
        draw.ps.push_constant_enable = true;
        let constants = pushed(&made, &plain, &dwords);
        let packets = made.streamer();
        // The pointer comes after the last edit.
        let pointer = packets.len() - 2;
        draw.more = [&packets[..pointer], &last[..], &packets[pointer..]].concat();
        draw.run(&mut model).unwrap();
        let found = model.read(pixels::TARGET, (TARGET_BYTES * SURFACES) as usize);
        let read = data[buffer as usize];
        let pixel = [constants[0], constants[8 * 2 + 7], read[0], read[7]];
        let at_pixel = TARGET_BYTES * target + 128 * y + 16 * x;
        assert_eq!(model.get(pixels::TARGET + at_pixel, 4), pixel, "round {round}");
        // The twin gets neither the streamer nor its pools.
        let off = packets![
            genxml::gen8::render3d_binding::ThreeDStateBindingTablePoolAlloc::new(),
            genxml::gen8::render3d_constants::ThreeDStateGatherPoolAlloc::new(),
        ];
        draw.more = [off, made.twin(&mut model, &table, &dwords)].concat();
        draw.run(&mut model).unwrap();
        let twin = model.read(pixels::TARGET, (TARGET_BYTES * SURFACES) as usize);
        assert!(found == twin, "round {round}: the twin differs");
    }
}

/// Reads a buffer through the binding table. Writes two constants (from r2 and r3), dword 2 of the
/// buffer, and the first component of the vertex. Constants are before the vertex data.
const VERTEX: &[u32] = &eu! {
    (W) mov (8|M0)   r60.0<1>:ud  0:ud
    (W) send (8|M0)  r61  r60  0xA  0x02180200
    mov (8|M0)       r112.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r2.1<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r3.6<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r61.2<0;1,0>:ud
    mov (8|M0)       r116.0<1>:ud  r4.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT}
};

/// As [`VERTEX`], for a geometry shader, with constants in r9 and r10.
const GEOMETRY: &[u32] = &eu! {
    (W) mov (8|M0)   r60.0<1>:ud  0:ud
    (W) send (8|M0)  r61  r60  0xA  0x02180200
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r9.1<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r10.6<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r61.2<0;1,0>:ud
    mov (8|M0)       r116.0<1>:ud  r11.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT}
};

/// Writes the header of a quad patch: the inner factors from constants in r5 and r6, the outer
/// factors from a buffer.
const HULL: &[u32] = &eu! {
    (W) mov (8|M0)   r60.0<1>:ud  0:ud
    (W) send (8|M0)  r61  r60  0xA  0x02180200
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    (W) mov (8|M0)   r113.0<1>:ud  r61.0<8;8,1>:ud
    (W) mov (1|M0)   r113.2<1>:ud  r5.1<0;1,0>:ud
    (W) mov (1|M0)   r113.3<1>:ud  r6.6<0;1,0>:ud
    (W) send (8|M0)  null  r112  0x26  0x04080000  {EOT}
};

/// Writes two constants (from r5 and r6), dword 2 of a buffer, and the domain coordinate U.
const DOMAIN: &[u32] = &eu! {
    (W) mov (8|M0)   r60.0<1>:ud  0:ud
    (W) send (8|M0)  r61  r60  0xA  0x02180200
    (W) mov (8|M0)   r112.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r5.1<0;1,0>:ud
    mov (8|M0)       r114.0<1>:ud  r6.6<0;1,0>:ud
    mov (8|M0)       r115.0<1>:ud  r61.2<0;1,0>:ud
    mov (8|M0)       r116.0<1>:ud  r1.0<8;8,1>:ud
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT}
};

/// Packets that disable all stages before the pixel shader, and their constants.
fn reset() -> Vec<u32> {
    let stages = packets![
        ThreeDStateVs::new(),
        ThreeDStateHs::new(),
        ThreeDStateTe::new(),
        ThreeDStateDs::new(),
        ThreeDStateGs::new(),
    ];
    let none = [VS, HS, DS, GS].map(|stage| constants(stage, ThreeDStateConstantBody::new()));
    [stages, none.concat()].concat()
}

/// Draws that run the kernel of one of the stages before the pixel shader.
fn stage_draw(model: &mut Model, stage: usize, kernel: &[u32]) -> geometry::Draw {
    model.put(KERNELS, kernel);
    if stage == VS || stage == GS {
        let mut draw = geometry::Draw::new(Code::_3DPRIM_POINTLIST, 11);
        draw.stages = match stage {
            VS => packets![ThreeDStateVs {
                function_enable: true,
                simd8_dispatch_enable: true,
                vertex_urb_entry_read_length: u(1),
                dispatch_grf_start_register_for_urb_data: u(2),
                maximum_number_of_threads: minus_one(8),
                ..ThreeDStateVs::new()
            }],
            _ => packets![ThreeDStateGs {
                enable: true,
                dispatch_mode: ThreeDStateGsDispatchMode::SIMD8,
                expected_vertex_count: u(1),
                include_vertex_handles: true,
                include_primitive_id: true,
                vertex_urb_entry_read_length: u(1),
                dispatch_grf_start_register_for_urb_data: u(9),
                maximum_number_of_threads: u(7),
                output_topology: Code::_3DPRIM_POINTLIST,
                static_output: true,
                static_output_vertex_count: u(1),
                ..ThreeDStateGs::new()
            }],
        };
        return draw;
    }
    // The other stage of a patch has a kernel of its own, without constants and binding table.
    let (hull, domain) = if stage == HS { (0, 0x1000) } else { (0x1000, 0) };
    let plain = if stage == HS { PLAIN_DOMAIN } else { PLAIN_HULL };
    model.put(KERNELS + 0x1000, plain);
    let mut draw = geometry::Draw::new(Code::from_bits(0x20), 0);
    let header = [0.0, 0.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0_f32];
    draw.vertices = vec![header.map(f32::to_bits).to_vec(); 2];
    draw.stages = packets![
        ThreeDStateHs {
            enable: true,
            include_vertex_handles: true,
            kernel_start_pointer: at(hull),
            vertex_urb_entry_read_length: u(1),
            dispatch_grf_start_register_for_urb_data: u(5),
            maximum_number_of_threads: minus_one(16),
            ..ThreeDStateHs::new()
        },
        ThreeDStateTe {
            te_enable: true,
            te_domain: ThreeDStateTeTeDomain::QUAD,
            output_topology: ThreeDStateTeOutputTopology::POINT,
            ..ThreeDStateTe::new()
        },
        ThreeDStateDs {
            function_enable: true,
            simd8_dispatch_enable: true,
            kernel_start_pointer: at(domain),
            dispatch_grf_start_register_for_urb_data: u(5),
            maximum_number_of_threads: minus_one(16),
            ..ThreeDStateDs::new()
        },
    ];
    draw
}

/// Writes r5, the first register of vertex data, to the patch header.
const PLAIN_HULL: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r112.5<1>:ud  0xff00:ud
    (W) mov (8|M0)   r113.0<1>:ud  r5.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  0x26  0x04080000  {EOT}
};

/// Writes U, V, W and the primitive ID of eight points.
const PLAIN_DOMAIN: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r4.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  r2.0<8;8,1>:ud
    mov (8|M0)       r115.0<1>:ud  r3.0<8;8,1>:ud
    mov (8|M0)       r116.0<1>:ud  r0.1<0;1,0>:ud
    send (8|M0)      null  r112  0x26  0x0A080007  {EOT}
};

/// Random tables of the stages before the pixel shader. For hull shaders, buffers and the constants
/// of buffer 0 are factors between 1 and 4.
#[test]
fn other_stages() {
    let mut model = geometry::model();
    map(&mut model);
    let mut random = Random::new(0x57);
    let mut tables = [[0; 256]; 4];
    let off = packets![
        genxml::gen8::render3d_binding::ThreeDStateBindingTablePoolAlloc::new(),
        genxml::gen8::render3d_constants::ThreeDStateGatherPoolAlloc::new(),
    ];
    let mut patches = 0;
    for round in 0..1000 {
        let stage = [VS, HS, DS, GS][round % 4];
        let mut data = put_read_buffers(&mut model, &mut random);
        let mut plain = random.dwords(8 * 2);
        if stage == HS {
            let factor = |bits: u32| (1.0 + (bits % 4) as f32).to_bits();
            plain.iter_mut().for_each(|dword| *dword = factor(*dword));
            for (buffer, dwords) in data.iter_mut().enumerate() {
                *dwords = dwords.map(factor);
                model.put(READ + 32 * buffer as u64, &dwords[..]);
            }
        }
        model.put(DYNAMIC_STATE + PLAIN, &plain);
        let (used, buffer) = (random.below(240), random.below(SURFACES));
        let entry = (used, READ_STATES + 64 * buffer);
        let (made, dwords) =
            random_work(&mut model, &mut random, (stage, &mut tables[stage]), entry, 2);
        let kernel = [VERTEX, HULL, DOMAIN, GEOMETRY][stage];
        let kernel = with_indices(kernel, &[(1, used)]);
        let mut draw = stage_draw(&mut model, stage, &kernel);
        let state = draw.stages.clone();
        draw.stages = [&reset(), &made.streamer(), &state[..]].concat();
        // Gathered inner factors have random bits; the tessellator limits them to 64.
        let found = draw.run(&mut model).unwrap();
        if stage != HS {
            let constants = pushed(&made, &plain, &dwords);
            let vertex = [constants[1], constants[8 + 6], data[buffer as usize][2]];
            assert!(!found.is_empty(), "round {round}, stage {stage}");
            for written in &found {
                assert_eq!(written[..3], vertex, "round {round}, stage {stage}");
            }
        }
        patches += u32::from(stage == HS && !found.is_empty());
        let twin = made.twin(&mut model, &tables[stage], &dwords);
        draw.stages = [&reset(), &off[..], &twin, &state].concat();
        assert_eq!(
            draw.run(&mut model).unwrap(),
            found,
            "round {round}, stage {stage}: the twin differs"
        );
    }
    assert!(patches > 50, "only {patches} of 250 hull shaders have factors that are not dropped");
}

/// Constants of buffer 1 after the end of the gather pool are 0. Other buffers are not in the pool.
#[test]
fn end_of_the_pool() {
    let mut model = geometry::model();
    map(&mut model);
    model.put(GATHERED, &vec![0x1111; GATHERED_BYTES as usize / 4]);
    model.put(BUFFERS, &vec![0x2222; 64]);
    let kernel = with_indices(VERTEX, &[(1, 0)]);
    put_buffer(&mut model, READ_STATES, BUFFERS, 32);
    let mut draw = stage_draw(&mut model, VS, &kernel);
    let body = ThreeDStateConstantBody {
        constant_buffer_1_read_length: u(2),
        pointer_to_constant_buffer_1: at(GATHERED_BYTES - 32),
        constant_buffer_2_read_length: u(1),
        pointer_to_constant_buffer_2: at(BUFFERS),
        ..ThreeDStateConstantBody::new()
    };
    let state = draw.stages.clone();
    draw.stages = [
        start(),
        packets![table_pool(), gather_pool()],
        edit(VS, 0, &[(0, READ_STATES)]),
        pointers(VS, 0),
        constants(VS, body),
        state,
    ]
    .concat();
    let batch = draw.batch(&mut model);
    let payload = &model.payloads(&batch).unwrap()[0];
    let registers: Vec<u32> = payload[16..].iter().copied().step_by(8).take(3).collect();
    assert_eq!(registers, [0x1111, 0, 0x2222]);
    assert_eq!(payload[16..24], [0x1111; 8]);
    assert_eq!(payload[24..32], [0; 8]);
}

/// The pipeline reads tables of 16-bit entries in the pool, even if the test wrote them and the
/// streamer is off. An entry after the end of the pool is 0, whatever memory has there (2a p.29).
#[test]
fn tables_of_the_pipeline() {
    let mut model = pixels::model();
    map(&mut model);
    let pool = genxml::gen8::render3d_binding::ThreeDStateBindingTablePoolAlloc {
        binding_table_pool_buffer_size: u(1),
        ..table_pool()
    };
    let base = pixels::TARGET + 0x8_0000;
    let far = RenderSurfaceState {
        surface_base_address: at(base),
        ..pixels::target(SurfaceFormat::R32G32B32A32_FLOAT, 16)
    };
    model.put(SURFACE_STATE + 64 * 0x40, &far.pack());
    // All entries, inside and after the pool, point to the other target.
    model.put(TABLES, &[0x40_0040; 2048]);
    for (to, other) in [(31, true), (32, false), (239, false)] {
        model.write(base, &[0; 4096]);
        let kernel = with_indices(pixels::WHITE, &[(4, to)]);
        let vertex = pixels::Vertex::at(2.5, 0.5);
        let mut draw = pixels::Draw::new(Code::_3DPRIM_POINTLIST, vec![vertex], &kernel);
        draw.more = [packets![pool], pointers(PS, (4096 - 64) / 2)].concat();
        draw.run(&mut model).unwrap();
        let white = [1_f32.to_bits(); 4];
        let (here, there) = if other { ([0; 4], white) } else { (white, [0; 4]) };
        assert_eq!(model.get(pixels::TARGET + 32, 4), here, "entry {to}");
        assert_eq!(model.get(base + 32, 4), there, "entry {to}");
        // Observers of the draw see the same target.
        let mut targets = Vec::new();
        let mut observer = |_: Now, event: &Event<'_>| {
            if let Event::Draw(draw) = event {
                let list = draw.summary().targets;
                targets.extend(list.iter().map(|it| (u64::from(it.binding), it.surface.base)));
            }
        };
        let (context, render) = (model.context, EngineId::Render);
        model.gpu.submit_observed(context, render, BATCH, 0, &mut observer).unwrap();
        assert_eq!(targets, [(to, if other { base } else { pixels::TARGET })]);
    }
}
