//! The bits of an element that form each of the four channels. Oracle: the element as one number,
//! channel by channel. `facts` checks the descriptions and `values` checks the conversions.

use genxml::gen8::state::SurfaceFormat;
use genxml_cases::Random;
use genxml_sim::surface::Codec;
use genxml_sim::surface::format::convert;
use genxml_sim::surface::format::{Channel, Encoding, Letter, Numeric};

fn codecs() -> impl Iterator<Item = &'static Codec> {
    SurfaceFormat::INFO
        .values
        .iter()
        .map(|value| Codec::of(SurfaceFormat::from_bits(value.0)).unwrap())
}

fn with_channels() -> impl Iterator<Item = &'static Codec> {
    codecs().filter(|codec| codec.has_channels())
}

/// The bits of a channel.
fn raw(element: &[u8], channel: &Channel) -> u64 {
    (0..channel.bits).fold(0, |raw, bit| {
        let at = usize::from(channel.low + bit);
        raw | u64::from(element[at / 8] >> (at % 8) & 1) << bit
    })
}

/// The output channels (0 red to 3 alpha) that the channel with this letter provides.
fn outputs(letter: Letter) -> &'static [usize] {
    match letter {
        Letter::R | Letter::P => &[0],
        Letter::G | Letter::Y => &[1],
        Letter::B => &[2],
        Letter::A => &[3],
        Letter::L => &[0, 1, 2],
        Letter::I => &[0, 1, 2, 3],
        Letter::E | Letter::X => &[],
    }
}

fn elements(codec: &Codec) -> Vec<u8> {
    let bytes = codec.format().bytes() as usize;
    match bytes {
        1 => (0..=255).collect(),
        _ => Random::new(codec.format().code.bits()).bytes(2048 * bytes),
    }
}

/// Missing colours are 0, a missing alpha 1 (003:3550-3650).
#[test]
fn every_bit_of_every_format() {
    let mut count = 0;
    for codec in with_channels() {
        let format = codec.format();
        let elements = elements(codec);
        let mut values = vec![[0; 4]; elements.len() / format.bytes() as usize];
        codec.decode(&elements, &mut values);
        for (element, found) in elements.chunks(format.bytes() as usize).zip(values) {
            let one = if format.numeric == Numeric::Float { 1f32.to_bits() } else { 1 };
            let mut expected = [0, 0, 0, one];
            let list = format.channels();
            if list[0].encoding == Encoding::Shared {
                let parts: Vec<_> =
                    list.iter().map(|channel| raw(element, channel) as u32).collect();
                let rgb = convert::shared_exponent([parts[0], parts[1], parts[2]], parts[3]);
                expected[..3].copy_from_slice(&rgb);
            } else {
                for channel in list {
                    let raw = raw(element, channel);
                    let value = match format.srgb && channel.letter != Letter::A {
                        true => convert::linear(raw, channel.bits.into()).to_bits(),
                        false => convert::decode(channel.encoding, channel.bits.into(), raw),
                    };
                    outputs(channel.letter).iter().for_each(|&output| expected[output] = value);
                }
            }
            assert_eq!(found, expected, "{} {element:02x?}", format.name);
        }
        count += 1;
    }
    // All formats except compressed blocks, packed YUV, planar formats and RAW, formats of less
    // than a byte, and formats that are copied unchanged.
    assert_eq!(count, codecs().count() - 28 - 4 - 3 - 3 - 4);
}

/// A decoded element encodes to the same bits, if each value has only one pattern of bits.
#[test]
fn there_and_back() {
    for codec in with_channels() {
        let format = codec.format();
        let exact = |channel: &Channel| match channel.encoding {
            Encoding::Unorm | Encoding::Snorm | Encoding::Uscaled | Encoding::Sscaled => {
                channel.bits <= 24
            }
            Encoding::Float => channel.bits <= 32,
            Encoding::Sfixed | Encoding::Shared => false,
            _ => true,
        };
        let whole = format.channels().iter().all(exact);
        for element in elements(codec).chunks(format.bytes() as usize) {
            let value = codec.decode_one(element);
            let mut back = vec![0; element.len()];
            codec.encode_one(value, 0xf, &mut back);
            assert_eq!(
                codec.decode_one(&back).map(canonical),
                value.map(canonical),
                "{}",
                format.name
            );
            if !whole {
                continue;
            }
            for channel in format.channels() {
                let (mut old, new) = (raw(element, channel), raw(&back, channel));
                match channel.encoding {
                    // Two bit patterns mean -1.
                    Encoding::Snorm if old == 1 << (channel.bits - 1) => old += 1,
                    Encoding::Typeless if channel.letter == Letter::X => old = 0,
                    Encoding::Float
                        if f32::from_bits(convert::decode(
                            Encoding::Float,
                            channel.bits.into(),
                            old,
                        ))
                        .is_nan() =>
                    {
                        continue;
                    }
                    _ => {}
                }
                assert_eq!(new, old, "{} {element:02x?}", format.name);
            }
        }
    }
}

/// Replaces every NaN by the same one.
fn canonical(bits: u32) -> u32 {
    if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fc0_0000 } else { bits }
}

/// Masked channels keep their bits. Without a mask, only padding changes.
#[test]
fn masks() {
    let mut random = Random::new(9);
    for codec in
        with_channels().filter(|codec| codec.format().channels()[0].encoding != Encoding::Shared)
    {
        let format = codec.format();
        for mask in 0..16 {
            let old = random.bytes(format.bytes() as usize);
            let value = [0; 4].map(|_| match format.numeric {
                Numeric::Float => (random.below(1 << 20) as f32 / (1 << 20) as f32).to_bits(),
                _ => random.bits() as u32,
            });
            let mut all = old.clone();
            codec.encode_one(value, 0xf, &mut all);
            let mut some = old.clone();
            codec.encode_one(value, mask, &mut some);
            for channel in format.channels() {
                let written = match channel.letter {
                    Letter::X => true,
                    letter => mask >> outputs(letter)[0] & 1 == 1,
                };
                let expected = if written { &all } else { &old };
                assert_eq!(
                    raw(&some, channel),
                    raw(expected, channel),
                    "{} {mask:04b}",
                    format.name
                );
            }
        }
    }
}

/// Within a block of format codes, all formats have the same size (2b p.36-42).
#[test]
fn codes_come_in_blocks_of_one_size() {
    for codec in codecs() {
        let format = codec.format();
        let expected = match format.code.bits() {
            0x000..=0x03f => 128,
            0x040..=0x07f => 96,
            0x080..=0x0bf => 64,
            0x0c0..=0x0ff => 32,
            0x100..=0x13f => 16,
            0x140..=0x17f => 8,
            0x193..=0x196 | 0x1a8 | 0x1c8..=0x1c9 => 24,
            0x197 | 0x1bc => 256,
            0x198 | 0x1bd => 192,
            0x19b..=0x19f | 0x1b0..=0x1b1 => 48,
            0x1b2..=0x1bb => 32,
            0x1ff => 8,
            _ => continue,
        };
        assert_eq!(format.bits, expected, "{}", format.name);
    }
}

/// Elements of less than a byte.
#[test]
fn less_than_a_byte() {
    use genxml_sim::surface::format::codec::decode_element;
    let bits = |code: SurfaceFormat, raw| {
        decode_element(Codec::of(code).unwrap().format(), &[raw, 0, 0, 0])
    };
    let (zero, one) = (0f32.to_bits(), 1f32.to_bits());
    assert_eq!(bits(SurfaceFormat::R1_UNORM, 1), [one, zero, zero, one]);
    assert_eq!(bits(SurfaceFormat::R1_UNORM, 0), [zero, zero, zero, one]);
    // The value of a palette format is the palette index.
    assert_eq!(bits(SurfaceFormat::P2_UNORM_PALETTE1, 3)[0], 3);
}
