//! Formats, tiles and columns of surfaces. Oracle: the position of each sample, byte by byte.

use super::*;
use VeboxSurfaceStateSurfaceFormat as F;

/// A kind of tiles.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Tiles {
    Linear,
    X,
    Y,
}

const FORMATS: [F; 13] = [
    F::YCRCB_NORMAL,
    F::YCRCB_SWAPUVY,
    F::YCRCB_SWAPUV,
    F::YCRCB_SWAPY,
    F::PLANAR_420_8,
    F::PACKED_444A_8,
    F::PACKED_422_16,
    F::R10G10B10A2_UNORM_R10G10B10A2_UNORM_SRGB,
    F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB,
    F::PACKED_444_16,
    F::PLANAR_422_16,
    F::PLANAR_420_16,
    F::R16G16B16A16,
];

/// Byte, row and value of each byte of a frame. Alpha is opaque.
fn bytes(format: F, pixel: &dyn Fn(usize, usize) -> [u8; 3]) -> Vec<(usize, usize, u8)> {
    let mut out = Vec::new();
    let pair = |x: usize, offset: usize| 4 * (x / 2) + offset;
    for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
        let [luma, blue, red] = pixel(x, y);
        let mut byte = |at: usize, row: usize, value: u8| out.push((at, row, value));
        // The order of bytes of two pixels, as the names of the formats say it.
        let packed = match format {
            F::YCRCB_NORMAL => Some("YUYV"),
            F::YCRCB_SWAPUVY => Some("VYUY"),
            F::YCRCB_SWAPUV => Some("YVYU"),
            F::YCRCB_SWAPY => Some("UYVY"),
            _ => None,
        };
        if let Some(order) = packed {
            let places: Vec<usize> = order.match_indices('Y').map(|(at, _)| at).collect();
            byte(pair(x, places[x % 2]), y, luma);
            byte(pair(x, order.find('U').unwrap()), y, blue);
            byte(pair(x, order.find('V').unwrap()), y, red);
            continue;
        }
        match format {
            F::PLANAR_420_8 => {
                byte(x, y, luma);
                byte(x / 2 * 2, CHROMA + y / 2, blue);
                byte(x / 2 * 2 + 1, CHROMA + y / 2, red);
            }
            F::PACKED_444A_8 => {
                for (at, value) in [red, blue, luma, 255].into_iter().enumerate() {
                    byte(4 * x + at, y, value);
                }
            }
            F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB => {
                for (at, value) in [luma, blue, red, 255].into_iter().enumerate() {
                    byte(4 * x + at, y, value);
                }
            }
            F::R10G10B10A2_UNORM_R10G10B10A2_UNORM_SRGB => {
                let ten = |value: u8| u32::from(value) * 4;
                let dword = ten(luma) | ten(blue) << 10 | ten(red) << 20 | 3 << 30;
                for (at, value) in dword.to_le_bytes().into_iter().enumerate() {
                    byte(4 * x + at, y, value);
                }
            }
            F::PACKED_422_16 => {
                byte(8 * (x / 2) + 4 * (x % 2) + 1, y, luma);
                byte(8 * (x / 2) + 3, y, blue);
                byte(8 * (x / 2) + 7, y, red);
            }
            F::PACKED_444_16 | F::R16G16B16A16 => {
                let order = match format {
                    F::PACKED_444_16 => [blue, luma, red],
                    _ => [luma, blue, red],
                };
                for (at, value) in order.into_iter().chain([255]).enumerate() {
                    byte(8 * x + 2 * at + 1, y, value);
                }
            }
            F::PLANAR_420_16 | F::PLANAR_422_16 => {
                let down = if format == F::PLANAR_420_16 { 2 } else { 1 };
                byte(2 * x + 1, y, luma);
                byte(4 * (x / 2) + 1, CHROMA + y / down, blue);
                byte(4 * (x / 2) + 3, CHROMA + y / down, red);
            }
            other => panic!("{other:?}"),
        }
    }
    out
}

fn offset(tiles: Tiles, x: usize, y: usize) -> usize {
    match tiles {
        Tiles::Linear => y * PITCH + x,
        Tiles::X => x_tiled(x, y, PITCH),
        Tiles::Y => y_tiled(x, y, PITCH),
    }
}

fn with(
    surface: VeboxSurfaceState<'static>,
    surface_format: F,
    tiles: Tiles,
) -> VeboxSurfaceState<'static> {
    VeboxSurfaceState {
        surface_format,
        tiled_surface: tiles != Tiles::Linear,
        tile_walk: match tiles {
            Tiles::Y => VeboxSurfaceStateTileWalk::TILEWALK_YMAJOR,
            _ => VeboxSurfaceStateTileWalk::TILEWALK_XMAJOR,
        },
        ..surface
    }
}

/// Each format becomes each other one, with all tiles. Chroma is the same in 2x2 pixels, so that
/// nothing is lost.
#[test]
fn formats() {
    let tiles = [Tiles::Linear, Tiles::X, Tiles::Y];
    for (number, (from, to)) in
        FORMATS.iter().flat_map(|from| FORMATS.map(|to| (*from, to))).enumerate()
    {
        if from == F::R10G10B10A2_UNORM_R10G10B10A2_UNORM_SRGB {
            continue;
        }
        let (tiles_in, tiles_out) = (tiles[number % 3], tiles[number / 3 % 3]);
        let mut scene = Scene::new();
        let mut memory = vec![0; ROOM];
        for (x, y, value) in bytes(from, &pattern) {
            memory[offset(tiles_in, x, y)] = value;
        }
        scene.model.write(INPUT, &memory);
        scene.input = with(scene.input, from, tiles_in);
        scene.output = with(scene.output, to, tiles_out);
        // Enhancement without functions is a conversion, too.
        scene.state.global_iecp_enable = number % 2 == 1;
        scene.run().unwrap();
        let out = scene.model.read(CURRENT, ROOM);
        for (x, y, value) in bytes(to, &pattern) {
            assert_eq!(
                out[offset(tiles_out, x, y)],
                value,
                "{from:?} {tiles_in:?} to {to:?} {tiles_out:?} at {x} {y}"
            );
        }
    }
}

/// U and V in planes of their own, with half the pitch.
#[test]
fn planes() {
    for half in [false, true] {
        let mut scene = Scene::new();
        scene.draw(INPUT, pattern);
        scene.output.interleave_chroma = false;
        scene.output.half_pitch_for_chroma = half;
        (scene.output.y_offset_for_u, scene.output.y_offset_for_v) = (u(40), u(60));
        (scene.output.x_offset_for_u, scene.output.x_offset_for_v) = (u(16), u(48));
        scene.run().unwrap();
        let out = scene.model.read(CURRENT, ROOM);
        let pitch = if half { PITCH / 2 } else { PITCH };
        for (x, y) in (0..HEIGHT / 2).flat_map(|y| (0..WIDTH / 2).map(move |x| (x, y))) {
            let [_, blue, red] = pattern(2 * x, 2 * y);
            assert_eq!(out[40 * PITCH + y * pitch + 16 + x], blue);
            assert_eq!(out[60 * PITCH + y * pitch + 48 + x], red);
        }
    }
}

/// A luma-only input gives grey chroma (128).
#[test]
fn luma_only() {
    let mut scene = Scene::new();
    scene.draw(INPUT, pattern);
    scene.input = with(scene.input, F::Y8_UNORM, Tiles::Linear);
    scene.run().unwrap();
    let want: Vec<[u8; 3]> = (0..WIDTH * HEIGHT)
        .map(|index| [pattern(index % WIDTH, index / WIDTH)[0], 128, 128])
        .collect();
    assert_eq!(scene.frame(CURRENT), want);
}

/// Only the columns that the packet names are written and counted.
#[test]
fn columns() {
    for format in [F::PLANAR_420_8, F::YCRCB_NORMAL] {
        let mut scene = Scene::new();
        let width = 192;
        scene.input.width = minus_one(width);
        scene.output.width = minus_one(width);
        scene.output = with(scene.output, format, Tiles::Linear);
        scene.model.write(INPUT, &vec![50; ROOM]);
        scene.model.write(CURRENT, &vec![1; ROOM]);
        scene.packet.starting_x = u(64);
        scene.packet.ending_x = u(127);
        let stats = scene.run().unwrap();
        assert_eq!(stats.pixels, 64 * HEIGHT as u64);
        let out = scene.model.read(CURRENT, ROOM);
        let size = if format == F::PLANAR_420_8 { 1 } else { 2 };
        let row = |y: usize| &out[y * PITCH..][..256 * size];
        let mut want = vec![1; 256 * size];
        want[64 * size..128 * size].fill(50);
        for y in 0..HEIGHT {
            assert_eq!(row(y), want);
        }
        if size == 1 {
            assert_eq!(row(CHROMA), want);
        }
    }
}

/// Down-sampling takes the first sample or the mean, in columns and in rows.
#[test]
fn methods() {
    use VeboxState422420DownsampleMethod as Rows;
    use VeboxState444422DownsampleMethod as Columns;
    for (columns, rows) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
        let mut scene = Scene::new();
        scene.state._444_422_downsample_method = Columns::from_bits(columns);
        scene.state._422_420_downsample_method = Rows::from_bits(rows);
        let chroma = |x: usize, y: usize| (x * 7 + y * 29) as u8;
        let mut memory = vec![0; ROOM];
        for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
            memory[y * PITCH + 4 * x + 1] = chroma(x, y);
        }
        scene.model.write(INPUT, &memory);
        scene.input = with(scene.input, F::PACKED_444A_8, Tiles::Linear);
        scene.run().unwrap();
        let got = scene.frame(CURRENT);
        for (x, y) in (0..HEIGHT / 2).flat_map(|y| (0..WIDTH / 2).map(move |x| (x, y))) {
            let row = |y: usize| {
                let (left, right) = (chroma(2 * x, y), chroma(2 * x + 1, y));
                if columns == 1 { f64::from(left).midpoint(right.into()) } else { left.into() }
            };
            let (upper, lower) = (row(2 * y), row(2 * y + 1));
            let want = if rows == 1 { upper.midpoint(lower) } else { upper };
            let got = f64::from(got[2 * y * WIDTH + 2 * x][1]);
            assert!((got - want).abs() <= 0.5, "{columns} {rows}: {got} for {want}");
        }
    }
}
