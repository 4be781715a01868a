//! `genx new`: writes a project that uses the library and the model.

use crate::output::{Error, Exit, bad_input, stdout};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Write a new project: a batch that runs on the model, with the profiles that it needs.
///
/// The program starts threads of the GPU, runs them on the model and checks their result. It is the
/// place to start: change the kernel or the packets, and run it again.
///
/// The project depends on the crates of genxml by path. Without --path, that is the checkout from
/// which this command was built.
///
/// Exit code: 0 written; 2 the name is not a package name, the directory is not empty or cannot be
/// written, or the checkout is missing.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx new first && cd first && cargo run
  genx new ~/projects/first --path ~/genxml
  genx new first --git https://example.com/genxml.git")]
pub struct Args {
    /// The directory to create. Its name is the name of the package
    #[arg(value_name = "NAME")]
    project: PathBuf,
    /// Depend on the crates of a local checkout of genxml
    #[arg(long, value_name = "DIR", conflicts_with = "git")]
    path: Option<PathBuf>,
    /// Depend on the crates of a git repository
    #[arg(long, value_name = "URL")]
    git: Option<String>,
}

/// Where the crates of genxml are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A checkout, as the manifest names it.
    Path(PathBuf),
    /// A git repository.
    Git(String),
}

const MANIFEST: &str = include_str!("new/manifest.toml");
const PROGRAM: &str = include_str!("new/main.rs");
const IGNORED: &str = "/target\n";

/// Words that Rust or Cargo do not accept as the name of a program, and the names of the
/// dependencies.
const RESERVED: &str = "abstract alloc as async await become box break build const continue core \
    crate deps do dyn else enum examples extern false final fn for gen genxml genxml-sim if impl in \
    incremental let loop macro match mod move mut override priv proc-macro pub ref return self \
    static std struct super test trait true try type typeof unsafe unsized use virtual where while \
    yield";

/// The `Cargo.toml` of a project named `name`.
pub fn manifest(name: &str, source: &Source) -> String {
    let [runtime, sim] = match source {
        Source::Path(checkout) => ["runtime", "sim"].map(|folder| {
            // Forward slashes work on every system.
            let path = checkout.join(folder).to_string_lossy().replace('\\', "/");
            format!("path = {}", quoted(&path))
        }),
        Source::Git(url) => [(); 2].map(|()| format!("git = {}", quoted(url))),
    };
    MANIFEST.replace("@NAME@", name).replace("@RUNTIME@", &runtime).replace("@SIM@", &sim)
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes the files of a project. The directory must be empty or missing.
///
/// # Errors
/// The directory is not empty, or a file cannot be written.
pub fn write(project: &Path, name: &str, source: &Source) -> Result<(), Error> {
    let cannot = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| bad_input(format!("cannot write {path}: {error}"))
    };
    let entries = match fs::read_dir(project) {
        Ok(entries) => entries.count(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(cannot(project)(error)),
    };
    if entries > 0 {
        let text = format!("{} exists and is not empty; choose another name", project.display());
        return Err(bad_input(text));
    }
    fs::create_dir_all(project.join("src")).map_err(cannot(project))?;
    for (file, contents) in [
        ("Cargo.toml", manifest(name, source).as_str()),
        ("src/main.rs", PROGRAM),
        (".gitignore", IGNORED),
    ] {
        let path = project.join(file);
        fs::write(&path, contents).map_err(cannot(&path))?;
    }
    Ok(())
}

/// The name of the package in a directory.
fn name(project: &Path) -> Result<&str, Error> {
    let name = project.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !first || !rest {
        return Err(bad_input(format!(
            "`{}` is not a package name: it must start with a letter and have only letters, \
             digits, `-` and `_`",
            if name.is_empty() { project.display().to_string() } else { name.to_owned() }
        )));
    }
    if RESERVED.split(' ').any(|word| word == name.replace('_', "-")) {
        return Err(bad_input(format!("a package cannot have the name `{name}`; choose another")));
    }
    Ok(name)
}

/// The checkout of genxml in `directory`, as a full path.
fn checkout(directory: &Path) -> Result<PathBuf, Error> {
    let missing = |reason: &str| {
        bad_input(format!(
            "{} {reason}; name a checkout of genxml with --path, or a repository with --git",
            directory.display()
        ))
    };
    let full = fs::canonicalize(directory).map_err(|_| missing("does not exist"))?;
    let complete = ["runtime", "sim"].iter().all(|dir| full.join(dir).join("Cargo.toml").is_file());
    if complete { Ok(full) } else { Err(missing("is not a checkout of genxml")) }
}

/// The path from directory `from` to `to`, both full. `to` if they have no common start.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let named = |component: &Component<'_>| matches!(component, Component::Normal(_));
    if !to.components().take(common).any(|component| named(&component)) {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let name = name(&args.project)?;
    let source = match (&args.git, &args.path) {
        (Some(url), _) => Source::Git(url.clone()),
        (None, path) => {
            let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            let to = checkout(path.as_deref().unwrap_or(&built_from))?;
            // The project does not exist yet, so its parent is made full.
            let parent = args.project.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            let from = fs::create_dir_all(parent).and_then(|()| fs::canonicalize(parent));
            let from = from.map_err(|error| {
                bad_input(format!("cannot write {}: {error}", parent.display()))
            })?;
            Source::Path(relative(&from.join(name), &to))
        }
    };
    write(&args.project, name, &source)?;
    let project = args.project.display();
    stdout(|out| {
        writeln!(out, "wrote {project}: Cargo.toml, src/main.rs, .gitignore")?;
        writeln!(out)?;
        writeln!(out, "  cd {project}")?;
        writeln!(out, "  cargo run     # builds the model, about a minute; runs src/main.rs")?;
        writeln!(out, "  cargo test")
    })?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the meaning of `..`, by hand.
    #[test]
    fn relative_paths() {
        let of = |from, to| relative(Path::new(from), Path::new(to));
        assert_eq!(of("/home/u/first", "/home/u/genxml"), Path::new("../genxml"));
        assert_eq!(of("/home/u/genxml/a/b", "/home/u/genxml"), Path::new("../.."));
        assert_eq!(of("/home/u/a", "/home/u/a/genxml"), Path::new("genxml"));
        assert_eq!(of("/tmp/first", "/home/u/genxml"), Path::new("/home/u/genxml"));
    }

    /// Oracle: TOML's rules for basic strings.
    #[test]
    fn sources_are_strings_of_toml() {
        let path = manifest("first", &Source::Path("/a \"b\"".into()));
        assert!(path.contains(r#"genxml = { path = "/a \"b\"/runtime", default"#), "{path}");
        assert!(path.contains(r#"genxml-sim = { path = "/a \"b\"/sim", default"#), "{path}");
        let git = manifest("first", &Source::Git("https://example.com/x\n".into()));
        assert_eq!(git.matches(r#"{ git = "https://example.com/x\u000A", default"#).count(), 2);
    }

    #[test]
    fn names() {
        for good in ["first", "a/b/my-batch_2", "./x"] {
            assert!(name(Path::new(good)).is_ok(), "{good}");
        }
        for bad in ["", "..", "2d", "-x", "a b", "größe", "fn", "test", "genxml", "genxml_sim"] {
            let error = name(Path::new(bad)).unwrap_err();
            assert_eq!(error.exit, Exit::BadInput, "{bad}");
        }
    }
}
