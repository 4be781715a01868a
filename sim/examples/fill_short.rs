//! The short form of the example `fill`: the same dwords, with `genxml::setup`. Each thread group
//! writes 8 x 8 pixels of one colour.

use genxml::batch::{Batch, BatchError, Buffer, Submission};
use genxml::engine::Render;
use genxml::eu;
use genxml::gen8::state::SurfaceFormat;
use genxml::setup::{Dispatch, Heaps, Surface};
use genxml_sim::Gpu;

const KERNEL: &[u32] = &eu! {
    (W) mov (8|M0)   r10.0<1>:ud  0:ud
    (W) shl (1|M0)   r10.0<1>:ud  r0.1<0;1,0>:ud  5:ud   // left edge in bytes
    (W) shl (1|M0)   r10.1<1>:ud  r0.6<0;1,0>:ud  3:ud   // top edge in rows
    (W) mov (1|M0)   r10.2<1>:ud  0x7001F:ud             // 32 bytes x 8 rows
    (W) mov (8|M0)   r11.0<1>:ud  0xFFFF0000:ud          // blue
    (W) mov (8|M0)   r12.0<1>:ud  0xFFFF0000:ud
    (W) mov (8|M0)   r13.0<1>:ud  0xFFFF0000:ud
    (W) mov (8|M0)   r14.0<1>:ud  0xFFFF0000:ud
    (W) mov (8|M0)   r15.0<1>:ud  0xFFFF0000:ud
    (W) mov (8|M0)   r16.0<1>:ud  0xFFFF0000:ud
    (W) mov (8|M0)   r17.0<1>:ud  0xFFFF0000:ud
    (W) mov (8|M0)   r18.0<1>:ud  0xFFFF0000:ud
    (W) send (8|M0)  null  r10  Msd1wMb { header_present: true, message_length: 9 }
    (W) mov (8|M0)   r112.0<1>:ud r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  TsEot {EOT}
};

/// The batch with everything that it points to.
///
/// # Errors
/// None in practice.
pub fn submission() -> Result<Submission, BatchError> {
    let target = Buffer::new("target", 0x100_0000, 64 * 64 * 4)?;
    let mut heaps = Heaps::new(0x20_0000)?;
    let image = heaps.surface(&target, &Surface::image(SurfaceFormat::R8G8B8A8_UNORM, 64, 64))?;
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_gpgpu()?;
    batch.emit(&heaps.bases(&batch)?)?;
    Dispatch { surfaces: vec![image], groups: [8, 8, 1], ..Dispatch::new(KERNEL) }
        .emit(&mut batch, &mut heaps)?;
    batch.finish()?.submit(heaps.finish().into_iter().chain([target]))
}

/// Runs the batch and prints the first pixel.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    gpu.execute(context, &submission()?)?;
    println!("{:#010x}", gpu.values::<u32>(context, 0x100_0000, 1)?[0]);
    Ok(())
}

#[cfg(test)]
#[allow(dead_code)]
#[path = "fill.rs"]
mod long;

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the long form, with all buffers and references.
    #[test]
    fn both_forms_give_the_same_dwords() {
        assert!(submission().unwrap() == long::submission(0xffff_0000).unwrap());
        main().unwrap();
    }
}
