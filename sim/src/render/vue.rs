//! Vertices between the stages, and their URB entries (gen8_facts 5.2).

use crate::assumptions::URB_HANDLE_BYTES;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::urb::{Outside, Urb};

/// Bytes of a unit of URB starting addresses (2a p.318).
const URB_CHUNK: usize = 8 << 10;
/// Dwords of a unit of URB entry sizes: 64 bytes (2a p.318).
const ENTRY_UNIT: usize = 16;

/// Dwords of a slot of a vertex.
pub const SLOT: usize = 4;
/// Slots in a unit of URB read lengths and offsets.
pub const SLOTS: usize = 2;
/// Dwords in a unit of URB read lengths and offsets.
pub const UNIT: usize = SLOTS * SLOT;

/// Vertices, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    /// The dwords of all vertices.
    pub data: Vec<u32>,
    /// Dwords of each vertex.
    pub dwords: usize,
    count: usize,
}

/// Offsets, in dwords, of the header fields, position and distances in a vertex (gen8_facts 5.2).
pub mod place {
    /// Render target array index.
    pub const ARRAY_INDEX: usize = 1;
    /// Viewport index.
    pub const VIEWPORT: usize = 2;
    /// Point width.
    pub const POINT_WIDTH: usize = 3;
    /// Position in clip space.
    pub const POSITION: usize = 4;
    /// The first of eight clip or cull distances.
    pub const DISTANCES: usize = 8;
}

impl Vertices {
    /// An empty list for vertices of `dwords` dwords each.
    pub fn new(dwords: usize) -> Vertices {
        Vertices { data: Vec::new(), dwords, count: 0 }
    }

    /// Number of vertices.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The dwords of a vertex; empty if there is no such vertex.
    pub fn get(&self, vertex: usize) -> &[u32] {
        let from = vertex * self.dwords;
        self.data.get(from..from + self.dwords).unwrap_or_default()
    }

    /// Removes all vertices.
    pub fn clear(&mut self) {
        self.data.clear();
        self.count = 0;
    }

    /// Replaces all vertices by those in `dwords`.
    pub fn replace(&mut self, dwords: &[u32]) {
        self.clear();
        self.data.extend_from_slice(dwords);
        self.count = dwords.len().checked_div(self.dwords).unwrap_or(0);
    }

    /// Appends a vertex of zeros, and returns its dwords.
    pub fn push(&mut self) -> &mut [u32] {
        self.extend(1)
    }

    /// Appends `count` vertices of zeros, and returns their dwords.
    pub fn extend(&mut self, count: usize) -> &mut [u32] {
        let from = self.data.len();
        self.count += count;
        self.data.resize(from + count * self.dwords, 0);
        &mut self.data[from..]
    }

    /// Replaces all vertices by `count` vertices of `dwords` dwords, and returns their dwords. The
    /// values of the dwords are not defined.
    pub fn replace_with_any(&mut self, dwords: usize, count: usize) -> &mut [u32] {
        (self.dwords, self.count) = (dwords, count);
        self.data.resize(count * dwords, 0);
        &mut self.data
    }

    /// Removes all vertices after the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
        self.data.truncate(self.count * self.dwords);
    }
}

/// Dword `n` of a vertex; 0 after the end of the vertex.
pub fn dword(vertex: &[u32], n: usize) -> u32 {
    vertex.get(n).copied().unwrap_or(0)
}

/// Four floats of a vertex, from dword `first` on.
pub fn floats(vertex: &[u32], first: usize) -> [f32; 4] {
    std::array::from_fn(|n| f32::from_bits(dword(vertex, first + n)))
}

/// The URB entries of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entries {
    /// Offset of the first entry, in bytes.
    first: usize,
    /// Bytes of each entry.
    size: usize,
    /// Number of entries.
    count: usize,
}

impl Entries {
    /// Entries from the fields of 3DSTATE_URB: starting address in units of 8 KiB, allocation size
    /// in units of 64 bytes.
    pub fn new(start: u64, size: u64, count: u64) -> Entries {
        Entries {
            first: start as usize * URB_CHUNK,
            size: size as usize * ENTRY_UNIT * 4,
            count: count as usize,
        }
    }

    /// Dwords of an entry.
    pub fn dwords(&self) -> usize {
        self.size / 4
    }

    /// Number of entries.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The handle of an entry.
    pub fn handle(&self, entry: usize) -> u64 {
        ((self.first + entry * self.size) / URB_HANDLE_BYTES) as u64
    }

    /// Checks that a stage has the entries that its threads use at once.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if there are fewer than `least` entries.
    pub fn check(&self, exec: &Exec<'_>, least: usize, stage: &str) -> Result<(), Fault> {
        if self.count < least {
            let why = format!("threads of the {stage} work with {least} entries at once");
            return Err(exec.bad_field("Number of URB Entries", self.count as u64, why));
        }
        Ok(())
    }

    /// Reads the dwords from the start of an entry into `out`.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for an entry after the end of the URB.
    pub fn read(&self, exec: &mut Exec<'_>, entry: usize, out: &mut [u32]) -> Result<(), Fault> {
        let read = self.get(exec.state.slots.get_mut(), entry, out);
        read.map_err(|_| self.outside(exec, entry))
    }

    /// Writes `dwords` to the start of an entry. Dwords that do not fit in the entry are dropped.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for an entry after the end of the URB.
    pub fn write(&self, exec: &mut Exec<'_>, entry: usize, dwords: &[u32]) -> Result<(), Fault> {
        let written = self.put(exec.state.slots.get_mut(), entry, dwords);
        written.map_err(|_| self.outside(exec, entry))
    }

    /// Reads the first `count` entries, and appends a vertex for each to `vertices`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_all(
        &self,
        exec: &mut Exec<'_>,
        count: usize,
        vertices: &mut Vertices,
    ) -> Result<(), Fault> {
        let urb: &mut Urb = exec.state.slots.get_mut();
        // The entries follow each other.
        if vertices.dwords == self.dwords() {
            let before = vertices.count();
            if self.get(urb, 0, vertices.extend(count)).is_ok() {
                return Ok(());
            }
            vertices.truncate(before);
        }
        match (0..count).find(|entry| self.get(urb, *entry, vertices.push()).is_err()) {
            None => Ok(()),
            Some(entry) => Err(self.outside(exec, entry)),
        }
    }

    /// Writes `count` of the vertices, from number `first` on, to the first entries.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_all(
        &self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        first: usize,
        count: usize,
    ) -> Result<(), Fault> {
        let urb: &mut Urb = exec.state.slots.get_mut();
        let length = 4 * vertices.dwords.min(self.dwords());
        let from = first * vertices.dwords;
        if let Some(rows) = vertices.data.get(from..from + count * vertices.dwords)
            && urb.write_rows(self.first, self.size, length, (rows, vertices.dwords))
        {
            return Ok(());
        }
        let mut put = |entry: usize| self.put(urb, entry, vertices.get(first + entry));
        match (0..count).find(|entry| put(*entry).is_err()) {
            None => Ok(()),
            Some(entry) => Err(self.outside(exec, entry)),
        }
    }

    fn get(&self, urb: &mut Urb, entry: usize, out: &mut [u32]) -> Result<(), Outside> {
        urb.read(self.first + entry * self.size, bytemuck::cast_slice_mut(out))
    }

    fn put(&self, urb: &mut Urb, entry: usize, dwords: &[u32]) -> Result<(), Outside> {
        let length = dwords.len().min(self.dwords());
        urb.write(self.first + entry * self.size, bytemuck::cast_slice(&dwords[..length]))
    }

    #[cold]
    fn outside(&self, exec: &Exec<'_>, entry: usize) -> Fault {
        let why = format!("entry {entry} of {} bytes is after the end of the URB", self.size);
        exec.bad_field("URB Starting Address", (self.first / URB_CHUNK) as u64, why)
    }
}
