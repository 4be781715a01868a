//! Procedural macros of genxml. Use them through the `genxml` crate, whose paths they expand to.

mod packet;

use proc_macro::TokenStream;

/// A packet, or any generated structure, with numbers written as plain literals.
///
/// ```ignore
/// let fill = packet! {
///     XyColorBlt {
///         destination_pitch: 256,              // checked when compiled: it must fit the field's bits
///         color_depth: BlitColorDepth::_32BPP, // other expressions stand as they are
///         destination_base_address: target,
///         ..                                   // the rest at its default
///     }
/// };
/// ```
///
/// It is a struct literal: `..` stands for `..Type::new()`, and every number in it, `-1` and `0.5` too, for a checked
/// constant of the field's type (`genxml::core::lit!`). That holds inside arrays, and inside struct literals that stand
/// for a field; parentheses, calls and everything else are left alone. A structure with required fields has no `new()`
/// without arguments: write `..Type::new(...)`.
#[proc_macro]
pub fn packet(input: TokenStream) -> TokenStream {
    packet::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
