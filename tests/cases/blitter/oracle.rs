//! Computes a blit pixel by pixel and bit by bit, from the manual's text (2d p.43 to 68).

/// Layout of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tiling {
    Linear,
    X,
    Y,
}

/// A surface in the test's memory.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub tiling: Tiling,
    /// Offset of its first byte.
    pub base: i64,
    /// Distance between rows in bytes.
    pub pitch: i64,
}

impl Side {
    /// Offset of byte `x` of row `y`: the whole tiles before it, then the offset in its tile. X
    /// tiles have 8 rows of 512 bytes; Y tiles have 8 columns of 32 rows of 16 bytes (gen8_facts
    /// 10.1).
    pub fn byte(&self, x: i64, y: i64) -> usize {
        let (wide, high) = match self.tiling {
            Tiling::Linear => return usize::try_from(self.base + y * self.pitch + x).unwrap(),
            Tiling::X => (512, 8),
            Tiling::Y => (128, 32),
        };
        let tile = y.div_euclid(high) * (self.pitch / wide) + x.div_euclid(wide);
        let (x, y) = (x.rem_euclid(wide), y.rem_euclid(high));
        let inside = match self.tiling {
            Tiling::X => y * 512 + x,
            _ => x / 16 * 512 + y * 16 + x % 16,
        };
        usize::try_from(self.base + tile * 4096 + inside).unwrap()
    }

    fn pixel(&self, memory: &[u8], size: i64, x: i64, y: i64) -> u32 {
        (0..size).fold(0, |pixel, byte| {
            pixel | u32::from(memory[self.byte(x * size + byte, y)]) << (8 * byte)
        })
    }
}

/// Where the bytes of a bitmap or a colour pattern come from.
#[derive(Clone, Debug)]
pub enum Place {
    Memory(usize),
    Command(Vec<u8>),
}

impl Place {
    pub fn byte(&self, memory: &[u8], index: usize) -> u8 {
        match self {
            Place::Memory(at) => memory[at + index],
            Place::Command(bytes) => bytes[index],
        }
    }

    /// "MSB left": the first pixel of a byte is its highest bit (gen8_facts 13).
    fn bit(&self, memory: &[u8], index: usize) -> bool {
        self.byte(memory, index / 8) >> (7 - index % 8) & 1 != 0
    }
}

/// Alignment of the rows of a bitmap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    Word,
    Byte,
    Bit,
}

/// The colours that the bits 0 and 1 stand for.
#[derive(Clone, Copy, Debug)]
pub struct Colors {
    pub background: u32,
    pub foreground: u32,
    pub transparent: bool,
}

impl Colors {
    /// "Wherever a bit in the source data has the value of 0, the color specified in the background
    /// color register is used [...] 1b: [...] the byte(s) at the destination [...] are simply not
    /// written" (2d p.47).
    fn pixel(&self, bit: bool) -> Option<u32> {
        match bit {
            true => Some(self.foreground),
            false if self.transparent => None,
            false => Some(self.background),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Source {
    None,
    Color { side: Side, x: i64, y: i64 },
    Bits { place: Place, start: usize, packing: Packing, colors: Colors },
}

#[derive(Clone, Debug)]
pub enum Pattern {
    None,
    Solid(u32),
    Color { place: Place, seeds: [u32; 2] },
    Mono { rows: [u8; 8], solid: bool, colors: Colors, seeds: [u32; 2] },
}

/// A blit.
#[derive(Clone, Debug)]
pub struct Blit {
    /// Color Depth: 8, 565, 1555 or 8888 bits.
    pub depth: u64,
    pub rop: u8,
    /// 32bpp Byte Mask: bit 1 alpha, bit 0 colours.
    pub mask: u64,
    pub to: Side,
    /// Left, top, right, bottom. Right and bottom are exclusive.
    pub rectangle: [i64; 4],
    pub clip: Option<[i64; 4]>,
    pub source: Source,
    pub pattern: Pattern,
    /// Transparency Range Mode, low and high colour.
    pub key: (u64, u32, u32),
}

impl Blit {
    /// Bytes of a pixel.
    pub fn size(&self) -> i64 {
        [1, 2, 2, 4][self.depth as usize]
    }

    pub fn width(&self) -> i64 {
        self.rectangle[2] - self.rectangle[0]
    }

    pub fn height(&self) -> i64 {
        self.rectangle[3] - self.rectangle[1]
    }

    /// Memory after the blit: "as if the source had been read first" (gen8_facts 13).
    pub fn run(&self, before: &[u8]) -> Vec<u8> {
        let mut memory = before.to_vec();
        let [left, top, right, bottom] = self.rectangle;
        for (x, y) in (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y))) {
            if let Some([left, top, right, bottom]) = self.clip
                && (x < left || x >= right || y < top || y >= bottom)
            {
                continue;
            }
            let source = self.source_pixel(before, x - left, y - top);
            let pattern = self.pattern_pixel(before, x, y);
            let destination = self.to.pixel(&memory, self.size(), x, y);
            let (Some(source), Some(pattern)) = (source, pattern) else { continue };
            if !self.key_writes(source, pattern, destination) {
                continue;
            }
            for bit in 0..8 * self.size() {
                // 32bpp Byte Mask: "This field is only used for 32bpp. 1xb Write Alpha Channel, x1b
                // Write RGB Channel".
                if self.depth == 3 && self.mask & if bit >= 24 { 2 } else { 1 } == 0 {
                    continue;
                }
                let operand = |pixel: u32| pixel >> bit & 1;
                let index = operand(pattern) << 2 | operand(source) << 1 | operand(destination);
                let at = self.to.byte(x * self.size() + bit / 8, y);
                let place = 1 << (bit % 8);
                if self.rop >> index & 1 != 0 {
                    memory[at] |= place;
                } else {
                    memory[at] &= !place;
                }
            }
        }
        memory
    }

    /// The source pixel for a column and row of the rectangle; `None` if it is not drawn.
    fn source_pixel(&self, memory: &[u8], column: i64, row: i64) -> Option<u32> {
        match &self.source {
            Source::None => Some(0),
            Source::Color { side, x, y } => {
                Some(side.pixel(memory, self.size(), x + column, y + row))
            }
            Source::Bits { place, start, packing, colors } => {
                let bit =
                    bit_of(*start, *packing, self.width() as usize, column as usize, row as usize);
                colors.pixel(place.bit(memory, bit))
            }
        }
    }

    /// "Horizontal Pattern Seed: the pattern pixel position which corresponds to X = 0", "Pattern
    /// Vertical Seed: the pattern scan line which corresponds to Y=0" (2d p.44, 45); "the pattern
    /// is always of 8x8 pixels" (2d p.60).
    fn pattern_pixel(&self, memory: &[u8], x: i64, y: i64) -> Option<u32> {
        let at = |seeds: [u32; 2]| {
            (
                (x + i64::from(seeds[0])).rem_euclid(8) as usize,
                (y + i64::from(seeds[1])).rem_euclid(8) as usize,
            )
        };
        match &self.pattern {
            Pattern::None => Some(0),
            Pattern::Solid(color) => Some(*color),
            Pattern::Color { place, seeds } => {
                let (column, row) = at(*seeds);
                let size = self.size() as usize;
                let first = (row * 8 + column) * size;
                Some((0..size).fold(0, |pixel, byte| {
                    pixel | u32::from(place.byte(memory, first + byte)) << (8 * byte)
                }))
            }
            // "the presumption is made that all of the bits of the pattern data are set to 0" (2d
            // p.56).
            Pattern::Mono { solid: true, colors, .. } => colors.pixel(false),
            Pattern::Mono { rows, colors, seeds, .. } => {
                let (column, row) = at(*seeds);
                colors.pixel(rows[row] >> (7 - column) & 1 != 0)
            }
        }
    }

    /// Transparency Range Mode (2d p.44, 45): "The range comparisons are done on each component
    /// [...] and then logically ANDed. If the source pixel components are not within the range
    /// [...], then the byte(s) at the destination [...] are written"; "If the destination pixels
    /// are within the range, then the byte(s) [...] are written".
    fn key_writes(&self, source: u32, pattern: u32, destination: u32) -> bool {
        let (mode, low, high) = self.key;
        let within = |pixel: u32, alpha: bool| {
            // Name, first bit, number of bits.
            let components: &[(char, u32, u32)] = match self.depth {
                0 => &[('i', 0, 8)],
                1 => &[('r', 11, 5), ('g', 5, 6), ('b', 0, 5)],
                2 => &[('a', 15, 1), ('r', 10, 5), ('g', 5, 5), ('b', 0, 5)],
                _ => &[('a', 24, 8), ('r', 16, 8), ('g', 8, 8), ('b', 0, 8)],
            };
            components.iter().filter(|(name, ..)| alpha || *name != 'a').all(|&(_, first, bits)| {
                let part = |value: u32| value >> first & ((1 << bits) - 1);
                part(low) <= part(pixel) && part(pixel) <= part(high)
            })
        };
        // Without a source, the pattern is used as the source.
        let source = if matches!(self.source, Source::None) { pattern } else { source };
        match mode {
            1 => !within(source, false),
            3 => !within(source, true),
            5 => within(destination, true),
            7 => within(destination, false),
            _ => true,
        }
    }
}

/// Index of the bit of a bitmap that belongs to a pixel, counted pixel by pixel and row by row.
/// "The starting monochrome pixel bit position within a byte per scan line [...]. The monochrome
/// source is word aligned which means that at the end of the scan line all bits should be discarded
/// until the next word boundary" (2d p.43). Byte-packed text aligns rows to bytes instead of words.
/// Bit-packed text does not align rows, so only the first row has a start bit.
pub fn bit_of(start: usize, packing: Packing, width: usize, column: usize, row: usize) -> usize {
    let mut bit = start;
    for _ in 0..row {
        bit += width;
        let boundary = match packing {
            Packing::Word => 16,
            Packing::Byte => 8,
            Packing::Bit => continue,
        };
        while !bit.is_multiple_of(boundary) {
            bit += 1;
        }
        bit += start;
    }
    bit + column
}

/// Bytes of a bitmap, including the padding of its last row.
pub fn bitmap_bytes(start: usize, packing: Packing, width: usize, height: usize) -> usize {
    let last = bit_of(start, packing, width, width - 1, height - 1);
    match packing {
        Packing::Word => (last / 16 + 1) * 2,
        Packing::Byte | Packing::Bit => last / 8 + 1,
    }
}
