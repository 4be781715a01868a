//! The index of a folder lists the contents of its files, so that nothing is lost or changed by
//! accident.
//!
//! It has one line for each container and named enumeration: size, numbers of fields and values,
//! and a digest of everything that affects bits. A report compares the index with the files;
//! [`text`] writes a new one. A folder without an index is not compared. `spec-xml/SCHEMA.md` says
//! what the index proves.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;

use crate::diagnostic::{Code, Diagnostic};
use crate::expr;
use crate::model::{
    Container, Enum, EnumValue, Field, Group, Kind, SourceFile, Span, Spec, Type, View,
};
use crate::words::{ALL_PIPELINES, engine_names, is_inline, kind, pipeline_names};

/// File name of an index.
pub const FILE: &str = "index.tsv";

const HEADER: &str = "kind\tname\tbits\tfields\tvalues\tdigest";

/// Advice for a deliberate change.
const HINT: &str = "if this is meant, `genx spec check --bless FOLDER` writes the index anew";

/// True for the path of an index.
pub fn is_index(path: &str) -> bool {
    Path::new(path).file_name().is_some_and(|name| name == FILE)
}

/// The text of an index.
#[derive(Debug, Clone)]
pub struct Index {
    /// Path and text of the index.
    pub(crate) file: SourceFile,
}

/// The properties of a container or enumeration, from a line of the index or from the XML.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    bits: u32,
    fields: usize,
    values: usize,
    digest: u64,
}

/// Kind and name. They are unique in a specification.
type Key = (String, String);

impl Index {
    /// The index at `path`.
    pub fn new(path: &str, text: String) -> Index {
        Index {
            file: SourceFile {
                path: path.to_owned(),
                unit: "index".to_owned(),
                feature: None,
                pipelines: ALL_PIPELINES,
                text,
                foreign: false,
            },
        }
    }

    /// Reports the differences between the index and the files of its folder: items that are
    /// missing, new or changed. Spans in the index get the file number `place`.
    pub(crate) fn check(&self, spec: &Spec, place: usize) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut expected: BTreeMap<Key, (Entry, Span)> = BTreeMap::new();
        let mut start = 0;
        for line in self.file.text.split_inclusive('\n') {
            let span = Span { file: place, range: start..start + line.trim_end().len() };
            start += line.len();
            let line = line.trim_end();
            if line.is_empty() || line == HEADER {
                continue;
            }
            match entry(line) {
                Some((key, entry)) => drop(expected.insert(key, (entry, span))),
                None => found.push(
                    Diagnostic::new(Code::Index, span, "this line of the index is malformed")
                        .hint(HINT),
                ),
            }
        }
        for (key, (entry, span)) in things(spec, Path::new(&self.file.path).parent()) {
            let Some((wanted, line)) = expected.remove(&key) else {
                let message = format!("the index has no {} `{}`", key.0, key.1);
                found.push(Diagnostic::new(Code::Index, span, message).hint(HINT));
                continue;
            };
            if let Some(difference) = difference(&entry, &wanted) {
                let message = format!("`{}` {difference}", key.1);
                found.push(
                    Diagnostic::new(Code::Index, span, message).also(line, "the index").hint(HINT),
                );
            }
        }
        for ((kind, name), (_, line)) in expected {
            let message =
                format!("the {kind} `{name}` of the index is in none of the files beside it");
            found.push(Diagnostic::new(Code::Index, line, message).hint(HINT));
        }
        found
    }
}

fn difference(found: &Entry, wanted: &Entry) -> Option<String> {
    let counts = [
        ("bits", found.bits as usize, wanted.bits as usize),
        ("fields", found.fields, wanted.fields),
        ("values", found.values, wanted.values),
    ];
    if let Some((what, found, wanted)) =
        counts.into_iter().find(|(_, found, wanted)| found != wanted)
    {
        return Some(format!(
            "differs from the index in its number of {what}: {found}, not {wanted}"
        ));
    }
    (found.digest != wanted.digest).then(|| {
        "differs from the index in a name, position, type, default, range or value".to_owned()
    })
}

fn entry(line: &str) -> Option<(Key, Entry)> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [kind, name, bits, fields, values, digest] = columns[..] else { return None };
    let entry = Entry {
        bits: bits.parse().ok()?,
        fields: fields.parse().ok()?,
        values: values.parse().ok()?,
        digest: u64::from_str_radix(digest, 16).ok()?,
    };
    Some(((kind.to_owned(), name.to_owned()), entry))
}

/// Returns the text of an index for the files of `folder`, sorted by kind and name.
pub fn text(spec: &Spec, folder: &Path) -> String {
    let lines: BTreeMap<Key, Entry> =
        things(spec, Some(folder)).into_iter().map(|(key, (entry, _))| (key, entry)).collect();
    let mut text = format!("{HEADER}\n");
    for ((kind, name), Entry { bits, fields, values, digest }) in lines {
        let _ = writeln!(text, "{kind}\t{name}\t{bits}\t{fields}\t{values}\t{digest:016x}");
    }
    text
}

/// The containers and named enumerations of the files of a folder. If two have the same kind and
/// name, only the first is returned.
fn things(spec: &Spec, folder: Option<&Path>) -> Vec<(Key, (Entry, Span))> {
    let here = |file: usize| {
        spec.files.get(file).is_some_and(|file| Path::new(&file.path).parent() == folder)
    };
    let mut seen: HashMap<Key, ()> = HashMap::new();
    let containers =
        spec.containers.iter().filter(|container| here(container.file)).map(|container| {
            let key = (kind(&container.kind).to_owned(), container.name.clone());
            (key, (of_container(spec, container), container.span.clone()))
        });
    let enums =
        spec.enums.iter().filter(|list| here(list.file) && !is_inline(spec, list)).map(|list| {
            (("enum".to_owned(), list.name.clone()), (of_enum(list), list.span.clone()))
        });
    containers.chain(enums).filter(|(key, _)| seen.insert(key.clone(), ()).is_none()).collect()
}

fn of_enum(list: &Enum) -> Entry {
    let mut digest = Digest::default();
    digest.add(&list.prefix);
    digest.values(&list.values);
    // The width of an enumeration is left out: it follows from the fields of this type, which are
    // part of their containers' lines.
    Entry { bits: 0, fields: 0, values: list.values.len(), digest: digest.0 }
}

fn of_container(spec: &Spec, container: &Container) -> Entry {
    let mut digest = Digest::default();
    match container.kind {
        Kind::Struct { align } => digest.add(&align),
        Kind::Instruction { engines, pipelines, bias } => {
            digest.add(&(engine_names(engines), bias));
            // Pipelines are added only if the instruction names some, so that the digests of all
            // other instructions stay the same.
            if pipelines != ALL_PIPELINES {
                digest.add(&pipeline_names(pipelines));
            }
        }
        Kind::Register { offset, per_engine, count, stride, masked, access, ref instance_of } => {
            digest.add(&(offset, per_engine, count, stride, masked, access, instance_of));
        }
    }
    digest.add(&(container.partial, container.overlap_allowed));
    if let Some(latch) = &container.latch {
        digest.add(&("latch", &latch.index));
    }
    let mut entry = Entry { bits: container.bits, fields: 0, values: 0, digest: 0 };
    digest.members(spec, &container.fields, &container.groups, &mut entry);
    for View { field, text, .. } in &container.views {
        digest.add(&(&field.name, field.start, field.end, text));
        digest.ty(spec, &field.ty, &mut entry);
    }
    entry.digest = digest.0;
    entry
}

/// FNV-1a with 64 bits. The index needs an algorithm that never changes and detects accidental
/// changes.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, what: &impl std::fmt::Debug) {
        for byte in format!("{what:?}\n").bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn values(&mut self, values: &[EnumValue]) {
        for value in values {
            self.add(&(&value.name, value.value, value.alias, value.expansion));
        }
    }

    fn ty(&mut self, spec: &Spec, ty: &Type, entry: &mut Entry) {
        match ty {
            Type::Enum(id) => match spec.enums.get(id.0) {
                Some(list) if is_inline(spec, list) => {
                    entry.values += list.values.len();
                    self.values(&list.values);
                }
                Some(list) => self.add(&list.name),
                None => {}
            },
            Type::Struct(id) => self.add(&spec.containers.get(id.0).map(|inner| &inner.name)),
            other => self.add(other),
        }
    }

    fn members(&mut self, spec: &Spec, fields: &[Field], groups: &[Group], entry: &mut Entry) {
        entry.fields += fields.len();
        for field in fields {
            self.add(&(
                &field.name,
                field.start,
                field.end,
                field.stored,
                field.default,
                field.range,
            ));
            self.add(&(field.opcode, field.required, field.nonzero, &field.variant));
            self.add(&field.exists_if.as_ref().map(expr::display));
            self.ty(spec, &field.ty, entry);
        }
        for group in groups {
            self.add(&(&group.name, group.start, group.bits, group.count));
            self.members(spec, &group.fields, &group.groups, entry);
        }
    }
}
