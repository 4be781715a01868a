//! What `genx spec list` and `genx spec show` print.

use std::path::Path;

use genxml_codegen::model::{Kind, Spec, Stored, Type};
use genxml_codegen::{GEN8, list, load_files, load_texts, show};

fn good() -> Spec {
    load_files(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/good/input.xml")]).unwrap()
}

#[test]
fn a_struct() {
    let expected = "\
STATE · struct · 8 dwords · aligned to 64 bytes · input · 2d p.4
State of a thing.

          31            24 23            16 15             8 7              0
         +-------------------------------------------------------------+-+
     dw0 |                          <Extent>                           |K|
         +---------------------------------------+---------------------+-+
     dw1 |                 Base                  |           1           |
         +---------------------------------------+-----------------------+
     dw2 |                             Base                              |
         +---------------------------------------------------+-----------+
     dw3 |                      Offset                       |   Bias    |
         +---------------------------------------------------+-----------+
     dw4 |                             Ratio                             |
         +-------------------------------+-------------------------------+
     dw5 |               -               |             Half              |
         +-------------------------------+-------------------------------+
   dw6-7 |                            Pair[2]                            |
         +---------------------------------------------------------------+
";
    let text = show(&good(), "State").unwrap();
    assert!(text.starts_with(expected), "{text}");
    for line in [
        "  dw0 0      Kind    bool                             default true",
        "  dw1 63:12  Base    graphics address, 4096 bytes     of STATE",
        "  dw3 5:0    Bias    int                              default -1 · -32 to 31 · steps",
        "<Extent> Image, if ![Kind]",
        "  dw0 15:1   Size  uint  1 to 32768 · stored less one",
        "<Extent> Buffer, otherwise",
        "Pair: 32 bits, 2 times, from dw6 bit 0",
        "warning STATE-SIZE: sizes agree (2d p.5)",
        "  unless [Kind] || ([Ratio] & 0xff) % 4 == 0 && [Bias] <= 2 + 3 * 4 - 1",
    ] {
        assert!(text.lines().any(|other| other == line), "no line {line:?} in\n{text}");
    }
}

#[test]
fn an_enumeration() {
    let expected = "\
FORMAT · enum · 2 bits · 4 values · prefix FMT · input · 2d p.2
Formats.

  0x0 R8 · 8 bits
  0x1 RGBA8 UNORM · four channels
  0x1 RGBA8 (alias)
  0x3 PLANAR -> 0b1011

PACKED: R8, RGBA8 UNORM, PLANAR · one plane
";
    assert_eq!(show(&good(), "FORMAT").unwrap(), expected);
}

#[test]
fn names_are_guessed() {
    assert!(show(&good(), "ThreeDStateThing").unwrap().starts_with("3DSTATE_THING · instruction"));
    assert_eq!(
        show(&good(), "3DSTATE_THNIG").unwrap_err().to_string(),
        "the specification has no `3DSTATE_THNIG`; did you mean `3DSTATE_THING`?"
    );
}

#[test]
fn the_list_has_everything() {
    let listed = list(&good());
    let names: Vec<(&str, &str)> = listed.iter().map(|item| (item.kind, item.name.as_str())).collect();
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

/// The values of the model that the XML's attributes stand for.
#[test]
fn the_model_is_as_written() {
    let spec = good();
    let field = |container: &str, name: &str| {
        let container = spec.containers.iter().find(|other| other.name == container).unwrap();
        container.fields.iter().find(|other| other.name == name).unwrap().clone()
    };
    let size = field("STATE", "Size");
    assert_eq!((size.start, size.end, size.stored, size.range), (1, 15, Stored::MinusOne, Some((0, 32767))));
    let bias = field("STATE", "Bias");
    assert_eq!((bias.default, bias.range), (Some(0x3f), Some((-32i64 as u64, 31))));
    let level = field("HALF", "Level");
    assert_eq!(
        (level.ty, level.default, level.range),
        (Type::UFixed { int: 4, frac: 8 }, Some(384), Some((0, 3712)))
    );
    assert_eq!(field("STATE", "Ratio").default, Some(u64::from(1.0f32.to_bits())));
    assert_eq!(field("HALF", "Format").default, Some(1));
    let base = field("STATE", "Base");
    assert_eq!((base.start, base.end), (44, 95));
    assert_eq!(base.ty, Type::Address { space: "graphics".into(), align: 4096, target: "STATE".into() });
    let thing = spec.containers.iter().find(|container| container.name == "3DSTATE_THING").unwrap();
    assert!(matches!(thing.kind, Kind::Instruction { engines: 9, bias: 2 }));
    assert_eq!((thing.bits, thing.groups[0].count, thing.groups[0].bits), (64, 0, 64));
    assert!(thing.fields.iter().any(|field| field.length) && thing.fields.iter().any(|field| field.opcode));
}

/// Imports: what a file defines itself wins, what it excludes is left out, the rest comes through two files.
#[test]
fn imports_merge() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mesa_import");
    let spec = load_files(&[dir.join("input.xml")]).unwrap();
    let names: Vec<&str> = spec.containers.iter().map(|container| container.name.as_str()).collect();
    assert_eq!(names, ["CHANGED", "USES", "KEPT"]);
    assert_eq!(spec.containers[0].fields[0].name, "New");
    assert_eq!((spec.name.as_str(), spec.generation.as_str()), ("BDW", "8"));
    let opcodes: Vec<&str> =
        spec.containers[1].fields.iter().filter(|f| f.opcode).map(|f| f.name.as_str()).collect();
    assert_eq!(opcodes, ["Opcode"]);
}

/// The embedded specification is whole: everything that is listed can be shown.
#[test]
fn everything_of_gen8_can_be_shown() {
    let spec = load_texts(GEN8).unwrap();
    let listed = list(&spec);
    assert!(listed.len() > 200);
    for item in listed {
        assert!(show(&spec, &item.name).unwrap().starts_with(&item.name));
    }
}
