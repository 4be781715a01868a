//! Captures of MPEG-2 whose slices are parsed as an application does in IT mode.
//!
//! Oracle: FFmpeg's frames of the captures, and the memory that VLD mode writes.

use super::host;
use crate::video::capture::{Capture, Step};
use genxml::engine::EngineId;
use genxml::gen8::VideoPacket;
use genxml::gen8::mfd::MfdMpeg2BsdObject;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_mpeg2::*;
use genxml_cases::{Model, at, minus_one, push};
use genxml_codecs::mpeg2::{self, Parameters, PictureType, Slice, Structure, tables};

/// Batches of IT mode, and their coefficients. No capture maps memory here.
const BATCH: u64 = 0x7000_0000;
const COEFFICIENTS: u64 = 0x7100_0000;
const BYTES: u64 = 0x40_0000;

/// A batch in conversion.
struct Conversion<'a> {
    model: &'a mut Model,
    batch: Vec<u32>,
    coefficients: Vec<u32>,
    state: MfxMpeg2PicState,
    matrices: [[u8; 64]; 2],
    coded: u64,
    /// The decoder of the syntax; a new one for each picture.
    decoder: Option<mpeg2::Picture>,
    macroblocks: usize,
}

/// What an application states about a picture.
fn parameters(state: &MfxMpeg2PicState, matrices: [[u8; 64]; 2]) -> Parameters {
    use MfxMpeg2PicStatePictureCodingType as Kind;
    use MfxMpeg2PicStatePictureStructure as Rows;
    let code = |code: genxml_core::U<4>| code.get() as u8;
    Parameters {
        width: state.frame_width_in_mbs.get() as usize,
        height: state.frame_height_in_mbs.get() as usize,
        picture_type: match state.picture_coding_type {
            Kind::MPEG_I_PICTURE => PictureType::I,
            Kind::MPEG_P_PICTURE => PictureType::P,
            _ => PictureType::B,
        },
        structure: match state.picture_structure {
            Rows::MPEG_TOP_FIELD => Structure::Top,
            Rows::MPEG_BOTTOM_FIELD => Structure::Bottom,
            _ => Structure::Frame,
        },
        f_codes: [
            [code(state.f_code_0_0), code(state.f_code_0_1)],
            [code(state.f_code_1_0), code(state.f_code_1_1)],
        ],
        intra_dc_precision: state.intra_dc_precision.get() as u8,
        top_field_first: state.top_field_first,
        frame_pred_frame_dct: state.frame_prediction_frame_dct,
        concealment_vectors: state.concealment_mv,
        nonlinear_quantiser: state.quantizer_scale_type
            == MfxMpeg2PicStateQuantizerScaleType::MPEG_QSCALE_NONLINEAR,
        intra_vlc_format: state.intra_vlc_format == MfxMpeg2PicStateIntraVlcFormat::TABLE_B_15,
        alternate_scan: state.scan_order == MfxMpeg2PicStateScanOrder::MPEG_ALTERNATE_VERTICAL_SCAN,
        mismatch_control: true,
        conceal: false,
        intra_matrix: matrices[0],
        non_intra_matrix: matrices[1],
    }
}

impl Conversion<'_> {
    /// Converts the packets of a batch up to its end.
    fn run(&mut self, batch: &[u32]) {
        let mut position = 0;
        loop {
            let (packet, length) = VideoPacket::parse(&batch[position..]).unwrap();
            let dwords = &batch[position..][..length];
            position += length;
            match packet {
                VideoPacket::MiBatchBufferEnd(_) => {
                    self.batch.extend(dwords);
                    return;
                }
                VideoPacket::MfxPipeModeSelect(packet) => {
                    self.decoder = None;
                    let decoder_mode_select = MfxPipeModeSelectDecoderModeSelect::IT_MODE;
                    let mode = packet.unpack_lossy();
                    push(&mut self.batch, &MfxPipeModeSelect { decoder_mode_select, ..mode });
                }
                VideoPacket::MfxIndObjBaseAddrState(packet) => {
                    let state = packet.unpack_lossy();
                    self.coded = state.mfx_indirect_bitstream_object_address.get();
                    let state = MfxIndObjBaseAddrState {
                        mfd_indirect_it_coeff_object_address: at(COEFFICIENTS),
                        mfd_indirect_it_coeff_object_upper_bound: at(COEFFICIENTS + BYTES),
                        ..MfxIndObjBaseAddrState::new()
                    };
                    push(&mut self.batch, &state);
                }
                VideoPacket::MfxQmState(packet) => {
                    // The engine must not need them.
                    let state = packet.unpack_lossy();
                    let index = state.avc.bits() as usize;
                    self.matrices[index & 1] =
                        state.forward_quantizer_matrix.map(|entry| entry.get() as u8);
                }
                VideoPacket::MfxMpeg2PicState(packet) => {
                    self.state = packet.unpack_lossy();
                    let field = self.state.picture_structure
                        != MfxMpeg2PicStatePictureStructure::MPEG_FRAME;
                    let rows = rows(&batch[position..]) << u64::from(field);
                    let height = self.state.frame_height_in_mbs.get().max(rows);
                    self.state.frame_height_in_mbs = minus_one(height);
                    // What only the syntax needs is missing.
                    let state = MfxMpeg2PicState {
                        f_code_0_0: Default::default(),
                        f_code_0_1: Default::default(),
                        f_code_1_0: Default::default(),
                        f_code_1_1: Default::default(),
                        intra_dc_precision: Default::default(),
                        scan_order: Default::default(),
                        quantizer_scale_type: Default::default(),
                        intra_vlc_format: Default::default(),
                        concealment_mv: false,
                        ..self.state
                    };
                    push(&mut self.batch, &state);
                }
                VideoPacket::MfdMpeg2BsdObject(packet) => self.slice(&packet.unpack_lossy()),
                _ => self.batch.extend(dwords),
            }
        }
    }

    /// Converts a slice.
    fn slice(&mut self, packet: &MfdMpeg2BsdObject) {
        let length = packet.indirect_bsd_data_length.get() as usize;
        let address = self.coded + packet.indirect_bsd_data_start_address.get();
        let data = self.model.read(address, length);
        let parameters = parameters(&self.state, self.matrices);
        let structure = parameters.structure;
        let inline = &packet.inline_data;
        let slice = Slice {
            row: inline.slice_vertical_position.get() as usize,
            quantiser_scale_code: inline.quantizer_scale_code.get() as u8,
            bit_offset: inline.first_macroblock_bit_offset.get() as usize,
        };
        let (batch, coefficients) = (&mut self.batch, &mut self.coefficients);
        let decoder = self.decoder.get_or_insert_with(|| mpeg2::Picture::new(parameters).unwrap());
        let macroblocks = &mut self.macroblocks;
        decoder.parse(&slice, &data, |_, position, macroblock| {
            let start = coefficients.len();
            host::blocks(macroblock, coefficients);
            let length = 4 * (coefficients.len() - start);
            let inline = host::inline(structure, position, macroblock);
            host::object(&inline.pack(), (4 * start as u64, length), batch);
            *macroblocks += 1;
        });
    }
}

/// The packets of a batch, and of those that it calls.
fn flatten(model: &mut Model, address: u64, out: &mut Vec<u32>) {
    let batch = model.get(address, 0x400);
    let mut position = 0;
    loop {
        let (packet, length) = VideoPacket::parse(&batch[position..]).unwrap();
        let dwords = &batch[position..][..length];
        position += length;
        match packet {
            VideoPacket::MiBatchBufferStart(packet) => {
                flatten(model, packet.unpack_lossy().batch_buffer_start_address.get(), out);
                // The end of the batch that was called.
                out.pop();
            }
            VideoPacket::MiBatchBufferEnd(_) => {
                out.extend(dwords);
                return;
            }
            _ => out.extend(dwords),
        }
    }
}

/// Rows of macroblocks that the slices of the first picture have. i965 states the number of visible
/// rows, and sends one more if the standard has it.
fn rows(batch: &[u32]) -> u64 {
    let (mut position, mut rows) = (0, 0);
    loop {
        let (packet, length) = VideoPacket::parse(&batch[position..]).unwrap();
        position += length;
        match packet {
            VideoPacket::MiBatchBufferEnd(_) | VideoPacket::MfxPipeModeSelect(_) => return rows,
            VideoPacket::MfdMpeg2BsdObject(packet) => {
                let inline = packet.unpack_lossy().inline_data;
                rows = rows.max(inline.slice_vertical_position.get() + 1);
            }
            _ => {}
        }
    }
}

/// Plays a capture in IT mode. Returns its memory and the number of macroblocks.
fn play(capture: &Capture) -> (Vec<u8>, usize) {
    let mut model = capture.model();
    model.map(BATCH, BYTES);
    model.map(COEFFICIENTS, BYTES);
    let mut macroblocks = 0;
    for step in &capture.steps {
        match step {
            Step::Map(..) => {}
            Step::Put(address, bytes) => model.write(*address, bytes),
            Step::Run(address) => {
                let mut batch = Vec::new();
                flatten(&mut model, *address, &mut batch);
                let mut conversion = Conversion {
                    model: &mut model,
                    batch: Vec::new(),
                    coefficients: Vec::new(),
                    state: MfxMpeg2PicState::new(),
                    matrices: [tables::DEFAULT_INTRA_MATRIX, tables::DEFAULT_NON_INTRA_MATRIX],
                    coded: 0,
                    decoder: None,
                    macroblocks: 0,
                };
                conversion.run(&batch);
                let Conversion { batch, coefficients, .. } = conversion;
                macroblocks += conversion.macroblocks;
                model.put(BATCH, &batch);
                model.put(COEFFICIENTS, &coefficients);
                // The field list does not see these long batches.
                model.gpu.submit(model.context, EngineId::Video, BATCH, 0).unwrap();
            }
            Step::Frame(picture, want) => want.check(&picture.read(&mut model)).unwrap(),
        }
    }
    (capture.memory(&mut model), macroblocks)
}

#[test]
fn captures_of_mpeg2_in_it_mode() {
    let names = Capture::names().into_iter().filter(|name| name.starts_with("mpeg2"));
    for name in names {
        let capture = Capture::open(&name);
        let (got, macroblocks) = play(&capture);
        assert!(macroblocks > 10, "{name}");
        let mut model = capture.model();
        assert_eq!(capture.submit(&mut model), 0, "{name}");
        assert!(got == capture.memory(&mut model), "{name}");
    }
}
