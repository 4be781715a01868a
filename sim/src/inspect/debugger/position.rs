//! The position of a run above the level of threads.

use crate::machine::fault::Place;
use genxml::engine::EngineId;

/// A packet of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Its number, from 1 on, over all engines.
    pub number: u64,
    /// Name and address.
    pub at: Place,
    /// All dwords.
    pub dwords: Vec<u32>,
}

/// The position of a run: submission, batches, packet and draw.
#[derive(Clone, Debug, Default)]
pub struct Position {
    /// Number of submissions that have started, over all engines. An AUB file has a submission for
    /// each start of an engine.
    pub submissions: u64,
    /// The number that the capture gives the submission; `None` in AUB files.
    pub exec: Option<u64>,
    /// Addresses of the batches that each engine is in, outermost first.
    pub batches: [Vec<u64>; EngineId::ALL.len()],
    /// Number of packets so far, with the current one.
    pub packets: u64,
    /// The current packet; `None` before the first one.
    pub packet: Option<Packet>,
    /// Number of draws so far, with the current one.
    pub draws: u64,
    /// The newest packet that drew something.
    pub draw: Option<Packet>,
    /// True while a draw is executed.
    pub drawing: bool,
    /// Position of the newest thread group.
    pub group: Option<[u32; 3]>,
    /// Number of threads that the current packet has started.
    pub threads: u64,
}

impl Position {
    /// Starts a packet.
    pub(super) fn begin(&mut self, at: Place, dwords: &[u32]) {
        self.packets += 1;
        self.threads = 0;
        (self.group, self.drawing) = (None, false);
        self.packet = Some(Packet { number: self.packets, at, dwords: dwords.to_vec() });
    }
}
