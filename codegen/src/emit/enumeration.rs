//! Generates the Rust type of an enumeration: a newtype that can also hold values without a name.

use super::docs;
use super::field::{ident, number, pattern, value_names};
use crate::model::Enum;
use proc_macro2::TokenStream;
use quote::quote;

/// Generates the type and its constants. `tables` is the module of the static that describes it.
pub fn enumeration(e: &Enum, rust_name: &str, tables: &str) -> TokenStream {
    let (name, tables) = (ident(rust_name), ident(tables));
    let doc = docs::doc(&docs::enumeration(e));
    let alias = docs::alias(&e.name, rust_name);
    let bits = e.bits.clamp(1, 64);
    // The smallest integer type, to keep packets small: most of their members are enumerations.
    let storage = match bits {
        0..=8 => Some("u8"),
        9..=16 => Some("u16"),
        17..=32 => Some("u32"),
        _ => None,
    };
    let (storage, cast, widen) = match storage.map(ident) {
        Some(storage) => (storage.clone(), quote!(as #storage), quote!(as u64)),
        None => (ident("u64"), quote!(), quote!()),
    };
    let width = number(bits);
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
            /// The bits that this compaction index expands to; `None` for a value without them.
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
        #[derive(Clone, Copy, PartialEq, Hash, Default)]
        #[repr(transparent)]
        pub struct #name(#storage);
        impl #name {
            #(#constants)*
            /// Size in bits of the widest field of this type.
            pub const BITS: u32 = #width;
            /// Description of the enumeration at run time.
            pub const INFO: &'static Enumeration = &super::#tables::#name;
            /// Converts a number. It need not have a name.
            ///
            /// # Errors
            /// [`OutOfRange`] if `value` has more bits than the widest field of this type.
            #[inline]
            pub const fn new(value: u64) -> Result<Self, OutOfRange> {
                match OutOfRange::check(value, #max) {
                    None => Ok(#name(value #cast)),
                    Some(error) => Err(error),
                }
            }
            /// Converts a stored pattern. Bits that do not fit the type are ignored.
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
        impl Eq for #name {}
        impl fmt::Debug for #name {
            #[inline]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug_value(Self::INFO, self.bits(), f)
            }
        }
    }
}
