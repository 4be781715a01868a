//! Functions 3 to 5: the filter of minimum and maximum, erode and dilate. Each result comes from
//! the list of the pixels under the mask.

use super::{Ask, Gray, NUMBERS, compare, first, word};
use crate::sampler::{SURFACE, model};
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayloadFunction as Function, Sample8x8MessagePayloadMmfMode as Extremes,
    SamplerMessageHeaderOutputFormatControl as Format,
};
use genxml::gen8::media::MediaSurfaceStateSurfaceFormat as Surface;
use genxml_cases::Random;

/// A mask: its size, and whether a pixel counts, by column and row.
pub type Mask = ([usize; 2], fn(usize, usize) -> bool);

pub const MASKS: [Mask; 9] = [
    ([3, 3], |_, _| true),
    ([3, 3], |x, y| x == 1 || y == 1),
    ([2, 2], |_, _| true),
    ([15, 15], |x, y| (x as i64 - 7).pow(2) + (y as i64 - 7).pow(2) <= 50),
    ([15, 2], |x, y| (x + y) % 3 == 0),
    ([2, 15], |x, y| x == 0 && y > 2),
    ([7, 4], |x, y| (5 * x + 3 * y) % 7 < 2),
    ([5, 5], |x, y| (x, y) == (4, 0)),
    ([4, 3], |_, _| false),
];

/// The state of a mask. Bits beyond its size are set, which do not count.
pub fn pack(([width, height], counts): Mask) -> Vec<u32> {
    let mut words = vec![(width as u16) << 4 | height as u16];
    for y in 0..15 {
        words.push((0..16).fold(0, |row, x| {
            let bit = x >= width || y >= height || counts(x, y);
            row | u16::from(bit) << x
        }));
    }
    words.chunks(2).map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16).collect()
}

/// The pixels under a mask at the pixel in column `x` of row `y`.
fn under(gray: &Gray, (size, counts): Mask, x: i64, y: i64) -> Vec<i64> {
    let [left, top] = first(size);
    let mut pixels = Vec::new();
    for j in 0..size[1] {
        for i in (0..size[0]).filter(|&i| counts(i, j)) {
            pixels.push(gray.at(x + left + i as i64, y + top + j as i64));
        }
    }
    pixels
}

/// A table of samplers in which the mask has the index `sampler`.
fn table(mask: Mask, sampler: u64) -> Vec<u32> {
    let mut samplers = vec![0xffff_ffff; 8 * sampler as usize];
    samplers.extend(pack(mask));
    samplers
}

/// All masks, formats of pixels and of results, blocks and modes.
#[test]
fn extremes() {
    let (mut model, mut random) = (model(), Random::new(103));
    let modes = [(Extremes::BOTH, 0b11), (Extremes::MAXIMUM, 0b10), (Extremes::MINIMUM, 0b01)];
    let mut cases = Vec::new();
    for (sequence, columns, rows) in [(0, 16, 4), (2, 16, 1), (3, 1, 1)] {
        for output in [Format::_16_BIT_FULL, Format::_8_BIT_FULL] {
            cases.extend(modes.map(|mode| (sequence, columns, rows, output, mode)));
        }
    }
    for mask in MASKS {
        for (n, &(sequence, columns, rows, output, (mode, wanted))) in cases.iter().enumerate() {
            let format = NUMBERS[(n + random.index(2)) % 3];
            let gray = Gray::random(&mut random, format);
            model.write(SURFACE, &gray.memory);
            let (at, place) = gray.place(&mut random);
            let small = output == Format::_8_BIT_FULL;
            let size: usize = if small { 1 } else { 2 };
            let sampler = random.below(4);
            let ask = Ask {
                sequence,
                extremes: mode,
                output,
                sampler,
                ..Ask::new(
                    Function::MIN_MAX_FILTER,
                    place,
                    (2 * size * columns * rows).div_ceil(32),
                )
            };
            let found = ask.run(&mut model, &gray, &table(mask, sampler)).unwrap();
            let [low, high] = match format {
                Surface::Y8_UNORM_VA => [0, 255],
                Surface::Y16_SNORM => [-32768, 32767],
                _ => [0, 65535],
            };
            let mut parts = Vec::new();
            for pixel in 0..columns * rows {
                let (x, y) = ((pixel % columns) as i64, (pixel / columns) as i64);
                let mut pixels = under(&gray, mask, at[0] + x, at[1] + y);
                pixels.sort_unstable();
                let least = pixels.first().copied().unwrap_or(high);
                let most = pixels.last().copied().unwrap_or(low);
                for (which, value) in [least, most].into_iter().enumerate() {
                    if wanted >> which & 1 == 0 {
                        continue;
                    }
                    parts.push(match small {
                        true => {
                            let offset = 4 * (pixel / 2) + 2 * which + pixel % 2;
                            (offset, vec![value.clamp(0, 255) as u8])
                        }
                        false => (4 * pixel + 2 * which, word(value)),
                    });
                }
            }
            compare(&found, &parts, &(ask, gray.state));
        }
    }
}

/// All masks, both functions, and all blocks.
#[test]
fn morphology() {
    let (mut model, mut random) = (model(), Random::new(104));
    let mut counts = [[0; 2]; 2];
    for mask in MASKS {
        for round in 0..24 {
            let gray = Gray::random(&mut random, Surface::Y1_UNORM);
            model.write(SURFACE, &gray.memory);
            let (at, place) = gray.place(&mut random);
            let (sequence, columns, rows) =
                [(0, 64, 4), (1, 32, 4), (2, 64, 1), (3, 32, 1)][round % 4];
            let erodes = round / 4 % 2 == 0;
            let sampler = random.below(4);
            let ask = Ask {
                sequence,
                sampler,
                ..Ask::new(if erodes { Function::ERODE } else { Function::DILATE }, place, 1)
            };
            let found = ask.run(&mut model, &gray, &table(mask, sampler)).unwrap();
            let mut parts = Vec::new();
            for y in 0..rows {
                for byte in 0..columns / 8 {
                    let mut bit = |n: i64| {
                        let pixels =
                            under(&gray, mask, at[0] + 8 * byte as i64 + n, at[1] + y as i64);
                        let set = |&pixel: &i64| pixel == 1;
                        let set =
                            if erodes { pixels.iter().all(set) } else { pixels.iter().any(set) };
                        counts[usize::from(erodes)][usize::from(set)] += 1;
                        u8::from(set)
                    };
                    let bits = (0..8).map(|n| bit(n) << n).sum();
                    parts.push((8 * y + byte, vec![bits]));
                }
            }
            compare(&found, &parts, &(ask, gray.state));
        }
    }
    assert!(counts.as_flattened().iter().all(|&count| count > 2000), "{counts:?}");
}
