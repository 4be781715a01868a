//! What happened, counted and told: [`Stats`] always, an [`Observer`] if someone listens.

use crate::fault::Place;

/// Counts of one submission, or of several added up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Batches entered: the submitted one and each MI_BATCH_BUFFER_START.
    pub batches: u64,
    /// Packets executed.
    pub packets: u64,
    /// EU threads that ran to their end.
    pub threads: u64,
    /// EU instructions executed.
    pub instructions: u64,
    /// Pixels written by fixed functions.
    pub pixels: u64,
    /// Bytes that commands and shared functions read.
    pub bytes_read: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.batches += other.batches;
        self.packets += other.packets;
        self.threads += other.threads;
        self.instructions += other.instructions;
        self.pixels += other.pixels;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
    }
}

/// Something that an observer may want to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A packet is about to be executed.
    Packet {
        /// Its name and address.
        at: Place,
        /// All of its dwords.
        dwords: &'a [u32],
    },
    /// A thread starts.
    Thread {
        /// Address of its kernel's first instruction.
        kernel: u64,
        /// Its payload, GRF by GRF, as bytes.
        payload: &'a [u8],
    },
    /// An EU instruction is about to be executed.
    Instruction {
        /// Address of the kernel's first instruction.
        kernel: u64,
        /// Byte offset of the instruction from there.
        ip: u32,
        /// Channels that take part.
        mask: u32,
    },
}

/// Listens to a submission. The observer `()` hears nothing and costs nothing: calls to it are compiled away.
pub trait Observer {
    /// Called for every event, in the order in which things happen.
    fn event(&mut self, event: &Event<'_>);
}

impl Observer for () {
    #[inline(always)]
    fn event(&mut self, _: &Event<'_>) {}
}

impl<F: FnMut(&Event<'_>)> Observer for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}
