//! Levels of detail of a group of lanes, and the line along which the anisotropic filter samples
//! (003:2731-2745, 2877-2885, 3927-3929).

use super::cube;
use super::lod::{self, Choice};
use super::payload::{GROUP, LodFrom, Parameter, Request, Simd};
use super::point::Coordinates;
use super::state::MapFilter;
use super::view::View;
use crate::assumptions::{
    CUBE_LODS_ARE_ON_THE_OWN_FACE, DERIVATIVES_OF_EVERY_STAGE, EWA_TAKES_THE_AXES_OF_THE_ELLIPSE,
    TWO_ANISOTROPIC_SAMPLES_MEET,
};
use crate::eu::regions::Registers;
use crate::surface::Dimension;

/// Number of lanes of a subspan: upper left, upper right, lower left, lower right.
const SUBSPAN: usize = 4;

/// Derivatives of U, V and R along X and along Y.
type Derivatives = [[f64; 3]; 2];

/// Samples of the anisotropic filter: an even number of them along a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// Distance from one sample to the next, in U and V.
    pub step: [f64; 2],
    /// Number of samples.
    pub ways: u32,
    /// Weight of the first and the last sample. The others have weight 1.
    pub end: f64,
}

/// Level of detail of a lane, and the levels and samples that it selects.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Detail {
    /// Level of detail, in 1/256, with all biases.
    pub lod: i32,
    /// The levels that the sample reads.
    pub choice: Choice,
    /// The line of the anisotropic filter; `None` for other filters.
    pub line: Option<Line>,
}

/// Levels of detail of a group of lanes.
///
/// If derivatives come from neighbours, they are differences between the first three lanes of a
/// subspan. These lanes count even if they are not active. All lanes of a subspan have the same
/// derivatives, except on a cube map. `wanted` must be true if the caller reads [`Detail::lod`].
#[inline(always)]
pub fn details(
    request: &Request<'_>,
    registers: &Registers,
    view: &View,
    coordinates: &Coordinates,
    from: LodFrom,
    wanted: bool,
    group: usize,
) -> [Detail; GROUP] {
    let anisotropic = view.filters.contains(&MapFilter::Anisotropic)
        && from != LodFrom::Message
        && !request.zero_lod
        && view.surface.layout.dimension != Dimension::Three;
    if !wanted && !anisotropic && is_fixed(view) {
        let detail = Detail { choice: view.chooser.choose(0), ..Detail::default() };
        return [detail; GROUP];
    }
    explicit(request, registers, view, coordinates, from, anisotropic, group)
}

/// The levels that a group of lanes reads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Choices {
    /// All lanes read the same levels.
    Same(Choice),
    /// The levels of each lane.
    Each([Choice; GROUP]),
}

/// The levels that all lanes read, if they do not depend on the level of detail.
pub fn fixed(view: &View) -> Option<Choice> {
    is_fixed(view).then(|| view.chooser.choose(0))
}

/// The levels that a group of lanes reads, for a view without an anisotropic filter. The levels are
/// the same as those of [`details`]. Call this only for a view for which [`fixed`] is `None`.
#[inline(always)]
pub fn choices(
    request: &Request<'_>,
    registers: &Registers,
    view: &View,
    coordinates: &Coordinates,
    from: LodFrom,
    group: usize,
) -> Choices {
    let measure = |derivatives| (isotropic(view, derivatives), ());
    let lods = lods(request, registers, view, coordinates, from, group, measure);
    // The lanes of a subspan usually have the same level of detail, so the last choice is reused.
    let mut last = lods[0].0;
    let mut choice = view.chooser.choose(view.chooser.biased(last));
    Choices::Each(lods.map(|(lod, ())| {
        if lod != last {
            last = lod;
            choice = view.chooser.choose(view.chooser.biased(lod));
        }
        choice
    }))
}

/// True if all levels of detail select the same level and the same filter.
#[inline(always)]
fn is_fixed(view: &View) -> bool {
    // `same`: minified and magnified samples use the same filter and rounding. This compares the
    // sampler's filters, not the view's, because minimum and maximum use the sampler's.
    let sampler = &view.sampler;
    let same = sampler.min == sampler.mag && sampler.round[0] == sampler.round[1];
    same && view.chooser.is_fixed()
}

fn explicit(
    request: &Request<'_>,
    registers: &Registers,
    view: &View,
    coordinates: &Coordinates,
    from: LodFrom,
    anisotropic: bool,
    group: usize,
) -> [Detail; GROUP] {
    let measure = |derivatives| measure(view, derivatives, anisotropic);
    lods(request, registers, view, coordinates, from, group, measure).map(|(lod, line)| {
        let lod = view.chooser.biased(lod);
        let choice = view.chooser.choose(lod);
        let line = line.filter(|_: &Line| {
            view.filters[usize::from(choice.magnified)] == MapFilter::Anisotropic
        });
        Detail { lod, choice, line }
    })
}

/// Levels of detail without the sampler's bias. `measure` computes a level of detail, and the line
/// of the anisotropic filter if the caller needs it, from derivatives.
#[inline(always)]
fn lods<L: Copy + Default>(
    request: &Request<'_>,
    registers: &Registers,
    view: &View,
    coordinates: &Coordinates,
    from: LodFrom,
    group: usize,
    measure: impl Fn(Derivatives) -> (i32, L),
) -> [(i32, L); GROUP] {
    let mut found = [(0, L::default()); GROUP];
    match from {
        LodFrom::Message => {
            let lods = request.floats(registers, Parameter::Lod, group);
            found = lods.map(|lod| (lod::of_parameter(lod), L::default()));
        }
        // The level of detail is 0.
        LodFrom::Derivatives if request.zero_lod => {}
        LodFrom::Derivatives => {
            const PARAMETERS: [[Parameter; 3]; 2] = [
                [Parameter::DuDx, Parameter::DvDx, Parameter::DrDx],
                [Parameter::DuDy, Parameter::DvDy, Parameter::DrDy],
            ];
            let given =
                PARAMETERS.map(|axis| axis.map(|one| request.floats(registers, one, group)));
            for (lane, found) in found.iter_mut().enumerate() {
                *found = measure(given.map(|axis| axis.map(|one| f64::from(one[lane]))));
            }
        }
        LodFrom::Neighbours | LodFrom::Bias => {
            // Lanes of SIMD4x2 are not pixels and have no derivatives.
            if request.simd != Simd::Pair && DERIVATIVES_OF_EVERY_STAGE && !request.zero_lod {
                for (span, lanes) in found.as_chunks_mut::<SUBSPAN>().0.iter_mut().enumerate() {
                    let first = SUBSPAN * span;
                    if view.surface.layout.dimension == Dimension::Cube
                        && CUBE_LODS_ARE_ON_THE_OWN_FACE
                    {
                        *lanes = on_cube(coordinates, first, &measure);
                        continue;
                    }
                    let difference = |to: usize| {
                        coordinates
                            .uvr
                            .map(|one| f64::from(one[first + to]) - f64::from(one[first]))
                    };
                    *lanes = [measure([difference(1), difference(2)]); SUBSPAN];
                }
            }
            if from == LodFrom::Bias {
                let biases = request.floats(registers, Parameter::Bias, group);
                for ((lod, _), bias) in found.iter_mut().zip(biases) {
                    *lod = lod.saturating_add(lod::of_parameter(bias));
                }
            }
        }
    }
    found
}

/// Levels of detail of a subspan on a cube map. For each lane, the directions of the first three
/// lanes are projected onto the plane of this lane's face. So the length of a direction has no
/// effect, and dividing it by its greatest component (003:4075) changes nothing. Pixels outside of
/// the triangle, whose directions may lead to other faces, give the same level as those inside.
fn on_cube<L: Copy>(
    coordinates: &Coordinates,
    first: usize,
    measure: impl Fn(Derivatives) -> (i32, L),
) -> [(i32, L); SUBSPAN] {
    let directions: [[f32; 3]; SUBSPAN] =
        std::array::from_fn(|lane| coordinates.uvr.map(|one| one[first + lane]));
    let faces = directions.map(|direction| cube::face(direction).0);
    let on = |face: u32| {
        let axis = face as usize / 2;
        let sign = if face.is_multiple_of(2) { 1.0 } else { -1.0 };
        // A direction that leads away from the face does not meet its plane and stays unchanged.
        let [own, right, below] = [0, 1, 2].map(|lane| {
            let direction = directions[lane].map(f64::from);
            let along = direction[axis] * sign;
            if along > 0.0 { direction.map(|part| part / along) } else { direction }
        });
        let difference = |to: [f64; 3]| cube::on_face(face, [0, 1, 2].map(|n| to[n] - own[n]));
        measure([difference(right), difference(below)])
    };
    let found = on(faces[0]);
    faces.map(|face| if face == faces[0] { found } else { on(face) })
}

/// The axes of the anisotropic filter.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Axes {
    /// Squared lengths of the longer and of the shorter axis, in texels.
    squares: [f64; 2],
    /// The longer axis, in U and V.
    major: [f64; 2],
}

/// The axes of the ellipse that a circle of one pixel's radius on the screen becomes on the map.
/// `texels` are the derivatives of U and V along X and along Y in texels, `scale` the texels for
/// one unit of U and V. `None` if the ellipse is a point, or too large for floats.
fn ellipse(texels: [[f64; 2]; 2], scale: [f64; 2]) -> Option<Axes> {
    let [[ux, vx], [uy, vy]] = texels;
    // The squared lengths are the eigenvalues of the matrix (a, b; b, c), and their product is the
    // square of the determinant.
    let (a, b, c) = (ux * ux + uy * uy, ux * vx + uy * vy, vx * vx + vy * vy);
    let determinant = ux * vy - uy * vx;
    let half = (a - c) / 2.0;
    let radius = (half * half + b * b).sqrt();
    let most = (a + c) / 2.0 + radius;
    if !most.is_finite() || most == 0.0 {
        return None;
    }
    // An eigenvector, from the row of the matrix that loses no digits. A circle has no longer axis;
    // U stands for it.
    let (u, v) = if half >= 0.0 { (half + radius, b) } else { (b, radius - half) };
    let length = (u * u + v * v).sqrt();
    let (u, v) = if length == 0.0 { (1.0, 0.0) } else { (u / length, v / length) };
    let major = most.sqrt();
    Some(Axes {
        squares: [most, determinant * determinant / most],
        major: [u * major / scale[0], v * major / scale[1]],
    })
}

/// Texels for one unit of U, V and R. Derivatives on a cube map have the components of
/// [`cube::on_face`].
#[inline(always)]
fn scale(view: &View) -> [f64; 3] {
    let size = view.places[0].size.map(f64::from);
    // On a face of a cube map, U and V run from -1 to 1, so a texel is 2 / size.
    match view.surface.layout.dimension {
        _ if !view.sampler.normalized => [1.0; 3],
        Dimension::One => [size[0], 0.0, 0.0],
        Dimension::Two => [size[0], size[1], 0.0],
        Dimension::Three => size,
        Dimension::Cube => [size[0] / 2.0; 3],
    }
}

/// Squared lengths of derivatives.
#[inline(always)]
fn squares(texels: Derivatives) -> [f64; 2] {
    texels.map(|axis| axis.iter().map(|part| part * part).sum::<f64>())
}

/// Computes the level of detail from derivatives, for all filters except the anisotropic one.
#[inline(always)]
fn isotropic(view: &View, derivatives: Derivatives) -> i32 {
    let scale = scale(view);
    let squares = squares(derivatives.map(|axis| [0, 1, 2].map(|part| axis[part] * scale[part])));
    lod::of_square(squares[usize::from(squares[1] > squares[0])])
}

/// Computes the level of detail and the line of the anisotropic filter from derivatives.
fn measure(view: &View, derivatives: Derivatives, anisotropic: bool) -> (i32, Option<Line>) {
    if !anisotropic {
        return (isotropic(view, derivatives), None);
    }
    let dimension = view.surface.layout.dimension;
    let scale = scale(view);
    let texels = derivatives.map(|axis| [0, 1, 2].map(|part| axis[part] * scale[part]));
    let squares = squares(texels);
    let major = usize::from(squares[1] > squares[0]);
    let legacy = Axes {
        squares: [squares[major], squares[1 - major]],
        major: [derivatives[major][0], derivatives[major][1]],
    };
    if !squares[0].is_finite() || !squares[1].is_finite() {
        return (lod::of_square(squares[major]), None);
    }
    // A derivative with a component across the face does not lie on the map.
    let flat = texels.iter().all(|axis| axis[2] == 0.0);
    let ewa = EWA_TAKES_THE_AXES_OF_THE_ELLIPSE
        && view.ewa
        && flat
        && matches!(dimension, Dimension::Two | Dimension::Cube);
    let axes = match ewa {
        true => ellipse(texels.map(|[u, v, _]| [u, v]), [scale[0], scale[1]]),
        false => None,
    };
    let Axes { squares: [most, least], major } = axes.unwrap_or(legacy);
    if most == 0.0 {
        return (lod::of_square(most), None);
    }
    // Ratio of the axes, between 1 and the limit of the sampler (003:2881).
    let limit = f64::from(view.sampler.anisotropy);
    let ratio = if least * limit * limit <= most { limit } else { (most / least).sqrt() };
    let (ways, end) = taps(ratio);
    // Distance between two samples, as a fraction of the distance in lines of four or more samples.
    let apart = if ways == 2 && TWO_ANISOTROPIC_SAMPLES_MEET { ratio - 1.0 } else { 1.0 };
    if apart == 0.0 {
        return (lod::of_square(most), None);
    }
    // The step is in U and V of a point, which run from 0 to 1 on a face of a cube map.
    let unit = if dimension == Dimension::Cube { 0.5 } else { 1.0 };
    let line = Line { step: major.map(|part| part * unit / ratio * apart), ways, end };
    (lod::of_square(most / (ratio * ratio)), Some(line))
}

/// Number of samples of a line with this ratio, and the weight of the first and the last one
/// (003:2885).
fn taps(ratio: f64) -> (u32, f64) {
    let ways = 2.0 * (ratio / 2.0).ceil();
    (ways as u32, 1.0 - (ways - ratio) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::{Axes, ellipse, taps};
    use proptest::array::uniform2;
    use proptest::prelude::*;

    /// Lengths of the longest and the shortest radius of an ellipse, and the longest radius itself,
    /// found by trying angles.
    fn radii(texels: [[f64; 2]; 2]) -> ([f64; 2], [f64; 2]) {
        let radius = |n: u32| {
            let (sin, cos) = libm::sincos(f64::from(n) * std::f64::consts::PI / 20_000.0);
            [0, 1].map(|part| texels[0][part] * cos + texels[1][part] * sin)
        };
        let length = |[u, v]: [f64; 2]| libm::hypot(u, v);
        let longer = |a: [f64; 2], b: [f64; 2]| if length(b) > length(a) { b } else { a };
        let most = (0..20_000).map(radius).reduce(longer).unwrap();
        let least = (0..20_000).map(radius).map(length).reduce(f64::min).unwrap();
        ([length(most), least], most)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

        /// Oracle: the radii of the ellipse at 20000 angles. Axes of nearly the same length have no
        /// certain direction.
        #[test]
        fn axes_of_ellipses(texels in uniform2(uniform2(-20.0..20.0f64))) {
            let Axes { squares, major } = ellipse(texels, [64.0, 16.0]).unwrap();
            let (lengths, longest) = radii(texels);
            for (square, length) in squares.into_iter().zip(lengths) {
                prop_assert!((square.sqrt() - length).abs() < 5e-3, "{square} {length}");
            }
            let major = [major[0] * 64.0, major[1] * 16.0];
            prop_assert!((libm::hypot(major[0], major[1]) - lengths[0]).abs() < 1e-3);
            if lengths[0] > 1.1 * lengths[1] {
                let across = major[0] * longest[1] - major[1] * longest[0];
                let close = across.abs() < 0.02 * lengths[0] * lengths[0];
                prop_assert!(close, "{major:?} {longest:?}");
            }
        }
    }

    #[test]
    fn simple_ellipses() {
        let axes = |ux, vx, uy, vy| ellipse([[ux, vx], [uy, vy]], [1.0, 2.0]);
        let found = Some(Axes { squares: [16.0, 4.0], major: [4.0, 0.0] });
        assert_eq!((axes(4.0, 0.0, 0.0, 2.0), axes(0.0, 2.0, 4.0, 0.0)), (found, found));
        let found = Some(Axes { squares: [16.0, 4.0], major: [0.0, 2.0] });
        assert_eq!((axes(2.0, 0.0, 0.0, 4.0), axes(0.0, 4.0, 2.0, 0.0)), (found, found));
        assert_eq!(axes(3.0, 0.0, 0.0, 3.0).unwrap().squares, [9.0, 9.0]);
        assert_eq!(axes(0.0, 0.0, 0.0, 0.0), None);
        assert_eq!(axes(1e200, 0.0, 0.0, 1.0), None);
    }

    /// The weights of the anisotropic filter sum up to the ratio (003:2885).
    #[test]
    fn weights() {
        for n in 10..=160 {
            let ratio = f64::from(n) / 10.0;
            let (ways, end) = taps(ratio);
            assert!(ways % 2 == 0 && (0.0..=1.0).contains(&end), "{ratio}");
            assert!((f64::from(ways - 2) + 2.0 * end - ratio).abs() < 1e-12, "{ratio}");
        }
    }
}
