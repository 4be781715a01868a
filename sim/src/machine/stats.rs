//! Counts of the model.

use genxml::engine::EngineId;

/// Counts of one submission, or the sum of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Batches entered: those of submissions, and those that MI_BATCH_BUFFER_START starts.
    pub batches: u64,
    /// Packets executed.
    pub packets: u64,
    /// Packets executed by each engine, in the order of [`EngineId::ALL`].
    pub engine_packets: [u64; EngineId::ALL.len()],
    /// Thread groups of walkers that ran to their end.
    pub groups: u64,
    /// EU threads that ran to their end.
    pub threads: u64,
    /// EU instructions executed.
    pub instructions: u64,
    /// Messages that threads sent to shared functions.
    pub messages: u64,
    /// Pixels written by fixed functions.
    pub pixels: u64,
    /// Bytes that commands and shared functions read.
    pub bytes_read: u64,
    /// Bytes that commands and shared functions wrote.
    pub bytes_written: u64,
    /// Number of data port accesses by kernels beyond the end of a surface or of shared local
    /// memory, or to a null surface. Such reads return 0. Such writes are dropped. Each element of
    /// a channel counts once. In a block message, each contiguous part of the block counts once.
    /// Media block messages do not count: their edges may lie outside of the surface.
    pub cut_off: u64,
    /// Accesses of commands that were not executed because they need privilege that the batch does
    /// not have.
    pub violations: u64,
    /// Commands for hardware that the model does not have. They change nothing.
    pub without_effect: u64,
    /// Packets that were skipped because of MI_SET_PREDICATE.
    pub skipped: u64,
    /// Interrupts that commands raised.
    pub interrupts: u64,
    /// Pictures that the video engine decoded: frames and fields.
    pub pictures: u64,
    /// Slices of these pictures.
    pub slices: u64,
    /// Macroblocks of these pictures, without concealed ones. For JPEG, the minimum coded units.
    pub macroblocks: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.batches += other.batches;
        self.packets += other.packets;
        for (mine, others) in self.engine_packets.iter_mut().zip(other.engine_packets) {
            *mine += others;
        }
        self.groups += other.groups;
        self.threads += other.threads;
        self.instructions += other.instructions;
        self.messages += other.messages;
        self.pixels += other.pixels;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
        self.cut_off += other.cut_off;
        self.violations += other.violations;
        self.without_effect += other.without_effect;
        self.skipped += other.skipped;
        self.interrupts += other.interrupts;
        self.pictures += other.pictures;
        self.slices += other.slices;
        self.macroblocks += other.macroblocks;
    }
}

/// Counts of speculative parts, and of runs that claimed pages. Unlike all other results, these
/// counts depend on the number of host threads. They do not depend on the timing of these threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Speculation {
    /// Parts and runs whose result was used.
    pub committed: u64,
    /// Parts that ran again in order, and works whose runs all ran again because a claim was
    /// refused.
    pub aborted: u64,
}
