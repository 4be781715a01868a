//! Pictures from memory: converts frames of a display to pixels, and writes pixels as PNG files.

use crate::surface::display::PixelConverter;
use crate::surface::{Codec, TileMode};
use genxml::capture::{Frame, Tiling};
use genxml::gen8::state::SurfaceFormat;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes `width` x `height` pixels of red, green, blue and alpha bytes as a PNG file.
///
/// # Errors
/// The file cannot be written, or the number of pixels is wrong.
pub fn write_rgba(path: &Path, width: u32, height: u32, rgba: &[u8]) -> io::Result<()> {
    encode_rgba(BufWriter::new(File::create(path)?), width, height, rgba)
}

/// Writes `width` x `height` pixels of red, green, blue and alpha bytes in the format PNG.
///
/// # Errors
/// The pixels cannot be written, or their number is wrong.
pub fn encode_rgba(file: impl Write, width: u32, height: u32, rgba: &[u8]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    // With the default, compression takes most of the time of a page with many pictures.
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgba)?;
    writer.finish()?;
    Ok(())
}

/// The reason why a frame cannot be converted to a picture.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// The pixel format of the frame is not supported.
    #[error("pixel format {0} is not supported")]
    Format(String),
    /// The rows of the frame overlap, or the frame extends beyond its object's memory.
    #[error("{width}x{height} pixels do not fit its memory")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
}

genxml_core::debug_as_display!(BadFrame);

/// The surface format for a DRM format code of four characters. The names in drm_fourcc.h give
/// channels from the highest bit down; those of surface formats, from the lowest bit up.
pub fn format(fourcc: &str) -> Option<SurfaceFormat> {
    Some(match fourcc {
        "XR24" => SurfaceFormat::B8G8R8X8_UNORM,
        "AR24" => SurfaceFormat::B8G8R8A8_UNORM,
        "XB24" => SurfaceFormat::R8G8B8X8_UNORM,
        "AB24" => SurfaceFormat::R8G8B8A8_UNORM,
        "RG16" => SurfaceFormat::B5G6R5_UNORM,
        "XR15" => SurfaceFormat::B5G5R5X1_UNORM,
        "AR15" => SurfaceFormat::B5G5R5A1_UNORM,
        "XR30" | "AR30" => SurfaceFormat::B10G10R10A2_UNORM,
        "XB30" | "AB30" => SurfaceFormat::R10G10B10A2_UNORM,
        _ => return None,
    })
}

/// The pixels of a frame as red, green, blue and alpha bytes. Alpha is always 255.
///
/// # Errors
/// [`BadFrame`] if the pixel format is not supported, if the rows overlap, or if the frame extends
/// beyond its object's memory.
pub fn frame_rgba(frame: &Frame, object: &[u8]) -> Result<Vec<u8>, BadFrame> {
    let codec = format(&frame.fourcc).and_then(Codec::of);
    let codec = codec.ok_or_else(|| BadFrame::Format(frame.fourcc.clone()))?;
    let tiling = match frame.tiling {
        Tiling::Linear => TileMode::Linear,
        Tiling::X => TileMode::X,
        Tiling::Y => TileMode::Y,
    };
    let bytes = i64::from(codec.format().bytes());
    let (width, height, pitch) =
        (i64::from(frame.width), i64::from(frame.height), i64::from(frame.pitch));
    let memory =
        usize::try_from(frame.offset).ok().and_then(|offset| object.get(offset..)).unwrap_or(&[]);
    let bad = || BadFrame::Size { width: frame.width, height: frame.height };
    if width * bytes > pitch || pitch * (height - 1) + width * bytes > memory.len() as i64 {
        return Err(bad());
    }
    let converter = PixelConverter::of(codec, &[]);
    let mut rgba = Vec::with_capacity((width * height * 4) as usize);
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let at = tiling.offset(x * bytes, y, pitch) as usize;
        let pixel = memory.get(at..at + bytes as usize).ok_or_else(bad)?;
        rgba.extend(converter.pixel(codec.decode_one(pixel)));
    }
    Ok(rgba)
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::capture::ObjectId;

    fn frame(fourcc: &str, tiling: Tiling, [width, height, pitch]: [u32; 3]) -> Frame {
        let fourcc = fourcc.to_owned();
        let object = ObjectId(0);
        Frame { index: 0, after_exec: 0, object, offset: 0, width, height, pitch, fourcc, tiling }
    }

    /// Oracle: drm_fourcc.h, `[31:0] x:R:G:B 8:8:8:8 little endian` and so on.
    #[test]
    fn formats() {
        for (fourcc, bytes, rgb) in [
            ("XR24", &[0x11, 0x22, 0x33, 0x00][..], [0x33, 0x22, 0x11]),
            ("AR24", &[0x11, 0x22, 0x33, 0x80], [0x33, 0x22, 0x11]),
            ("XB24", &[0x11, 0x22, 0x33, 0xff], [0x11, 0x22, 0x33]),
            ("AB24", &[0x11, 0x22, 0x33, 0x00], [0x11, 0x22, 0x33]),
            // Red is in the high bits of RG16, XR15 and XR30, and in the low bits of XB30.
            ("RG16", &0xf800u16.to_le_bytes(), [255, 0, 0]),
            ("XR15", &0x7c00u16.to_le_bytes(), [255, 0, 0]),
            ("XR30", &0x3ff0_0000u32.to_le_bytes(), [255, 0, 0]),
            ("XB30", &0x3ff0_0000u32.to_le_bytes(), [0, 0, 255]),
        ] {
            let frame = frame(fourcc, Tiling::Linear, [1, 1, 64]);
            let [r, g, b] = rgb;
            assert_eq!(frame_rgba(&frame, bytes).unwrap(), [r, g, b, 255], "{fourcc}");
        }
        let unknown = frame("NV12", Tiling::Linear, [1, 1, 64]);
        assert_eq!(frame_rgba(&unknown, &[0; 64]), Err(BadFrame::Format("NV12".into())));
    }

    /// Pixels of a tiled frame are at the same bytes as in the blitter's tests: column 1 of a Y
    /// tile begins at byte 512, row 1 of an X tile at byte 512.
    #[test]
    fn tiles() {
        let mut memory = vec![0; 4096];
        memory[512..515].fill(0xff);
        let lit = |tiling, width, x: usize, y: usize, pitch| {
            let rgba = frame_rgba(&frame("XR24", tiling, [width, 8, pitch]), &memory).unwrap();
            rgba[(y * width as usize + x) * 4..][..4] == [255; 4]
        };
        assert!(lit(Tiling::X, 128, 0, 1, 512));
        assert!(lit(Tiling::Y, 32, 4, 0, 128));
        assert!(lit(Tiling::Linear, 16, 0, 4, 128));
    }

    #[test]
    fn what_does_not_fit() {
        let size = |width, height| Err(BadFrame::Size { width, height });
        assert_eq!(
            frame_rgba(&frame("XR24", Tiling::Linear, [17, 1, 64]), &[0; 4096]),
            size(17, 1)
        );
        assert_eq!(
            frame_rgba(&frame("XR24", Tiling::Linear, [16, 65, 64]), &[0; 4096]),
            size(16, 65)
        );
        // Memory ends within the last tile.
        assert_eq!(frame_rgba(&frame("XR24", Tiling::Y, [32, 30, 128]), &[0; 3840]), size(32, 30));
    }
}
