//! The names of a specification, as far as conditions need them.

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type<C, L> {
    /// A switch, whose values are `true` and `false`.
    Bool,
    /// An enumeration.
    List(L),
    /// A nested structure.
    Struct(C),
    /// Another type, whose values have no names.
    Other,
}

/// A field or view.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a, C, L> {
    /// The name.
    pub name: &'a str,
    /// First bit, from the start of the container or group element.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// The type.
    pub ty: Type<C, L>,
    /// Names of the set of alternatives and of the alternative that the field belongs to.
    pub variant: Option<(&'a str, &'a str)>,
}

/// An array of fields.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a, G> {
    /// The name: its own, or that of the only field of its elements.
    pub name: &'a str,
    /// First bit of the first element.
    pub start: u32,
    /// Size of an element in bits.
    pub bits: u32,
    /// Number of elements; 0 means as many as the length allows.
    pub count: u32,
    /// Identifies the group.
    pub id: G,
}

/// The names in a container or in an element of a group.
pub struct Members<'a, N: Names<'a>> {
    /// Fields.
    pub fields: Vec<Field<'a, N::Container, N::List>>,
    /// Views; an element of a group has none.
    pub views: Vec<Field<'a, N::Container, N::List>>,
    /// Groups.
    pub groups: Vec<Group<'a, N::Group>>,
}

/// A specification in which names are looked up.
pub trait Names<'a>: Copy {
    /// Identifies a container.
    type Container: Copy;
    /// Identifies an enumeration.
    type List: Copy;
    /// Identifies a group.
    type Group: Copy;

    /// All containers.
    fn containers(self) -> impl Iterator<Item = Self::Container>;

    /// The name of a container.
    fn container_name(self, container: Self::Container) -> &'a str;

    /// True if the container is an instruction.
    fn is_instruction(self, container: Self::Container) -> bool;

    /// The fields, views and groups of a container.
    fn members(self, container: Self::Container) -> Members<'a, Self>;

    /// The fields and groups of an element of a group.
    fn elements(self, group: Self::Group) -> Members<'a, Self>;

    /// The name of an enumeration.
    fn list_name(self, list: Self::List) -> &'a str;

    /// The numeric value of an enumeration's entry, found by its name with or without the prefix.
    fn value(self, list: Self::List, name: &str) -> Option<u64>;

    /// The names of all values.
    fn values(self, list: Self::List) -> Vec<&'a str>;

    /// True if at least one value implies a number of bits.
    fn has_bits(self, list: Self::List) -> bool;

    /// The named sets: names, and ascending ranges (first, last) that do not touch.
    fn sets(self, list: Self::List) -> impl Iterator<Item = (&'a str, &'a [(u64, u64)])>;
}
