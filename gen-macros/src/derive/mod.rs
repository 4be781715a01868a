//! `#[derive(Packet)]`: a packet of the program's own, described as the specification describes the
//! manual's.
//!
//! The attributes become a text as the files of the specification are, which the generator reads,
//! checks and makes code of: the same checks, the same code. Problems come back at places of that
//! text, which are places of the program.

mod attributes;
mod document;
mod types;

use attributes::Member;
use document::Document;
use genxml_codegen::diagnostic::Severity;
use genxml_codegen::emit;
use genxml_codegen::load::read_texts;
use genxml_codegen::model::ContainerId;
use proc_macro2::{Delimiter, Group, Ident, Literal, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Item, Path, Result};
use types::Others;

/// What the macro stands for.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => {
                return Err(Error::new_spanned(
                    &input.ident,
                    "a packet is a struct with named fields",
                ));
            }
        },
        _ => {
            return Err(Error::new_spanned(&input.ident, "a packet is a struct with named fields"));
        }
    };
    if let Some(other) =
        input.generics.params.iter().find(|p| !matches!(p, GenericParam::Lifetime(_)))
    {
        return Err(Error::new_spanned(
            other,
            "a packet may have a lifetime, for its tail, and no other parameter",
        ));
    }
    let container = attributes::container(&input)?;
    let mut others = Others::default();
    let members = fields.iter().map(|field| attributes::member(field, &mut others));
    let members = attributes::all(members)?;
    let tail = members.iter().find(|member| member.tail());
    match (input.generics.lifetimes().next(), tail) {
        (Some(lifetime), None) => {
            return Err(Error::new_spanned(
                lifetime,
                "a lifetime is for a tail, a field `Entries<'a, T>`",
            ));
        }
        (None, Some(tail)) => {
            return Err(Error::new(tail.span(), "a tail needs the struct to have a lifetime"));
        }
        _ => {}
    }
    let document = Document::new(&container, &members, &others);
    let texts = [("derived.xml", document.text.as_str()), ("others.xml", document.others.as_str())];
    let loaded = read_texts(&texts);
    let report = loaded.report();
    let errors = report.diagnostics.iter().filter(|problem| problem.severity == Severity::Error);
    attributes::all(errors.map(|problem| Err::<(), _>(document.error(problem))))?;
    let widths = members.iter().map(Member::type_width);
    let code = code(&input.ident, emit::one(&loaded.spec, ContainerId(0), OWN), &others);
    Ok(quote!(#(#widths)* #code))
}

/// What the generator calls the struct: a name that no other has.
const OWN: &str = "DerivedPacket";

/// The implementations beside the program's struct.
fn code(ident: &Ident, one: emit::One, others: &Others) -> TokenStream {
    let types = implementations(one.types);
    let names =
        one.others.0[1..].iter().zip(&others.structs).chain(one.others.1.iter().zip(&others.enums));
    let names = names.map(|(name, path)| (name.clone(), path)).collect();
    let moved = Moved { ident, names };
    let (types, table) = (moved.all(types), moved.all(one.table));
    quote! {
        #[allow(non_upper_case_globals, unused_imports, unused_qualifications, clippy::all)]
        const _: () = {
            // For their constants and methods: the program's own names stay what they are.
            use ::genxml::core::{Entry as _, Fixed as _, Instruction as _, Packed as _};
            #table
            #types
        };
    }
}

/// Without the struct, which the program has, and what it derives itself.
fn implementations(types: TokenStream) -> TokenStream {
    let Ok(file) = syn::parse2::<syn::File>(types.clone()) else { return types };
    let items = file.items.iter().filter(|item| match item {
        Item::Struct(item) => item.ident != OWN,
        Item::Impl(item) => !item.trait_.as_ref().is_some_and(|(path, _)| path.is_ident("Clone")),
        _ => true,
    });
    quote!(#(#items)*)
}

/// Names as they are where the macro stands.
struct Moved<'a> {
    ident: &'a Ident,
    /// The generator's names of other types, and the program's.
    names: Vec<(String, &'a Path)>,
}

impl Moved<'_> {
    /// `genxml_core` is `::genxml::core`, and paths that start with `super` lead out of the
    /// generated modules. What stands without a path gets one: the program may call its own things
    /// `Result` or `Field`.
    fn all(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut out = TokenStream::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let free = !follows(&tokens[..at - 1]);
            match token {
                TokenTree::Group(group) => {
                    let mut moved = Group::new(group.delimiter(), self.all(group.stream()));
                    moved.set_span(group.span());
                    out.extend([TokenTree::Group(moved)]);
                }
                TokenTree::Ident(ident) if ident == OWN => self.ident.to_tokens(&mut out),
                TokenTree::Literal(text) if text.to_string() == format!("{OWN:?}") => {
                    out.extend([TokenTree::Literal(Literal::string(
                        &self.ident.unraw().to_string(),
                    ))]);
                }
                TokenTree::Ident(ident) if ident == "genxml_core" => {
                    out.extend(quote!(::genxml::core))
                }
                // `super`, `::`, the module, `::`, the name
                TokenTree::Ident(ident) if ident == "super" => {
                    let name =
                        |at: usize| tokens.get(at).map(ToString::to_string).unwrap_or_default();
                    out.extend(self.outside(&name(at + 2), &name(at + 5)));
                    at += 6;
                }
                TokenTree::Ident(ident) if free => {
                    let name = ident.to_string();
                    let used = name.starts_with(char::is_uppercase) || called(&tokens[at..]);
                    match home(&name).filter(|_| used) {
                        Some(home) => out.extend(quote!(#home::#ident)),
                        None => ident.to_tokens(&mut out),
                    }
                }
                other => out.extend([other.clone()]),
            }
        }
        out
    }

    /// The path `super::module::name`.
    fn outside(&self, module: &str, name: &str) -> TokenStream {
        let found = self.names.iter().find(|(other, _)| other == name);
        match (module, found) {
            ("engine" | "pipeline", _) => {
                let (module, marker) =
                    (Ident::new(module, self.ident.span()), Ident::new(name, self.ident.span()));
                quote!(::genxml::#module::#marker)
            }
            ("others", Some((_, path))) => path.to_token_stream(),
            ("others_tables", Some((_, path))) => quote!((*#path::INFO)),
            _ => self.ident.to_token_stream(),
        }
    }
}

/// Is the name behind these tokens one of something else: of a path, of a value, or of a function
/// that is made here?
fn follows(before: &[TokenTree]) -> bool {
    let is = |token: &TokenTree, text: &str| token.to_string() == text;
    match before {
        [.., first, second] if is(first, ":") && is(second, ":") => true,
        // The base of a literal, `..Field::PLAIN`, follows a point too.
        [.., first, last] if is(first, ".") && is(last, ".") => false,
        [.., last] => is(last, ".") || is(last, "fn"),
        [] => false,
    }
}

/// Do these tokens call what stands before them, or follow a path that it starts?
fn called(behind: &[TokenTree]) -> bool {
    match behind.first() {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(TokenTree::Punct(punct)) => {
            punct.as_char() == ':' && punct.spacing() == Spacing::Joint
        }
        _ => false,
    }
}

/// The path of a name that generated code has from the prelude or imports.
fn home(name: &str) -> Option<TokenStream> {
    let prelude = match name {
        "Result" | "Ok" | "Err" => "core::result::Result",
        "Option" | "Some" | "None" => "core::option::Option",
        "Default" => "core::default",
        "Clone" => "core::clone",
        "Copy" => "core::marker",
        "PartialEq" | "Eq" => "core::cmp",
        "Debug" => "core::fmt",
        "Hash" => "core::hash",
        _ => emit::home(name)?,
    };
    let prelude = match name {
        "Result" => "core::result",
        "Option" => "core::option",
        _ => prelude,
    };
    let path = prelude.split("::").map(|part| Ident::new(part, Span::call_site()));
    let path: Vec<Ident> = path.collect();
    Some(match &path[..] {
        [first, rest @ ..] if first == "genxml_core" => quote!(::genxml::core #(::#rest)*),
        path => quote!(#(::#path)*),
    })
}

#[cfg(test)]
mod tests;
