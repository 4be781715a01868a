//! Captures of drivers without one of the flushes or invalidations that their batches have.
//!
//! Oracle: [`super::oracle`], which says whether a read returns a stale byte then. The captures as
//! they are have neither findings nor stale reads.

use super::oracle::Oracle;
use genxml::capture::{Capture, Event as Recorded, Exec, ObjectId};
use genxml::eu::Generation;
use genxml::gen8::VideoPacket;
use genxml::gen8::mi::{MiFlushDw, PipeControl};
use genxml_core::Fixed;
use genxml_sim::inspect::sanitize::Sanitizers;
use genxml_sim::mem::{Frames, Memory};
use genxml_sim::{ContextId, Event, Gpu, Now, Observer};
use genxml_testkit::corpus;
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

/// Another packet at the same place, for one submission.
struct Patch<'f> {
    found: &'f Found,
    dwords: Vec<u32>,
}

/// A run of a capture in which one packet can be another one.
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
                        let bytes = &mut gpu.memory.bytes_mut(frames)[write.offset as usize..];
                        bytes[..write.length as usize].copy_from_slice(capture.bytes(write));
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
    let patch = patch.filter(|patch| patch.found.exec == exec.seq);
    let put = |gpu: &mut Gpu, dwords: &[u32]| {
        let address = patch.map_or(0, |patch| patch.found.address);
        gpu.vm(context).write(address, bytemuck::cast_slice(dwords)).expect("the batch is mapped");
    };
    if let Some(patch) = patch {
        put(gpu, &patch.dwords);
    }
    let (address, length) = (exec.batch_address, exec.batch_length);
    let ran = gpu.submit_observed(context, exec.engine, address, length, observer);
    ran.unwrap_or_else(|fault| panic!("exec {}: {fault}", exec.seq));
    if let Some(patch) = patch {
        put(gpu, &patch.found.dwords);
    }
}

/// The packets of a capture that flush.
fn packets(capture: &Capture) -> BTreeSet<Found> {
    let exec = std::cell::Cell::new(0);
    let mut found = BTreeSet::new();
    let mut observer = |_: Now, event: &Event<'_>| {
        if let Event::Packet { at, dwords } = event
            && [PipeControl::NAME, MiFlushDw::NAME].contains(&at.packet)
        {
            let dwords = dwords.to_vec();
            found.insert(Found { exec: exec.get(), address: at.address, dwords });
        }
    };
    run(capture, None, &mut |seq| exec.set(seq), &mut observer);
    found
}

/// The names and dwords of packets that lack one bit of this one.
fn mutants(found: &Found) -> Vec<(&'static str, Vec<u32>)> {
    let length = found.dwords.len();
    if let Ok((VideoPacket::MiFlushDw(packet), _)) = VideoPacket::parse(&found.dwords) {
        let packet = packet.unpack_lossy();
        if !packet.video_pipeline_cache_invalidate {
            return Vec::new();
        }
        let mut dwords = vec![0; length];
        let mutant = MiFlushDw { video_pipeline_cache_invalidate: false, ..packet };
        mutant.pack_into(&mut dwords).expect("as long as before");
        return vec![("video_pipeline_cache_invalidate", dwords)];
    }
    let packet = PipeControl::read_lossy(&found.dwords);
    let set = BITS.into_iter().filter(|(_, is_set, _)| is_set(&packet));
    set.map(|(name, _, clear)| {
        let mut mutant = packet;
        clear(&mut mutant);
        (name, mutant.pack()[..length].to_vec())
    })
    .collect()
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
        if self.oracle.stale.is_none() {
            self.oracle.event(now, event);
        }
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}

#[test]
fn a_missing_flush_is_reported_where_a_stale_byte_is_read() {
    let (mut count, mut observable, mut reported, mut more) = (0, 0, 0, 0);
    for path in corpus::captures() {
        let capture = Capture::open(&path).unwrap();
        // This capture takes ten times as long as all others.
        if capture.device().generation != 8 || capture.name() == "pg_xfb" {
            continue;
        }
        let mut both = Both::new();
        run(&capture, None, &mut |_| {}, &mut both);
        let name = capture.name();
        assert_eq!(both.oracle.stale, None, "{name}: a stale read as recorded");
        let findings: Vec<_> = both.sanitizers.findings().map(|(_, f)| f.to_string()).collect();
        assert_eq!(findings, [""; 0], "{name}: findings as recorded");
        for found in packets(&capture) {
            for (bit, dwords) in mutants(&found) {
                let mut both = Both::new();
                let patch = Patch { found: &found, dwords };
                run(&capture, Some(&patch), &mut |_| {}, &mut both);
                let (stale, found_it) =
                    (both.oracle.stale, both.sanitizers.findings().next().is_some());
                count += 1;
                observable += usize::from(stale.is_some());
                reported += usize::from(stale.is_some() && found_it);
                more += usize::from(stale.is_none() && found_it);
                if stale.is_some() != found_it {
                    let rules: BTreeSet<_> =
                        both.sanitizers.findings().map(|(_, f)| f.rule.id).collect();
                    eprintln!(
                        "{name} exec {} {:#x} {bit}: stale {stale:?}, rules {rules:?}",
                        found.exec, found.address
                    );
                }
            }
        }
    }
    if count == 0 {
        return;
    }
    eprintln!(
        "{count} mutants, {observable} observable, {reported} of them reported, {more} more reported"
    );
    assert!(count >= 300, "{count} mutants");
    assert!(reported * 100 >= observable * 95, "{reported} of {observable} reported");
    assert!(observable > 0);
}
