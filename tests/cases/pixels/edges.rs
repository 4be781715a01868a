//! Edge flags of wireframes and points (2d, VERTEX_ELEMENT_STATE). Oracle: the middle pixel of a
//! drawn edge is covered, and so is the vertex of a drawn point. In OpenGL's polygons (2.1, 2.6.2),
//! edge n goes from vertex n to the next one.

use crate::pixels::harness::{Draw, Vertex, model, pixel};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_raster::FillMode;

/// A pixel shader that writes white, for eight pixels.
pub const WHITE: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:f  1.0:f
    mov (8|M0)       r113.0<1>:f  1.0:f
    mov (8|M0)       r114.0<1>:f  1.0:f
    mov (8|M0)       r115.0<1>:f  1.0:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

type Corners = &'static [[i32; 2]];
type Edges = &'static [[usize; 2]];

/// Vertices at pixel centres, in the order of the topology, and the edges, each from one vertex to
/// another.
const SHAPES: &[(Code, Corners, Edges)] = &[
    (Code::_3DPRIM_TRILIST, &[[8, 8], [40, 8], [8, 40]], &[[0, 1], [1, 2], [2, 0]]),
    (
        Code::_3DPRIM_QUADLIST,
        &[[8, 8], [40, 8], [40, 40], [8, 40]],
        &[[0, 1], [1, 2], [2, 3], [3, 0]],
    ),
    (
        Code::_3DPRIM_POLYGON,
        &[[16, 8], [40, 8], [56, 32], [28, 56], [4, 32]],
        &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]],
    ),
    // The second triangle has the vertices 2, 1 and 3 in rotation. So the inner edge starts at
    // vertex 1 in the first triangle and at vertex 2 in the second.
    (
        Code::_3DPRIM_TRIFAN,
        &[[8, 8], [40, 8], [40, 40], [8, 40]],
        &[[0, 1], [1, 2], [2, 3], [3, 0]],
    ),
];

fn lit(model: &mut genxml_cases::Model, [x, y]: [i32; 2]) -> bool {
    pixel(model, x as u32, y as u32) != [0.0; 4]
}

#[test]
fn wireframes_and_points() {
    let mut model = model();
    for &(topology, corners, edges) in SHAPES {
        for flags in 0..1u32 << corners.len() {
            let flag = |n: usize| flags >> n & 1;
            // Any value other than 0 is true.
            let vertices = corners.iter().enumerate().map(|(n, &[x, y])| Vertex {
                flag: flag(n) * (1 + 8 * n as u32),
                ..Vertex::at(x as f32 + 0.5, y as f32 + 0.5)
            });
            let mut draw = Draw { flags: true, ..Draw::new(topology, vertices.collect(), WHITE) };
            draw.raster.front_face_fill_mode = FillMode::WIREFRAME;
            draw.raster.back_face_fill_mode = FillMode::WIREFRAME;
            draw.run(&mut model).unwrap();
            for &[from, to] in edges {
                let middle = [0, 1].map(|axis| (corners[from][axis] + corners[to][axis]) / 2);
                assert_eq!(
                    lit(&mut model, middle),
                    flag(from) == 1,
                    "{topology:?}, edge flags {flags:#b}: edge {from} to {to}"
                );
            }
            draw.raster.front_face_fill_mode = FillMode::POINT;
            draw.raster.back_face_fill_mode = FillMode::POINT;
            draw.run(&mut model).unwrap();
            for (n, &corner) in corners.iter().enumerate() {
                assert_eq!(
                    lit(&mut model, corner),
                    flag(n) == 1,
                    "{topology:?}, edge flags {flags:#b}: point {n}"
                );
            }
            if flags != 1 {
                continue;
            }
            // Without the flag element all points are drawn. Filled primitives ignore the flags.
            draw.flags = false;
            draw.run(&mut model).unwrap();
            assert!(corners.iter().all(|&corner| lit(&mut model, corner)));
            draw.flags = true;
            draw.raster.front_face_fill_mode = FillMode::SOLID;
            draw.raster.back_face_fill_mode = FillMode::SOLID;
            draw.run(&mut model).unwrap();
            assert!(lit(&mut model, [18, 18]), "{topology:?} {flags:#b}");
        }
    }
}
