//! Vertex fetch: reads the elements of vertices by vertex number (2a, Vertex Fetch; gen8_facts
//! 5.1).

use super::state;
use crate::assumptions::{INDICES_BEHIND_THE_BUFFER_ARE_ZERO, VERTICES_BEHIND_THE_BUFFER_ARE_ZERO};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::State;
use crate::mem::{PageFault, Vm};
use crate::surface::format::{Class, Codec, Encoding, Format, Letter};
use genxml::gen8::enums::ThreeDVertexComponentControl as Control;
use genxml::gen8::registers::{
    ThreeDPrimBaseVertex, ThreeDPrimEndOffset, ThreeDPrimInstanceCount, ThreeDPrimStartInstance,
    ThreeDPrimStartVertex, ThreeDPrimVertexCount,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDPrimitiveVertexAccessType as Access, ThreeDStateIndexBuffer,
    ThreeDStateIndexBufferIndexFormat as IndexFormat, ThreeDStateVertexElements, ThreeDStateVf,
    ThreeDStateVfInstancing, ThreeDStateVfSgvs, VertexBufferState,
};
use genxml::gen8::state::SurfaceFormat;
use genxml_core::packet::Fixed;

mod columns;

/// Maximum number of elements of a vertex (2a p.431: 34 with edge flag).
const MAX_ELEMENTS: usize = 34;
/// Dwords of an element of 128 bits.
const SLOT: usize = 4;
/// The names of the component control fields.
const CONTROLS: [&str; 4] =
    ["Component 0 Control", "Component 1 Control", "Component 2 Control", "Component 3 Control"];
/// Bytes of the widest format.
const MAX_BYTES: usize = 32;

/// The vertices and instances of a draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Number of vertices of an instance.
    pub vertices: u32,
    /// First vertex; in an indexed draw, position of the first index.
    pub start: u32,
    /// Number of instances.
    pub instances: u32,
    /// First instance, for instanced elements.
    pub start_instance: u32,
    /// The value that is added to each index.
    pub base_vertex: i32,
}

impl Range {
    /// The range of a 3DPRIMITIVE: from its fields, or from registers if it is indirect. With End
    /// Offset Enable, the number of vertices is the end offset, which stream output stored, divided
    /// by the pitch of vertex buffer 0 (2a p.9).
    pub fn of(packet: &ThreeDPrimitive, state: &State) -> Range {
        let register = |offset| state.registers.read(offset);
        let mut range = match packet.indirect_parameter_enable {
            true => Range {
                vertices: register(ThreeDPrimVertexCount::OFFSET),
                start: register(ThreeDPrimStartVertex::OFFSET),
                instances: register(ThreeDPrimInstanceCount::OFFSET),
                start_instance: register(ThreeDPrimStartInstance::OFFSET),
                base_vertex: register(ThreeDPrimBaseVertex::OFFSET) as i32,
            },
            false => Range {
                vertices: packet.vertex_count_per_instance.get() as u32,
                start: packet.start_vertex_location.get() as u32,
                instances: packet.instance_count.get() as u32,
                start_instance: packet.start_instance_location.get() as u32,
                base_vertex: packet.base_vertex_location.get() as i32,
            },
        };
        if packet.end_offset_enable {
            let end = u64::from(register(ThreeDPrimEndOffset::OFFSET));
            let pitch = buffer(state, 0).map_or(0, |buffer| buffer.pitch);
            range.vertices = end.checked_div(pitch).unwrap_or(0) as u32;
        }
        range
    }
}

/// A vertex buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Buffer {
    address: u64,
    size: u64,
    pitch: u64,
}

/// A vertex element: its source and its components.
#[derive(Clone, Debug)]
struct Element {
    /// The vertex buffer; none if it is null or not set, or if the element does not read its
    /// source.
    buffer: Option<Buffer>,
    offset: u64,
    codec: &'static Codec,
    /// Components have 64 bits and are not converted.
    wide: bool,
    components: [Control; 4],
    /// For instanced elements: the number of instances that share a value; 0 if all do (Instance
    /// Data Step Rate).
    step: Option<u32>,
    /// The number of channels, if the format has only dwords that are not converted.
    dword_channels: Option<usize>,
    /// The values of channels that the format does not have, if `dword_channels` is set.
    missing: [u32; 4],
}

/// The index buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Indices {
    address: u64,
    size: u64,
    bytes: u64,
}

/// How vertices are fetched.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The vertices and instances.
    pub range: Range,
    elements: Vec<Element>,
    indices: Option<Indices>,
    /// The cut index, which ends the strip, fan, loop or list that is being drawn.
    cut: Option<u32>,
    /// Dword of the vertex that gets the vertex ID.
    vertex_id: Option<usize>,
    /// Dword of the vertex that gets the instance ID.
    instance_id: Option<usize>,
    /// The element with edge flags. It is not stored in the vertex.
    edge_flags: Option<Element>,
    /// Dwords of a vertex.
    pub dwords: usize,
}

impl Fetch {
    /// Resolves the state of vertex fetch.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for vertex formats, index formats and component controls that do not
    /// exist, and for element offsets of generated values that are too large.
    pub fn resolve(exec: &Exec<'_>, packet: &ThreeDPrimitive) -> Result<Fetch, Fault> {
        let mut fetch = Fetch {
            range: Range::of(packet, exec.state),
            elements: Vec::new(),
            indices: None,
            cut: None,
            vertex_id: None,
            instance_id: None,
            edge_flags: None,
            dwords: 0,
        };
        let elements = exec.state.latched.get::<ThreeDStateVertexElements>(0).unwrap_or_default();
        let elements = ThreeDStateVertexElements::unpack_lossy(elements).element;
        for (number, state) in elements.iter().take(MAX_ELEMENTS).enumerate() {
            if !state.valid {
                continue;
            }
            let components = [
                state.component_0_control,
                state.component_1_control,
                state.component_2_control,
                state.component_3_control,
            ];
            if let Some((n, control)) = components.iter().enumerate().find(|(_, c)| !is_stored(**c))
            {
                // VFCOMP_STORE_PID is not there: on Broadwell, the primitive ID comes from the
                // pipeline (000:270).
                let why = "Broadwell has NOSTORE, STORE_SRC, STORE_0, STORE_1_FP and STORE_1_INT";
                return Err(exec.bad_field(CONTROLS[n], control.bits(), why));
            }
            // An element that does not store its source does not read it. Drivers leave the index
            // of an old buffer in such elements, and their format does not matter (2d
            // VERTEX_ELEMENT_STATE).
            let reads = components.contains(&Control::VFCOMP_STORE_SRC);
            let format =
                if reads { state.source_element_format } else { SurfaceFormat::R32G32B32A32_FLOAT };
            let codec = match Codec::of(format) {
                Some(codec) if codec.format().class == Class::Channels => codec,
                _ => {
                    let why = "vertices cannot have this format";
                    return Err(exec.bad_field(
                        "Source Element Format",
                        state.source_element_format.bits(),
                        why,
                    ));
                }
            };
            let instancing: Option<ThreeDStateVfInstancing> = state::entry(exec, number);
            let step = instancing
                .filter(|instancing| instancing.instancing_enable)
                .map(|instancing| instancing.instance_data_step_rate.get() as u32);
            let dword_channels = dword_channels(codec.format());
            let element = Element {
                buffer: if reads {
                    buffer(exec.state, state.vertex_buffer_index.get())
                } else {
                    None
                },
                offset: state.source_element_offset.get(),
                codec,
                wide: codec
                    .format()
                    .channels()
                    .first()
                    .is_some_and(|c| c.encoding == Encoding::Passthru),
                components,
                step,
                dword_channels,
                missing: match dword_channels {
                    Some(count) => codec.decode_one(&[0; 4 * SLOT][..4 * count]),
                    None => [0; 4],
                },
            };
            if state.edge_flag_enable {
                fetch.edge_flags = Some(element);
                continue;
            }
            fetch.dwords += element.dwords();
            fetch.elements.push(element);
        }
        fetch.generated(exec)?;
        if packet.vertex_access_type == Access::RANDOM {
            let buffer: ThreeDStateIndexBuffer = state::packet(exec);
            let bytes = match buffer.index_format {
                IndexFormat::BYTE => 1,
                IndexFormat::WORD => 2,
                IndexFormat::DWORD => 4,
                other => {
                    return Err(exec.bad_field(
                        "Index Format",
                        other.bits(),
                        "0, 1 or 2 is needed",
                    ));
                }
            };
            let (address, size) = (buffer.buffer_starting_address.va48(), buffer.buffer_size.get());
            fetch.indices = Some(Indices { address, size, bytes });
            let vf: ThreeDStateVf = state::packet(exec);
            if vf.indexed_draw_cut_index_enable {
                fetch.cut = Some(vf.cut_index.get() as u32);
            }
        }
        Ok(fetch)
    }

    /// System generated values (2a p.441): they replace dwords of the vertex, or come after its
    /// elements, with zeros between.
    fn generated(&mut self, exec: &Exec<'_>) -> Result<(), Fault> {
        let sgvs: ThreeDStateVfSgvs = state::packet(exec);
        let mut place = |name: &'static str, element: u64, component: u64| {
            if element as usize >= MAX_ELEMENTS {
                return Err(exec.bad_field(
                    name,
                    element,
                    format!("a vertex has {MAX_ELEMENTS} elements"),
                ));
            }
            // The element offset counts in units of 128 bits, regardless of the size of the vertex
            // elements.
            self.dwords = self.dwords.max((element as usize + 1) * SLOT);
            Ok(Some(element as usize * SLOT + component as usize))
        };
        if sgvs.vertex_id_enable {
            let element = sgvs.vertex_id_element_offset.get();
            self.vertex_id =
                place("VertexID Element Offset", element, sgvs.vertex_id_component_number.bits())?;
        }
        if sgvs.instance_id_enable {
            let element = sgvs.instance_id_element_offset.get();
            self.instance_id = place(
                "InstanceID Element Offset",
                element,
                sgvs.instance_id_component_number.bits(),
            )?;
        }
        Ok(())
    }

    /// The vertex number at `position` of an instance: the position itself, or in an indexed draw
    /// the index at this position. `None` for the cut index.
    ///
    /// # Errors
    /// A page fault.
    pub fn index(&self, exec: &Exec<'_>, position: u32) -> Result<Option<u32>, Fault> {
        let Some(indices) = self.indices else { return Ok(Some(position)) };
        let place = (u64::from(self.range.start) + u64::from(position)) * indices.bytes;
        let mut bytes = [0; 4];
        if place + indices.bytes <= indices.size || !INDICES_BEHIND_THE_BUFFER_ARE_ZERO {
            exec.vm
                .read(indices.address.wrapping_add(place), &mut bytes[..indices.bytes as usize])
                .map_err(|fault| exec.page(fault, "index buffer"))?;
        }
        let index = u32::from_le_bytes(bytes);
        let most = u32::MAX >> (32 - 8 * indices.bytes);
        Ok((self.cut.map(|cut| cut & most) != Some(index)).then_some(index))
    }

    /// Fetches the elements of a vertex in instance `instance`. `index` is the number that
    /// [`index`](Self::index) returned. `out` has as many dwords as a vertex.
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
        let vertex = self.entry(index);
        let mut rest = &mut *out;
        for element in &self.elements {
            let (slot, behind) = rest.split_at_mut(element.dwords());
            let value = self.fetch(exec, element, vertex, instance)?;
            element.store(&value, slot);
            rest = behind;
        }
        if let Some(place) = self.vertex_id {
            out[place] = index;
        }
        if let Some(place) = self.instance_id {
            out[place] = instance;
        }
        Ok(())
    }

    /// True if vertex numbers come from an index buffer.
    pub fn is_indexed(&self) -> bool {
        self.indices.is_some()
    }

    /// True if vertices have edge flags.
    pub fn has_edge_flags(&self) -> bool {
        self.edge_flags.is_some()
    }

    /// The edge flag of a vertex: true if wireframes draw the edge that starts at the vertex, or if
    /// vertices have no edge flags.
    ///
    /// # Errors
    /// A page fault.
    pub fn edge_flag(&self, exec: &mut Exec<'_>, index: u32, instance: u32) -> Result<bool, Fault> {
        let Some(element) = &self.edge_flags else { return Ok(true) };
        let value = self.fetch(exec, element, self.entry(index), instance)?;
        Ok(value[0] != 0)
    }

    /// The entry of the vertex buffers for a vertex. `index` is the number that
    /// [`index`](Self::index) returned.
    #[inline]
    fn entry(&self, index: u32) -> u32 {
        match self.indices {
            Some(_) => index.wrapping_add_signed(self.range.base_vertex),
            None => index.wrapping_add(self.range.start),
        }
    }

    /// Address and number of the bytes of an element of a vertex. `None` if the element has no
    /// buffer, or if it is not completely inside of its buffer.
    #[inline(always)]
    fn location(&self, element: &Element, vertex: u32, instance: u32) -> Option<(u64, usize)> {
        let buffer = element.buffer?;
        let entry = match element.step {
            None => vertex,
            Some(0) => self.range.start_instance,
            Some(step) => self.range.start_instance.wrapping_add(instance / step),
        };
        let length = element.codec.format().bytes() as usize;
        let start = u64::from(entry) * buffer.pitch + element.offset;
        let inside = start + length as u64 <= buffer.size || !VERTICES_BEHIND_THE_BUFFER_ARE_ZERO;
        inside.then(|| (buffer.address.wrapping_add(start), length))
    }

    /// The four components of an element, of 32 or 64 bits each, before component controls.
    fn fetch(
        &self,
        exec: &mut Exec<'_>,
        element: &Element,
        vertex: u32,
        instance: u32,
    ) -> Result<[u32; 8], Fault> {
        let mut value = [0; 8];
        let Some((at, length)) = self.location(element, vertex, instance) else {
            return Ok(value);
        };
        if let Some(channels) = element.dword_channels {
            let read = dwords(&exec.vm, at, channels)
                .map_err(|fault| exec.page(fault, "vertex buffer"))?;
            exec.stats.bytes_read += length as u64;
            for n in 0..4 {
                value[n] = if n < channels { read[n] } else { element.missing[n] };
            }
            return Ok(value);
        }
        let mut bytes = [0; MAX_BYTES];
        let bytes = &mut bytes[..length.min(MAX_BYTES)];
        exec.vm.read(at, bytes).map_err(|fault| exec.page(fault, "vertex buffer"))?;
        exec.stats.bytes_read += length as u64;
        if element.wide {
            bytemuck::cast_slice_mut::<u32, u8>(&mut value)[..bytes.len()].copy_from_slice(bytes);
        } else {
            value[..4].copy_from_slice(&element.codec.decode_one(bytes));
        }
        Ok(value)
    }
}

impl Element {
    /// Dwords of the element in a vertex: a slot, or two slots if it has more than two components
    /// of 64 bits.
    fn dwords(&self) -> usize {
        let second =
            self.wide && self.components[2..].iter().any(|c| *c != Control::VFCOMP_NOSTORE);
        if second { 8 } else { 4 }
    }

    fn store(&self, value: &[u32; 8], slot: &mut [u32]) {
        if let (false, Some(slot)) = (self.wide, slot.first_chunk_mut::<SLOT>()) {
            for (n, (to, control)) in slot.iter_mut().zip(self.components).enumerate() {
                *to = match control {
                    Control::VFCOMP_STORE_SRC => value[n],
                    Control::VFCOMP_STORE_1_FP => 1.0f32.to_bits(),
                    Control::VFCOMP_STORE_1_INT => 1,
                    _ => 0,
                };
            }
            return;
        }
        slot.fill(0);
        for (n, control) in self.components.into_iter().enumerate() {
            let width = if self.wide { 2 } else { 1 };
            let Some(to) = slot.get_mut(n * width..(n + 1) * width) else { break };
            match control {
                Control::VFCOMP_STORE_SRC => to.copy_from_slice(&value[n * width..(n + 1) * width]),
                Control::VFCOMP_STORE_1_FP => to[0] = 1.0f32.to_bits(),
                Control::VFCOMP_STORE_1_INT => to[0] = 1,
                _ => {}
            }
        }
    }
}

/// The number of channels of a format whose channels are dwords that are stored as they are, in the
/// order red, green, blue, alpha. `None` for other formats.
fn dword_channels(format: &Format) -> Option<usize> {
    let letters = [Letter::R, Letter::G, Letter::B, Letter::A];
    let channels = format.channels();
    let stored = channels.iter().zip(letters).enumerate().all(|(n, (channel, letter))| {
        let plain = matches!(channel.encoding, Encoding::Float | Encoding::Uint | Encoding::Sint);
        channel.letter == letter
            && plain
            && channel.bits == 32
            && usize::from(channel.low) == 32 * n
    });
    let whole = usize::from(format.bits) == 32 * channels.len();
    (stored && whole && (1..=4).contains(&channels.len())).then_some(channels.len())
}

/// The first `count` dwords at an address, 1 to 4.
#[inline]
fn dwords(vm: &Vm<'_>, at: u64, count: usize) -> Result<[u32; 4], PageFault> {
    /// The dwords of an array of bytes; zeros after its end.
    #[inline(always)]
    fn padded<const N: usize>(bytes: [u8; N]) -> [u32; 4] {
        let dwords = bytes.as_chunks().0;
        std::array::from_fn(|n| dwords.get(n).map_or(0, |dword| u32::from_le_bytes(*dword)))
    }
    Ok(match count {
        1 => padded(vm.read_array::<4>(at)?),
        2 => padded(vm.read_array::<8>(at)?),
        3 => padded(vm.read_array::<12>(at)?),
        _ => padded(vm.read_array::<16>(at)?),
    })
}

/// True if Broadwell has this component control.
fn is_stored(control: Control) -> bool {
    matches!(
        control,
        Control::VFCOMP_NOSTORE
            | Control::VFCOMP_STORE_SRC
            | Control::VFCOMP_STORE_0
            | Control::VFCOMP_STORE_1_FP
            | Control::VFCOMP_STORE_1_INT
    )
}

/// A vertex buffer; none if it is a null buffer or not set.
fn buffer(state: &State, index: u64) -> Option<Buffer> {
    let state = state.latched.get::<VertexBufferState>(index as usize)?;
    let state = VertexBufferState::read_lossy(state);
    (!state.null_vertex_buffer).then(|| Buffer {
        address: state.buffer_starting_address.va48(),
        size: state.buffer_size.get(),
        pitch: state.buffer_pitch.get(),
    })
}

#[cfg(test)]
mod tests;
