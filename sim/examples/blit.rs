//! The blitter copies a rectangle from one picture to another, and fills a picture that the render
//! engine waits for, on the model. The guide's page `blits` explains it.

use genxml::batch::{Batch, Buffer, Submission};
use genxml::core::U;
use genxml::engine::{Blitter, Render};
use genxml::gen8::blitter::{BlitColorDepth, XyColorBlt, XySrcCopyBlt};
use genxml::gen8::mi::{
    MiCopyMemMem, MiFlushDw, MiFlushDwPostSyncOperation, MiSemaphoreWait,
    MiSemaphoreWaitCompareOperation, MiSemaphoreWaitWaitMode,
};
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

/// The number that the blitter writes to memory when its blits are complete.
const DONE: u32 = 1;

/// Fills a picture with `color` on the blitter, while the render engine waits. The blitter then
/// writes a fence, and the render engine copies a pixel. Returns that pixel, and the fence.
///
/// # Errors
/// None in practice.
pub fn fenced(color: u32) -> Result<(u32, u32), Box<dyn Error>> {
    let picture = Buffer::new("picture", 0x10_0000, 4 * SIZE * SIZE)?;
    let fence = Buffer::new("fence", 0x20_0000, 4096)?;
    let result = Buffer::new("result", 0x21_0000, 4096)?;

    let mut blits = Batch::<Blitter>::new("blits", 0x30_0000, 4096)?;
    let fill = packet! {
        XyColorBlt {
            color_depth: BlitColorDepth::_32BPP,
            destination_pitch: 256,
            destination_x2_coordinate_right: 64,
            destination_y2_coordinate_bottom: 64,
            destination_base_address: blits.writes(&picture, 0)?,
            solid_pattern_color: color?,
            ..
        }
    };
    blits.emit(&fill)?;
    // The post-sync write happens when all blits before it are complete.
    let data = [U::new(u64::from(DONE))?];
    let flush = MiFlushDw {
        post_sync_operation: MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA,
        address: blits.writes(&fence, 0)?,
        immediate_data: (&data).into(),
        ..MiFlushDw::new()
    };
    blits.emit(&flush)?;
    let blits = blits.finish()?.submit([picture.clone(), fence.clone()])?;

    let mut copies = Batch::<Render>::new("copies", 0x31_0000, 4096)?;
    let wait = MiSemaphoreWait {
        wait_mode: MiSemaphoreWaitWaitMode::POLLING_MODE,
        // The dword in memory (SAD) is compared with the packet's (SDD).
        compare_operation: MiSemaphoreWaitCompareOperation::SAD_GREATER_THAN_OR_EQUAL_SDD,
        semaphore_data_dword: U::new(u64::from(DONE))?,
        semaphore_address: copies.reads(&fence, 0)?,
        ..MiSemaphoreWait::new()
    };
    copies.emit(&wait)?;
    let copy = MiCopyMemMem {
        source_memory_address: copies.reads(&picture, 0)?,
        destination_memory_address: copies.writes(&result, 0)?,
        ..MiCopyMemMem::new()
    };
    copies.emit(&copy)?;
    let copies = copies.finish()?.submit([picture, fence, result])?;

    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    // The engine that waits comes first: only the semaphore makes the order right.
    for submission in [&copies, &blits] {
        for buffer in &submission.buffers {
            gpu.load(context, buffer.address(), buffer.bytes())?;
        }
        let Submission { engine, batch_address, batch_length, .. } = *submission;
        gpu.enqueue(context, engine, batch_address, batch_length);
    }
    gpu.run()?;
    let vm = gpu.vm(context);
    Ok((vm.read_u32(0x21_0000)?, vm.read_u32(0x20_0000)?))
}

/// Prints which pixels were written, and what the render engine read.
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
    let (pixel, fence) = fenced(0xff80_4020)?;
    println!("the render engine read {pixel:#010x} after fence {fence}");
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

    /// Oracle: the packets. Without the wait, the pixel would be 0.
    #[test]
    fn the_render_engine_waits_for_the_fence() {
        assert_eq!(fenced(0xff80_4020).unwrap(), (0xff80_4020, DONE));
    }
}
