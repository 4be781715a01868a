//! Tiles of the screen: primitives are collected, then each tile gets those that touch it, in their
//! order.
//!
//! What happens in a pixel depends on the order of primitives there and on nothing elsewhere, so that
//! tiles can be worked on side by side ([`crate::machine::parallel`]). Primitives are cut into the same pieces
//! whatever the number of host threads, so that the threads of pixel shaders, their channels and
//! all that is counted are always the same.

use super::primitives::BinnedPrimitive;
use super::raster_state::RasterState;
use super::wm::{Counts, PixelPipe, PixelState};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::parallel::Work;
use crate::machine::watchdog;
use crate::pixel::coordinates::Rect;
use crate::pixel::interpolate::Attribute;
use crate::unit::Program;
use std::ops::Range;

/// Pixels along the side of a tile: four pages of a target with 32 bits a pixel, tiled.
const SIDE: i32 = 64;
/// Primitives that are collected at most.
const PRIMITIVES: usize = 8192;
/// Pairs of primitive and tile that are collected, but for those of the last primitive.
const PAIRS: usize = 1 << 17;

/// A tile: rows of tiles from the top, each from the left.
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

/// Primitives that wait for their tiles to be drawn.
#[derive(Debug, Default)]
pub struct Bins {
    primitives: Vec<BinnedPrimitive>,
    /// Setup data of their attributes, as many for each.
    attributes: Vec<[Attribute; 4]>,
    /// Which tiles primitives touch; tiles are in order when they are drawn.
    pairs: Vec<(Tile, u32)>,
    /// The tiles, each with its part of `pairs`.
    tiles: Vec<(Tile, Range<usize>)>,
}

impl Bins {
    /// Adds a primitive; `setup` appends the data of its attributes.
    ///
    /// # Errors
    /// [`Fault::Hang`] if the budget is used up.
    pub fn push(
        &mut self,
        exec: &mut Exec<'_>,
        raster: &RasterState,
        primitive: BinnedPrimitive,
        setup: impl FnOnce(&mut Vec<[Attribute; 4]>),
    ) -> Result<(), Fault> {
        let pixels = primitive.setup.pixels(&raster.multisample.samples);
        let pixels = raster.window(primitive.viewport, Rect::SCREEN).intersection(pixels);
        if pixels.is_empty() {
            return Ok(());
        }
        // Thin primitives have many blocks and few pixels.
        exec.spend(watchdog::BLOCK * pixels.blocks())?;
        // Within the screen: 8 bits.
        let first = |at: i32| (at / SIDE) as u16;
        let last = |end: i32| ((end - 1) / SIDE) as u16;
        let number = self.primitives.len() as u32;
        for y in first(pixels.y0)..=last(pixels.y1) {
            for x in first(pixels.x0)..=last(pixels.x1) {
                self.pairs.push((Tile { y, x }, number));
            }
        }
        self.primitives.push(primitive);
        setup(&mut self.attributes);
        Ok(())
    }

    /// True if they should be drawn before more come.
    pub fn is_full(&self) -> bool {
        self.primitives.len() >= PRIMITIVES || self.pairs.len() >= PAIRS
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }

    /// Finds the tiles.
    pub fn sort(&mut self) {
        self.pairs.sort_by_key(|(tile, _)| *tile);
        self.tiles.clear();
        let mut start = 0;
        for tile in self.pairs.chunk_by(|one, other| one.0 == other.0) {
            let end = start + tile.len();
            self.tiles.push((tile[0].0, start..end));
            start = end;
        }
    }

    /// Forgets all primitives.
    pub fn clear(&mut self) {
        self.primitives.clear();
        self.attributes.clear();
        self.pairs.clear();
        self.tiles.clear();
    }
}

/// Sorted primitives with all that drawing them takes.
#[derive(Clone, Copy, Debug)]
pub struct Screen<'a> {
    /// State of the rasteriser and the stages after it.
    pub state: PixelState<'a>,
    /// The primitives.
    pub bins: &'a Bins,
}

impl Screen<'_> {
    fn tile(
        &self,
        exec: &mut Exec<'_>,
        pipe: &mut PixelPipe,
        (tile, pairs): &(Tile, Range<usize>),
    ) -> Result<(), Fault> {
        let Screen { state, bins } = self;
        let each = bins.attributes.len() / bins.primitives.len().max(1);
        let tile = tile.pixels();
        pipe.begin_tile();
        for &(_, number) in &bins.pairs[pairs.clone()] {
            let number = number as usize;
            let primitive = &bins.primitives[number];
            let attributes = &bins.attributes[number * each..(number + 1) * each];
            let window = state.raster.window(primitive.viewport, tile);
            pipe.primitive(exec, state, primitive, attributes, window)?;
        }
        Ok(())
    }
}

impl Work for Screen<'_> {
    type Worker = PixelPipe;
    type Report = (Vec<Program>, Counts);

    fn items(&self) -> u64 {
        self.bins.tiles.len() as u64
    }

    /// Draws tiles by their place in the order from the upper left to the lower right.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    fn run(
        &self,
        exec: &mut Exec<'_>,
        pipe: &mut PixelPipe,
        tiles: Range<u64>,
    ) -> Result<(), Fault> {
        for tile in &self.bins.tiles[tiles.start as usize..tiles.end as usize] {
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
