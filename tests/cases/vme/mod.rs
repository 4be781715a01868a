//! Messages to motion estimation, and to check and refinement.
//!
//! Oracle: pictures whose best prediction is known, because they are copies of each other. The
//! algorithm has its own tests in the model (unit/vme/tests).
//!
//! * [`checks`]: the skip and intra check;
//! * [`refused`]: messages that are refused;
//! * [`mutations`]: messages with random changes;
//! * [`threads`]: messages from two host threads.

mod checks;
mod mutations;
mod refused;
mod threads;

use genxml::eu;
use genxml::eu::gen8::eu_messages::{
    MotionEstimationMessageDescriptor as Descriptor, MotionEstimationType as Type,
};
use genxml::eu::gen8::eu_vme::{
    CreFbrMessagePayload, VmeImeMessagePayload, VmeImeMessagePayloadSearchPath as Step,
    VmeImeStreamRecord, VmeResponse, VmeResponseInterMbMode as Mode, VmeResponseMv,
    VmeUniversalMessagePayload as Universal, VmeUniversalMessagePayloadFbrMbMode as FbrMode,
    VmeUniversalMessagePayloadInterSad as Sad, VmeUniversalMessagePayloadSearchControl as Control,
    VmeUniversalMessagePayloadSubPelMode as SubPel,
};
use genxml::gen8::media::{
    GpgpuWalkerSimdSize, MediaSurfaceState, MediaSurfaceStateSurfaceFormat as Format,
    MediaSurfaceStateTileMode as Tiles,
};
use genxml::gen8::messages::{MdcDbOw, MhBtsGo, Msd0wOwb};
use genxml::gen8::state::RenderSurfaceState;
use genxml_cases::paper::Tiling;
use genxml_cases::{Compute as Walker, Model, SURFACE_STATE, at, raw_buffer, u};
use genxml_core::{MinusOne, S};
use genxml_sim::Fault;

/// Address of the stored responses.
const ANSWERS: u64 = 0x500_0000;
/// Addresses of the pictures: the source and two references.
const PICTURES: [u64; 3] = [0x600_0000, 0x602_0000, 0x604_0000];
/// Binding table index of the buffer for responses. The source has index 0, reference 0 has 1 and,
/// with the ID 3, 7; reference 1 has 2.
const BUFFER: usize = 8;
/// Width and height of the pictures.
const SIZE: [u64; 2] = [56, 40];
/// Bytes from row to row.
const PITCH: u64 = 128;
/// Row of the first chroma samples.
const CHROMA: u64 = 64;
/// Number of response registers that are stored.
const STORED: usize = 12;
/// Bytes of a stored response.
const ANSWER: u64 = 32 * STORED as u64;

/// r1: descriptor of the message, descriptor of the stores. r2 to r11: the message. r20 to r31: the
/// response. The message goes to motion estimation.
const VME: &[u32] = &eu! {
    (W) mov (1|M0)    a0.0<1>:ud  r1.0<0;1,0>:ud
    (W) send (8|M0)   r20  r2  0x8  a0.0
};

/// The same with a message to check and refinement.
const CRE: &[u32] = &eu! {
    (W) mov (1|M0)    a0.0<1>:ud  r1.0<0;1,0>:ud
    (W) send (8|M0)   r20  r2  0xD  a0.0
};

/// Stores the response in three parts with the headers r12 to r14.
const STORE: &[u32] = &eu! {
    (W) mov (1|M0)    a0.0<1>:ud  r1.1<0;1,0>:ud
    (W) mov (8|M0)    r19.0<1>:ud  r12.0<8;8,1>:ud
    (W) send (8|M0)   null   r19    0xA  a0.0
    (W) mov (8|M0)    r23.0<1>:ud  r13.0<8;8,1>:ud
    (W) send (8|M0)   null   r23    0xA  a0.0
    (W) mov (8|M0)    r27.0<1>:ud  r14.0<8;8,1>:ud
    (W) send (8|M0)   null   r27    0xA  a0.0
    (W) mov (8|M0)    r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)   null   r127   0x27  0x02000010  {EOT}
};

/// A smooth pattern without repetitions nearby.
fn pattern(x: i64, y: i64) -> u8 {
    let (x, y) = (x as f64, y as f64);
    let value = 128.0 + 50.0 * (x / 7.3).sin() + 40.0 * (y / 5.9 + x / 23.0).sin();
    (value + 25.0 * ((x + 2.0 * y) / 11.7).cos()).round() as u8
}

/// Three NV12 pictures in tiles, and what describes them.
struct Pictures {
    state: MediaSurfaceState,
    tiling: Tiling,
}

impl Pictures {
    fn new(tiling: Tiling) -> Pictures {
        let state = MediaSurfaceState {
            surface_format: Format::PLANAR_420_8,
            width: MinusOne::new(SIZE[0]).unwrap(),
            height: MinusOne::new(SIZE[1]).unwrap(),
            tile_mode: match tiling {
                Tiling::Y => Tiles::TILEMODE_YMAJOR,
                Tiling::X => Tiles::TILEMODE_XMAJOR,
                _ => Tiles::TILEMODE_LINEAR,
            },
            surface_pitch: MinusOne::new(PITCH).unwrap(),
            interleave_chroma: true,
            y_offset_for_u_cb: u(CHROMA),
            ..MediaSurfaceState::new()
        };
        Pictures { state, tiling }
    }

    /// Writes the luma and chroma of a picture.
    fn write(
        &self,
        model: &mut Model,
        number: usize,
        luma: impl Fn(i64, i64) -> u8,
        chroma: impl Fn(i64, i64) -> [u8; 2],
    ) {
        let mut memory = vec![0; 0x4000];
        for (y, x) in (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (y, x))) {
            memory[self.tiling.offset(x, y, PITCH) as usize] = luma(x as i64, y as i64);
            if y < SIZE[1] / 2 {
                let pair = chroma(x as i64 / 2, y as i64);
                memory[self.tiling.offset(x, CHROMA + y, PITCH) as usize] = pair[x as usize % 2];
            }
        }
        model.write(PICTURES[number], &memory);
    }
}

fn model() -> Model {
    let mut model = Model::new();
    model.map(ANSWERS, 0x1000);
    PICTURES.iter().for_each(|&picture| model.map(picture, 0x4000));
    model
}

/// A model with pictures of [`pattern`]: the references are moved.
fn moved(tiling: Tiling, by: [[i64; 2]; 2]) -> (Model, Pictures) {
    let (mut model, pictures) = (model(), Pictures::new(tiling));
    for (number, [dx, dy]) in [[0, 0], by[0], by[1]].into_iter().enumerate() {
        pictures.write(&mut model, number, |x, y| pattern(x - dx, y - dy), |_, _| [128; 2]);
    }
    (model, pictures)
}

/// The descriptor of a message with these registers.
fn descriptor(descriptor: Descriptor, message: &[u32]) -> u32 {
    let length = message.len().div_ceil(8);
    let message_length = u(length as u64);
    Descriptor { message_length, header_present: true, ..descriptor }.pack()[0]
}

/// Sends a message with these registers. Returns the registers of the response.
fn send(
    model: &mut Model,
    pictures: &Pictures,
    kernel: &[u32],
    kind: Descriptor,
    message: &[u32],
) -> Result<Vec<u32>, Fault> {
    let kernel = [kernel, STORE].concat();
    let batch = batch(model, pictures, &kernel, descriptor(kind, message), message, 1);
    model.render(&batch)?;
    Ok(model.get(ANSWERS, 8 * STORED))
}

/// A batch with `groups` threads of a kernel that sends a message with these registers and this
/// descriptor, and stores the response.
fn batch(
    model: &mut Model,
    pictures: &Pictures,
    kernel: &[u32],
    descriptor: u32,
    message: &[u32],
    groups: u64,
) -> Vec<u32> {
    let store = Msd0wOwb {
        binding_table_index: u(BUFFER as u64),
        data_blocks: MdcDbOw::OW8,
        header_present: true,
        message_length: u(5),
        ..Msd0wOwb::new()
    };
    let mut registers = [[0u32; 8]; 15];
    registers[1][..2].copy_from_slice(&[descriptor, store.pack()[0]]);
    registers.as_flattened_mut()[16..16 + message.len()].copy_from_slice(message);
    for n in 0..3 {
        registers[12 + n] = MhBtsGo { global_offset: u(8 * n as u64) }.pack();
    }
    let mut surfaces = vec![RenderSurfaceState::new(); BUFFER];
    surfaces.push(raw_buffer(ANSWERS, groups * ANSWER));
    let walker = Walker {
        surfaces,
        curbe: bytemuck::cast_slice(registers[1..].as_flattened()).to_vec(),
        shared: 14,
        simd: GpgpuWalkerSimdSize::SIMD8,
        groups: [groups, 1, 1],
        ..Walker::new(kernel)
    };
    let batch = walker.batch(model);
    let [source, first, second] = PICTURES;
    for (index, address) in [(0, source), (1, first), (2, second), (7, first)] {
        let state = MediaSurfaceState { surface_base_address: at(address), ..pictures.state };
        model.put(SURFACE_STATE + 64 * index, &state.pack());
    }
    batch
}

fn response(registers: &[u32]) -> VmeResponse {
    VmeResponse::unpack_lossy(registers[..56].try_into().unwrap())
}

/// A universal payload for the macroblock at (16, 16), whose window has 6 x 5 search units.
fn universal() -> Universal {
    Universal {
        source_x: u(16),
        source_y: u(16),
        reference_0_window_x: s(-12),
        reference_0_window_y: s(-12),
        reference_1_window_x: s(-12),
        reference_1_window_y: s(-12),
        reference_width: u(40),
        reference_height: u(36),
        max_number_of_mvs: u(32),
        search_path_length: u(1),
        max_number_of_search_units: u(60),
        adaptive_search_enable: true,
        start_0_x: u(3),
        start_0_y: u(3),
        start_1_x: u(3),
        start_1_y: u(3),
        bidirectional_weight: u(32),
        skip_mode_enable: true,
        ..Universal::new()
    }
}

fn s(value: i64) -> S<16> {
    S::new(value).unwrap()
}

fn mv(x: i64, y: i64) -> VmeResponseMv {
    VmeResponseMv { mv_x: s(x), mv_y: s(y) }
}

fn ime(stream_in: bool, stream_out: bool, records: u64) -> Descriptor {
    Descriptor {
        message_type: Type::IME,
        stream_in,
        stream_out,
        response_length: u(7 + if stream_out { 2 * records } else { 0 }),
        ..Descriptor::new()
    }
}

fn cre(kind: Type) -> Descriptor {
    Descriptor { message_type: kind, response_length: u(7), ..Descriptor::new() }
}

fn search(universal: &Universal, records: &[VmeImeStreamRecord]) -> Vec<u32> {
    let mut message = universal.pack().to_vec();
    message.extend(VmeImeMessagePayload::new().pack());
    records.iter().for_each(|record| message.extend(record.pack()));
    message
}

/// The integer search finds the movement of a picture, in all tilings, with both kinds of sums.
#[test]
fn integer_searches() {
    for (tiling, sad) in
        [(Tiling::Y, Sad::NONE), (Tiling::Y, Sad::HAAR), (Tiling::Linear, Sad::NONE)]
    {
        for by in [[0, 0], [5, -3], [-6, 2]] {
            let (mut model, pictures) = moved(tiling, [by, [0, 0]]);
            let universal = Universal { inter_sad: sad, ..universal() };
            let message = search(&universal, &[]);
            let found = send(&mut model, &pictures, VME, ime(false, false, 0), &message).unwrap();
            let found = response(&found);
            assert_eq!(found.mv[0], mv(4 * by[0], 4 * by[1]));
            assert_eq!((found.inter_distortion.get(), found.inter_mb_type.get()), (0, 1));
            assert_eq!((found.inter_mb_mode, found.mv_quantity.get()), (Mode::_16X16, 1));
            assert!(found.search_units.get() > 1 && !found.truncated_search);
        }
    }
}

/// Two references; records of a search go into the next one, and stay if they are better.
#[test]
fn records() {
    let (mut model, pictures) = moved(Tiling::Y, [[5, -3], [-4, 4]]);
    let dual = Universal { search_control: Control::DUAL_REFERENCE, ..universal() };
    let message = search(&dual, &[]);
    let first = send(&mut model, &pictures, VME, ime(false, true, 2), &message).unwrap();
    let found = response(&first);
    assert_eq!((found.mv[0], found.mv[1]), (mv(20, -12), mv(-16, 16)));
    assert_eq!(found.sub_mb_prediction_modes.get(), 0);
    let record = |registers: &[u32], n: usize| {
        VmeImeStreamRecord::unpack_lossy(registers[56 + 16 * n..][..16].try_into().unwrap())
    };
    let known = [0, 1].map(|n| record(&first, n));
    for (record, [x, y]) in known.iter().zip([[20, -12], [-16, 16]]) {
        assert_eq!((record.mv_16x16_x, record.mv_16x16_y), (s(x), s(y)));
        assert_eq!(record.distortion_16x16.get(), 0);
        assert_eq!((record.mv_8x16[1].mv_8x16_x, record.mv_16x8[1].mv_16x8_y), (s(x), s(y)));
    }
    // Windows elsewhere find nothing better.
    let away = Universal {
        reference_0_window_x: s(16),
        reference_1_window_x: s(16),
        adaptive_search_enable: false,
        ..dual
    };
    let message = search(&away, &known);
    let second = send(&mut model, &pictures, VME, ime(true, true, 2), &message).unwrap();
    assert_eq!(response(&second).mv[..2], [mv(20, -12), mv(-16, 16)]);
    assert_eq!([0, 1].map(|n| record(&second, n)), known);
    let message = search(&away, &[]);
    let third = send(&mut model, &pictures, VME, ime(false, false, 0), &message).unwrap();
    assert_ne!(response(&third).mv[0], mv(20, -12));
}

/// A search unit on the path costs one step; a small distortion ends the search.
#[test]
fn paths_and_early_stops() {
    let (mut model, pictures) = moved(Tiling::Y, [[-12, -12], [0, 0]]);
    let base = Universal {
        adaptive_search_enable: false,
        search_path_length: u(30),
        start_0_x: u(0),
        start_0_y: u(0),
        ..universal()
    };
    let mut path = VmeImeMessagePayload::new();
    for (n, step) in path.search_path.iter_mut().enumerate().take(29) {
        let forth = n / 6 % 2 == 0;
        *step = match n % 6 {
            5 => Step { search_path_y: S::new(1).unwrap(), ..Step::new() },
            _ => Step { search_path_x: S::new(if forth { 1 } else { -1 }).unwrap(), ..Step::new() },
        };
    }
    for (early, units) in [(false, 30), (true, 1)] {
        let universal = Universal { early_ime_success_enable: early, ..base };
        let mut message = universal.pack().to_vec();
        message.extend(path.pack());
        let found = send(&mut model, &pictures, VME, ime(false, false, 0), &message).unwrap();
        let found = response(&found);
        assert_eq!((found.search_units.get(), found.early_stop), (units, early));
        // The best position is the upper left corner of the window.
        assert_eq!((found.mv[0], found.reference_0_border.get()), (mv(-48, -48), 0b0101));
    }
}

/// The refinement finds fractions of a pixel, and the mean of two references.
#[test]
fn refinements() {
    let (mut model, pictures) = moved(Tiling::Y, [[3, 2], [0, 0]]);
    // The source is half a pixel to the left of reference 0.
    let half = |x: i64, y: i64| {
        let pixel = |n: i64| f64::from(pattern(x - 3 + n, y - 2));
        let sum = -pixel(-1) + 5.0 * pixel(0) + 5.0 * pixel(1) - pixel(2);
        (sum / 8.0 + 0.5).floor() as u8
    };
    pictures.write(&mut model, 0, half, |_, _| [128; 2]);
    let universal = Universal {
        sub_pel_mode: SubPel::QUARTER,
        fbr_mb_mode: FbrMode::_16X16,
        bme_disable: true,
        ..universal()
    };
    let mut message = universal.pack().to_vec();
    message.extend(CreFbrMessagePayload::new().pack());
    let found = send(&mut model, &pictures, CRE, cre(Type::FBR), &message).unwrap();
    let found = response(&found);
    assert_eq!((found.mv[0], found.inter_distortion.get()), (mv(2, 0), 0));
    // Only the lower bit of a prediction mode counts: 2 is reference 0.
    let upper = Universal { fbr_sub_mb_prediction_modes: u(0xaa), ..universal };
    let mut message = upper.pack().to_vec();
    message.extend(CreFbrMessagePayload::new().pack());
    let again = send(&mut model, &pictures, CRE, cre(Type::FBR), &message).unwrap();
    assert_eq!(response(&again), found);

    let mean = |x: i64, y: i64| {
        let (a, b) = (pattern(x - 3, y - 2), pattern(x + 9, y - 1));
        ((u32::from(a) + u32::from(b)).div_ceil(2)) as u8
    };
    pictures.write(&mut model, 0, mean, |_, _| [128; 2]);
    pictures.write(&mut model, 2, |x, y| pattern(x + 9, y - 1), |_, _| [128; 2]);
    let both = Universal { bme_disable: false, sub_pel_mode: SubPel::INTEGER, ..universal };
    let mut message = both.pack().to_vec();
    message.extend(CreFbrMessagePayload::new().pack());
    let found = send(&mut model, &pictures, CRE, cre(Type::FBR), &message).unwrap();
    let found = response(&found);
    assert_eq!((found.inter_mb_type.get(), found.sub_mb_prediction_modes.get()), (3, 0xaa));
    assert_eq!((found.inter_distortion.get(), found.mv_quantity.get()), (0, 2));
}

/// The cost of a reference depends on its ID (OpenCL extension
/// cl_intel_device_side_avc_motion_estimation).
#[test]
fn costs_of_reference_ids() {
    let (mut model, pictures) = moved(Tiling::Y, [[5, -3], [-4, 4]]);
    for (linear, id, cost) in [(false, 0, 0), (false, 3, 2 * 7), (true, 3, 3 * 7)] {
        let mut universal = Universal { reference_id_cost_mode: linear, ..universal() };
        universal.mode_cost[10] = u(7);
        universal.block_reference.iter_mut().for_each(|block| block.block_reference_0_id = u(id));
        let message = search(&universal, &[]);
        let found = send(&mut model, &pictures, VME, ime(false, false, 0), &message).unwrap();
        let found = response(&found);
        assert_eq!((found.mv[0], found.inter_distortion.get()), (mv(20, -12), cost));
        assert_eq!(found.reference[0].reference_0_id.get(), id);
    }
}
