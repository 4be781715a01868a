//! Latched state: packets and structures whose newest value stays in force until the next one
//! replaces it (attribute `latch` of the specification).
//!
//! All latched values of a specification fit one array of dwords. Every kind of state has a range
//! of consecutive slots, and a slot has room for the largest packet of its kind. So a store of
//! latched state needs no map: it is an array of dwords and an array of lengths, both of constant
//! size.

use crate::Packed;
use crate::bits;

/// A packet or structure that is latched.
pub trait Latch: Packed {
    /// The slots that store its values.
    const SLOTS: Slots;
}

/// Slots of one kind of latched state, one for each entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots {
    /// Number of the first slot, among those of all kinds.
    pub first: u16,
    /// Number of entries; 1 if there is no index.
    pub entries: u16,
    /// First dword of the first slot, from the start of the store.
    pub offset: u16,
    /// Dwords of a slot: the largest packet.
    pub dwords: u16,
    /// First and last bit of the field that selects the entry.
    pub index: Option<(u32, u32)>,
}

impl Slots {
    /// Number of the entry that a packet sets: the value of its index field, or 0 if there is no
    /// index. It is not compared with `entries`.
    #[inline]
    pub fn entry(&self, packet: &[u32]) -> usize {
        self.index.map_or(0, |(start, end)| bits::get(packet, start, end) as usize)
    }
}
