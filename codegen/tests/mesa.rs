//! Our specification of G45 beside Mesa's file `gen45.xml`. Oracle: Mesa's file. Skipped without
//! `GENXML_MESA`, the folder of Mesa's sources.
//!
//! A field of Mesa's is shared if our container has a field of the same name, another field with
//! exactly its bits, or several fields that divide its bits. It is in place if bits, kind of type,
//! default of an opcode and named values agree. Names are compared without case, spaces and
//! punctuation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use genxml_codegen::load_texts;
use genxml_codegen::model::{Container, Enum, Field, Group, Kind, Spec, Type};
use genxml_codegen::{GEN45, emit, load_files};

/// Mesa's name of a container and ours, where they differ.
const CONTAINERS: &[(&str, &str)] = &[("RENDER_SURFACE_STATE", "SURFACE_STATE")];

/// Differences that are right in our files: container, Mesa's field, reason.
const DECIDED: &[(&str, &str, &str)] = &[
    (
        "CLIP_STATE",
        "GS Output Object Statistics Enable",
        "Mesa repeats the bit of Clipper Statistics Enable. Mesa 7.10 has the bit below.",
    ),
    (
        "3DSTATE_LINE_STIPPLE",
        "Line Stipple Inverse Repeat Count",
        "The format u1.13 has 14 bits, not 16.",
    ),
    ("SAMPLER_BORDER_COLOR_STATE", "length", "003:3837-3851 has four dwords."),
    (
        "MI_LOAD_REGISTER_IMM",
        "Register Offset",
        "Register offsets have bits 22:2, as in Mesa's own MI_STORE_REGISTER_MEM.",
    ),
    ("MI_STORE_DATA_IMM", "BitFieldName", "A name that Mesa left open: no driver sets the bit."),
    ("MI_STORE_REGISTER_MEM", "DWord Length", "Lengths of MI commands have six bits on Gen4."),
    ("XY_COLOR_BLT", "Solid Pattern Color", "A colour has no sign."),
    (
        "XY_TEXT_IMMEDIATE_BLT",
        "Destination Pitch",
        "Mesa repeats the bits of the first column. The pitch is in XY_SETUP_BLT.",
    ),
];

fn table() -> Option<PathBuf> {
    let Some(mesa) = std::env::var_os("GENXML_MESA") else {
        eprintln!("skipped: set GENXML_MESA to the folder of Mesa's sources");
        return None;
    };
    let file = Path::new(&mesa).join("src/intel/genxml/gen45.xml");
    assert!(file.is_file(), "GENXML_MESA: no file {}", file.display());
    Some(file)
}

/// A name in lower case, without spaces and punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// A field with its bits in the outermost container.
struct Place<'a> {
    name: String,
    start: u32,
    end: u32,
    field: &'a Field,
}

/// The fields of a container, with those of groups and nested structures. A variable group has the
/// elements that reach to the bit `limit`, at least one.
fn places<'a>(spec: &'a Spec, container: &'a Container, limit: u32) -> Vec<Place<'a>> {
    let mut found = Vec::new();
    add(spec, (&container.fields, &container.groups), 0, limit, &mut found);
    found.retain(|place| {
        !matches!(place.field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
    });
    found
}

fn add<'a>(
    spec: &'a Spec,
    (fields, groups): (&'a [Field], &'a [Group]),
    at: u32,
    limit: u32,
    found: &mut Vec<Place<'a>>,
) {
    for field in fields {
        let (start, end) = (at + field.start, at + field.end);
        if let Type::Struct(id) = field.ty {
            let inner = &spec.containers[id.0];
            add(spec, (&inner.fields, &inner.groups), start, limit, found);
        } else {
            found.push(Place { name: plain(&field.name), start, end, field });
        }
    }
    for group in groups {
        let count = match group.count {
            0 => limit.saturating_sub(group.start).div_ceil(group.bits).max(1),
            count => count,
        };
        for index in 0..count {
            let at = at + group.start + index * group.bits;
            add(spec, (&group.fields, &group.groups), at, limit, found);
        }
    }
}

/// Kinds of types whose values differ.
fn kind(spec: &Spec, ty: &Type) -> String {
    match ty {
        Type::Uint | Type::Bool | Type::Enum(_) | Type::Address { .. } => "bits".to_owned(),
        Type::Struct(id) => spec.containers[id.0].name.clone(),
        other => format!("{other:?}"),
    }
}

fn values<'a>(spec: &'a Spec, field: &Field) -> Option<&'a Enum> {
    match field.ty {
        Type::Enum(id) => Some(&spec.enums[id.0]),
        _ => None,
    }
}

/// The values of Mesa's enumeration that ours has with another number, or not at all.
fn renumbered(theirs: &Enum, ours: &Enum) -> Vec<String> {
    let (mut different, mut renamed) = (Vec::new(), Vec::new());
    for value in &theirs.values {
        // A prefix may be a part of the name, or an attribute.
        let long = |list: &Enum, name: &str| plain(&format!("{}{name}", list.prefix));
        let names = |list: &Enum, name: &str| [plain(name), long(list, name)];
        let named = ours.values.iter().find(|our| {
            let name = names(ours, &our.name);
            names(theirs, &value.name).iter().any(|their| name.contains(their))
        });
        let numbered = ours.values.iter().find(|our| our.value == value.value);
        match (named, numbered) {
            (Some(our), _) if our.value != value.value => {
                different.push(format!("{} is {}, ours {}", value.name, value.value, our.value));
            }
            (None, None) => different.push(format!("{} {} is not ours", value.name, value.value)),
            (None, Some(our)) => renamed.push(format!("{} {}", value.name, our.name)),
            _ => {}
        }
    }
    if !renamed.is_empty() {
        println!("renamed: {}: {}", theirs.name, renamed.join(", "));
    }
    different
}

/// Numbers of a comparison, and the differences without a decision.
#[derive(Default)]
struct Comparison {
    containers: usize,
    shared: usize,
    in_place: usize,
    renamed: usize,
    divided: usize,
    absent: usize,
    open: Vec<String>,
    decided: BTreeSet<usize>,
}

impl Comparison {
    fn report(&mut self, container: &str, field: &str, text: &str) {
        let decided = DECIDED.iter().position(|(name, about, _)| {
            *name == container && plain(about) == plain(field.split(" at ").next().unwrap())
        });
        match decided {
            Some(at) => {
                println!("differs: {container}: {field}: {text}. {}", DECIDED[at].2);
                self.decided.insert(at);
            }
            None => self.open.push(format!("{container}: {field}: {text}")),
        }
    }

    fn container(&mut self, mesa: (&Spec, &Container), ours: (&Spec, &Container)) {
        let ((spec, container), (our_spec, partner)) = (mesa, ours);
        self.containers += 1;
        let name = &container.name;
        let variable = container.is_variable() || partner.is_variable();
        if !variable && container.bits != partner.bits {
            let text = format!("{} bits, ours {}", container.bits, partner.bits);
            self.report(name, "length", &text);
        }
        let theirs = places(spec, container, 0);
        let limit = theirs.iter().map(|place| place.end + 1).max().unwrap_or(0);
        let ours = places(our_spec, partner, limit);
        for their in &theirs {
            let label = format!("{} at {}..{}", their.field.name, their.start, their.end);
            let bits = |our: &&Place<'_>| (our.start, our.end) == (their.start, their.end);
            let named: Vec<_> = ours.iter().filter(|our| our.name == their.name).collect();
            let our = named.iter().copied().find(bits).or(named.first().copied());
            // A field with another name is a partner only if Mesa does not use that name.
            let free = |our: &&Place<'_>| !theirs.iter().any(|their| their.name == our.name);
            let renamed = ours.iter().find(|our| bits(our) && free(our));
            if let (None, Some(renamed)) = (our, renamed) {
                self.renamed += 1;
                println!("renamed: {name}: {label}: {}", renamed.field.name);
            }
            if let Some(our) = our.or(renamed) {
                self.shared += 1;
                match difference((spec, their), (our_spec, our)) {
                    None => self.in_place += 1,
                    Some(text) => self.report(name, &label, &text),
                }
                continue;
            }
            let inside = |our: &&Place<'_>| their.start <= our.start && our.end <= their.end;
            let parts = ours.iter().filter(|our| inside(our) && free(our));
            if parts.map(|our| our.end - our.start + 1).sum::<u32>() == their.end - their.start + 1
            {
                self.shared += 1;
                self.in_place += 1;
                self.divided += 1;
                println!("divided: {name}: {label}");
            } else {
                self.absent += 1;
                self.report(name, &label, "absent");
            }
        }
    }
}

/// The difference between a field and ours, `None` if they are equal.
fn difference(theirs: (&Spec, &Place<'_>), ours: (&Spec, &Place<'_>)) -> Option<String> {
    let ((mesa, their), (spec, our)) = (theirs, ours);
    if (their.start, their.end) != (our.start, our.end) {
        return Some(format!("ours at {}..{}", our.start, our.end));
    }
    let kinds = (kind(mesa, &their.field.ty), kind(spec, &our.field.ty));
    let has_names = matches!(our.field.ty, Type::Enum(_));
    if kinds.0 != kinds.1 && !has_names {
        return Some(format!("type {}, ours {}", kinds.0, kinds.1));
    }
    let defaults = (their.field.default, our.field.default);
    if our.field.opcode && defaults.0.is_some() && defaults.0 != defaults.1 {
        return Some(format!("opcode {:?}, ours {:?}", defaults.0, defaults.1));
    }
    let (Some(left), Some(right)) = (values(mesa, their.field), values(spec, our.field)) else {
        return None;
    };
    let different = renumbered(left, right);
    (!different.is_empty()).then(|| different.join(", "))
}

/// Our container for one of Mesa's: by name, an instruction also by its opcode.
fn partner<'a>(ours: &'a Spec, container: &Container) -> Option<&'a Container> {
    let name = CONTAINERS.iter().find(|(mesa, _)| *mesa == container.name);
    let name = plain(name.map_or(container.name.as_str(), |(_, ours)| *ours));
    let named = ours.containers.iter().find(|ours| plain(&ours.name) == name);
    let is_instruction = |one: &Container| matches!(one.kind, Kind::Instruction { .. });
    let opcode = emit::opcode(container);
    let same = |ours: &&Container| is_instruction(ours) && emit::opcode(ours).1 == opcode.1;
    named.or_else(|| ours.containers.iter().find(same).filter(|_| is_instruction(container)))
}

/// At least 97 % of the shared fields are in place, and each difference has a decision.
#[test]
fn gen45_has_the_fields_of_mesa() {
    let Some(file) = table() else { return };
    let mesa = load_files(&[file]).unwrap_or_else(|report| panic!("{report}"));
    let ours = load_texts(GEN45).unwrap_or_else(|report| panic!("{report}"));
    let mut comparison = Comparison::default();
    for container in &mesa.containers {
        match partner(&ours, container) {
            Some(partner) => comparison.container((&mesa, container), (&ours, partner)),
            None => comparison.report(&container.name, "container", "absent"),
        }
    }
    for theirs in &mesa.enums {
        let Some(ours) = ours.enums.iter().find(|ours| plain(&ours.name) == plain(&theirs.name))
        else {
            continue;
        };
        for text in renumbered(theirs, ours) {
            comparison.report(&theirs.name, "values", &text);
        }
    }
    let Comparison { containers, shared, in_place, renamed, divided, absent, open, decided } =
        comparison;
    let share = 100.0 * in_place as f64 / shared as f64;
    println!(
        "{containers} of {} containers; {in_place} of {shared} shared fields in place \
         ({share:.1} %), {renamed} with another name, {divided} divided; {absent} absent",
        mesa.containers.len(),
    );
    assert!(share >= 97.0, "{share}");
    assert!(open.is_empty(), "{} differences without a decision: {open:#?}", open.len());
    assert_eq!(decided.len(), DECIDED.len(), "a decision is about no difference");
}
