//! `genx debug` with scripts. Each command has a test.

use crate::common::{batch_capture, fill_capture, finish, genx, read_png};
use genx::demo::{Name, cube, fill};
use genxml::capture::CaptureWriter;
use genxml::core::lit;
use genxml::engine::Render;
use genxml::gen8::mi::MiStoreDataImm;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// Runs commands, each of which must succeed. Returns what they print.
fn script(capture: &Path, commands: &[&str]) -> String {
    let (code, out, err) = run(capture, commands);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    out
}

/// Runs commands. Returns the exit code, standard output and standard error.
fn run(capture: &Path, commands: &[&str]) -> (i32, String, String) {
    let mut args = vec!["debug", capture.to_str().unwrap(), "--batch"];
    args.extend(commands.iter().flat_map(|command| ["-e", command]));
    finish(genx(args))
}

/// The error of a command.
fn refused(capture: &Path, commands: &[&str]) -> String {
    let (code, _, err) = run(capture, commands);
    assert_eq!(code, 2, "{commands:?}: {err}");
    err
}

fn demo(name: Name, directory: &Path) {
    let mut writer = CaptureWriter::new("demo");
    (name.demo().submission)().unwrap().write(1, &mut writer);
    writer.finish(directory).unwrap();
}

/// The lines that begin with `start`.
fn lines<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(start)).collect()
}
