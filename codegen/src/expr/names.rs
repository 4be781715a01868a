//! The names of the model, as the parser of conditions looks them up.

use crate::model::{
    Container, ContainerId, Enum, EnumId, EnumValue, Field, Group, Kind, Type, ValueSet, View,
};
use genxml_syntax::condition::{self, Members, Names};

/// Enumerations and containers in which names are looked up.
#[derive(Clone, Copy)]
pub(super) struct Model<'a> {
    pub enums: &'a [Enum],
    pub containers: &'a [Container],
}

impl<'a> Names<'a> for Model<'a> {
    type Container = ContainerId;
    type List = EnumId;
    type Group = &'a Group;

    fn containers(self) -> impl Iterator<Item = ContainerId> {
        (0..self.containers.len()).map(ContainerId)
    }

    fn container_name(self, container: ContainerId) -> &'a str {
        &self.containers[container.0].name
    }

    fn is_instruction(self, container: ContainerId) -> bool {
        matches!(self.containers[container.0].kind, Kind::Instruction { .. })
    }

    fn members(self, container: ContainerId) -> Members<'a, Self> {
        match self.containers.get(container.0) {
            Some(found) => members(&found.fields, &found.groups, &found.views),
            None => members(&[], &[], &[]),
        }
    }

    fn elements(self, group: &'a Group) -> Members<'a, Self> {
        members(&group.fields, &group.groups, &[])
    }

    fn list_name(self, list: EnumId) -> &'a str {
        &self.enums[list.0].name
    }

    fn value(self, list: EnumId, name: &str) -> Option<u64> {
        let list = &self.enums[list.0];
        let rest = name.strip_prefix(list.prefix.as_str()).and_then(|rest| rest.strip_prefix('_'));
        let short = rest.filter(|_| !list.prefix.is_empty());
        let is_it = |value: &&EnumValue| value.name == name || Some(value.name.as_str()) == short;
        list.values.iter().find(is_it).map(|value| value.value)
    }

    fn values(self, list: EnumId) -> Vec<&'a str> {
        self.enums[list.0].values.iter().map(|value| value.name.as_str()).collect()
    }

    fn has_bits(self, list: EnumId) -> bool {
        self.enums[list.0].values.iter().any(|value| value.bits.is_some())
    }

    fn sets(self, list: EnumId) -> impl Iterator<Item = (&'a str, &'a [(u64, u64)])> {
        let set = |set: &'a ValueSet| (set.name.as_str(), set.ranges.as_slice());
        self.enums[list.0].sets.iter().map(set)
    }
}

/// The names of these fields, groups and views.
pub(super) fn members<'a>(
    fields: &'a [Field],
    groups: &'a [Group],
    views: &'a [View],
) -> Members<'a, Model<'a>> {
    Members {
        fields: fields.iter().map(field).collect(),
        views: views.iter().map(|view| field(&view.field)).collect(),
        groups: groups.iter().map(group).collect(),
    }
}

fn field(field: &Field) -> condition::Field<'_, ContainerId, EnumId> {
    condition::Field {
        name: &field.name,
        start: field.start,
        end: field.end,
        ty: match field.ty {
            Type::Bool => condition::Type::Bool,
            Type::Enum(id) => condition::Type::List(id),
            Type::Struct(id) => condition::Type::Struct(id),
            _ => condition::Type::Other,
        },
        variant: field.variant.as_ref().map(|(set, name)| (set.as_str(), name.as_str())),
    }
}

fn group(group: &Group) -> condition::Group<'_, &Group> {
    let name = match &group.fields[..] {
        [field] if group.name.is_empty() => &field.name,
        _ => &group.name,
    };
    let Group { start, bits, count, .. } = *group;
    condition::Group { name, start, bits, count, id: group }
}
