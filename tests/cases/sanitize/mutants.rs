//! Captures of drivers without one of the flushes or invalidations that their batches have.
//!
//! By default, every 16th mutant with one bit less runs, and every eighth of the random ones.
//! `GENXML_MUTATIONS=all cargo test -p genxml-cases --test all sanitize::mutants` runs all.
//!
//! Oracle: [`super::oracle`], which says whether a read returns a stale byte then. The captures as
//! they are have neither findings nor stale reads.
//!
//! The sanitizer runs a second time without the oracle, as in `genx run`: then the model leaves out
//! accesses. The findings must be the same.

use super::oracle::Oracle;
use genxml::capture::{Capture, Event as Recorded, Exec, ObjectId};
use genxml::eu::Generation;
use genxml::gen8::VideoPacket;
use genxml::gen8::mi::{MiFlushDw, PipeControl};
use genxml_core::Fixed;
use genxml_sim::inspect::sanitize::{Finding, Sanitizers, Side};
use genxml_sim::mem::{Client, Frames, Memory};
use genxml_sim::{ContextId, Event, Gpu, Now, Observer, Place};
use genxml_testkit::{Random, corpus};
use std::collections::{BTreeMap, BTreeSet};

/// A bit of PIPE_CONTROL: its name, whether it is set, and what clears it.
type Bit = (&'static str, fn(&PipeControl) -> bool, fn(&mut PipeControl));

macro_rules! bits {
    ($($field:ident)*) => {
        [$((stringify!($field), |packet| packet.$field, |packet| packet.$field = false)),*]
    };
}

/// The bits that flush or invalidate.
const BITS: [Bit; 9] = bits! {
    depth_cache_flush_enable
    render_target_cache_flush_enable
    dc_flush_enable
    pipe_control_flush_enable
    vf_cache_invalidation_enable
    texture_cache_invalidation_enable
    constant_cache_invalidation_enable
    state_cache_invalidation_enable
    instruction_cache_invalidate_enable
};

/// A packet that flushes, in a submission.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Found {
    exec: u64,
    address: u64,
    dwords: Vec<u32>,
}

/// Other packets at the places of some packets of a submission.
struct Patch<'f> {
    exec: u64,
    packets: Vec<(&'f Found, Vec<u32>)>,
}

/// Runs a capture. With a patch, only the submission with the patch is observed: at its end all
/// caches are clean. `each` gets the number of each submission.
fn run(
    capture: &Capture,
    patch: Option<&Patch<'_>>,
    each: &mut dyn FnMut(u64),
    observer: &mut dyn Observer,
) {
    let mut gpu = Gpu::with_memory(Memory::with_limit(4 << 30));
    let mut contexts: BTreeMap<u32, ContextId> = BTreeMap::new();
    let mut objects: BTreeMap<ObjectId, Frames> = BTreeMap::new();
    let mut mapped: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for event in capture.events() {
        match event {
            Recorded::Exec(exec) => {
                let context = *contexts
                    .entry(exec.context)
                    .or_insert_with(|| gpu.create_context().expect("page tables"));
                for (address, pages) in mapped.remove(&exec.context).unwrap_or_default() {
                    gpu.unmap(context, address, pages);
                }
                let now = mapped.entry(exec.context).or_default();
                for object in &exec.objects {
                    let frames = *objects
                        .entry(object.object)
                        .or_insert_with(|| gpu.alloc(object.size).expect("memory"));
                    for write in &object.writes {
                        capture.apply(write, gpu.memory.bytes_mut(frames));
                    }
                    gpu.map(context, object.address, frames).expect("page tables");
                    now.push((object.address, frames.count));
                }
                each(exec.seq);
                submit(&mut gpu, context, exec, patch, observer);
            }
            Recorded::Free(object) => {
                // The pages stay mapped until the next submission; nothing accesses them.
                objects.remove(object);
            }
            _ => {}
        }
    }
}

fn submit(
    gpu: &mut Gpu,
    context: ContextId,
    exec: &Exec,
    patch: Option<&Patch<'_>>,
    observer: &mut dyn Observer,
) {
    let own = patch.filter(|patch| patch.exec == exec.seq);
    let put = |gpu: &mut Gpu, found: &Found, dwords: &[u32]| {
        let bytes = bytemuck::cast_slice(dwords);
        gpu.vm(context).write(found.address, bytes).expect("the batch is mapped");
    };
    for (found, dwords) in own.iter().flat_map(|patch| &patch.packets) {
        put(gpu, found, dwords);
    }
    let (address, length) = (exec.batch_address, exec.batch_length);
    let ran = match patch.is_some() && own.is_none() {
        true => gpu.submit(context, exec.engine, address, length),
        false => gpu.submit_observed(context, exec.engine, address, length, observer),
    };
    ran.unwrap_or_else(|fault| panic!("exec {}: {fault}", exec.seq));
    for (found, _) in own.iter().flat_map(|patch| &patch.packets) {
        put(gpu, found, &found.dwords);
    }
}

/// The packets of a capture that flush.
fn packets(capture: &Capture) -> BTreeSet<Found> {
    let exec = std::cell::Cell::new(0);
    let mut found = BTreeSet::new();
    let mut observer = |_: Now, event: &Event<'_>| {
        if let Event::Packet { at, dwords, .. } = event
            && [PipeControl::NAME, MiFlushDw::NAME].contains(&at.packet)
        {
            let dwords = dwords.to_vec();
            found.insert(Found { exec: exec.get(), address: at.address, dwords });
        }
    };
    run(capture, None, &mut |seq| exec.set(seq), &mut observer);
    found
}

/// The bits of a packet that flush or invalidate.
fn bits(found: &Found) -> Vec<&'static str> {
    if let Some(packet) = flush_dw(found) {
        return match packet.video_pipeline_cache_invalidate {
            true => vec![VIDEO],
            false => Vec::new(),
        };
    }
    let packet = PipeControl::read_lossy(&found.dwords);
    BITS.into_iter().filter(|(_, is_set, _)| is_set(&packet)).map(|(name, ..)| name).collect()
}

/// The packet without these bits.
fn without(found: &Found, bits: &[&str]) -> Vec<u32> {
    let length = found.dwords.len();
    if let Some(packet) = flush_dw(found) {
        let mut dwords = vec![0; length];
        let on = packet.video_pipeline_cache_invalidate && !bits.contains(&VIDEO);
        let mutant = MiFlushDw { video_pipeline_cache_invalidate: on, ..packet };
        mutant.pack_into(&mut dwords).expect("as long as before");
        return dwords;
    }
    let mut packet = PipeControl::read_lossy(&found.dwords);
    for (_, _, clear) in BITS.into_iter().filter(|(name, ..)| bits.contains(name)) {
        clear(&mut packet);
    }
    // The first dword has the length: a shorter packet leaves out immediate data.
    let mut dwords = packet.pack()[..length].to_vec();
    dwords[0] = found.dwords[0];
    dwords
}

/// The bit of MI_FLUSH_DW.
const VIDEO: &str = "video_pipeline_cache_invalidate";

fn flush_dw(found: &Found) -> Option<MiFlushDw<'_>> {
    match VideoPacket::parse(&found.dwords) {
        Ok((VideoPacket::MiFlushDw(packet), _)) => Some(packet.unpack_lossy()),
        _ => None,
    }
}

/// Runs the sanitizer and the oracle.
struct Both {
    sanitizers: Sanitizers,
    oracle: Oracle,
}

impl Both {
    fn new() -> Both {
        let sanitizers = Sanitizers::new(["flush"], Generation::Gen8).expect("a sanitizer");
        Both { sanitizers, oracle: Oracle::default() }
    }
}

impl Observer for Both {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.sanitizers.event(now, event);
        self.oracle.event(now, event);
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}

/// The rule of each finding, and its sides. Joined writes to render targets name one of the draw's
/// kernels.
fn sides(sanitizers: &Sanitizers) -> BTreeSet<(&'static str, String, String)> {
    let side = |side: &Side| match side.action.contains("render target") {
        true => format!("{} {:?}", side.action, Place { thread: None, ..side.at }),
        false => format!("{} {:?}", side.action, side.at),
    };
    sanitizers
        .findings()
        .map(|(_, Finding { rule, first, second, .. })| (rule.id, side(first), side(second)))
        .collect()
}

/// Number of mutants, and what was found in them.
#[derive(Debug, Default)]
struct Counts {
    mutants: usize,
    /// Mutants in which a read is stale, and those of them with a finding.
    observable: usize,
    reported: usize,
    /// Mutants with findings in which no read is stale.
    others: usize,
    /// Packets and instructions that read a stale byte, and those of them that are a side of a
    /// finding.
    readers: usize,
    named: usize,
}

impl Counts {
    /// Runs a mutant.
    fn run(&mut self, capture: &Capture, patch: &Patch<'_>) {
        let mut both = Both::new();
        run(capture, Some(patch), &mut |_| {}, &mut both);
        let mut alone = Both::new().sanitizers;
        run(capture, Some(patch), &mut |_| {}, &mut alone);
        let (less, complete) = (sides(&alone), sides(&both.sanitizers));
        assert_eq!(
            less,
            complete,
            "{} exec {}: findings with fewer accesses",
            capture.name(),
            patch.exec
        );
        let findings: Vec<_> = both.sanitizers.findings().map(|(_, finding)| finding).collect();
        let stale = &both.oracle.stale;
        self.mutants += 1;
        self.observable += usize::from(!stale.is_empty());
        self.reported += usize::from(!stale.is_empty() && !findings.is_empty());
        self.others += usize::from(stale.is_empty() && !findings.is_empty());
        self.readers += stale.len();
        let is_named = |(place, client): &&(Place, Client)| {
            findings.iter().any(|Finding { second, .. }| match client {
                // The sanitizer also names the instruction.
                Client::RenderTarget => Place { thread: None, ..second.at } == *place,
                _ => second.at == *place,
            })
        };
        self.named += stale.iter().filter(is_named).count();
        if stale.is_empty() != findings.is_empty() {
            let rules: BTreeSet<_> = findings.iter().map(|finding| finding.rule.id).collect();
            eprintln!("{} exec {}: stale {stale:?}, {rules:?}", capture.name(), patch.exec);
        }
    }
}

#[test]
fn a_missing_flush_is_reported_where_a_stale_byte_is_read() {
    let (mut single, mut kinds, mut mixed) =
        (Counts::default(), Counts::default(), Counts::default());
    let mut random = Random::new(7);
    let all = std::env::var("GENXML_MUTATIONS").is_ok_and(|which| which == "all");
    let mut seen = 0;
    for path in corpus::captures() {
        let capture = Capture::open(&path).unwrap();
        // This capture takes ten times as long as all others.
        if capture.device().generation != 8 || capture.name() == "pg_xfb" {
            continue;
        }
        let mut both = Both::new();
        run(&capture, None, &mut |_| {}, &mut both);
        let name = capture.name();
        assert_eq!(both.oracle.stale, [], "{name}: stale reads as recorded");
        let findings: Vec<_> = both.sanitizers.findings().map(|(_, f)| f.to_string()).collect();
        assert_eq!(findings, [""; 0], "{name}: findings as recorded");
        let found = packets(&capture);
        let execs: BTreeSet<u64> = found.iter().map(|found| found.exec).collect();
        for exec in execs {
            let own: Vec<&Found> = found.iter().filter(|found| found.exec == exec).collect();
            // Each bit of each packet.
            for packet in &own {
                for bit in bits(packet) {
                    seen += 1;
                    if all || seen % 16 == 0 {
                        let packets = vec![(*packet, without(packet, &[bit]))];
                        single.run(&capture, &Patch { exec, packets });
                    }
                }
            }
            // All bits of a kind. Drivers often flush more than once, and then a single bit more or
            // less makes no difference.
            for (bit, ..) in BITS {
                let has = own.iter().filter(|packet| bits(packet).contains(&bit));
                let packets: Vec<_> =
                    has.map(|packet| (*packet, without(packet, &[bit]))).collect();
                if !packets.is_empty() {
                    kinds.run(&capture, &Patch { exec, packets });
                }
            }
            // Random bits, more and more of them.
            for round in 2..10 {
                let mut patch = Patch { exec, packets: Vec::new() };
                for packet in &own {
                    let less: Vec<&str> =
                        bits(packet).into_iter().filter(|_| random.below(10) < round).collect();
                    patch.packets.push((*packet, without(packet, &less)));
                }
                if all || round == 9 {
                    mixed.run(&capture, &patch);
                }
            }
        }
    }
    if single.mutants == 0 {
        return;
    }
    eprintln!("one bit: {single:?}\nall bits of a kind: {kinds:?}\nrandom bits: {mixed:?}");
    assert!(seen >= 300 && single.mutants >= seen / 16, "{seen} {single:?}");
    for counts in [&single, &kinds, &mixed] {
        assert!(counts.reported * 100 >= counts.observable * 95, "{counts:?}");
        assert!(counts.named * 100 >= counts.readers * 95, "{counts:?}");
        assert_eq!(counts.others, 0, "findings without a stale read: {counts:?}");
    }
    for counts in [&kinds, &mixed] {
        assert!(counts.observable > 0 && counts.readers > 0, "{counts:?}");
    }
    assert!(!all || single.observable > 0, "{single:?}");
}
