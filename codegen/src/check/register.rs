//! Checks of registers: their offsets are valid, and no two registers share a dword.

use std::collections::{HashMap, HashSet};

use super::context::Check;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Container, EngineBase, Kind, Span};
use genxml_syntax::suggest;

pub(super) fn check(check: &mut Check<'_>) {
    engines(check);
    let spec = check.spec;
    let registers = spec.containers.iter().filter(|container| {
        matches!(container.kind, Kind::Register { .. })
            && !spec.files.get(container.file).is_some_and(|file| file.foreign)
    });
    let registers: Vec<&Container> = registers.collect();
    for register in &registers {
        place(check, register);
    }
    // The register at each dword of the register space.
    let mut owners: HashMap<u32, &Container> = HashMap::new();
    let mut told: HashSet<(&str, &str)> = HashSet::new();
    for register in &registers {
        for offset in dwords(register, &spec.engines) {
            let Some(first) = owners.get(&offset) else {
                owners.insert(offset, register);
                continue;
            };
            if instance_of(register) == first.name || instance_of(first) == register.name {
                continue;
            }
            if told.insert((&first.name, &register.name)) {
                let place = check.place(&register.span, "num");
                let message = match first.name == register.name {
                    true => format!("two of `{}` are both at {offset:#x}", register.name),
                    false => {
                        format!("`{}` and `{}` are both at {offset:#x}", register.name, first.name)
                    }
                };
                check.report(
                    Diagnostic::new(Code::RegisterOffset, place, message)
                        .also(first.span.clone(), "first here"),
                );
            }
        }
    }
}

fn instance_of(register: &Container) -> &str {
    match &register.kind {
        Kind::Register { instance_of, .. } => instance_of,
        _ => "",
    }
}

/// The byte offsets of all dwords of a register: of each array element, on each engine.
fn dwords<'a>(
    register: &'a Container,
    engines: &'a [EngineBase],
) -> impl Iterator<Item = u32> + 'a {
    let size = register.bits.div_ceil(32);
    let places = register.register_places(engines);
    places.flat_map(move |offset| (0..size).map(move |dword| offset.wrapping_add(4 * dword)))
}

/// Checks the attributes that determine the offset: `num`, `count`, `stride`, `per-engine`,
/// `instance-of`.
fn place(check: &mut Check<'_>, register: &Container) {
    let spec = check.spec;
    let Kind::Register { offset, per_engine, count, stride, instance_of, .. } = &register.kind
    else {
        return;
    };
    let mut wrong = |attribute: &str, message: String, hint: Option<String>| {
        let place = check.place(&register.span, attribute);
        check.report(Diagnostic::new(Code::Register, place, message).maybe_hint(hint));
    };
    let name = &register.name;
    if offset % 4 != 0 {
        wrong("num", format!("`{name}` is at {offset:#x}, which is not a multiple of 4"), None);
    }
    let size = 4 * register.bits.div_ceil(32);
    match (*count, *stride) {
        (0, _) => wrong("count", format!("`{name}` is an array of no registers"), None),
        (1, 0) => {}
        (1, _) => wrong("stride", format!("`{name}` has a stride, but is only one register"), None),
        (_, stride) if stride < size || stride % 4 != 0 => {
            let message =
                format!("the registers `{name}` are {size} bytes each, but {stride} bytes apart");
            wrong(
                "stride",
                message,
                Some("a stride is in bytes, from one register to the next".to_owned()),
            );
        }
        _ => {}
    }
    if *per_engine && spec.engines.is_empty() {
        let hint = "name the engines: <engine name=\"RCS\" base=\"0x2000\"/>".to_owned();
        wrong(
            "per-engine",
            format!("`{name}` is in each engine, but the specification has no engines"),
            Some(hint),
        );
    }
    if instance_of.is_empty() {
        return;
    }
    let registers = spec
        .containers
        .iter()
        .filter(|c| matches!(c.kind, Kind::Register { per_engine: true, .. }));
    match registers.clone().find(|register| register.name == *instance_of) {
        _ if *per_engine => {
            wrong(
                "instance-of",
                format!("`{name}` is in each engine, so it cannot be the copy of one engine"),
                None,
            );
        }
        None => {
            let hint = suggest::hint(instance_of, registers.map(|register| register.name.as_str()));
            wrong(
                "instance-of",
                format!("there is no register `{instance_of}` in each engine"),
                hint,
            );
        }
        Some(general) if !general.register_places(&spec.engines).any(|place| place == *offset) => {
            let message =
                format!("`{name}` is at {offset:#x}, where no engine has its `{instance_of}`");
            wrong("instance-of", message, None);
        }
        Some(_) => {}
    }
}

/// Checks that engines have distinct names and distinct bases.
fn engines(check: &mut Check<'_>) {
    let spec = check.spec;
    let mut names: HashMap<&str, &Span> = HashMap::new();
    let mut bases: HashMap<u32, &EngineBase> = HashMap::new();
    for engine in &spec.engines {
        if let Some(first) = names.insert(&engine.name, &engine.span) {
            let place = check.place(&engine.span, "name");
            let message = format!("two engines are named `{}`", engine.name);
            check.report(
                Diagnostic::new(Code::Duplicate, place, message).also(first.clone(), "first here"),
            );
        }
        if let Some(first) = bases.insert(engine.base, engine) {
            let place = check.place(&engine.span, "base");
            let message = format!(
                "`{}` and `{}` have their registers at {:#x}",
                engine.name, first.name, engine.base
            );
            check.report(
                Diagnostic::new(Code::Register, place, message)
                    .also(first.span.clone(), "first here"),
            );
        }
    }
}
