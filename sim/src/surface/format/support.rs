//! Formats that typed messages of the data port support (Mesa, isl_format.c, columns TW, TR and TA
//! for generation 8; gen8_facts 4.6).

use genxml::gen8::state::SurfaceFormat;

/// Formats that typed reads support. Only the sampler can read the other formats.
pub const TYPED_READ: [SurfaceFormat; 9] = [
    SurfaceFormat::R16G16B16A16_UINT,
    SurfaceFormat::R8G8B8A8_UINT,
    SurfaceFormat::R16G16_UINT,
    SurfaceFormat::R32_SINT,
    SurfaceFormat::R32_UINT,
    SurfaceFormat::R32_FLOAT,
    SurfaceFormat::R8G8_UINT,
    SurfaceFormat::R16_UINT,
    SurfaceFormat::R8_UINT,
];

/// Formats that typed writes support.
pub const TYPED_WRITE: [SurfaceFormat; 46] = [
    SurfaceFormat::R32G32B32A32_FLOAT,
    SurfaceFormat::R32G32B32A32_SINT,
    SurfaceFormat::R32G32B32A32_UINT,
    SurfaceFormat::R16G16B16A16_UNORM,
    SurfaceFormat::R16G16B16A16_SNORM,
    SurfaceFormat::R16G16B16A16_SINT,
    SurfaceFormat::R16G16B16A16_UINT,
    SurfaceFormat::R16G16B16A16_FLOAT,
    SurfaceFormat::R32G32_FLOAT,
    SurfaceFormat::R32G32_SINT,
    SurfaceFormat::R32G32_UINT,
    SurfaceFormat::B8G8R8A8_UNORM,
    SurfaceFormat::R10G10B10A2_UNORM,
    SurfaceFormat::R10G10B10A2_UINT,
    SurfaceFormat::R8G8B8A8_UNORM,
    SurfaceFormat::R8G8B8A8_SNORM,
    SurfaceFormat::R8G8B8A8_SINT,
    SurfaceFormat::R8G8B8A8_UINT,
    SurfaceFormat::R16G16_UNORM,
    SurfaceFormat::R16G16_SNORM,
    SurfaceFormat::R16G16_SINT,
    SurfaceFormat::R16G16_UINT,
    SurfaceFormat::R16G16_FLOAT,
    SurfaceFormat::B10G10R10A2_UNORM,
    SurfaceFormat::R11G11B10_FLOAT,
    SurfaceFormat::R32_SINT,
    SurfaceFormat::R32_UINT,
    SurfaceFormat::R32_FLOAT,
    SurfaceFormat::B5G6R5_UNORM,
    SurfaceFormat::B5G5R5A1_UNORM,
    SurfaceFormat::B4G4R4A4_UNORM,
    SurfaceFormat::R8G8_UNORM,
    SurfaceFormat::R8G8_SNORM,
    SurfaceFormat::R8G8_SINT,
    SurfaceFormat::R8G8_UINT,
    SurfaceFormat::R16_UNORM,
    SurfaceFormat::R16_SNORM,
    SurfaceFormat::R16_SINT,
    SurfaceFormat::R16_UINT,
    SurfaceFormat::R16_FLOAT,
    SurfaceFormat::B5G5R5X1_UNORM,
    SurfaceFormat::R8_UNORM,
    SurfaceFormat::R8_SNORM,
    SurfaceFormat::R8_SINT,
    SurfaceFormat::R8_UINT,
    SurfaceFormat::A8_UNORM,
];

/// Formats that typed atomic operations support.
pub const TYPED_ATOMIC: [SurfaceFormat; 2] = [SurfaceFormat::R32_SINT, SurfaceFormat::R32_UINT];
