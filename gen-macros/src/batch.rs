//! `batch!`: emits packets into a batch, in order.

use crate::packet::{self, Question};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Lifetime, Local, Pat, Result, Stmt, Token, UnOp, braced};

/// Expands the macro to a block whose value is `Ok(())`, or the first error of a packet.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    if input.is_empty() {
        let message =
            "expected a batch and packets: `batch! { batch => Type { field: value, .. }; }`";
        return Err(Error::new(Span::call_site(), message));
    }
    let Input { batch, statements } = syn::parse2(input)?;
    if !statements.iter().any(Statement::emits) {
        return Err(Error::new_spanned(batch, "expected at least one packet"));
    }
    let label = Lifetime::new("'batch", Span::mixed_site());
    let bound = Ident::new("batch", Span::mixed_site());
    let emits = |batch: TokenStream| -> Result<TokenStream> {
        let statements = block(&statements, &Target { batch: &batch, label: &label })?;
        Ok(quote!(#statements ::core::result::Result::Ok(())))
    };
    // A place expression is repeated for each packet, as the receiver of a method, so it may be a
    // batch or a reference to one. Any other expression is evaluated once; the `match` keeps alive
    // what it borrows from.
    let inside = match &batch {
        Expr::Unary(_) | Expr::Reference(_) if is_place(&batch) => emits(quote!((#batch)))?,
        batch if is_place(batch) => emits(quote!(#batch))?,
        Expr::Field(_) | Expr::Index(_) | Expr::Unary(_) => {
            let statements = emits(quote!(#bound))?;
            quote!(match &mut #batch { #bound => { #statements } })
        }
        _ => {
            let statements = emits(quote!(#bound))?;
            quote!(match #batch { #[allow(unused_mut)] mut #bound => { #statements } })
        }
    };
    Ok(quote!(#label: { #inside }))
}

/// True for a variable, or a part of a variable that is accessed without side effects.
fn is_place(batch: &Expr) -> bool {
    match batch {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Paren(inner) => is_place(&inner.expr),
        Expr::Group(inner) => is_place(&inner.expr),
        Expr::Reference(reference) => is_place(&reference.expr),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)) && is_place(&unary.expr),
        Expr::Index(index) => {
            let plain = matches!(&*index.index, Expr::Path(_) | Expr::Lit(_));
            plain && is_place(&index.expr)
        }
        _ => false,
    }
}

struct Input {
    batch: Expr,
    statements: Vec<Statement>,
}

enum Statement {
    /// A struct literal, or any other value that `emit` accepts.
    Packet(Expr),
    Let(Local),
    /// A block of plain Rust.
    Plain(Expr),
    /// The branches of `if` and `else if`, each with its condition, and the branch of `else`.
    If(Vec<(Expr, Vec<Statement>)>, Option<Vec<Statement>>),
    For(Pat, Expr, Vec<Statement>),
}

impl Statement {
    fn emits(&self) -> bool {
        let any = |list: &Vec<Statement>| list.iter().any(Statement::emits);
        match self {
            Statement::Packet(_) => true,
            Statement::Let(_) | Statement::Plain(_) => false,
            Statement::If(branches, last) => {
                branches.iter().any(|(_, list)| any(list)) || last.as_ref().is_some_and(any)
            }
            Statement::For(_, _, list) => any(list),
        }
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let batch = Expr::parse_without_eager_brace(input)?;
        if !input.peek(Token![=>]) {
            return Err(
                input.error("expected `=>` after the batch: `batch! { batch => Type { .. }; }`")
            );
        }
        input.parse::<Token![=>]>()?;
        Ok(Input { batch, statements: statements(input)? })
    }
}

fn statements(input: ParseStream<'_>) -> Result<Vec<Statement>> {
    let mut list = Vec::new();
    while !input.is_empty() {
        list.push(statement(input)?);
    }
    Ok(list)
}

fn braces(input: ParseStream<'_>) -> Result<Vec<Statement>> {
    let content;
    braced!(content in input);
    statements(&content)
}

fn statement(input: ParseStream<'_>) -> Result<Statement> {
    if input.peek(Token![let]) {
        return match input.parse::<Stmt>()? {
            Stmt::Local(local) => Ok(Statement::Let(local)),
            other => Err(Error::new_spanned(other, "expected `let pattern = value;`")),
        };
    }
    if input.peek(Token![if]) {
        let (mut branches, mut last) = (Vec::new(), None);
        loop {
            input.parse::<Token![if]>()?;
            branches.push((Expr::parse_without_eager_brace(input)?, braces(input)?));
            if !input.peek(Token![else]) {
                break;
            }
            input.parse::<Token![else]>()?;
            if !input.peek(Token![if]) {
                last = Some(braces(input)?);
                break;
            }
        }
        return Ok(Statement::If(branches, last));
    }
    if input.peek(Token![for]) {
        input.parse::<Token![for]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![in]>()?;
        return Ok(Statement::For(
            pattern,
            Expr::parse_without_eager_brace(input)?,
            braces(input)?,
        ));
    }
    if input.peek(syn::token::Brace) {
        let plain = Statement::Plain(Expr::Block(input.parse()?));
        input.parse::<Option<Token![;]>>()?;
        return Ok(plain);
    }
    let packet: Expr = input.parse()?;
    if matches!(
        packet,
        Expr::Match(_) | Expr::While(_) | Expr::Loop(_) | Expr::Unsafe(_) | Expr::Assign(_)
    ) {
        let message = "expected a packet, `let`, `if`, `for`, or plain Rust in braces";
        return Err(Error::new_spanned(packet, message));
    }
    if !input.is_empty() && !input.peek(Token![;]) {
        return Err(input.error("expected `;` after the packet"));
    }
    input.parse::<Option<Token![;]>>()?;
    Ok(Statement::Packet(packet))
}

/// The batch that receives the packets, and the label of the block that an error leaves.
struct Target<'a> {
    batch: &'a TokenStream,
    label: &'a Lifetime,
}

fn block(list: &[Statement], target: &Target<'_>) -> Result<TokenStream> {
    let list =
        list.iter().map(|statement| tokens(statement, target)).collect::<Result<Vec<_>>>()?;
    Ok(quote!(#(#list)*))
}

fn tokens(statement: &Statement, target: &Target<'_>) -> Result<TokenStream> {
    match statement {
        Statement::Packet(packet) => emit(packet, target),
        Statement::Let(local) => Ok(local.to_token_stream()),
        Statement::Plain(plain) => Ok(quote!(#plain)),
        Statement::If(branches, last) => {
            let branches = branches.iter().map(|(condition, list)| {
                let list = block(list, target)?;
                Ok(quote!(if #condition { #list }))
            });
            let branches = branches.collect::<Result<Vec<_>>>()?;
            let last = match last {
                Some(list) => {
                    let list = block(list, target)?;
                    Some(quote!(else { #list }))
                }
                None => None,
            };
            Ok(quote!(#(#branches) else* #last))
        }
        Statement::For(pattern, values, list) => {
            let list = block(list, target)?;
            Ok(quote!(for #pattern in #values { #list }))
        }
    }
}

fn emit(packet: &Expr, target: &Target<'_>) -> Result<TokenStream> {
    let (batch, label) = (target.batch, target.label);
    let span = packet.span();
    let value = match packet {
        Expr::Struct(literal) => {
            let error = quote! {
                break #label ::core::result::Result::Err(::core::convert::From::from(error))
            };
            let literal = packet::structure(literal, &Question::Break(error))?;
            quote_spanned!(span=> &#literal)
        }
        Expr::Reference(_) => quote!(#packet),
        other => quote_spanned!(span=> &#other),
    };
    Ok(quote! {
        // `..` is allowed even if every field is given.
        #[allow(clippy::needless_update)]
        match #batch.emit(#value) {
            ::core::result::Result::Ok(_) => {}
            ::core::result::Result::Err(error) => break #label ::core::result::Result::Err(error),
        }
    })
}

#[cfg(test)]
mod tests;
