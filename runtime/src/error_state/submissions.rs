//! The work of the engines of an error state, as submissions.

use super::spelling;
use super::{Buffer, BufferKind, Engine, ErrorState};
use crate::decode::{Tables, register_field};
use crate::engine::EngineId;
use crate::memory::{Memory, VA_MASK};
use crate::submission::{Each, Ring, Submission};
use genxml_core::bits;
use std::io;

/// Largest number of packets of a ring that are searched for jumps: a ring has at most 2 MiB.
const MAX_PACKETS: usize = 1 << 19;

/// The ring of an engine, and the range from the running request to the end of the commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RingAt {
    pub ring: Ring,
    /// Offset in bytes of the first command of the request that was running.
    pub from: u64,
    /// Bytes from there to the end of the commands in the ring.
    pub length: u64,
}

impl ErrorState {
    /// Passes the work of each engine to `each`. First comes its ring, from the request that was
    /// running to the tail; this range calls the batch. Then come the batches that the ring does
    /// not call.
    ///
    /// # Errors
    /// Errors returned by `each`.
    pub fn submissions(&self, each: &mut Each<'_>) -> io::Result<()> {
        let mut number = 0;
        for (index, engine) in self.engines.iter().enumerate() {
            let Some(id) = engine.id() else { continue };
            let view = self.memory(&engine.name);
            let mut submit = |name: &str, address, length, global, ring| {
                let submission = Submission {
                    name,
                    number,
                    context: index as u32,
                    engine: id,
                    memory: &view,
                    address,
                    length,
                    global,
                    ring,
                };
                number += 1;
                each(&submission)
            };
            let ring = self.ring(engine);
            let mut jumps = Vec::new();
            if let Some(RingAt { ring, from, length }) = ring
                && length > 0
            {
                let name = format!("{} ring", engine.name);
                // Execution starts at the request.
                submit(&name, ring.start + from, length, true, Some(Ring { head: from, ..ring }))?;
                jumps = self.jumps(engine, &ring, from, length);
            }
            let batches = self.buffers_of(&engine.name).filter(|buffer| is_batch(&buffer.kind));
            for batch in batches {
                let reached = jumps.iter().any(|jump| (batch.address..batch.end()).contains(jump));
                if !reached && !batch.data.is_empty() {
                    let name = format!("{} {}", engine.name, batch.kind.name());
                    submit(&name, batch.address & VA_MASK, 0, batch.kind.is_global(), None)?;
                }
            }
        }
        Ok(())
    }

    /// The ring of an engine, and the request in it that was running.
    pub(crate) fn ring(&self, engine: &Engine) -> Option<RingAt> {
        let buffer =
            self.buffers_of(&engine.name).find(|buffer| buffer.kind == BufferKind::Ring)?;
        let size = buffer.data.len() as u64;
        if size < 8 {
            return None;
        }
        let field = |register: &str, field| {
            engine.value(register).and_then(|value| field_of(register, field, value))
        };
        let head = field("HEAD", "HEAD_ADDR").unwrap_or(0) % size;
        let tail = field("TAIL", "TAIL_ADDR").unwrap_or(0) % size;
        let ring = Ring { start: buffer.address & VA_MASK, size, head, tail };
        let to_tail = |from: u64| (tail + size - from) % size;
        // The driver may report the offset at which the request starts.
        let said = engine
            .register("HEAD")
            .and_then(|head| head.more.first().copied())
            .filter(|from| *from < size);
        let from = match said {
            // Use the reported start, unless it is after the head.
            Some(from) if to_tail(from) >= to_tail(head) => from & !3,
            _ => self
                .last_jump(engine, buffer, head)
                .filter(|from| to_tail(*from) >= to_tail(head))
                .unwrap_or(head),
        };
        Some(RingAt { ring, from, length: to_tail(from) })
    }

    /// Searches a ring backwards from its head, at most 4 KiB, for a jump into a batch of the
    /// engine. Returns the jump's offset. The engine was executing that batch.
    fn last_jump(&self, engine: &Engine, ring: &Buffer, head: u64) -> Option<u64> {
        let id = engine.id()?;
        let size = ring.data.len() as u64;
        let mut dwords = Vec::new();
        (1..=size.min(4096) / 4).map(|back| (head + size - 4 * back) % size).find(|&at| {
            dwords.clear();
            for index in 0..3 {
                (0, &ring.data[..]).dwords((at + 4 * index) % size, 1, &mut dwords);
            }
            let target = target_of(id, &dwords);
            target.is_some_and(|target| {
                let mut batches =
                    self.buffers_of(&engine.name).filter(|buffer| buffer.kind == BufferKind::Batch);
                batches.any(|batch| (batch.address..batch.end()).contains(&target))
            })
        })
    }

    /// The targets of the jumps in `length` bytes of a ring, from offset `from` on.
    fn jumps(&self, engine: &Engine, ring: &Ring, from: u64, length: u64) -> Vec<u64> {
        let view = self.memory(&engine.name);
        let (Some(id), Some(memory)) = (engine.id(), view.global()) else { return Vec::new() };
        let mut jumps = Vec::new();
        let mut done = 0;
        for _ in 0..MAX_PACKETS {
            if done >= length {
                break;
            }
            let mut dwords = Vec::with_capacity(3);
            for index in 0..3 {
                let at = ring.start + (from + done + 4 * index) % ring.size;
                memory.dwords(at, 1, &mut dwords);
            }
            let Some(&header) = dwords.first() else { break };
            jumps.extend(target_of(id, &dwords));
            let container = Tables::gen8().instruction(id, header);
            done += 4 * container.map_or(1, |container| container.packet_dwords(header) as u64);
        }
        jumps
    }
}

fn is_batch(kind: &BufferKind) -> bool {
    matches!(kind, BufferKind::Batch | BufferKind::WorkaroundBatch)
}

/// The target of an MI_BATCH_BUFFER_START; `None` if the dwords start another command.
fn target_of(engine: EngineId, dwords: &[u32]) -> Option<u64> {
    let container = Tables::gen8().instruction(engine, *dwords.first()?)?;
    if container.name != "MI_BATCH_BUFFER_START" || dwords.len() < 3 {
        return None;
    }
    let field = container.fields.iter().find(|field| field.name == "Batch Buffer Start Address")?;
    Some((bits::get(dwords, field.start, field.end) << (field.start % 32)) & VA_MASK)
}

/// Decodes one field of a per-engine register. `value` is the register's content. `register` is the
/// kernel's name, without `RING_`.
pub(crate) fn field_of(register: &str, field: &str, value: u64) -> Option<u64> {
    register_field(Tables::gen8().container(&format!("RING_{register}"))?, field, value)
}

/// The present name of an engine.
pub(crate) fn engine_name(engine: EngineId, instance: u32) -> String {
    spelling::name_of(engine, instance)
}
