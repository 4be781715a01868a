//! `packet!`: a struct literal whose numbers become checked constants, and whose `?` converts.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::cell::RefCell;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprStruct, Lit, Member, Path, Result, UnOp};

/// What the macro stands for.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    if input.is_empty() {
        return Err(Error::new(
            Span::call_site(),
            "expected a packet: `packet! { Type { field: value, .. } }`",
        ));
    }
    match syn::parse2(input) {
        // `..` may stand where every field is given, at no remark of the linter's. An arm of a
        // match takes the attribute, but what is borrowed in an arm ends with it: values that may
        // borrow stand before, and live as long as the statement.
        Ok(Expr::Struct(literal)) if defaults(&literal) => {
            let early = RefCell::default();
            let packet =
                Packet { literal: &literal, question: &Question::Return, early: Some(&early) };
            let tokens = packet.structure(&literal, &mut Vec::new())?;
            let (names, values): (Vec<Ident>, Vec<TokenStream>) =
                early.into_inner().into_iter().unzip();
            Ok(
                quote!(match (#(#values,)*) { #[allow(clippy::needless_update)] (#(#names,)*) => #tokens }),
            )
        }
        Ok(Expr::Struct(literal)) => structure(&literal, &Question::Return),
        Ok(other) => Err(Error::new_spanned(
            other,
            "expected a packet: a type's name and its fields in braces",
        )),
        Err(error) => Err(Error::new(
            error.span(),
            format!("{error} in `packet! {{ Type {{ field: value, .. }} }}`"),
        )),
    }
}

/// What becomes of the error of a field's `?`.
pub enum Question {
    /// Rust's own `?`: the function returns.
    Return,
    /// The tokens, around an error called `error`.
    Leave(TokenStream),
}

/// A struct literal as a packet.
pub fn structure(literal: &ExprStruct, question: &Question) -> Result<TokenStream> {
    Packet { literal, question, early: None }.structure(literal, &mut Vec::new())
}

/// Does the literal, or one inside it, leave fields to their defaults?
fn defaults(literal: &ExprStruct) -> bool {
    fn inside(expr: &Expr) -> bool {
        match expr {
            Expr::Struct(literal) => defaults(literal),
            Expr::Group(group) => inside(&group.expr),
            Expr::Array(array) => array.elems.iter().any(inside),
            Expr::Repeat(repeat) => inside(&repeat.expr),
            _ => false,
        }
    }
    let here = literal.dot2_token.is_some() && literal.rest.is_none();
    here || literal.fields.iter().any(|field| inside(&field.expr))
}

/// Does it name what is there already, so that nothing ends with the expression?
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) | Expr::Const(_) => true,
        Expr::Field(field) => is_plain(&field.base),
        Expr::Group(inner) => is_plain(&inner.expr),
        Expr::Index(index) => is_plain(&index.expr) && is_plain(&index.index),
        Expr::Paren(inner) => is_plain(&inner.expr),
        Expr::Reference(inner) => is_plain(&inner.expr),
        Expr::Unary(unary) => is_plain(&unary.expr),
        _ => false,
    }
}

/// The outermost literal: what it is tells which tables name the fields.
struct Packet<'a> {
    literal: &'a ExprStruct,
    question: &'a Question,
    /// Values that are evaluated before the literal, with the names that stand for them in it.
    early: Option<&'a RefCell<Vec<(Ident, TokenStream)>>>,
}

impl Packet<'_> {
    /// A literal that the members `path` of the outermost lead to.
    fn structure(&self, literal: &ExprStruct, path: &mut Vec<String>) -> Result<TokenStream> {
        if let Some(attribute) = literal.attrs.first() {
            return Err(Error::new_spanned(attribute, "attributes have no meaning here"));
        }
        let ty = &literal.path;
        let mut fields = Vec::new();
        for field in &literal.fields {
            let (attributes, member) = (&field.attrs, &field.member);
            if let Member::Unnamed(index) = member {
                return Err(Error::new_spanned(index, "fields of packets have names"));
            }
            path.push(member.to_token_stream().to_string().trim_start_matches("r#").to_owned());
            let value = self.value(&field.expr, path)?;
            path.pop();
            fields.push(match field.colon_token {
                // Shorthand stays, or linters speak of what nobody wrote.
                None => quote!(#(#attributes)* #member),
                Some(_) => quote!(#(#attributes)* #member: #value),
            });
        }
        let rest = match (&literal.dot2_token, &literal.rest) {
            (None, _) => None,
            (Some(_), Some(base)) => {
                let base = self.evaluated(base, quote!(#base));
                Some(quote!(..#base))
            }
            (Some(dots), None) if container(ty).0.segments.len() < ty.segments.len() => {
                let message = "an alternative has no defaults: give all its fields";
                return Err(Error::new_spanned(dots, message));
            }
            (Some(dots), None) => Some(quote_spanned!(dots.span()=> ..#ty::new())),
        };
        let mut tokens = ty.to_token_stream();
        literal
            .brace_token
            .surround(&mut tokens, |tokens| tokens.extend(quote!(#(#fields,)* #rest)));
        Ok(tokens)
    }

    /// A field's value.
    fn value(&self, expr: &Expr, path: &mut Vec<String>) -> Result<TokenStream> {
        match expr {
            Expr::Lit(literal) => self.number(&literal.lit, None, expr, path),
            // A value that comes through another macro's `$value:expr`.
            Expr::Group(group) => self.value(&group.expr, path),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (UnOp::Neg(minus), Expr::Lit(literal)) => {
                    self.number(&literal.lit, Some(quote!(#minus)), expr, path)
                }
                _ => Ok(self.evaluated(expr, quote!(#expr))),
            },
            Expr::Array(array) => {
                let elements = array.elems.iter().map(|element| self.value(element, path));
                let elements = elements.collect::<Result<Vec<_>>>()?;
                let mut tokens = TokenStream::new();
                array
                    .bracket_token
                    .surround(&mut tokens, |tokens| tokens.extend(quote!(#(#elements),*)));
                Ok(tokens)
            }
            Expr::Repeat(repeat) => {
                let (element, length) = (self.value(&repeat.expr, path)?, &repeat.len);
                let mut tokens = TokenStream::new();
                repeat
                    .bracket_token
                    .surround(&mut tokens, |tokens| tokens.extend(quote!(#element; #length)));
                Ok(tokens)
            }
            // An alternative's name tells its fields from those of others.
            Expr::Struct(literal) => {
                let ty = literal.path.segments.last();
                path.extend(ty.map(|segment| segment.ident.to_string()));
                let inside = self.structure(literal, path);
                path.truncate(path.len() - usize::from(ty.is_some()));
                inside
            }
            Expr::Try(question) => {
                if let Expr::Lit(literal) = &*question.expr {
                    return Err(Error::new_spanned(
                        literal,
                        "a literal needs no `?`: it is checked when the program is compiled",
                    ));
                }
                let mark = question.question_token;
                // Parentheses around an argument are one pair too many.
                let value = match &*question.expr {
                    Expr::Paren(inner) => &inner.expr,
                    other => other,
                };
                let at = self.at(value.span(), path);
                let fit = quote_spanned!(value.span()=> ::genxml::core::fit::fit(#at, #value));
                let value = match self.question {
                    Question::Return => quote!(#fit #mark),
                    Question::Leave(leave) => quote!(match #fit {
                        ::core::result::Result::Ok(value) => value,
                        ::core::result::Result::Err(error) => #leave,
                    }),
                };
                Ok(self.evaluated(expr, value))
            }
            other => Ok(self.evaluated(other, quote!(#other))),
        }
    }

    /// What stands for a value in the literal; its place is the value's, so that is what the
    /// compiler shows.
    fn evaluated(&self, expr: &Expr, value: TokenStream) -> TokenStream {
        let Some(early) = self.early.filter(|_| !is_plain(expr)) else { return value };
        let mut early = early.borrow_mut();
        let name = format!("value{}", early.len());
        let name = Ident::new(&name, expr.span().resolved_at(Span::mixed_site()));
        early.push((name.clone(), value));
        name.to_token_stream()
    }

    /// A literal; `minus` stands before it. The checked constant carries the literal's place, so
    /// that is what the compiler shows.
    fn number(
        &self,
        literal: &Lit,
        minus: Option<TokenStream>,
        whole: &Expr,
        path: &[String],
    ) -> Result<TokenStream> {
        let span = whole.span();
        match literal {
            Lit::Int(int) if int.suffix().is_empty() => {
                let at = self.at(span, path);
                let number = quote_spanned!(span=> ::genxml::core::literal::integer_for::<{ #minus #int }, _>);
                Ok(quote_spanned!(span=> const { #number(#at) }))
            }
            Lit::Float(float) if float.suffix().is_empty() => {
                let at = self.at(span, path);
                let bits = quote_spanned!(span=> f64::to_bits(#minus #float));
                let number =
                    quote_spanned!(span=> ::genxml::core::literal::float_for::<{ #bits }, _>);
                Ok(quote_spanned!(span=> const { #number(#at) }))
            }
            Lit::Int(_) | Lit::Float(_) => {
                let suffix = match literal {
                    Lit::Int(int) => int.suffix(),
                    Lit::Float(float) => float.suffix(),
                    _ => "",
                };
                let message =
                    format!("write the number without `{suffix}`: its type is that of the field");
                Err(Error::new_spanned(literal, message))
            }
            _ => Ok(quote!(#minus #literal)),
        }
    }

    /// The constant that names the field.
    fn at(&self, span: Span, path: &[String]) -> TokenStream {
        let path = path.iter();
        let (ty, name) = container(&self.literal.path);
        quote_spanned! {span=>
            const {
                #[allow(unused_imports)]
                use ::genxml::core::fit::Untold as _;
                &::genxml::core::At::new(::genxml::core::fit::Probe::<#ty>::TABLES, #name, &[#(#path),*])
            }
        }
    }
}

/// The type that a literal is of, and its name: `Set::Alternative` is of `Set`.
fn container(path: &Path) -> (Path, String) {
    let mut ty = path.clone();
    let capital = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let count = ty.segments.len();
    if count > 1 && capital(&ty.segments[count - 2].ident.to_string()) {
        ty.segments.pop();
        ty.segments.pop_punct();
    }
    let name = ty.segments.last().map(|segment| segment.ident.to_string());
    (ty, name.unwrap_or_default())
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

    fn at(path: TokenStream) -> TokenStream {
        quote!(const {
            #[allow(unused_imports)]
            use ::genxml::core::fit::Untold as _;
            &::genxml::core::At::new(::genxml::core::fit::Probe::<A>::TABLES, "A", &[#path])
        })
    }

    fn integer(number: TokenStream, path: TokenStream) -> TokenStream {
        let at = at(path);
        quote!(const { ::genxml::core::literal::integer_for::<{ #number }, _>(#at) })
    }

    #[test]
    fn numbers_become_checked() {
        let (b, c) = (integer(quote!(3), quote!("b")), integer(quote!(-4), quote!("c")));
        let expected = quote! {
            match () { #[allow(clippy::needless_update)] () => A { b: #b, c: #c, ..A::new() } }
        };
        assert_eq!(text("A { b: 3, c: -4, .. }"), Ok(plain(expected)));
        let (b, d) = (integer(quote!(1), quote!("b")), at(quote!("c", "B", "d")));
        let float = quote!(::genxml::core::literal::float_for::<{ f64::to_bits(0.5) }, _>);
        let expected = quote!(A { b: [#b, x], c: B { d: const { #float(#d) } } });
        assert_eq!(text("A { b: [1, x], c: B { d: 0.5 } }"), Ok(plain(expected)));
    }

    #[test]
    fn questions_convert() {
        let (b, d) = (at(quote!("b")), at(quote!("c", "D", "d")));
        let (b, d) =
            (quote!(::genxml::core::fit::fit(#b, n)?), quote!(::genxml::core::fit::fit(#d, f(3))?));
        let expected = quote!(A { b: #b, c: [C::D { d: #d }], e: (x?) });
        assert_eq!(text("A { b: n?, c: [C::D { d: f(3)? }], e: (x?) }"), Ok(plain(expected)));
        let literal = syn::parse_str("A { b: n? }").expect("a literal");
        let left =
            structure(&literal, &Question::Leave(quote!(break Err(error)))).expect("a packet");
        assert!(left.to_string().contains("Err (error) => break Err (error)"), "{left}");
    }

    /// Values that may borrow stand outside of the arm.
    #[test]
    fn values_stand_before_the_match() {
        let expected = quote! {
            match (f(&g()), h()?, i,) {
                #[allow(clippy::needless_update)]
                (value0, value1, value2,) => A { b: value0, c: B { d: [value1, x.y], ..B::new() }, ..value2 }
            }
        };
        let expected = plain(expected).replace("h () ?", "FIT ?").replace(", i ,", ", i () ,");
        let at = at(quote!("c", "B", "d"));
        let fit = quote!(::genxml::core::fit::fit(#at, h())).to_string();
        let text = text("A { b: f(&g()), c: B { d: [h()?, x.y], .. }, ..i() }").expect("a packet");
        assert_eq!(text.replace(&fit, "FIT"), expected);
    }

    #[test]
    fn types() {
        for (path, ty, name) in [
            ("A", "A", "A"),
            ("a::b::C", "a::b::C", "C"),
            ("a::Set::One", "a::Set", "Set"),
            ("Set::One", "Set", "Set"),
        ] {
            let (found, text) = container(&syn::parse_str(path).expect("a path"));
            let ty: Path = syn::parse_str(ty).expect("a path");
            assert_eq!(
                (quote!(#found).to_string(), text.as_str()),
                (quote!(#ty).to_string(), name)
            );
        }
    }

    #[test]
    fn others_stay() {
        let expected = quote!(A { on: true, e: E::X, f: f(3), g: (1), h, ..base });
        assert_eq!(
            text("A { on: true, e: E::X, f: f(3), g: (1), h, ..base }"),
            Ok(plain(expected))
        );
    }

    #[test]
    fn errors() {
        for (input, message) in [
            ("", "expected a packet: `packet! { Type { field: value, .. } }`"),
            ("f(3)", "expected a packet: a type's name and its fields in braces"),
            ("A { b: 3u32 }", "write the number without `u32`: its type is that of the field"),
            ("A { b: 3? }", "a literal needs no `?`: it is checked when the program is compiled"),
            ("A { b: C::D { .. } }", "an alternative has no defaults: give all its fields"),
            ("A { 0: 3 }", "fields of packets have names"),
        ] {
            assert_eq!(text(input), Err(message.to_string()));
        }
        assert!(text("A { b 3 }").is_err());
    }
}
