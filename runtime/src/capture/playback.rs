//! The bytes of every object while a capture is played.

use super::{Capture, Event, Exec, ObjectId};
use crate::memory::Memory;

/// Plays a capture: holds one byte array per object and applies what the program wrote before each
/// submission.
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
    buffers: Vec<Vec<u8>>,
}

impl<'a> Playback<'a> {
    /// A playback before the first event, without any object.
    pub fn new(capture: &'a Capture) -> Self {
        Playback { capture, next: 0, buffers: vec![Vec::new(); capture.object_count()] }
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
                    if buffer.is_empty() {
                        *buffer = vec![0; object.size as usize];
                    }
                    for write in &object.writes {
                        buffer[write.offset as usize..(write.offset + write.length) as usize]
                            .copy_from_slice(self.capture.bytes(write));
                    }
                }
            }
            Event::Free(object) => self.buffers[object.0 as usize] = Vec::new(),
            Event::Expect(_) | Event::Frame(_) => {}
        }
        Some(event)
    }

    /// The bytes of an object now; empty if it does not exist now.
    pub fn bytes(&self, object: ObjectId) -> &[u8] {
        &self.buffers[object.0 as usize]
    }

    /// The bytes of an object, mutable, to store what the GPU writes during a submission.
    pub fn bytes_mut(&mut self, object: ObjectId) -> &mut [u8] {
        &mut self.buffers[object.0 as usize]
    }

    /// The memory that a submission sees: exactly the objects that it lists.
    pub fn memory(&self, exec: &Exec) -> ExecMemory<'_> {
        let mut ranges: Vec<(u64, &[u8])> =
            exec.objects.iter().map(|object| (object.address, self.bytes(object.object))).collect();
        ranges.sort_unstable_by_key(|range| range.0);
        ExecMemory { ranges }
    }
}

/// The objects of a submission, by address.
#[derive(Debug, Clone, Default)]
pub struct ExecMemory<'a> {
    ranges: Vec<(u64, &'a [u8])>,
}

impl<'a> ExecMemory<'a> {
    /// The address and bytes of the object that holds `address`.
    pub fn object(&self, address: u64) -> Option<(u64, &'a [u8])> {
        let index = self.ranges.partition_point(|range| range.0 <= address).checked_sub(1)?;
        let (start, bytes) = self.ranges[index];
        (address - start < bytes.len() as u64).then_some((start, bytes))
    }

    /// The bytes from `address` to the end of its object; empty if no object holds `address`.
    pub fn tail(&self, address: u64) -> &'a [u8] {
        self.object(address).map_or(&[], |(start, bytes)| &bytes[(address - start) as usize..])
    }

    /// All objects (address, bytes) in order of their addresses.
    pub fn ranges(&self) -> &[(u64, &'a [u8])] {
        &self.ranges
    }
}

impl Memory for ExecMemory<'_> {
    fn tail(&self, address: u64) -> &[u8] {
        ExecMemory::tail(self, address)
    }
}
