//! The contract of `genx spec` on files, and of `--spec`.

use crate::common::{finish, genx};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::tempdir;

/// A folder of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The path of a file of the toy specification, which exists in both versions of Mesa's schema.
fn foreign(name: &str) -> String {
    text(&repository("codegen/tests/foreign").join(name)).to_owned()
}

/// Oracle: CS_URB_STATE, which G45 has and Broadwell has not, and SURFACE_STATE of six dwords
/// (G45 vol 4, 5.9.2).
#[test]
fn specification_of_g45() {
    for gpu in ["g45", "4.5"] {
        let (code, out, err) = finish(genx(["spec", "show", "surface_state", "--gen", gpu]));
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with("SURFACE_STATE\nstruct · 6 dwords"), "{out}");
        assert_eq!(finish(genx(["spec", "show", "CS_URB_STATE", "--gen", gpu])).0, 0);
    }
    assert_eq!(finish(genx(["spec", "show", "CS_URB_STATE"])).0, 2);
    let (code, _, err) = finish(genx(["spec", "list", "--gen", "9"]));
    assert!(code == 2 && err.contains("use --spec"), "{err}");
}

/// Oracle: packets that were encoded by hand from the XML.
#[test]
fn dumps_are_decoded_with_tables_of_mesas_schema() {
    let place = tempdir().unwrap();
    let dump = place.path().join("toy.bin");
    let dwords: [u32; 13] = [
        0,           // TOY_NOOP
        0x7805_0004, // TOY_STACK
        0x0000_0107, // enabled, fast
        0x0201_0005, // level 5, nibbles 1 and 2
        0x0403_0006,
        0x4000_0040,
        0x0000_0001,
        0x7806_0003, // TOY_LIST of two
        0x0000_2358,
        7,
        0x0000_235c,
        8,
        0x7fff_0000, // not a packet of the toy specification
    ];
    fs::write(&dump, dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect::<Vec<_>>())
        .unwrap();
    for spec in [foreign("old/gen8.xml"), foreign("new/gen80.xml")] {
        let (code, out, err) =
            finish(genx(["decode", text(&dump), "--raw", "--engine", "render", "--spec", &spec]));
        assert_eq!(code, 0, "{err}");
        for word in [
            "TOY_NOOP",
            "TOY_STACK",
            "Enable",
            "FAST",
            "Level",
            "Nibble",
            "0x140000040",
            "TOY_LIST",
            "0x2358",
            "0x235c",
        ] {
            assert!(out.contains(word), "{word} not in {out}");
        }
        assert!(err.contains("1 of 4 packets are unknown"), "{err}");
    }
    // The built-in tables do not have these packets.
    let (_, out, _) = finish(genx(["decode", text(&dump), "--raw", "--engine", "render"]));
    assert!(!out.contains("TOY"), "{out}");
    let (code, _, err) = finish(genx([
        "decode",
        text(&dump),
        "--raw",
        "--engine",
        "render",
        "--spec",
        "/nowhere.xml",
    ]));
    assert_eq!(code, 2, "{err}");
}

#[test]
fn foreign_files_are_checked_one_by_one() {
    let (old, new) = (foreign("old/gen8.xml"), foreign("new/gen80.xml"));
    let (code, out, err) = finish(genx(["spec", "check", "--foreign", &old, &new]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("6 containers") && out.lines().count() == 2, "{out}");
    // A file without `source` attributes is read by Mesa's rules, without an option. Two files that
    // are checked together must not define the same names.
    let (code, out, _) = finish(genx(["spec", "check", &new]));
    assert_eq!(code, 0, "{out}");
    let (code, _, err) = finish(genx(["spec", "check", &old, &new]));
    assert_eq!(code, 1);
    assert!(err.contains("E-DUPLICATE"), "{err}");
    for command in
        [vec!["spec", "show", "TOY_STACK", "--spec", &new], vec!["spec", "list", "--spec", &old]]
    {
        let (code, out, err) = finish(genx(command));
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("TOY_STACK"), "{out}");
    }
}

/// A folder needs no index. If it has one, removed and moved items are found.
#[test]
fn the_index_is_compared_and_renewed() {
    let place = tempdir().unwrap();
    let (folder, file) = (place.path().join("mine"), place.path().join("mine/a.xml"));
    fs::create_dir(&folder).unwrap();
    let before = r#"<genxml name="T" gen="8">
  <struct name="S" length="1" partial="header" source="x">
    <field name="A" dword="0" bits="7:0" type="uint"/>
  </struct>
  <struct name="R" length="1" source="x">
    <field name="A" dword="0" bits="31:0" type="uint"/>
  </struct>
</genxml>"#;
    fs::write(&file, before).unwrap();
    let check = |path: &Path| finish(genx(["spec", "check", text(path)]));
    assert_eq!(check(&folder).0, 0);
    let (code, out, err) = finish(genx(["spec", "check", "--bless", text(&folder)]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("index.tsv: 2 containers and enumerations"), "{out}");
    // For a folder that has only subfolders, each subfolder is checked.
    assert_eq!((check(&folder).0, check(place.path()).0), (0, 0));
    for (after, what) in [
        (before.replace("7:0", "8:1"), "differs from the index in a name, position"),
        (before.replace("\"R\"", "\"Q\""), "the struct `R` of the index is in none of the files"),
        (
            before.replace("length=\"1\" partial", "length=\"2\" partial"),
            "number of bits: 64, not 32",
        ),
    ] {
        fs::write(&file, &after).unwrap();
        for path in [&folder, place.path()] {
            let (code, _, err) = check(path);
            assert_eq!(code, 1, "{what}");
            assert!(err.contains("E-INDEX") && err.contains(what), "{what} not in {err}");
        }
        // The file alone has no index, and other commands do not ask for it.
        assert_eq!(check(&file).0, 0);
        assert_eq!(finish(genx(["spec", "list", "--spec", text(&folder)])).0, 0);
    }
    // A specification with errors is not blessed.
    fs::write(&file, before.replace("31:0", "30:0")).unwrap();
    let (code, _, err) = finish(genx(["spec", "check", "--bless", text(&folder)]));
    assert_eq!(code, 1);
    assert!(err.contains("E-GAP") && !err.contains("E-INDEX"), "{err}");
}

#[test]
fn lists_say_what_a_script_needs() {
    let (code, out, err) =
        finish(genx(["spec", "list", "xy_color_*", "--engine", "blitter", "--json"]));
    assert_eq!(code, 0, "{err}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
    assert!(!listed.is_empty());
    let fill = listed.iter().find(|item| item["name"] == "XY_COLOR_BLT").expect("it is listed");
    assert_eq!(
        (&fill["kind"], &fill["class"], &fill["dwords"]),
        (&"instruction".into(), &"blitter".into(), &7.into())
    );
    assert_eq!(fill["engine"], serde_json::json!(["blitter"]));
    assert!(
        fill["fields"].as_u64() > Some(10)
            && fill["source"].as_str().is_some_and(|text| !text.is_empty())
    );
    let (code, out, err) =
        finish(genx(["spec", "list", "--kind", "register", "--unit", "registers"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("name ") && out.ends_with(" registers, 0 enums\n"), "{out}");
    assert_eq!(finish(genx(["spec", "list", "--kind", "thing"])).0, 2);
    // Without a terminal, the picture is plain text.
    let (code, out, err) = finish(genx(["spec", "show", "xy_color_blt"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("XY_COLOR_BLT\n") && !out.contains('\x1b'), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn assumptions_have_question_choice_and_reason() {
    let (code, out, err) = finish(genx(["spec", "assumptions", "--json"]));
    assert_eq!(code, 0, "{err}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
    assert!(listed.len() > 100, "{}", listed.len());
    for entry in &listed {
        for key in ["name", "area", "question", "choice", "reason"] {
            assert!(entry[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {entry}");
        }
        assert_eq!(entry["kind"] == "value", entry["value"].is_string(), "{entry}");
    }
    let find = |name: &str| listed.iter().find(|entry| entry["name"] == name).unwrap();
    let clip = find("CLIPPING_MOVES_THE_SOURCE");
    assert_eq!((&clip["area"], &clip["value"]), (&"blitter".into(), &"true".into()));
    assert_eq!(find("TRANSPOSED_COLUMNS_ARE_ADJACENT")["kind"], "documentation");
    // The text has the same entries, and a name selects some of them.
    let (code, out, err) = finish(genx(["spec", "assumptions"]));
    assert_eq!(code, 0, "{err}");
    assert!(listed.iter().all(|entry| out.contains(entry["name"].as_str().unwrap())), "{out}");
    assert_eq!(out.matches("    Reason: ").count(), listed.len());
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let (code, out, _) = finish(genx(["spec", "assumptions", "clipping_moves"]));
    assert_eq!(code, 0);
    assert!(out.starts_with("blitter\n  CLIPPING_MOVES_THE_SOURCE = true\n"), "{out}");
    assert_eq!(finish(genx(["spec", "assumptions", "no_such_name"])).0, 2);
}
