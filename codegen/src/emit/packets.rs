//! Per engine: all its instructions as one enum, and the parser that tells them apart.

use super::field::{ident, number, pattern};
use super::names::Scope;
use super::plan::{Plan, opcode};
use crate::model::{Container, Kind};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeMap;

/// `packets.rs`, and the enums' names.
pub fn packets(plan: &Plan) -> (TokenStream, Vec<Ident>) {
    let engines = [
        ("Render", "render"),
        ("Blitter", "blitter"),
        ("Video", "video"),
        ("VideoEnhance", "video enhancement"),
    ];
    let mut text = TokenStream::new();
    let mut names = Vec::new();
    for (bit, (name, words)) in engines.iter().enumerate() {
        let list: Vec<usize> = (0..plan.spec.containers.len())
            .filter(|index| matches!(plan.spec.containers[*index].kind, Kind::Instruction { engines, .. } if engines >> bit & 1 == 1))
            .collect();
        if !list.is_empty() {
            let name = ident(&format!("{name}Packet"));
            text.extend(engine(plan, &name, words, &list));
            names.push(name);
        }
    }
    (text, names)
}

fn engine(plan: &Plan, name: &Ident, words: &str, list: &[usize]) -> TokenStream {
    let mut scope = Scope::with(&["Partial"]);
    let mut variants = Vec::new();
    let mut arms = Vec::new();
    let mut infos = Vec::new();
    let mut info_arms = Vec::new();
    let mut lifetime = None;
    let mut by_mask: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for (position, index) in list.iter().enumerate() {
        let container: &Container = &plan.spec.containers[*index];
        let rust_name = &plan.containers[*index];
        let ty = ident(rust_name);
        let module = ident(&plan.units[container.file]);
        let tables = ident(&format!("{}_tables", plan.units[container.file]));
        let row = number(position as u32);
        let (mask, value) = opcode(container);
        by_mask.entry(mask).or_default().entry(value).or_insert(position);
        infos.push(quote!(&super::#tables::#ty));
        if !plan.is_typed(container) {
            continue;
        }
        let variant = ident(&scope.take(rust_name.clone()));
        let doc = format!(" `{}`.", container.name.replace('`', "'"));
        if plan.bodies[*index].tail.is_some() {
            lifetime = Some(quote!(<'a>));
            variants.push(quote!(#[doc = #doc] #variant(super::#module::#ty<'a>),));
            arms.push(quote!(#row => Self::#variant(super::#module::#ty::unpack_lossy(body)),));
        } else {
            let mask = length_range(container);
            variants.push(quote!(#[doc = #doc] #variant(super::#module::#ty),));
            arms.push(quote!(#row => {
                #mask
                Self::#variant(super::#module::#ty::unpack_lossy(&array(body)))
            }));
        }
        info_arms.push(quote!(Self::#variant(_) => &super::#tables::#ty,));
    }
    // The longest opcode first: what it does not match may still match a shorter one.
    let mut masks: Vec<(u32, BTreeMap<u32, usize>)> = by_mask.into_iter().collect();
    masks.sort_by_key(|(mask, _)| std::cmp::Reverse(mask.count_ones()));
    let matches = masks.iter().map(|(mask, rows)| {
        let mask = pattern(u64::from(*mask));
        let rows = rows.iter().map(|(value, position)| {
            let (value, position) = (pattern(u64::from(*value)), number(*position as u32));
            quote!(#value => return Some(#position),)
        });
        quote! {
            match header & #mask {
                #(#rows)*
                _ => {}
            }
        }
    });
    let slice = if lifetime.is_some() { quote!(&'a [u32]) } else { quote!(&[u32]) };
    let count = number(infos.len() as u32);
    let doc = format!(" An instruction of the {words} engine.");
    let elided = lifetime.is_some().then(|| quote!(<'_>));
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum #name #lifetime {
            #(#variants)*
            /// An instruction without a type: only its header is described, or the feature of its unit is off.
            Partial(&'static Container),
        }
        impl #name #elided {
            /// Every instruction of the engine.
            pub const INSTRUCTIONS: [&'static Container; #count] = [#(#infos),*];
            /// Position in [`INSTRUCTIONS`](Self::INSTRUCTIONS) of the instruction that starts with `header`.
            #[inline]
            pub fn position(header: u32) -> Option<usize> {
                #(#matches)*
                None
            }
            /// The instruction that starts with `header`.
            pub fn find(header: u32) -> Option<&'static Container> {
                static INSTRUCTIONS: [&Container; #count] = #name::INSTRUCTIONS;
                Self::position(header).map(|position| INSTRUCTIONS[position])
            }
            /// Length in dwords of the packet that starts with `header`, if the instruction is known.
            pub fn length(header: u32) -> Option<usize> {
                Self::find(header).map(|info| info.packet_dwords(header))
            }
            /// The description of this instruction.
            pub fn info(&self) -> &'static Container {
                match self {
                    #(#info_arms)*
                    Self::Partial(info) => info,
                }
            }
        }
        impl #lifetime #name #lifetime {
            /// The packet at the start of `dwords` and its length in dwords. Opcode and length are exact; reserved bits
            /// are not looked at.
            ///
            /// # Errors
            /// [`ParseError::Unknown`] for an opcode that the engine does not have, [`ParseError::Unpack`] for a packet
            /// that goes on after the end of `dwords` or that has a length which its instruction cannot have.
            pub fn parse(dwords: #slice) -> Result<(Self, usize), ParseError> {
                static INSTRUCTIONS: [&Container; #count] = #name::INSTRUCTIONS;
                let Some(&header) = dwords.first() else {
                    let error = UnpackError::Truncated { container: "a packet", needed: 1, available: 0 };
                    return Err(ParseError::Unpack(error));
                };
                let Some(position) = Self::position(header) else {
                    return Err(ParseError::Unknown { header });
                };
                let info = INSTRUCTIONS[position];
                let length = info.packet_dwords(header);
                let body = body(info, dwords, length)?;
                let packet = match position {
                    #(#arms)*
                    _ => Self::Partial(info),
                };
                Ok((packet, length))
            }
        }
    }
}

/// The statement that refuses lengths which an instruction of fixed size cannot have. One whose length field has a
/// range may be shorter: what is missing reads as zero.
fn length_range(container: &Container) -> Option<TokenStream> {
    let field = super::plan::length_field(container)?;
    let Kind::Instruction { bias, .. } = container.kind else { return None };
    let whole = (container.bits / 32).saturating_sub(bias);
    let (min, max) = match field.range {
        Some((min, max)) => (min, max.max(u64::from(whole))),
        None => (u64::from(whole), u64::from(whole)),
    };
    let (min, max) = (number(min as u32 + bias), number(max as u32 + bias));
    Some(quote!(fixed_length(info, length, #min, #max)?;))
}
