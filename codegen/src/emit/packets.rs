//! Per engine: all its instructions as one enum, and the parser that tells them apart.

use super::field::{ident, number};
use super::latch;
use super::names::Scope;
use super::plan::Plan;
use crate::model::{Container, Kind};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

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
            text.extend(engine(plan, &name, words, bit as u8, &list));
            names.push(name);
        }
    }
    (text, names)
}

fn engine(plan: &Plan, name: &Ident, words: &str, bit: u8, list: &[usize]) -> TokenStream {
    let mut scope = Scope::with(&["Partial"]);
    let mut variants = Vec::new();
    let mut names = Vec::new();
    let mut views = Vec::new();
    let mut infos = Vec::new();
    let mut tables_of = Vec::new();
    // Those without a variant of their own last: a variant's number is its position, which spares a
    // table.
    let mut list = list.to_vec();
    list.sort_by_key(|index| !plan.is_typed(&plan.spec.containers[*index]));
    for index in &list {
        let container: &Container = &plan.spec.containers[*index];
        let rust_name = &plan.containers[*index];
        let ty = ident(rust_name);
        let module = ident(&plan.units[container.file]);
        let tables = ident(&format!("{}_tables", plan.units[container.file]));
        infos.push(quote!(&super::#tables::#ty));
        if !plan.is_typed(container) {
            views.push(quote!(#name::Partial(Lazy::new(&[]))));
            continue;
        }
        let variant = ident(&scope.take(rust_name.clone()));
        let doc = format!(" `{}`.", container.name.replace('`', "'"));
        let lifetime = plan.bodies[*index].tail.is_some().then(|| quote!(<'a>));
        variants.push(quote!(#[doc = #doc] #variant(Lazy<'a, super::#module::#ty #lifetime>),));
        views.push(quote!(#name::#variant(Lazy::new(&[]))));
        tables_of.push(quote!(Self::#variant(_) => &super::#tables::#ty,));
        names.push(variant);
    }
    let variants_of: Vec<(Ident, usize)> =
        names.iter().cloned().zip(list.iter().copied()).collect();
    let latch = latch::lookup(plan, &variants_of);
    let count = number(infos.len() as u32);
    let doc = format!(
        " A packet of the {words} engine, where it lies: what the variants hold is read when it is unpacked."
    );
    let bit = number(1 << bit);
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy)]
        pub enum #name<'a> {
            #(#variants)*
            /// An instruction without a type: only its header is described, or the feature of its
            /// unit is off.
            Partial(Lazy<'a, Untyped>),
        }
        impl #name<'_> {
            /// Every instruction of the engine, those without a type last.
            pub const INSTRUCTIONS: [&'static Container; #count] = [#(#infos),*];
            /// Position in [`INSTRUCTIONS`](Self::INSTRUCTIONS) of the instruction that starts with
            /// `header`.
            #[inline]
            pub fn position(header: u32) -> Option<usize> {
                Self::lookup(header).map(|found| found.position)
            }
            /// The instruction that starts with `header`.
            #[inline]
            pub fn find(header: u32) -> Option<&'static Container> {
                Self::lookup(header).map(|found| Self::instructions()[found.position])
            }
            /// Length in dwords of the packet that starts with `header`, if the instruction is
            /// known.
            #[inline]
            pub fn length(header: u32) -> Option<usize> {
                Self::lookup(header).map(|found| found.length)
            }
            #latch
            /// The description of this instruction.
            pub fn info(&self) -> &'static Container {
                match self {
                    #(#tables_of)*
                    Self::Partial(view) => view.header().and_then(Self::find).unwrap_or(Untyped::INFO),
                }
            }
        }
        impl<'a> #name<'a> {
            /// The packets of a batch in order, to the end of `dwords`; what is no packet comes as
            /// an error, and the walk goes on behind it. With [`strict`](Packets::strict) every bit
            /// is checked.
            #[inline]
            pub const fn iter(dwords: &'a [u32]) -> Packets<'a, Self> {
                Packets::new(dwords)
            }
            /// The packet at the start of `dwords` and its length in dwords. Opcode and length are
            /// exact; nothing else is looked at.
            ///
            /// # Errors
            /// [`ParseError::Unknown`] for an opcode that the engine does not have,
            /// [`ParseError::Unpack`] for a packet that goes on after the end of `dwords` or that
            /// has a length which its instruction cannot have.
            #[inline]
            pub fn parse(dwords: &'a [u32]) -> Result<(Self, usize), ParseError> {
                Self::read(dwords)
            }
            /// The packet's dwords, header included.
            #[inline]
            pub fn dwords(&self) -> &'a [u32] {
                match *self {
                    #(Self::#names(Lazy { dwords, .. }) |)* Self::Partial(Lazy { dwords, .. }) => dwords,
                }
            }
        }
        impl<'a> EnginePacket<'a> for #name<'a> {
            const ENGINE: Engines = Engines(#bit);
            #[inline(always)]
            fn lookup(header: u32) -> Option<Found> {
                static INSTRUCTIONS: [&Container; #count] = #name::INSTRUCTIONS;
                static TABLE: OpcodeTable<#count, { opcodes::entries(&#name::INSTRUCTIONS) }> =
                    OpcodeTable::new(&INSTRUCTIONS);
                TABLE.find(header)
            }
            #[inline]
            fn instructions() -> &'static [&'static Container] {
                static INSTRUCTIONS: [&Container; #count] = #name::INSTRUCTIONS;
                &INSTRUCTIONS
            }
            #[inline(always)]
            fn view(position: usize, dwords: &'a [u32]) -> Self {
                // Every variant holds the same, so that none needs a branch of its own.
                static EMPTY: [#name; #count] = [#(#views),*];
                let mut packet = EMPTY[position];
                match &mut packet {
                    #(#name::#names(Lazy { dwords: empty, .. }) |)* #name::Partial(Lazy { dwords: empty, .. }) => {
                        *empty = dwords;
                    }
                }
                packet
            }
            #[inline]
            fn dwords(&self) -> &'a [u32] {
                #name::dwords(self)
            }
            #[inline]
            fn check(&self) -> Result<(), UnpackError> {
                match self {
                    #(Self::#names(view) => view.unpack().map(drop),)*
                    Self::Partial(..) => Ok(()),
                }
            }
        }
        /// By dwords, reserved bits included.
        impl PartialEq for #name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.dwords() == other.dwords()
            }
        }
        impl Eq for #name<'_> {}
        impl fmt::Debug for #name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                debug_dwords(self.info(), self.dwords(), f)
            }
        }
    }
}
