//! Converts a [`Tree`] to a condition: resolves names, and checks that each part has the kind that
//! is needed at its position.

use std::ops::Range;
use std::rc::Rc;

use super::cond::{Base, Cond, FieldRef, GroupRef};
use super::error::{ConditionError, ErrorKind, Result};
use super::names::{Field, Group, Members, Names, Type};
use super::parse::Tree;
use crate::number::number;
use crate::suggest;
use genxml_terms::{Op, Quantifier, Role};

/// Kinds of conditions. Each kind allows no more than the kind before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// `require` of a rule.
    Rule,
    /// `require` of a rule whose container has no earlier packets: an EU instruction or its
    /// message.
    LoneRule,
    /// The second argument of `last`.
    Last,
    /// `exists-if` of a view.
    View,
    /// `exists-if` of a field.
    Field,
}

/// The names that a condition can use, and what else it can use.
pub struct Scope<'a, N: Names<'a>> {
    /// The members of the container, or of the group's element, that contains the condition.
    pub members: Members<'a, N>,
    /// The kind of the condition.
    pub place: Place,
    /// The variant alternative of the field that has the condition. If several fields have the
    /// same name, the field of this alternative is meant.
    pub variant: Option<(&'a str, &'a str)>,
}

impl<'a, N: Names<'a>> Scope<'a, N> {
    /// The scope of a condition of a container.
    pub fn of(names: N, container: N::Container, place: Place) -> Scope<'a, N> {
        Scope { members: names.members(container), place, variant: None }
    }
}

/// Resolves a condition.
pub(super) fn cond<'a, N: Names<'a>>(
    tree: Tree,
    names: N,
    scope: Scope<'a, N>,
) -> Result<Cond<N::Container, N::List>> {
    let Scope { members, place, variant } = scope;
    let level = Level { members: Rc::new(members), what: "here" };
    Resolver { names, levels: vec![level], variant, place }.cond(tree, None)
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
pub(super) fn set<'a, N: Names<'a>>(
    items: Vec<(Tree, Option<Tree>)>,
    names: N,
    list: N::List,
) -> Result<Vec<(u64, u64)>> {
    let mut ranges = Vec::new();
    for item in items {
        let other = |name: &str, range: &Range<usize>| Err(no_value(name, range, names, list));
        ranges.extend(in_set(item, names, Some(list), &other)?);
    }
    Ok(join(ranges))
}

/// Resolves one item of a set to ranges. `other` resolves a name that is not in `list`.
fn in_set<'a, N: Names<'a>>(
    item: (Tree, Option<Tree>),
    names: N,
    list: Option<N::List>,
    other: &dyn Fn(&str, &Range<usize>) -> Result<u64>,
) -> Result<Vec<(u64, u64)>> {
    let number = |tree: &Tree| match tree {
        Tree::Number(value) => Ok(*value),
        Tree::Name(name, range) => match list.and_then(|list| names.value(list, name)) {
            Some(value) => Ok(value),
            None => other(name, range),
        },
        tree => Err(ConditionError::kind(place(tree), "a set holds numbers and names of values")),
    };
    if let ((Tree::Name(name, _), None), Some(list)) = (&item, list)
        && names.value(list, name).is_none()
        && let Some((_, ranges)) = names.sets(list).find(|(set, _)| set == name)
    {
        return Ok(ranges.to_vec());
    }
    let first = number(&item.0)?;
    let last = item.1.as_ref().map_or(Ok(first), number)?;
    match item.1 {
        Some(end) if first > last => {
            let message = format!("the range {first}..{last} is empty");
            Err(ConditionError::kind(place(&end), message))
        }
        _ => Ok(vec![(first, last)]),
    }
}

fn no_value<'a, N: Names<'a>>(
    name: &str,
    range: &Range<usize>,
    names: N,
    list: N::List,
) -> Box<ConditionError> {
    let known = names.values(list).into_iter();
    let hint = suggest::hint(name, known.chain(names.sets(list).map(|(set, _)| set)));
    let message = format!("`{}` has no value `{name}`", names.list_name(list));
    ConditionError::new(ErrorKind::Name, range.clone(), message, hint)
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

/// The fields, groups and views in which a name is looked up: those of a container or of a group's
/// element.
#[derive(Clone)]
struct Level<'a, N: Names<'a>> {
    members: Rc<Members<'a, N>>,
    /// Description for error messages.
    what: &'a str,
}

/// A field with the identifiers of a specification.
type FieldOf<'a, N> = Field<'a, <N as Names<'a>>::Container, <N as Names<'a>>::List>;

/// A group with the identifiers of a specification.
type GroupOf<'a, N> = Group<'a, <N as Names<'a>>::Group>;

/// A condition with the identifiers of a specification.
type CondOf<'a, N> = Cond<<N as Names<'a>>::Container, <N as Names<'a>>::List>;

impl<'a, N: Names<'a>> Members<'a, N> {
    /// Fields, then views.
    fn all(&self) -> impl Iterator<Item = &FieldOf<'a, N>> {
        self.fields.iter().chain(&self.views)
    }
}

/// The meaning of a name in brackets.
enum Found<'a, N: Names<'a>> {
    Field { base: Base<N::Container>, start: u32, field: FieldOf<'a, N> },
    Group { base: Base<N::Container>, start: u32, group: GroupOf<'a, N> },
}

struct Resolver<'a, N: Names<'a>> {
    names: N,
    /// Levels in which names are looked up, innermost last.
    levels: Vec<Level<'a, N>>,
    variant: Option<(&'a str, &'a str)>,
    place: Place,
}

impl<'a, N: Names<'a>> Resolver<'a, N> {
    /// Resolves a condition. `other` is the field on the other side of a comparison: the names of
    /// values are looked up in its enumeration.
    fn cond(&self, tree: Tree, other: Option<FieldOf<'a, N>>) -> Result<CondOf<'a, N>> {
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
                    ranges.extend(in_set(item, self.names, list, &|name, range| {
                        self.value(name, range, field)
                    })?);
                }
                Cond::In(Box::new(self.cond(*left, None)?), join(ranges))
            }
            Tree::InSet(left, name, range) => {
                self.only_rules("`in`", &range)?;
                let Some(list) = self.list(self.first_field(&left)) else {
                    let message = format!("`in {name}` needs a field of an enumeration before it");
                    return Err(ConditionError::kind(range, message));
                };
                let Some((_, set)) = self.names.sets(list).find(|(set, _)| *set == name) else {
                    let hint = suggest::hint(&name, self.names.sets(list).map(|(set, _)| set));
                    let message = format!("`{}` has no set `{name}`", self.names.list_name(list));
                    return Err(ConditionError::new(ErrorKind::Name, range, message, hint));
                };
                Cond::In(Box::new(self.cond(*left, None)?), set.to_vec())
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
                Err(ConditionError::syntax(range.clone(), message))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error in a condition that cannot refer to other containers.
    fn no_state(&self, what: &str, range: &Range<usize>) -> Result<()> {
        self.only_rules(what, range)?;
        match self.place {
            Place::LoneRule => {
                let message = format!(
                    "{what} cannot stand in a rule of an instruction or message, which is about that instruction alone"
                );
                Err(ConditionError::kind(range.clone(), message))
            }
            Place::Last => {
                let message = format!(
                    "{what} cannot stand in the condition of `last`, which is about that packet alone"
                );
                Err(ConditionError::kind(range.clone(), message))
            }
            Place::View => {
                let message = format!(
                    "{what} cannot stand in the condition of a view, which is about its container alone"
                );
                Err(ConditionError::kind(range.clone(), message))
            }
            _ => Ok(()),
        }
    }

    fn call(&self, name: &str, range: Range<usize>, arguments: Vec<Tree>) -> Result<CondOf<'a, N>> {
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
            return Err(ConditionError::new(ErrorKind::Name, range, message, Some(hint)));
        };
        self.only_rules(&format!("`{name}()`"), &range)?;
        if !(*least..=*most).contains(&arguments.len()) {
            let message = format!("`{name}` has {} arguments here", arguments.len());
            return Err(
                ConditionError::syntax(range, message).hint(format!("it is written {usage}"))
            );
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
            _ if self.levels.len() < 2 => Err(ConditionError::kind(
                range,
                "`index()` is the number of an element: it stands inside all(), any(), sum() or unique()",
            )),
            _ => Ok(Cond::Index),
        }
    }

    fn bits(&self, value: Tree, range: Range<usize>) -> Result<CondOf<'a, N>> {
        let list = match self.first_field(&value).map(|field| field.ty) {
            Some(Type::List(id)) => id,
            _ => return Err(ConditionError::kind(range, "`bits` needs a field of an enumeration")),
        };
        if !self.names.has_bits(list) {
            let name = self.names.list_name(list);
            let message = format!("no value of `{name}` says how many bits it is");
            return Err(ConditionError::kind(range, message)
                .hint("its values need the attribute `bits`".to_owned()));
        }
        Ok(Cond::Bits(Box::new(self.cond(value, None)?), list))
    }

    fn last(
        &self,
        packet: Tree,
        condition: Option<Tree>,
        range: Range<usize>,
    ) -> Result<CondOf<'a, N>> {
        self.no_state("`last()`", &range)?;
        let Tree::Name(name, place) = &packet else {
            return Err(ConditionError::kind(
                place(&packet),
                "`last` needs the name of an instruction",
            ));
        };
        let names = self.names;
        let Some(container) = self.named(name) else {
            let instructions = names.containers().filter(|id| names.is_instruction(*id));
            let hint = suggest::hint(name, instructions.map(|id| names.container_name(id)));
            let message = format!("no instruction `{name}`");
            return Err(ConditionError::new(ErrorKind::Name, place.clone(), message, hint));
        };
        if !names.is_instruction(container) {
            let message = format!("`last` needs an instruction, and `{name}` is not one");
            return Err(ConditionError::kind(place.clone(), message));
        }
        let what = names.container_name(container);
        let inner = Resolver {
            levels: vec![Level { members: Rc::new(names.members(container)), what }],
            place: Place::Last,
            variant: None,
            ..*self
        };
        let condition = condition.map(|tree| inner.cond(tree, None)).transpose()?;
        Ok(Cond::Last(container, condition.map(Box::new)))
    }

    fn role(&self, role: Tree, range: Range<usize>) -> Result<CondOf<'a, N>> {
        self.no_state("`role()`", &range)?;
        let Tree::Name(name, place) = role else {
            return Err(ConditionError::kind(range, "`role` needs a name"));
        };
        match Role::ALL.iter().find(|role| role.name() == name) {
            Some(role) => Ok(Cond::Role(*role)),
            None => {
                let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
                let hint = suggest::hint(&name, names.iter().copied());
                let hint = hint.unwrap_or_else(|| format!("there are: {}", names.join(", ")));
                let message = format!("no role `{name}`");
                Err(ConditionError::new(ErrorKind::Name, place, message, Some(hint)))
            }
        }
    }

    fn over(&self, what: Quantifier, group: Tree, body: Option<Tree>) -> Result<CondOf<'a, N>> {
        let (name, range) = match group {
            Tree::Name(name, range) | Tree::Field(name, range) => (name, range),
            other => {
                return Err(ConditionError::kind(place(&other), "expected the name of a group"));
            }
        };
        let (base, start, group) = match self.find(&name, &range, true)? {
            Found::Group { base, start, group } => (base, start, group),
            Found::Field { .. } => {
                return Err(ConditionError::kind(
                    range,
                    format!("`{name}` is a field, not a group"),
                ));
            }
        };
        let mut levels = self.levels.clone();
        let members = Rc::new(self.names.elements(group.id));
        levels.push(Level { members, what: "in the element" });
        let inner = Resolver { levels, ..*self };
        let body = body.map(|tree| inner.cond(tree, None)).transpose()?;
        let group = GroupRef { base, name, start, bits: group.bits, count: group.count };
        Ok(Cond::Over(what, group, body.map(Box::new)))
    }

    /// The leftmost field in a tree.
    fn first_field(&self, tree: &Tree) -> Option<FieldOf<'a, N>> {
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

    fn list(&self, field: Option<FieldOf<'a, N>>) -> Option<N::List> {
        match field?.ty {
            Type::List(list) => Some(list),
            _ => None,
        }
    }

    /// The container with this name.
    fn named(&self, name: &str) -> Option<N::Container> {
        self.names.containers().find(|id| self.names.container_name(*id) == name)
    }

    fn field(&self, name: &str, range: &Range<usize>) -> Result<FieldRef<N::Container, N::List>> {
        match self.find(name, range, false)? {
            Found::Field { field, .. } if field.end - field.start >= 64 => {
                let message = format!("`{name}` has more than 64 bits: name a part of it");
                Err(ConditionError::kind(range.clone(), message))
            }
            Found::Field { base, start, field } => Ok(FieldRef {
                base,
                name: name.to_owned(),
                start,
                end: start.saturating_add(field.end - field.start),
                list: self.list(Some(field)),
            }),
            Found::Group { .. } => {
                let message = format!("`{name}` is a group of elements, not a value");
                Err(ConditionError::kind(range.clone(), message).hint(
                    "use all(), any(), sum(), count() or unique(), or name a field of one element"
                        .to_owned(),
                ))
            }
        }
    }

    /// Resolves a name: first in the innermost element, then in the enclosing ones, then as a path
    /// that starts with another container. With `group`, the name is that of a group.
    fn find(&self, name: &str, range: &Range<usize>, group: bool) -> Result<Found<'a, N>> {
        for (outward, level) in self.levels.iter().rev().enumerate() {
            let base = Base::Own(outward as u32);
            // The condition of a field has plain names only; other conditions also have paths.
            let found = match self.place {
                Place::Field => own(&level.members, name, range, self.variant)?
                    .map(|field| (field.start, Part::<N>::Field(field))),
                _ => self.path(&level.members, 0, name, range, group)?,
            };
            if let Some(found) = found {
                return Ok(found.1.at(base, found.0));
            }
        }
        let mut hint = None;
        for (at, _) in name.match_indices('.') {
            let (head, rest) = (name[..at].trim(), name[at + 1..].trim());
            let Some(container) = self.named(head) else { continue };
            self.no_state(&format!("`{name}`"), range)?;
            let members = self.names.members(container);
            if let Some((start, part)) = self.path(&members, 0, rest, range, group)? {
                return Ok(part.at(Base::State(container), start));
            }
            let message = match group {
                true => format!("`{head}` has no group `{rest}`"),
                false => format!("`{head}` has no field `{rest}`"),
            };
            let hint = suggest::hint(rest, names(&members, group));
            return Err(ConditionError::new(ErrorKind::Name, range.clone(), message, hint));
        }
        if let (Some((head, _)), Place::Rule) = (name.split_once('.'), self.place) {
            let known = self.names.containers().map(|id| self.names.container_name(id));
            hint = suggest::hint(head.trim(), known);
        }
        if self.place == Place::Field && name.contains('.') {
            hint = Some("a field's condition names fields of its own container only".to_owned());
        }
        let known = self.levels.iter().rev().flat_map(|level| names(&level.members, group));
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
        Err(ConditionError::new(ErrorKind::Name, range.clone(), message, hint))
    }

    /// Finds a field or group by its path from `members`: `Field`, `Struct Field.Field`,
    /// `Group[2].Field`. `Group.Field` is the field of element 0.
    fn path(
        &self,
        members: &Members<'a, N>,
        from: u32,
        name: &str,
        range: &Range<usize>,
        wants_group: bool,
    ) -> Result<Option<(u32, Part<'a, N>)>> {
        let group_named = |name: &str| members.groups.iter().find(|group| group.name == name);
        if wants_group && let Some(group) = group_named(name) {
            return Ok(Some((from.saturating_add(group.start), Part::Group(*group))));
        }
        if let Some(field) = own(members, name, range, self.variant)? {
            return Ok(Some((from.saturating_add(field.start), Part::Field(field))));
        }
        for (at, _) in name.match_indices('.') {
            let (head, rest) = (name[..at].trim(), name[at + 1..].trim());
            if let Some(field) = own(members, head, range, self.variant)?
                && let Type::Struct(inner) = field.ty
            {
                let inner = self.names.members(inner);
                if let Some(found) =
                    self.path(&inner, from.saturating_add(field.start), rest, range, wants_group)?
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
                && let Some(group) = group_named(head)
            {
                if group.count != 0 && index >= u64::from(group.count) || index >= 1 << 16 {
                    let message = format!("`{head}` has {} elements, counted from 0", group.count);
                    return Err(ConditionError::kind(range.clone(), message));
                }
                let inner = self.names.elements(group.id);
                let start = from
                    .saturating_add(group.start)
                    .saturating_add((index as u32).saturating_mul(group.bits));
                if let Some(found) = self.path(&inner, start, rest, range, wants_group)? {
                    return Ok(Some(found));
                }
            }
        }
        // A group is found even if a field is wanted, so that the caller can report that the name
        // is a group.
        let group = group_named(name).filter(|_| !wants_group);
        Ok(group.map(|group| (from.saturating_add(group.start), Part::Group(*group))))
    }

    /// The number of a name: `true`, `false`, or a value of the enumeration of `field`. `field` is
    /// the field on the other side of the comparison.
    fn value(
        &self,
        name: &str,
        range: &Range<usize>,
        field: Option<FieldOf<'a, N>>,
    ) -> Result<u64> {
        match (name, field.map(|field| field.ty)) {
            ("true", None | Some(Type::Bool)) => return Ok(1),
            ("false", None | Some(Type::Bool)) => return Ok(0),
            _ => {}
        }
        if let Some(list) = self.list(field) {
            let value = self.names.value(list, name);
            return value.ok_or_else(|| no_value(name, range, self.names, list));
        }
        let mut fields = self.levels.iter().flat_map(|level| &level.members.fields);
        let is_field = fields.any(|field| field.name == name);
        let (message, hint) = match is_field {
            true => (format!("`{name}` is a field"), format!("fields stand in brackets: [{name}]")),
            false => (
                format!("`{name}` is compared with something that has no named values"),
                "a value's name must be compared with a field of an enumeration".to_owned(),
            ),
        };
        Err(ConditionError::new(ErrorKind::Name, range.clone(), message, Some(hint)))
    }
}

/// A field or group without its base.
enum Part<'a, N: Names<'a>> {
    Field(FieldOf<'a, N>),
    Group(GroupOf<'a, N>),
}

impl<'a, N: Names<'a>> Part<'a, N> {
    fn at(self, base: Base<N::Container>, start: u32) -> Found<'a, N> {
        match self {
            Part::Field(field) => Found::Field { base, start, field },
            Part::Group(group) => Found::Group { base, start, group },
        }
    }
}

fn names<'a, N: Names<'a>>(members: &Members<'a, N>, group: bool) -> Vec<&'a str> {
    match group {
        true => members.groups.iter().map(|group| group.name).collect(),
        false => members.all().map(|field| field.name).collect(),
    }
}

/// The field with exactly this name. If several fields with the name have different bits, the field
/// in alternative `variant` is meant.
fn own<'a, N: Names<'a>>(
    members: &Members<'a, N>,
    name: &str,
    range: &Range<usize>,
    variant: Option<(&str, &str)>,
) -> Result<Option<FieldOf<'a, N>>> {
    let mut found = members.all().filter(|field| field.name == name);
    let Some(first) = found.next() else { return Ok(None) };
    if found.all(|field| (field.start, field.end) == (first.start, first.end)) {
        return Ok(Some(*first));
    }
    let same = |field: &&FieldOf<'a, N>| {
        field.name == name && field.variant.is_some() && field.variant == variant
    };
    match members.fields.iter().find(same) {
        Some(field) => Ok(Some(*field)),
        None => {
            let message = format!("several fields are named `{name}` and have different bits");
            Err(ConditionError::new(ErrorKind::Name, range.clone(), message, None))
        }
    }
}
