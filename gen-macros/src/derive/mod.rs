//! `#[derive(Packet)]` implements the packet traits for a struct of the program. Its attributes
//! describe the packet in the same way as the specification describes the manual's packets.
//!
//! The attributes are converted to a specification text. The code generator reads and checks this
//! text and generates code from it, so checks and code are the same as for the manual's packets. An
//! error at a position of the text is mapped back to a position in the program.

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

/// Expands the macro.
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

/// The struct's name in the generated code, until the program's name replaces it. No other item has
/// this name.
const OWN: &str = "DerivedPacket";

/// Returns the implementations for the program's struct.
fn code(ident: &Ident, one: emit::One, others: &Others) -> TokenStream {
    let types = implementations(one.types);
    let names =
        one.others.0[1..].iter().zip(&others.structs).chain(one.others.1.iter().zip(&others.enums));
    let names = names.map(|(name, path)| (name.clone(), path)).collect();
    let moved = Relocated { ident, names };
    let (types, table) = (moved.all(types), moved.all(one.table));
    quote! {
        #[allow(non_upper_case_globals, unused_imports, unused_qualifications, clippy::all)]
        const _: () = {
            // Imported for constants and methods only: `as _` does not hide names of the program.
            use ::genxml::core::{Entry as _, Fixed as _, Instruction as _, Packed as _};
            #table
            #types
        };
    }
}

/// Removes the struct, which the program defines, and the implementation of `Clone`, which the
/// program derives.
fn implementations(types: TokenStream) -> TokenStream {
    let Ok(file) = syn::parse2::<syn::File>(types.clone()) else { return types };
    let items = file.items.iter().filter(|item| match item {
        Item::Struct(item) => item.ident != OWN,
        Item::Impl(item) => !item.trait_.as_ref().is_some_and(|(path, _)| path.is_ident("Clone")),
        _ => true,
    });
    quote!(#(#items)*)
}

/// Translates the names in generated code to names that are valid at the macro's call site.
struct Relocated<'a> {
    ident: &'a Ident,
    /// The names of other types in the generated code, with their paths in the program.
    names: Vec<(String, &'a Path)>,
}

impl Relocated<'_> {
    /// Replaces `genxml_core` by `::genxml::core`, and paths that start with `super` by paths that
    /// are valid in the program. Names without a path get one, because the program may have its own
    /// `Result` or `Field`.
    fn all(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut out = TokenStream::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let free = !is_qualified(&tokens[..at - 1]);
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
                    match origin(&name).filter(|_| used) {
                        Some(origin) => out.extend(quote!(#origin::#ident)),
                        None => ident.to_tokens(&mut out),
                    }
                }
                other => out.extend([other.clone()]),
            }
        }
        out
    }

    /// The replacement of the path `super::module::name`.
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

/// True if the name after these tokens must not get a path: it is a part of a path, a member of a
/// value, or the name of a function that is defined here.
fn is_qualified(before: &[TokenTree]) -> bool {
    let is = |token: &TokenTree, text: &str| token.to_string() == text;
    match before {
        [.., first, second] if is(first, ":") && is(second, ":") => true,
        // In the base of a literal, `..Field::PLAIN`, the dots do not select a member.
        [.., first, last] if is(first, ".") && is(last, ".") => false,
        [.., last] => is(last, ".") || is(last, "fn"),
        [] => false,
    }
}

/// True if these tokens call the name before them, or continue a path that starts with it.
fn called(after: &[TokenTree]) -> bool {
    match after.first() {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(TokenTree::Punct(punct)) => {
            punct.as_char() == ':' && punct.spacing() == Spacing::Joint
        }
        _ => false,
    }
}

/// The full path of a name that generated code uses from the prelude or from imports.
fn origin(name: &str) -> Option<TokenStream> {
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
