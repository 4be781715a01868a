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
