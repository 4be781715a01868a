//! Draws and dispatches: their numbers and descriptions.

use crate::decode::{Item, Kind, Record, Sink, Value};
use crate::engine::EngineId;
use crate::submission::Submission;
use genxml_core::address::SpaceKind;
use std::collections::HashMap;
use std::io;

/// Packets that start threads: draws of the 3D pipeline, walkers and objects of the media pipeline.
const DRAWS: [&str; 5] =
    ["3DPRIMITIVE", "GPGPU_WALKER", "MEDIA_OBJECT", "MEDIA_OBJECT_PRT", "MEDIA_OBJECT_WALKER"];

/// True if a packet of this name is a draw or dispatch. Queries number draws and dispatches
/// together, from 1, in the order of the dump.
pub fn is_draw(name: &str) -> bool {
    DRAWS.contains(&name)
}

/// Counts draws.
#[derive(Debug, Clone, Copy, Default)]
pub struct DrawCounter {
    draws: u64,
}

impl DrawCounter {
    /// The number of this draw, or for another packet the number of the next draw. Call once per
    /// packet.
    pub fn packet(&mut self, record: &Record) -> u64 {
        let draw = record.kind.is_packet() && is_draw(record.name);
        self.draws += u64::from(draw);
        self.draws + u64::from(!draw)
    }

    /// Number of draws so far.
    pub fn draws(self) -> u64 {
        self.draws
    }
}

/// A draw or dispatch.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// Number of the draw in the dump, from 1 on.
    pub number: u64,
    /// Number of the submission that contains the draw.
    pub submission: u64,
    /// Number of the context.
    pub context: u32,
    /// GPU address of the packet.
    pub address: u64,
    /// Name of the packet.
    pub name: &'static str,
    /// For 3DPRIMITIVE: the name of the topology, if a packet has set one.
    pub topology: Option<&'static str>,
    /// Counts and sizes in the packet, by the names of their fields.
    pub sizes: Vec<(&'static str, u64)>,
    /// Stage and GPU address of every kernel that the draw runs, as far as the address is known.
    /// For a dispatch, the stage is `thread`.
    pub kernels: Vec<(&'static str, u64)>,
}

/// Fields with counts and sizes.
const SIZES: [&str; 11] = [
    "Vertex Count Per Instance",
    "Instance Count",
    "SIMD Size",
    "Thread Width Counter Maximum",
    "Thread Height Counter Maximum",
    "Thread Depth Counter Maximum",
    "Thread Group ID X Dimension",
    "Thread Group ID Y Dimension",
    "Thread Group ID Z Dimension",
    "Global Resolution X",
    "Global Resolution Y",
];

/// State of a context and engine that describes draws.
#[derive(Debug, Default)]
struct Context {
    topology: Option<&'static str>,
    /// The kernels that each stage runs.
    stages: [Vec<u64>; STAGES.len()],
    /// Kernels of interface descriptors, by position.
    descriptors: Vec<Option<u64>>,
}

/// Stages that run kernels, in the order of the pipeline, and their packets.
const STAGES: [(&str, &str); 5] = [
    ("VS", "3DSTATE_VS"),
    ("HS", "3DSTATE_HS"),
    ("DS", "3DSTATE_DS"),
    ("GS", "3DSTATE_GS"),
    ("PS", "3DSTATE_PS"),
];

/// A sink that reports every draw.
pub struct Draws<'a> {
    each: &'a mut dyn FnMut(&Draw) -> io::Result<()>,
    counter: DrawCounter,
    submission: u64,
    at: (u32, EngineId),
    contexts: HashMap<(u32, EngineId), Context>,
    /// True if the next interface descriptors belong to a load packet.
    loading: bool,
}

/// Largest number of interface descriptors in a load (2a p.487).
const MAX_DESCRIPTORS: u32 = 64;

impl<'a> Draws<'a> {
    /// A sink that passes each draw to `each`; an error from `each` ends the decoding.
    pub fn new(each: &'a mut dyn FnMut(&Draw) -> io::Result<()>) -> Draws<'a> {
        let at = (0, EngineId::Render);
        let contexts = HashMap::new();
        Draws { each, counter: DrawCounter::default(), submission: 0, at, contexts, loading: false }
    }
}

/// Replaces `out` by the addresses of the kernels that a stage's packet enables, as far as they are
/// known.
fn kernels(record: &Record, out: &mut Vec<u64>) {
    out.clear();
    let on = |name| record.item(name).is_some_and(|item| item.stored == 1);
    let (eight, sixteen, wide) = (
        on("8 Pixel Dispatch Enable"),
        on("16 Pixel Dispatch Enable"),
        on("32 Pixel Dispatch Enable"),
    );
    let some = on("Enable") || on("Function Enable") || eight || sixteen || wide;
    // For pixel shaders, the first kernel is the one for 8 pixels, or for the only width (2a p.154,
    // p.157-158).
    let several = usize::from(eight) + usize::from(sixteen) + usize::from(wide) > 1;
    for (names, runs) in [
        (["Kernel Start Pointer", "Kernel Start Pointer 0"], some && (eight || !several)),
        (["Kernel Start Pointer 1"; 2], several && wide),
        (["Kernel Start Pointer 2"; 2], several && sixteen),
    ] {
        let item = names.iter().find_map(|name| record.item(name)).filter(|_| runs);
        out.extend(item.and_then(absolute));
    }
}

/// The GPU address in a field, if the field holds one and its base is known.
fn absolute(item: &Item) -> Option<u64> {
    match item.value {
        Value::Address {
            absolute, space: SpaceKind::Instruction | SpaceKind::Graphics, ..
        } => absolute,
        _ => None,
    }
}

impl Sink for Draws<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.submission = submission.number;
        self.at = (submission.context, submission.engine);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let context = self.contexts.entry(self.at).or_default();
        if record.kind == Kind::Struct && record.name == "INTERFACE_DESCRIPTOR_DATA" && self.loading
        {
            let index = record.index.unwrap_or(0).min(MAX_DESCRIPTORS - 1) as usize;
            if context.descriptors.len() <= index {
                context.descriptors.resize(index + 1, None);
            }
            context.descriptors[index] = record.item("Kernel Start Pointer").and_then(absolute);
        }
        if !record.kind.is_packet() {
            return Ok(());
        }
        let number = self.counter.packet(record);
        self.loading = record.name == "MEDIA_INTERFACE_DESCRIPTOR_LOAD";
        if self.loading {
            context.descriptors.clear();
        }
        if let Some(stage) = STAGES.iter().position(|(_, packet)| *packet == record.name) {
            kernels(record, &mut context.stages[stage]);
        }
        if record.name == "3DSTATE_VF_TOPOLOGY" {
            context.topology =
                record.item("Primitive Topology Type").and_then(|item| match item.value {
                    Value::Enum { name } => name,
                    _ => None,
                });
        }
        if !is_draw(record.name) {
            return Ok(());
        }
        let three_d = record.name == "3DPRIMITIVE";
        let kernels = match three_d {
            true => {
                let stages = STAGES.iter().zip(&context.stages);
                stages
                    .flat_map(|((stage, _), kernels)| kernels.iter().map(|at| (*stage, *at)))
                    .collect()
            }
            false => {
                let index = record
                    .item("Interface Descriptor Offset")
                    .map_or(0, |item| item.stored as usize);
                let kernel = context.descriptors.get(index).copied().flatten();
                kernel.map(|at| ("thread", at)).into_iter().collect()
            }
        };
        let size = |name: &&'static str| {
            let item = record.item(name)?;
            let value = if let Value::Uint(value) = item.value { value } else { item.stored };
            // The SIMD size is an enumeration. Convert its stored value to a number: SIMD8 is 0.
            Some(match (item.value, *name) {
                (Value::Enum { .. }, "SIMD Size") => ("SIMD Size", 8 << item.stored.min(3)),
                _ => (*name, value),
            })
        };
        (self.each)(&Draw {
            number,
            submission: self.submission,
            context: self.at.0,
            address: record.address,
            name: record.name,
            topology: context.topology.filter(|_| three_d),
            sizes: SIZES.iter().filter_map(size).collect(),
            kernels,
        })
    }
}
