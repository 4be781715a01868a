//! The project that `genx new` writes, built as a user builds it: outside of the workspace, in the
//! profile `dev`.

use genx::new::{self, Source};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The build of a user without the lines for the model in the profile: the model is not optimised.
/// This also makes the test cheap.
const UNOPTIMISED: [&str; 3] = ["opt-level=0", "debug-assertions=true", "overflow-checks=true"];

/// The project, in the target folder of the workspace. It stays, so that the next run of the test
/// builds only what changed.
struct Project {
    folder: PathBuf,
    target: PathBuf,
}

impl Project {
    fn new() -> Project {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests").join("starter");
        let project = Project { folder: root.join("first"), target: root.join("target") };
        if project.folder.exists() {
            fs::remove_dir_all(&project.folder).unwrap();
        }
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let source = Source::Path(fs::canonicalize(&workspace).unwrap());
        new::write(&project.folder, "first", &source).unwrap();
        // Use the versions of the workspace, so that nothing is downloaded.
        fs::copy(workspace.join("Cargo.lock"), project.folder.join("Cargo.lock")).unwrap();
        project
    }

    /// Adds a second program: `src/main.rs` with some texts replaced.
    fn add(&self, name: &str, changes: &[(&str, &str)]) {
        let mut program = fs::read_to_string(self.folder.join("src/main.rs")).unwrap();
        for (from, to) in changes {
            assert!(program.contains(from), "{from}");
            program = program.replace(from, to);
        }
        let folder = self.folder.join("src/bin");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name).with_extension("rs"), program).unwrap();
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).args(["--offline", "--quiet", "--color=never", "--target-dir"]);
        cargo.arg(&self.target).current_dir(&self.folder);
        // Lines in panics are not needed.
        cargo.args(["--config", "profile.dev.debug=false"]);
        for setting in UNOPTIMISED {
            cargo.arg("--config").arg(format!("profile.dev.package.genxml-sim.{setting}"));
        }
        cargo.output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Seconds of processor time of the program that prints them: of /proc/self/stat (proc(5)), in
/// hundredths.
const PRINT_SECONDS: &str = r#"
    if let Ok(stat) = std::fs::read_to_string("/proc/self/stat") {
        let ticks = stat.rsplit(')').next().and_then(|rest| rest.split(' ').nth(12));
        println!("{}", ticks.unwrap_or_default());
    }
"#;

/// Oracle: the squares are computed in the program; the time is that of the operating system.
#[test]
fn the_project_runs_and_its_endless_kernel_ends() {
    let project = Project::new();
    let result = "64 squares, computed by 8 threads: 0 to 3969\n";
    let output = project.cargo(&["run"]);
    assert_eq!((text(&output.stdout), text(&output.stderr)), (result.into(), String::new()));

    let artifacts = text(&project.cargo(&["build", "--message-format=json"]).stdout);
    let count = artifacts.matches("libgenxml_eu-").count() / 2; // .rlib and .rmeta
    assert_eq!(count, 1, "the macro and the program must share genxml-eu");

    project.add(
        "endless",
        &[
            ("    add (8|M0)  ", "again:\n    add (8|M0)  "),
            ("    // Write r11", "    (W) jmpi again\n    // Write r11"),
            (
                "    match squares() {",
                &format!("    let result = squares();{PRINT_SECONDS}    match result {{"),
            ),
        ],
    );
    let output = project.cargo(&["run", "--bin", "endless"]);
    let error = text(&output.stderr);
    assert!(error.contains("GPGPU_WALKER") && error.contains("the watchdog ended it"), "{error}");
    let hundredths: Option<u32> = text(&output.stdout).trim().parse().ok();
    assert!(hundredths.is_none_or(|time| time < 1000), "{hundredths:?} hundredths of a second");
    assert_eq!(hundredths.is_some(), cfg!(target_os = "linux"));
}
