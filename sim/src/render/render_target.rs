//! Render targets: blends colours of sixteen pixels, and writes them to each covered sample of a
//! surface, in its format.

use super::aux_surface::{AuxCache, Auxiliary, Mcs, Stored};
use super::elements::{Elements, MOST_BYTES, Places};
use super::turn::Turn;
use super::yuv_target;
use crate::assumptions::COLOR_DITHER;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::mem::{Client, PageFault, Vm};
use crate::render::blend::{Blend, Blending, Colors};
use crate::surface::format::codec::ALL;
use crate::surface::format::value::Value;
use crate::surface::format::{Channel, Class, Encoding, Format, Letter, Numeric, convert};
use crate::surface::square;
use crate::surface::{BadSurface, Codec, Dimension, Layout, Level, Surface, SurfaceKind, TileMode};
use crate::unit::render_cache::{SLOTS, Source};
use genxml::gen8::render3d_pixel::{BlendState, ColorCalcState, ThreeDStatePs};
use genxml::gen8::state::{ShaderChannelSelect, SurfaceFormat};

mod fill;
mod packed;
mod watched;

pub use fill::Area;

/// The meaning of writes to a render target (3DSTATE_PS, 2a p.157).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// Each pixel writes a colour.
    #[default]
    Draw,
    /// Each pixel clears a part of the auxiliary surface.
    FastClear,
    /// Each pixel writes the clear colour to the blocks of a part of the auxiliary surface that are
    /// marked as cleared.
    Resolve,
}

impl Purpose {
    /// The purpose that 3DSTATE_PS gives to writes.
    pub fn of(ps: &ThreeDStatePs) -> Purpose {
        match (ps.render_target_fast_clear_enable, ps.render_target_resolve_enable) {
            (true, _) => Purpose::FastClear,
            (_, true) => Purpose::Resolve,
            _ => Purpose::Draw,
        }
    }
}

/// The pixels of a message: four quads of four slots each, upper left, upper right, lower left,
/// lower right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pixels {
    /// Column and row of the upper left pixel of each quad; even.
    pub subspans: [[u32; 2]; 4],
    /// Samples of each slot that are written, a bit each.
    pub samples: [u8; SLOTS],
    /// Render target array index.
    pub slice: u32,
}

/// A surface as a render target, with the entry of BLEND_STATE that a message selects.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RenderTarget {
    surface: Surface,
    level: Level,
    slices: u32,
    codec: Option<&'static Codec>,
    blend: Blend,
    purpose: Purpose,
    auxiliary: Option<Auxiliary>,
    /// The surface's channel for each channel of the shader, if some channels are exchanged or not
    /// written.
    swizzle: Option<[Option<u8>; 4]>,
    /// Bits of an element that are written.
    mask: [u8; MOST_BYTES],
    /// Some bits of an element are not written.
    partial: bool,
    /// The destination must be read before it is written.
    reads: bool,
    /// The size of a step of each channel, for dithering.
    dither: Option<[f32; 4]>,
    packed: Option<Packed>,
    turn: Option<Turn>,
    /// Each pixel writes its colour to one element: nothing is cleared or resolved; there is no
    /// auxiliary surface, rotation, dithering or logic operation, and only one sample; a channel is
    /// written.
    simple: bool,
}

/// Bytes of half of a block. A colour control surface has one bit for each block.
const HALF: usize = 64;

/// The layout of an element of four normalized bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Packed {
    /// Positions of the lowest bits of red, green and blue. Alpha has bits 31:24.
    shifts: [u32; 3],
    alpha: bool,
    srgb: bool,
}

impl Packed {
    fn of(format: SurfaceFormat) -> Option<Packed> {
        const RGB: [u32; 3] = [0, 8, 16];
        const BGR: [u32; 3] = [16, 8, 0];
        let packed = |shifts, alpha, srgb| Some(Packed { shifts, alpha, srgb });
        match format {
            SurfaceFormat::R8G8B8A8_UNORM => packed(RGB, true, false),
            SurfaceFormat::R8G8B8X8_UNORM => packed(RGB, false, false),
            SurfaceFormat::B8G8R8A8_UNORM => packed(BGR, true, false),
            SurfaceFormat::B8G8R8X8_UNORM => packed(BGR, false, false),
            SurfaceFormat::R8G8B8A8_UNORM_SRGB => packed(RGB, true, true),
            SurfaceFormat::R8G8B8X8_UNORM_SRGB => packed(RGB, false, true),
            SurfaceFormat::B8G8R8A8_UNORM_SRGB => packed(BGR, true, true),
            SurfaceFormat::B8G8R8X8_UNORM_SRGB => packed(BGR, false, true),
            _ => None,
        }
    }

    #[inline(always)]
    fn encode(self, colors: &Colors, elements: &mut Elements) {
        for (bytes, dword) in elements.as_chunks_mut().0.iter_mut().zip(self.pack(colors)) {
            *bytes = dword.to_le_bytes();
        }
    }

    /// The elements of colours.
    #[inline(always)]
    fn pack(self, colors: &Colors) -> [u32; SLOTS] {
        self.pack_with(colors, |value| convert::to_unorm(value, 8) as u32)
    }

    /// The elements of colours. `to_byte` converts a value to a normalized byte.
    #[inline(always)]
    fn pack_with(self, colors: &Colors, to_byte: impl Fn(f32) -> u32) -> [u32; SLOTS] {
        let mut dwords = [0u32; SLOTS];
        for (lanes, shift) in colors.iter().zip(self.shifts) {
            if self.srgb {
                for (dword, &value) in dwords.iter_mut().zip(lanes) {
                    *dword |= (convert::from_linear(value, 8) as u32) << shift;
                }
            } else {
                for (dword, &value) in dwords.iter_mut().zip(lanes) {
                    *dword |= to_byte(value) << shift;
                }
            }
        }
        if self.alpha {
            for (dword, &value) in dwords.iter_mut().zip(&colors[3]) {
                *dword |= to_byte(value) << 24;
            }
        }
        dwords
    }

    #[inline(always)]
    fn decode(self, elements: &Elements, colors: &mut Colors) {
        let mut dwords = [0u32; SLOTS];
        for (bytes, dword) in elements.as_chunks().0.iter().zip(&mut dwords) {
            *dword = u32::from_le_bytes(*bytes);
        }
        self.unpack(dwords, colors);
    }

    /// The colours of elements.
    #[inline(always)]
    fn unpack(self, dwords: [u32; SLOTS], colors: &mut Colors) {
        let byte = |dword: u32, shift: u32| dword >> shift & 0xff;
        for (lanes, shift) in colors.iter_mut().zip(self.shifts) {
            if self.srgb {
                for (value, dword) in lanes.iter_mut().zip(dwords) {
                    *value = convert::linear(byte(dword, shift).into(), 8);
                }
            } else {
                for (value, dword) in lanes.iter_mut().zip(dwords) {
                    *value = byte(dword, shift) as f32 / 255.0;
                }
            }
        }
        for (value, dword) in colors[3].iter_mut().zip(dwords) {
            *value = if self.alpha { byte(dword, 24) as f32 / 255.0 } else { 1.0 };
        }
    }
}

fn wrong(field: &'static str, value: u64, why: &'static str) -> BadSurface {
    BadSurface { field, value, why }
}

impl RenderTarget {
    /// Resolves a surface with the entry `index` of a BLEND_STATE.
    ///
    /// # Errors
    /// [`BadSurface`] for formats and kinds of surfaces that cannot be rendered to.
    pub fn resolve(
        surface: &Surface,
        state: &BlendState,
        index: usize,
        constants: &ColorCalcState,
        purpose: Purpose,
    ) -> Result<RenderTarget, BadSurface> {
        RenderTarget::new(surface, &Blending::of(state, index, constants), purpose)
    }

    /// Resolves a surface with this blending.
    ///
    /// # Errors
    /// [`BadSurface`] for formats and kinds of surfaces that cannot be rendered to.
    pub fn new(
        surface: &Surface,
        blending: &Blending,
        purpose: Purpose,
    ) -> Result<RenderTarget, BadSurface> {
        let lod = surface.mip_count;
        if lod > 14 && surface.kind != SurfaceKind::Null {
            return Err(wrong("MIP Count / LOD", lod.into(), "levels are 0 to 14"));
        }
        let surface = &array(surface)?;
        let level = surface.layout.level(lod);
        let codec = surface.codec.filter(|_| surface.kind != SurfaceKind::Null);
        let none = const { Format::describe(SurfaceFormat::R8G8B8A8_UNORM.bits()).unwrap() };
        let format = codec.map_or(&none, Codec::format);
        if codec.is_some() {
            check(surface, format)?;
        }
        let blend = Blend::new(blending, format);
        if matches!(format.class, Class::PackedYuv { .. }) {
            yuv_target::check(surface, &blend)?;
        }
        let turn = if codec.is_some() { Turn::of(surface)? } else { None };
        let swizzle = swizzle(surface);
        let mask = written(format, &blend, swizzle);
        let bytes = surface.element_bytes as usize;
        let partial = mask[..bytes.min(MOST_BYTES)].iter().any(|&bits| bits != 0xff);
        let logic = blend.logic.is_some_and(|operation| operation.reads_destination());
        let auxiliary = if codec.is_some() { Auxiliary::of(surface, &level)? } else { None };
        if turn.is_some() && auxiliary.is_some() {
            let why = "no source describes the auxiliary surface of a rotated surface";
            return Err(wrong("Auxiliary Surface Mode", 1, why));
        }
        if purpose != Purpose::Draw && auxiliary.is_none() && codec.is_some() {
            return Err(wrong(
                "Auxiliary Surface Mode",
                0,
                "a fast clear or resolve needs an auxiliary surface",
            ));
        }
        let slices = match surface.layout.dimension {
            Dimension::Three => {
                surface.view_extent.min(level.depth.saturating_sub(surface.first_slice)).max(1)
            }
            _ => surface.slices,
        };
        let packed = Packed::of(surface.format).filter(|_| swizzle.is_none());
        let dither = dither(&blend, format, swizzle);
        let single = codec.is_some()
            && purpose == Purpose::Draw
            && turn.is_none()
            && dither.is_none()
            && surface.layout.samples == 1
            && blend.logic.is_none()
            && blend.channels != 0;
        Ok(RenderTarget {
            surface: *surface,
            level,
            slices,
            codec,
            purpose,
            auxiliary,
            swizzle,
            mask,
            partial,
            reads: blend.reads_destination() || logic || partial,
            simple: single && auxiliary.is_none(),
            dither,
            packed: packed.filter(|_| single),
            blend,
            turn,
        })
    }

    /// True if there is no surface, so that nothing is written.
    pub fn is_null(&self) -> bool {
        self.codec.is_none()
    }

    /// True if messages need a second colour.
    pub fn reads_second(&self) -> bool {
        self.blend.reads_second()
    }

    /// Writes the colours of the pixels of a message, or clears or resolves by [`Purpose`]. Pixels
    /// outside the surface are dropped (003:4926). A slice that does not exist selects the first
    /// one (2d p.356).
    ///
    /// # Errors
    /// Page faults of the surface and its auxiliary surface.
    pub fn write(
        &self,
        exec: &mut Exec<'_>,
        cache: &mut AuxCache,
        pixels: &Pixels,
        color: &Source,
        second: Option<&Source>,
    ) -> Result<(), Fault> {
        let _client = exec.vm.client(Client::RenderTarget);
        match self.pixels(&mut exec.vm, cache, pixels, color, second) {
            Ok(written) => {
                self.count(exec, written);
                Ok(())
            }
            Err(fault) => Err(exec.page(fault, "a render target")),
        }
    }

    /// Counts written pixels, samples and blocks of 2x2 pixels.
    #[inline(always)]
    fn count(&self, exec: &mut Exec<'_>, [pixels, samples, blocks]: [u32; 3]) {
        exec.stats.pixels += u64::from(pixels);
        exec.device.observed.add(Counter::Written, blocks.into());
        if self.blend.is_enabled() {
            exec.device.observed.add(Counter::Blended, blocks.into());
        }
        exec.stats.bytes_written += u64::from(samples) * u64::from(self.surface.element_bytes);
    }

    /// As [`write`](Self::write), but takes only the memory. Returns the numbers of pixels, samples
    /// and blocks of 2x2 pixels that were written. They are 0 for fast clears and resolves, without
    /// a surface, and if no channel is written.
    pub(crate) fn pixels(
        &self,
        vm: &mut Vm<'_>,
        cache: &mut AuxCache,
        pixels: &Pixels,
        color: &Source,
        second: Option<&Source>,
    ) -> Result<[u32; 3], PageFault> {
        let Some(codec) = self.codec else { return Ok([0; 3]) };
        let slice = self.slice(pixels.slice);
        if self.purpose != Purpose::Draw {
            self.whole_blocks(vm, pixels, slice)?;
            return Ok([0; 3]);
        }
        let samples = self.inside(pixels);
        let count = u128::from_le_bytes(samples).count_ones();
        if self.blend.channels == 0 {
            return Ok([0; 3]);
        }
        if count > 0 {
            let work = Work { target: self, codec, slice, subspans: &pixels.subspans };
            work.draw(vm, cache, samples, color, second)?;
        }
        let pixels = samples.iter().map(|&mask| u32::from(mask != 0)).sum();
        let blocks = samples.as_chunks::<4>().0.iter().map(|&quad| u32::from(quad != [0; 4])).sum();
        Ok([pixels, count, blocks])
    }

    /// The slice of a render target array index. An index that is too large selects the first one
    /// (2d p.356).
    #[inline(always)]
    fn slice(&self, index: u32) -> u32 {
        self.surface.first_slice + if index < self.slices { index } else { 0 }
    }

    /// The source colours of floats, blended with the destination.
    #[inline(always)]
    fn blend_all(&self, color: &Source, second: Option<&Source>, destination: &Colors) -> Colors {
        let mut colors = floats(color);
        let second = second.filter(|_| self.reads_second()).map(floats);
        self.blend.apply(&mut colors, second.as_ref(), destination);
        colors
    }

    /// The samples of the slots that lie inside the level.
    #[inline]
    fn inside(&self, pixels: &Pixels) -> [u8; SLOTS] {
        let mut samples = pixels.samples;
        let all = ((1u32 << self.surface.layout.samples) - 1) as u8;
        for (n, &[x, y]) in pixels.subspans.iter().enumerate() {
            let quad = &mut samples[4 * n..4 * n + 4];
            if x + 1 < self.level.width && y + 1 < self.level.height {
                quad.iter_mut().for_each(|mask| *mask &= all);
                continue;
            }
            for (pixel, mask) in quad.iter_mut().enumerate() {
                let (x, y) = (x + (pixel as u32 & 1), y + (pixel as u32 >> 1));
                *mask &= if x < self.level.width && y < self.level.height { all } else { 0 };
            }
        }
        samples
    }

    /// Executes a fast clear or resolve for all pixels of each quad with a written sample: hardware
    /// works on whole quads (gen8_facts 8.4).
    fn whole_blocks(&self, vm: &mut Vm<'_>, pixels: &Pixels, slice: u32) -> Result<(), PageFault> {
        let Some(auxiliary) = &self.auxiliary else { return Ok(()) };
        for (n, &[x, y]) in pixels.subspans.iter().enumerate() {
            if pixels.samples[4 * n..4 * n + 4] == [0; 4] {
                continue;
            }
            for at in [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]] {
                match auxiliary {
                    Auxiliary::Ccs(ccs) if self.purpose == Purpose::Resolve => {
                        let block = ccs.block();
                        ccs.resolve(vm, slice, at, |vm, first| self.fill(vm, slice, first, block))?;
                    }
                    _ if self.purpose == Purpose::FastClear => {
                        auxiliary.clear(vm, slice, at[0], at[1])?
                    }
                    // Drivers resolve surfaces of several samples by drawing.
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The clear colour, encoded as an element of the surface.
    fn cleared(&self) -> [u8; MOST_BYTES] {
        let mut element = [0; MOST_BYTES];
        if let Some(codec) = self.codec {
            let one = if codec.format().numeric == Numeric::Float { 1.0f32.to_bits() } else { 1 };
            let value = self.surface.clear.map(|set| if set { one } else { 0 });
            codec.encode_one(value, ALL, &mut element[..self.surface.element_bytes as usize]);
        }
        element
    }

    /// Addresses of the two halves of a block of 128 bytes, each in contiguous memory. `x` and `y`
    /// are the byte and row where the block starts. `None` if the halves are not contiguous.
    fn halves(&self, (x, y): (i64, i64)) -> Option<[u64; 2]> {
        let surface = &self.surface;
        let (left, top) = (x + i64::from(surface.left), y + i64::from(surface.top));
        let address = |right, below| surface.address(x + right, y + below);
        match surface.tile_mode {
            _ if surface.line_stride != 0 => None,
            // Rows of 64 bytes.
            TileMode::X if left & 63 == 0 => Some([address(0, 0), address(0, 1)]),
            // Columns of 16 bytes, four rows high.
            TileMode::Y if left & 15 == 0 && top & 3 == 0 => Some([address(0, 0), address(16, 0)]),
            _ => None,
        }
    }

    /// Writes the clear colour to the pixels of a block that are inside the surface.
    #[cold]
    fn fill(
        &self,
        vm: &mut Vm<'_>,
        slice: u32,
        [x, y]: [u32; 2],
        block: [u32; 2],
    ) -> Result<(), PageFault> {
        let element = self.cleared();
        let bytes = self.surface.element_bytes as usize;
        let (left, top) = self.surface.origin(&self.level, slice, 0);
        let inside = x + block[0] <= self.level.width && y + block[1] <= self.level.height;
        let first = (left + i64::from(x) * bytes as i64, top + i64::from(y));
        if inside && let Some(parts) = self.halves(first) {
            let mut half = [0; HALF];
            square::repeat(&element[..bytes], &mut half);
            vm.write_array(parts[0], &half)?;
            return vm.write_array(parts[1], &half);
        }
        for row in y..(y + block[1]).min(self.level.height) {
            for column in x..(x + block[0]).min(self.level.width) {
                let at = self
                    .surface
                    .address(left + i64::from(column) * bytes as i64, top + i64::from(row));
                vm.write(at, &element[..bytes])?;
            }
        }
        Ok(())
    }
}

/// Converts a buffer to an image with one row: writes use only the X coordinate, and Y must be 0
/// (003:4924). Images and null surfaces stay unchanged.
fn array(surface: &Surface) -> Result<Surface, BadSurface> {
    match surface.kind {
        SurfaceKind::Null | SurfaceKind::Image => Ok(*surface),
        SurfaceKind::Structured => {
            Err(wrong("Surface Type", 5, "a structured buffer cannot be a render target"))
        }
        // A buffer is an array of single elements (003:3222).
        SurfaceKind::Buffer if surface.pitch != surface.element_bytes => Err(wrong(
            "Surface Pitch",
            surface.pitch.into(),
            "the structure of a buffer that is a render target is one element",
        )),
        SurfaceKind::Buffer => {
            let layout =
                Layout { dimension: Dimension::One, width: surface.width, ..Layout::default() };
            Ok(Surface { kind: SurfaceKind::Image, layout, ..*surface })
        }
    }
}

/// Checks that a surface can be a render target: its layout, and that its elements have
/// channels and 8, 16, 32, 64 or 128 bits. Other formats are for vertices and the sampler
/// (gen8_facts 9.2).
fn check(surface: &Surface, format: &Format) -> Result<(), BadSurface> {
    let packed_yuv = matches!(format.class, Class::PackedYuv { .. });
    let stored = packed_yuv || Codec::of(format.code).is_some_and(Codec::has_channels);
    let rendered = |channel: &Channel| match channel.encoding {
        _ if matches!(channel.letter, Letter::P | Letter::E) => false,
        Encoding::Unorm | Encoding::Snorm | Encoding::Uint | Encoding::Sint => true,
        Encoding::Float => channel.bits <= 32,
        _ => channel.letter == Letter::X,
    };
    let whole = matches!(format.bits, 8 | 16 | 32 | 64 | 128);
    if !stored || !whole || !format.channels().iter().all(rendered) {
        return Err(wrong(
            "Surface Format",
            format.code.bits(),
            "nothing can be rendered to this format",
        ));
    }
    if surface.layout.interleaved {
        let why = "samples of a render target have slices of their own";
        return Err(wrong("Multisampled Surface Storage Format", 1, why));
    }
    if surface.line_stride != 0 {
        return Err(wrong(
            "Vertical Line Stride",
            1,
            "a field of a picture cannot be rendered to (003:4930)",
        ));
    }
    Ok(())
}

/// The surface's channel for each channel of the shader; `None` if they are the same. If several
/// channels of the shader select the same channel of the surface, the first is written (2d p.347).
fn swizzle(surface: &Surface) -> Option<[Option<u8>; 4]> {
    let mut taken = 0;
    let mut channels = surface.select.map(|select| match select {
        ShaderChannelSelect::RED => Some(0),
        ShaderChannelSelect::GREEN => Some(1),
        ShaderChannelSelect::BLUE => Some(2),
        ShaderChannelSelect::ALPHA => Some(3),
        _ => None,
    });
    for channel in &mut channels {
        match *channel {
            Some(n) if taken >> n & 1 == 1 => *channel = None,
            Some(n) => taken |= 1 << n,
            None => {}
        }
    }
    (channels != [Some(0), Some(1), Some(2), Some(3)]).then_some(channels)
}

/// Bits of an element that are written: those of its channels that are not write-protected, and
/// padding.
fn written(format: &Format, blend: &Blend, swizzle: Option<[Option<u8>; 4]>) -> [u8; MOST_BYTES] {
    let channels = match swizzle {
        None => blend.channels,
        Some(to) => (0..4).fold(0, |mask, n| match to[n] {
            Some(to) => mask | (blend.channels >> n & 1) << to,
            None => mask,
        }),
    };
    let mut mask = [0; MOST_BYTES];
    for channel in format.channels() {
        let writes = match channel.letter {
            Letter::R | Letter::L | Letter::I | Letter::P => channels & 1 != 0,
            Letter::G | Letter::Y => channels & 2 != 0,
            Letter::B => channels & 4 != 0,
            Letter::A => channels & 8 != 0,
            Letter::E | Letter::X => true,
        };
        for bit in usize::from(channel.low)..usize::from(channel.low + channel.bits) {
            if let Some(byte) = mask.get_mut(bit / 8).filter(|_| writes) {
                *byte |= 1 << (bit % 8);
            }
        }
    }
    mask
}

/// The size of a step of each UNORM channel of less than 8 bits; 0 for other channels. `None` if no
/// channel is dithered.
fn dither(blend: &Blend, format: &Format, swizzle: Option<[Option<u8>; 4]>) -> Option<[f32; 4]> {
    blend.dither?;
    let to = swizzle.unwrap_or([Some(0), Some(1), Some(2), Some(3)]);
    let letters = [Letter::R, Letter::G, Letter::B, Letter::A];
    let steps = to.map(|to| {
        let letter = letters[usize::from(to?)];
        let channel = format.channels().iter().find(|channel| channel.letter == letter)?;
        let narrow = channel.encoding == Encoding::Unorm && channel.bits < 8;
        narrow.then(|| 1.0 / ((1u32 << channel.bits) - 1) as f32)
    });
    steps.iter().any(Option::is_some).then(|| steps.map(Option::unwrap_or_default))
}

/// Bit `bit` of each of sixteen bytes: that of byte n becomes bit n of the result.
#[inline(always)]
pub fn gather(bytes: &[u8; SLOTS], bit: u32) -> u32 {
    let half = |half: u64| {
        // Each byte contributes to the upper byte of the product, at its own bit.
        (half >> bit & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let all = u128::from_le_bytes(*bytes);
    (half(all as u64) | half((all >> 64) as u64) << 8) as u32
}

/// A write of a message's pixels to a surface.
struct Work<'t> {
    target: &'t RenderTarget,
    codec: &'static Codec,
    slice: u32,
    subspans: &'t [[u32; 2]; 4],
}

impl Work<'_> {
    fn draw(
        &self,
        vm: &mut Vm<'_>,
        cache: &mut AuxCache,
        mut samples: [u8; SLOTS],
        color: &Source,
        second: Option<&Source>,
    ) -> Result<(), PageFault> {
        let target = self.target;
        match &target.auxiliary {
            None => {}
            Some(Auxiliary::Mcs(mcs)) => self.spread(vm, mcs, &mut samples)?,
            Some(Auxiliary::Ccs(ccs)) => {
                let block = ccs.block();
                for (n, &at) in self.subspans.iter().enumerate() {
                    if samples[4 * n..4 * n + 4] != [0; 4] {
                        ccs.open(vm, cache, self.slice, at, |vm, first| {
                            target.fill(vm, self.slice, first, block)
                        })?;
                    }
                }
            }
        }
        if matches!(self.codec.format().class, Class::PackedYuv { .. }) {
            return self.store_yuv(vm, &samples, color);
        }
        let turned = target.turn.map(|turn| turn.subspans(self.subspans));
        let subspans = turned.as_ref().unwrap_or(self.subspans);
        let places = Places { surface: &target.surface, subspans };
        let mut elements = [0; SLOTS * MOST_BYTES];
        let mut encoded = false;
        let mut rest = samples.iter().fold(0, |all, &mask| all | mask);
        while rest != 0 {
            let sample = rest.trailing_zeros();
            rest &= rest - 1;
            let lanes = gather(&samples, sample);
            let origin = target.surface.origin(&target.level, self.slice, sample);
            if target.reads {
                let mut old = [0; SLOTS * MOST_BYTES];
                match &target.turn {
                    None => places.load(vm, origin, lanes, &mut old)?,
                    Some(turn) => {
                        places.load(vm, origin, turn.lanes(lanes), &mut old)?;
                        old = turn.to_message(&old, target.surface.element_bytes as usize);
                    }
                }
                self.make(color, second, &old, &mut elements);
                self.combine(&old, &mut elements);
            } else if !encoded {
                self.make(color, second, &[0; SLOTS * MOST_BYTES], &mut elements);
                if target.blend.logic.is_some() {
                    self.combine(&[0; SLOTS * MOST_BYTES], &mut elements);
                }
            }
            encoded = true;
            match &target.turn {
                None => places.store(vm, origin, lanes, &elements)?,
                Some(turn) => {
                    let bytes = target.surface.element_bytes as usize;
                    let elements = turn.to_picture(&elements, bytes);
                    places.store(vm, origin, turn.lanes(lanes), &elements)?;
                }
            }
        }
        Ok(())
    }

    /// Writes pixels of packed YUV, with the channels in the order of the surface state.
    #[cold]
    fn store_yuv(
        &self,
        vm: &mut Vm<'_>,
        samples: &[u8; SLOTS],
        color: &Source,
    ) -> Result<(), PageFault> {
        let target = self.target;
        let order = target.swizzle.unwrap_or([Some(0), Some(1), Some(2), Some(3)]);
        let mut channels: Source = [[0; SLOTS]; 4];
        for (lanes, to) in color.iter().zip(order) {
            if let Some(to) = to {
                channels[usize::from(to & 3)] = *lanes;
            }
        }
        let origin = target.surface.origin(&target.level, self.slice, 0);
        let class = self.codec.format().class;
        let lanes = gather(samples, 0);
        yuv_target::store(vm, &target.surface, class, origin, self.subspans, lanes, &channels)
    }

    /// Makes the elements from the colours and the destination.
    #[inline(always)]
    fn make(
        &self,
        color: &Source,
        second: Option<&Source>,
        old: &Elements,
        elements: &mut Elements,
    ) {
        if self.codec.format().numeric == Numeric::Float {
            self.encode(color, second, old, elements);
        } else {
            self.encode_bits(color, elements);
        }
    }

    /// Blends and encodes floats.
    #[inline]
    fn encode(
        &self,
        color: &Source,
        second: Option<&Source>,
        old: &Elements,
        elements: &mut Elements,
    ) {
        let target = self.target;
        let mut destination = [[0.0; SLOTS]; 4];
        if target.reads && target.blend.reads_destination() {
            match target.packed {
                Some(packed) => packed.decode(old, &mut destination),
                None => self.decode(old, &mut destination),
            }
        }
        let mut colors = target.blend_all(color, second, &destination);
        if let Some(steps) = &target.dither {
            self.dither(steps, &mut colors);
        }
        match target.packed {
            Some(packed) => packed.encode(&colors, elements),
            None => self.encode_bits(&colors.map(|lanes| lanes.map(f32::to_bits)), elements),
        }
    }

    /// Adds a part of a step to each colour. The part depends on the position of the pixel.
    fn dither(&self, steps: &[f32; 4], colors: &mut Colors) {
        let offsets = self.target.blend.dither.unwrap_or_default();
        for (step, lanes) in steps.iter().zip(colors) {
            for (n, value) in lanes.iter_mut().enumerate() {
                let [x, y] = self.subspans[n / 4];
                let (x, y) = (x as usize + (n & 1), y as usize + (n >> 1 & 1));
                let row = COLOR_DITHER[(y + offsets[1] as usize) % 4];
                *value += step * row[(x + offsets[0] as usize) % 4];
            }
        }
    }

    /// Encodes colours, given as bits of floats or integers, to elements of the surface's format.
    fn encode_bits(&self, color: &Source, elements: &mut Elements) {
        let order = self.target.swizzle.unwrap_or([Some(0), Some(1), Some(2), Some(3)]);
        let mut values: [Value; SLOTS] = [[0; 4]; SLOTS];
        for (lanes, to) in color.iter().zip(order) {
            if let Some(to) = to {
                for (value, &bits) in values.iter_mut().zip(lanes) {
                    value[usize::from(to & 3)] = bits;
                }
            }
        }
        let bytes = SLOTS * self.target.surface.element_bytes as usize;
        self.codec.encode(&values, ALL, &mut elements[..bytes]);
    }

    /// Decodes elements of the surface's format to float colours.
    fn decode(&self, elements: &Elements, colors: &mut Colors) {
        let order = self.target.swizzle.unwrap_or([Some(0), Some(1), Some(2), Some(3)]);
        let mut values: [Value; SLOTS] = [[0; 4]; SLOTS];
        let bytes = SLOTS * self.target.surface.element_bytes as usize;
        self.codec.decode(&elements[..bytes], &mut values);
        for (lanes, from) in colors.iter_mut().zip(order) {
            if let Some(from) = from {
                for (lane, value) in lanes.iter_mut().zip(&values) {
                    *lane = f32::from_bits(value[usize::from(from & 3)]);
                }
            }
        }
    }

    /// Applies the logic operation, and restores the old value of bits that are not written.
    fn combine(&self, old: &Elements, elements: &mut Elements) {
        let bytes = self.target.surface.element_bytes as usize;
        if let Some(operation) = self.target.blend.logic {
            for (new, &old) in elements[..SLOTS * bytes].iter_mut().zip(old) {
                *new = operation.apply(*new, old);
            }
        }
        if self.target.partial {
            let (new, old) = (elements.chunks_exact_mut(bytes), old.chunks_exact(bytes));
            for (new, old) in new.zip(old).take(SLOTS) {
                for ((new, old), mask) in new.iter_mut().zip(old).zip(self.target.mask) {
                    *new = *new & mask | old & !mask;
                }
            }
        }
    }

    /// Prepares the planes of the pixels for the write, and updates the multisample control
    /// surface. If all samples of a pixel can share plane 0 after the write, `samples` keeps only
    /// sample 0 of this pixel.
    fn spread(
        &self,
        vm: &mut Vm<'_>,
        mcs: &Mcs,
        samples: &mut [u8; SLOTS],
    ) -> Result<(), PageFault> {
        let count = self.target.surface.layout.samples;
        let all = ((1u32 << count) - 1) as u8;
        for (slot, mask) in samples.iter_mut().enumerate() {
            if *mask == 0 {
                continue;
            }
            let [x, y] = self.subspans[slot / 4];
            let (x, y) = (x + (slot as u32 & 1), y + (slot as u32 >> 1 & 1));
            let word = mcs.read(vm, self.slice, x, y)?;
            let together =
                *mask == all && (word == 0 || word == mcs.cleared() || !self.target.reads);
            let new = if together { 0 } else { mcs.identity() };
            if together {
                *mask = 1;
            }
            if word == new {
                continue;
            }
            // Old values are needed of all samples if the write reads the target, otherwise of the
            // samples that are not written.
            let keep = if self.target.reads {
                all
            } else if together {
                0
            } else {
                all & !*mask
            };
            self.keep(vm, mcs, word, [x, y], if together { keep & 1 } else { keep })?;
            mcs.write(vm, self.slice, x, y, new)?;
        }
        Ok(())
    }

    /// Copies the samples `samples` (a bit each) of a pixel to their own planes. Cleared samples
    /// get the clear colour.
    #[cold]
    fn keep(
        &self,
        vm: &mut Vm<'_>,
        mcs: &Mcs,
        word: u32,
        [x, y]: [u32; 2],
        samples: u8,
    ) -> Result<(), PageFault> {
        let surface = &self.target.surface;
        let bytes = surface.element_bytes as usize;
        let place = |plane: u32| surface.texel(&self.target.level, self.slice, x, y, plane);
        let mut elements = [self.target.cleared(); 8];
        for sample in 0..8 {
            if let (1, Stored::Plane(plane)) = (samples >> sample & 1, mcs.stored(word, sample)) {
                vm.read(place(plane), &mut elements[sample as usize][..bytes])?;
            }
        }
        for sample in 0..8 {
            if samples >> sample & 1 == 1 {
                vm.write(place(sample), &elements[sample as usize][..bytes])?;
            }
        }
        Ok(())
    }
}

fn floats(color: &Source) -> Colors {
    color.map(|lanes| lanes.map(f32::from_bits))
}

#[cfg(test)]
mod tests;
