//! Vertex fetch: reads the elements of vertices into vertex URB entries (gen45_facts 5).

use crate::assumptions::{
    G45_ELEMENTS_AFTER_MAX_INDEX_ARE_ZERO, G45_INDICES_AFTER_THE_END_ARE_ZERO,
    G45_MAX_INDEX_ZERO_IS_NO_LIMIT,
};
use crate::gen45::state::{State, latched};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::surface::format::{Class, Codec, Encoding};
use genxml::gen8::state::SurfaceFormat;
use genxml::gen45::commands_3d::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateVertexElements, VertexBufferState,
    VertexBufferStateBufferAccessType as BufferAccess, VertexElementState,
};
use genxml::gen45::enums::ThreeDVertexComponentControl as Control;

/// Maximum number of elements of a vertex that are used.
const MAX_ELEMENTS: usize = 34;
/// Dwords of an element.
const SLOT: usize = 4;
/// Bytes of the widest format.
const MAX_BYTES: usize = 16;
/// The names of the component control fields.
const CONTROLS: [&str; SLOT] =
    ["Component 0 Control", "Component 1 Control", "Component 2 Control", "Component 3 Control"];

/// Where an element is read.
#[derive(Clone, Copy, Debug)]
struct Source {
    address: u64,
    pitch: u64,
    /// Last element of the buffer.
    max_index: u32,
    /// For data of instances: number of instances that share an element, or 0 if all do.
    step: Option<u32>,
    codec: &'static Codec,
}

/// A vertex element: its source and where its components go.
#[derive(Clone, Debug)]
struct Element {
    /// None if no component comes from memory.
    source: Option<Source>,
    components: [Control; SLOT],
    /// First dword of the vertex.
    to: usize,
}

/// The index buffer.
#[derive(Clone, Copy, Debug)]
struct Indices {
    address: u64,
    /// Bytes up to the end address, which is included.
    size: u64,
    bytes: u64,
    /// The index that ends a strip, fan or list.
    cut: Option<u32>,
}

/// How vertices are fetched.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// Number of vertices of an instance.
    pub vertices: u32,
    /// Number of instances.
    pub instances: u32,
    /// Dwords of a vertex.
    pub dwords: usize,
    start: u32,
    start_instance: u32,
    base_vertex: i32,
    elements: Vec<Element>,
    indices: Option<Indices>,
}

impl Fetch {
    /// Resolves the state of vertex fetch.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for formats that vertices cannot have; [`Fault::Unimplemented`] for
    /// indirect vertex counts and primitive IDs.
    pub fn resolve(exec: &Exec<'_>, packet: &ThreeDPrimitive) -> Result<Fetch, Fault> {
        if packet.indirect_vertex_count {
            return Err(exec.unimplemented("Indirect Vertex Count", "gen45_CONFLICTS 1"));
        }
        let mut fetch = Fetch {
            vertices: packet.vertex_count_per_instance.get() as u32,
            instances: packet.instance_count.get() as u32,
            dwords: 0,
            start: packet.start_vertex_location.get() as u32,
            start_instance: packet.start_instance_location.get() as u32,
            base_vertex: packet.base_vertex_location.get() as i32,
            elements: Vec::new(),
            indices: None,
        };
        let mut states = [VertexElementState::new(); MAX_ELEMENTS];
        let count = exec.state.slots.with(|state: &State| {
            let dwords = state.latched.get::<ThreeDStateVertexElements<'_>>(0).unwrap_or_default();
            let packet = ThreeDStateVertexElements::unpack_lossy(dwords);
            let mut count = 0;
            for (to, element) in states.iter_mut().zip(packet.element.iter()) {
                *to = element;
                count += 1;
            }
            count
        });
        for state in states[..count].iter().filter(|state| state.valid) {
            let element = fetch.element(exec, state)?;
            fetch.dwords = fetch.dwords.max(element.to + SLOT);
            fetch.elements.push(element);
        }
        if packet.vertex_access_type == Access::RANDOM {
            fetch.indices = Some(indices(exec)?);
        }
        Ok(fetch)
    }

    fn element(&self, exec: &Exec<'_>, state: &VertexElementState) -> Result<Element, Fault> {
        let components = [
            state.component_0_control,
            state.component_1_control,
            state.component_2_control,
            state.component_3_control,
        ];
        if components.contains(&Control::VFCOMP_STORE_PID) {
            return Err(exec.unimplemented("VFCOMP_STORE_PID", "gen45_facts 5"));
        }
        if let Some((n, control)) =
            components.iter().enumerate().find(|(_, control)| control.bits() > 7)
        {
            return Err(exec.bad_field(CONTROLS[n], control.bits(), "controls are 0 to 7"));
        }
        let reads = components.contains(&Control::VFCOMP_STORE_SRC);
        let to = state.destination_element_offset.get() as usize;
        let source = if reads { self.source(exec, state)? } else { None };
        Ok(Element { source, components, to })
    }

    /// The source of an element; none if its buffer is not set.
    fn source(&self, exec: &Exec<'_>, state: &VertexElementState) -> Result<Option<Source>, Fault> {
        let format = SurfaceFormat::from_bits(state.source_element_format.bits());
        let codec = Codec::of(format).filter(|codec| {
            let wide = |channels: &[_]| {
                channels.first().is_some_and(|c: &crate::surface::format::Channel| {
                    c.encoding == Encoding::Passthru
                })
            };
            let format = codec.format();
            format.class == Class::Channels
                && format.bytes() as usize <= MAX_BYTES
                && !wide(format.channels())
        });
        let Some(codec) = codec else {
            let why = "vertices cannot have this format";
            return Err(exec.bad_field("Source Element Format", format.bits(), why));
        };
        let index = state.vertex_buffer_index.get() as usize;
        let Some(buffer) = buffer(exec, index) else { return Ok(None) };
        let step = (buffer.buffer_access_type == BufferAccess::INSTANCEDATA)
            .then(|| buffer.instance_data_step_rate.get() as u32);
        Ok(Some(Source {
            address: buffer.buffer_starting_address.get() + state.source_element_offset.get(),
            pitch: buffer.buffer_pitch.get(),
            max_index: match buffer.max_index.get() as u32 {
                0 if G45_MAX_INDEX_ZERO_IS_NO_LIMIT => u32::MAX,
                max => max,
            },
            step,
            codec,
        }))
    }

    /// The vertex number at `position` of an instance: the position itself, or in an indexed draw
    /// the index at this position. `None` for the cut index.
    ///
    /// # Errors
    /// A page fault.
    pub fn index(&self, exec: &Exec<'_>, position: u32) -> Result<Option<u32>, Fault> {
        let Some(indices) = self.indices else { return Ok(Some(position)) };
        let place = (u64::from(self.start) + u64::from(position)) * indices.bytes;
        let mut bytes = [0; 4];
        if place + indices.bytes <= indices.size || !G45_INDICES_AFTER_THE_END_ARE_ZERO {
            exec.vm
                .read(indices.address.wrapping_add(place), &mut bytes[..indices.bytes as usize])
                .map_err(|fault| exec.page(fault, "index buffer"))?;
        }
        let index = u32::from_le_bytes(bytes);
        Ok((indices.cut != Some(index)).then_some(index))
    }

    /// Fetches a vertex of instance `instance`. `index` is the number that [`index`](Self::index)
    /// returned. `out` has as many dwords as a vertex and is zero.
    ///
    /// # Errors
    /// A page fault.
    pub fn vertex(
        &self,
        exec: &mut Exec<'_>,
        index: u32,
        instance: u32,
        out: &mut [u32],
    ) -> Result<(), Fault> {
        let vertex = match self.indices {
            Some(_) => index.wrapping_add_signed(self.base_vertex),
            None => index.wrapping_add(self.start),
        };
        for element in &self.elements {
            let value = match &element.source {
                Some(source) => self.read(exec, source, vertex, instance)?,
                None => [0; SLOT],
            };
            let slot = &mut out[element.to..element.to + SLOT];
            for (n, (to, control)) in slot.iter_mut().zip(element.components).enumerate() {
                match control {
                    Control::VFCOMP_STORE_SRC => *to = value[n],
                    Control::VFCOMP_STORE_0 => *to = 0,
                    Control::VFCOMP_STORE_1_FP => *to = 1.0_f32.to_bits(),
                    Control::VFCOMP_STORE_1_INT => *to = 1,
                    Control::VFCOMP_STORE_VID => *to = index,
                    Control::VFCOMP_STORE_IID => *to = instance,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The four components of an element in memory.
    fn read(
        &self,
        exec: &mut Exec<'_>,
        source: &Source,
        vertex: u32,
        instance: u32,
    ) -> Result<[u32; SLOT], Fault> {
        let entry = match source.step {
            None => vertex,
            Some(0) => self.start_instance,
            Some(step) => self.start_instance.wrapping_add(instance / step),
        };
        if entry > source.max_index && G45_ELEMENTS_AFTER_MAX_INDEX_ARE_ZERO {
            return Ok([0; SLOT]);
        }
        let length = source.codec.format().bytes() as usize;
        let mut bytes = [0; MAX_BYTES];
        let at = source.address.wrapping_add(u64::from(entry) * source.pitch);
        exec.vm
            .read(at, &mut bytes[..length])
            .map_err(|fault| exec.page(fault, "vertex buffer"))?;
        exec.stats.bytes_read += length as u64;
        Ok(source.codec.decode_one(&bytes[..length]))
    }
}

/// A vertex buffer, if it is set.
fn buffer(exec: &Exec<'_>, index: usize) -> Option<VertexBufferState> {
    use genxml_core::packet::Fixed;
    exec.state.slots.with(|state: &State| {
        state.latched.get::<VertexBufferState>(index).map(VertexBufferState::read_lossy)
    })
}

fn indices(exec: &Exec<'_>) -> Result<Indices, Fault> {
    let buffer: ThreeDStateIndexBuffer = latched(exec);
    let bytes = match buffer.index_format {
        IndexFormat::BYTE => 1,
        IndexFormat::WORD => 2,
        IndexFormat::DWORD => 4,
        other => {
            return Err(exec.bad_field("Index Format", other.bits(), "0, 1 or 2 is needed"));
        }
    };
    let address = buffer.buffer_starting_address.get();
    let end = buffer.buffer_ending_address.get();
    let most = u32::MAX >> (32 - 8 * bytes);
    Ok(Indices {
        address,
        size: (end + 1).saturating_sub(address),
        bytes,
        cut: buffer.cut_index_enable.then_some(most),
    })
}
