//! Registers in error states whose layout depends on the generation, for the generations that the
//! specification of Gen8 does not describe.

use super::Tables;
use genxml_core::bits;
use genxml_core::reflect::Container;
use std::ops::Range;
use std::sync::OnceLock;

/// Names of a register in error states, generations (times ten), and the container that describes
/// the register there.
type Layout = (&'static [&'static str], Range<u32>, &'static str);

/// Linux 3.6 to 4.8 has INSTDONE_0 and INSTDONE_1.
const INSTDONE: &[&str] = &["INSTDONE", "INSTDONE_0"];
const INSTDONE_1: &[&str] = &["INSTDONE1", "INSTDONE_1", "SC_INSTDONE"];

const LAYOUTS: &[Layout] = &[
    (INSTDONE, 20..30, "GEN2_INSTDONE"),
    (INSTDONE, 30..40, "GEN3_INSTDONE"),
    (INSTDONE, 40..50, "GEN4_INSTDONE"),
    (INSTDONE, 50..60, "GEN5_INSTDONE"),
    (INSTDONE, 60..70, "GEN6_INSTDONE"),
    (INSTDONE, 70..75, "GEN7_INSTDONE"),
    (INSTDONE, 75..80, "GEN75_INSTDONE"),
    (INSTDONE_1, 40..45, "GEN4_INSTDONE_1"),
    (INSTDONE_1, 45..60, "G4X_INSTDONE_1"),
    (INSTDONE_1, 60..70, "GEN6_INSTDONE_1"),
    (&["PGTBL_ER"], 20..30, "GEN2_PGTBL_ER"),
    (&["PGTBL_ER"], 30..40, "GEN3_PGTBL_ER"),
    (&["PGTBL_ER"], 40..80, "GEN4_PGTBL_ER"),
    (&["ERROR"], 60..70, "GEN6_ERROR"),
    (&["ERROR"], 70..75, "GEN7_ERROR"),
    (&["ERROR"], 75..80, "GEN75_ERROR"),
    (&["FAULT_REG"], 70..80, "GEN7_FAULT_REG"),
    (&["fence"], 20..30, "GEN2_FENCE"),
    (&["fence"], 30..40, "GEN3_FENCE"),
    (&["fence"], 40..60, "GEN4_FENCE"),
    // Linux writes fences of this layout on all later GPUs.
    (&["fence"], 60..u32::MAX, "GEN6_FENCE"),
];

impl Tables {
    /// The registers of `LAYOUTS`.
    pub(crate) fn other() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| Tables::new(genxml_other::CONTAINERS, &[], 0))
    }

    /// The description in [`other`](Self::other) of the register that error states call `name`.
    /// `generation` is the generation times ten: 75 is Gen7.5. `None` if the register has no
    /// description there.
    pub(crate) fn other_register(generation: u32, name: &str) -> Option<&'static Container> {
        let layout = LAYOUTS
            .iter()
            .find(|(names, range, _)| names.contains(&name) && range.contains(&generation))?;
        Tables::other().container(layout.2)
    }
}

/// The meant value of a field of a register that has the content `value`. `None` if it has no such
/// field.
pub(crate) fn register_field(register: &Container, field: &str, value: u64) -> Option<u64> {
    let field = register.fields.iter().find(|other| other.name == field)?;
    let dwords = [value as u32, (value >> 32) as u32];
    Some(field.stored.decode(bits::get(&dwords, field.start, field.end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EngineId;
    use genxml_core::reflect::Kind;

    /// Oracle: the ring of a GM45, where Linux's gen4_emit_bb_start writes two dwords for a batch.
    #[test]
    fn commands_of_gen4() {
        let start = |tables: &Tables| {
            let container = tables.instruction(EngineId::Render, 0x1880_0180).unwrap();
            (container.name, container.dwords())
        };
        assert_eq!(start(&Tables::gen8_for(45)), ("MI_BATCH_BUFFER_START", 2));
        assert_eq!(start(&Tables::gen8_for(90)), ("MI_BATCH_BUFFER_START", 3));
        assert_eq!(start(Tables::gen8()), ("MI_BATCH_BUFFER_START", 3));
        let old = Tables::with_partial_lists(&[], &[], 40);
        assert!(old.instruction(EngineId::Render, 0x0100_0000).is_some());
    }

    #[test]
    fn every_layout_is_described() {
        for (names, range, container) in LAYOUTS {
            let found = Tables::other_register(range.start, names[0]);
            assert_eq!(found.map(|it| it.name), Some(*container));
        }
        let registers = genxml_other::CONTAINERS.iter();
        let registers = registers.filter(|it| matches!(it.kind, Kind::Struct { .. }));
        let described = registers.map(|it| it.name);
        let unused: Vec<_> =
            described.filter(|name| LAYOUTS.iter().all(|layout| layout.2 != *name)).collect();
        assert!(unused.is_empty(), "no row names {unused:?}");
    }
}
