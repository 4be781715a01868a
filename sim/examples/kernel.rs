//! A kernel with a loop, on the model: for each of 1024 points of the Mandelbrot set it counts the
//! steps until the point leaves the circle of radius 2. The guide's page `kernels` explains it.

use genxml::batch::{Batch, Buffer};
use genxml::engine::Render;
use genxml::eu;
use genxml::setup::{Dispatch, Heaps, Surface};
use genxml_sim::Gpu;
use std::error::Error;

/// Width and height of the grid of points.
pub const SIZE: usize = 32;

/// A thread reads the coordinates of eight points, x from surface 0 and y from surface 1, and
/// writes eight numbers of steps to surface 2. r0.1 has the number of its group. r1.0 has the
/// largest number of steps, and r1.1 has 2.0.
const KERNEL: &[u32] = &eu! {
    (W) mov (8|M0)   r10.0<1>:ud  0:ud                              // header of the messages:
    (W) shl (1|M0)   r10.2<1>:ud  r0.1<0;1,0>:ud  1:ud              // offset in units of 16 bytes
    (W) send (8|M0)  r20  r10  Msd0rOwb {
        header_present: true, data_blocks: OW2, binding_table_index: 0,
    }
    (W) send (8|M0)  r21  r10  Msd0rOwb {
        header_present: true, data_blocks: OW2, binding_table_index: 1,
    }
        mov (8|M0)   r22.0<1>:f   0.0:f                             // x
        mov (8|M0)   r23.0<1>:f   0.0:f                             // y
        mov (8|M0)   r11.0<1>:ud  0:ud                              // steps
step:
        mul (8|M0)   r24.0<1>:f   r22.0<8;8,1>:f  r22.0<8;8,1>:f
        mad (8|M0)   r25.0<1>:f   r24.0<2;1>:f  r23.0<2;1>:f  r23.0<1>:f   // x*x + y*y
        cmp (8|M0)   (gt)f0.0  null<1>:f  r25.0<8;8,1>:f  4.0:f
        (f0.0) break (8|M0)  check check                            // outside: leave the loop
        mad (8|M0)   r24.0<1>:f   r24.0<2;1>:f  -r23.0<2;1>:f  r23.0<1>:f  // x*x - y*y
        mul (8|M0)   r25.0<1>:f   r22.0<8;8,1>:f  r23.0<8;8,1>:f
        mad (8|M0)   r23.0<1>:f   r21.0<2;1>:f  r25.0<2;1>:f  r1.1<0>:f    // new y
        add (8|M0)   r22.0<1>:f   r24.0<8;8,1>:f  r20.0<8;8,1>:f    // new x
        add (8|M0)   r11.0<1>:ud  r11.0<8;8,1>:ud  1:ud
        cmp (8|M0)   (lt)f0.0  null<1>:ud  r11.0<8;8,1>:ud  r1.0<0;1,0>:ud
check:
        (f0.0) while (8|M0)  step                                   // fewer steps than r1.0: again
    (W) send (8|M0)  null  r10  Msd0wOwb {
        header_present: true, data_blocks: OW2, binding_table_index: 2,
    }
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  TsEot {EOT}
};

/// The coordinates of all points, x and y.
pub fn points() -> (Vec<f32>, Vec<f32>) {
    let scale = |n: usize| 2.5 * n as f32 / SIZE as f32;
    let at = |index: usize| (scale(index % SIZE) - 2.0, scale(index / SIZE) - 1.25);
    (0..SIZE * SIZE).map(at).unzip()
}

/// Runs the kernel. Returns the number of steps of each point, at most `limit`.
///
/// # Errors
/// None in practice.
pub fn steps(x: &[f32], y: &[f32], limit: u32) -> Result<Vec<u32>, Box<dyn Error>> {
    let x = Buffer::with_values("x", 0x100_0000, x)?;
    let y = Buffer::with_values("y", 0x110_0000, y)?;
    let out = Buffer::new("out", 0x120_0000, x.bytes().len())?;
    let raw = Surface::raw(out.bytes().len() as u32);
    let mut heaps = Heaps::new(0x20_0000)?;
    let dispatch = Dispatch {
        surfaces: vec![
            heaps.surface(&x, &raw)?,
            heaps.surface(&y, &raw)?,
            heaps.surface(&out, &raw)?,
        ],
        groups: [x.bytes().len() as u32 / 32, 1, 1],
        shared_constants: vec![limit, 2.0f32.to_bits()],
        ..Dispatch::new(KERNEL)
    };
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_gpgpu()?;
    batch.emit(&heaps.bases(&batch)?)?;
    dispatch.emit(&mut batch, &mut heaps)?;
    let submission = batch.finish()?.submit(heaps.finish().into_iter().chain([x, y, out]))?;

    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    gpu.execute(context, &submission)?;
    Ok(gpu.values(context, 0x120_0000, SIZE * SIZE)?)
}

/// Prints the points: `#` for those that stay inside.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn Error>> {
    let (x, y) = points();
    for row in steps(&x, &y, 64)?.chunks(SIZE) {
        let mark = |steps: &u32| match steps {
            64.. => '#',
            4.. => '+',
            _ => '.',
        };
        println!("{}", row.iter().map(mark).collect::<String>());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of one point. `mad` rounds once, as `mul_add` does.
    fn steps_of(cx: f32, cy: f32, limit: u32) -> u32 {
        let (mut x, mut y) = (0.0f32, 0.0f32);
        for step in 0..limit {
            let square = x * x;
            if y.mul_add(y, square) > 4.0 {
                return step;
            }
            (x, y) = ((-y).mul_add(y, square) + cx, (x * y).mul_add(2.0, cy));
        }
        limit
    }

    /// Oracle: the host's arithmetic.
    #[test]
    fn steps_are_those_of_the_host() {
        let (x, y) = points();
        for limit in [1, 64] {
            let expected = x.iter().zip(&y).map(|(x, y)| steps_of(*x, *y, limit));
            assert!(steps(&x, &y, limit).unwrap().into_iter().eq(expected), "{limit}");
        }
        main().unwrap();
    }
}
