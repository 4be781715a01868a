//! 2D commands. Oracle: `crate::blitter::oracle`, which computes a blit bit by bit from the text of
//! the manual.

use super::{DATA, G45, SIZE};
use crate::blitter::oracle::{Blit, Pattern, Side, Source, Tiling};
use genxml::core::{Address, S, U};
use genxml::gen45::commands_blitter::{XyColorBlt, XySetupBlt, XySrcCopyBlt};
use genxml::gen45::enums::{BlitByteMask, BlitColorDepth, BlitRasterOperation};
use genxml_cases::Random;

fn between(random: &mut Random, low: i64, high: i64) -> i64 {
    low + random.below((high - low) as u64) as i64
}

/// A linear or X-tiled surface. There is no Y tiling.
fn side(random: &mut Random) -> Side {
    match random.below(2) {
        0 => Side {
            tiling: Tiling::Linear,
            base: between(random, 12_000, 40_000),
            pitch: between(random, 200, 1000),
        },
        _ => Side {
            tiling: Tiling::X,
            base: 4096 * between(random, 0, 8),
            pitch: 512 * between(random, 1, 3),
        },
    }
}

/// The field for a pitch: bytes, or dwords if tiled. (gen45_facts 15)
fn pitch(side: &Side) -> S<16> {
    S::from_bits((if side.tiling == Tiling::X { side.pitch / 4 } else { side.pitch }) as u64)
}

fn base(side: &Side) -> u64 {
    DATA + side.base as u64
}

fn coordinate(value: i64) -> S<16> {
    S::from_bits(value as u64 & 0xffff)
}

/// XY_SETUP_BLT with the clip rectangle, if there is one, and the command of the blit.
fn packets(blit: &Blit) -> Vec<u32> {
    let [x1, y1, x2, y2] = blit.rectangle.map(coordinate);
    let [left, top, right, bottom] = blit.clip.unwrap_or_default().map(coordinate);
    let mask = BlitByteMask::from_bits(blit.mask);
    let depth = BlitColorDepth::from_bits(blit.depth);
    let rop = BlitRasterOperation::from_bits(blit.rop.into());
    let tiled = blit.to.tiling == Tiling::X;
    let mut setup = XySetupBlt::new();
    setup.clip_rect_x1_coordinate = left;
    setup.clip_rect_y1_coordinate = top;
    setup.clip_rect_x2_coordinate = right;
    setup.clip_rect_y2_coordinate = bottom;
    let mut dwords = setup.pack().to_vec();
    match (&blit.source, &blit.pattern) {
        (Source::Color { side: from, x, y }, _) => {
            let packet = XySrcCopyBlt {
                destination_tiling_enable: tiled,
                source_tiling_enable: from.tiling == Tiling::X,
                _32bpp_byte_mask: mask,
                destination_pitch: pitch(&blit.to),
                raster_operation: rop,
                color_depth: depth,
                clipping_enabled: blit.clip.is_some(),
                destination_x1_coordinate: x1,
                destination_y1_coordinate: y1,
                destination_x2_coordinate: x2,
                destination_y2_coordinate: y2,
                destination_base_address: Address::from_bits(base(&blit.to)),
                source_x1_coordinate: coordinate(*x),
                source_y1_coordinate: coordinate(*y),
                source_pitch: pitch(from),
                source_base_address: Address::from_bits(base(from)),
            };
            dwords.extend(packet.pack());
        }
        (_, Pattern::Solid(color)) => {
            let packet = XyColorBlt {
                tiling_enable: tiled,
                _32bpp_byte_mask: mask,
                destination_pitch: pitch(&blit.to),
                raster_operation: rop,
                color_depth: depth,
                clipping_enabled: blit.clip.is_some(),
                destination_x1_coordinate: x1,
                destination_y1_coordinate: y1,
                destination_x2_coordinate: x2,
                destination_y2_coordinate: y2,
                destination_base_address: Address::from_bits(base(&blit.to)),
                solid_pattern_color: U::from_bits((*color).into()),
            };
            dwords.extend(packet.pack());
        }
        _ => unreachable!("a blit has a source or a colour"),
    }
    dwords
}

fn blit(random: &mut Random) -> Blit {
    let (x, y) = (between(random, 0, 24), between(random, 0, 16));
    let copies = random.below(2) == 0;
    let bits = random.bits() as u8;
    // The command has no pattern, or no source.
    let rop = if copies { bits & 0x0f | bits << 4 } else { bits & 0x33 | (bits & 0x33) << 2 };
    Blit {
        depth: random.below(4),
        rop: match (random.below(3), copies) {
            (0, true) => 0xcc,
            (0, false) => 0xf0,
            _ => rop,
        },
        mask: random.below(4),
        to: side(random),
        rectangle: [x, y, x + between(random, -1, 50), y + between(random, -1, 24)],
        clip: (random.below(3) == 0).then(|| {
            let (left, top) = (between(random, 0, 30), between(random, 0, 20));
            [left, top, left + between(random, -2, 40), top + between(random, -2, 30)]
        }),
        source: match copies {
            true => {
                let (x, y) = (between(random, 0, 24), between(random, 0, 16));
                Source::Color { side: side(random), x, y }
            }
            false => Source::None,
        },
        pattern: match copies {
            true => Pattern::None,
            false => Pattern::Solid(random.bits() as u32),
        },
        key: (0, 0, 0),
    }
}

#[test]
fn copies_and_fills_at_random() {
    let mut random = Random::new(45);
    let mut g45 = G45::new();
    let before = random.bytes(SIZE);
    for _ in 0..400 {
        let blit = blit(&mut random);
        g45.write(DATA, &before);
        if let Err(fault) = g45.run(&packets(&blit)) {
            panic!("{fault}\n{blit:#?}");
        }
        let (after, expected) = (g45.read(DATA, SIZE), blit.run(&before));
        if let Some(at) = (0..SIZE).find(|&at| after[at] != expected[at]) {
            let (is, should) = (after[at], expected[at]);
            panic!("byte {at:#x} is {is:#04x}, should be {should:#04x}\n{blit:#?}");
        }
    }
}
