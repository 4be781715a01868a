//! The checks of strict readers, in two forms. A table (`genxml_core::Check`) finds the first check
//! that fails. One expression over whole dwords quickly shows that no check fails.

use super::condition::{condition_of, constant};
use super::field::{Place, address_shift, number, path, pattern};
use super::plan::{Body, Plan, is_member};
use crate::model::{Container, ContainerId, Expr, Field, Group, Kind, Type};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use std::collections::BTreeMap;
use std::ops::Range;

/// The checks of a container in order of their first bit.
pub struct Checks<'a> {
    plan: &'a Plan<'a>,
    container: &'a Container,
    rows: Vec<Row<'a>>,
}

/// A row of the table; the same as `genxml_core::Check`.
enum Row<'a> {
    Fixed {
        field: &'a str,
        start: u32,
        end: u32,
        value: u64,
    },
    Gap {
        start: u32,
        end: u32,
    },
    Range {
        field: &'a str,
        start: u32,
        end: u32,
        signed: bool,
        min: u64,
        max: u64,
    },
    Nested {
        id: ContainerId,
        start: u32,
    },
    Each {
        start: u32,
        bits: u32,
        count: u32,
        rows: Vec<Row<'a>>,
    },
    /// Pairs of a condition and rows. The first pair whose condition holds applies; a missing
    /// condition always holds.
    First(Vec<(Option<&'a Expr>, Vec<Row<'a>>)>),
}

impl<'a> Checks<'a> {
    /// The checks of `body`.
    pub fn new(plan: &'a Plan<'a>, body: &Body<'a>) -> Self {
        let container = body.container;
        let mut checks = Checks { plan, container, rows: Vec::new() };
        let fields: Vec<&Field> = container.fields.iter().collect();
        checks.rows = checks.block(&fields, &container.groups, container.bits);
        checks
    }

    /// True if nothing is checked.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as Rust: `&[Check::...]`.
    pub fn table(&self) -> TokenStream {
        let rows = self.rows.iter().map(|row| self.row(row));
        quote!(&[#(#rows),*])
    }

    fn row(&self, row: &Row) -> TokenStream {
        match row {
            Row::Fixed { field, start, end, value } => {
                let (start, end, value) = (number(*start), number(*end), pattern(*value));
                quote!(Check::Fixed { field: #field, start: #start, end: #end, value: #value })
            }
            Row::Gap { start, end } => {
                let (start, end) = (number(*start), number(*end));
                quote!(Check::Gap { start: #start, end: #end })
            }
            Row::Range { field, start, end, signed, min, max } => {
                let (start, end) = (number(*start), number(*end));
                let (min, max) = (pattern(*min), pattern(*max));
                quote! {
                    Check::Range { field: #field, start: #start, end: #end, signed: #signed, min: #min, max: #max }
                }
            }
            Row::Nested { id, start } => {
                let ty = path(&self.plan.container_path(*id, self.container.file));
                let start = number(*start);
                quote!(Check::Nested { container: #ty::NAME, start: #start, checks: #ty::CHECKS })
            }
            Row::Each { start, bits, count, rows } => {
                let (start, bits, count) = (number(*start), number(*bits), number(*count));
                let rows = rows.iter().map(|row| self.row(row));
                quote!(Check::Each { start: #start, bits: #bits, count: #count, checks: &[#(#rows),*] })
            }
            Row::First(alternatives) => {
                let alternatives = alternatives.iter().map(|(condition, rows)| {
                    let always = Expr::Number(1);
                    let condition = constant(condition.unwrap_or(&always));
                    let rows = rows.iter().map(|row| self.row(row));
                    quote!((&#condition, &[#(#rows),*]))
                });
                quote!(Check::First(&[#(#alternatives),*]))
            }
        }
    }

    /// A Rust expression that is true if no check fails. It reads `dwords`, an array of the
    /// container's size or a slice of at least that size. `None` if the expression would have too
    /// many terms, or if the elements of the tail are not whole dwords.
    pub fn fits(&self) -> Option<TokenStream> {
        let mut quick = Quick { at: None, ..Quick::default() };
        quick.rows(self, 0)?;
        (quick.terms.len() <= LONGEST).then(|| quick.text())
    }

    fn block(&self, fields: &[&'a Field], groups: &'a [Group], bits: u32) -> Vec<Row<'a>> {
        let common: Vec<&Field> =
            fields.iter().copied().filter(|field| field.variant.is_none()).collect();
        let mut rows: Vec<(u32, Row)> = Vec::new();
        for field in &common {
            rows.extend(self.field(field).into_iter().map(|row| (field.start, row)));
        }
        for group in groups {
            let inner: Vec<&Field> = group.fields.iter().collect();
            let inner = self.block(&inner, &group.groups, group.bits);
            if !inner.is_empty() {
                let Group { start, bits, count, .. } = *group;
                rows.push((group.start, Row::Each { start, bits, count, rows: inner }));
            }
        }
        let mut covered: Vec<Range<u32>> =
            common.iter().map(|field| field.start..field.end + 1).collect();
        covered.extend(groups.iter().map(|group| match group.count {
            0 => group.start..u32::MAX,
            count => group.start..group.start + group.bits * count,
        }));
        let mut sets: Vec<&str> = Vec::new();
        for (set, _) in fields.iter().filter_map(|field| field.variant.as_ref()) {
            if !sets.contains(&set.as_str()) {
                sets.push(set);
            }
        }
        let mut all = covered.clone();
        for set in sets {
            let members: Vec<&Field> =
                fields.iter().copied().filter(|f| set_of(f) == Some(set)).collect();
            let union: Vec<Range<u32>> =
                members.iter().map(|field| field.start..field.end + 1).collect();
            rows.extend(
                self.set(&members, &covered, &union, bits).map(|row| (members[0].start, row)),
            );
            all.extend(union);
        }
        rows.extend(gaps(&all, bits).into_iter().map(|gap| (gap.start, gap_row(gap))));
        rows.sort_by_key(|(start, _)| *start);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The row for one set of alternatives; `None` if it would check nothing.
    fn set(
        &self,
        members: &[&'a Field],
        common: &[Range<u32>],
        union: &[Range<u32>],
        bits: u32,
    ) -> Option<Row<'a>> {
        let mut names: Vec<&str> = Vec::new();
        for (_, alternative) in members.iter().filter_map(|field| field.variant.as_ref()) {
            if !names.contains(&alternative.as_str()) {
                names.push(alternative);
            }
        }
        let mut rows: Vec<(Option<&Expr>, Vec<Row>)> = Vec::new();
        for name in names {
            let fields: Vec<&Field> =
                members.iter().copied().filter(|f| alternative_of(f) == Some(name)).collect();
            let mut checks: Vec<Row> = fields.iter().flat_map(|field| self.field(field)).collect();
            let mut covered = common.to_vec();
            covered.extend(fields.iter().map(|field| field.start..field.end + 1));
            checks.extend(
                gaps(&covered, bits).into_iter().flat_map(|gap| within(gap, union)).map(gap_row),
            );
            rows.push((fields.iter().find_map(|field| field.exists_if.as_ref()), checks));
        }
        rows.sort_by_key(|(condition, _)| condition.is_none());
        if !rows.iter().any(|(condition, _)| condition.is_none()) {
            let absent =
                gaps(common, bits).into_iter().flat_map(|gap| within(gap, union)).map(gap_row);
            rows.push((None, absent.collect()));
        }
        let empty = rows.iter().all(|(_, checks)| checks.is_empty());
        (!empty).then_some(Row::First(rows))
    }

    fn field(&self, field: &'a Field) -> Vec<Row<'a>> {
        let name = field.name.as_str();
        let fixed =
            |start: u32, end: u32, value: u64| Row::Fixed { field: name, start, end, value };
        let ones = |bits: u32| u64::MAX >> (64 - bits.clamp(1, 64));
        let variable = self.container.is_variable();
        let bias = match self.container.kind {
            Kind::Instruction { bias, .. } => bias,
            _ => 0,
        };
        if field.length {
            let dwords = (self.container.bits / 32).saturating_sub(bias);
            let (start, end) = (field.start, field.end);
            // If the length has a range, a packet may be shorter than the table.
            return match field.range {
                _ if variable => Vec::new(),
                Some((min, max)) => {
                    vec![Row::Range { field: name, start, end, signed: false, min, max }]
                }
                None => vec![fixed(start, end, u64::from(dwords))],
            };
        }
        if field.opcode {
            return vec![fixed(field.start, field.end, field.default.unwrap_or(0))];
        }
        match &field.ty {
            Type::MustBeZero | Type::MustBeOne => {
                let value = |bits| if field.ty == Type::MustBeOne { ones(bits) } else { 0 };
                let pieces = (field.start..=field.end).step_by(64);
                let pieces = pieces.map(|start| (start, field.end.min(start + 63)));
                return pieces
                    .map(|(start, end)| fixed(start, end, value(end - start + 1)))
                    .collect();
            }
            Type::Struct(id) if self.plan.is_typed(&self.plan.spec.containers[id.0]) => {
                return vec![Row::Nested { id: *id, start: field.start }];
            }
            Type::Address { align, .. } => {
                let low = align.trailing_zeros().saturating_sub(address_shift(field));
                if low > 0 {
                    return vec![fixed(field.start, field.end.min(field.start + low - 1), 0)];
                }
            }
            _ => {}
        }
        if !is_member(field) || (field.range.is_none() && !field.nonzero) {
            return Vec::new();
        }
        let signed = matches!(field.ty, Type::Int | Type::SFixed { .. }) && field.range.is_some();
        // In Mesa's files, a `nonzero` field may have no range.
        let (min, max) = field.range.unwrap_or((1, ones(field.end - field.start + 1)));
        let range =
            Row::Range { field: name, start: field.start, end: field.end, signed, min, max };
        match (&field.exists_if, &field.variant) {
            (Some(condition), None) => vec![Row::First(vec![(Some(condition), vec![range])])],
            _ => vec![range],
        }
    }
}

/// Maximum number of terms of [`Checks::fits`]. With more terms, the table is faster.
const LONGEST: usize = 64;

/// Flattened rows: the required bits of each dword, and further terms.
#[derive(Default)]
struct Quick {
    /// The dword that positions count from, if it is a run-time value.
    at: Option<TokenStream>,
    /// Mask and value by dword.
    masks: BTreeMap<u32, (u32, u32)>,
    /// Further expressions that must be true.
    terms: Vec<TokenStream>,
}

impl Quick {
    fn rows(&mut self, checks: &Checks, base: u32) -> Option<()> {
        self.all(checks, &checks.rows, base)
    }

    fn all(&mut self, checks: &Checks, rows: &[Row], base: u32) -> Option<()> {
        rows.iter().try_for_each(|row| self.row(checks, row, base))
    }

    fn row(&mut self, checks: &Checks, row: &Row, base: u32) -> Option<()> {
        match row {
            Row::Fixed { start, end, value, .. } => self.fixed(base + start, base + end, *value),
            Row::Gap { start, end } => self.fixed(base + start, base + end, 0),
            Row::Range { start, end, signed, min, max, .. } => {
                self.terms.push(self.range((base + start, base + end), *signed, *min, *max));
            }
            Row::Nested { id, start } => {
                let inner = Checks::new(checks.plan, &checks.plan.bodies[id.0]);
                self.rows(&inner, base + start)?;
            }
            Row::Each { start, bits, count: 0, rows } => {
                if self.at.is_some() || base > 0 || start % 32 != 0 || bits % 32 != 0 {
                    return None;
                }
                let mut element = Quick { at: Some(quote!(at)), ..Quick::default() };
                element.all(checks, rows, 0)?;
                let (start, dwords, element) =
                    (number(start / 32), number(bits / 32), element.text());
                self.terms.push(quote!({
                    let mut at = #start;
                    while at + #dwords <= dwords.len() && (#element) {
                        at += #dwords;
                    }
                    at + #dwords > dwords.len()
                }));
            }
            Row::Each { start, bits, count, rows } => {
                for index in 0..*count {
                    self.all(checks, rows, base + start + index * bits)?;
                    if self.terms.len() > LONGEST {
                        return None;
                    }
                }
            }
            Row::First(alternatives) => {
                let mut text = quote!(true);
                for (condition, rows) in alternatives.iter().rev() {
                    let mut quick = Quick { at: self.at.clone(), ..Quick::default() };
                    quick.all(checks, rows, base)?;
                    let then = quick.text();
                    text = match condition {
                        Some(condition) => {
                            let condition = condition_of(condition, &self.place(base));
                            quote!(if #condition { #then } else { #text })
                        }
                        None => then,
                    };
                }
                self.terms.push(text);
            }
        }
        Some(())
    }

    fn fixed(&mut self, start: u32, end: u32, value: u64) {
        for bit in start..=end {
            let (mask, expected) = self.masks.entry(bit / 32).or_default();
            *mask |= 1 << (bit % 32);
            *expected |= ((value >> (bit - start).min(63) & 1) as u32) << (bit % 32);
        }
    }

    fn range(&self, (start, end): (u32, u32), signed: bool, min: u64, max: u64) -> TokenStream {
        let width = end - start + 1;
        let ones = u64::MAX >> (64 - width.clamp(1, 64));
        let value = if start / 32 == end / 32 {
            let (dword, shift, mask) = (self.dword(start / 32), number(start % 32), pattern(ones));
            quote!(bits_of(#dword, #shift, #mask))
        } else {
            let place = self.place(0);
            let (start, end) = (place.at(start), place.at(end));
            quote!(get(dwords, #start, #end))
        };
        let (least, most, width) = (pattern(min), pattern(max), number(width));
        match (min, max) {
            _ if signed => quote!(within_signed(#value, #width, #least, #most)),
            (0, _) => quote!(#value <= #most),
            (_, max) if max >= ones => quote!(#value >= #least),
            _ => quote!(within(#value, #least, #most)),
        }
    }

    fn dword(&self, index: u32) -> TokenStream {
        let literal = number(index);
        match &self.at {
            None => quote!(dwords[#literal]),
            Some(at) if index == 0 => quote!(dwords[#at]),
            Some(at) => quote!(dwords[#at + #literal]),
        }
    }

    /// The [`Place`] that starts at bit `base`. Conditions read fields relative to it.
    fn place(&self, base: u32) -> Place {
        let base = (base > 0).then(|| number(base));
        let base = match (&self.at, base) {
            (None, None) => None,
            (None, Some(base)) => Some(quote!(#base)),
            (Some(at), None) => Some(quote!(32 * #at as u32)),
            (Some(at), Some(base)) => Some(quote!(32 * #at as u32 + #base)),
        };
        Place { base, put: quote!(dwords), get: quote!(dwords), array: false }
    }

    /// An expression that compares the masked bits of all dwords; `None` if no bit has a fixed
    /// value. For more than two dwords of a packet it is one call, which compiles faster than one
    /// comparison per dword.
    fn masked(&self) -> Option<TokenStream> {
        let last = *self.masks.keys().next_back()?;
        if self.at.is_none() && self.masks.len() > 2 {
            let rows = (0..=last).map(|index| self.masks.get(&index).copied().unwrap_or_default());
            let (masks, values): (Vec<u32>, Vec<u32>) = rows.unzip();
            let text = |dwords: Vec<u32>| {
                dwords.into_iter().map(|dword| pattern(dword.into())).collect::<Vec<_>>()
            };
            let (masks, values) = (text(masks), text(values));
            return Some(quote!(masked(dwords, &[#(#masks),*], &[#(#values),*])));
        }
        let dwords = self.masks.iter().map(|(index, (mask, value))| {
            let dword = self.dword(*index);
            let masked = match *mask {
                u32::MAX => dword,
                mask => {
                    let mask = pattern(u64::from(mask));
                    quote!(#dword & #mask)
                }
            };
            match *value {
                0 => masked,
                value => {
                    let value = pattern(u64::from(value));
                    quote!((#masked ^ #value))
                }
            }
        });
        Some(quote!(#(#dwords)|* == 0))
    }

    /// All terms as one expression.
    fn text(&self) -> TokenStream {
        let masks = self.masked();
        let terms: Vec<TokenStream> = masks.into_iter().chain(self.terms.iter().cloned()).collect();
        match &terms[..] {
            [] => quote!(true),
            [term] => term.clone(),
            terms => {
                // A term that starts with `if` needs parentheses to be an operand.
                let terms = terms.iter().map(|term| match term.clone().into_iter().next() {
                    Some(TokenTree::Ident(word)) if word == "if" => quote!((#term)),
                    _ => term.clone(),
                });
                quote!(#(#terms)&&*)
            }
        }
    }
}

fn set_of(field: &Field) -> Option<&str> {
    field.variant.as_ref().map(|(set, _)| set.as_str())
}

fn alternative_of(field: &Field) -> Option<&str> {
    field.variant.as_ref().map(|(_, alternative)| alternative.as_str())
}

fn gap_row<'a>(gap: Range<u32>) -> Row<'a> {
    Row::Gap { start: gap.start, end: gap.end - 1 }
}

/// The bits of `0..bits` that no range covers, as ranges that are cut at dword boundaries.
fn gaps(covered: &[Range<u32>], bits: u32) -> Vec<Range<u32>> {
    let mut covered = covered.to_vec();
    covered.sort_by_key(|range| range.start);
    covered.push(bits..bits);
    let mut out = Vec::new();
    let mut from = 0;
    for range in covered {
        let mut start = from;
        while start < range.start.min(bits) {
            let end = range.start.min(bits).min((start / 32 + 1) * 32);
            out.push(start..end);
            start = end;
        }
        from = from.max(range.end);
    }
    out
}

/// The parts of `gap` that are inside `union`.
fn within(gap: Range<u32>, union: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut out: Vec<Range<u32>> = Vec::new();
    for bit in gap {
        if union.iter().any(|range| range.contains(&bit)) {
            match out.last_mut() {
                Some(last) if last.end == bit => last.end += 1,
                _ => out.push(bit..bit + 1),
            }
        }
    }
    out
}
