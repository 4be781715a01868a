//! Heat maps of a draw: how often each pixel was shaded, and how many instructions that took.

use crate::inspect::summary::Summary;
use genxml::gen8::thread_payloads::PsThreadPayload;
use genxml_core::packet::{Dwords, Fixed};
use std::collections::BTreeMap;

/// Maximum number of columns and of rows of a map. Pixels outside are not counted.
const MOST: usize = 16384;
/// Bytes of a register.
const REGISTER: usize = 32;
/// Subspans in one r1 of a payload.
const SUBSPANS: usize = 4;

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
        self.half(payload, &mut pixels);
        if is_wide && payload.len() >= 3 * REGISTER {
            // A thread of 32 pixels has a second r1.
            let mut second = payload[..REGISTER].to_vec();
            second.extend_from_slice(&payload[2 * REGISTER..3 * REGISTER]);
            self.half(&second, &mut pixels);
        }
        for &pixel in &pixels {
            self.shaded[pixel] += 1;
        }
        self.running.insert(thread, pixels);
    }

    /// Appends the indices of the pixels of a payload.
    fn half(&self, payload: &[u8], pixels: &mut Vec<usize>) {
        let Some(bytes) = payload.get(..2 * REGISTER) else { return };
        let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        let dwords = <PsThreadPayload as Fixed>::Dwords::padded(&words);
        let payload = PsThreadPayload::from_dwords_lossy(&dwords);
        let mask = payload.pixel_mask.get();
        for (number, subspan) in payload.subspan.iter().enumerate().take(SUBSPANS) {
            for pixel in 0..4 {
                let is_covered = mask >> (4 * number + pixel) & 1 == 1;
                let x = subspan.x.get() as usize + pixel % 2;
                let y = subspan.y.get() as usize + pixel / 2;
                if is_covered && x < self.width as usize && y < self.height as usize {
                    pixels.push(y * self.width as usize + x);
                }
            }
        }
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
