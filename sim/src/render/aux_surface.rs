//! Auxiliary surfaces of render targets: which blocks are cleared (CCS), and in which plane each
//! sample of a pixel is stored (MCS). Their bits are in memory as on hardware, because drivers
//! clear, copy and read them. (gen8_facts 8.3 and 8.4)
//!
//! * A fast clear writes the auxiliary surface only. Rendering to a cleared block first writes the
//!   clear colour to the block (CCS). Rendering to a cleared pixel first writes the clear colour to
//!   the samples that rendering reads or does not overwrite (MCS).
//! * The samples of a pixel share plane 0 after one write of all samples with one colour. The write
//!   must not read the target, or the pixel must be cleared or in plane 0 already. Otherwise each
//!   sample has its own plane, even if all colours are equal.
//! * A resolve writes the clear colour to cleared blocks (CCS only).

use crate::assumptions::{CCS_OWORDS_GO_ACROSS_FIRST, CLEARED_BLOCKS_ARE_ONES};
use crate::mem::{PageFault, Vm};
use crate::surface::{AuxiliaryKind, BadSurface, Layout, Level, Surface, TileMode};

/// Bytes of the auxiliary surface that a pixel of a fast clear writes.
const OWORD: usize = 16;

/// The location of a sample of a pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// The sample is not stored: it has the clear colour.
    Cleared,
    /// The sample is stored in the plane of the sample with this number.
    Plane(u32),
}

/// A multisample control surface: a word for each pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mcs {
    base: u64,
    pitch: i64,
    qpitch: u32,
    samples: u32,
}

impl Mcs {
    /// The control surface of a surface with several samples, if it has one.
    pub fn of(surface: &Surface) -> Option<Mcs> {
        let auxiliary = &surface.auxiliary;
        let samples = surface.layout.samples;
        let has =
            auxiliary.kind == AuxiliaryKind::Mcs && samples > 1 && !surface.layout.interleaved;
        has.then(|| Mcs {
            base: auxiliary.base,
            pitch: auxiliary.pitch.into(),
            qpitch: auxiliary.qpitch,
            samples,
        })
    }

    /// Bytes of the word of a pixel.
    const fn bytes(&self) -> u32 {
        if self.samples == 8 { 4 } else { 1 }
    }

    /// Mask of the bits of the word that are used.
    const fn bits(&self) -> u32 {
        match self.samples {
            2 => 0x3,
            4 => 0xff,
            _ => u32::MAX,
        }
    }

    /// The word of a cleared pixel.
    pub const fn cleared(&self) -> u32 {
        self.bits()
    }

    /// The word of a pixel with each sample in its own plane.
    pub const fn identity(&self) -> u32 {
        match self.samples {
            2 => 0b10,
            4 => 0b11_10_01_00,
            _ => 0x7654_3210,
        }
    }

    /// The location of a sample of a pixel with this word. The word comes from memory, or from a
    /// kernel that got it by `ld_mcs`.
    pub const fn stored(&self, word: u32, sample: u32) -> Stored {
        if word & self.bits() == self.cleared() {
            return Stored::Cleared;
        }
        Stored::Plane(match self.samples {
            2 => word >> (sample & 1) & 1,
            4 => word >> (2 * (sample & 3)) & 3,
            _ => word >> (4 * (sample & 7)) & 7,
        })
    }

    /// Graphics address of the word of a pixel. `slice` counts from the first slice of the surface.
    #[inline]
    pub fn address(&self, slice: u32, x: u32, y: u32) -> u64 {
        let row = i64::from(slice) * i64::from(self.qpitch) + i64::from(y);
        let offset = TileMode::Y.offset(i64::from(x * self.bytes()), row, self.pitch);
        self.base.wrapping_add(offset as u64)
    }

    /// The word of a pixel.
    ///
    /// # Errors
    /// A page fault of the auxiliary surface.
    #[inline]
    pub fn read(&self, vm: &Vm<'_>, slice: u32, x: u32, y: u32) -> Result<u32, PageFault> {
        let at = self.address(slice, x, y);
        let word = if self.bytes() == 4 { vm.read_u32(at)? } else { vm.read_u8(at)?.into() };
        Ok(word & self.bits())
    }

    /// Replaces the word of a pixel.
    ///
    /// # Errors
    /// A page fault of the auxiliary surface.
    #[inline]
    pub fn write(
        &self,
        vm: &mut Vm<'_>,
        slice: u32,
        x: u32,
        y: u32,
        word: u32,
    ) -> Result<(), PageFault> {
        let at = self.address(slice, x, y);
        if self.bytes() == 4 { vm.write_u32(at, word) } else { vm.write_u8(at, word as u8) }
    }

    /// Marks the pixels as cleared that pixel (`x`, `y`) of a fast clear stands for: 8 x 2 pixels,
    /// or 2 x 2 pixels if they have 8 samples.
    fn clear(&self, vm: &mut Vm<'_>, slice: u32, x: u32, y: u32) -> Result<(), PageFault> {
        for row in 0..2 {
            let at = self.address(slice, x * (8 / self.bytes()), 2 * y + row);
            vm.write_array(at, &[0xff; 8])?;
        }
        Ok(())
    }
}

/// A colour control surface: a bit for each block of pixels. The pixels of a block have 128 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ccs {
    base: u64,
    /// Number of tiles side by side in the control surface.
    tiles: i64,
    /// Layout of levels and slices, in blocks instead of pixels.
    layout: Layout,
    /// The level that is rendered to.
    level: Level,
}

impl Ccs {
    /// The control surface of a render target with one sample, if it has one.
    ///
    /// # Errors
    /// [`BadSurface`] for surfaces that cannot have one: those without X or Y tiles, and those
    /// whose elements do not have 4, 8 or 16 bytes.
    pub fn of(surface: &Surface, level: &Level) -> Result<Option<Ccs>, BadSurface> {
        let auxiliary = &surface.auxiliary;
        if auxiliary.kind != AuxiliaryKind::Mcs || surface.layout.samples > 1 {
            return Ok(None);
        }
        let bytes = surface.element_bytes;
        let block = match surface.tile_mode {
            _ if !matches!(bytes, 4 | 8 | 16) => None,
            TileMode::X => Some([64 / bytes, 2]),
            TileMode::Y => Some([32 / bytes, 4]),
            _ => None,
        };
        let Some(block) = block else {
            let why = "only tiled surfaces of 4, 8 or 16 bytes an element can be cleared by blocks";
            return Err(BadSurface { field: "Auxiliary Surface Mode", value: 1, why });
        };
        let layout = Layout {
            block,
            // Levels are aligned to 256 x 128 pixels (2d p.344).
            align: [256 / block[0], 128 / block[1]],
            qpitch: auxiliary.qpitch / block[1],
            ..surface.layout
        };
        let tiles = i64::from(auxiliary.pitch / TileMode::Y.width());
        Ok(Some(Ccs { base: auxiliary.base, tiles, layout, level: layout.level(level.number) }))
    }

    /// Pixels of a block, across and down.
    pub const fn block(&self) -> [u32; 2] {
        self.layout.block
    }

    /// Address of the oword that has the bit of a block of the level, and the number of the bit.
    ///
    /// A tile has 128 x 256 blocks. Its cache lines are in the order of other Y tiles. A cache line
    /// has 16 x 32 blocks, an oword 8 x 16 blocks, a byte a row of 8 blocks.
    fn place(&self, slice: u32, column: u32, row: u32) -> (u64, u32) {
        let [left, top] = self.layout.slice(&self.level, slice, 0);
        let (column, row) = (left + column, top + row);
        let tile = i64::from(row / 256) * self.tiles + i64::from(column / 128);
        let line = column % 128 / 16 * 512 + row % 256 / 32 * 64;
        let (right, below) = (column / 8 % 2, row / 16 % 2);
        let oword = if CCS_OWORDS_GO_ACROSS_FIRST { 2 * below + right } else { 2 * right + below };
        let at = tile * 4096 + i64::from(line + oword * OWORD as u32);
        (self.base.wrapping_add(at as u64), row % 16 * 8 + column % 8)
    }
}

/// Caches the address of an oword without cleared blocks, for [`Ccs::open`]. During a draw, each
/// worker has one cache for each render target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxCache {
    /// Address of an oword without a cleared block.
    oword: u64,
}

impl Default for AuxCache {
    fn default() -> AuxCache {
        AuxCache { oword: u64::MAX }
    }
}

/// The auxiliary surface of a render target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Auxiliary {
    /// The CCS of a surface with one sample.
    Ccs(Ccs),
    /// The MCS of a surface with several samples.
    Mcs(Mcs),
}

const SET: u128 = if CLEARED_BLOCKS_ARE_ONES { u128::MAX } else { 0 };

impl Auxiliary {
    /// The auxiliary surface of a render target.
    ///
    /// # Errors
    /// [`BadSurface`] for surfaces that cannot have one.
    pub fn of(surface: &Surface, level: &Level) -> Result<Option<Auxiliary>, BadSurface> {
        match Mcs::of(surface) {
            Some(mcs) => Ok(Some(Auxiliary::Mcs(mcs))),
            None => Ok(Ccs::of(surface, level)?.map(Auxiliary::Ccs)),
        }
    }

    /// The location of a sample of a pixel. `read` reads memory; if it returns false, the result is
    /// the sample's own plane, as without an auxiliary surface. `slice` counts from the first slice
    /// of the surface.
    pub fn stored(
        &self,
        slice: u32,
        [x, y]: [u32; 2],
        sample: u32,
        read: &dyn Fn(u64, &mut [u8]) -> bool,
    ) -> Stored {
        match self {
            Auxiliary::Mcs(mcs) => {
                let mut bytes = [0; 4];
                let known = read(mcs.address(slice, x, y), &mut bytes[..mcs.bytes() as usize]);
                match known {
                    true => mcs.stored(u32::from_le_bytes(bytes), sample),
                    false => Stored::Plane(sample),
                }
            }
            Auxiliary::Ccs(ccs) => {
                let [across, down] = ccs.block();
                let (at, bit) = ccs.place(slice, x / across, y / down);
                let mut bytes = SET.to_le_bytes().map(|byte| !byte);
                let known = read(at, &mut bytes);
                let cleared = (u128::from_le_bytes(bytes) ^ !SET) >> bit & 1 == 1;
                if known && cleared { Stored::Cleared } else { Stored::Plane(0) }
            }
        }
    }

    /// Executes pixel (`x`, `y`) of a fast clear: marks the pixels or blocks that it stands for as
    /// cleared.
    ///
    /// # Errors
    /// A page fault of the auxiliary surface.
    pub fn clear(&self, vm: &mut Vm<'_>, slice: u32, x: u32, y: u32) -> Result<(), PageFault> {
        match self {
            Auxiliary::Mcs(mcs) => mcs.clear(vm, slice, x, y),
            Auxiliary::Ccs(ccs) => {
                let (at, _) = ccs.place(slice, 8 * x, 16 * y);
                vm.write_array(at, &SET.to_le_bytes())
            }
        }
    }
}

impl Ccs {
    /// Executes pixel (`x`, `y`) of a resolve, which stands for an oword of the auxiliary surface.
    /// Calls `fill` with the first pixel of each cleared block of this oword, and marks these
    /// blocks as not cleared.
    ///
    /// # Errors
    /// Page faults of the auxiliary surface, and those that `fill` returns.
    pub fn resolve(
        &self,
        vm: &mut Vm<'_>,
        slice: u32,
        [x, y]: [u32; 2],
        mut fill: impl FnMut(&mut Vm<'_>, [u32; 2]) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        let (at, _) = self.place(slice, 8 * x, 16 * y);
        let bits = u128::from_le_bytes(vm.read_array(at)?) ^ !SET;
        if bits == 0 {
            return Ok(());
        }
        let [across, down] = self.block();
        for bit in 0..128 {
            if bits >> bit & 1 == 1 {
                let (column, row) = (8 * x + bit % 8, 16 * y + bit / 8);
                fill(vm, [column * across, row * down])?;
            }
        }
        vm.write_array(at, &(!SET).to_le_bytes())
    }

    /// Marks the block of a pixel as not cleared. If the block was cleared, first calls `fill` with
    /// the first pixel of the block.
    ///
    /// # Errors
    /// Page faults of the auxiliary surface, and those that `fill` returns.
    #[inline]
    pub fn open(
        &self,
        vm: &mut Vm<'_>,
        cache: &mut AuxCache,
        slice: u32,
        [x, y]: [u32; 2],
        fill: impl FnOnce(&mut Vm<'_>, [u32; 2]) -> Result<(), PageFault>,
    ) -> Result<(), PageFault> {
        let [across, down] = self.block();
        let (column, row) = (x / across, y / down);
        let (at, bit) = self.place(slice, column, row);
        if at == cache.oword {
            return Ok(());
        }
        let bits = u128::from_le_bytes(vm.read_array(at)?) ^ !SET;
        if bits >> bit & 1 == 1 {
            fill(vm, [column * across, row * down])?;
            vm.write_array(at, &(bits & !(1 << bit) ^ !SET).to_le_bytes())?;
        } else if bits == 0 {
            cache.oword = at;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
