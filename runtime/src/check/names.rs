//! The names of the tables, as the parser of conditions looks them up.

use genxml_core::reflect::{Container, Enumeration, Field, Group, Kind, Type, View};
use genxml_syntax::condition::{self, Members, Names};

/// A container in a condition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub container: &'static Container,
    /// Index in the list of containers; `None` for the type of a field.
    pub index: Option<u16>,
}

/// The containers in which names are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Containers(pub &'static [&'static Container]);

impl Names<'static> for Containers {
    type Container = Named;
    type List = &'static Enumeration;
    type Group = &'static Group;

    fn containers(self) -> impl Iterator<Item = Named> {
        let indices = 0..=u16::MAX;
        indices.zip(self.0).map(|(index, container)| Named { container, index: Some(index) })
    }

    fn container_name(self, named: Named) -> &'static str {
        named.container.name
    }

    fn is_instruction(self, named: Named) -> bool {
        matches!(named.container.kind, Kind::Instruction { .. })
    }

    fn members(self, named: Named) -> Members<'static, Self> {
        let Container { fields, groups, views, .. } = *named.container;
        members(fields, groups, views)
    }

    fn elements(self, group: &'static Group) -> Members<'static, Self> {
        members(group.fields, group.groups, &[])
    }

    fn list_name(self, list: &'static Enumeration) -> &'static str {
        list.name
    }

    fn value(self, list: &'static Enumeration, name: &str) -> Option<u64> {
        list.value_in_condition(name)
    }

    fn values(self, list: &'static Enumeration) -> Vec<&'static str> {
        list.values.iter().chain(list.aliases).map(|(_, name)| *name).collect()
    }

    fn has_bits(self, list: &'static Enumeration) -> bool {
        !list.bits.is_empty()
    }

    fn sets(
        self,
        list: &'static Enumeration,
    ) -> impl Iterator<Item = (&'static str, &'static [(u64, u64)])> {
        list.sets.iter().copied()
    }
}

fn members(
    fields: &'static [Field],
    groups: &'static [Group],
    views: &'static [View],
) -> Members<'static, Containers> {
    Members {
        fields: fields.iter().map(field).collect(),
        views: views.iter().map(view).collect(),
        groups: groups.iter().map(group).collect(),
    }
}

type NamedField = condition::Field<'static, Named, &'static Enumeration>;

fn field(field: &'static Field) -> NamedField {
    let Field { name, start, end, alternative, .. } = *field;
    condition::Field { name, start, end, ty: ty(field.ty), variant: alternative }
}

fn view(view: &'static View) -> NamedField {
    let View { name, start, end, .. } = *view;
    condition::Field { name, start, end, ty: ty(view.ty), variant: None }
}

fn ty(ty: Type) -> condition::Type<Named, &'static Enumeration> {
    match ty {
        Type::Bool => condition::Type::Bool,
        Type::Enum(list) => condition::Type::List(list),
        Type::Struct(container) => condition::Type::Struct(Named { container, index: None }),
        _ => condition::Type::Other,
    }
}

fn group(group: &'static Group) -> condition::Group<'static, &'static Group> {
    let name = match group.fields {
        [field] if group.name.is_empty() => field.name,
        _ => group.name,
    };
    let Group { start, bits, count, .. } = *group;
    condition::Group { name, start, bits, count, id: group }
}
