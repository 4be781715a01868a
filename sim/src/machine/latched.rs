//! Latched state: the newest packet of each type, unchanged. Some types have several entries, such
//! as one 3DSTATE_SO_BUFFER for each buffer; then the newest packet of each entry is kept. The
//! attribute `latch` of the specification says which packets and structures are kept, and which
//! field selects the entry.

use genxml::gen8::{LATCH_DWORDS, LATCH_SLOTS};
use genxml_core::Fixed;
use genxml_core::latch::{Latch, Slots};

/// The newest packet of each latched type of Gen8.
pub type Latched = LatchedOf<LATCH_DWORDS, LATCH_SLOTS>;

/// The newest packet of each latched type of a specification. A type with several entries has a
/// newest packet for each entry. `DWORDS` and `SLOTS` are the sizes that the specification needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatchedOf<const DWORDS: usize, const SLOTS: usize>(Box<Store<DWORDS, SLOTS>>);

/// Storage for all types and their entries. Dwords after the end of a packet are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Store<const DWORDS: usize, const SLOTS: usize> {
    dwords: [u32; DWORDS],
    /// Lengths of the packets in dwords; 0 if there was no such packet.
    lengths: [u16; SLOTS],
}

impl<const DWORDS: usize, const SLOTS: usize> Default for LatchedOf<DWORDS, SLOTS> {
    fn default() -> Self {
        LatchedOf(Box::new(Store { dwords: [0; DWORDS], lengths: [0; SLOTS] }))
    }
}

impl<const DWORDS: usize, const SLOTS: usize> LatchedOf<DWORDS, SLOTS> {
    /// Replaces the packet of the same type and entry. The parser has checked that the packet is
    /// not longer than the longest of its type. `slots` describes the storage of the type.
    pub fn keep(&mut self, slots: Slots, packet: &[u32]) {
        let entry = slots.entry(packet);
        let (start, room) = place(slots, entry);
        let kept = &mut self.0.dwords[start..start + room];
        let length = packet.len().min(room);
        kept[..length].copy_from_slice(&packet[..length]);
        kept[length..].fill(0);
        self.0.lengths[usize::from(slots.first) + entry] = length as u16;
    }

    /// The newest packet of type `T` for an entry (0 if the type has a single entry). `None` if
    /// there was none, or if the type has no such entry.
    pub fn get<T: Latch>(&self, entry: usize) -> Option<&[u32]> {
        if entry >= usize::from(T::SLOTS.entries) {
            return None;
        }
        let length = usize::from(self.0.lengths[usize::from(T::SLOTS.first) + entry]);
        let (start, _) = place(T::SLOTS, entry);
        (length != 0).then(|| &self.0.dwords[start..start + length])
    }

    /// The newest packet of type `T` for an entry; all zero if there was none.
    pub fn read<T: Latch + Fixed>(&self, entry: usize) -> T {
        T::read_lossy(self.get::<T>(entry).unwrap_or_default())
    }
}

/// First dword and number of dwords of an entry in `Store::dwords`.
fn place(slots: Slots, entry: usize) -> (usize, usize) {
    let room = usize::from(slots.dwords);
    (usize::from(slots.offset) + entry * room, room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::gen8::render3d_fetch::ThreeDStateVertexElements;
    use genxml::gen8::render3d_stages::{ThreeDStateSoBuffer, ThreeDStateVs};
    use genxml_core::U;

    #[test]
    fn newest_packet_of_each_entry_is_kept() {
        let mut latched = Latched::default();
        assert_eq!(latched.get::<ThreeDStateVs>(0), None);
        let mut packet = ThreeDStateSoBuffer::new();
        for (index, offset) in [(3, 8), (1, 12), (3, 16)] {
            packet.so_buffer_index = U::from_bits(index);
            packet.stream_offset = U::from_bits(offset);
            latched.keep(ThreeDStateSoBuffer::SLOTS, &packet.pack());
        }
        let offset = |entry| latched.read::<ThreeDStateSoBuffer>(entry).stream_offset.get();
        assert_eq!([0, 1, 2, 3].map(offset), [0, 12, 0, 16]);
        assert_eq!(latched.get::<ThreeDStateSoBuffer>(4), None);
    }

    /// Two stores with the same packets are equal; replaced packets leave no trace.
    #[test]
    fn shorter_packet_leaves_nothing_of_a_longer_one() {
        let (mut once, mut twice) = (Latched::default(), Latched::default());
        twice.keep(ThreeDStateVertexElements::SLOTS, &[7; 9]);
        for latched in [&mut once, &mut twice] {
            latched.keep(ThreeDStateVertexElements::SLOTS, &[5; 3]);
        }
        assert_eq!(twice.get::<ThreeDStateVertexElements>(0), Some(&[5; 3][..]));
        assert_eq!(once, twice);
    }
}
