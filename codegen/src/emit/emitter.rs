//! The file that types are being written for.

use super::plan::Plan;
use proc_macro2::TokenStream;
use quote::quote;

/// Writes types of one file.
pub(super) struct Emit<'a> {
    pub plan: &'a Plan<'a>,
    pub file: usize,
    /// A float is in the container, at any depth.
    pub float: bool,
}

impl Emit<'_> {
    pub(super) fn derives(&self) -> TokenStream {
        let eq = (!self.float).then(|| quote!(Eq,));
        quote!(#[derive(Clone, Copy, PartialEq, #eq Debug)])
    }
}
