//! Specifications in Mesa's schema can be loaded, in the spelling of 2021 and in the newer
//! spelling. Our specification can be read as Mesa's tools would read it.
//!
//! `foreign/old` and `foreign/new` are the same specification in both spellings. They use every
//! element and attribute of the schema.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use genxml_codegen::load::{self, Dialect};
use genxml_codegen::model::{Field, Group, Kind, Spec, Type};
use genxml_codegen::{GEN8, emit, load_files, load_texts};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name)
}

fn load(name: &str) -> Spec {
    load_files(&[file(name)]).unwrap_or_else(|report| panic!("{report}"))
}

/// Fields by kind and name of their container. Each has its enclosing groups, first and last bit,
/// name, and named values.
type Places = BTreeMap<String, Vec<Place>>;

type Place = (String, u32, u32, String, Vec<(String, u64)>);

/// The positions of all fields that satisfy `keep`.
fn places(spec: &Spec, keep: impl Fn(&Field) -> bool) -> Places {
    fn add(
        spec: &Spec,
        fields: &[Field],
        groups: &[Group],
        around: &str,
        keep: &dyn Fn(&Field) -> bool,
        to: &mut Vec<Place>,
    ) {
        for field in fields.iter().filter(|field| keep(field)) {
            let mut values = Vec::new();
            if let Type::Enum(id) = field.ty {
                let named =
                    spec.enums[id.0].values.iter().map(|value| (value.name.clone(), value.value));
                values.extend(named);
            }
            to.push((around.to_owned(), field.start, field.end, field.name.clone(), values));
        }
        for group in groups {
            let around = format!("{around}{}+{}x{}/", group.start, group.bits, group.count);
            add(spec, &group.fields, &group.groups, &around, keep, to);
        }
    }
    let containers = spec.containers.iter().map(|container| {
        let kind = match container.kind {
            Kind::Struct { .. } => "struct",
            Kind::Instruction { .. } => "instruction",
            Kind::Register { .. } => "register",
        };
        let mut found = Vec::new();
        add(spec, &container.fields, &container.groups, "", &keep, &mut found);
        found.sort();
        (format!("{kind} {}", container.name), found)
    });
    containers.collect()
}

#[test]
fn both_spellings_say_the_same() {
    let (old, new) = (load("old/gen8.xml"), load("new/gen80.xml"));
    assert_eq!(
        (old.name.as_str(), old.generation.as_str()),
        (new.name.as_str(), new.generation.as_str())
    );
    // Only the newer schema has bits that must be zero, and values that are second names.
    let keep = |field: &Field| field.ty != Type::MustBeZero && field.name != "Fruit";
    let expected = places(&old, keep);
    assert_eq!(expected, places(&new, keep));
    assert_eq!(expected.len(), 6);
    let place = |container: &str, name: &str| {
        let found = expected[container].iter().find(|place| place.3 == name);
        found.map(|(around, start, end, ..)| (around.as_str(), *start, *end))
    };
    assert_eq!(place("struct SHELF", "Front"), Some(("", 0, 31)));
    assert_eq!(place("struct SHELF", "Address"), Some(("", 38, 95)));
    assert_eq!(place("instruction TOY_STACK", "Nibble"), Some(("64+32x2/16+8x2/", 0, 3)));
    assert_eq!(place("instruction TOY_LIST", "Register Offset"), Some(("32+64x0/", 2, 22)));
    let find = |spec: &Spec, name: &str| {
        let found = spec.containers.iter().find(|container| container.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    for spec in [&old, &new] {
        for (name, bits, mask, opcode, engines) in [
            ("TOY_NOOP", 32, 0xff80_0000, 0, 15),
            ("TOY_STACK", 192, 0xffff_0000, 0x7805_0000, 1),
            ("TOY_LIST", 32, 0xffff_0000, 0x7806_0000, 3),
        ] {
            let container = find(spec, name);
            assert_eq!(
                (container.bits, emit::opcode(&container)),
                (bits, (mask, opcode)),
                "{name}"
            );
            assert!(
                matches!(container.kind, Kind::Instruction { engines: set, .. } if set == engines),
                "{name}"
            );
        }
    }
}

/// Rust code can be generated from both spellings. The tests crate tests that such code compiles
/// and works.
#[test]
fn code_is_generated() {
    for name in ["old/gen8.xml", "new/gen80.xml"] {
        let text: String =
            emit::rust(&load(name), &|_| true).into_iter().map(|(_, text)| text).collect();
        for item in ["pub struct ToyStack {", "pub struct ToyMode {", "FAST", "PEAR"] {
            assert!(text.contains(item), "{name}: no {item}");
        }
    }
}

/// Our specification is valid by Mesa's rules, and Mesa's rules accept what our rules refuse.
#[test]
fn the_rules_can_be_chosen() {
    let ours = load::read_texts_as(GEN8, Dialect::Mesa);
    assert!(ours.spec.files.iter().all(|file| file.foreign));
    let errors: Vec<_> = ours.diagnostics.iter().map(|problem| &problem.message).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let gaps = r#"<genxml name="T" gen="8"><struct name="S" length="1" source="2d p.1">
        <field name="A" dword="0" bits="7:0" type="uint"/><field name="B" dword="0" bits="9:4" type="uint"/>
      </struct></genxml>"#;
    assert_eq!(load::read_texts(&[("a.xml", gaps)]).report().errors(), 2);
    assert_eq!(load::read_texts_as(&[("a.xml", gaps)], Dialect::Mesa).report().errors(), 0);
    // Names must resolve by both rules.
    let name = gaps.replace("uint", "unit");
    assert_eq!(load::read_texts_as(&[("a.xml", &name)], Dialect::Mesa).report().errors(), 2);
}

/// Elements and attributes that Mesa's tools accept (intel_genxml.py, GENXML_DESC).
const KNOWN: &[(&str, &[&str])] = &[
    ("genxml", &["name", "gen"]),
    ("import", &["name"]),
    ("exclude", &["name"]),
    ("enum", &["name", "value", "prefix"]),
    ("struct", &["name", "length"]),
    ("field", &["name", "dword", "bits", "start", "end", "type", "default", "prefix", "nonzero"]),
    ("instruction", &["name", "bias", "length", "engine"]),
    ("value", &["name", "value", "dont_use"]),
    ("group", &["count", "dword", "offset_bits", "start", "size"]),
    ("register", &["name", "length", "num"]),
];

/// The text without the parts that a reader of plain genxml does not accept: unknown elements and
/// attributes, and fields of type `reserved`.
fn plain(text: &str) -> String {
    let mut reader = Reader::from_str(text);
    let (mut out, mut skip, mut depth) = (String::new(), None, 0);
    let open = |tag: &BytesStart<'_>| -> Option<String> {
        let (name, attributes) =
            KNOWN.iter().find(|(element, _)| *element == tag.name().as_ref())?;
        let mut text = format!("<{name}");
        for attribute in tag.attributes() {
            let attribute = attribute.expect("well-formed");
            let key: &str = attribute.key.as_ref();
            if (*name, key, &*attribute.value) == ("field", "type", "reserved") {
                return None;
            }
            if attributes.contains(&key) {
                text += &format!(" {key}=\"{}\"", attribute.value);
            }
        }
        Some(text)
    };
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(tag) => {
                match (skip, open(&tag)) {
                    (None, Some(text)) => out += &format!("{text}>\n"),
                    (None, None) => skip = Some(depth),
                    _ => {}
                }
                depth += 1;
            }
            Event::Empty(tag) => {
                if let (None, Some(text)) = (skip, open(&tag)) {
                    out += &format!("{text}/>\n");
                }
            }
            Event::End(tag) => {
                depth -= 1;
                match skip {
                    Some(at) if at == depth => skip = None,
                    Some(_) => {}
                    None => out += &format!("</{}>\n", tag.name().as_ref()),
                }
            }
            Event::Eof => return out,
            _ => {}
        }
    }
}

/// A reader that ignores all our extensions finds every field at the same position.
#[test]
fn a_plain_reader_finds_the_same_places() {
    let ours = load_texts(GEN8).unwrap_or_else(|report| panic!("{report}"));
    let texts: Vec<(&str, String)> = GEN8
        .iter()
        .filter(|(path, _)| path.ends_with(".xml"))
        .map(|(path, text)| (*path, plain(text)))
        .collect();
    let texts: Vec<(&str, &str)> =
        texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert!(texts.iter().all(|(_, text)| !text.contains("source=") && !text.contains("<rule")));
    let read = load::read_texts(&texts);
    assert_eq!(read.report().errors(), 0, "{}", read.report());
    assert!(read.spec.files.iter().all(|file| file.foreign));
    let (ours, theirs) =
        (places(&ours, |field| field.ty != Type::Reserved), places(&read.spec, |_| true));
    assert!(ours.keys().eq(theirs.keys()));
    for (name, fields) in &ours {
        assert_eq!(fields, &theirs[name], "{name}");
    }
}

/// Spellings of Mesa's files that our rules refuse: bits without a name, stored values as defaults
/// of fixed-point fields, an empty generation.
#[test]
fn spellings_that_only_mesa_has() {
    let text = r#"<genxml name="RT" gen="">
      <struct name="S" length="1">
        <field start="3" end="3" type="mbo"/>
        <field name="Coefficient" start="4" end="8" type="u0.5" default="5"/>
        <field name="Half" start="9" end="13" type="u0.5" default="0.5"/>
      </struct></genxml>"#;
    let spec = load_texts(&[("rt.xml", text)]).unwrap_or_else(|report| panic!("{report}"));
    let fields = &spec.containers[0].fields;
    assert_eq!((fields[0].name.as_str(), &fields[0].ty), ("Reserved", &Type::MustBeOne));
    assert_eq!((fields[1].default, fields[2].default), (Some(5), Some(16)));
    let ours = text.replace("<struct", "<struct source=\"p.1\"");
    let report = load::read_texts(&[("rt.xml", &ours)]).report().to_string();
    for part in ["E-MISSING", "E-DEFAULT"] {
        assert!(report.contains(part), "{part} is missing in {report}");
    }
}
