//! Elements to and from four channels.
//!
//! One body reads the description of a format. For formats that much work is done on, it is compiled once more with the
//! description as a constant, which leaves the few shifts and conversions of that format.

use super::support::{TYPED_ATOMIC, TYPED_READ, TYPED_WRITE};
use super::{Class, Encoding, Format, Letter, Numeric, convert};
use crate::assumptions::PADDING_IS_WRITTEN_AS_ZERO;
use genxml::gen8::state::SurfaceFormat;
use std::sync::LazyLock;

/// Red, green, blue and alpha, or the bits of floats or integers, as [`Format::numeric`] says.
pub type Value = [u32; 4];

/// All channels, as a mask of the first four bits: red, green, blue, alpha.
pub const ALL: u8 = 0xf;

/// Bits of an element, from the lowest up; no channel lies in two words.
pub type Words = [u64; 4];

type Decode = fn(&Format, &[u8], &mut [Value]);
type Encode = fn(&Format, &[Value], u8, &mut [u8]);

/// How a surface's elements are read and written, found once for each surface.
#[derive(Clone, Copy, Debug)]
pub struct Codec {
    format: Format,
    decode: Decode,
    encode: Encode,
    typed: [bool; 3],
}

impl PartialEq for Codec {
    fn eq(&self, other: &Self) -> bool {
        self.format.code == other.format.code
    }
}

impl Eq for Codec {}

impl Codec {
    /// The codec of a format; `None` if the specification has no such format.
    pub fn of(code: SurfaceFormat) -> Option<&'static Codec> {
        static ALL: LazyLock<Vec<Option<Codec>>> = LazyLock::new(|| (0..512).map(Codec::new).collect());
        ALL.get(code.bits() as usize)?.as_ref()
    }

    fn new(code: u64) -> Option<Codec> {
        let format = Format::describe(code)?;
        let typed = [
            TYPED_READ.contains(&format.code),
            TYPED_WRITE.contains(&format.code),
            TYPED_ATOMIC.contains(&format.code),
        ];
        let (decode, encode) = fast(format.code).unwrap_or((decode_any, encode_any));
        Some(Codec { format, decode, encode, typed })
    }

    /// True if typed reads take the format.
    pub fn typed_read(&self) -> bool {
        self.typed[0]
    }

    /// True if typed writes take the format.
    pub fn typed_write(&self) -> bool {
        self.typed[1]
    }

    /// True if typed atomic operations take the format.
    pub fn typed_atomic(&self) -> bool {
        self.typed[2]
    }

    /// True if an element has no other channels than these, so that nothing of its old bits is left.
    pub fn is_whole(&self, channels: u8) -> bool {
        self.format.channels().iter().all(|channel| match source(channel.letter) {
            Some(n) => channels >> n & 1 == 1,
            None => PADDING_IS_WRITTEN_AS_ZERO,
        })
    }

    /// The description of the format.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// True if elements have channels that [`Codec::decode`] finds: all formats but blocks of compressed texels, packed
    /// and planar YUV, and raw bytes. Of 64-bit channels that pass as they are there are too many bits.
    pub fn has_channels(&self) -> bool {
        has_channels(&self.format)
    }

    /// Decodes elements that lie one behind the other, as many as there are both whole elements and places.
    ///
    /// Channels that the format lacks are 0, alpha 1 (003:3550). The index of a palette stands in red, as an integer.
    /// Formats without channels ([`Codec::has_channels`]) leave `out` as it is.
    #[inline]
    pub fn decode(&self, bytes: &[u8], out: &mut [Value]) {
        (self.decode)(&self.format, bytes, out);
    }

    /// One element.
    #[inline]
    pub fn decode_one(&self, bytes: &[u8]) -> Value {
        let mut out = [[0; 4]];
        self.decode(bytes, &mut out);
        out[0]
    }

    /// Encodes values to elements that lie one behind the other. `channels` says which of red, green, blue and alpha
    /// (bits 0 to 3) are written; the others keep their bits, padding becomes 0.
    #[inline]
    pub fn encode(&self, values: &[Value], channels: u8, bytes: &mut [u8]) {
        (self.encode)(&self.format, values, channels, bytes);
    }

    /// One element.
    #[inline]
    pub fn encode_one(&self, value: Value, channels: u8, bytes: &mut [u8]) {
        self.encode(&[value], channels, bytes);
    }
}

fn has_channels(format: &Format) -> bool {
    format.class == Class::Channels
        && format.bits.is_multiple_of(8)
        && !matches!(format.channels[0].encoding, Encoding::Passthru)
}

/// The channels of an element.
#[inline(always)]
pub fn decode_element(format: &Format, words: &Words) -> Value {
    let one = if matches!(format.numeric, Numeric::Float) { 1.0f32.to_bits() } else { 1 };
    let mut value = [0, 0, 0, one];
    if matches!(format.channels[0].encoding, Encoding::Shared) {
        let part =
            |index: usize| field(words, format.channels[index].low, format.channels[index].bits) as u32;
        let [red, green, blue] = convert::shared_exponent([part(0), part(1), part(2)], part(3));
        return [red, green, blue, one];
    }
    for channel in format.channels.iter().take(format.count.into()) {
        let (raw, bits) = (field(words, channel.low, channel.bits), u32::from(channel.bits));
        let decoded = if format.srgb && !matches!(channel.letter, Letter::A) {
            convert::linear(raw, bits).to_bits()
        } else {
            convert::decode(channel.encoding, bits, raw)
        };
        match channel.letter {
            Letter::R | Letter::P => value[0] = decoded,
            Letter::G | Letter::Y => value[1] = decoded,
            Letter::B => value[2] = decoded,
            Letter::A => value[3] = decoded,
            Letter::L => [value[0], value[1], value[2]] = [decoded; 3],
            Letter::I => value = [decoded; 4],
            Letter::E | Letter::X => {}
        }
    }
    value
}

/// The channel of a [`Value`] that a channel of the format is written from.
#[inline(always)]
const fn source(letter: Letter) -> Option<usize> {
    match letter {
        Letter::R | Letter::L | Letter::I | Letter::P => Some(0),
        Letter::G | Letter::Y => Some(1),
        Letter::B => Some(2),
        Letter::A => Some(3),
        Letter::E | Letter::X => None,
    }
}

/// Puts channels into an element.
#[inline(always)]
pub fn encode_element(format: &Format, mut value: Value, channels: u8, words: &mut Words) {
    if matches!(format.channels[0].encoding, Encoding::Shared) {
        let old = decode_element(format, words);
        for index in 0..3 {
            if channels >> index & 1 == 0 {
                value[index] = old[index];
            }
        }
        let (mantissas, exponent) = convert::to_shared_exponent([value[0], value[1], value[2]]);
        *words = [0; 4];
        for (channel, part) in format.channels.iter().zip(mantissas.into_iter().chain([exponent])) {
            put(words, channel.low, channel.bits, part.into());
        }
        return;
    }
    for channel in format.channels.iter().take(format.count.into()) {
        let raw = match source(channel.letter) {
            Some(index) if channels >> index & 1 == 0 => continue,
            Some(index) if format.srgb && index < 3 => {
                convert::from_linear(f32::from_bits(value[index]), channel.bits.into())
            }
            Some(index) => convert::encode(channel.encoding, channel.bits.into(), value[index]),
            None if PADDING_IS_WRITTEN_AS_ZERO => 0,
            None => continue,
        };
        put(words, channel.low, channel.bits, raw);
    }
}

#[inline(always)]
const fn field(words: &Words, low: u16, bits: u16) -> u64 {
    words[low as usize / 64] >> (low % 64) & (u64::MAX >> (64 - bits))
}

#[inline(always)]
fn put(words: &mut Words, low: u16, bits: u16, raw: u64) {
    let (mask, shift) = (u64::MAX >> (64 - bits), low % 64);
    let word = &mut words[usize::from(low / 64)];
    *word = *word & !(mask << shift) | (raw & mask) << shift;
}

/// The words of an element of whole bytes.
#[inline(always)]
fn load(bytes: &[u8]) -> Words {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        for (index, &byte) in bytes.iter().enumerate() {
            *word |= u64::from(byte) << (8 * index);
        }
    }
    words
}

#[inline(always)]
fn store(words: &Words, bytes: &mut [u8]) {
    for (word, bytes) in words.iter().zip(bytes.chunks_mut(8)) {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = (word >> (8 * index)) as u8;
        }
    }
}

#[inline(always)]
fn decode_rows(format: &Format, bytes: &[u8], out: &mut [Value]) {
    for (element, out) in bytes.chunks_exact(usize::from(format.bits / 8)).zip(out) {
        *out = decode_element(format, &load(element));
    }
}

#[inline(always)]
fn encode_rows(format: &Format, values: &[Value], channels: u8, bytes: &mut [u8]) {
    for (value, element) in values.iter().zip(bytes.chunks_exact_mut(usize::from(format.bits / 8))) {
        let mut words = load(element);
        encode_element(format, *value, channels, &mut words);
        store(&words, element);
    }
}

fn decode_any(format: &Format, bytes: &[u8], out: &mut [Value]) {
    if has_channels(format) {
        decode_rows(format, bytes, out);
    }
}

fn encode_any(format: &Format, values: &[Value], channels: u8, bytes: &mut [u8]) {
    if has_channels(format) {
        encode_rows(format, values, channels, bytes);
    }
}

/// Formats that are compiled for themselves.
macro_rules! fast {
    ($($name:ident)*) => {
        fn fast(code: SurfaceFormat) -> Option<(Decode, Encode)> {
            match code {
                $(SurfaceFormat::$name => {
                    const FORMAT: Format = known(SurfaceFormat::$name);
                    Some((
                        |_, bytes, out| decode_rows(&FORMAT, bytes, out),
                        // Whole elements are the rule: without a mask nothing of their old bits is needed.
                        |_, values, channels, bytes| match channels {
                            ALL => encode_rows(&FORMAT, values, ALL, bytes),
                            _ => encode_rows(&FORMAT, values, channels, bytes),
                        },
                    ))
                })*
                _ => None,
            }
        }
    };
}

const fn known(code: SurfaceFormat) -> Format {
    Format::describe(code.bits()).expect("a format of the specification")
}

fast! {
    R32G32B32A32_FLOAT R32G32B32A32_UINT R32G32B32A32_SINT R16G16B16A16_UNORM R16G16B16A16_FLOAT R16G16B16A16_UINT
    R32G32_FLOAT R32G32_UINT B8G8R8A8_UNORM B8G8R8A8_UNORM_SRGB B8G8R8X8_UNORM R8G8B8A8_UNORM R8G8B8A8_UNORM_SRGB
    R8G8B8A8_SNORM R8G8B8A8_UINT R8G8B8X8_UNORM R10G10B10A2_UNORM R11G11B10_FLOAT R16G16_UNORM R16G16_FLOAT
    R16G16_UINT R32_FLOAT R32_UINT R32_SINT R24_UNORM_X8_TYPELESS B5G6R5_UNORM R8G8_UNORM R16_UNORM R16_FLOAT
    R8_UNORM R8_UINT A8_UNORM L8_UNORM
}

/// The four colours of two pixels of packed YUV that share their chroma: Cr, Y, Cb and 1, of 8 bits (003:3634).
pub fn decode_yuv(class: Class, bytes: [u8; 4]) -> Option<[Value; 2]> {
    let Class::PackedYuv { luma, cb, cr } = class else { return None };
    let part = |at: u8| convert::unorm(bytes[usize::from(at)].into(), 8).to_bits();
    Some(luma.map(|luma| [part(cr), part(luma), part(cb), 1.0f32.to_bits()]))
}

/// Two pixels of packed YUV; chroma is that of the first one.
pub fn encode_yuv(class: Class, pixels: [Value; 2]) -> Option<[u8; 4]> {
    let Class::PackedYuv { luma, cb, cr } = class else { return None };
    let mut bytes = [0; 4];
    let mut set = |at: u8, value: u32| {
        bytes[usize::from(at)] = convert::to_unorm(f32::from_bits(value), 8) as u8;
    };
    set(cr, pixels[0][0]);
    set(cb, pixels[0][2]);
    set(luma[0], pixels[0][1]);
    set(luma[1], pixels[1][1]);
    Some(bytes)
}
