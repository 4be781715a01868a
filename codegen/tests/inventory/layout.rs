//! Compares the fields of a structure with the rows of the inventory.

use std::collections::HashMap;

use genxml_codegen::model::{Container, Field, Group, Spec, Type};

use crate::inventory::tsv::{Row, number, plain};

/// The bits of a field, a whole group, or one element of a group. Positions count from the start of
/// the container; each element has its own entry.
pub struct Place<'a> {
    pub name: &'a str,
    pub start: u32,
    pub end: u32,
    /// The field; `None` for a whole group or element.
    pub field: Option<&'a Field>,
    /// The number of the element, for names that contain it.
    pub element: Option<u32>,
}

impl Place<'_> {
    pub fn is_reserved(&self) -> bool {
        self.field.is_some_and(|field| {
            matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
                || plain(&field.name).starts_with("RESERVED")
        })
    }

    pub fn is_pointer(&self) -> bool {
        self.field.is_some_and(|field| matches!(field.ty, Type::Address { .. }))
    }

    fn covers(&self, start: u32, end: u32) -> bool {
        self.start <= end && self.end >= start
    }
}

/// All fields of a container. For a variable group, the fields of the first `elements` elements.
pub fn places(container: &Container, elements: u32) -> Vec<Place<'_>> {
    let mut out = Vec::new();
    add(&container.fields, &container.groups, 0, None, elements, &mut out);
    out
}

fn add<'a>(
    fields: &'a [Field],
    groups: &'a [Group],
    base: u32,
    element: Option<u32>,
    elements: u32,
    out: &mut Vec<Place<'a>>,
) {
    for field in fields {
        let (start, end) = (base + field.start, base + field.end);
        out.push(Place { name: &field.name, start, end, field: Some(field), element });
    }
    for group in groups {
        let only = if group.fields.len() == 1 { group.fields[0].name.as_str() } else { "" };
        let name = if group.name.is_empty() { only } else { &group.name };
        if group.count > 1 && !name.is_empty() {
            let (start, end) =
                (base + group.start, base + group.start + group.count * group.bits - 1);
            out.push(Place { name, start, end, field: None, element });
        }
        let count = if group.count == 0 { elements } else { group.count };
        for number in 0..count {
            let start = base + group.start + number * group.bits;
            let end = start + group.bits - 1;
            if !group.name.is_empty() {
                out.push(Place {
                    name: &group.name,
                    start,
                    end,
                    field: None,
                    element: Some(number),
                });
            }
            add(&group.fields, &group.groups, start, Some(number), elements, out);
        }
    }
}

/// The first and last bit in a row of `structs_fields.tsv`.
pub fn bits(row: &Row) -> Option<(u32, u32)> {
    let dword: u32 = row.get("dword_resolved").split("..").next()?.parse().ok()?;
    let (high, low) = row.get("bits").split_once(':').unwrap_or((row.get("bits"), row.get("bits")));
    let (high, low): (u32, u32) = (high.parse().ok()?, low.parse().ok()?);
    Some((dword * 32 + low, dword * 32 + high))
}

/// How well a row of the inventory matches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// Same bits and same name.
    Same,
    /// Reserved bits, all of them.
    Reserved,
    /// No match.
    None,
}

/// The places that match a row, by position and name.
pub fn find<'p, 'a>(row: &Row, places: &'p [Place<'a>]) -> (Match, Vec<&'p Place<'a>>) {
    match bits(row) {
        Some((start, end)) => find_at(start, end, &plain(row.get("name")), places),
        None => (Match::None, Vec::new()),
    }
}

/// The places with these bits and this name; differences in spelling are ignored.
pub fn find_at<'p, 'a>(
    start: u32,
    end: u32,
    name: &str,
    places: &'p [Place<'a>],
) -> (Match, Vec<&'p Place<'a>>) {
    let here = places.iter().filter(|place| (place.start, place.end) == (start, end));
    let found: Vec<_> = here.filter(|place| is_named(place, name)).collect();
    if !found.is_empty() {
        return (Match::Same, found);
    }
    // A pointer that the manual prints as `X` and `X High` is one field in the specification.
    let whole = name.strip_suffix("HIGH").unwrap_or(name);
    let inside =
        |place: &&Place| place.start <= start && place.end >= end && plain(place.name) == whole;
    let pointers = places.iter().filter(inside).filter(|place| place.is_pointer());
    let pointers: Vec<_> = pointers.collect();
    if !pointers.is_empty() {
        return (Match::Same, pointers);
    }
    if name.is_empty() || name.starts_with("RESERVED") {
        let reserved: Vec<_> =
            places.iter().filter(|place| place.is_reserved() && place.covers(start, end)).collect();
        if (start..=end).all(|bit| reserved.iter().any(|place| place.covers(bit, bit))) {
            return (Match::Reserved, reserved);
        }
    }
    (Match::None, Vec::new())
}

/// True if the place has this name. In an array, the manual numbers the names: `Dword3` is `Dword`
/// of element 3. The numbers may start anywhere.
fn is_named(place: &Place, name: &str) -> bool {
    let here = plain(place.name);
    let letters = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    here == name || place.element.is_some() && letters(&here) == letters(name)
}

/// The places that an explanation names; an error if they do not cover the bits of the row.
pub fn explained<'p, 'a>(
    row: &Row,
    here: &str,
    places: &'p [Place<'a>],
) -> Result<Vec<&'p Place<'a>>, String> {
    let (start, end) = bits(row).ok_or("its position is malformed")?;
    cover(start, end, here, places)
}

/// The places whose names are listed in `here`; an error if they do not cover bits `start` to
/// `end`.
pub fn cover<'p, 'a>(
    start: u32,
    end: u32,
    here: &str,
    places: &'p [Place<'a>],
) -> Result<Vec<&'p Place<'a>>, String> {
    if here.is_empty() {
        return Ok(Vec::new());
    }
    let mut out = Vec::new();
    for name in here.split("; ") {
        let before = out.len();
        out.extend(places.iter().filter(|place| place.name == name && place.covers(start, end)));
        if out.len() == before {
            return Err(format!("{name} is not there"));
        }
    }
    match (start..=end).find(|&bit| !out.iter().any(|place| place.covers(bit, bit))) {
        Some(bit) => Err(format!("{here} leaves out bit {}", bit - start)),
        None => Ok(out),
    }
}

/// The default of a field. For a nested structure of up to 64 bits, the defaults of its fields.
pub fn default(spec: &Spec, field: &Field) -> Option<u64> {
    let Type::Struct(id) = field.ty else { return field.default };
    let parts = spec.containers.get(id.0).map_or(&[][..], |container| &container.fields);
    let parts = parts
        .iter()
        .filter(|part| part.start < 64)
        .filter_map(|part| Some(default(spec, part)? << part.start));
    Some(field.default.unwrap_or(0) | parts.fold(0, |all, part| all | part))
}

/// The stored values that a printed default may mean: the number itself, or the stored value of
/// that number in the field's type.
pub fn defaults(field: &Field, printed: &str) -> Vec<u64> {
    let width = field.end - field.start + 1;
    let mask = u64::MAX >> (64 - width.clamp(1, 64));
    let (negative, digits) = match printed.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, printed),
    };
    let (top, bottom) = digits.split_once('/').unwrap_or((digits, "1"));
    let (Some(top), Some(bottom)) = (number(top), number(bottom).filter(|bottom| *bottom != 0))
    else {
        return Vec::new();
    };
    let signed = |value: u64| if negative { value.wrapping_neg() } else { value } & mask;
    let mut out = Vec::new();
    if bottom == 1 {
        out.push(signed(top));
    }
    if let Type::UFixed { frac, .. } | Type::SFixed { frac, .. } = field.ty {
        let scaled = u128::from(top) << frac;
        if scaled.is_multiple_of(u128::from(bottom)) {
            out.push(signed((scaled / u128::from(bottom)) as u64));
        }
    }
    out
}

/// Groups rows by structure. The inventory has a structure twice if the manual has it twice.
pub fn by_structure(rows: &[Row]) -> HashMap<&str, Vec<&Row>> {
    let mut out: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in rows {
        out.entry(row.get("structure")).or_default().push(row);
    }
    out
}
