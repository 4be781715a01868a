//! Observes what each packet of a run writes to memory.

use super::survey::{Look, Survey, Work};
use crate::inspect::objects::Objects;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::machine::registers::mmio_base;
use crate::mem::{Access, Client, Memory, PAGE};
use genxml::core::Fixed as _;
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::{RingCtxTimestamp, RingTimestamp};
use genxml::gen8::mi::{
    MiFlushDw, MiFlushDwPostSyncOperation, MiReportPerfCount, MiStoreRegisterMem, PipeControl,
    PipeControlPostSyncOperation,
};
use rustc_hash::{FxHashMap, FxHasher};

use std::hash::{Hash, Hasher};

/// Numbers of 64 bits in the mask of a page, which has a bit for each byte.
const WORDS: usize = PAGE as usize / 64;
/// Writes with more than this number of bytes between them belong to different regions.
const GAP: u64 = PAGE;

/// Digests of written bytes. Two runs have equal digests if they write equal bytes to equal
/// positions; the positions do not depend on the addresses of the driver's objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest {
    /// With positions in the objects of the driver, or in pages if objects are not reported.
    pub absolute: u64,
    /// With positions from the start of each region of writes.
    pub relative: u64,
}

impl Digest {
    /// True if the bytes are equal, wherever in their objects they are.
    pub fn is_like(&self, other: &Digest) -> bool {
        self.absolute == other.absolute || self.relative == other.relative
    }
}

/// A packet that writes memory, or a draw or dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Writer {
    /// The packet.
    pub at: Place,
    /// Number of the submission, from 1 on.
    pub submission: u64,
    /// The caller's number of the submission.
    pub label: Option<u64>,
    /// Index of the draw in the list of draws, if the packet is a draw.
    pub draw: Option<usize>,
    /// Number of the dispatch, from 1 on, and the address of its kernel, if the packet is one.
    pub dispatch: Option<(u64, u64)>,
    /// What was written as render target, depth or stencil.
    pub targets: Digest,
    /// All else that was written.
    pub others: Digest,
}

/// Consecutive written bytes: the graphics address of the first one, and the values.
pub type Run = (u64, Vec<u8>);

/// The bytes that were written to a page: its graphics address, and a bit for each byte.
#[derive(Clone, Debug)]
struct Page {
    address: u64,
    mask: Box<[u64; WORDS]>,
}

/// Written bytes, by the address of their physical page.
type Pages = FxHashMap<u64, Page>;

/// Observes the packets of a run that write memory.
#[derive(Debug)]
pub struct Writes {
    survey: Survey,
    label: Option<u64>,
    submissions: u64,
    dispatches: u64,
    /// The draw or dispatch of the current packet.
    draw: Option<usize>,
    dispatch: Option<(u64, u64)>,
    /// The current packet writes a time.
    is_time: bool,
    objects: Objects,
    targets: Pages,
    others: Pages,
    writers: Vec<Writer>,
    /// The index of the writer whose bytes are kept.
    wanted: Option<usize>,
    kept: [Vec<Run>; 2],
}

impl Writes {
    /// An observer that makes digests. It also keeps the bytes that the writer of index `wanted`
    /// writes.
    pub fn new(wanted: Option<usize>) -> Writes {
        Writes {
            survey: Survey::new(Look::State),
            label: None,
            submissions: 0,
            dispatches: 0,
            draw: None,
            dispatch: None,
            is_time: false,
            objects: Objects::default(),
            targets: Pages::default(),
            others: Pages::default(),
            writers: Vec::new(),
            wanted,
            kept: [Vec::new(), Vec::new()],
        }
    }

    /// The number that the caller gives to the following submissions.
    pub fn label(&mut self, label: u64) {
        self.label = Some(label);
        self.survey.label(label);
    }

    /// True if the bytes that are wanted were written.
    pub fn is_done(&self) -> bool {
        self.wanted.is_some_and(|wanted| wanted < self.writers.len())
    }

    /// The packets that wrote memory, with all draws and dispatches, and the state of all draws, in
    /// order.
    pub fn into_parts(self) -> (Vec<Writer>, Vec<Work>) {
        (self.writers, self.survey.into_works())
    }

    /// The bytes that were wanted, in the order of graphics addresses: those of targets, and all
    /// others.
    pub fn into_kept(self) -> [Vec<Run>; 2] {
        self.kept
    }

    fn access(&mut self, access: &Access) {
        let pages = match access.client {
            Client::RenderTarget | Client::Depth => &mut self.targets,
            _ => &mut self.others,
        };
        let end = access.physical + u64::from(access.bytes);
        let mut at = access.physical;
        while at < end {
            let (page, first) = (at / PAGE * PAGE, at % PAGE);
            let last = (end - page).min(PAGE);
            let page = pages.entry(page).or_insert_with(|| Page {
                address: (access.address + (at - access.physical)) / PAGE * PAGE,
                mask: Box::new([0; WORDS]),
            });
            set(&mut page.mask, first, last);
            at += last - first;
        }
    }

    /// The packet has ended.
    fn end(&mut self, at: Place, memory: &Memory) {
        let (draw, dispatch) = (self.draw.take(), self.dispatch.take());
        let is_work = draw.is_some() || dispatch.is_some();
        if self.targets.is_empty() && self.others.is_empty() && !is_work || self.is_time {
            self.targets.clear();
            self.others.clear();
            return;
        }
        let [targets, others] = [&mut self.targets, &mut self.others].map(|pages| {
            let runs = runs(pages, memory);
            pages.clear();
            runs
        });
        if self.wanted == Some(self.writers.len()) {
            self.kept = [targets.clone(), others.clone()];
        }
        self.writers.push(Writer {
            at,
            submission: self.submissions,
            label: self.label,
            draw,
            dispatch,
            targets: digest(&targets, &self.objects),
            others: digest(&others, &self.objects),
        });
    }
}

impl Observer for Writes {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.survey.event(now, event);
        match event {
            Event::Objects(list) => self.objects.replace(list),
            Event::Submission { .. } => self.submissions += 1,
            Event::Packet { at, dwords, .. } => {
                (self.draw, self.dispatch) = (None, None);
                self.is_time = is_time(at, dwords);
            }
            Event::Draw(_) => self.draw = self.survey.works().len().checked_sub(1),
            Event::Dispatch { kernel } => {
                self.dispatches += 1;
                self.dispatch = Some((self.dispatches, *kernel));
            }
            Event::Accesses { channel: None, list, .. } => {
                for access in list.iter().filter(|access| access.write) {
                    self.access(access);
                }
            }
            Event::Memory { after: Some(at), memory } => self.end(*at, memory),
            // What the engine itself has written, such as the state of a context.
            Event::Memory { after: None, .. } => {
                self.targets.clear();
                self.others.clear();
            }
            _ => {}
        }
    }

    fn wants_accesses(&self) -> bool {
        true
    }

    fn wants_threads(&self) -> bool {
        false
    }
}

/// Sets the bits `first..last`.
fn set(mask: &mut [u64; WORDS], first: u64, last: u64) {
    let mut at = first;
    while at < last {
        let (word, low) = ((at / 64) as usize, at % 64);
        let count = (64 - low).min(last - at);
        mask[word] |= (u64::MAX >> (64 - count)) << low;
        at += count;
    }
}

/// The written bytes in the order of graphics addresses, with their values.
fn runs(pages: &Pages, memory: &Memory) -> Vec<Run> {
    let mut sorted: Vec<(&u64, &Page)> = pages.iter().collect();
    sorted.sort_unstable_by_key(|(physical, page)| (page.address, **physical));
    let mut out: Vec<Run> = Vec::new();
    let mut bytes = vec![0; PAGE as usize];
    for (physical, page) in sorted {
        if memory.read_physical(*physical, &mut bytes).is_none() {
            continue;
        }
        for (offset, byte) in bytes.iter().enumerate() {
            if page.mask[offset / 64] >> (offset % 64) & 1 == 0 {
                continue;
            }
            let address = page.address + offset as u64;
            match out.last_mut() {
                Some((start, run)) if *start + run.len() as u64 == address => run.push(*byte),
                _ => out.push((address, vec![*byte])),
            }
        }
    }
    out
}

/// Digests of runs, which are in the order of their addresses.
fn digest(runs: &[Run], objects: &Objects) -> Digest {
    let mut digest = Digest::default();
    // The parts of a digest are added, so their order does not matter.
    let mut region = FxHasher::default();
    let (mut start, mut end) = (0, 0);
    for (index, (address, bytes)) in runs.iter().enumerate() {
        if index == 0 || address.saturating_sub(end) > GAP {
            digest.relative = digest.relative.wrapping_add(region.finish());
            (region, start) = (FxHasher::default(), *address);
        }
        (address - start, bytes).hash(&mut region);
        end = address + bytes.len() as u64;
        digest.absolute = digest.absolute.wrapping_add(absolute(*address, bytes, objects));
    }
    digest.relative = digest.relative.wrapping_add(region.finish());
    digest
}

/// The digest of a run with its position in the objects, or else pages, that it covers.
fn absolute(address: u64, bytes: &[u8], objects: &Objects) -> u64 {
    let mut sum = 0u64;
    let (mut at, mut rest) = (address, bytes);
    while !rest.is_empty() {
        let (start, size) = objects.containing(at).unwrap_or((at / PAGE * PAGE, PAGE));
        let left = usize::try_from(start + size - at).unwrap_or(usize::MAX);
        let (own, others) = rest.split_at(left.min(rest.len()));
        let mut hasher = FxHasher::default();
        (at - start, own).hash(&mut hasher);
        sum = sum.wrapping_add(hasher.finish());
        at += own.len() as u64;
        rest = others;
    }
    sum
}

/// True if the packet writes a time, or counts that depend on it. They differ from run to run on
/// hardware, too.
fn is_time(at: &Place, dwords: &[u32]) -> bool {
    if at.packet == PipeControl::NAME {
        let packet = PipeControl::read_lossy(dwords);
        return packet.post_sync_operation == PipeControlPostSyncOperation::WRITE_TIMESTAMP;
    }
    if at.packet == MiFlushDw::NAME {
        let Ok(packet) = MiFlushDw::unpack(dwords) else { return false };
        return packet.post_sync_operation == MiFlushDwPostSyncOperation::WRITE_TIMESTAMP;
    }
    if at.packet == MiStoreRegisterMem::NAME {
        let register = MiStoreRegisterMem::read_lossy(dwords).register_address.get() as u32;
        return is_clock(at.engine, register);
    }
    at.packet == MiReportPerfCount::NAME
}

/// True if the register counts time.
fn is_clock(engine: EngineId, register: u32) -> bool {
    let base = mmio_base(engine);
    let timestamp = base + RingTimestamp::OFFSET;
    [timestamp, timestamp + 4, base + RingCtxTimestamp::OFFSET].contains(&register)
}
