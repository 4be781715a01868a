//! A view: a surface and a sampler, resolved once to all values that a sampler message needs.

use super::address::Rule;
use super::border;
use super::fast_path::FastPath;
use super::key::Key;
use super::lod::{Chooser, Rules};
use super::state::{MapFilter, Sampler, Wrap};
use super::vector_state::Vector;
use crate::assumptions::SAMPLES_FLUSH_SUBNORMALS;
use crate::surface::format::value::Value;
use crate::surface::format::{Class, Codec, Encoding, Format, Letter, Numeric};
use crate::surface::{Dimension, Surface, SurfaceKind, TileMode};
use genxml::gen8::state::{ShaderChannelSelect, ThreeDPrefilterOperation};

/// Maximum number of mip levels of a surface (2d p.343).
pub const MOST_LEVELS: usize = 15;
/// Number of faces of a cube map.
pub const FACES: u32 = 6;

/// Size and position of a mip level. A position is a byte within a row, and a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Width, height and depth in texels.
    pub size: [i32; 3],
    /// First byte within a row.
    pub left: i64,
    /// First row.
    pub top: i64,
    /// If levels contain slices: bytes from a slice to the next one on the right, and rows from a
    /// slice to the next one below.
    slice: [i64; 2],
    /// If levels contain slices: base-2 logarithm of the number of slices side by side.
    across: u32,
}

/// Position of the first texel of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// Byte within a row.
    pub left: i64,
    /// Row.
    pub top: i64,
}

/// Layout of texels in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// No memory: all texels are 0.
    Nothing,
    /// Elements of this number of bytes, a power of two. No element crosses a tile.
    Elements(u32),
    /// Elements of 3, 6, 12 or 24 bytes.
    Odd(u32),
    /// Elements of this number of bits, less than 8.
    Bits(u32),
    /// Pairs of pixels that share their chroma.
    Yuv,
    /// Luma in one plane, chroma in another.
    Planar,
    /// Blocks of compressed texels: base-2 logarithms of their width and height.
    Blocks([u32; 2]),
}

/// A surface and a sampler, resolved for sampler messages.
#[derive(Clone, Debug)]
pub struct View {
    /// The surface.
    pub surface: Surface,
    /// The sampler.
    pub sampler: Sampler,
    /// Selects mip levels by level of detail.
    pub chooser: Chooser,
    /// The first level that loads can read, counted from the first level of the surface: Resource
    /// Min LOD rounded down, at least 0.
    pub first_present: u32,
    /// Mip levels, from the first level of the surface on.
    pub places: [Place; MOST_LEVELS],
    /// True if each level contains all its slices, false if each slice contains all its levels.
    pub by_level: bool,
    /// The value of loads outside of the surface.
    pub outside: Value,
    /// Layout of texels in memory.
    pub source: Source,
    /// Decodes the bits of a texel.
    pub codec: Option<&'static Codec>,
    /// Whether the channels are floats or integers.
    pub numeric: Numeric,
    /// Colours of the palette, by index.
    pub palette: Option<Box<[Value; 256]>>,
    /// True if alpha comes from the element in memory, false if it comes from the palette.
    pub palette_keeps_alpha: bool,
    /// Channels that the format lacks and that a sampler in the mode DX9 returns as 1.
    pub ones: [bool; 4],
    /// The border colour.
    pub border: Value,
    /// The chroma key.
    pub key: Option<Key>,
    /// Faces of a cube map that are enabled.
    pub faces: [bool; FACES as usize],
    /// Modes of U, V and R, after the override for cube maps.
    pub wrap: [Wrap; 3],
    /// Filter if the map is minified, and filter if it is magnified.
    pub filters: [MapFilter; 2],
    /// True if the axes of the anisotropic filter come from the ellipse that is a pixel's
    /// projection (EWA Approximation), false if they are the derivatives.
    pub ewa: bool,
    /// Number of layers of an array; for cube maps, number of cubes.
    pub layers: u32,
    /// Width and height of the filter MONO.
    pub mono: [u32; 2],
    /// The channel that is compared with a reference.
    pub compared: usize,
    /// The fast path, if the view allows it. Only messages that return a weighted mean, without a
    /// comparison, may use it.
    pub fast_path: Option<FastPath>,
    /// State of the vector path; `None` in a new view, and if the view excludes the path. Only messages that return a
    /// weighted mean and do not compare may use it.
    pub vector: Option<Vector>,
    /// True if the reference of a comparison is clamped to the range from 0 to 1.
    pub clamps_reference: bool,
    /// True if samples and gathers replace subnormal numbers by zeros. Floats of less than 32 bits
    /// have no subnormal number that is subnormal in 32 bits too.
    pub flushes: bool,
}

/// Inputs of a view in addition to surface and sampler.
#[derive(Clone, Debug)]
pub struct Extras {
    /// Faces of a cube map that are enabled. Disabled faces have the border colour.
    pub faces: [bool; FACES as usize],
    /// First level that is present, in 1/256 levels from the first level of the surface.
    pub resource_lod: i32,
    /// Level up to which the map counts as magnified, in 1/256; the sampler's own has priority.
    pub base_level: i32,
    /// False if the anisotropic filter ignores [`Sampler::ewa`].
    pub ewa: bool,
    /// How the sampler selects levels.
    pub rules: Rules,
    /// The value of loads outside of the surface; `None` for zeros, with alpha one if the format
    /// has no alpha.
    pub outside: Option<Value>,
    /// The border colour.
    pub border: Value,
    /// The chroma key.
    pub key: Option<Key>,
    /// Colours of the palette, by index.
    pub palette: Option<Box<[Value; 256]>>,
    /// Width and height of the filter MONO.
    pub mono: [u32; 2],
}

impl Default for Extras {
    fn default() -> Extras {
        Extras {
            faces: [true; FACES as usize],
            resource_lod: 0,
            base_level: 0,
            ewa: true,
            rules: Rules::default(),
            outside: None,
            border: Value::default(),
            key: None,
            palette: None,
            mono: [0; 2],
        }
    }
}

/// Treatment of coordinates outside of the map, for U, V and R.
fn wrap(surface: &Surface, sampler: &Sampler) -> [Wrap; 3] {
    let cube = surface.layout.dimension == Dimension::Cube;
    if cube && sampler.cube_override { [Wrap::Cube; 3] } else { sampler.wrap }
}

impl View {
    /// Resolves a surface and a sampler.
    pub fn new(surface: &Surface, sampler: &Sampler, extras: Extras) -> View {
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
        // Filters are undefined for integer formats; the model returns one texel (2d p.398).
        let filter = |filter| match numeric {
            Numeric::Float => filter,
            _ => MapFilter::Nearest,
        };
        let resource = extras.resource_lod.max(0);
        let last =
            surface.mip_count.min((MOST_LEVELS as u32 - 1).saturating_sub(surface.first_level));
        let list = format.map_or(&[][..], Format::channels);
        let has = |letter| list.iter().any(|channel| channel.letter == letter);
        let filters = [filter(sampler.min), filter(sampler.mag)];
        let fast_path = FastPath::of(&surface, wrap, filters)
            .filter(|_| extras.key.is_none() && places[0].size[0] > 0);
        View {
            surface,
            sampler,
            chooser: Chooser::new(&sampler, extras.rules, last, resource, extras.base_level),
            first_present: resource as u32 / 256,
            places,
            by_level: surface.layout.by_level(),
            outside: extras.outside.unwrap_or_else(|| border::outside(format, numeric)),
            // If the first level of an image does not exist, there are no texels.
            source: match places[0].size[0] {
                0 if surface.kind == SurfaceKind::Image => Source::Nothing,
                _ => source(&surface),
            },
            codec: surface.codec,
            numeric,
            palette: extras.palette,
            palette_keeps_alpha: has(Letter::A),
            // Green and blue are 1 if the format lacks them and has red (003:3550-3640).
            ones: [false, !has(Letter::G), !has(Letter::B), false]
                .map(|lacks| lacks && sampler.dx9 && has(Letter::R) && numeric == Numeric::Float),
            border: extras.border,
            key: extras.key,
            faces: extras.faces,
            wrap,
            filters,
            vector: None,
            fast_path,
            ewa: sampler.ewa && extras.ewa,
            layers: if cube { surface.slices / FACES } else { surface.slices },
            mono: extras.mono,
            // Alpha if the format has no other channel, else red (2d p.402).
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
            flushes: SAMPLES_FLUSH_SUBNORMALS
                && list
                    .iter()
                    .any(|channel| channel.encoding == Encoding::Float && channel.bits >= 32),
        }
    }

    /// True if a texel can have the border colour.
    pub fn has_border(faces: [bool; FACES as usize], surface: &Surface, sampler: &Sampler) -> bool {
        let dimension = surface.layout.dimension;
        let hidden = dimension == Dimension::Cube && faces.contains(&false);
        let directions = match dimension {
            Dimension::One => 1,
            Dimension::Two | Dimension::Cube => 2,
            Dimension::Three => 3,
        };
        let borders = |wrap: &Wrap| matches!(wrap, Wrap::Border | Wrap::HalfBorder);
        surface.kind == SurfaceKind::Image
            && (hidden || wrap(surface, sampler)[..directions].iter().any(borders))
    }

    /// True if every sample is 0: there are no texels, or the sampler is disabled.
    pub fn samples_nothing(&self) -> bool {
        self.source == Source::Nothing || self.sampler.disabled
    }

    /// Size and position of a mip level.
    #[inline(always)]
    pub fn place(&self, level: u8) -> &Place {
        &self.places[usize::from(level).min(MOST_LEVELS - 1)]
    }

    /// The rule that maps coordinate `direction` (0 for U, 1 for V, 2 for R) to texels of a level.
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

    /// Position of slice `slice` of a level. If levels contain slices, slices count within the
    /// level; otherwise they count from the start of the array in memory. If samples are not
    /// interleaved, this is the position of sample `sample` of the slice.
    #[inline(always)]
    pub fn origin(&self, place: &Place, slice: u32, sample: u32) -> Origin {
        let layout = &self.surface.layout;
        if self.by_level {
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

    /// The value that a Shader Channel Select selects: zero, one, or a channel of the texel (2d
    /// p.347).
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

    /// All four channels after the Shader Channel Selects.
    #[inline(always)]
    pub fn selected(&self, texel: &Value) -> Value {
        self.surface.select.map(|select| self.select(select, texel))
    }

    /// The value that replaces a texel after the comparison with a reference: 0 if the comparison
    /// holds, else 1 (003:3008-3016).
    #[inline]
    pub fn shadow(&self, texel: &Value, reference: f32) -> f32 {
        let texel = f32::from_bits(texel[self.compared]);
        let reference = match self.clamps_reference {
            true if reference > 0.0 => reference.min(1.0),
            true => 0.0,
            false if self.flushes && reference.is_subnormal() => 0.0,
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
        if surface.layout.by_level() {
            // The slice on the right of the first one, and the slice below it. Level 0 has only one
            // slice in a row.
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

/// The part of a texel's offset in a tiled surface that depends on the byte within the row.
#[inline(always)]
pub fn column(tile_mode: TileMode, byte: i64, pitch: u32) -> i64 {
    tile_mode.offset(byte, 0, i64::from(pitch))
}

/// The part of a texel's offset in a tiled surface that depends on the row. The results of `column`
/// and `row` add up to [`TileMode::offset`].
#[inline(always)]
pub fn row(tile_mode: TileMode, row: i64, pitch: u32) -> i64 {
    tile_mode.offset(0, row, i64::from(pitch))
}
