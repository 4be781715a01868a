//! Conversion of elements to and from four channels.
//!
//! One general function interprets the description of a format. For frequently used formats it is
//! compiled again with the description as a constant. That leaves only the shifts and conversions
//! of that format.

use super::support::{TYPED_ATOMIC, TYPED_READ, TYPED_WRITE};
use super::value::Value;
use super::{Channel, Class, Encoding, Format, Letter, Numeric, block, convert};
use crate::assumptions::{PADDING_IS_WRITTEN_AS_ZERO, PIXELS_OF_PACKED_YUV_SHARE_THE_FIRST_CHROMA};
use genxml::gen8::state::SurfaceFormat;
use std::sync::LazyLock;

/// All channels, as a mask of the first four bits: red, green, blue, alpha.
pub const ALL: u8 = 0xf;

/// Bits of an element, from the lowest up. No channel crosses a word boundary.
pub type Words = [u64; 4];

type Decode = fn(&Format, &[u8], &mut [Value]);
type Encode = fn(&Format, &[Value], u8, &mut [u8]);

/// Reads and writes elements of a format. Each surface looks it up once.
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
        static ALL: LazyLock<Vec<Option<Codec>>> =
            LazyLock::new(|| (0..512).map(Codec::new).collect());
        ALL.get(code.bits() as usize)?.as_ref()
    }

    fn new(code: u64) -> Option<Codec> {
        let format = Format::describe(code)?;
        let typed = [
            TYPED_READ.contains(&format.code),
            TYPED_WRITE.contains(&format.code),
            TYPED_ATOMIC.contains(&format.code),
        ];
        let (decode, encode): (Decode, Encode) = match format.class {
            Class::Compressed => (decode_blocks, encode_any),
            _ => fast(format.code).unwrap_or((decode_any, encode_any)),
        };
        Some(Codec { format, decode, encode, typed })
    }

    /// True if typed reads support the format.
    pub fn typed_read(&self) -> bool {
        self.typed[0]
    }

    /// True if typed writes support the format.
    pub fn typed_write(&self) -> bool {
        self.typed[1]
    }

    /// True if typed atomic operations support the format.
    pub fn typed_atomic(&self) -> bool {
        self.typed[2]
    }

    /// True if `channels` includes all channels of an element, so that encoding them replaces all
    /// its old bits.
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

    /// True if [`Codec::decode`] can decode single elements to channels. Blocks of compressed
    /// texels, packed and planar YUV and raw bytes have no such channels. The 64-bit channels that
    /// are not converted (PASSTHRU) do not fit a [`Value`]. Elements smaller than a byte have
    /// channels but no address of their own; use [`decode_element`] with their bits.
    pub fn has_channels(&self) -> bool {
        has_channels(&self.format)
    }

    /// Decodes contiguous elements. Stops at the last whole element in `bytes`, or when `out` is
    /// full.
    ///
    /// If the format lacks a channel, its value is 0, or 1 for alpha (003:3550). The index of a
    /// palette is stored in red, as an integer. A block of compressed texels gives all its texels,
    /// row by row ([`Format::block`]); [`block`] can also decode single ones. Other formats without
    /// channels ([`Codec::has_channels`]) leave `out` unchanged.
    #[inline]
    pub fn decode(&self, bytes: &[u8], out: &mut [Value]) {
        (self.decode)(&self.format, bytes, out);
    }

    /// Decodes one element.
    #[inline]
    pub fn decode_one(&self, bytes: &[u8]) -> Value {
        let mut out = [[0; 4]];
        self.decode(bytes, &mut out);
        out[0]
    }

    /// Encodes values to contiguous elements. `channels` says which of red, green, blue and alpha
    /// (bits 0 to 3) are written. The other channels keep their bits, unless they share an
    /// exponent, which may change; padding becomes 0. Formats without channels (see `has_channels`)
    /// leave `bytes` unchanged.
    #[inline]
    pub fn encode(&self, values: &[Value], channels: u8, bytes: &mut [u8]) {
        (self.encode)(&self.format, values, channels, bytes);
    }

    /// Encodes one element.
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

/// The value of alpha if the format has none.
const fn one(format: &Format) -> u32 {
    match format.numeric {
        Numeric::Float => 1.0f32.to_bits(),
        Numeric::Uint | Numeric::Sint => 1,
    }
}

const fn is_shared(format: &Format) -> bool {
    matches!(format.channels[0].encoding, Encoding::Shared)
}

/// Decodes the channels of an element.
pub fn decode_element(format: &Format, words: &Words) -> Value {
    let mut value = [0, 0, 0, one(format)];
    if is_shared(format) {
        let [red, green, blue, exponent] =
            format.channels.map(|channel| field(words, channel.low, channel.bits) as u32);
        value[..3].copy_from_slice(&convert::shared_exponent([red, green, blue], exponent));
        return value;
    }
    for channel in format.channels() {
        decode_channel(*channel, format.srgb, words, &mut value);
    }
    value
}

#[inline(always)]
fn decode_channel(channel: Channel, srgb: bool, words: &Words, value: &mut Value) {
    let (raw, bits) = (field(words, channel.low, channel.bits), u32::from(channel.bits));
    let decoded = if srgb && !matches!(channel.letter, Letter::A) {
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
        Letter::I => *value = [decoded; 4],
        Letter::E | Letter::X => {}
    }
}

/// The index in a [`Value`] that a channel of the format is encoded from.
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

/// Encodes channels into an element.
pub fn encode_element(format: &Format, mut value: Value, channels: u8, words: &mut Words) {
    if is_shared(format) {
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
    for channel in format.channels() {
        encode_channel(*channel, format.srgb, &value, channels, words);
    }
}

#[inline(always)]
fn encode_channel(channel: Channel, srgb: bool, value: &Value, channels: u8, words: &mut Words) {
    let bits = u32::from(channel.bits);
    let raw = match source(channel.letter) {
        Some(index) if channels >> index & 1 == 0 => return,
        Some(index) if srgb && index < 3 => {
            convert::from_linear(f32::from_bits(value[index]), bits)
        }
        Some(index) => convert::encode(channel.encoding, bits, value[index]),
        None if PADDING_IS_WRITTEN_AS_ZERO => 0,
        None => return,
    };
    put(words, channel.low, channel.bits, raw);
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

/// Loads an element of whole bytes. Written without iterators, because the `dev` profile does not
/// inline all of them across codegen units.
#[inline(always)]
fn load(element: &[u8]) -> Words {
    let mut words = [0; 4];
    let mut n = 0;
    while n < element.len() {
        words[n / 8] |= u64::from(element[n]) << (8 * (n % 8));
        n += 1;
    }
    words
}

#[inline(always)]
fn store(words: &Words, element: &mut [u8]) {
    let mut n = 0;
    while n < element.len() {
        element[n] = (words[n / 8] >> (8 * (n % 8))) as u8;
        n += 1;
    }
}

fn decode_any(format: &Format, bytes: &[u8], out: &mut [Value]) {
    if has_channels(format) {
        for (element, out) in bytes.chunks_exact(format.bytes() as usize).zip(out) {
            *out = decode_element(format, &load(element));
        }
    }
}

fn decode_blocks(format: &Format, bytes: &[u8], out: &mut [Value]) {
    let texels = usize::from(format.block[0]) * usize::from(format.block[1]);
    for (bytes, out) in
        bytes.chunks_exact(format.bytes() as usize).zip(out.chunks_exact_mut(texels))
    {
        block::decode_block(format, bytes, out);
    }
}

fn encode_any(format: &Format, values: &[Value], channels: u8, bytes: &mut [u8]) {
    if has_channels(format) {
        for (value, element) in values.iter().zip(bytes.chunks_exact_mut(format.bytes() as usize)) {
            let mut words = load(element);
            encode_element(format, *value, channels, &mut words);
            store(&words, element);
        }
    }
}

/// A format with its own compiled functions for rows of elements.
struct Known<const CODE: u64>;

impl<const CODE: u64> Known<CODE> {
    const FORMAT: Format = {
        let format = Format::describe(CODE).expect("a format of the specification");
        assert!(
            !is_shared(&format)
                && matches!(format.class, Class::Channels)
                && format.bits.is_multiple_of(8)
        );
        format
    };
    const BYTES: usize = Self::FORMAT.bits as usize / 8;
}

/// Calls a function once for each channel of a known format, with the channel as a constant.
macro_rules! each_channel {
    ($code:ident, $call:ident($($argument:expr),*)) => {
        each_channel!(@ $code, $call($($argument),*) 0 1 2 3)
    };
    (@ $code:ident, $call:ident $arguments:tt $($index:literal)*) => {
        $(each_channel!(# $code, $call $arguments $index);)*
    };
    (# $code:ident, $call:ident ($($argument:expr),*) $index:literal) => {
        if const { $index < Known::<$code>::FORMAT.count } {
            $call(
                const { Known::<$code>::FORMAT.channels[$index] },
                const { Known::<$code>::FORMAT.srgb },
                $($argument),*
            );
        }
    };
}

fn decode_rows<const CODE: u64, const BYTES: usize>(_: &Format, bytes: &[u8], out: &mut [Value]) {
    let elements = bytes.as_chunks::<BYTES>().0;
    let count = elements.len().min(out.len());
    let (elements, out) = (&elements[..count], &mut out[..count]);
    for n in 0..count {
        let words = load(&elements[n]);
        let mut value = [0, 0, 0, const { one(&Known::<CODE>::FORMAT) }];
        each_channel!(CODE, decode_channel(&words, &mut value));
        out[n] = value;
    }
}

fn encode_rows<const CODE: u64, const BYTES: usize>(
    _: &Format,
    values: &[Value],
    channels: u8,
    bytes: &mut [u8],
) {
    let elements = bytes.as_chunks_mut::<BYTES>().0;
    let count = elements.len().min(values.len());
    let (elements, values) = (&mut elements[..count], &values[..count]);
    for n in 0..count {
        let (value, element) = (&values[n], &mut elements[n]);
        // Usually all channels are written, and the old bits of the element are not needed.
        if channels == ALL {
            let mut words = [0; 4];
            each_channel!(CODE, encode_channel(value, ALL, &mut words));
            store(&words, element);
        } else {
            let mut words = load(element);
            each_channel!(CODE, encode_channel(value, channels, &mut words));
            store(&words, element);
        }
    }
}

/// Lists the formats with their own compiled functions for rows of elements.
macro_rules! fast {
    ($($name:ident)*) => {
        fn fast(code: SurfaceFormat) -> Option<(Decode, Encode)> {
            match code {
                $(SurfaceFormat::$name => {
                    const CODE: u64 = SurfaceFormat::$name.bits();
                    const BYTES: usize = Known::<CODE>::BYTES;
                    Some((decode_rows::<CODE, BYTES>, encode_rows::<CODE, BYTES>))
                })*
                _ => None,
            }
        }
    };
}

fast! {
    R32G32B32A32_FLOAT R32G32B32A32_UINT R32G32B32A32_SINT R16G16B16A16_UNORM R16G16B16A16_FLOAT R16G16B16A16_UINT
    R32G32B32_FLOAT R32G32_FLOAT R32G32_UINT B8G8R8A8_UNORM B8G8R8A8_UNORM_SRGB B8G8R8X8_UNORM R8G8B8A8_UNORM
    R8G8B8A8_UNORM_SRGB
    R8G8B8A8_SNORM R8G8B8A8_UINT R8G8B8X8_UNORM R10G10B10A2_UNORM R11G11B10_FLOAT R16G16_UNORM R16G16_FLOAT
    R16G16_UINT R32_FLOAT R32_UINT R32_SINT R24_UNORM_X8_TYPELESS B5G6R5_UNORM R8G8_UNORM R16_UNORM R16_FLOAT
    R8_UNORM R8_UINT A8_UNORM L8_UNORM
}

/// Decodes two pixels of packed YUV, which share their chroma. Each pixel becomes Cr, Y, Cb and 1
/// (003:3634). The stored channels have 8 bits. `None` for other classes.
pub fn decode_yuv(class: Class, bytes: [u8; 4]) -> Option<[Value; 2]> {
    let Class::PackedYuv { luma, cb, cr } = class else { return None };
    let part = |at: u8| convert::unorm(bytes[usize::from(at)].into(), 8).to_bits();
    Some(luma.map(|luma| [part(cr), part(luma), part(cb), 1.0f32.to_bits()]))
}

/// Decodes a texel of a planar format from bytes of luma, Cb and Cr. The result is Cr, Y, Cb and 1
/// (003:3634); `None` for other classes.
pub fn decode_planes(class: Class, luma: u8, cb: u8, cr: u8) -> Option<Value> {
    let part = |byte: u8| convert::unorm(byte.into(), 8).to_bits();
    (class == Class::Planar).then(|| [part(cr), part(luma), part(cb), 1.0f32.to_bits()])
}

/// Encodes two pixels of packed YUV. [`PIXELS_OF_PACKED_YUV_SHARE_THE_FIRST_CHROMA`] says which
/// pixel's chroma is stored. `None` for other classes.
pub fn encode_yuv(class: Class, pixels: [Value; 2]) -> Option<[u8; 4]> {
    let Class::PackedYuv { luma, cb, cr } = class else { return None };
    let mut bytes = [0; 4];
    let mut set = |at: u8, value: u32| {
        bytes[usize::from(at)] = convert::to_unorm(f32::from_bits(value), 8) as u8;
    };
    let shared = pixels[usize::from(!PIXELS_OF_PACKED_YUV_SHARE_THE_FIRST_CHROMA)];
    set(cr, shared[0]);
    set(cb, shared[2]);
    set(luma[0], pixels[0][1]);
    set(luma[1], pixels[1][1]);
    Some(bytes)
}
