//! Turns a fault or hang into an error state, as i915 would report it: the registers of the model
//! and the memory that the engine accessed. [`genxml::error_state::write`] writes it in the
//! kernel's text format.

use crate::gpu::{ContextId, Gpu};
use crate::machine::fault::Fault;
use crate::machine::registers::mmio_base;
use crate::mem::{Cause, PAGE, Tables};
use genxml::aub::{Translation, mapped};
use genxml::core::bits;
use genxml::core::reflect::Type;
use genxml::decode::Tables as Registers;
use genxml::engine::EngineId;
use genxml::error_state::{BufferKind, Crash, CrashBuffer, ErrorState, PageFault, Register};
use genxml::gen8::engine_registers::{
    RingBbaddr, RingBbaddrUdw, RingBbstate, RingCtl, RingEir, RingEsr, RingExcc, RingHead,
    RingHwsPga, RingInstpm, RingIpehr, RingIpeir, RingMiMode, RingModeGen7, RingNopid, RingStart,
    RingTail,
};

/// Registers of an engine, with the kernel's names.
const REGISTERS: [(&str, u32); 9] = [
    ("MODE", RingMiMode::OFFSET),
    ("HWS", RingHwsPga::OFFSET),
    ("IPEIR", RingIpeir::OFFSET),
    ("ESR", RingEsr::OFFSET),
    ("BB_STATE", RingBbstate::OFFSET),
    ("INSTPM", RingInstpm::OFFSET),
    ("NOPID", RingNopid::OFFSET),
    ("EXCC", RingExcc::OFFSET),
    ("GFX_MODE", RingModeGen7::OFFSET),
];

/// Registers with a bit for each unit that has no work: the engine, the name in error states, and
/// the name in the specification.
const DONE: [(EngineId, &str, &str); 7] = [
    (EngineId::Render, "INSTDONE", "INSTDONE_1"),
    (EngineId::Render, "SC_INSTDONE", "SC_INSTDONE"),
    (EngineId::Render, "SAMPLER_INSTDONE[0][0]", "SAMPLER_INSTDONE"),
    (EngineId::Render, "ROW_INSTDONE[0][0]", "ROW_INSTDONE"),
    (EngineId::Blitter, "INSTDONE", "BCS_INSTDONE"),
    (EngineId::Video, "INSTDONE", "VCS_INSTDONE"),
    (EngineId::VideoEnhance, "INSTDONE", "VECS_INSTDONE"),
];
/// Bits of the command streamers. When an engine stops, its streamer waits for the packet.
const STREAMERS: [&str; 4] = ["CS Done", "BCS Done", "VCS Done", "VECS Done"];
/// Bits of the units that work while a thread runs. The model does not assign threads to execution
/// units: error states name the first one.
const THREADS: [&str; 2] = ["TDL Done", "EU00 Done SS0"];

/// Maximum number of bytes of a context's memory in an error state.
const MAX_BYTES: u64 = 1 << 30;

/// Facts about a submission that the model does not record itself.
#[derive(Clone, Debug)]
pub struct Ran<'a> {
    /// Name of the program, for example the name of the capture.
    pub name: &'a str,
    /// Number of the submission, reported as the process id.
    pub number: u64,
    /// PCI device id.
    pub pci_id: u32,
    /// The context, if it is known.
    pub context: Option<ContextId>,
    /// The engine of the submission, used for faults that name no engine.
    pub engine: EngineId,
    /// Address of the first command of the batch. If `None`, the error state names the batch of the
    /// faulting packet.
    pub batch: Option<u64>,
    /// The memory that the context can access: pieces, each with its start address.
    pub memory: Vec<(u64, &'a [u8])>,
}

impl Gpu {
    /// The error state of a fault that just ended a submission.
    pub fn error_state(&mut self, fault: &Fault, ran: &Ran<'_>) -> ErrorState {
        let place = fault.place();
        let engine = place.map_or(ran.engine, |place| place.engine);
        let base = mmio_base(engine);
        let mut registers: Vec<(&str, u64)> = REGISTERS
            .iter()
            .map(|(name, offset)| (*name, self.mmio_read(base + offset).into()))
            .collect();
        let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let bbaddr =
            [RingBbaddr::OFFSET, RingBbaddrUdw::OFFSET].map(|offset| self.mmio_read(base + offset));
        registers.push(("BBADDR", wide(bbaddr[0], bbaddr[1])));
        registers.extend(units(engine, place.is_some_and(|place| place.thread.is_some())));
        if let Some(context) = ran.context {
            let roots = self.context(context).space.roots();
            registers.extend(["PDP0", "PDP1", "PDP2", "PDP3"].into_iter().zip(roots));
        }
        let ring = self.ring_bytes(engine);
        let mut buffers: Vec<CrashBuffer<'_>> = (ran.memory.iter())
            .map(|(address, data)| CrashBuffer { kind: BufferKind::User, address: *address, data })
            .collect();
        if let Some((start, bytes)) = &ring {
            buffers.push(CrashBuffer { kind: BufferKind::Ring, address: *start, data: bytes });
        }
        let offset = |offset: u32| u64::from(self.mmio_read(base + offset));
        let head = RingHead::unpack_lossy(&[offset(RingHead::OFFSET) as u32]).head_addr.get();
        let tail = RingTail::unpack_lossy(&[offset(RingTail::OFFSET) as u32]).tail_addr.get();
        let header = place.and_then(|place| dword(&ran.memory, place.address));
        let state = Crash {
            reason: match fault {
                Fault::Page { .. } => "page fault",
                Fault::Hang { .. } | Fault::Stuck { .. } | Fault::Deadlock { .. } => "hang",
                _ => "stopped",
            },
            driver: &format!("model of genx: {fault}"),
            pci_id: ran.pci_id,
            engine,
            process: Some((ran.name, ran.number as i64)),
            batch: ran.batch.or(place.map(|place| place.batch)).unwrap_or(0),
            buffers,
            ring: (head, tail),
            acthd: place.map(|place| place.address),
            ipehr: Some(header.unwrap_or(offset(RingIpehr::OFFSET) as u32)),
            fault: match fault {
                Fault::Page { fault, .. } => Some(PageFault {
                    address: fault.address,
                    global: fault.tables == Tables::Global,
                    level: match fault.cause {
                        Cause::NotPresent(level)
                        | Cause::BadFrame(level)
                        | Cause::ReadOnly(level) => level.saturating_sub(1),
                        Cause::Outside => 3,
                    },
                    source: 0,
                }),
                _ => None,
            },
            registers,
            ..Crash::default()
        };
        let mut state = state.error_state();
        state.registers.push(Register::new("EIR", offset(RingEir::OFFSET)));
        state
    }

    /// Start address and bytes of an engine's ring, up to its first page that is not mapped. `None`
    /// if the ring is not enabled or its first page is not mapped.
    fn ring_bytes(&mut self, engine: EngineId) -> Option<(u64, Vec<u8>)> {
        let base = mmio_base(engine);
        let control = RingCtl::unpack_lossy(&[self.mmio_read(base + RingCtl::OFFSET)]);
        let start = u64::from(self.mmio_read(base + RingStart::OFFSET)) & !(PAGE - 1);
        if !control.ring_valid {
            return None;
        }
        // The size field may be too large, because Mesa's AUB writer puts an address into RING_CTL
        // (gen8_facts 1.5). So stop at the first page that is not mapped.
        let mut bytes = Vec::new();
        let mut page = [0; PAGE as usize];
        for at in (start..start + control.ring_nr_pages.get() * PAGE).step_by(PAGE as usize) {
            if self.global().read(at, &mut page).is_err() {
                break;
            }
            bytes.extend_from_slice(&page);
        }
        (!bytes.is_empty()).then_some((start, bytes))
    }

    /// The memory that a context maps, at most its first 1 GiB: contiguous pieces, each with its
    /// start address. Empty if the context's space is the global table.
    pub fn mapped(&self, context: ContextId) -> Vec<(u64, Vec<u8>)> {
        let space = &self.context(context).space;
        let translation = match space.tables() {
            Tables::FourLevels => Translation::Four(space.root()),
            Tables::ThreeLevels => Translation::Two(space.roots()),
            Tables::Global => return Vec::new(),
        };
        let mut read =
            |frame: u64, out: &mut [u8]| self.memory.read_physical(frame * PAGE, out).is_some();
        let (pages, _) = mapped(&translation, &mut read);
        let mut pieces: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut bytes = [0; PAGE as usize];
        for (page, frame) in pages.into_iter().take((MAX_BYTES / PAGE) as usize) {
            if !read(frame, &mut bytes) {
                continue;
            }
            match pieces.last_mut() {
                Some((start, piece)) if *start + piece.len() as u64 == page * PAGE => {
                    piece.extend_from_slice(&bytes);
                }
                _ => pieces.push((page * PAGE, bytes.to_vec())),
            }
        }
        pieces
    }
}

/// The registers of [`DONE`] of an engine, by their names in error states. `in_kernel` is true if a
/// thread runs.
fn units(engine: EngineId, in_kernel: bool) -> impl Iterator<Item = (&'static str, u64)> {
    let rows = DONE.iter().filter(move |row| row.0 == engine);
    rows.map(move |(_, name, register)| {
        let works = |unit: &str| STREAMERS.contains(&unit) || in_kernel && THREADS.contains(&unit);
        let mut value = [0];
        for field in Registers::gen8().container(register).map_or(&[][..], |found| found.fields) {
            if matches!(field.ty, Type::Bool) && !works(field.name) {
                bits::put(&mut value, field.start, field.end, 1);
            }
        }
        (*name, value[0].into())
    })
}

/// The dword at an address; `None` if no piece of `memory` contains it.
fn dword(memory: &[(u64, &[u8])], address: u64) -> Option<u32> {
    let (start, bytes) = memory.iter().find(|(start, bytes)| {
        address.checked_sub(*start).is_some_and(|offset| offset < bytes.len() as u64)
    })?;
    let bytes = bytes.get((address - start) as usize..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}
