//! The differences of two batches.

use super::align::pairs;
use super::packet::{PacketDiff, packets};
use crate::engine::EngineId;
use crate::gen8::{BlitterPacket, RenderPacket, VideoEnhancePacket, VideoPacket};
use genxml_core::read::{EnginePacket, Packets};
use genxml_core::reflect::Container;
use std::collections::HashMap;
use std::fmt;

/// The differences of two batches.
#[derive(Clone, PartialEq, Debug)]
pub struct BatchDiff<'a> {
    /// The packets, in the order of both batches.
    pub steps: Vec<Step<'a>>,
}

/// A packet of one batch, or a pair of packets.
#[derive(Clone, PartialEq, Debug)]
pub enum Step<'a> {
    /// The same packet in both batches.
    Same(Place<'a>, Place<'a>),
    /// A packet of the first batch, and the packet of the same type in the second batch that
    /// replaces it.
    Changed(Place<'a>, Place<'a>, PacketDiff),
    /// A packet that only the first batch has.
    Removed(Place<'a>),
    /// A packet that only the second batch has.
    Added(Place<'a>),
}

/// A packet of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<'a> {
    /// Number of dwords from the start of the batch to the packet.
    pub at: usize,
    /// Dwords of the packet.
    pub dwords: &'a [u32],
    /// Description of the packet's type; `None` for dwords that are not a packet.
    pub container: Option<&'static Container>,
}

impl Place<'_> {
    /// Name of the packet.
    pub fn name(&self) -> &'static str {
        self.container.map_or("(no packet)", |container| container.name)
    }
}

impl BatchDiff<'_> {
    /// True if the batches hold the same packets.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Same(..)))
    }
}

/// Prints only the differences: `-` removed, `+` added, `~` changed, with offsets in bytes.
impl fmt::Display for BatchDiff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            match step {
                Step::Same(..) => {}
                Step::Changed(old, new, diff) => {
                    write!(f, "~ +{:#x} +{:#x} {diff}", 4 * old.at, 4 * new.at)?
                }
                Step::Removed(old) => writeln!(f, "- +{:#x} {}", 4 * old.at, old.name())?,
                Step::Added(new) => writeln!(f, "+ +{:#x} {}", 4 * new.at, new.name())?,
            }
        }
        Ok(())
    }
}

/// Compares two batches of `engine` packet by packet. Equal packets are paired first, as many as
/// possible in order; between them, packets of the same type. The others were removed or added.
/// Jumps are not followed.
///
/// ```
/// use genxml::diff::{Step, batches};
/// use genxml::engine::EngineId;
/// use genxml::gen8::mi::{MiNoop, PipeControl};
///
/// let flush = |dc_flush_enable| PipeControl { dc_flush_enable, ..Default::default() }.pack();
/// let before = [&flush(false)[..], &MiNoop::default().pack()].concat();
/// let after = [&MiNoop::default().pack()[..], &flush(true), &MiNoop::default().pack()].concat();
/// let diff = batches(EngineId::Render, &before, &after);
/// assert_eq!(diff.to_string(), "\
/// + +0x0 MI_NOOP
/// ~ +0x0 +0x4 PIPE_CONTROL
///   DC Flush Enable: false -> true (dw1 5)
/// ");
/// assert!(matches!(diff.steps[2], Step::Same(..)));
/// ```
pub fn batches<'a>(engine: EngineId, a: &'a [u32], b: &'a [u32]) -> BatchDiff<'a> {
    match engine {
        EngineId::Render => of::<RenderPacket>(a, b),
        EngineId::Blitter => of::<BlitterPacket>(a, b),
        EngineId::Video => of::<VideoPacket>(a, b),
        EngineId::VideoEnhance => of::<VideoEnhancePacket>(a, b),
    }
}

fn of<'a, P: EnginePacket<'a>>(a: &'a [u32], b: &'a [u32]) -> BatchDiff<'a> {
    let (old, new) = (places::<P>(a), places::<P>(b));
    // Equal packets get equal numbers in `contents`, packets of the same type in `kinds`.
    let (mut contents, mut kinds) = (HashMap::new(), HashMap::new());
    let mut numbers = |places: &[Place<'a>]| -> (Vec<u32>, Vec<u32>) {
        let numbers = places.iter().map(|place| {
            let (all, known) = (contents.len() as u32, kinds.len() as u32);
            let kind = match place.container {
                Some(container) => (container.name, 0),
                None => ("", place.dwords.first().copied().unwrap_or(0)),
            };
            (*contents.entry(place.dwords).or_insert(all), *kinds.entry(kind).or_insert(known))
        });
        numbers.unzip()
    };
    let (old_contents, old_kinds) = numbers(&old);
    let (new_contents, new_kinds) = numbers(&new);
    let mut steps = Vec::new();
    for pair in pairs((&old_contents, &new_contents), (&old_kinds, &new_kinds)) {
        match (pair.0.map(|at| old[at]), pair.1.map(|at| new[at])) {
            (Some(old), Some(new)) if old.dwords == new.dwords => steps.push(Step::Same(old, new)),
            (Some(old), Some(new)) => match old.container {
                Some(container) => {
                    steps.push(Step::Changed(old, new, packets(container, old.dwords, new.dwords)));
                }
                None => steps.extend([Step::Removed(old), Step::Added(new)]),
            },
            (old, new) => {
                steps.extend(old.map(Step::Removed).into_iter().chain(new.map(Step::Added)))
            }
        }
    }
    BatchDiff { steps }
}

fn places<'a, P: EnginePacket<'a>>(dwords: &'a [u32]) -> Vec<Place<'a>> {
    let place = |(at, length): (usize, usize), known: bool| {
        let body = &dwords[at..at + length];
        let found = P::lookup(body[0]).filter(|_| known);
        Place { at, dwords: body, container: found.map(|found| P::instructions()[found.position]) }
    };
    let items = Packets::<P>::new(dwords).map(|item| match item {
        Ok(item) => place((item.at, item.dwords.len()), true),
        Err(error) => place((error.at, error.skipped), false),
    });
    items.collect()
}
