//! Random accesses, flushes and invalidations.

use super::super::sanitizer::Sanitize;
use super::*;
use crate::mem::coherence::Cache;
use crate::mem::{AccessLog, AddressSpace, Memory, Vm};
use genxml_testkit::Random;
use std::collections::BTreeSet;

/// Pages that are accessed.
const PAGES: u64 = 3;
const CLIENTS: [Client; 6] = [
    Client::RenderTarget,
    Client::Depth,
    Client::Data,
    Client::Sampler,
    Client::Vertices,
    Client::CommandStreamer,
];
const CACHES: [Cache; 5] =
    [Cache::RenderTarget, Cache::Depth, Cache::Data, Cache::Texture, Cache::Vertex];

/// A sanitizer and the log that it gets accesses from.
struct Run {
    flush: Flush,
    log: AccessLog,
    memory: Memory,
    space: AddressSpace,
    /// Whether the table of lines leaves out accesses.
    leaves_out: bool,
    /// Number of accesses that were reported.
    reported: usize,
}

impl Run {
    fn new(leaves_out: bool) -> Run {
        let mut memory = Memory::with_limit(1 << 20);
        let mut space = AddressSpace::new(&mut memory).unwrap();
        let frames = memory.alloc(PAGES).unwrap();
        space.map(&mut memory, 0, frames, true).unwrap();
        let (flush, log) = (Flush::default(), AccessLog::default());
        Run { flush, log, memory, space, leaves_out, reported: 0 }
    }

    fn event(&mut self, event: &Event<'_>, packet: u64) {
        self.log.report_joined();
        self.drain(packet);
        let now = Now { engine: EngineId::Render, clock: 0 };
        self.flush.event(now, event);
        if self.leaves_out {
            self.flush.update_lines(self.log.lines());
        }
    }

    /// Passes accesses to the sanitizer.
    fn drain(&mut self, packet: u64) {
        let mut list = Vec::new();
        if self.log.drain(&mut list) {
            self.reported += list.len();
            let at = Place::new(EngineId::Render, "packet", packet, 0);
            let now = Now { engine: EngineId::Render, clock: 0 };
            let event = Event::Accesses { at, thread: None, channel: None, list: &list };
            self.flush.event(now, &event);
        }
    }

    fn access(&mut self, client: Client, write: bool, address: u64, bytes: usize, packet: u64) {
        let mut vm = Vm::logged(&mut self.memory, &self.log, &mut self.space);
        let acting = vm.client(client);
        match write {
            true => vm.write(address, &vec![1; bytes]).unwrap(),
            false => vm.read(address, &mut vec![0; bytes]).unwrap(),
        }
        drop(acting);
        self.drain(packet);
    }

    fn findings(&self) -> BTreeSet<(&'static str, u64, String, u64, String)> {
        let all = self.flush.findings.iter();
        all.map(|Finding { rule, first, second, .. }| {
            let action = |side: &Side| side.action.clone();
            (rule.id, first.at.address, action(first), second.at.address, action(second))
        })
        .collect()
    }
}

/// Oracle: the sanitizer that gets all accesses. The table of lines must not hide a finding.
#[test]
fn accesses_that_are_left_out_have_no_finding() {
    let (mut findings, mut clean, mut all, mut reported) = (0, 0, 0, 0);
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let mut steps = Vec::new();
        let mut runs = [false, true].map(Run::new);
        // Few lines and rare flushes make findings; many lines make clean runs.
        let lines = random.pick(&[2, 8, 64 * PAGES]);
        let often = random.pick(&[3, 10, 40]);
        // A short run that fails is easy to read.
        let (packets, per_packet) = if seed < 1000 { (3, 5) } else { (11, 30) };
        for run in &mut runs {
            run.event(&Event::Submission { address: 0, ring: false }, 0);
        }
        for packet in 1..=packets {
            for _ in 0..random.below(per_packet) {
                let (client, write) = (random.pick(&CLIENTS), random.one_in(3));
                let line = 64 * PAGES - 1 - random.below(lines);
                let (from, length) = (random.below(64), random.pick(&[4, 16, 64, 200]));
                let address = if random.one_in(2) { 64 * line } else { 64 * line + from };
                let bytes = length.min(4096 * PAGES - address) as usize;
                let verb = if write { "writes" } else { "reads" };
                steps.push(format!("{packet}: {client:?} {verb} {bytes} bytes at {address:#x}"));
                for run in &mut runs {
                    run.access(client, write, address, bytes, packet);
                }
                if random.one_in(often) {
                    let (cache, invalidates) = (random.pick(&CACHES), random.one_in(2));
                    let verb = if invalidates { "invalidated" } else { "flushed" };
                    steps.push(format!("{packet}: {cache:?} is {verb}"));
                    for run in &mut runs {
                        run.event(&Event::Flush { cache, invalidates }, packet);
                    }
                }
            }
            // The rest of the work is run by somebody else.
            let ends = random.one_in(20);
            for run in &mut runs {
                match ends {
                    true => run.log.end_lines(),
                    false => run.log.report_joined(),
                }
                run.drain(packet);
            }
        }
        let [complete, less] = runs;
        let (found, expected) = (less.findings(), complete.findings());
        let differences: Vec<_> = found.symmetric_difference(&expected).collect();
        assert!(differences.is_empty(), "seed {seed}: {differences:#?}\n{}", steps.join("\n"));
        findings += complete.flush.findings.len();
        clean += usize::from(complete.flush.findings.is_empty());
        all += complete.reported;
        reported += less.reported;
    }
    assert!(findings > 1000 && clean > 20, "{findings} findings, {clean} runs without");
    assert!(reported * 2 < all * 3, "{reported} of {all} accesses were reported");
}
