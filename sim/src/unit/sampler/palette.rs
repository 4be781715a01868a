//! The sampler's palettes: the colours for formats with a palette index (2a p.196-198).

use crate::machine::slots::UnitState;

impl UnitState for Palettes {}

/// Number of colours of a palette.
const COLORS: usize = 256;

/// The two palettes of a context. Entries are the dwords of the packets that loaded them.
#[derive(Clone, Debug)]
pub struct Palettes([[u32; COLORS]; 2]);

impl Default for Palettes {
    fn default() -> Self {
        Palettes([[0; COLORS]; 2])
    }
}

impl Palettes {
    /// Loads the first entries of a palette and keeps the others (2a p.196). Surplus entries are
    /// ignored.
    pub fn load(&mut self, palette: usize, entries: impl Iterator<Item = u32>) {
        self.0[palette].iter_mut().zip(entries).for_each(|(to, from)| *to = from);
    }

    /// The entries of a palette.
    pub fn get(&self, palette: usize) -> &[u32; COLORS] {
        &self.0[palette]
    }
}
