//! Tests of resolved surface states. Tests of formats, tilings and layouts are in
//! `tests/cases/surfaces`.

use super::*;
use genxml::core::{Address, MinusOne, Space, U, lit};
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateAuxiliary, RenderSurfaceStateAuxiliarySurfaceMode,
    RenderSurfaceStateExtent, RenderSurfaceStateView, SurfaceFormat, SurfaceType,
    TileMode as Stored,
};

fn at<SP: Space, const ALIGN: u64, const N: u32>(address: u64) -> Address<SP, ALIGN, N> {
    Address::new(address).unwrap()
}

fn u<const N: u32>(value: u64) -> U<N> {
    U::new(value).unwrap()
}

fn image() -> RenderSurfaceState {
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8G8B8A8_UNORM,
        tile_mode: Stored::YMAJOR,
        surface_pitch: lit!(512),
        surface_base_address: at(0xffff_8000_0000_0000),
        extent: RenderSurfaceStateExtent::Image {
            height: lit!(64),
            width: lit!(100),
            depth: MinusOne::ONE,
        },
        ..RenderSurfaceState::new()
    }
}

#[test]
fn images() {
    let surface = Surface::resolve(&image()).unwrap();
    assert_eq!((surface.kind, surface.tile_mode), (SurfaceKind::Image, TileMode::Y));
    assert_eq!(
        (surface.width, surface.height, surface.pitch, surface.element_bytes),
        (100, 64, 512, 4)
    );
    // The byte lies in the second row of four tiles, there in the second tile, in the third column
    // of 16 bytes, and there in byte 1 of row 1.
    assert_eq!(surface.address(128 + 33, 33), 0x8000_0000_0000 + 5 * 4096 + 2 * 512 + 16 + 1);
    let moved = RenderSurfaceState { x_offset: lit!(4), y_offset: lit!(8), ..image() };
    let moved = Surface::resolve(&moved).unwrap();
    assert_eq!(moved.address(0, 0), surface.address(16, 8));
    let field = RenderSurfaceState { vertical_line_stride: lit!(1), ..image() };
    let field = Surface::resolve(&field).unwrap();
    assert_eq!(field.address(3, 5), surface.address(3, 10));
    let odd = RenderSurfaceState {
        vertical_line_stride: lit!(1),
        vertical_line_stride_offset: lit!(1),
        ..image()
    };
    assert_eq!(Surface::resolve(&odd).unwrap().address(3, 5), surface.address(3, 11));
}

#[test]
fn buffers() {
    let buffer = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_BUFFER,
        surface_format: SurfaceFormat::RAW,
        tile_mode: Stored::LINEAR,
        surface_pitch: lit!(1),
        extent: RenderSurfaceStateExtent::Buffer { height: u(0x3fff), width: u(0x7f), depth: u(1) },
        ..RenderSurfaceState::new()
    };
    let surface = Surface::resolve(&buffer).unwrap();
    assert_eq!((surface.kind, surface.width, surface.height), (SurfaceKind::Buffer, 0x40_0000, 1));
    let structured = RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_STRBUF,
        surface_pitch: lit!(12),
        view: RenderSurfaceStateView::Structured {},
        ..buffer
    };
    let structured = Surface::resolve(&structured).unwrap();
    assert_eq!((structured.kind, structured.pitch), (SurfaceKind::Structured, 12));
}

#[test]
fn auxiliary_surfaces_are_described() {
    let state = RenderSurfaceState {
        auxiliary: RenderSurfaceStateAuxiliary::Surface {
            auxiliary_surface_mode: RenderSurfaceStateAuxiliarySurfaceMode::AUX_MCS,
            auxiliary_surface_base_address: at(0x12_3000),
            auxiliary_surface_pitch: lit!(3),
            auxiliary_surface_qpitch: lit!(128),
        },
        ..image()
    };
    let expected =
        Auxiliary { kind: AuxiliaryKind::Mcs, base: 0x12_3000, pitch: 3 * 128, qpitch: 128 };
    assert_eq!(Surface::resolve(&state).unwrap().auxiliary, expected);
}

#[test]
fn planes_of_chroma_are_described() {
    let planes = |separate_uv_plane_enable| RenderSurfaceState {
        surface_format: SurfaceFormat::PLANAR_420_8,
        auxiliary: RenderSurfaceStateAuxiliary::Planar {
            separate_uv_plane_enable,
            x_offset_for_u_or_uv_plane: u(0),
            y_offset_for_u_or_uv_plane: u(64),
            x_offset_for_v_plane: u(4),
            y_offset_for_v_plane: u(96),
        },
        ..image()
    };
    let surface = Surface::resolve(&planes(false)).unwrap();
    assert_eq!(surface.chroma, [0, 64]);
    assert_eq!((surface.element_bytes, surface.auxiliary.kind), (1, AuxiliaryKind::None));
    // Separate planes are not supported (2d p.343).
    assert_eq!(Surface::resolve(&planes(true)).unwrap_err().field, "Separate UV Plane Enable");
}

/// Oracle: the table of output channels, 003:3634 to 3636.
#[test]
fn texels_of_planes_have_chroma_around_luma() {
    let class = Format::of(SurfaceFormat::PLANAR_420_8).unwrap().class;
    let texel = format::codec::decode_planes(class, 255, 51, 0).unwrap();
    assert_eq!(texel.map(f32::from_bits), [0.0, 1.0, 0.2, 1.0]);
    assert_eq!(format::codec::decode_planes(format::Class::Channels, 0, 0, 0), None);
}

#[test]
fn invalid_states_name_the_field() {
    let field = |state: RenderSurfaceState| Surface::resolve(&state).unwrap_err().field;
    let extent =
        RenderSurfaceStateExtent::Image { height: lit!(64), width: lit!(100), depth: lit!(2) };
    assert_eq!(
        field(RenderSurfaceState { extent, surface_array: true, ..image() }),
        "Surface QPitch"
    );
    assert_eq!(field(RenderSurfaceState { surface_pitch: lit!(500), ..image() }), "Surface Pitch");
    assert_eq!(
        field(RenderSurfaceState { surface_base_address: at(64), ..image() }),
        "Surface Base Address"
    );
    assert_eq!(
        field(RenderSurfaceState { surface_format: SurfaceFormat::from_bits(0x1a0), ..image() }),
        "Surface Format"
    );
    assert_eq!(field(RenderSurfaceState { tile_mode: Stored::WMAJOR, ..image() }), "Tile Mode");
    let null = RenderSurfaceState { surface_type: SurfaceType::SURFTYPE_NULL, ..image() };
    assert_eq!(Surface::resolve(&null).unwrap().kind, SurfaceKind::Null);
}
