//! Automatic contrast enhancement: a curve of luma.

use super::curve::{Curve, Part};
use super::number::fixed;
use genxml::gen8::vebox_states::VeboxAceLaceState;

/// The curve of a state; `None` if it is disabled (assumption `VEBOX_ACE_ENDS_WITH_ITS_RANGE`).
pub fn curve(state: &VeboxAceLaceState) -> Option<Curve> {
    let s = state;
    let parts = [
        (s.ymin, s.ymin, s.s0),
        (s.y1, s.b1, s.s1),
        (s.y2, s.b2, s.s2),
        (s.y3, s.b3, s.s3),
        (s.y4, s.b4, s.s4),
        (s.y5, s.b5, s.s5),
        (s.y6, s.b6, s.s6),
        (s.y7, s.b7, s.s7),
        (s.y8, s.b8, s.s8),
        (s.y9, s.b9, s.s9),
        (s.y10, s.b10, s.s10),
    ];
    let parts = parts.map(|(point, bias, slope)| Part {
        point: point.get() as u8,
        bias: bias.get() as u8,
        slope: fixed(slope.get(), Part::FRACTION),
    });
    let (least, most) = ((s.ymin.get() as i32) << 4, (s.ymax.get() as i32) << 4);
    let inside = Curve::new(&parts);
    s.ace_enable.then(|| {
        Curve::of(|sample| {
            if (least..=most).contains(&sample) {
                i32::from(inside.at(sample as u16)).min(most).max(least)
            } else {
                sample
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::curve;
    use genxml::gen8::vebox_states::VeboxAceLaceState;
    use genxml_core::{U, UFix};

    /// The defaults of the specification are the identity.
    #[test]
    fn defaults_change_nothing() {
        let state = VeboxAceLaceState { ace_enable: true, ..VeboxAceLaceState::new() };
        let curve = curve(&state).unwrap();
        assert!((0..4096).all(|luma| curve.at(luma) == luma));
    }

    #[test]
    fn slopes_stretch_luma() {
        let mut state = VeboxAceLaceState { ace_enable: true, ..VeboxAceLaceState::new() };
        state.s0 = UFix::new(0.5).unwrap();
        state.b1 = U::new(26).unwrap();
        let curve = curve(&state).unwrap();
        // Halfway from 16 to 36: a quarter of 20 above 16.
        assert_eq!(curve.at(26 << 4), 21 << 4);
        assert_eq!(curve.at(15 << 4), 15 << 4);
        assert_eq!(curve.at(36 << 4), 26 << 4);
    }
}
