//! Tests of the blitter.
//!
//! Oracle of the random tests: [`oracle`], which computes a blit bit by bit from the manual's text.

mod command;
mod faults;
pub mod oracle;

use command::{COMMANDS, Command, DATA, Takes};
use genxml_cases::{Model, Random};
use oracle::{Blit, Colors, Packing, Pattern, Place, Side, Source, Tiling, bitmap_bytes};

/// Bytes of the test's memory. Surfaces lie in the first 128 KiB; bitmaps and patterns follow.
const SIZE: usize = 192 << 10;
const BITMAPS: u64 = 128 << 10;
const PATTERNS: u64 = 176 << 10;

/// The model with the test's memory.
struct Bench {
    model: Model,
    before: Vec<u8>,
}

impl Bench {
    fn new(random: &mut Random) -> Bench {
        let mut model = Model::new();
        model.map(DATA, SIZE as u64);
        Bench { model, before: random.bytes(SIZE) }
    }

    /// Runs the command and compares all of memory.
    fn check(&mut self, command: &Command, blit: &Blit) {
        self.model.write(DATA, &self.before);
        let packets = (command.packets)(blit);
        if let Err(fault) = self.model.blit(&packets) {
            panic!("{}: {fault}\n{blit:#?}", command.name);
        }
        let (after, expected) = (self.model.read(DATA, SIZE), blit.run(&self.before));
        if after != expected {
            let at = (0..SIZE).find(|&at| after[at] != expected[at]).unwrap();
            panic!(
                "{}: byte {at:#x} was {:#04x}, is {:#04x}, should be {:#04x}\n{blit:#?}",
                command.name, self.before[at], after[at], expected[at]
            );
        }
    }
}

fn one_in(random: &mut Random, count: u64) -> bool {
    random.below(count) == 0
}

fn between(random: &mut Random, low: i64, high: i64) -> i64 {
    low + random.below((high - low) as u64) as i64
}

/// A surface somewhere in the first 128 KiB, so that surfaces overlap often. Linear surfaces have
/// room before their first byte.
fn side(random: &mut Random, tiling: Tiling) -> Side {
    match tiling {
        Tiling::Linear if one_in(random, 4) => Side {
            tiling,
            base: between(random, 70_000, 110_000),
            pitch: -between(random, 200, 1000),
        },
        Tiling::Linear => Side {
            tiling,
            base: between(random, 12_000, 40_000),
            pitch: between(random, 200, 1000),
        },
        Tiling::X => {
            Side { tiling, base: 4096 * between(random, 0, 8), pitch: 512 * between(random, 1, 3) }
        }
        Tiling::Y => {
            Side { tiling, base: 4096 * between(random, 0, 8), pitch: 128 * between(random, 1, 6) }
        }
    }
}

fn tiling(random: &mut Random, command: &Command) -> Tiling {
    if !command.xy {
        return Tiling::Linear;
    }
    [Tiling::Linear, Tiling::X, Tiling::Y][random.below(3) as usize]
}

fn colors(random: &mut Random) -> Colors {
    Colors {
        background: random.bits() as u32,
        foreground: random.bits() as u32,
        transparent: one_in(random, 2),
    }
}

/// A rectangle that is usually at most 49 pixels wide. One of eight is 60 to 299 pixels wide.
fn rectangle(random: &mut Random, negative: bool) -> [i64; 4] {
    let low = if negative { -12 } else { 0 };
    let (x, y) = (between(random, low, 24), between(random, low, 16));
    let width = if one_in(random, 8) { between(random, 60, 300) } else { between(random, -1, 50) };
    // Right and bottom are exclusive. A width or height of 0 or -1 means an empty rectangle.
    [x, y, x + width, y + between(random, -1, 24)]
}

/// A random raster operation that the command supports.
fn operation(random: &mut Random, command: &Command) -> u8 {
    let rop = match random.below(4) {
        0 => [0xcc, 0xf0, 0x66, 0x5a, 0xaa, 0x55, 0x00, 0xff][random.below(8) as usize],
        _ => random.bits() as u8,
    };
    match (command.source, command.pattern) {
        (Takes::Nothing, _) => rop & 0x33 | (rop & 0x33) << 2,
        (_, Takes::Nothing) => rop & 0x0f | rop << 4,
        _ => rop,
    }
}

fn source(random: &mut Random, command: &Command, rectangle: &mut [i64; 4]) -> Source {
    let text = matches!(command.source, Takes::Text | Takes::TextImmediate);
    match command.source {
        Takes::Nothing | Takes::Solid => Source::None,
        Takes::Color => {
            let tiling = tiling(random, command);
            let low = if tiling == Tiling::Linear { -12 } else { 0 };
            let (x, y) = (between(random, low, 24), between(random, low, 16));
            Source::Color { side: side(random, tiling), x, y }
        }
        Takes::Mono | Takes::Immediate | Takes::Text | Takes::TextImmediate => {
            let start = random.below(8) as usize;
            let packing = match (text, random.below(2)) {
                (false, _) => Packing::Word,
                (true, 0) => Packing::Byte,
                (true, _) => Packing::Bit,
            };
            let in_memory = matches!(command.source, Takes::Mono | Takes::Text);
            let place = if in_memory {
                let align = if text { 1 } else { 64 };
                Place::Memory((BITMAPS + random.below(0x4000 / align) * align) as usize)
            } else {
                let size = |rectangle: &[i64; 4]| {
                    let (width, height) =
                        (rectangle[2] - rectangle[0], rectangle[3] - rectangle[1]);
                    if width <= 0 || height <= 0 {
                        return 0;
                    }
                    bitmap_bytes(start, packing, width as usize, height as usize)
                };
                // Keep the source small enough for the length field.
                while size(rectangle) > 960 {
                    rectangle[3] -= 1;
                }
                Place::Command(random.bytes(size(rectangle)))
            };
            Source::Bits { place, start, packing, colors: colors(random) }
        }
    }
}

fn pattern(random: &mut Random, command: &Command, size: usize) -> Pattern {
    let seeds = [random.below(8) as u32, random.below(8) as u32];
    match command.pattern {
        Takes::Nothing => Pattern::None,
        Takes::Solid => Pattern::Solid(random.bits() as u32),
        Takes::Color => {
            let at = PATTERNS + random.below(16) * 64 * size as u64;
            Pattern::Color { place: Place::Memory(at as usize), seeds }
        }
        Takes::Immediate => {
            Pattern::Color { place: Place::Command(random.bytes(64 * size)), seeds }
        }
        _ => Pattern::Mono {
            rows: random.bits().to_le_bytes(),
            solid: one_in(random, 5),
            colors: colors(random),
            seeds,
        },
    }
}

fn blit(random: &mut Random, command: &Command) -> Blit {
    let depth = random.below(4);
    let to = tiling(random, command);
    let negative = to == Tiling::Linear || one_in(random, 2);
    let mut rectangle = rectangle(random, negative);
    if depth != 0 && rectangle[2] - rectangle[0] > 60 {
        rectangle[2] = rectangle[0] + 60;
    }
    let mut clip = (command.xy && one_in(random, 2)).then(|| {
        let (left, top) = (between(random, -20, 30), between(random, -20, 20));
        [left, top, left + between(random, -2, 60), top + between(random, -2, 40)]
    });
    // Tiled surfaces have no memory left of or above the first tile. Only with a clip rectangle can
    // such a blit succeed.
    if to != Tiling::Linear && (rectangle[0] < 0 || rectangle[1] < 0) {
        let [left, top, right, bottom] = clip.unwrap_or(rectangle);
        clip = Some([left.max(0), top.max(0), right, bottom]);
    }
    let source = source(random, command, &mut rectangle);
    let low = random.bits() as u32 & random.bits() as u32;
    Blit {
        depth,
        rop: operation(random, command),
        mask: if one_in(random, 3) { random.below(4) } else { 3 },
        to: side(random, to),
        rectangle,
        clip,
        source,
        pattern: pattern(random, command, [1, 2, 2, 4][depth as usize]),
        key: if command.key {
            (random.below(8), low, low | random.bits() as u32)
        } else {
            (0, 0, 0)
        },
    }
}

/// Every command with random fields.
#[test]
fn every_command_at_random() {
    let mut random = Random::new(1);
    let mut bench = Bench::new(&mut random);
    for command in COMMANDS {
        for _ in 0..100 {
            let mut blit = blit(&mut random, command);
            if command.name == "XY_PIXEL_BLT" {
                blit.rectangle[2] = blit.rectangle[2].min(blit.rectangle[0] + 5);
                blit.rectangle[3] = blit.rectangle[3].min(blit.rectangle[1] + 5);
            }
            bench.check(command, &blit);
        }
    }
}

fn command(name: &str) -> &'static Command {
    COMMANDS.iter().find(|command| command.name == name).unwrap()
}

/// All 256 raster operations in all depths, with colours and with bits.
#[test]
fn every_operation() {
    let mut random = Random::new(2);
    let mut bench = Bench::new(&mut random);
    for name in ["XY_FULL_BLT", "XY_FULL_MONO_PATTERN_MONO_SRC_BLT"] {
        for (depth, rop) in (0..4).flat_map(|depth| (0..=255).map(move |rop| (depth, rop))) {
            let mut blit = blit(&mut random, command(name));
            let [x, y, ..] = blit.rectangle;
            blit.rectangle =
                [x, y, x + between(&mut random, 1, 12), y + between(&mut random, 1, 10)];
            let pattern = pattern(&mut random, command(name), [1, 2, 2, 4][depth as usize]);
            bench.check(command(name), &Blit { depth, rop, pattern, ..blit });
        }
    }
}

/// Source and destination are one surface, moved a little in each direction: "as if the source had
/// been read first".
#[test]
fn scrolling() {
    let mut random = Random::new(3);
    let mut bench = Bench::new(&mut random);
    for name in ["XY_SRC_COPY_BLT", "SRC_COPY_BLT", "XY_FULL_MONO_PATTERN_BLT"] {
        for (dx, dy) in (-2..=2).flat_map(|dx| (-2..=2).map(move |dy| (dx, dy))) {
            for tiling in [Tiling::Linear, Tiling::X, Tiling::Y] {
                let mut blit = blit(&mut random, command(name));
                if !command(name).xy && tiling != Tiling::Linear {
                    continue;
                }
                let (x, y) = (between(&mut random, 3, 30), between(&mut random, 3, 30));
                blit.rectangle = [x, y, x + 33, y + 17];
                blit.clip = None;
                blit.to = side(&mut random, tiling);
                blit.source = Source::Color { side: blit.to, x: x + dx, y: y + dy };
                bench.check(command(name), &blit);
            }
        }
    }
}

/// Source and destination that share memory but have different pitches or tilings, or overlapping
/// rows.
#[test]
fn strange_overlaps() {
    let mut random = Random::new(4);
    let mut bench = Bench::new(&mut random);
    let copy = command("XY_SRC_COPY_BLT");
    for _ in 0..150 {
        let mut blit = blit(&mut random, copy);
        blit.rectangle = [2, 3, 2 + between(&mut random, 1, 40), 3 + between(&mut random, 1, 20)];
        blit.clip = None;
        let side = |random: &mut Random| {
            let tiling = tiling(random, copy);
            let side = side(random, tiling);
            let pitch =
                if side.tiling == Tiling::Linear { between(random, -40, 40) } else { side.pitch };
            let base = if side.tiling == Tiling::Linear { between(random, 2000, 6000) } else { 0 };
            Side { pitch, base, ..side }
        };
        blit.to = side(&mut random);
        blit.source = Source::Color { side: side(&mut random), x: 3, y: 2 };
        bench.check(copy, &blit);
    }
}

/// A worked example: a bitmap of 5 x 3 pixels, 8 bits per pixel, rows aligned to words, starting at
/// bit 2. Only the 1 bits are drawn.
#[test]
fn a_bitmap() {
    let mut random = Random::new(5);
    let mut bench = Bench::new(&mut random);
    bench.before.fill(b'.');
    // Bits 10101, 01110 and 00100. The two bits before each row and the rest of its word are
    // ignored.
    let rows: [u16; 3] = [0b0010_1010_0000_0000, 0b1101_1101_1111_1111, 0b0000_1000_0000_0000];
    let bits = rows.iter().flat_map(|row| row.to_be_bytes()).collect();
    let colors = Colors { background: 0, foreground: u32::from(b'#'), transparent: true };
    let blit = Blit {
        depth: 0,
        rop: 0xcc,
        mask: 0,
        to: Side { tiling: Tiling::Linear, base: 0, pitch: 8 },
        rectangle: [1, 0, 6, 3],
        clip: None,
        source: Source::Bits {
            place: Place::Command(bits),
            start: 2,
            packing: Packing::Word,
            colors,
        },
        pattern: Pattern::None,
        key: (0, 0, 0),
    };
    bench.check(command("XY_MONO_SRC_COPY_IMMEDIATE_BLT"), &blit);
    let picture = b".#.#.#....###......#....";
    assert_eq!(bench.model.read(DATA, 24), picture);
}

/// The setup state belongs to the context and stays from one submission to the next.
#[test]
fn setups_belong_to_the_context() {
    let mut random = Random::new(6);
    let mut bench = Bench::new(&mut random);
    let scanlines = command("XY_SCANLINES_BLT, monochrome");
    let mut blit = blit(&mut random, scanlines);
    blit.rectangle = [0, 0, 20, 20];
    blit.to = Side { tiling: Tiling::Linear, base: 0, pitch: 256 };
    blit.clip = Some([1, 2, 11, 12]);
    blit.rop = 0xf0;
    let packets = (scanlines.packets)(&blit);
    bench.check(scanlines, &blit);
    // The last packet alone fails in a context without a setup, and succeeds in the first context.
    let last = &packets[packets.len() - 3..];
    let other = bench.model.gpu.create_context().unwrap();
    let first = std::mem::replace(&mut bench.model.context, other);
    bench.model.map(genxml_cases::BATCH, 4096);
    bench.model.blit(last).unwrap_err();
    bench.model.context = first;
    let before = bench.before.clone();
    bench.model.write(DATA, &before);
    bench.model.blit(last).unwrap();
    assert_eq!(bench.model.read(DATA, SIZE), blit.run(&before));
}
