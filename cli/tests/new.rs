//! The contract of `genx new`. `tests/tests/starter.rs` builds and runs what it writes.

use crate::common::{finish, genx};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

fn checkout() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_project_is_written() {
    let place = tempdir().unwrap();
    let project = place.path().join("more/first");
    let (code, out, err) = finish(genx([OsStr::new("new"), project.as_os_str()]));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains(&format!("  cd {}\n  cargo run ", project.display())), "{out}");
    assert_eq!(files(&project), [".gitignore", "Cargo.toml", "src"]);
    assert_eq!(fs::read_to_string(project.join(".gitignore")).unwrap(), "/target\n");
    let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"first\"\n"), "{manifest}");

    // The paths lead to the crates from the project's folder.
    for (name, of) in [("genxml = ", "genxml"), ("genxml-sim = ", "genxml-sim")] {
        let line = manifest.lines().find(|line| line.starts_with(name)).unwrap();
        let path = line.split("path = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let found = fs::read_to_string(project.join(path).join("Cargo.toml")).unwrap();
        assert!(found.contains(&format!("name = \"{of}\"\n")), "{path}");
    }
}

#[test]
fn sources_can_be_named() {
    let place = tempdir().unwrap();
    let manifest = |name: &str, option: &str, value: &OsStr| {
        let project = place.path().join(name);
        let arguments = [OsStr::new("new"), project.as_os_str(), OsStr::new(option), value];
        let (code, _, err) = finish(genx(arguments));
        assert_eq!((code, err.as_str()), (0, ""));
        fs::read_to_string(project.join("Cargo.toml")).unwrap()
    };
    // A checkout needs only the two crates.
    for folder in ["runtime", "sim"] {
        fs::create_dir_all(place.path().join("copy").join(folder)).unwrap();
        fs::write(place.path().join("copy").join(folder).join("Cargo.toml"), "").unwrap();
    }
    let path = manifest("a", "--path", place.path().join("copy").as_os_str());
    assert!(path.contains("genxml-sim = { path = \"../copy/sim\", "), "{path}");
    let git = manifest("b", "--git", OsStr::new("https://example.com/genxml"));
    assert!(git.contains("genxml-sim = { git = \"https://example.com/genxml\", "), "{git}");
}

/// Nothing is written, and the exit code is 2.
#[test]
fn what_cannot_be_written_is_2() {
    let place = tempdir().unwrap();
    let full = place.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("notes"), "mine").unwrap();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let free = place.path().join("free");
    let check = |arguments: &[&OsStr], part: &str| {
        let (code, out, err) = finish(genx([&[OsStr::new("new")], arguments].concat()));
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(part), "{err}");
    };
    check(&[full.as_os_str()], "full exists and is not empty");
    check(&[file.as_os_str()], "cannot write");
    check(&[place.path().join("2d").as_os_str()], "`2d` is not a package name");
    check(&[place.path().join("test").as_os_str()], "cannot have the name `test`");
    let path = OsStr::new("--path");
    check(&[free.as_os_str(), path, place.path().as_os_str()], "is not a checkout of genxml");
    check(&[free.as_os_str(), path, free.as_os_str()], "does not exist; name a checkout");
    check(
        &[free.as_os_str(), path, checkout().as_os_str(), OsStr::new("--git"), OsStr::new("url")],
        "--git",
    );
    assert_eq!(files(place.path()), ["file", "full"]);
    assert_eq!(files(&full), ["notes"]);

    // An empty folder is fine.
    fs::create_dir(&free).unwrap();
    assert_eq!(finish(genx([OsStr::new("new"), free.as_os_str()])).0, 0);
}
