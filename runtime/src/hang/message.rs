//! The engine that the driver's message names:
//! `GPU HANG: ecode 9:0:0x85ddfffb, in NAME [PID], reason: Hang on rcs0`.
//!
//! Source: Linux `drivers/gpu/drm/i915/i915_gpu_error.c`, 3.14 to 6.12 (`error_msg`).

use super::Hang;
use crate::error_state::{ErrorState, Process};

/// Engines by their number in Linux 3.14 to 5.1.
const BY_NUMBER: [&str; 5] = ["rcs0", "vcs0", "bcs0", "vecs0", "vcs1"];

/// Engines by the number of their class, which is a bit of the message from Linux 5.7 on.
const BY_CLASS: [&str; 5] = ["rcs0", "bcs0", "vcs0", "vecs0", "ccs0"];

/// The engine that the message names in words: `reason: Hang on rcs0`, `stuck on render ring`,
/// `Resetting rcs0 for preemption time out`.
pub(super) fn engine_of(state: &ErrorState) -> Option<String> {
    let header = state.header.iter().map(|entry| entry.value.as_str());
    let other = state.other.iter().map(|line| line.text.as_str());
    header.chain(other).find_map(named)
}

fn named(line: &str) -> Option<String> {
    if let Some((_, ring)) = line.split_once("stuck on ") {
        let name = ErrorState::engine_name(ring.trim());
        return is_engine(name).then(|| name.to_owned());
    }
    ["Hang on ", "hang on ", "stopped heartbeat on ", "heartbeat ", "Resetting "].iter().find_map(
        |words| {
            let (_, rest) = line.split_once(words)?;
            let name = rest.split([' ', ',', ';']).next()?;
            is_engine(name).then(|| name.to_owned())
        },
    )
}

/// True for a name such as `vcs1`.
fn is_engine(name: &str) -> bool {
    let class = name.trim_end_matches(|c: char| c.is_ascii_digit());
    class != name && matches!(class, "rcs" | "ccs" | "bcs" | "vcs" | "vecs")
}

/// The hang that the message describes, for a file without engines.
pub(super) fn culprit(state: &ErrorState) -> Option<Hang> {
    let message = state.entry("GPU HANG")?;
    let engine = engine_of(state).or_else(|| of_code(message))?;
    let process = message.split_once(", in ").and_then(|(_, rest)| process_of(rest));
    Some(Hang {
        engine,
        because: vec!["the driver's message; the file has no registers".to_owned()],
        process,
        ..Hang::default()
    })
}

/// The parts of `ecode GENERATION:ENGINE:HASH`.
fn code(message: &str) -> Option<impl Iterator<Item = &str>> {
    Some(message.split_once("ecode ")?.1.split([',', ' ']).next()?.split(':'))
}

/// The generation of the GPU in the driver's message, times ten. `None` without a message, or if it
/// has no generation.
pub fn generation(state: &ErrorState) -> Option<u32> {
    let number: u32 = code(state.entry("GPU HANG")?)?.next()?.parse().ok()?;
    number.checked_mul(10)
}

/// The engine in `ecode GENERATION:ENGINE:HASH`. Where the hash begins with `0x`, the engine is a
/// number, otherwise a mask of classes.
fn of_code(message: &str) -> Option<String> {
    let mut parts = code(message)?.skip(1);
    let (engine, hash) = (parts.next()?, parts.next()?);
    let name = match hash.starts_with("0x") {
        true => BY_NUMBER.get(engine.parse::<usize>().ok()?)?,
        false => {
            let mask = u32::from_str_radix(engine, 16).ok().filter(|mask| *mask != 0)?;
            BY_CLASS.get(mask.trailing_zeros() as usize)?
        }
    };
    Some((*name).to_owned())
}

fn process_of(text: &str) -> Option<Process> {
    let (name, rest) = text.split_once(" [")?;
    let pid = rest.split_once(']')?.0.parse().ok()?;
    Some(Process { name: name.to_owned(), pid, ..Process::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: messages of kernels, and the engine that other lines of the same logs name.
    #[test]
    fn messages_name_engines() {
        for (text, engine, process) in [
            (
                "GPU HANG: ecode 9:0:0x85ddfffb, in luxmark.bin [4310], reason: Hang on rcs0\n",
                "rcs0",
                "luxmark.bin",
            ),
            ("stuck on render ring\nGPU HANG: ecode 8:0:0x7f5f7f7f, in ba [916]\n", "rcs0", "ba"),
            // `Resetting vcs0 for CS error` belongs to this message.
            (
                "GPU HANG: ecode 11:4:50141414, in videotestsrc0:s [1920]\n",
                "vcs0",
                "videotestsrc0:s",
            ),
            (
                "GPU HANG: ecode 12:1:0020fffe, in xdg-desktop-por [1676]\n",
                "rcs0",
                "xdg-desktop-por",
            ),
            ("GPU HANG: ecode 7:1:0xfffffffe, in vlc [7], reason: Ring hung\n", "vcs0", "vlc"),
        ] {
            let hang = culprit(&ErrorState::read(text.as_bytes())).expect(text);
            assert_eq!(hang.engine, engine, "{text}");
            assert_eq!(hang.process.unwrap().name, process);
        }
        assert_eq!(culprit(&ErrorState::read(&b"GPU HANG: ecode 8:7:0x1\n"[..])), None);
    }
}
