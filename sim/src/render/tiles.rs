//! Tiles of the screen: primitives are collected in bins; then each tile draws the primitives that
//! touch it, in order.
//!
//! A pixel depends only on the primitives that cover it and on their order. So tiles can be drawn
//! in parallel ([`crate::machine::parallel`]). The tiles do not depend on the number of host
//! threads. So pixel shader threads, their channels and all counts are always the same.

use super::primitives::BinnedPrimitive;
use super::wm::{Counts, Object, PixelPipe, PixelState};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::parallel::{Estimate, Work};
use crate::machine::state::State;
use crate::machine::watchdog;
use crate::mem::Client;
use crate::pixel::coordinates::Rect;
use crate::pixel::interpolate::Attribute;
use crate::unit::Program;
use std::ops::{ControlFlow, Range};

/// Pixels along the side of a tile of the screen. In a tiled target with 32 bits a pixel, such a
/// tile occupies four pages.
const SIDE: i32 = 64;
/// Number of primitives at which the bins are full. They can hold more: up to a whole group of
/// batches is added before the number is checked.
const PRIMITIVES: usize = 8192;
/// Number of pairs of primitive and tile at which the bins are full, and at which sorting stops.
/// More pairs are possible, because all pairs of the last primitive are sorted.
const PAIRS: usize = 1 << 17;

/// A tile that has primitives.
#[derive(Clone, Debug)]
pub struct BinnedTile {
    /// The pixels of the tile.
    pub pixels: Rect,
    /// Its range of [`Bins::pairs`].
    pairs: Range<usize>,
}

/// Primitives that wait for their tiles to be drawn. `P` is a primitive, `D` an item of its setup
/// data.
#[derive(Debug)]
pub struct Bins<P, D> {
    /// The primitives in order. New ones are added to the last chunk.
    chunks: Vec<Chunk<P, D>>,
    /// Number of primitives.
    count: usize,
    /// Number of pairs of primitive and tile.
    pairs_count: usize,
    /// After sorting: for each pair of primitive and tile, the position of the primitive. The pairs
    /// are in the order of their tiles.
    pairs: Vec<PrimitivePosition>,
    /// After sorting: the tiles that have primitives.
    tiles: Vec<BinnedTile>,
    /// After sorting: sum of the pixels that each sorted primitive can cover.
    area: u64,
}

/// Primitives that one host thread has set up.
#[derive(Debug)]
struct Chunk<P, D> {
    primitives: Vec<P>,
    /// The pixels that each primitive can cover.
    pixels: Vec<Rect>,
    /// Setup data of all primitives. Each primitive has the same number of items.
    data: Vec<D>,
}

/// The position of a primitive: the index of its chunk, and its index in the chunk.
type PrimitivePosition = (u32, u32);

impl<P, D> Default for Chunk<P, D> {
    fn default() -> Self {
        Chunk { primitives: Vec::new(), pixels: Vec::new(), data: Vec::new() }
    }
}

impl<P, D> Chunk<P, D> {
    fn clear(&mut self) {
        self.primitives.clear();
        self.pixels.clear();
        self.data.clear();
    }
}

impl<P, D> Default for Bins<P, D> {
    fn default() -> Self {
        Bins {
            chunks: Vec::new(),
            count: 0,
            pairs_count: 0,
            pairs: Vec::new(),
            tiles: Vec::new(),
            area: 0,
        }
    }
}

impl<P, D> Bins<P, D> {
    /// Adds a primitive that can cover `pixels` of the screen; `setup` appends its setup data.
    ///
    /// # Errors
    /// [`Fault::Hang`] if the budget is used up.
    pub fn push(
        &mut self,
        exec: &mut Exec<'_>,
        pixels: Rect,
        primitive: P,
        setup: impl FnOnce(&mut Vec<D>),
    ) -> Result<(), Fault> {
        if pixels.is_empty() {
            return Ok(());
        }
        // The cost is the number of blocks of pixels: thin primitives have many blocks and few
        // pixels.
        exec.spend(watchdog::BLOCK * pixels.blocks())?;
        if self.chunks.is_empty() {
            self.chunks.push(Chunk::default());
        }
        if let Some(chunk) = self.chunks.last_mut() {
            self.count += 1;
            self.pairs_count += tiles(pixels).count();
            chunk.pixels.push(pixels);
            chunk.primitives.push(primitive);
            setup(&mut chunk.data);
        }
        Ok(())
    }

    /// Moves the primitives of `other` to the end.
    pub fn append(&mut self, other: &mut Bins<P, D>) {
        self.count += std::mem::take(&mut other.count);
        self.pairs_count += std::mem::take(&mut other.pairs_count);
        self.chunks.append(&mut other.chunks);
    }

    /// True if the bins must be drawn before primitives are added.
    pub fn is_full(&self) -> bool {
        self.count >= PRIMITIVES || self.pairs_count >= PAIRS
    }

    /// The position of the first primitive; `None` if there are no primitives.
    pub fn first(&self) -> Option<PrimitivePosition> {
        self.place(0, 0)
    }

    /// The first position that has a primitive, from this chunk and index on.
    fn place(&self, chunk: usize, index: usize) -> Option<PrimitivePosition> {
        let rest = self.chunks.iter().enumerate().skip(chunk);
        let mut from = rest.map(|(n, this)| (n, if n == chunk { index } else { 0 }, this));
        let (chunk, index, _) = from.find(|(_, index, this)| *index < this.primitives.len())?;
        Some((chunk as u32, index as u32))
    }

    /// Calls `each` for the primitives from `first` up to, but without, `end`. Without `end`: for
    /// all primitives from `first` on.
    fn each(
        &self,
        first: PrimitivePosition,
        end: Option<PrimitivePosition>,
        mut each: impl FnMut(PrimitivePosition, Rect),
    ) {
        let _ = self.from(first).try_for_each(|(place, pixels)| {
            if Some(place) == end {
                return ControlFlow::Break(());
            }
            each(place, pixels);
            ControlFlow::Continue(())
        });
    }

    /// The primitives from `first` on: their positions, and the pixels that they can cover.
    #[inline]
    fn from(&self, first: PrimitivePosition) -> impl Iterator<Item = (PrimitivePosition, Rect)> {
        let chunks = self.chunks.iter().enumerate().skip(first.0 as usize);
        chunks.flat_map(move |(number, chunk)| {
            let skipped = if number == first.0 as usize { first.1 as usize } else { 0 };
            let pixels = chunk.pixels.iter().enumerate().skip(skipped);
            pixels.map(move |(index, pixels)| ((number as u32, index as u32), *pixels))
        })
    }

    /// Sorts primitives by tile, from position `first` on. Stops when there are `PAIRS` pairs.
    /// Returns the position of the first primitive that is not sorted; `None` if all are sorted.
    pub fn sort(&mut self, first: PrimitivePosition) -> Option<PrimitivePosition> {
        let (mut pairs, mut sorted) =
            (std::mem::take(&mut self.pairs), std::mem::take(&mut self.tiles));
        pairs.clear();
        sorted.clear();
        let (mut count, mut area) = (0, 0);
        let mut all: Option<Tiles> = None;
        let end = self.from(first).try_for_each(|(place, pixels)| {
            if count >= PAIRS {
                return ControlFlow::Break(place);
            }
            let own = tiles(pixels);
            count += own.count();
            area += pixels.area();
            all = Some(all.map_or(own, |all| all.around(&own)));
            ControlFlow::Continue(())
        });
        let next = end.break_value();
        self.area = area;
        if let Some(all) = all {
            // Sorts by counting: the number of pairs of each tile gives the range of its pairs.
            let mut ends = vec![0; all.count()];
            self.each(first, next, |_, pixels| {
                tiles(pixels).each(|x, y| ends[all.index(x, y)] += 1);
            });
            let mut start = 0;
            for (number, end) in ends.iter_mut().enumerate() {
                let count = std::mem::replace(end, start);
                if count > 0 {
                    let pairs = start..start + count;
                    sorted.push(BinnedTile { pixels: all.pixels(number), pairs });
                    start += count;
                }
            }
            pairs.resize(start, (0, 0));
            self.each(first, next, |place, pixels| {
                tiles(pixels).each(|x, y| {
                    let at = &mut ends[all.index(x, y)];
                    pairs[*at] = place;
                    *at += 1;
                });
            });
        }
        (self.pairs, self.tiles) = (pairs, sorted);
        next
    }

    /// Removes all primitives.
    pub fn clear(&mut self) {
        self.chunks.truncate(1);
        self.chunks.iter_mut().for_each(Chunk::clear);
        self.count = 0;
        self.pairs_count = 0;
        self.pairs.clear();
        self.tiles.clear();
        self.area = 0;
    }

    /// The tiles that have sorted primitives, by row from the top, then from the left.
    pub fn tiles(&self) -> &[BinnedTile] {
        &self.tiles
    }

    /// Sum of the pixels that each sorted primitive can cover.
    pub fn area(&self) -> u64 {
        self.area
    }

    /// The primitives of a tile, in order, each with its setup data.
    pub fn primitives(&self, tile: &BinnedTile) -> impl Iterator<Item = (&P, &[D])> {
        self.pairs[tile.pairs.clone()].iter().map(move |&(chunk, index)| {
            let (Chunk { primitives, data, .. }, index) =
                (&self.chunks[chunk as usize], index as usize);
            let each = data.len() / primitives.len().max(1);
            (&primitives[index], &data[index * each..(index + 1) * each])
        })
    }
}

/// Empty chunks, kept so that later draws reuse their memory. A clone has no chunks.
#[derive(Debug)]
pub struct Spare<P, D>(Vec<Chunk<P, D>>);

impl<P, D> Spare<P, D> {
    /// Maximum number of chunks.
    const CAPACITY: usize = 64;

    /// Empty bins.
    pub fn take(&mut self) -> Bins<P, D> {
        Bins { chunks: self.0.pop().into_iter().collect(), ..Bins::default() }
    }

    /// Removes all primitives from the bins and keeps their memory.
    pub fn put(&mut self, bins: &mut Bins<P, D>) {
        bins.chunks.iter_mut().for_each(Chunk::clear);
        let room = Self::CAPACITY.saturating_sub(self.0.len());
        self.0.extend(bins.chunks.drain(..).take(room));
        bins.clear();
    }
}

impl<P, D> Default for Spare<P, D> {
    fn default() -> Self {
        Spare(Vec::new())
    }
}

impl<P, D> Clone for Spare<P, D> {
    fn clone(&self) -> Self {
        Spare::default()
    }
}

/// A rectangle of tiles. Positions are in tiles.
#[derive(Clone, Copy, Debug)]
struct Tiles {
    x0: i32,
    y0: i32,
    /// The column after the last one.
    x1: i32,
    /// The row after the last one.
    y1: i32,
}

/// The tiles that a rectangle of pixels overlaps.
fn tiles(pixels: Rect) -> Tiles {
    let end = |at: i32| (at - 1).div_euclid(SIDE) + 1;
    Tiles {
        x0: pixels.x0.div_euclid(SIDE),
        y0: pixels.y0.div_euclid(SIDE),
        x1: end(pixels.x1),
        y1: end(pixels.y1),
    }
}

impl Tiles {
    /// Number of tiles.
    fn count(&self) -> usize {
        ((self.x1 - self.x0) * (self.y1 - self.y0)) as usize
    }

    /// The smallest rectangle that contains both.
    fn around(&self, other: &Tiles) -> Tiles {
        Tiles {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }

    /// The number of a tile, in order of rows.
    fn index(&self, x: i32, y: i32) -> usize {
        ((y - self.y0) * (self.x1 - self.x0) + x - self.x0) as usize
    }

    /// The pixels of the tile with a number.
    fn pixels(&self, number: usize) -> Rect {
        let (number, columns) = (number as i32, self.x1 - self.x0);
        let (x0, y0) = ((self.x0 + number % columns) * SIDE, (self.y0 + number / columns) * SIDE);
        Rect { x0, y0, x1: x0 + SIDE, y1: y0 + SIDE }
    }

    /// Calls `each` for every tile, in order of rows.
    fn each(&self, mut each: impl FnMut(i32, i32)) {
        for y in self.y0..self.y1 {
            for x in self.x0..self.x1 {
                each(x, y);
            }
        }
    }
}

/// Sorted bins, with the state to draw them.
#[derive(Clone, Copy, Debug)]
pub struct Screen<'a> {
    /// State of the rasteriser and the stages after it.
    pub state: PixelState<'a>,
    /// The primitives, sorted by tile.
    pub bins: &'a Bins<BinnedPrimitive, [Attribute; 4]>,
}

impl Screen<'_> {
    fn tile(
        &self,
        exec: &mut Exec<'_>,
        pipe: &mut PixelPipe,
        tile: &BinnedTile,
    ) -> Result<(), Fault> {
        let Screen { state, bins } = self;
        pipe.begin_tile();
        let watched = pipe.watches(tile.pixels);
        for (primitive, attributes) in bins.primitives(tile) {
            let window = state.raster.window(primitive.viewport, tile.pixels);
            let object = Object { draw: *state, primitive, attributes };
            match watched {
                false => pipe.primitive(exec, &object, window)?,
                true => pipe.watched_primitive(exec, &object, window)?,
            }
        }
        Ok(())
    }
}

impl Work for Screen<'_> {
    type Worker = PixelPipe;
    type Report = (Vec<Program>, Counts);

    fn items(&self) -> u64 {
        self.bins.tiles().len() as u64
    }

    fn estimate(&self, exec: &Exec<'_>, pipe: &PixelPipe) -> Estimate {
        // Most primitives are triangles, which cover at most half of the rectangle around them.
        pipe.estimate(exec, &self.state, self.bins.area() / 2)
    }

    /// All draws are of one kind. No kernel has this address.
    fn kind(&self) -> Option<u64> {
        Some(u64::MAX)
    }

    /// Neighbouring tiles of a row that probably do not share pages with other tiles. They are as
    /// wide as a page of the targets. In linear targets, they are whole rows: a row of tiles is 64
    /// pixels high, so it starts at a page boundary if the pitch is a multiple of 64 bytes. Other
    /// targets are drawn correctly, but their claims are often refused.
    fn exclusive(
        &self,
        exec: &Exec<'_>,
        pipe: &mut PixelPipe,
        tiles: Range<u64>,
        _: u64,
    ) -> Option<Vec<Range<u64>>> {
        let width = i32::try_from(pipe.width_of_pages(exec)?).unwrap_or(i32::MAX).max(SIDE);
        let area = |tile: &BinnedTile| (tile.pixels.y0, tile.pixels.x0.div_euclid(width));
        let mut first = tiles.start;
        let tiles = &self.bins.tiles()[tiles.start as usize..tiles.end as usize];
        let areas = tiles.chunk_by(|a, b| area(a) == area(b)).map(|tiles| {
            let start = first;
            first += tiles.len() as u64;
            start..first
        });
        Some(areas.collect())
    }

    /// Draws a range of the tiles, which are in order from the upper left to the lower right.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    fn run(
        &self,
        exec: &mut Exec<'_>,
        pipe: &mut PixelPipe,
        tiles: Range<u64>,
    ) -> Result<(), Fault> {
        let _client = exec.vm.client(Client::Depth);
        for tile in &self.bins.tiles()[tiles.start as usize..tiles.end as usize] {
            self.tile(exec, pipe, tile)?;
        }
        Ok(())
    }

    fn fork(&self, pipe: &PixelPipe) -> PixelPipe {
        pipe.fork()
    }

    fn inherit(pipe: &mut PixelPipe, other: &PixelPipe) {
        pipe.inherit(other);
    }

    fn report(pipe: &mut PixelPipe) -> (Vec<Program>, Counts) {
        pipe.report()
    }

    fn merge(pipe: &mut PixelPipe, _: &mut State, (programs, counts): (Vec<Program>, Counts)) {
        pipe.merge(&programs, counts);
    }
}
