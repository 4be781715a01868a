//! Gamut expansion: curves, a matrix, and the weight of the result.

use super::curve::{Curve, Part, curve};
use super::number::{clip, fixed};
use genxml::gen8::vebox_states::{VeboxGamutState, VeboxGamutStateGlobalModeEnable as Global};

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
    weight: Weight,
}

/// Weight of the result, from 0 to 1023. The linear input has 1023 minus this weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// The same for all pixels.
    Constant(i64),
    /// By the saturation and the redness of a pixel. Numbers have 12 bits of fraction.
    Adaptive {
        /// Gains of red, green and blue in the measure of red.
        gains: [i64; 3],
        /// Offset and scale of the accurate colours.
        accurate: [i64; 2],
        /// Offset and scale of red.
        red: [i64; 2],
    },
}

impl Weight {
    /// The weight for a linear pixel (assumption `VEBOX_GAMUT_EXPANSION_BY_SATURATION_AND_RED`).
    fn of(self, linear: [i64; 3]) -> i64 {
        const ONE: i64 = 1 << 12;
        match self {
            Weight::Constant(weight) => weight,
            Weight::Adaptive { gains, accurate, red } => {
                let [least, most] =
                    linear.iter().fold([ONE, 0], |[a, b], s| [a.min(*s), b.max(*s)]);
                if most == 0 {
                    return 1023;
                }
                let saturation = (most - least) * ONE / most;
                let gain = gains.iter().zip(linear).map(|(gain, s)| gain * s).sum::<i64>() / most;
                let by_saturation = ((accurate[0] - saturation) * accurate[1]) >> 12;
                let by_red = ((gain - red[0]) * red[1]) >> 12;
                (by_saturation.max(by_red).clamp(0, ONE) * 1023 + ONE / 2) >> 12
            }
        }
    }
}

impl Expansion {
    /// The settings of a state (assumption `VEBOX_GAMUT_EXPANSION_ORDER`).
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
            weight: match s.global_mode_enable {
                Global::BASIC_MODE => Weight::Constant(s.cm_w.get() as i64),
                _ => Weight::Adaptive {
                    // 9 bits are the fraction of red, 8 bits that of the others.
                    gains: [
                        (s.a_r.get() as i64) << 3,
                        (s.a_g.get() as i64) << 4,
                        (s.a_b.get() as i64) << 4,
                    ],
                    accurate: [s.cm_i.get(), s.cm_s.get()].map(|v| i64::from(fixed(v, 12))),
                    red: [s.r_i.get(), s.r_s.get()].map(|v| i64::from(fixed(v, 12))),
                },
            },
        }
    }

    /// The result for a pixel.
    pub fn pixel(&self, pixel: [u16; 3]) -> [u16; 3] {
        let linear = pixel.map(|sample| i64::from(self.linear.at(sample)));
        let weight = self.weight.of(linear);
        std::array::from_fn(|row| {
            let product = |at: usize| self.matrix[row][at] * (linear[at] + self.before[at]);
            let converted = ((product(0) + product(1) + product(2) + 2048) >> 12) + self.after[row];
            let blend = converted * weight + linear[row] * (1023 - weight);
            let blend = (2 * blend + 1023).div_euclid(2 * 1023);
            self.gamma.at(clip(blend.clamp(0, 4095) as i32))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Expansion, Global};
    use genxml::gen8::vebox_states::VeboxGamutState;
    use genxml_core::{SFix, U};

    fn identity() -> VeboxGamutState {
        let one = SFix::new(1.0).unwrap();
        let zero = SFix::new(0.0).unwrap();
        VeboxGamutState {
            global_mode_enable: Global::BASIC_MODE,
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
