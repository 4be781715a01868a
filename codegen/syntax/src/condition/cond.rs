//! Conditions whose names are resolved.

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
    /// A statement about the elements of a group. The last member is evaluated for each element; it
    /// is `None` for `Count`.
    Over(Quantifier, GroupRef<C>, Option<Box<Cond<C, L>>>),
    /// Number of the element, inside [`Cond::Over`].
    Index,
    /// True if the kernels use the surface in this way.
    Role(Role),
}

/// Kinds of statements about the elements of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// The condition holds for every element.
    All,
    /// The condition holds for at least one element.
    Any,
    /// The sum of a value.
    Sum,
    /// The number of elements.
    Count,
    /// No two elements have the same value.
    Unique,
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

/// How the messages of a kernel use a surface of the binding table, as in
/// `genxml_core::rule::Role`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Role {
    Sampled,
    RenderTarget,
    Typed,
    Untyped,
    Scattered,
    Block,
    Media,
    Atomic,
    Read,
    Written,
}

impl Role {
    /// Every role by its name in conditions.
    pub const ALL: &[(&str, Role)] = &[
        ("sampled", Role::Sampled),
        ("render-target", Role::RenderTarget),
        ("typed", Role::Typed),
        ("untyped", Role::Untyped),
        ("scattered", Role::Scattered),
        ("block", Role::Block),
        ("media", Role::Media),
        ("atomic", Role::Atomic),
        ("read", Role::Read),
        ("written", Role::Written),
    ];
}

/// Operators, loosest first, as in `genxml_core::reflect::Op`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitAnd,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Op {
    /// The symbol in conditions.
    pub fn symbol(self) -> &'static str {
        match self {
            Op::Or => "||",
            Op::And => "&&",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::BitAnd => "&",
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div => "/",
            Op::Rem => "%",
        }
    }

    /// The precedence; a larger number binds tighter.
    pub fn level(self) -> u8 {
        match self {
            Op::Or => 1,
            Op::And => 2,
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => 3,
            Op::BitAnd => 4,
            Op::Add | Op::Sub => 5,
            Op::Mul | Op::Div | Op::Rem => 6,
        }
    }

    /// The result of the operator. Arithmetic wraps; division by zero gives zero.
    pub fn apply(self, l: u64, r: u64) -> u64 {
        match self {
            Op::Or => u64::from(l != 0 || r != 0),
            Op::And => u64::from(l != 0 && r != 0),
            Op::Eq => u64::from(l == r),
            Op::Ne => u64::from(l != r),
            Op::Lt => u64::from(l < r),
            Op::Le => u64::from(l <= r),
            Op::Gt => u64::from(l > r),
            Op::Ge => u64::from(l >= r),
            Op::BitAnd => l & r,
            Op::Add => l.wrapping_add(r),
            Op::Sub => l.wrapping_sub(r),
            Op::Mul => l.wrapping_mul(r),
            Op::Div => l.checked_div(r).unwrap_or(0),
            Op::Rem => l.checked_rem(r).unwrap_or(0),
        }
    }
}
