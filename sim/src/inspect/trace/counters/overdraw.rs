//! Overdraw: how often the pixels of a target are shaded.

use super::count::{Count, Value};
use crate::inspect::fragments::fragments;
use crate::machine::events::Event;
use std::collections::{BTreeMap, HashMap};

/// Columns of a block of pixels, each a bit.
const COLUMNS: u32 = 64;

/// Counts the pixels that threads of pixel shaders shade.
#[derive(Debug, Default)]
pub(super) struct Overdraw {
    /// The kernels of the current draw's pixel shader; true if a thread has 32 pixels.
    kernels: BTreeMap<u64, bool>,
    /// The pixels of the current draw.
    draw: Shaded,
    /// The pixels of all draws of the submission, by the address of the first target.
    submission: HashMap<Option<u64>, Shaded>,
    values: Vec<Value>,
}

/// Shaded pixels.
#[derive(Debug, Default)]
struct Shaded {
    /// Each time that a pixel is shaded counts.
    fragments: u64,
    /// The pixels: bits by slice, row and block of columns.
    pixels: HashMap<(u32, u32, u32), u64>,
}

impl Shaded {
    fn add(&mut self, more: &Shaded) {
        self.fragments += more.fragments;
        for (block, bits) in &more.pixels {
            *self.pixels.entry(*block).or_default() |= bits;
        }
    }

    /// Mean number of fragments of a pixel; `None` if no pixel was shaded.
    fn ratio(&self) -> Option<f64> {
        let covered: u64 = self.pixels.values().map(|bits| u64::from(bits.count_ones())).sum();
        (covered > 0).then(|| self.fragments as f64 / covered as f64)
    }
}

impl Count for Overdraw {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submission.clear(),
            Event::Draw(drawing) => {
                let summary = drawing.summary();
                let shaders = summary.shaders.iter().filter(|shader| shader.stage == "PS");
                let kernels = shaders.flat_map(|shader| &shader.kernels);
                let is_wide = |dispatch: &str| dispatch == "SIMD32";
                self.kernels =
                    kernels.map(|kernel| (kernel.address, is_wide(kernel.dispatch))).collect();
                self.draw = Shaded::default();
            }
            Event::Thread { kernel, payload, .. } => {
                let Some(is_wide) = self.kernels.get(kernel) else { return };
                let draw = &mut self.draw;
                fragments(payload, *is_wide, |slice, x, y| {
                    draw.fragments += 1;
                    let block = draw.pixels.entry((slice, y, x / COLUMNS)).or_default();
                    *block |= 1 << (x % COLUMNS);
                });
            }
            Event::DrawEnd(drawing) => {
                self.kernels.clear();
                let Some(ratio) = self.draw.ratio() else { return };
                let target = drawing.summary().targets.first().map(|target| target.surface.base);
                let submission = self.submission.entry(target).or_default();
                submission.add(&std::mem::take(&mut self.draw));
                for (series, value) in [("draw", Some(ratio)), ("submission", submission.ratio())] {
                    let value = value.unwrap_or_default();
                    self.values.push(Value { track: "overdraw", series, value });
                }
            }
            _ => {}
        }
    }

    fn take(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.values)
    }
}
