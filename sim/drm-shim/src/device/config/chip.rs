//! What differs between the devices that the library can be.

use genxml::error_state::Platform;
use genxml_sim::EngineId;
use genxml_sim::gpu::Generation;

/// What differs between the devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chip {
    /// The generation of the GPU.
    pub generation: Generation,
    /// The number of the generation in captures.
    pub number: u32,
    /// PCI revision.
    pub revision: u8,
    /// PCI id of the subsystem.
    pub subsystem: u16,
    /// The kinds of engines, in the order of the kernel's classes; `None` for a class without an
    /// engine.
    pub engines: [Option<EngineId>; 4],
    /// Number of fence registers.
    pub fences: u32,
    /// Size of the aperture that GEM_GET_APERTURE reports, in bytes.
    pub aperture: u64,
    /// Lowest address that the device assigns. Lower addresses are used only by objects whose
    /// address the client chose. A batch that uses a small wrong address faults for this reason.
    pub first_address: u64,
    /// End of the addresses for objects without SUPPORTS_48B. The kernel leaves the last page free.
    pub end_address: u64,
    /// True if the GPU has page tables of 48 bits for each context; false if all contexts use one
    /// table of 32 bits. Then a relocation writes 32 bits.
    pub has_ppgtt: bool,
    /// True if CPU and GPU share a last level cache.
    pub has_llc: bool,
}

/// Broadwell.
const BROADWELL: Chip = Chip {
    generation: Generation::Gen8,
    number: 8,
    // The last stepping.
    revision: 9,
    subsystem: 0x2212,
    engines: [
        Some(EngineId::Render),
        Some(EngineId::Blitter),
        Some(EngineId::Video),
        Some(EngineId::VideoEnhance),
    ],
    fences: 32,
    aperture: 4 << 30,
    first_address: 0x1000_0000,
    end_address: (1 << 32) - 4096,
    has_ppgtt: true,
    has_llc: true,
};

/// G45 and GM45. (Linux i915_pci.c, g45_info; gen45_facts 1 and 20)
const G45: Chip = Chip {
    generation: Generation::G45,
    number: 45,
    revision: 3,
    subsystem: 0x2e22,
    engines: [Some(EngineId::Render), None, Some(EngineId::Video), None],
    fences: 16,
    aperture: 256 << 20,
    first_address: 0x100_0000,
    end_address: (2 << 30) - 4096,
    has_ppgtt: false,
    has_llc: false,
};

impl Chip {
    /// The device with this PCI id; `None` if the library does not support the device.
    pub fn of(id: u32) -> Option<Chip> {
        match Platform::of_pci_id(id)?.generation {
            80 if super::Topology::of(id).is_some() => Some(BROADWELL),
            45 => Some(G45),
            _ => None,
        }
    }
}

impl Default for Chip {
    fn default() -> Chip {
        BROADWELL
    }
}
