//! Render targets of packed YUV, 4:2:2: two pixels side by side share their chroma (003:3107).
//!
//! Red is Cr, green is Y, blue is Cb (003:3634). All channels are written without blending.

use crate::mem::{PageFault, Vm};
use crate::render::blend::Blend;
use crate::surface::format::Class;
use crate::surface::format::codec::encode_yuv;
use crate::surface::{BadSurface, Surface};
use crate::unit::render_cache::{SLOTS, Source};

/// Checks that a surface of packed YUV can be a render target with this blending.
///
/// # Errors
/// [`BadSurface`] names the field that does not suit YUV.
pub fn check(surface: &Surface, blend: &Blend) -> Result<(), BadSurface> {
    let wrong = |field, value, why| Err(BadSurface { field, value, why });
    if surface.layout.samples > 1 {
        let why = "surfaces of several samples cannot have YUV formats (2d p.323)";
        return wrong("Number of Multisamples", surface.layout.samples.ilog2().into(), why);
    }
    if blend.channels != 0xf {
        let why = "all channels of a YUV surface are written (003:3110)";
        return wrong("Write Disables", (!blend.channels & 0xf).into(), why);
    }
    if blend.blends() {
        let why = "YUV surfaces cannot be blended (table of surface formats)";
        return wrong("Color Buffer Blend Enable", 1, why);
    }
    if blend.logic.is_some() {
        let why = "logic operations are for integer and normalized channels (2d p.37-39)";
        return wrong("Logic Op Enable", 1, why);
    }
    Ok(())
}

/// Writes the pixels of `lanes` (a bit for each slot). `origin` is the byte and row where the level
/// and slice start.
///
/// Primitives have even X coordinates (003:3107), so usually both pixels of a pair are written. The
/// first pixel of a pair writes its luma and the chroma that the pair shares. The second pixel
/// writes only its luma (assumptions::PIXELS_OF_PACKED_YUV_SHARE_THE_FIRST_CHROMA).
///
/// # Errors
/// A page fault of the surface.
pub fn store(
    vm: &mut Vm<'_>,
    surface: &Surface,
    class: Class,
    origin: (i64, i64),
    subspans: &[[u32; 2]; 4],
    lanes: u32,
    color: &Source,
) -> Result<(), PageFault> {
    let Class::PackedYuv { luma, .. } = class else { return Ok(()) };
    for left in (0..SLOTS).step_by(2) {
        let pair = lanes >> left & 3;
        if pair == 0 {
            continue;
        }
        let pixels = [left, left + 1].map(|slot| color.map(|lanes| lanes[slot]));
        let Some(new) = encode_yuv(class, pixels) else { continue };
        let [x, y] = subspans[left / 4];
        let y = y + (left as u32 >> 1 & 1);
        let at = surface.address(origin.0 + 2 * i64::from(x), origin.1 + i64::from(y));
        let mut bytes = vm.read_array::<4>(at)?;
        for (n, byte) in bytes.iter_mut().enumerate() {
            // Only the luma of the second pixel depends on the second pixel.
            let pixel = if usize::from(luma[1]) == n { 2 } else { 1 };
            if pair & pixel != 0 {
                *byte = new[n];
            }
        }
        vm.write_array(at, &bytes)?;
    }
    Ok(())
}
