//! A batch with the memory and the state of its context, which can run many times.

use super::list::Class;
use genxml::decode::{self, Decoder, Kind, Options, Record, Tables};
use genxml::engine::EngineId;
use genxml_core::reflect::{self, Container};
use genxml_sim::machine::state::State;
use genxml_sim::mem::{Frames, PAGE};
use genxml_sim::{ContextId, Event, Fault, Gpu, Now, Stats};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Units of work of a run. Batches that need more are not probed.
const LIMIT: u64 = 1 << 22;

/// Maximum number of mapped bytes of a context whose batches are probed. Each run copies and
/// compares all of them.
const MOST_BYTES: u64 = 16 << 20;

/// A buffer of a context.
struct Buffer {
    address: u64,
    bytes: u64,
    /// The pages that are not zero, with their byte offsets.
    pages: Vec<(usize, Box<[u8]>)>,
}

/// A batch that can run many times.
pub struct Subject {
    engine: EngineId,
    address: u64,
    buffers: Vec<Buffer>,
    state: State,
}

/// A packet or structure of a batch.
pub struct Found {
    /// Its description.
    pub container: &'static Container,
    /// The record of the decoder.
    pub record: Record,
}

/// Changes of memory: dwords by address.
pub type Changes = BTreeMap<u64, Vec<u32>>;

/// The memory of a context, for the decoder.
struct Image<'a>(Vec<(u64, &'a [u8])>);

impl decode::Memory for Image<'_> {
    fn tail(&self, address: u64) -> &[u8] {
        let within = |(start, bytes): &&(u64, &[u8])| {
            address.checked_sub(*start).is_some_and(|offset| offset < bytes.len() as u64)
        };
        let found = self.0.iter().find(within);
        found.map_or(&[], |(start, bytes)| &bytes[(address - start) as usize..])
    }
}

/// The result of a run, and the GPU after it.
pub struct Outcome {
    result: Result<Stats, Fault>,
    events: u64,
    gpu: Gpu,
    context: ContextId,
    buffers: Vec<Frames>,
}

impl Subject {
    /// Copies the memory and the state of a context. `None` if it has too much memory.
    pub fn new(
        gpu: &Gpu,
        context: ContextId,
        mapped: &[(u64, Frames)],
        engine: EngineId,
        address: u64,
    ) -> Option<Subject> {
        if mapped.iter().map(|(_, frames)| frames.bytes()).sum::<u64>() > MOST_BYTES {
            return None;
        }
        let buffer = |(address, frames): &(u64, Frames)| {
            let pages = gpu.memory.bytes(*frames).chunks(PAGE as usize).enumerate();
            let used = pages.filter(|(_, page)| page.iter().any(|&byte| byte != 0));
            Buffer {
                address: *address,
                bytes: frames.bytes(),
                pages: used.map(|(n, page)| (n * PAGE as usize, page.into())).collect(),
            }
        };
        Some(Subject {
            engine,
            address,
            buffers: mapped.iter().map(buffer).collect(),
            state: gpu.context(context).state.clone(),
        })
    }

    /// A fresh model with the memory and the state.
    fn load(&self) -> (Gpu, ContextId, Vec<Frames>) {
        let mut gpu = Gpu::new();
        gpu.set_work_limit(LIMIT);
        let context = gpu.create_context().expect("page tables");
        let mut load = |buffer: &Buffer| {
            let frames = gpu.alloc(buffer.bytes).expect("memory");
            let bytes = gpu.memory.bytes_mut(frames);
            for (offset, page) in &buffer.pages {
                bytes[*offset..][..page.len()].copy_from_slice(page);
            }
            gpu.map(context, buffer.address, frames).expect("page tables");
            frames
        };
        let buffers = self.buffers.iter().map(&mut load).collect();
        gpu.context_mut(context).state = self.state.clone();
        (gpu, context, buffers)
    }

    /// The packets of the batch and the structures that they point to.
    pub fn records(&self) -> Vec<Found> {
        let (gpu, _, frames) = self.load();
        let memory = self.buffers.iter().zip(&frames);
        let memory = memory.map(|(buffer, frames)| (buffer.address, gpu.memory.bytes(*frames)));
        let memory = Image(memory.collect());
        let mut found: Vec<Found> = Vec::new();
        let mut sink = |record: &Record| {
            let container = match record.kind {
                Kind::Packet => record
                    .dwords
                    .first()
                    .and_then(|header| Tables::gen8().instruction(self.engine, *header)),
                Kind::Struct => structure(record.name),
                _ => None,
            };
            let new = |found: &Found| {
                (found.record.address, found.container.name) != (record.address, record.name)
            };
            if let Some(container) = container
                && found.iter().all(new)
            {
                found.push(Found { container, record: record.clone() });
            }
            Ok(())
        };
        let options = Options { max_dwords: 4096, ..Options::default() };
        Decoder::new(Tables::gen8(), options)
            .batch(&mut decode::State::default(), self.engine, &memory, self.address, 0, &mut sink)
            .expect("the sink has no errors");
        found
    }

    /// Runs the unchanged batch. `None` if it takes too long.
    pub fn base(&self) -> Option<Outcome> {
        Some(self.run(&Changes::new())).filter(|base| !base.hangs())
    }

    /// Runs the batch after changes of memory.
    pub fn run(&self, changes: &Changes) -> Outcome {
        let (mut gpu, context, buffers) = self.load();
        for (address, dwords) in changes {
            let bytes = bytemuck::cast_slice(dwords);
            gpu.vm(context).write(*address, bytes).expect("the decoder has read it");
        }
        let mut hash = DefaultHasher::new();
        let mut observer = |_: Now, event: &Event<'_>| note(event, &mut hash);
        let result = gpu.submit_observed(context, self.engine, self.address, 0, &mut observer);
        Outcome { result, events: hash.finish(), gpu, context, buffers }
    }
}

/// The structure with this name.
fn structure(name: &str) -> Option<&'static Container> {
    let is = |container: &&&'static Container| {
        container.name == name && matches!(container.kind, reflect::Kind::Struct { .. })
    };
    genxml::gen8::CONTAINERS.iter().find(is).copied()
}

/// Adds an event to the hash, unless it only repeats the dwords of a packet or of state.
fn note(event: &Event<'_>, hash: &mut DefaultHasher) {
    match event {
        Event::Violation { .. }
        | Event::WithoutEffect { .. }
        | Event::Interrupt { .. }
        | Event::Flip { .. }
        | Event::Thread { .. }
        | Event::Batch { .. }
        | Event::BatchEnd { .. }
        | Event::Dispatch { .. }
        | Event::DispatchEnd { .. }
        | Event::Flush { .. }
        | Event::Group { .. }
        | Event::GroupEnd { .. }
        | Event::ThreadEnd { .. } => format!("{event:?}").hash(hash),
        _ => {}
    }
}

impl Outcome {
    /// True if the run used up its budget.
    fn hangs(&self) -> bool {
        matches!(self.result, Err(Fault::Hang { .. }))
    }

    /// True if the run ended without a fault.
    pub fn is_ok(&self) -> bool {
        self.result.is_ok()
    }

    /// The difference from `base`, the outcome of the unchanged batch. `changed` are the addresses
    /// of the bytes that were changed before the run.
    pub fn difference(
        &self,
        base: &Outcome,
        subject: &Subject,
        changed: &Range<u64>,
    ) -> Option<(Class, String)> {
        match (&self.result, &base.result) {
            (Err(fault), Ok(_)) => return Some(of_fault(fault)),
            (Err(fault), Err(other)) if fault != other => return Some(of_fault(fault)),
            _ => {}
        }
        let honoured = |what: &str| Some((Class::Honoured, what.to_owned()));
        for ((buffer, new), old) in subject.buffers.iter().zip(&self.buffers).zip(&base.buffers) {
            let (new, old) = (self.gpu.memory.bytes(*new), base.gpu.memory.bytes(*old));
            if differ(new, old, buffer.address, changed) {
                return honoured("memory");
            }
        }
        let registers = |end: &Outcome| end.gpu.context(end.context).state.registers.clone();
        if registers(self) != registers(base) {
            return honoured("registers");
        }
        if let (Err(_), Ok(_)) | (Ok(_), Err(_)) = (&self.result, &base.result) {
            return honoured("no fault");
        }
        if self.events != base.events {
            return honoured("events");
        }
        let counts = |end: &Outcome| {
            let stats = end.gpu.last_stats();
            // The number of bytes read is not a result.
            Stats { bytes_read: 0, ..stats }
        };
        if counts(self) != counts(base) {
            return honoured("counts");
        }
        None
    }
}

/// True if two buffers at `address` differ, except for the bytes of `changed`.
fn differ(new: &[u8], old: &[u8], address: u64, changed: &Range<u64>) -> bool {
    let pages = new.chunks(PAGE as usize).zip(old.chunks(PAGE as usize)).enumerate();
    pages.filter(|(_, (new, old))| new != old).any(|(n, (new, old))| {
        let start = address + n as u64 * PAGE;
        let bytes = new.iter().zip(old).zip(start..);
        bytes.filter(|((new, old), _)| new != old).any(|(_, at)| !changed.contains(&at))
    })
}

/// Class and text of a fault: its kind and, if it has one, the name of the feature or field.
fn of_fault(fault: &Fault) -> (Class, String) {
    let faulted = |text: String| (Class::Faulted, text);
    let honoured = |kind: &str| (Class::Honoured, format!("fault {kind}"));
    match fault {
        Fault::Unimplemented { what, .. } => faulted(format!("Unimplemented: {what}")),
        Fault::BadPacket { field, .. } => faulted(format!("BadPacket: {field}")),
        Fault::IllegalInstruction { .. } => faulted("IllegalInstruction".to_owned()),
        Fault::Malformed { .. } => faulted("Malformed".to_owned()),
        Fault::Page { .. } => honoured("Page"),
        Fault::Hang { .. } => honoured("Hang"),
        Fault::Stuck { .. } => honoured("Stuck"),
        Fault::Exception { .. } => honoured("Exception"),
        Fault::Deadlock { .. } => honoured("Deadlock"),
        Fault::UnknownPacket { .. } => honoured("UnknownPacket"),
        Fault::Truncated { .. } => honoured("Truncated"),
        _ => honoured("of another kind"),
    }
}
