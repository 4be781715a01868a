//! Levels, slices and samples. Oracle: the rules of gen8_facts 10.2 and 10.3 followed level by
//! level, and the check that nothing overlaps.

use genxml::gen8::state::{RenderSurfaceState, TileMode};
use genxml_cases::Random;
use genxml_cases::paper::{Rectangle, Sheet};
use genxml_core::U;
use genxml_sim::surface::{Dimension, Layout, Surface, SurfaceKind};

fn up(value: u32, multiple: u32) -> u32 {
    value.div_ceil(multiple) * multiple
}

fn sheet(layout: &Layout) -> Sheet {
    let Layout { width, height, depth, block, align, .. } = *layout;
    Sheet { width, height, depth, block, align }
}

fn random_layout(random: &mut Random, dimension: Dimension) -> Layout {
    let block = if random.below(4) == 0 { [4, 4] } else { [1, 1] };
    let align = match block {
        [1, 1] => [4 << random.below(3), 4 << random.below(3)],
        _ => [1, 1],
    };
    Layout {
        dimension,
        width: 1 + random.below(300) as u32,
        height: if dimension == Dimension::One { 1 } else { 1 + random.below(300) as u32 },
        depth: if dimension == Dimension::Three { 1 + random.below(40) as u32 } else { 1 },
        block,
        align,
        ..Layout::default()
    }
}

fn check_apart(rectangles: &[Rectangle], extent: [u32; 2]) {
    for (index, a) in rectangles.iter().enumerate() {
        assert!(a[0] + a[2] <= extent[0] && a[1] + a[3] <= extent[1], "{a:?} in {extent:?}");
        for b in &rectangles[..index] {
            let apart = a[0] + a[2] <= b[0]
                || b[0] + b[2] <= a[0]
                || a[1] + a[3] <= b[1]
                || b[1] + b[3] <= a[1];
            assert!(apart, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn mip_levels_of_arrays() {
    let mut random = Random::new(1);
    for round in 0..300 {
        let dimension = [Dimension::One, Dimension::Two, Dimension::Cube][round % 3];
        let mut layout = random_layout(&mut random, dimension);
        let count = layout.width.max(layout.height).ilog2() + 1;
        let levels = sheet(&layout).levels(count);
        let bottom = levels.iter().map(|level| level[1] + level[3]).max().unwrap();
        layout.qpitch = up(bottom, layout.align[1]) + 4 * random.below(3) as u32;
        let slices = 1 + random.below(7) as u32;
        let mut all = Vec::new();
        for slice in 0..slices {
            for (number, expected) in levels.iter().enumerate() {
                let level = layout.level(number as u32);
                let [x, y] = layout.slice(&level, slice, 0);
                assert_eq!(
                    [x, y],
                    [expected[0], expected[1] + slice * layout.qpitch],
                    "{layout:?} {number}"
                );
                assert_eq!(level.width, (layout.width >> number).max(1));
                assert_eq!(level.height, (layout.height >> number).max(1));
                all.push([x, y, expected[2], expected[3]]);
            }
        }
        check_apart(&all, layout.extent(count, slices));
    }
}

#[test]
fn volumes() {
    let mut random = Random::new(2);
    for _ in 0..300 {
        let layout = random_layout(&mut random, Dimension::Three);
        let count = layout.width.max(layout.height).max(layout.depth).ilog2() + 1;
        let mut all = Vec::new();
        for (number, slices) in sheet(&layout).volume(count).into_iter().enumerate() {
            let level = layout.level(number as u32);
            assert_eq!(level.depth as usize, slices.len());
            for (slice, expected) in slices.into_iter().enumerate() {
                let found = layout.slice(&level, slice as u32, 0);
                assert_eq!(found, [expected[0], expected[1]], "{layout:?} {number} {slice}");
                all.push(expected);
            }
        }
        check_apart(&all, layout.extent(count, layout.depth));
    }
}

/// A worked example: 64 x 32, five levels, aligned to 4 x 4: h0 = 32, w1 = 32, h2 = 8, h3 = 4.
#[test]
fn an_example_on_paper() {
    let layout = Layout { width: 64, height: 32, ..Layout::default() };
    let places: Vec<_> =
        (0..5).map(|number| layout.level(number)).map(|level| (level.x, level.y)).collect();
    assert_eq!(places, [(0, 0), (0, 32), (32, 32), (32, 40), (32, 44)]);
    let volume = Layout { dimension: Dimension::Three, depth: 8, ..layout };
    // Eight slices of 32 rows, then four of 16 rows (two per row), then two of 8 rows (up to four
    // per row).
    let level = |number| volume.level(number);
    assert_eq!((level(1).y, level(2).y, level(3).y), (256, 288, 296));
    assert_eq!(volume.slice(&level(1), 3, 0), [32, 272]);
    assert_eq!(volume.slice(&level(2), 1, 0), [16, 288]);
}

/// gen8_facts 8.3: each sample of a multisampled colour surface is a slice of its own. Samples of
/// depth and stencil are interleaved.
#[test]
fn samples() {
    for samples in [2, 4, 8] {
        let colour = Layout { width: 20, height: 10, qpitch: 12, samples, ..Layout::default() };
        let level = colour.level(0);
        for (slice, sample) in [(0, 0), (0, 1), (1, 0), (3, samples - 1)] {
            assert_eq!(colour.slice(&level, slice, sample), [0, (slice * samples + sample) * 12]);
        }
        let depth = Layout { interleaved: true, ..colour };
        let (across, down) = [(2, 1), (2, 2), (4, 2)][samples.ilog2() as usize - 1];
        let mut seen = std::collections::BTreeSet::new();
        for y in 0..10 {
            for x in 0..20 {
                for sample in 0..samples {
                    let [left, top] = depth.interleave(x, y, sample);
                    // The position is inside the rectangle of the samples of the texel's block of
                    // 2 x 2 texels.
                    assert_eq!(
                        (left / 2 / across, top / (2 * down) * 2),
                        (x / 2, y / 2 * 2),
                        "{samples} {x} {y}"
                    );
                    seen.insert((left, top));
                }
            }
        }
        assert_eq!(seen.len(), 200 * samples as usize);
        assert_eq!(depth.extent(1, 1), [up(20 * across, 4), up(10 * down, 4)]);
    }
    // Each bit from the table: X' = ((X & ~1) << 2) | (S & 4) | ((S & 1) << 1) | (X & 1), Y' uses S
    // & 2.
    let eight = Layout { samples: 8, interleaved: true, ..Layout::default() };
    assert_eq!(eight.interleave(5, 3, 6), [16 | 4 | 1, 4 | 2 | 1]);
    let four = Layout { samples: 4, interleaved: true, ..Layout::default() };
    assert_eq!(four.interleave(5, 3, 3), [8 | 2 | 1, 4 | 2 | 1]);
}

/// Random surface states: each is refused, or the first and last texels of all its levels have an
/// address.
#[test]
fn any_state() {
    let mut random = Random::new(3);
    let mut resolved = 0;
    for _ in 0..20_000 {
        let dwords: [u32; RenderSurfaceState::DWORDS] =
            std::array::from_fn(|_| random.bits() as u32);
        let mut state = RenderSurfaceState::unpack_lossy(&dwords);
        if random.below(2) == 0 {
            (state.tile_mode, state.surface_min_lod) = (TileMode::LINEAR, U::ZERO);
        }
        let Ok(surface) = Surface::resolve(&state) else { continue };
        if surface.kind != SurfaceKind::Image {
            continue;
        }
        resolved += 1;
        for lod in 0..16 {
            let Some(level) = surface.level(lod) else { continue };
            let last = if surface.layout.dimension == Dimension::Three {
                level.depth
            } else {
                surface.slices
            };
            for slice in [0, surface.first_slice + last - 1] {
                for sample in [0, surface.layout.samples - 1] {
                    surface.texel(&level, slice, 0, 0, sample);
                    surface.texel(&level, slice, level.width - 1, level.height - 1, sample);
                }
            }
        }
        surface.layout.extent(15, surface.slices);
    }
    assert!(resolved > 300, "{resolved}");
}
