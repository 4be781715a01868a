//! The coefficients of macroblocks (RFC 6386 section 13).

use super::bool_decoder::BoolDecoder;
use super::parameters::{CoefficientProbabilities, Quantiser};
use super::tables::{BANDS, EXTRA_BITS};
use crate::zigzag::ZIGZAG_4X4;

/// Probabilities by kind of block, position in zigzag order, context and node. The position after
/// the last has an entry too, which is not used.
pub type ByPosition = [[[[u8; 11]; 3]; 17]; 4];

/// Sorts probabilities by position.
pub fn by_position(probabilities: &CoefficientProbabilities) -> Box<ByPosition> {
    let mut sorted = Box::new([[[[0; 11]; 3]; 17]; 4]);
    for (kind, sorted) in sorted.iter_mut().enumerate() {
        for (&band, sorted) in BANDS.iter().zip(sorted) {
            *sorted = probabilities[kind][usize::from(band)];
        }
    }
    sorted
}

/// For each block at the lower or right edge of a macroblock, 1 if it has coefficients: four of Y,
/// two of Cb, two of Cr, and the second-order block.
pub type Context = [u8; 9];

/// The dequantised coefficients of a macroblock.
#[derive(Default)]
pub struct Coefficients {
    /// Blocks in raster order: 16 of Y, 4 of Cb, 4 of Cr, then the second-order block.
    pub blocks: [[i16; 16]; 25],
    /// For each block, the position in zigzag order after the last coefficient; 0 without any.
    pub ends: [u8; 25],
}

impl Coefficients {
    /// Reads the coefficients of a macroblock. Returns false if it has no coefficients.
    pub fn read(
        &mut self,
        decoder: &mut BoolDecoder,
        probabilities: &ByPosition,
        quantiser: &Quantiser,
        second_order: bool,
        (above, left): (&mut Context, &mut Context),
    ) -> bool {
        self.blocks = [[0; 16]; 25];
        self.ends[24] = 0;
        let mut any = 0;
        let mut block = |index: usize, kind: usize, steps, above: &mut u8, left: &mut u8| {
            let context = usize::from(*above + *left);
            let first = usize::from(kind == 0);
            let out = &mut self.blocks[index];
            let end = read_block(decoder, &probabilities[kind], (context, first), steps, out);
            self.ends[index] = end;
            *above = u8::from(end > 0);
            *left = *above;
            any |= end;
        };
        let kind = if second_order { 0 } else { 3 };
        if second_order {
            block(24, 1, quantiser.y2, &mut above[8], &mut left[8]);
        }
        for index in 0..16 {
            block(index, kind, quantiser.y1, &mut above[index % 4], &mut left[index / 4]);
        }
        for index in 0..8 {
            let (column, row) = (4 + index / 4 * 2 + index % 2, 4 + index / 2);
            block(16 + index, 2, quantiser.uv, &mut above[column], &mut left[row]);
        }
        any > 0
    }
}

/// Sets the contexts of a macroblock without coefficients. The context of the second-order block
/// stays if the macroblock has no such block (RFC 6386 13.3).
pub fn clear_context(context: &mut Context, second_order: bool) {
    let count = if second_order { 9 } else { 8 };
    context[..count].fill(0);
}

/// Reads a block from position `first` on; `steps` are the quantisers of the first coefficient and
/// of the others. Returns the position after the last coefficient; 0 without any.
#[inline]
fn read_block(
    decoder: &mut BoolDecoder,
    probabilities: &[[[u8; 11]; 3]; 17],
    (context, first): (usize, usize),
    steps: [u16; 2],
    out: &mut [i16; 16],
) -> u8 {
    let mut node = &probabilities[first][context];
    if !decoder.read(node[0]) {
        return 0;
    }
    let mut position = first;
    while position < 16 {
        let next = position + 1;
        // No end may follow a zero, hence no bit for it.
        if !decoder.read(node[1]) {
            node = &probabilities[next][0];
            position = next;
            continue;
        }
        let (magnitude, context) =
            if decoder.read(node[2]) { (read_large(decoder, node), 2) } else { (1, 1) };
        let step = i32::from(steps[usize::from(position > 0)]);
        let value = magnitude.wrapping_mul(step);
        let value = if decoder.read(128) { -value } else { value };
        out[usize::from(ZIGZAG_4X4[position])] = value as i16;
        node = &probabilities[next][context];
        position = next;
        if next == 16 || !decoder.read(node[0]) {
            break;
        }
    }
    position as u8
}

/// Reads a magnitude of at least 2 (RFC 6386 13.2).
fn read_large(decoder: &mut BoolDecoder, node: &[u8; 11]) -> i32 {
    if !decoder.read(node[3]) {
        if !decoder.read(node[4]) {
            return 2;
        }
        return 3 + i32::from(decoder.read(node[5]));
    }
    if !decoder.read(node[6]) {
        if !decoder.read(node[7]) {
            return 5 + decoder.read_bits(&[159]);
        }
        return 7 + decoder.read_bits(&[165, 145]);
    }
    let high = usize::from(decoder.read(node[8]));
    let category = 2 * high + usize::from(decoder.read(node[9 + high]));
    3 + (8 << category) + decoder.read_bits(EXTRA_BITS[category])
}
