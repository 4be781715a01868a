//! Control flow: every channel has an instruction pointer of its own (eu.md 4.3).
//!
//! Channels at the thread's current instruction are *active*. The others *wait* at the address
//! where they become active again. The thread continues with the next instruction; if no channel is
//! active there, it continues at the target that the instruction names. Channels outside the
//! execution size of a branch do not take it. In single program flow all channels go where channel
//! 0 goes.

use super::uop::NOWHERE;

/// The instruction pointers of the channels of a thread.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Index of the current uop.
    pub ip: u32,
    /// Mask of the channels that are at the current uop.
    pub active: u32,
    /// Mask of the channels that wait at another uop.
    pub(super) waiting: u32,
    /// For each waiting channel, the index of the uop where it waits.
    pub(super) places: [u32; 32],
    /// Bit n is set if a channel may wait at an index whose remainder modulo 64 is n. With it,
    /// nearly all instructions skip the search for waiting channels.
    pub(super) awaited: u64,
    /// Waiting channels that left a loop by `break`. They leave the loop at the `while` where they
    /// wait.
    pub(super) broken: u32,
}

impl Flow {
    /// A flow with all channels of `enabled` at the first instruction.
    pub fn new(enabled: u32) -> Flow {
        Flow { ip: 0, active: enabled, waiting: 0, places: [NOWHERE; 32], awaited: 0, broken: 0 }
    }

    /// Resets the flow for a new thread. It then works like a [`new`](Self::new) one.
    pub fn restart(&mut self, enabled: u32) {
        // The positions of channels that do not wait have no meaning.
        (self.ip, self.active) = (0, enabled);
        (self.waiting, self.awaited, self.broken) = (0, 0, 0);
    }

    /// Moves all active channels to uop `index`. Channels that wait there become active.
    #[inline(always)]
    pub fn advance(&mut self, index: u32) {
        self.ip = index;
        if self.awaited >> (index & 63) & 1 == 1 {
            self.join();
        }
    }

    /// As [`advance`](Self::advance), for the target of a jump.
    #[inline(always)]
    pub fn arrive(&mut self, index: u32) {
        self.advance(index);
    }

    fn join(&mut self) {
        let here = (0..32).fold(0, |bits, c| bits | u32::from(self.places[c] == self.ip) << c)
            & self.waiting;
        self.active |= here;
        self.waiting &= !here;
        self.awaited = self.waiting().fold(0, |bits, (_, index)| bits | 1 << (index & 63));
    }

    /// Sends active channels to wait at uop `index`.
    pub(super) fn leave(&mut self, channels: u32, index: u32) {
        if channels == 0 {
            return;
        }
        self.active &= !channels;
        self.waiting |= channels;
        self.awaited |= 1 << (index & 63);
        for (c, place) in self.places.iter_mut().enumerate() {
            if channels >> c & 1 == 1 {
                *place = index;
            }
        }
    }

    /// Waiting channels with the index of the uop where they wait.
    pub fn waiting(&self) -> impl Iterator<Item = (u8, u32)> + '_ {
        (0u8..32).filter(|c| self.waiting >> c & 1 == 1).map(|c| (c, self.places[usize::from(c)]))
    }

    /// Continues at `next` if a channel is active there, else at `other`.
    pub(super) fn proceed(&mut self, next: u32, other: u32) {
        self.advance(next);
        if self.active == 0 {
            self.advance(other);
        }
    }
}
