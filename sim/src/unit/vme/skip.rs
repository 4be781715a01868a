//! The skip check (SIC): distortions of predictions that need no vectors, and the forward transform
//! of what remains (digests/video.md 10.7).

use super::costs::{Costs, mode};
use super::decide::{Decision, MOST};
use super::distortion::distortions;
use super::geometry::{Luma, Partition, Vector};
use super::predict::{Patch, blend, predict};
use super::refine::Refinement;
use crate::assumptions::SKIP_TRANSFORM_SUMS_SATURATE_AT;

/// What is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skip {
    /// Four pairs of vectors, one for each 8x8 block, instead of one pair.
    pub quads: bool,
    /// Vectors for both references.
    pub centres: [[Vector; 2]; 4],
    /// Bit 2 n: reference 0 of pair n is used; bit 2 n + 1: reference 1.
    pub enabled: u8,
    /// Number of 4x4 blocks whose distortions are added before they are compared with `success`:
    /// 16, or 4 or 1 for block-based skip checks.
    pub group: usize,
    /// Largest distortion of each group of 4x4 blocks of a skipped macroblock.
    pub success: u32,
    /// The mode cost of the shape is added if the distortion is above `success`.
    pub adds_mode: bool,
    /// The cost of zero vectors is added if the distortion is above `success`.
    pub adds_vectors: bool,
    /// Thresholds of the coefficients of the forward transform, if it is enabled.
    pub thresholds: Option<[u32; 7]>,
    /// The forward transform is of 8x8 blocks.
    pub transform_8x8: bool,
}

/// Result of a skip check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// The candidate.
    pub decision: Decision,
    /// Largest distortion of a group of 4x4 blocks, without costs. `None` if a pair of vectors has
    /// no reference.
    pub raw: Option<u32>,
    /// The macroblock can be skipped.
    pub success: bool,
    /// Coefficients above their thresholds, in the 8x8 blocks.
    pub count: [u8; 4],
    /// By how much they exceed the thresholds.
    pub sum: [u16; 4],
}

/// Checks the skip vectors of a macroblock. `read` fills a patch with pixels of a reference.
///
/// # Errors
/// The errors of `read`.
pub fn check<E>(
    source: &Luma,
    skip: &Skip,
    how: &Refinement,
    costs: &Costs,
    mut read: impl FnMut(usize, &Partition, &mut Patch) -> Result<(), E>,
) -> Result<Checked, E> {
    let mut out = Checked::default();
    out.decision.mode = if skip.quads { 3 } else { 0 };
    let mut predicted = [0; 256];
    for (pair, part) in out.decision.partitions().enumerate() {
        let mut predictions = [[0; 256]; 2];
        let used = [0, 1].map(|reference| skip.enabled >> (2 * pair + reference) & 1 == 1);
        for reference in [0, 1].into_iter().filter(|&reference| used[reference]) {
            let vector = skip.centres[pair][reference];
            let mut patch = Patch::around(vector);
            read(reference, part, &mut patch)?;
            predict(&patch, vector, how.bilinear, part, &mut predictions[reference]);
            for block in part.members() {
                out.decision.vectors[block][reference] = vector;
            }
        }
        let [first, second] = &predictions;
        let direction = match used {
            [true, true] => {
                blend(first, second, how.weight, part, &mut predicted);
                2
            }
            [true, false] => {
                blend(first, first, 0, part, &mut predicted);
                0
            }
            [false, true] => {
                blend(second, second, 0, part, &mut predicted);
                1
            }
            [false, false] => return Ok(Checked { raw: None, ..out }),
        };
        for quad in (0..4).filter(|quad| part.blocks >> (4 * quad) & 1 == 1) {
            out.decision.directions[quad] = direction;
        }
    }
    let blocks = distortions(how.transform, source, &predicted, 16).map(u32::from);
    for part in out.decision.partitions() {
        let distortion: u32 = part.members().map(|block| blocks[block]).sum();
        out.decision.parts[part.first] = distortion.min(MOST) as u16;
    }
    let groups = blocks.chunks(skip.group).map(|group| group.iter().sum::<u32>());
    let raw = groups.max().unwrap_or(0);
    out.raw = Some(raw.min(MOST));
    out.success = raw <= skip.success;
    let count = out.decision.partitions().count() as u32;
    let mut cost: u32 = blocks.iter().sum();
    if !out.success && skip.adds_mode {
        let number = if skip.quads { mode::INTER_8X8 } else { mode::INTER_16X16 };
        cost += count * costs.mode[number];
    }
    if !out.success && skip.adds_vectors {
        cost += out.decision.count() * 2 * costs.vector[0];
    }
    out.decision.distortion = cost.min(MOST);
    if let Some(thresholds) = &skip.thresholds {
        for quad in 0..4 {
            let coefficients = transform(source, &predicted, quad, skip.transform_8x8);
            (out.count[quad], out.sum[quad]) =
                compare(&coefficients, thresholds, skip.transform_8x8);
        }
    }
    Ok(out)
}

/// Coefficients of the differences in an 8x8 block, in raster order: one transform of 8x8 or four
/// of 4x4. The transforms are the forward companions of H.264 8.5.12 and 8.5.13.
fn transform(source: &Luma, predicted: &Luma, quad: usize, whole: bool) -> [[i32; 8]; 8] {
    let at = 128 * (quad / 2) + 8 * (quad % 2);
    let block: [[i32; 8]; 8] = std::array::from_fn(|y| {
        std::array::from_fn(|x| {
            let n = at + 16 * y + x;
            i32::from(source[n]) - i32::from(predicted[n])
        })
    });
    let line = |values: [i32; 8]| -> [i32; 8] {
        if whole {
            return eight(values);
        }
        let [a, b, c, d, e, f, g, h] = values;
        let ([a, b, c, d], [e, f, g, h]) = (four([a, b, c, d]), four([e, f, g, h]));
        [a, b, c, d, e, f, g, h]
    };
    let block = block.map(line);
    let columns: [[i32; 8]; 8] =
        std::array::from_fn(|x| line(std::array::from_fn(|y| block[y][x])));
    std::array::from_fn(|y| std::array::from_fn(|x| columns[x][y]))
}

fn four([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    let (outer, inner, far, near) = (a + d, b + c, a - d, b - c);
    [outer + inner, 2 * far + near, outer - inner, far - 2 * near]
}

fn eight(v: [i32; 8]) -> [i32; 8] {
    let sum: [i32; 4] = std::array::from_fn(|n| v[n] + v[7 - n]);
    let [a, b, c, d] = std::array::from_fn(|n| v[n] - v[7 - n]);
    let (outer, inner, far, near) =
        (sum[0] + sum[3], sum[1] + sum[2], sum[0] - sum[3], sum[1] - sum[2]);
    let odd =
        [b + c + a + (a >> 1), a - d - c - (c >> 1), a + d - b - (b >> 1), b - c + d + (d >> 1)];
    [
        outer + inner,
        odd[0] + (odd[3] >> 2),
        far + (near >> 1),
        odd[1] + (odd[2] >> 2),
        outer - inner,
        odd[2] - (odd[1] >> 2),
        (far >> 1) - near,
        (odd[0] >> 2) - odd[3],
    ]
}

/// Number of coefficients above their thresholds, and the sum of what exceeds them. A
/// coefficient at (x, y) of its block uses threshold min(x + y, 6).
fn compare(block: &[[i32; 8]; 8], thresholds: &[u32; 7], whole: bool) -> (u8, u16) {
    let (mut count, mut sum) = (0u8, 0u32);
    for (y, row) in block.iter().enumerate() {
        for (x, coefficient) in row.iter().enumerate() {
            let diagonal = if whole { x + y } else { x % 4 + y % 4 };
            let beyond = coefficient.unsigned_abs().saturating_sub(thresholds[diagonal.min(6)]);
            count += u8::from(beyond > 0);
            sum += beyond;
        }
    }
    (count, sum.min(SKIP_TRANSFORM_SUMS_SATURATE_AT) as u16)
}
