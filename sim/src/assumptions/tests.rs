//! Compares the table of assumptions with the tokens of the crate's code. Comments are not tokens.

use super::{AREAS, Assumption, Kind};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn all() -> impl Iterator<Item = &'static Assumption> {
    AREAS.iter().flat_map(|area| area.assumptions)
}

/// Collects the identifiers of the code below a module. Follows `mod` items, as the compiler would.
/// Skips items under `#[cfg(test)]`, `use` items, and the module `assumptions`.
struct Identifiers {
    seen: BTreeSet<String>,
    files: usize,
}

impl Identifiers {
    /// Reads a source file. The modules that it declares are in `folder`.
    fn file(&mut self, file: &Path, folder: &Path) {
        let text = fs::read_to_string(file)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        let tokens: TokenStream =
            text.parse().unwrap_or_else(|error| panic!("cannot parse {}: {error}", file.display()));
        self.files += 1;
        self.stream(tokens, folder);
    }

    fn stream(&mut self, tokens: TokenStream, folder: &Path) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) if is_test_only(&group.stream()) => {
                    skip_item(&mut tokens);
                }
                TokenTree::Group(group) => self.stream(group.stream(), folder),
                TokenTree::Ident(word) if word == "use" => skip_item(&mut tokens),
                TokenTree::Ident(word) if word == "mod" => {
                    let name = tokens.next().expect("a module has a name").to_string();
                    let inside = folder.join(name.trim_start_matches("r#"));
                    match tokens.next() {
                        Some(TokenTree::Group(body)) => self.stream(body.stream(), &inside),
                        _ if name == "assumptions" => {}
                        _ => self.module(&inside),
                    }
                }
                TokenTree::Ident(word) => {
                    self.seen.insert(word.to_string());
                }
                _ => {}
            }
        }
    }

    /// Reads the source file of a module: `path.rs` or `path/mod.rs`. `path` has no extension.
    fn module(&mut self, path: &Path) {
        let alone = path.with_extension("rs");
        let file = if alone.exists() { alone } else { path.join("mod.rs") };
        self.file(&file, path);
    }
}

/// True if these tokens start with `cfg(test)`, as the tokens in the brackets of `#[cfg(test)]` do.
fn is_test_only(attribute: &TokenStream) -> bool {
    let mut tokens = attribute.clone().into_iter();
    let is_cfg = matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "cfg");
    is_cfg
        && matches!(tokens.next(), Some(TokenTree::Group(condition))
            if condition.stream().to_string() == "test")
}

/// Skips the rest of an item: up to its semicolon or the end of its body.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ';' => return,
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}

/// The identifiers of the crate's code.
fn identifiers() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Identifiers { seen: BTreeSet::new(), files: 0 };
    found.file(&root.join("lib.rs"), &root);
    assert!(found.files > 100, "only {} source files were found", found.files);
    found.seen
}

#[test]
fn values_are_read_by_code_and_documentation_is_not() {
    let seen = identifiers();
    for entry in all() {
        let read = seen.contains(entry.name);
        match entry.kind {
            Kind::Value(_) => assert!(read, "no code reads {}: make it documentation", entry.name),
            Kind::Documentation => assert!(!read, "code reads {}: make it a value", entry.name),
        }
    }
}

#[test]
fn entries_are_complete() {
    let mut names = BTreeSet::new();
    for entry in all() {
        assert!(names.insert(entry.name), "{} occurs twice", entry.name);
        assert!(entry.question.contains('?'), "{}: no question mark in the question", entry.name);
        for text in [entry.choice, entry.reason] {
            assert!(text.ends_with('.'), "{}: no full stop at the end: {text}", entry.name);
        }
    }
    assert!(names.len() > 100, "only {} assumptions were found", names.len());
}

/// The table shows the values of constants. Three constants are checked.
#[test]
fn the_table_shows_the_values() {
    let value = |name: &str| match all().find(|entry| entry.name == name).unwrap().kind {
        Kind::Value(value) => value,
        Kind::Documentation => panic!("{name} has no value"),
    };
    assert_eq!(value("POWER_OF_MINUS_INFINITY_IS_NAN"), "false");
    assert_eq!(value("SLICES"), super::SLICES.to_string());
    assert_eq!(value("FIXED_FUNCTION_IDS"), format!("{:?}", super::FIXED_FUNCTION_IDS));
}

/// Comments, strings, imports and tests do not count as readers.
#[test]
fn only_code_counts() {
    let source = r#"
        //! In the module's comment: A
        /// In a comment: B
        use crate::assumptions::{C, D};
        #[cfg(test)]
        mod tests { fn f() -> bool { E } }
        #[cfg(test)]
        use super::F;
        fn g() -> &'static str { assert!(H); if D { "G" } else { "" } }
    "#;
    let mut found = Identifiers { seen: BTreeSet::new(), files: 0 };
    found.stream(source.parse().unwrap(), Path::new("none"));
    let read = |name: &&str| found.seen.contains(*name);
    assert_eq!(["A", "B", "C", "D", "E", "F", "G", "H"].iter().filter(|n| read(n)).count(), 2);
    assert!(read(&"D") && read(&"H"));
}

/// Where the model refuses what it does not implement: the file, and for each fault in it the name
/// of its entry in the area `faults`, from the top down.
const FAULTS: &[(&str, &[&str])] = &[
    ("blt/packets.rs", &["FIXED_PATTERNS"]),
    ("cs/atomic.rs", &["OTHER_ATOMICS_ON_16_BYTES"]),
    ("cs/execute.rs", &["PACKETS_OF_THE_CODECS"]),
    ("cs/counters.rs", &["COUNTERS_OF_ONE_CONTEXT"]),
    ("cs/mi.rs", &["CORE_MODE_OF_CONTEXTS"]),
    ("cs/semaphore.rs", &["THE_SECOND_VIDEO_ENGINE"]),
    ("eu/decode.rs", &["VERY_LONG_KERNELS"]),
    (
        "eu/decode8.rs",
        &[
            "MASKS_OF_SMOV",
            "MASKS_OF_SMOV",
            "OTHER_ARCHITECTURE_REGISTERS",
            "OTHER_ARCHITECTURE_REGISTERS",
            "OTHER_ARCHITECTURE_REGISTERS",
            "OTHER_ARCHITECTURE_REGISTERS",
            "EXTENDED_ACCUMULATORS",
            "OTHER_ARCHITECTURE_REGISTERS",
        ],
    ),
    ("eu/run.rs", &["THREADS_THAT_WAIT_FOREVER"]),
    ("gen45/commands.rs", &["PACKETS_OF_THE_G45_BESIDES_DRAWING"]),
    ("gen45/debug/dispatch.rs", &["DEBUG_FUNCTIONS_OF_THE_G45"]),
    ("gen45/debug/registers.rs", &["DEBUG_FUNCTIONS_OF_THE_G45"]),
    ("gen45/media/descriptor.rs", &["DEBUG_FUNCTIONS_OF_THE_G45"]),
    ("gen45/media/front.rs", &["MODES_OF_THE_G45_FRONT_END"; 3]),
    ("gen45/media/pool.rs", &["ROOT_THREADS_THAT_THREADS_START"]),
    ("gen45/pipeline/common.rs", &["RARE_FLAGS_OF_UNITS_ON_THE_G45"]),
    ("gen45/pipeline/depth_buffer.rs", &["CUBES_OF_DEPTH_ON_THE_G45"]),
    ("gen45/pipeline/draw.rs", &["ADJACENCY_ON_THE_G45"]),
    ("gen45/pipeline/fetch.rs", &["RARE_VERTEX_FETCH_ON_THE_G45"; 2]),
    ("gen45/pipeline/wm.rs", &["THREADS_OF_32_PIXELS_ON_THE_G45"]),
    (
        "gen45/message/dataport/mod.rs",
        &["G45_MESSAGES_WITH_A_NAME_ONLY", "G45_MESSAGES_WITH_A_NAME_ONLY"],
    ),
    ("gen45/message/dataport/owords.rs", &["G45_MESSAGES_WITH_A_NAME_ONLY"]),
    ("gen45/message/gateway.rs", &["THREADS_WITH_THE_SAME_ADDRESS"]),
    ("gen45/message/sampler/mod.rs", &["G45_MESSAGES_WITH_A_NAME_ONLY"]),
    ("gpu/execlist.rs", &["CONTEXTS_WITH_SHARED_VIRTUAL_MEMORY"]),
    ("gpu/mmio.rs", &["DEBUG_FUNCTIONS_OF_THE_G45", "THE_SECOND_VIDEO_ENGINE"]),
    ("machine/exec.rs", &["LISTS_THAT_A_BATCH_SUBMITS"]),
    ("render/hiz.rs", &["DEPTH_CLEARS_WITHOUT_A_VALUE"]),
    ("render/te.rs", &["SOFTWARE_TESSELLATION"]),
    ("render/wm.rs", &["TARGETS_WITHOUT_A_PIXEL_SHADER"]),
    ("unit/dataport/mod.rs", &["DATA_PORT_MESSAGES_WITH_A_NAME_ONLY"]),
    ("unit/dispatch.rs", &["OTHER_SHARED_FUNCTIONS"]),
    ("unit/gateway.rs", &["GATEWAY_MESSAGES_WITHOUT_A_PAYLOAD", "THREADS_WITH_THE_SAME_ADDRESS"]),
    (
        "unit/render_cache.rs",
        &[
            "RENDER_TARGET_READS",
            "HALF_PRECISION_RENDER_TARGET_WRITES",
            "STENCIL_IN_RENDER_TARGET_WRITES",
        ],
    ),
    ("unit/resource_streamer/gather.rs", &["CONSTANTS_GATHERED_FROM_IMAGES"]),
    ("unit/resource_streamer/tables.rs", &["BINDING_TABLES_OF_CORE_1"]),
    (
        "unit/sampler/media/mod.rs",
        &[
            "MEDIA_MESSAGES_OF_THE_SAMPLER",
            "FUNCTIONS_OF_SAMPLE_8X8",
            "THE_SMOOTH_FILTER_OF_SAMPLE_8X8",
        ],
    ),
    ("unit/vme/mod.rs", &["RARE_FUNCTIONS_OF_MOTION_ESTIMATION"; 3]),
    ("vebox/job.rs", &["NAMES_OF_THE_GAMUT", "NAMES_OF_THE_GAMUT", "DENOISING_OF_BAYER_PATTERNS"]),
    ("video/avc_short.rs", &["RARE_SLICES_OF_THE_SHORT_FORMAT"; 3]),
    ("video/encode/avc.rs", &["RARE_FUNCTIONS_OF_ENCODERS"; 2]),
    ("video/encode/avc_macroblock.rs", &["RARE_FUNCTIONS_OF_ENCODERS"]),
    ("video/encode/items.rs", &["RARE_FUNCTIONS_OF_ENCODERS"]),
    ("video/encode/input.rs", &["RARE_FUNCTIONS_OF_ENCODERS"; 2]),
    ("video/encode/mod.rs", &["RARE_FUNCTIONS_OF_ENCODERS"]),
    ("video/encode/mpeg2.rs", &["RARE_FUNCTIONS_OF_ENCODERS"; 2]),
    ("video/it/mod.rs", &["MACROBLOCKS_OF_AVC_AND_VC1"]),
    ("video/status.rs", &["RECORDS_OF_DECODED_MACROBLOCKS"]),
    ("video/surface.rs", &["OTHER_FORMATS_OF_DECODED_PICTURES"]),
];

/// Files with functions that make the fault of a caller, and how often they do so themselves.
const MAKERS: &[(&str, usize)] =
    &[("eu/decode8.rs", 2), ("machine/exec.rs", 1), ("machine/fault.rs", 1), ("unit/port.rs", 2)];

/// The number of faults that tokens make: calls of `unimplemented` and `missing`, and values of
/// `Unimplemented` with a `what` that is set. Skips tests.
fn faults(tokens: TokenStream) -> usize {
    let mut count = 0;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if is_test_only(&group.stream()) => skip_item(&mut tokens),
            TokenTree::Group(group) => count += faults(group.stream()),
            // A definition is not a call.
            TokenTree::Ident(word) if word == "fn" => _ = tokens.next(),
            TokenTree::Ident(word) => {
                let Some(TokenTree::Group(group)) = tokens.peek() else { continue };
                let called = group.delimiter() == Delimiter::Parenthesis
                    && (word == "unimplemented" || word == "missing");
                // `Unimplemented { what: ..` without `..` at its end is a value, not a pattern.
                let made = group.delimiter() == Delimiter::Brace
                    && word == "Unimplemented"
                    && group.stream().to_string().starts_with("what")
                    && !group.stream().to_string().contains("..");
                count += usize::from(called || made);
            }
            _ => {}
        }
    }
    count
}

/// Calls `each` with the path of each source file below `folder`, relative to `root`, and its text.
/// Skips tests and assumptions.
fn sources(root: &Path, folder: &Path, each: &mut dyn FnMut(String, String)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if matches!(name, "tests" | "assumptions") {
            continue;
        }
        if path.is_dir() {
            sources(root, &path, each);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let file = path.strip_prefix(root).expect("below the root").display().to_string();
            each(file, fs::read_to_string(&path).expect("a source file"));
        }
    }
}

/// Each fault for something that the model does not implement has an entry in the area `faults`,
/// and each entry of the area has a fault.
#[test]
fn every_fault_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut named = BTreeSet::new();
    sources(&root, &root, &mut |file, text| {
        let found = faults(text.parse().unwrap_or_else(|error| panic!("{file}: {error}")));
        let listed = FAULTS.iter().find(|(name, _)| *name == file).map_or(&[][..], |(_, l)| l);
        let makers = MAKERS.iter().find(|(name, _)| *name == file).map_or(0, |(_, n)| *n);
        assert_eq!(
            found,
            listed.len() + makers,
            "{file}: list each fault for a missing thing in the area `faults` and in FAULTS"
        );
        named.extend(listed.iter().copied());
    });
    let area = AREAS.iter().find(|area| area.name == "faults").expect("the area");
    let entries: BTreeSet<&str> = area.assumptions.iter().map(|entry| entry.name).collect();
    assert_eq!(named, entries);
}
