//! A surface through a sampler: all that a message about texels needs, resolved once.

use super::address::Rule;
use super::border;
use super::key::Key;
use super::lod::Chooser;
use super::quick::Quick;
use super::state::{MapFilter, Sampler, Wrap};
use crate::surface::format::codec::Value;
use crate::surface::format::{Class, Codec, Encoding, Format, Letter, Numeric};
use crate::surface::{Dimension, Surface, SurfaceKind, TileMode};
use genxml::gen8::state::{RenderSurfaceState, ShaderChannelSelect, ThreeDPrefilterOperation};

/// Levels that a surface has at most (2d p.343).
pub const MOST_LEVELS: usize = 15;
/// The faces of a cube map.
pub const FACES: u32 = 6;

/// A level of a surface, in bytes and rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Width, height and depth in texels.
    pub size: [i32; 3],
    /// First byte.
    pub left: i64,
    /// First row.
    pub top: i64,
    /// Bytes and rows to the next slice of a volume to the right, and to the next one below.
    slice: [i64; 2],
    /// Slices of a volume side by side, as a power of two.
    across: u32,
}

/// Where the first texel of a slice lies: byte and row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// Byte.
    pub left: i64,
    /// Row.
    pub top: i64,
}

/// How texels lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// There is nothing: zeros.
    Nothing,
    /// Elements of so many bytes, a power of two, of which none crosses a tile.
    Elements(u32),
    /// Elements of 3, 6 or 12 bytes.
    Odd(u32),
    /// Elements of less than a byte: so many bits.
    Bits(u32),
    /// Pairs of pixels that share their chroma.
    Yuv,
    /// Luma in one plane, chroma in another.
    Planar,
    /// Blocks of compressed texels: their width and height as powers of two.
    Blocks([u32; 2]),
}

/// A surface and a sampler.
#[derive(Clone, Debug)]
pub struct View {
    /// The surface.
    pub surface: Surface,
    /// The sampler.
    pub sampler: Sampler,
    /// How levels are chosen.
    pub chooser: Chooser,
    /// Levels, from the first that can be reached on.
    pub places: [Place; MOST_LEVELS],
    /// How texels lie in memory.
    pub source: Source,
    /// How their bits are read.
    pub codec: Option<&'static Codec>,
    /// Floats or integers.
    pub numeric: Numeric,
    /// Colours that palette indices stand for.
    pub palette: Option<Box<[Value; 256]>>,
    /// The format has an alpha of its own beside a palette index.
    pub palette_keeps_alpha: bool,
    /// Channels that the format lacks and that are 1 for this sampler (DX9).
    pub ones: [bool; 4],
    /// The border colour.
    pub border: Value,
    /// The chroma key.
    pub key: Option<Key>,
    /// Faces of a cube map that are there.
    pub faces: [bool; FACES as usize],
    /// Modes of U, V and R, with what overrides them.
    pub wrap: [Wrap; 3],
    /// Filters where the map is shrunk, and where it is enlarged.
    pub filters: [MapFilter; 2],
    /// Layers of an array, or cubes.
    pub layers: u32,
    /// Width and height of the filter MONO.
    pub mono: [u32; 2],
    /// The channel that is compared with a reference.
    pub compared: usize,
    /// The short way, for samples without a comparison.
    pub quick: Option<Quick>,
    /// References clamp to 0 and 1.
    pub clamps_reference: bool,
}

/// What a view is made of beside surface and sampler.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// The border colour.
    pub border: Value,
    /// The chroma key.
    pub key: Option<Key>,
    /// Colours that palette indices stand for.
    pub palette: Option<Box<[Value; 256]>>,
    /// Width and height of the filter MONO.
    pub mono: [u32; 2],
}

/// What lies outside of the map in each direction.
fn wrap(surface: &Surface, sampler: &Sampler) -> [Wrap; 3] {
    let cube = surface.layout.dimension == Dimension::Cube;
    if cube && sampler.cube_override { [Wrap::Cube; 3] } else { sampler.wrap }
}

/// Which faces of a cube map there are; those that are disabled have the border colour.
fn faces(state: &RenderSurfaceState) -> [bool; FACES as usize] {
    [
        state.cube_face_enable_positive_x,
        state.cube_face_enable_negative_x,
        state.cube_face_enable_positive_y,
        state.cube_face_enable_negative_y,
        state.cube_face_enable_positive_z,
        state.cube_face_enable_negative_z,
    ]
}

impl View {
    /// A surface through a sampler.
    pub fn new(
        state: &RenderSurfaceState,
        surface: &Surface,
        sampler: &Sampler,
        extras: Extras,
    ) -> View {
        let (surface, sampler) = (*surface, *sampler);
        let format = surface.codec.map(Codec::format);
        let numeric = format.map_or(Numeric::Float, |format| format.numeric);
        let mut places = [Place::default(); MOST_LEVELS];
        for (n, place) in places.iter_mut().enumerate() {
            if let Some(level) =
                surface.level(n as u32).filter(|_| surface.kind == SurfaceKind::Image)
            {
                *place = Place::new(&surface, &level);
            }
        }
        let cube = surface.layout.dimension == Dimension::Cube;
        let wrap = wrap(&surface, &sampler);
        // The filters of integers are undefined: one texel (2d p.398).
        let filter = |filter| match numeric {
            Numeric::Float => filter,
            _ => MapFilter::Nearest,
        };
        let resource = state.resource_min_lod.bits() as i32 - 256 * surface.first_level as i32;
        let base = (state.base_mip_level.get() * 256.0) as i32;
        let last =
            surface.mip_count.min((MOST_LEVELS as u32 - 1).saturating_sub(surface.first_level));
        let list = format.map_or(&[][..], Format::channels);
        let has = |letter| list.iter().any(|channel| channel.letter == letter);
        let filters = [filter(sampler.min), filter(sampler.mag)];
        let quick = Quick::of(&surface, wrap, filters)
            .filter(|_| extras.key.is_none() && places[0].size[0] > 0);
        View {
            surface,
            sampler,
            chooser: Chooser::new(&sampler, last, resource.max(0), base),
            places,
            // A first level that is no level: there is nothing to be reached.
            source: match places[0].size[0] {
                0 if surface.kind == SurfaceKind::Image => Source::Nothing,
                _ => source(&surface),
            },
            codec: surface.codec,
            numeric,
            palette: extras.palette,
            palette_keeps_alpha: has(Letter::A),
            // 003:3550-3640: red, green and blue that are missing beside a red.
            ones: [false, !has(Letter::G), !has(Letter::B), false]
                .map(|lacks| lacks && sampler.dx9 && has(Letter::R) && numeric == Numeric::Float),
            border: extras.border,
            key: extras.key,
            faces: faces(state),
            wrap,
            filters,
            quick,
            layers: if cube { surface.slices / FACES } else { surface.slices },
            mono: extras.mono,
            // "the texture sample red channel (except for alpha-only formats which use the alpha
            // channel)" (2d p.402)
            compared: if has(Letter::A)
                && list.iter().all(|c| matches!(c.letter, Letter::A | Letter::X))
            {
                3
            } else {
                0
            },
            clamps_reference: list
                .first()
                .is_some_and(|channel| channel.encoding == Encoding::Unorm),
        }
    }

    /// True if some texel may have the border colour.
    pub fn has_border(state: &RenderSurfaceState, surface: &Surface, sampler: &Sampler) -> bool {
        let dimension = surface.layout.dimension;
        let hidden = dimension == Dimension::Cube && faces(state).contains(&false);
        let directions = match dimension {
            Dimension::One => 1,
            Dimension::Two | Dimension::Cube => 2,
            Dimension::Three => 3,
        };
        let borders = |wrap: &Wrap| matches!(wrap, Wrap::Border | Wrap::HalfBorder);
        surface.kind == SurfaceKind::Image
            && (hidden || wrap(surface, sampler)[..directions].iter().any(borders))
    }

    /// What a level's size is and where it begins.
    #[inline(always)]
    pub fn place(&self, level: u8) -> &Place {
        &self.places[usize::from(level).min(MOST_LEVELS - 1)]
    }

    /// How texels of a direction (U, V or R) are found for a level.
    #[inline(always)]
    pub fn rule(
        &self,
        place: &Place,
        direction: usize,
        magnified: bool,
        linear: bool,
        offset: i32,
    ) -> Rule {
        Rule {
            size: place.size[direction],
            wrap: self.wrap[direction],
            round: self.sampler.round[usize::from(magnified)][direction],
            linear,
            normalized: self.sampler.normalized,
            offset,
        }
    }

    /// Where slice `slice` of a level begins: of a volume its own, of others that of the array,
    /// from its beginning in memory.
    #[inline(always)]
    pub fn origin(&self, place: &Place, slice: u32, sample: u32) -> Origin {
        let layout = &self.surface.layout;
        if layout.dimension == Dimension::Three {
            let (right, down) = (slice & ((1 << place.across) - 1), slice >> place.across);
            return Origin {
                left: place.left + i64::from(right) * place.slice[0],
                top: place.top + i64::from(down) * place.slice[1],
            };
        }
        let planes = if layout.interleaved { 1 } else { layout.samples };
        let sample = if layout.interleaved { 0 } else { sample };
        let rows = i64::from(slice * planes + sample) * i64::from(layout.qpitch);
        Origin { left: place.left, top: place.top + rows }
    }

    /// Zero, one, or a channel of a texel, as a Shader Channel Select says (2d p.347).
    #[inline(always)]
    pub fn select(&self, select: ShaderChannelSelect, texel: &Value) -> u32 {
        match select {
            ShaderChannelSelect::RED => texel[0],
            ShaderChannelSelect::GREEN => texel[1],
            ShaderChannelSelect::BLUE => texel[2],
            ShaderChannelSelect::ALPHA => texel[3],
            ShaderChannelSelect::ONE => border::one(self.numeric),
            _ => 0,
        }
    }

    /// All four channels through the selects.
    #[inline(always)]
    pub fn selected(&self, texel: &Value) -> Value {
        self.surface.select.map(|select| self.select(select, texel))
    }

    /// What a texel is replaced with that is compared with a reference: 0 if the comparison holds,
    /// else 1 (003:3008-3016).
    #[inline]
    pub fn shadow(&self, texel: &Value, reference: f32) -> f32 {
        let texel = f32::from_bits(texel[self.compared]);
        let reference = match self.clamps_reference {
            true if reference > 0.0 => reference.min(1.0),
            true => 0.0,
            false => reference,
        };
        let holds = match self.sampler.shadow {
            ThreeDPrefilterOperation::ALWAYS => true,
            ThreeDPrefilterOperation::LESS => texel < reference,
            ThreeDPrefilterOperation::EQUAL => texel == reference,
            ThreeDPrefilterOperation::LEQUAL => texel <= reference,
            ThreeDPrefilterOperation::GREATER => texel > reference,
            ThreeDPrefilterOperation::NOTEQUAL => texel != reference,
            ThreeDPrefilterOperation::GEQUAL => texel >= reference,
            _ => false,
        };
        if holds { 0.0 } else { 1.0 }
    }
}

impl Place {
    fn new(surface: &Surface, level: &crate::surface::Level) -> Place {
        let (left, top) = surface.origin(level, 0, 0);
        let mut slice = [0; 2];
        if surface.layout.dimension == Dimension::Three {
            // The slice to the right of the first and the one below it, as far as there are any.
            let (right, _) = surface.origin(level, u32::from(level.number > 0), 0);
            let (_, below) = surface.origin(level, 1 << level.number, 0);
            slice = [right - left, below - top];
        }
        Place {
            size: [level.width as i32, level.height as i32, level.depth as i32],
            left,
            top,
            slice,
            across: level.number,
        }
    }
}

fn source(surface: &Surface) -> Source {
    let Some(format) = surface.codec.map(Codec::format) else { return Source::Nothing };
    let bytes = format.bytes();
    match format.class {
        _ if surface.kind == SurfaceKind::Null => Source::Nothing,
        Class::PackedYuv { .. } => Source::Yuv,
        Class::Planar => Source::Planar,
        Class::Compressed => Source::Blocks(format.block.map(|extent| u32::from(extent).ilog2())),
        _ if format.bits < 8 => Source::Bits(u32::from(format.bits)),
        _ if bytes.is_power_of_two() => Source::Elements(bytes),
        _ => Source::Odd(bytes),
    }
}

/// Offset of a byte of a row within the tiles of a surface, without that of the row.
#[inline(always)]
pub fn column(tile_mode: TileMode, byte: i64, pitch: u32) -> i64 {
    tile_mode.offset(byte, 0, i64::from(pitch))
}

/// Offset of a row, without that of a byte in it: the two add up to [`TileMode::offset`].
#[inline(always)]
pub fn row(tile_mode: TileMode, row: i64, pitch: u32) -> i64 {
    tile_mode.offset(0, row, i64::from(pitch))
}
