//! Measures pixels per second of video enhancement: frames of 1920x1088, submitted as a batch.

use super::{BATCH, number};
use divan::Bencher;
use divan::counter::ItemsCount;
use genxml::core::{Address, Instruction, MinusOne};
use genxml::engine::EngineId;
use genxml::gen8::mi::MiBatchBufferEnd;
use genxml::gen8::vebox::*;
use genxml::gen8::vebox_states::{VeboxDndiState, VeboxIecpState};
use genxml_sim::Gpu;

const TABLES: [u64; 2] = [0x11_0000, 0x12_0000];
/// The first of nine buffers of 8 MiB. A frame in RGB has more than one.
const FRAMES: u64 = 0x1000_0000;
const ROOM: u64 = 8 << 20;
const WIDTH: u64 = 1920;
const HEIGHT: u64 = 1088;
const PITCH: u64 = 8192;

/// What is done with a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Job {
    /// NV12 from Y tiles to Y tiles.
    Copy,
    /// ProcAmp of NV12.
    ProcAmp,
    /// ProcAmp and conversion to R8G8B8A8.
    ToRgb,
    /// Luma and chroma, in time.
    Denoise,
    /// Both fields, motion adaptive.
    Deinterlace,
    /// Both fields, motion compensated.
    Compensate,
}

#[divan::bench(name = "VEBOX", args = [
    Job::Copy,
    Job::ProcAmp,
    Job::ToRgb,
    Job::Denoise,
    Job::Deinterlace,
    Job::Compensate,
])]
fn frame(bencher: Bencher, job: Job) {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    for index in 0..9 {
        let buffer = gpu.alloc(ROOM).unwrap();
        let bytes = gpu.memory.bytes_mut(buffer);
        let mut seed = index as u32;
        for (at, byte) in bytes.iter_mut().enumerate() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // A slope with a little noise.
            *byte = (at / 97) as u8 / 2 + (seed >> 29) as u8;
        }
        gpu.map(context, FRAMES + index * ROOM, buffer).unwrap();
    }
    let address = |index: u64| Address::new(FRAMES + index * ROOM).unwrap();
    let time = matches!(job, Job::Deinterlace | Job::Compensate);
    let state = VeboxState {
        global_iecp_enable: matches!(job, Job::ProcAmp | Job::ToRgb),
        dn_enable: VeboxStateDnEnable::from_bits(u64::from(job == Job::Denoise)),
        di_enable: VeboxStateDiEnable::from_bits(u64::from(time)),
        dn_di_state_pointer: Address::new(TABLES[0]).unwrap(),
        iecp_state_pointer: Address::new(TABLES[1]).unwrap(),
        ..VeboxState::new()
    };
    let input = VeboxSurfaceState {
        width: MinusOne::new(WIDTH).unwrap(),
        height: MinusOne::new(HEIGHT).unwrap(),
        surface_pitch: MinusOne::new(2048).unwrap(),
        surface_format: VeboxSurfaceStateSurfaceFormat::PLANAR_420_8,
        interleave_chroma: true,
        tiled_surface: true,
        tile_walk: VeboxSurfaceStateTileWalk::TILEWALK_YMAJOR,
        y_offset_for_u: number(HEIGHT),
        ..VeboxSurfaceState::new()
    };
    let mut output = VeboxSurfaceState {
        surface_identification: VeboxSurfaceStateSurfaceIdentification::from_bits(1),
        ..input
    };
    if job == Job::ToRgb {
        output.surface_format = VeboxSurfaceStateSurfaceFormat::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
        output.surface_pitch = MinusOne::new(PITCH).unwrap();
    }
    let packet = VebDiIecp {
        ending_x: number(WIDTH - 1),
        current_frame_input_address: address(0),
        previous_frame_input_address: address(1),
        stmm_input_address: address(2),
        stmm_output_address: address(3),
        denoised_current_frame_output_address: address(4),
        previous_frame_output_address: address(5),
        statistics_output_address: address(6),
        current_frame_output_address: address(7),
        ..VebDiIecp::new()
    };
    let video = VeboxDndiState {
        denoise_stad_threshold: number(140),
        denoise_maximum_history: number(192),
        denoise_moving_pixel_threshold: number(16),
        temporal_difference_threshold: number(12),
        low_temporal_difference_threshold: number(4),
        good_neighbor_threshold: number(8),
        maximum_stmm: number(150),
        minimum_stmm: number(118),
        stmm_output_shift: number(5),
        sdi_threshold: number(100),
        sdi_delta: number(5),
        multiplier_for_vecm: number(30),
        mcdi_enable: job == Job::Compensate,
        ..VeboxDndiState::new()
    };
    let mut colors = VeboxIecpState::new();
    colors.csc_state.transform_enable = job == Job::ToRgb;
    gpu.load(context, TABLES[0], bytemuck::cast_slice(&video.pack())).unwrap();
    gpu.load(context, TABLES[1], bytemuck::cast_slice(&colors.pack())).unwrap();
    let mut batch = vec![0; 64];
    let mut end = state.pack_into(&mut batch).unwrap();
    end += input.pack_into(&mut batch[end..]).unwrap();
    end += output.pack_into(&mut batch[end..]).unwrap();
    end += packet.pack_into(&mut batch[end..]).unwrap();
    MiBatchBufferEnd::new().pack_into(&mut batch[end..]).unwrap();
    gpu.load(context, BATCH, bytemuck::cast_slice(&batch)).unwrap();
    bencher.counter(ItemsCount::new(WIDTH * HEIGHT)).bench_local(|| {
        gpu.submit(context, EngineId::VideoEnhance, BATCH, 0).unwrap();
    });
}
