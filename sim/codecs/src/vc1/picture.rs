//! The picture between its slices: what they share.

use super::compensation::Lut;
use super::macroblock::Macroblock;
use super::parameters::{Error, Parameters};
use crate::Structure;

/// A picture that is being decoded.
#[derive(Clone, Debug)]
pub struct Picture {
    pub(super) parameters: Parameters,
    pub(super) macroblocks: Vec<Macroblock>,
    /// Samples of intra blocks before smoothing, around 0: Y, Cb, Cr.
    pub(super) intra: [Vec<i16>; 3],
    /// Changes of reference samples, of forward and backward reference, of top and bottom field.
    pub(super) luts: [[Lut; 2]; 2],
}

impl Picture {
    /// Starts a picture.
    pub fn new(parameters: Parameters) -> Result<Self, Error> {
        parameters.check()?;
        let count = parameters.width_in_mbs * parameters.height_in_mbs;
        let intra = |samples: usize| vec![0; samples * count];
        Ok(Picture {
            macroblocks: vec![Macroblock::default(); count],
            intra: [intra(256), intra(64), intra(64)],
            luts: [
                Lut::of_reference(&parameters, &parameters.forward),
                Lut::of_reference(&parameters, &parameters.backward),
            ],
            parameters,
        })
    }

    /// The parameters that [`Picture::new`] got.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The rows of the frame that the picture consists of.
    pub fn structure(&self) -> Structure {
        match (self.parameters.coding.is_field(), self.parameters.field()) {
            (false, _) => Structure::Frame,
            (true, 0) => Structure::Top,
            (true, _) => Structure::Bottom,
        }
    }
}
