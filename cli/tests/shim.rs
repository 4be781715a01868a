//! `genx shim`: starting the command. An empty file replaces the library; ld.so warns about it and
//! ignores it.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::path::Path;
use std::process::{Command, Output};

/// Runs `genx shim` with an empty file as its library.
fn shim<'a>(library: &Path, args: impl IntoIterator<Item = &'a str>) -> Output {
    std::fs::write(library, b"").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_genx"));
    command.arg("shim").args(args).env("GENX_SHIM_LIBRARY", library).output().unwrap()
}

/// The process becomes the command: a signal to it reaches the command.
#[test]
fn one_process() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("library.so");
    let output = shim(&library, ["--", "sh", "-c", "exit 7"]);
    assert_eq!(output.status.code(), Some(7));
    let child = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args(["shim", "--", "sh", "-c", "echo $$; echo $LD_PRELOAD"])
        .env("GENX_SHIM_LIBRARY", &library)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    let output = child.wait_with_output().unwrap();
    let preload = library.canonicalize().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{id}\n{}\n", preload.display()));
}

/// A command that cannot be run is an error of genx.
#[test]
fn no_command() {
    let directory = tempfile::tempdir().unwrap();
    let output = shim(&directory.path().join("library.so"), ["--", "./no-such-command"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("genx: cannot run ./no-such-command: "), "{error}");
}

/// A device that is not a Broadwell is an error before anything runs.
#[test]
fn devices() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("library.so");
    for (device, code) in [
        ("GT1", 0),
        ("gt3", 0),
        ("0x1616", 0),
        ("162e", 0),
        ("GT9", 2),
        ("0x9a49", 2),
        ("0x1632", 2),
        ("", 2),
    ] {
        let output = shim(&library, ["--device", device, "--", "true"]);
        assert_eq!(output.status.code(), Some(code), "{device}");
    }
}

/// A library path that LD_PRELOAD cannot contain is an error that says what to do. Other paths
/// become absolute.
#[test]
fn libraries() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a library.so", "a:library.so"] {
        let output = shim(&directory.path().join(name), ["--", "true"]);
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("copy it to another directory"), "{error}");
    }
    std::fs::write(directory.path().join("library.so"), b"").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args(["shim", "--", "sh", "-c", "echo $LD_PRELOAD"])
        .env("GENX_SHIM_LIBRARY", "./library.so")
        .current_dir(directory.path())
        .output()
        .unwrap();
    let library = directory.path().canonicalize().unwrap().join("library.so");
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), library.to_str().unwrap());
}

/// An option for a directory refuses a file before the command starts, and creates a directory that
/// does not exist.
#[test]
fn outputs_are_directories() {
    let place = tempfile::tempdir().unwrap();
    let library = place.path().join("library.so");
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("file"), b"contents").unwrap();
    for option in ["--capture", "--frames", "--errors"] {
        for name in ["file", "file/inside"] {
            let output = shim(&library, [option, &path(name), "--", "echo", "ran"]);
            assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{option}");
            let error = String::from_utf8(output.stderr).unwrap();
            assert!(error.contains(&format!("genx: {option} {}: ", path(name))), "{error}");
            assert!(error.contains("irectory"), "{error}");
        }
        let new = path(&format!("new{option}/inside"));
        let output = shim(&library, [option, &new, "--", "echo", "ran"]);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"ran\n"[..]));
        assert!(Path::new(&new).is_dir());
    }
    assert_eq!(std::fs::read(path("file")).unwrap(), b"contents");
}
