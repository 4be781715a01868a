//! `packet!`: a struct literal whose numbers become checked constants. A `?` converts a value to
//! the type of its field.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::cell::RefCell;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprStruct, Lit, Member, Path, Result, UnOp};

/// Expands the macro.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    if input.is_empty() {
        return Err(Error::new(
            Span::call_site(),
            "expected a packet: `packet! { Type { field: value, .. } }`",
        ));
    }
    match syn::parse2(input) {
        // `..` is allowed even if every field is given, without a clippy warning. The attribute
        // needs a match arm, but a temporary in an arm is dropped at its end. So values that may
        // borrow are evaluated in the scrutinee and live as long as the statement.
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

/// The effect of an error at the `?` of a field.
pub enum Question {
    /// The function returns, like Rust's own `?`.
    Return,
    /// The tokens run; they use a variable `error`.
    Break(TokenStream),
}

/// Expands a struct literal to a packet.
pub fn structure(literal: &ExprStruct, question: &Question) -> Result<TokenStream> {
    Packet { literal, question, early: None }.structure(literal, &mut Vec::new())
}

/// True if the literal, or a literal nested in it, leaves fields at their defaults.
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

/// True if the expression only names existing values, so that it creates no temporary.
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

/// The expansion of an outermost literal. Its type selects the tables that name the fields.
struct Packet<'a> {
    literal: &'a ExprStruct,
    question: &'a Question,
    /// Values that are evaluated before the literal, each with the variable that replaces it in the
    /// literal.
    early: Option<&'a RefCell<Vec<(Ident, TokenStream)>>>,
}

impl Packet<'_> {
    /// Expands a literal. `path` is its position in the outermost literal.
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
            let place = Place { ty, member, depth: 0 };
            let value = self.value(&field.expr, place, path)?;
            path.pop();
            fields.push(match field.colon_token {
                // Keep the shorthand; otherwise lints report code that the user did not write.
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
            (Some(dots), None) => Some(quote_spanned! {dots.span()=>
                ..{
                    #[allow(unused_imports)]
                    use ::genxml::core::fit::NoneRequired as _;
                    ::genxml::core::fit::complete::<#ty, _>(::genxml::core::fit::Probe::<#ty>::LACK);
                    #ty::new()
                }
            }),
        };
        let mut tokens = ty.to_token_stream();
        literal
            .brace_token
            .surround(&mut tokens, |tokens| tokens.extend(quote!(#(#fields,)* #rest)));
        Ok(tokens)
    }

    /// Expands the value of a field.
    fn value(&self, expr: &Expr, place: Place<'_>, path: &mut Vec<String>) -> Result<TokenStream> {
        match expr {
            Expr::Lit(literal) => self.number(&literal.lit, None, expr, place, path),
            // A group contains a value from the `$value:expr` of another macro.
            Expr::Group(group) => self.value(&group.expr, place, path),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (UnOp::Neg(minus), Expr::Lit(literal)) => {
                    self.number(&literal.lit, Some(quote!(#minus)), expr, place, path)
                }
                _ => Ok(self.evaluated(expr, quote!(#expr))),
            },
            Expr::Array(array) => {
                let place = Place { depth: place.depth + 1, ..place };
                let elements = array.elems.iter().map(|element| self.value(element, place, path));
                let elements = elements.collect::<Result<Vec<_>>>()?;
                let mut tokens = TokenStream::new();
                array
                    .bracket_token
                    .surround(&mut tokens, |tokens| tokens.extend(quote!(#(#elements),*)));
                Ok(tokens)
            }
            Expr::Repeat(repeat) => {
                let place = Place { depth: place.depth + 1, ..place };
                let (element, length) = (self.value(&repeat.expr, place, path)?, &repeat.len);
                let mut tokens = TokenStream::new();
                repeat
                    .bracket_token
                    .surround(&mut tokens, |tokens| tokens.extend(quote!(#element; #length)));
                Ok(tokens)
            }
            // The name of an alternative is part of the path: alternatives may share field names.
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
                // Remove the parentheses: they would be redundant around an argument.
                let value = match &*question.expr {
                    Expr::Paren(inner) => &inner.expr,
                    other => other,
                };
                let at = self.at(value.span(), path);
                let fit = quote_spanned!(value.span()=> ::genxml::core::fit::fit(#at, #value));
                let value = match self.question {
                    Question::Return => quote!(#fit #mark),
                    Question::Break(on_error) => quote!(match #fit {
                        ::core::result::Result::Ok(value) => value,
                        ::core::result::Result::Err(error) => #on_error,
                    }),
                };
                Ok(self.evaluated(expr, value))
            }
            other => Ok(self.evaluated(other, quote!(#other))),
        }
    }

    /// The tokens that replace a value in the literal. They have the span of the value, so the
    /// compiler points to it.
    fn evaluated(&self, expr: &Expr, value: TokenStream) -> TokenStream {
        let Some(early) = self.early.filter(|_| !is_plain(expr)) else { return value };
        let mut early = early.borrow_mut();
        let name = format!("value{}", early.len());
        let name = Ident::new(&name, expr.span().resolved_at(Span::mixed_site()));
        early.push((name.clone(), value));
        name.to_token_stream()
    }

    /// A number literal, with an optional `minus` before it. The checked constant has the span of
    /// the literal, so the compiler points to it.
    fn number(
        &self,
        literal: &Lit,
        minus: Option<TokenStream>,
        whole: &Expr,
        place: Place<'_>,
        path: &[String],
    ) -> Result<TokenStream> {
        let span = whole.span();
        match literal {
            Lit::Int(int) if int.suffix().is_empty() => {
                let number = quote_spanned!(span=> ::genxml::core::literal::integer_for::<{ #minus #int }, _>);
                Ok(self.constant(span, &number, place, path))
            }
            Lit::Float(float) if float.suffix().is_empty() => {
                let bits = quote_spanned!(span=> f64::to_bits(#minus #float));
                let number =
                    quote_spanned!(span=> ::genxml::core::literal::float_for::<{ #bits }, _>);
                Ok(self.constant(span, &number, place, path))
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

    /// A constant of the field's type that the function `number` makes.
    ///
    /// The compiler evaluates a `const` block in an expression only when it generates code. `cargo
    /// check` does not generate code. The compiler always evaluates a `const` item. But an item
    /// must name its type, and the macro does not know the type of the field. So the item has the
    /// type `()`. Its body makes the value, and has a closure that stores the value in the field.
    /// The compiler infers the type of the value from the closure. An item cannot use `Self`, so
    /// literals of `Self` are checked only when code is generated.
    fn constant(
        &self,
        span: Span,
        number: &TokenStream,
        place: Place<'_>,
        path: &[String],
    ) -> TokenStream {
        let at = self.at(span, path);
        let of_self = |path: &Path| path.segments.iter().any(|segment| segment.ident == "Self");
        if of_self(&self.literal.path) || of_self(place.ty) {
            return quote_spanned!(span=> const { #number(#at) });
        }
        let value = Ident::new("value", span.resolved_at(Span::mixed_site()));
        let same_type = place.same_type(&value, span);
        quote_spanned! {span=>
            const {
                const AT: &::genxml::core::At = #at;
                // If the literal gives all fields, `..base` is needless. If a set has only one
                // alternative, the arm `_` is unreachable.
                #[allow(unused, clippy::all)]
                const _: () = {
                    let #value = #number(AT);
                    let _ = #same_type;
                };
                #number(AT)
            }
        }
    }

    /// The constant that describes the field.
    fn at(&self, span: Span, path: &[String]) -> TokenStream {
        let path = path.iter();
        let (ty, name) = container(&self.literal.path);
        quote_spanned! {span=>
            const {
                #[allow(unused_imports)]
                use ::genxml::core::fit::NoTables as _;
                &::genxml::core::At::new(::genxml::core::fit::Probe::<#ty>::TABLES, #name, &[#(#path),*])
            }
        }
    }
}

/// The position of a value in a literal. `ty` is the type or the alternative, `member` is the field,
/// and `depth` is the number of arrays around the value.
#[derive(Clone, Copy)]
struct Place<'a> {
    ty: &'a Path,
    member: &'a Member,
    depth: usize,
}

impl Place<'_> {
    /// A closure that is never called. It makes the compiler give the value `name` the type of the
    /// field. If the field is wrong, the closure causes the same error as the literal, and the
    /// compiler prints equal errors only once.
    fn same_type(self, name: &Ident, span: Span) -> TokenStream {
        let Place { ty, member, depth } = self;
        if container(ty).0.segments.len() == ty.segments.len() {
            let value =
                (0..depth).fold(quote!(#name), |value, _| quote_spanned!(span=> [#value; _]));
            return quote_spanned!(span=> |base| #ty { #member: #value, ..base });
        }
        // Rust does not allow `..base` in an alternative, so the closure assigns the field.
        let index = vec![quote_spanned!(span=> [0]); depth];
        quote_spanned! {span=>
            |set| match set {
                #ty { #member: mut field, .. } => field #(#index)* = #name,
                _ => {}
            }
        }
    }
}

/// The type of a literal and the name of the type. `Set::Alternative` is of type `Set`.
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
mod tests;
