//! State of the 3D pipeline: 3DSTATE packets are kept as they are until a draw looks at them.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::render::sol;
use crate::unit::sampler::Palettes;
use genxml::gen8::render3d_fetch::VertexBufferState;
use genxml::gen8::{BlitterPacket, RenderPacket, VideoEnhancePacket, VideoPacket};
use genxml_core::packet::Fixed;

/// Packets that change a part of what earlier ones of their kind set, in tables that nothing here
/// reads yet.
const EDITS: [&str; 2] = ["3DSTATE_BINDING_TABLE_EDIT_", "3DSTATE_DX9_"];

/// A packet that may be one of state.
pub trait Latch {
    /// Keeps the packet at `exec.at` if it is one of state; `dwords` are its own. Of packets that
    /// set one entry of a table, the newest is kept for each entry. False if the packet is
    /// something else.
    ///
    /// # Errors
    /// [`Fault::Unimplemented`] for what only the resource streamer does; [`Fault::Page`] if a
    /// 3DSTATE_SO_BUFFER loads its offset from where no memory is.
    fn latch(&self, exec: &mut Exec<'_>, dwords: &[u32]) -> Result<bool, Fault> {
        let _ = (exec, dwords);
        Ok(false)
    }
}

impl Latch for BlitterPacket<'_> {}
impl Latch for VideoPacket<'_> {}
impl Latch for VideoEnhancePacket<'_> {}

impl Latch for RenderPacket<'_> {
    fn latch(&self, exec: &mut Exec<'_>, dwords: &[u32]) -> Result<bool, Fault> {
        let name = exec.at.packet;
        if !name.starts_with("3DSTATE_") || EDITS.iter().any(|edit| name.starts_with(edit)) {
            return Ok(false);
        }
        let latched = &mut exec.state.latched;
        let index = match self {
            RenderPacket::ThreeDStateVertexBuffers(packet) => {
                let states = packet.unpack_lossy().vertex_buffer_state;
                for mut buffer in states.iter() {
                    let index = buffer.vertex_buffer_index.get() as u8;
                    if !buffer.address_modify_enable {
                        let old = latched.get(name, index).unwrap_or_default();
                        buffer.buffer_starting_address =
                            VertexBufferState::read_lossy(old).buffer_starting_address;
                    }
                    latched.keep(name, index, &buffer.pack());
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
            RenderPacket::ThreeDStateBindingTablePoolAlloc(packet)
                if packet.unpack_lossy().binding_table_pool_enable =>
            {
                return Err(exec
                    .unimplemented("binding tables that the resource streamer makes", "2a p.28"));
            }
            RenderPacket::ThreeDStateGatherPoolAlloc(packet)
                if packet.unpack_lossy().gather_pool_enable =>
            {
                return Err(
                    exec.unimplemented("constants that the resource streamer gathers", "2a p.111")
                );
            }
            RenderPacket::ThreeDStateSoBuffer(packet) => {
                packet.unpack_lossy().so_buffer_index.get()
            }
            RenderPacket::ThreeDStateVfInstancing(packet) => {
                packet.unpack_lossy().vertex_element_index.get()
            }
            RenderPacket::ThreeDStateChromaKey(packet) => {
                packet.unpack_lossy().chroma_key_table_index.get()
            }
            _ => 0,
        };
        latched.keep(name, index as u8, dwords);
        if let RenderPacket::ThreeDStateSoBuffer(packet) = self {
            sol::set_offset(exec, &packet.unpack_lossy())?;
        }
        Ok(true)
    }
}
