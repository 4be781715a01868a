//! The generated text for small inputs: `emit/NAME/input.xml` gives `emit/NAME/expected.rs`. After
//! a deliberate change, run `GENXML_BLESS=1 cargo test -p genxml-codegen emit` and read the
//! difference. The tests crate tests that such text compiles and packs correctly (`toy/toy.xml`).

use std::path::Path;

#[test]
fn snapshots() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emit");
    let bless = std::env::var_os("GENXML_BLESS").is_some();
    let mut cases: Vec<_> =
        std::fs::read_dir(&root).expect("cases").flatten().map(|entry| entry.path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    let mut wrong = Vec::new();
    for case in cases {
        let input = std::fs::read_to_string(case.join("input.xml")).expect("input.xml");
        let spec = match genxml_codegen::load_texts(&[("input.xml", &input)]) {
            Ok(spec) => spec,
            Err(report) => panic!("{}: {report}", case.display()),
        };
        let mut text = String::new();
        for (name, file) in genxml_codegen::emit::rust(&spec, &|_| true) {
            text.push_str(&format!("// ===== {name}\n{file}\n"));
        }
        let expected = case.join("expected.rs");
        if bless {
            std::fs::write(&expected, &text).expect("writable");
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != text {
            let old = std::fs::read_to_string(&expected).unwrap_or_default();
            let line = old.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0);
            wrong.push(format!(
                "{} line {}:\n  expected {}\n  found    {}",
                expected.display(),
                line + 1,
                old.lines().nth(line).unwrap_or_default(),
                text.lines().nth(line).unwrap_or_default()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\nGENXML_BLESS=1 renews the expected text", wrong.join("\n"));
}

/// Every item of a unit gets a distinct Rust name.
#[test]
fn names_stay_apart() {
    let input = r#"<genxml name="T" gen="8">
        <enum name="MI_THING"><value name="A" value="0"/></enum>
        <struct name="Mi Thing" length="1">
          <field name="A B" dword="0" bits="15:0" type="uint"/><field name="A-B" dword="0" bits="31:16" type="uint"/>
        </struct>
        <struct name="Address" length="1"><field name="Self" dword="0" bits="31:0" type="uint"/></struct>
      </genxml>"#;
    let spec = genxml_codegen::load_texts(&[("unit.xml", input)])
        .unwrap_or_else(|report| panic!("{report}"));
    let files = genxml_codegen::emit::rust(&spec, &|_| true);
    let text = &files.iter().find(|(name, _)| name == "unit.rs").expect("the unit's file").1;
    for item in [
        "pub struct MiThing {",
        "pub struct MiThing2(u8)",
        "pub struct Address2 {",
        "pub a_b_2: U<16>",
        "pub self_: U<32>",
    ] {
        assert!(text.contains(item), "{item} is missing in\n{text}");
    }
}

/// If a unit's feature is off, the unit has only its tables, unless a unit with types uses one of
/// its types.
#[test]
fn features() {
    let texts = [
        (
            "base.xml",
            r#"<genxml name="T" gen="8"><struct name="Base" length="1">
              <field name="Part" dword="0" bits="31:0" type="Part"/></struct></genxml>"#,
        ),
        (
            "held.xml",
            r#"<genxml name="T" gen="8" feature="held"><struct name="Part" length="1">
              <field name="A" dword="0" bits="31:0" type="uint"/></struct></genxml>"#,
        ),
        (
            "other.xml",
            r#"<genxml name="T" gen="8" feature="other"><instruction name="Other" bias="1" engine="render">
              <field name="Opcode" dword="0" bits="31:0" type="uint" default="1"/></instruction></genxml>"#,
        ),
    ];
    let spec = genxml_codegen::load_texts(&texts).unwrap_or_else(|report| panic!("{report}"));
    let names = |enabled: &dyn Fn(&str) -> bool| -> Vec<String> {
        genxml_codegen::emit::rust(&spec, enabled).into_iter().map(|(name, _)| name).collect()
    };
    let tables = ["base_tables.rs", "held_tables.rs", "other_tables.rs"];
    for (enabled, types) in
        [(false, vec!["base.rs", "held.rs"]), (true, vec!["base.rs", "held.rs", "other.rs"])]
    {
        let names = names(&|feature| enabled && feature == "other");
        for name in tables.iter().chain(&types) {
            assert!(names.iter().any(|other| other == name), "{name} is missing in {names:?}");
        }
        assert_eq!(
            names.len(),
            tables.len() + types.len() + 3,
            "{names:?} and nothing more than mod, packets and rule_tables"
        );
    }
    let files = genxml_codegen::emit::rust(&spec, &|_| false);
    let packets = &files.iter().find(|(name, _)| name == "packets.rs").expect("packets").1;
    assert!(
        packets.contains("RenderPacket::Partial(Lazy::new(&[]))")
            && !packets.contains("super::other::"),
        "{packets}"
    );
}
