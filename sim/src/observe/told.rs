//! A listener behind a pointer.

use super::{Event, Observer};
use genxml::engine::EngineId;

/// When and where something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Now {
    /// The engine.
    pub engine: EngineId,
    /// The model's clock, in units of work of about a nanosecond ([`crate::watchdog`]).
    pub clock: u64,
}

/// An [`Observer`] that calls a closure chosen at run time. The model is compiled for it once, in
/// this crate, whoever listens.
pub struct Told<'a> {
    listener: &'a mut dyn FnMut(Now, &Event<'_>),
    instructions: bool,
    now: Now,
}

impl<'a> Told<'a> {
    /// All events but [`Event::Instruction`].
    pub fn new(listener: &'a mut dyn FnMut(Now, &Event<'_>)) -> Self {
        Told { listener, instructions: false, now: Now { engine: EngineId::Render, clock: 0 } }
    }

    /// All events.
    pub fn with_instructions(listener: &'a mut dyn FnMut(Now, &Event<'_>)) -> Self {
        Told { instructions: true, ..Told::new(listener) }
    }
}

impl Observer for Told<'_> {
    #[inline]
    fn now(&mut self, engine: EngineId, clock: u64) {
        self.now = Now { engine, clock };
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        if self.instructions || !matches!(event, Event::Instruction { .. }) {
            (self.listener)(self.now, event);
        }
    }
}
