//! Messages that move no data: properties of a surface, and fences.

use super::target;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::gen8::message_payloads::{Map32bRsi, MdpRsi, MdpRsiSurfaceType};
use genxml::gen8::messages::{MsdMemfence, ReadOnlyDataPortMessageDescriptor};
use genxml::gen8::state::{RenderSurfaceState, RenderSurfaceStateExtent, SurfaceType};
use genxml_core::{Address, U};

/// Read Surface Info: returns properties from a surface state (MDP_RSI, 2d p.321).
pub(super) fn surface(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = ReadOnlyDataPortMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "a read of surface info");
    payload.check(port, 1, MdpRsi::DWORDS.div_ceil(REGISTER / 4))?;
    let address = Map32bRsi::unpack_lossy(&registers.dwords(payload.body));
    let state = target::state(port, &payload, descriptor.binding_table_index.get())?;
    let Some(answer) = payload.answer() else { return Ok(()) };
    let mut info = properties(&state, address.lod.lod.get());
    // The address is in canonical form: bits 63:48 repeat bit 47 (2d p.320).
    let base = port.exec.state.base.instruction;
    info.instruction_base_address = Address::new(base).unwrap_or_else(|_| Address::from_bits(base));
    registers.set_dwords(answer, info.pack());
    Ok(())
}

/// The response of Read Surface Info: width, height and depth of level `lod`, and the other fields
/// as they are in the surface state. The instruction base address is left 0.
fn properties(state: &RenderSurfaceState, lod: u64) -> MdpRsi {
    let kind = state.surface_type;
    let (width, height, depth) = match state.extent {
        RenderSurfaceStateExtent::Image { height, width, depth } => {
            (width.get(), height.get(), depth.get())
        }
        // The fields of buffers hold the value minus one, like those of images.
        RenderSurfaceStateExtent::Buffer { height, width, depth } => {
            (width.get() + 1, height.get() + 1, depth.get() + 1)
        }
    };
    let array = state.surface_array;
    let number = |value: u64| U::from_bits(value);
    MdpRsi {
        width: number(if kind == SurfaceType::SURFTYPE_NULL { 0 } else { width >> lod }),
        height: number(match kind {
            SurfaceType::SURFTYPE_1D if array => depth,
            SurfaceType::SURFTYPE_1D
            | SurfaceType::SURFTYPE_BUFFER
            | SurfaceType::SURFTYPE_NULL => 0,
            _ => height >> lod,
        }),
        depth: number(match kind {
            SurfaceType::SURFTYPE_2D | SurfaceType::SURFTYPE_CUBE if array => depth,
            SurfaceType::SURFTYPE_3D => depth >> lod,
            _ => 0,
        }),
        mip_count: number(state.mip_count_lod.get()),
        surface_type: MdpRsiSurfaceType::from_bits(kind.bits()),
        surface_format: number(state.surface_format.bits()),
        ..MdpRsi::new()
    }
}

/// Memory Fence. It has no effect, whatever caches it names. With commit, the response is one
/// register.
pub(super) fn fence(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let fence = MsdMemfence::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open(message, "a memory fence");
    payload.acknowledge(port, registers, usize::from(fence.commit))
}
