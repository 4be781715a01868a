//! Heat maps of a draw: how often each pixel was shaded, and how many instructions that took.

use crate::inspect::fragments::fragments;
use crate::inspect::summary::Summary;
use std::collections::BTreeMap;

/// Maximum number of columns and of rows of a map. Pixels outside are not counted.
const MOST: usize = 16384;

/// Counts for each pixel. Threads of the pixel shader are counted; with one thread for each sample,
/// each sample counts. A pixel whose tests fail before the shader is not counted.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Number of times that each pixel was shaded, row by row.
    pub shaded: Vec<u32>,
    /// Instructions of the threads that shaded the pixel. A thread shades several pixels; each of
    /// them counts all instructions of the thread divided by the number of its pixels, in
    /// 1/256 instruction.
    pub cost: Vec<u64>,
    kernels: BTreeMap<u64, bool>,
    running: BTreeMap<u32, Vec<usize>>,
}

/// Steps of [`Heat::cost`] in an instruction.
pub const COST_UNIT: u64 = 256;

impl Heat {
    /// An empty map of a draw to targets of this size.
    pub fn new(summary: &Summary, [width, height]: [u32; 2]) -> Heat {
        let (width, height) = (width.min(MOST as u32), height.min(MOST as u32));
        let count = width as usize * height as usize;
        let shaders = summary.shaders.iter().filter(|shader| shader.stage == "PS");
        let kernels = shaders.flat_map(|shader| &shader.kernels);
        Heat {
            width,
            height,
            shaded: vec![0; count],
            cost: vec![0; count],
            kernels: kernels.map(|kernel| (kernel.address, kernel.dispatch == "SIMD32")).collect(),
            running: BTreeMap::new(),
        }
    }

    /// A thread starts.
    pub fn start(&mut self, kernel: u64, thread: u32, payload: &[u8]) {
        let Some(&is_wide) = self.kernels.get(&kernel) else { return };
        let mut pixels = Vec::new();
        fragments(payload, is_wide, |_, x, y| {
            if x < self.width && y < self.height {
                pixels.push((y * self.width + x) as usize);
            }
        });
        for &pixel in &pixels {
            self.shaded[pixel] += 1;
        }
        self.running.insert(thread, pixels);
    }

    /// A thread has ended.
    pub fn end(&mut self, thread: u32, instructions: u64) {
        let Some(pixels) = self.running.remove(&thread) else { return };
        let share = COST_UNIT * instructions / pixels.len().max(1) as u64;
        for pixel in pixels {
            self.cost[pixel] += share;
        }
    }
}
