//! The vertices of a pixel's primitive: from the dwords that setup uses back through geometry and
//! vertex shader to vertex fetch.

use super::made::{FetchedValue, GeometrySlice, MemoryRead, Need, StageSlice, VertexSlice};
use super::reads::{reads, sources};
use crate::inspect::slice::origins::{Lane, Needs, PrimitiveOrigin};
use crate::inspect::slice::setup::Term;
use crate::inspect::slice::stages::{GeometryStage, StageTracer, Stages, VertexStage};
use crate::inspect::slice::tracer::Parent;
use crate::inspect::slice::{Fetched, Input, MadeBy, Slice, SliceError, Source, Traced, VertexUse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of fetched dwords of a geometry slice whose bytes in vertex buffers are listed.
const MAX_READS: usize = 512;

/// The dwords of a vertex that are used, with what they are for.
type Dwords = BTreeMap<usize, Vec<VertexUse>>;

/// The observer that finds what the slice of a primitive needs. `draw` has the numbers of the
/// submission and of the draw.
pub fn tracer(origin: &PrimitiveOrigin, draw: (u64, u64)) -> StageTracer {
    let batch = origin.batch.clone();
    let (vertices, primitive, others): (&[u32], Option<u64>, BTreeSet<u64>) = match &origin.made {
        MadeBy::Vertices { primitive } => {
            (&origin.indices[..origin.count], Some(*primitive), BTreeSet::new())
        }
        MadeBy::Geometry { thread, lanes, lane, of_patch } => match lanes.get(*lane) {
            Some(lane) if !of_patch => {
                (&lane.vertices, Some(lane.primitive as u64), [*thread].into())
            }
            _ => (&[], None, [*thread].into()),
        },
        MadeBy::Patch => (&[], None, BTreeSet::new()),
    };
    let primitive = primitive.map(|primitive| batch.before + primitive);
    StageTracer::new(draw, batch, vertices.to_vec(), primitive, others)
}

/// The slice of the primitive of a pixel, without the writers of memory. `terms` is the setup data
/// that the pixel shader reads.
pub fn of_pixel(
    parent: &Parent,
    origin: &PrimitiveOrigin,
    stages: &Stages,
    terms: &[Term],
) -> Option<GeometrySlice> {
    let (needs, attributes) = parent.setup.as_ref()?.needs(origin, parent.covered, terms);
    Some(GeometrySlice { attributes, ..slice(origin, stages, &needs) })
}

/// The slice of dwords of a primitive's vertices, without the writers of memory.
pub fn slice(origin: &PrimitiveOrigin, stages: &Stages, needs: &Needs) -> GeometrySlice {
    let mut slice = GeometrySlice {
        primitive: origin.number,
        corners: origin.corners.clone(),
        attributes: Vec::new(),
        vertices: Vec::new(),
        inputs: Vec::new(),
        untraced: None,
        is_cut: false,
    };
    let values = &origin.vertices;
    match &origin.made {
        MadeBy::Vertices { .. } => {
            let work = Vertices { origin, stages };
            for (number, dwords) in used(origin, needs) {
                let index = origin.indices[number];
                slice.vertices.push(work.vertex(number, index, dwords, Some(&values[number])));
            }
        }
        MadeBy::Geometry { thread, lanes, lane, of_patch } => {
            let mut inputs = BTreeMap::new();
            let Some(stage) = &stages.geometry else { return slice };
            for (number, dwords) in used(origin, needs) {
                let made = GeometryVertex {
                    stage,
                    traced: stages.threads.get(thread),
                    lanes,
                    lane: *lane,
                    made: origin.indices[number] as usize,
                };
                slice.vertices.push(made.slice(number, dwords, &values[number], &mut inputs));
            }
            let vertices = lanes.get(*lane).map_or(&[][..], |lane| &lane.vertices);
            if *of_patch {
                slice.untraced = Some("hull shader, tessellator and domain shader");
                slice.inputs =
                    inputs.iter().map(|(number, dwords)| bare(*number, dwords, None)).collect();
            } else {
                let work = Vertices { origin, stages };
                for (number, dwords) in &inputs {
                    if let Some(index) = vertices.get(*number) {
                        slice.inputs.push(work.vertex(*number, *index, dwords, None));
                    }
                }
            }
        }
        MadeBy::Patch => {
            slice.untraced = Some("hull shader, tessellator and domain shader");
            for (number, dwords) in used(origin, needs) {
                slice.vertices.push(bare(number, dwords, Some(&values[number])));
            }
        }
    }
    let mut left = MAX_READS;
    for vertex in slice.vertices.iter_mut().chain(&mut slice.inputs) {
        for value in &mut vertex.fetched {
            match left.checked_sub(1) {
                Some(less) => left = less,
                None => (value.read, slice.is_cut) = (None, true),
            }
        }
    }
    slice
}

/// The vertices of a primitive of which a dword is used.
fn used<'n>(
    origin: &PrimitiveOrigin,
    needs: &'n Needs,
) -> impl Iterator<Item = (usize, &'n Dwords)> {
    needs.iter().enumerate().take(origin.count).filter(|(_, dwords)| !dwords.is_empty())
}

/// A vertex whose stage is not traced.
fn bare(number: usize, dwords: &Dwords, values: Option<&[u32]>) -> VertexSlice {
    VertexSlice {
        number,
        needs: needs(dwords, values, |_| None),
        shader: None,
        vertex: None,
        index: None,
        fetched: Vec::new(),
    }
}

fn needs(
    dwords: &Dwords,
    values: Option<&[u32]>,
    node: impl Fn(usize) -> Option<usize>,
) -> Vec<Need> {
    dwords
        .iter()
        .map(|(dword, uses)| Need {
            dword: *dword,
            bits: values.map(|values| values.get(*dword).copied().unwrap_or(0)),
            uses: uses.clone(),
            node: node(*dword),
        })
        .collect()
}

/// The slice of a thread from dwords of a URB entry.
fn stage_slice(
    stage: &'static str,
    traced: Option<&Result<Arc<Traced>, SliceError>>,
    channel: usize,
    wanted: &[usize],
) -> Result<StageSlice, SliceError> {
    let traced = traced.ok_or(SliceError::NoThread)?.as_ref().map_err(Clone::clone)?;
    let channel = channel as u8;
    let slice = traced.slice_urb(channel, wanted)?;
    let sources = sources(traced, &slice);
    let (reads, reads_are_cut) = reads(traced, &slice, &sources);
    let traced = Arc::clone(traced);
    Ok(StageSlice { stage, traced, channel, slice, sources, reads, reads_are_cut })
}

/// The instruction of a slice that wrote a dword of the URB.
fn writer(slice: &Slice, urb: usize) -> Option<usize> {
    slice.outputs.iter().find(|output| output.urb == urb)?.node
}

/// Vertices that the vertex shader or vertex fetch made.
struct Vertices<'a> {
    origin: &'a PrimitiveOrigin,
    stages: &'a Stages,
}

impl Vertices<'_> {
    /// The slice of vertex `number` of the primitive. `index` is its index in the batch.
    fn vertex(
        &self,
        number: usize,
        index: u32,
        dwords: &Dwords,
        values: Option<&[u32]>,
    ) -> VertexSlice {
        let Vertices { origin, stages } = *self;
        let read = stages
            .indices
            .iter()
            .find(|it| it.vertex == number)
            .map(|it| MemoryRead::new(None, it.address, it.bytes, it.span.clone()));
        let mut slice = VertexSlice { index: read, ..bare(number, dwords, values) };
        slice.vertex = stages.vertices.get(&index).cloned();
        // The dwords of fetched vertices that are used: index in the batch, and dword.
        let mut used: BTreeSet<(u32, usize)> = BTreeSet::new();
        match &stages.vertex {
            None => used.extend(dwords.keys().map(|dword| (index, *dword))),
            Some(stage) => {
                let width = stage.width.max(1) as u32;
                let thread = origin.batch.first_thread + u64::from(index / width);
                let (first, lane) = (index / width * width, (index % width) as usize);
                let urb = |dword: &usize| stage.urb.dword(lane, *dword);
                let wanted: Vec<usize> = dwords.keys().map(urb).collect();
                let traced = stages.threads.get(&thread);
                let shader = stage_slice("vertex shader", traced, lane * stage.channels, &wanted);
                if let Ok(shader) = &shader {
                    let node = |dword: usize| writer(&shader.slice, stage.urb.dword(lane, dword));
                    slice.needs = needs(dwords, values, node);
                    // Vertex fetch stored the vertex in the entry before the thread ran.
                    let passed = dwords.keys().filter(|dword| node(**dword).is_none());
                    used.extend(passed.map(|dword| (index, *dword)));
                    let inputs = shader.slice.inputs.iter().zip(&shader.sources);
                    used.extend(inputs.filter_map(|(input, source)| {
                        let (lane, dword) = vertex_input(stage, input, *source)?;
                        Some((first + lane as u32, dword))
                    }));
                }
                slice.shader = Some(shader);
            }
        }
        for (index, dword) in used {
            let Some(vertex) = stages.vertices.get(&index) else { continue };
            let from = vertex.dwords.get(dword).cloned().unwrap_or(Fetched::Nothing);
            let read = match &from {
                Fetched::Buffer { address, bytes, span: Some(span), .. } => {
                    Some(MemoryRead::new(None, *address, *bytes, span.clone()))
                }
                _ => None,
            };
            slice.fetched.push(FetchedValue { dword, from, read });
        }
        slice
    }
}

/// The lane and the dword of the vertex that an input of a vertex shader thread comes from.
fn vertex_input(stage: &VertexStage, input: &Input, source: Source) -> Option<(usize, usize)> {
    match (input.urb, source) {
        (Some(urb), _) => stage.urb.find(urb).filter(|(lane, _)| *lane < stage.width),
        (None, Source::Vertex { lane, dword, .. }) => Some((lane.into(), dword.into())),
        _ => None,
    }
}

/// A vertex that the geometry shader made.
struct GeometryVertex<'a> {
    stage: &'a GeometryStage,
    traced: Option<&'a Result<Arc<Traced>, SliceError>>,
    lanes: &'a [Lane],
    lane: usize,
    /// Number of the vertex among those of the lane.
    made: usize,
}

impl GeometryVertex<'_> {
    /// The slice of vertex `number` of the primitive. Adds what it needs of the vertices of its
    /// input primitive to `inputs`.
    fn slice(
        &self,
        number: usize,
        dwords: &Dwords,
        values: &[u32],
        inputs: &mut BTreeMap<usize, Dwords>,
    ) -> VertexSlice {
        let GeometryVertex { stage, traced, lanes, lane, made } = *self;
        let urb = |dword: usize| stage.urb.dword(lane, stage.first + made * stage.dwords + dword);
        // Dwords after the end of the vertex are 0.
        let wanted: Vec<usize> =
            dwords.keys().filter(|dword| **dword < stage.dwords).map(|it| urb(*it)).collect();
        let shader = stage_slice("geometry shader", traced, lane * stage.channels, &wanted);
        let mut slice = bare(number, dwords, Some(values));
        if let Ok(shader) = &shader {
            slice.needs = needs(dwords, Some(values), |dword| writer(&shader.slice, urb(dword)));
            for (input, source) in shader.slice.inputs.iter().zip(&shader.sources) {
                let own = lanes.get(lane).map(|lane| lane.primitive);
                let of_own = |other: usize| lanes.get(other).map(|it| it.primitive) == own;
                let found = match (input.urb, *source) {
                    (Some(urb), _) => stage.input.find(urb).map(|(entry, dword)| {
                        let expected = stage.expected.max(1);
                        (entry / expected, entry % expected, dword)
                    }),
                    (None, Source::Vertex { lane, vertex: Some(vertex), dword }) => {
                        Some((lane.into(), vertex.into(), dword.into()))
                    }
                    _ => None,
                };
                if let Some((_, vertex, dword)) = found.filter(|(other, ..)| of_own(*other)) {
                    let uses = inputs.entry(vertex).or_default().entry(dword).or_default();
                    if uses.is_empty() {
                        uses.push(VertexUse::Input);
                    }
                }
            }
        }
        slice.shader = Some(shader);
        slice
    }
}
