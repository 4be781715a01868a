//! Finds the vertices of a primitive: the vertex shader's batch that has them, or the thread of the
//! geometry shader that made them.

use super::used::VertexUse;
use crate::machine::events::Event;
use crate::machine::origins::{ClippedCorner, GeometryLane, OriginEvent, Streamed};
use std::collections::BTreeMap;
use std::ops::Range;

/// Vertices that were fetched and shaded together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// The vertices: their numbers, or without `cached` their positions in the sequence of
    /// vertices.
    pub vertices: Vec<u32>,
    /// A vertex that several primitives use is shaded once.
    pub cached: bool,
    /// The instance, from 0 on.
    pub instance: u32,
    /// Number of the first vertex shader thread of the batch among all threads of the draw.
    pub first_thread: u64,
    /// Number of primitives in the batches before this one, before the geometry shader.
    pub before: u64,
}

/// A lane of a geometry shader thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// Number of the input primitive in the batch.
    pub primitive: usize,
    /// Its vertices: indices into [`Batch::vertices`].
    pub vertices: Vec<u32>,
}

/// The stage that made the vertices of a primitive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MadeBy {
    /// The vertex shader, or vertex fetch if there is no vertex shader.
    Vertices {
        /// Number of the primitive in the batch.
        primitive: u64,
    },
    /// The geometry shader.
    Geometry {
        /// Number of the thread among all threads of the draw, from 0 on.
        thread: u64,
        /// The lanes of the thread.
        lanes: Vec<Lane>,
        /// The lane that made the primitive.
        lane: usize,
        /// The shader's input comes from a patch.
        of_patch: bool,
    },
    /// The domain shader.
    Patch,
}

/// A primitive at the clipper or at stream output, and the origin of its vertices.
#[derive(Clone, PartialEq, Debug)]
pub struct PrimitiveOrigin {
    /// Number of the primitive among those of the draw.
    pub number: u32,
    /// The primitive's vertices: indices into the batch, or into the vertices that the geometry
    /// shader made. Points and lines repeat their last vertex.
    pub indices: [u32; 3],
    /// The dwords of these vertices.
    pub vertices: [Vec<u32>; 3],
    /// Number of vertices, 1 to 3.
    pub count: usize,
    /// Index of the provoking vertex.
    pub provoking: usize,
    /// Primitive ID.
    pub id: u32,
    /// The corners of a primitive that the clipper cut; empty if it was not cut.
    pub corners: Vec<ClippedCorner>,
    /// The stage that made the vertices.
    pub made: MadeBy,
    /// The batch of the vertex shader.
    pub batch: Batch,
}

/// The dwords of each vertex of a primitive that are used, with what they are for.
pub type Needs = [BTreeMap<usize, Vec<VertexUse>>; 3];

/// What is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Target {
    /// The primitive with this number.
    Clipped(u32),
    /// The primitive that stream output wrote last to this range of graphics addresses.
    Streamed(Range<u64>),
}

/// Looks for the origin of a primitive in the events of a draw.
#[derive(Debug)]
pub struct Origins {
    wanted: Target,
    /// Threads of the draw that have started.
    threads: u64,
    /// Primitives in the batches so far.
    assembled: u64,
    batch: Batch,
    /// Primitives of the batch that went to the clipper.
    clipped: u64,
    /// Primitives of the batch that stream output took.
    streamed: u64,
    /// Primitives of earlier batches that stream output took.
    streamed_before: u64,
    /// The latest thread of the geometry shader.
    geometry: Option<(u64, Vec<Lane>)>,
    /// The lane that makes primitives now.
    lane: Option<usize>,
    is_patch: bool,
    found: Option<PrimitiveOrigin>,
    needs: Needs,
}

impl Origins {
    /// Looks for a primitive of a draw that is about to start.
    pub fn new(primitive: u32) -> Origins {
        Origins::of(Target::Clipped(primitive))
    }

    /// Looks for the primitive that stream output writes to a range of graphics addresses, in a
    /// draw that is about to start.
    pub fn streamed(addresses: Range<u64>) -> Origins {
        Origins::of(Target::Streamed(addresses))
    }

    fn of(wanted: Target) -> Origins {
        Origins {
            wanted,
            threads: 0,
            assembled: 0,
            batch: Batch::default(),
            clipped: 0,
            streamed: 0,
            streamed_before: 0,
            geometry: None,
            lane: None,
            is_patch: false,
            found: None,
            needs: Needs::default(),
        }
    }

    /// True if no other event of the draw matters.
    pub fn is_done(&self) -> bool {
        self.found.is_some() && matches!(self.wanted, Target::Clipped(_))
    }

    /// The dwords that stream output wrote to the range.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// The origin of the primitive; `None` if it did not reach the clipper, or if stream output
    /// wrote nothing to the range.
    pub fn finish(self) -> Option<PrimitiveOrigin> {
        self.found
    }

    /// Takes an event of the draw.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Thread { .. } => self.threads += 1,
            Event::Origin(event) if !self.is_done() => self.origin(event),
            _ => {}
        }
    }

    fn origin(&mut self, event: &OriginEvent<'_>) {
        match *event {
            OriginEvent::Batch(batch) => {
                self.batch.vertices.clear();
                self.batch.vertices.extend_from_slice(batch.vertices);
                self.batch.cached = batch.cached;
                self.batch.instance = batch.instance;
                self.batch.first_thread = self.threads;
                self.batch.before = self.assembled;
                self.assembled += batch.primitives as u64;
                self.streamed_before += self.streamed;
                (self.clipped, self.streamed) = (0, 0);
                (self.geometry, self.lane, self.is_patch) = (None, None, false);
            }
            OriginEvent::Patch => {
                (self.geometry, self.lane, self.is_patch) = (None, None, true);
            }
            OriginEvent::Geometry(lanes) => {
                let lane = |lane: &GeometryLane<'_>| Lane {
                    primitive: lane.primitive,
                    vertices: lane.vertices.to_vec(),
                };
                self.geometry = Some((self.threads, lanes.iter().map(lane).collect()));
                self.lane = None;
            }
            OriginEvent::Made { lane } => self.lane = Some(lane),
            OriginEvent::Clipped(clipped) => {
                let primitive = self.clipped;
                self.clipped += 1;
                if self.wanted != Target::Clipped(clipped.number) {
                    return;
                }
                let made = self.made(primitive);
                self.found = Some(PrimitiveOrigin {
                    number: clipped.number,
                    indices: clipped.indices,
                    vertices: clipped.vertices.map(<[u32]>::to_vec),
                    count: clipped.count,
                    provoking: clipped.provoking,
                    id: clipped.id,
                    corners: clipped.corners.to_vec(),
                    made,
                    batch: self.batch.clone(),
                });
            }
            OriginEvent::Streamed(streamed) => self.stream(&streamed),
        }
    }

    fn stream(&mut self, primitive: &Streamed<'_>) {
        let number = self.streamed;
        self.streamed += 1;
        let Target::Streamed(wanted) = &self.wanted else { return };
        let mut needs = Needs::default();
        for write in primitive.writes {
            if write.address < wanted.end
                && wanted.start < write.address + 4
                && let Some(dwords) = needs.get_mut(write.vertex)
            {
                dwords.entry(write.dword).or_default().push(VertexUse::Streamed(write.address));
            }
        }
        let count = primitive.indices.len();
        if needs.iter().all(BTreeMap::is_empty) || !(1..=3).contains(&count) {
            return;
        }
        let corner = |n: usize| n.min(count - 1);
        self.found = Some(PrimitiveOrigin {
            number: (self.streamed_before + number) as u32,
            indices: [0, 1, 2].map(|n| primitive.indices[corner(n)]),
            vertices: [0, 1, 2].map(|n| primitive.vertices[corner(n)].to_vec()),
            count,
            provoking: 0,
            id: 0,
            corners: Vec::new(),
            made: self.made(number),
            batch: self.batch.clone(),
        });
        self.needs = needs;
    }

    /// The stage that made primitive `primitive` of the batch.
    fn made(&self, primitive: u64) -> MadeBy {
        match (&self.geometry, self.lane) {
            (Some((thread, lanes)), Some(lane)) => MadeBy::Geometry {
                thread: *thread,
                lanes: lanes.clone(),
                lane,
                of_patch: self.is_patch,
            },
            _ if self.is_patch => MadeBy::Patch,
            _ => MadeBy::Vertices { primitive },
        }
    }
}
