//! Resolves surface states: base, extent, order of bytes, and the levels and slices that can be
//! accessed.

use super::TileMode;
use super::format::{Class, Codec};
use super::layout::{Dimension, Layout, Level};
use crate::assumptions::LEVELS_WITHOUT_ALIGNMENT_ALIGN_TO;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateAuxiliary, RenderSurfaceStateAuxiliarySurfaceMode,
    RenderSurfaceStateExtent, RenderSurfaceStateRenderTargetAndSampleUnormRotation as Rotation,
    RenderSurfaceStateView, ShaderChannelSelect, SurfaceFormat, SurfaceType,
};
use std::fmt;

/// Kinds of surfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SurfaceKind {
    /// No memory: reads return 0, writes are dropped.
    #[default]
    Null,
    /// A row of elements.
    Buffer,
    /// A row of structures, accessed by index and offset.
    Structured,
    /// Levels, slices and samples; [`Layout`] describes where they lie.
    Image,
}

/// Purposes of auxiliary surfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AuxiliaryKind {
    /// There is no auxiliary surface.
    #[default]
    None,
    /// Multisample control: where each sample is stored, or which blocks are cleared.
    Mcs,
    /// A counter for append and consume.
    Append,
    /// Hierarchical depth.
    Hiz,
}

/// The auxiliary surface. Messages to the data port use only the counter of the kind `Append`
/// (gen8_facts 8.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Auxiliary {
    /// Purpose of the auxiliary surface.
    pub kind: AuxiliaryKind,
    /// Graphics address of its first byte.
    pub base: u64,
    /// Bytes from a row to the next, for a surface in Y tiles.
    pub pitch: u32,
    /// Rows from a slice to the next.
    pub qpitch: u32,
}

/// A resolved surface, as shared functions use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surface {
    /// Kind of the surface.
    pub kind: SurfaceKind,
    /// Graphics address of the first byte.
    pub base: u64,
    /// Width of level 0 in texels; for a buffer, number of entries.
    pub width: u32,
    /// Height of level 0 in texels; 1 for a buffer. If the surface skips lines, the height of one
    /// field.
    pub height: u32,
    /// Bytes from a row to the next; bytes from an entry to the next for a buffer.
    pub pitch: u32,
    /// Order of bytes.
    pub tile_mode: TileMode,
    /// Bytes of an element, or of a block of compressed texels.
    pub element_bytes: u32,
    /// Format of an element.
    pub format: SurfaceFormat,
    /// How elements are read and written; `None` for a null surface whose format does not exist.
    pub codec: Option<&'static Codec>,
    /// X Offset: texels from the left edge of the memory to the surface.
    pub x_offset: u32,
    /// X Offset in bytes.
    pub left: u32,
    /// Y Offset: rows from the top of the memory to the surface.
    pub top: u32,
    /// Number of lines of memory skipped between two rows: 0, or 1 for a field of an interlaced
    /// picture.
    pub line_stride: u32,
    /// Line of memory of the first row: 0 or 1. Always 0 if no lines are skipped.
    pub line_offset: u32,
    /// Where levels, slices and samples lie.
    pub layout: Layout,
    /// True if the surface is an array: a coordinate chooses the slice.
    pub array: bool,
    /// First level that the sampler and typed messages can access (Surface Min LOD).
    pub first_level: u32,
    /// Number of levels that the sampler and typed messages can access, minus one. For a render
    /// target, the number of the level that is written.
    pub mip_count: u32,
    /// First slice that can be accessed (Minimum Array Element).
    pub first_slice: u32,
    /// Number of slices: of an array from `first_slice` on (six for each cube), or of level 0 of a
    /// volume. 1 for other images.
    pub slices: u32,
    /// Number of slices that render targets and typed messages can access (Render Target View
    /// Extent).
    pub view_extent: u32,
    /// How render targets are rotated when they are written (Render Target And Sample Unorm
    /// Rotation).
    pub rotation: Rotation,
    /// Sources of red, green, blue and alpha: a channel of the surface, 0 or 1.
    pub select: [ShaderChannelSelect; 4],
    /// Clear colour: each channel is 0 or 1.
    pub clear: [bool; 4],
    /// The auxiliary surface.
    pub auxiliary: Auxiliary,
    /// First column and row of the plane in which U and V of a planar format alternate, from the
    /// start of the surface (2d p.344).
    pub chroma: [u32; 2],
}

impl Default for Surface {
    /// A null surface that does not swap channels.
    fn default() -> Surface {
        Surface {
            kind: SurfaceKind::Null,
            base: 0,
            width: 0,
            height: 0,
            pitch: 0,
            tile_mode: TileMode::Linear,
            element_bytes: 1,
            format: SurfaceFormat::RAW,
            codec: None,
            x_offset: 0,
            left: 0,
            top: 0,
            line_stride: 0,
            line_offset: 0,
            layout: Layout::default(),
            array: false,
            first_level: 0,
            mip_count: 0,
            first_slice: 0,
            slices: 1,
            view_extent: 1,
            rotation: Rotation::_0DEG,
            select: [
                ShaderChannelSelect::RED,
                ShaderChannelSelect::GREEN,
                ShaderChannelSelect::BLUE,
                ShaderChannelSelect::ALPHA,
            ],
            clear: [false; 4],
            auxiliary: Auxiliary::default(),
            chroma: [0; 2],
        }
    }
}

/// A surface state that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct BadSurface {
    /// The field of RENDER_SURFACE_STATE.
    pub field: &'static str,
    /// The value of the field.
    pub value: u64,
    /// What is wrong with the value.
    pub why: &'static str,
}

genxml_core::debug_as_display!(BadSurface);

impl fmt::Display for BadSurface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a surface with {} = {:#x}: {}", self.field, self.value, self.why)
    }
}

fn wrong(field: &'static str, value: u64, why: &'static str) -> BadSurface {
    BadSurface { field, value, why }
}

impl Surface {
    /// Resolves a surface state.
    ///
    /// # Errors
    /// [`BadSurface`] names a field with an invalid value, for example a format or type that does
    /// not exist, a pitch or base that does not fit the tiles, or a distance of 0 between slices.
    pub fn resolve(state: &RenderSurfaceState) -> Result<Surface, BadSurface> {
        let format = state.surface_format;
        let codec = Codec::of(format);
        let null = state.surface_type == SurfaceType::SURFTYPE_NULL;
        if codec.is_none() && !null {
            return Err(wrong("Surface Format", format.bits(), "the format does not exist"));
        }
        let element_bytes = codec.map_or(1, |codec| codec.format().bytes());
        let x_offset = state.x_offset.get() as u32;
        let surface = Surface {
            base: state.surface_base_address.va48(),
            pitch: state.surface_pitch.get() as u32,
            tile_mode: tile_mode(state),
            element_bytes,
            format,
            codec,
            x_offset,
            left: x_offset * element_bytes,
            top: state.y_offset.get() as u32,
            line_stride: state.vertical_line_stride.get() as u32,
            // The offset is ignored without a stride (2d p.328).
            line_offset: (state.vertical_line_stride.get()
                & state.vertical_line_stride_offset.get()) as u32,
            first_level: state.surface_min_lod.get() as u32,
            mip_count: state.mip_count_lod.get() as u32,
            rotation: rotation(state),
            select: [
                state.shader_channel_select_red,
                state.shader_channel_select_green,
                state.shader_channel_select_blue,
                state.shader_channel_select_alpha,
            ],
            clear: [
                state.red_clear_color,
                state.green_clear_color,
                state.blue_clear_color,
                state.alpha_clear_color,
            ]
            .map(|color| color.bits() != 0),
            auxiliary: auxiliary(state),
            chroma: if null { [0; 2] } else { chroma(state)? },
            ..Surface::default()
        };
        match state.extent {
            _ if null => Ok(surface),
            RenderSurfaceStateExtent::Buffer { height, width, depth } => {
                let entries = (width.get() | height.get() << 7 | depth.get() << 21) + 1;
                surface.buffer(state, entries as u32)
            }
            RenderSurfaceStateExtent::Image { height, width, depth } => {
                surface.image(state, width.get() as u32, height.get() as u32, depth.get() as u32)
            }
        }
    }

    fn buffer(self, state: &RenderSurfaceState, entries: u32) -> Result<Surface, BadSurface> {
        if self.tile_mode != TileMode::Linear {
            return Err(wrong("Tile Mode", state.tile_mode.bits(), "a buffer cannot be tiled"));
        }
        if self
            .codec
            .is_some_and(|codec| !matches!(codec.format().class, Class::Channels | Class::Raw))
        {
            let why = "buffers cannot have compressed or YUV formats";
            return Err(wrong("Surface Format", self.format.bits(), why));
        }
        let kind = match state.surface_type {
            SurfaceType::SURFTYPE_STRBUF => SurfaceKind::Structured,
            _ => SurfaceKind::Buffer,
        };
        Ok(Surface { kind, width: entries, height: 1, ..self })
    }

    fn image(
        self,
        state: &RenderSurfaceState,
        width: u32,
        height: u32,
        depth: u32,
    ) -> Result<Surface, BadSurface> {
        let dimension = match state.surface_type {
            SurfaceType::SURFTYPE_1D => Dimension::One,
            SurfaceType::SURFTYPE_2D => Dimension::Two,
            SurfaceType::SURFTYPE_3D => Dimension::Three,
            SurfaceType::SURFTYPE_CUBE => Dimension::Cube,
            other => return Err(wrong("Surface Type", other.bits(), "the type does not exist")),
        };
        let volume = dimension == Dimension::Three;
        let (first_slice, view_extent, samples, interleaved) = view(state)?;
        if samples > 1 && dimension != Dimension::Two {
            let why = "only two-dimensional surfaces have several samples";
            return Err(wrong("Number of Multisamples", samples.ilog2().into(), why));
        }
        if self.line_stride != 0 && (dimension != Dimension::Two || state.surface_array) {
            let why = "only two-dimensional surfaces that are not arrays can skip lines";
            return Err(wrong("Vertical Line Stride", 1, why));
        }
        let slices = match dimension {
            Dimension::Cube => depth * 6,
            Dimension::Three => depth,
            _ if state.surface_array => depth,
            _ => 1,
        };
        let (compressed, block) = match self.codec.map(Codec::format) {
            Some(format) => (format.class == Class::Compressed, format.block.map(u32::from)),
            None => (false, [1, 1]),
        };
        let align = match compressed {
            // The alignment fields do not apply to compressed formats: each level starts with a new
            // block (2d p.325-326).
            true => [1, 1],
            false => [
                alignment(state.surface_horizontal_alignment.bits()),
                alignment(state.surface_vertical_alignment.bits()),
            ],
        };
        let distant =
            state.surface_array || dimension == Dimension::Cube || samples > 1 && !interleaved;
        // Surface QPitch counts rows of texels, `qpitch` counts rows of elements (2d p.333).
        let qpitch =
            if distant && !volume { state.surface_qpitch.get() as u32 / block[1] } else { 0 };
        if distant && !volume && qpitch == 0 && slices * samples > 1 {
            return Err(wrong("Surface QPitch", 0, "slices need a distance other than 0"));
        }
        let layout = Layout {
            dimension,
            width,
            height,
            depth: if volume { depth } else { 1 },
            block,
            align,
            qpitch,
            samples,
            interleaved: interleaved && samples > 1,
            ..Layout::default()
        };
        let surface = Surface {
            kind: SurfaceKind::Image,
            width,
            height,
            layout,
            array: state.surface_array && !volume,
            first_slice,
            slices,
            view_extent,
            ..self
        };
        surface.check_tiles(state)?;
        Ok(surface)
    }

    /// Checks a tiled surface: its pitch must be a multiple of the tile's width, its base must be
    /// page-aligned (2d p.337 and p.350), and in W tiles its elements must have one byte.
    fn check_tiles(&self, state: &RenderSurfaceState) -> Result<(), BadSurface> {
        if self.tile_mode == TileMode::Linear {
            return Ok(());
        }
        if !self.pitch.is_multiple_of(self.tile_mode.pitch_unit()) {
            let why = "the pitch of a tiled surface must be a multiple of the tile's width";
            return Err(wrong("Surface Pitch", self.pitch.into(), why));
        }
        if !self.base.is_multiple_of(4096) {
            return Err(wrong(
                "Surface Base Address",
                self.base,
                "a tiled surface must be 4 KiB aligned",
            ));
        }
        if self.tile_mode == TileMode::W && self.element_bytes != 1 {
            return Err(wrong(
                "Tile Mode",
                state.tile_mode.bits(),
                "W tiling needs elements of one byte",
            ));
        }
        Ok(())
    }

    /// Graphics address of byte `x` of row `y` in the plane of rows. The position may lie outside
    /// the surface.
    #[inline(always)]
    pub fn address(&self, x: i64, y: i64) -> u64 {
        let y = (y << self.line_stride) + i64::from(self.line_offset);
        let (x, y) = (x + i64::from(self.left), y + i64::from(self.top));
        self.base.wrapping_add(self.tile_mode.offset(x, y, i64::from(self.pitch)) as u64)
    }

    /// Number of bytes in a row of elements of level 0.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.width.div_ceil(self.layout.block[0])) * u64::from(self.element_bytes)
    }

    /// The level that typed messages and the sampler's `ld` access with `lod`; `None` if the
    /// surface does not have this level.
    #[inline]
    pub fn level(&self, lod: u32) -> Option<Level> {
        (lod <= self.mip_count && self.first_level + lod <= 14)
            .then(|| self.layout.level(self.first_level + lod))
    }

    /// First byte and row of a slice of a level in the plane of rows, for [`Surface::address`].
    #[inline(always)]
    pub fn origin(&self, level: &Level, slice: u32, sample: u32) -> (i64, i64) {
        let [column, row] = self.layout.slice(level, slice, sample);
        (i64::from(column) * i64::from(self.element_bytes), i64::from(row))
    }

    /// Graphics address of the element that holds a texel. The texel must lie inside its level.
    pub fn texel(&self, level: &Level, slice: u32, x: u32, y: u32, sample: u32) -> u64 {
        let (left, top) = self.origin(level, slice, sample);
        let [x, y] =
            if self.layout.interleaved { self.layout.interleave(x, y, sample) } else { [x, y] };
        let [across, down] = self.layout.block;
        let x = left + i64::from(x / across) * i64::from(self.element_bytes);
        self.address(x, top + i64::from(y / down))
    }
}

/// Minimum Array Element, Render Target View Extent, number of samples, and whether the samples are
/// interleaved.
fn view(state: &RenderSurfaceState) -> Result<(u32, u32, u32, bool), BadSurface> {
    let RenderSurfaceStateView::Image {
        minimum_array_element,
        render_target_view_extent,
        multisampled_surface_storage_format,
        number_of_multisamples,
        ..
    } = state.view
    else {
        return Ok((0, 1, 1, false));
    };
    let samples = number_of_multisamples.bits();
    if samples > 3 {
        return Err(wrong(
            "Number of Multisamples",
            samples,
            "the number of samples does not exist",
        ));
    }
    Ok((
        minimum_array_element.get() as u32,
        render_target_view_extent.get() as u32,
        1 << samples,
        multisampled_surface_storage_format.bits() == 1,
    ))
}

fn rotation(state: &RenderSurfaceState) -> Rotation {
    match state.view {
        RenderSurfaceStateView::Image { render_target_and_sample_unorm_rotation, .. } => {
            render_target_and_sample_unorm_rotation
        }
        _ => Rotation::_0DEG,
    }
}

/// Decodes Surface Horizontal or Vertical Alignment to a number of elements.
fn alignment(code: u64) -> u32 {
    match code {
        0 => LEVELS_WITHOUT_ALIGNMENT_ALIGN_TO,
        code => 2 << code,
    }
}

fn auxiliary(state: &RenderSurfaceState) -> Auxiliary {
    let RenderSurfaceStateAuxiliary::Surface {
        auxiliary_surface_mode,
        auxiliary_surface_base_address,
        auxiliary_surface_pitch,
        auxiliary_surface_qpitch,
        ..
    } = state.auxiliary
    else {
        return Auxiliary::default();
    };
    let kind = match auxiliary_surface_mode {
        RenderSurfaceStateAuxiliarySurfaceMode::AUX_MCS => AuxiliaryKind::Mcs,
        RenderSurfaceStateAuxiliarySurfaceMode::AUX_APPEND => AuxiliaryKind::Append,
        RenderSurfaceStateAuxiliarySurfaceMode::AUX_HIZ => AuxiliaryKind::Hiz,
        _ => return Auxiliary::default(),
    };
    Auxiliary {
        kind,
        base: auxiliary_surface_base_address.va48(),
        pitch: auxiliary_surface_pitch.get() as u32 * TileMode::Y.width(),
        qpitch: auxiliary_surface_qpitch.get() as u32,
    }
}

/// First column and row of the plane of U and V of a planar format.
fn chroma(state: &RenderSurfaceState) -> Result<[u32; 2], BadSurface> {
    let RenderSurfaceStateAuxiliary::Planar {
        separate_uv_plane_enable,
        x_offset_for_u_or_uv_plane,
        y_offset_for_u_or_uv_plane,
        ..
    } = state.auxiliary
    else {
        return Ok([0; 2]);
    };
    if separate_uv_plane_enable {
        let why = "hardware does not support separate planes of U and V (2d p.343)";
        return Err(wrong("Separate UV Plane Enable", 1, why));
    }
    Ok([x_offset_for_u_or_uv_plane.get() as u32, y_offset_for_u_or_uv_plane.get() as u32])
}

fn tile_mode(state: &RenderSurfaceState) -> TileMode {
    use genxml::gen8::state::TileMode as Stored;
    match state.tile_mode {
        Stored::LINEAR => TileMode::Linear,
        Stored::XMAJOR => TileMode::X,
        Stored::YMAJOR => TileMode::Y,
        _ => TileMode::W,
    }
}
