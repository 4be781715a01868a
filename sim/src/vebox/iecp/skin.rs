//! Skin tone detection (STD) and enhancement (STE).

use super::number::{clip, fixed};
use genxml::gen8::vebox_states::{VeboxStdSteState, VeboxStdSteStateOutputControl as Output};

/// Bits of fraction of positions in the plane of U and V, whose unit is a step of 8 bits.
const FRACTION: u32 = 12;
/// One step.
const ONE: i64 = 1 << FRACTION;
/// The greatest score.
const MOST: i64 = 31;

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skin {
    /// U and V of the centre.
    centre: [i64; 2],
    /// Sine and cosine of the angle.
    sin: i64,
    cos: i64,
    /// Half the length of the rectangle along saturation and hue, and its margin.
    rectangle: [i64; 2],
    rectangle_margin: i64,
    /// Centre of the rhombus along saturation and hue; half its axis; the weight of hue; its
    /// margin.
    rhombus: [i64; 2],
    rhombus_size: i64,
    rhombus_slope: i64,
    rhombus_margin: i64,
    /// The luma of the four points of its membership, and the score that a step gains after point
    /// 1 and loses after point 3.
    luma: [i64; 4],
    luma_slopes: [i64; 2],
    /// Lower and upper curve of V by luma, each with 1 / its margin.
    borders: Option<[(Line<4>, i64); 2]>,
    /// Enhances what is detected.
    enhance: bool,
    /// Replaces pixels by scores.
    pub show: bool,
    /// Curves of saturation and hue, of bright and of dark skin.
    bright: [Line<3>; 2],
    dark: Option<[Line<3>; 2]>,
    /// Luma threshold between dark and bright skin; half the width of the transition; 1 / its whole
    /// width, with 16 fraction bits.
    parting: [i64; 3],
}

/// A line of parts. Position and result have [`FRACTION`] bits of fraction, and so have slopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line<const N: usize> {
    points: [i64; N],
    biases: [i64; N],
    /// The slope after each point.
    slopes: [i64; N],
    /// The slope before the first point.
    before: i64,
}

impl<const N: usize> Line<N> {
    /// The result at a position.
    fn at(&self, x: i64) -> i64 {
        let part = self.points.iter().rposition(|point| *point <= x);
        let (at, slope) = part.map_or((0, self.before), |at| (at, self.slopes[at]));
        self.biases[at] + (((x - self.points[at]) * slope) >> FRACTION)
    }
}

/// Steps as positions.
fn steps(value: u64) -> i64 {
    (value as i64) << FRACTION
}

/// A number as a position.
fn position(value: f64) -> i64 {
    i64::from(fixed(value, FRACTION))
}

/// The score of a distance inside a border.
fn ramp(distance: i64, margin: i64) -> i64 {
    match distance {
        ..0 => 0,
        _ if margin == 0 => MOST,
        _ => (distance * MOST / margin).min(MOST),
    }
}

/// The curve of three points of a state.
macro_rules! line {
    ($state:ident: $before:ident $($point:ident $bias:ident $slope:ident),*) => {
        Line {
            points: [$($state.$point.get() << FRACTION),*],
            biases: [$(position($state.$bias.get())),*],
            slopes: [$(position($state.$slope.get())),*],
            before: position($state.$before.get()),
        }
    };
}

/// The curve of V of a state.
macro_rules! border {
    ($state:ident: $($point:ident $bias:ident $slope:ident),*) => {
        Line {
            points: [$(steps($state.$point.get())),*],
            biases: [$(steps($state.$bias.get())),*],
            slopes: [$(position($state.$slope.get())),*],
            before: 0,
        }
    };
}

impl Skin {
    /// The settings of a state; `None` if detection is disabled.
    pub fn new(s: &VeboxStdSteState) -> Option<Skin> {
        let borders = || {
            let lower = border!(s: p0l b0l s0l, p1l b1l s1l, p2l b2l s2l, p3l b3l s3l);
            let upper = border!(s: p0u b0u s0u, p1u b1u s1u, p2u b2u s2u, p3u b3u s3u);
            let inverse = |value: f64| i64::from(fixed(value, 16));
            [(lower, inverse(s.inv_margin_vyl.get())), (upper, inverse(s.inv_margin_vyu.get()))]
        };
        let bright = [
            line!(s: sats0 satp1 satb1 sats1, satp2 satb2 sats2, satp3 satb3 sats3),
            line!(s: hues0 huep1 hueb1 hues1, huep2 hueb2 hues2, huep3 hueb3 hues3),
        ];
        let dark = || {
            [
                line!(s: sats0_dark satp1_dark satb1_dark sats1_dark,
                    satp2_dark satb2_dark sats2_dark, satp3_dark satb3_dark sats3_dark),
                line!(s: hues0_dark huep1_dark hueb1_dark hues1_dark,
                    huep2_dark hueb2_dark hues2_dark, huep3_dark hueb3_dark hues3_dark),
            ]
        };
        s.std_enable.then(|| Skin {
            centre: [steps(s.u_mid.get()), steps(s.v_mid.get())],
            sin: position(s.sin_alpha.get()),
            cos: position(s.cos_alpha.get()),
            rectangle: [steps(s.sat_max.get()), steps(s.hue_max.get())],
            rectangle_margin: steps(s.hs_margin.get()),
            rhombus: [s.diamond_du.get() << FRACTION, s.diamond_dv.get() << FRACTION],
            rhombus_size: steps(s.diamond_th.get()),
            rhombus_slope: position(s.diamond_alpha.get()),
            rhombus_margin: steps(s.diamond_margin.get()),
            luma: [s.y_point_1, s.y_point_2, s.y_point_3, s.y_point_4].map(|y| steps(y.get())),
            luma_slopes: [s.y_slope_1, s.y_slope_2].map(|slope| i64::from(fixed(slope.get(), 3))),
            borders: s.vy_std_enable.then(borders),
            enhance: s.ste_enable,
            show: s.output_control == Output::OUTPUT_STD_DECISIONS,
            bright,
            dark: s.skin_types_enable.then(dark),
            parting: [
                steps(s.skin_types_thresh.get()),
                steps(s.skin_types_margin.get()),
                i64::from(fixed(s.inv_skin_types_margin.get(), 16)),
            ],
        })
    }

    /// Saturation and hue relative to the centre, of U and V.
    fn turn(&self, [_, u, v]: [u16; 3]) -> [i64; 2] {
        let [u, v] = [i64::from(u) << (FRACTION - 4), i64::from(v) << (FRACTION - 4)];
        let (u, v) = (u - self.centre[0], v - self.centre[1]);
        let turned = |by_u: i64, by_v: i64| (u * by_u + v * by_v) >> FRACTION;
        [turned(-self.cos, self.sin), turned(self.sin, self.cos)]
    }

    /// The score of a pixel: 0 to 31 (assumption `VEBOX_SKIN_SCORE_IS_A_MINIMUM`).
    pub fn score(&self, pixel: [u16; 3]) -> u8 {
        let [saturation, hue] = self.turn(pixel);
        let [length, width] = self.rectangle;
        let rectangle = (length - saturation.abs()).min(width - hue.abs());
        let away = (saturation - self.rhombus[0]).abs()
            + (((hue - self.rhombus[1]).abs() * self.rhombus_slope) >> FRACTION);
        let luma = i64::from(pixel[0]) << (FRACTION - 4);
        let [first, second, third, fourth] = self.luma;
        let by_luma = match luma {
            y if y < first || y > fourth => 0,
            y if y < second => ((y - first) * self.luma_slopes[0]) >> FRACTION,
            y if y > third => MOST - (((y - third) * self.luma_slopes[1]) >> FRACTION),
            _ => MOST,
        };
        let by_borders = self.borders.map_or(MOST, |[(lower, above), (upper, below)]| {
            let v = i64::from(pixel[2]) << (FRACTION - 4);
            let inside = |distance: i64, inverse: i64| {
                if distance < 0 { 0 } else { (distance * inverse * MOST) >> (16 + FRACTION) }
            };
            inside(v - lower.at(luma), above).min(inside(upper.at(luma) - v, below))
        });
        let score = ramp(rectangle, self.rectangle_margin)
            .min(ramp(self.rhombus_size - away, self.rhombus_margin))
            .min(by_luma)
            .min(by_borders);
        score.clamp(0, MOST) as u8
    }

    /// U and V of a pixel with a score (assumption `VEBOX_SKIN_CURVES_ARE_BLENDED`).
    pub fn enhanced(&self, pixel: [u16; 3], score: u8) -> [u16; 2] {
        let [_, u, v] = pixel;
        if !self.enhance || score == 0 {
            return [u, v];
        }
        let turned = self.turn(pixel);
        let change = |lines: &[Line<3>; 2]| [0, 1].map(|at| lines[at].at(turned[at]) - turned[at]);
        let mut changes = change(&self.bright);
        if let Some(dark) = &self.dark {
            // 16 bits of fraction: 0 for bright skin, 1 for dark skin.
            let luma = i64::from(pixel[0]) << (FRACTION - 4);
            let [threshold, margin, inverse] = self.parting;
            let weight = (threshold + margin - luma).clamp(0, 2 * margin.max(ONE / 2));
            let weight = match margin {
                0 => i64::from(luma < threshold) << 16,
                _ => ((weight * inverse) >> FRACTION).min(1 << 16),
            };
            let darks = change(dark);
            changes = [0, 1].map(|at| changes[at] + (((darks[at] - changes[at]) * weight) >> 16));
        }
        let [saturation, hue] = changes.map(|change| change * i64::from(score) / MOST);
        let back = |old: u16, by_saturation: i64, by_hue: i64| {
            let change = (saturation * by_saturation + hue * by_hue) >> FRACTION;
            // Rounded to steps of 12 bits.
            let change = (change + (1 << (FRACTION - 5))) >> (FRACTION - 4);
            clip(i32::from(old) + change as i32)
        };
        [back(u, -self.cos, self.sin), back(v, self.sin, self.cos)]
    }

    /// The pixel that stands for a score (digests/video.md 12.4).
    pub fn shown(score: u8) -> [u16; 3] {
        [0x7ff + (u16::from(score) << 6), 0x7ff, 0x7ff]
    }
}

#[cfg(test)]
mod tests {
    use super::{FRACTION, ONE, Skin};
    use genxml::gen8::media_states::ColorProcessingStateStdSteState;
    use genxml::gen8::vebox_states::VeboxStdSteState;
    use genxml_core::{S, SFix, UFix};

    fn state() -> VeboxStdSteState {
        VeboxStdSteState { std_enable: true, ..VeboxStdSteState::new() }
    }

    fn pixel(y: u16, u: u16, v: u16) -> [u16; 3] {
        [y << 4, u << 4, v << 4]
    }

    /// The centre of the default rectangle is skin. Grey, other colours and black are not.
    #[test]
    fn default_thresholds() {
        let skin = Skin::new(&state()).unwrap();
        assert_eq!(skin.score(pixel(120, 110, 154)), 31);
        for other in [(120, 128, 128), (120, 154, 110), (120, 90, 240), (20, 110, 154)] {
            assert_eq!(skin.score(pixel(other.0, other.1, other.2)), 0, "{other:?}");
        }
    }

    /// The score never grows with the distance from the centre.
    #[test]
    fn scores_fall_outwards() {
        let skin = Skin::new(&state()).unwrap();
        for (du, dv) in [(1, 0), (-1, 0), (0, 1), (0, -1), (-2, 3), (1, 1)] {
            let mut last = 31;
            for step in 0..30 {
                let at = |middle: i32, d: i32| (middle + d * step) as u16;
                let score = skin.score(pixel(120, at(110, du), at(154, dv)));
                assert!(score <= last, "{du} {dv} {step}");
                last = score;
            }
            assert_eq!(last, 0);
        }
    }

    /// Oracle: the default curves of COLOR_PROCESSING_STATE. They are continuous and odd, and keep
    /// the centre and the corners of the default rectangle.
    #[test]
    fn curves_of_the_render_engine_are_odd() {
        let other = ColorProcessingStateStdSteState::new();
        // All other defaults of the curves are the same in both states.
        let state = VeboxStdSteState {
            satp1: other.satp1,
            satb1: other.satb1,
            hueb1: other.hueb1,
            ste_enable: true,
            ..state()
        };
        let skin = Skin::new(&state).unwrap();
        for (line, size) in skin.bright.iter().zip([31, 14]) {
            let at = |x: i64| line.at(x) as f64 / ONE as f64;
            assert!(at(0).abs() < 0.05);
            for x in 0..=size {
                assert!((at(x << FRACTION) + at(-(x << FRACTION))).abs() < 0.1, "{x}");
            }
            for side in [-1, 1] {
                let corner = side * size;
                assert!((at(corner << FRACTION) - corner as f64).abs() < 0.05, "{corner}");
            }
            for point in line.points {
                assert!((at(point - 1) - at(point)).abs() < 0.05, "{point}");
            }
        }
    }

    /// Curves of slope 1 through their points change nothing.
    #[test]
    fn straight_curves_change_nothing() {
        let one = UFix::new(1.0).unwrap();
        let (at, bias) = (|p| S::new(p).unwrap(), |b| SFix::new(b).unwrap());
        let mut state = VeboxStdSteState { ste_enable: true, ..state() };
        (state.satp1, state.satp2, state.satp3) = (at(-6), at(6), at(31));
        (state.satb1, state.satb2, state.satb3) = (bias(-6.0), bias(6.0), bias(31.0));
        (state.huep1, state.huep2, state.huep3) = (at(-6), at(6), at(14));
        (state.hueb1, state.hueb2, state.hueb3) = (bias(-6.0), bias(6.0), bias(14.0));
        for slope in [
            &mut state.sats0,
            &mut state.sats1,
            &mut state.sats2,
            &mut state.sats3,
            &mut state.hues0,
            &mut state.hues1,
            &mut state.hues2,
            &mut state.hues3,
        ] {
            *slope = one;
        }
        let skin = Skin::new(&state).unwrap();
        for (u, v) in
            (1500..2000).step_by(7).flat_map(|u| (2200..2700).step_by(11).map(move |v| (u, v)))
        {
            assert_eq!(skin.enhanced([2000, u, v], 31), [u, v]);
        }
        // A curve one step higher moves saturated colours along the axis of saturation.
        state.satb1 = bias(-5.0);
        state.satb2 = bias(7.0);
        state.satb3 = bias(32.0);
        let skin = Skin::new(&state).unwrap();
        let [u, v] = skin.enhanced(pixel(120, 110, 154), 31);
        let (du, dv) = (f64::from(u) - 1760.0, f64::from(v) - 2464.0);
        assert!((du + 16.0 * 0.617).abs() < 1.0 && (dv - 16.0 * 0.789).abs() < 1.0, "{du} {dv}");
        assert_eq!(skin.enhanced(pixel(120, 110, 154), 0), [1760, 2464]);
    }
}
