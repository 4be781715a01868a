//! The memory of one pixel: the value of a sample of a surface, read from physical memory at any
//! time.

use super::HistoryError;
use crate::inspect::summary::state::{DepthBuffer, StencilBuffer, Summary, Target};
use crate::machine::blitting::{BlitPlane, Blitting};
use crate::mem::{Memory, PAGE};
use crate::render::aux_surface::{Auxiliary, Stored};
use crate::render::depth::DepthFormat;
use crate::surface::format::codec::ALL;
use crate::surface::format::{Format, Numeric};
use crate::surface::{Codec, Layout, Level, Surface, SurfaceKind, TileMode};
use genxml::gen8::state::SurfaceFormat;
use std::cell::RefCell;
use std::ops::Range;

/// Maximum bytes of an element.
pub const MOST_BYTES: usize = 16;
/// Maximum number of slices that are searched for a pixel.
const MOST_SLICES: u32 = 2048;

/// What the values of a surface mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Meaning {
    /// Colours.
    Color,
    /// Depths.
    Depth(DepthFormat),
    /// Stencil values, at this byte of an element.
    Stencil(usize),
}

/// A level of a surface as a draw uses it: a render target, a depth buffer or a stencil buffer.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// What the values mean.
    pub meaning: Meaning,
    /// The surface.
    pub surface: Surface,
    /// The level.
    pub level: Level,
    /// Binding table index of a render target.
    pub binding: Option<u8>,
}

impl View {
    /// The views of a draw: render targets, depth buffer, stencil buffer.
    pub fn all(summary: &Summary) -> Vec<View> {
        let color = |target: &Target| {
            let Target { binding, surface, level, .. } = *target;
            let is_image = surface.kind == SurfaceKind::Image
                && surface.codec.is_some_and(Codec::has_channels)
                && surface.element_bytes as usize <= MOST_BYTES;
            let meaning = Meaning::Color;
            is_image.then_some(View { meaning, surface, level, binding: Some(binding) })
        };
        let depth = |buffer: &DepthBuffer| View {
            meaning: Meaning::Depth(buffer.format),
            surface: buffer.plane.surface,
            level: buffer.plane.level,
            binding: None,
        };
        let stencil = |buffer: &StencilBuffer| View {
            meaning: Meaning::Stencil(buffer.byte),
            surface: buffer.plane.surface,
            level: buffer.plane.level,
            binding: None,
        };
        let mut views: Vec<View> = summary.targets.iter().filter_map(color).collect();
        views.extend(summary.depth.as_ref().map(depth));
        views.extend(summary.stencil.as_ref().map(stencil));
        views
    }

    /// The destination of a blit, up to the last pixel that it writes; `None` for rows that go
    /// upward or overlap.
    pub fn of_blit(blit: &Blitting<'_>) -> Option<View> {
        let BlitPlane { base, pitch, tile_mode } = blit.destination;
        let [_, _, right, bottom] = blit.rectangle;
        let size = [u32::try_from(right).ok()?, u32::try_from(bottom).ok()?];
        let pitch = u32::try_from(pitch).ok().filter(|pitch| *pitch > 0)?;
        View::image(blit.format, base, size, pitch, tile_mode)
    }

    /// An image with one level and one sample that is not described by a surface state; `None` for
    /// formats that cannot be decoded.
    pub fn image(
        format: SurfaceFormat,
        base: u64,
        [width, height]: [u32; 2],
        pitch: u32,
        tile_mode: TileMode,
    ) -> Option<View> {
        let codec = Codec::of(format)?;
        let layout = Layout { width, height, ..Layout::default() };
        let surface = Surface {
            kind: SurfaceKind::Image,
            base,
            width,
            height,
            pitch,
            tile_mode,
            element_bytes: codec.format().bytes(),
            format,
            codec: Some(codec),
            layout,
            ..Surface::default()
        };
        Some(View { meaning: Meaning::Color, surface, level: layout.level(0), binding: None })
    }

    /// Name of the format.
    pub fn format(&self) -> &'static str {
        match self.meaning {
            Meaning::Color => self.surface.format.name().unwrap_or("?"),
            Meaning::Depth(DepthFormat::Float32) => "D32_FLOAT",
            Meaning::Depth(DepthFormat::Unorm24) => "D24_UNORM_X8_UINT",
            Meaning::Depth(DepthFormat::Unorm16) => "D16_UNORM",
            Meaning::Stencil(_) => "stencil",
        }
    }

    /// The format of the colours; `None` for depth and stencil.
    fn color_format(&self) -> Option<&'static Format> {
        let codec = self.surface.codec.filter(|_| self.meaning == Meaning::Color);
        codec.map(Codec::format)
    }

    /// True if the values are signed or unsigned integers.
    pub fn has_integers(&self) -> bool {
        self.color_format().is_some_and(|format| format.numeric != Numeric::Float)
    }

    /// All pairs of a slice of the view and a sample.
    pub fn planes(&self) -> impl Iterator<Item = (u32, u32)> {
        let Surface { first_slice, slices, layout, .. } = self.surface;
        let samples = layout.samples;
        (first_slice..first_slice.saturating_add(slices.clamp(1, MOST_SLICES)))
            .flat_map(move |slice| (0..samples).map(move |sample| (slice, sample)))
    }

    /// The channels of the bytes of a value: red, green, blue and alpha, or depth, or stencil.
    pub fn channels(&self, bytes: &[u8]) -> Channels {
        match self.meaning {
            Meaning::Color => {
                let decoded = self.surface.codec.map(|codec| codec.decode_one(bytes));
                match decoded {
                    Some(bits) if self.has_integers() => Channels::Integers(bits),
                    Some(bits) => Channels::Floats(bits.map(f32::from_bits)),
                    None => Channels::None,
                }
            }
            Meaning::Depth(format) => {
                let mut word = [0; 4];
                let count = bytes.len().min(4);
                word[..count].copy_from_slice(&bytes[..count]);
                Channels::Depth(format.decode(u32::from_le_bytes(word)))
            }
            Meaning::Stencil(_) => Channels::Stencil(bytes.first().copied().unwrap_or_default()),
        }
    }

    /// Bytes of a value.
    pub fn value_bytes(&self) -> usize {
        match self.meaning {
            Meaning::Stencil(_) => 1,
            _ => (self.surface.element_bytes as usize).min(MOST_BYTES),
        }
    }

    /// The auxiliary surface of the level, if it has one.
    pub fn auxiliary(&self) -> Option<Auxiliary> {
        match self.meaning {
            Meaning::Color => Auxiliary::of(&self.surface, &self.level).ok().flatten(),
            _ => None,
        }
    }

    /// Reads the element of a sample into `out`. Returns the range of its bytes in `out`, and
    /// whether they are those of the clear colour; `None` if `read` finds no memory.
    pub fn element(
        &self,
        auxiliary: Option<&Auxiliary>,
        slice: u32,
        [x, y]: [u32; 2],
        sample: u32,
        read: &dyn Fn(u64, &mut [u8]) -> bool,
        out: &mut [u8; MOST_BYTES],
    ) -> Option<(Range<usize>, bool)> {
        let View { surface, level, meaning, .. } = self;
        let count = surface.element_bytes as usize;
        let stored = auxiliary.map_or(Stored::Plane(sample), |auxiliary| {
            auxiliary.stored(slice, [x, y], sample, read)
        });
        let element = out.get_mut(..count)?;
        let Stored::Plane(plane) = stored else {
            let one = if self.has_integers() { 1 } else { 1f32.to_bits() };
            let clear = surface.clear.map(|set| if set { one } else { 0 });
            surface.codec?.encode_one(clear, ALL, element);
            return Some((0..count, true));
        };
        if !read(surface.texel(level, slice, x, y, plane), element) {
            return None;
        }
        match *meaning {
            Meaning::Stencil(byte) => (byte < count).then_some((byte..byte + 1, false)),
            _ => Some((0..count, false)),
        }
    }

    /// The column and row of the pixel that has the byte at the physical address `wanted`. `hint`
    /// is tried first. `translate` converts graphics addresses to physical ones. `None` if the view
    /// does not have the byte, or if the pages of the surface are not in order.
    pub fn find(
        &self,
        wanted: u64,
        hint: [u32; 2],
        translate: &dyn Fn(u64) -> Option<u64>,
    ) -> Option<[u32; 2]> {
        let bytes = u64::from(self.surface.element_bytes);
        let is_there = |[x, y]: [u32; 2], slice, sample| {
            if x >= self.level.width || y >= self.level.height {
                return false;
            }
            let at = self.surface.texel(&self.level, slice, x, y, sample);
            // The bits within a page are the same in both kinds of addresses.
            wanted.wrapping_sub(at) % PAGE < bytes
                && translate(at).is_some_and(|at| wanted.wrapping_sub(at) < bytes)
        };
        if self.planes().any(|(slice, sample)| is_there(hint, slice, sample)) {
            return Some(hint);
        }
        let Surface { base, tile_mode, pitch, left, top, layout, line_stride, .. } = self.surface;
        if pitch < tile_mode.pitch_unit() || line_stride != 0 || pitch == 0 {
            return None;
        }
        let offset = wanted.checked_sub(translate(base)?)?;
        let (column, row) = tile_mode.locate(i64::try_from(offset).ok()?, pitch.into());
        let (column, row) = (column - i64::from(left), row - i64::from(top));
        for (slice, sample) in self.planes() {
            let (x, y) = self.surface.origin(&self.level, slice, sample);
            let (x, y) = ((column - x).div_euclid(bytes as i64), row - y);
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { continue };
            if !layout.interleaved {
                if is_there([x, y], slice, sample) {
                    return Some([x, y]);
                }
                continue;
            }
            // Interleaved samples are at most four across and two down.
            for (across, down) in [(1, 1), (2, 1), (2, 2), (4, 2)] {
                let near = |at: u32| at.saturating_sub(2)..=at + 2;
                for y in near(y / down) {
                    for x in near(x / across) {
                        if is_there([x, y], slice, sample) {
                            return Some([x, y]);
                        }
                    }
                }
            }
        }
        None
    }
}

/// The value of a pixel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// The bytes of its element.
    pub bytes: Vec<u8>,
    /// True if the auxiliary surface says that the pixel has the clear colour. The bytes are those
    /// of this colour then; the bytes in memory have no meaning.
    pub cleared: bool,
}

/// A sample of a pixel in memory.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The surface and its level.
    pub view: View,
    /// Column and row.
    pub at: [u32; 2],
    /// The sample.
    pub sample: u32,
    /// The slice.
    pub slice: u32,
    /// Graphics address of the element. With an auxiliary surface for multisampling, the value
    /// can be stored in the element of another sample.
    pub address: u64,
    /// Physical address of the element.
    pub physical: u64,
    auxiliary: Option<Auxiliary>,
    /// Graphics and physical addresses of the pages that are read.
    pages: Vec<[u64; 2]>,
}

impl Probe {
    /// The sample of a pixel in the first slice of a view.
    ///
    /// # Errors
    /// [`HistoryError`] if the pixel or the sample does not exist, or is not in memory.
    pub fn new(
        view: View,
        at: [u32; 2],
        sample: u32,
        translate: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<Probe, HistoryError> {
        let View { surface, level, .. } = view;
        let ([x, y], Level { width, height, .. }) = (at, level);
        if x >= width || y >= height {
            return Err(HistoryError::Outside { x, y, width, height, format: view.format() });
        }
        let samples = surface.layout.samples;
        if sample >= samples {
            return Err(HistoryError::Sample { sample, samples });
        }
        let slice = surface.first_slice;
        let auxiliary = view.auxiliary();
        let bytes = u64::from(surface.element_bytes);
        let reads = RefCell::new(Vec::<[u64; 2]>::new());
        let note = |address: u64, length: u64| {
            let mut reads = reads.borrow_mut();
            for page in [address & !(PAGE - 1), (address + length - 1) & !(PAGE - 1)] {
                if !reads.iter().any(|[known, _]| *known == page) {
                    reads.push([page, translate(page).unwrap_or(u64::MAX)]);
                }
            }
        };
        let address = surface.texel(&level, slice, x, y, sample);
        note(address, bytes);
        if let Some(auxiliary) = &auxiliary {
            for plane in 0..samples {
                note(surface.texel(&level, slice, x, y, plane), bytes);
            }
            auxiliary.stored(slice, at, sample, &|address, out| {
                note(address, out.len() as u64);
                false
            });
        }
        let physical = translate(address).ok_or(HistoryError::NotMapped { address })?;
        let mut pages = reads.into_inner();
        pages.retain(|[_, physical]| *physical != u64::MAX);
        Ok(Probe { view, at, sample, slice, address, physical, auxiliary, pages })
    }

    /// The value in memory; `None` if the memory does not exist.
    pub fn value(&self, memory: &Memory) -> Option<Value> {
        let read = |address: u64, out: &mut [u8]| self.read(memory, address, out);
        let mut element = [0; MOST_BYTES];
        let (auxiliary, at) = (self.auxiliary.as_ref(), self.at);
        let (range, cleared) =
            self.view.element(auxiliary, self.slice, at, self.sample, &read, &mut element)?;
        Some(Value { bytes: element.get(range)?.to_vec(), cleared })
    }

    fn read(&self, memory: &Memory, address: u64, out: &mut [u8]) -> bool {
        let (mut at, mut rest) = (address, out);
        while !rest.is_empty() {
            let here = rest.len().min((PAGE - at % PAGE) as usize);
            let (piece, after) = rest.split_at_mut(here);
            let page = self.pages.iter().find(|[page, _]| *page == at & !(PAGE - 1));
            let Some([_, physical]) = page else { return false };
            if memory.read_physical(physical + at % PAGE, piece).is_none() {
                return false;
            }
            (at, rest) = (at.wrapping_add(here as u64), after);
        }
        true
    }

    /// The channels of a value: red, green, blue and alpha, or depth, or stencil.
    pub fn channels(&self, value: &Value) -> Channels {
        self.view.channels(&value.bytes)
    }
}

/// The decoded value of a pixel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Channels {
    /// Red, green, blue and alpha.
    Floats([f32; 4]),
    /// Red, green, blue and alpha; signed integers as their bits.
    Integers([u32; 4]),
    /// A depth.
    Depth(f32),
    /// A stencil value.
    Stencil(u8),
    /// The format is not known.
    None,
}
