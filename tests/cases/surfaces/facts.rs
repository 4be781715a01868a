//! Oracle: the table of gen8_facts 9.2, which is the drivers' (isl_format_layout.csv): channels
//! from the lowest bit up.

use crate::surfaces::shared;
use genxml::gen8::state::SurfaceFormat;
use genxml_sim::surface::format::{Class, Encoding, Format, Letter};

/// Parses a channel of the table: `R10`, `Rsn10`, `A8x`.
fn channel(token: &str, kind: &str) -> (Letter, Encoding, u16) {
    let padding = token.contains('x');
    let token = token.trim_end_matches('x');
    let digits = token.find(|c: char| c.is_ascii_digit()).unwrap();
    let (letter, own) = token[..digits].split_at(1);
    let encoding = match if own.is_empty() { kind } else { own } {
        _ if padding => Encoding::Typeless,
        "un" => Encoding::Unorm,
        "sn" => Encoding::Snorm,
        "ui" => Encoding::Uint,
        "si" => Encoding::Sint,
        "sf" | "uf" => Encoding::Float,
        "us" => Encoding::Uscaled,
        "ss" => Encoding::Sscaled,
        "sx" => Encoding::Sfixed,
        "r" => Encoding::Passthru,
        other => panic!("{other}"),
    };
    let letter = match letter {
        _ if padding => Letter::X,
        "R" => Letter::R,
        "G" => Letter::G,
        "B" => Letter::B,
        "A" => Letter::A,
        "L" => Letter::L,
        "I" => Letter::I,
        "P" => Letter::P,
        other => panic!("{other}"),
    };
    (letter, encoding, token[digits..].parse().unwrap())
}

/// Corrections for entries where the table is wrong or incomplete. They follow from the format's
/// name.
fn exception(name: &str) -> Option<&'static str> {
    Some(match name {
        // The widths do not add up to the element.
        "R16G16_SSCALED" => "R16 G16 ss",
        "R32_SFIXED" => "R32 sx",
        // The table has the order of its columns, not of the bits: the similar format
        // B10G10R10A2_UNORM has blue lowest.
        "B10G10R10A2_SNORM" => "B10 G10 R10 A2 sn",
        "B10G10R10A2_USCALED" => "B10 G10 R10 A2 us",
        "B10G10R10A2_SSCALED" => "B10 G10 R10 A2 ss",
        "B10G10R10A2_UINT" => "B10 G10 R10 A2 ui",
        "B10G10R10A2_SINT" => "B10 G10 R10 A2 si",
        _ => return None,
    })
}

#[test]
fn channels_of_all_formats() {
    let Some(shared) = shared() else { return };
    let text = std::fs::read_to_string(shared.join("digests/gen8_facts.md")).unwrap();
    let table = text.split("### 9.2").nth(1).unwrap().split("```").nth(1).unwrap();
    let mut seen = 0;
    for entry in
        table.lines().flat_map(|line| line.split(" | ")).filter(|entry| !entry.trim().is_empty())
    {
        let mut words = entry.split_whitespace();
        let code = u64::from_str_radix(words.next().unwrap(), 16).unwrap();
        let name = words.next().unwrap();
        let bits: u16 = words.next().unwrap().trim_matches(['(', ')']).parse().unwrap();
        let Some(format) = Format::of(SurfaceFormat::from_bits(code)) else {
            // Formats of later generations, which this generation's manual does not list.
            assert!(
                ["R32G32_FLOAT_LD", "R10G10B10_FLOAT_A2_UNORM", "PLANAR_420_16"].contains(&name),
                "{name}"
            );
            continue;
        };
        seen += 1;
        assert_eq!(format.name, name);
        // The table has no size for bytes of buffers and for planes.
        assert!(format.bits == bits || ["RAW", "PLANAR_420_8"].contains(&name), "{name}");
        let rest: Vec<_> = match exception(name) {
            Some(rest) => rest.split_whitespace().collect(),
            None => words.collect(),
        };
        let srgb = rest.last() == Some(&"srgb");
        assert_eq!(format.srgb, srgb, "{name}");
        let rest = &rest[..rest.len() - usize::from(srgb)];
        if let Some(block) = rest.first().and_then(|word| word.strip_prefix("blk")) {
            let (width, height) = block.split_once('x').unwrap();
            let block: [u8; 2] = [width.parse().unwrap(), height.parse().unwrap()];
            assert!(format.block == block || block == [0, 0], "{name}");
            let list = matches!(format.class, Class::Channels);
            assert_eq!(list, name == "Y8_UNORM", "{name}");
            continue;
        }
        assert_eq!(format.class, Class::Channels, "{name}");
        let (kind, tokens) = match rest.last().unwrap() {
            last if last.chars().all(|c| c.is_ascii_lowercase()) => {
                (*last, &rest[..rest.len() - 1])
            }
            _ => ("", rest),
        };
        let mut low = 0;
        for (index, token) in tokens.iter().enumerate() {
            let (letter, mut encoding, bits) = channel(token, kind);
            let found = format.channels()[index];
            // The table gives a palette index the encoding UNORM of its neighbour; the model uses
            // UINT. The table calls the mantissas of R9G9B9E5 floats; the model calls them shared.
            match letter {
                Letter::P => encoding = Encoding::Uint,
                _ if name == "R9G9B9E5_SHAREDEXP" => encoding = Encoding::Shared,
                _ => {}
            }
            assert_eq!(
                (found.letter, found.encoding, found.low, found.bits),
                (letter, encoding, low, bits),
                "{name}, channel {index}"
            );
            low += bits;
        }
        let more = usize::from(name == "R9G9B9E5_SHAREDEXP");
        assert_eq!(format.channels().len(), tokens.len() + more, "{name}");
    }
    assert_eq!(seen, SurfaceFormat::INFO.values.len());
}

/// Order of bytes of packed YUV, from the notes of the table.
#[test]
fn packed_yuv() {
    use genxml_sim::surface::format::codec::{decode_yuv, encode_yuv};
    for (format, order) in [
        (SurfaceFormat::YCRCB_NORMAL, "YUyV"),
        (SurfaceFormat::YCRCB_SWAPUV, "YVyU"),
        (SurfaceFormat::YCRCB_SWAPY, "UYVy"),
        (SurfaceFormat::YCRCB_SWAPUVY, "VYUy"),
    ] {
        let at = |letter| order.find(letter).unwrap();
        let mut bytes = [0; 4];
        (bytes[at('Y')], bytes[at('y')], bytes[at('U')], bytes[at('V')]) = (255, 51, 102, 0);
        let class = Format::of(format).unwrap().class;
        let pixels = decode_yuv(class, bytes).unwrap().map(|pixel| pixel.map(f32::from_bits));
        // Red is Cr (V), green is Y, blue is Cb (U), alpha is 1 (003:3634).
        assert_eq!(pixels, [[0.0, 1.0, 0.4, 1.0], [0.0, 0.2, 0.4, 1.0]], "{order}");
        assert_eq!(
            encode_yuv(class, pixels.map(|pixel| pixel.map(f32::to_bits))),
            Some(bytes),
            "{order}"
        );
    }
}
