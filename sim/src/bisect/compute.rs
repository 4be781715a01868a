//! Finds the first dispatch of a capture that writes other values than in the other capture.
//!
//! Two objects are a pair if their addresses and sizes are equal. The other objects are paired by
//! size, in order. Only memory that a submission changes is compared.

use crate::gpu::Gpu;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::mem::Memory as Physical;
use crate::replay::{Replay, Step};
use genxml::capture::{Capture, Exec, ObjectId};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of dwords whose writers are looked for.
const CANDIDATES: usize = 8;

/// A dword that differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Graphics address of the object in each run.
    pub objects: [u64; 2],
    /// Byte offset from the start of the object.
    pub offset: u64,
    /// The values after the submission.
    pub values: [u32; 2],
}

/// The packet after which a dword differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Writer {
    /// The packet; `None` if this run does not change the dword again where the other run does.
    pub at: Option<Place>,
    /// Number of the dispatch in the run, from 1 on; `None` if the packet is not a dispatch.
    pub dispatch: Option<u64>,
    /// Address of the kernel of the dispatch.
    pub kernel: Option<u64>,
    /// The value after the packet.
    pub value: u32,
}

/// A submission after which memory differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComputeParted {
    /// The numbers of the submissions in the captures.
    pub execs: [u64; 2],
    /// Number of dwords that differ.
    pub count: usize,
    /// The first dword of a dispatch that differs.
    pub memory: Memory,
    /// The packets that wrote it.
    pub writers: [Writer; 2],
}

/// Finds the first difference; `None` if all dispatches write the same values.
pub fn find(captures: [&Capture; 2], set_up: &dyn Fn(&mut Gpu)) -> Option<ComputeParted> {
    let frames = captures.map(|capture| frames(capture, set_up));
    let [mut good, mut bad] = [0, 1].map(|side| Run::new(captures[side], &frames[side], set_up));
    while let (Some(a), Some(b)) = (good.advance(), bad.advance()) {
        let found = differences([(&good, a, &good.changed), (&bad, b, &bad.changed)]);
        if found.is_empty() {
            continue;
        }
        let execs = [a.seq, b.seq];
        let count = found.iter().map(|(_, count)| count).sum();
        let mut first = None;
        for (memory, _) in found.iter().take(CANDIDATES) {
            let writers = [0, 1].map(|side| {
                let physical = physical(&frames[side], execs[side], memory, side);
                writers(captures[side], set_up, execs[side], physical)
            });
            let Some(parted) = part(writers) else { continue };
            let is_dispatch = parted.iter().any(|writer| writer.dispatch.is_some());
            if is_dispatch || first.is_none() {
                first = Some(ComputeParted { execs, count, memory: *memory, writers: parted });
            }
            if is_dispatch {
                break;
            }
        }
        return first;
    }
    None
}

/// The physical addresses of the objects of each submission that dispatches threads.
type Frames = BTreeMap<u64, Vec<(ObjectId, u64, Range<u64>)>>;

/// Runs a capture, and records the submissions that dispatch threads with the physical addresses of
/// their objects. Later runs use the same addresses.
fn frames(capture: &Capture, set_up: &dyn Fn(&mut Gpu)) -> Frames {
    let mut replay = Replay::new(capture);
    set_up(replay.gpu());
    let mut out = Frames::new();
    loop {
        let mut dispatches = 0u64;
        let mut observer = |_: Now, event: &Event<'_>| {
            dispatches += u64::from(matches!(event, Event::Dispatch { .. }));
        };
        match replay.step_observed(&mut observer) {
            Some(Step::Exec { exec, result }) => {
                if dispatches > 0 {
                    let objects = exec.objects.iter().filter_map(|object| {
                        let frames = replay.frames(object.object)?;
                        let range = frames.address()..frames.address() + object.size;
                        Some((object.object, object.address, range))
                    });
                    out.insert(exec.seq, objects.collect());
                }
                if result.is_err() {
                    break;
                }
            }
            Some(_) => {}
            None => break,
        }
    }
    out
}

/// A run that stops after each submission with dispatches.
struct Run<'a> {
    replay: Replay<'a>,
    frames: &'a Frames,
    /// The ranges of each object that the latest submission has changed.
    changed: BTreeMap<ObjectId, Vec<Range<usize>>>,
    failed: bool,
}

impl<'a> Run<'a> {
    fn new(capture: &'a Capture, frames: &'a Frames, set_up: &dyn Fn(&mut Gpu)) -> Run<'a> {
        let mut replay = Replay::new(capture);
        set_up(replay.gpu());
        Run { replay, frames, changed: BTreeMap::new(), failed: false }
    }

    /// Runs until after the next submission with dispatches.
    fn advance(&mut self) -> Option<&'a Exec> {
        while !self.failed {
            let mut start = Start { frames: self.frames, copies: BTreeMap::new(), next: None };
            // Events do not contain the submission's number in the capture.
            start.next = self.replay.upcoming().map(|exec| exec.seq);
            match self.replay.step_observed(&mut start)? {
                Step::Exec { exec, result } => {
                    self.failed = result.is_err();
                    if !start.copies.is_empty() {
                        self.changed = start
                            .copies
                            .iter()
                            .map(|(id, old)| (*id, changed(old, self.replay.bytes(*id))))
                            .collect();
                        return Some(exec);
                    }
                }
                _ => continue,
            }
        }
        None
    }
}

/// Copies the objects at the start of a submission.
struct Start<'a> {
    frames: &'a Frames,
    next: Option<u64>,
    copies: BTreeMap<ObjectId, Vec<u8>>,
}

impl Observer for Start<'_> {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        let Event::Memory { after: None, memory } = event else { return };
        let objects = self.next.and_then(|seq| self.frames.get(&seq));
        if !self.copies.is_empty() {
            return;
        }
        for (id, _, range) in objects.into_iter().flatten() {
            self.copies.entry(*id).or_insert_with(|| {
                let mut copy = vec![0; (range.end - range.start) as usize];
                read(memory, range.start, &mut copy);
                copy
            });
        }
    }
}

/// Reads physical memory; memory that does not exist reads 0.
fn read(memory: &Physical, address: u64, out: &mut [u8]) {
    if memory.read_physical(address, out).is_none() {
        out.fill(0);
    }
}

/// The ranges that differ, in whole dwords.
fn changed(old: &[u8], new: &[u8]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (index, (old, new)) in old.chunks(4).zip(new.chunks(4)).enumerate() {
        if old == new {
            continue;
        }
        let at = 4 * index;
        match out.last_mut() {
            Some(last) if last.end == at => last.end = at + 4,
            _ => out.push(at..at + 4),
        }
    }
    out
}

type Side<'a, 'r> = (&'a Run<'r>, &'a Exec, &'a BTreeMap<ObjectId, Vec<Range<usize>>>);

/// The first dword that differs in each pair of objects, and the number of such dwords.
fn differences([good, bad]: [Side<'_, '_>; 2]) -> Vec<(Memory, usize)> {
    let mut out = Vec::new();
    for (a, b) in partners(good.1, bad.1) {
        let (a_bytes, b_bytes) = (good.0.replay.bytes(a.0), bad.0.replay.bytes(b.0));
        let ranges = |side: &Side<'_, '_>, id| side.2.get(&id).cloned().unwrap_or_default();
        let mut offsets: Vec<usize> = ranges(&good, a.0)
            .into_iter()
            .chain(ranges(&bad, b.0))
            .flat_map(|range| range.step_by(4))
            .collect();
        offsets.sort_unstable();
        offsets.dedup();
        let dword = |bytes: &[u8], at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|it| u32::from_le_bytes(*it))
        };
        let mut differing = offsets.into_iter().filter_map(|offset| {
            let (a, b) = (dword(a_bytes, offset)?, dword(b_bytes, offset)?);
            (a != b).then_some((offset as u64, [a, b]))
        });
        if let Some((offset, values)) = differing.next() {
            let memory = Memory { objects: [a.1, b.1], offset, values };
            out.push((memory, 1 + differing.count()));
        }
    }
    out
}

/// An object, and its address in the submission.
type At = (ObjectId, u64);

/// The pairs of objects of two submissions.
fn partners(good: &Exec, bad: &Exec) -> Vec<(At, At)> {
    let mut rest: Vec<_> = bad.objects.iter().collect();
    let mut out = Vec::new();
    let mut alone = Vec::new();
    for a in &good.objects {
        let same = rest.iter().position(|b| b.address == a.address && b.size == a.size);
        match same {
            Some(index) => {
                let b = rest.remove(index);
                out.push(((a.object, a.address), (b.object, b.address)));
            }
            None => alone.push(a),
        }
    }
    for a in alone {
        if let Some(index) = rest.iter().position(|b| b.size == a.size) {
            let b = rest.remove(index);
            out.push(((a.object, a.address), (b.object, b.address)));
        }
    }
    out
}

/// The physical address of the dword in a run.
fn physical(frames: &Frames, exec: u64, memory: &Memory, side: usize) -> Option<u64> {
    let (_, _, range) =
        frames.get(&exec)?.iter().find(|(_, address, _)| *address == memory.objects[side])?;
    Some(range.start + memory.offset)
}

/// The changes of a dword during a submission.
fn writers(
    capture: &Capture,
    set_up: &dyn Fn(&mut Gpu),
    exec: u64,
    physical: Option<u64>,
) -> Vec<Writer> {
    let Some(physical) = physical else { return Vec::new() };
    let mut replay = Replay::new(capture);
    set_up(replay.gpu());
    let mut watch = Watch {
        physical,
        active: false,
        value: None,
        dispatches: 0,
        latest: None,
        out: Vec::new(),
    };
    loop {
        watch.active = replay.upcoming().is_some_and(|next| next.seq == exec);
        let last = watch.active;
        match replay.step_observed(&mut watch) {
            None | Some(Step::Exec { result: Err(_), .. }) => break,
            Some(Step::Exec { .. }) if last => break,
            Some(_) => {}
        }
    }
    watch.out
}

/// Watches a dword.
struct Watch {
    physical: u64,
    active: bool,
    value: Option<u32>,
    dispatches: u64,
    /// The kernel of the dispatch since the latest event of memory.
    latest: Option<u64>,
    out: Vec<Writer>,
}

impl Observer for Watch {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Dispatch { kernel } => {
                self.dispatches += 1;
                self.latest = Some(*kernel);
            }
            Event::Memory { after, memory } => {
                let kernel = self.latest.take();
                let mut bytes = [0; 4];
                read(memory, self.physical, &mut bytes);
                let value = u32::from_le_bytes(bytes);
                let old = self.value.replace(value);
                if self.active && old.is_some_and(|old| old != value) && after.is_some() {
                    let dispatch = kernel.map(|_| self.dispatches);
                    self.out.push(Writer { at: *after, dispatch, kernel, value });
                }
            }
            _ => {}
        }
    }
}

/// The first writers of two runs that leave different values.
fn part([good, bad]: [Vec<Writer>; 2]) -> Option<[Writer; 2]> {
    let none = |list: &[Writer]| Writer {
        at: None,
        dispatch: None,
        kernel: None,
        value: list.last().map_or(0, |last| last.value),
    };
    let common = good.len().min(bad.len());
    let at = good.iter().zip(&bad).position(|(a, b)| a.value != b.value).unwrap_or(common);
    match (good.get(at), bad.get(at)) {
        (None, None) => None,
        (a, b) => Some([
            a.copied().unwrap_or_else(|| none(&good)),
            b.copied().unwrap_or_else(|| none(&bad)),
        ]),
    }
}
