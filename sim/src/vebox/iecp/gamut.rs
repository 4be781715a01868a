//! Gamut expansion in its basic mode: curves and a matrix.

use super::curve::{Curve, Part};
use super::number::{clip, fixed};
use genxml::gen8::vebox_states::VeboxGamutState;

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// From gamma to linear.
    linear: Curve,
    /// From linear to gamma.
    gamma: Curve,
    /// Rows of the matrix, 12 bits of fraction.
    matrix: [[i64; 3]; 3],
    /// Added to the linear input.
    before: [i64; 3],
    /// Added to the product.
    after: [i64; 3],
    /// Weight of the result against the linear input, of 1023.
    weight: i64,
}

/// The curve of eleven points, biases and twelve slopes, which starts at 0.
macro_rules! curve {
    ($state:ident; $first:ident; $($point:ident $bias:ident $slope:ident;)*) => {
        Curve::new(&[
            Part { point: 0, bias: 0, slope: fixed($state.$first.get(), Part::FRACTION) },
            $(Part {
                point: $state.$point.get() as u8,
                bias: $state.$bias.get() as u8,
                slope: fixed($state.$slope.get(), Part::FRACTION),
            },)*
        ])
    };
}

impl Expansion {
    /// The settings of a state (assumption `VEBOX_GAMUT_EXPANSION_IN_BASIC_MODE`).
    pub fn new(s: &VeboxGamutState) -> Expansion {
        let linear = curve!(s; pwl_inv_gamma_slope_0;
            pwl_inv_gamma_point_1 pwl_inv_gamma_bias_1 pwl_inv_gamma_slope_1;
            pwl_inv_gamma_point_2 pwl_inv_gamma_bias_2 pwl_inv_gamma_slope_2;
            pwl_inv_gamma_point_3 pwl_inv_gamma_bias_3 pwl_inv_gamma_slope_3;
            pwl_inv_gamma_point_4 pwl_inv_gamma_bias_4 pwl_inv_gamma_slope_4;
            pwl_inv_gamma_point_5 pwl_inv_gamma_bias_5 pwl_inv_gamma_slope_5;
            pwl_inv_gamma_point_6 pwl_inv_gamma_bias_6 pwl_inv_gamma_slope_6;
            pwl_inv_gamma_point_7 pwl_inv_gamma_bias_7 pwl_inv_gamma_slope_7;
            pwl_inv_gamma_point_8 pwl_inv_gamma_bias_8 pwl_inv_gamma_slope_8;
            pwl_inv_gamma_point_9 pwl_inv_gamma_bias_9 pwl_inv_gamma_slope_9;
            pwl_inv_gamma_point_10 pwl_inv_gamma_bias_10 pwl_inv_gamma_slope_10;
            pwl_inv_gamma_point_11 pwl_inv_gamma_bias_11 pwl_inv_gamma_slope_11;
        );
        let gamma = curve!(s; pwl_gamma_slope_0;
            pwl_gamma_point_1 pwl_gamma_bias_1 pwl_gamma_slope_1;
            pwl_gamma_point_2 pwl_gamma_bias_2 pwl_gamma_slope_2;
            pwl_gamma_point_3 pwl_gamma_bias_3 pwl_gamma_slope_3;
            pwl_gamma_point_4 pwl_gamma_bias_4 pwl_gamma_slope_4;
            pwl_gamma_point_5 pwl_gamma_bias_5 pwl_gamma_slope_5;
            pwl_gamma_point_6 pwl_gamma_bias_6 pwl_gamma_slope_6;
            pwl_gamma_point_7 pwl_gamma_bias_7 pwl_gamma_slope_7;
            pwl_gamma_point_8 pwl_gamma_bias_8 pwl_gamma_slope_8;
            pwl_gamma_point_9 pwl_gamma_bias_9 pwl_gamma_slope_9;
            pwl_gamma_point_10 pwl_gamma_bias_10 pwl_gamma_slope_10;
            pwl_gamma_point_11 pwl_gamma_bias_11 pwl_gamma_slope_11;
        );
        let row = |first: f64, second: f64, third: f64| {
            [first, second, third].map(|value| i64::from(fixed(value, 12)))
        };
        Expansion {
            linear,
            gamma,
            matrix: [
                row(s.c0.get(), s.c1.get(), s.c2.get()),
                row(s.c3.get(), s.c4.get(), s.c5.get()),
                row(s.c6.get(), s.c7.get(), s.c8.get()),
            ],
            before: [s.offset_in_r.get(), s.offset_in_g.get(), s.offset_in_b.get()],
            after: row(s.offset_out_r.get(), s.offset_out_g.get(), s.offset_out_b.get()),
            weight: s.cm_w.get() as i64,
        }
    }

    /// The result for a pixel.
    pub fn pixel(&self, pixel: [u16; 3]) -> [u16; 3] {
        let linear = pixel.map(|sample| i64::from(self.linear.at(sample)));
        std::array::from_fn(|row| {
            let product = |at: usize| self.matrix[row][at] * (linear[at] + self.before[at]);
            let converted = ((product(0) + product(1) + product(2) + 2048) >> 12) + self.after[row];
            let blend = converted * self.weight + linear[row] * (1023 - self.weight);
            let blend = (2 * blend + 1023).div_euclid(2 * 1023);
            self.gamma.at(clip(blend.clamp(0, 4095) as i32))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Expansion;
    use genxml::gen8::vebox_states::VeboxGamutState;
    use genxml_core::{SFix, U};

    fn identity() -> VeboxGamutState {
        let one = SFix::new(1.0).unwrap();
        let zero = SFix::new(0.0).unwrap();
        VeboxGamutState {
            cm_w: U::new(1023).unwrap(),
            c0: one,
            c1: zero,
            c2: zero,
            c3: zero,
            c4: one,
            c5: zero,
            c6: zero,
            c7: zero,
            c8: one,
            offset_out_r: zero,
            offset_out_g: zero,
            offset_out_b: zero,
            ..VeboxGamutState::new()
        }
    }

    /// The default curves are inverse to each other, but for the steps of their tables: where the
    /// linear curve is flat, neighbouring samples meet.
    #[test]
    fn default_curves_come_back() {
        let expansion = Expansion::new(&identity());
        for sample in (0..4096).step_by(5) {
            let [red, green, blue] = expansion.pixel([sample; 3]);
            assert!(red == green && green == blue);
            assert!(red.abs_diff(sample) <= 160, "{sample} becomes {red}");
        }
    }

    /// Without weight the matrix has no effect.
    #[test]
    fn weight_of_zero() {
        let plain = Expansion::new(&identity());
        let mut state = identity();
        state.cm_w = U::new(0).unwrap();
        state.c0 = SFix::new(-2.0).unwrap();
        state.c4 = SFix::new(3.0).unwrap();
        let weightless = Expansion::new(&state);
        for sample in (0..4096).step_by(50) {
            let pixel = [sample, 4095 - sample, sample / 2];
            assert_eq!(plain.pixel(pixel), weightless.pixel(pixel));
        }
    }

    /// A matrix that exchanges colours exchanges results.
    #[test]
    fn exchange() {
        let plain = Expansion::new(&identity());
        let mut state = identity();
        (state.c0, state.c2) = (state.c2, state.c0);
        (state.c6, state.c8) = (state.c8, state.c6);
        let exchanged = Expansion::new(&state);
        let [red, green, blue] = plain.pixel([3000, 2000, 1000]);
        assert_eq!(exchanged.pixel([3000, 2000, 1000]), [blue, green, red]);
    }
}
