//! Conversion of Rust types of fields to types of the specification.

use quote::ToTokens;
use syn::{Error, Expr, GenericArgument, Lit, Path, PathArguments, Result, Type, TypePath};

/// A field's type.
#[derive(Clone, Default)]
pub struct Shape {
    /// The `type` attribute in the specification.
    pub ty: String,
    /// Other attributes: `stored-as`, alignment, address space.
    pub more: Vec<(&'static str, String)>,
    /// Number of bits of the type, or of one element of an array or tail. For an address, counted
    /// from the start of the dword. `None` for types that the macro sees only by name.
    pub bits: Option<u32>,
    pub address: bool,
    /// The path of a type that the macro sees only by name.
    pub other: Option<Path>,
    /// Number of elements of an array; 0 for a tail, `None` for a single value.
    pub count: Option<u32>,
}

/// The types that the macro sees only by name.
#[derive(Default)]
pub struct Others {
    pub enums: Vec<Path>,
    pub structs: Vec<Path>,
}

impl Others {
    /// The name of the type in the specification text.
    fn name(&mut self, path: &Path, nested: bool) -> String {
        let (list, letter) = if nested { (&mut self.structs, 'S') } else { (&mut self.enums, 'E') };
        let text = path.to_token_stream().to_string();
        let at = list.iter().position(|other| other.to_token_stream().to_string() == text);
        let at = at.unwrap_or_else(|| {
            list.push(path.clone());
            list.len() - 1
        });
        format!("{letter}{at}")
    }
}

const NAMED: &str = "a field is `bool`, `f32`, `f64`, one of genxml's types (`U<16>`, `U64<48>`, `S`, `S64`, `MinusOne`, `Shifted`, `PowerOfTwo`, \
                     `UFix`, `SFix`, `Address`), an array of them, `Entries`, an enumeration or a structure";

/// Converts a type.
pub fn shape(ty: &Type, nested: bool, others: &mut Others) -> Result<Shape> {
    match ty {
        Type::Array(array) => {
            let count = number(&array.len)?;
            let element = shape(&array.elem, nested, others)?;
            if element.count.is_some() || count == 0 {
                return Err(Error::new_spanned(
                    ty,
                    "an array must have elements, and they cannot be arrays",
                ));
            }
            Ok(Shape { count: Some(count), ..element })
        }
        Type::Path(TypePath { qself: None, path, .. }) => named(path, nested, others),
        Type::Paren(inner) => shape(&inner.elem, nested, others),
        _ => Err(Error::new_spanned(ty, NAMED)),
    }
}

fn named(path: &Path, nested: bool, others: &mut Others) -> Result<Shape> {
    let Some(last) = path.segments.last() else { return Err(Error::new_spanned(path, NAMED)) };
    let name = last.ident.to_string();
    let arguments: Vec<&GenericArgument> = match &last.arguments {
        PathArguments::AngleBracketed(list) => list.args.iter().collect(),
        _ => Vec::new(),
    };
    let values: Vec<&GenericArgument> = arguments
        .iter()
        .copied()
        .filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)))
        .collect();
    let bits = |at: usize| match values.get(at) {
        Some(GenericArgument::Const(value)) => number(value),
        Some(other) => Err(Error::new_spanned(other, "write the number of bits as a literal")),
        None => Err(Error::new_spanned(
            path,
            format!("`{name}` needs its number of bits: `{name}<16>`"),
        )),
    };
    let plain = |ty: &str, bits: u32| Shape { ty: ty.into(), bits: Some(bits), ..Shape::default() };
    let stored =
        |form: String, bits: u32| Shape { more: vec![("stored-as", form)], ..plain("uint", bits) };
    Ok(match (name.as_str(), values.len()) {
        ("bool", 0) => plain("bool", 1),
        ("f32", 0) => plain("float", 32),
        ("f64", 0) => plain("float", 64),
        ("u8" | "u16" | "u32" | "u64" | "usize", 0) => {
            let width = name.trim_start_matches('u').parse().unwrap_or(64);
            let name = if width > 32 { "U64" } else { "U" };
            return Err(Error::new_spanned(
                path,
                format!("an integer of {width} bits is `{name}<{width}>`"),
            ));
        }
        ("i8" | "i16" | "i32" | "i64" | "isize", 0) => {
            let width = name.trim_start_matches('i').parse().unwrap_or(64);
            let name = if width > 32 { "S64" } else { "S" };
            return Err(Error::new_spanned(
                path,
                format!("an integer of {width} bits with a sign is `{name}<{width}>`"),
            ));
        }
        ("U" | "U64", _) => plain("uint", sized(path, &name, bits(0)?)?),
        ("S" | "S64", _) => plain("int", sized(path, &name, bits(0)?)?),
        ("MinusOne", _) => stored("minus-one".into(), bits(0)?),
        ("PowerOfTwo", _) => stored("log2".into(), bits(0)?),
        ("Shifted", _) => stored(format!("shifted:{}", bits(1)?), bits(0)?),
        ("UFix", _) => plain(&format!("u{}.{}", bits(0)?, bits(1)?), bits(0)? + bits(1)?),
        ("SFix", _) => plain(&format!("s{}.{}", bits(0)?, bits(1)?), bits(0)? + bits(1)? + 1),
        ("Address", 3) => {
            let space = values[0].to_token_stream().to_string().replace(' ', "");
            let space = kebab(space.rsplit("::").next().unwrap_or_default());
            Shape {
                more: vec![("address-space", space), ("align", number_of(values[1])?.to_string())],
                address: true,
                ..plain("offset", bits(2)?)
            }
        }
        ("Entries", 1) => match values[0] {
            GenericArgument::Type(element) => {
                let element = shape(element, nested, others)?;
                if element.count.is_some() {
                    return Err(Error::new_spanned(
                        path,
                        "the elements of a variable tail (`Entries`) cannot be arrays",
                    ));
                }
                Shape { count: Some(0), ..element }
            }
            other => return Err(Error::new_spanned(other, NAMED)),
        },
        (_, 0) => {
            Shape { ty: others.name(path, nested), other: Some(path.clone()), ..Shape::default() }
        }
        _ => return Err(Error::new_spanned(path, NAMED)),
    })
}

/// Checks that integers of up to 32 bits use `U` and `S`, and wider ones `U64` and `S64`.
fn sized(path: &Path, name: &str, bits: u32) -> Result<u32> {
    let right = if bits > 32 { format!("{}64", &name[..1]) } else { name[..1].to_owned() };
    if name == right {
        return Ok(bits);
    }
    Err(Error::new_spanned(path, format!("an integer of {bits} bits is `{right}<{bits}>`")))
}

fn number_of(argument: &GenericArgument) -> Result<u64> {
    match argument {
        GenericArgument::Const(value) => long(value),
        other => Err(Error::new_spanned(other, "write the alignment as a literal")),
    }
}

fn long(value: &Expr) -> Result<u64> {
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse(),
            other => Err(Error::new_spanned(other, "expected a number")),
        },
        other => Err(Error::new_spanned(
            other,
            "write the number as a literal: the macro cannot see constants",
        )),
    }
}

fn number(value: &Expr) -> Result<u32> {
    u32::try_from(long(value)?)
        .ok()
        .filter(|number| *number < 1 << 16)
        .ok_or_else(|| Error::new_spanned(value, "this number is too large"))
}

/// Converts `DynamicState` to the specification's `dynamic-state`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}
