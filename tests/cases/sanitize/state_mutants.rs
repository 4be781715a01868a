//! Captures of drivers without one of their state packets: `state` names the packet if a draw uses
//! the state before another packet of the context sets it, and only then.
//!
//! By default, every 24th mutant runs.
//! `GENXML_MUTATIONS=all cargo test -p genxml-cases --test all sanitize::state_mutants` runs all.
//!
//! Oracle: what draws use by the summary of their state and by the messages that their threads
//! send. The sanitizer reads the packets and the kernels instead.

use genxml::capture::Capture;
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::RenderPacket;
use genxml::gen8::messages::MessageDescriptorSamplingEngine;
use genxml_sim::inspect::sanitize::Sanitizers;
use genxml_sim::replay::{Replay, Skipped, Step};
use genxml_sim::{Event, Now, Observer, Place};
use genxml_testkit::corpus;
use std::collections::{BTreeMap, BTreeSet};

/// Packets that every draw uses.
const ALWAYS: &[&str] = &[
    "PIPELINE_SELECT",
    "3DSTATE_VF_TOPOLOGY",
    "3DSTATE_VERTEX_ELEMENTS",
    "3DSTATE_VF_SGVS",
    "3DSTATE_VF_STATISTICS",
    "3DSTATE_URB_VS",
    "3DSTATE_URB_HS",
    "3DSTATE_URB_DS",
    "3DSTATE_URB_GS",
    "3DSTATE_VS",
    "3DSTATE_HS",
    "3DSTATE_TE",
    "3DSTATE_DS",
    "3DSTATE_GS",
    "3DSTATE_STREAMOUT",
];

/// Packets that every draw with rasterisation uses, too.
const RASTERISED: &[&str] = &[
    "3DSTATE_CLIP",
    "3DSTATE_SF",
    "3DSTATE_RASTER",
    "3DSTATE_WM",
    "3DSTATE_MULTISAMPLE",
    "3DSTATE_SAMPLE_MASK",
    "3DSTATE_DRAWING_RECTANGLE",
    "3DSTATE_DEPTH_BUFFER",
    "3DSTATE_WM_DEPTH_STENCIL",
    "3DSTATE_WM_HZ_OP",
    "3DSTATE_PS_EXTRA",
];

/// Packets that every draw with a pixel shader uses, too.
const SHADED: &[&str] = &["3DSTATE_PS", "3DSTATE_PS_BLEND", "3DSTATE_SBE", "3DSTATE_WM_CHROMAKEY"];

/// Packets that every packet which starts threads of media or GPGPU uses.
const MEDIA: &[&str] = &["PIPELINE_SELECT", "MEDIA_VFE_STATE", "MEDIA_INTERFACE_DESCRIPTOR_LOAD"];

/// Packets whose use depends on fields that this oracle does not read.
const OTHERS: &[&str] = &[
    "3DSTATE_VERTEX_BUFFERS",
    "3DSTATE_VF_INSTANCING",
    "3DSTATE_SBE_SWIZ",
    "3DSTATE_CC_STATE_POINTERS",
    "3DSTATE_BLEND_STATE_POINTERS",
    "3DSTATE_SO_BUFFER",
    "3DSTATE_SAMPLE_PATTERN",
    "3DSTATE_AA_LINE_PARAMETERS",
    "3DSTATE_CLEAR_PARAMS",
    "3DSTATE_HIER_DEPTH_BUFFER",
    "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP",
    "3DSTATE_CONSTANT_PS",
    "3DSTATE_PUSH_CONSTANT_ALLOC_VS",
    "3DSTATE_PUSH_CONSTANT_ALLOC_HS",
    "3DSTATE_PUSH_CONSTANT_ALLOC_DS",
    "3DSTATE_PUSH_CONSTANT_ALLOC_GS",
    "3DSTATE_PUSH_CONSTANT_ALLOC_PS",
    "MEDIA_CURBE_LOAD",
    "STATE_BASE_ADDRESS",
];

/// A packet of a run: what it sets, or what it uses.
#[derive(Clone, Debug)]
struct Seen {
    seq: u64,
    context: u32,
    at: Place,
    dwords: usize,
    /// Number of the entry, for packets that set one of several.
    entry: usize,
    /// The names of the packets that it uses.
    uses: Option<BTreeSet<String>>,
    /// Stages whose kernels are set but that ran no thread: what they use is open.
    idle: BTreeSet<&'static str>,
}

/// Records the packets of a run.
#[derive(Debug, Default)]
struct Recorder {
    seq: u64,
    seen: Vec<Seen>,
    /// Stages by the address of their kernel, for the current draw.
    stages: BTreeMap<u64, &'static str>,
}

impl Recorder {
    fn uses(&mut self, names: impl IntoIterator<Item = String>) {
        if let Some(seen) = self.seen.last_mut() {
            seen.uses.get_or_insert_default().extend(names);
        }
    }
}

impl Observer for Recorder {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        if now.engine != EngineId::Render {
            return;
        }
        match event {
            Event::Packet { at, context, dwords, .. } => {
                self.seen.push(Seen {
                    seq: self.seq,
                    context: *context,
                    at: *at,
                    dwords: dwords.len(),
                    entry: entry_of(dwords),
                    uses: None,
                    idle: BTreeSet::new(),
                });
            }
            Event::Dispatch { .. } => self.uses(MEDIA.iter().map(ToString::to_string)),
            Event::Draw(drawing) => {
                let summary = drawing.summary();
                let mut names: Vec<&str> = ALWAYS.to_vec();
                self.stages.clear();
                for shader in &summary.shaders {
                    for kernel in &shader.kernels {
                        self.stages.insert(kernel.address, shader.stage);
                    }
                    if shader.stage != "PS" {
                        self.uses([format!("3DSTATE_CONSTANT_{}", shader.stage)]);
                    }
                }
                if summary.rasterised {
                    names.extend(RASTERISED);
                }
                if self.stages.values().any(|stage| *stage == "PS") {
                    names.extend(SHADED);
                }
                if summary.indices.is_some() {
                    names.extend(["3DSTATE_INDEX_BUFFER", "3DSTATE_VF"]);
                }
                if summary.stream_output {
                    names.push("3DSTATE_SO_DECL_LIST");
                }
                if summary.rasterised && summary.scissors.is_some() {
                    names.push("3DSTATE_SCISSOR_STATE_POINTERS");
                }
                if summary.rasterised && summary.uses_depth() {
                    names.push("3DSTATE_VIEWPORT_STATE_POINTERS_CC");
                }
                if summary.stencil.as_ref().is_some_and(|stencil| stencil.test.enabled) {
                    names.push("3DSTATE_STENCIL_BUFFER");
                }
                self.uses(names.into_iter().map(str::to_owned));
                if let Some(seen) = self.seen.last_mut() {
                    seen.idle = self.stages.values().copied().collect();
                }
            }
            Event::Thread { kernel, .. } => {
                if let (Some(seen), Some(stage)) = (self.seen.last_mut(), self.stages.get(kernel)) {
                    seen.idle.remove(stage);
                }
            }
            Event::Message { kernel, function, descriptor, .. } => {
                let Some(stage) = self.stages.get(kernel).copied() else { return };
                let message = MessageDescriptorSamplingEngine::unpack_lossy(&[*descriptor]);
                let sampler = *function == SharedFunction::Sampler;
                let surface = message.binding_table_index.get() < 240
                    && matches!(
                        function,
                        SharedFunction::Sampler
                            | SharedFunction::DataPort1
                            | SharedFunction::DataPortRender
                    );
                if surface {
                    self.uses([format!("3DSTATE_BINDING_TABLE_POINTERS_{stage}")]);
                }
                // Message types below 7 filter texels: sample, sample_b and so on (gen8_facts 4.2).
                if sampler && message.message_type.bits() < 7 {
                    self.uses([format!("3DSTATE_SAMPLER_STATE_POINTERS_{stage}")]);
                }
            }
            _ => {}
        }
    }
}

/// Runs the sanitizer until it names a packet, or until another packet sets the same state.
struct Mutant<'p> {
    packet: &'p Seen,
    sanitizers: Sanitizers,
    found: bool,
    over: bool,
}

impl Observer for Mutant<'_> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        let Seen { context, at, entry, .. } = self.packet;
        self.sanitizers.event(now, event);
        match event {
            Event::Packet { at: other, context: of, dwords, .. } if other.packet == at.packet => {
                self.over |= of == context && entry_of(dwords) == *entry;
            }
            Event::Packet { .. } | Event::Draw(_) => {
                let uses = format!("uses {}", at.packet);
                self.found = self.sanitizers.findings().any(|(_, finding)| {
                    finding.rule.id == "STATE-UNSET" && finding.second.action.starts_with(&uses)
                });
            }
            _ => {}
        }
    }

    fn cancels(&self) -> bool {
        self.over || self.found
    }
}

/// The number of the entry that a packet sets.
fn entry_of(dwords: &[u32]) -> usize {
    match RenderPacket::parse(dwords) {
        Ok((packet, _)) => packet.latch().map_or(0, |slots| slots.entry(dwords)),
        Err(_) => 0,
    }
}

/// Runs a capture without a packet; returns true if a finding names the packet.
fn is_named(replay: &Replay<'_>, packet: &Seen) -> bool {
    let mut replay = replay.duplicate().expect("memory");
    let (address, dwords) = (packet.at.address, packet.dwords);
    replay.skip(Skipped { seq: packet.seq, address, dwords });
    let sanitizers = Sanitizers::new(["state"], Generation::Gen8).expect("a sanitizer");
    let mut observer = Mutant { packet, sanitizers, found: false, over: false };
    while let Some(step) = replay.step_observed(&mut observer) {
        if let Step::Exec { result: Err(_), .. } = step {
            break;
        }
    }
    observer.found
}

#[test]
fn a_missing_packet_is_named_if_a_draw_uses_it() {
    let all = std::env::var("GENXML_MUTATIONS").is_ok_and(|which| which == "all");
    let (mut count, mut ran, mut named) = (0, 0, 0);
    let mut wrong = Vec::new();
    let mut any = false;
    for path in corpus::captures() {
        let capture = Capture::open(&path).expect("a capture");
        if capture.device().generation != 8 || capture.name() == "pg_xfb" {
            continue;
        }
        any = true;
        let mut recorder = Recorder::default();
        let mut replay = Replay::new(&capture);
        // The run before each submission, to continue from there.
        let mut starts = BTreeMap::new();
        loop {
            if let Some(exec) = replay.upcoming() {
                recorder.seq = exec.seq;
                starts.insert(exec.seq, replay.duplicate().expect("memory"));
            }
            if replay.step_observed(&mut recorder).is_none() {
                break;
            }
        }
        let seen = &recorder.seen;
        let mut set = BTreeSet::new();
        for (index, packet) in seen.iter().enumerate() {
            let name = packet.at.packet;
            let state = name.starts_with("3DSTATE_") || MEDIA.contains(&name);
            if !state || OTHERS.contains(&name) || !set.insert((packet.context, name, packet.entry))
            {
                continue;
            }
            count += 1;
            if !all && count % 24 != 0 {
                continue;
            }
            let same = |other: &&Seen| other.context == packet.context;
            let next = |other: &&Seen| (other.at.packet, other.entry) != (name, packet.entry);
            let draws: Vec<_> = seen[index + 1..].iter().filter(same).take_while(next).collect();
            let uses = |other: &&Seen| other.uses.as_ref().is_some_and(|uses| uses.contains(name));
            let expected = draws.iter().copied().any(|other| uses(&other));
            // A stage that runs no thread has a binding table and samplers all the same.
            let table = name.contains("_TABLE_") || name.contains("SAMPLER");
            let is_open = table
                && draws.iter().any(|other| other.idle.iter().any(|stage| name.ends_with(stage)));
            let found = is_named(&starts[&packet.seq], packet);
            ran += 1;
            named += usize::from(found);
            if found != expected && !(found && is_open) {
                wrong.push(format!("{} {}: {found}", capture.name(), packet.at));
            }
        }
    }
    if !any {
        return;
    }
    eprintln!("{count} packets, {ran} mutants, {named} named");
    assert_eq!(wrong, [""; 0]);
    assert!(named >= ran / 3 && ran >= count / 24, "{ran} mutants, {named} named");
}
