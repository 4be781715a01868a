//! What is known of the only message of a kernel ([`super::constant`]).

use super::regions::GRF_BYTES;
use genxml_eu::instruction::SharedFunction;

/// Dwords of the general registers.
pub(super) const DWORDS: usize = GRF_BYTES / 4;

/// What is known of a dword of the general registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dword {
    /// It can differ from thread to thread.
    Varies,
    /// It is the same in all threads.
    Same,
    /// It is the same in all threads in which this channel is enabled.
    Channel(u8),
}

/// The last instruction of a kernel, which sends its only message, and what is known of the
/// registers before this instruction.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The shared function that receives the message.
    pub function: SharedFunction,
    /// The descriptor of the message.
    pub descriptor: u32,
    /// Number of channels of the send; the first one is channel 0.
    pub channels: u8,
    /// Instructions of the kernel.
    pub instructions: u32,
    /// First dword of the payload.
    pub(super) payload: usize,
    pub(super) dwords: Box<[Dword; DWORDS]>,
}

impl Ending {
    /// True if dwords `range` of the payload are the same in all threads. Dword n may depend on
    /// channel n - `range.start` being enabled, if this channel is less than `enabled`.
    pub fn is_constant(&self, range: std::ops::Range<usize>, enabled: u8) -> bool {
        let first = range.start;
        range.into_iter().all(|at| match self.dwords.get(self.payload + at) {
            Some(Dword::Same) => true,
            Some(Dword::Channel(channel)) => {
                usize::from(*channel) == at - first && *channel < enabled
            }
            _ => false,
        })
    }
}
