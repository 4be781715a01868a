//! Generates the Rust type of a field, its default, and the code that writes and reads it.

use super::plan::{Plan, float_bits, put_bits};
use crate::model::{Enum, Field, Stored, Type};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// An identifier.
pub fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// A path `a::b::C`.
pub fn path(path: &str) -> TokenStream {
    let parts = path.split("::").map(ident);
    quote!(#(#parts)::*)
}

/// A decimal literal without suffix.
pub fn number(value: u32) -> Literal {
    Literal::u32_unsuffixed(value)
}

/// A literal for a bit pattern: decimal if small, otherwise hexadecimal in groups of four digits.
pub fn pattern(value: u64) -> TokenStream {
    let text = match value {
        0..10 => format!("{value}"),
        10..=0xffff => format!("{value:#x}"),
        _ => {
            let groups = (0..4).rev().map(|group| value >> (16 * group) & 0xffff);
            let groups: Vec<u64> = groups.skip_while(|group| *group == 0).collect();
            let rest: String = groups[1..].iter().map(|group| format!("_{group:04x}")).collect();
            format!("{:#x}{rest}", groups[0])
        }
    };
    text.parse().unwrap_or_default()
}

/// The location of a block's bits in generated code: at the start of an array, or at a run-time
/// position in a slice.
#[derive(Clone)]
pub struct Place {
    /// A term that is added to every position.
    pub base: Option<TokenStream>,
    /// The argument of `put` for the dwords.
    pub put: TokenStream,
    /// The argument of `get` for the dwords.
    pub get: TokenStream,
    /// True if `dwords` is an array of the container's size, so that code can index it with
    /// constants.
    pub array: bool,
}

impl Place {
    /// A local array `dwords`, or a parameter that is a reference to one.
    pub fn array() -> Self {
        Place { base: None, put: quote!(&mut dwords), get: quote!(dwords), array: true }
    }

    /// A parameter `dwords` that is a mutable reference to an array.
    pub fn reference() -> Self {
        Place { put: quote!(dwords), ..Place::array() }
    }

    /// A slice `dwords` from bit `start` on.
    pub fn slice() -> Self {
        Place { base: Some(quote!(start)), put: quote!(dwords), get: quote!(dwords), array: false }
    }

    /// The position of bit `offset` of the block.
    pub fn at(&self, offset: u32) -> TokenStream {
        let offset_literal = number(offset);
        match &self.base {
            None => quote!(#offset_literal),
            Some(base) if offset == 0 => base.clone(),
            Some(base) => quote!(#base + #offset_literal),
        }
    }

    /// Dword, shift and mask for reading a field that is inside one dword of an array.
    fn dword(&self, field: &Field) -> Option<(Literal, u32, TokenStream)> {
        let inside = self.array && field.start / 32 == field.end / 32;
        let mask = pattern(u64::MAX >> (64 - (field.end - field.start + 1).min(64)));
        inside.then(|| (number(field.start / 32), field.start % 32, mask))
    }

    /// The place of element `index` of an array in the same dwords.
    pub fn element(&self, start: u32, bits: u32, index: &Ident) -> Self {
        let start = (start > 0).then(|| self.at(start)).or(self.base.clone());
        let bits = number(bits);
        let base = match start {
            Some(start) => quote!(#start + #bits * #index),
            None => quote!(#bits * #index),
        };
        Place { base: Some(base), array: false, ..self.clone() }
    }
}

/// True if the field's Rust type is `bool`.
pub fn is_flag(field: &Field) -> bool {
    field.ty == Type::Bool && field.start == field.end
}

impl Plan<'_> {
    /// The path of a static in the tables of `home`, from the tables of `file`.
    pub fn table(&self, name: &str, home: usize, file: usize) -> TokenStream {
        let name = ident(name);
        if home == file {
            quote!(#name)
        } else {
            let module = ident(&format!("{}_tables", self.units[home]));
            quote!(super::#module::#name)
        }
    }

    /// The Rust type of a field, as a path from the module of the types of `file`.
    pub fn ty(&self, field: &Field, file: usize) -> TokenStream {
        let (width, newtype) = (number(field.end - field.start + 1), self.newtype(field));
        match (&field.ty, field.stored) {
            (Type::Bool, _) if is_flag(field) => quote!(bool),
            (Type::Float, _) => match float_bits(field) {
                Some(32) => quote!(f32),
                Some(_) => quote!(f64),
                None => quote!(#newtype<#width>),
            },
            (Type::Int, _) => quote!(#newtype<#width>),
            (Type::UFixed { int, frac }, _) => {
                let (int, frac) = (number(*int), number(*frac));
                quote!(UFix<#int, #frac>)
            }
            (Type::SFixed { int, frac }, _) => {
                let (int, frac) = (number(*int), number(*frac));
                quote!(SFix<#int, #frac>)
            }
            (Type::Address { space, align, .. }, _) => {
                let space = ident(&space_type(space));
                let align = Literal::u64_unsuffixed(*align);
                let width = number(address_shift(field) + field.end - field.start + 1);
                quote!(Address<address::#space, #align, #width>)
            }
            (Type::Enum(id), _) => path(&self.enum_path(*id, file)),
            (Type::Struct(id), _) => path(&self.container_path(*id, file)),
            (_, Stored::MinusOne) => quote!(MinusOne<#width>),
            (_, Stored::Shifted(shift)) => {
                let shift = number(shift);
                quote!(Shifted<#width, #shift>)
            }
            (_, Stored::Log2) => quote!(PowerOfTwo<#width>),
            _ => quote!(#newtype<#width>),
        }
    }

    /// An expression for the field's default. Without a default, it is zero; for a structure, it is
    /// the structure's own default.
    pub fn default(&self, field: &Field, file: usize) -> TokenStream {
        let value = field.default.unwrap_or(0);
        match (&field.ty, field.stored) {
            (Type::Bool, _) if is_flag(field) => {
                if value != 0 {
                    quote!(true)
                } else {
                    quote!(false)
                }
            }
            (Type::Float, _) if float_bits(field).is_some() => {
                let double = float_bits(field) == Some(64);
                match (double, f32::from_bits(value as u32), f64::from_bits(value)) {
                    (false, single, _) if single.is_finite() => {
                        let value = Literal::f32_unsuffixed(single);
                        quote!(#value)
                    }
                    (true, _, double) if double.is_finite() => {
                        let value = Literal::f64_unsuffixed(double);
                        quote!(#value)
                    }
                    (false, ..) => {
                        let value = pattern(value);
                        quote!(f32::from_bits(#value))
                    }
                    (true, ..) => {
                        let value = pattern(value);
                        quote!(f64::from_bits(#value))
                    }
                }
            }
            (Type::Address { .. }, _) if value == 0 => quote!(Address::ZERO),
            (Type::Address { .. }, _) => {
                let value = pattern(value << address_shift(field));
                quote!(Address::from_bits(#value))
            }
            (Type::Enum(id), _) => {
                self.enum_value(&self.spec.enums[id.0], &self.enum_path(*id, file), value)
            }
            (Type::Struct(id), _) => {
                let name = path(&self.container_path(*id, file));
                if field.default.is_some() {
                    let bits = self.spec.containers[id.0].bits;
                    let mut dwords = vec![0u32; bits.div_ceil(32) as usize];
                    put_bits(&mut dwords, 0, bits.max(1) - 1, value);
                    let dwords = dwords.iter().map(|dword| pattern(u64::from(*dword)));
                    quote!(#name::unpack_lossy(&[#(#dwords),*]))
                } else {
                    quote!(#name::new())
                }
            }
            _ => {
                let ty = self.newtype(field);
                match (field.stored, value) {
                    (Stored::MinusOne | Stored::Log2, 0) if field.ty == Type::Uint => {
                        quote!(#ty::ONE)
                    }
                    (_, 0) => quote!(#ty::ZERO),
                    _ => {
                        let value = pattern(value);
                        quote!(#ty::from_bits(#value))
                    }
                }
            }
        }
    }

    fn enum_value(&self, e: &Enum, ty: &str, value: u64) -> TokenStream {
        let ty = path(ty);
        match value_names(e).iter().find(|(_, v)| *v == value) {
            Some((name, _)) => {
                let name = ident(name);
                quote!(#ty::#name)
            }
            None => {
                let value = pattern(value);
                quote!(#ty::from_bits(#value))
            }
        }
    }

    /// The name of the field's number type in `genxml_core`, without parameters.
    fn newtype(&self, field: &Field) -> TokenStream {
        let wide = field.end - field.start >= 32;
        let name = match (&field.ty, field.stored) {
            (Type::Int, _) if wide => "S64",
            (Type::Int, _) => "S",
            (Type::UFixed { .. }, _) => "UFix",
            (Type::SFixed { .. }, _) => "SFix",
            (Type::Address { .. }, _) => "Address",
            (Type::Uint, Stored::MinusOne) => "MinusOne",
            (Type::Uint, Stored::Shifted(_)) => "Shifted",
            (Type::Uint, Stored::Log2) => "PowerOfTwo",
            _ if wide => "U64",
            _ => "U",
        };
        let name = ident(name);
        quote!(#name)
    }

    /// The statement that writes `value` to the bits of the field.
    pub fn put(&self, field: &Field, place: &Place, value: TokenStream) -> TokenStream {
        let (start, end, dwords) = (place.at(field.start), place.at(field.end), &place.put);
        if let Type::Struct(id) = &field.ty {
            let bits = number(self.spec.containers[id.0].bits.min(field.end - field.start + 1));
            return quote!(put_array(#dwords, #start, #bits, &#value.pack()););
        }
        let bits = match address_shift(field) {
            shift if shift > 0 && matches!(field.ty, Type::Address { .. }) => {
                let shift = number(shift);
                quote!(#value.bits() >> #shift)
            }
            _ if is_flag(field) => quote!(#value as u64),
            _ => self.bits(field, value),
        };
        quote!(put(#dwords, #start, #end, #bits);)
    }

    /// For each dword of the field, an expression for the field's bits in it. `None` for a
    /// structure that does not lie in one dword.
    pub fn terms(&self, field: &Field, value: TokenStream) -> Option<Vec<(u32, TokenStream)>> {
        let (mut start, end) = (field.start, field.end);
        let one = start / 32 == end / 32;
        let mut wide = true;
        let bits = match &field.ty {
            Type::Struct(id) => {
                let bits = self.spec.containers[id.0].bits;
                if !one || bits > end - start + 1 {
                    return None;
                }
                wide = false;
                quote!(#value.pack()[0])
            }
            Type::Bool if is_flag(field) => {
                wide = false;
                quote!(#value as u32)
            }
            Type::Float if float_bits(field) == Some(32) => {
                wide = false;
                quote!(#value.to_bits())
            }
            // An address has the field's bits at their positions in the pointer, and zero
            // elsewhere.
            Type::Address { .. } => {
                let shift = address_shift(field);
                if shift == start % 32 {
                    start -= shift;
                    self.bits(field, value)
                } else {
                    let shift = number(shift);
                    quote!((#value.bits() >> #shift))
                }
            }
            _ => self.bits(field, value),
        };
        let terms = (start / 32..=end / 32).map(|dword| {
            let term = match (32 * dword).checked_sub(start) {
                None | Some(0) => {
                    let bits = if wide { quote!(#bits as u32) } else { bits.clone() };
                    match number(start % 32) {
                        _ if start % 32 == 0 => bits,
                        shift => quote!((#bits) << #shift),
                    }
                }
                Some(behind) => {
                    let behind = number(behind);
                    quote!((#bits >> #behind) as u32)
                }
            };
            (dword, term)
        });
        Some(terms.collect())
    }

    /// An expression for the stored pattern as a `u64`.
    fn bits(&self, field: &Field, value: TokenStream) -> TokenStream {
        let width = field.end - field.start + 1;
        match &field.ty {
            Type::Float if float_bits(field) == Some(32) => quote!(#value.to_bits() as u64),
            Type::Float if float_bits(field) == Some(64) => quote!(#value.to_bits()),
            Type::Enum(id) if self.spec.enums[id.0].bits > width => {
                let width = number(width);
                quote!(narrow(#value.bits(), #width))
            }
            _ => quote!(#value.bits()),
        }
    }

    /// The expression that reads the field.
    pub fn get(&self, field: &Field, place: &Place, file: usize) -> TokenStream {
        let (start, end, dwords) = (place.at(field.start), place.at(field.end), &place.get);
        let bits = match place.dword(field) {
            Some((dword, shift, mask)) => {
                let shift = number(shift);
                quote!(bits_of(dwords[#dword], #shift, #mask))
            }
            None => quote!(get(#dwords, #start, #end)),
        };
        match &field.ty {
            Type::Struct(id) => {
                let name = path(&self.container_path(*id, file));
                let bits = number(self.spec.containers[id.0].bits.min(field.end - field.start + 1));
                quote!(#name::unpack_lossy(&get_array(#dwords, #start, #bits)))
            }
            Type::Bool if is_flag(field) => quote!(#bits != 0),
            Type::Float if float_bits(field) == Some(32) => quote!(f32::from_bits(#bits as u32)),
            Type::Float if float_bits(field) == Some(64) => quote!(f64::from_bits(#bits)),
            Type::Address { .. } => match address_shift(field) {
                0 => quote!(Address::from_bits(#bits)),
                shift => {
                    let shift = number(shift);
                    quote!(Address::from_bits(#bits << #shift))
                }
            },
            Type::Enum(id) => {
                let name = path(&self.enum_path(*id, file));
                quote!(#name::from_bits(#bits))
            }
            _ => {
                let ty = self.newtype(field);
                quote!(#ty::from_bits(#bits))
            }
        }
    }
}

/// The position of the field's first bit in the pointer.
pub fn address_shift(field: &Field) -> u32 {
    match field.stored {
        Stored::Shifted(shift) => shift,
        _ => field.start % 32,
    }
}

/// Converts `surface-state` to `SurfaceState`, the name of the marker in `genxml_core::address`.
pub fn space_type(space: &str) -> String {
    super::names::type_name(space)
}

/// The names and values of an enumeration's constants. If several values have the same name, each
/// name gets its value as a suffix.
pub fn value_names(e: &Enum) -> Vec<(String, u64)> {
    let plain: Vec<String> =
        e.values.iter().map(|value| super::names::value_name(&value.name)).collect();
    let mut scope = super::names::Scope::with(&["INFO", "BITS"]);
    let names = plain.iter().zip(&e.values).map(|(name, value)| {
        let twice = plain.iter().filter(|other| *other == name).count() > 1;
        let name = if twice { format!("{name}_{}", value.value) } else { name.clone() };
        (scope.take(name), value.value)
    });
    names.collect()
}

/// The loop variable at nesting depth `depth`.
pub fn index(depth: usize) -> Ident {
    match depth {
        0 => ident("i"),
        1 => ident("j"),
        2 => ident("k"),
        depth => format_ident!("i{depth}"),
    }
}
