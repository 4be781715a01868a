//! How full the execution units are: enabled channels and threads.

use super::count::{Count, Value};
use crate::machine::events::Event;
use crate::machine::view::View;
use genxml::eu::Generation;
use genxml::eu::decode::{decode_on, length};
use std::collections::HashMap;

/// Channels of the instructions of a packet's threads.
#[derive(Debug)]
pub(super) struct Occupancy {
    generation: Generation,
    /// Enabled channels of the executed instructions.
    enabled: u64,
    /// All channels of the executed instructions.
    all: u64,
    threads: u64,
    /// Number of channels of the instruction at an address. Kernels may change between packets.
    sizes: HashMap<u64, u32>,
}

impl Occupancy {
    pub(super) fn new(generation: Generation) -> Occupancy {
        Occupancy { generation, enabled: 0, all: 0, threads: 0, sizes: HashMap::new() }
    }
}

impl Count for Occupancy {
    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::Thread { .. } => self.threads += 1,
            Event::Instruction { kernel, ip, mask, view, .. } => {
                let address = kernel + u64::from(ip);
                let read = || size(view, self.generation, address);
                let size = *self.sizes.entry(address).or_insert_with(read);
                self.all += u64::from(size);
                self.enabled += u64::from(mask.count_ones().min(size));
            }
            _ => {}
        }
    }

    fn take(&mut self) -> Vec<Value> {
        let next = Occupancy::new(self.generation);
        let Occupancy { enabled, all, threads, .. } = std::mem::replace(self, next);
        let mut values = Vec::new();
        if all > 0 {
            let value = 100.0 * enabled as f64 / all as f64;
            values.push(Value { track: "EU occupancy", series: "channels in %", value });
        }
        if threads > 0 {
            values.push(Value { track: "EU threads", series: "started", value: threads as f64 });
        }
        values
    }
}

/// The number of channels of the instruction at an address; 0 if it cannot be read.
fn size(view: &dyn View, generation: Generation, address: u64) -> u32 {
    let mut dwords = [0u32; 4];
    let mut read = view.read(address, bytemuck::must_cast_slice_mut(&mut dwords[..2]));
    let count = length(dwords[0]) as usize / 4;
    if read && count == 4 {
        read = view.read(address, bytemuck::must_cast_slice_mut(&mut dwords));
    }
    let instruction = decode_on(generation, &dwords[..count.min(4)]);
    instruction.map_or(0, |instruction| if read { instruction.exec_size.into() } else { 0 })
}
