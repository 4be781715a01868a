//! The dwords that stream output writes for a primitive, for observers.

use super::{BUFFERS, SLOT, StreamOut};
use crate::machine::origins::StreamedDword;

impl StreamOut {
    /// What [`primitive`](Self::primitive) is about to write for a primitive of `count` vertices.
    /// Vertices count in the order in which `primitive` takes them.
    pub fn plan(&self, stream: usize, count: usize) -> Vec<StreamedDword> {
        let mut plan = Vec::new();
        if !self.enabled || !self.fits(stream, count as u64) {
            return plan;
        }
        let own = &self.streams[stream];
        let mut offsets = self.offsets;
        for vertex in 0..count {
            let mut to = offsets;
            for piece in &own.pieces {
                for component in (0..SLOT).filter(|component| piece.mask >> component & 1 == 1) {
                    let dword = piece.from.map(|from| from + component);
                    if let (Some(buffer), Some(dword)) = (self.buffers[piece.buffer], dword)
                        && dword < own.length
                    {
                        let address = buffer.address.wrapping_add(to[piece.buffer]);
                        let dword = own.first + dword;
                        plan.push(StreamedDword { address, vertex, dword });
                    }
                    to[piece.buffer] += 4;
                }
            }
            for n in (0..BUFFERS).filter(|&n| own.extents[n].is_some()) {
                offsets[n] += self.buffers[n].map_or(0, |buffer| buffer.pitch);
            }
        }
        plan
    }
}
