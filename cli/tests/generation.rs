//! The tables for a dump: chosen by the GPU that it is from. Oracle: names that only one of the
//! test's small files has.

use crate::common::{finish, genx};
use genxml_testkit::corpus;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

/// A file in Mesa's form with one command, whose header is `0x00800000`, for a generation.
fn tables(folder: &Path, generation: &str, command: &str) {
    let text = format!(
        r#"<genxml name="X" gen="{generation}">
  <instruction name="{command}" bias="1" length="1" engine="render">
    <field name="MI Command Opcode" start="23" end="28" type="uint" default="1"/>
    <field name="Command Type" start="29" end="31" type="uint" default="0"/>
  </instruction>
</genxml>
"#
    );
    fs::write(folder.join(format!("gen{}.xml", generation.replace('.', ""))), text).unwrap();
}

/// An error state with a batch of one such command and the end of the batch, from a GPU.
fn error_state(path: &Path, platform: &str, pci_id: &str) {
    // "z" is a dword of zeros. The text is ascii85 of 0x00800000 and 0x05000000.
    let dwords = ascii85(&[0x0080_0000, 0x0500_0000]);
    let text = format!(
        "GPU HANG: ecode 9:1:0x85dffffb, in test [1], hang on rcs0\nKernel: 6.1.0\n\
         Platform: {platform}\nPCI ID: {pci_id}\nrcs0 command stream:\n  ACTHD: 0x00000000 00001000\n\
         rcs0 (submitted by test [1]) --- gtt_offset = 0x00000000 00001000\n~{dwords}\n"
    );
    fs::write(path, text).unwrap();
}

/// Dwords as the kernel prints them (lib/ascii85.c): five characters from `!` on, the most
/// significant first.
fn ascii85(dwords: &[u32]) -> String {
    let mut text = String::new();
    for dword in dwords {
        let digits = (0..5).map(|place| dword / 85u32.pow(4 - place) % 85);
        text.extend(digits.map(|digit| char::from(b'!' + digit as u8)));
    }
    text
}

/// Runs genx without the user's settings.
fn alone(args: &[&str], set: &[(&str, &Path)]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_genx"));
    command.args(args).env_remove("GENX_SPEC").env("XDG_CONFIG_HOME", "/nonexistent");
    for (name, value) in set {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn tables_by_platform() {
    let folder = tempdir().unwrap();
    let place = folder.path();
    tables(place, "9", "MI_NINE");
    tables(place, "11", "MI_ELEVEN");
    tables(place, "12.5", "MI_TWELVE_AND_A_HALF");
    let spec = place.to_str().unwrap();
    for (platform, id, wanted) in [
        ("SKYLAKE", "0x1912", "MI_NINE"),
        ("ICELAKE", "0x8a52", "MI_ELEVEN"),
        ("DG2", "0x56a0", "MI_TWELVE_AND_A_HALF"),
    ] {
        let file = place.join("hang.txt");
        error_state(&file, platform, id);
        let input = file.to_str().unwrap();
        let config = place.join("config");
        fs::create_dir_all(config.join("genx")).unwrap();
        fs::write(config.join("genx/config"), format!("# tables\nspec = {spec}\n")).unwrap();
        for (args, set) in [
            (&["decode", input, "--spec", spec][..], &[][..]),
            (&["decode", input], &[("GENX_SPEC", place)]),
            (&["decode", input], &[("XDG_CONFIG_HOME", config.as_path())]),
        ] {
            let (code, out, err) = alone(args, set);
            assert_eq!(code, 0, "{out}{err}");
            assert!(out.contains(wanted) && !out.contains("Broadwell"), "{platform}: {out}{err}");
            assert!(!out.contains("rule"), "the rules of Broadwell are not checked: {out}");
        }
        // Without tables, the command says what to do.
        let (code, out, err) = alone(&["decode", input], &[]);
        assert_eq!(code, 0, "{out}{err}");
        assert!(err.contains("use --spec DIR") && err.contains("src/intel/genxml"), "{err}");
        let (code, _, err) = alone(&["check", input], &[]);
        assert!(code == 2 && err.contains("nothing was checked"), "{err}");
        let (code, out, _) = alone(&["query", input, "--state", wanted, "--spec", spec], &[]);
        assert!(code == 0 && out.contains(wanted), "{out}");
        let (code, out, err) = alone(&["diff", input, input, "--spec", spec], &[]);
        assert_eq!((code, &*out), (0, ""), "{err}");
    }
}

#[test]
fn wrong_tables() {
    let folder = tempdir().unwrap();
    let place = folder.path();
    tables(place, "11", "MI_ELEVEN");
    let (file, xml) = (place.join("hang.txt"), place.join("gen11.xml"));
    error_state(&file, "SKYLAKE", "0x1912");
    let (input, xml) = (file.to_str().unwrap(), xml.to_str().unwrap());
    let (code, out, err) = alone(&["decode", input, "--spec", xml], &[]);
    assert_eq!((code, &*out), (2, ""));
    assert!(err.contains("Skylake (Gen9)") && err.contains("only for Gen11"), "{err}");
    // The option overrides what the dump says.
    let (code, out, err) = alone(&["decode", input, "--spec", xml, "--gen", "icelake"], &[]);
    assert!(code == 0 && out.contains("MI_ELEVEN"), "{out}{err}");
    // Dumps of different generations have different packets.
    let other = place.join("other.txt");
    error_state(&other, "ICELAKE", "0x8a52");
    tables(place, "9", "MI_NINE");
    let spec = place.to_str().unwrap();
    let (code, _, err) = alone(&["diff", input, other.to_str().unwrap(), "--spec", spec], &[]);
    assert!(code == 2 && err.contains("different generations"), "{err}");
}

/// The driver's message has the generation.
#[test]
fn generation_of_the_message() {
    let folder = tempdir().unwrap();
    let place = folder.path();
    tables(place, "8", "MI_EIGHT");
    tables(place, "9", "MI_NINE");
    let file = place.join("dmesg.txt");
    let text =
        "[177082.438483] [drm] GPU HANG: ecode 9:0:0x00800000, in ba [916], reason: Ring hung\n";
    fs::write(&file, text).unwrap();
    let (input, spec) = (file.to_str().unwrap(), place.to_str().unwrap());
    let (code, out, err) = alone(&["decode", input, "--spec", spec], &[]);
    assert!(code == 0 && out.contains("ecode 9:0"), "{out}{err}");
    let (_, _, err) = alone(&["decode", input], &[]);
    assert!(err.contains("it is from Gen9"), "{err}");
}

/// Plain dwords do not say which GPU they are for.
#[test]
fn dwords() {
    let folder = tempdir().unwrap();
    let place = folder.path();
    tables(place, "9", "MI_NINE");
    let file = place.join("batch.bin");
    fs::write(&file, [0u8, 0, 0x80, 0]).unwrap();
    let (input, spec) = (file.to_str().unwrap(), place.to_str().unwrap());
    let raw = |more: &[&str]| {
        let args =
            [&["decode", input, "--raw", "--engine", "render", "--spec", spec], more].concat();
        finish(genx(args))
    };
    let (code, out, err) = raw(&[]);
    assert!(code == 0 && out.contains("MI_NINE"), "one generation needs no option: {out}{err}");
    tables(place, "11", "MI_ELEVEN");
    let (code, _, err) = raw(&[]);
    assert!(code == 2 && err.contains("Gen9, Gen11") && err.contains("--gen"), "{err}");
    let (code, out, _) = raw(&["--gen", "11"]);
    assert!(code == 0 && out.contains("MI_ELEVEN"), "{out}");
    let (code, _, err) = raw(&["--gen", "12"]);
    assert!(code == 2 && err.contains("Gen12"), "{err}");
}

/// Dumps of G45 need no files. Oracle: CS_URB_STATE, 0x6001, which Broadwell does not have
/// (Mesa 7.10 brw_defines.h: CMD_CS_URB_STATE).
#[test]
fn built_in_tables_of_g45() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("batch.bin");
    let dwords = [0x6001_0000u32, 0x14, 0x0500_0000];
    fs::write(&file, dwords.map(u32::to_le_bytes).as_flattened()).unwrap();
    let input = file.to_str().unwrap();
    let raw =
        |of: &str| finish(genx(["decode", input, "--raw", "--engine", "render", "--gen", of]));
    let (code, out, err) = raw("g45");
    assert!(code == 0 && out.contains("CS_URB_STATE") && err.is_empty(), "{out}{err}");
    let (_, out, _) = raw("8");
    assert!(!out.contains("CS_URB_STATE"), "{out}");
}

/// Dumps of G45 are checked with the rules of G45. Oracle: facts of the URB, which has 384 rows,
/// and the corpus, whose batches run on hardware.
#[test]
fn rules_of_g45() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("batch.bin");
    // URB_FENCE with CS Fence 385.
    let dwords = [0x6000_2001u32, 0, 385 << 20, 0x0500_0000];
    fs::write(&file, dwords.map(u32::to_le_bytes).as_flattened()).unwrap();
    let input = file.to_str().unwrap();
    let check = |input: &str, more: &[&str]| finish(genx([&["check", input], more].concat()));
    let (code, out, _) = check(input, &["--raw", "--engine", "render", "--gen", "g45"]);
    assert!(code == 1 && out.contains("G45-URB-SIZE"), "{out}");
    let (code, out, _) = finish(genx(["check", "--list", "--gen", "g45"]));
    assert!(code == 0 && out.contains("G45-URB-SIZE") && !out.contains("RSS-MS-2D"), "{out}");
    let (code, out, _) = finish(genx(["check", "--explain", "G45-URB-SIZE", "--gen", "g45"]));
    assert!(code == 0 && out.contains("URB_FENCE"), "{out}");
    let Some(corpus) = corpus::folder() else { return };
    let capture = corpus.join("gen45/captures/gl_depth");
    let (code, out, err) = check(capture.to_str().unwrap(), &[]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains(": 0 errors, 0 warnings"), "{out}");
}

/// `query --draws` of a G45 lists topology, kernels and the depth buffer. Oracle: the buffers of
/// the capture's manifest; kernels lie in object 3, depth in object 8.
#[test]
fn draws_of_g45_are_found() {
    let Some(corpus) = corpus::folder() else { return };
    let capture = corpus.join("gen45/captures/gl_depth");
    let (code, out, err) = finish(genx(["query", capture.to_str().unwrap(), "--draws", "--json"]));
    assert_eq!(code, 0, "{err}");
    let draws: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(draws.len() > 2, "{out}");
    let last = draws.last().unwrap();
    assert_eq!(last["topology"], "3DPRIM_TRILIST", "{last}");
    assert_eq!(last["depth"]["address"], "0x1017000", "{last}");
    let kernels = last["kernels"].as_array().unwrap();
    let stages: Vec<_> = kernels.iter().map(|kernel| kernel["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["VS", "CLIP", "SF", "PS"], "{last}");
    for kernel in kernels {
        let text = kernel["address"].as_str().unwrap().trim_start_matches("0x");
        let address = u64::from_str_radix(text, 16).unwrap();
        assert!((0x101_3000..0x101_7000).contains(&address), "{kernel}");
    }
    // The first draw clears depth, without a pixel shader; the next is a rectangle, without VS.
    assert!(!draws[0]["kernels"].to_string().contains("PS"), "{}", draws[0]);
    assert!(!draws[1]["kernels"].to_string().contains("VS"), "{}", draws[1]);
}
