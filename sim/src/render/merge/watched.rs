//! Render target writes with events of a pixel that an observer watches.

use super::{Output, Slots};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watched::{self, PixelEvent, TestTime, WatchedPixel};
use crate::render::aux_surface::AuxCache;
use crate::render::depth::{Quad, Timing};
use crate::render::render_target::{Pixels, RenderTarget};
use crate::unit::render_cache::Write;

impl Output {
    /// As [`merge`](Self::merge), and emits the events of the watched pixel.
    ///
    /// # Errors
    /// As `merge`.
    pub fn watched_merge(
        &self,
        exec: &mut Exec<'_>,
        target: &RenderTarget,
        cache: &mut AuxCache,
        slots: &mut Slots,
        write: &Write,
        pixel: WatchedPixel,
    ) -> Result<u32, Fault> {
        // Slots of the pixel: several if threads shade samples.
        let is_ours = |slot: &usize| {
            let [x, y] = write.subspans[slot / 4];
            let (x, y) = (x + (*slot as u32 & 1), y + (*slot as u32 >> 1 & 1));
            slots.live[*slot] != 0 && write.slots >> slot & 1 == 1 && [x, y] == [pixel.x, pixel.y]
        };
        let ours: Vec<usize> = (0..16).filter(is_ours).collect();
        if ours.is_empty() {
            return self.merge(exec, target, cache, slots, write);
        }
        let live = slots.live;
        let shaded = Output::shaded(slots, write);
        let kept = self.kept(write, shaded);
        let mut samples = kept;
        let (mut passed, mut tests) = (0, Vec::new());
        if self.timing != Timing::Early {
            for &slot in &ours {
                let mask = match write.last {
                    true => slots.waiting[slot] | kept[slot],
                    false => kept[slot],
                };
                let depths = Output::depths(slots, write, slot / 4);
                let [x, y] = write.subspans[slot / 4];
                let quad =
                    Quad { x, y, slice: write.slice, viewport: write.viewport, back: write.back };
                tests.push(self.depth.look(exec, &quad, &depths, (slot % 4, mask), write.last));
            }
            passed = self.late(exec, slots, write, &mut samples)?;
        }
        for (tests, &slot) in tests.into_iter().zip(&ours) {
            for mut tested in tests {
                tested.time = TestTime::Late;
                // A sample that alpha removed for this target is tested for the others.
                tested.passed = match kept[slot] >> tested.sample & 1 {
                    1 => samples[slot] >> tested.sample & 1 == 1,
                    _ => {
                        tested.stencil.is_none_or(|test| test.passed)
                            && tested.depth.is_none_or(|test| test.passed)
                    }
                };
                exec.emit_pixel(&PixelEvent::Tested(tested));
            }
        }
        if write.last {
            super::observe(exec, &live, write.slots, &shaded, &samples);
        }
        let pixels = Pixels { subspans: write.subspans, samples, slice: write.slice };
        let targets: Vec<_> = ours
            .iter()
            .map(|&slot| target.look(exec, &pixels, slot, &write.color, write.second.as_ref()))
            .collect();
        target.write(exec, cache, &pixels, &write.color, write.second.as_ref())?;
        for (slot, target) in ours.into_iter().zip(targets) {
            let output = watched::Output {
                binding: write.binding,
                entry: write.entry,
                last: write.last,
                channel: (slot + if write.upper { 16 } else { 0 }) as u8,
                array_index: write.slice,
                color: write.color.map(|lanes| lanes[slot]),
                second: write.second.map(|second| second.map(|lanes| lanes[slot])),
                omask: write.omask.map(|omask| omask[slot]),
                depth: write.depth.map(|depth| depth[slot]),
                live: live[slot],
                enabled: write.mask >> slot & 1 == 1,
                shaded: shaded[slot],
                kept: kept[slot],
                tested: samples[slot],
                target,
            };
            exec.emit_pixel(&PixelEvent::Output(&output));
        }
        Ok(passed)
    }
}
