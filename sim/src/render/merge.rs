//! The output merger: executes a render target write of a pixel shader on depth, stencil and the
//! render target.
//!
//! The samples of a slot pass, in this order, the shader's own mask (oMask), alpha test and alpha
//! to coverage, and late depth and stencil tests. The remaining samples are blended and written
//! (gen8_facts 8.1).

use super::aux_surface::AuxCache;
use super::coverage::Coverage;
use super::depth::{DepthStencil, DepthStencilPackets, Depths, Quad, Timing};
use super::render_target::{Pixels, RenderTarget, gather};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::surface::BadSurface;
use crate::unit::render_cache::SLOTS;
use crate::unit::render_cache::Write;
use genxml::gen8::render3d_pixel::{BlendState, ThreeDStatePsExtra, ThreeDStateWm};

mod watched;

/// State that all messages of a draw share.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Depth and stencil.
    pub depth: DepthStencil,
    /// When the depth and stencil tests run.
    pub timing: Timing,
    /// Alpha test and alpha to coverage.
    pub coverage: Coverage,
}

/// The packets and structures that [`Output`] is resolved from.
#[derive(Clone, Copy, Debug)]
pub struct OutputPackets<'a> {
    /// Depth and stencil; COLOR_CALC_STATE has the reference of the alpha test too.
    pub depth: DepthStencilPackets<'a>,
    /// 3DSTATE_WM.
    pub wm: &'a ThreeDStateWm,
    /// 3DSTATE_PS_EXTRA.
    pub shader: &'a ThreeDStatePsExtra,
    /// BLEND_STATE.
    pub blend: &'a BlendState,
    /// Samplers may kill pixels by chroma keys (3DSTATE_WM_CHROMAKEY).
    pub chroma_key_kills: bool,
}

impl Output {
    /// Resolves the state from the packets.
    ///
    /// # Errors
    /// [`BadSurface`] for depth and stencil buffers that cannot be used.
    pub fn resolve(packets: &OutputPackets<'_>) -> Result<Output, BadSurface> {
        let OutputPackets { depth, wm, shader, blend, chroma_key_kills } = packets;
        let samples = 1 << depth.samples.bits().min(3);
        let coverage = Coverage::resolve(blend, depth.references, shader, samples);
        let depth = DepthStencil::resolve(depth)?;
        let timing = match Timing::of(wm, shader, coverage.removes() || *chroma_key_kills) {
            Timing::Twice if depth.marks_failures() => Timing::Late,
            timing => timing,
        };
        Ok(Output { depth, timing, coverage })
    }
}

/// The state of sixteen slots (pixels) of a thread, from its dispatch to its last message.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Slots {
    /// Samples of each slot that the primitive covers and that passed early tests; at most one for
    /// each slot if the thread was dispatched per sample.
    pub live: [u8; SLOTS],
    /// Depths of the quads.
    pub depths: [Depths; 4],
    /// Samples of `live` that oMask and alpha did not remove in at least one message so far. The
    /// last message tests them.
    waiting: [u8; SLOTS],
}

impl Slots {
    /// Slots with these samples and depths.
    pub fn new(live: [u8; SLOTS], depths: [Depths; 4]) -> Slots {
        Slots { live, depths, waiting: [0; SLOTS] }
    }

    /// Removes all samples. Depths keep their values.
    pub fn clear(&mut self) {
        self.live = [0; SLOTS];
        self.waiting = [0; SLOTS];
    }
}

impl Output {
    /// Executes a render target write. Returns the number of samples that passed late tests, which
    /// PS_DEPTH_COUNT counts; 0 without late tests, and for messages that are not the last of the
    /// slots.
    ///
    /// # Errors
    /// Page faults of the surfaces.
    pub fn merge(
        &self,
        exec: &mut Exec<'_>,
        target: &RenderTarget,
        cache: &mut AuxCache,
        slots: &mut Slots,
        write: &Write,
    ) -> Result<u32, Fault> {
        if self.packed(exec, target, cache, slots, write)? {
            return Ok(0);
        }
        let shaded = Output::shaded(slots, write);
        let mut samples = self.kept(write, shaded);
        let mut passed = 0;
        if self.timing != Timing::Early {
            passed = self.late(exec, slots, write, &mut samples)?;
        }
        if write.last {
            observe(exec, &slots.live, write.slots, &shaded, &samples);
        }
        let pixels = Pixels { subspans: write.subspans, samples, slice: write.slice };
        target.write(exec, cache, &pixels, &write.color, write.second.as_ref())?;
        Ok(passed)
    }

    /// Executes the most common writes: pixels with one sample, no oMask, no tests after the
    /// shader, no removed pixels, and a simple target. Returns false if [`merge`](Self::merge) must
    /// execute the write.
    #[inline(always)]
    fn packed(
        &self,
        exec: &mut Exec<'_>,
        target: &RenderTarget,
        cache: &mut AuxCache,
        slots: &Slots,
        write: &Write,
    ) -> Result<bool, Fault> {
        const FIRST_SAMPLES: u128 = u128::from_le_bytes([1; SLOTS]);
        let single = u128::from_le_bytes(slots.live) & !FIRST_SAMPLES == 0;
        if self.timing != Timing::Early || write.omask.is_some() || !single {
            return Ok(false);
        }
        let live = gather(&slots.live, 0) as u16;
        let mask = live & write.mask;
        // The general path counts quads whose pixels are removed.
        if mask != live || self.coverage.removes() {
            return Ok(false);
        }
        target.write_packed(exec, cache, write, mask)
    }

    /// The samples of the slots that are left after discards and the shader's own mask.
    #[inline(always)]
    fn shaded(slots: &Slots, write: &Write) -> [u8; SLOTS] {
        let mut samples = slots.live;
        for (slot, mask) in samples.iter_mut().enumerate() {
            *mask &= if write.mask >> slot & 1 == 1 { 0xff } else { 0 };
        }
        if let Some(omask) = &write.omask {
            samples.iter_mut().zip(omask).for_each(|(mask, &left)| *mask &= left as u8);
        }
        samples
    }

    /// The samples that are left after alpha test and alpha to coverage.
    #[inline(always)]
    fn kept(&self, write: &Write, mut samples: [u8; SLOTS]) -> [u8; SLOTS] {
        let alpha = write.alpha.as_ref().unwrap_or(&write.color[3]);
        self.coverage.apply(&write.subspans, alpha, &mut samples);
        samples
    }

    /// The depths of quad `n` of a message: those that the shader computed, or else those of the
    /// primitive.
    #[inline(always)]
    fn depths(slots: &Slots, write: &Write, n: usize) -> Depths {
        let mut depths = slots.depths[n];
        if let Some(computed) = &write.depth {
            for (pixel, depths) in depths.iter_mut().enumerate() {
                *depths = [computed[4 * n + pixel]; 8];
            }
        }
        depths
    }

    /// Tests the samples of a message. Only the last message of the slots writes depth and stencil,
    /// for the samples of all messages: alpha can remove different samples for different render
    /// targets (2d p.36).
    fn late(
        &self,
        exec: &mut Exec<'_>,
        slots: &mut Slots,
        write: &Write,
        samples: &mut [u8; SLOTS],
    ) -> Result<u32, Fault> {
        for (waiting, mask) in slots.waiting.iter_mut().zip(samples.iter()) {
            *waiting |= mask;
        }
        let mut tested = *samples;
        if write.last {
            for (slot, (tested, waiting)) in tested.iter_mut().zip(slots.waiting).enumerate() {
                // Messages with two colours come in pairs, for eight slots each. Each of the pair
                // is the last for its own slots.
                if write.slots >> slot & 1 == 1 {
                    *tested = waiting;
                }
            }
        }
        let mut passed = 0;
        for (n, masks) in tested.as_chunks_mut().0.iter_mut().enumerate() {
            if *masks == [0; 4] {
                continue;
            }
            let depths = Output::depths(slots, write, n);
            let [x, y] = write.subspans[n];
            let quad =
                Quad { x, y, slice: write.slice, viewport: write.viewport, back: write.back };
            passed += self.depth.test(exec, &quad, &depths, masks, write.last)?;
        }
        for (mask, tested) in samples.iter_mut().zip(tested) {
            *mask &= tested;
        }
        Ok(if write.last { passed } else { 0 })
    }
}

/// Counts the quads of the message's `slots` that have samples in `live` but write none of them.
/// If a quad has no sample in `shaded`, the shader removed its samples. If it has samples in
/// `shaded` but none in `left`, a test after the shader removed them.
fn observe(
    exec: &mut Exec<'_>,
    live: &[u8; SLOTS],
    slots: u16,
    shaded: &[u8; SLOTS],
    left: &[u8; SLOTS],
) {
    if live == shaded && shaded == left {
        return;
    }
    // A bit for each slot with samples.
    let used = |masks: &[u8; SLOTS]| {
        let slot_bits = masks.iter().rev().fold(0, |bits, mask| bits << 1 | u16::from(*mask != 0));
        slot_bits & slots
    };
    let (live, shaded, left) = (used(live), used(shaded), used(left));
    for quad in [0xf, 0xf0, 0xf00, 0xf000] {
        if live & quad != 0 && shaded & quad == 0 {
            exec.device.observed.add(Counter::Killed, 1);
        } else if shaded & quad != 0 && left & quad == 0 {
            exec.device.observed.add(Counter::FailedLate, 1);
        }
    }
}

#[cfg(test)]
mod tests;
