//! Captures and statistics of processes that run, and of processes that end in any way.

use crate::client::{compute, open};
use crate::process::{check, child, command};
use genxml::capture::Capture;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Output;

unsafe extern "C" {
    fn _Exit(status: libc::c_int) -> !;
    fn quick_exit(status: libc::c_int) -> !;
}

/// Runs the test `name` as a child with the library. Its capture goes to `directory`. Returns its
/// exit status and standard error.
fn captured(name: &str, directory: &Path, way: &str) -> Output {
    let mut command = command(name, way);
    command.env("GENX_SHIM_STATS", "1").env("GENX_SHIM_CAPTURE", directory).output().unwrap()
}

/// The number of submissions in the only capture in `directory`; `None` while there is no capture.
fn submissions(directory: &Path) -> Option<usize> {
    let inside = std::fs::read_dir(directory).ok()?.next()?.unwrap().path();
    inside.join("manifest.json").is_file().then(|| Capture::open(inside).unwrap().execs().count())
}

/// The signal of this name that a process of the test [`ends`] sends to itself; `None` for another
/// way to end.
fn signal_of(way: &str) -> Option<libc::c_int> {
    match way {
        "TERM" => Some(libc::SIGTERM),
        "INT" => Some(libc::SIGINT),
        "KILL" => Some(libc::SIGKILL),
        "ABRT" => Some(libc::SIGABRT),
        "HUP" => Some(libc::SIGHUP),
        _ => None,
    }
}

/// However a process ends, the directory has a capture that can be read. Except after SIGKILL, the
/// capture has all submissions, and the statistics are printed once.
#[test]
fn ends() {
    if let Some(way) = child() {
        let file = open();
        (5..=7).for_each(|value| compute(&file, value));
        // SAFETY: the process ends, and its other threads do not use anything of this one.
        unsafe {
            match &way[..] {
                "_exit" => libc::_exit(3),
                "_Exit" => _Exit(3),
                "quick_exit" => quick_exit(3),
                "vfork" => {
                    // The child has the memory of the parent, and ends at once.
                    #[allow(deprecated, reason = "this tests vfork")]
                    if libc::vfork() == 0 {
                        libc::_exit(0);
                    }
                    libc::exit(3)
                }
                way => libc::raise(signal_of(way).unwrap()),
            };
        }
        unreachable!("the process has ended");
    }
    for way in ["_exit", "_Exit", "quick_exit", "vfork", "TERM", "INT", "KILL", "ABRT", "HUP"] {
        let directory = std::env::temp_dir().join(format!("genx-ends-{}", std::process::id()));
        if let Some(signal) = signal_of(way) {
            // Shells start programs in the background with some signals ignored, and children
            // inherit that. For SIGKILL the call fails, and has no effect.
            // SAFETY: no handler is installed.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        let output = captured("captures::ends", &directory, way);
        let text = String::from_utf8(output.stderr).unwrap();
        let found = submissions(&directory);
        std::fs::remove_dir_all(&directory).unwrap();
        if way == "KILL" {
            assert!((1..=3).contains(&found.unwrap()), "{way}: {text}");
        } else {
            assert_eq!(found, Some(3), "{way}: {text}");
            assert_eq!(text.matches(": 3 submissions in ").count(), 1, "{way}: {text}");
        }
        let signal = signal_of(way);
        let code = if signal.is_none() { Some(3) } else { None };
        assert_eq!((output.status.code(), output.status.signal()), (code, signal), "{way}: {text}");
    }
}

/// A capture is complete soon after the last submission, while the process still runs.
#[test]
fn captures_of_running_processes() {
    if child().is_some() {
        let file = open();
        (1..=20).for_each(|value| compute(&file, value));
        let directory = PathBuf::from(std::env::var_os("GENX_SHIM_CAPTURE").unwrap());
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while submissions(&directory) != Some(20) {
            assert!(std::time::Instant::now() < end, "{:?}", submissions(&directory));
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        return;
    }
    let directory = std::env::temp_dir().join(format!("genx-running-{}", std::process::id()));
    let name = "captures::captures_of_running_processes";
    let output = captured(name, &directory, "1");
    std::fs::remove_dir_all(&directory).unwrap();
    check(name, &output);
}
