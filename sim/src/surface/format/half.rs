//! Half precision floats. The execution units use these conversions as well.

/// The value of a half precision float.
#[inline(always)]
pub fn half_to_single(half: u16) -> f32 {
    let magnitude = u32::from(half & 0x7fff);
    let sign = u32::from(half & 0x8000) << 16;
    let bits = match magnitude {
        // Subnormal: `magnitude` times the least subnormal, which is exact.
        0..0x400 => (magnitude as f32 * f32::from_bits((127 - 24) << 23)).to_bits(),
        0x400..0x7c00 => (magnitude << 13) + ((127 - 15) << 23),
        0x7c00 => f32::INFINITY.to_bits(),
        _ => 0x7fc0_0000 | magnitude << 13,
    };
    f32::from_bits(sign | bits & 0x7fff_ffff)
}

/// The half precision float that is nearest to `value`, ties to even.
#[inline(always)]
pub fn single_to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, magnitude) = ((bits >> 16 & 0x8000) as u16, bits & 0x7fff_ffff);
    let half = match magnitude {
        0x7f80_0001.. => 0x7e00 | magnitude >> 13 & 0x1ff,
        // 2^16 and more become infinity. Values between the greatest half and 2^16 are rounded by
        // the last branch.
        0x4780_0000.. => 0x7c00,
        // The precision of the sum is the step of subnormal halves, 2^-24, so the addition rounds.
        0..0x3880_0000 => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits(),
        _ => (magnitude - ((127 - 15) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13,
    };
    sign | half as u16
}
