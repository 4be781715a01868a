//! Draws whose pixel shader writes the same colour to all pixels. Without an observer the model
//! runs one thread and stores its colour in rows. Oracle: the same draw with an observer, for which
//! all threads run.

use crate::pixels::harness::{Draw, TARGET, Vertex, model};
use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_pixel::{BlendState, BlendStateEntry, ThreeDStateBlendStatePointers};
use genxml::gen8::render3d_raster::{SfClipViewport, ThreeDStateDrawingRectangle};
use genxml::gen8::state::{RenderSurfaceStateExtent, SurfaceFormat, TileMode as Tile};
use genxml_cases::{DYNAMIC_STATE, Model, at, minus_one, push, u};
use genxml_sim::{Event, Now, Observer, Stats};

/// Size of the drawing rectangle in pixels: several tiles of the screen.
const SIZE: [u64; 2] = [200, 150];
/// Bytes of the render target.
const BYTES: usize = 1 << 20;

/// 0.25, 0.5, 0.75 and 1 for eight pixels.
const EIGHT: &[u32] = &eu! {
    mov (8|M0)       r112.0<1>:f  0.25:f
    mov (8|M0)       r113.0<1>:f  0.5:f
    mov (8|M0)       r114.0<1>:f  0.75:f
    mov (8|M0)       r115.0<1>:f  1.0:f
    send (8|M0)      null  r112  0x25  0x08031400  {EOT}
};

/// Products of the attribute, for sixteen pixels.
const SIXTEEN: &[u32] = &eu! {
    (W) mul (8|M0)   r20.0<1>:f   r8.3<0;1,0>:f   0.5:f
    mov (16|M0)      r112.0<1>:f  r20.1<0;1,0>:f
    add (16|M0)      r114.0<1>:f  r8.7<0;1,0>:f   r20.0<0;1,0>:f
    mad (16|M0)      r116.0<1>:f  r20.0<0;0>:f    r20.0<0;0>:f   r20.4<0>:f
    mov (16|M0)      r118.0<1>:f  r9.7<0;1,0>:f
    send (16|M0)     null  r112  0x25  0x10031000  {EOT}
};

/// The attribute, replicated to sixteen pixels.
const REPLICATED: &[u32] = &eu! {
    (W) mov (4|M0)   r114.0<1>:ud  r8.3<8;2,4>:ud
    send (16|M0)     null  r114  0x25  0x02031100  {EOT}
};

/// The attribute, replicated to sixteen pixels from channels that can be disabled.
const MASKED: &[u32] = &eu! {
    mov (16|M0)      r114.0<1>:f  r8.3<0;1,0>:f
    send (16|M0)     null  r114  0x25  0x02031100  {EOT}
};

/// Depends on the position of the pixels in the payload.
const POSITION: &[u32] = &eu! {
    mov (16|M0)      r112.0<1>:f  r1.4<0;1,0>:uw
    mov (16|M0)      r114.0<1>:f  1.0:f
    mov (16|M0)      r116.0<1>:f  1.0:f
    mov (16|M0)      r118.0<1>:f  1.0:f
    send (16|M0)     null  r112  0x25  0x10031000  {EOT}
};

struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: Now, _: &Event<'_>) {}
}

fn draw(kernel: &[u32], topology: Code, corners: &[[f32; 2]]) -> Draw {
    let vertices = corners
        .iter()
        .map(|&[x, y]| Vertex { attribute: [0.5, 0.25, 1.0, 0.75], ..Vertex::at(x, y) })
        .collect();
    let mut draw = Draw::new(topology, vertices, kernel);
    draw.extra.attribute_enable = true;
    draw.ps.dispatch_grf_start_register_for_constant_setup_data_0 = u(8);
    let wide = kernel != EIGHT;
    (draw.ps._8_pixel_dispatch_enable, draw.ps._16_pixel_dispatch_enable) = (!wide, wide);
    let pointer = ThreeDStateBlendStatePointers {
        blend_state_pointer: at(0x100),
        blend_state_pointer_valid: true,
    };
    push(&mut draw.more, &pointer);
    push(
        &mut draw.more,
        &ThreeDStateDrawingRectangle {
            clipped_drawing_rectangle_x_max: u(SIZE[0] - 1),
            clipped_drawing_rectangle_y_max: u(SIZE[1] - 1),
            ..ThreeDStateDrawingRectangle::new()
        },
    );
    draw
}

fn target(draw: &mut Draw, format: SurfaceFormat, bytes: u64, tile_mode: Tile, size: [u64; 2]) {
    draw.target = crate::pixels::harness::target(format, bytes);
    draw.target.tile_mode = tile_mode;
    draw.target.surface_pitch = minus_one((SIZE[0] * bytes).next_multiple_of(512));
    draw.target.extent = RenderSurfaceStateExtent::Image {
        width: minus_one(size[0]),
        height: minus_one(size[1]),
        depth: minus_one(1),
    };
}

/// Memory, and counts or a fault, after a draw. `entry` is the first entry of BLEND_STATE.
fn result(draw: &Draw, entry: BlendStateEntry, observed: bool) -> (Vec<u8>, Result<Stats, String>) {
    let (mut model, batch) = prepared(draw, entry);
    let stats = match observed {
        true => model.submit_observed(EngineId::Render, &batch, &mut Silent),
        false => model.render(&batch),
    };
    (model.read(TARGET, BYTES), stats.map_err(|fault| fault.to_string()))
}

fn prepared(draw: &Draw, entry: BlendStateEntry) -> (Model, Vec<u32>) {
    let mut model = model();
    model.write(TARGET, &vec![0x55; BYTES]);
    let mut state = BlendState::new();
    state.entry[0] = entry;
    model.put(DYNAMIC_STATE + 0x100, &state.pack());
    let batch = draw.batch(&mut model);
    // The viewport of the harness is smaller than the drawing rectangle.
    let viewport = SfClipViewport {
        viewport_matrix_element_m00: 1.0,
        viewport_matrix_element_m11: 1.0,
        viewport_matrix_element_m22: 1.0,
        x_max_view_port: SIZE[0] as f32 - 1.0,
        y_max_view_port: SIZE[1] as f32 - 1.0,
        ..SfClipViewport::new()
    };
    model.put(DYNAMIC_STATE, &viewport.pack());
    (model, batch)
}

fn compare(draw: &Draw, what: &str) {
    let entry = BlendStateEntry::new();
    let (all, one) = (result(draw, entry, true), result(draw, entry, false));
    assert!(all.0.iter().any(|&byte| byte != 0x55), "{what}: nothing was drawn");
    assert!(all.0 == one.0, "{what}: memory differs");
    assert!(all.1.is_ok(), "{what}: {:?}", all.1);
    assert_eq!(all.1, one.1, "{what}");
    let counters = [true, false].map(|observed| {
        let (mut model, batch) = prepared(draw, entry);
        match observed {
            true => model.submit_observed(EngineId::Render, &batch, &mut Silent),
            false => model.render(&batch),
        }
        .unwrap();
        model.counters()
    });
    assert_eq!(counters[0], counters[1], "{what}");
}

const RECTANGLE: [[f32; 2]; 3] = [[200.0, 150.0], [0.0, 150.0], [0.0, 0.0]];
/// Its edges are inside of quads and of tiles of the screen.
const ODD: [[f32; 2]; 3] = [[187.0, 133.0], [3.0, 133.0], [3.0, 5.0]];
const TRIANGLE: [[f32; 2]; 3] = [[10.0, 3.0], [190.0, 60.5], [33.3, 149.0]];

#[test]
fn kernels_and_shapes() {
    let kernels = [EIGHT, SIXTEEN, REPLICATED, MASKED, POSITION];
    for (n, kernel) in kernels.into_iter().enumerate() {
        for (topology, corners) in [
            (Code::_3DPRIM_RECTLIST, RECTANGLE),
            (Code::_3DPRIM_RECTLIST, ODD),
            (Code::_3DPRIM_TRILIST, TRIANGLE),
        ] {
            let mut draw = draw(kernel, topology, &corners);
            target(&mut draw, SurfaceFormat::B8G8R8A8_UNORM, 4, Tile::XMAJOR, SIZE);
            compare(&draw, &format!("kernel {n}, {topology:?}, {corners:?}"));
        }
    }
}

#[test]
fn formats_and_tilings() {
    for (format, bytes) in [
        (SurfaceFormat::R8_UNORM, 1),
        (SurfaceFormat::B5G6R5_UNORM, 2),
        (SurfaceFormat::R8G8B8A8_UNORM_SRGB, 4),
        (SurfaceFormat::R16G16B16A16_FLOAT, 8),
        (SurfaceFormat::R32G32B32A32_FLOAT, 16),
        (SurfaceFormat::R32G32_UINT, 8),
    ] {
        for tile_mode in [Tile::LINEAR, Tile::XMAJOR, Tile::YMAJOR] {
            for size in [SIZE, [77, 70]] {
                let mut draw = draw(REPLICATED, Code::_3DPRIM_RECTLIST, &ODD);
                target(&mut draw, format, bytes, tile_mode, size);
                compare(&draw, &format!("{format:?}, {tile_mode:?}, {size:?}"));
            }
        }
    }
}

/// State with which an element depends on more than the colour.
#[test]
fn other_state() {
    let entries = [
        BlendStateEntry { write_disable_green: true, ..BlendStateEntry::new() },
        BlendStateEntry { color_buffer_blend_enable: true, ..BlendStateEntry::new() },
        BlendStateEntry { logic_op_enable: true, ..BlendStateEntry::new() },
    ];
    for (n, entry) in entries.into_iter().enumerate() {
        let mut draw = draw(SIXTEEN, Code::_3DPRIM_RECTLIST, &ODD);
        target(&mut draw, SurfaceFormat::R8G8B8A8_UNORM, 4, Tile::YMAJOR, SIZE);
        assert!(result(&draw, entry, true) == result(&draw, entry, false), "entry {n}");
    }
}

/// The target ends after the end of the mapped memory: the fault is the same, and so is memory
/// before it.
#[test]
fn a_missing_page() {
    let mut draw = draw(SIXTEEN, Code::_3DPRIM_RECTLIST, &ODD);
    target(&mut draw, SurfaceFormat::R8G8B8A8_UNORM, 4, Tile::XMAJOR, SIZE);
    draw.target.surface_base_address = at(TARGET + BYTES as u64 - 0x1_0000);
    let [all, one] = [true, false].map(|observed| result(&draw, BlendStateEntry::new(), observed));
    assert!(all.1.is_err() && all.1 == one.1, "{:?} {:?}", all.1, one.1);
    assert!(all.0 == one.0);
}
