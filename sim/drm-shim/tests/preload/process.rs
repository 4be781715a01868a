//! Child processes with the library.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Environment variable that is set in the child.
const CHILD: &str = "GENX_SHIM_TEST_CHILD";

/// The value that [`command`] has given to this process; `None` in the process that starts it.
pub fn child() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// The library, which Cargo builds into the directory of the test or its parent.
fn library() -> PathBuf {
    let directory = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let name = "libgenxml_drm_shim.so";
    let candidates = [directory.join(name), directory.parent().unwrap().join(name)];
    candidates.into_iter().find(|path| path.is_file()).expect("Cargo has not built the library")
}

/// A command that runs the test `name` as a child with the library. In the child, [`child`] returns
/// `value`.
pub fn command(name: &str, value: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([name, "--exact", "--nocapture"])
        .env("LD_PRELOAD", library())
        .env("GENX_SHIM_THREADS", "1")
        .env(CHILD, value);
    command
}

/// Checks that the test of a child has run and passed.
pub fn check(name: &str, output: &Output) {
    let [text, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    // The child also succeeds if no test has this name.
    let passed = output.status.success() && text.contains("test result: ok. 1 passed");
    assert!(passed, "{name}: {}\n{text}{errors}", output.status);
}

/// Runs `program`, the body of the test `name`, in child processes with the library: one without
/// and one with GENX_SHIM_ASYNC.
pub fn preloaded(name: &str, program: impl FnOnce()) {
    if child().is_some() {
        program();
        return;
    }
    for asynchronous in ["0", "1"] {
        let output = command(name, "1").env("GENX_SHIM_ASYNC", asynchronous).output().unwrap();
        check(name, &output);
    }
}

/// A forked process.
#[must_use]
pub struct Fork(libc::pid_t);

/// Forks a process that runs `program` and ends.
pub fn fork(program: impl FnOnce()) -> Fork {
    // SAFETY: of the locks that other threads may hold, the child uses only those of the library,
    // which takes them before the fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // Without this, the test's thread would end, and with it the process, with status 0.
        let result = std::panic::catch_unwind(AssertUnwindSafe(program));
        // SAFETY: _exit ends the child and touches nothing else.
        unsafe { libc::_exit(result.is_err().into()) };
    }
    Fork(child)
}

impl Fork {
    /// Waits until the process has ended, and checks that it did not panic.
    pub fn join(self) {
        let mut status = 0;
        // SAFETY: `status` can be written until the call returns.
        assert_eq!(unsafe { libc::waitpid(self.0, &mut status, 0) }, self.0);
        assert_eq!(status, 0);
    }
}
