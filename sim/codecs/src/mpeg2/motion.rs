//! Motion vectors: their syntax (6.2.5.2) and their prediction (7.6.3).

use super::codes;
use super::parameters::Parameters;
use super::vlc;
use crate::bits::{BitReader, BitWriter};
use crate::frame::Structure;

/// A motion vector: horizontal, vertical; in half samples of the picture or field that it points
/// into.
pub type Vector = [i32; 2];

/// How a macroblock is predicted (tables 6-17 and 6-18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prediction {
    /// One vector for all rows, from a frame. Frame pictures only.
    #[default]
    Frame,
    /// From fields: in a frame picture a vector for each field of the macroblock, in a field
    /// picture one for all rows.
    Field,
    /// A vector for the upper half and one for the lower half. Field pictures only.
    SixteenByEight,
    /// The mean of predictions from both parities, one of the vectors derived from the other.
    /// P pictures only.
    DualPrime,
}

/// The motion of a macroblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Motion {
    /// How the vectors are used.
    pub prediction: Prediction,
    /// Forward and backward prediction. Both give the mean.
    pub directions: [bool; 2],
    /// Vectors by number (field of the macroblock, or half) and direction.
    pub vectors: [[Vector; 2]; 2],
    /// motion_vertical_field_select by number and direction: true for the bottom field.
    pub bottom: [[bool; 2]; 2],
    /// For dual prime: the vectors into the field of the other parity, by field of the macroblock.
    /// Field pictures use the first.
    pub opposite: [Vector; 2],
}

/// What the vectors of one direction consist of (6.2.5.2).
struct Syntax {
    /// Number of vectors.
    count: usize,
    /// They point into fields.
    from_field: bool,
    /// 1 for vectors into fields of a frame picture, which count lines of the field (7.6.3.1).
    halve: u32,
}

impl Syntax {
    fn of(prediction: Prediction, parameters: &Parameters) -> Self {
        let field_picture = parameters.structure.is_field();
        let count = match (prediction, field_picture) {
            (Prediction::Field, false) | (Prediction::SixteenByEight, _) => 2,
            _ => 1,
        };
        let from_field = prediction != Prediction::Frame;
        Syntax { count, from_field, halve: u32::from(from_field && !field_picture) }
    }
}

/// The predictors of motion vectors (7.6.3), by number, direction and component. Vertical
/// components are in lines of the picture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Predictors(pub(super) [[Vector; 2]; 2]);

impl Predictors {
    /// Reads the vectors of one direction: motion_vectors(s).
    pub(super) fn read(
        &mut self,
        reader: &mut BitReader,
        parameters: &Parameters,
        direction: usize,
        motion: &mut Motion,
    ) -> Option<()> {
        let Syntax { count, from_field, halve } = Syntax::of(motion.prediction, parameters);
        let dual = motion.prediction == Prediction::DualPrime;
        let f_codes = parameters.f_codes[direction];
        let mut differential = [0; 2];
        for number in 0..count {
            if from_field && !dual {
                motion.bottom[number][direction] = reader.flag();
            }
            let predictor = &mut self.0[number][direction];
            for component in 0..2 {
                let shift = if component == 1 { halve } else { 0 };
                let vector =
                    read_component(reader, f_codes[component], predictor[component] >> shift)?;
                predictor[component] = vector << shift;
                motion.vectors[number][direction][component] = vector;
                if dual {
                    differential[component] = read_differential(reader);
                }
            }
        }
        if count == 1 {
            // Tables 7-9 and 7-10: the second predictor follows the first.
            self.0[1][direction] = self.0[0][direction];
        }
        if dual {
            motion.derive_opposite(parameters, differential);
        }
        Some(())
    }

    /// Writes the vectors of one direction: the reverse of [`Predictors::read`]. `None` for vectors
    /// that the f_codes do not allow, and for dual prime prediction.
    pub(super) fn write(
        &mut self,
        writer: &mut BitWriter,
        parameters: &Parameters,
        direction: usize,
        motion: &Motion,
    ) -> Option<()> {
        if motion.prediction == Prediction::DualPrime {
            return None;
        }
        let Syntax { count, from_field, halve } = Syntax::of(motion.prediction, parameters);
        let f_codes = parameters.f_codes[direction];
        for number in 0..count {
            if from_field {
                writer.put(motion.bottom[number][direction].into(), 1);
            }
            let predictor = &mut self.0[number][direction];
            for component in 0..2 {
                let shift = if component == 1 { halve } else { 0 };
                let vector = motion.vectors[number][direction][component];
                let prediction = predictor[component] >> shift;
                write_component(writer, f_codes[component], prediction, vector)?;
                predictor[component] = vector << shift;
            }
        }
        if count == 1 {
            self.0[1][direction] = self.0[0][direction];
        }
        Some(())
    }
}

/// Writes motion_code and motion_residual: the reverse of [`read_component`].
fn write_component(writer: &mut BitWriter, f_code: u8, prediction: i32, vector: i32) -> Option<()> {
    let size = u32::from(f_code).checked_sub(1).filter(|size| *size < 9)?;
    let high = 16 << size;
    if !(-high..high).contains(&vector) {
        return None;
    }
    let difference = match vector - prediction {
        difference if difference < -high => difference + 2 * high,
        difference if difference >= high => difference - 2 * high,
        difference => difference,
    };
    let Some(rest) = difference.unsigned_abs().checked_sub(1) else {
        codes::put(writer, codes::MOTION[0]);
        return Some(());
    };
    codes::put(writer, codes::MOTION[(rest >> size) as usize + 1]);
    writer.put(u32::from(difference < 0), 1);
    writer.put(rest, size);
    Some(())
}

impl Motion {
    /// Motion with zero vectors from the field of the same parity, or from the frame (7.6.6).
    pub(super) fn still(structure: Structure) -> Self {
        Motion {
            prediction: match structure {
                Structure::Frame => Prediction::Frame,
                Structure::Top | Structure::Bottom => Prediction::Field,
            },
            bottom: [[structure == Structure::Bottom; 2]; 2],
            ..Motion::default()
        }
    }

    /// The vectors of dual prime prediction into the field of the other parity (7.6.3.6).
    fn derive_opposite(&mut self, parameters: &Parameters, differential: Vector) {
        let vector = self.vectors[0][0];
        // The distance of fields scales the vector; fields of other parity are half a line apart.
        let derive = |distance: i32, line: i32| {
            let scale = |component: i32| {
                let product = component * distance;
                (product + i32::from(product > 0)) >> 1
            };
            [scale(vector[0]) + differential[0], scale(vector[1]) + line + differential[1]]
        };
        self.opposite = match (parameters.structure, parameters.top_field_first) {
            (Structure::Frame, true) => [derive(1, -1), derive(3, 1)],
            (Structure::Frame, false) => [derive(3, -1), derive(1, 1)],
            (Structure::Top, _) => [derive(1, -1), [0; 2]],
            (Structure::Bottom, _) => [derive(1, 1), [0; 2]],
        };
    }
}

/// Reads motion_code and motion_residual and adds them to `prediction` (7.6.3.1).
fn read_component(reader: &mut BitReader, f_code: u8, prediction: i32) -> Option<i32> {
    // The standard forbids 0 and reserves what is above 9 (table 6-15: 15 for no vectors).
    if !(1..=9).contains(&f_code) {
        return None;
    }
    let code = i32::from(vlc::MOTION.read(reader)?);
    if code == 0 {
        return Some(prediction);
    }
    let negative = reader.flag();
    let size = u32::from(f_code) - 1;
    let residual = reader.read(size) as i32;
    let magnitude = ((code - 1) << size) + residual + 1;
    let vector = prediction + if negative { -magnitude } else { magnitude };
    let high = 16 << size;
    Some(match vector {
        _ if vector < -high => vector + 2 * high,
        _ if vector >= high => vector - 2 * high,
        _ => vector,
    })
}

/// Reads dmvector (table B.11).
fn read_differential(reader: &mut BitReader) -> i32 {
    if !reader.flag() {
        0
    } else if reader.flag() {
        -1
    } else {
        1
    }
}
