//! Real caches, as the oracle of the sanitizer `flush`: each holds bytes until it is flushed or
//! invalidated, and a read returns what its cache or memory holds. Bytes have versions instead of
//! values. A read of a byte whose version is not the newest one is stale.
//!
//! The sanitizer compares points in time. This file moves data, so that both can only agree if both
//! are right. What they share are the facts: which bit acts on which cache (digests/gen8_facts
//! 2.2, Mesa iris_pipe_control.c).

use genxml::engine::EngineId;
use genxml::gen8::mi::PipeControl;
use genxml_core::Fixed;
use genxml_sim::mem::coherence::Cache;
use genxml_sim::mem::{Access, Client};
use genxml_sim::{Event, Now, Observer, Place};
use std::collections::HashMap;

/// Versions of the bytes of a line; 0 before the first write.
type Bytes = [u32; 64];

/// A line in a cache.
#[derive(Clone, Debug)]
struct Held {
    bytes: Bytes,
    /// Bytes that the cache has, and those that memory does not have yet.
    valid: u64,
    dirty: u64,
}

/// A cache: its name is the client that uses it. The blitter and others do not keep lines that they
/// only read.
#[derive(Debug, Default)]
struct Level {
    lines: HashMap<u64, Held>,
}

/// The machine.
#[derive(Debug, Default)]
pub struct Oracle {
    memory: HashMap<u64, Bytes>,
    newest: HashMap<u64, Bytes>,
    caches: HashMap<(EngineId, Client), Level>,
    version: u32,
    /// The packets and instructions that read a stale byte, each with the client of the first such
    /// read.
    pub stale: Vec<(Place, Client)>,
}

/// Where the accesses of a client go; `None` for memory.
fn cache(client: Client) -> Option<Client> {
    (client != Client::CommandStreamer).then_some(client)
}

impl Oracle {
    fn write_back(&mut self, engine: EngineId, client: Client, drop: bool) {
        let Some(level) = self.caches.get_mut(&(engine, client)) else { return };
        for (line, held) in &mut level.lines {
            if held.dirty != 0 {
                let memory = self.memory.entry(*line).or_insert([0; 64]);
                for n in (0..64).filter(|n| held.dirty >> n & 1 == 1) {
                    memory[n] = held.bytes[n];
                }
                held.dirty = 0;
            }
        }
        if drop {
            level.lines.clear();
        }
    }

    /// Drops clean bytes only: an invalidation does not lose data of a cache that also writes.
    fn drop_lines(&mut self, engine: EngineId, client: Client) {
        if let Some(level) = self.caches.get_mut(&(engine, client)) {
            level.lines.retain(|_, held| {
                held.valid = held.dirty;
                held.dirty != 0
            });
        }
    }

    fn access(&mut self, place: &Place, access: &Access) {
        let Access { physical, bytes, write, client, .. } = *access;
        let engine = place.engine;
        let mut at = physical;
        let end = physical + u64::from(bytes);
        while at < end {
            let (line, first) = (at / 64, (at % 64) as usize);
            let last = (end - line * 64).min(64) as usize;
            match write {
                true => self.write(engine, client, line, first..last),
                false if self.is_stale(engine, client, line, first..last) => {
                    if self.stale.iter().all(|(known, _)| known != place) {
                        self.stale.push((*place, client));
                    }
                }
                false => {}
            }
            at = (line + 1) * 64;
        }
    }

    fn write(
        &mut self,
        engine: EngineId,
        client: Client,
        line: u64,
        range: std::ops::Range<usize>,
    ) {
        self.version += 1;
        let version = self.version;
        self.newest.entry(line).or_insert([0; 64])[range.clone()].fill(version);
        let target = match cache(client) {
            None => self.memory.entry(line).or_insert([0; 64]),
            Some(client) => {
                let level = self.caches.entry((engine, client)).or_default();
                let new = Held { bytes: [0; 64], valid: 0, dirty: 0 };
                let held = level.lines.entry(line).or_insert(new);
                for n in range.clone() {
                    held.valid |= 1 << n;
                    held.dirty |= 1 << n;
                }
                &mut held.bytes
            }
        };
        target[range].fill(version);
    }

    fn is_stale(
        &mut self,
        engine: EngineId,
        client: Client,
        line: u64,
        range: std::ops::Range<usize>,
    ) -> bool {
        let memory = self.memory.get(&line).copied().unwrap_or([0; 64]);
        let newest = self.newest.get(&line).copied().unwrap_or([0; 64]);
        let Some(client) = cache(client) else { return memory[range.clone()] != newest[range] };
        let level = self.caches.entry((engine, client)).or_default();
        let new = Held { bytes: memory, valid: u64::MAX, dirty: 0 };
        let held = level.lines.entry(line).or_insert(new);
        for n in (0..64).filter(|n| held.valid >> n & 1 == 0) {
            held.bytes[n] = memory[n];
        }
        held.valid = u64::MAX;
        let stale = held.bytes[range.clone()] != newest[range];
        // These read memory anew for each packet.
        if matches!(client, Client::Blitter | Client::VideoEnhance | Client::StreamOut) {
            held.valid = held.dirty;
        }
        stale
    }
}

impl Observer for Oracle {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        let engine = now.engine;
        match event {
            Event::Accesses { at, list, .. } => {
                for access in *list {
                    self.access(at, access);
                }
            }
            Event::Packet { at, dwords, .. }
                if at.packet == PipeControl::NAME
                    && PipeControl::read_lossy(dwords).command_streamer_stall_enable =>
            {
                self.write_back(engine, Client::StreamOut, false);
            }
            Event::Flush { cache, .. } => match cache {
                Cache::RenderTarget => self.write_back(engine, Client::RenderTarget, true),
                Cache::Depth => self.write_back(engine, Client::Depth, true),
                Cache::Data => self.write_back(engine, Client::Data, true),
                Cache::Texture => self.drop_lines(engine, Client::Sampler),
                Cache::Constant => self.drop_lines(engine, Client::Constants),
                Cache::Vertex => {
                    self.write_back(engine, Client::StreamOut, false);
                    self.drop_lines(engine, Client::Vertices);
                }
                Cache::State => self.drop_lines(engine, Client::State),
                Cache::Instruction => self.drop_lines(engine, Client::Instructions),
                Cache::Video => self.drop_lines(engine, Client::Video),
                Cache::Pipeline => {
                    for client in
                        [Client::StreamOut, Client::Blitter, Client::Video, Client::VideoEnhance]
                    {
                        self.write_back(engine, client, false);
                    }
                }
                Cache::Translation => {}
            },
            // The kernel's commands around a batch (Linux i915 gen8_engine_cs.c).
            Event::Submission { .. } => {
                for client in Client::ALL {
                    self.drop_lines(engine, client);
                }
            }
            Event::SubmissionEnd => {
                for client in Client::ALL {
                    self.write_back(engine, client, false);
                }
            }
            _ => {}
        }
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}
