//! Unusual render targets: buffers, rotated surfaces, packed YUV. Oracle: the same draw on a usual
//! target; the manual's description of the positions of pixels and bytes.

use crate::screen::exact::random_triangles;
use crate::screen::kernels;
use crate::screen::scene::{Scene, TARGETS, Target, Vertex, on_screen};
use genxml::gen8::enums::{ThreeDColorBufferBlendFactor as Factor, ThreeDPrimTopoType as Code};
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateExtent,
    RenderSurfaceStateRenderTargetAndSampleUnormRotation as Rotation, RenderSurfaceStateView,
    SurfaceFormat, SurfaceType, TileMode,
};
use genxml_cases::paper::Tiling;
use genxml_cases::{SURFACE_STATE, minus_one, u};

/// Draws a scene to a changed surface; returns the first 4096 dwords of its memory.
fn draw(scene: &Scene, change: impl Fn(&mut RenderSurfaceState)) -> Vec<u32> {
    let mut model = scene.model();
    let batch = scene.batch(&mut model);
    let mut surface = scene.surface(0);
    change(&mut surface);
    model.put(SURFACE_STATE, &surface.pack());
    model.render(&batch).unwrap();
    let bytes = model.read(TARGETS, 16 << 10);
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// A rectangle from `low` to `high` with the attribute `value` at each corner.
fn rectangle(
    size: [u32; 2],
    [low, high]: [[f32; 2]; 2],
    value: impl Fn(f32, f32) -> [u32; 4],
) -> Scene {
    let corners = [high, [low[0], high[1]], low];
    let vertices =
        corners.map(|[x, y]| Vertex { attributes: vec![value(x, y)], ..on_screen(x, y, 0) });
    Scene::new(size, Code::_3DPRIM_RECTLIST, vertices.to_vec())
}

/// In a buffer, X is the index of the entry. Pixels of other rows and after the last entry are
/// dropped (003:4924-4950).
#[test]
fn buffers() {
    let scene = rectangle([256, 4], [[3.0, 0.0], [250.0, 4.0]], |_, _| [7; 4]);
    for entries in [1_u32, 100, 200, 256] {
        let found = draw(&scene, |surface| {
            surface.surface_type = SurfaceType::SURFTYPE_BUFFER;
            surface.surface_pitch = minus_one(4);
            surface.extent = RenderSurfaceStateExtent::Buffer {
                width: u(u64::from(entries - 1) & 0x7f),
                height: u(u64::from(entries - 1) >> 7),
                depth: u(0),
            };
        });
        for (n, value) in found.into_iter().enumerate() {
            let covered = (3..entries.min(250)).contains(&(n as u32));
            assert_eq!(value, if covered { 7 } else { 0 }, "entry {n} of {entries}");
        }
    }
}

/// Pixel (x, y) of a picture of W x H pixels is stored at (H - 1 - y, x) with 90 degrees and at (y,
/// W - 1 - x) with 270 degrees. Triangles overlap, and blending adds their colours.
#[test]
fn rotated_surfaces() {
    const SIZE: [u32; 2] = [16, 12];
    for seed in 0..4 {
        let corners = random_triangles(40 + seed, 6).into_iter().flatten();
        let vertices = corners.enumerate().map(|(n, [x, y])| Vertex {
            attributes: vec![
                [1, 2, 4, 8].map(|part| (((n / 3) * part % 32) as f32 / 255.0).to_bits()),
            ],
            ..on_screen(x as f32 / 256.0, y as f32 / 256.0, 0)
        });
        let mut scene = Scene::new(SIZE, Code::_3DPRIM_TRILIST, vertices.collect());
        scene.targets = vec![Target {
            before: [0x1234_5678; 4],
            ..Target::new(SurfaceFormat::R8G8B8A8_UNORM, 4)
        }];
        let blend = &mut scene.blend.entry[0];
        blend.color_buffer_blend_enable = true;
        blend.source_blend_factor = Factor::BLENDFACTOR_ONE;
        blend.destination_blend_factor = Factor::BLENDFACTOR_ONE;
        blend.source_alpha_blend_factor = Factor::BLENDFACTOR_ONE;
        blend.destination_alpha_blend_factor = Factor::BLENDFACTOR_ONE;
        let mut model = scene.model();
        let batch = scene.batch(&mut model);
        let stats = model.render(&batch).unwrap();
        let plain = scene.drawn(&mut model, stats).dwords(0, 0, 0);
        assert!(plain.iter().any(|&value| value != 0x1234_5678), "an empty picture");
        for rotation in [Rotation::_90DEG, Rotation::_270DEG] {
            let found = draw(&scene, |surface| {
                surface.tile_mode = TileMode::XMAJOR;
                surface.surface_pitch = minus_one(512);
                let RenderSurfaceStateView::Image {
                    render_target_and_sample_unorm_rotation, ..
                } = &mut surface.view
                else {
                    unreachable!("an image")
                };
                *render_target_and_sample_unorm_rotation = rotation;
            });
            let [width, height] = SIZE.map(u64::from);
            let mut want = vec![0x1234_5678; 4096];
            for (n, &value) in plain.iter().enumerate() {
                let (x, y) = (n as u64 % width, n as u64 / width);
                let (column, row) = match rotation {
                    Rotation::_90DEG => (height - 1 - y, x),
                    _ => (y, width - 1 - x),
                };
                want[Tiling::X.offset(4 * column, row, 512) as usize / 4] = value;
            }
            assert!(found == want, "{rotation:?} of picture {seed}");
        }
    }
}

/// Two pixels share the chroma of the first. Oracle: the order of bytes of gen8_facts 9; red is Cr,
/// green is Y, blue is Cb (003:3634). Half a step of error is permitted.
#[test]
fn packed_yuv() {
    // Byte positions of Y of both pixels, of Cb and of Cr.
    for (format, [first, second, cb, cr]) in [
        (SurfaceFormat::YCRCB_NORMAL, [0, 2, 1, 3]),
        (SurfaceFormat::YCRCB_SWAPUV, [0, 2, 3, 1]),
        (SurfaceFormat::YCRCB_SWAPY, [1, 3, 0, 2]),
        (SurfaceFormat::YCRCB_SWAPUVY, [1, 3, 2, 0]),
    ] {
        for tiled in [false, true] {
            let color = |x: f32, y: f32| [x / 20.0, y / 10.0, (x + y) / 40.0, 1.0];
            let area = [[2.0, 1.0], [14.0, 7.0]];
            let mut scene = rectangle([16, 8], area, |x, y| color(x, y).map(f32::to_bits)).floats();
            scene.kernel = kernels::PLANES;
            scene.targets = vec![Target { tiled, ..Target::new(format, 2) }];
            let drawn = scene.run().unwrap();
            for (n, found) in drawn.dwords(0, 0, 0).into_iter().enumerate() {
                let (x, y) = ((2 * (n % 8)) as f32, (n / 8) as f32);
                if !(2.0..14.0).contains(&x) || !(1.0..7.0).contains(&y) {
                    assert_eq!(found, 0, "{format:?} pair {n}");
                    continue;
                }
                let [left, right] = [0.5, 1.5].map(|half| color(x + half, y + 0.5));
                let bytes = found.to_le_bytes();
                for (at, value) in
                    [(first, left[1]), (second, right[1]), (cr, left[0]), (cb, left[2])]
                {
                    let error = f32::from(bytes[at]) - 255.0 * value;
                    assert!(error.abs() <= 0.501, "{format:?} pair {n} byte {at}: {bytes:?}");
                }
            }
        }
    }
}
