//! Kernels: where they end, what they use, how they read.

use super::record::Record;
use std::fmt::Write as _;

/// Longest kernel that is read.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// Binding table entries and samplers that a kernel's messages name.
#[derive(Debug, Clone, Default)]
pub(super) struct Used {
    /// One bit per binding table index.
    pub surfaces: [u64; 4],
    /// One bit per sampler.
    pub samplers: u16,
    /// The kernel was read to its end and every message has its descriptor in the instruction.
    pub complete: bool,
}

impl Used {
    /// True if a message names this binding table index.
    pub fn surface(&self, index: u32) -> bool {
        index < 256 && self.surfaces[index as usize / 64] >> (index % 64) & 1 != 0
    }

    /// One more than the greatest index used, 0 if none is.
    pub fn surfaces_end(&self) -> u32 {
        (0..256).rev().find(|&index| self.surface(index)).map_or(0, |index| index + 1)
    }
}

/// Cuts `record.dwords`, which start with the kernel, to its length; writes a line for each instruction if `show`.
pub(super) fn read(record: &mut Record, show: bool) -> Used {
    record.dwords.truncate(64);
    record.length = record.dwords.len() as u32;
    if show {
        for (index, row) in record.dwords.chunks(4).enumerate() {
            let mut text = String::new();
            for dword in row {
                _ = write!(text, "{dword:08x} ");
            }
            record.lines.push((16 * index as u32, text.trim_end().to_owned()));
        }
        record.note.push_str("the first 256 bytes, not disassembled");
    }
    Used::default()
}
