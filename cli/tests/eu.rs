//! The contract of `genx eu`.

use crate::common::{finish, genx};
use genxml_testkit::corpus;
use std::fs;
use std::process::Command;
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

/// `--gen` chooses the generation of the instructions. Oracle: a line of Mesa's assembler test
/// sends of Gen9, and the names of operation 14 of Gen11 and 88 of Gen12
/// in Mesa's table.
#[test]
fn kernels_of_later_generations() {
    let place = tempdir().unwrap();
    let file = place.path().join("sends.hex");
    fs::write(&file, "33 00 60 0c 10 40 02 00 44 04 00 00 01 50 03 04").unwrap();
    let file = file.to_str().unwrap();
    let (code, text, err) = finish(genx(["disasm", file, "--gen", "9", "--syntax", "mesa"]));
    assert_eq!(code, 0, "{err}");
    let words: Vec<_> = text.split_whitespace().collect();
    assert_eq!(words[..6], ["sends(8)", "nullUD", "g34UD", "g36UD", "0x04035001", "0x00000100"]);
    assert!(text.contains(" mlen 2 ex_mlen 4 rlen 0 "), "{text}");
    let (code, json, _) = finish(genx(["disasm", file, "--gen", "skylake", "--json"]));
    assert!(code == 0 && json.contains("\"opcode\":\"sends\""), "{json}");
    let (_, text, _) = finish(genx(["disasm", file]));
    assert!(text.contains("operation 0x33 does not exist"), "{text}");
    fs::write(file, "0e 00 60 00 08 02 40 21 80 02 8d 06 03 00 00 00").unwrap();
    for gpu in ["11", "icelake"] {
        let (code, text, err) = finish(genx(["disasm", file, "--gen", gpu, "--syntax", "mesa"]));
        assert!(code == 0 && text.starts_with("ror(8) "), "{text}{err}");
    }
    fs::write(file, "58 00 03 00 68 0e 04 0a 05 14 0a 0e 05 1e 05 28").unwrap();
    for gpu in ["12", "tigerlake"] {
        let (code, text, err) = finish(genx(["disasm", file, "--gen", gpu, "--syntax", "mesa"]));
        assert!(code == 0 && text.starts_with("dp4a(8) "), "{text}{err}");
    }
    let (code, _, err) = finish(genx(["disasm", file, "--gen", "12.5"]));
    assert!(code == 2 && err.contains("Gen8, Gen9, Gen11 and Gen12"), "{err}");
    // Before Gen8, the default is Mesa's language.
    fs::write(file, "41 20 80 00 be 77 00 30 40 00 8d 00 80 00 8d 00").unwrap();
    for gpu in ["4", "g45", "4.5", "5"] {
        let (code, text, err) = finish(genx(["disasm", file, "--gen", gpu]));
        let words: Vec<_> = text.split_whitespace().collect();
        let wanted = "mul(16) m0<1>F g2<8,8,1>F g4<8,8,1>F { align1 compr4 };";
        assert!(code == 0 && words.join(" ") == wanted, "{text}{err}");
    }
}

/// Kernels of G45 assemble, with Mesa's language as the default.
#[test]
fn assembles_for_g45() {
    let place = tempdir().unwrap();
    let source = place.path().join("kernel.asm");
    fs::write(&source, "mul(16) m0<1>F g2<8,8,1>F g4<8,8,1>F { align1 compr4 };\n").unwrap();
    let file = source.to_str().unwrap();
    let (code, text, err) = finish(genx(["asm", file, "--gen", "g45"]));
    assert_eq!(
        (code, text.trim()),
        (0, "41 20 80 00 be 77 00 30 40 00 8d 00 80 00 8d 00"),
        "{err}"
    );
    let (code, _, err) = finish(genx(["asm", file]));
    assert!(code == 2 && err.contains("message registers"), "{err}");
    let (code, _, err) = finish(genx(["asm", file, "--gen", "12"]));
    assert!(code == 2 && err.contains("only those of Gen4, Gen4.5, Gen5 and Gen8"), "{err}");
    let (code, _, err) = finish(genx(["asm", file, "--gen", "g45", "--syntax", "iga"]));
    assert!(code == 2 && err.contains("no language"), "{err}");
}

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
    // The first instruction has a predicate control that the manual reserves. The second is a nop.
    let gap = "01 00 6f 00 08 06 80 20 00 00 00 00 07 00 00 00\n7e 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n";
    fs::write(file("gap.hex"), gap).unwrap();
    let (code, out, _) = finish(genx(["disasm", &file("gap.hex")]));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("PredCtrl") && out.contains("nop"), "{out}");
    let (code, _, err) = finish(genx(["disasm", &file("gap.hex"), "--offset", "0x100"]));
    assert_eq!(code, 2);
    assert!(err.contains("0x100"), "{err}");
}

/// Bytes at the end that are not a whole instruction are reported, not dropped.
#[test]
fn disasm_drops_no_bytes() {
    let place = tempdir().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    // Two `nop`, 16 bytes each (2b p.16: 0x7e).
    let mut bytes = vec![0; 32];
    (bytes[0], bytes[16]) = (0x7e, 0x7e);
    fs::write(file("two.bin"), &bytes).unwrap();
    for length in ["3", "0xc", "31"] {
        let (code, out, err) = finish(genx(["disasm", &file("two.bin"), "--length", length]));
        assert_eq!((code, out.as_str()), (2, ""), "{length}");
        assert!(err.contains("--length") && err.contains("multiple of 8"), "{err}");
    }
    let (code, out, err) = finish(genx(["disasm", &file("two.bin"), "--length", "16"]));
    assert_eq!((code, out.matches("nop").count()), (0, 1), "{err}");
    for rest in 1..=3 {
        bytes.truncate(32);
        bytes.extend(&[0xab, 0xcd, 0xef][..rest]);
        let hex = &"abcdef"[..2 * rest];
        fs::write(file("rest.bin"), &bytes).unwrap();
        for syntax in ["iga", "mesa"] {
            let (code, out, _) = finish(genx(["disasm", &file("rest.bin"), "--syntax", syntax]));
            assert_eq!((code, out.matches("nop").count()), (1, 2), "{out}");
            assert!(out.contains(&format!("// {hex} at byte 0x20: the end")), "{out}");
        }
        let (code, out, _) = finish(genx(["disasm", &file("rest.bin"), "--json"]));
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!((code, &last["offset"], &last["bytes"]), (1, &32.into(), &hex.into()), "{out}");
        // The selected 16 bytes end before the incomplete dword, so it is not reported.
        let args = ["disasm", &file("rest.bin"), "--offset", "0x10", "--length", "16"];
        assert_eq!(finish(genx(args)).0, 0);
    }
}

/// A file is read piece by piece. The text is the same as that of standard input, which is in
/// memory: all positions, labels and bytes are right where pieces meet, too.
#[test]
fn a_file_of_several_pieces_has_the_same_text() {
    let place = tempdir().unwrap();
    fs::write(place.path().join("loop.asm"), KERNEL).unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (code, _, err) =
        finish(genx(["asm", &path("loop.asm"), "-o", &path("one.bin"), "--compact"]));
    assert_eq!(code, 0, "{err}");
    let one = fs::read(path("one.bin")).unwrap();
    // A piece has 1 MiB. The kernel's length does not divide it.
    let many = one.repeat((5 << 18) / one.len());
    assert!(many.len() > 1 << 20 && !(1usize << 20).is_multiple_of(one.len()));
    fs::write(path("many.bin"), &many).unwrap();
    for more in ["--syntax=iga", "--syntax=mesa", "--json"] {
        let of_file = finish(genx(["disasm", &path("many.bin"), more]));
        let piped = Command::new(env!("CARGO_BIN_EXE_genx"))
            .args(["disasm", "-", more])
            .stdin(fs::File::open(path("many.bin")).unwrap())
            .output()
            .unwrap();
        assert!(of_file == finish(piped), "{more}");
        assert!(of_file.1.len() > many.len(), "{more}");
    }
}

/// Memory does not grow with the file. `ulimit -v` limits the address space of the process to less
/// than the file, which is 2 GiB of zeros on disk.
#[cfg(target_os = "linux")]
#[test]
fn a_large_file_is_not_loaded() {
    let place = tempdir().unwrap();
    let path = place.path().join("large.bin");
    fs::File::create(&path).unwrap().set_len(2 << 30).unwrap();
    let command = "ulimit -v 1048576 && exec \"$@\"";
    let args = ["--offset", "0x70000000", "--length", "0x20"];
    let output = Command::new("sh")
        .args(["-c", command, "sh", env!("CARGO_BIN_EXE_genx"), "disasm"])
        .arg(&path)
        .args(args)
        .output()
        .unwrap();
    let (code, out, err) = finish(output);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out.matches("illegal").count(), 2, "{out}");
}

#[test]
fn validation_names_rules() {
    let place = tempdir().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::write(file("good.asm"), KERNEL).unwrap();
    let (code, out, err) = finish(genx(["eu", "validate", &file("good.asm"), "--quiet"]));
    assert_eq!(code, 0, "{out}{err}");
    // A source region whose rows of eight elements overlap.
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
