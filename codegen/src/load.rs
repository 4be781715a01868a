//! Loads files to a [`Spec`]: reads and parses them, merges imports, resolves names.
//!
//! There are two passes. The first reads the enumerations and collects the names of the structures.
//! The second reads the containers, whose names can then be resolved. Broken items are reported and
//! left out, so that one problem does not hide the next.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::check;
use crate::convert;
use crate::diagnostic::{Code, Diagnostic, Report, Severity};
use crate::index::{self, Index};
use crate::model::{Container, ContainerId, Enum, EnumId, Group, SourceFile, Spec, Type};
use crate::words::{ALL_PIPELINES, PIPELINES};
use crate::xml::{self, At, Element};
use genxml_syntax::suggest;

/// The readable part of a specification, and its problems.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The part that could be read.
    pub spec: Spec,
    /// The problems found while reading, warnings included.
    pub diagnostics: Vec<Diagnostic>,
    /// Indexes of containers with unreadable parts. Checks of their layout would only repeat these
    /// problems.
    pub broken: HashSet<usize>,
    /// The index files of the folders that have one ([`index::FILE`]).
    pub indexes: Vec<Index>,
}

/// The rules that apply to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// This project's rules if an element in any of the given files has a `source`, Mesa's rules
    /// otherwise. The rules of each imported file are chosen separately.
    #[default]
    BySource,
    /// Mesa's rules for every file: gaps, overlaps and duplicates are allowed, names must resolve.
    Mesa,
}

impl Loaded {
    /// Runs every check and reports all problems together.
    pub fn report(&self) -> Report {
        let mut diagnostics = self.diagnostics.clone();
        diagnostics.extend(check::check_except(&self.spec, &self.broken));
        let mut files = self.spec.files.clone();
        // The items of an unreadable file would be reported as missing, so the index is not
        // compared.
        if !diagnostics.iter().any(|d| matches!(d.code, Code::Xml | Code::Io)) {
            for index in &self.indexes {
                diagnostics.extend(index.check(&self.spec, files.len()));
                files.push(index.file.clone());
            }
        }
        Report::new(diagnostics, files)
    }

    fn finish(self) -> Result<Spec, Report> {
        match self.diagnostics.iter().any(|d| d.severity == Severity::Error) {
            true => Err(self.report()),
            false => Ok(self.spec),
        }
    }
}

/// Loads every `*.xml` of a folder, in the order of their names, and its index if it has one.
pub fn load_dir(dir: &Path) -> Result<Spec, Report> {
    read_dir(dir).finish()
}

/// Loads files, and the files of the same folder that they import.
pub fn load_files(paths: &[PathBuf]) -> Result<Spec, Report> {
    read_files(paths).finish()
}

/// Loads texts instead of files: pairs of path and content. Imports refer to these paths.
pub fn load_texts(texts: &[(&str, &str)]) -> Result<Spec, Report> {
    read_texts(texts).finish()
}

/// Does the same as [`load_dir`], but also returns the readable part if there are errors.
pub fn read_dir(dir: &Path) -> Loaded {
    match xml_files(dir) {
        Ok(paths) if paths.is_empty() => failed(format!("no *.xml in {}", dir.display())),
        Ok(mut paths) => {
            paths.extend(Some(dir.join(index::FILE)).filter(|path| path.is_file()));
            read_files(&paths)
        }
        Err(error) => failed(format!("cannot read {}: {error}", dir.display())),
    }
}

/// The `*.xml` files of a folder in the order of their names.
pub fn xml_files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "xml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The attribute `gen` of a file's root element. `None` if the file cannot be read, or if it does
/// not start with such an element.
pub fn root_generation(path: &Path) -> Option<String> {
    let mut reader = quick_xml::reader::Reader::from_file(path).ok()?;
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer).ok()? {
            quick_xml::events::Event::Start(root) if root.name().as_ref() == "genxml" => {
                let attribute = root.try_get_attribute("gen").ok()??;
                return Some(attribute.value.into_owned());
            }
            quick_xml::events::Event::Start(_) | quick_xml::events::Event::Eof => return None,
            _ => buffer.clear(),
        }
    }
}

fn failed(message: String) -> Loaded {
    Loaded { diagnostics: vec![Diagnostic::general(Code::Io, message)], ..Loaded::default() }
}

/// Does the same as [`load_files`], but also returns the readable part if there are errors. An
/// [index] among the files is compared with the files of its folder.
pub fn read_files(paths: &[PathBuf]) -> Loaded {
    read_files_as(paths, Dialect::default())
}

/// Does the same as [`read_files`], with a choice of rules.
pub fn read_files_as(paths: &[PathBuf], dialect: Dialect) -> Loaded {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let roots: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    read_with(&roots, &read, dialect)
}

/// Does the same as [`load_texts`], but also returns the readable part if there are errors.
pub fn read_texts(texts: &[(&str, &str)]) -> Loaded {
    read_texts_as(texts, Dialect::default())
}

/// Does the same as [`read_texts`], with a choice of rules.
pub fn read_texts_as(texts: &[(&str, &str)], dialect: Dialect) -> Loaded {
    let read = |path: &str| match texts.iter().find(|(name, _)| *name == path) {
        Some((_, text)) => Ok((*text).to_owned()),
        None => Err("no such file".to_owned()),
    };
    // All given texts are loaded, also those that others import.
    let roots: Vec<String> = texts.iter().map(|(path, _)| (*path).to_owned()).collect();
    read_with(&roots, &read, dialect)
}

/// A function that returns the text of a file, or the reason why it cannot be read.
type Read<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A child of the root that defines an engine, enumeration or container.
struct Item<'a> {
    file: usize,
    element: &'a Element,
    name: String,
}

fn read_with(roots: &[String], read: Read<'_>, dialect: Dialect) -> Loaded {
    let mut files = Files { dialect, ..Files::default() };
    let mut indexes = Vec::new();
    for root in roots {
        match index::is_index(root) {
            false => files.root(root, read),
            true => match read(root) {
                Ok(text) => indexes.push(Index::new(root, text)),
                Err(error) => files.unreadable(root, &error),
            },
        }
    }
    files.same_dialect();
    let Files { files, trees, problems, .. } = &mut files;
    let mut loaded = Loaded { diagnostics: std::mem::take(problems), indexes, ..Loaded::default() };
    loaded.spec.files = std::mem::take(files);
    if loaded.diagnostics.iter().any(|d| matches!(d.code, Code::Xml | Code::Io)) {
        return loaded; // names are missing, so further problems would only be consequences
    }
    header(trees, &mut loaded);
    let items = collect(trees, &mut loaded.diagnostics);
    resolve(&items, &mut loaded);
    loaded
}

/// A file's number, its tree, and its imports.
struct Tree {
    file: usize,
    root: Element,
    /// True if the file is read by Mesa's rules, as in [`SourceFile::foreign`].
    foreign: bool,
    /// Imported files, each with the names that the import excludes.
    imports: Vec<(usize, HashSet<String>)>,
}

#[derive(Default)]
struct Files {
    files: Vec<SourceFile>,
    trees: Vec<Tree>,
    by_path: HashMap<String, usize>,
    /// Files whose imports are being read, to detect cycles.
    open: Vec<usize>,
    problems: Vec<Diagnostic>,
    dialect: Dialect,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NameOnly {
    name: Option<At>,
}

impl Files {
    /// If one file that is not imported follows this project's rules, applies these rules to all
    /// such files.
    fn same_dialect(&mut self) {
        let imported = imported(&self.trees);
        let roots = || (0..self.files.len()).filter(|file| !imported.contains(file));
        if roots().all(|file| self.files[file].foreign) {
            return;
        }
        for file in roots().collect::<Vec<_>>() {
            self.files[file].foreign = false;
        }
        for tree in &mut self.trees {
            tree.foreign = self.files[tree.file].foreign;
        }
    }

    fn root(&mut self, path: &str, read: Read<'_>) {
        if self.by_path.contains_key(path) {
            return;
        }
        match read(path) {
            Ok(text) => drop(self.add(path, text, read)),
            Err(error) => self.unreadable(path, &error),
        }
    }

    fn unreadable(&mut self, path: &str, error: &str) {
        self.problems.push(Diagnostic::general(Code::Io, format!("cannot read {path}: {error}")));
    }

    fn add(&mut self, path: &str, text: String, read: Read<'_>) -> usize {
        let file = self.files.len();
        let unit = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let tree = xml::parse(file, &text, &mut self.problems);
        let foreign =
            tree.as_ref().is_some_and(|root| self.dialect == Dialect::Mesa || !has_source(root));
        self.files.push(SourceFile {
            path: path.to_owned(),
            unit: unit.unwrap_or_default(),
            feature: tree.as_ref().and_then(feature),
            pipelines: tree
                .as_ref()
                .map_or(ALL_PIPELINES, |root| pipelines(root, &mut self.problems)),
            text,
            foreign,
        });
        self.by_path.insert(path.to_owned(), file);
        if let Some(root) = tree {
            self.open.push(file);
            let imports = self.imports(path, &root, read);
            self.open.pop();
            self.trees.push(Tree { file, root, foreign, imports });
        }
        file
    }

    fn imports(
        &mut self,
        path: &str,
        root: &Element,
        read: Read<'_>,
    ) -> Vec<(usize, HashSet<String>)> {
        let mut imports = Vec::new();
        for element in root.children.iter().filter(|child| child.name == "import") {
            let attributes: NameOnly = xml::attributes(element, &mut self.problems);
            let Some(at) = convert::required(element, attributes.name, "name", &mut self.problems)
            else {
                continue;
            };
            let name = element.at(at);
            let mut wrong = |message: String| {
                self.problems.push(Diagnostic::new(Code::Import, name.value_span.clone(), message));
            };
            if Path::new(&name.value).components().count() != 1 {
                wrong(format!("`{}` is not a file beside this one", name.value));
                continue;
            }
            let sibling = Path::new(path).with_file_name(&name.value).display().to_string();
            let file = match self.by_path.get(&sibling) {
                Some(file) if self.open.contains(file) => {
                    wrong(format!("`{}` imports itself", name.value));
                    continue;
                }
                Some(file) => *file,
                None => match read(&sibling) {
                    Ok(text) => self.add(&sibling, text, read),
                    Err(error) => {
                        wrong(format!("cannot read {sibling}: {error}"));
                        continue;
                    }
                },
            };
            let excluded = self.excluded(element);
            imports.push((file, excluded));
        }
        imports
    }

    fn excluded(&mut self, import: &Element) -> HashSet<String> {
        let mut names = HashSet::new();
        for child in &import.children {
            if child.name != "exclude" {
                convert::unknown_element(child, import, &["exclude"], &mut self.problems);
                continue;
            }
            let attributes: NameOnly = xml::attributes(child, &mut self.problems);
            if let Some(at) = convert::required(child, attributes.name, "name", &mut self.problems)
            {
                names.insert(child.at(at).value.clone());
            }
        }
        names
    }
}

/// The files that others import.
fn imported(trees: &[Tree]) -> HashSet<usize> {
    trees.iter().flat_map(|tree| tree.imports.iter().map(|(file, _)| *file)).collect()
}

/// The attribute `feature` of the root.
fn feature(root: &Element) -> Option<String> {
    root.attributes
        .iter()
        .find(|attribute| attribute.name == "feature")
        .map(|attribute| attribute.value.clone())
}

/// The attribute `pipeline` of the root.
fn pipelines(root: &Element, problems: &mut Vec<Diagnostic>) -> u8 {
    let found = root.attributes.iter().find(|attribute| attribute.name == "pipeline");
    found.map_or(ALL_PIPELINES, |at| convert::words(at, PIPELINES, problems))
}

/// True if any element has a `source`. Then all checks apply to the file.
fn has_source(element: &Element) -> bool {
    element.attributes.iter().any(|attribute| attribute.name == "source")
        || element.children.iter().any(has_source)
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RootAttributes {
    name: Option<At>,
    r#gen: Option<At>,
    #[serde(rename = "feature")]
    _feature: Option<At>,
    #[serde(rename = "pipeline")]
    _pipeline: Option<At>,
    #[serde(rename = "source")]
    _source: Option<At>,
    #[serde(rename = "doc")]
    _doc: Option<At>,
}

/// Sets the platform of the specification from the roots of its files. Imported files may describe
/// other platforms.
fn header(trees: &[Tree], loaded: &mut Loaded) {
    let imported = imported(trees);
    let mut first: Option<&Element> = None;
    let mut in_order: Vec<&Tree> = trees.iter().collect();
    in_order.sort_by_key(|tree| tree.file);
    for tree in in_order {
        let root = &tree.root;
        let problems = &mut loaded.diagnostics;
        if root.name != "genxml" {
            let message = format!("the root element is <{}>, not <genxml>", root.name);
            problems.push(Diagnostic::new(Code::Element, root.name_span.clone(), message));
            continue;
        }
        let attributes: RootAttributes = xml::attributes(root, problems);
        convert::required(root, attributes.name, "name", problems);
        // Mesa's file about ray tracing is for several generations, so its `gen` is empty.
        if !tree.foreign || attributes.r#gen.is_none() {
            convert::required(root, attributes.r#gen, "gen", problems);
        }
        convert::no_text(root, problems);
        if imported.contains(&tree.file) {
            continue;
        }
        let (name, generation) = (root.text_of(attributes.name), root.text_of(attributes.r#gen));
        match first {
            None => {
                first = Some(root);
                loaded.spec.name = name;
                loaded.spec.generation = generation;
            }
            Some(other) if (&name, &generation) != (&loaded.spec.name, &loaded.spec.generation) => {
                let message = format!(
                    "this file is for {name} gen {generation}, others are for {} gen {}",
                    loaded.spec.name, loaded.spec.generation
                );
                problems.push(
                    Diagnostic::new(Code::Platform, root.span.clone(), message)
                        .also(other.span.clone(), "as here")
                        .hint(
                            "load one platform at a time; another platform's file is an <import>",
                        ),
                );
            }
            Some(_) => {}
        }
    }
}

const ITEMS: &[&str] = &["engine", "enum", "struct", "instruction", "register"];
const ROOT_CHILDREN: &[&str] = &["import", "engine", "enum", "struct", "instruction", "register"];

/// Returns the items of all files. For each file that is not imported: its own items, then the
/// imported ones that it neither excludes nor defines itself.
fn collect<'a>(trees: &'a [Tree], problems: &mut Vec<Diagnostic>) -> Vec<Item<'a>> {
    let own: HashMap<usize, Vec<Item<'a>>> =
        trees.iter().map(|tree| (tree.file, own_items(tree, problems))).collect();
    let by_file: HashMap<usize, &Tree> = trees.iter().map(|tree| (tree.file, tree)).collect();
    let imported = imported(trees);
    let mut items = Vec::new();
    let mut files: Vec<usize> =
        by_file.keys().copied().filter(|file| !imported.contains(file)).collect();
    files.sort_unstable();
    for file in files {
        let mut merged = Vec::new();
        merge(file, &by_file, &own, &mut merged, problems);
        items.extend(merged);
    }
    // Two files may import the same file; its items are returned once.
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    items.retain(|item| seen.insert((item.file, item.element.span.range.start)));
    items
}

fn own_items<'a>(tree: &'a Tree, problems: &mut Vec<Diagnostic>) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    for element in &tree.root.children {
        if element.name == "import" {
            continue;
        }
        if !ITEMS.contains(&element.name.as_str()) {
            convert::unknown_element(element, &tree.root, ROOT_CHILDREN, problems);
            continue;
        }
        match element.attributes.iter().find(|attribute| attribute.name == "name") {
            Some(name) if !name.value.trim().is_empty() => {
                items.push(Item { file: tree.file, element, name: name.value.trim().to_owned() });
            }
            _ => drop(convert::required(element, None, "name", problems)),
        }
    }
    items
}

fn merge<'a>(
    file: usize,
    trees: &HashMap<usize, &'a Tree>,
    own: &HashMap<usize, Vec<Item<'a>>>,
    into: &mut Vec<Item<'a>>,
    problems: &mut Vec<Diagnostic>,
) {
    let copy =
        |item: &Item<'a>| Item { file: item.file, element: item.element, name: item.name.clone() };
    into.extend(own.get(&file).into_iter().flatten().map(copy));
    let Some(tree) = trees.get(&file) else { return };
    for (imported, excluded) in &tree.imports {
        let mut theirs = Vec::new();
        merge(*imported, trees, own, &mut theirs, problems);
        unused_excludes(tree, *imported, &theirs, trees, problems);
        for item in theirs {
            let defined = into
                .iter()
                .any(|own| own.name == item.name && own.element.name == item.element.name);
            if !defined && !excluded.contains(&item.name) {
                into.push(item);
            }
        }
    }
}

/// Reports excluded names that do not exist.
fn unused_excludes(
    tree: &Tree,
    imported: usize,
    theirs: &[Item<'_>],
    trees: &HashMap<usize, &Tree>,
    problems: &mut Vec<Diagnostic>,
) {
    if !trees.contains_key(&imported) {
        return;
    }
    let position = tree.imports.iter().position(|(file, _)| *file == imported);
    let imports = tree.root.children.iter().filter(|child| child.name == "import");
    let Some(element) = position.and_then(|at| imports.clone().nth(at)) else { return };
    for child in element.children.iter().filter(|child| child.name == "exclude") {
        let Some(name) = child.attributes.iter().find(|attribute| attribute.name == "name") else {
            continue;
        };
        // Mesa's files exclude items that the imported file no longer has.
        if !tree.foreign && !theirs.iter().any(|item| item.name == name.value) {
            let message =
                format!("`{}` is excluded, but the imported file has no such item", name.value);
            problems.push(
                Diagnostic::new(Code::Import, name.value_span.clone(), message).maybe_hint(
                    suggest::hint(&name.value, theirs.iter().map(|item| item.name.as_str())),
                ),
            );
        }
    }
}

fn resolve(items: &[Item<'_>], loaded: &mut Loaded) {
    let mut names = convert::Names::default();
    let mut containers = 0;
    let mut enums = Vec::new();
    for item in items {
        match item.element.name.as_str() {
            "enum" => {
                names.enums.entry(item.name.clone()).or_insert(EnumId(enums.len()));
                enums.push(convert::named_enum(item.element, item.file, &mut loaded.diagnostics));
            }
            "engine" => {
                loaded.spec.engines.push(convert::engine(item.element, &mut loaded.diagnostics))
            }
            kind => {
                if kind == "struct" {
                    names.structs.entry(item.name.clone()).or_insert(ContainerId(containers));
                }
                containers += 1;
            }
        }
    }
    let (mut pending, mut pending_views) = (Vec::new(), Vec::new());
    for item in items.iter().filter(|item| !matches!(item.element.name.as_str(), "enum" | "engine"))
    {
        let problems_before = errors(&loaded.diagnostics);
        let (foreign, pipelines) = {
            let file = &loaded.spec.files[item.file];
            (file.foreign, file.pipelines)
        };
        let container = convert::Converter {
            names: &names,
            enums: &mut enums,
            problems: &mut loaded.diagnostics,
            foreign,
            pipelines,
            file: item.file,
            container: item.name.clone(),
            index: loaded.spec.containers.len(),
            pending: &mut pending,
            pending_views: &mut pending_views,
            lost: Vec::new(),
        }
        .container(item.element);
        if errors(&loaded.diagnostics) > problems_before {
            loaded.broken.insert(loaded.spec.containers.len());
        }
        loaded.spec.containers.push(container);
    }
    loaded.spec.enums = enums;
    // Conditions of views name fields of nested structures, which have all been read now.
    for view in pending_views {
        let condition = view.resolve(&loaded.spec, &mut loaded.diagnostics);
        loaded.spec.containers[view.container].views[view.view].exists_if = condition;
    }
    // Conditions of rules may name any container and enumeration, which have all been read now.
    for rule in pending {
        let container = rule.container;
        let resolved = rule.resolve(&loaded.spec, &mut loaded.diagnostics);
        loaded.spec.containers[container].rules.extend(resolved);
    }
    widths(&mut loaded.spec);
}

fn errors(diagnostics: &[Diagnostic]) -> usize {
    diagnostics.iter().filter(|d| d.severity == Severity::Error).count()
}

/// Sets each enumeration's width to that of the widest field, or of the greatest value if that
/// needs more bits.
fn widths(spec: &mut Spec) {
    fn visit(container: &[crate::model::Field], groups: &[Group], enums: &mut [Enum]) {
        for field in container {
            if let Type::Enum(id) = field.ty {
                enums[id.0].bits = enums[id.0].bits.max(field.end - field.start + 1);
            }
        }
        for group in groups {
            visit(&group.fields, &group.groups, enums);
        }
    }
    let Spec { enums, containers, .. } = spec;
    for list in enums.iter_mut() {
        let greatest = list.values.iter().map(|value| value.value).max().unwrap_or(0);
        list.bits = list.bits.max(64 - greatest.leading_zeros());
    }
    for Container { fields, groups, .. } in containers.iter() {
        visit(fields, groups, enums);
    }
}
