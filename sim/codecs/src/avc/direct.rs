//! Direct prediction of B slices (8.4.1.2), and the motion that pictures keep for it.
//!
//! A picture keeps a record of [`MOTION_BYTES`] for each macroblock of its frame. Both fields of a
//! frame use the rows that MBAFF field pairs have: field macroblock (x, y) is at row 2 * y, + 1 for
//! the bottom field. So a record's kind states how the frame was coded there.
//!
//! Index, identity and vectors are those of list 0, or of list 1 for blocks without reference in
//! list 0.

use super::motion_cache::Motion;
use super::parameters::count_of;
use super::state::Decoder;
use super::weight::dist_scale_factor;
use super::{Entry, MOTION_BYTES};
use crate::Structure;

/// Kinds of records.
const FRAME_MACROBLOCK: u8 = 1;
const MBAFF_FIELD_MACROBLOCK: u8 = 2;
const FIELD_PICTURE: u8 = 3;

/// How the vertical component of the colocated block's vector is changed (vertMvScale).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    OneToOne,
    FrameToField,
    FieldToFrame,
}

/// The motion of the colocated block.
#[derive(Clone, Copy, Debug)]
struct Colocated {
    /// Reference index, -1 for intra.
    reference: i8,
    /// Identity of the picture it refers to.
    identity: u16,
    /// The picture it refers to is a bottom field.
    bottom: bool,
    vector: [i16; 2],
    scale: Scale,
}

impl Colocated {
    /// The motion of block (`x`, `y`) of a record. A record that is missing is intra.
    fn read(record: Option<Record<'_>>, (x, y): (usize, usize), scale: Scale) -> Self {
        let intra = Colocated { reference: -1, identity: 0, bottom: false, vector: [0; 2], scale };
        let Some(record) = record.filter(|record| record.kind() != 0) else { return intra };
        let quarter = record.quarter(y / 2 * 2 + x / 2);
        if quarter.reference < 0 {
            return intra;
        }
        Colocated {
            reference: quarter.reference,
            identity: quarter.identity,
            bottom: quarter.bottom,
            vector: quarter.vectors[y % 2 * 2 + x % 2],
            scale,
        }
    }
}

/// What a record holds of an 8x8 block. In memory it has 128 bits, the first in the low byte: four
/// vectors, x of 14 bits and y of 12 bits each, which is the range that levels allow (A.3.1); the
/// identity, 16 bits; 1 bit for a bottom field; the reference index, 6 bits; a bit of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quarter {
    /// Reference index, 0 to 31; -1 for none.
    reference: i8,
    /// Identity of the picture it refers to.
    identity: u16,
    /// The picture it refers to is a bottom field.
    bottom: bool,
    /// The vectors of the 4x4 blocks.
    vectors: [[i16; 2]; 4],
}

/// Bits of the components of a vector.
const VECTOR_BITS: [u32; 2] = [14, 12];
/// The bits after the vectors: identity, bottom field, reference index, kind.
const FIELD_BITS: [u32; 4] = [16, 1, 6, 1];
/// Stored index of a block without reference.
const NO_REFERENCE: u128 = 63;

impl Quarter {
    fn pack(&self, kind: u8) -> [u8; 16] {
        let index = if self.reference < 0 { NO_REFERENCE } else { self.reference as u128 & 31 };
        let fields = [self.identity.into(), self.bottom.into(), index, (kind & 1).into()];
        let (mut word, mut at) = (0, 0);
        let mut put = |value: u128, bits: u32| {
            word |= (value & ((1 << bits) - 1)) << at;
            at += bits;
        };
        for vector in self.vectors {
            for (component, bits) in vector.into_iter().zip(VECTOR_BITS) {
                put(component as u128, bits);
            }
        }
        for (field, bits) in fields.into_iter().zip(FIELD_BITS) {
            put(field, bits);
        }
        word.to_le_bytes()
    }

    /// The block and its bit of the kind.
    fn unpack(bytes: [u8; 16]) -> (Self, u8) {
        let (word, mut at) = (u128::from_le_bytes(bytes), 0);
        let mut take = |bits: u32| {
            at += bits;
            word << (128 - at) >> (128 - bits)
        };
        let vectors = [(); 4].map(|()| {
            VECTOR_BITS.map(|bits| {
                let value = take(bits) as i16;
                value << (16 - bits) >> (16 - bits)
            })
        });
        let [identity, bottom, index, kind] = FIELD_BITS.map(take);
        let reference = if index == NO_REFERENCE { -1 } else { index as i8 };
        let quarter =
            Quarter { reference, identity: identity as u16, bottom: bottom != 0, vectors };
        (quarter, kind as u8)
    }
}

/// The record of a macroblock: its 8x8 blocks in raster order. The kind is in the first two.
#[derive(Clone, Copy, Debug)]
struct Record<'a>(&'a [u8; MOTION_BYTES]);

impl Record<'_> {
    fn part(self, index: usize) -> (Quarter, u8) {
        Quarter::unpack(std::array::from_fn(|byte| self.0[16 * index + byte]))
    }

    fn quarter(self, index: usize) -> Quarter {
        self.part(index).0
    }

    fn kind(self) -> u8 {
        self.part(0).1 | self.part(1).1 << 1
    }
}

impl Decoder<'_, '_> {
    /// Sets the motion of the 8x8 blocks in `mask`.
    pub fn direct(&mut self, mask: u8) {
        let spatial = self.slice.direct_spatial.then(|| self.spatial_motion());
        let inference = self.parameters.direct_8x8_inference;
        for block in (0..4).filter(|block| mask >> block & 1 == 1) {
            let (x, y) = (block % 2 * 2, block / 2 * 2);
            let parts = if inference { 1 } else { 4 };
            for part in 0..parts {
                // With inference, the corner of the macroblock stands for the 8x8 block.
                let (at, size, from) = if inference {
                    ((x, y), (2, 2), (x / 2 * 3, y / 2 * 3))
                } else {
                    let at = (x + part % 2, y + part / 2);
                    (at, (1, 1), at)
                };
                let colocated = self.colocated(from);
                let motion = match spatial {
                    Some(motion) => self.spatial(motion, &colocated),
                    None => self.temporal(&colocated),
                };
                for (list, (reference, vector)) in motion.into_iter().enumerate() {
                    self.cache.set(list, at, size, reference, vector);
                }
            }
        }
    }

    /// Direct spatial prediction (8.4.1.2.2).
    fn spatial(&self, motion: [Motion; 2], colocated: &Colocated) -> [Motion; 2] {
        if motion[0].0 < 0 && motion[1].0 < 0 {
            return [(0, [0; 2]); 2];
        }
        let short = !self.slice.lists[1][0].long_term;
        let still = colocated.vector.iter().all(|component| (-1..=1).contains(component));
        let zero = short && still && colocated.reference == 0;
        motion.map(|(reference, vector)| match reference {
            0 if zero => (0, [0; 2]),
            _ => (reference, vector),
        })
    }

    /// Direct temporal prediction (8.4.1.2.3).
    fn temporal(&self, colocated: &Colocated) -> [Motion; 2] {
        let reference = if colocated.reference < 0 { 0 } else { self.map_reference(colocated) };
        let [x, y] = colocated.vector;
        let y = match colocated.scale {
            Scale::OneToOne => y,
            Scale::FrameToField => y / 2,
            Scale::FieldToFrame => y.wrapping_mul(2),
        };
        let vector = [x, y];
        let count = |list: usize, index: i8| {
            self.reference_of(list, index)
                .map_or(0, |(store, structure)| count_of(self.parameters.counts[store], structure))
        };
        let current = count_of(self.parameters.count, self.structure());
        let entry = self.slice.lists[0][reference as usize >> usize::from(self.current.field) & 31];
        let factor = dist_scale_factor(current, count(0, reference), count(1, 0));
        match factor.filter(|_| !entry.long_term) {
            None => [(reference, vector), (0, [0; 2])],
            Some(factor) => {
                let first = vector.map(|value| ((factor * i32::from(value) + 128) >> 8) as i16);
                let second = [0, 1].map(|axis| first[axis].wrapping_sub(vector[axis]));
                [(reference, first), (0, second)]
            }
        }
    }

    /// The reference index in list 0 of the picture that the colocated block refers to.
    fn map_reference(&self, colocated: &Colocated) -> i8 {
        let counts = usize::from(self.slice.reference_counts[0].min(32));
        let entries = &self.slice.lists[0][..counts];
        let same = |entry: &Entry| self.identity(usize::from(entry.store)) == colocated.identity;
        let own = self.structure();
        // A frame stands for its field of the macroblock's parity.
        let bottom = match colocated.scale {
            Scale::FrameToField => own == Structure::Bottom,
            _ => colocated.bottom,
        };
        if self.parameters.structure.is_field() {
            let found = entries.iter().position(|entry| same(entry) && entry.bottom == bottom);
            return found.unwrap_or(0) as i8;
        }
        let found = entries.iter().position(same).unwrap_or(0) as i8;
        match self.current.field {
            true => 2 * found + i8::from(bottom != (own == Structure::Bottom)),
            false => found,
        }
    }

    /// What identifies the picture in a frame store in later pictures.
    fn identity(&self, store: usize) -> u16 {
        self.parameters.picture_ids.map_or(store as u16, |ids| ids[store & 15])
    }

    /// The colocated block of 4x4 block (`x`, `y`) (8.4.1.2.1, table 8-6).
    fn colocated(&self, (x, y): (usize, usize)) -> Colocated {
        let entry = self.slice.lists[1][0];
        let store = usize::from(entry.store & 15);
        let motion = self.references.motion[store];
        let width = self.parameters.width;
        let record = |row: usize| {
            let start = (row * width + self.x) * MOTION_BYTES;
            let bytes = motion.get(start..start + MOTION_BYTES)?;
            Some(Record(bytes.try_into().ok()?))
        };
        let kind = |row: usize| record(row).map_or(0, Record::kind);
        if !self.field_coded {
            if kind(self.y) < MBAFF_FIELD_MACROBLOCK {
                return Colocated::read(record(self.y), (x, y), Scale::OneToOne);
            }
            // The field that is nearer in time, the bottom field if both are.
            let current = count_of(self.parameters.count, Structure::Frame);
            let [top, bottom] = self.parameters.counts[store].map(|count| current.abs_diff(count));
            let row = (self.y & !1) + usize::from(top >= bottom);
            let y = self.y % 2 * 2 + y / 2;
            return Colocated::read(record(row), (x, y), Scale::FieldToFrame);
        }
        let top_row = if self.current.field { self.y & !1 } else { 2 * self.y };
        let own = usize::from(self.structure() == Structure::Bottom);
        match kind(top_row) {
            0 | FRAME_MACROBLOCK => {
                let row = top_row + y / 2;
                Colocated::read(record(row), (x, 2 * y % 4), Scale::FrameToField)
            }
            FIELD_PICTURE if !self.current.field => {
                let row = top_row + usize::from(entry.bottom);
                Colocated::read(record(row), (x, y), Scale::OneToOne)
            }
            _ => Colocated::read(record(top_row + own), (x, y), Scale::OneToOne),
        }
    }

    /// Writes the macroblock's record.
    pub fn write_motion(&mut self) {
        let structure = self.parameters.structure;
        let row = match structure {
            Structure::Frame => self.y,
            Structure::Top => 2 * self.y,
            Structure::Bottom => 2 * self.y + 1,
        };
        let ids = self.parameters.picture_ids;
        let start = (row * self.parameters.width + self.x) * MOTION_BYTES;
        let Some(record) = self.motion.get_mut(start..start + MOTION_BYTES) else { return };
        let kind = match (structure.is_field(), self.current.field) {
            (true, _) => FIELD_PICTURE,
            (false, true) => MBAFF_FIELD_MACROBLOCK,
            (false, false) => FRAME_MACROBLOCK,
        };
        for (quarter, bytes) in record.chunks_exact_mut(16).enumerate() {
            let list = usize::from(self.current.references[0][quarter] < 0);
            let picture = self.current.pictures[list][quarter].max(0);
            let store = (picture / 2) as usize;
            let block = quarter / 2 * 8 + quarter % 2 * 2;
            let packed = Quarter {
                reference: self.current.references[list][quarter],
                identity: ids.map_or(store as u16, |ids| ids[store & 15]),
                bottom: picture % 2 != 0,
                vectors: [0, 1, 4, 5].map(|part| self.current.vectors[list][block + part]),
            };
            bytes.copy_from_slice(&packed.pack(kind >> quarter));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Quarter;

    #[test]
    fn packed_blocks_come_back() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let quarter = Quarter {
                reference: random.i8(-1..32),
                identity: random.u16(..),
                bottom: random.bool(),
                vectors: [(); 4].map(|()| [random.i16(-8192..8192), random.i16(-2048..2048)]),
            };
            let kind = random.u8(0..2);
            assert_eq!(Quarter::unpack(quarter.pack(kind)), (quarter, kind));
        }
    }
}
