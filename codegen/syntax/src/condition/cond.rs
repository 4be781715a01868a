//! Conditions whose names are resolved.

use genxml_terms::{Op, Quantifier, Role};

/// A condition of a rule (`require`), a view or a field (`exists-if`). It is about the container
/// and, in rules, about the packets before it. `C` identifies a container, `L` an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cond<C, L> {
    /// A number or a value of an enumeration.
    Number(u64),
    /// The stored value of a field.
    Field(FieldRef<C, L>),
    /// Logical not.
    Not(Box<Cond<C, L>>),
    /// Two operands.
    Binary(Op, Box<Cond<C, L>>, Box<Cond<C, L>>),
    /// The value is in one of these ranges (first, last). The ranges are ascending and do not
    /// touch.
    In(Box<Cond<C, L>>, Vec<(u64, u64)>),
    /// The attribute `bits` of an enumeration's value.
    Bits(Box<Cond<C, L>>, L),
    /// Position of the last packet of this instruction before the current packet. With a condition,
    /// only packets whose fields satisfy the condition count.
    Last(C, Option<Box<Cond<C, L>>>),
    /// A statement about the elements of a group. The last field is the condition that is evaluated
    /// for each element; `Count` has none.
    Over(Quantifier, GroupRef<C>, Option<Box<Cond<C, L>>>),
    /// Number of the element, inside [`Cond::Over`].
    Index,
    /// True if the kernels use the surface in this way.
    Role(Role),
}

/// Where a field or group is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base<C> {
    /// In the container of the rule, or in the current group element of a [`Cond::Over`]. The
    /// number is the number of levels outward from the innermost element.
    Own(u32),
    /// In the last instance of this container that comes before the current one.
    State(C),
}

/// A field that a rule refers to. It may be in a nested structure or in an element of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRef<C, L> {
    /// The container or element from which `start` and `end` count.
    pub base: Base<C>,
    /// The name as written.
    pub name: String,
    /// First bit, from the start of the container or element.
    pub start: u32,
    /// Last bit.
    pub end: u32,
    /// The enumeration of the field's values, if they have names.
    pub list: Option<L>,
}

/// A group that a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRef<C> {
    /// The container or element from which `start` counts.
    pub base: Base<C>,
    /// The name as written.
    pub name: String,
    /// First bit of the first element.
    pub start: u32,
    /// Size of an element in bits.
    pub bits: u32,
    /// Number of elements; 0: as many as the packet's length allows.
    pub count: u32,
}
