//! Looks at one dispatch of a run: the images and buffers that its threads wrote.

use super::ranges::Ranges;
use super::seen::{
    ChangedRun, FIRST_BYTES, Look, MOST_VALUES, Role, Seen, SeenBuffer, SeenTarget, colors,
};
use super::writes::{Moment, Progress, Written};
use crate::inspect::history::probe::MOST_BYTES;
use crate::inspect::history::{Meaning, View};
use crate::machine::events::{Event, Now, Observer};
use crate::surface::{Codec, Surface, SurfaceKind};

/// Maximum bytes of the memory of a dispatch that are compared.
const MOST_COMPARED: u64 = 64 << 20;
/// Maximum number of runs of changed bytes that a buffer has.
const MOST_RUNS: usize = 10_000;
/// Bytes that are compared together.
const GROUP: u64 = 4;

/// The level and slices of a surface that messages write, as an image; `None` if the surface is not
/// an image whose values have channels, or has more bytes than [`MOST_VALUES`].
pub fn image_of(binding: u8, surface: Surface) -> Option<View> {
    let has_channels = surface.codec.is_some_and(Codec::has_channels);
    if surface.kind != SurfaceKind::Image
        || !has_channels
        || surface.element_bytes as usize > MOST_BYTES
    {
        return None;
    }
    let level = surface.level(0)?;
    let view = View { meaning: Meaning::Color, surface, level, binding: Some(binding) };
    let values = u64::from(level.width) * u64::from(level.height) * view.planes().count() as u64;
    (values * u64::from(surface.element_bytes) <= MOST_VALUES).then_some(view)
}

/// Memory that was written, as it was before the dispatch.
#[derive(Debug)]
struct Snapshot {
    written: Written,
    /// Addresses and bytes.
    parts: Vec<(u64, Vec<u8>)>,
    is_cut: bool,
    /// The index of the image in the list of targets.
    target: Option<usize>,
}

/// Looks at a dispatch of a run, by its number from 1 on.
#[derive(Debug)]
pub struct DispatchLook {
    progress: Progress,
    copies: Vec<Snapshot>,
    seen: Option<Seen>,
    has_begun: bool,
}

impl DispatchLook {
    /// A look at a dispatch. `written` is what [`Writes`](super::Writes) found in an earlier run of
    /// the same input.
    pub fn new(dispatch: u64, written: Vec<Written>) -> DispatchLook {
        let copy = |written| Snapshot { written, parts: Vec::new(), is_cut: false, target: None };
        DispatchLook {
            progress: Progress::new(dispatch),
            copies: written.into_iter().map(copy).collect(),
            seen: None,
            has_begun: false,
        }
    }

    /// Copies what will be written.
    fn before(&mut self, read: &dyn Fn(u64, &mut [u8]) -> bool) {
        let mut seen = Seen::default();
        let mut left = MOST_COMPARED;
        for copy in &mut self.copies {
            (copy.parts, copy.is_cut) = parts(&copy.written.ranges, &mut left, read);
            let Written { binding, surface, .. } = copy.written;
            let view = binding.zip(surface).and_then(|(index, surface)| image_of(index, surface));
            copy.target = view.map(|view| {
                let picture = |view: &View| colors(view, read);
                seen.targets.push(SeenTarget::new(Role::Image, view, [0; 2], read, picture));
                seen.targets.len() - 1
            });
        }
        self.seen = Some(seen);
    }

    /// Compares with what was written.
    fn after(&mut self, read: &dyn Fn(u64, &mut [u8]) -> bool) {
        let Some(seen) = &mut self.seen else { return };
        for target in &mut seen.targets {
            target.end(read, |view| colors(view, read));
        }
        seen.buffers.clear();
        for copy in &self.copies {
            let buffer = compare(copy, read);
            let target = copy.target.and_then(|index| seen.targets.get(index));
            // The level or slice that has changed is perhaps not the one of the picture.
            let is_seen = target.is_some_and(|target| {
                let [before, after] = &target.texels;
                buffer.count == 0 || before.values != after.values
            });
            if !is_seen {
                seen.buffers.push(buffer);
            }
        }
        seen.note = match self.copies.is_empty() {
            true => Some("the threads wrote no memory"),
            false if !self.progress.is_over() => {
                Some("some threads ended after the packet; this is memory before the next step")
            }
            false => None,
        };
        seen.is_complete = true;
    }
}

/// The bytes of ranges, as long as bytes are left, and whether some were left out.
fn parts(
    ranges: &Ranges,
    left: &mut u64,
    read: &dyn Fn(u64, &mut [u8]) -> bool,
) -> (Vec<(u64, Vec<u8>)>, bool) {
    let mut parts = Vec::new();
    for (start, end) in ranges.iter() {
        let length = (end - start).min(*left);
        *left -= length;
        let mut bytes = vec![0; length as usize];
        if length > 0 && read(start, &mut bytes) {
            parts.push((start, bytes));
        }
        if length < end - start {
            return (parts, true);
        }
    }
    (parts, false)
}

/// The changes since the copy.
fn compare(copy: &Snapshot, read: &dyn Fn(u64, &mut [u8]) -> bool) -> SeenBuffer {
    let Snapshot { written: Written { binding, surface, ranges }, parts, is_cut, .. } = copy;
    let first = ranges.iter().next().map_or(0, |(start, _)| start);
    let last = ranges.iter().last().map_or(0, |(_, end)| end);
    let mut buffer = SeenBuffer {
        binding: *binding,
        surface: *surface,
        extent: [first, last],
        written: ranges.bytes(),
        changed: 0,
        count: 0,
        runs: Vec::new(),
        is_cut: *is_cut,
    };
    for (address, before) in parts {
        let mut after = vec![0; before.len()];
        if read(*address, &mut after) {
            changes(*address, before, &after, &mut buffer);
        }
    }
    buffer
}

/// Adds the runs of bytes that differ.
fn changes(address: u64, before: &[u8], after: &[u8], buffer: &mut SeenBuffer) {
    let mut run: Option<std::ops::Range<usize>> = None;
    let mut add = |range: std::ops::Range<usize>| {
        buffer.count += 1;
        buffer.changed += range.len() as u64;
        if buffer.runs.len() < MOST_RUNS {
            let mut first = [[0; FIRST_BYTES]; 2];
            for (first, bytes) in first.iter_mut().zip([before, after]) {
                let count = range.len().min(FIRST_BYTES);
                first[..count].copy_from_slice(&bytes[range.start..range.start + count]);
            }
            let address = address + range.start as u64;
            buffer.runs.push(ChangedRun { address, bytes: range.len() as u64, first });
        }
    };
    let mut at = 0;
    while at < before.len() {
        let rest = GROUP - (address + at as u64) % GROUP;
        let end = (at + rest as usize).min(before.len());
        if before[at..end] != after[at..end] {
            run = Some(run.map_or(at, |run| run.start)..end);
        } else if let Some(run) = run.take() {
            add(run);
        }
        at = end;
    }
    if let Some(run) = run {
        add(run);
    }
}

impl Look for DispatchLook {
    fn is_done(&self) -> bool {
        self.progress.is_over()
    }

    fn take(&mut self) -> Option<Seen> {
        self.seen.take().filter(|_| self.has_begun)
    }
}

impl Observer for DispatchLook {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        let moment = self.progress.moment(now, event);
        self.has_begun |= moment == Moment::Inside;
        let Event::Packet { at, dwords, view, .. } = event else { return };
        let read = |address: u64, out: &mut [u8]| view.read(address, out);
        match moment {
            Moment::Before if crate::inspect::dispatch::descriptor(at.packet, dwords).is_some() => {
                self.before(&read);
            }
            Moment::After => self.after(&read),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(address: u64, before: &[u8], after: &[u8]) -> SeenBuffer {
        let mut ranges = Ranges::default();
        ranges.add(address, address + before.len() as u64);
        let written = Written { binding: None, surface: None, ranges };
        let parts = vec![(address, before.to_vec())];
        let copy = Snapshot { written, parts, is_cut: false, target: None };
        compare(&copy, &|at, out: &mut [u8]| {
            assert_eq!(at, address);
            out.copy_from_slice(after);
            true
        })
    }

    /// Bytes 1, 9 and 12 change. Groups of four bytes begin at multiples of four of the address,
    /// here before bytes 2, 6, 10 and 14.
    #[test]
    fn groups_of_four_bytes() {
        let (before, mut after) = ([7; 20], [7; 20]);
        (after[1], after[9], after[12]) = (1, 2, 3);
        let buffer = changed(0x1002, &before, &after);
        let runs: Vec<_> = buffer.runs.iter().map(|run| (run.address, run.bytes)).collect();
        assert_eq!(runs, [(0x1002, 2), (0x1008, 8)]);
        assert_eq!((buffer.count, buffer.changed, buffer.written), (2, 10, 20));
        assert_eq!(
            buffer.runs[0].first,
            [[7, 7], [7, 1]].map(|bytes| {
                let mut first = [0; FIRST_BYTES];
                first[..2].copy_from_slice(&bytes);
                first
            })
        );
        assert_eq!(changed(0x1002, &before, &before).count, 0);
    }

    /// A run to the end, longer than the bytes that are stored.
    #[test]
    fn long_runs() {
        let buffer = changed(0x2000, &[0; 64], &[9; 64]);
        assert_eq!((buffer.count, buffer.changed), (1, 64));
        assert_eq!(
            buffer.runs,
            [ChangedRun { address: 0x2000, bytes: 64, first: [[0; 16], [9; 16]] }]
        );
        assert_eq!(buffer.extent, [0x2000, 0x2040]);
    }

    /// What does not fit the limit is left out.
    #[test]
    fn limit() {
        let mut ranges = Ranges::default();
        ranges.add(0, 10);
        ranges.add(20, 30);
        let read = |_: u64, _: &mut [u8]| true;
        let (found, is_cut) = parts(&ranges, &mut 15, &read);
        let lengths: Vec<_> = found.iter().map(|(at, bytes)| (*at, bytes.len())).collect();
        assert_eq!((lengths, is_cut), (vec![(0, 10), (20, 5)], true));
        assert!(!parts(&ranges, &mut 20, &read).1);
    }
}
