//! Conditions: the text of `exists-if` to [`Expr`], of `require` to [`Cond`]. The grammar is in
//! SCHEMA.md.
//!
//! `parse` reads the text, `resolve` finds out what its names mean.

mod parse;
mod resolve;

use std::ops::Range;

use crate::diagnostic::Code;
use crate::model::{Cond, Enum, Expr, Field, Op, Spec};

/// What is wrong with a condition, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// [`Code::Expression`], [`Code::ExpressionName`] or [`Code::ExpressionKind`].
    pub code: Code,
    /// Bytes of the condition's text.
    pub range: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ExprError {
    fn new(
        code: Code,
        range: Range<usize>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Box<Self> {
        Box::new(Self { code, range, message: message.into(), hint })
    }

    fn syntax(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::new(Code::Expression, range, message, None)
    }

    fn kind(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::new(Code::ExpressionKind, range, message, None)
    }

    fn hint(mut self: Box<Self>, hint: impl Into<Option<String>>) -> Box<Self> {
        self.hint = hint.into();
        self
    }
}

type Result<T> = std::result::Result<T, Box<ExprError>>;

/// What names in the condition of a field can mean.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The fields of the container, or of the group's element that the condition stands in.
    pub fields: &'a [Field],
    /// All enumerations.
    pub enums: &'a [Enum],
    /// The variant alternative of the field that the condition belongs to; its fields win over
    /// others of the name.
    pub variant: Option<&'a (String, String)>,
}

/// Parses the condition of a field and resolves its names.
pub fn parse(text: &str, scope: Scope<'_>) -> Result<Expr> {
    resolve::small(parse::tree(text)?, scope)
}

/// Parses the condition of a rule of the container with this index and resolves its names.
pub fn parse_rule(text: &str, spec: &Spec, container: usize) -> Result<Cond> {
    resolve::rule(parse::tree(text)?, spec, container)
}

/// Parses the condition of a view of the container with this index and resolves its names.
pub fn parse_view(text: &str, spec: &Spec, container: usize) -> Result<Cond> {
    resolve::view(parse::tree(text)?, spec, container)
}

/// Parses the values of a `<set>` of an enumeration: values, ranges and earlier sets, separated by
/// spaces.
pub fn parse_set(text: &str, list: &Enum) -> Result<Vec<(u64, u64)>> {
    resolve::set(parse::words(text)?, list)
}

/// The operator as it is written.
pub fn symbol(op: Op) -> &'static str {
    match op {
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

/// How tight the operator binds; larger is tighter.
fn level(op: Op) -> u8 {
    match op {
        Op::Or => 1,
        Op::And => 2,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => 3,
        Op::BitAnd => 4,
        Op::Add | Op::Sub => 5,
        Op::Mul | Op::Div | Op::Rem => 6,
    }
}

/// The condition as text.
pub fn display(expr: &Expr) -> String {
    display_with(expr, &|_, _, _| None)
}

/// The condition as text, where `name` may give the name of a value (third) of the field at the
/// bits (first and last).
pub fn display_with(expr: &Expr, name: &dyn Fn(u32, u32, u64) -> Option<String>) -> String {
    write(expr, 0, None, name)
}

/// `outer` is the level of the operator around, `other` the field on the other side of a
/// comparison.
fn write(
    expr: &Expr,
    outer: u8,
    other: Option<(u32, u32)>,
    name: &dyn Fn(u32, u32, u64) -> Option<String>,
) -> String {
    match expr {
        Expr::Number(value) => {
            let named = other.and_then(|(start, end)| name(start, end, *value));
            let word = |name: &str| {
                !name.starts_with(|c: char| c.is_ascii_digit())
                    && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            match named {
                Some(named) if word(&named) => named,
                Some(named) => format!("'{named}'"),
                None => value.to_string(),
            }
        }
        Expr::Field { name, .. } => format!("[{name}]"),
        Expr::Not(inner) => format!("!{}", write(inner, 7, None, name)),
        Expr::Binary(op, left, right) => {
            let bits = |side: &Expr| match side {
                Expr::Field { start, end, .. } if level(*op) == 3 => Some((*start, *end)),
                _ => None,
            };
            let inner = level(*op);
            // Comparisons do not chain.
            let left_text = write(left, inner + u8::from(inner == 3), bits(right), name);
            let right_text = write(right, inner + 1, bits(left), name);
            let text = format!("{left_text} {} {right_text}", symbol(*op));
            if inner < outer { format!("({text})") } else { text }
        }
    }
}

/// A number as the specification writes it: decimal, `0x`, `0b` or `0o`, with `_` anywhere between
/// digits.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        Some("0o" | "0O") => (&text[2..], 8),
        _ => (text, 10),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None; // `u64::from_str_radix` would take a `+`
    }
    u64::from_str_radix(&digits.replace('_', ""), radix).ok()
}
