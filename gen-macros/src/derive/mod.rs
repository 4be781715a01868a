//! `#[derive(Packet)]`: a packet of the program's own, described as the specification describes the manual's.
//!
//! The attributes become a text as the files of the specification are, which the generator reads, checks and makes code of:
//! the same checks, the same code. Problems come back at places of that text, which are places of the program.

mod attributes;
mod document;
mod types;

use document::Document;
use genxml_codegen::diagnostic::Severity;
use genxml_codegen::emit;
use genxml_codegen::load::read_texts;
use genxml_codegen::model::ContainerId;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Item, Path, Result};
use types::Others;

/// What the macro stands for.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => return Err(Error::new_spanned(&input.ident, "a packet is a struct with named fields")),
        },
        _ => return Err(Error::new_spanned(&input.ident, "a packet is a struct with named fields")),
    };
    if let Some(other) = input.generics.params.iter().find(|p| !matches!(p, GenericParam::Lifetime(_))) {
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
            return Err(Error::new_spanned(lifetime, "a lifetime is for a tail, a field `Entries<'a, T>`"));
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
    Ok(code(&input.ident, emit::one(&loaded.spec, ContainerId(0)), &others))
}

/// The implementations beside the program's struct.
fn code(ident: &Ident, one: emit::One, others: &Others) -> TokenStream {
    let own = one.name.clone();
    let types = implementations(one.types, &own);
    let names = one.others.0[1..].iter().zip(&others.structs).chain(one.others.1.iter().zip(&others.enums));
    let names = names.map(|(name, path)| (name.clone(), path)).collect();
    let moved = Moved { own, ident, names };
    let (uses, types, table) = (moved.all(one.uses), moved.all(types), moved.all(one.table));
    quote! {
        #[allow(non_upper_case_globals, unused_imports, unused_qualifications, clippy::all)]
        const _: () = {
            #uses
            #table
            #types
        };
    }
}

/// Without the struct, which the program has, and what it derives itself.
fn implementations(types: TokenStream, own: &str) -> TokenStream {
    let Ok(file) = syn::parse2::<syn::File>(types.clone()) else { return types };
    let items = file.items.iter().filter(|item| match item {
        Item::Struct(item) => item.ident != own,
        Item::Impl(item) => !item.trait_.as_ref().is_some_and(|(path, _)| path.is_ident("Clone")),
        _ => true,
    });
    quote!(#(#items)*)
}

/// Names as they are where the macro stands.
struct Moved<'a> {
    /// The generator's name of the struct.
    own: String,
    ident: &'a Ident,
    /// The generator's names of other types, and the program's.
    names: Vec<(String, &'a Path)>,
}

impl Moved<'_> {
    /// `genxml_core` is `::genxml::core`, and paths that start with `super` lead out of the generated modules.
    fn all(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut out = TokenStream::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => {
                    let mut moved = Group::new(group.delimiter(), self.all(group.stream()));
                    moved.set_span(group.span());
                    out.extend([TokenTree::Group(moved)]);
                }
                TokenTree::Ident(ident) if *ident == self.own => self.ident.to_tokens(&mut out),
                TokenTree::Ident(ident) if ident == "genxml_core" => out.extend(quote!(::genxml::core)),
                // `super`, `::`, the module, `::`, the name
                TokenTree::Ident(ident) if ident == "super" => {
                    let name = |at: usize| tokens.get(at).map(ToString::to_string).unwrap_or_default();
                    out.extend(self.outside(&name(at + 2), &name(at + 5)));
                    at += 6;
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

#[cfg(test)]
mod tests;
