//! What every sanitizer does.

use super::finding::Finding;
use crate::machine::events::{Event, Now};
use crate::mem::Lines;

/// A sanitizer.
pub trait Sanitize: Send {
    /// Called for every event, in order.
    fn event(&mut self, now: Now, event: &Event<'_>);

    /// The findings so far, in the order in which they were found first.
    fn findings(&self) -> &[Finding];

    /// Whether the sanitizer needs [`Event::Accesses`].
    fn wants_accesses(&self) -> bool {
        false
    }

    /// Called as [`Observer::update_lines`](crate::Observer::update_lines) if no other observer
    /// needs [`Event::Accesses`].
    fn update_lines(&mut self, lines: &Lines) {
        lines.enable(false);
    }

    /// Whether the sanitizer needs [`Event::Instruction`].
    fn wants_instructions(&self) -> bool {
        false
    }
}
