//! The syntax of slices and macroblocks (6.2.4, 6.2.5).

use super::macroblock::{Macroblock, reconstruct};
use super::motion::{Motion, Prediction, Predictors};
use super::parameters::{Parameters, PictureType, References, Slice};
use super::picture::Picture;
use super::tables::{BACKWARD, ESCAPE_INCREMENT, FORWARD, INTRA, PATTERN, QUANT};
use super::vlc;
use crate::bits::BitReader;
use crate::frame::{Frame, Structure};

/// Zero bits at the end of the last macroblock that the data may lack, because the packet's length
/// ends at the last byte that is not zero. A motion code, its residual and dmvector end in at most
/// 13 zeros.
const MISSING_ZEROS: usize = 16;

/// State that goes from macroblock to macroblock of a slice.
struct State {
    /// DC predictors of Y, Cb, Cr (7.2.1).
    dc: [i32; 3],
    predictors: Predictors,
    quantiser_scale: i32,
    quantiser_scale_code: u8,
    /// Directions of the last macroblock, which skipped ones of B pictures repeat.
    directions: [bool; 2],
}

impl Picture {
    /// Decodes a slice of `data` into `target`. The slice ends at the next start code prefix, at
    /// the end of the data (trailing zeros may be missing), at the end of the row, or at an error.
    pub fn slice(
        &mut self,
        slice: &Slice,
        data: &[u8],
        references: &References,
        target: &mut Frame,
    ) {
        self.parse(slice, data, |parameters, position, macroblock| {
            reconstruct(parameters, references, target, position, macroblock);
        });
    }

    /// Decodes the syntax of a slice, as [`Picture::slice`] does. `done` receives the column and
    /// row of each macroblock, and the macroblock, skipped ones included.
    pub fn parse(
        &mut self,
        slice: &Slice,
        data: &[u8],
        mut done: impl FnMut(&Parameters, (usize, usize), &Macroblock),
    ) {
        let rows = self.decoded.len() / self.parameters.width;
        if slice.row >= rows {
            self.report.errors += 1;
            return;
        }
        decode(self, slice, data, &mut done);
    }

    /// Reconstructs a macroblock whose syntax the application has decoded, in `target`. `position`
    /// is its column and row. One that is not in the picture counts as an error.
    pub fn macroblock(
        &mut self,
        position: (usize, usize),
        macroblock: &Macroblock,
        references: &References,
        target: &mut Frame,
    ) {
        if position.0 >= self.parameters.width || !self.mark(position) {
            self.report.errors += 1;
            return;
        }
        reconstruct(&self.parameters, references, target, position, macroblock);
    }

    /// Counts a macroblock. False if its row is not in the picture.
    fn mark(&mut self, (column, row): (usize, usize)) -> bool {
        let Some(decoded) = self.decoded.get_mut(row * self.parameters.width + column) else {
            return false;
        };
        *decoded = true;
        self.report.macroblocks += 1;
        true
    }
}

/// Decodes a slice whose row is in the picture.
fn decode(
    picture: &mut Picture,
    slice: &Slice,
    data: &[u8],
    done: &mut impl FnMut(&Parameters, (usize, usize), &Macroblock),
) {
    let mut reader = BitReader::new(data, slice.bit_offset);
    let mut state = State {
        dc: [picture.rules.dc_reset(); 3],
        predictors: Predictors::default(),
        quantiser_scale: picture.rules.quantiser_scale(slice.quantiser_scale_code.max(1)),
        quantiser_scale_code: slice.quantiser_scale_code.max(1),
        directions: [false; 2],
    };
    let width = picture.parameters.width;
    let mut put = |picture: &mut Picture, column| {
        let position = (column, slice.row);
        done(&picture.parameters, position, &picture.scratch);
        picture.mark(position);
    };
    // The column after the last macroblock.
    let mut next = 0;
    // 23 zero bits end a slice: the next start code follows.
    while next < width && reader.peek(23) != 0 {
        let Some(passed) = read_increment(&mut reader, width - next) else {
            picture.report.errors += 1;
            return;
        };
        // The first increment gives the column; later ones skip macroblocks.
        if next > 0 && passed > 0 {
            if skip(picture, &mut state) {
                (next..next + passed).for_each(|column| put(picture, column));
            } else {
                picture.report.errors += 1;
            }
        }
        let read = macroblock(picture, &mut reader, &mut state);
        if read.is_none() || reader.overrun() > MISSING_ZEROS {
            picture.report.errors += 1;
            return;
        }
        put(picture, next + passed);
        next += passed + 1;
    }
}

/// Reads macroblock_escape and macroblock_address_increment. Returns the number of macroblocks
/// that are passed over, which must be less than `limit`.
fn read_increment(reader: &mut BitReader, limit: usize) -> Option<usize> {
    let mut passed = 0;
    loop {
        let value = vlc::INCREMENTS.read(reader)?;
        if value != ESCAPE_INCREMENT {
            passed += usize::from(value) - 1;
            return (passed < limit).then_some(passed);
        }
        passed += 33;
        if passed >= limit {
            return None;
        }
    }
}

/// Sets up a skipped macroblock (7.6.6). Returns false if the picture cannot have one.
fn skip(picture: &mut Picture, state: &mut State) -> bool {
    let mut motion = Motion::still(picture.parameters.structure);
    state.dc = [picture.rules.dc_reset(); 3];
    match picture.parameters.picture_type {
        PictureType::I => return false,
        PictureType::P => {
            state.predictors = Predictors::default();
            motion.directions = [true, false];
        }
        PictureType::B => {
            motion.directions = state.directions;
            motion.vectors[0] = state.predictors.0[0];
            // No macroblock may be skipped after an intra one.
            if motion.directions == [false; 2] {
                return false;
            }
        }
    }
    let macroblock = &mut picture.scratch;
    macroblock.intra = false;
    macroblock.field_dct = false;
    macroblock.motion = motion;
    macroblock.pattern = 0;
    true
}

/// Reads a macroblock after its address. `None` if the data are damaged.
fn macroblock(picture: &mut Picture, reader: &mut BitReader, state: &mut State) -> Option<()> {
    let Picture { parameters, rules, scratch: macroblock, .. } = picture;
    let kind = match parameters.picture_type {
        PictureType::I => vlc::TYPES_I.read(reader)?,
        PictureType::P => vlc::TYPES_P.read(reader)?,
        PictureType::B => vlc::TYPES_B.read(reader)?,
    };
    let is = |flag: u8| kind & flag != 0;
    let intra = is(INTRA);
    let frame = parameters.structure == Structure::Frame;
    let choice = frame && !parameters.frame_pred_frame_dct;
    let mut motion = Motion::still(parameters.structure);
    if is(FORWARD | BACKWARD) && (choice || !frame) {
        motion.prediction = match (reader.read(2), frame) {
            (1, _) => Prediction::Field,
            (2, true) => Prediction::Frame,
            (2, false) => Prediction::SixteenByEight,
            // Dual prime has no backward vectors (6.3.17.1).
            (3, _) if !is(BACKWARD) => Prediction::DualPrime,
            _ => return None,
        };
    }
    macroblock.intra = intra;
    macroblock.field_dct = choice && is(INTRA | PATTERN) && reader.flag();
    if is(QUANT) {
        let code = reader.read(5) as u8;
        // Code 0 is forbidden (6.3.17).
        state.quantiser_scale_code = (code != 0).then_some(code)?;
        state.quantiser_scale = rules.quantiser_scale(code);
    }
    macroblock.quantiser_scale_code = state.quantiser_scale_code;
    motion.directions = [is(FORWARD), is(BACKWARD)];
    if !intra && motion.directions == [false; 2] {
        // Only P pictures have this type: zero vectors (7.6.3.5).
        state.predictors = Predictors::default();
        motion.directions = [true, false];
    } else if intra && parameters.concealment_vectors {
        state.predictors.read(reader, parameters, 0, &mut motion)?;
        // A marker bit that keeps start codes away. Its value does not matter.
        reader.skip(1);
    } else if intra {
        state.predictors = Predictors::default();
    } else {
        for direction in 0..2 {
            if motion.directions[direction] {
                state.predictors.read(reader, parameters, direction, &mut motion)?;
            }
        }
    }
    state.directions = motion.directions;
    macroblock.motion = motion;
    macroblock.pattern = match (is(PATTERN), intra) {
        (true, _) => vlc::PATTERNS.read(reader)?,
        (false, true) => 63,
        (false, false) => 0,
    };
    if !intra {
        state.dc = [rules.dc_reset(); 3];
    }
    for (index, block) in macroblock.blocks.iter_mut().enumerate() {
        if macroblock.pattern & 32 >> index == 0 {
            continue;
        }
        if intra {
            let dc = (index < 4, &mut state.dc[index.saturating_sub(3)]);
            rules.read_intra(reader, dc, state.quantiser_scale, block)?;
        } else {
            rules.read_non_intra(reader, state.quantiser_scale, block)?;
        }
    }
    Some(())
}
