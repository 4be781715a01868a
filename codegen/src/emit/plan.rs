//! The plan of the generated text: all Rust names, and the members of every block of fields.

use super::names::{Scope, field_name, type_name};
use super::slots::Latches;
use crate::model::{Container, ContainerId, EnumId, Expr, Field, Group, Kind, Spec, Stored, Type};
use std::collections::HashMap;

/// The specification with its Rust names.
pub struct Plan<'a> {
    pub spec: &'a Spec,
    /// Module name of each file.
    pub units: Vec<String>,
    /// For each file, whether it gets types in addition to tables.
    typed: Vec<bool>,
    /// Type name of each container.
    pub containers: Vec<String>,
    /// Type name of each enumeration.
    pub enums: Vec<String>,
    /// The block and tail of each container.
    pub bodies: Vec<Body<'a>>,
    /// Where latched state is stored.
    pub latches: Latches,
}

/// The fields of a container or of a group's element.
pub struct Block<'a> {
    /// Type name of the container or element.
    pub name: String,
    pub bits: u32,
    /// The members of the Rust type, in order of their first bit.
    pub members: Vec<Member<'a>>,
    /// All fields, including those without a member.
    pub fields: Vec<&'a Field>,
}

/// A container with its block of fields and its tail.
pub struct Body<'a> {
    pub container: &'a Container,
    pub block: Block<'a>,
    /// The array of variable length at the end.
    pub tail: Option<Array<'a>>,
    /// True if the container has a float, at any depth. Types that derive their traits then do not
    /// derive `Eq`.
    pub float: bool,
}

/// A member of the Rust type.
pub enum Member<'a> {
    Field(String, &'a Field),
    Set(Set<'a>),
    Array(Array<'a>),
}

/// A set of alternatives.
pub struct Set<'a> {
    /// Member name.
    pub member: String,
    /// The enum's name.
    pub ty: String,
    /// The name in the XML.
    pub name: &'a str,
    pub alternatives: Vec<Alternative<'a>>,
    /// True if all conditions can be false and no alternative is the fallback. The enum then has
    /// the variant `Absent`.
    pub absent: bool,
}

/// An alternative of a set. The last one may have no condition.
pub struct Alternative<'a> {
    pub variant: String,
    pub condition: Option<&'a Expr>,
    pub fields: Vec<(String, &'a Field)>,
    /// Bits that must be one in this alternative.
    pub ones: Vec<&'a Field>,
}

impl<'a> Set<'a> {
    /// The alternative with this name in the XML. Adds it if it does not exist.
    fn alternative(&mut self, name: &str) -> &mut Alternative<'a> {
        let variant = type_name(name);
        let found = self.alternatives.iter().position(|alternative| alternative.variant == variant);
        let at = found.unwrap_or_else(|| {
            let (fields, ones) = (Vec::new(), Vec::new());
            self.alternatives.push(Alternative { variant, condition: None, fields, ones });
            self.alternatives.len() - 1
        });
        &mut self.alternatives[at]
    }
}

/// A group: an array of elements.
pub struct Array<'a> {
    pub member: String,
    pub group: &'a Group,
    pub element: Element<'a>,
}

/// The element of an array.
pub enum Element<'a> {
    /// One field, whose positions count from the start of the element.
    Field(&'a Field),
    /// One array.
    Array(Box<Array<'a>>),
    /// A generated struct.
    Block(Box<Block<'a>>),
}

/// Names that generated types cannot have, because the generated text uses them.
const TAKEN: &[&str] = &[
    "U",
    "U64",
    "S",
    "S64",
    "MinusOne",
    "Shifted",
    "PowerOfTwo",
    "UFix",
    "SFix",
    "Address",
    "Entries",
    "Entry",
    "Packed",
    "Fixed",
    "Latch",
    "Slots",
    "UnpackError",
    "PackError",
    "ParseError",
    "OutOfRange",
    "Check",
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Default",
    "Copy",
    "Clone",
    "Debug",
    "PartialEq",
    "Eq",
    "Hash",
    "Self",
];

impl<'a> Plan<'a> {
    /// Plans the text of a specification. `enabled` returns true for features that are on.
    pub fn new(spec: &'a Spec, enabled: &dyn Fn(&str) -> bool) -> Self {
        let mut modules = Scope::with(&["engine", "packets", "pipeline"]);
        let units = spec.files.iter().map(|file| modules.take(field_name(&file.unit))).collect();
        let mut scopes: Vec<Scope> = spec.files.iter().map(|_| Scope::with(TAKEN)).collect();
        let containers =
            spec.containers.iter().map(|c| scopes[c.file].take(type_name(&c.name))).collect();
        let enums = spec.enums.iter().map(|e| scopes[e.file].take(type_name(&e.name))).collect();
        let mut plan = Plan {
            spec,
            units,
            typed: typed_files(spec, enabled),
            containers,
            enums,
            bodies: Vec::new(),
            latches: Latches::new(spec),
        };
        for (index, container) in spec.containers.iter().enumerate() {
            let scope = &mut scopes[container.file];
            let name = plan.containers[index].clone();
            let fixed: Vec<&Group> = container.groups.iter().filter(|g| g.count > 0).collect();
            let mut members = Scope::with(&[]);
            let block = plan.block(
                name.clone(),
                container.bits,
                &container.fields,
                &fixed,
                scope,
                &mut members,
            );
            let tail = container.groups.iter().find(|g| g.count == 0);
            let tail = tail.map(|group| plan.array(&name, group, scope, &mut members));
            let float = plan.float(ContainerId(index));
            plan.bodies.push(Body { container, block, tail, float });
        }
        plan
    }

    /// Whether types are generated for the file.
    pub fn has_types(&self, file: usize) -> bool {
        self.typed[file]
    }

    /// Whether a type is generated for the container. None is generated for an instruction of which
    /// only the header is described, or if the container's file gets no types.
    pub fn is_typed(&self, container: &Container) -> bool {
        let header_only = container.partial && matches!(container.kind, Kind::Instruction { .. });
        !header_only && self.typed[container.file]
    }

    fn block(
        &self,
        name: String,
        bits: u32,
        fields: &'a [Field],
        groups: &[&'a Group],
        scope: &mut Scope,
        names: &mut Scope,
    ) -> Block<'a> {
        let mut members: Vec<(u32, Member<'a>)> = Vec::new();
        // Fields with a member come first, because the first of them determines the position of its
        // set. An alternative may consist only of fixed bits.
        let (data, rest): (Vec<&Field>, Vec<&Field>) =
            fields.iter().partition(|field| is_member(field));
        for field in data.into_iter().chain(rest) {
            let Some((set, alternative)) = &field.variant else {
                if is_member(field) {
                    members.push((
                        field.start,
                        Member::Field(names.take(field_name(&field.name)), field),
                    ));
                }
                continue;
            };
            let found = members
                .iter()
                .position(|(_, member)| matches!(member, Member::Set(s) if s.name == set));
            let at = match found {
                Some(at) => at,
                None => {
                    let ty = scope.take(format!("{name}{}", type_name(set)));
                    let member = names.take(field_name(set));
                    let new =
                        Set { member, ty, name: set, alternatives: Vec::new(), absent: false };
                    members.push((field.start, Member::Set(new)));
                    members.len() - 1
                }
            };
            let Member::Set(set) = &mut members[at].1 else { continue };
            let alternative = set.alternative(alternative);
            alternative.condition = alternative.condition.or(field.exists_if.as_ref());
            if is_member(field) {
                let mut taken = Scope::default();
                alternative.fields.iter().for_each(|(name, _)| drop(taken.take(name.clone())));
                alternative.fields.push((taken.take(field_name(&field.name)), field));
            } else if field.ty == Type::MustBeOne {
                alternative.ones.push(field);
            }
        }
        for group in groups {
            members.push((group.start, Member::Array(self.array(&name, group, scope, names))));
        }
        members.sort_by_key(|(start, _)| *start);
        let mut members: Vec<Member> = members.into_iter().map(|(_, member)| member).collect();
        for member in &mut members {
            if let Member::Set(set) = member {
                set.alternatives.sort_by_key(|a| a.condition.is_none());
                set.absent = !covers(&set.alternatives);
            }
        }
        Block { name, bits, members, fields: fields.iter().collect() }
    }

    fn array(
        &self,
        parent: &str,
        group: &'a Group,
        scope: &mut Scope,
        names: &mut Scope,
    ) -> Array<'a> {
        let mut data = group.fields.iter().filter(|field| is_member(field));
        let groups: Vec<&Group> = group.groups.iter().collect();
        let name = match (&group.name, data.clone().next(), groups.first()) {
            (name, ..) if !name.is_empty() => name,
            (_, Some(field), _) if groups.is_empty() && data.clone().count() == 1 => &field.name,
            (_, None, Some(inner)) if !inner.name.is_empty() => &inner.name,
            _ => "Entries",
        };
        let member = names.take(field_name(name));
        let variable = group.count == 0;
        let ones = group.fields.iter().any(|field| field.ty == Type::MustBeOne);
        let element = match (data.next(), data.next(), &groups[..]) {
            // Bits that must be one need a generated struct, which writes them.
            (Some(field), None, [])
                if field.variant.is_none() && !ones && (!variable || self.fills(field, group)) =>
            {
                Element::Field(field)
            }
            (None, _, [inner]) if !variable && group.fields.is_empty() => {
                Element::Array(Box::new(self.array(parent, inner, scope, &mut Scope::default())))
            }
            _ => {
                let ty = scope.take(format!("{parent}{}", type_name(name)));
                let mut inner = Scope::default();
                Element::Block(Box::new(self.block(
                    ty,
                    group.bits,
                    &group.fields,
                    &groups,
                    scope,
                    &mut inner,
                )))
            }
        };
        Array { member, group, element }
    }

    /// True if the field's type can be the element type of a variable array: the field fills the
    /// element, and its type implements `Entry`.
    fn fills(&self, field: &Field, group: &Group) -> bool {
        let whole = field.start == 0 && field.end + 1 == group.bits;
        whole
            && (matches!(field.ty, Type::Struct(_))
                || field.ty == Type::Uint && field.stored == Stored::Plain)
    }

    /// The path of an enumeration's type from the module of the types of `file`: `Name` or
    /// `super::unit::Name`.
    pub fn enum_path(&self, id: EnumId, file: usize) -> String {
        self.path(&self.enums[id.0], self.spec.enums[id.0].file, file)
    }

    /// The same as [`enum_path`](Self::enum_path), for containers.
    pub fn container_path(&self, id: ContainerId, file: usize) -> String {
        self.path(&self.containers[id.0], self.spec.containers[id.0].file, file)
    }

    fn path(&self, name: &str, home: usize, file: usize) -> String {
        if home == file { name.to_string() } else { format!("super::{}::{name}", self.units[home]) }
    }

    fn float(&self, id: ContainerId) -> bool {
        let container = &self.spec.containers[id.0];
        let mut fields = Vec::new();
        all_fields(&container.fields, &container.groups, &mut fields);
        fields.iter().any(|field| match field.ty {
            Type::Float => float_bits(field).is_some(),
            Type::Struct(inner) => inner != id && self.float(inner),
            _ => false,
        })
    }

    /// True if the type has required fields, at any depth of nested structures. It then does not
    /// implement `Default`.
    pub fn needs_arguments(&self, id: ContainerId) -> bool {
        self.spec.containers[id.0].fields.iter().any(|field| self.required(field))
    }

    /// True if `field` is an argument of `new`.
    pub fn required(&self, field: &Field) -> bool {
        let nested = |id| field.default.is_none() && self.needs_arguments(id);
        is_member(field)
            && field.variant.is_none()
            && (field.required || matches!(field.ty, Type::Struct(id) if nested(id)))
    }

    /// The dwords of a container whose fields have their defaults. Fields of alternatives and
    /// groups are zero.
    pub fn defaults(&self, id: ContainerId) -> Vec<u32> {
        let container = &self.spec.containers[id.0];
        let mut dwords = vec![0u32; container.bits.div_ceil(32) as usize];
        put_defaults(&container.fields, 0, &mut dwords);
        dwords
    }
}

/// Writes the defaults of fields outside alternatives, and ones to fields that must be one.
pub fn put_defaults(fields: &[Field], base: u32, dwords: &mut [u32]) {
    for field in fields.iter().filter(|field| field.variant.is_none()) {
        let value = if field.ty == Type::MustBeOne { u64::MAX } else { field.default.unwrap_or(0) };
        put_bits(dwords, base + field.start, base + field.end, value);
    }
}

/// Sets those of the bits `start` to `end` of `dwords` that are set in `value`. Ignores bits after
/// the end of `dwords`.
pub fn put_bits(dwords: &mut [u32], start: u32, end: u32, value: u64) {
    for bit in start..=end {
        if bit - start < 64
            && value >> (bit - start) & 1 == 1
            && let Some(dword) = dwords.get_mut((bit / 32) as usize)
        {
            *dword |= 1 << (bit % 32);
        }
    }
}

/// Collects all fields of a container or group, including those of nested groups.
pub fn all_fields<'a>(fields: &'a [Field], groups: &'a [Group], out: &mut Vec<&'a Field>) {
    out.extend(fields);
    groups.iter().for_each(|group| all_fields(&group.fields, &group.groups, out));
}

/// True if the Rust type has a member for the field.
pub fn is_member(field: &Field) -> bool {
    !field.opcode
        && !field.length
        && !matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
}

/// The width of a float field, 32 or 64; `None` for all other fields.
pub fn float_bits(field: &Field) -> Option<u32> {
    let width = field.end - field.start + 1;
    (field.ty == Type::Float && (width == 32 || width == 64)).then_some(width)
}

/// True if for all values of the fields at least one condition holds. If the fields have more than
/// 16 bits, the values are not tried, and the result is false.
fn covers(alternatives: &[Alternative]) -> bool {
    if alternatives.iter().any(|a| a.condition.is_none()) {
        return true;
    }
    let conditions: Vec<&Expr> = alternatives.iter().filter_map(|a| a.condition).collect();
    let mut ranges = Vec::new();
    conditions.iter().for_each(|expr| field_ranges(expr, &mut ranges));
    ranges.sort();
    ranges.dedup();
    let widths: Vec<u32> = ranges.iter().map(|(start, end)| end - start + 1).collect();
    let total: u32 = widths.iter().sum();
    if total > 16 {
        return false;
    }
    (0..1u64 << total).all(|case| {
        let mut values = HashMap::new();
        let mut rest = case;
        for (range, width) in ranges.iter().zip(&widths) {
            values.insert(*range, rest & ((1 << width) - 1));
            rest >>= width;
        }
        conditions.iter().any(|expr| {
            expr.eval(&|start, end| values.get(&(start, end)).copied().unwrap_or(0)) != 0
        })
    })
}

fn field_ranges(expr: &Expr, out: &mut Vec<(u32, u32)>) {
    match expr {
        Expr::Number(_) => {}
        Expr::Field { start, end, .. } => out.push((*start, *end)),
        Expr::Not(inner) => field_ranges(inner, out),
        Expr::Binary(_, left, right) => {
            field_ranges(left, out);
            field_ranges(right, out);
        }
    }
}

/// The mask and value of the opcode bits of dword 0.
pub fn opcode(container: &Container) -> (u32, u32) {
    let (mut mask, mut value) = ([0u32], [0u32]);
    for field in container.fields.iter().filter(|field| field.opcode && field.end < 32) {
        put_bits(&mut mask, field.start, field.end, u64::MAX);
        put_bits(&mut value, field.start, field.end, field.default.unwrap_or(0));
    }
    (mask[0], value[0])
}

/// The length field of an instruction.
pub fn length_field(container: &Container) -> Option<&Field> {
    container.fields.iter().find(|field| field.length)
}

/// For each file, whether it gets types: its feature is on, it has no feature, or a file with types
/// uses one of its types.
fn typed_files(spec: &Spec, enabled: &dyn Fn(&str) -> bool) -> Vec<bool> {
    let mut typed: Vec<bool> =
        spec.files.iter().map(|file| file.feature.as_deref().is_none_or(enabled)).collect();
    loop {
        let before = typed.clone();
        for container in spec.containers.iter().filter(|container| before[container.file]) {
            mark(spec, &container.fields, &container.groups, &mut typed);
        }
        if typed == before {
            return typed;
        }
    }
}

/// Marks the files that define the types of these fields.
fn mark(spec: &Spec, fields: &[Field], groups: &[Group], typed: &mut [bool]) {
    for field in fields {
        match field.ty {
            Type::Struct(id) => typed[spec.containers[id.0].file] = true,
            Type::Enum(id) => typed[spec.enums[id.0].file] = true,
            _ => {}
        }
    }
    for group in groups {
        mark(spec, &group.fields, &group.groups, typed);
    }
}
