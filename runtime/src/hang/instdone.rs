//! Names of the units in INSTDONE, by generation, for GPUs before Gen8.
//!
//! The specification describes the registers of Gen8. Older GPUs have other units at other bits.
//! A set bit means that the unit is done.
//!
//! Source: intel-gpu-tools `lib/instdone.c`; for the second register, the manuals of each
//! generation name it INSTDONE_1 (Gen4, Gen5) or INSTDONE_2 (Gen6).

/// The bits of a register with the names of their units, highest bit first. `None` if the register
/// is not one of INSTDONE, or if the GPU is described by the specification.
pub(super) fn names(generation: u32, register: &str) -> Option<&'static [(u32, &'static str)]> {
    // Kernels call the second register INSTDONE1, INSTDONE_1 (Linux 3.6 to 4.8) or SC_INSTDONE.
    let second = match register {
        "INSTDONE" | "INSTDONE_0" => false,
        "INSTDONE1" | "INSTDONE_1" | "SC_INSTDONE" => true,
        _ => return None,
    };
    Some(match (generation, second) {
        (20..30, false) => GEN2,
        (30..40, false) => GEN3,
        (40..50, false) => GEN4,
        (50..60, false) => GEN5,
        (60..70, false) => GEN6,
        (70..75, false) => GEN7,
        (75..80, false) => GEN75,
        (40..45, true) => I965_1,
        (45..60, true) => G4X_1,
        (60..70, true) => GEN6_1,
        _ => return None,
    })
}

/// INSTDONE of Gen2.
const GEN2: &[(u32, &str)] = &[
    (26, "GMBUS"),
    (25, "FBC"),
    (24, "BINNER"),
    (23, "MPEG"),
    (22, "MECO"),
    (21, "MCD"),
    (20, "MCSTP"),
    (19, "CC"),
    (18, "DG"),
    (17, "DCMP"),
    (16, "FTCH"),
    (15, "IT"),
    (14, "MG"),
    (13, "MEC"),
    (12, "PC"),
    (11, "QCC"),
    (10, "TB"),
    (9, "WM"),
    (8, "EF"),
    (7, "Blitter"),
    (6, "Map L2 cache"),
    (5, "Secondary ring 3"),
    (4, "Secondary ring 2"),
    (3, "Secondary ring 1"),
    (2, "Secondary ring 0"),
    (1, "Primary ring 1"),
    (0, "Primary ring 0"),
];

/// INSTDONE of Gen3.
const GEN3: &[(u32, &str)] = &[
    (30, "IDCT"),
    (29, "IQ"),
    (28, "PR"),
    (27, "VLD"),
    (26, "Instruction parser"),
    (25, "Framebuffer Compression"),
    (24, "Binner"),
    (23, "Strips and fans"),
    (22, "Setup engine"),
    (21, "Windowizer"),
    (20, "Intermediate Z"),
    (19, "Perspective interpolation"),
    (18, "Dispatcher"),
    (17, "Projection and LOD"),
    (16, "Dependent address calculation"),
    (14, "Texture fetch"),
    (13, "Texture decompression"),
    (12, "Sampler Cache"),
    (11, "Filtering"),
    (10, "Bypass FIFO"),
    (9, "Pixel shader"),
    (8, "Color calculator"),
    (7, "Map filter"),
    (6, "Map L2"),
];

/// INSTDONE of Gen4 and G4X.
const GEN4: &[(u32, &str)] = &[
    (31, "Row 0, EU 0"),
    (30, "Row 0, EU 1"),
    (29, "Row 0, EU 2"),
    (28, "Row 0, EU 3"),
    (27, "Row 1, EU 0"),
    (26, "Row 1, EU 1"),
    (25, "Row 1, EU 2"),
    (24, "Row 1, EU 3"),
    (23, "Strips and Fans"),
    (22, "Setup Engine"),
    (21, "Windowizer"),
    (18, "Dispatcher"),
    (17, "Projection and LOD"),
    (16, "Dependent address generator"),
    (15, "Quad cache"),
    (14, "Texture fetch"),
    (13, "Texture decompress"),
    (12, "Sampler cache"),
    (11, "Filtering"),
    (10, "Bypass FIFO"),
    (9, "Pixel shader"),
    (8, "Color calculator"),
    (7, "Map filter"),
    (6, "Map L2"),
    (5, "Message Arbiter row 0"),
    (4, "Message Arbiter row 1"),
    (3, "Instruction cache row 0"),
    (2, "Instruction cache row 1"),
    (1, "Command Processor"),
];

/// INSTDONE of Gen5.
const GEN5: &[(u32, &str)] = &[
    (31, "Row 0, EU 0"),
    (30, "Row 0, EU 1"),
    (29, "Row 0, EU 2"),
    (28, "Row 0, EU 3"),
    (27, "Row 1, EU 0"),
    (26, "Row 1, EU 1"),
    (25, "Row 1, EU 2"),
    (24, "Row 1, EU 3"),
    (23, "Row 2, EU 0"),
    (22, "Row 2, EU 1"),
    (21, "Row 2, EU 2"),
    (20, "Row 2, EU 3"),
    (19, "VCP"),
    (18, "Row 0 math"),
    (17, "Row 1 math"),
    (16, "Row 2 math"),
    (15, "VC1"),
    (14, "Row 0 MA"),
    (13, "Row 1 MA"),
    (12, "Row 2 MA"),
    (11, "Row 0 ISC"),
    (10, "Row 1 ISC"),
    (9, "Row 2 ISC"),
    (8, "VFE"),
    (7, "TD"),
    (6, "SVTS"),
    (5, "TS"),
    (4, "GW"),
    (3, "AI"),
    (2, "AC"),
    (1, "AM"),
];

/// INSTDONE of Gen6.
const GEN6: &[(u32, &str)] = &[
    (31, "Message Arbiter 3"),
    (30, "EU 32"),
    (29, "EU 31"),
    (28, "EU 30"),
    (27, "Message Arbiter 2"),
    (26, "EU 22"),
    (25, "EU 21"),
    (24, "EU 20"),
    (23, "Message Arbiter 1"),
    (22, "EU 12"),
    (21, "EU 11"),
    (20, "EU 10"),
    (19, "Message Arbiter 0"),
    (18, "EU 02"),
    (17, "EU 01"),
    (16, "EU 00"),
    (15, "IC 3"),
    (14, "IC 2"),
    (13, "IC 1"),
    (12, "IC 0"),
    (11, "ISC 1/0"),
    (10, "ISC 3/2"),
    (9, "VSC"),
    (8, "IEF"),
    (7, "VFE"),
    (6, "TD"),
    (4, "TS"),
    (3, "GW"),
    (2, "HIZ"),
    (1, "AVS"),
];

/// The second register of Gen4.
const I965_1: &[(u32, &str)] = &[
    (19, "GW CS CR"),
    (18, "SVSM CS CR"),
    (17, "SVDW CS CR"),
    (16, "SVDR CS CR"),
    (15, "SVRW CS CR"),
    (14, "SVRR CS CR"),
    (13, "SVTW CS CR"),
    (12, "MASM CS CR"),
    (11, "MASF CS CR"),
    (10, "MAW CS CR"),
    (9, "EM1 CS CR"),
    (8, "EM0 CS CR"),
    (7, "UC1 CS"),
    (6, "UC0 CS"),
    (5, "URB CS"),
    (4, "ISC CS"),
    (3, "CL CS"),
    (2, "GS CS"),
    (1, "VS0 CS"),
    (0, "VF CS"),
];

/// The second register of G4X and Gen5.
const G4X_1: &[(u32, &str)] = &[
    (31, "BCS"),
    (30, "CS"),
    (29, "MASF"),
    (28, "SVDW"),
    (27, "SVDR"),
    (26, "SVRW"),
    (25, "SVRR"),
    (24, "ISC"),
    (23, "MT"),
    (22, "RC"),
    (21, "DAP"),
    (20, "MAWB"),
    (19, "MT idle"),
    (17, "SVSM"),
    (16, "MASM"),
    (15, "QC"),
    (14, "FL"),
    (13, "SC"),
    (12, "DM"),
    (11, "FT"),
    (10, "DG"),
    (9, "SI"),
    (8, "SO"),
    (7, "PL"),
    (6, "WIZ"),
    (5, "URB"),
    (4, "SF"),
    (3, "CL"),
    (2, "GS"),
    (1, "VS0"),
    (0, "VF"),
];

/// The second register of Gen6.
const GEN6_1: &[(u32, &str)] = &[
    (31, "GAM"),
    (30, "CS"),
    (29, "WMBE"),
    (28, "SVRW"),
    (27, "RCC"),
    (26, "SVG"),
    (25, "ISC"),
    (24, "MT"),
    (23, "RCPFE"),
    (22, "RCPBE"),
    (21, "VDI"),
    (20, "RCZ"),
    (19, "DAP"),
    (18, "PSD"),
    (17, "IZ"),
    (16, "WMFE"),
    (15, "SVSM"),
    (14, "QC"),
    (13, "FL"),
    (12, "SC"),
    (11, "DM"),
    (10, "FT"),
    (9, "DG"),
    (8, "SI"),
    (7, "SO"),
    (6, "PL"),
    (5, "VME"),
    (4, "SF"),
    (3, "CL"),
    (2, "GS"),
    (1, "VS0"),
    (0, "VF"),
];

/// INSTDONE of Gen7.
const GEN7: &[(u32, &str)] = &[
    (19, "GAM"),
    (18, "GAFM"),
    (17, "TSG"),
    (16, "VFE"),
    (15, "GAFS"),
    (14, "SVG"),
    (13, "URBM"),
    (12, "TDG"),
    (9, "SF"),
    (8, "CL"),
    (7, "SOL"),
    (6, "GS"),
    (5, "DS"),
    (4, "TE"),
    (3, "HS"),
    (2, "VS"),
    (1, "VF"),
];

/// INSTDONE of Gen7.5.
const GEN75: &[(u32, &str)] = &[
    (21, "CS"),
    (20, "RS"),
    (19, "GAM"),
    (18, "GAFM"),
    (17, "TSG"),
    (16, "VFE"),
    (15, "GAFS"),
    (14, "SVG"),
    (13, "URBM"),
    (12, "TDG"),
    (9, "SF"),
    (8, "CL"),
    (7, "SOL"),
    (6, "GS"),
    (5, "DS"),
    (4, "TE"),
    (3, "HS"),
    (2, "VS"),
    (1, "VF"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: intel_error_decode prints these units as busy for INSTDONE1 = 0x9fbdfdaa of a GM45.
    #[test]
    fn units_of_a_gm45() {
        let names = names(45, "INSTDONE1").unwrap();
        let busy: Vec<_> = names
            .iter()
            .filter(|(bit, _)| 0x9fbd_fdaau32 >> bit & 1 == 0)
            .map(|(_, name)| *name)
            .collect();
        assert_eq!(busy, ["CS", "MASF", "RC", "SVSM", "SI", "WIZ", "SF", "GS", "VF"]);
    }

    #[test]
    fn every_bit_once() {
        for table in [GEN2, GEN3, GEN4, GEN5, GEN6, I965_1, G4X_1, GEN6_1, GEN7, GEN75] {
            assert!(table.windows(2).all(|pair| pair[0].0 > pair[1].0));
        }
        assert_eq!(names(80, "INSTDONE"), None);
        assert_eq!(names(45, "HEAD"), None);
    }
}
