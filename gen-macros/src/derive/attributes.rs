//! Parsing of `#[packet(...)]` and `#[field(...)]`.

use super::types::{Others, Shape, shape};
use genxml_codegen::emit::names::field_name;
use genxml_codegen::suggest;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Error, Field, Lit, Result, Token};

/// An attribute: its name, value and source position.
#[derive(Clone)]
pub struct Value {
    pub name: String,
    pub text: String,
    pub span: Span,
}

/// Bits that have no member in the struct.
pub struct Hidden {
    /// `opcode`, `dword_length`, `zero`, `one` or `reserved`.
    pub kind: String,
    pub values: Vec<Value>,
    pub span: Span,
}

/// The attributes in `#[packet(...)]`.
pub struct Container {
    pub values: Vec<Value>,
    pub hidden: Vec<Hidden>,
    pub span: Span,
}

impl Container {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.name == name)
    }
}

/// A field of the struct.
pub struct Member {
    pub values: Vec<Value>,
    pub shape: Shape,
    /// First and last bit, from the container's start. For a tail, those of its first element.
    pub bits: (u32, u32),
    pub bits_span: Span,
    pub attribute: Span,
}

impl Member {
    pub fn tail(&self) -> bool {
        self.shape.count == Some(0)
    }

    pub fn span(&self) -> Span {
        self.attribute
    }
}

const CONTAINER: &[&str] = &[
    "name", "engine", "pipeline", "length", "bias", "align", "register", "masked", "access",
    "source", "doc",
];
const HIDDEN: &[&str] = &["opcode", "dword_length", "zero", "one", "reserved"];
/// Attributes whose value is a list of bit ranges.
const RANGE_LISTS: &[&str] = &["zero", "one", "reserved"];
const HIDDEN_VALUES: &[&str] = &["dword", "bits", "value"];
const FIELD: &[&str] = &[
    "name", "dword", "bits", "default", "range", "required", "nonzero", "nested", "unit", "source",
    "doc",
];

/// Returns all values, or all errors combined into one.
pub fn all<T>(results: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (mut values, mut errors) = (Vec::new(), None::<Error>);
    for result in results {
        match (result, &mut errors) {
            (Ok(value), _) => values.push(value),
            (Err(error), Some(first)) => first.combine(error),
            (Err(error), none) => *none = Some(error),
        }
    }
    errors.map_or(Ok(values), Err)
}

fn unknown(meta: &ParseNestedMeta<'_>, known: &[&str]) -> Error {
    let name = meta.path.to_token_stream().to_string();
    let hint = suggest::hint(&name, known.iter().copied());
    let hint = hint.unwrap_or_else(|| format!("the attributes are: {}", known.join(", ")));
    meta.error(format!("`{name}` is not an attribute here; {hint}"))
}

/// Parses `name = value`, or `name` alone for a flag.
fn value(meta: &ParseNestedMeta<'_>, name: &str) -> Result<Value> {
    if !meta.input.peek(Token![=]) {
        if ["required", "nonzero", "nested", "masked"].contains(&name) {
            return Ok(Value { name: name.into(), text: "true".into(), span: meta.path.span() });
        }
        return Err(meta.error(format!("`{name}` needs a value: `{name} = ...`")));
    }
    let value = meta.value()?;
    let minus: Option<Token![-]> = value.parse()?;
    if minus.is_none() && value.peek(syn::Ident) && !value.peek(syn::LitBool) {
        return Err(
            value.error(format!("the value of `{name}` must be a literal; write text in quotes"))
        );
    }
    let literal: Lit = value.parse()?;
    let text = match &literal {
        Lit::Str(text) => text.value(),
        Lit::Bool(flag) => flag.value.to_string(),
        Lit::Int(number) => number.to_string().replace('_', ""),
        Lit::Float(number) => number.to_string().replace('_', ""),
        other => {
            return Err(Error::new_spanned(
                other,
                format!("`{name}` must be a number, `true`, `false` or text in quotes"),
            ));
        }
    };
    let text = if minus.is_some() { format!("-{text}") } else { text };
    Ok(Value { name: name.into(), text, span: literal.span() })
}

fn push(values: &mut Vec<Value>, value: Value) -> Result<()> {
    if values.iter().any(|other| other.name == value.name) {
        return Err(Error::new(value.span, format!("`{}` is given twice", value.name)));
    }
    values.push(value);
    Ok(())
}

fn known<'a>(meta: &ParseNestedMeta<'_>, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| meta.path.is_ident(name))
}

fn one<'a>(attributes: &'a [Attribute], name: &str) -> Result<Option<&'a Attribute>> {
    let mut found = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let first = found.next();
    match found.next() {
        Some(second) => Err(Error::new_spanned(second, format!("`#[{name}(...)]` is given twice"))),
        None => Ok(first),
    }
}

/// Parses `#[packet(...)]`.
pub fn container(input: &DeriveInput) -> Result<Container> {
    let example = "#[packet(name = \"MY_COMMAND\", engine = \"render\", length = 2, opcode(bits = \"31:16\", value = 0x7a04))]";
    let Some(attribute) = one(&input.attrs, "packet")? else {
        return Err(Error::new_spanned(
            &input.ident,
            format!("the attribute `#[packet(...)]` is missing: add `{example}`"),
        ));
    };
    let span = attribute.path().span();
    let mut container = Container { values: Vec::new(), hidden: Vec::new(), span };
    attribute.parse_nested_meta(|meta| {
        if let Some(name) = known(&meta, CONTAINER) {
            return push(&mut container.values, value(&meta, name)?);
        }
        let Some(kind) = known(&meta, HIDDEN) else {
            let all: Vec<&str> = CONTAINER.iter().chain(HIDDEN).copied().collect();
            return Err(unknown(&meta, &all));
        };
        let mut hidden = Hidden { kind: kind.into(), values: Vec::new(), span: meta.path.span() };
        if meta.input.peek(Token![=]) && RANGE_LISTS.contains(&kind) {
            container.hidden.extend(range_list(kind, &value(&meta, kind)?)?);
            return Ok(());
        }
        if !meta.input.peek(syn::token::Paren) {
            return Err(meta.error(format!("`{kind}` needs its bits: `{kind}(bits = \"31:16\")`")));
        }
        meta.parse_nested_meta(|meta| match known(&meta, HIDDEN_VALUES) {
            Some(name) => push(&mut hidden.values, value(&meta, name)?),
            None => Err(unknown(&meta, HIDDEN_VALUES)),
        })?;
        let has = |name: &str| hidden.values.iter().any(|value| value.name == name);
        if !has("bits") {
            return Err(Error::new(
                hidden.span,
                format!("`{kind}` needs its bits: `{kind}(bits = \"31:16\")`"),
            ));
        }
        if (kind == "opcode") != has("value") {
            let message = match kind {
                "opcode" => "an opcode needs a `value`".to_owned(),
                _ => format!("`{kind}` has no `value`"),
            };
            return Err(Error::new(hidden.span, message));
        }
        container.hidden.push(hidden);
        Ok(())
    })?;
    if container.get("name").is_none() {
        return Err(Error::new(
            span,
            "the packet needs a name, as a manual would write it: `name = \"MY_COMMAND\"`",
        ));
    }
    let opcode = container.hidden.iter().any(|hidden| hidden.kind == "opcode");
    if let Some(register) = container.get("register").filter(|_| opcode) {
        return Err(Error::new(register.span, "a register has no opcode"));
    }
    let tailed = input.generics.lifetimes().next().is_some();
    if container.get("length").is_none() && !tailed {
        return Err(Error::new(span, "the packet needs its length in dwords: add `length = 2`"));
    }
    Ok(container)
}

/// Parses a field and its `#[field(...)]`.
pub fn member(field: &Field, others: &mut Others) -> Result<Member> {
    let name = field.ident.as_ref().map(|ident| ident.to_string()).unwrap_or_default();
    let Some(attribute) = one(&field.attrs, "field")? else {
        let message =
            format!("`{name}` needs a position: add `#[field(dword = 1, bits = \"15:0\")]`");
        return Err(Error::new_spanned(&field.ident, message));
    };
    let mut values = Vec::new();
    attribute.parse_nested_meta(|meta| match known(&meta, FIELD) {
        Some(name) => push(&mut values, value(&meta, name)?),
        None => Err(unknown(&meta, FIELD)),
    })?;
    let get = |name: &str| values.iter().find(|value: &&Value| value.name == name);
    let span = attribute.path().span();
    let Some(dword) = get("dword") else {
        return Err(Error::new(span, format!("`{name}` needs its dword: add `dword = 1`")));
    };
    let base: u32 = dword
        .text
        .parse()
        .ok()
        .filter(|dword| *dword < 1 << 16)
        .ok_or_else(|| Error::new(dword.span, "`dword` is a number below 65536"))?;
    let nested = get("nested").is_some();
    let shape = shape(&field.ty, nested, others)?;
    let (bits, bits_span) = match get("bits") {
        Some(bits) => {
            let (low, high) = range(&bits.text).ok_or_else(|| {
                Error::new(
                    bits.span,
                    format!(
                        "`{}` is not a range of bits: write \"15:0\", or \"3\" for one",
                        bits.text
                    ),
                )
            })?;
            ((32 * base + low, 32 * base + high), bits.span)
        }
        // A tail needs no `bits`: its first element starts at bit 0 of the dword.
        None if shape.count == Some(0) => {
            ((32 * base, 32 * base + shape.bits.unwrap_or(32) - 1), dword.span)
        }
        None => {
            return Err(Error::new(
                span,
                format!("`{name}` needs its bits: add `bits = \"15:0\"`"),
            ));
        }
    };
    if let Some(manual) = get("name")
        && field_name(&manual.text) != name
    {
        let message = format!("the Rust field of this name is `{}`", field_name(&manual.text));
        return Err(Error::new(manual.span, message));
    }
    if get("name").is_none() {
        values.push(Value { name: "name".into(), text: title(&name), span: field.ident.span() });
    }
    let member = Member { values, shape, bits, bits_span, attribute: span };
    member.widths(field)?;
    Ok(member)
}

impl Member {
    /// Code that checks the width of a type that the macro sees only by name. The compiler compares
    /// the constant `BITS` of the type with the bits of the attribute.
    pub fn type_width(&self) -> Option<TokenStream> {
        let path = self.shape.other.as_ref()?;
        let (start, end) = self.bits;
        let width = (end - start + 1) / self.shape.count.unwrap_or(1).max(1);
        // For a tail this is the width of one element.
        let span = self.bits_span.resolved_at(Span::mixed_site());
        let name = path.to_token_stream().to_string().replace(' ', "");
        let check = quote_spanned!(span=> ::genxml::core::check::type_width);
        Some(quote_spanned!(span=> const _: () = #check(#name, <#path>::BITS, #width);))
    }

    /// Checks that the type is as wide as the bits of the attribute. The code generator cannot
    /// check this, because it sees only the attribute.
    fn widths(&self, field: &Field) -> Result<()> {
        let (start, end) = self.bits;
        let bits = end - start + 1;
        let count = self.shape.count.unwrap_or(1).max(1);
        let ty = field.ty.to_token_stream().to_string().replace(' ', "");
        if !bits.is_multiple_of(count) {
            let message = format!("{bits} bits cannot be shared by the {count} elements of `{ty}`");
            return Err(Error::new(self.bits_span, message));
        }
        let width = bits / count;
        let expected = match (self.shape.bits, self.shape.address) {
            // The width of an address type counts from the start of the dword.
            (Some(all), true) => all.saturating_sub(start % 32),
            (Some(width), false) => width,
            (None, _) => return Ok(()),
        };
        if width == expected {
            return Ok(());
        }
        let each = if count > 1 { " for each element" } else { "" };
        let message = if self.shape.address {
            let last = start % 32 + width;
            format!(
                "these {width} bits need the type `Address<_, _, {last}>`: the width of an address counts from bit 0 of its first dword"
            )
        } else {
            format!("these are {width} bits{each}, `{ty}` has {expected}")
        };
        Err(Error::new(self.bits_span, message))
    }
}

/// Parses `31:16, 3, dw1 15:0`: ranges of bits. `dwN` before a range gives the dword of this and
/// the following ranges. Ranges before the first `dwN` are in dword 0.
fn range_list(kind: &str, value: &Value) -> Result<Vec<Hidden>> {
    let mut dword = "0";
    let parts = value.text.split(',').map(|part| {
        let mut bits = part.trim();
        if let Some((first, rest)) = bits.split_once(char::is_whitespace)
            && let Some(number) = first.strip_prefix("dw")
        {
            (dword, bits) = (number, rest.trim());
        }
        if range(bits).is_none() || dword.parse::<u16>().is_err() {
            let message = format!(
                "`{}` is not a list of bit ranges: write \"31:16, 3, dw1 15:0\"",
                part.trim()
            );
            return Err(Error::new(value.span, message));
        }
        let of = |name: &str, text: &str| Value {
            name: name.into(),
            text: text.into(),
            span: value.span,
        };
        let values = vec![of("dword", dword), of("bits", bits)];
        Ok(Hidden { kind: kind.into(), values, span: value.span })
    });
    parts.collect()
}

/// Parses `15:0` or `3`; returns the low bit first.
fn range(text: &str) -> Option<(u32, u32)> {
    let (high, low) = text.split_once(':').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|bit| *bit < 1 << 16);
    let (high, low) = (number(high)?, number(low)?);
    (low <= high).then_some((low, high))
}

/// Converts `sample_mask` to the manual's style `Sample Mask`.
fn title(name: &str) -> String {
    let words = name.trim_start_matches("r#").split('_').filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let mut chars = word.chars();
        chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}
