//! The runner of conformance suites, `tests/live/conformance`. Its self-test needs no suite and no
//! driver.

use std::path::Path;
use std::process::Command;

/// Oracle: the names of the fake cases, for example `crash_1`
/// (tests/live/conformance_lib/selftest.py).
#[test]
fn runner_of_conformance_suites() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("live/conformance");
    let output = match Command::new("python3").arg(&program).arg("self-test").output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: the runner of conformance suites needs python3: {error}");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} self-test: {}\n{text}", program.display(), output.status);
    assert!(text.contains("\nOK\n"), "{text}");
}
