//! Oracles: bcdec_rs (BC1 to BC7) and texture2ddecoder (BC7, ETC, EAC). Where these round
//! differently or lack a format, the oracles are exact quotients and the text of
//! GL_3DFX_texture_compression_FXT1, implemented here again with simple arithmetic.

use super::super::{Class, Codec, Format};
use super::*;
use SurfaceFormat as F;

/// Number of random blocks of most tests.
const BLOCKS: usize = 20_000;

/// The random number generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    fn block(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

fn format(code: SurfaceFormat) -> &'static Format {
    Format::of(code).unwrap()
}

/// Decodes a block, and compares some of its texels with `decode_texel`.
fn decode(code: SurfaceFormat, bytes: &[u8]) -> Vec<Value> {
    let format = format(code);
    let mut out = [[0; 4]; MOST_TEXELS];
    let count = decode_block(format, bytes, &mut out).unwrap();
    let width = u32::from(format.block[0]);
    assert_eq!(count as u32, width * u32::from(format.block[1]));
    // A quarter of the texels is enough to find a difference between the two functions.
    for n in (bytes[0] as u32 % 4..count as u32).step_by(4) {
        assert_eq!(decode_texel(format, bytes, n % width, n / width), Some(out[n as usize]));
    }
    out[..count].to_vec()
}

fn bytes_of(texel: Value) -> [u8; 4] {
    texel.map(|channel| {
        let byte = f64::from(f32::from_bits(channel)) * 255.0;
        assert!((byte - byte.round()).abs() < 1e-4, "{byte} is not a byte");
        byte.round() as u8
    })
}

/// Each channel as the nearest float of a byte.
fn value_of(bytes: [u8; 4]) -> Value {
    bytes.map(|byte| ((f64::from(byte) / 255.0) as f32).to_bits())
}

/// Red, green, blue and alpha of a texel from texture2ddecoder, which has blue in the lowest byte.
fn bgra(texel: u32) -> [u8; 4] {
    let [blue, green, red, alpha] = texel.to_le_bytes();
    [red, green, blue, alpha]
}

fn close(ours: [u8; 4], theirs: [u8; 4]) -> bool {
    ours.iter().zip(theirs).all(|(ours, theirs)| ours.abs_diff(theirs) <= 1)
}

/// Expands five or six bits to eight: the highest bits are repeated below the lowest.
fn widened(value: u64, bits: i32) -> f64 {
    let value = value as f64;
    value * f64::from(2).powi(8 - bits) + (value / f64::from(2).powi(2 * bits - 8)).floor()
}

/// The texels of a block of colours, from the text of Direct3D 9: colours between are rounded to
/// the nearest byte.
fn bc1(block: u64, four: bool, black: [u8; 4]) -> [[u8; 4]; 16] {
    let [first, second] = [block & 0xffff, block >> 16 & 0xffff];
    let channels = |colour: u64| {
        [widened(colour >> 11, 5), widened(colour >> 5 & 63, 6), widened(colour & 31, 5)]
    };
    let [first, second] = [channels(first), channels(second)];
    std::array::from_fn(|n| {
        let weight = match (block >> (32 + 2 * n) & 3, four) {
            (0, _) => 0.0,
            (1, _) => 1.0,
            (2, true) => 1.0 / 3.0,
            (3, true) => 2.0 / 3.0,
            (2, false) => 0.5,
            _ => return black,
        };
        let mut texel = [0xff; 4];
        for n in 0..3 {
            // Fractions are thirds and halves. Halves are rounded up.
            texel[n] = (first[n] + weight * (second[n] - first[n]) + 0.5 + 1e-9).floor() as u8;
        }
        texel
    })
}

#[test]
fn bc1_is_what_direct3d_says() {
    let mut random = Random(1);
    // All pairs of 6-bit values as endpoints, which include all pairs of 5-bit values; then random
    // blocks.
    let pairs = (0..4096u64).map(|pair| {
        let colour = |six: u64| six >> 1 << 11 | six << 5 | six >> 1;
        0xe4e4_1b1b << 32 | colour(pair & 63) << 16 | colour(pair >> 6)
    });
    let blocks: Vec<u64> = pairs.chain((0..BLOCKS).map(|_| random.next())).collect();
    let mut differ = 0;
    for block in blocks {
        let bytes = block.to_le_bytes();
        let four = block & 0xffff > block >> 16 & 0xffff;
        for (code, black) in [(F::BC1_UNORM, [0; 4]), (F::DXT1_RGB, [0, 0, 0, 0xff])] {
            let ours = decode(code, &bytes);
            assert_eq!(ours, bc1(block, four, black).map(value_of), "{code:?} {block:#018x}");
        }
        // Both crates round differently from the model: bcdec_rs rounds once, directly from 5 and 6
        // bits; texture2ddecoder rounds down.
        let (mut theirs, mut others) = ([0; 64], [0; 16]);
        bcdec_rs::bc1(&bytes, &mut theirs, 16);
        texture2ddecoder::decode_bc1_block(&bytes, &mut others);
        for (n, ours) in decode(F::BC1_UNORM, &bytes).into_iter().map(bytes_of).enumerate() {
            let theirs = *theirs[4 * n..].first_chunk().unwrap();
            assert!(
                close(ours, theirs) && ours[3] == theirs[3],
                "{block:#018x}: {ours:?} {theirs:?}"
            );
            assert!(close([ours[0], ours[1], ours[2], 0xff], bgra(others[n])));
            differ += usize::from(ours != theirs);
        }
    }
    assert!(differ > 0, "no texel differs, so the tolerance is not needed");
}

#[test]
fn bc2_and_bc3_have_alpha_beside_colours() {
    let mut random = Random(2);
    for _ in 0..BLOCKS {
        let block = random.block();
        let bytes = block.to_le_bytes();
        let colours = bc1((block >> 64) as u64, true, [0; 4]);
        let (mut sharp, mut smooth) = ([0; 64], [0; 64]);
        bcdec_rs::bc2(&bytes, &mut sharp, 16);
        bcdec_rs::bc3(&bytes, &mut smooth, 16);
        let mut alphas = [0.0; 16];
        bcdec_rs::bc4_float(&bytes, &mut alphas, 4, false);
        let ours = [decode(F::BC2_UNORM, &bytes), decode(F::BC3_UNORM, &bytes)];
        for n in 0..16 {
            let mut colour = colours[n];
            colour[3] = sharp[4 * n + 3];
            assert_eq!(ours[0][n], value_of(colour));
            assert_eq!(ours[1][n][..3], value_of(colour)[..3]);
            // The alpha of BC3 is an exact quotient, as in BC4. bcdec_rs rounds it to a byte,
            // mostly down.
            let alpha = f32::from_bits(ours[1][n][3]);
            assert!((alpha - alphas[n]).abs() <= f32::EPSILON);
            assert!((alpha * 255.0 - f32::from(smooth[4 * n + 3])).abs() < 1.0);
        }
    }
}

/// BC4: all pairs of endpoints with all indices. BC5: random blocks, compared with two blocks of
/// BC4.
#[test]
fn bc4_and_bc5_are_exact_quotients() {
    let indices: u64 = (0..16).map(|n| (n as u64 & 7) << (3 * n)).sum();
    for ends in 0..=0xffffu64 {
        let bytes = (ends | indices << 16).to_le_bytes();
        for signed in [false, true] {
            let code = if signed { F::BC4_SNORM } else { F::BC4_UNORM };
            let mut out = [[0; 4]; 16];
            decode_block(format(code), &bytes, &mut out).unwrap();
            let mut theirs = [0.0; 16];
            bcdec_rs::bc4_float(&bytes, &mut theirs, 4, signed);
            let end = |n: usize| match signed {
                true => f64::from(bytes[n] as i8).max(-127.0),
                false => bytes[n].into(),
            };
            let (first, second, most) = (end(0), end(1), if signed { 127.0 } else { 255.0 });
            for (n, ours) in out.into_iter().enumerate() {
                let step = (n & 7) as f64;
                let (sum, parts) = match (n & 7, first > second) {
                    (0, _) => (first, 1.0),
                    (1, _) => (second, 1.0),
                    (_, true) => (first * (8.0 - step) + second * (step - 1.0), 7.0),
                    (6, false) => (if signed { -most } else { 0.0 }, 1.0),
                    (7, false) => (most, 1.0),
                    (_, false) => (first * (6.0 - step) + second * (step - 1.0), 5.0),
                };
                let exact = (sum / (parts * most)) as f32;
                assert_eq!(ours, [exact.to_bits(), 0, 0, ONE], "{ends:#06x} {n} {signed}");
                // bcdec rounds the endpoints before it mixes them.
                assert!((exact - theirs[n]).abs() <= f32::EPSILON);
            }
        }
    }
    let mut random = Random(4);
    for _ in 0..BLOCKS / 4 {
        let bytes = random.block().to_le_bytes();
        for (two, one) in [(F::BC5_UNORM, F::BC4_UNORM), (F::BC5_SNORM, F::BC4_SNORM)] {
            let halves = [decode(one, &bytes[..8]), decode(one, &bytes[8..])];
            for (n, texel) in decode(two, &bytes).into_iter().enumerate() {
                assert_eq!(texel, [halves[0][n][0], halves[1][n][0], 0, ONE]);
            }
        }
    }
}

#[test]
fn bc6h_is_exact() {
    let mut random = Random(6);
    // The codes of the first two modes have two bits. The last four codes are reserved.
    let codes: Vec<(u32, u128)> = [(2, 0), (2, 1)]
        .into_iter()
        .chain((0..16).map(|n| (5, (n / 8) | 2 | ((n % 8) << 2))))
        .collect();
    for number in 0..BLOCKS {
        let (bits, code) = codes[number % codes.len()];
        let ends: u128 = match number / codes.len() % 8 {
            // Test the least and the greatest endpoints.
            0 => 0,
            1 => u128::MAX,
            _ => random.block(),
        };
        let bytes = (ends >> bits << bits | code).to_le_bytes();
        for (signed, format) in [(false, F::BC6H_UF16), (true, F::BC6H_SF16)] {
            let mut theirs = [0.0; 48];
            bcdec_rs::bc6h_float(&bytes, &mut theirs, 12, signed);
            for (n, ours) in decode(format, &bytes).into_iter().enumerate() {
                let [red, green, blue] = *theirs[3 * n..].first_chunk().unwrap();
                let theirs = [red, green, blue, 1.0f32].map(f32::to_bits);
                assert_eq!(
                    ours, theirs,
                    "code {code:#x}, texel {n}, signed {signed}: {bytes:02x?}"
                );
            }
        }
    }
}

#[test]
fn bc7_is_exact() {
    let mut random = Random(7);
    for number in 0..BLOCKS {
        // Test the eight modes and the reserved one.
        let mode = number % 9;
        let bits = random.block();
        let block = if mode == 8 { bits >> 8 << 8 } else { (bits | 1) << mode };
        let bytes = block.to_le_bytes();
        let (mut theirs, mut others) = ([0; 64], [0; 16]);
        bcdec_rs::bc7(&bytes, &mut theirs, 16);
        texture2ddecoder::decode_bc7_block(&bytes, &mut others);
        for (n, ours) in decode(F::BC7_UNORM, &bytes).into_iter().map(bytes_of).enumerate() {
            assert_eq!(ours, theirs[4 * n..4 * n + 4], "mode {mode}, texel {n}: {block:#034x}");
            assert!(mode == 8 || ours == bgra(others[n]), "mode {mode}, texel {n}: {block:#034x}");
        }
    }
}

/// Mode of a block of ETC2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Individual,
    Differential,
    T,
    H,
    Planar,
}

/// The mode of a block, from the bytes of its colours.
fn way(bytes: &[u8], punch_through: bool) -> Way {
    if bytes[3] & 2 == 0 && !punch_through {
        return Way::Individual;
    }
    let leaves = |n: usize| {
        let difference = (bytes[n] as i8) << 5 >> 5;
        !(0..32).contains(&((bytes[n] >> 3) as i8 + difference))
    };
    match (leaves(0), leaves(1), leaves(2)) {
        (true, _, _) => Way::T,
        (_, true, _) => Way::H,
        (_, _, true) => Way::Planar,
        _ => Way::Differential,
    }
}

#[test]
fn etc_is_exact() {
    let mut random = Random(8);
    let mut ways = [0; 5];
    for _ in 0..BLOCKS {
        let bytes = random.block().to_le_bytes();
        let way = way(&bytes[8..], false);
        ways[way as usize] += 1;
        let (mut etc1, mut rgb, mut rgba) = ([0; 16], [0; 16], [0; 16]);
        texture2ddecoder::decode_etc1_block(&bytes[8..], &mut etc1);
        texture2ddecoder::decode_etc2_rgb_block(&bytes[8..], &mut rgb);
        texture2ddecoder::decode_etc2_rgba8_block(&bytes, &mut rgba);
        let check = |code, bytes: &[u8], theirs: [u32; 16]| {
            let theirs: Vec<[u8; 4]> = theirs.map(bgra).to_vec();
            let ours: Vec<[u8; 4]> = decode(code, bytes).into_iter().map(bytes_of).collect();
            assert_eq!(ours, theirs, "{way:?} {code:?} {bytes:02x?}");
        };
        check(F::ETC2_RGB8, &bytes[8..], rgb);
        check(F::ETC2_EAC_RGBA8, &bytes, rgba);
        match way {
            Way::Individual | Way::Differential => check(F::ETC1_RGB8, &bytes[8..], etc1),
            // These modes have no meaning in ETC1. The model reads the block as ETC2.
            _ => check(F::ETC1_RGB8, &bytes[8..], rgb),
        }
    }
    assert!(ways.into_iter().all(|count| count > 500), "{ways:?}");
}

#[test]
fn etc_punch_through_is_exact() {
    let mut random = Random(9);
    let mut ways = [[0; 5]; 2];
    for _ in 0..BLOCKS {
        let bytes = random.next().to_be_bytes();
        let way = way(&bytes, true);
        let opaque = bytes[3] & 2 != 0;
        ways[usize::from(opaque)][way as usize] += 1;
        let mut theirs = [0; 16];
        texture2ddecoder::decode_etc2_rgba1_block(&bytes, &mut theirs);
        for (n, ours) in decode(F::ETC2_RGB8_PTA, &bytes).into_iter().map(bytes_of).enumerate() {
            // A transparent texel is black (OpenGL ES 3, appendix C.1.6). texture2ddecoder keeps
            // its colour.
            let theirs = Some(bgra(theirs[n])).filter(|texel| texel[3] != 0).unwrap_or([0; 4]);
            assert_eq!(ours, theirs, "{way:?} opaque {opaque}, texel {n}: {bytes:02x?}");
        }
    }
    for ways in ways {
        assert!(ways[1..].iter().all(|count| *count > 500), "{ways:?}");
    }
}

/// Oracle: the formulas of OpenGL ES 3, appendix C.1.5 and C.1.7. The modifiers come from the alpha
/// of texture2ddecoder, because its own R11 reads the indices in the wrong order.
#[test]
fn eac_is_exact() {
    let mut random = Random(10);
    for number in 0..BLOCKS {
        let mut bytes = random.next().to_be_bytes();
        match number % 16 {
            // Test multiplier 0, the lowest signed base, and the greatest unsigned and signed base.
            0 | 1 => bytes[1] &= 0xf,
            2 => bytes[0] = 0x80,
            3 => bytes[0] = 0xff,
            4 => bytes[0] = 0x7f,
            _ => {}
        }
        // Base 128 and multiplier 1: no modifier leaves the range of a byte.
        let mut modifiers = [0; 16];
        let mut plain = bytes;
        (plain[0], plain[1]) = (128, 0x10 | plain[1] & 0xf);
        texture2ddecoder::decode_etc2_a8_block(&plain, &mut modifiers);
        let multiplier = i32::from(bytes[1] >> 4);
        let [unsigned, signed] = [F::EAC_R11, F::EAC_SIGNED_R11].map(|code| decode(code, &bytes));
        for n in 0..16 {
            let modifier = i32::from(bgra(modifiers[n])[3]) - 128;
            let more = if multiplier == 0 { modifier } else { modifier * multiplier * 8 };
            let expected = (i32::from(bytes[0]) * 8 + 4 + more).clamp(0, 2047);
            assert_eq!(
                unsigned[n],
                [(f64::from(expected) / 2047.0) as f32, 0.0, 0.0, 1.0].map(f32::to_bits)
            );
            let base = i32::from(bytes[0] as i8).max(-127);
            let expected = (base * 8 + more).clamp(-1023, 1023);
            assert_eq!(
                signed[n],
                [(f64::from(expected) / 1023.0) as f32, 0.0, 0.0, 1.0].map(f32::to_bits)
            );
        }
        let both =
            (u128::from(random.next()) << 64 | u128::from(u64::from_le_bytes(bytes))).to_le_bytes();
        for (two, one) in [(F::EAC_RG11, F::EAC_R11), (F::EAC_SIGNED_RG11, F::EAC_SIGNED_R11)] {
            let halves = [decode(one, &both[..8]), decode(one, &both[8..])];
            for (n, texel) in decode(two, &both).into_iter().enumerate() {
                assert_eq!(texel, [halves[0][n][0], halves[1][n][0], 0, ONE]);
            }
        }
    }
}

/// A texel of FXT1 from the list of the block's bits, computed with simple arithmetic: red, green,
/// blue and alpha, 0 to 255.
fn fxt1(bits: &[bool], x: usize, y: usize) -> [f64; 4] {
    let number = |high: usize, low: usize| {
        (low..=high).rev().fold(0u64, |sum, bit| 2 * sum + u64::from(bits[bit]))
    };
    let five = |low: usize| widened(number(low + 4, low), 5);
    let six = |low: usize, lowest: bool| widened(2 * number(low + 4, low) + u64::from(lowest), 6);
    let opaque = |low: usize| [five(low + 10), five(low + 5), five(low), 255.0];
    let lerp = |first: [f64; 4], second: [f64; 4], weight: f64| -> [f64; 4] {
        std::array::from_fn(|n| (first[n] + (second[n] - first[n]) * weight + 0.5 + 1e-9).floor())
    };
    let right = x >= 4;
    let texel = x % 4 + 4 * y + if right { 16 } else { 0 };
    let index = number(2 * texel + 1, 2 * texel);
    let third = index as f64 / 3.0;
    match (bits[127], bits[126], bits[125]) {
        (false, false, _) => match number(3 * texel + 2, 3 * texel) {
            7 => [0.0; 4],
            index => lerp(opaque(96), opaque(111), index as f64 / 6.0),
        },
        (false, true, false) => opaque([64, 79, 94, 109][index as usize]),
        (false, true, true) => {
            let colours = [0, 1, 2].map(|n| {
                [
                    opaque(64 + 15 * n)[0],
                    opaque(64 + 15 * n)[1],
                    opaque(64 + 15 * n)[2],
                    five(109 + 5 * n),
                ]
            });
            match (bits[124], index) {
                (true, _) => lerp(colours[if right { 2 } else { 0 }], colours[1], third),
                (false, 3) => [0.0; 4],
                (false, index) => colours[index as usize],
            }
        }
        (true, _, _) => {
            let (low, lowest, first) =
                if right { (94, bits[126], bits[33]) } else { (64, bits[125], bits[1]) };
            let mut colours = [opaque(low), opaque(low + 15)];
            colours[1][1] = six(low + 20, lowest);
            if bits[124] {
                return match index {
                    3 => [0.0; 4],
                    index => lerp(colours[0], colours[1], index as f64 / 2.0),
                };
            }
            colours[0][1] = six(low + 5, lowest != first);
            lerp(colours[0], colours[1], third)
        }
    }
}

#[test]
fn fxt1_is_what_its_text_says() {
    let mut random = Random(11);
    for number in 0..BLOCKS as u128 {
        // The four highest bits select the mode.
        let block = random.block() >> 4 | (number % 16) << 124;
        let bits: Vec<bool> = (0..128).map(|bit| block >> bit & 1 == 1).collect();
        for (n, ours) in decode(F::FXT1, &block.to_le_bytes()).into_iter().enumerate() {
            let theirs = fxt1(&bits, n % 8, n / 8).map(|channel| channel as u8);
            assert_eq!(ours, value_of(theirs), "texel {n}: {block:#034x}");
        }
    }
}

/// Formats whose red, green and blue follow the sRGB curve, each with the format that differs only
/// in this.
const CURVED: [(SurfaceFormat, SurfaceFormat); 8] = [
    (F::BC1_UNORM_SRGB, F::BC1_UNORM),
    (F::DXT1_RGB_SRGB, F::DXT1_RGB),
    (F::BC2_UNORM_SRGB, F::BC2_UNORM),
    (F::BC3_UNORM_SRGB, F::BC3_UNORM),
    (F::BC7_UNORM_SRGB, F::BC7_UNORM),
    (F::ETC2_SRGB8, F::ETC2_RGB8),
    (F::ETC2_SRGB8_PTA, F::ETC2_RGB8_PTA),
    (F::ETC2_EAC_SRGB8_A8, F::ETC2_EAC_RGBA8),
];

#[test]
fn srgb_is_made_linear_before_it_is_filtered() {
    let mut random = Random(12);
    for _ in 0..500 {
        let bytes = random.block().to_le_bytes();
        for (curved, even) in CURVED {
            let even = decode(even, &bytes);
            for (curved, even) in decode(curved, &bytes).into_iter().zip(even) {
                assert_eq!(curved[3], even[3]);
                for n in 0..3 {
                    let value = f64::from(f32::from_bits(even[n]));
                    let linear = if value <= 0.04045 {
                        value / 12.92
                    } else {
                        ((value + 0.055) / 1.055).powf(2.4)
                    };
                    assert!((f64::from(f32::from_bits(curved[n])) - linear).abs() < 1e-6);
                }
            }
        }
    }
}

/// Every format with blocks is decoded, also by its codec. Too few bytes, too short outputs and
/// texels outside of the block give `None`.
#[test]
fn all_formats_with_blocks_are_decoded() {
    let mut random = Random(13);
    let mut count = 0;
    for code in (0..512).map(SurfaceFormat::from_bits) {
        let Some(codec) = Codec::of(code) else { continue };
        let format = codec.format();
        let bytes = [random.block().to_le_bytes(), random.block().to_le_bytes()].concat();
        let mut out = [[0; 4]; MOST_TEXELS];
        if format.class != Class::Compressed {
            assert_eq!(decode_block(format, &bytes, &mut out), None);
            assert_eq!(decode_texel(format, &bytes, 0, 0), None);
            continue;
        }
        count += 1;
        assert_eq!(
            format.srgb,
            CURVED.iter().any(|(curved, _)| *curved == code),
            "{}",
            format.name
        );
        let [width, height] = format.block.map(u32::from);
        let (size, texels) = (format.bytes() as usize, (width * height) as usize);
        assert_eq!(decode(code, &bytes).len(), texels);
        assert_eq!(decode_block(format, &bytes[..size - 1], &mut out), None);
        assert_eq!(decode_block(format, &bytes, &mut out[..texels - 1]), None);
        assert_eq!(decode_texel(format, &bytes, width, 0), None);
        assert_eq!(decode_texel(format, &bytes, 0, height), None);
        assert_eq!(decode_texel(format, &[], 0, 0), None);
        // Decode two blocks with room for the texels of only one and a half.
        let mut places = vec![[7; 4]; texels + texels / 2];
        codec.decode(&bytes[..2 * size], &mut places);
        assert_eq!(places[..texels], decode(code, &bytes));
        assert!(places[texels..].iter().all(|value| *value == [7; 4]));
        assert!(!codec.has_channels() && !codec.typed_write());
    }
    // The table of SURFACE_FORMAT has the same number of formats with blocks (2b p.36-42).
    assert_eq!(count, 28);
}
