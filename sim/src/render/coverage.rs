//! Alpha test and alpha to coverage: they remove samples between the pixel shader and the depth
//! test.

use super::compare::Compare;
use crate::assumptions::{
    ALPHA_TO_COVERAGE_DITHER, ALPHA_TO_COVERAGE_FILLS_UPWARD, OMASK_DISABLES_ALPHA_TO_COVERAGE,
};
use crate::surface::format::convert;
use crate::unit::render_cache::SLOTS;
use genxml::gen8::render3d_pixel::{
    BlendState, ColorCalcState, ColorCalcStateReference, ThreeDStatePsExtra,
};

/// Alpha test and alpha to coverage of a draw.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Coverage {
    test: Option<(Compare, Reference)>,
    to_coverage: bool,
    dither: bool,
    samples: u32,
}

/// The reference that alpha is compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reference {
    /// The reference is compared with alpha as a float.
    Float(f32),
    /// The reference is compared with alpha converted to 8 bits.
    Unorm8(u32),
}

impl Coverage {
    /// An alpha test for pixels of one sample, if there is one.
    pub fn alpha_test(test: Option<(Compare, Reference)>) -> Coverage {
        Coverage { test, samples: 1, ..Coverage::default() }
    }

    /// Alpha test and alpha to coverage for pixels of `samples` samples.
    pub fn resolve(
        state: &BlendState,
        references: &ColorCalcState,
        shader: &ThreeDStatePsExtra,
        samples: u32,
    ) -> Coverage {
        let reference = match references.reference {
            ColorCalcStateReference::Float { alpha_reference_value_as_float32: value } => {
                Reference::Float(value)
            }
            ColorCalcStateReference::Unorm { alpha_reference_value_as_unorm8: value } => {
                Reference::Unorm8(value.get() as u32)
            }
        };
        Coverage {
            test: state
                .alpha_test_enable
                .then(|| (Compare::of(state.alpha_test_function), reference)),
            to_coverage: state.alpha_to_coverage_enable
                && !shader.pixel_shader_disables_alpha_to_coverage
                && !(OMASK_DISABLES_ALPHA_TO_COVERAGE && shader.o_mask_present_to_render_target),
            dither: state.alpha_to_coverage_dither_enable,
            samples,
        }
    }

    /// True if the alpha test or alpha to coverage can remove samples.
    pub fn removes(&self) -> bool {
        self.to_coverage || self.test.is_some_and(|(function, _)| function != Compare::ALWAYS)
    }

    /// Clears the samples of each slot that `alpha` (bits of floats) removes. `alpha` is the alpha
    /// of the colour that is written, or Source 0 Alpha if the message has it (2d p.36, p.357). The
    /// bits of integers count as floats (2d p.77).
    ///
    /// `subspans` are the column and row of the upper left pixel of each quad. Each quad has four
    /// slots, one for each pixel.
    pub fn apply(&self, subspans: &[[u32; 2]; 4], alpha: &[u32; SLOTS], samples: &mut [u8; SLOTS]) {
        if !self.removes() {
            return;
        }
        for (slot, mask) in samples.iter_mut().enumerate() {
            let value = f32::from_bits(alpha[slot]);
            if let Some((function, reference)) = self.test {
                let passes = match reference {
                    Reference::Float(reference) => function.floats(value, reference),
                    Reference::Unorm8(reference) => {
                        function.integers(convert::to_unorm(value, 8) as u32, reference)
                    }
                };
                *mask &= if passes { 0xff } else { 0 };
            }
            if self.to_coverage {
                let [x, y] = subspans[slot / 4];
                let threshold = match self.dither {
                    true => {
                        ALPHA_TO_COVERAGE_DITHER[(y as usize + (slot >> 1 & 1)) % 2]
                            [(x as usize + (slot & 1)) % 2]
                    }
                    false => 0.5,
                };
                *mask &= covered(value, threshold, self.samples);
            }
        }
    }
}

/// The samples that an alpha covers: none for 0, all for 1, never fewer for a greater alpha.
/// (2d p.35)
fn covered(alpha: f32, threshold: f32, samples: u32) -> u8 {
    let alpha = if alpha > 0.0 { alpha.min(1.0) } else { 0.0 };
    let count = (alpha * samples as f32 + threshold) as u32;
    let mask = (1u32 << count.min(8)) - 1;
    // The manual does not say which samples are covered first.
    (if ALPHA_TO_COVERAGE_FILLS_UPWARD { mask } else { mask.reverse_bits() >> (32 - samples) })
        as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::core::U;
    use genxml::gen8::enums::ThreeDCompareFunction;

    const SUBSPANS: [[u32; 2]; 4] = [[0, 0], [2, 0], [0, 2], [6, 8]];

    /// Oracle: 2d p.35: nothing at 0, everything at 1, monotonic between them. The number of
    /// covered samples differs from alpha times all samples by at most half a sample, in a pixel,
    /// or with dither in a block of 2 x 2 pixels.
    #[test]
    fn alpha_to_coverage_is_monotonic() {
        for (samples, dither) in
            [(1, false), (2, false), (4, false), (8, false), (4, true), (8, true), (1, true)]
        {
            let coverage = Coverage { test: None, to_coverage: true, dither, samples };
            let all = ((1u32 << samples) - 1) as u8;
            let mut last = 0;
            for step in 0..=1000 {
                let alpha = step as f32 / 1000.0;
                let mut masks = [all; SLOTS];
                coverage.apply(&SUBSPANS, &[alpha.to_bits(); SLOTS], &mut masks);
                let counts = masks.map(u8::count_ones);
                let sum: u32 = counts.iter().sum();
                assert!(sum >= last, "{samples} {alpha}");
                last = sum;
                match step {
                    0 => assert_eq!(masks, [0; SLOTS]),
                    1000 => assert_eq!(masks, [all; SLOTS]),
                    _ if dither => {
                        let block: u32 = counts[..4].iter().sum();
                        let exact = alpha * 4.0 * samples as f32;
                        assert!(
                            (block as f32 - exact).abs() <= 0.5001,
                            "{samples} {alpha} {block}"
                        );
                    }
                    _ => assert!((counts[0] as f32 - alpha * samples as f32).abs() <= 0.5001),
                }
            }
        }
    }

    /// Oracle: the comparisons of floats, and of integers after exact rounding.
    #[test]
    fn alpha_test() {
        for code in 0..8 {
            let state = BlendState {
                alpha_test_enable: true,
                alpha_test_function: ThreeDCompareFunction::from_bits(code),
                ..BlendState::new()
            };
            for (reference, in_bytes) in [
                (ColorCalcStateReference::Float { alpha_reference_value_as_float32: 0.5 }, false),
                (
                    ColorCalcStateReference::Unorm {
                        alpha_reference_value_as_unorm8: U::new(128).unwrap(),
                    },
                    true,
                ),
            ] {
                let constants = ColorCalcState { reference, ..ColorCalcState::new() };
                let shader = ThreeDStatePsExtra::new();
                let coverage = Coverage::resolve(&state, &constants, &shader, 1);
                let alphas: [f32; SLOTS] = std::array::from_fn(|n| 0.49 + n as f32 * 0.00125);
                let mut masks = [1; SLOTS];
                coverage.apply(&SUBSPANS, &alphas.map(f32::to_bits), &mut masks);
                for (alpha, mask) in alphas.into_iter().zip(masks) {
                    let (a, b) = match in_bytes {
                        true => ((f64::from(alpha) * 255.0).round_ties_even(), 128.0),
                        false => (f64::from(alpha), 0.5),
                    };
                    let pass =
                        [true, false, a < b, a == b, a <= b, a > b, a != b, a >= b][code as usize];
                    assert_eq!(mask == 1, pass, "{code} {alpha}");
                }
            }
        }
    }
}
