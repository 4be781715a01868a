//! Writing memory as a picture.

use crate::output::{Error, bad_input};
use genxml::capture::{Frame, Tiling};
use genxml_sim::surface::TileMode;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes `width` x `height` pixels of red, green, blue and alpha bytes as a PNG file.
pub fn write_rgba(path: &Path, width: u32, height: u32, rgba: &[u8]) -> Result<(), Error> {
    let fail = |error: &dyn std::fmt::Display| bad_input(format!("cannot write {}: {error}", path.display()));
    let file = File::create(path).map_err(|e| fail(&e))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|e| fail(&e))?;
    writer.write_image_data(rgba).map_err(|e| fail(&e))?;
    writer.finish().map_err(|e| fail(&e))
}

/// The pixels of a frame as red, green, blue and alpha bytes.
///
/// # Errors
/// A text that names the pixel format or the size that cannot be read.
pub fn frame_rgba(frame: &Frame, object: &[u8]) -> Result<Vec<u8>, String> {
    // Byte positions of red, green, blue and alpha in a pixel (drm_fourcc.h); X formats are opaque.
    let (order, opaque) = match frame.fourcc.as_str() {
        "XR24" => ([2, 1, 0, 3], true),
        "AR24" => ([2, 1, 0, 3], false),
        "XB24" => ([0, 1, 2, 3], true),
        "AB24" => ([0, 1, 2, 3], false),
        other => {
            return Err(format!("frame {}: cannot write pixel format {other} as a picture", frame.index));
        }
    };
    let tiling = match frame.tiling {
        Tiling::Linear => TileMode::Linear,
        Tiling::X => TileMode::X,
        Tiling::Y => TileMode::Y,
    };
    let (width, height, pitch) = (i64::from(frame.width), i64::from(frame.height), i64::from(frame.pitch));
    if width * 4 > pitch || pitch * height > object.len() as i64 {
        return Err(format!("frame {}: {width}x{height} pixels do not fit its object", frame.index));
    }
    let mut rgba = Vec::with_capacity((width * height * 4) as usize);
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let at = frame.offset + tiling.offset(x * 4, y, pitch) as u64;
        let pixel = usize::try_from(at).ok().and_then(|at| object.get(at..)?.first_chunk::<4>());
        let Some(pixel) = pixel else {
            return Err(format!("frame {}: pixel {x},{y} lies outside its object", frame.index));
        };
        rgba.extend(order.map(|byte| pixel[byte]));
        if opaque && let Some(alpha) = rgba.last_mut() {
            *alpha = 255;
        }
    }
    Ok(rgba)
}
