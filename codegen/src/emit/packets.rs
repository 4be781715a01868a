//! Generates, for each engine, an enum of all its instructions and a parser.

use super::field::{ident, number};
use super::latch;
use super::names::Scope;
use super::plan::Plan;
use crate::model::{Container, Kind};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

/// The contents of `packets.rs`, and the names of the enums.
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
            let packet = Packet::new(plan, name.clone(), list);
            text.extend(packet.definition(words));
            text.extend(packet.functions(plan));
            text.extend(packet.implementations(1 << bit));
            names.push(name);
        }
    }
    (text, names)
}

/// The enum of one engine's instructions.
struct Packet {
    name: Ident,
    /// Number of instructions.
    count: Literal,
    /// Declarations of the variants.
    variants: Vec<TokenStream>,
    /// Name of each variant, with the index of its container.
    typed: Vec<(Ident, usize)>,
    /// For each instruction, a value of the enum without dwords.
    views: Vec<TokenStream>,
    /// The static that describes each instruction.
    infos: Vec<TokenStream>,
}

impl Packet {
    /// Sorts instructions without a type to the end. So the position of every other instruction is
    /// the number of its variant, and no table is needed.
    fn new(plan: &Plan, name: Ident, mut list: Vec<usize>) -> Self {
        list.sort_by_key(|index| !plan.is_typed(&plan.spec.containers[*index]));
        let mut scope = Scope::with(&["Partial"]);
        let count = number(list.len() as u32);
        let (variants, typed) = (Vec::new(), Vec::new());
        let (views, infos) = (Vec::new(), Vec::new());
        let mut packet = Packet { name, count, variants, typed, views, infos };
        for index in list {
            let container: &Container = &plan.spec.containers[index];
            let ty = ident(&plan.containers[index]);
            let module = ident(&plan.units[container.file]);
            let tables = ident(&format!("{}_tables", plan.units[container.file]));
            packet.infos.push(quote!(&super::#tables::#ty));
            let name = &packet.name;
            if !plan.is_typed(container) {
                packet.views.push(quote!(#name::Partial(Lazy::new(&[]))));
                continue;
            }
            let variant = ident(&scope.take(plan.containers[index].clone()));
            let doc = format!(" `{}`.", container.name.replace('`', "'"));
            let lifetime = plan.bodies[index].tail.is_some().then(|| quote!(<'a>));
            packet.views.push(quote!(#name::#variant(Lazy::new(&[]))));
            packet
                .variants
                .push(quote!(#[doc = #doc] #variant(Lazy<'a, super::#module::#ty #lifetime>),));
            packet.typed.push((variant, index));
        }
        packet
    }

    /// The names of the variants.
    fn names(&self) -> Vec<&Ident> {
        self.typed.iter().map(|(name, _)| name).collect()
    }

    /// The enum.
    fn definition(&self, words: &str) -> TokenStream {
        let Packet { name, variants, .. } = self;
        let doc =
            format!(" A packet of the {words} engine. Its fields are read when it is unpacked.");
        quote! {
            #[doc = #doc]
            #[derive(Clone, Copy)]
            pub enum #name<'a> {
                #(#variants)*
                /// An instruction without a type: only its header is described, or the feature of
                /// its unit is off.
                Partial(Lazy<'a, Untyped>),
            }
        }
    }

    /// The functions of the enum.
    fn functions(&self, plan: &Plan) -> TokenStream {
        let Packet { name, count, infos, typed, .. } = self;
        let names = self.names();
        let latch = latch::lookup(plan, typed);
        let infos_of =
            typed.iter().zip(infos).map(|((variant, _), info)| quote!(Self::#variant(_) => #info,));
        quote! {
            impl #name<'_> {
                /// Every instruction of the engine. Those without a type come last.
                pub const INSTRUCTIONS: [&'static Container; #count] = [#(#infos),*];
                /// Position in [`INSTRUCTIONS`](Self::INSTRUCTIONS) of the instruction that starts
                /// with `header`.
                #[inline]
                pub fn position(header: u32) -> Option<usize> {
                    Self::lookup(header).map(|found| found.position)
                }
                /// The instruction that starts with `header`.
                #[inline]
                pub fn find(header: u32) -> Option<&'static Container> {
                    Self::lookup(header).map(|found| Self::instructions()[found.position])
                }
                /// Length in dwords of the packet that starts with `header`; none if the engine has
                /// no such instruction.
                #[inline]
                pub fn length(header: u32) -> Option<usize> {
                    Self::lookup(header).map(|found| found.length)
                }
                #latch
                /// The description of this instruction.
                pub fn info(&self) -> &'static Container {
                    match self {
                        #(#infos_of)*
                        Self::Partial(view) => view.header().and_then(Self::find).unwrap_or(Untyped::INFO),
                    }
                }
            }
            impl<'a> #name<'a> {
                /// The packets of a batch in order, to the end of `dwords`. Dwords that are not a
                /// packet give an error, and the iteration continues after them. With
                /// [`strict`](Packets::strict) every bit is checked.
                #[inline]
                pub const fn iter(dwords: &'a [u32]) -> Packets<'a, Self> {
                    Packets::new(dwords)
                }
                /// The packet at the start of `dwords` and its length in dwords. Only opcode and
                /// length are checked.
                ///
                /// # Errors
                /// [`ParseError::Unknown`] for an opcode that the engine does not have.
                /// [`ParseError::Unpack`] for a packet that continues after the end of `dwords`, or
                /// whose length is not possible for its instruction.
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
        }
    }

    /// The traits of the enum.
    fn implementations(&self, engine: u32) -> TokenStream {
        let Packet { name, count, views, .. } = self;
        let names = self.names();
        let engine = number(engine);
        quote! {
            impl<'a> EnginePacket<'a> for #name<'a> {
                const ENGINE: Engines = Engines(#engine);
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
                    // Every variant has the same layout, so none needs a branch of its own.
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
            /// Compares the dwords, reserved bits included.
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
}
