//! Tiles of the screen: primitives are collected in bins; then each tile draws the primitives that
//! touch it, in order.
//!
//! A pixel depends only on the primitives that cover it and on their order. So tiles can be drawn
//! in parallel ([`crate::machine::parallel`]). The tiles do not depend on the number of host
//! threads. So pixel shader threads, their channels and all counts are always the same.

use super::primitives::BinnedPrimitive;
use super::wm::{Counts, PixelPipe, PixelState};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::parallel::Work;
use crate::machine::watchdog;
use crate::pixel::coordinates::Rect;
use crate::pixel::interpolate::Attribute;
use crate::unit::Program;
use std::ops::Range;

/// Pixels along the side of a tile of the screen. In a tiled target with 32 bits a pixel, such a
/// tile occupies four pages.
const SIDE: i32 = 64;
/// Number of primitives at which the bins are full. They can hold more if setup makes several
/// primitives from the last one that the clipper accepted.
const PRIMITIVES: usize = 8192;
/// Number of pairs of primitive and tile at which the bins are full. They can hold more, because
/// all pairs of the last primitive are added.
const PAIRS: usize = 1 << 17;

/// The position of a tile, in tiles. Tiles are ordered by row from the top, then from the left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Tile {
    y: u16,
    x: u16,
}

impl Tile {
    fn pixels(self) -> Rect {
        let (x0, y0) = (i32::from(self.x) * SIDE, i32::from(self.y) * SIDE);
        Rect { x0, y0, x1: x0 + SIDE, y1: y0 + SIDE }
    }
}

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
    primitives: Vec<P>,
    /// Setup data of all primitives. Each primitive has the same number of items.
    data: Vec<D>,
    /// The tiles that each primitive touches, as pairs with the index of the primitive. Sorted by
    /// tile before drawing.
    pairs: Vec<(Tile, u32)>,
    /// The tiles that have primitives.
    tiles: Vec<BinnedTile>,
}

impl<P, D> Default for Bins<P, D> {
    fn default() -> Self {
        Bins { primitives: Vec::new(), data: Vec::new(), pairs: Vec::new(), tiles: Vec::new() }
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
        // Pixels are inside the screen, so tile positions have 8 bits.
        let first = |at: i32| (at / SIDE) as u16;
        let last = |end: i32| ((end - 1) / SIDE) as u16;
        let number = self.primitives.len() as u32;
        for y in first(pixels.y0)..=last(pixels.y1) {
            for x in first(pixels.x0)..=last(pixels.x1) {
                self.pairs.push((Tile { y, x }, number));
            }
        }
        self.primitives.push(primitive);
        setup(&mut self.data);
        Ok(())
    }

    /// True if the bins must be drawn before primitives are added.
    pub fn is_full(&self) -> bool {
        self.primitives.len() >= PRIMITIVES || self.pairs.len() >= PAIRS
    }

    /// True if there are no primitives.
    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }

    /// Sorts the pairs by tile, and fills `tiles`.
    pub fn sort(&mut self) {
        self.pairs.sort_by_key(|(tile, _)| *tile);
        self.tiles.clear();
        let mut start = 0;
        for tile in self.pairs.chunk_by(|one, other| one.0 == other.0) {
            let end = start + tile.len();
            self.tiles.push(BinnedTile { pixels: tile[0].0.pixels(), pairs: start..end });
            start = end;
        }
    }

    /// Removes all primitives.
    pub fn clear(&mut self) {
        self.primitives.clear();
        self.data.clear();
        self.pairs.clear();
        self.tiles.clear();
    }

    /// The tiles that have primitives, from the upper left to the lower right. Call after
    /// [`sort`](Self::sort).
    pub fn tiles(&self) -> &[BinnedTile] {
        &self.tiles
    }

    /// The primitives of a tile, in order, each with its setup data.
    pub fn primitives(&self, tile: &BinnedTile) -> impl Iterator<Item = (&P, &[D])> {
        let each = self.data.len() / self.primitives.len().max(1);
        self.pairs[tile.pairs.clone()].iter().map(move |&(_, number)| {
            let number = number as usize;
            (&self.primitives[number], &self.data[number * each..(number + 1) * each])
        })
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
            match watched {
                false => pipe.primitive(exec, state, primitive, attributes, window)?,
                true => pipe.watched_primitive(exec, state, primitive, attributes, window)?,
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
        for tile in &self.bins.tiles()[tiles.start as usize..tiles.end as usize] {
            self.tile(exec, pipe, tile)?;
        }
        Ok(())
    }

    fn fork(pipe: &PixelPipe) -> PixelPipe {
        pipe.fork()
    }

    fn inherit(pipe: &mut PixelPipe, other: &PixelPipe) {
        pipe.inherit(other);
    }

    fn report(pipe: &mut PixelPipe) -> (Vec<Program>, Counts) {
        pipe.report()
    }

    fn merge(pipe: &mut PixelPipe, (programs, counts): (Vec<Program>, Counts)) {
        pipe.merge(&programs, counts);
    }
}
