//! Damages, each applied to every dump.

use super::{corpus, corpus_text, decoded, notes, open, own};
use genxml::decode::Tables;

/// Cuts lines at exactly `width` columns, as a terminal does.
fn fold(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let pieces = line.as_bytes().chunks(width).map(|it| std::str::from_utf8(it).unwrap());
        let pieces: Vec<&str> = pieces.collect();
        out.push_str(&pieces.join("\n"));
        out.push('\n');
    }
    out
}

/// Breaks lines between words, and inside words that are longer than a line.
fn fill(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.len() <= width {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let mut current = line[..indent].to_owned();
        let mut first = true;
        for word in line.trim_start().split(' ') {
            let mut word = word;
            let space = usize::from(!first);
            first = false;
            if current.len() + space + word.len() <= width {
                current.push_str(&" "[..space]);
            } else if word.len() > width && current.len() + space < width {
                current.push_str(&" "[..space]);
                while current.len() + word.len() > width {
                    let (head, tail) = word.split_at(width - current.len());
                    out.push_str(&current);
                    out.push_str(head);
                    out.push('\n');
                    current.clear();
                    word = tail;
                }
            } else {
                out.push_str(current.trim_end());
                out.push('\n');
                current.clear();
            }
            current.push_str(word);
        }
        out.push_str(&current);
        out.push('\n');
    }
    out
}

/// Puts a text before every line.
fn before(text: &str, prefix: impl Fn(usize) -> String) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(index, line)| format!("{}{line}\n", prefix(index))).collect()
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn quoted_printable(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.replace('=', "=3D");
        let mut rest = line.as_str();
        while rest.len() > 75 {
            let mut at = 75;
            // An escape is not divided.
            while rest[..at].ends_with('=') || rest[..at].ends_with("=3") {
                at -= 1;
            }
            out.push_str(&rest[..at]);
            out.push_str("=\n");
            rest = &rest[at..];
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

type Damage = (&'static str, fn(&str) -> Vec<u8>);

/// The damages: a name, which is a part of the message about the repair, and the damage.
const DAMAGES: &[Damage] = &[
    ("quoted with '> '", |text| before(text, |_| "> ".into()).into()),
    ("quoted with '> '", |text| before(text, |_| "> > ".into()).into()),
    ("quoted with '>'", |text| before(text, |_| ">".into()).into()),
    ("indented by 4 columns", |text| before(text, |_| "    ".into()).into()),
    ("indented by a tab", |text| before(text, |_| "\t".into()).into()),
    ("", |text| fold(text, 72).into()),
    ("", |text| fold(text, 80).into()),
    ("", |text| fill(text, 72).into()),
    ("", |text| fill(text, 76).into()),
    ("", |text| fill(text, 80).into()),
    ("quoted with '> '", |text| before(&fold(text, 76), |_| "> ".into()).into()),
    ("quoted with '> '", |text| before(&fill(text, 74), |_| "> ".into()).into()),
    ("quoted with '> '", |text| fold(&before(text, |_| "> ".into()), 78).into()),
    ("dmesg", |text| before(text, |at| format!("[{:5}.{:06}] ", 12345 + at / 10, at * 7)).into()),
    ("dmesg", |text| before(text, |_| "[Mon Jan  1 12:00:00 2024] ".into()).into()),
    ("journal", |text| before(text, |_| "Jan 01 12:00:00 host kernel: ".into()).into()),
    ("journal", |text| {
        before(text, |at| format!("2024-01-01T12:00:{:02}+0000 host kernel: ", at % 60)).into()
    }),
    ("journal", |text| {
        before(text, |at| format!("Aug 17 13:34:47 intel-DUT kernel: [  175.{at:06}] ")).into()
    }),
    ("code fence", |text| format!("```\n{text}```\n").into()),
    ("code fence", |text| {
        format!("Hi,\n\nmy GPU hangs: see below.\n\n```text\n{text}```\n\nThanks: me\n").into()
    }),
    ("coloured", |text| {
        before(text, |_| "\x1b[32m".into()).replace('\n', "\x1b[0m\n").into_bytes()
    }),
    ("line ends", |text| text.replace('\n', "\r\n").into()),
    ("", |text| html(text).into()),
    ("HTML", |text| format!("<pre>{}</pre>\n", html(text)).into()),
    ("HTML", |text| html(&before(text, |_| "> ".into())).into()),
    ("UTF-16", |text| {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    }),
    ("no-break spaces", |text| before(text, |_| "    ".into()).replace(' ', "\u{a0}").into_bytes()),
    ("", |text| text.replace('\n', "  \n").into()),
    ("other text", |text| format!("Hello all\n\nthis is the state of my card\n\n{text}").into()),
    ("", |text| quoted_printable(text).into()),
    ("quoted with '> '", |text| {
        before(&fill(text, 70), |_| "> ".into()).replace('\n', "\r\n").into_bytes()
    }),
    ("dmesg", |text| {
        let stamped = before(text, |at| format!("[  {}.000001] ", 100 + at));
        format!("```\n{}```\n", before(&stamped, |_| "> ".into())).into_bytes()
    }),
];

#[test]
fn every_damage_of_every_dump() {
    assert!(DAMAGES.len() >= 20);
    let dumps: Vec<(String, String)> = own().into_iter().chain(corpus()).collect();
    assert!(dumps.len() >= 5);
    let mut wrong = Vec::new();
    for (name, text) in &dumps {
        let mut clean = open(text.as_bytes()).unwrap();
        assert!(!notes(&clean).contains("repaired"), "{name}: {}", notes(&clean));
        let expected = decoded(&mut clean);
        for (index, (said, damage)) in DAMAGES.iter().enumerate() {
            let damaged = damage(text);
            let (out, notes) = match open(&damaged) {
                Ok(mut dump) => (decoded(&mut dump), notes(&dump)),
                Err(error) => (error.to_string(), String::new()),
            };
            let unsaid = damaged != text.as_bytes() && !said.is_empty() && !notes.contains(said);
            if out != expected || unsaid {
                let lines = || out.lines().zip(expected.lines());
                let first = lines().find(|(found, wanted)| found != wanted);
                wrong.push(format!("{name}, damage {index} ({said}): {first:?}\n{notes}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A text that ends early names the place, and decodes what it has.
#[test]
fn cut_ends_are_named() {
    for (name, text) in own() {
        let lines = text.lines().count();
        for cut in [text.len() / 3, text.len() / 2, text.len() - 30] {
            if text.as_bytes()[cut - 1] == b'\n' {
                continue;
            }
            let damaged = before(&text[..cut], |_| "> ".into());
            let damaged = damaged.trim_end_matches('\n');
            let dump = open(damaged.as_bytes()).unwrap();
            let notes = notes(&dump);
            assert!(notes.contains("line "), "{name} cut at {cut} of {lines} lines: {notes}");
        }
    }
}

/// Damage that cannot be repaired is named with line and column of the pasted text.
#[test]
fn columns_are_those_of_the_pasted_text() {
    let (_, text) = own().into_iter().find(|(name, _)| name == "Linux 6.1-plain").unwrap();
    // A character that base 85 does not have, in the middle of the data.
    let at = text.find("\n~").unwrap() + 500;
    let line = text[..at].matches('\n').count() as u64 + 1;
    let column = (at - text[..at].rfind('\n').unwrap()) as u64;
    let mut broken = text.clone();
    broken.replace_range(at..=at, "{");
    let notes_of = |text: &str| notes(&open(text.as_bytes()).unwrap());
    let clean = notes_of(&broken);
    assert!(clean.contains(&format!("line {line}, column {column}: `{{`")), "{clean}");
    let quoted = notes_of(&before(&broken, |_| "> ".into()));
    let column = column + 2;
    assert!(quoted.contains(&format!("line {line}, column {column}: `{{`")), "{quoted}");
    assert!(quoted.contains("attach the file"), "{quoted}");
}

/// Words that no dump has are refused with their position.
#[test]
fn other_text_is_refused() {
    for text in ["\n\n  fn main() {\n}\n", "hello\n", "> hello\n> world\n"] {
        let error = open(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("line ") && error.contains("column "), "{error}");
    }
    let error = open(b"\n\n  fn main() {\n}\n").unwrap_err().to_string();
    assert!(error.contains("line 3, column 3: `fn main() {`"), "{error}");
}

/// Lines of dmesg name what hung: the engine and the process.
#[test]
fn messages_of_dmesg() {
    let text = "> [177082.427310] [drm] stuck on render ring \n\
                > [177082.438483] [drm] GPU HANG: ecode 8:0:0x7f5f7f7f, in ba [916], \
                reason: Ring hung, action: reset \n\
                > [177082.448325] [drm] GPU hangs can indicate a bug anywhere in the entire stack.\n";
    let dump = open(text.as_bytes()).unwrap();
    let hang = dump.hang(Tables::gen8()).unwrap();
    assert_eq!(hang.engines[0].engine, "rcs0");
    assert_eq!(hang.engines[0].process.as_ref().unwrap().pid, 916);
    assert!(hang.message.starts_with("ecode 8:0:0x7f5f7f7f"), "{}", hang.message);
}

/// A complete state of a GM45 with 74,000 lines: the same data after each of some damages.
#[test]
fn a_long_state() {
    let Some(text) = corpus_text("gm45_hang.i915_error_state.xz") else { return };
    let state = |bytes: &[u8]| open(bytes).unwrap().error_state().unwrap().clone().without_lines();
    let expected = state(text.as_bytes());
    assert_eq!(expected.buffers.len(), 3, "a batch and two rings");
    for index in [0, 8, 11, 12, 15, 22, 31] {
        let (said, damage) = DAMAGES[index];
        assert!(state(&damage(&text)) == expected, "damage {index} ({said})");
    }
}
