//! Registers decoded with the tables.

use super::instdone;
use crate::decode::{Tables, Value, items_at};
use crate::engine::EngineId;
use crate::error_state::{Engine, ErrorState, Platform};
use genxml_core::bits;
use genxml_core::reflect::{Container, Kind};

/// The busy units of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    /// The kernel's name of the register, with an index where there is one.
    pub register: String,
    /// Value of the register.
    pub value: u32,
    /// The units whose done bit is not set.
    pub busy: Vec<&'static str>,
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

/// Registers of the device of which every set bit is reported.
const OF_DEVICE: &[(&str, &str)] = &[("EIR", "RING_EIR"), ("ERROR", "GFX_ARB_ERROR_RPT")];

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

/// The description of a register. If each engine has a register of this name: the description for
/// `engine`, or for the first engine of the tables if `engine` is `None` or unknown.
fn describe(tables: &Tables, engine: Option<&Engine>, name: &str) -> Option<&'static Container> {
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

/// The registers of `DONE` that the file has for an engine, each with its busy units.
pub(super) fn units(tables: &Tables, platform: Option<Platform>, engine: &Engine) -> Vec<Units> {
    let mut units = Vec::new();
    let render = engine.id() == Some(EngineId::Render);
    for register in &engine.registers {
        let old = platform
            .filter(|_| render)
            .and_then(|platform| instdone::names(platform.generation, &register.name));
        if let Some(names) = old {
            let value = register.value as u32;
            let busy = names.iter().filter(|(bit, _)| value >> bit & 1 == 0);
            let busy = busy.map(|(_, name)| *name).collect();
            units.push(Units { register: register.name.clone(), value, busy });
            continue;
        }
        let name = register.name.split('[').next().unwrap_or_default();
        let Some((_, described)) = DONE.iter().find(|(kernel, _)| *kernel == name) else {
            continue;
        };
        let Some(container) = describe(tables, Some(engine), described) else { continue };
        let value = register.value as u32;
        let mut busy = Vec::new();
        for item in items(tables, container, value.into()) {
            // The register also holds the enable bit of the ring, which is not a unit.
            if item.value == Value::Bool(false) && !item.name.ends_with("Enable") {
                busy.push(item.name.strip_suffix(" Done").unwrap_or(item.name));
            }
        }
        units.push(Units { register: register.name.clone(), value, busy });
    }
    units
}

/// The bits that are set in an engine's `FLAGS`, without registers that are zero.
pub(super) fn flags(tables: &Tables, engine: &Engine) -> Vec<Flags> {
    let flags = FLAGS.iter().filter_map(|(kernel, described)| {
        let value = engine.value(kernel)?;
        flags_of(tables, kernel, describe(tables, Some(engine), described)?, value)
    });
    flags.collect()
}

/// The bits that are set in the device's registers `OF_DEVICE`, without registers that are zero.
pub(super) fn of_device(tables: &Tables, state: &ErrorState) -> Vec<Flags> {
    let flags = OF_DEVICE.iter().filter_map(|(kernel, described)| {
        let value = state.register(kernel)?.value;
        flags_of(tables, kernel, describe(tables, None, described)?, value)
    });
    flags.collect()
}

fn flags_of(
    tables: &Tables,
    kernel: &str,
    container: &'static Container,
    value: u64,
) -> Option<Flags> {
    let mut set = Vec::new();
    for item in items(tables, container, value) {
        match item.value {
            Value::Bool(true) => set.push(item.name.to_owned()),
            Value::Enum { name: Some(name) } if item.stored != 0 => {
                set.push(format!("{}: {name}", item.name))
            }
            Value::Uint(value) if item.stored != 0 => set.push(format!("{}: {value}", item.name)),
            Value::Enum { .. } | Value::Reserved | Value::Raw if item.stored != 0 => {
                set.push(format!("{}: {:#x}", item.name, item.stored));
            }
            _ => {}
        }
    }
    (value != 0).then(|| Flags { register: kernel.to_owned(), value, set })
}

/// The fields of a register.
fn items(tables: &Tables, container: &Container, value: u64) -> Vec<crate::decode::Item> {
    let mut items = Vec::new();
    let dwords = [value as u32, (value >> 32) as u32];
    items_at(tables, container, &dwords[..container.dwords().min(2)], 0, &mut items);
    items
}

/// The decoded value of a field of a register.
pub(super) fn field(tables: &Tables, register: &str, field: &str, value: u64) -> Option<u64> {
    let container = describe(tables, None, register)?;
    let field = container.fields.iter().find(|other| other.name == field)?;
    Some(field.stored.decode(bits::get(
        &[value as u32, (value >> 32) as u32],
        field.start,
        field.end,
    )))
}

/// The name of the value of a field of a register.
pub(super) fn field_name(
    tables: &Tables,
    register: &str,
    field: &str,
    value: u64,
) -> Option<&'static str> {
    use genxml_core::reflect::Type;
    let container = describe(tables, None, register)?;
    let field = container.fields.iter().find(|other| other.name == field)?;
    match field.ty {
        Type::Enum(list) => list.name_of(bits::get(&[value as u32], field.start, field.end)),
        _ => None,
    }
}

/// True if a field of a register is not zero.
pub(super) fn is_set(tables: &Tables, register: &str, name: &str, value: u64) -> bool {
    field(tables, register, name, value).is_some_and(|value| value != 0)
}
