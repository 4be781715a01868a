//! Registers decoded with the tables.

use crate::decode::{Tables, Value, items_at, register_field};
use crate::engine::EngineId;
use crate::error_state::{Engine, ErrorState};
use genxml_core::bits;
use genxml_core::reflect::{Container, Kind, Type};
use std::ptr;

/// The busy units of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    /// The kernel's name of the register, with an index where there is one.
    pub register: String,
    /// Value of the register.
    pub value: u32,
    /// The units whose done bit is not set.
    pub busy: Vec<&'static str>,
    /// True if `busy` has the unit names of the render engine, because no source describes the
    /// units of this engine. This engine may not have these units.
    pub of_render: bool,
}

/// The bits that are set in a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags {
    /// The kernel's name of the register.
    pub register: String,
    /// Value of the register.
    pub value: u64,
    /// Names of the bits that are set, and `name: value` of fields of several bits that are not
    /// zero.
    pub set: Vec<String>,
}

/// Registers of an engine with a bit for each unit that is done: the kernel's name and the
/// specification's.
const DONE: &[(&str, &str)] = &[
    ("INSTDONE", "RING_INSTDONE"),
    ("SC_INSTDONE", "SC_INSTDONE"),
    ("SAMPLER_INSTDONE", "SAMPLER_INSTDONE"),
    ("ROW_INSTDONE", "ROW_INSTDONE"),
];

/// Registers of an engine of which every set bit is reported.
const FLAGS: &[(&str, &str)] =
    &[("CTL", "RING_CTL"), ("ESR", "RING_ESR"), ("FAULT_REG", "FAULT_REG")];

/// Registers of the device of which every set bit is reported. PGTBL_ER is described only for
/// generations before Gen8.
const OF_DEVICE: &[(&str, &str)] =
    &[("EIR", "RING_EIR"), ("ERROR", "GFX_ARB_ERROR_RPT"), ("PGTBL_ER", "PGTBL_ER")];

/// The tables and the GPU that describe registers.
#[derive(Clone, Copy)]
pub(super) struct Registers<'a> {
    tables: &'a Tables,
    /// Generation of the GPU times ten; that of the tables if the file does not name its GPU.
    generation: u32,
}

/// A register's description, and the tables that it is in.
#[derive(Clone, Copy)]
pub(super) struct Described<'a> {
    tables: &'a Tables,
    container: &'static Container,
}

impl<'a> Registers<'a> {
    /// The registers of a file.
    pub fn new(tables: &'a Tables, state: &ErrorState) -> Registers<'a> {
        let generation =
            state.platform().map_or(tables.generation(), |platform| platform.generation);
        Registers { tables, generation }
    }

    /// The description of a register. `kernel` is its name in error states, `described` its name in
    /// the specification.
    pub fn describe(
        self,
        engine: Option<&Engine>,
        kernel: &str,
        described: &str,
    ) -> Option<Described<'a>> {
        if let Some(container) = Tables::other_register(self.generation, kernel) {
            return Some(Described { tables: Tables::other(), container });
        }
        let container = specified(self.tables, engine, described)?;
        Some(Described { tables: self.tables, container })
    }

    /// The registers of `DONE` that the file has for an engine, each with its busy units.
    pub fn units(self, engine: &Engine) -> Vec<Units> {
        let units = engine.registers.iter().filter_map(|register| {
            let value = register.value as u32;
            let described = self.instdone(engine, &register.name)?;
            let older = ptr::eq(described.tables, Tables::other());
            let of_render = older && engine.id() != Some(EngineId::Render);
            let busy = described.busy(value);
            Some(Units { register: register.name.clone(), value, busy, of_render })
        });
        units.collect()
    }

    /// The description of a register of `DONE`.
    fn instdone(self, engine: &Engine, kernel: &str) -> Option<Described<'a>> {
        // For older GPUs, these are the units of the render engine.
        if let Some(container) = Tables::other_register(self.generation, kernel) {
            return Some(Described { tables: Tables::other(), container });
        }
        let name = kernel.split('[').next().unwrap_or_default();
        let (_, described) = DONE.iter().find(|(kernel, _)| *kernel == name)?;
        let container = specified(self.tables, Some(engine), described)?;
        Some(Described { tables: self.tables, container })
    }

    /// The bits that are set in an engine's `FLAGS`, without registers that are zero.
    pub fn flags(self, engine: &Engine) -> Vec<Flags> {
        let flags = FLAGS.iter().filter_map(|(kernel, described)| {
            let value = engine.value(kernel)?;
            self.describe(Some(engine), kernel, described)?.flags(kernel, value)
        });
        flags.collect()
    }

    /// The bits that are set in the device's registers `OF_DEVICE`, without registers that are
    /// zero.
    pub fn of_device(self, state: &ErrorState) -> Vec<Flags> {
        let flags = OF_DEVICE.iter().filter_map(|(kernel, described)| {
            let value = state.register(kernel)?.value;
            self.describe(None, kernel, described)?.flags(kernel, value)
        });
        flags.collect()
    }
}

impl Described<'_> {
    /// The units whose done bit is not set in `value`.
    fn busy(self, value: u32) -> Vec<&'static str> {
        let mut busy = Vec::new();
        for item in self.items(value.into()) {
            // The register also holds the enable bit of the ring, which is not a unit.
            if item.value == Value::Bool(false) && !item.name.ends_with("Enable") {
                busy.push(item.name.strip_suffix(" Done").unwrap_or(item.name));
            }
        }
        busy
    }

    /// The bits that are set in `value`. `None` if it is zero.
    fn flags(self, kernel: &str, value: u64) -> Option<Flags> {
        let mut set = Vec::new();
        for item in self.items(value) {
            match item.value {
                Value::Bool(true) => set.push(item.name.to_owned()),
                Value::Enum { name: Some(name) } if item.stored != 0 => {
                    set.push(format!("{}: {name}", item.name))
                }
                Value::Uint(value) if item.stored != 0 => {
                    set.push(format!("{}: {value}", item.name));
                }
                Value::Enum { .. } | Value::Reserved | Value::Raw if item.stored != 0 => {
                    set.push(format!("{}: {:#x}", item.name, item.stored));
                }
                _ => {}
            }
        }
        (value != 0).then(|| Flags { register: kernel.to_owned(), value, set })
    }

    /// The fields of the register.
    fn items(self, value: u64) -> Vec<crate::decode::Item> {
        let mut items = Vec::new();
        let dwords = [value as u32, (value >> 32) as u32];
        let dwords = &dwords[..self.container.dwords().min(2)];
        items_at(self.tables, self.container, dwords, 0, &mut items);
        items
    }

    /// The meant value of a field.
    pub fn field(self, field: &str, value: u64) -> Option<u64> {
        register_field(self.container, field, value)
    }

    /// The name of the value of a field.
    pub fn field_name(self, field: &str, value: u64) -> Option<&'static str> {
        let field = self.container.fields.iter().find(|other| other.name == field)?;
        match field.ty {
            Type::Enum(list) => list.name_of(bits::get(&[value as u32], field.start, field.end)),
            _ => None,
        }
    }
}

/// The name of an engine in the tables.
fn table_name(engine: EngineId, instance: u32) -> &'static str {
    match (engine, instance) {
        (EngineId::Render, _) => "RCS",
        (EngineId::Blitter, _) => "BCS",
        (EngineId::Video, 0) => "VCS",
        (EngineId::Video, _) => "VCS2",
        (EngineId::VideoEnhance, _) => "VECS",
    }
}

/// The specification's description of a register. If each engine has a register of this name: the
/// description for `engine`, or for the first engine of the tables if `engine` is `None` or
/// unknown.
fn specified(tables: &Tables, engine: Option<&Engine>, name: &str) -> Option<&'static Container> {
    // Mesa's files have other names for registers. The offsets of these are the same on all
    // generations that have them.
    let Some(container) = tables.container(name) else {
        let offset = offset_of(Tables::gen8(), engine, Tables::gen8().container(name)?)?;
        return tables.register(offset).map(|at| at.register);
    };
    let per_engine = matches!(container.kind, Kind::Register { per_engine: true, .. });
    let special = offset_of(tables, engine, container).filter(|_| per_engine);
    Some(special.and_then(|at| tables.register(at)).map_or(container, |at| at.register))
}

/// Byte offset of a register, of `engine` if each engine has one, or of the first engine of the
/// tables if `engine` is `None` or unknown.
fn offset_of(tables: &Tables, engine: Option<&Engine>, container: &Container) -> Option<u32> {
    let Kind::Register { offset, per_engine, .. } = container.kind else { return None };
    let engine = engine.and_then(|engine| Some(table_name(engine.id()?, engine.instance())));
    let base = if per_engine { tables.engine_base(engine.unwrap_or("RCS"))? } else { 0 };
    Some(base.wrapping_add(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_state::Register;

    fn of(generation: u32, engine: &str, name: &str, value: u64) -> Vec<Units> {
        let engine = Engine {
            name: engine.to_owned(),
            registers: vec![Register::new(name, value)],
            ..Engine::default()
        };
        Registers { tables: Tables::gen8(), generation }.units(&engine)
    }

    /// Oracle: intel_error_decode prints these units as busy for a GM45.
    #[test]
    fn units_of_a_gm45() {
        let units = of(45, "rcs0", "INSTDONE1", 0x9fbd_fdaa);
        assert_eq!(units[0].busy, ["VF", "GS", "SF", "WIZ", "SI", "SVSM", "RC", "MASF", "CS"]);
        assert_eq!(of(45, "rcs0", "HEAD", 0), []);
    }

    /// Oracle: the words of intel_error_decode for these bits.
    #[test]
    fn errors_of_older_gpus() {
        let set = |generation, name, value| {
            let registers = Registers { tables: Tables::gen8(), generation };
            registers.describe(None, name, name).unwrap().flags(name, value).unwrap().set
        };
        assert_eq!(set(20, "PGTBL_ER", 0x22), ["Error: Invalid Memory", "Source: Render TLB"]);
        assert_eq!(set(33, "PGTBL_ER", 1 << 20), ["CS Instruction: Invalid GTT PTE"]);
        let twice = set(45, "PGTBL_ER", 0x20_0001);
        assert_eq!(
            twice,
            ["Invalid GTT entry during fetch for host", "Invalid GTT entry during Vertex Fetch"]
        );
        assert_eq!(set(60, "ERROR", 4), ["Invalid page directory entry error"]);
        assert_eq!(
            set(75, "ERROR", 0x801),
            ["TLB page fault error (GTT entry not valid)", "Pending page faults: 2"]
        );
    }
}
