//! Noise estimates of blocks (BNE), and of the frame (GNE) (digests/video.md 12.6).

use genxml_codecs::Plane;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// A pixel is at an edge if its gradient is this or more.
    pub edge: u32,
    /// A pixel has an estimate only if its distances from the median differ by less than this.
    pub noise: u32,
    /// Rows of a block: 4 with deinterlacing, otherwise 8.
    pub rows: usize,
}

/// The estimate of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The sum of the estimates of blocks.
    pub sum: u32,
    /// Blocks that have one.
    pub count: u32,
}

/// The estimate of a plane. Blocks at the edge do not count (assumption
/// `VEBOX_STATISTICS_OF_EDGES`).
pub fn estimate(thresholds: &Thresholds, plane: &Plane) -> Estimate {
    let mut estimate = Estimate::default();
    let rows = thresholds.rows;
    for top in (rows..plane.height.saturating_sub(rows)).step_by(rows) {
        for left in (16..plane.width.saturating_sub(16)).step_by(16) {
            let noise = block(thresholds, plane, (left, top));
            if let Some(noise) = noise {
                estimate.sum += noise;
                estimate.count += 1;
            }
        }
    }
    estimate
}

/// The smallest estimate of the pixels of a block. `None` if no pixel has one.
fn block(thresholds: &Thresholds, plane: &Plane, (left, top): (usize, usize)) -> Option<u32> {
    let mut least = None;
    for y in top..top + thresholds.rows {
        for x in left..left + 16 {
            let row = |y: usize| -> [u8; 3] {
                let start = y * plane.width + x - 1;
                [plane.data[start], plane.data[start + 1], plane.data[start + 2]]
            };
            let Some(noise) = pixel(thresholds, [row(y - 1), row(y), row(y + 1)]) else {
                continue;
            };
            if noise == 0 {
                return Some(0);
            }
            least = Some(least.map_or(noise, |least: u32| least.min(noise)));
        }
    }
    least
}

/// The estimate of a pixel and its neighbours: distances from their median. `None` at an
/// edge or if the pixel is too noisy.
fn pixel(thresholds: &Thresholds, rows: [[u8; 3]; 3]) -> Option<u32> {
    let [above, middle, below] = rows.map(|row| row.map(i32::from));
    let column = |x: usize| above[x] + 2 * middle[x] + below[x];
    let line = |row: [i32; 3]| row[0] + 2 * row[1] + row[2];
    let edge = (column(2) - column(0)).unsigned_abs() + (line(below) - line(above)).unsigned_abs();
    if edge >> 3 >= thresholds.edge {
        return None;
    }
    let mut sorted = [0; 9];
    sorted.copy_from_slice(rows.as_flattened());
    sorted.sort_unstable();
    let distances = sorted.iter().map(|sample| u32::from(sample.abs_diff(sorted[4])));
    let (least, most) = (distances.clone().min()?, distances.clone().max()?);
    (most - least < thresholds.noise).then(|| distances.sum::<u32>().min(254))
}

#[cfg(test)]
mod tests {
    use super::{Estimate, Thresholds, estimate, pixel};
    use genxml_codecs::Plane;

    const THRESHOLDS: Thresholds = Thresholds { edge: 1, noise: 20, rows: 8 };

    #[test]
    fn flat_planes_have_no_noise() {
        let plane = Plane::new(64, 32, 100);
        // Two of four blocks across and two of four down touch no edge.
        assert_eq!(estimate(&THRESHOLDS, &plane), Estimate { sum: 0, count: 4 });
    }

    /// Oracle: the distances of a checkerboard from its median: four of nine are 6.
    #[test]
    fn distances_from_the_median() {
        assert_eq!(pixel(&THRESHOLDS, [[10, 16, 10], [16, 10, 16], [10, 16, 10]]), Some(24));
        assert_eq!(pixel(&THRESHOLDS, [[10, 10, 90], [10, 10, 90], [10, 10, 90]]), None);
        assert_eq!(pixel(&THRESHOLDS, [[10, 60, 10], [60, 10, 60], [10, 60, 10]]), None);
    }
}
