//! Samples of a pixel: their number and positions, and the position where pixel values are
//! evaluated.

use crate::assumptions::{
    CENTROID_IS_FIRST_COVERED_SAMPLE, DX10_1_ALWAYS_SAMPLES_THE_PATTERN, FORCED_16_SAMPLES,
};

/// Maximum number of samples of a pixel: 16, but only with Forced Sample Count (3DSTATE_RASTER, 2a
/// p.175). Surfaces have at most 8.
pub const MAX_SAMPLES: usize = 16;

/// Width of a pixel in units of sample positions, which are U0.4 (3DSTATE_SAMPLE_PATTERN).
pub const SAMPLE_UNITS: u8 = 16;

/// Sample positions of one pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Samples {
    count: u8,
    /// X and Y from the pixel's upper-left corner in 1/16 pixels, 0 to 15.
    positions: [[u8; 2]; MAX_SAMPLES],
}

impl Samples {
    /// One sample in the middle of the pixel.
    pub const CENTRE: Samples = Samples::one([8, 8]);
    /// One sample in the upper-left corner of the pixel (Pixel Location UL_CORNER, 2a p.143).
    pub const CORNER: Samples = Samples::one([0, 0]);
    /// Sixteen samples, for Forced Sample Count only: 3DSTATE_SAMPLE_PATTERN has no positions for
    /// them.
    pub const SIXTEEN: Samples = Samples { count: 16, positions: FORCED_16_SAMPLES };

    const fn one(at: [u8; 2]) -> Samples {
        let mut positions = [[8, 8]; MAX_SAMPLES];
        positions[0] = at;
        Samples { count: 1, positions }
    }

    /// The samples at `positions`: X and Y from the pixel's upper-left corner in 1/16 pixels.
    ///
    /// # Errors
    /// `None` unless there are 1, 2, 4, 8 or 16 positions, and all of them are inside the pixel.
    #[must_use]
    pub fn new(positions: &[[u8; 2]]) -> Option<Samples> {
        let fits = positions.len().is_power_of_two()
            && positions.len() <= MAX_SAMPLES
            && positions.iter().flatten().all(|&c| c < SAMPLE_UNITS);
        let mut samples =
            Samples { count: positions.len() as u8, positions: [[8, 8]; MAX_SAMPLES] };
        fits.then(|| {
            samples.positions[..positions.len()].copy_from_slice(positions);
            samples
        })
    }

    /// The pattern that all drivers program for 1, 2, 4 or 8 samples (gen8_facts 7).
    #[must_use]
    pub fn standard(count: usize) -> Option<Samples> {
        match count {
            1 => Samples::new(&[[8, 8]]),
            2 => Samples::new(&[[12, 12], [4, 4]]),
            4 => Samples::new(&[[6, 2], [14, 6], [2, 10], [10, 14]]),
            8 => Samples::new(&[
                [9, 5],
                [7, 11],
                [13, 9],
                [5, 3],
                [3, 13],
                [1, 7],
                [11, 15],
                [15, 1],
            ]),
            _ => None,
        }
    }

    /// Number of samples: 1, 2, 4, 8 or 16.
    #[must_use]
    pub fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// A mask with a bit for every sample.
    #[must_use]
    pub fn all(&self) -> u16 {
        ((1_u32 << self.count) - 1) as u16
    }

    /// Positions, X and Y from the pixel's upper-left corner in 1/16 pixels.
    #[must_use]
    pub fn positions(&self) -> &[[u8; 2]] {
        &self.positions[..self.count()]
    }

    /// Position of a sample in pixels from the pixel's upper-left corner. For a sample that does
    /// not exist: the middle, or the pixel's location if the samples are not in a pattern.
    #[must_use]
    pub fn offset(&self, sample: usize) -> [f32; 2] {
        let [x, y] = self.positions.get(sample).copied().unwrap_or([8, 8]);
        [f32::from(x) / f32::from(SAMPLE_UNITS), f32::from(y) / f32::from(SAMPLE_UNITS)]
    }

    /// The position where centroid values are evaluated, in 1/16 pixels from the pixel's upper-left
    /// corner. `covered` are the covered samples, `pixel` is the position of pixel values.
    ///
    /// This is `pixel` if all or no samples are covered, otherwise the first covered sample. The
    /// manual requires for centroids that samples are in the order of their distance from the
    /// middle (2a p.182).
    #[must_use]
    pub fn centroid(&self, covered: u16, pixel: [u8; 2]) -> [u8; 2] {
        let covered = covered & self.all();
        if covered == 0 || covered == self.all() || !CENTROID_IS_FIRST_COVERED_SAMPLE {
            return pixel;
        }
        self.positions[covered.trailing_zeros() as usize]
    }
}

/// The position where "pixel" values and positions are evaluated (3DSTATE_MULTISAMPLE Pixel
/// Location, 2a p.143).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PixelLocation {
    /// In the middle.
    #[default]
    Centre,
    /// In the upper-left corner, as in Direct3D 9.
    UpperLeft,
}

impl PixelLocation {
    /// The location in 1/16 pixels from the pixel's upper-left corner.
    #[must_use]
    pub fn position(self) -> [u8; 2] {
        match self {
            PixelLocation::Centre => [8, 8],
            PixelLocation::UpperLeft => [0, 0],
        }
    }
}

/// Multisample Rasterization Mode (2a p.177): how primitives are sampled and lines are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RasterMode {
    /// ON modes: lines are rectangles with their width. In the other modes they are thin, aliased
    /// or antialiased lines.
    pub on: bool,
    /// PATTERN modes: samples are at the positions of the pattern. In the other modes all samples
    /// are at the pixel's location.
    pub pattern: bool,
}

/// API Mode (3DSTATE_RASTER, 2a p.175).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RasterApi {
    /// Direct3D 9 or OpenGL.
    #[default]
    Dx9OrOgl,
    /// Direct3D 10.0.
    Dx10,
    /// Direct3D 10.1 and later.
    Dx10_1,
}

impl RasterMode {
    /// The mode that hardware computes from API Mode, from DX Multisample Rasterization Enable and
    /// from whether Forced Sample Count is set. Not used if Force Multisampling sets the mode.
    ///
    /// The equation of hardware is in a volume that is not available (2a p.177 only names it).
    /// [`DX10_1_ALWAYS_SAMPLES_THE_PATTERN`] describes the equation used here.
    #[must_use]
    pub fn of(api: RasterApi, enabled: bool, forced: bool) -> RasterMode {
        let always = api == RasterApi::Dx10_1 && DX10_1_ALWAYS_SAMPLES_THE_PATTERN;
        RasterMode { on: enabled, pattern: enabled || forced || always }
    }
}

/// The samples of a draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multisample {
    /// The samples that are rasterised; bit n of a coverage mask is sample n.
    pub samples: Samples,
    /// The position where pixel values are evaluated.
    pub location: PixelLocation,
    /// Offset of both coordinates of a vertex, in 1/256 pixels: 128 if Pixel Position Offset Enable
    /// converts the coordinates of Direct3D 9 to those of the pattern, otherwise 0.
    pub vertex_offset: i32,
}

impl Multisample {
    /// The samples of a draw with the number and positions of samples of `pattern`. In a mode
    /// without pattern, all samples are at the pixel's location.
    ///
    /// `offset` is Pixel Position Offset Enable: with several samples and
    /// [`PixelLocation::UpperLeft`] it moves vertices by half a pixel right and down (2a p.143),
    /// and the pixel's location becomes the middle.
    #[must_use]
    pub fn new(
        pattern: Samples,
        mode: RasterMode,
        location: PixelLocation,
        offset: bool,
    ) -> Multisample {
        let several = pattern.count() > 1;
        let shifted = offset && several && location == PixelLocation::UpperLeft;
        let location = if shifted { PixelLocation::Centre } else { location };
        let mut samples = pattern;
        if !mode.pattern {
            samples.positions = [location.position(); MAX_SAMPLES];
        }
        Multisample { samples, location, vertex_offset: if shifted { 128 } else { 0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: 2a p.182: samples are ordered by their distance from the middle.
    #[test]
    fn standard_patterns_are_in_order_of_distance() {
        for count in [4, 8] {
            let samples = Samples::standard(count).unwrap();
            let distance = |[x, y]: [u8; 2]| (i32::from(x) - 8).pow(2) + (i32::from(y) - 8).pow(2);
            assert!(samples.positions().is_sorted_by_key(|&p| distance(p)), "{count} samples");
        }
        assert!(
            Samples::SIXTEEN.positions().is_sorted_by_key(|&[x, y]| {
                (i32::from(x) - 8).pow(2) + (i32::from(y) - 8).pow(2)
            })
        );
    }

    #[test]
    fn centroids() {
        let samples = Samples::standard(4).unwrap();
        assert_eq!(samples.centroid(0b1111, [8, 8]), [8, 8]);
        assert_eq!(samples.centroid(0b1100, [8, 8]), [2, 10]);
        assert_eq!(samples.centroid(0, [8, 8]), [8, 8]);
        assert_eq!(samples.centroid(0xfff0, [8, 8]), [8, 8]);
        assert_eq!(samples.centroid(0b1000, [0, 0]), [10, 14]);
    }

    #[test]
    fn modes() {
        let four = Samples::standard(4).unwrap();
        let off = Multisample::new(four, RasterMode::default(), PixelLocation::Centre, false);
        assert_eq!(off.samples.positions(), [[8, 8]; 4]);
        let on = RasterMode { on: true, pattern: true };
        let dx9 = Multisample::new(four, on, PixelLocation::UpperLeft, true);
        assert_eq!(
            (dx9.samples, dx9.location, dx9.vertex_offset),
            (four, PixelLocation::Centre, 128)
        );
        let of = |api, enabled| RasterMode::of(api, enabled, false);
        assert_eq!(of(RasterApi::Dx9OrOgl, false), RasterMode { on: false, pattern: false });
        assert_eq!(of(RasterApi::Dx9OrOgl, true), on);
        assert_eq!(of(RasterApi::Dx10_1, false), RasterMode { on: false, pattern: true });
        assert_eq!(
            RasterMode::of(RasterApi::Dx10, false, true),
            RasterMode { on: false, pattern: true }
        );
        // 3DSTATE_SAMPLE_PATTERN has a position for one sample, too (2a p.188).
        let pattern = Samples::new(&[[3, 12]]).unwrap();
        for (mode, position) in [(on, [3, 12]), (RasterMode::default(), [0, 0])] {
            let one = Multisample::new(pattern, mode, PixelLocation::UpperLeft, true);
            assert_eq!((one.samples.positions(), one.vertex_offset), (&[position][..], 0));
        }
    }

    #[test]
    fn patterns_that_do_not_fit() {
        assert_eq!(Samples::new(&[]), None);
        assert_eq!(Samples::new(&[[8, 8]; 3]), None);
        assert_eq!(Samples::new(&[[8, 16]]), None);
        assert_eq!(Samples::new(&[[8, 8]; 32]), None);
        assert_eq!(Samples::standard(16), None);
    }
}
