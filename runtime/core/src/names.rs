//! Whether a Rust name stands for a name of the manual, as the generated code has it: lower case, words joined by `_`.

/// True if a member called `rust` may stand for the manual's `manual`: words are split at everything that is no letter
/// or digit and before the humps of mixed case, lowered and joined by `_`; a leading digit and keywords get a `_` more.
///
/// ```
/// use genxml_core::names::matches;
/// assert!(matches("Maximum Number of Threads", "maximum_number_of_threads"));
/// assert!(matches("ChannelMask [47:12]", "channel_mask_47_12") && matches("Type", "type_") && matches("3D", "_3d"));
/// assert!(!matches("Type", "typ"));
/// ```
pub const fn matches(manual: &str, rust: &str) -> bool {
    let (manual, rust) = (manual.as_bytes(), rust.as_bytes());
    let (mut at, mut i) = (0, 0);
    // What stands before the next character: nothing yet, a character, a character in lower case, the end of a word.
    let (mut started, mut lower, mut gap) = (false, false, false);
    while i < manual.len() {
        let byte = manual[i];
        i += 1;
        if !byte.is_ascii_alphanumeric() {
            gap = true;
            lower = false;
            continue;
        }
        let joined = started && (gap || (lower && byte.is_ascii_uppercase()));
        if joined || (!started && byte.is_ascii_digit()) {
            if at >= rust.len() || rust[at] != b'_' {
                return false;
            }
            at += 1;
        }
        if at >= rust.len() || rust[at] != byte.to_ascii_lowercase() {
            return false;
        }
        at += 1;
        (started, gap, lower) = (true, false, byte.is_ascii_lowercase());
    }
    started && (at == rust.len() || (at + 1 == rust.len() && rust[at] == b'_'))
}
