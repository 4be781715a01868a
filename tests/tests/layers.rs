//! The layers of each crate: a module imports from its own layer and from lower ones, and files
//! form no circle.
//!
//! The tests read the paths in the source files that begin with `crate`, `super` or `self`, in
//! `use` lines, expressions and macros, and compare them with the table [`CRATES`]. They also fail
//! if modules of the top level form a cycle, or if files import each other in a circle. Tests
//! (`#[cfg(test)]`, `tests.rs`, `tests/`) are left out; the root (`lib.rs`) may import everything.
//! To add a crate, add an entry to [`CRATES`], or to [`WITHOUT_LAYERS`] if its modules form no
//! layers.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A crate and its layers.
struct Layers {
    /// Folder of the sources, from the root of the workspace.
    src: &'static str,
    /// Lowest layer first. A module below the top level is written with its parents, `a::b`. A
    /// module that is not listed belongs to its parent. All modules of the top level must be
    /// listed.
    layers: &'static [&'static [&'static str]],
}

const CRATES: &[Layers] = &[
    Layers {
        src: "runtime/src",
        layers: &[
            &["gen8", "gen45", "memory", "merge", "read", "submission"],
            &["decode"],
            &["json", "query", "html", "diff", "check"],
            &["capture", "error_state", "devcoredump", "aub"],
            &["hang", "pasted"],
            &["batch"],
            &["mi", "setup"],
            &["dump"],
            &["guide"],
        ],
    },
    Layers {
        src: "codegen/src",
        layers: &[
            &["embedded", "source"],
            &["diagnostic", "model"],
            &["bases", "expr", "value", "words", "xml"],
            &["check", "convert", "emit", "index", "list", "show"],
            &["load"],
            &["generate"],
            &["parts"],
        ],
    },
    Layers {
        src: "sim/src",
        layers: &[
            &["assumptions", "mem", "surface"],
            &["machine"],
            &["eu"],
            &["pixel"],
            &["unit"],
            &["blt", "media", "render", "vebox", "video"],
            &["cs"],
            &["gen45"],
            &["inspect"],
            &["gpu"],
            &["aub", "error_state", "replay"],
            &["debugger", "pixel_history"],
            &["runs"],
            &["bisect", "value_slice"],
        ],
    },
    Layers { src: "sim/drm-shim/src", layers: &[&["device"], &["tree"], &["edge"]] },
];

/// Source folders of crates whose modules form no layers. Their files form no circle either.
const WITHOUT_LAYERS: &[&str] = &[
    "codegen/syntax/src",
    "codegen/terms/src",
    "runtime/core/src",
    "runtime/eu/src",
    "runtime/gen8/src",
    "gen-macros/src",
    "cli/src",
    "sim/drm-shim/uapi/src",
    "sim/codecs/src",
    "tests/kit/src",
];

/// Circles that are allowed, each with all its files in order of their names. Only types that
/// contain each other need a circle, and such types usually fit into one file.
const ALLOWED_CIRCLES: &[&[&str]] = &[];

/// A path of a module or item, from the root of its crate.
type Module = Vec<String>;

/// A path in a `use` line, an expression or a macro.
struct Link {
    /// The module that contains the path.
    module: Module,
    /// The path as written.
    path: Module,
    /// True for a re-export.
    is_public: bool,
}

/// The modules and imports of a crate.
#[derive(Default)]
struct Sources {
    /// Modules, each with its file.
    modules: BTreeMap<Module, String>,
    /// Modules that are compiled only for tests.
    tests: BTreeSet<Module>,
    /// Paths that a module uses, with the file.
    imports: Vec<(Module, Module, String)>,
    /// All paths, also those to other crates.
    links: Vec<Link>,
    /// Names that a module re-exports, each with the path it stands for as written. For the root
    /// also imports that are not public, because all modules can use them.
    names: BTreeMap<Module, BTreeMap<String, Module>>,
}

/// Adds to `out` the paths of a use tree or path, each with its alias. `tokens` are what follows
/// the segments in `prefix`.
fn expand(prefix: &[String], tokens: &[TokenTree], out: &mut Vec<(Module, Option<String>)>) {
    let mut path = prefix.to_vec();
    let mut at = 0;
    let mut alias = None;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(ident)) if *ident == "as" => {
                alias = tokens.get(at + 1).map(ToString::to_string);
                break;
            }
            Some(TokenTree::Ident(ident)) if *ident == "self" && !path.is_empty() => {}
            Some(TokenTree::Ident(ident)) => path.push(ident.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
                for part in inner.split(comma).filter(|part| !part.is_empty()) {
                    expand(&path, part, out);
                }
                return;
            }
            _ => break,
        }
        at += 1;
        match is_path_separator(tokens, at) {
            true => at += 2,
            false => match tokens.get(at) {
                Some(TokenTree::Ident(ident)) if *ident == "as" => {}
                _ => break,
            },
        }
    }
    out.push((path, alias));
}

/// True if `::` is at this position.
fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens, at, ':') && is_punct(tokens, at + 1, ':')
}

/// True if this punctuation is at this position.
fn is_punct(tokens: &[TokenTree], at: usize, punct: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == punct)
}

/// The identifier at this position.
fn ident(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at) {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

/// True for `[cfg(test)]` and `[cfg(all(test, ...))]`.
fn is_test_attribute(token: &TokenTree) -> bool {
    let text = token.to_string().replace([' ', '\n'], "");
    text.starts_with("[cfg(test)") || text.starts_with("[cfg(all(test,")
}

/// The position after the item that begins at `at`. The item may begin with attributes.
fn after_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Punct(it) if it.as_char() == ';' => break,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
            _ => {}
        }
    }
    at
}

/// The position after the `use` line that begins at `at`.
fn after_use(tokens: &[TokenTree], at: usize) -> usize {
    (at..tokens.len()).find(|at| is_punct(tokens, *at, ';')).map_or(tokens.len(), |end| end + 1)
}

/// True if the item whose keyword is at `at` has a visibility: `pub` or `pub(...)`.
fn is_public(tokens: &[TokenTree], at: usize) -> bool {
    let is_pub =
        |at: Option<usize>| at.and_then(|at| ident(tokens, at)).is_some_and(|it| it == "pub");
    match at.checked_sub(1).map(|before| &tokens[before]) {
        Some(TokenTree::Group(_)) => is_pub(at.checked_sub(2)),
        _ => is_pub(at.checked_sub(1)),
    }
}

/// True for `(in PATH)`, which follows `pub`.
fn is_visibility(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(it)) if it == "in")
}

impl Sources {
    /// Reads all Rust files under `dir`, which is the module `module`.
    fn read(&mut self, root: &Path, dir: &Path, module: &Module) {
        let mut entries: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let child = || [module.as_slice(), std::slice::from_ref(&stem)].concat();
            if stem == "tests" {
                continue;
            } else if path.is_dir() {
                self.read(root, &path, &child());
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = match &stem[..] {
                    "lib" | "main" if module.is_empty() => Module::new(),
                    "mod" => module.clone(),
                    _ => child(),
                };
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                self.file(module, &name, &fs::read_to_string(&path).unwrap());
            }
        }
    }

    /// Reads one file.
    fn file(&mut self, module: Module, name: &str, text: &str) {
        let tokens: TokenStream =
            text.parse().unwrap_or_else(|error| panic!("{name} is not Rust: {error}"));
        self.modules.insert(module.clone(), name.to_owned());
        self.tokens(&module, name, tokens);
    }

    fn tokens(&mut self, module: &Module, file: &str, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let next = ident(&tokens, at + 1);
            match token {
                TokenTree::Punct(it) if it.as_char() == '#' => {
                    at += 1;
                    if !tokens.get(at).is_some_and(is_test_attribute) {
                        continue;
                    }
                    let end = after_item(&tokens, at + 1);
                    for at in at..end {
                        if ident(&tokens, at).is_some_and(|word| word == "mod")
                            && let Some(name) = ident(&tokens, at + 1)
                        {
                            self.tests.insert([module.as_slice(), &[name]].concat());
                        }
                    }
                    at = end;
                    continue;
                }
                TokenTree::Ident(word) if *word == "mod" && next.is_some() => {
                    let inner = [module.as_slice(), &[next.unwrap()]].concat();
                    at += 2;
                    if let Some(TokenTree::Group(group)) = tokens.get(at) {
                        self.modules.insert(inner.clone(), file.to_owned());
                        self.tokens(&inner, file, group.stream());
                        at += 1;
                    }
                    continue;
                }
                // The text in `quote!` is generated code, whose paths belong to another crate.
                TokenTree::Ident(word) if *word == "quote" && is_punct(&tokens, at + 1, '!') => {
                    at += 2
                }
                TokenTree::Ident(word) if *word == "use" => {
                    let is_public = is_public(&tokens, at);
                    let mut found = Vec::new();
                    expand(&[], &tokens[at + 1..], &mut found);
                    for (path, alias) in found {
                        if is_public || module.is_empty() {
                            let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
                            let names = self.names.entry(module.clone()).or_default();
                            names.insert(name, path.clone());
                        }
                        self.link(module, path, file, is_public);
                    }
                    // `use<>` in a type has no semicolon.
                    if !is_punct(&tokens, at + 1, '<') {
                        at = after_use(&tokens, at);
                        continue;
                    }
                }
                TokenTree::Ident(_)
                    if is_path_separator(&tokens, at + 1)
                        && !(at >= 2 && is_path_separator(&tokens, at - 2)) =>
                {
                    let mut found = Vec::new();
                    expand(&[], &tokens[at..], &mut found);
                    for (path, _) in found {
                        self.link(module, path, file, false);
                    }
                    // Skip the rest of the path: the second keyword of `super::super` starts no
                    // other path.
                    while is_path_separator(&tokens, at + 1) {
                        at += 3;
                    }
                }
                // The path of a visibility, `pub(in crate::a)`, imports nothing.
                TokenTree::Group(group) if is_visibility(group) => {}
                TokenTree::Group(group) => self.tokens(module, file, group.stream()),
                _ => {}
            }
            at += 1;
        }
    }

    /// Adds a path of a module.
    fn link(&mut self, module: &Module, path: Module, file: &str, is_public: bool) {
        if path.first().is_some_and(|first| is_keyword(first)) {
            self.imports.push((module.clone(), absolute(module, &path), file.to_owned()));
        }
        self.links.push(Link { module: module.clone(), path, is_public });
    }

    /// The path of an import. A name that the root re-exports is replaced by its origin. `None` if
    /// the name comes from another crate.
    fn resolved(&self, path: &Module) -> Option<Module> {
        let first = path.first()?;
        if self.modules.contains_key(std::slice::from_ref(first)) {
            return Some(path.clone());
        }
        let origin = self.names.get(&Module::new())?.get(first)?;
        let begin = usize::from(origin.first().is_some_and(|it| it == "crate" || it == "self"));
        let origin = &origin[begin..];
        let there = origin.first().is_some_and(|it| {
            self.modules.contains_key(std::slice::from_ref(it)) && origin.len() > 1
        });
        there.then(|| [origin, &path[1..]].concat())
    }

    /// Violations of the layers, as lines of text.
    fn problems(&self, layers: &[&[&str]]) -> Vec<String> {
        let mut problems = BTreeSet::new();
        let level = |module: &Module| {
            (1..=module.len()).rev().find_map(|length| {
                let name = module[..length].join("::");
                let level = layers.iter().position(|layer| layer.contains(&&name[..]))?;
                Some((level, name))
            })
        };
        for (module, file) in &self.modules {
            if !module.is_empty() && !self.is_test(module) && level(module).is_none() {
                let name = module.join("::");
                problems.insert(format!("{file}: the table has no layer for {name}: add it"));
            }
        }
        let mut edges: BTreeMap<&String, BTreeMap<String, String>> = BTreeMap::new();
        for (module, path, file) in &self.imports {
            if module.is_empty() || self.is_test(module) {
                continue;
            }
            let Some(target) = self.resolved(path) else { continue };
            let text = path.join("::");
            if let (Some((from, from_name)), Some((to, to_name))) = (level(module), level(&target))
                && to > from
            {
                problems.insert(format!(
                    "{file}: {from_name} (layer {from}) imports {text} of {to_name} (layer {to}), \
                     which is higher: move what both need down, or pass a value or a trait"
                ));
            }
            if module[0] != target[0] {
                let example = format!("{file}: {text}");
                edges.entry(&module[0]).or_default().entry(target[0].clone()).or_insert(example);
            }
        }
        // Modules that import nothing, or that nothing imports, are in no cycle: they are removed
        // until none is left.
        loop {
            let before = edges.len();
            let from: BTreeSet<String> = edges.keys().map(|name| (*name).clone()).collect();
            let to: BTreeSet<String> = edges.values().flat_map(|to| to.keys().cloned()).collect();
            edges.values_mut().for_each(|to| to.retain(|name, _| from.contains(name)));
            edges.retain(|name, imports| to.contains(*name) && !imports.is_empty());
            if edges.len() == before {
                break;
            }
        }
        for (from, to) in edges {
            for (to, example) in to {
                problems.insert(format!("cycle: {from} imports {to} ({example})"));
            }
        }
        problems.into_iter().collect()
    }

    /// The path of a link from the root; `None` for a path to another crate.
    fn own(&self, module: &Module, path: &Module) -> Option<Module> {
        if is_keyword(path.first()?) {
            return Some(absolute(module, path));
        }
        let child = [module.as_slice(), &path[..1]].concat();
        self.modules.contains_key(&child).then(|| [module.as_slice(), path].concat())
    }

    /// The module that defines the item at a path, which follows re-exports; `None` if that is
    /// another crate.
    fn definition(&self, path: &Module) -> Option<Module> {
        let mut path = path.clone();
        // A chain of re-exports is short. The limit ends a loop, which does not compile anyway.
        for _ in 0..10 {
            let length = (0..=path.len())
                .rev()
                .find(|length| self.modules.contains_key(&path[..*length]))?;
            let (module, rest) = path.split_at(length);
            let origin = rest.first().and_then(|name| self.names.get(module)?.get(name));
            let Some(origin) = origin else { return Some(module.to_vec()) };
            path = [self.own(&module.to_vec(), origin)?.as_slice(), &rest[1..]].concat();
        }
        None
    }

    /// The imports of each file, with an example of a path for each. Imports from and to the root
    /// and tests are left out, and so are re-exports from a module's own children.
    fn files(&self) -> BTreeMap<&str, BTreeMap<&str, String>> {
        let mut edges: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
        let left_out = |module: &Module| module.is_empty() || self.is_test(module);
        for Link { module, path, is_public } in &self.links {
            let target = self.own(module, path).and_then(|path| self.definition(&path));
            let Some(target) = target.filter(|target| !left_out(target) && !left_out(module))
            else {
                continue;
            };
            if *is_public && target.starts_with(module) {
                continue;
            }
            let (from, to) = (&self.modules[module][..], &self.modules[&target][..]);
            if from != to {
                edges.entry(from).or_default().entry(to).or_insert_with(|| path.join("::"));
            }
        }
        edges
    }

    /// Circles of files: for each, the files in order of their names, and their imports of each
    /// other as lines of text.
    fn circles(&self) -> Vec<(Vec<&str>, String)> {
        let edges = self.files();
        let reached = |from: &str| {
            let mut reached: BTreeSet<&str> = BTreeSet::new();
            let mut next: Vec<&str> =
                edges.get(from).into_iter().flat_map(BTreeMap::keys).copied().collect();
            while let Some(file) = next.pop() {
                if reached.insert(file) {
                    next.extend(edges.get(file).into_iter().flat_map(BTreeMap::keys));
                }
            }
            reached
        };
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            edges.keys().map(|file| (*file, reached(file))).collect();
        let mut circles: BTreeMap<Vec<&str>, String> = BTreeMap::new();
        for (file, others) in &reached {
            let back = |other: &&str| reached.get(other).is_some_and(|its| its.contains(file));
            let circle: Vec<&str> = others.iter().copied().filter(back).collect();
            if circle.is_empty() {
                continue;
            }
            let mut text = String::new();
            for (from, to, path) in circle
                .iter()
                .flat_map(|from| edges[from].iter().map(move |(to, path)| (from, to, path)))
            {
                if circle.contains(to) {
                    _ = write!(text, "\n  {from} imports {to} ({path})");
                }
            }
            circles.insert(circle, text);
        }
        circles.into_iter().collect()
    }

    fn is_test(&self, module: &Module) -> bool {
        (1..=module.len()).any(|length| self.tests.contains(&module[..length]))
    }
}

/// True for the words that begin a path in the own crate.
fn is_keyword(word: &str) -> bool {
    matches!(word, "crate" | "super" | "self")
}

/// A path that begins with `crate`, `super` or `self` in `module`, from the root.
fn absolute(module: &Module, path: &Module) -> Module {
    let mut base = module.clone();
    let mut rest = &path[..];
    while let Some((first, after)) = rest.split_first() {
        match &first[..] {
            "crate" => base.clear(),
            "super" => _ = base.pop(),
            "self" => {}
            _ => break,
        }
        rest = after;
    }
    [base.as_slice(), rest].concat()
}

/// The sources in `files`, which are pairs of module and text. The module is the file's name, too.
fn sources(files: &[(&str, &str)]) -> Sources {
    let mut sources = Sources::default();
    for (module, text) in files {
        let path = module.split("::").filter(|it| !it.is_empty()).map(str::to_owned).collect();
        sources.file(path, module, text);
    }
    sources
}

/// The violations in `files`, which are pairs of module and text.
fn problems(files: &[(&str, &str)], layers: &[&[&str]]) -> Vec<String> {
    sources(files).problems(layers)
}

#[test]
fn modules_import_from_lower_layers_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for Layers { src, layers } in CRATES {
        let mut sources = Sources::default();
        sources.read(root, &root.join(src), &Module::new());
        assert!(sources.imports.len() > 50, "{src}: the paths are not found");
        for name in layers.iter().flat_map(|layer| layer.iter()) {
            let module: Module = name.split("::").map(str::to_owned).collect();
            if !sources.modules.contains_key(&module) {
                found.push(format!("{src}: {name} is in the table but does not exist"));
            }
        }
        found.extend(sources.problems(layers));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The circles in `sources` that are not in `allowed`, as lines of text.
fn circle_problems(sources: &Sources, allowed: &[&[&str]]) -> Vec<String> {
    let circles = sources.circles();
    let bad = circles.iter().filter(|(files, _)| !allowed.contains(&&files[..]));
    bad.map(|(files, imports)| {
        format!(
            "{} files form a circle: move what several of them need to a file below:{imports}",
            files.len()
        )
    })
    .collect()
}

#[test]
fn files_form_no_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for src in CRATES.iter().map(|it| it.src).chain(WITHOUT_LAYERS.iter().copied()) {
        let mut sources = Sources::default();
        sources.read(root, &root.join(src), &Module::new());
        assert!(!sources.links.is_empty(), "{src}: the paths are not found");
        found.extend(circle_problems(&sources, ALLOWED_CIRCLES));
        let circles = sources.circles().into_iter();
        seen.extend(
            circles.map(|(files, _)| files.into_iter().map(str::to_owned).collect::<Vec<_>>()),
        );
    }
    for circle in ALLOWED_CIRCLES.iter().filter(|allowed| !seen.iter().any(|it| it == **allowed)) {
        found.push(format!("{circle:?} is allowed but does not exist: remove it from the list"));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

const TWO: &[&[&str]] = &[&["low"], &["high"]];

#[test]
fn good_imports_pass() {
    let files = [
        ("", "mod low; mod high; pub use low::Thing; pub use other as external;"),
        ("low", "use std::fmt; use crate::external::X; use self::inner::Y; mod inner {}"),
        ("high", "use crate::{low::{A, b::C}, Thing}; fn f() { crate::low::g() }"),
        ("high::part", "use super::X; use super::super::low::A;"),
    ];
    assert_eq!(problems(&files, TWO), [""; 0]);
}

#[test]
fn upward_imports_are_found_in_every_form() {
    for text in [
        "use crate::high::X;",
        "use crate::{core::Y, high::{self as up}};",
        "use super::high::X;",
        "pub use crate::high as higher;",
        "fn f() { crate::high::g(); }",
        "fn f() -> Vec<crate::high::X> { Vec::new() }",
        "fn f() { println!(\"{}\", super::high::X); }",
        "use crate::Thing;",
        "mod inner { use super::super::high::X; }",
        "#[cfg(not(test))] use crate::high::X;",
        "#[cfg(test)] mod tests { } use crate::high::X;",
    ] {
        let files = [("", "mod low; mod high; pub use high::Thing;"), ("low", text), ("high", "")];
        let found = problems(&files, TWO);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].starts_with("low: low (layer 0) imports"), "{found:?}");
    }
}

#[test]
fn tests_may_import_everything() {
    let files = [
        ("", "mod low; mod high;"),
        ("low", "#[cfg(test)] mod tests { use crate::high::X; } #[cfg(test)] mod check;"),
        ("low::check", "use crate::high::X;"),
        ("high", "use crate::low::X;"),
    ];
    assert_eq!(problems(&files, TWO), [""; 0]);
}

#[test]
fn cycles_are_found_within_a_layer() {
    let files = [
        ("a", "use crate::b::X;"),
        ("b", "use crate::c::X;"),
        ("c", "use crate::a::X; use crate::d::X;"),
        ("d", ""),
        ("e", "use crate::d::X; use crate::a::X;"),
    ];
    let found = problems(&files, &[&["a", "b", "c", "d", "e"]]);
    let expected = [
        "cycle: a imports b (a: b::X)",
        "cycle: b imports c (b: c::X)",
        "cycle: c imports a (c: a::X)",
    ];
    assert_eq!(found, expected);
}

#[test]
fn modules_without_a_layer_are_found() {
    let found = problems(&[("low", ""), ("new", "")], TWO);
    assert_eq!(found, ["new: the table has no layer for new: add it"]);
}

/// The circles in `files`, each as the names of its files.
fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let sources = sources(files);
    let names = |(files, _): (Vec<&str>, _)| files.into_iter().map(str::to_owned).collect();
    sources.circles().into_iter().map(names).collect()
}

#[test]
fn circles_of_files_are_found_in_every_form() {
    for text in [
        "use super::b::X;",
        "use super::{c::Y, b::{self as other}};",
        "use crate::a::b::*;",
        "use super::X;",
        "use crate::Thing;",
        "use crate::a::higher::g;",
        "pub use super::b::Z;",
        "fn f() { super::b::g::<u8>(); }",
        "fn f() { println!(\"{}\", super::b::X); }",
        "fn f() -> impl Fn() + use<> { super::b::g }",
        "mod inner { use super::super::b::X; }",
        "mod inner; fn f() { inner::g() }",
    ] {
        let mut files = vec![
            ("", "mod a; pub use a::b::X as Thing; use a::b;"),
            ("a", "mod b; mod c; mod d; pub(crate) use b::X; pub use b as higher;"),
            ("a::b", "use super::c::Y;"),
            ("a::c", text),
            ("a::d", "use super::{b::X, c::Y};"),
        ];
        let mut expected = vec!["a::b", "a::c"];
        if text.contains("mod inner;") {
            files.push(("a::c::inner", "use super::super::b::X;"));
            expected.push("a::c::inner");
        }
        assert_eq!(circles(&files), [expected], "{text}");
    }
}

#[test]
fn files_without_a_circle_pass() {
    let files = [
        // The root imports everything, and everything may import from the root.
        ("", "mod a; pub use a::b::X; pub use other as external; pub struct OfRoot;"),
        // A module re-exports its children, which import each other.
        ("a", "pub mod b; mod c; pub use b::X; pub(crate) use c::{Y, Y as Why};"),
        ("a::b", "use super::c::Y; use crate::{OfRoot, external::Z}; use std::a::b;"),
        // Visibilities, tests and generated code import nothing.
        (
            "a::c",
            "pub(in crate::a::b) struct Y; #[cfg(test)] mod tests { use super::super::b; } \
             fn f() { quote!(super::b::g()) }",
        ),
    ];
    assert_eq!(circles(&files), [[""; 0]; 0]);
    // A parent that uses a child, whose code uses the parent.
    let files = [("a", "mod b; use b::X;"), ("a::b", "use super::Y;")];
    assert_eq!(circles(&files), [["a", "a::b"]]);
}

#[test]
fn separate_circles_are_reported_separately() {
    let files = [
        ("a", "use crate::b::X;"),
        ("b", "use crate::a::X; use crate::c::X;"),
        ("c", "use crate::d::X;"),
        ("d", "use crate::e::X;"),
        ("e", "use crate::c::X;"),
    ];
    assert_eq!(circles(&files), [vec!["a", "b"], vec!["c", "d", "e"]]);
    let found = circle_problems(&sources(&files), &[&["a", "b"]]);
    let expected = "3 files form a circle: move what several of them need to a file below:\n  \
                    c imports d (crate::d::X)\n  d imports e (crate::e::X)\n  \
                    e imports c (crate::c::X)";
    assert_eq!(found, [expected]);
}
