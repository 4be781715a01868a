//! The pictures of the guide are what the commands write.
//!
//! A picture is a PNG file in `runtime/src/guide/pictures`, which a reader of the repository sees.
//! Beside it is a text file with the same bytes as a `data:` address, which the documentation
//! includes, because rustdoc does not copy files.
//!
//! `GENXML_BLESS=1` writes both files again.

use crate::bisect::set_depth_test;
use crate::common::{changed_demo_capture, demo_capture, finish, genx, read_png};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use genx::demo::Name;
use genxml::gen8::enums::ThreeDCompareFunction as Compare;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use tempfile::tempdir;

/// Maximum bytes of a file.
const MOST: u64 = 30_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/guide/pictures")
}

/// Red, green and blue of the pixels of a PNG file, and its width and height. Alpha must be 255.
fn rgb(file: &Path) -> (Vec<u8>, [u32; 2]) {
    let (pixels, [width, height]) = read_png(file);
    let channels = pixels.len() / (width * height) as usize;
    let opaque = |pixel: &[u8]| pixel.get(3).is_none_or(|alpha| *alpha == 255);
    assert!(pixels.chunks(channels).all(opaque), "{}", file.display());
    let colors = pixels.chunks(channels).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]);
    (colors.collect(), [width, height])
}

/// Writes a small PNG file, and its text.
fn write(name: &str, (pixels, [width, height]): &(Vec<u8>, [u32; 2])) {
    let file = folder().join(format!("{name}.png"));
    fs::create_dir_all(folder()).unwrap();
    let out = BufWriter::new(File::create(&file).unwrap());
    let mut encoder = png::Encoder::new(out, *width, *height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    fs::write(folder().join(format!("{name}.txt")), text(name, &file)).unwrap();
}

/// The definition of a link to the bytes of a file.
fn text(name: &str, file: &Path) -> String {
    format!("[{name}]: data:image/png;base64,{}\n", STANDARD.encode(fs::read(file).unwrap()))
}

/// Compares a picture of the guide with the one that a command wrote.
fn check(name: &str, made: &Path) {
    let made = rgb(made);
    if std::env::var_os("GENXML_BLESS").is_some() {
        write(name, &made);
    }
    let file = folder().join(format!("{name}.png"));
    assert!(rgb(&file) == made, "{name}: another picture; set GENXML_BLESS=1 to replace it");
    let bytes = fs::metadata(&file).unwrap().len();
    assert!(bytes <= MOST, "{name}: {bytes} bytes");
    let text_file = fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
    assert!(text_file == text(name, &file), "{name}.txt does not have the bytes of {name}.png");
}

/// The targets before and after each draw.
fn run(capture: &Path, out: &Path) {
    let [capture, out] = [capture, out].map(|path| path.to_str().unwrap());
    let (code, _, err) = finish(genx(["run", capture, "--observe", "draw", "--dump", out]));
    assert_eq!(code, 0, "{err}");
}

/// The chapters about wrong pixels and missing flushes.
#[test]
fn the_cubes() {
    let [capture, wrong, out, out_wrong] = std::array::from_fn(|_| tempdir().unwrap());
    demo_capture(Name::Cube, capture.path());
    run(capture.path(), out.path());
    check("cube", &out.path().join("draw2-after-rt0.png"));
    check("cube-stale", &out.path().join("draw2-before-rt0.png"));
    changed_demo_capture(Name::Cube, wrong.path(), |submission| {
        set_depth_test(submission, Compare::COMPAREFUNCTION_ALWAYS);
    });
    run(wrong.path(), out_wrong.path());
    check("cube-wrong", &out_wrong.path().join("draw2-after-rt0.png"));

    // The lines in the guide are those of the history of the wrong picture.
    let guide = include_str!("../../runtime/src/guide/pixels.md");
    let (_, block) = guide.split_once("# An example\n").unwrap();
    let (_, block) = block.split_once("```text\n").unwrap();
    let (expected, _) = block.split_once("```\n").unwrap();
    let input = wrong.path().to_str().unwrap();
    let (_, history, err) = finish(genx(["why", input, "--pixel", "200,240"]));
    assert_eq!(err, "");
    assert!(history.contains(expected), "{history}");
}

/// If a link has two definitions, rustdoc uses the first one. For a picture, this must be the one
/// with the bytes.
#[test]
fn every_picture_is_in_the_documentation() {
    let guide = folder().join("..");
    let modules = fs::read_to_string(guide.join("mod.rs")).unwrap();
    let mut pictures = 0;
    for entry in fs::read_dir(&guide).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let chapter = file.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            let Some((name, path)) =
                line.strip_prefix('[').and_then(|line| line.split_once("]: pictures/"))
            else {
                continue;
            };
            assert_eq!(path, format!("{name}.png"), "{chapter}");
            assert!(text.contains(&format!("][{name}]\n")), "{chapter} does not show {name}");
            let (before, _) = modules.split_once(&format!("\"{chapter}.md\"")).expect(chapter);
            let (_, own) = before.rsplit_once("pub mod ").expect(chapter);
            let included = format!("include_str!(\"pictures/{name}.txt\")");
            assert!(own.contains(&included), "{chapter} lacks {included}");
            pictures += 1;
        }
    }
    assert_eq!(pictures, 5);
}

/// The chapter about the debugger.
#[test]
fn the_triangle_at_a_breakpoint() {
    let [capture, out] = std::array::from_fn(|_| tempdir().unwrap());
    demo_capture(Name::Triangle, capture.path());
    let file = out.path().join("stop.png");
    let surface = format!("surface 0 {}", file.display());
    let input = capture.path().to_str().unwrap();
    let commands = ["-e", "break pixel 256,256", "-e", "continue", "-e", &surface];
    let (_, text, err) = finish(genx([&["debug", input][..], &commands].concat()));
    assert_eq!(err, "", "{text}");
    check("triangle-stop", &file);
}
