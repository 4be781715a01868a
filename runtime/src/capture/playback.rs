//! The bytes of every object while a capture is played.

use super::{Capture, Event, Exec, ObjectId, Write};
use crate::memory::Memory;
use std::sync::OnceLock;

/// Plays a capture: applies what the program wrote before each submission. An object takes memory
/// when its bytes are first used.
///
/// ```no_run
/// # use genxml::capture::{Capture, Event, Playback};
/// let capture = Capture::open("some/capture")?;
/// let mut playback = Playback::new(&capture);
/// while let Some(event) = playback.step() {
///     if let Event::Exec(exec) = event {
///         let memory = playback.memory(exec);
///         // decode the batch at exec.batch_address out of `memory`
///     }
/// }
/// # Ok::<(), genxml::capture::CaptureError>(())
/// ```
#[derive(Debug)]
pub struct Playback<'a> {
    capture: &'a Capture,
    next: usize,
    buffers: Vec<Buffer>,
}

/// The object that has a number now, if there is one.
#[derive(Debug, Default)]
struct Buffer {
    /// Size in bytes; 0 if there is no object.
    size: usize,
    /// The writes so far, in order, if the bytes were not used yet.
    writes: Vec<Write>,
    bytes: OnceLock<Vec<u8>>,
}

impl Buffer {
    fn bytes(&self, capture: &Capture) -> &[u8] {
        self.bytes.get_or_init(|| {
            let mut bytes = vec![0; self.size];
            self.writes.iter().for_each(|write| capture.apply(write, &mut bytes));
            bytes
        })
    }

    fn bytes_mut(&mut self, capture: &Capture) -> &mut [u8] {
        self.bytes(capture);
        self.bytes.get_mut().map_or(&mut [], |bytes| bytes)
    }

    fn write(&mut self, capture: &Capture, write: &Write) {
        match self.bytes.get_mut() {
            Some(bytes) => capture.apply(write, bytes),
            None => {
                if write.length == self.size as u64 {
                    self.writes.clear();
                }
                self.writes.push(*write);
            }
        }
    }
}

impl<'a> Playback<'a> {
    /// A playback before the first event, without any object.
    pub fn new(capture: &'a Capture) -> Self {
        let buffers = (0..capture.object_count()).map(|_| Buffer::default()).collect();
        Playback { capture, next: 0, buffers }
    }

    /// The next event, or `None` at the end. Before a submission is returned, objects that it has
    /// for the first time are created as zeros and its writes are applied.
    pub fn step(&mut self) -> Option<&'a Event> {
        let event = self.capture.events().get(self.next)?;
        self.next += 1;
        match event {
            Event::Exec(exec) => {
                for object in &exec.objects {
                    let buffer = &mut self.buffers[object.object.0 as usize];
                    if buffer.size == 0 {
                        *buffer = Buffer { size: object.size as usize, ..Buffer::default() };
                    }
                    object.writes.iter().for_each(|write| buffer.write(self.capture, write));
                }
            }
            Event::Free(object) => self.buffers[object.0 as usize] = Buffer::default(),
            Event::Expect(_) | Event::Frame(_) => {}
        }
        Some(event)
    }

    /// The bytes of an object now; empty if it does not exist now.
    pub fn bytes(&self, object: ObjectId) -> &[u8] {
        self.buffers[object.0 as usize].bytes(self.capture)
    }

    /// The bytes of an object, mutable, to store what the GPU writes during a submission.
    pub fn bytes_mut(&mut self, object: ObjectId) -> &mut [u8] {
        self.buffers[object.0 as usize].bytes_mut(self.capture)
    }

    /// The memory that a submission sees: exactly the objects that it lists.
    pub fn memory(&self, exec: &Exec) -> ExecMemory<'_> {
        let range = |address, object: ObjectId| Range {
            address,
            buffer: &self.buffers[object.0 as usize],
            capture: self.capture,
        };
        let mut ranges: Vec<Range<'_>> =
            exec.objects.iter().map(|object| range(object.address, object.object)).collect();
        ranges.sort_unstable_by_key(|range| range.address);
        ExecMemory { ranges }
    }
}

/// The objects of a submission, by address.
#[derive(Debug, Clone, Default)]
pub struct ExecMemory<'a> {
    ranges: Vec<Range<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Range<'a> {
    address: u64,
    buffer: &'a Buffer,
    capture: &'a Capture,
}

impl<'a> Range<'a> {
    fn bytes(self) -> &'a [u8] {
        self.buffer.bytes(self.capture)
    }
}

impl<'a> ExecMemory<'a> {
    /// The address and bytes of the object that holds `address`.
    pub fn object(&self, address: u64) -> Option<(u64, &'a [u8])> {
        let index = self.ranges.partition_point(|range| range.address <= address).checked_sub(1)?;
        let range = self.ranges[index];
        let has = address - range.address < range.buffer.size as u64;
        has.then(|| (range.address, range.bytes()))
    }

    /// The bytes from `address` to the end of its object; empty if no object holds `address`.
    pub fn tail(&self, address: u64) -> &'a [u8] {
        self.object(address).map_or(&[], |(start, bytes)| &bytes[(address - start) as usize..])
    }

    /// All objects (address, bytes) in order of their addresses.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, &'a [u8])> {
        self.ranges.iter().map(|range| (range.address, range.bytes()))
    }
}

impl Memory for ExecMemory<'_> {
    fn tail(&self, address: u64) -> &[u8] {
        ExecMemory::tail(self, address)
    }
}
