//! Formats conditions as text.

use crate::model::Expr;

/// Formats a condition.
pub fn display(expr: &Expr) -> String {
    display_with(expr, &|_, _, _| None)
}

/// Formats a condition. `name(first bit, last bit, value)` may return the name of a field's value.
pub fn display_with(expr: &Expr, name: &dyn Fn(u32, u32, u64) -> Option<String>) -> String {
    write(expr, 0, None, name)
}

/// Formats a part of a condition. `outer` is the precedence of the surrounding operator. `other` is
/// the field on the other side of a comparison.
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
                Expr::Field { start, end, .. } if op.level() == 3 => Some((*start, *end)),
                _ => None,
            };
            let inner = op.level();
            // A comparison cannot be an operand of a comparison without parentheses.
            let left_text = write(left, inner + u8::from(inner == 3), bits(right), name);
            let right_text = write(right, inner + 1, bits(left), name);
            let text = format!("{left_text} {} {right_text}", op.symbol());
            if inner < outer { format!("({text})") } else { text }
        }
    }
}
