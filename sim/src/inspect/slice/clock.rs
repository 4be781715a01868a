//! Counts submissions, packets and draws of a run.

use crate::machine::events::Event;

/// Counts what has been executed, in the same way in each run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Clock {
    /// Submissions that have started.
    pub submissions: u64,
    /// Packets that have ended. The packet that is being executed has the next number.
    pub packets: u64,
    /// Draws that have started.
    pub draws: u64,
}

impl Clock {
    /// Counts an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Memory { after: Some(_), .. } => self.packets += 1,
            Event::Draw(_) => self.draws += 1,
            _ => {}
        }
    }
}
