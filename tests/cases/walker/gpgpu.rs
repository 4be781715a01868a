//! GPGPU_WALKER: payloads of threads. Oracle: 2a p.453-456, 2d p.228-233, gen8_facts 3.7.

use genxml::eu;
use genxml::gen8::media::{GpgpuWalker, GpgpuWalkerSimdSize, MediaVfeState};
use genxml::gen8::state::InterfaceDescriptorData;
use genxml::gen8::thread_payloads::GpgpuThreadPayloadHeader;
use genxml_cases::{Compute, Model, SCRATCH, at, push, raw_buffer, u};
use genxml_core::MinusOne;
use genxml_sim::Fault;

const DATA: u64 = 0x40_0000;

const END: &[u32] = &eu! {
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

fn header(payload: &[u32]) -> GpgpuThreadPayloadHeader {
    GpgpuThreadPayloadHeader::unpack_lossy(&payload[..8].try_into().unwrap())
}

/// Runs a walker with the state of `compute` and returns the payloads of its threads.
fn payloads(
    model: &mut Model,
    compute: &Compute<'_>,
    walker: &GpgpuWalker,
) -> Result<Vec<Vec<u32>>, Fault> {
    // The batch of the harness ends with its own walker, which is removed.
    let mut batch = compute.batch(model);
    batch.truncate(batch.len() - 15);
    push(&mut batch, walker);
    model.payloads(&batch)
}

fn group_ids(payloads: &[Vec<u32>]) -> Vec<[u32; 3]> {
    payloads
        .iter()
        .map(|payload| {
            let header = header(payload);
            [header.thread_group_id_x, header.thread_group_id_y, header.thread_group_id_z]
                .map(|id| id.get() as u32)
        })
        .collect()
}

/// After the last X the walk restarts at the first X and the next Y (2a p.455). Dimensions come
/// from registers if the packet says so.
#[test]
fn groups_start_and_end_where_the_packet_says() {
    let mut model = Model::new();
    let compute = Compute::new(END);
    let walker = GpgpuWalker {
        thread_group_id_starting_x: u(2),
        thread_group_id_starting_y: u(1),
        thread_group_id_starting_resume_z: u(3),
        thread_group_id_x_dimension: u(4),
        thread_group_id_y_dimension: u(3),
        thread_group_id_z_dimension: u(5),
        ..compute.walker()
    };
    let mut expected = Vec::new();
    for z in 3..5 {
        for y in 1..3 {
            expected.extend((2..4).map(|x| [x, y, z]));
        }
    }
    let found = payloads(&mut model, &compute, &walker).unwrap();
    assert_eq!(group_ids(&found), expected);

    // GPGPU_DISPATCHDIMX, Y and Z replace only dwords 7, 10 and 12.
    let registers = &mut model.gpu.context_mut(model.context).state.registers;
    for (register, value) in [(0x2500, 5), (0x2504, 2), (0x2508, 4)] {
        registers.write(register, value);
    }
    let indirect = GpgpuWalker { indirect_parameter_enable: true, ..walker };
    let found = payloads(&mut model, &compute, &indirect).unwrap();
    assert_eq!(group_ids(&found), [[2, 1, 3], [3, 1, 3], [4, 1, 3]]);

    // If a dimension ends before it starts, no thread runs.
    let empty = GpgpuWalker { thread_group_id_y_dimension: u(1), ..walker };
    assert_eq!(payloads(&mut model, &compute, &empty).unwrap().len(), 0);
}

/// Dispatch masks of a group of 3 x 2 x 2 threads, as the threads read them. CS_INVOCATION_COUNT
/// counts their channels.
#[test]
fn masks_of_the_edges() {
    // The thread's number is in r1.0.
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) shl (1|M0)   r126.2<1>:ud  r1.0<0;1,0>:ud  1:ud
        (W) mov (8|M0)   r127.0<1>:ud  sr0.2<0;1,0>:ud
        (W) send (8|M0)  null  r126  0xA  0x040a0200
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let (right, bottom) = (0x0fff_1007_u32, 0xf0ff_3305_u32);
    for (simd, all) in [
        (GpgpuWalkerSimdSize::SIMD8, 0xff_u32),
        (GpgpuWalkerSimdSize::SIMD16, 0xffff),
        (GpgpuWalkerSimdSize::SIMD32, u32::MAX),
    ] {
        let mut model = Model::new();
        model.map(DATA, 4096);
        let numbers = (0..12u32).flat_map(|n| [n; 8]).flat_map(u32::to_le_bytes).collect();
        let compute = Compute {
            surfaces: vec![raw_buffer(DATA, 4096)],
            curbe: numbers,
            threads: 12,
            ..Compute::new(KERNEL)
        };
        let walker = GpgpuWalker {
            simd_size: simd,
            thread_width_counter_maximum: MinusOne::new(3).unwrap(),
            thread_height_counter_maximum: MinusOne::new(2).unwrap(),
            thread_depth_counter_maximum: MinusOne::new(2).unwrap(),
            right_execution_mask: u(right.into()),
            bottom_execution_mask: u(bottom.into()),
            ..compute.walker()
        };
        payloads(&mut model, &compute, &walker).unwrap();
        let mut expected = Vec::new();
        for _depth in 0..2 {
            for y in 0..2 {
                for x in 0..3 {
                    let mask = if x == 2 { right } else { u32::MAX }
                        & if y == 1 { bottom } else { u32::MAX };
                    expected.push(mask & all);
                }
            }
        }
        let found: Vec<u32> = model.get(DATA, 96).into_iter().step_by(8).collect();
        assert_eq!(found, expected);
        let channels: u32 = expected.iter().map(|mask| mask.count_ones()).sum();
        assert_eq!(model.gpu.context(model.context).state.registers.read(0x2290), channels);
    }
}

/// The registers after r0: constants that all threads share, then those of the thread. They come
/// from the CURBE at its offset, or from indirect data.
#[test]
fn constants_of_groups_and_threads() {
    let register = |n: u32| {
        [n * 8, n * 8 + 1, n * 8 + 2, n * 8 + 3, n * 8 + 4, n * 8 + 5, n * 8 + 6, n * 8 + 7]
    };
    let data: Vec<u8> = (0..12).flat_map(register).flat_map(u32::to_le_bytes).collect();
    let shared = |skip: u32| [register(skip), register(skip + 1)].concat();
    let own =
        |skip: u32, thread: u32| [0, 1, 2].map(|n| register(skip + 2 + 3 * thread + n)).concat();
    let mut model = Model::new();
    // 2 registers for all threads and 3 for each of 3 threads, after one register that the offset
    // skips.
    let compute = Compute { curbe: data.clone(), shared: 3, threads: 3, ..Compute::new(END) };
    let mut batch = compute.batch(&mut model);
    let descriptor = InterfaceDescriptorData {
        cross_thread_constant_data_read_length: u(2),
        constant_indirect_urb_entry_read_length: u(3),
        constant_urb_entry_read_offset: u(1),
        number_of_threads_in_gpgpu_thread_group: u(3),
        ..InterfaceDescriptorData::new()
    };
    model.put(genxml_cases::DYNAMIC_STATE, &descriptor.pack());
    let found = model.payloads(&batch).unwrap();
    assert_eq!(found.len(), 3);
    for (thread, payload) in found.iter().enumerate() {
        assert_eq!(payload[8..], [shared(1), own(1, thread as u32)].concat());
    }
    // Indirect data begins with the shared registers. In the payload, a thread's own registers come
    // first, as kernels of NEO expect (drivers/cl_vadd).
    const INDIRECT: u64 = 0x50_0000;
    model.map(INDIRECT, 4096);
    model.write(INDIRECT, &data);
    batch.truncate(batch.len() - 15);
    let walker = GpgpuWalker {
        indirect_data_length: u(32 * 11),
        indirect_data_start_address: at(INDIRECT),
        ..compute.walker()
    };
    push(&mut batch, &walker);
    let found = model.payloads(&batch).unwrap();
    for (thread, payload) in found.iter().enumerate() {
        assert_eq!(payload[8..], [own(0, thread as u32), shared(0)].concat());
    }
    let short = GpgpuWalker { indirect_data_length: u(48), ..walker };
    let fault = payloads(&mut model, &compute, &short).unwrap_err();
    assert!(matches!(fault, Fault::BadPacket { field: "Indirect Data Length", .. }), "{fault}");
}

/// Each thread has its own scratch space.
#[test]
fn scratch_space() {
    // The header of each thread has its slot number, and the size and address of its scratch space.
    let mut model = Model::new();
    let compute = Compute {
        threads: 4,
        groups: [2, 1, 1],
        vfe: MediaVfeState {
            scratch_space_base_pointer: at(SCRATCH),
            per_thread_scratch_space: u(1),
            maximum_number_of_threads: MinusOne::new(64).unwrap(),
            ..MediaVfeState::new()
        },
        ..Compute::new(END)
    };
    let batch = compute.batch(&mut model);
    let found = model.payloads(&batch).unwrap();
    for (slot, payload) in (0..).zip(&found) {
        let header = header(payload);
        assert_eq!(header.fftid.get(), slot);
        assert_eq!(header.per_thread_scratch_space.get(), 1);
        assert_eq!(header.scratch_space_pointer.get(), SCRATCH + 2048 * slot);
    }
    // There are no more slots than threads that can run at the same time.
    let few = MediaVfeState { maximum_number_of_threads: MinusOne::new(3).unwrap(), ..compute.vfe };
    let batch = Compute { vfe: few, ..compute }.batch(&mut model);
    let slots: Vec<u64> =
        model.payloads(&batch).unwrap().iter().map(|payload| header(payload).fftid.get()).collect();
    assert_eq!(slots, [0, 1, 2, 0, 1, 2, 0, 1]);
}

/// The number of threads of a group must fit in 10 bits (2a p.455).
#[test]
fn groups_that_are_too_large() {
    let run = |size: [u64; 3]| {
        let mut model = Model::new();
        let compute = Compute::new(END);
        let [width, height, depth] = size.map(|n| MinusOne::new(n).unwrap());
        let walker = GpgpuWalker {
            thread_width_counter_maximum: width,
            thread_height_counter_maximum: height,
            thread_depth_counter_maximum: depth,
            ..compute.walker()
        };
        payloads(&mut model, &compute, &walker)
    };
    assert_eq!(run([33, 31, 1]).unwrap().len(), 1023);
    for size in [[16, 8, 8], [64, 64, 64]] {
        let fault = run(size).unwrap_err();
        assert!(
            matches!(fault, Fault::BadPacket { field: "Thread Depth Counter Maximum", .. }),
            "{fault}"
        );
    }
}

/// The constants' offset must lie within the 1984 registers of the URB. It is ignored if there are
/// no constants (2d p.231). If there are only shared constants, the model uses the offset
/// (assumptions::READ_OFFSET_COUNTS_FOR_SHARED_CONSTANTS).
#[test]
fn offsets_of_constants() {
    let data: Vec<u8> = (0..32u32).flat_map(u32::to_le_bytes).collect();
    let run = |offset, shared, own| {
        let mut model = Model::new();
        let compute = Compute { curbe: data.clone(), shared: 4, ..Compute::new(END) };
        let batch = compute.batch(&mut model);
        let descriptor = InterfaceDescriptorData {
            constant_urb_entry_read_offset: u(offset),
            cross_thread_constant_data_read_length: u(shared),
            constant_indirect_urb_entry_read_length: u(own),
            number_of_threads_in_gpgpu_thread_group: u(1),
            ..InterfaceDescriptorData::new()
        };
        model.put(genxml_cases::DYNAMIC_STATE, &descriptor.pack());
        model.payloads(&batch).map(|payloads| payloads[0][8..].to_vec())
    };
    assert!(run(1984, 0, 0).unwrap().is_empty());
    assert!(run(0xffff, 0, 0).unwrap().is_empty());
    assert_eq!(run(1983, 0, 1).unwrap(), [0; 8]);
    assert_eq!(run(2, 1, 0).unwrap(), (16..24).collect::<Vec<u32>>());
    for (offset, shared, own) in [(1984, 0, 1), (1983, 0, 2), (1984, 1, 0)] {
        let fault = run(offset, shared, own).unwrap_err();
        assert!(
            matches!(fault, Fault::BadPacket { field: "Constant URB Entry Read Offset", .. }),
            "{fault}"
        );
    }
}
