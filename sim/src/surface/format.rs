//! Sizes of surface formats.

use genxml::gen8::state::SurfaceFormat;

/// Bits of an element, read off the format's name: `R8G8B8A8_UNORM` has 32. `None` for formats whose element is a
/// block of several texels and for those that are no list of channels; RAW counts in bytes.
pub fn bits(format: SurfaceFormat) -> Option<u32> {
    let name = format.name()?;
    if name == "RAW" {
        return Some(8);
    }
    if ["BC", "DXT", "FXT", "ETC", "EAC", "YCRCB", "PLANAR"].iter().any(|family| name.starts_with(family)) {
        return None;
    }
    let bits: u32 = name.split('_').filter_map(channels).sum();
    (bits != 0).then_some(bits)
}

/// The sum of `R8G8B8A8`: letters, each with a number of bits. `None` if the word is none of that.
fn channels(word: &str) -> Option<u32> {
    let mut rest = word;
    let mut sum = 0;
    while !rest.is_empty() {
        let digits = rest.strip_prefix(|c: char| "RGBAXLIYPEDS".contains(c))?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        sum += digits[..end].parse::<u32>().ok()?;
        rest = &digits[end..];
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the blocks of codes, each of one size (2b p.36-42).
    #[test]
    fn codes_come_in_blocks_of_one_size() {
        for &(code, name) in SurfaceFormat::INFO.values {
            let expected = match code {
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
            assert_eq!(bits(SurfaceFormat::from_bits(code)), Some(expected), "{name}");
        }
        for none in ["BC1_UNORM", "EAC_R11", "ETC2_EAC_SRGB8_A8", "PLANAR_420_8", "YCRCB_SWAPY", "FXT1"] {
            let (code, _) = SurfaceFormat::INFO.values.iter().find(|value| value.1 == none).unwrap();
            assert_eq!(bits(SurfaceFormat::from_bits(*code)), None, "{none}");
        }
    }
}
