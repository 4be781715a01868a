//! Procedural macros of genxml. Use them through the crate `genxml`: they expand to paths of that
//! crate, and its documentation describes them.

mod batch;
mod derive;
#[cfg(feature = "eu")]
mod eu;
mod packet;

use proc_macro::TokenStream;

/// Makes a packet, or any generated structure, with checked numbers: see `genxml::packet!`.
#[proc_macro]
pub fn packet(input: TokenStream) -> TokenStream {
    packet::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Emits packets into a batch, in order: see `genxml::batch!`.
#[proc_macro]
pub fn batch(input: TokenStream) -> TokenStream {
    batch::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements a packet type that the program defines: see `genxml::Packet`.
#[proc_macro_derive(Packet, attributes(packet, field))]
pub fn derive_packet(input: TokenStream) -> TokenStream {
    derive::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Assembles a kernel to an array of dwords: see `genxml::eu!`.
#[cfg(feature = "eu")]
#[proc_macro]
pub fn eu(input: TokenStream) -> TokenStream {
    eu::expand(input.into()).unwrap_or_else(|errors| eu::refused(&errors)).into()
}
