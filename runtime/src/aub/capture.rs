//! Captures as AUB files and back.

use super::Reader;
use super::image::{Image, Translation};
use super::notes::Notes;
use super::play::{Started, play};
use super::recorder::Recorder;
use super::ring::Calls;
use super::submissions::submission;
use super::tables::{PAGE, PAGE_SHIFT};
use super::view::View;
use crate::capture::{self, Capture, CaptureWriter, Event, Exec, ExecObject};
use crate::capture::{WriteObject, nonzero_ranges};
use crate::gen8::mi::MiBatchBufferEnd;
use crate::submission::Note;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Writes the submissions of a capture that `wanted` selects, and calls `done` after each with the
/// number written so far. If an unselected submission writes to an object, these writes are added
/// to the next selected submission that has the object.
///
/// An AUB file cannot hold expectations, frames, tiling, and the lengths of batches; batches run to
/// their MI_BATCH_BUFFER_END.
///
/// # Errors
/// If the output cannot be written, or the objects do not fit in physical memory.
pub fn from_capture<W: Write>(
    capture: &Capture,
    recorder: &mut Recorder<W>,
    wanted: &dyn Fn(&Exec) -> bool,
    done: &mut dyn FnMut(u64),
) -> io::Result<()> {
    // The writes of submissions that are left out, by object.
    let mut missed: HashMap<u32, Vec<capture::Write>> = HashMap::new();
    let mut count = 0;
    for event in capture.events() {
        match event {
            Event::Exec(exec) if !wanted(exec) => {
                for object in &exec.objects {
                    missed.entry(object.object.0).or_default().extend(&object.writes);
                }
            }
            Event::Exec(exec) => {
                let mut bytes = |object: &ExecObject| -> Vec<(u64, Cow<'_, [u8]>)> {
                    let missed = missed.remove(&object.object.0).unwrap_or_default();
                    let writes = missed.iter().chain(&object.writes);
                    writes.map(|write| (write.offset, capture.bytes(write))).collect()
                };
                let writes: Vec<_> = exec.objects.iter().map(&mut bytes).collect();
                let with_bytes = exec.objects.iter().zip(&writes);
                let objects: Vec<WriteObject<'_>> = with_bytes
                    .map(|(object, writes)| WriteObject {
                        object: capture.object_name(object.object),
                        address: object.address,
                        size: object.size,
                        tiling: object.tiling,
                        stride: object.stride,
                        writes: writes.iter().map(|(offset, bytes)| (*offset, &**bytes)).collect(),
                    })
                    .collect();
                recorder.exec(exec.context, exec.engine, exec.batch_address, &objects)?;
                count += 1;
                done(count);
            }
            Event::Free(object) => {
                missed.remove(&object.0);
                recorder.free(capture.object_name(*object));
            }
            Event::Expect(_) | Event::Frame(_) => {}
        }
    }
    Ok(())
}

/// Adds submissions of an AUB file to a capture: those whose numbers `wanted` selects. Calls `done`
/// after each with the number added so far.
///
/// Each batch that a ring calls becomes a submission of the capture. If a ring calls no batch but
/// has other commands with an effect, the commands of the ring become the submission. Pages with
/// consecutive virtual and physical addresses become one object. In later submissions, the object
/// is recognised by its physical pages. Batches that are not mapped, batches in global memory, and
/// other commands of a ring that calls batches are left out with a note in `notes`.
///
/// # Errors
/// None at present: problems of the file go to `notes`.
pub fn to_capture(
    mut reader: Reader<'_>,
    capture: &mut CaptureWriter,
    notes: &mut Vec<Note>,
    wanted: &dyn Fn(u64) -> bool,
    done: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let mut image = Image::tracking();
    let mut objects = Objects::default();
    let (mut left_out, mut remarks) = (Notes::default(), Notes::default());
    let (mut number, mut count) = (0, 0);
    let result = play(&mut reader, &mut image, &mut left_out, &mut |image, _, started| {
        number += 1;
        if !wanted(number - 1) {
            return Ok(());
        }
        count += exec(image, started, &mut objects, capture, &mut remarks);
        done(count);
        Ok(())
    });
    notes.extend(left_out.list());
    notes.extend(remarks.list());
    result
}

/// Adds started work to a capture; returns the number of added submissions.
fn exec(
    image: &mut Image,
    started: &Started,
    objects: &mut Objects,
    capture: &mut CaptureWriter,
    notes: &mut Notes,
) -> u64 {
    let (engine, at) = (started.engine, started.position);
    let calls = {
        let view = View::new(image, started.translation);
        Calls::of(&submission("", 0, started, &view))
    };
    let global_only = started.translation == Translation::Global;
    let (pages, whole) = image.pages(&started.translation);
    if !whole {
        notes
            .add(at, format!("{engine}: the page tables map too many pages: the rest is left out"));
    }
    let mut listed = objects.list(image, &pages, at, notes);
    let mut batches = Vec::new();
    for &(address, global) in &calls.batches {
        let inside = listed.iter().any(|object| object.holds(address));
        if global && !global_only {
            notes.add(
                at,
                format!("{engine}: a batch in global memory, at {address:#x}, is left out"),
            );
        } else if !inside {
            notes.add(at, format!("{engine}: the batch at {address:#x} is not mapped: left out"));
        } else {
            batches.push(address);
        }
    }
    if calls.batches.is_empty() && !calls.others.is_empty() {
        // The commands of the ring become the batch.
        let mut bytes = calls.bytes.clone();
        MiBatchBufferEnd::new().pack().iter().for_each(|dword| bytes.extend(dword.to_le_bytes()));
        match free_place(&listed, bytes.len() as u64) {
            Some(address) => {
                batches.push(address);
                let size = bytes.len() as u64;
                let name = format!("ring at byte {at:#x}");
                listed.push(Listed { name, address, size, writes: vec![(0, bytes)] });
            }
            None => notes.add(
                at,
                format!("{engine}: no address is free for the commands of the ring: left out"),
            ),
        }
    } else {
        for (name, count) in &calls.others {
            let text = format!(
                "{engine}: {name} in a ring is left out (captures have batches only), {count} times"
            );
            notes.add(at, text);
        }
    }
    for (index, &address) in batches.iter().enumerate() {
        let list: Vec<WriteObject<'_>> = listed
            .iter()
            .map(|object| WriteObject {
                object: &object.name,
                address: object.address,
                size: object.size,
                tiling: capture::Tiling::Linear,
                stride: 0,
                // Only the first batch of the ring has the writes.
                writes: match index {
                    0 => {
                        object.writes.iter().map(|(offset, bytes)| (*offset, &bytes[..])).collect()
                    }
                    _ => Vec::new(),
                },
            })
            .collect();
        capture.exec(started.context, engine, address, 0, &list);
    }
    if batches.is_empty() {
        objects.put_back(listed);
    }
    batches.len() as u64
}

/// The start of a free range of `bytes` bytes above all objects; `None` if the range would reach
/// 2^48.
fn free_place(listed: &[Listed], bytes: u64) -> Option<u64> {
    let end = listed.iter().map(|object| object.address + object.size).max().unwrap_or(0);
    // One page stays unmapped, so that an access beyond the end of an object is detected.
    let address = end.next_multiple_of(PAGE) + PAGE;
    (address + bytes < 1 << 48).then_some(address)
}

/// An object of a submission.
#[derive(Debug)]
struct Listed {
    name: String,
    address: u64,
    size: u64,
    writes: Vec<(u64, Vec<u8>)>,
}

impl Listed {
    fn holds(&self, address: u64) -> bool {
        address >= self.address && address - self.address < self.size
    }
}

/// The objects found so far.
#[derive(Debug, Default)]
struct Objects {
    /// For each frame (number of a physical page): the object that it belongs to, and its index
    /// among the object's frames.
    of_frame: HashMap<u64, (u32, u64)>,
    /// The frames of each object.
    frames: Vec<Vec<u64>>,
    /// Writes that are in no submission yet, by name of the object. Every object that was listed
    /// before has an entry, which may be empty.
    kept: BTreeMap<String, Vec<(u64, Vec<u8>)>>,
}

impl Objects {
    /// The mapped objects, each with the writes since the last submission that listed it.
    fn list(
        &mut self,
        image: &mut Image,
        pages: &[(u64, u64)],
        at: u64,
        notes: &mut Notes,
    ) -> Vec<Listed> {
        let mut listed = Vec::new();
        let mut seen = HashMap::new();
        let mut rest = pages;
        while let Some(&(page, frame)) = rest.first() {
            let known = self.of_frame.get(&frame).copied();
            let count = match known {
                Some((object, 0)) if self.is_mapped_whole(object, rest) => {
                    if seen.insert(object, page).is_none() {
                        listed.push(self.listed(object, page, image));
                    } else {
                        let text = format!(
                            "memory at {:#x} is mapped twice: the second time is left out",
                            page << PAGE_SHIFT
                        );
                        notes.add(at, text);
                    }
                    self.frames[object as usize].len()
                }
                _ => {
                    let count = self.new_run(rest, known.is_some());
                    if known.is_some() {
                        let text = format!(
                            "memory at {:#x} was mapped in another way before: from here on it is a new object, with the writes of the file but not those of engines",
                            page << PAGE_SHIFT
                        );
                        notes.add(at, text);
                    }
                    let object = self.add(&rest[..count]);
                    seen.insert(object, page);
                    listed.push(self.listed(object, page, image));
                    count
                }
            };
            rest = &rest[count..];
        }
        listed
    }

    /// True if `pages` begins with all frames of the object, at consecutive addresses.
    fn is_mapped_whole(&self, object: u32, pages: &[(u64, u64)]) -> bool {
        let frames = &self.frames[object as usize];
        let first = pages[0].0;
        frames.len() <= pages.len()
            && frames
                .iter()
                .zip(pages)
                .zip(first..)
                .all(|((frame, page), number)| *page == (number, *frame))
    }

    /// Number of pages from the first on that form a new object. They are consecutive in addresses
    /// and in physical memory. If `known`, all belong to earlier objects, otherwise none does. They
    /// end before a page at which an earlier object is mapped completely.
    fn new_run(&self, pages: &[(u64, u64)], known: bool) -> usize {
        let same = pages.windows(2).take_while(|pair| {
            let [(page, frame), next] = [pair[0], pair[1]];
            next == (page + 1, frame + 1)
                && match self.of_frame.get(&next.1) {
                    Some(&(object, 0)) => {
                        known
                            && !self
                                .is_mapped_whole(object, &pages[(next.0 - pages[0].0) as usize..])
                    }
                    Some(_) => known,
                    None => !known,
                }
        });
        1 + same.count()
    }

    fn add(&mut self, pages: &[(u64, u64)]) -> u32 {
        let object = self.frames.len() as u32;
        self.frames.push(pages.iter().map(|page| page.1).collect());
        for (index, page) in (0..).zip(pages) {
            self.of_frame.insert(page.1, (object, index));
        }
        object
    }

    /// An object that is mapped from `page` on, with the writes since it was last listed. The first
    /// time, the writes are all its bytes that are not zero.
    fn listed(&mut self, object: u32, page: u64, image: &mut Image) -> Listed {
        let frames = &self.frames[object as usize];
        let name = format!("{object}");
        let is_new = !self.kept.contains_key(&name);
        let mut writes = self.kept.insert(name.clone(), Vec::new()).unwrap_or_default();
        for (index, &frame) in (0..).zip(frames) {
            let ranges = image.take_written(frame);
            let Some(bytes) = image.frame(frame) else { continue };
            let base = index * PAGE;
            if is_new {
                append(
                    &mut writes,
                    nonzero_ranges(bytes).into_iter().map(|(at, bytes)| (base + at, bytes)),
                );
            } else {
                let ranges = ranges.into_iter();
                let written = ranges.map(|(start, end)| {
                    (base + u64::from(start), &bytes[start as usize..end as usize])
                });
                append(&mut writes, written);
            }
        }
        Listed { name, address: page << PAGE_SHIFT, size: frames.len() as u64 * PAGE, writes }
    }

    /// Stores the writes of a dropped submission for the next submission.
    fn put_back(&mut self, listed: Vec<Listed>) {
        for object in listed {
            self.kept.insert(object.name, object.writes);
        }
    }
}

/// Adds writes. A write that starts where the last write ends is joined to it.
fn append<'a>(writes: &mut Vec<(u64, Vec<u8>)>, more: impl Iterator<Item = (u64, &'a [u8])>) {
    for (offset, bytes) in more {
        match writes.last_mut() {
            Some((start, before)) if *start + before.len() as u64 == offset => {
                before.extend_from_slice(bytes)
            }
            _ => writes.push((offset, bytes.to_vec())),
        }
    }
}
