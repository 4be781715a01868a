//! Functions 2, 6 and 7: the extremes of a block and its moments.

use super::{Ask, Gray, NUMBERS, compare, word};
use crate::sampler::{SURFACE, model};
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayloadFunction as Function, Sample8x8MessagePayloadMmfMode as Extremes,
};
use genxml::gen8::media::MediaSurfaceStateSurfaceFormat as Surface;
use genxml_cases::Random;

/// The bytes of dwords.
fn dwords(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|&value| (value as i32).to_le_bytes()).collect()
}

/// MinMax: all formats and modes.
#[test]
fn extremes() {
    let (mut model, mut random) = (model(), Random::new(105));
    let modes = [(Extremes::BOTH, 0..2), (Extremes::MAXIMUM, 1..2), (Extremes::MINIMUM, 0..1)];
    for format in NUMBERS {
        for (mode, wanted) in &modes {
            for round in 0..8 {
                let gray = Gray::random(&mut random, format);
                model.write(SURFACE, &gray.memory);
                let (at, place) = gray.place(&mut random);
                let ask = Ask {
                    sequence: 2 + round % 2,
                    extremes: *mode,
                    ..Ask::new(Function::MIN_MAX, place, 1)
                };
                let found = ask.run(&mut model, &gray, &[]).unwrap();
                let pixels: Vec<i64> =
                    (0..128).map(|n| gray.at(at[0] + n % 16, at[1] + n / 16)).collect();
                let both = [pixels.iter().min().unwrap(), pixels.iter().max().unwrap()];
                let parts: Vec<(usize, Vec<u8>)> = wanted
                    .clone()
                    .map(|n| match format {
                        Surface::Y8_UNORM_VA => (n, vec![*both[n] as u8]),
                        _ => (2 * n, word(*both[n])),
                    })
                    .collect();
                compare(&found, &parts, &(ask, gray.state));
            }
        }
    }
}

/// Centroid: all formats and heights.
#[test]
fn centroids() {
    let (mut model, mut random) = (model(), Random::new(106));
    for format in NUMBERS {
        for size in 0..8 {
            for sequence in [2, 3] {
                let gray = Gray::random(&mut random, format);
                model.write(SURFACE, &gray.memory);
                let (at, place) = gray.place(&mut random);
                let ask =
                    Ask { sequence, sizes: [0, size], ..Ask::new(Function::CENTROID, place, 4) };
                let found = ask.run(&mut model, &gray, &[]).unwrap();
                let rows = if size == 0 { 8 } else { size as i64 };
                let values: Vec<i64> = (0..16)
                    .flat_map(|column| {
                        let pixel = |row| gray.at(at[0] + column, at[1] + row);
                        // The moment as sums from each row but the first one on.
                        let moment: i64 =
                            (1..rows).map(|from| (from..rows).map(pixel).sum::<i64>()).sum();
                        [moment, (0..rows).map(pixel).sum()]
                    })
                    .collect();
                compare(&found, &[(0, dwords(&values))], &(ask, gray.state));
            }
        }
    }
}

/// BoolCentroid: widths at the edges of a register's columns, and all heights.
#[test]
fn boolean_centroids() {
    let (mut model, mut random) = (model(), Random::new(107));
    for width in [0, 1, 2, 17, 31, 32, 33, 50, 63] {
        for height in 0..4 {
            let gray = Gray::random(&mut random, Surface::Y1_UNORM);
            model.write(SURFACE, &gray.memory);
            let (at, place) = gray.place(&mut random);
            let ask = Ask {
                sequence: 2 + random.below(2),
                sizes: [width, height],
                ..Ask::new(Function::BOOL_CENTROID, place, 2)
            };
            let found = ask.run(&mut model, &gray, &[]).unwrap();
            let columns = if width == 0 { 64 } else { width as i64 };
            let rows = if height == 0 { 4 } else { height as i64 };
            let set: Vec<(i64, i64)> = (0..columns)
                .flat_map(|x| (0..rows).map(move |y| (x, y)))
                .filter(|&(x, y)| gray.at(at[0] + x, at[1] + y) == 1)
                .collect();
            let parts = [0, 1].map(|n| {
                let part: Vec<_> = set.iter().filter(|(x, _)| x / 32 == n).collect();
                let sums = [
                    part.iter().map(|(x, _)| x).sum(),
                    part.iter().map(|(_, y)| y).sum(),
                    part.len() as i64,
                ];
                (32 * n as usize, dwords(&sums))
            });
            compare(&found, &parts, &(ask, gray.state));
        }
    }
}
