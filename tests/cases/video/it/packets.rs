//! Small MPEG-2 pictures of typed packets, and faults.
//!
//! The pictures have 32x32 samples, and all blocks are flat. Oracle: an eighth of the DC
//! coefficient, rounded, is the sample of a flat block (ISO/IEC 13818-2 annex A).

use super::host;
use crate::video::capture::y_tiled;
use crate::video::packets::{
    CODED, OLD, PITCH, TARGET, about, buffers, mode, model, submit, surface,
};
use genxml::gen8::mfd::*;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_mpeg2::*;
use genxml::gen8::mfx_registers::{MfdErrorStatus, MfxMbCount};
use genxml::gen8::mi::MiStoreRegisterMem;
use genxml_cases::{Model, at, minus_one, packets, push, u};
use genxml_codecs::mpeg2::{Block, Macroblock, Motion, Prediction, Structure};

const OTHER: u64 = 0x41_0000;
const REGISTERS: u64 = 0x43_0000;

/// A picture of 2 x 2 macroblocks.
pub struct Scene {
    pub mode: MfxPipeModeSelect,
    pub bases: MfxIndObjBaseAddrState,
    pub buffers: MfxPipeBufAddrState,
    pub state: MfxMpeg2PicState,
    /// Column, row, and macroblock.
    pub macroblocks: Vec<((usize, usize), Macroblock)>,
    /// Changes inline data.
    pub change: fn(&mut MfdItObjectMpeg2InlineData),
}

pub fn it_mode() -> MfxPipeModeSelect {
    MfxPipeModeSelect { decoder_mode_select: MfxPipeModeSelectDecoderModeSelect::IT_MODE, ..mode() }
}

/// A picture of a type: 1 I, 2 P, 3 B.
pub fn state(kind: u64) -> MfxMpeg2PicState {
    MfxMpeg2PicState {
        picture_structure: MfxMpeg2PicStatePictureStructure::MPEG_FRAME,
        picture_coding_type: MfxMpeg2PicStatePictureCodingType::from_bits(kind),
        frame_width_in_mbs: minus_one(2),
        frame_height_in_mbs: minus_one(2),
        slice_concealment_disable: true,
        ..MfxMpeg2PicState::new()
    }
}

/// A macroblock whose blocks have these DC coefficients; 0 for none if not intra.
pub fn flat(intra: bool, dc: [i32; 6]) -> Macroblock {
    let mut macroblock = Macroblock { intra, ..Macroblock::EMPTY };
    for (index, dc) in dc.into_iter().enumerate() {
        macroblock.blocks[index].set(0, dc);
        if dc != 0 {
            macroblock.pattern |= 32 >> index;
        }
    }
    macroblock
}

/// A forward prediction from a frame.
pub fn predicted(vector: [i32; 2], dc: [i32; 6]) -> Macroblock {
    let mut motion = Motion { directions: [true, false], ..Motion::default() };
    motion.vectors[0][0] = vector;
    Macroblock { motion, ..flat(false, dc) }
}

/// The four macroblocks of an I picture: luma 10, 20, 30, 40.
fn intra() -> Vec<((usize, usize), Macroblock)> {
    let luma = |value: i32| flat(true, [8 * value, 8 * value, 8 * value, 8 * value, 720, 480]);
    vec![((0, 0), luma(10)), ((1, 0), luma(20)), ((0, 1), luma(30)), ((1, 1), luma(40))]
}

impl Scene {
    pub fn intra() -> Scene {
        Scene {
            mode: it_mode(),
            bases: MfxIndObjBaseAddrState {
                mfd_indirect_it_coeff_object_address: at(CODED),
                ..MfxIndObjBaseAddrState::new()
            },
            buffers: buffers(TARGET, 0),
            state: state(1),
            macroblocks: intra(),
            change: |_| {},
        }
    }

    /// A picture that is predicted from the one at [`TARGET`].
    pub fn predicted(macroblocks: Vec<((usize, usize), Macroblock)>) -> Scene {
        Scene { buffers: buffers(OTHER, TARGET), state: state(2), macroblocks, ..Scene::intra() }
    }

    /// Writes the coefficients, and returns the batch.
    pub fn batch(&self, model: &mut Model) -> Vec<u32> {
        let mut batch = packets![self.mode, surface(), self.buffers, self.bases, self.state];
        let structure = match self.state.picture_structure {
            MfxMpeg2PicStatePictureStructure::MPEG_FRAME => Structure::Frame,
            MfxMpeg2PicStatePictureStructure::MPEG_TOP_FIELD => Structure::Top,
            _ => Structure::Bottom,
        };
        let mut coefficients = Vec::new();
        for (position, macroblock) in &self.macroblocks {
            let start = coefficients.len();
            host::blocks(macroblock, &mut coefficients);
            let length = 4 * (coefficients.len() - start);
            let mut inline = host::inline(structure, *position, macroblock);
            (self.change)(&mut inline);
            host::object(&inline.pack(), (4 * start as u64, length), &mut batch);
        }
        model.put(CODED, &coefficients);
        for (offset, index) in [(MfxMbCount::OFFSET, 0), (MfdErrorStatus::OFFSET, 1)] {
            push(
                &mut batch,
                &MiStoreRegisterMem {
                    register_address: at(offset.into()),
                    memory_address: at(REGISTERS + 4 * index),
                    ..MiStoreRegisterMem::new()
                },
            );
        }
        batch
    }

    /// Decodes the picture.
    pub fn run(&self, model: &mut Model) {
        let batch = self.batch(model);
        submit(model, &batch).unwrap();
    }

    /// The name of what the batch's fault is about.
    fn fault(&self) -> String {
        let mut model = model();
        let batch = self.batch(&mut model);
        about(submit(&mut model, &batch).unwrap_err())
    }
}

/// Luma samples of a column from top to bottom.
fn column(model: &mut Model, address: u64, x: usize) -> Vec<u8> {
    let surface = model.read(address, 32 * PITCH);
    (0..32).map(|y| surface[y_tiled(x, y, PITCH)]).collect()
}

fn rows(parts: &[(u8, usize)]) -> Vec<u8> {
    parts.iter().flat_map(|&(value, count)| std::iter::repeat_n(value, count)).collect()
}

/// An I picture, then a copy with a residual, from 16 samples to the right.
#[test]
fn intra_and_predicted() {
    let mut model = model();
    Scene::intra().run(&mut model);
    assert_eq!(model.get(REGISTERS, 2), [4, 0]);
    assert_eq!(column(&mut model, TARGET, 0), rows(&[(10, 16), (30, 16)]));
    assert_eq!(column(&mut model, TARGET, 31), rows(&[(20, 16), (40, 16)]));
    let chroma = model.read(TARGET + 4096, 4096);
    assert_eq!([0, 1].map(|at| chroma[y_tiled(at, 15, PITCH)]), [90, 60]);

    let residual = [16, 0, -8, 0, 80, 0];
    let picture = Scene::predicted(vec![((0, 0), predicted([32, 0], residual))]);
    picture.run(&mut model);
    assert_eq!(model.get(REGISTERS, 2), [1, 0]);
    assert_eq!(column(&mut model, OTHER, 0), rows(&[(22, 8), (19, 8), (OLD, 16)]));
    assert_eq!(column(&mut model, OTHER, 15), rows(&[(20, 16), (OLD, 16)]));
    let chroma = model.read(OTHER + 4096, 4096);
    assert_eq!([0, 1].map(|at| chroma[y_tiled(at, 0, PITCH)]), [100, 60]);
}

/// The rows of a field transform alternate.
#[test]
fn field_transform() {
    let mut model = model();
    let macroblock = Macroblock { field_dct: true, ..flat(true, [80, 80, 160, 160, 720, 720]) };
    Scene { macroblocks: vec![((1, 1), macroblock)], ..Scene::intra() }.run(&mut model);
    let want = [rows(&[(OLD, 16)]), [10, 20].repeat(8)].concat();
    assert_eq!(column(&mut model, TARGET, 16), want);
}

/// Vectors of fields, with their parities, and both directions.
#[test]
fn predictions_of_fields() {
    let mut model = model();
    // Top field 10, bottom field 20.
    let macroblock = Macroblock { field_dct: true, ..flat(true, [80, 80, 160, 160, 720, 720]) };
    let all = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|at| (at, macroblock.clone())).to_vec();
    Scene { macroblocks: all, ..Scene::intra() }.run(&mut model);
    let from = |prediction, bottom| Macroblock {
        motion: Motion { prediction, bottom, directions: [true, false], ..Motion::default() },
        ..flat(false, [0; 6])
    };
    // The top field from the bottom field, the bottom field from the top one.
    let exchanged = from(Prediction::Field, [[true, false], [false, true]]);
    let mut dual = from(Prediction::DualPrime, Default::default());
    dual.motion.opposite = [[0, 0], [0, 0]];
    let scene = Scene::predicted(vec![((0, 0), exchanged.clone()), ((1, 0), dual)]);
    scene.run(&mut model);
    assert_eq!(column(&mut model, OTHER, 0)[..16], [20, 10].repeat(8));
    assert_eq!(column(&mut model, OTHER, 16)[..16], [15; 16]);

    // Both directions: the mean of 10 or 20 and 20 or 10.
    let mut both = exchanged;
    both.motion.directions = [true, true];
    let buffers = buffers(OTHER, TARGET);
    let scene = Scene { state: state(3), buffers, ..Scene::predicted(vec![((0, 0), both)]) };
    scene.run(&mut model);
    let [first, second] = [(20u16 + 10).div_ceil(2), (10u16 + 20).div_ceil(2)];
    assert_eq!(column(&mut model, OTHER, 0)[..2], [first as u8, second as u8]);
}

/// A field picture in two parts: 16x8 prediction.
#[test]
fn sixteen_by_eight() {
    let mut model = model();
    Scene::intra().run(&mut model);
    let mut macroblock = predicted([0, 0], [0; 6]);
    macroblock.motion.prediction = Prediction::SixteenByEight;
    // The lower half from eight lines further down, which is the second row of macroblocks.
    macroblock.motion.vectors[1][0] = [0, 0];
    macroblock.motion.vectors[0][0] = [32, 16];
    let state = MfxMpeg2PicState {
        picture_structure: MfxMpeg2PicStatePictureStructure::MPEG_TOP_FIELD,
        ..state(2)
    };
    Scene { state, ..Scene::predicted(vec![((0, 0), macroblock)]) }.run(&mut model);
    let got = column(&mut model, OTHER, 0);
    let top: Vec<u8> = got.iter().copied().step_by(2).collect();
    assert_eq!(top, rows(&[(40, 8), (30, 8)]));
    assert!(got.iter().skip(1).step_by(2).all(|&sample| sample == OLD));
}

/// Macroblocks that are missing come from the forward reference, unless that is off.
#[test]
fn missing_macroblocks() {
    let mut model = model();
    Scene::intra().run(&mut model);
    let state = MfxMpeg2PicState { slice_concealment_disable: false, ..state(2) };
    let scene = Scene { state, ..Scene::predicted(vec![((0, 0), predicted([32, 0], [0; 6]))]) };
    scene.run(&mut model);
    assert_eq!(column(&mut model, OTHER, 0), rows(&[(20, 16), (30, 16)]));
    let [count, status] = model.get(REGISTERS, 2)[..] else { unreachable!() };
    let status = MfdErrorStatus::unpack_lossy(&[status]);
    assert_eq!((count, status.concealed_macroblocks.get()), (1, 3));
}

/// Coefficients of any size are saturated, and so are samples.
#[test]
fn saturation() {
    let mut model = model();
    let bright = flat(true, [2047, 2047, 2047, 2047, 1024, 1024]);
    Scene { macroblocks: vec![((0, 0), bright)], ..Scene::intra() }.run(&mut model);
    assert_eq!(column(&mut model, TARGET, 0)[..16], [255; 16]);
    let mut dark = flat(true, [0; 6]);
    for block in &mut dark.blocks {
        *block = Block::ZERO;
        block.set(0, -2048);
    }
    Scene { macroblocks: vec![((0, 0), dark)], ..Scene::intra() }.run(&mut model);
    assert_eq!(column(&mut model, TARGET, 0)[..16], [0; 16]);
}

/// State and macroblocks that contradict themselves, and standards that IT mode does not have.
#[test]
fn faults_name_fields() {
    use MfxPipeModeSelectStandardSelect as Standard;
    type Change = fn(&mut MfdItObjectMpeg2InlineData);
    let standard = |standard_select| Scene {
        mode: MfxPipeModeSelect { standard_select, ..it_mode() },
        ..Scene::intra()
    };
    assert_eq!(standard(Standard::AVC).fault(), "macroblocks of AVC in IT Mode");
    assert_eq!(standard(Standard::VC1).fault(), "macroblocks of VC1 in IT Mode");
    assert_eq!(standard(Standard::JPEG).fault(), "Standard Select");
    let vld = Scene { mode: mode(), ..Scene::intra() };
    assert_eq!(vld.fault(), "Decoder Mode select");
    let codec_select = MfxPipeModeSelectCodecSelect::ENCODE;
    let encode = Scene { mode: MfxPipeModeSelect { codec_select, ..it_mode() }, ..Scene::intra() };
    assert_eq!(encode.fault(), "Codec Select");

    let changes: [(Change, u64, &str); 10] = [
        (|inline| inline.horz_origin = u(2), 1, "HorzOrigin"),
        (|inline| inline.vert_origin = u(2), 1, "VertOrigin"),
        (|inline| inline.motion_type = u(0), 2, "Motion Type"),
        (|inline| inline.motion_type = u(3), 3, "Motion Type"),
        (|inline| inline.macroblock_motion_forward = false, 2, "Macroblock Motion Forward"),
        (|inline| inline.macroblock_motion_backward = true, 2, "Macroblock Motion Backward"),
        (|_| {}, 1, "Macroblock Intra Type"),
        (|inline| inline.coded_block_pattern = u(63), 2, "Indirect IT-COEFF Data Length"),
        (|inline| inline.coded_block_pattern = u(1), 2, "Indirect IT-COEFF Data Length"),
        (
            |inline| {
                inline.macroblock_intra_type =
                    MfdItObjectMpeg2InlineDataMacroblockIntraType::INTRA_MACROBLOCK;
            },
            2,
            "Indirect IT-COEFF Data Length",
        ),
    ];
    for (change, kind, want) in changes {
        let macroblocks = vec![((0, 0), predicted([0, 0], [0; 6]))];
        let scene = Scene { change, state: state(kind), ..Scene::predicted(macroblocks) };
        assert_eq!(scene.fault(), want);
    }
    let field = MfxMpeg2PicState {
        picture_structure: MfxMpeg2PicStatePictureStructure::MPEG_TOP_FIELD,
        ..state(1)
    };
    let below = Scene { state: field, ..Scene::intra() };
    assert_eq!(below.fault(), "VertOrigin");

    // Data up to the bound.
    let bases = MfxIndObjBaseAddrState {
        mfd_indirect_it_coeff_object_upper_bound: at(CODED - 0x1000),
        ..Scene::intra().bases
    };
    assert_eq!(Scene { bases, ..Scene::intra() }.fault(), "Indirect IT-COEFF Data Length");
    let bases = MfxIndObjBaseAddrState {
        mfd_indirect_it_coeff_object_address: at(0x7000_0000),
        ..MfxIndObjBaseAddrState::new()
    };
    let fault = Scene { bases, ..Scene::intra() }.fault();
    assert!(fault.contains("coefficients"), "{fault}");
}

/// Inline data of another length, as other standards have.
#[test]
fn inline_data_of_another_length() {
    let mut batch = Scene { macroblocks: Vec::new(), ..Scene::intra() }.batch(&mut model());
    host::object(&[0; 11], (0, 0), &mut batch);
    assert_eq!(about(submit(&mut model(), &batch).unwrap_err()), "DWord Length");
}
