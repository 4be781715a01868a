//! The state while the types of one file are generated.

use super::plan::Plan;
use proc_macro2::TokenStream;
use quote::quote;

/// Generates types of one file.
pub(super) struct Emit<'a> {
    pub plan: &'a Plan<'a>,
    pub file: usize,
    /// True if the container has a float, at any depth. Types that derive their traits then do not
    /// derive `Eq`.
    pub float: bool,
}

impl Emit<'_> {
    pub(super) fn derives(&self) -> TokenStream {
        let eq = (!self.float).then(|| quote!(Eq,));
        quote!(#[derive(Clone, Copy, PartialEq, #eq Debug)])
    }
}
