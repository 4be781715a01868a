//! Parts that all draws of this folder use: addresses, the picture, the batch with its initial state,
//! and its end.

use genxml::batch::{Batch, BatchError, Buffer, Submission};
use genxml::core::Address;
use genxml::core::address::SurfaceState;
use genxml::engine::Render;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::state::SurfaceFormat;
use genxml::pipeline::ThreeD;
use genxml::setup::{self, Heaps, Surface};
use std::error::Error;

/// Address of the picture in the context's address space.
pub const TARGET: u64 = 0x100_0000;
/// Start address of the other buffers of a draw: vertices, textures and so on.
pub const BUFFERS: u64 = 0x200_0000;
/// Start address of the heaps.
pub const HEAPS: u64 = 0x20_0000;
const BATCH: u64 = 0x10_0000;

/// A batch for the 3D pipeline of the render engine.
pub type Draws = Batch<Render, ThreeD>;

/// The picture, `size` x `size` pixels of one colour, and the surface with which a draw writes it.
/// (A driver would clear it with the GPU.)
///
/// # Errors
/// None in practice.
pub fn target(
    heaps: &mut Heaps,
    size: u32,
    color: [u8; 4],
) -> Result<(Buffer, Address<SurfaceState, 64, 32>), BatchError> {
    let picture = Buffer::with_values("picture", TARGET, &vec![color; (size * size) as usize])?;
    let image = Surface::image(SurfaceFormat::R8G8B8A8_UNORM, size, size);
    let surface = heaps.surface(&picture, &image)?;
    Ok((picture, surface))
}

/// A new batch that selects the 3D pipeline and emits the whole state once, for a viewport of `size`
/// x `size` pixels.
///
/// # Errors
/// None in practice.
pub fn begin(heaps: &mut Heaps, size: u32) -> Result<Draws, BatchError> {
    let mut batch = Batch::<Render>::new("batch", BATCH, 4096)?.select_3d()?;
    setup::initial(&mut batch, heaps, size, size)?;
    Ok(batch)
}

/// The batch with all buffers that it needs, ready for the kernel driver or the model.
///
/// # Errors
/// If the batch is full.
pub fn finish<const N: usize>(
    heaps: Heaps,
    mut batch: Draws,
    buffers: [Buffer; N],
) -> Result<Submission, Box<dyn Error>> {
    // Flush the caches that hold the pixels to memory, and wait for the flush.
    batch.emit(&PipeControl {
        render_target_cache_flush_enable: true,
        depth_cache_flush_enable: true,
        command_streamer_stall_enable: true,
        ..PipeControl::new()
    })?;
    Ok(batch.finish()?.submit(heaps.finish().into_iter().chain(buffers))?)
}
