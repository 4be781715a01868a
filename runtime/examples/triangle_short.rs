//! The short form of the example `triangle`: the same dwords, with `genxml::setup`.

use genxml::batch::{Batch, Buffer, Submission};
use genxml::engine::Render;
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType;
use genxml::gen8::mi::PipeControl;
use genxml::gen8::state::SurfaceFormat;
use genxml::setup::{Draw, Heaps, Surface, element, initial};
use std::error::Error;

/// The corners: x, y, z in clip space.
const CORNERS: [[f32; 3]; 3] = [[-0.75, 0.75, 0.0], [0.75, 0.75, 0.0], [0.0, -0.75, 0.0]];

/// The pixel shader: one colour for all pixels, a register each for red, green, blue and alpha.
const PIXEL: &[u32] = &eu! {
    mov (8|M0)   r114.0<1>:f  1.0:f     // red
    mov (8|M0)   r115.0<1>:f  0.5:f     // green
    mov (8|M0)   r116.0<1>:f  0:f       // blue
    mov (8|M0)   r117.0<1>:f  1.0:f     // alpha
    send (8|M0)  null  r114  MsdRtw {
        message_type: MT_RTW, message_subtype: SIMD8_LO, last_render_target_select: true,
        message_length: 4,
    } {EOT}
};

/// The batch with all that it points to.
///
/// # Errors
/// None in practice.
pub fn submission() -> Result<Submission, Box<dyn Error>> {
    let target = Buffer::new("target", 0x100_0000, 64 * 64 * 4)?;
    let vertices = Buffer::with_values("vertices", 0x110_0000, CORNERS.as_flattened())?;
    let mut heaps = Heaps::new(0x20_0000)?;
    let image = heaps.surface(&target, &Surface::image(SurfaceFormat::R8G8B8A8_UNORM, 64, 64))?;

    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_3d()?;
    initial(&mut batch, &mut heaps, 64, 64)?;
    let draw = Draw {
        surfaces: vec![image],
        elements: vec![
            element(SurfaceFormat::R32G32B32A32_FLOAT, 0, 0)?, // header: no component from memory
            element(SurfaceFormat::R32G32B32_FLOAT, 3, 0)?,    // position
        ],
        ..Draw::new(ThreeDPrimTopoType::_3DPRIM_TRILIST, &vertices, 12, 3, PIXEL)
    };
    draw.emit(&mut batch, &mut heaps)?;
    batch.emit(&PipeControl {
        render_target_cache_flush_enable: true,
        command_streamer_stall_enable: true,
        ..PipeControl::new()
    })?;
    Ok(batch.finish()?.submit(heaps.finish().into_iter().chain([target, vertices]))?)
}

/// Prints the length of the batch.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn Error>> {
    println!("{} bytes of packets", submission()?.batch_length);
    Ok(())
}

#[cfg(test)]
#[allow(dead_code)]
#[path = "triangle.rs"]
mod long;

#[cfg(test)]
mod tests {
    /// Oracle: the long form, with all buffers and references.
    #[test]
    fn both_forms_give_the_same_dwords() {
        assert!(super::submission().unwrap() == super::long::submission().unwrap());
        super::main().unwrap();
    }
}
