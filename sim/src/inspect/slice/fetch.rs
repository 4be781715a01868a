//! Where the dwords of a fetched vertex come from: the bytes of a vertex buffer, a generated value
//! or a constant (2a, Vertex Fetch; gen8_facts 5.1). The order is that of [`crate::render::vf`].

use super::writers::Span;
use crate::machine::drawing::{Drawing, Primitive as Packet};
use crate::render::sol;
use crate::render::topology::{Adjacency, Assembler, Primitive, Topology};
use crate::render::vf::Range;
use crate::surface::format::{Codec, Encoding, Letter};
use genxml::gen8::enums::ThreeDVertexComponentControl as Control;
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitiveVertexAccessType as VertexAccess, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateVertexElements, ThreeDStateVf,
    ThreeDStateVfInstancing, ThreeDStateVfSgvs, ThreeDStateVfTopology, VertexBufferState,
};
use genxml::gen8::render3d_stages::{ThreeDStateGs, ThreeDStateTe};
use genxml_core::packet::Fixed;

/// Dwords of an element of 128 bits.
const SLOT: usize = 4;
/// Maximum number of elements of a vertex (2a p.431).
const MAX_ELEMENTS: usize = 34;
/// Maximum number of vertices of a draw that are assembled to find the vertices of a primitive.
const MAX_ASSEMBLED: u64 = 1 << 26;

/// Where a dword of a fetched vertex comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum Fetched {
    /// A vertex buffer.
    Buffer {
        /// Number of the vertex element.
        element: u8,
        /// Component of the element, 0 to 3 for x to w.
        component: u8,
        /// Number of the vertex buffer.
        buffer: u8,
        /// The format of the element.
        format: &'static str,
        /// Number of the vertex or instance in the buffer.
        entry: u32,
        /// Graphics address of the first byte of the component.
        address: u64,
        /// Number of bytes.
        bytes: u64,
        /// Their physical addresses; `None` if they are not mapped.
        span: Option<Span>,
    },
    /// The value is 0: the element is after the end of its vertex buffer, or the buffer is null.
    Outside {
        /// Number of the vertex element.
        element: u8,
        /// Number of the vertex buffer.
        buffer: u8,
    },
    /// A constant: the component control stores one, or the format does not have the component.
    Constant {
        /// Number of the vertex element.
        element: u8,
    },
    /// The vertex ID.
    VertexId,
    /// The instance ID.
    InstanceId,
    /// No element stores the dword.
    Nothing,
}

/// A vertex element.
#[derive(Clone, Debug)]
struct Element {
    number: u8,
    buffer: u8,
    state: Option<VertexBufferState>,
    offset: u64,
    codec: &'static Codec,
    components: [Control; 4],
    step: Option<u32>,
    wide: bool,
}

impl Element {
    fn dwords(&self) -> usize {
        let second =
            self.wide && self.components[2..].iter().any(|c| *c != Control::VFCOMP_NOSTORE);
        if second { 2 * SLOT } else { SLOT }
    }

    /// First byte and number of bytes of a component; `None` if the format does not have it.
    fn bytes(&self, component: usize) -> Option<(u64, u64)> {
        let format = self.codec.format();
        let letter = [Letter::R, Letter::G, Letter::B, Letter::A][component];
        let channels = format.channels();
        if channels.iter().any(|it| it.encoding == Encoding::Shared) {
            return (component < 3).then_some((0, format.bytes().into()));
        }
        let channel = channels.iter().find(|channel| match channel.letter {
            Letter::L => component < 3,
            Letter::I => true,
            own => own == letter,
        })?;
        let first = u64::from(channel.low / 8);
        let end = u64::from((channel.low + channel.bits).div_ceil(8));
        Some((first, end - first))
    }
}

/// How the vertices of a draw are fetched.
#[derive(Clone, Debug)]
pub struct VertexFetch {
    range: Range,
    elements: Vec<Element>,
    indices: Option<(ThreeDStateIndexBuffer, u64)>,
    vertex_id: Option<usize>,
    instance_id: Option<usize>,
}

/// An index in the index buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Index {
    /// Graphics address.
    pub address: u64,
    /// Number of bytes: 1, 2 or 4.
    pub bytes: u64,
}

impl VertexFetch {
    /// The state of a draw; `None` if it is not a draw of Gen8.
    pub fn of(drawing: &Drawing<'_>) -> Option<VertexFetch> {
        #[cfg_attr(not(feature = "gen45"), expect(irrefutable_let_patterns))]
        let Packet::Gen8(packet) = drawing.packet else { return None };
        let latched = &drawing.state.latched;
        let list = latched.get::<ThreeDStateVertexElements>(0).unwrap_or_default();
        let list = ThreeDStateVertexElements::unpack_lossy(list).element;
        let mut elements = Vec::new();
        for (number, state) in list.iter().take(MAX_ELEMENTS).enumerate() {
            if !state.valid || state.edge_flag_enable {
                continue;
            }
            let instancing: Option<ThreeDStateVfInstancing> =
                latched.get::<ThreeDStateVfInstancing>(number).map(Fixed::read_lossy);
            let buffer = state.vertex_buffer_index.get();
            let codec = Codec::of(state.source_element_format)?;
            elements.push(Element {
                number: number as u8,
                buffer: buffer as u8,
                state: latched
                    .get::<VertexBufferState>(buffer as usize)
                    .map(VertexBufferState::read_lossy)
                    .filter(|state| !state.null_vertex_buffer),
                offset: state.source_element_offset.get(),
                codec,
                components: [
                    state.component_0_control,
                    state.component_1_control,
                    state.component_2_control,
                    state.component_3_control,
                ],
                step: instancing
                    .filter(|instancing| instancing.instancing_enable)
                    .map(|instancing| instancing.instance_data_step_rate.get() as u32),
                wide: codec
                    .format()
                    .channels()
                    .first()
                    .is_some_and(|channel| channel.encoding == Encoding::Passthru),
            });
        }
        let sgvs: ThreeDStateVfSgvs = drawing.latched();
        let place = |on: bool, element: u64, component: u64| {
            on.then_some(element as usize * SLOT + component as usize)
        };
        let indices = (packet.vertex_access_type == VertexAccess::RANDOM).then(|| {
            let buffer: ThreeDStateIndexBuffer = drawing.latched();
            let bytes = match buffer.index_format {
                IndexFormat::BYTE => 1,
                IndexFormat::WORD => 2,
                _ => 4,
            };
            (buffer, bytes)
        });
        Some(VertexFetch {
            range: Range::of(packet, drawing.state),
            elements,
            indices,
            vertex_id: place(
                sgvs.vertex_id_enable,
                sgvs.vertex_id_element_offset.get(),
                sgvs.vertex_id_component_number.bits(),
            ),
            instance_id: place(
                sgvs.instance_id_enable,
                sgvs.instance_id_element_offset.get(),
                sgvs.instance_id_component_number.bits(),
            ),
        })
    }

    /// True if the vertices come from an index buffer.
    pub fn is_indexed(&self) -> bool {
        self.indices.is_some()
    }

    /// The index at a position of an instance; `None` if the draw is not indexed, or if the index
    /// is after the end of the buffer.
    pub fn index(&self, position: u32) -> Option<Index> {
        let (buffer, bytes) = self.indices.as_ref()?;
        let offset = (u64::from(self.range.start) + u64::from(position)) * bytes;
        let address = buffer.buffer_starting_address.va48().wrapping_add(offset);
        (offset + bytes <= buffer.buffer_size.get()).then_some(Index { address, bytes: *bytes })
    }

    /// The vertex number at a position: the index there, or the position if the draw is not
    /// indexed.
    pub fn number(&self, drawing: &Drawing<'_>, position: u32) -> u32 {
        if !self.is_indexed() {
            return position;
        }
        let mut bytes = [0; 4];
        if let Some(index) = self.index(position) {
            drawing.read(index.address, &mut bytes[..index.bytes as usize]);
        }
        u32::from_le_bytes(bytes)
    }

    /// Where a dword of the vertex with a number comes from.
    pub fn dword(
        &self,
        drawing: &Drawing<'_>,
        dword: usize,
        number: u32,
        instance: u32,
    ) -> Fetched {
        if self.instance_id == Some(dword) {
            return Fetched::InstanceId;
        }
        if self.vertex_id == Some(dword) {
            return Fetched::VertexId;
        }
        let mut rest = dword;
        for element in &self.elements {
            match rest.checked_sub(element.dwords()) {
                Some(after) => rest = after,
                None => return self.component(drawing, element, rest, number, instance),
            }
        }
        Fetched::Nothing
    }

    fn component(
        &self,
        drawing: &Drawing<'_>,
        element: &Element,
        dword: usize,
        number: u32,
        instance: u32,
    ) -> Fetched {
        let (own, buffer) = (element.number, element.buffer);
        let component = if element.wide { dword / 2 } else { dword };
        if element.components[component] != Control::VFCOMP_STORE_SRC {
            return Fetched::Constant { element: own };
        }
        let Some(state) = element.state else { return Fetched::Outside { element: own, buffer } };
        let vertex = match self.indices {
            Some(_) => number.wrapping_add_signed(self.range.base_vertex),
            None => number.wrapping_add(self.range.start),
        };
        let entry = match element.step {
            None => vertex,
            Some(0) => self.range.start_instance,
            Some(step) => self.range.start_instance.wrapping_add(instance / step),
        };
        let format = element.codec.format();
        let offset = u64::from(entry) * state.buffer_pitch.get() + element.offset;
        if offset + u64::from(format.bytes()) > state.buffer_size.get() {
            return Fetched::Outside { element: own, buffer };
        }
        let Some((first, bytes)) = element.bytes(component) else {
            return Fetched::Constant { element: own };
        };
        let (first, bytes) = match element.wide {
            true => (first + 4 * (dword as u64 % 2), 4),
            false => (first, bytes),
        };
        let address = state.buffer_starting_address.va48().wrapping_add(offset + first);
        Fetched::Buffer {
            element: own,
            component: component as u8,
            buffer,
            format: format.name,
            entry,
            address,
            bytes,
            span: Span::new(address, bytes, &|address| drawing.physical(address)),
        }
    }

    /// The positions of the vertices of primitive `number` in the sequence of vertices of their
    /// instance. Primitives count from 0 on over all instances, as the first stage after the vertex
    /// shader takes them.
    pub fn positions(&self, drawing: &Drawing<'_>, number: u64) -> Option<Vec<u32>> {
        let code = drawing.latched::<ThreeDStateVfTopology>().primitive_topology_type;
        let topology = Topology::of(code)?;
        let vf: ThreeDStateVf = drawing.latched();
        let cut = self.indices.as_ref().filter(|_| vf.indexed_draw_cut_index_enable);
        let cut = cut.map(|(_, bytes)| vf.cut_index.get() as u32 & (u32::MAX >> (32 - 8 * bytes)));
        let (mut seen, mut found, mut left) = (0, None, MAX_ASSEMBLED);
        let mut out = |primitive: &Primitive| {
            if seen == number {
                found = Some(primitive.vertices().to_vec());
                return Err(());
            }
            seen += 1;
            Ok(())
        };
        // The first error ends the loop: the primitive was found.
        let mut run = || -> Result<(), ()> {
            for _ in 0..self.range.instances {
                let mut assembler = assembler(drawing, topology);
                for position in 0..self.range.vertices {
                    left = u64::checked_sub(left, 1).ok_or(())?;
                    match cut.is_some_and(|cut| self.number(drawing, position) == cut) {
                        true => assembler.cut(&mut out)?,
                        false => assembler.vertex(position, &mut out)?,
                    }
                }
                assembler.cut(&mut out)?;
            }
            Ok(())
        };
        let _ = run();
        found
    }
}

/// The assembler of the first stage after the vertex shader, as
/// [`Geometry::assembler`](crate::render::geometry::Geometry::assembler).
fn assembler(drawing: &Drawing<'_>, topology: Topology) -> Assembler {
    let gs: ThreeDStateGs = drawing.latched();
    let te: ThreeDStateTe = drawing.latched();
    if te.te_enable || !gs.enable {
        return Assembler::for_setup(topology);
    }
    let adjacency = if gs.discard_adjacency { Adjacency::Discard } else { Adjacency::Keep };
    Assembler::new(topology, sol::reorder(gs.reorder_mode), adjacency)
}
