//! Cube maps: the face that a direction meets, and the texels beyond the edges of a face
//! (003:2695-2697, 2967-2969).
//!
//! Faces are numbered as they are stored: +X, -X, +Y, -Y, +Z, -Z (gen8_facts 10.2).

use super::view::FACES;

/// For each face the axes of U, of V and of the face itself: number (X 0, Y 1, Z 2) and sign. (The
/// table of OpenGL and Direct3D for cube maps: sc, tc, ma.)
const AXES: [[(usize, i32); 3]; FACES as usize] = [
    [(2, -1), (1, -1), (0, 1)],
    [(2, 1), (1, -1), (0, -1)],
    [(0, 1), (2, 1), (1, 1)],
    [(0, 1), (2, -1), (1, -1)],
    [(0, 1), (1, -1), (2, 1)],
    [(0, -1), (1, -1), (2, -1)],
];

/// The face that a direction meets, and the position on it: U and V from 0 to 1. The direction must
/// already be divided by its greatest component (003:2697). If components are equal in magnitude, X
/// has priority over Y, and Y over Z (gen8_facts 11).
#[inline]
pub fn face(direction: [f32; 3]) -> (u32, [f64; 2]) {
    let [x, y, z] = direction.map(f32::abs);
    let axis = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    let face = 2 * axis + usize::from(direction[axis].is_sign_negative());
    let [(u, u_sign), (v, v_sign), _] = AXES[face];
    let place = |axis: usize, sign: i32| (f64::from(sign) * f64::from(direction[axis]) + 1.0) * 0.5;
    (face as u32, [place(u, u_sign), place(v, v_sign)])
}

/// The components of a vector along U, V and the axis of a face. U and V run from -1 to 1 on the
/// face.
pub fn on_face(face: u32, vector: [f64; 3]) -> [f64; 3] {
    AXES[face as usize % FACES as usize].map(|(axis, sign)| f64::from(sign) * vector[axis])
}

/// Face, column and row of the texel at column `x` and row `y` of a face of `size` x `size` texels.
/// The position may be at most one texel beyond an edge; then the texel lies on another face.
/// `None` beyond a corner, where there is no texel.
pub fn across(face: u32, x: i32, y: i32, size: i32) -> Option<(u32, i32, i32)> {
    let inside = 0..size;
    match (inside.contains(&x), inside.contains(&y)) {
        (true, true) => return Some((face, x, y)),
        (false, false) => return None,
        _ => {}
    }
    // Positions of texel centres relative to the centre of the cube, in half texels. The faces are
    // at a distance of `size`. A texel beyond an edge folds over the edge: its coordinate in that
    // direction stops at the edge, and its coordinate on the axis of the face goes back by half a
    // texel.
    let axes = AXES[face as usize % FACES as usize];
    let centre = |at: i32| (2 * at + 1 - size).clamp(-size, size);
    let mut point = [0; 3];
    let parts = [centre(x), centre(y), size - 1];
    for ((axis, sign), part) in axes.into_iter().zip(parts) {
        point[axis] = sign * part;
    }
    let axis = point.iter().position(|part| part.abs() == size)?;
    let face = 2 * axis + usize::from(point[axis] < 0);
    let [(u, u_sign), (v, v_sign), _] = AXES[face];
    let texel = |axis: usize, sign: i32| (sign * point[axis] + size - 1) / 2;
    Some((face as u32, texel(u, u_sign), texel(v, v_sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the table sc, tc, ma of the OpenGL specification (section on cube map texture
    /// selection).
    #[test]
    fn directions() {
        let cases = [
            ([1.0, 0.25, 0.5], 0, [-0.5, -0.25]),
            ([-1.0, 0.25, 0.5], 1, [0.5, -0.25]),
            ([0.25, 1.0, 0.5], 2, [0.25, 0.5]),
            ([0.25, -1.0, 0.5], 3, [0.25, -0.5]),
            ([0.25, 0.5, 1.0], 4, [0.25, -0.5]),
            ([0.25, 0.5, -1.0], 5, [-0.25, -0.5]),
        ];
        for (direction, expected, minor) in cases {
            let (found, place) = face(direction);
            assert_eq!(found, expected);
            assert_eq!(place, minor.map(|part: f64| (part + 1.0) / 2.0));
            assert_eq!(on_face(found, direction.map(f64::from)), [minor[0], minor[1], 1.0]);
        }
        assert_eq!(face([1.0, 1.0, 1.0]).0, 0);
        assert_eq!(face([0.5, -1.0, 1.0]).0, 3);
    }

    /// The direction of a point of a face, from the table sc, tc, ma solved for the components.
    fn direction(face: u32, s: f64, t: f64) -> [f64; 3] {
        match face {
            0 => [1.0, -t, -s],
            1 => [-1.0, -t, s],
            2 => [s, 1.0, t],
            3 => [s, -1.0, -t],
            4 => [s, -t, 1.0],
            _ => [-s, -t, -1.0],
        }
    }

    /// Oracle: geometry. The texel beyond an edge shares a side with the texel at the edge: the
    /// centres of both are half a texel from the middle of this side.
    #[test]
    fn edges() {
        for size in [1, 2, 3, 4, 7] {
            let centre = |at: i32| f64::from(2 * at + 1 - size) / f64::from(size);
            for face in 0..6 {
                for along in 0..size {
                    for (x, y) in [(-1, along), (size, along), (along, -1), (along, size)] {
                        let (found, fx, fy) = across(face, x, y, size).unwrap();
                        assert_ne!(found, face);
                        let own = direction(
                            face,
                            centre(x.clamp(0, size - 1)),
                            centre(y.clamp(0, size - 1)),
                        );
                        // The middle of the side that both texels share, which lies on the edge.
                        let edge =
                            direction(face, centre(x).clamp(-1.0, 1.0), centre(y).clamp(-1.0, 1.0));
                        let other = direction(found, centre(fx), centre(fy));
                        let distance = |a: [f64; 3], b: [f64; 3]| -> f64 {
                            a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
                        };
                        let half = 1.0 / f64::from(size);
                        assert!(
                            (distance(own, edge) - half).abs() < 1e-12,
                            "{face} {x} {y} {size}"
                        );
                        assert!(
                            (distance(other, edge) - half).abs() < 1e-12,
                            "{face} {x} {y} {size}"
                        );
                    }
                }
                assert_eq!(across(face, -1, size, size), None);
                assert_eq!(across(face, 0, 0, size), Some((face, 0, 0)));
            }
        }
    }
}
