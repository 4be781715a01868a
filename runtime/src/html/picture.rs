//! A picture of a surface in the page.

/// A picture of a surface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// The file: a PNG.
    pub png: Vec<u8>,
    /// Width in texels of the mip level that the picture shows; the file may be smaller.
    pub width: u32,
    /// Height in texels of that mip level.
    pub height: u32,
    /// A remark for the viewer: format, tiling, what was left out.
    pub note: String,
}
