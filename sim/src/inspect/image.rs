//! Pictures of the buffers that a draw writes (render targets, depth and stencil), and of decoded
//! video. A pixel has red, green, blue and alpha bytes.

use crate::inspect::summary::state::{DepthBuffer, StencilBuffer, Target};
use crate::machine::coded::{Codec, CodedPicture};
use crate::machine::drawing::Drawing;
use crate::render::aux_surface::{Auxiliary, Stored};
use crate::render::depth::Plane;
use crate::surface::display::{PixelConverter, rgb_of_ycbcr};
use crate::surface::{Level, Surface, SurfaceKind};

/// Maximum number of columns and of rows of a picture. For larger surfaces, every n-th texel is
/// used.
pub const MOST: u32 = 4096;

/// A picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue and alpha bytes of each pixel, row by row.
    pub rgba: Vec<u8>,
}

/// The texels of a level that the picture has: every `step`-th column and row.
struct Grid {
    step: u32,
    width: u32,
    height: u32,
}

impl Grid {
    fn of(level: &Level) -> Grid {
        Grid::sized(level.width, level.height, MOST)
    }

    fn sized(width: u32, height: u32, most: u32) -> Grid {
        let step = width.max(height).div_ceil(most.max(1)).max(1);
        Grid { step, width: width.div_ceil(step), height: height.div_ceil(step) }
    }

    /// The values that `value` returns for the texel of each pixel of the picture.
    fn map<T>(&self, value: impl Fn(u32, u32) -> T) -> Vec<T> {
        let texels = (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        texels.map(|(x, y)| value(x * self.step, y * self.step)).collect()
    }

    fn image(&self, rgba: Vec<u8>) -> Image {
        Image { width: self.width, height: self.height, rgba }
    }
}

impl Drawing<'_> {
    /// The picture of a render target: the first slice of its level, sample 0 of each pixel, with
    /// alpha 255. Fast-cleared blocks have the clear colour; pixels that are not in memory are
    /// transparent. Floats are clamped to 0..=1, negative integers become 0. If an integer is above
    /// 255, all are scaled so that the greatest becomes 255.
    ///
    /// `None` if the target is not an image with channels.
    pub fn color(&self, target: &Target) -> Option<Image> {
        self.color_within(target, MOST)
    }

    /// As [`color`](Self::color), with at most `most` columns and rows.
    pub fn color_within(&self, target: &Target, most: u32) -> Option<Image> {
        color(&target.surface, &target.level, most, &|address, out| self.read(address, out))
    }

    /// The picture of a depth buffer: 1 is white, other depths are grey, from black for the least
    /// to light grey for the greatest; sample 0 of the first slice.
    pub fn depth(&self, buffer: &DepthBuffer) -> Image {
        let depths = self.plane(&buffer.plane, |[a, b, c, d, ..]| {
            buffer.format.decode(u32::from_le_bytes([a, b, c, d]))
        });
        let inside =
            || depths.iter().flatten().copied().filter(|&depth| depth.is_finite() && depth != 1.0);
        let (least, most) =
            inside().fold((f32::MAX, f32::MIN), |(a, b), depth| (a.min(depth), b.max(depth)));
        let range = if most > least { most - least } else { 1.0 };
        let grey =
            |depth: f32| if depth == 1.0 { 255 } else { ((depth - least) / range * 223.0) as u8 };
        self.greys(&buffer.plane, depths.into_iter().map(|depth| depth.map(grey)))
    }

    /// The picture of a stencil buffer: values as greys; sample 0 of the first slice.
    pub fn stencil(&self, buffer: &StencilBuffer) -> Image {
        let StencilBuffer { plane, byte, .. } = buffer;
        let values = self.plane(plane, |element| element.get(*byte).copied().unwrap_or(0));
        self.greys(plane, values.into_iter())
    }

    /// The elements of a depth or stencil buffer, of at most eight bytes; `None` for elements that
    /// are not in memory.
    fn plane<T>(&self, plane: &Plane, value: impl Fn([u8; 8]) -> T) -> Vec<Option<T>> {
        let Plane { surface, level, .. } = plane;
        let bytes = (surface.element_bytes as usize).min(8);
        Grid::of(level).map(|x, y| {
            let mut element = [0; 8];
            let at = surface.texel(level, surface.first_slice, x, y, 0);
            self.read(at, &mut element[..bytes]).then(|| value(element))
        })
    }

    fn greys(&self, plane: &Plane, greys: impl Iterator<Item = Option<u8>>) -> Image {
        let pixel = |grey: Option<u8>| grey.map_or([0; 4], |grey| [grey, grey, grey, 255]);
        Grid::of(&plane.level).image(greys.flat_map(pixel).collect())
    }
}

/// The picture of a level of a surface with colours, as [`Drawing::color`] describes it, with at
/// most `most` columns and rows. `read` fills a slice with the memory at a graphics address, and
/// returns false if it cannot be read.
///
/// `None` if the surface is not an image with channels.
pub fn color(
    surface: &Surface,
    level: &Level,
    most: u32,
    read: &dyn Fn(u64, &mut [u8]) -> bool,
) -> Option<Image> {
    let codec =
        surface.codec.filter(|codec| surface.kind == SurfaceKind::Image && codec.has_channels())?;
    let bytes = surface.element_bytes as usize;
    let auxiliary = Auxiliary::of(surface, level).ok().flatten();
    let slice = surface.first_slice;
    let grid = Grid::sized(level.width, level.height, most);
    let texels = grid.map(|x, y| {
        let stored = match &auxiliary {
            Some(auxiliary) => auxiliary.stored(slice, [x, y], 0, read),
            None => Stored::Plane(0),
        };
        let Stored::Plane(plane) = stored else { return Some(clear(surface)) };
        let mut element = [0; 32];
        let element = element.get_mut(..bytes)?;
        read(surface.texel(level, slice, x, y, plane), element).then(|| codec.decode_one(element))
    });
    let converter = PixelConverter::of(codec, &texels);
    let pixel = |texel: &Option<[u32; 4]>| texel.map_or([0; 4], |texel| converter.pixel(texel));
    Some(grid.image(texels.iter().flat_map(pixel).collect()))
}

impl CodedPicture<'_> {
    /// The whole frame in colours of BT.601, also of a field.
    pub fn image(&self) -> Image {
        let [luma, chroma @ ..] = &self.frame.planes;
        let grid = Grid::sized(luma.width as u32, luma.height as u32, MOST);
        let full_range = self.codec == Codec::Jpeg;
        let pixels = grid.map(|x, y| {
            let (x, y) = (x as usize, y as usize);
            let [cb, cr] = chroma.each_ref().map(|plane| {
                let column = x * plane.width / luma.width;
                let row = y * plane.height / luma.height;
                // Pictures without chroma are grey.
                plane.data.get(row * plane.width + column).copied().unwrap_or(128)
            });
            let [red, green, blue] =
                rgb_of_ycbcr([luma.data[y * luma.width + x], cb, cr], full_range);
            [red, green, blue, 255]
        });
        grid.image(pixels.into_flattened())
    }
}

/// The clear colour, as a decoded texel.
fn clear(surface: &Surface) -> [u32; 4] {
    let integer = surface.codec.is_some_and(|codec| {
        use crate::surface::format::Numeric;
        codec.format().numeric != Numeric::Float
    });
    surface.clear.map(|one| match (one, integer) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 1f32.to_bits(),
    })
}
