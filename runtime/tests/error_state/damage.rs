//! Files that are truncated, damaged or not error states.

use crate::error_state::spellings::{linux_3_10, linux_6_1, read};
use genxml::error_state::{ErrorState, MAX_TEXT, Spelling, write};
use genxml_testkit::Random;

/// Every truncated file is read, and a truncated part is reported.
#[test]
fn cuts_are_told() {
    let small = |text: String| -> String {
        // Keep 16 dwords of each buffer instead of a page.
        let keep = |line: &&str| !line.contains(" :  ") || *line < "00000040";
        text.lines().filter(keep).flat_map(|line| [line, "\n"]).collect()
    };
    for text in [linux_6_1(), small(linux_3_10())] {
        let whole = read(&text).without_lines();
        for cut in 0..text.len() {
            let state = ErrorState::read(&text.as_bytes()[..cut]);
            let told = !state.notes.is_empty();
            let at_line_end = cut == 0 || text.as_bytes()[cut - 1] == b'\n';
            let rest_is_end = text.as_bytes()[cut..] == *b"\n";
            assert!(
                told || at_line_end || rest_is_end,
                "cut at byte {cut} and not reported: {:?}",
                &text[..cut]
            );
            assert!(state.buffers.len() <= whole.buffers.len());
        }
    }
}

#[test]
fn announced_things_that_are_missing_are_told() {
    let note = |text: &str| read(text).notes.first().map(ToString::to_string).unwrap_or_default();
    assert_eq!(
        note("rcs0 --- batch = 0x00000000 00001000\n"),
        "line 1: the batch has no memory in the file"
    );
    assert_eq!(
        note("Active [3]:\n  00001000 4096 00\n"),
        "line 2: the list Active lacks 2 buffers"
    );
    assert_eq!(note("rcs0 --- 2 requests\n"), "line 1: 2 requests of rcs0 are missing");
    assert_eq!(note(":zzzz\n"), "line 1: memory that no line announces: skipped");
    let gap =
        "render ring --- gtt_offset = 0x00001000\n00000000 :  00000001\n00000010 :  00000002\n";
    assert_eq!(note(gap), "line 3: 12 bytes of the buffer are missing before this line");
    assert_eq!(read(gap).buffers[0].data.len(), 0x14);
    assert_eq!(note("No error state collected\n"), "line 1: the driver had no error state");
    assert_eq!(note("hello\n"), "line 1: the file speaks of no engine and no memory");
    assert_eq!(note(""), "line 0: the file speaks of no engine and no memory");
    assert_eq!(
        note("rcs0 command stream:\n  ACTHD: yes\n"),
        "line 2: the register ACTHD has no number"
    );
}

/// Numbers in a file must not cause large allocations.
#[test]
fn numbers_ask_for_no_memory() {
    let state = read(
        "rcs0 --- batch = 0x00000000 00001000\nfffffff0 :  00000001\n[fffffffc] 1 2 3 4\nffffffff :  1\n",
    );
    assert!(state.buffers[0].data.is_empty());
    let state = read("Active [99999999999]:\nrcs0 --- 99999999999 requests\n");
    assert_eq!(state.lists[0].rows.len(), 0);
    // The amount of text is limited too.
    let line = format!("  a: {}\n", "b".repeat(4000));
    let text = format!("rcs0 command stream:\n{}", line.repeat(MAX_TEXT / line.len() + 1));
    let state = read(&text);
    assert!(state.engines[0].entries.len() < MAX_TEXT / 64);
    assert!(state.notes[0].text.contains("bytes of text"));
}

/// Random damage never causes a panic, nor more memory than the file can hold.
#[test]
fn random_damage_is_read() {
    let texts: Vec<Vec<u8>> = [linux_3_10(), linux_6_1()].map(String::into_bytes).into();
    let mut random = Random::new(1);
    for round in 0..1000 {
        let mut text = texts[round % 2].clone();
        if round % 2 == 0 {
            text.truncate(4000);
        }
        for _ in 0..=random.below(8) {
            let at = random.index(text.len());
            match random.below(3) {
                0 => text[at] = random.bits() as u8,
                1 => drop(text.drain(at..(at + random.index(40)).min(text.len()))),
                _ => {
                    let from = random.index(text.len());
                    let piece = text[from..(from + 30).min(text.len())].to_vec();
                    text.splice(at..at, piece);
                }
            }
        }
        let state = ErrorState::read(&text[..]);
        assert!(state.buffers.iter().map(|buffer| buffer.data.len()).sum::<usize>() < 64 << 20);
        state.submissions(&mut |_| Ok(())).unwrap();
        write(&state, Spelling::ALL[round % 8], &mut std::io::sink()).unwrap();
    }
}
