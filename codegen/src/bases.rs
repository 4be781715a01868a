//! Bases and targets of the addresses in Mesa's files, which do not state them.
//!
//! Most names of packets, structures and fields are those of the manuals, and did not change
//! between generations. So a field has the base and the target of the field with the same names in
//! the specification of Broadwell. A table has the others.

use crate::model::{Container, Enum, EnumId, Field, Group, Spec, Type};
use std::collections::HashMap;

/// The base of an offset that nothing states.
const UNKNOWN: &str = "unknown";

/// A base, and the structure at the address. Both may be empty.
type Meaning<'a> = (&'a str, &'a str);

/// Fields that Broadwell does not have, or has with other names: container (empty: any), field,
/// base, target. (Mesa src/intel/decoder/intel_batch_decoder.c; Intel's manuals of the generations,
/// volume 2 about 3D and media)
const OTHERS: &[(&str, &str, &str, &str)] = &[
    // Gen4 and Gen5: structures with the state of a stage. Their kernels count from the general
    // state base; on Gen5 their `offset` counts from the instruction base.
    ("3DSTATE_PIPELINED_POINTERS", "Pointer to VS State", "general-state", "VS_STATE"),
    ("3DSTATE_PIPELINED_POINTERS", "Pointer to GS State", "general-state", "GS_STATE"),
    ("3DSTATE_PIPELINED_POINTERS", "Pointer to CLIP State", "general-state", "CLIP_STATE"),
    ("3DSTATE_PIPELINED_POINTERS", "Pointer to SF State", "general-state", "SF_STATE"),
    ("3DSTATE_PIPELINED_POINTERS", "Pointer to WM State", "general-state", "WM_STATE"),
    (
        "3DSTATE_PIPELINED_POINTERS",
        "Pointer to Color Calc State",
        "general-state",
        "COLOR_CALC_STATE",
    ),
    ("3DSTATE_BINDING_TABLE_POINTERS", "", "surface-state", "BINDING_TABLE_STATE"),
    ("CLIP_STATE", "Clipper Viewport State Pointer", "general-state", "CLIP_VIEWPORT"),
    ("SF_STATE", "Setup Viewport State Offset", "general-state", "SF_VIEWPORT"),
    ("COLOR_CALC_STATE", "CC Viewport State Pointer", "general-state", "CC_VIEWPORT"),
    ("WM_STATE", "Kernel Start Pointer 3", "instruction", ""),
    // Gen6.
    ("3DSTATE_CC_STATE_POINTERS", "Pointer to BLEND_STATE", "dynamic-state", "BLEND_STATE"),
    (
        "3DSTATE_CC_STATE_POINTERS",
        "Pointer to DEPTH_STENCIL_STATE",
        "dynamic-state",
        "DEPTH_STENCIL_STATE",
    ),
    (
        "3DSTATE_VIEWPORT_STATE_POINTERS",
        "Pointer to CLIP_VIEWPORT",
        "dynamic-state",
        "CLIP_VIEWPORT",
    ),
    ("3DSTATE_VIEWPORT_STATE_POINTERS", "Pointer to SF_VIEWPORT", "dynamic-state", "SF_VIEWPORT"),
    ("3DSTATE_VIEWPORT_STATE_POINTERS", "Pointer to CC_VIEWPORT", "dynamic-state", "CC_VIEWPORT"),
    // Gen7.
    (
        "3DSTATE_DEPTH_STENCIL_STATE_POINTERS",
        "Pointer to DEPTH_STENCIL_STATE",
        "dynamic-state",
        "DEPTH_STENCIL_STATE",
    ),
    ("SAMPLER_STATE", "Border Color Pointer", "dynamic-state", "SAMPLER_BORDER_COLOR_STATE"),
    // Gen9 and later.
    ("3DSTATE_DS", "DUAL_PATCH Kernel Start Pointer", "instruction", ""),
    ("", "Indirect Data Start Address", "general-state", ""),
    ("HCP_BSD_OBJECT", "Indirect BSD Data Start Address", "", ""),
    (
        "3DSTATE_SLICE_TABLE_STATE_POINTERS",
        "Slice Hash Table State Pointer",
        "dynamic-state",
        "SLICE_HASH_TABLE",
    ),
    (
        "3DSTATE_CPS_POINTERS",
        "Coarse Pixel Shading State Array Pointer",
        "dynamic-state",
        "CPS_STATE",
    ),
];

/// Prepares Mesa's files for decoding. Gives addresses the bases and targets that their names say;
/// `generation` is that of the files, times ten, and `known` the specification of Broadwell.
/// Offsets whose base is not known stay so. Numbers of surface formats get names. Ranges that only
/// forbid zero are removed.
pub fn bind(spec: &mut Spec, generation: u32, known: &Spec) {
    let formats = formats(spec, known);
    let known = Known::of(known, generation);
    let Spec { files, containers, .. } = spec;
    for container in containers {
        if files.get(container.file).is_some_and(|file| file.foreign) {
            let Container { name, fields, groups, .. } = container;
            known.bind(name, fields, groups);
            without_ranges(fields, groups);
            for field in fields.iter_mut().filter(|field| field.ty == Type::Uint) {
                if let Some(formats) = formats
                    && field.end - field.start >= 8
                    && FORMATS.1.contains(&field.name.as_str())
                {
                    field.ty = Type::Enum(formats);
                }
            }
        }
    }
}

/// Removes the ranges that `nonzero` gives. Mesa's files use it to ask drivers for a
/// value other than zero; zero is not wrong.
fn without_ranges(fields: &mut [Field], groups: &mut [Group]) {
    for field in fields.iter_mut().filter(|field| field.nonzero) {
        field.range = None;
    }
    for group in groups {
        without_ranges(&mut group.fields, &mut group.groups);
    }
}

/// The enumeration of surface formats, whose numbers did not change between generations, and the
/// fields that Mesa's files describe as plain numbers of such formats.
const FORMATS: (&str, [&str; 2]) = ("SURFACE_FORMAT", ["Surface Format", "Source Element Format"]);

/// Adds the known enumeration of surface formats, and returns its id.
fn formats(spec: &mut Spec, known: &Spec) -> Option<EnumId> {
    let list = known.enums.iter().find(|list| list.name == FORMATS.0)?;
    spec.enums.push(Enum { file: 0, ..list.clone() });
    Some(EnumId(spec.enums.len() - 1))
}

/// Bases and targets of fields in the known specification.
struct Known<'a> {
    /// By the names of container and field.
    both: HashMap<(&'a str, &'a str), Meaning<'a>>,
    /// By the name of the field, if it means the same in all containers.
    field: HashMap<&'a str, Option<Meaning<'a>>>,
    /// True if binding tables may be in a pool, whose address is not a base of STATE_BASE_ADDRESS.
    has_pool: bool,
}

impl<'a> Known<'a> {
    fn of(spec: &'a Spec, generation: u32) -> Known<'a> {
        let has_pool = generation >= 110;
        let mut known = Known { both: HashMap::new(), field: HashMap::new(), has_pool };
        for container in &spec.containers {
            known.add(&container.name, &container.fields, &container.groups);
        }
        known
    }

    fn add(&mut self, container: &'a str, fields: &'a [Field], groups: &'a [Group]) {
        for field in fields {
            let Type::Address { space, target, .. } = &field.ty else { continue };
            let meaning = (space.as_str(), target.as_str());
            self.both.entry((container, &field.name)).or_insert(meaning);
            let same = self.field.entry(&field.name).or_insert(Some(meaning));
            if same.is_some_and(|(space, _)| space != meaning.0) {
                *same = None;
            } else if same.is_some_and(|(_, target)| target != meaning.1) {
                *same = Some((meaning.0, ""));
            }
        }
        for group in groups {
            self.add(container, &group.fields, &group.groups);
        }
    }

    /// The meaning of a field. A name without its container is enough for an offset only.
    fn meaning(&self, container: &str, field: &str, is_offset: bool) -> Option<Meaning<'a>> {
        let other = |any: bool| {
            let found = |(of, name, ..): &&(&str, &str, _, _)| {
                (*of == container || any && of.is_empty())
                    && (*name == field || name.is_empty() && field.starts_with("Pointer to "))
            };
            OTHERS.iter().find(found).map(|(.., space, target)| (*space, *target))
        };
        other(false)
            .or_else(|| self.both.get(&(container, field)).copied())
            .or_else(|| other(true).filter(|_| is_offset))
            .or_else(|| self.field.get(field).copied()?.filter(|_| is_offset))
    }

    fn bind(&self, container: &str, fields: &mut [Field], groups: &mut [Group]) {
        for field in fields {
            // Mesa's files describe some addresses as numbers.
            if field.ty == Type::Uint
                && (field.start % 32, field.end % 32) == (0, 31)
                && self.both.contains_key(&(container, &*field.name))
            {
                let (space, target) = (UNKNOWN.to_owned(), String::new());
                field.ty = Type::Address { space, align: 1, target };
            }
            let Type::Address { space, target, .. } = &mut field.ty else { continue };
            let is_offset = space == UNKNOWN;
            let table =
                field.name.ends_with(" Binding Table") || field.name == "Binding Table Pointer";
            if table && self.has_pool {
                continue;
            }
            let Some((base, at)) = self.meaning(container, &field.name, is_offset) else {
                continue;
            };
            // A graphics address stays one, except for state of Gen4 and Gen5.
            let listed =
                |(of, name, ..): &(&str, &str, _, _)| *of == container && *name == field.name;
            let replaced = is_offset || OTHERS.iter().any(listed);
            if replaced && !base.is_empty() && base != "graphics" {
                base.clone_into(space);
            }
            if target.is_empty() && (is_offset || space == base) {
                at.clone_into(target);
            }
        }
        for group in groups {
            self.bind(container, &mut group.fields, &mut group.groups);
        }
    }
}
