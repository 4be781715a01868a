//! Latched state: packets and structures whose newest value stays in force until the next one
//! replaces it (attribute `latch` of the specification).
//!
//! All latched values of a specification fit one array of dwords, the store. A slot is a range of
//! this array that holds one packet; it has room for the largest packet of its type. A packet type
//! with an index field has one slot for each value of that field, any other type has one slot. So
//! the store needs no map: it is an array of dwords and an array of lengths, both of constant size.

use crate::Packed;
use crate::bits;

/// A packet or structure that is latched.
pub trait Latch: Packed {
    /// The slots that store the values of the packet or structure.
    const SLOTS: Slots;
}

/// The slots of one type of latched packet or structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots {
    /// Number of the first slot; the slots of all types are numbered together, from 0.
    pub first: u16,
    /// Number of slots: one for each value of the index field; 1 without an index field.
    pub entries: u16,
    /// Dwords from the start of the store to the first slot.
    pub offset: u16,
    /// Size of each slot in dwords: that of the largest packet.
    pub dwords: u16,
    /// First and last bit of the packet's index field, if it has one.
    pub index: Option<(u32, u32)>,
}

impl Slots {
    /// Number of the slot, among those of this type, that stores a packet: the value of its index
    /// field, or 0 without an index field. It is not compared with `entries`.
    #[inline]
    pub fn entry(&self, packet: &[u32]) -> usize {
        self.index.map_or(0, |(start, end)| bits::get(packet, start, end) as usize)
    }
}
