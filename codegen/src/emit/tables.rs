//! Generates the reflection tables: statics of the types of `genxml_core::reflect`.

use super::condition::constant;
use super::field::{ident, number, pattern, space_type};
use super::plan::{Plan, length_field, opcode};
use super::rules::{Lasts, Rules};
use crate::model::{Access, Container, Enum, Field, Group, Kind, Stored, Type, ValueSet};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The static of a container.
pub fn container(
    plan: &Plan,
    lasts: &Lasts,
    container: &Container,
    rust_name: &str,
) -> TokenStream {
    let name = &container.name;
    let ident_ = ident(rust_name);
    let unit = &plan.spec.files[container.file].unit;
    let kind = kind(container);
    let bits = number(container.bits);
    let fields = fields(plan, &container.fields, container.file);
    let groups = groups(plan, &container.groups, container.file);
    let rules = Rules { plan, lasts, file: container.file };
    let views = container.views.iter().map(|view| {
        let (name, start, end) =
            (&view.field.name, number(view.field.start), number(view.field.end));
        let ty = ty(plan, &view.field, container.file);
        let exists_if = match &view.exists_if {
            Some(condition) => {
                let condition = rules.cond(condition);
                quote!(Some(&#condition))
            }
            None => quote!(None),
        };
        quote!(View { name: #name, start: #start, end: #end, ty: #ty, exists_if: #exists_if })
    });
    let views = quote!(&[#(#views),*]);
    let rules = rules.of(container);
    let (partial, doc, source) = (container.partial, &container.doc, &container.source);
    quote! {
        pub static #ident_: Container = Container {
            name: #name,
            rust_name: #rust_name,
            unit: #unit,
            kind: #kind,
            bits: #bits,
            fields: #fields,
            groups: #groups,
            views: #views,
            rules: #rules,
            partial: #partial,
            doc: #doc,
            source: #source,
        };
    }
}

/// The static of an enumeration.
pub fn enumeration(e: &Enum, rust_name: &str) -> TokenStream {
    let ident_ = ident(rust_name);
    let name = &e.name;
    let mut values: Vec<(u64, &str)> =
        e.values.iter().map(|value| (value.value, value.name.as_str())).collect();
    values.sort_by_key(|(value, _)| *value);
    let mut aliases = Vec::new();
    values.dedup_by(|again, first| {
        let same = again.0 == first.0;
        if same {
            aliases.push(*again);
        }
        same
    });
    let named = |(value, name): &(u64, &str)| {
        let value = pattern(*value);
        quote!((#value, #name))
    };
    let values = values.iter().map(named);
    let aliases: Vec<TokenStream> = aliases.iter().map(named).collect();
    let aliases = (!aliases.is_empty()).then(|| quote!(aliases: &[#(#aliases),*],));
    let prefix = &e.prefix;
    let prefix = (!prefix.is_empty()).then(|| quote!(prefix: #prefix,));
    let sets: Vec<TokenStream> = e.sets.iter().map(set).collect();
    let sets = (!sets.is_empty()).then(|| quote!(sets: &[#(#sets),*],));
    let mut bits: Vec<(u64, u64)> =
        e.values.iter().filter_map(|value| Some((value.value, value.bits?))).collect();
    bits.sort_unstable();
    bits.dedup_by_key(|(value, _)| *value);
    let bits = bits.iter().map(|(value, bits)| {
        let (value, bits) = (pattern(*value), Literal::u64_unsuffixed(*bits));
        quote!((#value, #bits))
    });
    quote! {
        pub static #ident_: Enumeration = Enumeration {
            name: #name,
            values: &[#(#values),*],
            bits: &[#(#bits),*],
            #aliases
            #prefix
            #sets
            ..Enumeration::EMPTY
        };
    }
}

fn set(set: &ValueSet) -> TokenStream {
    let name = &set.name;
    let ranges = set.ranges.iter().map(|(first, last)| {
        let (first, last) = (pattern(*first), pattern(*last));
        quote!((#first, #last))
    });
    quote!((#name, &[#(#ranges),*]))
}

fn kind(container: &Container) -> TokenStream {
    match &container.kind {
        Kind::Struct { align } => {
            let align = number((*align).max(1));
            quote!(Kind::Struct { align: #align })
        }
        Kind::Instruction { engines, pipelines, bias } => {
            let (engines, bias) = (Literal::u8_unsuffixed(*engines), number(*bias));
            let pipelines = Literal::u8_unsuffixed(*pipelines);
            let (mask, value) = opcode(container);
            let (mask, value) = (pattern(u64::from(mask)), pattern(u64::from(value)));
            let length = match length_field(container).filter(|field| field.end < 32) {
                Some(field) => {
                    let (start, end) = (number(field.start), number(field.end));
                    quote!(Some((#start, #end)))
                }
                None => quote!(None),
            };
            let variable = container.is_variable();
            quote! {
                Kind::Instruction {
                    engines: Engines(#engines),
                    pipelines: Pipelines(#pipelines),
                    bias: #bias,
                    opcode_mask: #mask,
                    opcode: #value,
                    length_field: #length,
                    variable: #variable,
                }
            }
        }
        Kind::Register { offset, per_engine, count, stride, masked, access, .. } => {
            let offset = pattern(u64::from(*offset));
            let (count, stride) = (number(*count), number(*stride));
            let access = match access {
                Access::ReadWrite => quote!(Access::ReadWrite),
                Access::ReadOnly => quote!(Access::ReadOnly),
                Access::WriteOnly => quote!(Access::WriteOnly),
            };
            quote! {
                Kind::Register {
                    offset: #offset,
                    per_engine: #per_engine,
                    count: #count,
                    stride: #stride,
                    masked: #masked,
                    access: #access,
                }
            }
        }
    }
}

fn fields(plan: &Plan, fields: &[Field], file: usize) -> TokenStream {
    let fields = fields.iter().map(|field| {
        let (name, start, end) = (&field.name, number(field.start), number(field.end));
        let ty = ty(plan, field, file);
        let stored = match field.stored {
            Stored::Plain => None,
            Stored::MinusOne => Some(quote!(MinusOne)),
            Stored::Shifted(shift) => {
                let shift = number(shift);
                Some(quote!(Shifted(#shift)))
            }
            Stored::Log2 => Some(quote!(Log2)),
        };
        let stored = stored.map(|stored| quote!(stored: Stored::#stored,));
        let default = field.default.map(|value| {
            let value = pattern(value);
            quote!(default: Some(#value),)
        });
        let required = (field.required && field.variant.is_none() && super::plan::is_member(field))
            .then(|| quote!(required: true,));
        let range = field.range.map(|(min, max)| {
            let (min, max) = (pattern(min), pattern(max));
            quote!(range: Some((#min, #max)),)
        });
        let exists_if = field.exists_if.as_ref().map(|condition| {
            let condition = constant(condition);
            quote!(exists_if: Some(&#condition),)
        });
        let alternative =
            field.variant.as_ref().map(|(set, name)| quote!(alternative: Some((#set, #name)),));
        let text = |name: &str, text: &str| {
            let name = ident(name);
            (!text.is_empty()).then(|| quote!(#name: #text,))
        };
        let (unit, doc, source) =
            (text("unit", &field.unit), text("doc", &field.doc), text("source", &field.source));
        quote! {
            Field {
                name: #name,
                start: #start,
                end: #end,
                ty: #ty,
                #stored #default #required #range #exists_if #alternative #unit #doc #source
                ..Field::PLAIN
            }
        }
    });
    quote!(&[#(#fields),*])
}

fn groups(plan: &Plan, list: &[Group], file: usize) -> TokenStream {
    let list = list.iter().map(|group| {
        let (name, start, bits, count) =
            (&group.name, number(group.start), number(group.bits), number(group.count));
        let fields = fields(plan, &group.fields, file);
        let groups = groups(plan, &group.groups, file);
        quote! {
            Group { name: #name, start: #start, bits: #bits, count: #count, fields: #fields, groups: #groups }
        }
    });
    quote!(&[#(#list),*])
}

fn ty(plan: &Plan, field: &Field, file: usize) -> TokenStream {
    match &field.ty {
        Type::Uint => quote!(Type::Uint),
        Type::Int => quote!(Type::Int),
        Type::Bool => quote!(Type::Bool),
        Type::Float => quote!(Type::Float),
        Type::UFixed { frac, .. } => {
            let frac = number(*frac);
            quote!(Type::UFixed(#frac))
        }
        Type::SFixed { frac, .. } => {
            let frac = number(*frac);
            quote!(Type::SFixed(#frac))
        }
        Type::Address { space, align, target } => {
            let space = ident(&space_type(space));
            let align = Literal::u64_unsuffixed(*align);
            quote!(Type::Address { space: SpaceKind::#space, align: #align, target: #target })
        }
        Type::Enum(id) => {
            let name = plan.table(&plan.enums[id.0], plan.spec.enums[id.0].file, file);
            quote!(Type::Enum(&#name))
        }
        Type::Struct(id) => {
            let name = plan.table(&plan.containers[id.0], plan.spec.containers[id.0].file, file);
            quote!(Type::Struct(&#name))
        }
        Type::MustBeZero => quote!(Type::MustBeZero),
        Type::MustBeOne => quote!(Type::MustBeOne),
        Type::Reserved => quote!(Type::Reserved),
    }
}
