//! The steps of a run: draws, dispatches and blits.

use super::{blits, dispatches};
use crate::inspect::dispatch::{BindingTable, ImageWrite, surface_index};
use crate::inspect::history::View;
use crate::inspect::image::{self, Image};
use crate::inspect::summary::Summary;
use crate::machine::drawing::Counters;
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::machine::view::View as Memory;
use genxml::engine::EngineId;
use std::collections::BTreeMap;

/// Maximum number of columns and of rows of the small picture of a step.
pub const THUMBNAIL: u32 = 96;
/// Maximum bytes of all small pictures of a run. Later steps have no picture.
const MOST_THUMBNAILS: usize = 128 << 20;

/// What a step does.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A 3DPRIMITIVE.
    Draw {
        /// Number of the draw, from 1 on.
        number: u64,
        /// Its state.
        summary: Box<Summary>,
        /// The counters before it.
        before: Counters,
        /// The counts of the draw; `None` if a fault ended it.
        done: Option<Counters>,
    },
    /// A media or GPGPU packet that starts threads.
    Dispatch {
        /// Address of the kernel's first instruction.
        kernel: u64,
    },
    /// A blit.
    Blit {
        /// Name of the format of the pixels.
        format: &'static str,
        /// Graphics address of the destination.
        destination: u64,
        /// Left, top, right, bottom; right and bottom are exclusive.
        rectangle: [i64; 4],
    },
}

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Number of the step, from 1 on.
    pub number: usize,
    /// Number of the submission, from 1 on.
    pub submission: u64,
    /// The caller's number of the submission.
    pub label: Option<u64>,
    /// The packet.
    pub at: Place,
    /// What it does.
    pub kind: Kind,
    /// EU threads that ended in the step.
    pub threads: u64,
    /// EU instructions that these threads executed.
    pub instructions: u64,
    /// Pixels that the step wrote to targets.
    pub pixels: u64,
    /// The packet of the step, and those with state, that differ from the newest ones of the same
    /// names at the previous step; in order of their names.
    pub changes: Vec<(&'static str, Vec<u32>)>,
    /// After a draw, the first render target; after a blit, its destination; after a dispatch, the
    /// first image that its threads wrote.
    pub thumbnail: Option<Image>,
    /// True if the step ran to its end.
    pub is_complete: bool,
}

/// What the picture of the newest blit or dispatch shows.
#[derive(Clone, Copy, Debug)]
enum Subject {
    /// The destination.
    Blit(View),
    /// The first image that threads write: the table, and after the first write the index of the
    /// image and how it is written.
    Dispatch(BindingTable, Option<(u8, ImageWrite)>),
}

/// A step whose picture is made when the next packet of the same engine and context begins.
#[derive(Clone, Copy, Debug)]
struct Pending {
    number: usize,
    stream: (EngineId, u32),
    subject: Subject,
}

/// Observes a run, and lists its steps.
#[derive(Debug, Default)]
pub struct Steps {
    list: Vec<Step>,
    submissions: u64,
    label: Option<u64>,
    state: BTreeMap<&'static str, Vec<u32>>,
    changed: BTreeMap<&'static str, Vec<u32>>,
    /// The newest packet, and its dwords.
    newest: Option<Place>,
    dwords: Vec<u32>,
    /// Its engine and context.
    stream: Option<(EngineId, u32)>,
    /// The binding table of the threads that it starts.
    table: Option<BindingTable>,
    pending: Option<Pending>,
    thumbnails: usize,
    count: usize,
    draws: u64,
}

impl Steps {
    /// The number that the caller gives to the following submissions.
    pub fn label(&mut self, label: u64) {
        self.label = Some(label);
    }

    /// Number of submissions so far.
    pub fn submissions(&self) -> u64 {
        self.submissions
    }

    /// The steps so far that no longer change, which the observer then forgets. The newest step
    /// changes until the next one begins or the run ends: `all` is true at the end.
    pub fn take(&mut self, all: bool) -> Vec<Step> {
        let keep = usize::from(!all).min(self.list.len());
        let rest = self.list.split_off(self.list.len() - keep);
        std::mem::replace(&mut self.list, rest)
    }

    fn push(&mut self, at: Place, kind: Kind) {
        self.count += 1;
        let number = self.count;
        let mut changes = std::mem::take(&mut self.changed);
        changes.insert(at.packet, self.dwords.clone());
        let changes = changes
            .into_iter()
            .filter(|(name, dwords)| self.state.get(name) != Some(dwords))
            .collect::<Vec<_>>();
        for (name, dwords) in &changes {
            self.state.insert(name, dwords.clone());
        }
        self.list.push(Step {
            number,
            submission: self.submissions,
            label: self.label,
            at,
            kind,
            threads: 0,
            instructions: 0,
            pixels: 0,
            changes,
            thumbnail: None,
            is_complete: false,
        });
    }

    fn end(&mut self, drawing: &Drawing<'_>) {
        let Some(step) = self.list.last_mut() else { return };
        let Kind::Draw { summary, before, done, .. } = &mut step.kind else { return };
        let counts = drawing.counters().since(before);
        (step.pixels, *done, step.is_complete) = (counts.pixels, Some(counts), true);
        if self.thumbnails < MOST_THUMBNAILS {
            let image =
                summary.targets.iter().find_map(|target| drawing.color_within(target, THUMBNAIL));
            self.thumbnails += image.as_ref().map_or(0, |image| image.rgba.len());
            step.thumbnail = image;
        }
    }

    /// The newest step gets a picture later.
    fn wait_for(&mut self, subject: Subject) {
        let stream = self.stream.filter(|_| self.thumbnails < MOST_THUMBNAILS);
        self.pending = stream.map(|stream| Pending { number: self.count, stream, subject });
    }

    /// A packet is about to be executed: makes the picture of the step before it.
    fn picture(&mut self, stream: (EngineId, u32), memory: &dyn Memory) {
        let Some(pending) = self.pending.take_if(|pending| pending.stream == stream) else {
            return;
        };
        let view = match pending.subject {
            Subject::Blit(view) => Some(view),
            Subject::Dispatch(table, index) => index.and_then(|(index, how)| {
                dispatches::image_of(index, how.surface(table.surface(index, memory)?))
            }),
        };
        let read = |address: u64, out: &mut [u8]| memory.read(address, out);
        let image = view.and_then(|View { surface, level, .. }| {
            image::color(&surface, &level, THUMBNAIL, &read)
        });
        let step = self.list.iter_mut().find(|step| step.number == pending.number);
        if let Some(step) = step {
            self.thumbnails += image.as_ref().map_or(0, |image| image.rgba.len());
            step.thumbnail = image;
        }
    }
}

/// True for packets whose newest one is part of the state of a draw or dispatch.
fn is_state(packet: &str) -> bool {
    packet.contains("STATE") || packet.starts_with("MEDIA_") || packet == "PIPELINE_SELECT"
}

impl Observer for Steps {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Packet { at, dwords, context, view } => {
                self.picture((at.engine, *context), *view);
                self.newest = Some(*at);
                self.stream = Some((at.engine, *context));
                self.table = BindingTable::of(at.packet, dwords, *view);
                // The engine goes on after a blit only if there was no fault.
                let last = self.list.last_mut().filter(|step| step.at.engine == at.engine);
                if let Some(step) = last
                    && matches!(step.kind, Kind::Blit { .. })
                {
                    step.is_complete = true;
                }
                self.dwords.clear();
                self.dwords.extend_from_slice(dwords);
                if is_state(at.packet) {
                    self.changed.insert(at.packet, dwords.to_vec());
                }
            }
            Event::Draw(drawing) => {
                self.draws += 1;
                let kind = Kind::Draw {
                    number: self.draws,
                    summary: Box::new(drawing.summary()),
                    before: drawing.counters(),
                    done: None,
                };
                self.push(drawing.at, kind);
            }
            Event::DrawEnd(drawing) => self.end(drawing),
            Event::Dispatch { kernel } => {
                let Some(at) = self.newest else { return };
                self.push(at, Kind::Dispatch { kernel: *kernel });
                if let Some(table) = self.table {
                    self.wait_for(Subject::Dispatch(table, None));
                }
            }
            Event::Message { function, descriptor, .. } => {
                if let Some(Pending { subject: Subject::Dispatch(_, first @ None), .. }) =
                    &mut self.pending
                    && let Some(how) = ImageWrite::of(*function, *descriptor)
                {
                    *first = surface_index(*function, *descriptor).map(|index| (index, how));
                }
            }
            Event::DispatchEnd { .. } => {
                if let Some(step) = self.list.last_mut() {
                    step.is_complete = true;
                }
            }
            Event::Blit(blit) => {
                let Some(at) = self.newest else { return };
                let rectangle = blit.rectangle;
                let kind = Kind::Blit {
                    format: blit.format.name().unwrap_or("?"),
                    destination: blit.destination.base,
                    rectangle,
                };
                self.push(at, kind);
                if let Some(step) = self.list.last_mut() {
                    let [left, top, right, bottom] = rectangle;
                    let area = (right - left).max(0).saturating_mul((bottom - top).max(0));
                    step.pixels = area.unsigned_abs();
                }
                if let Some(view) = blits::destination(blit) {
                    self.wait_for(Subject::Blit(view));
                }
            }
            Event::ThreadEnd { instructions, .. } => {
                if let Some(step) = self.list.last_mut() {
                    step.threads += 1;
                    step.instructions += instructions;
                }
            }
            _ => {}
        }
    }
}
