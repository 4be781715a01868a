//! Shapes and references of macroblocks.

use super::{Random, quad, rectangles};
use crate::unit::vme::costs::Costs;
use crate::unit::vme::decide::{Decision, Rules, decide};
use crate::unit::vme::geometry::Vector;
use crate::unit::vme::response::set_inter;
use crate::unit::vme::search::Best;
use genxml::eu::gen8::eu_vme::VmeResponse;

/// Positions of the partitions of each shape in the list of rectangles, for an 8x8 block.
fn of_quad(quad: usize, shape: usize) -> std::ops::Range<usize> {
    match shape {
        0 => 5 + quad..6 + quad,
        1 => 9 + 2 * quad..11 + 2 * quad,
        2 => 17 + 2 * quad..19 + 2 * quad,
        _ => 25 + 4 * quad..29 + 4 * quad,
    }
}

/// The least cost of all shapes and references. Oracle for [`decide`]: every combination.
fn least(best: &[Option<Best>; 2], costs: &Costs, rules: &Rules) -> Option<u32> {
    let enabled = |shape: usize| rules.disabled >> shape & 1 == 0;
    let sum = |parts: std::ops::Range<usize>, reference: usize| -> Option<u32> {
        let known = best[reference].as_ref()?;
        let sum: u32 = parts.map(|n| u32::from(known.distortion[n])).sum();
        Some(sum + costs.references[reference] + if reference == 1 { costs.mode[9] } else { 0 })
    };
    let mut all: Vec<u32> = Vec::new();
    // Each bit of `references` is the reference of an 8x8 block.
    for references in 0..16usize {
        if rules.no_mix && references != 0 && references != 15 {
            continue;
        }
        let of = |quad: usize| references >> quad & 1;
        if enabled(0) {
            all.extend(sum(0..1, of(0)).map(|sum| sum + costs.mode[8]));
        }
        if enabled(1) && rules.vectors >= 2 {
            let both = sum(1..2, of(0)).zip(sum(2..3, of(2)));
            all.extend(both.map(|(a, b)| a + b + costs.mode[4]));
        }
        if enabled(2) && rules.vectors >= 2 {
            let both = sum(3..4, of(0)).zip(sum(4..5, of(1)));
            all.extend(both.map(|(a, b)| a + b + costs.mode[4]));
        }
        for shapes in 0..256usize {
            let shapes = [0, 1, 2, 3].map(|quad| shapes >> (2 * quad) & 3);
            let vectors: u32 = shapes.iter().map(|&shape| [1, 2, 2, 4][shape]).sum();
            if vectors > rules.vectors || shapes.iter().any(|&shape| !enabled(3 + shape)) {
                continue;
            }
            let total: Option<u32> = (0..4)
                .map(|quad| {
                    let shape = shapes[quad];
                    let cost = costs.mode[[5, 6, 6, 7][shape]];
                    Some(sum(of_quad(quad, shape), of(quad))? + cost)
                })
                .sum();
            all.extend(total);
        }
    }
    all.into_iter().min()
}

/// The chosen shape costs least, obeys the rules, and has the vectors and distortions of its
/// partitions.
#[test]
fn shapes() {
    let mut random = Random(6);
    let rectangles = rectangles();
    for round in 0..300 {
        let costs = random.costs();
        let mut known = || {
            let mut best = Best::default();
            for (n, [_, _, width, height]) in rectangles.iter().enumerate() {
                best.distortion[n] = random.below(8 * (width * height) as u64) as u16;
                best.vector[n] = Vector { x: n as i16, y: random.below(99) as i16 };
            }
            best
        };
        let best = [Some(known()), (round % 3 != 0).then(&mut known)];
        let rules = Rules {
            disabled: if round % 2 == 0 { 0 } else { random.below(127) as u8 },
            vectors: [1, 2, 3, 4, 6, 8, 11, 16, 32][random.below(9) as usize],
            no_mix: random.below(4) == 0,
        };
        let decision = decide(&best, &costs, &rules);
        let expected = least(&best, &costs, &rules).unwrap_or(0x3fff).min(0x3fff);
        assert_eq!(decision.distortion, expected, "{rules:?}");
        if expected == 0x3fff {
            continue;
        }
        assert!(decision.count() <= rules.vectors.max(1));
        // The partitions cover the macroblock, and their distortions add up.
        let mut covered = 0;
        let mut total = 0;
        for part in decision.partitions() {
            let (x, y) = part.origin();
            let (width, height) = part.shape.size();
            let n = rectangles.iter().position(|known| *known == [x, y, width, height]).unwrap();
            let reference = usize::from(decision.directions[quad(rectangles[n])]);
            let known = best[reference].unwrap();
            covered += width * height;
            assert_eq!(decision.vectors[part.first][reference], known.vector[n]);
            assert_eq!(decision.parts[part.first], known.distortion[n]);
            total += u32::from(known.distortion[n]);
            // The first partition of an 8x8 block pays for the reference.
            let first = part.first % 4 == 0;
            if first {
                total += costs.references[reference];
                total += if reference == 1 { costs.mode[9] } else { 0 };
            }
        }
        assert_eq!(covered, 256);
        total += match decision.mode {
            0 => costs.mode[8],
            3 => decision.shapes.iter().map(|&n| costs.mode[[5, 6, 6, 7][usize::from(n)]]).sum(),
            _ => costs.mode[4],
        };
        assert_eq!(total, decision.distortion);
    }
}

/// Oracle: the table of macroblock types (digests/video.md 8.7).
#[test]
fn types() {
    for (mode, directions, kind) in [
        (0, [0; 4], 0x01),
        (0, [1; 4], 0x02),
        (0, [2; 4], 0x03),
        (1, [0, 0, 0, 0], 0x04),
        (2, [0, 0, 0, 0], 0x05),
        (1, [1, 1, 1, 1], 0x06),
        (2, [1, 1, 1, 1], 0x07),
        (1, [0, 0, 1, 1], 0x08),
        (2, [0, 1, 0, 1], 0x09),
        (1, [1, 1, 0, 0], 0x0a),
        (2, [1, 0, 1, 0], 0x0b),
        (1, [0, 0, 2, 2], 0x0c),
        (2, [0, 2, 0, 2], 0x0d),
        (1, [1, 1, 2, 2], 0x0e),
        (2, [1, 2, 1, 2], 0x0f),
        (1, [2, 2, 0, 0], 0x10),
        (2, [2, 0, 2, 0], 0x11),
        (1, [2, 2, 1, 1], 0x12),
        (2, [2, 1, 2, 1], 0x13),
        (1, [2; 4], 0x14),
        (2, [2; 4], 0x15),
        (3, [0, 1, 2, 0], 0x16),
    ] {
        let decision = Decision { mode, directions, ..Decision::default() };
        let mut response = VmeResponse::new();
        set_inter(&mut response, &decision);
        assert_eq!(response.inter_mb_type.get(), kind, "{mode} {directions:?}");
    }
}
