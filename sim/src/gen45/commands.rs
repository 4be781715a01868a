//! Finds packets of the G45, and selects the function that executes one.

use super::state::State;
use super::{blit, control, media, mi, pipeline, urb};
use crate::cs::{Commands, Flow, malformed};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::core::reflect::Container;
use genxml::engine::EngineId;
use genxml::gen45::RenderPacket as Packet;

/// The packets of the G45.
pub const COMMANDS: Commands = Commands { find, execute };

/// The packet type that a header selects, and the packet's length in dwords. The render engine
/// executes 2D commands too. `None` for packets of the video engine, which are not described.
fn find(engine: EngineId, header: u32) -> Option<(&'static Container, usize)> {
    match engine {
        EngineId::Render => Packet::find(header).zip(Packet::length(header)),
        _ => None,
    }
}

/// Executes one packet. Packets other than MEDIA_OBJECT wait for media threads first. A packet that
/// is latched state is stored before it is executed.
///
/// # Errors
/// The [`Fault`] of the packet.
fn execute(exec: &mut Exec<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    let packet = Packet::parse(dwords).map_err(|error| malformed(exec, &error))?.0;
    if !matches!(packet, Packet::MediaObject(_)) {
        media::drain(exec)?;
    }
    let latched = packet.latch();
    if let Some(slots) = latched {
        exec.state.slots.get_mut::<State>().latched.keep(slots, dwords);
    }
    match packet {
        Packet::ThreeDPrimitive(packet) => pipeline::primitive(exec, &packet.unpack_lossy())?,
        Packet::MediaObject(packet) => media::object(exec, &packet.unpack_lossy())?,
        Packet::ThreeDStateVertexBuffers(packet) => {
            control::vertex_buffers(exec, &packet.unpack_lossy());
        }
        Packet::ThreeDStateSamplerPaletteLoad0(_) => control::palette(exec, 0, &dwords[1..]),
        Packet::ThreeDStateSamplerPaletteLoad1(_) => control::palette(exec, 1, &dwords[1..]),
        Packet::UrbFence(packet) => urb::fence(exec, &packet.unpack_lossy())?,
        Packet::CsUrbState(packet) => urb::cs_urb_state(exec, &packet.unpack_lossy()),
        Packet::ConstantBuffer(packet) => urb::constant_buffer(exec, &packet.unpack_lossy())?,
        Packet::StateBaseAddress(packet) => {
            control::state_base_address(exec, &packet.unpack_lossy());
        }
        Packet::StateSip(_) => control::bases_changed(exec),
        Packet::StatePrefetch(_) => mi::without_effect(exec),
        Packet::PipelineSelect(packet) => control::pipeline_select(exec, &packet.unpack_lossy())?,
        Packet::PipeControl(packet) => control::pipe_control(exec, &packet.unpack_lossy())?,
        Packet::XySetupBlt(packet) => blit::setup(exec, &packet.unpack_lossy())?,
        Packet::XyTextImmediateBlt(packet) => blit::text(exec, &packet.unpack_lossy())?,
        Packet::XyColorBlt(packet) => blit::color(exec, &packet.unpack_lossy())?,
        Packet::XySrcCopyBlt(packet) => blit::copy(exec, &packet.unpack_lossy())?,
        Packet::MiNoop(packet) => mi::noop(exec, &packet.unpack_lossy())?,
        Packet::MiUserInterrupt(_) => mi::user_interrupt(exec)?,
        Packet::MiFlush(packet) => mi::flush(exec, &packet.unpack_lossy()),
        Packet::MiReportHead(_) => mi::report_head(exec)?,
        Packet::MiArbOnOff(packet) => mi::arb_on_off(exec, &packet.unpack_lossy()),
        Packet::MiWaitForEvent(_)
        | Packet::MiLoadScanLinesIncl(_)
        | Packet::MiLoadScanLinesExcl(_) => mi::without_effect(exec),
        Packet::MiDisplayFlip(packet) => mi::display_flip(exec, &packet.unpack_lossy()),
        Packet::MiStoreDataImm(packet) => mi::store_data_imm(exec, &packet.unpack_lossy())?,
        Packet::MiStoreDataIndex(packet) => mi::store_data_index(exec, &packet.unpack_lossy())?,
        Packet::MiLoadRegisterImm(packet) => mi::load_register_imm(exec, &packet.unpack_lossy())?,
        Packet::MiStoreRegisterMem(packet) => {
            mi::store_register_mem(exec, &packet.unpack_lossy())?;
        }
        Packet::MiSetContext(packet) => return mi::set_context(exec, &packet.unpack_lossy()),
        Packet::MiBatchBufferStart(packet) => {
            return mi::batch_buffer_start(exec, &packet.unpack_lossy());
        }
        Packet::MiBatchBufferEnd(_) => return Ok(Flow::Return),
        _ if latched.is_some() => {}
        _ => return Err(not_implemented(exec, dwords[0])),
    }
    Ok(Flow::Next)
}

/// The fault for a packet that the specification has and the model does not implement.
#[cold]
fn not_implemented(exec: &Exec<'_>, header: u32) -> Fault {
    let source = find(exec.engine, header).map_or("", |(container, _)| container.source);
    exec.unimplemented(exec.at.packet, source)
}
