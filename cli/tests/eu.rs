//! The contract of `genx eu`.

use crate::common::{finish, genx};
use genxml_testkit::corpus;
use std::fs;
use tempfile::tempdir;

/// Oracle: the page of add (2a): syntax, modifiers and the rows of its type table.
#[test]
fn ops_show_a_page() {
    let (code, out, _) = finish(genx(["eu", "ops", "add"]));
    assert_eq!(code, 0);
    for line in [
        "add (0x40): addition",
        "syntax        [(pred)] add[.cmod][.sat] (exec_size) dst src0 src1",
        "modifiers     predicate, condition, saturate, source",
        "df <- df",
    ] {
        assert!(out.contains(line), "{line} not in {out}");
    }
    let (code, all, _) = finish(genx(["eu", "ops"]));
    assert_eq!(code, 0);
    assert!(all.lines().count() > 60, "{all}");
    let (code, json, _) = finish(genx(["eu", "ops", "math", "--json"]));
    assert_eq!(code, 0);
    let math: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(math["code"], 0x38);
    let functions = math["functions"].as_array().unwrap();
    assert!(functions.iter().any(|function| function["name"] == "pow"), "{json}");
}

#[test]
fn ops_hint_at_slips() {
    let (code, _, err) = finish(genx(["eu", "ops", "mull"]));
    assert_eq!(code, 2);
    assert!(err.contains("did you mean `mul`?"), "{err}");
}

/// A kernel without mistakes in IGA's language.
const KERNEL: &str = "
        mov (8|M0)               r2.0<1>:ud    r0.0<8;8,1>:ud
L16:
        add (8|M0)   (eq)f0.0    r3.0<1>:d     r3.0<8;8,1>:d    -1:d
(f0.0)  while (8|M0)             L16
(W)     mov (8|M0)               r127.0<1>:f   r0.0<8;8,1>:f
(W)     send (8|M0)              null     r127     0x27    0x02000010 {EOT}
";

/// Disassembled and compacted kernels assemble again in both languages, and jumps keep their
/// targets.
#[test]
fn assembly_comes_back() {
    let place = tempdir().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (source, binary) = (file("kernel.asm"), file("kernel.bin"));
    fs::write(&source, KERNEL).unwrap();
    assert_eq!(finish(genx(["asm", &source, "-o", &binary])), (0, String::new(), String::new()));
    let kernel = fs::read(&binary).unwrap();
    assert_eq!(kernel.len(), 80);
    for syntax in ["iga", "mesa"] {
        let (code, text, err) = finish(genx(["disasm", &binary, "--syntax", syntax]));
        assert_eq!(code, 0, "{err}");
        let again = file("again.asm");
        fs::write(&again, text).unwrap();
        let (code, _, err) = finish(genx(["asm", &again, "-o", &file("again.bin")]));
        assert_eq!(code, 0, "{err}");
        assert!(fs::read(file("again.bin")).unwrap() == kernel, "{syntax}");
    }
    let (code, hex, _) = finish(genx(["asm", &source]));
    assert_eq!(code, 0);
    fs::write(file("kernel.hex"), &hex).unwrap();
    let (code, json, _) = finish(genx(["disasm", &file("kernel.hex"), "--json", "--until-eot"]));
    assert_eq!(code, 0);
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[2]["targets"][0], 16);
    assert_eq!(lines[4]["ends_thread"], true);

    let small = file("small.bin");
    let (code, _, err) = finish(genx(["eu", "compact", &binary, "-o", &small]));
    assert_eq!(code, 0, "{err}");
    assert!(fs::read(&small).unwrap().len() < kernel.len());
    let (code, _, err) =
        finish(genx(["eu", "compact", &small, "--expand", "-o", &file("full.bin")]));
    assert_eq!(code, 0, "{err}");
    let (_, full, _) = finish(genx(["disasm", &file("full.bin")]));
    let (_, first, _) = finish(genx(["disasm", &binary]));
    assert_eq!(full, first);
}

/// Errors name the line, the word and a correction. Dwords that are not an instruction do not hide
/// the next instruction.
#[test]
fn mistakes_are_shown() {
    let place = tempdir().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::write(file("bad.asm"), "    ad (8|M0) r4.0<1>:d r4.0<8;8,1>:d -1:d\n").unwrap();
    let (code, out, err) = finish(genx(["asm", &file("bad.asm")]));
    assert_eq!((code, out.as_str()), (2, ""));
    for part in ["bad.asm:1:5", "ad (8|M0)", "did you mean `add`?"] {
        assert!(err.contains(part), "{part} not in {err}");
    }
    fs::write(file("odd.hex"), "01 00 6z\n").unwrap();
    let (code, _, err) = finish(genx(["disasm", &file("odd.hex")]));
    assert_eq!(code, 2);
    assert!(err.contains("odd.hex:1: `6z`"), "{err}");
    // A predicate control that the manual reserves, and a nop.
    let gap = "01 00 6f 00 08 06 80 20 00 00 00 00 07 00 00 00\n7e 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n";
    fs::write(file("gap.hex"), gap).unwrap();
    let (code, out, _) = finish(genx(["disasm", &file("gap.hex")]));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("PredCtrl") && out.contains("nop"), "{out}");
    let (code, _, err) = finish(genx(["disasm", &file("gap.hex"), "--offset", "0x100"]));
    assert_eq!(code, 2);
    assert!(err.contains("0x100"), "{err}");
}

#[test]
fn validation_names_rules() {
    let place = tempdir().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::write(file("good.asm"), KERNEL).unwrap();
    let (code, out, err) = finish(genx(["eu", "validate", &file("good.asm"), "--quiet"]));
    assert_eq!(code, 0, "{out}{err}");
    // Overlapping rows of eight elements.
    fs::write(file("bad.asm"), KERNEL.replace("r0.0<8;8,1>:ud", "r0.0<4;8,1>:ud")).unwrap();
    let (code, out, _) = finish(genx(["eu", "validate", &file("bad.asm")]));
    assert_eq!(code, 1);
    assert!(out.contains("error EU-REGION-VSTRIDE"), "{out}");
    let (_, json, _) = finish(genx(["eu", "validate", &file("bad.asm"), "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["findings"][0]["offset"], 0);
    let (code, out, _) = finish(genx(["eu", "validate", "--explain", "EU-REGION-VSTRIDE"]));
    assert_eq!(code, 0);
    assert!(out.contains("source:"), "{out}");
    assert_eq!(finish(genx(["eu", "validate", "--explain", "EU-REGION-VSTRID"])).0, 2);
    assert!(finish(genx(["eu", "validate", "--list"])).1.lines().count() > 50);
}

/// Oracle: bytes made by Mesa's assembler.
#[test]
fn bytes_equal_mesas() {
    let Some(corpus) = corpus::folder() else { return };
    let mut files = 0;
    for entry in fs::read_dir(corpus.join("eu/asm/gen8")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "asm") {
            continue;
        }
        files += 1;
        let (code, out, err) = finish(genx(["asm", path.to_str().unwrap(), "--hex"]));
        assert_eq!(code, 0, "{err}");
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap();
        let lines = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        assert_eq!(lines(&out), lines(&expected), "{}", path.display());
    }
    assert!(files > 10, "{files}");
}
