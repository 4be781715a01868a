//! ProcAmp: contrast and brightness of luma, hue and saturation of chroma.

use super::number::{clip, fixed, rounded};
use genxml::gen8::vebox_states::VeboxProcampState;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcAmp {
    /// Gain of luma, 7 bits of fraction.
    pub contrast: i32,
    /// Offset of luma in units of 12 bits.
    pub brightness: i32,
    /// The cosine of the hue times contrast and saturation, 8 bits of fraction.
    pub cos: i32,
    /// The sine likewise.
    pub sin: i32,
}

impl ProcAmp {
    /// The settings of a state; `None` if it is disabled.
    pub fn new(state: &VeboxProcampState) -> Option<ProcAmp> {
        state.procamp_enable.then(|| ProcAmp {
            contrast: fixed(state.contrast.get(), 7),
            // 4 bits of fraction below 8 are the units of 12 bits.
            brightness: fixed(state.brightness.get(), 4),
            cos: fixed(state.cos_c_s.get(), 8),
            sin: fixed(state.sin_c_s.get(), 8),
        })
    }

    /// The result for luma. Black is at 256.
    #[inline]
    pub fn luma(&self, y: u16) -> u16 {
        clip(rounded((i32::from(y) - 256) * self.contrast, 7) + self.brightness + 256)
    }

    /// The results for U and V. Grey is at 2048.
    #[inline]
    pub fn chroma(&self, u: u16, v: u16) -> (u16, u16) {
        let (u, v) = (i32::from(u) - 2048, i32::from(v) - 2048);
        let turned_u = rounded(u * self.cos + v * self.sin, 8);
        let turned_v = rounded(v * self.cos - u * self.sin, 8);
        (clip(turned_u + 2048), clip(turned_v + 2048))
    }
}

#[cfg(test)]
mod tests {
    use super::ProcAmp;

    /// Oracle: the formulas of the VEBOX chapter in floating point (digests/video.md 12.4).
    #[test]
    fn formulas() {
        let settings = [(128, 0, 256, 0), (192, 320, 181, 181), (2047, -2048, -300, 77)];
        for (contrast, brightness, cos, sin) in settings {
            let procamp = ProcAmp { contrast, brightness, cos, sin };
            for y in (0..4096).step_by(13) {
                let gain = f64::from(contrast) / 128.0;
                let want = (f64::from(y) - 256.0) * gain + f64::from(brightness) + 256.0;
                let got = f64::from(procamp.luma(y as u16));
                assert!((got - want.clamp(0.0, 4095.0)).abs() <= 0.5, "{y}: {got} for {want}");
                for v in (0..4096).step_by(391) {
                    let (cos, sin) = (f64::from(cos) / 256.0, f64::from(sin) / 256.0);
                    let (centred_u, centred_v) = (f64::from(y) - 2048.0, f64::from(v) - 2048.0);
                    let want = [
                        centred_u * cos + centred_v * sin + 2048.0,
                        centred_v * cos - centred_u * sin + 2048.0,
                    ];
                    let (u, v) = procamp.chroma(y as u16, v as u16);
                    for (got, want) in [u, v].into_iter().zip(want) {
                        assert!((f64::from(got) - want.clamp(0.0, 4095.0)).abs() <= 0.5);
                    }
                }
            }
        }
    }
}
