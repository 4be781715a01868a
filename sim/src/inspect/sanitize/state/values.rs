//! Values of structures in memory that the manual reserves.

use genxml::core::bits;
use genxml::core::reflect::{Container, Field, Type};

/// A field of a structure with a reserved value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserved {
    /// The field's name.
    pub field: &'static str,
    /// First and last bit, from the start of the structure.
    pub bits: (u32, u32),
    /// The stored value.
    pub value: u64,
    /// The field is an enumeration, and the value has no name. Otherwise the bits must be zero.
    pub named: bool,
}

/// Passes the fields of a structure that have reserved values to `found`. Fields that do not exist
/// because of other fields are left out.
pub fn reserved(container: &'static Container, dwords: &[u32], found: &mut impl FnMut(Reserved)) {
    nested(container, dwords, 0, found);
}

fn nested(
    container: &'static Container,
    dwords: &[u32],
    base: u32,
    found: &mut impl FnMut(Reserved),
) {
    fields(container.fields, dwords, base, base, found);
    for group in container.groups {
        for index in 0..group.count {
            let first = base + group.start + index * group.bits;
            fields(group.fields, dwords, first, base, found);
        }
    }
}

/// The fields of a container or of an element of a group. `first` is the first bit of the fields,
/// `base` that of the container.
fn fields(
    list: &'static [Field],
    dwords: &[u32],
    first: u32,
    base: u32,
    found: &mut impl FnMut(Reserved),
) {
    let holds = |field: &Field| field.exists_if.is_none_or(|test| test.holds(dwords, base));
    for field in list {
        let (start, end) = (first + field.start, first + field.end);
        // A field without a condition does not exist if a field at the same bits has a condition
        // that holds.
        let replaced = |other: &Field| {
            other.exists_if.is_some()
                && holds(other)
                && other.start <= field.end
                && other.end >= field.start
        };
        if !holds(field)
            || field.exists_if.is_none() && list.iter().any(replaced)
            || end as usize >= 32 * dwords.len()
        {
            continue;
        }
        let wide = end - start >= 64;
        let mut report = |named: bool| {
            let value = if wide { 0 } else { bits::get(dwords, start, end) };
            found(Reserved { field: field.name, bits: (start, end), value, named });
        };
        match field.ty {
            Type::Struct(inner) => nested(inner, dwords, start, found),
            Type::Enum(names) if !wide => {
                let shared = list.iter().any(|other| {
                    !std::ptr::eq(other, field)
                        && other.start <= field.end
                        && other.end >= field.start
                });
                // Programs leave zero in fields that they do not use.
                let value = bits::get(dwords, start, end);
                if !shared && value != 0 && names.name_of(value).is_none() {
                    report(true);
                }
            }
            Type::MustBeZero if (start..=end).any(|bit| bits::get(dwords, bit, bit) != 0) => {
                report(false);
            }
            _ => {}
        }
    }
}
