//! Surface formats as data: which bits of an element hold each channel, and how they are encoded.
//!
//! The description comes from the format's name. The name lists the channels from the lowest bit
//! up, each as a letter and a number of bits. The encoding follows the channels that it applies to
//! (`R10G10B10_SNORM_A2_UNORM`, gen8_facts 9.2). [`Format::describe`] parses the name at compile
//! time. A table describes the formats whose names list no channels.
//!
//! * [`convert`]: converts one channel to and from a float or an integer;
//! * [`codec`]: converts elements and rows of elements to and from four channels;
//! * [`block`]: decodes blocks of compressed texels;
//! * [`support`]: lists the formats that the data port reads and writes.

pub mod block;
pub mod codec;
pub mod convert;
pub mod half;
pub mod support;
pub mod value;

pub use codec::Codec;

use genxml::gen8::state::SurfaceFormat;

/// What a channel is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Letter {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
    /// Alpha.
    A,
    /// Luminance: red, green and blue.
    L,
    /// Intensity: red, green, blue and alpha.
    I,
    /// An index into the sampler's palette.
    P,
    /// The exponent that the other channels share.
    E,
    /// Luma of a format without chroma. Decoded to green, like the luma of formats with chroma
    /// (003:3634).
    Y,
    /// Nothing: padding.
    X,
}

/// How the bits of a channel encode a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// 0 to 1 in equal steps.
    Unorm,
    /// -1 to 1 in equal steps; the lowest value means -1 as well.
    Snorm,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// A floating-point number of 64, 32 or 16 bits, or of 11 or 10 bits without a sign.
    Float,
    /// An unsigned integer that is read as a float.
    Uscaled,
    /// A signed integer that is read as a float.
    Sscaled,
    /// A signed number with 16 fraction bits.
    Sfixed,
    /// A mantissa of 9 bits, or the separate channel with the exponent.
    Shared,
    /// Bits that are not converted.
    Passthru,
    /// The encoding is not defined.
    Typeless,
}

/// A channel of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel {
    /// What the channel is for.
    pub letter: Letter,
    /// Lowest bit of the channel in the element.
    pub low: u16,
    /// Number of bits.
    pub bits: u16,
    /// How the bits encode a value.
    pub encoding: Encoding,
}

/// Type of the four channel values of an element: floats or integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numeric {
    /// Single floats, as bits.
    Float,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
}

/// Structure of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// A list of channels.
    Channels,
    /// Two pixels in four bytes that share their chroma.
    PackedYuv {
        /// Byte of each pixel's luma.
        luma: [u8; 2],
        /// Byte of Cb (U).
        cb: u8,
        /// Byte of Cr (V).
        cr: u8,
    },
    /// A plane of luma, then a plane of chroma of half its width and height.
    Planar,
    /// A block of compressed texels.
    Compressed,
    /// Bytes without channels, or single bits (MONO8).
    Raw,
}

/// A surface format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Code of the format.
    pub code: SurfaceFormat,
    /// Name of the format.
    pub name: &'static str,
    /// Bits of an element: a texel, or a block of compressed texels. For packed YUV, bits of a
    /// pixel; for planar formats, bits of luma.
    pub bits: u16,
    /// Texels of a block, across and down; 1 x 1 for all but compressed formats.
    pub block: [u8; 2],
    /// Structure of an element.
    pub class: Class,
    /// Channels from the lowest bit up. Only the first `count` entries are valid.
    pub channels: [Channel; 4],
    /// Number of channels.
    pub count: u8,
    /// Type of the channel values.
    pub numeric: Numeric,
    /// True if red, green and blue follow the sRGB curve.
    pub srgb: bool,
}

/// A format whose name lists no channels.
struct Other {
    name: &'static str,
    block: [u8; 2],
    class: Class,
}

const fn yuv(name: &'static str, luma: [u8; 2], cb: u8, cr: u8) -> Other {
    Other { name, block: [1, 1], class: Class::PackedYuv { luma, cb, cr } }
}

const fn block(name: &'static str, width: u8) -> Other {
    Other { name, block: [width, 4], class: Class::Compressed }
}

/// Formats whose names list no channels. `name` is the start of the format's name (gen8_facts 9.2
/// and 10.2).
const OTHERS: [Other; 13] = [
    Other { name: "RAW", block: [1, 1], class: Class::Raw },
    yuv("YCRCB_NORMAL", [0, 2], 1, 3),
    yuv("YCRCB_SWAPUVY", [1, 3], 2, 0),
    yuv("YCRCB_SWAPUV", [0, 2], 3, 1),
    yuv("YCRCB_SWAPY", [1, 3], 0, 2),
    Other { name: "PLANAR_420", block: [1, 1], class: Class::Planar },
    // One bit per texel, eight texels per byte. The sampler's monochrome filter reads only this
    // format.
    Other { name: "MONO8", block: [1, 1], class: Class::Raw },
    block("FXT1", 8),
    block("BC", 4),
    block("DXT", 4),
    block("ETC1", 4),
    block("ETC2", 4),
    block("EAC", 4),
];

/// Suffixes that give the encoding of the channels before them.
const ENCODINGS: [(&str, Encoding); 11] = [
    ("UNORM", Encoding::Unorm),
    ("SNORM", Encoding::Snorm),
    ("UINT", Encoding::Uint),
    ("SINT", Encoding::Sint),
    ("FLOAT", Encoding::Float),
    ("USCALED", Encoding::Uscaled),
    ("SSCALED", Encoding::Sscaled),
    ("SFIXED", Encoding::Sfixed),
    ("SHAREDEXP", Encoding::Shared),
    ("PASSTHRU", Encoding::Passthru),
    ("TYPELESS", Encoding::Typeless),
];

const NONE: Channel = Channel { letter: Letter::X, low: 0, bits: 0, encoding: Encoding::Typeless };

impl Format {
    /// Describes a format by parsing its name. `None` if the specification has no such format.
    ///
    /// # Panics
    /// If the name does not follow the rules of the module. A test checks all names of the
    /// specification.
    pub const fn describe(code: u64) -> Option<Format> {
        let Some(name) = SurfaceFormat::INFO.name_of(code) else { return None };
        let mut format = Format {
            code: SurfaceFormat::from_bits(code),
            name,
            bits: bits_of(code),
            block: [1, 1],
            class: Class::Channels,
            channels: [NONE; 4],
            count: 0,
            numeric: Numeric::Float,
            srgb: false,
        };
        let mut row = 0;
        while row < OTHERS.len() {
            if starts_with(name.as_bytes(), 0, OTHERS[row].name.as_bytes()) {
                format.block = OTHERS[row].block;
                format.class = OTHERS[row].class;
                format.srgb =
                    has_word(name.as_bytes(), b"SRGB") || has_word(name.as_bytes(), b"SRGB8");
                return Some(format);
            }
            row += 1;
        }
        Some(format.read_channels(name.as_bytes()))
    }

    /// Parses the channels and the encodings after them.
    const fn read_channels(mut self, name: &[u8]) -> Format {
        let (mut at, mut low, mut pending) = (0, 0, 0);
        while at < name.len() {
            if name[at] == b'_' {
                at += 1;
            } else if let Some((encoding, length)) = encoding(name, at) {
                while pending < self.count as usize {
                    if !matches!(self.channels[pending].letter, Letter::X) {
                        self.channels[pending].encoding = encoding;
                    }
                    pending += 1;
                }
                at += length;
            } else if starts_with(name, at, b"SRGB") {
                self.srgb = true;
                at += 4;
            } else if starts_with(name, at, b"PALETTE") {
                at = name.len();
            } else if starts_with(name, at, b"LD") && at + 2 == name.len() {
                at += 2;
            } else {
                let letter = letter(name[at]);
                let mut bits = 0;
                at += 1;
                while at < name.len() && name[at].is_ascii_digit() {
                    bits = bits * 10 + (name[at] - b'0') as u16;
                    at += 1;
                }
                self.channels[self.count as usize] =
                    Channel { letter, low, bits, encoding: Encoding::Typeless };
                self.count += 1;
                low += bits;
            }
        }
        assert!(low == self.bits, "the channels do not fill the element");
        self.with_numeric()
    }

    /// Sets the numeric type: integer if a channel is an integer, else float. The index of a
    /// palette is decoded as an integer, but the format stays a float format because its alpha is
    /// normalized.
    const fn with_numeric(mut self) -> Format {
        let mut index = 0;
        while index < self.count as usize {
            let channel = &mut self.channels[index];
            match (channel.letter, channel.encoding) {
                (Letter::P, _) => channel.encoding = Encoding::Uint,
                (_, Encoding::Uint | Encoding::Passthru) => self.numeric = Numeric::Uint,
                (_, Encoding::Sint) => self.numeric = Numeric::Sint,
                _ => {}
            }
            index += 1;
        }
        self
    }

    /// The description of `code`; `None` if the specification has no such format.
    pub fn of(code: SurfaceFormat) -> Option<&'static Format> {
        Codec::of(code).map(Codec::format)
    }

    /// Bytes of an element, or of a block of compressed texels; 1 for elements of less than a byte.
    pub const fn bytes(&self) -> u32 {
        self.bits.div_ceil(8) as u32
    }

    /// The channels of the format.
    pub fn channels(&self) -> &[Channel] {
        &self.channels[..usize::from(self.count)]
    }
}

const fn bits_of(code: u64) -> u16 {
    let list = SurfaceFormat::INFO.bits;
    let mut index = 0;
    while index < list.len() {
        if list[index].0 == code {
            return list[index].1;
        }
        index += 1;
    }
    0
}

const fn letter(byte: u8) -> Letter {
    match byte {
        b'R' => Letter::R,
        b'G' => Letter::G,
        b'B' => Letter::B,
        b'A' => Letter::A,
        b'L' => Letter::L,
        b'I' => Letter::I,
        b'P' => Letter::P,
        b'E' => Letter::E,
        b'Y' => Letter::Y,
        b'X' => Letter::X,
        _ => panic!("no channel has this letter"),
    }
}

/// The encoding whose name starts at `at`, and the length of that name.
const fn encoding(name: &[u8], at: usize) -> Option<(Encoding, usize)> {
    let mut row = 0;
    while row < ENCODINGS.len() {
        if starts_with(name, at, ENCODINGS[row].0.as_bytes()) {
            return Some((ENCODINGS[row].1, ENCODINGS[row].0.len()));
        }
        row += 1;
    }
    None
}

const fn starts_with(name: &[u8], at: usize, word: &[u8]) -> bool {
    let mut index = 0;
    while index < word.len() {
        if at + index >= name.len() || name[at + index] != word[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// True if `word` is one of the words of `name`, which underscores separate.
const fn has_word(name: &[u8], word: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        let begins = at == 0 || name[at - 1] == b'_';
        let end = at + word.len();
        if begins && starts_with(name, at, word) && (end == name.len() || name[end] == b'_') {
            return true;
        }
        at += 1;
    }
    false
}
