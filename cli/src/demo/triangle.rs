//! A triangle with a red, a green and a blue corner, and colours interpolated between them.

use super::initial::{self, BUFFERS, HEAPS};
use genxml::batch::{Buffer, Submission};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType;
use genxml::gen8::state::SurfaceFormat;
use genxml::setup::{Draw, Heaps, element};
use std::error::Error;

/// Width and height of the picture in pixels.
pub const SIZE: u32 = 512;

/// The vertices: x and y in clip space, then red, green and blue.
const VERTICES: [[f32; 5]; 3] =
    [[-0.8, -0.7, 1.0, 0.0, 0.0], [0.8, -0.7, 0.0, 1.0, 0.0], [0.0, 0.8, 0.0, 0.0, 1.0]];

/// The background colour.
const BACKGROUND: [u8; 4] = [24, 26, 32, 255];

/// The vertex shader, for eight vertices at a time. r1 has the URB handles of its outputs, r2 to r5
/// have x, y, z and w, and r6 to r9 have red, green, blue and alpha. Each register has the values
/// of eight vertices. The shader writes position and colour unchanged.
const VERTEX: &[u32] = &eu! {
    (W) mov (8|M0)   r112.0<1>:ud  r1.0<8;8,1>:ud     // URB handles
    mov (8|M0)       r113.0<1>:ud  0:ud               // header: no flags,
    mov (8|M0)       r114.0<1>:ud  0:ud               // layer 0,
    mov (8|M0)       r115.0<1>:ud  0:ud               // viewport 0,
    mov (8|M0)       r116.0<1>:ud  0:ud               // no point width
    mov (8|M0)       r117.0<1>:f   r2.0<8;8,1>:f      // position
    mov (8|M0)       r118.0<1>:f   r3.0<8;8,1>:f
    mov (8|M0)       r119.0<1>:f   r4.0<8;8,1>:f
    mov (8|M0)       r120.0<1>:f   r5.0<8;8,1>:f
    send (8|M0)      null  r112  UrbMessageDescriptor {
        urb_opcode: SIMD8_WRITE, header_present: true, message_length: 9,
    }
    mov (8|M0)       r113.0<1>:f   r6.0<8;8,1>:f      // colour, after the position
    mov (8|M0)       r114.0<1>:f   r7.0<8;8,1>:f
    mov (8|M0)       r115.0<1>:f   r8.0<8;8,1>:f
    mov (8|M0)       r116.0<1>:f   r9.0<8;8,1>:f
    send (8|M0)      null  r112  UrbMessageDescriptor {
        urb_opcode: SIMD8_WRITE, header_present: true, message_length: 5, global_offset: 2,
    } {EOT}
};

/// The pixel shader, for eight pixels at a time. r2 and r3 have the barycentric coordinates of the
/// pixels. r4 and r5 have the plane of each colour component: its value at one corner, and the
/// differences to the other corners.
pub const PIXEL: &[u32] = &eu! {
    pln (8|M0)       r112.0<1>:f   r4.0<0;1,0>:f  r2.0<8;8,1>:f    // red
    pln (8|M0)       r113.0<1>:f   r4.4<0;1,0>:f  r2.0<8;8,1>:f    // green
    pln (8|M0)       r114.0<1>:f   r5.0<0;1,0>:f  r2.0<8;8,1>:f    // blue
    mov (8|M0)       r115.0<1>:f   1.0:f                           // opaque
    sendc (8|M0)     null  r112  MsdRtw {
        message_type: MT_RTW, message_subtype: SIMD8_LO, last_render_target_select: true,
        message_length: 4,
    } {EOT}
};

/// The batch with everything that it points to.
///
/// # Errors
/// None in practice: all values fit.
pub fn submission() -> Result<Submission, Box<dyn Error>> {
    let mut heaps = Heaps::new(HEAPS)?;
    let (picture, target) = initial::target(&mut heaps, SIZE, BACKGROUND)?;
    let vertices = Buffer::with_values("vertices", BUFFERS, VERTICES.as_flattened())?;
    let mut batch = initial::begin(&mut heaps, SIZE)?;
    let draw = Draw {
        elements: vec![
            element(SurfaceFormat::R32G32_FLOAT, 2, 0)?,
            element(SurfaceFormat::R32G32B32_FLOAT, 3, 8)?,
        ],
        vertex: Some(VERTEX),
        attributes: 1,
        surfaces: vec![target],
        ..Draw::new(ThreeDPrimTopoType::_3DPRIM_TRILIST, &vertices, 20, 3, PIXEL)
    };
    draw.emit(&mut batch, &mut heaps)?;
    initial::finish(heaps, batch, [picture, vertices])
}
