//! Lines that only dumps of a hang have, for readers of pasted text.

use super::parse;
use super::spelling::{self, ENGINE, ENTRIES, GLOBAL, HEADER, PROCESSES};

/// Starts of lines without indentation, apart from those in the tables of the spellings.
const STARTS: [&str; 14] = [
    "Snapshot time: ",
    "**** ",
    PROCESSES,
    "GTIER gt ",
    "Active [",
    "Active (",
    "Pinned [",
    "Pinned (",
    "Semaphore page = ",
    "global --- ",
    "GuC ID: ",
    "module: xe",
    "No error state collected",
    "stuck on ",
];

/// True for a line that error states and device coredumps print without indentation, and that
/// other texts do not have.
pub(crate) fn is_mark(line: &str) -> bool {
    if STARTS.iter().any(|start| line.starts_with(start)) || line.ends_with(" command stream:") {
        return true;
    }
    if let Some((_, what)) = line.split_once(" --- ") {
        let counted = what.ends_with(" requests") || what.ends_with(" waiters");
        return counted || what.contains(" = 0x");
    }
    if line.starts_with('[') {
        let piece = [".length: 0x", "].data: ", "].error: -", "].properties: "];
        return piece.iter().any(|piece| line.contains(piece));
    }
    let Some((key, value)) = line.split_once(':') else { return false };
    HEADER.iter().any(|(known, ..)| *known == key) && value.starts_with(' ')
        || spelling::knows(GLOBAL, key) && value.trim_start().starts_with("0x")
}

/// True for a mark that only device coredumps have.
pub(crate) fn is_of_coredump(line: &str) -> bool {
    ["**** ", "GuC ID: ", "module: xe", "["].iter().any(|start| line.starts_with(start))
        && is_mark(line)
}

/// Keys of device coredumps that error states do not have.
const XE_KEYS: [&str; 9] =
    ["Reason", "kernel", "module", "Uptime", "Process", "PCI revision", "GT id", "Tile", "Type"];

/// True for a line that is not the continuation of another line. Indentation is ignored.
pub(crate) fn is_start(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with("context timeline seqno") {
        return true;
    }
    if is_mark(line) || line.starts_with("fence[") || line.starts_with("vm[") {
        return true;
    }
    if let Some((key, value)) = line.split_once(':') {
        let value = value.trim_start();
        let name = key.trim_end().split('[').next().unwrap_or(key);
        let known = spelling::knows(ENGINE, name)
            || ENTRIES.iter().any(|(known, ..)| *known == name)
            || XE_KEYS.contains(&name)
            || matches!(name, "ELSP" | "RegListType" | "NumRegs" | "Coverage" | "GuC");
        let one_word = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.>".contains(&byte));
        let number = value.starts_with("0x") || matches!(value, "yes" | "no");
        // A line of memory: `OFFSET :  VALUE`.
        let row = key.len() == 9 && parse::hex(key).is_some_and(|(_, rest)| rest == " ");
        if known || one_word && number || row {
            return true;
        }
    }
    // A line of a list: address and size. A line of memory: `[0010] 00000000`. A request.
    let list = parse::halves(line).is_some_and(|(_, rest)| {
        let address = line.len() - rest.len();
        let size = rest.trim_start().split(' ').next().unwrap_or_default();
        address >= 8 && rest.starts_with(' ') && size.parse::<u64>().is_ok()
    });
    let memory = line.strip_prefix('[').and_then(parse::hex);
    let request = line.starts_with("pid ") || line.starts_with("seqno 0x");
    list || request || memory.is_some_and(|(_, rest)| rest.starts_with("] "))
}

/// True for a line of an error state that is longer than 72 characters in some dumps.
pub(crate) fn may_be_long(line: &str) -> bool {
    const LONG: [&str; 16] = [
        "GPU HANG:",
        PROCESSES,
        "Active context:",
        "ELSP[",
        "pid ",
        "seqno ",
        "GuC ",
        "Reason:",
        "Driver:",
        "Process:",
        "Kernel:",
        "Capture:",
        "batch:",
        "CS timestamp",
        "[drm",
        "i915 ",
    ];
    let line = line.trim_start();
    let list = parse::halves(line).is_some_and(|(_, rest)| rest.starts_with(' '));
    list || LONG.iter().any(|start| line.starts_with(start))
        || line.contains(" (submitted by ")
        || line.contains("].properties:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_starts_and_continuations() {
        for line in [
            "GPU HANG: ecode 9:0:0x85ddfffb, in a [1]",
            "PCI ID: 0x1616",
            "EIR: 0x00000000",
            "render command stream:",
            "rcs0 --- gtt_offset = 0x00000000 01234000",
            "render ring --- 23 requests",
            "**** Job ****",
            "[effefffe0000].length: 0x48",
        ] {
            assert!(is_mark(line) && is_start(line), "{line}");
        }
        for line in [
            "  HEAD:  0x062058cc [0x00005870]",
            "00000010 :  00000002",
            "[0010] 00000000 00000000",
            "  02540000     4096 0050 0000 000c9559 dirty",
            "  seqno 0x000c9559, emitted 4297777194, tail 0x0001e9b8",
            "  waiting: yes",
            "RING_HEAD: 0x00000040",
        ] {
            assert!(is_start(line) && !is_mark(line), "{line}");
        }
        for line in [
            "reason: Hang on rcs0, action: reset",
            "reset",
            "0, action: reset",
            "uncached (name: 8) (fence: 3)",
            "ns, avg 0ns",
            "seqno 5:0000001f, prio 0",
        ] {
            assert!(!is_start(line), "{line}");
        }
    }
}
