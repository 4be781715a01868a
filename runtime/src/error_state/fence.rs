//! Fences: registers that make a range of the global table look linear to the CPU.
//!
//! Source: Linux `drivers/gpu/drm/i915/i915_reg.h` (FENCE_REG, FENCE_REG_965_LO, FENCE_REG_GEN6_LO)
//! and intel-gpu-tools `tools/intel_error_decode.c`.

use super::ErrorState;
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
    /// [`Platform::generation`](super::Platform::generation)).
    pub fn decode(index: u32, value: u64, generation: u32) -> Fence {
        let low = value & 0xffff_ffff;
        let valid = value & 1 != 0;
        if generation < 40 {
            // One dword: the size is a power of two. Gen2 counts from 512 KiB, Gen3 from 1 MiB.
            let unit = if generation < 30 { 19 } else { 20 };
            let y_tiled = low >> 12 & 1 != 0;
            let width = if y_tiled || generation < 30 { 128 } else { 512 };
            return Fence {
                index,
                valid,
                y_tiled,
                pitch: width << (low >> 4 & 7),
                start: low & (0x0fff_ffff >> unit << unit),
                size: 1 << (unit + (low >> 8 & 7)),
            };
        }
        // Two halves: the first page in the low one, the last page in the high one.
        let (first, last) = (low & 0xffff_f000, value >> 32 & 0xffff_f000);
        let pitch = if generation < 60 { value >> 2 & 0x3ff } else { value >> 32 & 0xfff };
        Fence {
            index,
            valid,
            y_tiled: value & 2 != 0,
            pitch: (pitch + 1) * 128,
            start: first,
            size: (last + 4096).saturating_sub(first),
        }
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
            Some(Fence::decode(index.parse().ok()?, register.value, generation))
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
        let gm45 = Fence::decode(2, 0x08a9_2000_0869_309d, 45);
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
        let snb = Fence::decode(0, 0x000b_f005_0000_0003, 60);
        assert_eq!((snb.y_tiled, snb.pitch, snb.start, snb.size), (true, 768, 0, 786_432));
        assert_eq!(snb.to_string(), "fence[0]: 0x0 to 0xc0000, 786432 bytes, tiling Y, pitch 768");
        assert!(!Fence::decode(1, 0, 90).valid);
    }

    /// Oracle: the bits of FENCE_REG in Linux i915_reg.h: start 27:20, size 10:8 from 1 MiB, pitch
    /// 6:4 in units of 512 bytes for tiling X and of 128 bytes for tiling Y (bit 12).
    #[test]
    fn fences_of_gen3() {
        let fence = Fence::decode(0, 0x0230_0121, 30);
        assert_eq!((fence.start, fence.size, fence.pitch), (0x0230_0000, 2 << 20, 2048));
        let fence = Fence::decode(0, 0x0230_1121, 30);
        assert_eq!((fence.y_tiled, fence.pitch), (true, 512));
        let any = Fence::decode(0, u64::MAX, 20);
        assert_eq!(any.size, 1 << 26);
    }
}
