//! Video enhancement: VEB_DI_IECP in batches of typed packets.
//!
//! * [`surfaces`]: formats, tiles, columns;
//! * [`colors`]: ProcAmp, colour space, alpha, contrast, saturation, skin;
//! * [`gamut`]: gamut compression and expansion;
//! * [`camera`]: inputs with a Bayer pattern;
//! * [`time`]: denoising and deinterlacing;
//! * [`statistics`]: the statistics output;
//! * [`refused`]: faults that name their cause;
//! * [`mutations`]: random changes of packets and tables.

mod camera;
mod colors;
mod gamut;
mod mutations;
mod refused;
mod statistics;
mod surfaces;
mod time;

use super::capture::y_tiled;
use genxml::engine::EngineId;
use genxml::gen8::vebox::*;
use genxml::gen8::vebox_states::{
    VeboxCapturePipeState, VeboxDndiState, VeboxGamutState, VeboxIecpState, VeboxVertexTable,
};
use genxml_cases::{Model, at, minus_one, packets, u};
use genxml_sim::{Fault, Stats};

/// The frame.
const INPUT: u64 = 0x40_0000;
/// The frame before.
const BEFORE: u64 = 0x42_0000;
const HISTORY_IN: u64 = 0x44_0000;
const HISTORY_OUT: u64 = 0x46_0000;
const DENOISED: u64 = 0x48_0000;
const CURRENT: u64 = 0x4a_0000;
const PREVIOUS: u64 = 0x4c_0000;
const STATISTICS: u64 = 0x4e_0000;
/// Settings of denoising and deinterlacing; of enhancement; of the gamut; its vertices; of the
/// camera pipe.
const TABLES: [u64; 5] = [0x50_0000, 0x50_1000, 0x50_2000, 0x50_3000, 0x50_4000];
/// A plane of alpha, or factors of the vignette correction.
const ALPHA: u64 = 0x52_0000;
/// No buffer is here.
const UNMAPPED: u64 = 0x70_0000;

/// Bytes of each buffer.
const ROOM: usize = 0x2_0000;
const WIDTH: usize = 64;
const HEIGHT: usize = 32;
/// Bytes of a row, of all surfaces.
const PITCH: usize = 1024;
/// The row of the first sample of chroma.
const CHROMA: usize = 64;

/// What a batch needs.
struct Scene {
    model: Model,
    state: VeboxState,
    video: VeboxDndiState,
    colors: VeboxIecpState,
    gamut: VeboxGamutState,
    vertices: VeboxVertexTable,
    pipe: VeboxCapturePipeState,
    input: VeboxSurfaceState<'static>,
    output: VeboxSurfaceState<'static>,
    packet: VebDiIecp,
}

impl Scene {
    /// NV12 in and out, linear. No function is enabled.
    fn new() -> Scene {
        let mut model = Model::new();
        for address in (INPUT..=STATISTICS).step_by(ROOM) {
            model.map(address, ROOM as u64);
        }
        model.map(TABLES[0], 0x5000);
        model.map(ALPHA, ROOM as u64);
        let surface = VeboxSurfaceState {
            width: minus_one(WIDTH as u64),
            height: minus_one(HEIGHT as u64),
            surface_format: VeboxSurfaceStateSurfaceFormat::PLANAR_420_8,
            interleave_chroma: true,
            surface_pitch: minus_one(PITCH as u64),
            y_offset_for_u: u(CHROMA as u64),
            ..VeboxSurfaceState::new()
        };
        Scene {
            model,
            state: VeboxState {
                dn_di_state_pointer: at(TABLES[0]),
                iecp_state_pointer: at(TABLES[1]),
                gamut_state_pointer: at(TABLES[2]),
                vertex_table_state_pointer: at(TABLES[3]),
                capture_pipe_state_pointer: at(TABLES[4]),
                _444_422_downsample_method:
                    VeboxState444422DownsampleMethod::AVERAGE_HORIZONTALLY_ALIGNED_CHROMAS,
                _422_420_downsample_method:
                    VeboxState422420DownsampleMethod::AVERAGE_VERTICALLY_ALIGNED_CHROMAS,
                ..VeboxState::new()
            },
            video: VeboxDndiState::new(),
            colors: {
                let mut colors = VeboxIecpState::new();
                colors.procamp_state.procamp_enable = false;
                colors
            },
            gamut: VeboxGamutState::new(),
            vertices: VeboxVertexTable::new(),
            pipe: VeboxCapturePipeState::new(),
            input: surface,
            output: VeboxSurfaceState {
                surface_identification:
                    VeboxSurfaceStateSurfaceIdentification::OUTPUT_SURFACE_ALL_EXCEPT_THE_DENOISED_CURRENT_OUTPUT_SURFACE,
                ..surface
            },
            packet: VebDiIecp {
                ending_x: u(WIDTH as u64 - 1),
                current_frame_input_address: at(INPUT),
                previous_frame_input_address: at(BEFORE),
                stmm_input_address: at(HISTORY_IN),
                stmm_output_address: at(HISTORY_OUT),
                denoised_current_frame_output_address: at(DENOISED),
                current_frame_output_address: at(CURRENT),
                previous_frame_output_address: at(PREVIOUS),
                statistics_output_address: at(STATISTICS),
                alpha_vignette_correction_address: at(ALPHA),
                ..VebDiIecp::new()
            },
        }
    }

    /// The packets.
    fn batch(&self) -> Vec<u32> {
        packets![self.state, self.input, self.output, self.packet]
    }

    /// Writes the tables and runs the batch.
    fn run(&mut self) -> Result<Stats, Fault> {
        self.model.put(TABLES[0], &self.video.pack());
        self.model.put(TABLES[1], &self.colors.pack());
        self.model.put(TABLES[2], &self.gamut.pack());
        self.model.put(TABLES[3], &self.vertices.pack());
        self.model.put(TABLES[4], &self.pipe.pack());
        let batch = self.batch();
        self.model.submit(EngineId::VideoEnhance, &batch)
    }

    /// Writes a frame of a function of the position: luma for each pixel, U and V for 2x2 pixels.
    fn draw(&mut self, address: u64, f: impl Fn(usize, usize) -> [u8; 3]) {
        let mut bytes = vec![0; PITCH * (CHROMA + HEIGHT)];
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let [luma, blue, red] = f(x, y);
                bytes[y * PITCH + x] = luma;
                let chroma = (CHROMA + y / 2) * PITCH + x / 2 * 2;
                (bytes[chroma], bytes[chroma + 1]) = (blue, red);
            }
        }
        self.model.write(address, &bytes);
    }

    /// Makes the input R8G8B8A8, or 444A, with a pixel for each position.
    fn draw_pixels(
        &mut self,
        format: VeboxSurfaceStateSurfaceFormat,
        pixel: impl Fn(usize, usize) -> [u8; 4],
    ) {
        let mut memory = vec![0; ROOM];
        for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
            memory[y * PITCH + 4 * x..][..4].copy_from_slice(&pixel(x, y));
        }
        self.model.write(INPUT, &memory);
        self.input.surface_format = format;
    }

    /// The pixels of an output of four bytes for each.
    fn pixels(&mut self, address: u64) -> Vec<[u8; 4]> {
        let out = self.model.read(address, ROOM);
        let pixel = |index: usize| {
            let at = index / WIDTH * PITCH + index % WIDTH * 4;
            [out[at], out[at + 1], out[at + 2], out[at + 3]]
        };
        (0..WIDTH * HEIGHT).map(pixel).collect()
    }

    /// Y, U and V of the pixels of an NV12 frame.
    fn frame(&mut self, address: u64) -> Vec<[u8; 3]> {
        let bytes = self.model.read(address, PITCH * (CHROMA + HEIGHT));
        let pixel = |index: usize| {
            let (x, y) = (index % WIDTH, index / WIDTH);
            let chroma = (CHROMA + y / 2) * PITCH + x / 2 * 2;
            [bytes[y * PITCH + x], bytes[chroma], bytes[chroma + 1]]
        };
        (0..WIDTH * HEIGHT).map(pixel).collect()
    }
}

/// The position of a pixel by its number.
fn position(index: usize) -> (usize, usize) {
    (index % WIDTH, index / WIDTH)
}

/// The offset of a byte in X tiles: 512 bytes of 8 rows.
fn x_tiled(x: usize, y: usize, pitch: usize) -> usize {
    (y / 8 * (pitch / 512) + x / 512) * 4096 + y % 8 * 512 + x % 512
}

/// A pattern that has no symmetry.
fn pattern(x: usize, y: usize) -> [u8; 3] {
    let mix = |x: usize, y: usize, salt: usize| {
        ((x * 31 + y * 57 + salt * 101) as u32).wrapping_mul(2_654_435_761) >> 24
    };
    [mix(x, y, 0) as u8, mix(x / 2, y / 2, 1) as u8, mix(x / 2, y / 2, 2) as u8]
}
