//! Draws and dispatches: their numbers and descriptions.

use crate::decode::{Item, Kind, Record, Sink, Value};
use crate::engine::EngineId;
use crate::submission::Submission;
use genxml_core::address::SpaceKind;
use genxml_core::rule::Role;
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

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
///
/// Serialized, it is the object that `genx query --draws --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draw {
    /// Number of the draw in the dump, from 1 on.
    #[serde(rename = "draw")]
    pub number: u64,
    /// Number of the submission that contains the draw.
    #[serde(rename = "exec")]
    pub submission: u64,
    /// Number of the context.
    pub context: u32,
    /// GPU address of the packet.
    #[serde(serialize_with = "hexadecimal")]
    pub address: u64,
    /// Name of the packet.
    pub name: &'static str,
    /// For 3DPRIMITIVE: the name of the topology, if a packet has set one.
    pub topology: Option<&'static str>,
    /// Counts and sizes in the packet, by the names of their fields.
    #[serde(serialize_with = "map")]
    pub sizes: Vec<(&'static str, u64)>,
    /// Every kernel that the draw runs, as far as its address is known.
    pub kernels: Vec<Kernel>,
    /// For 3DPRIMITIVE: the surfaces that messages of the pixel shader write as render targets, in
    /// the order of the binding table, without null surfaces. Empty if the decoder's options
    /// [`follow`](crate::decode::Options::follow) or
    /// [`every_draw`](crate::decode::Options::every_draw) are off, or if the kernel, the binding
    /// table or the surfaces are not in the dump.
    pub targets: Vec<Target>,
    /// For 3DPRIMITIVE: the depth buffer, if a packet has set one.
    pub depth: Option<Target>,
    /// For 3DPRIMITIVE: the stencil buffer, if a packet has set one. It has the extent of the depth
    /// buffer, and no format.
    pub stencil: Option<Target>,
}

/// A kernel that a draw or dispatch runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// Short name of the stage, `PS`; for a dispatch `thread`.
    pub stage: &'static str,
    /// GPU address of the first instruction.
    #[serde(serialize_with = "hexadecimal")]
    pub address: u64,
    /// Length in bytes, up to the end of thread. `None` if the kernel or its end is not in the dump,
    /// or if the decoder's option [`follow`](crate::decode::Options::follow) is off.
    pub length: Option<u64>,
    /// Disassembly: byte offset in the kernel and text. A send is followed by its message, with the
    /// same offset. Empty unless the decoder's option
    /// [`kernels`](crate::decode::Options::kernels) is on.
    #[serde(serialize_with = "texts", skip_serializing_if = "is_empty")]
    pub lines: Arc<[(u32, String)]>,
}

/// A surface that a draw writes, or uses for its depth or stencil test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// GPU address.
    #[serde(serialize_with = "hexadecimal")]
    pub address: u64,
    /// For a render target: its index in the binding table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Name of the format, if the manual has one.
    pub format: Option<&'static str>,
    /// Width in pixels; `None` if it is unknown.
    pub width: Option<u64>,
    /// Height in pixels.
    pub height: Option<u64>,
    /// Number of slices or array elements.
    pub depth: Option<u64>,
}

impl Target {
    /// The surface that a packet or surface state describes; `None` for a null surface.
    fn of(record: &Record, index: Option<u32>) -> Option<Target> {
        let name = |field| match record.item(field)?.value {
            Value::Enum { name } => name,
            _ => None,
        };
        if name("Surface Type").is_some_and(|kind| kind.ends_with("NULL")) {
            return None;
        }
        let number = |field| match record.item(field)?.value {
            Value::Uint(value) => Some(value),
            _ => None,
        };
        Some(Target {
            address: record.item("Surface Base Address").and_then(absolute)?,
            index,
            format: name("Surface Format"),
            width: number("Width"),
            height: number("Height"),
            depth: number("Depth"),
        })
    }
}

fn hexadecimal<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{value:#x}"))
}

fn map<S: Serializer>(sizes: &[(&'static str, u64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(sizes.iter().copied())
}

fn texts<S: Serializer>(lines: &Arc<[(u32, String)]>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(lines.iter().map(|(_, text)| text))
}

fn is_empty(lines: &Arc<[(u32, String)]>) -> bool {
    lines.is_empty()
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
    depth: Option<Target>,
    stencil: Option<Target>,
    /// The kernels that each stage runs.
    stages: [Vec<u64>; STAGES.len()],
    /// Kernels of interface descriptors, by position.
    descriptors: Vec<Option<u64>>,
    /// True after a 3DSTATE_PIPELINED_POINTERS, which only Gen4, G45 and Gen5 have.
    units: bool,
    /// Units that this packet turns off.
    off: [bool; UNITS.len()],
    /// Length and disassembly of kernels, by address.
    kernels: HashMap<u64, Code>,
}

/// Length and disassembly of a kernel.
#[derive(Debug)]
struct Code {
    length: Option<u64>,
    lines: Arc<[(u32, String)]>,
}

/// Stages that run kernels, in the order of the pipeline, and their packets; for G45 the states of
/// their units.
const STAGES: [(&str, &[&str]); 7] = [
    ("VS", &["3DSTATE_VS", "VS_STATE"]),
    ("HS", &["3DSTATE_HS"]),
    ("DS", &["3DSTATE_DS"]),
    ("GS", &["3DSTATE_GS", "GS_STATE"]),
    ("CLIP", &["CLIP_STATE"]),
    ("SF", &["SF_STATE"]),
    ("PS", &["3DSTATE_PS", "WM_STATE"]),
];

/// The units of G45 that 3DSTATE_PIPELINED_POINTERS can turn off, and the fields that turn them on.
const UNITS: [(&str, &str); 2] = [("GS_STATE", "GS Enable"), ("CLIP_STATE", "Clip Enable")];

/// The stage with this packet or unit.
fn stage(name: &str) -> Option<usize> {
    STAGES.iter().position(|(_, names)| names.contains(&name))
}

/// A sink that reports every draw.
///
/// A draw is reported when everything that it uses has been decoded: with the next packet, with the
/// next submission, or by [`finish`](Sink::finish). Call `finish` after the last record, or the last
/// draw is missing.
///
/// ```no_run
/// use genxml::decode::{Decoder, Options, Sink, Tables};
/// use genxml::dump::{Dump, How};
/// use genxml::query::{Draw, Draws};
///
/// let mut dump = Dump::open("some/capture".as_ref(), &How::default())?;
/// let options = Options { every_draw: true, ..Options::default() };
/// let mut each = |draw: &Draw| {
///     for target in &draw.targets {
///         println!("draw {} writes {:?} at {:#x}", draw.number, target.format, target.address);
///     }
///     Ok(())
/// };
/// let mut sink = Draws::new(&mut each);
/// Decoder::new(Tables::gen8(), options).submissions(&mut dump, &mut sink)?;
/// sink.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Draws<'a> {
    each: &'a mut dyn FnMut(&Draw) -> io::Result<()>,
    counter: DrawCounter,
    submission: u64,
    at: (u32, EngineId),
    contexts: HashMap<(u32, EngineId), Context>,
    /// True if the next interface descriptors belong to a load packet.
    loading: bool,
    /// The draw whose state is being decoded.
    current: Option<Draw>,
    /// Index of the last binding table entry.
    entry: Option<u32>,
}

/// Largest number of interface descriptors in a load (2a p.487).
const MAX_DESCRIPTORS: u32 = 64;

impl<'a> Draws<'a> {
    /// A sink that passes each draw to `each`; an error from `each` ends the decoding.
    pub fn new(each: &'a mut dyn FnMut(&Draw) -> io::Result<()>) -> Draws<'a> {
        let at = (0, EngineId::Render);
        Draws {
            each,
            counter: DrawCounter::default(),
            submission: 0,
            at,
            contexts: HashMap::new(),
            loading: false,
            current: None,
            entry: None,
        }
    }

    /// Reports the draw whose state was decoded.
    fn report(&mut self) -> io::Result<()> {
        let Some(mut draw) = self.current.take() else { return Ok(()) };
        let context = self.contexts.entry(self.at).or_default();
        for kernel in &mut draw.kernels {
            if let Some(code) = context.kernels.get(&kernel.address) {
                (kernel.length, kernel.lines) = (code.length, Arc::clone(&code.lines));
            }
        }
        (self.each)(&draw)
    }

    /// Notes a structure or kernel that a packet points to.
    fn pointed_to(&mut self, record: &Record) {
        let context = self.contexts.entry(self.at).or_default();
        match (record.kind, record.name) {
            (Kind::Kernel, _) => {
                let length = record.whole.then_some(4 * record.dwords.len() as u64);
                let lines = record.lines.clone().into();
                context.kernels.insert(record.address, Code { length, lines });
            }
            (Kind::Struct, "INTERFACE_DESCRIPTOR_DATA") if self.loading => {
                let index = record.index.unwrap_or(0).min(MAX_DESCRIPTORS - 1) as usize;
                if context.descriptors.len() <= index {
                    context.descriptors.resize(index + 1, None);
                }
                context.descriptors[index] = record.item("Kernel Start Pointer").and_then(absolute);
            }
            (Kind::Struct, name) if name.ends_with("_STATE") && stage(name).is_some() => {
                let unit = UNITS.iter().position(|(unit, _)| *unit == name);
                if let Some(stage) = stage(name)
                    && !unit.is_some_and(|unit| context.off[unit])
                {
                    kernels(record, &mut context.stages[stage]);
                }
            }
            (Kind::Struct, "BINDING_TABLE_STATE") => self.entry = record.index,
            (Kind::Struct, "RENDER_SURFACE_STATE") => {
                // The resource streamer's tables have no records of entries.
                let index = record.index.or(self.entry);
                let written = record.uses.is_some_and(|uses| {
                    uses.roles.contains(Role::RenderTarget) && uses.roles.contains(Role::Written)
                });
                if let Some(draw) = self.current.as_mut().filter(|_| written) {
                    draw.targets.extend(Target::of(record, index));
                }
            }
            _ => {}
        }
    }
}

impl Context {
    /// Records what a packet sets.
    fn set(&mut self, record: &Record) {
        if let Some(stage) = stage(record.name) {
            kernels(record, &mut self.stages[stage]);
        }
        match record.name {
            "3DSTATE_PIPELINED_POINTERS" => {
                self.stages = Default::default();
                self.units = true;
                self.off = UNITS.map(|(_, enable)| {
                    record.item(enable).is_some_and(|enable| enable.stored == 0)
                });
            }
            "MEDIA_INTERFACE_DESCRIPTOR_LOAD" => self.descriptors.clear(),
            "3DSTATE_VF_TOPOLOGY" => self.topology = topology(record),
            // The draw itself has the topology on G45.
            "3DPRIMITIVE" if self.units => self.topology = topology(record),
            "3DSTATE_DEPTH_BUFFER" => self.depth = Target::of(record, None),
            "3DSTATE_STENCIL_BUFFER" => {
                let on = record.item("Stencil Buffer Enable").is_none_or(|item| item.stored == 1);
                self.stencil = Target::of(record, None).filter(|target| on && target.address != 0);
            }
            _ => {}
        }
    }

    /// The kernels of a draw or dispatch.
    fn kernels(&self, record: &Record) -> Vec<Kernel> {
        let kernel =
            |stage, address| Kernel { stage, address, length: None, lines: Arc::default() };
        if record.name == "3DPRIMITIVE" {
            let stages = STAGES.iter().zip(&self.stages);
            return stages
                .flat_map(|((stage, _), kernels)| kernels.iter().map(|at| kernel(*stage, *at)))
                .collect();
        }
        let index =
            record.item("Interface Descriptor Offset").map_or(0, |item| item.stored as usize);
        let address = self.descriptors.get(index).copied().flatten();
        address.map(|address| kernel("thread", address)).into_iter().collect()
    }

    /// The stencil buffer, with the extent of the depth buffer.
    fn stencil(&self) -> Option<Target> {
        let stencil = self.stencil.clone()?;
        let extent = self.depth.as_ref();
        Some(Target {
            width: extent.and_then(|depth| depth.width),
            height: extent.and_then(|depth| depth.height),
            depth: extent.and_then(|depth| depth.depth),
            ..stencil
        })
    }
}

fn topology(record: &Record) -> Option<&'static str> {
    match record.item("Primitive Topology Type")?.value {
        Value::Enum { name } => name,
        _ => None,
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
    // A unit of G45 without a field that enables it always runs.
    let always = record.kind == Kind::Struct
        && record.item("Enable").is_none()
        && record.item("Thread Dispatch Enable").is_none();
    let off = record.item("Thread Dispatch Enable").is_some_and(|item| item.stored == 0);
    let some = on("Enable") || on("Function Enable") || eight || sixteen || wide || always;
    // For pixel shaders, the first kernel is the one for 8 pixels, or for the only width (2a p.154,
    // p.157-158).
    let several = usize::from(eight) + usize::from(sixteen) + usize::from(wide) > 1;
    for (names, runs) in [
        (["Kernel Start Pointer", "Kernel Start Pointer 0"], some && !off && (eight || !several)),
        (["Kernel Start Pointer 1"; 2], several && wide),
        (["Kernel Start Pointer 2"; 2], several && sixteen),
    ] {
        let item = names.iter().find_map(|name| record.item(name)).filter(|_| runs);
        out.extend(item.and_then(absolute));
    }
}

/// The GPU address in a field, if the field holds one and its base is known. Kernels of G45 are in
/// general state.
fn absolute(item: &Item) -> Option<u64> {
    use SpaceKind::{GeneralState, Graphics, Instruction};
    match item.value {
        Value::Address { absolute, space: Instruction | Graphics | GeneralState, .. } => absolute,
        _ => None,
    }
}

impl Sink for Draws<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.report()?;
        self.submission = submission.number;
        self.at = (submission.context, submission.engine);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        if !record.kind.is_packet() {
            self.pointed_to(record);
            return Ok(());
        }
        self.report()?;
        let number = self.counter.packet(record);
        let context = self.contexts.entry(self.at).or_default();
        self.loading = record.name == "MEDIA_INTERFACE_DESCRIPTOR_LOAD";
        self.entry = None;
        context.set(record);
        if !is_draw(record.name) {
            return Ok(());
        }
        let three_d = record.name == "3DPRIMITIVE";
        let size = |name: &&'static str| {
            let item = record.item(name)?;
            let value = if let Value::Uint(value) = item.value { value } else { item.stored };
            // The SIMD size is an enumeration. Convert its stored value to a number: SIMD8 is 0.
            Some(match (item.value, *name) {
                (Value::Enum { .. }, "SIMD Size") => ("SIMD Size", 8 << item.stored.min(3)),
                _ => (*name, value),
            })
        };
        self.current = Some(Draw {
            number,
            submission: self.submission,
            context: self.at.0,
            address: record.address,
            name: record.name,
            topology: context.topology.filter(|_| three_d),
            sizes: SIZES.iter().filter_map(size).collect(),
            kernels: context.kernels(record),
            targets: Vec::new(),
            depth: context.depth.clone().filter(|_| three_d),
            stencil: context.stencil().filter(|_| three_d),
        });
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.report()
    }
}
