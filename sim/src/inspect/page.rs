//! Pictures of surfaces and of decoded video as a dump has them, for pages of [`genxml::html`].

use super::picture;
use crate::surface::display::{PixelConverter, rgb_of_ycbcr};
use crate::surface::format::Class;
use crate::surface::{Surface, SurfaceKind, TileMode};
use genxml::decode::{Chroma, Memory, Tiles, VideoSurface};
use genxml::gen8::state::RenderSurfaceState;
use genxml::html::Picture;

/// Maximum width and height of a picture in pixels. Larger surfaces show every n-th texel.
const MOST: u32 = 512;

/// A picture of the first level and slice of the surface state's view. `None` if the surface is not
/// an image, if none of its tested texels are in memory, or if its format has blocks of compressed
/// texels or less than 8 bits for each texel.
pub fn surface(state: &RenderSurfaceState, memory: &dyn Memory) -> Option<Picture> {
    let surface = Surface::resolve(state).ok()?;
    let codec = surface.codec.filter(|_| surface.kind == SurfaceKind::Image)?;
    let format = codec.format();
    if !codec.has_channels() && format.class != Class::Planar || format.bits < 8 {
        return None;
    }
    let level = surface.layout.level(surface.first_level.min(14));
    let step = level.width.max(level.height).div_ceil(MOST).max(1);
    let (width, height) = (level.width.div_ceil(step), level.height.div_ceil(step));
    let slice = surface.first_slice.min(surface.layout.depth.max(surface.slices) - 1);
    let element = surface.element_bytes as usize;
    // A surface is usually either in memory or missing as a whole, so a few texels are tested.
    let there = |x, y| !memory.tail(surface.texel(&level, slice, x, y, 0)).is_empty();
    let some = |extent: u32| (0..8).map(move |part| (u64::from(extent - 1) * part / 7) as u32);
    if !some(level.height).any(|y| some(level.width).any(|x| there(x, y))) {
        return None;
    }
    let mut texels = Vec::with_capacity((width * height) as usize);
    let mut there = 0;
    let mut bytes = [0; 32];
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (step * y, step * x))) {
        let bytes = &mut bytes[..element.min(32)];
        let at = surface.texel(&level, slice, x, y, 0);
        let whole = memory.bytes(at, bytes) == bytes.len();
        there += u32::from(whole);
        texels.push(whole.then(|| match format.class {
            Class::Planar => [u32::from(bytes[0]); 4],
            _ => codec.decode_one(bytes),
        }));
    }
    if there == 0 {
        return None;
    }
    let converter = PixelConverter::of(codec, &texels);
    let rgba: Vec<u8> = texels
        .iter()
        .flat_map(|texel| texel.map_or([0; 4], |texel| converter.pixel(texel)))
        .collect();
    let mut note = format!("{}, {:?} tiling", format.name, surface.tile_mode);
    for (wanted, text) in [
        (step > 1, format!("one texel of {step} across and down")),
        (level.number > 0, format!("level {}", level.number)),
        (slice > 0, format!("slice {slice}")),
        (surface.layout.samples > 1, "sample 0".into()),
        (converter.opaque(), "without alpha".into()),
        (converter.scaled(), "integers scaled to their greatest".into()),
        (format.class == Class::Planar, "luma only".into()),
        (there < width * height, format!("{} of {} texels are in memory", there, width * height)),
    ] {
        if wanted {
            note.push_str(", ");
            note.push_str(&text);
        }
    }
    Some(Picture {
        png: png_of(width, height, &rgba)?,
        width: level.width,
        height: level.height,
        note,
    })
}

/// A picture of decoded video, in colours of BT.601. `None` if its memory is missing, or if all
/// bytes are 0: the dump is older than the picture then.
pub fn video(surface: &VideoSurface, memory: &dyn Memory) -> Option<Picture> {
    let VideoSurface { address, width, height, pitch, tiles, chroma, full_range, .. } = *surface;
    let step = width.max(height).div_ceil(MOST).max(1);
    let tiling = match tiles {
        Tiles::Linear => TileMode::Linear,
        Tiles::X => TileMode::X,
        Tiles::Y => TileMode::Y,
    };
    if !pitch.is_multiple_of(tiling.pitch_unit()) || memory.tail(address).is_empty() {
        return None;
    }
    let (mut missing, mut written) = (0, 0);
    let mut sample = |x: u32, y: u32| {
        let offset = tiling.offset(i64::from(x), i64::from(y), i64::from(pitch));
        let mut byte = [0];
        missing += u32::from(memory.bytes(address.wrapping_add(offset as u64), &mut byte) == 0);
        written |= byte[0];
        byte[0]
    };
    let (columns, rows) = (width.div_ceil(step), height.div_ceil(step));
    let mut rgba = Vec::with_capacity(4 * (columns * rows) as usize);
    for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (step * y, step * x))) {
        let [cb, cr] = match chroma {
            Chroma::None => [128; 2],
            Chroma::Interleaved { row } => {
                let x = x & !1;
                [sample(x, row + y / 2), sample(x + 1, row + y / 2)]
            }
            Chroma::Planar { planes, across, down } => {
                planes.map(|(left, top)| sample(left + x / across.max(1), top + y / down.max(1)))
            }
        };
        let [red, green, blue] = rgb_of_ycbcr([sample(x, y), cb, cr], full_range);
        rgba.extend([red, green, blue, 255]);
    }
    if missing > 0 || written == 0 {
        return None;
    }
    let mut note = format!("{tiling:?} tiling, pitch {pitch}");
    if step > 1 {
        note += &format!(", one sample of {step} across and down");
    }
    Some(Picture { png: png_of(columns, rows, &rgba)?, width, height, note })
}

fn png_of(width: u32, height: u32, rgba: &[u8]) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    picture::encode_rgba(&mut file, width, height, rgba).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::core::{Address, MinusOne, lit};
    use genxml::gen8::state::{RenderSurfaceStateExtent, SurfaceFormat, SurfaceType, TileMode};
    use genxml_testkit::Random;

    fn state(format: SurfaceFormat, tile_mode: TileMode) -> RenderSurfaceState {
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: format,
            tile_mode,
            surface_pitch: lit!(512),
            surface_base_address: Address::new(0x10000).unwrap(),
            extent: RenderSurfaceStateExtent::Image {
                height: lit!(3),
                width: lit!(5),
                depth: MinusOne::ONE,
            },
            ..RenderSurfaceState::new()
        }
    }

    fn pixels(picture: &Picture) -> Vec<u8> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(&picture.png)).read_info().unwrap();
        let mut out = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut out).unwrap();
        out
    }

    /// Oracle: the offsets of texels, computed by hand.
    #[test]
    fn texels_become_pixels() {
        let mut bytes = vec![0; 8192];
        // Texel 2 of row 1. In linear and X-tiled surfaces, a row has 512 bytes, so the texel is at
        // 512 + 8. In Y tiles, a row of a column has 16 bytes, so it is at 16 + 8.
        bytes[512 + 8..][..4].copy_from_slice(&[1, 2, 3, 4]);
        bytes[16 + 8..][..4].copy_from_slice(&[5, 6, 7, 8]);
        let memory: (u64, &[u8]) = (0x10000, &bytes);
        for (tile_mode, wanted) in [
            (TileMode::LINEAR, [1, 2, 3]),
            (TileMode::XMAJOR, [1, 2, 3]),
            (TileMode::YMAJOR, [5, 6, 7]),
        ] {
            let picture =
                surface(&state(SurfaceFormat::R8G8B8A8_UNORM, tile_mode), &memory).unwrap();
            assert_eq!((picture.width, picture.height), (5, 3));
            let pixels = pixels(&picture);
            assert_eq!(pixels.len(), 5 * 3 * 4);
            assert_eq!(
                pixels[4 * (5 + 2)..][..4],
                [wanted[0], wanted[1], wanted[2], 255],
                "{tile_mode:?}"
            );
        }
        let blue =
            surface(&state(SurfaceFormat::B8G8R8A8_UNORM, TileMode::LINEAR), &memory).unwrap();
        assert_eq!(pixels(&blue)[4 * (5 + 2)..][..4], [3, 2, 1, 255]);
        let grey = surface(&state(SurfaceFormat::R8_UNORM, TileMode::LINEAR), &memory).unwrap();
        assert_eq!(pixels(&grey)[4 * 5..][..4], [0, 0, 0, 255]);
        assert!(grey.note.starts_with("R8_UNORM, Linear tiling"), "{}", grey.note);
    }

    /// Oracle: the address of each sample in a Y tile, computed by hand; white and red of BT.601.
    #[test]
    fn samples_become_pixels() {
        let surface = VideoSurface {
            address: 0x10000,
            width: 4,
            height: 4,
            pitch: 128,
            tiles: Tiles::Y,
            chroma: Chroma::Interleaved { row: 32 },
            full_range: false,
        };
        // Rows of a column of a tile have 16 bytes. Chroma is in the second row of tiles.
        let mut bytes = vec![16; 8192];
        bytes[4096..].fill(128);
        bytes[3 * 16 + 1] = 235;
        bytes[2] = 81;
        (bytes[4096 + 2], bytes[4096 + 3]) = (90, 240);
        let memory: (u64, &[u8]) = (0x10000, &bytes);
        let found = pixels(&video(&surface, &memory).unwrap());
        let pixel = |x: usize, y: usize| &found[4 * (4 * y + x)..][..4];
        assert_eq!(pixel(1, 3), [255, 255, 255, 255]);
        assert_eq!(pixel(0, 2), [0, 0, 0, 255]);
        assert!(pixel(2, 0)[0] > 250 && pixel(2, 0)[1] < 5, "{:?}", pixel(2, 0));

        let short: (u64, &[u8]) = (0x10000, &bytes[..4096]);
        assert_eq!(video(&surface, &short), None);
        let zeros: (u64, &[u8]) = (0x10000, &[0; 8192]);
        assert_eq!(video(&surface, &zeros), None);

        // Planes of 4:4:4 in rows, and grey.
        let planes = [(0, 4), (0, 8)];
        let chroma = Chroma::Planar { planes, across: 1, down: 1 };
        let flat = VideoSurface { tiles: Tiles::Linear, chroma, full_range: true, ..surface };
        bytes[..12 * 128].fill(128);
        bytes[2 * 128 + 1] = 76;
        bytes[(4 + 2) * 128 + 1] = 85;
        bytes[(8 + 2) * 128 + 1] = 255;
        let memory: (u64, &[u8]) = (0x10000, &bytes);
        let found = pixels(&video(&flat, &memory).unwrap());
        assert_eq!(found[4 * (4 * 2 + 1)..][..4], [254, 0, 0, 255]);
        let grey = VideoSurface { chroma: Chroma::None, ..flat };
        let found = pixels(&video(&grey, &memory).unwrap());
        assert_eq!(found[4 * (4 * 2 + 1)..][..4], [76, 76, 76, 255]);
    }

    #[test]
    fn missing_memory_gives_no_picture() {
        let bytes = [7; 600];
        let memory: (u64, &[u8]) = (0x10000, &bytes);
        let part =
            surface(&state(SurfaceFormat::R8G8B8A8_UNORM, TileMode::LINEAR), &memory).unwrap();
        assert!(part.note.contains("10 of 15 texels are in memory"), "{}", part.note);
        assert_eq!(pixels(&part)[4 * 14..], [0; 4]);
        let elsewhere: (u64, &[u8]) = (0x90000, &bytes);
        assert_eq!(
            surface(&state(SurfaceFormat::R8G8B8A8_UNORM, TileMode::LINEAR), &elsewhere),
            None
        );
        assert_eq!(surface(&state(SurfaceFormat::BC1_UNORM, TileMode::LINEAR), &memory), None);
    }

    /// Memory that has the same bytes at every address. Without bytes, all memory is missing.
    struct Everywhere<'a>(&'a [u8]);

    impl Memory for Everywhere<'_> {
        fn tail(&self, _: u64) -> &[u8] {
            self.0
        }
    }

    /// Random surface states: nothing overflows, and no picture is larger than the limit.
    #[test]
    fn any_surface_state() {
        let mut random = Random::new(1);
        let mut made = 0;
        for round in 0..5000 {
            let dwords = std::array::from_fn(|_| random.bits() as u32);
            let state = RenderSurfaceState::unpack_lossy(&dwords);
            let usual = RenderSurfaceState {
                surface_type: SurfaceType::SURFTYPE_2D,
                surface_format: SurfaceFormat::R8G8B8A8_UNORM,
                tile_mode: TileMode::LINEAR,
                ..state
            };
            assert_eq!(surface(&state, &Everywhere(&[])), None);
            assert_eq!(surface(&usual, &Everywhere(&[])), None);
            // Pictures take time, so only a few rounds make them.
            if round < 20 {
                for picture in [state, usual]
                    .iter()
                    .filter_map(|state| surface(state, &Everywhere(&[0x5a; 64])))
                {
                    made += 1;
                    assert!(picture.png.len() < 4 * (MOST * MOST) as usize + 4096);
                }
            }
        }
        assert!(made > 0);
    }
}
