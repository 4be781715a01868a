//! Builds error states without the driver: from a hang or page fault of a program or GPU model
//! (`Crash`), or from a captured submission (`ErrorState::of_exec`).

use super::submissions::engine_name;
use super::{Buffer, BufferKind, Engine, Entry, ErrorState, Process, Register};
use crate::capture::{Capture, Exec, ExecMemory};
use crate::decode::Tables;
use crate::engine::EngineId;
use crate::gen8::mi::MiBatchBufferStart;
use crate::memory::VA_MASK;
use genxml_core::reflect::Kind;
use genxml_core::{Packed, bits};

/// A hang or page fault. Leave unknown values empty. If `buffers` has no ring, one that calls the
/// batch is added to the error state.
///
/// ```
/// use genxml::engine::EngineId;
/// use genxml::error_state::{BufferKind, Crash, CrashBuffer, PageFault, Spelling, write};
/// let batch = [0u8; 64];
/// let crash = Crash {
///     reason: "page fault",
///     engine: EngineId::Render,
///     process: Some(("demo", 7)),
///     batch: 0x1_0000,
///     buffers: vec![CrashBuffer { kind: BufferKind::Batch, address: 0x1_0000, data: &batch }],
///     acthd: Some(0x1_0008),
///     ipehr: Some(0x7a00_0004),
///     fault: Some(PageFault { address: 0xdead_b000, global: false, level: 0, source: 0 }),
///     ..Crash::default()
/// };
/// let mut text = Vec::new();
/// write(&crash.error_state(), Spelling::Linux6_1, &mut text)?;
/// assert!(text.starts_with(b"GPU HANG: "));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Crash<'a> {
    /// What happened, in a few words.
    pub reason: &'a str,
    /// The source of memory and registers, for the line `Driver`; empty to leave the line out.
    pub driver: &'a str,
    /// The PCI device id.
    pub pci_id: u32,
    /// The engine.
    pub engine: EngineId,
    /// The number of the engine among those of its class, from 0.
    pub instance: u32,
    /// The program: its command and process id.
    pub process: Option<(&'a str, i64)>,
    /// GPU address of the first command of the batch.
    pub batch: u64,
    /// The memory. A buffer that holds the address `batch` gets the kind `Batch` instead of its own
    /// kind, unless it is global.
    pub buffers: Vec<CrashBuffer<'a>>,
    /// Offsets in bytes of head and tail in the ring, if `buffers` has a ring.
    pub ring: (u64, u64),
    /// GPU address of the command that ran.
    pub acthd: Option<u64>,
    /// First dword of the command that ran.
    pub ipehr: Option<u32>,
    /// The page fault.
    pub fault: Option<PageFault>,
    /// Further registers, by the kernel's names: `INSTDONE`, `SC_INSTDONE`, `GFX_MODE`, `PDP0`. A
    /// value given here replaces the derived value of the register with the same name.
    pub registers: Vec<(&'a str, u64)>,
}

impl Default for Crash<'_> {
    /// An empty crash on the render engine of a Broadwell GT2.
    fn default() -> Self {
        Crash {
            reason: "",
            driver: "",
            pci_id: 0x1616,
            engine: EngineId::Render,
            instance: 0,
            process: None,
            batch: 0,
            buffers: Vec::new(),
            ring: (0, 0),
            acthd: None,
            ipehr: None,
            fault: None,
            registers: Vec::new(),
        }
    }
}

/// A piece of memory.
#[derive(Debug, Clone)]
pub struct CrashBuffer<'a> {
    /// Kind of the memory.
    pub kind: BufferKind,
    /// GPU address of the first byte.
    pub address: u64,
    /// Bytes of the memory.
    pub data: &'a [u8],
}

/// A page fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFault {
    /// GPU address; the registers hold only its page.
    pub address: u64,
    /// The address is in the global page table.
    pub global: bool,
    /// Level of the missing page-table entry, from 0 (PTE) to 3 (PML4E).
    pub level: u8,
    /// Number of the unit that made the access; 0 if unknown.
    pub source: u8,
}

/// Lowest global address of an added ring. The ring gets the first free address from here on.
const RING: u64 = 0x1000_0000;

/// Size in bytes of an added ring.
const RING_SIZE: usize = 4096;

impl Crash<'_> {
    /// The crash as an error state.
    pub fn error_state(&self) -> ErrorState {
        let name = engine_name(self.engine, self.instance);
        let mut state = ErrorState::default();
        self.header(&mut state);
        for CrashBuffer { kind, address, data } in &self.buffers {
            let mut kind = kind.clone();
            let inside =
                self.batch.checked_sub(*address).is_some_and(|offset| offset < data.len() as u64);
            if inside && !kind.is_global() {
                kind = BufferKind::Batch;
            }
            state.buffers.push(Buffer {
                engine: Some(name.clone()),
                kind,
                address: *address,
                data: data.to_vec(),
                ..Buffer::default()
            });
        }
        // The batch comes first, as in the kernel's files.
        state.buffers.sort_by_key(|buffer| buffer.kind != BufferKind::Batch);
        let (head, tail) = match state.buffers.iter().any(|buffer| buffer.kind == BufferKind::Ring)
        {
            true => self.ring,
            false => self.add_ring(&mut state, &name),
        };
        let mut engine = Engine { name, ..Engine::default() };
        engine.process = self.process.map(|(name, pid)| Process {
            name: name.to_owned(),
            pid,
            context: None,
            score: None,
        });
        self.registers(&mut state, &mut engine, head, tail);
        state.engines.push(engine);
        state
    }

    fn header(&self, state: &mut ErrorState) {
        let mut entry = |key: &str, value: String| {
            state.header.push(Entry { key: key.to_owned(), value });
        };
        let (class, ipehr) = (self.engine as u32, self.ipehr.unwrap_or(0));
        let process =
            self.process.map(|(name, pid)| format!(", in {name} [{pid}]")).unwrap_or_default();
        let reason =
            if self.reason.is_empty() { String::new() } else { format!(", {}", self.reason) };
        entry("GPU HANG", format!("ecode 8:{}:{ipehr:08x}{process}{reason}", 1 << class));
        if !self.driver.is_empty() {
            entry("Driver", self.driver.to_owned());
        }
        entry("Platform", "BROADWELL".to_owned());
        entry("PCI ID", format!("{:#06x}", self.pci_id));
    }

    /// Adds a ring that calls the batch; returns its head and tail.
    fn add_ring(&self, state: &mut ErrorState, name: &str) -> (u64, u64) {
        let mut address = RING;
        let taken = |address: u64| {
            let end = address + RING_SIZE as u64;
            state.buffers.iter().find(|buffer| buffer.address < end && address < buffer.end())
        };
        while let Some(buffer) = taken(address) {
            address = buffer.end().next_multiple_of(RING_SIZE as u64);
        }
        let mut dwords = vec![0; RING_SIZE / 4];
        let info = MiBatchBufferStart::INFO;
        let put = |dwords: &mut [u32], name: &str, value: u64| {
            if let Some(field) = info.fields.iter().find(|field| field.name == name) {
                bits::put(dwords, field.start, field.end, value);
            }
        };
        if let Kind::Instruction { opcode, bias, .. } = info.kind {
            dwords[0] = opcode;
            put(&mut dwords, "DWord Length", u64::from(info.dwords() as u32 - bias));
        }
        put(&mut dwords, "Address Space Indicator", 1);
        // Bits 63:48 repeat bit 47.
        let canonical = ((self.batch << 16) as i64 >> 16) as u64;
        let start = info.fields.iter().find(|field| field.name == "Batch Buffer Start Address");
        if let Some(field) = start {
            bits::put(&mut dwords, field.start, field.end, canonical >> (field.start % 32));
        }
        let data = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        let engine = Some(name.to_owned());
        state.buffers.push(Buffer {
            engine,
            kind: BufferKind::Ring,
            address,
            data,
            ..Buffer::default()
        });
        // The ring's head is after MI_BATCH_BUFFER_START. The tail must be a multiple of 8, so a
        // MI_NOOP may lie between head and tail.
        let head = 4 * info.dwords() as u64;
        (head, head.next_multiple_of(8))
    }

    fn registers(&self, state: &mut ErrorState, engine: &mut Engine, head: u64, tail: u64) {
        let mut set = |name: &str, value: u64, more: &[u64]| {
            let given = self.registers.iter().find(|(given, _)| *given == name);
            let value = given.map_or(value, |(_, value)| *value);
            engine.registers.push(Register { name: name.to_owned(), value, more: more.to_vec() });
        };
        if let Some(ring) = state.buffers.iter().find(|buffer| buffer.kind == BufferKind::Ring) {
            set("START", ring.address, &[]);
            // In an added ring, the request starts at the start of the ring.
            let made = !self.buffers.iter().any(|buffer| buffer.kind == BufferKind::Ring);
            set("HEAD", pack("RING_HEAD", &[("HEAD_ADDR", head)]), if made { &[0] } else { &[] });
            set("TAIL", pack("RING_TAIL", &[("TAIL_ADDR", tail)]), &[]);
            let pages = (ring.data.len() as u64).div_ceil(4096);
            set("CTL", pack("RING_CTL", &[("RING_NR_PAGES", pages), ("RING_VALID", 1)]), &[]);
        }
        if let Some(acthd) = self.acthd {
            set("ACTHD", acthd & VA_MASK, &[]);
        }
        if let Some(ipehr) = self.ipehr {
            set("IPEHR", ipehr.into(), &[]);
        }
        if let Some(batch) = state.buffers.iter().find(|buffer| buffer.kind == BufferKind::Batch) {
            set("batch", batch.address, &[batch.end()]);
        }
        if let Some(PageFault { address, global, level, source }) = self.fault {
            let class = match self.engine {
                EngineId::Render => 0,
                EngineId::Video => 1 + u64::from(self.instance.min(1)),
                EngineId::VideoEnhance => 3,
                EngineId::Blitter => 4,
            };
            let fault = [
                ("Valid Bit", 1),
                ("Fault Type", level.min(3).into()),
                ("SRCID of Fault", source.into()),
                ("GTTSEL", global.into()),
                ("Engine ID", class),
            ];
            set("FAULT_REG", pack("FAULT_REG", &fault), &[]);
            let address = address & VA_MASK;
            let low = pack("GEN8_FAULT_TLB_DATA0", &[("FAULT_VA", address & FAULT_LOW)]);
            let high = [
                ("FAULT_GTT_SEL", global.into()),
                ("FAULT_VA_HIGH_BITS", address / (FAULT_LOW + 1)),
            ];
            let high = pack("GEN8_FAULT_TLB_DATA1", &high);
            state.registers.push(Register {
                name: "FAULT_TLB_DATA".into(),
                value: high,
                more: vec![low],
            });
        }
        for (name, value) in &self.registers {
            if engine.register(name).is_none() {
                engine.registers.push(Register::new(*name, *value));
            }
        }
    }
}

/// Mask of address bits 43:0. GEN8_FAULT_TLB_DATA0 holds the page number in these bits, DATA1 holds
/// the bits above.
pub(crate) const FAULT_LOW: u64 = (1 << 44) - 1;

/// Packs a register from names and values of its fields. The values are plain: this function
/// shifts them or subtracts one as the field requires. Fields with unknown names are ignored.
fn pack(register: &str, fields: &[(&str, u64)]) -> u64 {
    use genxml_core::reflect::Stored;
    let mut dwords = [0; 2];
    let container = Tables::gen8().container(register);
    for (name, value) in fields {
        let field = container
            .and_then(|container| container.fields.iter().find(|field| field.name == *name));
        let Some(field) = field else { continue };
        let stored = match field.stored {
            Stored::Plain => *value,
            Stored::MinusOne => value.saturating_sub(1),
            Stored::Shifted(by) => value >> by,
            Stored::Log2 => value.checked_ilog2().unwrap_or(0).into(),
        };
        bits::put(
            &mut dwords,
            field.start,
            field.end,
            stored & bits::ones(field.end - field.start + 1),
        );
    }
    u64::from(dwords[0]) | u64::from(dwords[1]) << 32
}

impl ErrorState {
    /// Makes an error state of a captured submission at the time when its batch starts: the memory
    /// that the submission sees, and a ring that calls the batch. Registers that describe a hang
    /// are left out, except ACTHD: it has the address of the batch.
    pub fn of_exec(capture: &Capture, exec: &Exec, memory: &ExecMemory<'_>) -> ErrorState {
        let buffers = memory.ranges().map(|(address, data)| CrashBuffer {
            kind: BufferKind::User,
            address,
            data,
        });
        let driver = format!("capture {}, submission {}", capture.name(), exec.seq);
        Crash {
            reason: "captured",
            driver: &driver,
            pci_id: capture.device().pci_id,
            engine: exec.engine,
            batch: exec.batch_address,
            buffers: buffers.collect(),
            acthd: Some(exec.batch_address),
            ..Crash::default()
        }
        .error_state()
    }
}
