//! Position of a sample: coordinates, layer and face of a lane.

use super::address::layer;
use super::cube;
use super::payload::{GROUP, Parameter, Request};
use super::view::{FACES, View};
use crate::eu::regions::Registers;
use crate::surface::Dimension;

/// The coordinates of a group of lanes, as the message contains them.
#[derive(Clone, Copy, Debug)]
pub struct Coordinates {
    /// U, V and R.
    pub uvr: [[f32; GROUP]; 3],
    /// Number of the cube in an array of cubes.
    ai: [f32; GROUP],
}

/// The position that a lane samples.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    /// U, V and R, as far as the dimension of the surface uses them; 0 for the others. For a cube
    /// map, U and V on its face, and 0.
    pub uvr: [f64; 3],
    /// The slice, counted from the start of the array in memory. For a cube map, the first slice of
    /// the cube. For a volume 0, because R selects the slices.
    pub slice: u32,
    /// The face of a cube map; 0 for other surfaces.
    pub face: u32,
}

impl Coordinates {
    /// The coordinates U, V and R of a surface that is not an array of cubes.
    pub fn flat(uvr: [[f32; GROUP]; 3]) -> Coordinates {
        Coordinates { uvr, ai: [0.0; GROUP] }
    }

    /// Reads the coordinates that the dimension of the surface needs.
    #[inline(always)]
    pub fn read(
        request: &Request<'_>,
        registers: &Registers,
        view: &View,
        group: usize,
    ) -> Coordinates {
        let read = |parameter| request.floats(registers, parameter, group);
        let mut coordinates = Coordinates { uvr: [[0.0; GROUP]; 3], ai: [0.0; GROUP] };
        coordinates.uvr[0] = read(Parameter::U);
        let array = view.surface.array;
        let (v, r, ai) = match view.surface.layout.dimension {
            Dimension::One => (array, false, false),
            Dimension::Two => (true, array, false),
            Dimension::Three => (true, true, false),
            Dimension::Cube => (true, true, array),
        };
        if v {
            coordinates.uvr[1] = read(Parameter::V);
        }
        if r {
            coordinates.uvr[2] = read(Parameter::R);
        }
        if ai {
            coordinates.ai = read(Parameter::Ai);
        }
        coordinates
    }

    /// The position that a lane samples. If `on_face` is true and the surface is a cube map, the
    /// message gives the face: R is its number, U and V are from -1 to 1 (sample_d, 003:4053).
    #[inline(always)]
    pub fn point(&self, view: &View, lane: usize, on_face: bool) -> Point {
        let [u, v, r] = self.uvr.map(|coordinate| coordinate[lane]);
        let first = view.surface.first_slice;
        match view.surface.layout.dimension {
            Dimension::One => {
                Point { uvr: [u.into(), 0.0, 0.0], slice: first + layer(v, view.layers), face: 0 }
            }
            Dimension::Two => Point {
                uvr: [u.into(), v.into(), 0.0],
                slice: first + layer(r, view.layers),
                face: 0,
            },
            // In a volume, R selects the slices, and Minimum Array Element has no effect
            // (gen8_facts 10.4).
            Dimension::Three => Point { uvr: [u.into(), v.into(), r.into()], slice: 0, face: 0 },
            Dimension::Cube => {
                let half = |part: f32| (f64::from(part) + 1.0) * 0.5;
                let (face, [u, v]) = if on_face {
                    (layer(r, FACES), [half(u), half(v)])
                } else {
                    cube::face([u, v, r])
                };
                let slice = first + FACES * layer(self.ai[lane], view.layers);
                Point { uvr: [u, v, 0.0], slice, face }
            }
        }
    }
}
