//! The sampler's palettes: colours that formats with an index stand for (2a p.196-198).

use super::views::COLORS;
use crate::machine::slots::UnitState;

impl UnitState for Palettes {}

/// The two palettes of a context, as the packets had their entries.
#[derive(Clone, Debug)]
pub struct Palettes([[u32; COLORS]; 2]);

impl Default for Palettes {
    fn default() -> Self {
        Palettes([[0; COLORS]; 2])
    }
}

impl Palettes {
    /// Loads the first entries of a palette; the others stay (2a p.196). What goes beyond its end
    /// is not looked at.
    pub fn load(&mut self, palette: usize, entries: impl Iterator<Item = u32>) {
        self.0[palette].iter_mut().zip(entries).for_each(|(to, from)| *to = from);
    }

    /// The entries of a palette.
    pub fn get(&self, palette: usize) -> &[u32; COLORS] {
        &self.0[palette]
    }
}
