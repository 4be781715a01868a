//! Fractional and bidirectional refinement (FBR): better vectors near those of the integer search,
//! and predictions from both references (digests/video.md 10.7).

use super::costs::Costs;
use super::decide::{Decision, MOST, direction_cost, shape_cost};
use super::distortion::{Transform, distortions};
use super::geometry::{Luma, Partition, Shape, Vector};
use super::predict::{Patch, blend, predict};

/// How vectors are refined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refinement {
    /// Half positions are tried.
    pub half: bool,
    /// Quarter positions are tried.
    pub quarter: bool,
    /// The filter is bilinear.
    pub bilinear: bool,
    /// Predictions from both references are tried.
    pub bidirectional: bool,
    /// Shapes that must not be bidirectional: 16x16, 16x8 and 8x16, 8x8, smaller ones.
    pub no_bidirectional: u8,
    /// Weight of reference 1 in 1/64.
    pub weight: u8,
    /// Largest number of vectors.
    pub vectors: u32,
    /// How distortions are computed.
    pub transform: Transform,
}

/// The best prediction of a partition from one reference.
#[derive(Clone, Copy, Debug)]
struct Found {
    vector: Vector,
    /// Distortion with the cost of the vector.
    cost: u32,
    pixels: Luma,
}

impl Refinement {
    /// Distortion of a partition.
    pub fn distortion(&self, source: &Luma, other: &Luma, part: &Partition) -> u32 {
        let blocks = distortions(self.transform, source, other, 16);
        part.members().map(|block| u32::from(blocks[block])).sum()
    }

    /// Whether the mask of shapes allows predictions of a partition from both references.
    fn allows_both(&self, shape: Shape) -> bool {
        let bit = match shape {
            Shape::S16x16 => 0,
            Shape::S16x8 | Shape::S8x16 => 1,
            Shape::S8x8 => 2,
            _ => 3,
        };
        self.bidirectional && self.no_bidirectional >> bit & 1 == 0
    }

    /// Refines a vector of a partition: the eight half positions around it, then the eight quarter
    /// positions around the best of them. Of equal costs, the first one stays.
    fn refine(
        &self,
        source: &Luma,
        patch: &Patch,
        part: &Partition,
        reference: usize,
        costs: &Costs,
        start: Vector,
    ) -> Found {
        let mut pixels = [0; 256];
        let mut try_one = |vector: Vector| {
            predict(patch, vector, self.bilinear, part, &mut pixels);
            let [x, y] = costs.of(part, reference, vector);
            Found { vector, cost: self.distortion(source, &pixels, part) + x + y, pixels }
        };
        let mut best = try_one(start);
        for (enabled, step) in [(self.half, 2), (self.quarter, 1)] {
            if !enabled {
                continue;
            }
            let centre = best.vector;
            for (x, y) in AROUND {
                let found = try_one(centre.moved(step * x, step * y));
                if found.cost < best.cost {
                    best = found;
                }
            }
        }
        best
    }
}

/// The eight neighbours of a position.
const AROUND: [(i16, i16); 8] =
    [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// Refines the vectors of a macroblock, whose partitions start with one reference each. `read`
/// fills a patch with pixels of a reference.
///
/// # Errors
/// The errors of `read`.
pub fn refine<E>(
    source: &Luma,
    start: &Decision,
    refinement: &Refinement,
    costs: &Costs,
    mut read: impl FnMut(usize, &Partition, &mut Patch) -> Result<(), E>,
) -> Result<Decision, E> {
    let mut out = Decision { distortion: 0, parts: [0; 16], ..*start };
    let mut count = start.count();
    let mut counted = None;
    for part in start.partitions() {
        let (quad, direction) = (part.quad(), start.directions[part.quad()]);
        let both = refinement.allows_both(part.shape);
        let mut found = [None; 2];
        for (reference, found) in found.iter_mut().enumerate() {
            if !both && usize::from(direction) != reference {
                continue;
            }
            let vector = start.vectors[part.first][reference];
            let mut patch = Patch::around(vector);
            read(reference, part, &mut patch)?;
            let best = refinement.refine(source, &patch, part, reference, costs, vector);
            for block in part.members() {
                out.vectors[block][reference] = best.vector;
            }
            *found = Some(best);
        }
        let mixed = if let [Some(first), Some(second)] = &found {
            let mut pixels = [0; 256];
            blend(&first.pixels, &second.pixels, refinement.weight, part, &mut pixels);
            let vectors = [first.vector, second.vector];
            let costs: u32 = (0..2).flat_map(|n| costs.of(part, n, vectors[n])).sum();
            Some(refinement.distortion(source, &pixels, part) + costs)
        } else {
            None
        };
        // All partitions of an 8x8 block have the references of its first one, and pay for them
        // once.
        let shared = counted == Some(quad);
        let extra = |direction: u8| if shared { 0 } else { direction_cost(costs, direction) };
        let single = |direction: u8| {
            let found = found.get(usize::from(direction))?.as_ref()?;
            Some(found.cost + extra(direction))
        };
        let bidirectional = mixed.map(|cost| cost + extra(2));
        let (chosen, cost) = match shared.then(|| out.directions[quad]) {
            Some(2) => (2, bidirectional),
            Some(direction) => (direction, single(direction)),
            None => {
                let fits = count < refinement.vectors;
                match (single(direction), bidirectional) {
                    (Some(one), Some(two)) if fits && two < one => (2, Some(two)),
                    (one, _) => (direction, one),
                }
            }
        };
        count += u32::from(chosen == 2);
        counted = Some(quad);
        for covered in (0..4).filter(|covered| part.blocks >> (4 * covered) & 0xf != 0) {
            out.directions[covered] = chosen;
        }
        let cost = cost.unwrap_or(MOST);
        out.parts[part.first] = cost.min(MOST) as u16;
        out.distortion += cost;
    }
    out.distortion = (out.distortion + mode_costs(start, costs)).min(MOST);
    Ok(out)
}

/// The mode costs of the shapes of a macroblock.
fn mode_costs(decision: &Decision, costs: &Costs) -> u32 {
    let mut parts = decision.partitions().filter(|part| part.first % 4 == 0);
    match decision.mode {
        3 => parts.map(|part| shape_cost(costs, part.shape)).sum(),
        _ => parts.next().map_or(0, |part| shape_cost(costs, part.shape)),
    }
}
