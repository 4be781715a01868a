//! ETC1, and the colours of ETC2. A block has two halves, each with a base colour and differences
//! to it. In ETC2, a second colour that leaves its range selects another mode: T, H or planar
//! (OpenGL ES 3, appendix C).

use super::super::value::Value;
use super::bc1::parts;
use super::eac::Eac;
use super::texels::{Block, Bytes, Channel, expand, field};
use crate::assumptions::ETC1_IS_READ_AS_ETC2;

/// Differences to the base colour of a half, by table number: small and large.
const MODIFIERS: [[i32; 2]; 8] =
    [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];

/// Differences in the modes T and H.
const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];

type Rgb = [u8; 3];

/// Colours of the texels of a block.
enum Colours {
    /// A palette for each half. The second half is the lower one if `below` is true, otherwise the
    /// right one.
    Halves { palettes: [[Value; 4]; 2], below: bool },
    /// Colours at the first texel, four texels to the right of it, and four texels below it.
    Planar { origin: Rgb, right: Rgb, below: Rgb, values: Bytes },
}

/// A decoded block of 64 bits.
pub struct Etc2 {
    colours: Colours,
    word: u64,
}

impl Etc2 {
    /// Reads a block of ETC1.
    #[inline]
    pub fn etc1(bytes: &[u8; 8]) -> Etc2 {
        let word = u64::from_be_bytes(*bytes);
        Etc2::read(word, field(word, 33, 1) == 1, true, !ETC1_IS_READ_AS_ETC2, false)
    }

    /// Reads a block of ETC2 without alpha.
    #[inline]
    pub fn rgb(bytes: &[u8; 8], srgb: bool) -> Etc2 {
        let word = u64::from_be_bytes(*bytes);
        Etc2::read(word, field(word, 33, 1) == 1, true, false, srgb)
    }

    /// Reads a block with punch-through alpha. The bit that selects differential mode in other
    /// blocks says here whether all texels are opaque.
    #[inline]
    pub fn punch_through(bytes: &[u8; 8], srgb: bool) -> Etc2 {
        let word = u64::from_be_bytes(*bytes);
        Etc2::read(word, true, field(word, 33, 1) == 1, false, srgb)
    }

    #[inline(always)]
    fn read(word: u64, differential: bool, opaque: bool, wraps: bool, srgb: bool) -> Etc2 {
        let values = Bytes::new(srgb);
        let paint = |colours: [Rgb; 4]| {
            let mut palette =
                colours.map(|[red, green, blue]| values.value([red, green, blue, 0xff]));
            if !opaque {
                palette[2] = [0; 4];
            }
            palette
        };
        let both = |palette| Colours::Halves { palettes: [palette; 2], below: false };
        let colours = if !differential {
            halves(word, individual(word), true, paint)
        } else {
            match second(word, wraps) {
                Ok(colours) => halves(word, colours, opaque, paint),
                Err(0) => both(paint(way_t(word))),
                Err(1) => both(paint(way_h(word))),
                Err(_) => planar(word, values),
            }
        };
        Etc2 { colours, word }
    }
}

/// The two base colours of 4 bits a channel.
#[inline(always)]
fn individual(word: u64) -> [Rgb; 2] {
    [60, 56].map(|low| [low, low - 8, low - 16].map(|low| expand(field(word, low, 4), 4)))
}

/// The two base colours: the first has 5 bits a channel, the second is a difference to it. Channels
/// of the second that leave their range wrap if `wraps` is true. Otherwise the error is the number
/// of the first such channel.
#[inline(always)]
fn second(word: u64, wraps: bool) -> Result<[Rgb; 2], usize> {
    let first = [59, 51, 43].map(|low| field(word, low, 5));
    let mut second = first;
    for (n, channel) in second.iter_mut().enumerate() {
        // The difference has three bits with a sign. Inverting the highest bit adds 4 to it.
        let more = field(word, 56 - 8 * n as u32, 3) ^ 4;
        *channel = (*channel + more).wrapping_sub(4);
        if *channel > 31 && !wraps {
            return Err(n);
        }
    }
    Ok([first, second].map(|colour| colour.map(|channel| expand(channel & 31, 5))))
}

/// Palettes of two halves with a base colour and a table each. In blocks with transparent texels,
/// the small difference is 0.
#[inline(always)]
fn halves(
    word: u64,
    colours: [Rgb; 2],
    opaque: bool,
    paint: impl Fn([Rgb; 4]) -> [Value; 4],
) -> Colours {
    let palette = |colour: Rgb, low: u32| {
        let [small, large] = MODIFIERS[field(word, low, 3) as usize];
        let small = if opaque { small } else { 0 };
        paint([small, large, -small, -large].map(|modifier| shifted(colour, modifier)))
    };
    let palettes = [palette(colours[0], 37), palette(colours[1], 34)];
    Colours::Halves { palettes, below: field(word, 32, 1) == 1 }
}

/// Adds the same difference to each channel of a colour.
#[inline(always)]
fn shifted(colour: Rgb, difference: i32) -> Rgb {
    colour.map(|channel| (i32::from(channel) + difference).clamp(0, 255) as u8)
}

/// Palette of mode T: the first colour, and the second colour with two variants.
#[inline(always)]
fn way_t(word: u64) -> [Rgb; 4] {
    let first =
        [field(word, 59, 2) << 2 | field(word, 56, 2), field(word, 52, 4), field(word, 48, 4)];
    let second = [field(word, 44, 4), field(word, 40, 4), field(word, 36, 4)];
    let [first, second] = [first, second].map(|colour| colour.map(|channel| expand(channel, 4)));
    let distance = DISTANCES[(field(word, 34, 2) << 1 | field(word, 32, 1)) as usize];
    [first, shifted(second, distance), second, shifted(second, -distance)]
}

/// Palette of mode H: two variants of each of two colours. The lowest bit of the distance's number
/// is 1 if the first colour is not less than the second.
#[inline(always)]
fn way_h(word: u64) -> [Rgb; 4] {
    let first = [
        field(word, 59, 4),
        field(word, 56, 3) << 1 | field(word, 52, 1),
        field(word, 51, 1) << 3 | field(word, 47, 3),
    ];
    let second = [field(word, 43, 4), field(word, 39, 4), field(word, 35, 4)];
    let distance = field(word, 34, 1) << 2 | field(word, 32, 1) << 1 | u32::from(first >= second);
    let distance = DISTANCES[distance as usize];
    let [first, second] = [first, second].map(|colour| colour.map(|channel| expand(channel, 4)));
    [
        shifted(first, distance),
        shifted(first, -distance),
        shifted(second, distance),
        shifted(second, -distance),
    ]
}

/// Planar mode: three colours of 6, 7 and 6 bits.
#[inline(always)]
fn planar(word: u64, values: Bytes) -> Colours {
    let rgb = |[red, green, blue]: [u32; 3]| [expand(red, 6), expand(green, 7), expand(blue, 6)];
    let origin = rgb([
        field(word, 57, 6),
        field(word, 56, 1) << 6 | field(word, 49, 6),
        field(word, 48, 1) << 5 | field(word, 43, 2) << 3 | field(word, 39, 3),
    ]);
    let right =
        rgb([field(word, 34, 5) << 1 | field(word, 32, 1), field(word, 25, 7), field(word, 19, 6)]);
    let below = rgb([field(word, 13, 6), field(word, 6, 7), field(word, 0, 6)]);
    Colours::Planar { origin, right, below, values }
}

impl Block for Etc2 {
    /// Indices go down the columns. The word has the high bits of all indices in 31:16 and the low
    /// bits in 15:0.
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        match &self.colours {
            Colours::Halves { palettes, below } => {
                let n = (4 * x + y) as u32;
                let index = field(self.word, 16 + n, 1) << 1 | field(self.word, n, 1);
                let half = if *below { y / 2 } else { x / 2 };
                palettes[half & 1][index as usize]
            }
            Colours::Planar { origin, right, below, values } => {
                let channel = |n: usize| {
                    let [origin, right, below] =
                        [origin, right, below].map(|colour| i32::from(colour[n]));
                    let sum =
                        x as i32 * (right - origin) + y as i32 * (below - origin) + 4 * origin + 2;
                    (sum >> 2).clamp(0, 255) as u8
                };
                values.value([channel(0), channel(1), channel(2), 0xff])
            }
        }
    }
}

/// A decoded block of 128 bits: a block of alpha, then a block of colours.
pub struct Rgba {
    colours: Etc2,
    alpha: Eac,
}

impl Rgba {
    /// Reads a block of 128 bits.
    #[inline]
    pub fn read(bytes: &[u8; 16], srgb: bool) -> Rgba {
        let [alpha, colours] = parts(bytes);
        Rgba { colours: Etc2::rgb(colours, srgb), alpha: Eac::alpha(alpha) }
    }
}

impl Block for Rgba {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        let [red, green, blue, _] = self.colours.texel(x, y);
        [red, green, blue, self.alpha.value(x, y).to_bits()]
    }
}
