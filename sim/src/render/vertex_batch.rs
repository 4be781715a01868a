//! Vertices, and the primitives made of them, that go through the pipeline together.

use crate::machine::slots::UnitState;

/// Number of vertices at which a batch is full: enough for all lanes of many threads, and few
/// enough for the host's caches.
const BATCH: usize = 512;
/// Number of primitives at which a batch is full: a few vertices can make many primitives.
const PRIMITIVES: usize = 4096;
/// Number of entries of the table that finds a vertex again in a batch. The low bits of the vertex
/// number are the index.
const FOUND: usize = 1024;

/// The table in which a batch looks up its vertices. Later batches reuse its memory. A clone is
/// empty.
#[derive(Debug, Default)]
pub struct Table {
    /// Table indexed by the low bits of a vertex number. An entry has the number of the batch that
    /// it is valid for, and the index of the vertex in [`Batch::vertices`].
    found: Option<Box<[(u32, u32); FOUND]>>,
    /// Number of the latest batch.
    number: u32,
}

impl UnitState for Table {}

impl Clone for Table {
    fn clone(&self) -> Table {
        Table::default()
    }
}

/// A batch of vertices, with primitives of type `P`.
#[derive(Debug)]
pub struct Batch<P> {
    /// The vertices, as the numbers that vertex fetch returned for their positions. Without vertex
    /// cache: as the positions.
    pub vertices: Vec<u32>,
    /// Primitives; their vertices are indices into `vertices`.
    pub primitives: Vec<P>,
    /// The table of the batch, as in [`Table`].
    found: Box<[(u32, u32); FOUND]>,
    number: u32,
}

impl<P> Default for Batch<P> {
    fn default() -> Self {
        Batch::new(Table::default())
    }
}

impl<P> Batch<P> {
    /// An empty batch with the table of an earlier one.
    pub fn new(table: Table) -> Batch<P> {
        let mut batch = Batch {
            vertices: Vec::new(),
            primitives: Vec::new(),
            found: table.found.unwrap_or_else(bytemuck::zeroed_box),
            number: table.number,
        };
        batch.clear();
        batch
    }

    /// Reserves memory for `vertices` vertices and as many primitives, but at most for a full
    /// batch.
    pub fn reserve(&mut self, vertices: u32) {
        let vertices = BATCH.min(vertices as usize);
        self.vertices.reserve(vertices + 2);
        self.primitives.reserve(vertices);
    }

    /// The table of the batch.
    pub fn into_table(self) -> Table {
        Table { found: Some(self.found), number: self.number }
    }

    /// Removes all vertices and primitives.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.primitives.clear();
        self.number = match self.number.checked_add(1) {
            Some(number) => number,
            None => {
                self.found.fill((0, 0));
                1
            }
        };
    }

    /// The index of a vertex in the batch; adds the vertex if it is new.
    #[inline]
    pub fn place(&mut self, vertex: u32) -> u32 {
        let (number, place) = &mut self.found[vertex as usize % FOUND];
        if *number == self.number && self.vertices[*place as usize] == vertex {
            return *place;
        }
        *number = self.number;
        *place = self.vertices.len() as u32;
        self.vertices.push(vertex);
        *place
    }

    /// Adds a vertex that is not in the batch yet, and returns its index.
    /// [`place`](Self::place) does not find this vertex later.
    #[inline]
    pub fn push_new(&mut self, vertex: u32) -> u32 {
        self.vertices.push(vertex);
        self.vertices.len() as u32 - 1
    }

    /// True if the batch should be drawn before more primitives are added.
    pub fn is_full(&self) -> bool {
        self.vertices.len() >= BATCH || self.primitives.len() >= PRIMITIVES
    }
}
