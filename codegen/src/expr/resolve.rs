//! Converts a [`Tree`] to a condition: resolves names, and checks that each part has the kind that
//! is needed at its position.

use std::ops::Range;

use super::error::{ExprError, Result};
use super::parse::Tree;
use crate::diagnostic::Code;
use crate::model::{
    Base, Cond, Container, ContainerId, Enum, Expr, Field, FieldRef, Group, GroupRef, Kind, Op,
    Quantifier, Role, Spec, Type, View,
};
use crate::number::number;
use crate::suggest;

/// The names that the condition of a field can use.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The fields of the container, or of the group's element, that contains the condition.
    pub fields: &'a [Field],
    /// All enumerations.
    pub enums: &'a [Enum],
    /// The variant alternative of the field that has the condition. If several fields have the
    /// same name, the field of this alternative is meant.
    pub variant: Option<&'a (String, String)>,
}

/// Resolves the condition of a field.
pub(super) fn small(tree: Tree, scope: Scope<'_>) -> Result<Expr> {
    let level = Level { fields: scope.fields, groups: &[], views: &[], what: "here" };
    let resolver = Resolver {
        enums: scope.enums,
        containers: &[],
        levels: vec![level],
        variant: scope.variant,
        place: Place::Field,
    };
    Ok(plain(resolver.cond(tree, None)?))
}

/// Converts a condition that [`Place::Field`] allows to an [`Expr`].
fn plain(cond: Cond) -> Expr {
    match cond {
        Cond::Field(FieldRef { name, start, end, .. }) => Expr::Field { name, start, end },
        Cond::Not(inner) => Expr::Not(Box::new(plain(*inner))),
        Cond::Binary(op, left, right) => {
            Expr::Binary(op, Box::new(plain(*left)), Box::new(plain(*right)))
        }
        Cond::Number(value) => Expr::Number(value),
        // `Resolver::only_rules` refuses these conditions.
        Cond::In(..)
        | Cond::Bits(..)
        | Cond::Last(..)
        | Cond::Over(..)
        | Cond::Index
        | Cond::Role(_) => Expr::Number(0),
    }
}

/// Resolves the condition of a rule.
pub(super) fn rule(tree: Tree, spec: &Spec, container: usize) -> Result<Cond> {
    of_container(tree, spec, container, Place::Rule)
}

/// Resolves the condition of a view.
pub(super) fn view(tree: Tree, spec: &Spec, container: usize) -> Result<Cond> {
    of_container(tree, spec, container, Place::View)
}

fn of_container(tree: Tree, spec: &Spec, container: usize, place: Place) -> Result<Cond> {
    let Some(own) = spec.containers.get(container) else {
        return Err(ExprError::syntax(0..0, "a condition of no container"));
    };
    let resolver = Resolver {
        enums: &spec.enums,
        containers: &spec.containers,
        levels: vec![Level::of(own, "here")],
        variant: None,
        place,
    };
    resolver.cond(tree, None)
}

/// Sorts ranges and joins those that touch or overlap.
fn join(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// Resolves the items of a `<set>` to ranges.
pub(super) fn set(items: Vec<(Tree, Option<Tree>)>, list: &Enum) -> Result<Vec<(u64, u64)>> {
    let mut ranges = Vec::new();
    for item in items {
        ranges.extend(members(item, Some(list), &|name, range| Err(no_value(name, range, list)))?);
    }
    Ok(join(ranges))
}

/// Resolves one item of a set to ranges. `other` resolves a name that is not in `list`.
fn members(
    item: (Tree, Option<Tree>),
    list: Option<&Enum>,
    other: &dyn Fn(&str, &Range<usize>) -> Result<u64>,
) -> Result<Vec<(u64, u64)>> {
    let number = |tree: &Tree| match tree {
        Tree::Number(value) => Ok(*value),
        Tree::Name(name, range) => match list.and_then(|list| value_of(list, name)) {
            Some(value) => Ok(value),
            None => other(name, range),
        },
        tree => Err(ExprError::kind(place(tree), "a set holds numbers and names of values")),
    };
    if let ((Tree::Name(name, _), None), Some(list)) = (&item, list)
        && value_of(list, name).is_none()
        && let Some(set) = list.sets.iter().find(|set| set.name == *name)
    {
        return Ok(set.ranges.clone());
    }
    let first = number(&item.0)?;
    let last = item.1.as_ref().map_or(Ok(first), number)?;
    match item.1 {
        Some(end) if first > last => {
            Err(ExprError::kind(place(&end), format!("the range {first}..{last} is empty")))
        }
        _ => Ok(vec![(first, last)]),
    }
}

/// A value by its name, with or without the enumeration's prefix.
fn value_of(list: &Enum, name: &str) -> Option<u64> {
    let prefixed =
        |value: &str| !list.prefix.is_empty() && format!("{}_{value}", list.prefix) == name;
    let found = list.values.iter().find(|value| value.name == name || prefixed(&value.name));
    found.map(|value| value.value)
}

fn no_value(name: &str, range: &Range<usize>, list: &Enum) -> Box<ExprError> {
    let known = list.values.iter().map(|value| value.name.as_str());
    let hint = suggest::hint(name, known.chain(list.sets.iter().map(|set| set.name.as_str())));
    let message = format!("`{}` has no value `{name}`", list.name);
    ExprError::new(Code::ExpressionName, range.clone(), message, hint)
}

/// The position in the text of the first name or `in` operator of the tree, as a byte range; `0..0`
/// if the tree has neither.
fn place(tree: &Tree) -> Range<usize> {
    match tree {
        Tree::Number(_) => 0..0,
        Tree::Field(_, range) | Tree::Name(_, range) | Tree::In(_, _, range) => range.clone(),
        Tree::InSet(_, _, range) | Tree::Call(_, range, _) => range.clone(),
        Tree::Not(inner) => place(inner),
        Tree::Binary(_, left, right) => {
            let (left, right) = (place(left), place(right));
            if left.is_empty() { right } else { left }
        }
    }
}

/// Kinds of conditions. Each kind allows no more than the kind before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// `require` of a rule.
    Rule,
    /// The second argument of `last`.
    Last,
    /// `exists-if` of a view.
    View,
    /// `exists-if` of a field.
    Field,
}

/// The fields, groups and views in which a name is looked up: those of a container or of a group's
/// element.
#[derive(Clone, Copy)]
struct Level<'a> {
    fields: &'a [Field],
    groups: &'a [Group],
    views: &'a [View],
    /// Description for error messages.
    what: &'a str,
}

impl<'a> Level<'a> {
    fn of(container: &'a Container, what: &'a str) -> Level<'a> {
        Level {
            fields: &container.fields,
            groups: &container.groups,
            views: &container.views,
            what,
        }
    }

    /// Fields, then views.
    fn all(self) -> impl Iterator<Item = &'a Field> {
        self.fields.iter().chain(self.views.iter().map(|view| &view.field))
    }
}

/// The meaning of a name in brackets.
enum Found<'a> {
    Field { base: Base, start: u32, field: &'a Field },
    Group { base: Base, start: u32, group: &'a Group },
}

struct Resolver<'a> {
    enums: &'a [Enum],
    containers: &'a [Container],
    /// Levels in which names are looked up, innermost last.
    levels: Vec<Level<'a>>,
    variant: Option<&'a (String, String)>,
    place: Place,
}

impl<'a> Resolver<'a> {
    /// Resolves a condition. `other` is the field on the other side of a comparison: the names of
    /// values are looked up in its enumeration.
    fn cond(&self, tree: Tree, other: Option<&'a Field>) -> Result<Cond> {
        Ok(match tree {
            Tree::Number(value) => Cond::Number(value),
            Tree::Field(name, range) => Cond::Field(self.field(&name, &range)?),
            Tree::Name(name, range) => Cond::Number(self.value(&name, &range, other)?),
            Tree::Not(inner) => Cond::Not(Box::new(self.cond(*inner, None)?)),
            Tree::Binary(op, left, right) => {
                let compares = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
                let named = |tree: &Tree| if compares { self.first_field(tree) } else { other };
                let (of_left, of_right) = (named(&left), named(&right));
                Cond::Binary(
                    op,
                    Box::new(self.cond(*left, of_right)?),
                    Box::new(self.cond(*right, of_left)?),
                )
            }
            Tree::In(left, items, range) => {
                self.only_rules("`in`", &range)?;
                let field = self.first_field(&left);
                let list = self.list(field);
                let mut ranges = Vec::new();
                for item in items {
                    ranges.extend(members(item, list, &|name, range| {
                        self.value(name, range, field)
                    })?);
                }
                Cond::In(Box::new(self.cond(*left, None)?), join(ranges))
            }
            Tree::InSet(left, name, range) => {
                self.only_rules("`in`", &range)?;
                let Some(list) = self.list(self.first_field(&left)) else {
                    let message = format!("`in {name}` needs a field of an enumeration before it");
                    return Err(ExprError::kind(range, message));
                };
                let Some(set) = list.sets.iter().find(|set| set.name == name) else {
                    let hint = suggest::hint(&name, list.sets.iter().map(|set| set.name.as_str()));
                    let message = format!("`{}` has no set `{name}`", list.name);
                    return Err(ExprError::new(Code::ExpressionName, range, message, hint));
                };
                Cond::In(Box::new(self.cond(*left, None)?), set.ranges.clone())
            }
            Tree::Call(name, range, arguments) => self.call(&name, range, arguments)?,
        })
    }

    /// Returns an error in the condition of a field: only rules and views may use `what`.
    fn only_rules(&self, what: &str, range: &Range<usize>) -> Result<()> {
        match self.place {
            Place::Field => {
                let message = format!(
                    "{what} is for rules: a field's condition compares fields of its own container"
                );
                Err(ExprError::syntax(range.clone(), message))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error in a condition that cannot refer to other containers.
    fn no_state(&self, what: &str, range: &Range<usize>) -> Result<()> {
        self.only_rules(what, range)?;
        match self.place {
            Place::Last => {
                let message = format!(
                    "{what} cannot stand in the condition of `last`, which is about that packet alone"
                );
                Err(ExprError::kind(range.clone(), message))
            }
            Place::View => {
                let message = format!(
                    "{what} cannot stand in the condition of a view, which is about its container alone"
                );
                Err(ExprError::kind(range.clone(), message))
            }
            _ => Ok(()),
        }
    }

    fn call(&self, name: &str, range: Range<usize>, arguments: Vec<Tree>) -> Result<Cond> {
        const FUNCTIONS: &[(&str, &str, usize, usize)] = &[
            ("bits", "bits([Field])", 1, 1),
            ("last", "last(PACKET) or last(PACKET, condition)", 1, 2),
            ("all", "all(Group, condition)", 2, 2),
            ("any", "any(Group, condition)", 2, 2),
            ("sum", "sum(Group, value)", 2, 2),
            ("count", "count(Group)", 1, 1),
            ("unique", "unique(Group, value)", 2, 2),
            ("index", "index()", 0, 0),
            ("role", "role(name)", 1, 1),
        ];
        let Some((_, usage, least, most)) = FUNCTIONS.iter().find(|function| function.0 == name)
        else {
            let names = FUNCTIONS.iter().map(|function| function.0);
            let hint = suggest::hint(name, names.clone())
                .unwrap_or_else(|| format!("there are: {}", names.collect::<Vec<_>>().join(", ")));
            let message = format!("no function `{name}`");
            return Err(ExprError::new(Code::ExpressionName, range, message, Some(hint)));
        };
        self.only_rules(&format!("`{name}()`"), &range)?;
        if !(*least..=*most).contains(&arguments.len()) {
            let message = format!("`{name}` has {} arguments here", arguments.len());
            return Err(ExprError::syntax(range, message).hint(format!("it is written {usage}")));
        }
        let mut arguments = arguments.into_iter();
        let first = arguments.next();
        let second = arguments.next();
        match (name, first, second) {
            ("bits", Some(value), None) => self.bits(value, range),
            ("last", Some(packet), condition) => self.last(packet, condition, range),
            ("role", Some(role), None) => self.role(role, range),
            ("all", Some(group), body) => self.over(Quantifier::All, group, body),
            ("any", Some(group), body) => self.over(Quantifier::Any, group, body),
            ("sum", Some(group), body) => self.over(Quantifier::Sum, group, body),
            ("count", Some(group), body) => self.over(Quantifier::Count, group, body),
            ("unique", Some(group), body) => self.over(Quantifier::Unique, group, body),
            _ if self.levels.len() < 2 => Err(ExprError::kind(
                range,
                "`index()` is the number of an element: it stands inside all(), any(), sum() or unique()",
            )),
            _ => Ok(Cond::Index),
        }
    }

    fn bits(&self, value: Tree, range: Range<usize>) -> Result<Cond> {
        let list = match self.first_field(&value).map(|field| &field.ty) {
            Some(Type::Enum(id)) => *id,
            _ => return Err(ExprError::kind(range, "`bits` needs a field of an enumeration")),
        };
        if !self.enums[list.0].values.iter().any(|value| value.bits.is_some()) {
            let message =
                format!("no value of `{}` says how many bits it is", self.enums[list.0].name);
            return Err(ExprError::kind(range, message)
                .hint("its values need the attribute `bits`".to_owned()));
        }
        Ok(Cond::Bits(Box::new(self.cond(value, None)?), list))
    }

    fn last(&self, packet: Tree, condition: Option<Tree>, range: Range<usize>) -> Result<Cond> {
        self.no_state("`last()`", &range)?;
        let Tree::Name(name, place) = &packet else {
            return Err(ExprError::kind(place(&packet), "`last` needs the name of an instruction"));
        };
        let Some(id) = self.containers.iter().position(|container| container.name == *name) else {
            let instructions =
                self.containers.iter().filter(|c| matches!(c.kind, Kind::Instruction { .. }));
            let hint = suggest::hint(name, instructions.map(|container| container.name.as_str()));
            let message = format!("no instruction `{name}`");
            return Err(ExprError::new(Code::ExpressionName, place.clone(), message, hint));
        };
        let container = &self.containers[id];
        if !matches!(container.kind, Kind::Instruction { .. }) {
            let message = format!("`last` needs an instruction, and `{name}` is not one");
            return Err(ExprError::kind(place.clone(), message));
        }
        let inner = Resolver {
            levels: vec![Level::of(container, name)],
            place: Place::Last,
            variant: None,
            ..*self
        };
        let condition = condition.map(|tree| inner.cond(tree, None)).transpose()?;
        Ok(Cond::Last(ContainerId(id), condition.map(Box::new)))
    }

    fn role(&self, role: Tree, range: Range<usize>) -> Result<Cond> {
        self.no_state("`role()`", &range)?;
        let Tree::Name(name, place) = role else {
            return Err(ExprError::kind(range, "`role` needs a name"));
        };
        match Role::ALL.iter().find(|(known, _)| *known == name) {
            Some((_, role)) => Ok(Cond::Role(*role)),
            None => {
                let names: Vec<&str> = Role::ALL.iter().map(|(known, _)| *known).collect();
                let hint = suggest::hint(&name, names.iter().copied());
                let hint = hint.unwrap_or_else(|| format!("there are: {}", names.join(", ")));
                let message = format!("no role `{name}`");
                Err(ExprError::new(Code::ExpressionName, place, message, Some(hint)))
            }
        }
    }

    fn over(&self, what: Quantifier, group: Tree, body: Option<Tree>) -> Result<Cond> {
        let (name, range) = match group {
            Tree::Name(name, range) | Tree::Field(name, range) => (name, range),
            other => return Err(ExprError::kind(place(&other), "expected the name of a group")),
        };
        let (base, start, group) = match self.find(&name, &range, true)? {
            Found::Group { base, start, group } => (base, start, group),
            Found::Field { .. } => {
                return Err(ExprError::kind(range, format!("`{name}` is a field, not a group")));
            }
        };
        let mut levels = self.levels.clone();
        levels.push(Level {
            fields: &group.fields,
            groups: &group.groups,
            views: &[],
            what: "in the element",
        });
        let inner = Resolver { levels, ..*self };
        let body = body.map(|tree| inner.cond(tree, None)).transpose()?;
        let group = GroupRef { base, name, start, bits: group.bits, count: group.count };
        Ok(Cond::Over(what, group, body.map(Box::new)))
    }

    /// The leftmost field in a tree.
    fn first_field(&self, tree: &Tree) -> Option<&'a Field> {
        match tree {
            Tree::Field(name, range) => match self.find(name, range, false) {
                Ok(Found::Field { field, .. }) => Some(field),
                _ => None,
            },
            Tree::Number(_) | Tree::Name(..) | Tree::Call(..) => None,
            Tree::Not(inner) | Tree::In(inner, ..) | Tree::InSet(inner, ..) => {
                self.first_field(inner)
            }
            Tree::Binary(_, left, right) => {
                self.first_field(left).or_else(|| self.first_field(right))
            }
        }
    }

    fn list(&self, field: Option<&Field>) -> Option<&'a Enum> {
        match field?.ty {
            Type::Enum(id) => self.enums.get(id.0),
            _ => None,
        }
    }

    fn field(&self, name: &str, range: &Range<usize>) -> Result<FieldRef> {
        match self.find(name, range, false)? {
            Found::Field { field, .. } if field.end - field.start >= 64 => {
                let message = format!("`{name}` has more than 64 bits: name a part of it");
                Err(ExprError::kind(range.clone(), message))
            }
            Found::Field { base, start, field } => Ok(FieldRef {
                base,
                name: name.to_owned(),
                start,
                end: start + (field.end - field.start),
                list: match field.ty {
                    Type::Enum(id) => Some(id),
                    _ => None,
                },
            }),
            Found::Group { .. } => {
                let message = format!("`{name}` is a group of elements, not a value");
                Err(ExprError::kind(range.clone(), message).hint(
                    "use all(), any(), sum(), count() or unique(), or name a field of one element"
                        .to_owned(),
                ))
            }
        }
    }

    /// Resolves a name: first in the innermost element, then in the enclosing ones, then as a path
    /// that starts with another container. With `group`, the name is that of a group.
    fn find(&self, name: &str, range: &Range<usize>, group: bool) -> Result<Found<'a>> {
        for (outward, level) in self.levels.iter().rev().enumerate() {
            let base = Base::Own(outward as u32);
            // The condition of a field has plain names only; other conditions also have paths.
            let found = match self.place {
                Place::Field => own(level, name, range, self.variant)?
                    .map(|field| (field.start, Part::Field(field))),
                _ => self.path(*level, 0, name, range, group)?,
            };
            if let Some(found) = found {
                return Ok(found.1.at(base, found.0));
            }
        }
        let mut hint = None;
        for (at, _) in name.match_indices('.') {
            let (head, rest) = (name[..at].trim(), name[at + 1..].trim());
            let Some(id) = self.containers.iter().position(|container| container.name == head)
            else {
                continue;
            };
            let container = &self.containers[id];
            self.no_state(&format!("`{name}`"), range)?;
            let level = Level::of(container, "");
            if let Some((start, part)) = self.path(level, 0, rest, range, group)? {
                return Ok(part.at(Base::State(ContainerId(id)), start));
            }
            let message = match group {
                true => format!("`{head}` has no group `{rest}`"),
                false => format!("`{head}` has no field `{rest}`"),
            };
            let hint = suggest::hint(rest, names(level, group));
            return Err(ExprError::new(Code::ExpressionName, range.clone(), message, hint));
        }
        if let (Some((head, _)), Place::Rule) = (name.split_once('.'), self.place) {
            hint = suggest::hint(
                head.trim(),
                self.containers.iter().map(|container| container.name.as_str()),
            );
        }
        if self.place == Place::Field && name.contains('.') {
            hint = Some("a field's condition names fields of its own container only".to_owned());
        }
        let known = self.levels.iter().rev().flat_map(|level| names(*level, group));
        let hint = hint.or_else(|| suggest::hint(name, known));
        let what = self.levels.last().map_or("here", |level| level.what);
        let place = if what == "here" || what == "in the element" {
            what.to_owned()
        } else {
            format!("in `{what}`")
        };
        let message = match group {
            true => format!("no group `{name}` {place}"),
            false => format!("no field `{name}` {place}"),
        };
        Err(ExprError::new(Code::ExpressionName, range.clone(), message, hint))
    }

    /// Finds a field or group by its path from a level: `Field`, `Struct Field.Field`,
    /// `Group[2].Field`. `Group.Field` is the field of element 0.
    fn path(
        &self,
        level: Level<'a>,
        from: u32,
        name: &str,
        range: &Range<usize>,
        wants_group: bool,
    ) -> Result<Option<(u32, Part<'a>)>> {
        if wants_group
            && let Some(group) = level.groups.iter().find(|group| group_name(group) == name)
        {
            return Ok(Some((from + group.start, Part::Group(group))));
        }
        if let Some(field) = own(&level, name, range, self.variant)? {
            return Ok(Some((from + field.start, Part::Field(field))));
        }
        for (at, _) in name.match_indices('.') {
            let (head, rest) = (name[..at].trim(), name[at + 1..].trim());
            if let Some(field) = own(&level, head, range, self.variant)?
                && let Type::Struct(id) = field.ty
                && let Some(inner) = self.containers.get(id.0)
            {
                let inner = Level::of(inner, "");
                if let Some(found) =
                    self.path(inner, from + field.start, rest, range, wants_group)?
                {
                    return Ok(Some(found));
                }
            }
            let (head, index) = match head.strip_suffix(']').and_then(|head| head.rsplit_once('['))
            {
                Some((name, index)) => (name.trim(), number(index)),
                None => (head, Some(0)),
            };
            if let Some(index) = index
                && let Some(group) = level.groups.iter().find(|group| group_name(group) == head)
            {
                if group.count != 0 && index >= u64::from(group.count) || index >= 1 << 16 {
                    let message = format!("`{head}` has {} elements, counted from 0", group.count);
                    return Err(ExprError::kind(range.clone(), message));
                }
                let inner =
                    Level { fields: &group.fields, groups: &group.groups, views: &[], what: "" };
                let start = from + group.start + index as u32 * group.bits;
                if let Some(found) = self.path(inner, start, rest, range, wants_group)? {
                    return Ok(Some(found));
                }
            }
        }
        // A group is found even if a field is wanted, so that the caller can report that the name
        // is a group.
        let group = level.groups.iter().find(|group| !wants_group && group_name(group) == name);
        Ok(group.map(|group| (from + group.start, Part::Group(group))))
    }

    /// The number of a name: `true`, `false`, or a value of the enumeration of `field`. `field` is
    /// the field on the other side of the comparison.
    fn value(&self, name: &str, range: &Range<usize>, field: Option<&Field>) -> Result<u64> {
        match (name, field.map(|field| &field.ty)) {
            ("true", None | Some(Type::Bool)) => return Ok(1),
            ("false", None | Some(Type::Bool)) => return Ok(0),
            _ => {}
        }
        if let Some(list) = self.list(field) {
            return value_of(list, name).ok_or_else(|| no_value(name, range, list));
        }
        let is_field =
            self.levels.iter().any(|level| level.fields.iter().any(|field| field.name == name));
        let (message, hint) = match is_field {
            true => (format!("`{name}` is a field"), format!("fields stand in brackets: [{name}]")),
            false => (
                format!("`{name}` is compared with something that has no named values"),
                "a value's name must be compared with a field of an enumeration".to_owned(),
            ),
        };
        Err(ExprError::new(Code::ExpressionName, range.clone(), message, Some(hint)))
    }
}

/// A field or group without its base.
enum Part<'a> {
    Field(&'a Field),
    Group(&'a Group),
}

impl<'a> Part<'a> {
    fn at(self, base: Base, start: u32) -> Found<'a> {
        match self {
            Part::Field(field) => Found::Field { base, start, field },
            Part::Group(group) => Found::Group { base, start, group },
        }
    }
}

/// The name of a group: its own, or that of its only field.
fn group_name(group: &Group) -> &str {
    match &group.fields[..] {
        [field] if group.name.is_empty() => &field.name,
        _ => &group.name,
    }
}

fn names<'a>(level: Level<'a>, group: bool) -> Vec<&'a str> {
    match group {
        true => level.groups.iter().map(group_name).collect(),
        false => level.all().map(|field| field.name.as_str()).collect(),
    }
}

/// The field with exactly this name. If several fields with the name have different bits, the field
/// in alternative `variant` is meant.
fn own<'a>(
    level: &Level<'a>,
    name: &str,
    range: &Range<usize>,
    variant: Option<&(String, String)>,
) -> Result<Option<&'a Field>> {
    let mut found = level.all().filter(|field| field.name == name);
    let Some(first) = found.next() else { return Ok(None) };
    if found.all(|field| (field.start, field.end) == (first.start, first.end)) {
        return Ok(Some(first));
    }
    let same = |field: &&Field| {
        field.name == name && field.variant.is_some() && field.variant.as_ref() == variant
    };
    match level.fields.iter().find(same) {
        Some(field) => Ok(Some(field)),
        None => {
            let message = format!("several fields are named `{name}` and have different bits");
            Err(ExprError::new(Code::ExpressionName, range.clone(), message, None))
        }
    }
}
