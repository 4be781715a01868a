//! Words of conditions: operators, quantifiers, roles. The parser of conditions and the tables that
//! the generator emits share them.
//!
//! The crate has no features and no dependencies. So it is the same for build scripts, macros and
//! programs, and the crates above it are compiled once for all of them.
#![no_std]

/// Operators; comparisons and logic yield 0 or 1.
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
    pub const fn symbol(self) -> &'static str {
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
    pub const fn level(self) -> u8 {
        match self {
            Op::Or => 1,
            Op::And => 2,
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => 3,
            Op::BitAnd => 4,
            Op::Add | Op::Sub => 5,
            Op::Mul | Op::Div | Op::Rem => 6,
        }
    }

    /// The result. Arithmetic wraps; division and remainder by zero give zero.
    pub const fn apply(self, l: u64, r: u64) -> u64 {
        match self {
            Op::Or => (l != 0 || r != 0) as u64,
            Op::And => (l != 0 && r != 0) as u64,
            Op::Eq => (l == r) as u64,
            Op::Ne => (l != r) as u64,
            Op::Lt => (l < r) as u64,
            Op::Le => (l <= r) as u64,
            Op::Gt => (l > r) as u64,
            Op::Ge => (l >= r) as u64,
            Op::BitAnd => l & r,
            Op::Add => l.wrapping_add(r),
            Op::Sub => l.wrapping_sub(r),
            Op::Mul => l.wrapping_mul(r),
            Op::Div => match l.checked_div(r) {
                Some(times) => times,
                None => 0,
            },
            Op::Rem => match l.checked_rem(r) {
                Some(rest) => rest,
                None => 0,
            },
        }
    }
}

/// How a statement about the elements of a group combines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// The condition holds for every element.
    All,
    /// The condition holds for at least one element.
    Any,
    /// Sum of the values.
    Sum,
    /// Number of elements; the condition is not evaluated.
    Count,
    /// No two elements have the same value.
    Unique,
}

impl Quantifier {
    /// The name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Quantifier::All => "all",
            Quantifier::Any => "any",
            Quantifier::Sum => "sum",
            Quantifier::Count => "count",
            Quantifier::Unique => "unique",
        }
    }
}

/// How the messages of a kernel use a surface of the binding table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The surface is read through the sampler.
    Sampled,
    /// The surface is written or read as a render target.
    RenderTarget,
    /// Typed surface messages, including atomics, use the surface.
    Typed,
    /// Untyped surface messages, including atomics, use the surface.
    Untyped,
    /// Byte and dword scattered messages use the surface.
    Scattered,
    /// Oword block messages use the surface.
    Block,
    /// Media block messages use the surface.
    Media,
    /// Atomic operations, typed or untyped, use the surface.
    Atomic,
    /// The surface is read.
    Read,
    /// The surface is written.
    Written,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 10] = [
        Role::Sampled,
        Role::RenderTarget,
        Role::Typed,
        Role::Untyped,
        Role::Scattered,
        Role::Block,
        Role::Media,
        Role::Atomic,
        Role::Read,
        Role::Written,
    ];

    /// The name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Sampled => "sampled",
            Role::RenderTarget => "render-target",
            Role::Typed => "typed",
            Role::Untyped => "untyped",
            Role::Scattered => "scattered",
            Role::Block => "block",
            Role::Media => "media",
            Role::Atomic => "atomic",
            Role::Read => "read",
            Role::Written => "written",
        }
    }
}
