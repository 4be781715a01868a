//! Reads texels from memory. Texels are addressed by level, slice, column and row, collected in
//! groups, and decoded together.
//!
//! If elements have whole bytes, adding a texel only records its address. [`Texels::read`] copies
//! and decodes the bytes of the whole group. Other texels (blocks, shared chroma, bits) are read
//! when they are added, through the same cache of pages.

use super::address::BORDER;
use super::state::KeyMode;
use super::view::{Origin, Place, Source, View, column, row};
use crate::assumptions::CHROMA_BETWEEN_PAIRS_IS_SHARED;
use crate::mem::{PAGE, Page, PageFault, Vm};
use crate::surface::format::codec::{decode_element, decode_yuv};
use crate::surface::format::value::Value;
use crate::surface::format::{Codec, Numeric};

/// Maximum number of texels of a group: two in each of three directions for eight lanes.
pub const GROUP: usize = 64;
/// Texels of the largest block (FXT1).
const BLOCK: usize = 32;

/// Cache of recently used pages. The low bits of a page number select the entry.
pub struct Pages<'v, 'a> {
    vm: &'v Vm<'a>,
    pages: [(u64, &'v Page); 4],
}

/// Page number of an empty entry.
const NO_PAGE: u64 = u64::MAX;
/// The page of an empty entry. It is never read.
static NOWHERE: Page = Page::zeros();

impl<'v, 'a> Pages<'v, 'a> {
    /// An empty cache.
    pub fn new(vm: &'v Vm<'a>) -> Self {
        Pages { vm, pages: [(NO_PAGE, &NOWHERE); 4] }
    }

    /// The page that holds `address`. The caller [records](Self::record) its reads.
    ///
    /// # Errors
    /// A page fault.
    #[inline(always)]
    pub fn page(&mut self, address: u64) -> Result<&'v Page, PageFault> {
        let number = address / PAGE;
        let memo = &mut self.pages[number as usize % 4];
        if memo.0 != number {
            *memo = (number, self.vm.page(address)?);
        }
        Ok(memo.1)
    }

    /// Records a read of `length` bytes, in one page, if an observer wants accesses.
    #[inline(always)]
    pub fn record(&self, address: u64, length: usize) {
        self.vm.record(address, length, false);
    }

    /// True if an observer wants accesses.
    #[inline(always)]
    pub fn recorded(&self) -> bool {
        self.vm.log().is_some()
    }

    /// A bit for each line of 64 bytes of the page of `address`: set if reads of the line need not
    /// be recorded.
    #[inline(always)]
    pub fn harmless_lines(&self, address: u64) -> u64 {
        self.vm.harmless_lines(address)
    }

    /// Records reads of elements of `length` bytes at `offsets` from `base`, the address of a page.
    /// No element crosses a line of 64 bytes.
    pub fn record_elements(&self, base: u64, offsets: &[u32], length: usize) {
        self.vm.record_elements(base, offsets, length);
    }

    /// The bytes from `address` on.
    ///
    /// # Errors
    /// A page fault.
    #[inline(always)]
    pub fn bytes<const N: usize>(&mut self, address: u64) -> Result<[u8; N], PageFault> {
        let page = self.page(address)?;
        match page.load((address % PAGE) as usize) {
            Some(bytes) => {
                self.record(address, N);
                Ok(bytes)
            }
            None => self.vm.read_array(address),
        }
    }
}

/// Replaces subnormal numbers by zeros of the same sign
/// ([`SAMPLES_FLUSH_SUBNORMALS`](crate::assumptions::SAMPLES_FLUSH_SUBNORMALS)).
#[inline]
pub fn flush(values: &mut [Value]) {
    for channel in values.as_flattened_mut() {
        if f32::from_bits(*channel).is_subnormal() {
            *channel &= 1 << 31;
        }
    }
}

/// A group of texels of a view.
pub struct Texels<'v, 'a> {
    view: &'v View,
    /// True if subnormal numbers become zeros of the same sign.
    flushes: bool,
    pages: Pages<'v, 'a>,
    /// Number of texels in the group.
    count: usize,
    addresses: [u64; GROUP],
    /// Mask of the texels that have the border colour.
    border: u64,
    /// Values of the texels, valid after [`Texels::read`].
    pub values: [Value; GROUP],
    /// Mask of the texels of packed YUV that match the chroma key.
    matched: u64,
    /// Mask of the texels that the chroma key kills, valid after [`Texels::read`].
    pub killed: u64,
    /// Number of bytes read.
    pub bytes: u64,
    /// The block that was decoded last, and its address.
    block: Option<(u64, [Value; BLOCK])>,
}

impl<'v, 'a> Texels<'v, 'a> {
    /// An empty group. Its texels keep subnormal numbers.
    #[inline]
    pub fn new(view: &'v View, vm: &'v Vm<'a>) -> Self {
        Texels {
            view,
            flushes: false,
            pages: Pages::new(vm),
            count: 0,
            addresses: [0; GROUP],
            border: 0,
            values: [[0; 4]; GROUP],
            matched: 0,
            killed: 0,
            bytes: 0,
            block: None,
        }
    }

    /// An empty group for samples and gathers. Subnormal numbers become zeros if the view says so.
    #[inline]
    pub fn flushing(view: &'v View, vm: &'v Vm<'a>) -> Self {
        Texels { flushes: view.flushes, ..Texels::new(view, vm) }
    }

    /// Empties the group.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
        self.border = 0;
        self.matched = 0;
        self.killed = 0;
    }

    /// Number of texels, which is also the position of the next one.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds a texel with the border colour.
    #[inline(always)]
    pub fn push_border(&mut self) {
        self.border |= 1 << self.count;
        self.addresses[self.count] = 0;
        self.count += 1;
    }

    /// Adds the element at a graphics address.
    #[inline(always)]
    pub fn push_address(&mut self, address: u64) {
        self.addresses[self.count] = address;
        self.count += 1;
    }

    /// Adds the texels in columns `xs` of rows `ys`, row by row. The column or row [`BORDER`] gives
    /// the border colour.
    ///
    /// # Errors
    /// A page fault.
    #[inline(always)]
    pub fn push_square(
        &mut self,
        place: &Place,
        origin: Origin,
        xs: &[i32],
        ys: &[i32],
    ) -> Result<(), PageFault> {
        let Source::Elements(size) = self.view.source else {
            for &y in ys {
                for &x in xs {
                    self.push(place, origin, x, y)?;
                }
            }
            return Ok(());
        };
        let surface = &self.view.surface;
        for &y in ys {
            let line = self.row(origin, 0, y);
            for &x in xs {
                if x == BORDER || y == BORDER {
                    self.border |= 1 << self.count;
                }
                let byte = origin.left + i64::from(surface.left) + i64::from(x) * i64::from(size);
                let offset = column(surface.tile_mode, byte, surface.pitch);
                self.addresses[self.count] = line.wrapping_add(offset as u64);
                self.count += 1;
            }
        }
        Ok(())
    }

    /// Graphics address of row `y` of elements of the plane that begins `plane` lines of memory
    /// below the surface. The caller adds the offset of a byte in the row.
    #[inline(always)]
    fn row(&self, origin: Origin, plane: u32, y: i32) -> u64 {
        let surface = &self.view.surface;
        let y =
            ((origin.top + i64::from(y)) << surface.line_stride) + i64::from(surface.line_offset);
        let y = y + i64::from(plane) + i64::from(surface.top);
        surface.base.wrapping_add(row(surface.tile_mode, y, surface.pitch) as u64)
    }

    /// Graphics address of byte `byte` of row `y`, both counted from `origin`.
    #[inline(always)]
    fn address(&self, origin: Origin, byte: i64, y: i32) -> u64 {
        self.address_in(origin, 0, byte, y)
    }

    /// Like `address`, in the plane that begins `plane` lines of memory below the surface.
    #[inline(always)]
    fn address_in(&self, origin: Origin, plane: u32, byte: i64, y: i32) -> u64 {
        let surface = &self.view.surface;
        let byte = origin.left + i64::from(surface.left) + byte;
        let column = column(surface.tile_mode, byte, surface.pitch);
        self.row(origin, plane, y).wrapping_add(column as u64)
    }

    /// Adds a texel by column and row.
    ///
    /// # Errors
    /// A page fault.
    pub fn push(&mut self, place: &Place, origin: Origin, x: i32, y: i32) -> Result<(), PageFault> {
        if x == BORDER || y == BORDER {
            self.push_border();
            return Ok(());
        }
        let n = self.count;
        let Some(codec) = self.view.codec else {
            self.values[n] = [0; 4];
            self.count += 1;
            return Ok(());
        };
        match self.view.source {
            Source::Elements(size) => {
                self.addresses[n] = self.address(origin, i64::from(x) * i64::from(size), y)
            }
            Source::Odd(size) => {
                self.addresses[n] = self.address(origin, i64::from(x) * i64::from(size), y)
            }
            Source::Nothing => self.values[n] = [0; 4],
            Source::Bits(bits) => {
                let at = x as u32 * bits;
                let [byte] = self.pages.bytes(self.address(origin, i64::from(at / 8), y))?;
                let word = u64::from(byte) >> (at % 8);
                // MONO8 has no channels: its bit gives all four values.
                self.values[n] = match codec.format().count {
                    0 => [((word & 1) as f32).to_bits(); 4],
                    _ => decode_element(codec.format(), &[word, 0, 0, 0]),
                };
                self.bytes += 1;
            }
            Source::Yuv => self.values[n] = self.packed(codec, place, origin, x, y)?,
            Source::Planar => self.values[n] = self.planar(codec, origin, x, y)?,
            Source::Blocks(shift) => {
                self.values[n] = self.compressed(codec, origin, shift, x, y)?
            }
        }
        self.count += 1;
        Ok(())
    }

    /// A pixel of packed YUV. Two pixels share their chroma.
    ///
    /// For the chroma key, the second pixel has the mean of this chroma and that of the next pair
    /// (2a p.35).
    fn packed(
        &mut self,
        codec: &Codec,
        place: &Place,
        origin: Origin,
        x: i32,
        y: i32,
    ) -> Result<Value, PageFault> {
        let class = codec.format().class;
        let pair = |texels: &mut Self, first: i32| -> Result<[Value; 2], PageFault> {
            let bytes = texels.pages.bytes(texels.address(origin, 2 * i64::from(first), y))?;
            texels.bytes += 4;
            Ok(decode_yuv(class, bytes).unwrap_or_default())
        };
        let own = pair(self, x & !1)?[(x & 1) as usize];
        let between = x & 1 == 1 && x + 1 < place.size[0];
        let mut between_pairs = own;
        if between && (self.view.key.is_some() || !CHROMA_BETWEEN_PAIRS_IS_SHARED) {
            let next = pair(self, x + 1)?[0];
            let mean = |n: usize| (f32::from_bits(own[n]) + f32::from_bits(next[n])) / 2.0;
            between_pairs = [mean(0).to_bits(), own[1], mean(2).to_bits(), own[3]];
        }
        self.matched |= u64::from(self.keyed(&between_pairs)) << self.count;
        Ok(if CHROMA_BETWEEN_PAIRS_IS_SHARED { own } else { between_pairs })
    }

    /// True if there is a chroma key, and a colour matches it.
    fn keyed(&self, color: &Value) -> bool {
        self.view.key.as_ref().is_some_and(|key| key.matches(color))
    }

    /// A pixel of a planar format: its luma, and the chroma of its block of 2 x 2 pixels. The
    /// result is Cr, Y, Cb (003:3634). Cb is stored before Cr. The offset of the chroma plane is in
    /// lines of memory, also if the surface skips lines: intel/media-driver gives the same offset
    /// for a field as for the whole picture.
    fn planar(
        &mut self,
        codec: &Codec,
        origin: Origin,
        x: i32,
        y: i32,
    ) -> Result<Value, PageFault> {
        let size = i64::from(codec.format().bytes());
        let [column, line] = self.view.surface.chroma;
        let (pair, half) = (i64::from(column) + i64::from(x & !1), y / 2);
        let mut part = |plane: u32, byte: i64, y: i32| -> Result<f32, PageFault> {
            let address = self.address_in(origin, plane, byte, y);
            self.bytes += size as u64;
            if size == 1 {
                let [byte] = self.pages.bytes(address)?;
                return Ok(f32::from(byte) / 255.0);
            }
            let bytes = self.pages.bytes(address)?;
            Ok(f32::from(u16::from_le_bytes(bytes)) / 65535.0)
        };
        let luma = part(0, i64::from(x) * size, y)?;
        let cb = part(line, pair * size, half)?;
        let cr = part(line, (pair + 1) * size, half)?;
        Ok([cr, luma, cb, 1.0].map(f32::to_bits))
    }

    /// A texel of a block. Caches the decoded block for the next texels.
    fn compressed(
        &mut self,
        codec: &Codec,
        origin: Origin,
        [across, down]: [u32; 2],
        x: i32,
        y: i32,
    ) -> Result<Value, PageFault> {
        let bytes = codec.format().bytes();
        let address = self.address(origin, i64::from(x >> across) * i64::from(bytes), y >> down);
        let within = ((y & ((1 << down) - 1)) << across | x & ((1 << across) - 1)) as usize;
        if let Some((known, texels)) = &self.block
            && *known == address
        {
            return Ok(texels[within]);
        }
        let mut texels = [[0; 4]; BLOCK];
        let whole: [u8; 16] = match bytes {
            16 => self.pages.bytes(address)?,
            _ => {
                let mut whole = [0; 16];
                whole[..8].copy_from_slice(&self.pages.bytes::<8>(address)?);
                whole
            }
        };
        codec.decode(&whole[..bytes as usize], &mut texels);
        self.bytes += u64::from(bytes);
        self.block = Some((address, texels));
        Ok(texels[within])
    }

    /// Reads and decodes the group, and applies border colour, palette and chroma key.
    ///
    /// # Errors
    /// A page fault.
    #[inline]
    pub fn read(&mut self) -> Result<(), PageFault> {
        match self.view.source {
            Source::Elements(4) => self.elements::<4>()?,
            Source::Elements(1) => self.elements::<1>()?,
            Source::Elements(2) => self.elements::<2>()?,
            Source::Elements(8) => self.elements::<8>()?,
            Source::Elements(16) => self.elements::<16>()?,
            Source::Elements(_) => self.elements::<32>()?,
            Source::Odd(3) => self.elements::<3>()?,
            Source::Odd(6) => self.elements::<6>()?,
            Source::Odd(12) => self.elements::<12>()?,
            Source::Odd(_) => self.elements::<24>()?,
            _ => {}
        }
        let view = self.view;
        if view.palette.is_some() || view.key.is_some() || view.ones != [false; 4] {
            self.adjust();
        }
        let mut border = self.border;
        while border != 0 {
            self.values[border.trailing_zeros() as usize] = view.border;
            border &= border - 1;
        }
        if self.flushes {
            flush(&mut self.values[..self.count]);
        }
        Ok(())
    }

    #[inline(always)]
    fn elements<const N: usize>(&mut self) -> Result<(), PageFault> {
        let Some(codec) = self.view.codec else { return Ok(()) };
        let count = self.count;
        let mut raw = [[0; N]; GROUP];
        for (n, (raw, address)) in raw.iter_mut().zip(&self.addresses[..count]).enumerate() {
            if self.border >> n & 1 == 0 {
                *raw = self.pages.bytes(*address)?;
            }
        }
        codec.decode(raw[..count].as_flattened(), &mut self.values[..count]);
        self.bytes += ((count as u64) - u64::from(self.border.count_ones())) * N as u64;
        Ok(())
    }

    /// Applies the palette, the channels that are 1, and the chroma key.
    #[cold]
    fn adjust(&mut self) {
        let view = self.view;
        for (n, value) in self.values[..self.count].iter_mut().enumerate() {
            if self.border >> n & 1 == 1 {
                continue;
            }
            if let Some(palette) = &view.palette {
                let color = palette[value[0] as usize & 0xff];
                let alpha = if view.palette_keeps_alpha { value[3] } else { color[3] };
                *value = [color[0], color[1], color[2], alpha];
            }
            for (channel, one) in value.iter_mut().zip(view.ones) {
                if one {
                    *channel = 1.0f32.to_bits();
                }
            }
            let packed = matches!(view.source, Source::Yuv);
            if let Some(key) = &view.key
                && view.numeric == Numeric::Float
                && if packed { self.matched >> n & 1 == 1 } else { key.matches(value) }
            {
                match key.mode {
                    KeyMode::Kill => self.killed |= 1 << n,
                    KeyMode::Black => *value = key.black(),
                }
            }
        }
    }
}
