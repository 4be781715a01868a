//! Operators of expressions and conditions.

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
