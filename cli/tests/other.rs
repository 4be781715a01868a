//! The contract of `genx demo`, `decode`, `check` and `spec`.

use crate::common::{fill_capture, fill_picture, finish, genx, read_png};
use genx::demo::{Name, execute};
use genxml_testkit::corpus;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// Oracle: the formula of the image. Another project's reader decodes the PNG.
#[test]
fn demo_writes_the_picture() {
    let place = tempdir().unwrap();
    let file = place.path().join("fill.png");
    let (code, out, err) = finish(genx(["demo", "fill", "-o", file.to_str().unwrap()]));
    assert_eq!(code, 0, "{err}");
    for word in [
        "GPGPU_WALKER",
        "INTERFACE_DESCRIPTOR_DATA",
        "RENDER_SURFACE_STATE",
        "shl (1",
        "1024 threads",
    ] {
        assert!(out.contains(word), "{word} not in {out}");
    }
    let (pixels, _) = read_png(&file);
    assert!(pixels == fill_picture());
}

/// Oracle: the images of the README, which were checked by eye. The corners of the triangle have
/// their colours. The faces of the cubes hide each other like solids, and faces towards the light
/// are bright. The numbers of the texture's levels increase with distance, and the colours of two
/// levels blend. Other tests below check the triangle and the batches.
#[test]
fn draws_are_as_they_were_seen() {
    let place = tempdir().unwrap();
    for name in ["triangle", "cube", "texture"] {
        let file = place.path().join(name);
        let (code, out, err) = finish(genx(["demo", name, "-o", file.to_str().unwrap()]));
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
        for word in
            ["3DPRIMITIVE", "vertex buffer 0", "sendc (", "RENDER_SURFACE_STATE", " threads, "]
        {
            assert!(out.contains(word), "{word} not in {out}");
        }
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(name).with_extension("png");
        assert!(read_png(&file) == read_png(&golden), "{name} differs from {}", golden.display());
    }
}

/// Oracle: the weights of the three corners at the centre of a pixel, in doubles. Colours may
/// differ by one.
#[test]
fn the_triangle_has_the_colours_of_its_corners() {
    let demo = Name::Triangle.demo();
    let (pixels, stats) = execute(&(demo.submission)().unwrap(), demo.target).unwrap();
    let corners = [[-0.8, -0.7], [0.8, -0.7], [0.0, 0.8]];
    let doubled_area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let size = f64::from(demo.size[0]) / 2.0;
    let mut inside = 0;
    for (n, pixel) in pixels.chunks(4).enumerate() {
        let (x, y) = (n % demo.size[0] as usize, n / demo.size[0] as usize);
        let at = [(x as f64 + 0.5) / size - 1.0, 1.0 - (y as f64 + 0.5) / size];
        let shares = [0, 1, 2].map(|n| {
            let rest = [corners[(n + 1) % 3], corners[(n + 2) % 3]];
            doubled_area(at, rest[0], rest[1]) / doubled_area(corners[0], corners[1], corners[2])
        });
        let least = shares.into_iter().fold(1.0, f64::min);
        // Skip pixels at the edges: corners are rounded to 1/256 pixel.
        if least.abs() < 1e-4 {
            continue;
        }
        let near = |n: usize| (f64::from(pixel[n]) - 255.0 * shares[n]).abs() < 1.0;
        if least < 0.0 {
            assert_eq!(pixel, [24, 26, 32, 255], "{x}, {y}");
        } else {
            inside += 1;
            assert!(near(0) && near(1) && near(2) && pixel[3] == 255, "{x}, {y}: {pixel:?}");
        }
    }
    assert!(inside > 75_000 && stats.threads > inside / 8, "{inside}");
}

/// No demo violates a rule of the manual or uses undefined state.
#[test]
fn demos_break_no_rule() {
    let place = tempdir().unwrap();
    let picture = place.path().join("picture.png");
    for name in ["fill", "triangle", "cube", "texture"] {
        let capture = place.path().join(name);
        let (picture, capture) = (picture.to_str().unwrap(), capture.to_str().unwrap());
        let (code, _, err) = finish(genx(["demo", name, "-o", picture, "--capture", capture]));
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
        let (code, out, _) = finish(genx(["check", capture]));
        assert!(
            code == 0 && out.contains("0 errors, 0 warnings, 0 missing workarounds"),
            "{name}: {out}"
        );
        let (code, out, _) = finish(genx(["run", capture]));
        assert!(code == 0 && out.contains("ok: 1 submissions"), "{name}: {out}");
    }
}

/// `genx demo` and `genx demo --help` describe each demo.
#[test]
fn demos_are_listed() {
    for arguments in [&["demo"][..], &["demo", "--help"]] {
        let (code, out, err) = finish(genx(arguments));
        assert_eq!((code, err.as_str()), (0, ""));
        let line: Vec<&str> = out.split_whitespace().collect();
        for words in [
            "fill",
            "triangle",
            "cube",
            "texture",
            "GPGPU thread",
            "Two intersecting cubes",
            "mip levels",
        ] {
            assert!(line.join(" ").contains(words), "{words} not in {out}");
        }
    }
}

#[test]
fn decode_follows_to_surfaces_and_kernels() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let path = capture.path().to_str().unwrap();
    let (code, out, err) = finish(genx(["decode", path]));
    assert_eq!((code, err.as_str()), (0, ""));
    for word in [
        "PIPELINE_SELECT",
        "STATE_BASE_ADDRESS",
        "Surface State Base Address",
        "INTERFACE_DESCRIPTOR_DATA",
        "BINDING_TABLE_STATE",
        "RENDER_SURFACE_STATE",
        "R8G8B8A8_UNORM",
        "MI_BATCH_BUFFER_END",
        "xor (8",
        "EOT",
    ] {
        assert!(out.contains(word), "{word} not in {out}");
    }
    let (code, headers, _) = finish(genx(["decode", path, "--headers"]));
    assert_eq!(code, 0);
    assert!(headers.lines().count() < out.lines().count() / 2);
    let (code, json, _) = finish(genx(["decode", path, "--format", "json"]));
    assert_eq!(code, 0);
    for line in json.lines() {
        serde_json::from_str::<serde_json::Value>(line)
            .unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    let (code, page, err) = finish(genx(["decode", path, "--format", "html"]));
    assert_eq!(code, 0, "{err}");
    assert!(page.starts_with("<!doctype html>") && page.contains("RENDER_SURFACE_STATE"));
}

#[test]
fn decode_reads_raw_dwords() {
    let place = tempdir().unwrap();
    let file = place.path().join("batch.bin");
    // A fill of 4x4 pixels and the end of the batch, as the kernel's selftests write them.
    let dwords: [u32; 9] =
        [0x5430_0005, 0x03f0_0040, 0, 0x0004_0004, 0x10_0000, 0, 0x1234_5678, 0x0500_0000, 0];
    fs::write(&file, dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect::<Vec<_>>())
        .unwrap();
    let path = file.to_str().unwrap();
    let (code, out, err) =
        finish(genx(["decode", path, "--raw", "--engine", "blitter", "--address", "0x4000"]));
    assert_eq!(code, 0, "{err}");
    for word in ["XY_COLOR_BLT", "32bpp", "PATTERN_COPY", "0x12345678", "MI_BATCH_BUFFER_END"] {
        assert!(out.contains(word), "{word} not in {out}");
    }
    let (code, _, err) = finish(genx(["decode", path, "--raw"]));
    assert_eq!(code, 2, "{err}");
}

/// A reader that closes the pipe is not an error and causes no message.
#[test]
fn decode_into_a_closed_pipe() {
    // 2^18 MI_NOOPs: their text is longer than any pipe holds.
    let place = tempdir().unwrap();
    let file = place.path().join("noops.bin");
    fs::write(&file, vec![0; 1 << 20]).unwrap();
    let raw = ["--raw", "--engine", "render"];
    assert_eq!(
        into_a_closed_pipe(&["decode", file.to_str().unwrap()], &raw),
        (Some(0), Vec::new())
    );
}

/// A reader that closes the pipe does not change the exit code.
#[test]
fn check_into_a_closed_pipe() {
    let place = tempdir().unwrap();
    let file = place.path().join("batch.bin");
    // Many 3DPRIMITIVE with Indirect Parameter Enable (dw0 10) and End Offset Enable (dw1 9).
    let draws = [0x7b00_0405_u32, 0x204, 3, 0, 1, 0, 0].repeat(4000);
    fs::write(&file, draws.iter().flat_map(|dword| dword.to_le_bytes()).collect::<Vec<u8>>())
        .unwrap();
    for format in [&[][..], &["--json"]] {
        let more = [&["--raw", "--engine", "render"], format].concat();
        assert_eq!(
            into_a_closed_pipe(&["check", file.to_str().unwrap()], &more),
            (Some(1), Vec::new())
        );
    }
}

/// Exit code and standard error of the command when only the start of its output is read.
fn into_a_closed_pipe(command: &[&str], more: &[&str]) -> (Option<i32>, Vec<u8>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args(command)
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stderr)
}

/// Every packet of these captures has a name; state, surfaces and kernels are found.
#[test]
fn decode_names_the_corpus() {
    let Some(corpus) = corpus::folder() else { return };
    for (capture, words) in [
        (
            "images/igt_gpgpu_fill",
            &["RENDER_SURFACE_STATE", "INTERFACE_DESCRIPTOR_DATA", "mov (", "GPGPU_WALKER"][..],
        ),
        (
            "images/syn_mediafill_22_Y128x64_16_16_64x32",
            &["MEDIA_OBJECT", "RENDER_SURFACE_STATE", "send"],
        ),
        ("images/syn_mediaspin_36_100000", &["while", "cmp", "MEDIA_VFE_STATE"]),
        ("images/igt_tiled_blits_00", &["XY_SRC_COPY_BLT", "SRC_COPY", "Source Base Address"]),
        ("images/syn_blt_54_color_bpp8_L", &["XY_COLOR_BLT", "8bpp"]),
        ("images/igt_storedw_render_00", &["MI_STORE_DATA_IMM", "0x120000"]),
        ("images/igt_pipe_control_fresh_00", &["PIPE_CONTROL", "Post Sync Operation"]),
        ("drivers/igt_gem_blt", &["XY_SRC_COPY_BLT"]),
    ] {
        let (code, out, err) = finish(genx(["decode", corpus.join(capture).to_str().unwrap()]));
        assert_eq!((code, err.as_str()), (0, ""), "{capture}");
        for word in words {
            assert!(out.contains(word), "{capture}: {word} not in {out}");
        }
    }
}

#[test]
fn check_finds_explains_and_obeys() {
    let place = tempdir().unwrap();
    // 3DPRIMITIVE with both Indirect Parameter Enable (dw0 10) and End Offset Enable (dw1 9), which
    // exclude each other.
    let file = place.path().join("batch.bin");
    let dwords: [u32; 8] = [0x7b00_0405, 0x204, 3, 0, 1, 0, 0, 0x0500_0000];
    fs::write(&file, dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect::<Vec<u8>>())
        .unwrap();
    let raw =
        ["check", file.to_str().unwrap(), "--raw", "--engine", "render", "--address", "0x1000"];
    let with = |more: &[&str]| finish(genx(raw.iter().chain(more).copied().collect::<Vec<_>>()));
    let (code, out, err) = with(&[]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    for word in ["error 3DPRIM-INDIRECT-END", "0x1000", "[End Offset Enable] = 1", "2a p."] {
        assert!(out.contains(word), "{word} not in {out}");
    }
    let (code, out, _) = with(&["--json"]);
    assert_eq!(code, 1);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "3DPRIM-INDIRECT-END").unwrap();
    assert_eq!(finding["operands"][0]["name"], "[Indirect Parameter Enable]");
    assert_eq!((&finding["address"], &finding["engine"]), (&"0x1000".into(), &"render".into()));
    assert_eq!(with(&["--allow", "3DPRIM*"]).0, 0);
    assert_eq!(with(&["--warn", "3DPRIM-INDIRECT-END"]).0, 0);
    let (code, _, err) = with(&["--deny", "3DPRIM-INDIRECT-ENT"]);
    assert_eq!(code, 2);
    assert!(err.contains("3DPRIM-INDIRECT-END"), "{err}");

    let (code, out, err) = finish(genx(["check", "--explain", "3DPRIM-INDIRECT-END"]));
    assert_eq!((code, err.as_str()), (0, ""));
    for word in ["error", "3DPRIMITIVE", "[Indirect Parameter Enable] == 0", "2a p."] {
        assert!(out.contains(word), "{word} not in {out}");
    }
    let (code, out, _) = finish(genx(["check", "--explain", "RSS-MS-2D"]));
    let fields = "\nfields of RENDER_SURFACE_STATE:\n  dw0 31:29  Surface Type";
    assert!(code == 0 && out.contains(fields) && out.contains("2 = SURFTYPE_3D"), "{out}");
    assert!(finish(genx(["check", "--list"])).1.lines().count() > 300);
    let (code, out, _) = finish(genx(["check", "--explain", "FIELD-MBZ"]));
    assert!(code == 0 && out.contains("FIELD-MBZ · error · every field"), "{out}");
    assert_eq!(with(&["--allow", "FIELD-*", "--allow", "3DPRIM*"]).0, 0);
    assert_eq!(finish(genx(["check"])).0, 2);
    assert_eq!(finish(genx(["check", "/nonexistent"])).0, 2);

    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let path = capture.path().to_str().unwrap();
    let (code, out, err) = finish(genx(["check", path]));
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = finish(genx(["run", path, "--check", "--json"]));
    assert_eq!(code, 0, "{out}{err}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["check"]["errors"], 0);
}

/// Oracle: the file of rules.
#[test]
fn check_reads_files_of_rules() {
    let place = tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (batch, ours, more, wrong) =
        (path("batch.bin"), path("ours.xml"), path("more.xml"), path("wrong.xml"));
    // MI_NOOP with identification number 3, MI_BATCH_BUFFER_END.
    fs::write(&batch, [0x0000_0003u32, 0x0500_0000].map(u32::to_le_bytes).concat()).unwrap();
    let rule = |id: &str, rest: &str| {
        format!(
            "<rules>\n<container name=\"MI_NOOP\">\n<rule id=\"{id}\" message=\"the number is odd\" \
             require=\"[Identification Number] % 2 == 0\" {rest}/>\n</container>\n</rules>\n"
        )
    };
    fs::write(&ours, rule("OURS-EVEN", "source=\"our guide\"")).unwrap();
    fs::write(&more, rule("OURS-MORE", "severity=\"warning\"")).unwrap();
    let raw = ["check", &batch, "--raw", "--engine", "render", "--rules", &ours];
    let with = |more: &[&str]| finish(genx(raw.iter().chain(more).copied().collect::<Vec<_>>()));
    let (code, out, err) = with(&["--rules", &more]);
    assert_eq!((code, err.as_str()), (1, ""));
    for line in [
        "error OURS-EVEN: the number is odd (our guide)",
        "warning OURS-MORE: the number is odd",
        "    [Identification Number] = 3",
        "  required: [Identification Number] % 2 == 0",
    ] {
        assert!(out.lines().any(|found| found == line), "{line}\n{out}");
    }
    assert_eq!(with(&["--allow", "OURS-*"]).0, 0);
    assert_eq!(with(&["--warn", "OURS-EVEN"]).0, 0);
    let (_, out, _) = with(&["--format", "sarif"]);
    assert!(out.contains("See our guide. genx check --explain OURS-EVEN"), "{out}");

    let (code, out, _) = finish(genx(["check", "--list", "--rules", &more]));
    assert!(code == 0 && out.contains("MI_NOOP: the number is odd"), "{out}");
    let (code, out, _) = finish(genx(["check", "--explain", "OURS-MORE", "--rules", &more]));
    let expected = "OURS-MORE · warning · MI_NOOP\nthe number is odd\n\n\
                    required: [Identification Number] % 2 == 0\n\nfields of MI_NOOP:\n  \
                    dw0 21:0  Identification Number: Number for debugging.\n";
    assert_eq!((code, out.as_str()), (0, expected));

    fs::write(&wrong, rule("OURS-EVEN", "").replace("Number]", "Numbr]")).unwrap();
    // The dump selects the GPU whose fields the rules name, so it is opened first.
    let raw_batch = ["check", &batch, "--raw", "--engine", "render", "--rules", &wrong];
    let (code, out, err) = finish(genx(raw_batch));
    let expected =
        format!("genx: {wrong}:3:59: no field `Identification Numbr` here; did you mean");
    assert!(code == 2 && out.is_empty() && err.starts_with(&expected), "{err}");
    let (code, _, err) = with(&["--rules", &ours]);
    assert!(code == 2 && err.contains("there is a rule `OURS-EVEN` already"), "{err}");
    assert_eq!(with(&["--rules", "/nonexistent"]).0, 2);
}

#[test]
fn spec_lists_shows_checks_and_emits() {
    let (code, out, err) = finish(genx(["spec", "list", "--json"]));
    assert_eq!(code, 0, "{err}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
    let find =
        |name: &str| listed.iter().find(|item| item["name"] == name).cloned().unwrap_or_default();
    assert_eq!(find("XY_COLOR_BLT")["kind"], "instruction");
    assert_eq!(find("RENDER_SURFACE_STATE")["kind"], "struct");

    let (code, out, err) = finish(genx(["spec", "show", "PIPE_CONTROL"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Post Sync Operation"), "{out}");
    let (code, _, err) = finish(genx(["spec", "show", "PIPE_CONTRL"]));
    assert_eq!(code, 2);
    assert!(err.contains("PIPE_CONTROL"), "{err}");

    let (code, out, err) = finish(genx(["spec", "check"]));
    assert_eq!(code, 0, "{out}{err}");

    let place = tempdir().unwrap();
    let broken = place.path().join("broken.xml");
    fs::write(&broken, "<genxml name=\"X\" gen=\"8\">\n  <struct name=\"S\" length=\"1\" source=\"s\">\n    <field name=\"F\" start=\"0\" end=\"32\" type=\"uint\"/>\n  </struct>\n</genxml>\n").unwrap();
    let (code, _, err) = finish(genx(["spec", "check", broken.to_str().unwrap()]));
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("broken.xml:3:"), "{err}");
    let (code, _, err) =
        finish(genx(["spec", "check", place.path().join("nowhere.xml").to_str().unwrap()]));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("nowhere.xml"), "{err}");

    let generated = place.path().join("generated");
    let (code, out, err) = finish(genx(["spec", "emit", "-o", generated.to_str().unwrap()]));
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        fs::read_to_string(generated.join("blitter.rs")).unwrap().contains("pub struct XyColorBlt")
    );
}

#[test]
fn help_has_examples() {
    for command in ["run", "decode", "check", "demo", "spec"] {
        let (code, out, _) = finish(genx([command, "--help"]));
        assert_eq!(code, 0);
        assert!(out.contains("Examples:"), "{command}: {out}");
    }
}

/// Oracle: the instructions that are executed one by one. A name that GENX_EU does not have is
/// reported, and the run continues.
#[test]
fn compiled_kernels_draw_the_same_picture() {
    let folder = tempdir().unwrap();
    let draw = |strategy: &str| {
        let file = folder.path().join(strategy).with_extension("png");
        let output = Command::new(env!("CARGO_BIN_EXE_genx"))
            .args(["demo", "cube", "-o"])
            .arg(&file)
            .env("GENX_EU", strategy)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{strategy}: {error}");
        (fs::read(file).unwrap(), error)
    };
    let (expected, _) = draw("interpret");
    for strategy in ["compile", "verify", "verfy"] {
        let (picture, error) = draw(strategy);
        assert!(picture == expected, "{strategy}");
        assert_eq!(error.contains("GENX_EU=verfy is unknown"), strategy == "verfy", "{error}");
    }
}
