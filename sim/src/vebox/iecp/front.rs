//! The end of the camera pipe: colour correction matrix, gamma, and conversion to Y, U and V.

use super::csc::Csc;
use super::curve::{Curve, Part, curve};
use super::number::{clip, fixed};
use genxml::gen8::vebox_states::{
    VeboxCcmState, VeboxForwardGammaCorrectionState, VeboxFrontEndCscState, VeboxIecpState,
};

/// The settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// Rows of the matrix, 12 bits of fraction.
    matrix: Option<[[i64; 3]; 3]>,
    gamma: Option<Curve>,
    csc: Option<Csc>,
}

impl Front {
    /// The functions that a state enables.
    pub fn new(state: &VeboxIecpState) -> Front {
        let gamma = &state.forward_gamma_correction_state;
        Front {
            matrix: matrix(&state.ccm_state),
            gamma: gamma.forward_gamma_correction_enable.then(|| curve_of(gamma)),
            csc: csc(&state.front_end_csc_state),
        }
    }

    /// The result for a pixel.
    pub fn pixel(&self, mut pixel: [u16; 3]) -> [u16; 3] {
        if let Some(matrix) = &self.matrix {
            pixel = matrix.map(|row| {
                let sum: i64 = row.iter().zip(pixel).map(|(c, s)| c * i64::from(s)).sum();
                clip(((sum + 2048) >> 12).clamp(0, 4095) as i32)
            });
        }
        if let Some(gamma) = &self.gamma {
            pixel = pixel.map(|sample| gamma.at(sample));
        }
        self.csc.map_or(pixel, |csc| csc.pixel(pixel))
    }
}

/// The matrix of a state; `None` if it is disabled.
fn matrix(s: &VeboxCcmState) -> Option<[[i64; 3]; 3]> {
    let row = |first: f64, second: f64, third: f64| {
        [first, second, third].map(|value| i64::from(fixed(value, 12)))
    };
    s.color_correction_matrix_enable.then(|| {
        [
            row(
                s.c0_coefficient_of_3x3_transform_matrix.get(),
                s.c1_coefficient_of_3x3_transform_matrix.get(),
                s.c2_coefficient_of_3x3_transform_matrix.get(),
            ),
            row(
                s.c3_coefficient_of_3x3_transform_matrix.get(),
                s.c4_coefficient_of_3x3_transform_matrix.get(),
                s.c5_coefficient_of_3x3_transform_matrix.get(),
            ),
            row(
                s.c6_coefficient_of_3x3_transform_matrix.get(),
                s.c7_coefficient_of_3x3_transform_matrix.get(),
                s.c8_coefficient_of_3x3_transform_matrix.get(),
            ),
        ]
    })
}

/// The curve of gamma.
fn curve_of(s: &VeboxForwardGammaCorrectionState) -> Curve {
    curve!(s; pwl_fwd_gamma_slope_0;
        pwl_fwd_gamma_point_1 pwl_fwd_gamma_bias_1 pwl_fwd_gamma_slope_1;
        pwl_fwd_gamma_point_2 pwl_fwd_gamma_bias_2 pwl_fwd_gamma_slope_2;
        pwl_fwd_gamma_point_3 pwl_fwd_gamma_bias_3 pwl_fwd_gamma_slope_3;
        pwl_fwd_gamma_point_4 pwl_fwd_gamma_bias_4 pwl_fwd_gamma_slope_4;
        pwl_fwd_gamma_point_5 pwl_fwd_gamma_bias_5 pwl_fwd_gamma_slope_5;
        pwl_fwd_gamma_point_6 pwl_fwd_gamma_bias_6 pwl_fwd_gamma_slope_6;
        pwl_fwd_gamma_point_7 pwl_fwd_gamma_bias_7 pwl_fwd_gamma_slope_7;
        pwl_fwd_gamma_point_8 pwl_fwd_gamma_bias_8 pwl_fwd_gamma_slope_8;
        pwl_fwd_gamma_point_9 pwl_fwd_gamma_bias_9 pwl_fwd_gamma_slope_9;
        pwl_fwd_gamma_point_10 pwl_fwd_gamma_bias_10 pwl_fwd_gamma_slope_10;
        pwl_fwd_gamma_point_11 pwl_fwd_gamma_bias_11 pwl_fwd_gamma_slope_11;
    )
}

/// The conversion of a state; `None` if it is disabled. Its offsets have units of 10 bits.
fn csc(s: &VeboxFrontEndCscState) -> Option<Csc> {
    let row = |first: f64, second: f64, third: f64| {
        [first, second, third].map(|coefficient| fixed(coefficient, 10))
    };
    let offsets =
        |first: i64, second: i64, third: i64| [first, second, third].map(|o| o as i32 * 4);
    s.front_end_csc_transform_enable.then(|| Csc {
        matrix: [
            row(
                s.fecsc_c0_transform_coefficient.get(),
                s.fecsc_c1_transform_coefficient.get(),
                s.fecsc_c2_transform_coefficient.get(),
            ),
            row(
                s.fecsc_c3_transform_coefficient.get(),
                s.fecsc_c4_transform_coefficient.get(),
                s.fecsc_c5_transform_coefficient.get(),
            ),
            row(
                s.fecsc_c6_transform_coefficient.get(),
                s.fecsc_c7_transform_coefficient.get(),
                s.fecsc_c8_transform_coefficient.get(),
            ),
        ],
        before: offsets(
            s.fecsc_offset_in_1_offset_in_for_y_r.get(),
            s.fecsc_offset_in_2_offset_in_for_u_g.get(),
            s.fecsc_offset_in_3_offset_in_for_v_b.get(),
        ),
        after: offsets(
            s.fecsc_offset_out_1_offset_out_for_y_r.get(),
            s.fecsc_offset_out_2_offset_out_for_u_g.get(),
            s.fecsc_offset_out_3_offset_out_for_v_b.get(),
        ),
    })
}
