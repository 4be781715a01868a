//! Converts error states to submissions for AUB files and captures, and submissions of AUB files to
//! error states.

use super::Reader;
use super::image::Image;
use super::notes::Notes;
use super::play::{Commands, play};
use super::ring::Calls;
use super::submissions::submission;
use super::tables::{PAGE, PAGE_SHIFT};
use super::view::View;
use crate::capture::WriteObject;
use crate::engine::EngineId;
use crate::error_state::{BufferKind, Crash, CrashBuffer, ErrorState};
use crate::memory::Memory;
use crate::submission::Note;
use std::io;

/// A submission with the memory that it sees, as [`Recorder::exec`](super::Recorder::exec) and
/// [`CaptureWriter::exec`](crate::capture::CaptureWriter::exec) take it.
#[derive(Debug)]
pub struct Recorded<'a> {
    /// Number of the context.
    pub context: u32,
    /// The engine that executes the batch.
    pub engine: EngineId,
    /// Address of the first command of the batch.
    pub batch: u64,
    /// All objects that the context maps.
    pub objects: Vec<WriteObject<'a>>,
}

/// Passes the batches of an error state to `each`, with the memory of the state; returns their
/// number. Each engine gets a context of its own. The batches start from the beginning, although
/// memory already has the results of the work that they did before the hang.
///
/// Other commands of rings, global memory, and batches that are in no buffer of the state are left
/// out with a note in `notes`.
///
/// # Errors
/// Errors returned by `each`.
pub fn from_error_state(
    state: &ErrorState,
    notes: &mut Vec<Note>,
    each: &mut dyn FnMut(&Recorded<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let mut count = 0;
    state.submissions(&mut |submission| {
        let mut note = |text: String| {
            notes.push(Note { position: submission.name.into(), ..Note::new(text) });
        };
        let calls = if submission.global { Calls::of(submission) } else { Calls::default() };
        let mut batches: Vec<u64> = calls.batches.iter().map(|batch| batch.0).collect();
        if !submission.global {
            batches.push(submission.address);
        }
        for (name, times) in &calls.others {
            note(format!("{name} in the ring is left out ({times} times)"));
        }
        let ranges = ranges(state, submission.memory);
        batches.retain(|batch| {
            let there = ranges.iter().any(|(start, end)| (start..end).contains(&batch));
            if !there {
                note(format!("the batch at {batch:#x} is in no buffer of the state: left out"));
            }
            there
        });
        for batch in batches {
            let names: Vec<String> = ranges
                .iter()
                .map(|range| format!("{} {:#x}", submission.context, range.0))
                .collect();
            let objects = ranges.iter().zip(&names).map(|(&(start, end), name)| WriteObject {
                object: name,
                address: start,
                size: end - start,
                tiling: crate::capture::Tiling::Linear,
                stride: 0,
                writes: pieces(submission.memory, start, end),
            });
            let (context, engine) = (submission.context, submission.engine);
            each(&Recorded { context, engine, batch, objects: objects.collect() })?;
            count += 1;
        }
        Ok(())
    })?;
    Ok(count)
}

/// The ranges of the buffers that this memory has, without buffers in global memory. A range is the
/// start and end address of whole pages; buffers that share a page share a range.
fn ranges(state: &ErrorState, memory: &dyn Memory) -> Vec<(u64, u64)> {
    let there = state.buffers.iter().filter(|buffer| {
        !buffer.kind.is_global()
            && !buffer.data.is_empty()
            && !memory.tail(buffer.address).is_empty()
    });
    let mut all: Vec<(u64, u64)> = there
        .map(|buffer| (buffer.address & !(PAGE - 1), buffer.end().next_multiple_of(PAGE)))
        .filter(|range| range.1 <= 1 << 48)
        .collect();
    all.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (start, end) in all {
        match ranges.last_mut() {
            // Adjacent buffers stay separate objects, unless they share a page.
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => ranges.push((start, end)),
        }
    }
    ranges
}

/// The mapped memory from `start` to `end`, in pieces: each has its offset from `start` and its
/// bytes.
fn pieces(memory: &dyn Memory, start: u64, end: u64) -> Vec<(u64, &[u8])> {
    let mut pieces = Vec::new();
    let mut at = start;
    while at < end {
        let tail = memory.tail(at);
        let here = tail.len().min((end - at) as usize);
        if here == 0 {
            // Buffers start and end on dwords.
            at += 4;
            continue;
        }
        pieces.push((at - start, &tail[..here]));
        at += here as u64;
    }
    pieces
}

/// A submission of an AUB file as an error state: the memory that its context sees, and its ring,
/// at the time when the submission starts. Registers that describe a hang are left out, except
/// ACTHD: it has the address of the first called batch, or 0. `None` if the file has no submission
/// of this number.
///
/// # Errors
/// None at present: problems of the file go to `notes`.
pub fn to_error_state(
    mut reader: Reader<'_>,
    name: &str,
    number: u64,
    notes: &mut Vec<Note>,
) -> io::Result<Option<ErrorState>> {
    let (mut left_out, mut seen, mut found) = (Notes::default(), 0, None);
    let result =
        play(&mut reader, &mut Image::default(), &mut left_out, &mut |image, header, started| {
            seen += 1;
            if seen - 1 != number {
                return Ok(());
            }
            let memory = View::new(image, started.translation);
            let calls = Calls::of(&submission(name, number, started, &memory));
            let (pages, _) = image.pages(&started.translation);
            let mut buffers = Vec::new();
            let mut rest = &pages[..];
            while let Some(&(page, _)) = rest.first() {
                let (address, data) = (page << PAGE_SHIFT, memory.tail(page << PAGE_SHIFT));
                buffers.push(CrashBuffer { kind: BufferKind::User, address, data });
                rest = &rest[(data.len() / PAGE as usize).clamp(1, rest.len())..];
            }
            let mut bytes = Vec::new();
            let mut offsets = (0, 0);
            if let (Commands::Ring(ring), Some(global)) = (started.commands, memory.global()) {
                bytes.resize(ring.size as usize, 0);
                global.bytes(ring.start, &mut bytes);
                offsets = (ring.head, ring.tail);
                buffers.push(CrashBuffer {
                    kind: BufferKind::Ring,
                    address: ring.start,
                    data: &bytes,
                });
            }
            let batch = calls.batches.first().map_or(0, |batch| batch.0);
            let crash = Crash {
                reason: "recorded",
                driver: &format!("{name}, submission {number} at byte {:#x}", started.position),
                pci_id: header.and_then(|header| header.pci_id).unwrap_or(Crash::default().pci_id),
                engine: started.engine,
                batch,
                buffers,
                ring: offsets,
                acthd: Some(batch),
                ..Crash::default()
            };
            found = Some(crash.error_state());
            Ok(())
        });
    notes.extend(left_out.list());
    result.map(|()| found)
}
