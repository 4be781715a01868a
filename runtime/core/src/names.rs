//! Compares a Rust name with a name of the manual, by the rules of the code generator: lower case,
//! words joined by `_`.

/// True if a member named `rust` may stand for the manual's `manual`. The manual's name is split
/// into words at every character that is not a letter or digit, and before a capital after a
/// lower-case letter. The words are lower-cased and joined by `_`. A leading digit gets a `_`
/// before it, a keyword a `_` after it.
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
    // State before the next character: whether the first word has started, whether the last
    // character was a lower-case letter, whether a separator followed the last letter or digit.
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

/// True if a type or alternative named `rust` may stand for the manual's `manual`: letters and
/// digits are equal except for case; a leading `3D` becomes `ThreeD`, and any other leading digit
/// gets a `_` before it.
///
/// ```
/// use genxml_core::names::matches_type;
/// assert!(matches_type("MB Type", "MbType") && matches_type("3D Image", "ThreeDImage") && matches_type("2D", "_2d"));
/// assert!(!matches_type("Image", "Images") && !matches_type("Images", "Image"));
/// ```
pub const fn matches_type(manual: &str, rust: &str) -> bool {
    let (mut manual, mut rust) = (manual.as_bytes(), rust.as_bytes());
    if let ([b'3', b'D' | b'd', left @ ..], [b'T', b'h', b'r', b'e', b'e', b'D', right @ ..]) =
        (manual, rust)
    {
        (manual, rust) = (left, right);
    }
    loop {
        while let [skipped, rest @ ..] = manual
            && !skipped.is_ascii_alphanumeric()
        {
            manual = rest;
        }
        while let [b'_', rest @ ..] = rust {
            rust = rest;
        }
        match (manual, rust) {
            ([], []) => return true,
            ([one, left @ ..], [other, right @ ..]) if one.eq_ignore_ascii_case(other) => {
                (manual, rust) = (left, right);
            }
            _ => return false,
        }
    }
}

/// True if `rust` is the name of a type, not of a member: its first letter is a capital.
pub const fn is_type(rust: &str) -> bool {
    let mut bytes = rust.as_bytes();
    while let [b'_' | b'0'..=b'9', rest @ ..] = bytes {
        bytes = rest;
    }
    matches!(bytes, [b'A'..=b'Z', ..])
}
