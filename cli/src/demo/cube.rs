//! Two intersecting cubes with lighting: vertices by index, a vertex shader with a matrix in push
//! constants, and a depth test that selects the front face for each pixel.

use super::initial::{self, BUFFERS, HEAPS};
use genxml::batch::{Buffer, Submission};
use genxml::core::{MinusOne, lit};
use genxml::gen8::enums::{ThreeDCompareFunction, ThreeDPrimTopoType};
use genxml::gen8::render3d_constants::{ThreeDStateConstantBody, ThreeDStateConstantVs};
use genxml::gen8::render3d_depth::*;
use genxml::gen8::render3d_fetch::*;
use genxml::gen8::state::{SurfaceFormat, SurfaceType};
use genxml::setup::{Draw, Heaps, element};
use genxml::{batch, eu};
use std::error::Error;

/// Width and height of the picture in pixels.
pub const SIZE: u32 = 512;

const BACKGROUND: [u8; 4] = [24, 26, 32, 255];

/// Colours of the faces with the normals +x, -x, +y, -y, +z, -z.
const COLORS: [[u8; 4]; 6] = [
    [230, 80, 60, 255],
    [70, 200, 110, 255],
    [240, 200, 80, 255],
    [90, 130, 240, 255],
    [210, 100, 220, 255],
    [80, 200, 220, 255],
];

/// The vertex shader, for eight vertices. Constants are in r2 to r4. r2 and r3 are the rows of the
/// matrix to clip space. r4 has the direction to the light in the cube's coordinates, the ambient
/// share of light, and the share of the lamp. The vertices follow: position in r5 to r8, normal in
/// r9 to r12, colour in r13 to r16.
const VERTEX: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  0:ud               // header
    mov (8|M0)       r114.0<1>:ud  0:ud
    mov (8|M0)       r115.0<1>:ud  0:ud
    mov (8|M0)       r116.0<1>:ud  0:ud
    mad (8|M0)       r117.0<1>:f   r2.3<0;0>:f     r5.0<2;1>:f   r2.0<0>:f      // x
    mad (8|M0)       r117.0<1>:f   r117.0<2;1>:f   r6.0<2;1>:f   r2.1<0>:f
    mad (8|M0)       r117.0<1>:f   r117.0<2;1>:f   r7.0<2;1>:f   r2.2<0>:f
    mad (8|M0)       r118.0<1>:f   r2.7<0;0>:f     r5.0<2;1>:f   r2.4<0>:f      // y
    mad (8|M0)       r118.0<1>:f   r118.0<2;1>:f   r6.0<2;1>:f   r2.5<0>:f
    mad (8|M0)       r118.0<1>:f   r118.0<2;1>:f   r7.0<2;1>:f   r2.6<0>:f
    mad (8|M0)       r119.0<1>:f   r3.3<0;0>:f     r5.0<2;1>:f   r3.0<0>:f      // z
    mad (8|M0)       r119.0<1>:f   r119.0<2;1>:f   r6.0<2;1>:f   r3.1<0>:f
    mad (8|M0)       r119.0<1>:f   r119.0<2;1>:f   r7.0<2;1>:f   r3.2<0>:f
    mad (8|M0)       r120.0<1>:f   r3.7<0;0>:f     r5.0<2;1>:f   r3.4<0>:f      // w
    mad (8|M0)       r120.0<1>:f   r120.0<2;1>:f   r6.0<2;1>:f   r3.5<0>:f
    mad (8|M0)       r120.0<1>:f   r120.0<2;1>:f   r7.0<2;1>:f   r3.6<0>:f
    send (8|M0)      null  r112  UrbMessageDescriptor {
        urb_opcode: SIMD8_WRITE, header_present: true, message_length: 9,
    }
    mul (8|M0)       r20.0<1>:f    r9.0<8;8,1>:f   r4.0<0;1,0>:f                // normal times direction,
    mad (8|M0)       r20.0<1>:f    r20.0<2;1>:f    r10.0<2;1>:f  r4.1<0>:f
    mad (8|M0)       (sat)r20.0<1>:f  r20.0<2;1>:f  r11.0<2;1>:f  r4.2<0>:f  // 0 on the unlit side
    mad (8|M0)       r20.0<1>:f    r4.3<0;0>:f     r20.0<2;1>:f  r4.4<0>:f      // add ambient light
    mul (8|M0)       r113.0<1>:f   r13.0<8;8,1>:f  r20.0<8;8,1>:f
    mul (8|M0)       r114.0<1>:f   r14.0<8;8,1>:f  r20.0<8;8,1>:f
    mul (8|M0)       r115.0<1>:f   r15.0<8;8,1>:f  r20.0<8;8,1>:f
    mov (8|M0)       r116.0<1>:f   r16.0<8;8,1>:f
    send (8|M0)      null  r112  UrbMessageDescriptor {
        urb_opcode: SIMD8_WRITE, header_present: true, message_length: 5, global_offset: 2,
    } {EOT}
};

type Matrix = [[f32; 4]; 4];

/// The projection: a point is drawn at 2.5 x / z and 2.5 y / z if its depth z is between 2 and 10.
const PERSPECTIVE: Matrix =
    [[2.5, 0.0, 0.0, 0.0], [0.0, 2.5, 0.0, 0.0], [0.0, 0.0, 1.25, -2.5], [0.0, 0.0, 1.0, 0.0]];

/// Direction to the light: left, above, behind the eye.
const LIGHT: [f32; 3] = [-0.48, 0.64, -0.6];

/// A rotation about y and one about x, given by their cosines and sines, scaled by `size`, then a
/// shift by 5 away from the eye.
fn placed([c, s]: [f32; 2], [d, t]: [f32; 2], size: f32) -> Matrix {
    let rows = [[c, 0.0, s], [t * s, d, -t * c], [-d * s, t, d * c]];
    let row = |n: usize, add| [size * rows[n][0], size * rows[n][1], size * rows[n][2], add];
    [row(0, 0.0), row(1, 0.0), row(2, 5.0), [0.0, 0.0, 0.0, 1.0]]
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    a.map(|row| std::array::from_fn(|n| (0..4).map(|k| row[k] * b[k][n]).sum()))
}

/// The constants of the vertex shader for a cube: three registers.
fn constants(place: &Matrix, size: f32) -> Vec<[f32; 4]> {
    // The direction to the light is rotated by the inverse, so that no normal needs a rotation.
    let light = [0, 1, 2].map(|n| (0..3).map(|k| place[k][n] * LIGHT[k]).sum::<f32>() / size);
    let mut rows = product(&PERSPECTIVE, place).to_vec();
    rows.extend([[light[0], light[1], light[2], 0.3], [0.7, 0.0, 0.0, 0.0]]);
    rows
}

/// Four vertices and two triangles for each face. A vertex is its position and normal in floats,
/// and its colour in bytes.
fn cube() -> (Vec<u8>, Vec<u8>) {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for (face, color) in COLORS.iter().enumerate() {
        let (axis, sign) = (face / 2, if face % 2 == 0 { 1.0 } else { -1.0 });
        for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let (mut position, mut normal) = ([sign; 3], [0f32; 3]);
            (position[(axis + 1) % 3], position[(axis + 2) % 3]) = (u, v);
            normal[axis] = sign;
            vertices.extend(
                [position, normal].as_flattened().iter().flat_map(|value| value.to_le_bytes()),
            );
            vertices.extend(color);
        }
        let first = 4 * face as u16;
        indices.extend([0, 1, 2, 0, 2, 3].into_iter().flat_map(|n| (first + n).to_le_bytes()));
    }
    (vertices, indices)
}

/// The batch with everything that it points to.
///
/// # Errors
/// None in practice: all values fit.
pub fn submission() -> Result<Submission, Box<dyn Error>> {
    let mut heaps = Heaps::new(HEAPS)?;
    let (picture, target) = initial::target(&mut heaps, SIZE, BACKGROUND)?;
    let (corners, numbers) = cube();
    let vertices = Buffer::with_values("vertices", BUFFERS, &corners)?;
    let indices = Buffer::with_values("indices", BUFFERS + 0x1_0000, &numbers)?;
    // Depth is 1.0 (the farthest) everywhere, so the tiled layout does not matter here.
    let far = vec![1f32; (SIZE * SIZE) as usize];
    let depth = Buffer::with_values("depth", BUFFERS + 0x10_0000, &far)?;
    // Rotations whose cosines and sines are fractions: 3-4-5, 5-12-13 and 8-15-17.
    let large = constants(&placed([0.8, 0.6], [12.0 / 13.0, -5.0 / 13.0], 1.0), 1.0);
    let small = constants(&placed([5.0 / 13.0, -12.0 / 13.0], [15.0 / 17.0, 8.0 / 17.0], 1.0), 1.0);
    let constants = Buffer::with_values("constants", BUFFERS + 0x2_0000, &[large, small].concat())?;
    const REGISTERS: usize = 3;

    let mut batch = initial::begin(&mut heaps, SIZE)?;
    let draw = Draw {
        elements: vec![
            element(SurfaceFormat::R32G32B32_FLOAT, 3, 0)?,
            element(SurfaceFormat::R32G32B32_FLOAT, 3, 12)?,
            element(SurfaceFormat::R8G8B8A8_UNORM, 4, 24)?,
        ],
        vertex: Some(VERTEX),
        attributes: 1,
        surfaces: vec![target],
        ..Draw::new(
            ThreeDPrimTopoType::_3DPRIM_TRILIST,
            &vertices,
            28,
            numbers.len() as u32 / 2,
            super::triangle::PIXEL,
        )
    };
    draw.fetch(&mut batch)?;
    draw.vertex_shader(&mut batch, &mut heaps)?;
    draw.interpolation(&mut batch)?;
    draw.pixel_shader(&mut batch, &mut heaps)?;
    batch! { batch =>
        ThreeDStateIndexBuffer {
            index_format: ThreeDStateIndexBufferIndexFormat::WORD,
            buffer_starting_address: batch.reads(&indices, 0)?,
            buffer_size: (numbers.len())?,
            ..
        };
        ThreeDStateDepthBuffer {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: ThreeDStateDepthBufferSurfaceFormat::D32_FLOAT,
            depth_write_enable: true,
            surface_base_address: batch.writes(&depth, 0)?,
            surface_pitch: lit!(4 * SIZE as i128),
            width: lit!(SIZE as i128),
            height: lit!(SIZE as i128),
            depth: MinusOne::ONE,
            ..
        };
        ThreeDStateWmDepthStencil {
            depth_test_enable: true,
            depth_buffer_write_enable: true,
            depth_test_function: ThreeDCompareFunction::COMPAREFUNCTION_LESS,
            ..
        };
    }?;
    for cube in 0..2 {
        let address = batch.reads(&constants, (cube * 32 * REGISTERS) as u64)?;
        let body = ThreeDStateConstantBody {
            constant_buffer_3_read_length: lit!(REGISTERS as i128),
            pointer_to_constant_buffer_3: address,
            ..ThreeDStateConstantBody::new()
        };
        batch! { batch =>
            ThreeDStateConstantVs { constant_body: body, .. };
            ThreeDPrimitive {
                vertex_access_type: ThreeDPrimitiveVertexAccessType::RANDOM,
                ..draw.primitive()
            };
        }?;
    }
    initial::finish(heaps, batch, [picture, vertices, indices, constants, depth])
}
