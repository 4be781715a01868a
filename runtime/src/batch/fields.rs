//! Finds the addresses and offsets in packets and structures, with the generated descriptions.

use genxml_core::address::SpaceKind;
use genxml_core::bits;
use genxml_core::reflect::{Container, Field, Group, Type};

/// A field that holds an address or offset.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub field: &'static Field,
    pub space: SpaceKind,
    /// Name of the container that the field points to; empty if it is not a single described
    /// container.
    pub target: &'static str,
    /// First bit of the field, counted from the start of the packet or structure.
    pub start: u32,
    /// Last bit of the field, counted as `start`.
    pub end: u32,
    /// The address or offset in bytes: the stored bits at their positions in the dword, with zeros
    /// below them.
    pub value: u64,
}

/// Calls `each` for every address and offset of `container` in these dwords. Fields that the packet
/// does not have, and fields beyond the end of `dwords`, are skipped.
pub(super) fn addresses(
    container: &'static Container,
    dwords: &[u32],
    each: &mut dyn FnMut(Found),
) {
    Walk { dwords, total: 32 * dwords.len() as u32, each }.members(
        container.fields,
        container.groups,
        0,
    );
}

struct Walk<'a> {
    dwords: &'a [u32],
    total: u32,
    each: &'a mut dyn FnMut(Found),
}

impl Walk<'_> {
    fn members(&mut self, fields: &'static [Field], groups: &'static [Group], base: u32) {
        for field in fields {
            let (start, end) = (base + field.start, base + field.end);
            let exists =
                |walk: &Self| field.exists_if.is_none_or(|when| when.holds(walk.dwords, base));
            match field.ty {
                Type::Address { space, target, .. } if end < self.total && exists(self) => {
                    let value = bits::get(self.dwords, start, end) << (start % 32);
                    (self.each)(Found { field, space, target, start, end, value });
                }
                Type::Struct(inner) if start < self.total && exists(self) => {
                    self.members(inner.fields, inner.groups, start);
                }
                _ => {}
            }
        }
        for group in groups {
            let mut start = base + group.start;
            let mut index = 0;
            while start + group.bits <= self.total && (group.count == 0 || index < group.count) {
                self.members(group.fields, group.groups, start);
                start += group.bits.max(1);
                index += 1;
            }
        }
    }
}
