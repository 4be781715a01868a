//! The field that a value is written to, found in the tables by its Rust name.

use crate::message::Text;
use crate::names;
use crate::reflect::{Container, Field, Group, Stored, Type};

/// The target of a value: a member of a generated type or of a structure nested in it. The macros
/// create it as a constant.
#[derive(Debug)]
pub struct At {
    /// The manual's name of the container, or the Rust name of a type without tables.
    container: &'static str,
    /// The Rust name of the member.
    member: &'static str,
    found: Option<Found>,
    /// Least and greatest stored value that the manual allows, sign-extended for signed types.
    pub(crate) range: Option<(u64, u64)>,
}

/// The table entry of a member.
#[derive(Debug, Clone, Copy)]
struct Found {
    field: &'static Field,
    /// First bit of the structure or array element that has the field, from the container's start.
    base: u32,
    /// The manual's name of the first structure field on the path; `None` without one.
    within: Option<&'static str>,
    /// True if the field is in an array. `base` is then that of the first element.
    element: bool,
}

impl At {
    /// Finds the member at the end of `path`, which starts at the outermost type. `rust_type` is
    /// the name of that type; it is used only if the type has no tables (`info` is `None`).
    #[doc(hidden)]
    pub const fn new(
        info: Option<&'static Container>,
        rust_type: &'static str,
        path: &'static [&'static str],
    ) -> At {
        let member = if path.is_empty() { "" } else { path[path.len() - 1] };
        let Some(info) = info else {
            return At { container: rust_type, member, found: None, range: None };
        };
        let found = find(info, path);
        let range = match found {
            Some(Found { field, .. }) => field.range,
            None => None,
        };
        At { container: info.name, member, found, range }
    }

    /// Like [`new`](Self::new), but the member must exist. For macros in which the user writes the
    /// member's name.
    ///
    /// # Panics
    /// If no field, or more than one, has that name; in a `const` this is a compile error.
    #[doc(hidden)]
    #[track_caller]
    pub const fn known(info: &'static Container, path: &'static [&'static str]) -> At {
        let at = At::new(Some(info), "", path);
        if at.found.is_none() {
            let text =
                Text::new().text(info.name).text(" has no field `").text(at.member).text("`");
            let text = match path {
                [member] if in_alternative(info.fields, member) => text
                    .text(" outside of alternatives: write `.set.Alternative.")
                    .text(member)
                    .text("`"),
                _ => text,
            };
            panic!("{}", text.as_str())
        }
        at
    }

    /// The manual's name of the container.
    pub const fn container(&self) -> &'static str {
        self.container
    }

    /// The manual's name of the field, or the member's name if the tables have none.
    pub const fn name(&self) -> &'static str {
        match self.found {
            Some(Found { field, .. }) => field.name,
            None => self.member,
        }
    }

    /// The field in the tables; `None` if it is missing or several fields have the name.
    pub const fn field(&self) -> Option<&'static Field> {
        match self.found {
            Some(Found { field, .. }) => Some(field),
            None => None,
        }
    }

    /// First and last bit from the container's start; in an array, those of the first element.
    /// `None` if `field` returns `None`.
    pub const fn bits(&self) -> Option<(u32, u32)> {
        match self.found {
            Some(Found { field, base, .. }) => Some((base + field.start, base + field.end)),
            None => None,
        }
    }

    /// Adds container, field and bits to `text`:
    /// `3DSTATE_VS: Maximum Number of Threads (dw7 31:23)`.
    pub(crate) const fn write(&self, text: Text) -> Text {
        let text = text.text(self.container).text(": ");
        let (Some(found), Some((start, end))) = (self.found, self.bits()) else {
            return text.text(self.member);
        };
        let text = match found.within {
            Some(member) => text.text(member).text(": "),
            None => text,
        };
        let text = text.text(found.field.name).text(" (dw").number((start / 32) as i128).text(" ");
        let first = (start % 32) as i128;
        let text = if end == start {
            text.number(first)
        } else {
            text.number((end - start) as i128 + first).text(":").number(first)
        };
        if found.element { text.text(", first element)") } else { text.text(")") }
    }

    /// Adds the manual's range to `text`; `None` if the field has no range.
    pub(crate) const fn write_range(&self, text: Text) -> Option<Text> {
        let (Some((min, max)), Some(field)) = (self.range, self.field()) else { return None };
        Some(bound(field, max, bound(field, min, text).text("..=")))
    }
}

/// Adds the value that the stored bits `stored` of `field` encode to `text`.
const fn bound(field: &Field, stored: u64, text: Text) -> Text {
    match (field.ty, field.stored) {
        (Type::Int, _) => text.number(stored as i64 as i128),
        (Type::UFixed(fraction), _) => text.fixed(stored as i128, fraction),
        (Type::SFixed(fraction), _) => text.fixed(stored as i64 as i128, fraction),
        (_, Stored::Plain) => text.number(stored as i128),
        (_, form) => text.number(form.decode(stored) as i128),
    }
}

/// Finds the field at the end of a path of members. The path may also contain type names, which
/// start with a capital: after a set of alternatives, a type name selects the alternative;
/// elsewhere it is skipped. The fields of all alternatives are in the container's own list.
const fn find(info: &'static Container, path: &[&str]) -> Option<Found> {
    let (mut fields, mut groups) = (info.fields, info.groups);
    let (mut base, mut within, mut element) = (0, None, false);
    let mut scope = Scope { set: None, alternative: None };
    let mut step = 0;
    while step < path.len() {
        let (member, last) = (path[step], step + 1 == path.len());
        step += 1;
        if names::is_type(member) {
            if scope.set.is_some() {
                scope.alternative = Some(member);
            }
            continue;
        }
        let current = scope;
        scope = Scope { set: None, alternative: None };
        match only(fields, current, member) {
            Some(field) if last => return Some(Found { field, base, within, element }),
            Some(field) => {
                if let Type::Struct(inner) = field.ty {
                    (fields, groups) = (inner.fields, inner.groups);
                    base += field.start;
                    if within.is_none() {
                        within = Some(field.name);
                    }
                }
                continue;
            }
            None if is_set(fields, member) => {
                scope.set = Some(member);
                continue;
            }
            None => {}
        }
        let mut i = 0;
        while i < groups.len() {
            let group: &'static Group = &groups[i];
            i += 1;
            if !named(group, member) {
                continue;
            }
            let mut inner = group;
            base += inner.start;
            while inner.fields.is_empty() && inner.groups.len() == 1 {
                inner = &inner.groups[0];
                base += inner.start;
            }
            (fields, groups, element) = (inner.fields, inner.groups, true);
            match single(fields) {
                Some(field) if last => return Some(Found { field, base, within, element }),
                // An array of structures: the next members are those of the structure.
                Some(Field { start, ty: Type::Struct(structure), .. }) => {
                    base += *start;
                    (fields, groups) = (structure.fields, structure.groups);
                }
                _ => {}
            }
            break;
        }
    }
    None
}

/// The set of alternatives, and the alternative, in which the next member is looked up.
#[derive(Clone, Copy)]
struct Scope<'a> {
    /// The member that holds the set of alternatives.
    set: Option<&'a str>,
    /// The type name of the alternative.
    alternative: Option<&'a str>,
}

impl Scope<'_> {
    /// Whether the field belongs to this set and alternative. Without a set, every field does.
    const fn has(self, field: &Field) -> bool {
        match (self.set, self.alternative, field.alternative) {
            (None, ..) => true,
            (Some(_), _, None) => false,
            (Some(set), None, Some((name, _))) => names::matches(name, set),
            (Some(set), Some(ty), Some((name, alternative))) => {
                names::matches(name, set) && names::matches_type(alternative, ty)
            }
        }
    }
}

/// Whether the member is a set of alternatives.
const fn is_set(fields: &'static [Field], member: &str) -> bool {
    let mut i = 0;
    while i < fields.len() {
        if let Some((set, _)) = fields[i].alternative
            && names::matches(set, member)
        {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether a field of an alternative has this name.
const fn in_alternative(fields: &'static [Field], member: &str) -> bool {
    let mut i = 0;
    while i < fields.len() {
        if fields[i].alternative.is_some() && names::matches(fields[i].name, member) {
            return true;
        }
        i += 1;
    }
    false
}

const fn is_data(field: &Field) -> bool {
    !matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
}

/// The field in `scope` that has the name `member`, if there is exactly one. Reserved bits do not
/// count.
const fn only(fields: &'static [Field], scope: Scope<'_>, member: &str) -> Option<&'static Field> {
    let (mut found, mut i) = (None, 0);
    while i < fields.len() {
        let field = &fields[i];
        i += 1;
        if is_data(field) && scope.has(field) && names::matches(field.name, member) {
            if found.is_some() {
                return None;
            }
            found = Some(field);
        }
    }
    found
}

/// The only field of an array's element; `None` if the element has no field or several. Reserved
/// bits do not count.
const fn single(fields: &'static [Field]) -> Option<&'static Field> {
    let (mut found, mut i) = (None, 0);
    while i < fields.len() {
        if is_data(&fields[i]) {
            if found.is_some() {
                return None;
            }
            found = Some(&fields[i]);
        }
        i += 1;
    }
    found
}

/// Whether the Rust name `member` stands for the array `group`. An array without a name takes the
/// name of its only field or inner array, else the name `Entries`.
const fn named(group: &Group, member: &str) -> bool {
    if !group.name.is_empty() {
        return names::matches(group.name, member);
    }
    match (single(group.fields), group.groups) {
        (Some(field), []) => names::matches(field.name, member),
        (None, [inner]) if !inner.name.is_empty() => names::matches(inner.name, member),
        _ => names::matches("Entries", member),
    }
}
