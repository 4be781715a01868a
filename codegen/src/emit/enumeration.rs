//! An enumeration as Rust: a newtype that keeps values without a name.

use super::docs;
use super::field::{ident, pattern, value_names};
use crate::model::Enum;
use proc_macro2::TokenStream;
use quote::quote;

/// The type and its constants. `tables` is the module of its static.
pub fn enumeration(e: &Enum, rust_name: &str, tables: &str) -> TokenStream {
    let (name, tables) = (ident(rust_name), ident(tables));
    let doc = docs::doc(&docs::enumeration(e));
    let alias = docs::alias(&e.name, rust_name);
    let bits = e.bits.clamp(1, 64);
    let (storage, cast) = if bits <= 32 { (ident("u32"), quote!(as u32)) } else { (ident("u64"), quote!()) };
    let widen = (bits <= 32).then(|| quote!(as u64));
    let max = pattern(u64::MAX >> (64 - bits));
    let names = value_names(e);
    let constants = names.iter().zip(&e.values).map(|((constant, value), entry)| {
        let (constant, number) = (ident(constant), pattern(*value));
        let mut text = format!("`{}` = {value}.", entry.name.replace('`', "'"));
        if !entry.doc.is_empty() {
            text = format!("{text} {}", docs::escape(&entry.doc));
        }
        let doc = docs::doc(&[text]);
        quote!(#doc pub const #constant: Self = #name(#number);)
    });
    let expansion = e.values.iter().any(|value| value.expansion.is_some()).then(|| {
        let arms = e.values.iter().filter_map(|entry| {
            let (number, bits) = (pattern(entry.value), pattern(entry.expansion?));
            Some(quote!(#number => Some(#bits),))
        });
        quote! {
            /// The bits that the value stands for.
            pub const fn expansion(self) -> Option<u64> {
                match self.0 {
                    #(#arms)*
                    _ => None,
                }
            }
        }
    });
    quote! {
        #doc
        #alias
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[repr(transparent)]
        pub struct #name(#storage);
        impl #name {
            #(#constants)*
            /// Its description at run time.
            pub const INFO: &'static Enumeration = &super::#tables::#name;
            /// `value`, named or not, if it fits the field.
            ///
            /// # Errors
            /// [`OutOfRange`] if it has more bits than the widest field of this type.
            #[inline]
            pub const fn new(value: u64) -> Result<Self, OutOfRange> {
                match OutOfRange::check(value, #max) {
                    None => Ok(#name(value #cast)),
                    Some(error) => Err(error),
                }
            }
            /// From a stored pattern, for decoders.
            #[inline(always)]
            pub const fn from_bits(bits: u64) -> Self {
                #name((bits & #max) #cast)
            }
            /// The stored pattern.
            #[inline(always)]
            pub const fn bits(self) -> u64 {
                self.0 #widen
            }
            /// The manual's name of the value, if it has one.
            #[inline]
            pub const fn name(self) -> Option<&'static str> {
                Self::INFO.name_of(self.bits())
            }
            #expansion
        }
        impl fmt::Debug for #name {
            #[inline]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug_value(Self::INFO, self.bits(), f)
            }
        }
    }
}
