//! Finds where the threads of one dispatch write. This is the observer of the first of two runs;
//! [`DispatchLook`](super::DispatchLook) is that of the second one.

use super::ranges::Ranges;
use crate::inspect::dispatch::{BindingTable, ImageWrite, surface_index};
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::machine::view::View;
use crate::surface::Surface;
use genxml::engine::EngineId;
use std::collections::BTreeMap;

/// Memory that threads wrote through one surface, or without a surface.
#[derive(Clone, Debug)]
pub struct Written {
    /// Binding table index; `None` for memory that is not accessed through a surface.
    pub binding: Option<u8>,
    /// The surface; `None` also if its state cannot be read.
    pub surface: Option<Surface>,
    /// Graphics addresses of the bytes.
    pub ranges: Ranges,
}

/// What an event means for a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moment {
    /// Nothing.
    Elsewhere,
    /// A packet is about to be executed, and it can be the one of the dispatch.
    Before,
    /// Threads of the dispatch run.
    Inside,
    /// Another packet of the same engine and context is about to be executed.
    After,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Waiting,
    Running,
    Ended,
    Over,
}

/// Follows the events of a run up to the end of one dispatch. Media threads can outlive their
/// packet. Then the dispatch ends when the next step of the engine begins.
#[derive(Debug)]
pub(super) struct Progress {
    wanted: u64,
    dispatches: u64,
    phase: Phase,
    /// Engine and context of the newest packet; after the dispatch has begun,
    /// those of the dispatch.
    stream: Option<(EngineId, u32)>,
}

impl Progress {
    /// Waits for a dispatch, by its number from 1 on.
    pub(super) fn new(wanted: u64) -> Progress {
        Progress { wanted, dispatches: 0, phase: Phase::Waiting, stream: None }
    }

    /// True if the dispatch has ended.
    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// What the event means.
    pub(super) fn moment(&mut self, now: Now, event: &Event<'_>) -> Moment {
        let is_own = self.stream.is_some_and(|(engine, _)| engine == now.engine);
        match event {
            Event::Packet { at, context, .. } => return self.packet(at, *context),
            Event::Dispatch { .. } => {
                self.dispatches += 1;
                if self.dispatches == self.wanted {
                    self.phase = Phase::Running;
                } else if self.phase == Phase::Running && is_own {
                    self.phase = Phase::Over;
                }
            }
            Event::DispatchEnd { .. } if self.phase == Phase::Running && is_own => {
                self.phase = Phase::Ended;
            }
            Event::Draw(_) | Event::Blit(_) if self.phase == Phase::Running && is_own => {
                self.phase = Phase::Over;
            }
            _ => {}
        }
        match self.phase {
            Phase::Running if is_own => Moment::Inside,
            _ => Moment::Elsewhere,
        }
    }

    fn packet(&mut self, at: &Place, context: u32) -> Moment {
        let stream = Some((at.engine, context));
        match self.phase {
            Phase::Waiting => {
                self.stream = stream;
                match self.dispatches + 1 == self.wanted {
                    true => Moment::Before,
                    false => Moment::Elsewhere,
                }
            }
            Phase::Running if stream == self.stream => Moment::After,
            Phase::Ended if stream == self.stream => {
                self.phase = Phase::Over;
                Moment::After
            }
            _ => Moment::Elsewhere,
        }
    }
}

/// Finds where the threads of a dispatch of a run write, by its number from 1 on.
#[derive(Debug)]
pub struct Writes {
    progress: Progress,
    table: Option<BindingTable>,
    /// The surface of the newest message, and how the message writes an image.
    index: Option<u8>,
    how: Option<ImageWrite>,
    /// How each surface was written first.
    hows: BTreeMap<u8, ImageWrite>,
    ranges: BTreeMap<Option<u8>, Ranges>,
    surfaces: BTreeMap<u8, Surface>,
}

impl Writes {
    /// The writes of a dispatch.
    pub fn new(dispatch: u64) -> Writes {
        Writes {
            progress: Progress::new(dispatch),
            table: None,
            index: None,
            how: None,
            hows: BTreeMap::new(),
            ranges: BTreeMap::new(),
            surfaces: BTreeMap::new(),
        }
    }

    /// True if the dispatch has ended. The rest of the run is not needed.
    pub fn is_done(&self) -> bool {
        self.progress.is_over()
    }

    /// What was written, in the order of binding table indices; memory without a surface comes
    /// first.
    pub fn into_written(self) -> Vec<Written> {
        let Writes { ranges, surfaces, .. } = self;
        let written = |(binding, ranges): (Option<u8>, Ranges)| {
            let surface = binding.and_then(|index| surfaces.get(&index).copied());
            Written { binding, surface, ranges }
        };
        ranges.into_iter().map(written).collect()
    }

    /// Resolves the surfaces that were written.
    fn resolve(&mut self, view: &dyn View) {
        let Some(table) = self.table else { return };
        for index in self.ranges.keys().flatten() {
            if let Some(surface) = table.surface(*index, view) {
                let how = self.hows.get(index).copied().unwrap_or(ImageWrite::Elements);
                self.surfaces.insert(*index, how.surface(surface));
            }
        }
    }
}

impl Observer for Writes {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        match (self.progress.moment(now, event), event) {
            (Moment::Before, Event::Packet { at, dwords, view, .. }) => {
                self.table = BindingTable::of(at.packet, dwords, *view);
            }
            (Moment::After, Event::Packet { view, .. }) => self.resolve(*view),
            (Moment::Inside, Event::Message { function, descriptor, .. }) => {
                self.index = surface_index(*function, *descriptor);
                self.how = ImageWrite::of(*function, *descriptor);
            }
            (Moment::Inside, Event::Accesses { thread: Some(_), channel: None, list, .. }) => {
                let mut writes = list.iter().filter(|access| access.write).peekable();
                if writes.peek().is_some() {
                    if let (Some(index), Some(how)) = (self.index, self.how) {
                        self.hows.entry(index).or_insert(how);
                    }
                    let ranges = self.ranges.entry(self.index).or_default();
                    for access in writes {
                        ranges.add(access.address, access.address + u64::from(access.bytes));
                    }
                }
            }
            _ => {}
        }
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}
