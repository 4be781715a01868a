//! Generates the code that writes the members of a block to dwords and reads them.

use super::condition::condition_of;
use super::emitter::Emit;
use super::field::{Place, ident, index, is_flag, number, pattern};
use super::flags::combine;
use super::plan::{Alternative, Array, Block, Element, Member, Set, put_bits};
use crate::model::{Field, Type};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::HashSet;

/// Maximum number of consecutive zero dwords that single statements write. A loop writes more.
const LONG_GAP: usize = 8;

/// Maximum number of dwords of an array of structures that is written without a loop.
const SHORT_ARRAY: u32 = 16;

/// The code that packs a block into an array.
pub(super) struct Packing {
    /// The array. Each dword is one expression.
    pub array: TokenStream,
    /// Statements that write the remaining members to `dwords`.
    pub rest: TokenStream,
}

/// Terms for runs of flags that are packed together, with the dword of each term, and the indices
/// of their members.
fn flags(block: &Block, from: &TokenStream) -> (Vec<(u32, TokenStream)>, HashSet<usize>) {
    let flags: Vec<(usize, u32)> = block
        .members
        .iter()
        .enumerate()
        .filter_map(|(i, member)| match member {
            Member::Field(_, field) if is_flag(field) => Some((i, field.start)),
            _ => None,
        })
        .collect();
    let (mut terms, mut combined) = (Vec::new(), HashSet::new());
    for same_dword in flags.chunk_by(|(_, one), (_, other)| one / 32 == other / 32) {
        let value = |(i, start): &(usize, u32)| {
            let name = ident(member_name(&block.members[*i]));
            (start % 32, quote!(#from.#name))
        };
        let values: Vec<(u32, TokenStream)> = same_dword.iter().map(value).collect();
        for (run, term) in combine(&values) {
            terms.push((same_dword[0].1 / 32, term));
            combined.extend(same_dword[run].iter().map(|(i, _)| *i));
        }
    }
    (terms, combined)
}

impl Emit<'_> {
    pub(super) fn member_default(&self, member: &Member, defaults: &[u32]) -> TokenStream {
        match member {
            Member::Field(_, field) => self.plan.default(field, self.file),
            Member::Array(array) => self.array_default(array),
            Member::Set(set) => {
                let ty = ident(&set.ty);
                let read = |start: u32, end: u32| {
                    (start..=end).rev().fold(0, |v, bit| v << 1 | bit_of(defaults, bit))
                };
                let chosen = set
                    .alternatives
                    .iter()
                    .find(|a| a.condition.is_none_or(|c| c.eval(&read) != 0));
                let Some(chosen) = chosen.or(set.alternatives.last().filter(|_| !set.absent))
                else {
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

    pub(super) fn array_default(&self, array: &Array) -> TokenStream {
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

    /// The code that packs a block at the start of an array. Each dword is an expression over
    /// `from`. Statements add alternatives, arrays and structures of several dwords. `words` are
    /// the fixed bits, `more` are further terms, each with its dword.
    pub(super) fn dwords(
        &self,
        block: &Block,
        from: &TokenStream,
        words: &[u32],
        more: &[(u32, TokenStream)],
    ) -> Packing {
        let (dwords, rest) = self.expressions(block, &Place::array(), from, words, more);
        let dwords = dwords.into_iter().map(|dword| dword.unwrap_or(quote!(0)));
        Packing { array: quote!([#(#dwords),*]), rest }
    }

    /// Statements that write every dword of a block through the array reference `dwords`, so no
    /// array is built and copied. For long blocks with arrays.
    pub(super) fn stores(&self, block: &Block, from: &TokenStream, words: &[u32]) -> TokenStream {
        let (dwords, rest) = self.expressions(block, &Place::reference(), from, words, &[]);
        let mut covered = vec![false; dwords.len()];
        for member in &block.members {
            if let Member::Array(array) = member
                && self.whole_dwords(array, &Place::reference(), from).is_some()
            {
                let (start, count) =
                    (array.group.start / 32, array.group.count * array.group.bits / 32);
                covered
                    .iter_mut()
                    .skip(start as usize)
                    .take(count as usize)
                    .for_each(|dword| *dword = true);
            }
        }
        let mut stores = Vec::new();
        let mut at = 0;
        while at < dwords.len() {
            let place = number(at as u32);
            match &dwords[at] {
                Some(dword) => stores.push(quote!(dwords[#place] = #dword;)),
                None if covered[at] => {}
                None => {
                    let zero = |at: &usize| dwords[*at].is_none() && !covered[*at];
                    let count = (at..dwords.len()).take_while(zero).count();
                    if count > LONG_GAP {
                        let end = number((at + count) as u32);
                        stores.push(quote! {
                            let mut i = #place;
                            while i < #end {
                                dwords[i] = 0;
                                i += 1;
                            }
                        });
                        at += count;
                        continue;
                    }
                    stores.push(quote!(dwords[#place] = 0;));
                }
            }
            at += 1;
        }
        quote!(#(#stores)* #rest)
    }

    /// An expression for each dword (`None` if it has no bits), and statements for the other
    /// members.
    fn expressions(
        &self,
        block: &Block,
        place: &Place,
        from: &TokenStream,
        words: &[u32],
        more: &[(u32, TokenStream)],
    ) -> (Vec<Option<TokenStream>>, TokenStream) {
        let fixed = words.iter().map(|word| (*word != 0).then(|| pattern(u64::from(*word))));
        let mut dwords: Vec<Vec<TokenStream>> =
            fixed.map(|word| word.into_iter().collect()).collect();
        let mut rest = Vec::new();
        let mut add = |terms: Vec<(u32, TokenStream)>| {
            for (dword, term) in terms {
                if let Some(dword) = dwords.get_mut(dword as usize) {
                    dword.push(term);
                }
            }
        };
        add(more.to_vec());
        let (flags, combined) = flags(block, from);
        add(flags);
        for (i, member) in block.members.iter().enumerate() {
            if combined.contains(&i) {
                continue;
            }
            let name = ident(member_name(member));
            let terms = match member {
                Member::Field(_, field) => self.plan.terms(field, quote!(#from.#name)),
                Member::Array(array) => self.unrolled(array, place, &quote!(#from.#name)),
                Member::Set(_) => None,
            };
            match terms {
                Some(terms) => add(terms),
                None => rest.push(self.write(member, place, from.clone(), 0)),
            }
        }
        let dwords =
            dwords.into_iter().map(|terms| (!terms.is_empty()).then(|| quote!(#(#terms)|*)));
        (dwords.collect(), quote!(#(#rest)*))
    }

    /// Statements that write all members of `from`.
    pub(super) fn writes(
        &self,
        block: &Block,
        place: &Place,
        from: TokenStream,
        depth: usize,
    ) -> TokenStream {
        let writes =
            block.members.iter().map(|member| self.write(member, place, from.clone(), depth));
        quote!(#(#writes)*)
    }

    /// Statements that write a member of `from`.
    fn write(
        &self,
        member: &Member,
        place: &Place,
        from: TokenStream,
        depth: usize,
    ) -> TokenStream {
        let name = ident(member_name(member));
        match member {
            Member::Field(_, field) => self.write_field(field, place, quote!(#from.#name)),
            Member::Array(array) => self.write_array(array, place, quote!(#from.#name), depth),
            Member::Set(set) => {
                let ty = ident(&set.ty);
                let arms = set.alternatives.iter().map(|alternative| {
                    let variant = ident(&alternative.variant);
                    let bound: Vec<_> =
                        alternative.fields.iter().map(|(name, _)| binding(name)).collect();
                    let patterns =
                        alternative.fields.iter().zip(&bound).map(|((name, _), bound)| {
                            let name = ident(name);
                            if name == *bound { quote!(#name) } else { quote!(#name: #bound) }
                        });
                    let puts = alternative.fields.iter().zip(&bound);
                    let puts = puts
                        .map(|((_, field), bound)| self.write_field(field, place, quote!(#bound)));
                    let ones = alternative.ones.iter().map(|field| {
                        let (put, start, end) =
                            (&place.put, place.at(field.start), place.at(field.end));
                        let ones = pattern(u64::MAX >> (63 - (field.end - field.start).min(63)));
                        quote!(put(#put, #start, #end, #ones);)
                    });
                    quote!(#ty::#variant { #(#patterns),* } => { #(#puts)* #(#ones)* })
                });
                let absent = set.absent.then(|| quote!(#ty::Absent => {}));
                quote!(match #from.#name { #(#arms)* #absent })
            }
        }
    }

    fn write_field(&self, field: &Field, place: &Place, value: TokenStream) -> TokenStream {
        match self.plan.terms(field, value.clone()).filter(|_| place.array) {
            Some(terms) => {
                let statements = terms.into_iter().map(|(dword, term)| {
                    let dword = number(dword);
                    quote!(dwords[#dword] |= #term;)
                });
                quote!(#(#statements)*)
            }
            None => self.plan.put(field, place, value),
        }
    }

    pub(super) fn write_array(
        &self,
        array: &Array,
        place: &Place,
        value: TokenStream,
        depth: usize,
    ) -> TokenStream {
        let index = index(depth);
        if let Some(whole) = self.whole_dwords(array, place, &value) {
            return whole;
        }
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
        for_each(&index, array.group.count, &write)
    }

    /// A term for each dword of a short array whose elements are structures of whole dwords. With a
    /// loop, the compiler would build the array in memory, write single elements, and copy it.
    fn unrolled(
        &self,
        array: &Array,
        place: &Place,
        value: &TokenStream,
    ) -> Option<Vec<(u32, TokenStream)>> {
        let group = array.group;
        let Element::Field(field) = &array.element else { return None };
        let Type::Struct(id) = &field.ty else { return None };
        let whole = field.start == 0
            && field.end + 1 == group.bits
            && self.plan.spec.containers[id.0].bits == group.bits
            && group.bits.is_multiple_of(32)
            && group.start.is_multiple_of(32);
        let each = group.bits / 32;
        if !place.array || !whole || group.count * each > SHORT_ARRAY {
            return None;
        }
        let term = |i: u32| {
            let (element, dword) = (number(i / each), number(i % each));
            (group.start / 32 + i, quote!(#value[#element].pack()[#dword]))
        };
        Some((0..group.count * each).map(term).collect())
    }

    /// A loop over the dwords of an array whose elements fill whole dwords. Each step stores one
    /// dword.
    fn whole_dwords(
        &self,
        array: &Array,
        place: &Place,
        value: &TokenStream,
    ) -> Option<TokenStream> {
        let group = array.group;
        let field = match &array.element {
            Element::Field(field) => field,
            Element::Block(block) => return self.whole_blocks(array, block, place, value),
            Element::Array(_) => return None,
        };
        let fills = matches!(group.bits, 4 | 8 | 16 | 32)
            && field.start == 0
            && field.end + 1 == group.bits;
        let each = 32 / group.bits.max(1);
        if !place.array
            || !fills
            || !group.start.is_multiple_of(32)
            || !group.count.is_multiple_of(each)
        {
            return None;
        }
        let terms = (0..each).map(|element| {
            let (times, element_) = (number(each), number(element));
            let at = match (element, each) {
                (0, 1) => quote!(i),
                (0, _) => quote!(#times * i),
                _ => quote!(#times * i + #element_),
            };
            let term = match &self.plan.terms(field, quote!(#value[#at]))?[..] {
                [(0, term)] => term.clone(),
                _ => return None,
            };
            let shift = number(element * group.bits);
            Some(if element == 0 { term } else { quote!((#term) << #shift) })
        });
        let terms = terms.collect::<Option<Vec<_>>>()?;
        let at = dword_at(group.start / 32, 1);
        let store = quote!(dwords[#at] = #(#terms)|*;);
        Some(for_each(&index(0), group.count / each, &store))
    }

    /// Does the same as [`whole_dwords`](Self::whole_dwords) for elements of several fields.
    fn whole_blocks(
        &self,
        array: &Array,
        block: &Block,
        place: &Place,
        value: &TokenStream,
    ) -> Option<TokenStream> {
        let group = array.group;
        if !place.array
            || !group.bits.is_multiple_of(32)
            || !group.start.is_multiple_of(32)
            || block.bits != group.bits
        {
            return None;
        }
        let mut words = vec![0; (group.bits / 32) as usize];
        for field in &block.fields {
            if field.ty == Type::MustBeOne && field.variant.is_none() {
                put_bits(&mut words, field.start, field.end, u64::MAX);
            }
        }
        let Packing { array, rest } = self.dwords(block, &quote!(element), &words, &[]);
        if !rest.is_empty() {
            return None;
        }
        let size = group.bits / 32;
        let stores = (0..size).map(|word| {
            let (word_, at) = (number(word), dword_at(group.start / 32 + word, size));
            quote!(dwords[#at] = packed[#word_];)
        });
        let write = quote! {
            let element = &#value[i];
            let packed = #array;
            #(#stores)*
        };
        Some(for_each(&index(0), group.count, &write))
    }

    /// The code that reads a block: statements that must run first, and the values of the members.
    pub(super) fn reads(
        &self,
        block: &Block,
        place: &Place,
        depth: usize,
    ) -> (TokenStream, TokenStream) {
        let mut before = Vec::new();
        let mut values = Vec::new();
        for member in &block.members {
            let name = ident(member_name(member));
            let value = match member {
                Member::Field(_, field) => self.plan.get(field, place, self.file),
                Member::Set(set) => self.read_set(set, place),
                Member::Array(array) if let Some(elements) = self.few(array, place) => elements,
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

    /// An array expression that reads up to [`FEW`] structures one by one. A loop would fill a
    /// temporary array and copy it.
    fn few(&self, array: &Array, place: &Place) -> Option<TokenStream> {
        let group = array.group;
        if !place.array || group.count > FEW {
            return None;
        }
        let elements = (0..group.count).map(|element| {
            let at = number(group.start + element * group.bits);
            let inner = Place { base: Some(quote!(#at)), array: false, ..place.clone() };
            match &array.element {
                Element::Field(field)
                    if matches!(field.ty, Type::Struct(_)) && field.start == 0 =>
                {
                    Some(self.plan.get(field, &inner, self.file))
                }
                Element::Block(block) => {
                    let (name, get) = (ident(&block.name), &inner.get);
                    Some(quote!(#name::get(#get, #at)))
                }
                Element::Field(_) | Element::Array(_) => None,
            }
        });
        let elements = elements.collect::<Option<Vec<_>>>()?;
        Some(quote!([#(#elements),*]))
    }

    pub(super) fn read_set(&self, set: &Set, place: &Place) -> TokenStream {
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

    pub(super) fn read_array(
        &self,
        array: &Array,
        place: &Place,
        value: TokenStream,
        depth: usize,
    ) -> TokenStream {
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
        for_each(&index, array.group.count, &read)
    }
}

/// A loop that runs `body` with every `index` below `count`.
fn for_each(index: &Ident, count: u32, body: &TokenStream) -> TokenStream {
    let count = number(count);
    quote! {
        let mut #index = 0;
        while #index < #count {
            #body
            #index += 1;
        }
    }
}

/// The index of a dword of element `i`: `first` is its index in element 0, `size` the number of
/// dwords of an element.
fn dword_at(first: u32, size: u32) -> TokenStream {
    let (first_, size_) = (number(first), number(size));
    match (first, size) {
        (0, 1) => quote!(i),
        (0, _) => quote!(#size_ * i),
        (_, 1) => quote!(#first_ + i),
        _ => quote!(#first_ + #size_ * i),
    }
}

/// Maximum number of array elements that are read one by one.
const FEW: u32 = 8;

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

/// The name of a local variable for a member, distinct from the names that generated code uses.
pub(super) fn binding(name: &str) -> Ident {
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
