//! The contract of `genx diff`, `genx query`, the filters of `genx decode` and the formats of
//! `genx check`.

use crate::common::{batch_capture, fill_capture, finish, genx};
use genxml::decode::DATA_NAMES;
use genxml::engine::Render;
use genxml::gen8::mi::{MiNoop, PipeControl};
use genxml_testkit::aub::AubFile;
use serde_json::Value;
use std::path::Path;
use tempfile::tempdir;

fn flushes(directory: &Path, dc_flush_enable: bool, more: bool) {
    batch_capture::<Render>(directory, |batch| {
        batch.emit(&MiNoop::new()).unwrap();
        batch.emit(&PipeControl { dc_flush_enable, ..PipeControl::new() }).unwrap();
        if more {
            batch
                .emit(&PipeControl { command_streamer_stall_enable: true, ..PipeControl::new() })
                .unwrap();
        }
    });
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn diff_says_what_differs() {
    let (one, two) = (tempdir().unwrap(), tempdir().unwrap());
    flushes(one.path(), false, false);
    flushes(two.path(), true, true);
    let (one, two) = (text(one.path()), text(two.path()));
    let (code, out, err) = finish(genx(["diff", one, one]));
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let (code, out, _) = finish(genx(["diff", one, two]));
    assert_eq!(code, 1);
    assert!(out.contains("DC Flush Enable: false -> true (dw1 5)"), "{out}");
    assert!(
        out.lines().any(|line| line.starts_with("+ ") && line.contains("PIPE_CONTROL")),
        "{out}"
    );
    assert!(!out.contains('\x1b'), "{out}");
    let (code, out, _) = finish(genx(["diff", one, two, "--color", "always"]));
    assert!(code == 1 && out.contains("\x1b[32m"), "{out}");
    let (_, out, _) = finish(genx(["diff", one, two, "--format", "json"]));
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!((&last["changed"], &last["added"]), (&Value::from(1), &Value::from(1)));
    // Differences outside of the filter are ignored.
    let (code, out, _) = finish(genx(["diff", one, two, "--packet", "MI_*"]));
    assert_eq!(code, 0, "{out}");
    let (code, _, err) = finish(genx(["diff", one, "/nowhere"]));
    assert_eq!(code, 2, "{err}");
    let (code, _, err) = finish(genx(["diff", one, two, "--packet", "PIPE_CONTROLL"]));
    assert!(code == 2 && err.contains("did you mean `PIPE_CONTROL`"), "{err}");
}

#[test]
fn query_lists_draws_and_writes() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let path = text(capture.path());
    let (code, out, err) = finish(genx(["query", path, "--draws"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("GPGPU_WALKER") && out.contains("kernels: thread 0x"), "{out}");
    assert_eq!(out.lines().count(), 1);
    let (_, out, _) = finish(genx(["query", path, "--draws", "--disassemble"]));
    assert!(out.contains("{EOT}"), "{out}");
    let (_, out, _) = finish(genx(["query", path, "--draws", "--json"]));
    let draw: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(draw["kernels"][0]["stage"], "thread");
    assert!(draw["kernels"][0]["length"].as_u64().unwrap() > 0, "{out}");
    assert_eq!((&draw["draw"], &draw["targets"]), (&1.into(), &Value::Array(Vec::new())));
    let (code, out, _) =
        finish(genx(["query", path, "--state", "MEDIA_VFE_STATE", "--before-draw", "1"]));
    assert_eq!(code, 0);
    assert!(out.contains("MEDIA_VFE_STATE") && out.contains("Number of URB Entries"), "{out}");
    let (code, out, _) = finish(genx(["query", path, "--before-draw", "1", "--json"]));
    assert_eq!(code, 0);
    let names: Vec<String> = out
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(names.contains(&"STATE_BASE_ADDRESS".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("MI_")), "{names:?}");
    let (code, _, err) = finish(genx(["query", path, "--state", "3DSTATE_PS"]));
    assert_eq!(code, 1, "{err}");
    let (code, _, err) = finish(genx(["query", path, "--before-draw", "9"]));
    assert!(code == 2 && err.contains("the dump has 1"), "{err}");
    let (code, _, _) = finish(genx(["query", path]));
    assert_eq!(code, 2);
}

#[test]
fn decode_shows_what_is_asked_for() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let path = text(capture.path());
    let (code, out, err) =
        finish(genx(["decode", path, "--packet", "RENDER_SURFACE_STATE", "--field", "Width"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Width") && !out.contains("Height"), "{out}");
    let (_, out, _) =
        finish(genx(["decode", path, "--field", "Surface Format=R8G8B8A8*", "--format", "json"]));
    let records: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().any(|record| record["name"] == "RENDER_SURFACE_STATE"), "{out}");
    // The page contains an image of the surface: the first bytes of a PNG in base 64.
    for more in [&[][..], &["--packet", "MEDIA_INTERFACE_DESCRIPTOR_LOAD"]] {
        let (_, out, err) = finish(genx([&["decode", path, "--format", "html"], more].concat()));
        assert!(out.contains("\"iVBORw0KGgo"), "{more:?}: {err}");
    }
    let (code, _, err) = finish(genx(["decode", path, "--field", "Widht"]));
    assert!(code == 2 && err.contains("`Width`"), "{err}");
    let (code, _, err) = finish(genx(["decode", path, "--field", "Width", "--headers"]));
    assert_eq!(code, 2, "{err}");
}

/// The batch has a MEDIA_CURBE_LOAD of 64 bytes at offset 0x80 from the dynamic state base, which
/// is the start of the batch.
#[test]
fn decode_shows_as_much_data_as_is_asked_for() {
    let place = tempdir().unwrap();
    let file = place.path().join("batch.bin");
    let mut dwords = vec![0x6101_000e, 0, 0, 0, 0, 0, 0x1001];
    dwords.resize(16, 0);
    dwords.extend([0x7001_0002, 0, 64, 0x80, 0x0500_0000]);
    dwords.resize(48, 0x1234_5678);
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword: &u32| dword.to_le_bytes()).collect();
    std::fs::write(&file, bytes).unwrap();
    let decode = |more: &[&str]| {
        let args = ["decode", text(&file), "--raw", "--engine", "render", "--address", "0x1000"];
        let (code, out, err) = finish(genx([&args[..], more].concat()));
        assert_eq!(code, 0, "{err}");
        out
    };
    let out = decode(&[]);
    assert_eq!(out.matches("12345678").count(), 16, "{out}");
    let out = decode(&["--max-data", "0x10", "--max-vertices", "1"]);
    assert!(
        out.contains("the first 16 of 64 bytes") && out.matches("12345678").count() == 4,
        "{out}"
    );
    assert!(!decode(&["--no-data"]).contains("constants"));
}

/// The number of a draw or submission that the dump does not have is an error. The message says
/// which numbers the dump has. The demo has one dispatch, in submission 0.
#[test]
fn numbers_that_the_dump_does_not_have() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let path = text(capture.path());
    for format in ["text", "json", "html"] {
        let (code, _, err) = finish(genx(["decode", path, "--draw", "99", "--format", format]));
        assert_eq!(code, 2, "{format}: {err}");
        assert!(err.contains("there is no draw 99: the dump has 1 draw\n"), "{err}");
    }
    let (code, _, err) = finish(genx(["decode", path, "--exec", "7..9"]));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("no submission 7 to 9: the dump has only submission 0"), "{err}");
    let (code, _, err) = finish(genx(["diff", path, path, "--draw", "2..3"]));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("there is no draw 2 to 3: the dump has 1 draw"), "{err}");
    let (code, _, err) = finish(genx(["decode", path, "--draw", "0"]));
    assert!(code == 2 && err.contains("numbered from 1"), "{err}");
    for range in ["1", "1..9"] {
        let (code, out, err) = finish(genx(["decode", path, "--draw", range, "--exec", "0"]));
        assert_eq!((code, err.as_str()), (0, ""), "{range}");
        assert!(out.contains("GPGPU_WALKER"), "{out}");
    }
    assert_eq!(finish(genx(["diff", path, path, "--draw", "1"])).0, 0);
}

/// --packet accepts every name of a data record. The dump of the demo `fill` has a kernel, but no
/// other data with these names.
#[test]
fn data_is_selected_by_name() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let path = text(capture.path());
    let decode = |name: &str| finish(genx(["decode", path, "--packet", name]));
    for name in DATA_NAMES {
        let (code, out, err) = decode(name);
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
        assert_eq!(out.contains("send"), name == "kernel", "{name}: {out}");
    }
    let (code, _, err) = decode("vertexes");
    assert!(code == 2 && err.contains("did you mean `vertex`"), "{err}");
}

/// A check of a truncated dump fails, although the part before the end is checked.
#[test]
fn truncated_dumps_are_not_well() {
    let place = tempdir().unwrap();
    let capture = place.path().join("fill");
    fill_capture(&capture, |_| ());
    let name = |name: &str| text(&place.path().join(name)).to_owned();
    for suffix in ["", ".gz", ".xz", ".zst"] {
        let (whole, cut) = (name(&format!("whole.aub{suffix}")), name(&format!("cut.aub{suffix}")));
        assert_eq!(finish(genx(["convert", text(&capture), "-o", &whole])).0, 0);
        let (code, _, err) = finish(genx(["check", &whole]));
        assert_eq!((code, err.as_str()), (0, ""), "{suffix}");
        let bytes = std::fs::read(&whole).unwrap();
        let half = bytes.len() / 2;
        std::fs::write(&cut, &bytes[..half]).unwrap();
        let words = match suffix {
            "" => vec!["the file ends inside a ".to_owned(), "which needs ".to_owned()],
            suffix => vec![
                format!(
                    "the {} data is truncated",
                    suffix.replace(".gz", "gzip").replace(".zst", "zstd").trim_start_matches('.')
                ),
                format!("the file ends after {half} bytes"),
                "copy or record the file again".to_owned(),
            ],
        };
        let commands: [&[&str]; 6] = [
            &["check", &cut],
            &["check", &cut, "--json"],
            &["run", &cut],
            &["decode", &cut],
            &["query", &cut, "--draws"],
            &["diff", &whole, &cut],
        ];
        for command in commands {
            let (code, out, err) = finish(genx(command));
            for word in
                ["cut.aub", &words[0], &words[1]].iter().chain(&words.last().map(String::as_str))
            {
                assert!(err.contains(word), "{command:?}: {word} not in: {err}");
            }
            assert!(!err.contains("fill whole buffer"), "{command:?}: {err}");
            // Commands that print the readable part may succeed. A check, run or comparison fails.
            if !matches!(command[0], "decode" | "query") {
                assert_eq!(code, 2, "{command:?}: {err}");
            }
            if command.contains(&"--json") && !out.is_empty() {
                let value: Value = serde_json::from_str(&out).unwrap();
                assert!(err.contains(value["truncated"].as_str().unwrap()), "{out}");
            }
        }
    }
    // The file without its last dword: the submission before it is checked, and its findings are
    // printed.
    let bytes = std::fs::read(name("whole.aub")).unwrap();
    let file = name("almost.aub");
    std::fs::write(&file, &bytes[..bytes.len() - 4]).unwrap();
    let (code, out, err) = finish(genx(["check", &file]));
    assert_eq!(code, 2, "{err}");
    assert!(out.contains("; the rest of the dump is missing and not checked\n"), "{out}");
    let (code, out, _) = finish(genx(["check", &file, "--format", "sarif"]));
    let log: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 2);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notes = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["level"] == "error"), "{out}");
}

/// A dump without any work is an error of every command: one line says what the file has and what
/// to do.
#[test]
fn dumps_without_work_are_refused() {
    let place = tempdir().unwrap();
    let aub = text(&place.path().join("empty.aub")).to_owned();
    let mut file = AubFile::memory_trace();
    file.map_global(0x1000, 0x9000, 1).memory(2, 0x9000, &[1; 12]).register(0x2080, 0x1000);
    std::fs::write(&aub, &file.0).unwrap();
    let output = text(&place.path().join("output")).to_owned();
    let commands: [&[&str]; 8] = [
        &["decode", &aub],
        &["decode", &aub, "--format", "json"],
        &["query", &aub, "--draws"],
        &["query", &aub, "--before-draw", "1"],
        &["check", &aub],
        &["run", &aub],
        &["diff", &aub, &aub],
        &["convert", &aub, "-o", &output],
    ];
    for command in commands {
        let (code, out, err) = finish(genx(command));
        assert_eq!((code, out.as_str()), (2, ""), "{command:?}: {err}");
        for word in [
            "empty.aub: the AUB file starts no work",
            "1 write of memory (12 bytes), 1 entry of the global page table, 1 register write",
            "record it until",
        ] {
            assert!(err.contains(word), "{command:?}: {word} not in: {err}");
        }
        assert_eq!(err.lines().count(), 1, "{command:?}: {err}");
    }
    let raw = text(&place.path().join("empty.bin")).to_owned();
    std::fs::write(&raw, b"").unwrap();
    let (code, out, err) = finish(genx(["decode", &raw, "--raw", "--engine", "render"]));
    assert_eq!(code, 2, "{out}{err}");
    assert!(err.contains("empty.bin: the batch has no dwords"), "{err}");
}

#[test]
fn check_quotes_and_counts() {
    let capture = tempdir().unwrap();
    flushes(capture.path(), true, true);
    let path = text(capture.path());
    let (code, out, err) = finish(genx(["check", path]));
    assert!(code <= 1, "{err}");
    let wrong =
        out.lines().position(|line| line.starts_with("  > ") && line.contains("PIPE_CONTROL"));
    let lines: Vec<&str> = out.lines().collect();
    let wrong = wrong.unwrap_or_else(|| panic!("{out}"));
    assert!(
        lines[wrong - 2].contains("MI_NOOP") && lines[wrong - 1].contains("PIPE_CONTROL"),
        "{out}"
    );
    assert!(lines[wrong + 1].contains("Command Streamer Stall Enable: true"), "{out}");
    let (_, out, _) = finish(genx(["check", path, "--no-quote"]));
    assert!(!out.contains("  > "), "{out}");
    let (code, out, _) = finish(genx(["check", "--explain", "STATE-UNDEFINED"]));
    assert!(code == 0 && out.contains("draws and dispatches"), "{out}");
}

/// Checks the properties that the schema of SARIF 2.1.0 requires (OASIS, sections 3.13 to 3.49).
#[test]
fn check_speaks_sarif() {
    let capture = tempdir().unwrap();
    flushes(capture.path(), true, true);
    let path = text(capture.path());
    let (_, out, err) = finish(genx(["check", path, "--format", "sarif"]));
    let log: Value =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out} {err}"));
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        for key in ["shortDescription", "fullDescription", "help"] {
            assert!(!rule[key]["text"].as_str().unwrap().is_empty(), "{rule}");
        }
        assert!(
            ["error", "warning", "note"]
                .contains(&rule["defaultConfiguration"]["level"].as_str().unwrap())
        );
    }
    assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty(), "{out}");
    for result in results {
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let place = &result["locations"][0];
        let physical = &place["physicalLocation"];
        assert!(physical["artifactLocation"]["uri"].as_str().unwrap().starts_with("file:///"));
        assert!(physical["address"]["absoluteAddress"].as_u64().unwrap() >= 0x2_0000);
        assert!(
            place["logicalLocations"][0]["fullyQualifiedName"]
                .as_str()
                .unwrap()
                .contains("PIPE_CONTROL")
        );
    }
    let (code, _, err) = finish(genx(["check", "--list", "--format", "sarif"]));
    assert_eq!(code, 2, "{err}");
}

/// A draw uses one viewport. Mesa's decoder prints four, and `--unused` does it, too.
#[test]
fn unused_viewports_are_printed_on_request() {
    let Some(corpus) = genxml_testkit::corpus::folder() else {
        eprintln!("skipped: the corpus is not there");
        return;
    };
    let capture = corpus.join("drivers/kmscube");
    let remark = "CC_VIEWPORT of viewports 1 to 3; the draw uses 1";
    for (options, shown) in [(&[][..], false), (&["--unused"], true)] {
        let (code, out, err) = finish(genx([&["decode", text(&capture)][..], options].concat()));
        assert_eq!((code, out.contains(remark)), (0, shown), "{err}");
    }
}
