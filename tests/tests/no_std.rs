//! `genxml` without its feature `std`: a program with its own panic handler can be built only if
//! nothing links the standard library. It is built for the host, where it also runs, and checked
//! for a target without `std`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A target without operating system, with only `core` and `alloc`.
const BARE: &str = "x86_64-unknown-none";

/// The target folder: one of its own, inside that of the workspace.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests").join("no-std")
}

/// Builds or checks the program for a target: `command` is `build` or `check`. Returns the error
/// text if this fails.
fn cargo(command: &str, tuple: &str, features: &str) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("no-std");
    // Use the versions of the workspace, so that nothing is downloaded.
    std::fs::copy(folder.join("../../Cargo.lock"), folder.join("Cargo.lock"))
        .map_err(|error| error.to_string())?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        command,
        "--offline",
        "--quiet",
        "--color=never",
        "--config=profile.dev.debug=false",
        "--target",
        tuple,
        "--features",
        features,
    ]);
    let output = cargo.arg("--target-dir").arg(target()).current_dir(folder).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The output of `rustc`.
fn rustc(arguments: &[&str]) -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn without_the_standard_library() {
    let host = rustc(&["--print", "host-tuple"]);
    cargo("build", &host, "").unwrap();
    let status = Command::new(target().join(&host).join("debug/no-std")).status().unwrap();
    assert!(status.success(), "{status}: the number is that of `run` in no-std/src/main.rs");

    // Check that the test would detect the standard library.
    let error = cargo("check", &host, "std").unwrap_err();
    assert!(error.contains("found duplicate lang item `panic_impl`"), "{error}");

    if Path::new(&rustc(&["--print", "target-libdir", "--target", BARE])).exists() {
        cargo("check", BARE, "").unwrap();
    } else {
        eprintln!("not checked for {BARE}, which is not installed: `rustup target add {BARE}`");
    }
}
