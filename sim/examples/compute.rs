//! A kernel of one's own, on the model: `out = a * k + b` for 1024 numbers. The guide's page
//! `compute` explains it.

use genxml::batch::{Batch, Buffer};
use genxml::engine::Render;
use genxml::eu;
use genxml::setup::{Dispatch, Heaps, Surface};
use genxml_sim::Gpu;

/// A thread reads eight numbers, 32 bytes (two owords), from each of surfaces 0 and 1, and writes
/// eight to surface 2. r0.1 has the number of its group, and r1.0 has the factor k.
const KERNEL: &[u32] = &eu! {
    (W) mov (8|M0)   r10.0<1>:ud   0:ud                                // header of the messages:
    (W) shl (1|M0)   r10.2<1>:ud   r0.1<0;1,0>:ud   1:ud               // offset in units of 16 bytes
    (W) send (8|M0)  r20  r10  Msd0rOwb {
        header_present: true, data_blocks: OW2, binding_table_index: 0,
    }
    (W) send (8|M0)  r21  r10  Msd0rOwb {
        header_present: true, data_blocks: OW2, binding_table_index: 1,
    }
    (W) mul (8|M0)   r22.0<1>:f    r20.0<8;8,1>:f   r1.0<0;1,0>:f
    (W) add (8|M0)   r11.0<1>:f    r22.0<8;8,1>:f   r21.0<8;8,1>:f
    (W) send (8|M0)  null  r10  Msd0wOwb {
        header_present: true, data_blocks: OW2, binding_table_index: 2,
    }
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  TsEot {EOT}
};

/// Runs the kernel.
///
/// # Errors
/// None in practice.
pub fn multiply_add(a: &[f32], k: f32, b: &[f32]) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let a = Buffer::with_values("a", 0x100_0000, a)?;
    let b = Buffer::with_values("b", 0x110_0000, b)?;
    let out = Buffer::new("out", 0x120_0000, a.bytes().len())?;
    let raw = Surface::raw(out.bytes().len() as u32);
    let mut heaps = Heaps::new(0x20_0000)?;
    let dispatch = Dispatch {
        surfaces: vec![
            heaps.surface(&a, &raw)?,
            heaps.surface(&b, &raw)?,
            heaps.surface(&out, &raw)?,
        ],
        groups: [a.bytes().len() as u32 / 32, 1, 1],
        shared_constants: vec![k.to_bits()],
        ..Dispatch::new(KERNEL)
    };
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_gpgpu()?;
    batch.emit(&heaps.bases(&batch)?)?;
    dispatch.emit(&mut batch, &mut heaps)?;
    let submission = batch.finish()?.submit(heaps.finish().into_iter().chain([a, b, out]))?;

    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    gpu.execute(context, &submission)?;
    Ok(gpu.values(context, 0x120_0000, 1024)?)
}

/// Prints the first results.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<f32> = (0..1024).map(|n| n as f32).collect();
    let out = multiply_add(&a, 0.5, &[1.0; 1024])?;
    println!("{:?} ... {}", &out[..4], out[1023]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the host's arithmetic, which rounds the product and the sum as the kernel does.
    #[test]
    fn results_are_those_of_the_host() {
        let a: Vec<f32> = (0..1024).map(|n| n as f32 * 0.3 - 100.0).collect();
        let b: Vec<f32> = (0..1024).map(|n| 1.0 / (n as f32 + 1.0)).collect();
        let out = multiply_add(&a, 1.7, &b).unwrap();
        let expected = a.iter().zip(&b).map(|(a, b)| a * 1.7 + b);
        assert!(out.iter().map(|x| x.to_bits()).eq(expected.map(f32::to_bits)));
        main().unwrap();
    }
}
