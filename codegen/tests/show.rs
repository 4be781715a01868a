//! What `genx spec list` and `genx spec show` print.

use std::path::Path;

use genxml_codegen::list::Filter;
use genxml_codegen::model::{Kind, Spec, Stored, Type};
use genxml_codegen::{GEN8, list, load_files, load_texts, show, show_colored};

fn good() -> Spec {
    load_files(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/good/input.xml")]).unwrap()
}

/// `show/NAME.txt` is the whole text that `show` prints for an item of the good case. After a
/// deliberate change, `GENXML_BLESS=1 cargo test -p genxml-codegen show` writes it again: read the
/// difference.
#[test]
fn texts() {
    let (spec, mut wrong) = (good(), Vec::new());
    for name in ["STATE", "3DSTATE_THING", "MODE", "FORMAT"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/show/{name}.txt"));
        let text = show(&spec, name).unwrap();
        if std::env::var_os("GENXML_BLESS").is_some() {
            std::fs::write(&path, text).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
            wrong.push(text);
        }
    }
    assert!(wrong.is_empty(), "{}\nGENXML_BLESS=1 renews the expected text", wrong.join("\n"));
}

/// `show` accepts a name in any case, the Rust type's name, and an offset in a register. Otherwise
/// it suggests names.
#[test]
fn names_are_guessed() {
    let spec = good();
    let head = |name: &str| {
        show(&spec, name).map(|text| text.lines().next().unwrap_or_default().to_owned())
    };
    for (name, found) in [
        ("ThreeDStateThing", "3DSTATE_THING"),
        ("3dstate_thing", "3DSTATE_THING"),
        ("state", "STATE"),
        ("0x209c", "MODE"),
        ("0x209F", "MODE"),
    ] {
        assert_eq!(head(name).as_deref(), Ok(found), "{name}");
    }
    for (name, message) in [
        (
            "3DSTATE_THNIG",
            "the specification has no `3DSTATE_THNIG`; did you mean `3DSTATE_THING`?",
        ),
        ("3dstate", "the specification has no `3dstate`; did you mean `3DSTATE_THING`?"),
        ("thing 3d", "the specification has no `thing 3d`; did you mean `3DSTATE_THING`?"),
        ("0x20a0", "the specification has no `0x20a0`; did you mean `MODE (0x209c)`?"),
        ("bias", "the specification has no `bias`; a field of that name is in `STATE`"),
        ("nothing like it", "the specification has no `nothing like it`"),
    ] {
        assert_eq!(head(name).unwrap_err().to_string(), message);
    }
}

#[test]
fn the_list_has_everything() {
    let listed = list(&good());
    let names: Vec<(&str, &str)> =
        listed.iter().map(|item| (item.kind, item.name.as_str())).collect();
    assert_eq!(
        names,
        [
            ("struct", "HALF"),
            ("struct", "STATE"),
            ("instruction", "3DSTATE_THING"),
            ("instruction", "XY_UNKNOWN"),
            ("register", "MODE"),
            ("enum", "FORMAT")
        ]
    );
    assert_eq!(
        (listed[2].engines.as_slice(), listed[2].variable),
        (["render", "video-enhance"].as_slice(), true)
    );
    assert!(listed[3].partial);
}

/// The model has the values of the XML's attributes.
#[test]
fn the_model_is_as_written() {
    let spec = good();
    let field = |container: &str, name: &str| {
        let container = spec.containers.iter().find(|other| other.name == container).unwrap();
        container.fields.iter().find(|other| other.name == name).unwrap().clone()
    };
    let size = field("STATE", "Size");
    assert_eq!(
        (size.start, size.end, size.stored, size.range),
        (1, 15, Stored::MinusOne, Some((0, 32767)))
    );
    let bias = field("STATE", "Bias");
    assert_eq!((bias.default, bias.range), (Some(0x3f), Some((-32i64 as u64, 31))));
    let level = field("HALF", "Level");
    assert_eq!(
        (level.ty, level.default, level.range),
        (Type::UFixed { int: 4, frac: 8 }, Some(384), Some((1, 3712)))
    );
    assert!(level.nonzero, "zero is out of the range");
    assert_eq!(field("STATE", "Ratio").default, Some(u64::from(1.0f32.to_bits())));
    assert_eq!(field("HALF", "Format").default, Some(1));
    let base = field("STATE", "Base");
    assert_eq!((base.start, base.end), (44, 95));
    assert_eq!(
        base.ty,
        Type::Address { space: "graphics".into(), align: 4096, target: "STATE".into() }
    );
    let thing = spec.containers.iter().find(|container| container.name == "3DSTATE_THING").unwrap();
    assert!(matches!(thing.kind, Kind::Instruction { engines: 9, bias: 2, .. }));
    assert_eq!((thing.bits, thing.groups[0].count, thing.groups[0].bits), (64, 0, 64));
    assert!(
        thing.fields.iter().any(|field| field.length)
            && thing.fields.iter().any(|field| field.opcode)
    );
}

/// Imports: a file's own definitions have precedence, excluded items are omitted, and all others
/// are imported, also through two files.
#[test]
fn imports_merge() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mesa_import");
    let spec = load_files(&[dir.join("input.xml")]).unwrap();
    let names: Vec<&str> =
        spec.containers.iter().map(|container| container.name.as_str()).collect();
    assert_eq!(names, ["CHANGED", "USES", "KEPT"]);
    assert_eq!(spec.containers[0].fields[0].name, "New");
    assert_eq!((spec.name.as_str(), spec.generation.as_str()), ("BDW", "8"));
    let opcodes: Vec<&str> =
        spec.containers[1].fields.iter().filter(|f| f.opcode).map(|f| f.name.as_str()).collect();
    assert_eq!(opcodes, ["Opcode"]);
}

/// Everything in the embedded specification can be shown in 80 columns, with all its fields and
/// values. With colours, the text is the same.
#[test]
fn everything_of_gen8_can_be_shown() {
    let spec = load_texts(GEN8).unwrap();
    let listed = list(&spec);
    assert!(listed.len() > 200);
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    for item in listed {
        let text = show(&spec, &item.name).unwrap();
        assert!(squeeze(&text).starts_with(&squeeze(&item.name)));
        for line in text.lines() {
            let width = line.chars().count();
            assert!(width <= 80 && !line.ends_with(' '), "{}: {width} columns: {line}", item.name);
        }
        let colored = show_colored(&spec, &item.name, true).unwrap();
        assert!(colored.contains("\x1b[1m"), "{}", item.name);
        assert_eq!(uncolored(&colored), text, "{}", item.name);
    }
    for container in &spec.containers {
        let text = squeeze(&show(&spec, &container.name).unwrap());
        for field in &container.fields {
            assert!(text.contains(&squeeze(&field.name)), "{}.{}", container.name, field.name);
        }
        for rule in &container.rules {
            assert!(text.contains(&squeeze(&rule.message)), "{}", rule.id);
        }
    }
}

/// Removes escape sequences.
fn uncolored(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn lists_are_filtered() {
    let listed = list(&good());
    let names = |filter: Filter| -> Vec<String> {
        listed.iter().filter(|item| filter.keeps(item)).map(|item| item.name.clone()).collect()
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(names(Filter::default()).len(), 6);
    assert_eq!(names(Filter { name: text("thing"), ..Filter::default() }), ["3DSTATE_THING"]);
    assert_eq!(names(Filter { name: text("*A*E"), ..Filter::default() }), ["HALF", "STATE"][1..]);
    assert_eq!(names(Filter { name: text("?ODE"), ..Filter::default() }), ["MODE"]);
    assert_eq!(names(Filter { kind: text("struct"), ..Filter::default() }), ["HALF", "STATE"]);
    assert_eq!(
        names(Filter { engine: text("video-enhance"), ..Filter::default() }),
        ["3DSTATE_THING"]
    );
    assert_eq!(names(Filter { unit: text("elsewhere"), ..Filter::default() }), [""; 0]);
    let table = list::table(&listed.iter().collect::<Vec<_>>());
    assert_eq!(table.lines().count(), 8);
    assert!(table.lines().nth(4).unwrap().starts_with("XY_UNKNOWN     instruction  "), "{table}");
    assert!(table.ends_with("2 instructions, 2 structs, 1 registers, 1 enums\n"), "{table}");
}
