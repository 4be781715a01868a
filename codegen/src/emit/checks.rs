//! The tables that strict readers run: `genxml_core::Check`.

use super::field::{address_shift, number, path, pattern};
use super::plan::{Body, Plan, is_member};
use super::tables;
use crate::model::{Container, Expr, Field, Group, Kind, Type};
use proc_macro2::TokenStream;
use quote::quote;
use std::ops::Range;

/// `&[Check::...]` of a container.
pub fn of(plan: &Plan, body: &Body) -> TokenStream {
    let container = body.container;
    let checks = Checks { plan, container };
    let fields: Vec<&Field> = container.fields.iter().collect();
    let rows = checks.block(&fields, &container.groups, container.bits);
    quote!(&[#(#rows),*])
}

struct Checks<'a> {
    plan: &'a Plan<'a>,
    container: &'a Container,
}

impl Checks<'_> {
    fn block(&self, fields: &[&Field], groups: &[Group], bits: u32) -> Vec<TokenStream> {
        let common: Vec<&Field> = fields.iter().copied().filter(|field| field.variant.is_none()).collect();
        let mut rows: Vec<(u32, TokenStream)> = Vec::new();
        for field in &common {
            rows.extend(self.field(field).into_iter().map(|row| (field.start, row)));
        }
        for group in groups {
            let inner: Vec<&Field> = group.fields.iter().collect();
            let checks = self.block(&inner, &group.groups, group.bits);
            if !checks.is_empty() {
                let (start, bits, count) = (number(group.start), number(group.bits), number(group.count));
                let row = quote!(Check::Each { start: #start, bits: #bits, count: #count, checks: &[#(#checks),*] });
                rows.push((group.start, row));
            }
        }
        let mut covered: Vec<Range<u32>> = common.iter().map(|field| field.start..field.end + 1).collect();
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
            let members: Vec<&Field> = fields.iter().copied().filter(|f| set_of(f) == Some(set)).collect();
            let union: Vec<Range<u32>> = members.iter().map(|field| field.start..field.end + 1).collect();
            rows.extend(self.set(&members, &covered, &union, bits).map(|row| (members[0].start, row)));
            all.extend(union);
        }
        rows.extend(gaps(&all, bits).into_iter().map(|gap| (gap.start, gap_row(gap))));
        rows.sort_by_key(|(start, _)| *start);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The row of one set of alternatives.
    fn set(
        &self,
        members: &[&Field],
        common: &[Range<u32>],
        union: &[Range<u32>],
        bits: u32,
    ) -> Option<TokenStream> {
        let mut names: Vec<&str> = Vec::new();
        for (_, alternative) in members.iter().filter_map(|field| field.variant.as_ref()) {
            if !names.contains(&alternative.as_str()) {
                names.push(alternative);
            }
        }
        let mut rows: Vec<(Option<&Expr>, Vec<TokenStream>)> = Vec::new();
        for name in names {
            let fields: Vec<&Field> =
                members.iter().copied().filter(|f| alternative_of(f) == Some(name)).collect();
            let mut checks: Vec<TokenStream> = fields.iter().flat_map(|field| self.field(field)).collect();
            let mut covered = common.to_vec();
            covered.extend(fields.iter().map(|field| field.start..field.end + 1));
            checks.extend(gaps(&covered, bits).into_iter().flat_map(|gap| within(gap, union)).map(gap_row));
            rows.push((fields.iter().find_map(|field| field.exists_if.as_ref()), checks));
        }
        rows.sort_by_key(|(condition, _)| condition.is_none());
        if !rows.iter().any(|(condition, _)| condition.is_none()) {
            let absent = gaps(common, bits).into_iter().flat_map(|gap| within(gap, union)).map(gap_row);
            rows.push((None, absent.collect()));
        }
        let empty = rows.iter().all(|(_, checks)| checks.is_empty());
        let rows = rows.iter().map(|(condition, checks)| {
            let always = Expr::Number(1);
            let condition = tables::expr(condition.unwrap_or(&always));
            quote!((&#condition, &[#(#checks),*]))
        });
        (!empty).then(|| quote!(Check::First(&[#(#rows),*])))
    }

    fn field(&self, field: &Field) -> Vec<TokenStream> {
        let name = &field.name;
        let fixed = |start: u32, end: u32, value: u64| {
            let (start, end, value) = (number(start), number(end), pattern(value));
            quote!(Check::Fixed { field: #name, start: #start, end: #end, value: #value })
        };
        let ones = |bits: u32| u64::MAX >> (64 - bits.clamp(1, 64));
        let variable = self.container.groups.iter().any(|group| group.count == 0);
        let bias = match self.container.kind {
            Kind::Instruction { bias, .. } => bias,
            _ => 0,
        };
        if field.length {
            let dwords = (self.container.bits / 32).saturating_sub(bias);
            return if variable {
                Vec::new()
            } else {
                vec![fixed(field.start, field.end, u64::from(dwords))]
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
                return pieces.map(|(start, end)| fixed(start, end, value(end - start + 1))).collect();
            }
            Type::Struct(id) if self.plan.is_typed(&self.plan.spec.containers[id.0]) => {
                let ty = path(&self.plan.container_path(*id, self.container.file));
                let start = number(field.start);
                return vec![
                    quote!(Check::Nested { container: #ty::NAME, start: #start, checks: #ty::CHECKS }),
                ];
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
        let (start, end) = (number(field.start), number(field.end));
        let signed = matches!(field.ty, Type::Int | Type::SFixed { .. });
        let (min, max) = match field.range {
            Some((0, max)) if field.nonzero => (1, max),
            Some(range) => range,
            None => (1, ones(field.end - field.start + 1)),
        };
        let signed = signed && field.range.is_some();
        let (min, max) = (pattern(min), pattern(max));
        let range = quote! {
            Check::Range { field: #name, start: #start, end: #end, signed: #signed, min: #min, max: #max }
        };
        match (&field.exists_if, &field.variant) {
            (Some(condition), None) => {
                let condition = tables::expr(condition);
                vec![quote!(Check::First(&[(&#condition, &[#range])]))]
            }
            _ => vec![range],
        }
    }
}

fn set_of(field: &Field) -> Option<&str> {
    field.variant.as_ref().map(|(set, _)| set.as_str())
}

fn alternative_of(field: &Field) -> Option<&str> {
    field.variant.as_ref().map(|(_, alternative)| alternative.as_str())
}

fn gap_row(gap: Range<u32>) -> TokenStream {
    let (start, end) = (number(gap.start), number(gap.end - 1));
    quote!(Check::Gap { start: #start, end: #end })
}

/// Bits of `0..bits` that no range covers, cut at dwords.
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

/// The parts of `gap` that lie in `union`.
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
