//! The syntax of MPEG-2 written as bits. It takes codes from the tables of the standard, and keeps
//! predictors of its own.

use crate::bits::BitWriter;
use genxml_codecs::mpeg2::{
    Motion, Parameters, PictureType, Prediction, Structure, Vector, tables,
};
use genxml_codecs::zigzag::ZIGZAG_8X8;

impl BitWriter {
    /// The bits of `text`.
    pub fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.flag(byte == b'1');
        }
    }

    /// The code of `value` in `table`.
    pub fn entry(&mut self, table: &[(&str, u8)], value: u8) {
        self.text(table.iter().find(|row| row.1 == value).unwrap().0);
    }

    /// Zero bits up to a byte, and a start code.
    pub fn start(&mut self, code: u8) {
        self.align(false);
        self.bytes.extend([0, 0, 1, code]);
    }
}

/// The sequence header and its extension. `matrices` are those to load.
pub fn sequence(
    writer: &mut BitWriter,
    (width, height): (usize, usize),
    progressive: bool,
    matrices: [Option<&[u8; 64]>; 2],
) {
    writer.start(0xb3);
    writer.put(width as u32, 12);
    writer.put(height as u32, 12);
    // Square samples, 25 frames a second, any rate; a marker bit.
    writer.put(1, 4);
    writer.put(3, 4);
    writer.put(0x3fff, 18);
    writer.put(1, 1);
    writer.put(100, 10);
    writer.put(0, 1);
    load(writer, matrices);
    writer.start(0xb5);
    writer.put(1, 4);
    // Main profile, high level.
    writer.put(0x44, 8);
    writer.flag(progressive);
    // 4:2:0, no more bits of the sizes and the rate, a marker bit.
    writer.put(1, 2);
    writer.put(0, 2 + 2 + 12);
    writer.put(1, 1);
    writer.put(0, 8 + 1 + 2 + 5);
}

/// Flags and matrices.
fn load(writer: &mut BitWriter, matrices: [Option<&[u8; 64]>; 2]) {
    for matrix in matrices {
        writer.flag(matrix.is_some());
        if let Some(matrix) = matrix {
            for at in ZIGZAG_8X8 {
                writer.put(matrix[usize::from(at)].into(), 8);
            }
        }
    }
}

/// The quantisation matrix extension.
pub fn matrices(writer: &mut BitWriter, matrices: [Option<&[u8; 64]>; 2]) {
    writer.start(0xb5);
    writer.put(3, 4);
    load(writer, matrices);
    writer.put(0, 2);
}

/// The header of a closed group of pictures.
pub fn group(writer: &mut BitWriter) {
    writer.start(0xb8);
    // Time 0 with its marker bit; closed, not broken.
    writer.put(1 << 12, 25);
    writer.put(2, 2);
}

/// The picture header and the picture coding extension.
pub fn picture(writer: &mut BitWriter, parameters: &Parameters, number: u32, progressive: bool) {
    writer.start(0);
    writer.put(number, 10);
    let kind = parameters.picture_type;
    writer.put(kind as u32 + 1, 3);
    writer.put(0xffff, 16);
    // full_pel_vector and f_code of MPEG-1.
    if kind != PictureType::I {
        writer.put(7, 4);
    }
    if kind == PictureType::B {
        writer.put(7, 4);
    }
    writer.put(0, 1);
    writer.start(0xb5);
    writer.put(8, 4);
    for code in parameters.f_codes.as_flattened() {
        writer.put((*code).into(), 4);
    }
    writer.put(parameters.intra_dc_precision.into(), 2);
    writer.put(
        match parameters.structure {
            Structure::Top => 1,
            Structure::Bottom => 2,
            Structure::Frame => 3,
        },
        2,
    );
    writer.flag(parameters.top_field_first);
    writer.flag(parameters.frame_pred_frame_dct);
    writer.flag(parameters.concealment_vectors);
    writer.flag(parameters.nonlinear_quantiser);
    writer.flag(parameters.intra_vlc_format);
    writer.flag(parameters.alternate_scan);
    writer.flag(false);
    writer.flag(progressive);
    writer.flag(progressive);
    writer.flag(false);
}

/// The levels of a block in scan order: zeros before a level, and the level.
pub type Levels = Vec<(u8, i32)>;

/// A macroblock to write.
pub struct Macroblock {
    /// Flags of macroblock_type.
    pub kind: u8,
    pub field_dct: bool,
    pub quantiser_scale_code: u8,
    pub motion: Motion,
    /// dmvector.
    pub differential: Vector,
    pub pattern: u8,
    /// DC values, of intra macroblocks.
    pub dc: [i32; 6],
    pub levels: [Levels; 6],
}

/// A slice being written.
pub struct SliceWriter<'a> {
    pub parameters: &'a Parameters,
    pub dc: [i32; 3],
    pub predictors: [[Vector; 2]; 2],
    pub directions: [bool; 2],
    pub quantiser_scale_code: u8,
    /// Macroblocks that the next increment skips.
    pub skipped: usize,
}

impl<'a> SliceWriter<'a> {
    /// Writes the slice header. `column` is that of the first macroblock.
    pub fn new(
        writer: &mut BitWriter,
        parameters: &'a Parameters,
        (column, row): (usize, usize),
        quantiser_scale_code: u8,
        extra: &[u8],
    ) -> Self {
        writer.start(row as u8 + 1);
        writer.put(quantiser_scale_code.into(), 5);
        if !extra.is_empty() {
            // intra_slice_flag, intra_slice 0, reserved bits.
            writer.put(1 << 8, 9);
        }
        for &byte in extra {
            writer.put(1, 1);
            writer.put(byte.into(), 8);
        }
        writer.put(0, 1);
        SliceWriter {
            parameters,
            dc: [Self::dc_reset(parameters); 3],
            predictors: Default::default(),
            directions: [false; 2],
            quantiser_scale_code,
            skipped: column,
        }
    }

    fn dc_reset(parameters: &Parameters) -> i32 {
        128 << parameters.intra_dc_precision
    }

    /// Skips a macroblock.
    pub fn skip(&mut self) {
        self.skipped += 1;
        self.dc = [Self::dc_reset(self.parameters); 3];
        if self.parameters.picture_type == PictureType::P {
            self.predictors = Default::default();
        }
    }

    pub fn macroblock(&mut self, writer: &mut BitWriter, macroblock: &Macroblock) {
        let parameters = self.parameters;
        for _ in 0..self.skipped / 33 {
            writer.entry(&tables::ADDRESS_INCREMENT, tables::ESCAPE_INCREMENT);
        }
        writer.entry(&tables::ADDRESS_INCREMENT, (self.skipped % 33) as u8 + 1);
        self.skipped = 0;
        let kind = macroblock.kind;
        let is = |flag: u8| kind & flag != 0;
        match parameters.picture_type {
            PictureType::I => writer.entry(&tables::MACROBLOCK_TYPE_I, kind),
            PictureType::P => writer.entry(&tables::MACROBLOCK_TYPE_P, kind),
            PictureType::B => writer.entry(&tables::MACROBLOCK_TYPE_B, kind),
        }
        let frame = parameters.structure == Structure::Frame;
        let choice = frame && !parameters.frame_pred_frame_dct;
        if is(tables::FORWARD | tables::BACKWARD) && (choice || !frame) {
            let motion_type = match macroblock.motion.prediction {
                Prediction::Field => 1,
                Prediction::Frame | Prediction::SixteenByEight => 2,
                Prediction::DualPrime => 3,
            };
            writer.put(motion_type, 2);
        }
        if choice && is(tables::INTRA | tables::PATTERN) {
            writer.flag(macroblock.field_dct);
        }
        if is(tables::QUANT) {
            writer.put(macroblock.quantiser_scale_code.into(), 5);
            self.quantiser_scale_code = macroblock.quantiser_scale_code;
        }
        let intra = is(tables::INTRA);
        let concealment = intra && parameters.concealment_vectors;
        if is(tables::FORWARD) || concealment {
            self.vectors(writer, macroblock, 0);
        }
        if is(tables::BACKWARD) {
            self.vectors(writer, macroblock, 1);
        }
        if concealment {
            writer.put(1, 1);
        } else if intra || !is(tables::FORWARD | tables::BACKWARD) {
            self.predictors = Default::default();
        }
        self.directions = [is(tables::FORWARD), is(tables::BACKWARD)];
        if is(tables::PATTERN) {
            writer.entry(&tables::CODED_BLOCK_PATTERN, macroblock.pattern);
        }
        if !intra {
            self.dc = [Self::dc_reset(parameters); 3];
        }
        for block in (0..6).filter(|block| macroblock.pattern & 32 >> block != 0) {
            self.block(writer, macroblock, block);
        }
    }

    fn vectors(&mut self, writer: &mut BitWriter, macroblock: &Macroblock, direction: usize) {
        let motion = &macroblock.motion;
        let frame = self.parameters.structure == Structure::Frame;
        let prediction = motion.prediction;
        let dual = prediction == Prediction::DualPrime;
        let two =
            prediction == Prediction::SixteenByEight || prediction == Prediction::Field && frame;
        for number in 0..if two { 2 } else { 1 } {
            if prediction != Prediction::Frame && !dual {
                writer.flag(motion.bottom[number][direction]);
            }
            for component in 0..2 {
                let unit =
                    if component == 1 && frame && prediction != Prediction::Frame { 2 } else { 1 };
                let vector = motion.vectors[number][direction][component];
                let predictor = &mut self.predictors[number][direction][component];
                let size = u32::from(self.parameters.f_codes[direction][component]) - 1;
                put_vector(writer, size, vector - predictor.div_euclid(unit));
                *predictor = vector * unit;
                if dual {
                    writer.text(match macroblock.differential[component] {
                        0 => "0",
                        1 => "10",
                        _ => "11",
                    });
                }
            }
        }
        if !two {
            self.predictors[1][direction] = self.predictors[0][direction];
        }
    }

    fn block(&mut self, writer: &mut BitWriter, macroblock: &Macroblock, block: usize) {
        let intra = macroblock.kind & tables::INTRA != 0;
        if intra {
            let predictor = &mut self.dc[block.saturating_sub(3)];
            let difference = macroblock.dc[block] - *predictor;
            *predictor = macroblock.dc[block];
            let size = 32 - difference.unsigned_abs().leading_zeros();
            let sizes = if block < 4 { &tables::DC_SIZE_LUMA } else { &tables::DC_SIZE_CHROMA };
            writer.entry(sizes, size as u8);
            writer.put((difference - i32::from(difference < 0)) as u32, size);
        }
        let table = usize::from(intra && self.parameters.intra_vlc_format);
        for (index, &(run, level)) in macroblock.levels[block].iter().enumerate() {
            let magnitude = level.unsigned_abs();
            let row = tables::COEFFICIENTS
                .iter()
                .find(|row| row.0 == run && u32::from(row.1) == magnitude);
            match row {
                _ if !intra && index == 0 && run == 0 && level.abs() == 1 => writer.text("1"),
                Some(row) => writer.text(row.2[table]),
                None => {
                    writer.text(tables::ESCAPE_COEFFICIENT);
                    writer.put(run.into(), 6);
                    writer.put(level as u32, 12);
                    continue;
                }
            }
            writer.flag(level < 0);
        }
        writer.text(tables::END_OF_BLOCK[table]);
    }
}

/// motion_code and motion_residual of a difference, taken modulo the range of vectors.
fn put_vector(writer: &mut BitWriter, size: u32, difference: i32) {
    let high = 16 << size;
    let difference = (difference + high).rem_euclid(2 * high) - high;
    let magnitude = difference.unsigned_abs();
    let code = magnitude.div_ceil(1 << size);
    writer.entry(&tables::MOTION_CODE, code as u8);
    if code > 0 {
        writer.flag(difference < 0);
        writer.put(magnitude - 1, size);
    }
}
