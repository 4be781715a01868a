//! Stream output: writes the vertices of primitives to buffers in memory, before they are clipped.
//!
//! [`StreamOut`] is the state of the packets, with the current write offsets. A primitive is
//! written completely or not at all (2a p.216-230; gen8_facts 5.4; OpenGL 4.6, 13.3).

use super::state;
use super::topology::Reorder;
use crate::assumptions::STREAM_OUTPUT_OVERFLOWS_BY_DECLARATIONS;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::Client;
use genxml::gen8::registers::{
    SoNumPrimsWritten0, SoNumPrimsWritten1, SoNumPrimsWritten2, SoNumPrimsWritten3,
    SoPrimStorageNeeded0, SoPrimStorageNeeded1, SoPrimStorageNeeded2, SoPrimStorageNeeded3,
    SoWriteOffset0, SoWriteOffset1, SoWriteOffset2, SoWriteOffset3,
};
use genxml::gen8::render3d_stages::{
    ReorderMode, SoDecl, ThreeDStateSoBuffer, ThreeDStateSoDeclList, ThreeDStateStreamout,
    ThreeDStateStreamoutForceRendering as Force,
};

mod plan;

/// Number of streams.
pub const STREAMS: usize = 4;
/// Number of buffers.
pub const BUFFERS: usize = 4;
/// Dwords of a register of a vertex, as Register Index counts them.
const SLOT: usize = 4;
/// Dwords of a unit of read offsets and lengths.
const UNIT: usize = 8;
/// The Stream Offset value that loads the offset from memory.
const LOAD: u64 = 0xffff_ffff;

/// SO_WRITE_OFFSET of each buffer.
const OFFSETS: [u32; BUFFERS] = [
    SoWriteOffset0::OFFSET,
    SoWriteOffset1::OFFSET,
    SoWriteOffset2::OFFSET,
    SoWriteOffset3::OFFSET,
];
/// SO_NUM_PRIMS_WRITTEN of each stream.
const WRITTEN: [u32; STREAMS] = [
    SoNumPrimsWritten0::OFFSET,
    SoNumPrimsWritten1::OFFSET,
    SoNumPrimsWritten2::OFFSET,
    SoNumPrimsWritten3::OFFSET,
];
/// SO_PRIM_STORAGE_NEEDED of each stream.
const NEEDED: [u32; STREAMS] = [
    SoPrimStorageNeeded0::OFFSET,
    SoPrimStorageNeeded1::OFFSET,
    SoPrimStorageNeeded2::OFFSET,
    SoPrimStorageNeeded3::OFFSET,
];

/// A part of a vertex that is written, or a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    /// Number of the buffer.
    buffer: usize,
    /// The first dword, counted in the part of the vertex that is read; none for a hole.
    from: Option<usize>,
    /// Mask of the dwords that are written, of the four dwords from `from` on.
    mask: u32,
}

/// The parts of its vertices that a stream writes to buffers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Stream {
    pieces: Vec<Piece>,
    /// Bytes of all parts of a vertex in each buffer, with holes; none for buffers that the stream
    /// neither writes nor selects.
    extents: [Option<u64>; BUFFERS],
    /// Dwords at the start of a vertex that are skipped.
    first: usize,
    /// Number of dwords that are read after the skipped ones.
    length: usize,
}

/// A bound buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Buffer {
    address: u64,
    /// Size in bytes.
    size: u64,
    /// Pitch: bytes from vertex to vertex.
    pitch: u64,
}

/// The streams that go on to the clipper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rendered {
    /// No stream.
    None,
    /// All streams.
    All,
    /// Only the stream with this number.
    One(usize),
}

impl Rendered {
    /// The streams that 3DSTATE_STREAMOUT selects.
    pub fn of(packet: &ThreeDStateStreamout) -> Rendered {
        match (packet.force_rendering, packet.so_function_enable) {
            (Force::FORCE_OFF, _) => Rendered::None,
            (Force::NORMAL, _) if packet.api_rendering_disable => Rendered::None,
            (_, true) => Rendered::One(packet.render_stream_select.get() as usize),
            (_, false) => Rendered::All,
        }
    }
}

/// The stream output of a draw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamOut {
    /// SO Function Enable.
    pub enabled: bool,
    /// The order of vertices in triangles of strips.
    pub reorder: Reorder,
    counted: bool,
    rendered: Rendered,
    streams: [Stream; STREAMS],
    buffers: [Option<Buffer>; BUFFERS],
    /// Current write offsets in bytes.
    offsets: [u64; BUFFERS],
    written: [u64; STREAMS],
    needed: [u64; STREAMS],
    bytes: u64,
}

impl StreamOut {
    /// The stream output of these packets; `offsets` are the SO_WRITE_OFFSET registers.
    pub fn new(
        packet: &ThreeDStateStreamout,
        declarations: &ThreeDStateSoDeclList<'_>,
        buffers: &[Option<ThreeDStateSoBuffer>; BUFFERS],
        offsets: [u32; BUFFERS],
    ) -> StreamOut {
        let pitches = [
            packet.buffer_0_surface_pitch,
            packet.buffer_1_surface_pitch,
            packet.buffer_2_surface_pitch,
            packet.buffer_3_surface_pitch,
        ];
        let reads = [
            (packet.stream_0_vertex_read_offset, packet.stream_0_vertex_read_length),
            (packet.stream_1_vertex_read_offset, packet.stream_1_vertex_read_length),
            (packet.stream_2_vertex_read_offset, packet.stream_2_vertex_read_length),
            (packet.stream_3_vertex_read_offset, packet.stream_3_vertex_read_length),
        ];
        let entries = [
            (declarations.num_entries_0, declarations.stream_to_buffer_selects_0),
            (declarations.num_entries_1, declarations.stream_to_buffer_selects_1),
            (declarations.num_entries_2, declarations.stream_to_buffer_selects_2),
            (declarations.num_entries_3, declarations.stream_to_buffer_selects_3),
        ];
        let streams = std::array::from_fn(|stream| {
            let (count, selects) = entries[stream];
            let declared = declarations.entry.iter().take(count.get() as usize).map(|entry| {
                [entry.stream_0_decl, entry.stream_1_decl, entry.stream_2_decl, entry.stream_3_decl]
                    [stream]
            });
            let (first, length) = reads[stream];
            Stream {
                first: first.get() as usize * UNIT,
                length: length.get() as usize * UNIT,
                ..Stream::new(declared, selects.get() as u32)
            }
        });
        // A pitch of 0 means the same as a buffer that is not enabled (2a p.229).
        let bound = |n: usize| {
            let buffer = buffers[n].filter(|buffer| buffer.so_buffer_enable)?;
            let pitch = pitches[n].get();
            let (address, size) =
                (buffer.surface_base_address.va48(), 4 * buffer.surface_size.get());
            (pitch > 0).then_some(Buffer { address, size, pitch })
        };
        let enabled = packet.so_function_enable;
        StreamOut {
            enabled,
            reorder: reorder(packet.reorder_mode),
            counted: packet.so_statistics_enable,
            rendered: Rendered::of(packet),
            streams,
            buffers: std::array::from_fn(bound),
            offsets: offsets.map(u64::from),
            written: [0; STREAMS],
            needed: [0; STREAMS],
            bytes: 0,
        }
    }

    /// Resolves stream output from the latched packets.
    pub fn resolve(exec: &Exec<'_>) -> StreamOut {
        let latched = &exec.state.latched;
        let packet: ThreeDStateStreamout = latched.read(0);
        // Most draws have no stream output, and the declarations are long.
        let declarations =
            latched.get::<ThreeDStateSoDeclList>(0).filter(|_| packet.so_function_enable);
        let buffers = std::array::from_fn(|n| match packet.so_function_enable {
            true => state::entry(exec, n),
            false => None,
        });
        StreamOut::new(
            &packet,
            &declarations.map_or(ThreeDStateSoDeclList::new(), ThreeDStateSoDeclList::unpack_lossy),
            &buffers,
            OFFSETS.map(|register| exec.state.registers.read(register)),
        )
    }

    /// True if primitives of a stream go on to the clipper.
    pub fn renders(&self, stream: usize) -> bool {
        match self.rendered {
            Rendered::None => false,
            Rendered::All => true,
            Rendered::One(one) => one == stream,
        }
    }

    /// Writes a primitive of a stream, if all of it fits in the buffers. `vertices` are the dwords
    /// of its vertices, from the start of their URB entries on. `write` writes bytes to a graphics
    /// address.
    ///
    /// # Errors
    /// The error that `write` returns.
    pub fn primitive<E>(
        &mut self,
        stream: usize,
        vertices: &[&[u32]],
        write: &mut impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.enabled {
            return Ok(());
        }
        self.needed[stream] = self.needed[stream].wrapping_add(1);
        if !self.fits(stream, vertices.len() as u64) {
            return Ok(());
        }
        let Stream { pieces, extents, first, length } = &self.streams[stream];
        for vertex in vertices {
            let read = |n: usize| match n < *length {
                true => vertex.get(first + n).copied().unwrap_or(0),
                false => 0,
            };
            let mut to = self.offsets;
            for piece in pieces {
                let mut data = [0; 4 * SLOT];
                let mut bytes = 0;
                for component in (0..SLOT).filter(|component| piece.mask >> component & 1 == 1) {
                    let value = piece.from.map_or(0, |from| read(from + component));
                    data[bytes..bytes + 4].copy_from_slice(&value.to_le_bytes());
                    bytes += 4;
                }
                if let (Some(buffer), Some(_), 1..) =
                    (self.buffers[piece.buffer], piece.from, bytes)
                {
                    write(buffer.address.wrapping_add(to[piece.buffer]), &data[..bytes])?;
                    self.bytes += bytes as u64;
                }
                to[piece.buffer] += bytes as u64;
            }
            for n in (0..BUFFERS).filter(|&n| extents[n].is_some()) {
                self.offsets[n] += self.buffers[n].map_or(0, |buffer| buffer.pitch);
            }
        }
        self.written[stream] = self.written[stream].wrapping_add(1);
        Ok(())
    }

    /// True if the stream writes a buffer, and all its buffers are bound and have room for
    /// `vertices` vertices.
    fn fits(&self, stream: usize, vertices: u64) -> bool {
        let Some(more) = vertices.checked_sub(1) else { return false };
        let mut any = false;
        for (n, extent) in self.streams[stream].extents.iter().enumerate() {
            let Some(extent) = *extent else { continue };
            let Some(buffer) = self.buffers[n] else { return false };
            let last = if STREAM_OUTPUT_OVERFLOWS_BY_DECLARATIONS { extent } else { buffer.pitch };
            if self.offsets[n] + more * buffer.pitch + last > buffer.size {
                return false;
            }
            any = true;
        }
        any
    }

    /// Writes a primitive of a stream to memory, if all of it fits in the buffers.
    ///
    /// # Errors
    /// A page fault.
    pub fn output(
        &mut self,
        exec: &mut Exec<'_>,
        stream: usize,
        vertices: &[&[u32]],
    ) -> Result<(), Fault> {
        let _client = exec.vm.client(Client::StreamOut);
        let vm = &mut exec.vm;
        let written =
            self.primitive(stream, vertices, &mut |address, bytes| vm.write(address, bytes));
        written.map_err(|fault| exec.page(fault, "stream output"))
    }

    /// Writes the write offsets to the SO_WRITE_OFFSET registers. If statistics are enabled, adds
    /// the counts of primitives to their registers. Also writes each offset to memory if its
    /// 3DSTATE_SO_BUFFER has an address for it. Does nothing if stream output is disabled. Call
    /// once, after the last primitive of a draw.
    ///
    /// # Errors
    /// A page fault.
    pub fn finish(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        if !self.enabled {
            return Ok(());
        }
        for (n, register) in OFFSETS.into_iter().enumerate() {
            exec.state.registers.write(register, self.offsets[n] as u32);
        }
        if self.counted {
            for (registers, counts) in [(WRITTEN, self.written), (NEEDED, self.needed)] {
                for (register, more) in registers.into_iter().zip(counts) {
                    let count = exec.state.registers.read_u64(register).wrapping_add(more);
                    exec.state.registers.write_u64(register, count);
                }
            }
        }
        (self.written, self.needed) = ([0; STREAMS], [0; STREAMS]);
        exec.stats.bytes_written += std::mem::take(&mut self.bytes);
        let _client = exec.vm.client(Client::StreamOut);
        for n in 0..BUFFERS {
            let Some(packet) = state::entry::<ThreeDStateSoBuffer>(exec, n) else { continue };
            if packet.stream_output_buffer_offset_address_enable {
                let address = packet.stream_output_buffer_offset_address.va48();
                let offset = (self.offsets[n] as u32).to_le_bytes();
                let written = exec.vm.write(address, &offset);
                written.map_err(|fault| exec.page(fault, "Stream Output Buffer Offset Address"))?;
                exec.stats.bytes_written += offset.len() as u64;
            }
        }
        Ok(())
    }
}

impl Stream {
    fn new(declared: impl Iterator<Item = SoDecl>, selects: u32) -> Stream {
        let mut written: [bool; BUFFERS] = std::array::from_fn(|n| selects >> n & 1 == 1);
        let mut ends = [0; BUFFERS];
        let mut pieces = Vec::new();
        for declaration in declared {
            let buffer = declaration.output_buffer_slot.get() as usize;
            let mask = declaration.component_mask.get() as u32;
            let from = (!declaration.hole_flag)
                .then_some(declaration.register_index.get() as usize * SLOT);
            ends[buffer] += 4 * u64::from(mask.count_ones());
            // Stream to Buffer Selects should select this buffer already.
            written[buffer] |= from.is_some() && mask != 0;
            pieces.push(Piece { buffer, from, mask });
        }
        let extents = std::array::from_fn(|n| written[n].then_some(ends[n]));
        Stream { pieces, extents, first: 0, length: 0 }
    }
}

/// The order of a Reorder Mode field.
pub fn reorder(mode: ReorderMode) -> Reorder {
    match mode {
        ReorderMode::LEADING => Reorder::Leading,
        _ => Reorder::Trailing,
    }
}

/// Executes 3DSTATE_SO_BUFFER: if Stream Offset Write Enable is set, sets the write offset to
/// Stream Offset. The value 0xffff_ffff loads the offset from memory instead; if the packet has no
/// address for it, the offset stays unchanged.
///
/// # Errors
/// A page fault.
pub fn set_offset(exec: &mut Exec<'_>, packet: &ThreeDStateSoBuffer) -> Result<(), Fault> {
    if !packet.stream_offset_write_enable {
        return Ok(());
    }
    let mut offset = packet.stream_offset.get() as u32;
    if packet.stream_offset.get() == LOAD {
        if !packet.stream_output_buffer_offset_address_enable {
            return Ok(());
        }
        let mut bytes = [0; 4];
        let address = packet.stream_output_buffer_offset_address.va48();
        // The unit that writes the offsets reads them, in the order of the packets.
        let _client = exec.vm.client(Client::StreamOut);
        let read = exec.vm.read(address, &mut bytes);
        read.map_err(|fault| exec.page(fault, "Stream Output Buffer Offset Address"))?;
        exec.stats.bytes_read += 4;
        offset = u32::from_le_bytes(bytes);
    }
    let register = OFFSETS[packet.so_buffer_index.get() as usize];
    exec.state.registers.write(register, offset);
    Ok(())
}

#[cfg(test)]
mod tests;
