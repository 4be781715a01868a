//! Converts conditions to Rust and to words.

use super::field::{Place, ident, number, pattern};
use crate::model::{Expr, Op};
use proc_macro2::TokenStream;
use quote::quote;

/// Converts a condition to Rust, for use after `if`.
pub(super) fn condition_of(expr: &Expr, place: &Place) -> TokenStream {
    match expr {
        Expr::Binary(op @ (Op::Or | Op::And), left, right) => {
            let (left, right) = (truth(left, place), truth(right, place));
            if *op == Op::Or { quote!(#left || #right) } else { quote!(#left && #right) }
        }
        other => truth(other, place),
    }
}

/// Converts a condition to a Rust expression of type `bool`.
pub(super) fn truth(expr: &Expr, place: &Place) -> TokenStream {
    let operands = |left, right| (value(left, place), value(right, place));
    match expr {
        Expr::Binary(Op::Or, left, right) => {
            let (left, right) = (truth(left, place), truth(right, place));
            quote!((#left || #right))
        }
        Expr::Binary(Op::And, left, right) => {
            let (left, right) = (truth(left, place), truth(right, place));
            quote!((#left && #right))
        }
        Expr::Not(inner) => {
            let inner = truth(inner, place);
            quote!(!(#inner))
        }
        Expr::Binary(op @ (Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge), left, right) => {
            let (left, right) = operands(left, right);
            match op {
                Op::Eq => quote!(#left == #right),
                Op::Ne => quote!(#left != #right),
                Op::Lt => quote!(#left < #right),
                Op::Le => quote!(#left <= #right),
                Op::Gt => quote!(#left > #right),
                _ => quote!(#left >= #right),
            }
        }
        other => {
            let value = value(other, place);
            quote!(#value != 0)
        }
    }
}

/// Converts an expression to a Rust expression of type `u64`.
fn value(expr: &Expr, place: &Place) -> TokenStream {
    match expr {
        Expr::Number(number) => pattern(*number),
        Expr::Field { start, end, .. } => {
            let (start, end, dwords) = (place.at(*start), place.at(*end), &place.get);
            quote!(get(#dwords, #start, #end))
        }
        Expr::Binary(
            op @ (Op::BitAnd | Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem),
            left,
            right,
        ) => {
            let (left, right) = (value(left, place), value(right, place));
            match op {
                Op::BitAnd => quote!((#left & #right)),
                Op::Add => quote!(u64::wrapping_add(#left, #right)),
                Op::Sub => quote!(u64::wrapping_sub(#left, #right)),
                Op::Mul => quote!(u64::wrapping_mul(#left, #right)),
                Op::Div => {
                    quote!(match u64::checked_div(#left, #right) { Some(times) => times, None => 0 })
                }
                _ => {
                    quote!(match u64::checked_rem(#left, #right) { Some(rest) => rest, None => 0 })
                }
            }
        }
        other => {
            let truth = truth(other, place);
            quote!((#truth) as u64)
        }
    }
}

/// Converts a condition to words for a doc comment.
pub fn words(expr: &Expr) -> String {
    match expr {
        Expr::Number(value) => value.to_string(),
        Expr::Field { name, .. } => name.clone(),
        Expr::Not(inner) => format!("not ({})", words(inner)),
        Expr::Binary(op, left, right) => {
            let op = match op {
                Op::Or => "or",
                Op::And => "and",
                Op::Eq => "=",
                Op::Ne => "≠",
                Op::Lt => "<",
                Op::Le => "≤",
                Op::Gt => ">",
                Op::Ge => "≥",
                Op::BitAnd => "&",
                Op::Add => "+",
                Op::Sub => "-",
                Op::Mul => "×",
                Op::Div => "/",
                Op::Rem => "mod",
            };
            format!("{} {op} {}", words(left), words(right))
        }
    }
}

/// Converts a condition to a constant of the tables.
pub fn constant(e: &Expr) -> TokenStream {
    match e {
        Expr::Number(value) => {
            let value = pattern(*value);
            quote!(Expr::Number(#value))
        }
        Expr::Field { name, start, end } => {
            let (start, end) = (number(*start), number(*end));
            quote!(Expr::Field { name: #name, start: #start, end: #end })
        }
        Expr::Not(inner) => {
            let inner = constant(inner);
            quote!(Expr::Not(&#inner))
        }
        Expr::Binary(op, left, right) => {
            let op = ident(&format!("{op:?}"));
            let (left, right) = (constant(left), constant(right));
            quote!(Expr::Binary(Op::#op, &#left, &#right))
        }
    }
}
