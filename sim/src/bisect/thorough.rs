//! Finds the first packet that writes other values than its partner in the other run, also if a
//! later packet of the same submission overwrites them.
//!
//! Packets that write memory are paired in order: draws of the same kind, other packets of the same
//! name. The bytes that a pair writes are compared by digests, with their positions in the driver's
//! objects. Targets of draws can have another layout or position in the two runs, so a draw whose
//! digests differ is checked again: then the values of its targets are compared.

use crate::gpu::Gpu;
use crate::inspect::bisect::writes::{Run, Writer, Writes};
use crate::inspect::bisect::{Work, differ};
use crate::pixel_history::Stop;
use crate::runs::{Input, Pass};

/// Maximum number of draws whose targets are compared in one run of both inputs.
const SUSPECTS: usize = 16;
/// Bytes of a value.
const DWORD: u64 = 4;

/// Two packets that write other values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketParted {
    /// The packets.
    pub writers: [Writer; 2],
    /// Number of bytes that each packet writes, without those of render targets, depth and stencil
    /// buffers if the packets are draws.
    pub bytes: [u64; 2],
    /// The first value that differs. `None` if the packets differ only in the number of bytes or in
    /// their positions.
    pub value: Option<Value>,
}

/// A dword that two packets write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// Its graphics address in each run.
    pub addresses: [u64; 2],
    /// The values. Bytes that are not in the same run of written bytes are 0.
    pub values: [u32; 2],
}

/// The indices of the draws of a pair, and whether their targets differ before the draws.
pub(super) type FirstDraw = ((usize, usize), bool);

/// Returns the first of several pairs of draws whose targets differ.
pub(super) type Confirm<'a> = dyn Fn(&[(usize, usize)]) -> Option<FirstDraw> + 'a;

/// The first difference.
#[derive(Debug)]
pub(super) enum Found {
    /// A pair of draws.
    Draw(FirstDraw),
    /// A pair of other packets, or of draws that differ in other memory than their targets. The
    /// number is that of the draws of the good run before it.
    Packet(Box<PacketParted>, usize),
}

/// What the runs have written.
#[derive(Debug)]
pub(super) struct Written {
    /// The draws of each run.
    pub works: [Vec<Work>; 2],
    /// What stopped each run before its end.
    pub stops: [Option<Stop>; 2],
    writers: [Vec<Writer>; 2],
}

impl Written {
    /// Runs both inputs.
    pub fn of(inputs: [&Input; 2], set_up: &dyn Fn(&mut Gpu)) -> Written {
        let mut written = Written {
            works: [Vec::new(), Vec::new()],
            stops: [None, None],
            writers: [Vec::new(), Vec::new()],
        };
        for (side, input) in inputs.into_iter().enumerate() {
            let mut writes = Writes::new(None);
            written.stops[side] = input.run(set_up, &mut writes);
            (written.writers[side], written.works[side]) = writes.into_parts();
        }
        written
    }

    /// The indices of the packets that are partners, in order.
    fn partners(&self) -> Vec<(usize, usize)> {
        let kinds = [0, 1].map(|side| -> Vec<String> {
            let kind = |writer: &Writer| match writer.draw.and_then(|at| self.works[side].get(at)) {
                Some(work) => work.kind(),
                None => format!("{} {}", writer.at.engine.name(), writer.at.packet),
            };
            self.writers[side].iter().map(kind).collect()
        });
        let pairs = differ::pair_kinds([&kinds[0], &kinds[1]]);
        pairs.into_iter().filter_map(|(good, bad)| Some((good?, bad?))).collect()
    }

    /// The first difference; `None` if all partners write the same values. `first_draw` returns the
    /// first pair of draws whose targets differ.
    pub fn first(
        &self,
        inputs: [&Input; 2],
        set_up: &dyn Fn(&mut Gpu),
        first_draw: &Confirm<'_>,
    ) -> Option<Found> {
        let mut suspects = Vec::new();
        for (good, bad) in self.partners() {
            let (a, b) = (&self.writers[0][good], &self.writers[1][bad]);
            let others = !a.others.is_like(&b.others);
            let draws = a.draw.zip(b.draw);
            if let Some(draws) = draws
                && a.targets.absolute != b.targets.absolute
            {
                suspects.push(draws);
            }
            let differs = others || draws.is_none() && !a.targets.is_like(&b.targets);
            if (differs || suspects.len() == SUSPECTS) && !suspects.is_empty() {
                if let Some(found) = first_draw(&suspects) {
                    return Some(Found::Draw(found));
                }
                suspects.clear();
            }
            if differs {
                let mut before = self.writers[0][..good].iter().filter_map(|writer| writer.draw);
                let draws = before.next_back().map_or(0, |draw| draw + 1);
                let parted = self.packet(inputs, set_up, [good, bad]);
                return Some(Found::Packet(Box::new(parted), draws));
            }
        }
        match suspects.is_empty() {
            true => None,
            false => first_draw(&suspects).map(Found::Draw),
        }
    }

    /// Runs both inputs up to the packets, and compares the bytes that they write.
    fn packet(
        &self,
        inputs: [&Input; 2],
        set_up: &dyn Fn(&mut Gpu),
        indices: [usize; 2],
    ) -> PacketParted {
        let kept = [0, 1].map(|side| {
            let mut writes = Writes::new(Some(indices[side]));
            inputs[side].run(set_up, &mut writes);
            let [mut targets, mut others] = writes.into_kept();
            // A packet that is not a draw has no targets.
            if self.writers[side][indices[side]].draw.is_none() {
                others.append(&mut targets);
                others.sort_by_key(|(address, _)| *address);
            }
            others
        });
        let count = |runs: &[Run]| runs.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        PacketParted {
            writers: [0, 1].map(|side| self.writers[side][indices[side]].clone()),
            bytes: [count(&kept[0]), count(&kept[1])],
            value: value([&kept[0], &kept[1]]),
        }
    }
}

/// The first value that differs in written bytes, which are paired in the order of their addresses.
fn value(runs: [&[Run]; 2]) -> Option<Value> {
    fn bytes(runs: &[Run]) -> impl Iterator<Item = ((usize, usize), u8)> {
        let runs = runs.iter().enumerate();
        runs.flat_map(|(run, (_, bytes))| {
            bytes.iter().enumerate().map(move |(at, byte)| ((run, at), *byte))
        })
    }
    let [good, bad] = runs;
    let mut both = bytes(good).zip(bytes(bad));
    let ((a, _), (b, _)) = both.find(|((_, a), (_, b))| a != b)?;
    let dword = |side: usize, (run, at): (usize, usize)| {
        let (start, bytes) = &runs[side][run];
        let address = (start + at as u64) / DWORD * DWORD;
        let mut value = [0; DWORD as usize];
        for (offset, byte) in value.iter_mut().enumerate() {
            let index = (address + offset as u64).checked_sub(*start);
            let stored = index.and_then(|index| bytes.get(usize::try_from(index).ok()?));
            *byte = stored.copied().unwrap_or(0);
        }
        (address, u32::from_le_bytes(value))
    };
    let (a, b) = (dword(0, a), dword(1, b));
    Some(Value { addresses: [a.0, b.0], values: [a.1, b.1] })
}

impl Pass for Writes {
    fn label(&mut self, label: u64) -> bool {
        Writes::label(self, label);
        true
    }

    fn is_done(&mut self) -> bool {
        Writes::is_done(self)
    }
}
