//! Points of a run.

use std::fmt;

/// A thread of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId {
    /// Number of the packet that started the thread, from 1 on.
    pub packet: u64,
    /// Number of the thread among those that the packet started, from 1 on.
    pub number: u64,
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} of packet {}", self.number, self.packet)
    }
}

/// A point of a run at which the debugger can stop. Runs of the same input have the same moments.
/// Packets are counted over all engines, in the order of execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Moment {
    /// Before a packet: its number, from 1 on.
    Packet(u64),
    /// In a packet, before its draw.
    Draw(u64),
    /// Before an instruction.
    Instruction {
        /// The thread.
        thread: ThreadId,
        /// Number of instructions that the thread has executed.
        executed: u64,
    },
    /// After the last packet, or after a fault.
    End,
}

impl Moment {
    /// Number of the packet; `None` at the end.
    pub fn packet(self) -> Option<u64> {
        match self {
            Moment::Packet(packet) | Moment::Draw(packet) => Some(packet),
            Moment::Instruction { thread, .. } => Some(thread.packet),
            Moment::End => None,
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Packet(packet) => write!(f, "packet {packet}"),
            Moment::Draw(packet) => write!(f, "draw of packet {packet}"),
            Moment::Instruction { thread, executed } => {
                write!(f, "{thread}, after {executed} instructions")
            }
            Moment::End => f.write_str("end"),
        }
    }
}
