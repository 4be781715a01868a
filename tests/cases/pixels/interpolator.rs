//! Messages to the pixel interpolator. Oracle: the barycentric coordinates b1 and b2 at the
//! position, computed in f64. The model's unit tests compare the other kinds of messages slot by
//! slot.

use crate::pixels::harness::{Draw, SIZE, Vertex, WRITE_8, model, pixel};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml_cases::u;

/// Writes the barycentric coordinates b1 and b2 of eight pixels as red and green.
const EIGHT: &[u32] = &eu! {
    (W) mov (8|M0)   r20.0<1>:ud  0:ud
    send (8|M0)      r10  r20  0xB  0x02200000
    mov (8|M0)       r112.0<1>:ud  r10.0<8;8,1>:ud
    mov (8|M0)       r113.0<1>:ud  r11.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  0:ud
    mov (8|M0)       r115.0<1>:f   1.0:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

/// Like [`EIGHT`], for sixteen pixels, with the offsets in X and Y in r20 to r23.
const SIXTEEN: &[u32] = &eu! {
    mov (16|M0)      r20.0<1>:d  3:d
    mov (16|M0)      r22.0<1>:d  -5:d
    send (16|M0)     r10  r20  0xB  0x08413000
    mov (8|M0)       r112.0<1>:ud  r10.0<8;8,1>:ud
    mov (8|M8)       r113.0<1>:ud  r12.0<8;8,1>:ud
    mov (8|M0)       r114.0<1>:ud  r11.0<8;8,1>:ud
    mov (8|M8)       r115.0<1>:ud  r13.0<8;8,1>:ud
    mov (16|M0)      r116.0<1>:ud  0:ud
    mov (16|M0)      r118.0<1>:f   1.0:f
    send (16|M0)     null  r112  0x25  0x10031000  {EOT}
};

fn corners() -> Vec<Vertex> {
    [(-10.0, -6.0, 1.0), (180.0, -3.0, 4.0), (-15.0, 190.0, 2.0)]
        .map(|(x, y, w)| Vertex { w, ..Vertex::at(x, y) })
        .to_vec()
}

/// The barycentric coordinates b1 and b2 at a position on the screen.
fn weights(linear: bool, x: f64, y: f64) -> [f64; 2] {
    let v = corners();
    let [a, b, c] = [0, 1, 2].map(|n: usize| (f64::from(v[n].at[0]), f64::from(v[n].at[1])));
    let area = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| {
        (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
    };
    let mut weights = [area((x, y), b, c), area(a, (x, y), c), area(a, b, (x, y))];
    if !linear {
        for (weight, vertex) in weights.iter_mut().zip(&v) {
            *weight /= f64::from(vertex.w);
        }
    }
    let all: f64 = weights.iter().sum();
    [weights[1] / all, weights[2] / all]
}

/// The kernel with `bits` set in the descriptor of its instruction `n`, a send.
fn with_descriptor(kernel: &[u32], n: usize, bits: u32) -> Vec<u32> {
    let mut kernel = kernel.to_vec();
    kernel[4 * n + 3] |= bits;
    kernel
}

#[test]
fn offsets() {
    let mut model = model();
    for linear in [false, true] {
        let mode = if linear { 1 << 14 } else { 0 };
        // The low four bits of the data are X, the next four bits are Y.
        for (data, offset) in [(0x00, [0, 0]), (0x87, [7, -8]), (0x3e, [-2, 3])] {
            let draw = Draw::new(
                Code::_3DPRIM_TRILIST,
                corners(),
                &with_descriptor(EIGHT, 1, mode | data),
            );
            draw.run(&mut model).unwrap();
            check(&mut model, linear, offset);
        }
        let mut draw =
            Draw::new(Code::_3DPRIM_TRILIST, corners(), &with_descriptor(SIXTEEN, 2, mode));
        draw.ps._8_pixel_dispatch_enable = false;
        draw.ps._16_pixel_dispatch_enable = true;
        draw.ps.dispatch_grf_start_register_for_constant_setup_data_0 = u(8);
        draw.run(&mut model).unwrap();
        check(&mut model, linear, [3, -5]);
    }
    assert_eq!(EIGHT.last(), Some(&(WRITE_8 | 1 << 31)));
}

fn check(model: &mut genxml_cases::Model, linear: bool, offset: [i32; 2]) {
    for y in (0..SIZE).step_by(5) {
        for x in (0..SIZE).step_by(3) {
            let found = pixel(model, x, y);
            let [at_x, at_y] = [(x, offset[0]), (y, offset[1])]
                .map(|(c, o)| f64::from(c) + 0.5 + f64::from(o) / 16.0);
            let want = weights(linear, at_x, at_y);
            for n in 0..2 {
                let difference = (f64::from(found[n]) - want[n]).abs();
                assert!(difference < 1e-6, "{linear} {offset:?} ({x}, {y}): {found:?} {want:?}");
            }
            assert_eq!(found[2..], [0.0, 1.0]);
        }
    }
}
