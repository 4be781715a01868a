//! A cheap look at the start of a text: clean dumps need no repair.

use super::wrap;
use crate::error_state::marks;

/// What the start of a text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// A dump as the kernel prints it.
    Clean,
    /// A text that may be damaged.
    Damaged,
    /// More of the text is needed.
    More,
}

/// Number of bytes after which a text without a sign of damage is clean.
const ENOUGH: usize = 256 << 10;

/// Looks at the first bytes of a text. `whole` is true if they are the whole text.
pub fn look(start: &[u8], whole: bool) -> Look {
    if start.iter().any(|byte| matches!(byte, 0x1b | b'\r' | 0x07 | 0x08)) {
        return Look::Damaged;
    }
    let Some(text) = valid(start) else { return Look::Damaged };
    let mut lines = text.split('\n').filter(|line| !line.is_empty()).peekable();
    match lines.peek() {
        Some(first) if !marks::is_mark(first) => return Look::Damaged,
        _ => {}
    }
    let named = ["&lt;", "&gt;", "&amp;", "\u{a0}", "=3D"];
    if named.iter().any(|name| text.contains(name)) {
        return Look::Damaged;
    }
    let Some(width) = wrap::width(text.split('\n')) else { return Look::Clean };
    let mut long = false;
    while let Some(line) = lines.next() {
        if lines.peek().is_some_and(|next| wrap::continues(line, next, width)) {
            return Look::Damaged;
        }
        // Lines of words come before the first memory, and are wrapped if any line is.
        long |= line.len() > wrap::WIDEST;
    }
    if long {
        return Look::Clean;
    }
    if whole || start.len() >= ENOUGH { Look::Clean } else { Look::More }
}

/// The bytes as text, without a character that the end cuts.
fn valid(start: &[u8]) -> Option<&str> {
    match std::str::from_utf8(start) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_and_damaged() {
        let head = "GPU HANG: ecode 9:0:0x85ddfffb, in a [1]\nPCI ID: 0x1616\n";
        assert_eq!(look(head.as_bytes(), true), Look::Clean);
        assert_eq!(look(head.as_bytes(), false), Look::More);
        let data = format!("{head}rcs0 --- batch = 0x00000000 00001000\n:{}\n", "z".repeat(200));
        assert_eq!(look(data.as_bytes(), false), Look::Clean);
        let wrapped = format!(
            "{head}rcs0 --- batch = 0x00000000 00001000\n:{}\n{}\n",
            "z".repeat(75),
            "z".repeat(76)
        );
        assert_eq!(look(wrapped.as_bytes(), false), Look::Damaged);
        for text in ["> GPU HANG: ecode\n", "hello\n", "\x1b[1mGPU HANG: x\n", "a\r\n", "\u{a0}"] {
            assert_eq!(look(text.as_bytes(), true), Look::Damaged, "{text:?}");
        }
        let rows: String = (0..20000).map(|row| format!("{:08x} :  00000000\n", 4 * row)).collect();
        assert_eq!(look(format!("{head}{rows}").as_bytes(), false), Look::Clean);
    }
}
