//! Levels of detail of a group of lanes, and the line along which the anisotropic filter samples
//! (003:2731-2745, 2877-2885, 3927-3929).

use super::cube;
use super::lod::{self, Choice};
use super::payload::{GROUP, LodFrom, Parameter, Request, Simd};
use super::point::Coordinates;
use super::state::MapFilter;
use super::view::View;
use crate::assumptions::{
    CUBE_LODS_ARE_ON_THE_OWN_FACE, DERIVATIVES_OF_EVERY_STAGE, TWO_ANISOTROPIC_SAMPLES_MEET,
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
        && view.surface.layout.dimension != Dimension::Three;
    let same = view.filters[0] == view.filters[1];
    if !wanted && !anisotropic && same && view.chooser.is_fixed() {
        let detail = Detail { choice: view.chooser.choose(0), ..Detail::default() };
        return [detail; GROUP];
    }
    explicit(request, registers, view, coordinates, from, anisotropic, group)
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
    let mut found = [(0, None); GROUP];
    match from {
        LodFrom::Message => {
            let lods = request.floats(registers, Parameter::Lod, group);
            found = lods.map(|lod| (lod::of_parameter(lod), None));
        }
        LodFrom::Derivatives => {
            const PARAMETERS: [[Parameter; 3]; 2] = [
                [Parameter::DuDx, Parameter::DvDx, Parameter::DrDx],
                [Parameter::DuDy, Parameter::DvDy, Parameter::DrDy],
            ];
            let given =
                PARAMETERS.map(|axis| axis.map(|one| request.floats(registers, one, group)));
            for (lane, found) in found.iter_mut().enumerate() {
                let derivatives = given.map(|axis| axis.map(|one| f64::from(one[lane])));
                *found = measure(view, derivatives, anisotropic);
            }
        }
        LodFrom::Neighbours | LodFrom::Bias => {
            // Lanes of SIMD4x2 are not pixels and have no derivatives.
            if request.simd != Simd::Pair && DERIVATIVES_OF_EVERY_STAGE {
                for (span, lanes) in found.as_chunks_mut::<SUBSPAN>().0.iter_mut().enumerate() {
                    let first = SUBSPAN * span;
                    if view.surface.layout.dimension == Dimension::Cube
                        && CUBE_LODS_ARE_ON_THE_OWN_FACE
                    {
                        *lanes = on_cube(view, coordinates, first, anisotropic);
                        continue;
                    }
                    let difference = |to: usize| {
                        coordinates
                            .uvr
                            .map(|one| f64::from(one[first + to]) - f64::from(one[first]))
                    };
                    *lanes = [measure(view, [difference(1), difference(2)], anisotropic); SUBSPAN];
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
    found.map(|(lod, line)| {
        let lod = view.chooser.biased(lod);
        let choice = view.chooser.choose(lod);
        let line =
            line.filter(|_| view.filters[usize::from(choice.magnified)] == MapFilter::Anisotropic);
        Detail { lod, choice, line }
    })
}

/// Levels of detail of a subspan on a cube map. For each lane, the directions of the first three
/// lanes are projected onto the plane of this lane's face. So the length of a direction has no
/// effect, and dividing it by its greatest component (003:4075) changes nothing. Pixels outside of
/// the triangle, whose directions may lead to other faces, give the same level as those inside.
fn on_cube(
    view: &View,
    coordinates: &Coordinates,
    first: usize,
    anisotropic: bool,
) -> [(i32, Option<Line>); SUBSPAN] {
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
        let difference = |to: [f64; 3]| [0, 1, 2].map(|n| to[n] - own[n]);
        measure(view, [difference(right), difference(below)], anisotropic)
    };
    let found = on(faces[0]);
    faces.map(|face| if face == faces[0] { found } else { on(face) })
}

/// Computes the level of detail and the line of the anisotropic filter from derivatives.
fn measure(view: &View, derivatives: Derivatives, anisotropic: bool) -> (i32, Option<Line>) {
    let size = view.places[0].size.map(f64::from);
    // On a face of a cube map, two components run from -1 to 1, so a texel is 2 / size.
    let scale = match view.surface.layout.dimension {
        _ if !view.sampler.normalized => [1.0; 3],
        Dimension::One => [size[0], 0.0, 0.0],
        Dimension::Two => [size[0], size[1], 0.0],
        Dimension::Three => size,
        Dimension::Cube => [size[0] / 2.0; 3],
    };
    let squares = derivatives.map(|axis| {
        axis.iter().zip(scale).map(|(part, scale)| (part * scale) * (part * scale)).sum::<f64>()
    });
    let major = usize::from(squares[1] > squares[0]);
    let (most, least) = (squares[major], squares[1 - major]);
    // Cube maps are not sampled along a line, because it could leave the face.
    let straight = view.surface.layout.dimension != Dimension::Cube;
    if !anisotropic || !straight || !most.is_finite() || !least.is_finite() || most == 0.0 {
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
    let step = [0, 1].map(|part| derivatives[major][part] / ratio * apart);
    let line = Line { step, ways, end };
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
    use super::taps;

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
