//! Runs captures: memory as the program left it, each submission on the model, memory compared with
//! what is expected.
//!
//! Objects are mapped in whole pages, as the kernel does: bytes between an object's end and the end
//! of its last page exist, read 0 at first and can be written; the next page faults. Objects keep
//! their contents from submission to submission until they are freed; a context keeps its latched
//! state and registers.

use crate::gpu::{ContextId, Gpu};
use crate::machine::events::Observer;
use crate::machine::fault::Fault;
use crate::machine::stats::Stats;
use crate::mem::{Frames, Memory};
use genxml::capture::{Capture, Event, Exec, Expectation, Frame, MAX_OBJECTS, Mismatch, ObjectId};
use std::collections::BTreeMap;

/// A capture being run.
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
    contexts: BTreeMap<u32, ReplayContext>,
    buffers: Vec<Option<Buffer>>,
}

#[derive(Debug, Clone, Copy)]
struct Buffer {
    frames: Frames,
    size: u64,
}

/// A context of the capture with what its last submission had mapped, by address.
#[derive(Debug)]
struct ReplayContext {
    id: ContextId,
    mapped: BTreeMap<u64, (ObjectId, Frames)>,
}

/// What one event of a capture came to.
#[derive(Debug)]
pub enum Step<'a> {
    /// A batch ran, or faulted.
    Exec {
        /// The submission.
        exec: &'a Exec,
        /// What it did, or why it ended early.
        result: Result<Stats, Fault>,
    },
    /// Memory was compared.
    Expectation {
        /// What was expected.
        expectation: &'a Expectation,
        /// The first difference, if there is one.
        result: Result<(), Mismatch>,
    },
    /// An image was put on the screen; its bytes are [`Replay::bytes`] of its object.
    Frame(&'a Frame),
    /// An object was freed.
    Free(ObjectId),
}

impl<'a> Replay<'a> {
    /// Before the first event, on a new GPU.
    pub fn new(capture: &'a Capture) -> Self {
        Replay {
            capture,
            next: 0,
            // What a capture may have, and page tables for it.
            gpu: Gpu::with_memory(Memory::with_limit(MAX_OBJECTS + (1 << 30))),
            contexts: BTreeMap::new(),
            buffers: vec![None; capture.object_count()],
        }
    }

    /// The GPU, to set limits or to look at its contexts.
    pub fn gpu(&mut self) -> &mut Gpu {
        &mut self.gpu
    }

    /// The context of the GPU for a context of the capture, once a submission used it.
    pub fn context(&self, context: u32) -> Option<ContextId> {
        self.contexts.get(&context).map(|context| context.id)
    }

    /// The bytes of an object now; empty if it does not exist now.
    pub fn bytes(&self, object: ObjectId) -> &[u8] {
        match self.buffers.get(object.0 as usize) {
            Some(Some(buffer)) => &self.gpu.memory.bytes(buffer.frames)[..buffer.size as usize],
            _ => &[],
        }
    }

    /// Does the next event; `None` at the end.
    pub fn step(&mut self) -> Option<Step<'a>> {
        self.step_with(None)
    }

    /// [`step`](Self::step) with a listener to submissions.
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
        {
            let (engine, address, length) = (exec.engine, exec.batch_address, exec.batch_length);
            match observer {
                None => self.gpu.submit(context, engine, address, length),
                Some(observer) => {
                    self.gpu.submit_observed(context, engine, address, length, observer)
                }
            }
        }
    }

    /// Makes memory and mappings what the submission wants.
    fn prepare(&mut self, exec: &Exec) -> Result<ContextId, Fault> {
        let mut wanted = BTreeMap::new();
        for object in &exec.objects {
            let slot = &mut self.buffers[object.object.0 as usize];
            let buffer = match *slot {
                Some(buffer) => buffer,
                None => {
                    *slot.insert(Buffer { frames: self.gpu.alloc(object.size)?, size: object.size })
                }
            };
            let bytes = self.gpu.memory.bytes_mut(buffer.frames);
            for write in &object.writes {
                bytes[write.offset as usize..][..write.length as usize]
                    .copy_from_slice(self.capture.bytes(write));
            }
            wanted.insert(object.address, (object.object, buffer.frames));
        }
        if !self.contexts.contains_key(&exec.context) {
            let id = self.gpu.create_context()?;
            self.contexts.insert(exec.context, ReplayContext { id, mapped: BTreeMap::new() });
        }
        let Some(context) = self.contexts.get_mut(&exec.context) else {
            unreachable!("inserted above")
        };
        for (address, mapping) in &context.mapped {
            if wanted.get(address) != Some(mapping) {
                self.gpu.unmap(context.id, *address, mapping.1.count);
            }
        }
        for (address, mapping) in &wanted {
            if context.mapped.get(address) != Some(mapping) {
                self.gpu.map(context.id, *address, mapping.1)?;
            }
        }
        context.mapped = wanted;
        Ok(context.id)
    }

    fn free(&mut self, object: ObjectId) {
        let Some(buffer) = self.buffers.get_mut(object.0 as usize).and_then(Option::take) else {
            return;
        };
        for context in self.contexts.values_mut() {
            context.mapped.retain(|&address, &mut (mapped, frames)| {
                if mapped == object {
                    self.gpu.unmap(context.id, address, frames.count);
                }
                mapped != object
            });
        }
        self.gpu.memory.free(buffer.frames);
    }
}

/// What running a whole capture came to.
#[derive(Debug, Default)]
pub struct Report {
    /// Submissions that ran.
    pub execs: u64,
    /// Expectations that were compared.
    pub expectations: u64,
    /// Frames that were shown.
    pub frames: u64,
    /// Work of all submissions.
    pub stats: Stats,
    /// What differed, in order.
    pub mismatches: Vec<Mismatch>,
    /// The fault that ended the run, with the sequence number of its submission.
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
