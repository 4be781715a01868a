//! Generates the types of a container's sets of alternatives and array elements.

use super::condition::words;
use super::docs;
use super::emitter::Emit;
use super::field::{Place, ident, number, pattern};
use super::members::member_name;
use super::plan::{Array, Block, Element, Member, Set, put_defaults};
use crate::model::Type;
use proc_macro2::TokenStream;
use quote::quote;

impl Emit<'_> {
    /// Generates the types of a block's sets and arrays.
    pub(super) fn extra_types(&self, block: &Block, out: &mut Vec<TokenStream>) {
        for member in &block.members {
            match member {
                Member::Field(..) => {}
                Member::Set(set) => out.push(self.set_type(set, &block.name)),
                Member::Array(array) => self.extra_array(array, out),
            }
        }
    }

    pub(super) fn extra_array(&self, array: &Array, out: &mut Vec<TokenStream>) {
        match &array.element {
            Element::Field(_) => {}
            Element::Array(inner) => self.extra_array(inner, out),
            Element::Block(block) => {
                out.push(self.element_type(block, array.group.count == 0));
                self.extra_types(block, out);
            }
        }
    }

    pub(super) fn set_type(&self, set: &Set, parent: &str) -> TokenStream {
        let name = ident(&set.ty);
        let derives = self.derives();
        let doc = format!(
            " An alternative of [`{parent}`]. The other fields determine which one is valid; packing does not check this."
        );
        let variants = set.alternatives.iter().map(|alternative| {
            let variant = ident(&alternative.variant);
            let doc = match alternative.condition {
                Some(condition) => format!(" Where {}.", docs::escape(&words(condition))),
                None => " Otherwise.".to_string(),
            };
            let fields = alternative.fields.iter().map(|(name, field)| {
                let (name, ty) = (ident(name), self.plan.ty(field, self.file));
                let doc = docs::doc(&docs::field(field, false));
                quote!(#doc #name: #ty)
            });
            quote!(#[doc = #doc] #variant { #(#fields),* })
        });
        let absent = set.absent.then(|| {
            quote!(
                #[doc = " No alternative is valid: the bits are zero."]
                Absent,
            )
        });
        quote! {
            #[doc = #doc]
            #derives
            pub enum #name { #(#variants,)* #absent }
        }
    }

    /// Generates the struct of an array's element.
    pub(super) fn element_type(&self, block: &Block, variable: bool) -> TokenStream {
        let name = ident(&block.name);
        let derives = self.derives();
        let members = self.members(block, true);
        let bits = number(block.bits);
        let place = Place::slice();
        let writes = self.writes(block, &place, quote!(self), 0);
        let (before, values) = self.reads(block, &place, 0);
        let mut defaults = vec![0; block.bits.div_ceil(32) as usize];
        put_defaults(
            &block.fields.iter().map(|f| (*f).clone()).collect::<Vec<_>>(),
            0,
            &mut defaults,
        );
        let fields = block.members.iter().map(|member| {
            let (name, value) =
                (ident(member_name(member)), self.member_default(member, &defaults));
            quote!(#name: #value)
        });
        let ones = block
            .fields
            .iter()
            .filter(|field| field.ty == Type::MustBeOne && field.variant.is_none());
        let ones = ones.map(|field| {
            let (start, end) = (place.at(field.start), place.at(field.end));
            let ones = pattern(u64::MAX >> (63 - (field.end - field.start).min(63)));
            quote!(put(dwords, #start, #end, #ones);)
        });
        let doc = format!(" An element of an array, {bits} bits long.");
        let entry = variable.then(|| {
            quote! {
                impl Entry for #name {
                    const BITS: u32 = #bits;
                    #[inline]
                    fn put(&self, dwords: &mut [u32], start: u32) {
                        #name::put(self, dwords, start);
                    }
                    #[inline]
                    fn get(dwords: &[u32], start: u32) -> Self {
                        #name::get(dwords, start)
                    }
                }
            }
        });
        quote! {
            #[doc = #doc]
            #derives
            pub struct #name { #members }
            impl #name {
                /// All fields have their defaults.
                #[inline(always)]
                pub const fn new() -> Self {
                    Self { #(#fields),* }
                }
                /// Writes the element at bit `start`. Its bits must be zero before.
                #[inline(always)]
                pub const fn put(&self, dwords: &mut [u32], start: u32) {
                    #(#ones)*
                    #writes
                }
                /// Reads the element at bit `start`.
                #[inline(always)]
                pub const fn get(dwords: &[u32], start: u32) -> Self {
                    #before
                    Self { #values }
                }
            }
            impl Default for #name {
                fn default() -> Self {
                    Self::new()
                }
            }
            #entry
        }
    }
}
