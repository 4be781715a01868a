//! Surface states: fields, layouts and refused values.

use crate::rig::u;
use crate::texture::Texture;
use genxml::core::{Address, MinusOne, Shifted};
use genxml::gen8::state::SurfaceFormat as Gen8Format;
use genxml::gen45::enums::{SurfaceType, TileWalk};
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{SurfaceState, SurfaceStateExtent};
use genxml_sim::gen45::message::surface::resolve;
use genxml_sim::surface::{Codec, SurfaceKind};

/// Formats have the numbers and names of Gen8, whose decoding has its own oracles.
#[test]
fn formats() {
    let mut count = 0;
    for bits in 0..512 {
        let Some(name) = SurfaceFormat::from_bits(bits).name() else { continue };
        let other = Gen8Format::from_bits(bits);
        let same = other.name().unwrap_or_default();
        // The manual calls the one-bit format R1_UINT too.
        assert_eq!(name, same, "{bits:#x}");
        assert!(Codec::of(other).is_some(), "{name}");
        count += 1;
    }
    assert!(count >= 160, "{count}");
}

/// Compressed levels and slices: rows of blocks. Oracle: digests/gen45_facts 3 (h0 + h1 + 11 x 4
/// texel rows, alignment of one block).
#[test]
fn compressed_arrays() {
    for (height, expected) in [(16u64, 4 + 2 + 11), (10, 3 + 2 + 11), (1, 1 + 1 + 11)] {
        let state = SurfaceState {
            surface_format: SurfaceFormat::BC1_UNORM,
            extent: SurfaceStateExtent::Image {
                width: MinusOne::new(16).unwrap(),
                height: MinusOne::new(height).unwrap(),
                depth: MinusOne::new(3).unwrap(),
            },
            ..Texture::new(SurfaceType::SURFTYPE_2D, [16, 1, 1], 3).state()
        };
        let surface = resolve(&state).unwrap();
        let level = surface.layout.level(0);
        assert_eq!(surface.layout.slice(&level, 1, 0), [0, expected]);
        // Level 2 is on the right of level 1, whose width is two blocks.
        let second = surface.layout.level(2);
        assert_eq!([second.x, second.y], [2, (height as u32).div_ceil(4)]);
    }
}

/// The size of a buffer is split into 7, 13 and 7 bits (003:3234-3245).
#[test]
fn buffers() {
    for entries in [1u64, 128, 129, 1 << 20, (1 << 20) + 1, 1 << 27] {
        let last = entries - 1;
        let state = SurfaceState {
            surface_type: SurfaceType::SURFTYPE_BUFFER,
            surface_format: SurfaceFormat::R32G32B32A32_FLOAT,
            extent: SurfaceStateExtent::Buffer {
                width: u(last & 0x7f),
                height: u(last >> 7 & 0x1fff),
                depth: u(last >> 20),
            },
            surface_pitch: MinusOne::new(16).unwrap(),
            ..SurfaceState::new()
        };
        let surface = resolve(&state).unwrap();
        assert_eq!((surface.kind, u64::from(surface.width)), (SurfaceKind::Buffer, entries));
    }
}

/// The origin of a tiled surface moves by multiples of 4 texels and 2 rows (003:3311-3332).
#[test]
fn offsets() {
    let tiled = Texture {
        tiling: Some(TileWalk::TILEWALK_XMAJOR),
        ..Texture::new(SurfaceType::SURFTYPE_2D, [8, 8, 1], 1)
    };
    let state = SurfaceState {
        x_offset: Shifted::new(8).unwrap(),
        y_offset: Shifted::new(6).unwrap(),
        ..tiled.state()
    };
    let surface = resolve(&state).unwrap();
    assert_eq!((surface.left, surface.top), (8 * 16, 6));
    // In field mode the offset counts rows of a field.
    let field = SurfaceState { vertical_line_stride: u(1), ..state };
    assert_eq!(resolve(&field).unwrap().top, 12);
}

#[test]
fn refused() {
    let tiled = Texture {
        tiling: Some(TileWalk::TILEWALK_YMAJOR),
        ..Texture::new(SurfaceType::SURFTYPE_2D, [8, 8, 1], 1)
    };
    let good = tiled.state();
    assert!(resolve(&good).is_ok());
    let linear = Texture { tiling: None, ..tiled }.state();
    let array = Texture { depth: 2, tiling: None, ..tiled }.state();
    let cases = [
        (
            SurfaceState { surface_format: SurfaceFormat::from_bits(0x1ff), ..good },
            "Surface Format",
        ),
        (SurfaceState { surface_type: SurfaceType::from_bits(5), ..good }, "Surface Type"),
        (SurfaceState { surface_pitch: MinusOne::new(1000).unwrap(), ..good }, "Surface Pitch"),
        (SurfaceState { surface_base_address: Address::new(64).unwrap(), ..good }, "Base Address"),
        (SurfaceState { x_offset: Shifted::new(4).unwrap(), ..linear }, "X Offset"),
        (SurfaceState { vertical_line_stride: u(1), ..array }, "Vertical Line Stride"),
        (Texture { right: true, ..Texture { depth: 2, ..tiled } }.state(), "Layout Mode"),
        (Texture { kind: SurfaceType::SURFTYPE_CUBE, depth: 2, ..tiled }.state(), "Depth"),
    ];
    for (state, field) in cases {
        let bad = resolve(&state).unwrap_err();
        assert!(bad.field.contains(field), "{bad}");
    }
}
