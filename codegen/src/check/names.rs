//! Checks of names, numbers and references: names and numbers are unique, references resolve.

use std::collections::HashMap;

use super::context::{Check, Scope, for_each_scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Container, Field, Kind, Span, Spec, Type};
use genxml_syntax::suggest;

pub(super) fn check(check: &mut Check<'_>) {
    let spec = check.spec;
    let mut names: HashMap<&str, (&str, &Span)> = HashMap::new();
    let mut mangled: HashMap<(usize, String), (&str, &Span)> = HashMap::new();
    let lists =
        spec.enums.iter().map(|list| (list.name.as_str(), "an enum", list.file, &list.span));
    let containers = spec.containers.iter().map(|c| (c.name.as_str(), kind(c), c.file, &c.span));
    for (name, what, file, span) in lists.chain(containers) {
        let foreign = spec.files.get(file).is_some_and(|file| file.foreign);
        if let Some((other, first)) = names.get(name) {
            // In Mesa's files, a register and an enumeration may have the same name.
            if !foreign || *other == what {
                let message = format!("the name `{name}` is taken: {what} and {other}");
                let place = check.place(span, "name");
                check.report(
                    Diagnostic::new(Code::Duplicate, place, message)
                        .also((*first).clone(), "first here"),
                );
            }
            continue;
        }
        names.insert(name, (what, span));
        if foreign {
            continue;
        }
        match mangled.get(&(file, key(name))) {
            Some((other, first)) => {
                let message = format!("`{name}` and `{other}` have the same name in Rust");
                let place = check.place(span, "name");
                check.report(
                    Diagnostic::new(Code::Duplicate, place, message)
                        .also((*first).clone(), "first here"),
                );
            }
            None => drop(mangled.insert((file, key(name)), (name, span))),
        }
    }
    values(check);
    sources(check);
    rules(check);
    cycles(check);
    for container in &spec.containers {
        if spec.files.get(container.file).is_some_and(|file| file.foreign) {
            continue;
        }
        for_each_scope(container, &mut |scope| {
            fields(check, scope);
            targets(check, scope.fields);
        });
        views(check, container);
    }
}

fn kind(container: &Container) -> &'static str {
    match container.kind {
        Kind::Struct { .. } => "a struct",
        Kind::Instruction { .. } => "an instruction",
        Kind::Register { .. } => "a register",
    }
}

/// The letters and digits of a name in lower case. Names with equal keys collide in Rust.
fn key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn values(check: &mut Check<'_>) {
    let spec = check.spec;
    for list in spec.enums.iter().filter(|list| !spec.files[list.file].foreign) {
        let mut names: HashMap<&str, &Span> = HashMap::new();
        let mut numbers: HashMap<u64, (&str, &Span)> = HashMap::new();
        for value in &list.values {
            let first = *names.entry(&value.name).or_insert(&value.span);
            if !std::ptr::eq(first, &value.span) {
                let place = check.place(&value.span, "name");
                let message = format!("`{}` has two values named `{}`", list.name, value.name);
                check.report(
                    Diagnostic::new(Code::DuplicateValue, place, message)
                        .also(first.clone(), "first here"),
                );
            }
            match numbers.get(&value.value) {
                None if value.alias => {
                    let place = check.place(&value.span, "value");
                    let message = format!(
                        "`{}` is an alias, and no value before it is {}",
                        value.name, value.value
                    );
                    check.report(
                        Diagnostic::new(Code::DuplicateNumber, place, message)
                            .hint("list the value first, then its aliases"),
                    );
                }
                Some((other, first)) if !value.alias => {
                    let place = check.place(&value.span, "value");
                    let message =
                        format!("`{}` and `{other}` are both {}", value.name, value.value);
                    check.report(
                        Diagnostic::new(Code::DuplicateNumber, place, message)
                            .also((*first).clone(), "first here")
                            .hint("if it is a second name of the same thing, say alias=\"true\""),
                    );
                }
                Some(_) => {}
                None => drop(numbers.insert(value.value, (&value.name, &value.span))),
            }
        }
        for set in &list.sets {
            let first = *names.entry(&set.name).or_insert(&set.span);
            if !std::ptr::eq(first, &set.span) {
                let place = check.place(&set.span, "name");
                let message =
                    format!("`{}` has two values or sets named `{}`", list.name, set.name);
                check.report(
                    Diagnostic::new(Code::DuplicateValue, place, message)
                        .also(first.clone(), "first here"),
                );
            }
        }
    }
}

fn sources(check: &mut Check<'_>) {
    let spec = check.spec;
    // An enumeration inside a field needs no `source`: that of the field or container applies.
    let inline = |spec: &Spec, span: &Span| {
        spec.files[span.file]
            .text
            .get(span.range.clone())
            .is_some_and(|tag| tag.starts_with("<field"))
    };
    let lists = spec.enums.iter().filter(|list| !inline(spec, &list.span));
    let lists = lists.map(|list| (&list.name, &list.source, list.file, &list.span));
    let containers = spec.containers.iter().map(|c| (&c.name, &c.source, c.file, &c.span));
    for (name, source, file, span) in lists.chain(containers) {
        if source.is_empty() && !spec.files[file].foreign {
            let message = format!("`{name}` does not say where it comes from");
            check.report(
                Diagnostic::new(Code::Source, span.clone(), message).label("no `source`").hint(
                    "name the volume and page, as in source=\"2a p.188\", or the fact's origin",
                ),
            );
        }
    }
}

fn rules(check: &mut Check<'_>) {
    let mut ids: HashMap<&str, &Span> = HashMap::new();
    for rule in check.spec.containers.iter().flat_map(|container| &container.rules) {
        if let Some(first) = ids.insert(&rule.id, &rule.span) {
            let place = check.place(&rule.span, "id");
            let message = format!("two rules have the id `{}`", rule.id);
            check.report(
                Diagnostic::new(Code::DuplicateRule, place, message)
                    .also(first.clone(), "first here"),
            );
        }
    }
}

/// Reports structures that contain themselves. The search is depth first and visits each edge once.
/// It uses a list instead of recursion, so deep nesting cannot overflow the stack.
fn cycles(check: &mut Check<'_>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let spec = check.spec;
    let edges: Vec<Vec<(usize, &Field)>> = spec
        .containers
        .iter()
        .map(|container| {
            let mut edges = Vec::new();
            for_each_scope(container, &mut |scope| {
                edges.extend(scope.fields.iter().filter_map(|field| match field.ty {
                    Type::Struct(id) => Some((id.0, field)),
                    _ => None,
                }));
            });
            edges.extend(container.views.iter().filter_map(|view| match view.field.ty {
                Type::Struct(id) => Some((id.0, &view.field)),
                _ => None,
            }));
            edges
        })
        .collect();
    let mut states = vec![State::New; spec.containers.len()];
    for root in 0..states.len() {
        if states[root] != State::New {
            continue;
        }
        let mut path = vec![(root, 0)];
        states[root] = State::Open;
        while let Some((node, next)) = path.last_mut() {
            let Some((target, field)) = edges[*node].get(*next).copied() else {
                states[*node] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match states.get(target) {
                Some(State::New) => {
                    states[target] = State::Open;
                    path.push((target, 0));
                }
                Some(State::Open) => {
                    let from = path.iter().position(|(node, _)| *node == target).unwrap_or(0);
                    let circle: Vec<&str> = path[from..]
                        .iter()
                        .map(|(node, _)| spec.containers[*node].name.as_str())
                        .collect();
                    let name = &spec.containers[target].name;
                    let message =
                        format!("`{name}` contains itself: {} -> {name}", circle.join(" -> "));
                    let place = check.place(&field.span, "type");
                    check.report(Diagnostic::new(Code::Cycle, place, message));
                }
                Some(State::Done) | None => {}
            }
        }
    }
}

/// Reports members with equal names. Fields of different alternatives of a variant set may share a
/// name.
fn fields(check: &mut Check<'_>, scope: Scope<'_>) {
    /// The alternative (`None` for a field outside of variant sets), and the key of the name.
    type Member<'a> = (Option<&'a (String, String)>, String);
    let mut seen: HashMap<Member<'_>, (&str, &Span)> = HashMap::new();
    let mut sets: HashMap<&str, &Span> = HashMap::new();
    let members = scope.fields.iter().filter(|field| is_member(field));
    for field in members {
        if let Some((set, _)) = &field.variant {
            sets.entry(set).or_insert(&field.span);
        }
        let entry = (field.variant.as_ref(), key(&field.name));
        if let Some((first, span)) = seen.insert(entry, (&field.name, &field.span)) {
            let message = match first == field.name {
                true => format!("two fields are named `{first}`"),
                false => format!("`{}` and `{first}` have the same name in Rust", field.name),
            };
            let place = check.place(&field.span, "name");
            check.report(
                Diagnostic::new(Code::DuplicateField, place, message)
                    .also(span.clone(), "first here")
                    .hint("fields that never exist together are alternatives: variant=\"set/alternative\""),
            );
        }
    }
    let sets = sets.into_iter().map(|(name, span)| (name, "the variant set", span, "variant"));
    let groups =
        scope.groups.iter().map(|group| (group.name.as_str(), "the group", &group.span, "name"));
    let mut others: Vec<_> = sets.chain(groups.filter(|group| !group.0.is_empty())).collect();
    others.sort_by_key(|(_, _, span, _)| span.range.start);
    for (name, what, span, attribute) in others {
        if let Some((first, other)) = seen.insert((None, key(name)), (name, span)) {
            let place = check.place(span, attribute);
            let message = format!("{what} `{name}` has the same name as `{first}`");
            check.report(
                Diagnostic::new(Code::DuplicateField, place, message)
                    .also(other.clone(), "first here"),
            );
        }
    }
}

/// Reports views whose name is taken, because conditions refer to views and fields by name.
fn views(check: &mut Check<'_>, container: &Container) {
    let fields = container.fields.iter().filter(|field| is_member(field));
    let mut seen: HashMap<&str, &Span> =
        fields.map(|field| (field.name.as_str(), &field.span)).collect();
    for crate::model::View { field, .. } in &container.views {
        if let Some(first) = seen.insert(&field.name, &field.span) {
            let place = check.place(&field.span, "name");
            let message = format!("the name of the view `{}` is already in use", field.name);
            check.report(
                Diagnostic::new(Code::DuplicateField, place, message)
                    .also(first.clone(), "first here"),
            );
        }
    }
}

/// True if the field is a member of the Rust type.
pub(super) fn is_member(field: &Field) -> bool {
    !field.opcode
        && !field.length
        && !matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
}

fn targets(check: &mut Check<'_>, fields: &[Field]) {
    let spec = check.spec;
    for field in fields {
        let Type::Address { target, .. } = &field.ty else { continue };
        if !target.is_empty() && !spec.containers.iter().any(|container| container.name == *target)
        {
            let place = check.place(&field.span, "target");
            let message = format!("`{}` points to `{target}`, which is not described", field.name);
            let known = spec.containers.iter().map(|container| container.name.as_str());
            check.report(
                Diagnostic::new(Code::Target, place, message)
                    .maybe_hint(suggest::hint(target, known)),
            );
        }
    }
}
