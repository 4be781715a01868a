//! State for draws that earlier packets have set: vertex and index buffers, vertex elements,
//! viewports. Also layouts of surfaces, which other packets use.

use super::effects::{ARRAYS, Sets};
use super::record::Record;
use super::stage::pointer;
use super::surface_state::Surfaces;
use super::tables::Tables;
use genxml_core::bits;
use genxml_core::reflect::{Container, Type};

/// Number of vertex buffers (2a p.243).
const BUFFERS: usize = 33;
/// Number of vertex elements (2a p.245).
pub(super) const ELEMENTS: usize = 34;

/// A vertex buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct VertexBuffer {
    pub address: u64,
    /// Bytes from one vertex to the next.
    pub pitch: u64,
    /// Size in bytes; reads beyond it return zero.
    pub size: u64,
    /// True if all reads return zero.
    pub null: bool,
}

/// A vertex element with data from a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Element {
    /// Index of the element in 3DSTATE_VERTEX_ELEMENTS.
    pub number: u32,
    pub buffer: u32,
    /// Bytes from the start of the vertex.
    pub offset: u32,
    /// Name of the format; empty if the manual has none for the value.
    pub format: &'static str,
    /// Bits of the format, if they are known.
    pub bits: u32,
    /// One bit for each component that is taken from the buffer.
    pub components: u32,
}

/// The index buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct IndexBuffer {
    pub address: u64,
    pub size: u64,
    /// Size of an index in bytes.
    pub bytes: u64,
}

/// Instancing of a vertex element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Instancing {
    pub enable: bool,
    /// Number of consecutive instances that get the same data; 0 means all instances.
    pub step: u64,
}

/// The state for draws.
#[derive(Debug, Clone)]
pub(super) struct DrawState {
    pub buffers: [Option<VertexBuffer>; BUFFERS],
    /// The vertex elements in order of their numbers, without those that use no buffer.
    pub elements: Vec<Element>,
    pub instancing: [Instancing; ELEMENTS],
    pub index: Option<IndexBuffer>,
    /// The index that ends a strip.
    pub cut: Option<u64>,
    /// Number of viewports.
    pub viewports: u32,
    /// Offsets of [`ARRAYS`] from the dynamic state base.
    pub arrays: [Option<u64>; ARRAYS.len()],
    /// Address of the gathered constants, if the pool is enabled.
    pub gather_pool: Option<u64>,
    /// Address of the binding tables that the resource streamer makes, if the pool is enabled.
    pub table_pool: Option<u64>,
    pub surfaces: Surfaces,
}

impl Default for DrawState {
    fn default() -> Self {
        DrawState {
            buffers: [None; BUFFERS],
            elements: Vec::new(),
            instancing: [Instancing::default(); ELEMENTS],
            index: None,
            cut: None,
            viewports: 1,
            arrays: [None; ARRAYS.len()],
            gather_pool: None,
            table_pool: None,
            surfaces: Surfaces::default(),
        }
    }
}

/// A container that starts at bit `base` of `dwords`.
struct Part<'a> {
    container: &'a Container,
    dwords: &'a [u32],
    base: u32,
}

impl Part<'_> {
    fn stored(&self, name: &str) -> Option<u64> {
        let field = self.container.fields.iter().find(|field| field.name == name)?;
        Some(bits::get(self.dwords, self.base + field.start, self.base + field.end))
    }

    fn number(&self, name: &str) -> u64 {
        self.stored(name).unwrap_or(0)
    }

    fn on(&self, name: &str) -> bool {
        self.stored(name) == Some(1)
    }

    /// The complete elements of the packet's array, as structures.
    fn elements(&self) -> impl Iterator<Item = Part<'_>> {
        let group = self.container.groups.first().filter(|group| group.bits > 0);
        let inner = group.and_then(|group| match group.fields.first()?.ty {
            Type::Struct(inner) => Some((group, inner)),
            _ => None,
        });
        inner.into_iter().flat_map(move |(group, inner)| {
            let room = (32 * self.dwords.len() as u32).saturating_sub(group.start) / group.bits;
            (0..room).map(move |index| Part {
                container: inner,
                dwords: self.dwords,
                base: group.start + index * group.bits,
            })
        })
    }
}

impl DrawState {
    /// Stores what a packet sets.
    pub fn set(&mut self, sets: Sets, record: &Record, container: &Container) {
        let packet = Part { container, dwords: &record.dwords, base: 0 };
        match sets {
            Sets::VertexBuffers => packet.elements().for_each(|part| self.vertex_buffer(&part)),
            Sets::VertexElements => {
                self.elements.clear();
                let parts = packet.elements().take(ELEMENTS).enumerate();
                self.elements
                    .extend(parts.filter_map(|(number, part)| element(number as u32, &part)));
            }
            Sets::IndexBuffer => {
                self.index = Some(IndexBuffer {
                    address: packet.number("Buffer Starting Address"),
                    size: packet.number("Buffer Size"),
                    bytes: match packet.number("Index Format") {
                        0 => 1,
                        1 => 2,
                        _ => 4,
                    },
                });
            }
            Sets::CutIndex => {
                let on = packet.on("Indexed Draw Cut Index Enable");
                self.cut = packet.stored("Cut Index").filter(|_| on);
            }
            Sets::Instancing => {
                let element = packet.number("Vertex Element Index") as usize;
                if let Some(instancing) = self.instancing.get_mut(element) {
                    let step = packet.number("Instance Data Step Rate");
                    *instancing = Instancing { enable: packet.on("Instancing Enable"), step };
                }
            }
            Sets::Clip => self.viewports = packet.number("Maximum VP Index") as u32 + 1,
            Sets::Array(array) => self.arrays[array] = pointer(record, container),
            Sets::GatherPool => {
                let base = record.address_of(container, "Gather Pool Base Address");
                self.gather_pool = base.filter(|_| packet.on("Gather Pool Enable"));
            }
            Sets::TablePool => {
                let base = record.address_of(container, "Binding Table Pool Base Address");
                self.table_pool = base.filter(|_| packet.on("Binding Table Pool Enable"));
            }
            Sets::StreamBuffer => self.surfaces.stream_buffer(record, container),
            Sets::Picture => self.surfaces.picture(record, container),
        }
    }

    fn vertex_buffer(&mut self, part: &Part<'_>) {
        let index = part.number("Vertex Buffer Index") as usize;
        let Some(buffer) = self.buffers.get_mut(index) else { return };
        let address = match (part.on("Address Modify Enable"), *buffer) {
            (false, Some(before)) => before.address,
            _ => part.number("Buffer Starting Address"),
        };
        *buffer = Some(VertexBuffer {
            address,
            pitch: part.number("Buffer Pitch"),
            size: part.number("Buffer Size"),
            null: part.on("Null Vertex Buffer"),
        });
    }
}

/// The vertex element in `part`; `None` if it is not valid, or takes no component from a buffer.
fn element(number: u32, part: &Part<'_>) -> Option<Element> {
    const CONTROLS: [&str; 4] = [
        "Component 0 Control",
        "Component 1 Control",
        "Component 2 Control",
        "Component 3 Control",
    ];
    let control = part.container.fields.iter().find(|field| field.name == CONTROLS[0])?;
    let Type::Enum(controls) = control.ty else { return None };
    let source = controls.value_of("VFCOMP_STORE_SRC")?;
    let taken =
        (0..4u32).filter(|component| part.stored(CONTROLS[*component as usize]) == Some(source));
    let components = taken.fold(0, |mask, component| mask | 1 << component);
    let format =
        part.container.fields.iter().find(|field| field.name == "Source Element Format")?;
    let Type::Enum(formats) = format.ty else { return None };
    let stored = part.number("Source Element Format");
    (part.on("Valid") && components != 0).then(|| Element {
        number,
        buffer: part.number("Vertex Buffer Index") as u32,
        offset: part.number("Source Element Offset") as u32,
        format: formats.name_of(stored).unwrap_or(""),
        bits: formats.bits_of(stored).unwrap_or(0).into(),
        components,
    })
}

/// The stored value that `name` stands for in the enumeration field `field` of `container`.
pub(super) fn named(tables: &Tables, container: &str, field: &str, name: &str) -> Option<u64> {
    let container = tables.container(container)?;
    let field = container.fields.iter().find(|other| other.name == field)?;
    match field.ty {
        Type::Enum(list) => list.value_of(name),
        _ => None,
    }
}
