//! `packet!`: a struct literal whose numbers become checked constants.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprStruct, Lit, Result, UnOp};

/// What the macro stands for.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    if input.is_empty() {
        return Err(Error::new(
            Span::call_site(),
            "expected a packet: `packet! { Type { field: value, .. } }`",
        ));
    }
    match syn::parse2(input) {
        Ok(Expr::Struct(literal)) => structure(&literal),
        Ok(other) => {
            Err(Error::new_spanned(other, "expected a packet: a type's name and its fields in braces"))
        }
        Err(error) => {
            Err(Error::new(error.span(), format!("{error} in `packet! {{ Type {{ field: value, .. }} }}`")))
        }
    }
}

fn structure(literal: &ExprStruct) -> Result<TokenStream> {
    if let Some(attribute) = literal.attrs.first() {
        return Err(Error::new_spanned(attribute, "attributes have no meaning here"));
    }
    let path = &literal.path;
    let fields = literal.fields.iter().map(|field| {
        let (attributes, member) = (&field.attrs, &field.member);
        let value = value(&field.expr)?;
        Ok(quote!(#(#attributes)* #member: #value))
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let rest = match (&literal.dot2_token, &literal.rest) {
        (None, _) => None,
        (Some(_), Some(base)) => Some(quote!(..#base)),
        (Some(dots), None) => Some(quote_spanned!(dots.span()=> ..#path::new())),
    };
    Ok(quote!(#path { #(#fields,)* #rest }))
}

/// A field's value.
fn value(expr: &Expr) -> Result<TokenStream> {
    match expr {
        Expr::Lit(literal) => number(&literal.lit, None, expr),
        Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
            (UnOp::Neg(minus), Expr::Lit(literal)) => number(&literal.lit, Some(quote!(#minus)), expr),
            _ => Ok(quote!(#expr)),
        },
        Expr::Array(array) => {
            let elements = array.elems.iter().map(value).collect::<Result<Vec<_>>>()?;
            Ok(quote!([#(#elements),*]))
        }
        Expr::Repeat(repeat) => {
            let (element, length) = (value(&repeat.expr)?, &repeat.len);
            Ok(quote!([#element; #length]))
        }
        Expr::Struct(literal) => structure(literal),
        other => Ok(quote!(#other)),
    }
}

/// A literal; `minus` stands before it. The checked constant carries the literal's place, so that is what the
/// compiler shows.
fn number(literal: &Lit, minus: Option<TokenStream>, whole: &Expr) -> Result<TokenStream> {
    let span = whole.span();
    match literal {
        Lit::Int(int) if int.suffix().is_empty() => {
            Ok(quote_spanned!(span=> ::genxml::core::lit!(#minus #int)))
        }
        Lit::Float(float) if float.suffix().is_empty() => {
            Ok(quote_spanned!(span=> ::genxml::core::lit!(float #minus #float)))
        }
        Lit::Int(int) => Err(Error::new_spanned(
            literal,
            format!("write the number without `{}`: its type is that of the field", int.suffix()),
        )),
        _ => Ok(quote!(#minus #literal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &str) -> std::result::Result<String, String> {
        let tokens = input.parse().map_err(|error| format!("{error}"))?;
        expand(tokens).map(plain).map_err(|error| error.to_string())
    }

    fn plain(tokens: TokenStream) -> String {
        tokens.to_string().replace(" , }", " }")
    }

    #[test]
    fn numbers_become_checked() {
        let expected = quote!(A { b: ::genxml::core::lit!(3), c: ::genxml::core::lit!(-4), ..A::new() });
        assert_eq!(text("A { b: 3, c: -4, .. }"), Ok(plain(expected)));
        let expected =
            quote!(A { b: [::genxml::core::lit!(1), x], c: B { d: ::genxml::core::lit!(float 0.5) } });
        assert_eq!(text("A { b: [1, x], c: B { d: 0.5 } }"), Ok(plain(expected)));
    }

    #[test]
    fn others_stay() {
        let expected = quote!(A { on: true, e: E::X, f: f(3), g: (1), h: h, ..base });
        assert_eq!(text("A { on: true, e: E::X, f: f(3), g: (1), h, ..base }"), Ok(plain(expected)));
    }

    #[test]
    fn errors() {
        for (input, message) in [
            ("", "expected a packet: `packet! { Type { field: value, .. } }`"),
            ("f(3)", "expected a packet: a type's name and its fields in braces"),
            ("A { b: 3u32 }", "write the number without `u32`: its type is that of the field"),
        ] {
            assert_eq!(text(input), Err(message.to_string()));
        }
        assert!(text("A { b 3 }").is_err());
    }
}
