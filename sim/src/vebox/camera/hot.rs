//! Hot pixels: pixels that differ from their neighbours of the same colour.

use super::pattern::mirror;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A neighbour counts as different if the difference is above this.
    pub threshold: u16,
    /// A pixel is hot if more neighbours differ than this.
    pub count: usize,
}

/// The samples of a Bayer pattern without hot pixels (assumption `VEBOX_HOT_PIXELS_ARE_MEDIANS`).
pub fn filter(settings: &Settings, samples: &[u16], width: usize) -> Vec<u16> {
    let height = samples.len() / width;
    let mut result = samples.to_vec();
    for (index, sample) in result.iter_mut().enumerate() {
        let (x, y) = (index % width, index / width);
        let columns = [-2, 0, 2].map(|step| mirror(x, step, width));
        let rows = [-2, 0, 2].map(|step| mirror(y, step, height));
        let at = |column: usize, row: usize| samples[rows[row] * width + columns[column]];
        let mut around =
            [at(0, 0), at(1, 0), at(2, 0), at(0, 1), at(2, 1), at(0, 2), at(1, 2), at(2, 2)];
        let differing =
            around.iter().filter(|other| other.abs_diff(*sample) > settings.threshold).count();
        if differing > settings.count {
            around.sort_unstable();
            *sample = around[3].midpoint(around[4]);
        }
    }
    result
}
