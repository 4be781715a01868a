//! Which memory a message means: its binding table index, and the parts of its header that say
//! where offsets count from.

use super::window::Target;
use crate::assumptions::GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND;
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use crate::surface::{SurfaceKind, TileMode};
use crate::unit::bindings::{Bound, FIRST_SPECIAL_INDEX};
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::gen8::message_headers::{Mh1A32Psm, MhA32Go, MhA32Hwb};
use genxml::gen8::state::RenderSurfaceState;
use genxml_eu::gen8::descriptors::MdcBtsSlmA32 as Index;

/// Base addresses of stateless messages are pages of this size: MHC_A32_BBA means bits 31:10 (2d
/// p.4), below are other things in the registers that headers are copied from.
const BASE_PAGE: u64 = 1024;

/// What messages that have a surface may mean beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Allowed {
    /// Nothing (MDC_BTS, 2d p.471).
    Surface,
    /// All memory (MDC_BTS_A32, 2d p.472).
    Stateless,
    /// All memory and shared local memory (MDC_BTS_SLM_A32, 2d p.13).
    Any,
}

/// What headers of data port 0 say: MH_BTS_GO (2d p.42), MH_A32_GO (2d p.462) and MH_IGNORE are one
/// layout, of which some fields are not looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// First offset, in units that depend on the message.
    pub global: u32,
    /// Stateless messages: the base behind General State Base Address.
    base: u64,
    /// Stateless messages: bytes from the base on that the thread may use.
    bytes: u64,
}

impl Header {
    /// What holds for messages without a header: all from General State Base Address on.
    const ABSENT: Header = Header { global: 0, base: 0, bytes: 1 << 32 };

    /// The header at byte `at` of the registers, or none.
    pub fn read(registers: &Registers, at: Option<usize>) -> Header {
        let Some(at) = at else { return Header::ABSENT };
        let header = MhA32Go::unpack_lossy(&registers.dwords(at));
        let base = header.buffer_base_address.buffer_base_address_offset.get();
        Header {
            global: header.global_offset.get() as u32,
            base: base - base % BASE_PAGE,
            bytes: scratch_bytes(header.per_thread_scratch_space.per_thread_scratch_space.get()),
        }
    }
}

/// Bytes for a code of MHC_PTSS: 1 KiB, doubled by each step (2d p.294). Codes beyond 11 are
/// reserved and go on.
const fn scratch_bytes(code: u64) -> u64 {
    1024 << code
}

/// Slots that the header of a message of data port 1 lets through, and where its offsets count from
/// if it is stateless: MH1_BTS_PSM, MH1_SLM_PSM, MH1_A32_PSM (2d p.473, 448, 465). Without a header
/// all slots do.
pub(super) fn header_1(registers: &Registers, at: Option<usize>) -> (u32, Header) {
    let Some(at) = at else { return (u32::MAX, Header::ABSENT) };
    let header = Mh1A32Psm::unpack_lossy(&registers.dwords(at));
    let base = header.buffer_base_address.buffer_base_address_offset.get();
    let stateless = Header { base: base - base % BASE_PAGE, ..Header::ABSENT };
    (header.pixel_sample_mask.pixel_sample_mask.get() as u32, stateless)
}

/// The memory of binding table index `index`, as a buffer.
pub(super) fn buffer(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    index: u64,
    allowed: Allowed,
    header: Header,
) -> Result<Target, Fault> {
    let special = Index::from_bits(index);
    match special {
        Index::SLM if allowed == Allowed::Any => Ok(Target::Local),
        Index::A32_A64 | Index::A32_A64_NC if allowed != Allowed::Surface => {
            Ok(general_state(port, header.base, header.bytes))
        }
        _ => match as_buffer(surface(port, payload, index)?) {
            Some(target) => Ok(target),
            None => Err(port.illegal(
                format!("{} of a tiled surface: the message is for buffers", payload.name),
                payload.message,
            )),
        },
    }
}

/// The surface of binding table index `index`, which must be an entry of the table.
pub(super) fn surface<'p>(
    port: &'p mut Port<'_, '_>,
    payload: &Payload<'_>,
    index: u64,
) -> Result<&'p Bound, Fault> {
    match u8::try_from(index) {
        Ok(index) if index < FIRST_SPECIAL_INDEX => port.bindings.surface(port.exec, index),
        _ => Err(payload.reserved(port, "Binding Table Index", index)),
    }
}

/// The surface state of binding table index `index`, which must be an entry of the table.
pub(super) fn state(
    port: &Port<'_, '_>,
    payload: &Payload<'_>,
    index: u64,
) -> Result<RenderSurfaceState, Fault> {
    match u8::try_from(index) {
        Ok(index) if index < FIRST_SPECIAL_INDEX => port.bindings.state(port.exec, index),
        _ => Err(payload.reserved(port, "Binding Table Index", index)),
    }
}

/// A surface as messages about buffers see it: its format plays no part (G45 vol 4, 5.10.2). None
/// for what is no buffer.
fn as_buffer(bound: &Bound) -> Option<Target> {
    let surface = &bound.surface;
    match surface.kind {
        SurfaceKind::Null => Some(Target::NOTHING),
        SurfaceKind::Buffer => {
            let pitch = u64::from(surface.pitch.max(surface.element_bytes));
            Some(Target::Memory { base: surface.base, size: u64::from(surface.width) * pitch })
        }
        SurfaceKind::Structured => Some(Target::Structured {
            base: surface.base,
            count: u64::from(surface.width),
            pitch: u64::from(surface.pitch),
        }),
        // Only buffers are allowed; rows one behind the other are nothing else, and drivers send
        // it.
        SurfaceKind::Image if surface.tile_mode == TileMode::Linear => Some(Target::Memory {
            base: surface.base,
            size: u64::from(surface.pitch) * u64::from(surface.height),
        }),
        _ => None,
    }
}

/// Scratch space of a thread, by the header of a scratch block message (MH_A32_HWB, 2d p.410).
pub(super) fn scratch(port: &Port<'_, '_>, registers: &Registers, header: usize) -> Target {
    let header = MhA32Hwb::unpack_lossy(&registers.dwords(header));
    let base = header.buffer_base_address.buffer_base_address_offset.get();
    let bytes = scratch_bytes(header.per_thread_scratch_space.per_thread_scratch_space.get());
    general_state(port, base - base % BASE_PAGE, bytes)
}

/// `bytes` bytes from `offset` behind General State Base Address on, as far as General State Buffer
/// Size lets them (MH_A32_GO, 2d p.462).
fn general_state(port: &Port<'_, '_>, offset: u64, bytes: u64) -> Target {
    let state = &port.exec.state.base;
    let size = match state.general_size {
        0 if GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND => bytes,
        all => bytes.min(all.saturating_sub(offset)),
    };
    Target::Memory { base: state.general.wrapping_add(offset), size }
}
