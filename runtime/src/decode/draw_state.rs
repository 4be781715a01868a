//! State for draws that earlier packets have set: vertex and index buffers, vertex elements,
//! viewports. Also layouts of surfaces, which other packets use.

use super::effects::{ARRAYS, Sets};
use super::record::Record;
use super::stage::pointer;
use super::surface_state::Surfaces;
use super::tables::Tables;
use genxml_core::bits;
use genxml_core::reflect::{Container, Enumeration, Field, Type};

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
    /// Address of the pool of binding tables, if it is enabled: those that the resource streamer
    /// makes, and from Gen11 on all.
    pub table_pool: Option<u64>,
    pub surfaces: Surfaces,
    buffer_fields: Lookup<VertexBufferFields>,
    element_fields: Lookup<ElementFields>,
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
            buffer_fields: Lookup(None),
            element_fields: Lookup(None),
        }
    }
}

/// A packet with its dwords.
struct Packet<'a> {
    container: &'a Container,
    dwords: &'a [u32],
}

impl Packet<'_> {
    fn stored(&self, name: &str) -> Option<u64> {
        let field = self.container.fields.iter().find(|field| field.name == name)?;
        Some(bits::get(self.dwords, field.start, field.end))
    }

    fn number(&self, name: &str) -> u64 {
        self.stored(name).unwrap_or(0)
    }

    fn on(&self, name: &str) -> bool {
        self.stored(name) == Some(1)
    }
}

/// The array of structures in a packet.
#[derive(Debug, Clone, Copy)]
struct Array {
    /// First bit of the first element, and size of an element in bits.
    start: u32,
    bits: u32,
    inner: &'static Container,
}

impl Array {
    /// The first array of the packet; `None` if it has no array, or none of structures.
    fn of(container: &Container) -> Option<Array> {
        let group = container.groups.first().filter(|group| group.bits > 0)?;
        match group.fields.first()?.ty {
            Type::Struct(inner) => Some(Array { start: group.start, bits: group.bits, inner }),
            _ => None,
        }
    }

    /// The first bit of each complete element in `dwords`.
    fn elements(&self, dwords: &[u32]) -> impl Iterator<Item = u32> + use<> {
        let Array { start, bits, .. } = *self;
        let room = (32 * dwords.len() as u32).saturating_sub(start) / bits;
        (0..room).map(move |index| start + index * bits)
    }
}

/// A field of an array's element; `None` if the element has no such field.
type ArrayField = Option<&'static Field>;

/// The value of a field of the element that starts at bit `base` of `dwords`; 0 without a field.
fn number(field: ArrayField, dwords: &[u32], base: u32) -> u64 {
    field.map_or(0, |field| bits::get(dwords, base + field.start, base + field.end))
}

/// The fields of 3DSTATE_VERTEX_BUFFERS, which are looked up once.
#[derive(Debug, Clone)]
struct VertexBufferFields {
    array: Array,
    index: ArrayField,
    modify: ArrayField,
    address: ArrayField,
    pitch: ArrayField,
    size: ArrayField,
    null: ArrayField,
}

impl VertexBufferFields {
    fn of(container: &Container) -> Option<VertexBufferFields> {
        let array = Array::of(container)?;
        let field = |name| array.inner.fields.iter().find(|field| field.name == name);
        Some(VertexBufferFields {
            array,
            index: field("Vertex Buffer Index"),
            modify: field("Address Modify Enable"),
            address: field("Buffer Starting Address"),
            pitch: field("Buffer Pitch"),
            size: field("Buffer Size"),
            null: field("Null Vertex Buffer"),
        })
    }
}

/// The fields of 3DSTATE_VERTEX_ELEMENTS, which are looked up once.
#[derive(Debug, Clone)]
struct ElementFields {
    array: Array,
    valid: ArrayField,
    buffer: ArrayField,
    offset: ArrayField,
    format: ArrayField,
    formats: &'static Enumeration,
    controls: [ArrayField; 4],
    /// The value of a control that takes the component from the buffer.
    source: u64,
}

impl ElementFields {
    fn of(container: &Container) -> Option<ElementFields> {
        let array = Array::of(container)?;
        let field = |name| array.inner.fields.iter().find(|field| field.name == name);
        let list = |field: &'static Field| match field.ty {
            Type::Enum(list) => Some(list),
            _ => None,
        };
        let format = field("Source Element Format")?;
        let controls = [
            field("Component 0 Control"),
            field("Component 1 Control"),
            field("Component 2 Control"),
            field("Component 3 Control"),
        ];
        Some(ElementFields {
            array,
            valid: field("Valid"),
            buffer: field("Vertex Buffer Index"),
            offset: field("Source Element Offset"),
            format: Some(format),
            formats: list(format)?,
            controls,
            source: list(controls[0]?).and_then(|list| {
                list.value_of("VFCOMP_STORE_SRC").or(list.value_of("STORE_SRC"))
            })?,
        })
    }

    /// The vertex element that starts at bit `base` of `dwords`; `None` if it is not valid, or
    /// takes no component from a buffer.
    fn element(&self, index: u32, dwords: &[u32], base: u32) -> Option<Element> {
        let value = |field| number(field, dwords, base);
        if value(self.valid) != 1 {
            return None;
        }
        let taken = |component: &u32| {
            let control = self.controls[*component as usize];
            control.is_some() && value(control) == self.source
        };
        let components = (0..4u32).filter(taken).fold(0, |mask, component| mask | 1 << component);
        let format = value(self.format);
        (components != 0).then(|| Element {
            number: index,
            buffer: value(self.buffer) as u32,
            offset: value(self.offset) as u32,
            format: self.formats.name_of(format).unwrap_or(""),
            bits: self.formats.bits_of(format).unwrap_or(0).into(),
            components,
        })
    }
}

/// A cache with one entry: the result of a look-up in a container, and the container. Packets with
/// the same name usually have the same container.
#[derive(Debug, Clone)]
struct Lookup<T>(Option<(&'static Container, Option<T>)>);

impl<T> Lookup<T> {
    /// What `look_up` returns for `container`.
    fn get(
        &mut self,
        container: &'static Container,
        look_up: impl FnOnce(&Container) -> Option<T>,
    ) -> Option<&T> {
        if !self.0.as_ref().is_some_and(|(known, _)| std::ptr::eq(*known, container)) {
            self.0 = Some((container, look_up(container)));
        }
        self.0.as_ref()?.1.as_ref()
    }
}

impl DrawState {
    /// Stores what a packet sets.
    pub fn set(&mut self, sets: Sets, record: &Record, container: &'static Container) {
        let packet = Packet { container, dwords: &record.dwords };
        match sets {
            Sets::VertexBuffers => self.vertex_buffers(&record.dwords, container),
            Sets::VertexElements => {
                self.elements.clear();
                let fields = self.element_fields.get(container, ElementFields::of);
                let Some(fields) = fields else { return };
                let bases = fields.array.elements(&record.dwords).take(ELEMENTS);
                self.elements.extend(
                    (0..)
                        .zip(bases)
                        .filter_map(|(index, base)| fields.element(index, &record.dwords, base)),
                );
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
                // Gen12.5 has no such field: the pool is always in use.
                let enable = packet.stored("Binding Table Pool Enable");
                self.table_pool = base.filter(|_| enable != Some(0));
            }
            Sets::StreamBuffer => self.surfaces.stream_buffer(record, container),
            Sets::Picture => self.surfaces.picture(record, container),
        }
    }

    fn vertex_buffers(&mut self, dwords: &[u32], container: &'static Container) {
        let fields = self.buffer_fields.get(container, VertexBufferFields::of);
        let Some(fields) = fields else { return };
        for base in fields.array.elements(dwords) {
            let value = |field| number(field, dwords, base);
            let Some(buffer) = self.buffers.get_mut(value(fields.index) as usize) else { continue };
            let address = match (value(fields.modify) == 1, *buffer) {
                (false, Some(before)) => before.address,
                _ => value(fields.address),
            };
            *buffer = Some(VertexBuffer {
                address,
                pitch: value(fields.pitch),
                size: value(fields.size),
                null: value(fields.null) == 1,
            });
        }
    }
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
