//! The picture between its slices: what they share, and the concealment at its end.

use super::block::BlockRules;
use super::macroblock::{Macroblock, reconstruct};
use super::motion::Motion;
use super::parameters::{Error, Parameters, References};
use crate::Report;
use crate::frame::Frame;

/// A picture whose slices are being decoded.
#[derive(Clone, Debug)]
pub struct Picture {
    pub(super) parameters: Parameters,
    pub(super) rules: BlockRules,
    /// The macroblock being decoded; here so that its blocks are not set up again for each slice.
    pub(super) scratch: Box<Macroblock>,
    /// Macroblocks in raster order that were decoded.
    pub(super) decoded: Vec<bool>,
    pub(super) report: Report,
}

impl Picture {
    /// Starts a picture.
    pub fn new(parameters: Parameters) -> Result<Self, Error> {
        let (width, height) = (parameters.width, parameters.height);
        if !(1..=256).contains(&width) || !(1..=256).contains(&height) {
            return Err(Error::Size(width, height));
        }
        let rows = height.div_ceil(parameters.structure.step());
        Ok(Picture {
            rules: BlockRules::new(&parameters)?,
            parameters,
            scratch: Box::new(Macroblock::EMPTY),
            decoded: vec![false; width * rows],
            report: Report::default(),
        })
    }

    /// Starts a picture whose blocks are not dequantised, for [`Picture::parse`]: they hold the
    /// levels in raster order. The first level of an intra block is relative to the middle of the
    /// range. Matrices and mismatch control of `parameters` are ignored.
    pub fn levels(parameters: Parameters) -> Result<Self, Error> {
        Ok(Picture { rules: BlockRules::levels(&parameters)?, ..Picture::new(parameters)? })
    }

    /// Ends the picture: conceals macroblocks that were not decoded, if that is on.
    pub fn finish(mut self, references: &References, target: &mut Frame) -> Report {
        if self.parameters.conceal {
            let missing = Macroblock {
                intra: false,
                motion: Motion {
                    directions: [true, false],
                    ..Motion::still(self.parameters.structure)
                },
                ..Macroblock::EMPTY
            };
            let width = self.parameters.width;
            for at in (0..self.decoded.len()).filter(|&at| !self.decoded[at]) {
                let position = (at % width, at / width);
                reconstruct(&self.parameters, references, target, position, &missing);
                self.report.concealed += 1;
            }
        }
        self.report
    }
}
