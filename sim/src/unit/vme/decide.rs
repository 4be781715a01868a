//! The decision for a shape: which partitions and references cost least (digests/video.md 10.7).

use super::costs::{Costs, mode};
use super::geometry::{
    ALL, BLOCKS, FIRST, Partition, SMALL, Shape, Vectors, of_macroblock, of_quad,
};
use super::search::{Best, NONE};

/// Largest distortion of a response.
pub const MOST: u32 = 0x3fff;

/// What a decision may choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Shapes that are not used, by the bits of the shape disable mask.
    pub disabled: u8,
    /// Largest number of vectors.
    pub vectors: u32,
    /// All partitions must have the same reference.
    pub no_mix: bool,
}

/// The inter prediction of a macroblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// 0 to 3: 16x16, 16x8, 8x16, 8x8.
    pub mode: u8,
    /// Shapes of the 8x8 blocks, by their position in [`SMALL`].
    pub shapes: [u8; 4],
    /// References of the 8x8 blocks: 0, 1, or 2 for both.
    pub directions: [u8; 4],
    /// Vectors of the 4x4 blocks.
    pub vectors: Vectors,
    /// Distortion with all costs.
    pub distortion: u32,
    /// Distortions of the partitions, each at its first 4x4 block.
    pub parts: [u16; BLOCKS],
}

impl Default for Decision {
    fn default() -> Decision {
        Decision {
            mode: 0,
            shapes: [0; 4],
            directions: [0; 4],
            vectors: [Default::default(); BLOCKS],
            distortion: MOST,
            parts: [0; BLOCKS],
        }
    }
}

impl Decision {
    /// The partitions.
    pub fn partitions(&self) -> impl Iterator<Item = &'static Partition> + use<> {
        of_macroblock(self.mode, self.shapes)
    }

    /// Number of vectors.
    pub fn count(&self) -> u32 {
        self.partitions().map(|part| 1 + u32::from(self.directions[part.quad()] == 2)).sum()
    }
}

/// The mode cost of a shape of a macroblock or an 8x8 block.
pub fn shape_cost(costs: &Costs, shape: Shape) -> u32 {
    costs.mode[match shape {
        Shape::S16x16 => mode::INTER_16X16,
        Shape::S16x8 | Shape::S8x16 => mode::INTER_16X8,
        Shape::S8x8 => mode::INTER_8X8,
        Shape::S8x4 | Shape::S4x8 => mode::INTER_8X4,
        Shape::S4x4 => mode::INTER_4X4,
    }]
}

/// Cost of the references of a partition: 0, 1, or 2 for both.
pub fn direction_cost(costs: &Costs, direction: u8) -> u32 {
    let [forward, backward] = costs.references;
    let backward = backward + costs.mode[mode::BACKWARD];
    match direction {
        0 => forward,
        1 => backward,
        _ => forward + backward,
    }
}

/// A way to predict part of a macroblock: cost, number of vectors, and reference.
#[derive(Clone, Copy, Debug)]
struct Choice {
    cost: u32,
    vectors: u32,
    direction: u8,
}

/// The reference that costs least for partitions that must have the same one.
fn cheapest(
    parts: &[Partition],
    first: usize,
    best: &[Option<Best>; 2],
    costs: &Costs,
) -> Option<Choice> {
    let mut choice: Option<Choice> = None;
    for (reference, best) in best.iter().enumerate() {
        let Some(best) = best else { continue };
        let known = &best.distortion[first..first + parts.len()];
        if known.contains(&NONE) {
            continue;
        }
        let sum: u32 = known.iter().map(|&distortion| u32::from(distortion)).sum();
        let cost = sum + direction_cost(costs, reference as u8);
        if choice.is_none_or(|choice| cost < choice.cost) {
            choice = Some(Choice { cost, vectors: parts.len() as u32, direction: reference as u8 });
        }
    }
    choice
}

/// Chooses the shape of a macroblock from the best vectors for each reference.
pub fn decide(best: &[Option<Best>; 2], costs: &Costs, rules: &Rules) -> Decision {
    if !rules.no_mix {
        return one_mix(best, costs, rules);
    }
    let alone = [0, 1].map(|reference| {
        let mut only = *best;
        only[1 - reference] = None;
        one_mix(&only, costs, rules)
    });
    if alone[1].distortion < alone[0].distortion { alone[1] } else { alone[0] }
}

fn one_mix(best: &[Option<Best>; 2], costs: &Costs, rules: &Rules) -> Decision {
    let enabled = |shape: Shape| rules.disabled >> shape.number() & 1 == 0;
    let mut decision = Decision::default();
    let mut least = u32::MAX;
    let large = [(Shape::S16x16, 1), (Shape::S16x8, 2), (Shape::S8x16, 2)];
    for (number, (shape, count)) in large.into_iter().enumerate() {
        if !enabled(shape) || count > 1 && rules.vectors < count {
            continue;
        }
        let first = FIRST[shape.number()];
        let parts = &ALL[first..first + count as usize];
        let choices: Option<Vec2> = parts
            .iter()
            .enumerate()
            .map(|(n, _)| cheapest(&parts[n..=n], first + n, best, costs))
            .collect();
        let Some(choices) = choices else { continue };
        let cost = choices.cost() + shape_cost(costs, shape);
        if cost < least {
            least = cost;
            decision.mode = number as u8;
            decision.directions = std::array::from_fn(|quad| {
                let owner = parts.iter().position(|part| part.blocks >> (4 * quad) & 1 == 1);
                choices.0[owner.unwrap_or(0)].map_or(0, |choice| choice.direction)
            });
        }
    }
    if let Some((cost, shapes, directions)) = quads(best, costs, rules)
        && cost < least
    {
        least = cost;
        decision.mode = 3;
        (decision.shapes, decision.directions) = (shapes, directions);
    }
    if least < u32::MAX {
        decision.distortion = least.min(MOST);
        fill(&mut decision, best);
    }
    decision
}

/// Up to two choices.
struct Vec2([Option<Choice>; 2]);

impl FromIterator<Choice> for Vec2 {
    fn from_iter<I: IntoIterator<Item = Choice>>(choices: I) -> Vec2 {
        let mut choices = choices.into_iter();
        Vec2([choices.next(), choices.next()])
    }
}

impl Vec2 {
    fn cost(&self) -> u32 {
        self.0.iter().flatten().map(|choice| choice.cost).sum()
    }
}

/// The cheapest shapes of the 8x8 blocks that have few enough vectors: their cost, shapes and
/// references.
fn quads(
    best: &[Option<Best>; 2],
    costs: &Costs,
    rules: &Rules,
) -> Option<(u32, [u8; 4], [u8; 4])> {
    if rules.vectors < 4 {
        return None;
    }
    let choices: [[Option<Choice>; 4]; 4] = std::array::from_fn(|quad| {
        SMALL.map(|shape| {
            if rules.disabled >> shape.number() & 1 == 1 {
                return None;
            }
            let parts = of_quad(quad, shape);
            let first = FIRST[shape.number()] + parts.len() * quad;
            let choice = cheapest(parts, first, best, costs)?;
            Some(Choice { cost: choice.cost + shape_cost(costs, shape), ..choice })
        })
    });
    // All 256 combinations of shapes, the first shape first.
    let mut least: Option<(u32, [u8; 4])> = None;
    for combination in 0..256u32 {
        let shapes: [u8; 4] =
            std::array::from_fn(|quad| (combination >> (2 * (3 - quad)) & 3) as u8);
        let sums = (0..4).try_fold((0, 0), |(cost, vectors), quad| {
            let choice = choices[quad][usize::from(shapes[quad])]?;
            Some((cost + choice.cost, vectors + choice.vectors))
        });
        if let Some((cost, vectors)) = sums
            && vectors <= rules.vectors
            && least.is_none_or(|(least, _)| cost < least)
        {
            least = Some((cost, shapes));
        }
    }
    let (cost, shapes) = least?;
    let directions = std::array::from_fn(|quad| {
        choices[quad][usize::from(shapes[quad])].map_or(0, |choice| choice.direction)
    });
    Some((cost, shapes, directions))
}

/// Copies vectors and distortions of the chosen partitions, the vectors of both references.
fn fill(decision: &mut Decision, best: &[Option<Best>; 2]) {
    for part in of_macroblock(decision.mode, decision.shapes) {
        let Some(number) = ALL.iter().position(|known| known == part) else { continue };
        let direction = usize::from(decision.directions[part.quad()]);
        for (reference, best) in best.iter().enumerate() {
            let Some(best) = best else { continue };
            for block in part.members() {
                decision.vectors[block][reference] = best.vector[number];
            }
            if reference == direction {
                decision.parts[part.first] = best.distortion[number].min(MOST as u16);
            }
        }
    }
}
