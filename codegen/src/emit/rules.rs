//! Generates the rules as constants of `genxml_core::rule`.

use super::field::{ident, number, pattern};
use super::plan::Plan;
use crate::model::{
    Base, Cond, Container, ContainerId, EnumId, FieldRef, GroupRef, Severity, Spec,
};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The distinct calls of `last` in conditions: the packet and its condition.
#[derive(Debug, Default)]
pub struct Lasts<'a>(Vec<(ContainerId, Option<&'a Cond>)>);

impl<'a> Lasts<'a> {
    /// Collects the calls of `last` in all rules.
    pub fn new(spec: &'a Spec) -> Self {
        let mut lasts = Self::default();
        for rule in spec.containers.iter().flat_map(|container| &container.rules) {
            lasts.collect(&rule.require);
        }
        lasts
    }

    fn collect(&mut self, cond: &'a Cond) {
        match cond {
            Cond::Number(_) | Cond::Field(_) | Cond::Index | Cond::Role(_) => {}
            Cond::Not(inner) | Cond::In(inner, _) | Cond::Bits(inner, _) => self.collect(inner),
            Cond::Over(_, _, inner) => inner.iter().for_each(|inner| self.collect(inner)),
            Cond::Binary(_, left, right) => {
                self.collect(left);
                self.collect(right);
            }
            Cond::Last(packet, condition) => {
                let last = (*packet, condition.as_deref());
                if !self.0.contains(&last) {
                    self.0.push(last);
                }
            }
        }
    }

    fn index(&self, packet: ContainerId, condition: Option<&Cond>) -> usize {
        self.0.iter().position(|last| *last == (packet, condition)).unwrap_or_default()
    }
}

/// Generates the rules of one file's tables.
pub struct Rules<'a> {
    /// The plan.
    pub plan: &'a Plan<'a>,
    /// The calls of `last` in all rules.
    pub lasts: &'a Lasts<'a>,
    /// Index of the file.
    pub file: usize,
}

impl Rules<'_> {
    /// The rules of a container.
    pub fn of(&self, container: &Container) -> TokenStream {
        let rules = container.rules.iter().map(|rule| {
            let (id, text, message, source) = (&rule.id, &rule.text, &rule.message, &rule.source);
            let require = self.cond(&rule.require);
            let severity = match rule.severity {
                Severity::Error => quote!(Error),
                Severity::Warning => quote!(Warning),
                Severity::Workaround => quote!(Workaround),
            };
            quote! {
                rule::Rule {
                    id: #id,
                    severity: rule::Severity::#severity,
                    require: #require,
                    text: #text,
                    message: #message,
                    source: #source,
                }
            }
        });
        quote!(&[#(#rules),*])
    }

    /// The static list that `Cond::Last` refers to by index.
    pub fn lasts(&self) -> TokenStream {
        let lasts = self.lasts.0.iter().map(|(packet, condition)| {
            let packet = number(packet.0 as u32);
            let condition = match condition {
                Some(condition) => {
                    let condition = self.cond(condition);
                    quote!(Some(&#condition))
                }
                None => quote!(None),
            };
            quote!(rule::Last { packet: #packet, condition: #condition })
        });
        quote! {
            /// Earlier packets that rules refer to with `last`.
            pub static LASTS: &[rule::Last] = &[#(#lasts),*];
        }
    }

    /// Converts a condition to a constant.
    pub fn cond(&self, cond: &Cond) -> TokenStream {
        match cond {
            Cond::Number(value) => {
                let value = pattern(*value);
                quote!(rule::Cond::Number(#value))
            }
            Cond::Field(field) => {
                let field = self.field(field);
                quote!(rule::Cond::Field(#field))
            }
            Cond::Not(inner) => {
                let inner = self.cond(inner);
                quote!(rule::Cond::Not(&#inner))
            }
            Cond::Binary(op, left, right) => {
                let op = ident(&format!("{op:?}"));
                let (left, right) = (self.cond(left), self.cond(right));
                quote!(rule::Cond::Binary(Op::#op, &#left, &#right))
            }
            Cond::In(inner, ranges) => {
                let inner = self.cond(inner);
                let ranges = ranges.iter().map(|(first, last)| {
                    let (first, last) = (pattern(*first), pattern(*last));
                    quote!((#first, #last))
                });
                quote!(rule::Cond::In(&#inner, &[#(#ranges),*]))
            }
            Cond::Bits(inner, list) => {
                let (inner, list) = (self.cond(inner), self.list(*list));
                quote!(rule::Cond::Bits(&#inner, &#list))
            }
            Cond::Last(packet, condition) => {
                let index = number(self.lasts.index(*packet, condition.as_deref()) as u32);
                quote!(rule::Cond::Last(#index))
            }
            Cond::Over(what, group, body) => {
                let what = ident(&format!("{what:?}"));
                let group = self.group(group);
                let body = match body {
                    Some(body) => self.cond(body),
                    None => quote!(rule::Cond::Index),
                };
                quote!(rule::Cond::Over(rule::Quantifier::#what, #group, &#body))
            }
            Cond::Index => quote!(rule::Cond::Index),
            Cond::Role(role) => {
                let role = ident(&format!("{role:?}"));
                quote!(rule::Cond::Role(rule::Role::#role))
            }
        }
    }

    fn field(&self, field: &FieldRef) -> TokenStream {
        let (base, name) = (base(field.base), &field.name);
        let (start, end) = (number(field.start), number(field.end));
        let list = match field.list {
            Some(list) => {
                let list = self.list(list);
                quote!(Some(&#list))
            }
            None => quote!(None),
        };
        quote!(rule::FieldRef { base: #base, name: #name, start: #start, end: #end, list: #list })
    }

    fn group(&self, group: &GroupRef) -> TokenStream {
        let (base, name) = (base(group.base), &group.name);
        let (start, bits, count) = (number(group.start), number(group.bits), number(group.count));
        quote!(rule::GroupRef { base: #base, name: #name, start: #start, bits: #bits, count: #count })
    }

    fn list(&self, list: EnumId) -> TokenStream {
        self.plan.table(&self.plan.enums[list.0], self.plan.spec.enums[list.0].file, self.file)
    }
}

fn base(base: Base) -> TokenStream {
    match base {
        Base::Own(levels) => {
            let levels = Literal::u32_unsuffixed(levels);
            quote!(rule::Base::Own(#levels))
        }
        Base::State(container) => {
            let index = number(container.0 as u32);
            quote!(rule::Base::State(#index))
        }
    }
}
