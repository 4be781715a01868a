//! A container as Rust: the struct, `new`, `pack`, `unpack`, and the types of its arrays and alternatives.

use super::checks;
use super::docs;
use super::field::{Place, ident, index, number, pattern};
use super::plan::{
    Alternative, Array, Block, Body, Element, Member, Plan, Set, eval, is_member, length_field, put_bits,
    put_defaults,
};
use crate::model::{ContainerId, Expr, Kind, Op, Type};
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

struct Emit<'a> {
    plan: &'a Plan<'a>,
    file: usize,
    float: bool,
}

impl Emit<'_> {
    /// Fixed containers write their `Debug` by the tables.
    fn derives(&self, debug: bool) -> TokenStream {
        let eq = (!self.float).then(|| quote!(, Eq));
        let debug = debug.then(|| quote!(, Debug));
        quote!(#[derive(Clone, Copy, PartialEq #eq #debug)])
    }

    /// A container whose size is known.
    fn fixed(&self, id: ContainerId, body: &Body) -> TokenStream {
        let (container, block) = (body.container, &body.block);
        let name = ident(&block.name);
        let head = self.head(body);
        let members = self.members(block, false);
        let derives = self.derives(false);
        let dwords = number(container.bits.div_ceil(32));
        let new = self.new_fn(id, block, &[]);
        let packed = self.packed(id, body, &TokenStream::new());

        let place = Place::array();
        let words = fixed_dwords(container);
        let writes = self.writes(block, &place, quote!(self), 0);
        let fixed_bits = words.iter().enumerate().filter(|(_, word)| **word != 0).map(|(at, word)| {
            let (at, word) = (number(at as u32), pattern(u64::from(*word)));
            quote!(dwords[#at] = #word;)
        });
        let fixed_bits: Vec<TokenStream> = fixed_bits.collect();
        let mutable = (!writes.is_empty() || !fixed_bits.is_empty()).then(|| quote!(mut));
        let checks = checks::of(self.plan, body);
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
            #derives
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
                    let #mutable dwords = [0; #dwords];
                    #(#fixed_bits)*
                    #writes
                    dwords
                }
                /// Reads the dwords and checks every bit that has one legal value, and ranges.
                ///
                /// # Errors
                /// The first check that fails, with the field and its value.
                #[inline]
                pub const fn unpack(dwords: &[u32; #dwords]) -> Result<Self, UnpackError> {
                    match Check::all(Self::CHECKS, Self::NAME, dwords, 0) {
                        Ok(()) => Ok(Self::unpack_lossy(dwords)),
                        Err(error) => Err(error),
                    }
                }
                /// Reads the dwords as hardware does: opcode, length and reserved bits are not looked at.
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
                fn to_dwords(&self) -> [u32; #dwords] {
                    self.pack()
                }
                #[inline(always)]
                fn from_dwords(dwords: &[u32; #dwords]) -> Result<Self, UnpackError> {
                    Self::unpack(dwords)
                }
                #[inline(always)]
                fn from_dwords_lossy(dwords: &[u32; #dwords]) -> Self {
                    Self::unpack_lossy(dwords)
                }
            }
            impl fmt::Debug for #name {
                #[inline]
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    debug(Self::INFO, &self.pack(), f)
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
        let derives = self.derives(true);
        let fixed = number(tail.group.start / 32);
        let needed = number((tail.group.start / 32).max(1));
        let new = self.new_fn(id, block, &[quote!(#tail_name: Entries::EMPTY)]);
        let packed = self.packed(id, body, &quote!(<'_>));

        let place = Place { put: quote!(dwords), ..Place::array() };
        let words = fixed_dwords(container);
        let fixed_bits = words.iter().enumerate().filter(|(_, word)| **word != 0).map(|(at, word)| {
            let (at, word) = (number(at as u32), pattern(u64::from(*word)));
            quote!(dwords[#at] = #word;)
        });
        let writes = self.writes(block, &place, quote!(self), 0);
        let (lossy_before, lossy) = self.reads(block, &place, 0);
        let checks = checks::of(self.plan, body);

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
                let write = quote!(put(dwords, #start, #end, (length - #bias) as u64););
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
                (Some(write), Some((check, strict)), quote!(get(dwords, #start, #end) as usize + #bias))
            }
        };
        let (check_length, strict_length) = check_length.unzip();
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
                /// [`PackError::Space`] if `out` is too short, [`PackError::Length`] if the length field cannot say
                /// how long the tail is.
                #[inline]
                pub fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
                    let length = self.dwords();
                    #check_length
                    let available = out.len();
                    let Some(dwords) = out.get_mut(..length) else {
                        return Err(PackError::Space { packet: Self::NAME, needed: length, available });
                    };
                    dwords.fill(0);
                    #(#fixed_bits)*
                    #write_length
                    #writes
                    self.#tail_name.put(&mut dwords[#fixed..]);
                    Ok(length)
                }
                /// Length in dwords that the header says.
                fn length(dwords: &[u32]) -> usize {
                    #total
                }
                /// Reads the packet at the start of `dwords` and checks every bit that has one legal value, and ranges.
                ///
                /// # Errors
                /// [`UnpackError::Truncated`] if the packet goes on after the end, else the first check that fails.
                pub fn unpack(dwords: &'a [u32]) -> Result<Self, UnpackError> {
                    let needed = Self::length(dwords).max(#needed);
                    let available = dwords.len();
                    let Some(dwords) = dwords.get(..needed) else {
                        return Err(UnpackError::Truncated { container: Self::NAME, needed, available });
                    };
                    Check::all(Self::CHECKS, Self::NAME, dwords, 0)?;
                    let value = Self::unpack_lossy(dwords);
                    #strict_length
                    Ok(value)
                }
                /// Reads the packet at the start of `dwords` as hardware does: opcode and reserved bits are not looked
                /// at. What lies after the end of `dwords` reads as zero, and the tail ends there.
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
            #instruction
        }
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
                    fn default() -> Self {
                        Self::new()
                    }
                }
            }
        });
        let engines = match body.container.kind {
            Kind::Instruction { engines, .. } => engines,
            _ => 0,
        };
        let markers = ["RenderCommand", "BlitterCommand", "VideoCommand", "VideoEnhanceCommand"];
        let markers =
            markers.iter().enumerate().filter(|(bit, _)| engines >> bit & 1 == 1).map(|(_, marker)| {
                let marker = ident(marker);
                quote!(impl super::engine::#marker for #name #lifetime {})
            });
        quote! {
            #default
            impl Packed for #name #lifetime {
                const NAME: &'static str = #manual;
                const INFO: &'static Container = &super::#tables::#name;
            }
            #(#markers)*
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
    fn members(&self, block: &Block, relative: bool) -> TokenStream {
        let members = block.members.iter().map(|member| {
            let name = ident(member_name(member));
            let (doc, ty) = match member {
                Member::Field(_, field) => (docs::field(field, relative), self.plan.ty(field, self.file)),
                Member::Set(set) => {
                    let ty = ident(&set.ty);
                    let names: Vec<String> = set.alternatives.iter().map(|a| a.variant.clone()).collect();
                    (vec![format!("One of {}.", names.join(", "))], quote!(#ty))
                }
                Member::Array(array) => (array_doc(array, relative), self.array_ty(array)),
            };
            let doc = docs::doc(&doc);
            quote!(#doc pub #name: #ty,)
        });
        quote!(#(#members)*)
    }

    fn array_ty(&self, array: &Array) -> TokenStream {
        let element = self.element_ty(&array.element);
        let count = number(array.group.count);
        quote!([#element; #count])
    }

    fn element_ty(&self, element: &Element) -> TokenStream {
        match element {
            Element::Field(field) => self.plan.ty(field, self.file),
            Element::Array(array) => self.array_ty(array),
            Element::Block(block) => {
                let name = ident(&block.name);
                quote!(#name)
            }
        }
    }

    fn member_default(&self, member: &Member, defaults: &[u32]) -> TokenStream {
        match member {
            Member::Field(_, field) => self.plan.default(field, self.file),
            Member::Array(array) => self.array_default(array),
            Member::Set(set) => {
                let ty = ident(&set.ty);
                let read = |(start, end): (u32, u32)| {
                    (start..=end).rev().fold(0, |v, bit| v << 1 | bit_of(defaults, bit))
                };
                let chosen =
                    set.alternatives.iter().find(|a| a.condition.is_none_or(|c| eval(c, &read) != 0));
                let Some(chosen) = chosen.or(set.alternatives.last().filter(|_| !set.absent)) else {
                    return quote!(#ty::Absent);
                };
                let variant = ident(&chosen.variant);
                let fields = chosen.fields.iter().map(|(name, field)| {
                    let (name, value) = (ident(name), self.plan.default(field, self.file));
                    quote!(#name: #value)
                });
                quote!(#ty::#variant { #(#fields),* })
            }
        }
    }

    fn array_default(&self, array: &Array) -> TokenStream {
        let element = match &array.element {
            Element::Field(field) => self.plan.default(field, self.file),
            Element::Array(array) => self.array_default(array),
            Element::Block(block) => {
                let name = ident(&block.name);
                quote!(#name::new())
            }
        };
        let count = number(array.group.count);
        quote!([#element; #count])
    }

    /// Statements that write all members of `from`.
    fn writes(&self, block: &Block, place: &Place, from: TokenStream, depth: usize) -> TokenStream {
        let writes = block.members.iter().map(|member| {
            let name = ident(member_name(member));
            match member {
                Member::Field(_, field) => self.plan.put(field, place, quote!(#from.#name)),
                Member::Array(array) => self.write_array(array, place, quote!(#from.#name), depth),
                Member::Set(set) => {
                    let ty = ident(&set.ty);
                    let arms = set.alternatives.iter().map(|alternative| {
                        let variant = ident(&alternative.variant);
                        let bound: Vec<_> =
                            alternative.fields.iter().map(|(name, _)| binding(name)).collect();
                        let patterns = alternative.fields.iter().zip(&bound).map(|((name, _), bound)| {
                            let name = ident(name);
                            if name == *bound { quote!(#name) } else { quote!(#name: #bound) }
                        });
                        let puts = alternative.fields.iter().zip(&bound);
                        let puts =
                            puts.map(|((_, field), bound)| self.plan.put(field, place, quote!(#bound)));
                        quote!(#ty::#variant { #(#patterns),* } => { #(#puts)* })
                    });
                    let absent = set.absent.then(|| quote!(#ty::Absent => {}));
                    quote!(match #from.#name { #(#arms)* #absent })
                }
            }
        });
        quote!(#(#writes)*)
    }

    fn write_array(&self, array: &Array, place: &Place, value: TokenStream, depth: usize) -> TokenStream {
        let index = index(depth);
        let inner = place.element(array.group.start, array.group.bits, &index);
        let value = quote!(#value[#index as usize]);
        let write = match &array.element {
            Element::Field(field) => self.plan.put(field, &inner, value),
            Element::Array(array) => self.write_array(array, &inner, value, depth + 1),
            Element::Block(_) => {
                let (put, at) = (&inner.put, inner.at(0));
                quote!(#value.put(#put, #at);)
            }
        };
        let count = number(array.group.count);
        quote! {
            let mut #index = 0;
            while #index < #count {
                #write
                #index += 1;
            }
        }
    }

    /// Statements that prepare, and the members' values.
    fn reads(&self, block: &Block, place: &Place, depth: usize) -> (TokenStream, TokenStream) {
        let mut before = Vec::new();
        let mut values = Vec::new();
        for member in &block.members {
            let name = ident(member_name(member));
            let value = match member {
                Member::Field(_, field) => self.plan.get(field, place, self.file),
                Member::Set(set) => self.read_set(set, place),
                Member::Array(array) => {
                    let local = binding(&array.member);
                    let default = self.array_default(array);
                    before.push(quote!(let mut #local = #default;));
                    before.push(self.read_array(array, place, quote!(#local), depth));
                    if local == name {
                        values.push(quote!(#name,));
                        continue;
                    }
                    quote!(#local)
                }
            };
            values.push(quote!(#name: #value,));
        }
        (quote!(#(#before)*), quote!(#(#values)*))
    }

    fn read_set(&self, set: &Set, place: &Place) -> TokenStream {
        let ty = ident(&set.ty);
        let value = |alternative: &Alternative| {
            let variant = ident(&alternative.variant);
            let fields = alternative.fields.iter().map(|(name, field)| {
                let (name, value) = (ident(name), self.plan.get(field, place, self.file));
                quote!(#name: #value)
            });
            quote!(#ty::#variant { #(#fields),* })
        };
        let mut text = if set.absent { Some(quote!({ #ty::Absent })) } else { None };
        for alternative in set.alternatives.iter().rev() {
            let value = value(alternative);
            text = Some(match (text, alternative.condition) {
                (Some(rest), Some(condition)) => {
                    let condition = condition_of(condition, place);
                    quote!(if #condition { #value } else #rest)
                }
                _ => quote!({ #value }),
            });
        }
        text.unwrap_or_else(|| quote!({ #ty::Absent }))
    }

    fn read_array(&self, array: &Array, place: &Place, value: TokenStream, depth: usize) -> TokenStream {
        let index = index(depth);
        let inner = place.element(array.group.start, array.group.bits, &index);
        let value = quote!(#value[#index as usize]);
        let read = match &array.element {
            Element::Field(field) => {
                let get = self.plan.get(field, &inner, self.file);
                quote!(#value = #get;)
            }
            Element::Array(array) => self.read_array(array, &inner, value, depth + 1),
            Element::Block(block) => {
                let (name, at, get) = (ident(&block.name), inner.at(0), &inner.get);
                quote!(#value = #name::get(#get, #at);)
            }
        };
        let count = number(array.group.count);
        quote! {
            let mut #index = 0;
            while #index < #count {
                #read
                #index += 1;
            }
        }
    }

    /// The types of a block's sets and arrays.
    fn extra_types(&self, block: &Block, out: &mut Vec<TokenStream>) {
        for member in &block.members {
            match member {
                Member::Field(..) => {}
                Member::Set(set) => out.push(self.set_type(set, &block.name)),
                Member::Array(array) => self.extra_array(array, out),
            }
        }
    }

    fn extra_array(&self, array: &Array, out: &mut Vec<TokenStream>) {
        match &array.element {
            Element::Field(_) => {}
            Element::Array(inner) => self.extra_array(inner, out),
            Element::Block(block) => {
                out.push(self.element_type(block, array.group.count == 0));
                self.extra_types(block, out);
            }
        }
    }

    fn set_type(&self, set: &Set, parent: &str) -> TokenStream {
        let name = ident(&set.ty);
        let derives = self.derives(true);
        let doc = format!(" What [`{parent}`] holds, by its other fields.");
        let variants = set.alternatives.iter().map(|alternative| {
            let variant = ident(&alternative.variant);
            let doc = match alternative.condition {
                Some(condition) => format!(" Where {}.", docs::escape(&words(condition))),
                None => " Otherwise.".to_string(),
            };
            let fields = alternative.fields.iter().map(|(name, field)| {
                let (name, ty) = (ident(name), self.plan.ty(field, self.file));
                let doc = docs::doc(&docs::field(field, false));
                quote!(#doc #name: #ty)
            });
            quote!(#[doc = #doc] #variant { #(#fields),* })
        });
        let absent = set.absent.then(|| {
            quote!(
                #[doc = " None of these: the bits are zero."]
                Absent,
            )
        });
        quote! {
            #[doc = #doc]
            #derives
            pub enum #name { #(#variants,)* #absent }
        }
    }

    /// The struct of an array's element.
    fn element_type(&self, block: &Block, variable: bool) -> TokenStream {
        let name = ident(&block.name);
        let derives = self.derives(true);
        let members = self.members(block, true);
        let bits = number(block.bits);
        let place = Place::slice();
        let writes = self.writes(block, &place, quote!(self), 0);
        let (before, values) = self.reads(block, &place, 0);
        let mut defaults = vec![0; block.bits.div_ceil(32) as usize];
        put_defaults(&block.fields.iter().map(|f| (*f).clone()).collect::<Vec<_>>(), 0, &mut defaults);
        let fields = block.members.iter().map(|member| {
            let (name, value) = (ident(member_name(member)), self.member_default(member, &defaults));
            quote!(#name: #value)
        });
        let ones = block.fields.iter().filter(|field| field.ty == Type::MustBeOne && field.variant.is_none());
        let ones = ones.map(|field| {
            let (start, end) = (place.at(field.start), place.at(field.end));
            let ones = pattern(u64::MAX >> (63 - (field.end - field.start).min(63)));
            quote!(put(dwords, #start, #end, #ones);)
        });
        let doc = format!(" One element of an array of {bits} bits each.");
        let entry = variable.then(|| {
            quote! {
                impl Entry for #name {
                    const BITS: u32 = #bits;
                    #[inline]
                    fn put(&self, dwords: &mut [u32], start: u32) {
                        #name::put(self, dwords, start);
                    }
                    #[inline]
                    fn get(dwords: &[u32], start: u32) -> Self {
                        #name::get(dwords, start)
                    }
                }
            }
        });
        quote! {
            #[doc = #doc]
            #derives
            pub struct #name { #members }
            impl #name {
                /// All fields at their defaults.
                #[inline(always)]
                pub const fn new() -> Self {
                    Self { #(#fields),* }
                }
                /// Writes the element at bit `start`, where all is zero so far.
                #[inline(always)]
                pub const fn put(&self, dwords: &mut [u32], start: u32) {
                    #(#ones)*
                    #writes
                }
                /// Reads the element at bit `start`.
                #[inline(always)]
                pub const fn get(dwords: &[u32], start: u32) -> Self {
                    #before
                    Self { #values }
                }
            }
            impl Default for #name {
                fn default() -> Self {
                    Self::new()
                }
            }
            #entry
        }
    }
}

impl Plan<'_> {
    /// True if a variable array holds the structure directly.
    fn is_entry(&self, id: ContainerId) -> bool {
        self.bodies
            .iter()
            .filter_map(|body| body.tail.as_ref())
            .any(|tail| matches!(&tail.element, Element::Field(field) if field.ty == Type::Struct(id)))
    }
}

/// Bits that are the same in every packet of the kind: opcode, must-be-one, and the length if it is fixed.
fn fixed_dwords(container: &crate::model::Container) -> Vec<u32> {
    let mut dwords = vec![0; container.bits.div_ceil(32) as usize];
    let variable = container.groups.iter().any(|group| group.count == 0);
    let bias = match container.kind {
        Kind::Instruction { bias, .. } => bias,
        _ => 0,
    };
    for field in container.fields.iter().filter(|field| field.variant.is_none() && !is_member(field)) {
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

fn bit_of(dwords: &[u32], bit: u32) -> u64 {
    dwords.get((bit / 32) as usize).map_or(0, |dword| u64::from(dword >> (bit % 32) & 1))
}

/// Name of a member.
pub fn member_name<'a>(member: &'a Member) -> &'a str {
    match member {
        Member::Field(name, _) => name,
        Member::Set(set) => &set.member,
        Member::Array(array) => &array.member,
    }
}

/// A local variable for a member, beside those that the text uses.
fn binding(name: &str) -> proc_macro2::Ident {
    const USED: &[&str] = &[
        "dwords",
        "start",
        "get",
        "put",
        "get_array",
        "put_array",
        "array",
        "narrow",
        "i",
        "j",
        "k",
        "out",
        "length",
        "tail",
        "end",
    ];
    if USED.contains(&name) { ident(&format!("{name}_value")) } else { ident(name) }
}

/// A condition as Rust where `if` stands before it.
fn condition_of(expr: &Expr, place: &Place) -> TokenStream {
    match expr {
        Expr::Binary(op @ (Op::Or | Op::And), left, right) => {
            let (left, right) = (truth(left, place), truth(right, place));
            if *op == Op::Or { quote!(#left || #right) } else { quote!(#left && #right) }
        }
        other => truth(other, place),
    }
}

/// A condition as Rust, true or false.
fn truth(expr: &Expr, place: &Place) -> TokenStream {
    let operands = |left, right| (value(left, place), value(right, place));
    match expr {
        Expr::Binary(Op::Or, left, right) => {
            let (left, right) = (truth(left, place), truth(right, place));
            quote!((#left || #right))
        }
        Expr::Binary(Op::And, left, right) => {
            let (left, right) = (truth(left, place), truth(right, place));
            quote!((#left && #right))
        }
        Expr::Not(inner) => {
            let inner = truth(inner, place);
            quote!(!(#inner))
        }
        Expr::Binary(op @ (Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge), left, right) => {
            let (left, right) = operands(left, right);
            match op {
                Op::Eq => quote!(#left == #right),
                Op::Ne => quote!(#left != #right),
                Op::Lt => quote!(#left < #right),
                Op::Le => quote!(#left <= #right),
                Op::Gt => quote!(#left > #right),
                _ => quote!(#left >= #right),
            }
        }
        other => {
            let value = value(other, place);
            quote!(#value != 0)
        }
    }
}

/// An expression as Rust, a `u64`.
fn value(expr: &Expr, place: &Place) -> TokenStream {
    match expr {
        Expr::Number(number) => pattern(*number),
        Expr::Field { start, end, .. } => {
            let (start, end, dwords) = (place.at(*start), place.at(*end), &place.get);
            quote!(get(#dwords, #start, #end))
        }
        Expr::Binary(op @ (Op::BitAnd | Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem), left, right) => {
            let (left, right) = (value(left, place), value(right, place));
            match op {
                Op::BitAnd => quote!((#left & #right)),
                Op::Add => quote!(u64::wrapping_add(#left, #right)),
                Op::Sub => quote!(u64::wrapping_sub(#left, #right)),
                Op::Mul => quote!(u64::wrapping_mul(#left, #right)),
                Op::Div => quote!(match u64::checked_div(#left, #right) { Some(times) => times, None => 0 }),
                _ => quote!(match u64::checked_rem(#left, #right) { Some(rest) => rest, None => 0 }),
            }
        }
        other => {
            let truth = truth(other, place);
            quote!((#truth) as u64)
        }
    }
}

/// A condition for people.
pub fn words(expr: &Expr) -> String {
    match expr {
        Expr::Number(value) => value.to_string(),
        Expr::Field { name, .. } => name.clone(),
        Expr::Not(inner) => format!("not ({})", words(inner)),
        Expr::Binary(op, left, right) => {
            let op = match op {
                Op::Or => "or",
                Op::And => "and",
                Op::Eq => "=",
                Op::Ne => "≠",
                Op::Lt => "<",
                Op::Le => "≤",
                Op::Gt => ">",
                Op::Ge => "≥",
                Op::BitAnd => "&",
                Op::Add => "+",
                Op::Sub => "-",
                Op::Mul => "×",
                Op::Div => "/",
                Op::Rem => "mod",
            };
            format!("{} {op} {}", words(left), words(right))
        }
    }
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
    let mut doc =
        vec![format!("dw{} to the end · elements of {} bits", tail.group.start / 32, tail.group.bits)];
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
