//! Piecewise linear curves of 12 bits, as tables.

use super::number::{clip, rounded};

/// The result for each sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve(Box<[u16; 4096]>);

/// A part of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first sample of the part, in 8 bits.
    pub point: u8,
    /// The result at that sample, in 8 bits.
    pub bias: u8,
    /// The slope, with [`Part::FRACTION`] bits of fraction.
    pub slope: i32,
}

impl Part {
    /// Bits of fraction of slopes.
    pub const FRACTION: u32 = 10;
}

impl Curve {
    /// The curve of parts. The last part whose point is not after a sample applies to it. Samples
    /// before all points stay.
    pub fn new(parts: &[Part]) -> Curve {
        Curve::of(|sample| {
            let part = parts.iter().rfind(|part| i32::from(part.point) << 4 <= sample);
            part.map_or(sample, |part| {
                let distance = sample - (i32::from(part.point) << 4);
                (i32::from(part.bias) << 4) + rounded(distance * part.slope, Part::FRACTION)
            })
        })
    }

    /// The curve of a function, which is clipped.
    pub fn of(result: impl Fn(i32) -> i32) -> Curve {
        let mut table = Box::new([0; 4096]);
        for (sample, entry) in table.iter_mut().enumerate() {
            *entry = clip(result(sample as i32));
        }
        Curve(table)
    }

    /// The result for a sample.
    #[inline]
    pub fn at(&self, sample: u16) -> u16 {
        self.0[usize::from(sample & 0xfff)]
    }
}

/// The curve of a state with eleven points and biases and twelve slopes, which starts at 0.
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
pub(super) use curve;

#[cfg(test)]
mod tests {
    use super::{Curve, Part};

    #[test]
    fn identity() {
        let parts = [(16, 1), (36, 1), (200, 1)].map(|(point, slope)| Part {
            point,
            bias: point,
            slope: slope << Part::FRACTION,
        });
        let curve = Curve::new(&parts);
        assert!((0..4096).all(|sample| curve.at(sample) == sample));
    }

    /// Points and slopes that agree give a curve that rises everywhere and meets its points.
    #[test]
    fn curves_meet_their_points() {
        let points = [(0_u8, 0_u8), (64, 16), (128, 144), (255, 255)];
        let mut parts = Vec::new();
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let rise = f64::from(to.1 - from.1) / f64::from(to.0 - from.0);
            let slope = (rise * 1024.0) as i32;
            parts.push(Part { point: from.0, bias: from.1, slope });
        }
        let curve = Curve::new(&parts);
        assert!((1..4096).all(|sample| curve.at(sample) >= curve.at(sample - 1)));
        for (point, bias) in points {
            let difference = i32::from(curve.at(u16::from(point) << 4)) - (i32::from(bias) << 4);
            assert!(difference.abs() <= 2, "{point}: {difference}");
        }
    }
}
