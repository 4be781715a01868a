//! Memory as hexadecimal text: the output of `xxd`, `od` and `hexdump`, and lists of
//! `address: dword`.
//!
//! The form of the numbers shows which tool wrote the text: groups of two digits are bytes; groups
//! of four digits after a colon are bytes in order (`xxd`), without a colon they are little-endian
//! words (`hexdump`, `od -x`); groups of eight digits are dwords, unless a column of characters
//! shows that they are bytes in order (`xxd -g4`); groups of six octal digits are words (`od`).
//!
//! Source: manual pages of xxd, od (coreutils) and hexdump (util-linux).

use super::position::Problem;

/// Memory: the address of the first byte, and the bytes.
pub type Piece = (u64, Vec<u8>);

/// A line of a dump.
struct Line<'a> {
    /// Number of the line, from 1.
    number: u64,
    /// The offset as text; empty in a list of dwords.
    offset: &'a str,
    /// True if a colon follows the offset.
    colon: bool,
    /// The groups of digits.
    groups: Vec<&'a str>,
    /// The column of characters.
    characters: &'a str,
    /// True for `*`: the line before is repeated up to the next offset.
    repeats: bool,
}

/// How groups of digits stand for bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Bytes in their order.
    Bytes,
    /// Little-endian numbers.
    Numbers,
    /// Little-endian words in octal.
    Octal,
    /// Bytes in octal.
    OctalBytes,
}

/// Reads a dump. `None` if the text is not one: fewer than nine of ten lines have its form.
pub(super) fn read(text: &str) -> Option<Result<Vec<Piece>, Problem>> {
    if let Some(bytes) = plain(text) {
        return Some(Ok(vec![(0, bytes)]));
    }
    let mut lines = Vec::new();
    let mut other = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let number = index as u64 + 1;
        if text.trim().is_empty() {
            continue;
        }
        match line(number, text) {
            Some(line) => lines.push(line),
            None => other.push((number, text)),
        }
    }
    let rows = lines.iter().filter(|line| !line.groups.is_empty()).count();
    if rows == 0 || other.len() * 9 > lines.len() {
        return None;
    }
    let (first, last) = (lines[0].number, lines[lines.len() - 1].number);
    if let Some((number, text)) = other.iter().find(|(at, _)| (first..last).contains(at)) {
        let column = text.len() - text.trim_start().len();
        let what = format!(
            "`{}` is not a row of a hex dump; remove the line, or copy the dump again",
            short(text)
        );
        return Some(Err(Problem::new(*number, column as u64 + 1, what)));
    }
    Some(pieces(&lines))
}

/// The start of a text, for a message.
fn short(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

/// The bytes of a text of hexadecimal digits only, as `xxd -p` writes.
fn plain(text: &str) -> Option<Vec<u8>> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let digits =
        |line: &str| line.len().is_multiple_of(2) && line.bytes().all(|it| it.is_ascii_hexdigit());
    if lines().next()?.len() < 16 || !lines().all(digits) {
        return None;
    }
    let mut out = Vec::new();
    for line in lines() {
        for pair in line.as_bytes().chunks_exact(2) {
            out.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
        }
    }
    Some(out)
}

/// Parses a line of a dump.
fn line(number: u64, text: &str) -> Option<Line<'_>> {
    let text = text.trim();
    let empty = Line {
        number,
        offset: "",
        colon: false,
        groups: Vec::new(),
        characters: "",
        repeats: false,
    };
    if text == "*" {
        return Some(Line { repeats: true, ..empty });
    }
    let first = text.split([' ', '\t', ':', ',']).next()?;
    let bare = first.trim_start_matches("0x");
    let is_list = first.starts_with("0x") && !text[first.len()..].trim_start().starts_with(':');
    if is_list
        && text.split([' ', ',']).filter(|it| !it.is_empty()).all(|it| digits(it).is_some())
        && bare.len() == 8
    {
        // A list of dwords without addresses.
        let groups = text.split([' ', ',']).filter(|it| !it.is_empty()).map(strip).collect();
        return Some(Line { groups, ..empty });
    }
    let offset = first.trim_start_matches('[').trim_end_matches(']');
    let bare = strip(offset);
    if bare.len() < 4 || !bare.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_') {
        return None;
    }
    let rest = text[first.len()..].trim_start_matches(' ');
    let (colon, rest) = match rest.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (first.ends_with(']'), rest),
    };
    let rest = rest.trim();
    // The column of characters: between bars (hexdump -C), or after two spaces (xxd).
    let (rest, characters) = match rest.strip_suffix('|').and_then(|rest| rest.split_once('|')) {
        Some((rest, characters)) => (rest, characters),
        None => match rest.split_once("  ") {
            Some((rest, characters)) if colon && !rest.contains("0x") => (rest, characters),
            _ => (rest, ""),
        },
    };
    let mut groups = Vec::new();
    for group in rest.split_whitespace().map(|group| group.trim_end_matches(',')) {
        match digits(group) {
            Some(group) => groups.push(group),
            None if groups.is_empty() => return None,
            // The column of characters of od -z, or a comment.
            None if group.starts_with(['>', '#', ';', '|']) => break,
            None => return None,
        }
    }
    (!groups.is_empty() || rest.is_empty()).then_some(Line {
        offset,
        colon,
        groups,
        characters,
        ..empty
    })
}

fn strip(group: &str) -> &str {
    group.strip_prefix("0x").unwrap_or(group)
}

/// The digits of a group; `None` if it is not a number.
fn digits(group: &str) -> Option<&str> {
    let bare = strip(group);
    let is = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is && bare.len() <= 32).then_some(bare)
}

/// The form of the groups of a dump.
fn form(lines: &[Line<'_>]) -> Result<Form, Problem> {
    let rows = || lines.iter().filter(|line| !line.groups.is_empty());
    let Some(first) = rows().next() else {
        return Err(Problem::new(1, 1, "the dump has no numbers".to_owned()));
    };
    let octal = || {
        let groups = rows().flat_map(|line| line.groups.iter());
        groups.clone().all(|it| it.bytes().all(|byte| (b'0'..=b'7').contains(&byte)))
    };
    let width = first.groups[0].len();
    match width {
        2 => Ok(Form::Bytes),
        3 if octal() => Ok(Form::OctalBytes),
        6 if octal() => Ok(Form::Octal),
        4 if first.colon => Ok(by_characters(lines).unwrap_or(Form::Bytes)),
        4 => Ok(Form::Numbers),
        8 | 16 => Ok(by_characters(lines).unwrap_or(Form::Numbers)),
        1 | 32 => Ok(Form::Bytes),
        _ => Err(Problem::new(
            first.number,
            1,
            format!(
                "a group of {width} digits is neither bytes nor dwords; use `xxd`, \
                 `hexdump -C` or `od -t x4`"
            ),
        )),
    }
}

/// The order of bytes that the column of characters shows; `None` without one.
fn by_characters(lines: &[Line<'_>]) -> Option<Form> {
    let (mut in_order, mut swapped) = (0u64, 0u64);
    let mut rows = lines.iter().filter(|line| !line.characters.is_empty()).peekable();
    rows.peek()?;
    for line in rows.take(64) {
        let matches = |form| {
            let mut bytes = Vec::new();
            line.groups.iter().for_each(|group| append(group, form, &mut bytes));
            let pairs = bytes.iter().zip(line.characters.bytes());
            pairs
                .filter(|(byte, shown)| match **byte {
                    printed @ 0x20..=0x7e => printed == *shown,
                    _ => *shown == b'.',
                })
                .count() as u64
        };
        in_order += matches(Form::Bytes);
        swapped += matches(Form::Numbers);
    }
    Some(if swapped > in_order { Form::Numbers } else { Form::Bytes })
}

/// Appends the bytes of a group. Returns `None` if the number is too large.
fn append_checked(group: &str, form: Form, out: &mut Vec<u8>) -> Option<()> {
    match form {
        Form::Bytes => {
            let bytes = group.as_bytes().chunks(2);
            for pair in bytes {
                out.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
            }
        }
        Form::Numbers => {
            let value = u128::from_str_radix(group, 16).ok()?;
            out.extend(&value.to_le_bytes()[..group.len().div_ceil(2)]);
        }
        Form::Octal => out.extend(u16::from_str_radix(group, 8).ok()?.to_le_bytes()),
        Form::OctalBytes => out.push(u8::from_str_radix(group, 8).ok()?),
    }
    Some(())
}

fn append(group: &str, form: Form, out: &mut Vec<u8>) {
    _ = append_checked(group, form, out);
}

/// The base of the offsets: the one with which most lines follow their predecessor.
fn radix(lines: &[Line<'_>], form: Form) -> u32 {
    // Only od has offsets in another base, and it prints no colons.
    if lines.iter().any(|line| line.colon) {
        return 16;
    }
    let follows = |pair: &[Line<'_>], radix| {
        let numbers = (offset(pair[0].offset, radix), offset(pair[1].offset, radix));
        let (Some(one), Some(other)) = numbers else { return false };
        let mut bytes = Vec::new();
        pair[0].groups.iter().for_each(|group| append(group, form, &mut bytes));
        !bytes.is_empty() && other.checked_sub(one) == Some(bytes.len() as u64)
    };
    let counts = [16, 8, 10]
        .map(|radix| (radix, lines.windows(2).filter(|pair| follows(pair, radix)).count()));
    // The first of equal counts: offsets are usually hexadecimal.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(16, |(radix, _)| *radix)
}

fn offset(text: &str, radix: u32) -> Option<u64> {
    let bare: String = strip(text).chars().filter(|c| *c != '_').collect();
    u64::from_str_radix(&bare, radix).ok()
}

/// The memory of a dump.
fn pieces(lines: &[Line<'_>]) -> Result<Vec<Piece>, Problem> {
    let form = form(lines)?;
    let radix = radix(lines, form);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before: Vec<u8> = Vec::new();
    let mut repeats = false;
    for line in lines {
        if line.repeats {
            repeats = true;
            continue;
        }
        let mut bytes = Vec::new();
        for group in &line.groups {
            if append_checked(group, form, &mut bytes).is_none() {
                let what = format!("`{group}` is not a number of this dump");
                return Err(Problem::new(line.number, 1, what));
            }
        }
        let end = pieces.last().map(|(start, bytes)| start + bytes.len() as u64);
        let at = match line.offset {
            "" => end.unwrap_or(0),
            text => offset(text, radix).ok_or_else(|| {
                let what = format!("the offset `{text}` is not a number of base {radix}");
                Problem::new(line.number, 1, what)
            })?,
        };
        let missing = end.map_or(0, |end| at.wrapping_sub(end));
        if missing != 0 && repeats && !before.is_empty() {
            fill(&mut pieces, &before, missing, line.number)?;
        } else if missing != 0 && (line.groups.is_empty() || !is_list(line, form)) {
            let end = end.unwrap_or(0);
            let what = format!(
                "offset {at:#x} follows, {end:#x} is expected: rows are missing or in another \
                 order; copy the dump again"
            );
            return Err(Problem::new(line.number, 1, what));
        }
        repeats = false;
        match pieces.last_mut() {
            Some((start, all)) if *start + all.len() as u64 == at => all.extend(&bytes),
            _ if bytes.is_empty() => {}
            _ => pieces.push((at, bytes.clone())),
        }
        before = bytes;
    }
    pieces.sort_by_key(|(start, _)| *start);
    Ok(pieces)
}

/// True if the lines may name any addresses: lists of dwords may have holes, dumps do not.
fn is_list(line: &Line<'_>, form: Form) -> bool {
    form == Form::Numbers && line.colon && line.characters.is_empty()
}

/// Largest size in bytes of repeated rows, which a dump writes as `*`.
const MAX_FILL: u64 = 64 << 20;

/// Repeats the row before a `*`.
fn fill(pieces: &mut [Piece], row: &[u8], missing: u64, number: u64) -> Result<(), Problem> {
    let room = MAX_FILL.saturating_sub(pieces.iter().map(|(_, bytes)| bytes.len() as u64).sum());
    if missing > room {
        let what = format!(
            "`*` before this row stands for {missing:#x} bytes, more than {MAX_FILL:#x}: the \
             offset is damaged"
        );
        return Err(Problem::new(number, 1, what));
    }
    if let Some((_, bytes)) = pieces.last_mut() {
        bytes.extend(row.iter().cycle().take(missing as usize));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<Piece> {
        read(text).expect("a dump").unwrap_or_else(|problem| panic!("{problem:?}"))
    }

    /// Oracle: the outputs of xxd, hexdump and od for the same 40 bytes.
    #[test]
    fn every_tool() {
        let mut data: Vec<u8> = Vec::new();
        for dword in [0x7a00_0004u32, 0x0010_1021, 0, 0] {
            data.extend(dword.to_le_bytes());
        }
        data.extend([0; 16]);
        data.extend(*b"ABCDEFGH");
        let expected = vec![(0, data)];
        for text in [
            "00000000: 0400 007a 2110 1000 0000 0000 0000 0000  ...z!...........\n\
             00000010: 0000 0000 0000 0000 0000 0000 0000 0000  ................\n\
             00000020: 4142 4344 4546 4748                      ABCDEFGH\n",
            "00000000: 7a000004 00101021 00000000 00000000  ...z!...........\n\
             00000010: 00000000 00000000 00000000 00000000  ................\n\
             00000020: 44434241 48474645                    ABCDEFGH\n",
            "00000000: 0400007a 21101000 00000000 00000000  ...z!...........\n\
             00000010: 00000000 00000000 00000000 00000000  ................\n\
             00000020: 41424344 45464748                    ABCDEFGH\n",
            "00000000  04 00 00 7a 21 10 10 00  00 00 00 00 00 00 00 00  |...z!...........|\n\
             00000010  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n\
             00000020  41 42 43 44 45 46 47 48                           |ABCDEFGH|\n\
             00000028\n",
            "0000000 0004 7a00 1021 0010 0000 0000 0000 0000\n\
             0000010 0000 0000 0000 0000 0000 0000 0000 0000\n\
             0000020 4241 4443 4645 4847\n0000028\n",
            "0000000 000004 075000 010041 000020 000000 000000 000000 000000\n\
             0000020 000000 000000 000000 000000 000000 000000 000000 000000\n\
             0000040 041101 042103 043105 044107\n0000050\n",
            "0000000 7a000004 00101021 00000000 00000000\n\
             0000020 00000000 00000000 00000000 00000000\n0000040 44434241 48474645\n0000050\n",
            "0000000 04 00 00 7a 21 10 10 00 00 00 00 00 00 00 00 00\n\
             0000020 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n\
             0000040 41 42 43 44 45 46 47 48\n0000050\n",
            "0400007a211010000000000000000000\n00000000000000000000000000000000\n\
             4142434445464748\n",
            "0x7a000004, 0x00101021, 0x00000000, 0x00000000,\n0x00000000, 0x00000000,\n\
             0x00000000, 0x00000000, 0x44434241, 0x48474645\n",
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    /// Oracle: `hexdump -C` prints `*` for repeated rows.
    #[test]
    fn repeated_rows() {
        let text = "00000000  01 00 00 00 01 00 00 00  01 00 00 00 01 00 00 00  |.........|\n\
                    *\n00000040  02 00                     |..|\n00000042\n";
        let (start, data) = bytes(text).remove(0);
        assert_eq!((start, data.len()), (0, 0x42));
        assert_eq!(data[0x3c..], [1, 0, 0, 0, 2, 0]);
        let problem = read(&text.replace("00000040", "ffffff40")).unwrap().unwrap_err();
        assert_eq!(problem.line, 3);
    }

    #[test]
    fn lists_of_dwords() {
        let text = "0x0000fffe_ffeee000: 0x7a000004\n0x0000fffe_ffeee004: 0x00101021\n\
                    0x0000000000001000: 0x05000000\n";
        assert_eq!(
            bytes(text),
            [
                (0x1000, 0x0500_0000u32.to_le_bytes().to_vec()),
                (0xfffe_ffee_e000, [0x04, 0, 0, 0x7a, 0x21, 0x10, 0x10, 0].to_vec()),
            ]
        );
        // As old error states print memory.
        assert_eq!(bytes("00000000 :  7a000004\n00000004 :  00101021\n")[0].1.len(), 8);
    }

    #[test]
    fn damage_is_named() {
        let text = "00000000: 0400 007a 2110 1000 0000 0000 0000 0000  ...z!...........\n\
                    00000020: 4142 4344 4546 4748                      ABCDEFGH\n";
        let problem = read(text).unwrap().unwrap_err();
        assert_eq!(problem.line, 2);
        assert!(problem.text.contains("0x10 is expected"), "{}", problem.text);
        assert!(read("GPU HANG: ecode 9:0:0x85ddfffb\n").is_none());
        assert!(read("").is_none());
    }
}
