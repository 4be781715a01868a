//! Generates the Rust type of a container, with the types of its arrays and alternatives.

use super::emitter::Emit;
use super::plan::Plan;
use crate::model::ContainerId;
use proc_macro2::TokenStream;
use quote::quote;

/// Generates all items of one container; none if the container has no type.
pub fn container(plan: &Plan, id: ContainerId) -> TokenStream {
    let body = &plan.bodies[id.0];
    if !plan.is_typed(body.container) {
        return TokenStream::new();
    }
    let file = body.container.file;
    let emit = Emit { plan, file, float: body.float };
    let mut extra = Vec::new();
    emit.extra_types(&body.block, &mut extra);
    if let Some(tail) = &body.tail {
        emit.extra_array(tail, &mut extra);
    }
    let main = match &body.tail {
        None => emit.fixed(id, body),
        Some(tail) => emit.variable(id, body, tail),
    };
    quote!(#main #(#extra)*)
}
