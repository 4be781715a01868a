//! Image enhancement and colour processing: functions of rows of pixels, in their order
//! (digests/video.md 12.2).
//!
//! Each function is in a file of its own. [`Chain::apply`] is the order. Functions are numbers in,
//! numbers out: 12 bits for each sample.

pub mod ace;
pub mod compression;
pub mod csc;
pub mod curve;
pub mod front;
pub mod gamut;
pub mod number;
pub mod procamp;
pub mod skin;
pub mod tcc;

use super::convert::Row;
use compression::Compression;
use csc::Csc;
use curve::Curve;
use front::Front;
use gamut::Expansion;
use genxml::gen8::vebox_states::{VeboxAlphaAoiStateAlphaFromStateSelect as From, VeboxIecpState};
use procamp::ProcAmp;
use skin::Skin;
use std::ops::Range;
use tcc::Tcc;

/// The functions that are enabled.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// The end of the camera pipe.
    pub front: Option<Front>,
    skin: Option<Skin>,
    /// Gamut compression.
    pub compression: Option<Compression>,
    contrast: Option<Curve>,
    colors: Option<Tcc>,
    procamp: Option<ProcAmp>,
    csc: Option<Csc>,
    /// Gamut expansion.
    pub expansion: Option<Expansion>,
    /// Y, U and V go to G, B and R.
    swap: bool,
    /// Alpha that the state gives.
    alpha: Option<u16>,
}

impl Chain {
    /// The functions that a state enables. The camera pipe has a switch of its own, and the
    /// gamut has a state of its own. `has_alpha` is
    /// true if the input has alpha.
    pub fn new(state: &VeboxIecpState, has_alpha: bool) -> Chain {
        let alpha = &state.alpha_aoi_state;
        let given = alpha.alpha_from_state_select == From::ALPHA_IS_TAKEN_FROM_STATE;
        Chain {
            front: None,
            skin: Skin::new(&state.std_ste_state),
            compression: None,
            contrast: ace::curve(&state.ace_lace_state),
            colors: Tcc::new(&state.tcc_state),
            procamp: ProcAmp::new(&state.procamp_state),
            csc: Csc::new(&state.csc_state),
            expansion: None,
            swap: state.csc_state.yuv_channel_swap,
            alpha: (given && !has_alpha).then(|| alpha.color_pipe_alpha.get() as u16),
        }
    }

    /// Applies all functions to a row. Pixels of `counted` are counted before any function.
    pub fn apply(&self, row: &mut Row, counted: Range<usize>, luma: &mut Luma) {
        if let Some(alpha) = self.alpha {
            row.alpha.fill(alpha);
        }
        if let Some(front) = &self.front {
            each_pixel(&mut row.planes, |pixel| front.pixel(pixel));
        }
        if let Some(skin) = &self.skin {
            self.detect(skin, row, counted.clone(), luma);
        } else {
            luma.count(&row.planes[0][counted.clone()], None);
        }
        if let Some(compression) = &self.compression {
            let mut column = 0;
            each_pixel(&mut row.planes, |pixel| {
                let (result, outside) = compression.pixel(pixel);
                if let Some(distance) = outside.filter(|_| counted.contains(&column)) {
                    luma.outside += 1;
                    luma.distance = luma.distance.saturating_add(distance);
                }
                column += 1;
                result
            });
        }
        let [first, second, third] = &mut row.planes;
        if let Some(curve) = &self.contrast {
            first.iter_mut().for_each(|y| *y = curve.at(*y));
        }
        if let Some(colors) = &self.colors {
            for ((u, v), skin) in second.iter_mut().zip(&mut *third).zip(&row.skin) {
                (*u, *v) = colors.chroma(*u, *v, *skin);
            }
        }
        if let Some(procamp) = &self.procamp {
            first.iter_mut().for_each(|y| *y = procamp.luma(*y));
            for (u, v) in second.iter_mut().zip(&mut *third) {
                (*u, *v) = procamp.chroma(*u, *v);
            }
        }
        if let Some(csc) = &self.csc {
            each_pixel(&mut row.planes, |pixel| csc.pixel(pixel));
        }
        if let Some(expansion) = &self.expansion {
            each_pixel(&mut row.planes, |pixel| expansion.pixel(pixel));
        }
        if self.swap {
            row.planes.rotate_right(1);
        }
    }

    /// Detects and enhances skin in a row.
    fn detect(&self, skin: &Skin, row: &mut Row, counted: Range<usize>, luma: &mut Luma) {
        let Row { planes, skin: scores, .. } = row;
        let [first, second, third] = &mut *planes;
        for ((y, (u, v)), score) in first.iter().zip(second.iter().zip(&*third)).zip(&mut *scores) {
            *score = skin.score([*y, *u, *v]);
        }
        luma.count(&first[counted.clone()], Some(&scores[counted]));
        if skin.show {
            for (at, score) in scores.iter().enumerate() {
                [first[at], second[at], third[at]] = Skin::shown(*score);
            }
            return;
        }
        for (at, score) in scores.iter().enumerate() {
            [second[at], third[at]] = skin.enhanced([first[at], second[at], third[at]], *score);
        }
    }
}

/// Replaces each pixel of a row.
fn each_pixel([first, second, third]: &mut [Vec<u16>; 3], mut f: impl FnMut([u16; 3]) -> [u16; 3]) {
    for ((first, second), third) in first.iter_mut().zip(second).zip(third) {
        [*first, *second, *third] = f([*first, *second, *third]);
    }
}

/// What is counted of luma before the functions change it, and of the gamut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Luma {
    /// Pixels by the upper 8 bits of luma.
    pub histogram: [u32; 256],
    /// Least and greatest luma in 10 bits.
    pub range: Option<[u16; 2]>,
    /// Pixels whose skin score is above the threshold.
    pub skin: u32,
    /// Pixels outside the gamut, if it is compressed.
    pub outside: u32,
    /// Sum of their distances from the gamut.
    pub distance: u32,
    /// The threshold. With skin detection, only pixels above it count in `range`.
    pub threshold: u8,
}

impl Luma {
    /// No pixels yet.
    pub fn new(threshold: u8) -> Luma {
        Luma { histogram: [0; 256], range: None, skin: 0, outside: 0, distance: 0, threshold }
    }

    /// Counts pixels with their skin scores.
    fn count(&mut self, luma: &[u16], scores: Option<&[u8]>) {
        for &y in luma {
            self.histogram[usize::from(y >> 4) & 0xff] += 1;
        }
        let mut range = |y: u16| {
            let ten = y >> 2;
            let [least, most] = self.range.unwrap_or([ten, ten]);
            self.range = Some([least.min(ten), most.max(ten)]);
        };
        match scores {
            None => {
                luma.iter().min().copied().into_iter().for_each(&mut range);
                luma.iter().max().copied().into_iter().for_each(&mut range);
            }
            Some(scores) => {
                for (y, _) in luma.iter().zip(scores).filter(|(_, s)| **s > self.threshold) {
                    range(*y);
                    self.skin += 1;
                }
            }
        }
    }
}
