//! The blitter copies a rectangle from one picture to another, on the model.

use genxml::batch::{Batch, Buffer};
use genxml::engine::Blitter;
use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth, BlitRasterOperation, XySrcCopyBlt};
use genxml::packet;
use genxml_sim::Gpu;
use std::error::Error;

/// Width and height of both pictures, in pixels of 4 bytes.
pub const SIZE: usize = 64;

/// The pixel of the source at `x`, `y`.
pub fn source(x: usize, y: usize) -> u32 {
    0xff00_0000 | (x as u32) << 8 | y as u32
}

/// Copies pixels 8..24 in x and 4..20 in y of the source to position 40, 32 of the destination.
/// Returns all pixels of the destination.
///
/// # Errors
/// None in practice.
pub fn copied() -> Result<Vec<u32>, Box<dyn Error>> {
    let mut from = Buffer::new("from", 0x10_0000, 4 * SIZE * SIZE)?;
    let to = Buffer::new("to", 0x20_0000, 4 * SIZE * SIZE)?;
    let pixels = (0..SIZE).flat_map(|y| (0..SIZE).flat_map(move |x| source(x, y).to_le_bytes()));
    from.bytes_mut().iter_mut().zip(pixels).for_each(|(byte, pixel)| *byte = pixel);

    let mut batch = Batch::<Blitter>::new("batch", 0x30_0000, 4096)?;
    let copy = packet! {
        XySrcCopyBlt {
            color_depth: BlitColorDepth::_32BPP,
            _32bpp_byte_mask: BlitByteMask::WRITE_RGBA, // by default nothing is written
            raster_operation: BlitRasterOperation::SRC_COPY,
            destination_pitch: 256, // bytes
            destination_x1_coordinate_left: 40,
            destination_y1_coordinate_top: 32,
            destination_x2_coordinate_right: 56, // the first column that is not written
            destination_y2_coordinate_bottom: 48,
            destination_base_address: batch.writes(&to, 0)?,
            source_x1_coordinate_left: 8,
            source_y1_coordinate_top: 4,
            source_pitch: 256,
            source_base_address: batch.reads(&from, 0)?,
            ..
        }
    };
    batch.emit(&copy)?;
    let submission = batch.finish()?.submit([from, to])?;

    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    for buffer in &submission.buffers {
        gpu.load(context, buffer.address(), buffer.bytes())?;
    }
    gpu.submit(context, submission.engine, submission.batch_address, submission.batch_length)?;
    (0..SIZE * SIZE)
        .map(|pixel| Ok(gpu.vm(context).read_u32(0x20_0000 + 4 * pixel as u64)?))
        .collect()
}

/// Prints which pixels were written.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn Error>> {
    for row in copied()?.chunks(SIZE) {
        println!(
            "{}",
            row.iter().map(|pixel| if *pixel == 0 { '.' } else { '#' }).collect::<String>()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the copy, pixel by pixel.
    #[test]
    fn the_rectangle_is_copied() {
        let copied = copied().unwrap();
        for (index, pixel) in copied.iter().enumerate() {
            let (x, y) = (index % SIZE, index / SIZE);
            let inside = (40..56).contains(&x) && (32..48).contains(&y);
            // The rectangle moved by 40 - 8 pixels in x and by 32 - 4 in y.
            let expected = if inside { source(x - 32, y - 28) } else { 0 };
            assert_eq!(*pixel, expected, "{x}, {y}");
        }
        main().unwrap();
    }
}
