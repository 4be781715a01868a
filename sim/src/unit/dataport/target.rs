//! Finds the memory that a message accesses, from its binding table index and from the base address
//! and offset in its header.

use super::window::Target;
use crate::assumptions::GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND;
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::surface::{SurfaceKind, TileMode};
use crate::unit::bindings::{Bound, FIRST_SPECIAL_INDEX};
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::gen8::message_headers::{Mh1A32Psm, MhA32Go, MhA32Hwb};
use genxml::gen8::state::RenderSurfaceState;
use genxml_eu::gen8::descriptors::MdcBtsSlmA32 as Index;

/// Alignment of base addresses of stateless messages in bytes. MHC_A32_BBA has bits 31:10 only (2d
/// p.4). The bits below have other uses in the registers that headers are copied from.
const BASE_PAGE: u64 = 1024;

/// The memory that a message may access instead of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Allowed {
    /// None: a surface is required (MDC_BTS, 2d p.471).
    Surface,
    /// All memory (MDC_BTS_A32, 2d p.472).
    Stateless,
    /// All memory and shared local memory (MDC_BTS_SLM_A32, 2d p.13).
    Any,
}

/// The header of a message to data port 0. MH_BTS_GO (2d p.42), MH_A32_GO (2d p.462) and MH_IGNORE
/// have the same layout, but some fields are ignored in some of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// Global Offset, in units that depend on the message.
    pub global: u32,
    /// Stateless messages: the base, relative to General State Base Address.
    base: u64,
    /// Stateless messages: bytes from the base on that the thread may use.
    bytes: u64,
}

impl Header {
    /// Values for messages without a header: 4 GiB from General State Base Address on.
    const ABSENT: Header = Header { global: 0, base: 0, bytes: 1 << 32 };

    /// Reads the header at byte `at` of the registers, or returns `Header::ABSENT`.
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

/// Decodes MHC_PTSS to bytes: 1 KiB, doubled by each step (2d p.294). Codes above 11 are reserved;
/// the model decodes them in the same way.
const fn scratch_bytes(code: u64) -> u64 {
    1024 << code
}

/// Reads the header of a message to data port 1 at byte `at` of the registers: MH1_BTS_PSM,
/// MH1_SLM_PSM or MH1_A32_PSM (2d p.473, 448, 465). Returns the pixel mask, and the base for a
/// stateless message. Without a header the mask has all slots.
pub(super) fn header_1(registers: &Registers, at: Option<usize>) -> (u32, Header) {
    let Some(at) = at else { return (u32::MAX, Header::ABSENT) };
    let header = Mh1A32Psm::unpack_lossy(&registers.dwords(at));
    let base = header.buffer_base_address.buffer_base_address_offset.get();
    let stateless = Header { base: base - base % BASE_PAGE, ..Header::ABSENT };
    (header.pixel_sample_mask.pixel_sample_mask.get() as u32, stateless)
}

/// The memory that binding table index `index` selects, as a buffer. `header` gives the base and
/// the size of stateless memory.
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

/// As [`buffer`], for oword blocks. Of a tiled image, the bytes as they are in memory
/// (assumptions::OWORD_BLOCKS_IGNORE_TILES).
pub(super) fn bytes(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    index: u64,
    allowed: Allowed,
    header: Header,
) -> Result<Target, Fault> {
    if index < u64::from(FIRST_SPECIAL_INDEX) {
        let surface = &surface(port, payload, index)?.surface;
        if surface.kind == SurfaceKind::Image && surface.tile_mode != TileMode::Linear {
            let size = u64::from(surface.pitch) * u64::from(surface.height);
            return Ok(Target::Memory { base: surface.base, size });
        }
    }
    buffer(port, payload, index, allowed, header)
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

/// The memory of a surface for messages that access buffers. The format is ignored (G45 vol 4,
/// 5.10.2). `None` for tiled surfaces.
pub(super) fn as_buffer(bound: &Bound) -> Option<Target> {
    let surface = &bound.surface;
    match surface.kind {
        SurfaceKind::Null => Some(Target::NOTHING),
        // The format does not count: drivers give buffers of constants a format of 16 bytes and a
        // pitch of 1 byte.
        SurfaceKind::Buffer => Some(Target::Memory {
            base: surface.base,
            size: u64::from(surface.width) * u64::from(surface.pitch),
        }),
        SurfaceKind::Structured => Some(Target::Structured {
            base: surface.base,
            count: u64::from(surface.width),
            pitch: u64::from(surface.pitch),
        }),
        // The manual allows buffers only. A linear image has the layout of a buffer, and drivers
        // use linear images with these messages.
        SurfaceKind::Image if surface.tile_mode == TileMode::Linear => Some(Target::Memory {
            base: surface.base,
            size: u64::from(surface.pitch) * u64::from(surface.height),
        }),
        _ => None,
    }
}

/// Counts a message that reads memory, or writes memory if `write` is true. The memory is shared
/// local memory if `local` is true.
#[inline]
pub(super) fn observe(port: &mut Port<'_, '_>, local: bool, write: bool) {
    let counter = match (local, write) {
        (false, _) => Counter::Memory,
        (true, false) => Counter::LocalReads,
        (true, true) => Counter::LocalWrites,
    };
    port.exec.device.observed.add(counter, 1);
}

/// Counts an atomic message, which reads and writes memory.
#[inline]
pub(super) fn observe_atomic(port: &mut Port<'_, '_>, local: bool) {
    port.exec.device.observed.add(Counter::Atomics, 1);
    observe(port, local, false);
    if local {
        observe(port, local, true);
    }
}

/// Scratch space of a thread, from the header of a scratch block message (MH_A32_HWB, 2d p.410).
pub(super) fn scratch(port: &Port<'_, '_>, registers: &Registers, header: usize) -> Target {
    let header = MhA32Hwb::unpack_lossy(&registers.dwords(header));
    let base = header.buffer_base_address.buffer_base_address_offset.get();
    let bytes = scratch_bytes(header.per_thread_scratch_space.per_thread_scratch_space.get());
    general_state(port, base - base % BASE_PAGE, bytes)
}

/// `bytes` bytes of memory at `offset` from General State Base Address, limited by General State
/// Buffer Size (MH_A32_GO, 2d p.462).
fn general_state(port: &Port<'_, '_>, offset: u64, bytes: u64) -> Target {
    let state = &port.exec.state.base;
    let size = match state.general_size {
        0 if GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND => bytes,
        all => bytes.min(all.saturating_sub(offset)),
    };
    Target::Memory { base: state.general.wrapping_add(offset), size }
}
