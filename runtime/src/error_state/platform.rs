//! The GPU that a file is from.

use crate::decode::generation_name;
use std::fmt;

/// A GPU, identified by a PCI id or by the kernel's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// Usual name of the GPU.
    pub name: &'static str,
    /// Its generation of graphics, times ten: 80 is Broadwell, 125 is Alchemist.
    pub generation: u32,
    /// The product, if the PCI id identifies it: `GT2, HD Graphics 5500`.
    pub device: &'static str,
}

/// First and last PCI id, name as the kernel prints it, usual name, generation. The ranges are
/// coarse: they include ids that were never sold. (Linux include/drm/intel/pciids.h.) A range that
/// contains others comes after them.
const PLATFORMS: &[(u32, u32, &str, &str, u32)] = &[
    (0x3577, 0x3577, "I830", "830M", 20),
    (0x2562, 0x2562, "I845G", "845G", 20),
    (0x3582, 0x358e, "I85X", "855GM", 20),
    (0x2572, 0x2572, "I865G", "865G", 20),
    (0x2e02, 0x2e93, "G45", "G45", 45),
    (0x2a42, 0x2a43, "GM45", "GM45", 45),
    (0x2582, 0x258a, "I915G", "915G", 30),
    (0x2592, 0x2592, "I915GM", "915GM", 30),
    (0x2772, 0x2772, "I945G", "945G", 30),
    (0x27a2, 0x27ae, "I945GM", "945GM", 30),
    (0x29b2, 0x29d2, "G33", "G33", 30),
    (0xa001, 0xa011, "PINEVIEW", "Pineview", 30),
    (0x2a02, 0x2a12, "I965GM", "GM965", 40),
    (0x2972, 0x29a2, "I965G", "965", 40),
    (0x0042, 0x0046, "IRONLAKE", "Ironlake", 50),
    (0x0102, 0x0126, "SANDYBRIDGE", "Sandy Bridge", 60),
    (0x0155, 0x0155, "VALLEYVIEW", "Bay Trail", 70),
    (0x0157, 0x0157, "VALLEYVIEW", "Bay Trail", 70),
    (0x0152, 0x016a, "IVYBRIDGE", "Ivy Bridge", 70),
    (0x0f30, 0x0f33, "VALLEYVIEW", "Bay Trail", 70),
    (0x0402, 0x042e, "HASWELL", "Haswell", 75),
    (0x0a02, 0x0a2e, "HASWELL", "Haswell", 75),
    (0x0c02, 0x0c2e, "HASWELL", "Haswell", 75),
    (0x0d02, 0x0d2e, "HASWELL", "Haswell", 75),
    (0x1602, 0x163e, "BROADWELL", "Broadwell", 80),
    (0x22b0, 0x22b3, "CHERRYVIEW", "Cherryview", 80),
    (0x1902, 0x193d, "SKYLAKE", "Skylake", 90),
    (0x5a84, 0x5a85, "BROXTON", "Broxton", 90),
    (0x0a84, 0x0a84, "BROXTON", "Broxton", 90),
    (0x1a84, 0x1a85, "BROXTON", "Broxton", 90),
    (0x3184, 0x3185, "GEMINILAKE", "Gemini Lake", 90),
    (0x5902, 0x593b, "KABYLAKE", "Kaby Lake", 90),
    (0x87c0, 0x87c0, "KABYLAKE", "Amber Lake", 90),
    (0x87ca, 0x87ca, "COFFEELAKE", "Amber Lake", 90),
    (0x3e90, 0x3ea9, "COFFEELAKE", "Coffee Lake", 90),
    (0x9b21, 0x9bf6, "COMETLAKE", "Comet Lake", 90),
    (0x5a40, 0x5a5c, "CANNONLAKE", "Cannon Lake", 100),
    (0x8a50, 0x8a71, "ICELAKE", "Ice Lake", 110),
    (0x4500, 0x4571, "ELKHARTLAKE", "Elkhart Lake", 110),
    (0x4e51, 0x4e71, "JASPERLAKE", "Jasper Lake", 110),
    (0x9a40, 0x9af8, "TIGERLAKE", "Tiger Lake", 120),
    (0x4c80, 0x4c9a, "ROCKETLAKE", "Rocket Lake", 120),
    (0x4680, 0x4693, "ALDERLAKE_S", "Alder Lake-S", 120),
    (0x46d0, 0x46d4, "ALDERLAKE_P", "Alder Lake-N", 120),
    (0x4626, 0x46c3, "ALDERLAKE_P", "Alder Lake-P", 120),
    (0xa780, 0xa78b, "ALDERLAKE_S", "Raptor Lake-S", 120),
    (0xa720, 0xa7ad, "ALDERLAKE_P", "Raptor Lake-P", 120),
    (0x4905, 0x4909, "DG1", "DG1", 120),
    (0x0201, 0x0210, "XEHPSDV", "Xe-HP SDV", 125),
    (0x4f80, 0x4f88, "DG2", "DG2", 125),
    (0x5690, 0x56c2, "DG2", "DG2", 125),
    (0x7d41, 0x7d41, "METEORLAKE", "Arrow Lake", 125),
    (0x7d51, 0x7d51, "METEORLAKE", "Arrow Lake", 125),
    (0x7d67, 0x7d67, "METEORLAKE", "Arrow Lake", 125),
    (0x7dd1, 0x7dd1, "METEORLAKE", "Arrow Lake", 125),
    (0xb640, 0xb640, "METEORLAKE", "Arrow Lake", 125),
    (0x7d40, 0x7dd5, "METEORLAKE", "Meteor Lake", 125),
    (0x0bd0, 0x0be5, "PONTEVECCHIO", "Ponte Vecchio", 125),
    (0x6420, 0x64b0, "LUNARLAKE", "Lunar Lake", 200),
    (0xe202, 0xe223, "BATTLEMAGE", "Battlemage", 200),
    (0xb080, 0xb0b0, "PANTHERLAKE", "Panther Lake", 300),
];

/// Names of subplatforms and of the driver xe, each with the kernel's name of the platform.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("PVC", "PONTEVECCHIO"),
    ("RAPTORLAKE_U", "ALDERLAKE_P"),
    ("ARROWLAKE_H", "METEORLAKE"),
    ("ARROWLAKE_S", "METEORLAKE"),
    ("ARROWLAKE_U", "METEORLAKE"),
    ("DG2_G10", "DG2"),
    ("DG2_G11", "DG2"),
    ("DG2_G12", "DG2"),
    ("I855GM", "I85X"),
];

/// The Broadwells that drivers support, by PCI id (Linux include/drm/intel/pciids.h, Mesa
/// include/pci_ids/iris_pci_ids.h).
const BROADWELLS: [(u32, &str); 24] = [
    (0x1602, "GT1, HD Graphics"),
    (0x1606, "GT1, HD Graphics"),
    (0x160a, "GT1, HD Graphics"),
    (0x160b, "GT1, HD Graphics"),
    (0x160d, "GT1, HD Graphics"),
    (0x160e, "GT1, HD Graphics"),
    (0x1612, "GT2, HD Graphics 5600"),
    (0x1616, "GT2, HD Graphics 5500"),
    (0x161a, "GT2, HD Graphics P5700"),
    (0x161b, "GT2, HD Graphics"),
    (0x161d, "GT2, HD Graphics"),
    (0x161e, "GT2, HD Graphics 5300"),
    (0x1622, "GT3, Iris Pro Graphics 6200"),
    (0x1626, "GT3, HD Graphics 6000"),
    (0x162a, "GT3, Iris Pro Graphics P6300"),
    (0x162b, "GT3, Iris Graphics 6100"),
    (0x162d, "GT3, HD Graphics"),
    (0x162e, "GT3, HD Graphics"),
    (0x1632, "reserved"),
    (0x1636, "reserved"),
    (0x163a, "reserved"),
    (0x163b, "reserved"),
    (0x163d, "reserved"),
    (0x163e, "reserved"),
];

impl Platform {
    /// Broadwell, the GPU of this library's tables.
    pub const BROADWELL: Platform = Platform { name: "Broadwell", generation: 80, device: "" };

    /// The GPU with this PCI device id.
    pub fn of_pci_id(id: u32) -> Option<Platform> {
        let found = PLATFORMS.iter().find(|(first, last, ..)| (*first..=*last).contains(&id));
        let device =
            BROADWELLS.iter().find(|(known, _)| *known == id).map_or("", |(_, device)| device);
        found.map(|(.., name, generation)| Platform { name, generation: *generation, device })
    }

    /// The GPU with this name in the kernel (`Platform: BROADWELL`). Several GPUs can have the same
    /// name in the kernel. Then it is the GPU whose usual name this is: METEORLAKE is Meteor Lake,
    /// not Arrow Lake. A usual name that no kernel prints is found too: RAPTORLAKE_S, ARROWLAKE.
    pub fn of_name(name: &str) -> Option<Platform> {
        let letters = |text: &str| -> String {
            let letters = text.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect()
        };
        let wanted = letters(name);
        let named = || PLATFORMS.iter().filter(|(_, _, kernel, ..)| letters(kernel) == wanted);
        let usual = || PLATFORMS.iter().find(|(.., usual, _)| letters(usual) == wanted);
        let other = || OTHER_NAMES.iter().find(|(other, _)| letters(other) == wanted);
        let found = named()
            .find(|(.., usual, _)| letters(usual) == wanted)
            .or(named().next())
            .or_else(usual)
            .or_else(|| {
                let (_, kernel) = other()?;
                PLATFORMS.iter().find(|(_, _, name, ..)| name == kernel)
            });
        found.map(|(.., name, generation)| Platform { name, generation: *generation, device: "" })
    }

    /// True if the tables of Broadwell describe this GPU. They describe Cherryview too, except that
    /// it lacks some of the units.
    pub fn is_described(&self) -> bool {
        self.generation == 80
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if !self.device.is_empty() {
            write!(f, " {}", self.device)?;
        }
        write!(f, " ({})", generation_name(self.generation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the names of the kernel (Linux drivers/gpu/drm/i915/intel_device_info.c) and the
    /// usual names of the GPUs. Several GPUs share COFFEELAKE, METEORLAKE and KABYLAKE.
    #[test]
    fn names_of_the_kernel() {
        for (kernel, usual) in [
            ("BROADWELL", "Broadwell"),
            ("KABYLAKE", "Kaby Lake"),
            ("COFFEELAKE", "Coffee Lake"),
            ("METEORLAKE", "Meteor Lake"),
            ("ALDERLAKE_P", "Alder Lake-P"),
            ("ALDERLAKE_S", "Alder Lake-S"),
            ("VALLEYVIEW", "Bay Trail"),
            ("I965G", "965"),
            ("CANNONLAKE", "Cannon Lake"),
            ("XEHPSDV", "Xe-HP SDV"),
            ("RAPTORLAKE_S", "Raptor Lake-S"),
            ("RAPTORLAKE_P", "Raptor Lake-P"),
            ("ALDERLAKE_N", "Alder Lake-N"),
            ("PONTEVECCHIO", "Ponte Vecchio"),
            ("PVC", "Ponte Vecchio"),
            ("I830", "830M"),
            (" dg2 ", "DG2"),
        ] {
            assert_eq!(Platform::of_name(kernel).map(|found| found.name), Some(usual), "{kernel}");
        }
        // All names of `platform_names` in Linux 6.12's i915, and of older kernels' too.
        for kernel in [
            "I830",
            "I845G",
            "I85X",
            "I865G",
            "I915G",
            "I915GM",
            "I945G",
            "I945GM",
            "G33",
            "PINEVIEW",
            "I965G",
            "I965GM",
            "G45",
            "GM45",
            "IRONLAKE",
            "SANDYBRIDGE",
            "IVYBRIDGE",
            "VALLEYVIEW",
            "HASWELL",
            "BROADWELL",
            "CHERRYVIEW",
            "SKYLAKE",
            "BROXTON",
            "KABYLAKE",
            "GEMINILAKE",
            "COFFEELAKE",
            "COMETLAKE",
            "CANNONLAKE",
            "ICELAKE",
            "ELKHARTLAKE",
            "JASPERLAKE",
            "TIGERLAKE",
            "ROCKETLAKE",
            "DG1",
            "ALDERLAKE_S",
            "ALDERLAKE_P",
            "XEHPSDV",
            "DG2",
            "PONTEVECCHIO",
            "METEORLAKE",
            "LUNARLAKE",
            "BATTLEMAGE",
            "PANTHERLAKE",
        ] {
            assert!(Platform::of_name(kernel).is_some(), "{kernel}");
        }
        assert_eq!(Platform::of_name(""), None);
        assert_eq!(Platform::of_name("ALDERLAKE"), None);
        for (.., kernel, _, generation) in PLATFORMS {
            let found = Platform::of_name(kernel).unwrap();
            assert_eq!(found.generation, *generation, "{kernel}");
        }
    }
}
