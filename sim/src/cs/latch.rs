//! Latched state: packets are stored until a draw reads them.

use super::resource_streamer;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::Changed;
use crate::render::sol;
use crate::unit::sampler::Palettes;
use genxml::gen8::render3d_fetch::VertexBufferState;
use genxml::gen8::{BlitterPacket, RenderPacket, VideoEnhancePacket, VideoPacket};
use genxml_core::latch::Latch;

/// A packet that may be latched state.
pub trait LatchPacket {
    /// Stores the packet if it is latched state (attribute `latch` of the specification). `dwords`
    /// are the packet's dwords. Returns false if the packet is not latched state.
    ///
    /// # Errors
    /// [`Fault::Page`] if a 3DSTATE_SO_BUFFER loads its offset from an unmapped address; faults of
    /// the resource streamer, for packets that it executes as well.
    fn latch_packet(&self, exec: &mut Exec<'_>, dwords: &[u32]) -> Result<bool, Fault> {
        let _ = (exec, dwords);
        Ok(false)
    }

    /// What the packet can change, if it is latched state.
    fn changes(&self) -> Changed {
        Changed::Anything
    }
}

impl LatchPacket for BlitterPacket<'_> {}

impl LatchPacket for VideoPacket<'_> {
    fn latch_packet(&self, exec: &mut Exec<'_>, dwords: &[u32]) -> Result<bool, Fault> {
        let Some(slots) = self.latch() else { return Ok(false) };
        exec.state.latched.keep(slots, dwords);
        Ok(true)
    }
}

impl LatchPacket for VideoEnhancePacket<'_> {
    fn latch_packet(&self, exec: &mut Exec<'_>, dwords: &[u32]) -> Result<bool, Fault> {
        let Some(slots) = self.latch() else { return Ok(false) };
        exec.state.latched.keep(slots, dwords);
        Ok(true)
    }
}

impl LatchPacket for RenderPacket<'_> {
    fn changes(&self) -> Changed {
        match self {
            RenderPacket::ThreeDStateConstantVs(_)
            | RenderPacket::ThreeDStateIndexBuffer(_)
            | RenderPacket::ThreeDStateVertexBuffers(_)
            | RenderPacket::ThreeDStateVertexElements(_)
            | RenderPacket::ThreeDStateVfInstancing(_)
            | RenderPacket::ThreeDStateVfSgvs(_)
            | RenderPacket::ThreeDStateVfTopology(_) => Changed::Vertices,
            _ => Changed::Anything,
        }
    }

    fn latch_packet(&self, exec: &mut Exec<'_>, dwords: &[u32]) -> Result<bool, Fault> {
        match self {
            RenderPacket::ThreeDStateVertexBuffers(packet) => {
                let latched = &mut exec.state.latched;
                for mut buffer in packet.unpack_lossy().vertex_buffer_state.iter() {
                    if !buffer.address_modify_enable {
                        let entry = buffer.vertex_buffer_index.get() as usize;
                        let old: VertexBufferState = latched.read(entry);
                        buffer.buffer_starting_address = old.buffer_starting_address;
                    }
                    latched.keep(VertexBufferState::SLOTS, &buffer.pack());
                }
                return Ok(true);
            }
            RenderPacket::ThreeDStateSamplerPaletteLoad0(packet) => {
                exec.state
                    .slots
                    .get_mut::<Palettes>()
                    .load(0, packet.unpack_lossy().entry.iter().map(|entry| entry.pack()[0]));
                return Ok(true);
            }
            RenderPacket::ThreeDStateSamplerPaletteLoad1(packet) => {
                exec.state
                    .slots
                    .get_mut::<Palettes>()
                    .load(1, packet.unpack_lossy().entry.iter().map(|entry| entry.pack()[0]));
                return Ok(true);
            }
            _ => {}
        }
        let Some(slots) = self.latch() else { return Ok(false) };
        exec.state.latched.keep(slots, dwords);
        match self {
            RenderPacket::ThreeDStateSoBuffer(packet) => {
                sol::set_offset(exec, &packet.unpack_lossy())?;
            }
            packet => resource_streamer::latched(exec, packet)?,
        }
        Ok(true)
    }
}
