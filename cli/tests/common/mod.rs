//! Runs `genx` and builds inputs for it.
#![allow(dead_code)] // each test file uses only some of these functions

use genx::demo::{Name, fill};
use genxml::batch::{Batch, Buffer, Submission};
use genxml::capture::{CaptureWriter, Compare};
use genxml::engine::Engine;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The name of the expectation in [`fill_capture`].
pub const EXPECTATION: &str = "picture";

/// Runs the command.
pub fn genx<I: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = I>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_genx")).args(args).output().expect("genx starts")
}

/// Returns the exit code, standard output and standard error.
pub fn finish(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

/// Writes a capture of the demo `fill` that expects the image of the demo. Oracle: the formula of
/// the image. `change` may change the expected bytes.
pub fn fill_capture(directory: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let submission = fill::submission().unwrap();
    let mut writer = CaptureWriter::new("fill");
    submission.write(1, &mut writer);
    let mut expected = fill_picture();
    change(&mut expected);
    writer.expect(EXPECTATION, "target", 0, &expected, &[], Compare::Exact);
    writer.finish(directory).unwrap();
}

/// The bytes of the image of the demo `fill`, from its formula.
pub fn fill_picture() -> Vec<u8> {
    (0..fill::HEIGHT).flat_map(|y| (0..fill::WIDTH).flat_map(move |x| fill::pixel(x, y))).collect()
}

/// Writes a capture of a demo.
pub fn demo_capture(name: Name, directory: &Path) {
    changed_demo_capture(name, directory, |_| ());
}

/// Writes a capture of a demo that `change` has changed.
pub fn changed_demo_capture(name: Name, directory: &Path, change: impl FnOnce(&mut Submission)) {
    let mut submission = (name.demo().submission)().unwrap();
    change(&mut submission);
    let mut writer = CaptureWriter::new("demo");
    submission.write(1, &mut writer);
    writer.finish(directory).unwrap();
}

/// Writes a capture of a batch that `build` fills. The capture also has a buffer of one page at
/// 0x10000, named `target`.
pub fn batch_capture<E: Engine>(directory: &Path, build: impl FnOnce(&mut Batch<E>)) {
    let target = Buffer::new("target", 0x1_0000, 4096).unwrap();
    let mut batch = Batch::<E>::new("batch", 0x2_0000, 4096).unwrap();
    build(&mut batch);
    let mut writer = CaptureWriter::new("batch");
    batch.finish().unwrap().submit([target]).unwrap().write(1, &mut writer);
    writer.finish(directory).unwrap();
}

/// The folder of real captures; `None` if it does not exist. `GENXML_CORPUS` selects another
/// folder, which must exist.
pub fn corpus() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    let path = PathBuf::from(std::env::var("GENXML_CORPUS").unwrap_or_else(|_| default.to_owned()));
    if path.join("images").is_dir() {
        Some(path)
    } else {
        assert!(
            std::env::var_os("GENXML_CORPUS").is_none(),
            "GENXML_CORPUS: no captures at {}",
            path.display()
        );
        eprintln!("skipped: no corpus of captures at {}", path.display());
        None
    }
}

/// The RGBA bytes of a PNG file's pixels, and its width and height. Another project's reader
/// decodes the file.
pub fn read_png(file: &Path) -> (Vec<u8>, [u32; 2]) {
    let mut reader =
        png::Decoder::new(BufReader::new(File::open(file).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    (pixels, [reader.info().width, reader.info().height])
}
