//! Writes to targets of four normalized bytes with one sample, in vector instructions. The results
//! are those of [`RenderTarget::write`].

use super::RenderTarget;
use crate::eu::fast::Level;
use crate::eu::fast::lanes::{blend, map, zip};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{Client, PageFault, Vm};
use crate::render::aux_surface::{AuxCache, Auxiliary, Ccs};
use crate::render::elements::{Elements, MOST_BYTES, Places};
use crate::render::strip::{Parts, lane, lanes};
use crate::unit::render_cache::{SLOTS, Source, Write};

impl RenderTarget {
    /// Writes the colours of the slots in `mask`. Returns false if
    /// [`write`](RenderTarget::write) must write them: for other targets, for quads that are not
    /// completely inside of the surface, if memory cannot be accessed, and on processors without
    /// the vector instructions.
    ///
    /// # Errors
    /// A page fault of the surface. The same pixels have been written as by `write`.
    #[inline(always)]
    pub fn write_packed(
        &self,
        exec: &mut Exec<'_>,
        cache: &mut AuxCache,
        write: &Write,
        mask: u16,
    ) -> Result<bool, Fault> {
        let _client = exec.vm.client(Client::RenderTarget);
        let written = self.pack(&mut exec.vm, cache, write, mask);
        let written = written.map_err(|fault| exec.page(fault, "a render target"))?;
        if written {
            let pairs = mask | mask >> 1;
            let quads = (pairs | pairs >> 2) & 0x1111;
            self.count(exec, [mask.count_ones(), mask.count_ones(), quads.count_ones()]);
        }
        Ok(written)
    }

    /// As [`write_packed`](Self::write_packed), but counts nothing.
    #[inline(always)]
    pub(super) fn pack(
        &self,
        vm: &mut Vm<'_>,
        cache: &mut AuxCache,
        write: &Write,
        mask: u16,
    ) -> Result<bool, PageFault> {
        let Some(level) = Level::detect().filter(|_| self.packed.is_some()) else {
            return Ok(false);
        };
        for (n, [x, y]) in write.subspans.iter().enumerate() {
            let inside = x + 1 < self.level.width && y + 1 < self.level.height;
            if !inside && mask >> (4 * n) & 0xf != 0 {
                return Ok(false);
            }
        }
        if let Some(Auxiliary::Ccs(ccs)) = &self.auxiliary {
            self.open(vm, ccs, cache, write, mask)?;
        }
        let origin = self.surface.origin(&self.level, self.slice(write.slice), 0);
        let [x, y] = write.subspans[0];
        let strip = [[x, y], [x + 2, y], [x + 4, y], [x + 6, y]];
        let parts = match write.subspans == strip && x % 8 == 0 {
            true => Parts::of(&self.surface, &self.level, origin, x, y),
            false => None,
        };
        let parts = parts.filter(|parts| parts.admits(vm, lanes(mask)));
        match parts {
            Some(parts) => Ok(self.write_parts(vm, level, write, mask, &parts).is_some()),
            None => self.write_quads(vm, level, write, mask, origin),
        }
    }

    /// Marks the block of each quad that has a slot in `mask` as not cleared. If the block was
    /// cleared, first writes the clear colour to its pixels.
    #[inline(never)]
    fn open(
        &self,
        vm: &mut Vm<'_>,
        ccs: &Ccs,
        cache: &mut AuxCache,
        write: &Write,
        mask: u16,
    ) -> Result<(), PageFault> {
        let (slice, block) = (self.slice(write.slice), ccs.block());
        for (n, &at) in write.subspans.iter().enumerate() {
            if mask >> (4 * n) & 0xf != 0 {
                ccs.open(vm, cache, slice, at, |vm, first| self.fill(vm, slice, first, block))?;
            }
        }
        Ok(())
    }

    /// Writes the pixels of a strip.
    #[inline(always)]
    fn write_parts(
        &self,
        vm: &mut Vm<'_>,
        level: Level,
        write: &Write,
        mask: u16,
        parts: &Parts,
    ) -> Option<()> {
        let pixels = lanes(mask);
        let old = match self.reads || !parts.covers(pixels) {
            true => parts.read(vm, pixels)?,
            false => [0; SLOTS],
        };
        let new = level.vectorize(
            #[inline(always)]
            || {
                let mut slots = [0; SLOTS];
                for (slot, dword) in slots.iter_mut().enumerate() {
                    *dword = old[lane(slot)];
                }
                let slots = self.elements(level, &write.color, write.second.as_ref(), slots);
                let mut new = [0; SLOTS];
                for (slot, dword) in slots.into_iter().enumerate() {
                    new[lane(slot)] = dword;
                }
                blend(pixels.into(), new, old)
            },
        );
        parts.write(vm, pixels, &new)
    }

    /// Writes the pixels of quads that are not a strip, or whose strip does not have [`Parts`].
    #[inline(never)]
    fn write_quads(
        &self,
        vm: &mut Vm<'_>,
        level: Level,
        write: &Write,
        mask: u16,
        origin: (i64, i64),
    ) -> Result<bool, PageFault> {
        let places = Places { surface: &self.surface, subspans: &write.subspans };
        let mut elements: Elements = [0; SLOTS * MOST_BYTES];
        let quads = places.quads(vm, origin);
        let lanes = mask.into();
        let readable = match &quads {
            _ if !self.reads => true,
            Some(quads) => quads.load(&places, vm, origin, lanes, &mut elements).is_ok(),
            None => places.load(vm, origin, lanes, &mut elements).is_ok(),
        };
        if !readable {
            return Ok(false);
        }
        let mut old = [0; SLOTS];
        for (dword, bytes) in old.iter_mut().zip(elements.as_chunks().0) {
            *dword = u32::from_le_bytes(*bytes);
        }
        let new = level.vectorize(
            #[inline(always)]
            || self.elements(level, &write.color, write.second.as_ref(), old),
        );
        for (bytes, dword) in elements.as_chunks_mut().0.iter_mut().zip(new) {
            *bytes = dword.to_le_bytes();
        }
        match &quads {
            Some(quads) => quads.store(vm, lanes, &elements)?,
            None => places.store(vm, origin, lanes, &elements)?,
        }
        Ok(true)
    }

    /// The new elements of the slots. `old` are the elements before the write. Call this inside of
    /// [`Level::vectorize`].
    #[inline(always)]
    fn elements(
        &self,
        level: Level,
        color: &Source,
        second: Option<&Source>,
        old: [u32; SLOTS],
    ) -> [u32; SLOTS] {
        let Some(packed) = self.packed else { return old };
        let mut destination = [[0.0; SLOTS]; 4];
        if self.blend.reads_destination() {
            packed.unpack(old, &mut destination);
        }
        let colors = self.blend_all(color, second, &destination);
        let new = packed.pack_with(
            &colors,
            #[inline(always)]
            |value| to_byte(level, value),
        );
        if self.partial {
            let [a, b, c, d, ..] = self.mask;
            let written = u32::from_le_bytes([a, b, c, d]);
            return zip(map(new, |new| new & written), old, |new, old| new | old & !written);
        }
        new
    }
}

/// The normalized byte nearest to `value`, which is clamped to 0..=1; a NaN becomes 0. Call this
/// inside of [`Level::vectorize`].
#[inline(always)]
pub(super) fn to_byte(level: Level, value: f32) -> u32 {
    // The first comparison is false for a NaN.
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 1.0 { value } else { 1.0 };
    // Adding 2^23 leaves the integer in the low bits. Product and sum are rounded once, together.
    const MAGIC: f32 = (1u32 << 23) as f32;
    level.fused(value, 255.0, MAGIC).to_bits() & 0xff
}
