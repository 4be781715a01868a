//! Registers as the GuC captures them: the firmware that schedules the engines from Gen12 on.
//!
//! Kernels from 5.18 on print these registers in three lists (`RegListType`): of the device, of the
//! engine's class, and of the engine. The names differ from those of other error states, and 64-bit
//! registers are printed as two halves.
//!
//! Source: Linux `drivers/gpu/drm/i915/gt/uc/intel_guc_capture.c`, 5.18 to 6.17.

use super::{Engine, Register};

/// The list that a register is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// Registers of the device.
    Device,
    /// Registers of the engine or of its class.
    Engine,
}

impl List {
    /// The list of this name.
    pub fn of(name: &str) -> List {
        match name {
            "Global" => List::Device,
            _ => List::Engine,
        }
    }
}

/// The engine whose capture begins with this line.
pub(super) fn capture_of(line: &str) -> Option<&str> {
    line.strip_prefix("global --- GuC Error Capture on ")?.strip_suffix(" command stream:")
}

/// The engine of a line that reports a missing capture.
pub(super) fn missing_of(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Missing GuC capture node for ")
}

/// Names that differ: the name in a capture, the name in other error states.
const NAMES: &[(&str, &str)] = &[
    ("FORCEWAKE_MT", "FORCEWAKE"),
    ("FORCEWAKE_GT", "FORCEWAKE"),
    ("ERROR_GEN6", "ERROR"),
    ("HSW_GTT_CACHE_EN", "GTT_CACHE_EN"),
    ("GEN12_RING_FAULT_REG", "FAULT_REG"),
    ("GEN12_AUX_ERR_DBG", "AUX_ERR_DBG"),
    ("GEN12_GAM_DONE", "GAM_DONE"),
    ("RING_START", "START"),
    ("RING_HEAD", "HEAD"),
    ("RING_TAIL", "TAIL"),
    ("RING_CTL", "CTL"),
    ("RING_MI_MODE", "MODE"),
    ("RING_HWS_PGA", "HWS"),
    ("RING_MODE", "GFX_MODE"),
    ("RING_MODE_GEN7", "GFX_MODE"),
    ("RING_NOPID", "NOPID"),
    ("RING_IPEIR", "IPEIR"),
    ("RING_IPEHR", "IPEHR"),
    ("RING_ESR", "ESR"),
    ("RING_INSTPS", "INSTPS"),
    ("RING_INSTPM", "INSTPM"),
    ("RING_BBSTATE", "BB_STATE"),
    ("RING_PSMI_CTL", "RC PSMI"),
    ("RING_INSTDONE", "INSTDONE"),
    ("INSTDONE_SC", "SC_INSTDONE"),
    ("INSTDONE_SC_EXTRA", "SC_INSTDONE_EXTRA"),
    ("INSTDONE_SC_EXTRA2", "SC_INSTDONE_EXTRA2"),
    ("INSTDONE_GEOM_SVG", "GEOM_SVGUNIT_INSTDONE"),
    ("INSTDONE_GEOM_SVGUNIT", "GEOM_SVGUNIT_INSTDONE"),
];

/// Halves of 64-bit registers: the low half, the high half, the register.
const HALVES: &[(&str, &str, &str)] = &[
    ("ACTHD_LDW", "ACTHD_UDW", "ACTHD"),
    ("RING_ACTHD", "RING_ACTHD_UDW", "ACTHD"),
    ("RING_BBADDR_LOW32", "RING_BBADDR_UP32", "BBADDR"),
    ("BBADDR_LDW", "BBADDR_UDW", "BBADDR"),
    ("RING_BBADDR", "RING_BBADDR_UDW", "BBADDR"),
    ("RING_DMA_FADD_LDW", "RING_DMA_FADD_UDW", "FADDR"),
    ("RING_DMA_FADD_LOW32", "RING_DMA_FADD_UP32", "FADDR"),
    ("RING_DMA_FADD", "RING_DMA_FADD_UDW", "FADDR"),
    ("PDP0_LDW", "PDP0_UDW", "PDP0"),
    ("PDP1_LDW", "PDP1_UDW", "PDP1"),
    ("PDP2_LDW", "PDP2_UDW", "PDP2"),
    ("PDP3_LDW", "PDP3_UDW", "PDP3"),
];

/// The name that other error states have for a register, with its index.
pub(super) fn name_of(name: &str) -> String {
    let (stem, index) = match name.find('[') {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    // The names of steered registers begin with the generation that introduced them.
    let bare = ["GEN7_", "GEN8_", "GEN12_", "XEHPG_"].iter().find_map(|start| {
        let rest = stem.strip_prefix(start)?;
        (rest.contains("INSTDONE") || rest.starts_with("SFC_DONE")).then_some(rest)
    });
    let stem = bare.unwrap_or(stem);
    let stem = NAMES.iter().find(|(guc, _)| *guc == stem).map_or(stem, |(_, other)| *other);
    format!("{stem}{index}")
}

/// Joins the halves of 64-bit registers of an engine. A low half alone becomes the register, a high
/// half alone stays.
pub(super) fn join_halves(engine: &mut Engine) {
    for (low, high, whole) in HALVES {
        let Some(at) = engine.registers.iter().position(|register| register.name == *low) else {
            continue;
        };
        if engine.register(whole).is_some() {
            continue;
        }
        let top = engine.value(high).unwrap_or(0) << 32;
        let register = &mut engine.registers[at];
        *register = Register::new(*whole, top | register.value & 0xffff_ffff);
        engine.registers.retain(|register| register.name != *high);
    }
}

/// Joins the two registers of the last page fault to one, as other error states have it.
pub(super) fn join_fault(registers: &mut Vec<Register>) {
    for generation in ["GEN8", "GEN12", "XEHP"] {
        let half = |number| format!("{generation}_FAULT_TLB_DATA{number}");
        let value = |name: &String| registers.iter().find(|it| it.name == *name).map(|it| it.value);
        let (Some(data0), Some(data1)) = (value(&half(0)), value(&half(1))) else { continue };
        registers.retain(|register| register.name != half(1));
        let joined = Register { more: vec![data0], ..Register::new("FAULT_TLB_DATA", data1) };
        let low = registers.iter().position(|register| register.name == half(0));
        let known = registers.iter().position(|register| register.name == joined.name);
        match (known, low) {
            (None, Some(low)) => registers[low] = joined,
            (Some(known), Some(low)) => {
                // Each generation has registers of its own; those of the others are zero.
                if data0 != 0 || data1 != 0 {
                    registers[known] = joined;
                }
                registers.remove(low);
            }
            (_, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the tables of the kernel, and the names that its other writer prints
    /// (`i915_gpu_error.c`).
    #[test]
    fn names_of_captures() {
        for (guc, other) in [
            ("GEN7_SC_INSTDONE", "SC_INSTDONE"),
            ("GEN12_SC_INSTDONE_EXTRA2", "SC_INSTDONE_EXTRA2"),
            ("GEN8_ROW_INSTDONE[0][3]", "ROW_INSTDONE[0][3]"),
            ("XEHPG_INSTDONE_GEOM_SVG[1][0]", "GEOM_SVGUNIT_INSTDONE[1][0]"),
            ("RING_NOPID", "NOPID"),
            ("IPEHR", "IPEHR"),
            ("SFC_DONE[2]", "SFC_DONE[2]"),
            ("REG-0x0000d04c", "REG-0x0000d04c"),
        ] {
            assert_eq!(name_of(guc), other);
        }
    }

    #[test]
    fn halves_are_joined() {
        let registers = vec![
            Register::new("ACTHD_UDW", 0xfffe),
            Register::new("IPEHR", 7),
            Register::new("ACTHD_LDW", 0xfeee_e058),
            Register::new("RING_DMA_FADD_UDW", 0xfffe),
        ];
        let mut engine = Engine { registers, ..Engine::default() };
        join_halves(&mut engine);
        assert_eq!(engine.value("ACTHD"), Some(0xfffe_feee_e058));
        assert_eq!(engine.register("ACTHD_UDW"), None);
        assert_eq!(engine.value("RING_DMA_FADD_UDW"), Some(0xfffe), "its low half is missing");
        let mut registers = vec![
            Register::new("GEN12_FAULT_TLB_DATA0", 5),
            Register::new("GEN12_FAULT_TLB_DATA1", 9),
        ];
        join_fault(&mut registers);
        assert_eq!(registers, [Register { more: vec![5], ..Register::new("FAULT_TLB_DATA", 9) }]);
    }
}
