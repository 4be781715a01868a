//! Fences: registers that make a range of the global table look linear to the CPU.
//!
//! The layouts are in `spec-xml/other`.

use super::ErrorState;
use crate::decode::{Tables, register_field};
use std::fmt;

/// A fence register, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// Number of the register.
    pub index: u32,
    /// True if the fence is in use.
    pub valid: bool,
    /// True for tiling Y, false for tiling X.
    pub y_tiled: bool,
    /// Bytes from one row of pixels to the next.
    pub pitch: u64,
    /// First address in the global table.
    pub start: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Fence {
    /// Decodes a fence register of a generation (times ten, as in
    /// [`Platform::generation`](super::Platform::generation)). `None` before Gen2.
    pub fn decode(index: u32, value: u64, generation: u32) -> Option<Fence> {
        let register = Tables::other_register(generation, "fence")?;
        let field = |name| register_field(register, name, value);
        let y_tiled = field("Tiling")? == 1;
        let start = field("Start")?;
        let (pitch, size) = match field("End") {
            // The last page is inside.
            Some(last) => (field("Pitch")? * 128, (last + 4096).saturating_sub(start)),
            // Powers of two: the size from 512 KiB on Gen2 and 1 MiB on Gen3, the pitch from the
            // width of a tile.
            None => {
                let least = if generation < 30 { 512 << 10 } else { 1 << 20 };
                let width = if y_tiled || generation < 30 { 128 } else { 512 };
                (width << field("Pitch")?, least << field("Size")?)
            }
        };
        Some(Fence { index, valid: field("Valid")? != 0, y_tiled, pitch, start, size })
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fence { index, valid, y_tiled, pitch, start, size } = self;
        if !valid {
            return write!(f, "fence[{index}]: not in use");
        }
        let tiling = if *y_tiled { 'Y' } else { 'X' };
        let end = start + size;
        write!(
            f,
            "fence[{index}]: {start:#x} to {end:#x}, {size} bytes, tiling {tiling}, pitch {pitch}"
        )
    }
}

impl ErrorState {
    /// The fence registers, in order. Without a GPU in the file they are decoded as those of Gen6
    /// and later.
    pub fn fences(&self) -> Vec<Fence> {
        let generation = self.platform().map_or(80, |platform| platform.generation);
        let fences = self.registers.iter().filter_map(|register| {
            let index = register.name.strip_prefix("fence[")?.strip_suffix(']')?;
            Fence::decode(index.parse().ok()?, register.value, generation)
        });
        fences.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: intel_error_decode's lines for a GM45 and for a Sandy Bridge.
    #[test]
    fn fences_of_two_generations() {
        let gm45 = Fence::decode(2, 0x08a9_2000_0869_309d, 45).unwrap();
        assert_eq!(
            gm45,
            Fence {
                index: 2,
                valid: true,
                y_tiled: false,
                pitch: 5120,
                start: 0x0869_3000,
                size: 4_194_304
            }
        );
        let snb = Fence::decode(0, 0x000b_f005_0000_0003, 60).unwrap();
        assert_eq!((snb.y_tiled, snb.pitch, snb.start, snb.size), (true, 768, 0, 786_432));
        assert_eq!(snb.to_string(), "fence[0]: 0x0 to 0xc0000, 786432 bytes, tiling Y, pitch 768");
        assert!(!Fence::decode(1, 0, 90).unwrap().valid);
        assert_eq!(Fence::decode(1, 0, 10), None);
    }

    /// Oracle: the bits of FENCE_REG in Linux i915_reg.h: start 27:20, size 10:8 from 1 MiB, pitch
    /// 6:4 in units of 512 bytes for tiling X and of 128 bytes for tiling Y (bit 12).
    #[test]
    fn fences_of_gen3() {
        let fence = Fence::decode(0, 0x0230_0121, 30).unwrap();
        assert_eq!((fence.start, fence.size, fence.pitch), (0x0230_0000, 2 << 20, 2048));
        let fence = Fence::decode(0, 0x0230_1121, 30).unwrap();
        assert_eq!((fence.y_tiled, fence.pitch), (true, 512));
        let any = Fence::decode(0, u64::MAX, 20).unwrap();
        assert_eq!(any.size, 1 << 26);
    }
}
