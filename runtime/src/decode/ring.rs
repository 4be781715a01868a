//! Rings: commands from the head to the tail, across the end of the ring.

use super::record::Kind;
use super::walk::{Next, Walker};
use crate::memory::{Memory, VA_MASK};
use crate::submission::Ring;
use genxml_core::opcodes::unknown_length;
use std::io;

impl<'a> Walker<'a> {
    /// Decodes `length` bytes of a ring from address `start` on, at most one round. A batch that
    /// the ring starts returns to the ring.
    pub fn ring(
        &mut self,
        ring: Ring,
        start: u64,
        length: u64,
        code: &'a dyn Memory,
    ) -> io::Result<()> {
        let first = ring.start & VA_MASK;
        let end = first.saturating_add(ring.size);
        if !(first..end).contains(&start) {
            let text =
                format_args!("the head {start:#x} is not in the ring from {first:#x} to {end:#x}");
            return self.note(0, start, text);
        }
        let mut record = self.follower.out.new_record(Kind::Packet, 0, start, "");
        let mut joined = Vec::new();
        // After one round the same commands repeat.
        let (mut at, mut left) = (start, length.min(ring.size));
        while left >= 4 {
            if self.follower.out.is_exhausted(0, at)? {
                break;
            }
            let mut header = [0; 4];
            if code.bytes(at, &mut header) < 4 {
                self.note(
                    0,
                    at,
                    format_args!("no memory here, in the ring at +{:#x}", at - first),
                )?;
                break;
            }
            let here = end - at;
            let length = 4 * self.length_of(u32::from_le_bytes(header)).min(left / 4);
            let tail = code.tail(at);
            let tail = if length > here {
                // The packet continues at the start of the ring.
                joined.resize(length as usize, 0);
                let (before, after) = joined.split_at_mut(here as usize);
                let there = code.bytes(at, before) + code.bytes(first, after);
                &joined[..there]
            } else {
                &tail[..tail.len().min(here as usize)]
            };
            let (dwords, next) = self.packet(&mut record, at, tail, left / 4, 0, code)?;
            if let Next::Jump(target, code) = next {
                self.level(target, None, 1, code)?;
            }
            left = left.saturating_sub(4 * dwords);
            at += 4 * dwords;
            if at >= end && left > 0 {
                at = first + (at - end) % ring.size.max(1);
                self.note(0, at, format_args!("the ring goes on at its start"))?;
            }
        }
        self.follower.out.reuse(record);
        Ok(())
    }

    /// Length in dwords of a packet by its header.
    fn length_of(&self, header: u32) -> u64 {
        match self.follower.tables.find(self.engine, header) {
            Some(id) => self.follower.tables.plan(id).length.dwords(header),
            None => unknown_length(self.engine.set(), header) as u64,
        }
    }
}
