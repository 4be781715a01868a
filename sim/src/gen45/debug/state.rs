//! The state of the debug functions that is not in a register.

use crate::machine::slots::UnitState;
use std::collections::BTreeMap;

/// A fixed function, by its number in `sr0` and in debug tags (assumptions::G45_UNIT_NUMBERS).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    /// Vertex fetch.
    #[default]
    Fetch = 1,
    /// Vertex shader.
    Vertex = 2,
    /// Geometry shader.
    Geometry = 3,
    /// Clipper.
    Clipper = 4,
    /// Strips and fans.
    Setup = 5,
    /// Windower.
    Windower = 6,
}

/// The tag of a vertex: where it comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tag {
    /// The unit that made the vertex.
    pub unit: Unit,
    /// Vertex sequence number, or thread ID of the unit.
    pub number: u32,
    /// Number of the vertex within its thread.
    pub relative: u32,
}

/// A counter of 24 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count(u32);

impl Count {
    /// Adds one. Returns the value before the addition: the number of the counted item.
    pub fn count(&mut self) -> u32 {
        let number = self.0;
        self.0 = (number + 1) & 0xff_ffff;
        number
    }

    /// The number that the next counted item will have.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// The counters of the fixed functions (003:1208-1225).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Vertices of vertex fetch.
    pub vertices: Count,
    /// 3DPRIMITIVE commands.
    pub topologies: Count,
    /// Threads of the vertex shader.
    pub vertex: Count,
    /// Threads of the geometry shader.
    pub geometry: Count,
    /// Threads of the clipper.
    pub clipper: Count,
    /// Primitives of strips and fans.
    pub primitives: Count,
    /// Pixel shader threads of the primitive.
    pub pixel: Count,
    /// Occurrences of the subspan of WIZ_STRG_VAL.
    pub subspans: u32,
}

/// The primitive that strips and fans passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Primitive {
    /// Primitive sequence number.
    pub number: u32,
    /// Its snapshot flag.
    pub flag: bool,
    /// The snapshot flag of its setup thread.
    pub to_thread: bool,
}

/// The state of the debug functions, in `exec.state.slots`.
#[derive(Clone, Debug, Default)]
pub struct Debug {
    /// The counters.
    pub counters: Counters,
    /// The tags of the vertices of the object that goes through the units.
    pub corners: [Tag; 4],
    /// The primitive that is drawn.
    pub primitive: Primitive,
    /// The next thread takes an external halt.
    pub halt_next: bool,
    /// Answers of the host that no thread has waited for yet, a bit for each thread.
    pub answers: u128,
    /// Captured words, by the offset of the register that returns them and the mux select.
    captured: BTreeMap<(u32, u8), u32>,
}

impl UnitState for Debug {}

impl Debug {
    /// Replaces all words that the register at `offset` can return. Each of `words` is a mux select
    /// and the word that it selects.
    pub fn capture(&mut self, offset: u32, words: impl IntoIterator<Item = (u8, u32)>) {
        self.captured.retain(|(register, _), _| *register != offset);
        self.captured.extend(words.into_iter().map(|(select, word)| ((offset, select), word)));
    }

    /// Sets one word that the register at `offset` returns.
    pub fn capture_one(&mut self, offset: u32, select: u8, word: u32) {
        self.captured.insert((offset, select), word);
    }

    /// The word that the register at `offset` returns; 0 if none was captured.
    pub fn captured(&self, offset: u32, select: u8) -> u32 {
        self.captured.get(&(offset, select)).copied().unwrap_or(0)
    }

    /// True if a word was captured for the register at `offset`.
    pub fn has_captured(&self, offset: u32) -> bool {
        self.captured.range((offset, 0)..=(offset, u8::MAX)).next().is_some()
    }
}
