//! Total colour control: gains of saturation by hue.

use super::number::{clip, fixed};
use genxml::gen8::vebox_states::VeboxTccState;

/// The settings (assumption `VEBOX_TCC_INTERPOLATES_FACTORS`).
#[derive(Clone, Debug, PartialEq)]
pub struct Tcc {
    /// The gain for each hue, 10 bits of fraction.
    gains: Box<[i32; HUES]>,
    /// Chroma in 8 bits from which on gains take effect.
    threshold: i32,
    /// log2 of the width of the transition at the threshold.
    threshold_bits: u32,
    /// Greatest component in units of 12 bits.
    most: i32,
    /// Greatest skin score at which the gain has full effect.
    skin_threshold: i32,
    /// log2 of how much each higher score reduces the effect, in 1/31.
    skin_slope: u32,
}

/// Hues of a circle.
const HUES: usize = 1024;

impl Tcc {
    /// The settings of a state; `None` if it is disabled.
    pub fn new(s: &VeboxTccState) -> Option<Tcc> {
        let colors = [
            (s.base_color1, s.sat_factor1, s.color_transit_slope12, s.color_bias1),
            (s.base_color2, s.sat_factor2, s.color_transit_slope23, s.color_bias2),
            (s.base_color3, s.sat_factor3, s.color_transit_slope34, s.color_bias3),
            (s.base_color4, s.sat_factor4, s.color_transit_slope45, s.color_bias4),
            (s.base_color5, s.sat_factor5, s.color_transit_slope56, s.color_bias5),
            (s.base_color6, s.sat_factor6, s.color_transit_slope61, s.color_bias6),
        ];
        let colors = colors.map(|(base, factor, slope, bias)| Color {
            base: base.get() as usize,
            factor: factor.get(),
            slope: slope.get(),
            bias: bias.get(),
        });
        s.tcc_enable.then(|| Tcc {
            gains: gains(&colors),
            threshold: s.uv_threshold.get() as i32,
            threshold_bits: s.uv_threshold_bits.get() as u32,
            most: s.uvmax_color.get() as i32 * 4,
            skin_threshold: s.ste_threshold.get() as i32,
            skin_slope: s.ste_slope_bits.get() as u32,
        })
    }

    /// U and V of a pixel with a skin score.
    pub fn chroma(&self, u: u16, v: u16, skin: u8) -> (u16, u16) {
        let (centred_u, centred_v) = (i32::from(u) - 2048, i32::from(v) - 2048);
        let size = centred_u.abs().max(centred_v.abs());
        let gain = self.gains[hue(centred_u, centred_v)] - 1024;
        // Parts of 16 by which the gain takes effect.
        let strength = ((size - (self.threshold << 4)) >> self.threshold_bits).clamp(0, 16);
        let spared = ((i32::from(skin) - self.skin_threshold).max(0) << self.skin_slope).min(31);
        let change = i64::from(gain * strength * (31 - spared));
        if change == 0 {
            return (u, v);
        }
        // Neither component may exceed the greatest one, or its own size if that is greater.
        let most = i64::from(self.most.max(size));
        let full = 1024 * 16 * 31;
        let grown = (i64::from(size) * (full + change)).min(most * full);
        let scaled = |component: i32| {
            let product = i64::from(component) * grown;
            let divisor = i64::from(size) * full;
            clip((2 * product + divisor).div_euclid(2 * divisor) as i32 + 2048)
        };
        (scaled(centred_u), scaled(centred_v))
    }
}

/// A base colour.
struct Color {
    /// The hue.
    base: usize,
    /// The gain of saturation.
    factor: f64,
    /// 1 / the distance to the next colour.
    slope: f64,
    /// Fraction of the distance to the next base colour over which the gain does not change.
    bias: f64,
}

/// The gain for each hue.
fn gains(colors: &[Color; 6]) -> Box<[i32; HUES]> {
    let mut gains = Box::new([0; HUES]);
    for (hue, gain) in gains.iter_mut().enumerate() {
        // Hues before the first colour follow the last one.
        let at = colors.iter().rposition(|color| color.base <= hue).unwrap_or(5);
        let (color, next) = (&colors[at], &colors[(at + 1) % 6]);
        let distance = (hue + HUES - color.base) % HUES;
        let way = (distance as f64 * color.slope).clamp(0.0, 1.0);
        let way = if color.bias < 1.0 { (way - color.bias) / (1.0 - color.bias) } else { 0.0 };
        let factor = color.factor + (next.factor - color.factor) * way.max(0.0);
        *gain = fixed(factor, 10);
    }
    gains
}

/// The angle of U and V in units of 1/1024 of a circle, counted from U to V.
fn hue(u: i32, v: i32) -> usize {
    let angle = libm::atan2f(v as f32, u as f32) * (512.0 / std::f32::consts::PI);
    (libm::floorf(angle + 0.5) as i32).rem_euclid(HUES as i32) as usize
}

#[cfg(test)]
mod tests {
    use super::{Tcc, hue};
    use genxml::gen8::vebox_states::VeboxTccState;
    use genxml_core::UFix;

    fn state(factor: f64) -> VeboxTccState {
        let factor = UFix::new(factor).unwrap();
        VeboxTccState {
            tcc_enable: true,
            sat_factor1: factor,
            sat_factor2: factor,
            sat_factor3: factor,
            sat_factor4: factor,
            sat_factor5: factor,
            sat_factor6: factor,
            ..VeboxTccState::new()
        }
    }

    #[test]
    fn gains_of_one_change_nothing() {
        let tcc = Tcc::new(&state(1.0)).unwrap();
        for (u, v) in (0..4096).step_by(61).flat_map(|u| (0..4096).step_by(67).map(move |v| (u, v)))
        {
            assert_eq!(tcc.chroma(u, v, 0), (u, v));
        }
    }

    /// Oracle: a gain that all hues share scales both components, except near grey and beyond the
    /// limit. Skin keeps its colour.
    #[test]
    fn one_gain_for_all_hues() {
        let tcc = Tcc::new(&state(1.5)).unwrap();
        for (u, v) in [(600, 0), (-900, 300), (100, -700), (500, 499)] {
            let at = |value: i32| (value + 2048) as u16;
            assert_eq!(tcc.chroma(at(u), at(v), 31), (at(u), at(v)));
            let (got_u, got_v) = tcc.chroma(at(u), at(v), 0);
            let want = |value: i32| f64::from(value) * 1.5 + 2048.0;
            assert!((f64::from(got_u) - want(u)).abs() <= 0.5, "{u} {v}: {got_u}");
            assert!((f64::from(got_v) - want(v)).abs() <= 0.5, "{u} {v}: {got_v}");
        }
        // 448 of 10 bits is the limit.
        assert_eq!(tcc.chroma(2048 + 1700, 2048, 0), (2048 + 448 * 4, 2048));
        assert_eq!(tcc.chroma(2048 + 20, 2048, 0), (2048 + 20, 2048));
    }

    /// The default base colours are near the colours of BT.601.
    #[test]
    fn hues() {
        assert_eq!([hue(100, 0), hue(0, 100), hue(-100, 0), hue(0, -100)], [0, 256, 512, 768]);
        // Red: U and V are -38 and 112 of 8 bits.
        assert!(hue(-38, 112).abs_diff(307) < 4);
    }
}
