//! Numbers and names in lines of text.

/// Parses a hexadecimal number of at most 16 digits at the start of `text`. Returns it with the
/// rest of the text.
pub(crate) fn hex(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    let value =
        u64::from_str_radix(text.get(..end).filter(|digits| digits.len() <= 16)?, 16).ok()?;
    Some((value, &text[end..]))
}

/// As [`hex`], for a number that starts with `0x`.
pub(crate) fn hex_prefixed(text: &str) -> Option<(u64, &str)> {
    hex(text.trim_start().strip_prefix("0x")?)
}

/// Parses an address: `0x00001234`, `0x123456789000`, or two halves as `0x00000012 3456789a` or
/// `0x00000012_3456789a`. Returns it with the rest of the text.
pub(crate) fn address(text: &str) -> Option<(u64, &str)> {
    halves(text.trim_start().strip_prefix("0x")?)
}

/// As [`address`], without the `0x`.
pub(crate) fn halves(text: &str) -> Option<(u64, &str)> {
    let (high, rest) = hex(text)?;
    let digits = text.len() - rest.len();
    if digits == 8
        && let Some(low) = rest.strip_prefix([' ', '_'])
        && let Some((value, after)) = hex(low)
        && low.len() - after.len() == 8
    {
        return Some((high << 32 | value, after));
    }
    Some((high, rest))
}

/// Parses a signed decimal number that is the whole text, apart from white space around it.
pub(crate) fn decimal(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Parses `NAME [PID]` at the start of `text`. Returns name, process id and the rest of the text.
/// Names may contain spaces and brackets: the process id is the first number in brackets that `,`
/// or `)` directly follows. If that is missing, it is the last number in brackets.
pub(crate) fn process(text: &str) -> Option<(&str, i64, &str)> {
    let mut found = None;
    for (open, _) in text.match_indices(" [") {
        let inside = &text[open + 2..];
        if let Some(close) = inside.find(']')
            && let Some(pid) = decimal(&inside[..close])
        {
            found = Some((&text[..open], pid, &inside[close + 1..]));
            // `, ctx 1 [2]` is not part of the name.
            if inside[close + 1..].starts_with(',') || inside[close + 1..].starts_with(')') {
                break;
            }
        }
    }
    found
}

/// The decimal number that follows `key` in `text`; `None` if there is none.
pub(crate) fn number_behind(text: &str, key: &str) -> Option<i64> {
    let rest = &text[text.find(key)? + key.len()..];
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_every_spelling() {
        assert_eq!(address(" 0x01234000"), Some((0x0123_4000, "")));
        assert_eq!(address("0x00000012 3456789a; 4 pages"), Some((0x12_3456_789a, "; 4 pages")));
        assert_eq!(address("0x00000012_3456789a]"), Some((0x12_3456_789a, "]")));
        assert_eq!(address("0x123456789000"), Some((0x1234_5678_9000, "")));
        assert_eq!(address("0x00001000 12 pages"), Some((0x1000, " 12 pages")));
        assert_eq!(address("0x0123456789abcdef0"), None);
        assert_eq!(address("yes"), None);
    }

    #[test]
    fn processes_may_have_odd_names() {
        assert_eq!(process("Xorg [123])"), Some(("Xorg", 123, ")")));
        assert_eq!(process("a [b] c [7], score 3"), Some(("a [b] c", 7, ", score 3")));
        assert_eq!(
            process("glxgears [5], ctx 1 [2], score 0)"),
            Some(("glxgears", 5, ", ctx 1 [2], score 0)"))
        );
        assert_eq!(process("nobody"), None);
        assert_eq!(number_behind(", ctx 1 [2], score -4)", "score "), Some(-4));
    }
}
