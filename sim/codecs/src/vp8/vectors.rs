//! Motion vectors (RFC 6386 sections 16.2, 16.3, 17).

use super::bool_decoder::BoolDecoder;
use super::macroblock::{Macroblock, Mode, Neighbours, Vector};
use super::parameters::Parameters;
use super::tables;

/// What the neighbours suggest: vectors and weights. Index 0 is the best vector (and the weight of
/// the vector zero), 1 the nearest, 2 the near one; weight 3 is that of split macroblocks.
struct Candidates {
    vectors: [Vector; 3],
    weights: [usize; 4],
}

/// Collects the candidates (RFC 6386 16.3).
fn candidates(neighbours: &Neighbours, reference: u8, sign_bias: [bool; 4]) -> Candidates {
    let mut vectors = [Vector::ZERO; 4];
    let mut weights = [0; 4];
    let mut last = 0;
    let order = [(neighbours.above, 2), (neighbours.left, 2), (neighbours.above_left, 1)];
    for (neighbour, weight) in order {
        if neighbour.reference == 0 {
            continue;
        }
        let mut vector = neighbour.vectors[15];
        if vector == Vector::ZERO {
            weights[0] += weight;
            continue;
        }
        if sign_bias[usize::from(neighbour.reference)] != sign_bias[usize::from(reference)] {
            vector = Vector { x: vector.x.wrapping_neg(), y: vector.y.wrapping_neg() };
        }
        if last == 0 || vector != vectors[last] {
            last += 1;
            vectors[last] = vector;
        }
        weights[last] += weight;
    }
    // The third of three different vectors may equal the first one.
    if weights[3] > 0 && vectors[3] == vectors[1] {
        weights[1] += 1;
    }
    let is_split = |macroblock: &Macroblock| usize::from(matches!(macroblock.mode, Mode::Split(_)));
    weights[3] = 2 * (is_split(neighbours.above) + is_split(neighbours.left))
        + is_split(neighbours.above_left);
    if weights[2] > weights[1] {
        weights.swap(1, 2);
        vectors.swap(1, 2);
    }
    if weights[1] >= weights[0] {
        vectors[0] = vectors[1];
    }
    Candidates { vectors: [vectors[0], vectors[1], vectors[2]], weights }
}

/// Reads the mode and the vectors of an inter macroblock.
pub fn read(
    decoder: &mut BoolDecoder,
    parameters: &Parameters,
    neighbours: &Neighbours,
    (x, y): (usize, usize),
    macroblock: &mut Macroblock,
) {
    let bias = [false, false, parameters.golden_sign_bias, parameters.alternate_sign_bias];
    let Candidates { vectors, weights } = candidates(neighbours, macroblock.reference, bias);
    let probabilities = [0, 1, 2, 3].map(|node| tables::VECTOR_MODE[weights[node]][node]);
    // The block may lie outside the picture by its own size (RFC 6386 16.3).
    let limit = |value: i16, at: usize, size: usize| {
        let (at, size) = (at as i32, size as i32);
        i32::from(value).clamp(-64 * (at + 1), 64 * (size - at)) as i16
    };
    let clamp = |vector: Vector| Vector {
        x: limit(vector.x, x, parameters.width),
        y: limit(vector.y, y, parameters.height),
    };
    let entropy = &parameters.probabilities.vectors;
    let (mode, vector) = match decoder.read_tree(&tables::VECTOR_MODE_TREE, &probabilities) {
        0 => (Mode::Zero, Vector::ZERO),
        1 => (Mode::Vector, clamp(vectors[1])),
        2 => (Mode::Vector, clamp(vectors[2])),
        3 => (Mode::Vector, clamp(vectors[0]).plus(read_vector(decoder, entropy))),
        _ => return read_split(decoder, entropy, neighbours, clamp(vectors[0]), macroblock),
    };
    macroblock.mode = mode;
    macroblock.vectors = [vector; 16];
}

/// Reads the vectors of a split macroblock (RFC 6386 16.3).
fn read_split(
    decoder: &mut BoolDecoder,
    entropy: &[[u8; 19]; 2],
    neighbours: &Neighbours,
    best: Vector,
    macroblock: &mut Macroblock,
) {
    let split = usize::from(decoder.read_tree(&tables::SPLIT_TREE, &tables::SPLIT));
    macroblock.mode = Mode::Split(split < 3);
    for (part, &first) in tables::SPLIT_FIRST[split].iter().enumerate() {
        let first = usize::from(first);
        let left = match first % 4 {
            0 => neighbours.left.vectors[first + 3],
            _ => macroblock.vectors[first - 1],
        };
        let above = match first / 4 {
            0 => neighbours.above.vectors[first + 12],
            _ => macroblock.vectors[first - 4],
        };
        let context = match (left == above, left == Vector::ZERO, above == Vector::ZERO) {
            (true, true, _) => 4,
            (true, false, _) => 3,
            (false, _, true) => 2,
            (false, true, false) => 1,
            (false, false, false) => 0,
        };
        let tree = &tables::PART_VECTOR_TREE;
        let vector = match decoder.read_tree(tree, &tables::PART_VECTOR[context]) {
            0 => left,
            1 => above,
            2 => Vector::ZERO,
            _ => best.plus(read_vector(decoder, entropy)),
        };
        let parts = &tables::SPLIT_PARTS[split];
        for (&owner, out) in parts.iter().zip(&mut macroblock.vectors) {
            if usize::from(owner) == part {
                *out = vector;
            }
        }
    }
}

/// Reads a vector: the row first (RFC 6386 17).
fn read_vector(decoder: &mut BoolDecoder, [row, column]: &[[u8; 19]; 2]) -> Vector {
    let y = read_component(decoder, row);
    let x = read_component(decoder, column);
    Vector { x, y }
}

/// Reads a component of a vector (RFC 6386 17.2). The probabilities are: long form, sign, 7 of the
/// tree of the short form, 10 bits of the long form from the least significant one on.
fn read_component(decoder: &mut BoolDecoder, probabilities: &[u8; 19]) -> i16 {
    let (tree, bits) = (&probabilities[2..9], &probabilities[9..]);
    let mut value = 0i16;
    if decoder.read(probabilities[0]) {
        for bit in [0, 1, 2, 9, 8, 7, 6, 5, 4] {
            value |= i16::from(decoder.read(bits[bit])) << bit;
        }
        // Bit 3 of a number below 16 is set: smaller numbers have the short form.
        if value < 16 || decoder.read(bits[3]) {
            value |= 8;
        }
    } else {
        value = i16::from(decoder.read_tree(&tables::SHORT_VECTOR_TREE, tree));
    }
    if value != 0 && decoder.read(probabilities[1]) { -value } else { value }
}
