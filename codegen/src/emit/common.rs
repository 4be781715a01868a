//! Generates the items of every container: documentation, constants, `new`, checks and traits.

use super::checks::Checks;
use super::docs;
use super::emitter::Emit;
use super::field::{ident, number, pattern};
use super::latch;
use super::members::member_name;
use super::plan::{Array, Block, Body, Element, Member, Plan, is_member, put_bits};
use crate::model::{ContainerId, Kind, Type};
use crate::words::ALL_PIPELINES;
use proc_macro2::TokenStream;
use quote::quote;

impl Emit<'_> {
    /// The table of checks, and the statement that returns the error of the first failed check.
    pub(super) fn checks(&self, body: &Body) -> (TokenStream, TokenStream) {
        let checks = Checks::new(self.plan, body);
        let first = quote!(let Err(error) = Check::all(Self::CHECKS, Self::NAME, dwords, 0));
        let refuse = match checks.fits() {
            _ if checks.is_empty() => TokenStream::new(),
            Some(fits) => quote! {
                let fits = #fits;
                if !fits && #first {
                    return Err(error);
                }
            },
            None => quote!(if #first { return Err(error); }),
        };
        // The unused bits of the last dword must be zero. In a nested structure, they belong to the
        // outer structure.
        let bits = body.container.bits;
        let rest = (!bits.is_multiple_of(32) && body.tail.is_none()).then(|| {
            let (start, end) = (number(bits), number(bits.next_multiple_of(32) - 1));
            quote! {
                let rest = &[Check::Gap { start: #start, end: #end }];
                if let Err(error) = Check::all(rest, Self::NAME, dwords, 0) {
                    return Err(error);
                }
            }
        });
        (checks.table(), quote!(#refuse #rest))
    }

    /// The doc comment and alias of the type.
    pub(super) fn head(&self, body: &Body) -> TokenStream {
        let docs = docs::doc(&docs::container(body.container));
        let alias = docs::alias(&body.container.name, &body.block.name);
        quote!(#docs #alias)
    }

    /// The constants of the type, such as `BITS` and `OFFSET`.
    pub(super) fn constants(&self, body: &Body) -> TokenStream {
        match body.container.kind {
            Kind::Struct { .. } if body.tail.is_none() => {
                let bits = number(body.container.bits);
                quote! {
                    /// Size in bits.
                    pub const BITS: u32 = #bits;
                }
            }
            Kind::Register { offset, per_engine, count, stride, .. } => {
                place(offset, per_engine, count, stride)
            }
            _ => TokenStream::new(),
        }
    }

    /// The function `new`, whose arguments are the required fields.
    pub(super) fn new_fn(
        &self,
        id: ContainerId,
        block: &Block,
        more: &[TokenStream],
    ) -> TokenStream {
        let defaults = self.plan.defaults(id);
        let mut arguments = Vec::new();
        let mut values = Vec::new();
        for member in &block.members {
            let name = ident(member_name(member));
            match member {
                Member::Field(_, field) if self.plan.required(field) => {
                    let ty = self.plan.ty(field, self.file);
                    arguments.push(quote!(#name: #ty));
                    values.push(quote!(#name));
                }
                member => {
                    let value = self.member_default(member, &defaults);
                    values.push(quote!(#name: #value));
                }
            }
        }
        let doc = if arguments.is_empty() {
            " All fields have their defaults."
        } else {
            " Takes the fields without a default. All other fields have their defaults."
        };
        quote! {
            #[doc = #doc]
            #[inline(always)]
            pub const fn new(#(#arguments),*) -> Self {
                Self { #(#values,)* #(#more,)* }
            }
        }
    }

    pub(super) fn packed(
        &self,
        id: ContainerId,
        body: &Body,
        lifetime: &TokenStream,
    ) -> TokenStream {
        let name = ident(&body.block.name);
        let manual = &body.container.name;
        let tables = ident(&format!("{}_tables", self.plan.units[self.file]));
        let default = if self.plan.needs_arguments(id) {
            quote!(impl genxml_core::fit::Required for #name #lifetime {})
        } else {
            quote! {
                impl Default for #name #lifetime {
                    #[inline]
                    fn default() -> Self {
                        Self::new()
                    }
                }
            }
        };
        let (engines, pipelines) = match body.container.kind {
            Kind::Instruction { engines, pipelines, .. } => (engines, pipelines),
            _ => (0, 0),
        };
        let markers = ["RenderCommand", "BlitterCommand", "VideoCommand", "VideoEnhanceCommand"];
        let markers = markers.iter().enumerate().filter(|(bit, _)| engines >> bit & 1 == 1).map(
            |(_, marker)| {
                let marker = ident(marker);
                quote!(impl super::engine::#marker for #name #lifetime {})
            },
        );
        let pipelines = match pipelines {
            // PIPELINE_SELECT changes the pipeline. The module `pipeline` decides which batches may
            // emit it.
            _ if body.container.name == "PIPELINE_SELECT" => quote!(),
            ALL_PIPELINES => {
                quote!(impl<P: super::pipeline::Pipeline> super::pipeline::InPipeline<P> for #name #lifetime {})
            }
            set => ["ThreeD", "Media", "Gpgpu"]
                .iter()
                .enumerate()
                .filter(|(bit, _)| set >> bit & 1 == 1)
                .map(|(_, pipeline)| {
                    let pipeline = ident(pipeline);
                    quote!(impl super::pipeline::InPipeline<super::pipeline::#pipeline> for #name #lifetime {})
                })
                .collect(),
        };
        let latch = latch::implementation(self.plan, id.0, &quote!(#name #lifetime));
        quote! {
            #default
            #latch
            impl Packed for #name #lifetime {
                const NAME: &'static str = #manual;
                const INFO: &'static Container = &super::#tables::#name;
            }
            #(#markers)*
            #pipelines
        }
    }

    /// The implementation of `Entry` for a structure that variable arrays contain.
    pub(super) fn container_entry(&self, body: &Body) -> TokenStream {
        let name = ident(&body.block.name);
        let bits = number(body.container.bits);
        quote! {
            impl Entry for #name {
                const BITS: u32 = #bits;
                #[inline]
                fn put(&self, dwords: &mut [u32], start: u32) {
                    put_array(dwords, start, #bits, &self.pack());
                }
                #[inline]
                fn get(dwords: &[u32], start: u32) -> Self {
                    Self::unpack_lossy(&get_array(dwords, start, #bits))
                }
            }
        }
    }

    /// The declarations of the members.
    pub(super) fn members(&self, block: &Block, relative: bool) -> TokenStream {
        let members = block.members.iter().map(|member| {
            let name = ident(member_name(member));
            let (doc, ty) = match member {
                Member::Field(_, field) => {
                    (docs::field(field, relative), self.plan.ty(field, self.file))
                }
                Member::Set(set) => {
                    let ty = ident(&set.ty);
                    let names: Vec<String> =
                        set.alternatives.iter().map(|a| a.variant.clone()).collect();
                    (vec![format!("One of {}.", names.join(", "))], quote!(#ty))
                }
                Member::Array(array) => (array_doc(array, relative), self.array_ty(array)),
            };
            let doc = docs::doc(&doc);
            quote!(#doc pub #name: #ty,)
        });
        quote!(#(#members)*)
    }

    pub(super) fn array_ty(&self, array: &Array) -> TokenStream {
        let element = self.element_ty(&array.element);
        let count = number(array.group.count);
        quote!([#element; #count])
    }

    pub(super) fn element_ty(&self, element: &Element) -> TokenStream {
        match element {
            Element::Field(field) => self.plan.ty(field, self.file),
            Element::Array(array) => self.array_ty(array),
            Element::Block(block) => {
                let name = ident(&block.name);
                quote!(#name)
            }
        }
    }
}

impl Plan<'_> {
    /// True if a variable array has the structure as its element type.
    pub(super) fn is_entry(&self, id: ContainerId) -> bool {
        self.bodies.iter().filter_map(|body| body.tail.as_ref()).any(
            |tail| matches!(&tail.element, Element::Field(field) if field.ty == Type::Struct(id)),
        )
    }
}

/// Dwords with the bits that are the same in every packet of the type: opcode, must-be-one, and the
/// length if it is fixed. All other bits are 0.
pub(super) fn fixed_dwords(container: &crate::model::Container) -> Vec<u32> {
    let mut dwords = vec![0; container.bits.div_ceil(32) as usize];
    let variable = container.is_variable();
    let bias = match container.kind {
        Kind::Instruction { bias, .. } => bias,
        _ => 0,
    };
    for field in
        container.fields.iter().filter(|field| field.variant.is_none() && !is_member(field))
    {
        let value = match field.ty {
            _ if field.length && variable => 0,
            _ if field.length => u64::from((container.bits / 32).saturating_sub(bias)),
            _ if field.opcode => field.default.unwrap_or(0),
            Type::MustBeOne => u64::MAX,
            _ => 0,
        };
        put_bits(&mut dwords, field.start, field.end, value);
    }
    dwords
}

fn array_doc(array: &Array, relative: bool) -> Vec<String> {
    let group = array.group;
    let place = if relative {
        format!("from bit {}", group.start)
    } else {
        format!("dw{} from bit {}", group.start / 32, group.start % 32)
    };
    let mut doc = vec![format!("{place} · {} elements of {} bits", group.count, group.bits)];
    if let Element::Field(field) = &array.element {
        doc.extend(docs::field(field, true));
        doc[0].push('.');
    }
    doc
}

pub(super) fn tail_doc(tail: &Array) -> Vec<String> {
    let mut doc = vec![format!(
        "dw{} to the end · elements of {} bits",
        tail.group.start / 32,
        tail.group.bits
    )];
    if let Element::Field(field) = &tail.element {
        doc.extend(docs::field(field, true));
        doc[0].push('.');
    }
    doc
}

/// The constant `OFFSET` of a register, `COUNT` for an array of registers, and the function
/// `offset` for an array or for a register that each engine has.
fn place(offset: u32, per_engine: bool, count: u32, stride: u32) -> TokenStream {
    let offset = pattern(u64::from(offset));
    let (count_, stride) = (number(count), number(stride));
    let index = quote!(if index < #count_ { Some(Self::OFFSET + index * #stride) } else { None });
    match (per_engine, count > 1) {
        (false, false) => quote! {
            /// Byte offset in the register space.
            pub const OFFSET: u32 = #offset;
        },
        (true, false) => quote! {
            /// Byte offset from the engine's base.
            pub const OFFSET: u32 = #offset;
            /// Byte offset of the register of `engine` in the register space.
            pub const fn offset(engine: EngineBase) -> u32 { engine.base.wrapping_add(Self::OFFSET) }
        },
        (false, true) => quote! {
            /// Byte offset of the first register in the register space.
            pub const OFFSET: u32 = #offset;
            /// Number of registers.
            pub const COUNT: u32 = #count_;
            /// Byte offset of register `index`; `None` from `COUNT` on.
            pub const fn offset(index: u32) -> Option<u32> { #index }
        },
        (true, true) => {
            let index = quote! {
                if index < #count_ { Some(engine.base.wrapping_add(Self::OFFSET + index * #stride)) } else { None }
            };
            quote! {
                /// Byte offset of the first register from the engine's base.
                pub const OFFSET: u32 = #offset;
                /// Number of registers.
                pub const COUNT: u32 = #count_;
                /// Byte offset of register `index` of `engine`; `None` from `COUNT` on.
                pub const fn offset(engine: EngineBase, index: u32) -> Option<u32> { #index }
            }
        }
    }
}
