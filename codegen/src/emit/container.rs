//! A container as Rust: the struct, `new`, `pack`, `unpack`, and the types of its arrays and
//! alternatives.

use super::checks::Checks;
use super::docs;
use super::emitter::Emit;
use super::field::{Place, ident, number, pattern};
use super::latch;
use super::members::{Packing, member_name};
use super::plan::{Array, Block, Body, Element, Member, Plan, is_member, length_field, put_bits};
use crate::model::{ContainerId, Kind, Type};
use crate::words::ALL_PIPELINES;
use proc_macro2::TokenStream;
use quote::quote;

/// Everything of one container; nothing if it has no type.
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

/// Bits of a container above which its arrays are written where they are wanted, not built and
/// copied.
const LONG: u32 = 1024;

impl Emit<'_> {
    /// A container whose size is known. What costs most to compile, comparing and showing each
    /// field, goes through the dwords: two values are equal if they are packed alike.
    fn fixed(&self, id: ContainerId, body: &Body) -> TokenStream {
        let (container, block) = (body.container, &body.block);
        let name = ident(&block.name);
        let head = self.head(body);
        let members = self.members(block, false);
        let dwords = number(container.bits.div_ceil(32));
        let new = self.new_fn(id, block, &[]);
        let packed = self.packed(id, body, &TokenStream::new());

        let place = Place::array();
        let Packing { array, rest } =
            self.dwords(block, &quote!(self), &fixed_dwords(container), &[]);
        let stores = (!rest.is_empty() && container.bits > LONG).then(|| {
            let stores = self.stores(block, &quote!(self), &fixed_dwords(container));
            quote! {
                /// Writes all dwords.
                #[inline(always)]
                const fn store(&self, dwords: &mut [u32; #dwords]) {
                    #stores
                }
            }
        });
        let (pack, put) = match (rest.is_empty(), &stores) {
            (true, _) => (array, None),
            (false, None) => (quote!(let mut dwords = #array; #rest dwords), None),
            (false, Some(_)) => {
                let put = quote! {
                    #[inline(always)]
                    fn put(&self, dwords: &mut Self::Dwords) {
                        self.store(dwords);
                    }
                };
                (quote!(let mut dwords = [0; #dwords]; self.store(&mut dwords); dwords), Some(put))
            }
        };
        let (checks, refuse) = self.checks(body);
        let (lossy_before, lossy) = self.reads(block, &place, 0);
        let unused = if lossy.is_empty() { quote!(_dwords) } else { quote!(dwords) };

        let constants = self.constants(body);
        let instruction = matches!(container.kind, Kind::Instruction { .. }).then(|| {
            quote! {
                impl Instruction for #name {
                    #[inline(always)]
                    fn dwords(&self) -> usize {
                        Self::DWORDS
                    }
                    #[inline(always)]
                    fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
                        Fixed::write(self, out)
                    }
                }
            }
        });
        let entry = self.plan.is_entry(id).then(|| self.container_entry(body));
        quote! {
            #head
            #[derive(Copy)]
            pub struct #name { #members }
            impl #name {
                /// The manual's name.
                pub const NAME: &'static str = <Self as Packed>::NAME;
                /// Size in dwords.
                pub const DWORDS: usize = #dwords;
                #constants
                #new
                /// The dwords, first one first.
                #[inline(always)]
                pub const fn pack(&self) -> [u32; #dwords] {
                    #pack
                }
                #stores
                /// Reads the dwords and checks every bit that has one legal value, and ranges.
                ///
                /// # Errors
                /// The first check that fails, with the field and its value.
                #[inline]
                pub const fn unpack(dwords: &[u32; #dwords]) -> Result<Self, UnpackError> {
                    #refuse
                    Ok(Self::unpack_lossy(dwords))
                }
                /// Reads the dwords as hardware does: opcode, length and reserved bits are not
                /// looked at.
                #[inline(always)]
                pub const fn unpack_lossy(#unused: &[u32; #dwords]) -> Self {
                    #lossy_before
                    Self { #lossy }
                }
                /// What [`unpack`](Self::unpack) checks.
                #[doc(hidden)]
                pub const CHECKS: &'static [Check] = #checks;
            }
            #packed
            impl Fixed for #name {
                type Dwords = [u32; #dwords];
                #[inline(always)]
                fn to_dwords(&self) -> Self::Dwords {
                    self.pack()
                }
                #put
                #[inline(always)]
                fn from_dwords(dwords: &Self::Dwords) -> Result<Self, UnpackError> {
                    Self::unpack(dwords)
                }
                #[inline(always)]
                fn from_dwords_lossy(dwords: &Self::Dwords) -> Self {
                    Self::unpack_lossy(dwords)
                }
            }
            impl Clone for #name {
                #[inline(always)]
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl PartialEq for #name {
                #[inline]
                fn eq(&self, other: &Self) -> bool {
                    alike(&self.pack(), &other.pack())
                }
            }
            impl Eq for #name {}
            impl fmt::Debug for #name {
                #[inline]
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    debug::<Self>(&self.pack(), f)
                }
            }
            #instruction
            #entry
        }
    }

    /// A container with a variable tail.
    fn variable(&self, id: ContainerId, body: &Body, tail: &Array) -> TokenStream {
        let (container, block) = (body.container, &body.block);
        let name = ident(&block.name);
        let head = self.head(body);
        let members = self.members(block, false);
        let tail_name = ident(&tail.member);
        let tail_ty = self.element_ty(&tail.element);
        let tail_doc = docs::doc(&tail_doc(tail));
        let derives = self.derives();
        let fixed = number(tail.group.start / 32);
        let needed = number((tail.group.start / 32).max(1));
        let new = self.new_fn(id, block, &[quote!(#tail_name: Entries::EMPTY)]);
        let packed = self.packed(id, body, &quote!(<'_>));

        let place = Place { array: false, ..Place::array() };
        let (lossy_before, lossy) = self.reads(block, &place, 0);
        let (checks, refuse) = self.checks(body);

        let bias = match container.kind {
            Kind::Instruction { bias, .. } => bias,
            _ => 0,
        };
        let length = length_field(container);
        let (write_length, check_length, total) = match length {
            None => (None, None, quote!(dwords.len())),
            Some(field) => {
                let (start, end, bias) = (number(field.start), number(field.end), number(bias));
                let max = pattern(u64::MAX >> (64 - (field.end - field.start + 1)));
                let length_name = &field.name;
                let write = match field.start % 32 {
                    0 => quote!((length - #bias) as u32),
                    shift => {
                        let shift = number(shift);
                        quote!(((length - #bias) as u32) << #shift)
                    }
                };
                let write = (field.start / 32, write);
                let check = quote! {
                    if length < #bias || length - #bias > #max {
                        return Err(PackError::Length { packet: Self::NAME, dwords: length, max: #max + #bias });
                    }
                };
                let strict = quote! {
                    let whole = value.dwords();
                    if whole != dwords.len() {
                        return Err(UnpackError::Fixed {
                            container: Self::NAME,
                            field: #length_name,
                            start: #start,
                            expected: (whole as u64).saturating_sub(#bias),
                            found: get(dwords, #start, #end),
                        });
                    }
                };
                (
                    Some(write),
                    Some((check, strict)),
                    quote!(get(dwords, #start, #end) as usize + #bias),
                )
            }
        };
        let (check_length, strict_length) = check_length.unzip();
        let mut words = fixed_dwords(container);
        words.resize(tail.group.start as usize / 32, 0);
        let Packing { array, rest } =
            self.dwords(block, &quote!(self), &words, &Vec::from_iter(write_length));
        let pack = match rest.is_empty() {
            true => quote!(*head = #array;),
            false => quote!(let mut dwords = #array; #rest *head = dwords;),
        };
        let constants = self.constants(body);
        let instruction = matches!(container.kind, Kind::Instruction { .. }).then(|| {
            quote! {
                impl Instruction for #name<'_> {
                    #[inline]
                    fn dwords(&self) -> usize {
                        self.dwords()
                    }
                    #[inline]
                    fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
                        self.pack_into(out)
                    }
                }
            }
        });
        quote! {
            #head
            #derives
            pub struct #name<'a> {
                #members
                #tail_doc
                pub #tail_name: Entries<'a, #tail_ty>,
            }
            impl<'a> #name<'a> {
                /// The manual's name.
                pub const NAME: &'static str = <Self as Packed>::NAME;
                /// Dwords before the tail.
                pub const FIXED_DWORDS: usize = #fixed;
                #constants
                #new
                /// Length in dwords, tail included.
                #[inline]
                pub const fn dwords(&self) -> usize {
                    #fixed + self.#tail_name.dwords()
                }
                /// Writes the dwords to the start of `out` and returns how many.
                ///
                /// # Errors
                /// [`PackError::Space`] if `out` is too short, [`PackError::Length`] if the length
                /// field cannot say how long the tail is.
                #[inline]
                pub fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
                    let length = self.dwords();
                    #check_length
                    let available = out.len();
                    let out = out.get_mut(..length).and_then(<[u32]>::split_first_chunk_mut);
                    let Some((head, tail)) = out else {
                        return Err(PackError::Space { packet: Self::NAME, needed: length, available });
                    };
                    #pack
                    self.#tail_name.put(tail);
                    Ok(length)
                }
                /// Length in dwords that the header says.
                fn length(dwords: &[u32]) -> usize {
                    #total
                }
                /// Reads the packet at the start of `dwords` and checks every bit that has one
                /// legal value, and ranges.
                ///
                /// # Errors
                /// [`UnpackError::Truncated`] if the packet goes on after the end, else the first
                /// check that fails.
                pub fn unpack(dwords: &'a [u32]) -> Result<Self, UnpackError> {
                    let needed = Self::length(dwords).max(#needed);
                    let available = dwords.len();
                    let Some(dwords) = dwords.get(..needed) else {
                        return Err(UnpackError::Truncated { container: Self::NAME, needed, available });
                    };
                    #refuse
                    let value = Self::unpack_lossy(dwords);
                    #strict_length
                    Ok(value)
                }
                /// Reads the packet at the start of `dwords` as hardware does: opcode and reserved
                /// bits are not looked at. What lies after the end of `dwords` reads as zero, and
                /// the tail ends there.
                pub fn unpack_lossy(dwords: &'a [u32]) -> Self {
                    let end = dwords.len().min(Self::length(dwords));
                    let tail = dwords.get(#fixed..end).unwrap_or(&[]);
                    #lossy_before
                    Self { #lossy #tail_name: Entries::Dwords(tail) }
                }
                /// What [`unpack`](Self::unpack) checks.
                #[doc(hidden)]
                pub const CHECKS: &'static [Check] = #checks;
            }
            #packed
            impl<'a> genxml_core::read::Codec<'a> for #name<'a> {
                #[inline]
                fn decode(dwords: &'a [u32]) -> Result<Self, UnpackError> {
                    Self::unpack(dwords)
                }
                #[inline]
                fn decode_lossy(dwords: &'a [u32]) -> Self {
                    Self::unpack_lossy(dwords)
                }
                #[inline]
                fn encoded_dwords(&self) -> usize {
                    self.dwords()
                }
                #[inline]
                fn encode(&self, out: &mut [u32]) -> Result<usize, PackError> {
                    self.pack_into(out)
                }
            }
            #instruction
        }
    }

    /// The table of the checks, and the statement that returns the first that fails.
    fn checks(&self, body: &Body) -> (TokenStream, TokenStream) {
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
        // Behind the last bit nothing may stand; where the structure is part of another, that is
        // the other's.
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

    /// Doc comment and alias.
    fn head(&self, body: &Body) -> TokenStream {
        let docs = docs::doc(&docs::container(body.container));
        let alias = docs::alias(&body.container.name, &body.block.name);
        quote!(#docs #alias)
    }

    /// `BITS`, `OFFSET`.
    fn constants(&self, body: &Body) -> TokenStream {
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

    /// `new`, over the required fields.
    fn new_fn(&self, id: ContainerId, block: &Block, more: &[TokenStream]) -> TokenStream {
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
            " All fields at their defaults."
        } else {
            " The fields that have no sensible default; all others at theirs."
        };
        quote! {
            #[doc = #doc]
            #[inline(always)]
            pub const fn new(#(#arguments),*) -> Self {
                Self { #(#values,)* #(#more,)* }
            }
        }
    }

    fn packed(&self, id: ContainerId, body: &Body, lifetime: &TokenStream) -> TokenStream {
        let name = ident(&body.block.name);
        let manual = &body.container.name;
        let tables = ident(&format!("{}_tables", self.plan.units[self.file]));
        let default = (!self.plan.needs_arguments(id)).then(|| {
            quote! {
                impl Default for #name #lifetime {
                    #[inline]
                    fn default() -> Self {
                        Self::new()
                    }
                }
            }
        });
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
            // It changes the pipeline: the module `pipeline` says who may emit it.
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

    /// `Entry` for a structure that arrays hold.
    fn container_entry(&self, body: &Body) -> TokenStream {
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

    /// The members' declarations.
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
    /// True if a variable array holds the structure directly.
    pub(super) fn is_entry(&self, id: ContainerId) -> bool {
        self.bodies.iter().filter_map(|body| body.tail.as_ref()).any(
            |tail| matches!(&tail.element, Element::Field(field) if field.ty == Type::Struct(id)),
        )
    }
}

/// Bits that are the same in every packet of the kind: opcode, must-be-one, and the length if it is
/// fixed.
fn fixed_dwords(container: &crate::model::Container) -> Vec<u32> {
    let mut dwords = vec![0; container.bits.div_ceil(32) as usize];
    let variable = container.groups.iter().any(|group| group.count == 0);
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

fn tail_doc(tail: &Array) -> Vec<String> {
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

/// Where a register is: `OFFSET`, and for one of several `offset`.
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
            /// Byte offset in the register space, of this engine's.
            pub const fn offset(engine: EngineBase) -> u32 { engine.base.wrapping_add(Self::OFFSET) }
        },
        (false, true) => quote! {
            /// Byte offset of the first in the register space.
            pub const OFFSET: u32 = #offset;
            /// How many there are.
            pub const COUNT: u32 = #count_;
            /// Byte offset in the register space, if there are so many.
            pub const fn offset(index: u32) -> Option<u32> { #index }
        },
        (true, true) => {
            let index = quote! {
                if index < #count_ { Some(engine.base.wrapping_add(Self::OFFSET + index * #stride)) } else { None }
            };
            quote! {
                /// Byte offset of the first from the engine's base.
                pub const OFFSET: u32 = #offset;
                /// How many there are.
                pub const COUNT: u32 = #count_;
                /// Byte offset in the register space, of this engine's, if there are so many.
                pub const fn offset(engine: EngineBase, index: u32) -> Option<u32> { #index }
            }
        }
    }
}
