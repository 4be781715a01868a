//! Runs captures on the model: restores the program's memory, runs each submission, and compares
//! memory with the expectations of the capture.
//!
//! Objects are mapped in whole pages, as the kernel does. The bytes between an object's end and the
//! end of its last page can be read and written; they are 0 at first. An access to the next page
//! faults, unless another object is mapped there. Objects keep their contents from submission to
//! submission until they are freed. A context keeps its latched state and registers.

use crate::gpu::{ContextId, Generation, Gpu};
use crate::machine::events::{Event as Happening, Now, Observer};
use crate::machine::fault::Fault;
use crate::machine::stats::Stats;
use crate::mem::{Contents, Frames, Memory, OutOfMemory};
use genxml::capture::MAX_OBJECTS;
use genxml::capture::{Capture, Data, Event, Exec, Expectation, Frame, Mismatch, ObjectId, Write};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The run of a capture, event by event.
///
/// ```no_run
/// use genxml::capture::Capture;
/// use genxml_sim::replay::{Replay, Step};
///
/// let capture = Capture::open("some/capture")?;
/// let mut replay = Replay::new(&capture);
/// while let Some(step) = replay.step() {
///     match step {
///         Step::Exec { result: Err(fault), .. } => return Err(fault.into()),
///         Step::Expectation { result: Err(difference), .. } => println!("{difference}"),
///         _ => {}
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Replay<'a> {
    capture: &'a Capture,
    next: usize,
    gpu: Gpu,
    contexts: BTreeMap<u32, ContextId>,
    /// The objects in the page tables of each context; if all contexts use the global table, only
    /// those of number 0.
    mapped: BTreeMap<u32, BTreeMap<u64, (ObjectId, Frames)>>,
    buffers: Vec<Option<Buffer>>,
    skipped: Vec<Skipped>,
    /// Bytes that are replaced: submission, address, and the new bytes.
    replaced: Vec<(u64, u64, Vec<u8>)>,
    /// Memory of freed objects that is not free yet, oldest first.
    quarantine: VecDeque<Frames>,
    /// Number of bytes in `quarantine`.
    quarantined: u64,
    /// Largest number of bytes in `quarantine`.
    quarantine_limit: u64,
}

/// A packet that a run leaves out: while its submission runs, its dwords are zero, which is
/// MI_NOOP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Skipped {
    /// The number of the submission in the capture.
    pub seq: u64,
    /// Graphics address of the packet.
    pub address: u64,
    /// Number of dwords of the packet.
    pub dwords: usize,
}

impl Contents for Data {
    fn read(&self, position: u64, out: &mut [u8]) {
        Data::read(self, position, out);
    }
}

#[derive(Debug, Clone, Copy)]
struct Buffer {
    frames: Frames,
    size: u64,
}

/// The result of one event of a capture.
#[derive(Debug)]
pub enum Step<'a> {
    /// A batch ran, or faulted.
    Exec {
        /// The submission.
        exec: &'a Exec,
        /// Counts of the submission's work, or the fault that ended the submission early.
        result: Result<Stats, Fault>,
    },
    /// Memory was compared.
    Expectation {
        /// The expected contents.
        expectation: &'a Expectation,
        /// The first difference, if there is one.
        result: Result<(), Mismatch>,
    },
    /// An image was displayed; [`Replay::bytes`] of its object returns its bytes.
    Frame(&'a Frame),
    /// An object was freed.
    Free(ObjectId),
}

impl<'a> Replay<'a> {
    /// A run on a new GPU, before the first event. The GPU is of the generation that the capture
    /// names, or Gen8 if the model does not have that generation.
    pub fn new(capture: &'a Capture) -> Self {
        let generation = Generation::of_number(capture.device().generation).unwrap_or_default();
        Replay {
            capture,
            next: 0,
            // Room for the largest capture and its page tables.
            gpu: Gpu::of(generation, Memory::with_limit(MAX_OBJECTS + (1 << 30))),
            contexts: BTreeMap::new(),
            mapped: BTreeMap::new(),
            buffers: vec![None; capture.object_count()],
            skipped: Vec::new(),
            replaced: Vec::new(),
            quarantine: VecDeque::new(),
            quarantined: 0,
            quarantine_limit: 0,
        }
    }

    /// A copy of the run, which continues from the same event.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has no memory for the copy.
    pub fn duplicate(&self) -> Result<Replay<'a>, OutOfMemory> {
        Ok(Replay {
            capture: self.capture,
            next: self.next,
            gpu: self.gpu.duplicate()?,
            contexts: self.contexts.clone(),
            mapped: self.mapped.clone(),
            buffers: self.buffers.clone(),
            skipped: self.skipped.clone(),
            replaced: self.replaced.clone(),
            quarantine: self.quarantine.clone(),
            quarantined: self.quarantined,
            quarantine_limit: self.quarantine_limit,
        })
    }

    /// Number of events that have run.
    pub fn events_done(&self) -> usize {
        self.next
    }

    /// Leaves out a packet that was in memory before its submission. Call before the submission
    /// runs.
    pub fn skip(&mut self, packet: Skipped) {
        self.skipped.push(packet);
    }

    /// Replaces bytes of memory while submission `seq` runs. Call before the submission runs. After
    /// it, the bytes are what they were before.
    pub fn replace(&mut self, seq: u64, address: u64, bytes: Vec<u8>) {
        self.replaced.push((seq, address, bytes));
    }

    /// Keeps the memory of the objects that are freed last, at most `bytes` bytes. New objects get
    /// other physical addresses, so an observer can distinguish an old and a new object at one
    /// graphics address. Without this call, nothing is kept.
    pub fn quarantine(&mut self, bytes: u64) {
        self.quarantine_limit = bytes;
    }

    /// The GPU, to set limits or to look at its contexts.
    pub fn gpu(&mut self) -> &mut Gpu {
        &mut self.gpu
    }

    /// The GPU's context for context number `context` of the capture; `None` before the first
    /// submission of that context.
    pub fn context(&self, context: u32) -> Option<ContextId> {
        self.contexts.get(&context).copied()
    }

    /// The current bytes of an object; empty if it does not exist at this event.
    pub fn bytes(&self, object: ObjectId) -> &[u8] {
        match self.buffers.get(object.0 as usize) {
            Some(Some(buffer)) => &self.gpu.memory.bytes(buffer.frames)[..buffer.size as usize],
            _ => &[],
        }
    }

    /// The physical memory of an object; `None` if it does not exist at this event.
    pub fn frames(&self, object: ObjectId) -> Option<Frames> {
        self.buffers.get(object.0 as usize).copied().flatten().map(|buffer| buffer.frames)
    }

    /// The object that has a physical address; `None` if no object has it at this event.
    pub fn object_at(&self, physical: u64) -> Option<ObjectId> {
        let has = |buffer: &Option<Buffer>| {
            buffer.is_some_and(|Buffer { frames, .. }| {
                physical.wrapping_sub(frames.address()) < frames.bytes()
            })
        };
        self.buffers.iter().position(has).map(|index| ObjectId(index as u32))
    }

    /// The submission that the next step runs; `None` if the next event is of another kind.
    pub fn upcoming(&self) -> Option<&'a Exec> {
        match self.capture.events().get(self.next)? {
            Event::Exec(exec) => Some(exec),
            _ => None,
        }
    }

    /// Runs the next event; `None` at the end.
    pub fn step(&mut self) -> Option<Step<'a>> {
        self.step_with(None)
    }

    /// Like [`step`](Self::step), and passes events of the submission to `observer`.
    pub fn step_observed(&mut self, observer: &mut dyn Observer) -> Option<Step<'a>> {
        self.step_with(Some(observer))
    }

    fn step_with(&mut self, observer: Option<&mut dyn Observer>) -> Option<Step<'a>> {
        let event = self.capture.events().get(self.next)?;
        self.next += 1;
        Some(match event {
            Event::Exec(exec) => Step::Exec { exec, result: self.exec(exec, observer) },
            Event::Expect(expectation) => {
                let bytes = self
                    .bytes(expectation.object)
                    .get(expectation.offset as usize..)
                    .unwrap_or(&[]);
                Step::Expectation { expectation, result: expectation.compare(bytes, self.capture) }
            }
            Event::Frame(frame) => Step::Frame(frame),
            Event::Free(object) => {
                self.free(*object);
                Step::Free(*object)
            }
        })
    }

    fn exec(&mut self, exec: &Exec, observer: Option<&mut dyn Observer>) -> Result<Stats, Fault> {
        let context = self.prepare(exec)?;
        let kept = self.replace_skipped(exec.seq, context);
        let (engine, address, length) = (exec.engine, exec.batch_address, exec.batch_length);
        let result = match observer {
            None => self.gpu.submit(context, engine, address, length),
            Some(observer) => {
                let objects: Vec<(u64, u64)> =
                    exec.objects.iter().map(|object| (object.address, object.size)).collect();
                observer.event(Now { engine, clock: 0 }, &Happening::Objects(&objects));
                self.gpu.submit_observed(context, engine, address, length, observer)
            }
        };
        let mut vm = self.gpu.vm(context);
        for (address, bytes) in kept {
            // The packet was readable before; if it is not now, there is nothing to restore.
            let _ = vm.write(address, &bytes);
        }
        result
    }

    /// Replaces the skipped packets of a submission by zeros, and other bytes by those that
    /// [`replace`](Self::replace) has given. Returns what was there before.
    fn replace_skipped(&mut self, seq: u64, context: ContextId) -> Vec<(u64, Vec<u8>)> {
        let mut kept = Vec::new();
        let skipped = self.skipped.iter().filter(|packet| packet.seq == seq);
        let skipped = skipped.map(|packet| (packet.address, vec![0; 4 * packet.dwords]));
        let replaced = self.replaced.iter().filter(|(own, ..)| *own == seq);
        let replaced = replaced.map(|(_, address, bytes)| (*address, bytes.clone()));
        for (address, new) in skipped.chain(replaced) {
            let mut bytes = vec![0; new.len()];
            let mut vm = self.gpu.vm(context);
            if vm.read(address, &mut bytes).is_ok() && vm.write(address, &new).is_ok() {
                kept.push((address, bytes));
            }
        }
        kept
    }

    /// Sets up the memory and mappings that the submission needs, and returns its context.
    fn prepare(&mut self, exec: &Exec) -> Result<ContextId, Fault> {
        match self.set_up(exec) {
            // The memory that is kept may be what is missing.
            Err(_) if !self.quarantine.is_empty() => {
                self.free_quarantine(0);
                self.set_up(exec)
            }
            result => result,
        }
    }

    /// As [`prepare`](Self::prepare), without the memory that is kept. It can be called again after
    /// an error.
    fn set_up(&mut self, exec: &Exec) -> Result<ContextId, Fault> {
        let mut wanted = BTreeMap::new();
        for object in &exec.objects {
            let slot = &mut self.buffers[object.object.0 as usize];
            let buffer = match *slot {
                Some(buffer) => buffer,
                None => {
                    let frames = self.gpu.alloc(object.size)?;
                    // Data that are not in memory are read when the GPU needs them.
                    let data = self.capture.data();
                    if !data.is_in_memory() && !object.writes.is_empty() {
                        self.gpu.memory.load_from(frames, Arc::clone(data) as Arc<dyn Contents>);
                    }
                    *slot.insert(Buffer { frames, size: object.size })
                }
            };
            for write in &object.writes {
                let Write { offset, length, data } = *write;
                if !self.gpu.memory.write_later(buffer.frames, offset, length, data) {
                    self.capture.apply(write, self.gpu.memory.bytes_mut(buffer.frames));
                }
            }
            wanted.insert(object.address, (object.object, buffer.frames));
        }
        let id = match self.contexts.get(&exec.context) {
            Some(id) => *id,
            None => {
                let id = self.gpu.create_context()?;
                self.contexts.insert(exec.context, id);
                id
            }
        };
        let space = match self.gpu.generation().is_global_only() {
            true => 0,
            false => exec.context,
        };
        let mapped = self.mapped.entry(space).or_default();
        for (address, mapping) in &*mapped {
            if wanted.get(address) != Some(mapping) {
                self.gpu.unmap(id, *address, mapping.1.count);
            }
        }
        for (address, mapping) in &wanted {
            if mapped.get(address) != Some(mapping) {
                self.gpu.map(id, *address, mapping.1)?;
            }
        }
        *mapped = wanted;
        Ok(id)
    }

    fn free(&mut self, object: ObjectId) {
        let Some(buffer) = self.buffers.get_mut(object.0 as usize).and_then(Option::take) else {
            return;
        };
        for (space, mapped) in &mut self.mapped {
            // With the global table, any context gives access to the table.
            let context = self.contexts.get(space).or_else(|| self.contexts.values().next());
            mapped.retain(|&address, &mut (mapped, frames)| {
                if mapped == object
                    && let Some(&context) = context
                {
                    self.gpu.unmap(context, address, frames.count);
                }
                mapped != object
            });
        }
        self.quarantine.push_back(buffer.frames);
        self.quarantined += buffer.frames.bytes();
        self.free_quarantine(self.quarantine_limit);
    }

    /// Frees the oldest memory that is kept, until at most `most` bytes are left.
    fn free_quarantine(&mut self, most: u64) {
        while self.quarantined > most
            && let Some(frames) = self.quarantine.pop_front()
        {
            self.quarantined -= frames.bytes();
            self.gpu.memory.free(frames);
        }
    }
}

/// The result of running a whole capture.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of submissions that ran, including the one with the fault.
    pub execs: u64,
    /// Number of expectations that were compared.
    pub expectations: u64,
    /// Number of frames that were displayed.
    pub frames: u64,
    /// Counts of all submissions that ended without a fault.
    pub stats: Stats,
    /// The expectations that were not met, in order.
    pub mismatches: Vec<Mismatch>,
    /// The fault that ended the run, with the sequence number of the submission that had it.
    pub fault: Option<(u64, Fault)>,
}

/// Runs a capture to its end or to its first fault.
pub fn run(capture: &Capture) -> Report {
    let mut replay = Replay::new(capture);
    let mut report = Report::default();
    while let Some(step) = replay.step() {
        match step {
            Step::Exec { exec, result } => {
                report.execs += 1;
                match result {
                    Ok(stats) => report.stats += stats,
                    Err(fault) => {
                        report.fault = Some((exec.seq, fault));
                        break;
                    }
                }
            }
            Step::Expectation { result, .. } => {
                report.expectations += 1;
                report.mismatches.extend(result.err());
            }
            Step::Frame(_) => report.frames += 1,
            Step::Free(_) => {}
        }
    }
    report
}
