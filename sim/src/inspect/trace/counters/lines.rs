//! Cache lines that a packet touches.

use super::count::{Count, Value};
use crate::machine::events::Event;
use crate::mem::lines::LINE;
use crate::mem::{Client, PAGE};
use std::collections::{BTreeMap, HashMap};

/// The lines of a packet, by direction and client. Lines are counted at their physical addresses:
/// two graphics addresses of the same memory are one line.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<(bool, Client), Set>);

/// A set of lines: for each page, a bit for each of its 64 lines.
#[derive(Debug, Default)]
struct Set(HashMap<u64, u64>);

impl Set {
    fn add(&mut self, physical: u64, bytes: u32) {
        let last = physical + u64::from(bytes).saturating_sub(1);
        for line in physical / LINE..=last / LINE {
            *self.0.entry(line * LINE / PAGE).or_default() |= 1 << (line % (PAGE / LINE));
        }
    }

    fn count(&self) -> u64 {
        self.0.values().map(|lines| u64::from(lines.count_ones())).sum()
    }
}

impl Count for Lines {
    fn event(&mut self, event: &Event<'_>) {
        let Event::Accesses { list, .. } = event else { return };
        for access in *list {
            let set = self.0.entry((access.write, access.client)).or_default();
            set.add(access.physical, access.bytes);
        }
    }

    fn take(&mut self) -> Vec<Value> {
        let sets = std::mem::take(&mut self.0).into_iter();
        let value = |((write, client), set): ((bool, Client), Set)| Value {
            track: if write { "cache lines written" } else { "cache lines read" },
            series: client.name(),
            value: set.count() as f64,
        };
        sets.map(value).collect()
    }
}
