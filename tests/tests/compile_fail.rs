//! Mistakes that the compiler finds, with its messages, and programs that it accepts.
//!
//! The compiler must refuse each file of `tests/compile/compile-fail` with the messages of the
//! `.stderr` file beside it, and `cargo check` must be enough for that. The compiler must accept
//! each file of `compile-pass`, and the program must succeed. After an intended
//! change, run `GENXML_BLESS=1 cargo test -p genxml-tests compile_fail` and read the difference.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Path of the programs from the root of the workspace. The compiler runs in that root, so that it
/// finds the sources of the library and names its files.
const FOLDER: &str = "tests/compile/";

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The files of a folder that end in `.rs`, sorted. The names start with [`FOLDER`].
fn sources(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(FOLDER).join(folder);
    let entries = std::fs::read_dir(workspace().join(&folder)).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| folder.join(entry.unwrap().file_name()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    files
}

/// Maximum number of types that are compared in a list of the types that implement a trait. The
/// rest of the list changes with each new packet.
const LISTED: usize = 1;

/// Compiles a program to a file, or only checks it. `kind` is the value of `--emit`. With `metadata`,
/// the compiler only checks. `cargo check` uses `metadata`, and editors run `cargo check`. In this
/// mode, the compiler does not evaluate `const` blocks in expressions.
fn compile(source: &Path, kind: &str, file: &Path) -> Output {
    let arguments: &[&str] = genxml_compile::compiler!();
    let mut rustc = Command::new(arguments[0]);
    rustc.args(&arguments[1..]).args(["--edition=2024", "--crate-name=case", "--color=never"]);
    // Types in messages are written in full.
    rustc.args(["--verbose", "-C", "debuginfo=0"]).arg("-o").arg(file);
    rustc.arg(format!("--emit={kind}")).arg(source).current_dir(workspace()).output().unwrap()
}

/// Runs the function for each source, on as many threads as the host has cores. Returns the texts
/// of all calls, joined.
fn of_each(sources: &[PathBuf], run: impl Fn(&Path) -> String + Sync) -> String {
    let queue = Mutex::new(sources.iter());
    let found = Mutex::new(String::new());
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(source) = queue.lock().unwrap().next() else { break };
                    let text = run(source);
                    found.lock().unwrap().push_str(&text);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// The messages without what depends on the machine or on lines of the library. Positions in files
/// of other crates are `$WORKSPACE/FILE` or `$OUT_DIR[CRATE]/FILE`, without a line. Lists of types
/// end after [`LISTED`] of them. Warnings and the count of errors are left out. Types of Gen8 have
/// their names without path: the compiler leaves out the path only if no other generation, which a
/// feature enables, has a type of this name.
fn normal(messages: &str) -> String {
    let mut blocks = Vec::new();
    for block in messages.split("\n\n") {
        let block = block.trim_matches('\n');
        let left_out =
            ["error: aborting due to", "For more information", "Some errors have", "warning"];
        if !block.is_empty() && !left_out.iter().any(|start| block.starts_with(start)) {
            blocks.push(normal_block(block));
        }
    }
    blocks.join("\n\n") + "\n"
}

/// Does the same as [`normal`] for one message, or for the note of a message that follows an empty
/// line.
fn normal_block(block: &str) -> String {
    let mut lines = Vec::new();
    // Whether the lines of code are those of another crate, the column of the arrows, and the
    // number of digits that the line numbers of the case need.
    let (mut other_crate, mut column, mut digits) = (false, 0, 1);
    // Whether the line continues the title of a message, help or note.
    let mut title = true;
    let mut listed = 0;
    for line in block.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let is_code = text.starts_with(|first: char| first.is_ascii_digit());
        let short = if is_code { line.to_owned() } else { without_paths(line) };
        let (line, text) = (&short[..], short[indent..].trim_start());
        let gutter = line.split_once(" |").map(|(number, code)| (number.trim(), code));
        let gutter = gutter.filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let place = text.strip_prefix("--> ").or_else(|| text.strip_prefix("::: "));
        title = indent == 0 || title && gutter.is_none() && place.is_none();
        listed = if text.contains("` implements `") { listed + 1 } else { 0 };
        let line = if let Some(place) = place {
            column = indent;
            let own = place.strip_prefix(FOLDER);
            other_crate = own.is_none();
            let place = own.map_or_else(|| place_of(place), str::to_owned);
            format!("{:indent$}{}{place}", "", &text[..4])
        } else if let Some((number, code)) = gutter {
            title = false;
            if other_crate {
                format!("{:column$} |{code}", "")
            } else {
                digits = digits.max(number.len());
                line.to_owned()
            }
        } else {
            // Lines of code that follow a help or note without a place are those of the case.
            other_crate &= indent > 0 || text == "...";
            match listed {
                0..=LISTED => line.to_owned(),
                _ if listed == LISTED + 1 => format!("{:indent$}and others", ""),
                _ => continue,
            }
        };
        lines.push((line, title));
    }
    // A larger line number of another crate moves all but the titles to the right.
    let moved = " ".repeat(column.saturating_sub(digits));
    let back = lines.iter().map(|(line, title)| match line.strip_prefix(&moved) {
        Some(line) if !title => line,
        _ => line.as_str(),
    });
    back.collect::<Vec<&str>>().join("\n")
}

/// The text without the paths of types of Gen8.
fn without_paths(text: &str) -> String {
    const GEN8: &str = "genxml::gen8::";
    let mut parts = text.split(GEN8);
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("::") {
            Some((module, rest))
                if module.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
            {
                short.push_str(rest);
            }
            _ => short.extend([GEN8, part]),
        }
    }
    short
}

/// A position in a file of another crate: without line and column.
fn place_of(place: &str) -> String {
    let file = place.rsplitn(3, ':').nth(2).unwrap_or(place);
    let Some((folder, name)) = file.split_once("/out/") else {
        return format!("$WORKSPACE/{file}");
    };
    let package = folder.rsplit('/').next().unwrap_or(folder);
    let package = package.rsplit_once('-').map_or(package, |(package, _)| package);
    format!("$OUT_DIR[{package}]/{name}")
}

#[test]
fn mistakes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bless = std::env::var_os("GENXML_BLESS").is_some();
    let wrong = of_each(&sources("compile-fail"), |source| {
        let output = compile(source, "metadata", &folder.path().join(source.file_stem().unwrap()));
        if output.status.success() {
            return format!("{}: the compiler accepts it\n\n", source.display());
        }
        let messages = normal(&String::from_utf8_lossy(&output.stderr));
        let file = workspace().join(source).with_extension("stderr");
        if bless {
            std::fs::write(file, messages).unwrap();
            return String::new();
        }
        let expected = std::fs::read_to_string(file).unwrap_or_default();
        if messages == expected {
            return String::new();
        }
        format!(
            "{}: other messages than expected\n--- expected\n{expected}--- found\n{messages}\n",
            source.display()
        )
    });
    assert!(wrong.is_empty(), "{wrong}`GENXML_BLESS=1` accepts the messages");
}

#[test]
fn what_is_right_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = of_each(&sources("compile-pass"), |source| {
        let program = folder.path().join(source.file_stem().unwrap());
        let output = compile(source, "link", &program);
        if !output.status.success() {
            return format!("{}: {}\n", source.display(), String::from_utf8_lossy(&output.stderr));
        }
        let output = Command::new(&program).output().unwrap();
        if output.status.success() {
            return String::new();
        }
        format!(
            "{}: {}: {}\n",
            source.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
    });
    assert!(wrong.is_empty(), "{wrong}");
}
