//! Counts of events by engine, packet, kernel, message and coding standard.

use super::words::words;
use crate::machine::coded::Codec;
use crate::machine::events::{Event, Now};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;
use genxml::eu::message;
use std::collections::{BTreeMap, HashMap};

/// Tables of counts. Pass every event to it.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    engines: BTreeMap<EngineId, EngineCounts>,
    packets: BTreeMap<(EngineId, &'static str), PacketCounts>,
    kernels: BTreeMap<u64, KernelCounts>,
    messages: HashMap<(Generation, SharedFunction, u32), u64>,
    codecs: BTreeMap<Codec, CodecCounts>,
    /// For each engine, the packet that is being executed, and the clock at its start.
    running: BTreeMap<EngineId, (&'static str, u64)>,
}

/// Counts of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EngineCounts {
    /// Number of submitted batches and rings that the engine started to execute.
    pub submissions: u64,
    /// Number of batches of both levels.
    pub batches: u64,
    /// Number of packets.
    pub packets: u64,
    /// Media and GPGPU packets that started threads.
    pub dispatches: u64,
    /// Units of the model's clock that the packets of the engine took.
    pub clock: u64,
}

/// Counts of the packets of one name on an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketCounts {
    /// Number of packets.
    pub count: u64,
    /// Units of the model's clock that these packets took.
    pub clock: u64,
}

/// Counts of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KernelCounts {
    /// Media and GPGPU packets that started threads with the kernel.
    pub dispatches: u64,
    /// Threads that started with the kernel.
    pub threads: u64,
    /// Instructions of threads that ended.
    pub instructions: u64,
    /// Messages that threads of the kernel sent.
    pub messages: u64,
}

/// Counts of the pictures that the video engine decoded by one coding standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CodecCounts {
    /// Frames and fields; for JPEG, scans.
    pub pictures: u64,
    /// Slices.
    pub slices: u64,
    /// Bytes of coded data.
    pub bytes: u64,
    /// Decoded macroblocks; for JPEG, minimum coded units.
    pub macroblocks: u64,
    /// Concealed macroblocks.
    pub concealed: u64,
}

impl Tally {
    /// Counts an event.
    pub fn event(&mut self, now: Now, event: &Event<'_>) {
        let engine = now.engine;
        match *event {
            Event::Packet { at, .. } => {
                self.end_packet(now);
                self.running.insert(engine, (at.packet, now.clock));
                self.engine(engine).packets += 1;
                self.packets.entry((engine, at.packet)).or_default().count += 1;
            }
            Event::Submission { .. } => self.engine(engine).submissions += 1,
            Event::SubmissionEnd => self.end_packet(now),
            Event::Batch { .. } => self.engine(engine).batches += 1,
            Event::Dispatch { kernel } => {
                self.engine(engine).dispatches += 1;
                self.kernel(kernel).dispatches += 1;
            }
            Event::Thread { kernel, .. } => self.kernel(kernel).threads += 1,
            Event::ThreadEnd { kernel, instructions, .. } => {
                self.kernel(kernel).instructions += instructions
            }
            Event::Message { kernel, generation, function, descriptor, .. } => {
                self.kernel(kernel).messages += 1;
                *self.messages.entry((generation, function, descriptor)).or_default() += 1;
            }
            Event::Picture(picture) => {
                let counts = self.codecs.entry(picture.codec).or_default();
                counts.pictures += 1;
                counts.slices += u64::from(picture.slices);
                counts.bytes += picture.bytes;
                counts.macroblocks += u64::from(picture.report.macroblocks);
                counts.concealed += u64::from(picture.report.concealed);
            }
            _ => {}
        }
    }

    fn engine(&mut self, engine: EngineId) -> &mut EngineCounts {
        self.engines.entry(engine).or_default()
    }

    fn kernel(&mut self, address: u64) -> &mut KernelCounts {
        self.kernels.entry(address).or_default()
    }

    /// Adds the time of the packet that has been running on the engine.
    fn end_packet(&mut self, now: Now) {
        if let Some((packet, since)) = self.running.remove(&now.engine) {
            let took = now.clock.saturating_sub(since);
            self.packets.entry((now.engine, packet)).or_default().clock += took;
            self.engine(now.engine).clock += took;
        }
    }

    /// The engines that had counted events, with their counts.
    pub fn engines(&self) -> impl Iterator<Item = (EngineId, EngineCounts)> + '_ {
        self.engines.iter().map(|(&engine, &counts)| (engine, counts))
    }

    /// The coding standards of decoded pictures, with their counts.
    pub fn codecs(&self) -> impl Iterator<Item = (Codec, CodecCounts)> + '_ {
        self.codecs.iter().map(|(&codec, &counts)| (codec, counts))
    }

    /// Packets by engine and name, sorted by the time that they took; the longest time comes first.
    pub fn packets(&self) -> Vec<(EngineId, &'static str, PacketCounts)> {
        let mut rows: Vec<_> =
            self.packets.iter().map(|(&(engine, name), &counts)| (engine, name, counts)).collect();
        rows.sort_by_key(|(_, _, counts)| std::cmp::Reverse((counts.clock, counts.count)));
        rows
    }

    /// Kernels with their addresses, sorted by instructions; the kernel with the most comes first.
    pub fn kernels(&self) -> Vec<(u64, KernelCounts)> {
        let mut rows: Vec<_> =
            self.kernels.iter().map(|(&address, &counts)| (address, counts)).collect();
        rows.sort_by_key(|(_, counts)| std::cmp::Reverse((counts.instructions, counts.threads)));
        rows
    }

    /// Messages by receiver and description (`?` without one), with their count; the most
    /// frequent come first.
    pub fn messages(&self) -> Vec<(&'static str, String, u64)> {
        let mut rows: BTreeMap<(&'static str, String), u64> = BTreeMap::new();
        // Messages that differ only in details, such as the surface, have the same description.
        for (&(generation, function, descriptor), &count) in &self.messages {
            let words = words(generation, function, descriptor);
            *rows.entry((message::function_name(function), words)).or_default() += count;
        }
        let mut rows: Vec<_> =
            rows.into_iter().map(|((to, words), count)| (to, words, count)).collect();
        rows.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        rows
    }
}
