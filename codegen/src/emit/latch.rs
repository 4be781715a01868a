//! Generates the code that returns where latched state is stored (`Slots`), for each type and for
//! each packet.

use super::field::{ident, number};
use super::plan::Plan;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The implementation of `Latch` for a container, if it is latched. `name` is its type.
pub fn implementation(plan: &Plan, container: usize, name: &TokenStream) -> Option<TokenStream> {
    let slots = plan.latches.slots[container].as_ref()?;
    let (first, entries) = (number(slots.first), number(slots.entries));
    let (offset, dwords) = (number(slots.offset), number(slots.dwords));
    let index = match slots.index {
        Some((start, end)) => {
            let (start, end) = (number(start), number(end));
            quote!(Some((#start, #end)))
        }
        None => quote!(None),
    };
    Some(quote! {
        impl Latch for #name {
            const SLOTS: Slots = Slots {
                first: #first,
                entries: #entries,
                offset: #offset,
                dwords: #dwords,
                index: #index,
            };
        }
    })
}

/// The function of a packet enum that returns the slots of a packet. `variants` are the variants
/// with their containers. `None` if the engine has no latched packets.
pub fn lookup(plan: &Plan, variants: &[(Ident, usize)]) -> Option<TokenStream> {
    let latched = variants.iter().filter(|(_, index)| plan.latches.slots[*index].is_some());
    let arms: Vec<TokenStream> = latched
        .map(|(variant, index)| {
            let module = ident(&plan.units[plan.spec.containers[*index].file]);
            let ty = ident(&plan.containers[*index]);
            let lifetime = plan.bodies[*index].tail.is_some().then(|| quote!(<'_>));
            quote!(Self::#variant(_) => <super::#module::#ty #lifetime as Latch>::SLOTS,)
        })
        .collect();
    (!arms.is_empty()).then(|| {
        quote! {
            /// The slots that store this packet as latched state; `None` if it is not latched.
            pub fn latch(&self) -> Option<Slots> {
                Some(match self {
                    #(#arms)*
                    _ => return None,
                })
            }
        }
    })
}

/// The constants for the size of a store of all latched state; `None` if there is no such state.
pub fn size(plan: &Plan) -> Option<TokenStream> {
    let (count, dwords) = (number(plan.latches.count), number(plan.latches.dwords));
    (plan.latches.count != 0).then(|| {
        quote! {
            /// Number of slots of all latched state.
            pub const LATCH_SLOTS: usize = #count;
            /// Dwords of all slots of latched state.
            pub const LATCH_DWORDS: usize = #dwords;
        }
    })
}
